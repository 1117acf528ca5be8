// One table of attention problems for every backend and benchmark: normalisers, pairings, masks and GQA, with the
// random tensors that go with them. Plain data and functions; safe from any thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numbers>
#include <optional>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/attention.h"

namespace headroom::test {

// The same values on every platform, which std::normal_distribution does not promise.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  // In (0, 1).
  double uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * std::ldexp(1.0, -53); }
  double normal() { return std::sqrt(-2.0 * std::log(uniform())) * std::cos(2.0 * std::numbers::pi * uniform()); }
  std::vector<double> normals(std::int64_t count, double deviation = 1.0) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double& value : values) value = deviation * normal();
    return values;
  }
  std::int64_t below(std::int64_t limit) { return static_cast<std::int64_t>(uniform() * static_cast<double>(limit)); }

 private:
  std::mt19937_64 engine_;
};

// Which blocks of the layer's queries, keys and values output head h reads
// (core/model/ARCHITECTURES.md#index-tables).
enum class Pairing {
  Single,      // q h, k and v of its group
  V1,          // q 2h and 2h + 1, k 2g and 2g + 1, values 2g and 2g + 1 concatenated
  V2,          // q 2h and 2h + 1, one key and one value block
  OwnValues,   // q 2h and 2h + 1, keys and values of two different groups
  SecondOnly,  // as V2, with w = −λ a²
};

// What queries, keys and values hold.
enum class Data {
  Normal,
  Ramp,           // logits that grow by about 0.4 per key, so that a row's largest is always the latest
  Constant,       // every logit of a row is the same
  MinusInfinity,  // every third key has logits of −∞; the first key that is no padding has not
  Denormal,       // keys and values below the smallest normal number
};

// A mask that is given entry by entry, at random.
enum class Dense {
  None,
  Hides,  // half of the entries, and all of every seventh row's
  Adds,   // a number to each entry, and hides a quarter of them
};

struct AttentionCase {
  std::string_view name = {};
  Pairing pairing = Pairing::Single;
  std::int64_t heads = 2;                    // output heads
  std::int64_t kv_heads = 1;                 // groups
  std::int64_t head_dim = 8, value_dim = 6;  // of one block
  double softcap = 0.0, temperature = 1.0;
  std::optional<double> sink = std::nullopt;
  bool causal = true;
  std::int64_t window = 0;
  std::vector<std::int64_t> hidden_keys = {};
  std::optional<double> lambda = std::nullopt;  // of every row; without it drawn from (0, 1) for each row
  double deviation = 1.0;                       // of queries and keys
  double query_factor = 1.0;
  std::int64_t first_key = 0;
  Data data = Data::Normal;
  std::int64_t more_keys = 0;    // than rows, at least one in all
  std::int64_t first_query = 0;  // position of row 0 among the keys
  Dense dense = Dense::None;
  bool softpick = false;
  bool biased = false;  // a number for each head and distance
  std::int64_t chunk = 0;
  std::int64_t always_visible = 0;

  [[nodiscard]] bool pair() const { return pairing != Pairing::Single && pairing != Pairing::SecondOnly; }
};

