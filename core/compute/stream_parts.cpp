#include "core/compute/stream_parts.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <ATen/ATen.h>

namespace headroom {
namespace {

// A number in x's own dtype.
at::Tensor number(double value, const at::Tensor& x) { return at::scalar_tensor(value, x.options()); }

// x with the RMS of every row that `like` has there.
at::Tensor with_rms_of(const at::Tensor& like, const at::Tensor& x) {
  constexpr double kLeastSquare = 1e-5;
  const at::Tensor wanted = at::sqrt(like.square().mean(-1, true));
  return x * wanted / at::sqrt(x.square().mean(-1, true).clamp_min(kLeastSquare));
}

}  // namespace

at::Tensor LaurelWeights::join(const at::Tensor& sum, const at::Tensor& x) const {
  return (sum + (x + norm(right(left(x))))) / number(std::sqrt(2.0), x);
}

at::Tensor AltUpWeights::route(const at::Tensor& h) const {
  const at::Tensor x = norm(h) * number(1.0 / static_cast<double>(h.size(-1)), h);
  return at::tanh(router(x).to(norm.real)).to(h.scalar_type());
}

at::Tensor AltUpWeights::predict(const at::Tensor& streams, std::int64_t active) const {
  const std::int64_t count = streams.size(0);
  const at::Tensor mix = prediction(route(streams.select(0, active))).unflatten(-1, {count, count});
  // [length, into, from] · [length, from, hidden]
  return streams + at::matmul(mix, streams.transpose(0, 1)).transpose(0, 1);
}

at::Tensor AltUpWeights::correct(const at::Tensor& predictions, const at::Tensor& made, std::int64_t active) const {
  const at::Tensor shares = correction(route(made)) + number(1.0, made);  // [length, streams]
  return predictions + (made - predictions.select(0, active)).unsqueeze(0) * shares.t().unsqueeze(-1);
}

at::Tensor TokenBranchWeights::operator()(Activation activation, const at::Tensor& h, const at::Tensor& told) const {
  return norm(up(activate(activation, gate(h)) * told));
}

Result<at::Tensor> embed_for_layers(const WeightProvider& weights, const LayerEmbeddingSpec& spec,
                                    const at::Tensor& rows, const at::Tensor& embedded) {
  HEADROOM_TRY(const Linear projection, weights.load(spec.projection));
  HEADROOM_TRY(const Norm norm, weights.load(spec.norm));
  const at::Tensor projected = projection(embedded) * number(spec.projection_scale, embedded);
  const at::Tensor own = (rows * number(spec.table_scale, rows)).unflatten(-1, {-1, spec.width});
  return (norm(projected.unflatten(-1, {-1, spec.width})) + own) * number(std::sqrt(0.5), own);
}

Result<at::Tensor> split_stream(const WeightProvider& weights, const StreamsSpec& spec, const at::Tensor& h) {
  std::vector<at::Tensor> streams = {h};
  for (const LinearSpec& linear : spec.in) {
    HEADROOM_TRY(const Linear projection, weights.load(linear));
    streams.push_back(with_rms_of(h, projection(h)));
  }
  return at::stack(streams);
}

at::Tensor merge_streams(const std::vector<Linear>& out, const at::Tensor& streams) {
  const at::Tensor first = streams.select(0, 0);
  at::Tensor sum = first;
  for (std::size_t i = 0; i < out.size(); ++i)
    sum = sum + with_rms_of(first, out[i](streams.select(0, static_cast<std::int64_t>(i) + 1)));
  return sum / number(static_cast<double>(out.size() + 1), sum);
}

}  // namespace headroom
