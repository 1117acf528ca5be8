// What the self-check finds wrong goes with the file: made by a backend whose numbers are wrong.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/corpus/plan_ablation.h"
#include "core/corpus/shard_origin.h"
#include "core/io/run_file.h"
#include "core/run/ablation_file.h"
#include "core/run/analysis.h"
#include "tests/app/session/made_corpus.h"
#include "tests/core/run/wrong_backend.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

bool says(SessionBench& bench, const std::string& text) {
  return std::ranges::any_of(bench.state().messages, [&](const Message& message) {
    return message.level == MessageLevel::Error && message.text == text;
  });
}

CATCH_TEST_CASE("corpus view: what the self-check found wrong is said when the file is opened", "[corpus]") {
  SessionBench bench;
  const TempFolder folder;
  const std::filesystem::path path = folder.path() / "all.h5";
  auto inner = bench->runner().compute().backend();
  CATCH_REQUIRE(inner.has_value());
  WrongBackend wrong(**inner);
  const std::vector<std::string> ran = make_corpus(bench, path, {.sequences = 3, .pieces = 1, .backend = &wrong});
  CATCH_REQUIRE(ran.size() == 3);
  for (std::size_t s = 0; s < ran.size(); ++s) {
    CATCH_INFO(ran[s]);
    CATCH_CHECK(ran[s].starts_with("sequence " + std::to_string(s) + ": L1.H0 row 3: the row sum is 0.5"));
  }
  {
    const auto file = RunFile::open(path);
    CATCH_REQUIRE(file.has_value());
    CATCH_CHECK(*read_violations(**file) == ran);
  }
  // The finished file says it to who asks for it once more, though nothing runs.
  CATCH_CHECK(make_corpus(bench, path, {.sequences = 3, .pieces = 1}) == ran);

  bench.run("open " + quote_word(path.string()));
  for (const std::string& sentence : ran) CATCH_CHECK(says(bench, "all: self-check: " + sentence));
}

CATCH_TEST_CASE("ablation of a plan: what the self-check found wrong outlives a run that is stopped") {
  SessionBench bench;
  const TempFolder folder;
  auto inner = bench->runner().compute().backend();
  CATCH_REQUIRE(inner.has_value());
  WrongBackend wrong(**inner);
  auto model = open_model(demo_assets() / "demo" / "bytes/diff_v2", {});
  CATCH_REQUIRE(model.has_value());
  const CorpusPlan plan = plan_of(*model, {.sequences = 3, .pieces = 1});
  PlanAblationRequest request;
  request.plan = &plan;
  request.ablation.run.model = &*model;
  request.ablation.run.output = folder.path() / "plan.h5";
  request.ablation.mode = *parse_ablation_mode("zero");
  request.ablation.heads = {{0, 0}, {1, 1}};
  bool one_done = false;
  const auto stopped = ablate_plan(
      wrong, request, [&](double, std::int64_t done, std::int64_t) { one_done = one_done || done > 0; },
      [&] { return one_done; });
  CATCH_REQUIRE(!stopped.has_value());
  CATCH_REQUIRE(stopped.error().code == ErrorCode::Cancelled);
  // The rest by numbers that are right: what is kept is of the first sequence.
  const auto finished = ablate_plan(**inner, request, {}, {});
  CATCH_REQUIRE(finished.has_value());
  CATCH_CHECK(finished->resumed == 1);
  CATCH_REQUIRE(finished->violations.size() == 1);
  CATCH_CHECK(finished->violations.front().starts_with("sequence 0: L1.H0 row 3: the row sum is 0.5"));
  CATCH_CHECK(ablate_plan(**inner, request, {}, {})->violations == finished->violations);
  const auto file = RunFile::open(request.ablation.run.output);
  CATCH_REQUIRE(file.has_value());
  CATCH_CHECK(*read_violations(**file) == finished->violations);
}

CATCH_TEST_CASE("runs: what the self-check found wrong is said when a run or loss changes are opened") {
  SessionBench bench;
  const TempFolder folder;
  auto inner = bench->runner().compute().backend();
  CATCH_REQUIRE(inner.has_value());
  WrongBackend wrong(**inner);
  auto model = open_model(demo_assets() / "demo" / "bytes/diff_v2", {});
  CATCH_REQUIRE(model.has_value());
  AblationRequest request;
  request.run.model = &*model;
  request.run.prompt.ids = {72, 101, 108, 108, 111, 32, 119, 111};
  request.mode = *parse_ablation_mode("zero");
  request.run.output = folder.path() / "run.h5";
  const auto analysed = analyze(wrong, request.run, {}, {});
  CATCH_REQUIRE(analysed.has_value());
  CATCH_REQUIRE(analysed->self_check.violations.size() == 1);
  const std::string& sentence = analysed->self_check.violations.front();
  CATCH_CHECK(sentence.starts_with("L1.H0 row 3: the row sum is 0.5"));

  request.run.output = folder.path() / "changes.h5";
  auto file = create_ablation_file(request);
  CATCH_REQUIRE(file.has_value());
  const auto swept = ablate(wrong, request, {}, {}, {});
  CATCH_REQUIRE(swept.has_value());
  CATCH_CHECK(swept->violations == analysed->self_check.violations);
  CATCH_REQUIRE(write_ablation(**file, request, *swept, wrong.info(), false, {}).has_value());
  // What goes on says it once, also where nothing is left to run.
  AblationRequest more = request;
  more.before = std::make_shared<const AblationOutcome>(*swept);
  CATCH_CHECK(ablate(wrong, more, {}, {}, {})->violations == swept->violations);
  more.sets = {{{0, 0}, {0, 1}}};
  CATCH_CHECK(ablate(wrong, more, {}, {}, {})->violations == swept->violations);

  for (const char* name : {"run", "changes"}) {
    const std::filesystem::path path = folder.path() / (name + std::string(".h5"));
    {
      const auto opened = RunFile::open(path);
      CATCH_REQUIRE(opened.has_value());
      CATCH_CHECK(*read_violations(**opened) == std::vector<std::string>{sentence});
    }
    bench.run("open " + quote_word(path.string()));
    CATCH_CHECK(says(bench, name + (": self-check: " + sentence)));
  }
}

}  // namespace
}  // namespace headroom::test
