// Byte-pair encoding of one word, byte-level or over characters. Immutable after creation; safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/text/vocabulary.h"

namespace headroom {

struct BpeOptions {
  bool byte_level = false;     // vocabulary in the characters of core/text/byte_level.h
  bool ignore_merges = false;  // a word that is a token is not taken apart
  bool byte_fallback = false;  // unknown characters become <0xNN> tokens
  bool fuse_unk = false;       // neighbouring unknown tokens become one
  std::string unk_token{};     // empty: unknown characters are left out
};

struct BpeToken {
  std::int32_t id = 0;
  std::size_t begin = 0;  // bytes of the word
  std::size_t end = 0;
};

// A merge of two tokens; lower ranks come first.
struct BpeMerge {
  std::string left;
  std::string right;
  std::uint32_t rank = 0;
};

class Bpe {
 public:
  // Corrupt names a merge whose parts or result are no tokens.
  [[nodiscard]] static Result<Bpe> create(Vocabulary vocabulary, const std::vector<BpeMerge>& merges,
                                          BpeOptions options);
  // The merges that a vocabulary with scores implies: every pair of tokens that spells a token, best score first.
  [[nodiscard]] static Result<std::vector<BpeMerge>> merges_from_scores(
      const Vocabulary& vocabulary, const std::unordered_map<std::int32_t, double>& scores);

  // Appends the tokens of `word`. O(n log n) in its length.
  void encode(std::string_view word, std::vector<BpeToken>& out) const;

  [[nodiscard]] const Vocabulary& vocabulary() const { return vocabulary_; }
  [[nodiscard]] const BpeOptions& options() const { return options_; }

 private:
  struct Merge {
    std::uint32_t rank = 0;
    std::int32_t id = 0;
  };
  [[nodiscard]] const Merge* find_merge(std::int32_t left, std::int32_t right) const;
  void append_characters(std::string_view word, std::vector<BpeToken>& symbols) const;
  void merge(std::vector<BpeToken>& symbols) const;

  Vocabulary vocabulary_;
  BpeOptions options_;
  std::unordered_map<std::uint64_t, Merge> merges_;
  std::unordered_map<std::string, std::int32_t> words_;  // byte-level tokens by the bytes they spell
  std::array<std::int32_t, 256> byte_ids_{};             // byte-level characters or <0xNN>; -1 where missing
  std::int32_t unk_id_ = -1;
};

}  // namespace headroom
