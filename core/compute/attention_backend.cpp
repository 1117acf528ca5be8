#include "core/compute/attention_backend.h"

#include <ATen/Context.h>
#include <ATen/Version.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/base/check.h"
#include "core/compute/blocked_attention.h"
#include "core/compute/device.h"
#include "core/compute/parallel.h"
#include "kernels/cpu/attention.h"
#include "kernels/cuda/attention.h"
#include "kernels/reference/attention.h"

namespace headroom {
namespace {

using kernels::HeadJob;
using kernels::StatusCode;
using kernels::StopRequested;

constexpr std::array kBackends = {AttentionBackend::Reference, AttentionBackend::Blocked, AttentionBackend::Cpu,
                                  AttentionBackend::Cuda};
// Beyond it float32 no longer counts rows.
constexpr std::int64_t kCpuLength = std::int64_t{1} << 24;

// Why a backend cannot do what the options ask: "the backend cpu " before `what` is a sentence.
struct Refusal {
  std::string what, expected, found;
};

Error refused(AttentionBackend backend, const Refusal& refusal) {
  Error error(ErrorCode::InvalidArgument,
              std::string("the backend ") + attention_backend_name(backend) + " " + refusal.what);
  error.at_tensor("--backend").wanted(refusal.expected, refusal.found).advise("--backend auto chooses one that fits");
  return error;
}

std::optional<Refusal> too_many(const char* of, std::int64_t most, std::int64_t found) {
  if (found <= most) return {};
  return Refusal{"takes at most " + std::to_string(most) + " " + of, "at most " + std::to_string(most),
                 std::to_string(found)};
}

// What the options rule out but for the length, whatever the machine.
std::optional<Refusal> ruled_out(AttentionBackend backend, const ForwardOptions& options) {
  const bool on_cpu = options.device == "cpu";
  const bool fused = backend == AttentionBackend::Cpu || backend == AttentionBackend::Cuda;
  if ((backend == AttentionBackend::Reference || backend == AttentionBackend::Cpu) && !on_cpu)
    return Refusal{"runs on the processor", "--device cpu", "--device " + options.device};
  if (backend == AttentionBackend::Cuda && on_cpu)
    return Refusal{"runs on an NVIDIA GPU", "--device cuda", "--device cpu"};
  if (fused && options.dtype == ComputeDtype::Float64)
    return Refusal{"computes in float32", "--dtype float32 or bfloat16", "--dtype float64"};
  if (fused && options.dense_masks)
    return Refusal{"reads no mask that is given entry by entry", "calls without .mask", "a call with one"};
  if (fused && !options.softmax_only)
    return Refusal{"has no other normalizer than softmax", "--backend blocked or reference", "a head with softpick"};
  if (backend != AttentionBackend::Cuda) return {};
  if (!options.square_masks)
    return Refusal{"takes as many keys as queries", "calls of self-attention", "a call with other keys"};
  if (options.always_visible)
    return Refusal{"knows no keys that stay visible beside a window", "a window alone",
                   "a layer whose first keys stay visible"};
  auto refusal = too_many("channels of a query", kernels::kCudaHeadDim, options.widest_query);
  if (!refusal) refusal = too_many("channels of a value", kernels::kCudaValueDim, options.widest_value);
  if (!refusal) refusal = too_many("blocks of a pooled map", kernels::kCudaPoolBlocks, options.request.pool_blocks);
  return refusal;
}

Result<void> check_options(AttentionBackend backend, const ForwardOptions& options) {
  if (const auto refusal = ruled_out(backend, options)) return refused(backend, *refusal);
  const auto length = static_cast<std::int64_t>(std::max(options.ids.size(), options.source_ids.size()));
  const std::int64_t limit = backend == AttentionBackend::Reference ? kReferenceLength : kCpuLength;
  if (backend != AttentionBackend::Blocked && length > limit)
    return refused(backend, {"is for shorter prompts", "at most " + std::to_string(limit) + " tokens",
                             std::to_string(length) + " tokens"});
  return {};
}

Result<AttentionBackend> named_backend(const std::string& name) {
  for (const AttentionBackend backend : kBackends)
    if (name == attention_backend_name(backend)) return backend;
  Error error(ErrorCode::InvalidArgument, "unknown backend");
  error.at_tensor("--backend").wanted("auto, reference, blocked, cpu or cuda", name);
  return error;
}

// Of the device that is named. Of a run on the processor nobody asks the driver, which takes its time to wake.
kernels::KernelStatus cuda_status(at::Device device) {
  if (device.is_cpu()) return {};
  const c10::DeviceGuard guard(device);
  return kernels::cuda_ready();
}

AttentionBackend fused_backend(const ForwardOptions& options) {
  return options.device == "cpu" ? AttentionBackend::Cpu : AttentionBackend::Cuda;
}

std::string kernel_target(AttentionBackend backend, bool on_cpu) {
  switch (backend) {
    case AttentionBackend::Reference: return "scalar";
    case AttentionBackend::Blocked: return std::string("LibTorch ") + (on_cpu ? at::get_cpu_capability() : "CUDA");
    case AttentionBackend::Cpu: return kernels::cpu_kernel_target();
    case AttentionBackend::Cuda: return "CUDA";
  }
  return "";
}

bool run_reference(std::span<HeadJob<double>> jobs, const StopRequested& stop, const ShareReport& progress) {
  std::atomic<bool> complete{true};
  const auto run_job = [&](std::int64_t index) {
    if (!complete || (stop && stop())) {
      complete = false;
      return;
    }
    HeadJob<double>& job = jobs[static_cast<std::size_t>(index)];
    const std::int64_t channels = job.problem.value_dim;
    std::vector<double> context(static_cast<std::size_t>(job.problem.mask.length * channels));
    kernels::reference_attention(job.problem, job.request, job.statistics, context);
    for (std::int64_t row = 0; row < job.problem.mask.length; ++row)
      std::copy_n(context.data() + row * channels, channels, job.context + row * job.context_stride);
  };
  run_reported_tasks(static_cast<std::int64_t>(jobs.size()), run_job, progress);
  return complete;
}

template <typename Input>
bool run_cpu(std::span<HeadJob<Input, float>> jobs, const StopRequested& stop, const ShareReport& progress) {
  // The kernel goes through the values first, which is little, and then through all parts of all heads.
  int calls = 0;
  const auto parallel = [&](std::int64_t tasks, const std::function<void(std::int64_t)>& body) {
    run_reported_tasks(tasks, body, calls++ == 0 ? ShareReport() : progress);
  };
  return kernels::cpu_attention<Input>(jobs, parallel, stop);
}

template <typename Input>
kernels::KernelStatus run_cuda(std::span<HeadJob<Input, float>> jobs, at::Device device, const StopRequested& stop) {
  const c10::DeviceGuard guard(device);
  // LibTorch works on the default stream unless it is told otherwise, and nobody here does.
  return kernels::cuda_attention(jobs, kernels::StreamView(nullptr), stop, run_tasks);
}

}  // namespace

Error status_error(const kernels::KernelStatus& status) {
  const auto code = [&] {
    switch (status.code) {
      case StatusCode::Unsupported: return ErrorCode::Unsupported;
      case StatusCode::InvalidArgument: return ErrorCode::InvalidArgument;
      case StatusCode::OutOfMemory: return ErrorCode::OutOfMemory;
      case StatusCode::Cancelled: return ErrorCode::Cancelled;
      case StatusCode::Device:
      case StatusCode::Ok: break;
    }
    return ErrorCode::Device;
  }();
  Error error(code,
              std::string("the backend cuda cannot run: ") + status.text + (*status.call ? ", in " : "") + status.call);
  if (code != ErrorCode::Cancelled) error.at_tensor("--backend").advise("--backend blocked runs on the same device");
  return error;
}

AutomaticBackend automatic_backend(const ForwardOptions& options, const kernels::KernelStatus& cuda) {
  const AttentionBackend fused = fused_backend(options);
  if (const auto refusal = ruled_out(fused, options))
    return {AttentionBackend::Blocked,
            std::string("the backend ") + attention_backend_name(fused) + " " + refusal->what};
  if (fused == AttentionBackend::Cuda && !cuda.ok())
    return {AttentionBackend::Blocked, std::string("the backend cuda cannot run: ") + cuda.text};
  return {fused, "fused kernels, " + kernel_target(fused, fused == AttentionBackend::Cpu)};
}

const char* attention_backend_name(AttentionBackend backend) {
  switch (backend) {
    case AttentionBackend::Reference: return "reference";
    case AttentionBackend::Blocked: return "blocked";
    case AttentionBackend::Cpu: return "cpu";
    case AttentionBackend::Cuda: return "cuda";
  }
  return "";
}

namespace {

// With the reason where it was chosen.
Result<AutomaticBackend> find_backend(const ForwardOptions& options) {
  AutomaticBackend found;
  const bool named = options.backend != "auto";
  if (named) {
    HEADROOM_TRY(found.backend, named_backend(options.backend));
    HEADROOM_TRY_VOID(check_options(found.backend, options));
  }
  HEADROOM_TRY(const at::Device device, open_device(options.device));
  if (named && found.backend != AttentionBackend::Cuda) return found;
  const kernels::KernelStatus cuda = cuda_status(device);
  if (!named) {
    found = automatic_backend(options, cuda);
    HEADROOM_TRY_VOID(check_options(found.backend, options));
  } else if (!cuda.ok()) {
    return status_error(cuda);
  }
  return found;
}

}  // namespace

Result<AttentionBackend> find_attention_backend(const ForwardOptions& options) {
  HEADROOM_TRY(const AutomaticBackend found, find_backend(options));
  return found.backend;
}

Result<AttentionChoice> choose_attention(const ForwardOptions& options) {
  HEADROOM_TRY(AutomaticBackend found, find_backend(options));
  AttentionChoice choice;
  choice.backend = attention_backend_name(found.backend);
  choice.reason = std::move(found.reason);
  choice.device = options.device;
  const bool doubles = found.backend == AttentionBackend::Reference || options.dtype == ComputeDtype::Float64;
  choice.dtype = dtype_name(doubles ? ComputeDtype::Float64 : ComputeDtype::Float32);
  choice.kernel_target = kernel_target(found.backend, options.device == "cpu");
  return choice;
}

std::vector<BackendState> list_attention_backends(const std::string& cuda_note) {
  std::vector<BackendState> states;
  for (const AttentionBackend backend : kBackends) states.push_back({attention_backend_name(backend), ""});
  // The build before the machine, and what is missing there before the driver's own words for it.
  const kernels::KernelStatus status = kernels::cuda_ready();
  const bool built = status.code != StatusCode::Unsupported;
  states.back().unusable = built && !cuda_note.empty() ? cuda_note : status.ok() ? "" : status.text;
  return states;
}

template <typename Input, typename Real>
Result<void> run_attention_backend(AttentionBackend backend, std::span<HeadJob<Input, Real>> jobs, at::Device device,
                                   const StopRequested& stop, const ShareReport& progress) {
  const bool fused = backend == AttentionBackend::Cpu || backend == AttentionBackend::Cuda;
  HEADROOM_CHECK(!fused || std::ranges::none_of(jobs, [](const auto& job) { return job.problem.softpick; }),
                 "the fused kernels have no other normalizer than softmax");
  bool fits = false, complete = false;
  if constexpr (std::is_same_v<Input, double>) {
    if (backend == AttentionBackend::Reference) {
      fits = true;
      complete = run_reference(jobs, stop, progress);
    }
  }
  if constexpr (std::is_same_v<Input, Real>) {
    if (backend == AttentionBackend::Blocked) {
      fits = true;
      complete = blocked_attention<Real>(jobs, stop, device);
    }
  }
  if constexpr (std::is_same_v<Real, float>) {
    if (backend == AttentionBackend::Cpu) {
      fits = true;
      complete = run_cpu<Input>(jobs, stop, progress);
    }
    if (backend == AttentionBackend::Cuda) {
      const kernels::KernelStatus status = run_cuda<Input>(jobs, device, stop);
      if (!status.ok() && status.code != StatusCode::Cancelled) return status_error(status);
      fits = true;
      complete = status.ok();
    }
  }
  HEADROOM_CHECK(fits, "the backend takes another type of numbers");
  if (!complete) return Error(ErrorCode::Cancelled, "cancelled");
  return {};
}

template Result<void> run_attention_backend<float, float>(AttentionBackend, std::span<HeadJob<float, float>>,
                                                          at::Device, const StopRequested&, const ShareReport&);
template Result<void> run_attention_backend<double, double>(AttentionBackend, std::span<HeadJob<double, double>>,
                                                            at::Device, const StopRequested&, const ShareReport&);
template Result<void> run_attention_backend<kernels::BFloat16, float>(AttentionBackend,
                                                                      std::span<HeadJob<kernels::BFloat16, float>>,
                                                                      at::Device, const StopRequested&,
                                                                      const ShareReport&);

}  // namespace headroom
