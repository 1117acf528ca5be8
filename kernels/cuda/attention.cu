// The kernels on a device: launches, memory and copies on the caller's stream.
#include "kernels/cuda/attention.h"

#include <cuda_runtime.h>

#include "kernels/cuda/cuda_machine.cuh"
#include "kernels/cuda/heads.h"
#include "kernels/cuda/window.h"
#include "kernels/cuda/window_run.h"

namespace headroom::kernels {

KernelStatus cuda_ready() { return cuda::device_ready(); }

std::string cuda_device_name(int device) {
  cudaDeviceProp properties{};
  return cudaGetDeviceProperties(&properties, device) == cudaSuccess ? properties.name : "";
}

template <typename Input>
KernelStatus cuda_attention(std::span<HeadJob<Input, float>> jobs, StreamView stream, const StopRequested& stop,
                            const ParallelFor& parallel) {
  HEADROOM_KERNEL_TRY(cuda::device_ready());
  cuda::CudaMachine machine(stream);
  HEADROOM_KERNEL_TRY(machine.status());
  return cuda::run_heads(machine, jobs, stop, parallel);
}

template <typename Input>
KernelStatus cuda_window(const HeadProblem<Input>& problem, const WindowLse& lse, const WindowRequest& request,
                         const WindowCells& cells, StreamView stream, const StopRequested& stop) {
  HEADROOM_KERNEL_TRY(cuda::device_ready());
  cuda::CudaMachine machine(stream);
  HEADROOM_KERNEL_TRY(machine.status());
  return cuda::run_window(machine, problem, lse, request, cells, stop);
}

template KernelStatus cuda_attention(std::span<HeadJob<float, float>>, StreamView, const StopRequested&,
                                     const ParallelFor&);
template KernelStatus cuda_attention(std::span<HeadJob<BFloat16, float>>, StreamView, const StopRequested&,
                                     const ParallelFor&);
template KernelStatus cuda_attention(std::span<HeadJob<Float16, float>>, StreamView, const StopRequested&,
                                     const ParallelFor&);
template KernelStatus cuda_window(const HeadProblem<float>&, const WindowLse&, const WindowRequest&, const WindowCells&,
                                  StreamView, const StopRequested&);
template KernelStatus cuda_window(const HeadProblem<BFloat16>&, const WindowLse&, const WindowRequest&,
                                  const WindowCells&, StreamView, const StopRequested&);
template KernelStatus cuda_window(const HeadProblem<Float16>&, const WindowLse&, const WindowRequest&,
                                  const WindowCells&, StreamView, const StopRequested&);

}  // namespace headroom::kernels
