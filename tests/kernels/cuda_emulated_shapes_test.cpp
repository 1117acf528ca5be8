// The emulated CUDA kernels on what the table of cases does not have: widths, padding, pooling of every size, little
// shared memory, peaked and odd data, subsets of statistics, errors.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/cuda_emulated.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

using kernels::BFloat16;
using kernels::Float16;
using kernels::HeadJob;
using kernels::HeadProblem;
using kernels::HeadStatistics;
using kernels::MapStatistics;
using kernels::StatisticsRequest;
using kernels::StatusCode;
using kernels::cuda::Kernel;

AttentionCase wide_case(Pairing pairing, std::int64_t head_dim, std::int64_t value_dim) {
  return {
      .name = "widths", .pairing = pairing, .heads = 2, .kv_heads = 1, .head_dim = head_dim, .value_dim = value_dim};
}

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

// Every array, bit by bit.
bool same(const HeadStatistics& a, const HeadStatistics& b) {
  bool equal = true;
  for (std::size_t m = 0; m < 2; ++m) {
    const MapStatistics &x = a.maps[m], &y = b.maps[m];
    for (auto array :
         {&MapStatistics::lse, &MapStatistics::logit_max, &MapStatistics::logit_min, &MapStatistics::entropy,
          &MapStatistics::weight_max, &MapStatistics::weight_l2_squared, &MapStatistics::weight_sum,
          &MapStatistics::first_key_weight, &MapStatistics::self_weight, &MapStatistics::previous_weight,
          &MapStatistics::induction_weight, &MapStatistics::mean_distance, &MapStatistics::context_energy,
          &MapStatistics::column_sum, &MapStatistics::pooled_sum, &MapStatistics::pooled_max})
      equal = equal && same(x.*array, y.*array);
    equal = equal && x.rounds_to_one == y.rounds_to_one && x.logit_histogram == y.logit_histogram &&
            x.weight_histogram == y.weight_histogram && x.logit_max_raw == y.logit_max_raw;
  }
  for (auto array : {&HeadStatistics::weight_sum, &HeadStatistics::weight_l1, &HeadStatistics::weight_l2_squared,
                     &HeadStatistics::cross, &HeadStatistics::uncorrelated_energy, &HeadStatistics::first_key_net,
                     &HeadStatistics::first_key_absolute, &HeadStatistics::column_sum, &HeadStatistics::pooled_sum,
                     &HeadStatistics::pooled_highest, &HeadStatistics::pooled_lowest, &HeadStatistics::pooled_positive,
                     &HeadStatistics::pooled_negative})
    equal = equal && same(a.*array, b.*array);
  return equal;
}

}  // namespace

CATCH_TEST_CASE("emulated CUDA: widths of heads and values from 1 to 256, aligned or not") {
  EmulatedMachine machine;
  std::uint64_t seed = 700;
  for (const auto& [head_dim, value_dim] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {16, 256}, {20, 130}, {33, 65}, {64, 64}, {80, 96}, {128, 128}, {136, 40}, {256, 256}}) {
    CATCH_INFO("head_dim " << head_dim << ", value_dim " << value_dim);
    check_case<float>(wide_case(Pairing::Single, head_dim, value_dim), 33, ++seed, machine, full_request());
    check_case<BFloat16>(wide_case(Pairing::V2, head_dim, value_dim), 66, ++seed, machine, full_request());
  }
  check_case<float>(wide_case(Pairing::V1, 128, 128), 65, ++seed, machine, full_request());
  check_case<Float16>(wide_case(Pairing::V1, 64, 64), 65, ++seed, machine, full_request());
}

