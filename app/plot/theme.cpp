#include "app/plot/theme.h"

#include <cstdint>

namespace headroom {
namespace {

constexpr Color hex(std::uint32_t rgb) { return Color::hex(rgb); }
constexpr Color hex(std::uint32_t rgb, std::uint8_t alpha) {
  Color color = Color::hex(rgb);
  color.a = alpha;
  return color;
}
constexpr std::uint8_t kScrimAlpha = 148, kHaloAlpha = 140;  // 58 % and 55 %

constexpr Theme make_dark() {
  Theme t;
  t.dark = true;
  t.bg = hex(0x0E1115), t.panel = hex(0x15191F), t.raised = hex(0x222831), t.hover = hex(0x2C343F);
  t.line = hex(0x2B323C), t.grid = hex(0x20262E), t.empty = hex(0x111419);
  t.text = hex(0xE8ECF1), t.text2 = hex(0xAEB7C2), t.text3 = hex(0x8E98A4), t.off = hex(0x77828F);
  t.faint = hex(0x4A5460);
  t.accent = hex(0x4FD1B5), t.on_accent = hex(0x06231C), t.accent_soft = hex(0x17332F);
  t.first = hex(0xF2A65A), t.second = hex(0x6CB2F7), t.lambda = hex(0xC4A5F8), t.kappa = hex(0xD98CB3);
  t.warn = hex(0xF0B93A), t.err = hex(0xFF7A70), t.ok = hex(0x63CF7F);
  t.scrim = hex(0x06080A, kScrimAlpha), t.mark = hex(0xFFFFFF), t.halo = hex(0x000000, kHaloAlpha);
  t.hatch = hex(0x5A626C);
  return t;
}

constexpr Theme make_light() {
  Theme t;
  t.dark = false;
  t.bg = hex(0xE4E8ED), t.panel = hex(0xFCFDFE), t.raised = hex(0xECEFF3), t.hover = hex(0xDFE4EA);
  t.line = hex(0xD3D9E0), t.grid = hex(0xE9EDF1), t.empty = hex(0xF1F3F6);
  t.text = hex(0x14181D), t.text2 = hex(0x47515C), t.text3 = hex(0x5F6975), t.off = hex(0x7D8792);
  t.faint = hex(0xA9B2BC);
  t.accent = hex(0x08755F), t.on_accent = hex(0xFFFFFF), t.accent_soft = hex(0xDBF1EB);
  t.first = hex(0xAD5207), t.second = hex(0x1B5FB0), t.lambda = hex(0x6F3FC0), t.kappa = hex(0xA83A73);
  t.warn = hex(0x855600), t.err = hex(0xBF2A22), t.ok = hex(0x1B7A37);
  t.scrim = hex(0x06080A, kScrimAlpha), t.mark = hex(0x000000), t.halo = hex(0xFFFFFF, kHaloAlpha);
  t.hatch = hex(0x9AA3AD);
  return t;
}

constexpr Theme kDark = make_dark(), kLight = make_light();

}  // namespace

const Theme& dark_theme() { return kDark; }
const Theme& light_theme() { return kLight; }

}  // namespace headroom
