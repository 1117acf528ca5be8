#include "app/panels/importance/importance_scatter.h"

#include <algorithm>
#include <any>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/figures/head_levels.h"
#include "app/panels/importance/rank_intervals.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/head_points.h"
#include "app/plot/label_layout.h"
#include "app/plot/series.h"
#include "core/base/number_text.h"
#include "core/run/ablation_summary.h"

namespace headroom {
namespace {

constexpr std::size_t kNamedAbove = 6, kNamedBelow = 3, kMostLossDiscs = 4000;

struct LossScatter {
  PanelContext& context;
  const ImportanceView& view;
  const HeadColumn& x;
  std::string x_name;
  double x_linear = 0.0;  // of a signed quantity across
  PlotFrame frame;
  ColorScale scale;          // of layers
  std::vector<Vec2> points;  // by place; NaN where a head has none
  std::size_t shown = 0;
};

Color disc_color(const LossScatter& scatter, std::size_t place) {
  const std::size_t heads = scatter.view.data->heads.size();
  return scale_color(scatter.scale, static_cast<float>(scatter.view.data->layers[place / heads]));
}

// The band in which a change is not seen, zero, ε.
void draw_ground(const LossScatter& scatter, LabelSpace& space) {
  Painter& painter = scatter.context.painter();
  const Theme& theme = scatter.context.theme();
  const PlotFrame& frame = scatter.frame;
  draw_plot_ground(painter, frame, theme);
  // Changes that the intervals cannot be relied on to see, as in figures; without intervals small ones.
  const double detectable = detectable_change(scatter.context, scatter.view),
               unseen = std::isfinite(detectable) ? detectable : kSmallLossChange;
  const float y0 = frame.y.pixel(std::min(unseen, frame.y.high)), y1 = frame.y.pixel(std::max(-unseen, frame.y.low));
  painter.fill_rect(Rect{frame.inner.x0, y0, frame.inner.x1, y1}.intersected(frame.inner), theme.mark.faded(0.07f));
  std::vector<ReferenceLine> lines{{true, 0.0, theme.text2, LineStyle::Solid, "", 1.0f}};
  const HeadLevels levels = head_levels(*scatter.view.data, scatter.x.ref, scatter.context.state.view.heads.threshold);
  if (levels.threshold)
    lines.push_back({false, *levels.threshold, theme.text3, LineStyle::Solid,
                     (levels.own ? "" : "ε ") + short_text(*levels.threshold), 1.0f});
  draw_lines(painter, frame, lines, space);
}

// Heads whose interval leaves out 0 are full, others are rings: nothing is claimed of these.
void draw_points(const LossScatter& scatter) {
  Painter& painter = scatter.context.painter();
  const Theme& theme = scatter.context.theme();
  DataClip clip(painter, scatter.frame.inner);
  if (scatter.shown > kMostLossDiscs) {
    std::vector<Vec2> points;
    for (const Vec2 point : scatter.points)
      if (std::isfinite(point.x)) points.push_back(point);
    painter.points(points, theme.text2, 2.0f);
    return;
  }
  const float radius = scatter.shown > 800 ? 2.0f : 3.0f;
  for (const bool full : {false, true})
    for (std::size_t i = 0; i < scatter.points.size(); ++i) {
      if (!std::isfinite(scatter.points[i].x) || scatter.view.differs(i) != full) continue;
      if (full)
        painter.disc(scatter.points[i], radius + 0.5f, disc_color(scatter, i));
      else
        painter.ring(scatter.points[i], radius, disc_color(scatter, i), 1.2f);
    }
}

// The interval of a head as a line through its disc.
void draw_interval(const LossScatter& scatter, std::size_t place, Color color) {
  const double delta = scatter.view.table->delta[place],
               half = scatter.view.half_width * scatter.view.table->error[place];
  if (!std::isfinite(half) || !std::isfinite(scatter.points[place].x)) return;
  DataClip clip(scatter.context.painter(), scatter.frame.inner);
  const float x = scatter.points[place].x;
  scatter.context.painter().line({x, scatter.frame.y.pixel(delta - half)}, {x, scatter.frame.y.pixel(delta + half)},
                                 color, 1.5f);
}

void draw_names(const LossScatter& scatter, LabelSpace& space, std::optional<std::size_t> selected) {
  const Theme& theme = scatter.context.theme();
  const std::vector<std::size_t> order = scatter.view.table->by_change();
  std::vector<std::size_t> wanted;
  const auto want = [&](std::size_t place) {
    if (std::isfinite(scatter.points[place].x) && std::ranges::find(wanted, place) == wanted.end())
      wanted.push_back(place);
  };
  if (selected) want(*selected);
  for (std::size_t i = 0; i < std::min(kNamedAbove, order.size()); ++i) want(order[i]);
  for (std::size_t i = 0; i < std::min(kNamedBelow, order.size()); ++i) want(order[order.size() - 1 - i]);
  std::vector<PointName> names;
  for (const std::size_t place : wanted)
    names.push_back({place,
                     head_text(scatter.view.table->head_at(place)),
                     {Face::Mono, 11.0f, scatter.view.differs(place) ? theme.text : theme.text3}});
  draw_point_names(scatter.context.painter(), theme, space, scatter.points, names, NamePlaces::Near);
}

constexpr const char *kHeading = "rank correlation, 95 %", *kOver = "over heads of one text";

struct Correlation {
  std::string name;
  HeadPairs pairs;
};

// Over all heads, and over the halves of a model of several layers.
std::vector<Correlation> correlations_of(const LossScatter& scatter) {
  const std::vector<std::int64_t>& numbers = scatter.view.data->layers;
  const std::size_t heads = scatter.view.data->heads.size(), layers = numbers.size(), half = (layers + 1) / 2;
  const auto span = [&](std::size_t first, std::size_t last) {
    return first == last ? std::to_string(numbers[first])
                         : std::to_string(numbers[first]) + "–" + std::to_string(numbers[last]);
  };
  std::vector<Correlation> all{{"all", {}}};
  if (layers > 1) {
    all.push_back({"layers " + span(0, half - 1), {}});
    all.push_back({"layers " + span(half, layers - 1), {}});
  }
  for (std::size_t i = 0; i < scatter.points.size(); ++i) {
    if (!std::isfinite(scatter.points[i].x)) continue;
    const auto add = [&](HeadPairs& pairs) {
      pairs.a.push_back(scatter.view.table->delta[i]);
      pairs.b.push_back(scatter.x.values[i]);
    };
    add(all[0].pairs);
    if (layers > 1) add(all[i / heads >= half ? 2 : 1].pairs);
  }
  return all;
}

RankIntervals::Answer kept_intervals(PanelContext& context, const std::vector<Correlation>& correlations) {
  std::any& kept = context.ui.kept_value("rank intervals");
  if (!kept.has_value()) kept = std::make_shared<RankIntervals>();
  std::vector<HeadPairs> groups;
  for (const Correlation& correlation : correlations) groups.push_back(correlation.pairs);
  RankIntervals::Answer answer = (*std::any_cast<std::shared_ptr<RankIntervals>>(&kept))->of(groups);
  if (answer.there < groups.size()) context.ui.wake_in(0.05);
  return answer;
}

// "−0.22 … −0.05"; fewer than three heads have none.
std::string interval_text(const Bootstrapped& number) {
  if (!std::isfinite(number.low)) return "no interval";
  return signed_text(number.low, 2) + " … " + signed_text(number.high, 2);
}

// Beside the counts: each correlation, below it over how many heads, and its interval.
void draw_correlations(const LossScatter& scatter, const std::vector<Correlation>& lines,
                       const RankIntervals::Answer& answer, Rect area, bool intervals) {
  Painter& painter = scatter.context.painter();
  const Theme& theme = scatter.context.theme();
  const TextStyle mono{Face::Mono, 11.0f, theme.text}, small{Face::Mono, 10.0f, theme.text2};
  const float value = scatter.context.ui.width("\u22120.00", mono);
  float y = area.y0 + 8.0f;
  const auto right = [&](float x, const std::string& text, const TextStyle& style) {
    painter.text_at(x, y, text, style, Painter::Align::Right);
  };
  right(area.x1, intervals ? kHeading : "rank correlation", theme.hint());
  if (intervals) y += 14.0f, right(area.x1, kOver, theme.hint());
  std::string tip = "Spearman’s rank correlation of loss change and " + column_title(scatter.x_name) +
                    ". The 95 % intervals\nare of other heads of such a model, not of other texts: percentiles of "
                    "10 000 draws\n(fewer of more than 2 000 heads) of as many heads with replacement.";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool there = i < answer.there;
    const std::string n = "n " + grouped_text(static_cast<std::int64_t>(lines[i].pairs.a.size()));
    const std::string number = there ? signed_text(answer.of[i].value, 2) : "…";
    const std::string interval = there ? interval_text(answer.of[i]) : "…";
    y += intervals ? 20.0f : 16.0f;
    right(area.x1, number, mono);
    right(area.x1 - value - 8.0f, lines[i].name, theme.hint());
    if (intervals) {
      y += 14.0f;
      right(area.x1, interval, small);
      right(area.x1 - scatter.context.ui.width(interval, small) - 10.0f, n, theme.hint());
    }
    tip += "\n" + lines[i].name + "  " + number + "  [" + interval + "]  " + n;
  }
  scatter.context.ui.tooltip(area, tip);
}

// How many heads have which change, and the rank correlations beside it.
void draw_margin(const LossScatter& scatter, Rect margin, bool correlations) {
  Painter& painter = scatter.context.painter();
  const Theme& theme = scatter.context.theme();
  Ui& ui = scatter.context.ui;
  const std::vector<Correlation> lines = correlations_of(scatter);
  const std::vector<double>& changes = lines.front().pairs.a;
  const Axis& axis = scatter.frame.y;
  const auto bins = static_cast<std::size_t>(std::clamp(scatter.frame.inner.height() / 9.0f, 8.0f, 60.0f));
  const Histogram counts = symlog_histogram(changes, axis.low, axis.high, axis.linear, bins);
  painter.fill_rect({margin.x0 - 1.0f, margin.y0, margin.x0, margin.y1}, theme.faint);
  const auto bars = [&](float right) {
    const Rect area{margin.x0, margin.y0, right, margin.y1};
    draw_bars(painter, horizontal_bars(counts, axis, area), area, theme.text3);
  };
  if (changes.size() < 3) return bars(margin.x1);
  const RankIntervals::Answer answer = kept_intervals(scatter.context, lines);
  Facts& facts = scatter.context.facts;
  facts.set("importance.intervals", static_cast<double>(answer.there));
  if (answer.there > 0) {
    facts.set("importance.rank_correlation", answer.of[0].value);
    facts.set("importance.rank_correlation_low", answer.of[0].low);
    facts.set("importance.rank_correlation_high", answer.of[0].high);
  }
  if (!correlations) return bars(margin.x1);
  const TextStyle mono{Face::Mono, 11.0f, theme.text}, small{Face::Mono, 10.0f, theme.text2};
  const float value = ui.width("\u22120.00", mono);
  float narrow = ui.width("rank correlation", theme.hint());
  float wide = std::max(ui.width(kHeading, theme.hint()), ui.width(kOver, theme.hint()));
  for (const Correlation& line : lines) {
    narrow = std::max(narrow, ui.width(line.name, theme.hint()) + value + 8.0f);
    const std::string n = "n " + grouped_text(static_cast<std::int64_t>(line.pairs.a.size()));
    wide = std::max(wide, ui.width("\u22120.00 … \u22120.00", small) + ui.width(n, theme.hint()) + 10.0f);
  }
  wide = std::max(wide, narrow);
  constexpr float kLeastBars = 24.0f, kGap = 10.0f;
  const bool intervals =
      margin.width() - wide - kGap >= kLeastBars && margin.height() >= 30.0f + 34.0f * static_cast<float>(lines.size());
  const float left = margin.width() - (intervals ? wide : narrow) - kGap;
  if (left < kLeastBars || margin.height() < 90.0f) return bars(margin.x1);
  bars(margin.x0 + left);
  const float height =
      intervals ? 30.0f + 34.0f * static_cast<float>(lines.size()) : 16.0f + 16.0f * static_cast<float>(lines.size());
  draw_correlations(scatter, lines, answer,
                    {margin.x0 + left + kGap, margin.y0, margin.x1, std::min(margin.y1, margin.y0 + height)},
                    intervals);
}

void draw_layers(const LossScatter& scatter, Rect row, float label_room) {
  const Theme& theme = scatter.context.theme();
  if (label_room >= scatter.context.ui.width("layer", theme.hint()) + 8.0f)
    scatter.context.painter().text_at(row.x0 - 8.0f, row.y0 + 5.0f, "layer", theme.hint(), Painter::Align::Right);
  draw_layer_colours(scatter.context, row, 8.0f, *scatter.view.data, scatter.scale);
}

void follow_pointer(const LossScatter& scatter) {
  PanelContext& context = scatter.context;
  const Interaction hit = context.ui.interact("plot", scatter.frame.inner, Cursor::Crosshair);
  if (!hit.hovered) return;
  const std::optional<std::size_t> nearest = nearest_head(scatter.points, context.ui.input.pointer);
  if (!nearest) return;
  const HeadRef head = scatter.view.table->head_at(*nearest);
  context.hover.head = head;
  draw_interval(scatter, *nearest, context.theme().text);
  const QuantityInfo* info = scatter.x.ref.info;
  std::string tip = head_text(head) + "\nloss change  " + change_text(scatter.view, *nearest);
  if (!scatter.view.differs(*nearest) && scatter.view.table->blocks > 0) tip += "\nthe interval holds 0";
  if (info != nullptr)
    tip += "\n" + quantity_title(scatter.x.ref) + "  " + number_text(*info, scatter.x.values[*nearest]);
  const Vec2 p = scatter.points[*nearest];
  context.ui.tooltip(Rect::sized(p.x - 6.0f, p.y - 6.0f, 12.0f, 12.0f), tip);
  if (hit.clicked) context.ui.run(select_command(context.state, head));
}

}  // namespace

