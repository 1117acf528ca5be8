#include <string>
#include <vector>

#include "app/panels/chrome/start_page.h"
#include "app/panels/chrome/window_layout.h"
#include "app/panels/panel.h"
#include "tests/app/panels/bars_bench.h"
#include "tests/support/catch.h"

namespace headroom {
namespace {

using test::PanelBench;
using Lines = std::vector<std::string>;

PanelBench start_page() {
  return PanelBench([](PanelContext& c) { draw_start_page(c, window_layout(c.ui.input.window, c.state).start); });
}

CATCH_TEST_CASE("start page: empty lists say what would be there") {
  PanelBench bench = start_page();
  bench.frame();
  CATCH_CHECK(bench.shows("Drop a checkpoint or a run file here"));
  CATCH_CHECK(bench.shows(
      "a model folder, .safetensors, .gguf, .pt, .pth, .bin, .ckpt, .npz, a headroom run (.h5), or several to compare"));
  CATCH_CHECK(bench.shows("What you open is listed here"));
  CATCH_CHECK(bench.shows("assets/demo is missing"));
  CATCH_CHECK(bench.wrong() == "");
  bench.click(bench.place("Open…"));
  CATCH_CHECK(bench.taken() == Lines{"open.dialog"});
  bench.click({500, 180});
  CATCH_CHECK(bench.taken() == Lines{"open.dialog"});
}

CATCH_TEST_CASE("start page: recent files open, missing ones are dimmed and looked for, demos run") {
  PanelBench bench = start_page();
  bench.state.recent = {{"/models/Smol LM", "SmolLM2-135M", "30 layers × 9 heads", 1'760'000'000, 513'000'000, false},
                        {"/old/pythia", "pythia-160m", "12 layers", 1'700'000'000, 1, true}};
  bench.state.demos = {
      {"/demo/trigger/diff_v2", "Trigger task", "softmax must park attention", "6 variants, 16 tokens", ""}};
  bench.frame();
  CATCH_CHECK(bench.shows("513 MB"));
  CATCH_CHECK(bench.shows("moved or deleted"));
  CATCH_CHECK(bench.painter->find("pythia-160m").front()->style.color == bench.theme().off);
  CATCH_CHECK(bench.painter->find("SmolLM2-135M").front()->style.color == bench.theme().text);
  bench.click(bench.place("SmolLM2-135M"));
  bench.click(bench.place("pythia-160m"));
  bench.click(bench.place("Trigger task"));
  bench.click(bench.place("clear the list"));
  CATCH_CHECK(bench.taken() == Lines{"open.run \"/models/Smol LM\"", "open.panel /old",
                                     "open.run /demo/trigger/diff_v2", "clear-recent"});
}

CATCH_TEST_CASE("start page: as the design has it at 1440 × 900") {
  PanelBench bench = start_page();
  bench.state.recent = {{"/m", "SmolLM2-135M", "", 0, 0, false}};
  bench.state.demos = {{"/d", "Trigger task", "", "", ""}};
  bench.frame();
  CATCH_CHECK(bench.painter->find("Headroom").front()->baseline.x == 120.0f);
  CATCH_CHECK(bench.painter->find("Drop a").front()->baseline.x == 208.0f);
  CATCH_CHECK(bench.painter->find("Recent").front()->baseline.x == 120.0f);
  CATCH_CHECK(bench.painter->find("Demos").front()->baseline.x == 736.0f);
  CATCH_CHECK(bench.painter->find("Trigger task").front()->baseline.x == 832.0f);
}

CATCH_TEST_CASE("start page: a small window scrolls to the last demo") {
  PanelBench bench([](PanelContext& c) { draw_start_page(c, window_layout(c.ui.input.window, c.state).start); },
                   {1024, 640}, 2.0f);
  for (int i = 0; i < 4; ++i)
    bench.state.demos.push_back({"/d" + std::to_string(i), "demo " + std::to_string(i), "a line", "detail", ""});
  bench.frame();
  CATCH_CHECK_FALSE(bench.shows("demo 3"));
  bench.move({250, 200});
  bench.input.wheel.y = -100.0f;
  bench.frame();
  bench.frame();
  CATCH_CHECK(bench.shows("demo 3"));
  CATCH_CHECK(bench.wrong() == "");
}

}  // namespace
}  // namespace headroom
