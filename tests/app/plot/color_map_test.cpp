// The colour tables against the control points of the design, the way from values to colours and back, and the contrast
// that the design promises.
#include "app/plot/color_map.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ios>
#include <limits>
#include <utility>

#include "app/plot/theme.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

constexpr ColorMapId kMaps[] = {ColorMapId::SequentialDark, ColorMapId::SequentialLight, ColorMapId::DivergingDark,
                                ColorMapId::DivergingLight};

std::uint32_t rgb(Color c) {
  return static_cast<std::uint32_t>(c.r) << 16 | static_cast<std::uint32_t>(c.g) << 8 | c.b;
}

// The lightness of OKLab, which the design's steps are measured in.
double ok_lightness(Color c) {
  const auto linear = [](std::uint8_t v) {
    const double s = static_cast<double>(v) / 255.0;
    return s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
  };
  const double r = linear(c.r), g = linear(c.g), b = linear(c.b);
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
}

CATCH_TEST_CASE("Colour tables end and turn at the control points") {
  CATCH_CHECK(rgb(color_table(ColorMapId::SequentialDark).front()) == 0x0C0D20);
  CATCH_CHECK(rgb(color_table(ColorMapId::SequentialDark).back()) == 0xFCF9D6);
  CATCH_CHECK(rgb(color_table(ColorMapId::SequentialLight).front()) == 0xFBFAF6);
  CATCH_CHECK(rgb(color_table(ColorMapId::SequentialLight).back()) == 0x1E1443);
  CATCH_CHECK(rgb(color_table(ColorMapId::DivergingDark).front()) == 0x94E1FC);
  CATCH_CHECK(rgb(color_table(ColorMapId::DivergingDark).back()) == 0xF5CF82);
  CATCH_CHECK(rgb(color_table(ColorMapId::DivergingLight).front()) == 0x172F65);
  CATCH_CHECK(rgb(color_table(ColorMapId::DivergingLight).back()) == 0x561F14);
  // 255 = 5 · 51 = 15 · 17: of 13 points the 5th (4/12 · 255 = 85) and the 9th (170) fall on entries.
  CATCH_CHECK(rgb(color_table(ColorMapId::SequentialDark)[85]) == 0x842781);
  CATCH_CHECK(rgb(color_table(ColorMapId::SequentialDark)[170]) == 0xF17643);
  CATCH_CHECK(rgb(color_table(ColorMapId::SequentialLight)[85]) == 0xF78859);
  CATCH_CHECK(rgb(color_table(ColorMapId::SequentialLight)[170]) == 0x9F296B);
  // The middle lies between two entries, each within 1/16 · ½ · 16/255 of the centre's colour.
  for (const std::size_t i : {std::size_t{127}, std::size_t{128}}) {
    const Color dark = color_table(ColorMapId::DivergingDark)[i], light = color_table(ColorMapId::DivergingLight)[i];
    CATCH_CHECK(std::abs(dark.r - 0x1E) + std::abs(dark.g - 0x1E) + std::abs(dark.b - 0x1E) < 4);
    CATCH_CHECK(std::abs(light.r - 0xF7) + std::abs(light.g - 0xF7) + std::abs(light.b - 0xF7) < 6);
  }
  // A value between control points: entry 10 lies 10 · 12/255 = 0.47 of the way from the first to the second.
  const Color between = color_table(ColorMapId::SequentialDark)[10];
  CATCH_CHECK(static_cast<int>(between.r) == static_cast<int>(std::lround(0x0C + 120.0 / 255.0 * (0x1E - 0x0C))));
  CATCH_CHECK(static_cast<int>(between.b) == static_cast<int>(std::lround(0x20 + 120.0 / 255.0 * (0x44 - 0x20))));
}

