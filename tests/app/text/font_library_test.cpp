// Shaping, measuring and picturing text with the fonts of this machine.
#include "app/text/font_library.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "app/text/bidi.h"
#include "app/text/font_files.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

FontLibrary& fonts() {
  static const auto library = FontLibrary::create();
  CATCH_REQUIRE(library);
  return **library;
}

const ShapedText& sans(std::string_view text) { return fonts().shape(text, Face::Sans); }

constexpr Face kFaces[] = {Face::Sans, Face::SansMedium, Face::SansSemibold, Face::Mono, Face::MonoSemibold};

}  // namespace

CATCH_TEST_CASE("text is as wide as its size at any size, and as its parts") {
  for (const Face face : kFaces) {
    const float width = fonts().width("Attention 0.123", face, 12.0f);
    CATCH_CHECK(width > 60.0f);
    CATCH_CHECK(width < 140.0f);
    for (const float size : {10.0f, 13.75f, 24.0f}) {
      CATCH_CHECK(static_cast<double>(fonts().width("Attention 0.123", face, size)) ==
                  near(static_cast<double>(width * size / 12.0f), 1e-5));
    }
    CATCH_CHECK(fonts().width("", face, 12.0f) == 0.0f);
  }
  // Numbers in columns: every digit, the point and the minus are equally wide.
  const float digit = fonts().width("0", Face::Mono, 12.0f);
  for (const char* text : {"1", "7", ".", "−", " ", "W"})
    CATCH_CHECK(static_cast<double>(fonts().width(text, Face::Mono, 12.0f)) == near(static_cast<double>(digit), 1e-5));
}

CATCH_TEST_CASE("every sign that the window uses has a glyph or a drawing in every face") {
  const char* signs = "‖₀ᵢ⁻⁴½√λρκαε␣↵→↓−≤≥×·…“”▲▼▾⤢⚠✓²ⁿ–’é";
  for (const Face face : kFaces) {
    const ShapedText& shaped = fonts().shape(signs, face);
    CATCH_CHECK(shaped.glyphs.size() == 35);
    for (const PlacedGlyph& glyph : shaped.glyphs) {
      CATCH_CHECK((glyph.font != kBoxFont || glyph.glyph == 0x2922));
      const GlyphPicture picture = fonts().rasterise({glyph.font, glyph.glyph, 12 * 64});
      CATCH_CHECK(picture.width > 0);
      CATCH_CHECK(picture.pixels.size() ==
                  static_cast<std::size_t>(picture.width * picture.height) * (picture.coloured ? 4 : 1));
    }
  }
}

CATCH_TEST_CASE("a combining mark stands on its letter and takes no room") {
  for (const Face face : kFaces) {
    const float plain = fonts().width("r", face, 100.0f), marked = fonts().width("r\u0303", face, 100.0f);
    CATCH_CHECK(std::abs(marked - plain) < 12.0f);
    const ShapedText& shaped = fonts().shape("r\u0303", face);
    for (const PlacedGlyph& glyph : shaped.glyphs) CATCH_CHECK(glyph.font == shaped.glyphs[0].font);
  }
}

CATCH_TEST_CASE("what is quoted is shown as it is: no ligatures, no arrows from hyphens") {
  for (const Face face : kFaces) {
    for (const char* text : {"->", "!=", ">=", "fi", "ffi", "<!--", "=>"}) {
      CATCH_CHECK(fonts().shape(text, face).glyphs.size() == std::string_view(text).size());
    }
    const auto minus_greater = fonts().shape("->", face).glyphs;
    CATCH_CHECK(minus_greater[0].glyph == fonts().shape("-", face).glyphs[0].glyph);
    CATCH_CHECK(minus_greater[1].glyph == fonts().shape(">", face).glyphs[0].glyph);
  }
}

