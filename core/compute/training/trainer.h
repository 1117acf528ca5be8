// The training loop. Owned by one thread; several may train at a time.
#pragma once

#include "core/base/result.h"
#include "core/training/training.h"

namespace headroom {

// Trains until the recipe's last step, its error bound or a request to stop, and leaves in the folder the checkpoints
// (the one of the step where it stopped, too) and, in any case, the state (kStateFile), which the caller removes once
// it has written the history of a training that is done. The result does not depend on where a training was
// interrupted. Where the loss is no number the training ends, and the outcome says at which step.
[[nodiscard]] Result<TrainingOutcome> train(const TrainingRequest& request, TrainingObserver& observer);

}  // namespace headroom
