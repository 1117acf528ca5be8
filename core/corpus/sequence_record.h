// What a forward pass leaves of one sequence: every number of a run file's root, counts of rows in bins, and what is
// the same for all sequences. Collected as layers arrive; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/corpus/corpus_layout.h"
#include "core/measure/self_check.h"
#include "core/run/compute.h"
#include "core/run/layer_program.h"

namespace headroom {

struct SequenceRecord {
  std::int64_t sequence = 0;  // of the plan
  double loss = 0.0;          // NaN where there is none
  std::int64_t non_finite_layer = -1;
  std::vector<float> floats;
  std::vector<std::int32_t> integers;
  std::vector<double> rates;     // sink_rate, by epsilon and map
  std::vector<double> extremes;  // of sketches: smallest and largest of each place; NaN for none
  std::vector<std::pair<std::uint64_t, std::uint64_t>> counts;  // bin and rows or entries in it, ascending, none 0
};

// Regions of datasets that are the same for all sequences: attention_kind, kv_head, /program and /weights.
struct FixedRegion {
  std::string path;
  std::vector<std::int64_t> start, count;
  std::vector<double> numbers;
  std::vector<std::string> texts;  // in place of numbers
};
[[nodiscard]] RegionSink region_sink(std::vector<FixedRegion>& regions);

// 1 where head `head` of all is a sink, 0 where it is none, NaN without the map; `place` is of the epsilon and the map.
[[nodiscard]] float sink_indicator(const CorpusLayout& layout, std::span<const float> sink_score,
                                   std::span<const float> sink_score_net, std::size_t place, std::size_t head);

// Pairs of SequenceRecord::counts that room is made for at once.
[[nodiscard]] std::size_t reserved_counts(const CorpusLayout& layout);
// Of a record in memory, with that room.
[[nodiscard]] std::size_t record_bytes(const CorpusLayout& layout);

class SequenceCollector final : public ForwardObserver {
 public:
  // All of them outlive it. `report` hears of the share that is done, wherever it is of.
  SequenceCollector(const CorpusLayout& layout, const kernels::StatisticsRequest& request,
                    const std::function<void(double fraction)>& report, const kernels::StopRequested& stop)
      : layout_(layout), request_(request), report_(report), stop_(stop) {}

  // `with_fixed`: what is the same for all sequences is kept too.
  void begin(std::int64_t sequence, bool with_fixed);
  Result<void> on_layer(LayerRecord record) override;
  [[nodiscard]] SequenceRecord finish(const ForwardSummary& summary);

  // Empty where it was not asked for.
  [[nodiscard]] const std::vector<FixedRegion>& fixed() const { return fixed_; }
  [[nodiscard]] const SelfCheck& self_check() const { return check_; }
  void on_progress(double fraction, const std::string& /*what*/) override {
    if (report_) report_(fraction);
  }
  [[nodiscard]] bool stop_requested() const override { return stop_ && stop_(); }

 private:
  void count_bins(const HeadView& head, std::size_t place);
  void mark_sinks();

  const CorpusLayout& layout_;
  const kernels::StatisticsRequest& request_;
  const std::function<void(double fraction)>& report_;
  const kernels::StopRequested& stop_;
  SequenceRecord record_;
  std::vector<FixedRegion> fixed_;
  bool with_fixed_ = false;
  SelfCheck check_;
  std::vector<std::uint64_t> rows_in_bin_;   // of a head's sketch; 0 between two of them
  std::vector<std::size_t> bins_with_rows_;  // in the order in which rows came
};

}  // namespace headroom
