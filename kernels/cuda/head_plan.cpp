#include "kernels/cuda/head_plan.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>
#include <vector>

namespace headroom::kernels::cuda {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLog2E = std::numbers::log2e, kLn2 = std::numbers::ln2;
constexpr std::int64_t kMaxLength = 1 << 30;
constexpr std::int64_t kMaxBins = 4096;

std::int64_t padded(std::int64_t length) { return (length + kTile - 1) / kTile * kTile; }

template <class Input>
bool pair(const HeadProblem<Input>& problem) {
  return problem.maps[0].present() && problem.maps[1].present();
}

template <class Input>
Operand<Input> operand(const Input* data, std::int64_t stride, std::int64_t channels) {
  const auto aligned = [&](std::int64_t group) {
    return reinterpret_cast<std::uintptr_t>(data) % (static_cast<std::size_t>(group) * sizeof(Input)) == 0 &&
           stride % group == 0;
  };
  return {data, stride, aligned(4), sizeof(Input) == 2 && aligned(8) && channels % 8 == 0};
}

Bins bins_of(const UniformBins& bins, double unit) {
  return {static_cast<int>(bins.bins), static_cast<float>(unit / bins.width),
          static_cast<float>(-bins.low / bins.width)};
}

// 0 in rows that see nothing.
template <class Input>
double row_lambda(const HeadProblem<Input>& problem, std::size_t i) {
  return static_cast<std::int64_t>(i) >= problem.mask.first_key ? finite_or_nan(problem.lambda[i]) : 0.0;
}

// What follows from a row's sums in double: the factor from sums relative to the maximum to weights.
struct RowTotals {
  double lse = -kInfinity;
  double weight = 0.0;  // of the largest logit
  double below = 0.0;   // lse − largest logit
};

template <class Input>
RowTotals totals(const HeadProblem<Input>& problem, bool sees, double largest, double sum) {
  RowTotals result;
  if (!sees || (problem.has_sink && largest == -kInfinity && sum == 0.0)) {
    if (problem.has_sink) result.lse = finite_or_nan(problem.sink);
    if (sees) result.weight = result.lse - result.lse;
    return result;
  }
  const double keys = largest + std::log(sum);
  const double top = problem.has_sink ? std::max(keys, problem.sink) : keys;
  result.lse =
      finite_or_nan(problem.has_sink ? top + std::log(std::exp(keys - top) + std::exp(problem.sink - top)) : keys);
  result.below = result.lse - largest;
  result.weight = std::exp(-result.below);
  return result;
}

template <class Input>
void finish_rows(HeadJob<Input, float>& job, const HeadPlan& plan, std::size_t m, Regions& regions,
                 std::vector<double>& value_energy) {
  const HeadProblem<Input>& problem = job.problem;
  MapStatistics& map = job.statistics.maps[m];
  const auto length = static_cast<std::size_t>(problem.mask.length);
  const float* rows = regions.outputs.host<float>(plan.maps[m].rows);
  const float* energy = regions.outputs.host<float>(plan.maps[m].energy);
  const std::int64_t chunks = (problem.value_dim + plan.value_chunk - 1) / plan.value_chunk;
  for (std::size_t i = 0; i < length; ++i) {
    const auto value = [&](RowArray kind) { return static_cast<double>(rows[kind * length + i]); };
    const double largest = value(kMax) * kLn2, sum = value(kSum);
    const bool sees = static_cast<std::int64_t>(i) >= problem.mask.first_key;
    const RowTotals total = totals(problem, sees, largest, sum);
    map.lse[i] = total.lse;
    map.logit_max[i] = largest;
    map.logit_min[i] = value(kMin) * kLn2;
    map.weight_max[i] = total.weight;
    map.weight_sum[i] = total.weight * sum;
    map.weight_l2_squared[i] = total.weight * total.weight * value(kSumSquares);
    // −Σ a ln a = Σ a (lse − max) − Σ a (z − max): both parts are positive.
    map.entropy[i] = map.weight_sum[i] * total.below - total.weight * kLn2 * value(kSumLogits);
    map.mean_distance[i] = total.weight * value(kSumDistance);
    value_energy[i] = total.weight * total.weight * value(kValueEnergy);
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
      map.context_energy[i] += static_cast<double>(energy[static_cast<std::size_t>(chunk) * length + i]);
    map.logit_max_raw =
        larger_or_nan(map.logit_max_raw, problem.softcap > 0.0 ? value(kRawMax) : largest * problem.temperature);
  }
}

template <class Input>
void finish_net_rows(HeadJob<Input, float>& job, const HeadPlan& plan, Regions& regions,
                     const std::array<std::vector<double>, 2>& value_energy) {
  const HeadProblem<Input>& problem = job.problem;
  HeadStatistics& statistics = job.statistics;
  const auto length = static_cast<std::size_t>(problem.mask.length);
  const float* net = regions.outputs.host<float>(plan.net_rows);
  const bool same_values = problem.maps[0].value == problem.maps[1].value;
  const std::size_t only = problem.maps[0].present() ? 0 : 1;
  for (std::size_t i = 0; i < length; ++i) {
    const double lambda = problem.maps[1].present() ? row_lambda(problem, i) : 0.0;
    if (pair(problem)) {
      const auto value = [&](NetRowArray kind) { return static_cast<double>(net[kind * length + i]); };
      statistics.weight_sum[i] = statistics.maps[0].weight_sum[i] - lambda * statistics.maps[1].weight_sum[i];
      statistics.weight_l1[i] = value(kNetL1);
      statistics.weight_l2_squared[i] = value(kNetSquares);
      statistics.cross[i] = value(kNetCross);
      statistics.uncorrelated_energy[i] =
          same_values ? value(kNetEnergy) : value_energy[0][i] + lambda * lambda * value_energy[1][i];
      continue;
    }
    const double factor = only == 0 ? 1.0 : -lambda;
    statistics.weight_sum[i] = factor * statistics.maps[only].weight_sum[i];
    statistics.weight_l1[i] = std::abs(factor) * statistics.maps[only].weight_sum[i];
    statistics.weight_l2_squared[i] = factor * factor * statistics.maps[only].weight_l2_squared[i];
    statistics.uncorrelated_energy[i] = factor * factor * value_energy[only][i];
  }
}

template <class Input>
void finish_named(HeadJob<Input, float>& job, const HeadPlan& plan, Regions& regions) {
  const HeadProblem<Input>& problem = job.problem;
  const auto length = static_cast<std::size_t>(problem.mask.length);
  for (std::size_t m = 0; m < 2; ++m) {
    if (!problem.maps[m].present()) continue;
    MapStatistics& map = job.statistics.maps[m];
    const float* named = regions.outputs.host<float>(plan.maps[m].named);
    map.first_key_weight.assign(named + kFirstKey * length, named + (kFirstKey + 1) * length);
    map.self_weight.assign(named + kSelfKey * length, named + (kSelfKey + 1) * length);
    map.previous_weight.assign(named + kPreviousKey * length, named + (kPreviousKey + 1) * length);
    map.induction_weight.assign(named + kInductionKey * length, named + (kInductionKey + 1) * length);
    for (std::size_t i = 0; i < length; ++i)
      if (problem.mask.sees(static_cast<std::int64_t>(i), 0))
        job.statistics.first_key_net[i] += (m == 0 ? 1.0 : -row_lambda(problem, i)) * map.first_key_weight[i];
  }
  for (std::size_t i = 0; i < length; ++i)
    job.statistics.first_key_absolute[i] = std::abs(job.statistics.first_key_net[i]);
}

template <class Input>
void finish_pools(HeadJob<Input, float>& job, const HeadPlan& plan, Regions& regions) {
  HeadStatistics& statistics = job.statistics;
  const auto cells = static_cast<std::size_t>(plan.pool_blocks) * static_cast<std::size_t>(plan.pool_blocks);
  const float* pooled = regions.outputs.host<float>(plan.pooled);
  const auto take = [&](Pooled kind, std::vector<double>& to) {
    to.assign(pooled + kind * cells, pooled + (kind + 1) * cells);
  };
  if (job.problem.maps[0].present()) {
    take(kPoolSum1, statistics.maps[0].pooled_sum);
    take(kPoolMax1, statistics.maps[0].pooled_max);
  }
  if (!job.problem.maps[1].present()) {
    statistics.pooled_sum = statistics.pooled_positive = statistics.maps[0].pooled_sum;
    statistics.pooled_highest = statistics.maps[0].pooled_max;
    statistics.pooled_negative = statistics.pooled_lowest = nothing_negative(statistics.pooled_sum);
    return;
  }
  take(kPoolSum2, statistics.maps[1].pooled_sum);
  take(kPoolMax2, statistics.maps[1].pooled_max);
  take(kPoolPositive, statistics.pooled_positive);
  take(kPoolNegative, statistics.pooled_negative);
  take(kPoolHighest, statistics.pooled_highest);
  take(kPoolLowest, statistics.pooled_lowest);
  for (std::size_t cell = 0; cell < cells; ++cell) {
    statistics.pooled_sum[cell] = statistics.pooled_positive[cell] - statistics.pooled_negative[cell];
    statistics.pooled_lowest[cell] = 0.0 - statistics.pooled_lowest[cell];
  }
}

}  // namespace

