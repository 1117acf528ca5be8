#include "core/compute/sequence_batch.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/format.h"
#include "core/compute/alike_products.h"
#include "core/compute/attention_layer.h"
#include "core/compute/forward.h"
#include "core/compute/weight_reader.h"
#include "core/run/run_pieces.h"

namespace headroom {
namespace {

// A sequence on its way. The forward refers to the options. The stream has one place for all of the way: a new one
// after each block would lie between the freed blocks of what is large and passes, which then fits nowhere.
struct SequenceLane {
  ForwardOptions options;
  std::unique_ptr<Forward> forward;
  SequenceState state;
  at::Tensor place;

  void settle() {
    if (!place.defined()) place = at::empty_like(state.h);
    place.copy_(state.h);
    state.h = place;
  }
};

// Longer ones have rows enough for a product of their own.
constexpr std::int64_t kTogetherRows = 512;

// Whether the sequences can pass the blocks together: as long as each other, one stream, nothing but attention and
// MLPs, and of each sequence all rows of an MLP in one product.
bool pass_together(const ModelSpec& model, const ForwardOptions& options, const Forward& forward,
                   std::span<const std::vector<std::int32_t>> sequences) {
  const std::size_t length = sequences.front().size();
  if (sequences.size() < 2 || std::cmp_greater(length, kTogetherRows) || model.encoder || model.capture ||
      model.streams.present() || model.layer_embedding.present() || options.exact_maps)
    return false;
  if (std::ranges::any_of(sequences, [&](const auto& ids) { return ids.size() != length; })) return false;
  return std::ranges::all_of(model.blocks, [&](const BlockSpec& block) {
    return block.attends() && !block.experts.present() && block.mlp.activation != Activation::PolyNorm &&
           block.mlp.sparsity == 0.0 && !std::cmp_greater(length, forward.mlp_rows(block.mlp));
  });
}

// Sequences of those whose logits are one product: as many rows as a long sequence has at once, and no function of
// theirs that computes the last numbers of a tensor in another way.
std::int64_t logits_together(const ModelSpec& model, std::int64_t length) {
  constexpr std::int64_t kMostLogits = 1 << 23;
  if (model.logit_softcap > 0.0 || kLogitRows * model.lm_head.weight.rows() > kMostLogits) return 1;
  return std::max<std::int64_t>(kLogitRows / length, 1);
}

// What sequences that pass the blocks together share.
struct SharedStream {
  at::Tensor h;                              // [sequences, length, hidden]
  std::map<std::int64_t, Projections> kept;  // keys and values that later layers use
};

// Through a layer; the products are those of each sequence alone (core/compute/alike_products.h).
Result<void> advance_together(const ModelSpec& model, std::int64_t layer, const BlockWeights& weights,
                              const TorchTarget& target, std::vector<SequenceLane>& lanes, SharedStream& stream) {
  const BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
  const AttentionSpec& attention = block.attention;
  const ForwardOptions& options = lanes.front().options;
  const bool measured = std::ranges::binary_search(options.layers, layer);
  const Rotary rotary(attention.rope, stream.h.size(1), target);
  const at::Tensor x = weights.attention_branch.before(stream.h);
  const auto kept = stream.kept.find(attention.keys_of_layer);
  const Projections given =
      project(attention, weights.attention, rotary, x, kept == stream.kept.end() ? nullptr : &kept->second);
  if (model.keys_are_kept(layer)) stream.kept[layer] = {{}, given.k, given.v, {}};
  const auto of = [](const at::Tensor& t, std::int64_t i) { return t.defined() ? t.select(0, i) : t; };
  std::vector<AttentionLane> parts;
  for (std::int64_t i = 0; i < std::ssize(lanes); ++i)
    parts.push_back(lanes[static_cast<std::size_t>(i)].forward->lane(
        {of(given.q, i), of(given.k, i), of(given.v, i), of(given.lambda_logits, i)}, x.select(0, i)));
  Forward& first = *lanes.front().forward;
  HEADROOM_TRY(const std::vector<at::Tensor> contexts,
               run_contexts(attention, weights.attention, parts, target, layer, measured, &first.stages()));
  if (layer == options.last_layer) return {};
  at::Tensor h = weights.attention_branch.join(stream.h, weights.attention.o(at::stack(contexts)));
  if (weights.laurel.present()) h = weights.laurel.join(h, x);
  const at::Tensor read = block.parallel ? stream.h : h;
  const std::int64_t step = std::max<std::int64_t>(1, first.mlp_rows(block.mlp) / h.size(1));
  for (std::int64_t i = 0; i < h.size(0); i += step) {
    if (parts.front().observer.stop_requested()) return Error(ErrorCode::Cancelled, "cancelled");
    const std::int64_t count = std::min(step, h.size(0) - i);
    at::Tensor out = add_mlp(block, weights, read.narrow(0, i, count), h.narrow(0, i, count));
    if (weights.scale.defined()) out = out * weights.scale;
    stream.h.narrow(0, i, count).copy_(out);
  }
  return {};
}

}  // namespace

Result<std::vector<ForwardSummary>> run_sequences(const ModelSource& source, const ModelSpec& model,
                                                  const ForwardOptions& options,
                                                  std::span<const std::vector<std::int32_t>> sequences,
                                                  const TorchTarget& target,
                                                  std::span<ForwardObserver* const> observers) {
  std::vector<ForwardSummary> summaries;
  if (sequences.empty()) return summaries;
  const auto stop = [&] { return observers.front()->stop_requested(); };
  std::vector<SequenceLane> lanes(sequences.size());  // never moved
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (stop()) return Error(ErrorCode::Cancelled, "cancelled");
    lanes[i].options = options;
    lanes[i].options.ids = sequences[i];
    lanes[i].forward = std::make_unique<Forward>(source, model, lanes[i].options, target, *observers[i]);
    HEADROOM_TRY(lanes[i].state, lanes[i].forward->begin());
    lanes[i].settle();
  }
  Forward& first = *lanes.front().forward;
  WeightReader reader(first.loader(), model, first.stages(), 0, options.last_layer);
  const auto layers = static_cast<std::int64_t>(model.blocks.size());
  const std::int64_t last = options.last_layer < 0 ? layers - 1 : options.last_layer;
  const bool predicts = options.last_layer < 0 && model.lm_head.weight.present();
  // Progress counts blocks of all sequences, and the loss as two of them.
  const double steps = static_cast<double>(lanes.size()) * static_cast<double>(last + 1 + (predicts ? 2 : 0));
  double done = 0.0;
  const auto step = [&](SequenceLane& lane, double blocks, std::int64_t layer) {
    lane.forward->set_progress(done / steps, blocks / steps,
                               format("layer %lld of %lld", static_cast<long long>(std::min(layer, layers - 1)) + 1,
                                      static_cast<long long>(layers)));
    done += blocks;
  };
  const bool together = pass_together(model, options, first, sequences);
  std::optional<AlikeProducts> products;
  SharedStream stream;
  if (together) {
    // Products in 16 bits and on a GPU, whose libraries choose by more than the shape, are of one sequence.
    products.emplace(target.device.is_cpu() && target.dtype == target.real);
    std::vector<at::Tensor> streams;
    for (const SequenceLane& lane : lanes) streams.push_back(lane.state.h);
    stream.h = at::stack(streams);
    for (std::size_t i = 0; i < lanes.size(); ++i)
      lanes[i].state.h = stream.h.select(0, static_cast<std::int64_t>(i)), lanes[i].place.reset();
  }
  for (std::int64_t layer = 0; layer <= last; ++layer) {
    HEADROOM_TRY(const BlockWeights weights, reader.take_block(stop));
    if (together) {
      HEADROOM_TRY_VOID(advance_together(model, layer, weights, target, lanes, stream));
      for (SequenceLane& lane : lanes) step(lane, 1.0, layer);
      for (SequenceLane& lane : lanes) HEADROOM_TRY_VOID(lane.forward->passed(layer, lane.state));
      continue;
    }
    for (SequenceLane& lane : lanes) {
      if (stop()) return Error(ErrorCode::Cancelled, "cancelled");
      step(lane, 1.0, layer);
      HEADROOM_TRY_VOID(lane.forward->advance(layer, weights, lane.state));
      lane.settle();
    }
  }
  HeadWeights head;
  if (predicts) {
    HEADROOM_TRY(head, reader.take_head(stop));
  }
  const std::int64_t at_once = together && predicts ? logits_together(model, stream.h.size(1)) : 1;
  at::Tensor logits;  // of some sequences, where it is more than one
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    SequenceLane& lane = lanes[i];
    if (stop()) return Error(ErrorCode::Cancelled, "cancelled");
    step(lane, 2.0, layers);
    const std::int64_t begin = static_cast<std::int64_t>(i), place = begin % at_once;
    if (at_once > 1 && place == 0) {
      const StageTimer timer(&first.stages().logits);
      logits = head.logits(model, stream.h.narrow(0, begin, std::min(at_once, stream.h.size(0) - begin)), target);
    }
    const at::Tensor own = at_once > 1 ? logits.select(0, place) : at::Tensor();
    HEADROOM_TRY(ForwardSummary summary, lane.forward->close(predicts ? &head : nullptr, lane.state, own));
    lane.state = {};
    lane.place.reset();
    summaries.push_back(std::move(summary));
  }
  // All weights but the embedding's were read by the first.
  const std::vector<NonFiniteWeight> shared = summaries.front().non_finite_weights;
  for (ForwardSummary& summary : summaries) {
    std::vector<NonFiniteWeight> own = std::exchange(summary.non_finite_weights, shared);
    for (NonFiniteWeight& weight : own)
      if (std::ranges::find(shared, weight.tensor, &NonFiniteWeight::tensor) == shared.end())
        summary.non_finite_weights.push_back(std::move(weight));
    std::ranges::stable_sort(summary.non_finite_weights, {}, &NonFiniteWeight::layer);
  }
  return summaries;
}

}  // namespace headroom
