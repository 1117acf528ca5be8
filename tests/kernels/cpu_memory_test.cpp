// What the CPU kernels allocate: nothing for what is not wanted, and beyond the outputs no more than their header says.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/kernels/cpu_runs.h"
#include "tests/support/counted_new.h"

namespace headroom::test {
namespace {

struct Bytes {
  std::int64_t outputs = 0;  // of the statistics
  std::int64_t beyond = 0;   // the most beside them
};

Bytes measure(const AttentionCase& shape, std::int64_t length, const kernels::StatisticsRequest& request,
              std::int64_t kept_bytes) {
  const AttentionData<float> data = random_attention<float>(shape, length, 1);
  std::vector<float> context(static_cast<std::size_t>(length * data.context_dim()));
  kernels::HeadJob<float, float> job{data.problem(0), request, context.data(), data.context_dim(), {}};
  CountedMemory& memory = counted_memory();
  const std::int64_t before = memory.live;
  memory.peak = before;
  CATCH_REQUIRE(kernels::cpu_attention<float>(std::span(&job, 1), serial, nullptr, kept_bytes));
  const Bytes bytes = {memory.live - before, memory.peak - memory.live};
  return bytes;
}

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kBlocks = 512 * 1024;  // a strip's blocks of 64 keys, whatever the length

}  // namespace

CATCH_TEST_CASE("cpu memory: a context alone costs neither outputs nor bins nor cells, however many are asked for") {
  kernels::StatisticsRequest request;
  request.wanted = 0;
  request.logit_bins = {0.0, 1.0, 4000};
  request.log10_weight_bins = {0.0, 1.0, 4000};
  request.pool_blocks = 2000;
  for (const Pairing pairing : {Pairing::Single, Pairing::V2}) {
    const Bytes bytes = measure({.name = "", .pairing = pairing, .heads = 1}, 2000, request, kernels::kKeptBytes);
    CATCH_CHECK(bytes.outputs == 0);
    CATCH_CHECK(bytes.beyond < kBlocks);
  }
}

CATCH_TEST_CASE("cpu memory: what is not wanted has no memory") {
  const AttentionCase shape = {.name = "", .heads = 1};
  const auto outputs = [&](kernels::StatisticSet wanted) {
    kernels::StatisticsRequest request;
    request.wanted = wanted;
    return measure(shape, 4096, request, kernels::kKeptBytes).outputs;
  };
  constexpr std::int64_t kRow = 4096 * 8;
  // Arrays of a double (N₁: of 4 bytes) per row or key, and what malloc adds to each.
  const auto arrays = [](std::int64_t doubles, std::int64_t ints = 0) { return doubles * kRow + ints * kRow / 2; };
  const auto close = [](std::int64_t bytes, std::int64_t expected) {
    return bytes >= expected && bytes <= expected + 64 * 24;
  };
  CATCH_CHECK(close(outputs(kernels::kRowStatistics), arrays(13)));
  CATCH_CHECK(close(outputs(kernels::kNamedKeys), arrays(6)));
  CATCH_CHECK(close(outputs(kernels::kColumnSums), arrays(2)));
  CATCH_CHECK(close(outputs(kernels::kRoundsToOne), arrays(0, 1)));
  CATCH_CHECK(close(outputs(kernels::kAllStatistics), arrays(21, 1)));
}

CATCH_TEST_CASE("cpu memory: beyond the outputs it grows with the length, not with its square") {
  for (const AttentionCase& shape : std::vector<AttentionCase>{
           {.name = "softmax", .heads = 1},
           {.name = "V2", .pairing = Pairing::V2, .heads = 1},
           {.name = "bidirectional, hidden key", .heads = 1, .causal = false, .hidden_keys = {5}},
           {.name = "window", .heads = 1, .window = 128}}) {
    const std::int64_t n = 4200;  // from 4096 on a head has 16 parts
    const Bytes one = measure(shape, n, full_request(), 0), two = measure(shape, 2 * n, full_request(), 0);
    CATCH_INFO(shape.name << ": " << one.beyond << " bytes at " << n << ", " << two.beyond << " at " << 2 * n);
    CATCH_CHECK(static_cast<double>(two.beyond) <= 2.1 * static_cast<double>(one.beyond));
    CATCH_CHECK(static_cast<double>(two.outputs) <= 2.1 * static_cast<double>(one.outputs));
  }
}

CATCH_TEST_CASE("cpu memory: one thread keeps within what the header says") {
  for (const AttentionCase& shape :
       std::vector<AttentionCase>{{.name = "softmax", .heads = 1},
                                  {.name = "V2", .pairing = Pairing::V2, .heads = 1},
                                  {.name = "V2, bidirectional", .pairing = Pairing::V2, .heads = 1, .causal = false},
                                  {.name = "window", .heads = 1, .window = 128},
                                  {.name = "V2, window", .pairing = Pairing::V2, .heads = 1, .window = 500}})
    for (const std::int64_t kept : {std::int64_t{0}, kMiB / 2, kernels::kKeptBytes}) {
      const std::int64_t n = 4000;
      const Bytes bytes = measure(shape, n, full_request(), kept);
      CATCH_INFO(shape.name << ", at most " << kept << " bytes kept: " << bytes.beyond);
      CATCH_CHECK(bytes.beyond <= kBlocks + 2 * kept + 64 * n + 24 * n * 16);
    }
}

}  // namespace headroom::test
