#include "core/base/control_groups.h"

#include <cstddef>
#include <fstream>

namespace headroom {

void each_control_group(const std::filesystem::path& root, const std::string& controller,
                        const std::function<void(const std::filesystem::path& folder, int version)>& of_group) {
  const std::filesystem::path groups = root / "sys/fs/cgroup";
  const auto upwards = [&](const std::filesystem::path& mount, std::filesystem::path path, int version) {
    path = path.relative_path();
    for (;;) {
      of_group(mount / path, version);
      if (path.empty()) return;
      path = path.parent_path();
    }
  };
  std::ifstream own(root / "proc/self/cgroup");
  for (std::string line; std::getline(own, line);) {  // "4:cpu,cpuacct:/path", "0::/path" of version 2
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    if (controllers.empty()) upwards(groups, path, 2);
    if (("," + controllers + ",").find("," + controller + ",") != std::string::npos)
      upwards(groups / controller, path, 1);
  }
}

}  // namespace headroom
