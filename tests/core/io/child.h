// Runs a function in a forked child, so that a test can limit, kill or restrict a process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>

namespace headroom::test {

inline constexpr unsigned kChildSeconds = 60;  // a child that hangs is ended by SIGALRM

inline pid_t start_child(const std::function<int()>& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child != 0) return child;
  alarm(kChildSeconds);
  int code = 99;
  try {
    code = body();
  } catch (...) {
    code = 98;
  }
  // With its exit handlers: what HDF5 does at the end of a process belongs to the test.
  std::exit(code);
}

// The exit code, or minus the signal that ended it.
inline int wait_for(pid_t child) {
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1000;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

inline int run_child(const std::function<int()>& body) { return wait_for(start_child(body)); }

}  // namespace headroom::test
