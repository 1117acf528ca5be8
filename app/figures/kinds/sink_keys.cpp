#include "app/figures/kinds/sink_keys.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "app/figures/head_levels.h"
#include "app/figures/page_labels.h"
#include "app/figures/page_lines.h"
#include "app/plot/label_layout.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

constexpr std::array<const char*, 3> kTopKeys = {"1", "4", "16"};

// Median over heads of the share of all attention that few keys hold.
class SinkKeysPanel final : public FigurePanel {
 public:
  DrawnHeads drawn;
  std::vector<QuantityRef> quantities;       // by kTopKeys
  std::vector<std::vector<double>> medians;  // [kTopKeys, layers]
  PageAxis x, y;
  std::string sentence;

  PanelRoom room(const Page& page, Vec2 inner) const override {
    return {left_of_axis(y, inner.y, page), right_of_layers(x, inner, page), page.style.pt(1.0f), below_axis(x, page)};
  }
  Vec2 least_inner(const Page& page) const override { return {page.style.mm(20.0f), page.style.mm(16.0f)}; }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    constexpr std::array<MarkColor, 3> kShades = {ink::kDeep, ink::kMiddle, ink::kPale};
    const PageStyle& style = page.style;
    Rect inner = frame.inner;
    const bool strip = drawn.layers.size() == 1;
    if (strip) inner.x1 = inner.x0 + style.mm(kStrip);
    const Axis along = placed_axis(x, inner.x0, inner.x1), up = placed_axis(y, inner.y1, inner.y0);
    painter.begin_plot({id, kind, along, up});
    LabelSpace space(Rect{frame.inner.x0 + style.pt(2.0f), frame.inner.y0, frame.inner.x1, frame.inner.y1},
                     style.pt(1.0f));
    std::vector<double> at;
    for (std::size_t l = 0; l < drawn.layers.size(); ++l) at.push_back(static_cast<double>(l));
    std::vector<std::vector<Vec2>> lines;
    // Of lines that are one the first are broader, so that each shows.
    std::vector<float> widths(medians.size(), 1.2f);
    for (std::size_t k = medians.size() - 1; k-- > 0;)
      if (medians[k] == medians[k + 1]) widths[k] = widths[k + 1] + 1.4f;
    for (std::size_t k = 0; k < medians.size(); ++k) {
      painter.begin_series({quantity_text(quantities[k]), "", key_name(k)});
      const std::vector<Vec2> line = placed_points(along, up, at, medians[k]);
      draw_page_line(painter, line, kShades[k].mark, widths[k], kSolidLine, page);
      block_page_line(space, line, style.pt(widths[k] + 0.4f));
      lines.emplace_back();
      for (const Vec2& corner : line)
        if (std::isfinite(corner.y)) lines.back().push_back(corner);
      painter.end_series();
    }
    std::vector<float> wanted;
    for (const auto& line : lines) wanted.push_back(line.empty() ? kNoPlace : line.front().y);
    const std::vector<float> spread =
        spread_labels(wanted, 1.3f * style.size(), inner.y0 + 0.45f * style.size(), inner.y1 - 0.45f * style.size());
    for (std::size_t k = 0; k < lines.size(); ++k) {
      if (lines[k].empty()) continue;
      const RichText label = rich(key_name(k));
      const float width = rich_width(page.measure, label, style.text());
      std::vector<Vec2> places = places_at_line(lines, k, width, inner, page);
      if (strip) places = {{inner.x1 + style.pt(3.0f), spread[k] + 0.36f * style.size()}};
      // Anywhere: the shade still says which it is.
      for (int down = 1; !strip && down < 12; ++down)
        for (int over = 0; over < 12; ++over)
          places.push_back({inner.x0 + static_cast<float>(over) / 12.0f * inner.width(),
                            inner.y0 + static_cast<float>(down) / 12.0f * inner.height()});
      put_label(painter, page, space, label, style.text(kShades[k].text), places);
    }
    draw_x_axis(painter, inner, x, page);
    draw_y_axis(painter, inner, y, page);
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    for (std::size_t k = 0; k < medians.size(); ++k)
      for (std::size_t l = 0; l < drawn.layers.size(); ++l) {
        FigureMark mark;
        mark.panel = id, mark.series = quantity_text(quantities[k]), mark.kind = "line";
        mark.layer = drawn.layers[l], mark.x = static_cast<double>(mark.layer), mark.y = medians[k][l];
        mark.n = static_cast<std::int64_t>(drawn.heads.size());
        data.add(std::move(mark));
      }
  }

  std::string caption() const override { return sentence; }

 private:
  static constexpr float kNoPlace = std::numeric_limits<float>::quiet_NaN();
  static std::string key_name(std::size_t k) {
    return std::string(kTopKeys[k]) + (kTopKeys[k] == std::string_view("1") ? " key" : " keys");
  }
};

}  // namespace

QuantityRef sinks_quantity(const std::string& text) {
  const Result<QuantityRef> ref = parse_quantity(text);
  return ref ? *ref : QuantityRef{};
}

float right_of_layers(const PageAxis& x, Vec2 inner, const Page& page) {
  return std::max(page.style.pt(2.0f), beyond_axis(x, 0.7f * inner.x, page));
}

std::vector<double> sinks_values(const RunSnapshot& run, const QuantityRef& ref, const DrawnHeads& drawn) {
  std::vector<double> values;
  for (const std::int64_t layer : drawn.layers)
    for (const std::int64_t head : drawn.heads)
      values.push_back(ref.info == nullptr ? kNaN : head_value(run, ref, layer, head));
  return values;
}

std::unique_ptr<FigurePanel> sink_keys(const RunSnapshot& run, const DrawnHeads& drawn, bool pair) {
  auto panel = std::make_unique<SinkKeysPanel>();
  panel->kind = "sinks", panel->name = "keys", panel->weight = drawn.layers.size() == 1 ? 30.0f : 43.0f;
  panel->drawn = drawn;
  for (const char* keys : kTopKeys) {
    panel->quantities.push_back(sinks_quantity("top_key_mass[first," + std::string(keys) + "]"));
    const std::vector<double> values = sinks_values(run, panel->quantities.back(), drawn);
    panel->medians.push_back(layer_quantiles(values, drawn.heads.size(), std::array{0.5}).front());
  }
  panel->title = rich(pair ? "attention on top keys, first map" : "attention on the most attended keys");
  panel->brief = rich(pair ? "top keys, first map" : "attention on top keys");
  if (drawn.heads.size() > 1) panel->right = rich(std::to_string(drawn.heads.size()) + " heads");
  panel->x = layer_axis(drawn.layers, drawn.all_layers);
  panel->y = {0.0, 1.0};
  panel->sentence = "Share of all attention" + std::string(pair ? " of the first map" : "") +
                    " that the 1, 4 and 16 most attended keys of a head hold";
  if (drawn.heads.size() > 1)
    panel->sentence += ", median over the " + std::to_string(drawn.heads.size()) + " heads of a layer";
  panel->sentence += "; which keys these are differs between heads.";
  return panel;
}

}  // namespace headroom
