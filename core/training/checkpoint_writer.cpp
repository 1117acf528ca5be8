#include "core/training/checkpoint_writer.h"

#include <nlohmann/json.hpp>
#include <system_error>

#include "core/io/atomic_file.h"

namespace headroom {

Result<void> write_text_file(const std::filesystem::path& path, const std::string& text) {
  HEADROOM_TRY(AtomicFile file, AtomicFile::create(path, true, {}));
  HEADROOM_TRY_VOID(write_all(file.descriptor(), std::as_bytes(std::span(text.data(), text.size())), path));
  return file.commit();
}

Result<void> write_checkpoint(const std::filesystem::path& folder, const nlohmann::json& config,
                              const std::map<std::string, std::string>& siblings,
                              std::span<const TensorBytes> tensors) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return Error(ErrorCode::Io, "cannot make the folder: " + failed.message()).in_file(folder.string());
  HEADROOM_TRY_VOID(write_safetensors(folder / "model.safetensors", tensors, {{"format", "pt"}}));
  for (const auto& [name, text] : siblings)
    if (!text.empty()) HEADROOM_TRY_VOID(write_text_file(folder / name, text));
  return write_text_file(folder / "config.json", config.dump(2) + "\n");
}

}  // namespace headroom
