#include "app/figures/kinds/lambda_layers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "app/figures/figure_kinds.h"
#include "app/figures/layer_lambdas.h"
#include "app/figures/page_axes.h"
#include "app/figures/page_beyond.h"
#include "app/figures/page_labels.h"
#include "app/figures/page_lines.h"
#include "app/plot/label_layout.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

constexpr std::size_t kMostLayerValues = 6;  // whose λ stands beside the disc

class LambdaLayerPanel final : public FigurePanel {
 public:
  std::vector<LayerLambda> layers;  // a disc each; more than one of a layer whose heads differ
  PageAxis x, y;
  std::string sentence;

  PanelRoom room(const Page& page, Vec2 inner) const override {
    return {left_of_axis(y, inner.y, page), page.style.pt(3.0f), 0.0f, below_axis(x, page)};
  }
  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    const Axis along = placed_axis(x, inner.x0, inner.x1), up = placed_axis(y, inner.y1, inner.y0);
    painter.begin_plot({id, kind, along, up});
    LabelSpace space(inner, style.pt(1.0f));
    for (const double mark : {0.0, 1.0})
      if (mark > y.low + 1e-9 && mark < y.high - 1e-9)
        painter.line({inner.x0, up.pixel(mark)}, {inner.x1, up.pixel(mark)}, ink::kGuide, style.pt(0.5f));
    std::vector<Vec2> first;
    for (const LayerLambda& one : layers) {
      const Vec2 from{along.pixel(static_cast<double>(one.head.layer)), up.pixel(one.first)};
      const Vec2 to{from.x, up.pixel(one.value)};
      const auto within = [&](Vec2 at) { return Vec2{at.x, std::clamp(at.y, inner.y0, inner.y1)}; };
      painter.line(within(from), within(to), ink::kGuide, style.pt(0.8f));
      space.block(Rect{from.x - 1.0f, std::min(from.y, to.y), from.x + 1.0f, std::max(from.y, to.y)});
      if (first.empty() || first.back().x < from.x) first.push_back(from);
    }
    painter.push_clip(inner.inset(-style.pt(1.0f)));
    painter.begin_series({"weights/lambda_init", "", "lambda_init"});
    draw_page_line(painter, first, ink::kBlack, 0.7f, kBoundDash, page);
    painter.end_series();
    painter.pop_clip();
    space.block_line(first, style.pt(1.5f));
    const float radius = style.pt(1.7f);
    painter.begin_series({"lambda_mean", "", "layers"});
    for (const LayerLambda& one : layers) {
      const Vec2 at{along.pixel(static_cast<double>(one.head.layer)), up.pixel(one.value)};
      if (!on_plot(inner, at)) continue;
      painter.disc(at, radius, ink::kLambda.mark);
      space.block(Rect::sized(at.x - radius, at.y - radius, 2.0f * radius, 2.0f * radius));
    }
    painter.end_series();
    painter.begin_series({"lambda_mean", "", "beyond"});
    for (const LayerLambda& one : layers)
      draw_beyond(painter, page, space, inner, {along.pixel(static_cast<double>(one.head.layer)), up.pixel(one.value)},
                  rich(fixed_text(one.value, 2)), ink::kLambda);
    painter.end_series();
    draw_labels(painter, inner, along, up, page, first, space);
    draw_x_axis(painter, inner, x, page);
    draw_y_axis(painter, inner, y, page);
    painter.end_plot();
  }
  void add_data(FigureData& data) const override {
    for (const LayerLambda& one : layers) {
      FigureMark mark;
      mark.panel = id, mark.series = "lambda", mark.kind = "point";
      mark.layer = one.head.layer, mark.head = one.head.head;
      mark.x = static_cast<double>(one.head.layer), mark.y = one.value, mark.low = one.first;
      data.add(std::move(mark));
    }
  }
  std::string caption() const override { return sentence; }

 private:
  void draw_labels(Painter& painter, const Rect& inner, const Axis& along, const Axis& up, const Page& page,
                   const std::vector<Vec2>& first, LabelSpace& space) const {
    const PageStyle& style = page.style;
    const float size = style.size();
    if (layers.size() <= kMostLayerValues)
      for (const LayerLambda& one : layers) {
        const RichText text = rich(fixed_text(one.value, 2));
        const float width = rich_width(page.measure, text, style.text()), gap = style.pt(4.0f);
        const Vec2 at{along.pixel(static_cast<double>(one.head.layer)), up.pixel(one.value)};
        if (!on_plot(inner, at)) continue;
        put_label(painter, page, space, text, style.text(ink::kLambda.text),
                  std::array<Vec2, 3>{{{at.x + gap, at.y + 0.36f * size},
                                       {at.x - gap - width, at.y + 0.36f * size},
                                       {at.x - 0.5f * width, at.y - gap}}});
      }
    std::vector<Vec2> places;
    const RichText init = rich("*λ*_{init}");
    const float width = rich_width(page.measure, init, style.text());
    for (const float share : {0.5f, 0.35f, 0.65f, 0.2f, 0.8f, 0.0f, 1.0f}) {
      const float place = share * static_cast<float>(first.size() - 1);
      const auto i = static_cast<std::size_t>(place);
      const Vec2 a = first[i], b = first[std::min(i + 1, first.size() - 1)];
      const Vec2 at = a + (b - a) * (place - static_cast<float>(i));
      for (const float rise : {1.4f, 1.9f, -0.7f, -1.2f}) places.push_back({at.x - 0.5f * width, at.y + rise * size});
    }
    put_label(painter, page, space, init, style.text(), places);
  }
};

}  // namespace

Result<std::unique_ptr<FigurePanel>> lambda_layer_panel(const RunSnapshot& run, const std::vector<HeadRef>& heads,
                                                        const std::string& of, const std::string& share,
                                                        const FigureChoice& choice) {
  auto panel = std::make_unique<LambdaLayerPanel>();
  panel->kind = "lambda", panel->name = "layers";
  double low = 0.0, high = 1.0;
  panel->layers = layer_lambdas(run, heads);
  for (const LayerLambda& found : panel->layers)
    low = std::min({low, found.value, found.first}), high = std::max({high, found.value, found.first});
  const Range nice = low < 0.0 || high > 1.0 ? nice_range(low, high, false) : Range{0.0, 1.0};
  panel->y = {nice.low, nice.high};
  HEADROOM_TRY_VOID(set_range(panel->y, choice));
  const auto first = static_cast<double>(panel->layers.front().head.layer),
             last = static_cast<double>(panel->layers.back().head.layer);
  const double room = first == last ? 0.5 : std::min(0.3, 0.25 * (last - first));
  panel->x = {first - room, last + room};
  std::vector<std::int64_t> layers;
  for (const LayerLambda& one : panel->layers)
    if (layers.empty() || layers.back() != one.head.layer) layers.push_back(one.head.layer);
  panel->x.whole = true, panel->x.title = rich(layers_title(layers, run.all_layers));
  panel->title = rich("DIFF V1: *λ* of the layer");
  panel->source = run_sentence(run);
  panel->sentence = of +
                    "DIFF V1: the one *λ* of each layer, hung on where it began, *λ*_{init} = 0.8 − 0.6 exp(−0.3 "
                    "layer) (dashed)." +
                    share;
  panel->sentence += beyond_sentence(
      std::ranges::count_if(
          panel->layers, [&](const LayerLambda& one) { return one.value < panel->y.low || one.value > panel->y.high; }),
      "layer lies", "layers lie");
  return std::unique_ptr<FigurePanel>(std::move(panel));
}

}  // namespace headroom
