// Two runs of the same tokens: maps of the selected head side by side, with a divider, in place of each other, or their
// difference; where the attention moved.
#include "app/panels/compare/compare_panel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/panels/compare/compare_draw.h"
#include "app/panels/compare/compare_maps.h"
#include "app/panels/compare/compare_parts.h"
#include "app/panels/compare/compare_profiles.h"
#include "app/panels/compare/compare_side.h"
#include "app/panels/map/map_bar.h"
#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_labels.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/map/map_tool_bar.h"
#include "app/panels/panel.h"
#include "app/panels/parts/change_text.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr std::size_t kComparedKeys = 8;

std::vector<Choice> modes_of(const State& state) {
  const CompareMode mode = state.view.compare.mode;
  return {{"side by side", "compare.mode side", mode == CompareMode::SideBySide, ""},
          {"swipe", "compare.mode swipe", mode == CompareMode::Swipe, ""},
          {"flip", "compare.mode flip", mode == CompareMode::Flip, ""},
          {"difference", "compare.mode difference", mode == CompareMode::Difference, ""}};
}

std::string side_sink_line(const MapSubject& subject) {
  if (!subject.layer) return "";
  const std::span<const double> values = subject.layer->values("sink_score", subject.ref.head);
  return values.empty() || std::isnan(values.front()) ? "" : "α₀ " + fixed_text(values.front(), 3);
}

void caption_of_run(PanelContext& context, const MapLayout& layout, const MapSubject& subject, const char* letter,
                    const std::string& title) {
  const Theme& theme = context.theme();
  const CaptionLine lines[] = {
      {letter, theme.title()}, {title, theme.hint()}, {side_sink_line(subject), {Face::Mono, 12.0f, theme.text}}};
  draw_caption(context, layout, subject.causal, lines);
}

void caption_of_difference(PanelContext& context, const MapLayout& layout, const MapPair& pair) {
  const Theme& theme = context.theme();
  const CaptionLine lines[] = {
      {"B − A", theme.title()},
      {std::string(theme.dark ? "orange" : "brown") + ": B attends more", {Face::Sans, 11.0f, theme.first}},
      {"blue: A attends more", {Face::Sans, 11.0f, theme.second}},
      {layout.exact() ? "exact cells" : "mean per texel, exact", theme.hint()}};
  draw_caption(context, layout, pair.a.causal && pair.b.causal, lines);
}

// Why a run shows no map here.
void note_of_run(PanelContext& context, const MapLayout& layout, const MapSubject& subject, const char* letter) {
  if (layout.map.empty() || subject.has_map()) return;
  const std::string head =
      std::string(letter) + ": " + (subject.status == MapStatus::Pooled ? "only pooled maps" : subject.headline);
  const std::string why = subject.status == MapStatus::Pooled
                              ? "This run file holds pooled maps; its checkpoint, run again, holds all of them."
                              : subject.why;
  draw_map_note(context, layout, head, why, false);
}

void draw_received_bars(PanelContext& context, Rect area, const MapPair& pair) {
  ReceivedBars bars;
  bars.name_a = "A";
  bars.name_b = "B";
  bars.a = context.theme().text3;
  bars.b = context.theme().accent;
  bars.run = pair.a.data;
  if (pair.a.layer) bars.axis = pair.a.layer->axes.keys;
  bars.decimals = 3;
  bars.none = "Attention received is known when the layer is finished in both runs.";
  std::vector<KeyChange> keys;
  if (pair.a.layer && pair.b.layer && pair.same_length()) {
    const auto in_a = attention_received(*pair.a.layer, pair.a.ref.head),
               in_b = attention_received(*pair.b.layer, pair.b.ref.head);
    if (in_a.empty() || in_b.empty()) bars.none = "One of the runs kept no attention received per key.";
    keys = most_changed_keys(in_a, in_b, kComparedKeys, keys_seen_often(pair.a.length, pair.a.causal));
  } else if (!pair.same_length() && pair.a.layer && pair.b.layer) {
    bars.none = "The runs have different numbers of tokens.";
  }
  bars.keys = keys;
  draw_received_bars(context, area, bars);
}

