#include "core/run/make_prompt.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "core/run/two_sequences.h"
#include "core/text/prompt_ids.h"

namespace headroom {
namespace {

void keep_first(Prompt& prompt, std::int64_t max_tokens) {
  if (max_tokens > 0 && static_cast<std::size_t>(max_tokens) < prompt.ids.size()) {
    const auto keep = static_cast<std::size_t>(max_tokens);
    prompt.ids.resize(keep);
    prompt.texts.resize(std::min(prompt.texts.size(), keep));
    prompt.is_special.resize(std::min(prompt.is_special.size(), keep));
  }
}

void name_tokens(const Tokenizer* tokenizer, Prompt& prompt) {
  if (!tokenizer) return;
  for (const std::int32_t id : prompt.ids) {
    prompt.texts.push_back(tokenizer->token_bytes(id));
    prompt.is_special.push_back(tokenizer->is_special(id) ? 1 : 0);
  }
}

Result<Prompt> encode(std::string text, const Tokenizer& tokenizer, const PromptOptions& options) {
  Prompt prompt;
  prompt.source = std::move(text);
  HEADROOM_TRY(Encoding encoding, tokenizer.encode(prompt.source, options.bos));
  prompt.ids = std::move(encoding.ids);
  prompt.texts = std::move(encoding.texts);
  prompt.is_special = std::move(encoding.is_special);
  prompt.bos_added = encoding.bos_added;
  // A BOS alone is nobody's prompt.
  if (prompt.source.find_first_not_of(" \t\r\n\f\v") == std::string::npos &&
      std::ranges::all_of(prompt.is_special, [](std::uint8_t special) { return special != 0; })) {
    Error error(ErrorCode::InvalidArgument, "the prompt is empty");
    return error.wanted("a text", prompt.source.empty() ? "none" : "blanks, of which the tokenizer makes no token");
  }
  keep_first(prompt, options.max_tokens);
  return prompt;
}

// The decoder's prompt that predicts these tokens.
Prompt predicting(const EncoderSpec& encoder, const Prompt& labels, const Tokenizer* tokenizer) {
  Prompt target;
  target.ids = shift_right(encoder, labels.ids);
  if (!tokenizer || target.ids.empty()) return target;
  target.texts = {tokenizer->token_bytes(target.ids.front())};
  target.is_special = {static_cast<std::uint8_t>(tokenizer->is_special(target.ids.front()) ? 1 : 0)};
  target.texts.insert(target.texts.end(), labels.texts.begin(), labels.texts.end() - 1);
  target.is_special.insert(target.is_special.end(), labels.is_special.begin(), labels.is_special.end() - 1);
  return target;
}

Result<Prompt> read_target(const Prompt& source, const Tokenizer* tokenizer, const EncoderSpec& encoder,
                           const PromptOptions& options) {
  if (options.target_ids) {
    Prompt target;
    target.source = *options.target_ids;
    HEADROOM_TRY(target.ids, parse_ids(target.source));
    name_tokens(tokenizer, target);
    keep_first(target, options.max_tokens);
    return target;
  }
  if (!options.target_text) return predicting(encoder, source, tokenizer);
  if (!tokenizer) {
    Error error(ErrorCode::NotFound, "the checkpoint has no tokenizer, so it cannot read the text of the target");
    return error.at_tensor("--target-text").advise("give token ids with --target-ids");
  }
  HEADROOM_TRY(const Prompt labels, encode(*options.target_text, *tokenizer, options));
  Prompt target = predicting(encoder, labels, tokenizer);
  target.source = labels.source;
  return target;
}

// With the target of an encoder-decoder.
Result<Prompt> finish_prompt(Prompt prompt, const Tokenizer* tokenizer, const ModelSpec& model,
                             const PromptOptions& options) {
  if (model.encoder) {
    HEADROOM_TRY(Prompt target, read_target(prompt, tokenizer, *model.encoder, options));
    prompt = pair_prompts(std::move(prompt), std::move(target));
  } else if (options.target_text || options.target_ids) {
    Error error(ErrorCode::InvalidArgument, "the model has no encoder beside its decoder, and reads one prompt");
    error.at_tensor(options.target_text ? "--target-text" : "--target-ids");
    return error.wanted("a model with an encoder and a decoder", model.model_type);
  }
  prompt.first_is_bos = !prompt.ids.empty() && model.bos_token_id && prompt.ids.front() == *model.bos_token_id;
  return prompt;
}

}  // namespace

Result<Prompt> prompt_of_text(std::string text, const Tokenizer& tokenizer, const ModelSpec& model,
                              const PromptOptions& options) {
  HEADROOM_TRY(Prompt prompt, encode(std::move(text), tokenizer, options));
  return finish_prompt(std::move(prompt), &tokenizer, model, options);
}

Result<Prompt> prompt_of_ids(std::string source, const Tokenizer* tokenizer, const ModelSpec& model,
                             const PromptOptions& options) {
  Prompt prompt;
  prompt.source = std::move(source);
  HEADROOM_TRY(prompt.ids, parse_ids(prompt.source));
  name_tokens(tokenizer, prompt);
  keep_first(prompt, options.max_tokens);
  return finish_prompt(std::move(prompt), tokenizer, model, options);
}

}  // namespace headroom
