// Two runs of the same tokens beside each other.
#include <cstddef>
#include <string>
#include <utility>

#include "app/session/command_parts.h"
#include "app/session/enum_words.h"

namespace headroom {
namespace {

std::string two_runs(const State& state) { return needs_other_run(state); }

}  // namespace

void add_compare_commands(CommandTable& table) {
  table.add({"show", "RUN", "Show a run", "Compare",
             [](const State& state) -> std::string { return state.runs.empty() ? "nothing is open" : ""; },
             [](Session& s, const Arguments& a) -> Result<void> {
               const RunEntry* run = s.state().run(static_cast<int>(a.index(0)));
               if (!run) return a.wrong("the number of a run");
               s.remember_view("show");
               s.runner().show_run(run->id);
               return {};
             }});
  table.add({"compare", "[RUN] [RUN]", "Compare with a run", "Compare",
             [](const State& state) -> std::string {
               if (std::string reason = needs_data(state); !reason.empty()) return reason;
               return state.runs.size() < 2 ? "open a second run first" : "";
             },
             [](Session& s, const Arguments& a) -> Result<void> {
               State& state = s.edit();
               const auto find = [&](std::size_t i) -> const RunEntry* {
                 const auto id = a.maybe_index(i);
                 return id ? state.run(static_cast<int>(*id)) : nullptr;
               };
               const RunEntry* shown = a.size() == 2 ? find(0) : state.shown();
               const RunEntry* other = a.size() == 2 ? find(1) : find(0);
               if (a.empty()) {
                 // The latest other run with the same tokens.
                 for (const RunEntry& run : state.runs)
                   if (shown && run.id != shown->id && !run.quick && run.data &&
                       run.data->length == shown->data->length &&
                       static_cast<bool>(run.corpus) == static_cast<bool>(shown->corpus))
                     other = &run;
                 // A is what was there first: the first file of the command line, the run that a what-if changes.
                 if (shown && other && other->id < shown->id) std::swap(shown, other);
               }
               if (!shown || !other || shown->id == other->id) return a.wrong("the numbers of one or two other runs");
               if (!shown->data || !other->data)
                 return Error(ErrorCode::InvalidArgument, "compare: a run has no results yet");
               if (static_cast<bool>(shown->corpus) != static_cast<bool>(other->corpus))
                 return Error(ErrorCode::InvalidArgument, "compare: one of the two is a corpus")
                     .wanted("two runs, or two corpora", "one of each");
               if (shown->data->prompt && other->data->prompt && shown->data->prompt->ids != other->data->prompt->ids) {
                 Error error(ErrorCode::InvalidArgument, "compare: the two runs have different tokens");
                 return error.wanted(std::to_string(shown->data->length) + " equal tokens",
                                     std::to_string(other->data->length) + " others");
               }
               s.remember_view("compare");
               state.view.run = shown->id;
               state.view.other_run = other->id;
               state.view.centre = CentreView::Compare;
               state.view.compare.flipped = false;
               if (shown->corpus) state.view.compare.quantity = state.view.heads.quantity;  // it has no maps
               return {};
             }});
  table.add({"compare.mode", all_words<CompareMode>(), "Compare: how", "Compare", two_runs,
             [](Session& s, const Arguments& a) {
               s.remember_view("compare");
               s.edit().view.compare.mode = a.choice<CompareMode>(0);
             }});
  table.add({"compare.divider", "DIVIDER", "Compare: the swipe's divider", "Compare", two_runs,
             [](Session& s, const Arguments& a) -> Result<void> {
               const double x = a.number(0);
               if (x < 0 || x > 1) return a.wrong("0 to 1");
               s.edit().view.compare.divider = x;
               return {};
             }});
  table.add({"compare.swap", "", "Compare: swap the two runs", "Compare", two_runs, [](Session& s) {
               s.remember_view("compare.swap");
               std::swap(s.edit().view.run, s.edit().view.other_run);
             }});
  table.add({"compare.flip", "on|off", "Compare: show B where A is", "Compare", two_runs,
             [](Session& s, const Arguments& a) { s.edit().view.compare.flipped = a.is(0, "on"); }});
  table.add({"compare.sort", all_words<ComparedSort>() + " [ascending|descending]",
             "Compare: sort the heads that differ", "Compare", two_runs, [](Session& s, const Arguments& a) {
               const auto sort = a.choice<ComparedSort>(0);
               CompareState compare = s.state().view.compare;
               // The same column again turns the order.
               compare.descending = a.size() == 2 ? a.is(1, "descending") : compare.sort != sort || !compare.descending;
               compare.sort = sort;
               s.remember_view("compare.sort");
               s.edit().view.compare = compare;
             }});
  table.add({"compare.close", "", "Compare: close", "Compare",
             [](const State& state) -> std::string {
               return state.view.centre == CentreView::Compare ? "" : "nothing is compared";
             },
             [](Session& s) {
               s.remember_view("compare");
               s.edit().view.centre = CentreView::Map;
             }});
  table.add_entry({"compare", "Compare with the latest other run", "Compare", "C"});
  table.add_entry({"compare.swap", "Compare: swap the two runs", "Compare", "X"});
  for (const auto& [mode, title] :
       {std::pair{"side", "side by side"}, {"swipe", "swipe"}, {"flip", "flip"}, {"difference", "difference map"}})
    table.add_entry({std::string("compare.mode ") + mode, std::string("Compare: ") + title, "Compare", ""});
  for (const auto& [sort, title] : {std::pair{ComparedSort::Distance, "row distance"},
                                    {ComparedSort::SinkA, "sink score in A"},
                                    {ComparedSort::SinkB, "sink score in B"},
                                    {ComparedSort::Sink, "change of the sink score"},
                                    {ComparedSort::Rho, "change of mean ρ"},
                                    {ComparedSort::Entropy, "change of the entropy"}})
    table.add_entry(
        {std::string("compare.sort ") + word_of(sort), std::string("Compare: heads by ") + title, "Compare", ""});
  table.add_entry({"compare.close", "Compare: close", "Compare", ""});
}

}  // namespace headroom
