// A run of the needle test: every prompt of a haystack through a model, what each head gives to the spans of the keys
// at the row that predicts the answer, whether it copies it, and one file of statistics over samples. Call on one
// thread. Definitions: core/corpus/NEEDLES.md
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/corpus/needle_prompts.h"
#include "core/corpus/statistics.h"
#include "core/run/analysis.h"
#include "core/run/compute.h"
#include "core/run/run_memory.h"

namespace headroom {

struct NeedleRequest {
  AnalysisRequest run;  // model, what-ifs, layers, heads, dtype, device, output, force; its prompt is any
  const NeedleHaystack* haystack = nullptr;
  std::uint64_t bootstrap_seed = 0;
  std::int64_t batch_tokens = 0;  // of prompts that run together; 0: 4096 on the processor, 65536 on a GPU
  bool by_sample = false;         // the values of every sample are kept, too
  bool with_ids = true;
};

// What is said of a cell, a length and a depth.
struct NeedleCell {
  std::int64_t length = 0;
  double depth = 0.0;
  StatisticValues recalled{}, answer_loss{};
  std::vector<StatisticValues> share;  // [span], net map, mean over heads
};

struct NeedleHead {
  std::int64_t layer = 0, head = 0;
  StatisticValues retrieval{};              // over all cells and samples, of the net map
  std::array<StatisticValues, 2> of_map{};  // of the first and the second, NaN where there is none
};

struct NeedleOutcome {
  std::int64_t done = 0, all = 0;       // cells
  bool cancelled = false;               // what is done is in the file
  std::int64_t non_finite = 0;          // prompts
  std::vector<std::string> violations;  // of the self-check
  AttentionChoice attention;
  std::vector<std::string> notes;
  std::vector<NeedleCell> cells;  // those that are done
  std::vector<NeedleHead> heads;  // the largest retrieval scores first
  std::int64_t above_threshold = 0, measured_heads = 0;
  StatisticValues recalled{};  // over all cells and samples
  double seconds = 0.0;
  std::size_t size_bytes = 0;
};

inline constexpr double kRetrievalThreshold = 0.1;  // of a retrieval head (Wu et al., arXiv 2404.15574)

using NeedleProgress = std::function<void(double fraction, std::int64_t prompts, std::int64_t all)>;

// Unsupported for models that predict no next token; InvalidArgument where the prompts do not fit the model or the
// target is there. Stopped before the first cell it is Cancelled and leaves no file, later an outcome with what is
// done.
[[nodiscard]] Result<NeedleOutcome> run_needles(ComputeBackend& backend, const NeedleRequest& request,
                                                const NeedleProgress& progress, const kernels::StopRequested& stop);

// What a cell holds beside a run of one prompt of the largest length: [bytes, as a sentence].
[[nodiscard]] Result<MemoryItem> needle_memory(const NeedleRequest& request);

}  // namespace headroom
