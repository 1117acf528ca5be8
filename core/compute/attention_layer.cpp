#include "core/compute/attention_layer.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/numbers.h"
#include "core/compute/layer_heads.h"
#include "core/compute/premise.h"
#include "core/compute/rounding_bias.h"

namespace headroom {
namespace {

// cos_F of the W_O blocks of heads that share their values, row h for each measured head
// (core/measure/QUANTITIES.md#weightsoutput_alignment).
std::vector<double> output_alignment(const AttentionSpec& attention, const at::Tensor& o_weight,
                                     const std::vector<std::int64_t>& measured) {
  const auto heads = static_cast<std::int64_t>(attention.heads.size());
  const at::Tensor blocks = o_weight.to(at::kCPU, at::kDouble)
                                .view({o_weight.size(0), heads, attention.context_dim()})
                                .permute({1, 0, 2})
                                .reshape({heads, -1});
  const at::Tensor unit = blocks / blocks.norm(2, {1}, true);
  const at::Tensor cosine = at::mm(unit, unit.t());
  std::vector<double> result;
  for (const std::int64_t h : measured)
    for (std::int64_t other = 0; other < heads; ++other) {
      const auto& values = attention.heads[static_cast<std::size_t>(h)].first.value_blocks;
      const bool same_group = values == attention.heads[static_cast<std::size_t>(other)].first.value_blocks;
      result.push_back(same_group ? cosine[h][other].item<double>() : kNaN);
    }
  return result;
}

// LayerRecord::output_cosine of the contexts as they enter W_O, [length, heads · channels].
std::vector<double> output_cosines(const AttentionSpec& attention, const at::Tensor& o_weight,
                                   const at::Tensor& finished, const std::vector<std::int64_t>& measured) {
  const auto heads = static_cast<std::int64_t>(attention.heads.size());
  const at::Tensor weights = o_weight.to(at::kCPU, at::kDouble)
                                 .view({o_weight.size(0), heads, attention.context_dim()})
                                 .permute({1, 2, 0});  // [heads, channels, hidden]
  at::Tensor sums = at::zeros({heads, heads}, at::kDouble), counts = at::zeros({heads, heads}, at::kDouble);
  constexpr std::int64_t kRows = 256;
  for (std::int64_t row = 0; row < finished.size(0); row += kRows) {
    const at::Tensor contexts = finished.narrow(0, row, std::min(kRows, finished.size(0) - row))
                                    .to(at::kCPU, at::kDouble)
                                    .unflatten(1, {heads, attention.context_dim()});
    const at::Tensor outputs = at::matmul(contexts.transpose(0, 1), weights).transpose(0, 1);  // [rows, heads, hidden]
    const at::Tensor unit = outputs / outputs.norm(2, {2}, true);
    const at::Tensor cosines = at::matmul(unit, unit.transpose(1, 2));
    const at::Tensor there = at::isfinite(cosines);
    sums += at::where(there, cosines, at::zeros_like(cosines)).sum(0);
    counts += there.to(at::kDouble).sum(0);
  }
  const at::Tensor means = (sums / counts).contiguous();
  std::vector<double> result;
  for (const std::int64_t h : measured) {
    const double* from = means.const_data_ptr<double>() + h * heads;
    result.insert(result.end(), from, from + heads);
  }
  return result;
}

// Terms that a model adds to its products are part of the logits before a cap, of which there is none beside them.
void take_raw_extrema(LayerRecord& record) {
  for (HeadRecord& head : record.heads)
    for (kernels::MapStatistics& map : head.statistics.maps) {
      if (map.logit_max.empty()) continue;
      double largest = -kInfinity;
      for (const double logit : map.logit_max) largest = kernels::larger_or_nan(largest, logit);
      map.logit_max_raw = largest * head.program.temperature;
    }
}

// Of the contexts as they enter W_O, [length, heads · channels], added up as a mean over them would be.
Result<void> send_context_sums(const AttentionSpec& attention, const at::Tensor& finished, std::int64_t layer,
                               ForwardObserver& observer) {
  const at::Tensor contexts = finished.unflatten(-1, {static_cast<std::int64_t>(attention.heads.size()), -1});
  const at::Tensor sums = contexts.sum(at::IntArrayRef({-3}), true, at::kDouble).to(at::kCPU).contiguous();
  return observer.on_context_sums(layer, {sums.const_data_ptr<double>(), static_cast<std::size_t>(sums.numel())});
}

// A sequence's heads on their way through the backend.
template <typename Input, typename Real>
class LaneHeads {
 public:
  static constexpr bool kNarrow = std::is_same_v<Input, kernels::BFloat16>;
  static constexpr at::ScalarType kReal = c10::CppTypeToScalarType<Real>::value;

