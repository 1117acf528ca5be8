#include "app/panels/importance/importance_list.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/figures/caption_text.h"
#include "app/panels/importance/importance_view.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "app/session/commands.h"
#include "app/session/enum_words.h"
#include "core/base/format.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kListRow = 20.0f, kHeadWidth = 62.0f, kChangeWidth = 74.0f, kIntervalWidth = 58.0f, kWayWidth = 60.0f;

struct ListColumns {
  bool interval = false;
  std::vector<AblationWay> others;  // ways beside the shown one
};

// The shown way and its interval first, then as many of the others as there is room for.
ListColumns list_columns(const ImportanceView& view, float width) {
  ListColumns columns;
  width -= kHeadWidth + kChangeWidth;
  columns.interval = view.table->blocks > 0 && width >= kIntervalWidth;
  if (columns.interval) width -= kIntervalWidth;
  for (const AblationWay way : kAblationWays)
    if (way != view.way && sweep_of(view.run->sweeps, way) && width >= kWayWidth) {
      columns.others.push_back(way);
      width -= kWayWidth;
    }
  return columns;
}

const char* way_heading(AblationWay way) {
  switch (way) {
    case AblationWay::Off: return "head off";
    case AblationWay::Mean: return "mean";
    case AblationWay::HideKey0: return "no key 0";
    case AblationWay::SecondOff: return "2nd off";
  }
  return "";
}

const char* what_blocks_are(const LossTable& table) { return table.sequences > 0 ? "documents" : "blocks of tokens"; }

void draw_list_header(PanelContext& context, const ImportanceView& view, const ListColumns& columns, Rect row) {
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const float y = row.centre_y();
  painter.text_at(row.x0, y, "head", theme.hint());
  float x = row.x0 + kHeadWidth + kChangeWidth;
  TextStyle strong = theme.hint();
  strong.color = theme.text;
  painter.text_at(x, y, way_heading(view.way), strong, Painter::Align::Right);
  if (columns.interval) {
    x += kIntervalWidth;
    painter.text_at(x, y, "±", theme.hint(), Painter::Align::Right);
    context.ui.tooltip({x - kIntervalWidth, row.y0, x, row.y1},
                       format("Half of a 95 %% interval by %zu %s,\ncorrected for %zu changes", view.table->blocks,
                              what_blocks_are(*view.table), view.table->tested()));
  }
  for (const AblationWay way : columns.others) {
    x += kWayWidth;
    painter.text_at(x, y, way_heading(way), theme.hint(), Painter::Align::Right);
  }
  painter.fill_rect({row.x0, row.y1 - 1.0f, row.x1, row.y1}, theme.line);
}

void draw_list_row(PanelContext& context, const ImportanceView& view, const ListColumns& columns, std::size_t place,
                   double largest, Rect row) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const HeadRef head = view.table->head_at(place);
  const std::string name = head_text(head);
  const bool selected = context.state.view.selection.head == head, differs = view.differs(place);
  const Rect whole{row.x0 - 6.0f, row.y0, row.x1 + 6.0f, row.y1};
  const Interaction hit = ui.interact("row " + name, whole, Cursor::Hand);
  if (selected)
    painter.fill_rect(whole, theme.accent_soft);
  else if (hit.hovered)
    painter.fill_rect(whole, theme.hover);
  if (hit.hovered) context.hover.head = head;
  if (hit.double_clicked)
    ui.run("importance.what-if");
  else if (hit.clicked && !selected)
    ui.run("select " + name);
  const double delta = view.table->delta[place];
  const float y = row.centre_y() - 1.0f;
  // A head whose interval holds 0 is dimmed: nothing is claimed of it.
  const Color color = differs || view.table->blocks == 0 ? theme.text : theme.text3;
  painter.text_at(row.x0, y, name, {Face::Mono, 11.0f, color});
  float x = row.x0 + kHeadWidth + kChangeWidth;
  const std::string value = signed_text(delta, 4);
  painter.text_at(x, y, value, {Face::Mono, 11.0f, color}, Painter::Align::Right);
  const float bar = largest > 0.0 ? static_cast<float>(std::abs(delta) / largest) * (kChangeWidth - 8.0f) : 0.0f;
  const Color hue = delta > 0.0 ? theme.first : theme.second;
  painter.fill_rect({x - bar, row.y1 - 3.0f, x, row.y1 - 1.0f}, differs ? hue : hue.faded(0.45f));
  if (columns.interval) {
    x += kIntervalWidth;
    const double half = view.half_width * view.table->error[place];
    painter.text_at(x, y, std::isfinite(half) ? fixed_text(half, 4) : "–", {Face::Mono, 11.0f, theme.text3},
                    Painter::Align::Right);
  }
  for (const AblationWay way : columns.others) {
    x += kWayWidth;
    const std::string cell = cell_of_way(view.run->sweeps, way, place);
    const bool waits = cell == "not yet";
    painter.text_at(x, y, cell, {waits ? Face::Sans : Face::Mono, 11.0f, waits ? theme.text3 : theme.text2},
                    Painter::Align::Right);
  }
}

