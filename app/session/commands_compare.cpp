// Two runs of the same tokens beside each other.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "app/session/command_parts.h"

namespace headroom {
namespace {

std::string two_runs(const State& state, Arguments) { return needs_other_run(state); }

struct SortName {
  const char* name;
  ComparedSort sort;
  const char* title;
};
constexpr std::array<SortName, 6> kSorts = {{{"distance", ComparedSort::Distance, "row distance"},
                                             {"sink_a", ComparedSort::SinkA, "sink score in A"},
                                             {"sink_b", ComparedSort::SinkB, "sink score in B"},
                                             {"sink", ComparedSort::Sink, "change of the sink score"},
                                             {"rho", ComparedSort::Rho, "change of mean ρ"},
                                             {"entropy", ComparedSort::Entropy, "change of the entropy"}}};
constexpr const char* kSortArguments = "distance|sink_a|sink_b|sink|rho|entropy [ascending|descending]";

}  // namespace

void add_compare_commands(CommandTable& table) {
  table.add({"show", "RUN", "Show a run", "Compare",
             [](const State& state, Arguments) -> std::string { return state.runs.empty() ? "nothing is open" : ""; },
             [](Session& s, Arguments a) -> Result<void> {
               const auto id = index_argument(a, 0);
               if (!id || !s.state().run(static_cast<int>(*id)))
                 return wrong_arguments("show", "the number of a run", a);
               s.remember_view("show");
               s.show_run(static_cast<int>(*id));
               return {};
             }});
  table.add({"compare", "[RUN] [RUN]", "Compare with a run", "Compare",
             [](const State& state, Arguments) -> std::string {
               if (std::string reason = needs_data(state); !reason.empty()) return reason;
               return state.runs.size() < 2 ? "open a second run first" : "";
             },
             [](Session& s, Arguments a) -> Result<void> {
               State& state = s.edit();
               const auto find = [&](std::size_t i) -> const RunEntry* {
                 const auto id = index_argument(a, i);
                 return id ? state.run(static_cast<int>(*id)) : nullptr;
               };
               const RunEntry* shown = a.size() == 2 ? find(0) : state.shown();
               const RunEntry* other = a.size() == 2 ? find(1) : find(0);
               if (a.empty()) {
                 // The latest other run with the same tokens.
                 for (const RunEntry& run : state.runs)
                   if (shown && run.id != shown->id && !run.quick && run.data &&
                       run.data->length == shown->data->length)
                     other = &run;
                 // A is what was there first: the first file of the command line, the run that a what-if changes.
                 if (shown && other && other->id < shown->id) std::swap(shown, other);
               }
               if (!shown || !other || shown->id == other->id)
                 return wrong_arguments("compare", "the numbers of one or two other runs", a);
               if (!shown->data || !other->data)
                 return Error(ErrorCode::InvalidArgument, "compare: a run has no results yet");
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
               return {};
             }});
  table.add({"compare.mode", "side|swipe|flip|difference", "Compare: how", "Compare", two_runs,
             [](Session& s, Arguments a) -> Result<void> {
               s.remember_view("compare");
               s.edit().view.compare.mode = a[0] == "side"    ? CompareMode::SideBySide
                                            : a[0] == "swipe" ? CompareMode::Swipe
                                            : a[0] == "flip"  ? CompareMode::Flip
                                                              : CompareMode::Difference;
               return {};
             }});
  table.add({"compare.divider", "DIVIDER", "Compare: the swipe's divider", "Compare", two_runs,
             [](Session& s, Arguments a) -> Result<void> {
               const auto x = number_argument(a, 0);
               if (!x || *x < 0 || *x > 1) return wrong_arguments("compare.divider", "0 to 1", a);
               s.edit().view.compare.divider = *x;
               return {};
             }});
  table.add({"compare.swap", "", "Compare: swap the two runs", "Compare", two_runs,
             [](Session& s, Arguments) -> Result<void> {
               s.remember_view("compare.swap");
               std::swap(s.edit().view.run, s.edit().view.other_run);
               return {};
             }});
  table.add({"compare.flip", "on|off", "Compare: show B where A is", "Compare", two_runs,
             [](Session& s, Arguments a) -> Result<void> {
               s.edit().view.compare.flipped = a[0] == "on";
               return {};
             }});
  table.add({"compare.sort", kSortArguments, "Compare: sort the heads that differ", "Compare", two_runs,
             [](Session& s, Arguments a) -> Result<void> {
               const auto* const found = std::ranges::find(kSorts, a[0], &SortName::name);
               CompareState compare = s.state().view.compare;
               // The same column again turns the order.
               compare.descending =
                   a.size() == 2 ? a[1] == "descending" : compare.sort != found->sort || !compare.descending;
               compare.sort = found->sort;
               s.remember_view("compare.sort");
               s.edit().view.compare = compare;
               return {};
             }});
  table.add({"compare.close", "", "Compare: close", "Compare",
             [](const State& state, Arguments) -> std::string {
               return state.view.centre == CentreView::Compare ? "" : "nothing is compared";
             },
             [](Session& s, Arguments) -> Result<void> {
               s.remember_view("compare");
               s.edit().view.centre = CentreView::Map;
               return {};
             }});
  table.add_entry({"compare", "Compare with the latest other run", "Compare", "C"});
  table.add_entry({"compare.swap", "Compare: swap the two runs", "Compare", "X"});
  for (const auto& [mode, title] :
       {std::pair{"side", "side by side"}, {"swipe", "swipe"}, {"flip", "flip"}, {"difference", "difference map"}})
    table.add_entry({std::string("compare.mode ") + mode, std::string("Compare: ") + title, "Compare", ""});
  for (const SortName& sort : kSorts)
    table.add_entry(
        {std::string("compare.sort ") + sort.name, std::string("Compare: heads by ") + sort.title, "Compare", ""});
  table.add_entry({"compare.close", "Compare: close", "Compare", ""});
}

}  // namespace headroom
