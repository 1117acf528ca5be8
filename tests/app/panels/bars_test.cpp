#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "app/panels/chrome/bars.h"
#include "app/panels/chrome/menu_bar.h"
#include "app/panels/chrome/status_bar.h"
#include "app/panels/chrome/tool_bar.h"
#include "app/panels/chrome/window_layout.h"
#include "app/panels/panel.h"
#include "app/panels/parts/panel_title.h"
#include "tests/app/panels/bars_bench.h"
#include "tests/support/catch.h"

namespace headroom {
namespace {

using test::PanelBench;
using test::show_run;
using test::small_run;

PanelBench tool_bar() {
  return PanelBench([](PanelContext& c) { draw_tool_bar(c, window_layout(c.ui.input.window, c.state).tool_bar); });
}
PanelBench menu_bar() {
  return PanelBench([](PanelContext& c) { draw_menu_bar(c, window_layout(c.ui.input.window, c.state).menu); });
}
PanelBench status_bar() {
  return PanelBench([](PanelContext& c) { draw_status_bar(c, window_layout(c.ui.input.window, c.state).status); });
}

CATCH_TEST_CASE("tool bar: what its buttons are called is whole at every width") {
  for (const float width : {427.0f, 533.0f, 640.0f, 699.0f, 700.0f, 1024.0f})
    for (const bool compares : {false, true}) {
      CATCH_INFO(width << (compares ? " compared" : ""));
      PanelBench bench([](PanelContext& c) { draw_tool_bar(c, {0.0f, 28.0f, c.ui.input.window.x1, 68.0f}); },
                       {width, 400.0f});
      show_run(bench.state, small_run(false));
      if (compares) {
        RunEntry other = *bench.state.shown();
        bench.state.view.other_run = other.id = 77;
        bench.state.runs.push_back(other);
        bench.state.view.centre = CentreView::Compare;
      }
      bench.frame();
      CATCH_CHECK(bench.shows(compares ? "Run B" : "Run"));
      if (!compares) CATCH_CHECK(bench.shows(width < 1024.0f ? "CPU" : "CPU · fp32"));
      CATCH_CHECK(bench.wrong().empty());
    }
}

CATCH_TEST_CASE("tool bar: nothing open says what to do, and Run does nothing") {
  PanelBench bench = tool_bar();
  bench.frame();
  CATCH_CHECK(bench.shows("none open"));
  CATCH_CHECK(bench.shows("open a checkpoint first"));
  bench.click(bench.place("Run"));
  CATCH_CHECK(bench.taken().empty());
}

CATCH_TEST_CASE("tool bar: a finished run, its prompt, its count of heads") {
  PanelBench bench = tool_bar();
  show_run(bench.state, small_run(false));
  bench.frame();
  CATCH_CHECK(bench.shows("SmolLM2-135M"));
  CATCH_CHECK(bench.shows("GPL-3, 4 tokens"));
  CATCH_CHECK(bench.shows("CPU · fp32"));
  CATCH_CHECK(bench.shows("done"));
  CATCH_CHECK(bench.shows("1 head in 1.84 s"));
  CATCH_CHECK(bench.wrong() == "");
}

CATCH_TEST_CASE("tool bar: a changed run says what is changed, beside the checkpoint's name") {
  PanelBench bench = tool_bar();
  show_run(bench.state, small_run(false));
  bench.frame();
  CATCH_CHECK_FALSE(bench.shows("temperature"));
  bench.state.runs[0].what_ifs = {"L1.H0:temperature=1.5"};
  bench.frame();
  CATCH_CHECK(bench.shows("temperature 1.5 in L1.H0"));
  CATCH_CHECK(bench.shows("1 head in 1.84 s"));
  CATCH_CHECK(bench.wrong() == "");
}

CATCH_TEST_CASE("tool bar: a running one can be cancelled and tells how far it is") {
  PanelBench bench = tool_bar();
  show_run(bench.state, nullptr);
  RunEntry& run = bench.state.runs[0];
  run.status = RunStatus::Running;
  run.fraction = 0.4;
  run.doing = "layer 12 of 30";
  run.seconds_left = 3.6;
  bench.frame();
  CATCH_CHECK(bench.shows("layer 12 of 30"));
  CATCH_CHECK(bench.shows("left"));
  CATCH_CHECK(bench.wrong() == "");
  float done = 0.0f, all = 0.0f;
  for (const RecordedShape& shape : bench.painter->shapes()) {
    if (shape.bounds.height() != 4.0f) continue;
    (shape.color == bench.theme().accent ? done : all) = shape.bounds.width();
  }
  CATCH_CHECK(all == 300.0f);
  CATCH_CHECK(done == 120.0f);
  bench.click(bench.place("Cancel"));
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"cancel"});
}

