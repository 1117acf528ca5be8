// Type, strokes and colours of figures: one theme for paper, and the same twice as large for slides. Points and sRGB.
// Immutable; safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/plot/geometry.h"
#include "app/plot/painter.h"

namespace headroom {

// A mark and the text that names it: the text has a contrast of at least 4.5 on white.
struct MarkColor {
  Color mark, text;
};

// Okabe and Ito 2008, but for λ's violet.
namespace ink {
inline constexpr Color kBlack = Color::hex(0x000000), kWhite = Color::hex(0xffffff), kPoint = Color::hex(0x303030);
inline constexpr MarkColor kHead{Color::hex(0x009e73), Color::hex(0x007a5a)};
inline constexpr Color kHeadMedian = Color::hex(0x00523d);
inline constexpr MarkColor kFirst{Color::hex(0xd55e00), Color::hex(0xb04a00)};   // first map, log e, above, largest
inline constexpr MarkColor kSecond{Color::hex(0x0072b2), Color::hex(0x0072b2)};  // second map, log r̃, below, by layer
inline constexpr MarkColor kNet{kBlack, kBlack};
inline constexpr MarkColor kLambda{Color::hex(0x6f3fc0), Color::hex(0x6f3fc0)};
inline constexpr MarkColor kKappa{Color::hex(0xcc79a7), Color::hex(0xa33f79)};
inline constexpr MarkColor kRunA{Color::hex(0x9aa4ad), Color::hex(0x5f6b76)};
inline constexpr MarkColor kRunB{Color::hex(0x007a5a), Color::hex(0x007a5a)};
inline constexpr MarkColor kOthers{Color::hex(0x6f7f8c), Color::hex(0x4a4a4a)};  // heads among many
inline constexpr MarkColor kNotCounted{Color::hex(0xababab), Color::hex(0x757575)};
// One quantity at three depths: the deepest first.
inline constexpr MarkColor kDeep{Color::hex(0x0b3a5c), Color::hex(0x0b3a5c)};
inline constexpr MarkColor kMiddle{Color::hex(0x2f80b9), Color::hex(0x246da1)};
inline constexpr MarkColor kPale{Color::hex(0x90c1e4), Color::hex(0x2f79ad)};
inline constexpr Color kSpan = Color::hex(0xd5d9de);   // from median to median
inline constexpr Color kGuide = Color::hex(0xbbbbbb);  // lines that only lead the eye
inline constexpr Color kBars = Color::hex(0x7a7a7a), kNote = Color::hex(0x4a4a4a), kFaintNote = Color::hex(0x757575);
inline constexpr Color kInterval = Color::hex(0xefefef), kBandOfBounds = Color::hex(0xe3e3e3);
inline constexpr Color kHatch = Color::hex(0x9a9a9a), kNull = Color::hex(0xb04a00);
}  // namespace ink

// Every measure is of the paper theme at `times` 1.
struct PageStyle {
  float times = 1.0f;
  float text_size = 7.0f;  // of all but titles, letters and what is smaller

  [[nodiscard]] float pt(float points) const { return points * times; }
  [[nodiscard]] float mm(float millimetres) const { return millimetres * times * 72.0f / 25.4f; }
  // Of what a line of text stands in, which is of the usual size: larger text takes more.
  [[nodiscard]] float line_mm(float millimetres) const {
    return mm(millimetres) * (text_size > 7.0f ? text_size / 7.0f : 1.0f);
  }
  [[nodiscard]] float size() const { return text_size * times; }
  [[nodiscard]] float title_size() const { return (text_size + 0.5f) * times; }

  [[nodiscard]] TextStyle text(Color color = ink::kBlack) const { return {Face::Sans, size(), color}; }
  [[nodiscard]] TextStyle title(Color color = ink::kBlack) const { return {Face::Sans, title_size(), color}; }
  [[nodiscard]] TextStyle letter() const { return {Face::SansBold, (text_size + 1.5f) * times, ink::kBlack}; }
  [[nodiscard]] TextStyle head() const { return {Face::SansMedium, title_size(), ink::kBlack}; }
  // Over dashed lines and bands.
  [[nodiscard]] TextStyle on_lines(Color color) const { return {Face::Sans, size(), color, 1.6f * times}; }
};

// Labels that found no room while a figure was drawn, in the markup of rich_text.h.
struct LeftOutLabels {
  std::size_t panel = 0;                         // that is being drawn
  std::vector<std::vector<std::string>> labels;  // [panels], each once
};

// What every panel is laid out with.
struct Page {
  const TextMeasure& measure;
  PageStyle style;
  LeftOutLabels* left_out = nullptr;  // null: nobody asks
};

}  // namespace headroom
