// The columns of the table of heads: check boxes by group, with a search.
#include "app/panels/heads/columns_panel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "app/panels/panel.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/panel_scope.h"
#include "app/session/commands.h"
#include "app/session/shown_table.h"

namespace headroom {
namespace {

constexpr float kColumnRow = 20.0f;

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

// The command that has these columns.
std::string columns_command(const std::vector<std::string>& columns) {
  std::string line = "heads.columns";
  for (const std::string& name : columns) line += " " + name;
  return columns.empty() ? "heads.columns \"\"" : line;
}

struct Line {
  const QuantityInfo* info = nullptr;  // null: the title of a group
  QuantityGroup group = QuantityGroup::Sinks;
  bool empty = false;  // no head of the run has a value
};

std::vector<Line> lines_of(RunCache& memory, const std::string& search) {
  std::vector<Line> lines;
  const std::string wanted = lower(search);
  for (std::size_t g = 0; g < kQuantityGroups; ++g) {
    const auto group = static_cast<QuantityGroup>(g);
    std::vector<Line> members;
    bool any = false;
    for (const QuantityInfo& info : quantity_infos()) {
      if (info.group != group) continue;
      if (!wanted.empty() && lower(info.name).find(wanted) == std::string::npos &&
          lower(info.title).find(wanted) == std::string::npos &&
          lower(info.long_name).find(wanted) == std::string::npos)
        continue;
      const bool empty = memory.run() == nullptr || memory.column(info.name).finite == 0;
      any = any || !empty;
      members.push_back({&info, group, empty});
    }
    if (members.empty()) continue;
    lines.push_back({nullptr, group, !any});
    lines.insert(lines.end(), members.begin(), members.end());
  }
  return lines;
}

}  // namespace

void draw_columns_panel(PanelContext& context, Rect frame) {
  RunCache own;
  RunCache& memory = run_cache(context, own);
  Painter& painter = context.painter();
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const PanelScope scope(context, "columns", frame);
  const std::vector<std::string> chosen = memory.run() != nullptr
                                              ? table_columns(*memory.run(), context.state.view.heads)
                                              : context.state.view.heads.columns;
  Rect bar = frame.cut_top(measure::kPanelTitle);
  painter.fill_rect({bar.x0, bar.y1 - 1.0f, bar.x1, bar.y1}, theme.line);
  const float title = ui.width("Columns", theme.title());
  if (bar.width() >= title + 24.0f)
    painter.text_at(bar.x0 + measure::kPadding, bar.y0 + 15.0f, "Columns", theme.title());
  const std::string count = std::to_string(chosen.size()) + " of " + std::to_string(quantity_infos().size()) + " shown";
  if (bar.width() >= title + ui.width(count, theme.hint()) + 40.0f)
    painter.text_at(bar.x1 - measure::kPadding, bar.y0 + 15.0f, count, theme.hint(), Painter::Align::Right);

  Rect body = frame.inset(measure::kPadding, 8.0f);
  TextFieldOptions options;
  options.hint = "find a quantity";
  options.clear_button = true;
  std::string& search = memory.column_search();
  if (body.width() >= 60.0f) (void)ui.text_field("search", body.cut_top(measure::kPanelControl), search, options);
  body.cut_top(8.0f);

  Rect foot = body.cut_bottom(body.height() > 160.0f ? 24.0f : 0.0f);
  if (foot.height() >= 20.0f) {
    std::vector<std::string> filled;
    for (const std::string& name : chosen)
      if (memory.run() != nullptr && memory.column(name).finite > 0) filled.push_back(name);
    const bool some_empty = filled.size() < chosen.size() && !filled.empty();
    const std::string text = some_empty ? "hide empty columns" : "the usual columns";
    if (ui.width(text, theme.body(theme.accent)) <= foot.width())
      ui.link({foot.x0, foot.y1 - 6.0f}, text, some_empty ? columns_command(filled) : "heads.columns \"\"",
              theme.body(theme.accent));
  }

  const std::vector<Line> lines = lines_of(memory, search);
  if (lines.empty()) draw_note(context, body, "No quantity has this in its name.");
  // Whole rows only.
  const auto fitting = static_cast<std::size_t>(std::max(0.0f, std::floor(body.height() / kColumnRow)));
  body.y1 = body.y0 + static_cast<float>(fitting) * kColumnRow;
  const float offset = ui.scroll("list", {body.x0, body.y0, body.x1 + measure::kPadding, body.y1},
                                 static_cast<float>(lines.size()) * kColumnRow, kColumnRow);
  const auto first = static_cast<std::size_t>(std::max(0.0f, std::round(offset / kColumnRow)));
  for (std::size_t i = first; i < std::min(lines.size(), first + fitting); ++i) {
    const Line& line = lines[i];
    const float y = body.y0 + static_cast<float>(i - first) * kColumnRow;
    const Rect row{body.x0, y, body.x1 - 6.0f, y + kColumnRow};
    if (line.info == nullptr) {
      const char* name = group_title(line.group);
      if (ui.width(name, theme.plot_title()) > row.width()) continue;
      painter.text_at(row.x0, row.centre_y() + 2.0f, name, theme.plot_title());
      const std::string none = "no value in this model";
      if (line.empty && ui.width(name, theme.plot_title()) + ui.width(none, theme.hint()) + 12.0f <= row.width())
        painter.text_at(row.x1, row.centre_y() + 2.0f, none, theme.hint(), Painter::Align::Right);
      continue;
    }
    const bool shown = std::ranges::find(chosen, line.info->name) != chosen.end();
    std::vector<std::string> next;
    for (const std::string& name : chosen)
      if (!shown || name != line.info->name) next.push_back(name);
    if (!shown) next.push_back(line.info->name);
    const float label = std::min(row.width(), 22.0f + ui.width(line.info->title, theme.body(theme.text)));
    ui.check_box({row.x0, row.y0, row.x0 + std::min(row.width(), label + 4.0f), row.y1}, line.info->title, shown,
                 columns_command(next));
    const TextStyle mono{Face::Mono, 10.0f, line.empty ? theme.off : theme.text3};
    const float room = row.width() - label - 14.0f;
    const float width = ui.width(line.info->name, mono);
    if (width <= room) painter.text_at(row.x1, row.centre_y(), line.info->name, mono, Painter::Align::Right);
    ui.tooltip(
        row, line.info->name + "\n" + line.info->definition + (line.empty ? "\nNo head of this run has a value." : ""));
  }
}

const PanelInfo kColumnsPanel{.id = "columns", .title = "Columns", .least_width = 240.0f, .draw = draw_columns_panel};

}  // namespace headroom