[[nodiscard]] inline std::vector<AttentionCase> attention_cases() {
  return {
      {.name = "softmax"},
      {.name = "softmax, one key head for four query heads", .heads = 4, .kv_heads = 1},
      {.name = "softmax, two groups of three heads", .heads = 6, .kv_heads = 2, .head_dim = 16, .value_dim = 4},
      {.name = "softmax, bidirectional", .causal = false},
      {.name = "softmax, window 1", .window = 1},
      {.name = "softmax, window 7", .window = 7},
      {.name = "softmax, window as long as the rows", .window = 64},
      {.name = "softmax, soft cap 2", .softcap = 2.0, .deviation = 2.0},
      {.name = "softmax, temperature 3", .temperature = 3.0},
      {.name = "softmax, soft cap and temperature", .softcap = 5.0, .temperature = 0.5},
      {.name = "softmax, hidden keys", .hidden_keys = {0, 1, 5, 62, 63, 64}},
      {.name = "softmax, hidden keys in a window", .window = 3, .hidden_keys = {0, 3, 4, 5, 6, 30}},
      {.name = "softmax, peaked", .deviation = 4.0},
      {.name = "softmax-off-by-one", .sink = 0.0},
      {.name = "softmax-off-by-one, window and cap", .softcap = 3.0, .sink = 0.0, .window = 9},
      {.name = "sink logit 2.5", .heads = 4, .kv_heads = 2, .sink = 2.5},
      {.name = "sink logit −3, window", .sink = -3.0, .window = 20},
      {.name = "sink logit above every key", .sink = 40.0},
      {.name = "V1", .pairing = Pairing::V1, .lambda = 0.35},
      {.name = "V1, groups", .pairing = Pairing::V1, .heads = 4, .kv_heads = 2, .lambda = 0.796342},
      {.name = "V1, negative λ", .pairing = Pairing::V1, .lambda = -2.2},
      {.name = "V1, λ above 1, window", .pairing = Pairing::V1, .window = 12, .lambda = 1.3},
      {.name = "V2", .pairing = Pairing::V2},
      {.name = "V2, groups", .pairing = Pairing::V2, .heads = 6, .kv_heads = 2},
      {.name = "V2, window 5, soft cap", .pairing = Pairing::V2, .softcap = 4.0, .window = 5},
      {.name = "V2, bidirectional, hidden keys", .pairing = Pairing::V2, .causal = false, .hidden_keys = {0, 2, 40}},
      {.name = "V2 with a sink", .pairing = Pairing::V2, .sink = 0.5},
      {.name = "V2, λ = 0", .pairing = Pairing::V2, .lambda = 0.0},
      {.name = "pairs of different groups", .pairing = Pairing::OwnValues, .kv_heads = 2},
      {.name = "second map alone", .pairing = Pairing::SecondOnly},
      {.name = "second map alone, sink and window", .pairing = Pairing::SecondOnly, .sink = 0.0, .window = 11},
      {.name = "softmax, bidirectional, window 6", .causal = false, .window = 6},
      {.name = "softmax, bidirectional, window 1", .causal = false, .window = 1},
      {.name = "sink, bidirectional, window 50, hidden keys",
       .sink = 0.3,
       .causal = false,
       .window = 50,
       .hidden_keys = {0, 7, 8, 61}},
      {.name = "V2, bidirectional, window 3, hidden keys",
       .pairing = Pairing::V2,
       .causal = false,
       .window = 3,
       .hidden_keys = {4, 5, 6, 7, 8, 40}},
      {.name = "V1, bidirectional, window 17", .pairing = Pairing::V1, .causal = false, .window = 17, .lambda = 0.6},
      {.name = "bias, groups", .heads = 4, .kv_heads = 2, .biased = true},
      {.name = "bias, bidirectional", .causal = false, .biased = true},
      {.name = "bias, window 9, hidden keys", .window = 9, .hidden_keys = {0, 3, 30, 31}, .biased = true},
      {.name = "bias, bidirectional, window 6, sink", .sink = 0.3, .causal = false, .window = 6, .biased = true},
      {.name = "bias, cap and temperature", .softcap = 3.0, .temperature = 0.5, .biased = true},
      {.name = "bias, temperature", .temperature = 3.0, .biased = true},
      {.name = "bias, V1, negative λ", .pairing = Pairing::V1, .lambda = -0.4, .biased = true},
      {.name = "bias, V2, hidden keys", .pairing = Pairing::V2, .hidden_keys = {0, 1, 5, 62}, .biased = true},
      {.name = "bias, second map alone", .pairing = Pairing::SecondOnly, .biased = true},
      {.name = "chunks of 7", .chunk = 7},
      {.name = "chunks of 1", .heads = 4, .chunk = 1},
      {.name = "chunks of 16, window 5, sink", .sink = 0.2, .window = 5, .chunk = 16},
      {.name = "chunks of 64, window beyond them", .window = 100, .chunk = 64},
      {.name = "chunks beyond the rows", .chunk = 5000},
      {.name = "chunks of 24, bidirectional", .causal = false, .chunk = 24},
      {.name = "V1, chunks of 33, bidirectional, window 9",
       .pairing = Pairing::V1,
       .causal = false,
       .window = 9,
       .lambda = 0.4,
       .chunk = 33},
      {.name = "V2, chunks of 5, a chunk of hidden keys",
       .pairing = Pairing::V2,
       .hidden_keys = {0, 10, 11, 12, 13, 14, 62},
       .chunk = 5},
  };
}

