#include "core/run/evaluation.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/numbers.h"
#include "core/measure/activation.h"
#include "core/measure/quantity_tools.h"
#include "core/run/forward_needs.h"

namespace headroom {
namespace {

constexpr std::int64_t kEveryRow = 1;
constexpr const char* kRhoQuantiles = "context_rms_relative_quantile";

std::size_t extent(std::string_view axis) {
  if (axis == axis::kComponent) return 2;
  if (axis == axis::kQuantile) return quantile_points().size();
  if (axis == axis::kBound) return 3;
  if (axis == axis::kTopK) return top_k_points().size();
  return static_cast<std::size_t>(kRanks);
}

// Numbers of one quantity over sequences, element by element; NaN is left out. Means and squares by Welford's
// recurrence: the spread of nearly equal numbers is not lost.
class Series {
 public:
  void add(const std::vector<double>& values) {
    if (values.size() > cells_.size()) cells_.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isnan(values[i])) continue;
      Cell& cell = cells_[i];
      cell.count += 1.0;
      const double before = values[i] - cell.mean;
      cell.mean += before / cell.count;
      cell.squares += before * (values[i] - cell.mean);
      cell.least = std::fmin(cell.least, values[i]), cell.most = std::fmax(cell.most, values[i]);
    }
  }

  [[nodiscard]] EvaluatedQuantity finish(std::string_view name) const {
    const bool largest = name.ends_with("_max"), smallest = name.ends_with("_min");
    EvaluatedQuantity result;
    for (const Cell& cell : cells_) {
      const double value = largest ? cell.most : smallest ? cell.least : cell.mean;
      result.mean.push_back(cell.count > 0.0 ? value : kNaN);
      const bool known = cell.count > 1.0 && !largest && !smallest;
      result.standard_error.push_back(known ? std::sqrt(cell.squares / (cell.count - 1.0) / cell.count) : kNaN);
    }
    return result;
  }

 private:
  struct Cell {
    double count = 0.0, mean = 0.0, squares = 0.0;  // squares: of the distances from the mean
    double least = std::numeric_limits<double>::infinity(), most = -std::numeric_limits<double>::infinity();
  };
  std::vector<Cell> cells_;
};

// Computes the root group as layers arrive; nothing is kept of a sequence but its numbers.
class Collector final : public ForwardObserver {
 public:
  Collector(const EvaluationRequest& request, const kernels::StopRequested& stop) : request_(request), stop_(stop) {}

  void begin_sequence(std::size_t sequence) {
    sequence_ = sequence, heads_seen_ = 0;
    sequence_length_ = request_.sequences[sequence].size();
  }

  Result<void> on_layer(LayerRecord record) override {
    for (const HeadRecord& head : record.heads) {
      const HeadView view(record, head, kEveryRow);
      for (const Quantity& quantity : head_quantities()) {
        if (!quantity.group.empty() || quantity.option == "premise") continue;
        std::size_t size = 1;
        for (const std::string_view axis : quantity.axes) size *= extent(axis);
        std::vector<double> values(size, kNaN);
        quantity.compute({view, statistics_}, values);
        append(quantity.name, values);
      }
      append(kRhoQuantiles, quantiles(view.eligible_values([&](std::int64_t i) { return quantity::at(view.rho, i); }),
                                      quantile_points()));
      ++heads_seen_;
      if (request_.visit) request_.visit(view, sequence_);
    }
    return {};
  }

  Result<void> on_residual(std::int64_t boundary, std::int64_t row, std::int64_t,
                           std::span<const double> values) override {
    if (boundary == 0) return {};
    if (row == 0) residual_.clear();
    residual_.insert(residual_.end(), values.begin(), values.end());
    if (residual_.size() < sequence_length_ * static_cast<std::size_t>(request_.model->hidden_size)) return {};
    kurtosis_now_.push_back(kurtosis(residual_));
    outlier_now_.push_back(largest_over_median(residual_));
    return {};
  }

  // Heads of layers behind a non-finite one are missing: NaN.
  void end_sequence() {
    const std::size_t heads = request_.model->blocks.size() * static_cast<std::size_t>(request_.model->num_heads);
    for (auto& [name, values] : now_) {
      if (heads_seen_ > 0) values.resize(values.size() / heads_seen_ * heads, kNaN);
      series_[name].add(values);
      values.clear();
    }
    for (auto [now, series] : {std::pair{&kurtosis_now_, &kurtosis_}, std::pair{&outlier_now_, &outlier_}}) {
      if (!now->empty()) now->resize(request_.model->blocks.size(), kNaN);
      series->add(*now);
      now->clear();
    }
  }

