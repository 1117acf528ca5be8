#include "kernels/reference/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <vector>

namespace headroom::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// With e^{−max(m, 0)} taken out, so that nothing overflows where all logits are negative.
void softpick_row(double largest, ReferenceRow& row) {
  if (largest == -kInfinity && std::none_of(row.z.begin(), row.z.end(), [](double z) { return std::isnan(z); })) {
    row.lse = -kInfinity;
    return;
  }
  const double shift = std::max(largest, 0.0), one = std::exp(-shift);
  double sum = kSoftpickEpsilon * std::exp(largest - shift);
  for (std::size_t j = 0; j < row.z.size(); ++j)
    if (row.visible[j] && row.z[j] != -kInfinity) sum += std::abs(std::exp(row.z[j] - shift) - one);
  row.lse = finite_or_nan(shift + std::log(sum));
  for (std::size_t j = 0; j < row.z.size(); ++j)
    if (row.visible[j]) row.a[j] = std::max(std::exp(row.z[j] - row.lse) - std::exp(-row.lse), 0.0);
}

ReferenceRow attention_row(const HeadProblem<double>& problem, const MapInput<double>& map, std::int64_t i) {
  const auto length = static_cast<std::size_t>(problem.mask.keys());
  ReferenceRow row{std::vector<double>(length, -kInfinity), std::vector<double>(length, -kInfinity),
                   std::vector<double>(length, 0.0), std::vector<bool>(length, false), 0.0};
  const DenseMask* dense = problem.mask.dense;
  std::vector<double> added(dense ? length : 0, 0.0);
  if (dense) dense->read(dense->source, i, 1, 0, problem.mask.keys(), added.data());
  std::vector<KeyRange> segments;
  problem.mask.segments(i, segments);
  const std::int64_t position = i + problem.mask.first_query;
  double largest = problem.has_sink ? problem.sink : -kInfinity;
  for (const KeyRange& segment : segments)
    for (std::int64_t j = segment.begin; j < segment.end; ++j) {
      const auto key = static_cast<std::size_t>(j);
      double dot = 0.0;
      for (std::int64_t c = 0; c < problem.head_dim; ++c)
        dot += map.query[i * map.query_stride + c] * map.key[j * map.key_stride + c];
      row.raw[key] = problem.scale * dot + (problem.bias ? problem.bias[position - j] : 0.0);
      const double capped =
          problem.softcap > 0.0 ? problem.softcap * std::tanh(row.raw[key] / problem.softcap) : row.raw[key];
      row.z[key] = (dense ? capped + added[key] : capped) / problem.temperature;
      row.visible[key] = true;
      largest = std::max(largest, row.z[key]);
    }
  if (problem.softpick) {
    softpick_row(largest, row);
    return row;
  }
  double sum = problem.has_sink ? std::exp(problem.sink - largest) : 0.0;
  for (std::size_t j = 0; j < length; ++j)
    if (row.visible[j]) sum += std::exp(row.z[j] - largest);
  // A row may see nothing.
  row.lse = segments.empty() && !problem.has_sink ? -kInfinity : finite_or_nan(largest + std::log(sum));
  for (std::size_t j = 0; j < length; ++j)
    if (row.visible[j]) row.a[j] = std::exp(row.z[j] - row.lse);
  return row;
}

void count(const UniformBins& bins, double value, std::vector<std::int64_t>& histogram) {
  const double position = std::floor((value - bins.low) / bins.width);
  const double last = static_cast<double>(bins.bins - 1);
  ++histogram[static_cast<std::size_t>(position > 0.0 ? std::min(position, last) : 0.0)];
}

