// One training, from a recipe's variant and a seed to a checkpoint folder, seen from outside of LibTorch. Trainings may
// run at the same time on different threads; each is owned by its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/training/recipe.h"

namespace headroom {

struct TrainingRequest {
  const Recipe* recipe = nullptr;
  const Variant* variant = nullptr;
  std::uint64_t seed = 0;
  std::filesystem::path folder;      // of the checkpoint; made, with its parents, where it is missing
  bool resume = false;               // goes on from the state in the folder, where there is one
  std::string device = "cpu";        // "cpu", "cuda", "cuda:N"
  int threads = 1;                   // of LibTorch
  double save_every_seconds = 20.0;  // between two states that a kill leaves behind
  std::int64_t stop_after = -1;      // ends with a state after so many steps, as a signal would; −1: not
  std::string program, git_commit;
};

// What was measured, by step. Arrays named in `heads` are [statistics_step, layer, head] and, for those of
// component_statistics(), [.., component]; NaN where a head has no such number.
struct TrainingHistory {
  std::vector<double> loss, gradient_norm, learning_rate;                  // per step; gradient_norm before clipping
  std::vector<double> validation_step, validation_loss, validation_error;  // the error is NaN for next-token tasks
  std::vector<double> statistics_step;
  std::map<std::string, std::vector<double>, std::less<>> heads;
};

struct TrainingOutcome {
  TrainingHistory history;
  std::int64_t step = 0;            // done
  bool finished = false;            // false: stopped, a state is kept
  std::int64_t diverged_step = -1;  // the step whose loss or gradient was not finite; nothing was trained after it
  double seconds = 0.0;             // of this call
  std::int64_t parameters = 0, trained_parameters = 0;
};

class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  virtual void on_step(std::int64_t step, std::int64_t steps, double loss) = 0;
  [[nodiscard]] virtual bool stop_requested() const = 0;
};

// A quantity of every head that is followed through training, over all rows of the step's batch.
struct HeadStatistic {
  std::string_view name;
  bool by_component;
  std::string_view units;
  std::string_view definition;
};
[[nodiscard]] std::span<const HeadStatistic> training_statistics();

// Names in the folder.
inline constexpr const char* kStateFile = "training_state.safetensors";
inline constexpr const char* kHistoryFile = "training.h5";
[[nodiscard]] std::string step_folder(std::int64_t step);  // "step_000100"

}  // namespace headroom
