#include "app/cli/reproduce_command.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <thread>

#include "app/cli/progress.h"
#include "app/process/report_error.h"
#include "app/process/signals.h"
#include "app/process/version.h"
#include "core/base/data_folder.h"
#include "core/base/format.h"
#include "core/base/utc.h"
#include "core/reproduce/claims.h"
#include "core/reproduce/demo_table.h"
#include "core/reproduce/report.h"
#include "core/text/prompt_ids.h"
#include "core/training/checkpoint_writer.h"

namespace headroom {
namespace {

// Recipes whose models are shipped.
const std::vector<std::string> kShipped = {"trigger_bos", "trigger_no_bos", "backcopy", "bytes"};

// The project's assets: what is asked for, else those of the clone or of the installation.
std::filesystem::path find_assets(const std::string& given) {
  if (!given.empty()) return given;
  const std::filesystem::path found = find_data_folder("assets", "recipes");
  return found.empty() ? "assets" : found;
}

// One ordinary run file of each shipped model, of its first evaluation sequence.
Result<std::size_t> write_runs(Study& study, const ReproduceArguments& arguments) {
  std::size_t written = 0;
  for (const std::string& name : kShipped) {
    const Recipe& recipe = study.recipe(name);
    for (const Variant& variant : recipe.variants) {
      HEADROOM_TRY(const StudiedModel* model, study.model(recipe, variant, variant.seeds.front(), Moment::Trained));
      const std::string file = model_name(recipe, variant, variant.seeds.front());
      study.show(0.0, "writing " + file);
      AnalysisRequest request;
      request.model = &model->opened;
      request.what_ifs = variant.what_ifs;
      request.prompt.ids = evaluation_sequences(*recipe.task, 1).front();
      request.prompt.first_is_bos = recipe.task->bos() >= 0;
      request.prompt.source = ids_text(request.prompt.ids);
      request.output = std::filesystem::path(arguments.output) / "runs" / (file + ".h5");
      request.force = true;
      request.command_line = arguments.command_line;
      request.program = std::string("headroom ") + kVersion;
      request.git_commit = kGitCommit;
      std::error_code failed;
      std::filesystem::create_directories(request.output.parent_path(), failed);
      if (failed)
        return Error(ErrorCode::Io, "cannot make the folder: " + failed.message())
            .in_file(request.output.parent_path().string());
      HEADROOM_TRY([[maybe_unused]] const AnalysisOutcome outcome, analyze(study.backend(), request, {}, study.stop()));
      ++written;
    }
  }
  return written;
}

struct Reproduction {
  std::vector<ClaimReport> claims;
  std::vector<ClaimTable> models;
  std::size_t runs = 0;
};

Result<Reproduction> reproduce(Study& study, const ReproduceArguments& arguments) {
  ClaimOptions options;
  if (arguments.device_tflops > 0.0 && arguments.device_gbytes > 0.0)
    options.device = {arguments.device_name.empty() ? "the given device" : arguments.device_name,
                      1e12 * arguments.device_tflops, 1e9 * arguments.device_gbytes};
  if (arguments.checkpoint) options.checkpoint = *arguments.checkpoint;
  std::vector<const Claim*> chosen;
  std::set<std::string> needed, initial;
  const bool all = arguments.claims.empty() && !arguments.only_models;
  for (const Claim& claim : claims()) {
    if (!all && std::ranges::count(arguments.claims, claim.number) == 0) continue;
    chosen.push_back(&claim);
    needed.insert(claim.recipes.begin(), claim.recipes.end());
    if (claim.initial) initial.insert(claim.recipes.begin(), claim.recipes.end());
  }
  HEADROOM_TRY_VOID(study.check_variants({needed.begin(), needed.end()}));
  const bool models = all || arguments.only_models;
  if (models) needed.insert(kShipped.begin(), kShipped.end());
  HEADROOM_TRY_VOID(study.train_models({needed.begin(), needed.end()}));
  HEADROOM_TRY_VOID(study.make_initial_models({initial.begin(), initial.end()}));

  Reproduction result;
  for (const Claim* claim : chosen) {
    study.show(0.0, format("claim %d", claim->number));
    HEADROOM_TRY(ClaimReport report, claim->examine(study, options));
    decide(report);
    result.claims.push_back(std::move(report));
  }
  if (!models) return result;
  HEADROOM_TRY(result.models, demo_tables(study, kShipped));
  HEADROOM_TRY(const nlohmann::ordered_json statistics, demo_statistics(study, kShipped));
  const std::filesystem::path output = arguments.output;
  HEADROOM_TRY_VOID(write_text_file(output / "statistics.json", statistics.dump(1) + "\n"));
  std::string tables;
  for (const ClaimTable& table : result.models) tables += table_markdown(table);
  HEADROOM_TRY_VOID(write_text_file(output / "models.md", tables));
  if (all) {
    HEADROOM_TRY(result.runs, write_runs(study, arguments));
  }
  return result;
}

Result<void> write_report(const ReproduceArguments& arguments, const Reproduction& result, const BackendInfo& info) {
  ReportFacts facts;
  facts.program = std::string("headroom ") + kVersion;
  facts.git_commit = kGitCommit;
  facts.command_line = arguments.command_line;
  facts.created_utc = utc_now();
  facts.machine = "LibTorch " + info.torch_version + " (" + info.cpu_capability + "), kernels " + info.kernel_target;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ClaimReport& claim : result.claims) list.push_back(claim_json(claim));
  const std::filesystem::path output = arguments.output;
  HEADROOM_TRY_VOID(write_text_file(output / "claims.json", list.dump(1) + "\n"));
  return write_text_file(output / "report.md", report_markdown(facts, result.claims, result.models));
}

}  // namespace

