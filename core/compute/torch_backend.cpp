// The backend that the program loads: the forward pass, its variants, captures, benchmarks and trainings behind one
// interface.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "core/compute/attention_backend.h"
#include "core/compute/benchmark.h"
#include "core/compute/capture_run.h"
#include "core/compute/device.h"
#include "core/compute/forward.h"
#include "core/compute/sequence_batch.h"
#include "core/compute/torch_errors.h"
#include "core/compute/training/head_gradients.h"
#include "core/compute/training/trainer.h"
#include "core/compute/variant_sweep.h"
#include "core/run/compute.h"
#include "core/run/forward_needs.h"
#include "core/training/training.h"
#include "kernels/cpu/attention.h"

namespace headroom {
namespace {

// Where a run begins and ends.
Result<void> check_span(const ModelSpec& model, const ForwardOptions& options) {
  const auto layers = static_cast<std::int64_t>(model.blocks.size());
  const auto refuse = [](const char* what) { return Error(ErrorCode::InvalidArgument, what); };
  if (options.first_layer < 0 || options.first_layer >= std::max<std::int64_t>(layers, 1) ||
      options.last_layer >= layers)
    return refuse("the run begins or ends at a layer that the model does not have");
  if (options.last_layer >= 0 && options.last_layer < options.first_layer)
    return refuse("the run ends before it begins");
  if (model.encoder && (options.first_layer != 0 || options.source_ids.empty()))
    return refuse("a run of an encoder and a decoder begins with the source");
  if (options.first_layer == 0 || model.capture)
    return !options.start ? Result<void>() : refuse("layer 0 begins with the embedding");
  if (options.dtype == ComputeDtype::Float64) return refuse("a float64 run begins at layer 0");
  const auto width = static_cast<std::size_t>(model.hidden_size * model.streams.count());
  if (!options.start || options.start->residual.size() != options.ids.size() * width)
    return refuse("the run begins at a later layer without the residual stream before it");
  for (std::int64_t layer = options.first_layer; layer < layers; ++layer) {
    const BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
    const std::int64_t scan = block.mixer ? block.mixer->memory_of_layer() : -1;
    if (scan >= 0 && scan < options.first_layer && !options.start->find(scan, KeptTensor::Kind::Memory))
      return refuse("the run begins at a later layer without the memory that it reads of an earlier one");
    const std::int64_t of = block.attention.keys_of_layer;
    if (of < 0 || of >= options.first_layer) continue;
    for (const KeptTensor::Kind kind : {KeptTensor::Kind::Keys, KeptTensor::Kind::Values})
      if (!options.start->find(of, kind))
        return refuse("the run begins at a later layer without the keys and values that it uses of earlier ones");
  }
  return {};
}

// The whole model, and variants that change layers which it has.
Result<void> check_sweep(const ModelSpec& model, const ForwardOptions& options, const VariantSweep& sweep) {
  const auto layers = static_cast<std::int64_t>(model.blocks.size());
  const bool inside = std::ranges::all_of(sweep.first_layers, [&](std::int64_t l) { return l >= 0 && l < layers; });
  if (inside && !model.capture && options.first_layer == 0 && options.last_layer < 0) return {};
  return Error(ErrorCode::InvalidArgument, "variants are of whole runs of a model, and change layers that it has");
}

Result<TorchTarget> open_target(const ModelSpec& model, const ForwardOptions& options) {
  HEADROOM_TRY(const at::Device device, open_device(options.device));
  TorchTarget target;
  ForwardOptions asked = options;
  set_needs(asked, model);
  HEADROOM_TRY(target.backend, find_attention_backend(asked));
  target.device = device;
  target.real = options.dtype == ComputeDtype::Float64 ? at::kDouble : at::kFloat;
  target.dtype = options.dtype == ComputeDtype::BFloat16 ? at::kBFloat16 : target.real;
  return target;
}

template <typename Body>
auto guarded(const Body& body) -> decltype(body()) {
  const c10::InferenceMode inference;
  return without_exceptions(body);
}

class TorchBackend final : public ComputeBackend {
 public:
  Result<AttentionChoice> choose_attention(const ForwardOptions& options) override {
    return headroom::choose_attention(options);
  }

  Result<ForwardSummary> run(const ModelSource& source, const ModelSpec& model, const ForwardOptions& options,
                             ForwardObserver& observer) override {
    return guarded([&]() -> Result<ForwardSummary> {
      HEADROOM_TRY_VOID(check_span(model, options));
      HEADROOM_TRY(const TorchTarget target, open_target(model, options));
      if (model.capture) return run_capture(source, model, options, target, observer);
      return Forward(source, model, options, target, observer).run();
    });
  }

  Result<std::vector<ForwardSummary>> run_batch(const ModelSource& source, const ModelSpec& model,
                                                const ForwardOptions& options,
                                                std::span<const std::vector<std::int32_t>> sequences,
                                                std::span<ForwardObserver* const> observers) override {
    return guarded([&]() -> Result<std::vector<ForwardSummary>> {
      const bool fits = std::ranges::all_of(
          sequences, [&](const auto& ids) { return !ids.empty() && ids.size() == sequences.front().size(); });
      if (model.capture || model.encoder || options.start || options.first_layer != 0 || !fits ||
          observers.size() != sequences.size() || options.last_layer >= std::ssize(model.blocks))
        return Error(ErrorCode::InvalidArgument, "sequences of one length run together, and from the first layer on");
      HEADROOM_TRY(const TorchTarget target, open_target(model, options));
      return run_sequences(source, model, options, sequences, target, observers);
    });
  }

  Result<ForwardSummary> run_variants(const ModelSource& source, const ModelSpec& model, const ForwardOptions& options,
                                      const VariantSweep& sweep, VariantObserver& observer) override {
    return guarded([&]() -> Result<ForwardSummary> {
      HEADROOM_TRY_VOID(check_sweep(model, options, sweep));
      HEADROOM_TRY_VOID(check_span(model, options));
      HEADROOM_TRY(const TorchTarget target, open_target(model, options));
      return sweep_variants(source, model, options, sweep, target, observer);
    });
  }

  Result<void> run_gradients(const ModelSource& source, const ModelSpec& model, const ForwardOptions& options,
                             std::span<const std::vector<std::int32_t>> sequences, const GradientReport& report,
                             const kernels::StopRequested& stop) override {
    return without_exceptions([&]() -> Result<void> {
      HEADROOM_TRY(const TorchTarget target, open_target(model, options));
      return measure_gradients(source, model, options, sequences, target, report, stop);
    });
  }

  Result<BenchmarkReport> benchmark(const BenchmarkRequest& request,
                                    const std::function<void(double fraction, const std::string& what)>& progress,
                                    const kernels::StopRequested& stop) override {
    return guarded([&] { return run_benchmark(request, progress, stop); });
  }

  Result<TrainingOutcome> train(const TrainingRequest& request, TrainingObserver& observer) override {
    return without_exceptions([&] { return headroom::train(request, observer); });
  }

  BackendInfo info() override {
    BackendInfo info;
    info.torch_version = HEADROOM_TORCH_VERSION;
    info.cpu_capability = at::get_cpu_capability();
    info.kernel_target = kernels::cpu_kernel_target();
    info.threads = at::get_num_threads();
    info.devices = list_devices(info.cuda_note);
    info.backends = list_attention_backends(info.cuda_note);
    return info;
  }
};

}  // namespace
}  // namespace headroom

extern "C" __attribute__((visibility("default"))) headroom::ComputeBackend* headroom_compute_backend() {
  static headroom::TorchBackend backend;
  return &backend;
}
