// What Qwen 3 Next and Qwen 3.5 share: gated delta nets in three layers of four, attention with gates in the fourth
// (core/model/ARCHITECTURES.md#qwen3-next). Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/llama_parts.h"
#include "core/model/mixer_spec.h"

namespace headroom {

[[nodiscard]] LlamaDefaults qwen_hybrid_defaults();

// Fills q, k, v, gate, beta and decay of a delta net with these sizes from tensors below BASE.
using DeltaProjections = void (*)(DeltaNetSpec& mixer, const std::string& base, std::int64_t hidden);

// Kinds of layers, norms by 1 + w, gates of attention, delta nets. The MLP stays llama's.
[[nodiscard]] Result<void> use_qwen_hybrid(ConfigReader& config, const LlamaConfig& llama,
                                           const DeltaProjections& project, ModelSpec& model);

// Qwen 3.5's text model, described by all of the config or by an object of it.
[[nodiscard]] Result<ModelSpec> translate_qwen3_5(const ModelSource& source, std::string_view part);

}  // namespace headroom
