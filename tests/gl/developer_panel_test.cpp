// Dear ImGui's widgets above the window: seen where they are, deaf where they are not, gone when they are not asked
// for.
#include "app/window/developer_panel.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/window/job_log.h"
#include "tests/gl/pixels.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

// A frame of the loop with the panel; the input that is left for the window below it.
struct PanelScreen {
  explicit PanelScreen(Screen& on) : screen(on), session(Session::Options{}), panel(*on.loop, session, jobs) {}

  Input frame(bool shown, Vec2 pointer, bool pressed = false) {
    screen.loop->wait(0.0);
    static_cast<void>(screen.loop->begin_frame(Color::hex(0x000000)));
    Input input;
    input.window = {0, 0, 800, 600};
    input.pointer = pointer;
    input.pointer_inside = true;
    input.pressed[0] = input.down[0] = pressed;
    input.wheel = {0.0f, 1.0f};
    input.time = time += 0.016;
    if (shown) panel.draw(input);
    screen.loop->end_frame();
    return input;
  }
  [[nodiscard]] std::size_t lit() const {
    const auto image = screen.loop->capture();
    CATCH_REQUIRE(image.has_value());
    std::size_t count = 0;
    for (std::size_t i = 0; i < image->rgb.size(); i += 3)
      count += image->rgb[i] != 0 || image->rgb[i + 1] != 0 || image->rgb[i + 2] != 0 ? 1 : 0;
    return count;
  }

  Screen& screen;
  Session session;
  JobLog jobs;
  DeveloperPanel panel;
  double time = 0.0;
};

}  // namespace

CATCH_TEST_CASE("the developer panel is drawn above the window, takes the pointer where it is, and leaves no trace",
                "[gl]") {
  const auto screen = Screen::open(800, 600);
  if (!screen) return;
  PanelScreen with(*screen);
  with.jobs.add("layer", 1.0, 1.25);
  static_cast<void>(with.frame(false, {10, 10}));
  CATCH_CHECK(with.lit() == 0);
  CATCH_CHECK(screen->loop->painter().work().widget_vertices == 0);
  for (int i = 0; i < 3; ++i) static_cast<void>(with.frame(true, {10, 10}));
  CATCH_CHECK(with.lit() > 50'000);
  CATCH_CHECK(screen->loop->painter().work().widget_vertices > 1000);
  CATCH_CHECK(screen->loop->painter().work().vertices == 0);  // of the painter itself

  // Beside it the window has the pointer, over it the panel.
  const Input beside = with.frame(true, {10, 10}, /*pressed=*/true);
  CATCH_CHECK((beside.pointer_inside && beside.pressed[0] && beside.wheel.y == 1.0f));
  for (int i = 0; i < 2; ++i) static_cast<void>(with.frame(true, {600, 300}));
  const Input over = with.frame(true, {600, 300}, /*pressed=*/true);
  CATCH_CHECK_FALSE((over.pointer_inside || over.pressed[0] || over.wheel.y != 0.0f));

  static_cast<void>(with.frame(false, {600, 300}));
  CATCH_CHECK(with.lit() == 0);
  CATCH_CHECK(screen->loop->gl_error_count() == 0);
}

CATCH_TEST_CASE("the close button of the developer panel asks for the command", "[gl]") {
  const auto screen = Screen::open(800, 600);
  if (!screen) return;
  PanelScreen with(*screen);
  CATCH_REQUIRE(with.session.execute("developer on").has_value());
  // The button is in the corner of the panel, which ends 12 pixels from the window's edge.
  const Vec2 close{778, 90};
  for (int i = 0; i < 3; ++i) static_cast<void>(with.frame(true, close));
  CATCH_CHECK(with.session.state().developer);
  static_cast<void>(with.frame(true, close, /*pressed=*/true));
  for (int i = 0; i < 2; ++i) static_cast<void>(with.frame(true, close));
  CATCH_CHECK_FALSE(with.session.state().developer);
}

CATCH_TEST_CASE("the log of jobs keeps the last ones, whichever thread they were on") {
  JobLog log;
  CATCH_CHECK(log.latest().empty());
  log.add("open", 2.0, 2.5);
  log.add("layer", 3.0, 3.125);
  const std::vector<JobLog::Job> two = log.latest();
  CATCH_REQUIRE(two.size() == 2);
  CATCH_CHECK((two[0].name == "layer" && two[0].begin_s == 3.0 && two[0].seconds == 0.125));
  CATCH_CHECK((two[1].name == "open" && two[1].seconds == 0.5));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&log] {
      for (int i = 0; i < 500; ++i) log.add("tile", 0.0, 1.0);
    });
  for (std::thread& thread : threads) thread.join();
  CATCH_CHECK(log.count() == 2002);
  CATCH_CHECK(log.latest().size() == JobLog::kKept);
  log.add("last", 0.0, 0.0);
  CATCH_CHECK(log.latest().front().name == "last");
}

}  // namespace headroom::test
