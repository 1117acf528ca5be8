// One cell per head, layers across and heads down, coloured by a quantity; with a threshold its contour and how many
// heads of each layer lie above.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/figures/caption_text.h"
#include "app/figures/figure_kinds.h"
#include "app/figures/head_levels.h"
#include "app/figures/head_places.h"
#include "app/figures/page_axes.h"
#include "app/figures/page_bar.h"
#include "app/plot/token_text.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"
#include "core/run/head_values.h"
#include "core/run/missing_value.h"

namespace headroom {
namespace {

constexpr float kCounts = 8.5f, kCountsGap = 1.6f;  // millimetres: bars above the cells
constexpr std::size_t kHighCells = 12;              // heads of a layer whose cells are as high as a line of text
constexpr double kAround = 33.0, kFlatCell = 0.4;   // millimetres: all but the cells; a cell where heads are many

class AtlasPanel final : public FigurePanel {
 public:
  QuantityRef quantity;
  HeadPlaces places;
  std::vector<double> values;  // [layers, heads]
  std::optional<double> threshold;
  std::optional<HeadRef> chosen;
  PageBar bar;
  bool bar_in_title = false;
  std::string sentence;
  std::string lacking;  // why heads have no value; empty: all have one

  // Counts above the cells and the colour bar below them lie in the inner rectangle, so that beside other panels all of
  // it is as high as these.
  PanelRoom room(const Page& page, Vec2 inner) const override {
    PanelRoom room;
    room.left = places.left(page);
    // Half of the last layer's number stands beyond the cells.
    room.right = std::max(page.style.pt(bar_in_title ? 7.0f : 2.0f),
                          beyond_axis(places.across(), inner.x, page) - page.style.mm(0.7f));
    room.top = bar_in_title ? page.style.mm(2.0f) : 0.0f;
    room.bottom = below_axis(places.across(), page) + note_height(page);
    return room;
  }

  Vec2 least_inner(const Page& page) const override {
    return {page.style.mm(0.45f) * static_cast<float>(places.layers.size()),
            page.style.mm(places.heads.size() > 1 ? 0.25f : 2.0f) * static_cast<float>(places.heads.size()) +
                counts_height(page) + bar_height(page)};
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const Rect inner{frame.inner.x0, frame.inner.y0 + counts_height(page), frame.inner.x1,
                     frame.inner.y1 - bar_height(page)};
    const Axis across = placed_axis(places.across(), inner.x0, inner.x1),
               down = placed_axis(places.down(), inner.y0, inner.y1);
    painter.begin_plot({id, kind, across, down});
    painter.begin_series({quantity_text(quantity), "", "cells"});
    places.draw_cells(painter, inner, values, bar.scale, page);
    painter.end_series();
    if (threshold) {
      painter.begin_series({quantity_text(quantity), "", "contour"});
      places.draw_contour(painter, inner, [&](std::size_t l, std::size_t h) { return value(l, h) > *threshold; }, page);
      painter.end_series();
      draw_counts(painter, inner, page);
    }
    if (chosen) places.draw_frame(painter, inner, *chosen, page);
    places.draw_numbers(painter, inner, page);
    painter.end_plot();
    const PageStyle& style = page.style;
    if (bar_in_title) {
      const float width = std::min(0.45f * inner.width(), style.mm(26.0f));
      draw_page_bar(painter, Rect{inner.x1 - width, frame.outer.y0 + style.mm(1.2f), inner.x1, inner.y0}, bar, page);
    } else {
      const float top = inner.y1 + below_axis(places.across(), page) + style.mm(1.6f);
      const RichText bar_name = rich_title(quantity_title(quantity));
      const float width =
          std::max(rich_width(page.measure, bar_name, style.text()) + style.mm(3.5f), 0.27f * inner.width());
      const Rect area{inner.x0 + width, top, inner.x1, top + page_bar_height(page)};
      draw_rich(painter, {inner.x0, area.y1 - page_bar_below(page) - style.mm(1.0f) + 0.36f * style.size()}, bar_name,
                style.text());
      draw_page_bar(painter, area, bar, page);
    }
    if (!lacking.empty()) {
      const float room = frame.outer.x1 - frame.outer.x0 - style.mm(1.6f);
      const std::string words = elide_end(lacking, room, page.measure, Face::Sans, style.size());
      painter.text({frame.outer.x0 + style.mm(0.8f), frame.outer.y1 - style.mm(1.0f) - 0.24f * style.size()}, words,
                   style.text(ink::kNote));
    }
  }

