// What is open, kept while the program runs, and offered by the next one where this one crashed.
#include <algorithm>
#include <cstddef>
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
#include "app/session/session.h"

namespace headroom {

void Session::begin_keeping() {
  if (options_.kept.empty()) return;
  ++pending_;
  io_->post([this] {
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
    main_->post([this, lost, failed, last] {
      --pending_;
      state_.last_session = last.string();
      if (!failed.empty()) message(MessageLevel::Warning, "what is open will not be kept: " + failed);
      offer_lost(lost);
    });
  });
}

void Session::keep_session(double now_s) {
  if (options_.kept.empty() || keeping_ || opening_ > 0 || now_s < next_keep_s_) return;
  next_keep_s_ = now_s + options_.keep_seconds;
  keeping_ = true;
  const auto session = std::make_shared<const Result<SavedSession>>(current_session(state_));
  io_->post([this, session] {
    const Result<void> kept = keeper_ ? keeper_->keep(*session ? &**session : nullptr) : Result<void>();
    keeping_ = false;
    if (kept) return;  // without a word to the main thread, which would draw frames for it
    main_->post([this, kept] {
      next_keep_s_ = now_s_ + 60.0;
      message(MessageLevel::Warning, "the session could not be kept: " + describe(kept.error()));
    });
  });
}

void Session::leave() {
  if (options_.kept.empty()) return;
  const auto session = std::make_shared<const Result<SavedSession>>(current_session(state_));
  io_->post([this, session] {
    if (!keeper_) return;
    (void)keeper_->keep(*session ? &**session : nullptr);  // what was kept before stays
    keeper_->leave();
  });
}

void Session::offer_lost(const std::vector<LostSession>& lost) {
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
    message(MessageLevel::Warning, "the program ended unexpectedly: " + error.message);
    ErrorCard card{next_id_++, "Headroom ended unexpectedly", error, "", ""};
    card.of_program = true;
    if (!what.empty()) card.offers.push_back({"Restore", "", {"session.open " + quote_word(one->session.string())}});
    state_.errors.push_back(std::move(card));
  }
}

}  // namespace headroom
