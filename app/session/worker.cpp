#include "app/session/worker.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

namespace headroom {

Worker::Worker(std::function<void()> at_start)
    : at_start_(std::move(at_start)), thread_([this](const std::stop_token& token) { work(token); }) {}

Worker::~Worker() {
  {
    const MutexLock lock(mutex_);
    waiting_.clear();
  }
  thread_.request_stop();
  changed_.notify_all();
}

void Worker::post(Job job) {
  {
    const MutexLock lock(mutex_);
    waiting_.push_back(std::move(job));
  }
  changed_.notify_all();
}

bool Worker::idle() const {
  const MutexLock lock(mutex_);
  return waiting_.empty() && !running_;
}

void Worker::work(const std::stop_token& token) {
  if (at_start_) at_start_();
  for (;;) {
    Job job;
    {
      const MutexLock lock(mutex_);
      running_ = false;
      if (!changed_.wait(mutex_, token, [this]() HEADROOM_REQUIRES(mutex_) { return !waiting_.empty(); })) return;
      job = std::move(waiting_.front());
      waiting_.pop_front();
      running_ = true;
    }
    job();
  }
}

void become_background_thread(const std::string& name, int nice_steps) {
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
  // On Linux a thread has a nice value of its own, which the threads it starts take over. Failing is harmless.
  if (nice_steps > 0)
    setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), getpriority(PRIO_PROCESS, 0) + nice_steps);
}

}  // namespace headroom
