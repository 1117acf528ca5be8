// One thread that works through jobs beside the caller: those that are submitted in the order they came, of which a
// bounded number may wait, then those that are wanted, the first of the list first. Call it from one thread; jobs run
// on another, and no lock is held while one does.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/result.h"

namespace headroom {

struct WorkerOptions {
  std::size_t most_waiting =
      std::numeric_limits<std::size_t>::max();  // 1 or more submitted jobs behind the running one
  std::function<void()> at_start = {};          // the thread begins with it (name, niceness)
};

class Worker {
 public:
  // The token tells a long job that it is not wanted any more, or that the worker ends.
  using Job = std::function<Result<void>(const std::stop_token& token)>;
  using StopRequested = std::function<bool()>;
  // What a job is about: two with the same key are the same job.
  using Key = std::array<std::uint64_t, 3>;
  struct Wanted {
    Key key;
    std::function<void(const std::stop_token& token)> job;  // reports by itself and throws nothing
  };

  explicit Worker(WorkerOptions options = {});
  ~Worker();  // cancels
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Waits for a place. The first error of an earlier job comes back here, an exception is thrown again; either way the
  // job is dropped, as all later ones are. Cancelled once `stop` says so while it waits, or after cancel().
  Result<void> submit(Job job, const StopRequested& stop = {});
  // For a worker without a bound: a job that reports by itself and throws nothing.
  void post(std::function<void()> job);
  // Takes the place of what was wanted before, the most urgent first. The one that runs goes on if it is among them,
  // else its token is told; waits for nothing.
  void want(std::vector<Wanted> jobs);
  // Waits until all jobs are done, with the same errors as submit().
  Result<void> finish(const StopRequested& stop = {});
  // Drops the jobs that wait and returns when the running one has ended.
  void cancel();

  // These two from any thread, jobs among them.
  [[nodiscard]] std::size_t waiting() const;  // jobs that have not begun
  [[nodiscard]] bool idle() const;            // nothing waits and nothing runs

 private:
  // Until `ready` says so, in which the mutex is held.
  Result<void> wait(const StopRequested& stop, const std::function<bool()>& ready) HEADROOM_REQUIRES(mutex_);
  Result<void> failure() const HEADROOM_REQUIRES(mutex_);
  [[nodiscard]] std::size_t count() const HEADROOM_REQUIRES(mutex_) { return submitted_.size() + wanted_.size(); }
  void work(const std::stop_token& token);

  const WorkerOptions options_;
  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Job> submitted_ HEADROOM_GUARDED_BY(mutex_);
  std::deque<Wanted> wanted_ HEADROOM_GUARDED_BY(mutex_);
  bool running_ HEADROOM_GUARDED_BY(mutex_) = false;
  std::optional<Key> running_key_ HEADROOM_GUARDED_BY(mutex_);  // nothing: it was submitted
  std::stop_source running_stop_ HEADROOM_GUARDED_BY(mutex_);
  bool cancelled_ HEADROOM_GUARDED_BY(mutex_) = false;
  std::optional<Error> error_ HEADROOM_GUARDED_BY(mutex_);
  std::exception_ptr exception_ HEADROOM_GUARDED_BY(mutex_);

  std::jthread thread_;  // last: it uses all the others
};

// For the calling thread and those it starts: a shorter share of the processor by `nice` steps, and a name of at most
// 15 characters for debuggers and traces.
void become_background_thread(const std::string& name, int nice_steps);

}  // namespace headroom