// Padding before the first key; at small lengths it is all there is.
[[nodiscard]] inline std::vector<AttentionCase> padded_cases() {
  return {
      {.name = "padding", .first_key = 9},
      {.name = "padding, bidirectional", .causal = false, .first_key = 5},
      {.name = "padding, sink", .sink = 0.75, .first_key = 50},
      {.name = "padding, bidirectional, sink", .sink = -0.5, .causal = false, .first_key = 17},
      {.name = "padding, window, hidden keys", .window = 6, .hidden_keys = {2, 11, 20, 21, 22}, .first_key = 11},
      {.name = "padding, V2", .pairing = Pairing::V2, .first_key = 64},
      {.name = "padding, V1, window, sink", .pairing = Pairing::V1, .sink = 0.0, .window = 70, .first_key = 3},
      {.name = "padding, second map alone", .pairing = Pairing::SecondOnly, .first_key = 1},
      {.name = "padding, bidirectional, window 8", .causal = false, .window = 8, .first_key = 13},
      {.name = "padding, bias", .first_key = 7, .biased = true},
      {.name = "padding, bias, bidirectional, sink", .sink = -0.5, .causal = false, .first_key = 17, .biased = true},
      {.name = "padding, chunks of 6", .first_key = 9, .chunk = 6},
      {.name = "padding, chunks of 20, bidirectional, V2",
       .pairing = Pairing::V2,
       .causal = false,
       .first_key = 7,
       .chunk = 20},
  };
}

