// The control groups that this process is in, of versions 1 and 2. Safe from any thread.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace headroom {

// Calls `of_group(folder, version)` for each group that `controller` ("cpu", "memory") limits this process by, and for
// every group above it. Inside a container the path may be that of the host: then the mounted root counts. `root` has
// proc/ and sys/fs/cgroup/.
void each_control_group(const std::filesystem::path& root, const std::string& controller,
                        const std::function<void(const std::filesystem::path& folder, int version)>& of_group);

}  // namespace headroom
