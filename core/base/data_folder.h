// Where the program's own data lie: shaders, demos, prompts, recipes. Safe from any thread.
#pragma once

#include <filesystem>

namespace headroom {

// The first folder called `name` that holds `inside`, beside the program or in a folder above it (a build in its
// clone), or in share/headroom there (an installed program). Empty: there is none.
[[nodiscard]] std::filesystem::path find_data_folder(const std::filesystem::path& name,
                                                     const std::filesystem::path& inside);

}  // namespace headroom
