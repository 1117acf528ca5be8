#include "app/cli/analyze_command.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <utility>

#include "app/cli/peak_memory.h"
#include "app/cli/plan_input.h"
#include "app/cli/progress.h"
#include "app/cli/run_request.h"
#include "app/cli/summary_text.h"
#include "app/process/report_error.h"
#include "app/process/signals.h"
#include "core/base/format.h"
#include "core/base/process_memory.h"
#include "core/run/analysis.h"
#include "core/run/stages.h"

namespace headroom {
namespace {

// The exit code of a run that says which numbers were not finite.
int report_non_finite(const ForwardSummary& forward) {
  constexpr std::size_t kShown = 5;
  const std::size_t tensors = forward.non_finite_weights.size();
  if (tensors == 0 && forward.non_finite_layer < 0) return 0;
  std::string text;
  for (const NonFiniteWeight& weight : std::span(forward.non_finite_weights).first(std::min(tensors, kShown)))
    text += (text.empty() ? "" : "; ") + describe(weight);
  if (tensors > kShown) text += format("; %zu more tensors", tensors - kShown);
  if (forward.non_finite_layer >= 0)
    text += (text.empty() ? "" : "; ") + format("from layer %lld on the residual stream holds NaN or infinity",
                                                static_cast<long long>(forward.non_finite_layer));
  std::fprintf(stderr, "headroom: %s\nhint: what is made of these numbers is NaN in the file, the rest is right\n",
               escape_for_terminal(text).c_str());
  return kPartialResult;
}

int finish(const AnalyzeArguments& arguments, const AnalysisRequest& request, const AnalysisOutcome& outcome,
           RunFacts facts) {
  facts.model = request.model;
  facts.request = &request;
  facts.outcome = &outcome;
  facts.peak_rss_bytes = peak_rss_bytes();
  std::fputs(arguments.json ? summary_json(facts).c_str() : summary_text(facts).c_str(), stdout);
  warn_of_violations(outcome.self_check.violations);
  if (!outcome.self_check.violations.empty()) return kInternalBug;
  return report_non_finite(outcome.forward);
}

}  // namespace

int run_analyze(const AnalyzeArguments& given) {
  AnalyzeArguments arguments = given;
  if (const auto placed = place_arguments(arguments); !placed) return report_error(placed.error(), arguments.json);
  RunFacts facts;
  StageTimer opening(&facts.open_seconds);
  auto model = open_model(arguments.path, arguments.options);
  opening.stop();
  if (!model) return report_error(model.error(), arguments.json);
  StageTimer loading(&facts.library_seconds);
  auto backend = load_compute();
  loading.stop();
  if (!backend) return report_error(backend.error(), arguments.json);
  RunNotes notes;
  StageTimer preparing(&facts.prompt_seconds);
  auto request = prepare_run(arguments, *model, **backend, notes);
  preparing.stop();
  if (!request) return report_error(request.error(), arguments.json);
  facts.tokenizer = notes.tokenizer;
  facts.device_note = notes.device;

  const std::int64_t threads = (*backend)->info().threads;
  facts.budget = make_analysis_budget(*request, threads, arguments.memory_gb, free_memory());
  if (!facts.budget.fits()) return report_error(over_budget(*request, threads, facts.budget), arguments.json);
  if (isatty(STDERR_FILENO) == 1) std::fprintf(stderr, "%s\n", estimate_text(facts.budget).c_str());

  ProgressLine progress;
  const auto show = [&](double fraction, const std::string& what) { progress.show(fraction, what); };
  auto outcome = [&] {
    const GracefulStop stop;
    return analyze(**backend, *request, show, [] { return signal_received(); });
  }();
  progress.clear();
  if (!outcome) {
    const int code = report_error(outcome.error(), arguments.json);
    return outcome.error().code == ErrorCode::Cancelled ? signal_exit_code() : code;
  }
  return finish(arguments, *request, *outcome, std::move(facts));
}

}  // namespace headroom
