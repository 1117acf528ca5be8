// What a plan asks of an opened model: its tokenizer, and which tokens begin and end a text.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/checkpoint/strict_json.h"
#include "core/corpus/plan.h"
#include "core/run/analysis.h"
#include "core/run/provenance.h"

namespace headroom {
namespace {

// Of the files, or of the keys of a GGUF file, that a tokenizer comes from.
std::string tokenizer_hash(const Checkpoint& checkpoint) {
  std::string lines;
  if (checkpoint.format() == ContainerFormat::Gguf) {
    for (const auto& [key, value] : checkpoint.metadata().items())
      if (key.starts_with("tokenizer."))
        lines += key + " " + text_hash(value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) + "\n";
    return text_hash(lines);
  }
  for (const char* name : {"tokenizer.json", "tokenizer_config.json", "tokenizer.model", "sentencepiece.bpe.model",
                           "spiece.model", "tiktoken.model", "vocab.json", "merges.txt", "vocab.txt"})
    if (const auto content = checkpoint.read_sibling(name))
      lines += std::string(name) + " " + text_hash(*content) + "\n";
  return text_hash(lines);
}

class ModelTokens {
 public:
  explicit ModelTokens(const OpenedModel& model) : model_(model) {}

  Result<const Tokenizer*> tokenizer() {
    if (tokenizer_) return tokenizer_.get();
    auto opened = open_tokenizer(*model_.checkpoint);
    if (!opened) {
      Error error = opened.error();
      if (error.code == ErrorCode::NotFound) error.message = "the checkpoint has no tokenizer, so it cannot read text";
      return error.advise("documents of token ids need none");
    }
    tokenizer_ = std::move(*opened);
    return tokenizer_.get();
  }

  Result<std::vector<std::int32_t>> encode(std::string_view text) {
    HEADROOM_TRY(const Tokenizer* own, tokenizer());
    if (text.empty()) return std::vector<std::int32_t>();
    HEADROOM_TRY(Encoding encoding, own->encode(text, BosMode::Never));
    return std::move(encoding.ids);
  }

  Result<std::string> token_bytes(std::int32_t id) {
    HEADROOM_TRY(const Tokenizer* own, tokenizer());
    return own->token_bytes(id);
  }

  Result<bool> adds_bos() {
    HEADROOM_TRY(const Tokenizer* own, tokenizer());
    HEADROOM_TRY(const Encoding encoding, own->encode("a", BosMode::Auto));
    return encoding.bos_added;
  }

  Result<std::int32_t> bos_id() {
    if (const auto own = tokenizer())
      if (const auto encoding = (*own)->encode("a", BosMode::Always);
          encoding && encoding->bos_added && !encoding->ids.empty())
        return encoding->ids.front();
    if (model_.spec.bos_token_id) return static_cast<std::int32_t>(*model_.spec.bos_token_id);
    Error error(ErrorCode::InvalidArgument, "the model names no token that begins a text");
    return error.at_tensor("bos_token_id").wanted("an id", "none");
  }

  Result<std::int32_t> eos_id() {
    nlohmann::json id;
    if (model_.checkpoint->format() == ContainerFormat::Gguf) {
      id = model_.checkpoint->metadata().value("tokenizer.ggml.eos_token_id", nlohmann::json());
    } else {
      HEADROOM_TRY(const std::string content, model_.checkpoint->read_sibling("config.json"));
      HEADROOM_TRY(const nlohmann::json config, parse_json(content));
      id = config.is_object() ? config.value("eos_token_id", nlohmann::json()) : nlohmann::json();
    }
    if (id.is_number_integer() && id >= 0 && id < model_.spec.vocab_size) return id.get<std::int32_t>();
    Error error(ErrorCode::InvalidArgument, "the model names not the one token that ends a text");
    return error.at_tensor("eos_token_id")
        .wanted("an id", id.is_null() ? "none" : id.dump())
        .advise("give --separator the id itself");
  }

  std::string description() { return tokenizer_ ? tokenizer_->description() : ""; }
  [[nodiscard]] std::string hash() const { return tokenizer_hash(*model_.checkpoint); }

 private:
  const OpenedModel& model_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

}  // namespace

Prompt prompt_of_sequence(const CorpusPlan& plan, std::size_t sequence, const ModelSpec& model) {
  Prompt prompt;
  prompt.ids = plan.sequences[sequence].ids;
  prompt.bos_added = plan.bos_id.has_value();
  prompt.first_is_bos = model.bos_token_id && prompt.ids.front() == *model.bos_token_id;
  prompt.source = "ids_sha256 " + plan.ids_sha256;
  return prompt;
}

PlanModel plan_model(const OpenedModel& model) {
  const auto tokens = std::make_shared<ModelTokens>(model);
  PlanModel plan;
  plan.vocab_size = model.spec.vocab_size;
  plan.encode = [tokens](std::string_view text) { return tokens->encode(text); };
  plan.bos_id = [tokens] { return tokens->bos_id(); };
  plan.eos_id = [tokens] { return tokens->eos_id(); };
  plan.adds_bos = [tokens] { return tokens->adds_bos(); };
  plan.token_bytes = [tokens](std::int32_t id) { return tokens->token_bytes(id); };
  plan.tokenizer = [tokens] { return tokens->description(); };
  plan.tokenizer_sha256 = [tokens] { return tokens->hash(); };
  return plan;
}

}  // namespace headroom
