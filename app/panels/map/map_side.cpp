#include "app/panels/map/map_side.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/panels/map/map_figure.h"
#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_labels.h"
#include "app/panels/map/map_range.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/panel.h"
#include "app/plot/series.h"
#include "app/plot/token_text.h"
#include "core/base/number_text.h"
#include "core/run/open_model.h"

namespace headroom {
namespace {

// "name value" pairs in a row, as the panels print them; those without room are left out.
struct Pair {
  std::string name, value;
  Color color;
};
void draw_pairs(PanelContext& context, float x0, float x1, float y, std::span<const Pair> pairs) {
  float x = x0;
  for (const Pair& pair : pairs) {
    const TextStyle value{Face::Mono, 11.0f, context.theme().text}, name{Face::Sans, 11.0f, pair.color};
    const float name_width = pair.name.empty() ? 0.0f : context.ui.width(pair.name, name) + 5;
    const float width = name_width + context.ui.width(pair.value, value);
    if (x + width > x1) return;
    context.painter().text_at(x, y, pair.name, name);
    context.painter().text_at(x + name_width, y, pair.value, value);
    x += width + 14;
  }
}

void draw_plot_title(PanelContext& context, const Rect& area, const std::string& title, const std::string& note) {
  const TextStyle style = context.theme().plot_title(), hint = context.theme().hint();
  const float note_width = note.empty() ? 0.0f : context.ui.width(note, hint);
  const float title_width = context.ui.width(title, style);
  const bool both = title_width + 12 + note_width <= area.width();
  context.ui.label_at(area.x0, area.y0 + 7, title, style, both ? area.width() - note_width : area.width());
  if (both && !note.empty()) context.painter().text_at(area.x1, area.y0 + 7, note, hint, Painter::Align::Right);
}

const char* lambda_formula(const HeadProgram& program) {
  switch (program.lambda) {
    case LambdaSource::LayerScalar: return "λ over position: one number per layer";
    case LambdaSource::Projection: return "λ over position: λᵢ = σ(·), per token";
    case LambdaSource::RawProjection: return "λ over position: λᵢ without the sigmoid";
    default: return "λ over position";
  }
}

// ε of the head's norm, where the checkpoint is at hand.
std::optional<double> norm_epsilon(const PanelContext& context, const MapSubject& subject) {
  const ModelEntry* entry = context.state.find_model(subject.run->model);
  if (!entry || !entry->model) return {};
  const auto& blocks = entry->model->spec.blocks;
  if (subject.ref.layer < 0 || subject.ref.layer >= static_cast<std::int64_t>(blocks.size())) return {};
  const double epsilon = blocks[static_cast<std::size_t>(subject.ref.layer)].attention.head_norm.epsilon;
  return epsilon > 0.0 ? std::optional(epsilon) : std::nullopt;
}

}  // namespace

MapLayout side_layout(const MapLayout& layout) {
  MapLayout side = layout;
  side.map = layout.side_map;
  side.strip = side.pinned_strip = {};
  return side;
}

MapRange swipe_range(const MapSubject& subject, const MapView& view, const Theme& theme) {
  MapSubject weights = subject;
  weights.kind = MapKind::First;
  weights.is_signed = weights.is_logits = false;
  MapView plain = view;
  plain.scale = ScaleKind::Log10;
  plain.range.reset();
  plain.exclude_sink = false;
  MapRange range = map_range(weights, plain, {}, theme);
  range.clips_low = true;
  return range;
}

FigureProgress draw_swipe(PanelContext& context, const MapLayout& layout, const MapSubject& subject,
                          const MapRange& range) {
  const MapLayout side = side_layout(layout);
  const float divider = std::round(side.map.x0 + static_cast<float>(context.state.view.map.divider) * side.map.width());
  const MapKind right = subject.kind == MapKind::ScaledSecond ? MapKind::ScaledSecond : MapKind::Second;
  FigureProgress progress;
  const auto draw_half = [&](MapKind kind, FigureSlot slot, Rect half) {
    if (half.empty()) return;
    MapSubject shown = subject;
    shown.kind = kind;
    shown.is_logits = shown.is_signed = false;
    MapFigure figure{&shown, range.scale, slot};
    figure.part = half;
    progress.add(draw_map_figure(context, side, figure));
  };
  draw_half(MapKind::First, FigureSlot::First, {side.map.x0, side.map.y0, divider, side.map.y1});
  draw_half(right, FigureSlot::Second, {divider, side.map.y0, side.map.x1, side.map.y1});

  const Theme& theme = context.theme();
  if (layout.side_title.height() >= 38)
    context.ui.label_at(layout.side_title.x0, layout.map.y0 - 30, "one scale for both, log₁₀", theme.hint(),
                        layout.side_title.width());
  const float y = layout.map.y0 - 12;
  const TextStyle first{Face::SansSemibold, 12.0f, theme.first}, second{Face::SansSemibold, 12.0f, theme.second};
  const std::string left_text = "first  a¹",
                    right_text = right == MapKind::ScaledSecond ? "λ · a²  second" : "a²  second";
  if (divider - 10 - context.ui.width(left_text, first) >= side.map.x0)
    context.painter().text_at(divider - 10, y, left_text, first, Painter::Align::Right);
  if (divider + 10 + context.ui.width(right_text, second) <= side.map.x1)
    context.painter().text_at(divider + 10, y, right_text, second);
  return progress;
}

void draw_swipe_divider(PanelContext& context, const MapLayout& layout, const MapSubject&) {
  const Rect& map = layout.side_map;
  const Theme& theme = context.theme();
  Painter& painter = context.painter();
  const float x = std::round(map.x0 + static_cast<float>(context.state.view.map.divider) * map.width());
  painter.fill_rect({x - 2.5f, map.y0 - 20, x + 2.5f, map.y1}, theme.halo);
  painter.fill_rect({x - 1.5f, map.y0 - 20, x + 1.5f, map.y1}, theme.mark);
  const float y = std::min(map.y0 + 119, map.centre_y());
  const Rect handle = Rect::sized(x - 13.5f, y - 11, 27, 22);
  painter.fill_rect(handle, theme.mark, 3);
  const Color arrow = text_on(theme.mark);
  const Vec2 left[] = {{x - 9, y}, {x - 3, y - 4.5f}, {x - 3, y + 4.5f}},
             right[] = {{x + 9, y}, {x + 3, y - 4.5f}, {x + 3, y + 4.5f}};
  painter.fill_polygon(left, arrow);
  painter.fill_polygon(right, arrow);
  const Interaction line =
      context.ui.interact("divider", {x - 5, map.y0 - 20, x + 5, map.y1}, Cursor::ResizeHorizontal);
  const Interaction knob = context.ui.interact("divider knob", handle, Cursor::ResizeHorizontal);
  if (line.dragging || knob.dragging) {
    const double at = std::clamp(static_cast<double>((context.ui.input.pointer.x - map.x0) / map.width()), 0.0, 1.0);
    char text[48];
    std::snprintf(text, sizeof text, "swipe %.4f", at);
    context.ui.run(text);
  }
}

void draw_lambda_over_position(PanelContext& context, const Rect& area, const MapSubject& subject,
                               const MapMarks& marks) {
  if (area.height() < 60 || area.width() < 120 || !subject.head || subject.head->lambda.empty()) return;
  const Theme& theme = context.theme();
  draw_plot_title(context, area, lambda_formula(*subject.program), "");
  const std::vector<double>& lambda = subject.head->lambda;
  std::vector<double> positions(lambda.size());
  std::iota(positions.begin(), positions.end(), 0.0);
  double low = 0.0, high = 1.0;
  for (const double v : lambda)
    if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
  if (low < 0.0 || high > 1.0) {
    const Range nice = nice_range(low, high, false);
    low = nice.low;
    high = nice.high;
  }
  AxisSpec x, y;
  x.low = 0;
  x.high = std::max(1.0, static_cast<double>(subject.length - 1));
  x.whole = x.low_label = x.high_label = true;
  y.low = low;
  y.high = high;
  const float margin = area.width() >= 260 ? 64.0f : 0.0f;
  PlotRoom room;
  room.right = margin + 4;
  const PlotFrame frame = lay_out_plot({area.x0, area.y0 + 18, area.x1, area.y1}, x, y, context.ui.measure(), room);
  if (frame.inner.empty()) return;
  Painter& painter = context.painter();
  draw_plot_ground(painter, frame, theme);
  draw_cloud(painter, frame, positions, lambda, theme.lambda);
  if (const auto query = marks.query(); query && *query < static_cast<std::int64_t>(lambda.size())) {
    const double value = lambda[static_cast<std::size_t>(*query)];
    const float px = frame.x.pixel(static_cast<double>(*query));
    painter.line({px, frame.inner.y0}, {px, frame.inner.y1}, theme.accent);
    if (std::isfinite(value)) painter.disc({px, frame.y.pixel(value)}, 4.0f, theme.accent);
    context.facts.set("map.lambda", value);
  }
  draw_plot_axes(painter, frame, theme);
  if (margin > 0) {
    const Histogram counts = histogram(lambda, low, high, 24);
    const Rect beside = frame.right_margin(6, margin - 6);
    draw_bars(painter, horizontal_bars(counts, frame.y, beside), beside, theme.lambda.faded(0.8f));
    painter.line({beside.x0 - 0.5f, beside.y0}, {beside.x0 - 0.5f, beside.y1}, theme.faint);
  }
}

void draw_lambda_by_layer(PanelContext& context, const Rect& area, const MapSubject& subject) {
  if (area.height() < 110 || area.width() < 180) return;
  const Theme& theme = context.theme();
  Painter& painter = context.painter();
  draw_plot_title(context, area, "λ by layer", "");
  const double here = subject.data->at("lambda_mean", subject.ref.layer, subject.ref.head),
               init = subject.layer->lambda_init;
  std::vector<Pair> pairs = {{"layer " + std::to_string(subject.ref.layer) + " λ", fixed_text(here, 3), theme.lambda}};
  if (std::isfinite(init)) pairs.push_back({"λ init", fixed_text(init, 3), theme.text2});
  draw_pairs(context, area.x0, area.x1, area.y0 + 25, pairs);

  std::vector<double> layers, values, inits;
  double low = 0.0, high = 1.0;
  for (const std::int64_t layer : subject.data->layers) {
    const LayerSnapshot* one = subject.data->layer(layer);
    if (!one) continue;
    layers.push_back(static_cast<double>(layer));
    values.push_back(subject.data->at("lambda_mean", layer, subject.ref.head));
    inits.push_back(one->lambda_init);
    for (const double v : {values.back(), inits.back()})
      if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
  }
  const Range nice = nice_range(low, high * 1.15, false);
  AxisSpec x, y;
  x.low = 0;
  x.high = std::max(1.0, static_cast<double>(std::max<std::int64_t>(subject.data->all_layers, 1) - 1));
  x.whole = x.low_label = x.high_label = true;
  y.low = nice.low;
  y.high = nice.high;
  const PlotFrame frame = lay_out_plot({area.x0, area.y0 + 36, area.x1, area.y1}, x, y, context.ui.measure());
  if (frame.inner.empty()) return;
  draw_plot_ground(painter, frame, theme);
  LabelSpace space(frame.inner);
  const ReferenceLine one{true, 1.0, theme.text2, LineStyle::Solid, "1: first and second weigh the same", 1.0f};
  draw_lines(painter, frame, std::span(&one, 1), space);
  draw_dashed_curve(painter, frame, layers, inits, theme.text2, 1.5f, 5, 3);
  {
    const DataClip clip(painter, frame.inner.inset(-6));
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (!std::isfinite(values[i])) continue;
      const Vec2 at = frame.at(layers[i], values[i]);
      if (std::isfinite(inits[i])) painter.line(frame.at(layers[i], inits[i]), at, theme.lambda.faded(0.55f));
      const bool selected = static_cast<std::int64_t>(layers[i]) == subject.ref.layer;
      if (selected) {
        painter.disc(at, 6.5f, theme.panel);
        painter.disc(at, 5.0f, theme.accent);
      } else {
        painter.disc(at, 2.75f, theme.lambda);
      }
    }
  }
  draw_plot_axes(painter, frame, theme);
  const std::string formula = "λ init = 0.8 − 0.6 · exp(−0.3 l)";
  const TextStyle style{Face::Sans, 11.0f, theme.text2};
  const float width = context.ui.width(formula, style);
  const std::vector<Rect> places = {Rect::sized(frame.inner.x1 - width - 8, frame.inner.y1 - 26, width, 14)};
  if (std::ranges::any_of(inits, [](double v) { return std::isfinite(v); }) && space.place_first(places) == 0)
    painter.text_at(places[0].x0, places[0].centre_y(), formula, style);
}

