// What the machine, control groups and ulimit leave, from made-up trees of /proc and /sys.
#include "core/base/process_memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

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
