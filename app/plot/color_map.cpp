#include "app/plot/color_map.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "app/plot/color_map_points.h"
#include "app/plot/theme.h"

namespace headroom {
namespace {

constexpr std::uint32_t kSequentialDark[] = {0x0C0D20, 0x1E1744, 0x381E65, 0x5E237A, 0x842781, 0xA92D78, 0xCB3B64,
                                             0xE25652, 0xF17643, 0xF79A42, 0xF7BD5E, 0xF6DE9C, 0xFCF9D6};
constexpr std::uint32_t kSequentialLight[] = {0xFBFAF6, 0xF6E4C2, 0xF7C991, 0xFAA96B, 0xF78859, 0xED6858, 0xD84C5E,
                                              0xBD3663, 0x9F296B, 0x7D256F, 0x5B2169, 0x3A1B59, 0x1E1443};
constexpr std::uint32_t kDivergingDark[] = {0x94E1FC, 0x6CC6F5, 0x4FAAE9, 0x3A8CD7, 0x2D6FBE, 0x27559C,
                                            0x254073, 0x222F48, 0x1E1E1E, 0x42291D, 0x673319, 0x8A4114,
                                            0xAB5514, 0xC86D1C, 0xDF8C34, 0xEDAD56, 0xF5CF82};
constexpr std::uint32_t kDivergingLight[] = {0x172F65, 0x204589, 0x295DAB, 0x3879C7, 0x5395D8, 0x75B0E4,
                                             0x9BCAED, 0xC7E2F3, 0xF7F7F7, 0xF1D8C2, 0xEAB892, 0xE19767,
                                             0xD27542, 0xBC5524, 0x9C3D19, 0x792C16, 0x561F14};

constexpr std::uint32_t kGrey[] = {0x000000, 0xFFFFFF};

ColorTable interpolated(std::span<const std::uint32_t> control) {
  ColorTable table;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const float at = static_cast<float>(i) / 255.0f * static_cast<float>(control.size() - 1);
    const std::size_t k = std::min(static_cast<std::size_t>(at), control.size() - 2);
    table[i] = mix(Color::hex(control[k]), Color::hex(control[k + 1]), at - static_cast<float>(k));
  }
  return table;
}

// λ in the token strip: from the panel to 80 % of λ's colour.
ColorTable lambda_table(const Theme& theme) {
  ColorTable table;
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = mix(theme.panel, theme.lambda, 0.8f * static_cast<float>(i) / 255.0f);
  }
  return table;
}

// Linear within one threshold of zero, and as wide there as one decade beyond it.
double symlog(double magnitude, double threshold) {
  return magnitude <= threshold ? magnitude / threshold : 1.0 + std::log10(magnitude / threshold);
}

double symlog_inverse(double stretched, double threshold) {
  return stretched <= 1.0 ? stretched * threshold : threshold * std::pow(10.0, stretched - 1.0);
}

double unclamped_position(const ColorScale& scale, double value) {
  const double low = static_cast<double>(scale.low), high = static_cast<double>(scale.high);
  const double threshold = static_cast<double>(scale.threshold);
  switch (scale.kind) {
    case ScaleKind::Linear:
      if (!(high > low)) return value < low ? 0.0 : value > low ? 1.0 : 0.5;
      return (value - low) / (high - low);
    case ScaleKind::Log10:
      if (!(value > low) || !(low > 0.0)) return 0.0;
      if (!(high > low)) return 1.0;
      return std::log(value / low) / std::log(high / low);
    case ScaleKind::Symlog: break;
  }
  if (!(high > 0.0)) return value < 0.0 ? 0.0 : value > 0.0 ? 1.0 : 0.5;
  if (!(threshold > 0.0) || std::isinf(value))
    return 0.5 + 0.5 * (std::isinf(value) ? std::copysign(1.0, value) : value / high);
  const double share = symlog(std::abs(value), threshold) / symlog(high, threshold);
  return 0.5 + 0.5 * std::copysign(share, value);
}

}  // namespace

