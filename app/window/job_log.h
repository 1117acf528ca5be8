// The last pieces of work that other threads did: what the developer panel lists. Safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/mutex.h"

namespace headroom {

class JobLog {
 public:
  static constexpr std::size_t kKept = 64;

  struct Job {
    std::string name;
    double begin_s = 0.0, seconds = 0.0;  // of the steady clock
  };

  void add(std::string_view name, double begin_s, double end_s);
  // The last kKept that ended, the latest first.
  [[nodiscard]] std::vector<Job> latest() const;
  [[nodiscard]] std::size_t count() const;  // of all that ended

 private:
  mutable Mutex mutex_;
  std::array<Job, kKept> jobs_ HEADROOM_GUARDED_BY(mutex_);
  std::size_t count_ HEADROOM_GUARDED_BY(mutex_) = 0;
};

}  // namespace headroom