// Rows and keys that are not the same positions: decode steps, prefix caches, other sequences, dense masks.
[[nodiscard]] inline std::vector<AttentionCase> rectangular_cases() {
  return {
      {.name = "decode", .more_keys = 40, .first_query = 40},
      {.name = "decode, window 9, groups", .heads = 4, .kv_heads = 2, .window = 9, .more_keys = 33, .first_query = 33},
      {.name = "prefix, keys behind the last row", .more_keys = 50, .first_query = 20},
      {.name = "cross", .causal = false, .more_keys = 37},
      {.name = "cross, fewer keys", .causal = false, .more_keys = -21},
      {.name = "cross, one key for many rows", .causal = false, .more_keys = -1000},
      {.name = "cross, hidden keys, sink", .sink = 0.4, .causal = false, .hidden_keys = {0, 1, 2, 30}, .more_keys = -9},
      {.name = "cross, every key hidden", .causal = false, .hidden_keys = {0, 1, 2, 3}, .more_keys = -1000},
      {.name = "cross, window 5", .causal = false, .window = 5, .more_keys = 20, .first_query = 10},
      {.name = "rows before the first key", .more_keys = -8, .first_query = -8},
      {.name = "rows before the first key, sink", .sink = 0.2, .more_keys = -8, .first_query = -8},
      {.name = "window, rows beyond the keys", .window = 6, .more_keys = -30},
      {.name = "window, rows beyond the keys, sink", .sink = 1.0, .causal = false, .window = 6, .more_keys = -30},
      {.name = "decode, hidden keys", .hidden_keys = {0, 5, 6, 25, 26}, .more_keys = 25, .first_query = 25},
      {.name = "decode, window, hidden keys",
       .window = 3,
       .hidden_keys = {24, 25, 26, 27, 28},
       .more_keys = 25,
       .first_query = 25},
      {.name = "decode, V2", .pairing = Pairing::V2, .more_keys = 31, .first_query = 31},
      {.name = "decode, V1, cap",
       .pairing = Pairing::V1,
       .softcap = 3.0,
       .lambda = 0.7,
       .more_keys = 7,
       .first_query = 7},
      {.name = "cross, V2, own values", .pairing = Pairing::OwnValues, .kv_heads = 2, .causal = false, .more_keys = 5},
      {.name = "decode behind padding", .first_key = 6, .more_keys = 12, .first_query = 12},
      {.name = "values wider than keys", .head_dim = 4, .value_dim = 19, .causal = false, .more_keys = 3},
      {.name = "decode, bias", .more_keys = 40, .first_query = 40, .biased = true},
      {.name = "decode, bias, window 9", .window = 9, .more_keys = 33, .first_query = 33, .biased = true},
      {.name = "prefix, bias", .more_keys = 50, .first_query = 20, .biased = true},
      {.name = "cross, bias", .causal = false, .more_keys = 37, .biased = true},
      {.name = "cross, bias, fewer keys", .causal = false, .more_keys = -21, .biased = true},
      {.name = "cross, bias, one key", .causal = false, .more_keys = -1000, .biased = true},
      {.name = "cross, bias, window 5",
       .causal = false,
       .window = 5,
       .more_keys = 20,
       .first_query = 10,
       .biased = true},
      {.name = "rows before the first key, bias", .more_keys = -8, .first_query = -8, .biased = true},
      {.name = "window, bias, rows beyond the keys", .sink = 1.0, .window = 6, .more_keys = -30, .biased = true},
      {.name = "decode, bias, V1, cap, hidden keys",
       .pairing = Pairing::V1,
       .softcap = 3.0,
       .hidden_keys = {0, 5, 6, 9},
       .lambda = 0.7,
       .more_keys = 7,
       .first_query = 7,
       .biased = true},
      {.name = "decode, chunks of 16", .more_keys = 40, .first_query = 40, .chunk = 16},
      {.name = "decode behind padding, chunks of 9", .first_key = 6, .more_keys = 12, .first_query = 12, .chunk = 9},
      {.name = "rows beyond the keys, chunks of 8, sink", .sink = 0.1, .more_keys = -30, .chunk = 8},
      {.name = "rows before the first key, chunks of 5", .more_keys = -8, .first_query = -8, .chunk = 5},
      {.name = "cross, chunks of 11", .causal = false, .more_keys = 20, .first_query = 10, .chunk = 11},
      {.name = "cross, window 4, chunks of 7, rows beyond the keys",
       .causal = false,
       .window = 4,
       .more_keys = -30,
       .chunk = 7},
  };
}
[[nodiscard]] inline std::vector<AttentionCase> dense_cases() {
  return {
      {.name = "dense", .causal = false, .dense = Dense::Hides},
      {.name = "dense, causal, sink", .sink = 0.3, .dense = Dense::Hides},
      {.name = "dense, adds", .causal = false, .dense = Dense::Adds},
      {.name = "dense, adds, cap and temperature", .softcap = 3.0, .temperature = 0.7, .dense = Dense::Adds},
      {.name = "dense, cross", .causal = false, .more_keys = 17, .dense = Dense::Hides},
      {.name = "dense, decode, adds, window", .window = 20, .more_keys = 11, .first_query = 11, .dense = Dense::Adds},
      {.name = "dense, hidden keys", .hidden_keys = {0, 1, 4, 9, 33}, .dense = Dense::Hides},
      {.name = "dense, V2, adds", .pairing = Pairing::V2, .causal = false, .dense = Dense::Adds},
      {.name = "dense, second map alone", .pairing = Pairing::SecondOnly, .dense = Dense::Hides},
      {.name = "dense, chunks of 12", .dense = Dense::Hides, .chunk = 12},
  };
}

