#include "app/panels/compare_side.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "app/panels/compare_parts.h"
#include "app/panels/heads_parts.h"
#include "app/plot/number_text.h"
#include "app/plot/quantiles.h"
#include "app/plot/series.h"
#include "app/session/quantities.h"

namespace headroom {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr const char* kSinkScore = "sink_score";
constexpr const char* kRho = "context_rms_relative_mean";

double sort_value(const ComparedHead& head, ComparedSort sort) {
  switch (sort) {
    case ComparedSort::Distance:
      return head.distance;
    case ComparedSort::SinkA:
      return head.sink_a;
    case ComparedSort::SinkB:
      return head.sink_b;
    case ComparedSort::Rho:
      return std::abs(head.rho);
  }
  return kNaN;
}

// The columns of the table, as many as the width holds.
struct Columns {
  float head, distance, sink_a, sink_b, rho;  // right edges, but the left one of `head`; NaN: left out
};
Columns columns_of(Rect area) {
  const float w = area.width();
  Columns columns{area.x0, area.x0 + 0.36f * w, area.x0 + 0.58f * w, area.x0 + 0.78f * w, area.x1};
  if (w < 230.0f) columns = {area.x0, area.x0 + 0.56f * w, NAN, NAN, area.x1};
  return columns;
}

void draw_table(PanelContext& context, Rect area, std::span<const ComparedHead> heads, ComparedSort sort,
                double& kept_sort) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const Rect inner{area.x0 + measure::kPadding, area.y0, area.x1 - measure::kPadding, area.y1};
  const Columns columns = columns_of(inner);
  Rect header = area;
  header.y1 = header.y0 + 22.0f;
  ui.label_at(columns.head, header.centre_y(), "head", theme.hint(), 40.0f);
  struct Title {
    const char* text;
    float right;
    ComparedSort sort;
    const char* tip;
  };
  const Title titles[] = {{"½‖B−A‖₁", columns.distance, ComparedSort::Distance,
                           "Half the sum of the absolute differences of a row, mean over rows.\n0: the same, 1: "
                           "disjoint (weights that sum to 1)"},
                          {"α₀ A", columns.sink_a, ComparedSort::SinkA, "Sink score in A"},
                          {"α₀ B", columns.sink_b, ComparedSort::SinkB, "Sink score in B"},
                          {"Δρ", columns.rho, ComparedSort::Rho, "Mean ρ of B less that of A; sorted by magnitude"}};
  for (const Title& title : titles) {
    if (std::isnan(title.right)) continue;
    const bool chosen = title.sort == sort;
    const TextStyle style{chosen ? Face::SansSemibold : Face::Sans, 11.0f, chosen ? theme.text : theme.text3};
    const float width = ui.width(title.text, style) + (chosen ? 12.0f : 0.0f);
    const Rect spot{title.right - width - 4.0f, header.y0, title.right + 2.0f, header.y1};
    const Interaction hit = ui.interact(title.text, spot, Cursor::Hand);
    ui.tooltip(spot, title.tip);
    if (hit.clicked) kept_sort = static_cast<double>(static_cast<int>(title.sort));
    painter.text_at(title.right - (chosen ? 12.0f : 0.0f), header.centre_y(), title.text, style, Painter::Align::Right);
    if (chosen) ui.icon(Icon::ChevronDown, {title.right - 4.0f, header.centre_y()}, 7.0f, theme.text2);
  }
  painter.fill_rect({inner.x0, header.y1 - 1.0f, inner.x1, header.y1}, theme.line);

