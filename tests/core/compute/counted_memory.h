// Bytes that C++ allocations and tensors take in this test program; the counting operators are in blocked_run_test.cpp.
// Tensors count on the thread that holds a TensorBytes guard.
#pragma once

#include <ATen/Parallel.h>
#include <c10/core/Allocator.h>

#include <atomic>
#include <cstdint>

namespace headroom::test {

struct CountedMemory {
  std::atomic<std::int64_t> live{0}, peak{0};
  std::atomic<std::int64_t> largest{0};  // of single allocations

  void count(std::int64_t bytes) {
    raise(peak, live += bytes);
    raise(largest, bytes);
  }

 private:
  static void raise(std::atomic<std::int64_t>& maximum, std::int64_t value) {
    std::int64_t before = maximum;
    while (value > before && !maximum.compare_exchange_weak(before, value)) {
    }
  }
};

[[nodiscard]] CountedMemory& counted_memory();

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
