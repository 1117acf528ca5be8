// The scatter plot: any quantity against any other, one disc per head, with histograms as margins and a lasso.
#include "app/panels/heads/heads_scatter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/figures/head_levels.h"
#include "app/panels/panel.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/head_points.h"
#include "app/panels/parts/kept.h"
#include "app/panels/parts/key_hints.h"
#include "app/plot/color_bar.h"
#include "app/plot/plot_frame.h"
#include "app/plot/series.h"
#include "app/plot/token_text.h"
#include "core/base/number_text.h"
#include "core/run/missing_value.h"

namespace headroom {
namespace {

constexpr std::size_t kMostDiscs = 4000;
constexpr float kDiscRadius = 3.5f;

struct Scatter {
  PanelContext& context;
  const RunSnapshot& run;
  const HeadColumn &x, &y, &colour;
  bool log_x, log_y, by_layer;
  PlotFrame frame;
  ColorScale scale;
  std::vector<Vec2> points;  // by row of the run; NaN where a head has no place
  std::size_t shown = 0, missing = 0;
};

std::string axis_name(const HeadColumn& column) {
  return quantity_title(column.ref) + (column.ref.info->percent ? ", share" : "");
}

// A value as its axis stretches it.
double shown(const HeadColumn& column, bool log, std::size_t row) {
  if (const double linear = linear_part(column, log); linear > 0.0) return symlog_place(column.values[row], linear);
  return log ? std::log(column.values[row]) : column.values[row];
}

// Pearson's r of what the axes show.
double correlation(const Scatter& scatter) {
  double n = 0, sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
  for (std::size_t i = 0; i < scatter.points.size(); ++i) {
    if (!std::isfinite(scatter.points[i].x)) continue;
    const double x = shown(scatter.x, scatter.log_x, i), y = shown(scatter.y, scatter.log_y, i);
    n += 1, sx += x, sy += y, sxx += x * x, syy += y * y, sxy += x * y;
  }
  const double vx = sxx - sx * sx / n, vy = syy - sy * sy / n;
  return n > 2 && vx > 0 && vy > 0 ? (sxy - sx * sy / n) / std::sqrt(vx * vy) : std::nan("");
}

Color disc_color(const Scatter& scatter, std::size_t row) {
  const double value = scatter.colour.values[row];
  return std::isfinite(value) ? scale_color(scatter.scale, static_cast<float>(value)) : scatter.context.theme().hatch;
}

// What a head is known for, in a word; empty: nothing.
std::string role_of(const RunSnapshot& run, HeadRef head) {
  const auto at = [&](const char* name) { return run.at(name, head.layer, head.head); };
  if (at("previous_token_score") >= 0.5) return " previous token";
  if (at("induction_score") >= 0.3) return " induction";
  if (at("sink_score") >= 0.9) return " sink only";
  return "";
}

void draw_scatter_controls(PanelContext& context, Rect row) {
  const HeadsState& view = context.state.view.heads;
  const float width = (row.width() - 2.0f * measure::kGap) / 3.0f;
  const auto axis_menu = [](const std::string& command, const std::string& axis, const std::string& selected,
                            bool log) {
    return [=] {
      std::vector<MenuItem> items = quantity_menu(command, selected);
      MenuItem scale;
      scale.title = log ? "Linear axis" : "Logarithmic axis";
      scale.command = "heads.log " + axis + (log ? " off" : " on");
      scale.separator = true;
      items.push_back(std::move(scale));
      return items;
    };
  };
  Rect part = row.cut_left(width);
  row.cut_left(measure::kGap);
  context.ui.combo("x", part, "x", column_heading(view.x) + (view.log_x ? ", log" : ""),
                   axis_menu("heads.x", "x", view.x, view.log_x));
  part = row.cut_left(width);
  row.cut_left(measure::kGap);
  context.ui.combo("y", part, "y", column_heading(view.y) + (view.log_y ? ", log" : ""),
                   axis_menu("heads.y", "y", view.y, view.log_y));
  const std::string colour = view.colour;
  context.ui.combo("colour", row, "colour", column_heading(colour),
                   [colour] { return quantity_menu("heads.colour", colour, true); });
}

void draw_margins(const Scatter& scatter, float top_height, float right_width) {
  Painter& painter = scatter.context.painter();
  const Theme& theme = scatter.context.theme();
  const PlotFrame& frame = scatter.frame;
  std::vector<double> x, y;
  std::vector<std::uint8_t> chosen;
  std::vector<std::uint8_t> in_lasso(scatter.points.size(), 0);
  for (const HeadRef head : scatter.context.state.view.heads.lasso)
    if (const auto row = row_of(scatter.run, head)) in_lasso[*row] = 1;
  for (std::size_t i = 0; i < scatter.points.size(); ++i) {
    if (!std::isfinite(scatter.points[i].x)) continue;
    x.push_back(scatter.x.values[i]);
    y.push_back(scatter.y.values[i]);
    chosen.push_back(in_lasso[i]);
  }
  const auto bins = [](float pixels) { return static_cast<std::size_t>(std::clamp(pixels / 10.0f, 10.0f, 60.0f)); };
  const auto counted = [&](const std::vector<double>& values, const Axis& axis, float pixels,
                           std::span<const std::uint8_t> among = {}) {
    return axis.linear > 0.0 ? symlog_histogram(values, axis.low, axis.high, axis.linear, bins(pixels), among)
                             : histogram(values, axis.low, axis.high, bins(pixels), axis.log, among);
  };
  const Histogram across = counted(x, frame.x, frame.inner.width());
  const Histogram up = counted(y, frame.y, frame.inner.height());
  const Histogram across_chosen = counted(x, frame.x, frame.inner.width(), chosen);
  const Histogram up_chosen = counted(y, frame.y, frame.inner.height(), chosen);
  const Rect top = frame.top_margin(8.0f, top_height), right = frame.right_margin(8.0f, right_width);
  painter.fill_rect({top.x0, top.y1 - 1.0f, top.x1, top.y1}, theme.faint);
  painter.fill_rect({right.x0 - 1.0f, right.y0, right.x0, right.y1}, theme.faint);
  draw_bars(painter, vertical_bars(across, frame.x, top), top, theme.text3);
  draw_bars(painter, horizontal_bars(up, frame.y, right), right, theme.text3);
  draw_bars(painter, vertical_bars(across_chosen, frame.x, top, across.largest()), top, theme.accent);
  draw_bars(painter, horizontal_bars(up_chosen, frame.y, right, up.largest()), right, theme.accent);
}

// Lines that mean something on an axis: the threshold, uniform attention, a reference.
void add_lines(const Scatter& scatter, const HeadColumn& column, bool horizontal, std::vector<ReferenceLine>& lines) {
  const Theme& theme = scatter.context.theme();
  const HeadLevels levels = head_levels(scatter.run, column.ref, scatter.context.state.view.heads.threshold);
  if (levels.threshold)
    lines.push_back({horizontal, *levels.threshold, theme.text, LineStyle::Solid,
                     (levels.own ? "" : "ε = ") + short_text(*levels.threshold), 1.0f});
  if (levels.uniform)
    lines.push_back(
        {horizontal, *levels.uniform, theme.warn, LineStyle::Dotted, "uniform " + readout_text(*levels.uniform), 1.5f});
  if (levels.reference) lines.push_back({horizontal, *levels.reference, theme.text3, LineStyle::Solid, "", 1.0f});
}

std::vector<Vec2> convex_hull(std::vector<Vec2> points) {
  if (points.size() < 3) return points;
  std::ranges::sort(points, [](Vec2 a, Vec2 b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  const auto turn = [](Vec2 o, Vec2 a, Vec2 b) { return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x); };
  std::vector<Vec2> hull;
  for (int side = 0; side < 2; ++side) {
    const std::size_t base = hull.size();
    for (const Vec2 p : points) {
      while (hull.size() >= base + 2 && turn(hull[hull.size() - 2], hull.back(), p) <= 0.0f) hull.pop_back();
      hull.push_back(p);
    }
    hull.pop_back();
    std::ranges::reverse(points);
  }
  return hull;
}

void draw_lasso(const Scatter& scatter, RunCache& memory) {
  Painter& painter = scatter.context.painter();
  const Theme& theme = scatter.context.theme();
  std::vector<Vec2> chosen;
  for (const HeadRef head : scatter.context.state.view.heads.lasso)
    if (const auto row = row_of(scatter.run, head))
      if (std::isfinite(scatter.points[*row].x)) chosen.push_back(scatter.points[*row]);
  const auto outline = [&](const std::vector<Vec2>& points) {
    if (points.size() >= 3) painter.fill_polygon(points, theme.accent.faded(0.10f));
    for (std::size_t i = 0; i < points.size(); ++i)
      painter.dashed_line(points[i], points[(i + 1) % points.size()], theme.accent, 1.5f, 4.0f, 3.0f);
  };
  DataClip clip(painter, scatter.frame.inner);
  const std::vector<Vec2>& path = memory.lasso_path();
  if (path.size() >= 2) {
    painter.polyline(path, theme.accent, 1.5f, false);
    painter.dashed_line(path.back(), path.front(), theme.accent, 1.0f, 4.0f, 3.0f);
  } else if (chosen.size() >= 2) {
    // Grown by 8 pixels, so that the discs lie inside.
    std::vector<Vec2> grown;
    for (const Vec2 p : chosen)
      for (int k = 0; k < 8; ++k) {
        const float angle = static_cast<float>(k) * 0.785398163f;
        grown.push_back({p.x + 8.0f * std::cos(angle), p.y + 8.0f * std::sin(angle)});
      }
    outline(convex_hull(std::move(grown)));
  }
  if (chosen.size() > kMostDiscs) {
    painter.points(chosen, theme.accent, 3.0f);
  } else {
    for (const Vec2 p : chosen) painter.ring(p, 5.5f, theme.accent, 1.0f);
  }
}

// What can be done with the heads of the lasso, in the order of the bar.
struct LassoAction {
  const char *title, *command, *what;
  bool runs = false;  // the model, once
};
constexpr LassoAction kLassoActions[] = {
    {"What-if…", "palette lasso.what-if", "all of them changed, in one run", true},
    {"Ablate", "lasso.ablate", "the loss with all of them off, in one run", true},
    {"Maps", "beside on", "their maps under the map of one"},
    {"Export…", "lasso.export", "their numbers as a table"},
};
constexpr float kLassoBar = 30.0f, kLassoGap = 4.0f;

// "38 heads", with the name that they were given where `room` pixels hold it.
std::string lasso_text(const PanelContext& context, float room) {
  const HeadsState& view = context.state.view.heads;
  const std::size_t count = view.lasso.size();
  std::string heads = std::to_string(count) + (count == 1 ? " head" : " heads");
  if (view.lasso_name.empty()) return heads;
  std::string text = elide_end(view.lasso_name + ", " + heads, room, context.ui.measure(), Face::SansSemibold, 12.0f);
  return text.ends_with(heads) ? text : heads;
}

float lasso_buttons_width(const Ui& ui) {
  float width = 20.0f + 22.0f;
  for (const LassoAction& action : kLassoActions) width += ui.button_width(action.title) + kLassoGap;
  return width;
}

// Where the bar of actions lies: in the corner of the plot, above or below the middle of an edge, that covers the
// fewest points. Empty: no heads are chosen, or there is no room.
Rect lasso_bar(const Scatter& scatter) {
  const HeadsState& view = scatter.context.state.view.heads;
  if (view.lasso.empty()) return {};
  const Ui& ui = scatter.context.ui;
  const Rect room = scatter.frame.inner.inset(8.0f);
  const float buttons = lasso_buttons_width(ui);
  const float width = std::ceil(
      buttons + ui.width(lasso_text(scatter.context, room.width() - buttons - 1.0f), {Face::SansSemibold, 12.0f, {}}));
  if (width > room.width() || room.height() < 3.0f * kLassoBar) return {};
  Rect best;
  std::size_t fewest = scatter.points.size() + 1;
  for (const float y : {room.y0, room.y1 - kLassoBar})
    for (const float x : {room.x1 - width, room.x0, std::round(room.centre_x() - 0.5f * width)}) {
      const Rect place = Rect::sized(x, y, width, kLassoBar);
      const Rect near = place.inset(-5.5f);
      const auto covered = static_cast<std::size_t>(
          std::ranges::count_if(scatter.points, [&](Vec2 p) { return std::isfinite(p.x) && near.contains(p); }));
      if (covered < fewest) fewest = covered, best = place;
    }
  return best;
}

void draw_lasso_bar(const Scatter& scatter, Rect bar) {
  if (bar.empty()) return;
  PanelContext& context = scatter.context;
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  (void)ui.interact("lasso bar", bar);  // nothing below takes the pointer
  context.painter().fill_rect(bar, theme.panel, measure::kRadius);
  context.painter().stroke_rect(bar, theme.accent, 1.0f, measure::kRadius);
  Rect row = bar.inset(4.0f);
  row.cut_left(6.0f);
  const TextStyle style{Face::SansSemibold, 12.0f, theme.accent};
  const std::string text = lasso_text(context, bar.width() - lasso_buttons_width(ui) + 0.5f);
  context.painter().text_at(row.x0, row.centre_y(), text, style);
  row.cut_left(ui.width(text, style) + 10.0f);
  for (const LassoAction& action : kLassoActions) {
    const Rect place = row.cut_left(ui.button_width(action.title));
    row.cut_left(kLassoGap);
    ui.button(place, action.title, action.command, ButtonStyle::Ghost);
    const RunEntry* run = context.state.shown();
    const bool timed = action.runs && run != nullptr && run->status == RunStatus::Done && run->seconds > 0.0;
    ui.tooltip(place, std::string(action.what) + (timed ? ": about " + estimated_seconds_text(run->seconds) : ""));
  }
  ui.icon_button(Rect::sized(bar.x1 - 22.0f, bar.centre_y() - 8.0f, 16.0f, 16.0f), Icon::Close, "lasso none",
                 "Release");
  context.facts.set("lasso.bar.x0", static_cast<double>(bar.x0));
  context.facts.set("lasso.bar.y0", static_cast<double>(bar.y0));
}

void draw_discs(const Scatter& scatter) {
  Painter& painter = scatter.context.painter();
  DataClip clip(painter, scatter.frame.inner);
  if (scatter.shown <= kMostDiscs) {
    const float radius = scatter.shown > 800 ? 2.5f : kDiscRadius;
    for (std::size_t i = 0; i < scatter.points.size(); ++i)
      if (std::isfinite(scatter.points[i].x)) painter.disc(scatter.points[i], radius, disc_color(scatter, i));
    return;
  }
  // Very many: squares, in 32 colours.
  std::array<std::vector<Vec2>, 33> groups;
  for (std::size_t i = 0; i < scatter.points.size(); ++i) {
    if (!std::isfinite(scatter.points[i].x)) continue;
    const double value = scatter.colour.values[i];
    const float at = std::isfinite(value) ? scale_position(scatter.scale, static_cast<float>(value)) : -1.0f;
    groups[at < 0.0f ? 32 : std::min<std::size_t>(31, static_cast<std::size_t>(at * 32.0f))].push_back(
        scatter.points[i]);
  }
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (!groups[g].empty())
      painter.points(
          groups[g],
          g == 32 ? scatter.context.theme().hatch
                  : scale_color(scatter.scale, scale_value(scatter.scale, (static_cast<float>(g) + 0.5f) / 32.0f)),
          3.0f);
}

// Of the head under the pointer, the selected one and the outermost ones.
std::vector<PointName> names_of_heads(const Scatter& scatter) {
  std::vector<std::size_t> wanted;
  const auto want = [&](std::size_t row) {
    if (std::isfinite(scatter.points[row].x) && std::ranges::find(wanted, row) == wanted.end()) wanted.push_back(row);
  };
  for (const auto& head : {scatter.context.state.hover.head, scatter.context.state.view.selection.head})
    if (head)
      if (const auto row = row_of(scatter.run, *head)) want(*row);
  // Where there are few, three of the ends are most of what there is.
  std::vector<std::size_t> placed;
  std::vector<double> x, y;
  for (std::size_t i = 0; i < scatter.points.size(); ++i)
    if (std::isfinite(scatter.points[i].x))
      placed.push_back(i), x.push_back(scatter.x.values[i]), y.push_back(scatter.y.values[i]);
  const std::vector<std::size_t> ends = points_at_ends(x, y);
  for (std::size_t k = 0; k < std::min<std::size_t>(scatter.points.size() > 12 ? 4 : 3, ends.size()); ++k)
    want(placed[ends[k]]);
  std::vector<PointName> names;
  for (const std::size_t row : wanted) {
    const HeadRef head = head_of_row(scatter.run, row);
    names.push_back(
        {row, head_text(head) + role_of(scatter.run, head), {Face::Sans, 11.0f, scatter.context.theme().text}});
  }
  return names;
}

// With a line to the disc, where there is room.
void draw_names(const Scatter& scatter, RunCache& memory, LabelSpace& space) {
  const State& state = scatter.context.state;
  const Theme& theme = scatter.context.theme();
  const auto of = std::tuple(state.hover.head, state.view.selection.head, scatter.x.hash, scatter.y.hash, scatter.log_x,
                             scatter.log_y, theme.text);
  const std::vector<PointName>& names =
      kept_for(memory.piece("scatter names"), of, [&] { return names_of_heads(scatter); });
  draw_point_names(scatter.context.painter(), theme, space, scatter.points, names, NamePlaces::Free);
}

void draw_legend(const Scatter& scatter, Rect area) {
  Painter& painter = scatter.context.painter();
  const Theme& theme = scatter.context.theme();
  const std::string name = column_title(scatter.context.state.view.heads.colour);
  const float left = std::min(120.0f, scatter.context.ui.width(name, theme.hint()) + 10.0f);
  if (area.width() < left + 60.0f || area.height() < 28.0f) return;
  scatter.context.ui.label({area.x0, area.y0 + 9.0f}, name, theme.hint(), left - 8.0f);
  area.cut_left(left);
  if (!scatter.by_layer) {
    ColorBarSpec spec;
    spec.scale = scatter.scale;
    spec.vertical = false;
    spec.thickness = 10.0f;
    draw_color_bar(painter, area, spec, theme);
    return;
  }
  draw_layer_colours(scatter.context, area, 10.0f, scatter.run, scatter.scale);
}

void follow_pointer(Scatter& scatter, RunCache& memory) {
  PanelContext& context = scatter.context;
  const Interaction hit = context.ui.interact("plot", scatter.frame.inner, Cursor::Crosshair);
  const Vec2 pointer = context.ui.input.pointer;
  std::vector<Vec2>& path = memory.lasso_path();
  if (hit.dragging && !hit.released) {
    if (path.empty()) path.push_back(hit.pressed_at);
    const Vec2 step = pointer - path.back();
    if (step.x * step.x + step.y * step.y > 9.0f) path.push_back(pointer);
    return;
  }
  if (hit.released && !path.empty()) path.push_back(pointer);
  if (hit.released && path.size() >= 3) {
    // Shift adds, Alt takes away.
    const bool more = context.ui.input.modifiers.shift, less = !more && context.ui.input.modifiers.alt;
    std::string line = more ? "lasso.add " : less ? "lasso.remove " : "lasso ";
    const std::vector<std::size_t> inside = points_inside(path, scatter.points);
    for (std::size_t i = 0; i < inside.size(); ++i)
      line += (i == 0 ? "" : ",") + head_text(head_of_row(scatter.run, inside[i]));
    if (!inside.empty())
      context.ui.run(line);
    else if (!more && !less)
      context.ui.run("lasso none");
  }
  if (!hit.held || hit.released) path.clear();
  if (!hit.hovered || hit.dragging) return;
  const std::optional<std::size_t> nearest = nearest_head(scatter.points, pointer);
  if (!nearest) return;
  const HeadRef head = head_of_row(scatter.run, *nearest);
  context.hover.head = head;
  const auto value = [&](const HeadColumn& column) {
    return "\n" + quantity_title(column.ref) + "  " + number_text(*column.ref.info, column.values[*nearest]);
  };
  context.ui.tooltip(Rect::sized(scatter.points[*nearest].x - 6.0f, scatter.points[*nearest].y - 6.0f, 12.0f, 12.0f),
                     head_text(head) + role_of(scatter.run, head) + value(scatter.x) + value(scatter.y));
  if (hit.clicked) context.ui.run(select_command(context.state, head));
}

}  // namespace

void draw_scatter(PanelContext& context, RunCache& memory, Rect body) {
  const HeadsState& view = context.state.view.heads;
  const Theme& theme = context.theme();
  Painter& painter = context.painter();
  body = body.inset(measure::kPadding, 8.0f);
  draw_scatter_controls(context, body.cut_top(measure::kPanelControl));
  body.cut_top(10.0f);
  Scatter scatter{context,
                  *memory.run(),
                  memory.column(view.x),
                  memory.column(view.y),
                  memory.column(view.colour),
                  view.log_x,
                  view.log_y,
                  view.colour == "layer",
                  {},
                  {},
                  {},
                  0,
                  0};
  if (scatter.x.ref.info == nullptr || scatter.y.ref.info == nullptr) {
    draw_note(context, body, "There is no quantity of this name.", "Choose one above.");
    return;
  }
  if (scatter.x.finite == 0 || scatter.y.finite == 0) {
    const HeadColumn& empty = scatter.x.finite == 0 ? scatter.x : scatter.y;
    const std::int64_t layer = scatter.run.layers.front();
    draw_note(context, body, "No head of this run has a value of " + quantity_title(empty.ref) + ".",
              missing_reason(scatter.run, empty.ref, layer));
    return;
  }
  scatter.scale = column_range(scatter.colour, theme).scale;
  if (scatter.by_layer) scatter.scale = layer_scale(scatter.run, theme);
  const bool small = body.width() < 300.0f || body.height() < 300.0f;
  const float top = small ? 28.0f : 56.0f, right = small ? 34.0f : 70.0f;
  if (body.height() >= 420.0f) {
    std::vector<KeyHint> hints = {{"drag", "lasso"}, {"Shift", "add"}, {"Alt", "take away"}};
    if (shown_beside(context.state.view) && !view.lasso.empty()) hints.push_back({"Arrows", "next of these heads"});
    draw_key_hints(context, body.cut_bottom(26.0f), hints);
  }
  Rect legend = body.cut_bottom(34.0f);
  body.cut_bottom(6.0f);
  const Rect y_axis = body.cut_left(15.0f);  // its name
  AxisSpec x = column_axis(scatter.x, view.log_x, 0.025, 0.05), y = column_axis(scatter.y, view.log_y, 0.025, 0.05);
  x.title = axis_name(scatter.x);
  PlotRoom room;
  room.top = top + 10.0f;
  room.right = right + 10.0f;
  scatter.frame = lay_out_plot(body, x, y, context.ui.measure(), room);
  if (scatter.frame.inner.width() < 60.0f || scatter.frame.inner.height() < 40.0f) {
    draw_note(context, body, "There is no room for the plot.");
    return;
  }
  scatter.points.assign(scatter.x.values.size(), {std::nanf(""), std::nanf("")});
  for (std::size_t i = 0; i < scatter.points.size(); ++i) {
    const double px = scatter.x.values[i], py = scatter.y.values[i];
    const bool positive_x = view.log_x && linear_part(scatter.x, true) == 0.0,
               positive_y = view.log_y && linear_part(scatter.y, true) == 0.0;
    const bool fits = std::isfinite(px) && std::isfinite(py) && (!positive_x || px > 0.0) && (!positive_y || py > 0.0);
    if (fits) {
      scatter.points[i] = scatter.frame.at(px, py);
      ++scatter.shown;
    } else if (std::isfinite(px) || std::isfinite(py)) {
      ++scatter.missing;
    }
  }
  context.facts.set("heads.shown", static_cast<double>(scatter.shown));

  draw_plot_ground(painter, scatter.frame, theme);
  LabelSpace space(scatter.frame.inner, 2.0f);
  const Rect bar = lasso_bar(scatter);
  if (!bar.empty()) space.block(bar);
  std::vector<ReferenceLine> lines;
  add_lines(scatter, scatter.x, false, lines);
  add_lines(scatter, scatter.y, true, lines);
  draw_lines(painter, scatter.frame, lines, space);
  draw_discs(scatter);
  draw_lasso(scatter, memory);
  if (const auto head = context.state.view.selection.head)
    if (const auto row = row_of(scatter.run, *head))
      if (std::isfinite(scatter.points[*row].x)) painter.ring(scatter.points[*row], 6.5f, theme.accent, 2.0f);
  draw_names(scatter, memory, space);
  draw_plot_axes(painter, scatter.frame, theme);
  draw_margins(scatter, top, right);
  legend.x0 = std::max(legend.x0, scatter.frame.inner.x0 - 40.0f);
  legend.x1 = scatter.frame.inner.x1;
  draw_legend(scatter, legend);

  // The name of the y axis along it, r in the corner of the margins.
  const Rect corner{scatter.frame.inner.x1 + 8.0f, body.y0, body.x1, scatter.frame.inner.y0};
  const double r = correlation(scatter);
  const std::string r_name =
      std::string("r(") + (view.log_x ? "log x" : "x") + ", " + (view.log_y ? "log y" : "y") + ")";
  if (context.ui.width(r_name, theme.hint()) <= corner.width() && corner.height() > 34.0f) {
    painter.text_at(corner.x0 + 2.0f, corner.y1 - 34.0f, r_name, theme.hint());
    painter.text_at(corner.x0 + 2.0f, corner.y1 - 17.0f, signed_text(r, 2), {Face::Mono, 11.0f, theme.text});
  }
  context.facts.set("heads.r", r);
  const std::string y_name = axis_name(scatter.y);
  const float y_width = std::min(context.ui.width(y_name, theme.hint()), scatter.frame.inner.height());
  const std::string fitting = elide_middle(y_name, y_width + 0.5f, context.ui.measure(), Face::Sans, 11.0f);
  painter.text({y_axis.x0 + 10.0f, std::round(scatter.frame.inner.centre_y() + 0.5f * y_width)}, fitting, theme.hint(),
               0.5f * std::numbers::pi_v<float>);
  context.facts.set("heads.y_name", fitting);
  follow_pointer(scatter, memory);
  draw_lasso_bar(scatter, bar);
}

}  // namespace headroom
