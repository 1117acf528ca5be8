#include "app/cli/ablate_plan_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/peak_memory.h"
#include "app/cli/plan_input.h"
#include "app/cli/progress.h"
#include "app/process/exit_codes.h"
#include "app/process/report_error.h"
#include "app/process/signals.h"
#include "core/base/format.h"
#include "core/base/number_text.h"
#include "core/base/process_memory.h"
#include "core/corpus/plan_ablation.h"
#include "core/run/analysis_memory.h"
#include "core/run/loss_table.h"
#include "core/text/prompt_ids.h"

namespace headroom {
namespace {

constexpr std::size_t kListedHeads = 10;

// What is said of one text alone.
Result<void> check_of_plan(const AblateArguments& arguments) {
  const PromptArguments& prompt = arguments.run.prompt;
  const std::pair<const char*, bool> of_texts[] = {{"--text", prompt.text.has_value()},
                                                   {"--text-file", prompt.text_file.has_value()},
                                                   {"--ids", prompt.ids.has_value()},
                                                   {"--ids-file", prompt.ids_file.has_value()},
                                                   {"--sequence", prompt.sequence.has_value()},
                                                   {"--target-text", prompt.target_text.has_value()},
                                                   {"--target-ids", prompt.target_ids.has_value()},
                                                   {"--max-tokens", prompt.max_tokens > 0},
                                                   {"--by-token", arguments.by_token}};
  for (const auto& [option, given] : of_texts)
    if (given)
      return Error(ErrorCode::InvalidArgument, "this is said of one text, not of the sequences of a plan")
          .at_tensor(option)
          .wanted("--plan or --data without it", option);
  return {};
}

Result<PlanAblationRequest> prepare_plan(const AblateArguments& arguments, const OpenedModel& model,
                                         const CorpusPlan& plan, ComputeBackend& backend, RunNotes& notes) {
  if (model.spec.capture || model.spec.encoder)
    return Error(ErrorCode::Unsupported, "a plan is run through models that read one sequence")
        .wanted("a decoder", model.spec.capture ? "a capture" : model.spec.model_type);
  PlanAblationRequest request;
  AblateArguments one = arguments;
  one.run.prompt = {};
  one.run.prompt.ids = ids_text(plan.sequences.front().ids);
  request.gradient = arguments.mode == "gradient";
  if (request.gradient) one.mode = "zero";
  HEADROOM_TRY(request.ablation, prepare_ablation(one, model, backend, notes));
  request.ablation.run.inputs = plan_inputs(arguments.corpus, model, plan);
  request.plan = &plan;
  request.top = arguments.top, request.cumulative = arguments.cumulative;
  request.bootstrap_seed = arguments.corpus.bootstrap_seed;
  request.batch_tokens = arguments.corpus.batch_tokens;
  const std::int64_t threads = backend.info().threads;
  AnalysisBudget budget = make_analysis_budget(request.ablation.run, threads, arguments.run.memory_gb, free_memory());
  budget.memory = estimate_plan_ablation_memory(request, threads);
  if (!budget.fits())
    return over_budget(request.ablation.run, threads, budget).advise("a smaller --batch-tokens takes less");
  request.ablation.memory_bytes = static_cast<double>(budget.allowed_bytes);
  if (isatty(STDERR_FILENO) == 1) std::fprintf(stderr, "%s\n", estimate_text(budget).c_str());
  return request;
}

// Changes of heads, of sets and one after another, with intervals that hold for all of them together.
class PlanChanges {
 public:
  explicit PlanChanges(const PlanAblationOutcome& outcome) {
    table_.of_file = true;
    table_.blocks = static_cast<std::size_t>(outcome.documents);
    for (std::size_t i = 0; i < outcome.singles.size(); ++i)
      add(head_text(outcome.singles[i]), outcome.change.statistics[i]);
    for (std::size_t i = 0; i < outcome.sets.size(); ++i)
      add(set_name(outcome.sets[i]), outcome.change.statistics[outcome.singles.size() + i]);
    for (std::size_t k = 0; k < outcome.removed.size(); ++k)
      add("+" + head_text(outcome.removed[k]), outcome.change_together.statistics[k]);
  }