CATCH_TEST_CASE("emulated CUDA: less shared memory, with slabs of channels and nothing resident, gives the same bits") {
  for (const Pairing pairing : {Pairing::Single, Pairing::V1}) {
    const Tensors<float> tensors(random_attention<float>(wide_case(pairing, 128, 128), 66, 31));
    EmulatedMachine large, small, tiny;
    large.shared_bytes = 227 * 1024;
    small.shared_bytes = 99 * 1024;
    tiny.shared_bytes = 8 * 1024;
    const Answer expected = run<float>(large, {tensors.problem(0)}, full_request());
    const Answer found = run<float>(small, {tensors.problem(0)}, full_request());
    CATCH_CHECK(found.contexts == expected.contexts);
    // Chunks of 64 instead of 128 channels add up the context's energy in another order.
    HeadStatistics statistics = found.statistics[0];
    for (std::size_t m = 0; m < 2; ++m) {
      CATCH_CHECK(array_mismatch("energy", statistics.maps[m].context_energy,
                                 expected.statistics[0].maps[m].context_energy, 1e-6) == "");
      statistics.maps[m].context_energy = expected.statistics[0].maps[m].context_energy;
    }
    CATCH_CHECK(same(statistics, expected.statistics[0]));

    std::vector<HeadJob<float, float>> jobs(1);
    std::vector<float> context(expected.contexts[0].size());
    jobs[0] = {tensors.problem(0), full_request(), context.data(), tensors.problem(0).value_dim, {}};
    CATCH_CHECK(kernels::cuda::run_heads<float>(tiny, jobs, {}).code == StatusCode::Unsupported);
  }
}

// What adds up in the tensor cores over all keys is cut at every step, and always towards 0: the contexts of an H100
// were up to 1.1e-5 of their row's largest channel off, ten times what LibTorch's were.
CATCH_TEST_CASE("emulated CUDA: float32 keeps its precision where the tensor cores cut their sums") {
  EmulatedMachine machine;
  machine.cut_sums = true;
  const AttentionCase shape{.name = "cut sums", .heads = 1, .kv_heads = 1, .head_dim = 64, .value_dim = 64};
  const Tensors<float> tensors(random_attention<float>(shape, 700, 1));
  const std::vector<float> found = run<float>(machine, {tensors.problem(0)}, {}).contexts[0];
  HeadStatistics unused;
  std::vector<double> exact(found.size());
  kernels::reference_attention(tensors.wide(0), {}, unused, exact);
  double worst = 0.0;
  for (std::size_t row = 0; row < exact.size(); row += 64) {
    double largest = 0.0, error = 0.0;
    for (std::size_t c = row; c < row + 64; ++c) {
      largest = std::max(largest, std::abs(exact[c]));
      error = std::max(error, std::abs(static_cast<double>(found[c]) - exact[c]));
    }
    worst = std::max(worst, error / largest);
  }
  CATCH_INFO(worst);
  CATCH_CHECK(worst < 1.5e-6);
}

CATCH_TEST_CASE("emulated CUDA: padding before the first key, alone and with every other mask") {
  EmulatedMachine machine;
  std::uint64_t seed = 800;
  for (AttentionCase shape : std::vector<AttentionCase>{
           {.name = "causal"},
           {.name = "window", .window = 9},
           {.name = "window longer than the rows", .window = 1000},
           {.name = "bidirectional", .causal = false},
           {.name = "bidirectional, everything hidden", .causal = false, .hidden_keys = {66, 67, 68, 69, 70}},
           {.name = "hidden keys", .hidden_keys = {0, 3, 4, 5, 64, 65, 66}},
           {.name = "sink", .sink = 1.0},
           {.name = "pair", .pairing = Pairing::V2},
           {.name = "pair, sink, window", .pairing = Pairing::V1, .sink = 1.0, .window = 3},
           {.name = "chunks of 1", .chunk = 1},
           {.name = "chunks of 64", .chunk = 64},
           {.name = "chunks of 30, bidirectional", .causal = false, .chunk = 30}})
    for (const std::int64_t first_key : {0, 1, 5, 64, 66, 70, 71}) {
      CATCH_INFO("first key " << first_key);
      shape.first_key = first_key;
      check_case<BFloat16>(shape, 71, ++seed, machine, full_request());
    }
}

CATCH_TEST_CASE("emulated CUDA: pooled maps of every size of block, on and off the tiles' edges") {
  EmulatedMachine machine;
  std::uint64_t seed = 900;
  for (const Pairing pairing : {Pairing::Single, Pairing::V2, Pairing::SecondOnly})
    for (const std::int64_t pool_blocks : {0, 1, 2, 3, 7, 33, 130, 500})
      check_case<Float16>(wide_case(pairing, 16, 8), 130, ++seed, machine, full_request(pool_blocks));
}