  [[nodiscard]] const std::map<std::string, Series, std::less<>>& series() const { return series_; }
  [[nodiscard]] const Series& residual_kurtosis() const { return kurtosis_; }
  [[nodiscard]] const Series& residual_outlier() const { return outlier_; }

  [[nodiscard]] bool stop_requested() const override { return stop_ && stop_(); }

 private:
  void append(std::string_view name, const std::vector<double>& values) {
    std::vector<double>& all = now_[std::string(name)];
    all.insert(all.end(), values.begin(), values.end());
  }

  const EvaluationRequest& request_;
  const kernels::StopRequested& stop_;
  kernels::StatisticsRequest statistics_;
  std::size_t sequence_ = 0, sequence_length_ = 0, heads_seen_ = 0;
  std::map<std::string, std::vector<double>, std::less<>> now_;
  std::map<std::string, Series, std::less<>> series_;
  std::vector<double> residual_;                    // after one block
  std::vector<double> kurtosis_now_, outlier_now_;  // by layer
  Series kurtosis_, outlier_;
};

template <typename Visit>
void for_each_head(const Evaluation& evaluation, std::string_view name, std::size_t index, const Visit& visit) {
  for (std::int64_t l = 0; l < evaluation.layers; ++l)
    for (std::int64_t h = 0; h < evaluation.heads; ++h)
      if (const double value = evaluation.at(name, l, h, index); !std::isnan(value)) visit(value);
}

}  // namespace

double Evaluation::at(std::string_view name, std::int64_t l, std::int64_t h, std::size_t index) const {
  const auto found = quantities.find(name);
  if (found == quantities.end()) return kNaN;
  const std::size_t per_head = found->second.mean.size() / static_cast<std::size_t>(layers * heads);
  return found->second.mean[static_cast<std::size_t>(l * heads + h) * per_head + index];
}

double Evaluation::over_heads(std::string_view name, std::size_t index) const {
  double sum = 0.0, count = 0.0;
  for_each_head(*this, name, index, [&](double value) { sum += value, count += 1.0; });
  return count > 0.0 ? sum / count : kNaN;
}

double Evaluation::largest(std::string_view name, std::size_t index) const {
  double result = kNaN;
  for_each_head(*this, name, index, [&](double value) { result = std::fmax(result, value); });
  return result;
}

Result<Evaluation> evaluate(ComputeBackend& backend, const EvaluationRequest& request,
                            const kernels::StopRequested& stop) {
  Evaluation evaluation;
  evaluation.layers = static_cast<std::int64_t>(request.model->blocks.size());
  evaluation.heads = request.model->num_heads;
  ForwardOptions options;
  options.device = request.device;
  options.backend = request.backend;
  options.layers.resize(static_cast<std::size_t>(evaluation.layers));
  options.heads.resize(static_cast<std::size_t>(evaluation.heads));
  options.hidden = request.residual;
  options.output_cosines = request.output_cosines;
  std::iota(options.layers.begin(), options.layers.end(), 0);
  std::iota(options.heads.begin(), options.heads.end(), 0);
  set_needs(options, *request.model);
  HEADROOM_TRY_VOID([&]() -> Result<void> {
    HEADROOM_TRY([[maybe_unused]] const AttentionChoice choice, backend.choose_attention(options));
    return {};
  }());
  Collector collector(request, stop);
  Series losses;
  for (const std::vector<std::int32_t>& ids : request.sequences) {
    if (stop && stop()) return Error(ErrorCode::Cancelled, "cancelled");
    options.ids = ids;
    collector.begin_sequence(static_cast<std::size_t>(evaluation.sequences));
    HEADROOM_TRY(const ForwardSummary summary, backend.run(*request.source, *request.model, options, collector));
    collector.end_sequence();
    losses.add({summary.next_token_loss.value_or(kNaN)});
    evaluation.length = static_cast<std::int64_t>(ids.size());
    ++evaluation.sequences;
  }
  for (const auto& [name, series] : collector.series()) evaluation.quantities[name] = series.finish(name);
  evaluation.next_token_loss = losses.finish("next_token_loss");
  evaluation.residual_kurtosis = collector.residual_kurtosis().finish("residual_kurtosis");
  evaluation.residual_largest_over_median = collector.residual_outlier().finish("residual_largest_over_median");
  return evaluation;
}

}  // namespace headroom