CATCH_TEST_CASE("tool bar: states of a run are named") {
  PanelBench bench = tool_bar();
  show_run(bench.state, small_run(false));
  bench.state.runs[0].status = RunStatus::Cancelled;
  bench.frame();
  CATCH_CHECK((bench.shows("cancelled") && bench.shows("partial")));
  bench.state.runs[0].status = RunStatus::Failed;
  bench.state.runs[0].error = Error(ErrorCode::OutOfMemory, "the run needs 12 GB");
  bench.frame();
  CATCH_CHECK((bench.shows("failed") && bench.shows("the run needs 12 GB")));
  bench.state.runs.clear();
  bench.frame();
  CATCH_CHECK(bench.shows("not run yet"));
  bench.state.models[0].opening = true;
  bench.frame();
  CATCH_CHECK(bench.shows("opening"));
  // Nothing but what is being opened: its name is there already.
  bench.state.model = -1;
  bench.state.models[0].name = "large.gguf";
  bench.frame();
  CATCH_CHECK((bench.shows("opening") && bench.shows("large.gguf")));
  CATCH_CHECK_FALSE(bench.shows("none open"));
}

CATCH_TEST_CASE("tool bar: the checkpoint combo lists what is open, recent, demos, and how to open more") {
  PanelBench bench = tool_bar();
  show_run(bench.state, small_run(false));
  bench.state.recent.push_back({"/r/one.h5", "one.h5", "", 0, 0, false});
  bench.frame();
  bench.click(bench.place("checkpoint"));
  CATCH_CHECK(bench.shows("Recent"));
  CATCH_CHECK(bench.shows("Demos"));
  CATCH_CHECK(bench.shows("Open…"));
  bench.move(bench.place("Recent"));
  CATCH_REQUIRE(bench.shows("one.h5"));
  CATCH_CHECK(bench.wrong() == "");
  bench.click(bench.place("one.h5"));
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"open.run /r/one.h5"});
}

CATCH_TEST_CASE("tool bar: comparing shows A, B and what is linked") {
  PanelBench bench = tool_bar();
  show_run(bench.state, small_run(false));
  RunEntry other = bench.state.runs[0];
  other.id = 3;
  other.name = "bytes/softmax · off-by-one";
  bench.state.runs.push_back(other);
  bench.state.view.other_run = 3;
  bench.state.view.centre = CentreView::Compare;
  bench.frame();
  CATCH_CHECK(bench.shows("bytes/softmax · off-by-one"));
  CATCH_CHECK(bench.shows("both done"));
  CATCH_CHECK(bench.shows("same tokens"));
  bench.state.runs[1].data = small_run(true);
  auto changed = std::make_shared<RunSnapshot>(*bench.state.runs[1].data);
  auto prompt = std::make_shared<Prompt>(*changed->prompt);
  prompt->ids[0] = 9;
  changed->prompt = prompt;
  bench.state.runs[1].data = changed;
  bench.frame();
  CATCH_CHECK_FALSE(bench.shows("same tokens"));
}

