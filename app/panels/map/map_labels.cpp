#include "app/panels/map/map_labels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>

#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/panel.h"
#include "app/plot/label_layout.h"
#include "app/plot/token_text.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kLabelSize = 11.0f;
constexpr float kLongestLabel = 120.0f;  // pixels of one slanted label

}  // namespace

std::vector<KeyCandidate> key_candidates(const MapLayout& layout, const MapMarks& marks,
                                         std::span<const float> received) {
  std::vector<KeyCandidate> out;
  std::set<std::int64_t> taken;
  const auto place = [&](std::int64_t key) -> std::optional<float> {
    if (layout.sees_key(key))
      return 0.5f * (layout.key_pixel(static_cast<double>(key)) + layout.key_pixel(static_cast<double>(key + 1)));
    if (marks.pinned_key == key && !layout.pinned_strip.empty()) return layout.pinned_strip.centre_x();
    return {};
  };
  const auto add = [&](std::int64_t key, std::optional<float> x, bool strong) {
    if (x && taken.insert(key).second) out.push_back({key, *x, strong});
  };
  if (marks.hovered_key)
    add(*marks.hovered_key, *marks.hovered_key == 0 ? layout.strip.centre_x() : place(*marks.hovered_key), true);
  if (marks.pinned_key)
    add(*marks.pinned_key, *marks.pinned_key == 0 ? layout.strip.centre_x() : place(*marks.pinned_key), true);
  add(0, layout.strip.centre_x(), false);

  const CellRange cells = visible_cells(layout);
  struct Best {
    std::int64_t key = -1;
    float value = -1.0f;
  };
  std::map<std::int64_t, Best> buckets;
  for (std::int64_t key = cells.key0; key < cells.key1; ++key) {
    if (!layout.sees_key(key)) continue;
    const float x = layout.key_pixel(static_cast<double>(key) + 0.5);
    const bool known =
        static_cast<std::size_t>(key) < received.size() && std::isfinite(received[static_cast<std::size_t>(key)]);
    const float value = known ? std::abs(received[static_cast<std::size_t>(key)]) : 0.0f;
    Best& best = buckets[static_cast<std::int64_t>((x - layout.map.x0) / 8.0f)];
    if (value > best.value) best = {key, value};
  }
  std::vector<Best> ranked;
  for (const auto& [bucket, best] : buckets) ranked.push_back(best);
  std::ranges::stable_sort(ranked, [](const Best& a, const Best& b) { return a.value > b.value; });
  for (const Best& best : ranked) add(best.key, place(best.key), false);
  return out;
}