int run_reproduce(const ReproduceArguments& arguments) {
  auto backend = load_compute();
  if (!backend) return report_error(backend.error(), arguments.json);
  std::error_code failed;
  std::filesystem::create_directories(arguments.output, failed);
  if (failed)
    return report_error(Error(ErrorCode::Io, "cannot make the folder: " + failed.message()).in_file(arguments.output),
                        arguments.json);
  StudyOptions options;
  options.assets = find_assets(arguments.assets);
  options.output = arguments.output;
  options.seeds = arguments.seeds;
  options.workers =
      arguments.jobs > 0 ? static_cast<std::size_t>(arguments.jobs) : std::max(1U, std::thread::hardware_concurrency());
  options.program = std::string("headroom ") + kVersion;
  options.git_commit = kGitCommit;
  options.command_line = arguments.command_line;

  ProgressLine line;
  const auto result = [&]() -> Result<Reproduction> {
    const GracefulStop graceful;
    HEADROOM_TRY(const std::unique_ptr<Study> study,
                 Study::create(
                     **backend, options, [&](double fraction, const std::string& what) { line.show(fraction, what); },
                     [] { return signal_received(); }));
    return reproduce(*study, arguments);
  }();
  line.clear();
  if (!result) {
    const int code = report_error(result.error(), arguments.json);
    return result.error().code == ErrorCode::Cancelled ? signal_exit_code() : code;
  }
  if (!result->claims.empty())
    if (const auto written = write_report(arguments, *result, (*backend)->info()); !written)
      return report_error(written.error(), arguments.json);
  if (arguments.json) {
    nlohmann::ordered_json claims = nlohmann::ordered_json::array();
    for (const ClaimReport& claim : result->claims) {
      nlohmann::ordered_json verdicts = nlohmann::ordered_json::object();
      for (std::size_t i = 0; i < claim.sentences.size(); ++i)
        verdicts[claim.id(i)] = verdict_text(claim.sentences[i].verdict);
      claims.push_back({{"number", claim.number}, {"title", claim.title}, {"verdicts", verdicts}});
    }
    std::puts(nlohmann::ordered_json{{"path", arguments.output}, {"claims", claims}, {"run_files", result->runs}}
                  .dump()
                  .c_str());
    return 0;
  }
  for (const ClaimReport& claim : result->claims) {
    std::printf("%d. %s\n", claim.number, claim.title.c_str());
    for (std::size_t i = 0; i < claim.sentences.size(); ++i)
      std::printf("   %-4s %-14s %s: %s\n", claim.id(i).c_str(), verdict_text(claim.sentences[i].verdict),
                  claim.sentences[i].text.c_str(), claim.sentences[i].found.c_str());
  }
  std::string files = result->claims.empty() ? "" : "report.md, claims.json";
  if (!result->models.empty()) files += std::string(files.empty() ? "" : ", ") + "models.md, statistics.json";
  if (result->runs > 0) files += format(" and %zu run files", result->runs);
  std::printf("%sWrote to %s: %s\n", result->claims.empty() ? "" : "\n", arguments.output.c_str(), files.c_str());
  return 0;
}

}  // namespace headroom
