#include "app/panels/corpus/paired_panel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/corpus/paired_view.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/head_points.h"
#include "app/panels/parts/kept.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "app/plot/series.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

constexpr std::size_t kMostChangeBars = 2000;

// Heads that have a change, smallest first, and what the axis has to hold.
struct RankedChanges {
  std::vector<std::size_t> order;
  double low = 0.0, high = 0.0;
};
RankedChanges ranked_changes(const PairedView& view) {
  RankedChanges ranked{changed_places(view)};
  std::ranges::stable_sort(ranked.order, {}, [&](std::size_t place) { return mean_change(*view.changes[place]); });
  for (const std::size_t place : ranked.order)
    for (const Statistic which : {Statistic::Mean, Statistic::CiLow, Statistic::CiHigh})
      if (const double value = of(view.changes[place]->change, which); std::isfinite(value))
        ranked.low = std::min(ranked.low, value), ranked.high = std::max(ranked.high, value);
  return ranked;
}

Color change_color(const PairedView& view, const Theme& theme, std::size_t place) {
  const PairedChange& change = *view.changes[place];
  if (!changes_surely(change)) return theme.text3;
  return mean_change(change) > 0.0 ? theme.first : theme.second;
}

// What holds for all heads together: the loss, and the mean over heads.
void draw_paired_summary(PanelContext& context, const PairedView& view, Rect& body) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const auto line = [&](const std::string& name, const std::string& text) {
    if (body.height() < 18.0f) return;
    const Rect row = body.cut_top(18.0f);
    const float named = std::min(150.0f, 0.3f * row.width());
    ui.label_at(row.x0, row.centre_y(), name, theme.body(theme.text2), named - 8.0f);
    ui.label_at(row.x0 + named, row.centre_y(), text, {Face::Mono, 11.0f, theme.text}, row.width() - named);
  };
  if (view.loss != nullptr) {
    std::string text = fixed_text(view.loss->mean_a, 4) + " → " + fixed_text(view.loss->mean_b, 4) + ", " +
                       signed_text(mean_change(*view.loss), 4);
    if (const double error = of(view.loss->change, Statistic::StandardError); std::isfinite(error))
      text += " ± " + fixed_text(error, 4) + " nats, p " + p_text(view.loss->p);
    line("next-token loss", text);
  }
  if (view.over_heads != nullptr) line("mean over heads", change_sentence(view, *view.over_heads));
  std::size_t up = 0, down = 0, open = 0;
  for (const PairedChange* const change : view.changes) {
    if (!std::isfinite(mean_change(*change))) continue;
    if (!changes_surely(*change))
      ++open;
    else
      ++(mean_change(*change) > 0.0 ? up : down);
  }
  context.facts.set("corpus.up", static_cast<double>(up));
  context.facts.set("corpus.down", static_cast<double>(down));
  line("heads, q ≤ " + short_text(PairedChange::kLevel),
       std::to_string(up) + " rise · " + std::to_string(down) + " fall · " + std::to_string(open) + " undecided");
}

