// What the parts of a session share: options, the state, and the ways to tell of it, by reference to what the session
// owns. Main thread only, but for what a member says.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "app/session/history.h"
#include "app/session/inbox.h"
#include "app/session/state.h"
#include "core/base/mutex.h"
#include "core/base/worker.h"

namespace headroom {

// Where a span of work is written down: HEADROOM_TRACE. From any thread; seconds of the steady clock.
using TraceSpan = std::function<void(const char* name, double begin_s, double end_s)>;

struct SessionOptions {
  std::filesystem::path assets;  // with demo/ and prompts/
  std::filesystem::path config;  // folder of settings and recent files; empty: nothing is kept
  std::filesystem::path kept;    // folder of the session that is open; empty: it is not kept
  std::string own_name;          // of this program in it: session/kept_session.h
  double keep_seconds = 5.0;     // between two looks at what has changed
  std::function<void()> wake;    // from other threads: something arrived
  std::string program, git_commit, command_line;
  bool desktop_dialog = false;  // the desktop has a file dialog of its own
  std::string no_file_manager = "the program was started without a desktop";  // see State
  TraceSpan trace;
  std::function<void(std::string_view line)> note;  // each line that a person asks for, before it runs
};

// A part has a copy of its own, as a private base.
struct SessionParts {
  const SessionOptions& options_;  // read by any thread
  State& state_;
  Inbox& inbox_;
  History& history_;
  Worker& io_;             // files
  Mutex& hdf5_;            // held by the job that uses HDF5
  const bool& by_person_;  // the line that is executed was a person's
};

}  // namespace headroom