// Those that matter most, how many are left out, those without which the loss falls most.
void draw_list_rows(PanelContext& context, const ImportanceView& view, Rect area) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const std::vector<std::size_t> order = view.table->by_change();
  if (order.empty()) {
    draw_note(context, area, "No head is done yet.");
    return;
  }
  context.facts.set("importance.top", head_text(view.table->head_at(order.front())));
  context.facts.set("importance.least", head_text(view.table->head_at(order.back())));
  const ListColumns columns = list_columns(view, area.width());
  draw_list_header(context, view, columns, area.cut_top(22.0f));
  const auto room = static_cast<std::size_t>(std::max(0.0f, std::floor(area.height() / kListRow)));
  if (room == 0) return;
  const double largest =
      std::max(std::abs(view.table->delta[order.front()]), std::abs(view.table->delta[order.back()]));
  const auto next = [&] { return area.cut_top(kListRow); };
  if (order.size() <= room) {
    for (const std::size_t place : order) draw_list_row(context, view, columns, place, largest, next());
    return;
  }
  const std::size_t rows = room - 1, below = rows / 4, above = rows - below;
  for (std::size_t i = 0; i < above; ++i) draw_list_row(context, view, columns, order[i], largest, next());
  const Rect gap = next();
  const std::string more = grouped_text(static_cast<std::int64_t>(order.size() - rows)) + " more";
  const std::string all = "show all in the table";
  const float width = ui.width(more, theme.hint());
  context.painter().text_at(gap.x0, gap.centre_y(), more, theme.hint());
  const TextStyle link{Face::Sans, 11.0f, theme.accent};
  if (gap.width() >= width + ui.width(all, link) + 12.0f &&
      ui.link({gap.x1 - ui.width(all, link), gap.centre_y() + 4.0f}, all, "", link)) {
    ui.run("importance.close");
    ui.run(std::string("heads.sort ") + way_info(view.way).quantity + " descending");
    ui.run("heads table");
  }
  for (std::size_t i = 0; i < below; ++i)
    draw_list_row(context, view, columns, order[order.size() - below + i], largest, next());
}

float paragraph_height(PanelContext& context, const std::string& text, const TextStyle& style, float width) {
  return context.ui.paragraph({0.0f, 0.0f}, text, style, width, style.size + 5.0f, false);
}

// What an interval is of, how many leave out 0, and what one text cannot say.
std::string caution(PanelContext& context, const ImportanceView& view) {
  const LossTable& table = *view.table;
  const auto small = std::ranges::count_if(
      table.delta, [](double delta) { return std::isfinite(delta) && std::abs(delta) < kSmallLossChange; });
  const std::string predictions = grouped_text(static_cast<std::int64_t>(table.predictions)) + " predictions";
  std::string text = grouped_text(static_cast<std::int64_t>(table.sequences)) + " sequences, " + predictions + ".";
  if (table.sequences == 0)
    text = "One text, " + predictions + ": changes within ±0.01, here " + grouped_text(small) + " of " +
           grouped_text(static_cast<std::int64_t>(table.done)) + ", may come from the choice of the text.";
  if (table.blocks == 0)
    return text + (table.sequences > 0 ? " One document: no intervals." : " Too few predictions for intervals.");
  text += format(
      " ± is half of a 95 %% interval by %zu %s, corrected for %zu changes: it leaves out 0 for %zu of %zu, the others "
      "are dimmed.",
      table.blocks, what_blocks_are(table), table.tested(), table.count_differing(), table.done);
  if (const double detectable = detectable_change(context, view); std::isfinite(detectable))
    text += " A change below ±" + two_digits(detectable) + " (grey) would be seen in fewer than 80 of 100 cases.";
  return text;
}