  void add_data(FigureData& data) const override {
    for (std::size_t l = 0; l < places.layers.size(); ++l)
      for (std::size_t h = 0; h < places.heads.size(); ++h) {
        FigureMark mark;
        mark.panel = id, mark.series = quantity_text(quantity), mark.kind = "cell";
        mark.layer = places.layers[l], mark.head = places.heads[h], mark.y = values[l * places.heads.size() + h];
        data.add(std::move(mark));
      }
  }

  std::string caption() const override { return sentence; }

 private:
  [[nodiscard]] float counts_height(const Page& page) const {
    return threshold ? page.style.mm(kCounts) + counts_gap(page) : 0.0f;
  }
  // Where cells are low the number of head 0 comes near the counts' own 0.
  [[nodiscard]] float counts_gap(const Page& page) const {
    const float size = page.style.size(), least = places.heads.size() <= kHighCells ? size - page.style.pt(2.5f) : size;
    return std::max(page.style.mm(kCountsGap), least);
  }
  [[nodiscard]] float note_height(const Page& page) const { return lacking.empty() ? 0.0f : 1.35f * page.style.size(); }
  [[nodiscard]] float bar_height(const Page& page) const {
    return bar_in_title ? 0.0f : page.style.mm(1.6f) + page_bar_height(page);
  }
  [[nodiscard]] double value(std::size_t l, std::size_t h) const { return values[l * places.heads.size() + h]; }
  [[nodiscard]] Rect cell(const Rect& inner, std::size_t l, std::size_t h) const { return places.place(inner, l, h); }

