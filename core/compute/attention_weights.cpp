#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/compute/attention_layer.h"

namespace headroom {

Result<AttentionWeights> load_attention(const WeightProvider& loader, const AttentionSpec& attention) {
  AttentionWeights weights;
  HEADROOM_TRY(weights.q, loader.load(attention.q));
  HEADROOM_TRY(weights.k, loader.load(attention.k));
  HEADROOM_TRY(weights.v, loader.load(attention.v));
  HEADROOM_TRY(weights.o, loader.load(attention.o));
  for (const auto& [latent, spec] :
       {std::pair(&weights.q_latent, &attention.q_latent), std::pair(&weights.kv_latent, &attention.kv_latent)}) {
    HEADROOM_TRY(latent->down, loader.load(spec->down));
    HEADROOM_TRY(latent->norm, loader.load(spec->norm));
  }
  HEADROOM_TRY(weights.shared_key, loader.load(attention.shared_key));
  HEADROOM_TRY(weights.disentangled, load_disentangled(loader, attention.disentangled));
  HEADROOM_TRY(weights.q_norm, loader.load(attention.q_norm));
  HEADROOM_TRY(weights.k_norm, loader.load(attention.k_norm));
  HEADROOM_TRY(weights.v_norm, loader.load(attention.v_norm));
  HEADROOM_TRY(weights.head_norm, loader.load(attention.head_norm));
  HEADROOM_TRY(weights.lambda_projection, loader.load(attention.lambda_projection));
  HEADROOM_TRY(weights.gate_projection, loader.load(attention.gate_projection));
  HEADROOM_TRY(weights.lambda_q1, loader.load(attention.lambda_q1));
  HEADROOM_TRY(weights.lambda_k1, loader.load(attention.lambda_k1));
  HEADROOM_TRY(weights.lambda_q2, loader.load(attention.lambda_q2));
  HEADROOM_TRY(weights.lambda_k2, loader.load(attention.lambda_k2));
  HEADROOM_TRY(weights.sink_logits, loader.load(attention.sink_logits));
  HEADROOM_TRY(weights.bias_table, loader.load(attention.bias.table));
  HEADROOM_TRY(const at::Tensor init, loader.load(attention.stored_lambda_init));
  weights.lambda_init = init.defined() ? init.item<double>() : attention.lambda_init;
  weights.refresh();
  return weights;
}

void AttentionWeights::refresh() {
  if (lambda_q1.defined()) lambda_scalar = headroom::lambda_scalar(*this).item<double>();
  const auto numbers = [](const at::Tensor& of, std::vector<double>& to) {
    if (!of.defined()) return;
    const at::Tensor values = of.detach().to(at::kCPU, at::kDouble).contiguous();
    to.assign(values.const_data_ptr<double>(), values.const_data_ptr<double>() + values.numel());
  };
  numbers(sink_logits, sinks);
  numbers(bias_table, biases);
}

at::Tensor lambda_scalar(const AttentionWeights& weights) {
  const auto dot = [](const at::Tensor& a, const at::Tensor& b) {
    return (a.to(at::kDouble) * b.to(at::kDouble)).sum();
  };
  return at::exp(dot(weights.lambda_q1, weights.lambda_k1)) - at::exp(dot(weights.lambda_q2, weights.lambda_k2)) +
         weights.lambda_init;
}

at::Tensor head_gates(const AttentionSpec& attention, const AttentionWeights& weights, const at::Tensor& x,
                      const TorchTarget& target) {
  if (std::ranges::none_of(attention.heads, &HeadProgram::gated)) return {};
  const at::Tensor gates = at::sigmoid(weights.gate_projection(x).to(target.real));
  return gates.unflatten(-1, {static_cast<std::int64_t>(attention.heads.size()), -1});
}

at::Tensor finish_contexts(const AttentionSpec& attention, const AttentionWeights& weights, const at::Tensor& gates,
                           at::Tensor context, const TorchTarget& target, const at::Tensor& means) {
  const auto column = [&](const auto& value) {
    std::vector<double> values;
    for (const HeadProgram& head : attention.heads) values.push_back(value(head));
    return at::tensor(values, at::kDouble).unsqueeze(1).to(target.device);
  };
  if (std::ranges::any_of(attention.heads, &HeadProgram::post_norm)) {
    const at::Tensor normed = column([](const HeadProgram& head) { return head.post_norm ? 1.0 : 0.0; });
    context = at::where(normed != 0.0, weights.head_norm(context), context);
  }
  const at::Tensor scale = column([](const HeadProgram& head) { return head.enabled ? head.post_scale : 0.0; });
  context = context * scale.to(context.scalar_type());
  if (gates.defined()) {
    const at::Tensor gated = column([](const HeadProgram& head) { return head.gated ? 1.0 : 0.0; });
    context = context * at::where(gated != 0.0, gates, at::ones_like(gates)).to(context.scalar_type());
  }
  if (std::ranges::any_of(attention.heads, &HeadProgram::averaged)) {
    const at::Tensor averaged = column([](const HeadProgram& head) { return head.averaged ? 1.0 : 0.0; });
    const at::Tensor mean =
        (means.defined() ? means : context.mean(at::IntArrayRef({-3}), true, at::kDouble)).to(context.scalar_type());
    context = at::where(averaged != 0.0, mean, context);
  }
  return context.flatten(-2);
}

}  // namespace headroom
