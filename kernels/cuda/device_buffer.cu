#include "kernels/cuda/device_buffer.h"

#include "kernels/cuda/cuda_machine.cuh"

namespace headroom::kernels {

KernelStatus DeviceBuffer::allocate(std::size_t size_bytes) {
  release();
  HEADROOM_KERNEL_TRY(cuda::CudaMachine(stream_).allocate(size_bytes, &memory_));
  size_bytes_ = size_bytes;
  return {};
}

KernelStatus DeviceBuffer::upload(const void* from) {
  cuda::CudaMachine machine(stream_);
  HEADROOM_KERNEL_TRY(machine.upload(memory_, from, size_bytes_));
  return machine.wait();
}

KernelStatus DeviceBuffer::download(void* to) const {
  return cuda::CudaMachine(stream_).download(to, memory_, size_bytes_);
}

void DeviceBuffer::release() {
  if (memory_ != nullptr) cuda::CudaMachine(stream_).release(memory_);
  memory_ = nullptr;
  size_bytes_ = 0;
}

}  // namespace headroom::kernels