template <class Input>
KernelStatus check(const HeadJob<Input, float>& job) {
  const HeadProblem<Input>& problem = job.problem;
  const StatisticsRequest& request = job.request;
  const auto invalid = [](const char* text) { return KernelStatus{StatusCode::InvalidArgument, text}; };
  const auto unsupported = [](const char* text) { return KernelStatus{StatusCode::Unsupported, text}; };
  // A head without rows is fine; it gets empty statistics.
  if (problem.mask.length < 0 || problem.head_dim < 1 || problem.value_dim < 1)
    return invalid("a head's length is negative, or its head_dim or value_dim not positive");
  if (!problem.maps[0].present() && !problem.maps[1].present()) return invalid("a head has no map");
  if (problem.maps[1].present() && problem.lambda == nullptr) return invalid("a head with a second map has no λ");
  if (job.context == nullptr) return invalid("a head has no context to write to");
  for (const UniformBins* bins : {&request.logit_bins, &request.log10_weight_bins})
    if (bins->bins < 0 || (bins->bins > 0 && !(bins->width > 0.0))) return invalid("a histogram's bins have no width");
  if (!problem.mask.square() || problem.mask.dense != nullptr || problem.mask.always_visible > 0)
    return unsupported(
        "the CUDA kernels take as many keys as queries, no dense mask and no keys that are always visible");
  if (problem.bias != nullptr && problem.scale == 0.0)
    return unsupported("the CUDA kernels take no bias by distance where the scale of the logits is 0");
  if (problem.mask.length > kMaxLength) return unsupported("the CUDA kernels take at most 2^30 positions");
  if (problem.head_dim > kCudaHeadDim) return unsupported("the CUDA kernels take a head_dim of at most 256");
  if (problem.value_dim > kCudaValueDim) return unsupported("the CUDA kernels take a value_dim of at most 4096");
  if (request.logit_bins.bins + request.log10_weight_bins.bins > kMaxBins)
    return unsupported("the CUDA kernels take at most 4096 bins for both histograms");
  if (request.pool_blocks > kCudaPoolBlocks) return unsupported("the CUDA kernels pool to at most 8192 blocks");
  return {};
}

