#include "core/compute/variant_sweep.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/compute/forward.h"
#include "core/compute/weight_reader.h"

namespace headroom {
namespace {

// Hands on what the run of the model itself yields, its progress as a part of the whole.
class BaseObserver final : public ForwardObserver {
 public:
  BaseObserver(ForwardObserver& to, double share) : to_(to), share_(share) {}
  Result<void> on_layer(LayerRecord record) override { return to_.on_layer(std::move(record)); }
  Result<void> on_router(RouterRecord record) override { return to_.on_router(std::move(record)); }
  void on_progress(double fraction, const std::string& what) override { to_.on_progress(fraction * share_, what); }
  [[nodiscard]] bool stop_requested() const override { return to_.stop_requested(); }

 private:
  ForwardObserver& to_;
  const double share_;
};

// Variants tell of their progress alone.
class QuietObserver final : public ForwardObserver {
 public:
  explicit QuietObserver(ForwardObserver& to) : to_(to) {}
  void on_progress(double fraction, const std::string& what) override { to_.on_progress(fraction, what); }
  [[nodiscard]] bool stop_requested() const override { return to_.stop_requested(); }

 private:
  ForwardObserver& to_;
};

// What is not measured in variants.
ForwardOptions unmeasured(const ForwardOptions& options) {
  ForwardOptions quiet = options;
  quiet.layers.clear();
  quiet.exact_maps = quiet.hidden = quiet.keep_projections = quiet.output_cosines = quiet.rounding = quiet.premise =
      quiet.keep_inputs = quiet.context_sums = false;
  quiet.last_rows = 0;
  return quiet;
}

struct Lane {
  std::size_t variant = 0;
  ModelVariant changed;
  SequenceState state;

  [[nodiscard]] const AttentionSpec& attention(const ModelSpec& model, std::int64_t layer) const {
    for (const auto& [of, attention] : changed.layers)
      if (of == layer) return attention;
    return model.blocks[static_cast<std::size_t>(layer)].attention;
  }
  // Of heads that put out a mean, [heads, channels]; undefined where none is given.
  [[nodiscard]] at::Tensor means(const AttentionSpec& attention, std::int64_t layer, const TorchTarget& target) const {
    if (!changed.means || std::ranges::none_of(attention.heads, &HeadProgram::averaged)) return {};
    const auto found = changed.means->find(layer);
    if (found == changed.means->end()) return {};
    return at::tensor(found->second, at::kDouble)
        .view({static_cast<std::int64_t>(attention.heads.size()), -1})
        .to(target.device);
  }
};

class Sweep {
 public:
  Sweep(const ModelSource& source, const ModelSpec& model, const ForwardOptions& options, const VariantSweep& sweep,
        const TorchTarget& target, VariantObserver& observer)
      : source_(source),
        model_(model),
        base_options_(options),
        options_(unmeasured(options)),
        sweep_(sweep),
        target_(target),
        observer_(observer),
        quiet_(observer),
        forward_(source, model, options_, target, quiet_) {
    // Progress counts blocks, and the loss as two of them.
    const auto layers = static_cast<std::int64_t>(model.blocks.size());
    double blocks = static_cast<double>(layers) + kLossBlocks;
    for (const std::int64_t first : sweep.first_layers) blocks += static_cast<double>(layers - first) + kLossBlocks;
    block_share_ = 1.0 / blocks;
  }

  Result<ForwardSummary> run() {
    HEADROOM_TRY(const ForwardSummary base, run_base());
    HEADROOM_TRY_VOID(observer_.on_base(base.predictions.loss));
    for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
      const std::vector<std::size_t>& variants = group->second;
      HEADROOM_TRY(const SequenceState start, state_before(group->first));
      const std::size_t batches = (variants.size() + lanes_ - 1) / lanes_;
      for (std::size_t b = 0; b < batches; ++b) {
        const std::size_t begin = variants.size() * b / batches, end = variants.size() * (b + 1) / batches;
        HEADROOM_TRY_VOID(run_batch(group->first, start, std::span(variants).subspan(begin, end - begin)));
      }
    }
    observer_.on_progress(1.0, "done");
    return base;
  }

 private:
  static constexpr double kLossBlocks = 2.0;

