// Ticks of axes: 1-2-5 steps, decades, and labels that do not touch. Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/range.h"

namespace headroom {

struct Tick {
  double value = 0.0;
  std::string label;  // empty for a minor tick
};

// Positions at 1-2-5 steps within [low, high], at most so many that they are `least_gap` pixels apart on `length`
// pixels.
[[nodiscard]] std::vector<Tick> linear_ticks(double low, double high, double length, double least_gap);
// The same with whole numbers only: indices of tokens, layers.
[[nodiscard]] std::vector<Tick> index_ticks(std::int64_t low, std::int64_t high, double length, double least_gap);
// Decades (labelled), and 2 and 5 (labelled where there is room and fewer than two decades); low > 0.
[[nodiscard]] std::vector<Tick> log_ticks(double low, double high, double length, double least_gap);

// A signed value on a scale that is linear within ± `linear` > 0, which becomes ±1, and logarithmic beyond, one more
// for each decade; and back.
[[nodiscard]] double symlog_place(double value, double linear);
[[nodiscard]] double symlog_value(double place, double linear);
// 0, then ± 1, 2, 5 · 10ᵏ from `linear` on, decades first where there is not room for all.
[[nodiscard]] std::vector<Tick> symlog_ticks(double low, double high, double linear, double length, double least_gap);

// One axis: from values to pixels and back.
struct Axis {
  double low = 0.0, high = 1.0;
  bool log = false;
  float from = 0.0f, to = 1.0f;  // pixels of low and high; from > to for an axis that points up
  double linear = 0.0;           // > 0: symlog, linear within ± this
  [[nodiscard]] float pixel(double value) const;
  [[nodiscard]] double value(float pixel) const;
  [[nodiscard]] std::vector<Tick> ticks(double least_gap) const;
};

// A range that encloses the values, widened to 1-2-5 ends (log: to the next 1, 2, 5).
[[nodiscard]] Range nice_range(double low, double high, bool log);

}  // namespace headroom
