// Attention as whole matrices in double, from the definitions of core/measure/QUANTITIES.md and with none of the code
// under test: the mask is one predicate, the softmax divides by the plain sum. For logits small enough not to overflow,
// and biases of every distance between a row and a key. Plain functions.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "kernels/attention.h"

namespace headroom::test {

class Matrix {
 public:
  Matrix() = default;
  Matrix(std::int64_t rows, std::int64_t columns)
      : columns_(columns), values_(static_cast<std::size_t>(rows * columns)) {}
  double& operator()(std::int64_t i, std::int64_t j) { return values_[static_cast<std::size_t>(i * columns_ + j)]; }
  double operator()(std::int64_t i, std::int64_t j) const {
    return values_[static_cast<std::size_t>(i * columns_ + j)];
  }

 private:
  std::int64_t columns_ = 0;
  std::vector<double> values_;
};

// What a dense mask adds to an entry; −∞ hides it.
[[nodiscard]] inline double dense_added(const kernels::HeadProblem<double>& p, std::int64_t i, std::int64_t j) {
  return p.mask.dense ? p.mask.dense->at(i, j) : 0.0;
}

// With the row at position q = i + first_query: 0 ≤ j < keys, j ≤ q where causal, |q − j| < window, in the same chunk
// of positions, which are counted from the first key (window and chunks let the first `always_visible` keys be), not
// hidden, not −∞ in the dense mask; a row that would see
// nothing keeps its own key q, where only its being hidden forbids it. Padding neither sees nor is seen.
[[nodiscard]] inline bool dense_visible(const kernels::HeadProblem<double>& p, std::int64_t i, std::int64_t j) {
  const std::int64_t q = i + p.mask.first_query;
  const auto allowed = [&](std::int64_t key) {
    if (key < 0 || key >= p.mask.keys() || q < p.mask.first_key || key < p.mask.first_key) return false;
    if (p.mask.causal && key > q) return false;
    const bool always = key - p.mask.first_key < p.mask.always_visible;
    if (!always && p.mask.window > 0 && std::abs(key - q) >= p.mask.window) return false;
    const auto chunk_of = [&](std::int64_t at) { return (at - p.mask.first_key) / p.mask.chunk; };
    if (!always && p.mask.chunk > 0 && chunk_of(key) != chunk_of(q)) return false;
    return dense_added(p, i, key) != -INFINITY;
  };
  const auto sees = [&](std::int64_t key) {
    return allowed(key) &&
           std::find(p.mask.hidden_keys.begin(), p.mask.hidden_keys.end(), key) == p.mask.hidden_keys.end();
  };
  if (sees(j)) return true;
  if (j != q || !allowed(j)) return false;
  for (std::int64_t key = 0; key < p.mask.keys(); ++key)
    if (sees(key)) return false;
  return true;
}

struct DenseMap {
  Matrix raw, z, a;
  std::vector<double> lse;
  std::vector<bool> undefined;  // rows without a softmax
};

// The larger one, NaN where either is.
[[nodiscard]] inline double dense_max(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
}
[[nodiscard]] inline double finite_else_nan(double x) { return std::isfinite(x) ? x : NAN; }

[[nodiscard]] inline DenseMap dense_map(const kernels::HeadProblem<double>& p, std::size_t m) {
  const kernels::MapInput<double>& map = p.maps[m];
  const auto matrix = [&] { return Matrix(p.mask.length, p.mask.keys()); };
  DenseMap dense{matrix(), matrix(), matrix(), {}, {}};
  for (std::int64_t i = 0; i < p.mask.length; ++i) {
    double sum = p.has_sink ? std::exp(p.sink) : 0.0;
    bool sees = false, odd = p.has_sink && !(p.sink < INFINITY), weighs = p.has_sink;
    for (std::int64_t j = 0; j < p.mask.keys(); ++j) {
      double dot = 0.0;
      for (std::int64_t c = 0; c < p.head_dim; ++c)
        dot += map.query[i * map.query_stride + c] * map.key[j * map.key_stride + c];
      dense.raw(i, j) = p.scale * dot + (p.bias ? p.bias[i + p.mask.first_query - j] : 0.0);
      const double z = p.softcap > 0.0 ? p.softcap * std::tanh(dense.raw(i, j) / p.softcap) : dense.raw(i, j);
      dense.z(i, j) = (z + dense_added(p, i, j)) / p.temperature;
      if (!dense_visible(p, i, j)) continue;
      sum += std::exp(dense.z(i, j));
      sees = true;
      odd = odd || !(dense.z(i, j) < INFINITY);
      weighs = weighs || dense.z(i, j) > -INFINITY;
    }
    dense.undefined.push_back(odd || (sees && !weighs));
    for (std::int64_t j = 0; j < p.mask.keys(); ++j)
      dense.a(i, j) = !dense_visible(p, i, j) ? 0.0 : dense.undefined.back() ? NAN : std::exp(dense.z(i, j)) / sum;
    dense.lse.push_back(dense.undefined.back() ? NAN : std::log(sum));
  }
  return dense;
}

struct DenseHead {
  std::array<DenseMap, 2> maps;
  Matrix net;                   // w
  std::vector<double> context;  // [length, value_dim]
};

[[nodiscard]] inline DenseHead dense_head(const kernels::HeadProblem<double>& p) {
  DenseHead head{{},
                 Matrix(p.mask.length, p.mask.keys()),
                 std::vector<double>(static_cast<std::size_t>(p.mask.length * p.value_dim))};
  for (std::size_t m = 0; m < 2; ++m) {
    const kernels::MapInput<double>& map = p.maps[m];
    if (!map.present()) continue;
    head.maps[m] = dense_map(p, m);
    for (std::int64_t i = 0; i < p.mask.length; ++i)
      for (std::int64_t j = 0; j < p.mask.keys(); ++j) {
        if (!dense_visible(p, i, j)) continue;
        const double part = (m == 0 ? 1.0 : -finite_else_nan(p.lambda[i])) * head.maps[m].a(i, j);
        head.net(i, j) += part;
        for (std::int64_t c = 0; c < p.value_dim; ++c)
          head.context[static_cast<std::size_t>(i * p.value_dim + c)] +=
              part * finite_else_nan(map.value[j * map.value_stride + c]);
      }
  }
  return head;
}

// The statistics of core/measure/QUANTITIES.md from the matrices.
[[nodiscard]] inline kernels::HeadStatistics dense_statistics(const kernels::HeadProblem<double>& p,
                                                              const kernels::StatisticsRequest& request) {
  const DenseHead head = dense_head(p);
  const std::int64_t n = p.mask.length, keys = p.mask.keys();
  kernels::HeadStatistics s;
  const std::int64_t extent = std::max({request.pool_extent, n, keys});
  s.pool_size = (extent + request.pool_blocks - 1) / request.pool_blocks;
  s.pool_blocks = (extent + s.pool_size - 1) / s.pool_size;
  const auto cells = static_cast<std::size_t>(s.pool_blocks * s.pool_blocks);
  const auto cell = [&](std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>(i / s.pool_size * s.pool_blocks + j / s.pool_size);
  };
  const auto bin = [](const kernels::UniformBins& bins, double value) {
    std::int64_t b = 0;
    while (b + 1 < bins.bins && value >= bins.low + bins.width * static_cast<double>(b + 1)) ++b;
    return static_cast<std::size_t>(b);
  };
  const auto square_mean = [&](std::size_t m, std::int64_t j) {
    double sum = 0.0;
    for (std::int64_t c = 0; c < p.value_dim; ++c)
      sum += std::pow(finite_else_nan(p.maps[m].value[j * p.maps[m].value_stride + c]), 2);
    return sum / static_cast<double>(p.value_dim);
  };
  for (std::size_t m = 0; m < 2; ++m) {
    if (!p.maps[m].present()) continue;
    const DenseMap& dense = head.maps[m];
    kernels::MapStatistics& map = s.maps[m];
    map.column_sum.assign(static_cast<std::size_t>(keys), 0.0);
    map.pooled_sum.assign(cells, 0.0);
    map.pooled_max.assign(cells, 0.0);
    map.logit_histogram.assign(static_cast<std::size_t>(request.logit_bins.bins), 0);
    map.weight_histogram.assign(static_cast<std::size_t>(request.log10_weight_bins.bins), 0);
    map.logit_max_raw = -INFINITY;
    map.lse = dense.lse;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t position = i + p.mask.first_query;
      const auto weight_at = [&](std::int64_t key) { return key >= 0 && key < keys ? dense.a(i, key) : 0.0; };
      double high = -INFINITY, low = INFINITY, entropy = 0.0, largest = 0.0, squares = 0.0, sum = 0.0, distance = 0.0;
      std::vector<double> context(static_cast<std::size_t>(p.value_dim));
      for (std::int64_t j = 0; j < keys; ++j) {
        if (!dense_visible(p, i, j)) continue;
        const double a = dense.a(i, j);
        high = dense_max(high, dense.z(i, j));
        low = -dense_max(-low, -dense.z(i, j));
        map.logit_max_raw = dense_max(map.logit_max_raw, dense.raw(i, j));
        if (a != 0.0) entropy -= a * std::log(a);
        largest = dense_max(largest, a);
        squares += a * a;
        sum += a;
        distance += a * std::abs(static_cast<double>(position - j));
        map.column_sum[static_cast<std::size_t>(j)] += a;
        map.pooled_sum[cell(i, j)] += a;
        map.pooled_max[cell(i, j)] = dense_max(map.pooled_max[cell(i, j)], a);
        for (std::int64_t c = 0; c < p.value_dim; ++c)
          context[static_cast<std::size_t>(c)] += a * finite_else_nan(p.maps[m].value[j * p.maps[m].value_stride + c]);
        if (dense.undefined[static_cast<std::size_t>(i)]) continue;
        ++map.logit_histogram[bin(request.logit_bins, dense.z(i, j))];
        ++map.weight_histogram[bin(request.log10_weight_bins, std::log10(a))];
      }
      std::int32_t near = 0;
      for (std::int64_t j = 0; j < keys; ++j)
        near += dense_visible(p, i, j) && !dense.undefined[static_cast<std::size_t>(i)] &&
                        high - dense.z(i, j) <= 0.0019550348358033506  // −ln(1 − 2⁻⁹)
                    ? 1
                    : 0;
      double energy = 0.0;
      for (const double c : context) energy += c * c;
      const std::int64_t induction = p.induction_key ? p.induction_key[i] : -1;
      map.logit_max.push_back(high);
      map.logit_min.push_back(low);
      map.entropy.push_back(entropy);
      map.weight_max.push_back(largest);
      map.weight_l2_squared.push_back(squares);
      map.weight_sum.push_back(sum);
      map.mean_distance.push_back(distance);
      map.rounds_to_one.push_back(near);
      map.context_energy.push_back(energy);
      map.first_key_weight.push_back(weight_at(0));
      map.self_weight.push_back(weight_at(position));
      map.previous_weight.push_back(weight_at(position - 1));
      map.induction_weight.push_back(weight_at(induction));
    }
  }
  const bool both = p.maps[0].present() && p.maps[1].present();
  const bool same_values = both && p.maps[0].value == p.maps[1].value;
  s.column_sum.assign(static_cast<std::size_t>(keys), 0.0);
  for (auto* pooled : {&s.pooled_sum, &s.pooled_highest, &s.pooled_lowest, &s.pooled_positive, &s.pooled_negative})
    pooled->assign(cells, 0.0);
  for (std::int64_t i = 0; i < n; ++i) {
    double sum = 0.0, l1 = 0.0, squares = 0.0, cross = 0.0, energy = 0.0;
    for (std::int64_t j = 0; j < keys; ++j) {
      if (!dense_visible(p, i, j)) continue;
      const double w = head.net(i, j);
      sum += w;
      l1 += std::abs(w);
      squares += w * w;
      if (both) cross += head.maps[0].a(i, j) * head.maps[1].a(i, j);
      if (both && !same_values)
        energy += std::pow(head.maps[0].a(i, j), 2) * square_mean(0, j) +
                  std::pow(finite_else_nan(p.lambda[i]) * head.maps[1].a(i, j), 2) * square_mean(1, j);
      else
        energy += w * w * square_mean(p.maps[0].present() ? 0 : 1, j);
      s.column_sum[static_cast<std::size_t>(j)] += w;
      s.pooled_sum[cell(i, j)] += w;
      s.pooled_highest[cell(i, j)] = dense_max(s.pooled_highest[cell(i, j)], w);
      s.pooled_lowest[cell(i, j)] = -dense_max(-s.pooled_lowest[cell(i, j)], -w);
      s.pooled_positive[cell(i, j)] += dense_max(w, 0.0);
      s.pooled_negative[cell(i, j)] += dense_max(-w, 0.0);
    }
    s.weight_sum.push_back(sum);
    s.weight_l1.push_back(l1);
    s.weight_l2_squared.push_back(squares);
    if (both) s.cross.push_back(cross);
    s.uncorrelated_energy.push_back(energy);
    s.first_key_net.push_back(head.net(i, 0));
    s.first_key_absolute.push_back(std::abs(head.net(i, 0)));
  }
  return s;
}

}  // namespace headroom::test
