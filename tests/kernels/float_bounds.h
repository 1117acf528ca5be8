// How far a float32 backend may be from the double reference, for every element of every statistic of one head: bounds
// from the sizes of the logits, the length, float's rounding, and twice the error of logits computed plainly in float.
// Plain functions.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/attention.h"

namespace headroom::test {

inline constexpr double kFloatRounding = 0x1p-24;
// What flushing denormals may lose of a sum of a few thousand products relative to a row's largest.
inline constexpr double kFlushed = 1e-32;

// Bounds have the shape of what they bound; bounds of counts are numbers of entries that lie within rounding of an
// edge.
struct FloatBounds {
  kernels::HeadStatistics statistics;
  std::vector<double> context;  // [length, value_dim]
};

namespace bounds {

struct Logits {
  std::vector<double> z;   // [rows, keys]; NaN where masked
  double error = 0.0;      // δ: of any visible z
  double raw_error = 0.0;  // before cap and temperature
};

// δ = 2 · |z of a plain float loop − z| + 2⁻²⁴ · (4 + 4 max |z| + 2 max |q||k| + 2 max |bias|): the loop shows what
// float32 dots of these queries and keys lose; the rest is for rows too few to show it, the factor log₂e and the
// subtraction of a reference.
[[nodiscard]] inline Logits logits(const kernels::HeadProblem<double>& p, std::size_t m) {
  const kernels::MapInput<double>& map = p.maps[m];
  Logits result{std::vector<double>(static_cast<std::size_t>(p.mask.length * p.mask.keys()), NAN), 0.0, 0.0};
  const auto cap = [&](auto raw) {
    using Real = decltype(raw);
    const auto c = static_cast<Real>(p.softcap);
    return (c > 0 ? c * std::tanh(raw / c) : raw) / static_cast<Real>(p.temperature);
  };
  double plain = 0.0, plain_raw = 0.0, largest = 0.0, largest_raw = 0.0, largest_bias = 0.0;
  const auto norm = [&](const double* row) {
    double sum = 0.0;
    for (std::int64_t c = 0; c < p.head_dim; ++c)
      if (std::isfinite(row[c])) sum += row[c] * row[c];
    return std::sqrt(sum);
  };
  double query_norm = 0.0, key_norm = 0.0;
  std::vector<float> query(static_cast<std::size_t>(p.head_dim)), keys;
  for (std::int64_t j = 0; j < p.mask.keys(); ++j) {
    const double* key = map.key + j * map.key_stride;
    for (std::int64_t c = 0; c < p.head_dim; ++c) keys.push_back(static_cast<float>(key[c]));
    key_norm = std::max(key_norm, norm(key));
  }
  for (std::int64_t i = 0; i < p.mask.length; ++i)
    query_norm = std::max(query_norm, norm(map.query + i * map.query_stride));
  std::vector<kernels::KeyRange> segments;
  for (std::int64_t i = 0; i < p.mask.length; ++i) {
    const double* q = map.query + i * map.query_stride;
    for (std::int64_t c = 0; c < p.head_dim; ++c) query[static_cast<std::size_t>(c)] = static_cast<float>(q[c]);
    p.mask.segments(i, segments);
    for (const kernels::KeyRange& segment : segments)
      for (std::int64_t j = segment.begin; j < segment.end; ++j) {
        const double* k = map.key + j * map.key_stride;
        const float* narrow_key = keys.data() + j * p.head_dim;
        double dot = 0.0;
        float narrow = 0.0f;
        for (std::int64_t c = 0; c < p.head_dim; ++c) {
          dot += q[c] * k[c];
          narrow += query[static_cast<std::size_t>(c)] * narrow_key[c];
        }
        const double added = p.mask.dense ? p.mask.dense->at(i, j) / p.temperature : 0.0;
        const double bias = p.bias ? p.bias[i + p.mask.first_query - j] : 0.0;
        const double raw = p.scale * dot + bias, z = cap(raw) + added;
        const float narrow_raw = static_cast<float>(p.scale) * narrow + static_cast<float>(bias);
        result.z[static_cast<std::size_t>(i * p.mask.keys() + j)] = z;
        if (!std::isfinite(raw)) continue;
        plain_raw = std::max(plain_raw, std::abs(static_cast<double>(narrow_raw) - raw));
        plain = std::max(plain, std::abs(static_cast<double>(cap(narrow_raw)) + added - z));
        largest_raw = std::max(largest_raw, std::abs(raw));
        largest_bias = std::max(largest_bias, std::abs(bias));
        largest = std::max({largest, std::abs(z), p.softcap / p.temperature});
      }
  }
  const double product = p.scale * query_norm * key_norm + largest_bias;
  result.error = 2.0 * plain + kFloatRounding * (4.0 + 4.0 * largest + 2.0 * product / p.temperature);
  result.raw_error = 2.0 * plain_raw + kFloatRounding * (4.0 * largest_raw + 2.0 * product) + 1e-37;
  return result;
}

// Entries that may fall on either side of each inner edge.
inline void near_edges(const kernels::UniformBins& bins, double value, double error, std::vector<std::int64_t>& out) {
  const double position = (value - bins.low) / bins.width, slack = error / bins.width;
  if (!std::isfinite(position)) return;
  const auto first = static_cast<std::int64_t>(std::ceil(std::max(position - slack, 1.0)));
  const auto last =
      static_cast<std::int64_t>(std::floor(std::min(position + slack, static_cast<double>(bins.bins - 1))));
  if (first > last) return;
  for (std::int64_t bin = first - 1; bin <= last; ++bin) ++out[static_cast<std::size_t>(bin)];
}

}  // namespace bounds

// `expected`: what the reference says with everything wanted.
[[nodiscard]] inline FloatBounds float_bounds(const kernels::HeadProblem<double>& p,
                                              const kernels::StatisticsRequest& request,
                                              const kernels::HeadStatistics& expected) {
  FloatBounds result;
  kernels::HeadStatistics& bound = result.statistics;
  kernels::resize_statistics(p, request, bound);
  const std::int64_t n = p.mask.length, keys = p.mask.keys(), channels = p.value_dim;
  const double u = kFloatRounding;
  result.context.assign(static_cast<std::size_t>(n * channels), 0.0);
  std::vector<double> net(static_cast<std::size_t>(n), 0.0), net_squares(net), root_energy(net);
  double worst_weight = 0.0;
  for (std::size_t m = 0; m < 2; ++m) {
    if (!p.maps[m].present()) continue;
    const bounds::Logits logits = bounds::logits(p, m);
    const kernels::MapStatistics& map = expected.maps[m];
    kernels::MapStatistics& b = bound.maps[m];
    const double delta = logits.error;
    // Of a weight, relative: δ of its own logit and of the row's sum, two exponentials to 2.5 roundings, and 63 float
    // additions before doubles take over; of a row, as many as it sees keys.
    const double rho = std::expm1(2.0 * delta) + 80.0 * u;
    worst_weight = std::max(worst_weight, rho);
    b.logit_max_raw = logits.raw_error;
    std::vector<double> mean_square(static_cast<std::size_t>(keys), 0.0);
    for (std::int64_t j = 0; j < keys; ++j)
      for (std::int64_t c = 0; c < channels; ++c)
        mean_square[static_cast<std::size_t>(j)] +=
            std::pow(p.maps[m].value[j * p.maps[m].value_stride + c], 2) / static_cast<double>(channels);
    // Sums over up to B keys of a pooled cell, or over the 48 rows and 8 strips of a column, stay in float.
    const double sums = rho + u * static_cast<double>(std::max<std::int64_t>(bound.pool_size, 24));
    std::vector<double> absolute(static_cast<std::size_t>(channels));
    for (std::int64_t i = 0; i < n; ++i) {
      const auto r = static_cast<std::size_t>(i);
      const double lambda = m == 0 ? 1.0 : std::abs(p.lambda[i]);
      const double* z = logits.z.data() + i * keys;
      const auto masked = std::count_if(z, z + keys, [](double value) { return std::isnan(value); });
      const double row_rho = std::expm1(2.0 * delta) +
                             u * (17.0 + static_cast<double>(std::clamp<std::int64_t>(keys - masked - 1, 0, 63)));
      std::fill(absolute.begin(), absolute.end(), 0.0);
      double distance = 0.0, energy = 0.0;
      for (std::int64_t j = 0; j < keys; ++j) {
        if (std::isnan(z[j])) continue;
        const auto key = static_cast<std::size_t>(j);
        const double a = std::exp(z[j] - map.lse[r]);
        distance += a * static_cast<double>(std::abs(i + p.mask.first_query - j));
        energy += a * a * mean_square[key];
        for (std::int64_t c = 0; c < channels; ++c)
          absolute[static_cast<std::size_t>(c)] += a * std::abs(p.maps[m].value[j * p.maps[m].value_stride + c]);
        bound.column_sum[key] += sums * lambda * a;
        if (bound.pool_blocks > 0) {
          const auto cell = static_cast<std::size_t>(i / bound.pool_size * bound.pool_blocks + j / bound.pool_size);
          for (std::vector<double>* pooled : {&bound.pooled_sum, &bound.pooled_positive, &bound.pooled_negative})
            (*pooled)[cell] += 2.0 * sums * lambda * a;
        }
        const double gap = map.logit_max[r] - z[j] + std::log1p(-0x1p-9);
        if (std::abs(gap) <= 2.0 * delta) ++b.rounds_to_one[r];
        if (request.logit_bins.bins > 0)
          bounds::near_edges(request.logit_bins, z[j], delta + 4.0 * u * std::abs(request.logit_bins.low),
                             b.logit_histogram);
        const kernels::UniformBins& weights = request.log10_weight_bins;
        if (weights.bins > 0)
          bounds::near_edges(weights, (z[j] - map.lse[r]) / std::log(10.0),
                             2.0 * delta + 80.0 * u + 4.0 * u * (std::abs(weights.low) + std::abs(z[j] - map.lse[r])),
                             b.weight_histogram);
      }
      b.lse[r] = delta + 80.0 * u + u * std::abs(map.lse[r]);
      b.logit_max[r] = b.logit_min[r] = delta;
      // (1 − p)·(LSE − Σ a z / Σ a): each of both terms may be larger than H, by what they are relative to.
      const double span = 9.0 + std::log(static_cast<double>(keys)) + std::max(0.0, map.lse[r] - map.logit_max[r]);
      b.entropy[r] = row_rho * (map.weight_sum[r] * span + 2.0 * map.entropy[r]) + kFlushed;
      b.weight_max[r] = row_rho * map.weight_max[r] + kFlushed;
      b.weight_l2_squared[r] = 2.0 * row_rho * map.weight_l2_squared[r] + kFlushed;
      b.weight_sum[r] = row_rho * map.weight_sum[r] + kFlushed;
      b.first_key_weight[r] = row_rho * map.first_key_weight[r] + kFlushed;
      b.self_weight[r] = row_rho * map.self_weight[r] + kFlushed;
      b.previous_weight[r] = row_rho * map.previous_weight[r] + kFlushed;
      b.induction_weight[r] = row_rho * map.induction_weight[r] + kFlushed;
      b.mean_distance[r] = row_rho * distance + kFlushed * static_cast<double>(std::max(n, keys));
      double squares = 0.0;
      for (std::int64_t c = 0; c < channels; ++c) {
        const double off = (row_rho + 64.0 * u) * absolute[static_cast<std::size_t>(c)] + kFlushed;
        squares += off * off;
        result.context[static_cast<std::size_t>(i * channels + c)] += lambda * off;
      }
      b.context_energy[r] = 2.0 * std::sqrt(map.context_energy[r] * squares) + squares + kFlushed;
      net[r] += lambda * map.weight_sum[r];
      net_squares[r] += lambda * std::sqrt(map.weight_l2_squared[r]);
      root_energy[r] += lambda * std::sqrt(energy);
      bound.first_key_net[r] += lambda * b.first_key_weight[r];
    }
    for (std::size_t j = 0; j < b.column_sum.size(); ++j) b.column_sum[j] = sums * map.column_sum[j] + kFlushed;
    for (std::size_t cell = 0; cell < b.pooled_sum.size(); ++cell) {
      b.pooled_sum[cell] = sums * map.pooled_sum[cell] + kFlushed;
      b.pooled_max[cell] = rho * map.pooled_max[cell] + kFlushed;
      double lambda = 1.0;
      for (std::int64_t i = 0; m == 1 && i < n; ++i) lambda = std::max(lambda, std::abs(p.lambda[i]));
      bound.pooled_highest[cell] += lambda * b.pooled_max[cell];
      bound.pooled_lowest[cell] += lambda * b.pooled_max[cell];
    }
  }
  for (std::size_t i = 0; i < net.size(); ++i) {
    bound.weight_sum[i] = bound.weight_l1[i] = worst_weight * net[i] + kFlushed;
    // w² and w²r² with w within ρ·(a¹ + |λ|a²), by Cauchy–Schwarz over the keys.
    bound.weight_l2_squared[i] = 2.0 * worst_weight * net_squares[i] * net_squares[i] + kFlushed;
    bound.uncorrelated_energy[i] = 2.0 * (worst_weight + 16.0 * u) * root_energy[i] * root_energy[i] + kFlushed;
    if (!bound.cross.empty()) bound.cross[i] = 2.0 * worst_weight * expected.cross[i] + kFlushed;
    bound.first_key_absolute[i] = bound.first_key_net[i];
  }
  for (std::vector<double>* array :
       {&bound.column_sum, &bound.pooled_sum, &bound.pooled_positive, &bound.pooled_negative})
    for (double& value : *array) value += kFlushed;
  return result;
}

// Collects a sentence for each array with an element beyond its bound: the element furthest beyond, both values, the
// bound. Infinite and undefined values must be the same.
class BoundedMatch {
 public:
  template <typename Found, typename Expected, typename Bound>
  void values(std::string_view name, const std::vector<Found>& found, const std::vector<Expected>& expected,
              const std::vector<Bound>& bound) {
    if (found.size() != expected.size() || bound.size() != expected.size()) {
      report_ << name << " has " << found.size() << " elements, expected " << expected.size() << "\n";
      return;
    }
    double most = 1.0;
    std::size_t worst = expected.size();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto a = static_cast<double>(found[i]), b = static_cast<double>(expected[i]);
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      const double ratio = std::abs(a - b) / static_cast<double>(bound[i]);
      if (ratio <= most) continue;  // false for NaN
      most = std::isnan(ratio) ? INFINITY : ratio;
      worst = i;
    }
    if (worst < expected.size())
      report_ << name << "[" << worst << "] is " << found[worst] << ", expected " << expected[worst] << " within "
              << bound[worst] << "\n";
  }
  [[nodiscard]] std::string report() const { return report_.str(); }

