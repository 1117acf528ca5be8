// The circuits of the shown run's checkpoint: measured layer by layer on a thread of their own, which LibTorch's runs
// do not hold up. Main thread only but for measure().
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/session/session_parts.h"

namespace headroom {

class CircuitJobs : private SessionParts {
 public:
  explicit CircuitJobs(const SessionParts& parts) : SessionParts(parts) {}
  ~CircuitJobs();  // stops what runs and waits for it
  CircuitJobs(const CircuitJobs&) = delete;
  CircuitJobs& operator=(const CircuitJobs&) = delete;

  Result<void> start();                   // of State::circuit_model(): what is not measured yet
  bool stop();                            // false: none are measured
  void keep_beside(RunEntry& run) const;  // what is measured already, after its data came
  // What the selected head writes after the chosen token, whenever one of the two is another; once a frame.
  void update();

 private:
  Worker& worker();
  Result<void> measure(int id, const OpenedModel& opened, const std::vector<std::int64_t>& layers,
                       const std::atomic<bool>& stop);
  void take(int model_id, const std::shared_ptr<const LayerCircuits>& layer, bool whole);

  std::shared_ptr<std::atomic<bool>> stop_, effect_stop_;
  std::string effect_asked_;        // model, head and token of the last one
  std::unique_ptr<Worker> worker_;  // from the first use on; last: its jobs use the others
};

}  // namespace headroom
