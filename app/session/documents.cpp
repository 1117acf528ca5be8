#include "app/session/documents.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "app/session/commands.h"
#include "app/session/demos.h"
#include "app/session/file_manager.h"
#include "app/session/opened_path.h"
#include "app/session/run_names.h"
#include "app/ui/file_list.h"
#include "core/base/format.h"
#include "core/base/number_text.h"
#include "core/io/hdf5_error.h"
#include "core/io/run_file.h"
#include "core/model/capture.h"
#include "core/model/what_if_title.h"
#include "core/run/capture_prompt.h"
#include "core/run/stored_violations.h"
#include "core/text/prompt_ids.h"

namespace headroom {
namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr double kFileCheckSeconds = 2.0;
constexpr std::int64_t kDefaultTokens = 512;
constexpr double kUnaskedOperations = 2e12;  // seconds on any processor

std::string open_line(const std::string& path, const std::string& config) {
  return "open " + quote_word(path) + (config.empty() ? "" : " " + quote_word(config));
}

Result<ModelEntry> read_model(const std::string& path, const std::string& config) {
  ModelEntry entry;
  entry.path = path;
  entry.config = config;
  entry.name = opened_title(path);
  const OpenedPath given = parse_opened_path(path);
  CheckpointOptions choices;
  choices.sequence = given.sequence;
  choices.base = given.base;
  choices.config = config;
  HEADROOM_TRY(OpenedModel opened, open_model(given.path, choices));
  for (const InputFile& file : opened.checkpoint->files()) entry.size_bytes += file.size_bytes();
  auto tokenizer = open_tokenizer(*opened.checkpoint);
  if (opened.spec.capture)
    entry.tokenizer_note = "a capture has the tokens that its model ran on";
  else if (tokenizer)
    entry.tokenizer = std::move(*tokenizer);
  else
    entry.tokenizer_note = tokenizer.error().code == ErrorCode::NotFound
                               ? "the checkpoint has no tokenizer: give token ids"
                               : describe(tokenizer.error());
  if (auto example = opened.checkpoint->read_sibling(kExamplePromptFile))
    entry.example_prompt_ids = std::move(*example);
  entry.layers = layer_facts(opened.spec);
  entry.not_run = set_aside_text(opened.spec, *opened.checkpoint);
  entry.model = std::make_shared<const OpenedModel>(std::move(opened));
  return entry;
}

// A history of a training, by what the file says of itself.
bool is_training_file(const std::string& path) {
  const Result<std::unique_ptr<RunFile>> file = RunFile::open(path);
  if (!file) return false;
  const Result<std::string> schema = (*file)->root_attribute("schema_name");
  return schema && *schema == kTrainingSchemaName;
}

// Histories, and no model of its own.
bool is_folder_of_trainings(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) && !is_model_folder(path) && !find_histories(path).empty();
}

bool changed_on_disk(const InputFile& file) {
  if (file.replaced_on_disk()) return true;
  struct stat now{};
  if (::stat(file.path().c_str(), &now) != 0) return true;
  return static_cast<std::uint64_t>(now.st_size) != file.size_bytes() ||
         now.st_mtim.tv_sec * std::int64_t{1000000000} + now.st_mtim.tv_nsec != file.modified_ns();
}

}  // namespace

Documents::Documents(const SessionParts& parts, Keeping& keeping, Runner& runner)
    : SessionParts(parts),
      keeping_(keeping),
      runner_(runner),
      trainings_(parts, runner.compute(), [this](const RecentFile& file) { keeping_.add_recent(file); }),
      corpora_(parts, runner.corpora()) {
  CorpusRuns::Hooks hooks;
  hooks.add_run = [this](RunEntry run) { return runner_.add_run(std::move(run)); };
  hooks.show_run = [this](int id) { runner_.show_run(id); };
  hooks.opened = [this](const std::string& path) {
    for (const RunEntry& run : state_.runs)
      if (run.path == path && run.corpus) add_recent_file(run);
  };
  hooks.open = [this](const std::string& path) { open(path, {}); };
  runner_.corpora().set_hooks(std::move(hooks));
}

