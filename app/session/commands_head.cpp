// The selection, and how the heads are shown.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/session/command_parts.h"
#include "app/session/quantities.h"

namespace headroom {
namespace {

std::string data_reason(const State& state, Arguments) { return needs_data(state); }

std::string threshold_reason(const State& state, Arguments) {
  if (std::string reason = needs_data(state); !reason.empty()) return reason;
  return atlas_quantity(state.view) == kRowDistance ? "the atlas shows row distances, which have no threshold" : "";
}

double threshold_value(const RunSnapshot& data, const State& state, HeadRef head) {
  const auto quantity = parse_quantity(atlas_quantity(state.view));
  return quantity ? head_value(data, *quantity, head.layer, head.head) : std::nan("");
}

// All heads, layer by layer.
std::vector<HeadRef> all_heads(const RunSnapshot& data) {
  std::vector<HeadRef> heads;
  for (const std::int64_t layer : data.layers)
    for (const std::int64_t head : data.heads) heads.push_back({layer, head});
  return heads;
}

Result<void> known_quantity(const std::string& name) {
  const auto quantity = parse_quantity(name);
  return quantity ? Result<void>() : Result<void>(quantity.error());
}

Result<void> step(Session& session, int layers, int heads) {
  const RunSnapshot& data = *session.state().data();
  const HeadRef from = session.state().view.selection.head.value_or(HeadRef{data.layers.front(), data.heads.front()});
  const auto move = [](const std::vector<std::int64_t>& among, std::int64_t value, int by) {
    const auto at = std::ranges::lower_bound(among, value) - among.begin();
    const auto last = static_cast<std::ptrdiff_t>(among.size()) - 1;
    return among[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at + by, 0, last))];
  };
  session.set_head(HeadRef{move(data.layers, from.layer, layers), move(data.heads, from.head, heads)});
  return {};
}

Result<void> step_over(Session& session, int direction) {
  const State& state = session.state();
  const RunSnapshot& data = *state.data();
  std::vector<HeadRef> heads = all_heads(data);
  if (direction < 0) std::ranges::reverse(heads);
  const HeadRef from = state.view.selection.head.value_or(heads.front());
  const auto after = [&](HeadRef head) { return direction > 0 ? head > from : head < from; };
  for (const bool wrapped : {false, true})
    for (const HeadRef head : heads)
      if ((wrapped || after(head)) && threshold_value(data, state, head) > state.view.heads.threshold) {
        session.set_head(head);
        return {};
      }
  return Error(ErrorCode::NotFound, "no head is over the threshold");
}

Result<std::vector<HeadRef>> parse_heads(Arguments arguments) {
  std::vector<HeadRef> heads;
  for (const std::string& argument : arguments) {
    std::size_t begin = 0;
    while (begin <= argument.size()) {
      const std::size_t end = std::min(argument.find(',', begin), argument.size());
      const auto head = parse_head(std::string_view(argument).substr(begin, end - begin));
      if (!head) return wrong_arguments("lasso", "L0.H0,L1.H2… or none", arguments);
      heads.push_back(*head);
      begin = end + 1;
    }
  }
  return heads;
}

template <typename Change>
std::function<Result<void>(Session&, Arguments)> heads_change(const char* name, const char* expected, Change change) {
  return [=](Session& s, Arguments a) -> Result<void> {
    HeadsState heads = s.state().view.heads;
    if (!change(heads, a)) return wrong_arguments(name, expected, a);
    s.remember_view(name);
    s.edit().view.heads = std::move(heads);
    return {};
  };
}

}  // namespace