void draw_selected_loss(PanelContext& context, const ImportanceView& view, Rect area) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const std::optional<HeadRef>& selected = context.state.view.selection.head;
  if (!selected) {
    ui.label_at(area.x0, area.y0 + 10.0f, "Select a head to open it as a what-if.", theme.hint(), area.width());
    return;
  }
  Rect line = area.cut_top(20.0f);
  const std::string name = head_text(*selected);
  const TextStyle mono{Face::MonoSemibold, 12.0f, theme.text};
  const float used = ui.label_at(line.x0, line.centre_y(), name, mono, line.width()) + 10.0f;
  std::string numbers;
  for (const auto& [quantity, title] : {std::pair{"sink_score", "sink score "},
                                        {"induction_score", "induction "},
                                        {"previous_token_score", "prev. "}}) {
    const double value = view.data->at(quantity, selected->layer, selected->head);
    if (std::isfinite(value)) numbers += (numbers.empty() ? "" : " · ") + std::string(title) + fixed_text(value, 3);
  }
  if (line.width() > used + 40.0f)
    ui.label_at(line.x0 + used, line.centre_y(), numbers, theme.hint(), line.width() - used);
  area.cut_top(4.0f);
  Rect buttons = area.cut_top(measure::kControl);
  if (buttons.height() < measure::kControl) return;
  const std::string open = "Open as a what-if";
  const float width = ui.button_width(open);
  if (buttons.width() < width) return;
  const bool can = context.commands.disabled_reason(context.state, "importance.what-if").empty();
  ui.button(buttons.cut_left(width), open, "importance.what-if", can ? ButtonStyle::Primary : ButtonStyle::Plain);
  buttons.cut_left(measure::kGap);
  if (buttons.width() >= ui.key_cap_width("Enter")) ui.key_cap({buttons.x0, buttons.centre_y()}, "Enter");
}

// The latest run in which several heads are changed together, as this way does.
const RunEntry* ablated_set_run(const State& state, const ImportanceView& view) {
  const std::string change = way_info(view.way).change;
  const RunEntry* found = nullptr;
  for (const RunEntry& run : state.runs) {
    if (run.base != view.run->id || run.quick || run.what_ifs.size() < view.run->what_ifs.size() + 1) continue;
    const bool same =
        std::all_of(run.what_ifs.begin() + static_cast<std::ptrdiff_t>(view.run->what_ifs.size()), run.what_ifs.end(),
                    [&](const std::string& text) { return text.starts_with('L') && text.ends_with(":" + change); });
    if (same) found = &run;
  }
  return found;
}

// "12 heads together +0.4100, one by one +0.5230": the loss with all of them changed, and the sum of single changes.
std::string ablated_set_text(const ImportanceView& view, const RunEntry& run) {
  const std::size_t before = view.run->what_ifs.size(), heads = run.what_ifs.size() - before;
  std::string text = std::to_string(heads) + (heads == 1 ? " head" : " heads together");
  if (run.status == RunStatus::Running) return text + ": computing";
  if (!run.data || !run.data->next_token_loss || !std::isfinite(view.table->loss)) return text + ": no loss";
  text += " " + signed_text(*run.data->next_token_loss - view.table->loss, 4);
  double sum = 0.0;
  for (std::size_t i = before; i < run.what_ifs.size(); ++i) {
    const auto head = parse_head(run.what_ifs[i].substr(0, run.what_ifs[i].find(':')));
    const auto place = head ? view.table->place(*head) : std::nullopt;
    sum += place ? view.table->delta[*place] : kNaN;
  }
  if (std::isfinite(sum) && heads > 1) text += ", one by one " + signed_text(sum, 4);
  return text;
}

