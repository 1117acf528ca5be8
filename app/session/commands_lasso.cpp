// Several heads at once: chosen, named, changed together, written down, and shown beside the map.
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/session/command_parts.h"
#include "app/session/enum_words.h"
#include "app/session/importance.h"
#include "app/session/saving.h"
#include "core/base/format.h"
#include "core/model/what_if.h"

namespace headroom {
namespace {

Result<std::vector<HeadRef>> listed_heads(const State& state, const Arguments& a) {
  std::vector<HeadRef> heads = a.heads(0);
  for (const HeadRef head : heads)
    if (!has_head(*state.data(), head)) return a.wrong(heads_of(*state.data()));
  return heads;
}

// In their order, each once and without those of `less`.
std::vector<HeadRef> distinct(const std::vector<HeadRef>& heads, const std::vector<HeadRef>& less = {}) {
  std::set<HeadRef> seen(less.begin(), less.end());
  std::vector<HeadRef> kept;
  for (const HeadRef head : heads)
    if (seen.insert(head).second) kept.push_back(head);
  return kept;
}

void set_lasso(Session& session, const char* command, std::vector<HeadRef> heads) {
  session.remember_view(command);
  HeadsState& view = session.edit().view.heads;
  if (heads.empty()) view.lasso_name.clear();
  view.lasso = std::move(heads);
}

std::string lasso_reason(const State& state) {
  if (std::string reason = needs_data(state); !reason.empty()) return reason;
  return state.view.heads.lasso.empty() ? "no heads are in the lasso" : "";
}

// Which heads of the lasso can be changed so. Buttons ask in every frame, and an answer takes a copy of the model's
// description: it is kept for the last few changes of one model and one lasso.
class FittingHeads {
 public:
  const std::vector<HeadRef>& of(const State& state, const std::string& change) {
    const ModelEntry* model = state.find_model(state.shown()->model);
    const std::shared_ptr<const OpenedModel> now = model ? model->model : nullptr;
    if (model_.lock() != now || lasso_ != state.view.heads.lasso || known_.size() > kMostChanges) {
      model_ = now;
      lasso_ = state.view.heads.lasso;
      known_.clear();
    }
    const auto [entry, fresh] = known_.try_emplace(change);
    if (fresh && now) entry->second = found(now->spec, change);
    return entry->second;
  }

 private:
  static constexpr std::size_t kMostChanges = 8;

  [[nodiscard]] std::vector<HeadRef> found(const ModelSpec& spec, const std::string& change) const {
    std::vector<WhatIf> all;
    for (const HeadRef head : lasso_)
      if (auto what_if = parse_what_if(head_text(head) + ":" + change)) all.push_back(std::move(*what_if));
    if (all.size() == lasso_.size() && apply_what_ifs(spec, all)) return lasso_;
    std::vector<HeadRef> heads;
    for (std::size_t i = 0; all.size() == lasso_.size() && i < all.size(); ++i)
      if (apply_what_ifs(spec, {all[i]})) heads.push_back(lasso_[i]);
    return heads;
  }

