// Tasks on LibTorch's threads: each runs once, under the settings a task is promised, and the caller's come back.
#include "core/compute/parallel.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/catch.h"

namespace headroom::test {
namespace {

// Half of the smallest normal number: 0 where denormals are flushed.
double half_of_smallest() {
  volatile double smallest = std::numeric_limits<double>::min();
  volatile double half = smallest / 2.0;
  return half;
}

}  // namespace

CATCH_TEST_CASE("tasks: each runs exactly once, on any number of threads") {
  const int before = at::get_num_threads();
  for (const int threads : {1, 2, 4}) {
    at::set_num_threads(threads);
    for (const std::int64_t tasks : {0, 1, 2, 3, 7, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(tasks));
      run_tasks(tasks, [&](std::int64_t task) { ++runs[static_cast<std::size_t>(task)]; });
      int wrong = 0;
      for (const auto& count : runs) wrong += count == 1 ? 0 : 1;
      CATCH_INFO(tasks << " tasks on " << threads << " threads");
      CATCH_CHECK(wrong == 0);
    }
  }
  at::set_num_threads(before);
}

CATCH_TEST_CASE("tasks: two run at the same time") {
  const int before = at::get_num_threads();
  at::set_num_threads(2);
  std::atomic<int> started{0}, met{0};
  run_tasks(2, [&](std::int64_t) {
    ++started;
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (started < 2 && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
    if (started == 2) ++met;
  });
  CATCH_CHECK(met == 2);
  at::set_num_threads(before);
}

CATCH_TEST_CASE("tasks: no gradients and no denormals inside, the caller's settings afterwards") {
  CATCH_REQUIRE(half_of_smallest() > 0.0);
  std::atomic<int> with_gradients{0}, with_denormals{0};
  run_tasks(16, [&](std::int64_t) {
    if (!c10::InferenceMode::is_enabled()) ++with_gradients;
    if (half_of_smallest() != 0.0) ++with_denormals;
  });
  CATCH_CHECK(with_gradients == 0);
#if defined(__SSE2__)
  CATCH_CHECK(with_denormals == 0);
#endif
  CATCH_CHECK(!c10::InferenceMode::is_enabled());
  CATCH_CHECK(half_of_smallest() > 0.0);
}

CATCH_TEST_CASE("tasks: an exception of a task reaches the caller and leaves its settings") {
  for (const std::int64_t tasks : {1, 8}) {
    CATCH_CHECK_THROWS_AS(run_tasks(tasks, [](std::int64_t) { throw std::bad_alloc(); }), std::bad_alloc);
    CATCH_CHECK(!c10::InferenceMode::is_enabled());
    CATCH_CHECK(half_of_smallest() > 0.0);
  }
  std::atomic<int> ran{0};
  run_tasks(5, [&](std::int64_t) { ++ran; });
  CATCH_CHECK(ran == 5);
}

}  // namespace headroom::test