CATCH_TEST_CASE("menu bar: every item is a line that the table of commands knows") {
  PanelBench bench = menu_bar();
  bench.frame();
  for (const char* title : {"File", "View", "Run", "Compare", "Export", "Help"}) {
    CATCH_CHECK(bench.shows(title));
    bench.click(bench.place(title));
    CATCH_CHECK(bench.wrong() == "");
    bench.key(Key::Escape);
    bench.key(Key::Escape);
  }
  CATCH_CHECK(bench.taken().empty());
  bench.click(bench.place("Help"));
  bench.click(bench.place("Keys"));
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"keys"});
  bench.click(bench.place("Command palette"));
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"palette"});
  bench.key(Key::F10);
  bench.frame();
  CATCH_CHECK(bench.shows("Open recent"));
}

CATCH_TEST_CASE("menu bar: a command that needs a text opens the palette with it") {
  PanelBench bench = menu_bar();
  show_run(bench.state, small_run(false));
  bench.frame();
  bench.click(bench.place("View"));
  bench.move(bench.place("Map"));
  bench.click(bench.place("Zoom to a range of tokens"));
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"palette zoom"});
}

CATCH_TEST_CASE("menu bar: Export begins with what is saved, copies are one item") {
  PanelBench bench = menu_bar();
  show_run(bench.state, small_run(false));
  bench.frame();
  bench.click(bench.place("Export"));
  bench.frame();
  const float first = bench.place("Save…").y;
  for (const char* later : {"Save the run", "Picture of a panel", "Lasso:", "Figure for a paper", "Copy"}) {
    CATCH_INFO(later);
    CATCH_CHECK(bench.place(later).y > first);
  }
  CATCH_CHECK_FALSE(bench.shows("as CSV"));
}

CATCH_TEST_CASE("tool bar: a prompt from a file is chosen in the chooser") {
  PanelBench bench = tool_bar();
  show_run(bench.state, small_run(false));
  bench.frame();
  bench.click(bench.place("GPL-3, 4 tokens"));
  bench.frame();
  bench.click(bench.place("From a text file"));
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"prompt.browse"});
}

CATCH_TEST_CASE("menu bar: what is saved asks for its file in the save panel") {
  PanelBench bench = menu_bar();
  bench.frame();
  bench.click(bench.place("Export"));
  bench.click(bench.place("Save a picture of the window…"));
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"screenshot"});
}

CATCH_TEST_CASE("status bar: the cell under the pointer, exact") {
  PanelBench bench = status_bar();
  show_run(bench.state, small_run(false));
  bench.state.hover.query = 2;
  bench.state.hover.key = 1;
  bench.readouts.map = "at 1 cell per pixel, exact";
  bench.frame();
  CATCH_CHECK(bench.shows("2 “x”"));
  CATCH_CHECK(bench.shows("1 “␣Public”"));
  // Row 2 sees logits 0, 1, 2: a = e / (1 + e + e²), the largest e² / (1 + e + e²).
  CATCH_CHECK(bench.shows("0.245"));
  CATCH_CHECK(bench.shows("0.665"));
  CATCH_CHECK(bench.shows("1.00"));
  CATCH_CHECK(bench.shows("row max"));
  CATCH_CHECK(bench.shows("at 1 cell per pixel, exact"));
  CATCH_CHECK(bench.shows("CPU · fp32"));
  CATCH_CHECK(bench.wrong() == "");
}

CATCH_TEST_CASE("status bar: a differential cell, a masked one, a pinned one") {
  PanelBench bench = status_bar();
  show_run(bench.state, small_run(true));
  bench.state.view.selection.query = 1;
  bench.state.view.selection.key = 0;
  bench.frame();
  // a¹ = 1 / (1 + e), a² = e³ / (e³ + e²): w = 0.269 − 0.5 · 0.731.
  CATCH_CHECK(bench.shows("0.269"));
  CATCH_CHECK(bench.shows("0.731"));
  CATCH_CHECK(bench.shows("0.500"));
  CATCH_CHECK(bench.shows("−0.0966"));
  CATCH_CHECK_FALSE(bench.shows("row max"));
  bench.state.hover.key = 3;
  bench.frame();
  CATCH_CHECK(bench.shows("masked"));
  CATCH_CHECK_FALSE(bench.shows("0.269"));
}

