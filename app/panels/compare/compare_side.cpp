#include "app/panels/compare/compare_side.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/panels/compare/compare_parts.h"
#include "app/panels/model/model_ribbons.h"
#include "app/panels/panel.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "app/panels/parts/quick_layers.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"
#include "core/run/quantity_info.h"

namespace headroom {
namespace {

constexpr const char* kSinkScore = "sink_score";
constexpr const char* kRho = "context_rms_relative_mean";
constexpr const char* kEntropy = "entropy_normalized_mean";

// The columns of the table; `rank`: in what order they get room.
struct ColumnInfo {
  ComparedSort sort;
  const char *command, *title, *tip;
  int rank;
  bool change;  // B less A: with its sign
};
constexpr std::array<ColumnInfo, 6> kColumns = {{
    {ComparedSort::Distance, "distance", "½‖B−A‖₁",
     "Half the sum of the absolute differences of a row, mean over rows.\n0: the same, 1: disjoint (weights that sum to 1)",
     0, false},
    {ComparedSort::SinkA, "sink_a", "α₀ A", "Sink score in A", 2, false},
    {ComparedSort::SinkB, "sink_b", "α₀ B", "Sink score in B", 3, false},
    {ComparedSort::Sink, "sink", "Δα₀", "Sink score of B less that of A; sorted by magnitude", 5, true},
    {ComparedSort::Rho, "rho", "Δρ", "Mean ρ of B less that of A; sorted by magnitude", 1, true},
    {ComparedSort::Entropy, "entropy", "ΔH", "Entropy / ln n of B less that of A; sorted by magnitude", 4, true},
}};

struct PlacedColumn {
  const ColumnInfo* info;
  float right;
};
constexpr float kHeadColumn = 48.0f, kColumn = 56.0f;

// As many columns as the width holds, the sorted one among them.
std::vector<PlacedColumn> place_compared_columns(Rect area, ComparedSort sort) {
  const auto count = static_cast<std::size_t>(std::clamp((area.width() - kHeadColumn - 22.0f) / kColumn, 1.0f, 6.0f));
  std::vector<const ColumnInfo*> chosen;
  for (const ColumnInfo& info : kColumns) chosen.push_back(&info);
  std::ranges::stable_sort(chosen, {}, [&](const ColumnInfo* info) { return info->sort == sort ? -1 : info->rank; });
  chosen.resize(count);
  std::ranges::sort(chosen);  // in the table's order
  // The distance has the widest title.
  const float each = (area.width() - kHeadColumn - 22.0f) / static_cast<float>(count);
  float x = area.x0 + kHeadColumn;
  std::vector<PlacedColumn> placed;
  for (const ColumnInfo* info : chosen) {
    x += info->sort == ComparedSort::Distance ? each + 22.0f : each;
    placed.push_back({info, std::min(x, area.x1)});
  }
  return placed;
}

std::string cell_text(const ColumnInfo& info, double value) {
  return std::isnan(value) ? "–" : info.change ? signed_text(value, 3) : fixed_text(value, 3);
}

void draw_table(PanelContext& context, Rect area, std::span<const ComparedHead> heads, ComparedSort sort,
                bool descending) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const Rect inner{area.x0 + measure::kPadding, area.y0, area.x1 - measure::kPadding, area.y1};
  const std::vector<PlacedColumn> columns = place_compared_columns(inner, sort);
  Rect header = area;
  header.y1 = header.y0 + 22.0f;
  ui.label_at(inner.x0, header.centre_y(), "head", theme.hint(), 40.0f);
  for (const PlacedColumn& column : columns) {
    const ColumnInfo& info = *column.info;
    const bool chosen = info.sort == sort;
    const TextStyle style{chosen ? Face::SansSemibold : Face::Sans, 11.0f, chosen ? theme.text : theme.text3};
    const float arrow = chosen ? 12.0f : 0.0f;
    const Rect spot{column.right - ui.width(info.title, style) - arrow - 4.0f, header.y0, column.right + 2.0f,
                    header.y1};
    const Interaction hit = ui.interact(info.title, spot, Cursor::Hand);
    ui.tooltip(spot, info.tip);
    if (hit.clicked) ui.run(std::string("compare.sort ") + info.command);
    painter.text_at(column.right - arrow, header.centre_y(), info.title, style, Painter::Align::Right);
    if (chosen) draw_sort_arrow(painter, {column.right - 4.0f, header.centre_y()}, descending, theme.text);
  }
  painter.fill_rect({inner.x0, header.y1 - 1.0f, inner.x1, header.y1}, theme.line);

