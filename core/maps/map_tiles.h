// Tiles of a map: which ones a view needs, a cache with a byte budget, and the thread that computes them, visible ones
// first, coarse before fine. A tile is 256² texels; at level L a texel covers 2^L × 2^L cells.
// TileStore: main thread only; its worker is its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/maps/map_source.h"

namespace headroom {

inline constexpr std::int32_t kTileSize = 256;

enum class Pooling : std::uint8_t { MaxMagnitude, Mean, Positive, Negative };  // MaxMagnitude keeps the sign
[[nodiscard]] constexpr bool keeps_sign(Pooling pooling) {
  return pooling == Pooling::MaxMagnitude || pooling == Pooling::Mean;
}

struct TileKey {
  std::uint64_t source = 0;  // MapSource::id
  std::int64_t head = 0;
  kernels::WindowMap map = kernels::WindowMap::Net;
  Pooling pooling = Pooling::MaxMagnitude;
  std::int32_t level = 0;
  std::int64_t row = 0, column = 0;  // in tiles of this level
  friend auto operator<=>(const TileKey&, const TileKey&) = default;
};

struct Tile {
  TileKey key;
  std::int32_t rows = 0, columns = 0;                // texels; less than 256 at the far edge
  std::shared_ptr<const std::vector<float>> values;  // [rows, columns]; NaN where masked
  std::uint64_t serial = 0;                          // unique; never 0
};

// Tiles of one map that a frame shows or will soon, most urgent first.
struct WantedTiles {
  std::shared_ptr<const MapSource> source;
  std::vector<TileKey> keys;
};

// Cells [query0, query1) × [key0, key1) of a map of `length`, shown on `pixels` device pixels a cell.
struct TileView {
  double query0 = 0, query1 = 0, key0 = 0, key1 = 0;
  double pixels_per_cell = 1.0;
  std::int64_t length = 0;
};

// The level whose texels are not smaller than a pixel: ⌈log2(cells per pixel)⌉, at least 0, at most the whole map in
// one tile.
[[nodiscard]] std::int32_t tile_level(const TileView& view);
[[nodiscard]] std::int32_t top_level(std::int64_t length);
// The tiles of a level that the view touches, those near its centre first; causal maps need none beyond the diagonal.
[[nodiscard]] std::vector<TileKey> visible_tiles(const TileView& view, const TileKey& like, bool causal);

class TileStore {
 public:
  // `wake` is called from the worker when a tile is done. `start_thread` runs at the worker's start (priorities,
  // names).
  TileStore(std::size_t budget_bytes, int threads, std::function<void()> wake,
            const std::function<void()>& start_thread = {});
  ~TileStore();

  // The tile if it is there; marks it as used.
  [[nodiscard]] std::shared_ptr<const Tile> find(const TileKey& key);
  // The finest tile there is that covers `key`, itself included; null where there is none.
  [[nodiscard]] std::shared_ptr<const Tile> find_covering(const TileKey& key);
  // All that is wanted now, in place of what was wanted before: what is not wanted any more is not begun. Quick tiles
  // come first, coarse before fine; then slow ones, fine before coarse; what is equal in this order.
  void want(std::span<const WantedTiles> wanted);
  // Takes finished tiles in; call once a frame. True if there were any.
  bool collect();
  void set_budget(std::size_t bytes);
  // Called on the worker after each tile and line with what it was and its times, seconds of the steady clock. Before
  // anything is wanted.
  using Trace = std::function<void(const char* what, double begin_s, double end_s)>;
  void set_trace(Trace trace);

  struct Statistics {
    std::size_t bytes = 0, budget_bytes = 0, tiles = 0, waiting = 0;
    std::uint64_t computed = 0, dropped = 0;  // dropped: stale requests that were never begun
  };
  [[nodiscard]] Statistics statistics() const;
  // Tiles that are kept of a map, by level.
  [[nodiscard]] std::vector<std::size_t> kept_by_level(std::uint64_t source) const;

  // A row or column of a map, exact: of `query` over all keys, or of `key` over all queries; empty until it is there,
  // then the same vector each time. Computed by the worker before any tile.
  [[nodiscard]] std::shared_ptr<const std::vector<float>> row(const std::shared_ptr<const MapSource>& source,
                                                              std::int64_t head, kernels::WindowMap map,
                                                              std::int64_t query);
  [[nodiscard]] std::shared_ptr<const std::vector<float>> column(const std::shared_ptr<const MapSource>& source,
                                                                 std::int64_t head, kernels::WindowMap map,
                                                                 std::int64_t key);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headroom
