#include "core/compute/rounding_bias.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/base/numbers.h"
#include "core/compute/blocked_head.h"
#include "core/compute/blocked_task.h"

namespace headroom {
namespace {

// Sums over rows per channel, in double: of e, e² and c².
struct ErrorSums {
  at::Tensor error, error_squared, context_squared;
  std::int64_t rows = 0;

  void add(const at::Tensor& errors, const at::Tensor& context, std::int64_t count) {
    const at::Tensor e = errors.to(at::kDouble), c = context.to(at::kDouble);
    const at::Tensor parts[] = {e.sum(0), e.square().sum(0), c.square().sum(0)};
    at::Tensor* const sums[] = {&error, &error_squared, &context_squared};
    for (std::size_t i = 0; i < 3; ++i) *sums[i] = sums[i]->defined() ? *sums[i] + parts[i] : parts[i];
    rows += count;
  }

  [[nodiscard]] RoundingErrors errors() const {
    RoundingErrors out;
    if (rows < 2) return out;
    const auto n = static_cast<double>(rows);
    const at::Tensor mean = error / n, variance = (error_squared - n * mean.square()).clamp_min(0.0) / (n - 1.0);
    const double scale = std::sqrt(context_squared.mean().item<double>() / n);
    out.bias = std::sqrt(mean.square().mean().item<double>()) / scale;
    out.noise = std::sqrt(error_squared.mean().item<double>() / n) / scale;
    // Channels whose error never varies say nothing of chance.
    const at::Tensor varies = at::gt(variance, 0.0);
    if (varies.any().item<bool>()) {
      const at::Tensor t_squared = mean.square() * n / variance;
      out.bias_t = std::sqrt(t_squared.masked_select(varies).mean().item<double>());
    }
    return out;
  }
};

}  // namespace

template <typename Real>
bool measure_rounding(const kernels::HeadProblem<Real>& problem, at::Device device, const kernels::StopRequested& stop,
                      std::array<RoundingErrors, 2>& errors) {
  const c10::InferenceMode no_gradients;
  errors = {};
  if (problem.softpick) return true;
  const auto options = at::TensorOptions().device(device).dtype(c10::CppTypeToScalarType<Real>::value);
  const BlockedHead<Real> head(problem, at::arange(problem.mask.longer(), options.dtype(at::kInt)));
  const std::int64_t step = rows_per_strip(problem.mask.keys(), device);
  const auto rounded = [&](const at::Tensor& x) { return x.to(at::kBFloat16).to(x.scalar_type()); };
  for (std::size_t m = 0; m < 2; ++m) {
    if (!problem.maps[m].present() || head.map(m).odd_channels.defined()) continue;
    ErrorSums sums;
    bool finite = true;
    for (std::int64_t row = 0; row < problem.mask.length && finite; row += step) {
      if (stop && stop()) return false;
      const Strip strip = head.strip(row, std::min(step, problem.mask.length - row));
      if (strip.count() == 0) continue;
      at::Tensor shifted = at::empty({strip.rows, strip.count()}, options), weights = at::empty_like(shifted);
      const MaskTensor::Tile mask = head.mask(strip);
      const RowNorms norms = head.weigh(m, strip, mask, shifted, shifted, weights);
      finite = !norms.undefined.defined() || !norms.undefined.any().template item<bool>();
      // Hidden keys lie far below: their p̄ is 0.
      const at::Tensor unnormalised = shifted.exp_();
      const at::Tensor value = head.map(m).value.narrow(0, strip.keys.begin, strip.count());
      // exp(max − lse) is 1 / l; 0 in rows that see nothing.
      const at::Tensor inverse = norms.top.to(shifted.scalar_type()).unsqueeze(1);
      const at::Tensor exact = at::mm(unnormalised, value);
      const at::Tensor error = (rounded(at::mm(rounded(unnormalised), value)) - exact).mul_(inverse);
      sums.add(error, exact * inverse, strip.rows - norms.dead.sum().template item<std::int64_t>());
    }
    if (finite) errors[m] = sums.errors();
  }
  return true;
}

template bool measure_rounding<float>(const kernels::HeadProblem<float>&, at::Device, const kernels::StopRequested&,
                                      std::array<RoundingErrors, 2>&);
template bool measure_rounding<double>(const kernels::HeadProblem<double>&, at::Device, const kernels::StopRequested&,
                                       std::array<RoundingErrors, 2>&);

}  // namespace headroom
