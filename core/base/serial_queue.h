// One thread that works through jobs in the order they came, a bounded number of them waiting, so that what is slow and
// serial runs beside the caller. Call it from one thread; jobs run on another.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

#include "core/base/mutex.h"
#include "core/base/result.h"

namespace headroom {

class SerialQueue {
 public:
  // The token tells a long job that the queue is being cancelled.
  using Job = std::function<Result<void>(const std::stop_token& token)>;
  using StopRequested = std::function<bool()>;

  // At most `most_waiting` jobs (1 or more) stand behind the one that runs.
  explicit SerialQueue(std::size_t most_waiting);
  ~SerialQueue();  // cancels
  SerialQueue(const SerialQueue&) = delete;
  SerialQueue& operator=(const SerialQueue&) = delete;

  // Waits for a place. The first error of an earlier job comes back here, an exception is thrown again; either way the
  // job is dropped, as all later ones are. Cancelled once `stop` says so while it waits, or after cancel().
  Result<void> submit(Job job, const StopRequested& stop = {});
  // Waits until all jobs are done, with the same errors.
  Result<void> finish(const StopRequested& stop = {});
  // Drops the jobs that wait and returns when the running one has ended.
  void cancel();

 private:
  // Until `ready` says so, in which the mutex is held.
  Result<void> wait(const StopRequested& stop, const std::function<bool()>& ready) HEADROOM_REQUIRES(mutex_);
  Result<void> failure() const HEADROOM_REQUIRES(mutex_);
  void work(const std::stop_token& token);

  const std::size_t most_waiting_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Job> waiting_ HEADROOM_GUARDED_BY(mutex_);
  bool running_ HEADROOM_GUARDED_BY(mutex_) = false;
  bool cancelled_ HEADROOM_GUARDED_BY(mutex_) = false;
  std::optional<Error> error_ HEADROOM_GUARDED_BY(mutex_);
  std::exception_ptr exception_ HEADROOM_GUARDED_BY(mutex_);

  std::jthread thread_;  // last: it uses all the others
};

}  // namespace headroom
