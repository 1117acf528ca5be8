#include "app/panels/corpus/sequences_panel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/panels/corpus/corpus_view.h"
#include "app/panels/corpus/sequence_rows.h"
#include "app/panels/corpus/sequence_thumbnails.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/kept.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "app/session/commands.h"
#include "app/session/enum_words.h"
#include "app/session/head_threshold.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

constexpr float kSequenceRow = 20.0f;

struct SequenceColumn {
  CorpusSort sort = CorpusSort::Sequence;
  const char* title = "";
  const char* tip = "";
  float width = 0.0f;
  int keep = 0;  // those with the least go first where there is no room
  bool right = true;
};

constexpr auto kSequenceColumns = std::to_array<SequenceColumn>({
    {CorpusSort::Sequence, "sequence", "Its number in the plan", 66.0f, 9, false},
    {CorpusSort::Document, "document", "The document that it is of, and from which token on", 110.0f, 8, false},
    {CorpusSort::Loss, "loss", "Mean loss of its next tokens, nats", 62.0f, 6},
    {CorpusSort::Over, "heads > ε", "How many heads are over ε in this sequence", 76.0f, 4},
    {CorpusSort::Value, "", "The number of the selected head in this sequence", 96.0f, 7},
    {CorpusSort::Robust, "robust z",
     "(x − median) / (1.4826 · median |x − median|) over all sequences; marked beyond ±3", 82.0f, 5},
    {CorpusSort::Off, "heads off",
     "Share of heads for which this sequence is more than 3 robust standard deviations from the median", 76.0f, 3},
});

struct PlacedSequenceColumn {
  const SequenceColumn* column = nullptr;
  std::string title;
  Rect span;  // in x
};

struct SequenceTable {
  PanelContext& context;
  const CorpusView& view;
  const SequenceRows& rows;
  std::vector<PlacedSequenceColumn> columns;
};

std::vector<PlacedSequenceColumn> place_sequence_columns(const CorpusView& view, Rect row) {
  std::vector<const SequenceColumn*> kept;
  for (const SequenceColumn& column : kSequenceColumns) kept.push_back(&column);
  const auto needed = [&] {
    float width = 0.0f;
    for (const SequenceColumn* const column : kept) width += column->width;
    return width;
  };
  while (kept.size() > 2 && needed() > row.width())
    kept.erase(std::ranges::min_element(kept, {}, [](const SequenceColumn* column) { return column->keep; }));
  const float spare = std::max(0.0f, row.width() - needed());
  std::vector<PlacedSequenceColumn> placed;
  for (const SequenceColumn* const column : kept) {
    PlacedSequenceColumn one{column, column->title, {}};
    float width = column->width;
    // Numbers stay near the names that they are of.
    const float named = std::min(0.6f * spare, 300.0f);
    width += column->sort == CorpusSort::Document ? named
             : column->right ? (spare - named) / static_cast<float>(std::max<std::size_t>(1, kept.size() - 2))
                             : 0.0f;
    if (column->sort == CorpusSort::Value) {
      one.title = view.ref.info->column + (view.head ? " of " + head_text(view.head_at(*view.head)) : "");
    }
    one.span = row.cut_left(width);
    placed.push_back(std::move(one));
  }
  return placed;
}

void draw_sequence_header(const SequenceTable& table, Rect row) {
  PanelContext& context = table.context;
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const CorpusState& view = context.state.view.corpus;
  for (const PlacedSequenceColumn& one : table.columns) {
    const bool sorted = view.sort == one.column->sort;
    const TextStyle style{sorted ? Face::SansSemibold : Face::Sans, 11.0f, sorted ? theme.text : theme.text3};
    const Rect cell{one.span.x0, row.y0, one.span.x1, row.y1};
    const float arrow = sorted ? 12.0f : 0.0f;
    const float room = cell.width() - 12.0f - arrow, width = std::min(room, ui.width(one.title, style));
    const float x = one.column->right ? cell.x1 - 4.0f - arrow - width : cell.x0;
    ui.label({x, cell.centre_y() + 4.0f}, one.title, style, room);
    if (sorted) draw_sort_arrow(context.painter(), {x + width + 8.0f, cell.centre_y()}, view.descending, theme.text);
    ui.tooltip(cell, one.column->tip);
    const std::string word = word_of(one.column->sort);
    if (ui.interact("sort " + word, cell, Cursor::Hand).clicked) ui.run("corpus.sort " + word);
  }
  context.painter().fill_rect({row.x0 - measure::kPadding, row.y1 - 1.0f, row.x1 + measure::kPadding, row.y1},
                              theme.line);
}

