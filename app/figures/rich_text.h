// Text of figures: variables italic, indices lowered, a bar over what a root is of. Pure functions but for drawing;
// safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/plot/painter.h"

namespace headroom {

struct TextRun {
  enum class Form : std::uint8_t { Upright, Italic, Sub, SubItalic, Super } form = Form::Upright;
  std::string text;
  bool under_root = false;
  friend bool operator==(const TextRun&, const TextRun&) = default;
};
using RichText = std::vector<TextRun>;
inline constexpr float kSmallText = 0.7f;  // of indices, times the size of the text

// "context RMS *ρ*_{*i*}": *…* italic, _{…} lowered, ^{…} raised, √{…} a root with its bar; \ takes the next character
// as it is.
[[nodiscard]] RichText rich(std::string_view markup);
// The markup that rich() makes this text of.
[[nodiscard]] std::string markup_text(const RichText& text);
// A title of the tables, as the window shows it ("sink score α₀", "1/√nᵢ"): Greek letters are variables, small letters
// and digits below the line are indices, and what follows √ stands under it.
[[nodiscard]] RichText rich_title(std::string_view title);
// Without any form, as it is read out: "context RMS ρᵢ".
[[nodiscard]] std::string plain_text(const RichText& text);
[[nodiscard]] RichText operator+(RichText first, const RichText& second);

// `style`'s face is that of upright runs.
[[nodiscard]] float rich_width(const TextMeasure& measure, const RichText& text, const TextStyle& style);
// The baseline begins, is centred or ends at `x`.
void draw_rich(Painter& painter, Vec2 baseline, const RichText& text, const TextStyle& style,
               Painter::Align align = Painter::Align::Left);
// Turned by a quarter, upwards; `baseline` is its middle.
void draw_rich_upwards(Painter& painter, Vec2 baseline, const RichText& text, const TextStyle& style);

}  // namespace headroom
