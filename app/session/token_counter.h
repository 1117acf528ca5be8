// The tokens of a text while it is being typed, counted on a thread of its own: of the texts that come while one is
// counted, only the last is. Main thread only; `wake` is called on the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/worker.h"
#include "core/text/tokenizer.h"

namespace headroom {

struct TokenCount {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::string text;
  BosMode bos = BosMode::Auto;
  std::int64_t tokens = 0;                  // with those that the tokenizer adds (BOS)
  std::int64_t added = 0;                   // of them, at the beginning
  std::vector<std::size_t> ends;            // of each token: the byte of the text that it ends before; ascending
  std::int64_t different = 0, special = 0;  // ids that occur, and tokens that are special
  std::int64_t unknown = 0;                 // of what the vocabulary cannot spell
  bool beginning = false;                   // `text` is that of a longer one: all of this is at least so much
  std::string longest;                      // bytes of the token of most bytes
  std::string bos_text;                     // of the BOS token that stands in front; empty: none does
  std::optional<Error> error;               // why it has no tokens

  // The byte before which the first `count` tokens end.
  [[nodiscard]] std::size_t end_of(std::int64_t count) const;
  // How many of `ends` still hold where the text has become `now`: the last token before a change may be another.
  [[nodiscard]] std::size_t ends_in(std::string_view now) const;
};

class TokenCounter {
 public:
  // `wake`: a count is there.
  explicit TokenCounter(std::function<void()> wake = {});
  ~TokenCounter();  // waits for the text that is being counted
  TokenCounter(const TokenCounter&) = delete;
  TokenCounter& operator=(const TokenCounter&) = delete;

  // Asks for `text`, and answers with what was counted last: of this text or, while it is counted, of one before it.
  // Null before the first.
  [[nodiscard]] std::shared_ptr<const TokenCount> count(const std::shared_ptr<const Tokenizer>& tokenizer,
                                                        const std::string& text, BosMode bos = BosMode::Auto);
  // The text asked for last is still being counted.
  [[nodiscard]] bool waiting() const;

 private:
  struct Shared;

  std::shared_ptr<Shared> shared_;
  Worker worker_;
};

// On the calling thread, with anything that the tokenizer throws as an error.
[[nodiscard]] std::shared_ptr<const TokenCount> count_tokens(std::shared_ptr<const Tokenizer> tokenizer,
                                                             std::string text, BosMode bos = BosMode::Auto);

}  // namespace headroom
