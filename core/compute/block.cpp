#include "core/compute/block.h"

#include <utility>

#include <ATen/ATen.h>

namespace headroom {
namespace {

// One tensor after another, so that a reader that is no longer wanted ends soon.
class Steps {
 public:
  Steps(const WeightProvider& loader, const std::stop_token& token) : loader_(loader), token_(token) {}

  template <typename Weights, typename Spec>
  Result<void> read(Weights& weights, const Spec& spec) const {
    if (token_.stop_requested()) return Error(ErrorCode::Cancelled, "cancelled");
    HEADROOM_TRY(weights, loader_.load(spec));
    return {};
  }
  Result<void> read(AttentionWeights& weights, const AttentionSpec& spec) const {
    if (token_.stop_requested()) return Error(ErrorCode::Cancelled, "cancelled");
    HEADROOM_TRY(weights, load_attention(loader_, spec));
    return {};
  }
  Result<void> read(MixerWeights& weights, const MixerSpec& spec) const {
    if (token_.stop_requested()) return Error(ErrorCode::Cancelled, "cancelled");
    HEADROOM_TRY(weights, load_mixer(loader_, spec));
    return {};
  }
  Result<void> read(MlpWeights& weights, const MlpSpec& spec) const {
    HEADROOM_TRY_VOID(read(weights.gate, spec.gate));
    HEADROOM_TRY_VOID(read(weights.up, spec.up));
    HEADROOM_TRY_VOID(read(weights.down, spec.down));
    HEADROOM_TRY_VOID(read(weights.power_weight, spec.power_weight));
    return read(weights.power_bias, spec.power_bias);
  }
  Result<void> read(RouterWeights& weights, const ExpertsSpec& spec) const {
    HEADROOM_TRY_VOID(read(weights.norm, spec.router.norm));
    HEADROOM_TRY_VOID(read(weights.logits, spec.router.logits));
    HEADROOM_TRY_VOID(read(weights.choice_bias, spec.router.choice_bias));
    HEADROOM_TRY_VOID(read(weights.expert_scales, spec.router.expert_scales));
    HEADROOM_TRY_VOID(read(weights.before, spec.before));
    HEADROOM_TRY_VOID(read(weights.after, spec.after));
    HEADROOM_TRY_VOID(read(weights.mlp_after, spec.mlp_after));
    return read(weights.shared_gate, spec.shared_gate);
  }
  Result<void> read(LaurelWeights& weights, const LaurelSpec& spec) const {
    HEADROOM_TRY_VOID(read(weights.left, spec.left));
    HEADROOM_TRY_VOID(read(weights.right, spec.right));
    return read(weights.norm, spec.norm);
  }
  Result<void> read(AltUpWeights& weights, const AltUpSpec& spec) const {
    HEADROOM_TRY_VOID(read(weights.norm, spec.norm));
    HEADROOM_TRY_VOID(read(weights.router, spec.router));
    HEADROOM_TRY_VOID(read(weights.prediction, spec.prediction));
    HEADROOM_TRY_VOID(read(weights.correction, spec.correction));
    return read(weights.scale, spec.scale);
  }
  Result<void> read(TokenBranchWeights& weights, const TokenBranchSpec& spec) const {
    HEADROOM_TRY_VOID(read(weights.gate, spec.gate));
    HEADROOM_TRY_VOID(read(weights.up, spec.up));
    return read(weights.norm, spec.norm);
  }
  Result<void> read(BranchWeights& weights, const BranchSpec& spec) const {
    weights.scale = spec.scale;
    HEADROOM_TRY_VOID(read(weights.before, spec.before));
    HEADROOM_TRY_VOID(read(weights.after, spec.after));
    return read(weights.sum, spec.sum);
  }

