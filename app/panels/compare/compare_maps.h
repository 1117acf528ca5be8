// Two runs of the same tokens at one head, drawn with one window, one range and one pointer: the map of A, that of B, B
// − A, and A and B with a divider between them. Main thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/compare/compare_geometry.h"
#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_range.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/panel.h"
#include "app/panels/parts/compare_cache.h"

namespace headroom {

// Borrows from the runs it was made of.
struct MapPair {
  MapSubject a, b;
  MapRange range;       // of A and B
  MapRange difference;  // of B − A
  std::string symbol;   // "a"
  [[nodiscard]] bool same_length() const {
    return a.length == b.length && (!a.has_map() || !b.has_map() || (a.rows == b.rows && a.keys == b.keys));
  }
  [[nodiscard]] MapExtent extent() const { return {std::max<std::int64_t>(1, any().length), any().rows, any().keys}; }
  [[nodiscard]] bool has_difference() const { return a.has_map() && b.has_map() && same_length(); }
  [[nodiscard]] const MapSubject& any() const { return a.has_map() || !b.has_map() ? a : b; }
};
// Either may be null. Where the head has different kinds of maps in the two, both show the net one.
[[nodiscard]] MapPair make_map_pair(PanelContext& context, CompareCache& memory, const RunEntry* a, const RunEntry* b);

// B − A of a row or a column; what one of them masks is 0 there.
[[nodiscard]] std::vector<float> difference_of(std::span<const float> a, std::span<const float> b);

enum class PairMap : std::uint8_t { A, B, Difference };

// Draws maps of a pair and gathers the tiles they wait for; the tiles are asked for at its end.
class PairPainter {
 public:
  PairPainter(PanelContext& context, CompareCache& memory, const MapPair& pair)
      : context_(context), memory_(memory), pair_(pair) {}
  ~PairPainter();
  PairPainter(const PairPainter&) = delete;
  PairPainter& operator=(const PairPainter&) = delete;

  // The cells, the strip of key 0, the hairline. Nothing but the ground where the run has no map.
  void draw(const MapLayout& layout, PairMap which);
  // A left of the divider, B right of it.
  void draw_swipe(const MapLayout& layout, double divider);
  [[nodiscard]] std::int32_t level() const { return level_; }  // of the last map
  [[nodiscard]] std::int64_t texels_pending() const { return texels_pending_; }

 private:
  void draw_one(const MapLayout& layout, const MapSubject& subject, bool is_b);
  void draw_difference(const MapLayout& layout);
  void draw_difference_numbers(const MapLayout& layout);
  void draw_difference_strip(const MapLayout& layout);
  void want(const std::shared_ptr<const MapSource>& source, std::vector<TileKey> keys);

  PanelContext& context_;
  CompareCache& memory_;
  const MapPair& pair_;
  std::vector<std::pair<std::shared_ptr<const MapSource>, std::vector<TileKey>>> wanted_;
  std::int32_t level_ = 0;
  std::int64_t texels_pending_ = 0;
};

}  // namespace headroom