  const Rect view{area.x0, header.y1, area.x1, area.y1};
  const float row_height = measure::kTableRow;
  const auto shown = static_cast<std::size_t>(std::max(0.0f, std::floor(view.height() / row_height)));
  if (shown == 0) return;
  const Rect rows{view.x0, view.y0, view.x1, view.y0 + row_height * static_cast<float>(shown)};
  const float offset = ui.scroll("rows", rows, row_height * static_cast<float>(heads.size()), row_height);
  const auto first = static_cast<std::size_t>(offset / row_height + 0.5f);
  double most = 0.0;
  for (const ComparedHead& head : heads)
    if (std::isfinite(head.distance)) most = std::max(most, head.distance);
  float y = rows.y0;
  for (std::size_t i = first; i < std::min(heads.size(), first + shown); ++i, y += row_height) {
    const ComparedHead& head = heads[i];
    const Rect row{rows.x0, y, rows.x1 - 10.0f, y + row_height};
    const std::string name = head_text(head.head);
    const bool selected = context.state.view.selection.head == head.head;
    const Interaction hit = ui.interact(name, row, Cursor::Hand);
    if (hit.hovered) context.hover.head = head.head;
    if (hit.clicked && !selected) ui.run("select " + name);
    if (selected) {
      painter.fill_rect({area.x0, row.y0, area.x1, row.y1}, theme.accent_soft);
      painter.fill_rect({area.x0, row.y0, area.x0 + 3.0f, row.y1}, theme.accent);
    } else if (hit.hovered || context.state.hover.head == head.head) {
      painter.fill_rect({area.x0, row.y0, area.x1 - 10.0f, row.y1}, theme.hover);
    }
    const float text_y = row.centre_y();
    const TextStyle strong{Face::Mono, 11.0f, theme.text}, plain{Face::Mono, 11.0f, theme.text2};
    ui.label_at(columns.head, text_y, name, strong, columns.distance - columns.head - ui.width("0.000", strong) - 8.0f);
    const auto number = [&](float right, const std::string& text, const TextStyle& style) {
      if (!std::isnan(right)) painter.text_at(right, text_y, text, style, Painter::Align::Right);
    };
    number(columns.distance, fixed_text(head.distance, 3), strong);
    number(columns.sink_a, fixed_text(head.sink_a, 3), plain);
    number(columns.sink_b, fixed_text(head.sink_b, 3), plain);
    number(columns.rho, std::isnan(head.rho) ? "–" : signed_text(head.rho, 3), plain);
    if (sort == ComparedSort::Distance && most > 0.0 && std::isfinite(head.distance)) {
      const float width =
          static_cast<float>(head.distance / most) * std::min(60.0f, columns.distance - columns.head - 30.0f);
      painter.fill_rect(Rect::sized(columns.distance - width, row.y1 - 2.0f, width, 2.0f), theme.accent);
    }
  }
}

void draw_ribbon(PanelContext& context, Rect area, const HeadDifferences& differences, const RunSnapshot& run) {
  std::map<std::int64_t, std::vector<double>> by_layer;
  for (const HeadDifferences::Head& head : differences.heads)
    if (std::isfinite(head.distance.mean)) by_layer[head.layer].push_back(head.distance.mean);
  std::vector<double> x, low, lower, median, upper, high;
  const double at[] = {0.0, 0.25, 0.5, 0.75, 1.0};
  for (const auto& [layer, values] : by_layer) {
    const std::vector<double> q = quantiles(NumberView(values), at);
    // A gap where layers are missing.
    if (!x.empty() && static_cast<double>(layer) > x.back() + 1.0) {
      x.push_back(x.back() + 1.0);
      for (auto* curve : {&low, &lower, &median, &upper, &high}) curve->push_back(kNaN);
    }
    x.push_back(static_cast<double>(layer));
    low.push_back(q[0]), lower.push_back(q[1]), median.push_back(q[2]), upper.push_back(q[3]), high.push_back(q[4]);
  }
  double top = 0.0;
  for (const double value : high)
    if (std::isfinite(value)) top = std::max(top, value);
  const std::int64_t last = run.layers.empty() ? 0 : run.layers.back(),
                     begin = run.layers.empty() ? 0 : run.layers.front();
  AxisSpec x_axis{.low = static_cast<double>(begin),
                  .high = static_cast<double>(std::max(last, begin + 1)),
                  .whole = true,
                  .high_label = true};
  AxisSpec y_axis{.low = 0.0, .high = nice_range(0.0, top > 0.0 ? top : 0.1, false).high};
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const PlotFrame frame = lay_out_plot(area, x_axis, y_axis, context.ui.measure());
  if (frame.inner.width() < 30.0f || frame.inner.height() < 16.0f) return;
  draw_plot_ground(painter, frame, theme);
  draw_band(painter, frame, x, low, high, theme.accent.faded(0.22f));
  draw_band(painter, frame, x, lower, upper, theme.accent.faded(0.38f));
  draw_curve(painter, frame, x, median, theme.accent);
  if (context.state.view.selection.head) {
    const float pixel = frame.x.pixel(static_cast<double>(context.state.view.selection.head->layer));
    painter.line({pixel, frame.inner.y0}, {pixel, frame.inner.y1}, theme.text2);
  }
  draw_plot_axes(painter, frame, theme);
  const Interaction hit = context.ui.interact("ribbon", frame.inner);
  if (!hit.hovered) return;
  const double layer = std::round(frame.x.value(context.ui.input.pointer.x));
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x[i] == layer && std::isfinite(median[i]))
      context.ui.tooltip(frame.inner, "layer " + std::to_string(std::llround(layer)) + "\nmedian " +
                                          fixed_text(median[i], 3) + ", quartiles " + fixed_text(lower[i], 3) + " … " +
                                          fixed_text(upper[i], 3) + "\nextremes " + fixed_text(low[i], 3) + " … " +
                                          fixed_text(high[i], 3));
}