CATCH_TEST_CASE("Published maps are as published, and begin next to the panel in either theme") {
  const auto near = [](ColorMapId map, std::size_t entry, std::uint32_t published) {
    const Color found = color_table(map)[entry], wanted = Color::hex(published);
    CATCH_INFO(static_cast<int>(map) << " at " << entry << ": " << std::hex << rgb(found));
    for (const auto& [a, b] : {std::pair{found.r, wanted.r}, {found.g, wanted.g}, {found.b, wanted.b}})
      CATCH_CHECK(std::abs(a - b) <= 1);
  };
  // matplotlib 3.11: colormaps[name](i) · 255 at entries that are no control points.
  near(ColorMapId::Viridis, 0, 0x440154);
  near(ColorMapId::Viridis, 127, 0x21908D);
  near(ColorMapId::Viridis, 192, 0x5EC962);
  near(ColorMapId::Viridis, 255, 0xFDE725);
  near(ColorMapId::Cividis, 64, 0x434E6C);
  near(ColorMapId::Cividis, 127, 0x7C7B78);
  near(ColorMapId::Cividis, 255, 0xFEE838);
  near(ColorMapId::Magma, 64, 0x51127C);
  near(ColorMapId::Magma, 127, 0xB5367A);
  near(ColorMapId::Magma, 255, 0xFCFDBF);
  near(ColorMapId::Grey, 128, 0x808080);
  near(ColorMapId::PuOr, 0, 0x2D004B);
  near(ColorMapId::PuOr, 255, 0x7F3B08);
  // cmcrameri 1.10
  near(ColorMapId::Vik, 64, 0x307DA6);
  near(ColorMapId::Vik, 192, 0xC27041);
  for (const Colours colours : {Colours::Headroom, Colours::Viridis, Colours::Cividis, Colours::Magma, Colours::Grey}) {
    const ColorTable &dark = color_table(sequential_map(colours, true)),
                     &light = color_table(sequential_map(colours, false));
    CATCH_CHECK(relative_luminance(dark.front()) < 0.03);
    CATCH_CHECK(relative_luminance(light.front()) > 0.6);
    for (const bool is_dark : {true, false}) {
      const ColorTable& table = is_dark ? dark : light;
      for (std::size_t i = 0; i + 1 < table.size(); ++i)
        CATCH_CHECK((is_dark ? 1.0 : -1.0) * (ok_lightness(table[i + 1]) - ok_lightness(table[i])) > -4e-3);
    }
  }
  for (const bool dark : {true, false}) {
    CATCH_CHECK(diverging_map(SignedColours::PuOr, dark) == ColorMapId::PuOr);
    CATCH_CHECK(diverging_map(SignedColours::Vik, dark) == ColorMapId::Vik);
  }
}

CATCH_TEST_CASE("λ goes from the panel to 80 % of its colour") {
  for (const Theme* theme : {&dark_theme(), &light_theme()}) {
    const ColorTable& table = color_table(theme->lambda_map());
    CATCH_CHECK(table.front() == theme->panel);
    CATCH_CHECK(table.back() == mix(theme->panel, theme->lambda, 0.8f));
    CATCH_CHECK(table.back() != theme->lambda);
  }
}

CATCH_TEST_CASE("Lightness never turns along a map, and on both arms of a signed one") {
  const auto check = [](ColorMapId map, std::size_t from, std::size_t to, double sign) {
    const ColorTable& table = color_table(map);
    for (std::size_t i = from; i < to; ++i) {
      CATCH_INFO("entry " << i);
      // Two steps of an 8-bit channel may round the other way.
      CATCH_CHECK(sign * (ok_lightness(table[i + 1]) - ok_lightness(table[i])) > -2e-3);
    }
    CATCH_CHECK(sign * (ok_lightness(table[to]) - ok_lightness(table[from])) > 0.5);
  };
  check(ColorMapId::SequentialDark, 0, 255, 1.0);
  check(ColorMapId::SequentialLight, 0, 255, -1.0);
  check(ColorMapId::DivergingDark, 0, 127, -1.0);
  check(ColorMapId::DivergingDark, 128, 255, 1.0);
  check(ColorMapId::DivergingLight, 0, 127, 1.0);
  check(ColorMapId::DivergingLight, 128, 255, -1.0);
}

CATCH_TEST_CASE("Text on any colour of any map reads") {
  double worst = 100.0;
  for (const ColorMapId map : kMaps) {
    for (const Color ground : color_table(map)) worst = std::min(worst, contrast_ratio(text_on(ground), ground));
  }
  // 4.5 is what WCAG 2.2 asks of small text; the maps reach 4.59.
  CATCH_CHECK(worst >= 4.5);
  CATCH_CHECK(worst == near(4.59, 0.0, 0.02));
}

CATCH_TEST_CASE("The themes keep the contrasts of the design") {
  CATCH_CHECK(contrast_ratio(Color::hex(0x000000), Color::hex(0xFFFFFF)) == near(21.0, 1e-12));
  struct Case {
    const Theme& theme;
    Color color, ground;
    double ratio;
  };
  const Theme &d = dark_theme(), &l = light_theme();
  const Case cases[] = {{d, d.text, d.panel, 14.9},     {d, d.text2, d.panel, 8.7},      {d, d.text3, d.panel, 6.0},
                        {d, d.off, d.panel, 4.5},       {d, d.accent, d.panel, 9.3},     {d, d.first, d.panel, 8.7},
                        {d, d.second, d.panel, 7.9},    {d, d.lambda, d.panel, 8.5},     {d, d.kappa, d.panel, 7.0},
                        {d, d.warn, d.panel, 9.8},      {d, d.err, d.panel, 6.9},        {d, d.ok, d.panel, 9.0},
                        {d, d.text, d.raised, 12.5},    {d, d.text2, d.raised, 7.3},     {d, d.text3, d.raised, 5.0},
                        {d, d.off, d.raised, 3.8},      {d, d.on_accent, d.accent, 8.8}, {l, l.text, l.panel, 17.5},
                        {l, l.text2, l.panel, 7.9},     {l, l.text3, l.panel, 5.5},      {l, l.off, l.panel, 3.6},
                        {l, l.accent, l.panel, 5.5},    {l, l.first, l.panel, 5.2},      {l, l.second, l.panel, 6.2},
                        {l, l.lambda, l.panel, 6.6},    {l, l.kappa, l.panel, 5.9},      {l, l.warn, l.panel, 6.2},
                        {l, l.err, l.panel, 5.8},       {l, l.ok, l.panel, 5.3},         {l, l.text, l.raised, 15.5},
                        {l, l.text2, l.raised, 7.0},    {l, l.text3, l.raised, 4.8},     {l, l.off, l.raised, 3.2},
                        {l, l.on_accent, l.accent, 5.6}};
  for (const Case& c : cases) {
    CATCH_INFO((c.theme.dark ? "dark " : "light ") << std::hex << rgb(c.color) << " on " << rgb(c.ground));
    CATCH_CHECK(contrast_ratio(c.color, c.ground) == near(c.ratio, 0.0, 0.08));
  }
  for (const Theme* theme : {&d, &l}) {
    CATCH_CHECK(contrast_ratio(theme->text, theme->accent_soft) >= 4.5);
    CATCH_CHECK(contrast_ratio(theme->text2, theme->accent_soft) >= 4.5);
  }
}

