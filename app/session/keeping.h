// What stays on the disk of itself: settings, recent files, and the session that is open, which the next program offers
// where this one crashed. Written on the I/O thread. Main thread only.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "app/session/kept_session.h"
#include "app/session/session_parts.h"

namespace headroom {

class Keeping : private SessionParts {
 public:
  explicit Keeping(const SessionParts& parts);  // with what was kept, into the state

  void save_settings();
  void add_recent(const RecentFile& file);
  void add_recent_session(const std::string& path, const SavedSession& session);
  // Of the window when it was closed last, in units of the desktop; 0: the default.
  [[nodiscard]] Vec2 window_size() const { return window_size_; }
  void set_window_size(Vec2 size) { window_size_ = size; }
  void update(double now_s);  // once a frame
  void leave();               // the program quits: what is open is kept as the last session

 private:
  void begin();
  void offer_lost(const std::vector<LostSession>& lost);

  Vec2 window_size_;
  double now_s_ = 0.0, next_s_ = 0.0;
  std::atomic<bool> writing_ = false;      // the session; set here, reset by the I/O thread
  std::shared_ptr<SessionKeeper> keeper_;  // I/O thread only; null: nothing is kept
};

}  // namespace headroom
