// trainer_state.json, which Hugging Face's Trainer writes into each of its checkpoint folders: loss, grad_norm and
// learning_rate of the steps that were logged, and eval_loss. Pure functions; safe from any thread.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/training/stored_history.h"

namespace headroom {

inline constexpr const char* kTrainerStateFile = "trainer_state.json";

// Steps, curves, planned steps and whether it is finished. Python writes NaN and Infinity, which JSON has not: a loss
// that is none of the numbers is where the training diverged, and is left out. Of a text that breaks off, being
// written, the whole entries are read. Corrupt where it holds no log_history.
[[nodiscard]] Result<void> read_trainer_state(const std::string& text, StoredHistory& history);

}  // namespace headroom
