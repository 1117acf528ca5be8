#include "core/base/worker.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <utility>

namespace headroom {
namespace {

// How often a caller that waits looks whether it should stop.
constexpr std::chrono::milliseconds kPoll{20};

}  // namespace

Worker::Worker(WorkerOptions options)
    : options_(std::move(options)), thread_([this](const std::stop_token& token) { work(token); }) {}

Worker::~Worker() { cancel(); }

Result<void> Worker::failure() const {
  if (exception_) std::rethrow_exception(exception_);
  if (error_) return *error_;
  if (cancelled_) return Error(ErrorCode::Cancelled, "cancelled");
  return {};
}

Result<void> Worker::wait(const StopRequested& stop, const std::function<bool()>& ready) {
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

Result<void> Worker::submit(Job job, const StopRequested& stop) {
  const MutexLock lock(mutex_);
  HEADROOM_TRY_VOID(wait(stop, [&]() HEADROOM_REQUIRES(mutex_) { return submitted_.size() < options_.most_waiting; }));
  submitted_.push_back(std::move(job));
  changed_.notify_all();
  return {};
}

void Worker::post(std::function<void()> job) {
  (void)submit([job = std::move(job)](const std::stop_token&) noexcept -> Result<void> {
    job();
    return {};
  });
}

void Worker::want(std::vector<Wanted> jobs) {
  std::deque<Wanted> dropped;  // destroyed outside of the lock
  std::stop_source superfluous(std::nostopstate);
  {
    const MutexLock lock(mutex_);
    dropped.swap(wanted_);
    if (cancelled_ || error_ || exception_) return;
    bool goes_on = !running_ || !running_key_;
    for (Wanted& wanted : jobs) {
      // One that was told to stop may be wanted again: it begins anew.
      const bool runs = running_ && running_key_ == wanted.key && !running_stop_.stop_requested();
      goes_on = goes_on || runs;
      if (!runs) wanted_.push_back(std::move(wanted));
    }
    if (!goes_on) superfluous = running_stop_;
  }
  superfluous.request_stop();
  changed_.notify_all();
}

Result<void> Worker::finish(const StopRequested& stop) {
  const MutexLock lock(mutex_);
  return wait(stop, [&]() HEADROOM_REQUIRES(mutex_) { return count() == 0 && !running_; });
}

void Worker::cancel() {
  std::deque<Job> submitted;  // destroyed outside of the lock
  std::deque<Wanted> wanted;
  std::stop_source running(std::nostopstate);
  {
    const MutexLock lock(mutex_);
    cancelled_ = true;
    submitted.swap(submitted_);
    wanted.swap(wanted_);
    running = running_stop_;
  }
  running.request_stop();
  thread_.request_stop();
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::size_t Worker::waiting() const {
  const MutexLock lock(mutex_);
  return count();
}

bool Worker::idle() const {
  const MutexLock lock(mutex_);
  return count() == 0 && !running_;
}

void Worker::work(const std::stop_token& token) {
  if (options_.at_start) options_.at_start();
  while (true) {
    Job job;
    std::stop_token told;
    {
      const MutexLock lock(mutex_);
      if (!changed_.wait(mutex_, token, [&]() HEADROOM_REQUIRES(mutex_) { return count() > 0; })) return;
      if (cancelled_) return;
      running_key_.reset();
      if (!submitted_.empty()) {
        job = std::move(submitted_.front());
        submitted_.pop_front();
      } else {
        job = [wanted = std::move(wanted_.front().job)](const std::stop_token& stop) noexcept -> Result<void> {
          wanted(stop);
          return {};
        };
        running_key_ = wanted_.front().key;
        wanted_.pop_front();
      }
      running_ = true;
      running_stop_ = std::stop_source();
      told = running_stop_.get_token();
      changed_.notify_all();
    }
    std::optional<Error> error;
    std::exception_ptr exception;
    try {
      if (Result<void> done = job(told); !done) error = std::move(done.error());
    } catch (...) {
      exception = std::current_exception();
    }
    job = {};  // what it holds goes before the next one is taken
    const bool failed = error.has_value() || exception;
    std::deque<Job> submitted;  // destroyed outside of the lock
    std::deque<Wanted> wanted;
    const MutexLock lock(mutex_);
    running_ = false;
    if (failed) {
      error_ = std::move(error);
      exception_ = exception;
      submitted.swap(submitted_);
      wanted.swap(wanted_);
    }
    changed_.notify_all();
    if (failed) return;
  }
}

void become_background_thread(const std::string& name, int nice_steps) {
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
  // On Linux a thread has a nice value of its own, which the threads it starts take over. Failing is harmless.
  if (nice_steps > 0)
    setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), getpriority(PRIO_PROCESS, 0) + nice_steps);
}

}  // namespace headroom
