#include "app/panels/map/map_keys.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/plot/theme.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kBesideSquare = 220.0f;  // labels, profile and bar of the map
constexpr float kLeast = 260.0f, kMost = 460.0f, kRow = 18.0f, kIndex = 46.0f, kToken = 150.0f, kValue = 62.0f;
constexpr std::int64_t kLongestRow = 16384;  // computed anew in each frame

struct KeyValue {
  std::int64_t key;
  double value;
};

// What each key receives: from the pinned query, or as a mean over the queries that see it. NaN: nothing.
std::vector<KeyValue> values_of(const MapSubject& subject, std::optional<std::int64_t> query) {
  std::vector<KeyValue> values;
  if (query) {
    for (std::int64_t key = 0; key < (subject.keys > 0 ? subject.keys : subject.length); ++key)
      if (const double value = subject.value(*query, key); std::isfinite(value)) values.push_back({key, value});
    return values;
  }
  const std::span<const float> received = subject.received();
  for (std::size_t key = 0; key < received.size(); ++key)
    if (std::isfinite(received[key]))
      values.push_back({static_cast<std::int64_t>(key), static_cast<double>(received[key])});
  return values;
}

}  // namespace

Rect keys_column(Rect frame, const State& state) {
  if (state.layout.maximised != "map" || state.view.map.swipe) return {};
  const float spare = frame.width() - frame.height() - kBesideSquare;
  return spare >= kLeast ? frame.cut_right(std::min(spare, kMost)) : Rect{};
}

void draw_map_keys(PanelContext& context, Rect area, const MapSubject& subject) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  painter.fill_rect({area.x0, area.y0, area.x0 + 1.0f, area.y1}, theme.line);
  area = area.inset(measure::kPadding, 10.0f);
  std::optional<std::int64_t> query = context.state.view.selection.query;
  if (query && (*query >= subject.length || subject.length > kLongestRow)) query.reset();
  std::vector<KeyValue> values = values_of(subject, query);
  const std::size_t all = values.size();
  const auto larger = [](const KeyValue& a, const KeyValue& b) {
    const double x = std::abs(a.value), y = std::abs(b.value);
    return x != y ? x > y : a.key < b.key;
  };
  const Rect head = area.cut_top(22.0f);
  const std::string symbol = value_symbol(subject.kind, subject.differential);
  ui.label_at(
      head.x0, head.centre_y(),
      query ? "Keys of query " + grouped_text(*query) + " “" + subject.token(*query) + "”" : "Keys that receive most",
      theme.plot_title(), head.width());
  const Rect hint = area.cut_top(20.0f);
  ui.label_at(hint.x0, hint.centre_y(),
              query ? symbol + " of this row, by magnitude" : symbol + ", mean over the queries that see it",
              theme.hint(), hint.width());
  if (values.empty()) {
    ui.label_at(area.x0, area.y0 + 10.0f, "The run kept no attention received by key.", theme.body(theme.text3),
                area.width());
    return;
  }
  const auto rows = std::min(all, static_cast<std::size_t>(std::max(0.0f, std::floor((area.height() - kRow) / kRow))));
  std::ranges::partial_sort(values, values.begin() + static_cast<std::ptrdiff_t>(rows), larger);
  double rest = 0.0, largest = 0.0;
  for (std::size_t i = 0; i < all; ++i) {
    if (i >= rows) rest += values[i].value;
    largest = std::max(largest, std::abs(values[i].value));
  }
  const float bar = std::max(20.0f, area.width() - kIndex - kToken - kValue - 16.0f);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto [key, value] = values[i];
    const Rect row = area.cut_top(kRow);
    const bool pinned = context.state.view.selection.key == key;
    const Interaction hit = ui.interact("key " + std::to_string(i), row, Cursor::Hand);
    if (pinned) painter.fill_rect(row, theme.accent_soft, 2.0f);
    if (hit.hovered) {
      painter.fill_rect(row, theme.raised, 2.0f);
      context.hover.key = key;
    }
    if (hit.clicked) ui.run("pin " + (query ? std::to_string(*query) : std::string("-")) + " " + std::to_string(key));
    const float y = row.centre_y();
    painter.text_at(row.x0 + kIndex - 8.0f, y, grouped_text(key), {Face::Mono, 11.0f, theme.text3},
                    Painter::Align::Right);
    ui.label_at(row.x0 + kIndex, y, subject.key_token(key), theme.body(theme.text), kToken - 8.0f);
    const float x = row.x0 + kIndex + kToken;
    const float length = largest > 0.0 ? bar * static_cast<float>(std::abs(value) / largest) : 0.0f;
    painter.fill_rect({x, y - 3.0f, x + bar, y + 3.0f}, theme.raised, 2.0f);
    if (length >= 1.0f)
      painter.fill_rect({x, y - 3.0f, x + length, y + 3.0f}, value < 0.0 ? theme.second : theme.first, 2.0f);
    painter.text_at(row.x1, y, readout_text(value), {Face::Mono, 11.0f, theme.text}, Painter::Align::Right);
  }
  if (rows < all)
    ui.label_at(area.x0, area.y0 + 0.5f * kRow,
                grouped_text(static_cast<std::int64_t>(all - rows)) + " other keys" +
                    (query ? ", together " + readout_text(rest) : std::string()),
                theme.hint(), area.width());
}

}  // namespace headroom
