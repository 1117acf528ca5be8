// How the blocked backend runs: the same bits on any number of threads, an early end when it is asked to stop, and
// memory that grows with n and never with n².
#include "core/compute/blocked_attention.h"

#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include "tests/core/compute/counted_memory.h"
#include "tests/support/attention_cases.h"
#include "tests/support/catch.h"
#include "tests/support/counted_new.h"

namespace headroom::test {

namespace {

struct BlockedRun {
  std::vector<kernels::HeadJob<float>> heads;
  std::vector<float> context;
  bool complete = false;
};

BlockedRun run(const AttentionData<float>& data, const kernels::StatisticsRequest& request,
               const kernels::StopRequested& stop = nullptr) {
  BlockedRun result;
  const std::int64_t channels = data.context_dim(), heads = data.shape.heads;
  result.context.resize(static_cast<std::size_t>(data.length * heads * channels));
  for (std::int64_t h = 0; h < heads; ++h) {
    kernels::HeadJob<float> head;
    head.problem = data.problem(h);
    head.request = request;
    head.context = result.context.data() + h * channels;
    head.context_stride = heads * channels;
    result.heads.push_back(std::move(head));
  }
  result.complete = blocked_attention<float>(std::span(result.heads), stop);
  return result;
}

// Everything a run returns, bit by bit.
std::vector<std::uint64_t> bits(const BlockedRun& run) {
  std::vector<std::uint64_t> all;
  const auto add = [&](const auto& values) {
    for (const auto value : values) {
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, double>)
        all.push_back(std::bit_cast<std::uint64_t>(value));
      else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, float>)
        all.push_back(std::bit_cast<std::uint32_t>(value));
      else
        all.push_back(static_cast<std::uint64_t>(value));
    }
  };
  add(run.context);
  for (const kernels::HeadJob<float>& head : run.heads) {
    const kernels::HeadStatistics& s = head.statistics;
    for (const kernels::MapStatistics& map : s.maps) {
      for (const auto* rows :
           {&map.lse, &map.logit_max, &map.logit_min, &map.entropy, &map.weight_max, &map.weight_l2_squared,
            &map.weight_sum, &map.first_key_weight, &map.self_weight, &map.previous_weight, &map.induction_weight,
            &map.mean_distance, &map.context_energy, &map.column_sum, &map.pooled_sum, &map.pooled_max})
        add(*rows);
      add(map.rounds_to_one);
      add(map.logit_histogram);
      add(map.weight_histogram);
      add(std::array{map.logit_max_raw});
    }
    for (const auto* rows : {&s.weight_sum, &s.weight_l1, &s.weight_l2_squared, &s.cross, &s.uncorrelated_energy,
                             &s.first_key_net, &s.first_key_absolute, &s.column_sum, &s.pooled_sum, &s.pooled_highest,
                             &s.pooled_lowest, &s.pooled_positive, &s.pooled_negative})
      add(*rows);
  }
  return all;
}

// The largest sum of bytes held beyond those at the start, on one thread.
std::int64_t peak_bytes(const AttentionData<float>& data) {
  const Threads one(1);
  const c10::DebugInfoGuard tensors(c10::DebugInfoKind::PROFILER_STATE, std::make_shared<TensorBytes>());
  const std::int64_t before = counted_memory().live;
  counted_memory().peak = before;
  const BlockedRun result = run(data, full_request(64));
  CATCH_REQUIRE(result.complete);
  return counted_memory().peak - before;
}

}  // namespace

CATCH_TEST_CASE("blocked attention: the same bits on 1, 2 and 4 threads, and every time") {
  const std::vector<AttentionCase> shapes = {
      {.name = "softmax, groups", .heads = 6, .kv_heads = 2, .head_dim = 32, .value_dim = 32},
      {.name = "V2", .pairing = Pairing::V2, .heads = 3, .head_dim = 64, .value_dim = 64},
      {.name = "V1, window", .pairing = Pairing::V1, .heads = 2, .sink = 0.0, .window = 100, .lambda = 0.5},
      {.name = "one head, one task", .heads = 1, .head_dim = 32, .value_dim = 32},
  };
  for (const AttentionCase& shape : shapes)
    for (const std::int64_t length : {65, 500, 1100}) {
      const auto data = random_attention<float>(shape, length, 3);
      std::vector<std::uint64_t> expected;
      {
        const Threads one(1);
        expected = bits(run(data, full_request()));
      }
      for (const int threads : {1, 2, 4, 4}) {
        const Threads count(threads);
        CATCH_INFO(shape.name << ", length " << length << ", " << threads << " threads");
        CATCH_CHECK((bits(run(data, full_request())) == expected));
      }
    }
}

CATCH_TEST_CASE("blocked attention: asked to stop, it starts no more work and says that it is incomplete") {
  const auto data = random_attention<float>({.name = "stop", .heads = 8, .kv_heads = 8}, 1500, 3);
  std::atomic<int> whole{0};
  CATCH_REQUIRE(run(data, full_request(), [&] { return ++whole < 0; }).complete);
  // A full run asks many times: a stop is never far away.
  CATCH_CHECK(whole >= 8 * 1500 / 128);
  for (const int threads : {1, 2}) {
    const Threads count(threads);
    for (const int after : {0, 1, 20}) {
      std::atomic<int> asked{0};
      const BlockedRun stopped = run(data, full_request(), [&] { return ++asked > after; });
      CATCH_INFO("stopped after " << after << " questions on " << threads << " threads");
      CATCH_CHECK(!stopped.complete);
      // Each thread may ask once more before it hears of the stop, and no piece of work begins after that.
      CATCH_CHECK(asked <= after + threads);
    }
  }
}

CATCH_TEST_CASE("blocked attention: memory grows with the length, not with its square") {
  const AttentionCase shape{.name = "V2", .pairing = Pairing::V2, .heads = 1, .head_dim = 16, .value_dim = 16};
  (void)peak_bytes(random_attention<float>(shape, 256, 1));  // what LibTorch keeps after its first use
  const auto small = random_attention<float>(shape, 2048, 1), large = random_attention<float>(shape, 8192, 1);
  const std::int64_t small_bytes = peak_bytes(small), large_bytes = peak_bytes(large);
  CATCH_INFO(small_bytes << " bytes at 2048, " << large_bytes << " at 8192");
  // The results alone are 44 arrays of n values; a square would be 16 times as much at four times the length.
  CATCH_CHECK(large_bytes > 8192 * 8 * 20);
  CATCH_CHECK(large_bytes < 5 * small_bytes);
  CATCH_CHECK(large_bytes < std::int64_t{8192} * 8192 * 4 / 4);
}

CATCH_TEST_CASE("blocked attention: another head adds its own rows to the memory and no strip of scores") {
  const std::int64_t length = 4096;
  AttentionCase shape{.name = "V2", .pairing = Pairing::V2, .heads = 1, .head_dim = 8, .value_dim = 8};
  const auto one = random_attention<float>(shape, length, 1);
  shape.heads = 3;
  const auto three = random_attention<float>(shape, length, 1);
  (void)peak_bytes(random_attention<float>(shape, 256, 1));
  const std::int64_t one_bytes = peak_bytes(one), three_bytes = peak_bytes(three);
  const std::int64_t per_row = (three_bytes - one_bytes) / 2 / length;
  CATCH_INFO(one_bytes << " bytes for one head, " << three_bytes << " for three: " << per_row
                       << " for each row of a head");
  CATCH_CHECK(per_row < 1000);
}

}  // namespace headroom::test