  [[nodiscard]] const LossTable& table() const { return table_; }
  [[nodiscard]] std::string line(std::size_t i) const {
    std::string text = format("  %-9s %+.6f", names_[i].c_str(), table_.delta[i]);
    const double half = table_.interval(i);
    if (std::isfinite(half)) text += format(" ± %.6f", half);
    return text + (table_.differs(i) || !std::isfinite(half) ? " nats\n" : " nats   0 is not excluded\n");
  }
  [[nodiscard]] nlohmann::json json(std::size_t i) const {
    const double half = table_.interval(i);
    return {{"delta_loss", statistics_json(values_[i])},
            {"half_width", std::isfinite(half) ? nlohmann::json(half) : nlohmann::json()},
            {"differs", table_.differs(i)}};
  }

 private:
  void add(std::string name, const StatisticValues& values) {
    names_.push_back(std::move(name));
    values_.push_back(values);
    table_.delta.push_back(of(values, Statistic::Mean));
    table_.error.push_back(of(values, Statistic::StandardError));
  }

  LossTable table_;
  std::vector<std::string> names_;
  std::vector<StatisticValues> values_;
};

std::string spread_sentence(const PlanAblationOutcome& outcome, const LossTable& table) {
  if (table.delta.empty()) return "";
  if (outcome.documents < 2) return "one document: no intervals\n";
  return format(
      "± is half of a 95 %% interval over %lld documents, corrected for %zu changes. It leaves out 0 for %zu of them; a "
      "change of %.5f nats would be seen in 80 of 100 cases (at the median standard error)\n",
      static_cast<long long>(outcome.documents), table.tested(), table.count_differing(), table.detectable());
}

// The most important heads, by gradients.
std::string gradient_text(const PlanAblationOutcome& outcome) {
  const std::vector<StatisticValues>& all = outcome.importance.statistics;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (std::isfinite(of(all[i], Statistic::Mean))) order.push_back(i);
  if (order.empty()) return "";
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return of(all[i], Statistic::Mean); });
  const std::size_t shown = std::min(kListedHeads, order.size());
  std::string text =
      format("\nImportance by gradients, ± a standard error, and the change to first order: %zu of %zu\n", shown,
             order.size());
  for (std::size_t i = 0; i < shown; ++i) {
    text += format("  %-9s %.6f", head_text(head_at(outcome.layers, outcome.heads, order[i])).c_str(),
                   of(all[order[i]], Statistic::Mean));
    if (const double error = of(all[order[i]], Statistic::StandardError); std::isfinite(error))
      text += format(" ± %.6f", error);
    text += format("   %+.6f nats\n", of(outcome.first_order.statistics[order[i]], Statistic::Mean));
  }
  return text;
}

std::string change_lists(const PlanAblationOutcome& outcome, const PlanChanges& changes) {
  const std::size_t singles = outcome.singles.size(), sets = outcome.sets.size();
  const std::vector<double>& delta = changes.table().delta;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < singles; ++i)
    if (std::isfinite(delta[i])) order.push_back(i);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return delta[i]; });
  const std::size_t shown = std::min(kListedHeads, order.size()), below = std::min(kListedHeads, order.size() - shown);
  std::string text;
  if (shown > 0) text += "\nThe loss rises most without\n";
  for (std::size_t i = 0; i < shown; ++i) text += changes.line(order[i]);
  if (below > 0) text += "and least, or falls, without\n";
  for (std::size_t i = 0; i < below; ++i) text += changes.line(order[order.size() - 1 - i]);
  if (sets > 0) text += "\nSets\n";
  for (std::size_t i = singles; i < singles + sets; ++i) text += changes.line(i);
  if (!outcome.removed.empty()) text += "\nOne after another\n";
  for (std::size_t k = 0; k < outcome.removed.size(); ++k) text += changes.line(singles + sets + k);
  return text;
}

