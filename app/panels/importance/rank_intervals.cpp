#include "app/panels/importance/rank_intervals.h"

#include <utility>

#include "core/base/mutex.h"

namespace headroom {

struct RankIntervals::Shared {
  Mutex mutex;
  std::vector<Bootstrapped> done HEADROOM_GUARDED_BY(mutex);  // of the first groups
};

RankIntervals::RankIntervals() : worker_({.at_start = [] { become_background_thread("ranks", 5); }}) {}

RankIntervals::~RankIntervals() { stop_.request_stop(); }

RankIntervals::Answer RankIntervals::of(const std::vector<HeadPairs>& groups) {
  if (groups != asked_ || !shared_) {
    stop_.request_stop();
    stop_ = std::stop_source();
    asked_ = groups;
    shared_ = std::make_shared<Shared>();
    worker_.post([groups, shared = shared_, stop = stop_.get_token()] {
      for (const HeadPairs& group : groups) {
        Bootstrapped made = bootstrapped_rank_correlation(group.a, group.b, stop);
        if (stop.stop_requested()) return;
        const MutexLock lock(shared->mutex);
        shared->done.push_back(made);
      }
    });
  }
  const MutexLock lock(shared_->mutex);
  Answer answer{shared_->done, shared_->done.size()};
  answer.of.resize(groups.size());
  return answer;
}

}  // namespace headroom
