#include "app/cli/needle_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "app/cli/command_words.h"
#include "app/cli/option_checks.h"
#include "app/cli/peak_memory.h"
#include "app/cli/plan_input.h"
#include "app/cli/progress.h"
#include "app/cli/run_request.h"
#include "app/process/exit_codes.h"
#include "app/process/report_error.h"
#include "app/process/signals.h"
#include "core/base/format.h"
#include "core/base/process_memory.h"
#include "core/corpus/needle_prompts.h"
#include "core/corpus/needle_run.h"
#include "core/io/target_check.h"
#include "core/model/head_address.h"
#include "core/run/analysis_memory.h"
#include "core/text/needle_words.h"
#include "core/text/prompt_ids.h"

namespace headroom {
namespace {

constexpr std::size_t kShownNeedleHeads = 10;

Result<NeedleOptions> needle_options(const NeedleArguments& arguments) {
  NeedleOptions options;
  HEADROOM_TRY(options.documents, document_options(arguments.corpus));
  options.lengths = arguments.lengths;
  options.depths = arguments.depths;
  std::ranges::sort(options.lengths);
  std::ranges::sort(options.depths);
  options.needles = arguments.needles;
  options.samples = arguments.samples;
  options.seed = arguments.seed;
  options.bos = bos_mode_named(arguments.corpus.bos);
  const auto twice = [](const auto& values, const char* option) -> Result<void> {
    const auto found = std::ranges::adjacent_find(values);
    if (found == values.end()) return {};
    Error error(ErrorCode::InvalidArgument, "a value of the list is there twice");
    return error.at_tensor(option).wanted("different numbers", format("%g twice", static_cast<double>(*found)));
  };
  HEADROOM_TRY_VOID(twice(options.lengths, "--lengths"));
  HEADROOM_TRY_VOID(twice(options.depths, "--depths"));
  return options;
}

std::vector<std::filesystem::path> needle_inputs(const NeedleArguments& arguments, const OpenedModel& model) {
  std::vector<std::filesystem::path> inputs = input_paths(arguments.corpus.run, *model.checkpoint);
  inputs.insert(inputs.end(), arguments.corpus.data.begin(), arguments.corpus.data.end());
  return inputs;
}

// The target is looked at before documents are read.
Result<NeedleHaystack> make_haystack(const NeedleArguments& arguments, const OpenedModel& model,
                                     ProgressLine& progress) {
  HEADROOM_TRY(const NeedleOptions options, needle_options(arguments));
  HEADROOM_TRY([[maybe_unused]] const std::filesystem::path target,
               check_target(arguments.corpus.run.output, arguments.corpus.run.force, needle_inputs(arguments, model)));
  const auto show = [&](std::int64_t documents) {
    if (documents % 64 == 0) progress.show(0.0, format("%lld documents", static_cast<long long>(documents)));
  };
  return NeedleHaystack::create(arguments.corpus.data, options, plan_model(model), show,
                                [] { return signal_received(); });
}

struct PreparedNeedles {
  NeedleRequest request;
  RunNotes notes;
};

Result<PreparedNeedles> prepare_needles(const NeedleArguments& arguments, const OpenedModel& model,
                                        const NeedleHaystack& haystack, ComputeBackend& backend) {
  PreparedNeedles prepared;
  NeedleRequest& request = prepared.request;
  AnalyzeArguments run = arguments.corpus.run;
  run.prompt = {};
  // The longest: what memory is for.
  run.prompt.ids = ids_text(haystack.prompt(haystack.options().lengths.size() - 1, 0, 0).ids);
  HEADROOM_TRY(request.run, prepare_run(run, model, backend, prepared.notes));
  request.run.inputs = needle_inputs(arguments, model);
  for (const CorpusFile& file : haystack.files()) request.run.inputs.push_back(file.path);
  request.haystack = &haystack;
  request.bootstrap_seed = arguments.corpus.bootstrap_seed;
  request.batch_tokens = arguments.corpus.batch_tokens;
  request.by_sample = arguments.by_sample;
  request.with_ids = !arguments.corpus.no_ids;
  HEADROOM_TRY(const MemoryItem values, needle_memory(request));
  const std::int64_t threads = backend.info().threads;
  AnalysisBudget budget = make_analysis_budget(request.run, threads, run.memory_gb, free_memory());
  budget.memory.items.push_back(values);
  budget.memory.working_bytes += values.bytes;
  std::ranges::stable_sort(budget.memory.items, std::ranges::greater(), &MemoryItem::bytes);
  if (!budget.fits())
    return over_budget(request.run, threads, budget).advise("fewer --samples and a smaller --batch-tokens take less");
  if (isatty(STDERR_FILENO) == 1) std::fprintf(stderr, "%s\n", estimate_text(budget).c_str());
  return prepared;
}

// "0.875 ± 0.041": a half width of the 95 % interval, where there is one.
std::string with_half_width(const StatisticValues& values, const char* digits) {
  std::string text = format(digits, of(values, Statistic::Mean));
  const double half = 0.5 * (of(values, Statistic::CiHigh) - of(values, Statistic::CiLow));
  return half == half ? text + " ± " + format(digits, half) : text;
}

std::string needle_text(const NeedleRequest& request, const RunNotes& notes, const NeedleOutcome& outcome) {
  const NeedleHaystack& haystack = *request.haystack;
  const NeedleOptions& options = haystack.options();
  const std::string output = escape_for_terminal(request.run.output.string());
  std::string text = escape_for_terminal(request.run.model->checkpoint->name()) +
                     format(": %lld needles in %lld tokens of %lld documents, %lld samples of each of %lld cells\n",
                            static_cast<long long>(options.needles), static_cast<long long>(haystack.tokens()),
                            static_cast<long long>(haystack.documents()), static_cast<long long>(options.samples),
                            static_cast<long long>(outcome.all));
  text += format("%lld of %lld cells; %s on %s, backend %s, %s, peak memory %.2f GB\n",
                 static_cast<long long>(outcome.done), static_cast<long long>(outcome.all),
                 dtype_name(request.run.dtype), request.run.device.c_str(), outcome.attention.backend.c_str(),
                 duration_text(outcome.seconds).c_str(), static_cast<double>(peak_rss_bytes()) / 1e9);
  if (!notes.device.empty()) text += "device " + escape_for_terminal(notes.device) + "\n";
  for (const std::string& note : outcome.notes) text += escape_for_terminal(note) + "\n";
  text += "\nlength  depth  recalled           answer, share of attention  (net map, mean over heads)\n";
  for (const NeedleCell& cell : outcome.cells)
    text += format("%6lld  %4g %%  %-17s  %s\n", static_cast<long long>(cell.length), cell.depth,
                   with_half_width(cell.recalled, "%.3f").c_str(), with_half_width(cell.share[1], "%.4f").c_str());
  text += "± is half of a 95 % interval by t over samples\n";
  text += format("\n%lld of %lld heads have a retrieval score of %g or more over all cells. The largest:\n",
                 static_cast<long long>(outcome.above_threshold), static_cast<long long>(outcome.measured_heads),
                 kRetrievalThreshold);
  // A second map that copies is subtracted: the score of the net map says nothing of it.
  const bool pairs = std::ranges::any_of(
      outcome.heads, [](const NeedleHead& head) { return std::isfinite(of(head.of_map[1], Statistic::Mean)); });
  for (std::size_t i = 0; i < std::min(kShownNeedleHeads, outcome.heads.size()); ++i) {
    const NeedleHead& head = outcome.heads[i];
    text += format("  %-8s %s", head_text({head.layer, head.head}).c_str(),
                   with_half_width(head.retrieval, "%.3f").c_str());
    if (pairs)
      text += format("    first map %s, second %s", with_half_width(head.of_map[0], "%.3f").c_str(),
                     with_half_width(head.of_map[1], "%.3f").c_str());
    text += "\n";
  }
  return text + format("Wrote %s.\n", output.c_str());
}

nlohmann::json needle_json(const NeedleRequest& request, const RunNotes& notes, const NeedleOutcome& outcome) {
  const NeedleHaystack& haystack = *request.haystack;
  nlohmann::json cells = nlohmann::json::array(), heads = nlohmann::json::array();
  for (const NeedleCell& cell : outcome.cells) {
    nlohmann::json share = nlohmann::json::object();
    for (std::size_t span = 0; span < kNeedleSpans; ++span)
      share[needle_span_names()[span]] = statistics_json(cell.share[span]);
    cells.push_back({{"length", cell.length},
                     {"depth", cell.depth},
                     {"recalled", statistics_json(cell.recalled)},
                     {"answer_loss", statistics_json(cell.answer_loss)},
                     {"share_over_heads", std::move(share)}});
  }
  for (std::size_t i = 0; i < std::min(kShownNeedleHeads, outcome.heads.size()); ++i)
    heads.push_back({{"head", head_text({outcome.heads[i].layer, outcome.heads[i].head})},
                     {"retrieval_score", statistics_json(outcome.heads[i].retrieval)},
                     {"retrieval_score_of_map",
                      {{"first", statistics_json(outcome.heads[i].of_map[0])},
                       {"second", statistics_json(outcome.heads[i].of_map[1])}}}});
  return {{"path", request.run.output.string()},
          {"needles", haystack.options().needles},
          {"samples", haystack.options().samples},
          {"document_tokens", haystack.tokens()},
          {"cells", std::move(cells)},
          {"asked", outcome.all},
          {"done", outcome.done},
          {"complete", outcome.done == outcome.all},
          {"recalled", statistics_json(outcome.recalled)},
          {"heads", std::move(heads)},
          {"measured_heads", outcome.measured_heads},
          {"threshold", kRetrievalThreshold},
          {"above_threshold", outcome.above_threshold},
          {"non_finite", outcome.non_finite},
          {"self_check", {{"violations", outcome.violations}}},
          {"notes", outcome.notes},
          {"backend", outcome.attention.backend},
          {"device", request.run.device},
          {"device_note", notes.device},
          {"dtype", dtype_name(request.run.dtype)},
          {"seconds", outcome.seconds},
          {"size_bytes", outcome.size_bytes},
          {"peak_rss_bytes", peak_rss_bytes()}};
}

int failed(const Error& error, bool json) {
  const int code = report_error(error, json);
  return error.code == ErrorCode::Cancelled ? signal_exit_code() : code;
}

}  // namespace

CLI::App& add_needle(CLI::App& app, NeedleArguments& arguments) {
  CLI::App& command =
      *app.add_subcommand("needle", "whether a model finds a number in a long text, and which heads do");
  CorpusArguments& corpus = arguments.corpus;
  command.add_option("path", corpus.run.path, "checkpoint; may name a place inside: model/::L3.H5")
      ->type_name(kPathValue)
      ->required();
  command.add_option("-o,--output", corpus.run.output, "file to write (HDF5)")->type_name(kFileValue)->required();
  add_document_options(command, corpus).front()->required();
  constexpr std::int64_t kMostTokens = std::int64_t{1} << 24;
  command.add_option("--lengths", arguments.lengths, "tokens of the prompts, e.g. 1024,4096; the answer is among them")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{1}, kMostTokens))
      ->required();
  command
      .add_option("--depths", arguments.depths,
                  "where in the haystack the answer's needle stands, in per cent (default: 0,25,50,75,100)")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 100.0));
  command.add_option("--needles", arguments.needles, "sentences with a number, one of them asked for (default: 6)")
      ->check(CLI::Range(std::int64_t{1}, static_cast<std::int64_t>(kNeedleCities.size())));
  command.add_option("--samples", arguments.samples, "prompts for each length and depth (default: 50)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000}));
  command.add_option("--seed", arguments.seed, "of cities, numbers, places and stretches of the documents")
      ->check(not_a_whole_number);
  command.add_option("--bos", corpus.bos, "whether a BOS stands before each prompt; auto: as the tokenizer does")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  command.add_flag("--by-sample", arguments.by_sample, "the values of every sample too (group /samples)");
  command.add_flag("--no-ids", corpus.no_ids, "leave the token ids of the prompts out of the file");
  add_batch_options(command, corpus);
  command.add_flag("--force", corpus.run.force, "replace an existing file");
  return command;
}

