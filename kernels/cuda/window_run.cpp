#include "kernels/cuda/window_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "kernels/cuda/head_plan.h"
#include "kernels/cuda/shared_use.h"

namespace headroom::kernels::cuda {
namespace {

constexpr int kMaxGridRows = 65535;

// The base-2 value as the sum of two floats, so that large logits lose nothing.
void split_lse(const double* lse, std::int64_t rows, float* to) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const double value = lse[r] * std::numbers::log2e;
    to[r] = static_cast<float>(value);
    const double rest = value - static_cast<double>(to[r]);
    to[rows + r] = std::isfinite(value) ? static_cast<float>(rest) : 0.0f;
  }
}

template <class Input>
KernelStatus check(const HeadProblem<Input>& problem, const WindowLse& lse, const WindowRequest& request) {
  const auto outside = [&](std::int64_t begin, std::int64_t count) {
    return begin < 0 || count < 0 || begin > problem.mask.length || count > problem.mask.length - begin;
  };
  if (outside(request.row_begin, request.rows) || outside(request.key_begin, request.keys) || request.reduction < 1)
    return {StatusCode::InvalidArgument, "the window does not lie inside the map"};
  if (!problem.mask.square() || problem.mask.dense != nullptr || problem.mask.always_visible > 0)
    return {StatusCode::Unsupported,
            "the CUDA kernels take as many keys as queries, no dense mask and no keys that are always visible"};
  const WindowNeeds needs = window_needs(problem, request.map);
  if ((needs.first && lse[0] == nullptr) || (needs.second && lse[1] == nullptr))
    return {StatusCode::InvalidArgument, "a map of the window has no log-sum-exp"};
  return {};
}

void copy_out(const float* from, std::int64_t rows, std::int64_t columns, std::int64_t stride, float* to) {
  for (std::int64_t r = 0; to != nullptr && r < rows; ++r)
    std::copy(from + r * columns, from + (r + 1) * columns, to + r * stride);
}

void fill_nan(const WindowRequest& request, const WindowCells& cells) {
  const std::vector<float> nothing(static_cast<std::size_t>(request.cell_columns()),
                                   std::numeric_limits<float>::quiet_NaN());
  for (float* out : {cells.mean, cells.max_magnitude, cells.positive, cells.negative})
    for (std::int64_t r = 0; out != nullptr && r < request.cell_rows(); ++r)
      std::copy(nothing.begin(), nothing.end(), out + r * cells.stride);
}

}  // namespace

template <class Input>
KernelStatus run_window(Machine& machine, const HeadProblem<Input>& problem, const WindowLse& lse,
                        const WindowRequest& request, const WindowCells& cells, const StopRequested& stop,
                        double band_work) {
  // As an attention job without statistics, for what the kernels share; nothing writes its context.
  float context = 0.0f;
  HeadJob<Input, float> job{problem, {}, &context, 0, {}};
  job.request.wanted = 0;
  HEADROOM_KERNEL_TRY(cuda::check(job));
  HEADROOM_KERNEL_TRY(check(problem, lse, request));
  const WindowNeeds needs = window_needs(problem, request.map);
  if (!needs.first && !needs.second) return fill_nan(request, cells), KernelStatus{};
  const std::int64_t cell_count = request.cell_rows() * request.cell_columns();
  if (cell_count == 0) return {};

  WindowArguments<Input> arguments;
  arguments.map = request.map;
  arguments.reduction = static_cast<int>(std::min<std::int64_t>(request.reduction, problem.mask.length));
  arguments.group = cells_in_tile(arguments.reduction);
  const SharedUse shared = use_shared(
      problem.head_dim, needs.first && needs.second ? 2 : 1, 1, machine.shared_limit(),
      [&](int slab, int own, int) { return window_bytes<Input>(slab, own, arguments.group, arguments.reduction > 1); });
  if (shared.slab == 0) return kLittleShared;
  arguments.scores.slab = shared.slab;
  arguments.scores.resident = shared.resident;

  Regions regions{Region(machine), Region(machine), Region(machine)};
  const HeadPlan plan = reserve(job, 64, regions);
  const Part head = regions.inputs.reserve<HeadParameters<Input>>(1);
  const std::array<Part, 2> totals = {
      needs.first ? regions.inputs.reserve<float>(2 * request.rows) : Part{},
      needs.second ? regions.inputs.reserve<float>(2 * request.rows) : Part{},
  };
  const Part out = regions.outputs.reserve<float>(kCellArrays * cell_count);
  HEADROOM_KERNEL_TRY(regions.inputs.allocate(Image::Up));
  HEADROOM_KERNEL_TRY(regions.outputs.allocate(Image::Down));
  *regions.inputs.host<HeadParameters<Input>>(head) = parameters(job, plan, regions);
  for (std::size_t m = 0; m < 2; ++m) {
    if (!totals[m]) continue;
    split_lse(lse[m] + request.row_begin, request.rows, regions.inputs.host<float>(totals[m]));
    arguments.lse[m] = regions.inputs.device<float>(totals[m]);
  }
  HEADROOM_KERNEL_TRY(regions.inputs.upload());
  arguments.scores.heads = regions.inputs.device<HeadParameters<Input>>(head);
  arguments.key_begin = static_cast<int>(request.key_begin);
  arguments.key_end = static_cast<int>(request.key_begin + request.keys);
  arguments.cell_columns = static_cast<int>(request.cell_columns());
  arguments.cells = cell_count;

  const std::int64_t group = arguments.group, step = group * arguments.reduction;
  const double group_work = static_cast<double>(step) * static_cast<double>(request.keys) *
                            static_cast<double>(problem.head_dim) * (needs.first && needs.second ? 2.0 : 1.0);
  const std::int64_t band =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(band_work / group_work), 1, kMaxGridRows);
  const std::int64_t groups = (request.cell_rows() + group - 1) / group;
  for (std::int64_t begin = 0; begin < groups; begin += band) {
    if (stop && stop()) return {StatusCode::Cancelled, "stopped"};
    const std::int64_t end = std::min(begin + band, groups);
    WindowArguments<Input> part = arguments;
    part.row_begin = static_cast<int>(request.row_begin + begin * step);
    part.row_end = static_cast<int>(request.row_begin + std::min(end * step, request.rows));
    part.first_row = static_cast<int>(request.row_begin);
    part.rows = static_cast<int>(request.rows);
    part.out = regions.outputs.device<float>(out) + begin * group * request.cell_columns();
    const Grid grid{static_cast<int>((request.cell_columns() + group - 1) / group), static_cast<int>(end - begin), 1};
    HEADROOM_KERNEL_TRY(machine.launch(grid, shared.bytes, part));
    if (stop) HEADROOM_KERNEL_TRY(machine.wait());
  }
  HEADROOM_KERNEL_TRY(regions.outputs.download());
  const float* from = regions.outputs.host<float>(out);
  for (float* to : {cells.mean, cells.max_magnitude, cells.positive, cells.negative}) {
    copy_out(from, request.cell_rows(), request.cell_columns(), cells.stride, to);
    from += cell_count;
  }
  return {};
}

template KernelStatus run_window(Machine&, const HeadProblem<float>&, const WindowLse&, const WindowRequest&,
                                 const WindowCells&, const StopRequested&, double);
template KernelStatus run_window(Machine&, const HeadProblem<BFloat16>&, const WindowLse&, const WindowRequest&,
                                 const WindowCells&, const StopRequested&, double);
template KernelStatus run_window(Machine&, const HeadProblem<Float16>&, const WindowLse&, const WindowRequest&,
                                 const WindowCells&, const StopRequested&, double);

}  // namespace headroom::kernels::cuda