const ColorTable& color_table(ColorMapId map) {
  static const std::array<ColorTable, kColorMapCount> tables = [] {
    std::array<ColorTable, kColorMapCount> all;
    const auto set = [&](ColorMapId id, const ColorTable& table) { all[static_cast<std::size_t>(id)] = table; };
    const auto pair = [&](ColorMapId dark, ColorMapId light, std::span<const std::uint32_t> control) {
      ColorTable table = interpolated(control);
      set(dark, table);
      std::ranges::reverse(table);
      set(light, table);
    };
    using enum ColorMapId;
    set(SequentialDark, interpolated(kSequentialDark));
    set(SequentialLight, interpolated(kSequentialLight));
    set(DivergingDark, interpolated(kDivergingDark));
    set(DivergingLight, interpolated(kDivergingLight));
    set(LambdaDark, lambda_table(dark_theme()));
    set(LambdaLight, lambda_table(light_theme()));
    pair(Viridis, ViridisLight, kViridis);
    pair(Cividis, CividisLight, kCividis);
    pair(Magma, MagmaLight, kMagma);
    pair(Grey, GreyLight, kGrey);
    set(PuOr, interpolated(kPuOr));
    set(Vik, interpolated(kVik));
    set(LambdaPaper, interpolated(kLambdaPaper));
    return all;
  }();
  return tables[static_cast<std::size_t>(map)];
}

ColorMapId sequential_map(Colours colours, bool dark) {
  switch (colours) {
    case Colours::Headroom: break;
    case Colours::Viridis: return dark ? ColorMapId::Viridis : ColorMapId::ViridisLight;
    case Colours::Cividis: return dark ? ColorMapId::Cividis : ColorMapId::CividisLight;
    case Colours::Magma: return dark ? ColorMapId::Magma : ColorMapId::MagmaLight;
    case Colours::Grey: return dark ? ColorMapId::Grey : ColorMapId::GreyLight;
  }
  return dark ? ColorMapId::SequentialDark : ColorMapId::SequentialLight;
}

ColorMapId diverging_map(SignedColours colours, bool dark) {
  switch (colours) {
    case SignedColours::Headroom: break;
    case SignedColours::PuOr: return ColorMapId::PuOr;
    case SignedColours::Vik: return ColorMapId::Vik;
  }
  return dark ? ColorMapId::DivergingDark : ColorMapId::DivergingLight;
}

float scale_position(const ColorScale& scale, float value) {
  if (std::isnan(value)) return value;
  return static_cast<float>(std::clamp(unclamped_position(scale, static_cast<double>(value)), 0.0, 1.0));
}

float scale_value(const ColorScale& scale, float position) {
  if (std::isnan(position)) return position;
  const double p = std::clamp(static_cast<double>(position), 0.0, 1.0);
  const double low = static_cast<double>(scale.low), high = static_cast<double>(scale.high);
  const double threshold = static_cast<double>(scale.threshold);
  switch (scale.kind) {
    case ScaleKind::Linear: return static_cast<float>(low + p * (high - low));
    case ScaleKind::Log10:
      return low > 0.0 && high > low ? static_cast<float>(low * std::pow(high / low, p)) : scale.low;
    case ScaleKind::Symlog: break;
  }
  const double side = 2.0 * p - 1.0;
  if (!(high > 0.0)) return 0.0f;
  if (!(threshold > 0.0)) return static_cast<float>(side * high);
  const double magnitude = symlog_inverse(std::abs(side) * symlog(high, threshold), threshold);
  return static_cast<float>(std::copysign(magnitude, side));
}

Color scale_color(const ColorScale& scale, float value) {
  const float position = scale_position(scale, value);
  if (std::isnan(position)) return {0, 0, 0, 0};
  return color_table(scale.map)[static_cast<std::size_t>(std::lround(255.0f * position))];
}

double relative_luminance(Color color) {
  const auto linear = [](std::uint8_t channel) {
    const double c = static_cast<double>(channel) / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b);
}

double contrast_ratio(Color a, Color b) {
  const double first = relative_luminance(a), second = relative_luminance(b);
  return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

Color text_on(Color ground) { return relative_luminance(ground) > 0.179 ? Color::hex(0x000000) : Color::hex(0xFFFFFF); }

}  // namespace headroom
