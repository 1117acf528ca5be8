#include "core/run/make_prompt.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/text/prompt_ids.h"

namespace headroom {
namespace {

void finish_prompt(Prompt& prompt, const ModelSpec& model, std::int64_t max_tokens) {
  if (max_tokens > 0 && static_cast<std::size_t>(max_tokens) < prompt.ids.size()) {
    const auto keep = static_cast<std::size_t>(max_tokens);
    prompt.ids.resize(keep);
    prompt.texts.resize(std::min(prompt.texts.size(), keep));
    prompt.is_special.resize(std::min(prompt.is_special.size(), keep));
  }
  prompt.first_is_bos = !prompt.ids.empty() && model.bos_token_id && prompt.ids.front() == *model.bos_token_id;
}

}  // namespace

Result<Prompt> prompt_of_text(std::string text, const Tokenizer& tokenizer, const ModelSpec& model,
                              const PromptOptions& options) {
  Prompt prompt;
  prompt.source = std::move(text);
  HEADROOM_TRY(Encoding encoding, tokenizer.encode(prompt.source, options.bos));
  prompt.ids = std::move(encoding.ids);
  prompt.texts = std::move(encoding.texts);
  prompt.is_special = std::move(encoding.is_special);
  prompt.bos_added = encoding.bos_added;
  finish_prompt(prompt, model, options.max_tokens);
  return prompt;
}

Result<Prompt> prompt_of_ids(std::string source, const Tokenizer* tokenizer, const ModelSpec& model,
                             const PromptOptions& options) {
  Prompt prompt;
  prompt.source = std::move(source);
  HEADROOM_TRY(prompt.ids, parse_ids(prompt.source));
  if (tokenizer)
    for (const std::int32_t id : prompt.ids) {
      prompt.texts.push_back(tokenizer->token_bytes(id));
      prompt.is_special.push_back(tokenizer->is_special(id) ? 1 : 0);
    }
  finish_prompt(prompt, model, options.max_tokens);
  return prompt;
}

}  // namespace headroom
