// The current device, on one stream. One thread.
#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

#include "kernels/cuda/machine.h"

namespace headroom::kernels::cuda {

// Ok, or why the current device cannot be used.
KernelStatus device_ready();

class CudaMachine : public Machine {
 public:
  explicit CudaMachine(StreamView stream);

  KernelStatus status() const { return status_; }  // of the construction

  [[nodiscard]] std::size_t shared_limit() const override { return shared_limit_; }
  KernelStatus allocate(std::size_t bytes, void** memory) override;
  void release(void* memory) override;
  KernelStatus allocate_host(std::size_t bytes, void** memory) override;
  void release_host(void* memory) override;
  KernelStatus zero(void* memory, std::size_t bytes) override;
  KernelStatus upload(void* to, const void* from, std::size_t bytes) override;
  KernelStatus download(void* to, const void* from, std::size_t bytes) override;
  KernelStatus wait() override;

  KernelStatus launch(Kernel kernel, Grid grid, std::size_t shared, const Arguments<float>& arguments) override;
  KernelStatus launch(Kernel kernel, Grid grid, std::size_t shared, const Arguments<BFloat16>& arguments) override;
  KernelStatus launch(Kernel kernel, Grid grid, std::size_t shared, const Arguments<Float16>& arguments) override;
  KernelStatus launch(Grid grid, std::size_t shared, const WindowArguments<float>& arguments) override;
  KernelStatus launch(Grid grid, std::size_t shared, const WindowArguments<BFloat16>& arguments) override;
  KernelStatus launch(Grid grid, std::size_t shared, const WindowArguments<Float16>& arguments) override;

 private:
  cudaStream_t stream_;
  std::size_t shared_limit_ = 0;
  KernelStatus status_;
};

}  // namespace headroom::kernels::cuda