void Documents::open(const std::string& given, const OpenOptions& options) {
  std::string path = given;
  OpenOptions opening = options;
  // An address: model/::L12.H5[37,0]
  if (const std::size_t at = given.rfind("::L"); at != std::string::npos && !std::filesystem::exists(given)) {
    const std::string text = given.substr(at + 2);
    if (const auto place = parse_place(text.find(".H") == std::string::npos ? text + ".H0" : text)) {
      path = given.substr(0, at);
      opening.head = place->head;
      opening.query = place->query, opening.key = place->key;
    }
  }
  for (const ModelEntry& entry : state_.models)
    if (entry.path == path && entry.config == options.config && !entry.changed_on_disk) {
      if (entry.opening) return;
      state_.model = entry.id;
      for (const RunEntry& run : state_.runs)
        if (run.model == entry.id) runner_.show_run(run.id);
      if (opening.head) runner_.set_head(opening.head);
      return;
    }
  if (is_folder_of_trainings(path)) {
    open_training(path);
    return;
  }
  inbox_.begin_opening();
  if (is_hdf5_file(path)) {
    io_.post([this, path, opening] {
      const MutexLock lock(hdf5_);
      prepare_hdf5();
      if (is_ablation_file(path)) {
        inbox_.post([this, path, opening, result = read_ablation(path)]() mutable {
          ablation_opened(path, opening, std::move(result));
        });
        return;
      }
      if (is_corpus_file(path)) {
        inbox_.post([this, path, opening, result = without_exceptions([&] {
                                            return open_corpus_run(path);
                                          })]() mutable { corpus_opened(path, opening, std::move(result)); });
        return;
      }
      if (is_training_file(path)) {
        inbox_.post([this, path] {
          inbox_.end_opening();
          open_training(path);
        });
        return;
      }
      Result<std::shared_ptr<const RunSnapshot>> result = read_run(path);
      inbox_.post([this, path, opening, result = std::move(result)]() mutable {
        run_file_opened(path, opening, std::move(result));
      });
    });
    return;
  }
  ModelEntry placeholder;
  placeholder.id = inbox_.next_id();
  placeholder.path = path;
  placeholder.config = options.config;
  placeholder.name = opened_title(path);
  placeholder.opening = true;
  state_.models.push_back(placeholder);
  name_models_and_runs(state_);
  io_.post([this, path, opening, id = placeholder.id] {
    const double begin_s = steady_seconds();
    Result<ModelEntry> result = read_model(path, opening.config);
    if (options_.trace) options_.trace("open", begin_s, steady_seconds());
    inbox_.post(
        [this, id, opening, result = std::move(result)]() mutable { model_opened(id, opening, std::move(result)); });
  });
}

void Documents::model_opened(int id, const OpenOptions& options, Result<ModelEntry> result) {
  inbox_.end_opening();
  ModelEntry* placeholder = state_.edit_model(id);
  if (!placeholder) return;
  if (!result) {
    const std::string line = open_line(placeholder->path, placeholder->config), name = placeholder->name;
    std::erase_if(state_.models, [&](const ModelEntry& entry) { return entry.id == id; });
    name_models_and_runs(state_);
    inbox_.card("Cannot open " + name, result.error(), line);
    return;
  }
  result->id = id;
  *placeholder = std::move(*result);
  const ModelEntry& model = *placeholder;
  std::erase_if(state_.models, [&](const ModelEntry& entry) {
    return entry.id != id && entry.path == model.path && entry.config == model.config && entry.changed_on_disk;
  });
  name_models_and_runs(state_);
  const ModelEntry& kept = *state_.find_model(id);
  state_.model = id;
  for (const std::string& warning : kept.model->spec.warnings)
    inbox_.message(MessageLevel::Warning, kept.name + ": " + warning);
  for (const std::string& warning : kept.model->checkpoint->warnings())
    inbox_.message(MessageLevel::Warning, kept.name + ": " + warning);
  const ModelSpec& spec = kept.model->spec;
  RecentFile recent;
  recent.path = std::filesystem::absolute(kept.path).lexically_normal().string();
  recent.name = kept.name;
  recent.detail = format("%s, %zu layers × %lld heads, %s", std::string(kept.model->checkpoint->format_name()).c_str(),
                         spec.blocks.size(), static_cast<long long>(spec.num_heads), spec.kinds_text().c_str());
  recent.opened_unix = std::time(nullptr);
  recent.size_bytes = kept.size_bytes;
  keeping_.add_recent(recent);
  state_.prompt = default_prompt(kept);
  ++state_.prompt_serial;
  RunEntry run;
  run.model = id;
  run.status = RunStatus::Waiting;
  run.prompt_title = state_.prompt.title;
  run.prompt_serial = state_.prompt_serial;
  runner_.show_run(runner_.add_run(run));
  state_.view.selection = {};
  state_.view.selection.head = options.head;
  state_.view.selection.query = options.query;
  state_.view.selection.key = options.key;
  if (options.session) {
    take_up(*options.session, kept);
    return;
  }
  if (!options.run) return;
  // A run that takes longer than a person waits is begun by a person.
  double parameters = 0.0;
  for (const TensorInfo& tensor : kept.model->checkpoint->tensors())
    parameters += static_cast<double>(tensor.element_count());
  const auto tokens = static_cast<double>(
      state_.prompt.ids.empty() ? state_.prompt.max_tokens : static_cast<std::int64_t>(state_.prompt.ids.size()));
  if (2.0 * parameters * tokens > kUnaskedOperations) {
    inbox_.message(MessageLevel::Info, kept.name + " is large: choose a prompt and press Run");
    return;
  }
  if (const Result<void> started = runner_.start_run(); !started)
    inbox_.message(MessageLevel::Warning, describe(started.error()));
}

