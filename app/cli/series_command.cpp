#include "app/cli/series_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/cli/command_words.h"
#include "app/cli/plan_input.h"
#include "app/cli/progress.h"
#include "app/process/exit_codes.h"
#include "app/process/report_error.h"
#include "app/process/signals.h"
#include "core/base/format.h"
#include "core/base/number_text.h"
#include "core/base/parse_number.h"
#include "core/corpus/corpus_run.h"
#include "core/corpus/plan_file.h"
#include "core/corpus/series.h"
#include "core/io/corpus_schema.h"
#include "core/io/run_file.h"
#include "core/io/target_check.h"
#include "core/run/compute.h"
#include "core/run/provenance.h"

namespace headroom {
namespace {

// What all checkpoints of a series have in common, and how it is called.
struct CommonFact {
  const char* what;
  std::string value;
};

struct StepOf {
  std::int64_t step = 0;
  std::filesystem::path path;
};

std::string name_of(const std::filesystem::path& path) {
  const std::filesystem::path normal = std::filesystem::absolute(path).lexically_normal();
  return normal.has_filename() ? normal.filename().string() : normal.parent_path().filename().string();
}

std::filesystem::path parent_of(const std::filesystem::path& path) {
  const std::filesystem::path normal = std::filesystem::absolute(path).lexically_normal();
  return normal.has_filename() ? normal.parent_path() : normal.parent_path().parent_path();
}

// A folder alone stands for what is called step_* in it.
std::vector<std::filesystem::path> expand(const std::vector<std::string>& given) {
  std::vector<std::filesystem::path> paths(given.begin(), given.end());
  std::error_code failed;
  if (paths.size() != 1 || !std::filesystem::is_directory(paths.front(), failed)) return paths;
  std::vector<std::filesystem::path> steps;
  for (const auto& entry : std::filesystem::directory_iterator(paths.front(), failed))
    if (entry.path().filename().string().starts_with("step_")) steps.push_back(entry.path());
  return steps.empty() ? paths : steps;
}

Result<std::vector<StepOf>> steps_of(const SeriesArguments& arguments) {
  std::vector<StepOf> steps;
  for (const std::filesystem::path& path : expand(arguments.checkpoints)) {
    std::int64_t step = step_of_name(name_of(path));
    if (std::error_code failed; step < 0 && !std::filesystem::is_directory(path, failed))
      step = step_of_name(name_of(parent_of(path)));
    steps.push_back({step, path});
  }
  if (!arguments.steps.empty()) {
    std::vector<std::int64_t> given;
    for (std::string_view rest = arguments.steps;;) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const auto step = parse_index(rest.substr(0, comma));
      if (!step)
        return Error(ErrorCode::InvalidArgument, "a training step is a number from 0")
            .at_tensor("--steps")
            .wanted("a list such as 0,100,300", arguments.steps);
      given.push_back(*step);
      if (comma == rest.size()) break;
      rest.remove_prefix(comma + 1);
    }
    if (given.size() != steps.size() || arguments.checkpoints.size() != steps.size())
      return Error(ErrorCode::InvalidArgument, "there is not one training step for each checkpoint")
          .at_tensor("--steps")
          .wanted(format("%zu of %zu checkpoints that are named one by one", steps.size(), steps.size()),
                  format("%zu", given.size()));
    for (std::size_t i = 0; i < steps.size(); ++i) steps[i].step = given[i];
  }
  for (const StepOf& step : steps)
    if (step.step < 0)
      return Error(ErrorCode::InvalidArgument, "the name of the checkpoint has no training step in it")
          .in_file(step.path.string())
          .wanted("digits, as in step_000100", name_of(step.path))
          .advise("--steps 0,100,… says the steps in the order of the checkpoints");
  std::ranges::stable_sort(steps, {}, &StepOf::step);
  for (std::size_t i = 1; i < steps.size(); ++i)
    if (steps[i].step == steps[i - 1].step)
      return Error(ErrorCode::Corrupt, "two checkpoints are of one training step")
          .in_file(steps[i].path.string())
          .wanted("each step once",
                  format("step %lld of ", static_cast<long long>(steps[i].step)) + steps[i - 1].path.string() + " too");
  return steps;
}

std::vector<CommonFact> facts_of(const OpenedModel& model) {
  const ModelSpec& spec = model.spec;
  std::string kinds;
  for (const BlockSpec& block : spec.blocks) kinds += (kinds.empty() ? "" : ", ") + std::string(block.kind());
  return {{"layers", std::to_string(spec.blocks.size())},
          {"heads", format("%lld with %lld of keys and values", static_cast<long long>(spec.num_heads),
                           static_cast<long long>(spec.num_kv_heads))},
          {"attention", kinds},
          {"vocabulary", format("%lld tokens", static_cast<long long>(spec.vocab_size))}};
}

// Opens every checkpoint: that each is there and fits the others and the plan is said before the first is run.
Result<void> check_checkpoints(const std::vector<StepOf>& steps, const CorpusPlan& plan,
                               const CheckpointOptions& options, std::vector<std::filesystem::path>& inputs) {
  const std::string no_tokenizer = text_hash("");
  std::string tokenizer = plan.tokenizer_sha256 == "none" ? "" : plan.tokenizer_sha256;
  std::vector<CommonFact> facts;
  std::int32_t largest = 0;
  for (const PlannedSequence& sequence : plan.sequences)
    largest = std::max(largest, *std::ranges::max_element(sequence.ids));
  for (const StepOf& step : steps) {
    std::error_code failed;
    if (!std::filesystem::exists(step.path, failed))
      return Error(ErrorCode::NotFound, "the checkpoint is not there").in_file(step.path.string());
  }
  for (const StepOf& step : steps) {
    const auto other = [&](const std::string& what) {
      return Error(ErrorCode::Corrupt, "the checkpoint has " + what).in_file(step.path.string());
    };
    HEADROOM_TRY(const OpenedModel model, open_model(step.path, options));
    for (const InputFile& file : model.checkpoint->files()) inputs.push_back(file.path());
    const std::vector<CommonFact> own = facts_of(model);
    if (facts.empty()) facts = own;
    for (std::size_t i = 0; i < own.size(); ++i)
      if (own[i].value != facts[i].value)
        return other(std::string("other ") + own[i].what + " than " + name_of(steps.front().path))
            .wanted(facts[i].value, own[i].value);
    // One that has none cannot contradict.
    const std::string hash = plan_model(model).tokenizer_sha256();
    if (hash != no_tokenizer && tokenizer.empty()) tokenizer = hash;
    if (hash != no_tokenizer && hash != tokenizer)
      return other("another tokenizer than " +
                   std::string(plan.tokenizer_sha256 == "none" ? "those before it" : "the plan was made with"))
          .wanted("SHA-256 " + tokenizer, hash);
    if (largest >= model.spec.vocab_size)
      return other("another vocabulary than the plan was made with")
          .wanted(format("at least %d tokens", largest + 1),
                  format("%lld", static_cast<long long>(model.spec.vocab_size)));
  }
  return {};
}

// Whether the file may be this series already, which is known for certain only once the parts are there.
bool may_be_series(const std::filesystem::path& target, const std::vector<StepOf>& steps, const CorpusPlan& plan) {
  const auto file = RunFile::open(target);
  if (!file) return false;
  const auto schema = (*file)->root_attribute("schema_name"), made_of = (*file)->root_attribute("plan_sha256");
  const auto found = (*file)->read_axis("step");
  return schema && *schema == kSeriesSchemaName && made_of && *made_of == plan.plan_sha256 && found &&
         std::ranges::equal(*found, steps, {}, {}, [](const StepOf& step) { return static_cast<double>(step.step); });
}

struct SeriesRun {
  SeriesOutcome outcome;
  std::vector<StepOf> steps;
  std::int64_t sequences = 0, documents = 0;
  std::vector<double> epsilons;
  std::vector<std::string> violations;
};

class Series {
 public:
  explicit Series(const SeriesArguments& arguments) : arguments_(arguments), run_(arguments.corpus.run) {}

