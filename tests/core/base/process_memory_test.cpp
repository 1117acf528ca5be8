// What the machine, control groups, Slurm and ulimit leave of memory and processors, from made-up trees of /proc and
// /sys.
#include "core/base/process_memory.h"

#include <stdlib.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/process_threads.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

class MadeSystem {
 public:
  MadeSystem() {
    write("proc/meminfo", "MemTotal:       16000000 kB\nMemFree:         100 kB\nMemAvailable:    8000000 kB\n");
  }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path) << text;
  }
  [[nodiscard]] FreeMemory free() const { return free_memory(folder_.path()); }

 private:
  TempFolder folder_;
};

}  // namespace

CATCH_TEST_CASE("free memory: what is available, where no limit is lower") {
  const MadeSystem system;
  CATCH_CHECK(system.free().bytes == 8000000.0 * 1024.0);
  CATCH_CHECK(system.free().limit == "free memory");
  system.write("proc/self/cgroup", "0::/user.slice\n");
  system.write("sys/fs/cgroup/user.slice/memory.max", "max\n");
  system.write("sys/fs/cgroup/user.slice/memory.current", "5000\n");
  CATCH_CHECK(system.free().limit == "free memory");
}

CATCH_TEST_CASE("free memory: the tightest control group counts, without pages of files that can go") {
  const MadeSystem system;
  system.write("proc/self/cgroup", "0::/a/b\n");
  system.write("sys/fs/cgroup/a/b/memory.max", "3000000000\n");
  system.write("sys/fs/cgroup/a/b/memory.current", "1000000000\n");
  system.write("sys/fs/cgroup/a/b/memory.stat", "anon 700000000\ninactive_file 200000000\n");
  CATCH_CHECK(system.free().bytes == 2200000000.0);
  CATCH_CHECK(system.free().limit == "the control group's limit");
  // One above it may be lower.
  system.write("sys/fs/cgroup/a/memory.max", "2000000000\n");
  system.write("sys/fs/cgroup/a/memory.current", "1500000000\n");
  CATCH_CHECK(system.free().bytes == 500000000.0);
  // More in use than the limit: nothing is left, and that is no negative number.
  system.write("sys/fs/cgroup/a/memory.current", "2500000000\n");
  CATCH_CHECK(system.free().bytes == 0.0);
}

CATCH_TEST_CASE("free memory: control groups of version 1, and a container whose path is that of the host") {
  const MadeSystem system;
  system.write("proc/self/cgroup", "4:cpu,cpuacct:/x\n9:memory:/docker/12ab\n");
  system.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1000000000\n");
  system.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "400000000\n");
  system.write("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 100000000\n");
  CATCH_CHECK(system.free().bytes == 700000000.0);
  system.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  CATCH_CHECK(system.free().limit == "free memory");
}

CATCH_TEST_CASE("free memory: what Slurm gives counts") {
  const double resident = resident_bytes();
  CATCH_REQUIRE(resident > 1e6);
  for (const auto& [name, value] : {std::pair{"SLURM_MEM_PER_NODE", "500"}, std::pair{"SLURM_MEM_PER_CPU", "250"}}) {
    setenv("SLURM_CPUS_PER_TASK", "2", 1);
    setenv(name, value, 1);
    const FreeMemory free = free_memory();
    unsetenv(name);
    unsetenv("SLURM_CPUS_PER_TASK");
    CATCH_CHECK(free.limit == "the memory that Slurm gives");
    CATCH_CHECK(std::abs(free.bytes - (500.0 * 1048576.0 - resident)) < 50e6);
  }
  setenv("SLURM_MEM_PER_NODE", "0", 1);
  CATCH_CHECK(free_memory().limit != "the memory that Slurm gives");
  unsetenv("SLURM_MEM_PER_NODE");
}

CATCH_TEST_CASE("threads: processors, control groups of both versions, Slurm") {
  const TempFolder folder;
  const auto write = [&](const std::string& path, const std::string& text) {
    std::filesystem::create_directories((folder.path() / path).parent_path());
    std::ofstream(folder.path() / path) << text;
  };
  const auto allowed = [&] { return allowed_threads(folder.path()); };
  CATCH_CHECK(allowed().limit == "processors");
  write("proc/self/cgroup", "0::/a/b\n");
  write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  CATCH_CHECK(allowed().limit == "processors");
  write("sys/fs/cgroup/a/cpu.max", "350000 100000\n");
  CATCH_CHECK(allowed().count == 4);
  CATCH_CHECK(allowed().limit == "the control group's limit");
  write("sys/fs/cgroup/a/b/cpu.max", "20000 100000\n");
  CATCH_CHECK(allowed().count == 1);
  write("proc/self/cgroup", "4:cpuset:/x\n3:cpu,cpuacct:/job\n");
  write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  CATCH_CHECK(allowed().limit == "processors");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "600000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  CATCH_CHECK(allowed().count == 6);
  const AllowedThreads here = allowed_threads();
  CATCH_CHECK(here.count >= 1);
  setenv("SLURM_CPUS_PER_TASK", "1", 1);
  const AllowedThreads slurm = allowed_threads();
  unsetenv("SLURM_CPUS_PER_TASK");
  CATCH_CHECK(slurm.count == 1);
  if (here.count > 1) CATCH_CHECK(slurm.limit == "SLURM_CPUS_PER_TASK");
}

CATCH_TEST_CASE("free memory: a limit on address space counts") {
  rlimit before{};
  CATCH_REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  rlimit low = before;
  // Above what the program has mapped, below what any machine that builds it has free.
  std::ifstream file("/proc/self/statm");
  double pages = 0.0;
  file >> pages;
  low.rlim_cur = static_cast<rlim_t>(pages * 4096.0) + (rlim_t{64} << 20);
  CATCH_REQUIRE(setrlimit(RLIMIT_AS, &low) == 0);
  const FreeMemory free = free_memory();
  setrlimit(RLIMIT_AS, &before);
  CATCH_CHECK(free.limit == "ulimit -v");
  CATCH_CHECK(free.bytes > 0.0);
  // Freed blocks of the test program itself are not much.
  CATCH_CHECK(free.bytes <= 80.0 * 1048576.0);
}

CATCH_TEST_CASE("spare blocks: what was freed between blocks that stay is seen and given back") {
  const SpareHeap heap;
  // Small enough not to be mapped on their own; every second one stays, so that the top of the heap cannot sink.
  std::vector<std::unique_ptr<char[]>> kept, freed;
  for (int i = 0; i < 2000; ++i)
    for (auto* blocks : {&kept, &freed}) {
      blocks->push_back(std::make_unique<char[]>(32768));
      std::fill_n(blocks->back().get(), 32768, '1');
    }
  freed.clear();
  const double spare = heap.resident_bytes();
  CATCH_CHECK(spare > 0.8 * 2000 * 32768);
  heap.release_beyond(std::size_t{1} << 40);
  CATCH_CHECK(heap.resident_bytes() > 0.8 * spare);
  heap.release_beyond(1 << 20);
  CATCH_CHECK(heap.resident_bytes() < 0.3 * spare);
}

}  // namespace headroom::test
