#include "app/session/session.h"

#include <chrono>
#include <cstddef>
#include <span>
#include <thread>

#include "core/base/process_memory.h"

namespace headroom {
namespace {

constexpr int kTileNice = 5;

}  // namespace

Session::Session(Options options)
    : options_(std::move(options)),
      commands_(make_command_table()),
      inbox_(state_, options_.wake),
      history_(state_),
      io_(std::make_unique<Worker>(WorkerOptions{.at_start = [] { become_background_thread("files", 0); }})),
      keeping_(parts()),
      tiles_(static_cast<std::size_t>(state_.settings.tile_mb * 1048576.0), 1, options_.wake,
             [] { become_background_thread("tiles", kTileNice); }),
      runner_(parts()),
      documents_(parts(), keeping_, runner_),
      figures_(parts(), runner_),
      saver_(parts(), keeping_, runner_, figures_) {
  state_.no_file_manager = options_.no_file_manager;
  if (options_.trace) tiles_.set_trace(options_.trace);
}

// Threads end while all that their jobs use is there.
Session::~Session() {
  documents_.trainings().stop();
  figures_.stop();
  runner_.compute().finish();
  io_.reset();
}

Result<void> Session::execute(std::string_view line) {
  HEADROOM_TRY(const std::vector<std::string> words, commands_.words(line));
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
  by_person_ = true;
  const Result<void> result = execute(line);
  by_person_ = false;
  if (result) return;
  // Said where a person looks, too, and not only counted.
  const std::string refusal = commands_.disabled_reason(state_, line);
  const std::string why = refusal.empty() ? describe(result.error()) : refusal;
  inbox_.message(refusal.empty() ? MessageLevel::Error : MessageLevel::Warning, describe(result.error()));
  const Command* command = commands_.find(line.substr(0, line.find(' ')));
  state_.toast =
      Toast{inbox_.next_id(), command ? command->title : std::string(line), "", why, /*refused=*/!refusal.empty()};
}

bool Session::update(double now_s) {
  history_.update(now_s);
  bool changed = inbox_.run();
  changed = tiles_.collect() || changed;
  documents_.update(now_s);
  documents_.trainings().update(now_s);
  documents_.corpora().update();
  keeping_.update(now_s);
  runner_.update();
  runner_.circuits().update();
  figures_.update();
  state_.memory_bytes = resident_bytes();
  return changed;
}

void Session::finish_files() {
  while (!io_->idle()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace headroom
