// How much a corpus run takes and keeps against what it may, said before anything is computed. Pure functions; safe
// from any thread.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/process_memory.h"
#include "core/base/result.h"
#include "core/corpus/corpus_run.h"
#include "core/run/analysis_memory.h"

namespace headroom {

inline constexpr double kMostKeptBytes = 4.0 * 1024 * 1024 * 1024;  // of all sequences, unless they are asked for

// OutOfMemory where all quantities of so many sequences would make a file that nobody expects to be so large.
[[nodiscard]] Result<void> check_kept_bytes(const std::string& keep, double bytes);
// `memory_gb` 0: all that is free.
[[nodiscard]] AnalysisBudget make_corpus_budget(const CorpusRequest& request, const CorpusSize& size,
                                                std::int64_t threads, double memory_gb, const FreeMemory& free);

}  // namespace headroom
