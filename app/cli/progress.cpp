#include "app/cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/base/format.h"

namespace headroom {

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) == 1), start_(std::chrono::steady_clock::now()) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::clear() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

void ProgressLine::show(double fraction, const std::string& what) {
  if (!terminal_) return;
  constexpr int kWidth = 24;
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const int filled = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * kWidth);
  std::string bar;
  for (int i = 0; i < kWidth; ++i) bar += i < filled ? "█" : "░";
  const std::string left =
      fraction > 0.02 && fraction < 1.0 ? ", " + duration_text(elapsed / fraction * (1.0 - fraction)) + " left" : "";
  std::fprintf(stderr, "\r\033[K%s %s%s", bar.c_str(), what.c_str(), left.c_str());
  std::fflush(stderr);
  drawn_ = true;
}

std::string duration_text(double seconds) {
  const long long whole = std::llround(seconds);
  if (seconds < 10.0) return format("%.1f s", seconds);
  if (whole < 60) return format("%lld s", whole);
  if (whole < 3600) return format("%lld min %lld s", whole / 60, whole % 60);
  return format("%lld h %lld min", whole / 3600, whole % 3600 / 60);
}

}  // namespace headroom
