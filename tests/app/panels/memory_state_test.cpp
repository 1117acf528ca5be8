// The map panel where memory does not suffice, at many sizes and in both themes; the tool bar and the prompt say it
// before.
#include <cstdint>
#include <memory>
#include <string>

#include "app/panels/map/map_subject.h"
#include "app/panels/map/memory_state.h"
#include "tests/app/panels/map_bench.h"
#include "tests/core/run/live_runs.h"

namespace headroom::test {
namespace {

struct Refused {
  explicit Refused(std::int64_t length = 131072) {
    const LiveModel demo("bytes/diff_v2");
    LiveRunRequest request = demo.request();
    request.inputs = std::make_shared<LayerInputs>(0);
    BudgetQuestion question;
    question.free = {64e9, "free memory"};
    question.threads = 2;
    question.memory_gb = 0.2;
    const auto budget = std::make_shared<const RunBudget>(make_run_budget(request, length, question));
    RunEntry run;
    run.id = 7;
    run.name = "a model";
    run.status = RunStatus::Waiting;
    run.refused = true;
    run.budget = budget;
    run.offers = budget->offers;
    entry = run;
  }
  RunEntry entry;
};

void show(MapBench& bench, const RunEntry& run) {
  State& state = bench.session.edit();
  state.runs = {run};
  state.view = {};
  state.view.run = run.id;
}

}  // namespace

CATCH_TEST_CASE("memory state: what is needed against what is allowed, its parts and buttons, at every size", "[map]") {
  MapBench bench;
  const Refused refused;
  CATCH_REQUIRE_FALSE(refused.entry.budget->fit.fits);
  CATCH_REQUIRE_FALSE(refused.entry.offers.empty());
  show(bench, refused.entry);
  for (const bool dark : {true, false})
    for (const Rect& frame : {Rect{301, 69, 1099, 774}, Rect{0, 0, 300, 200}, Rect{0, 0, 460, 420},
                              Rect{0, 0, 260, 700}, Rect{0, 0, 900, 130}, Rect{0, 0, 1900, 1300}}) {
      bench.dark = dark;
      bench.frame = frame;
      bench.draw();
      CATCH_INFO(frame.width() << " × " << frame.height());
      for (const std::string& line : bench.painter->violations()) CATCH_CHECK(line == "");
      CATCH_CHECK(bench.text_fact("map.state") == "The run was not started: it takes more memory than allowed");
    }
  bench.frame = {301, 69, 1099, 774};
  bench.draw();
  const RunBudget& budget = *refused.entry.budget;
  CATCH_CHECK(bench.painter->shows("the run takes up to"));
  CATCH_CHECK(bench.painter->shows(memory_text(static_cast<double>(budget.fit.needed_bytes))));
  CATCH_CHECK(bench.painter->shows("0.20 GB"));
  CATCH_CHECK(bench.painter->shows(budget.memory.items[0].what));
  CATCH_CHECK(bench.painter->shows(budget.memory.items[0].formula));
  CATCH_CHECK(bench.painter->shows("smaller parts"));
  for (const RunOffer& offer : refused.entry.offers) CATCH_CHECK(bench.painter->shows(offer.title));
}

CATCH_TEST_CASE("memory state: which runs it is for", "[map]") {
  const Refused refused;
  RunEntry run = refused.entry;
  CATCH_CHECK(lacks_memory(run));
  run.data = made_run({});
  CATCH_CHECK_FALSE(lacks_memory(run));  // what is there is shown
  run = refused.entry;
  run.refused = false;
  CATCH_CHECK_FALSE(lacks_memory(run));
  run.status = RunStatus::Failed;
  run.error = Error(ErrorCode::Corrupt, "a tensor is damaged");
  CATCH_CHECK_FALSE(lacks_memory(run));
  run.error = Error(ErrorCode::OutOfMemory, "out of memory");
  CATCH_CHECK(lacks_memory(run));
  MapBench bench;
  show(bench, run);
  bench.draw();
  for (const std::string& line : bench.painter->violations()) CATCH_CHECK(line == "");
  CATCH_CHECK(bench.painter->shows("The run ended: memory ran out"));
}

CATCH_TEST_CASE("memory state: layers without maps say how many there was room for", "[map]") {
  MadeRun made;
  made.keep_maps = false;
  MapBench bench(made, {0, 0});
  RunEntry& run = bench.session.edit().runs[0];
  run.model = 3;
  auto budget = std::make_shared<RunBudget>();
  budget->memory.layers = 30;
  budget->fit.fits = true;
  budget->fit.kept_layers = 12;
  budget->memory_gb = 0.5;
  budget->budget_bytes = 500000000;
  budget->free = {8e9, "free memory"};
  run.budget = budget;
  bench.draw();
  for (const std::string& line : bench.painter->violations()) CATCH_CHECK(line == "");
  CATCH_CHECK(map_subject(bench.session.state())
                  .why.ends_with("There was room for 12 of 30 layers in 0.50 GB, as set for runs."));
  budget->maps = false;
  CATCH_CHECK(map_subject(bench.session.state()).why == "This run was asked to keep no maps.");
}

}  // namespace headroom::test
