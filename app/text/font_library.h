// The window's fonts: finds them, shapes text, measures it and makes glyph pictures; no GL. Positions are linear in the
// size, so that text measured in logical pixels is as wide as it is drawn at any scale. Main thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/plot/painter.h"
#include "core/base/result.h"

namespace headroom {

// Where a glyph stands, in ems from the left end of the baseline, y down.
struct PlacedGlyph {
  std::uint32_t font = 0;   // FontLibrary's number of the font file; kBoxFont: no font has it
  std::uint32_t glyph = 0;  // index in that font; the code point for kBoxFont
  float x = 0.0f, y = 0.0f;
  std::size_t cluster = 0;  // byte of the text where the character begins that it draws (the first of several)
};

struct ShapedText {
  std::vector<PlacedGlyph> glyphs;
  float width = 0.0f;  // ems
};

inline constexpr std::uint32_t kBoxFont = 0xffff;

// One picture of one glyph. `sub_x`, `sub_y`: the pen's place in the pixel, in quarters.
struct GlyphKey {
  std::uint32_t font = 0, glyph = 0;
  std::int32_t size_64 = 0;   // pixels per em, in 64ths
  std::int16_t angle_10 = 0;  // tenths of degrees, counter-clockwise on the screen
  std::uint8_t sub_x = 0, sub_y = 0;
  friend bool operator==(const GlyphKey&, const GlyphKey&) = default;
};

struct GlyphKeyHash {
  [[nodiscard]] std::size_t operator()(const GlyphKey& key) const;
};

// `left`, `top`: from the pixel of the pen to the picture's upper left pixel, y down. Empty for a space.
struct GlyphPicture {
  int width = 0, height = 0, left = 0, top = 0;
  bool coloured = false;  // emoji: RGBA, straight alpha; else one byte of coverage a pixel
  std::vector<std::uint8_t> pixels;
};

class FontFace;

class FontLibrary final : public TextMeasure {
 public:
  // Inter and JetBrains Mono, else DejaVu, else what fontconfig calls sans-serif and monospace; a face without its
  // weight takes the next lighter one. NotFound if the system has no scalable font at all.
  // `text_font`: a family or a font file that texts are set in instead (font_files.h: find_named_files()); Corrupt
  // where that file is no font that can be drawn.
  [[nodiscard]] static Result<std::unique_ptr<FontLibrary>> create(const std::string& text_font = {});
  ~FontLibrary() override;
  FontLibrary(const FontLibrary&) = delete;
  FontLibrary& operator=(const FontLibrary&) = delete;

  // Any text: invalid UTF-8 shows as U+FFFD, control characters are left out, a character that no font has becomes a
  // box with its code. Right-to-left runs are ordered for display. Valid until the library is destroyed or trim() is
  // called.
  [[nodiscard]] const ShapedText& shape(std::string_view text, Face face) const;
  [[nodiscard]] float width(std::string_view text, Face face, float size) const override;

  // The font of a placed glyph's number, but for kBoxFont: for painters that draw glyphs themselves.
  [[nodiscard]] const FontFace& font(std::uint32_t number) const;
  [[nodiscard]] GlyphPicture rasterise(const GlyphKey& key) const;

  // Drops shaped texts that were not asked for since the last call, once there are many of them.
  void trim();

  // One line per face and fall-back in use: "Sans: Inter Regular (path)"; for the about page.
  [[nodiscard]] std::vector<std::string> describe() const;
  // The font files that are open, each once.
  [[nodiscard]] std::vector<std::string> paths() const;

 private:
  struct State;
  explicit FontLibrary(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headroom