void map_statistics(const HeadProblem<double>& problem, const StatisticsRequest& request, const ReferenceRow& row,
                    std::int64_t i, MapStatistics& map) {
  const auto r = static_cast<std::size_t>(i);
  const std::int64_t position = i + problem.mask.first_query;
  map.lse[r] = row.lse;
  map.logit_max[r] = -kInfinity;
  map.logit_min[r] = kInfinity;
  const bool defined = !std::isnan(row.lse);
  for (std::size_t j = 0; j < row.z.size(); ++j) {
    if (!row.visible[j]) continue;
    const double a = row.a[j];
    map.logit_max[r] = larger_or_nan(map.logit_max[r], row.z[j]);
    map.logit_min[r] = -larger_or_nan(-map.logit_min[r], -row.z[j]);
    map.logit_max_raw = larger_or_nan(map.logit_max_raw, row.raw[j]);
    if (a != 0.0) map.entropy[r] -= a * std::log(a);
    map.weight_max[r] = larger_or_nan(map.weight_max[r], a);
    map.weight_l2_squared[r] += a * a;
    map.weight_sum[r] += a;
    map.mean_distance[r] += a * std::abs(static_cast<double>(position - static_cast<std::int64_t>(j)));
    map.column_sum[j] += a;
    if (!defined) continue;
    if (request.logit_bins.bins > 0) count(request.logit_bins, row.z[j], map.logit_histogram);
    if (request.log10_weight_bins.bins > 0)
      count(request.log10_weight_bins, problem.softpick ? std::log10(a) : (row.z[j] - row.lse) / std::log(10.0),
            map.weight_histogram);
  }
  const double delta = -std::log1p(-std::exp2(-9.0));
  for (std::size_t j = 0; j < row.z.size(); ++j)
    if (defined && row.visible[j] && map.logit_max[r] - row.z[j] <= delta) ++map.rounds_to_one[r];
  const auto weight_at = [&](std::int64_t key) {
    return key >= 0 && key < problem.mask.keys() ? row.a[static_cast<std::size_t>(key)] : 0.0;
  };
  map.first_key_weight[r] = weight_at(0);
  map.self_weight[r] = weight_at(position);
  map.previous_weight[r] = weight_at(position - 1);
  map.induction_weight[r] = weight_at(problem.induction_key ? problem.induction_key[i] : -1);
}

double mean_square(const MapInput<double>& map, std::int64_t j, std::int64_t value_dim) {
  double sum = 0.0;
  for (std::int64_t c = 0; c < value_dim; ++c) {
    const double v = finite_or_nan(map.value[j * map.value_stride + c]);
    sum += v * v;
  }
  return sum / static_cast<double>(value_dim);
}

void drop_unwanted(StatisticSet wanted, HeadStatistics& statistics) {
  const auto drop = [&](StatisticSet kind, std::initializer_list<std::vector<double>*> arrays) {
    if (!(wanted & kind))
      for (std::vector<double>* array : arrays) array->clear();
  };
  for (MapStatistics& map : statistics.maps) {
    drop(kRowStatistics, {&map.lse, &map.logit_max, &map.logit_min, &map.entropy, &map.weight_max,
                          &map.weight_l2_squared, &map.weight_sum, &map.mean_distance, &map.context_energy});
    drop(kNamedKeys, {&map.first_key_weight, &map.self_weight, &map.previous_weight, &map.induction_weight});
    drop(kColumnSums, {&map.column_sum});
    if (!(wanted & kRoundsToOne)) map.rounds_to_one.clear();
  }
  drop(kRowStatistics, {&statistics.weight_sum, &statistics.weight_l1, &statistics.weight_l2_squared, &statistics.cross,
                        &statistics.uncorrelated_energy});
  drop(kNamedKeys, {&statistics.first_key_net, &statistics.first_key_absolute});
  drop(kColumnSums, {&statistics.column_sum});
}

}  // namespace

ReferenceRow reference_row(const HeadProblem<double>& problem, std::size_t map, std::int64_t row) {
  return attention_row(problem, problem.maps[map], row);
}

std::vector<double> reference_weights(const HeadProblem<double>& problem, std::size_t map, std::int64_t row) {
  return reference_row(problem, map, row).a;
}