void draw_importance_scatter(PanelContext& context, RunCache& memory, const ImportanceView& view, Rect area) {
  const Theme& theme = context.theme();
  Ui& ui = context.ui;
  const std::string against = context.state.view.importance.against;
  LossScatter scatter{context, view, memory.column(against), against, 0.0, {}, layer_scale(*view.data, theme), {}, 0};
  const bool wide = area.width() >= 560.0f;
  const float margin = area.width() >= 660.0f ? 190.0f : wide ? 148.0f : area.width() >= 380.0f ? 56.0f : 0.0f;
  Rect title = area.cut_top(22.0f);
  const float combo = std::min(230.0f, 0.48f * title.width());
  ui.combo("against", title.cut_right(combo), "across", column_heading(against),
           [against] { return quantity_menu("importance.against", against, /*with_layer=*/true); });
  title.cut_right(measure::kGap);
  std::string name = std::string("loss change, ") + way_info(view.way).title + ", nats";
  if (view.table->blocks > 0)
    name += " · full: the interval leaves out 0, " + std::to_string(view.table->count_differing()) + " of " +
            std::to_string(view.table->done);
  ui.label_at(title.x0, title.centre_y(), name, theme.hint(), title.width());
  area.cut_top(6.0f);
  Rect legend = area.height() >= 200.0f ? area.cut_bottom(24.0f) : Rect{};
  AxisSpec x =
      column_axis(scatter.x, scatter.x.ref.info != nullptr && scatter.x.ref.info->linear_to > 0.0, 0.025, 0.025);
  x.title = column_title(against);
  const AxisSpec y = loss_axis(view.run->sweeps);
  PlotRoom room;
  room.right = margin > 0.0f ? margin + 10.0f : 4.0f;
  scatter.frame = lay_out_plot(area, x, y, ui.measure(), room);
  if (scatter.frame.inner.width() < 60.0f || scatter.frame.inner.height() < 40.0f) {
    draw_note(context, area, "There is no room for the plot.");
    return;
  }
  scatter.points.assign(view.table->delta.size(), {std::nanf(""), std::nanf("")});
  for (std::size_t i = 0; i < scatter.points.size() && i < scatter.x.values.size(); ++i)
    if (std::isfinite(view.table->delta[i]) && std::isfinite(scatter.x.values[i])) {
      scatter.points[i] = scatter.frame.at(scatter.x.values[i], view.table->delta[i]);
      ++scatter.shown;
    }
  LabelSpace space(scatter.frame.inner, 2.0f);
  draw_ground(scatter, space);
  draw_points(scatter);
  std::optional<std::size_t> selected;
  if (const auto head = context.state.view.selection.head)
    if (const auto place = view.table->place({head->layer, head->head});
        place && std::isfinite(scatter.points[*place].x)) {
      selected = place;
      draw_interval(scatter, *place, theme.accent);
      context.painter().ring(scatter.points[*place], 6.5f, theme.accent, 2.0f);
    }
  draw_names(scatter, space, selected);
  draw_plot_axes(context.painter(), scatter.frame, theme);
  if (margin > 0.0f) draw_margin(scatter, scatter.frame.right_margin(8.0f, margin), wide);
  if (!legend.empty() && scatter.shown <= kMostLossDiscs) {
    const Rect row{scatter.frame.inner.x0, legend.y0 + 2.0f, scatter.frame.inner.x1, legend.y1};
    draw_layers(scatter, row, row.x0 - area.x0);
  }
  follow_pointer(scatter);
}

}  // namespace headroom
