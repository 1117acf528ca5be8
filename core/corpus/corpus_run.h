// A corpus run: every sequence of a plan, or of a shard of it, run as `analyze` runs it alone, kept as it is finished,
// and at last written as one file. Call on one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/corpus/corpus_file.h"
#include "core/corpus/corpus_growth.h"
#include "core/corpus/plan.h"
#include "core/corpus/statistics.h"
#include "core/run/analysis.h"
#include "core/run/compute.h"

namespace headroom {

struct CorpusRequest {
  AnalysisRequest
      run;  // of one sequence: model, what-ifs, layers, heads, dtype, device, output, force; its prompt is any
  const CorpusPlan* plan = nullptr;
  std::int64_t shard_index = 0, shard_count = 1;
  std::string keep = "all";
  std::vector<double> epsilons = {0.2, 0.3, 0.4};
  std::uint64_t bootstrap_seed = 0;
  bool with_ids = true;
  bool curves = false;
  std::int64_t batch_tokens = 0;  // of sequences that run together; 0: 4096 on the processor, 65536 on a GPU
  bool go_on = false;             // with force: a run of these settings that was begun goes on all the same
};

struct CorpusOutcome {
  bool nothing_to_do = false;  // the target was there, of the same settings
  std::int64_t sequences = 0, resumed = 0, non_finite = 0;
  AttentionChoice attention;
  std::vector<std::string> violations;  // of the self-check, also of what was run before; a few sentences a shard
  std::vector<std::string> notes;
  double seconds = 0.0;
  std::size_t size_bytes = 0;
  CorpusSummary summary;
};

// Called in between with the share that is done, and the sequences that are.
using CorpusProgress = std::function<void(double fraction, std::int64_t done, std::int64_t all)>;

// InvalidArgument where the target exists with other settings (unless forced) or a run with others was begun;
// Unsupported for models that read two sequences and for captures; Cancelled by `stop`, with what is finished kept
// beside the target.
// `watch`: who looks on, as core/corpus/corpus_growth.h has it.
[[nodiscard]] Result<CorpusOutcome> run_corpus(ComputeBackend& backend, const CorpusRequest& request,
                                               const CorpusProgress& progress, const kernels::StopRequested& stop,
                                               const CorpusWatch& watch = {});

struct CorpusSize {
  double kept_bytes = 0.0;     // of all sequences in the file, before compression
  double working_bytes = 0.0;  // in memory, beside a run of one sequence: the batch, counts of rows, what is written
};
[[nodiscard]] Result<CorpusSize> corpus_size(const CorpusRequest& request);
// Sequences that run together; `batch_tokens` as in a request.
[[nodiscard]] std::size_t sequences_together(std::int64_t batch_tokens, const std::string& device, std::int64_t length);
// What a block holds of one position while sequences pass it together, in numbers.
[[nodiscard]] std::int64_t numbers_of_position(const ModelSpec& model);
// What a run measures and keeps.
[[nodiscard]] Result<CorpusLayout> corpus_layout(const CorpusRequest& request);

}  // namespace headroom
