// What is followed of every head through a training: the numbers of training_statistics() on one batch. Owned by one
// thread.
#pragma once

#include "core/compute/training/trainable_model.h"
#include "core/training/training.h"

namespace headroom {

// Appends one [layer, head(, component)] block to each array of history.heads. No gradients.
void measure_heads(const TrainableModel& model, const BatchTensors& batch, TrainingHistory& history);

}  // namespace headroom
