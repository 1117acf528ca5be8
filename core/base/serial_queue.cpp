#include "core/base/serial_queue.h"

#include <chrono>
#include <utility>

namespace headroom {
namespace {

// How often a caller that waits looks whether it should stop.
constexpr std::chrono::milliseconds kPoll{20};

}  // namespace

SerialQueue::SerialQueue(std::size_t most_waiting)
    : most_waiting_(most_waiting), thread_([this](const std::stop_token& token) { work(token); }) {}

SerialQueue::~SerialQueue() { cancel(); }

Result<void> SerialQueue::failure() const {
  if (exception_) std::rethrow_exception(exception_);
  if (error_) return *error_;
  if (cancelled_) return Error(ErrorCode::Cancelled, "cancelled");
  return {};
}

Result<void> SerialQueue::wait(const StopRequested& stop, const std::function<bool()>& ready) {
  const auto over = [&]() HEADROOM_REQUIRES(mutex_) { return ready() || exception_ || error_ || cancelled_; };
  while (!changed_.wait_for(mutex_, kPoll, over)) {
    bool stopped = false;
    {
      const MutexUnlock unlocked(mutex_);
      stopped = stop && stop();
    }
    if (stopped && !over()) return Error(ErrorCode::Cancelled, "cancelled");
  }
  return failure();
}

Result<void> SerialQueue::submit(Job job, const StopRequested& stop) {
  const MutexLock lock(mutex_);
  HEADROOM_TRY_VOID(wait(stop, [&]() HEADROOM_REQUIRES(mutex_) { return waiting_.size() < most_waiting_; }));
  waiting_.push_back(std::move(job));
  changed_.notify_all();
  return {};
}

Result<void> SerialQueue::finish(const StopRequested& stop) {
  const MutexLock lock(mutex_);
  return wait(stop, [&]() HEADROOM_REQUIRES(mutex_) { return waiting_.empty() && !running_; });
}

void SerialQueue::cancel() {
  std::deque<Job> dropped;  // destroyed outside of the lock
  {
    const MutexLock lock(mutex_);
    cancelled_ = true;
    dropped.swap(waiting_);
  }
  thread_.request_stop();
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SerialQueue::work(const std::stop_token& token) {
  while (true) {
    Job job;
    {
      const MutexLock lock(mutex_);
      if (!changed_.wait(mutex_, token, [&]() HEADROOM_REQUIRES(mutex_) { return !waiting_.empty(); })) return;
      if (cancelled_) return;
      job = std::move(waiting_.front());
      waiting_.pop_front();
      running_ = true;
      changed_.notify_all();
    }
    std::optional<Error> error;
    std::exception_ptr exception;
    try {
      if (Result<void> done = job(token); !done) error = std::move(done.error());
    } catch (...) {
      exception = std::current_exception();
    }
    job = {};  // what it holds goes before the next one is taken
    const bool failed = error.has_value() || exception;
    std::deque<Job> dropped;  // destroyed outside of the lock
    const MutexLock lock(mutex_);
    running_ = false;
    if (failed) {
      error_ = std::move(error);
      exception_ = exception;
      dropped.swap(waiting_);
    }
    changed_.notify_all();
    if (failed) return;
  }
}

}  // namespace headroom
