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

struct Quantity;  // core/measure/quantity.h

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

// What was measured, by step. Arrays in `heads`, by the name of their statistic, are [statistics_step, layer, head]
// and, for quantities by component, [.., component]; NaN where a head has no such number.
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

// How what is measured of a batch's sequences becomes one number of a head.
enum class OverBatch {
  MeanOfSequences,
  LargestOfSequences,
  MeanOfRows,       // of a quantity by position: over all rows of all sequences
  DeviationOfRows,  // the same: standard deviation of the population
};

// A quantity of every head that is followed through training: an entry of the table of quantities
// (core/measure/quantity.h) on the sequences of the step's batch, all of whose rows are eligible.
struct HeadStatistic {
  std::string_view name;             // in training.h5
  std::string_view group, quantity;  // in the table
  OverBatch over = OverBatch::MeanOfSequences;
};
[[nodiscard]] std::span<const HeadStatistic> training_statistics();

// Its entry; InvalidArgument where the table has none of that name, or none of the shape that `over` asks for: one
// number, or one by component, or by position where rows are counted.
[[nodiscard]] Result<const Quantity*> quantity_of(const HeadStatistic& statistic);
// What training.h5 says it is.
[[nodiscard]] std::string definition_of(const HeadStatistic& statistic, const Quantity& quantity);

// Names in the folder.
inline constexpr const char* kStateFile = "training_state.safetensors";
inline constexpr const char* kHistoryFile = "training.h5";
[[nodiscard]] std::string step_folder(std::int64_t step);  // "step_000100"

}  // namespace headroom
