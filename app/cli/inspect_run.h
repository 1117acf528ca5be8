// `headroom inspect` of a run file, or of the history of a training: what is in it and its headline numbers. Main
// thread only.
#pragma once

#include <filesystem>

#include "core/base/result.h"

namespace headroom {

// Prints it. `datasets`: the text lists every dataset; the JSON always does.
[[nodiscard]] Result<void> inspect_run_file(const std::filesystem::path& path, bool datasets, bool json);

}  // namespace headroom
