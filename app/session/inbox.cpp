#include "app/session/inbox.h"

#include <cstddef>
#include <ctime>

namespace headroom {
namespace {

constexpr std::size_t kMostMessages = 500;

std::string local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[16];
  std::strftime(text, sizeof text, "%H:%M:%S", &local);
  return text;
}

std::string stays_open(const State& state) {
  const RunEntry* shown = state.shown();
  if (!shown) return state.models.empty() ? "" : "What was open stays open; nothing was lost.";
  return shown->name + " stays open; nothing was lost.";
}

}  // namespace

void Inbox::message(MessageLevel level, std::string text) {
  if (level == MessageLevel::Warning) ++state_.unseen_warnings;
  if (level == MessageLevel::Error) ++state_.unseen_errors;
  state_.messages.push_back({level, std::move(text), local_time()});
  if (state_.messages.size() > kMostMessages) state_.messages.erase(state_.messages.begin());
}

void Inbox::card(std::string title, const Error& error, std::string retry) {
  message(MessageLevel::Error, title + ": " + describe(error));
  state_.errors.push_back({next_id(), std::move(title), error, std::move(retry), stays_open(state_)});
}

}  // namespace headroom