  std::weak_ptr<const OpenedModel> model_;
  std::vector<HeadRef> lasso_;
  std::map<std::string, std::vector<HeadRef>> known_;
};

// `fitting_alone`: those that it does not fit may be left as they are.
std::string cannot_change_set(const State& state, FittingHeads& fitting, const std::string& change,
                              bool fitting_alone) {
  const std::size_t all = state.view.heads.lasso.size(), fit = fitting.of(state, change).size();
  if (fit == all || (fit > 0 && fitting_alone)) return "";
  return fit == 0 ? "fits none of these heads"
                  : format("fits %zu of %zu; with \u201cfitting\u201d those alone", fit, all);
}

AblationWay way_of(const Arguments& a) {
  return a.empty() || a.is(0, "fitting") ? AblationWay::Off : a.choice<AblationWay>(0);
}

std::string cannot_ablate(const State& state, FittingHeads& fitting, const Arguments& a) {
  if (std::string reason = no_importance(state); !reason.empty()) return reason;
  if (std::string reason = lasso_reason(state); !reason.empty()) return reason;
  return cannot_change_set(state, fitting, way_info(way_of(a)).change, a.is(a.size() - 1, "fitting"));
}

std::string cannot_what_if(const State& state, FittingHeads& fitting, const Arguments& a) {
  if (std::string reason = needs_checkpoint(state); !reason.empty()) return reason;
  if (std::string reason = lasso_reason(state); !reason.empty()) return reason;
  if (state.shown()->quick) return "a quick what-if is of one head: complete it first";
  return a.empty() ? "" : cannot_change_set(state, fitting, a[0], a.is(1, "fitting"));
}

void add_choosing(CommandTable& table) {
  table.add({"lasso", "L0.H0,L1.H2… or none", "Select several heads", "Heads", needs_data,
             [](Session& s, const Arguments& a) -> Result<void> {
               HEADROOM_TRY(const std::vector<HeadRef> heads, listed_heads(s.state(), a));  // of none: none
               set_lasso(s, "lasso", distinct(heads));
               return {};
             }});
  table.add({"lasso.add", "L0.H0,L1.H2…", "Lasso: more heads", "Heads", needs_data,
             [](Session& s, const Arguments& a) -> Result<void> {
               HEADROOM_TRY(const std::vector<HeadRef> more, listed_heads(s.state(), a));
               std::vector<HeadRef> heads = s.state().view.heads.lasso;
               heads.insert(heads.end(), more.begin(), more.end());
               set_lasso(s, "lasso.add", distinct(heads));
               return {};
             }});
  table.add({"lasso.remove", "L0.H0,L1.H2…", "Lasso: without these heads", "Heads", lasso_reason,
             [](Session& s, const Arguments& a) -> Result<void> {
               HEADROOM_TRY(const std::vector<HeadRef> less, listed_heads(s.state(), a));
               set_lasso(s, "lasso.remove", distinct(s.state().view.heads.lasso, less));
               return {};
             }});
  table.add({"lasso.invert", "", "Lasso: the other heads", "Heads", needs_data, [](Session& s) {
               std::vector<HeadRef> heads;
               for (const std::int64_t layer : s.state().data()->layers)
                 for (const std::int64_t head : s.state().data()->heads) heads.push_back({layer, head});
               set_lasso(s, "lasso.invert", distinct(heads, s.state().view.heads.lasso));
             }});
  table.add({"lasso.name", "TEXT or none", "Lasso: what its heads are called", "Heads", lasso_reason,
             [](Session& s, const Arguments& a) {
               s.remember_view("lasso.name");
               s.edit().view.heads.lasso_name = a.is(0, "none") ? "" : a[0];
             }});
}

}  // namespace

void add_lasso_commands(CommandTable& table) {
  add_choosing(table);
  const auto fitting = std::make_shared<FittingHeads>();
  table.add({"lasso.ablate", "[" + all_words<AblationWay>() + "] [fitting]",
             "Lasso: the loss without all of its heads at once", "Run",
             [fitting](const State& state, const Arguments& a) { return cannot_ablate(state, *fitting, a); },
             [fitting](Session& s, const Arguments& a) -> Result<void> {
               const std::string change = way_info(way_of(a)).change;
               return s.runner().change_set(change, fitting->of(s.state(), change));
             }});
  table.add({"lasso.what-if", "CHANGE [fitting]", "Lasso: a what-if of all of its heads at once", "What-if",
             [fitting](const State& state, const Arguments& a) { return cannot_what_if(state, *fitting, a); },
             [fitting](Session& s, const Arguments& a) -> Result<void> {
               return s.runner().change_set(a[0], fitting->of(s.state(), a[0]));
             }});
  table.add({"lasso.export", "[PATH]", "Lasso: save its heads as a table…", "Export", lasso_reason,
             [](Session& s, const Arguments& a) -> Result<void> {
               if (!a.empty()) return s.saver().save(SaveKind::Table, "lasso", a[0], /*replace=*/false);
               s.saver().ask(SaveKind::Table, "lasso");
               return {};
             }});
  table.add({"beside", "[on|off]", "Heads, map and head side by side", "Heads", needs_data,
             [](Session& s, const Arguments& a) {
               s.remember_view("beside");
               ViewState& view = s.edit().view;
               view.heads.beside = a.on(0, view.heads.beside);
               if (view.heads.beside) {
                 view.centre = CentreView::Map;
                 if (view.heads.view == HeadsView::Atlas) view.heads.view = HeadsView::Scatter;
               }
             }});
  table.add_entry({"beside", "Heads, map and head side by side", "Heads", "B"});
  table.add_entry({"lasso none", "Release the lasso", "Heads", ""});
  table.add_entry({"lasso.invert", "Lasso: the other heads", "Heads", ""});
  table.add_entry({"lasso.name", "Lasso: name its heads", "Heads", "", true});
  table.add_entry({"lasso.ablate", "Lasso: the loss without all of its heads at once", "Run", ""});
  table.add_entry({"lasso.what-if", "Lasso: a what-if of all of its heads at once", "What-if", "", true});
  table.add_entry({"lasso.export", "Lasso: save its heads as a table…", "Export", ""});
}

}  // namespace headroom
