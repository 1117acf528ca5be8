// Receives what a forward pass yields and writes it into the run file, layer by layer; keeps the root group for the
// summary. One thread: HDF5.
#pragma once

#include "core/run/analysis.h"
#include "core/run/run_layout.h"

namespace headroom {

class Recorder final : public ForwardObserver {
 public:
  Recorder(RunFileWriter& writer, const RunShape& shape, const kernels::StatisticsRequest& request,
           AnalysisOutcome& outcome, const ProgressReport& progress, const kernels::StopRequested& stop);

  Result<void> on_layer(LayerRecord record) override;
  Result<void> on_residual(std::int64_t boundary, std::int64_t row, std::int64_t rows,
                           std::span<const double> values) override;
  Result<void> on_logits(std::int64_t row, std::int64_t rows, std::span<const double> values) override;
  Result<void> on_exact_rows(std::int64_t layer, std::int64_t head, int component, std::int64_t row, std::int64_t rows,
                             std::span<const double> values) override;
  void on_progress(double fraction, const std::string& what) override;
  [[nodiscard]] bool stop_requested() const override;

 private:
  Result<void> write_quantities(const LayerRecord& record, const std::vector<HeadView>& views, std::int64_t l);
  Result<void> write_layer_datasets(const LayerRecord& record, const std::vector<HeadView>& views, std::int64_t l);
  Result<void> write_program(const LayerRecord& record, std::int64_t l);
  Result<void> finish_residual_top(std::int64_t boundary);
  [[nodiscard]] std::int64_t layer_index(std::int64_t layer) const;

  RunFileWriter& writer_;
  const RunShape& shape_;
  const kernels::StatisticsRequest& request_;
  AnalysisOutcome& outcome_;
  const ProgressReport& progress_;
  const kernels::StopRequested& stop_;
  std::vector<float> residual_magnitudes_;
  std::vector<std::pair<double, std::int64_t>> residual_largest_;  // (value, flat index), by magnitude
};

}  // namespace headroom
