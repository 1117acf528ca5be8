#include "core/base/all_threads.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "core/base/environment.h"
#include "core/base/parse_number.h"
#include "core/base/process_threads.h"

namespace headroom {
namespace {

constexpr std::int64_t kMostThreads = 16;

}  // namespace

std::int64_t computing_threads() {
  const std::string text = environment_text("OMP_NUM_THREADS");
  const std::int64_t set = parse_index(text.substr(0, text.find(','))).value_or(0);
  return std::clamp<std::int64_t>(set > 0 ? set : allowed_threads().count, 1, kMostThreads);
}

void on_all_threads(std::int64_t count, const std::function<void(std::int64_t index)>& job) {
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    for (std::int64_t index = next++; index < count; index = next++) job(index);
  };
  const std::int64_t threads = count > 1 ? std::min(count, computing_threads()) : 1;
  std::vector<std::jthread> others;
  for (std::int64_t t = 1; t < threads; ++t) others.emplace_back(work);
  work();
}

}  // namespace headroom