void draw_ablated_set(PanelContext& context, const ImportanceView& view, Rect area) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const std::size_t count = context.state.view.heads.lasso.size();
  if (count > 0) {
    Rect row = area.cut_top(measure::kPanelControl);
    const std::string line = std::string("lasso.ablate ") + word_of(view.way);
    const std::string reason = context.commands.disabled_reason(context.state, line);
    const std::string title = "Ablate together";
    const float width = ui.button_width(title);
    if (row.width() >= width + 60.0f) {
      // One that fits some heads alone does those at a second word.
      ui.button(row.cut_right(width), title, reason.starts_with("fits ") ? line + " fitting" : line);
      row.cut_right(measure::kGap);
    }
    const bool some = reason.starts_with("fits ");
    const std::string text = "Lasso: " + std::to_string(count) + (count == 1 ? " head" : " heads") +
                             (reason.empty() ? ", one run"
                              : some         ? ", " + reason
                                             : "");
    ui.label_at(row.x0, row.centre_y(), text, theme.body(some ? theme.warn : theme.text2), row.width());
    area.cut_top(2.0f);
  }
  if (const RunEntry* run = ablated_set_run(context.state, view); run && area.height() >= 16.0f)
    ui.label_at(area.x0, area.y0 + 8.0f, ablated_set_text(view, *run), theme.hint(), area.width());
}

void draw_below_list(PanelContext& context, const ImportanceView& view, Rect& body) {
  const Theme& theme = context.theme();
  const std::string warning = caution(context, view);
  TextStyle style = theme.hint();
  style.color = theme.warn;
  const float room = body.width() - 18.0f;
  const float warned = paragraph_height(context, warning, style, room) + 6.0f;
  const RunEntry* run = ablated_set_run(context.state, view);
  const float set =
      (context.state.view.heads.lasso.empty() ? 0.0f : measure::kPanelControl + 2.0f) + (run ? 18.0f : 0.0f);
  const auto part = [&](float height) {
    const Rect area = body.cut_bottom(height);
    body.cut_bottom(1.0f);
    context.painter().fill_rect({area.x0 - measure::kPadding, area.y0, area.x1 + measure::kPadding, area.y0 + 1.0f},
                                theme.line);
    return Rect{area.x0, area.y0 + 7.0f, area.x1, area.y1};
  };
  // The rows keep room for eight; the parts go in the order of how much they would be missed.
  const auto fits = [&](float height) { return body.height() - height >= 22.0f + 8.0f * kListRow; };
  if (fits(warned + 8.0f)) {
    const Rect area = part(warned + 8.0f);
    context.ui.icon(Icon::Warning, {area.x0 + 6.0f, area.y0 + 8.0f}, 11.0f, theme.warn);
    context.ui.paragraph({area.x0 + 18.0f, area.y0}, warning, style, room, style.size + 5.0f);
  }
  if (set > 0.0f && fits(set + 12.0f)) draw_ablated_set(context, view, part(set + 12.0f));
  if (fits(62.0f)) draw_selected_loss(context, view, part(62.0f));
}

}  // namespace

void draw_importance_list(PanelContext& context, Rect frame) {
  const PanelScope scope(context, "importance list", frame);
  const std::optional<ImportanceView> view = importance_view(context.state);
  std::string hint;
  if (view && view->table) hint = "of " + done_text(*view->table);
  Rect body = draw_panel_title(context, frame, "head", "Heads that matter", "", hint).inset(measure::kPadding, 4.0f);
  if (!view || !view->table || view->table->done == 0) {
    draw_note(context, body, "No loss change of this way is computed yet.",
              "Heads appear here, the one whose loss changes most first.");
  } else if (body.width() < 140.0f || body.height() < 60.0f) {
    draw_note(context, body, "This panel is too small.");
  } else {
    draw_below_list(context, *view, body);
    draw_list_rows(context, *view, body);
    const bool can = context.commands.disabled_reason(context.state, "importance.what-if").empty();
    if (context.ui.key(Key::Enter) && !context.ui.control_focused() && !context.ui.wants_text() && can &&
        context.state.overlay == Overlay::None)
      context.ui.run("importance.what-if");
  }
}

const PanelInfo kImportanceListPanel{
    .id = "importance_list", .title = "Heads", .least_width = 230.0f, .draw = draw_importance_list};

}  // namespace headroom
