// Importance of heads over the sequences of a plan: each sequence's changes of the loss as `ablate` finds them alone
// (core/run/ablation.h), its gradients by head, and what both come to over documents. Kept sequence by sequence as it
// is finished. Definitions: core/corpus/CORPUS.md#heads-taken-away. Call on one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/corpus/corpus_run.h"
#include "core/corpus/plan.h"
#include "core/corpus/statistics.h"
#include "core/run/ablation.h"
#include "core/run/compute.h"
#include "core/run/run_memory.h"

namespace headroom {

struct PlanAblationRequest {
  AblationRequest ablation;  // of one sequence: its prompt is any; by its mode `mean` means are over the plan
  const CorpusPlan* plan = nullptr;
  bool gradient = false;        // importance by gradients, of all heads that are asked for
  std::int64_t top = 0;         // of them only the K that gradients find most important are taken away; 0: all, and
                                // with `gradient` none
  std::int64_t cumulative = 0;  // and the K most important ones one after another
  std::uint64_t bootstrap_seed = 0;
  std::int64_t batch_tokens = 0;  // of sequences that run together in passes without changes; 0: as of a corpus

  [[nodiscard]] bool needs_gradients() const { return gradient || top > 0; }
};

// Values by sequence; statistics of each column.
struct SequenceColumns {
  std::vector<double> values;  // [sequences, columns]
  std::vector<StatisticValues> statistics;
};

struct PlanAblationOutcome {
  bool nothing_to_do = false;               // the target was there, of the same settings
  std::vector<std::int64_t> layers, heads;  // axes
  std::vector<HeadRef> singles;             // taken away one by one, ascending
  std::vector<HeadSet> sets;
  std::vector<HeadRef> removed;     // one after another: `cumulative`
  SequenceColumns loss;             // [sequences, 1] of the model itself
  SequenceColumns change;           // of singles, then of sets: nats
  SequenceColumns change_together;  // of the first 1, 2 … of `removed`
  SequenceColumns sink;             // sink_score, [layers, heads, 2]
  SequenceColumns gradient;         // g, [layers, heads]; NaN: not asked for; none without gradients
  SequenceColumns importance;       // abs(g)
  SequenceColumns first_order;      // −g
  std::int64_t sequences = 0, documents = 0, resumed = 0, non_finite = 0;
  AttentionChoice attention;
  std::vector<std::string> notes;
  std::vector<std::string> violations;  // of the self-check
  double seconds = 0.0;
  std::string settings;  // what the numbers follow from, as JSON
};

// InvalidArgument as of ablate(), where the target exists with other settings (unless forced), a run with others was
// begun, or more heads are asked for than there are; Unsupported for gradients of models that have none here; Cancelled
// by `stop`, with what is finished kept beside the target.
[[nodiscard]] Result<PlanAblationOutcome> ablate_plan(ComputeBackend& backend, const PlanAblationRequest& request,
                                                      const CorpusProgress& progress,
                                                      const kernels::StopRequested& stop);

// Of one sequence, and of what goes through the model together or with all its weights in memory.
[[nodiscard]] RunMemory estimate_plan_ablation_memory(const PlanAblationRequest& request, std::int64_t threads);

}  // namespace headroom