int run_needle(const NeedleArguments& given) {
  NeedleArguments arguments = given;
  AnalyzeArguments& run = arguments.corpus.run;
  const bool json = run.json;
  if (const auto placed = place_arguments(run); !placed) return report_error(placed.error(), json);
  auto model = open_model(run.path, run.options);
  if (!model) return report_error(model.error(), json);
  ProgressLine progress;
  const GracefulStop graceful;
  const auto haystack = make_haystack(arguments, *model, progress);
  progress.clear();
  if (!haystack) return failed(haystack.error(), json);
  print_notes(haystack->warnings());
  use_threads(arguments.corpus);
  auto backend = load_compute();
  if (!backend) return report_error(backend.error(), json);
  const auto prepared = prepare_needles(arguments, *model, *haystack, **backend);
  if (!prepared) return report_error(prepared.error(), json);

  const auto show = [&](double fraction, std::int64_t done, std::int64_t all) {
    progress.show(fraction, format("%lld of %lld prompts", static_cast<long long>(done), static_cast<long long>(all)));
  };
  const auto outcome = run_needles(**backend, prepared->request, show, [] { return signal_received(); });
  progress.clear();
  if (!outcome) return failed(outcome.error(), json);
  if (json)
    print_json(needle_json(prepared->request, prepared->notes, *outcome));
  else
    std::fputs(needle_text(prepared->request, prepared->notes, *outcome).c_str(), stdout);
  warn_of_violations(outcome->violations);
  if (outcome->cancelled) {
    std::fprintf(stderr, "headroom: stopped; the %lld of %lld cells that were done are kept\n",
                 static_cast<long long>(outcome->done), static_cast<long long>(outcome->all));
    return signal_exit_code();
  }
  if (!outcome->violations.empty()) return kInternalBug;
  if (outcome->non_finite == 0) return 0;
  std::fprintf(stderr, "warning: %lld prompts are not finite from some layer on\n",
               static_cast<long long>(outcome->non_finite));
  return kPartialResult;
}

}  // namespace headroom