CATCH_TEST_CASE(
    "emulated CUDA: threads and blocks in the opposite order give the same bits, and so do other heads beside") {
  for (const AttentionCase& shape :
       std::vector<AttentionCase>{{.name = "pair", .pairing = Pairing::V1, .window = 50, .hidden_keys = {3, 64}},
                                  {.name = "single", .softcap = 3.0, .sink = 0.0}}) {
    const Tensors<BFloat16> tensors(random_attention<float>(shape, 130, 77));
    EmulatedMachine forward, backward;
    backward.reversed = true;
    const std::vector<HeadProblem<BFloat16>> both = {tensors.problem(0), tensors.problem(1)};
    const Answer expected = run<BFloat16>(forward, both, full_request(9));
    const Answer found = run<BFloat16>(backward, {both[1], both[0]}, full_request(9));
    for (const std::size_t h : {0u, 1u}) {
      CATCH_CHECK(same(found.statistics[1 - h], expected.statistics[h]));
      CATCH_CHECK(found.contexts[1 - h] == expected.contexts[h]);
    }
  }
}

CATCH_TEST_CASE(
    "emulated CUDA: what is not wanted stays empty, what is has the same bits, and no kernel runs in vain") {
  const Tensors<Float16> tensors(random_attention<float>(wide_case(Pairing::V2, 16, 8), 70, 5));
  const HeadProblem<Float16> problem = tensors.problem(0);
  EmulatedMachine machine;
  const Answer full = run<Float16>(machine, {problem}, full_request());
  // Where pooled cells end, so does a partial sum of the column sums.
  const Answer plain = run<Float16>(machine, {problem}, StatisticsRequest{});
  for (kernels::StatisticSet wanted = 0; wanted <= kernels::kAllStatistics; ++wanted) {
    CATCH_INFO("wanted " << wanted);
    StatisticsRequest request;
    request.wanted = wanted;
    if (wanted & kernels::kRowStatistics) request = full_request(), request.wanted = wanted;
    EmulatedMachine one;
    const Answer found = run<Float16>(one, {problem}, request);
    CATCH_CHECK(found.contexts == full.contexts);
    HeadStatistics expected = (wanted & kernels::kRowStatistics ? full : plain).statistics[0];
    const auto drop = [&](kernels::StatisticSet kind, std::initializer_list<std::vector<double>*> arrays) {
      if (!(wanted & kind))
        for (std::vector<double>* array : arrays) array->clear();
    };
    for (MapStatistics& map : expected.maps) {
      drop(kernels::kRowStatistics,
           {&map.lse, &map.logit_max, &map.logit_min, &map.entropy, &map.weight_max, &map.weight_l2_squared,
            &map.weight_sum, &map.mean_distance, &map.context_energy, &map.pooled_sum, &map.pooled_max});
      drop(kernels::kNamedKeys, {&map.first_key_weight, &map.self_weight, &map.previous_weight, &map.induction_weight});
      drop(kernels::kColumnSums, {&map.column_sum});
      if (!(wanted & kernels::kRoundsToOne)) map.rounds_to_one.clear();
      if (!(wanted & kernels::kRowStatistics)) map.logit_max_raw = wanted == 0 ? 0.0 : -INFINITY;
    }
    drop(kernels::kRowStatistics,
         {&expected.weight_sum, &expected.weight_l1, &expected.weight_l2_squared, &expected.cross,
          &expected.uncorrelated_energy, &expected.pooled_sum, &expected.pooled_highest, &expected.pooled_lowest,
          &expected.pooled_positive, &expected.pooled_negative});
    drop(kernels::kNamedKeys, {&expected.first_key_net, &expected.first_key_absolute});
    drop(kernels::kColumnSums, {&expected.column_sum});
    CATCH_CHECK(same(found.statistics[0], expected));
    const bool rows = (wanted & kernels::kRowStatistics) != 0;
    CATCH_CHECK(one.launches[Kernel::NetRows] == (rows ? 1 : 0));
    CATCH_CHECK(one.launches[Kernel::FoldPools] == (rows ? 1 : 0));
    CATCH_CHECK(one.launches[Kernel::NamedKeys] == (wanted & kernels::kNamedKeys ? 1 : 0));
    CATCH_CHECK(one.launches[Kernel::NetSecondPass] ==
                (wanted & (kernels::kRowStatistics | kernels::kColumnSums | kernels::kRoundsToOne) ? 1 : 0));
    CATCH_CHECK(one.launches[Kernel::FirstPass64] == 2);  // one for each map
  }
}

