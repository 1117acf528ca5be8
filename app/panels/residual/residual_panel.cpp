#include "app/panels/residual/residual_panel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "app/panels/parts/run_cache.h"
#include "app/panels/residual/residual_parts.h"
#include "app/plot/series.h"
#include "app/plot/text_box.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kLeft = 46.0f, kNames = 78.0f, kTitle = 18.0f, kCard = 88.0f, kLeastPlot = 88.0f;

struct Plots {
  PanelContext& context;
  const ResidualView& view;
  std::optional<std::int64_t> hovered;  // boundary under the pointer

  [[nodiscard]] const Theme& theme() const { return context.theme(); }
  [[nodiscard]] Painter& painter() const { return context.painter(); }
};

// From the smallest to the largest of the finite, positive values, at 1-2-5 ends.
Range log_range(std::initializer_list<const std::vector<double>*> lists) {
  double low = kNaN, high = kNaN;
  for (const std::vector<double>* list : lists)
    for (const double value : *list) {
      if (!std::isfinite(value) || value <= 0.0) continue;
      if (!(low <= value)) low = value;
      if (!(high >= value)) high = value;
    }
  if (!std::isfinite(low)) return {0.1, 10.0};
  if (high < 1.01 * low) return {low / 2.0, high * 2.0};
  return nice_range(low, high, true);
}

// The heading of a plot and its frame, with the lines of the boundaries that are looked at.
PlotFrame begin_plot(Plots& plots, Rect area, const std::string& title, const std::string& hint, Range range,
                     bool log) {
  PanelContext& context = plots.context;
  const Theme& theme = plots.theme();
  const Rect head = area.cut_top(kTitle);
  const float from = head.x0 + kLeft, right = head.x1 - measure::kPadding, room = right - from;
  const float width = context.ui.label_at(from, head.y0 + 7.0f, title, theme.plot_title(), room);
  if (!hint.empty() && context.ui.width(hint, theme.hint()) <= room - width - 14.0f)
    plots.painter().text_at(right, head.y0 + 7.0f, hint, theme.hint(), Painter::Align::Right);
  AxisSpec x = axis_spec(0.0, static_cast<double>(std::max<std::int64_t>(1, plots.view.boundaries - 1)));
  x.whole = x.high_label = true;
  AxisSpec y = axis_spec(range.low, range.high, log);
  y.least_gap = 20.0f;
  PlotRoom room_of;
  room_of.left = kLeft;
  room_of.right = kNames;
  PlotFrame frame = lay_out_plot(area, x, y, context.ui.measure(), room_of);
  if (frame.inner.width() < 30.0f || frame.inner.height() < 16.0f) return {};
  draw_plot_ground(plots.painter(), frame, theme);
  const auto line = [&](std::int64_t boundary, Color color) {
    const float at = frame.x.pixel(static_cast<double>(boundary));
    plots.painter().line({at, frame.inner.y0}, {at, frame.inner.y1}, color);
  };
  if (plots.hovered) line(*plots.hovered, theme.faint);
  line(plots.view.boundary, theme.accent);
  return frame;
}

// What the pointer on a plot asks for.
void end_plot(Plots& plots, const PlotFrame& frame, const char* name) {
  if (frame.inner.empty()) return;
  draw_plot_axes(plots.painter(), frame, plots.theme());
  const Interaction hit = plots.context.ui.interact(name, frame.inner, Cursor::Hand);
  if (!hit.hovered) return;
  const auto boundary = std::clamp<std::int64_t>(std::llround(frame.x.value(plots.context.ui.input.pointer.x)), 0,
                                                 plots.view.boundaries - 1);
  plots.context.ui.kept_number("hovered", -1.0) = static_cast<double>(boundary);
  if (hit.clicked) plots.context.ui.run("residual.boundary " + std::to_string(boundary));
}

std::string token_name(const ResidualView& view) { return "token " + std::to_string(view.token); }

