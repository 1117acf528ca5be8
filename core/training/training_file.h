// training.h5: what was measured while a model was trained, laid out like a run file (dimension scales, definitions
// beside the numbers), schema_name "headroom-training". One thread at a time: HDF5.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "core/base/result.h"
#include "core/training/training.h"

namespace headroom {

// Loss spikes (core/measure/QUANTITIES.md#spikes-of-a-training): steps whose value is above the running median by more
// than 6 median absolute deviations, over the 100 steps before.
[[nodiscard]] std::int64_t count_spikes(std::span<const double> values);

// Axes step, validation_step, statistics_step, layer, head, component. An existing file is replaced.
[[nodiscard]] Result<void> write_training_file(const TrainingRequest& request, const TrainingOutcome& outcome,
                                               const std::string& command_line);

}  // namespace headroom
