// One shape of the benchmark: its inputs, LibTorch's attention on them and the fused kernels of the device, and how far
// the latter are from the reference. Compute thread only.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/run/benchmark.h"
#include "kernels/attention.h"

namespace headroom {

// Operations of the attention alone: every map's scores and its weighted values, half of them masked.
[[nodiscard]] double attention_operations(const BenchmarkShape& shape);

class BenchmarkInputs {
 public:
  // Independent N(0, 1), the same for the same shape; with `outliers` queries and keys are N(0, 1) + N(0, 100) ·
  // B(0.001) (FlashAttention-3, arXiv 2407.08608 §4.3).
  BenchmarkInputs(const BenchmarkShape& shape, at::TensorOptions place, bool outliers);

  struct Variant {
    std::string name;
    std::function<Result<void>()> run;
    std::optional<double> goal;
  };
  // The first is LibTorch's attention, by its flash kernels where they take the shape. Each returns when its work is
  // done. `avx2`: the goals of that instruction set.
  [[nodiscard]] std::vector<Variant> variants(bool avx2, const kernels::StopRequested& stop);

  [[nodiscard]] const std::string& yardstick() const { return yardstick_; }
  [[nodiscard]] const std::string& sdpa_backend() const { return sdpa_backend_; }

  // Of the first head.
  [[nodiscard]] Result<BenchmarkAccuracy> accuracy() const;

 private:
  struct Map {
    at::Tensor query, key;  // [1, heads, n, d], [1, kv_heads, n, d]
  };
  void choose_sdpa();
  void run_sdpa(bool cudnn) const;
  void run_narrow_sdpa() const;
  [[nodiscard]] at::Tensor sdpa_context() const;
  template <typename Input>
  [[nodiscard]] Result<void> run_jobs(std::vector<kernels::HeadJob<Input, float>>& jobs,
                                      const kernels::StopRequested& stop) const;
  template <typename Input>
  [[nodiscard]] Result<void> run_kernels(const kernels::StatisticsRequest& request, const kernels::StopRequested& stop);
  template <typename Input>
  [[nodiscard]] Result<BenchmarkAccuracy> accuracy_of() const;
  template <typename Input>
  [[nodiscard]] kernels::HeadProblem<Input> problem(std::int64_t head, const Map* maps, const at::Tensor& value) const;

  BenchmarkShape shape_;
  int map_count_ = 1;
  std::int64_t value_dim_ = 0;
  at::TensorOptions place_;
  std::vector<Map> maps_;
  at::Tensor value_, context_;  // [1, kv_heads, n, value_dim], [n, heads, value_dim]
  std::vector<double> lambda_;
  struct Call {
    at::Tensor query, key, value;
  };
  std::vector<Call> sdpa_calls_;
  std::string yardstick_, sdpa_backend_;
  bool has_cudnn_ = false;
};

}  // namespace headroom
