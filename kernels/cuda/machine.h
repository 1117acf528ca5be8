// What the CUDA kernels' host side needs of a machine: memory, copies and launches on one stream. The real one is in
// attention.cu; the tests have one that runs the same kernels on the processor. One call at a time.
#pragma once

#include <cstddef>

#include "kernels/cuda/attention.h"
#include "kernels/cuda/problem.cuh"

namespace headroom::kernels::cuda {

template <class Input>
struct WindowArguments;

enum class Kernel {
  ValueSquares,
  FirstPass64,  // chunks of 64 value channels
  FirstPass128,
  SecondPass,
  NetSecondPass,
  NetRows,
  OddContexts,
  NamedKeys,
  FoldPools,
};

struct Grid {
  int x = 1, y = 1, z = 1;  // blocks of kThreads
};

class Machine {
 public:
  Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  virtual ~Machine() = default;

  [[nodiscard]] virtual std::size_t shared_limit() const = 0;  // bytes that one block can have
  virtual KernelStatus allocate(std::size_t bytes, void** memory) = 0;
  virtual void release(void* memory) = 0;  // once the stream is past what uses it
  // On the host, for what comes back; whatever lies in it.
  virtual KernelStatus allocate_host(std::size_t bytes, void** memory) = 0;
  virtual void release_host(void* memory) = 0;
  virtual KernelStatus zero(void* memory, std::size_t bytes) = 0;
  virtual KernelStatus upload(void* to, const void* from, std::size_t bytes) = 0;    // `from` may change on return
  virtual KernelStatus download(void* to, const void* from, std::size_t bytes) = 0;  // waits for the stream
  virtual KernelStatus wait() = 0;

  virtual KernelStatus launch(Kernel kernel, Grid grid, std::size_t shared, const Arguments<float>& arguments) = 0;
  virtual KernelStatus launch(Kernel kernel, Grid grid, std::size_t shared, const Arguments<BFloat16>& arguments) = 0;
  virtual KernelStatus launch(Kernel kernel, Grid grid, std::size_t shared, const Arguments<Float16>& arguments) = 0;

  virtual KernelStatus launch(Grid grid, std::size_t shared, const WindowArguments<float>& arguments) = 0;
  virtual KernelStatus launch(Grid grid, std::size_t shared, const WindowArguments<BFloat16>& arguments) = 0;
  virtual KernelStatus launch(Grid grid, std::size_t shared, const WindowArguments<Float16>& arguments) = 0;
};

// Returns the status of an expression from this function unless it is Ok.
#define HEADROOM_KERNEL_TRY(expression)                                     \
  do {                                                                      \
    const ::headroom::kernels::KernelStatus headroom_status = (expression); \
    if (!headroom_status.ok()) return headroom_status;                      \
  } while (false)

}  // namespace headroom::kernels::cuda
