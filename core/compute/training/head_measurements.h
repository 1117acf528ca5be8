// What is followed of every head through a training: entries of the table of quantities on one batch, measured by the
// attention backends of the analysis, never n × n. Owned by one thread.
#pragma once

#include <span>

#include "core/base/result.h"
#include "core/compute/training/trainable_model.h"
#include "core/training/training.h"

namespace headroom {

// Appends one [layer, head(, component)] block to each array of history.heads. No gradients. InvalidArgument for a
// statistic that the table of quantities does not have.
[[nodiscard]] Result<void> measure_heads(const TrainableModel& model, const BatchTensors& batch,
                                         std::span<const HeadStatistic> statistics, TrainingHistory& history);

}  // namespace headroom
