// A rectangle of one head's maps at an integer reduction: what a screen shows of an n × n map that is never held.
// Exact for every cell, from q, k and the log-sum-exp of each row. Plain data; safe from any thread.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/attention.h"

namespace headroom::kernels {

enum class WindowMap {
  Net,           // w = a¹ − λ a²
  First,         // a¹
  Second,        // a²
  ScaledSecond,  // λ a²
  FirstLogits,   // z¹: scaled, capped, divided by the temperature
  SecondLogits,
};

// Entries [row_begin, row_begin + rows) × [key_begin, key_begin + keys), inside the map. A cell covers
// reduction × reduction entries, fewer at the far edges.
struct WindowRequest {
  WindowMap map = WindowMap::Net;
  std::int64_t row_begin = 0, rows = 0, key_begin = 0, keys = 0;
  std::int64_t reduction = 1;

  [[nodiscard]] std::int64_t cell_rows() const { return (rows + reduction - 1) / reduction; }
  [[nodiscard]] std::int64_t cell_columns() const { return (keys + reduction - 1) / reduction; }
};

// Out: cell (R, C) at R · stride + C; null: not wanted. All are over the visible entries x of a cell, and not-a-number
// where it has none: mean x, the x of largest magnitude with its sign (the positive one where both signs reach it),
// Σ max(x, 0) / count, Σ max(−x, 0) / count. In a cell whose mean is not finite the second is the mean and the last two
// are NaN. Entries of undefined rows (attention.h) and of rows whose λ is not finite are NaN where they are weights.
struct WindowCells {
  float *mean = nullptr, *max_magnitude = nullptr, *positive = nullptr, *negative = nullptr;
  std::int64_t stride = 0;
};

// Log-sum-exp of each row of each map, natural, with the sink's term, [length] (MapStatistics::lse); a map that the
// request does not show may be null.
using WindowLse = std::array<const double*, 2>;

// Which maps a request reads. False where the head lacks one.
struct WindowNeeds {
  bool first = false, second = false;
};
template <typename Input>
[[nodiscard]] WindowNeeds window_needs(const HeadProblem<Input>& problem, WindowMap map) {
  const bool first = problem.maps[0].present(), second = problem.maps[1].present();
  switch (map) {
    case WindowMap::Net: return {first, second};
    case WindowMap::First:
    case WindowMap::FirstLogits: return {first, false};
    case WindowMap::Second:
    case WindowMap::ScaledSecond:
    case WindowMap::SecondLogits: return {false, second};
  }
  return {};
}

}  // namespace headroom::kernels
