// The memory of this process: how much it may still take, and giving back what it holds without need. Safe from any
// thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace headroom {

// Blocks that were freed and not given back to the system, since this was made. New ones are taken from there first,
// but large ones seldom fit between others that stay.
class SpareHeap {
 public:
  SpareHeap();
  [[nodiscard]] double resident_bytes() const;        // an estimate: what the process grew by without being in use
  void release_beyond(std::size_t keep_bytes) const;  // gives all of it back where there is more

 private:
  double resident_ = 0.0, used_ = 0.0;
};
// Gives back what is spare, whatever it is.
void release_spare_heap();

[[nodiscard]] double resident_bytes();  // of this process

struct FreeMemory {
  double bytes = 0.0;  // that this process may take beyond what it has
  std::string limit;   // what says so: "free memory", "the control group's limit", "ulimit -v", …
};

// The least of what the machine has, what the control groups of the process leave (versions 1 and 2, every one above it
// too), what Slurm gives (SLURM_MEM_PER_NODE, or SLURM_MEM_PER_CPU times SLURM_CPUS_PER_TASK) and what ulimit -v
// leaves. `root` has proc/ and sys/fs/cgroup/; Slurm and the limits of the process itself are asked only with "/".
[[nodiscard]] FreeMemory free_memory(const std::filesystem::path& root = "/");

}  // namespace headroom