void add_head_commands(CommandTable& table) {
  table.add({"select", "L0.H0[Q,K] or none", "Select a head", "Heads", data_reason,
             [](Session& s, Arguments a) -> Result<void> {
               if (a.size() == 1 && a[0] == "none") {
                 s.set_head({});
                 return {};
               }
               const auto [head, cell] = parse_head_address(a.size() == 1 ? a[0] : "");
               const RunSnapshot& data = *s.state().data();
               if (!head || !std::ranges::count(data.layers, head->layer) ||
                   !std::ranges::count(data.heads, head->head))
                 return wrong_arguments(
                     "select", "a head of this run, such as " + head_text({data.layers.back(), data.heads.back()}), a);
               if (cell && std::max((*cell)[0], (*cell)[1]) >= data.length)
                 return wrong_arguments("select", "tokens of this run", a);
               s.set_head(head);
               if (cell) {
                 s.edit().view.selection.query = (*cell)[0];
                 s.edit().view.selection.key = (*cell)[1];
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
    table.add({one.name, "", one.title, "Heads", data_reason,
               [one](Session& s, Arguments) { return step(s, one.layers, one.heads); }});
    table.add_entry({one.name, one.title, "Heads", one.key});
  }
  table.add({"select.next-over", "", "Next head over the threshold", "Heads", threshold_reason,
             [](Session& s, Arguments) { return step_over(s, 1); }});
  table.add({"select.previous-over", "", "Previous head over the threshold", "Heads", threshold_reason,
             [](Session& s, Arguments) { return step_over(s, -1); }});
  table.add_entry({"select.next-over", "Next head over the threshold", "Heads", "Shift+Down"});
  table.add_entry({"select.previous-over", "Previous head over the threshold", "Heads", "Shift+Up"});
  table.add({"pin", "QUERY KEY or none", "Pin a query and a key", "Heads", data_reason,
             [](Session& s, Arguments a) -> Result<void> {
               const std::int64_t length = s.state().data()->length;
               Selection selection = s.state().view.selection;
               if (a.empty()) {
                 const Hover& hover = s.state().hover;
                 if (!hover.query && !hover.key)
                   return Error(ErrorCode::InvalidArgument, "the pointer is on no cell and no token");
                 if (hover.query) selection.query = hover.query;
                 if (hover.key) selection.key = hover.key;
               } else if (a.size() == 1 && a[0] == "none") {
                 selection.query.reset();
                 selection.key.reset();
               } else {
                 const auto read = [&](std::size_t i, std::optional<std::int64_t>& into) {
                   if (i >= a.size() || a[i] == "-") return true;
                   const auto value = index_argument(a, i);
                   if (!value || *value >= length) return false;
                   into = value;
                   return true;
                 };
                 if (a.size() > 2 || !read(0, selection.query) || !read(1, selection.key))
                   return wrong_arguments("pin",
                                          "QUERY KEY below " + std::to_string(length) + ", - leaves one as it is", a);
               }
               s.remember_view("pin");
               s.edit().view.selection = selection;
               return {};
             }});
  table.add_entry({"pin", "Pin what is under the pointer", "Heads", "P"});
  table.add(
      {"release", "", "Release what is pinned; cancel; close", "Heads", {}, [](Session& s, Arguments) -> Result<void> {
         State& state = s.edit();
         if (state.overlay != Overlay::None) {
           state.overlay = Overlay::None;
         } else if (std::ranges::any_of(state.runs, [](const RunEntry& run) {
                      return run.status == RunStatus::Running && !run.quick;
                    })) {
           s.cancel_run();
         } else if (!state.errors.empty()) {
           state.errors.pop_back();
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
         }
         return {};
       }});
  table.add_entry({"release", "Release the selection; cancel a run", "Heads", "Esc"});

  table.add({"heads",
             "atlas|scatter|table",
             "Show the heads as an atlas, a scatter plot or a table",
             "Heads",
             {},
             heads_change("heads", "atlas, scatter or table", [](HeadsState& h, Arguments a) {
               if (a.size() != 1) return false;
               if (a[0] == "atlas")
                 h.view = HeadsView::Atlas;
               else if (a[0] == "scatter")
                 h.view = HeadsView::Scatter;
               else if (a[0] == "table")
                 h.view = HeadsView::Table;
               else
                 return false;
               return true;
             })});
  table.add_entry({"heads atlas", "Heads: as an atlas", "Heads", "Ctrl+1"});
  table.add_entry({"heads scatter", "Heads: as a scatter plot", "Heads", "Ctrl+2"});
  table.add_entry({"heads table", "Heads: as a table", "Heads", "Ctrl+3"});
  const auto text_setting = [&](const char* name, const char* title, std::string HeadsState::* member) {
    table.add({name, "NAME", title, "Heads", {}, [=](Session& s, Arguments a) -> Result<void> {
                 if (a.size() != 1) return wrong_arguments(name, "the name of a quantity", a);
                 if (a[0] != "layer") HEADROOM_TRY_VOID(known_quantity(a[0]));
                 s.remember_view(name);
                 s.edit().view.heads.*member = a[0];
                 return {};
               }});
  };
  table.add({"heads.quantity", "NAME", "Atlas: colour by a quantity", "Heads",
             [](const State& state, Arguments a) -> std::string {
               const bool distance = a.size() == 1 && a[0] == kRowDistance;
               return distance && state.view.centre != CentreView::Compare
                          ? "only runs that are compared have row distances"
                          : "";
             },
             [](Session& s, Arguments a) -> Result<void> {
               if (a.size() != 1) return wrong_arguments("heads.quantity", "the name of a quantity", a);
               if (a[0] != "layer" && a[0] != kRowDistance) HEADROOM_TRY_VOID(known_quantity(a[0]));
               s.remember_view("heads.quantity");
               ViewState& view = s.edit().view;
               (view.centre == CentreView::Compare ? view.compare.quantity : view.heads.quantity) = a[0];
               return {};
             }});
  text_setting("heads.x", "Scatter: quantity across", &HeadsState::x);
  text_setting("heads.y", "Scatter: quantity up", &HeadsState::y);
  text_setting("heads.colour", "Scatter: colour by", &HeadsState::colour);
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
             "EXPRESSION",
             "Table: filter",
             "Heads",
             {},
             heads_change("heads.filter", "EXPRESSION", [](HeadsState& h, Arguments a) {
               h.filter = joined_arguments(a);
               return true;
             })});
  table.add({"heads.sort",
             "NAME [ascending|descending]",
             "Table: sort by a column",
             "Heads",
             {},
             heads_change("heads.sort", "NAME [ascending|descending]", [](HeadsState& h, Arguments a) {
               if (a.empty() || a.size() > 2) return false;
               // The same column again turns the order.
               h.descending = a.size() == 2 ? a[1] == "descending" : h.sort == a[0] ? !h.descending : true;
               h.sort = a[0];
               return true;
             })});
  table.add({"heads.columns",
             "LIST",
             "Table: choose the columns",
             "Heads",
             {},
             heads_change("heads.columns", "NAME,NAME…", [](HeadsState& h, Arguments a) {
               h.columns.clear();
               // A comma inside of brackets belongs to the name: top_key_mass[first,4].
               int depth = 0;
               std::string name;
               for (const char c : joined_arguments(a) + ",") {
                 depth += c == '[' ? 1 : c == ']' ? -1 : 0;
                 if (depth > 0 || (c != ',' && c != ' '))
                   name += c;
                 else if (!name.empty())
                   h.columns.push_back(std::exchange(name, {}));
               }
               return true;
             })});
  table.add({"heads.threshold",
             "X",
             "Atlas: threshold ε",
             "Heads",
             {},
             heads_change("heads.threshold", "a number", [](HeadsState& h, Arguments a) {
               const auto value = number_argument(a, 0);
               if (!value) return false;
               h.threshold = *value;
               return true;
             })});
  table.add({"heads.range",
             "shared|layer",
             "Atlas: one range for all, or one for each layer",
             "Heads",
             {},
             heads_change("heads.range", "shared or layer", [](HeadsState& h, Arguments a) {
               if (a.size() != 1 || (a[0] != "shared" && a[0] != "layer")) return false;
               h.range_per_layer = a[0] == "layer";
               return true;
             })});
  table.add({"heads.order",
             "index|value",
             "Atlas: heads in their order, or by value",
             "Heads",
             {},
             heads_change("heads.order", "index or value", [](HeadsState& h, Arguments a) {
               if (a.size() != 1 || (a[0] != "index" && a[0] != "value")) return false;
               h.by_value = a[0] == "value";
               return true;
             })});
  table.add({"heads.log",
             "x|y on|off",
             "Scatter: logarithmic axis",
             "Heads",
             {},
             heads_change("heads.log", "x or y, on or off", [](HeadsState& h, Arguments a) {
               if (a.size() != 2 || (a[0] != "x" && a[0] != "y") || (a[1] != "on" && a[1] != "off")) return false;
               (a[0] == "x" ? h.log_x : h.log_y) = a[1] == "on";
               return true;
             })});
  table.add({"lasso", "L0.H0,L1.H2… or none", "Select several heads", "Heads", data_reason,
             [](Session& s, Arguments a) -> Result<void> {
               std::vector<HeadRef> heads;
               if (a.size() != 1 || a[0] != "none") {
                 HEADROOM_TRY(heads, parse_heads(a));
               }
               s.remember_view("lasso");
               s.edit().view.heads.lasso = std::move(heads);
               return {};
             }});
  table.add_entry({"lasso none", "Release the lasso", "Heads", ""});
  for (const char* order : {"index", "value"})
    table.add_entry({std::string("heads.order ") + order, std::string("Atlas: heads by ") + order, "Heads", ""});
  table.add_entry({"heads.range layer", "Atlas: a colour range for each layer", "Heads", ""});
  table.add_entry({"heads.range shared", "Atlas: one colour range", "Heads", ""});
  table.add_entry({"heads.filter", "Table: filter", "Heads", "", true});

  table.add({"head.rms", "relative|raw|weights", "Head: what the plot over n_i shows", "Heads", head_reason,
             [](Session& s, Arguments a) -> Result<void> {
               if (a.size() != 1 || (a[0] != "relative" && a[0] != "raw" && a[0] != "weights"))
                 return wrong_arguments("head.rms", "relative, raw or weights", a);
               s.remember_view("head.rms");
               s.edit().view.head.rms = a[0];
               return {};
             }});
  table.add_entry({"head.rms relative", "Head: ρ over visible keys", "Heads", ""});
  table.add_entry({"head.rms raw", "Head: raw context RMS over visible keys", "Heads", ""});
  table.add_entry({"head.rms weights", "Head: ‖w‖₂ over visible keys", "Heads", ""});
  table.add(
      {"head.fold", "NAME", "Head: fold or unfold a section", "Heads", {}, [](Session& s, Arguments a) -> Result<void> {
         if (a.size() != 1) return wrong_arguments("head.fold", "NAME", a);
         auto& folded = s.edit().view.head.folded;
         if (std::erase(folded, a[0]) == 0) folded.push_back(a[0]);
         return {};
       }});
  table.add({"head.across-model", "on|off", "Head: every quantity by layer", "Heads", data_reason,
             [](Session& s, Arguments a) -> Result<void> {
               if (a.size() != 1 || (a[0] != "on" && a[0] != "off"))
                 return wrong_arguments("head.across-model", "on or off", a);
               s.remember_view("head.across-model");
               s.edit().view.head.across_model = a[0] == "on";
               return {};
             }});
  table.add_entry({"head.across-model on", "Head: every quantity by layer", "Heads", "L"});
  table.add_entry({"head.across-model off", "Head: this head's plots", "Heads", "Shift+L"});
  table.add({"tokens.tint",
             "received|attention|lambda|rms|norm_gain|none",
             "Tokens: tint by",
             "Heads",
             {},
             [](Session& s, Arguments a) -> Result<void> {
               if (a.size() != 1)
                 return wrong_arguments("tokens.tint", "received, attention, lambda, rms, norm_gain or none", a);
               s.remember_view("tokens.tint");
               s.edit().view.tokens.tint = a[0];
               return {};
             }});
  for (const auto& [name, title] : {std::pair{"received", "attention received"},
                                    {"attention", "attention of the pinned query"},
                                    {"lambda", "λ of the query"},
                                    {"rms", "ρ of the query"},
                                    {"norm_gain", "gain of the norm"},
                                    {"none", "nothing"}})
    table.add_entry({std::string("tokens.tint ") + name, std::string("Tokens: tint by ") + title, "Heads", ""});
  table.add({"tokens.scroll", "TOKEN", "Tokens: go to a token", "Heads", data_reason,
             [](Session& s, Arguments a) -> Result<void> {
               const auto token = index_argument(a, 0);
               if (!token || *token >= s.state().data()->length)
                 return wrong_arguments("tokens.scroll", "a token of this run", a);
               s.edit().view.tokens.scroll_to = token;
               return {};
             }});
}

}  // namespace headroom
