// Reads weights of the model into LibTorch tensors of the run's dtype and device, one at a time, and applies the
// layers made of them. Compute thread only.
#pragma once

#include <cstdint>
#include <span>

#include <ATen/core/Tensor.h>

#include "core/base/result.h"
#include "core/model/model_source.h"
#include "core/model/non_finite.h"
#include "core/run/compute.h"

namespace headroom {

struct TorchTarget {
  at::ScalarType dtype = at::kFloat;  // of weights and activations
  at::ScalarType real = at::kFloat;   // of norms, tables and statistics: float64 runs float64, else float32
  at::Device device = at::kCPU;
  AttentionBackend backend = AttentionBackend::Blocked;
};

struct Linear {
  at::Tensor weight, bias;  // [out, in], [out] or undefined
  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const;
  // x as one matrix, also where there are AlikeProducts.
  [[nodiscard]] at::Tensor product(const at::Tensor& x) const;
};

struct Norm {
  NormKind kind = NormKind::None;
  at::Tensor weight, bias;  // undefined without affine part
  double epsilon = 0.0;
  at::ScalarType real = at::kFloat;
  // Over the last axis; None returns x.
  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const;
};

// Where the forward gets its weights: a file, or the parameters of a model in training.
class WeightProvider {
 public:
  explicit WeightProvider(TorchTarget target) : target_(target) {}
  virtual ~WeightProvider() = default;

  [[nodiscard]] const TorchTarget& target() const { return target_; }
  // [rows, columns], or [rows] for a vector; undefined where the reference is absent.
  [[nodiscard]] virtual Result<at::Tensor> load(const WeightRef& weight) const = 0;
  [[nodiscard]] Result<Linear> load(const LinearSpec& linear) const;
  [[nodiscard]] Result<Norm> load(const NormSpec& norm) const;

 private:
  TorchTarget target_;
};

class WeightLoader final : public WeightProvider {
 public:
  // `log` hears of every number that is read; null: nobody does.
  WeightLoader(const ModelSource& source, TorchTarget target, NonFiniteLog* log = nullptr)
      : WeightProvider(target), source_(source), log_(log) {}

  using WeightProvider::load;
  [[nodiscard]] Result<at::Tensor> load(const WeightRef& weight) const override;
  // Rows `rows[i]` of a matrix: [rows.size(), columns].
  [[nodiscard]] Result<at::Tensor> load_rows(const WeightRef& weight, std::span<const std::int32_t> rows) const;

 private:
  template <typename Real>
  Result<void> read(const WeightRef& weight, at::Tensor& tensor) const;
  template <typename Real>
  Result<void> read_rows(const WeightRef& weight, std::span<const std::int32_t> rows, at::Tensor& tensor) const;

  const ModelSource& source_;
  NonFiniteLog* log_;
};

[[nodiscard]] at::Tensor activate(Activation activation, const at::Tensor& x);

}  // namespace headroom
