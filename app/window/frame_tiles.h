// What each part of a frame shows, as a number by which it is told from the frame before: only parts that differ need
// to be drawn again. Plain values; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "app/plot/geometry.h"

namespace headroom {

class FrameTiles {
 public:
  static constexpr int kSide = 32;  // device pixels

  // Empties it. All tiles begin with `ground`: what lies under everything.
  void begin(int width, int height, std::uint64_t ground);
  // Something drawn on top of what there is, that covers no pixel outside `box` (device pixels); `content` tells it
  // from all else that could be drawn there.
  void add(const Rect& box, std::uint64_t content);

  // The parts where the two differ, disjoint, in device pixels; the whole frame where their sizes differ or most does.
  [[nodiscard]] std::vector<Rect> differences(const FrameTiles& before) const;

 private:
  [[nodiscard]] std::size_t place(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(x);
  }
  void add(int x0, int y0, int x1, int y1, std::uint64_t content);  // tiles

  int width_ = 0, height_ = 0, columns_ = 0, rows_ = 0;
  std::vector<std::uint64_t> tiles_;
};

// `value` into `sum`, in order.
[[nodiscard]] inline std::uint64_t mixed(std::uint64_t sum, std::uint64_t value) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15ULL;
  sum = (sum ^ value) * kOdd;
  return sum ^ (sum >> 29U);
}

}  // namespace headroom
