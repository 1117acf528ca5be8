// What ImguiPainter puts on device pixels: edges, hairlines, layers, clips, many vertices, text, points; and what GL
// itself reports.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "app/gl/gl_errors.h"
#include "app/gl/point_raster.h"
#include "app/gl/point_renderer.h"
#include "app/gl/shader.h"
#include "tests/gl/pixels.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

constexpr Color kWhite = Color::hex(0xFFFFFF), kRed = Color::hex(0xFF0000), kGreen = Color::hex(0x00FF00);

int count_of(const PixelImage& image, int color, int x0, int y0, int x1, int y1) {
  int count = 0;
  for (int y = y0; y < y1; ++y) {
    for (int x = x0; x < x1; ++x) count += pixel(image, x, y) == color;
  }
  return count;
}

}  // namespace

CATCH_TEST_CASE("hairlines are whole device pixels at every scale and place", "[gl]") {
  for (const float scale : {1.0f, 1.25f, 1.5f, 2.0f}) {
    const auto screen = Screen::open(200, 100, scale);
    if (!screen) return;
    const int width = static_cast<int>(std::floor(scale + 0.5f));
    for (const float y : {10.0f, 10.25f, 10.5f, 10.9f}) {
      const PixelImage shown = screen->frame([&](ImguiPainter& p) {
        p.line({8, y}, {40, y}, kWhite);
        p.line({80 + y, 40}, {80 + y, 60}, kWhite);
      });
      const int from = static_cast<int>(std::floor(8 * scale + 0.5f)),
                to = static_cast<int>(std::floor(40 * scale + 0.5f));
      CATCH_CHECK(count_of(shown, 0xFFFFFF, 0, 0, shown.width, static_cast<int>(30 * scale)) == (to - from) * width);
      CATCH_CHECK(count_of(shown, 0, 0, 0, shown.width, shown.height) ==
                  shown.width * shown.height - (to - from) * width - static_cast<int>(std::lround(20 * scale)) * width);
    }
    CATCH_CHECK(screen->loop->gl_error_count() == 0);
  }
}

CATCH_TEST_CASE("neighbouring rectangles meet without gap or overlap", "[gl]") {
  const auto screen = Screen::open(200, 100, 1.25f);
  if (!screen) return;
  const PixelImage shown = screen->frame([](ImguiPainter& p) {
    for (int i = 0; i < 30; ++i) {
      const float x = 3.3f + 5.37f * static_cast<float>(i);
      p.fill_rect({x, 10, x + 5.37f, 20}, kWhite.faded(0.5f));
    }
  });
  const int x0 = static_cast<int>(std::floor(3.3f * 1.25f + 0.5f)),
            x1 = static_cast<int>(std::floor((3.3f + 5.37f * 30) * 1.25f + 0.5f));
  const int half = pixel(shown, x0, 15);
  CATCH_CHECK((half == 0x808080 || half == 0x7F7F7F));
  CATCH_CHECK(count_of(shown, half, x0, 15, x1, 16) == x1 - x0);
  CATCH_CHECK(pixel(shown, x0 - 1, 15) == 0);
  CATCH_CHECK(pixel(shown, x1, 15) == 0);
}

CATCH_TEST_CASE("a frame lies inside its rectangle", "[gl]") {
  const auto screen = Screen::open(100, 100);
  if (!screen) return;
  const PixelImage shown = screen->frame([](ImguiPainter& p) {
    p.stroke_rect({10, 10, 30, 25}, kWhite);
    p.stroke_rect({50, 10, 80, 40}, kWhite, 2.0f, 4.0f);
  });
  CATCH_CHECK(count_of(shown, 0xFFFFFF, 10, 10, 30, 25) == 2 * 20 + 2 * 13);
  CATCH_CHECK(count_of(shown, 0, 0, 0, 50, 100) == 5000 - 66);
  CATCH_CHECK(count_of(shown, 0, 50, 10, 80, 40) < 900);
  CATCH_CHECK(count_of(shown, 0, 50, 0, 100, 100) == count_of(shown, 0, 50, 10, 80, 40) + 5000 - 900);
  CATCH_CHECK(pixel(shown, 65, 10) == 0xFFFFFF);
  CATCH_CHECK(pixel(shown, 65, 11) == 0xFFFFFF);
  CATCH_CHECK(pixel(shown, 65, 12) == 0);
}

