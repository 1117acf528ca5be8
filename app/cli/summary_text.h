// What `analyze` prints: for a person, and as JSON. Pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "core/run/analysis.h"
#include "core/run/analysis_memory.h"

namespace headroom {

struct RunFacts {
  const OpenedModel* model = nullptr;
  const AnalysisRequest* request = nullptr;
  const AnalysisOutcome* outcome = nullptr;
  std::string tokenizer;
  std::string device_note;  // of --device auto: what it chose and why
  AnalysisBudget budget;    // what was said before the run
  std::uint64_t peak_rss_bytes = 0;
  // Before the run: the checkpoint is opened, LibTorch loaded, the prompt made.
  double open_seconds = 0.0, library_seconds = 0.0, prompt_seconds = 0.0;
};

[[nodiscard]] std::string summary_text(const RunFacts& facts);
[[nodiscard]] std::string summary_json(const RunFacts& facts);

}  // namespace headroom
