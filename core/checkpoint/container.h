// What a container parser hands to Checkpoint. A plain value; safe from any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/checkpoint/tensor_info.h"

namespace headroom {

struct ContainerContent {
  std::string format_name;
  std::vector<TensorInfo> tensors;  // sorted by name, names unique; TensorInfo::file is 0
  nlohmann::json metadata;
  std::vector<std::string> warnings;
};

}  // namespace headroom