template <class Input>
void resize(HeadJob<Input, float>& job) {
  static constexpr float kPresent = 0.0f;
  HeadProblem<float> shape;
  shape.mask.length = job.problem.mask.length;
  for (std::size_t m = 0; m < 2; ++m)
    if (job.problem.maps[m].present()) shape.maps[m].query = &kPresent;
  resize_statistics(shape, job.request, job.statistics);
}

template <class Input>
HeadPlan reserve(const HeadJob<Input, float>& job, int value_chunk, Regions& regions) {
  const HeadProblem<Input>& problem = job.problem;
  const StatisticSet wanted = job.request.wanted;
  const std::int64_t length = problem.mask.length;
  HeadPlan plan;
  plan.value_chunk = value_chunk;
  plan.keep_rows = (wanted & kRowStatistics) != 0;
  plan.pool_size = static_cast<int>(job.statistics.pool_size);
  plan.pool_blocks = static_cast<int>(job.statistics.pool_blocks);
  if (problem.maps[1].present()) plan.lambda = regions.inputs.reserve<float>(length);
  if (problem.bias) plan.bias = regions.inputs.reserve<float>(problem.mask.ahead() + 1 + problem.mask.behind());
  if (!problem.mask.hidden_keys.empty()) plan.flags = regions.inputs.reserve<std::uint8_t>(length);
  for (std::size_t m = 0; m < 2; ++m) {
    if (!problem.maps[m].present()) continue;
    plan.maps[m].odd_keys = regions.scratch.reserve<int>(length);
    plan.maps[m].odd_count = regions.scratch.reserve<int>(1);
  }
  if (wanted == 0) return plan;

  Region& outputs = regions.outputs;
  const std::int64_t bins = job.request.logit_bins.bins + job.request.log10_weight_bins.bins;
  for (std::size_t m = 0; m < 2; ++m) {
    if (!problem.maps[m].present()) continue;
    MapPlan& map = plan.maps[m];
    map.rows = (plan.keep_rows ? outputs : regions.scratch).reserve<float>(kRowArrays * length);
    if (plan.keep_rows) {
      map.energy = outputs.reserve<float>((problem.value_dim + value_chunk - 1) / value_chunk * length);
      map.value_square = regions.scratch.reserve<float>(padded(length));
    }
    if (wanted & kNamedKeys) map.named = outputs.reserve<float>(kNamedKeyArrays * length);
    if (wanted & kColumnSums) map.column_sum = outputs.reserve<double>(length);
    if (wanted & kRoundsToOne) map.rounds_to_one = outputs.reserve<int>(length);
    if (bins > 0) map.histograms = outputs.reserve<unsigned long long>(bins);
  }
  if ((wanted & kNamedKeys) && problem.induction_key != nullptr)
    plan.induction_key = regions.inputs.reserve<int>(length);
  if (plan.keep_rows && pair(problem)) plan.net_rows = outputs.reserve<float>(kNetRowArrays * length);
  if ((wanted & kColumnSums) && problem.maps[1].present()) plan.net_column_sum = outputs.reserve<double>(length);
  if (plan.pool_blocks > 0) {
    const std::int64_t kinds = problem.maps[1].present() ? kPooledKinds : kPooledKindsOfOneMap;
    const std::int64_t blocks = plan.pool_blocks;
    plan.pool_columns = (kTile - 2 + plan.pool_size) / plan.pool_size + 1;
    plan.pool_parts = regions.scratch.reserve<float>(kinds * (padded(length) / kTile) * plan.pool_columns * blocks);
    plan.pooled = outputs.reserve<float>(kinds * blocks * blocks);
  }
  return plan;
}

