// The selection, and how the heads are shown.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/session/command_parts.h"
#include "app/session/enum_words.h"
#include "app/session/head_threshold.h"
#include "core/run/head_filter.h"
#include "core/run/head_values.h"
#include "core/run/quantity_info.h"

namespace headroom {
namespace {

// Those of panels/head_sections.cpp.
constexpr const char* kHeadSections =
    "numbers|set|rms|norm|cancellation|decomposition|lambda|gain|sinks|logits|rounding|gate";

// Beside circuits heads can be chosen before anything ran.
std::string heads_reason(const State& state) { return state.heads_shown() ? "" : needs_data(state); }

std::string threshold_reason(const State& state) {
  if (std::string reason = needs_data(state); !reason.empty()) return reason;
  return atlas_quantity(state.view) == kRowDistance ? "the atlas shows row distances, which have no threshold" : "";
}

// All heads, layer by layer.
std::vector<HeadRef> all_heads(const RunSnapshot& data) {
  std::vector<HeadRef> heads;
  for (const std::int64_t layer : data.layers)
    for (const std::int64_t head : data.heads) heads.push_back({layer, head});
  return heads;
}

Result<void> step(Session& session, int layers, int heads) {
  const RunSnapshot& data = *session.state().heads_shown();
  const HeadRef from = session.state().view.selection.head.value_or(HeadRef{data.layers.front(), data.heads.front()});
  const auto move = [](const std::vector<std::int64_t>& among, std::int64_t value, int by) {
    const auto at = std::ranges::lower_bound(among, value) - among.begin();
    const auto last = static_cast<std::ptrdiff_t>(among.size()) - 1;
    return among[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at + by, 0, last))];
  };
  session.runner().set_head(HeadRef{move(data.layers, from.layer, layers), move(data.heads, from.head, heads)});
  return {};
}

Result<void> step_over(Session& session, int direction) {
  const State& state = session.state();
  const RunSnapshot& data = *state.data();
  const auto quantity = parse_quantity(atlas_quantity(state.view));
  const auto threshold = quantity ? threshold_of(quantity->info, state.view.heads) : std::nullopt;
  if (!threshold) return Error(ErrorCode::NotFound, "the quantity that is shown has no threshold");
  std::vector<HeadRef> heads = all_heads(data);
  if (direction < 0) std::ranges::reverse(heads);
  const HeadRef from = state.view.selection.head.value_or(heads.front());
  const auto after = [&](HeadRef head) { return direction > 0 ? head > from : head < from; };
  for (const bool wrapped : {false, true})
    for (const HeadRef head : heads)
      if ((wrapped || after(head)) && head_value(data, *quantity, head.layer, head.head) > *threshold) {
        session.runner().set_head(head);
        return {};
      }
  return Error(ErrorCode::NotFound, "no head is over the threshold");
}

// `change` returns Result<void>.
template <typename Change>
std::function<Result<void>(Session&, const Arguments&)> heads_change(const char* name, Change change) {
  return [=](Session& s, const Arguments& a) -> Result<void> {
    HeadsState heads = s.state().view.heads;
    HEADROOM_TRY_VOID(result_of(change, heads, a));
    s.remember_view(name);
    s.edit().view.heads = std::move(heads);
    return {};
  };
}

}  // namespace

void look_at_quantity(Session& session, const std::string& quantity) {
  session.remember_view("heads.quantity");
  ViewState& view = session.edit().view;
  if (view.centre == CentreView::Importance) {
    view.importance.colour = way_of_quantity(quantity).value_or(view.importance.colour);
    return;
  }
  (view.centre == CentreView::Compare   ? view.compare.quantity
   : view.centre == CentreView::Circuit ? view.circuit.quantity
                                        : view.heads.quantity) = quantity;
}