std::string plan_ablation_text(const PlanAblationRequest& request, const PlanAblationOutcome& outcome,
                               const RunNotes& notes) {
  const AnalysisRequest& run = request.ablation.run;
  const AblationMode& mode = request.ablation.mode;
  const std::string output = escape_for_terminal(run.output.string());
  if (outcome.nothing_to_do) return output + " holds these changes already: nothing to do\n";
  const PlanChanges changes(outcome);
  std::string text = plan_text(*request.plan) + escape_for_terminal(run.model->checkpoint->name()) +
                     ": next-token loss " + interval_text(outcome.loss.statistics.front()) + " nats, as it is\n";
  if (outcome.resumed > 0)
    text += format("%lld sequences had been run before\n", static_cast<long long>(outcome.resumed));
  if (request.gradient) text += changes.table().delta.empty() ? "gradients" : "gradients; then ";
  if (!changes.table().delta.empty())
    text += format("%s (%s: %s)", mode.name.c_str(), mode.change.c_str(), mode_sentence(mode, "all sequences").c_str());
  text += format("; %s on %s, backend %s, %s, peak memory %.2f GB\n", dtype_name(run.dtype), run.device.c_str(),
                 outcome.attention.backend.c_str(), duration_text(outcome.seconds).c_str(),
                 static_cast<double>(peak_rss_bytes()) / 1e9);
  if (!notes.device.empty()) text += "device " + escape_for_terminal(notes.device) + "\n";
  for (const std::string& note : outcome.notes) text += escape_for_terminal(note) + "\n";
  text += gradient_text(outcome) + change_lists(outcome, changes) + spread_sentence(outcome, changes.table());
  return text + "\nChanges of single heads do not add up. Wrote " + output + ".\n";
}

nlohmann::json names_json(std::span<const HeadRef> heads) {
  nlohmann::json list = nlohmann::json::array();
  for (const HeadRef& head : heads) list.push_back(head_text(head));
  return list;
}

nlohmann::json gradients_json(const PlanAblationOutcome& outcome) {
  nlohmann::json list = nlohmann::json::array();
  for (std::size_t i = 0; i < outcome.importance.statistics.size(); ++i)
    if (of(outcome.importance.statistics[i], Statistic::Count) > 0.0)
      list.push_back({{"head", head_text(head_at(outcome.layers, outcome.heads, i))},
                      {"importance", statistics_json(outcome.importance.statistics[i])},
                      {"first_order", statistics_json(outcome.first_order.statistics[i])}});
  return list;
}

nlohmann::json plan_ablation_json(const PlanAblationRequest& request, const RunNotes& notes, std::int64_t threads,
                                  const PlanAblationOutcome& outcome) {
  const AnalysisRequest& run = request.ablation.run;
  nlohmann::json result = {{"path", run.output.string()},
                           {"nothing_to_do", outcome.nothing_to_do},
                           {"plan", plan_json(*request.plan)},
                           {"sequences", outcome.sequences},
                           {"self_check", {{"violations", outcome.violations}}}};
  if (outcome.nothing_to_do) return result;
  const PlanChanges changes(outcome);
  const std::size_t singles = outcome.singles.size(), sets = outcome.sets.size();
  nlohmann::json results = nlohmann::json::array(), removed = nlohmann::json::array();
  for (std::size_t i = 0; i < singles + sets; ++i) {
    nlohmann::json one = changes.json(i);
    one["heads"] = names_json(i < singles ? std::span(&outcome.singles[i], 1) : outcome.sets[i - singles]);
    results.push_back(std::move(one));
  }
  for (std::size_t k = 0; k < outcome.removed.size(); ++k) {
    nlohmann::json one = changes.json(singles + sets + k);
    one["head"] = head_text(outcome.removed[k]);
    removed.push_back(std::move(one));
  }
  result["mode"] = request.gradient ? "gradient" : request.ablation.mode.name;
  result["change"] = request.ablation.mode.change;
  result["documents"] = outcome.documents;
  result["resumed"] = outcome.resumed;
  result["non_finite"] = outcome.non_finite;
  result["next_token_loss"] = statistics_json(outcome.loss.statistics.front());
  result["results"] = std::move(results);
  result["cumulative"] = std::move(removed);
  result["gradients"] = gradients_json(outcome);
  result["tested"] = changes.table().tested();
  result["half_width_in_standard_errors"] = changes.table().half_width();
  result["detectable"] = changes.table().detectable();
  result["notes"] = outcome.notes;
  result["backend"] = outcome.attention.backend;
  result["device"] = run.device;
  result["device_note"] = notes.device;
  result["dtype"] = dtype_name(run.dtype);
  result["threads"] = threads;
  result["seconds"] = outcome.seconds;
  result["peak_rss_bytes"] = peak_rss_bytes();
  return result;
}

}  // namespace