void draw_key_labels(PanelContext& context, const MapLayout& layout, const MapSubject& subject, const MapMarks& marks) {
  if (layout.key_labels.empty()) return;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  std::vector<Rect> taken;
  const TextStyle hint = theme.hint();
  const std::string corner = "query ↓  key →";
  const float corner_width = context.ui.width(corner, hint);
  // Room for the corner's text left of where the label of key 0 rises.
  const float corner_x1 = layout.strip.x0 - 9;
  if (layout.map.y0 - 30 > layout.key_labels.y0 && corner_x1 - corner_width > layout.key_labels.x0 + 4) {
    const Rect rect{corner_x1 - corner_width, layout.map.y0 - 29, corner_x1, layout.map.y0 - 15};
    painter.text_at(rect.x1, rect.centre_y(), corner, hint, Painter::Align::Right);
    taken.push_back(rect);
  }
  if (!layout.column_text.empty()) taken.push_back(layout.column_text);
  if (!layout.bar.empty()) taken.push_back({layout.bar.x0 - 2, layout.bar.y0 - 20, layout.bar.x1, layout.bar.y0});
  if (!layout.overview.empty())
    taken.push_back({layout.overview.x0 - 2, layout.overview.y0 - 20, layout.overview.x1, layout.overview.y0});
  if (!layout.side_title.empty()) taken.push_back(layout.side_title);

  const std::vector<KeyCandidate> candidates = key_candidates(layout, marks, subject.received());
  const bool indices = subject.length >= kLongMap;
  const float room = std::min(kLongestLabel, (layout.map.y0 - layout.key_labels.y0 - 8) * 1.4142f - 4);
  std::vector<std::string> texts;
  for (const KeyCandidate& c : candidates) texts.push_back(subject.key_label(c.key));
  SlantedOptions options;
  options.axis_y = layout.map.y0;
  options.panel = layout.key_labels;
  options.size = kLabelSize;
  const auto lay_out = [&](const std::set<std::size_t>& numbered) {
    std::vector<SlantedLabel> labels;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const std::string index = grouped_text(candidates[i].key);
      std::string text = texts[i];
      const Face face = candidates[i].strong ? Face::SansSemibold : Face::Sans;
      if ((indices || numbered.contains(i)) && text != index) text = index + " " + text;
      labels.push_back({candidates[i].x, elide_middle(text, std::max(room, 12.0f), painter.measure(), face, kLabelSize),
                        candidates[i].strong});
    }
    return place_slanted(labels, options, painter.measure(), taken);
  };
  std::vector<PlacedSlanted> placed = lay_out({});
  // Texts that repeat get their index, which may move others.
  std::map<std::string, std::vector<std::size_t>> same;
  for (const PlacedSlanted& p : placed) same[texts[p.index]].push_back(p.index);
  std::set<std::size_t> numbered;
  for (const auto& [text, where] : same)
    if (where.size() > 1) numbered.insert(where.begin(), where.end());
  // Where every key has room for its label, their order says which is which.
  if (!numbered.empty() && !indices && layout.cell_x < options.least_gap) placed = lay_out(numbered);

  for (const PlacedSlanted& p : placed) {
    const KeyCandidate& c = candidates[p.index];
    painter.line({c.x, layout.map.y0 - 5}, {c.x, layout.map.y0 - 1}, c.strong ? theme.accent : theme.faint);
    painter.text(p.baseline, p.text, {p.face, kLabelSize, c.strong ? theme.accent : theme.text2}, p.angle);
  }
}

float query_index_width(const TextMeasure& measure, std::int64_t length) {
  return measure.width(grouped_text(std::max<std::int64_t>(0, length - 1)), Face::Mono, kLabelSize);
}

void draw_query_labels(PanelContext& context, const MapLayout& layout, const MapSubject& subject,
                       const MapMarks& marks) {
  const Rect& area = layout.query_labels;
  if (area.empty()) return;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  std::vector<std::int64_t> forced;
  if (marks.hovered_query) forced.push_back(*marks.hovered_query);
  if (marks.pinned_query && marks.pinned_query != marks.hovered_query) forced.push_back(*marks.pinned_query);
  const std::vector<RowLabel> rows =
      row_labels(layout.window.query0, layout.window.query1, layout.map.y0, layout.map.y1, forced);
  const float tick = (layout.pinned_strip.empty() ? layout.strip.x0 : layout.pinned_strip.x0) - 2;
  for (const RowLabel& row : rows) {
    if (row.centre - 6 < area.y0 || row.centre + 6 > area.y1) continue;
    painter.line({tick - 5, row.centre}, {tick, row.centre}, row.forced ? theme.accent : theme.faint);
    const std::string index = grouped_text(row.index);
    const TextStyle number{row.forced ? Face::MonoSemibold : Face::Mono, kLabelSize,
                           row.forced ? theme.accent : theme.text3};
    const float own = context.ui.width(index, number);
    if (area.x1 - own < area.x0) continue;
    painter.text_at(area.x1, row.centre, index, number, Painter::Align::Right);
    const TextStyle word{row.forced ? Face::SansSemibold : Face::Sans, kLabelSize,
                         row.forced ? theme.accent : theme.text2};
    const float right = area.x1 - own - 6;
    const std::string label = subject.label(row.index);
    if (label == index || right - area.x0 < 16) continue;
    const std::string text = elide_middle(label, right - area.x0, painter.measure(), word.face, word.size);
    if (!text.empty()) painter.text_at(right, row.centre, text, word, Painter::Align::Right);
  }
}

}  // namespace headroom