CATCH_TEST_CASE("layers lie in order, whatever the order of the calls, and clips cut maps, points, clears and shapes",
                "[gl]") {
  const auto screen = Screen::open(400, 300);
  if (!screen) return;
  std::vector<Vec2> many;
  for (int i = 0; i < 5000; ++i)
    many.push_back({static_cast<float>(i % 400) + 0.5f, static_cast<float>((i * 7) % 300) + 0.5f});
  const PixelImage shown = screen->frame([&](ImguiPainter& p) {
    p.set_layer(Layer::Overlay);
    p.fill_rect({20, 20, 60, 60}, kRed);
    p.set_layer(Layer::Base);
    p.fill_rect({0, 0, 400, 300}, kGreen);  // large: cleared
    p.push_clip({100, 100, 140, 140});
    p.points(many, kWhite, 30.0f);
    p.fill_rect({0, 0, 120, 300}, kRed);
    p.push_clip({130, 0, 300, 300});
    p.fill_rect({0, 0, 400, 300}, Color::hex(0x0000FF));
    p.pop_clip();
    p.pop_clip();
  });
  CATCH_CHECK(count_of(shown, 0xFF0000, 20, 20, 60, 60) == 1600);
  CATCH_CHECK(count_of(shown, 0xFF0000, 100, 100, 120, 140) == 800);
  CATCH_CHECK(count_of(shown, 0xFFFFFF, 120, 100, 130, 140) == 400);
  CATCH_CHECK(count_of(shown, 0x0000FF, 130, 100, 140, 140) == 400);
  CATCH_CHECK(count_of(shown, 0x00FF00, 0, 0, 400, 300) == 400 * 300 - 3200);
}

CATCH_TEST_CASE("more vertices than 16 bits count", "[gl]") {
  const auto screen = Screen::open(400, 300);
  if (!screen) return;
  const PixelImage shown = screen->frame([](ImguiPainter& p) {
    for (int i = 0; i < 60000; ++i) {
      const auto x = static_cast<float>(i % 400), y = static_cast<float>(i / 400);
      p.fill_rect({x, y, x + 1, y + 1}, Color::hex(static_cast<std::uint32_t>(i + 1)));
    }
  });
  int wrong = 0;
  for (int i = 0; i < 60000; ++i) wrong += pixel(shown, i % 400, i / 400) != i + 1;
  CATCH_CHECK(wrong == 0);
}

CATCH_TEST_CASE("text lies on its baseline, inside its measured width, and turns about its beginning", "[gl]") {
  const auto screen = Screen::open(300, 300);
  if (!screen) return;
  const TextStyle style{Face::Mono, 20.0f, kWhite};
  const float width = screen->loop->painter().measure().width("HHHH", Face::Mono, 20.0f);
  const PixelImage flat = screen->frame([&](ImguiPainter& p) { p.text({100, 150}, "HHHH", style); });
  const PixelImage up = screen->frame([&](ImguiPainter& p) { p.text({100, 150}, "HHHH", style, 1.5707963f); });
  const int end = 100 + static_cast<int>(std::ceil(width));
  CATCH_CHECK(count_of(flat, 0, 0, 0, 300, 300) < 90000 - 100);
  CATCH_CHECK(count_of(flat, 0, 100, 120, end, 150) == count_of(flat, 0, 0, 0, 300, 300) - (90000 - 30 * (end - 100)));
  CATCH_CHECK(count_of(flat, 0, 100, 149, end, 150) < end - 100);  // it stands on the baseline
  CATCH_CHECK(count_of(up, 0, 70, 150 - (end - 100), 101, 151) ==
              count_of(up, 0, 0, 0, 300, 300) - (90000 - 31 * (end - 100 + 1)));
  const PixelImage again = screen->frame([&](ImguiPainter& p) { p.text({100, 150}, "HHHH", style); });
  CATCH_CHECK((again.rgb == flat.rgb));
}

CATCH_TEST_CASE("points counted per pixel are the points drawn one over the other", "[gl]") {
  const auto screen = Screen::open(320, 240);
  if (!screen) return;
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  std::vector<Vec2> centres;
  for (int i = 0; i < 20000; ++i) centres.push_back({160 + 60 * normal(random), 120 + 50 * normal(random)});
  for (const float size : {1.0f, 2.0f, 3.0f}) {
    PixelImage shown[2];
    for (const PointMethod method : {PointMethod::Vertices, PointMethod::Counted}) {
      auto renderer = PointRenderer::create(HEADROOM_SOURCE_SHADERS, method);
      CATCH_REQUIRE(renderer);
      const PointDraw draw = (*renderer)->prepare(centres, Color{120, 200, 255, 40}, size, 1.0f, {0, 0, 320, 240});
      shown[method == PointMethod::Counted] = picture_of(320, 240, [&] { (*renderer)->draw(draw, 320, 240); });
    }
    // 8 bits a layer lose up to half a step at each of many layers; a missing or an extra square costs 18 and more. At
    // the frame's own edge GL leaves out points whose centres lie outside.
    int worst = 0;
    long sum = 0;
    for (int y = 2; y < 238; ++y) {
      for (int x = 2 * 3; x < 318 * 3; ++x) {
        const std::size_t i = static_cast<std::size_t>(y * 320 * 3 + x);
        worst = std::max(worst, std::abs(shown[0].rgb[i] - shown[1].rgb[i]));
        sum += shown[1].rgb[i];
      }
    }
    CATCH_CHECK(worst <= 6);
    CATCH_CHECK(sum > 100000);
  }
  CATCH_CHECK(screen->loop->gl_error_count() == 0);
}