CATCH_TEST_CASE("control characters are left out, invalid bytes and unknown characters are shown") {
  CATCH_CHECK(sans("a\tb\n\x1b\u202e\u200b").glyphs.size() == 2);
  CATCH_CHECK(sans("a\xff").width > sans("a").width);
  CATCH_CHECK(sans("a\xff").glyphs.size() == 2);
  for (const char* text : {"\uE000", "\U0010FFFD", "\U0001FFFF"}) {  // private use and not a character
    const ShapedText& shaped = sans(text);
    CATCH_REQUIRE(shaped.glyphs.size() == 1);
    CATCH_CHECK(shaped.glyphs[0].font == kBoxFont);
    CATCH_CHECK(shaped.width > 0.5f);
    const auto inked = [&](int size) {
      const GlyphPicture picture = fonts().rasterise({kBoxFont, shaped.glyphs[0].glyph, size * 64});
      CATCH_CHECK(picture.width > 0);
      return static_cast<double>(std::count(picture.pixels.begin(), picture.pixels.end(), 255)) /
             static_cast<double>(picture.pixels.size());
    };
    CATCH_CHECK(inked(12) > 0.15);  // a frame
    CATCH_CHECK(inked(48) > 0.08);  // a frame with digits
  }
  // Two characters that no font has are told apart once their codes can be read.
  CATCH_CHECK(
      (fonts().rasterise({kBoxFont, 0xE000, 32 * 64}).pixels != fonts().rasterise({kBoxFont, 0xE001, 32 * 64}).pixels));
  CATCH_CHECK(
      (fonts().rasterise({kBoxFont, 0xE000, 12 * 64}).pixels == fonts().rasterise({kBoxFont, 0xE001, 12 * 64}).pixels));
}

CATCH_TEST_CASE("right-to-left words are ordered for display inside left-to-right text") {
  const std::u32string text = U"ab \u05D0\u05D1 12";
  const auto runs = bidi_runs(text);
  CATCH_REQUIRE(runs.size() >= 2);
  CATCH_CHECK(runs[0].begin == 0);
  CATCH_CHECK_FALSE(runs[0].right_to_left);
  std::size_t covered = 0;
  bool hebrew = false;
  for (const BidiRun& run : runs) {
    covered += run.end - run.begin;
    hebrew = hebrew || (run.right_to_left && run.begin <= 3 && run.end >= 5);
  }
  CATCH_CHECK(covered == text.size());
  CATCH_CHECK(hebrew);
  CATCH_CHECK(bidi_runs(std::u32string(U"plain")).size() == 1);
  CATCH_CHECK(bidi_runs(std::u32string()).empty());
  // The first letter stands to the right of the second.
  const ShapedText& alef_bet = sans("\u05D0\u05D1");
  CATCH_REQUIRE(alef_bet.glyphs.size() == 2);
  CATCH_CHECK(alef_bet.glyphs[1].glyph == sans("\u05D0").glyphs[0].glyph);
  CATCH_CHECK(alef_bet.glyphs[0].glyph == sans("\u05D1").glyphs[0].glyph);
}

CATCH_TEST_CASE("a glyph's picture is the same each time, moves by quarters of a pixel and turns") {
  const PlacedGlyph h = sans("H").glyphs[0];
  const GlyphPicture first = fonts().rasterise({h.font, h.glyph, 16 * 64});
  CATCH_CHECK((first.pixels == fonts().rasterise({h.font, h.glyph, 16 * 64}).pixels));
  CATCH_CHECK((first.pixels != fonts().rasterise({h.font, h.glyph, 16 * 64, 0, 2, 0}).pixels));
  const auto ink = [](const GlyphPicture& p) {
    double sum = 0;
    for (const std::uint8_t v : p.pixels) sum += v;
    return sum / 255.0;
  };
  const double upright = ink(first);
  for (const int degrees_10 : {450, 900, -900, 1234}) {
    const auto angle = static_cast<std::int16_t>(degrees_10);
    CATCH_CHECK(ink(fonts().rasterise({h.font, h.glyph, 16 * 64, angle, 1, 3})) == near(upright, 0.08));
  }
  // H stands on the baseline; turned by 90° it lies to the left of the pen.
  CATCH_CHECK(first.top + first.height == 0);
  const GlyphPicture lying = fonts().rasterise({h.font, h.glyph, 16 * 64, 900});
  CATCH_CHECK(lying.left < -8);
  CATCH_CHECK(lying.left + lying.width <= 1);
  CATCH_CHECK(fonts().rasterise({h.font, h.glyph, 1 << 30}).width < 2048);
}

CATCH_TEST_CASE("shaped texts are dropped when there are many, and shaped again alike") {
  const ShapedText before = sans("kept λ");
  for (int i = 0; i < 21000; ++i) static_cast<void>(sans("text " + std::to_string(i)));
  fonts().trim();
  fonts().trim();
  const ShapedText& after = sans("kept λ");
  CATCH_REQUIRE(after.glyphs.size() == before.glyphs.size());
  CATCH_CHECK(after.width == before.width);
}

CATCH_TEST_CASE("the about page can name the fonts") {
  const auto lines = fonts().describe();
  CATCH_REQUIRE(lines.size() >= 5);
  CATCH_CHECK(lines[0].starts_with("Sans: "));
  CATCH_CHECK(lines[3].starts_with("Mono: "));
}

}  // namespace headroom::test
