// What differs between two runs of the same tokens: row distances of heads, texels of difference maps, keys whose
// attention changes most. The functions are pure and safe from any thread; DifferenceJobs belongs to the main thread,
// its worker is its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/maps/map_source.h"
#include "core/maps/map_tiles.h"
#include "core/run/run_snapshot.h"

namespace headroom {

struct RowDistance {
  double mean = std::numeric_limits<double>::quiet_NaN();  // ½ Σ_j |B_ij − A_ij|, mean over rows; 0 the same
  std::int64_t rows = 0;                                   // that were looked at
};

// Of the net maps of `head`, which both sources hold; a masked weight is 0, rows that are not finite in one of them do
// not count. Maps of more than `most_rows` rows are looked at in that many rows at even steps. InvalidArgument where
// the lengths differ; Cancelled when `stop` says so.
[[nodiscard]] Result<RowDistance> row_distance(const MapSource& a, const MapSource& b, std::int64_t head,
                                               std::int64_t most_rows, const kernels::ParallelFor& parallel,
                                               const kernels::StopRequested& stop);
// So many rows of a map of `length` that a distance takes about a second on one processor.
[[nodiscard]] std::int64_t distance_rows(std::int64_t length);

// The mean of B − A over the entries that are visible in A or in B, a masked weight being 0, for every texel of two
// tiles of mean pooling at the same place: exact at every level. Not-a-number where neither sees an entry. A masked
// logit is no number: of logits it is the difference of the means, and not-a-number where one of them sees no entry.
[[nodiscard]] std::vector<float> difference_texels(const MapSource& a, const MapSource& b, const Tile& tile_a,
                                                   const Tile& tile_b);

struct KeyChange {
  std::int64_t key = 0;
  double a = 0.0, b = 0.0;
  [[nodiscard]] double change() const { return b - a; }
};
// Key 0 and the keys whose values change most, `count` of them in order of position, of those before `end`.
[[nodiscard]] std::vector<KeyChange> most_changed_keys(std::span<const float> a, std::span<const float> b,
                                                       std::size_t count, std::int64_t end);
// The keys before this one are seen by at least a sixteenth of the rows, so that their means are no accidents of a few.
[[nodiscard]] std::int64_t keys_seen_often(std::int64_t length, bool causal);

// Row distances of all heads that both runs have maps of, as far as they are known.
struct HeadDifferences {
  struct Head {
    std::int64_t layer = 0, head = 0;
    RowDistance distance;  // no number: not known yet, or no row is finite in both
  };
  std::vector<Head> heads;  // ascending
  std::size_t known = 0;
  std::size_t without_maps = 0;  // heads measured in both runs whose maps one of them did not keep
  [[nodiscard]] bool finished() const { return known == heads.size(); }
  [[nodiscard]] const Head* find(std::int64_t layer, std::int64_t head) const;
};

class DifferenceJobs {
 public:
  // `wake` is called from the worker when there is something to collect. `start_thread` runs at the worker's start.
  explicit DifferenceJobs(std::function<void()> wake, const std::function<void()>& start_thread = {});
  ~DifferenceJobs();
  DifferenceJobs(const DifferenceJobs&) = delete;
  DifferenceJobs& operator=(const DifferenceJobs&) = delete;

  // What is compared from here on, `first` before the others; what is not asked for any more is given up. Cheap where
  // nothing changed. A null run compares nothing.
  void compare(const std::shared_ptr<const RunSnapshot>& a, const std::shared_ptr<const RunSnapshot>& b,
               std::optional<std::pair<std::int64_t, std::int64_t>> first);
  // Takes finished distances in. True if there were any.
  bool collect();
  // Of the runs that are compared; immutable; never null.
  [[nodiscard]] std::shared_ptr<const HeadDifferences> results() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headroom
