// The prompt as flowing text: what each token shows, how wide it is, and where lines begin. Equal tokens are measured
// once, so that a prompt of 131 072 tokens is laid out in milliseconds. Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/plot/painter.h"
#include "core/run/run_snapshot.h"

namespace headroom {

struct TokenStyle {
  float size = 12.0f;
  float padding = 1.5f;  // left and right of a token's text
  float gap = 0.0f;      // between tokens
  friend bool operator==(const TokenStyle&, const TokenStyle&) = default;
};
// Of the token panel, and of the large text.
inline constexpr TokenStyle kSmallTokens{}, kLargeTokens{13.0f, 4.0f, 2.0f};

struct TokenLines {
  std::shared_ptr<const Prompt> prompt;
  float width = 0.0f;  // of the lines
  TokenStyle style;
  std::vector<std::string> labels;      // of unlike tokens
  std::vector<float> label_widths;      // with padding; never wider than a line
  std::vector<std::uint32_t> label_of;  // by token
  std::vector<std::int64_t> starts;     // first token of each line, and the number of tokens

  [[nodiscard]] std::int64_t tokens() const { return static_cast<std::int64_t>(label_of.size()); }
  [[nodiscard]] std::int64_t lines() const { return static_cast<std::int64_t>(starts.empty() ? 0 : starts.size() - 1); }
  [[nodiscard]] std::int64_t line_of(std::int64_t token) const;
  [[nodiscard]] const std::string& label(std::int64_t token) const {
    return labels[label_of[static_cast<std::size_t>(token)]];
  }
  [[nodiscard]] float width_of(std::int64_t token) const {
    return label_widths[label_of[static_cast<std::size_t>(token)]];
  }
};

// Labels are visible_token()'s, without a leading space where the token goes on after it; ids in the prompt's place
// where it has no texts. Labels wider than `longest` pixels are elided in the middle.
[[nodiscard]] TokenLines break_tokens(const std::shared_ptr<const Prompt>& prompt, float width,
                                      const TextMeasure& measure, const TokenStyle& style = kSmallTokens,
                                      float longest = 240.0f);
// The same prompt at another width.
void rebreak_tokens(TokenLines& lines, float width);

}  // namespace headroom
