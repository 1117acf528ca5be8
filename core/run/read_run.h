// A run file for those who do not need all of it. HDF5: one thread at a time.
#pragma once

#include <filesystem>
#include <memory>

#include "core/base/result.h"
#include "core/run/run_snapshot.h"

namespace headroom {

// As read_run(), but without its predictions of next tokens, which of a long text take as long as all else.
// The caller may add to it what else it knows of the file.
[[nodiscard]] Result<std::shared_ptr<RunSnapshot>> read_run_without_predictions(const std::filesystem::path& path);

}  // namespace headroom
