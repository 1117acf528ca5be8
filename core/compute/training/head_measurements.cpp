#include "core/compute/training/head_measurements.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/numbers.h"
#include "core/compute/attention_backend.h"
#include "core/measure/head_view.h"
#include "core/measure/quantity.h"
#include "core/run/forward_needs.h"

namespace headroom {
namespace {

constexpr std::int64_t kEveryRow = 1;

// One statistic of one head over the sequences of a batch.
class BatchNumber {
 public:
  BatchNumber(const Quantity& quantity, OverBatch over) : quantity_(&quantity), over_(over) {}

  void add(const HeadView& head, const kernels::StatisticsRequest& request) {
    std::size_t size = 1;
    for (const std::string_view axis : quantity_->axes)
      size = axis == axis::kPosition ? static_cast<std::size_t>(head.length) : 2;
    std::vector<double> values(size, kNaN);
    quantity_->compute({head, request}, values);
    if (over_ == OverBatch::MeanOfRows || over_ == OverBatch::DeviationOfRows)
      rows_.insert(rows_.end(), values.begin(), values.end());
    else
      sequences_.push_back(std::move(values));
  }

  // One number, or one for each map.
  [[nodiscard]] std::vector<double> value() const {
    if (over_ == OverBatch::MeanOfRows) return {mean(rows_)};
    if (over_ == OverBatch::DeviationOfRows) {
      const double middle = mean(rows_);
      std::vector<double> squares;
      for (const double row : rows_) squares.push_back((row - middle) * (row - middle));
      return {std::sqrt(mean(squares))};
    }
    std::vector<double> result;
    for (std::size_t i = 0; i < sequences_.front().size(); ++i) {
      std::vector<double> values;
      for (const std::vector<double>& sequence : sequences_) values.push_back(sequence[i]);
      const bool none = std::ranges::any_of(values, [](double value) { return std::isnan(value); });
      const bool largest = over_ == OverBatch::LargestOfSequences && !none;
      result.push_back(largest ? *std::ranges::max_element(values) : mean(values));
    }
    return result;
  }

 private:
  static double mean(const std::vector<double>& values) {
    double sum = 0.0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  }

  const Quantity* quantity_;
  OverBatch over_;
  std::vector<std::vector<double>> sequences_;  // by sequence
  std::vector<double> rows_;                    // of all sequences
};

// Where and by what the heads are measured: as an analysis on that device in that type would do it.
Result<TorchTarget> measuring_target(TorchTarget target, const ModelSpec& model) {
  ForwardOptions options;
  set_needs(options, model);
  options.device = target.device.str();
  options.dtype = target.dtype == at::kDouble ? ComputeDtype::Float64 : ComputeDtype::Float32;
  HEADROOM_TRY(target.backend, find_attention_backend(options));
  return target;
}

}  // namespace

Result<void> measure_heads(const TrainableModel& model, const BatchTensors& batch,
                           std::span<const HeadStatistic> statistics, TrainingHistory& history) {
  std::vector<const Quantity*> quantities;
  for (const HeadStatistic& statistic : statistics) {
    HEADROOM_TRY(const Quantity* quantity, quantity_of(statistic));
    quantities.push_back(quantity);
  }
  HEADROOM_TRY(const TorchTarget target, measuring_target(model.target(), model.spec()));
  const at::NoGradGuard no_gradients;
  std::vector<BatchedHeads> layers;
  (void)model(batch.tokens, AttentionPath::Auto, &layers);
  const kernels::StatisticsRequest request;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    const AttentionSpec& attention = model.spec().blocks[layer].attention;
    const BatchedHeads& given = layers[layer];
    AttentionWeights weights = model.attention(layer);
    weights.refresh();
    std::vector<std::vector<BatchNumber>> numbers(statistics.size());
    for (std::size_t s = 0; s < statistics.size(); ++s)
      numbers[s].assign(attention.heads.size(), BatchNumber(*quantities[s], statistics[s].over));
    for (std::int64_t sequence = 0; sequence < given.q.size(0); ++sequence) {
      const AttentionInputs inputs{given.q[sequence], given.k[sequence], given.v[sequence],
                                   given.lambda_logits.defined() ? given.lambda_logits[sequence] : at::Tensor()};
      HEADROOM_TRY(const LayerRecord record,
                   record_heads(attention, weights, inputs, target, static_cast<std::int64_t>(layer)));
      for (std::size_t h = 0; h < record.heads.size(); ++h) {
        const HeadView view(record, record.heads[h], kEveryRow);
        for (std::vector<BatchNumber>& by_head : numbers) by_head[h].add(view, request);
      }
    }
    for (std::size_t s = 0; s < statistics.size(); ++s) {
      std::vector<double>& array = history.heads[std::string(statistics[s].name)];
      for (const BatchNumber& number : numbers[s]) {
        const std::vector<double> values = number.value();
        array.insert(array.end(), values.begin(), values.end());
      }
    }
  }
  return {};
}

}  // namespace headroom
