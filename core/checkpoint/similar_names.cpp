#include "core/checkpoint/similar_names.h"

#include <array>

#include "core/base/utf8.h"

namespace headroom {
namespace {

// Base letters of U+00C0 … U+017F; '.' where the character stands for itself.
constexpr std::string_view kLatin =
    "AAAAAA.CEEEEIIII.NOOOOO.OUUUUY..aaaaaa.ceeeeiiii.nooooo.ouuuuy.y"
    "AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIi..JjKk.LlLlLlLlLlNnNnNn..."
    "OoOoOo..RrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs";
static_assert(kLatin.size() == 0x180 - 0xC0);

struct Double {
  char32_t code_point;
  char ascii;
};

constexpr std::array kDoubles = {
    Double{0x0391, 'A'}, Double{0x0392, 'B'}, Double{0x0395, 'E'}, Double{0x0396, 'Z'}, Double{0x0397, 'H'},
    Double{0x0399, 'I'}, Double{0x039A, 'K'}, Double{0x039C, 'M'}, Double{0x039D, 'N'}, Double{0x039F, 'O'},
    Double{0x03A1, 'P'}, Double{0x03A4, 'T'}, Double{0x03A5, 'Y'}, Double{0x03A7, 'X'}, Double{0x03BF, 'o'},
    Double{0x03BD, 'v'}, Double{0x03B1, 'a'}, Double{0x0405, 'S'}, Double{0x0406, 'I'}, Double{0x0408, 'J'},
    Double{0x0410, 'A'}, Double{0x0412, 'B'}, Double{0x0415, 'E'}, Double{0x041A, 'K'}, Double{0x041C, 'M'},
    Double{0x041D, 'H'}, Double{0x041E, 'O'}, Double{0x0420, 'P'}, Double{0x0421, 'C'}, Double{0x0422, 'T'},
    Double{0x0425, 'X'}, Double{0x0430, 'a'}, Double{0x0435, 'e'}, Double{0x043E, 'o'}, Double{0x0440, 'p'},
    Double{0x0441, 'c'}, Double{0x0443, 'y'}, Double{0x0445, 'x'}, Double{0x0455, 's'}, Double{0x0456, 'i'},
    Double{0x0458, 'j'}, Double{0x0501, 'd'}, Double{0x051B, 'q'}, Double{0x051D, 'w'}, Double{0x2010, '-'},
    Double{0x2011, '-'}, Double{0x2013, '-'}, Double{0x2024, '.'}, Double{0x00A0, ' '},
};

bool is_invisible(char32_t c) {
  const bool combining = c >= 0x0300 && c <= 0x036F;
  const bool selector = c >= 0xFE00 && c <= 0xFE0F;
  return combining || selector || c == 0x00AD || (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x2069) || c == 0xFEFF;
}

char32_t base_letter(char32_t c) {
  if (c >= 0xC0 && c < 0x180 && kLatin[c - 0xC0] != '.') return static_cast<unsigned char>(kLatin[c - 0xC0]);
  if (c >= 0xFF01 && c <= 0xFF5E) return c - 0xFF01 + 0x21;
  for (const Double& entry : kDoubles)
    if (entry.code_point == c) return static_cast<unsigned char>(entry.ascii);
  return c;
}

}  // namespace

std::string name_skeleton(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const Utf8Scalar scalar = decode_utf8(name);
    if (!scalar.valid || !is_invisible(scalar.code_point)) append_utf8(out, base_letter(scalar.code_point));
    name.remove_prefix(scalar.size_bytes);
  }
  return out;
}

}  // namespace headroom
