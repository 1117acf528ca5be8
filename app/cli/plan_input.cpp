#include "app/cli/plan_input.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "app/cli/prompt_input.h"
#include "app/process/signals.h"
#include "core/base/format.h"
#include "core/corpus/plan_file.h"
#include "core/io/target_check.h"

namespace headroom {

Result<DocumentOptions> document_options(const CorpusArguments& arguments) {
  DocumentOptions options;
  HEADROOM_TRY(options.split, parse_text_split(arguments.split));
  HEADROOM_TRY(options.ids_type, parse_ids_type(arguments.ids_dtype));
  options.field = arguments.field;
  if (arguments.document_end) options.document_end = static_cast<std::int32_t>(*arguments.document_end);
  return options;
}

namespace {

Result<PlanOptions> plan_options(const CorpusArguments& arguments) {
  PlanOptions options;
  HEADROOM_TRY(options.documents, document_options(arguments));
  HEADROOM_TRY(options.order, parse_corpus_order(arguments.order));
  options.length = arguments.length;
  options.stride = arguments.stride;
  options.bos = bos_mode_named(arguments.bos);
  options.concat = arguments.pack == "concat";
  options.separator = arguments.separator;
  options.sequences = arguments.sequences;
  options.pieces = arguments.pieces;
  options.seed = arguments.seed;
  return options;
}

}  // namespace

Result<CorpusPlan> make_plan(const CorpusArguments& arguments, const OpenedModel& model, ProgressLine& progress) {
  if (!arguments.plan.empty()) {
    HEADROOM_TRY(CorpusPlan plan, read_plan_file(arguments.plan));
    HEADROOM_TRY_VOID(check_files(plan));
    const PlanModel own = plan_model(model);
    HEADROOM_TRY_VOID(check_ids(plan, own.vocab_size, arguments.plan));
    if (plan.tokenizer_sha256 != "none")
      if (const std::string hash = own.tokenizer_sha256(); hash != plan.tokenizer_sha256)
        plan.warnings.push_back("warning: the plan's tokens are of another tokenizer than the model's: SHA-256 " +
                                plan.tokenizer_sha256 + ", the model's is " + hash);
    return plan;
  }
  if (arguments.data.empty() || arguments.length == 0) {
    Error error(ErrorCode::InvalidArgument, "a corpus needs documents and the length of a sequence, or a plan of them");
    return error.wanted("--data and --length, or --plan", arguments.data.empty() ? "no --data" : "no --length");
  }
  HEADROOM_TRY(const PlanOptions options, plan_options(arguments));
  const auto show = [&](std::int64_t documents, std::int64_t sequences) {
    if (documents % 64 == 0)
      progress.show(
          options.sequences > 0 ? static_cast<double>(sequences) / static_cast<double>(options.sequences) : 0.0,
          format("%lld documents", static_cast<long long>(documents)));
  };
  return plan_corpus(arguments.data, options, plan_model(model), show, [] { return signal_received(); });
}

std::vector<std::filesystem::path> plan_inputs(const CorpusArguments& arguments, const OpenedModel& model,
                                               const CorpusPlan& plan) {
  std::vector<std::filesystem::path> inputs = input_paths(arguments.run, *model.checkpoint);
  for (const CorpusFile& file : plan.files) inputs.push_back(file.path);
  if (!arguments.plan.empty()) inputs.push_back(arguments.plan);
  return inputs;
}

Result<void> check_plan_output(const CorpusArguments& arguments, const OpenedModel& model, bool may_be_there) {
  std::vector<std::filesystem::path> inputs = input_paths(arguments.run, *model.checkpoint);
  inputs.insert(inputs.end(), arguments.data.begin(), arguments.data.end());
  if (!arguments.plan.empty()) inputs.push_back(arguments.plan);
  HEADROOM_TRY([[maybe_unused]] const std::filesystem::path checked,
               check_target(arguments.run.output, may_be_there, inputs));
  return {};
}

std::string plan_text(const CorpusPlan& plan) {
  std::string text = format("%zu sequences of %lld positions from %zu of %lld documents in %zu files",
                            plan.sequences.size(), static_cast<long long>(plan.options.length), plan.documents.size(),
                            static_cast<long long>(plan.documents_read), plan.files.size());
  if (plan.documents_short > 0)
    text += format("; %lld documents are shorter than a sequence", static_cast<long long>(plan.documents_short));
  if (plan.tokens_dropped > 0)
    text += format("; %lld tokens behind the last pieces are left out", static_cast<long long>(plan.tokens_dropped));
  return text + "\n";
}

nlohmann::json plan_json(const CorpusPlan& plan) {
  return {{"plan_sha256", plan.plan_sha256},         {"ids_sha256", plan.ids_sha256},
          {"corpus_sha256", plan.corpus_sha256},     {"length", plan.options.length},
          {"sequences", plan.sequences.size()},      {"documents", plan.documents_read},
          {"documents_used", plan.documents.size()}, {"documents_short", plan.documents_short},
          {"tokens_dropped", plan.tokens_dropped},   {"files", plan.files.size()}};
}

void print_json(const nlohmann::json& value) {
  std::printf("%s\n", value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

void print_notes(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings)
    std::fprintf(stderr, "%s%s\n",
                 warning.starts_with("warning: ") ? "" : "note: ", escape_for_terminal(warning).c_str());
}

void warn_of_violations(const std::vector<std::string>& violations) {
  for (const std::string& violation : violations)
    std::fprintf(stderr, "warning: self-check: %s\n", escape_for_terminal(violation).c_str());
}

nlohmann::json statistics_json(const StatisticValues& values) {
  nlohmann::json object = nlohmann::json::object();
  for (std::size_t i = 0; i < kStatistics; ++i) {
    const double value = values[i];
    object[statistic_names()[i]] = value == value ? nlohmann::json(value) : nlohmann::json();
  }
  return object;
}

// "3.320898 ± 0.098049 (95 % [3.089048, 3.552748])".
std::string interval_text(const StatisticValues& values) {
  std::string text = format("%.6f", of(values, Statistic::Mean));
  const double error = of(values, Statistic::StandardError);
  if (error == error)
    text +=
        format(" ± %.6f, 95 %% by t [%.6f, %.6f]", error, of(values, Statistic::CiLow), of(values, Statistic::CiHigh));
  return text;
}

}  // namespace headroom
