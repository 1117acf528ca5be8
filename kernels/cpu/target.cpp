#include "kernels/cpu/target.h"

#include <cstdint>

#include <hwy/highway.h>
#include <hwy/targets.h>

namespace headroom::kernels {
namespace {

// With nothing disabled; a bit each, a better one lower. What was disabled stays so.
std::vector<std::int64_t> all_targets() {
  const std::int64_t allowed = hwy::SupportedTargets();
  hwy::DisableTargets(0);
  std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  hwy::DisableTargets(hwy::SupportedTargets() & ~allowed);
  return targets;
}

}  // namespace

std::vector<std::string> cpu_targets() {
  std::vector<std::string> names;
  for (const std::int64_t target : all_targets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

bool choose_cpu_target(const std::string& name) {
  if (name.empty()) {
    hwy::DisableTargets(0);
    return true;
  }
  for (const std::int64_t target : all_targets())
    if (name == hwy::TargetName(target)) {
      hwy::DisableTargets(target - 1);
      return true;
    }
  return false;
}

}  // namespace headroom::kernels
