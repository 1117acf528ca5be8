// Bars, start page and overlays at all sizes, scales and themes, with names that people should not choose: no text
// leaves its panel, is cut or touches another.
#include <cstddef>
#include <string>
#include <vector>

#include "app/panels/chrome/bars.h"
#include "app/panels/chrome/error_cards.h"
#include "app/panels/chrome/menu_bar.h"
#include "app/panels/chrome/overlay.h"
#include "app/panels/chrome/start_page.h"
#include "app/panels/chrome/status_bar.h"
#include "app/panels/chrome/tool_bar.h"
#include "app/panels/chrome/window_layout.h"
#include "app/panels/panel.h"
#include "tests/app/panels/bars_bench.h"
#include "tests/support/catch.h"

namespace headroom {
namespace {

using test::PanelBench;

void draw_all(PanelContext& c) {
  const WindowLayout layout = window_layout(c.ui.input.window, c.state);
  draw_menu_bar(c, layout.menu);
  draw_tool_bar(c, layout.tool_bar);
  if (!layout.start.empty()) draw_start_page(c, layout.start);
  if (!c.state.errors.empty()) draw_error_cards(c, layout.start.empty() ? layout.centre.rect : layout.start);
  draw_status_bar(c, layout.status);
  draw_overlay(c, c.ui.input.window);
}

void hostile(State& state) {
  const std::vector<std::string> names = test::hostile_names();
  for (const std::string& name : names) {
    state.recent.push_back(
        {"/home/" + name + "/x", name, name, 1'760'000'000, 123'456'789, state.recent.size() % 3 == 2});
    state.demos.push_back({"/demo/trigger/" + name, name, name + " " + name, name, ""});
    state.messages.push_back({MessageLevel::Warning, name, "09:41:07"});
  }
  state.unseen_warnings = 12345;
  state.memory_bytes = 123.4e9;
  state.ready_seconds = 0.4;
  state.prompt.title = names[1];
  state.device.failed = names[0];
}

CATCH_TEST_CASE("bars, start page and overlays at all sizes, scales and themes") {
  const std::vector<std::string> names = test::hostile_names();
  for (const Vec2 size : {Vec2{1024, 640}, Vec2{1440, 900}, Vec2{2560, 1440}}) {
    for (const float scale : {0.75f, 1.0f, 1.5f, 2.0f}) {
      for (const bool dark : {true, false}) {
        for (const bool open : {false, true}) {
          for (int overlay = 0; overlay < 9; ++overlay) {
            PanelBench bench(draw_all, size, scale);
            hostile(bench.state);
            bench.state.settings.dark = dark;
            bench.state.overlay = static_cast<Overlay>(overlay);
            if (open) {
              test::show_run(bench.state, test::small_run(overlay % 2 == 1, {names[0], names[2], names[3], names[5]}),
                             names[static_cast<std::size_t>(overlay) % names.size()]);
              bench.state.hover.query = 3;
              bench.state.hover.key = 1;
              bench.readouts.map = names[0];
            }
            if (overlay % 4 == 3)
              bench.state.errors.push_back({1, names[0], Error(ErrorCode::Io, names[4]), "run", names[1]});
            for (int i = 0; i < 3; ++i) {
              bench.frame();
              CATCH_INFO(size.x << " x " << size.y << " at " << scale << (open ? ", open" : "") << ", overlay "
                                << overlay);
              CATCH_REQUIRE(bench.wrong() == "");
              // Then with a rested pointer, for what a hover shows, and scrolled.
              bench.input.pointer = {0.5f * bench.input.window.x1, 0.6f * bench.input.window.y1};
              bench.input.pointer_inside = true;
              bench.input.wheel.y = -1.5f;
              bench.input.time += 1.0;
            }
          }
        }
      }
    }
  }
}

CATCH_TEST_CASE("menus with hostile names at all sizes") {
  for (const Vec2 size : {Vec2{1024, 640}, Vec2{1440, 900}}) {
    for (const float scale : {1.0f, 2.0f}) {
      PanelBench bench(draw_all, size, scale);
      hostile(bench.state);
      bench.frame();
      for (const char* title : {"File", "View", "Run", "Compare", "Export", "Help"}) {
        bench.click(bench.place(title));
        for (int i = 0; i < 4; ++i) {
          CATCH_INFO(title << " at " << size.x << ", " << scale);
          CATCH_REQUIRE(bench.wrong() == "");
          bench.key(Key::Down);
          bench.key(Key::Right);
          CATCH_REQUIRE(bench.wrong() == "");
          bench.key(Key::Left);
          bench.frame();
        }
        bench.key(Key::Escape);
        bench.key(Key::Escape);
        bench.key(Key::Escape);
        bench.frame();
      }
    }
  }
}

CATCH_TEST_CASE("tool bar while a run goes on, at all widths") {
  for (float width = 512.0f; width <= 2000.0f; width += 37.0f) {
    PanelBench bench(draw_all, {width, 700.0f});
    test::show_run(bench.state, nullptr, test::hostile_names()[1]);
    RunEntry& run = bench.state.runs[0];
    run.status = RunStatus::Running;
    run.fraction = 0.3;
    run.doing = "layer 12 of 30";
    run.seconds_left = 3.6;
    bench.frame();
    CATCH_INFO(width);
    CATCH_CHECK(bench.wrong() == "");
    if (width >= 700.0f) CATCH_CHECK(bench.shows("layer 12 of 30"));
  }
}

}  // namespace
}  // namespace headroom
