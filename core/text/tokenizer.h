// Text to token ids as the checkpoint's own tokenizer does it: tokenizer.json, an older file of vocabulary, or the keys
// inside a GGUF file. Immutable after creation; safe from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/text/aligned_text.h"

namespace headroom {

enum class BosMode {
  Auto,    // what the tokenizer's own post-processor or add_bos_token says
  Always,  // token 0 is the BOS token
  Never,   // no BOS, also where the post-processor would add one
};

struct Encoding {
  std::vector<std::int32_t> ids;
  std::vector<std::string> texts;        // the bytes of the prompt that the token covers; may split a code point. A
                                         // token that stands for no text (BOS) shows its content: "<s>"
  std::vector<ByteRange> ranges;         // those bytes; {0, 0} for a token that stands for no text
  std::vector<std::uint8_t> is_special;  // 1 for control tokens
  bool bos_added = false;                // the tokenizer put a BOS in front
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Content of tokenizer.json, and of tokenizer_config.json where there is one (null otherwise; its bos_token and
  // add_bos_token are honoured). Unsupported names the component that is not implemented.
  [[nodiscard]] static Result<std::unique_ptr<Tokenizer>> from_tokenizer_json(std::string_view content,
                                                                              const nlohmann::json& tokenizer_config);
  // The first of these that lies in `folder`, with its tokenizer_config.json: tokenizer.json, tokenizer.model or
  // spiece.model, *.tiktoken or tiktoken.model, vocab.json with merges.txt, vocab.txt. NotFound where none does; errors
  // name the file.
  [[nodiscard]] static Result<std::unique_ptr<Tokenizer>> from_folder(const std::filesystem::path& folder);
  // GGUF metadata with keys tokenizer.ggml.*; NotFound where there is none.
  [[nodiscard]] static Result<std::unique_ptr<Tokenizer>> from_gguf(const nlohmann::json& metadata);

  // Invalid UTF-8 is encoded byte by byte where the vocabulary allows it. OutOfMemory when the pre-tokenizer's regex
  // reaches its match limit.
  [[nodiscard]] virtual Result<Encoding> encode(std::string_view text, BosMode bos) const = 0;

  // The bytes token `id` stands for; empty for an id outside the vocabulary.
  [[nodiscard]] virtual std::string token_bytes(std::int32_t id) const = 0;
  [[nodiscard]] virtual bool is_special(std::int32_t id) const = 0;
  [[nodiscard]] virtual std::int64_t vocab_size() const = 0;  // largest id + 1
  // The token that stands for what the vocabulary cannot spell; absent where there is none.
  [[nodiscard]] virtual std::optional<std::int32_t> unknown_id() const { return {}; }
  [[nodiscard]] virtual std::string description() const = 0;  // "tokenizer.json: byte-level BPE, 49152 tokens"
};

}  // namespace headroom