void add_head_commands(CommandTable& table) {
  table.add({"select", "L0.H0[Q,K]|none", "Select a head", "Heads", heads_reason,
             [](Session& s, const Arguments& a) -> Result<void> {
               if (a.is(0, "none")) {
                 s.runner().set_head({});
                 return {};
               }
               const HeadCell& place = a.place(0);
               const RunSnapshot& data = *s.state().heads_shown();
               if (!has_head(data, place.head)) return a.wrong(heads_of(data));
               if (place.query && (*place.query >= data.length || *place.key >= data.length))
                 return a.wrong("query and key below " + std::to_string(data.length));
               s.runner().set_head(place.head);
               if (place.query) {
                 s.edit().view.selection.query = place.query;
                 s.edit().view.selection.key = place.key;
               }
               return {};
             }});
  struct Step {
    const char* name;
    const char* title;
    const char* key;
    int layers, heads;
  };
  for (const Step& one : {Step{"select.left", "Previous head of the layer", "Left", 0, -1},
                          Step{"select.right", "Next head of the layer", "Right", 0, 1},
                          Step{"select.up", "The same head of the layer above", "Up", -1, 0},
                          Step{"select.down", "The same head of the layer below", "Down", 1, 0}}) {
    table.add(
        {one.name, "", one.title, "Heads", heads_reason, [one](Session& s) { return step(s, one.layers, one.heads); }});
    table.add_entry({one.name, one.title, "Heads", one.key});
  }
  table.add({"select.next-over", "", "Next head over the threshold", "Heads", threshold_reason,
             [](Session& s) { return step_over(s, 1); }});
  table.add({"select.previous-over", "", "Previous head over the threshold", "Heads", threshold_reason,
             [](Session& s) { return step_over(s, -1); }});
  table.add_entry({"select.next-over", "Next head over the threshold", "Heads", "Shift+Down"});
  table.add_entry({"select.previous-over", "Previous head over the threshold", "Heads", "Shift+Up"});
  table.add({"pin", "[QUERY|-] [KEY|-] or none", "Pin a query and a key", "Heads", needs_data,
             [](Session& s, const Arguments& a) -> Result<void> {
               const std::int64_t length = s.state().data()->length;
               Selection selection = s.state().view.selection;
               if (a.empty()) {
                 const Hover& hover = s.state().hover;
                 if (!hover.query && !hover.key)
                   return Error(ErrorCode::InvalidArgument, "the pointer is on no cell and no token");
                 if (hover.query) selection.query = hover.query;
                 if (hover.key) selection.key = hover.key;
               } else if (a.is(0, "none")) {
                 selection.query.reset();
                 selection.key.reset();
               } else {
                 const auto read = [&](std::size_t i, std::optional<std::int64_t>& into) {
                   into = a.maybe_index(i) ? a.maybe_index(i) : into;
                   return !a.maybe_index(i) || *into < length;
                 };
                 if (!read(0, selection.query) || !read(1, selection.key))
                   return a.wrong("QUERY KEY below " + std::to_string(length) + ", - leaves one as it is");
               }
               s.remember_view("pin");
               s.edit().view.selection = selection;
               return {};
             }});
  table.add_entry({"pin", "Pin what is under the pointer", "Heads", "P"});
  table.add({"release", "", "Release what is pinned; cancel; close", "Heads", {}, [](Session& s) -> Result<void> {
               State& state = s.edit();
               if (state.overlay != Overlay::None) {
                 state.overlay = Overlay::None;
               } else if (std::ranges::any_of(state.runs, [](const RunEntry& run) {
                            return run.status == RunStatus::Running && !run.quick;
                          })) {
                 s.runner().compute().cancel();
               } else if (!state.errors.empty()) {
                 state.errors.pop_back();
               } else if (state.view.heads.maps_card) {
                 state.view.heads.maps_card.reset();
               } else if (state.view.selection.query || state.view.selection.key) {
                 s.remember_view("release");
                 state.view.selection.query.reset();
                 state.view.selection.key.reset();
               } else if (!state.view.heads.lasso.empty()) {
                 s.remember_view("release");
                 state.view.heads.lasso.clear();
               } else if (state.view.centre != CentreView::Map) {
                 s.remember_view("release");
                 state.view.centre = CentreView::Map;
               } else if (!state.layout.maximised.empty()) {
                 state.layout.maximised.clear();
               } else {
                 state.layout.focus.clear();
               }
               return {};
             }});
  table.add_entry({"release", "Release the selection; cancel a run", "Heads", "Esc"});

  table.add({"heads", all_words<HeadsView>(), "Show the heads as an atlas, as maps, a scatter plot or a table", "Heads",
             [](const State& state, const Arguments& a) -> std::string {
               return state.corpus() && a.size() == 1 && a.is(0, "maps") ? "a corpus keeps no maps: open a sequence"
                                                                         : "";
             },
             heads_change("heads", [](HeadsState& h, const Arguments& a) { h.view = a.choice<HeadsView>(0); })});
  table.add_entry({"heads atlas", "Heads: as an atlas", "Heads", "Ctrl+1"});
  table.add_entry({"heads scatter", "Heads: as a scatter plot", "Heads", "Ctrl+2"});
  table.add_entry({"heads table", "Heads: as a table", "Heads", "Ctrl+3"});
  table.add_entry({"heads maps", "Heads: a thumbnail of every map", "Heads", "Ctrl+4"});
  const auto text_setting = [&](const char* name, const char* takes, const char* title,
                                std::string HeadsState::* member) {
    table.add({name, takes, title, "Heads", {}, heads_change(name, [=](HeadsState& h, const Arguments& a) {
                 h.*member = a[0];
               })});
  };
  table.add({"heads.quantity", "QUANTITY|row_distance", "Atlas: colour by a quantity", "Heads",
             [](const State& state, const Arguments& a) -> std::string {
               if (state.view.centre == CentreView::Importance && a.size() == 1 && !way_of_quantity(a[0]))
                 return "this view's atlas is of loss changes; Esc leaves it";
               const bool distance = a.size() == 1 && a[0] == kRowDistance;
               return distance && state.view.centre != CentreView::Compare
                          ? "only runs that are compared have row distances"
                          : "";
             },
             [](Session& s, const Arguments& a) { look_at_quantity(s, a[0]); }});
  text_setting("heads.x", "QUANTITY", "Scatter: quantity across", &HeadsState::x);
  text_setting("heads.y", "QUANTITY", "Scatter: quantity up", &HeadsState::y);
  text_setting("heads.colour", "QUANTITY|layer", "Scatter: colour by", &HeadsState::colour);
  for (const auto& [name, title] : {std::pair{"sink_score", "sink score"},
                                    {"context_rms_relative_mean", "mean ρ"},
                                    {"logit_max", "largest logit"},
                                    {"weight_l2_mean", "mean ‖w‖₂"},
                                    {"entropy_normalized_mean", "normalised entropy"},
                                    {"induction_score", "induction"},
                                    {"lambda_mean", "mean λ"},
                                    {"value_drain", "value drain"},
                                    {"row_distance", "row distance"}})
    table.add_entry({std::string("heads.quantity ") + name, std::string("Atlas: colour by ") + title, "Heads", ""});
  table.add({"heads.filter",
             "TEXT…",
             "Table: filter, such as \"sink_score > 0.3 and layer >= 4\"",
             "Heads",
             {},
             heads_change("heads.filter", [](HeadsState& h, const Arguments& a) -> Result<void> {
               h.filter = a.text();
               const auto filter = HeadFilter::parse(h.filter);
               return filter ? Result<void>() : Result<void>(filter.error());
             })});
  table.add({"heads.sort",
             "QUANTITY|head|kind [ascending|descending]",
             "Table: sort by a column",
             "Heads",
             {},
             heads_change("heads.sort", [](HeadsState& h, const Arguments& a) {
               // The same column again turns the order.
               h.descending = a.size() == 2 ? a.is(1, "descending") : h.sort != a[0] || !h.descending;
               h.sort = a[0];
             })});
  table.add({"heads.columns",
             "QUANTITIES…",
             "Table: choose the columns",
             "Heads",
             {},
             heads_change("heads.columns", [](HeadsState& h, const Arguments& a) { h.columns = a.names(0); })});
  table.add({"heads.threshold",
             "X",
             "Atlas: threshold ε",
             "Heads",
             {},
             heads_change("heads.threshold", [](HeadsState& h, const Arguments& a) { h.threshold = a.number(0); })});
  table.add(
      {"heads.range",
       "shared|layer",
       "Atlas: one range for all, or one for each layer",
       "Heads",
       {},
       heads_change("heads.range", [](HeadsState& h, const Arguments& a) { h.range_per_layer = a.is(0, "layer"); })});
  table.add({"heads.order",
             "index|value",
             "Atlas: heads in their order, or by value",
             "Heads",
             {},
             heads_change("heads.order", [](HeadsState& h, const Arguments& a) { h.by_value = a.is(0, "value"); })});
  table.add({"heads.log",
             "x|y on|off",
             "Scatter: logarithmic axis",
             "Heads",
             {},
             heads_change("heads.log", [](HeadsState& h, const Arguments& a) {
               (a.is(0, "x") ? h.log_x : h.log_y) = a.is(1, "on");
             })});
  for (const char* order : {"index", "value"})
    table.add_entry({std::string("heads.order ") + order, std::string("Atlas: heads by ") + order, "Heads", ""});
  table.add_entry({"heads.range layer", "Atlas: a colour range for each layer", "Heads", ""});
  table.add_entry({"heads.range shared", "Atlas: one colour range", "Heads", ""});
  table.add_entry({"heads.filter", "Table: filter", "Heads", "", true});

  table.add({"head.rms", "relative|raw|weights", "Head: what the plot over n_i shows", "Heads", needs_head,
             [](Session& s, const Arguments& a) {
               s.remember_view("head.rms");
               s.edit().view.head.rms = a[0];
             }});
  table.add_entry({"head.rms relative", "Head: ρ over visible keys", "Heads", ""});
  table.add_entry({"head.rms raw", "Head: raw context RMS over visible keys", "Heads", ""});
  table.add_entry({"head.rms weights", "Head: ‖w‖₂ over visible keys", "Heads", ""});
  table.add(
      {"head.fold", kHeadSections, "Head: fold or unfold a section", "Heads", {}, [](Session& s, const Arguments& a) {
         auto& folded = s.edit().view.head.folded;
         if (std::erase(folded, a[0]) == 0) folded.push_back(a[0]);
       }});
  table.add({"head.across-model", "on|off", "Head: every quantity by layer", "Heads", needs_data,
             [](Session& s, const Arguments& a) {
               s.remember_view("head.across-model");
               s.edit().view.head.across_model = a.is(0, "on");
             }});
  table.add_entry({"head.across-model on", "Head: every quantity by layer", "Heads", "L"});
  table.add_entry({"head.across-model off", "Head: this head's plots", "Heads", "Shift+L"});
}

}  // namespace headroom
