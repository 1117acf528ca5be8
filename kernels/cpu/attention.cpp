#include "kernels/cpu/attention.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "kernels/cpu/flush_denormals.h"
#include "kernels/cpu/part.h"
#include "kernels/cpu/scratch_pool.h"

namespace headroom::kernels {
namespace {

constexpr std::int64_t kMostParts = 16, kRowsPerPart = 256;

// Row boundaries of a head's parts: of about equal area under a causal mask, the same for any thread count.
std::vector<std::int64_t> part_boundaries(std::int64_t length, bool triangular) {
  const std::int64_t parts = std::clamp<std::int64_t>(length / kRowsPerPart, 1, kMostParts);
  std::vector<std::int64_t> boundaries = {0};
  for (std::int64_t part = 1; part < parts; ++part) {
    const double share = static_cast<double>(part) / static_cast<double>(parts);
    const double row = static_cast<double>(length) * (triangular ? std::sqrt(share) : share);
    const std::int64_t aligned = std::llround(row / kStripAlignment) * kStripAlignment;
    if (aligned > boundaries.back() && aligned < length) boundaries.push_back(aligned);
  }
  boundaries.push_back(length);
  return boundaries;
}

// What a part adds up beyond its own rows.
struct PartSums {
  struct Map {
    std::vector<double> column_sum, pooled_sum, pooled_max;
    std::vector<std::int64_t> logit_histogram, weight_histogram;
    std::vector<std::uint32_t> joint_histogram;
    double logit_max_raw = 0.0;
  };
  std::array<Map, 2> maps;
  std::vector<double> column_sum, pooled_sum, pooled_positive, pooled_negative, pooled_highest, pooled_lowest;
  std::int64_t key_begin = 0, pool_row = 0;
};

template <typename Input>
struct HeadPlan {
  HeadJob<Input, float>* job = nullptr;
  std::array<const float*, 2> value_mean_square{};
  std::array<const std::uint8_t*, 2> odd_values{};
  std::vector<std::uint8_t> flags, blind;
  std::vector<float> bias;  // as in Part
  std::int64_t bias_lowest = 0;
  std::vector<std::int64_t> boundaries;
  std::vector<std::unique_ptr<PartSums>> sums;
  std::atomic<std::int64_t> parts_left{0};
};

double* data_or_null(std::vector<double>& values) { return values.empty() ? nullptr : values.data(); }

float as_float(float value) { return value; }
float as_float(BFloat16 value) {
  const std::uint32_t bits = static_cast<std::uint32_t>(value.bits) << 16;
  float result;
  static_assert(sizeof(result) == sizeof(bits));
  __builtin_memcpy(&result, &bits, sizeof(result));
  return result;
}

// r_j² of one value tensor and, where there are any, the odd values: both as in Part.
struct ValueSquares {
  std::vector<float> mean_squares;  // [length]
  std::vector<std::uint8_t> odd;    // [length] or empty
};
template <typename Input>
void value_mean_squares(const MapInput<Input>& map, std::int64_t length, std::int64_t value_dim, ValueSquares& result) {
  result.mean_squares.resize(static_cast<std::size_t>(length));
  for (std::int64_t j = 0; j < length; ++j) {
    const Input* row = map.value + j * map.value_stride;
    std::array<float, 16> sums{};
    std::int64_t c = 0;
    for (; c + 16 <= value_dim; c += 16)
      for (std::size_t lane = 0; lane < 16; ++lane) {
        const float v = as_float(row[c + static_cast<std::int64_t>(lane)]);
        sums[lane] += v * v;
      }
    double sum = 0.0;
    for (const float part : sums) sum += static_cast<double>(part);
    for (; c < value_dim; ++c) sum += static_cast<double>(as_float(row[c])) * static_cast<double>(as_float(row[c]));
    const auto at = static_cast<std::size_t>(j);
    const auto mean = static_cast<float>(sum / static_cast<double>(value_dim));
    result.mean_squares[at] = std::isfinite(mean) ? mean : 0.0f;
    if (std::isfinite(mean)) continue;
    result.odd.resize(static_cast<std::size_t>(length), 0);
    result.odd[at] = 1;
  }
}

// Lanes behind the last row and keys up to the end of a block are scored, too.
template <typename Input>
void spread_bias(HeadPlan<Input>& plan) {
  constexpr std::int64_t kBeyond = 2 * kWidestStrip;
  const HeadProblem<Input>& problem = plan.job->problem;
  if (!problem.bias) return;
  const Mask& mask = problem.mask;
  plan.bias_lowest = mask.first_query - mask.keys() - kBeyond;
  plan.bias.assign(static_cast<std::size_t>(mask.length + mask.keys() + 2 * kBeyond), 0.0f);
  const double unit = problem.softcap > 0.0 ? 1.0 : std::numbers::log2e / problem.temperature;
  const std::int64_t most = plan.bias_lowest + static_cast<std::int64_t>(plan.bias.size()) - 1;
  for (std::int64_t d = std::max(-mask.ahead(), plan.bias_lowest); d <= std::min(mask.behind(), most); ++d)
    plan.bias[static_cast<std::size_t>(d - plan.bias_lowest)] = static_cast<float>(unit * problem.bias[d]);
}

PartRows part_rows(MapStatistics& map) {
  return {data_or_null(map.lse),
          data_or_null(map.logit_max),
          data_or_null(map.logit_min),
          data_or_null(map.entropy),
          data_or_null(map.weight_max),
          data_or_null(map.weight_l2_squared),
          data_or_null(map.weight_sum),
          data_or_null(map.mean_distance),
          data_or_null(map.context_energy),
          data_or_null(map.first_key_weight),
          data_or_null(map.self_weight),
          data_or_null(map.previous_weight),
          data_or_null(map.induction_weight),
          map.rounds_to_one.empty() ? nullptr : map.rounds_to_one.data()};
}

// Whether something is wanted that only final weights give.
template <typename Input>
bool needs_second_pass(const HeadJob<Input, float>& job) {
  const StatisticsRequest& request = job.request;
  if (request.wanted == 0) return false;
  const bool pair = job.problem.maps[0].present() && job.problem.maps[1].present();
  return (request.wanted & (kColumnSums | kRoundsToOne)) != 0 || (pair && (request.wanted & kRowStatistics) != 0) ||
         request.logit_bins.bins > 0 || request.log10_weight_bins.bins > 0 || request.pool_blocks > 0;
}

// The part without its sums.
template <typename Input>
Part<Input> describe_part(const HeadPlan<Input>& plan, std::size_t index, std::int64_t kept_bytes) {
  HeadJob<Input, float>& job = *plan.job;
  const HeadProblem<Input>& problem = job.problem;
  HeadStatistics& statistics = job.statistics;
  Part<Input> part{};
  for (std::size_t m = 0; m < 2; ++m) {
    part.maps[m] = problem.maps[m];
    part.value_mean_square[m] = plan.value_mean_square[m];
    part.odd_values[m] = plan.odd_values[m];
    part.rows[m] = part_rows(statistics.maps[m]);
  }
  part.mask = plain_mask(problem.mask, plan.flags, plan.blind);
  part.head_dim = problem.head_dim;
  part.value_dim = problem.value_dim;
  part.row_begin = plan.boundaries[index];
  part.row_end = plan.boundaries[index + 1];
  const std::int64_t first_seeing = std::clamp(part.mask.first_row, part.row_begin, part.row_end - 1);
  part.key_begin = problem.mask.keys_of(first_seeing).begin / 8 * 8;
  part.key_end = std::max(part.key_begin, problem.mask.keys_of(part.row_end - 1).end);
  part.lambda = problem.maps[1].present() ? problem.lambda : nullptr;
  part.scale = problem.scale;
  part.softcap = problem.softcap;
  part.temperature = problem.temperature;
  part.bias = plan.bias.empty() ? nullptr : plan.bias.data();
  part.bias_lowest = plan.bias_lowest;
  part.has_sink = problem.has_sink;
  part.sink = problem.sink;
  part.induction_key = problem.induction_key;
  part.rows_wanted = (job.request.wanted & kRowStatistics) != 0;
  part.columns_wanted = (job.request.wanted & kColumnSums) != 0;
  part.second_pass = needs_second_pass(job);
  part.logit_bins = job.request.wanted != 0 ? job.request.logit_bins : UniformBins{};
  part.weight_bins = job.request.wanted != 0 ? job.request.log10_weight_bins : UniformBins{};
  part.pool_size = statistics.pool_size;
  part.pool_blocks = statistics.pool_blocks;
  part.context = job.context;
  part.context_stride = job.context_stride;
  part.weight_sum = data_or_null(statistics.weight_sum);
  part.weight_l1 = data_or_null(statistics.weight_l1);
  part.weight_l2_squared = data_or_null(statistics.weight_l2_squared);
  part.cross = data_or_null(statistics.cross);
  part.uncorrelated_energy = data_or_null(statistics.uncorrelated_energy);
  part.first_key_net = data_or_null(statistics.first_key_net);
  part.first_key_absolute = data_or_null(statistics.first_key_absolute);
  const std::int64_t maps = problem.maps[0].present() && problem.maps[1].present() ? 2 : 1;
  const std::int64_t reach = std::min(part.key_end - part.key_begin, part.mask.widest() + 2 * kWidestStrip + 8);
  const std::int64_t bytes = reach * kWidestStrip * maps * static_cast<std::int64_t>(sizeof(float));
  part.keep_scores = part.second_pass && bytes <= kept_bytes;
  part.kept_keys = part.keep_scores ? reach : 0;
  return part;
}

// Gives the part its sums, all zero.
template <typename Input>
void attach_sums(const HeadPlan<Input>& plan, Part<Input>& part, PartSums& sums) {
  const HeadStatistics& statistics = plan.job->statistics;
  const HeadProblem<Input>& problem = plan.job->problem;
  const auto keys = static_cast<std::size_t>(part.key_end - part.key_begin);
  sums.key_begin = part.key_begin;
  std::size_t cells = 0;
  if (part.pool_blocks > 0) {
    sums.pool_row = part.row_begin / part.pool_size;
    cells = static_cast<std::size_t>(((part.row_end - 1) / part.pool_size - sums.pool_row + 1) * part.pool_blocks);
  }
  part.pool_row = sums.pool_row;
  for (std::size_t m = 0; m < 2; ++m) {
    if (!problem.maps[m].present()) continue;
    PartSums::Map& map = sums.maps[m];
    map.logit_max_raw = statistics.maps[m].logit_max_raw;
    if (!statistics.maps[m].column_sum.empty()) map.column_sum.assign(keys, 0.0);
    map.logit_histogram.assign(statistics.maps[m].logit_histogram.size(), 0);
    map.weight_histogram.assign(statistics.maps[m].weight_histogram.size(), 0);
    const std::size_t bins =
        std::max<std::size_t>(map.logit_histogram.size(), 1) * std::max<std::size_t>(map.weight_histogram.size(), 1);
    if (part.logit_bins.bins > 0 || part.weight_bins.bins > 0) map.joint_histogram.assign(bins + 1, 0);
    map.pooled_sum.assign(cells, 0.0);
    map.pooled_max.assign(cells, 0.0);
    part.sums[m] = {data_or_null(map.column_sum),
                    map.joint_histogram.empty() ? nullptr : map.joint_histogram.data(),
                    map.logit_histogram.data(),
                    map.weight_histogram.data(),
                    data_or_null(map.pooled_sum),
                    data_or_null(map.pooled_max),
                    map.logit_max_raw};
  }
  // With the first map alone the net sums are its own.
  if (problem.maps[1].present()) {
    if (!statistics.column_sum.empty()) sums.column_sum.assign(keys, 0.0);
    for (auto* pooled :
         {&sums.pooled_sum, &sums.pooled_positive, &sums.pooled_negative, &sums.pooled_highest, &sums.pooled_lowest})
      pooled->assign(cells, 0.0);
  }
  part.column_sum = data_or_null(sums.column_sum);
  part.pooled_sum = data_or_null(sums.pooled_sum);
  part.pooled_positive = data_or_null(sums.pooled_positive);
  part.pooled_negative = data_or_null(sums.pooled_negative);
  part.pooled_highest = data_or_null(sums.pooled_highest);
  part.pooled_lowest = data_or_null(sums.pooled_lowest);
}

template <typename T>
void add(std::vector<T>& target, const std::vector<T>& source, std::int64_t offset = 0) {
  for (std::size_t i = 0; i < source.size(); ++i) target[static_cast<std::size_t>(offset) + i] += source[i];
}

// Each by `of`, larger_or_nan or smaller_or_nan.
void extend(std::vector<double>& target, const std::vector<double>& source, std::int64_t offset,
            double (*of)(double, double)) {
  for (std::size_t i = 0; i < source.size(); ++i) {
    double& cell = target[static_cast<std::size_t>(offset) + i];
    cell = of(cell, source[i]);
  }
}

// All parts of a head are done: their sums, in their order.
template <typename Input>
void fold_head(HeadPlan<Input>& plan) {
  HeadStatistics& statistics = plan.job->statistics;
  const HeadProblem<Input>& problem = plan.job->problem;
  for (std::unique_ptr<PartSums>& sums : plan.sums) {
    const std::int64_t cell = sums->pool_row * statistics.pool_blocks;
    for (std::size_t m = 0; m < 2; ++m) {
      if (!problem.maps[m].present()) continue;
      MapStatistics& map = statistics.maps[m];
      const PartSums::Map& part = sums->maps[m];
      add(map.column_sum, part.column_sum, sums->key_begin);
      add(map.logit_histogram, part.logit_histogram);
      add(map.weight_histogram, part.weight_histogram);
      add(map.pooled_sum, part.pooled_sum, cell);
      extend(map.pooled_max, part.pooled_max, cell, larger_or_nan);
      map.logit_max_raw = larger_or_nan(map.logit_max_raw, part.logit_max_raw);
    }
    add(statistics.column_sum, sums->column_sum, sums->key_begin);
    add(statistics.pooled_sum, sums->pooled_sum, cell);
    add(statistics.pooled_positive, sums->pooled_positive, cell);
    add(statistics.pooled_negative, sums->pooled_negative, cell);
    extend(statistics.pooled_highest, sums->pooled_highest, cell, larger_or_nan);
    extend(statistics.pooled_lowest, sums->pooled_lowest, cell, smaller_or_nan);
    sums.reset();
  }
  if (problem.maps[1].present()) return;
  const MapStatistics& only = statistics.maps[0];
  statistics.column_sum = only.column_sum;
  statistics.pooled_sum = statistics.pooled_positive = only.pooled_sum;
  statistics.pooled_highest = only.pooled_max;
  statistics.pooled_negative = statistics.pooled_lowest = nothing_negative(only.pooled_sum);
}

}  // namespace

template <typename Input>
bool cpu_attention(std::span<HeadJob<Input, float>> jobs, const ParallelFor& parallel_for, const StopRequested& stop,
                   std::int64_t kept_bytes) {
  std::vector<HeadPlan<Input>> plans(jobs.size());
  // Heads that read the same values share their squares.
  struct Values {
    const MapInput<Input>* map;
    std::int64_t length, value_dim;
    ValueSquares squares;
  };
  std::vector<Values> values;
  std::vector<std::pair<std::size_t, std::size_t>> works;  // (head, part)
  std::vector<std::array<std::size_t, 2>> value_of(jobs.size());
  std::int64_t scratch = 0;
  for (std::size_t h = 0; h < jobs.size(); ++h) {
    HeadPlan<Input>& plan = plans[h];
    plan.job = &jobs[h];
    const HeadProblem<Input>& problem = jobs[h].problem;
    resize_statistics(problem, jobs[h].request, jobs[h].statistics);
    if (problem.mask.length == 0) continue;
    plan.flags = mask_flags(problem.mask);
    plan.blind = blind_rows(problem.mask);
    spread_bias(plan);
    plan.boundaries = part_boundaries(problem.mask.length, problem.mask.causal && problem.mask.reaches_back());
    plan.sums.resize(plan.boundaries.size() - 1);
    plan.parts_left = static_cast<std::int64_t>(plan.sums.size());
    for (std::size_t p = 0; p < plan.sums.size(); ++p) {
      works.emplace_back(h, p);
      scratch = std::max(scratch, part_scratch_floats(describe_part(plan, p, kept_bytes)));
    }
    for (std::size_t m = 0; m < 2; ++m) {
      const MapInput<Input>& map = problem.maps[m];
      if (!map.present()) continue;
      const auto same = std::find_if(values.begin(), values.end(), [&](const Values& known) {
        return known.map->value == map.value && known.map->value_stride == map.value_stride &&
               known.length == problem.mask.keys() && known.value_dim == problem.value_dim;
      });
      value_of[h][m] = static_cast<std::size_t>(same - values.begin());
      if (same == values.end()) values.push_back({&map, problem.mask.keys(), problem.value_dim, {}});
    }
  }
  parallel_for(static_cast<std::int64_t>(values.size()), [&](std::int64_t index) {
    Values& value = values[static_cast<std::size_t>(index)];
    value_mean_squares(*value.map, value.length, value.value_dim, value.squares);
  });
  for (std::size_t h = 0; h < jobs.size(); ++h)
    for (std::size_t m = 0; m < 2; ++m) {
      if (!jobs[h].problem.maps[m].present() || jobs[h].problem.mask.length == 0) continue;
      const ValueSquares& squares = values[value_of[h][m]].squares;
      plans[h].value_mean_square[m] = squares.mean_squares.data();
      plans[h].odd_values[m] = squares.odd.empty() ? nullptr : squares.odd.data();
    }

  ScratchPool pool(scratch);
  std::atomic<bool> complete{true};
  struct Stop {
    const StopRequested* asked;
    std::atomic<bool>* complete;
  } stop_state{&stop, &complete};
  parallel_for(static_cast<std::int64_t>(works.size()), [&](std::int64_t index) {
    if (!complete) return;
    const auto [h, p] = works[static_cast<std::size_t>(index)];
    HeadPlan<Input>& plan = plans[h];
    const FlushDenormals flush;
    Part<Input> part = describe_part(plan, p, kept_bytes);
    auto sums = std::make_unique<PartSums>();
    attach_sums(plan, part, *sums);
    part.stop_context = &stop_state;
    part.stop = [](const void* context) {
      const Stop& state = *static_cast<const Stop*>(context);
      return !*state.complete || (*state.asked && (*state.asked)());
    };
    ScratchPool::Piece memory = pool.borrow();
    const bool done = run_part(part, memory.get());
    pool.give_back(std::move(memory));
    if (!done) {
      complete = false;
      return;
    }
    for (std::size_t m = 0; m < 2; ++m) sums->maps[m].logit_max_raw = part.sums[m].logit_max_raw;
    plan.sums[p] = std::move(sums);
    if (--plan.parts_left == 0) fold_head(plan);
  });
  return complete;
}

const char* cpu_kernel_target() { return part_target(); }

template bool cpu_attention<float>(std::span<HeadJob<float, float>>, const ParallelFor&, const StopRequested&,
                                   std::int64_t);
template bool cpu_attention<BFloat16>(std::span<HeadJob<BFloat16, float>>, const ParallelFor&, const StopRequested&,
                                      std::int64_t);

}  // namespace headroom::kernels
