#include "core/training/stored_history.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "core/base/input_file.h"
#include "core/io/run_file.h"
#include "core/training/head_array.h"
#include "core/training/recipe.h"
#include "core/training/state_file.h"
#include "core/training/trainer_state.h"
#include "core/training/training.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostEntries = 4096;   // of a folder that are looked at
constexpr std::size_t kMostHistories = 256;  // of a folder of folders
constexpr std::uint64_t kLargestState = std::uint64_t{256} << 20;

// "step_000100", "checkpoint-500".
std::optional<std::int64_t> step_of_name(std::string_view name) {
  for (const std::string_view beginning : {"step_", "checkpoint-"}) {
    if (!name.starts_with(beginning)) continue;
    const std::string_view digits = name.substr(beginning.size());
    std::int64_t step = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), step);
    if (read.ec == std::errc() && read.ptr == digits.data() + digits.size() && step >= 0) return step;
  }
  return {};
}

std::vector<fs::path> subfolders(const fs::path& folder) {
  std::vector<fs::path> result;
  std::error_code error;
  fs::directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (std::size_t looked = 0; !error && at != fs::directory_iterator() && looked < kMostEntries; ++looked) {
    std::error_code ignored;
    if (at->is_directory(ignored)) result.push_back(at->path());
    at.increment(error);
  }
  return result;
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::vector<KeptCheckpoint> step_checkpoints(const fs::path& folder) {
  std::vector<KeptCheckpoint> result;
  for (const fs::path& one : subfolders(folder))
    if (const auto step = step_of_name(one.filename().string()); step && is_there(one / "config.json"))
      result.push_back({*step, one});
  std::ranges::sort(result, {}, &KeptCheckpoint::step);
  return result;
}

// What holds the numbers of a folder.
struct Source {
  HistoryForm form = HistoryForm::Checkpoints;
  fs::path file, folder;
  std::vector<KeptCheckpoint> checkpoints;
};

std::optional<Source> source_of(const fs::path& path) {
  Source source;
  std::error_code ignored;
  const bool folder = fs::is_directory(path, ignored);
  source.folder = folder ? path : path.parent_path();
  const fs::path name = folder ? fs::path() : path.filename();
  const auto is = [&](HistoryForm form, fs::path file) {
    source.form = form;
    source.file = std::move(file);
    source.checkpoints = step_checkpoints(source.folder.empty() ? fs::path(".") : source.folder);
    return source;
  };
  if (!folder && name != kHistoryFile && name != kStateFile && name != kTrainerStateFile)
    return is_there(path) ? std::optional(is(HistoryForm::File, path)) : std::nullopt;
  // A state is there while the training goes on; training.h5 is of an earlier end then.
  if (is_there(source.folder / kStateFile)) return is(HistoryForm::State, source.folder / kStateFile);
  if (is_there(source.folder / kHistoryFile)) return is(HistoryForm::File, source.folder / kHistoryFile);
  if (is_there(source.folder / kTrainerStateFile)) return is(HistoryForm::Trainer, source.folder / kTrainerStateFile);
  source.checkpoints = step_checkpoints(source.folder);
  if (source.checkpoints.empty()) return {};
  for (auto kept = source.checkpoints.rbegin(); kept != source.checkpoints.rend(); ++kept)
    if (is_there(kept->folder / kTrainerStateFile)) {
      source.form = HistoryForm::Trainer;
      source.file = kept->folder / kTrainerStateFile;
      return source;
    }
  source.file = source.folder;
  return source;
}

std::vector<std::int64_t> whole_numbers(const std::vector<double>& values) {
  std::vector<std::int64_t> result;
  result.reserve(values.size());
  for (const double value : values) result.push_back(static_cast<std::int64_t>(value));
  return result;
}

std::vector<float> floats(const std::vector<double>& values) { return {values.begin(), values.end()}; }

std::optional<std::int64_t> whole_attribute(const RunFile& file, const char* name) {
  const Result<std::string> text = file.root_attribute(name);
  std::int64_t value = 0;
  if (!text) return {};
  const auto read = std::from_chars(text->data(), text->data() + text->size(), value);
  return read.ec == std::errc() ? std::optional(value) : std::nullopt;
}

std::string text_attribute(const RunFile& file, const char* name) {
  const Result<std::string> text = file.root_attribute(name);
  return text ? *text : std::string();
}

// What the recipe says that the numbers do not.
void read_settings(const std::string& recipe, StoredHistory& history) {
  const nlohmann::json whole = nlohmann::json::parse(recipe, nullptr, /*allow_exceptions=*/false);
  if (!whole.is_object()) return;
  const nlohmann::json definition = training_definition(whole, history.kind);
  const auto training = definition.is_object() ? definition.find("training") : definition.end();
  if (!definition.is_object() || training == definition.end() || !training->is_object()) return;
  const auto number = [&](const char* name) {
    const auto found = training->find(name);
    return found != training->end() && found->is_number() ? found->get<double>() : 0.0;
  };
  history.gradient_clip = number("gradient_clip");
  history.planned_steps = static_cast<std::int64_t>(number("steps"));
}

Result<void> read_file(StoredHistory& history, std::optional<HeadAddress> head) {
  HEADROOM_TRY(const std::shared_ptr<RunFile> file, RunFile::open(history.path));
  if (text_attribute(*file, "schema_name") != kTrainingSchemaName) {
    Error error(ErrorCode::Unsupported, "this is no history of a training");
    return error.in_file(history.path.string())
        .wanted("schema_name " + std::string(kTrainingSchemaName), text_attribute(*file, "schema_name"));
  }
  history.kind = text_attribute(*file, "variant");
  history.recipe_sha256 = text_attribute(*file, "recipe_sha256");
  history.seed = whole_attribute(*file, "seed");
  const std::string title = text_attribute(*file, "title");  // "Training of backcopy, softmax"
  constexpr std::string_view kTitle = "Training of ";
  if (title.starts_with(kTitle)) history.recipe = title.substr(kTitle.size(), title.find(", ") - kTitle.size());
  read_settings(text_attribute(*file, "recipe"), history);
  history.step = whole_attribute(*file, "step").value_or(0);
  history.finished = whole_attribute(*file, "finished").value_or(0) == 1;
  if (const auto diverged = whole_attribute(*file, "diverged_step"); diverged && *diverged >= 0)
    history.diverged_step = diverged;
  history.loss_spikes = whole_attribute(*file, "loss_spikes");
  history.gradient_norm_spikes = whole_attribute(*file, "gradient_norm_spikes");
  if (const std::string text = text_attribute(*file, "gradient_norm_max_over_median"); !text.empty())
    if (const double ratio = std::strtod(text.c_str(), nullptr); std::isfinite(ratio))
      history.gradient_norm_max_over_median = ratio;
  const auto series = [&](const char* name, const char* axis, StepSeries& into) -> Result<void> {
    const DatasetInfo* info = file->find(name);
    if (!info || info->shape.size() != 1) return {};
    HEADROOM_TRY(const std::vector<double> values, file->read(name));
    if (axis == nullptr) {
      into = StepSeries(floats(values));
      return {};
    }
    HEADROOM_TRY(const std::vector<double> steps, file->read_axis(axis));
    into = StepSeries(whole_numbers(steps), floats(values));
    return {};
  };
  HEADROOM_TRY_VOID(series("loss", nullptr, history.loss));
  HEADROOM_TRY_VOID(series("gradient_norm", nullptr, history.gradient_norm));
  HEADROOM_TRY_VOID(series("learning_rate", nullptr, history.learning_rate));
  HEADROOM_TRY_VOID(series("validation_loss", "validation_step", history.validation_loss));
  if (const DatasetInfo* loss = file->find("loss")) history.loss_unit = loss->units;
  HEADROOM_TRY(HeadArrays arrays, head_arrays_of(file));
  return read_heads(arrays, history, head);
}

Result<void> read_state(StoredHistory& history, std::optional<HeadAddress> head) {
  HEADROOM_TRY(StateFile opened, StateFile::open(history.path));
  const auto file = std::make_shared<const StateFile>(std::move(opened));
  const auto whole = [&](const char* name) {
    const std::string text = file->text(name);
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  history.kind = file->text("variant");
  history.recipe = file->text("recipe");
  if (!file->text("seed").empty()) history.seed = whole("seed");
  history.step = whole("step");
  history.planned_steps = whole("steps");
  history.loss_unit = file->text("loss_unit");
  if (const std::string clip = file->text("gradient_clip"); !clip.empty())
    history.gradient_clip = std::strtod(clip.c_str(), nullptr);
  HEADROOM_TRY(const std::vector<double> loss, state_array(*file, "loss"));
  HEADROOM_TRY(const std::vector<double> norm, state_array(*file, "gradient_norm"));
  HEADROOM_TRY(const std::vector<double> rate, state_array(*file, "learning_rate"));
  HEADROOM_TRY(const std::vector<double> validated, state_array(*file, "validation_step"));
  HEADROOM_TRY(const std::vector<double> validation, state_array(*file, "validation_loss"));
  history.loss = StepSeries(floats(loss));
  history.gradient_norm = StepSeries(floats(norm));
  history.learning_rate = StepSeries(floats(rate));
  history.validation_loss = StepSeries(whole_numbers(validated), floats(validation));
  HEADROOM_TRY(HeadArrays arrays, head_arrays_of(file, whole("layers"), whole("heads")));
  return read_heads(arrays, history, head);
}

// Layers and heads as a config says them.
void read_shape(const fs::path& folder, StoredHistory& history) {
  const Result<std::string> text = read_text_file(folder / "config.json", 1 << 20);
  const nlohmann::json config = text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
  if (!config.is_object()) return;
  const auto whole = [&](std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (const auto found = config.find(name); found != config.end() && found->is_number_integer())
        return found->get<std::int64_t>();
    return std::int64_t{0};
  };
  history.layers = whole({"num_hidden_layers", "n_layer", "num_layers"});
  history.heads = whole({"num_attention_heads", "n_head", "num_heads"});
}

Result<void> read_trainer(StoredHistory& history) {
  HEADROOM_TRY(const std::string text, read_text_file(history.path, kLargestState));
  if (Result<void> read = read_trainer_state(text, history); !read) return read.error().in_file(history.path.string());
  return {};
}

std::string folder_name(const fs::path& folder) {
  std::error_code ignored;
  const fs::path whole = fs::absolute(folder, ignored).lexically_normal();
  const fs::path name = whole.has_filename() ? whole.filename() : whole.parent_path().filename();
  return name.string();
}

}  // namespace

bool same_recipe(const StoredHistory& a, const StoredHistory& b) {
  const bool hashed = !a.recipe_sha256.empty() && !b.recipe_sha256.empty();
  return hashed ? a.recipe_sha256 == b.recipe_sha256 : a.recipe == b.recipe;
}

bool same_kind(const StoredHistory& a, const StoredHistory& b) { return a.kind == b.kind && same_recipe(a, b); }

std::int64_t StoredHistory::last_step() const {
  std::int64_t last = std::max({loss.last_step(), validation_loss.last_step(), sink_score.median.last_step()});
  if (loss.empty()) last = std::max(last, step);
  return std::max(last, checkpoints.empty() ? 0 : checkpoints.back().step);
}

std::vector<fs::path> find_histories(const fs::path& path) {
  std::error_code ignored;
  if (source_of(path)) return {path};
  if (!fs::is_directory(path, ignored)) return {};
  std::vector<fs::path> found;
  for (const fs::path& one : subfolders(path))
    if (found.size() < kMostHistories && source_of(one)) found.push_back(one);
  // "seed2" before "seed10".
  const auto key = [](const fs::path& one) {
    const std::string name = one.filename().string();
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;
    return std::pair(name.substr(0, digits), std::pair(name.size() - digits, name));
  };
  std::ranges::sort(found, {}, key);
  return found;
}

Result<StoredHistory> read_history(const fs::path& path, std::optional<HeadAddress> head) {
  const std::optional<Source> source = source_of(path);
  if (!source) {
    if (!is_there(path)) return path_error(path, ENOENT);
    Error error(ErrorCode::NotFound, "here is no history of a training and no checkpoint of a step");
    return error.in_file(path.string())
        .wanted("training.h5, trainer_state.json, or folders step_N or checkpoint-N", "none of them");
  }
  StoredHistory history;
  history.path = source->file;
  history.folder = source->folder;
  history.form = source->form;
  history.checkpoints = source->checkpoints;
  history.modified_ns = history_modified_ns(path);
  switch (source->form) {
    case HistoryForm::File: HEADROOM_TRY_VOID(read_file(history, head)); break;
    case HistoryForm::State: HEADROOM_TRY_VOID(read_state(history, head)); break;
    case HistoryForm::Trainer: HEADROOM_TRY_VOID(read_trainer(history)); break;
    case HistoryForm::Checkpoints: break;
  }
  // The model at the end lies in the folder itself.
  if (history.form == HistoryForm::Checkpoints) {
    history.step = history.checkpoints.back().step;
  } else if (history.form != HistoryForm::State && is_there(history.folder / "config.json") &&
             !std::ranges::count(history.checkpoints, history.step, &KeptCheckpoint::step) &&
             (history.checkpoints.empty() || history.checkpoints.back().step < history.step)) {
    history.checkpoints.push_back({history.step, history.folder});
  }
  if (history.kind.empty()) history.kind = folder_name(history.folder);
  if (history.layers == 0 && !history.checkpoints.empty()) read_shape(history.checkpoints.front().folder, history);
  return history;
}

Result<HeadCurves> read_head_curves(const StoredHistory& history, HeadAddress head) {
  if (head.first < 0 || head.first >= history.layers || head.second < 0 || head.second >= history.heads)
    return Error(ErrorCode::InvalidArgument, "the history has no such head")
        .in_file(history.path.string())
        .wanted(std::to_string(history.layers) + " layers of " + std::to_string(history.heads) + " heads",
                "L" + std::to_string(head.first) + ".H" + std::to_string(head.second));
  if (history.form == HistoryForm::File) {
    HEADROOM_TRY(const std::shared_ptr<RunFile> file, RunFile::open(history.path));
    HEADROOM_TRY(HeadArrays arrays, head_arrays_of(file));
    return curves_of(arrays, head);
  }
  if (history.form == HistoryForm::State) {
    HEADROOM_TRY(StateFile file, StateFile::open(history.path));
    HEADROOM_TRY(HeadArrays arrays,
                 head_arrays_of(std::make_shared<const StateFile>(std::move(file)), history.layers, history.heads));
    return curves_of(arrays, head);
  }
  return HeadCurves{};
}

std::int64_t history_modified_ns(const fs::path& path) {
  const std::optional<Source> source = source_of(path);
  if (!source) return 0;
  std::error_code error;
  const auto written = fs::last_write_time(source->file, error);
  std::int64_t latest = error ? 0 : static_cast<std::int64_t>(written.time_since_epoch().count());
  // A checkpoint more changes the folder and not the file.
  const auto kept = fs::last_write_time(source->folder.empty() ? fs::path(".") : source->folder, error);
  if (!error) latest = std::max(latest, static_cast<std::int64_t>(kept.time_since_epoch().count()));
  return latest;
}

}  // namespace headroom