std::string loss_text(const RunEntry& run) {
  if (run.data && run.data->next_token_loss) return fixed_text(*run.data->next_token_loss, 4);
  if (run.status == RunStatus::Running || run.status == RunStatus::Waiting) return "not known yet";
  return "not in this run";
}

}  // namespace

std::vector<ComparedHead> compared_heads(const RunSnapshot& a, const RunSnapshot& b, const HeadDifferences& differences,
                                         ComparedSort sort) {
  std::vector<ComparedHead> heads;
  const auto value = [](const LayerSnapshot& layer, const char* name, std::int64_t head) {
    const std::span<const double> values = layer.values(name, head);
    return values.empty() ? kNaN : values.front();
  };
  for (const auto& layer : a.data) {
    const LayerSnapshot* other = layer ? b.layer(layer->layer) : nullptr;
    if (!other) continue;
    for (const std::int64_t head : layer->heads) {
      if (other->head_index(head) < 0) continue;
      const HeadDifferences::Head* found = differences.find(layer->layer, head);
      heads.push_back({{layer->layer, head},
                       found ? found->distance.mean : kNaN,
                       value(*layer, kSinkScore, head),
                       value(*other, kSinkScore, head),
                       value(*other, kRho, head) - value(*layer, kRho, head)});
    }
  }
  std::ranges::stable_sort(heads, [&](const ComparedHead& x, const ComparedHead& y) {
    const double p = sort_value(x, sort), q = sort_value(y, sort);
    if (std::isnan(p) || std::isnan(q)) return !std::isnan(p) && std::isnan(q);
    return p > q;
  });
  return heads;
}

std::size_t heads_over(const RunSnapshot& run, double threshold) {
  std::size_t count = 0;
  for (const auto& layer : run.data)
    if (layer)
      for (const std::int64_t head : layer->heads) {
        const std::span<const double> values = layer->values(kSinkScore, head);
        count += !values.empty() && values.front() > threshold ? 1 : 0;
      }
  return count;
}

