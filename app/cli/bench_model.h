// `headroom bench --model`: whole analyses beside forwards without statistics. Main thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/run/analysis.h"

namespace headroom {

struct ModelBenchmark {
  std::string model, backend;
  std::int64_t tokens = 0, rounds = 0;
  double seconds = 0.0, median_seconds = 0.0;  // of an analysis with its run file; best and median
  StageSeconds stages;                         // of the best one
  double forward_seconds = 0.0;                // the same forward, context alone, nothing written; best
  double forward_attention_seconds = 0.0;      // attention's part of it
  // That forward with its attention exchanged for the measured time of LibTorch's; where heads are of one plain shape.
  std::optional<double> sdpa_forward_seconds;
  double sdpa_layer_seconds = 0.0;
  std::size_t file_bytes = 0;
};

// The shape of the model's heads at `length` tokens; empty where its layers differ or attention is not plain.
[[nodiscard]] std::optional<BenchmarkShape> benchmark_shape(const ModelSpec& model, std::int64_t length);

// `request` without its output, which goes to a folder of its own below `folder` and is removed.
[[nodiscard]] Result<ModelBenchmark> benchmark_model(ComputeBackend& backend, AnalysisRequest request,
                                                     std::int64_t rounds, const std::filesystem::path& folder,
                                                     const ProgressReport& progress,
                                                     const kernels::StopRequested& stop);

}  // namespace headroom
