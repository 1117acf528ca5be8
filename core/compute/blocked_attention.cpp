#include "core/compute/blocked_attention.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/compute/blocked_task.h"
#include "core/compute/parallel.h"
#include "core/run/run_pieces.h"

namespace headroom {
namespace {

// Row boundaries of the tasks of one head: of about equal area under a causal mask, the same for any thread count.
// A device works through a head's strips one after the other: there each head is one task.
std::vector<std::int64_t> task_boundaries(const kernels::Mask& mask, at::Device device) {
  const std::int64_t length = mask.length, keys = mask.keys();
  const bool triangular = mask.causal && mask.reaches_back();
  const std::int64_t parts = !device.is_cpu() ? 1 : length >= 4096 ? kBlockedParts : length >= 512 ? 2 : 1;
  const std::int64_t step = rows_per_strip(keys, device);
  std::vector<std::int64_t> boundaries = {0};
  for (std::int64_t part = 1; part < parts; ++part) {
    const double share = static_cast<double>(part) / static_cast<double>(parts);
    const double row = static_cast<double>(length) * (triangular ? std::sqrt(share) : share);
    const std::int64_t aligned = static_cast<std::int64_t>(row) / step * step;
    if (aligned > boundaries.back()) boundaries.push_back(aligned);
  }
  boundaries.push_back(length);
  return boundaries;
}

at::Tensor positions_to(std::int64_t length, at::Device device) {
  return at::arange(length, at::TensorOptions().dtype(at::kInt).device(device));
}

}  // namespace

template <typename Real>
bool blocked_attention(std::span<kernels::HeadJob<Real>> heads, const kernels::StopRequested& stop, at::Device device) {
  const c10::InferenceMode no_gradients;
  struct Work {
    std::size_t head;
    std::int64_t begin, end;
  };
  std::vector<Work> works;
  at::Tensor positions;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const kernels::HeadProblem<Real>& problem = heads[h].problem;
    resize_statistics(problem, heads[h].request, heads[h].statistics);
    if (!positions.defined() || positions.size(0) < problem.mask.longer())
      positions = positions_to(problem.mask.longer(), device);
    const auto boundaries = task_boundaries(problem.mask, device);
    for (std::size_t t = 0; t + 1 < boundaries.size(); ++t) works.push_back({h, boundaries[t], boundaries[t + 1]});
  }
  const auto each = [&](std::size_t tasks, const auto& body) {
    if (device.is_cpu()) return run_tasks(static_cast<std::int64_t>(tasks), body);
    for (std::size_t task = 0; task < tasks; ++task) body(static_cast<std::int64_t>(task));
  };
  std::vector<std::unique_ptr<BlockedHead<Real>>> prepared(heads.size());
  each(heads.size(), [&](std::int64_t h) {
    const auto head = static_cast<std::size_t>(h);
    prepared[head] = std::make_unique<BlockedHead<Real>>(heads[head].problem, positions);
  });
  std::vector<std::unique_ptr<BlockedTask<Real>>> tasks(works.size());
  std::atomic<bool> complete{true};
  each(works.size(), [&](std::int64_t index) {
    const Work& work = works[static_cast<std::size_t>(index)];
    auto task =
        std::make_unique<BlockedTask<Real>>(heads[work.head], *prepared[work.head], work.begin, work.end, device);
    if (!complete || !task->run(stop)) complete = false;
    tasks[static_cast<std::size_t>(index)] = std::move(task);
  });
  for (std::size_t t = 0; t < works.size(); ++t) tasks[t]->fold_into(heads[works[t].head].statistics);
  return complete;
}

template <typename Real>
void blocked_weights(const kernels::HeadProblem<Real>& problem, std::size_t map, std::int64_t row, std::int64_t rows,
                     std::span<Real> weights, at::Device device) {
  const c10::InferenceMode no_gradients;
  const BlockedHead<Real> head(problem, positions_to(problem.mask.longer(), device));
  const Strip strip = head.strip(row, rows);
  std::fill(weights.begin(), weights.end(), Real(0));
  if (strip.count() == 0) return;
  const auto options = at::TensorOptions().dtype(c10::CppTypeToScalarType<Real>::value);
  at::Tensor z = at::empty({rows, strip.count()}, options.device(device)), a = at::empty_like(z);
  (void)head.weigh(map, strip, head.mask(strip), z, z, a);
  at::from_blob(weights.data(), {rows, problem.mask.keys()}, options)
      .narrow(1, strip.keys.begin, strip.count())
      .copy_(a);
}

template bool blocked_attention<float>(std::span<kernels::HeadJob<float>>, const kernels::StopRequested&, at::Device);
template bool blocked_attention<double>(std::span<kernels::HeadJob<double>>, const kernels::StopRequested&, at::Device);
template void blocked_weights<float>(const kernels::HeadProblem<float>&, std::size_t, std::int64_t, std::int64_t,
                                     std::span<float>, at::Device);
template void blocked_weights<double>(const kernels::HeadProblem<double>&, std::size_t, std::int64_t, std::int64_t,
                                      std::span<double>, at::Device);

}  // namespace headroom
