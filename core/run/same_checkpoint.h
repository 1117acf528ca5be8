// Whether a checkpoint is the one that a run file was made from: by the hashes of its files, whatever they are called.
// Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/checkpoint/checkpoint.h"
#include "kernels/attention.h"

namespace headroom {

// What the attribute `checkpoint_sha256` of a run file says of each file, without the names, sorted: a hash, or
// "not computed: N bytes" of files that were too large.
[[nodiscard]] std::vector<std::string> stored_hashes(std::string_view attribute);

// Reads the files, unless there are more or fewer of them; `found` becomes their own attribute, empty where they were
// not read. Cancelled by `stop`.
[[nodiscard]] Result<bool> is_checkpoint_of(std::string_view attribute, const Checkpoint& checkpoint,
                                            std::string& found, const kernels::StopRequested& stop);

// Words of a command line that are paths which exist, as they are or from `folder` on; each once.
[[nodiscard]] std::vector<std::string> paths_in(std::string_view command_line, const std::string& folder);

}  // namespace headroom
