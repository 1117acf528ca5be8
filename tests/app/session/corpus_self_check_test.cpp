// What the self-check finds wrong goes with the file: made by a backend whose numbers are wrong.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/corpus/needle_run.h"
#include "core/corpus/plan_ablation.h"
#include "core/corpus/shard_origin.h"
#include "core/io/run_file.h"
#include "core/run/ablation_file.h"
#include "core/run/analysis.h"
#include "core/sparse/block_run.h"
#include "tests/app/session/made_corpus.h"
#include "tests/core/run/wrong_backend.h"
#include "tests/support/catch.h"
#include "tests/support/required.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

// A demo of two layers, a backend whose numbers are right and one whose are wrong.
struct WrongRuns {
  SessionBench bench;
  TempFolder folder;
  OpenedModel model = required(open_model(demo_assets() / "demo" / "bytes/diff_v2", {}));
  ComputeBackend& right = *required(bench->runner().compute().backend());
  WrongBackend wrong{right};

  AnalysisRequest request(const char* file) {
    AnalysisRequest run;
    run.model = &model;
    run.output = folder.path() / file;
    return run;
  }
};

bool says(SessionBench& bench, const std::string& text) {
  return std::ranges::any_of(bench.state().messages, [&](const Message& message) {
    return message.level == MessageLevel::Error && message.text == text;
  });
}

std::vector<std::string> kept_in(const std::filesystem::path& path) {
  return required(read_violations(*required(RunFile::open(path))));
}

CATCH_TEST_CASE("corpus view: what the self-check found wrong is said when the file is opened", "[corpus]") {
  WrongRuns runs;
  const std::filesystem::path path = runs.folder.path() / "all.h5";
  const std::vector<std::string> ran =
      make_corpus(runs.bench, path, {.sequences = 3, .pieces = 1, .backend = &runs.wrong});
  CATCH_REQUIRE(ran.size() == 3);
  for (std::size_t s = 0; s < ran.size(); ++s) {
    CATCH_INFO(ran[s]);
    CATCH_CHECK(ran[s].starts_with("sequence " + std::to_string(s) + ": L1.H0 row 3: the row sum is 0.5"));
  }
  CATCH_CHECK(kept_in(path) == ran);
  // The finished file says it to who asks for it once more, though nothing runs.
  CATCH_CHECK(make_corpus(runs.bench, path, {.sequences = 3, .pieces = 1}) == ran);

  runs.bench.run("open " + quote_word(path.string()));
  for (const std::string& sentence : ran) CATCH_CHECK(says(runs.bench, "all: self-check: " + sentence));
}

CATCH_TEST_CASE("ablation of a plan: what the self-check found wrong outlives a run that is stopped") {
  WrongRuns runs;
  const CorpusPlan plan = plan_of(runs.model, {.sequences = 3, .pieces = 1});
  PlanAblationRequest request;
  request.plan = &plan;
  request.ablation.run = runs.request("plan.h5");
  request.ablation.mode = *parse_ablation_mode("zero");
  request.ablation.heads = {{0, 0}, {1, 1}};
  bool one_done = false;
  const auto stopped = ablate_plan(
      runs.wrong, request, [&](double, std::int64_t done, std::int64_t) { one_done = one_done || done > 0; },
      [&] { return one_done; });
  CATCH_REQUIRE(!stopped.has_value());
  CATCH_REQUIRE(stopped.error().code == ErrorCode::Cancelled);
  // The rest by numbers that are right: what is kept is of the first sequence.
  const auto finished = ablate_plan(runs.right, request, {}, {});
  CATCH_REQUIRE(finished.has_value());
  CATCH_CHECK(finished->resumed == 1);
  CATCH_REQUIRE(finished->violations.size() == 1);
  CATCH_CHECK(finished->violations.front().starts_with("sequence 0: L1.H0 row 3: the row sum is 0.5"));
  CATCH_CHECK(ablate_plan(runs.right, request, {}, {})->violations == finished->violations);
  CATCH_CHECK(kept_in(request.ablation.run.output) == finished->violations);
}

