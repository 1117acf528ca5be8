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

template <typename Input, typename Real>
Result<at::Tensor> run_heads(const AttentionSpec& attention, const AttentionWeights& weights, const at::Tensor& x,
                             const Projections& given, const TorchTarget& target, const ForwardOptions& options,
                             std::span<const std::int64_t> induction_key, std::int64_t layer, bool measured,
                             ForwardObserver& observer, StageSeconds* stages, const ShareReport& progress) {
  constexpr bool narrow = std::is_same_v<Input, kernels::BFloat16>;
  constexpr at::ScalarType real = c10::CppTypeToScalarType<Real>::value;
  const auto as_input = [&](const at::Tensor& t) { return t.to(narrow ? at::kBFloat16 : real).contiguous(); };
  const at::Tensor queries = as_input(given.q), keys = as_input(given.k);
  const at::Tensor values = as_input(given.v);
  // Layers need not have as many heads as each other.
  std::vector<std::int64_t> chosen = options.heads;
  std::erase_if(chosen, [&](std::int64_t h) { return h >= static_cast<std::int64_t>(attention.heads.size()); });
  LayerHeads<Input, Real> heads(attention, weights, queries, keys, values, given.lambda_logits, target, options,
                                induction_key);
  const std::shared_ptr<const HeadMasks> masks =
      disentangled_masks<Real>(attention, weights.disentangled, queries, keys);
  heads.set_masks(masks.get());
  at::Tensor context =
      at::empty({x.size(0), static_cast<std::int64_t>(attention.heads.size()), attention.context_dim()},
                at::TensorOptions().dtype(real).device(target.device));
  const bool ends = layer == options.last_layer;
  heads.prepare(context, measured, ends);
  {
    const StageTimer timer(stages ? &stages->attention : nullptr);
    HEADROOM_TRY_VOID(heads.run([&] { return observer.stop_requested(); }, progress));
  }

  StageTimer recording(stages ? &stages->record : nullptr);
  LayerRecord record;
  const at::Tensor gates = head_gates(attention, weights, x, target);
  if (measured) {
    heads.measure_blocks();
    for (const std::int64_t h : chosen) record.heads.push_back(heads.record(h, context));
    if constexpr (!narrow)
      if (options.exact_maps) {
        HEADROOM_TRY_VOID(send_exact_maps<Real>(heads, chosen, layer, target.device, observer));
        HEADROOM_TRY_VOID(send_exact_blocks(queries, keys, values, context, chosen, layer, observer));
      }
    if constexpr (!narrow)
      if (options.rounding)
        for (HeadRecord& head : record.heads)
          if (!measure_rounding<Real>(
                  heads.problem_of(head.head), target.device, [&] { return observer.stop_requested(); }, head.rounding))
            return Error(ErrorCode::Cancelled, "cancelled");
    if constexpr (!narrow)
      if (options.premise) {
        PremiseMeasure<Real> premise(options.min_row, target.device);
        for (HeadRecord& head : record.heads) {
          typename PremiseMeasure<Real>::After after;
          after.output = weights.o.weight.narrow(1, head.head * attention.context_dim(), attention.context_dim());
          if (head.program.post_norm) after.norm = weights.head_norm.weight;
          if (head.program.gated) after.gate = gates.select(1, head.head);
          if (!premise.measure(
                  heads.problem_of(head.head), after, [&] { return observer.stop_requested(); }, head.premise))
            return Error(ErrorCode::Cancelled, "cancelled");
        }
      }
    fill_layer(attention, weights, layer, x.size(0), induction_key, record);
    record.dense = masks;
    if (masks) take_raw_extrema(record);
    record.bias = heads.bias();
    record.key_norm = heads.key_norms();
    record.value_norm = heads.value_norms();
    record.output_alignment = output_alignment(attention, weights.o.weight, chosen);
    keep_products(attention, queries, keys, options.keep_projections, record);
  }
  recording.stop();
  if (measured && gates.defined()) {
    const at::Tensor means = gates.to(at::kCPU, at::kDouble).mean(-1);
    for (HeadRecord& head : record.heads)
      if (head.program.gated) head.gate_mean = to_vector(means.select(1, head.head));
  }
  const auto finish = [&] {
    return finish_contexts(attention, weights, gates, context.to(target.device, target.dtype), target);
  };
  at::Tensor finished;
  if (measured && options.output_cosines && !ends) {
    finished = finish();
    record.output_cosine = output_cosines(attention, weights.o.weight, finished, chosen);
  }
  if (measured) {
    const StageTimer handing(stages ? &stages->wait_write : nullptr);
    HEADROOM_TRY_VOID(observer.on_layer(std::move(record)));
  }
  if (ends) return at::Tensor();
  return weights.o(finished.defined() ? finished : finish());
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

Result<at::Tensor> run_attention(const AttentionSpec& attention, const AttentionWeights& weights,
                                 const Projections& given, const at::Tensor& x, const TorchTarget& target,
                                 const ForwardOptions& options, std::span<const std::int64_t> induction_key,
                                 std::int64_t layer, bool measured, ForwardObserver& observer, StageSeconds* stages,
                                 const ShareReport& progress) {
  const auto run = [&]<typename Input, typename Real>(Input, Real) {
    return run_heads<Input, Real>(attention, weights, x, given, target, options, induction_key, layer, measured,
                                  observer, stages, progress);
  };
  if (target.real == at::kDouble || target.backend == AttentionBackend::Reference) return run(double(), double());
  // The fused kernels read bfloat16 as it is; exact maps come from the blocked backend, which does not.
  const bool fused = target.backend == AttentionBackend::Cpu || target.backend == AttentionBackend::Cuda;
  const auto is_narrow = [](const at::Tensor& t) { return t.scalar_type() == at::kBFloat16; };
  if (fused && is_narrow(given.q) && is_narrow(given.k) && is_narrow(given.v) && !options.exact_maps)
    return run(kernels::BFloat16(), float());
  return run(float(), float());
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
