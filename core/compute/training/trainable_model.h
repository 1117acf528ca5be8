// A model with gradients, in training or as it is: the blocks of a ModelSpec on a batch of sequences. The head
// programs, norms, rotation and what follows the heads are those of the analysis. Owned by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/compute/block.h"
#include "core/compute/training/batched_attention.h"
#include "core/compute/weights.h"
#include "core/training/task.h"

namespace headroom {

// Unsupported, with what it is, for a model whose blocks a TrainableModel does not run.
[[nodiscard]] Result<void> check_gradients(const ModelSpec& model);

class TrainableModel {
 public:
  // The model outlives it. `weights` are leaves where they are to be trained; `length`: of the longest sequence.
  // Unsupported for blocks that have no gradients here.
  [[nodiscard]] static Result<TrainableModel> create(const ModelSpec& model, const WeightProvider& weights,
                                                     std::int64_t length);

  struct Output {
    at::Tensor added;   // [batch, length, hidden]: what the blocks put into the residual stream
    at::Tensor logits;  // [batch, length, vocab]; undefined without lm_head
  };
  // tokens: [batch, length] of int64, on the weights' device. `layers`, where given, receives each layer's heads.
  [[nodiscard]] Output operator()(const at::Tensor& tokens, AttentionPath path = AttentionPath::Auto,
                                  std::vector<BatchedHeads>* layers = nullptr) const;

  // The logits with the input of each layer's W_O, [batch, length, heads · channels], which keeps its gradient; of
  // weights that have none.
  [[nodiscard]] at::Tensor logits_by_heads(const at::Tensor& tokens, std::vector<at::Tensor>& contexts) const;

  [[nodiscard]] const ModelSpec& spec() const { return *model_; }
  [[nodiscard]] const TorchTarget& target() const { return target_; }
  [[nodiscard]] const AttentionWeights& attention(std::size_t layer) const { return blocks_[layer].attention; }

 private:
  explicit TrainableModel(const ModelSpec& model, const TorchTarget& target) : model_(&model), target_(target) {}
  // Who asks for them is handed the heads of each layer and what they bring into W_O.
  struct Asked {
    AttentionPath path = AttentionPath::Auto;
    std::vector<BatchedHeads>* layers = nullptr;
    std::vector<at::Tensor>* contexts = nullptr;
  };
  [[nodiscard]] at::Tensor begin(const at::Tensor& tokens) const;
  [[nodiscard]] at::Tensor attend(std::size_t layer, const at::Tensor& x, const Asked& asked) const;
  [[nodiscard]] at::Tensor run_blocks(at::Tensor h, const Asked& asked) const;

  const ModelSpec* model_;
  TorchTarget target_;
  at::Tensor embedding_, position_embedding_;
  EmbeddingWeights embedding_weights_;
  std::vector<BlockWeights> blocks_;
  std::vector<Rotary> rotary_;
  HeadWeights head_;
};

// A batch on the device, and what is asked of the model.
struct BatchTensors {
  BatchTensors(const Batch& batch, const TorchTarget& target);
  at::Tensor tokens;    // [sequences, length]
  at::Tensor targets;   // [sequences, length]; undefined for Residual
  at::Tensor residual;  // [sequences, length, hidden]; undefined for NextToken
};

// Mean cross-entropy of the targets in nats, or mean square of added − residual: a scalar.
[[nodiscard]] at::Tensor task_loss(const TrainableModel::Output& output, const BatchTensors& batch);

}  // namespace headroom
