#include "app/session/keeping.h"

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/session/commands.h"
#include "app/session/kept_session.h"
#include "app/session/run_names.h"
#include "app/session/session_file.h"
#include "app/session/settings_file.h"

namespace headroom {

void Keeping::save_settings() {
  if (options_.config.empty()) return;
  const KeptState kept{state_.settings,     state_.layout, state_.recent,  state_.recent_prompts, state_.view.heads,
                       state_.save_folders, state_.figure, window_size_.x, window_size_.y};
  inbox_.ask(
      io_, [kept, folder = options_.config] { return headroom::save_settings(folder, kept); },
      [this](const Result<void>& saved) {
        if (!saved)
          inbox_.message(MessageLevel::Warning, "the settings could not be saved: " + describe(saved.error()));
      });
}

void Keeping::add_recent(const RecentFile& file) {
  std::erase_if(state_.recent, [&](const RecentFile& other) { return other.path == file.path; });
  state_.recent.insert(state_.recent.begin(), file);
  if (state_.recent.size() > 20) state_.recent.resize(20);
  save_settings();
}

void Keeping::add_recent_session(const std::string& path, const SavedSession& session) {
  const std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
  if (!options_.kept.empty() && whole.parent_path() == options_.kept) return;  // not a file of the person's
  RecentFile recent;
  recent.path = whole.string();
  recent.name = whole.filename().string();
  recent.detail = "session of " +
                  opened_title(session.files.empty() ? session.trainings.front() : session.files[session.shown].path);
  if (!session.prompt.title.empty()) recent.detail += ", " + session.prompt.title;
  recent.opened_unix = std::time(nullptr);
  std::error_code ignored;
  recent.size_bytes = std::filesystem::file_size(whole, ignored);
  if (ignored) recent.size_bytes = 0;
  add_recent(recent);
}

Keeping::Keeping(const SessionParts& parts) : SessionParts(parts) {
  const LoadedState loaded = options_.config.empty() ? LoadedState{} : load_settings(options_.config);
  state_.settings = loaded.kept.settings;
  state_.layout = loaded.kept.layout;
  state_.recent = loaded.kept.recent;
  state_.recent_prompts = loaded.kept.recent_prompts;
  if (!loaded.kept.heads.quantity.empty()) state_.view.heads = loaded.kept.heads;
  state_.save_folders = loaded.kept.save_folders;
  static_cast<FigureChoices&>(state_.figure) = loaded.kept.figure;
  window_size_ = {loaded.kept.window_width, loaded.kept.window_height};
  if (!loaded.note.empty()) inbox_.message(MessageLevel::Warning, loaded.note);
  begin();
}

// Of the session that is open; what a program lost that crashed is offered.
void Keeping::begin() {
  if (options_.kept.empty()) return;
  inbox_.begin();
  io_.post([this] {
    Result<std::unique_ptr<SessionKeeper>> keeper = SessionKeeper::create(options_.kept, options_.own_name);
    std::vector<LostSession> lost;
    std::string failed;
    if (keeper) {
      keeper_ = std::move(*keeper);
      lost = keeper_->take_lost();
    } else {
      failed = describe(keeper.error());
    }
    std::error_code ignored;
    std::filesystem::path last = last_session_path(options_.kept);
    if (!std::filesystem::exists(last, ignored)) last.clear();
    inbox_.post([this, lost, failed, last] {
      inbox_.end();
      state_.last_session = last.string();
      if (!failed.empty()) inbox_.message(MessageLevel::Warning, "what is open will not be kept: " + failed);
      offer_lost(lost);
    });
  });
}

void Keeping::update(double now_s) {
  now_s_ = now_s;
  if (options_.kept.empty() || writing_ || inbox_.opening() || now_s < next_s_) return;
  next_s_ = now_s + options_.keep_seconds;
  writing_ = true;
  const auto session = std::make_shared<const Result<SavedSession>>(current_session(state_));
  io_.post([this, session] {
    const Result<void> kept = keeper_ ? keeper_->keep(*session ? &**session : nullptr) : Result<void>();
    writing_ = false;
    if (kept) return;  // without a word to the main thread, which would draw frames for it
    inbox_.post([this, kept] {
      next_s_ = now_s_ + 60.0;
      inbox_.message(MessageLevel::Warning, "the session could not be kept: " + describe(kept.error()));
    });
  });
}

void Keeping::leave() {
  if (options_.kept.empty()) return;
  const auto session = std::make_shared<const Result<SavedSession>>(current_session(state_));
  io_.post([this, session] {
    if (!keeper_) return;
    (void)keeper_->keep(*session ? &**session : nullptr);  // what was kept before stays
    keeper_->leave();
  });
}

void Keeping::offer_lost(const std::vector<LostSession>& lost) {
  for (auto one = lost.rbegin(); one != lost.rend(); ++one) {  // the latest is shown on top
    std::string what;
    if (const auto session = one->session.empty() ? Result<SavedSession>(Error()) : load_session(one->session)) {
      what = opened_title(session->files.empty() ? session->trainings.front() : session->files[session->shown].path);
      if (const std::size_t more = std::max<std::size_t>(session->files.size(), 1) - 1; more > 0)
        what += " and " + std::to_string(more) + " more";
      if (session->ran && !session->prompt.title.empty()) what += ", " + session->prompt.title;
    }
    Error error(ErrorCode::Io, one->report.empty() ? "it was killed, or the machine went down" : one->why);
    error.in_file((one->report.empty() ? one->session : one->report).string());
    if (!what.empty()) error.advise("restore what was open: " + what);
    inbox_.message(MessageLevel::Warning, "the program ended unexpectedly: " + error.message);
    ErrorCard card{inbox_.next_id(), "Headroom ended unexpectedly", error, "", ""};
    card.of_program = true;
    if (!what.empty()) card.offers.push_back({"Restore", "", {"session.open " + quote_word(one->session.string())}});
    state_.errors.push_back(std::move(card));
  }
}

}  // namespace headroom
