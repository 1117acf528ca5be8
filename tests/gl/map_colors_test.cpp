// Maps on the screen against scale_color(): every pixel, every scale, values on and beside the edges between colours.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ios>
#include <limits>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "app/gl/color_steps.h"
#include "app/gl/map_renderer.h"
#include "app/plot/theme.h"
#include "tests/gl/pixels.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<ColorScale> scales() {
  using enum ColorMapId;
  return {
      {SequentialDark, ScaleKind::Linear, 0.0f, 1.0f},         {SequentialLight, ScaleKind::Linear, -3.25f, 7.5f},
      {SequentialDark, ScaleKind::Log10, 1e-4f, 0.6f},         {SequentialLight, ScaleKind::Log10, 1e-7f, 1.0f},
      {DivergingDark, ScaleKind::Symlog, -0.4f, 0.4f, 1e-3f},  {DivergingLight, ScaleKind::Symlog, -20.0f, 20.0f, 0.1f},
      {DivergingDark, ScaleKind::Linear, -1.0f, 1.0f},         {LambdaDark, ScaleKind::Linear, 0.0f, 1.0f},
      {SequentialDark, ScaleKind::Linear, 0.5f, 0.5f},         {SequentialDark, ScaleKind::Log10, 0.2f, 0.2f},
      {DivergingDark, ScaleKind::Symlog, -1e-4f, 1e-4f, 1e-3f}};
}

// For each entry its smallest value and the floats beside it, then values anywhere and far outside.
std::vector<float> telling_values(const ColorScale& scale, std::size_t count) {
  const ColorSteps steps = color_steps(scale);
  std::vector<float> values = {0.0f, -0.0f, scale.low, scale.high, 1e30f, -1e30f, std::numeric_limits<float>::max()};
  for (const float from : steps.from) {
    if (!std::isfinite(from)) continue;
    values.insert(values.end(), {from, std::nextafter(from, -kInfinity), std::nextafter(from, kInfinity)});
  }
  std::mt19937 random(1);
  std::uniform_real_distribution<float> position(0.0f, 1.0f);
  while (values.size() < count) values.push_back(scale_value(scale, position(random)));
  values.resize(count);
  return values;
}

MapImage image_of(std::vector<float> values, int width) {
  const auto height = static_cast<std::int32_t>(values.size()) / width;
  return {next_image_id(), 1, width, height, std::make_shared<const std::vector<float>>(std::move(values))};
}

}  // namespace

CATCH_TEST_CASE("color steps are the edges of scale_color") {
  for (const ColorScale& scale : scales()) {
    const ColorSteps steps = color_steps(scale);
    const ColorTable& table = color_table(scale.map);
    CATCH_CHECK(steps.from[0] == -kInfinity);
    for (std::size_t k = 1; k < 256; ++k) {
      if (!std::isfinite(steps.from[k])) continue;
      const float from = steps.from[k], below = std::nextafter(from, -kInfinity);
      CATCH_CHECK(std::lround(255.0f * scale_position(scale, from)) >= static_cast<long>(k));
      CATCH_CHECK(std::lround(255.0f * scale_position(scale, below)) < static_cast<long>(k));
      CATCH_CHECK(steps.from[k] >= steps.from[k - 1]);
    }
    CATCH_CHECK(scale_color(scale, std::numeric_limits<float>::max()) == table[255]);
  }
}