  void draw_counts(Painter& painter, const Rect& inner, const Page& page) const {
    const PageStyle& style = page.style;
    const Rect area{inner.x0, inner.y0 - counts_height(page), inner.x1, inner.y0 - counts_gap(page)};
    const auto all = static_cast<float>(places.heads.size());
    painter.begin_series({quantity_text(quantity), "", "heads above"});
    for (std::size_t l = 0; l < places.layers.size(); ++l) {
      float count = 0.0f;
      for (std::size_t h = 0; h < places.heads.size(); ++h) count += value(l, h) > *threshold ? 1.0f : 0.0f;
      const Rect below = cell(inner, l, 0);
      const float side = 0.5f * kCellGap * below.width();
      if (count > 0.0f)
        painter.fill_rect({below.x0 + side, area.y1 - count / all * area.height(), below.x1 - side, area.y1},
                          ink::kBars);
    }
    painter.end_series();
    painter.line({area.x0, area.y1}, {area.x1, area.y1}, ink::kBlack, style.pt(0.5f));
    PageAxis counts{0.0, static_cast<double>(places.heads.size())};
    counts.whole = true;
    draw_y_axis(painter, area, counts, page);
  }
};

QuantityRef sink_score() {
  const QuantityInfo* info = find_quantity_info("sink_score");
  return {info, info->default_index};
}

std::vector<QuantityRef> shown(const FigureChoice& choice) {
  return choice.quantities.empty() ? std::vector{sink_score()} : choice.quantities;
}

std::string atlas_sentence(const AtlasPanel& panel, std::size_t above, std::size_t finite) {
  const QuantityInfo& info = *panel.quantity.info;
  std::string text =
      plain_text(rich_title(quantity_heading(panel.quantity))) + " of every head, layers across, heads down";
  if (!info.definition.empty()) text += ": " + definition_markup(info.definition);
  if (!text.ends_with('.')) text += ".";
  if (panel.threshold)
    text += " Contour and bars: heads above " + short_text(*panel.threshold) + ", " + std::to_string(above) + " of " +
            std::to_string(finite) + ".";
  if (panel.bar.null_level) text += " ▼ uniform attention, " + short_text(*panel.bar.null_level) + ".";
  const std::size_t lacking = panel.values.size() - finite;
  if (lacking > 0) text += " Hatched: " + std::to_string(lacking) + " heads without a value.";
  return text;
}

// "hatched: 9 heads without a value: its layer cannot see key 0"; what the first of them lacks.
std::string lacking_sentence(const RunSnapshot& run, const AtlasPanel& panel) {
  std::size_t lacking = 0;
  std::string why;
  for (std::size_t i = 0; i < panel.values.size(); ++i) {
    if (std::isfinite(panel.values[i])) continue;
    ++lacking;
    const std::size_t heads = panel.places.heads.size();
    if (why.empty())
      why = missing_reason(run, panel.quantity, panel.places.layers[i / heads], panel.places.heads[i % heads]);
  }
  if (lacking == 0) return "";
  return "hatched: " + std::to_string(lacking) + (lacking == 1 ? " head without a value" : " heads without a value") +
         (why.empty() ? "" : ": " + why);
}

}  // namespace

Result<void> check_atlas(const FigureRun& run, const FigureChoice& choice) {
  for (const QuantityRef& ref : shown(choice)) {
    const std::vector<double> values = head_values(*run.run, ref);
    if (std::ranges::none_of(values, [](double v) { return std::isfinite(v); }))
      return Error(ErrorCode::Unsupported, quantity_text(ref) + ": no head of " + run.name() + " has a value");
  }
  HEADROOM_TRY_VOID(drawn_heads(run, choice));
  return {};
}

Result<Figure> make_atlas(std::span<const FigureRun> runs, const FigureChoice& choice) {
  const FigureRun& one = runs.front();
  const RunSnapshot& run = *one.run;
  HEADROOM_TRY_VOID(check_atlas(one, choice));
  HEADROOM_TRY(const DrawnHeads drawn, drawn_heads(one, choice));
  Figure figure;
  const std::vector<QuantityRef> quantities = shown(choice);
  for (const QuantityRef& ref : quantities) {
    auto panel = std::make_unique<AtlasPanel>();
    panel->kind = "atlas", panel->name = quantity_text(ref), panel->quantity = ref;
    panel->places = {drawn.layers, drawn.heads, drawn.all_layers};
    for (const std::int64_t layer : drawn.layers)
      for (const std::int64_t head : drawn.heads) panel->values.push_back(head_value(run, ref, layer, head));
    panel->bar = quantity_bar(ref, panel->values, choice);
    HEADROOM_TRY_VOID(check_range(choice, panel->bar.scale));
    panel->bar_in_title = quantities.size() > 1;
    const HeadLevels levels = head_levels(run, ref, choice.epsilon);
    panel->bar.null_level = levels.uniform;
    if (quantities.size() == 1) panel->threshold = panel->bar.threshold = levels.threshold;
    if (!choice.heads.empty()) panel->chosen = choice.heads.front();
    std::size_t above = 0, finite = 0;
    for (const double v : panel->values) {
      finite += std::isfinite(v) ? 1 : 0;
      above += panel->threshold && v > *panel->threshold ? 1 : 0;
    }
    panel->title = rich_title(quantity_title(ref));
    if (panel->threshold) {
      panel->title =
          rich("heads of the layer with ") + rich_title(panel->bar.title) + rich(" > " + short_text(*panel->threshold));
      panel->brief = rich_title(panel->bar.title) + rich(" > " + short_text(*panel->threshold));
      panel->right = rich(std::to_string(above) + " of " + std::to_string(finite) + " heads");
    }
    panel->lacking = lacking_sentence(run, *panel);
    panel->sentence = atlas_sentence(*panel, above, finite);
    figure.panels.push_back(std::move(panel));
  }
  // Many heads take more than the usual height: their cells are flat, but can be seen.
  const double least = kAround + kFlatCell * static_cast<double>(drawn.heads.size());
  arrange(figure, choice, quantities.size() > 1 ? 174.0 : 84.0, 120.0,
          std::max(quantities.size() > 1 ? 58.0 : 55.0, least));
  if (quantities.size() > 2 && figure.rows.size() == 1) {  // two beside each other
    figure.rows.clear();
    for (std::size_t i = 0; i < quantities.size(); i += 2) {
      figure.rows.push_back({i});
      if (i + 1 < quantities.size()) figure.rows.back().push_back(i + 1);
    }
    figure.height_mm = choice.height_mm.value_or(40.0 * static_cast<double>(figure.rows.size()));
  }
  return figure;
}

}  // namespace headroom