  Result<SeriesRun> run() {
    HEADROOM_TRY(series_.steps, steps_of(arguments_));
    HEADROOM_TRY(plan_, read_plan_file(arguments_.corpus.plan));
    HEADROOM_TRY_VOID(check_files(plan_));
    HEADROOM_TRY_VOID(check_checkpoints(series_.steps, plan_, run_.options, request_.inputs));
    request_.inputs.push_back(arguments_.corpus.plan);
    for (const CorpusFile& file : plan_.files) request_.inputs.push_back(file.path);
    if (run_.force || !may_be_series(run_.output, series_.steps, plan_)) {
      HEADROOM_TRY([[maybe_unused]] const std::filesystem::path checked,
                   check_target(run_.output, run_.force, request_.inputs));
    }
    HEADROOM_TRY_VOID(make_folder());
    use_threads(arguments_.corpus);
    HEADROOM_TRY(ComputeBackend* const backend, load_compute());
    series_.sequences = std::ssize(plan_.sequences);
    series_.documents = std::ssize(plan_.documents);
    for (std::size_t i = 0; i < series_.steps.size(); ++i) HEADROOM_TRY_VOID(run_checkpoint(*backend, i));
    return write();
  }

 private:
  Result<void> make_folder() {
    folder_ = run_.output;
    folder_ += ".parts";
    std::error_code failed;
    std::filesystem::create_directories(folder_, failed);
    if (!failed) return {};
    return Error(ErrorCode::Io, "the folder of the parts cannot be made: " + failed.message())
        .in_file(folder_.string());
  }

