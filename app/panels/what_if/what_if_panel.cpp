// One head as trained and with a changed program: maps beside each other, the row under the pointer, context RMS, where
// the mass of key 0 went.
#include "app/panels/what_if/what_if_panel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/panels/compare/compare_draw.h"
#include "app/panels/compare/compare_maps.h"
#include "app/panels/compare/compare_parts.h"
#include "app/panels/compare/compare_profiles.h"
#include "app/panels/map/map_bar.h"
#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_labels.h"
#include "app/panels/map/map_profiles.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/map/map_tool_bar.h"
#include "app/panels/panel.h"
#include "app/panels/parts/change_text.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "app/panels/what_if/what_if_change.h"
#include "app/panels/what_if/what_if_plots.h"
#include "app/panels/what_if/what_if_subject.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

using Status = WhatIfSubject::Status;
constexpr std::size_t kChangedKeys = 7;

// What the changes are made to: the head as trained, or as an earlier what-if left it.
std::string base_title(const WhatIfSubject& subject) {
  return subject.base && !subject.base->what_ifs.empty() ? run_title(*subject.base) : "as trained";
}

std::string sink_line(const LayerSnapshot* layer, std::int64_t head) {
  const std::span<const double> values = layer ? layer->values("sink_score", head) : std::span<const double>();
  return values.empty() || std::isnan(values.front()) ? "" : "α₀ " + fixed_text(values.front(), 3);
}

void caption_before(PanelContext& context, const MapLayout& layout, const WhatIfSubject& subject, bool causal) {
  const Theme& theme = context.theme();
  const CaptionLine lines[] = {{"Before", theme.title()},
                               {base_title(subject), theme.hint()},
                               {sink_line(subject.layer_before, subject.head.head), {Face::Mono, 12.0f, theme.text}}};
  draw_caption(context, layout, causal, lines);
}

void caption_after(PanelContext& context, const MapLayout& layout, const WhatIfSubject& subject, bool causal) {
  const Theme& theme = context.theme();
  const std::string what = subject.stale ? "computing" : changes_title(context.state.view.what_if);
  const CaptionLine lines[] = {
      {"After", {Face::SansSemibold, 13.0f, subject.stale ? theme.off : theme.text}},
      {what, {Face::Sans, 11.0f, subject.stale ? theme.warn : theme.text3}},
      {sink_line(subject.layer_after, subject.head.head), {Face::Mono, 12.0f, subject.stale ? theme.off : theme.text}}};
  draw_caption(context, layout, causal, lines);
}

// In place of a map after the change.
void note_after(PanelContext& context, const MapLayout& layout, const WhatIfSubject& subject, const MapPair& pair) {
  if (layout.map.empty()) return;
  switch (subject.status) {
    case Status::NothingChosen:
      draw_map_note(context, layout, "Nothing is changed yet",
                    "Choose a change at the right. The head with it appears here, beside the head as trained: its map, "
                    "the row under the pointer, context RMS and where the mass of key 0 goes.",
                    false);
      return;
    case Status::Failed:
      draw_map_note(context, layout, "The what-if failed",
                    subject.run && subject.run->error ? subject.run->error->message : "", true);
      return;
    case Status::Cancelled:
      draw_map_note(context, layout, "The what-if was cancelled", "Choose the change again to compute it.", true);
      return;
    case Status::Computing:
      if (!subject.after) draw_map_note(context, layout, "computing", subject.run ? subject.run->doing : "", false);
      return;
    default:
      if (!pair.b.has_map()) draw_map_note(context, layout, pair.b.headline, pair.b.why, false);
  }
}

