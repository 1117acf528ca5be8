#include "core/compute/training/trainable_model.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include <ATen/ATen.h>

namespace headroom {

Result<TrainableModel> TrainableModel::create(const ModelSpec& model, const Parameters& parameters,
                                              std::int64_t length) {
  if (model.attention_layers().size() != model.blocks.size())
    return Error(ErrorCode::Unsupported, "models with blocks without attention are not trained here");
  TrainableModel result(model, parameters.target());
  HEADROOM_TRY(result.embedding_, parameters.load(model.embedding));
  HEADROOM_TRY(result.position_embedding_, parameters.load(model.position_embedding));
  HEADROOM_TRY(result.embedding_weights_, load_embedding(parameters, model));
  for (const BlockSpec& block : model.blocks) {
    HEADROOM_TRY(BlockWeights weights, load_block(parameters, block));
    result.blocks_.push_back(std::move(weights));
    result.rotary_.emplace_back(block.attention.rope, length, parameters.target());
  }
  HEADROOM_TRY(result.head_, load_head(parameters, model));
  return result;
}

at::Tensor TrainableModel::attend(std::size_t layer, const at::Tensor& x, AttentionPath path,
                                  std::vector<BatchedHeads>* layers) const {
  const AttentionSpec& attention = model_->blocks[layer].attention;
  const AttentionWeights& weights = blocks_[layer].attention;
  const Projections projected = project(attention, weights, rotary_[layer], x);
  BatchedHeads heads;
  // One matrix for each block.
  heads.q = projected.q.transpose(1, 2);
  heads.k = projected.k.transpose(1, 2);
  heads.v = projected.v.transpose(1, 2);
  heads.lambda_logits = projected.lambda_logits;
  run_heads(attention, weights, path, heads);
  const at::Tensor finished = finish_contexts(attention, weights, head_gates(attention, weights, x, target_),
                                              heads.context.transpose(1, 2), target_);
  if (layers) layers->push_back(heads);
  return weights.o(finished);
}

TrainableModel::Output TrainableModel::operator()(const at::Tensor& tokens, AttentionPath path,
                                                  std::vector<BatchedHeads>* layers) const {
  at::Tensor positions;
  if (position_embedding_.defined()) positions = position_embedding_.narrow(0, 0, tokens.size(1));
  const at::Tensor begin = begin_stream(*model_, embedding_weights_, at::embedding(embedding_, tokens), positions);
  at::Tensor h = begin;
  for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
    const BlockSpec& block = model_->blocks[layer];
    const BlockWeights& weights = blocks_[layer];
    const at::Tensor input = h;
    const BranchWeights& branch = weights.attention_branch;
    h = branch.join(h, attend(layer, branch.before(h), path, layers));
    h = add_mlp(block, weights, block.parallel ? input : h, h);
  }
  Output output;
  output.added = h - begin;
  if (head_.head.weight.defined()) output.logits = head_.logits(*model_, h, target_);
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
