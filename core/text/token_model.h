// The step of a tokenizer that turns one word into tokens: BPE, WordPiece, Unigram or WordLevel. Models are immutable
// after creation; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/text/vocabulary.h"

namespace headroom {

struct ModelToken {
  std::int32_t id = 0;
  std::size_t begin = 0;  // bytes of the word
  std::size_t end = 0;
};

class TokenModel {
 public:
  virtual ~TokenModel() = default;

  // Appends the tokens of `word`, in time proportional to its length but for a logarithm. Corrupt where the word needs
  // an unknown token and the model has none.
  [[nodiscard]] virtual Result<void> encode(std::string_view word, std::vector<ModelToken>& out) const = 0;

  [[nodiscard]] virtual const Vocabulary& vocabulary() const = 0;
  // The token of what the vocabulary cannot spell; absent where it spells everything, leaves it out or refuses it.
  [[nodiscard]] virtual std::optional<std::int32_t> unknown_id() const { return {}; }
  // The bytes that a token of the vocabulary stands for; U+2581 stays.
  [[nodiscard]] virtual std::string spelled(std::string_view token) const = 0;
  // Whether the vocabulary spells bytes in the characters of core/text/byte_level.h, and encode() takes bytes.
  [[nodiscard]] virtual bool takes_bytes() const { return false; }
  [[nodiscard]] virtual std::string kind() const = 0;  // "byte-level BPE"
};

// Corrupt: `word` needs an unknown token.
[[nodiscard]] Error no_unknown_token(std::string_view word);
// The byte that "<0xNN>" names, or −1.
[[nodiscard]] int byte_of_fallback_token(std::string_view token);
// "<0xNN>" of every byte: its id, or −1.
[[nodiscard]] std::vector<std::int32_t> fallback_ids(const Vocabulary& vocabulary);

}  // namespace headroom