void draw_rows(PanelContext& context, const PairLayout& layout, const MapPair& pair, const WhatIfSubject& subject,
               const MapMarks& marks) {
  if (layout.first_row.empty()) return;
  const Theme& theme = context.theme();
  const auto query = marks.query();
  const auto row_of = [&](const MapSubject& of) -> std::shared_ptr<const std::vector<float>> {
    return query && of.has_map() && *query < of.length
               ? context.tiles.row(of.source, of.ref.head, window_map(of.kind), *query)
               : nullptr;
  };
  const auto before = row_of(pair.a), after = row_of(pair.b);
  const MapLayout& first = layout.first.map.empty() ? layout.large : layout.first;
  const bool both = !layout.second_row.empty();
  const Color color = subject.stale ? theme.accent.faded(0.45f) : theme.accent;
  draw_pair_bars(context, first,
                 {layout.first_row, before.get(), both ? nullptr : after.get(), pair.range.scale, theme.text3, color});
  if (both)
    draw_pair_bars(context, layout.second,
                   {layout.second_row, nullptr, after.get(), pair.range.scale, theme.text3, color});
  const auto ticks = [&](const MapLayout& map, const Rect& area) {
    draw_key_ticks(context, map, {area.x0, area.y1, area.x1, area.y1 + 18.0f}, area.x0 - 8.0f);
  };
  ticks(first, layout.first_row);
  if (both) ticks(layout.second, layout.second_row);
  const Rect& text = layout.row_text;
  if (!query || text.empty() || text.width() < 30.0f) return;
  std::vector<CaptionLine> lines = {{"row " + grouped_text(*query), {Face::SansSemibold, 11.0f, theme.accent}}};
  const auto entropy = [](const auto& row) { return row ? row_numbers(*row, false).entropy : std::nan(""); };
  const bool signs = pair.any().is_signed || pair.any().is_logits;
  if (!signs && before) {
    lines.push_back({"entropy", {Face::Sans, 11.0f, theme.text2}});
    lines.push_back({fixed_text(entropy(before), 2) + (after ? " → " + fixed_text(entropy(after), 2) : ""),
                     {Face::Mono, 11.0f, theme.text2}});
    context.facts.set("what_if.row_entropy_before", entropy(before));
    if (after && !subject.stale) context.facts.set("what_if.row_entropy_after", entropy(after));
  }
  float y = text.y0 + 8.0f;
  for (const CaptionLine& line : lines) {
    if (y + 7.0f > text.y1) break;
    context.ui.label_at(text.x1, y, line.text, line.style, text.width(), Painter::Align::Right);
    y += 14.0f;
  }
}

void draw_changed_keys(PanelContext& context, Rect area, const WhatIfSubject& subject) {
  ReceivedBars bars;
  bars.name_a = "before";
  bars.name_b = "after";
  bars.a = context.theme().text3;
  bars.b = subject.stale ? context.theme().accent.faded(0.45f) : context.theme().accent;
  bars.run = subject.base->data.get();
  if (subject.layer_before) bars.axis = subject.layer_before->axes.keys;
  bars.decimals = 2;
  bars.none = subject.status == Status::NothingChosen
                  ? "Attention received by the keys that change most stands here, before and after."
              : subject.status == Status::Computing ? "computing"
                                                    : "The run kept no attention received per key.";
  std::vector<KeyChange> keys;
  if (subject.layer_before && subject.layer_after && subject.layer_before->length == subject.layer_after->length) {
    const bool causal = !subject.layer_before->maps || subject.layer_before->maps->causal;
    keys = most_changed_keys(attention_received(*subject.layer_before, subject.head.head),
                             attention_received(*subject.layer_after, subject.head.head), kChangedKeys,
                             keys_seen_often(subject.layer_before->length, causal));
  }
  bars.keys = keys;
  draw_received_bars(context, area, bars);
}

