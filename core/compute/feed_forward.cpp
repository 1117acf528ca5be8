#include "core/compute/feed_forward.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <set>
#include <stop_token>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "core/base/worker.h"
#include "core/compute/reading_thread.h"

namespace headroom {
namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

// The experts of the best groups keep their score, the others have −∞.
at::Tensor within_groups(const RouterSpec& router, const at::Tensor& choice) {
  if (router.groups <= 1) return choice;
  const at::Tensor grouped = choice.view({choice.size(0), router.groups, -1});
  const at::Tensor best = std::get<0>(grouped.topk(router.group_best, -1)).sum(-1);
  const at::Tensor chosen = std::get<1>(best.topk(router.chosen_groups, -1));
  const at::Tensor kept = at::zeros_like(best, best.options().dtype(at::kBool)).scatter(1, chosen, true);
  return grouped.masked_fill(kept.logical_not().unsqueeze(-1), kNothing).view_as(choice);
}

// Liu et al. 2024 (GRIN, arXiv 2409.12136), as it is used once a model is trained: the best expert, and its softmax
// among those whose logits are within 2·jitter of it, relative to the larger magnitude; then the same without it.
Routing mix_sparsely(const RouterSpec& router, const at::Tensor& logits) {
  std::vector<at::Tensor> weights, experts;
  at::Tensor rest = logits;
  for (std::int64_t k = 0; k < router.chosen; ++k) {
    const auto [most, best] = rest.max(-1, true);
    const at::Tensor far = (most - logits) / at::maximum(logits.abs(), most) > 2.0 * router.jitter;
    weights.push_back(at::softmax(rest.masked_fill(far, kNothing), -1).gather(1, best));
    experts.push_back(best);
    rest = rest.scatter(1, best, kNothing);
  }
  return {at::cat(weights, 1), at::cat(experts, 1)};
}

std::vector<std::size_t> used_experts(const at::Tensor& experts) {
  const at::Tensor host = experts.to(at::kCPU).contiguous();
  const auto* begin = host.const_data_ptr<std::int64_t>();
  const std::set<std::int64_t> used(begin, begin + host.numel());
  return {used.begin(), used.end()};
}

// Zhuo et al. 2024 (arXiv 2411.03884): w₀ n(x³) + w₁ n(x²) + w₂ n(x) + b with n(x) = x / √(mean x² + ε), in the type of
// the norms.
at::Tensor poly_norm(const MlpWeights& mlp, const at::Tensor& x) {
  constexpr double kEpsilon = 1e-6;
  const at::Tensor y = x.scalar_type() == at::kDouble ? x : x.to(at::kFloat);
  const auto normed = [](const at::Tensor& z) { return z * at::rsqrt(z.square().mean(-1, true) + kEpsilon); };
  const at::Tensor w = mlp.power_weight.to(y.scalar_type());
  const at::Tensor square = y.square();
  return (w[0] * normed(square * y) + w[1] * normed(square) + w[2] * normed(y) + mlp.power_bias.to(y.scalar_type()))
      .to(x.scalar_type());
}

// max(g − m, 0) with m the mean of a row plus its deviation times the quantile of `sparsity` of a normal distribution:
// of a normal g so large a share becomes 0. The quantile is √2·erfinv(2·sparsity − 1), in float as torch.distributions
// has it, but in float64 runs.
at::Tensor largest_share(double sparsity, const at::Tensor& g) {
  const auto type = g.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const at::Tensor share = at::scalar_tensor(sparsity, at::TensorOptions().dtype(type));
  const at::Tensor quantile = (at::erfinv(2.0 * share - 1.0) * std::numbers::sqrt2).to(g.device(), g.scalar_type());
  return at::relu(g - (g.mean(-1, true) + g.std(-1, false, true) * quantile));
}

}  // namespace

at::Tensor MlpWeights::operator()(const MlpSpec& mlp, const at::Tensor& x) const {
  if (mlp.kind == MlpKind::Plain) return down(activate(mlp.activation, up(x)));
  at::Tensor gated = gate(x);
  if (mlp.sparsity > 0.0) gated = largest_share(mlp.sparsity, gated);
  if (mlp.limit > 0.0) gated = gated.clamp_max(mlp.limit);
  gated = mlp.activation == Activation::PolyNorm ? poly_norm(*this, gated) : activate(mlp.activation, gated);
  at::Tensor inner = up(x);
  if (mlp.limit > 0.0) inner = inner.clamp(-mlp.limit, mlp.limit);
  if (mlp.up_offset != 0.0) inner = inner + mlp.up_offset;
  // In place where nothing is trained: ReLU's gradient needs its result.
  return down(gated.requires_grad() ? gated * inner : gated.mul_(inner));
}

