// The colour bar of a map, with ends that can be dragged.
#include "app/panels/map/map_bar.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/map/map_range.h"
#include "app/panels/panel.h"
#include "app/plot/color_bar.h"
#include "app/session/enum_words.h"

namespace headroom {
namespace {

// The value at a position that may lie beyond the ends of the scale.
double extended_value(const ColorScale& scale, double position) {
  const double low = static_cast<double>(scale.low), high = static_cast<double>(scale.high);
  switch (scale.kind) {
    case ScaleKind::Linear: return low + position * (high - low);
    case ScaleKind::Log10: return low > 0.0 ? low * std::pow(high / low, position) : low + position * (high - low);
    case ScaleKind::Symlog: break;
  }
  // Beyond the end as steep as between half of it and the end.
  const double half = static_cast<double>(scale_position(scale, static_cast<float>(0.5 * high)));
  if (position > half && half < 1.0) return high * std::exp((position - 1.0) * std::log(2.0) / (1.0 - half));
  return static_cast<double>(scale_value(scale, static_cast<float>(position)));
}

double two_digits(double value) {
  if (value == 0.0 || !std::isfinite(value)) return value;
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 1.0);
  return std::round(value / unit) * unit;
}

}  // namespace

void draw_map_bar(PanelContext& context, Rect outer, const MapRange& range, const std::string& symbol, bool editable) {
  if (outer.empty()) return;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  ColorBarSpec spec;
  spec.scale = range.scale;
  spec.clips_low = range.clips_low;
  spec.clips_high = range.clips_high;
  if (outer.width() < 40) {  // no room for labels
    constexpr int kSteps = 64;
    for (int i = 0; i < kSteps; ++i) {
      const float y0 = outer.y1 - outer.height() * static_cast<float>(i + 1) / kSteps,
                  y1 = outer.y1 - outer.height() * static_cast<float>(i) / kSteps;
      painter.fill_rect({outer.x0, y0, outer.x0 + spec.thickness, y1},
                        scale_color(range.scale, scale_value(range.scale, (static_cast<float>(i) + 0.5f) / kSteps)));
    }
  } else {
    draw_color_bar(painter, outer, spec, theme);
    if (!symbol.empty())
      painter.text_at(outer.x0 + spec.thickness + 8, outer.y0 - 12, symbol, {Face::Sans, 11.0f, theme.text2});
  }
  const Rect bar{outer.x0, outer.y0, outer.x0 + spec.thickness, outer.y1};
  context.ui.context_menu("colours", outer, [&] {
    std::vector<MenuItem> items;
    const auto add = [&](const char* title, const char* command, const auto& words, const char* chosen) {
      items.push_back({title, "", "", false, !items.empty(), {}});
      for (const char* word : words)
        items.push_back({word, "", std::string(command) + " " + word, std::string_view(word) == chosen, false, {}});
    };
    const Settings& settings = context.state.settings;
    add("Colours of maps", "map.colours", EnumWords<Colours>::words, word_of(settings.colours));
    add("of signed maps", "map.signed-colours", EnumWords<SignedColours>::words, word_of(settings.signed_colours));
    return items;
  });
  if (!editable || bar.height() < 40) {
    context.ui.tooltip(bar, range.statement);
    return;
  }
  const Interaction hand = context.ui.interact("bar", bar.inset(-3, -4), Cursor::ResizeVertical);
  context.ui.tooltip(
      bar, range.statement + "\ndrag an end to change the range, double click: automatic, right click: colours");
  if (hand.double_clicked) {
    context.ui.run("map.range auto");
    return;
  }
  // The scale as it was when the drag began: what the pointer's way is measured on.
  double& low = context.ui.kept_number("drag low");
  double& high = context.ui.kept_number("drag high");
  if (hand.pressed) {
    low = static_cast<double>(range.scale.low);
    high = static_cast<double>(range.scale.high);
  }
  if (!hand.dragging) return;
  ColorScale from = range.scale;
  from.low = static_cast<float>(low);
  from.high = static_cast<float>(high);
  if (from.kind == ScaleKind::Symlog) from.threshold = range.scale.threshold;
  const bool top = hand.pressed_at.y < bar.centre_y();
  const double moved = static_cast<double>((hand.pressed_at.y - context.ui.input.pointer.y) / bar.height());
  const double at = std::clamp((top ? 1.0 : 0.0) + moved, top ? 0.02 : -2.0, top ? 3.0 : 0.98);
  double new_low = low, new_high = high;
  if (from.kind == ScaleKind::Symlog || low < 0.0) {  // signed ranges stay centred on 0
    const double position = top ? std::max(0.52, at) : std::max(0.52, 1.0 - at);
    new_high = two_digits(extended_value(from, position));
    new_low = -new_high;
  } else if (top) {
    new_high = two_digits(extended_value(from, at));
  } else {
    new_low = two_digits(extended_value(from, at));
    if (from.kind == ScaleKind::Linear) new_low = std::max(0.0, new_low);
  }
  if (!(new_high > new_low)) return;
  char line[96];
  std::snprintf(line, sizeof line, "map.range %.6g %.6g", new_low, new_high);
  context.ui.run(line);
}

}  // namespace headroom