template <class Input>
HeadParameters<Input> parameters(const HeadJob<Input, float>& job, const HeadPlan& plan, Regions& regions) {
  const HeadProblem<Input>& problem = job.problem;
  const auto length = static_cast<std::size_t>(problem.mask.length);
  HeadParameters<Input> head;
  for (std::size_t m = 0; m < 2; ++m) {
    const MapInput<Input>& given = problem.maps[m];
    if (!given.present()) continue;
    const MapPlan& map = plan.maps[m];
    MapParameters<Input>& to = head.maps[m];
    to.query = operand(given.query, given.query_stride, problem.head_dim);
    to.key = operand(given.key, given.key_stride, problem.head_dim);
    to.value = operand(given.value, given.value_stride, problem.value_dim);
    to.rows = (plan.keep_rows ? regions.outputs : regions.scratch).template device<float>(map.rows);
    to.energy = regions.outputs.device<float>(map.energy);
    to.value_square = regions.scratch.device<float>(map.value_square);
    to.odd_keys = regions.scratch.device<int>(map.odd_keys);
    to.odd_count = regions.scratch.device<int>(map.odd_count);
    to.named = regions.outputs.device<float>(map.named);
    to.column_sum = regions.outputs.device<double>(map.column_sum);
    to.rounds_to_one = regions.outputs.device<int>(map.rounds_to_one);
    to.histograms = regions.outputs.device<unsigned long long>(map.histograms);
    head.sweep = head.sweep || map.column_sum || map.rounds_to_one || map.histograms || plan.pooled;
  }
  const kernels::Mask& mask = problem.mask;
  head.mask = {static_cast<int>(mask.length),
               static_cast<int>(mask.behind()),
               static_cast<int>(mask.ahead()),
               static_cast<int>(std::min(mask.first_key, mask.length)),
               regions.inputs.device<std::uint8_t>(plan.flags),
               static_cast<int>(std::min(mask.chunk, mask.length))};
  if (plan.flags) std::ranges::copy(mask_flags(mask), regions.inputs.host<std::uint8_t>(plan.flags));
  const double unit = kLog2E / problem.temperature;
  head.scaling.logit = static_cast<float>(problem.scale * unit);
  head.scaling.raw = static_cast<float>(problem.scale);
  head.scaling.capped = problem.softcap > 0.0;
  if (head.scaling.capped) {
    head.scaling.cap_inner = static_cast<float>(problem.scale / problem.softcap);
    head.scaling.cap_outer = static_cast<float>(problem.softcap * unit);
  }
  head.bias = regions.inputs.device<float>(plan.bias);
  if (plan.bias)
    for (std::int64_t d = -mask.ahead(); d <= mask.behind(); ++d)
      regions.inputs.host<float>(plan.bias)[d + mask.ahead()] = static_cast<float>(problem.bias[d] / problem.scale);
  head.head_dim = static_cast<int>(problem.head_dim);
  head.value_dim = static_cast<int>(problem.value_dim);
  head.value_chunk = plan.value_chunk;
  head.has_sink = problem.has_sink;
  head.sink = static_cast<float>(problem.sink * kLog2E);
  if (!(head.sink < std::numeric_limits<float>::infinity())) head.sink = std::numeric_limits<float>::quiet_NaN();
  head.context = job.context;
  head.context_stride = job.context_stride;
  head.row_statistics = plan.keep_rows;
  head.rounds_threshold = static_cast<float>(std::log1p(-std::exp2(-9.0)) * kLog2E);
  if (plan.maps[0].histograms || plan.maps[1].histograms) {
    head.logit_bins = bins_of(job.request.logit_bins, kLn2);
    head.weight_bins = bins_of(job.request.log10_weight_bins, std::log10(2.0));
  }
  if (plan.pooled) {
    head.pool_size = plan.pool_size;
    head.pool_blocks = plan.pool_blocks;
    head.pool_columns = plan.pool_columns;
  }
  head.pool_parts = regions.scratch.device<float>(plan.pool_parts);
  head.pooled = regions.outputs.device<float>(plan.pooled);
  head.net_column_sum = regions.outputs.device<double>(plan.net_column_sum);
  head.net_rows = regions.outputs.device<float>(plan.net_rows);
  head.lambda = regions.inputs.device<float>(plan.lambda);
  if (plan.lambda)
    for (std::size_t i = 0; i < length; ++i)
      regions.inputs.host<float>(plan.lambda)[i] = static_cast<float>(row_lambda(problem, i));
  head.induction_key = regions.inputs.device<int>(plan.induction_key);
  if (plan.induction_key)
    std::transform(problem.induction_key, problem.induction_key + length, regions.inputs.host<int>(plan.induction_key),
                   [](std::int64_t key) { return static_cast<int>(key); });
  return head;
}

