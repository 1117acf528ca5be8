// `headroom blocks`: every sequence of a plan run once, what block-sparse attention would choose in each head, and a
// file of it with statistics over sequences (core/io/RUN_FILE.md#files-of-blocks). Call on one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/corpus/plan.h"
#include "core/corpus/statistics.h"
#include "core/run/analysis.h"
#include "core/run/compute.h"
#include "core/sparse/block_choice.h"
#include "core/sparse/choice_layout.h"

namespace headroom {

struct BlockRequest {
  AnalysisRequest run;  // of one sequence: model, what-ifs, layers, dtype, device, output, force; its prompt is any
  const CorpusPlan* plan = nullptr;
  BlockRules rules;
  std::uint64_t bootstrap_seed = 0;
  bool with_ids = true;
};

// The plan of one sequence that is a prompt; it has one document, called "prompt".
[[nodiscard]] CorpusPlan plan_of_prompt(const Prompt& prompt);

struct BlockOutcome {
  std::vector<std::int64_t> layers;
  std::int64_t heads = 0, documents = 0, sequences = 0, non_finite = 0;
  std::vector<std::string> violations;         // of the self-check
  std::int64_t groups = 0;                     // of all layers
  std::vector<std::int64_t> rows;              // with a choice, of a sequence, by k: the most of a layer
  std::vector<StatisticValues> recall;         // means over heads, [map, choice, top]
  std::vector<StatisticValues> recall_change;  // likewise, less what maps alone have
  std::vector<StatisticValues> agreement;      // [relation, top]
  std::vector<StatisticValues> contrast;       // [contrast, top]
  std::vector<StatisticValues> blocks_read;    // [scope, top]
  AttentionChoice attention;
  std::vector<std::string> notes;
  double seconds = 0.0;
  std::size_t size_bytes = 0;
};

using BlockProgress = std::function<void(double fraction, std::int64_t done, std::int64_t all)>;

// Beside a run of one sequence: choices and products of a layer, what is kept of all sequences.
[[nodiscard]] Result<std::size_t> block_bytes(const BlockRequest& request);

// Unsupported for captures and models that read two sequences, and for layers whose logits have terms beside q·k (a
// bias by distance, DeBERTa's); InvalidArgument where no row sees more than k blocks for any k, and for hidden keys;
// Cancelled by `stop`.
[[nodiscard]] Result<BlockOutcome> run_blocks(ComputeBackend& backend, const BlockRequest& request,
                                              const BlockProgress& progress, const kernels::StopRequested& stop);

}  // namespace headroom
