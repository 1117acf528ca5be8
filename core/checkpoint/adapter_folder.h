// A folder with a PEFT adapter, which changes the weights of another checkpoint: adapter_config.json and
// adapter_model.safetensors or .bin (https://github.com/huggingface/peft). Safe from any thread.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/base/result.h"
#include "core/checkpoint/tensor_info.h"

namespace headroom {

struct AdapterFolder {
  std::filesystem::path config, weights;  // the two files
};

// What an opened checkpoint knows of the adapter over it.
struct Adapter {
  nlohmann::json config;              // adapter_config.json, an object
  std::filesystem::path config_path;  // its file
  std::filesystem::path base;         // the checkpoint whose weights it changes
  std::vector<TensorInfo> tensors;    // by the adapter's own names; files count on behind those of the base
};

// Whether the path is such a folder, or the file with the tensors in one. Corrupt where adapter_config.json stands
// alone.
[[nodiscard]] Result<bool> is_adapter(const std::filesystem::path& path);

// The files of a path that is_adapter.
[[nodiscard]] AdapterFolder adapter_files(const std::filesystem::path& path);

// `given`, or base_model_name_or_path of the config where it leads to something on this disk: from the adapter's
// folder, else from the working folder. NotFound, with how to give it, where neither does.
[[nodiscard]] Result<std::filesystem::path> find_base(const nlohmann::json& config,
                                                      const std::filesystem::path& config_path,
                                                      const std::filesystem::path& given);

}  // namespace headroom
