// SIGINT, SIGTERM and SIGHUP as a flag that long work polls; a second signal ends the process at once.
// install() on the main thread; the rest from any thread.
#pragma once

namespace headroom {

void install_signal_handlers();
[[nodiscard]] bool signal_received();
// 128 + the signal that came: 130, 143, 129; 130 where none came.
[[nodiscard]] int signal_exit_code();

}  // namespace headroom
