#include "core/compute/capture_run.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/compute/layer_heads.h"
#include "core/compute/premise.h"
#include "core/maps/captured_mask.h"

namespace headroom {
namespace {

// For each row the key after the latest earlier occurrence of its token; −1 where there is none, or where rows and keys
// are not places in one sequence whose tokens are known.
std::vector<std::int64_t> call_induction_keys(const CaptureCall& call, bool causal, std::span<const std::int32_t> ids) {
  std::vector<std::int64_t> keys(static_cast<std::size_t>(call.queries), -1);
  const bool same = call.positional(causal) && static_cast<std::int64_t>(ids.size()) == call.keys &&
                    call.first_query >= 0 && call.first_query + call.queries <= call.keys;
  if (!same) return keys;
  std::unordered_map<std::int32_t, std::int64_t> latest;
  for (std::int64_t place = 0; place < call.first_query + call.queries; ++place) {
    const std::int32_t id = ids[static_cast<std::size_t>(place)];
    const auto found = latest.find(id);
    if (place >= call.first_query && id >= 0 && found != latest.end())
      keys[static_cast<std::size_t>(place - call.first_query)] = found->second + 1;
    latest[id] = place;
  }
  return keys;
}

class CaptureRun {
 public:
  CaptureRun(const ModelSource& source, const ModelSpec& model, const ForwardOptions& options,
             const TorchTarget& target, ForwardObserver& observer)
      : source_(source), model_(model), options_(options), target_(target), observer_(observer) {}

  Result<ForwardSummary> run() {
    StageTimer whole(&summary_.seconds);
    for (std::size_t done = 0; done < options_.layers.size(); ++done) {
      if (observer_.stop_requested()) return Error(ErrorCode::Cancelled, "cancelled");
      const std::int64_t layer = options_.layers[done];
      if (layer < options_.first_layer || (options_.last_layer >= 0 && layer > options_.last_layer)) continue;
      begin_ = static_cast<double>(done) / static_cast<double>(options_.layers.size());
      share_ = 1.0 / static_cast<double>(options_.layers.size());
      text_ = format("call %lld of %zu", static_cast<long long>(layer) + 1, model_.blocks.size());
      observer_.on_progress(begin_, text_);
      HEADROOM_TRY_VOID(run_call(layer));
    }
    observer_.on_progress(1.0, "done");
    whole.stop();
    summary_.stages = stages_;
    summary_.attention_seconds = stages_.attention + stages_.record;
    return summary_;
  }

 private:
  // What a call's heads work on, [rows or keys, blocks, channels] each, and the numbers beside them, on the processor.
  struct Inputs {
    at::Tensor q, k, v;
    at::Tensor lambda;          // [heads, rows], double; undefined without
    at::Tensor gate;            // [heads, rows], double: means over channels; undefined without
    std::vector<double> sinks;  // [heads]; empty without
    std::shared_ptr<const CapturedMask> mask;
  };

  Result<void> run_call(std::int64_t layer) {
    const AttentionSpec& attention = model_.blocks[static_cast<std::size_t>(layer)].attention;
    const bool exact = target_.real == at::kDouble || target_.backend == AttentionBackend::Reference;
    Inputs inputs;
    {
      const StageTimer timer(&stages_.project);
      HEADROOM_TRY(inputs, read_call(attention, layer, exact ? at::kDouble : at::kFloat));
    }
    if (exact) return run_heads<double, double>(attention, layer, inputs);
    const bool fused = target_.backend == AttentionBackend::Cpu || target_.backend == AttentionBackend::Cuda;
    if (fused && target_.dtype == at::kBFloat16 && !options_.exact_maps)
      return run_heads<kernels::BFloat16, float>(attention, layer, inputs);
    return run_heads<float, float>(attention, layer, inputs);
  }

