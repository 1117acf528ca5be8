// From text or token ids to the prompt of a run. Safe from any thread as far as the tokenizer is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/run/analysis.h"
#include "core/text/tokenizer.h"

namespace headroom {

struct PromptOptions {
  BosMode bos = BosMode::Auto;  // of text; ids are never altered
  std::int64_t max_tokens = 0;  // keep the first tokens only; 0: all
  // Of an encoder-decoder, whose encoder reads the prompt: what the decoder shall predict, as text, or the ids that it
  // reads, as prompt_ids.h reads them. Neither: it shall predict the prompt.
  std::optional<std::string> target_text, target_ids;
};

// Of an encoder-decoder both sequences (core/run/two_sequences.h). InvalidArgument for a target of another model;
// NotFound for a target of text where there is no tokenizer.
[[nodiscard]] Result<Prompt> prompt_of_text(std::string text, const Tokenizer& tokenizer, const ModelSpec& model,
                                            const PromptOptions& options);

// `source` as prompt_ids.h reads it; texts stay empty without a tokenizer.
[[nodiscard]] Result<Prompt> prompt_of_ids(std::string source, const Tokenizer* tokenizer, const ModelSpec& model,
                                           const PromptOptions& options);

}  // namespace headroom
