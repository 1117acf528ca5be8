// The prompt as text: what tints it, and the large text with its predictions and the attention of a token.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "app/session/command_parts.h"
#include "app/session/enum_words.h"

namespace headroom {
namespace {

constexpr std::int64_t kMostListed = Predictions::kLikeliest;

std::string run_needed(const State& state) { return needs_data(state); }

Result<void> set_large(Session& s, const Arguments& a) {
  ViewState& view = s.edit().view;
  const bool is = view.centre == CentreView::Tokens, wanted = a.on(0, is);
  if (is == wanted) return {};
  s.remember_view("tokens.large");
  view.centre = wanted ? CentreView::Tokens : CentreView::Map;
  return {};
}

Result<void> set_arcs(Session& s, const Arguments& a) {
  const double least = a.maybe_number(1).value_or(s.state().view.tokens.least_arc);
  if (!(least > 0.0 && least <= 1.0))
    return Error(ErrorCode::InvalidArgument, "arcs go to keys with a weight above 0, and of at most 1")
        .wanted("a number above 0, at most 1", a[1]);
  s.remember_view("tokens.arcs");
  s.edit().view.tokens.arcs = a.is(0, "on");
  s.edit().view.tokens.least_arc = least;
  return {};
}

void add_large_commands(CommandTable& table) {
  table.add({"tokens.large", "on|off|toggle", "Tokens: large, with predictions", "Heads",
             [](const State& state, const Arguments& a) -> std::string {
               if (!a.empty() && a.is(0, "off")) return "";
               return state.corpus() ? "a corpus is of many texts: open a sequence" : needs_data(state);
             },
             set_large});
  table.add_entry({"tokens.large toggle", "Tokens: large, with predictions", "Heads", "T"});
  table.add({"tokens.attention", all_words<TokenAttention>(), "Tokens: whose attention is shown of a token", "Heads",
             run_needed, [](Session& s, const Arguments& a) {
               s.remember_view("tokens.attention");
               s.edit().view.tokens.attention = a.choice<TokenAttention>(0);
             }});
  for (const auto& [name, title] :
       {std::pair{"head", "the selected head"}, {"layer", "the mean of its layer"}, {"mean", "the mean of all heads"}})
    table.add_entry(
        {std::string("tokens.attention ") + name, std::string("Tokens: attention of ") + title, "Heads", ""});
  table.add({"tokens.arcs", "on|off [X]", "Tokens: arcs to what a token attends to", "Heads", {}, set_arcs});
  table.add_entry({"tokens.arcs on", "Tokens: arcs to the keys of a token", "Heads", ""});
  table.add_entry({"tokens.arcs off", "Tokens: no arcs", "Heads", ""});
  table.add({"tokens.top",
             "COUNT",
             "Tokens: how many next tokens are listed",
             "Heads",
             {},
             [](Session& s, const Arguments& a) -> Result<void> {
               const std::int64_t count = a.index(0);
               if (count < 1 || count > kMostListed) return a.wrong("1 to " + std::to_string(kMostListed));
               s.remember_view("tokens.top");
               s.edit().view.tokens.top = count;
               return {};
             }});
}

}  // namespace

bool is_of_predictions(std::string_view tint) { return tint == "loss" || tint == "rank" || tint == "entropy"; }

std::string needs_predictions(const State& state) {
  if (std::string reason = needs_data(state); !reason.empty()) return reason;
  const RunSnapshot& data = *state.data();
  if (data.predictions) return "";
  const RunEntry* run = state.shown();
  if (run->status == RunStatus::Running) return "the next tokens are known when the run has finished";
  if (run->model < 0)
    return "this file has no next tokens: analyse again, to the last layer and without --only summary";
  const ModelEntry* model = state.find_model(run->model);
  if (model != nullptr && model->model && model->model->spec.capture) return "a capture has no logits of next tokens";
  if (model != nullptr && model->model && !model->model->spec.lm_head.weight.present())
    return "this checkpoint has no lm_head";
  if (model != nullptr && model->model && !model->model->spec.causal())
    return "a model that sees later tokens predicts no next one";
  if (run->quick) return "this run ended before the logits: complete it";
  return "the run ended before the logits";
}

void add_tokens_commands(CommandTable& table) {
  table.add({"tokens.tint", "loss|rank|entropy|received|attention|lambda|rms|norm_gain|none", "Tokens: tint by",
             "Heads",
             [](const State& state, const Arguments& a) -> std::string {
               return !a.empty() && is_of_predictions(a[0]) ? needs_predictions(state) : "";
             },
             [](Session& s, const Arguments& a) {
               s.remember_view("tokens.tint");
               ViewState& view = s.edit().view;
               (view.centre == CentreView::Tokens ? view.tokens.large_tint : view.tokens.tint) = a[0];
             }});
  for (const auto& [name, title] : {std::pair{"loss", "loss"},
                                    {"rank", "rank among all tokens"},
                                    {"entropy", "entropy of the prediction"},
                                    {"received", "attention received"},
                                    {"attention", "attention of the pinned query"},
                                    {"lambda", "λ of the query"},
                                    {"rms", "ρ of the query"},
                                    {"norm_gain", "gain of the norm"},
                                    {"none", "nothing"}})
    table.add_entry({std::string("tokens.tint ") + name, std::string("Tokens: tint by ") + title, "Heads", ""});
  table.add({"tokens.show", "text|experts", "Tokens: show", "Heads",
             [](const State& state, const Arguments& a) -> std::string {
               if (a.empty() || !a.is(0, "experts")) return "";
               const RunSnapshot* data = state.data();
               return data != nullptr && !data->routers.empty() ? "" : "no layer of this run has experts";
             },
             [](Session& s, const Arguments& a) {
               s.remember_view("tokens.show");
               s.edit().view.tokens.experts = a.is(0, "experts");
             }});
  table.add_entry({"tokens.show text", "Tokens: the text", "Heads", ""});
  table.add_entry({"tokens.show experts", "Tokens: the experts that each is sent to", "Heads", ""});
  table.add({"tokens.scroll", "TOKEN", "Tokens: go to a token", "Heads", run_needed,
             [](Session& s, const Arguments& a) -> Result<void> {
               const std::int64_t token = a.index(0);
               if (token >= s.state().data()->length)
                 return a.wrong("a token below " + std::to_string(s.state().data()->length));
               s.edit().view.tokens.scroll_to = token;
               return {};
             }});
  add_large_commands(table);
}

}  // namespace headroom
