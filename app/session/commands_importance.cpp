// What each head is worth: sweeps of loss changes, how they are shown, and what a set of heads is worth together.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/session/command_parts.h"
#include "app/session/enum_words.h"
#include "app/session/importance.h"
#include "app/session/saving.h"
#include "core/run/quantity_info.h"

namespace headroom {
namespace {

bool any_sweep(const State& state) {
  return std::ranges::any_of(state.runs, [](const RunEntry& run) {
    return std::ranges::any_of(run.sweeps, [](const auto& s) { return s && s->status == SweepStatus::Running; });
  });
}

// Shown where there is something to show or to start.
std::string cannot_show(const State& state) {
  const RunEntry* run = state.shown();
  const bool any = run && std::ranges::any_of(run->sweeps, [](const auto& sweep) { return sweep.has_value(); });
  return any ? "" : no_importance(state);
}

// All heads of the layers that are named.
Result<std::vector<HeadRef>> heads_of_layers(const RunSnapshot& data, const Arguments& a) {
  std::vector<HeadRef> heads;
  for (std::size_t i = 2; i < a.size(); ++i) {
    const LayerSnapshot* snapshot = data.layer(a.index(i));
    if (!std::ranges::binary_search(data.layers, a.index(i)))
      return a.wrong("layers of this run, " + std::to_string(data.layers.front()) + " to " +
                     std::to_string(data.layers.back()));
    for (const std::int64_t head : snapshot ? snapshot->heads : data.heads) heads.push_back({a.index(i), head});
  }
  return heads;
}

// What is named after the way; empty: all heads.
Result<std::vector<HeadRef>> named_heads(const State& state, const Arguments& a) {
  const RunSnapshot& data = *state.data();
  if (a.is(1, "layer")) return heads_of_layers(data, a);
  std::vector<HeadRef> heads = a.heads(1);
  if (a.is(1, "lasso")) {
    const std::vector<HeadRef>& lasso = state.view.heads.lasso;
    if (lasso.empty()) return Error(ErrorCode::InvalidArgument, "importance.run: no heads are in the lasso");
    heads.insert(heads.begin(), lasso.begin(), lasso.end());
  }
  for (const HeadRef head : heads)
    if (!has_head(data, head)) return a.wrong(heads_of(data));
  return heads;
}

std::string cannot_sweep(const State& state, const Arguments& a) {
  return no_importance(state, a.empty() ? std::nullopt : std::optional(a.choice<AblationWay>(0)));
}

void add_importance_view(CommandTable& table) {
  table.add({"importance", "", "Importance: what each head is worth", "Run", cannot_show, [](Session& s) {
               s.remember_view("importance");
               s.edit().view.centre = CentreView::Importance;
             }});
  table.add({"importance.close", "", "Importance: close", "Run",
             [](const State& state) -> std::string {
               return state.view.centre == CentreView::Importance ? "" : "it is not open";
             },
             [](Session& s) {
               s.remember_view("importance");
               s.edit().view.centre = CentreView::Map;
             }});
  table.add({"importance.colour", all_words<AblationWay>(), "Importance: show a way", "Run", needs_data,
             [](Session& s, const Arguments& a) {
               s.remember_view("importance.colour");
               s.edit().view.importance.colour = a.choice<AblationWay>(0);
             }});
  table.add({"importance.against", "QUANTITY|layer", "Importance: scatter against a quantity", "Run", needs_data,
             [](Session& s, const Arguments& a) {
               s.remember_view("importance.against");
               s.edit().view.importance.against = a[0];
             }});
  table.add({"importance.what-if", "", "Importance: the selected head as a what-if", "Run",
             [](const State& state) -> std::string {
               if (std::string reason = needs_checkpoint(state); !reason.empty()) return reason;
               return needs_head(state);
             },
             [](Session& s) -> Result<void> {
               s.remember_view("what-if");
               ViewState& view = s.edit().view;
               view.what_if.scope = "head";
               view.what_if.changes = {way_info(view.importance.colour).change};
               view.centre = CentreView::WhatIf;
               return s.runner().start_what_if(false);
             }});
}

}  // namespace

void add_importance_commands(CommandTable& table) {
  add_importance_view(table);
  table.add({"importance.run",
             all_words<AblationWay>() + " [lasso|L0.H0,L1.H2…] or " + all_words<AblationWay>() + " layer LAYER…",
             "Importance: the loss without each head", "Run", cannot_sweep,
             [](Session& s, const Arguments& a) -> Result<void> {
               const AblationWay way = a.choice<AblationWay>(0);
               HEADROOM_TRY(const std::vector<HeadRef> heads, named_heads(s.state(), a));
               HEADROOM_TRY_VOID(s.runner().sweeps().start(way, heads));
               s.remember_view("importance");
               s.edit().view.centre = CentreView::Importance;
               s.edit().view.importance.colour = way;
               return {};
             }});
  table.add({"importance.stop", "", "Importance: stop, and keep what is done", "Run",
             [](const State& state) -> std::string { return any_sweep(state) ? "" : "no sweep goes on"; },
             [](Session& s) { s.runner().sweeps().stop(); }});
  table.add({"importance.export", "[PATH] or PATH replace", "Importance: save the loss changes as HDF5…", "Export",
             [](const State& state) { return not_savable(state, SaveKind::Importance); },
             [](Session& s, const Arguments& a) -> Result<void> {
               if (!a.empty()) return s.saver().save(SaveKind::Importance, "", a[0], a.is(1, "replace"));
               s.saver().ask(SaveKind::Importance, "");
               return {};
             }});
  table.add_entry({"importance", "Importance: what each head is worth", "Run", "I"});
  for (const AblationWay way : kAblationWays) {
    const AblationWayInfo& info = way_info(way);
    table.add_entry({std::string("importance.run ") + word_of(way),
                     std::string("Importance: the loss without each head: ") + info.title, "Run", ""});
    table.add_entry(
        {std::string("importance.colour ") + word_of(way), std::string("Importance: show ") + info.title, "Run", ""});
  }
  table.add_entry({"importance.stop", "Importance: stop, and keep what is done", "Run", ""});
  table.add_entry({"importance.what-if", "Importance: the selected head as a what-if", "Run", ""});
  table.add_entry({"importance.close", "Importance: close", "Run", ""});
  table.add_entry({"importance.export", "Importance: save the loss changes as HDF5…", "Export", ""});
}

}  // namespace headroom
