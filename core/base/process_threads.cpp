#include "core/base/process_threads.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <optional>
#include <thread>

#include "core/base/environment.h"
#include "core/base/parse_number.h"

namespace headroom {
namespace {

// "max 100000" or "150000 100000" of version 2: processor time in a period, both in microseconds.
std::optional<double> share_of_v2(const std::filesystem::path& group) {
  std::ifstream file(group / "cpu.max");
  double quota = 0.0, period = 0.0;
  if (file >> quota >> period && quota > 0.0 && period > 0.0) return quota / period;
  return {};
}

std::optional<double> share_of_v1(const std::filesystem::path& group) {
  std::ifstream of_quota(group / "cpu.cfs_quota_us"), of_period(group / "cpu.cfs_period_us");
  double quota = 0.0, period = 0.0;  // a quota of −1 is none
  if (of_quota >> quota && of_period >> period && quota > 0.0 && period > 0.0) return quota / period;
  return {};
}

// Over a group and all above it. Inside a container the path may be that of the host: then the mounted root counts.
template <typename Share>
void take_least_share(const std::filesystem::path& mount, std::filesystem::path path, const Share& share,
                      AllowedThreads& allowed) {
  path = path.relative_path();
  for (;;) {
    if (const auto processors = share(mount / path)) {
      const auto count = static_cast<std::int64_t>(std::max(1.0, std::ceil(std::min(*processors, 1e6))));
      if (count < allowed.count) allowed = {count, "the control group's limit"};
    }
    if (path.empty()) return;
    path = path.parent_path();
  }
}

std::int64_t usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

AllowedThreads allowed_threads(const std::filesystem::path& root) {
  constexpr std::int64_t kMany = 1 << 20;
  AllowedThreads allowed{root == "/" ? usable_processors() : kMany, "processors"};
  const std::filesystem::path groups = root / "sys/fs/cgroup";
  std::ifstream own(root / "proc/self/cgroup");
  for (std::string line; std::getline(own, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    if (controllers.empty()) take_least_share(groups, path, share_of_v2, allowed);
    if (("," + controllers + ",").find(",cpu,") != std::string::npos)
      take_least_share(groups / "cpu", path, share_of_v1, allowed);
  }
  if (root != "/") return allowed;
  if (const auto given = parse_index(environment_text("SLURM_CPUS_PER_TASK"));
      given && *given > 0 && *given < allowed.count)
    allowed = {*given, "SLURM_CPUS_PER_TASK"};
  return allowed;
}

}  // namespace headroom
