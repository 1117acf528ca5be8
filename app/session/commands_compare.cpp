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
  table.add({"compare", "RUN [RUN]", "Compare with a run", "Compare",
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
               CompareState compare = s.state().view.compare;
               if (a.size() != 1) return wrong_arguments("compare.mode", "side, swipe, flip or difference", a);
               if (a[0] == "side")
                 compare.mode = CompareMode::SideBySide;
               else if (a[0] == "swipe")
                 compare.mode = CompareMode::Swipe;
               else if (a[0] == "flip")
                 compare.mode = CompareMode::Flip;
               else if (a[0] == "difference")
                 compare.mode = CompareMode::Difference;
               else
                 return wrong_arguments("compare.mode", "side, swipe, flip or difference", a);
               s.remember_view("compare");
               s.edit().view.compare = compare;
               return {};
             }});
  table.add({"compare.divider", "X", "Compare: the swipe's divider", "Compare", two_runs,
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
               if (a.size() != 1 || (a[0] != "on" && a[0] != "off"))
                 return wrong_arguments("compare.flip", "on or off", a);
               s.edit().view.compare.flipped = a[0] == "on";
               return {};
             }});
  table.add(
      {"compare.sort", kSortArguments, "Compare: sort the heads that differ", "Compare", two_runs,
       [](Session& s, Arguments a) -> Result<void> {
         const auto found = a.empty() ? kSorts.end() : std::ranges::find(kSorts, a[0], &SortName::name);
         const bool order = a.size() == 2 && (a[1] == "ascending" || a[1] == "descending");
         if (found == kSorts.end() || a.size() > 2 || (a.size() == 2 && !order))
           return wrong_arguments("compare.sort", kSortArguments, a);
         CompareState compare = s.state().view.compare;
         // The same column again turns the order.
         compare.descending = order ? a[1] == "descending" : compare.sort == found->sort ? !compare.descending : true;
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
