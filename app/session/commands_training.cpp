// Histories of trainings: what is open, the cursor, how curves are drawn, and the checkpoints that were kept.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "app/session/command_parts.h"

namespace headroom {
namespace {

constexpr std::int64_t kWidestMean = 1000000;

std::string needs_training(const State& state) {
  const bool any =
      std::ranges::any_of(state.trainings, [](const TrainingEntry& entry) { return entry.data != nullptr; });
  return any ? "" : "open a training.h5 or a folder of step checkpoints first";
}

std::string needs_kept_checkpoints(const State& state) {
  if (std::string reason = needs_training(state); !reason.empty()) return reason;
  return next_kept_step(state, -1, /*forward=*/true) ? "" : "no checkpoint of the histories in the film strip was kept";
}

// A change of the view that undo takes back.
template <typename Change>
std::function<Result<void>(Session&, const Arguments&)> training_change(const char* kind, Change change) {
  return [kind, change](Session& s, const Arguments& a) -> Result<void> {
    TrainingView view = s.state().view.training;
    HEADROOM_TRY_VOID(result_of(change, s.state(), view, a));
    if (view == s.state().view.training) return {};
    s.remember_view(kind);
    s.edit().view.training = view;
    return {};
  };
}

Result<const TrainingEntry*> history_argument(const State& state, const Arguments& a, std::size_t at = 0) {
  if (const TrainingEntry* entry = state.training(static_cast<int>(a.index(at)))) return entry;
  std::string known = "the number of a history:";
  for (const TrainingEntry& entry : state.trainings)
    known += (known.back() == ':' ? " " : ", ") + std::to_string(entry.id);
  return a.wrong(known);
}

// The folder of what is shown, where its training may be told.
std::string shown_folder(const State& state) {
  const RunEntry* run = state.shown();
  const ModelEntry* model = run ? state.find_model(run->model) : nullptr;
  if (!model) return "";
  std::error_code ignored;
  const std::filesystem::path path(model->path);
  return std::filesystem::is_directory(path, ignored) ? model->path : path.parent_path().string();
}

// The kept checkpoint of a step, of the first history of the film strip that has it.
const KeptCheckpoint* kept_at(const State& state, std::int64_t step) {
  for (const TrainingEntry& entry : state.trainings)
    if (entry.chosen && !entry.hidden && entry.data)
      for (const KeptCheckpoint& kept : entry.data->checkpoints)
        if (kept.step == step) return &kept;
  return nullptr;
}

// Of all of the film strip the kept step that is nearest to the cursor.
std::optional<std::int64_t> nearest_kept(const State& state) {
  const std::int64_t step = state.training_step();
  if (kept_at(state, step)) return step;
  const auto before = next_kept_step(state, step, false), after = next_kept_step(state, step, true);
  if (!before || !after) return before ? before : after;
  return step - *before <= *after - step ? before : after;
}

Result<void> open_kept(Session& s, const Arguments& a) {
  const auto step = a.empty() ? nearest_kept(s.state()) : a.index(0);
  const KeptCheckpoint* kept = step ? kept_at(s.state(), *step) : nullptr;
  if (a.size() == 2) {
    HEADROOM_TRY(const TrainingEntry* entry, history_argument(s.state(), a, 1));
    kept = nullptr;
    if (entry->data)
      for (const KeptCheckpoint& one : entry->data->checkpoints)
        if (step && one.step == *step) kept = &one;
  }
  if (!kept) {
    std::string steps = "a step whose checkpoint was kept:";
    for (auto at = next_kept_step(s.state(), -1, true); at; at = next_kept_step(s.state(), *at, true))
      steps += (steps.back() == ':' ? " " : ", ") + std::to_string(*at);
    return a.wrong(steps);
  }
  Session::OpenOptions options;
  options.run = true;
  options.head = s.state().training_head();
  s.remember_view("checkpoint");
  s.documents().open(kept->folder.string(), options);
  return {};
}

}  // namespace

void add_training_commands(CommandTable& table) {
  table.add({"training", "", "Training: how it was trained", "Window",
             [](const State& state) -> std::string { return shown_folder(state).empty() ? needs_training(state) : ""; },
             [](Session& s) -> Result<void> {
               if (s.state().trainings.empty()) return s.documents().trainings().open(shown_folder(s.state()));
               s.documents().trainings().show();
               return {};
             }});
  table.add_entry({"training", "Training: how it was trained", "Window", "F7"});
  table.add({"training.close", "", "Training: back to the map", "Window",
             [](const State& state) -> std::string {
               if (state.view.centre != CentreView::Training) return "the training is not shown";
               return state.shown() ? "" : "nothing else is open";
             },
             [](Session& s) {
               s.remember_view("training");
               s.edit().view.centre = CentreView::Map;
             }});
  table.add_entry({"training.close", "Training: back to the map", "Window", ""});
  table.add({"training.add",
             "PATH",
             "Training: add a history, or all of a folder",
             "File",
             {},
             [](Session& s, const Arguments& a) { return s.documents().trainings().open(a[0]); }});
  table.add_entry({"training.add", "Training: add a history", "File", "", true});
  table.add({"training.remove", "HISTORY", "Training: close a history", "File", needs_training,
             [](Session& s, const Arguments& a) -> Result<void> {
               HEADROOM_TRY(const TrainingEntry* entry, history_argument(s.state(), a));
               s.documents().remove_training(entry->id);
               return {};
             }});
  table.add({"training.show", "HISTORY", "Training: a history in the film strip, for its kind", "Window",
             needs_training, [](Session& s, const Arguments& a) -> Result<void> {
               HEADROOM_TRY(const TrainingEntry* found, history_argument(s.state(), a));
               if (!found->data) return {};
               const int id = found->id;
               const std::shared_ptr<const StoredHistory> data = found->data;
               for (TrainingEntry& entry : s.edit().trainings)
                 if (entry.data && same_kind(*entry.data, *data)) entry.chosen = entry.id == id;
               s.edit().edit_training(id)->hidden = false;
               return {};
             }});
  table.add({"training.hide", "HISTORY", "Training: hide a history, or show it again", "Window", needs_training,
             [](Session& s, const Arguments& a) -> Result<void> {
               HEADROOM_TRY(const TrainingEntry* entry, history_argument(s.state(), a));
               TrainingEntry* edited = s.edit().edit_training(entry->id);
               edited->hidden = !edited->hidden;
               return {};
             }});
  table.add({"training.step", "STEP|first|last", "Training: the cursor's step", "Window", needs_training,
             training_change("training.step", [](const State& state, TrainingView& view, const Arguments& a) {
               const std::int64_t last = state.last_training_step();
               view.step = a.is(0, "first") ? 0 : std::min(a.maybe_index(0).value_or(last), last);
             })});
  table.add_entry({"training.step", "Training: the cursor's step", "Window", "", true});
  table.add({"training.kept", "next|previous", "Training: the next or the previous kept checkpoint", "Window",
             needs_kept_checkpoints,
             training_change("training.kept", [](const State& state, TrainingView& view, const Arguments& a) {
               if (const auto next = next_kept_step(state, state.training_step(), a.is(0, "next"))) view.step = next;
             })});
  table.add_entry({"training.kept previous", "Training: the previous kept checkpoint", "Window", ","});
  table.add_entry({"training.kept next", "Training: the next kept checkpoint", "Window", "."});
  table.add({"training.x", "linear|log", "Training: steps on a linear or a log axis", "Window", needs_training,
             training_change("training.x", [](const State&, TrainingView& view, const Arguments& a) {
               view.log_steps = a.is(0, "log");
             })});
  table.add({"training.smooth", "COUNT", "Training: steps that a point of loss and gradient stands for", "Window",
             needs_training,
             training_change("training.smooth", [](const State&, TrainingView& view, const Arguments& a) {
               view.smooth = std::clamp<std::int64_t>(a.index(0), 1, kWidestMean);
             })});
  table.add({"training.seeds", "each|range", "Training: seeds one by one, or their range", "Window", needs_training,
             training_change("training.seeds", [](const State&, TrainingView& view, const Arguments& a) {
               view.seed_range = a.is(0, "range");
             })});
  table.add(
      {"training.head", "L0.H0|all", "Training: one head, or median and range of all", "Window", needs_training,
       training_change("training.head", [](const State& state, TrainingView& view, const Arguments& a) -> Result<void> {
         view.all_heads = a.is(0, "all");
         if (view.all_heads) return {};
         const HeadRef head = a.place(0).head;
         const auto has = [&](const TrainingEntry& entry) {
           return entry.data && head.layer < entry.data->layers && head.head < entry.data->heads;
         };
         if (std::ranges::none_of(state.trainings, has)) return a.wrong("one head of a history, or all");
         view.head = head;
         return {};
       })});
  table.add(
      {"training.zoom", "LOW HIGH or all", "Training: the steps that are shown", "Window", needs_training,
       training_change("training.zoom", [](const State& state, TrainingView& view, const Arguments& a) -> Result<void> {
         if (a.is(0, "all")) {
           view.range.reset();
           return {};
         }
         const auto last = static_cast<double>(std::max<std::int64_t>(1, state.last_training_step()));
         double low = std::clamp(a.number(0), 0.0, last);
         const double high = std::clamp(a.number(1), 0.0, last);
         if (!(high - low >= 1.0)) return a.wrong("two steps, the second one later");
         view.range = {low, high};
         if (low <= 0.0 && high >= last) view.range.reset();
         return {};
       })});
  table.add({"training.play", "", "Training: play the kept checkpoints, or stop", "Window", needs_kept_checkpoints,
             [](Session& s) {
               State& state = s.edit();
               state.training_plays = !state.training_plays;
               // At the end it begins again.
               if (state.training_plays && !next_kept_step(state, state.training_step(), true))
                 state.view.training.step = next_kept_step(state, -1, true);
             }});
  table.add_entry({"training.play", "Training: play the kept checkpoints", "Window", ""});
  table.add({"training.checkpoint", "[STEP] [HISTORY]", "Training: open a kept checkpoint as a run", "Window",
             needs_kept_checkpoints, open_kept});
  table.add_entry({"training.checkpoint", "Training: open the checkpoint at the cursor", "Window", ""});
  for (const auto& [line, title] :
       {std::pair("training.x linear", "steps on a linear axis"), std::pair("training.x log", "steps on a log axis"),
        std::pair("training.seeds each", "each seed"), std::pair("training.seeds range", "seeds as their range"),
        std::pair("training.head all", "median and range of all heads"), std::pair("training.zoom all", "all steps")})
    table.add_entry({line, std::string("Training: ") + title, "Window", ""});
}

}  // namespace headroom