  // The model itself, which leaves streams behind.
  Result<ForwardSummary> run_base() {
    for (std::size_t i = 0; i < sweep_.first_layers.size(); ++i) groups_[sweep_.first_layers[i]].push_back(i);
    const double layers = static_cast<double>(model_.blocks.size());
    BaseObserver base(observer_, (layers + kLossBlocks) * block_share_);
    done_ = (layers + kLossBlocks) * block_share_;
    std::int64_t every = 0;
    Forward forward(source_, model_, base_options_, target_, base);
    return forward.run([&](std::int64_t layer, const SequenceState& state) {
      if (every == 0) {
        const double bytes = static_cast<double>(state.h.nbytes()), budget = static_cast<double>(sweep_.keep_bytes);
        every = bytes * layers <= budget ? 1
                : budget > bytes         ? static_cast<std::int64_t>(std::ceil(bytes * layers / budget))
                                         : static_cast<std::int64_t>(layers);
        lanes_ = static_cast<std::size_t>(std::max<std::int64_t>(1, sweep_.rows / state.h.size(-2)));
      }
      if (layer % every == 0) kept_[layer] = state;
    });
  }

  // From the nearest stream that was kept; what comes after it is needed no more.
  Result<SequenceState> state_before(std::int64_t layer) {
    HEADROOM_TRY_VOID(prepare());
    const auto nearest = std::prev(kept_.upper_bound(layer));
    SequenceState state = nearest->second;
    const std::int64_t from = nearest->first;
    kept_.erase(std::next(nearest), kept_.end());
    if (from == layer) return state;
    WeightReader reader(forward_.loader(), model_, forward_.stages(), from);
    for (std::int64_t l = from; l < layer; ++l) {
      HEADROOM_TRY(const BlockWeights weights, reader.take_block([&] { return observer_.stop_requested(); }));
      HEADROOM_TRY_VOID(forward_.run_block(l, weights, model_.blocks[static_cast<std::size_t>(l)].attention, state));
    }
    return state;
  }

  // What layers are told of the tokens is made with the embedding.
  Result<void> prepare() {
    if (prepared_) return {};
    HEADROOM_TRY_VOID(forward_.begin());
    prepared_ = true;
    return {};
  }

  Result<void> run_batch(std::int64_t first, const SequenceState& start, std::span<const std::size_t> variants) {
    std::vector<Lane> lanes;
    for (const std::size_t variant : variants) {
      HEADROOM_TRY(ModelVariant changed, sweep_.make(variant));
      lanes.push_back({variant, std::move(changed), start});
    }
    const auto stop = [&] { return observer_.stop_requested(); };
    WeightReader reader(forward_.loader(), model_, forward_.stages(), first);
    const auto layers = static_cast<std::int64_t>(model_.blocks.size());
    for (std::int64_t layer = first; layer < layers; ++layer) {
      HEADROOM_TRY(const BlockWeights weights, reader.take_block(stop));
      for (Lane& lane : lanes) {
        if (stop()) return Error(ErrorCode::Cancelled, "cancelled");
        step(1.0);
        const AttentionSpec& attention = lane.attention(model_, layer);
        HEADROOM_TRY_VOID(
            forward_.run_block(layer, weights, attention, lane.state, lane.means(attention, layer, target_)));
      }
    }
    HEADROOM_TRY(const HeadWeights weights, reader.take_head(stop));
    for (const Lane& lane : lanes) {
      step(kLossBlocks);
      HEADROOM_TRY(Predictions predictions, forward_.finish(weights, lane.state));
      ++finished_;
      HEADROOM_TRY_VOID(observer_.on_variant(lane.variant, std::move(predictions.loss)));
    }
    return {};
  }

  void step(double blocks) {
    forward_.set_progress(done_, blocks * block_share_,
                          format("%zu of %zu done", finished_, sweep_.first_layers.size()));
    done_ += blocks * block_share_;
  }

  const ModelSource& source_;
  const ModelSpec& model_;
  const ForwardOptions& base_options_;
  const ForwardOptions options_;
  const VariantSweep& sweep_;
  const TorchTarget& target_;
  VariantObserver& observer_;
  QuietObserver quiet_;
  Forward forward_;
  std::map<std::int64_t, std::vector<std::size_t>> groups_;  // variants by the first layer that they change
  std::map<std::int64_t, SequenceState> kept_;
  std::size_t lanes_ = 1, finished_ = 0;
  double block_share_ = 0.0, done_ = 0.0;
  bool prepared_ = false;
};

}  // namespace

Result<ForwardSummary> sweep_variants(const ModelSource& source, const ModelSpec& model, const ForwardOptions& options,
                                      const VariantSweep& sweep, const TorchTarget& target, VariantObserver& observer) {
  return Sweep(source, model, options, sweep, target, observer).run();
}

}  // namespace headroom
