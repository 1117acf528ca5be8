// What opening a checkpoint costs, counted rather than timed: allocations and bytes that are read. What is quadratic in
// a million never ends within the time that a test has.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "tests/support/counted_memory.h"

namespace headroom::test {

struct Work {
  std::int64_t allocations = 0, peak_bytes = 0, largest_bytes = 0;  // beyond what was there
  std::int64_t read_bytes = 0;                                      // from any file; −1 where the system does not count
};

[[nodiscard]] inline std::int64_t bytes_read_so_far() {
  std::ifstream file("/proc/self/io");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("rchar:")) return std::stoll(line.substr(6));
  return -1;
}

template <typename Function>
[[nodiscard]] Work work_of(const Function& function) {
  CountedMemory& memory = counted_memory();
  const std::int64_t read = bytes_read_so_far();
  const std::int64_t allocations = memory.allocations, live = memory.live;
  memory.peak = live;
  memory.largest = 0;
  function();
  Work work{memory.allocations - allocations, memory.peak - live, memory.largest, -1};
  // Asking for it reads a line or two itself.
  if (read >= 0) work.read_bytes = bytes_read_so_far() - read;
  return work;
}

}  // namespace headroom::test
