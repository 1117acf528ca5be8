// The session that is open, kept on the disk while the program runs, so that a crash loses nothing but the last
// seconds. Each running program has three files of one name in the folder: a lock that it holds as long as it lives,
// its session, and, if it crashed, its report. Files whose lock nobody holds are of a program that ended otherwise than
// by quitting. One object, one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/session_file.h"

namespace headroom {

// Of a program that ended without quitting.
struct LostSession {
  std::filesystem::path session;  // empty: nothing was open
  std::filesystem::path report;   // of its crash; empty: it was killed, or the machine went down
  std::string why;                // the report's first line
  std::int64_t ended_unix = 0;    // when the last of the two was written
};

class SessionKeeper {
 public:
  // `name` is this program's own among all that ever ran: own_name(). Io where the folder cannot be made or written.
  [[nodiscard]] static Result<std::unique_ptr<SessionKeeper>> create(const std::filesystem::path& folder,
                                                                     const std::string& name);
  ~SessionKeeper();  // as if the program had crashed: what is kept stays to be found
  SessionKeeper(const SessionKeeper&) = delete;
  SessionKeeper& operator=(const SessionKeeper&) = delete;

  // Null: nothing is open. Writes only what differs from what is there.
  Result<void> keep(const SavedSession* session);
  // The program quits: what is kept becomes the last session, and the lock goes.
  void leave();
  // What was lost since, the latest first, each told of once; its files stay, the newest few of all.
  [[nodiscard]] std::vector<LostSession> take_lost();

 private:
  SessionKeeper(std::filesystem::path folder, std::string name);
  [[nodiscard]] std::filesystem::path own(std::string_view ending) const;

  std::filesystem::path folder_;
  std::string name_, written_;
  int lock_ = -1;
};

[[nodiscard]] std::string own_name();  // by the time and the process
// Where a program of this name reports its crash.
[[nodiscard]] std::filesystem::path crash_report_path(const std::filesystem::path& folder, const std::string& name);
// The session of the program that quit last.
[[nodiscard]] std::filesystem::path last_session_path(const std::filesystem::path& folder);

}  // namespace headroom