void draw_change_plot(PanelContext& context, const PairedView& view, Rect area) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const auto& [order, low, high] =
      kept_for(ui.kept_value("ranked"), std::pair(view.a.corpus.paired, quantity_text(view.ref)),
               [&] { return ranked_changes(view); });
  if (order.empty()) {
    draw_note(context, area, "No head has a number in both.");
    return;
  }
  const Range range = nice_range(low, high > low ? high : low + 1e-6, false);
  AxisSpec x = axis_spec(-0.5, static_cast<double>(order.size()) - 0.5);
  x.whole = true, x.grid = false;
  x.title = "heads, ranked by their change";
  AxisSpec y = axis_spec(range.low, range.high);
  y.least_gap = 44.0f;
  y.title = "change of " + quantity_title(view.ref) + ", B − A";
  const PlotFrame frame = lay_out_plot(area, x, y, ui.measure(), {4.0f, 8.0f, {}, {}});
  if (frame.inner.width() < 60.0f || frame.inner.height() < 40.0f) return;
  draw_plot_ground(painter, frame, theme);
  LabelSpace space(frame.inner, 2.0f);
  const std::vector<ReferenceLine> zero{{true, 0.0, theme.mark, LineStyle::Solid, "", 1.0f}};
  draw_lines(painter, frame, zero, space);
  std::vector<Vec2> points;
  {
    DataClip clip(painter, frame.inner);
    for (std::size_t r = 0; r < order.size(); ++r) {
      const PairedChange& change = *view.changes[order[r]];
      points.push_back(frame.at(static_cast<double>(r), mean_change(change)));
      const double from = of(change.change, Statistic::CiLow), to = of(change.change, Statistic::CiHigh);
      const Color color = change_color(view, theme, order[r]);
      if (std::isfinite(from) && std::isfinite(to) && order.size() <= kMostChangeBars)
        painter.line({points[r].x, frame.y.pixel(from)}, {points[r].x, frame.y.pixel(to)}, color.faded(0.6f), 1.0f);
      painter.fill_rect(Rect::sized(points[r].x - 1.5f, points[r].y - 1.5f, 3.0f, 3.0f), color);
    }
  }
  std::vector<PointName> names;
  const auto name = [&](std::size_t rank, Color color) {
    if (std::ranges::none_of(names, [&](const PointName& one) { return one.point == rank; }))
      names.push_back({rank, head_text(view.head_at(order[rank])), {Face::Mono, 11.0f, color}});
  };
  const auto selected = context.state.view.selection.head;
  for (std::size_t r = 0; r < order.size(); ++r)
    if (selected && view.head_at(order[r]) == *selected) {
      painter.ring(points[r], 5.0f, theme.accent, 2.0f);
      name(r, theme.accent);
    }
  name(order.size() - 1, theme.text2);
  name(0, theme.text2);
  draw_point_names(painter, theme, space, points, names, NamePlaces::Free);
  draw_plot_axes(painter, frame, theme);
  const Interaction hit = ui.interact("changes", frame.inner, Cursor::Crosshair);
  if (!hit.hovered) return;
  const auto rank = static_cast<std::size_t>(
      std::lround(std::clamp(frame.x.value(ui.input.pointer.x), 0.0, static_cast<double>(order.size() - 1))));
  const PairedChange& change = *view.changes[order[rank]];
  const HeadRef head = view.head_at(order[rank]);
  context.hover.head = head;
  painter.ring(points[rank], 5.0f, theme.text, 1.5f);
  ui.tooltip({points[rank].x - 6.0f, frame.inner.y0, points[rank].x + 6.0f, frame.inner.y1},
             head_text(head) + "\n" + change_sentence(view, change) + "\nq among all heads  " + p_text(change.q));
  if (hit.clicked) ui.run(select_command(context.state, head));
}

void draw_paired(PanelContext& context, Rect frame) {
  const PanelScope scope(context, "paired", frame);
  const auto view = paired_view(context.state);
  std::string hint;
  if (view && view->pairs != nullptr)
    hint = "over " + grouped_text(view->pairs->sequences) + " sequences of " + grouped_text(view->pairs->documents) +
           " documents that both have, 95 % t interval";
  Rect body = draw_panel_title(context, frame, "map", "Paired changes, B − A", "", hint);
  body = body.inset(measure::kPadding, 6.0f);
  if (!view || !view->why.empty()) {
    draw_note(context, body, view ? view->why : "Two corpora are compared here.");
    return;
  }
  context.facts.set("corpus.pairs", static_cast<double>(view->pairs->sequences));
  draw_paired_summary(context, *view, body);
  body.cut_top(6.0f);
  draw_change_plot(context, *view, body);
}

}  // namespace

const PanelInfo kPairedPanel{.id = "paired", .title = "Paired changes", .least_width = 300.0f, .draw = draw_paired};

}  // namespace headroom