  Result<Inputs> read_call(const AttentionSpec& attention, std::int64_t layer, at::ScalarType real) {
    const CaptureCall& call = *attention.call;
    Inputs inputs;
    const std::pair<const CapturedTensor*, at::Tensor*> products[] = {
        {&call.q, &inputs.q}, {&call.k, &inputs.k}, {&call.v, &inputs.v}};
    for (const auto& [from, to] : products) {
      HEADROOM_TRY(const at::Tensor values, read(*from, real, layer));
      *to = values.transpose(0, 1).to(target_.device);
      if (target_.dtype == at::kBFloat16) *to = to->to(at::kBFloat16).to(real);
    }
    const auto heads = static_cast<std::int64_t>(attention.heads.size());
    if (call.lambda.present()) {
      HEADROOM_TRY(inputs.lambda, read(call.lambda, at::kDouble, layer));
      if (inputs.lambda.dim() == 1) inputs.lambda = inputs.lambda.unsqueeze(1).expand({heads, call.queries});
    }
    if (call.gate.present()) {
      HEADROOM_TRY(inputs.gate, read(call.gate, at::kDouble, layer));
      if (inputs.gate.dim() == 3) inputs.gate = inputs.gate.mean(2);
    }
    if (call.sink.present()) {
      HEADROOM_TRY(const at::Tensor sinks, read(call.sink, at::kDouble, layer));
      inputs.sinks = to_vector(sinks);
    }
    inputs.mask = CapturedMask::create(source_.shared_checkpoint(), call);
    return inputs;
  }

  Result<at::Tensor> read(const CapturedTensor& tensor, at::ScalarType real, std::int64_t layer) {
    at::Tensor values = at::empty(tensor.shape, at::TensorOptions().dtype(real));
    const auto count = static_cast<std::size_t>(tensor.element_count());
    const auto read_as = [&]<typename Real>(Real) -> Result<void> {
      const std::span<Real> out(values.mutable_data_ptr<Real>(), count);
      HEADROOM_TRY_VOID(source_.checkpoint().read(*tensor.info, tensor.first, out));
      const NonFiniteCounts counts = count_non_finite(std::span<const Real>(out));
      if (counts.all() > 0)
        summary_.non_finite_weights.push_back(
            {layer, tensor.info->name, counts, static_cast<std::int64_t>(out.size())});
      return {};
    };
    HEADROOM_TRY_VOID(real == at::kDouble ? read_as(double()) : read_as(float()));
    return values;
  }

  template <typename Input, typename Real>
  Result<void> run_heads(const AttentionSpec& attention, std::int64_t layer, const Inputs& inputs) {
    constexpr bool narrow = std::is_same_v<Input, kernels::BFloat16>;
    constexpr at::ScalarType real = c10::CppTypeToScalarType<Real>::value;
    const CaptureCall& call = *attention.call;
    const auto as_input = [&](const at::Tensor& t) { return t.to(narrow ? at::kBFloat16 : real).contiguous(); };
    const at::Tensor queries = as_input(inputs.q), keys = as_input(inputs.k), values = as_input(inputs.v);
    AttentionWeights weights;
    weights.sinks = inputs.sinks;
    const std::span<const std::int32_t> ids =
        std::span(options_.ids).first(std::min(options_.ids.size(), static_cast<std::size_t>(call.keys)));
    const std::vector<std::int64_t> induction = call_induction_keys(call, attention.causal, ids);
    std::vector<std::int64_t> measured = options_.heads;
    std::erase_if(measured, [&](std::int64_t h) { return h >= static_cast<std::int64_t>(attention.heads.size()); });
    LayerHeads<Input, Real> heads(attention, weights, queries, keys, values, at::Tensor(), target_, options_,
                                  induction);
    heads.set_recorded_lambda(inputs.lambda);
    heads.set_masks(inputs.mask.get());
    at::Tensor context =
        at::empty({call.queries, static_cast<std::int64_t>(attention.heads.size()), attention.context_dim()},
                  at::TensorOptions().dtype(real).device(target_.device));
    heads.prepare(context, true, true);
    if (inputs.mask) HEADROOM_TRY_VOID(check_rows(heads, attention, measured, *inputs.mask));
    {
      const StageTimer timer(&stages_.attention);
      HEADROOM_TRY_VOID(heads.run([&] { return observer_.stop_requested(); },
                                  [&](double done) { observer_.on_progress(begin_ + done * share_, text_); }));
    }
    if (inputs.mask) HEADROOM_TRY_VOID(inputs.mask->check());
    StageTimer recording(&stages_.record);
    LayerRecord record;
    heads.measure_blocks();
    for (const std::int64_t h : measured) record.heads.push_back(heads.record(h, context));
    if constexpr (!narrow)
      if (options_.exact_maps) {
        HEADROOM_TRY_VOID(send_exact_blocks(queries, keys, values, context, measured, layer, observer_));
        HEADROOM_TRY_VOID(send_exact_maps<Real>(heads, measured, layer, target_.device, observer_));
      }
    if constexpr (!narrow) {
      // What a capture does not hold: W_O, and a gate of every channel.
      PremiseMeasure<Real> premise(options_.min_row, target_.device);
      if (options_.premise)
        for (HeadRecord& head : record.heads)
          if (!premise.measure(
                  heads.problem_of(head.head), {}, [&] { return observer_.stop_requested(); }, head.premise))
            return Error(ErrorCode::Cancelled, "cancelled");
    }
    fill_layer(attention, weights, layer, call.queries, induction, record);
    record.dense = inputs.mask;
    record.key_norm = heads.key_norms();
    record.value_norm = heads.value_norms();
    keep_products(attention, queries, keys, options_.keep_projections, record);
    if (inputs.gate.defined())
      for (HeadRecord& head : record.heads)
        if (head.program.gated) head.gate_mean = to_vector(inputs.gate.select(0, head.head));
    HEADROOM_TRY_VOID(compare_contexts(call, layer, context, record));
    recording.stop();
    const StageTimer handing(&stages_.wait_write);
    return observer_.on_layer(std::move(record));
  }

