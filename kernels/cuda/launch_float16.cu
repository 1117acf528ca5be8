#include <cstddef>

#include "kernels/cuda/launch.cuh"

namespace headroom::kernels::cuda {

KernelStatus CudaMachine::launch(Kernel kernel, Grid grid, std::size_t shared, const Arguments<Float16>& arguments) {
  return launch_any(kernel, grid, shared, stream_, arguments);
}

KernelStatus CudaMachine::launch(Grid grid, std::size_t shared, const WindowArguments<Float16>& arguments) {
  return launch_window(grid, shared, stream_, arguments);
}

}  // namespace headroom::kernels::cuda
