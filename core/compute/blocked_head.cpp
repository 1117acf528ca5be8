#include "core/compute/blocked_head.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "core/base/numbers.h"

namespace headroom {
namespace {

using kernels::HeadProblem;

// e to this power is 0 in every precision, and times 0 it is 0, which −∞ is not.
constexpr double kLowest = -1e4;

template <typename Real>
at::Tensor view(const Real* data, std::int64_t rows, std::int64_t columns, std::int64_t stride, at::Device device) {
  return at::from_blob(const_cast<Real*>(data), {rows, columns}, {stride, 1},
                       at::TensorOptions().dtype(c10::CppTypeToScalarType<Real>::value).device(device));
}

template <typename Value>
at::Tensor from_host(const Value* data, std::int64_t length, at::Device device) {
  const auto type = c10::CppTypeToScalarType<Value>::value;
  return at::from_blob(const_cast<Value*>(data), {length}, at::TensorOptions().dtype(type)).to(device);
}

at::Tensor column(const at::Tensor& values, at::ScalarType real) { return values.to(real).unsqueeze(1); }

// NaN where a row sees a key that is marked in a column; `marks` [keys, columns], `sums` [rows, columns].
at::Tensor mark_seen(const at::Tensor& marks, const at::Tensor& hidden, const at::Tensor& sums) {
  const at::Tensor seen = hidden.defined() ? at::mm(hidden.logical_not().to(marks.scalar_type()), marks)
                                           : marks.sum(0, true).expand_as(sums);
  return sums.masked_fill(at::gt(seen, 0.0), kNaN);
}

}  // namespace

template <typename Real>
BlockedHead<Real>::BlockedHead(const HeadProblem<Real>& problem, const at::Tensor& positions)
    : problem_(problem), positions_(positions), mask_(problem.mask, positions) {
  const at::Device device = positions.device();
  for (std::size_t m = 0; m < 2; ++m) {
    const kernels::MapInput<Real>& input = problem.maps[m];
    if (!input.present()) continue;
    Map& map = maps_[m];
    map.query = view(input.query, problem.mask.length, problem.head_dim, input.query_stride, device);
    map.key = view(input.key, problem.mask.keys(), problem.head_dim, input.key_stride, device);
    map.value = view(input.value, problem.mask.keys(), problem.value_dim, input.value_stride, device);
    if (m == 1 && input.value == problem.maps[0].value && input.value_stride == problem.maps[0].value_stride) {
      map.value = maps_[0].value;
      map.mean_square = maps_[0].mean_square;
      map.odd_channels = maps_[0].odd_channels;
      map.odd = maps_[0].odd;
      continue;
    }
    map.mean_square = at::linalg_vector_norm(map.value, 2, at::IntArrayRef{1}).square_().div_(problem.value_dim);
    const at::Tensor finite = at::isfinite(map.mean_square);
    if (finite.all().template item<bool>()) continue;
    const at::ScalarType real = map.value.scalar_type();
    const at::Tensor odd_channels = at::isfinite(map.value).logical_not_();
    map.value = map.value.masked_fill(odd_channels, 0.0);
    map.mean_square.masked_fill_(finite.logical_not(), 0.0);
    map.odd_channels = odd_channels.to(real);
    map.odd = finite.logical_not().to(real).unsqueeze(1);
  }
  if (problem.maps[1].present()) {
    at::Tensor lambda = from_host(problem.lambda, problem.mask.length, device);
    const at::Tensor odd = at::isfinite(lambda).logical_not_();
    lambda_is_finite_ = !odd.any().template item<bool>();
    if (!lambda_is_finite_) {
      lambda = lambda.masked_fill(odd, kNaN);
      for (std::int64_t i = 0; i < problem.mask.length; ++i)
        if (problem.mask.visible(i) == 0) lambda.select(0, i).zero_();
    }
    lambda_ = column(lambda, c10::CppTypeToScalarType<Real>::value);
  }
  if (problem.induction_key) induction_key_ = from_host(problem.induction_key, problem.mask.length, device);
  if (problem.bias) {
    const kernels::Mask& mask = problem.mask;
    std::vector<Real> values(static_cast<std::size_t>(std::max<std::int64_t>(mask.length + mask.keys() - 1, 0)));
    const std::int64_t most = mask.first_query + mask.length - 1;  // the distance of the last row from key 0
    for (std::size_t at = 0; at < values.size(); ++at) {
      const std::int64_t distance = most - static_cast<std::int64_t>(at);
      if (distance >= -mask.ahead() && distance <= mask.behind())
        values[at] = static_cast<Real>(problem.bias[distance]);
    }
    bias_ = from_host(values.data(), static_cast<std::int64_t>(values.size()), device);
    if (device.is_cpu()) bias_ = bias_.clone();
  }
  if (problem.mask.dense) return;
  visible_before_.assign(static_cast<std::size_t>(problem.mask.length) + 1, 0);
  std::vector<std::uint8_t> blind(static_cast<std::size_t>(problem.mask.length));
  for (std::int64_t i = 0; i < problem.mask.length; ++i) {
    const std::int64_t visible = problem.mask.visible(i);
    visible_before_[static_cast<std::size_t>(i) + 1] = visible_before_[static_cast<std::size_t>(i)] + visible;
    blind[static_cast<std::size_t>(i)] = visible == 0 ? 1 : 0;
  }
  blind_ = from_host(blind.data(), problem.mask.length, device).ne(0);
}

template <typename Real>
Strip BlockedHead<Real>::strip(std::int64_t row, std::int64_t rows) const {
  const kernels::KeyRange seeing = problem_.mask.seeing_rows();
  const std::int64_t first = std::max(row, seeing.begin), end = std::min(row + rows, seeing.end);
  if (first >= end) return {row, rows, {}};
  return {row, rows, {problem_.mask.keys_of(first).begin, problem_.mask.keys_of(end - 1).end}};
}

template <typename Real>
std::int64_t BlockedHead<Real>::visible(const Strip& strip, const at::Tensor& hidden, const at::Tensor& without) const {
  if (visible_before_.empty()) {
    at::Tensor seen = hidden.logical_not();
    if (without.defined()) seen = seen.masked_fill(without.unsqueeze(1), false);
    return seen.sum().template item<std::int64_t>();
  }
  const auto before = [&](std::int64_t row) { return visible_before_[static_cast<std::size_t>(row)]; };
  std::int64_t count = before(strip.row + strip.rows) - before(strip.row);
  if (!without.defined()) return count;
  const at::Tensor left_out = without.to(at::kCPU);
  for (std::int64_t r = 0; r < strip.rows; ++r)
    if (left_out.const_data_ptr<bool>()[r]) count -= before(strip.row + r + 1) - before(strip.row + r);
  return count;
}

template <typename Real>
void BlockedHead<Real>::distances(const Strip& strip, at::Tensor& out) const {
  const at::ScalarType real = out.scalar_type();
  at::sub_out(
      out,
      column(positions_.narrow(0, strip.row, strip.rows) + static_cast<std::int32_t>(problem_.mask.first_query), real),
      positions_.narrow(0, strip.keys.begin, strip.count()).to(real));
  if (!problem_.mask.causal) out.abs_();
}

template <typename Real>
at::Tensor BlockedHead<Real>::bias(const Strip& strip) const {
  // Rows from the last to the first begin one element after each other.
  const std::int64_t after = problem_.mask.length - strip.row - strip.rows;
  return bias_.as_strided({strip.rows, strip.count()}, {1, 1}, after + strip.keys.begin).flip(0);
}

template <typename Real>
at::Tensor BlockedHead<Real>::with_odd_values(std::size_t m, const Strip& strip, const at::Tensor& hidden,
                                              const at::Tensor& sums) const {
  if (!maps_[m].odd_channels.defined()) return sums;
  return mark_seen(maps_[m].odd_channels.narrow(0, strip.keys.begin, strip.count()), hidden, sums);
}

template <typename Real>
at::Tensor BlockedHead<Real>::with_odd_squares(std::size_t m, const Strip& strip, const at::Tensor& hidden,
                                               const at::Tensor& sums) const {
  if (!maps_[m].odd.defined()) return sums;
  return mark_seen(maps_[m].odd.narrow(0, strip.keys.begin, strip.count()), hidden, sums.unsqueeze(1)).squeeze(1);
}

template <typename Real>
RowNorms BlockedHead<Real>::weigh(std::size_t m, const Strip& strip, const MaskTensor::Tile& mask, at::Tensor& z,
                                  at::Tensor& shifted, at::Tensor& weights) const {
  const Map& map = maps_[m];
  const at::Tensor& hidden = mask.hidden;
  at::mm_out(z, map.query.narrow(0, strip.row, strip.rows), map.key.narrow(0, strip.keys.begin, strip.count()).t());
  z.mul_(problem_.scale);
  if (bias_.defined()) z.add_(bias(strip));
  if (hidden.defined()) z.masked_fill_(hidden, -kInfinity);
  RowNorms norms;
  norms.raw_max = norms.max = z.amax(1);
  if (problem_.softcap > 0.0) {
    z.div_(problem_.softcap).tanh_().mul_(problem_.softcap);
    if (hidden.defined()) z.masked_fill_(hidden, -kInfinity);
  }
  if (mask.added.defined()) z.add_(mask.added);
  if (problem_.temperature != 1.0) z.div_(problem_.temperature);
  if (problem_.softcap > 0.0 || problem_.temperature != 1.0 || mask.added.defined()) norms.max = z.amax(1);

  if (problem_.softpick) return pick(hidden, std::move(norms), z, shifted, weights);
  const at::ScalarType real = z.scalar_type();
  norms.dead = at::isneginf(norms.max);
  // A row whose every logit is −∞ is not dead, but undefined, where no sink takes it.
  if (!problem_.has_sink || !(problem_.sink < kInfinity))
    norms.dead.logical_and_(blind_.defined() ? blind_.narrow(0, strip.row, strip.rows) : hidden.all(1));
  at::sub_out(shifted, z, column(norms.max.masked_fill(norms.dead, 0.0), real));
  shifted.clamp_min_(kLowest);
  at::exp_out(weights, shifted);
  const at::Tensor sum = weights.sum(1).to(at::kDouble).masked_fill_(norms.dead, 0.0);
  const at::Tensor max = norms.max.to(at::kDouble);
  // Relative to whichever is larger, the row's maximum or the sink.
  at::Tensor reference = problem_.has_sink ? max.clamp_min(problem_.sink) : max;
  reference = reference.masked_fill(norms.dead.logical_and(at::isneginf(reference)), 0.0);
  at::Tensor total = sum * at::exp(max - reference);
  if (problem_.has_sink) total = total + at::exp(problem_.sink - reference);
  norms.lse = reference + at::log(total);
  const at::Tensor undefined = at::isnan(norms.lse).logical_and_(norms.dead.logical_not());
  if (undefined.any().template item<bool>()) norms.undefined = undefined;
  norms.log_top = (max - norms.lse).masked_fill_(norms.dead, 0.0);
  norms.top = at::exp(norms.log_top).masked_fill_(norms.dead, 0.0);
  norms.total = problem_.has_sink ? norms.top * sum : at::ones_like(sum).masked_fill_(norms.dead, 0.0);
  weights.mul_(column(norms.top, real));
  if (!norms.undefined.defined()) return norms;
  norms.total.masked_fill_(undefined, kNaN);
  weights.masked_fill_(undefined.unsqueeze(1), kNaN);
  if (hidden.defined()) weights.masked_fill_(hidden, 0.0);
  return norms;
}

template <typename Real>
RowNorms BlockedHead<Real>::pick(const at::Tensor& hidden, RowNorms norms, const at::Tensor& z, at::Tensor& shifted,
                                 at::Tensor& weights) const {
  const at::ScalarType real = z.scalar_type();
  norms.dead = at::isneginf(norms.max);
  const at::Tensor largest = norms.max.to(at::kDouble).masked_fill(norms.dead, 0.0);
  const at::Tensor shift = largest.clamp_min(0.0);
  at::sub_out(weights, z, column(shift, real));
  weights.exp_().sub_(column(at::exp(-shift), real)).masked_fill_(at::isneginf(z), 0.0);
  const at::Tensor sum = weights.abs().sum(1).to(at::kDouble) + kernels::kSoftpickEpsilon * at::exp(largest - shift);
  norms.lse = (shift + at::log(sum)).masked_fill_(norms.dead, -kInfinity);
  weights.clamp_min_(0.0).div_(column(sum, real));
  at::sub_out(shifted, z, column(norms.max.masked_fill(norms.dead, 0.0), real));
  shifted.clamp_min_(kLowest);
  const at::Tensor undefined = at::isnan(norms.lse);
  if (undefined.any().template item<bool>()) {
    norms.undefined = undefined;
    weights.masked_fill_(undefined.unsqueeze(1), kNaN);
    if (hidden.defined()) weights.masked_fill_(hidden, 0.0);
  }
  norms.top = weights.amax(1).to(at::kDouble);
  norms.total = weights.sum(1).to(at::kDouble);
  return norms;
}

template class BlockedHead<float>;
template class BlockedHead<double>;

}  // namespace headroom
