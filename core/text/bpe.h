// Byte-pair encoding of one word, byte-level or over characters. Immutable after creation; safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/text/merge_table.h"
#include "core/text/token_model.h"
#include "core/text/vocabulary.h"

namespace headroom {

struct BpeOptions {
  bool byte_level = false;           // vocabulary in the characters of core/text/byte_level.h
  bool ignore_merges = false;        // a word that is a token is not taken apart
  bool byte_fallback = false;        // unknown characters become <0xNN> tokens
  bool fuse_unk = false;             // neighbouring unknown tokens become one
  std::string unk_token{};           // empty: unknown characters are left out
  std::string continuing_prefix{};   // of every character but the word's first; a merge takes it off its right part
  std::string end_of_word_suffix{};  // of the word's last character
};

// A merge of two tokens; lower ranks come first.
struct BpeMerge {
  std::string left;
  std::string right;
  std::uint32_t rank = 0;
};

class Bpe final : public TokenModel {
 public:
  // Corrupt names a merge whose parts or result are no tokens.
  [[nodiscard]] static Result<std::unique_ptr<TokenModel>> create(Vocabulary vocabulary,
                                                                  const std::vector<BpeMerge>& merges,
                                                                  BpeOptions options);

  [[nodiscard]] Result<void> encode(std::string_view word, std::vector<ModelToken>& out) const override;
  [[nodiscard]] const Vocabulary& vocabulary() const override { return vocabulary_; }
  [[nodiscard]] std::optional<std::int32_t> unknown_id() const override {
    return unk_id_ < 0 ? std::nullopt : std::optional(unk_id_);
  }
  [[nodiscard]] std::string spelled(std::string_view token) const override;
  [[nodiscard]] bool takes_bytes() const override { return options_.byte_level; }
  [[nodiscard]] std::string kind() const override {
    return options_.byte_level ? "byte-level BPE" : "BPE over characters";
  }

 private:
  // Ids of the byte-level characters in one place of a word, −1 where missing.
  using ByteIds = std::array<std::int32_t, 256>;
  void append_bytes(std::string_view word, std::vector<ModelToken>& symbols) const;
  void append_characters(std::string_view word, std::vector<ModelToken>& symbols) const;
  void append_unknown(std::size_t begin, std::size_t end, bool unknown_before, std::vector<ModelToken>& symbols) const;
  void merge(std::vector<ModelToken>& symbols) const;

  Vocabulary vocabulary_;
  BpeOptions options_;
  MergeTable merges_;
  std::unordered_map<std::string, std::int32_t> words_;  // byte-level tokens by the bytes they spell
  std::array<ByteIds, 4> byte_ids_{};  // by place: 1 for the first of a word, 2 for its last, 3 for both
  std::vector<std::int32_t> fallback_ids_;
  std::int32_t unk_id_ = -1;
};

// The merges that a vocabulary with scores implies: every pair of tokens that spells a token, best score first. Tokens
// without a score take no part.
[[nodiscard]] Result<std::vector<BpeMerge>> merges_from_scores(const Vocabulary& vocabulary,
                                                               const std::unordered_map<std::int32_t, double>& scores);

}  // namespace headroom
