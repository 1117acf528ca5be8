// How many threads this process may run at a time. Safe from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace headroom {

struct AllowedThreads {
  std::int64_t count = 1;
  std::string limit;  // what says so: "processors", "the control group's limit", "SLURM_CPUS_PER_TASK"
};

// The least of the processors that the process may run on, what the control groups of the process allow (versions 1 and
// 2, every one above it too; a share of a processor counts as one) and SLURM_CPUS_PER_TASK. `root` has proc/ and
// sys/fs/cgroup/; the process itself and its environment are asked only with "/".
[[nodiscard]] AllowedThreads allowed_threads(const std::filesystem::path& root = "/");

}  // namespace headroom
