#include "kernels/cpu/window.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "kernels/cpu/flush_denormals.h"
#include "kernels/cpu/scratch_pool.h"
#include "kernels/cpu/window_task.h"

namespace headroom::kernels {
namespace {

constexpr std::int64_t kTaskRows = 256, kTaskKeys = 10 * kWindowKeys;

// Cells of a task, so that it has enough entries to be worth its packing and no cell is shared.
struct TaskShape {
  std::int64_t cell_rows, cell_columns;
};

TaskShape task_shape(std::int64_t reduction) {
  if (reduction == 1) return {kTaskRows, kWindowKeys};
  return {std::max<std::int64_t>(1, kTaskRows / reduction), std::max<std::int64_t>(1, kTaskKeys / reduction)};
}

void fill_with_nan(const WindowRequest& request, const WindowCells& cells) {
  for (float* plane : {cells.mean, cells.max_magnitude, cells.positive, cells.negative})
    for (std::int64_t row = 0; plane && row < request.cell_rows(); ++row)
      std::fill_n(plane + row * cells.stride, request.cell_columns(), std::numeric_limits<float>::quiet_NaN());
}

// The biases of the window's entries and of the lanes beyond its keys, by j − p.
template <typename Input>
std::vector<float> spread_bias(const HeadProblem<Input>& problem, const WindowRequest& request, std::int64_t lowest) {
  std::vector<float> bias;
  if (!problem.bias) return bias;
  bias.assign(static_cast<std::size_t>(request.rows + request.keys + kWindowKeys), 0.0f);
  const double unit = problem.softcap > 0.0 ? 1.0 : std::numbers::log2e / problem.temperature;
  for (std::size_t at = 0; at < bias.size(); ++at) {
    const std::int64_t distance = -lowest - static_cast<std::int64_t>(at);
    if (distance >= -problem.mask.ahead() && distance <= problem.mask.behind())
      bias[at] = static_cast<float>(unit * problem.bias[distance]);
  }
  return bias;
}

}  // namespace

template <typename Input>
bool cpu_window(const HeadProblem<Input>& problem, const WindowLse& lse, const WindowRequest& request,
                const WindowCells& cells, const ParallelFor& parallel_for, const StopRequested& stop) {
  const WindowNeeds needs = window_needs(problem, request.map);
  if (!needs.first && !needs.second) {
    fill_with_nan(request, cells);
    return true;
  }
  const std::vector<std::uint8_t> flags = mask_flags(problem.mask), blind = blind_rows(problem.mask);
  const std::int64_t bias_lowest =
      request.key_begin - (request.row_begin + request.rows - 1) - problem.mask.first_query;
  const std::vector<float> bias = spread_bias(problem, request, bias_lowest);
  std::atomic<bool> complete{true};
  struct Stop {
    const StopRequested* asked;
    const std::atomic<bool>* complete;
  } stop_state{&stop, &complete};

  WindowTask<Input> whole{};
  if (needs.first) whole.maps[0] = problem.maps[0];
  if (needs.second) whole.maps[1] = problem.maps[1];
  whole.lse[0] = lse[0];
  whole.lse[1] = lse[1];
  whole.lambda = problem.maps[1].present() ? problem.lambda : nullptr;
  whole.mask = plain_mask(problem.mask, flags, blind);
  whole.dense = problem.mask.dense;
  whole.head_dim = problem.head_dim;
  whole.scale = problem.scale;
  whole.softcap = problem.softcap;
  whole.temperature = problem.temperature;
  whole.bias = bias.empty() ? nullptr : bias.data();
  whole.bias_lowest = bias_lowest;
  whole.softpick = problem.softpick;
  whole.map = request.map;
  whole.reduction = request.reduction;
  whole.stop_context = &stop_state;
  whole.stop = [](const void* context) {
    const Stop& state = *static_cast<const Stop*>(context);
    return !*state.complete || (*state.asked && (*state.asked)());
  };

  const TaskShape shape = task_shape(request.reduction);
  const std::int64_t down = (request.cell_rows() + shape.cell_rows - 1) / shape.cell_rows;
  const std::int64_t across = (request.cell_columns() + shape.cell_columns - 1) / shape.cell_columns;
  ScratchPool pool(
      window_scratch_floats(problem.head_dim, shape.cell_rows, shape.cell_columns, problem.mask.dense != nullptr));
  parallel_for(down * across, [&](std::int64_t index) {
    if (!complete) return;
    const std::int64_t row = index / across * shape.cell_rows, column = index % across * shape.cell_columns;
    WindowTask<Input> task = whole;
    const std::int64_t r = request.reduction;
    task.row_begin = request.row_begin + row * r;
    task.row_end = request.row_begin + std::min(request.rows, (row + shape.cell_rows) * r);
    task.key_begin = request.key_begin + column * r;
    task.key_end = request.key_begin + std::min(request.keys, (column + shape.cell_columns) * r);
    task.cells.stride = cells.stride;
    const auto at = [&](float* plane) { return plane ? plane + row * cells.stride + column : nullptr; };
    task.cells.mean = at(cells.mean);
    task.cells.max_magnitude = at(cells.max_magnitude);
    task.cells.positive = at(cells.positive);
    task.cells.negative = at(cells.negative);
    const FlushDenormals flush;
    ScratchPool::Piece memory = pool.borrow();
    if (!run_window_task(task, memory.get())) complete = false;
    pool.give_back(std::move(memory));
  });
  return complete;
}

template bool cpu_window<float>(const HeadProblem<float>&, const WindowLse&, const WindowRequest&, const WindowCells&,
                                const ParallelFor&, const StopRequested&);
template bool cpu_window<BFloat16>(const HeadProblem<BFloat16>&, const WindowLse&, const WindowRequest&,
                                   const WindowCells&, const ParallelFor&, const StopRequested&);

}  // namespace headroom::kernels
