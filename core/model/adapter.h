// A PEFT adapter over the tensors of its base: W + scale · B A where there are two factors of low rank, the adapter's
// own tensor where it saved a whole one (core/model/ARCHITECTURES.md#adapters). Pure functions; safe from any thread.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/checkpoint/adapter_folder.h"
#include "core/model/model_source.h"

namespace headroom {

// Hangs the adapter's tensors on those of the base. Unsupported for other methods than LoRA (DoRA, …), with how to save
// the merged model instead; Corrupt for factors that do not fit each other, tensors whose module the base does not
// have, and ranks that disagree with the config.
[[nodiscard]] Result<void> apply_adapter(const Adapter& adapter, SourceTensors& tensors, const ContainerNotes& notes);

// Every tensor that the adapter changes is one that the model reads, and the factors have its shape. Corrupt with the
// first ones; Unsupported where it changes one that has two roles.
[[nodiscard]] Result<void> check_adapter(const SourceTensors& tensors, const ModelSpec& model);

// Whether the key of a rank_pattern or alpha_pattern means the module, as `re.match` of "(.*\.)?(KEY)$" says it.
// Unsupported for a key with other parts than letters, `.`, `\.`, `\d`, `*`, `+`, `^` and `$`.
[[nodiscard]] Result<bool> pattern_means(const std::string& key, const std::string& module);

}  // namespace headroom
