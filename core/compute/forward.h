// The forward pass over the blocks of a model: embedding, blocks, logits, and what it tells its observer. Runs of
// several variants of a model use its steps one by one (core/compute/variant_sweep.h). Compute thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/base/result.h"
#include "core/compute/attention_layer.h"
#include "core/compute/block.h"
#include "core/compute/weight_reader.h"
#include "core/compute/weights.h"
#include "core/measure/predictions.h"
#include "core/model/model_source.h"
#include "core/run/compute.h"
#include "core/run/stages.h"

namespace headroom {

// A sequence between two blocks. A copy shares its tensors, which nobody writes into.
struct SequenceState {
  at::Tensor h;                              // [length, hidden], or [streams, length, hidden]
  at::Tensor memory;                         // what the encoder gives, [source length, hidden]
  std::map<std::int64_t, Projections> kept;  // keys and values that later layers use
  std::map<std::int64_t, at::Tensor> scans;  // and what scans made, [length, channels]
};

class Forward {
 public:
  // All of them outlive it.
  Forward(const ModelSource& source, const ModelSpec& model, const ForwardOptions& options, TorchTarget target,
          ForwardObserver& observer);

  // The whole run. `reached` hears of every layer before it runs.
  using Reached = std::function<void(std::int64_t layer, const SequenceState& state)>;
  [[nodiscard]] Result<ForwardSummary> run(const Reached& reached = {});

  // What run() does, step by step, for one of several sequences that share their weights: a block as it is, with what
  // comes behind it; the end, with the weights of the head where next tokens are predicted, else null, and with the
  // logits [length, vocab] where they are there already.
  [[nodiscard]] Result<void> advance(std::int64_t layer, const BlockWeights& weights, SequenceState& state);
  [[nodiscard]] Result<ForwardSummary> close(const HeadWeights* weights, const SequenceState& state,
                                             const at::Tensor& logits = {});

  // Of several that pass a layer together: what this one brings into its attention, what follows a block, and rows of
  // an MLP that are multiplied at once.
  [[nodiscard]] AttentionLane lane(Projections given, at::Tensor x) const;
  [[nodiscard]] Result<void> passed(std::int64_t layer, const SequenceState& state);
  [[nodiscard]] std::int64_t mlp_rows(const MlpSpec& mlp) const;

  // And in smaller ones: the state before the first layer; a block with that attention in place of its own, `means` as
  // in finish_contexts(); what is said of next tokens, where they are predicted.
  [[nodiscard]] Result<SequenceState> begin();
  [[nodiscard]] Result<void> run_block(std::int64_t layer, const BlockWeights& weights, const AttentionSpec& attention,
                                       SequenceState& state, const at::Tensor& means = {});
  [[nodiscard]] Result<Predictions> finish(const HeadWeights& weights, const SequenceState& state,
                                           const at::Tensor& given = {});

  // Until the next call the observer hears of progress between `begin` and `begin` + `share`.
  void set_progress(double begin, double share, std::string text);
  [[nodiscard]] const WeightLoader& loader() const { return loader_; }
  [[nodiscard]] StageSeconds& stages() { return stages_; }

 private:
  Result<void> embed_layers(const at::Tensor& embedded);
  Result<at::Tensor> embed();
  Result<at::Tensor> embed_source();
  Result<void> begin_decoder(SequenceState& state);
  Result<at::Tensor> embed_places(const WeightRef& table, std::size_t length);
  [[nodiscard]] std::vector<std::int32_t> places(std::size_t length) const;
  SequenceState started(const StreamState& start);
  [[nodiscard]] at::Tensor from_floats(const std::vector<float>& values, const std::vector<std::int64_t>& shape) const;
  [[nodiscard]] at::Tensor active(const at::Tensor& h) const;
  void begin_layer_progress(std::int64_t layer);
  void report(double share);
  void add_told(const BlockSpec& block, const BlockWeights& weights, std::int64_t layer, at::Tensor& h) const;
  Result<void> run_attention_of(const AttentionSpec& attention, const BlockWeights& weights, std::int64_t layer,
                                bool measured, SequenceState& state, at::Tensor& h, const at::Tensor& means);
  void keep(std::int64_t layer, const Projections& given, SequenceState& state);
  void keep_state(std::int64_t layer, KeptTensor::Kind kind, const at::Tensor& tensor);
  Result<void> run_mixer(const BlockSpec& block, const BlockWeights& weights, std::int64_t layer, SequenceState& state,
                         at::Tensor& h);
  Result<void> run_mlp(const BlockSpec& block, const BlockWeights& weights, const at::Tensor& input, at::Tensor& h);
  Result<void> run_mixture(const BlockSpec& block, const BlockWeights& weights, std::int64_t layer,
                           const at::Tensor& input, at::Tensor& h);
  Result<void> send_input(std::int64_t layer, const at::Tensor& h);
  Result<void> send_residual(const at::Tensor& stream);

  const ModelSpec& model_;
  const ForwardOptions& options_;
  NonFiniteLog log_;
  WeightLoader loader_;
  ForwardObserver& observer_;
  ForwardSummary summary_;
  StageSeconds stages_;
  std::vector<std::int64_t> induction_;  // for each position the key that an induction head looks at
  at::Tensor told_;                      // [length, layers, width]; undefined without embeddings of the layers
  std::vector<std::shared_ptr<const KeptTensor>> kept_states_;
  std::int64_t boundary_ = 0;
  double progress_begin_ = 0.0, progress_share_ = 0.0, attention_share_ = 0.0;
  std::string progress_text_;
  std::chrono::steady_clock::time_point reported_;
};

}  // namespace headroom