CATCH_TEST_CASE("emulated CUDA: peaked, constant, rising and infinite data") {
  EmulatedMachine machine;
  std::uint64_t seed = 1000;
  AttentionCase shape = wide_case(Pairing::V2, 16, 8);
  // A logit z is off by some 2⁻²⁴ · |z|, and its weight by as much relative to itself: peaked, |z| is up to 1000.
  shape.deviation = 8.0;
  check_case<float>(shape, 70, ++seed, machine, full_request(), 4e-4);
  shape.deviation = 1.0;
  for (const Pairing pairing : {Pairing::Single, Pairing::V2})
    for (const Data data : {Data::Ramp, Data::Constant, Data::MinusInfinity}) {
      CATCH_INFO("data " << static_cast<int>(data));
      shape.pairing = pairing;
      shape.data = data;
      check_case<float>(shape, 70, ++seed, machine, full_request());
      check_case<Float16>(shape, 70, ++seed, machine, full_request());
    }
}

CATCH_TEST_CASE("emulated CUDA: denormal keys and values are as good as zero") {
  AttentionCase shape = wide_case(Pairing::V2, 16, 8);
  shape.data = Data::Denormal;
  const Tensors<float> tensors(random_attention<float>(shape, 70, 14));
  EmulatedMachine machine;
  const Answer uniform = run<float>(machine, {tensors.problem(0)}, full_request());
  for (std::size_t i = 0; i < 70; ++i) {
    const double keys = static_cast<double>(i + 1);
    CATCH_CHECK(uniform.statistics[0].maps[0].weight_max[i] == near(1.0 / keys, 1e-6));
    CATCH_CHECK(std::abs(uniform.contexts[0][i * 8]) < 1e-37f);
    CATCH_CHECK(uniform.statistics[0].maps[1].entropy[i] == near(std::log(keys), 1e-6, 1e-6));
    CATCH_CHECK(uniform.statistics[0].maps[0].rounds_to_one[i] == static_cast<int>(i + 1));
  }
}

CATCH_TEST_CASE("emulated CUDA: NaN reaches the rows that see it and no others") {
  EmulatedMachine machine;
  AttentionData<float> data = random_attention<float>(wide_case(Pairing::Single, 16, 8), 20, 13);
  data.key[7 * 16 + 3] = NAN;
  for (const bool narrow_input : {false, true}) {
    const Answer answer = narrow_input ? run<Float16>(machine, {Tensors<Float16>(data).problem(0)}, full_request())
                                       : run<float>(machine, {Tensors<float>(data).problem(0)}, full_request());
    for (std::size_t i = 0; i < 20; ++i) {
      CATCH_INFO("row " << i);
      CATCH_CHECK(std::isnan(answer.statistics[0].maps[0].lse[i]) == (i >= 7));
      CATCH_CHECK(std::isnan(answer.contexts[0][i * 8]) == (i >= 7));
    }
  }
}

CATCH_TEST_CASE("emulated CUDA: a call that fails ends the work with its status and frees all memory") {
  const Tensors<BFloat16> tensors(random_attention<float>(wide_case(Pairing::V2, 16, 8), 20, 3));
  std::vector<float> context(20 * 8);
  int failures = 0;
  for (int call = 0;; ++call) {
    EmulatedMachine machine;
    machine.fail_at_call = call;
    std::vector<HeadJob<BFloat16, float>> jobs(1);
    jobs[0] = {tensors.problem(0), full_request(), context.data(), 8, {}};
    const kernels::KernelStatus status = kernels::cuda::run_heads<BFloat16>(machine, jobs, {});
    CATCH_CHECK(machine.memory == 0);
    if (status.ok()) break;
    CATCH_CHECK(status.code == StatusCode::Device);
    CATCH_CHECK(std::string(status.call) == "emulated");
    ++failures;
  }
  CATCH_CHECK(failures > 10);
}

