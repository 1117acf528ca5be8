#include "core/compute/training/trainable_model.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include <ATen/ATen.h>

namespace headroom {
namespace {

const char* without_gradients(const BlockSpec& block) {
  const AttentionSpec& attention = block.attention;
  if (!block.attends()) return "a block without attention";
  if (block.experts.present()) return "experts";
  if (attention.keys_of_layer >= 0) return "keys and values of another layer";
  if (attention.cross) return "cross-attention";
  if (attention.disentangled.present()) return "logits by content and distance";
  if (attention.always_visible > 0) return "keys that a window leaves visible";
  if (block.laurel.present() || block.altup.present() || block.token_branch.present() || block.scale.present())
    return "what stands beside its blocks";
  return nullptr;
}

}  // namespace

Result<void> check_gradients(const ModelSpec& model) {
  const auto refuse = [](const char* what) -> Result<void> {
    return Error(ErrorCode::Unsupported, "there are no gradients through this model")
        .wanted("attention and MLPs of one decoder or encoder, one after another", what);
  };
  if (model.capture) return refuse("a capture");
  if (model.encoder) return refuse("an encoder and a decoder");
  if (model.streams.present() || model.layer_embedding.present()) return refuse("several streams");
  if (model.padding_id) return refuse("positions that count from the padding on");
  for (const BlockSpec& block : model.blocks)
    if (const char* what = without_gradients(block); what != nullptr) return refuse(what);
  return {};
}

Result<TrainableModel> TrainableModel::create(const ModelSpec& model, const WeightProvider& weights,
                                              std::int64_t length) {
  HEADROOM_TRY_VOID(check_gradients(model));
  TrainableModel result(model, weights.target());
  HEADROOM_TRY(result.embedding_, weights.load(model.embedding));
  HEADROOM_TRY(result.position_embedding_, weights.load(model.position_embedding));
  HEADROOM_TRY(result.embedding_weights_, load_embedding(weights, model));
  for (const BlockSpec& block : model.blocks) {
    HEADROOM_TRY(BlockWeights loaded, load_block(weights, block));
    result.blocks_.push_back(std::move(loaded));
    result.rotary_.emplace_back(block.attention.rope, length, weights.target());
  }
  HEADROOM_TRY(result.head_, load_head(weights, model));
  return result;
}

at::Tensor TrainableModel::attend(std::size_t layer, const at::Tensor& x, const Asked& asked) const {
  const AttentionSpec& attention = model_->blocks[layer].attention;
  const AttentionWeights& weights = blocks_[layer].attention;
  const Projections projected = project(attention, weights, rotary_[layer], x);
  BatchedHeads heads;
  // One matrix for each block.
  heads.q = projected.q.transpose(1, 2);
  heads.k = projected.k.transpose(1, 2);
  heads.v = projected.v.transpose(1, 2);
  heads.lambda_logits = projected.lambda_logits;
  run_heads(attention, weights, asked.path, heads);
  const at::Tensor finished = finish_contexts(attention, weights, head_gates(attention, weights, x, target_),
                                              heads.context.transpose(1, 2), target_);
  if (asked.layers) asked.layers->push_back(heads);
  if (asked.contexts) {
    finished.retain_grad();
    asked.contexts->push_back(finished);
  }
  return weights.o(finished);
}

at::Tensor TrainableModel::begin(const at::Tensor& tokens) const {
  at::Tensor positions;
  if (position_embedding_.defined()) positions = position_embedding_.narrow(0, 0, tokens.size(1));
  return begin_stream(*model_, embedding_weights_, at::embedding(embedding_, tokens), positions);
}

at::Tensor TrainableModel::run_blocks(at::Tensor h, const Asked& asked) const {
  for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
    const BlockSpec& block = model_->blocks[layer];
    const BlockWeights& weights = blocks_[layer];
    const at::Tensor input = h;
    const BranchWeights& branch = weights.attention_branch;
    h = branch.join(h, attend(layer, branch.before(h), asked));
    h = add_mlp(block, weights, block.parallel ? input : h, h);
  }
  return h;
}

TrainableModel::Output TrainableModel::operator()(const at::Tensor& tokens, AttentionPath path,
                                                  std::vector<BatchedHeads>* layers) const {
  const at::Tensor first = begin(tokens), h = run_blocks(first, {path, layers, nullptr});
  Output output;
  output.added = h - first;
  if (head_.head.weight.defined()) output.logits = head_.logits(*model_, h, target_);
  return output;
}

at::Tensor TrainableModel::logits_by_heads(const at::Tensor& tokens, std::vector<at::Tensor>& contexts) const {
  // Without a leaf nothing would be kept for the way back.
  const at::Tensor first = begin(tokens).detach().set_requires_grad(true);
  return head_.logits(*model_, run_blocks(first, {AttentionPath::Auto, nullptr, &contexts}), target_);
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