Result<MlpWeights> load_mlp(const WeightProvider& weights, const MlpSpec& mlp) {
  MlpWeights loaded;
  HEADROOM_TRY(loaded.gate, weights.load(mlp.gate));
  HEADROOM_TRY(loaded.up, weights.load(mlp.up));
  HEADROOM_TRY(loaded.down, weights.load(mlp.down));
  HEADROOM_TRY(loaded.power_weight, weights.load(mlp.power_weight));
  HEADROOM_TRY(loaded.power_bias, weights.load(mlp.power_bias));
  return loaded;
}

Routing route(const RouterSpec& router, const RouterWeights& weights, const at::Tensor& x, at::ScalarType real) {
  const at::Tensor bias = weights.logits.bias.defined() ? weights.logits.bias.to(real) : at::Tensor();
  at::Tensor logits = Linear{weights.logits.weight.to(real), bias}(x.to(real));
  if (router.logit_scale != 1.0) logits = logits * router.logit_scale;
  if (router.score == RouterScore::SparseMixer) return mix_sparsely(router, logits);
  const at::Tensor scores = router.score == RouterScore::Softmax   ? at::softmax(logits, -1)
                            : router.score == RouterScore::Sigmoid ? at::sigmoid(logits)
                                                                   : logits;
  at::Tensor choice = weights.choice_bias.defined() ? scores + weights.choice_bias.to(real) : scores;
  choice = within_groups(router, choice);
  const at::Tensor experts = std::get<1>(choice.topk(router.chosen, -1));
  at::Tensor chosen = scores.gather(1, experts);
  if (router.score == RouterScore::SoftmaxChosen) chosen = at::softmax(chosen, -1);
  if (router.normalised) chosen = chosen / (chosen.sum(-1, true) + router.epsilon);
  if (router.scale != 1.0) chosen = chosen * router.scale;
  if (weights.expert_scales.defined())
    chosen = chosen * weights.expert_scales.to(real).index_select(0, experts.flatten()).view_as(experts);
  return {chosen, experts};
}

RouterRecord record_of(const Routing& routing, std::int64_t layer, std::int64_t experts) {
  RouterRecord record;
  record.layer = layer;
  record.experts = experts;
  record.chosen = routing.experts.size(1);
  // Two stable sorts: by number, then by weight.
  const at::Tensor by_number = at::argsort(routing.experts, true, -1, false);
  const at::Tensor weights = routing.weights.gather(1, by_number);
  const at::Tensor by_weight = at::argsort(weights, true, -1, true);
  const at::Tensor sorted = weights.gather(1, by_weight).to(at::kCPU, at::kDouble).contiguous();
  const at::Tensor index = routing.experts.gather(1, by_number).gather(1, by_weight).to(at::kCPU).contiguous();
  const auto* weight = sorted.const_data_ptr<double>();
  const auto* number = index.const_data_ptr<std::int64_t>();
  record.weight.assign(weight, weight + sorted.numel());
  record.index.assign(number, number + index.numel());
  return record;
}

Result<at::Tensor> run_experts(const WeightProvider& weights, const ExpertsSpec& spec, const Routing& routing,
                               const at::Tensor& x, std::int64_t most_rows,
                               const std::function<bool(double share)>& go_on) {
  const std::vector<std::size_t> used = used_experts(routing.experts);
  MlpWeights read;
  Worker queue({.most_waiting = 1});  // after `read`: its job writes there
  const auto begin = [&](std::size_t i) {
    return queue.submit([&, i](const std::stop_token&) -> Result<void> {
      const ReadingThread here;
      HEADROOM_TRY(read, load_mlp(weights, spec.experts[used[i]]));
      return {};
    });
  };
  at::Tensor out = at::zeros_like(x);
  if (!used.empty()) HEADROOM_TRY_VOID(begin(0));
  double done = 0.0;
  const auto cancelled = [&] { return !go_on(done / static_cast<double>(routing.experts.numel())); };
  for (std::size_t i = 0; i < used.size(); ++i) {
    HEADROOM_TRY_VOID(queue.finish(cancelled));
    const MlpWeights expert = std::exchange(read, {});
    if (i + 1 < used.size()) HEADROOM_TRY_VOID(begin(i + 1));
    const at::Tensor sent = routing.experts == static_cast<std::int64_t>(used[i]);
    const at::Tensor rows = sent.nonzero().select(1, 0);
    const at::Tensor share = routing.weights.masked_select(sent).unsqueeze(1);
    for (std::int64_t row = 0; row < rows.size(0); row += most_rows) {
      if (cancelled()) return Error(ErrorCode::Cancelled, "cancelled");
      const std::int64_t count = std::min(most_rows, rows.size(0) - row);
      const at::Tensor these = rows.narrow(0, row, count);
      const at::Tensor weight = share.narrow(0, row, count);
      at::Tensor read_rows = x.index_select(0, these);
      if (spec.router.scales_input) read_rows = (read_rows * weight).to(x.scalar_type());
      const at::Tensor given = expert(spec.experts[used[i]], read_rows);
      out.index_add_(0, these, spec.router.scales_input ? given : (given * weight).to(out.scalar_type()));
      done += static_cast<double>(count);
    }
  }
  return out;
}

}  // namespace headroom
