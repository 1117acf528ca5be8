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

// Reads headers only. An incomplete checkpoint is refused.
[[nodiscard]] Result<OpenedModel> open_model(const std::filesystem::path& path, const CheckpointOptions& options);

// Corrupt where the index names shards that are not there; says which.
[[nodiscard]] Result<void> check_complete(const Checkpoint& checkpoint);

// The checkpoint's own tokenizer; NotFound where it has none.
[[nodiscard]] Result<std::unique_ptr<Tokenizer>> open_tokenizer(const Checkpoint& checkpoint);

}  // namespace headroom
