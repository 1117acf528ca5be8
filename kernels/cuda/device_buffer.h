// Memory on the current CUDA device for callers without CUDA's headers. Owner; one thread at a time.
#pragma once

#include <cstddef>

#include "kernels/cuda/attention.h"

namespace headroom::kernels {

class DeviceBuffer {
 public:
  explicit DeviceBuffer(StreamView stream) : stream_(stream) {}
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() { release(); }

  // Replaces what it held. In the stream's order; Unsupported in a build without CUDA.
  KernelStatus allocate(std::size_t size_bytes);
  // All of it; both wait for the stream.
  KernelStatus upload(const void* from);
  KernelStatus download(void* to) const;

  [[nodiscard]] void* data() const { return memory_; }
  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }

 private:
  void release();

  StreamView stream_;
  void* memory_ = nullptr;
  std::size_t size_bytes_ = 0;
};

}  // namespace headroom::kernels
