// A Tokenizer from its parts: added tokens, normaliser, pre-tokeniser, model, post-processor. The readers of files fill
// the parts. Immutable after creation; safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/text/added_tokens.h"
#include "core/text/normalizer.h"
#include "core/text/post_processor.h"
#include "core/text/pre_tokenizer.h"
#include "core/text/token_model.h"
#include "core/text/tokenizer.h"

namespace headroom {

struct TokenizerParts {
  std::string source;  // "tokenizer.json", "GGUF"
  std::vector<AddedToken> added_tokens;
  std::vector<AddedToken> symbols;  // looked for after normalisation, as they stand here
  TextNormalizer normalizer;
  PreTokenizer pre_tokenizer;
  std::unique_ptr<const TokenModel> model;
  PostProcessor post_processor;
  std::optional<FramingToken> bos;  // what BosMode::Always adds
  bool decodes_metaspace = false;   // U+2581 in tokens stands for a space
};

class PipelineTokenizer final : public Tokenizer {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Tokenizer>> create(TokenizerParts parts);

  [[nodiscard]] Result<Encoding> encode(std::string_view text, BosMode bos) const override;
  [[nodiscard]] std::string token_bytes(std::int32_t id) const override;
  [[nodiscard]] bool is_special(std::int32_t id) const override;
  [[nodiscard]] std::int64_t vocab_size() const override { return vocab_size_; }
  [[nodiscard]] std::optional<std::int32_t> unknown_id() const override { return parts_.model->unknown_id(); }
  [[nodiscard]] std::string description() const override;

 private:
  explicit PipelineTokenizer(TokenizerParts parts) : parts_(std::move(parts)) {}
  [[nodiscard]] Result<void> encode_text(std::string_view prompt, ByteRange range, RegexSession& session,
                                         Encoding& out) const;
  [[nodiscard]] Result<void> encode_normalized(std::string_view prompt, AlignedText text, RegexSession& session,
                                               Encoding& out) const;
  [[nodiscard]] Result<Encoding> add_frame(Encoding encoding, BosMode mode) const;
  void append(Encoding& out, std::int32_t id, std::string_view prompt, ByteRange range) const;

  TokenizerParts parts_;
  AddedTokenMatcher literal_;     // looked for in the prompt
  AddedTokenMatcher normalized_;  // looked for after normalisation
  std::unordered_map<std::int32_t, AddedToken> added_;
  std::int64_t vocab_size_ = 0;
  std::int64_t token_count_ = 0;
};

}  // namespace headroom
