#include "core/compute/sequence_batch.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "core/base/format.h"
#include "core/compute/forward.h"
#include "core/compute/weight_reader.h"

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
  for (std::int64_t layer = 0; layer <= last; ++layer) {
    HEADROOM_TRY(const BlockWeights weights, reader.take_block(stop));
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
  for (SequenceLane& lane : lanes) {
    if (stop()) return Error(ErrorCode::Cancelled, "cancelled");
    step(lane, 2.0, layers);
    HEADROOM_TRY(ForwardSummary summary, lane.forward->close(predicts ? &head : nullptr, lane.state));
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
