// From a path to a described model and its tokenizer: what every command begins with. Safe from any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/base/result.h"
#include "core/checkpoint/checkpoint.h"
#include "core/model/family.h"
#include "core/text/tokenizer.h"

namespace headroom {

struct OpenedModel {
  std::shared_ptr<const Checkpoint> checkpoint;
  ModelSource source;
  ModelSpec spec;
};

// Reads headers only.
[[nodiscard]] Result<OpenedModel> open_model(const std::filesystem::path& path, const CheckpointOptions& options);

// The checkpoint's own tokenizer; NotFound where it has none.
[[nodiscard]] Result<std::unique_ptr<Tokenizer>> open_tokenizer(const Checkpoint& checkpoint);

}  // namespace headroom
