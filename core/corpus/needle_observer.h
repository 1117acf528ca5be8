// What is taken of one prompt of the needle test while it passes through a model. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/numbers.h"
#include "core/corpus/needle_prompts.h"
#include "core/measure/row_check.h"
#include "core/model/model_spec.h"
#include "core/run/compute.h"

namespace headroom {

inline constexpr std::size_t kNeedleMaps = 3;  // first, second, net; the net map of a head with one map is that map
[[nodiscard]] const std::vector<std::string>& needle_map_names();

// The layers and heads that are measured, ascending.
struct NeedleHeads {
  std::vector<std::int64_t> layers, heads;
  [[nodiscard]] std::size_t size() const { return layers.size() * heads.size(); }
};

// Of one prompt: [span, layer, head, map] each, NaN where a head is not there or has no such map.
struct NeedleMeasures {
  std::vector<double> mass, absolute, energy, output;
  std::vector<double> retrieval_of_map;  // [layer, head, map]
  double recalled = kNaN, answer_loss = kNaN;
  std::int64_t non_finite_layer = -1;
};

class NeedleObserver final : public ForwardObserver {
 public:
  // All of them outlive it; `tolerance` is that of the self-check.
  NeedleObserver(const NeedlePrompt& prompt, const ModelSpec& model, const NeedleHeads& heads, double tolerance,
                 const std::function<void(double)>& report, const kernels::StopRequested& stop);

  Result<void> on_exact_block(std::int64_t layer, ExactBlock kind, std::int64_t block, std::int64_t rows,
                              std::span<const double> values) override;
  Result<void> on_exact_rows(std::int64_t layer, std::int64_t head, int component, std::int64_t row, std::int64_t rows,
                             std::span<const double> values) override;
  void on_progress(double fraction, const std::string& what) override;
  [[nodiscard]] bool stop_requested() const override { return stop_ && stop_(); }

  // With what the forward says of the answer's tokens; the observer is empty afterwards.
  [[nodiscard]] NeedleMeasures finish(const ForwardSummary& summary);
  [[nodiscard]] const SelfCheck& self_check() const { return check_.found(); }

 private:
  void measure_first_row(std::int64_t layer, std::int64_t head, int component, std::span<const double> weights);
  void count_copy(std::size_t place, std::size_t map, std::int64_t row, std::span<const double> weights);
  [[nodiscard]] const HeadProgram& program_of(std::int64_t layer, std::int64_t head) const;
  [[nodiscard]] std::size_t place_of(std::int64_t layer, std::int64_t head) const;
  [[nodiscard]] std::vector<double> span_outputs(const HeadProgram::Map& map, std::span<const double> weights) const;

  const NeedlePrompt& prompt_;
  const ModelSpec& model_;
  const NeedleHeads& heads_;
  const std::function<void(double)>& report_;
  const kernels::StopRequested& stop_;
  NeedleMeasures measures_;
  RowCheck check_;
  std::int64_t layer_ = -1;                  // that values_ is of
  std::vector<std::vector<double>> values_;  // by value block: [keys, channels]
  // Of the head that is being heard of: Σ w v by span, [span, channels], and weights, of its two maps.
  std::vector<double> outputs_[2], weights_[2];
};

}  // namespace headroom
