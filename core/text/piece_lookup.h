// SentencePiece's models WORD and CHAR: a text is cut where they say, without a choice, and each part is looked up
// (word_model.cc and char_model.cc of github.com/google/sentencepiece). Immutable after creation; safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/token_model.h"

namespace headroom {

struct PieceLookupOptions {
  bool characters = false;             // each character is a part; else a word, from one U+2581 to the next
  std::vector<bool> excluded;          // by id: not found in text; empty: none is
  std::optional<std::int32_t> unk_id;  // absent: text with unknown parts is refused
  bool byte_fallback = false;          // unknown parts become <0xNN> tokens where all of these are there
};

class PieceLookup final : public TokenModel {
 public:
  [[nodiscard]] static std::unique_ptr<TokenModel> create(Vocabulary vocabulary, PieceLookupOptions options);

  // Unknown parts that follow each other are one token.
  [[nodiscard]] Result<void> encode(std::string_view word, std::vector<ModelToken>& out) const override;
  [[nodiscard]] const Vocabulary& vocabulary() const override { return vocabulary_; }
  [[nodiscard]] std::optional<std::int32_t> unknown_id() const override { return options_.unk_id; }
  [[nodiscard]] std::string spelled(std::string_view token) const override;
  [[nodiscard]] std::string kind() const override { return options_.characters ? "characters" : "words"; }

 private:
  [[nodiscard]] std::optional<std::int32_t> find(std::string_view part) const;

  Vocabulary vocabulary_;
  PieceLookupOptions options_;
  std::vector<std::int32_t> byte_ids_;
};

}  // namespace headroom