void Documents::run_file_opened(const std::string& path, const OpenOptions& options,
                                Result<std::shared_ptr<const RunSnapshot>> result) {
  inbox_.end_opening();
  if (!result) {
    inbox_.card("Cannot open " + opened_title(path), result.error(), "open " + quote_word(path));
    return;
  }
  RunEntry run;
  run.path = path;
  run.data = *result;
  show_file_run(std::move(run), options);
}

void Documents::corpus_opened(const std::string& path, const OpenOptions& options, Result<OpenedCorpusRun> result) {
  inbox_.end_opening();
  if (!result) {
    inbox_.card("Cannot open " + opened_title(path), result.error(), "open " + quote_word(path));
    return;
  }
  RunEntry run;
  run.path = path;
  run.corpus = std::move(result->corpus);
  run.data = std::move(result->run);
  if (const std::string missing = run.corpus.file->attribute("sequences_missing"); !missing.empty())
    inbox_.message(MessageLevel::Warning, opened_title(path) + " is partial: sequences " + missing + " are missing");
  for (const std::string& violation : run.corpus.file->violations)
    inbox_.message(MessageLevel::Error, opened_title(path) + ": self-check: " + violation);
  show_file_run(std::move(run), options);
  state_.view.centre = CentreView::Map;
  state_.overlay = Overlay::None;
  if (!options.session) return;
  const SavedSession& saved = *options.session;
  const Selection selection = state_.view.selection;
  const int id = state_.view.run;
  state_.view = saved.view;
  state_.view.run = id;
  state_.view.centre = CentreView::Map;
  const RunSnapshot* data = state_.data();
  const auto& head = saved.view.selection.head;
  if (!head || !place_of(data->layers, data->heads, *head)) state_.view.selection = selection;
  const auto& sequence = state_.view.corpus.sequence;
  if (sequence && !state_.corpus()->file->find(*sequence)) state_.view.corpus.sequence.reset();
}

// Its numbers are loss changes: it is shown where they are.
void Documents::ablation_opened(const std::string& path, const OpenOptions& options, Result<OpenedAblation> result) {
  inbox_.end_opening();
  if (!result) {
    inbox_.card("Cannot open " + opened_title(path), result.error(), "open " + quote_word(path));
    return;
  }
  const auto way = std::ranges::find(kAblationWays, result->table.mode.change,
                                     [](AblationWay one) { return std::string(way_info(one).change); });
  if (way == kAblationWays.end()) {
    Error error(ErrorCode::Unsupported, "the window shows no loss changes of this kind");
    error.wanted("head=off, head=mean, hide-key=0 or second-map=off", result->table.mode.change).in_file(path);
    inbox_.card("Cannot open " + opened_title(path), error);
    return;
  }
  RunEntry run;
  run.path = path;
  LossSweep sweep;
  const LossTable& table = result->table;
  if (table.sequences > 0) run.prompt_title = grouped_text(static_cast<std::int64_t>(table.sequences)) + " sequences";
  sweep.status = table.done == table.asked ? SweepStatus::Done : SweepStatus::Stopped;
  sweep.fraction = table.asked > 0 ? static_cast<double>(table.done) / static_cast<double>(table.asked) : 1.0;
  sweep.seconds = result->run->seconds;
  sweep.of_file = true;
  sweep.table = std::make_shared<const LossTable>(std::move(result->table));
  run.sweeps[static_cast<std::size_t>(*way)] = std::move(sweep);
  run.data = with_loss_changes(*result->run, run.sweeps);
  if (const std::size_t sets = result->sets.size() + result->removed.size(); sets > 0)
    inbox_.message(MessageLevel::Info,
                   opened_title(path) + format(": %zu sets of heads in it are shown by its figure alone", sets));
  show_file_run(std::move(run), options);
  state_.view.centre = CentreView::Importance;
  state_.view.importance.colour = *way;
}

