#include "tests/gl/display.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "core/base/environment.h"

#if defined(__SANITIZE_ADDRESS__)
// A graphics driver that is unloaded takes along the variables that hold its blocks, which then look lost. In these
// tests every library stays.
extern "C" int dlclose(void*) { return 0; }
#endif

namespace headroom::test {
namespace {

bool is_set(const char* name) { return !environment_text(name).empty(); }

// Starts Xvfb, which takes a free number and writes it into the pipe once it answers; empty where there is none.
// It must not reset itself when a test closes its window, and ends with this program.
std::string start_xvfb() {
  std::array<int, 2> pipe_ends{};
  if (pipe(pipe_ends.data()) != 0) return "";
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return "";
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1);
    close(pipe_ends[0]);
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    const std::string number = std::to_string(pipe_ends[1]);
    execlp("Xvfb", "Xvfb", "-displayfd", number.c_str(), "-screen", "0", "1600x1000x24", "-noreset", "-nolisten", "tcp",
           static_cast<char*>(nullptr));
    _exit(127);
  }
  close(pipe_ends[1]);
  std::string number;
  char c = 0;
  for (ssize_t got; (got = read(pipe_ends[0], &c, 1)) == 1 || (got < 0 && errno == EINTR);) {
    if (got != 1) continue;
    if (c == '\n') break;
    number += c;
  }
  close(pipe_ends[0]);
  if (number.empty()) waitpid(child, nullptr, 0);
  return number;
}

}  // namespace

std::string no_display() {
  static const std::string reason = []() -> std::string {
    if (const std::string number = start_xvfb(); !number.empty()) {
      setenv("DISPLAY", (":" + number).c_str(), 1);
      unsetenv("WAYLAND_DISPLAY");
      return "";
    }
    if (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")) return "";
    return "there is no display: Xvfb does not start, DISPLAY and WAYLAND_DISPLAY are empty";
  }();
  return reason;
}

}  // namespace headroom::test
