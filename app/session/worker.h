// One thread with a queue of jobs of any length: the compute thread and the I/O thread of the window. post() on the
// main thread; a job reports back through a MainQueue.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <string>
#include <thread>

#include "core/base/mutex.h"

namespace headroom {

class Worker {
 public:
  using Job = std::function<void()>;
  // The thread begins with `at_start` (its name, its priority).
  explicit Worker(std::function<void()> at_start = {});
  ~Worker();  // waiting jobs are dropped, the running one is waited for
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void post(Job job);
  // Nothing waits and nothing runs.
  [[nodiscard]] bool idle() const;

 private:
  void work(const std::stop_token& token);

  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Job> waiting_ HEADROOM_GUARDED_BY(mutex_);
  bool running_ HEADROOM_GUARDED_BY(mutex_) = false;
  const std::function<void()> at_start_;
  std::jthread thread_;  // last: it uses all the others
};

// For the calling thread and those it starts: a shorter share of the processor by `nice` steps, and a name of at most
// 15 characters for debuggers and traces.
void become_background_thread(const std::string& name, int nice_steps);

}  // namespace headroom
