// What each head is worth: sweeps over all heads as the window holds them, and what is said of one before it starts.
// Plain values and pure functions; safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/run/ablation_way.h"
#include "core/run/loss_table.h"
#include "core/run/run_memory.h"
#include "core/run/run_snapshot.h"

namespace headroom {

struct State;
struct RunEntry;

enum class SweepStatus : std::uint8_t { Running, Done, Stopped, Failed };

// A sweep by one way over the heads of a run. It grows while it goes on.
struct LossSweep {
  SweepStatus status = SweepStatus::Running;
  std::shared_ptr<const LossTable> table;  // null before the loss of the model is there
  double fraction = 0.0;
  std::string doing;  // "layer 9, from the last upward"
  std::optional<double> seconds_left;
  double seconds = 0.0;
  std::optional<Error> error;
  bool of_file = false;                   // it was read, and cannot be continued
  std::shared_ptr<const LossTable> kept;  // of these a session kept the changes alone; null: none
};
using LossSweeps = std::array<std::optional<LossSweep>, kAblationWays.size()>;

[[nodiscard]] inline const std::optional<LossSweep>& sweep_of(const LossSweeps& sweeps, AblationWay way) {
  return sweeps[static_cast<std::size_t>(way)];
}
// Null where nothing of it is there (yet).
[[nodiscard]] const LossTable* table_of(const LossSweeps& sweeps, AblationWay way);
// The run's numbers with those of its sweeps beside them, by the quantities' names.
[[nodiscard]] std::shared_ptr<const RunSnapshot> with_loss_changes(const RunSnapshot& run, const LossSweeps& sweeps);

// Why no sweep can start; empty: one can. `way` where one is meant.
[[nodiscard]] std::string no_importance(const State& state, std::optional<AblationWay> way = {});

// What a sweep is going to take.
struct SweepEstimate {
  std::size_t heads = 0;  // whose loss is still to be computed
  double forwards = 0.0;  // that all of it costs, in runs of the whole model, the model itself among them
  double seconds = kNaN;  // NaN: the model was not timed
  std::size_t bytes = 0;  // more than the program holds, at the peak; 0: not known
};
// `left`: heads by layer that are still to be computed; `layers`: of the model; `run_seconds`: of one whole run.
[[nodiscard]] SweepEstimate estimate_sweep(const std::map<std::int64_t, std::size_t>& left, std::int64_t layers,
                                           double run_seconds);
// The heads of the run that `way` has not done yet; those that have no second map are left out where the way
// is about it. `only`: of these, where it is not empty.
[[nodiscard]] std::vector<HeadRef> heads_to_do(const RunEntry& run, AblationWay way, const std::vector<HeadRef>& only);
// How many these are, by layer.
[[nodiscard]] std::map<std::int64_t, std::size_t> heads_left(const RunEntry& run, AblationWay way,
                                                             const std::vector<HeadRef>& only);
// Of the run that is shown.
[[nodiscard]] SweepEstimate estimate_sweep(const State& state, AblationWay way, const std::vector<HeadRef>& only = {});
// "270 heads: about 148 runs of the model, 4 min 50 s, 0.4 GB more".
[[nodiscard]] std::string estimate_text(const SweepEstimate& estimate);

}  // namespace headroom
