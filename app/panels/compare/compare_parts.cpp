#include "app/panels/compare/compare_parts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "app/panels/panel.h"
#include "app/panels/parts/change_text.h"
#include "app/panels/parts/head_parts.h"
#include "app/plot/series.h"
#include "app/plot/token_text.h"
#include "core/base/number_text.h"

namespace headroom {

void PartColumn::add(float height, std::function<void(Rect)> draw) {
  parts_.push_back({height_, height, std::move(draw)});
  height_ += height;
}

void PartColumn::space(float height) { height_ += height; }

void PartColumn::heading(std::string title, std::string hint) {
  const bool first = parts_.empty();
  if (!first) space(8.0f);
  add(first ? 24.0f : 30.0f, [&context = context_, title = std::move(title), hint = std::move(hint), first](Rect area) {
    const Theme& theme = context.theme();
    if (!first)
      context.painter().fill_rect({area.x0 - measure::kPadding, area.y0, area.x1 + measure::kPadding, area.y0 + 1.0f},
                                  theme.line);
    const float y = area.y1 - 12.0f;
    const float width = std::min(context.ui.width(title, theme.plot_title()), area.width());
    context.ui.label_at(area.x0, y, title, theme.plot_title(), area.width());
    if (!hint.empty() && area.width() - width > 60.0f)
      context.ui.label_at(area.x1, y, hint, theme.hint(), area.width() - width - 14.0f, Painter::Align::Right);
  });
}

void PartColumn::value(std::string name, std::string text, Color color) {
  add(measure::kTableRow, [&context = context_, name = std::move(name), text = std::move(text), color](Rect area) {
    const Theme& theme = context.theme();
    const TextStyle value{Face::Mono, 12.0f, color};
    const float width = std::min(context.ui.width(text, value), 0.6f * area.width());
    context.ui.label_at(area.x0, area.centre_y(), name, theme.body(theme.text2), area.width() - width - 12.0f);
    context.ui.label_at(area.x1, area.centre_y(), text, value, 0.6f * area.width(), Painter::Align::Right);
  });
}

void PartColumn::note(std::string text, Color color) {
  const float width = area_.width() - 2.0f * measure::kPadding;
  const TextStyle style{Face::Sans, 11.0f, color};
  const float height = context_.ui.paragraph({0.0f, 0.0f}, text, style, width, 15.0f, false);
  add(height + 4.0f, [&context = context_, text = std::move(text), style, width](Rect area) {
    context.ui.paragraph({area.x0, area.y0 + 2.0f}, text, style, width, 15.0f);
  });
}

void PartColumn::draw(std::string_view id, Rect area) {
  if (area.empty()) return;
  const float offset = context_.ui.scroll(id, area, height_);
  context_.ui.push_clip(area);
  for (const Part& part : parts_) {
    const float top = area.y0 + part.top - offset;
    if (top < area.y0 - 0.5f || top + part.height > area.y1 + 0.5f) continue;
    part.draw({area.x0 + measure::kPadding, top, area.x1 - measure::kPadding, top + part.height});
  }
  context_.ui.pop_clip();
}

std::span<const float> attention_received(const LayerSnapshot& layer, std::int64_t head) {
  const auto index = static_cast<std::size_t>(std::max<std::int64_t>(0, layer.head_index(head)));
  const auto n = static_cast<std::size_t>(layer.length);
  const bool pair = index < layer.programs.size() && layer.programs[index].has_second();
  if (const auto net = layer.row_values("keys/attention_received_net", head); pair && net.size() == n) return net;
  const auto both = layer.row_values("keys/attention_received", head);
  return both.size() == 2 * n ? both.first(n) : std::span<const float>();
}

std::string received_title(std::span<const KeyChange> keys, bool wide) {
  const KeyChange* most = nullptr;
  for (const KeyChange& key : keys)
    if (!most || key.change() < most->change()) most = &key;
  if (most && most->key == 0 && most->change() < 0.0)
    return wide ? "Where the mass of key 0 went: attention received by the keys that change most"
                : "Where the mass of key 0 went";
  return wide ? "Attention received by the keys that change most" : "Attention received";
}

void draw_received_bars(PanelContext& context, Rect area, const ReceivedBars& bars) {
  if (area.width() < 60.0f || area.height() < 50.0f) return;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const Rect title = area.cut_top(measure::kTitleToPlot);
  // The legend at the right of the title: two squares with their names.
  float right = title.x1;
  const auto legend = [&](std::string_view name, Color color) {
    const float width = context.ui.width(name, theme.hint());
    painter.text_at(right - width, title.centre_y(), name, theme.hint());
    painter.fill_rect(Rect::sized(right - width - 14.0f, title.centre_y() - 4.0f, 9.0f, 9.0f), color);
    right -= width + 26.0f;
  };
  const float names = context.ui.width(bars.name_a, theme.hint()) + context.ui.width(bars.name_b, theme.hint()) + 52.0f;
  if (title.width() - names >= 120.0f) {
    legend(bars.name_b, bars.b);
    legend(bars.name_a, bars.a);
  }
  context.ui.label_at(title.x0, title.centre_y(), received_title(bars.keys, area.width() >= 520.0f), theme.plot_title(),
                      std::max(0.0f, right - title.x0 - 4.0f));
  if (bars.keys.empty()) {
    draw_note(context, area, bars.none);
    return;
  }
  double low = 0.0, high = 0.0;
  for (const KeyChange& key : bars.keys) {
    low = std::min({low, key.a, key.b});
    high = std::max({high, key.a, key.b});
  }
  const Range range = nice_range(low, high > low ? high : low + 1.0, false);
  AxisSpec x{.low = 0.0, .high = 1.0, .labels = false, .grid = false},
      y{.low = range.low, .high = range.high, .least_gap = 40.0f};
  PlotRoom room;
  room.bottom = 32.0f;
  room.top = 6.0f;
  const PlotFrame frame = lay_out_plot(area, x, y, context.ui.measure(), room);
  if (frame.inner.width() < 30.0f || frame.inner.height() < 16.0f) return;
  // As many groups as can be told apart.
  const std::size_t most = static_cast<std::size_t>(std::max(1.0f, frame.inner.width() / 30.0f));
  std::vector<BarGroup> groups;
  std::vector<KeyChange> shown(bars.keys.begin(), bars.keys.end());
  if (shown.size() > most) {
    std::ranges::stable_sort(shown, [](const KeyChange& p, const KeyChange& q) {
      if ((p.key == 0) != (q.key == 0)) return p.key == 0;
      return std::abs(p.change()) > std::abs(q.change());
    });
    shown.resize(most);
    std::ranges::sort(shown, {}, &KeyChange::key);
  }
  for (const KeyChange& key : shown) {
    BarGroup group{grouped_text(key.key), "", key.a, key.b, delta_text(key.change(), bars.decimals)};
    if (group.value == "0") group.value.clear();
    if (const std::string* text = bars.run ? axis_text(*bars.run, bars.axis, key.key) : nullptr)
      group.sublabel = token_label(*text);
    groups.push_back(std::move(group));
  }
  draw_plot_ground(painter, frame, theme);
  draw_groups(painter, frame, groups, bars.a, bars.b, theme);
  draw_plot_axes(painter, frame, theme);
  // The key under the pointer, in all panels; a click pins it.
  const Rect slots{frame.inner.x0, frame.inner.y0, frame.inner.x1, area.y1};
  const Interaction hit = context.ui.interact("received bars", slots, Cursor::Hand);
  if (!hit.hovered || shown.empty()) return;
  const float slot = frame.inner.width() / static_cast<float>(shown.size());
  const auto index = static_cast<std::size_t>(
      std::clamp((context.ui.input.pointer.x - frame.inner.x0) / slot, 0.0f, static_cast<float>(shown.size()) - 0.5f));
  const KeyChange& key = shown[index];
  context.hover.key = key.key;
  const Rect tip{frame.inner.x0 + slot * static_cast<float>(index), slots.y0,
                 frame.inner.x0 + slot * static_cast<float>(index + 1), slots.y1};
  context.ui.tooltip(tip, "key " + grouped_text(key.key) +
                              (groups[index].sublabel.empty() ? "" : "  " + groups[index].sublabel) + "\n" +
                              bars.name_a + " " + readout_text(key.a) + ", " + bars.name_b + " " + readout_text(key.b) +
                              "\nmean over the rows that can see the key");
  if (hit.clicked) context.ui.run("pin - " + std::to_string(key.key));
}

}  // namespace headroom