void reference_attention(const HeadProblem<double>& problem, const StatisticsRequest& given, HeadStatistics& statistics,
                         std::span<double> context) {
  StatisticsRequest request = given;
  if (request.wanted != 0) request.wanted = kAllStatistics;
  resize_statistics(problem, request, statistics);
  const bool pair = problem.maps[0].present() && problem.maps[1].present();
  const bool same_values = pair && problem.maps[0].value == problem.maps[1].value;
  const std::int64_t blocks = statistics.pool_blocks;
  for (std::int64_t i = 0; i < problem.mask.length; ++i) {
    const auto r = static_cast<std::size_t>(i);
    const bool sees = problem.mask.visible(i) > 0;
    const double lambda = sees && problem.maps[1].present() ? finite_or_nan(problem.lambda[i]) : 0.0;
    std::vector<double> net(static_cast<std::size_t>(problem.mask.keys()), 0.0);
    std::vector<double> energy(net.size(), 0.0);
    std::vector<bool> visible(net.size(), false);
    std::array<std::vector<double>, 2> weights;
    std::vector<double> out(static_cast<std::size_t>(problem.value_dim), 0.0);
    for (std::size_t m = 0; m < 2; ++m) {
      const MapInput<double>& map = problem.maps[m];
      if (!map.present()) continue;
      const ReferenceRow row = attention_row(problem, map, i);
      const double coefficient = m == 0 ? 1.0 : -lambda;
      double context_energy = 0.0;
      for (std::int64_t c = 0; c < problem.value_dim; ++c) {
        double sum = 0.0;
        for (std::int64_t j = 0; j < problem.mask.keys(); ++j)
          if (row.visible[static_cast<std::size_t>(j)])
            sum += row.a[static_cast<std::size_t>(j)] * finite_or_nan(map.value[j * map.value_stride + c]);
        context_energy += sum * sum;
        out[static_cast<std::size_t>(c)] += coefficient * sum;
      }
      for (std::size_t j = 0; j < net.size(); ++j) {
        if (!row.visible[j]) continue;
        visible[j] = true;
        net[j] += coefficient * row.a[j];
        const double part = coefficient * row.a[j];
        energy[j] += part * part * mean_square(map, static_cast<std::int64_t>(j), problem.value_dim);
      }
      if (request.wanted != 0) {
        map_statistics(problem, request, row, i, statistics.maps[m]);
        statistics.maps[m].context_energy[r] = context_energy;
        for (std::size_t j = 0; blocks > 0 && j < net.size(); ++j) {
          const auto cell = static_cast<std::size_t>(i / statistics.pool_size * blocks +
                                                     static_cast<std::int64_t>(j) / statistics.pool_size);
          statistics.maps[m].pooled_sum[cell] += row.a[j];
          statistics.maps[m].pooled_max[cell] = larger_or_nan(statistics.maps[m].pooled_max[cell], row.a[j]);
        }
      }
      weights[m] = row.a;
    }
    std::copy(out.begin(), out.end(), context.begin() + i * problem.value_dim);
    if (request.wanted == 0) continue;
    for (std::size_t j = 0; j < net.size(); ++j) {
      if (!visible[j]) continue;
      const double w = net[j];
      statistics.weight_sum[r] += w;
      statistics.weight_l1[r] += std::abs(w);
      statistics.weight_l2_squared[r] += w * w;
      statistics.column_sum[j] += w;
      if (pair) statistics.cross[r] += weights[0][j] * weights[1][j];
      const MapInput<double>& any = problem.maps[0].present() ? problem.maps[0] : problem.maps[1];
      statistics.uncorrelated_energy[r] +=
          pair && !same_values ? energy[j] : w * w * mean_square(any, static_cast<std::int64_t>(j), problem.value_dim);
      if (blocks == 0) continue;
      const auto cell = static_cast<std::size_t>(i / statistics.pool_size * blocks +
                                                 static_cast<std::int64_t>(j) / statistics.pool_size);
      statistics.pooled_sum[cell] += w;
      statistics.pooled_highest[cell] = larger_or_nan(statistics.pooled_highest[cell], w);
      statistics.pooled_lowest[cell] = smaller_or_nan(statistics.pooled_lowest[cell], w);
      statistics.pooled_positive[cell] += larger_or_nan(w, 0.0);
      statistics.pooled_negative[cell] += larger_or_nan(-w, 0.0);
    }
    statistics.first_key_net[r] = net.empty() ? 0.0 : net[0];
    statistics.first_key_absolute[r] = std::abs(statistics.first_key_net[r]);
  }
  drop_unwanted(given.wanted, statistics);
}

}  // namespace headroom::kernels
