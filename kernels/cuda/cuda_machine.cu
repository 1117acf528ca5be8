#include <cstddef>
#include <cstdint>

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

// Else a pool gives all of its memory back whenever the stream is waited for, and the next call maps it anew.
KernelStatus keep_memory() {
  constexpr std::uint64_t kKept = 256u << 20;
  int device = 0;
  cudaMemPool_t pool = nullptr;
  HEADROOM_KERNEL_TRY(HEADROOM_CUDA_STATUS(cudaGetDevice(&device)));
  HEADROOM_KERNEL_TRY(HEADROOM_CUDA_STATUS(cudaDeviceGetDefaultMemPool(&pool, device)));
  std::uint64_t kept = kKept;
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
