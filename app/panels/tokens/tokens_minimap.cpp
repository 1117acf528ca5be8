#include "app/panels/tokens/tokens_minimap.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kBracket = 7.0f;

}  // namespace

void draw_token_minimap(PanelContext& context, const TokenTint& tint, std::int64_t tokens, Rect area) {
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const State& state = context.state;
  const auto count = static_cast<double>(tokens);
  Rect bar = area;
  bar.y0 += kBracket;
  const auto pixel = [&](double token) { return bar.x0 + static_cast<float>(token / count) * bar.width(); };
  painter.fill_rect(bar, theme.empty);
  if (!tint.values.empty()) {
    static const std::uint64_t image_id = next_image_id();
    const auto width = static_cast<std::size_t>(std::max(1.0f, bar.width()));
    auto pooled = std::make_shared<std::vector<float>>(pooled_tint(tint.values, width));
    MapImage image;
    image.id = image_id;
    image.generation = 0xCBF29CE484222325ULL;
    for (const float value : *pooled)
      image.generation = (image.generation ^ std::bit_cast<std::uint32_t>(value)) * 0x100000001B3ULL;
    image.width = static_cast<std::int32_t>(width);
    image.height = 1;
    image.values = pooled;
    MapShading shading;
    shading.scale = tint.scale;
    painter.map(bar, image, {0.0f, 0.0f, static_cast<float>(width), 1.0f}, shading);
  }
  if (!state.view.map.window.whole()) {
    const MapWindow& window = state.view.map.window;
    const float q0 = pixel(window.query0), q1 = std::max(q0 + 2.0f, pixel(window.query1));
    painter.line({q0, area.y0 + 2.0f}, {q1, area.y0 + 2.0f}, theme.text2, 1.0f);
    for (const float x : {q0, q1}) painter.line({x, area.y0 + 1.0f}, {x, area.y0 + 5.0f}, theme.text2, 1.0f);
    painter.stroke_rect({pixel(window.key0), bar.y0, std::max(pixel(window.key0) + 3.0f, pixel(window.key1)), bar.y1},
                        theme.accent, 2.0f);
  }
  if (state.view.selection.key) {
    const float x = pixel(static_cast<double>(*state.view.selection.key) + 0.5);
    painter.line({x, bar.y0}, {x, bar.y1}, theme.mark, 1.0f);
  }
  if (state.view.selection.query) {
    const float x =
        std::clamp(pixel(static_cast<double>(*state.view.selection.query) + 0.5), bar.x0 + 4.0f, bar.x1 - 4.0f);
    const std::array<Vec2, 3> triangle = {{{x - 4.0f, area.y0}, {x + 4.0f, area.y0}, {x, area.y0 + 6.0f}}};
    painter.fill_polygon(triangle, theme.accent);
  }
  const Interaction hit = context.ui.interact("minimap", area, Cursor::Hand);
  const auto at = [&] {
    const double share = static_cast<double>((context.ui.input.pointer.x - bar.x0) / std::max(1.0f, bar.width()));
    return static_cast<std::int64_t>(std::clamp(share * count, 0.0, count - 1.0));
  };
  if (hit.hovered) {
    context.hover.key = at();
    context.ui.tooltip(area, "token " + grouped_text(at()) + "; a click goes there");
  }
  if (hit.clicked || hit.dragging) context.ui.run("tokens.scroll " + std::to_string(at()));
}

}  // namespace headroom
