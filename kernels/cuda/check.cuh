// A CUDA error as a KernelStatus that names the call, with the runtime's last error cleared, so that a later check does
// not find it again. Safe from any thread.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/status.h"

namespace headroom::kernels::cuda {

[[nodiscard]] inline KernelStatus status_of(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return {};
  (void)cudaGetLastError();
  const StatusCode code = error == cudaErrorMemoryAllocation ? StatusCode::OutOfMemory : StatusCode::Device;
  return {code, cudaGetErrorString(error), call};
}

}  // namespace headroom::kernels::cuda

#define HEADROOM_CUDA_STATUS(call) ::headroom::kernels::cuda::status_of((call), #call)
