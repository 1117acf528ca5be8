#include "app/cli/corpus_command.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "app/cli/peak_memory.h"
#include "app/cli/plan_input.h"
#include "app/cli/progress.h"
#include "app/cli/run_request.h"
#include "app/process/exit_codes.h"
#include "app/process/process_settings.h"
#include "app/process/report_error.h"
#include "app/process/signals.h"
#include "app/process/version.h"
#include "core/base/format.h"
#include "core/base/number_text.h"
#include "core/base/parse_number.h"
#include "core/base/process_memory.h"
#include "core/corpus/corpus_budget.h"
#include "core/corpus/corpus_run.h"
#include "core/corpus/merge.h"
#include "core/corpus/plan_file.h"
#include "core/io/target_check.h"
#include "core/run/analysis_memory.h"
#include "core/text/prompt_ids.h"

namespace headroom {
namespace {

struct ShardChoice {
  std::int64_t index = 0, count = 1;
};
Result<ShardChoice> shard_choice(const std::string& text) {
  if (text.empty()) return ShardChoice();
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto index = parse_index(std::string_view(text).substr(0, slash));
  const auto count = slash < text.size() ? parse_index(std::string_view(text).substr(slash + 1)) : std::nullopt;
  if (index && count && *count > 0 && *index < *count && *count <= 1'000'000) return ShardChoice{*index, *count};
  Error error(ErrorCode::InvalidArgument, "a shard is one of several");
  return error.at_tensor("--shard").wanted("I/N with I from 0 to N − 1, e.g. 3/8", text);
}

std::string corpus_text(const CorpusRequest& request, const RunNotes& notes, const CorpusOutcome& outcome) {
  const std::string output = escape_for_terminal(request.run.output.string());
  if (outcome.nothing_to_do) return output + " holds this corpus already: nothing to do\n";
  std::string text = plan_text(*request.plan);
  if (outcome.resumed > 0)
    text += format("%lld sequences had been run before\n", static_cast<long long>(outcome.resumed));
  text += format("%lld sequences of %lld documents; %s on %s, backend %s, %s, peak memory %.2f GB\n",
                 static_cast<long long>(outcome.sequences), static_cast<long long>(outcome.summary.documents),
                 dtype_name(request.run.dtype), request.run.device.c_str(), outcome.attention.backend.c_str(),
                 duration_text(outcome.seconds).c_str(), static_cast<double>(peak_rss_bytes()) / 1e9);
  if (!notes.device.empty()) text += "device " + escape_for_terminal(notes.device) + "\n";
  for (const std::string& note : outcome.notes) text += escape_for_terminal(note) + "\n";
  if (of(outcome.summary.next_token_loss, Statistic::Count) > 0.0)
    text += "next-token loss   " + interval_text(outcome.summary.next_token_loss) + " nats\n";
  for (std::size_t e = 0; e < request.epsilons.size(); ++e)
    text += format("sinks above %-5g ", request.epsilons[e]) + interval_text(outcome.summary.sink_rate[3 * e]) +
            " of the heads (first map)\n";
  text += outcome.summary.documents < 2 ? "one document: no interval\n"
                                        : "± is a standard error with documents as clusters\n";
  return text + format("Wrote %s.\n", output.c_str());
}

nlohmann::json corpus_json(const CorpusRequest& request, const RunNotes& notes, std::int64_t threads,
                           const CorpusOutcome& outcome) {
  nlohmann::json result = {{"path", request.run.output.string()},
                           {"nothing_to_do", outcome.nothing_to_do},
                           {"plan", plan_json(*request.plan)},
                           {"sequences", outcome.sequences},
                           {"self_check", {{"violations", outcome.violations}}}};
  if (outcome.nothing_to_do) return result;
  result["documents"] = outcome.summary.documents;
  result["resumed"] = outcome.resumed;
  result["non_finite"] = outcome.non_finite;
  result["next_token_loss"] = statistics_json(outcome.summary.next_token_loss);
  result["epsilon"] = request.epsilons;
  nlohmann::json rates = nlohmann::json::array();
  for (std::size_t e = 0; e < request.epsilons.size(); ++e)
    rates.push_back({{"first", statistics_json(outcome.summary.sink_rate[3 * e])},
                     {"second", statistics_json(outcome.summary.sink_rate[3 * e + 1])},
                     {"net", statistics_json(outcome.summary.sink_rate[3 * e + 2])}});
  result["sink_rate"] = std::move(rates);
  result["notes"] = outcome.notes;
  result["backend"] = outcome.attention.backend;
  result["device"] = request.run.device;
  result["device_note"] = notes.device;
  result["dtype"] = dtype_name(request.run.dtype);
  result["threads"] = threads;
  result["seconds"] = outcome.seconds;
  result["size_bytes"] = outcome.size_bytes;
  result["peak_rss_bytes"] = peak_rss_bytes();
  return result;
}

Result<void> write_planned(const CorpusArguments& arguments, const OpenedModel& model, const CorpusPlan& plan,
                           const std::filesystem::path& path) {
  PlanFileOptions options;
  options.force = arguments.run.force;
  options.inputs = plan_inputs(arguments, model, plan);
  options.command_line = arguments.run.command_line;
  options.program = std::string("headroom ") + kVersion;
  options.git_commit = kGitCommit;
  options.model_id = model.checkpoint->name();
  return write_plan_file(plan, path, options);
}

int write_plan_only(const CorpusArguments& arguments, const OpenedModel& model, const CorpusPlan& plan) {
  if (const auto written = write_planned(arguments, model, plan, arguments.run.output); !written)
    return report_error(written.error(), arguments.run.json);
  if (arguments.run.json) {
    nlohmann::json result = plan_json(plan);
    result["path"] = arguments.run.output.string();
    print_json(result);
  } else {
    std::fputs((plan_text(plan) + "ids_sha256 " + plan.ids_sha256 + "\nplan_sha256 " + plan.plan_sha256 + "\nWrote " +
                escape_for_terminal(arguments.run.output.string()) + ".\n")
                   .c_str(),
               stdout);
  }
  return 0;
}

void warn_of_non_finite(std::int64_t sequences) {
  std::fprintf(stderr, "warning: %lld sequences are not finite from some layer on (sequences/non_finite_layer)\n",
               static_cast<long long>(sequences));
}

// Writes the scripts of a plan, which is kept beside them where no file holds it.
int run_by_slurm(const CorpusArguments& arguments, const OpenedModel& model, const CorpusPlan& plan) {
  const AnalyzeArguments& run = arguments.run;
  SlurmRequest request;
  request.model = run.path;
  request.plan = arguments.plan;
  request.merged = run.output;
  request.sequences = std::ssize(plan.sequences);
  request.force = run.force, request.json = run.json;
  if (request.plan.empty()) {
    const auto folder = make_slurm_folder(arguments.slurm);
    if (!folder) return report_error(folder.error(), run.json);
    request.plan = *folder / "plan.h5";
    const auto before = read_plan_file(request.plan);
    if (!before || before->plan_sha256 != plan.plan_sha256)
      if (const auto written = write_planned(arguments, model, plan, request.plan); !written)
        return report_error(written.error(), run.json);
  }
  return run_slurm(arguments.slurm, request);
}

}  // namespace

void use_threads(const CorpusArguments& arguments) {
  if (arguments.threads == 0) return;
  if (const AllowedThreads taken = take_threads(arguments.threads); !taken.limit.empty())
    print_notes(
        {format("warning: %lld threads were asked for, %lld are allowed (%s)",
                static_cast<long long>(arguments.threads), static_cast<long long>(taken.count), taken.limit.c_str())});
}

Result<PreparedCorpus> prepare_corpus(const CorpusArguments& arguments, const OpenedModel& model,
                                      const CorpusPlan& plan, ComputeBackend& backend, std::int64_t runs) {
  PreparedCorpus prepared;
  CorpusRequest& request = prepared.request;
  AnalyzeArguments run = arguments.run;
  run.prompt = {};
  run.prompt.ids = ids_text(plan.sequences.front().ids);
  HEADROOM_TRY(request.run, prepare_run(run, model, backend, prepared.notes));
  request.run.inputs = plan_inputs(arguments, model, plan);
  request.plan = &plan;
  request.keep = arguments.keep;
  request.epsilons = arguments.epsilons;
  request.bootstrap_seed = arguments.bootstrap_seed;
  request.with_ids = !arguments.no_ids;
  request.curves = arguments.curves;
  request.batch_tokens = arguments.batch_tokens;
  HEADROOM_TRY(const ShardChoice shard, shard_choice(arguments.shard));
  request.shard_index = shard.index, request.shard_count = shard.count;
  HEADROOM_TRY(const CorpusSize size, corpus_size(request));
  const double kept_bytes = size.kept_bytes * static_cast<double>(runs);
  if (isatty(STDERR_FILENO) == 1) std::fprintf(stderr, "keeps %s of the sequences\n", size_text(kept_bytes).c_str());
  HEADROOM_TRY_VOID(check_kept_bytes(arguments.keep, kept_bytes));
  const std::int64_t threads = backend.info().threads;
  const AnalysisBudget budget = make_corpus_budget(request, size, threads, run.memory_gb, free_memory());
  // What a job may take is the cluster's to say.
  if (arguments.slurm.folder.empty() && !budget.fits())
    return over_budget(request.run, threads, budget).advise("a smaller --batch-tokens takes less");
  if (isatty(STDERR_FILENO) == 1) std::fprintf(stderr, "%s\n", estimate_text(budget).c_str());
  return prepared;
}

int run_corpus_command(const CorpusArguments& given) {
  CorpusArguments arguments = given;
  const bool json = arguments.run.json;
  const bool by_slurm = !arguments.slurm.folder.empty();
  if (arguments.run.output.empty() && !by_slurm)
    return report_error(Error(ErrorCode::InvalidArgument, "--output is required: the file to write"), json);
  if (const auto placed = place_arguments(arguments.run); !placed) return report_error(placed.error(), json);
  const auto shard = shard_choice(arguments.shard);
  if (!shard) return report_error(shard.error(), json);
  auto model = open_model(arguments.run.path, arguments.run.options);
  if (!model) return report_error(model.error(), json);
  if (!by_slurm)
    if (const auto checked = check_plan_output(arguments, *model, !arguments.plan_only || arguments.run.force);
        !checked)
      return report_error(checked.error(), json);
  ProgressLine progress;
  const GracefulStop graceful;
  auto plan = make_plan(arguments, *model, progress);
  progress.clear();
  if (!plan) {
    const int code = report_error(plan.error(), json);
    return plan.error().code == ErrorCode::Cancelled ? signal_exit_code() : code;
  }
  print_notes(plan->warnings);
  if (arguments.plan_only) return write_plan_only(arguments, *model, *plan);

  if (!by_slurm) use_threads(arguments);
  auto backend = load_compute();
  if (!backend) return report_error(backend.error(), json);
  const auto prepared = prepare_corpus(arguments, *model, *plan, **backend);
  if (!prepared) return report_error(prepared.error(), json);
  const CorpusRequest& request = prepared->request;
  if (by_slurm) {
    arguments.run.path = given.run.path;
    return run_by_slurm(arguments, *model, *plan);
  }

  const auto show = [&](double fraction, std::int64_t done, std::int64_t all) {
    progress.show(fraction,
                  format("%lld of %lld sequences", static_cast<long long>(done), static_cast<long long>(all)));
  };
  auto outcome = run_corpus(**backend, request, show, [] { return signal_received(); });
  progress.clear();
  if (!outcome) {
    const int code = report_error(outcome.error(), json);
    return outcome.error().code == ErrorCode::Cancelled ? signal_exit_code() : code;
  }
  if (json)
    print_json(corpus_json(request, prepared->notes, (*backend)->info().threads, *outcome));
  else
    std::fputs(corpus_text(request, prepared->notes, *outcome).c_str(), stdout);
  warn_of_violations(outcome->violations);
  if (!outcome->violations.empty()) return kInternalBug;
  if (outcome->non_finite == 0) return 0;
  warn_of_non_finite(outcome->non_finite);
  return kPartialResult;
}

int run_merge(const MergeArguments& arguments) {
  MergeRequest request;
  request.parts = arguments.parts;
  request.output = arguments.output;
  request.force = arguments.force;
  request.partial = arguments.partial;
  request.command_line = arguments.command_line;
  const GracefulStop graceful;
  auto outcome = merge_corpus(request, [] { return signal_received(); });
  if (!outcome) {
    const int code = report_error(outcome.error(), arguments.json);
    return outcome.error().code == ErrorCode::Cancelled ? signal_exit_code() : code;
  }
  print_notes(outcome->notes);
  if (arguments.json)
    print_json({{"path", request.output.string()},
                {"parts", outcome->parts},
                {"sequences", outcome->sequences},
                {"missing", outcome->missing},
                {"non_finite", outcome->non_finite},
                {"self_check", {{"violations", outcome->violations}}},
                {"notes", outcome->notes},
                {"size_bytes", outcome->size_bytes}});
  else
    std::printf("%lld sequences of %lld parts. Wrote %s.\n", static_cast<long long>(outcome->sequences),
                static_cast<long long>(outcome->parts), escape_for_terminal(request.output.string()).c_str());
  if (outcome->non_finite > 0) warn_of_non_finite(outcome->non_finite);
  if (!outcome->missing.empty())
    std::fprintf(stderr, "warning: the sequences %s are missing\n", outcome->missing.c_str());
  if (!outcome->advice.empty()) std::fprintf(stderr, "hint: %s\n", outcome->advice.c_str());
  warn_of_violations(outcome->violations);
  if (!outcome->violations.empty()) return kInternalBug;
  return outcome->non_finite > 0 || !outcome->missing.empty() ? kPartialResult : 0;
}

}  // namespace headroom
