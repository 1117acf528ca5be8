// What a run takes against what it may take, and what can be done where that is too much: said before a run and where
// one was not started. Pure functions; main thread or compute thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/memory_text.h"
#include "core/base/process_memory.h"
#include "core/run/run_memory.h"

namespace headroom {

// A button: its lines are run one after the other.
struct RunOffer {
  std::string title, note;  // "Run on the First 5,200 Tokens", "of 7,639"
  std::vector<std::string> lines;
};

struct BudgetQuestion {
  double memory_gb = 0.0;  // of the settings; 0: half of what is free
  FreeMemory free;
  std::size_t held_bytes = 0;  // that earlier runs keep; counts where memory_gb is set
  std::int64_t threads = 1;
  double inputs_share = 0.25;  // of what is kept: inputs of layers
};

struct RunBudget {
  RunMemory memory;
  RunFit fit;
  bool maps = true;  // false: the run was asked to keep none
  double memory_gb = 0.0;
  FreeMemory free;
  std::size_t held_bytes = 0;
  std::size_t budget_bytes = 0;  // for this run
  std::vector<RunOffer> offers;  // where it does not fit
};

// The request's own keep_bytes is not looked at.
[[nodiscard]] RunBudget make_run_budget(const LiveRunRequest& request, std::int64_t length,
                                        const BudgetQuestion& question);
// Offers for a run that ran out of memory although it seemed to fit: with at most half of what it needed then.
[[nodiscard]] std::vector<RunOffer> offers_after_failure(const LiveRunRequest& request, const RunBudget& failed,
                                                         const BudgetQuestion& question);

// "0.20 GB, as set for runs", "3.90 GB, half of what is free".
[[nodiscard]] std::string budget_text(const RunBudget& budget);
// One line: "takes up to 0.47 GB of 3.90 GB", "takes up to 0.40 GB of 0.40 GB: maps of 12 of 30 layers", "takes up to
// 0.47 GB, allowed 0.20 GB".
[[nodiscard]] std::string estimate_text(const RunBudget& budget);
// The error of a run that is not started.
[[nodiscard]] Error over_budget(const RunBudget& budget);

// The largest of 1, 2, … 99, 100, 110, … 990, 1000, 1100, … that is no more; 0 for none.
[[nodiscard]] std::int64_t round_down(std::int64_t value);

}  // namespace headroom
