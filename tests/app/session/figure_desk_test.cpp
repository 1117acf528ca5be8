// Figures of what is shown: which kinds there are, what of the screen they take over, and files that name their run.
#include "app/session/figure_desk.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/figures/figure_kinds.h"
#include "app/paper/page_keys.h"
#include "app/session/figure_screen.h"
#include "app/session/saving.h"
#include "core/checkpoint/sha256.h"
#include "tests/app/session/session_bench.h"
#include "tests/support/catch.h"
#include "tests/support/required.h"
#include "tests/support/temp_folder.h"

namespace headroom {
namespace {

using test::required;
using test::SessionBench;
using test::TempFolder;

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string key_of(const std::filesystem::path& path, const std::string& name) {
  for (const auto& [key, value] : required(read_page_keys(path)))
    if (key == name) return value;
  return "";
}

std::string reason_of(const State& state, const std::string& kind) {
  for (const FigureKindLine& line : state.figure.kinds)
    if (line.name == kind) return line.missing;
  return "no such line";
}

std::string part_of(const State& state, const std::string& kind, const std::string& name) {
  for (const ScreenPart& part : screen_parts(state, kind))
    if (part.name == name) return part.value;
  return "";
}

CATCH_TEST_CASE("figure: options are read by name, wrong ones are refused and change nothing") {
  FigureLook look;
  CATCH_REQUIRE(set_figure_option(look, "map", "width", "84mm").has_value());
  CATCH_REQUIRE(set_figure_option(look, "atlas", "quantity", "sink_score,logit_max").has_value());
  CATCH_REQUIRE(set_figure_option(look, "map", "letters", "(a)").has_value());
  CATCH_REQUIRE(set_figure_option(look, "map", "epsilon", "0.2").has_value());
  CATCH_CHECK((look.options.width == "84mm" && look.letters == "(a)" && look.options.epsilon == 0.2));
  CATCH_CHECK(look.options.quantities == std::vector<std::string>{"sink_score", "logit_max"});
  const FigureLook before = look;
  for (const auto& [name, value] : {std::pair{"width", "84 parsecs"},
                                    {"rows", "9:3"},
                                    {"head", "L1"},
                                    {"range", "1,0"},
                                    {"theme", "dark"},
                                    {"scale", "cubic"},
                                    {"letters", "b"},
                                    {"top", "-1"},
                                    {"colour-map", "jet"},
                                    {"wide", "1"}}) {
    CATCH_INFO(name);
    CATCH_CHECK_FALSE(set_figure_option(look, "map", name, value).has_value());
    CATCH_CHECK(look == before);
  }
  CATCH_REQUIRE(set_figure_option(look, "map", "width", "auto").has_value());
  CATCH_CHECK(look.options.width.empty());
}

CATCH_TEST_CASE("figure: what is on the screen becomes options, unless it is left out or chosen otherwise") {
  State state;
  state.view.selection.head = HeadRef{1, 2};
  CATCH_CHECK(screen_parts(state, "map") == std::vector<ScreenPart>{{"head", "L1.H2"}});
  state.view.map.window = {95.5, 160.2, 0.0, 64.0};
  state.view.map.range = {1e-4, 1.0};
  state.view.map.scale = ScaleKind::Log10;
  state.view.selection.query = 130, state.view.selection.key = 29;
  state.settings.colours = Colours::Viridis;
  CATCH_CHECK(part_of(state, "map", "rows") == "95:161");
  CATCH_CHECK(part_of(state, "map", "keys") == "0:64");
  CATCH_CHECK(part_of(state, "map", "cell") == "130,29");
  CATCH_CHECK(part_of(state, "map", "range") == "0.0001,1");
  CATCH_CHECK(part_of(state, "map", "scale") == "log");
  CATCH_CHECK(part_of(state, "map", "colour-map") == "viridis");
  CATCH_CHECK(part_of(state, "rms", "cell").empty());
  state.view.heads.quantity = "logit_max", state.view.heads.threshold = 0.5;
  CATCH_CHECK(part_of(state, "atlas", "quantity") == "logit_max");
  CATCH_CHECK(part_of(state, "atlas", "epsilon") == "0.5");
  state.view.heads.quantity = "row_distance";  // of the window alone
  CATCH_CHECK(part_of(state, "atlas", "quantity").empty());
  CATCH_CHECK(part_of(state, "scatter", "quantity") == "sink_score,context_rms_relative_mean");

  CATCH_CHECK(asked_look(state, "map").options.cell == "130,29");
  state.figure.looks["map"].left_out.insert("cell");
  CATCH_CHECK(asked_look(state, "map").options.cell.empty());
  CATCH_CHECK(asked_look(state, "map").options.rows == "95:161");
  CATCH_REQUIRE(set_figure_option(state.figure.looks["map"], "map", "rows", "3:9").has_value());
  CATCH_CHECK(asked_look(state, "map").options.rows == "3:9");
}

CATCH_TEST_CASE("figure: a panel's plot is of a kind that there is, or says that it is of none") {
  State state;
  for (const HeadsView view : {HeadsView::Atlas, HeadsView::Scatter, HeadsView::Table, HeadsView::Maps})
    for (const CentreView centre :
         {CentreView::Map, CentreView::WhatIf, CentreView::Compare, CentreView::Circuit, CentreView::Importance,
          CentreView::Training, CentreView::Tokens, CentreView::Residual})
      for (const char* panel : {"heads", "map", "head", "tokens"}) {
        state.view.heads.view = view, state.view.centre = centre;
        const Result<std::string> kind = figure_of_panel(state, panel);
        CATCH_CHECK((kind ? find_figure_kind(*kind).has_value() : !kind.error().message.empty()));
      }
  state.view.heads.view = HeadsView::Scatter, state.view.centre = CentreView::Map;
  CATCH_CHECK(required(figure_of_panel(state, "heads")) == "scatter");
  CATCH_CHECK(required(figure_of_panel(state, "head")) == "rms-layers");
  state.view.heads.view = HeadsView::Atlas;
  CATCH_CHECK(required(figure_of_panel(state, "decomposition")) == "decomposition");
  CATCH_CHECK_FALSE(figure_of_panel(state, "banana").has_value());
  for (const auto& [centre, kind] : {std::pair{CentreView::Importance, "importance"},
                                     {CentreView::Circuit, "circuits"},
                                     {CentreView::Training, "training"},
                                     {CentreView::Compare, "compare"},
                                     {CentreView::Tokens, "tokens"}}) {
    state.view.centre = centre;
    CATCH_CHECK(required(figure_of_panel(state, "map")) == kind);
  }
  state.view.centre = CentreView::Map;
  CATCH_CHECK(figure_in_focus(state) == "map");
  state.layout.focus = "head";
  CATCH_CHECK(figure_in_focus(state) == "rms");
}

CATCH_TEST_CASE("figure: a run without a file is written for its figures, which name it") {
  const TempFolder folder;
  SessionBench bench;
  bench.demo("bytes/diff_v2");
  bench.run("run");
  bench.run("select L1.H0");
  bench.run("figure rms");
  CATCH_CHECK(bench.state().overlay == Overlay::Figure);
  CATCH_REQUIRE(bench.state().figure.drawn != nullptr);
  CATCH_CHECK_FALSE(bench.state().figure.drawn->error.has_value());
  CATCH_CHECK((bench.state().figure.drawn->width_mm == 84.0 && bench.state().figure.drawn->picture.width > 100));
  CATCH_CHECK(bench.state().figure.drawn->warnings.empty());
  CATCH_CHECK((!bench.state().figure.has_file && bench.state().figure.writing.empty()));
  CATCH_CHECK(reason_of(bench.state(), "lambda").empty());
  CATCH_CHECK(reason_of(bench.state(), "map") == "");
  CATCH_CHECK(reason_of(bench.state(), "training") == "needs training.h5: no history is open");
  CATCH_CHECK(reason_of(bench.state(), "compare") == "needs two run files: open both, and compare them");
  CATCH_CHECK(reason_of(bench.state(), "importance") == "needs headroom ablate");
  CATCH_CHECK(reason_of(bench.state(), "circuits") == "needs headroom circuits");

  // Data, caption and the run come along; the figure names the run that lies beside it.
  const std::filesystem::path path = folder.path() / "fig.pdf";
  bench.run("figure.beside data on");
  bench.run("figure.beside caption on");
  bench.run("figure.save " + path.string());
  const std::filesystem::path run = folder.path() / suggested_name(bench.state(), SaveKind::Run, "");
  CATCH_REQUIRE(std::filesystem::exists(run));
  CATCH_CHECK(key_of(path, "run_sha256") == required(sha256_of_file(run)));
  CATCH_CHECK(key_of(path, "command") == "figure " + run.filename().string() + " rms --head L1.H0");
  CATCH_CHECK(bytes_of(folder.path() / "fig.csv").find("panel,series,mark,") != std::string::npos);
  CATCH_CHECK(bytes_of(folder.path() / "fig.txt").find("L1.H0") != std::string::npos);

  // A map is of a run of its head alone, weight by weight.
  bench.run("figure map");
  CATCH_CHECK_FALSE(bench.state().figure.drawn->error.has_value());
  CATCH_CHECK(bench.state().figure.drawn->caption.find("blocks of") == std::string::npos);
  CATCH_CHECK(bench.state().figure.run_file.ends_with("_L1.H0.h5"));
  bench.run("figure.save " + (folder.path() / "map.svg").string());
  CATCH_CHECK(key_of(folder.path() / "map.svg", "run_sha256") ==
              required(sha256_of_file(folder.path() / bench.state().figure.run_file)));
  bench.run("figure rms");

  // The same again is the same; another run's name is left alone.
  const std::filesystem::path again = folder.path() / "again.pdf";
  bench.run("figure.beside data off");
  bench.run("figure.save " + again.string());
  CATCH_CHECK(bytes_of(again) == bytes_of(path));
  folder.write(run.filename().string(), "another file");
  bench->run_line("figure.save " + quote_word((folder.path() / "third.pdf").string()));
  bench.wait();
  CATCH_CHECK_FALSE(std::filesystem::exists(folder.path() / "third.pdf"));
  CATCH_CHECK(bytes_of(run) == "another file");
  CATCH_REQUIRE(bench.state().errors.size() == 1);
  CATCH_CHECK(describe(bench.state().errors.front().error).find("another file has the name of the run") !=
              std::string::npos);
}

CATCH_TEST_CASE("figure: each waits for its own run, and nothing that is there is replaced unasked") {
  const TempFolder folder;
  SessionBench bench;
  bench.demo("bytes/diff_v2");
  bench.run("run");
  const auto path = [&](const char* name) { return (folder.path() / name).string(); };
  // Both before any run is written: the one of all heads, and the one of a head's maps.
  CATCH_REQUIRE(bench->execute("figure rms " + path("rms.pdf")).has_value());
  CATCH_REQUIRE(bench->execute("figure map " + path("map.svg") + " head=L0.H1").has_value());
  CATCH_REQUIRE(bench->execute("figure atlas " + path("atlas.png")).has_value());
  bench.wait();
  CATCH_CHECK(bench.state().errors.empty());
  for (const char* name : {"rms.pdf", "map.svg", "atlas.png"})
    CATCH_CHECK(std::filesystem::exists(folder.path() / name));

  const std::string before = bytes_of(path("rms.pdf"));
  bench.run("figure rms " + path("rms.pdf") + " width=120mm");
  CATCH_CHECK(bench.state().errors.size() == 1);
  CATCH_CHECK(bytes_of(path("rms.pdf")) == before);
  bench.run("figure rms " + path("rms.pdf") + " width=120mm replace");
  CATCH_CHECK(bytes_of(path("rms.pdf")) != before);

  // All that belongs to a figure, or nothing: its table would replace another.
  folder.write("new.csv", "another table");
  bench.run("figure.beside data on");
  bench.run("figure rms " + path("new.pdf"));
  CATCH_CHECK(bench.state().errors.size() == 2);
  CATCH_CHECK_FALSE(std::filesystem::exists(path("new.pdf")));
  CATCH_CHECK(bytes_of(path("new.csv")) == "another table");
}

CATCH_TEST_CASE("figure: the panel says what the command says on standard error, and the log what a file was given") {
  const TempFolder folder;
  SessionBench bench;
  bench.demo("bytes/diff_v2");
  bench.run("run");
  bench.run("select L1.H0");
  bench.run("figure atlas");
  CATCH_CHECK(bench.state().figure.drawn->notes.empty());
  bench.run("figure.set top 5");
  CATCH_REQUIRE(bench.state().figure.drawn->notes == std::vector<std::string>{"--top changes nothing of atlas"});
  bench.run("figure.save " + (folder.path() / "atlas.svg").string());
  const auto said = [&](const std::string& text) {
    for (const Message& message : bench.state().messages)
      if (message.text == text) return true;
    return false;
  };
  CATCH_CHECK(said("atlas.svg: --top changes nothing of atlas"));
  CATCH_CHECK(bench.state().errors.empty());
}

CATCH_TEST_CASE("figure: each kind keeps what was chosen for it, in the next program too") {
  const TempFolder folder;
  {
    SessionBench bench(folder.path());
    bench.demo("bytes/diff_v2");
    bench.run("run");
    bench.run("select L1.H0");
    bench.run("figure rms");
    bench.run("figure.set width 120mm");
    bench.run("figure.format png");
    bench.run("figure.part head off");
    bench.run("figure map");
    bench.run("figure.set head L0.H1");
    bench.run("figure.caption latex");
    CATCH_CHECK(bench.state().figure.look("map").ending == ".pdf");
    bench->finish_files();
  }
  SessionBench bench(folder.path());
  const FigureWish& wish = bench.state().figure;
  CATCH_CHECK((wish.look("rms").options.width == "120mm" && wish.look("rms").ending == ".png"));
  CATCH_CHECK((wish.look("rms").left_out.contains("head") && wish.latex));
  CATCH_CHECK(wish.look("map").options.heads.empty());  // of a run that is no longer there
  CATCH_CHECK(wish.look("map").ending == ".pdf");
}

CATCH_TEST_CASE("figure: what was chosen of a place is of its model and prompt, what was chosen of the look stays") {
  SessionBench bench;
  bench.demo("bytes/diff_v2");
  bench.run("run");
  const auto choose = [&] {
    bench.run("figure map");
    for (const char* line : {"head L0.H1", "rows 3:9", "keys 0:9", "cell 5,2", "width 120mm", "range 1e-4,1"})
      bench.run(std::string("figure.set ") + line);
    bench.run("figure grid");
    bench.run("figure.set layers 0");
    bench.run("overlay.close");
  };
  const auto places = [&] {
    std::string names;
    for (const char* kind : {"map", "grid"})
      for (const ScreenPart& option : chosen_options(bench.state().figure.look(kind)))
        if (names_place(option.name)) names += (names.empty() ? "" : " ") + option.name;
    return names;
  };
  choose();
  CATCH_CHECK(places() == "head rows keys cell layers");
  bench.run("run");  // the same again
  bench.run("what-if hide-key=0");
  bench.run("what-if.complete");
  CATCH_CHECK(places() == "head rows keys cell layers");
  bench.run("prompt " + quote_word("Another prompt, of which nothing was chosen."));
  CATCH_CHECK(places() == "head rows keys cell layers");  // the run that is shown is still of the other one
  bench.run("run");
  CATCH_CHECK(places() == "");
  CATCH_CHECK(chosen_options(bench.state().figure.look("map")) ==
              std::vector<ScreenPart>{{"range", "1e-4,1"}, {"width", "120mm"}});
  // Another model, in the same line of time as what is chosen for it.
  choose();
  bench.demo("bytes/softmax");
  bench.run("run");
  CATCH_CHECK(places() == "");
  CATCH_CHECK(bench.state().figure.look("map").options.width == "120mm");
}

CATCH_TEST_CASE("figure: what was computed here of each head's worth is a figure, with its own file") {
  const TempFolder folder;
  SessionBench bench;
  bench.demo("bytes/diff_v2");
  bench.run("run");
  bench.run("figure sinks");
  CATCH_CHECK(reason_of(bench.state(), "importance") == "needs headroom ablate");
  bench.run("overlay.close");
  bench.run("importance");
  bench.run("importance.run off");
  bench.run("figure.screen map");
  CATCH_CHECK((bench.state().figure.kind == "importance" && bench.state().figure.problem.empty()));
  CATCH_REQUIRE(bench.state().figure.drawn != nullptr);
  CATCH_CHECK_FALSE(bench.state().figure.drawn->error.has_value());
  CATCH_CHECK(reason_of(bench.state(), "importance").empty());
  bench.run("figure.save " + (folder.path() / "worth.svg").string());
  CATCH_CHECK(bench.state().errors.empty());
  const std::filesystem::path run = folder.path() / bench.state().figure.run_file;
  CATCH_REQUIRE(std::filesystem::exists(run));
  CATCH_CHECK(key_of(folder.path() / "worth.svg", "run_sha256") == required(sha256_of_file(run)));
}

CATCH_TEST_CASE("figure: a run that is not whole has none, and its panel says what is there and what to do") {
  SessionBench bench;
  bench.demo("bytes/diff_v2");
  bench.run("run");
  State& state = bench->edit();
  RunEntry& run = state.runs.front();
  auto part = std::make_shared<RunSnapshot>(*run.data);
  part->data.back().reset(), part->complete = false;
  run.data = part, run.status = RunStatus::Cancelled;
  bench.run("figure rms");
  CATCH_CHECK(state.figure.problem ==
              "the run is not finished: 1 of 2 layers are there; run it again (Ctrl+R) for all of them");
  CATCH_CHECK((state.figure.drawn == nullptr && state.figure.command.empty()));
  run.status = RunStatus::Running;
  bench->update(test::seconds_now());
  CATCH_CHECK(state.figure.problem.ends_with("1 of 2 layers are there; the page is drawn as soon as all are"));
  CATCH_CHECK(bench.refusal("figure rms /tmp/never.pdf").find("not finished") != std::string::npos);
  run.status = RunStatus::Done;
}

CATCH_TEST_CASE("figure: a run whose writing is cancelled can be asked for again") {
  SessionBench bench;
  bench.demo("bytes/diff_v2");
  bench.run("run");
  CATCH_REQUIRE(bench->execute("figure rms").has_value());
  bench->update(test::seconds_now());                 // it begins
  CATCH_REQUIRE(bench->runner().compute().cancel());  // as `cancel` does while anything runs
  bench.wait();
  CATCH_CHECK((bench.state().figure.writing.empty() && bench.state().errors.empty()));
  CATCH_CHECK(bench.state().figure.problem.find("cancel") != std::string::npos);
  bench.run("overlay.close");
  bench.run("figure rms");
  CATCH_CHECK(bench.state().figure.problem == "");
  CATCH_REQUIRE(bench.state().figure.drawn != nullptr);
  CATCH_CHECK_FALSE(bench.state().figure.drawn->error.has_value());
}

CATCH_TEST_CASE("figure: what cannot be drawn says why, and a place leads back to its figure") {
  SessionBench bench;
  CATCH_CHECK(bench.refusal("figure").find("nothing has run yet") != std::string::npos);
  bench.demo("bytes/softmax");
  bench.run("run");
  bench.run("figure lambda");
  CATCH_REQUIRE(bench.state().figure.drawn != nullptr);
  CATCH_CHECK(bench.state().figure.drawn->error.has_value());
  CATCH_CHECK(reason_of(bench.state(), "lambda").starts_with("no head has"));
  CATCH_CHECK(bench.refusal("figure sink").find("sinks") != std::string::npos);
  // No run is written for a kind that is drawn of another file.
  bench.run("figure importance");
  CATCH_CHECK(bench.state().figure.problem.starts_with("needs a file of headroom ablate: open one"));
  CATCH_CHECK((bench.state().figure.writing.empty() && bench.state().figure.drawn == nullptr));
  for (const char* what : {"figure.copy command", "figure.copy caption"})
    CATCH_CHECK(bench.refusal(what).find("nothing is drawn yet") != std::string::npos);
  CATCH_CHECK(bench.refusal("figure.set width 3 parsecs").find("width") != std::string::npos);
  bench.run("figure sinks");
  CATCH_CHECK_FALSE(bench.state().figure.drawn->error.has_value());
  bench.run("figure.set width 60mm");
  CATCH_CHECK(bench.state().figure.drawn->width_mm == 60.0);
  bench->run_line("figure.save");
  CATCH_CHECK((bench.state().overlay == Overlay::Save && bench.state().save.kind == SaveKind::Figure));
  CATCH_CHECK(suggested_name(bench.state(), SaveKind::Figure, "").ends_with("_sinks.pdf"));
  bench->run_line("overlay.close");
  CATCH_CHECK(bench.state().overlay == Overlay::Figure);
  bench->run_line("overlay.close");
  CATCH_CHECK(bench.state().overlay == Overlay::None);
}

}  // namespace
}  // namespace headroom
