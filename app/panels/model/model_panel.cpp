// The whole model at a glance: quantities by layer as ribbons, below them the heads of the lasso.
#include "app/panels/model/model_panel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "app/panels/heads/heads_rows.h"
#include "app/panels/model/model_ribbons.h"
#include "app/panels/panel.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "core/base/number_text.h"
#include "core/run/head_values.h"

namespace headroom {
namespace {

// The heads of the lasso, largest first by what the table is sorted by.
std::vector<std::size_t> lasso_rows(const RunSnapshot& run, RunCache& memory, const HeadsState& view) {
  std::vector<std::size_t> rows;
  for (const HeadRef head : view.lasso)
    if (const auto row = row_of(run, head)) rows.push_back(*row);
  const HeadColumn& column = memory.column(view.sort);
  if (column.ref.info == nullptr) return rows;
  std::ranges::stable_sort(rows, [&](std::size_t a, std::size_t b) {
    const double x = column.values[a], y = column.values[b];
    if (x != x || y != y) return x == x && y != y;
    return view.descending ? x > y : x < y;
  });
  return rows;
}

void draw_lasso_table(PanelContext& context, RunCache& memory, Rect frame) {
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const RunSnapshot& run = *memory.run();
  const HeadsState& view = context.state.view.heads;
  painter.fill_rect({frame.x0, frame.y0 - 1.0f, frame.x1, frame.y0}, theme.bg);
  Rect bar = frame.cut_top(measure::kPanelTitle);
  painter.fill_rect({bar.x0, bar.y1 - 1.0f, bar.x1, bar.y1}, theme.line);
  bar = bar.inset(measure::kPadding, 0.0f);
  painter.text_at(bar.x0, bar.centre_y(), "Lasso", theme.title());
  bar.cut_left(context.ui.width("Lasso", theme.title()) + 10.0f);
  const std::vector<std::size_t> rows = lasso_rows(run, memory, view);
  if (rows.empty()) {
    draw_note(context, frame.inset(measure::kPadding, 6.0f), "No heads are in the lasso.",
              "Drag round some in the scatter plot: they are listed here and marked in every plot.");
    return;
  }
  const std::string hint = grouped_text(static_cast<std::int64_t>(rows.size())) +
                           (rows.size() == 1 ? " head" : " heads") + ", sorted by " + column_title(view.sort);
  const float release = context.ui.width("release", theme.body(theme.accent));
  context.ui.label({bar.x0, bar.centre_y() + 4.3f}, hint, theme.body(theme.text3),
                   std::max(0.0f, bar.width() - release - 16.0f));
  if (bar.width() > release)
    context.ui.link({bar.x1 - release, bar.centre_y() + 4.3f}, "release", "lasso none", theme.body(theme.accent));
  HeadRowsOptions options;
  options.columns = usual_columns(run);
  options.sort = view.sort;
  options.descending = view.descending;
  options.kind = false;
  context.ui.push_id("lasso");
  draw_head_rows(context, memory, rows, options, frame);
  context.ui.pop_id();
}

}  // namespace

void draw_model_panel(PanelContext& context, Rect frame) {
  RunCache own;
  RunCache& memory = run_cache(context, own);
  const PanelScope scope(context, "model", frame);
  const RunSnapshot* run = memory.run();
  const std::string heads = run == nullptr || run->heads.size() == 1
                                ? "line: the head"
                                : "line: median of " + std::to_string(run->heads.size()) + " heads";
  Rect body = draw_panel_title(context, frame, "model", "Model by layer", "",
                               heads + " · bands: quartiles, extremes · dots: the lasso");
  if (run == nullptr || run->heads.empty() || run->finished_layers() == 0) {
    draw_note(context, body.inset(measure::kPadding, 8.0f), "No layer is computed yet.",
              "Each quantity appears here by layer as soon as there are layers.");
  } else {
    const Rect table = body.cut_bottom(std::round(body.height() * (body.height() > 420.0f ? 0.48f : 0.4f)));
    body.cut_bottom(1.0f);
    draw_ribbons(context, memory, body.inset(measure::kPadding, 6.0f), body.width() >= 480.0f ? 2 : 1);
    draw_lasso_table(context, memory, table);
  }
}

const PanelInfo kModelPanel{.id = "model", .title = "Model", .least_width = 240.0f, .draw = draw_model_panel};

}  // namespace headroom