CATCH_TEST_CASE("a shader that does not compile is reported and the old program stays", "[gl]") {
  const auto screen = Screen::open(64, 64);
  if (!screen) return;
  const TempFolder folder;
  const auto write = [&](const char* name, const std::string& text) { std::ofstream(folder.path() / name) << text; };
  write("a.vert", "#version 330 core\nvoid main() { gl_Position = vec4(0.0); }\n");
  write("shared.glsl", "vec4 shared_color() { return vec4(1.0); }\n");
  write(
      "a.frag",
      "#version 330 core\n#include \"shared.glsl\"\nout vec4 o; uniform float u_x;\nvoid main() { o = shared_color() * u_x; }\n");
  const auto loaded = std::chrono::steady_clock::now();
  auto program = ShaderProgram::load(folder.path(), "a.vert", "a.frag");
  CATCH_REQUIRE(program);
  CATCH_CHECK(program->location("u_x") >= 0);
  CATCH_CHECK(program->location("u_nothing") == -1);
  std::vector<std::string> reports;
  const auto report = [&](const std::string& line) { reports.push_back(line); };
  program->reload_if_changed(report);
  CATCH_CHECK(reports.empty());
  write("shared.glsl", "vec4 shared_color() { return nonsense; }\n");
  std::filesystem::last_write_time(folder.path() / "shared.glsl",
                                   std::filesystem::file_time_type::clock::now() + std::chrono::seconds(5));
  program->reload_if_changed(report);
  // Looked at less than half a second ago, unless this machine is that busy.
  if (std::chrono::steady_clock::now() - loaded < std::chrono::milliseconds(500)) CATCH_CHECK(reports.empty());
  reports.clear();
  std::filesystem::last_write_time(folder.path() / "shared.glsl",
                                   std::filesystem::file_time_type::clock::now() + std::chrono::seconds(7));
  std::this_thread::sleep_for(std::chrono::milliseconds(550));
  program->reload_if_changed(report);
  CATCH_REQUIRE(reports.size() == 1);
  CATCH_CHECK(reports[0].find("does not compile") != std::string::npos);
  CATCH_CHECK(reports[0].find("shared.glsl") != std::string::npos);
  CATCH_CHECK(program->location("u_x") >= 0);
  write("shared.glsl", "vec4 shared_color() { return vec4(0.5); }\n");
  std::filesystem::last_write_time(folder.path() / "shared.glsl",
                                   std::filesystem::file_time_type::clock::now() + std::chrono::seconds(9));
  std::this_thread::sleep_for(std::chrono::milliseconds(550));
  program->reload_if_changed(report);
  CATCH_CHECK(reports.size() == 2);
  CATCH_CHECK(reports.back().find("again") != std::string::npos);
  CATCH_CHECK_FALSE(ShaderProgram::load(folder.path(), "a.vert", "missing.frag"));
}

CATCH_TEST_CASE("GL errors are counted and reported once", "[gl]") {
  const auto screen = Screen::open(64, 64);
  if (!screen) return;
  CATCH_CHECK(screen->loop->gl_error_count() == 0);
  CATCH_CHECK(screen->reports.empty());
  glEnable(0xFFFF);
  glEnable(0xFFFF);
  static_cast<void>(screen->frame([](ImguiPainter&) {}));
  CATCH_CHECK(screen->loop->gl_error_count() >= 2);
  CATCH_CHECK_FALSE(screen->reports.empty());
  CATCH_CHECK(screen->reports.size() <= 2);
}

CATCH_TEST_CASE("a waker ends the waiting, and an idle window waits", "[gl]") {
  const auto screen = Screen::open(64, 64);
  if (!screen) return;
  while (screen->loop->wait(0.2)) static_cast<void>(screen->loop->window().take_input());
  const auto start = std::chrono::steady_clock::now();
  CATCH_CHECK_FALSE(screen->loop->wait(0.1));
  CATCH_CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(90));
  std::thread other([wake = screen->loop->window().waker()] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    wake();
  });
  const auto waited = std::chrono::steady_clock::now();
  CATCH_CHECK(screen->loop->wait(20.0));
  CATCH_CHECK(std::chrono::steady_clock::now() - waited < std::chrono::seconds(10));
  other.join();
}

}  // namespace headroom::test
