// Where the time of a run goes: seconds by the wall clock, added up over its layers. Plain data.
#pragma once

#include <chrono>

namespace headroom {

struct StageSeconds {
  // On the thread that runs the model.
  double project = 0.0;    // embedding, norms, q, k, v, rotation, W_O and what else surrounds attention
  double attention = 0.0;  // maps, contexts and their statistics
  double record = 0.0;     // norms of keys, values and contexts: what attention itself does not yield
  double mix = 0.0;        // what stands in the place of attention in blocks without it
  double mlp = 0.0;
  double logits = 0.0;        // final norm, lm_head, loss
  double wait_weights = 0.0;  // for weights that are still being read
  double wait_write = 0.0;    // for the run file
  double verify = 0.0;        // the run file is closed, read back and put in its place
  // On threads of their own, beside it.
  double read_weights = 0.0;
  double hash = 0.0;   // of the checkpoint, a part of `write`
  double write = 0.0;  // quantities and the run file
};

// Adds the time of its life, or until stop(), to a stage; null: to none.
class StageTimer {
 public:
  explicit StageTimer(double* stage) : stage_(stage) {}
  ~StageTimer() { stop(); }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

  void stop() {
    if (stage_) *stage_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    stage_ = nullptr;
  }

 private:
  double* stage_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace headroom
