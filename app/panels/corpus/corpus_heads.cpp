#include "app/panels/corpus/corpus_heads.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "app/panels/corpus/corpus_steps.h"
#include "app/panels/corpus/corpus_view.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/head_points.h"
#include "app/panels/parts/kept.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "app/plot/series.h"
#include "app/session/head_threshold.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

constexpr std::size_t kMostBars = 2000;  // above it intervals are a band

// Heads by their mean, those without one last; worked out once for what is shown.
struct RankedHeads {
  std::vector<std::size_t> order;
  std::size_t ranked = 0;  // that have a mean
  double low = 0.0, high = 1.0;
  std::optional<std::size_t> widest;
};

RankedHeads ranked_heads(const CorpusView& view) {
  RankedHeads ranked;
  const CorpusIntervals& all = view.intervals;
  ranked.order.resize(all.mean.size());
  std::iota(ranked.order.begin(), ranked.order.end(), 0);
  std::ranges::stable_sort(ranked.order, [&](std::size_t a, std::size_t b) {
    if (!std::isfinite(all.mean[a]) || !std::isfinite(all.mean[b]))
      return std::isfinite(all.mean[a]) && !std::isfinite(all.mean[b]);
    return all.mean[a] < all.mean[b];
  });
  double low = kInfinity, high = -kInfinity, widest = 0.0;
  for (const std::size_t head : ranked.order) {
    if (!std::isfinite(all.mean[head])) continue;
    ++ranked.ranked;
    for (const double value : {all.mean[head], all.low[head], all.high[head]})
      if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
    if (const double half = all.half(head); half > widest) widest = half, ranked.widest = head;
  }
  if (ranked.ranked > 0) ranked.low = low, ranked.high = high;
  return ranked;
}

struct RankPlot {
  PanelContext& context;
  const CorpusView& view;
  const RankedHeads& ranked;
  PlotFrame frame;
  std::vector<Vec2> points;            // of the means, by rank
  std::vector<std::size_t> rank_of{};  // by place
};

// Bounded quantities are shown whole; else with 1-2-5 ends that hold what is there, levels among it.
AxisSpec mean_axis(const CorpusView& view, const RankedHeads& ranked) {
  const QuantityInfo& info = *view.ref.info;
  double low = ranked.low, high = ranked.high;
  const auto hold = [&](double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value), high = std::max(high, value);
  };
  if (info.log && low > 0.0 && high > 5.0 * low) {
    const Range range = nice_range(low, high > low ? high : 1.01 * low, true);
    return axis_spec(range.low * 0.95, range.high * 1.05, true);
  }
  // Intervals may reach a little beyond what a mean can be.
  Range range{0.0, 1.0};
  if (info.natural && ranked.low >= info.natural->low - 0.05 && ranked.high <= info.natural->high + 0.05) {
    range = *info.natural;
    hold(range.low), hold(range.high);
    range = {low, high};
  } else {
    if (std::isfinite(view.null)) hold(view.null);
    range = nice_range(low, high > low ? high : low + 1e-6, false);
  }
  const double more = 0.03 * (range.high - range.low);
  return axis_spec(range.low < 0.0 || low < 0.0 ? range.low - more : range.low, range.high + more);
}

void draw_levels(RankPlot& plot, LabelSpace& space) {
  const Theme& theme = plot.context.theme();
  std::vector<ReferenceLine> lines;
  const auto inside = [&](double value) { return value >= plot.frame.y.low && value <= plot.frame.y.high; };
  if (plot.view.level && inside(*plot.view.level))
    lines.push_back({true, *plot.view.level, theme.mark, LineStyle::Solid,
                     (plot.view.ref.info->threshold ? "" : "ε ") + short_text(*plot.view.level), 1.0f});
  if (std::isfinite(plot.view.null) && inside(plot.view.null))
    lines.push_back(
        {true, plot.view.null, theme.warn, LineStyle::Dotted, "uniform attention " + short_text(plot.view.null), 1.5f});
  draw_lines(plot.context.painter(), plot.frame, lines, space);
}

