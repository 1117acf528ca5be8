// Writes a checkpoint folder of model_type headroom (core/model/ARCHITECTURES.md#the-headroom-checkpoint-folder):
// config.json, model.safetensors and what lies beside them. Safe from any thread; one thread per folder.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "core/base/result.h"
#include "core/io/safetensors_writer.h"

namespace headroom {

// `siblings`: further files by name, e.g. tokenizer.json; empty ones are left out. Files are replaced one by one, each
// whole; config.json last, so that a folder that has one is complete.
[[nodiscard]] Result<void> write_checkpoint(const std::filesystem::path& folder, const nlohmann::json& config,
                                            const std::map<std::string, std::string>& siblings,
                                            std::span<const TensorBytes> tensors);

// A small file, complete under its name or not at all; an existing one is replaced.
[[nodiscard]] Result<void> write_text_file(const std::filesystem::path& path, const std::string& text);

}  // namespace headroom
