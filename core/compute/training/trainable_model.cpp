#include "core/compute/training/trainable_model.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include <ATen/ATen.h>

namespace headroom {

Result<TrainableModel> TrainableModel::create(const ModelSpec& model, const Parameters& parameters,
                                              std::int64_t length) {
  TrainableModel result(model, parameters.target());
  HEADROOM_TRY(result.embedding_, parameters.load(model.embedding));
  HEADROOM_TRY(result.position_embedding_, parameters.load(model.position_embedding));
  for (const BlockSpec& block : model.blocks) {
    HEADROOM_TRY(BlockWeights weights, load_block(parameters, block));
    result.blocks_.push_back(std::move(weights));
    result.rotary_.emplace_back(block.attention.rope, length, parameters.target());
  }
  if (model.lm_head.weight.present()) {
    HEADROOM_TRY(result.head_.norm, parameters.load(model.final_norm));
    HEADROOM_TRY(result.head_.head, parameters.load(model.lm_head));
  }
  return result;
}

at::Tensor TrainableModel::attend(std::size_t layer, const at::Tensor& x, AttentionPath path,
                                  std::vector<BatchedHeads>* layers) const {
  const AttentionSpec& attention = model_->blocks[layer].attention;
  const AttentionWeights& weights = blocks_[layer].attention;
  // [batch, length, blocks, channels] for norm and rotation, then one matrix for each block.
  const auto project = [&](const Linear& linear, const Norm& norm, std::int64_t blocks, std::int64_t channels) {
    at::Tensor y = linear(x);
    if (attention.qk_norm == QkNormScope::Whole) y = norm(y);
    y = y.unflatten(-1, {blocks, channels});
    return attention.qk_norm == QkNormScope::PerHead ? norm(y) : y;
  };
  const Rotary& rotary = rotary_[layer];
  BatchedHeads heads;
  heads.q = rotary(project(weights.q, weights.q_norm, attention.num_query_blocks, attention.head_dim)).transpose(1, 2);
  heads.k = rotary(project(weights.k, weights.k_norm, attention.num_key_blocks, attention.head_dim)).transpose(1, 2);
  heads.v = weights.v(x).unflatten(-1, {attention.num_value_blocks, attention.value_dim}).transpose(1, 2);
  if (weights.lambda_projection.weight.defined()) heads.lambda_logits = weights.lambda_projection(x);
  run_heads(attention, weights, path, heads);
  const at::Tensor finished = finish_contexts(attention, weights, head_gates(attention, weights, x, target_),
                                              heads.context.transpose(1, 2), target_);
  if (layers) layers->push_back(heads);
  return weights.o(finished);
}

TrainableModel::Output TrainableModel::operator()(const at::Tensor& tokens, AttentionPath path,
                                                  std::vector<BatchedHeads>* layers) const {
  at::Tensor h = at::embedding(embedding_, tokens) * model_->embedding_scale;
  if (position_embedding_.defined()) h = h + position_embedding_.narrow(0, 0, tokens.size(1));
  const at::Tensor begin = h;
  for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
    const BlockSpec& block = model_->blocks[layer];
    const BlockWeights& weights = blocks_[layer];
    const at::Tensor input = h;
    h = h + weights.attention_post_norm(attend(layer, weights.attention_norm(h), path, layers));
    if (block.mlp.kind != MlpKind::None)
      h = h + weights.mlp_post_norm(run_mlp(block.mlp, weights, weights.mlp_norm(block.parallel ? input : h)));
  }
  Output output;
  output.added = h - begin;
  if (head_.head.weight.defined()) {
    output.logits = head_.head(head_.norm(h));
    if (model_->logit_softcap > 0.0)
      output.logits = model_->logit_softcap * at::tanh(output.logits / model_->logit_softcap);
  }
  return output;
}

BatchTensors::BatchTensors(const Batch& batch, const TorchTarget& target) {
  const auto integers = [&](const std::vector<std::int32_t>& values) {
    return at::tensor(at::ArrayRef<std::int32_t>(values), at::kInt)
        .to(target.device, at::kLong)
        .view({batch.sequences, batch.length});
  };
  tokens = integers(batch.tokens);
  if (!batch.targets.empty()) targets = integers(batch.targets);
  if (!batch.residual.empty())
    residual = at::tensor(at::ArrayRef<float>(batch.residual), at::kFloat)
                   .to(target.device, target.dtype)
                   .view({batch.sequences, batch.length, -1});
}

at::Tensor task_loss(const TrainableModel::Output& output, const BatchTensors& batch) {
  if (batch.targets.defined()) return at::cross_entropy_loss(output.logits.flatten(0, 1), batch.targets.flatten());
  return at::mse_loss(output.added, batch.residual);
}

}  // namespace headroom
