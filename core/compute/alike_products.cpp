#include "core/compute/alike_products.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

#include "core/base/check.h"
#include "core/compute/weights.h"

namespace headroom {
namespace {

thread_local AlikeProducts* here_now = nullptr;

at::Tensor product(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return Linear{weight, bias}.product(x);
}

// NaN is equal to NaN here, and 0 is not −0.
bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  const auto bytes = [](const at::Tensor& t) { return t.contiguous().view(at::kByte); };
  return at::equal(bytes(a), bytes(b));
}

}  // namespace

AlikeProducts::AlikeProducts(bool shared) : shared_(shared) {
  HEADROOM_CHECK(here_now == nullptr, "products of sequences are made alike once");
  here_now = this;
}

AlikeProducts::~AlikeProducts() { here_now = nullptr; }

AlikeProducts* AlikeProducts::here() { return here_now; }

at::Tensor AlikeProducts::linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  const Shape shape{x.size(0), x.size(1), x.size(2), weight.size(0), bias.defined()};
  const auto known = alike_.find(shape);
  if (known != alike_.end() && known->second) return product(x, weight, bias);
  at::Tensor alone = each(x, [&](const at::Tensor& of_one) { return product(of_one, weight, bias); });
  // Zeros are the same in every order.
  if (shared_ && known == alike_.end() && at::count_nonzero(alone).item<std::int64_t>() > 0)
    alike_[shape] = same_bits(alone, product(x, weight, bias));
  return alone;
}

std::int64_t AlikeProducts::shared_shapes() const {
  return std::ranges::count_if(alike_, [](const auto& shape) { return shape.second; });
}

at::Tensor AlikeProducts::each(const at::Tensor& x, const std::function<at::Tensor(const at::Tensor&)>& f) {
  std::vector<at::Tensor> results;
  for (std::int64_t i = 0; i < x.size(0); ++i) results.push_back(f(x.select(0, i)));
  return at::stack(results);
}

}  // namespace headroom
