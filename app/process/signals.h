// SIGINT, SIGTERM and SIGHUP. They end the process at once with 128 + the signal, except where a GracefulStop lives:
// there the first one is a flag that long work polls, so that it can clean up, and a second one, of any kind, ends the
// process; no temporary file stays. Install and make GracefulStop on the main thread; the rest from any thread.
#pragma once

namespace headroom {

// A signal that the process was started with ignored (nohup, background jobs) stays ignored.
void install_signal_handlers();

class GracefulStop {
 public:
  GracefulStop();
  ~GracefulStop();
  GracefulStop(const GracefulStop&) = delete;
  GracefulStop& operator=(const GracefulStop&) = delete;
};

[[nodiscard]] bool signal_received();
// 128 + the signal that came: 130, 143, 129; 130 where none came.
[[nodiscard]] int signal_exit_code();

}  // namespace headroom
