#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "kernels/cuda/cuda_machine.cuh"

#include <cuda_runtime.h>

#include "kernels/cuda/check.cuh"

namespace headroom::kernels::cuda {
namespace {

constexpr int kLeastMajor = 8;

KernelStatus attribute(cudaDeviceAttr which, int& value) {
  int device = 0;
  HEADROOM_KERNEL_TRY(HEADROOM_CUDA_STATUS(cudaGetDevice(&device)));
  return HEADROOM_CUDA_STATUS(cudaDeviceGetAttribute(&value, which, device));
}

// Page-locked memory, which a device writes several times as fast as other memory and which is slow to make: what was
// used is kept for the next call. Safe from any thread.
class HostMemory {
 public:
  KernelStatus take(std::size_t bytes, void** memory) {
    {
      const std::lock_guard lock(mutex_);
      const auto fits = [&](const Block& block) { return block.bytes >= bytes && block.bytes / 4 <= bytes; };
      const auto found = std::find_if(free_.begin(), free_.end(), fits);
      if (found != free_.end()) {
        *memory = found->memory;
        used_.push_back(*found);
        free_.erase(found);
        return {};
      }
    }
    const std::size_t whole = (bytes + kStep - 1) / kStep * kStep;
    HEADROOM_KERNEL_TRY(HEADROOM_CUDA_STATUS(cudaHostAlloc(memory, whole, cudaHostAllocPortable)));
    const std::lock_guard lock(mutex_);
    used_.push_back({*memory, whole});
    return {};
  }

  void give_back(void* memory) {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::find_if(used_.begin(), used_.end(), [&](const Block& block) { return block.memory == memory; });
    free_.push_back(*found);
    used_.erase(found);
    std::size_t kept = 0;
    for (const Block& block : free_) kept += block.bytes;
    // The oldest go first.
    for (; kept > kKept; free_.erase(free_.begin())) {
      kept -= free_.front().bytes;
      (void)HEADROOM_CUDA_STATUS(cudaFreeHost(free_.front().memory));
    }
  }

 private:
  struct Block {
    void* memory;
    std::size_t bytes;
  };
  static constexpr std::size_t kStep = 1 << 20, kKept = 256u << 20;

  std::mutex mutex_;
  std::vector<Block> free_, used_;
};

// Not destroyed: at the program's end the driver may be gone, and its memory with it.
HostMemory& host_memory() {
  static HostMemory& memory = *new HostMemory;
  return memory;
}

// Else a pool gives all of its memory back whenever the stream is waited for, and the next call maps it anew.
KernelStatus keep_memory() {
  constexpr std::uint64_t kKept = 256u << 20;
  int device = 0;
  cudaMemPool_t pool = nullptr;
  HEADROOM_KERNEL_TRY(HEADROOM_CUDA_STATUS(cudaGetDevice(&device)));
  HEADROOM_KERNEL_TRY(HEADROOM_CUDA_STATUS(cudaDeviceGetDefaultMemPool(&pool, device)));
  std::uint64_t kept = 0;
  HEADROOM_KERNEL_TRY(HEADROOM_CUDA_STATUS(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept)));
  if (kept >= kKept) return {};  // somebody else keeps more
  kept = kKept;
  return HEADROOM_CUDA_STATUS(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
}

}  // namespace

KernelStatus device_ready() {
  int devices = 0, major = 0, pools = 0;
  HEADROOM_KERNEL_TRY(HEADROOM_CUDA_STATUS(cudaGetDeviceCount(&devices)));
  if (devices == 0) return {StatusCode::Device, "there is no CUDA device", "cudaGetDeviceCount"};
  HEADROOM_KERNEL_TRY(attribute(cudaDevAttrComputeCapabilityMajor, major));
  if (major < kLeastMajor)
    return {StatusCode::Unsupported, "the CUDA kernels need a device of compute capability 8.0 (Ampere) or more"};
  HEADROOM_KERNEL_TRY(attribute(cudaDevAttrMemoryPoolsSupported, pools));
  if (pools == 0) return {StatusCode::Unsupported, "the CUDA device has no stream-ordered memory"};
  return {};
}

CudaMachine::CudaMachine(StreamView stream) : stream_(static_cast<cudaStream_t>(stream.get())) {
  int bytes = 0;
  status_ = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, bytes);
  shared_limit_ = static_cast<std::size_t>(bytes);
  if (status_.ok()) status_ = keep_memory();
}

KernelStatus CudaMachine::allocate(std::size_t bytes, void** memory) {
  return HEADROOM_CUDA_STATUS(cudaMallocAsync(memory, bytes, stream_));
}

// In the stream's order, behind what uses it. At the program's end the driver may be gone; so is the memory then.
void CudaMachine::release(void* memory) { (void)HEADROOM_CUDA_STATUS(cudaFreeAsync(memory, stream_)); }

KernelStatus CudaMachine::allocate_host(std::size_t bytes, void** memory) { return host_memory().take(bytes, memory); }

void CudaMachine::release_host(void* memory) { host_memory().give_back(memory); }

KernelStatus CudaMachine::zero(void* memory, std::size_t bytes) {
  return HEADROOM_CUDA_STATUS(cudaMemsetAsync(memory, 0, bytes, stream_));
}

// Pageable host memory is staged before the call returns.
KernelStatus CudaMachine::upload(void* to, const void* from, std::size_t bytes) {
  return HEADROOM_CUDA_STATUS(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_));
}

KernelStatus CudaMachine::download(void* to, const void* from, std::size_t bytes) {
  HEADROOM_KERNEL_TRY(HEADROOM_CUDA_STATUS(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_)));
  return wait();
}

KernelStatus CudaMachine::wait() { return HEADROOM_CUDA_STATUS(cudaStreamSynchronize(stream_)); }

}  // namespace headroom::kernels::cuda
