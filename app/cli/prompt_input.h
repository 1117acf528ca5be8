// The prompt of a run from the command line: text, a text file, token ids or a file of them. Main thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/run/analysis.h"
#include "core/text/tokenizer.h"

namespace headroom {

struct PromptArguments {
  std::optional<std::string> text, text_file, ids, ids_file;  // exactly one, or sequence; "-" reads stdin
  std::optional<std::string> sequence;                        // of a corpus or a plan: all.h5::S17
  std::string bos = "auto";                                   // auto, always, never
  std::int64_t max_tokens = 0;                                // keep the first tokens only; 0: all
  std::optional<std::string> target_text, target_ids;         // of an encoder-decoder; at most one
};

// The content of a file, or of standard input where `path` is "-"; at most 64 MiB.
[[nodiscard]] Result<std::string> read_prompt_source(const std::string& path);
// auto, always or never.
[[nodiscard]] BosMode bos_mode_named(std::string_view name);

// Ids are never altered by `bos`. Texts of ids come from the tokenizer where the checkpoint has one. A tokenizer that
// cannot be used is an error for text and a note for ids.
struct TokenizerUse {
  std::shared_ptr<const Tokenizer> tokenizer;  // null where the checkpoint has none that can be used
  std::string note;                            // which one it is, or why there is none
};
[[nodiscard]] Result<Prompt> read_prompt(const PromptArguments& arguments, const OpenedModel& model, TokenizerUse& use);

}  // namespace headroom
