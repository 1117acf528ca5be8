#include "core/checkpoint/checkpoint_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <system_error>

namespace headroom {

bool is_usual_name(std::string_view file_name) {
  static constexpr std::array<std::string_view, 10> kUsual = {
      "model",   "pytorch_model", "adapter_model", "consolidated", "diffusion_pytorch_model",
      "weights", "ggml-model",    "checkpoint",    "capture",      "pytorch_model_fsdp"};
  const auto starts = [&](std::string_view usual) {
    // What may follow: a dot, a shard's number, a type of GGUF's ("ggml-model-f16").
    return file_name.starts_with(usual) &&
           (file_name.size() == usual.size() || file_name[usual.size()] == '.' ||
            (file_name.size() > usual.size() + 1 && file_name[usual.size()] == '-' &&
             (std::isdigit(static_cast<unsigned char>(file_name[usual.size() + 1])) || usual == "ggml-model")));
  };
  return std::ranges::any_of(kUsual, starts);
}

std::string checkpoint_name(const std::filesystem::path& path) {
  std::error_code code;
  std::filesystem::path whole = std::filesystem::absolute(path, code).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  const std::string own = whole.filename().string(), folder = whole.parent_path().filename().string();
  const bool alone = folder.empty() || !is_usual_name(own) || std::filesystem::is_directory(whole, code);
  return alone ? own : folder + "/" + own;
}

}  // namespace headroom