  LaneHeads(const AttentionSpec& attention, const AttentionWeights& weights, const AttentionLane& lane,
            const TorchTarget& target)
      : attention_(attention),
        weights_(weights),
        lane_(lane),
        target_(target),
        queries_(as_input(lane.given.q)),
        keys_(as_input(lane.given.k)),
        values_(as_input(lane.given.v)),
        heads_(attention, weights, queries_, keys_, values_, lane.given.lambda_logits, target, lane.options,
               lane.induction_key),
        masks_(disentangled_masks<Real>(attention, weights.disentangled, queries_, keys_)),
        context_(at::empty({lane.x.size(0), static_cast<std::int64_t>(attention.heads.size()), attention.context_dim()},
                           at::TensorOptions().dtype(kReal).device(target.device))) {
    heads_.set_masks(masks_.get());
  }

  void prepare(bool measured, bool ends) { heads_.prepare(context_, measured, ends); }
  [[nodiscard]] LayerHeads<Input, Real>& heads() { return heads_; }
  [[nodiscard]] const AttentionLane& lane() const { return lane_; }

  // The record of the heads that were chosen.
  Result<LayerRecord> record(const std::vector<std::int64_t>& chosen, std::int64_t layer, const at::Tensor& gates) {
    const ForwardOptions& options = lane_.options;
    const auto stop = [&] { return lane_.observer.stop_requested(); };
    LayerRecord record;
    heads_.measure_blocks();
    for (const std::int64_t h : chosen) record.heads.push_back(heads_.record(h, context_));
    if constexpr (!kNarrow) {
      if (options.exact_maps) {
        HEADROOM_TRY_VOID(send_exact_blocks(queries_, keys_, values_, context_, chosen, layer, lane_.observer));
        HEADROOM_TRY_VOID(send_exact_maps<Real>(heads_, chosen, layer, target_.device, lane_.observer));
      }
      if (options.rounding)
        for (HeadRecord& head : record.heads)
          if (!measure_rounding<Real>(heads_.problem_of(head.head), target_.device, stop, head.rounding))
            return Error(ErrorCode::Cancelled, "cancelled");
      if (options.premise) {
        PremiseMeasure<Real> premise(options.min_row, target_.device);
        for (HeadRecord& head : record.heads) {
          typename PremiseMeasure<Real>::After after;
          after.output = weights_.o.weight.narrow(1, head.head * attention_.context_dim(), attention_.context_dim());
          if (head.program.post_norm) after.norm = weights_.head_norm.weight;
          if (head.program.gated) after.gate = gates.select(1, head.head);
          if (!premise.measure(heads_.problem_of(head.head), after, stop, head.premise))
            return Error(ErrorCode::Cancelled, "cancelled");
        }
      }
    }
    fill_layer(attention_, weights_, layer, lane_.x.size(0), lane_.induction_key, record);
    record.dense = masks_;
    if (masks_) take_raw_extrema(record);
    record.bias = heads_.bias();
    record.key_norm = heads_.key_norms();
    record.value_norm = heads_.value_norms();
    keep_products(attention_, queries_, keys_, options.keep_projections, record);
    if (gates.defined()) {
      const at::Tensor means = gates.to(at::kCPU, at::kDouble).mean(-1);
      for (HeadRecord& head : record.heads)
        if (head.program.gated) head.gate_mean = to_vector(means.select(1, head.head));
    }
    return record;
  }

  // What ForwardOptions::last_rows asks for, in place of the record.
  Result<void> send_last_rows(const std::vector<std::int64_t>& chosen, std::int64_t layer) {
    if constexpr (!kNarrow) {
      for (std::int64_t block = 0; block < values_.size(1); ++block)
        HEADROOM_TRY_VOID(lane_.observer.on_exact_block(layer, ExactBlock::Value, block, values_.size(0),
                                                        to_vector(values_.select(1, block))));
      const std::int64_t first = std::max<std::int64_t>(0, queries_.size(0) - lane_.options.last_rows);
      return send_exact_maps<Real>(heads_, chosen, layer, target_.device, lane_.observer, first);
    }
    return {};
  }

  [[nodiscard]] at::Tensor finished(const at::Tensor& gates) const {
    return finish_contexts(attention_, weights_, gates, context_.to(target_.device, target_.dtype), target_,
                           lane_.means);
  }

 private:
  static at::Tensor as_input(const at::Tensor& t) { return t.to(kNarrow ? at::kBFloat16 : kReal).contiguous(); }