  const Rect view{area.x0, header.y1, area.x1, area.y1};
  const float row_height = measure::kTableRow;
  const auto shown = static_cast<std::size_t>(std::max(0.0f, std::floor(view.height() / row_height)));
  if (shown == 0) return;
  const Rect rows{view.x0, view.y0, view.x1, view.y0 + row_height * static_cast<float>(shown)};
  const float offset = ui.scroll("rows", rows, row_height * static_cast<float>(heads.size()), row_height);
  const auto first = static_cast<std::size_t>(std::lround(offset / row_height));
  double most = 0.0;
  for (const ComparedHead& head : heads)
    if (std::isfinite(head.value(sort))) most = std::max(most, std::abs(head.value(sort)));
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
    float left = inner.x0;
    for (const PlacedColumn& column : columns) {
      const bool chosen = column.info->sort == sort;
      const double value = head.value(column.info->sort);
      const std::string text = cell_text(*column.info, value);
      const TextStyle& style = chosen ? strong : plain;
      const float begin = column.right - ui.width(text, style);
      if (&column == &columns.front()) ui.label_at(inner.x0, text_y, name, strong, begin - inner.x0 - 8.0f);
      painter.text_at(column.right, text_y, text, style, Painter::Align::Right);
      if (chosen && most > 0.0 && std::isfinite(value)) {
        const float width = static_cast<float>(std::abs(value) / most) * std::min(60.0f, column.right - left - 14.0f);
        painter.fill_rect(Rect::sized(column.right - width, row.y1 - 2.0f, width, 2.0f), theme.accent);
      }
      left = column.right;
    }
  }
}

void draw_distance_ribbon(PanelContext& context, Rect area, const RunSnapshot& run, const HeadColumn& column) {
  const Ribbon ribbon = make_ribbon(run, column);
  const double top = column.finite > 0 && column.high > 0.0 ? column.high : 0.1;
  const PlotFrame frame = draw_ribbon(context, area, ribbon, {0.0, nice_range(0.0, top, false).high},
                                      context.theme().accent, {}, {}, 20.0f);
  if (frame.inner.empty()) return;
  Painter& painter = context.painter();
  if (context.state.view.selection.head) {
    const float pixel = frame.x.pixel(static_cast<double>(context.state.view.selection.head->layer));
    painter.line({pixel, frame.inner.y0}, {pixel, frame.inner.y1}, context.theme().text2);
  }
  draw_plot_axes(painter, frame, context.theme());
  const Interaction hit = context.ui.interact("ribbon", frame.inner);
  if (!hit.hovered) return;
  const double layer = std::round(frame.x.value(context.ui.input.pointer.x));
  for (std::size_t i = 0; i < ribbon.layers.size(); ++i)
    if (ribbon.layers[i] == layer && std::isfinite(ribbon.median[i]))
      context.ui.tooltip(
          frame.inner, "layer " + std::to_string(std::llround(layer)) + "\nmedian " + fixed_text(ribbon.median[i], 3) +
                           ", quartiles " + fixed_text(ribbon.lower[i], 3) + " … " + fixed_text(ribbon.upper[i], 3) +
                           "\nextremes " + fixed_text(ribbon.low[i], 3) + " … " + fixed_text(ribbon.high[i], 3));
}

std::string loss_text(const RunEntry& run) {
  if (run.quick) return "not in a quick run";  // what it holds is the loss of the run it changes
  if (run.data && run.data->next_token_loss) return fixed_text(*run.data->next_token_loss, 4);
  if (run.status == RunStatus::Running || run.status == RunStatus::Waiting) return "not known yet";
  return "not in this run";
}

void draw_no_second_run(PanelContext& context, Rect frame) {
  const PanelScope scope(context, "compare side", frame);
  const Rect body = draw_panel_title(context, frame, "compare", "Heads that differ most", "", "");
  PartColumn column(context, body.inset(0.0f, 8.0f));
  column.note("Heads are listed here by how much their maps differ, when two runs are compared.",
              context.theme().text3);
  column.draw("note");
}

