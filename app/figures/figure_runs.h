// Reads the files that figures are made of. HDF5 is used: one thread at a time.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "app/figures/figure.h"
#include "core/base/result.h"
#include "core/training/stored_history.h"

namespace headroom {

struct FigureHistory {
  StoredHistory curves;
  std::map<std::string, std::string, std::less<>> attributes;  // of those that figures name
};

// A run file without its predictions, or the history of a training (training.h5). Of a file of `headroom ablate`,
// `headroom circuits` and others a run of its heads with what the file says of itself; kinds read its numbers. Errors
// as of read_run(), read_history() and read_ablation().
[[nodiscard]] Result<FigureRun> read_figure_run(const std::filesystem::path& path);

}  // namespace headroom