CATCH_TEST_CASE("every pixel of a map has the colour of its value", "[gl]") {
  const auto screen = Screen::open(320, 240);
  if (!screen) return;
  for (const ColorScale& scale : scales()) {
    const std::vector<float> values = telling_values(scale, 64 * 32);
    const MapImage image = image_of(values, 64);
    const auto draw = [&](ImguiPainter& painter) {
      painter.map(Rect::sized(7, 5, 256, 128), image, {0, 0, 64, 32}, {scale, {}, 0, {}});
    };
    // The second time it is the picture kept from the first.
    for (int time = 0; time < 3; ++time) {
      const PixelImage shown = screen->frame(draw);
      int wrong = 0;
      for (int y = 0; y < 128; ++y) {
        for (int x = 0; x < 256; ++x) {
          const float value = values[static_cast<std::size_t>((y / 4) * 64 + x / 4)];
          const int expected = rgb(scale_color(scale, value)), found = pixel(shown, 7 + x, 5 + y);
          if (found != expected && ++wrong < 4) {
            CATCH_UNSCOPED_INFO("time " << time << " value " << value << " expected " << std::hex << expected
                                        << " found " << found);
          }
        }
      }
      CATCH_CHECK(wrong == 0);
      CATCH_CHECK(pixel(shown, 6, 5) == 0);
      CATCH_CHECK(pixel(shown, 263, 132) == 0);
    }
  }
  CATCH_CHECK(screen->loop->gl_error_count() == 0);
}

CATCH_TEST_CASE("masked cells are empty, infinite ones hatched, in the picture that is kept too", "[gl]") {
  const auto screen = Screen::open(320, 240);
  if (!screen) return;
  const Theme& theme = dark_theme();
  const MapImage image = image_of({kNan, kInfinity, -kInfinity, 0.5f}, 2);
  const ColorScale scale{ColorMapId::SequentialDark, ScaleKind::Linear, 0.0f, 1.0f};
  for (const NanStyle style : {NanStyle::Masked, NanStyle::Hatched}) {
    PixelImage first;
    for (int time = 0; time < 3; ++time) {
      PixelImage shown = screen->frame(
          [&](ImguiPainter& p) { p.map(Rect::sized(11, 9, 80, 80), image, {0, 0, 2, 2}, {scale, style, 0, {}}); });
      if (time == 0) {
        int hatched = 0, nan_hatched = 0;
        for (int y = 0; y < 40; ++y) {
          for (int x = 0; x < 40; ++x) {
            const int infinite = pixel(shown, 51 + x, 9 + y);
            CATCH_CHECK((infinite == rgb(theme.hatch) || infinite == rgb(theme.empty)));
            // 45°: the same one to the right and one up; a line every four pixels.
            if (x > 0 && y < 39) CATCH_CHECK(infinite == pixel(shown, 51 + x - 1, 9 + y + 1));
            hatched += infinite == rgb(theme.hatch);
            nan_hatched += pixel(shown, 11 + x, 9 + y) == rgb(theme.hatch);
          }
        }
        CATCH_CHECK(hatched == 400);
        CATCH_CHECK(nan_hatched == (style == NanStyle::Masked ? 0 : 400));
        CATCH_CHECK(pixel(shown, 60, 60) == rgb(scale_color(scale, 0.5f)));
        first = std::move(shown);
      } else {
        CATCH_CHECK((shown.rgb == first.rgb));
      }
    }
  }
  CATCH_CHECK(screen->loop->gl_error_count() == 0);
}

CATCH_TEST_CASE("gaps part cells but do not frame them, and fractions of cells are cut", "[gl]") {
  const auto screen = Screen::open(320, 240);
  if (!screen) return;
  const ColorScale scale{ColorMapId::SequentialDark, ScaleKind::Linear, 0.0f, 1.0f};
  const MapImage image = image_of({0.1f, 0.3f, 0.5f, 0.7f, 0.9f, 1.0f}, 3);
  const Color gap = Color::hex(0x123456);
  const PixelImage shown = screen->frame(
      [&](ImguiPainter& p) { p.map(Rect::sized(0, 0, 30, 20), image, {0, 0, 3, 2}, {scale, {}, 1, gap}); });
  for (int x = 0; x < 30; ++x) CATCH_CHECK((pixel(shown, x, 3) == rgb(gap)) == (x == 9 || x == 19));
  for (int y = 0; y < 20; ++y) CATCH_CHECK((pixel(shown, 3, y) == rgb(gap)) == (y == 9));
  CATCH_CHECK(pixel(shown, 29, 19) == rgb(scale_color(scale, 1.0f)));
  const PixelImage cut = screen->frame(
      [&](ImguiPainter& p) { p.map(Rect::sized(0, 0, 30, 20), image, {0.5f, 0, 3.5f, 2}, {scale, {}, 0, gap}); });
  CATCH_CHECK(pixel(cut, 4, 0) == rgb(scale_color(scale, 0.1f)));
  CATCH_CHECK(pixel(cut, 5, 0) == rgb(scale_color(scale, 0.3f)));
  CATCH_CHECK(pixel(cut, 24, 0) == rgb(scale_color(scale, 0.5f)));
  CATCH_CHECK(pixel(cut, 25, 0) == 0);  // beyond the image
}