void draw_compared_runs(PanelContext& context, CompareCache& memory, Rect frame, const RunEntry& a, const RunEntry& b) {
  const RunTitles titles = compared_titles(context.state);
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const PanelScope scope(context, "compare side", frame);
  const bool lengths = a.data && b.data && a.data->length == b.data->length;
  std::shared_ptr<const HeadDifferences> differences = memory.distances(context.state);
  const bool can = differences != nullptr;
  if (!can) differences = std::make_shared<const HeadDifferences>();
  const CompareState& compare = context.state.view.compare;
  const bool distances = !differences->heads.empty();
  const ComparedSort sort = compare.sort.value_or(distances ? ComparedSort::Distance : ComparedSort::Rho);
  std::vector<ComparedHead> heads = a.data && b.data
                                        ? compared_heads(*a.data, *b.data, *differences, sort, compare.descending)
                                        : std::vector<ComparedHead>();
  const ComparedLayers layers(a, b);
  std::erase_if(heads, [&](const ComparedHead& head) { return layers.stale(head.head.layer); });
  RunCache own;
  RunCache& columns = run_cache(context, own);
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
              [&](Rect area) { draw_distance_ribbon(context, area, *a.data, columns.distances(differences, a, b)); });
  }
  const auto predicts = [](const RunEntry& run) { return run.data && run.data->next_token_loss; };
  const bool predictions = predicts(a) || predicts(b);
  below.heading("Loss", predictions
                            ? "nats per token, " + grouped_text((predicts(a) ? a : b).data->length - 1) + " predictions"
                            : std::string("nats per token"));
  below.value("A  " + titles.a, loss_text(a), theme.text);
  below.value("B  " + titles.b, loss_text(b), theme.text);
  const bool quick = a.quick || b.quick;
  if (!quick && predicts(a) && predicts(b)) {
    const double delta = *b.data->next_token_loss - *a.data->next_token_loss;
    below.value("B − A", signed_text(delta, 4), theme.text);
    context.facts.set("compare.loss_delta", delta);
  }
  below.space(6.0f);
  const double threshold = context.state.view.heads.threshold;
  if (!quick && a.data && b.data)
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
  } else if (can && !heads.empty() && distances) {
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
    draw_table(context, body, heads, sort, compare.descending);
  }
  if (!lower.empty()) painter.fill_rect({lower.x0, lower.y0, lower.x1, lower.y0 + 1.0f}, theme.line);
  below.draw("below", {lower.x0, lower.y0 + 3.0f, lower.x1, lower.y1});
}

}  // namespace

double ComparedHead::value(ComparedSort column) const {
  switch (column) {
    case ComparedSort::Distance: return distance;
    case ComparedSort::SinkA: return sink_a;
    case ComparedSort::SinkB: return sink_b;
    case ComparedSort::Sink: return sink_b - sink_a;
    case ComparedSort::Rho: return rho;
    case ComparedSort::Entropy: return entropy;
  }
  return kNaN;
}

std::vector<ComparedHead> compared_heads(const RunSnapshot& a, const RunSnapshot& b, const HeadDifferences& differences,
                                         ComparedSort sort, bool descending) {
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
                       value(*other, kRho, head) - value(*layer, kRho, head),
                       value(*other, kEntropy, head) - value(*layer, kEntropy, head)});
    }
  }
  std::ranges::stable_sort(heads, [&](const ComparedHead& x, const ComparedHead& y) {
    const double p = std::abs(x.value(sort)), q = std::abs(y.value(sort));
    if (std::isnan(p) || std::isnan(q)) return !std::isnan(p) && std::isnan(q);
    return descending ? p > q : p < q;
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

RunTitles compared_titles(const State& state) {
  const RunEntry *a = state.shown(), *b = state.other();
  if (!a || !b) return {};
  const std::optional<HeadRef>& head = state.view.selection.head;
  return run_titles(*a, *b, state.selected_layer(), b->data && head ? b->data->layer(head->layer) : nullptr);
}

void draw_compared_heads_panel(PanelContext& context, Rect frame) {
  const RunEntry *a = context.state.shown(), *b = context.state.other();
  context.painter().fill_rect(frame, context.theme().panel);
  if (!a || !b) return draw_no_second_run(context, frame);
  CompareCache own;
  draw_compared_runs(context, context.compare_cache ? *context.compare_cache : own, frame, *a, *b);
}
const PanelInfo kComparedHeadsPanel{
    .id = "compared", .title = "Heads that differ most", .least_width = 240.0f, .draw = draw_compared_heads_panel};

}  // namespace headroom
