// The panel that runs a corpus, as a person uses it: what it suggests, and the line that it runs.
#include "app/panels/chrome/corpus_overlay.h"

#include <string>
#include <utility>
#include <vector>

#include "app/panels/chrome/overlay.h"
#include "tests/app/panels/bars_bench.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom {
namespace {

using test::PanelBench;

struct CorpusBench : PanelBench {
  explicit CorpusBench(Vec2 size = {1440, 900}, float scale = 1.0f)
      : PanelBench([](PanelContext& c) { draw_overlay(c, c.ui.input.window); }, size, scale) {
    test::show_run(state, test::small_run(false));
    state.overlay = Overlay::Corpus;
    folder.write("kjv.txt", "In the beginning");
    state.save_folders["run"] = folder.path().string();
    state.corpus_wish.task.data = (folder.path() / "kjv.txt").string();
  }
  test::TempFolder folder;
  void frames() { frame(), frame(); }
  [[nodiscard]] std::string line() const {
    const std::string* found = facts.find("corpus.form");
    return found ? *found : std::string();
  }
};

CATCH_TEST_CASE("corpus panel: without what-ifs on the screen none are offered") {
  CorpusBench bench;
  bench.frames();
  CATCH_CHECK_FALSE(bench.shows("What-ifs"));
  CATCH_CHECK(bench.line().starts_with("corpus.run " + bench.state.corpus_wish.task.data + " "));
  CATCH_CHECK(bench.line().find("/SmolLM2-135M_kjv_corpus.h5 all none") != std::string::npos);
  CATCH_CHECK(bench.line().find("what-ifs") == std::string::npos);
  // Nor those of another checkpoint's run, or of a file's.
  for (const int model : {-1, 7}) {
    bench.state.runs[0].what_ifs = {"L0.H0:sink=off"};
    bench.state.runs[0].model = model;
    bench.frames();
    CATCH_CHECK_FALSE(bench.shows("What-ifs"));
  }
}

CATCH_TEST_CASE("corpus panel: whoever chose the texts first finds a length, and types another one at once") {
  CorpusBench bench;
  bench.state.overlay = Overlay::CorpusFile;
  bench.frames();
  bench.state.overlay = Overlay::Corpus;
  bench.frames();
  CATCH_CHECK(bench.line().find(" 64 ") != std::string::npos);
  CATCH_CHECK(bench.line().ends_with(" none curves"));
  bench.type("32");
  bench.frames();
  CATCH_CHECK(bench.line().find(" 32 ") != std::string::npos);
  (void)bench.taken();
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken() == std::vector<std::string>{bench.line()});
}

CATCH_TEST_CASE("corpus panel: the what-ifs of the shown run are offered, and are in the name of the file") {
  CorpusBench bench;
  bench.state.runs[0].what_ifs = {"L0.H0:second-map=off"};
  bench.frames();
  CATCH_REQUIRE(bench.shows("second map off in L0.H0"));
  CATCH_CHECK(bench.line().find("what-ifs") == std::string::npos);  // as trained, until they are asked for
  bench.click(bench.place("second map off in L0.H0"));
  bench.frames();
  CATCH_CHECK(bench.line().ends_with(" none curves what-ifs"));
  CATCH_CHECK(bench.line().find("_L0.H0-second-map=off_kjv_corpus.h5") != std::string::npos);
  // Enter is the panel's where the mouse has left the fields.
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken() == std::vector<std::string>{bench.line()});
  bench.click(bench.place("second map off in L0.H0"));
  bench.frames();
  CATCH_CHECK(bench.line().find("what-ifs") == std::string::npos);
}

CATCH_TEST_CASE("corpus panel: what is tried in an open what-if is added, in its scope") {
  CorpusBench bench;
  bench.state.runs[0].what_ifs = {"sink=off"};
  bench.state.view.centre = CentreView::WhatIf;
  bench.state.view.what_if = {"layer", {"lambda=0"}};
  bench.frames();
  CATCH_CHECK(bench.shows("sink off, λ = 0 in layer 0"));
}

CATCH_TEST_CASE("corpus panel: no text is cut or lies on another at any size") {
  for (const auto& [width, height] : {std::pair{1440.0f, 900.0f}, {800.0f, 500.0f}, {1024.0f, 640.0f}})
    for (const float scale : {1.0f, 2.0f}) {
      CorpusBench bench({width * scale, height * scale}, scale);
      bench.state.runs[0].what_ifs = {"L0.H0:second-map=off", "hide-key=0,7", "L0:lambda=0.25"};
      bench.frames();
      CATCH_INFO(width << " × " << height << " at " << scale);
      CATCH_CHECK(bench.wrong() == "");
    }
}

}  // namespace
}  // namespace headroom
