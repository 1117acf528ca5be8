// Which run is shown, and in which view, when another one is asked for: of another prompt, or of a checkpoint opened
// anew.
#include <cstdint>
#include <string>

#include "app/session/session.h"
#include "tests/app/session/session_bench.h"

namespace headroom::test {
namespace {

CATCH_TEST_CASE("A run whose checkpoint was opened anew stays to be looked at, and the prompt changes beside it",
                "[session]") {
  SessionBench bench;
  bench.demo("bytes/softmax");
  bench.run("run");
  const int before = bench.state().shown()->id, old_model = bench.state().shown()->model;
  bench.run("select L1.H1");
  bench.run("reload");
  CATCH_REQUIRE(bench.state().find_model(old_model) == nullptr);
  const int opened = bench.state().model;
  CATCH_REQUIRE(bench.state().find_model(opened) != nullptr);
  for (int i = 0; i < 20 && bench.state().shown()->id != before; ++i) bench.run("undo");
  CATCH_REQUIRE(bench.state().shown()->id == before);
  CATCH_CHECK(bench.state().model == opened);
  const std::string title = bench.state().shown()->prompt_title;
  bench.run("prompt first");
  CATCH_CHECK(bench.state().prompt.text == "first");
  CATCH_CHECK(bench.state().shown()->prompt_title == title);  // what it was run on
  bench.run("show " + std::to_string(before));
  CATCH_CHECK(bench.state().model == opened);
  bench.run("prompt hello");
  CATCH_CHECK(bench.state().prompt.text == "hello");
  CATCH_CHECK(bench.refusal("what-if sink=off").find("checkpoint of this run is not open") != std::string::npos);
  bench.run("run");
  CATCH_CHECK(bench.state().shown()->model == opened);
  CATCH_CHECK(bench.state().shown()->status == RunStatus::Done);
  // Another checkpoint, which comes with a prompt of its own, while such a run is shown.
  bench.run("show " + std::to_string(before));
  bench.demo("trigger_bos/diff_v2");
  CATCH_CHECK(bench.state().shown()->id != before);
  CATCH_CHECK(bench.state().find_model(bench.state().shown()->model) != nullptr);
}

CATCH_TEST_CASE("A run of another prompt leaves the view that one run fills, and ends one of a change or of two runs",
                "[session]") {
  SessionBench bench;
  bench.demo("bytes/diff_v2");
  bench.run("run");
  bench.run("select L1.H0");
  int token = 1;
  const auto view_after_a_run = [&](const std::string& opens, CentreView expected) {
    CATCH_INFO(opens);
    bench.run(opens);
    CATCH_CHECK(bench.state().view.centre == expected);
    const int before = bench.state().view.run;
    bench.run("ids 1,2,3,4,5,6," + std::to_string(++token));
    bench.run("run");
    CATCH_CHECK(bench.state().view.run != before);
    return bench.state().view.centre;
  };
  CATCH_CHECK(view_after_a_run("tokens.large on", CentreView::Tokens) == CentreView::Tokens);
  CATCH_CHECK(view_after_a_run("residual on", CentreView::Residual) == CentreView::Residual);
  CATCH_CHECK(view_after_a_run("importance", CentreView::Importance) == CentreView::Importance);
  CATCH_CHECK(view_after_a_run("circuit on", CentreView::Circuit) == CentreView::Circuit);
  const int other = bench.state().view.run;
  bench.run("run");  // the same tokens once more
  CATCH_CHECK(view_after_a_run("compare " + std::to_string(other), CentreView::Compare) == CentreView::Map);
}

CATCH_TEST_CASE("What is shown stays until the run of the next prompt has the selected head", "[session]") {
  SessionBench bench;
  bench.demo("bytes/diff_v2");
  bench.run("run");
  bench.run("select L1.H0");
  bench.run("pin 5 3");
  const int first = bench.state().view.run;
  const std::int64_t length = bench.state().shown()->data->length;
  bench.run("ids 1,2,3,4,5,6,7");
  CATCH_CHECK((bench.state().view.run == first && bench.state().runs.size() == 1));
  CATCH_CHECK(bench.state().shown()->prompt_serial != bench.state().prompt_serial);
  CATCH_REQUIRE(bench->execute("run").has_value());
  CATCH_CHECK((bench.state().view.run == first && bench.state().coming >= 0));
  CATCH_CHECK(bench.state().selected_layer() != nullptr);
  bench.wait();
  CATCH_CHECK((bench.state().coming == -1 && bench.state().runs.size() == 2));
  CATCH_CHECK((bench.state().view.run != first && bench.state().shown()->data->length == 7 && length != 7));
  CATCH_CHECK(bench.state().view.selection.head == HeadRef{1, 0});
  CATCH_CHECK_FALSE(bench.state().view.selection.query);  // a position of the other text
  CATCH_CHECK(bench.state().shown()->prompt_serial == bench.state().prompt_serial);
  // The same prompt again keeps positions.
  bench.run("pin 5 3");
  bench.run("run");
  CATCH_CHECK((bench.state().runs.size() == 3 && bench.state().view.selection.query == 5));
  // Cancelled, failed, or overtaken by a look at something else: nothing moves, and nothing empty is left.
  const int third = bench.state().view.run;
  CATCH_REQUIRE(bench->execute("run").has_value());
  CATCH_REQUIRE(bench->execute("cancel").has_value());
  bench.wait();
  CATCH_CHECK((bench.state().view.run == third && bench.state().shown()->status == RunStatus::Done));
  CATCH_CHECK(bench.state().coming == -1);
  for (const RunEntry& run : bench.state().runs) CATCH_CHECK(run.data);
  bench.run("ids 1,2,99999");
  bench.run("run");
  CATCH_CHECK((bench.state().view.run == third && bench.state().errors.size() == 1));
  CATCH_CHECK(bench.state().runs.size() <= 4);
  bench.run("ids 1,2,3");
  CATCH_REQUIRE(bench->execute("run").has_value());
  CATCH_REQUIRE(bench->execute("show " + std::to_string(first)).has_value());
  bench.wait();
  CATCH_CHECK(bench.state().view.run == first);
  CATCH_CHECK(bench.state().runs.back().data->length == 3);
}

}  // namespace
}  // namespace headroom::test
