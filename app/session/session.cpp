#include "app/session/session.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

#include "app/session/default_head.h"
#include "app/session/run_names.h"
#include "core/base/format.h"

namespace headroom {
namespace {

constexpr std::size_t kMostUndo = 200;
constexpr std::size_t kMostMessages = 500;
constexpr double kSameViewSeconds = 0.5;
constexpr double kFileCheckSeconds = 2.0;
constexpr int kComputeNice = 15, kTileNice = 5;

std::string local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[16];
  std::strftime(text, sizeof text, "%H:%M:%S", &local);
  return text;
}

bool changed_on_disk(const InputFile& file) {
  if (file.replaced_on_disk()) return true;
  struct stat now{};
  if (::stat(file.path().c_str(), &now) != 0) return true;
  return static_cast<std::uint64_t>(now.st_size) != file.size_bytes() ||
         now.st_mtim.tv_sec * std::int64_t{1000000000} + now.st_mtim.tv_nsec != file.modified_ns();
}

}  // namespace

Session::Session(Options options) : options_(std::move(options)), commands_(make_command_table()) {
  const LoadedState loaded = options_.config.empty() ? LoadedState{} : load_settings(options_.config);
  state_.settings = loaded.kept.settings;
  state_.layout = loaded.kept.layout;
  state_.recent = loaded.kept.recent;
  state_.recent_prompts = loaded.kept.recent_prompts;
  state_.no_file_manager = options_.no_file_manager;
  if (!loaded.kept.heads.quantity.empty()) state_.view.heads = loaded.kept.heads;
  state_.save_folders = loaded.kept.save_folders;
  window_size_ = {loaded.kept.window_width, loaded.kept.window_height};
  if (!loaded.note.empty()) message(MessageLevel::Warning, loaded.note);
  main_ = std::make_unique<MainQueue>(options_.wake);
  tiles_ = std::make_unique<TileStore>(static_cast<std::size_t>(state_.settings.tile_mb * 1048576.0), 1, options_.wake,
                                       [] { become_background_thread("tiles", kTileNice); });
  if (options_.trace) tiles_->set_trace(options_.trace);
  io_ = std::make_unique<Worker>([] { become_background_thread("files", 0); });
  compute_ = std::make_unique<Worker>([] { become_background_thread("compute", kComputeNice); });
  begin_keeping();
}

Session::~Session() {
  for (const auto& [id, stop] : stops_) *stop = true;
  stop_weights();
  if (film_stop_) *film_stop_ = true;
  compute_.reset();
  io_.reset();
}

Result<void> Session::execute(std::string_view line) {
  HEADROOM_TRY(const std::vector<std::string> words, split_command_line(line));
  if (words.empty()) return {};
  const Command* command = commands_.find(words.front());
  if (!command) {
    Error error(ErrorCode::InvalidArgument, "no such command: " + words.front());
    return error.advise("headroom --commands lists them");
  }
  HEADROOM_TRY(const Arguments arguments, command->arguments.read(command->name, std::span(words).subspan(1)));
  if (const std::string reason = command->disabled(state_, arguments); !reason.empty())
    return Error(ErrorCode::InvalidArgument, command->name + ": " + reason);
  return command->run(*this, arguments);
}

void Session::run_line(std::string_view line) {
  if (options_.note) options_.note(line);
  person_asks_ = true;
  const Result<void> result = execute(line);
  person_asks_ = false;
  if (!result) message(MessageLevel::Warning, describe(result.error()));
}

bool Session::update(double now_s) {
  now_s_ = now_s;
  bool changed = main_->run();
  changed = tiles_->collect() || changed;
  check_files(now_s);
  tend_trainings(now_s);
  keep_session(now_s);
  refresh_estimate();
  refresh_token_effect();
  state_.can_undo = !undo_.empty();
  state_.can_redo = !redo_.empty();
  state_.memory_bytes = resident_bytes();
  return changed;
}

bool Session::busy() const { return pending_ > 0; }

std::vector<WindowRequest> Session::take_window_requests() { return std::exchange(window_requests_, {}); }

void Session::message(MessageLevel level, std::string text) {
  if (level == MessageLevel::Warning) ++state_.unseen_warnings;
  if (level == MessageLevel::Error) ++state_.unseen_errors;
  state_.messages.push_back({level, std::move(text), local_time()});
  if (state_.messages.size() > kMostMessages) state_.messages.erase(state_.messages.begin());
}

void Session::card(std::string title, const Error& error, std::string retry) {
  message(MessageLevel::Error, title + ": " + describe(error));
  state_.errors.push_back({next_id_++, std::move(title), error, std::move(retry), stays_open()});
}

std::string Session::stays_open() const {
  const RunEntry* shown = state_.shown();
  if (!shown) return state_.models.empty() ? "" : "What was open stays open; nothing was lost.";
  return shown->name + " stays open; nothing was lost.";
}

void Session::remember_view(std::string_view kind) {
  const bool same = kind == last_view_kind_ && now_s_ - last_view_s_ < kSameViewSeconds;
  last_view_kind_ = kind;
  last_view_s_ = now_s_;
  redo_.clear();
  if (same && !undo_.empty()) return;
  undo_.push_back(state_.view);
  if (undo_.size() > kMostUndo) undo_.erase(undo_.begin());
}