  // A dense mask leaves a key to each row, where no sink takes it. Hidden keys of a what-if may take it away.
  template <typename Heads>
  static Result<void> check_rows(const Heads& heads, const AttentionSpec& attention,
                                 const std::vector<std::int64_t>& measured, const CapturedMask& mask) {
    const kernels::DenseMask* checked = nullptr;
    for (const std::int64_t h : measured) {
      if (attention.heads[static_cast<std::size_t>(h)].sink != SinkSource::None || mask.of_head(h) == checked) continue;
      checked = mask.of_head(h);
      kernels::Mask rows = heads.problem_of(h).mask;
      rows.hidden_keys.clear();
      HEADROOM_TRY_VOID(mask.check_rows(rows));
    }
    return {};
  }

  // HeadRecord::context_difference. What the model's context says NaN of is not compared.
  Result<void> compare_contexts(const CaptureCall& call, std::int64_t layer, const at::Tensor& context,
                                LayerRecord& record) {
    if (!call.context.present()) return {};
    // Rows that are not to be compared are NaN by intention, and no fault of the file.
    const std::size_t faults = summary_.non_finite_weights.size();
    HEADROOM_TRY(const at::Tensor given, read(call.context, at::kDouble, layer));
    summary_.non_finite_weights.resize(faults);
    for (HeadRecord& head : record.heads) {
      const at::Tensor wanted = given.select(0, head.head);
      const at::Tensor there = at::isfinite(wanted);
      if (!there.any().item<bool>()) continue;
      const at::Tensor own = context.select(1, head.head).to(at::kCPU, at::kDouble);
      const double largest = wanted.masked_select(there).abs().max().item<double>();
      const double difference = (own - wanted).masked_select(there).abs().max().item<double>();
      head.context_difference = largest > 0.0 ? difference / largest : difference;
    }
    return {};
  }

  const ModelSource& source_;
  const ModelSpec& model_;
  const ForwardOptions& options_;
  const TorchTarget& target_;
  ForwardObserver& observer_;
  ForwardSummary summary_;
  StageSeconds stages_;
  double begin_ = 0.0, share_ = 0.0;
  std::string text_;
};

}  // namespace

Result<ForwardSummary> run_capture(const ModelSource& source, const ModelSpec& model, const ForwardOptions& options,
                                   const TorchTarget& target, ForwardObserver& observer) {
  return CaptureRun(source, model, options, target, observer).run();
}

}  // namespace headroom