CATCH_TEST_CASE("needles and blocks: what the self-check found wrong goes with the file") {
  WrongRuns runs;
  NeedleOptions options;
  options.documents.split = TextSplit::Blank;
  options.lengths = {300};
  options.depths = {50};
  options.needles = 2;
  options.samples = 3;
  const std::vector<std::filesystem::path> data{kjv_path()};
  const NeedleHaystack haystack = required(NeedleHaystack::create(data, options, plan_model(runs.model), {}, {}));
  NeedleRequest needles;
  needles.haystack = &haystack;
  needles.run = runs.request("needles.h5");
  const NeedleOutcome asked = required(run_needles(runs.wrong, needles, {}, {}));
  CATCH_REQUIRE(asked.violations.size() >= 3);  // of each sample
  CATCH_INFO(asked.violations.front());
  CATCH_CHECK(asked.violations.front().starts_with("length 300, depth 50 %, sample 0: L1.H0 row "));
  CATCH_CHECK(asked.violations.front().find(": the row sum of the first map is 1.5") != std::string::npos);
  CATCH_CHECK(kept_in(needles.run.output) == asked.violations);

  const CorpusPlan plan = plan_of(runs.model, {.sequences = 2, .length = 64, .pieces = 1});
  BlockRequest blocks;
  blocks.plan = &plan;
  blocks.rules.size = 8;
  blocks.run = runs.request("blocks.h5");
  const BlockOutcome chosen = required(run_blocks(runs.wrong, blocks, {}, {}));
  CATCH_REQUIRE_FALSE(chosen.violations.empty());
  CATCH_CHECK(chosen.violations.front().starts_with("sequence 0: L1.H0 row 0: the row sum of the first map is 1.5"));
  CATCH_CHECK(chosen.violations.back().starts_with("sequence 1: L1.H0 row 0: "));
  CATCH_CHECK(kept_in(blocks.run.output) == chosen.violations);

  needles.run.force = blocks.run.force = true;
  CATCH_CHECK(required(run_needles(runs.right, needles, {}, {})).violations.empty());
  CATCH_CHECK(required(run_blocks(runs.right, blocks, {}, {})).violations.empty());
  for (const auto& path : {needles.run.output, blocks.run.output}) CATCH_CHECK(kept_in(path).empty());
}

CATCH_TEST_CASE("runs: what the self-check found wrong is said when a run or loss changes are opened") {
  WrongRuns runs;
  AblationRequest request;
  request.run = runs.request("run.h5");
  request.run.prompt.ids = {72, 101, 108, 108, 111, 32, 119, 111};
  request.mode = *parse_ablation_mode("zero");
  const auto analysed = analyze(runs.wrong, request.run, {}, {});
  CATCH_REQUIRE(analysed.has_value());
  CATCH_REQUIRE(analysed->self_check.violations.size() == 1);
  const std::string& sentence = analysed->self_check.violations.front();
  CATCH_CHECK(sentence.starts_with("L1.H0 row 3: the row sum is 0.5"));

  request.run.output = runs.folder.path() / "changes.h5";
  auto file = create_ablation_file(request);
  CATCH_REQUIRE(file.has_value());
  const auto swept = ablate(runs.wrong, request, {}, {}, {});
  CATCH_REQUIRE(swept.has_value());
  CATCH_CHECK(swept->violations == analysed->self_check.violations);
  CATCH_REQUIRE(write_ablation(**file, request, *swept, runs.wrong.info(), false, {}).has_value());
  // What goes on says it once, also where nothing is left to run.
  AblationRequest more = request;
  more.before = std::make_shared<const AblationOutcome>(*swept);
  CATCH_CHECK(ablate(runs.wrong, more, {}, {}, {})->violations == swept->violations);
  more.sets = {{{0, 0}, {0, 1}}};
  CATCH_CHECK(ablate(runs.wrong, more, {}, {}, {})->violations == swept->violations);

  for (const char* name : {"run", "changes"}) {
    const std::filesystem::path path = runs.folder.path() / (name + std::string(".h5"));
    CATCH_CHECK(kept_in(path) == std::vector<std::string>{sentence});
    runs.bench.run("open " + quote_word(path.string()));
    CATCH_CHECK(says(runs.bench, name + (": self-check: " + sentence)));
  }
}

}  // namespace
}  // namespace headroom::test
