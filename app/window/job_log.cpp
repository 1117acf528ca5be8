#include "app/window/job_log.h"

#include <algorithm>

namespace headroom {

void JobLog::add(std::string_view name, double begin_s, double end_s) {
  const MutexLock lock(mutex_);
  jobs_[count_++ % kKept] = {std::string(name), begin_s, end_s - begin_s};
}

std::vector<JobLog::Job> JobLog::latest() const {
  const MutexLock lock(mutex_);
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < std::min(count_, kKept); ++i) jobs.push_back(jobs_[(count_ - 1 - i) % kKept]);
  return jobs;
}

std::size_t JobLog::count() const {
  const MutexLock lock(mutex_);
  return count_;
}

}  // namespace headroom
