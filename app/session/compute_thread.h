// The thread that owns LibTorch: its backend, and its jobs by their ids, which can be stopped. Main thread only but for
// backend().
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "app/session/session_parts.h"
#include "core/base/worker.h"
#include "core/run/compute.h"

namespace headroom {

class ComputeThread : private SessionParts {
 public:
  explicit ComputeThread(const SessionParts& parts);
  ~ComputeThread() { finish(); }
  ComputeThread(const ComputeThread&) = delete;
  ComputeThread& operator=(const ComputeThread&) = delete;

  void load();    // LibTorch; a card where it cannot be loaded
  void finish();  // stops what runs and waits for it; at the end
  // Of corpora, which run for long: makes room for what is posted next. Set once.
  void set_give_way(std::function<void()> give_way) { give_way_ = std::move(give_way); }
  void give_way() const {
    if (give_way_) give_way_();
  }
  void post(std::function<void()> job) { worker_->post(std::move(job)); }
  [[nodiscard]] Worker& worker() { return *worker_; }
  // In jobs alone. Device where LibTorch is not loaded.
  [[nodiscard]] Result<ComputeBackend*> backend() const;

  using Stop = std::shared_ptr<std::atomic<bool>>;  // true: it is to stop. From any thread
  [[nodiscard]] Stop begin(int job);
  void end(int job) { stops_.erase(job); }
  [[nodiscard]] bool has(int job) const { return stops_.contains(job); }
  bool stop(int job);  // false: it does not wait or run
  bool cancel();       // all of them; false: there is none
  void cancel_asked();
  void cancelled();                                                        // what was asked to stop has
  [[nodiscard]] double cancel_seconds() const { return cancel_seconds_; }  // from asking to stopping, the last time

 private:
  ComputeBackend* backend_ = nullptr;  // compute thread only
  std::function<void()> give_way_;
  std::map<int, Stop> stops_;  // while they wait or run
  double cancel_asked_s_ = -1.0, cancel_seconds_ = 0.0;
  std::unique_ptr<Worker> worker_;  // last: its jobs use the others
};

[[nodiscard]] double clock_seconds();  // of the steady clock

// Exceptions of jobs end here; LibTorch's end inside of the backend.
template <typename Body>
auto without_exceptions(const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::OutOfMemory, "out of memory");
  } catch (const std::exception& error) {
    return Error(ErrorCode::InvalidArgument, std::string("a bug of this program: ") + error.what());
  }
}

}  // namespace headroom
