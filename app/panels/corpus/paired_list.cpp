#include "app/panels/corpus/paired_list.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/corpus/paired_view.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/kept.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "core/base/number_text.h"
#include "core/run/number_digits.h"

namespace headroom {
namespace {

constexpr float kChangeRow = 20.0f, kNameWidth = 56.0f;
constexpr float kMeanWidth = 42.0f, kChangeWidth = 64.0f, kChanceWidth = 44.0f;  // at least

// Right ends of the columns: A, B, change, half of the interval, q; as many as there is room for.
struct ChangeColumns {
  float change = 0.0f, half = 0.0f, q = 0.0f, a = 0.0f, b = 0.0f;  // 0: left out
};

ChangeColumns change_columns(Rect row) {
  ChangeColumns columns;
  const float room = row.width() - kNameWidth, least = kChangeWidth + kChanceWidth, with_half = least + kChangeWidth,
              all = with_half + 2.0f * kMeanWidth;
  const bool wide = room >= all, half = room >= with_half;
  const float stretch = room / (wide ? all : half ? with_half : least);
  float x = row.x0 + kNameWidth;
  const auto next = [&](float width) { return x += stretch * width; };
  if (wide) columns.a = next(kMeanWidth), columns.b = next(kMeanWidth);
  columns.change = next(kChangeWidth);
  if (half) columns.half = next(kChangeWidth);
  columns.q = next(kChanceWidth);
  return columns;
}

void draw_change_row(PanelContext& context, const PairedView& view, const ChangeColumns& columns, std::size_t place,
                     Rect row) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const PairedChange& change = *view.changes[place];
  const HeadRef head = view.head_at(place);
  const std::string name = head_text(head);
  const Rect whole{row.x0 - measure::kPadding, row.y0, row.x1 + measure::kPadding, row.y1};
  const Interaction hit = ui.interact("row " + name, whole, Cursor::Hand);
  if (context.state.view.selection.head == head)
    painter.fill_rect(whole, theme.accent_soft);
  else if (hit.hovered || context.state.hover.head == head)
    painter.fill_rect(whole, theme.hover.faded(0.6f));
  if (hit.hovered) context.hover.head = head;
  if (hit.clicked) ui.run(select_command(context.state, head));
  const bool sure = changes_surely(change);
  const Color ink = sure ? theme.text : theme.text3;
  const float y = row.centre_y();
  const auto put = [&](float x, const std::string& text, const TextStyle& style) {
    if (x > 0.0f) painter.text_at(x, y, text, style, Painter::Align::Right);
  };
  painter.text_at(row.x0, y, name, {Face::Mono, 11.0f, ink});
  put(columns.a, number_text(*view.ref.info, change.mean_a), {Face::Mono, 11.0f, theme.text2});
  put(columns.b, number_text(*view.ref.info, change.mean_b), {Face::Mono, 11.0f, theme.text2});
  const double half = half_of(change);
  put(columns.change, view.number(mean_change(change), half),
      {sure ? Face::MonoSemibold : Face::Mono, 11.0f,
       sure ? (mean_change(change) > 0.0 ? theme.first : theme.second) : ink});
  put(columns.half,
      std::isfinite(half) ? "± " + number_text(*view.ref.info, half, decimals_by(*view.ref.info, half)) : "–",
      {Face::Mono, 11.0f, theme.text3});
  put(columns.q, p_text(change.q), {Face::Mono, 11.0f, ink});
}

void draw_paired_list(PanelContext& context, Rect frame) {
  const PanelScope scope(context, "paired list", frame);
  const Theme& theme = context.theme();
  Ui& ui = context.ui;
  const auto view = paired_view(context.state);
  Rect body = draw_panel_title(context, frame, "head", "Heads that change", "", "largest change first");
  body = {body.x0 + measure::kPadding, body.y0 + 2.0f, body.x1 - measure::kPadding, body.y1 - 4.0f};
  if (!view || !view->why.empty() || view->changes.empty()) {
    draw_note(context, body, view ? view->why : "");
    return;
  }
  const std::vector<std::size_t>& order =
      kept_for(ui.kept_value("order"), std::pair(view->a.corpus.paired, quantity_text(view->ref)), [&] {
        std::vector<std::size_t> places = changed_places(*view);
        std::ranges::stable_sort(places, std::ranges::greater(),
                                 [&](std::size_t place) { return std::abs(mean_change(*view->changes[place])); });
        return places;
      });
  Rect header = body.cut_top(22.0f);
  header.cut_right(8.0f);
  const ChangeColumns columns = change_columns(header);
  context.painter().text_at(header.x0, header.centre_y(), "head", theme.hint());
  const auto title = [&](float x, const char* text) {
    if (x > 0.0f) context.painter().text_at(x, header.centre_y(), text, theme.hint(), Painter::Align::Right);
  };
  title(columns.a, "A"), title(columns.b, "B"), title(columns.change, "B − A"), title(columns.half, "95 %");
  title(columns.q, "q");
  ui.tooltip(header,
             "Means of A and B over the sequences that both have; half of the 95 % t interval of the change;\n"
             "q: p among all heads, by Benjamini and Hochberg");
  context.painter().fill_rect({frame.x0, header.y1 - 1.0f, frame.x1, header.y1}, theme.line);
  const Rect note = body.height() >= 120.0f ? body.cut_bottom(20.0f) : Rect{};
  const auto fitting = static_cast<std::size_t>(std::max(0.0f, std::floor(body.height() / kChangeRow)));
  body.y1 = body.y0 + static_cast<float>(fitting) * kChangeRow;
  if (fitting == 0) return;
  const float offset = ui.scroll("changes", {frame.x0, body.y0, frame.x1, body.y1},
                                 static_cast<float>(order.size()) * kChangeRow, kChangeRow);
  const auto first = static_cast<std::size_t>(std::max(0.0f, std::round(offset / kChangeRow)));
  for (std::size_t i = 0; i < fitting && first + i < order.size(); ++i) {
    const float y = body.y0 + static_cast<float>(i) * kChangeRow;
    draw_change_row(context, *view, columns, order[first + i], {header.x0, y, header.x1, y + kChangeRow});
  }
  if (!order.empty()) context.facts.set("corpus.most", head_text(view->head_at(order.front())));
  if (!note.empty())
    ui.label_at(note.x0, note.centre_y(), "coloured: q ≤ " + short_text(PairedChange::kLevel) + " among all heads",
                theme.hint(), note.width());
}

}  // namespace

const PanelInfo kPairedListPanel{
    .id = "paired_list", .title = "Heads that change", .least_width = 200.0f, .draw = draw_paired_list};

}  // namespace headroom
