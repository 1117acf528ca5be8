// The worker that computes row distances, head by head.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/compare/run_difference.h"

#include "core/base/mutex.h"
#include "core/base/worker.h"

namespace headroom {
namespace {

using Clock = std::chrono::steady_clock;
using PairKey = Worker::Key;  // ids of two sources, a head

constexpr auto kBetweenWakes = std::chrono::milliseconds(60);
constexpr std::size_t kMostKept = 200000;  // distances of pairs that were compared before

bool same_source(const PairKey& key) { return key[0] == key[1]; }

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
  std::vector<std::pair<PairKey, RowDistance>> finished HEADROOM_GUARDED_BY(mutex);
  Clock::time_point last_wake = Clock::now() - kBetweenWakes;  // of the worker's thread
  Worker worker;                                               // last: its jobs use all the others

  State(std::function<void()> on_result, std::function<void()> start_thread)
      : wake(std::move(on_result)), worker({.at_start = std::move(start_thread)}) {}

  // On the worker's thread.
  void compute(const PairKey& key, const MapSource& of_a, const MapSource& of_b, const std::stop_token& token) {
    const kernels::ParallelFor alone = [](std::int64_t tasks, const std::function<void(std::int64_t)>& body) {
      for (std::int64_t task = 0; task < tasks; ++task) body(task);
    };
    const auto distance = row_distance(of_a, of_b, static_cast<std::int64_t>(key[2]), distance_rows(of_a.length), alone,
                                       [&] { return token.stop_requested(); });
    if (!distance) return;
    {
      const MutexLock lock(mutex);
      finished.emplace_back(key, *distance);
    }
    if (wake && (worker.waiting() == 0 || Clock::now() - last_wake >= kBetweenWakes)) {
      last_wake = Clock::now();
      wake();
    }
  }

  void publish() {
    auto next = std::make_shared<HeadDifferences>(*results);
    next->known = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (same_source(keys[i])) {
        next->heads[i].distance = {0.0, a->length};
      } else if (const auto found = kept.find(keys[i]); found != kept.end()) {
        next->heads[i].distance = found->second;
      }
      next->known += same_source(keys[i]) || kept.contains(keys[i]) ? 1 : 0;
    }
    results = std::move(next);
  }
};

DifferenceJobs::DifferenceJobs(std::function<void()> wake, const std::function<void()>& start_thread)
    : state_(std::make_unique<State>(std::move(wake), start_thread)) {}

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
  std::vector<std::pair<int, Worker::Wanted>> jobs;  // 0 the first head, 1 of its layer, 2 elsewhere
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
        const PairKey key{layer->maps->id, other->maps->id, static_cast<std::uint64_t>(head)};
        next->heads.push_back({layer->layer, head, {}});
        state.keys.push_back(key);
        if (same_source(key) || state.kept.contains(key)) continue;
        const int place = !first || first->first != layer->layer ? 2 : first->second != head ? 1 : 0;
        jobs.emplace_back(
            place, Worker::Wanted{key, [&state, key, of_a = layer->maps, of_b = other->maps](
                                           const std::stop_token& token) { state.compute(key, *of_a, *of_b, token); }});
      }
    }
  }
  std::ranges::stable_sort(jobs, {}, [](const auto& job) { return job.first; });
  state.results = std::move(next);
  state.publish();
  std::vector<Worker::Wanted> wanted;
  {  // one that ends between this and want() is computed twice, to the same number
    const MutexLock lock(state.mutex);
    for (auto& [place, job] : jobs)
      if (std::ranges::none_of(state.finished, [&](const auto& entry) { return entry.first == job.key; }))
        wanted.push_back(std::move(job));
  }
  state.worker.want(std::move(wanted));
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
