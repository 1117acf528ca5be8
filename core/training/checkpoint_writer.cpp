#include "core/training/checkpoint_writer.h"

#include <system_error>

#include "core/io/atomic_file.h"

namespace headroom {

Result<void> write_text_file(const std::filesystem::path& path, const std::string& text) {
  HEADROOM_TRY(AtomicFile file, AtomicFile::create(path, true, {}));
  HEADROOM_TRY_VOID(write_all(file.descriptor(), std::as_bytes(std::span(text.data(), text.size())), path));
  return file.commit();
}

Result<void> write_checkpoint(const std::filesystem::path& folder, const nlohmann::json& config,
                              const std::string& tokenizer_json, std::span<const TensorBytes> tensors) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return Error(ErrorCode::Io, "cannot make the folder: " + failed.message()).in_file(folder.string());
  HEADROOM_TRY_VOID(write_safetensors(folder / "model.safetensors", tensors, {{"format", "pt"}}));
  if (!tokenizer_json.empty()) HEADROOM_TRY_VOID(write_text_file(folder / "tokenizer.json", tokenizer_json));
  return write_text_file(folder / "config.json", config.dump(2) + "\n");
}

}  // namespace headroom