void draw_sequence_cell(const SequenceTable& table, const PlacedSequenceColumn& one, std::size_t s, Rect cell) {
  PanelContext& context = table.context;
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const CorpusView& view = table.view;
  const float y = cell.centre_y() - 1.0f;
  const bool sorted = context.state.view.corpus.sort == one.column->sort;
  const TextStyle mono{sorted ? Face::MonoSemibold : Face::Mono, 11.0f, sorted ? theme.text : theme.text2};
  const auto right = [&](const std::string& text, const TextStyle& style) {
    ui.label_at(cell.x1 - 4.0f, y, text, style, cell.width() - 8.0f, Painter::Align::Right);
  };
  const auto text = [&] { return sequence_number_text(view, table.rows, one.column->sort, s); };
  switch (one.column->sort) {
    case CorpusSort::Sequence:
      ui.label_at(cell.x0, y, sequence_name(view.file, s), {Face::Mono, 11.0f, theme.text}, cell.width() - 6.0f);
      return;
    case CorpusSort::Document: {
      float x = cell.x0;
      if (documents_have_colors(view)) {
        painter.disc({x + 4.0f, y}, 3.5f, document_color(theme, view, view.file.document[s]));
        x += 14.0f;
      }
      const std::string from = "token " + grouped_text(view.file.token_start[s]);
      const std::string name = document_title(view.file, static_cast<std::size_t>(view.file.document[s]));
      x += ui.label_at(x, y, name, theme.body(theme.text), cell.x1 - x - 8.0f) + 10.0f;
      if (cell.x1 - x > ui.width(from, theme.hint()) + 8.0f) painter.text_at(x, y, from, theme.hint());
      return;
    }
    case CorpusSort::Loss:
    case CorpusSort::Over:
    case CorpusSort::Off: right(text(), mono); return;
    case CorpusSort::Value: {
      right(text(), mono);
      const double value = view.values && view.head ? static_cast<double>(view.values->of_head(*view.head)[s]) : kNaN;
      if (!std::isfinite(value)) return;
      const float full = cell.width() - 12.0f;
      const auto share =
          static_cast<float>(std::clamp((value - table.rows.low) / (table.rows.high - table.rows.low), 0.0, 1.0));
      painter.fill_rect({cell.x0 + 8.0f, cell.y1 - 4.0f, cell.x0 + 8.0f + std::max(1.0f, share * full), cell.y1 - 2.0f},
                        theme.text3);
      return;
    }
    case CorpusSort::Robust: {
      const bool marked = marks_outlier(view, s);
      right(text(), marked ? TextStyle{Face::MonoSemibold, 11.0f, theme.warn} : mono);
      if (marked && cell.width() >= 76.0f) ui.icon(Icon::Warning, {cell.x0 + 14.0f, y}, 10.0f, theme.warn);
      return;
    }
  }
}

void draw_sequence_row(const SequenceTable& table, std::size_t s, Rect row) {
  PanelContext& context = table.context;
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const std::string name = sequence_name(table.view.file, s);
  const Rect whole{row.x0 - measure::kPadding, row.y0, row.x1 + measure::kPadding, row.y1};
  const Interaction hit = ui.interact("row " + name, whole, Cursor::Hand);
  const bool chosen = chosen_sequence(context.state, table.view) == s;
  if (chosen) {
    painter.fill_rect(whole, theme.accent_soft);
    painter.fill_rect({whole.x0, whole.y0, whole.x0 + 3.0f, whole.y1}, theme.accent);
  } else if (hit.hovered || context.state.hover.sequence == table.view.file.number[s]) {
    painter.fill_rect(whole, theme.hover.faded(0.6f));
  }
  painter.fill_rect({row.x0, row.y1 - 1.0f, row.x1, row.y1}, theme.grid);
  act_on_sequence(context, table.view, s, hit);
  if (table.view.corpus.statistics->non_finite_layers[s] >= 0)
    ui.tooltip(whole,
               "not finite from layer " + std::to_string(table.view.corpus.statistics->non_finite_layers[s]) + " on");
  for (const PlacedSequenceColumn& one : table.columns)
    draw_sequence_cell(table, one, s, {one.span.x0, row.y0, one.span.x1, row.y1});
}