CATCH_TEST_CASE("Values stand on their scale where its kind puts them") {
  const ColorScale linear{ColorMapId::SequentialDark, ScaleKind::Linear, -1.0f, 3.0f};
  CATCH_CHECK(scale_position(linear, 0.0f) == near(0.25, 1e-6));
  const ColorScale log{ColorMapId::SequentialDark, ScaleKind::Log10, 1e-4f, 1.0f};
  CATCH_CHECK(scale_position(log, 1e-2f) == near(0.5, 1e-6));
  CATCH_CHECK(scale_position(log, 1e-4f) == 0.0f);
  CATCH_CHECK(scale_position(log, 0.0f) == 0.0f);
  CATCH_CHECK(scale_position(log, -1.0f) == 0.0f);
  // Threshold to high are two decades and the threshold itself is one: 0.01 is a third of the way out.
  const ColorScale symlog{ColorMapId::DivergingDark, ScaleKind::Symlog, -1.0f, 1.0f, 0.01f};
  CATCH_CHECK(scale_position(symlog, 0.0f) == 0.5f);
  CATCH_CHECK(scale_position(symlog, 0.01f) == near(0.5 + 0.5 / 3.0, 1e-6));
  CATCH_CHECK(scale_position(symlog, -0.1f) == near(0.5 - 0.5 * 2.0 / 3.0, 1e-6));
  CATCH_CHECK(scale_position(symlog, 0.005f) == near(0.5 + 0.25 / 3.0, 1e-6));
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const ColorScale& scale : {linear, log, symlog}) {
    CATCH_CHECK(scale_position(scale, scale.high) == 1.0f);
    CATCH_CHECK(scale_position(scale, kInf) == 1.0f);
    CATCH_CHECK(scale_position(scale, -kInf) == 0.0f);
    CATCH_CHECK(std::isnan(scale_position(scale, std::numeric_limits<float>::quiet_NaN())));
    float before = -1.0f;
    for (int i = 0; i <= 200; ++i) {
      const float position = static_cast<float>(i) / 200.0f, value = scale_value(scale, position);
      CATCH_CHECK(scale_position(scale, value) == near(static_cast<double>(position), 1e-5, 1e-5));
      CATCH_CHECK(scale_position(scale, value) >= before);
      before = scale_position(scale, value);
    }
  }
}

CATCH_TEST_CASE("A scale without a range still has a colour for every value") {
  for (const ScaleKind kind : {ScaleKind::Linear, ScaleKind::Log10, ScaleKind::Symlog}) {
    for (const float end : {0.0f, 1.0f, -2.0f}) {
      const ColorScale scale{ColorMapId::DivergingDark, kind, end, end, 0.0f};
      for (const float value : {-3.0f, 0.0f, 1.0f, 4.0f}) {
        const float position = scale_position(scale, value);
        CATCH_CHECK((position >= 0.0f && position <= 1.0f));
        CATCH_CHECK(scale_color(scale, value).a == 255);
      }
      CATCH_CHECK(std::isfinite(scale_value(scale, 0.3f)));
    }
  }
}

CATCH_TEST_CASE("The colour of a value is the nearest entry") {
  const ColorScale scale{ColorMapId::SequentialDark, ScaleKind::Linear, 0.0f, 255.0f};
  CATCH_CHECK(scale_color(scale, 10.4f) == color_table(scale.map)[10]);
  CATCH_CHECK(scale_color(scale, 10.6f) == color_table(scale.map)[11]);
  CATCH_CHECK(scale_color(scale, 900.0f) == color_table(scale.map)[255]);
  CATCH_CHECK(scale_color(scale, std::nanf("")).a == 0);
}

}  // namespace
}  // namespace headroom::test
