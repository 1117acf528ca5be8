// A progress line with time left on stderr, drawn only where stderr is a terminal. Main thread only.
#pragma once

#include <chrono>
#include <string>

namespace headroom {

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();  // clears the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(double fraction, const std::string& what);
  void clear();

 private:
  bool terminal_ = false;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_;
};

// "7 s", "2 min 5 s", "1 h 12 min".
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace headroom