  Result<void> run_checkpoint(ComputeBackend& backend, std::size_t i) {
    const StepOf& step = series_.steps[i];
    CorpusArguments corpus = arguments_.corpus;
    corpus.run.path = step.path.string();
    corpus.run.output = folder_ / format("step_%lld.h5", static_cast<long long>(step.step));
    corpus.run.force = false;
    HEADROOM_TRY(const OpenedModel model, open_model(corpus.run.path, corpus.run.options));
    HEADROOM_TRY(PreparedCorpus prepared,
                 prepare_corpus(corpus, model, plan_, backend, static_cast<std::int64_t>(series_.steps.size())));
    CorpusRequest& request = prepared.request;
    const auto show = [&](double fraction, std::int64_t done, std::int64_t all) {
      progress_.show((static_cast<double>(i) + fraction) / static_cast<double>(series_.steps.size()),
                     format("step %lld: %lld of %lld sequences", static_cast<long long>(step.step),
                            static_cast<long long>(done), static_cast<long long>(all)));
    };
    const auto stop = [] { return signal_received(); };
    auto outcome = run_corpus(backend, request, show, stop);
    // A part of other settings gives way where the series may be replaced; one of the same is kept.
    if (!outcome && outcome.error().code == ErrorCode::InvalidArgument && run_.force) {
      request.run.force = true;
      outcome = run_corpus(backend, request, show, stop);
    }
    progress_.clear();
    if (!outcome) return outcome.error();
    for (const std::string& violation : outcome->violations)
      series_.violations.push_back(name_of(step.path) + ": " + violation);
    request_.parts.push_back({step.step, name_of(step.path), corpus.run.output});
    if (!layout_) {
      HEADROOM_TRY(CorpusLayout layout, corpus_layout(request));
      layout_ = std::make_unique<CorpusLayout>(std::move(layout));
      series_.epsilons = layout_->epsilons();
    }
    return {};
  }

  Result<SeriesRun> write() {
    const CorpusArguments& corpus = arguments_.corpus;
    request_.plan = &plan_;
    request_.layout = layout_.get();
    const std::filesystem::path parent = parent_of(series_.steps.front().path);
    const bool one_folder =
        std::ranges::all_of(series_.steps, [&](const StepOf& step) { return parent_of(step.path) == parent; });
    request_.model_id = one_folder && parent.has_filename() ? parent.filename().string() : request_.parts.back().name;
    request_.keep = corpus.keep;
    request_.bootstrap_seed = corpus.bootstrap_seed;
    request_.with_ids = !corpus.no_ids;
    request_.force = run_.force;
    request_.output = run_.output;
    request_.command_line = run_.command_line;
    progress_.show(1.0, "writing the series");
    auto outcome = write_series(request_, [] { return signal_received(); });
    progress_.clear();
    if (!outcome) return outcome.error();
    series_.outcome = std::move(*outcome);
    return std::move(series_);
  }

