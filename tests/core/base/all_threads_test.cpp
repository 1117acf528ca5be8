#include "core/base/all_threads.h"

#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/base/environment.h"
#include "core/base/mutex.h"
#include "core/base/process_threads.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

// OMP_NUM_THREADS for as long as it lives; "" for none.
class SetThreads {
 public:
  explicit SetThreads(const std::string& value) { set(value); }
  ~SetThreads() { set(before_); }
  SetThreads(const SetThreads&) = delete;
  SetThreads& operator=(const SetThreads&) = delete;

 private:
  static void set(const std::string& value) {
    if (value.empty())
      unsetenv("OMP_NUM_THREADS");  // NOLINT(concurrency-mt-unsafe): no other thread
    else
      setenv("OMP_NUM_THREADS", value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }
  std::string before_ = environment_text("OMP_NUM_THREADS");
};

}  // namespace

CATCH_TEST_CASE("all threads: as many as OMP_NUM_THREADS says, else as the process may have") {
  {
    const SetThreads three("3");
    CATCH_CHECK(computing_threads() == 3);
  }
  {
    const SetThreads nested("2,1");
    CATCH_CHECK(computing_threads() == 2);
  }
  for (const char* none : {"", "0", "many", "-2"}) {
    const SetThreads set(none);
    CATCH_CHECK(computing_threads() == std::min<std::int64_t>(allowed_threads().count, 16));
  }
}

CATCH_TEST_CASE("all threads: every job runs once, on as many threads as there are") {
  for (const char* count : {"1", "4"}) {
    const SetThreads set(count);
    std::vector<int> seen(1000, 0);
    on_all_threads(1000, [&](std::int64_t i) { ++seen[static_cast<std::size_t>(i)]; });
    CATCH_CHECK(std::ranges::all_of(seen, [](int times) { return times == 1; }));
    // Each waits for all others: they run at a time.
    Mutex mutex;
    std::set<std::thread::id> threads;
    std::atomic<std::int64_t> waiting{0};
    on_all_threads(computing_threads(), [&](std::int64_t /*index*/) {
      {
        const MutexLock lock(mutex);
        threads.insert(std::this_thread::get_id());
      }
      for (++waiting; waiting < computing_threads();) std::this_thread::yield();
    });
    CATCH_CHECK(std::to_string(threads.size()) == count);
  }
  int calls = 0;
  on_all_threads(0, [&](std::int64_t /*index*/) { ++calls; });
  CATCH_CHECK(calls == 0);
}

}  // namespace headroom::test