void draw_maps(PanelContext& context, CompareCache& memory, Rect body, const MapPair& pair, const RunTitles& titles) {
  const State& state = context.state;
  const Theme& theme = context.theme();
  const CompareState& compare = state.view.compare;
  const CompareMode mode = compare.mode;
  const PairLayoutRequest request = pair_layout_request(context, body, pair, mode);
  const PairLayout layout = lay_out_compare(request);
  const bool difference = mode == CompareMode::SideBySide || mode == CompareMode::Difference;
  draw_pair_tool_bar(context, layout.tool_bar, modes_of(state), pair, difference);

  std::optional<MapLayout::Cell> cell;
  struct {
    const char* id;
    const MapLayout* map;
  } pointers[] = {{"map of A", &layout.first}, {"map of B", &layout.second}, {"large map", &layout.large}};
  for (const auto& [id, map] : pointers)
    if (const auto under = pair_pointer(context, id, *map)) cell = under;
  const MapMarks marks = pair_marks(context, request.extent(), cell);

  const bool flipped = compare.flipped;
  const MapSubject& shown = mode == CompareMode::Flip && flipped ? pair.b : pair.a;
  FigureProgress progress = draw_pair_map(context, memory, pair, layout.first, PairMap::A);
  progress.add(draw_pair_map(context, memory, pair, layout.second, PairMap::B));
  const PairMap large = difference ? PairMap::Difference : flipped ? PairMap::B : PairMap::A;
  const FigureProgress of_large = mode == CompareMode::Swipe
                                      ? draw_pair_swipe(context, pair, layout.large, compare.divider)
                                      : draw_pair_map(context, memory, pair, layout.large, large);
  progress.add(of_large);
  context.facts.set("map.texels_pending", static_cast<double>(progress.texels_pending));
  if (!layout.small_title.empty()) {
    const std::string text = pair.symbol + ", " + scale_title(pair.range.scale.kind) + ", one range";
    context.ui.label_at(layout.small_title.x0, layout.small_title.centre_y(), text, theme.hint(),
                        layout.small_title.width());
    context.ui.tooltip(layout.small_title, pair.range.statement);
  }
  draw_key_labels(context, layout.large, pair.any(), marks);
  draw_query_labels(context, layout.large, pair.any(), marks);
  if (pair.a.has_map()) draw_pair_cross(context, layout.first, marks);
  if (pair.b.has_map()) draw_pair_cross(context, layout.second, marks);
  const bool has_large = difference                  ? pair.has_difference()
                         : mode == CompareMode::Flip ? shown.has_map()
                                                     : pair.a.has_map() || pair.b.has_map();
  if (has_large) draw_pair_cross(context, layout.large, marks);
  note_of_run(context, layout.first, pair.a, "A");
  note_of_run(context, layout.second, pair.b, "B");
  if (pair.a.has_map()) caption_of_run(context, layout.first, pair.a, "A", titles.a);
  if (pair.b.has_map()) caption_of_run(context, layout.second, pair.b, "B", titles.b);
  if (difference) {
    if (pair.has_difference()) {
      caption_of_difference(context, layout.large, pair);
    } else if (!pair.same_length() && pair.a.length > 0 && pair.b.length > 0) {
      draw_map_note(context, layout.large, "No difference of maps",
                    "The runs have " + grouped_text(pair.a.length) + " and " + grouped_text(pair.b.length) +
                        " tokens. Run both with the same prompt to compare them cell by cell.",
                    true);
    } else {
      const bool in_a = !pair.a.has_map();
      const MapSubject& missing = in_a ? pair.a : pair.b;
      draw_map_note(context, layout.large, "B − A needs the maps of both runs",
                    std::string(in_a ? "A" : "B") + ": " +
                        (missing.status == MapStatus::Pooled ? "only pooled maps are in the run file."
                                                             : missing.headline + ". " + missing.why),
                    false);
    }
  } else if (mode == CompareMode::Flip) {
    note_of_run(context, layout.large, shown, flipped ? "B" : "A");
    if (shown.has_map())
      caption_of_run(context, layout.large, shown, flipped ? "B" : "A", flipped ? titles.b : titles.a);
  } else {
    // A note stands in the half of its run.
    MapLayout left = layout.large, right = layout.large;
    left.map.x1 = right.map.x0 =
        left.map.x0 + static_cast<float>(std::clamp(compare.divider, 0.0, 1.0)) * layout.large.map.width();
    note_of_run(context, left, pair.a, "A");
    note_of_run(context, right, pair.b, "B");
    draw_pair_divider(context, layout.large, compare.divider, "A", "B");
  }
  context.ui.push_id("bar of the large map");
  draw_map_bar(context, layout.bar, difference ? pair.difference : pair.range, difference ? "" : pair.symbol,
               !difference);
  context.ui.pop_id();
  draw_pair_profiles(context, layout, pair, marks);
  if (!layout.plot.empty()) draw_received_bars(context, layout.plot, pair);
  set_pair_facts(context, pair, layout.large, of_large.level, marks, "A", "B", difference);
}

