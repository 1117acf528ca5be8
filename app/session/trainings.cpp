#include "app/session/trainings.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/session/commands.h"
#include "app/session/film_strip.h"
#include "app/session/run_names.h"
#include "core/base/format.h"
#include "core/base/number_text.h"
#include "core/io/hdf5_error.h"
#include "core/run/live_run.h"

namespace headroom {
namespace {

constexpr double kLookAgainSeconds = 2.0;  // at a history that is not finished
constexpr double kPlaySeconds = 0.7;       // a checkpoint stays while the film plays

std::optional<HeadAddress> address_of(const std::optional<HeadRef>& head) {
  return head ? std::optional<HeadAddress>({head->layer, head->head}) : std::nullopt;
}

std::shared_ptr<const SmoothedHistory> smoothed(const StoredHistory& history, std::int64_t width) {
  return std::make_shared<const SmoothedHistory>(
      SmoothedHistory{width, mean_of_steps(history.loss, width), largest_of_steps(history.gradient_norm, width)});
}

bool same_kind(const TrainingEntry& a, const TrainingEntry& b) {
  return a.data && b.data && headroom::same_kind(*a.data, *b.data);
}

// "softmax 1"; where several recipes are open, "backcopy/softmax 1".
std::string history_name(const StoredHistory& history, bool with_recipe) {
  return (with_recipe && !history.recipe.empty() ? history.recipe + "/" : "") + history.kind +
         (history.seed ? " " + std::to_string(*history.seed) : "");
}

// Equal names get what tells them apart: the folder above.
void name_trainings(std::vector<TrainingEntry>& entries) {
  const auto other = [&](const TrainingEntry& entry) {
    return entry.data && entries.front().data && entry.data->recipe != entries.front().data->recipe;
  };
  const bool several = std::ranges::any_of(entries, other);
  for (TrainingEntry& entry : entries)
    entry.name = entry.data ? history_name(*entry.data, several) : opened_title(entry.path);
  std::vector<std::string> names;
  for (const TrainingEntry& entry : entries) names.push_back(entry.name);
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (std::ranges::count(names, names[i]) > 1)
      entries[i].name +=
          " (" +
          std::to_string(std::count(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) + 1) + ")";
}

// Of the new reading, with what was made of checkpoints that are the same.
std::vector<FilmFrame> film_of(const StoredHistory& history, std::vector<FilmFrame> before) {
  std::vector<FilmFrame> film;
  for (const KeptCheckpoint& checkpoint : history.checkpoints) {
    const auto known =
        std::ranges::find_if(before, [&](const FilmFrame& frame) { return frame.checkpoint == checkpoint; });
    film.push_back(known != before.end() ? std::move(*known) : FilmFrame());
    film.back().checkpoint = checkpoint;
  }
  return film;
}

}  // namespace

Result<void> Trainings::open(const std::string& path) {
  const std::vector<std::filesystem::path> found = find_histories(path);
  if (found.empty()) {
    Error error(ErrorCode::NotFound, "here is no history of a training and no checkpoint of a step");
    return error.in_file(path).wanted("training.h5, trainer_state.json, or folders step_N or checkpoint-N", "none");
  }
  opening_ = path;
  for (const std::filesystem::path& one : found) {
    const std::string text = one.string();
    if (const auto known = std::ranges::find(state_.trainings, text, &TrainingEntry::path);
        known != state_.trainings.end()) {
      show();
      continue;
    }
    TrainingEntry entry;
    entry.id = inbox_.next_id();
    entry.path = text;
    entry.reading = true;
    state_.trainings.push_back(std::move(entry));
    read(state_.trainings.back().id, /*again=*/false);
  }
  name_trainings(state_.trainings);
  return {};
}

void Trainings::show() {
  if (state_.view.centre == CentreView::Training) return;
  history_.remember("training");
  state_.view.centre = CentreView::Training;
}

void Trainings::read(int id, bool again) {
  TrainingEntry* entry = state_.edit_training(id);
  entry->reading = true;
  if (!again) inbox_.begin_opening();
  const std::int64_t before = entry->data ? entry->data->modified_ns : 0;
  io_.post([this, id, again, before, path = entry->path, width = state_.view.training.smooth,
            head = address_of(state_.view.training.head)] {
    if (again && history_modified_ns(path) == before) {
      inbox_.post([this, id] {
        if (TrainingEntry* unchanged = state_.edit_training(id)) unchanged->reading = false;
      });
      return;
    }
    Result<StoredHistory> read = [&]() -> Result<StoredHistory> {
      const MutexLock lock(hdf5_);
      prepare_hdf5();
      try {
        return read_history(path, head);
      } catch (const std::bad_alloc&) {
        return Error(ErrorCode::OutOfMemory, "the history does not fit into memory").in_file(path);
      }
    }();
    std::shared_ptr<const SmoothedHistory> smooth;
    if (read) smooth = smoothed(*read, width);
    inbox_.post([this, id, again, read = std::make_shared<Result<StoredHistory>>(std::move(read)), smooth] {
      if (!again) inbox_.end_opening();
      taken(id, again, std::move(*read), smooth);
    });
  });
}

void Trainings::taken(int id, bool again, Result<StoredHistory> read, std::shared_ptr<const SmoothedHistory> smooth) {
  TrainingEntry* entry = state_.edit_training(id);
  if (!entry) return;
  entry->reading = false;
  if (!read) {
    if (again) return;  // it is being written: what was read stays
    const std::string path = entry->path;
    std::erase_if(state_.trainings, [&](const TrainingEntry& one) { return one.id == id; });
    inbox_.card("Cannot open " + opened_title(path), read.error(), "open " + quote_word(path));
    return;
  }
  entry->data = std::make_shared<const StoredHistory>(std::move(*read));
  entry->smoothed = std::move(smooth);
  entry->film = film_of(*entry->data, std::move(entry->film));
  name_trainings(state_.trainings);
  if (again) return;
  entry->chosen = std::ranges::none_of(state_.trainings,
                                       [&](const TrainingEntry& one) { return one.chosen && same_kind(one, *entry); });
  show();
  state_.overlay = Overlay::None;
  const bool all = std::ranges::none_of(state_.trainings, [](const TrainingEntry& one) { return !one.data; });
  if (!all || opening_.empty()) return;
  // One line of the recent files for what was opened at once.
  RecentFile recent;
  recent.path = std::filesystem::absolute(opening_).lexically_normal().string();
  recent.name = opened_title(recent.path);
  const std::size_t count = find_histories(opening_).size();
  recent.detail = count == 1 ? "training of " + entry->name + ", " + grouped_text(entry->data->step) + " steps"
                             : format("%zu trainings", count);
  recent.opened_unix = std::time(nullptr);
  std::error_code ignored;
  if (const auto size = std::filesystem::file_size(opening_, ignored); !ignored) recent.size_bytes = size;
  opening_.clear();
  opened_(recent);
}

void Trainings::remove(int id) {
  const TrainingEntry* found = state_.training(id);
  if (!found) return;
  const TrainingEntry removed = *found;
  std::erase_if(state_.trainings, [&](const TrainingEntry& one) { return one.id == id; });
  name_trainings(state_.trainings);
  if (removed.chosen)
    if (const auto next = std::ranges::find_if(state_.trainings,
                                               [&](const TrainingEntry& entry) { return same_kind(entry, removed); });
        next != state_.trainings.end())
      next->chosen = true;
  if (!state_.trainings.empty()) return;
  state_.training_plays = false;
  if (state_.view.centre == CentreView::Training) state_.view.centre = CentreView::Map;
}

// Once a frame: what is missing of what the training view shows is asked for.
void Trainings::update(double now_s) {
  if (state_.trainings.empty()) return;
  if (now_s >= next_look_s_) {
    next_look_s_ = now_s + kLookAgainSeconds;
    for (const TrainingEntry& entry : state_.trainings)
      if (entry.data && !entry.data->finished && !entry.data->diverged_step && !entry.reading)
        read(entry.id, /*again=*/true);
  }
  if (state_.view.centre != CentreView::Training) {
    state_.training_plays = false;
    stop();
    return;
  }
  const HeadRef head = state_.training_head();
  for (TrainingEntry& entry : state_.trainings) {
    if (!entry.data) continue;
    if (!entry.smoothing && entry.smoothed && entry.smoothed->width != state_.view.training.smooth) smooth(entry);
    const HeadAddress address{head.layer, head.head};
    const StoredHistory& history = *entry.data;
    const bool has = head.layer < history.layers && head.head < history.heads && !history.sink_score.median.empty();
    if (has && !entry.reading && !history.curves.contains(address)) read_head(entry, address);
  }
  play(now_s);
  make_next_film_frame(head.layer);
}

void Trainings::smooth(TrainingEntry& entry) {
  entry.smoothing = true;
  const std::int64_t width = state_.view.training.smooth;
  inbox_.ask(
      io_, [data = entry.data, width] { return smoothed(*data, width); },
      [this, id = entry.id](std::shared_ptr<const SmoothedHistory> made) {
        TrainingEntry* one = state_.edit_training(id);
        if (!one) return;
        one->smoothing = false;
        one->smoothed = std::move(made);
      });
}

void Trainings::read_head(TrainingEntry& entry, HeadAddress head) {
  entry.reading = true;
  inbox_.ask(
      io_,
      [this, data = entry.data, head] {
        const MutexLock lock(hdf5_);
        prepare_hdf5();
        return read_head_curves(*data, head);
      },
      [this, id = entry.id, data = entry.data, head](Result<HeadCurves> curves) {
        TrainingEntry* one = state_.edit_training(id);
        if (!one || one->data != data) return;
        one->reading = false;
        auto with = std::make_shared<StoredHistory>(*data);
        with->curves[head] = curves ? std::move(*curves) : HeadCurves{};
        if (!curves) inbox_.message(MessageLevel::Warning, one->name + ": " + describe(curves.error()));
        one->data = std::move(with);
      });
}

void Trainings::play(double now_s) {
  if (!state_.training_plays || now_s < next_play_s_) return;
  next_play_s_ = now_s + kPlaySeconds;
  const auto next = next_kept_step(state_, state_.training_step(), /*forward=*/true);
  if (!next) {
    state_.training_plays = false;
    return;
  }
  state_.view.training.step = next;
}

// The picture nearest to the cursor first, then from the first checkpoint on.
void Trainings::make_next_film_frame(std::int64_t layer) {
  if (film_running_ || state_.device.loading || !state_.device.failed.empty()) return;
  TrainingEntry* wanted = nullptr;
  std::size_t index = 0;
  const std::int64_t step = state_.training_step();
  std::int64_t best = -1;
  const bool any = std::ranges::any_of(state_.trainings, [&](const TrainingEntry& entry) {
    return entry.chosen && std::ranges::any_of(entry.film, [&](const FilmFrame& frame) { return frame.shows(layer); });
  });
  for (TrainingEntry& entry : state_.trainings) {
    if (!entry.chosen || entry.hidden) continue;
    for (std::size_t i = 0; i < entry.film.size(); ++i) {
      const FilmFrame& frame = entry.film[i];
      if (frame.shows(layer) || !frame.failed.empty()) continue;
      const std::int64_t cost = any ? frame.checkpoint.step : std::abs(frame.checkpoint.step - step);
      if (wanted != nullptr && cost >= best) continue;
      wanted = &entry;
      index = i;
      best = cost;
    }
  }
  if (wanted == nullptr) return;
  FilmRequest request;
  request.frame = wanted->film[index];
  request.layer = layer;
  request.device = state_.settings.device;
  request.dtype = state_.settings.dtype;
  request.backend = state_.settings.backend;
  request.prompt_text = options_.assets / "prompts" / "gpl-3.txt";
  wanted->film[index].running = true;
  film_running_ = true;
  film_stop_ = std::make_shared<std::atomic<bool>>(false);
  const KeptCheckpoint checkpoint = request.frame.checkpoint;
  compute_.give_way();
  inbox_.ask(
      compute_.worker(),
      [this, request = std::move(request), stop = film_stop_] {
        return without_exceptions([&]() -> Result<FilmResult> {
          HEADROOM_TRY(ComputeBackend * backend, compute_.backend());
          return make_film_frame(*backend, request, [stop] { return stop->load(); });
        });
      },
      [this, id = wanted->id, checkpoint](Result<FilmResult> made) {
        film_running_ = false;
        TrainingEntry* entry = state_.edit_training(id);
        if (!entry) return;
        const auto frame =
            std::ranges::find_if(entry->film, [&](const FilmFrame& one) { return one.checkpoint == checkpoint; });
        if (frame == entry->film.end()) return;
        frame->running = false;
        if (made) {
          *frame = std::move(made->frame);
          if (!made->prompt.empty()) state_.film_prompt = made->prompt;
        } else if (made.error().code != ErrorCode::Cancelled) {
          frame->failed = describe(made.error());
          inbox_.message(MessageLevel::Warning,
                         entry->name + ", step " + std::to_string(checkpoint.step) + ": " + frame->failed);
        }
      });
}

void Trainings::stop() {
  if (film_stop_) *film_stop_ = true;
}

std::optional<std::int64_t> next_kept_step(const State& state, std::int64_t step, bool forward) {
  std::optional<std::int64_t> best;
  for (const TrainingEntry& entry : state.trainings) {
    if (!entry.chosen || entry.hidden || !entry.data) continue;
    for (const KeptCheckpoint& kept : entry.data->checkpoints) {
      const bool beyond = forward ? kept.step > step : kept.step < step;
      if (beyond && (!best || (forward ? kept.step < *best : kept.step > *best))) best = kept.step;
    }
  }
  return best;
}

}  // namespace headroom
