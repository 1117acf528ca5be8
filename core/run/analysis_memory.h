// How much memory analyze() takes against what it may take, said before anything is computed, and what can be done
// where that is too much. Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/base/process_memory.h"
#include "core/run/analysis.h"
#include "core/run/run_memory.h"

namespace headroom {

struct AnalysisBudget {
  RunMemory memory;  // nothing is kept: working_bytes is all of it
  std::size_t allowed_bytes = 0;
  std::string limit;  // what says so: "free memory", "--memory"
  [[nodiscard]] bool fits() const { return memory.working_bytes <= allowed_bytes; }
};

// Beside what a run in memory takes (core/run/run_memory.h): records, quantities and rows that wait to be written, and
// HDF5's cache of chunks. `threads` compute at once.
[[nodiscard]] RunMemory estimate_analysis_memory(const AnalysisRequest& request, std::int64_t threads);

// `memory_gb` 0: all that is free.
[[nodiscard]] AnalysisBudget make_analysis_budget(const AnalysisRequest& request, std::int64_t threads,
                                                  double memory_gb, const FreeMemory& free);

// "takes up to 0.47 GB of 15.2 GB (free memory): weights of two layers 0.21 GB, LM head 0.11 GB, the rest 0.15 GB".
[[nodiscard]] std::string estimate_text(const AnalysisBudget& budget);
// The error of a run that is not started; its hint names the layers and the tokens that fit.
[[nodiscard]] Error over_budget(const AnalysisRequest& request, std::int64_t threads, const AnalysisBudget& budget);

}  // namespace headroom
