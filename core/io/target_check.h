// Whether a path may be written: said before any work begins. Safe from any thread.
#pragma once

#include <filesystem>
#include <span>

#include "core/base/result.h"

namespace headroom {

// The path to write, with a symbolic link to an existing file resolved. The conditions of AtomicFile::create().
[[nodiscard]] Result<std::filesystem::path> check_target(const std::filesystem::path& target, bool force,
                                                         std::span<const std::filesystem::path> inputs);

// Io where something other than a regular file has the name. Nothing there is fine.
[[nodiscard]] Result<void> check_regular_or_absent(const std::filesystem::path& path);

}  // namespace headroom
