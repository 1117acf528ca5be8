// Bytes that C++ allocations and tensors take in this test program; blocked_run_test.cpp includes the counting
// operators. Tensors count on the thread that holds a TensorBytes guard.
#pragma once

#include <ATen/Parallel.h>
#include <c10/core/Allocator.h>

#include <cstddef>
#include <cstdint>

#include "tests/support/counted_memory.h"

namespace headroom::test {

// Tensors take their memory past operator new; their allocator reports to this while it is set on the thread.
class TensorBytes final : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, std::int64_t bytes, std::size_t, std::size_t, c10::Device) override {
    counted_memory().count(bytes);
  }
  [[nodiscard]] bool memoryProfilingEnabled() const override { return true; }
};

// LibTorch's number of threads for the life of a scope.
class Threads {
 public:
  explicit Threads(int count) : before_(at::get_num_threads()) { at::set_num_threads(count); }
  ~Threads() { at::set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

}  // namespace headroom::test