// The first keys stay visible beside a window or a chunk. For the backends that have it.
[[nodiscard]] inline std::vector<AttentionCase> always_visible_cases() {
  return {
      {.name = "window 7 and the first 4", .window = 7, .always_visible = 4},
      {.name = "window 1 and the first", .heads = 4, .kv_heads = 2, .window = 1, .always_visible = 1},
      {.name = "window 20 and the first 33", .window = 20, .always_visible = 33},
      {.name = "window 5 and every key", .window = 5, .always_visible = 5000},
      {.name = "the first 3 without a window", .always_visible = 3},
      {.name = "window 6 and the first 2, bidirectional", .causal = false, .window = 6, .always_visible = 2},
      {.name = "window 9 and the first 4, sink, cap", .softcap = 3.0, .sink = 0.2, .window = 9, .always_visible = 4},
      {.name = "window 3 and the first 4, hidden keys",
       .window = 3,
       .hidden_keys = {0, 2, 5, 6, 7, 8, 40},
       .always_visible = 4},
      {.name = "window 2 and the first 2, both hidden",
       .window = 2,
       .hidden_keys = {0, 1, 30, 31},
       .always_visible = 2},
      {.name = "padding, window 4 and the first 3", .window = 4, .first_key = 6, .always_visible = 3},
      {.name = "chunks of 7 and the first 4", .chunk = 7, .always_visible = 4},
      {.name = "chunks of 16, window 5, the first 6, bidirectional",
       .causal = false,
       .window = 5,
       .chunk = 16,
       .always_visible = 6},
      {.name = "bias, window 9 and the first 4",
       .heads = 4,
       .kv_heads = 2,
       .window = 9,
       .biased = true,
       .always_visible = 4},
      {.name = "bias, bidirectional, window 6 and the first 2",
       .causal = false,
       .window = 6,
       .biased = true,
       .always_visible = 2},
      {.name = "V1, window 12 and the first 4",
       .pairing = Pairing::V1,
       .window = 12,
       .lambda = 0.35,
       .always_visible = 4},
      {.name = "V2, window 5 and the first 4",
       .pairing = Pairing::V2,
       .heads = 6,
       .kv_heads = 2,
       .window = 5,
       .always_visible = 4},
      {.name = "second map alone, window 11 and the first",
       .pairing = Pairing::SecondOnly,
       .window = 11,
       .always_visible = 1},
      {.name = "decode, window 9 and the first 4",
       .window = 9,
       .more_keys = 33,
       .first_query = 33,
       .always_visible = 4},
      {.name = "rows beyond the keys, window 6 and the first 2", .window = 6, .more_keys = -30, .always_visible = 2},
      {.name = "rows before the first key, window 5 and the first 3",
       .window = 5,
       .more_keys = -8,
       .first_query = -8,
       .always_visible = 3},
      {.name = "dense, window 20 and the first 4", .window = 20, .dense = Dense::Hides, .always_visible = 4},
  };
}

// For the backends that have it.
[[nodiscard]] inline std::vector<AttentionCase> softpick_cases() {
  return {
      {.name = "softpick", .softpick = true},
      {.name = "softpick, groups, peaked", .heads = 4, .kv_heads = 2, .deviation = 4.0, .softpick = true},
      {.name = "softpick, window, hidden keys", .window = 9, .hidden_keys = {0, 3, 30, 31}, .softpick = true},
      {.name = "softpick, cap and temperature", .softcap = 3.0, .temperature = 0.5, .softpick = true},
      {.name = "softpick, bidirectional", .causal = false, .softpick = true},
      {.name = "softpick, V2", .pairing = Pairing::V2, .softpick = true},
      {.name = "softpick, V1, negative λ", .pairing = Pairing::V1, .lambda = -0.4, .softpick = true},
      {.name = "softpick, second map alone", .pairing = Pairing::SecondOnly, .softpick = true},
      {.name = "softpick, padding", .first_key = 7, .softpick = true},
      {.name = "softpick, some logits −∞", .data = Data::MinusInfinity, .softpick = true},
      {.name = "softpick, large logits", .deviation = 30.0, .softpick = true},
  };
}

// A dense mask in memory.
struct DenseTable {
  std::int64_t keys = 0;
  std::vector<double> values;  // [rows, keys]
  kernels::DenseMask mask;

  static void read(const void* source, std::int64_t row, std::int64_t rows, std::int64_t key, std::int64_t keys,
                   double* out) {
    const auto& table = *static_cast<const DenseTable*>(source);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < keys; ++j)
        *out++ = table.values[static_cast<std::size_t>((row + i) * table.keys + key + j)];
  }
};

// The tensors of one layer, [rows or keys, blocks, channels] each, and the head problems that look into them: it must
// outlive what problem() returns.
template <typename Real>
struct AttentionData {
  AttentionCase shape;
  std::int64_t length = 0;
  std::vector<Real> query, key, value;
  std::vector<double> lambda;  // [heads, length]
  std::vector<std::int64_t> induction_key;
  std::shared_ptr<const DenseTable> dense;
  std::vector<double> bias;  // [heads, 2 · reach() + 1], of distances −reach() … reach(); empty: none

