#include "app/cli/blocks_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
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
#include "core/run/analysis_memory.h"
#include "core/sparse/block_run.h"
#include "core/text/prompt_ids.h"

namespace headroom {
namespace {

constexpr std::int64_t kMostKeys = std::int64_t{1} << 30, kMostChosen = 65536;

bool has_prompt(const PromptArguments& prompt) {
  return prompt.text || prompt.text_file || prompt.ids || prompt.ids_file;
}

Result<BlockRules> rules_of(const BlocksArguments& arguments) {
  BlockRules rules = arguments.rules;
  HEADROOM_TRY(rules.always, parse_always_chosen(arguments.always));
  std::ranges::sort(rules.tops);
  const auto [same, end] = std::ranges::unique(rules.tops);
  rules.tops.erase(same, end);
  return rules;
}

// A request whose model, plan and rules outlive it.
Result<BlockRequest> block_request_of(const BlocksArguments& arguments, const OpenedModel& model,
                                      const CorpusPlan& plan, const BlockRules& rules, ComputeBackend& backend,
                                      RunNotes& notes) {
  BlockRequest request;
  AnalyzeArguments run = arguments.corpus.run;
  run.prompt = {};
  run.prompt.ids = ids_text(plan.sequences.front().ids);
  HEADROOM_TRY(request.run, prepare_run(run, model, backend, notes));
  request.run.inputs = plan_inputs(arguments.corpus, model, plan);
  request.plan = &plan;
  request.rules = rules;
  request.bootstrap_seed = arguments.corpus.bootstrap_seed;
  request.with_ids = !arguments.corpus.no_ids;
  HEADROOM_TRY(const std::size_t bytes, block_bytes(request));
  const std::int64_t threads = backend.info().threads;
  AnalysisBudget budget = make_analysis_budget(request.run, threads, run.memory_gb, free_memory());
  budget.memory.items.push_back(
      {"choices of blocks", format("%zu bytes of a layer and of all sequences", bytes), bytes});
  budget.memory.working_bytes += bytes;
  std::ranges::stable_sort(budget.memory.items, std::ranges::greater(), &MemoryItem::bytes);
  if (!budget.fits()) return over_budget(request.run, threads, budget);
  if (isatty(STDERR_FILENO) == 1) std::fprintf(stderr, "%s\n", estimate_text(budget).c_str());
  return request;
}

Result<CorpusPlan> make_blocks_plan(const BlocksArguments& arguments, const OpenedModel& model, ComputeBackend& backend,
                                    ProgressLine& progress) {
  if (!has_prompt(arguments.corpus.run.prompt)) return make_plan(arguments.corpus, model, progress);
  AnalyzeArguments run = arguments.corpus.run;
  run.prompt.bos = arguments.corpus.bos;
  RunNotes notes;
  HEADROOM_TRY(const AnalysisRequest request, prepare_run(run, model, backend, notes));
  if (request.prompt.ids.empty())
    return Error(ErrorCode::InvalidArgument, "the prompt has no tokens").advise("give --text, --ids, --data or --plan");
  return plan_of_prompt(request.prompt);
}

struct BlocksSaid {
  const BlockRequest& request;
  const BlockOutcome& outcome;
  RunNotes notes;
};

std::string row_text(const BlocksSaid& said, std::string_view name, std::span<const StatisticValues> by_top,
                     const char* form) {
  std::string text = format("  %-16s", std::string(name).c_str());
  for (const StatisticValues& values : by_top) {
    const double mean = of(values, Statistic::Mean), error = of(values, Statistic::StandardError);
    std::string cell = mean == mean ? format(form, mean) : "none";
    if (error == error) cell += format(" ± %.4f", error);
    text += format("  %18s", cell.c_str()) + (error == error ? " " : "");  // ± is two bytes
  }
  return text + (said.outcome.recall.empty() ? "" : "\n");
}

std::string blocks_text(const BlocksSaid& said) {
  const BlockOutcome& outcome = said.outcome;
  const CorpusPlan& plan = *said.request.plan;
  const BlockRules& rules = said.request.rules;
  const std::size_t tops = rules.tops.size();
  std::string text =
      escape_for_terminal(said.request.run.model->checkpoint->name()) +
      format(": %zu layers × %lld heads in %lld groups; blocks of %lld keys, always chosen: %s\n",
             outcome.layers.size(), static_cast<long long>(outcome.heads), static_cast<long long>(outcome.groups),
             static_cast<long long>(rules.size), std::string(always_chosen_name(rules.always)).c_str());
  text += format("%lld sequences of %lld positions from %lld documents; %s on %s, %s, peak memory %.2f GB\n",
                 static_cast<long long>(outcome.sequences), static_cast<long long>(plan.options.length),
                 static_cast<long long>(outcome.documents), dtype_name(said.request.run.dtype),
                 said.request.run.device.c_str(), duration_text(outcome.seconds).c_str(),
                 static_cast<double>(peak_rss_bytes()) / 1e9);
  text += format("  %-16s", "k");
  for (const std::int64_t k : rules.tops) text += format("  %18lld", static_cast<long long>(k));
  text += format("\n  %-16s", "rows");
  for (const std::int64_t rows : outcome.rows) text += format("  %18lld", static_cast<long long>(rows));
  text += "\n";
  const std::vector<std::string> maps = labels_of_axis("map"), choices = labels_of_axis("choice"),
                                 relations = labels_of_axis("relation"), scopes = labels_of_axis("scope");
  const std::span<const StatisticValues> recall = outcome.recall, agreement = outcome.agreement,
                                         contrast = outcome.contrast, read = outcome.blocks_read;
  for (std::size_t m = 0; m < kBlockMaps; ++m) {
    const auto of_map = recall.subspan(m * kBlockChoices * tops, kBlockChoices * tops);
    if (std::ranges::all_of(of_map, [](const StatisticValues& v) { return of(v, Statistic::Count) == 0.0; })) continue;
    text += "Recall of the " + maps[m] + " map, mean over heads, blocks chosen by\n";
    for (std::size_t c = 0; c < kBlockChoices; ++c)
      text += row_text(said, choices[c], of_map.subspan(c * tops, tops), "%.4f");
  }
  text += "Jaccard index of what maps choose alone, mean over heads, with maps of\n";
  for (std::size_t r = 0; r < kBlockRelations; ++r)
    text += row_text(said, relations[r], agreement.subspan(r * tops, tops), "%.4f");
  for (std::size_t c = 0; c < block_contrasts().size(); ++c)
    text += row_text(said, block_contrasts()[c].name, contrast.subspan(c * tops, tops), "%+.4f");
  text += "Blocks that are read where each map chooses alone\n";
  for (std::size_t s = 0; s < kBlockScopes; ++s)
    text += row_text(said, scopes[s], read.subspan(s * tops, tops), "%.2f");
  text += outcome.documents < 2 ? "one document: no interval\n" : "± is a standard error with documents as clusters\n";
  return text + "Wrote " + escape_for_terminal(said.request.run.output.string()) + ".\n";
}

nlohmann::json number_json(double value) { return value == value ? nlohmann::json(value) : nlohmann::json(); }

nlohmann::json said_json(std::span<const StatisticValues> by_top) {
  nlohmann::json list = nlohmann::json::array();
  for (const StatisticValues& values : by_top)
    list.push_back({{"mean", number_json(of(values, Statistic::Mean))},
                    {"standard_error", number_json(of(values, Statistic::StandardError))},
                    {"ci_low", number_json(of(values, Statistic::CiLow))},
                    {"ci_high", number_json(of(values, Statistic::CiHigh))},
                    {"count", number_json(of(values, Statistic::Count))}});
  return list;
}

// An object of rows, by the labels of an axis.
nlohmann::json rows_json(const std::vector<std::string>& labels, std::span<const StatisticValues> values,
                         std::size_t tops) {
  nlohmann::json object = nlohmann::json::object();
  for (std::size_t i = 0; i < labels.size(); ++i) object[labels[i]] = said_json(values.subspan(i * tops, tops));
  return object;
}

nlohmann::json blocks_json(const BlocksSaid& said) {
  const BlockOutcome& outcome = said.outcome;
  const BlockRules& rules = said.request.rules;
  const std::size_t tops = rules.tops.size(), of_map = kBlockChoices * tops;
  nlohmann::json recall = nlohmann::json::object(), change = nlohmann::json::object();
  const std::vector<std::string> maps = labels_of_axis("map"), choices = labels_of_axis("choice");
  for (std::size_t m = 0; m < kBlockMaps; ++m) {
    recall[maps[m]] = rows_json(choices, std::span(outcome.recall).subspan(m * of_map, of_map), tops);
    change[maps[m]] = rows_json(choices, std::span(outcome.recall_change).subspan(m * of_map, of_map), tops);
  }
  std::vector<std::string> contrasts;
  for (const BlockContrast& contrast : block_contrasts()) contrasts.emplace_back(contrast.name);
  return {{"path", said.request.run.output.string()},
          {"block", rules.size},
          {"always", always_chosen_name(rules.always)},
          {"top", rules.tops},
          {"rows", outcome.rows},
          {"layers", outcome.layers},
          {"heads", outcome.heads},
          {"groups", outcome.groups},
          {"length", said.request.plan->options.length},
          {"sequences", outcome.sequences},
          {"documents", outcome.documents},
          {"non_finite", outcome.non_finite},
          {"self_check", {{"violations", outcome.violations}}},
          {"recall", std::move(recall)},
          {"recall_change", std::move(change)},
          {"agreement", rows_json(labels_of_axis("relation"), outcome.agreement, tops)},
          {"agreement_change", rows_json(contrasts, outcome.contrast, tops)},
          {"blocks_read", rows_json(labels_of_axis("scope"), outcome.blocks_read, tops)},
          {"notes", outcome.notes},
          {"backend", outcome.attention.backend},
          {"device", said.request.run.device},
          {"device_note", said.notes.device},
          {"dtype", dtype_name(said.request.run.dtype)},
          {"seconds", outcome.seconds},
          {"size_bytes", outcome.size_bytes},
          {"peak_rss_bytes", peak_rss_bytes()}};
}

struct BlocksOfModel {
  std::optional<OpenedModel> model;
  CorpusPlan plan;
  BlockRules rules;
  BlockRequest request;
  BlockOutcome outcome;
  RunNotes notes;
};

Result<void> make_blocks(const BlocksArguments& arguments, BlocksOfModel& made) {
  AnalyzeArguments run = arguments.corpus.run;
  HEADROOM_TRY(made.rules, rules_of(arguments));
  HEADROOM_TRY(made.model, open_model(run.path, run.options));
  const OpenedModel& model = *made.model;
  HEADROOM_TRY_VOID(check_plan_output(arguments.corpus, model, run.force));
  use_threads(arguments.corpus);
  HEADROOM_TRY(ComputeBackend* const backend, load_compute());
  ProgressLine progress;
  HEADROOM_TRY(made.plan, make_blocks_plan(arguments, model, *backend, progress));
  progress.clear();
  print_notes(made.plan.warnings);
  HEADROOM_TRY(made.request, block_request_of(arguments, model, made.plan, made.rules, *backend, made.notes));
  const auto show = [&](double fraction, std::int64_t done, std::int64_t all) {
    progress.show(fraction,
                  format("%lld of %lld sequences", static_cast<long long>(done), static_cast<long long>(all)));
  };
  HEADROOM_TRY(made.outcome, run_blocks(*backend, made.request, show, [] { return signal_received(); }));
  return {};
}

}  // namespace

CLI::App& add_blocks(CLI::App& app, BlocksArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "blocks", "which blocks of keys block-sparse attention would choose, and what they hold of the attention");
  AnalyzeArguments& run = arguments.corpus.run;
  command->add_option("path", run.path, "checkpoint; may name a place inside: model/::L3")
      ->type_name(kPathValue)
      ->required();
  command->add_option("-o,--output", run.output, "file to write (HDF5)")->type_name(kFileValue)->required();
  command->add_option("--block", arguments.rules.size, "keys of a block")
      ->check(CLI::Range(std::int64_t{1}, kMostKeys));
  command->add_option("--top", arguments.rules.tops, "how many blocks a row chooses, e.g. 1,2,4,8")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{1}, kMostChosen));
  command
      ->add_option("--always", arguments.always,
                   "blocks that are always chosen, and count: the row's own, also the first and the one before, none")
      ->check(CLI::IsMember({"own", "local", "none"}));
  CLI::Option* plan = add_plan_options(*command, arguments.corpus);
  CLI::Option* data = command->get_option("--data");
  PromptArguments& prompt = run.prompt;
  CLI::Option* prompts[] = {
      command->add_option("--text", prompt.text, "one prompt in place of documents"),
      command->add_option("--text-file", prompt.text_file, "file with the prompt; - is standard input")
          ->type_name(kFileValue),
      command->add_option("--ids", prompt.ids, "token ids, separated by commas or blanks"),
      command->add_option("--ids-file", prompt.ids_file, "file with token ids; - is standard input")
          ->type_name(kFileValue)};
  for (CLI::Option* option : prompts) {
    option->excludes(plan)->excludes(data);
    for (CLI::Option* other : prompts)
      if (other != option) option->excludes(other);
  }
  command->add_option("--bootstrap-seed", arguments.corpus.bootstrap_seed, "seed of the resamples")
      ->check(not_a_whole_number);
  command
      ->add_option("--threads", arguments.corpus.threads,
                   "threads that compute (default: as many as processors, control groups and Slurm allow)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{4096}));
  command->add_flag("--no-ids", arguments.corpus.no_ids, "leave the token ids of the sequences out of the file");
  command->add_flag("--force", run.force, "replace an existing file");
  return *command;
}

int run_blocks_command(const BlocksArguments& given) {
  BlocksArguments arguments = given;
  const bool json = arguments.corpus.run.json;
  if (const auto placed = place_arguments(arguments.corpus.run); !placed) return report_error(placed.error(), json);
  const GracefulStop graceful;
  BlocksOfModel made;
  if (const auto done = make_blocks(arguments, made); !done) {
    const int code = report_error(done.error(), json);
    return done.error().code == ErrorCode::Cancelled ? signal_exit_code() : code;
  }
  const BlocksSaid said{made.request, made.outcome, made.notes};
  print_notes(made.outcome.notes);
  if (json)
    print_json(blocks_json(said));
  else
    std::fputs(blocks_text(said).c_str(), stdout);
  warn_of_violations(made.outcome.violations);
  if (!made.outcome.violations.empty()) return kInternalBug;
  if (made.outcome.non_finite == 0) return 0;
  std::fprintf(stderr, "warning: %lld sequences are not finite from some layer on (sequences/non_finite_layer)\n",
               static_cast<long long>(made.outcome.non_finite));
  return kPartialResult;
}

}  // namespace headroom
