#include "core/base/process_memory.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>

#include "core/base/control_groups.h"
#include "core/base/environment.h"
#include "core/base/parse_number.h"

namespace headroom {
namespace {

constexpr double kUnknownBytes = 8e9;  // a system that does not say
constexpr double kNoLimit = 1e18;      // what version 1 says where there is none

// In freed blocks of the heap, resident or not: they have addresses.
double freed_bytes() {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  return static_cast<double>(mallinfo2().fordblks);
#else
  return 0.0;
#endif
}

// In blocks that are not free.
double used_bytes() {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  const auto info = mallinfo2();
  return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
#else
  return 0.0;
#endif
}

std::optional<double> first_number(const std::filesystem::path& path) {
  std::ifstream file(path);
  double value = 0.0;
  if (file >> value) return value;
  return {};  // "max", or no such file
}

// The number after a name at the beginning of a line: "inactive_file 4096", "MemAvailable:   1234 kB".
std::optional<double> named_number(const std::filesystem::path& path, const std::string& wanted) {
  std::ifstream file(path);
  std::string name, rest;
  double value = 0.0;
  while (file >> name) {
    if (name == wanted && file >> value) return value;
    file.clear();
    std::getline(file, rest);
  }
  return {};
}

// What a group leaves: pages of files that nobody has used lately are given up before the limit counts.
std::optional<double> left_in(const std::filesystem::path& group, const char* limit_name, const char* usage_name,
                              const char* cache_name) {
  const auto limit = first_number(group / limit_name), used = first_number(group / usage_name);
  if (!limit || !used || *limit >= kNoLimit) return {};
  const double cache = named_number(group / "memory.stat", cache_name).value_or(0.0);
  return std::max(0.0, *limit - std::max(0.0, *used - cache));
}

// Of a job on this node, in MiB; 0 is all of it.
std::optional<double> slurm_memory() {
  constexpr double kMiB = 1048576.0;
  if (const auto node = parse_index(environment_text("SLURM_MEM_PER_NODE")); node && *node > 0)
    return static_cast<double>(*node) * kMiB;
  const auto each = parse_index(environment_text("SLURM_MEM_PER_CPU"));
  const auto processors = parse_index(environment_text("SLURM_CPUS_PER_TASK"));
  if (!each || *each == 0) return {};
  return static_cast<double>(*each) * static_cast<double>(std::max<std::int64_t>(1, processors.value_or(1))) * kMiB;
}

}  // namespace

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0.0, resident = 0.0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

SpareHeap::SpareHeap() : resident_(headroom::resident_bytes()), used_(used_bytes()) {}

double SpareHeap::resident_bytes() const { return (headroom::resident_bytes() - resident_) - (used_bytes() - used_); }

void SpareHeap::release_beyond(std::size_t keep_bytes) const {
  if (resident_bytes() > static_cast<double>(keep_bytes)) release_spare_heap();
}

void release_spare_heap() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

FreeMemory free_memory(const std::filesystem::path& root) {
  FreeMemory free{kUnknownBytes, "free memory"};
  if (const auto kilobytes = named_number(root / "proc/meminfo", "MemAvailable:")) free.bytes = *kilobytes * 1024.0;
  each_control_group(root, "memory", [&](const std::filesystem::path& group, int version) {
    const auto left = version == 2
                          ? left_in(group, "memory.max", "memory.current", "inactive_file")
                          : left_in(group, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file");
    if (left && *left < free.bytes) free = {*left, "the control group's limit"};
  });
  if (root != "/") return free;
  if (const auto given = slurm_memory()) {
    const double left = std::max(0.0, *given - resident_bytes());
    if (left < free.bytes) free = {left, "the memory that Slurm gives"};
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    const double used = first_number("/proc/self/statm").value_or(0.0) * static_cast<double>(sysconf(_SC_PAGESIZE));
    if (const double left = std::max(0.0, static_cast<double>(limit.rlim_cur) - used) + freed_bytes();
        left < free.bytes)
      free = {left, "ulimit -v"};
  }
  return free;
}

}  // namespace headroom
