#include "core/maps/map_source.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>

#include "core/base/check.h"
#include "core/base/numbers.h"
#include "kernels/cpu/window.h"

namespace headroom {
namespace {

const HeadProgram::Map* map_of(const MapSource::Head& head, std::size_t m) {
  const HeadProgram& program = head.program;
  if (m == 0) return program.has_first() ? &program.first : nullptr;
  return program.has_second() ? &program.second : nullptr;
}

// The head as the kernels see it, without values.
kernels::HeadProblem<float> problem_of(const MapSource& source, const MapSource::Head& head) {
  kernels::HeadProblem<float> problem;
  problem.mask = source.mask(head);
  problem.head_dim = source.head_dim;
  for (std::size_t m = 0; m < 2; ++m) {
    const HeadProgram::Map* map = map_of(head, m);
    if (!map) continue;
    kernels::MapInput<float>& input = problem.maps[m];
    input.query = source.queries.data() + map->query_block * source.row_count() * source.head_dim;
    input.key = source.keys.data() + map->key_block * source.key_count() * source.head_dim;
    input.query_stride = input.key_stride = source.head_dim;
  }
  problem.lambda = head.lambda.empty() ? nullptr : head.lambda.data();
  problem.scale = source.scale;
  problem.softcap = source.softcap;
  problem.temperature = head.program.temperature;
  if (source.bias) problem.bias = source.bias->of_head(head.head);
  problem.has_sink = head.program.sink != SinkSource::None;
  problem.sink = head.sink;
  problem.softpick = head.program.normalizer == Normalizer::Softpick;
  return problem;
}

void fill_with_nan(const kernels::WindowRequest& request, const kernels::WindowCells& cells) {
  for (float* plane : {cells.mean, cells.max_magnitude, cells.positive, cells.negative})
    for (std::int64_t row = 0; plane && row < request.cell_rows(); ++row)
      std::fill_n(plane + row * cells.stride, request.cell_columns(), static_cast<float>(kNaN));
}

// z of one entry: scaled, biased, capped, with what a dense mask adds, divided by the temperature.
double logit(const kernels::HeadProblem<float>& problem, std::size_t m, std::int64_t query, std::int64_t key) {
  const float* q = problem.maps[m].query + query * problem.maps[m].query_stride;
  const float* k = problem.maps[m].key + key * problem.maps[m].key_stride;
  double sum = 0.0;
  for (std::int64_t c = 0; c < problem.head_dim; ++c) sum += static_cast<double>(q[c]) * static_cast<double>(k[c]);
  double z = problem.scale * sum;
  if (problem.bias) z += problem.bias[query + problem.mask.first_query - key];
  if (problem.softcap > 0.0) z = problem.softcap * std::tanh(z / problem.softcap);
  if (problem.mask.dense) z += problem.mask.dense->at(query, key);
  return z / problem.temperature;
}

}  // namespace

kernels::Mask MapSource::mask(const Head& of) const {
  return {row_count(),
          causal,
          window,
          0,
          of.program.hidden_keys,
          first_query,
          key_count(),
          dense ? dense->of_head(of.head) : nullptr,
          chunk,
          always_visible};
}

const MapSource::Head* MapSource::find(std::int64_t head) const {
  const auto found = std::ranges::lower_bound(heads, head, {}, &Head::head);
  return found != heads.end() && found->head == head ? &*found : nullptr;
}

std::size_t MapSource::size_bytes() const {
  std::size_t bytes = (queries.capacity() + keys.capacity()) * sizeof(float);
  if (bias) bytes += bias->values.capacity() * sizeof(double);
  for (const Head& head : heads)
    bytes += (head.lse[0].capacity() + head.lse[1].capacity() + head.lambda.capacity()) * sizeof(double);
  if (dense) bytes += dense->size_bytes();
  return bytes;
}

Result<void> MapSource::window_of(std::int64_t head, const kernels::WindowRequest& request,
                                  const kernels::WindowCells& cells, const kernels::ParallelFor& parallel,
                                  const kernels::StopRequested& stop) const {
  const Head* found = find(head);
  HEADROOM_CHECK(found != nullptr, "the maps of this head were not kept");
  const auto inside = [&](std::int64_t begin, std::int64_t count) {
    return begin >= 0 && count >= 0 && begin <= length && count <= length - begin;
  };
  HEADROOM_CHECK(
      inside(request.row_begin, request.rows) && inside(request.key_begin, request.keys) && request.reduction > 0,
      "a window lies inside its map");
  const kernels::HeadProblem<float> problem = problem_of(*this, *found);
  const auto lse = [&](std::size_t m) { return problem.maps[m].present() ? found->lse[m].data() : nullptr; };
  kernels::WindowRequest there = request;
  there.rows = std::clamp<std::int64_t>(row_count() - request.row_begin, 0, request.rows);
  there.keys = std::clamp<std::int64_t>(key_count() - request.key_begin, 0, request.keys);
  if (there.rows < request.rows || there.keys < request.keys) fill_with_nan(request, cells);
  if (there.rows == 0 || there.keys == 0) return {};
  if (!kernels::cpu_window<float>(problem, {lse(0), lse(1)}, there, cells, parallel, stop))
    return Error(ErrorCode::Cancelled, "cancelled");
  return {};
}

MapSource::Cell MapSource::cell(std::int64_t head, std::int64_t query, std::int64_t key) const {
  Cell cell{kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, false};
  const Head* found = find(head);
  if (!found || query < 0 || query >= row_count()) return cell;
  const auto row = static_cast<std::size_t>(query);
  if (!found->lambda.empty()) cell.lambda = found->lambda[row];
  const kernels::HeadProblem<float> problem = problem_of(*this, *found);
  cell.visible = problem.mask.sees(query, key);
  if (!cell.visible) return cell;
  double net = 0.0;
  for (std::size_t m = 0; m < 2; ++m) {
    if (!problem.maps[m].present()) continue;
    const double z = logit(problem, m, query, key);
    const double lse = found->lse[m][row];
    const double weight = problem.softpick ? std::max(std::exp(z - lse) - std::exp(-lse), 0.0) : std::exp(z - lse);
    (m == 0 ? cell.first_logit : cell.second_logit) = z;
    (m == 0 ? cell.first : cell.second) = weight;
    net += m == 0 ? weight : -cell.lambda * weight;
  }
  if (problem.maps[0].present() || problem.maps[1].present()) cell.net = net;
  return cell;
}

std::uint64_t next_map_source_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace headroom
