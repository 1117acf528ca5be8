// What the what-if and the compare panel work out once and keep while it is shown: row distances of all heads, tiles of
// difference maps, the rows of the head in both runs, the quick what-if that the next one replaces. Owned by the
// application, one for the window. Main thread only; the distances have a thread of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/figures/head_series.h"
#include "app/panels/parts/data_range.h"
#include "app/plot/painter.h"
#include "app/session/state.h"
#include "core/compare/run_difference.h"

namespace headroom {

class CommandTable;

class CompareCache {
 public:
  // Without a `wake` there are no row distances.
  explicit CompareCache(std::function<void()> wake = {}, std::function<void()> start_thread = {});
  ~CompareCache();
  CompareCache(const CompareCache&) = delete;
  CompareCache& operator=(const CompareCache&) = delete;

  // Begins its thread when it is first asked for; null without a wake.
  DifferenceJobs* jobs();

  // Row distances of the runs that the state compares, as far as they are known; what is missing is computed, the
  // selected head first. Null without a wake, or where the runs differ in length.
  std::shared_ptr<const HeadDifferences> distances(const State& state);

  // B − A of two tiles of mean pooling, kept by their serials.
  const MapImage& difference(const MapSource& a, const MapSource& b, const Tile& tile_a, const Tile& tile_b);
  // The rows of the head in A (0) and B (1); the layer belongs to the run.
  const HeadSeries& series(std::size_t which, const std::shared_ptr<const RunSnapshot>& run, const LayerSnapshot& layer,
                           std::int64_t head);
  // A number worked out from what `key` tells apart, once for each key.
  DataRange kept_range(std::string_view name, std::uint64_t key, const std::function<DataRange()>& make);
  // Why a command cannot run, asked once for each head and scope of a change.
  const std::string& reason(const CommandTable& commands, const State& state, const std::string& line);

  // Bytes that a run of so many layers keeps: estimate_live_run().
  double run_bytes(const std::shared_ptr<const OpenedModel>& model, const std::shared_ptr<const Prompt>& prompt,
                   std::int64_t layers);

  // The last quick what-if of this run and head that was finished: shown until the next one is.
  struct Quick {
    int base = -1;
    std::shared_ptr<const RunSnapshot> base_data;
    HeadRef head;
    RunEntry entry;
  };
  std::optional<Quick>& last_quick() { return last_quick_; }

 private:
  struct Difference {
    MapImage image;
    std::list<std::pair<std::uint64_t, std::uint64_t>>::iterator use;
  };
  struct Series {
    std::shared_ptr<const RunSnapshot> run;
    const LayerSnapshot* layer = nullptr;
    std::int64_t head = -1;
    HeadSeries series;
  };
  struct Kept {
    std::uint64_t key = 0;
    DataRange range;
  };

  std::function<void()> wake_, start_thread_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Difference> differences_;
  std::list<std::pair<std::uint64_t, std::uint64_t>> uses_;  // least recent first
  std::size_t difference_bytes_ = 0;
  Series series_[2];
  std::map<std::string, Kept, std::less<>> ranges_;
  std::string reasons_of_;
  std::map<std::string, std::string, std::less<>> reasons_;
  std::optional<Quick> last_quick_;
  struct Bytes {
    std::shared_ptr<const OpenedModel> model;
    std::shared_ptr<const Prompt> prompt;
    double of_a_layer = 0.0;
  } bytes_;
  std::unique_ptr<DifferenceJobs> jobs_;
};

}  // namespace headroom
