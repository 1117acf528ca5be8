// GGUF to Hugging Face: metadata to config keys and tensor names to llama-names
// (core/model/ARCHITECTURES.md#gguf).
// Pure functions; safe from any thread.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/result.h"
#include "core/checkpoint/checkpoint.h"
#include "core/model/model_source.h"

namespace headroom {

struct GgufModel {
  nlohmann::json config;
  std::map<std::string, SourceTensor, std::less<>> tensors;
};

// Unsupported where general.architecture has no translator; Corrupt where a needed key is missing.
[[nodiscard]] Result<GgufModel> translate_gguf(const Checkpoint& checkpoint);

}  // namespace headroom
