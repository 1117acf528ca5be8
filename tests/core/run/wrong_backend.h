// A backend whose numbers are wrong, for tests of what becomes of a failed self-check. Header only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/run/compute.h"
#include "core/training/training.h"

namespace headroom::test {

// One row sum of the first head.
inline void make_wrong(LayerRecord& record) {
  if (record.layer != 1) return;
  std::vector<double>& sums = record.heads.front().statistics.weight_sum;
  if (sums.size() > 3) sums[3] = 0.5;
}

// Passes on what an analysis hears, and runs that look at rows of weights.
class WrongSum final : public ForwardObserver {
 public:
  explicit WrongSum(ForwardObserver& to) : to_(to) {}
  Result<void> on_layer(LayerRecord record) override {
    make_wrong(record);
    return to_.on_layer(std::move(record));
  }
  Result<void> on_router(RouterRecord record) override { return to_.on_router(std::move(record)); }
  Result<void> on_residual(std::int64_t boundary, std::int64_t row, std::int64_t rows,
                           std::span<const double> values) override {
    return to_.on_residual(boundary, row, rows, values);
  }
  Result<void> on_context_sums(std::int64_t layer, std::span<const double> values) override {
    return to_.on_context_sums(layer, values);
  }
  Result<void> on_exact_block(std::int64_t layer, ExactBlock kind, std::int64_t block, std::int64_t rows,
                              std::span<const double> values) override {
    return to_.on_exact_block(layer, kind, block, rows, values);
  }
  Result<void> on_exact_rows(std::int64_t layer, std::int64_t head, int component, std::int64_t row, std::int64_t rows,
                             std::span<const double> values) override {
    std::vector<double> wrong(values.begin(), values.end());
    if (layer == 1 && head == 0 && component == 0) wrong.front() += 0.5;
    return to_.on_exact_rows(layer, head, component, row, rows, wrong);
  }
  void on_progress(double fraction, const std::string& what) override { to_.on_progress(fraction, what); }
  [[nodiscard]] bool stop_requested() const override { return to_.stop_requested(); }

 private:
  ForwardObserver& to_;
};

// And a sweep of ablations.
class WrongSumOfSweep final : public VariantObserver {
 public:
  explicit WrongSumOfSweep(VariantObserver& to) : to_(to) {}
  Result<void> on_layer(LayerRecord record) override {
    make_wrong(record);
    return to_.on_layer(std::move(record));
  }
  Result<void> on_base(std::vector<double> losses) override { return to_.on_base(std::move(losses)); }
  Result<void> on_variant(std::size_t variant, std::vector<double> losses) override {
    return to_.on_variant(variant, std::move(losses));
  }
  void on_progress(double fraction, const std::string& what) override { to_.on_progress(fraction, what); }
  [[nodiscard]] bool stop_requested() const override { return to_.stop_requested(); }

 private:
  VariantObserver& to_;
};

class WrongBackend final : public ComputeBackend {
 public:
  explicit WrongBackend(ComputeBackend& to) : to_(to) {}
  Result<AttentionChoice> choose_attention(const ForwardOptions& options) override {
    return to_.choose_attention(options);
  }
  Result<ForwardSummary> run(const ModelSource& source, const ModelSpec& model, const ForwardOptions& options,
                             ForwardObserver& observer) override {
    WrongSum wrong(observer);
    return to_.run(source, model, options, wrong);
  }
  Result<std::vector<ForwardSummary>> run_batch(const ModelSource& source, const ModelSpec& model,
                                                const ForwardOptions& options,
                                                std::span<const std::vector<std::int32_t>> sequences,
                                                std::span<ForwardObserver* const> observers) override {
    std::vector<std::unique_ptr<WrongSum>> wrong;
    std::vector<ForwardObserver*> passed;
    for (ForwardObserver* const observer : observers)
      passed.push_back(wrong.emplace_back(std::make_unique<WrongSum>(*observer)).get());
    return to_.run_batch(source, model, options, sequences, passed);
  }
  Result<ForwardSummary> run_variants(const ModelSource& source, const ModelSpec& model, const ForwardOptions& options,
                                      const VariantSweep& sweep, VariantObserver& observer) override {
    WrongSumOfSweep wrong(observer);
    return to_.run_variants(source, model, options, sweep, wrong);
  }
  Result<BenchmarkReport> benchmark(const BenchmarkRequest& request,
                                    const std::function<void(double, const std::string&)>& progress,
                                    const kernels::StopRequested& stop) override {
    return to_.benchmark(request, progress, stop);
  }
  Result<TrainingOutcome> train(const TrainingRequest& request, TrainingObserver& observer) override {
    return to_.train(request, observer);
  }
  BackendInfo info() override { return to_.info(); }

 private:
  ComputeBackend& to_;
};

}  // namespace headroom::test