// Where heads lie whose interval holds the level.
void draw_crossing_ground(const RankPlot& plot) {
  if (!plot.view.level) return;
  DataClip clip(plot.context.painter(), plot.frame.inner);
  const Color ground = plot.context.theme().warn.faded(0.1f);
  for (std::size_t rank = 0; rank < plot.ranked.ranked;) {
    std::size_t end = rank;
    while (end < plot.ranked.ranked && crosses(plot.view.intervals, plot.ranked.order[end], *plot.view.level)) ++end;
    if (end > rank)
      plot.context.painter().fill_rect({plot.frame.x.pixel(static_cast<double>(rank) - 0.5), plot.frame.inner.y0,
                                        plot.frame.x.pixel(static_cast<double>(end) - 0.5), plot.frame.inner.y1},
                                       ground);
    rank = end + 1;
  }
}

Color head_color(const RankPlot& plot, std::size_t head) {
  const Theme& theme = plot.context.theme();
  return plot.view.level && crosses(plot.view.intervals, head, *plot.view.level) ? theme.warn : theme.text2;
}

void draw_intervals(const RankPlot& plot) {
  Painter& painter = plot.context.painter();
  const Theme& theme = plot.context.theme();
  DataClip clip(painter, plot.frame.inner);
  const CorpusIntervals& all = plot.view.intervals;
  const bool many = plot.ranked.ranked > kMostBars;
  if (many) {
    std::vector<double> rank, low, high;
    for (std::size_t r = 0; r < plot.ranked.ranked; ++r) {
      rank.push_back(static_cast<double>(r));
      low.push_back(all.low[plot.ranked.order[r]]);
      high.push_back(all.high[plot.ranked.order[r]]);
    }
    draw_band(painter, plot.frame, rank, low, high, theme.text3.faded(0.4f));
  }
  const float each = plot.frame.inner.width() / static_cast<float>(std::max<std::size_t>(plot.ranked.ranked, 1));
  const float width = each >= 6.0f ? 1.5f : 1.0f, size = each >= 8.0f ? 4.0f : each >= 3.0f ? 3.0f : 2.0f;
  std::vector<Vec2> settled, crossing;
  for (std::size_t r = 0; r < plot.ranked.ranked; ++r) {
    const std::size_t head = plot.ranked.order[r];
    const Color color = head_color(plot, head);
    const float x = plot.points[r].x;
    if (!many && std::isfinite(all.low[head]) && std::isfinite(all.high[head]))
      painter.line({x, plot.frame.y.pixel(all.low[head])}, {x, plot.frame.y.pixel(all.high[head])}, color.faded(0.6f),
                   width);
    (color == theme.warn ? crossing : settled).push_back(plot.points[r]);
  }
  painter.points(settled, theme.text, size);
  painter.points(crossing, theme.warn, size);
}

// The heads that are named: the selected one, that of the widest interval, the highest.
std::vector<std::size_t> named_ranks(const RankPlot& plot) {
  std::vector<std::size_t> ranks;
  const auto add = [&](std::size_t rank) {
    if (rank < plot.ranked.ranked && std::ranges::find(ranks, rank) == ranks.end()) ranks.push_back(rank);
  };
  if (plot.view.head) add(plot.rank_of[*plot.view.head]);
  if (plot.ranked.widest) add(plot.rank_of[*plot.ranked.widest]);
  if (plot.ranked.ranked > 1) add(plot.ranked.ranked - 1);
  return ranks;
}

void draw_selected(const RankPlot& plot, LabelSpace& space) {
  const Theme& theme = plot.context.theme();
  Painter& painter = plot.context.painter();
  const std::optional<std::size_t> selected = plot.view.head && plot.rank_of[*plot.view.head] < plot.ranked.ranked
                                                  ? std::optional(plot.rank_of[*plot.view.head])
                                                  : std::nullopt;
  if (selected) {
    const Vec2 at = plot.points[*selected];
    const CorpusIntervals& all = plot.view.intervals;
    DataClip clip(painter, plot.frame.inner);
    painter.line({at.x, plot.frame.inner.y0}, {at.x, plot.frame.inner.y1}, theme.accent.faded(0.5f), 1.0f);
    if (std::isfinite(all.half(*plot.view.head)))
      painter.line({at.x, plot.frame.y.pixel(all.low[*plot.view.head])},
                   {at.x, plot.frame.y.pixel(all.high[*plot.view.head])}, theme.accent, 2.0f);
    painter.disc(at, 4.0f, theme.accent);
  }
  std::vector<PointName> names;
  for (const std::size_t rank : named_ranks(plot))
    names.push_back({rank,
                     head_text(plot.view.head_at(plot.ranked.order[rank])),
                     {Face::Mono, 11.0f, rank == selected ? theme.accent : theme.text2}});
  draw_point_names(painter, theme, space, plot.points, names, NamePlaces::Free);
}

