#include "core/base/process_threads.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <thread>

#include "core/base/control_groups.h"
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
  each_control_group(root, "cpu", [&](const std::filesystem::path& group, int version) {
    const std::optional<double> processors = version == 2 ? share_of_v2(group) : share_of_v1(group);
    if (!processors) return;
    const auto count = static_cast<std::int64_t>(std::max(1.0, std::ceil(std::min(*processors, 1e6))));
    if (count < allowed.count) allowed = {count, "the control group's limit"};
  });
  if (root != "/") return allowed;
  if (const auto given = parse_index(environment_text("SLURM_CPUS_PER_TASK"));
      given && *given > 0 && *given < allowed.count)
    allowed = {*given, "SLURM_CPUS_PER_TASK"};
  return allowed;
}

}  // namespace headroom
