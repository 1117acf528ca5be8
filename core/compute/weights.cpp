#include "core/compute/weights.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "core/compute/alike_products.h"
#include "core/compute/parallel.h"

namespace headroom {

namespace {

// Of few rows MKL divides long sums among its threads and adds up the parts, which rounds otherwise than a product of
// many rows and takes longer than one thread does. By one thread such rows have the bits that they have among many.
bool is_for_one_thread(const at::Tensor& x, const at::Tensor& weight) {
  constexpr std::int64_t kLong = 1024;
  constexpr double kFew = 2.4e8;  // products: some milliseconds
  return c10::InferenceMode::is_enabled() && x.device().is_cpu() && x.size(-1) >= kLong &&
         static_cast<double>(x.numel()) * static_cast<double>(weight.size(0)) <= kFew;
}

}  // namespace

at::Tensor Linear::operator()(const at::Tensor& x) const {
  if (AlikeProducts* alike = x.dim() == 3 ? AlikeProducts::here() : nullptr) return alike->linear(x, weight, bias);
  return product(x);
}

at::Tensor Linear::product(const at::Tensor& x) const {
  std::optional<OneThreadProducts> one_thread;
  if (is_for_one_thread(x, weight)) one_thread.emplace();
  return bias.defined() ? at::linear(x, weight, bias) : at::linear(x, weight);
}

at::Tensor Norm::operator()(const at::Tensor& x) const {
  if (kind == NormKind::None) return x;
  at::Tensor y = x.to(real);
  if (kind == NormKind::Layer) y = y - y.mean(-1, true);
  // Biased variance of the centred values for LayerNorm, mean square for RMSNorm.
  y = (y * at::rsqrt(y.square().mean(-1, true) + epsilon)).to(x.scalar_type());
  if (weight.defined()) y = y * weight;
  if (bias.defined()) y = y + bias;
  return y;
}

template <typename Real>
Result<void> WeightLoader::read(const WeightRef& weight, at::Tensor& tensor) const {
  const std::span<Real> values(tensor.mutable_data_ptr<Real>(), static_cast<std::size_t>(tensor.numel()));
  HEADROOM_TRY_VOID(source_.read(weight, values));
  if (log_) log_->add_slice(weight, values);
  return {};
}

Result<at::Tensor> WeightLoader::load(const WeightRef& weight) const {
  if (!weight.present()) return at::Tensor();
  at::Tensor tensor = weight.is_vector() ? at::empty({weight.rows()}, target().real)
                                         : at::empty({weight.rows(), weight.columns()}, target().real);
  HEADROOM_TRY_VOID(target().real == at::kDouble ? read<double>(weight, tensor) : read<float>(weight, tensor));
  return tensor.to(target().device, target().dtype);
}

Result<Linear> WeightProvider::load(const LinearSpec& linear) const {
  Linear result;
  HEADROOM_TRY(result.weight, load(linear.weight));
  HEADROOM_TRY(result.bias, load(linear.bias));
  return result;
}

Result<Norm> WeightProvider::load(const NormSpec& norm) const {
  Norm result;
  result.kind = norm.kind;
  result.epsilon = norm.epsilon;
  result.real = target_.real;
  HEADROOM_TRY(result.weight, load(norm.weight));
  HEADROOM_TRY(result.bias, load(norm.bias));
  if (result.weight.defined() && norm.weight_offset != 0.0) result.weight = result.weight + norm.weight_offset;
  return result;
}

template <typename Real>
Result<void> WeightLoader::read_rows(const WeightRef& weight, std::span<const std::int32_t> rows,
                                     at::Tensor& tensor) const {
  std::set<std::int32_t> seen;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::span<Real> values(tensor.mutable_data_ptr<Real>() + static_cast<std::int64_t>(i) * weight.columns(),
                                 static_cast<std::size_t>(weight.columns()));
    HEADROOM_TRY_VOID(source_.read_row(weight, rows[i], values));
    if (log_ && seen.insert(rows[i]).second) log_->add_rows(weight, values);
  }
  return {};
}

Result<at::Tensor> WeightLoader::load_rows(const WeightRef& weight, std::span<const std::int32_t> rows) const {
  at::Tensor tensor = at::empty({static_cast<std::int64_t>(rows.size()), weight.columns()}, target().real);
  HEADROOM_TRY_VOID(target().real == at::kDouble ? read_rows<double>(weight, rows, tensor)
                                                 : read_rows<float>(weight, rows, tensor));
  return tensor.to(target().device, target().dtype);
}

at::Tensor activate(Activation activation, const at::Tensor& x) {
  if (x.dim() == 3 && AlikeProducts::here() != nullptr)
    return AlikeProducts::each(x, [&](const at::Tensor& of_one) { return activate(activation, of_one); });
  switch (activation) {
    case Activation::Silu: return at::silu(x);
    case Activation::Gelu: return at::gelu(x);
    case Activation::GeluTanh: return at::gelu(x, "tanh");
    case Activation::QuickGelu: return x * at::sigmoid(1.702 * x);
    case Activation::Relu: return at::relu(x);
    case Activation::ReluSquared: return at::relu(x).square();
    case Activation::PolyNorm: break;  // has weights: MlpWeights
  }
  return x;
}

}  // namespace headroom
