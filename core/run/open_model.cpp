#include "core/run/open_model.h"

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace headroom {

Result<void> check_complete(const Checkpoint& checkpoint) {
  if (checkpoint.missing_tensors().empty()) return {};
  Error error(ErrorCode::Corrupt, "the checkpoint is incomplete");
  for (const std::string& warning : checkpoint.warnings())
    if (warning.starts_with("the shard ")) error.message += ": " + warning;
  error.in_file(checkpoint.path().string()).at_tensor(checkpoint.missing_tensors().front());
  return error.advise("download the missing files again");
}

Result<OpenedModel> open_model(const std::filesystem::path& path, const CheckpointOptions& options) {
  HEADROOM_TRY(std::shared_ptr<const Checkpoint> checkpoint, Checkpoint::open(path, options));
  HEADROOM_TRY_VOID(check_complete(*checkpoint));  // before the family misses the tensors one by one
  HEADROOM_TRY(ModelSource source, ModelSource::create(checkpoint, options.sequence));
  HEADROOM_TRY(ModelSpec spec, describe_model(source));
  return OpenedModel{std::move(checkpoint), std::move(source), std::move(spec)};
}

Result<std::unique_ptr<Tokenizer>> open_tokenizer(const Checkpoint& checkpoint) {
  const std::vector<std::filesystem::path>& folders = checkpoint.folders();
  for (std::size_t i = 0; i + 1 < folders.size(); ++i) {  // an adapter's own, which may have more tokens
    auto tokenizer = Tokenizer::from_folder(folders[i]);
    if (tokenizer || tokenizer.error().code != ErrorCode::NotFound) return tokenizer;
  }
  if (checkpoint.format() == ContainerFormat::Gguf) return Tokenizer::from_gguf(checkpoint.metadata());
  return Tokenizer::from_folder(folders.back());
}

}  // namespace headroom
