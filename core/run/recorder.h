// Receives what a forward pass yields and writes it into the run file, layer by layer, on a thread of its own; keeps
// the root group for the summary. From the first job until finish() or destruction the writer and the outcome belong to
// that thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/worker.h"
#include "core/run/analysis.h"
#include "core/run/run_layout.h"

namespace headroom {

class MeasuredLayer;

class Recorder final : public ForwardObserver {
 public:
  // Jobs that wait behind the one that runs. Each holds one layer's record, so memory stays that of a few layers.
  static constexpr std::size_t kWaiting = 1;

  Recorder(RunFileWriter& writer, const RunShape& shape, const kernels::StatisticsRequest& request,
           AnalysisOutcome& outcome, const ProgressReport& progress, const kernels::StopRequested& stop);

  // Something to do before the first layer, on the same thread; `write` may run long and is given the queue's token.
  Result<void> on_start(Worker::Job write);
  // Waits until everything is written: the first error, of whatever job.
  Result<void> finish();

  // An error of earlier writing comes back from the next call of any of these.
  Result<void> on_layer(LayerRecord record) override;
  Result<void> on_router(RouterRecord record) override;
  Result<void> on_residual(std::int64_t boundary, std::int64_t row, std::int64_t rows,
                           std::span<const double> values) override;
  Result<void> on_logits(std::int64_t row, std::int64_t rows, std::span<const double> values) override;
  Result<void> on_exact_rows(std::int64_t layer, std::int64_t head, int component, std::int64_t row, std::int64_t rows,
                             std::span<const double> values) override;
  Result<void> on_exact_block(std::int64_t layer, ExactBlock kind, std::int64_t block, std::int64_t rows,
                              std::span<const double> values) override;
  void on_progress(double fraction, const std::string& what) override;
  [[nodiscard]] bool stop_requested() const override;

 private:
  Result<void> submit(Worker::Job job);
  Result<void> write_layer(const LayerRecord& record);
  Result<void> write_quantities(const LayerRecord& record, const MeasuredLayer& measured, std::int64_t l);
  Result<void> write_layer_datasets(const LayerRecord& record, const std::vector<HeadView>& views, std::int64_t l);
  Result<void> write_call(const LayerRecord& record, std::int64_t l);
  Result<void> write_router(const RouterRecord& record);
  Result<void> add_residual(std::int64_t boundary, std::int64_t row, std::int64_t rows, std::span<const double> values);
  Result<void> finish_residual_top(std::int64_t boundary);
  [[nodiscard]] std::int64_t layer_index(std::int64_t layer) const;
  [[nodiscard]] std::int64_t head_index(std::int64_t head) const;

  RunFileWriter& writer_;
  const RunShape& shape_;
  const kernels::StatisticsRequest& request_;
  AnalysisOutcome& outcome_;
  const ProgressReport& progress_;
  const kernels::StopRequested& stop_;
  std::vector<float> residual_magnitudes_;
  std::vector<std::pair<double, std::int64_t>> residual_largest_;  // (value, flat index), by magnitude
  double write_seconds_ = 0.0;                                     // of the queue's thread
  Worker queue_;                                                   // last: its jobs use the others
};

}  // namespace headroom
