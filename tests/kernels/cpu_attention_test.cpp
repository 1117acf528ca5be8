// The fused CPU backend against the scalar double reference: kinds, lengths, widths, masks, both ways of pass 2.
#include <cstdint>
#include <vector>

#include "tests/kernels/cpu_runs.h"

namespace headroom::test {
namespace {

using kernels::BFloat16;

constexpr std::int64_t kNothingKept = 0;

// Kinds that differ in what pass 2 does and in which values they read.
std::vector<AttentionCase> kinds() {
  return {
      {.name = "softmax"},
      {.name = "softmax-off-by-one", .sink = 0.0},
      {.name = "sink logit", .heads = 4, .kv_heads = 2, .sink = 1.5},
      {.name = "soft cap", .softcap = 4.0},
      {.name = "temperature", .temperature = 0.6},
      {.name = "V1", .pairing = Pairing::V1, .lambda = 0.6},
      {.name = "V2", .pairing = Pairing::V2},
      {.name = "own values", .pairing = Pairing::OwnValues, .kv_heads = 2},
      {.name = "second map alone", .pairing = Pairing::SecondOnly},
      {.name = "bidirectional, two groups", .heads = 4, .kv_heads = 2, .causal = false},
  };
}

}  // namespace

CATCH_TEST_CASE("cpu attention: equals the reference for every case around the edges of strips and blocks") {
  std::uint64_t seed = 1000;
  for (const auto& cases : {attention_cases(), padded_cases()})
    for (const AttentionCase& shape : cases)
      for (const std::int64_t length : {1, 2, 3, 17, 63, 64, 65, 191, 192, 193})
        check_cpu<float>(shape, length, ++seed);
}

CATCH_TEST_CASE("cpu attention: equals the reference for heads and values of every width") {
  const std::vector<std::int64_t> head_dims = {16, 24, 33, 64, 80, 128, 256}, value_dims = {1, 6, 48, 130};
  const std::vector<std::int64_t> lengths = {3, 65, 130};
  std::uint64_t seed = 2000;
  for (AttentionCase shape : kinds())
    for (const std::int64_t head_dim : head_dims) {
      ++seed;
      shape.head_dim = head_dim;
      shape.value_dim = value_dims[seed % value_dims.size()];
      check_cpu<float>(shape, lengths[seed % 3], seed);
      check_cpu<BFloat16>(shape, lengths[(seed + 1) % 3], seed);
    }
}

CATCH_TEST_CASE("cpu attention: equals the reference over several parts of a head") {
  std::uint64_t seed = 3000;
  for (AttentionCase shape : kinds()) {
    shape.heads = shape.kv_heads;
    check_cpu<float>(shape, 511, ++seed);
    check_cpu<BFloat16>(shape, 513, ++seed);
  }
  for (const AttentionCase& shape : std::vector<AttentionCase>{
           {.name = "causal, hidden keys", .heads = 1, .head_dim = 64, .value_dim = 48, .hidden_keys = {0, 500, 1024}},
           {.name = "V2, bidirectional", .pairing = Pairing::V2, .heads = 1, .head_dim = 24, .causal = false},
           {.name = "window", .heads = 1, .head_dim = 33, .sink = 0.0, .window = 100},
           {.name = "wide window", .heads = 1, .window = 300, .hidden_keys = {512}},
           {.name = "padding", .heads = 1, .first_key = 300},
           {.name = "padding, window", .heads = 1, .window = 40, .first_key = 700}})
    check_cpu<float>(shape, 1025, ++seed);
}

CATCH_TEST_CASE("cpu attention: padding longer than the first parts, up to all of a head") {
  std::uint64_t seed = 3500;
  for (const bool causal : {true, false})
    for (const std::int64_t window : {0, 20})
      for (const std::int64_t first_key : {255, 256, 431, 600, 768, 769, 900})
        check_cpu<float>({.name = "padding", .heads = 1, .causal = causal, .window = window, .first_key = first_key},
                         769, ++seed);
}

CATCH_TEST_CASE("cpu attention: equals the reference for windows of every kind of length") {
  std::uint64_t seed = 4000;
  for (const std::int64_t window : {1, 2, 7, 8, 9, 47, 48, 49, 64, 65, 191, 192, 193, 259, 260, 1000})
    for (const Pairing pairing : {Pairing::Single, Pairing::V2}) {
      const AttentionCase shape = {.name = "window", .pairing = pairing, .heads = 1, .window = window};
      check_cpu<float>(shape, 260, ++seed);
    }
}

CATCH_TEST_CASE("cpu attention: equals the reference for chunks of every kind of length") {
  std::uint64_t seed = 4500;
  for (const std::int64_t chunk : {1, 2, 8, 47, 48, 49, 64, 65, 192, 259, 260, 1000})
    for (const bool causal : {true, false}) {
      const AttentionCase shape = {.name = "chunks", .heads = 1, .causal = causal, .chunk = chunk};
      check_cpu<float>(shape, 260, ++seed);
      check_cpu<float>({.name = "chunks, long", .heads = 1, .hidden_keys = {3, 700}, .first_key = 2, .chunk = chunk},
                       1025, ++seed);
    }
}

CATCH_TEST_CASE("cpu attention: pooled cells of every size") {
  std::uint64_t seed = 5000;
  for (const std::int64_t blocks : {1, 2, 7, 64, 130, 1000})
    for (const Pairing pairing : {Pairing::Single, Pairing::V1, Pairing::SecondOnly})
      check_cpu<float>({.name = "pooling", .pairing = pairing, .heads = 1}, 130, ++seed, full_request(blocks));
}

CATCH_TEST_CASE("cpu attention: one histogram without the other, coarse and fine bins") {
  kernels::StatisticsRequest request;
  request.logit_bins = {-3.0, 0.1, 60};
  check_cpu<float>({.name = "logits alone", .pairing = Pairing::V2}, 150, 6001, request);
  request.logit_bins = {};
  request.log10_weight_bins = {-4.0, 0.05, 90};
  check_cpu<float>({.name = "weights alone", .sink = 1.0}, 150, 6002, request);
  request.logit_bins = {0.0, 1.0, 1};
  request.log10_weight_bins = {0.0, 1.0, 1};
  check_cpu<float>({.name = "one bin", .causal = false, .hidden_keys = {3, 4}}, 150, 6003, request);
}

CATCH_TEST_CASE("cpu attention: scores computed again give the bits of scores that are kept") {
  std::uint64_t seed = 7000;
  for (const auto& cases : {attention_cases(), padded_cases()})
    for (const AttentionCase& shape : cases)
      for (const std::int64_t length : {65, 193}) {
        const Tensors<float> tensors(random_attention<float>(shape, length, ++seed));
        CpuAnswer kept = run_cpu(heads_of(tensors), full_request());
        CpuAnswer again = run_cpu(heads_of(tensors), full_request(), serial, nullptr, kNothingKept);
        CATCH_INFO(shape.name << ", length " << length);
        // Single named weights come from a dot product of another order.
        for (CpuAnswer* answer : {&kept, &again})
          for (kernels::HeadStatistics& s : answer->statistics) {
            for (kernels::MapStatistics& map : s.maps)
              map.first_key_weight = map.self_weight = map.previous_weight = map.induction_weight = {};
            s.first_key_net = s.first_key_absolute = {};
          }
        CATCH_CHECK(different_bits(kept, again) == "");
        check_cpu<float>(shape, length, seed, full_request(), kNothingKept);
      }
  check_cpu<BFloat16>({.name = "V2", .pairing = Pairing::V2}, 600, ++seed, full_request(), kNothingKept);
}

}  // namespace headroom::test
