// The attention backends by name: which of them can do what is asked, which one `auto` means, and the one way by which
// the heads of a layer reach it. Never another backend than the one named. Compute thread only.
//   reference  scalar double, dense rows, whatever the dtype; for short prompts
//   blocked    LibTorch's operations in strips; float32 and float64, every device
//   cpu        fused kernels of the processor; float32 and bfloat16, softmax with or without a sink
//   cuda       fused kernels of an NVIDIA GPU; the same
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/compute/parallel.h"
#include "core/run/compute.h"
#include "kernels/attention.h"
#include "kernels/status.h"

namespace headroom {

// Dense rows cost n² scalar steps a channel: a head of this length takes minutes.
inline constexpr std::int64_t kReferenceLength = 4096;

[[nodiscard]] const char* attention_backend_name(AttentionBackend backend);

// What a CUDA kernel says, as an error that names the backend.
[[nodiscard]] Error status_error(const kernels::KernelStatus& status);

// What --backend auto means: the fused kernels of the device where they can do what the options ask, else blocked.
// `cuda`: what kernels::cuda_ready() says.
struct AutomaticBackend {
  AttentionBackend backend = AttentionBackend::Blocked;
  std::string reason;
};
[[nodiscard]] AutomaticBackend automatic_backend(const ForwardOptions& options, const kernels::KernelStatus& cuda);

// InvalidArgument for a name that is none and for a backend that cannot do what the other options ask; Device and
// Unsupported with the reason where this machine or this build lacks it.
[[nodiscard]] Result<AttentionBackend> find_attention_backend(const ForwardOptions& options);

// The same, with what a run file says of it.
[[nodiscard]] Result<AttentionChoice> choose_attention(const ForwardOptions& options);

// Every backend, with the reason where it cannot be used here; `cuda_note` is why there is no CUDA device.
[[nodiscard]] std::vector<BackendState> list_attention_backends(const std::string& cuda_note);

// Runs all jobs. Queries, keys, values and contexts are memory of `device`. reference takes double, blocked the same
// type as Input and Real, cpu and cuda Real float. Cancelled when `stop` asked to end early. `progress` hears of parts
// of the work from cpu and reference; the others report nothing.
template <typename Input, typename Real>
[[nodiscard]] Result<void> run_attention_backend(AttentionBackend backend,
                                                 std::span<kernels::HeadJob<Input, Real>> jobs, at::Device device,
                                                 const kernels::StopRequested& stop, const ShareReport& progress = {});

}  // namespace headroom