void add_ablate_plan_options(CLI::App& command, AblateArguments& arguments) {
  CLI::Option* plan = add_plan_options(command, arguments.corpus, false);
  command.get_option("--bos")->excludes(plan);
  CLI::Option* data = command.get_option("--data");
  for (const char* name : {"--split", "--field", "--ids-dtype", "--document-end", "--length", "--stride", "--pack",
                           "--separator", "--sequences", "--pieces", "--seed", "--order"})
    command.get_option(name)->needs(data);
  add_batch_options(command, arguments.corpus);
  command.add_option("--top", arguments.top, "of a plan: take away only the K most important heads by gradients")
      ->check(CLI::Range(1, 1000000));
  command
      .add_option("--cumulative", arguments.cumulative,
                  "of a plan: take the K most important heads away one after another, too (pruning curve)")
      ->check(CLI::Range(1, 1000000));
}

int run_ablate_plan(const AblateArguments& given) {
  AblateArguments arguments = given;
  const bool json = arguments.run.json;
  if (const auto checked = check_of_plan(arguments); !checked) return report_error(checked.error(), json);
  if (const auto placed = place_arguments(arguments.run); !placed) return report_error(placed.error(), json);
  arguments.corpus.run = arguments.run;
  arguments.corpus.bos = arguments.run.prompt.bos;
  auto model = open_model(arguments.run.path, arguments.run.options);
  if (!model) return report_error(model.error(), json);
  if (const auto checked = check_plan_output(arguments.corpus, *model, true); !checked)
    return report_error(checked.error(), json);
  ProgressLine progress;
  const GracefulStop graceful;
  const auto failed = [&](const Error& error) {
    progress.clear();
    const int code = report_error(error, json);
    return error.code == ErrorCode::Cancelled ? signal_exit_code() : code;
  };
  const auto plan = make_plan(arguments.corpus, *model, progress);
  if (!plan) return failed(plan.error());
  progress.clear();
  print_notes(plan->warnings);
  use_threads(arguments.corpus);
  auto backend = load_compute();
  if (!backend) return report_error(backend.error(), json);
  RunNotes notes;
  const auto request = prepare_plan(arguments, *model, *plan, **backend, notes);
  if (!request) return report_error(request.error(), json);
  const auto show = [&](double fraction, std::int64_t done, std::int64_t all) {
    progress.show(fraction,
                  format("%lld of %lld sequences", static_cast<long long>(done), static_cast<long long>(all)));
  };
  const auto outcome = ablate_plan(**backend, *request, show, [] { return signal_received(); });
  if (!outcome) return failed(outcome.error());
  progress.clear();
  if (json)
    print_json(plan_ablation_json(*request, notes, (*backend)->info().threads, *outcome));
  else
    std::fputs(plan_ablation_text(*request, *outcome, notes).c_str(), stdout);
  warn_of_violations(outcome->violations);
  if (!outcome->violations.empty()) return kInternalBug;
  if (outcome->non_finite == 0) return 0;
  std::fprintf(stderr, "warning: the loss of %lld sequences is not finite: no change of theirs counts\n",
               static_cast<long long>(outcome->non_finite));
  return kPartialResult;
}

}  // namespace headroom