void draw_spread(Plots& plots, Rect area, const char* title, const std::string& hint,
                 const ResidualView::ByBoundary& numbers, std::optional<double> reference) {
  const Theme& theme = plots.theme();
  const ResidualView& view = plots.view;
  Range range = log_range({&numbers.token, &numbers.low, &numbers.high});
  if (reference) range.low = std::min(range.low, *reference / 1.5);
  const PlotFrame frame = begin_plot(plots, area, title, hint, range, true);
  if (frame.inner.empty()) return;
  if (reference) {
    const float y = frame.y.pixel(*reference);
    plots.painter().dashed_line({frame.inner.x0, y}, {frame.inner.x1, y}, theme.text3, 1.0f, 2.0f, 3.0f);
  }
  draw_band(plots.painter(), frame, view.places, numbers.low, numbers.high, theme.second.faded(0.16f));
  draw_band(plots.painter(), frame, view.places, numbers.lower, numbers.upper, theme.second.faded(0.30f));
  draw_curve(plots.painter(), frame, view.places, numbers.median, theme.second, 2.0f);
  draw_curve(plots.painter(), frame, view.places, numbers.token, theme.accent, 2.0f);
  const auto last = [&](const std::vector<double>& values) {
    const auto found = std::find_if(values.rbegin(), values.rend(), [](double v) { return std::isfinite(v); });
    return found == values.rend() ? kNaN : *found;
  };
  const std::vector<EndLabel> ends = {{last(numbers.token), token_name(view), theme.accent},
                                      {last(numbers.median), "median", theme.second}};
  draw_ends(plots.painter(), frame, ends);
  end_plot(plots, frame, title);
}

void draw_largest(Plots& plots, Rect area) {
  const Theme& theme = plots.theme();
  Painter& painter = plots.painter();
  const ResidualView& view = plots.view;
  std::vector<double> sizes;
  for (std::int64_t b = 0; b < view.boundaries; ++b)
    if (const ResidualBoundary* at = view.at(b); at && !at->largest.empty())
      for (std::size_t i = 0; i < std::min<std::size_t>(3, at->largest.size()); ++i)
        sizes.push_back(std::abs(static_cast<double>(at->largest[i].value)));
  Range range = log_range({&sizes, &view.median});
  range.high *= 12.0;  // for the labels above the discs
  const PlotFrame frame = begin_plot(plots, area, "Three largest |h|", "by size; colour: token", range, true);
  if (frame.inner.empty()) return;
  draw_dashed_curve(painter, frame, view.places, view.median, theme.text3, 1.0f, 2.0f, 3.0f);
  LabelSpace space(frame.inner);
  for (const std::vector<Vec2>& piece : curve_pieces(frame, view.places, view.median)) space.block_line(piece, 2.0f);
  painter.push_clip(frame.inner.inset(-4.0f));
  const float step = (frame.inner.width()) / static_cast<float>(std::max<std::int64_t>(1, view.boundaries - 1));
  const float widest = std::clamp(0.42f * step, 1.2f, 4.2f);
  std::vector<std::pair<Vec2, std::string>> labels;
  std::pair<std::int64_t, std::int64_t> before{-1, -1};
  for (std::int64_t b = 0; b < view.boundaries; ++b) {
    const ResidualBoundary* at = view.at(b);
    if (!at) continue;
    for (std::size_t i = std::min<std::size_t>(3, at->largest.size()); i-- > 0;) {
      const LargeActivation& one = at->largest[i];
      const double size = std::abs(static_cast<double>(one.value));
      if (!(size > 0.0)) continue;
      const Vec2 centre = frame.at(static_cast<double>(b), size);
      const float radius = widest * (i == 0 ? 1.0f : i == 1 ? 0.74f : 0.55f);
      painter.disc(centre, radius, token_color(view, one.position, theme));
      space.block(Rect{centre.x - radius, centre.y - radius, centre.x + radius, centre.y + radius});
      const std::pair<std::int64_t, std::int64_t> now{one.position, one.channel};
      // Where the largest one is another than before, and stands out.
      if (i > 0) continue;
      if (now != before && size >= 30.0 * at->median)
        labels.emplace_back(centre, std::to_string(one.position) + " · ch " + std::to_string(one.channel));
      before = now;
    }
  }
  const float line = frame.x.pixel(static_cast<double>(view.boundary));
  space.block(Rect{line - 1.0f, frame.inner.y0, line + 1.0f, frame.inner.y1});
  const TextStyle style{Face::Mono, 10.0f, theme.text2};
  for (const auto& [centre, text] : labels) {
    const float width = plots.context.ui.width(text, style);
    std::vector<Rect> places;
    for (const float dx : {-0.5f * width, 5.0f, -width - 5.0f})
      places.push_back(text_rect_at(centre.x + dx, centre.y - 12.0f, width, 10.0f));
    if (const std::ptrdiff_t chosen = space.place_first(places); chosen >= 0)
      draw_text_in(painter, places[static_cast<std::size_t>(chosen)], text, style);
  }
  // The legend stands in the lower right corner, where the discs leave room.
  float x = frame.inner.x1 - 8.0f;
  const float y = frame.inner.y1 - 10.0f;
  const auto entry = [&](const std::string& name, Color color) {
    const TextStyle text{Face::Mono, 10.0f, theme.text2};
    const float width = plots.context.ui.width(name, text);
    const Rect box{x - width - 14.0f, y - 7.0f, x, y + 7.0f};
    if (!space.place(OrientedBox::of(box))) return;
    painter.text_at(x, y, name, text, Painter::Align::Right);
    painter.disc({x - width - 8.0f, y}, 3.0f, color);
    x -= width + 22.0f;
  };
  entry("another", theme.text3);
  for (std::size_t i = view.coloured.size(); i-- > 0;)
    entry(std::to_string(view.coloured[i]), token_color(view, view.coloured[i], theme));
  painter.pop_clip();
  const auto found = std::find_if(view.median.rbegin(), view.median.rend(), [](double v) { return std::isfinite(v); });
  if (found != view.median.rend()) {
    const std::vector<EndLabel> ends = {{*found, "median |h|", theme.text3}};
    draw_ends(painter, frame, ends);
  }
  end_plot(plots, frame, "largest");
}