CATCH_TEST_CASE("an image beyond the largest texture is the same in tiles", "[gl]") {
  const auto screen = Screen::open(320, 240);
  if (!screen) return;
  std::vector<float> values(300 * 200);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 977) / 977.0f;
  const MapImage image = image_of(values, 300);
  const ColorScale scale{ColorMapId::SequentialDark, ScaleKind::Linear, 0.0f, 1.0f};
  auto whole = MapRenderer::create(HEADROOM_SOURCE_SHADERS), tiled = MapRenderer::create(HEADROOM_SOURCE_SHADERS, 64);
  CATCH_REQUIRE(whole);
  CATCH_REQUIRE(tiled);
  const auto shown = [&](MapRenderer& renderer, Rect target, Rect source) {
    MapDraw map = renderer.prepare(image, scale);
    map.target = target;
    map.source_x = static_cast<double>(source.x0);
    map.source_y = static_cast<double>(source.y0);
    map.source_width = static_cast<double>(source.width());
    map.source_height = static_cast<double>(source.height());
    return picture_of(320, 240, [&] { renderer.draw(map, 320, 240); });
  };
  CATCH_CHECK((*tiled)->prepare(image, scale).texture->tiles.size() == 20);
  const PixelImage exact = shown(**tiled, {0, 0, 300, 200}, {0, 0, 300, 200});
  int wrong = 0;
  for (int y = 0; y < 200; ++y) {
    for (int x = 0; x < 300; ++x)
      wrong += pixel(exact, x, y) != rgb(scale_color(scale, values[static_cast<std::size_t>(y * 300 + x)]));
  }
  CATCH_CHECK(wrong == 0);
  for (const Rect source : {Rect{0, 0, 300, 200}, Rect{50.3f, 60.7f, 201.9f, 131.2f}, Rect{-20, -10, 320, 210}}) {
    CATCH_CHECK((shown(**whole, {3, 2, 310, 237}, source).rgb == shown(**tiled, {3, 2, 310, 237}, source).rgb));
  }
  CATCH_CHECK(screen->loop->gl_error_count() == 0);
}

CATCH_TEST_CASE("textures of maps that are not drawn make room", "[gl]") {
  const auto screen = Screen::open(64, 64);
  if (!screen) return;
  MapTextures textures;
  const MapImage first = image_of(std::vector<float>(100 * 100), 100),
                 second = image_of(std::vector<float>(100 * 100), 100);
  const GLuint name = textures.texture(first).tiles[0].texture.name();
  static_cast<void>(textures.texture(second));
  CATCH_CHECK(textures.bytes() == 80000);
  static_cast<void>(textures.texture(second));  // as it was: not uploaded again
  CATCH_CHECK((textures.uploads() == 2 && textures.uploaded_bytes() == 80000));
  textures.begin_frame(50000);
  CATCH_CHECK(textures.texture(first).tiles[0].texture.name() == name);
  CATCH_CHECK(textures.bytes() == 80000);
  textures.begin_frame(50000);  // the second was not drawn in the frame that ended
  CATCH_CHECK(textures.bytes() == 40000);
  textures.begin_frame(1000);
  CATCH_CHECK(textures.bytes() == 0);
}

}  // namespace headroom::test