void Documents::show_file_run(RunEntry run, const OpenOptions& options) {
  run.status = RunStatus::Done;
  run.fraction = 1.0;
  const auto attribute = [&](const char* name) {
    const auto found = run.data->attributes.find(name);
    return found == run.data->attributes.end() ? std::string() : found->second;
  };
  run.device = attribute("device");
  run.dtype = attribute("dtype_compute");
  run.backend = attribute("backend");
  run.what_ifs = run.data->what_ifs;
  for (const std::string& violation : violations_in(attribute(kSelfCheckAttribute)))
    inbox_.message(MessageLevel::Error, opened_title(run.path) + ": self-check: " + violation);
  std::string beginning;
  const std::string* text = nullptr;
  for (std::int64_t i = 0; beginning.size() < 100 && (text = axis_text(*run.data, TokenAxis::Tokens, i)); ++i)
    beginning += *text;
  if (run.prompt_title.empty()) run.prompt_title = text_title(beginning);
  run.seconds = run.data->seconds;
  if (run.corpus) run.prompt_title = corpus_size_text(*run.corpus.file);
  add_recent_file(run);
  runner_.show_run(runner_.add_run(std::move(run)));
  if (options.head) runner_.set_head(options.head);
}

void Documents::add_recent_file(const RunEntry& run) {
  RecentFile recent;
  recent.path = std::filesystem::absolute(run.path).lexically_normal().string();
  recent.name = std::filesystem::path(run.path).filename().string();
  const bool swept = std::ranges::any_of(run.sweeps, [](const auto& sweep) { return sweep.has_value(); });
  const bool series = run.corpus && !run.corpus.file->steps.empty();
  recent.detail =
      format("%s of %s%s, %lld tokens",
             series       ? "series of corpora"
             : run.corpus ? "corpus"
             : swept      ? "loss changes"
                          : "run",
             run.data->model_name.c_str(), run.what_ifs.empty() ? "" : (" · " + what_ifs_title(run.what_ifs)).c_str(),
             static_cast<long long>(run.data->length));
  recent.opened_unix = std::time(nullptr);
  std::error_code ignored;
  recent.size_bytes = std::filesystem::file_size(run.path, ignored);
  keeping_.add_recent(recent);
}

PromptEntry Documents::default_prompt(const ModelEntry& model) const {
  PromptEntry prompt;
  if (model.model->spec.capture) {
    prompt.title = "the capture's own tokens";
    prompt.ids = capture_prompt(*model.model->spec.capture).ids;
    return prompt;
  }
  if (!model.example_prompt_ids.empty()) {
    const auto ids = parse_ids(model.example_prompt_ids);
    if (ids) {
      prompt.title = "the checkpoint's example";
      prompt.ids = *ids;
      return prompt;
    }
  }
  if (model.tokenizer) {
    const auto text = read_text_file(options_.assets / "prompts" / "gpl-3.txt", kLargestPrompt);
    if (text) {
      prompt.title = "GPL-3";
      prompt.text = *text;
      prompt.max_tokens = kDefaultTokens;
      if (const std::int64_t most = model.model->spec.max_positions; most > 0)
        prompt.max_tokens = std::min(prompt.max_tokens, most);
    }
    return prompt;
  }
  prompt.title = "ids 0 … 63";
  const std::int64_t count = std::min<std::int64_t>(64, model.model->spec.vocab_size);
  for (std::int64_t id = 0; id < count; ++id) prompt.ids.push_back(static_cast<std::int32_t>(id));
  return prompt;
}