void draw_sinks(Plots& plots, RunCache& memory, Rect area) {
  const Theme& theme = plots.theme();
  const ResidualView& view = plots.view;
  const RunSnapshot& run = *view.run;
  const HeadColumn& column = memory.column("sink_score");
  const double threshold = plots.context.state.view.heads.threshold;
  std::int64_t over = 0, scored = 0;
  std::vector<double> places, values, middle(static_cast<std::size_t>(view.boundaries), kNaN);
  for (std::size_t l = 0; l < run.layers.size(); ++l) {
    const std::int64_t boundary = run.boundary_before(run.layers[l]);
    std::vector<double> of_layer;
    for (std::size_t h = 0; h < run.heads.size(); ++h) {
      const double value = column.values[l * run.heads.size() + h];
      if (!std::isfinite(value)) continue;
      // Beside one another where a layer has several, so that equal ones are seen.
      const double aside = run.heads.size() < 2
                               ? 0.0
                               : 0.5 * (static_cast<double>(h) + 0.5) / static_cast<double>(run.heads.size()) - 0.25;
      places.push_back(static_cast<double>(boundary) + aside);
      values.push_back(value);
      of_layer.push_back(value);
      ++scored;
      over += value > threshold ? 1 : 0;
    }
    if (boundary < view.boundaries) middle[static_cast<std::size_t>(boundary)] = quantile(NumberView(of_layer), 0.5);
  }
  Range range{0.0, 1.0};
  for (const double value : values) range.low = std::min(range.low, value), range.high = std::max(range.high, value);
  if (range.low < 0.0) range = nice_range(range.low, range.high, false);
  const std::string hint =
      "layer k reads boundary k · " + grouped_text(over) + " of " + grouped_text(scored) + " over ε";
  const PlotFrame frame = begin_plot(
      plots, area, "Sink score α₀ of the heads",
      run.encoder_boundaries > 0 ? grouped_text(over) + " of " + grouped_text(scored) + " over ε" : hint, range, false);
  if (frame.inner.empty()) return;
  draw_cloud(plots.painter(), frame, places, values, theme.text2, {}, run.heads.size() > 40 ? 1.0f : 2.5f);
  draw_curve(plots.painter(), frame, view.places, middle, theme.second, 2.0f);
  const float y = frame.y.pixel(threshold);
  plots.painter().line({frame.inner.x0, y}, {frame.inner.x1, y}, theme.text, 1.0f);
  const auto last = std::find_if(middle.rbegin(), middle.rend(), [](double v) { return std::isfinite(v); });
  std::vector<EndLabel> ends = {{threshold, "ε " + short_text(threshold), theme.text}};
  if (last != middle.rend()) ends.push_back({*last, "median", theme.second});
  draw_ends(plots.painter(), frame, ends);
  end_plot(plots, frame, "sinks");
}

