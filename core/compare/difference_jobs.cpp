// The worker that computes row distances, head by head.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "core/compare/run_difference.h"

#include "core/base/mutex.h"

namespace headroom {
namespace {

using Source = std::shared_ptr<const MapSource>;

constexpr auto kBetweenWakes = std::chrono::milliseconds(60);
constexpr std::size_t kMostKept = 200000;  // distances of pairs that were compared before

struct PairKey {
  std::uint64_t a = 0, b = 0;
  std::int64_t head = 0;
  friend auto operator<=>(const PairKey&, const PairKey&) = default;
};

struct Job {
  PairKey key;
  Source a, b;
};

}  // namespace

const HeadDifferences::Head* HeadDifferences::find(std::int64_t layer, std::int64_t head) const {
  const auto at = std::ranges::lower_bound(heads, std::pair(layer, head), {},
                                           [](const Head& entry) { return std::pair(entry.layer, entry.head); });
  return at != heads.end() && at->layer == layer && at->head == head ? &*at : nullptr;
}

struct DifferenceJobs::State {
  std::function<void()> wake;
  // Main thread.
  std::shared_ptr<const RunSnapshot> a, b;
  std::optional<std::pair<std::int64_t, std::int64_t>> first;
  std::map<PairKey, RowDistance> kept;
  std::vector<PairKey> keys;  // of results->heads, in its order
  std::shared_ptr<const HeadDifferences> results = std::make_shared<HeadDifferences>();

  Mutex mutex;
  std::condition_variable_any changed;
  std::deque<Job> waiting HEADROOM_GUARDED_BY(mutex);
  std::vector<std::pair<PairKey, RowDistance>> finished HEADROOM_GUARDED_BY(mutex);
  PairKey running HEADROOM_GUARDED_BY(mutex);
  std::atomic<bool> give_up{false};
  std::jthread worker;  // last: it uses all the others

  void work(const std::stop_token& token) {
    const kernels::ParallelFor alone = [](std::int64_t tasks, const std::function<void(std::int64_t)>& body) {
      for (std::int64_t task = 0; task < tasks; ++task) body(task);
    };
    const kernels::StopRequested stop = [&] { return token.stop_requested() || give_up.load(); };
    auto last_wake = std::chrono::steady_clock::now() - kBetweenWakes;
    while (true) {
      Job job;
      {
        const MutexLock lock(mutex);
        if (!changed.wait(mutex, token, [&]() HEADROOM_REQUIRES(mutex) { return !waiting.empty(); })) return;
        job = std::move(waiting.front());
        waiting.pop_front();
        running = job.key;
        give_up = false;
      }
      const auto distance = row_distance(*job.a, *job.b, job.key.head, distance_rows(job.a->length), alone, stop);
      bool last = false;
      {
        const MutexLock lock(mutex);
        running = {};
        if (distance) finished.emplace_back(job.key, *distance);
        last = waiting.empty();
      }
      if (distance && wake && (last || std::chrono::steady_clock::now() - last_wake >= kBetweenWakes)) {
        last_wake = std::chrono::steady_clock::now();
        wake();
      }
    }
  }

  void publish() {
    auto next = std::make_shared<HeadDifferences>(*results);
    next->known = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i].a == keys[i].b) {
        next->heads[i].distance = {0.0, a->length};
      } else if (const auto found = kept.find(keys[i]); found != kept.end()) {
        next->heads[i].distance = found->second;
      }
      next->known += keys[i].a == keys[i].b || kept.contains(keys[i]) ? 1 : 0;
    }
    results = std::move(next);
  }
};

DifferenceJobs::DifferenceJobs(std::function<void()> wake, const std::function<void()>& start_thread)
    : state_(std::make_unique<State>()) {
  state_->wake = std::move(wake);
  state_->worker = std::jthread([state = state_.get(), start_thread](const std::stop_token& token) {
    if (start_thread) start_thread();
    state->work(token);
  });
}

DifferenceJobs::~DifferenceJobs() = default;

void DifferenceJobs::compare(const std::shared_ptr<const RunSnapshot>& a, const std::shared_ptr<const RunSnapshot>& b,
                             std::optional<std::pair<std::int64_t, std::int64_t>> first) {
  State& state = *state_;
  if (state.a == a && state.b == b && state.first == first) return;
  state.a = a;
  state.b = b;
  state.first = first;
  if (state.kept.size() > kMostKept) state.kept.clear();
  auto next = std::make_shared<HeadDifferences>();
  state.keys.clear();
  std::vector<std::tuple<bool, bool, Job>> jobs;  // not the first head, not of its layer
  if (a && b && a->length == b->length) {
    for (const auto& layer : a->data) {
      const LayerSnapshot* other = layer ? b->layer(layer->layer) : nullptr;
      if (!other) continue;
      for (const std::int64_t head : layer->heads) {
        if (other->head_index(head) < 0) continue;
        const bool maps = layer->maps && other->maps && layer->maps->find(head) && other->maps->find(head);
        if (!maps) {
          ++next->without_maps;
          continue;
        }
        const PairKey key{layer->maps->id, other->maps->id, head};
        next->heads.push_back({layer->layer, head, {}});
        state.keys.push_back(key);
        if (key.a == key.b || state.kept.contains(key)) continue;
        const bool is_first = first && *first == std::pair(layer->layer, head);
        jobs.emplace_back(!is_first, !(first && first->first == layer->layer), Job{key, layer->maps, other->maps});
      }
    }
  }
  std::ranges::stable_sort(jobs, [](const auto& x, const auto& y) {
    return std::tuple(std::get<0>(x), std::get<1>(x)) < std::tuple(std::get<0>(y), std::get<1>(y));
  });
  state.results = std::move(next);
  state.publish();
  {
    const MutexLock lock(state.mutex);
    state.waiting.clear();
    bool goes_on = false;
    for (auto& [later, elsewhere, job] : jobs) {
      if (job.key == state.running) {
        goes_on = true;
        continue;
      }
      const bool done = std::ranges::any_of(state.finished, [&](const auto& entry) { return entry.first == job.key; });
      if (!done) state.waiting.push_back(std::move(job));
    }
    if (!goes_on) state.give_up = true;
  }
  state.changed.notify_all();
}

bool DifferenceJobs::collect() {
  std::vector<std::pair<PairKey, RowDistance>> finished;
  {
    const MutexLock lock(state_->mutex);
    finished.swap(state_->finished);
  }
  for (auto& [key, distance] : finished) state_->kept[key] = distance;
  if (!finished.empty()) state_->publish();
  return !finished.empty();
}

std::shared_ptr<const HeadDifferences> DifferenceJobs::results() const { return state_->results; }

}  // namespace headroom
