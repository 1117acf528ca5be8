// The table of heads: filter, sortable columns with histograms, medians; only the rows in view are drawn.
#include "app/panels/heads/heads_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/heads/heads_rows.h"
#include "app/panels/panel.h"
#include "app/session/commands.h"
#include "app/session/shown_table.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

// Returns what is wrong with what is typed.
std::optional<Error> draw_filter(PanelContext& context, const HeadTable& table, Rect row) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const HeadsState& view = context.state.view.heads;
  const std::size_t shown = table.rows.size();

  // Copying stands at the right while there is room.
  const std::string copy =
      "copy " + grouped_text(static_cast<std::int64_t>(shown)) + (shown == 1 ? " row as" : " rows as");
  const float copy_width = ui.width(copy, theme.hint()) + 8.0f;
  static constexpr std::array<std::pair<const char*, const char*>, 3> kFormats = {
      {{"CSV", "heads.copy csv"}, {"TSV", "heads.copy tsv"}, {"LaTeX", "heads.copy latex"}}};
  const float buttons = 46.0f + 46.0f + 56.0f + 16.0f;
  if (row.width() >= 560.0f) {
    Rect right = row.cut_right(buttons);
    for (std::size_t i = 0; i < 3; ++i) {
      const float width = i == 2 ? 56.0f : 46.0f;
      ui.button(right.cut_left(width), kFormats[i].first, kFormats[i].second);
      right.cut_left(8.0f);
    }
    {
      const Rect text = row.cut_right(copy_width + 4.0f);
      context.painter().text_at(text.x1 - 10.0f, text.centre_y(), copy, theme.hint(), Painter::Align::Right);
    }
  } else if (row.width() >= 220.0f) {
    const Rect right = row.cut_right(58.0f);
    row.cut_right(6.0f);
    ui.menu_button("copy", right, "Copy", [] {
      std::vector<MenuItem> items(3);
      for (std::size_t i = 0; i < 3; ++i) items[i].title = kFormats[i].first, items[i].command = kFormats[i].second;
      return items;
    });
  }
  // What is typed is the field's own until it is an expression; what was shown before stays shown.
  std::string &filter = ui.kept_text("filter typed"), &taken = ui.kept_text("filter taken");
  if (ui.appeared("filter") || taken != view.filter) filter = taken = view.filter;
  TextFieldOptions options;
  options.prefix = "filter";
  options.hint = "sink_score > 0.3 and layer >= 4";
  options.mono = true;
  options.clear_button = true;
  Rect field = row.cut_left(std::clamp(row.width() - (row.width() > 300.0f ? 190.0f : 0.0f), 60.0f, 420.0f));
  const TextFieldResult result = ui.text_field("filter", field, filter, options);
  std::optional<Error> error = table.error;
  if (filter != view.filter) {
    const auto parsed = HeadFilter::parse(filter);
    error = parsed ? std::nullopt : std::optional(parsed.error());
  }
  if (result.changed && !error) ui.run("heads.filter " + quote_word(filter));
  if (error) context.painter().stroke_rect(field, theme.err, 1.0f, measure::kRadius);
  row.cut_left(12.0f);
  if (row.width() < 40.0f || error) return error;
  const std::string counts =
      grouped_text(static_cast<std::int64_t>(shown)) + " of " + grouped_text(static_cast<std::int64_t>(table.computed));
  const TextStyle strong{Face::SansSemibold, 12.0f, theme.text};
  float x = row.x0;
  const float width = ui.width(counts, strong);
  if (width > row.width()) return {};
  context.painter().text_at(x, row.centre_y(), counts, strong);
  x += width + 12.0f;
  const std::size_t selected = context.state.view.heads.lasso.empty() ? (context.state.view.selection.head ? 1 : 0)
                                                                      : context.state.view.heads.lasso.size();
  if (selected > 0 && row.x1 - x > 20.0f)
    ui.label({x, row.centre_y() + 4.3f}, grouped_text(static_cast<std::int64_t>(selected)) + " selected",
             theme.body(theme.text3), row.x1 - x);
  return {};
}

// What is wrong with the filter, below the field.
void draw_fault(PanelContext& context, const Error& error, Rect row) {
  const Theme& theme = context.theme();
  context.ui.icon(Icon::Error, {row.x0 + 6.0f, row.centre_y()}, 12.0f, theme.err);
  std::string text = error.message;
  if (!error.expected.empty()) text += "; expected " + error.expected;
  if (!error.hint.empty()) text += "; " + error.hint;
  context.ui.label({row.x0 + 18.0f, row.centre_y() + 4.0f}, text, {Face::Sans, 11.0f, theme.err}, row.width() - 18.0f);
}

}  // namespace

void draw_head_table(PanelContext& context, RunCache& memory, Rect body) {
  const HeadTable& table = memory.table(context.state.view.heads);
  context.facts.set("heads.shown", static_cast<double>(table.rows.size()));
  body = body.inset(0.0f, 8.0f);
  const auto error = draw_filter(context, table, body.cut_top(measure::kPanelControl).inset(measure::kPadding, 0.0f));
  if (error) draw_fault(context, *error, body.cut_top(20.0f).inset(measure::kPadding, 0.0f));
  body.cut_top(8.0f);
  HeadRowsOptions options;
  options.columns = table_columns(*memory.run(), context.state.view.heads);
  options.sort = context.state.view.heads.sort;
  options.descending = context.state.view.heads.descending;
  options.histograms = body.height() >= 200.0f;
  options.medians = body.height() >= 240.0f;
  options.kind = body.width() >= 520.0f;
  options.filter = &table.filter;
  draw_head_rows(context, memory, table.rows, options, body);
}

}  // namespace headroom
