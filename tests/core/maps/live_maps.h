// A small set of maps made up for tests: one softmax head, one pair with λ of both signs, one with hidden keys, a sink
// and a temperature. The log-sum-exp is computed as it is defined.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>

#include "core/maps/map_source.h"

namespace headroom::test {

struct MadeMaps {
  std::int64_t length = 300, head_dim = 8;
  double softcap = 0.0;
  bool causal = true;
  std::int64_t window = 0;
  unsigned seed = 3;
  double sink = 0.0;    // added to every logit of key 0
  bool biased = false;  // −(head + 1)/16 · |i − j|
};

// The visible keys of a row as the contract says it.
[[nodiscard]] inline bool sees(const MapSource& source, const MapSource::Head& head, std::int64_t i, std::int64_t j) {
  const auto in_reach = [&](std::int64_t key) {
    if (source.causal && key > i) return false;
    if (source.window > 0 && key >= source.always_visible && std::abs(key - i) >= source.window) return false;
    return std::find(head.program.hidden_keys.begin(), head.program.hidden_keys.end(), key) ==
           head.program.hidden_keys.end();
  };
  if (in_reach(j)) return true;
  if (i != j) return false;
  for (std::int64_t key = 0; key < source.length; ++key)
    if (in_reach(key)) return false;
  return true;  // a row that would see nothing keeps its own key
}

[[nodiscard]] inline double logit_of(const MapSource& source, const MapSource::Head& head, const HeadProgram::Map& map,
                                     std::int64_t i, std::int64_t j) {
  double sum = 0.0;
  for (std::int64_t c = 0; c < source.head_dim; ++c)
    sum += static_cast<double>(
               source.queries[static_cast<std::size_t>((map.query_block * source.length + i) * source.head_dim + c)]) *
           static_cast<double>(
               source.keys[static_cast<std::size_t>((map.key_block * source.length + j) * source.head_dim + c)]);
  double z = source.scale * sum;
  if (source.bias) z -= static_cast<double>((head.head + 1) * std::abs(i - j)) / 16.0;
  if (source.softcap > 0.0) z = source.softcap * std::tanh(z / source.softcap);
  return z / head.program.temperature;
}

[[nodiscard]] inline std::shared_ptr<const MapSource> made_maps(const MadeMaps& made) {
  auto source = std::make_shared<MapSource>();
  source->id = next_map_source_id();
  source->length = made.length;
  source->head_dim = made.head_dim;
  source->num_query_blocks = 4;
  source->num_key_blocks = 2;
  source->scale = 0.7;
  source->softcap = made.softcap;
  source->causal = made.causal;
  source->window = made.window;
  if (made.biased) {
    const kernels::Mask mask{made.length, made.causal, made.window, 0, {}};
    DistanceBiasSpec slopes;
    for (int head = 0; head < 5; ++head) slopes.slopes.push_back((head + 1) / 16.0);
    source->bias = std::make_shared<const DistanceBias>(distance_bias(slopes, {}, 5, mask.ahead(), mask.behind()));
  }
  std::mt19937 random(made.seed);
  std::normal_distribution<float> normal;
  for (std::int64_t i = 0; i < 4 * made.length * made.head_dim; ++i) source->queries.push_back(normal(random));
  for (std::int64_t i = 0; i < 2 * made.length * made.head_dim; ++i) source->keys.push_back(normal(random));
  if (made.sink != 0.0)
    for (std::int64_t i = 0; i < 4 * made.length; ++i) {
      source->queries[static_cast<std::size_t>(i * made.head_dim)] = 1.0f;
      if (i >= 2 * made.length) continue;
      source->keys[static_cast<std::size_t>(i * made.head_dim)] =
          i % made.length == 0 ? static_cast<float>(made.sink / source->scale) : 0.0f;
    }
  source->heads.resize(3);
  for (std::size_t h = 0; h < 3; ++h) source->heads[h].head = static_cast<std::int64_t>(2 * h);
  source->heads[0].program.first = {0, 0, {0}};
  MapSource::Head& pair = source->heads[1];
  pair.program.first = {1, 0, {0}};
  pair.program.second = {2, 1, {0}};
  pair.program.lambda = LambdaSource::Projection;
  for (std::int64_t i = 0; i < made.length; ++i) pair.lambda.push_back(std::sin(0.1 * static_cast<double>(i)) + 0.5);
  MapSource::Head& other = source->heads[2];
  other.program.first = {3, 1, {0}};
  other.program.hidden_keys = {0, 3, 4};
  other.program.sink = SinkSource::Learned;
  other.program.temperature = 1.5;
  other.sink = 0.25;
  for (MapSource::Head& head : source->heads)
    for (std::size_t m = 0; m < 2; ++m) {
      const HeadProgram::Map& map = m == 0 ? head.program.first : head.program.second;
      if (map.query_block < 0) continue;
      for (std::int64_t i = 0; i < made.length; ++i) {
        double sum = head.program.sink == SinkSource::None ? 0.0 : std::exp(head.sink);
        for (std::int64_t j = 0; j < made.length; ++j)
          if (sees(*source, head, i, j)) sum += std::exp(logit_of(*source, head, map, i, j));
        head.lse[m].push_back(std::log(sum));
      }
    }
  return source;
}

// One number of a cell by the map that shows it.
[[nodiscard]] inline double shown(const MapSource::Cell& cell, kernels::WindowMap map) {
  switch (map) {
    case kernels::WindowMap::Net: return cell.net;
    case kernels::WindowMap::First: return cell.first;
    case kernels::WindowMap::Second: return cell.second;
    case kernels::WindowMap::ScaledSecond: return cell.lambda * cell.second;
    case kernels::WindowMap::FirstLogits: return cell.first_logit;
    case kernels::WindowMap::SecondLogits: return cell.second_logit;
  }
  return NAN;
}

}  // namespace headroom::test