void draw_sequence_rows(PanelContext& context, const CorpusView& view, const SequenceRows& rows, Rect body) {
  Ui& ui = context.ui;
  body = {body.x0 + measure::kPadding, body.y0, body.x1 - measure::kPadding, body.y1};
  SequenceTable table{context, view, rows, {}};
  const bool foot = body.height() >= 110.0f;
  Rect header = body.cut_top(24.0f);
  header.cut_right(8.0f);  // the scroll bar's
  table.columns = place_sequence_columns(view, header);
  draw_sequence_header(table, header);
  if (foot) draw_sequences_foot(context, body.cut_bottom(kSequencesFoot));
  if (const std::string why = why_no_values(view); !why.empty() && body.height() >= 3.0f * kSequenceRow)
    ui.label_at(body.x0, body.cut_top(18.0f).centre_y(), why, TextStyle{Face::Sans, 11.0f, context.theme().warn},
                body.width());
  const auto fitting = static_cast<std::size_t>(std::max(0.0f, std::floor(body.height() / kSequenceRow)));
  body.y1 = body.y0 + static_cast<float>(fitting) * kSequenceRow;
  if (fitting == 0) return;
  scroll_to_chosen(context, view, "rows", 1, rows, kSequenceRow);
  const Rect view_rect{body.x0 - measure::kPadding, body.y0, body.x1 + measure::kPadding, body.y1};
  const float offset = ui.scroll("rows", view_rect, static_cast<float>(rows.order.size()) * kSequenceRow, kSequenceRow);
  const auto first = static_cast<std::size_t>(std::max(0.0f, std::round(offset / kSequenceRow)));
  for (std::size_t i = 0; i < fitting && first + i < rows.order.size(); ++i) {
    const float y = body.y0 + static_cast<float>(i) * kSequenceRow;
    draw_sequence_row(table, rows.order[first + i], {header.x0, y, header.x1, y + kSequenceRow});
  }
}

std::string sequences_hint(const CorpusView& view, const CorpusState& wish) {
  std::string by;
  switch (wish.sort) {
    case CorpusSort::Sequence: by = "in the order of the plan"; break;
    case CorpusSort::Document: by = "by document"; break;
    case CorpusSort::Loss: by = "by loss"; break;
    case CorpusSort::Over: by = "by heads over " + threshold_name(view.ref.info); break;
    case CorpusSort::Value:
      by = "by " + quantity_title(view.ref) + (view.head ? " of " + head_text(view.head_at(*view.head)) : "");
      break;
    case CorpusSort::Robust: by = "by robust z"; break;
    case CorpusSort::Off: by = "by heads that are far off"; break;
  }
  return grouped_text(view.file.sequences()) + " of " + grouped_text(view.file.documents()) +
         (view.file.documents() == 1 ? " document, " : " documents, ") + by;
}

void draw_sequences(PanelContext& context, Rect frame) {
  const PanelScope scope(context, "sequences", frame);
  Ui& ui = context.ui;
  const State& state = context.state;
  const auto view = corpus_view(state);
  const bool shown = view && view->ref.info != nullptr;
  const CorpusList list = state.view.corpus.list;
  const std::vector<Choice> choices{{"Table", "corpus.list table", list == CorpusList::Table, ""},
                                    {"Thumbnails", "corpus.list thumbnails", list == CorpusList::Thumbnails, ""}};
  const float width = ui.segmented({0.0f, 0.0f}, measure::kPanelControl, choices, /*draw=*/false);
  const float title = ui.width("Sequences", context.theme().title());
  const bool offers = shown && frame.width() >= title + width + 3.0f * measure::kPadding + 30.0f;
  const Rect bar{frame.x0, frame.y0, frame.x1, frame.y0 + measure::kPanelTitle};
  const Rect body =
      draw_panel_title(context, frame, "tokens", "Sequences", "", shown ? sequences_hint(*view, state.view.corpus) : "",
                       offers ? width + 8.0f : 0.0f);
  if (!shown || body.height() < 30.0f) return;
  if (offers)
    ui.segmented({bar.x1 - measure::kPadding - 26.0f - width, bar.y0 + 4.0f}, measure::kPanelControl, choices);
  const SequenceRows& rows = kept_for(ui.kept_value("rows"),
                                      std::tuple(view->corpus.statistics, view->values, view->level, view->head,
                                                 state.view.corpus.sort, state.view.corpus.descending),
                                      [&] { return sequence_rows(*view, state.view.corpus); });
  if (list == CorpusList::Thumbnails)
    draw_sequence_thumbnails(context, *view, rows, body);
  else
    draw_sequence_rows(context, *view, rows, body);
  if (!rows.order.empty()) {
    context.facts.set("corpus.first", sequence_name(view->file, rows.order.front()));
    context.facts.set("corpus.last", sequence_name(view->file, rows.order.back()));
  }
  if (state.overlay == Overlay::None && !ui.wants_text() && !ui.popup_open() && ui.key(Key::Enter) &&
      state.view.corpus.sequence && context.commands.disabled_reason(state, "corpus.open").empty())
    ui.run("corpus.open");
}

}  // namespace

const PanelInfo kSequencesPanel{.id = "sequences", .title = "Sequences", .least_width = 300.0f, .draw = draw_sequences};

}  // namespace headroom