void draw_norm_gain(PanelContext& context, const Rect& area, const MapSubject& subject, const MapMarks& marks) {
  const std::span<const float> gain = subject.layer->row_values("rows/norm_gain", subject.ref.head);
  if (area.height() < 150 || area.width() < 180) return;
  const Theme& theme = context.theme();
  Painter& painter = context.painter();
  std::vector<float> finite;
  for (const float v : gain)
    if (std::isfinite(v)) finite.push_back(v);
  draw_plot_title(context, area, "Gain of the norm",
                  finite.empty() ? "" : grouped_text(static_cast<std::int64_t>(finite.size())) + " rows");
  if (finite.empty()) {
    context.ui.paragraph({area.x0, area.y0 + 20},
                         "This head has no norm of its own, or the run does not hold its gain.", theme.hint(),
                         area.width(), 15);
    return;
  }
  const std::optional<double> epsilon = norm_epsilon(context, subject);
  const double cap = epsilon ? 1.0 / std::sqrt(*epsilon) : 0.0;
  const double largest = static_cast<double>(*std::ranges::max_element(finite));
  const auto at_cap =
      std::ranges::count_if(finite, [&](float v) { return cap > 0.0 && static_cast<double>(v) >= 0.99 * cap; });
  std::vector<Pair> pairs = {{"median", fixed_text(quantile(finite, 0.5), 1), theme.text2},
                             {"max", fixed_text(largest, 1), theme.text2}};
  if (cap > 0.0)
    pairs.push_back({"at the cap",
                     short_text(100.0 * static_cast<double>(at_cap) / static_cast<double>(finite.size())) + " %",
                     theme.text2});
  draw_pairs(context, area.x0, area.x1, area.y0 + 25, pairs);

  const double root = std::sqrt(static_cast<double>(subject.length));
  const double smallest = static_cast<double>(*std::ranges::min_element(finite));
  AxisSpec x, y;
  x.log = true;
  x.low = std::min(1.0, std::max(1e-3, nice_range(std::max(1e-3, smallest), std::max(largest, 2e-3), true).low));
  x.high = 1.6 * std::max({cap, largest, root, 2.0});
  const Histogram counts = histogram(finite, x.low, x.high, 48, true);
  y.low = 0;
  y.high = std::max(1.0, counts.largest() * 1.1);
  y.whole = true;
  std::vector<std::string> notes;
  if (cap > 0.0)
    notes.push_back("ε = " + short_text(*epsilon) + "; the cap binds for RMS < " + short_text(std::sqrt(*epsilon)));
  notes.push_back("√n: uniform map, values without a mean");
  if (const auto query = marks.query(); query && static_cast<std::size_t>(*query) < gain.size())
    notes.push_back("▲ row " + grouped_text(*query) + ": " +
                    readout_text(static_cast<double>(gain[static_cast<std::size_t>(*query)])));
  const float notes_height = area.height() > 230 ? 15.0f * static_cast<float>(notes.size()) + 8 : 0.0f;
  const PlotFrame frame =
      lay_out_plot({area.x0, area.y0 + 36, area.x1, area.y1 - notes_height}, x, y, context.ui.measure());
  if (frame.inner.empty()) return;
  draw_plot_ground(painter, frame, theme);
  if (cap > 0.0) {
    const DataClip clip(painter, frame.inner);
    painter.fill_rect({frame.x.pixel(cap), frame.inner.y0, frame.inner.x1, frame.inner.y1}, theme.warn.faded(0.1f));
  }
  draw_bars(painter, vertical_bars(counts, frame.x, frame.inner, y.high), frame.inner, theme.accent.faded(0.75f));
  LabelSpace space(frame.inner);
  std::vector<ReferenceLine> lines = {
      {false, root, theme.text, LineStyle::Dashed, "√n " + short_text(std::round(root * 10) / 10), 1.5f}};
  if (cap > 0.0)
    lines.push_back({false, cap, theme.warn, LineStyle::Solid, "cap 1/√ε " + short_text(std::round(cap)), 1.5f});
  draw_lines(painter, frame, lines, space);
  draw_plot_axes(painter, frame, theme);
  if (const auto query = marks.query(); query && static_cast<std::size_t>(*query) < gain.size()) {
    const double value = static_cast<double>(gain[static_cast<std::size_t>(*query)]);
    if (value >= x.low && value <= x.high) {
      const float px = frame.x.pixel(value), py = frame.inner.y1;
      const Vec2 mark[] = {{px, py - 6}, {px - 4, py}, {px + 4, py}};
      painter.fill_polygon(mark, theme.accent);
    }
  }
  float text_y = area.y1 - notes_height + 14;
  if (notes_height > 0)
    for (const std::string& note : notes) {
      context.ui.label_at(area.x0, text_y, note, theme.hint(), area.width());
      text_y += 15;
    }
}

}  // namespace headroom