void Session::undo() {
  if (undo_.empty()) return;
  redo_.push_back(std::exchange(state_.view, undo_.back()));
  undo_.pop_back();
  last_view_kind_.clear();
}

void Session::redo() {
  if (redo_.empty()) return;
  undo_.push_back(std::exchange(state_.view, redo_.back()));
  redo_.pop_back();
  last_view_kind_.clear();
}

void Session::save_settings() {
  if (options_.config.empty()) return;
  const KeptState kept{state_.settings,   state_.layout,       state_.recent,  state_.recent_prompts,
                       state_.view.heads, state_.save_folders, window_size_.x, window_size_.y};
  ++pending_;
  io_->post([this, kept, folder = options_.config] {
    const Result<void> saved = headroom::save_settings(folder, kept);
    main_->post([this, saved] {
      --pending_;
      if (!saved) message(MessageLevel::Warning, "the settings could not be saved: " + describe(saved.error()));
    });
  });
}

void Session::finish_files() {
  while (!io_->idle()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void Session::in_background(std::function<void()> work, std::function<void()> then) {
  ++pending_;
  io_->post([this, work = std::move(work), then = std::move(then)] {
    work();
    main_->post([this, then] {
      --pending_;
      then();
    });
  });
}

void Session::add_recent(const RecentFile& file) {
  std::erase_if(state_.recent, [&](const RecentFile& other) { return other.path == file.path; });
  state_.recent.insert(state_.recent.begin(), file);
  if (state_.recent.size() > 20) state_.recent.resize(20);
  save_settings();
}

void Session::load_compute_library() {
  ++pending_;
  compute_->post([this] {
    Result<ComputeBackend*> backend = load_compute();
    BackendInfo info;
    if (backend) {
      backend_ = *backend;
      info = backend_->info();
    }
    main_->post([this, backend, info] {
      --pending_;
      state_.device.loading = false;
      if (backend)
        state_.device.info = info;
      else {
        state_.device.failed = describe(backend.error());
        card("LibTorch could not be loaded", backend.error(), "");
      }
    });
  });
}

int Session::add_run(RunEntry entry) {
  entry.id = next_id_++;
  state_.runs.push_back(std::move(entry));
  name_models_and_runs(state_);
  return state_.runs.back().id;
}

RunEntry* Session::edit_run(int id) {
  for (RunEntry& entry : state_.runs)
    if (entry.id == id) return &entry;
  return nullptr;
}

ModelEntry* Session::edit_model(int id) {
  for (ModelEntry& entry : state_.models)
    if (entry.id == id) return &entry;
  return nullptr;
}

void Session::show_run(int id) {
  state_.view.run = id;
  if (state_.view.centre == CentreView::Training) state_.view.centre = CentreView::Map;
  const RunEntry* shown = state_.shown();
  if (!shown) return;
  if (state_.find_model(shown->model)) state_.model = shown->model;
  if (state_.view.other_run == id) state_.view.other_run = -1;
  select_default_head();
}

void Session::set_head(std::optional<HeadRef> head) {
  if (head == state_.view.selection.head) return;
  remember_view("select");
  state_.view.selection.head = head;
  const LayerSnapshot* layer = state_.selected_layer();
  if (!layer || !head) return;
  // A map that the new head lacks gives way to the net map.
  const std::int64_t index = layer->head_index(head->head);
  if (index < 0) return;
  const HeadProgram& program = layer->programs[static_cast<std::size_t>(index)];
  const MapKind kind = state_.view.map.kind;
  const bool second = kind == MapKind::Second || kind == MapKind::ScaledSecond;
  if ((second && !program.has_second()) || (kind == MapKind::First && !program.has_second()))
    state_.view.map.kind = MapKind::Net;
  if (state_.view.centre == CentreView::WhatIf && !state_.view.what_if.changes.empty())
    if (const Result<void> started = start_what_if(false); !started)
      message(MessageLevel::Warning, describe(started.error()));
}

// What is selected stays while it fits; else the head that is seen first.
void Session::select_default_head() {
  const RunSnapshot* data = state_.data();
  if (!data || data->layers.empty() || data->heads.empty()) return;
  Selection& selection = state_.view.selection;
  if (selection.head && std::ranges::count(data->layers, selection.head->layer) &&
      std::ranges::count(data->heads, selection.head->head)) {
    if (selection.query && *selection.query >= data->length) selection.query.reset();
    if (selection.key && *selection.key >= data->length) selection.key.reset();
    return;
  }
  selection = {};
  selection.head = default_head(*data).value_or(HeadRef{data->layers.front(), data->heads.front()});
}

// The open checkpoints' files, now and then: what changed on disk is said, and the old view stays.
void Session::check_files(double now_s) {
  if (now_s < next_file_check_s_) return;
  next_file_check_s_ = now_s + kFileCheckSeconds;
  for (const ModelEntry& entry : state_.models) {
    if (!entry.model || entry.changed_on_disk || entry.opening) continue;
    io_->post([this, id = entry.id, checkpoint = entry.model->checkpoint] {
      if (std::ranges::none_of(checkpoint->files(), changed_on_disk)) return;
      main_->post([this, id] {
        ModelEntry* model = edit_model(id);
        if (!model || model->changed_on_disk) return;
        model->changed_on_disk = true;
        message(MessageLevel::Warning,
                model->name + " changed on disk; what is shown is from before. Reload opens it again.");
      });
    });
  }
}

}  // namespace headroom
