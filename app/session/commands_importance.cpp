// What each head is worth: sweeps of loss changes, how they are shown, and what a set of heads is worth together.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/session/command_parts.h"
#include "app/session/importance.h"
#include "app/session/saving.h"
#include "core/run/quantity_info.h"

namespace headroom {
namespace {

constexpr const char* kWayWords = "off|mean|hide-key0|second-off";

bool any_sweep(const State& state) {
  return std::ranges::any_of(state.runs, [](const RunEntry& run) {
    return std::ranges::any_of(run.sweeps, [](const auto& s) { return s && s->status == SweepStatus::Running; });
  });
}

// Shown where there is something to show or to start.
std::string cannot_show(const State& state, Arguments) {
  const RunEntry* run = state.shown();
  const bool any = run && std::ranges::any_of(run->sweeps, [](const auto& sweep) { return sweep.has_value(); });
  return any ? "" : no_importance(state);
}

bool in_run(const RunSnapshot& data, HeadRef head) {
  return std::ranges::binary_search(data.layers, head.layer) && std::ranges::binary_search(data.heads, head.head);
}

// All heads of these layers.
Result<std::vector<HeadRef>> heads_of_layers(const RunSnapshot& data, Arguments layers) {
  std::vector<HeadRef> heads;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::int64_t layer = index_argument(layers, i).value_or(-1);
    const LayerSnapshot* snapshot = data.layer(layer);
    if (!std::ranges::binary_search(data.layers, layer))
      return wrong_arguments(
          "importance.run",
          "layers of this run, " + std::to_string(data.layers.front()) + " to " + std::to_string(data.layers.back()),
          layers);
    for (const std::int64_t head : snapshot ? snapshot->heads : data.heads) heads.push_back({layer, head});
  }
  return heads;
}

// What is named after the way; empty: all heads.
Result<std::vector<HeadRef>> named_heads(const State& state, Arguments names) {
  const RunSnapshot& data = *state.data();
  if (names.empty()) return std::vector<HeadRef>();
  if (names[0] == "layer") return heads_of_layers(data, names.subspan(1));
  std::vector<HeadRef> heads;
  if (names[0] == "lasso") {
    heads = state.view.heads.lasso;
    if (heads.empty()) return Error(ErrorCode::InvalidArgument, "importance.run: no heads are in the lasso");
  }
  for (const std::string& list : names)
    for (const HeadRef head : parse_heads(list).value_or(std::vector<HeadRef>{})) heads.push_back(head);
  for (const HeadRef head : heads)
    if (!in_run(data, head))
      return wrong_arguments("importance.run",
                             "heads of this run, " + head_text({data.layers.front(), data.heads.front()}) + " to " +
                                 head_text({data.layers.back(), data.heads.back()}),
                             names);
  return heads;
}

std::string cannot_sweep(const State& state, Arguments a) {
  return no_importance(state, a.empty() ? std::nullopt : parse_way(a[0]));
}

void add_importance_view(CommandTable& table) {
  table.add({"importance", "", "Importance: what each head is worth", "Run", cannot_show,
             [](Session& s, Arguments) -> Result<void> {
               s.remember_view("importance");
               s.edit().view.centre = CentreView::Importance;
               return {};
             }});
  table.add({"importance.close", "", "Importance: close", "Run",
             [](const State& state, Arguments) -> std::string {
               return state.view.centre == CentreView::Importance ? "" : "it is not open";
             },
             [](Session& s, Arguments) -> Result<void> {
               s.remember_view("importance");
               s.edit().view.centre = CentreView::Map;
               return {};
             }});
  table.add({"importance.colour", kWayWords, "Importance: show a way", "Run",
             [](const State& state, Arguments) { return needs_data(state); },
             [](Session& s, Arguments a) -> Result<void> {
               s.remember_view("importance.colour");
               s.edit().view.importance.colour = *parse_way(a[0]);
               return {};
             }});
  table.add({"importance.against", "NAME", "Importance: scatter against a quantity", "Run",
             [](const State& state, Arguments) { return needs_data(state); },
             [](Session& s, Arguments a) -> Result<void> {
               if (a[0] != "layer") {
                 const auto quantity = parse_quantity(a[0]);
                 if (!quantity) return quantity.error();
               }
               s.remember_view("importance.against");
               s.edit().view.importance.against = a[0];
               return {};
             }});
  table.add({"importance.what-if", "", "Importance: the selected head as a what-if", "Run",
             [](const State& state, Arguments) -> std::string {
               if (std::string reason = needs_checkpoint(state); !reason.empty()) return reason;
               return needs_head(state);
             },
             [](Session& s, Arguments) -> Result<void> {
               s.remember_view("what-if");
               ViewState& view = s.edit().view;
               view.what_if.scope = "head";
               view.what_if.changes = {way_info(view.importance.colour).change};
               view.centre = CentreView::WhatIf;
               return s.start_what_if(false);
             }});
}

}  // namespace

void add_importance_commands(CommandTable& table) {
  add_importance_view(table);
  table.add({"importance.run", std::string(kWayWords) + " [lasso|L0.H0,L1.H2…] or " + kWayWords + " layer LAYER…",
             "Importance: the loss without each head", "Run", cannot_sweep,
             [](Session& s, Arguments a) -> Result<void> {
               const AblationWay way = *parse_way(a[0]);
               HEADROOM_TRY(const std::vector<HeadRef> heads, named_heads(s.state(), a.subspan(1)));
               HEADROOM_TRY_VOID(s.start_importance(way, heads));
               s.remember_view("importance");
               s.edit().view.centre = CentreView::Importance;
               s.edit().view.importance.colour = way;
               return {};
             }});
  table.add({"importance.stop", "", "Importance: stop, and keep what is done", "Run",
             [](const State& state, Arguments) -> std::string { return any_sweep(state) ? "" : "no sweep goes on"; },
             [](Session& s, Arguments) -> Result<void> {
               s.stop_importance();
               return {};
             }});
  table.add({"importance.export", "[PATH] or PATH replace", "Importance: save the loss changes as HDF5…", "Export",
             [](const State& state, Arguments) { return not_savable(state, SaveKind::Importance); },
             [](Session& s, Arguments a) -> Result<void> {
               if (!a.empty()) return s.save(SaveKind::Importance, "", a[0], a.size() > 1);
               s.ask_save(SaveKind::Importance, "");
               return {};
             }});
  table.add_entry({"importance", "Importance: what each head is worth", "Run", "I"});
  for (const AblationWay way : kAblationWays) {
    const AblationWayInfo& info = way_info(way);
    table.add_entry({std::string("importance.run ") + info.word,
                     std::string("Importance: the loss without each head: ") + info.title, "Run", ""});
    table.add_entry(
        {std::string("importance.colour ") + info.word, std::string("Importance: show ") + info.title, "Run", ""});
  }
  table.add_entry({"importance.stop", "Importance: stop, and keep what is done", "Run", ""});
  table.add_entry({"importance.what-if", "Importance: the selected head as a what-if", "Run", ""});
  table.add_entry({"importance.close", "Importance: close", "Run", ""});
  table.add_entry({"importance.export", "Importance: save the loss changes as HDF5…", "Export", ""});
}

}  // namespace headroom