  const SeriesArguments& arguments_;
  const AnalyzeArguments& run_;
  CorpusPlan plan_;
  std::filesystem::path folder_;
  std::unique_ptr<CorpusLayout> layout_;
  SeriesRequest request_;
  SeriesRun series_;
  ProgressLine progress_;
};

void print_series_json(const SeriesArguments& arguments, const SeriesRun& run) {
  nlohmann::json steps = nlohmann::json::array();
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const SeriesStep& step = run.outcome.steps[i];
    nlohmann::json rates = nlohmann::json::array();
    for (std::size_t e = 0; e < run.epsilons.size(); ++e)
      rates.push_back({{"first", statistics_json(step.sink_rate[3 * e])},
                       {"second", statistics_json(step.sink_rate[3 * e + 1])},
                       {"net", statistics_json(step.sink_rate[3 * e + 2])}});
    steps.push_back({{"step", run.steps[i].step},
                     {"checkpoint", run.steps[i].path.string()},
                     {"non_finite", step.non_finite},
                     {"next_token_loss", statistics_json(step.next_token_loss)},
                     {"sink_rate", std::move(rates)}});
  }
  const nlohmann::json result = {{"path", arguments.corpus.run.output.string()},
                                 {"nothing_to_do", run.outcome.nothing_to_do},
                                 {"sequences", run.sequences},
                                 {"documents", run.documents},
                                 {"epsilon", run.epsilons},
                                 {"self_check", {{"violations", run.violations}}},
                                 {"steps", std::move(steps)},
                                 {"size_bytes", run.outcome.size_bytes}};
  print_json(result);
}

void print_series(const SeriesArguments& arguments, const SeriesRun& run) {
  const std::string output = escape_for_terminal(arguments.corpus.run.output.string());
  if (run.outcome.nothing_to_do) {
    std::printf("%s holds this series already: nothing to do\n", output.c_str());
    return;
  }
  std::string text = format(
      "%zu checkpoints, %lld sequences of %lld documents; ± is a standard error with documents as "
      "clusters\n",
      run.steps.size(), static_cast<long long>(run.sequences), static_cast<long long>(run.documents));
  const std::size_t middle = run.epsilons.empty() ? 0 : (run.epsilons.size() - 1) / 2;
  const auto value = [](const StatisticValues& values) {
    const double error = of(values, Statistic::StandardError);
    return format("%.4f", of(values, Statistic::Mean)) + (error == error ? format(" ± %.4f", error) : "");
  };
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const SeriesStep& step = run.outcome.steps[i];
    text += format("step %-8lld  next-token loss %s nats", static_cast<long long>(run.steps[i].step),
                   value(step.next_token_loss).c_str());
    if (!run.epsilons.empty())
      text += format(", sinks above %g %s of the heads (first map)", run.epsilons[middle],
                     value(step.sink_rate[3 * middle]).c_str());
    text += "\n";
  }
  std::fputs((text + "Wrote " + output + ".\n").c_str(), stdout);
}

}  // namespace

CLI::App& add_series(CLI::App& app, SeriesArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("series", "a corpus run by each checkpoint of a training, and what changes between them");
  command
      ->add_option("checkpoints", arguments.checkpoints,
                   "checkpoints whose names end in their training steps, or one folder of some called step_*")
      ->type_name(kPathValue)
      ->required();
  command->add_option("--plan", arguments.corpus.plan, "plan that `headroom corpus --plan-only` has written")
      ->type_name(kFileValue)
      ->required();
  command->add_option("-o,--output", arguments.corpus.run.output, "file to write (HDF5); its parts stay beside it")
      ->type_name(kFileValue)
      ->required();
  command->add_option("--steps", arguments.steps, "training steps of the checkpoints, in their order, e.g. 0,100,300");
  add_measure_options(*command, arguments.corpus);
  command->add_flag("--force", arguments.corpus.run.force, "replace an existing file, and parts of other settings");
  return *command;
}

int run_series(const SeriesArguments& arguments) {
  const bool json = arguments.corpus.run.json;
  const GracefulStop graceful;
  const auto run = Series(arguments).run();
  if (!run) {
    const int code = report_error(run.error(), json);
    return run.error().code == ErrorCode::Cancelled ? signal_exit_code() : code;
  }
  if (json)
    print_series_json(arguments, *run);
  else
    print_series(arguments, *run);
  if (!run->outcome.different_kinds.empty())
    std::fprintf(stderr,
                 "warning: checkpoints were run on different processors or threads, whose last bits may differ: %s\n",
                 escape_for_terminal(run->outcome.different_kinds).c_str());
  warn_of_violations(run->violations);
  if (!run->violations.empty()) return kInternalBug;
  std::int64_t non_finite = 0;
  for (const SeriesStep& step : run->outcome.steps) non_finite += step.non_finite;
  if (non_finite == 0) return 0;
  std::fprintf(stderr,
               "warning: %lld runs of sequences are not finite from some layer on (sequences/non_finite_layer)\n",
               static_cast<long long>(non_finite));
  return kPartialResult;
}

}  // namespace headroom