 private:
  std::ostringstream report_;
};

// Empty when everything that `found` has is within its bound.
[[nodiscard]] inline std::string beyond_bounds(const kernels::HeadStatistics& found,
                                               const kernels::HeadStatistics& expected,
                                               const kernels::HeadStatistics& bound) {
  using kernels::HeadStatistics;
  using kernels::MapStatistics;
  BoundedMatch match;
  for (std::size_t m = 0; m < 2; ++m) {
    const std::string map = "map " + std::to_string(m + 1) + " ";
    const MapStatistics &a = found.maps[m], &b = expected.maps[m], &c = bound.maps[m];
    const auto check = [&](std::string_view name, auto array) {
      match.values(map + std::string(name), a.*array, b.*array, c.*array);
    };
    check("lse", &MapStatistics::lse);
    check("logit_max", &MapStatistics::logit_max);
    check("logit_min", &MapStatistics::logit_min);
    check("entropy", &MapStatistics::entropy);
    check("weight_max", &MapStatistics::weight_max);
    check("weight_l2_squared", &MapStatistics::weight_l2_squared);
    check("weight_sum", &MapStatistics::weight_sum);
    check("first_key_weight", &MapStatistics::first_key_weight);
    check("self_weight", &MapStatistics::self_weight);
    check("previous_weight", &MapStatistics::previous_weight);
    check("induction_weight", &MapStatistics::induction_weight);
    check("mean_distance", &MapStatistics::mean_distance);
    check("context_energy", &MapStatistics::context_energy);
    check("rounds_to_one", &MapStatistics::rounds_to_one);
    check("column_sum", &MapStatistics::column_sum);
    check("logit_histogram", &MapStatistics::logit_histogram);
    check("weight_histogram", &MapStatistics::weight_histogram);
    check("pooled_sum", &MapStatistics::pooled_sum);
    check("pooled_max", &MapStatistics::pooled_max);
    match.values(map + "logit_max_raw", std::vector{a.logit_max_raw}, std::vector{b.logit_max_raw},
                 std::vector{c.logit_max_raw});
  }
  const auto check = [&](std::string_view name, auto array) {
    match.values(name, found.*array, expected.*array, bound.*array);
  };
  check("weight_sum", &HeadStatistics::weight_sum);
  check("weight_l1", &HeadStatistics::weight_l1);
  check("weight_l2_squared", &HeadStatistics::weight_l2_squared);
  check("cross", &HeadStatistics::cross);
  check("uncorrelated_energy", &HeadStatistics::uncorrelated_energy);
  check("first_key_net", &HeadStatistics::first_key_net);
  check("first_key_absolute", &HeadStatistics::first_key_absolute);
  check("column_sum", &HeadStatistics::column_sum);
  check("pooled_sum", &HeadStatistics::pooled_sum);
  check("pooled_highest", &HeadStatistics::pooled_highest);
  check("pooled_lowest", &HeadStatistics::pooled_lowest);
  check("pooled_positive", &HeadStatistics::pooled_positive);
  check("pooled_negative", &HeadStatistics::pooled_negative);
  return match.report();
}

}  // namespace headroom::test
