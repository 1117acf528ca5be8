// What a checkpoint is called where its path is too long.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace headroom {

// Whether files of many models have this name, so that only its folder says which one it is: "model.safetensors",
// "pytorch_model-00001-of-00002.bin", "consolidated.00.pth". The ending does not matter. Safe from any thread.
[[nodiscard]] bool is_usual_name(std::string_view file_name);

// The file's or folder's own name, also of "." and "model/"; a file of a usual name with its folder's in front:
// "Qwen3-0.6B/model.safetensors". Looks whether the path is a folder. Safe from any thread.
[[nodiscard]] std::string checkpoint_name(const std::filesystem::path& path);

}  // namespace headroom