  [[nodiscard]] std::int64_t reach() const { return length + keys() + std::abs(shape.first_query); }
  [[nodiscard]] std::int64_t keys() const { return std::max<std::int64_t>(1, length + shape.more_keys); }
  [[nodiscard]] std::int64_t key_blocks() const { return shape.kv_heads * (shape.pairing == Pairing::V1 ? 2 : 1); }
  [[nodiscard]] std::int64_t query_blocks() const { return shape.heads * (shape.pairing == Pairing::Single ? 1 : 2); }
  [[nodiscard]] std::int64_t context_dim() const { return shape.value_dim * (shape.pairing == Pairing::V1 ? 2 : 1); }

  [[nodiscard]] kernels::HeadProblem<Real> problem(std::int64_t head) const {
    kernels::HeadProblem<Real> result;
    result.mask = {length, shape.causal, shape.window, shape.first_key, shape.hidden_keys, shape.first_query};
    if (shape.more_keys != 0) result.mask.key_length = keys();
    result.mask.chunk = shape.chunk;
    result.mask.always_visible = shape.always_visible;
    if (dense) result.mask.dense = &dense->mask;
    result.head_dim = shape.head_dim;
    result.value_dim = context_dim();
    const std::int64_t group = head / (shape.heads / shape.kv_heads);
    switch (shape.pairing) {
      case Pairing::Single: result.maps[0] = map(head, group, group); break;
      case Pairing::V1:
        result.maps = {map(2 * head, 2 * group, 2 * group), map(2 * head + 1, 2 * group + 1, 2 * group)};
        break;
      case Pairing::V2: result.maps = {map(2 * head, group, group), map(2 * head + 1, group, group)}; break;
      case Pairing::OwnValues: {
        const std::int64_t other = (group + 1) % shape.kv_heads;
        result.maps = {map(2 * head, group, group), map(2 * head + 1, other, other)};
        break;
      }
      case Pairing::SecondOnly: result.maps[1] = map(2 * head + 1, group, group); break;
    }
    if (result.maps[1].present()) result.lambda = lambda.data() + head * length;
    result.scale = 1.0 / std::sqrt(static_cast<double>(shape.head_dim));
    result.softcap = shape.softcap;
    result.temperature = shape.temperature;
    result.has_sink = shape.sink.has_value();
    result.sink = shape.sink.value_or(0.0);
    result.softpick = shape.softpick;
    if (!bias.empty()) result.bias = bias.data() + head * (2 * reach() + 1) + reach();
    result.induction_key = induction_key.data();
    return result;
  }

 private:
  [[nodiscard]] kernels::MapInput<Real> map(std::int64_t query_block, std::int64_t key_block,
                                            std::int64_t value_block) const {
    return {query.data() + query_block * shape.head_dim,
            key.data() + key_block * shape.head_dim,
            value.data() + value_block * shape.value_dim,
            query_blocks() * shape.head_dim,
            key_blocks() * shape.head_dim,
            key_blocks() * shape.value_dim};
  }
};

// Turns normal tensors into the case's data.
template <typename Real>
void shape_data(AttentionData<Real>& data) {
  const AttentionCase& shape = data.shape;
  const std::int64_t queries = data.query_blocks(), keys = data.key_blocks();
  const auto first_channel = [&](std::vector<Real>& tensor, std::int64_t row, std::int64_t blocks,
                                 std::int64_t block) -> Real& {
    return tensor[static_cast<std::size_t>((row * blocks + block) * shape.head_dim)];
  };
  const auto scale = [](std::vector<Real>& tensor, double factor) {
    for (Real& value : tensor) value = static_cast<Real>(factor * static_cast<double>(value));
  };
  if (shape.data == Data::Denormal) {
    scale(data.key, 1e-39);
    scale(data.value, 1e-39);
  }
  if (shape.data == Data::Constant) {
    std::fill(data.query.begin(), data.query.end(), static_cast<Real>(0.5));
    std::fill(data.key.begin(), data.key.end(), static_cast<Real>(0.5));
  }
  scale(data.query, shape.query_factor);
  for (std::int64_t i = 0; i < data.length; ++i) {
    for (std::int64_t block = 0; block < queries; ++block) {
      Real& query = first_channel(data.query, i, queries, block);
      if (shape.data == Data::Ramp) query = static_cast<Real>(std::sqrt(static_cast<double>(shape.head_dim)));
      if (shape.data == Data::MinusInfinity) query = std::abs(query) + static_cast<Real>(0.125);
    }
    for (std::int64_t block = 0; i < data.keys() && block < keys; ++block) {
      Real& key = first_channel(data.key, i, keys, block);
      if (shape.data == Data::Ramp) key = static_cast<Real>(0.4 * static_cast<double>(i));
      if (shape.data == Data::MinusInfinity && (i - shape.first_key + 3000) % 3 == 2)
        key = -std::numeric_limits<Real>::infinity();
    }
  }
}

