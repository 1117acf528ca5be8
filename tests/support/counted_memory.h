// Allocations of C++ and the bytes that they take in a test program whose operators count them (counted_new.h). Safe
// from any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace headroom::test {

struct CountedMemory {
  std::atomic<std::int64_t> live{0}, peak{0};
  std::atomic<std::int64_t> largest{0};  // of single allocations
  std::atomic<std::int64_t> allocations{0};

  void count(std::int64_t bytes) {
    ++allocations;
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

}  // namespace headroom::test
