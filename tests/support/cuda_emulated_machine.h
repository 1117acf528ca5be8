// A machine of kernels/cuda on the processor: device memory is host memory, launches run block by block in the
// emulator. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "kernels/cuda/machine.h"
#include "kernels/cuda/net_rows.cuh"
#include "kernels/cuda/small_kernels.cuh"
#include "kernels/cuda/window.cuh"
#include "tests/support/cuda_emulator.h"

namespace headroom::test {

class EmulatedMachine : public kernels::cuda::Machine {
 public:
  using Kernel = kernels::cuda::Kernel;
  using Grid = kernels::cuda::Grid;
  using KernelStatus = kernels::KernelStatus;

  bool reversed = false;                  // order of threads in a block, and of blocks
  bool cut_sums = false;                  // as EmulatedBlock's
  std::size_t shared_bytes = 163 * 1024;  // of an A100
  std::size_t largest_memory = 0, memory = 0;
  std::map<Kernel, int> launches;
  int fail_at_call = -1;  // the n-th call that can fail does

  [[nodiscard]] std::size_t shared_limit() const override { return shared_bytes; }

  KernelStatus allocate(std::size_t bytes, void** to) override {
    HEADROOM_KERNEL_TRY(may_fail());
    auto block = std::make_unique<std::byte[]>(bytes);
    std::memset(block.get(), 0xff, bytes);
    *to = block.get();
    blocks_[*to] = {std::move(block), bytes};
    memory += bytes;
    largest_memory = std::max(largest_memory, memory);
    return {};
  }
  void release(void* block) override {
    memory -= blocks_.at(block).bytes;
    blocks_.erase(block);
  }
  KernelStatus allocate_host(std::size_t bytes, void** to) override { return allocate(bytes, to); }
  void release_host(void* block) override { release(block); }
  KernelStatus zero(void* to, std::size_t bytes) override {
    HEADROOM_KERNEL_TRY(may_fail());
    std::memset(to, 0, bytes);
    return {};
  }
  KernelStatus upload(void* to, const void* from, std::size_t bytes) override {
    HEADROOM_KERNEL_TRY(may_fail());
    std::memcpy(to, from, bytes);
    return {};
  }
  KernelStatus download(void* to, const void* from, std::size_t bytes) override { return upload(to, from, bytes); }
  KernelStatus wait() override { return may_fail(); }

  KernelStatus launch(Kernel kernel, Grid grid, std::size_t shared,
                      const kernels::cuda::Arguments<float>& arguments) override {
    return launch_any(kernel, grid, shared, arguments);
  }
  KernelStatus launch(Kernel kernel, Grid grid, std::size_t shared,
                      const kernels::cuda::Arguments<kernels::BFloat16>& arguments) override {
    return launch_any(kernel, grid, shared, arguments);
  }
  KernelStatus launch(Kernel kernel, Grid grid, std::size_t shared,
                      const kernels::cuda::Arguments<kernels::Float16>& arguments) override {
    return launch_any(kernel, grid, shared, arguments);
  }

  KernelStatus launch(Grid grid, std::size_t shared, const kernels::cuda::WindowArguments<float>& arguments) override {
    return launch_window(grid, shared, arguments);
  }
  KernelStatus launch(Grid grid, std::size_t shared,
                      const kernels::cuda::WindowArguments<kernels::BFloat16>& arguments) override {
    return launch_window(grid, shared, arguments);
  }
  KernelStatus launch(Grid grid, std::size_t shared,
                      const kernels::cuda::WindowArguments<kernels::Float16>& arguments) override {
    return launch_window(grid, shared, arguments);
  }

 private:
  struct Block {
    std::unique_ptr<std::byte[]> data;
    std::size_t bytes = 0;
  };

  KernelStatus may_fail() {
    if (calls_++ == fail_at_call) return {kernels::StatusCode::Device, "the emulated device failed", "emulated"};
    return {};
  }

  template <class Input>
  KernelStatus launch_any(Kernel kernel, Grid grid, std::size_t shared,
                          const kernels::cuda::Arguments<Input>& arguments) {
    ++launches[kernel];
    return run_grid(grid, shared, [&](EmulatedDevice& device) { run_thread<Input>(kernel, device, arguments); });
  }

  template <class Input>
  KernelStatus launch_window(Grid grid, std::size_t shared, const kernels::cuda::WindowArguments<Input>& arguments) {
    return run_grid(grid, shared, [&](EmulatedDevice& device) { kernels::cuda::window(device, arguments); });
  }

  KernelStatus run_grid(Grid grid, std::size_t shared, const std::function<void(EmulatedDevice&)>& kernel) {
    HEADROOM_KERNEL_TRY(may_fail());
    if (shared > shared_bytes) return {kernels::StatusCode::Device, "more shared memory than there is", "launch"};
    block_.reversed = reversed;
    block_.cut_sums = cut_sums;
    const int count = grid.x * grid.y * grid.z;
    for (int turn = 0; turn < count; ++turn) {
      const int b = reversed ? count - 1 - turn : turn;
      block_.run(kernels::cuda::kThreads, {b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y}, shared, kernel);
    }
    return {};
  }

  template <class Input>
  static void run_thread(Kernel kernel, EmulatedDevice& device, const kernels::cuda::Arguments<Input>& arguments) {
    switch (kernel) {
      case Kernel::ValueSquares: return kernels::cuda::value_squares(device, arguments);
      case Kernel::FirstPass64: return kernels::cuda::first_pass<Input, 64>(device, arguments);
      case Kernel::FirstPass128: return kernels::cuda::first_pass<Input, 128>(device, arguments);
      case Kernel::SecondPass: return kernels::cuda::second_pass<Input, false>(device, arguments);
      case Kernel::NetSecondPass: return kernels::cuda::second_pass<Input, true>(device, arguments);
      case Kernel::NetRows: return kernels::cuda::net_rows(device, arguments);
      case Kernel::OddContexts: return kernels::cuda::odd_contexts(device, arguments);
      case Kernel::NamedKeys: return kernels::cuda::named_keys(device, arguments);
      case Kernel::FoldPools: return kernels::cuda::fold_pools(device, arguments);
    }
  }

  EmulatedBlock block_;
  std::map<void*, Block> blocks_;
  int calls_ = 0;
};

}  // namespace headroom::test
