// Importance of heads: how much the next-token loss of one text changes when a head is taken away, for many heads, each
// run from the stream before its layer on (Michel et al. 2019, arXiv 1905.10650, §3; means in place of zeros as in Wang
// et al. 2022, arXiv 2211.00593, §2.1). Compute thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/numbers.h"
#include "core/base/result.h"
#include "core/model/head_address.h"
#include "core/run/analysis.h"
#include "core/run/run_memory.h"

namespace headroom {

// How a head is taken away.
struct AblationMode {
  std::string name;    // "zero", "mean", "second-map", "hide-key", "hide-key=0,1"
  std::string change;  // of the head, as a what-if: "head=off", "head=mean", "second-map=off", "hide-key=0"
};
[[nodiscard]] Result<AblationMode> parse_ablation_mode(const std::string& text);

// Heads that are taken away together; one of them alone where there is only one.
using HeadSet = std::vector<HeadRef>;
[[nodiscard]] std::string set_name(const HeadSet& heads);  // "L18.H7+L18.H8"

struct AblationOutcome;

struct AblationRequest {
  AnalysisRequest run;  // its what-ifs are there in every run; its layers and heads are the ones of the table
  AblationMode mode;
  std::vector<HeadRef> heads;  // named ones in place of all of run.layers × run.heads
  std::vector<HeadSet> sets;   // further ones
  double memory_bytes = 0.0;   // that all of it may take
  // A sweep of the same run by the same mode that was stopped: what it has done is taken over, not computed again.
  std::shared_ptr<const AblationOutcome> before{};
  // What heads put out by the mode `mean`; null: their mean over the text.
  std::shared_ptr<const HeadMeans> means{};
  bool not_finite_too = false;  // a loss of the model that is not finite gives changes that are NaN, and no error
};

struct AblatedSet {
  HeadSet heads;
  double delta_loss = kNaN;      // mean over tokens 1 … n − 1 of loss with this change − loss, nats
  std::vector<double> by_token;  // the terms of it, [n − 1]; empty until it is done
  [[nodiscard]] bool done() const { return !by_token.empty(); }
};

struct AblationOutcome {
  std::int64_t length = 0;
  SummaryTable summary;             // of the model itself: layers, heads and the root group of a run file
  double loss = 0.0;                // mean of token_loss
  std::vector<double> token_loss;   // of tokens 1 … n − 1, nats
  std::vector<AblatedSet> results;  // single heads, ascending, then the sets in their order
  std::size_t singles = 0, done = 0;
  bool cancelled = false;
  AttentionChoice attention;
  std::vector<std::string> notes;
  std::vector<std::string> violations;  // of the self-check
  double seconds = 0.0;

  // Of a single head; null where it was not asked for.
  [[nodiscard]] const AblatedSet* find(const HeadRef& head) const;
};

// One result more: outcome.results[index].
using AblatedReport = std::function<void(const AblationOutcome& outcome, std::size_t index)>;

// Results come layer by layer, the last one first. Heads that the change does not fit are left out where no head is
// named. InvalidArgument for a model or a prompt without a next token to predict, for heads that are not there and
// changes that do not fit, and where `before` is of another run. Stopped before the first result it is Cancelled, later
// an outcome with what is done.
[[nodiscard]] Result<AblationOutcome> ablate(ComputeBackend& backend, const AblationRequest& request,
                                             const AblatedReport& report, const ProgressReport& progress,
                                             const kernels::StopRequested& stop);

// What ablate() would begin with: its results without numbers, the layers and heads of its table. Errors as of
// ablate().
[[nodiscard]] Result<AblationOutcome> planned_ablation(const AblationRequest& request);

// Beside what the run of the model takes: variants that go through a block together, and the streams that are kept,
// which may be fewer (VariantSweep::keep_bytes).
[[nodiscard]] RunMemory estimate_ablation_memory(const AblationRequest& request, std::int64_t threads);

}  // namespace headroom
