// What-ifs (core/io/RUN_FILE.md#what-ifs): a changed head program beside the one of the checkpoint.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/session/command_parts.h"

namespace headroom {
namespace {

std::string change_name(const std::string& change) { return change.substr(0, change.find('=')); }

std::string base_reason(const State& state) {
  if (std::string reason = needs_checkpoint(state); !reason.empty()) return reason;
  return needs_head(state);
}

// Of apply_what_ifs(), without the sentence that names the change: it stands beside it.
std::string short_reason(const std::string& reason) {
  constexpr std::string_view kBefore = "cannot be applied: ";
  const std::size_t at = reason.find(kBefore);
  return at == std::string::npos ? reason : reason.substr(at + kBefore.size());
}

// Why a change does not fit the selected head.
std::string change_reason(const State& state, const Arguments& arguments) {
  if (std::string reason = base_reason(state); !reason.empty()) return reason;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& change = arguments[i];
    const std::string bare = change.starts_with('-') ? change.substr(1) : change;
    auto what_if = parse_what_if(head_text(*state.view.selection.head) + ":" + bare);
    if (!what_if) return what_if.error().message;
    if (is_of_layers(*what_if)) {
      if (state.view.what_if.scope == "head") return "for a layer or the model";
      what_if->head.reset();
    }
    const auto applied = apply_what_ifs(state.find_model(state.shown()->model)->model->spec, {*what_if});
    if (!applied) return short_reason(applied.error().message);
  }
  return "";
}

Result<void> start_quick(Session& session) {
  if (session.state().view.what_if.changes.empty()) return {};
  return session.runner().start_what_if(false);
}

}  // namespace

void add_what_if_commands(CommandTable& table) {
  table.add({"what-if", "CHANGE|-CHANGE…", "What-if: change the head program", "What-if", change_reason,
             [](Session& s, const Arguments& a) -> Result<void> {
               s.remember_view("what-if");
               State& state = s.edit();
               auto& changes = state.view.what_if.changes;
               for (std::size_t i = 0; i < a.size(); ++i) {
                 const std::string& change = a[i];
                 const bool remove = change.starts_with('-');
                 const std::string name = change_name(remove ? change.substr(1) : change);
                 std::erase_if(changes, [&](const std::string& other) { return change_name(other) == name; });
                 if (!remove) changes.push_back(change);
               }
               state.view.centre = CentreView::WhatIf;
               return start_quick(s);
             }});
  table.add({"what-if.open", "", "What-if: open", "What-if", [](const State& state) { return base_reason(state); },
             [](Session& s) -> Result<void> {
               s.remember_view("what-if");
               s.edit().view.centre = CentreView::WhatIf;
               return start_quick(s);
             }});
  table.add({"what-if.close", "", "What-if: close", "What-if",
             [](const State& state) -> std::string {
               return state.view.centre == CentreView::WhatIf ? "" : "no what-if is open";
             },
             [](Session& s) {
               s.remember_view("what-if");
               s.edit().view.centre = CentreView::Map;
             }});
  table.add({"what-if.scope", "head|layer|model", "What-if: where it applies", "What-if",
             [](const State& state, const Arguments& a) -> std::string {
               const bool of_layers = std::ranges::any_of(state.view.what_if.changes, [](const std::string& change) {
                 const auto what_if = parse_what_if(change);
                 return what_if && is_of_layers(*what_if);
               });
               return of_layers && !a.empty() && a.is(0, "head") ? "a window is of a layer or the model" : "";
             },
             [](Session& s, const Arguments& a) -> Result<void> {
               s.remember_view("what-if");
               s.edit().view.what_if.scope = a[0];
               return s.state().view.centre == CentreView::WhatIf ? start_quick(s) : Result<void>();
             }});
  table.add(
      {"what-if.reset", "", "What-if: back to as trained", "What-if",
       [](const State& state) -> std::string { return state.view.what_if.changes.empty() ? "nothing is changed" : ""; },
       [](Session& s) {
         s.remember_view("what-if");
         s.edit().view.what_if.changes.clear();
         s.edit().view.other_run = -1;
       }});
  const auto changed = [](const State& state) -> std::string {
    if (std::string reason = base_reason(state); !reason.empty()) return reason;
    return state.view.what_if.changes.empty() ? "no what-if open" : "";
  };
  table.add({"what-if.run", "", "What-if: this head only", "What-if", changed,
             [](Session& s) { return s.runner().start_what_if(false); }});
  table.add({"what-if.complete", "", "What-if: complete, to the loss", "What-if", changed,
             [](Session& s) { return s.runner().start_what_if(true); }});
  table.add_entry({"what-if.open", "What-if: change this head's program", "What-if", "W"});
  table.add_entry({"what-if.close", "What-if: close", "What-if", ""});
  table.add_entry({"what-if.complete", "What-if: complete it, to the loss", "What-if", "Ctrl+Shift+R"});
  table.add_entry({"what-if.reset", "What-if: back to as trained", "What-if", ""});
  for (const char* scope : {"head", "layer", "model"})
    table.add_entry({std::string("what-if.scope ") + scope, std::string("What-if: in this ") + scope, "What-if", ""});
  for (const auto& [change, title] : {std::pair{"lambda=0", "λ = 0"},
                                      {"lambda=none", "no λ: plain difference"},
                                      {"lambda=raw", "λ without sigmoid"},
                                      {"second-map=off", "second map off"},
                                      {"first-map=off", "first map off"},
                                      {"pairing=halves", "first half paired with second half"},
                                      {"norm=off", "without the head norm"},
                                      {"normalizer=softmax_one", "off-by-one softmax"},
                                      {"normalizer=softpick", "softpick"},
                                      {"normalizer=softmax", "plain softmax"},
                                      {"sink=off", "sink logit off"},
                                      {"hide-key=0", "key 0 hidden"},
                                      {"window=64", "window of 64 keys"},
                                      {"window=64+4", "window of 64 keys and the first 4"},
                                      {"temperature=1.5", "temperature 1.5"},
                                      {"gate=off", "gate off"},
                                      {"head=off", "head off"}})
    table.add_entry({std::string("what-if ") + change, std::string("What-if: ") + title, "What-if", ""});
}

}  // namespace headroom
