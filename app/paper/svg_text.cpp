#include "app/paper/svg_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "app/text/font_face.h"
#include "core/base/utf8.h"

#include FT_OUTLINE_H

namespace headroom {
namespace {

// Walks the outline of one glyph: points of the font become points of the page.
struct Pen {
  std::string& path;
  double x, y, scale;  // of the glyph's origin; per font unit

  void command(char letter, std::initializer_list<const FT_Vector*> points) {
    path += letter;
    bool first = true;
    for (const FT_Vector* point : points) {
      path += (first ? "" : " ") + svg_number(x + scale * static_cast<double>(point->x)) + " " +
              svg_number(y - scale * static_cast<double>(point->y));
      first = false;
    }
  }
};

Pen& pen_of(void* user) { return *static_cast<Pen*>(user); }

int move_to(const FT_Vector* to, void* user) {
  if (!pen_of(user).path.empty() && pen_of(user).path.back() != 'Z') pen_of(user).path += 'Z';
  pen_of(user).command('M', {to});
  return 0;
}
int line_to(const FT_Vector* to, void* user) {
  pen_of(user).command('L', {to});
  return 0;
}
int conic_to(const FT_Vector* control, const FT_Vector* to, void* user) {
  pen_of(user).command('Q', {control, to});
  return 0;
}
int cubic_to(const FT_Vector* first, const FT_Vector* second, const FT_Vector* to, void* user) {
  pen_of(user).command('C', {first, second, to});
  return 0;
}

bool add_outline(std::string& path, FT_Face face, std::uint32_t glyph, double x, double y, double size) {
  if (FT_HAS_COLOR(face) || !FT_IS_SCALABLE(face)) return false;
  if (FT_Load_Glyph(face, glyph, FT_LOAD_NO_SCALE | FT_LOAD_NO_BITMAP) != 0) return false;
  if (face->glyph->format != FT_GLYPH_FORMAT_OUTLINE) return false;
  static constexpr FT_Outline_Funcs kWalk{move_to, line_to, conic_to, cubic_to, 0, 0};
  Pen pen{path, x, y, size / static_cast<double>(face->units_per_EM)};
  if (FT_Outline_Decompose(&face->glyph->outline, &kWalk, &pen) != 0) return false;
  if (!path.empty() && path.back() != 'Z') path += 'Z';
  return true;
}

void add_box(std::string& path, double x, double y, double size) {
  const auto rectangle = [&](double x0, double y0, double x1, double y1) {
    path += "M" + svg_number(x + x0 * size) + " " + svg_number(y + y0 * size) + "H" + svg_number(x + x1 * size) + "V" +
            svg_number(y + y1 * size) + "H" + svg_number(x + x0 * size) + "Z";
  };
  rectangle(0.06, -0.78, 0.54, 0.1);
  rectangle(0.10, -0.74, 0.50, 0.06);
}

}  // namespace

std::string svg_number(double value) {
  if (!std::isfinite(value) || std::abs(value) < 5e-10) return "0";
  std::array<char, 40> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::general, 9);
  return {digits.data(), end.ptr};
}

std::string xml_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Utf8Scalar scalar = decode_utf8(text);
    const char32_t c = scalar.valid ? scalar.code_point : 0xfffd;
    const bool control = (c < 0x20 && c != '\n' && c != '\t') || c == 0xfffe || c == 0xffff || !scalar.valid;
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (control)
      out += "\xef\xbf\xbd";
    else
      out += text.substr(0, scalar.size_bytes);
    text.remove_prefix(scalar.size_bytes);
  }
  return out;
}

namespace {

std::string hex_of(Color color) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "#";
  for (const std::uint8_t channel : {color.r, color.g, color.b}) {
    text += kDigits[channel >> 4];
    text += kDigits[channel & 15];
  }
  return text;
}

std::string opacity_of(const char* what, Color color) {
  return color.a == 255 ? std::string() : std::string(" ") + what + "-opacity=\"" + svg_number(color.a / 255.0) + "\"";
}

}  // namespace

std::string svg_fill(Color color) { return " fill=\"" + hex_of(color) + "\"" + opacity_of("fill", color); }

std::string svg_stroke(Color color, float width) {
  return " fill=\"none\" stroke=\"" + hex_of(color) + "\"" + opacity_of("stroke", color) + " stroke-width=\"" +
         svg_number(static_cast<double>(width)) + "\"";
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += i + k <= bytes.size() ? kDigits[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string text_outlines(const FontLibrary& fonts, std::string_view text, Face face, float size, int& boxes) {
  std::string path;
  const auto em = static_cast<double>(size);
  for (const PlacedGlyph& glyph : fonts.shape(text, face).glyphs) {
    const double x = static_cast<double>(glyph.x) * em, y = static_cast<double>(glyph.y) * em;
    if (glyph.font == kBoxFont || !add_outline(path, fonts.font(glyph.font).face(), glyph.glyph, x, y, em)) {
      add_box(path, x, y, em);
      ++boxes;
    }
  }
  return path;
}

}  // namespace headroom