  const AttentionSpec& attention_;
  const AttentionWeights& weights_;
  const AttentionLane& lane_;
  const TorchTarget& target_;
  at::Tensor queries_, keys_, values_;
  LayerHeads<Input, Real> heads_;
  std::shared_ptr<const HeadMasks> masks_;
  at::Tensor context_;
};

// In one call of the backend.
template <typename Input, typename Real>
Result<void> run_heads(std::span<const std::unique_ptr<LaneHeads<Input, Real>>> lanes, const TorchTarget& target,
                       const ShareReport& progress) {
  const auto stop = [&] { return lanes.front()->lane().observer.stop_requested(); };
  if (lanes.size() == 1) return lanes.front()->heads().run(stop, progress);
  std::vector<kernels::HeadJob<Input, Real>> jobs;
  for (const auto& lane : lanes)
    for (kernels::HeadJob<Input, Real>& job : lane->heads().jobs()) jobs.push_back(std::move(job));
  HEADROOM_TRY_VOID((run_attention_backend<Input, Real>(target.backend, jobs, target.device, stop, progress)));
  auto from = jobs.begin();
  for (const auto& lane : lanes)
    for (kernels::HeadJob<Input, Real>& job : lane->heads().jobs()) job = std::move(*from++);
  return {};
}

template <typename Input, typename Real>
Result<std::vector<at::Tensor>> run_lanes(const AttentionSpec& attention, const AttentionWeights& weights,
                                          std::span<const AttentionLane> lanes, const TorchTarget& target,
                                          std::int64_t layer, bool measured, StageSeconds* stages,
                                          const ShareReport& progress) {
  const ForwardOptions& options = lanes.front().options;
  const bool ends = layer == options.last_layer, recorded = measured && options.last_rows == 0;
  // Layers need not have as many heads as each other.
  std::vector<std::int64_t> chosen = options.heads;
  std::erase_if(chosen, [&](std::int64_t h) { return h >= static_cast<std::int64_t>(attention.heads.size()); });
  std::vector<std::unique_ptr<LaneHeads<Input, Real>>> all;
  for (const AttentionLane& lane : lanes) {
    all.push_back(std::make_unique<LaneHeads<Input, Real>>(attention, weights, lane, target));
    all.back()->prepare(measured, ends);
  }
  {
    const StageTimer timer(stages ? &stages->attention : nullptr);
    HEADROOM_TRY_VOID((run_heads<Input, Real>(all, target, progress)));
  }
  std::vector<double> alignment;  // of the weights alone
  if (recorded) alignment = output_alignment(attention, weights.o.weight, chosen);
  std::vector<at::Tensor> results;
  for (std::unique_ptr<LaneHeads<Input, Real>>& lane : all) {
    const at::Tensor gates = head_gates(attention, weights, lane->lane().x, target);
    at::Tensor finished;
    if (!ends) finished = lane->finished(gates);
    if (options.context_sums && !ends)
      HEADROOM_TRY_VOID(send_context_sums(attention, finished, layer, lane->lane().observer));
    if (measured && !recorded) {
      const StageTimer sending(stages ? &stages->record : nullptr);
      HEADROOM_TRY_VOID(lane->send_last_rows(chosen, layer));
    }
    if (recorded) {
      StageTimer recording(stages ? &stages->record : nullptr);
      HEADROOM_TRY(LayerRecord record, lane->record(chosen, layer, gates));
      record.output_alignment = alignment;
      if (options.output_cosines && !ends)
        record.output_cosine = output_cosines(attention, weights.o.weight, finished, chosen);
      recording.stop();
      const StageTimer handing(stages ? &stages->wait_write : nullptr);
      HEADROOM_TRY_VOID(lane->lane().observer.on_layer(std::move(record)));
    }
    results.push_back(std::move(finished));
    lane.reset();
  }
  return results;
}

// What the queries of positions 0 … length − 1 are multiplied with, [length, 1, 1] beside q [.., length, blocks,
// channels].
at::Tensor query_factors(const QueryScale& scale, const at::Tensor& q) {
  const auto type = q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const at::Tensor positions = at::arange(q.size(-3), q.options().dtype(type));
  const at::Tensor steps = at::floor((positions + scale.offset) / scale.length);
  return (at::log1p(steps) * scale.amount + 1.0).to(q.scalar_type()).view({-1, 1, 1});
}

}  // namespace

Projections project(const AttentionSpec& attention, const AttentionWeights& weights, const Rotary& rotary,
                    const at::Tensor& x, const Projections* kept, const at::Tensor& memory) {
  const bool per_head = attention.qk_norm == QkNormScope::PerHead, late = attention.qk_norm_after_rope;
  const auto clipped = [&](const at::Tensor& y) {
    return attention.clip_qkv > 0.0 ? at::clamp(y, -attention.clip_qkv, attention.clip_qkv) : y;
  };
  const auto blocks_of = [&](at::Tensor y, const Norm& norm, std::int64_t blocks) {
    if (attention.qk_norm == QkNormScope::Whole) y = norm(y);
    y = clipped(y).unflatten(-1, {blocks, -1});
    return per_head && !late ? norm(y) : y;
  };
  const auto turned = [&](const at::Tensor& y, const Norm& norm) {
    return per_head && late ? norm(rotary(y)) : rotary(y);
  };
  Projections result;
  result.q =
      turned(blocks_of(weights.q(weights.q_latent(x)), weights.q_norm, attention.num_query_blocks), weights.q_norm);
  if (attention.query_scale.present()) result.q = result.q * query_factors(attention.query_scale, result.q);
  if (weights.lambda_projection.weight.defined()) result.lambda_logits = weights.lambda_projection(x);
  if (kept) {
    result.k = kept->k;
    result.v = kept->v;
    return result;
  }
  const at::Tensor for_keys = weights.kv_latent(attention.cross ? memory : x);
  at::Tensor keys = blocks_of(weights.k(for_keys), weights.k_norm, attention.num_key_blocks);
  if (weights.shared_key.weight.defined()) {
    const at::Tensor shared = weights.shared_key(x).unsqueeze(-2);
    std::vector<std::int64_t> sizes = keys.sizes().vec();
    sizes.back() = shared.size(-1);
    keys = at::cat({keys, shared.expand(sizes)}, -1);
  }
  result.k = turned(keys, weights.k_norm);
  const at::Tensor values = clipped(weights.v(for_keys));
  result.v = weights.v_norm(values.unflatten(-1, {attention.num_value_blocks, attention.value_dim}));
  return result;
}

Result<std::vector<at::Tensor>> run_contexts(const AttentionSpec& attention, const AttentionWeights& weights,
                                             std::span<const AttentionLane> lanes, const TorchTarget& target,
                                             std::int64_t layer, bool measured, StageSeconds* stages,
                                             const ShareReport& progress) {
  const auto run = [&]<typename Input, typename Real>(Input, Real) {
    return run_lanes<Input, Real>(attention, weights, lanes, target, layer, measured, stages, progress);
  };
  if (target.real == at::kDouble || target.backend == AttentionBackend::Reference) return run(double(), double());
  // The fused kernels read bfloat16 as it is; exact maps and rows come from the blocked backend, which does not.
  const AttentionLane& first = lanes.front();
  const bool fused = target.backend == AttentionBackend::Cpu || target.backend == AttentionBackend::Cuda;
  const auto is_narrow = [](const at::Tensor& t) { return t.scalar_type() == at::kBFloat16; };
  if (fused && is_narrow(first.given.q) && is_narrow(first.given.k) && is_narrow(first.given.v) &&
      !first.options.exact_maps && first.options.last_rows == 0)
    return run(kernels::BFloat16(), float());
  return run(float(), float());
}

Result<at::Tensor> run_attention(const AttentionSpec& attention, const AttentionWeights& weights,
                                 const AttentionLane& lane, const TorchTarget& target, std::int64_t layer,
                                 bool measured, StageSeconds* stages, const ShareReport& progress) {
  HEADROOM_TRY(const std::vector<at::Tensor> contexts,
               run_contexts(attention, weights, std::span(&lane, 1), target, layer, measured, stages, progress));
  return contexts.front().defined() ? weights.o(contexts.front()) : at::Tensor();
}

Result<LayerRecord> record_heads(const AttentionSpec& attention, const AttentionWeights& weights,
                                 const AttentionInputs& inputs, const TorchTarget& target, std::int64_t layer) {
  const auto record_as = [&]<typename Real>(Real) -> Result<LayerRecord> {
    constexpr at::ScalarType real = c10::CppTypeToScalarType<Real>::value;
    const auto as_rows = [](const at::Tensor& blocks) { return blocks.to(real).transpose(0, 1).contiguous(); };
    const std::int64_t length = inputs.q.size(1);
    ForwardOptions options;
    options.heads.resize(attention.heads.size());
    std::iota(options.heads.begin(), options.heads.end(), 0);
    const std::vector<std::int64_t> no_induction(static_cast<std::size_t>(length), -1);
    LayerHeads<Real, Real> heads(attention, weights, as_rows(inputs.q), as_rows(inputs.k), as_rows(inputs.v),
                                 inputs.lambda_logits, target, options, no_induction);
    at::Tensor context = at::empty({length, static_cast<std::int64_t>(attention.heads.size()), attention.context_dim()},
                                   at::TensorOptions().dtype(real).device(target.device));
    heads.prepare(context, true, false);
    HEADROOM_TRY_VOID(heads.run([] { return false; }, {}));
    heads.measure_blocks();
    LayerRecord record;
    fill_layer(attention, weights, layer, length, no_induction, record);
    record.bias = heads.bias();
    for (const std::int64_t h : options.heads) record.heads.push_back(heads.record(h, context));
    return record;
  };
  return target.real == at::kDouble ? record_as(double()) : record_as(float());
}

}  // namespace headroom