CATCH_TEST_CASE("emulated CUDA: problems that are none, and a stop, are refused before anything runs") {
  const Tensors<float> tensors(random_attention<float>(wide_case(Pairing::V2, 16, 8), 4, 3));
  std::vector<float> context(4 * 8, 7.0f);
  const auto code = [&](const std::function<void(HeadJob<float, float>&)>& change, bool stop = false) {
    EmulatedMachine machine;
    std::vector<HeadJob<float, float>> jobs(1);
    jobs[0] = {tensors.problem(0), full_request(), context.data(), 8, {}};
    change(jobs[0]);
    const StatusCode result = kernels::cuda::run_heads<float>(machine, jobs, [&] { return stop; }).code;
    if (result != StatusCode::Ok) CATCH_CHECK(machine.launches.empty());
    return result;
  };
  CATCH_CHECK(code([](auto&) {}) == StatusCode::Ok);
  std::fill(context.begin(), context.end(), 7.0f);
  CATCH_CHECK(code([](auto&) {}, true) == StatusCode::Cancelled);
  CATCH_CHECK(code([](auto& job) { job.problem.mask.length = -1; }) == StatusCode::InvalidArgument);
  CATCH_CHECK(code([](auto& job) { job.problem.head_dim = 0; }) == StatusCode::InvalidArgument);
  CATCH_CHECK(code([](auto& job) { job.problem.maps = {}; }) == StatusCode::InvalidArgument);
  CATCH_CHECK(code([](auto& job) { job.problem.lambda = nullptr; }) == StatusCode::InvalidArgument);
  CATCH_CHECK(code([](auto& job) { job.context = nullptr; }) == StatusCode::InvalidArgument);
  CATCH_CHECK(code([](auto& job) { job.request.logit_bins.width = 0.0; }) == StatusCode::InvalidArgument);
  CATCH_CHECK(code([](auto& job) { job.problem.head_dim = 257; }) == StatusCode::Unsupported);
  CATCH_CHECK(code([](auto& job) { job.request.logit_bins.bins = 5000; }) == StatusCode::Unsupported);
  CATCH_CHECK(code([](auto& job) { job.problem.mask.always_visible = 2; }) == StatusCode::Unsupported);
  CATCH_CHECK(context == std::vector<float>(context.size(), 7.0f));
  CATCH_CHECK(code([](auto& job) { job.problem.mask.length = 0; }) == StatusCode::Ok);
}

CATCH_TEST_CASE("emulated CUDA: many small batches give the bits of one, with a look at the stop before each") {
  const AttentionCase shape{.name = "V2", .pairing = Pairing::V2, .heads = 4, .kv_heads = 2};
  const Tensors<BFloat16> tensors(random_attention<float>(shape, 40, 3));
  std::vector<HeadProblem<BFloat16>> problems;
  for (std::int64_t head = 0; head < 4; ++head) problems.push_back(tensors.problem(head));
  EmulatedMachine machine;
  const Answer expected = run<BFloat16>(machine, problems, full_request());
  std::vector<HeadJob<BFloat16, float>> jobs(4);
  std::vector<std::vector<float>> contexts(4, std::vector<float>(expected.contexts[0].size()));
  for (std::size_t h = 0; h < 4; ++h)
    jobs[h] = {problems[h], full_request(), contexts[h].data(), problems[h].value_dim, {}};
  int looks = 0;
  const auto look = [&] { return ++looks == 7; };
  CATCH_REQUIRE(kernels::cuda::run_heads<BFloat16>(machine, jobs, look, {}, 1.0).ok());
  CATCH_CHECK(looks == 4);
  for (std::size_t h = 0; h < 4; ++h) CATCH_CHECK(same(jobs[h].statistics, expected.statistics[h]));
  CATCH_CHECK(contexts == expected.contexts);
  CATCH_CHECK(kernels::cuda::run_heads<BFloat16>(machine, jobs, look, {}, 1.0).code == StatusCode::Cancelled);
  CATCH_CHECK(looks == 7);
}

CATCH_TEST_CASE("emulated CUDA: memory on the device grows with the length, not with its square") {
  const auto peak = [](std::int64_t length) {
    const Tensors<BFloat16> tensors(random_attention<float>(wide_case(Pairing::V2, 8, 8), length, 1));
    EmulatedMachine machine;
    (void)run<BFloat16>(machine, {tensors.problem(0), tensors.problem(1)}, full_request(4));
    return static_cast<double>(machine.largest_memory);
  };
  const double short_rows = peak(200), long_rows = peak(400);
  CATCH_CHECK(long_rows <= 2.1 * short_rows);
}

}  // namespace headroom::test