void follow_pointer_by_rank(const RankPlot& plot) {
  PanelContext& context = plot.context;
  const Interaction hit = context.ui.interact("heads", plot.frame.inner, Cursor::Crosshair);
  if (!hit.hovered || plot.ranked.ranked == 0) return;
  const double wanted = plot.frame.x.value(context.ui.input.pointer.x);
  const auto rank =
      static_cast<std::size_t>(std::lround(std::clamp(wanted, 0.0, static_cast<double>(plot.ranked.ranked - 1))));
  const std::size_t place = plot.ranked.order[rank];
  const HeadRef head = plot.view.head_at(place);
  context.hover.head = head;
  const CorpusIntervals& all = plot.view.intervals;
  const Vec2 at = plot.points[rank];
  context.painter().ring(at, 5.0f, context.theme().text, 1.5f);
  std::string tip = head_text(head) + "\n" + quantity_title(plot.view.ref) + "  " +
                    plot.view.number(all.mean[place], all.half(place));
  if (std::isfinite(all.half(place))) {
    tip += "\n" + interval_kind_text(plot.view) + "  " + plot.view.number(all.low[place], all.half(place)) + " … " +
           plot.view.number(all.high[place], all.half(place));
    if (plot.view.level && crosses(all, place, *plot.view.level))
      tip += "\nthe interval holds " + threshold_name(plot.view.ref.info) + ": not settled";
  }
  tip += "\nrank " + grouped_text(static_cast<std::int64_t>(rank)) + " by mean, over " + so_far_text(plot.view);
  context.ui.tooltip({at.x - 6.0f, plot.frame.inner.y0, at.x + 6.0f, plot.frame.inner.y1}, tip);
  if (hit.clicked) context.ui.run(select_command(context.state, head));
}

// t or bootstrap, and how many heads are above, below and across.
void draw_heads_bar(PanelContext& context, const CorpusView& view, Rect row) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const std::vector<Choice> choices{{"t", "corpus.interval t", !view.bootstrap, ""},
                                    {"bootstrap", "corpus.interval bootstrap", view.bootstrap, ""}};
  const float width = ui.segmented({0.0f, 0.0f}, measure::kPanelControl, choices, false);
  if (row.width() >= width + 40.0f) {
    ui.segmented({row.x1 - width, row.y0}, measure::kPanelControl, choices);
    row.cut_right(width + measure::kGap);
  }
  const float y = row.centre_y();
  const std::string title = quantity_title(view.ref);
  float x = row.x0;
  x += ui.label_at(x, y, title, theme.plot_title(), std::min(row.width(), 220.0f)) + 14.0f;
  if (!view.level || row.x1 - x < 90.0f) return;
  if (!view.any_interval()) {
    ui.label_at(x, y, interval_kind_text(view), theme.hint(), row.x1 - x);
    return;
  }
  const IntervalCounts counts = count_intervals(view.intervals, *view.level);
  context.facts.set("corpus.above", static_cast<double>(counts.above));
  context.facts.set("corpus.below", static_cast<double>(counts.below));
  context.facts.set("corpus.cross", static_cast<double>(counts.cross));
  const std::string level = (view.ref.info->threshold ? "" : "ε ") + short_text(*view.level);
  x += ui.label_at(x, y,
                   std::to_string(counts.above) + " above " + level + " · " + std::to_string(counts.below) + " below",
                   theme.body(theme.text2), row.x1 - x) +
       ui.width(" ", theme.body(theme.text2));
  if (row.x1 - x > 60.0f)
    ui.label_at(x, y, "· " + std::to_string(counts.cross) + " cross",
                theme.body(counts.cross > 0 ? theme.warn : theme.text2), row.x1 - x);
}

