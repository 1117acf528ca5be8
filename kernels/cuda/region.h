// A piece of device memory handed out in parts, with an image of it on the host: of what goes up, zeroed, or of what
// comes down. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/cuda/machine.h"

namespace headroom::kernels::cuda {

// A part of a Region; none: a null pointer.
using Part = std::optional<std::size_t>;

enum class Image { None, Up, Down };

class Region {
 public:
  explicit Region(Machine& machine) : machine_(machine) {}
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region() {
    if (memory_ != nullptr) machine_.release(memory_);
    if (down_ != nullptr) machine_.release_host(down_);
  }

  // Before allocate().
  template <class T>
  [[nodiscard]] Part reserve(std::int64_t count) {
    const std::size_t offset = size_;
    size_ += (static_cast<std::size_t>(count) * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    return offset;
  }

  // All parts, zeroed.
  KernelStatus allocate(Image image) {
    if (size_ == 0) return {};
    HEADROOM_KERNEL_TRY(machine_.allocate(size_, &memory_));
    HEADROOM_KERNEL_TRY(machine_.zero(memory_, size_));
    if (image == Image::Up) up_.assign(size_, std::byte{0});
    if (image == Image::Down) HEADROOM_KERNEL_TRY(machine_.allocate_host(size_, &down_));
    return {};
  }

  template <class T>
  [[nodiscard]] T* device(const Part& part) const {
    return part && memory_ != nullptr ? reinterpret_cast<T*>(static_cast<std::byte*>(memory_) + *part) : nullptr;
  }
  template <class T>
  [[nodiscard]] T* host(const Part& part) {
    std::byte* const image = down_ != nullptr ? static_cast<std::byte*>(down_) : up_.data();
    return part ? reinterpret_cast<T*>(image + *part) : nullptr;
  }

  KernelStatus upload() { return size_ == 0 ? KernelStatus{} : machine_.upload(memory_, up_.data(), size_); }
  KernelStatus download() { return size_ == 0 ? KernelStatus{} : machine_.download(down_, memory_, size_); }

 private:
  static constexpr std::size_t kAlignment = 256;

  Machine& machine_;
  std::size_t size_ = 0;
  void* memory_ = nullptr;
  std::vector<std::byte> up_;
  void* down_ = nullptr;
};

}  // namespace headroom::kernels::cuda
