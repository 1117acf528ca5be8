#include "app/session/history.h"

#include <cstddef>
#include <utility>

namespace headroom {
namespace {

constexpr std::size_t kMostUndo = 200;
constexpr double kSameViewSeconds = 0.5;

}  // namespace

void History::remember(std::string_view kind) {
  const bool same = kind == last_kind_ && now_s_ - last_s_ < kSameViewSeconds;
  last_kind_ = kind;
  last_s_ = now_s_;
  redo_.clear();
  if (!same || undo_.empty()) undo_.push_back(state_.view);
  if (undo_.size() > kMostUndo) undo_.erase(undo_.begin());
  tell();
}

void History::undo() { move(undo_, redo_); }
void History::redo() { move(redo_, undo_); }

void History::clear() {
  undo_.clear();
  redo_.clear();
  tell();
}

void History::move(std::vector<ViewState>& from, std::vector<ViewState>& to) {
  if (from.empty()) return;
  to.push_back(std::exchange(state_.view, from.back()));
  from.pop_back();
  last_kind_.clear();
  tell();
}

void History::tell() {
  state_.can_undo = !undo_.empty();
  state_.can_redo = !redo_.empty();
}

}  // namespace headroom