void draw_compare_side(PanelContext& context, CompareMemory& memory, Rect frame, const RunEntry& a, const RunEntry& b,
                       const RunTitles& titles) {
  Painter& painter = context.painter();
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  painter.begin_panel("compare side", frame);
  ui.push_id("compare side");
  ui.push_clip(frame);
  const bool lengths = a.data && b.data && a.data->length == b.data->length;
  DifferenceJobs* jobs = memory.jobs();
  const auto nothing = std::make_shared<const HeadDifferences>();
  std::shared_ptr<const HeadDifferences> differences = nothing;
  if (jobs && lengths) {
    const std::optional<HeadRef>& head = context.state.view.selection.head;
    jobs->compare(a.data, b.data, head ? std::optional(std::pair(head->layer, head->head)) : std::nullopt);
    (void)jobs->collect();
    differences = jobs->results();
  }
  double& kept_sort = ui.kept_number("sort", -1.0);
  const bool distances = !differences->heads.empty();
  const ComparedSort sort = kept_sort >= 0.0 ? static_cast<ComparedSort>(static_cast<int>(kept_sort))
                            : distances      ? ComparedSort::Distance
                                             : ComparedSort::Rho;
  const std::vector<ComparedHead> heads =
      a.data && b.data ? compared_heads(*a.data, *b.data, *differences, sort) : std::vector<ComparedHead>();
  std::string hint;
  if (distances && !differences->finished())
    hint = "among " + grouped_text(static_cast<std::int64_t>(differences->known)) + " so far";
  else if (!heads.empty())
    hint = "of " + grouped_text(static_cast<std::int64_t>(heads.size()));
  Rect body = draw_panel_title(context, frame, "compare", "Heads that differ most", "", hint);
  context.facts.set("compare.rows", static_cast<double>(heads.size()));
  context.facts.set("compare.distances_known", static_cast<double>(differences->known));

  // The numbers below keep their room; the table has the rest.
  PartColumn below(context, body);
  if (distances) {
    below.heading("Row distance by layer", "median, quartiles, extremes");
    below.add(std::clamp(0.17f * body.height(), 70.0f, 150.0f),
              [&](Rect area) { draw_ribbon(context, area, *differences, *a.data); });
  }
  const std::int64_t predictions = a.data ? std::max<std::int64_t>(0, a.data->length - 1) : 0;
  below.heading("Loss", "nats per token, " + grouped_text(predictions) + " predictions");
  below.value("A  " + titles.a, loss_text(a), theme.text);
  below.value("B  " + titles.b, loss_text(b), theme.text);
  if (a.data && b.data && a.data->next_token_loss && b.data->next_token_loss) {
    const double delta = *b.data->next_token_loss - *a.data->next_token_loss;
    below.value("B − A", signed_text(delta, 4), theme.text);
    context.facts.set("compare.loss_delta", delta);
  }
  below.space(6.0f);
  const double threshold = context.state.view.heads.threshold;
  if (a.data && b.data)
    below.value("Heads over ε = " + short_text(threshold),
                std::to_string(heads_over(*a.data, threshold)) + " → " + std::to_string(heads_over(*b.data, threshold)),
                theme.text);
  if (!lengths && a.data && b.data) {
    below.note("The runs have " + grouped_text(a.data->length) + " and " + grouped_text(b.data->length) +
                   " tokens: their maps have no difference.",
               theme.warn);
  } else if (differences->without_maps > 0) {
    below.note(grouped_text(static_cast<std::int64_t>(differences->without_maps)) +
                   " heads have no row distance: one of the runs holds no maps of them.",
               theme.text3);
  } else if (jobs && lengths && !heads.empty() && distances) {
    const std::int64_t rows = distance_rows(a.data->length);
    if (rows < a.data->length)
      below.note("Distances are means over " + grouped_text(rows) + " of " + grouped_text(a.data->length) +
                     " rows, at even steps.",
                 theme.text3);
  }
  const float least_table = 22.0f + 4.0f * measure::kTableRow;
  const float below_height = std::min(below.height() + 10.0f, std::max(0.0f, body.height() - least_table));
  const Rect lower = body.cut_bottom(below_height);
  if (heads.empty()) {
    draw_note(context, body.inset(measure::kPadding, 8.0f), "No head was measured in both runs yet.",
              "Heads appear here as soon as their layer is finished in A and in B.");
  } else {
    draw_table(context, body, heads, sort, kept_sort);
  }
  if (!lower.empty()) painter.fill_rect({lower.x0, lower.y0, lower.x1, lower.y0 + 1.0f}, theme.line);
  below.draw("below", {lower.x0, lower.y0 + 3.0f, lower.x1, lower.y1});
  ui.pop_clip();
  ui.pop_id();
  painter.end_panel();
}

}  // namespace headroom
