// What a person should know about a checkpoint that opened: look-alike names, odd dtypes, shards of different
// checkpoints. Sentences with names escaped for the terminal. Safe from any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/base/input_file.h"
#include "core/checkpoint/tensor_info.h"

namespace headroom {

// `tensors` sorted by name.
[[nodiscard]] std::vector<std::string> tensor_warnings(std::span<const TensorInfo> tensors);

// `metadata[i]` is the __metadata__ of file i.
[[nodiscard]] std::vector<std::string> shard_warnings(std::span<const TensorInfo> tensors,
                                                      const std::vector<InputFile>& files,
                                                      std::span<const nlohmann::json> metadata);

}  // namespace headroom
