// How a program of this project ends. Header only: test programs that link nothing of app/ use it too.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace headroom {

// Writes out what stdout and stderr still hold and ends the process, without the destructors of static objects:
// LibTorch takes its thousands of operators back one by one there, 0.15 s of a run that takes half a second. Whatever
// has to be closed is closed by its owner before. Sanitizers look for leaks at a normal end, and there it is one.
[[noreturn]] inline void end_process(int code) {
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  std::exit(code);  // NOLINT(concurrency-mt-unsafe)
#else
  std::_Exit(code);
#endif
}

}  // namespace headroom
