// One table of what is not finite for every backend: NaN and infinities in queries, keys, values, λ and sinks, where
// rows see them and where a mask hides them. Plain data and functions; safe from any thread.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/attention_cases.h"

namespace headroom::test {

inline constexpr std::int64_t kNonFiniteLength = 130;

struct NonFiniteCase {
  std::string name;
  AttentionData<float> data;
};

// Writes to number `channel` of `block` of row `row`.
inline void set_number(std::vector<float>& tensor, std::int64_t blocks, std::int64_t channels, std::int64_t row,
                       std::int64_t block, std::int64_t channel, float value) {
  tensor[static_cast<std::size_t>((row * blocks + block) * channels + channel)] = value;
}

struct NonFiniteChange {
  std::string_view name;
  void (*apply)(AttentionData<float>& data);
};

[[nodiscard]] inline std::vector<NonFiniteChange> non_finite_changes() {
  static constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
  using Layer = AttentionData<float>;
  // A first channel of the queries above 0 gives an infinite key one sign of its logits.
  static const auto set_keys = [](Layer& data, std::int64_t from, std::int64_t to, float value) {
    const std::int64_t channels = data.shape.head_dim;
    for (std::size_t at = 0; at < data.query.size(); at += static_cast<std::size_t>(channels))
      data.query[at] = std::abs(data.query[at]) + 0.125f;
    for (std::int64_t row = from; row < to; ++row)
      for (std::int64_t block = 0; block < data.key_blocks(); ++block)
        set_number(data.key, data.key_blocks(), channels, row, block, 0, value);
  };
  static const auto set_value = [](Layer& data, std::int64_t row, std::int64_t channel, float value) {
    set_number(data.value, data.key_blocks(), data.shape.value_dim, row, 0, channel, value);
  };
  return {
      {"NaN in a query",
       [](Layer& data) { set_number(data.query, data.query_blocks(), data.shape.head_dim, 60, 0, 3, kNan); }},
      {"NaN in the queries of the last row",
       [](Layer& data) {
         for (std::int64_t block = 0; block < data.query_blocks(); ++block)
           set_number(data.query, data.query_blocks(), data.shape.head_dim, kNonFiniteLength - 1, block, 0, kNan);
       }},
      {"NaN in key 0",
       [](Layer& data) { set_number(data.key, data.key_blocks(), data.shape.head_dim, 0, 0, 1, kNan); }},
      {"NaN in key 50",
       [](Layer& data) { set_number(data.key, data.key_blocks(), data.shape.head_dim, 50, 0, 1, kNan); }},
      {"NaN in key 64 of every block", [](Layer& data) { set_keys(data, 64, 65, kNan); }},
      {"NaN in every key", [](Layer& data) { set_keys(data, 0, kNonFiniteLength, kNan); }},
      {"+∞ in key 70", [](Layer& data) { set_keys(data, 70, 71, kInf); }},
      {"−∞ in keys 20 to 40", [](Layer& data) { set_keys(data, 20, 41, -kInf); }},
      {"−∞ in the first 70 keys", [](Layer& data) { set_keys(data, 0, 70, -kInf); }},
      {"+∞ and NaN in neighbours",
       [](Layer& data) {
         set_keys(data, 33, 34, kInf);
         set_keys(data, 34, 35, kNan);
       }},
      {"NaN in a value", [](Layer& data) { set_value(data, 50, 2, kNan); }},
      {"+∞ in a value", [](Layer& data) { set_value(data, 20, 0, kInf); }},
      {"−∞ in the last value", [](Layer& data) { set_value(data, kNonFiniteLength - 1, 1, -kInf); }},
      {"NaN and infinities in values of a strip",
       [](Layer& data) {
         set_value(data, 60, 1, kNan);
         set_value(data, 63, 3, kInf);
         set_value(data, 64, 3, -kInf);
       }},
      {"NaN in every value",
       [](Layer& data) {
         for (float& value : data.value) value = kNan;
       }},
      {"λ not finite",
       [](Layer& data) {
         for (std::size_t h = 0; h < static_cast<std::size_t>(data.shape.heads); ++h) {
           double* lambda = data.lambda.data() + h * static_cast<std::size_t>(kNonFiniteLength);
           lambda[3] = lambda[80] = std::numeric_limits<double>::quiet_NaN();
           lambda[47] = std::numeric_limits<double>::infinity();
           lambda[129] = -std::numeric_limits<double>::infinity();
         }
       }},
      {"the sink NaN",
       [](Layer& data) {
         if (data.shape.sink) data.shape.sink = std::numeric_limits<double>::quiet_NaN();
       }},
      {"the sink +∞",
       [](Layer& data) {
         if (data.shape.sink) data.shape.sink = std::numeric_limits<double>::infinity();
       }},
  };
}

[[nodiscard]] inline std::vector<AttentionCase> non_finite_shapes() {
  return {
      {.name = "causal", .heads = 1},
      {.name = "bidirectional", .heads = 1, .causal = false},
      {.name = "window, sink", .heads = 1, .sink = 0.0, .window = 10},
      {.name = "bidirectional window, hidden keys",
       .heads = 1,
       .causal = false,
       .window = 9,
       .hidden_keys = {49, 50, 51, 60, 63, 64}},
      {.name = "soft cap", .heads = 1, .softcap = 3.0},
      {.name = "padding", .heads = 1, .first_key = 30},
      {.name = "V2, hidden keys", .pairing = Pairing::V2, .heads = 1, .hidden_keys = {0, 50, 64}},
      {.name = "V2, sink, padding", .pairing = Pairing::V2, .heads = 1, .sink = 0.5, .first_key = 10},
      {.name = "V1", .pairing = Pairing::V1, .heads = 1, .lambda = 0.6},
      {.name = "values of their own, window", .pairing = Pairing::OwnValues, .heads = 2, .kv_heads = 2, .window = 40},
      {.name = "second map alone, sink", .pairing = Pairing::SecondOnly, .heads = 1, .sink = -1.0},
  };
}

[[nodiscard]] inline std::vector<NonFiniteCase> non_finite_cases() {
  std::vector<NonFiniteCase> cases;
  std::uint64_t seed = 900;
  for (const AttentionCase& shape : non_finite_shapes())
    for (const NonFiniteChange& change : non_finite_changes()) {
      AttentionData<float> data = random_attention<float>(shape, kNonFiniteLength, ++seed);
      change.apply(data);
      cases.push_back({std::string(shape.name) + ", " + std::string(change.name), std::move(data)});
    }
  return cases;
}

}  // namespace headroom::test