CATCH_TEST_CASE("status bar: warnings lead to the messages, and what is not known is not shown") {
  PanelBench bench = status_bar();
  bench.state.unseen_warnings = 2;
  bench.state.memory_bytes = 1.2e9;
  bench.state.ready_seconds = 0.42;
  bench.frame();
  CATCH_CHECK(bench.shows("Ready in 0.4 s"));
  CATCH_CHECK(bench.shows("LibTorch is loading"));
  CATCH_CHECK(bench.shows("1.2 GB"));
  CATCH_CHECK_FALSE(bench.shows("no GPU found"));
  bench.click(bench.place("2 warnings"));
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"log"});
  bench.state.unseen_errors = 1;
  bench.frame();
  CATCH_CHECK(bench.shows("1 error, 2 warnings"));
  bench.state.unseen_warnings = 0;
  bench.frame();
  CATCH_CHECK(bench.shows("1 error"));
  bench.click(bench.place("1 error"));
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"log"});
  bench.state.device.loading = false;
  bench.state.device.info.emplace();
  bench.state.device.info->threads = 2;
  bench.state.device.info->cuda_note = "no NVIDIA driver";
  bench.frame();
  CATCH_CHECK(bench.shows("no GPU found"));
  CATCH_CHECK(bench.shows("CPU · 2 threads"));
}

CATCH_TEST_CASE("status bar: a head under the pointer shows the quantity of the atlas") {
  PanelBench bench = status_bar();
  show_run(bench.state, small_run(false));
  bench.state.hover.head = HeadRef{0, 0};
  bench.frame();
  CATCH_CHECK(bench.shows("L0.H0"));
  CATCH_CHECK(bench.shows("0.793"));
}

CATCH_TEST_CASE("panel title: what it is about, elided, with buttons that maximise and fold") {
  PanelBench bench([](PanelContext& c) {
    const Rect frame{0, 69, 300, 400};
    c.painter().begin_panel("map", frame);
    const Rect body =
        draw_panel_title(c, frame, "map", "Map", "L17.H4", "softmax · a model whose name is longer than the bar");
    CATCH_CHECK(body == Rect{0, 99, 300, 400});
    c.painter().end_panel();
  });
  bench.state.panels_shown = {"map"};
  bench.frame();
  CATCH_CHECK((bench.shows("Map") && bench.shows("L17.H4") && bench.shows("…")));
  CATCH_CHECK(bench.wrong() == "");
  bench.click({283, 84});
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"panel.maximise map"});
  bench.click({150, 84}, 2);
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"panel.maximise map"});
}

CATCH_TEST_CASE("bars: times of recent files") {
  std::tm parts{};
  parts.tm_year = 126;
  parts.tm_mon = 2;
  parts.tm_mday = 10;
  parts.tm_hour = 9;
  parts.tm_min = 41;
  parts.tm_isdst = -1;
  const std::int64_t then = std::mktime(&parts);
  CATCH_CHECK(when_text(then, then + 3600) == "today 09:41");
  CATCH_CHECK(when_text(then, then + 86400) == "yesterday");
  CATCH_CHECK(when_text(then, then + 5 * 86400) == "10 Mar");
  CATCH_CHECK(when_text(then, then + 400 * 86400) == "10 Mar 2026");
  CATCH_CHECK(when_text(0, then) == "");
}

CATCH_TEST_CASE("bars: devices, types and subjects") {
  CATCH_CHECK(device_text("cuda:1") == "CUDA 1");
  CATCH_CHECK(dtype_text("bfloat16") == "bf16");
  CATCH_CHECK(without_subject("Map: log₁₀ scale") == "Log₁₀ scale");
  CATCH_CHECK(without_subject("Quit") == "Quit");
}

}  // namespace
}  // namespace headroom
