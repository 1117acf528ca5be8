// One head's record from dense n × n maps, computed as the definitions are written: what a backend hands over, for
// tests of everything that is made of it. Plain functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/measure/layer_record.h"
#include "core/measure/quantity.h"

namespace headroom::test {

struct DenseMap {
  std::vector<double> query, key;  // [n, d]
};

struct DenseHead {
  std::int64_t length = 0, dim = 0;
  std::vector<DenseMap> maps;  // one or two
  std::vector<double> value;   // [n, d]
  std::vector<double> lambda;  // [n], with two maps
  bool has_sink = false;
  double sink = 0.0;
};

// X(i, c) = s·sin(A(i+1)(c+1) + B(i+1) + C(c+1)): the input of the goldens (tests/support/attention_goldens.h).
[[nodiscard]] inline std::vector<double> sine_matrix(std::int64_t rows, std::int64_t columns, double a, double b,
                                                     double c, double s) {
  std::vector<double> values;
  for (std::int64_t i = 1; i <= rows; ++i)
    for (std::int64_t j = 1; j <= columns; ++j) {
      const double row = static_cast<double>(i), column = static_cast<double>(j);
      values.push_back(s * std::sin(a * row * column + b * row + c * column));
    }
  return values;
}

[[nodiscard]] inline DenseHead golden_head(bool pair, std::int64_t length = 64) {
  DenseHead head;
  head.length = length;
  head.dim = 16;
  const std::vector<double> key = sine_matrix(length, 16, .41, .07, .19, 1.5);
  head.maps.push_back({sine_matrix(length, 16, .37, .11, .23, 1.5), key});
  if (pair) head.maps.push_back({sine_matrix(length, 16, .29, .17, .31, 1.5), key});
  head.value = sine_matrix(length, 16, .53, .13, .05, 1.0);
  for (std::int64_t i = 0; pair && i < length; ++i)
    head.lambda.push_back(1.0 / (1.0 + std::exp(-std::sin(0.9 * static_cast<double>(i + 1)))));
  return head;
}

// The weights of a row and what else is known of it, visible keys only.
struct DenseRow {
  std::vector<double> logit, weight;
  double lse = 0.0;
};

[[nodiscard]] inline DenseRow dense_row(const DenseHead& head, std::size_t m, std::int64_t i,
                                        const std::vector<std::int64_t>& keys) {
  DenseRow row;
  double sum = head.has_sink ? std::exp(head.sink) : 0.0;
  for (const std::int64_t j : keys) {
    double z = 0.0;
    for (std::int64_t c = 0; c < head.dim; ++c)
      z += head.maps[m].query[static_cast<std::size_t>(i * head.dim + c)] *
           head.maps[m].key[static_cast<std::size_t>(j * head.dim + c)];
    row.logit.push_back(z / std::sqrt(static_cast<double>(head.dim)));
    sum += std::exp(row.logit.back());
  }
  row.lse = std::log(sum);
  for (const double z : row.logit) row.weight.push_back(std::exp(z - row.lse));
  return row;
}

// `layer` gives length, window and causal; `program` the hidden keys and the maps there are.
[[nodiscard]] inline HeadRecord dense_record(const DenseHead& head, const LayerRecord& layer,
                                             const HeadProgram& program) {
  HeadRecord record;
  record.program = program;
  record.lambda = head.lambda;
  record.norm_epsilon = program.post_norm ? 1e-5 : -1.0;
  record.sink_logit = head.has_sink ? head.sink : std::nan("");
  const auto n = static_cast<std::size_t>(head.length);
  const auto d = static_cast<std::size_t>(head.dim);
  for (std::size_t j = 0; j < n; ++j) {
    double squares = 0.0;
    for (std::size_t c = 0; c < d; ++c) squares += head.value[j * d + c] * head.value[j * d + c];
    record.value_mean_square.push_back(squares / static_cast<double>(d));
  }
  kernels::HeadStatistics& net = record.statistics;
  kernels::StatisticsRequest request;
  for (std::size_t m = 0; m < head.maps.size(); ++m) {
    kernels::MapStatistics& map = net.maps[m];
    map.column_sum.resize(n);
    map.logit_histogram.resize(static_cast<std::size_t>(logit_bins().bins));
    map.weight_histogram.resize(static_cast<std::size_t>(log10_weight_bins().bins));
    map.logit_max_raw = -HUGE_VAL;
    record.kv_head[m] = program.first.key_block;
  }
  net.column_sum.resize(n);
  const kernels::Mask mask{head.length, layer.causal, layer.window, 0, program.hidden_keys};
  for (std::int64_t i = 0; i < head.length; ++i) {
    std::vector<kernels::KeyRange> segments;
    mask.segments(i, segments);
    std::vector<std::int64_t> keys;
    for (const kernels::KeyRange& segment : segments)
      for (std::int64_t j = segment.begin; j < segment.end; ++j) keys.push_back(j);
    std::vector<double> w(keys.size()), context(d);
    double cross = 0.0;
    std::vector<DenseRow> rows;
    for (std::size_t m = 0; m < head.maps.size(); ++m) {
      rows.push_back(dense_row(head, m, i, keys));
      const DenseRow& row = rows.back();
      kernels::MapStatistics& map = net.maps[m];
      const double sign = m == 0 ? 1.0 : -head.lambda[static_cast<std::size_t>(i)];
      double entropy = 0.0, squares = 0.0, sum = 0.0, first = 0.0, self = 0.0, previous = 0.0, distance = 0.0;
      double induction = 0.0;
      std::vector<double> part(d);
      for (std::size_t k = 0; k < keys.size(); ++k) {
        const double a = row.weight[k];
        const auto j = static_cast<std::size_t>(keys[k]);
        entropy -= a * std::log(a);
        squares += a * a;
        sum += a;
        if (keys[k] == 0) first = a;
        if (keys[k] == i) self = a;
        if (keys[k] == i - 1) previous = a;
        if (!layer.induction_key.empty() && keys[k] == layer.induction_key[static_cast<std::size_t>(i)]) induction = a;
        distance += a * static_cast<double>(i - keys[k]);
        map.column_sum[j] += a;
        w[k] += sign * a;
        for (std::size_t c = 0; c < d; ++c) part[c] += a * head.value[j * d + c];
      }
      double energy = 0.0;
      for (std::size_t c = 0; c < d; ++c) {
        energy += part[c] * part[c];
        context[c] += sign * part[c];
      }
      const double largest = *std::max_element(row.logit.begin(), row.logit.end());
      map.lse.push_back(row.lse);
      map.logit_max.push_back(largest);
      map.logit_min.push_back(*std::min_element(row.logit.begin(), row.logit.end()));
      map.logit_max_raw = std::max(map.logit_max_raw, largest);
      map.entropy.push_back(entropy);
      map.weight_max.push_back(*std::max_element(row.weight.begin(), row.weight.end()));
      map.weight_l2_squared.push_back(squares);
      map.weight_sum.push_back(sum);
      map.first_key_weight.push_back(first);
      map.self_weight.push_back(self);
      map.previous_weight.push_back(previous);
      map.induction_weight.push_back(induction);
      map.mean_distance.push_back(distance);
      map.context_energy.push_back(energy);
      map.rounds_to_one.push_back(1);
    }
    if (rows.size() == 2)
      for (std::size_t k = 0; k < keys.size(); ++k) cross += rows[0].weight[k] * rows[1].weight[k];
    double sum = 0.0, l1 = 0.0, squares = 0.0, energy = 0.0, rms = 0.0;
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const auto j = static_cast<std::size_t>(keys[k]);
      sum += w[k];
      l1 += std::abs(w[k]);
      squares += w[k] * w[k];
      energy += w[k] * w[k] * record.value_mean_square[j];
      net.column_sum[j] += w[k];
    }
    for (const double c : context) rms += c * c;
    net.weight_sum.push_back(sum);
    net.weight_l1.push_back(l1);
    net.weight_l2_squared.push_back(squares);
    net.cross.push_back(cross);
    net.uncorrelated_energy.push_back(energy);
    net.first_key_net.push_back(keys.front() == 0 ? w.front() : 0.0);
    net.first_key_absolute.push_back(std::abs(net.first_key_net.back()));
    record.context_rms.push_back(std::sqrt(rms / static_cast<double>(d)));
  }
  return record;
}

// A causal layer of the dense head's size, without heads.
[[nodiscard]] inline LayerRecord dense_layer(const DenseHead& head) {
  LayerRecord layer;
  layer.kind = head.maps.size() == 2 ? "diff_v2" : "softmax";
  layer.length = head.length;
  layer.context_dim = head.dim;
  layer.lambda_init = std::nan("");
  layer.induction_key.assign(static_cast<std::size_t>(head.length), -1);
  return layer;
}

[[nodiscard]] inline HeadProgram dense_program(const DenseHead& head) {
  HeadProgram program;
  program.first = {0, 0, {0}};
  if (head.maps.size() == 2) {
    program.second = {1, 0, {0}};
    program.lambda = LambdaSource::Projection;
  }
  program.sink = head.has_sink ? SinkSource::Learned : SinkSource::None;
  return program;
}

}  // namespace headroom::test