template <class Input>
void finish(HeadJob<Input, float>& job, const HeadPlan& plan, Regions& regions) {
  const StatisticSet wanted = job.request.wanted;
  if (wanted == 0) return;
  const auto length = static_cast<std::size_t>(job.problem.mask.length);
  std::array<std::vector<double>, 2> value_energy;  // Σ a² r²
  for (std::size_t m = 0; m < 2; ++m) {
    if (!job.problem.maps[m].present()) continue;
    MapStatistics& map = job.statistics.maps[m];
    value_energy[m].assign(length, 0.0);
    if (plan.keep_rows) finish_rows(job, plan, m, regions, value_energy[m]);
    if (const double* sums = regions.outputs.host<double>(plan.maps[m].column_sum))
      map.column_sum.assign(sums, sums + length);
    if (const int* counts = regions.outputs.host<int>(plan.maps[m].rounds_to_one))
      map.rounds_to_one.assign(counts, counts + length);
    if (const auto* counts = regions.outputs.host<unsigned long long>(plan.maps[m].histograms)) {
      const std::size_t logit_bins = map.logit_histogram.size();
      std::copy_n(counts, logit_bins, map.logit_histogram.begin());
      std::copy_n(counts + logit_bins, map.weight_histogram.size(), map.weight_histogram.begin());
    }
  }
  if (plan.keep_rows) finish_net_rows(job, plan, regions, value_energy);
  if (wanted & kNamedKeys) finish_named(job, plan, regions);
  if (plan.net_column_sum) {
    const double* sums = regions.outputs.host<double>(plan.net_column_sum);
    job.statistics.column_sum.assign(sums, sums + length);
  } else if (wanted & kColumnSums) {
    job.statistics.column_sum = job.statistics.maps[0].column_sum;
  }
  if (plan.pooled) finish_pools(job, plan, regions);
}

#define HEADROOM_INSTANTIATE(Input)                                                                   \
  template KernelStatus check(const HeadJob<Input, float>&);                                          \
  template void resize(HeadJob<Input, float>&);                                                       \
  template HeadPlan reserve(const HeadJob<Input, float>&, int, Regions&);                             \
  template HeadParameters<Input> parameters(const HeadJob<Input, float>&, const HeadPlan&, Regions&); \
  template void finish(HeadJob<Input, float>&, const HeadPlan&, Regions&)

HEADROOM_INSTANTIATE(float);
HEADROOM_INSTANTIATE(BFloat16);
HEADROOM_INSTANTIATE(Float16);

}  // namespace headroom::kernels::cuda
