// Colour maps and the way from a value to a colour: pure functions that the shader repeats. Safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "app/plot/geometry.h"

namespace headroom {

enum class ColorMapId : std::uint8_t {
  SequentialDark,
  SequentialLight,
  DivergingDark,
  DivergingLight,
  LambdaDark,
  LambdaLight,
  Viridis,
  ViridisLight,  // "Light": from the light end, so that zero is next to a light panel
  Cividis,
  CividisLight,
  Magma,
  MagmaLight,
  Grey,
  GreyLight,
  PuOr,
  Vik,
  LambdaPaper
};
inline constexpr std::size_t kColorMapCount = 17;

// What a person chooses; each has a map for either theme.
enum class Colours : std::uint8_t { Headroom, Viridis, Cividis, Magma, Grey };
enum class SignedColours : std::uint8_t { Headroom, PuOr, Vik };
[[nodiscard]] ColorMapId sequential_map(Colours colours, bool dark);
[[nodiscard]] ColorMapId diverging_map(SignedColours colours, bool dark);

using ColorTable = std::array<Color, 256>;
[[nodiscard]] const ColorTable& color_table(ColorMapId map);

enum class ScaleKind : std::uint8_t { Linear, Log10, Symlog };

// Linear: low … high to 0 … 1. Log10: floor = low > 0; values at or below it show as the lowest colour. Symlog (signed
// or not): linear within ± threshold, logarithmic beyond, −high … high to 0 … 1 (low is −high).
struct ColorScale {
  ColorMapId map = ColorMapId::SequentialDark;
  ScaleKind kind = ScaleKind::Linear;
  float low = 0.0f, high = 1.0f;
  float threshold = 1e-3f;  // symlog's
  friend bool operator==(const ColorScale&, const ColorScale&) = default;
};

// Position of a value on the scale, clamped to [0, 1]; NaN for NaN. And the way back.
[[nodiscard]] float scale_position(const ColorScale& scale, float value);
[[nodiscard]] float scale_value(const ColorScale& scale, float position);
// The colour of a finite value: entry lround(255 · position) of the table.
[[nodiscard]] Color scale_color(const ColorScale& scale, float value);
// Black or white, whichever reads better on `ground` (tokens: relative luminance > 0.179).
[[nodiscard]] Color text_on(Color ground);
// WCAG 2 relative luminance and contrast ratio.
[[nodiscard]] double relative_luminance(Color color);
[[nodiscard]] double contrast_ratio(Color a, Color b);

}  // namespace headroom