void set_compare_facts(PanelContext& context, CompareCache& memory, const MapPair& pair) {
  static constexpr const char* kModes[] = {"side", "swipe", "flip", "difference"};
  context.facts.set("compare.mode", std::string(kModes[static_cast<int>(context.state.view.compare.mode)]));
  context.facts.set("compare.flipped", context.state.view.compare.flipped ? 1.0 : 0.0);
  DifferenceJobs* jobs = memory.jobs();
  if (!jobs || !pair.has_difference()) return;
  if (const HeadDifferences::Head* head = jobs->results()->find(pair.a.ref.layer, pair.a.ref.head))
    context.facts.set("compare.distance", head->distance.mean);
}

}  // namespace

void draw_compare_panel(PanelContext& context, Rect frame) {
  CompareCache own;
  CompareCache& memory = context.compare_cache ? *context.compare_cache : own;
  const State& state = context.state;
  const RunEntry* a = state.shown();
  const RunEntry* b = state.other();
  const RunTitles titles = compared_titles(state);
  const PanelScope scope(context, "compare", frame);
  const std::optional<HeadRef>& head = state.view.selection.head;
  std::string hint;
  if (a && b) {
    hint = "A " + titles.a + " · B " + titles.b;
    if (a->data) {
      const LayerSnapshot* layer = head ? a->data->layer(head->layer) : nullptr;
      const bool smaller = layer && layer->rows > 0 && layer->keys > 0;
      hint += " · " + grouped_text(smaller ? layer->rows : a->data->length) + " × " +
              grouped_text(smaller ? layer->keys : a->data->length);
    }
  }
  const Rect body = draw_panel_title(context, frame, "map", "Compare", head ? head_text(*head) : "", hint);
  if (!a || !b || !head) {
    MapSubject note;
    note.headline = !a || !b ? "There is no second run to compare with" : "No head is selected";
    note.why = !a || !b ? "Run the same prompt again with another checkpoint, or complete a what-if: both runs appear "
                          "here with linked selection, zoom and range."
                        : "Click a head in the atlas or in the list at the right.";
    if (!a || !b) note.action = "Back to the map", note.command = "compare.close";
    draw_map_state(context, body, note);
  } else {
    const MapPair pair = make_map_pair(context, memory, a, b);
    draw_maps(context, memory, body, pair, titles);
    set_compare_facts(context, memory, pair);
  }
}

const PanelInfo kComparePanel{.id = "compare", .title = "Compare", .least_width = 300.0f, .draw = draw_compare_panel};

}  // namespace headroom