// The case's queries, keys and values; some rows have an induction key, at random.
template <typename Real>
[[nodiscard]] AttentionData<Real> random_attention(const AttentionCase& shape, std::int64_t length,
                                                   std::uint64_t seed) {
  Random random(seed);
  AttentionData<Real> data;
  data.shape = shape;
  data.length = length;
  const auto fill = [&](std::vector<Real>& out, std::int64_t channels, double deviation) {
    const std::int64_t rows = &out == &data.query ? length : data.keys();
    for (const double value : random.normals(rows * channels, deviation)) out.push_back(static_cast<Real>(value));
  };
  fill(data.query, data.query_blocks() * shape.head_dim, shape.deviation);
  fill(data.key, data.key_blocks() * shape.head_dim, shape.deviation);
  fill(data.value, data.key_blocks() * shape.value_dim, 1.0);
  for (std::int64_t i = 0; i < shape.heads * length; ++i)
    data.lambda.push_back(shape.lambda.value_or(random.uniform()));
  for (std::int64_t i = 0; i < length; ++i)
    data.induction_key.push_back(random.uniform() < 0.5 ? -1 : random.below(std::min(i + 1, data.keys())));
  if (shape.dense != Dense::None) {
    auto table = std::make_shared<DenseTable>();
    table->keys = data.keys();
    for (std::int64_t i = 0; i < length; ++i)
      for (std::int64_t j = 0; j < data.keys(); ++j) {
        const bool hides = random.uniform() < (shape.dense == Dense::Hides ? 0.5 : 0.25);
        const bool nothing = shape.dense == Dense::Hides && i % 7 == 3;
        // In steps that float32 holds.
        const double added = shape.dense == Dense::Adds ? std::round(64.0 * random.normal()) / 64.0 : 0.0;
        table->values.push_back(hides || nothing ? -std::numeric_limits<double>::infinity() : added);
      }
    table->mask = {DenseTable::read, table.get(), shape.dense == Dense::Adds};
    data.dense = std::move(table);
  }
  // In steps that float32 holds, as above.
  for (std::int64_t i = 0; shape.biased && i < shape.heads * (2 * data.reach() + 1); ++i)
    data.bias.push_back(std::round(64.0 * random.normal()) / 64.0);
  shape_data(data);
  return data;
}

// The same numbers in double, so that a backend in float32 is judged on what it was given.
template <typename Real>
[[nodiscard]] AttentionData<double> widened(const AttentionData<Real>& data) {
  AttentionData<double> wide;
  wide.shape = data.shape;
  wide.length = data.length;
  wide.query.assign(data.query.begin(), data.query.end());
  wide.key.assign(data.key.begin(), data.key.end());
  wide.value.assign(data.value.begin(), data.value.end());
  wide.lambda = data.lambda;
  wide.induction_key = data.induction_key;
  wide.dense = data.dense;
  wide.bias = data.bias;
  return wide;
}

// Everything a backend can be asked for.
[[nodiscard]] inline kernels::StatisticsRequest full_request(std::int64_t pool_blocks = 5) {
  kernels::StatisticsRequest request;
  request.logit_bins = {-6.0, 0.75, 16};
  request.log10_weight_bins = {-8.0, 0.25, 32};
  request.pool_blocks = pool_blocks;
  return request;
}

}  // namespace headroom::test
