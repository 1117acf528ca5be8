// One thread that works through jobs in the order they came, a bounded number of them waiting, so that what is slow and
// serial runs beside the caller. Call it from one thread; jobs run on another.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

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
  Result<void> wait(const StopRequested& stop, const std::function<bool()>& ready, std::unique_lock<std::mutex>& lock);
  Result<void> failure() const;
  void work(const std::stop_token& token);

  const std::size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  // Under the mutex.
  std::deque<Job> waiting_;
  bool running_ = false, cancelled_ = false;
  std::optional<Error> error_;
  std::exception_ptr exception_;

  std::jthread thread_;  // last: it uses all the others
};

}  // namespace headroom