// One boundary in words: the one under the pointer, else the chosen one.
void draw_card(Plots& plots, Rect area) {
  PanelContext& context = plots.context;
  const ResidualView& view = plots.view;
  const Theme& theme = plots.theme();
  const std::int64_t boundary = plots.hovered.value_or(view.boundary);
  plots.painter().fill_rect(area, theme.raised, measure::kRadius);
  const Rect inner = area.inset(10.0f, 8.0f);
  if (inner.width() < 60.0f) return;
  const std::string title = "Boundary " + std::to_string(boundary), name = boundary_name(*view.run, boundary);
  const float width = context.ui.label_at(inner.x0, inner.y0 + 6.0f, title, theme.plot_title(), inner.width());
  if (context.ui.width(name, theme.hint()) <= inner.width() - width - 12.0f)
    plots.painter().text_at(inner.x1, inner.y0 + 6.0f, name, theme.hint(), Painter::Align::Right);
  const ResidualBoundary* at = view.at(boundary);
  std::string text = "It is not computed yet.";
  if (at && !at->finite) text = "It holds NaN or infinity: nothing can be put in order.";
  if (at && at->finite) {
    const auto i = static_cast<std::size_t>(boundary);
    text = token_name(view) + ": RMS " + activation_text(view.rms.token[i]) + ", kurtosis " +
           activation_text(view.kurtosis.token[i]);
    if (!at->largest.empty()) {
      const LargeActivation& most = at->largest.front();
      text += "; largest h " + activation_text(static_cast<double>(most.value)) + " at token " +
              std::to_string(most.position) + " in channel " + std::to_string(most.channel) + ", " +
              ratio_text(std::abs(static_cast<double>(most.value)) / at->median) + " × the median";
      if (const ResidualBoundary* before = view.at(boundary - 1); before && before->has_channel(most.channel))
        text += "; one boundary earlier " +
                activation_text(static_cast<double>(before->value(most.position, most.channel)));
    }
    text += ".";
  }
  context.ui.paragraph({inner.x0, inner.y0 + 16.0f}, text, theme.body(theme.text2), inner.width(), 16.0f, true,
                       std::max(1, static_cast<int>((inner.height() - 16.0f) / 16.0f)));
}

}  // namespace

void draw_residual_panel(PanelContext& context, Rect frame) {
  const std::shared_ptr<const ResidualView> view = residual_view(context);
  RunCache own;
  RunCache& memory = run_cache(context, own);
  const PanelScope scope(context, "residual", frame);
  const bool partial = view && view->there < static_cast<std::size_t>(view->boundaries);
  const std::string some =
      partial ? std::to_string(view->there) + " of " + std::to_string(view->boundaries) + " boundaries" : "";
  const std::string hint =
      partial ? fitting_hint(context, frame, "Residual stream", {some})
              : fitting_hint(context, frame, "Residual stream",
                             {"0: input · k: output of layer k \u2212 1", "by boundary between layers"});
  Rect body = draw_panel_title(context, frame, "heads", "Residual stream", "", hint).inset(0.0f, 8.0f);
  if (!view) {
    draw_note(context, body.inset(measure::kPadding, 0.0f), "No residual stream is shown.");
  } else if (body.width() > 160.0f && body.height() > 60.0f) {
    double& kept = context.ui.kept_number("hovered", -1.0);
    const bool inside = body.contains(context.ui.input.pointer);
    Plots plots{context, *view, kept >= 0.0 && inside ? std::optional(std::llround(kept)) : std::nullopt};
    kept = -1.0;
    Rect card = body.cut_bottom(std::min(kCard, 0.3f * body.height()));
    const std::string largest = grouped_text(std::llround(std::floor(largest_kurtosis(view->channels))));
    const std::vector<std::function<void(Rect)>> all = {
        [&](Rect area) {
          draw_spread(plots, area, "RMS over channels", "bands: quartiles, extremes without token 0", view->rms, {});
        },
        [&](Rect area) { draw_largest(plots, area); }, [&](Rect area) { draw_sinks(plots, memory, area); },
        [&](Rect area) {
          draw_spread(plots, area, "Kurtosis of the channels", "Gaussian 3 · at most " + largest, view->kurtosis, 3.0);
        }};
    static constexpr std::size_t kOrder[] = {0, 3, 1, 2};  // from above; where there is no room the last of `all` go
    const std::size_t columns = body.width() >= 900.0f ? 2 : 1;
    const std::size_t rows =
        std::clamp<std::size_t>(static_cast<std::size_t>(body.height() / kLeastPlot), 1, 4 / columns);
    std::vector<std::size_t> shown;
    for (const std::size_t plot : kOrder)
      if (plot < rows * columns) shown.push_back(plot);
    const float height = body.height() / static_cast<float>(rows), width = body.width() / static_cast<float>(columns);
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const std::size_t row = i / columns;
      const float x = body.x0 + static_cast<float>(i % columns) * width, y = body.y0 + static_cast<float>(row) * height;
      all[shown[i]](Rect::sized(x, y, width, height - 4.0f));
    }
    draw_card(plots, card.inset(measure::kPadding, 2.0f));
    context.facts.set("residual.boundary", static_cast<double>(view->boundary));
    context.facts.set("residual.channel", static_cast<double>(view->channel));
    context.readouts.boundary = view->boundary;
    context.readouts.residual_channel = view->channel;
    context.facts.set("residual.there", static_cast<double>(view->there));
  }
}

const PanelInfo kResidualPanel{
    .id = "residual", .title = "Residual stream", .least_width = 300.0f, .draw = draw_residual_panel};

}  // namespace headroom
