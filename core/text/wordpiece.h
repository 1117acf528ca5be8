// WordPiece: the longest token first, again and again (arXiv 1609.08144; BERT's tokenizer), and WordLevel: whole words
// only. Immutable after creation; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/byte_trie.h"
#include "core/text/token_model.h"

namespace headroom {

struct WordPieceOptions {
  std::string unk_token = "[UNK]";
  std::string first_prefix;               // of tokens that begin a word: U+2581 in GGUF files
  std::string continuing_prefix = "##";   // of tokens that go on with one
  std::size_t max_word_characters = 100;  // a longer word is unknown
};

class WordPiece final : public TokenModel {
 public:
  [[nodiscard]] static Result<std::unique_ptr<TokenModel>> create(Vocabulary vocabulary, WordPieceOptions options);

  [[nodiscard]] Result<void> encode(std::string_view word, std::vector<ModelToken>& out) const override;
  [[nodiscard]] const Vocabulary& vocabulary() const override { return vocabulary_; }
  [[nodiscard]] std::optional<std::int32_t> unknown_id() const override { return unk_id_; }
  [[nodiscard]] std::string spelled(std::string_view token) const override;
  [[nodiscard]] std::string kind() const override { return "WordPiece"; }

 private:
  Vocabulary vocabulary_;
  WordPieceOptions options_;
  ByteTrie trie_;
  ByteTrie::Node first_ = ByteTrie::kRoot;
  ByteTrie::Node continuing_ = ByteTrie::kNone;
  std::optional<std::int32_t> unk_id_;
};

class WordLevel final : public TokenModel {
 public:
  WordLevel(Vocabulary vocabulary, const std::string& unk_token);

  [[nodiscard]] Result<void> encode(std::string_view word, std::vector<ModelToken>& out) const override;
  [[nodiscard]] const Vocabulary& vocabulary() const override { return vocabulary_; }
  [[nodiscard]] std::optional<std::int32_t> unknown_id() const override { return unk_id_; }
  [[nodiscard]] std::string spelled(std::string_view token) const override { return std::string(token); }
  [[nodiscard]] std::string kind() const override { return "WordLevel"; }

 private:
  Vocabulary vocabulary_;
  std::optional<std::int32_t> unk_id_;
};

}  // namespace headroom
