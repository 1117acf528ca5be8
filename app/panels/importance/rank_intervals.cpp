#include "app/panels/importance/rank_intervals.h"

#include <stop_token>

#include "core/base/mutex.h"

namespace headroom {

struct RankIntervals::Shared {
  Mutex mutex;
  std::vector<Bootstrapped> done HEADROOM_GUARDED_BY(mutex);  // of the first groups
};

RankIntervals::RankIntervals() : worker_({.at_start = [] { become_background_thread("ranks", 5); }}) {}

RankIntervals::~RankIntervals() = default;

RankIntervals::Answer RankIntervals::of(const std::vector<HeadPairs>& groups) {
  if (groups != asked_ || !shared_) {
    asked_ = groups;
    shared_ = std::make_shared<Shared>();
    worker_.want({{{++times_asked_}, [groups, shared = shared_](const std::stop_token& stop) {
                     for (const HeadPairs& group : groups) {
                       Bootstrapped made = bootstrapped_rank_correlation(group.a, group.b, stop);
                       if (stop.stop_requested()) return;
                       const MutexLock lock(shared->mutex);
                       shared->done.push_back(made);
                     }
                   }}});
  }
  const MutexLock lock(shared_->mutex);
  Answer answer{shared_->done, shared_->done.size()};
  answer.of.resize(groups.size());
  return answer;
}

}  // namespace headroom
