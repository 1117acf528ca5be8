#include "core/compute/block_weights.h"

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <omp.h>

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

 private:
  const WeightProvider& loader_;
  const std::stop_token& token_;
};

Result<void> read_block(const Steps& steps, const BlockSpec& block, bool with_mlp, BlockWeights& weights) {
  HEADROOM_TRY_VOID(steps.read(weights.attention_norm, block.attention_norm));
  HEADROOM_TRY_VOID(steps.read(weights.attention_post_norm, block.attention_post_norm));
  HEADROOM_TRY_VOID(steps.read(weights.attention, block.attention));
  if (block.mlp.kind == MlpKind::None || !with_mlp) return {};
  HEADROOM_TRY_VOID(steps.read(weights.mlp_norm, block.mlp_norm));
  HEADROOM_TRY_VOID(steps.read(weights.mlp_post_norm, block.mlp_post_norm));
  HEADROOM_TRY_VOID(steps.read(weights.gate, block.mlp.gate));
  HEADROOM_TRY_VOID(steps.read(weights.up, block.mlp.up));
  return steps.read(weights.down, block.mlp.down);
}

}  // namespace

Result<BlockWeights> load_block(const WeightProvider& weights, const BlockSpec& block, const std::stop_token& token,
                                bool with_mlp) {
  BlockWeights loaded;
  HEADROOM_TRY_VOID(read_block(Steps(weights, token), block, with_mlp, loaded));
  return loaded;
}

at::Tensor run_mlp(const MlpSpec& mlp, const BlockWeights& weights, const at::Tensor& x) {
  if (mlp.kind == MlpKind::Gated) return weights.down(activate(mlp.activation, weights.gate(x)).mul_(weights.up(x)));
  return weights.down(activate(mlp.activation, weights.up(x)));
}

WeightReader::WeightReader(const WeightLoader& loader, const ModelSpec& model, StageSeconds& stages, std::int64_t first,
                           std::int64_t last)
    : loader_(loader), model_(model), stages_(stages), last_(last), next_(static_cast<std::size_t>(first)) {
  begun_ = begin();
}

Result<void> WeightReader::begin() {
  return queue_.submit([this, index = next_](const std::stop_token& token) { return read(index, token); });
}

Result<void> WeightReader::read(std::size_t index, const std::stop_token& token) {
  const StageTimer timer(&read_seconds_);
  const c10::InferenceMode no_gradients;  // a setting per thread
  // LibTorch would give this thread a pool of its own, beside the one that computes.
  (void)at::get_num_threads();
  omp_set_num_threads(1);
  if (index < model_.blocks.size()) {
    HEADROOM_TRY(block_, load_block(loader_, model_.blocks[index], token, static_cast<std::int64_t>(index) != last_));
    return {};
  }
  const Steps steps(loader_, token);
  if (!model_.lm_head.weight.present()) return {};
  HEADROOM_TRY_VOID(steps.read(head_.norm, model_.final_norm));
  return steps.read(head_.head, model_.lm_head);
}

Result<void> WeightReader::wait(const SerialQueue::StopRequested& stop) {
  HEADROOM_TRY_VOID(begun_);
  const StageTimer timer(&stages_.wait_weights);
  HEADROOM_TRY_VOID(queue_.finish(stop));
  stages_.read_weights = read_seconds_;
  return {};
}

Result<BlockWeights> WeightReader::take_block(const SerialQueue::StopRequested& stop) {
  HEADROOM_TRY_VOID(wait(stop));
  BlockWeights taken = std::exchange(block_, {});
  if (static_cast<std::int64_t>(next_++) != last_) begun_ = begin();
  return taken;
}

Result<HeadWeights> WeightReader::take_head(const SerialQueue::StopRequested& stop) {
  HEADROOM_TRY_VOID(wait(stop));
  return std::exchange(head_, {});
}

}  // namespace headroom
