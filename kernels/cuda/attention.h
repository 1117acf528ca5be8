// Attention and all its statistics on an NVIDIA GPU (Ampere on), with the interface of the CPU kernels: tensors lie in
// device memory, statistics arrive in host memory. Every program links these names; in a build without CUDA they return
// Unsupported (kernels/no_cuda). Safe from any thread on separate jobs and streams.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kernels/attention.h"
#include "kernels/status.h"

namespace headroom::kernels {

// An IEEE half as it lies in memory.
struct Float16 {
  std::uint16_t bits = 0;
};

// A cudaStream_t that somebody else owns, without CUDA's headers.
class StreamView {
 public:
  explicit StreamView(void* stream) : stream_(stream) {}
  [[nodiscard]] void* get() const { return stream_; }

 private:
  void* stream_;
};

// Ok when this build has CUDA, and a driver and a device of compute capability 8.0 or more are there; else why not.
KernelStatus cuda_ready();

// The name of a device, "NVIDIA H100 80GB HBM3"; empty where there is none.
std::string cuda_device_name(int device);

// What the kernels take at most; more is Unsupported.
inline constexpr std::int64_t kCudaHeadDim = 256, kCudaValueDim = 4096, kCudaPoolBlocks = 8192;

// Fills context and statistics of every job, head_dim 1 … 256 in any step. In device memory: query, key
// and value of the problems, and context. In host memory: λ, hidden and induction keys, and the statistics. The work is
// ordered after what `stream` holds, and the call returns when it is done: it synchronises the stream. `stop` is polled
// between batches of heads; what is done on the host for each head goes through `parallel` where there is one; a
// stopped call returns Cancelled and leaves the remaining outputs undefined. Scratch memory grows with length · heads
// of a batch, never with length². The same bits for every call and every order of jobs. Input: float, BFloat16,
// Float16.
template <typename Input>
KernelStatus cuda_attention(std::span<HeadJob<Input, float>> jobs, StreamView stream, const StopRequested& stop,
                            const ParallelFor& parallel = {});

}  // namespace headroom::kernels
