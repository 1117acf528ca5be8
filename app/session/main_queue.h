// Work for the main thread from other threads: swapped under the lock, run unlocked, once a frame. post() from any
// thread; run() on the main thread. Outlives all that post.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "core/base/mutex.h"

namespace headroom {

class MainQueue {
 public:
  explicit MainQueue(std::function<void()> wake) : wake_(std::move(wake)) {}

  void post(std::function<void()> work) {
    {
      const MutexLock lock(mutex_);
      waiting_.push_back(std::move(work));
    }
    if (wake_) wake_();
  }

  // True if there was anything.
  bool run() {
    std::vector<std::function<void()>> work;
    {
      const MutexLock lock(mutex_);
      work.swap(waiting_);
    }
    for (const auto& job : work) job();
    return !work.empty();
  }

 private:
  const std::function<void()> wake_;
  Mutex mutex_;
  std::vector<std::function<void()>> waiting_ HEADROOM_GUARDED_BY(mutex_);
};

}  // namespace headroom