void Documents::show_file(const std::string& path) {
  inbox_.ask(
      io_, [path] { return show_in_file_manager(desktop_of_environment(), path); },
      [this](const Result<void>& shown) {
        if (!shown) inbox_.message(MessageLevel::Warning, describe(shown.error()));
      });
}

void Documents::close_shown() {
  if (state_.view.centre == CentreView::Training) {
    const std::vector<TrainingEntry> open = state_.trainings;
    for (const TrainingEntry& entry : open) remove_training(entry.id);
    return;
  }
  const RunEntry* shown = state_.shown();
  if (!shown) return;
  const int model = shown->model, id = shown->id;
  const auto belongs = [&](const RunEntry& run) { return run.id == id || (model >= 0 && run.model == model); };
  for (const RunEntry& run : state_.runs)
    if (belongs(run)) runner_.forget(run.id);
  std::erase_if(state_.runs, belongs);
  std::erase_if(state_.models, [&](const ModelEntry& entry) { return entry.id == model; });
  history_.clear();
  state_.coming = -1;
  state_.view.centre = CentreView::Map;
  state_.view.other_run = -1;
  state_.view.what_if = {};
  state_.view.selection = {};
  state_.view.run = -1;
  const auto opened = std::ranges::find_if(state_.models.rbegin(), state_.models.rend(),
                                           [](const ModelEntry& entry) { return entry.model != nullptr; });
  state_.model = opened == state_.models.rend() ? -1 : opened->id;
  name_models_and_runs(state_);
  if (!state_.runs.empty()) runner_.show_run(state_.runs.back().id);
  if (state_.runs.empty() && state_.models.empty() && !state_.trainings.empty())
    state_.view.centre = CentreView::Training;
  if (state_.nothing_open()) refresh_start_page();
}

void Documents::refresh_start_page() {
  using Looked = std::pair<std::vector<RecentFile>, std::vector<DemoEntry>>;
  inbox_.ask(
      io_,
      [recent = state_.recent, assets = options_.assets]() mutable -> Looked {
        std::error_code ignored;
        for (RecentFile& file : recent)
          file.missing = !std::filesystem::exists(parse_opened_path(file.path).path, ignored);
        return {std::move(recent), find_demos(assets)};
      },
      [this](Looked found) {
        for (RecentFile& file : state_.recent)
          for (const RecentFile& looked : found.first)
            if (looked.path == file.path) file.missing = looked.missing;
        state_.demos = std::move(found.second);
      });
}

void Documents::open_training(const std::string& path) {
  if (const Result<void> opened = trainings_.open(path); !opened)
    inbox_.card("Cannot open " + opened_title(path), opened.error());
}

void Documents::remove_training(int id) {
  trainings_.remove(id);
  if (state_.nothing_open()) refresh_start_page();
}

void Documents::set_prompt(PromptEntry prompt) {
  state_.prompt = std::move(prompt);
  ++state_.prompt_serial;
  // What has run stays as it is, and shown.
  RunEntry* waiting = state_.edit_run(state_.view.run);
  if (!waiting || waiting->status != RunStatus::Waiting || waiting->model < 0) return;
  waiting->prompt_title = state_.prompt.title;
  waiting->prompt_serial = state_.prompt_serial;
  name_models_and_runs(state_);
  waiting->refused = false;
  waiting->budget.reset();
  waiting->offers.clear();
}

// The open checkpoints' files, now and then: what changed on disk is said, and the old view stays.
void Documents::update(double now_s) {
  if (now_s < next_file_check_s_) return;
  next_file_check_s_ = now_s + kFileCheckSeconds;
  for (const ModelEntry& entry : state_.models) {
    if (!entry.model || entry.changed_on_disk || entry.opening) continue;
    io_.post([this, id = entry.id, checkpoint = entry.model->checkpoint] {
      if (std::ranges::none_of(checkpoint->files(), changed_on_disk)) return;
      inbox_.post([this, id] {
        ModelEntry* model = state_.edit_model(id);
        if (!model || model->changed_on_disk) return;
        model->changed_on_disk = true;
        inbox_.message(MessageLevel::Warning,
                       model->name + " changed on disk; what is shown is from before. Reload opens it again.");
      });
    });
  }
}

}  // namespace headroom