void draw_centre(PanelContext& context, CompareCache& memory, Rect body, const WhatIfSubject& subject) {
  const State& state = context.state;
  const Theme& theme = context.theme();
  const CompareMode wanted = state.view.compare.mode;
  const MapPair pair = make_map_pair(context, memory, subject.base, subject.after);
  const bool can_pair = subject.layer_after && pair.has_difference();
  const CompareMode mode = !can_pair || wanted == CompareMode::Flip ? CompareMode::SideBySide : wanted;
  const PairLayoutRequest request = pair_layout_request(context, body, pair, mode);
  const PairLayout layout = lay_out_what_if(request);
  const bool difference = mode == CompareMode::Difference;
  const Choice modes[] = {
      {"before | after", "compare.mode side", mode == CompareMode::SideBySide, ""},
      {"swipe", "compare.mode swipe", mode == CompareMode::Swipe, can_pair ? "" : "there is nothing to compare yet"},
      {"difference", "compare.mode difference", difference, can_pair ? "" : "there is nothing to compare yet"}};
  draw_pair_tool_bar(context, layout.tool_bar, modes, pair, difference);

  std::optional<MapLayout::Cell> cell;
  struct {
    const char* id;
    const MapLayout* map;
  } pointers[] = {{"before", &layout.first}, {"after", &layout.second}, {"both", &layout.large}};
  for (const auto& [id, map] : pointers)
    if (const auto under = pair_pointer(context, id, *map)) cell = under;
  const MapMarks marks = pair_marks(context, request.extent(), cell);
  FigureProgress progress = draw_pair_map(context, memory, pair, layout.first, PairMap::A);
  progress.add(draw_pair_map(context, memory, pair, layout.second, PairMap::B));
  if (mode == CompareMode::Swipe)
    progress.add(draw_pair_swipe(context, pair, layout.large, state.view.compare.divider));
  if (difference) progress.add(draw_pair_map(context, memory, pair, layout.large, PairMap::Difference));
  context.facts.set("map.texels_pending", static_cast<double>(progress.texels_pending));
  const MapLayout& labelled = layout.first.map.empty() ? layout.large : layout.first;
  draw_key_labels(context, labelled, pair.any(), marks);
  draw_query_labels(context, labelled, pair.any(), marks);
  if (!layout.second.map.empty()) draw_key_labels(context, layout.second, pair.b.has_map() ? pair.b : pair.a, marks);
  // What is out of date lies under a veil of the panel's colour.
  if (subject.stale)
    context.painter().fill_rect(layout.second.map.empty() ? layout.large.map : layout.second.map,
                                theme.panel.faded(0.5f));
  if (pair.a.has_map()) draw_pair_cross(context, layout.first, marks), draw_pair_cross(context, layout.large, marks);
  if (pair.b.has_map()) draw_pair_cross(context, layout.second, marks);
  const bool causal = pair.any().causal;
  if (mode == CompareMode::SideBySide) {
    if (pair.a.has_map())
      caption_before(context, layout.first, subject, causal);
    else
      draw_map_note(context, layout.first, pair.a.status == MapStatus::Pooled ? "Only pooled maps" : pair.a.headline,
                    pair.a.why, false);
    if (pair.b.has_map()) caption_after(context, layout.second, subject, causal);
    note_after(context, layout.second, subject, pair);
  } else if (difference && pair.has_difference()) {
    const CaptionLine lines[] = {
        {"After − before", theme.title()},
        {std::string(theme.dark ? "orange" : "brown") + ": more after", {Face::Sans, 11.0f, theme.first}},
        {"blue: less after", {Face::Sans, 11.0f, theme.second}},
        {subject.stale          ? "computing"
         : layout.large.exact() ? "exact cells"
                                : "mean per texel, exact",
         theme.hint()}};
    draw_caption(context, layout.large, causal, lines);
  } else {
    if (!pair.b.has_map()) note_after(context, layout.large, subject, pair);
    if (mode == CompareMode::Swipe)
      draw_pair_divider(context, layout.large, state.view.compare.divider, "before", "after");
  }
  context.ui.push_id("bar");
  draw_map_bar(context, layout.bar, difference ? pair.difference : pair.range, difference ? "" : pair.symbol,
               !difference);
  context.ui.pop_id();
  draw_rows(context, layout, pair, subject, marks);
  if (!layout.plot.empty()) draw_what_if_rms(context, memory, layout.plot, subject);
  if (!layout.second_plot.empty()) draw_changed_keys(context, layout.second_plot, subject);
  set_pair_facts(context, pair, labelled, progress.level, marks, "before", "after", difference);
}

void set_what_if_facts(PanelContext& context, const WhatIfSubject& subject) {
  static constexpr const char* kStatus[] = {"blocked", "nothing chosen", "computing", "done", "failed", "cancelled"};
  context.facts.set("what_if.status", std::string(kStatus[static_cast<int>(subject.status)]));
  context.facts.set("what_if.changes", changes_title(context.state.view.what_if));
}

}  // namespace

void draw_what_if_panel(PanelContext& context, Rect frame) {
  CompareCache own;
  CompareCache& memory = context.compare_cache ? *context.compare_cache : own;
  const WhatIfSubject subject = what_if_subject(context, memory);
  set_what_if_facts(context, subject);
  const PanelScope scope(context, "what-if", frame);
  const std::optional<HeadRef>& head = context.state.view.selection.head;
  std::string hint;
  if (subject.layer_before) {
    const std::string changes = changes_title(context.state.view.what_if),
                      n = grouped_text(subject.layer_before->length);
    hint = kind_of_attention(subject.layer_before->kind) +
           (changes.empty() ? " " + base_title(subject) : " → " + changes) + " · " + n + " × " + n;
  }
  const Rect body = draw_panel_title(context, frame, "map", "What-if", head ? head_text(*head) : "", hint);
  if (!subject.layer_before) {
    MapSubject note = map_subject(context.state);
    if (note.has_map() || note.headline.empty()) note.headline = "No head is selected";
    note.why += (note.why.empty() ? "" : " ") +
                std::string("A what-if shows the selected head with a changed program, beside the head as trained.");
    note.action = "Back to the map", note.command = "what-if.close";
    draw_map_state(context, body, note);
  } else {
    draw_centre(context, memory, body, subject);
  }
}

const PanelInfo kWhatIfPanel{.id = "what-if", .title = "What-if", .least_width = 300.0f, .draw = draw_what_if_panel};

}  // namespace headroom
