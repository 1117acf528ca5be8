// What the planner (window.cpp, compiled once) hands to the tiles (window_task.cpp, compiled for every target): one
// task, whole cells of a window. Plain pointers and numbers, as in part.h.
#pragma once

#include <cstdint>

#include "kernels/window.h"

namespace headroom::kernels {

inline constexpr std::int64_t kWindowKeys = 48;     // keys that every target's vectors fill
inline constexpr std::int64_t kWindowCellSums = 5;  // numbers a pooled cell is made of

template <typename Input>
struct WindowTask {
  MapInput<Input> maps[2];  // those the request reads
  const double* lse[2];
  const double* lambda;
  PlainMask mask;
  const DenseMask* dense;  // null: none
  std::int64_t head_dim;
  double scale, softcap, temperature;
  // What is added to the products of a key e places behind a row's position (before it: e < 0), in the unit that the
  // tiles score in: bias[e − bias_lowest]. Null: nothing.
  const float* bias;
  std::int64_t bias_lowest;
  bool softpick;
  WindowMap map;
  std::int64_t row_begin, row_end, key_begin, key_end;  // entries of the task
  std::int64_t reduction;
  WindowCells cells;  // at the task's first cell
  bool (*stop)(const void*);
  const void* stop_context;
};

// Floats of working memory for any task of the request.
[[nodiscard]] std::int64_t window_scratch_floats(std::int64_t head_dim, std::int64_t cell_rows,
                                                 std::int64_t cell_columns, bool dense);

// False when stopped. `scratch`: 64-byte aligned.
template <typename Input>
[[nodiscard]] bool run_window_task(const WindowTask<Input>& task, float* scratch);

}  // namespace headroom::kernels
