// Sweeps over heads on the compute thread: what the loss of the shown run's text is without each. What a person asks
// for meanwhile goes first: a sweep gives way, keeps what it has, and goes on behind it. Main thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/session/compute_thread.h"
#include "app/session/importance.h"
#include "app/session/session_parts.h"
#include "core/run/ablation.h"

namespace headroom {

class Sweeps : private SessionParts {
 public:
  Sweeps(const SessionParts& parts, ComputeThread& compute) : SessionParts(parts), compute_(compute) {}

  // The loss of the shown run without each of its heads, or without each of these; what is done already stays.
  Result<void> start(AblationWay way, const std::vector<HeadRef>& only);
  bool stop();  // false: none goes on
  // The way that is shown, as `headroom ablate` writes it; on the I/O thread, then `told`.
  Result<void> save(const std::string& path, bool replace, std::function<void(const Result<void>&)> told);
  void give_way();          // to what is posted next
  void forget(int run_id);  // of a run that goes away

 private:
  struct Job;
  [[nodiscard]] Result<AblationRequest> request_of(const RunEntry& run, AblationWay way) const;
  void post(const std::shared_ptr<Job>& job);
  void take(RunEntry& run, AblationWay way, std::shared_ptr<const LossTable> table);
  void finished(const std::shared_ptr<Job>& job, Result<AblationOutcome> result, double seconds);

  ComputeThread& compute_;
  std::map<std::pair<int, AblationWay>, std::shared_ptr<Job>> jobs_;  // by run
};

}  // namespace headroom
