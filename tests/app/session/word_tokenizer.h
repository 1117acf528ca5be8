// A tokenizer for tests: a BOS of no bytes, then a token for each word with the blank before it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "core/text/tokenizer.h"

namespace headroom::test {

class WordTokenizer : public Tokenizer {
 public:
  // With `throws`, encode() throws it.
  explicit WordTokenizer(std::string throws = {}) : throws_(std::move(throws)) {}

  [[nodiscard]] Result<Encoding> encode(std::string_view text, BosMode bos) const override {
    if (!throws_.empty()) throw std::runtime_error(throws_);
    Encoding encoding;
    const auto add = [&](std::size_t begin, std::size_t end, bool special) {
      encoding.ids.push_back(static_cast<std::int32_t>(encoding.ids.size()));
      encoding.texts.emplace_back(text.substr(begin, end - begin));
      encoding.ranges.push_back({begin, end});
      encoding.is_special.push_back(special ? 1 : 0);
    };
    if (bos != BosMode::Never) add(0, 0, true);
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t to = std::min(text.size(), text.find(' ', from + 1));
      add(from, to, false);
      from = to;
    }
    return encoding;
  }
  [[nodiscard]] std::string token_bytes(std::int32_t) const override { return "word"; }
  [[nodiscard]] bool is_special(std::int32_t id) const override { return id == 0; }
  [[nodiscard]] std::int64_t vocab_size() const override { return 1000; }
  [[nodiscard]] std::string description() const override { return "words"; }

 private:
  std::string throws_;
};

}  // namespace headroom::test