void draw_rank_plot(PanelContext& context, const CorpusView& view, Rect area) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const RankedHeads& ranked =
      kept_for(ui.kept_value("ranked"), std::tuple(view.corpus.statistics, quantity_text(view.ref), view.bootstrap),
               [&] { return ranked_heads(view); });
  if (ranked.ranked == 0) {
    draw_note(context, area, "No head has a mean of this quantity.", "Choose another one at the left.");
    return;
  }
  Rect notes;
  if (area.height() >= 190.0f) notes = area.cut_bottom(area.height() >= 250.0f ? 34.0f : 17.0f);
  AxisSpec x = axis_spec(-0.5, static_cast<double>(ranked.ranked) - 0.5);
  x.whole = true;
  x.title = "heads, ranked by their mean";
  x.grid = false;
  const AxisSpec y = mean_axis(view, ranked);
  RankPlot plot{context, view, ranked, lay_out_plot(area, x, y, ui.measure(), {6.0f, 8.0f, {}, {}}), {}, {}};
  if (plot.frame.inner.width() < 60.0f || plot.frame.inner.height() < 40.0f) {
    draw_note(context, area, "There is no room for the plot.");
    return;
  }
  plot.rank_of.assign(ranked.order.size(), ranked.order.size());
  for (std::size_t r = 0; r < ranked.ranked; ++r) {
    plot.rank_of[ranked.order[r]] = r;
    plot.points.push_back(plot.frame.at(static_cast<double>(r), view.intervals.mean[ranked.order[r]]));
  }
  draw_plot_ground(context.painter(), plot.frame, theme);
  draw_crossing_ground(plot);
  LabelSpace space(plot.frame.inner, 2.0f);
  // Lines to the names of heads rise there: names of levels stand elsewhere.
  constexpr float kRise = 40.0f;
  for (const std::size_t rank : named_ranks(plot))
    space.block(
        Rect{plot.points[rank].x - 2.0f, plot.points[rank].y - kRise, plot.points[rank].x + 2.0f, plot.points[rank].y});
  draw_levels(plot, space);
  draw_intervals(plot);
  draw_selected(plot, space);
  draw_plot_axes(context.painter(), plot.frame, theme);
  follow_pointer_by_rank(plot);
  if (notes.empty()) return;
  if (ranked.widest) {
    const std::string text =
        "widest interval: " + head_text(view.head_at(*ranked.widest)) + ", " + view.half_text(*ranked.widest);
    ui.label_at(plot.frame.inner.x0, notes.cut_top(17.0f).centre_y(), text, theme.hint(),
                notes.x1 - plot.frame.inner.x0);
  }
  if (notes.height() >= 15.0f)
    ui.label_at(plot.frame.inner.x0, notes.y0 + 8.0f,
                few_documents(view) ? "Two documents: intervals by one degree of freedom say little."
                                    : "Intervals take documents for what is independent, never tokens of one text.",
                few_documents(view) ? TextStyle{Face::Sans, 11.0f, theme.warn} : theme.hint(),
                notes.x1 - plot.frame.inner.x0);
}

void draw_corpus_heads(PanelContext& context, Rect frame) {
  const PanelScope scope(context, "corpus heads", frame);
  const auto view = corpus_view(context.state);
  const std::string hint = view ? "mean over " + so_far_text(*view) + " and " + interval_kind_text(*view) : "";
  Rect body = draw_panel_title(context, frame, "map", "All heads, sorted", "", hint);
  if (!view || view->ref.info == nullptr) {
    draw_note(context, body.inset(measure::kPadding, 8.0f),
              view ? "There is no quantity of this name." : "No corpus is shown.");
    return;
  }
  context.facts.set("corpus.sequences", static_cast<double>(view->file.sequences()));
  context.facts.set("corpus.documents", static_cast<double>(view->file.documents()));
  context.facts.set("corpus.interval", interval_kind_text(*view));
  body = body.inset(measure::kPadding, 6.0f);
  if (!view->file.steps.empty()) body = draw_corpus_steps(context, *view, body);
  draw_heads_bar(context, *view, body.cut_top(measure::kPanelControl));
  body.cut_top(4.0f);
  draw_rank_plot(context, *view, body);
}

}  // namespace

const PanelInfo kCorpusHeadsPanel{
    .id = "corpus_heads", .title = "All heads, sorted", .least_width = 300.0f, .draw = draw_corpus_heads};

}  // namespace headroom
