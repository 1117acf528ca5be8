#include "app/cli/ablate_command.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "app/cli/ablate_plan_command.h"
#include "app/cli/peak_memory.h"
#include "app/cli/plan_input.h"
#include "app/cli/progress.h"
#include "app/cli/run_request.h"
#include "app/process/report_error.h"
#include "app/process/signals.h"
#include "core/base/format.h"
#include "core/base/process_memory.h"
#include "core/run/ablation.h"
#include "core/run/ablation_file.h"
#include "core/run/ablation_summary.h"
#include "core/run/analysis_memory.h"

namespace headroom {
namespace {

constexpr std::size_t kShownResults = 10;
constexpr double kSmallChange = 0.01;  // nats

// What is named with an L is heads of layers, else indices for every layer.
bool names_heads(const std::string& heads) { return heads.find('L') != std::string::npos; }

std::string interval(const Bootstrapped& number, const char* digits) {
  const std::string pattern = std::string(digits) + " [" + digits + ", " + digits + "]";
  return format(pattern.c_str(), number.value, number.low, number.high);
}

std::string sink_text(const SinkImportance& sinks) {
  if (sinks.heads < 3 || !std::isfinite(sinks.correlation.value)) return "";
  std::string text = format(
      "\nSinks: %zu of %zu heads give key 0 more than %g of their attention. Over these heads, on this text, with 95 %% "
      "intervals of a bootstrap over heads:\n",
      sinks.sinks, sinks.heads, sinks.threshold);
  text += "  rank correlation of loss change and sink mass     " + interval(sinks.correlation, "%.3f") + "\n";
  text += "  the same at equal layer                           " + interval(sinks.at_equal_layer, "%.3f") + "\n";
  text += "  of the size of the loss change and sink mass      " + interval(sinks.of_magnitude, "%.3f") + "\n";
  if (sinks.sinks > 0 && sinks.sinks < sinks.heads) {
    text += format("  median loss change                                sinks %.5f, others %.5f nats\n",
                   sinks.sink_median, sinks.other_median);
    text += "  difference of medians, sinks − others             " + interval(sinks.difference, "%.5f") + " nats\n";
    text += format("  median size of the loss change                    sinks %.5f, others %.5f nats\n",
                   sinks.sink_magnitude_median, sinks.other_magnitude_median);
  }
  return text;
}

// "L18.H8   +0.0247 ± 0.0121 nats   key 0 gets 0.93".
std::string head_line(const AblationOutcome& outcome, const TokenSpread& spread, std::size_t index) {
  const AblatedSet& result = outcome.results[index];
  std::string text = format("  %-9s %+.6f", set_name(result.heads).c_str(), result.delta_loss);
  if (spread.blocks > 0) text += format(" ± %.6f", spread.half_width * spread.standard_error[index]);
  text += " nats";
  if (index < outcome.singles) text += format("   key 0 gets %.3f", sink_mass(outcome.summary, result.heads.front()));
  return text + (spread.differs(outcome, index) ? "\n" : spread.blocks > 0 ? "   0 is not excluded\n" : "\n");
}

// What the intervals are of, how many changes they tell from none, and what they could not have seen.
std::string spread_text(const AblationOutcome& outcome, const TokenSpread& spread) {
  const std::size_t tokens = outcome.token_loss.size();
  if (spread.blocks == 0) return format("no intervals: %zu predictions are too few\n", tokens);
  std::size_t differ = 0;
  for (std::size_t i = 0; i < outcome.results.size(); ++i) differ += spread.differs(outcome, i) ? 1 : 0;
  return format(
      "± is half of a 95 %% interval by the means of %zu blocks of about %zu tokens, corrected for %zu changes. It leaves out "
      "0 for %zu of them; a change of %.5f nats would be seen in 80 of 100 cases (at the median standard error)\n",
      spread.blocks, tokens / spread.blocks, spread.tested, differ, spread.detectable);
}

std::string ablation_text(const AblationRequest& request, const AblationOutcome& outcome, const RunNotes& notes) {
  const std::string output = escape_for_terminal(request.run.output.string());
  std::string text =
      escape_for_terminal(request.run.model->checkpoint->name()) +
      format(": next-token loss %.6f nats over %zu predictions, as it is\n", outcome.loss, outcome.token_loss.size());
  text += format("%zu of %zu runs, %s (%s: %s); %s on %s, backend %s, %s, peak memory %.2f GB\n", outcome.done,
                 outcome.results.size(), request.mode.name.c_str(), request.mode.change.c_str(),
                 mode_sentence(request.mode, "the text").c_str(), dtype_name(request.run.dtype),
                 request.run.device.c_str(), outcome.attention.backend.c_str(), duration_text(outcome.seconds).c_str(),
                 static_cast<double>(peak_rss_bytes()) / 1e9);
  if (!notes.tokenizer.empty()) text += escape_for_terminal(notes.tokenizer) + "\n";
  for (const std::string& note : outcome.notes) text += escape_for_terminal(note) + "\n";
  const TokenSpread spread = token_spread(outcome);
  const std::vector<std::size_t> order = by_importance(outcome);
  const std::size_t shown = std::min(kShownResults, order.size());
  if (shown > 0) text += "\nThe loss rises most without\n";
  for (std::size_t i = 0; i < shown; ++i) text += head_line(outcome, spread, order[i]);
  if (order.size() > shown) text += "and least, or falls, without\n";
  for (std::size_t i = std::max(shown, order.size() - shown); i < order.size(); ++i)
    text += head_line(outcome, spread, order[order.size() - 1 - (i - std::max(shown, order.size() - shown))]);
  const auto small = std::ranges::count_if(
      order, [&](std::size_t i) { return std::abs(outcome.results[i].delta_loss) < kSmallChange; });
  if (small > 0)
    text +=
        format("%lld of %zu changes are smaller than %g nats; one text does not say how other texts would move them\n",
               static_cast<long long>(small), order.size(), kSmallChange);
  if (outcome.results.size() > outcome.singles) text += "\nSets\n";
  for (std::size_t i = outcome.singles; i < outcome.results.size(); ++i)
    if (outcome.results[i].done()) text += head_line(outcome, spread, i);
  text += spread_text(outcome, spread);
  text += sink_text(sink_importance(outcome));
  return text + format("\nChanges of single heads do not add up. Wrote %s.\n", output.c_str());
}

nlohmann::json interval_json(const Bootstrapped& number) {
  return {{"value", number.value}, {"low", number.low}, {"high", number.high}};
}

nlohmann::json ablation_json(const AblationRequest& request, const AblationOutcome& outcome) {
  const TokenSpread spread = token_spread(outcome);
  nlohmann::json results = nlohmann::json::array();
  for (std::size_t i = 0; i < outcome.results.size(); ++i) {
    const AblatedSet& result = outcome.results[i];
    if (!result.done()) continue;
    nlohmann::json names = nlohmann::json::array();
    for (const HeadRef& head : result.heads) names.push_back(head_text(head));
    results.push_back({{"heads", names},
                       {"delta_loss", result.delta_loss},
                       {"standard_error", spread.standard_error[i]},
                       {"half_width", spread.half_width * spread.standard_error[i]},
                       {"differs", spread.differs(outcome, i)}});
  }
  const SinkImportance sinks = sink_importance(outcome);
  return {{"path", request.run.output.string()},
          {"mode", request.mode.name},
          {"change", request.mode.change},
          {"next_token_loss", outcome.loss},
          {"predictions", outcome.token_loss.size()},
          {"asked", outcome.results.size()},
          {"done", outcome.done},
          {"complete", outcome.done == outcome.results.size()},
          {"results", results},
          {"blocks", spread.blocks},
          {"tested", spread.tested},
          {"half_width_in_standard_errors", spread.half_width},
          {"detectable", spread.detectable},
          {"sinks",
           {{"heads", sinks.heads},
            {"sinks", sinks.sinks},
            {"threshold", sinks.threshold},
            {"rank_correlation", interval_json(sinks.correlation)},
            {"rank_correlation_at_equal_layer", interval_json(sinks.at_equal_layer)},
            {"rank_correlation_of_magnitude", interval_json(sinks.of_magnitude)},
            {"sink_median", sinks.sink_median},
            {"other_median", sinks.other_median},
            {"difference_of_medians", interval_json(sinks.difference)},
            {"sink_magnitude_median", sinks.sink_magnitude_median},
            {"other_magnitude_median", sinks.other_magnitude_median}}},
          {"notes", outcome.notes},
          {"self_check", {{"violations", outcome.violations}}},
          {"backend", outcome.attention.backend},
          {"device", request.run.device},
          {"dtype", dtype_name(request.run.dtype)},
          {"seconds", outcome.seconds},
          {"peak_rss_bytes", peak_rss_bytes()}};
}

// What one text has no say in.
Result<void> check_of_text(const AblateArguments& arguments) {
  const auto of_plans = [](const char* option, const std::string& given) {
    return Error(ErrorCode::InvalidArgument, "this is said of the sequences of a plan, not of one text")
        .at_tensor(option)
        .wanted("--plan or --data beside it", given);
  };
  if (arguments.mode == "gradient") return of_plans("--mode", "gradient");
  if (arguments.top > 0) return of_plans("--top", "a text");
  if (arguments.cumulative > 0) return of_plans("--cumulative", "a text");
  if (arguments.corpus.batch_tokens > 0) return of_plans("--batch-tokens", "a text");
  if (arguments.corpus.bootstrap_seed > 0) return of_plans("--bootstrap-seed", "a text");
  return {};
}

}  // namespace

std::string mode_sentence(const AblationMode& mode, const std::string& over) {
  if (mode.name == "zero") return "the head's output is 0";
  if (mode.name == "mean") return "the head's output is its mean over " + over;
  if (mode.name == "second-map") return "the head has no second map";
  return "keys are hidden from the head";
}

Result<AblationRequest> prepare_ablation(const AblateArguments& arguments, const OpenedModel& model,
                                         ComputeBackend& backend, RunNotes& notes) {
  AblationRequest request;
  HEADROOM_TRY(request.mode, parse_ablation_mode(arguments.mode));
  AnalyzeArguments run = arguments.run;
  if (names_heads(run.heads)) {
    HEADROOM_TRY(request.heads, parse_heads(run.heads, ',', "--heads"));
    run.heads.clear();
  }
  for (const std::string& text : arguments.sets) {
    HEADROOM_TRY(HeadSet set, parse_heads(text, '+', "--set"));
    std::ranges::sort(set);
    if (const auto twice = std::ranges::adjacent_find(set); twice != set.end())
      return Error(ErrorCode::InvalidArgument, "a head is named twice in a set")
          .at_tensor("--set")
          .wanted("each head once", head_text(*twice) + " in " + text);
    request.sets.push_back(std::move(set));
  }
  HEADROOM_TRY(request.run, prepare_run(run, model, backend, notes));
  return request;
}

int run_ablate(const AblateArguments& given) {
  AblateArguments arguments = given;
  const bool json = arguments.run.json;
  if (arguments.of_plan()) return run_ablate_plan(arguments);
  if (const auto checked = check_of_text(arguments); !checked) return report_error(checked.error(), json);
  if (const auto placed = place_arguments(arguments.run); !placed) return report_error(placed.error(), json);
  auto model = open_model(arguments.run.path, arguments.run.options);
  if (!model) return report_error(model.error(), json);
  use_threads(arguments.corpus);
  auto backend = load_compute();
  if (!backend) return report_error(backend.error(), json);
  RunNotes notes;
  auto request = prepare_ablation(arguments, *model, **backend, notes);
  if (!request) return report_error(request.error(), json);

  const BackendInfo info = (*backend)->info();
  AnalysisBudget budget = make_analysis_budget(request->run, info.threads, arguments.run.memory_gb, free_memory());
  budget.memory = estimate_ablation_memory(*request, info.threads);
  if (!budget.fits()) return report_error(over_budget(request->run, info.threads, budget), json);
  request->memory_bytes = static_cast<double>(budget.allowed_bytes);
  if (isatty(STDERR_FILENO) == 1) std::fprintf(stderr, "%s\n", estimate_text(budget).c_str());

  ProgressLine progress;
  const auto show = [&](double fraction, const std::string& what) { progress.show(fraction, what); };
  std::unique_ptr<RunFileWriter> file;
  auto outcome = [&]() -> Result<AblationOutcome> {
    const GracefulStop graceful;
    HEADROOM_TRY(file, create_ablation_file(*request));
    return ablate(**backend, *request, {}, show, [] { return signal_received(); });
  }();
  progress.clear();
  if (!outcome) {
    const int code = report_error(outcome.error(), json);
    return outcome.error().code == ErrorCode::Cancelled ? signal_exit_code() : code;
  }
  // What a stopped sweep has done is kept.
  const auto written = write_ablation(*file, *request, *outcome, info, arguments.by_token, {});
  if (!written) return report_error(written.error(), json);
  if (json)
    std::printf(
        "%s\n",
        ablation_json(*request, *outcome).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  else
    std::fputs(ablation_text(*request, *outcome, notes).c_str(), stdout);
  warn_of_violations(outcome->violations);
  if (!outcome->cancelled) return outcome->violations.empty() ? 0 : kInternalBug;
  std::fprintf(stderr, "headroom: stopped; the %zu of %zu results that were done are kept\n", outcome->done,
               outcome->results.size());
  return signal_exit_code();
}

}  // namespace headroom
