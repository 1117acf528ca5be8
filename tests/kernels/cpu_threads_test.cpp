// The CPU kernels under threads: the same bits for any number of them and any order of tasks, and cancellation.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <numeric>
#include <random>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "tests/kernels/cpu_runs.h"

namespace headroom::test {
namespace {

using kernels::BFloat16;
using kernels::HeadProblem;
using kernels::ParallelFor;

// Threads that take tasks in a shuffled order.
ParallelFor shuffled_threads(std::size_t count, std::uint64_t seed) {
  return [=](std::int64_t tasks, const std::function<void(std::int64_t)>& body) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(tasks));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::mt19937_64 engine(seed);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[engine() % i]);
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < count; ++t)
      threads.emplace_back([&] {
        for (std::size_t at = next++; at < order.size(); at = next++) body(order[at]);
      });
    for (std::thread& thread : threads) thread.join();
  };
}

// Heads of several parts, so that parts of one head meet on different threads.
std::vector<AttentionCase> shared_cases() {
  return {
      {.name = "softmax", .heads = 3},
      {.name = "V2, bidirectional", .pairing = Pairing::V2, .causal = false},
      {.name = "V1, window, sink", .pairing = Pairing::V1, .sink = 0.5, .window = 90, .hidden_keys = {0, 100, 511}},
      {.name = "second map alone, padding", .pairing = Pairing::SecondOnly, .first_key = 290},
  };
}

}  // namespace

CATCH_TEST_CASE("cpu threads: 1, 2, 3 and 8 threads give the bits of none") {
  std::uint64_t seed = 1;
  for (const AttentionCase& shape : shared_cases()) {
    const auto check = [&](const auto& tensors) {
      const CpuAnswer expected = run_cpu(heads_of(tensors), full_request());
      for (const std::size_t threads : {1, 2, 3, 8})
        for (int round = 0; round < 2; ++round) {
          CATCH_INFO(shape.name << ", " << threads << " threads, order " << seed);
          const CpuAnswer found = run_cpu(heads_of(tensors), full_request(), shuffled_threads(threads, ++seed));
          CATCH_CHECK(found.complete);
          CATCH_CHECK(different_bits(found, expected) == "");
        }
    };
    check(Tensors<float>(random_attention<float>(shape, 600, ++seed)));
    check(Tensors<BFloat16>(random_attention<float>(shape, 530, ++seed)));
  }
}

CATCH_TEST_CASE("cpu threads: calls beside each other do not meet") {
  const Tensors<float> tensors(random_attention<float>(shared_cases()[1], 300, 9));
  const CpuAnswer expected = run_cpu(heads_of(tensors), full_request());
  std::array<CpuAnswer, 4> found;
  std::vector<std::thread> callers;
  for (CpuAnswer& answer : found)
    callers.emplace_back([&] { answer = run_cpu(heads_of(tensors), full_request(), shuffled_threads(2, 5)); });
  for (std::thread& caller : callers) caller.join();
  for (const CpuAnswer& answer : found) CATCH_CHECK(different_bits(answer, expected) == "");
}

CATCH_TEST_CASE("cpu threads: a head among others gets the bits it gets alone") {
  const auto shapes = shared_cases();
  const Tensors<float> small(random_attention<float>(shapes[0], 70, 21));
  const Tensors<float> large(random_attention<float>(shapes[1], 500, 22));
  const auto job = [](const HeadProblem<float>& problem, std::vector<float>& context) {
    context.assign(static_cast<std::size_t>(problem.mask.length * problem.value_dim), kUntouched);
    return kernels::HeadJob<float, float>{problem, full_request(), context.data(), problem.value_dim, {}};
  };
  std::array<std::vector<float>, 4> contexts;
  std::vector<kernels::HeadJob<float, float>> together = {job(large.problem(0), contexts[0]),
                                                          job(small.problem(1), contexts[1])};
  together[0].request.wanted = 0;
  CATCH_REQUIRE(kernels::cpu_attention<float>(together, shuffled_threads(3, 4), nullptr));
  std::vector<kernels::HeadJob<float, float>> first = {job(large.problem(0), contexts[2])};
  std::vector<kernels::HeadJob<float, float>> second = {job(small.problem(1), contexts[3])};
  CATCH_REQUIRE(kernels::cpu_attention<float>(first, serial, nullptr));
  CATCH_REQUIRE(kernels::cpu_attention<float>(second, serial, nullptr));
  CATCH_CHECK(same_bits(contexts[0], contexts[2]));
  CATCH_CHECK(same_bits(contexts[1], contexts[3]));
  CATCH_CHECK(different_bits(together[1].statistics, second[0].statistics) == "");
  CATCH_CHECK(together[0].statistics.weight_sum.empty());
}

CATCH_TEST_CASE("cpu threads: no work at all is complete") {
  CATCH_CHECK(kernels::cpu_attention<float>({}, serial, nullptr));
  kernels::HeadJob<float, float> nothing;
  nothing.request = full_request();
  CATCH_CHECK(kernels::cpu_attention<float>(std::span(&nothing, 1), serial, nullptr));
  CATCH_CHECK(nothing.statistics.column_sum.empty());
}

CATCH_TEST_CASE("cpu threads: a stop is asked for between strips, and heeded within one strip of each thread") {
  const Tensors<float> tensors(random_attention<float>({.name = "softmax", .heads = 4}, 1000, 3));
  std::atomic<std::int64_t> polls{0};
  CATCH_CHECK(run_cpu(heads_of(tensors), full_request(), serial, [&] {
                ++polls;
                return false;
              }).complete);
  const std::int64_t all = polls;
  CATCH_CHECK(all >= 4 * 1000 / 96);
  for (const std::int64_t allowed : {std::int64_t{0}, std::int64_t{1}, std::int64_t{7}, all / 2, all - 1}) {
    polls = 0;
    const kernels::StopRequested stop = [&] { return ++polls > allowed; };
    CATCH_INFO("stop after " << allowed << " of " << all << " polls");
    CATCH_CHECK_FALSE(run_cpu(heads_of(tensors), full_request(), serial, stop).complete);
    CATCH_CHECK(polls == allowed + 1);
    polls = 0;
    CATCH_CHECK_FALSE(run_cpu(heads_of(tensors), full_request(), shuffled_threads(3, 1), stop).complete);
    CATCH_CHECK(polls <= allowed + 3);
  }
  // A stop that never comes changes nothing.
  polls = 0;
  const CpuAnswer asked = run_cpu(heads_of(tensors), full_request(), serial, [&] { return ++polls > all; });
  CATCH_CHECK(asked.complete);
  CATCH_CHECK(different_bits(asked, run_cpu(heads_of(tensors), full_request())) == "");
}

}  // namespace headroom::test
