// The demonstrations that the start page shows: checkpoints that came with the program, and what is in them. Reads the
// disk; no state. Safe from any thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/session/state.h"

namespace headroom {

// Those that are there. `assets`: the folder with demo/.
[[nodiscard]] std::vector<DemoEntry> find_demos(const std::filesystem::path& assets);

// "backcopy/diff_v1", … : every checkpoint below this folder, in order; what the command `demo` takes.
[[nodiscard]] std::vector<std::string> demo_names(const std::filesystem::path& demos);

}  // namespace headroom