 private:
  const WeightProvider& loader_;
  const std::stop_token& token_;
};

// x · factor in x's own dtype.
at::Tensor scaled(const at::Tensor& x, double factor) {
  return factor == 1.0 ? x : x * at::scalar_tensor(factor, x.options());
}

}  // namespace

at::Tensor BranchWeights::join(const at::Tensor& h, const at::Tensor& out) const {
  return sum(h + scaled(after(out), scale));
}

Result<BlockWeights> load_block(const WeightProvider& weights, const BlockSpec& block, const std::stop_token& token,
                                bool with_mlp) {
  const Steps steps(weights, token);
  BlockWeights loaded;
  HEADROOM_TRY_VOID(steps.read(loaded.attention_branch, block.attention_branch));
  if (block.attends()) {
    HEADROOM_TRY_VOID(steps.read(loaded.attention, block.attention));
  } else {
    HEADROOM_TRY_VOID(steps.read(loaded.mixer, *block.mixer));
  }
  HEADROOM_TRY_VOID(steps.read(loaded.laurel, block.laurel));
  HEADROOM_TRY_VOID(steps.read(loaded.altup, block.altup));
  if (!with_mlp) return loaded;
  HEADROOM_TRY_VOID(steps.read(loaded.token_branch, block.token_branch));
  HEADROOM_TRY_VOID(steps.read(loaded.scale, block.scale));
  if (!block.feeds_forward()) return loaded;
  HEADROOM_TRY_VOID(steps.read(loaded.mlp_branch, block.mlp_branch));
  HEADROOM_TRY_VOID(steps.read(loaded.mlp, block.mlp));
  HEADROOM_TRY_VOID(steps.read(loaded.router, block.experts));
  return loaded;
}

at::Tensor add_mlp(const BlockSpec& block, const BlockWeights& weights, const at::Tensor& given, const at::Tensor& h) {
  if (block.mlp.kind == MlpKind::None) return h;
  return weights.mlp_branch.join(h, weights.mlp(block.mlp, weights.mlp_branch.before(given)));
}

at::Tensor shared_part(const BlockSpec& block, const BlockWeights& weights, const at::Tensor& x) {
  const at::Tensor out = weights.mlp(block.mlp, x);
  return weights.router.mlp_after(
      block.experts.shared_gate.weight.present() ? out * at::sigmoid(weights.router.shared_gate(x)) : out);
}

Result<EmbeddingWeights> load_embedding(const WeightProvider& weights, const ModelSpec& model) {
  EmbeddingWeights loaded;
  HEADROOM_TRY(loaded.type, weights.load(model.type_embedding));
  HEADROOM_TRY(loaded.norm, weights.load(model.embedding_norm));
  HEADROOM_TRY(loaded.projection, weights.load(model.embedding_projection));
  return loaded;
}

at::Tensor begin_stream(const ModelSpec& model, const EmbeddingWeights& weights, const at::Tensor& rows,
                        const at::Tensor& positions) {
  at::Tensor h = scaled(rows, model.embedding_scale);
  if (weights.type.defined()) h = h + weights.type.select(0, 0);
  if (positions.defined()) h = h + positions;
  h = weights.norm(h);
  return weights.projection.weight.defined() ? weights.projection(h) : h;
}

at::Tensor HeadWeights::logits(const ModelSpec& model, const at::Tensor& h, const TorchTarget& target) const {
  at::Tensor last = norm(streams.empty() ? h : merge_streams(streams, h));
  if (dense.weight.defined()) last = dense_norm(activate(model.head_transform.activation, dense(last)));
  const at::Tensor z = scaled(head(last).to(target.real), model.logit_scale);
  return model.logit_softcap > 0.0 ? model.logit_softcap * at::tanh(z / model.logit_softcap) : z;
}

Result<HeadWeights> load_head(const WeightProvider& weights, const ModelSpec& model, const std::stop_token& token) {
  HeadWeights loaded;
  if (!model.lm_head.weight.present()) return loaded;
  const Steps steps(weights, token);
  HEADROOM_TRY_VOID(steps.read(loaded.norm, model.final_norm));
  HEADROOM_TRY_VOID(steps.read(loaded.dense, model.head_transform.dense));
  HEADROOM_TRY_VOID(steps.read(loaded.dense_norm, model.head_transform.norm));
  for (const LinearSpec& projection : model.streams.out)
    HEADROOM_TRY_VOID(steps.read(loaded.streams.emplace_back(), projection));
  HEADROOM_TRY_VOID(steps.read(loaded.head, model.lm_head));
  return loaded;
}

}  // namespace headroom
