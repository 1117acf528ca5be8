// The parts of the window that need no display: input in order, triangles of lines and polygons, the trace.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/gl/point_raster.h"
#include "app/gl/shader.h"
#include "app/window/frame_loop.h"
#include "app/window/input_queue.h"
#include "app/window/tessellate.h"
#include "app/window/trace.h"
#include "app/window/window_icon.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

double polygon_area(const std::vector<Vec2>& p) {
  double area = 0.0;
  for (std::size_t i = 0, j = p.size() - 1; i < p.size(); j = i++) {
    area += static_cast<double>(p[j].x) * static_cast<double>(p[i].y) -
            static_cast<double>(p[i].x) * static_cast<double>(p[j].y);
  }
  return std::abs(0.5 * area);
}

double triangle_area(const std::vector<Vec2>& p) {
  const auto t = triangulate(p);
  double sum = 0.0;
  for (std::size_t i = 0; i < t.size(); i += 3) sum += polygon_area({p[t[i]], p[t[i + 1]], p[t[i + 2]]});
  return sum;
}

}  // namespace

CATCH_TEST_CASE("a click and the move after it come one after the other") {
  InputQueue queue;
  CATCH_CHECK_FALSE(queue.left());
  queue.pointer_moved({10, 20});
  queue.button(kLeftButton, true, {}, 1.0);
  queue.button(kLeftButton, false, {}, 1.05);
  queue.pointer_moved({90, 20});
  CATCH_CHECK(queue.left());
  Input input = queue.take();
  CATCH_CHECK(input.pointer == Vec2{10, 20});
  CATCH_CHECK(input.pressed[0]);
  CATCH_CHECK_FALSE(input.released[0]);
  CATCH_CHECK(input.down[0]);
  CATCH_CHECK(input.clicks == 1);
  input = queue.take();
  CATCH_CHECK(input.released[0]);
  CATCH_CHECK_FALSE(input.pressed[0]);
  CATCH_CHECK_FALSE(input.down[0]);
  CATCH_CHECK(input.pointer == Vec2{10, 20});
  input = queue.take();
  CATCH_CHECK(input.pointer == Vec2{90, 20});
  CATCH_CHECK_FALSE(input.released[0]);
  CATCH_CHECK_FALSE(queue.left());
}

CATCH_TEST_CASE("two quick clicks at one place are a double click, slow or distant ones are not") {
  const auto clicks = [](double second_at, Vec2 to) {
    InputQueue queue;
    queue.pointer_moved({10, 10});
    queue.button(kLeftButton, true, {}, 1.0);
    queue.button(kLeftButton, false, {}, 1.1);
    queue.pointer_moved(to);
    queue.button(kLeftButton, true, {}, second_at);
    int last = 0;
    while (queue.left()) {
      if (const Input input = queue.take(); input.pressed[0]) last = input.clicks;
    }
    return last;
  };
  CATCH_CHECK(clicks(1.3, {12, 10}) == 2);
  CATCH_CHECK(clicks(1.5, {12, 10}) == 1);
  CATCH_CHECK(clicks(1.3, {18, 10}) == 1);
}

CATCH_TEST_CASE("letters and Enter keep their order, and what lasts is kept, what happened is not") {
  InputQueue queue;
  queue.key(letter_key('A'), true, false, {.ctrl = false});
  queue.character(U'a', {});
  queue.character(U'é', {});
  queue.key(Key::Enter, true, false, {});
  queue.character(U'b', {});
  queue.wheel({0, 1}, {.ctrl = true});
  queue.wheel({0, 2}, {.ctrl = true});
  Input input = queue.take();
  CATCH_CHECK(input.text == "aé");
  CATCH_CHECK(input.keys.size() == 1);
  input = queue.take();
  CATCH_CHECK(input.text.empty());
  CATCH_REQUIRE(input.keys.size() == 1);
  CATCH_CHECK(input.keys[0].key == Key::Enter);
  input = queue.take();
  CATCH_CHECK(input.text == "b");
  CATCH_CHECK(input.wheel == Vec2{0, 3});
  CATCH_CHECK(input.modifiers.ctrl);
  CATCH_CHECK(queue.take().wheel == Vec2{0, 0});
  queue.character(U'?', {});
  input = queue.take();
  CATCH_CHECK(input.text == "?");
  CATCH_REQUIRE(input.keys.size() == 1);
  CATCH_CHECK(input.keys[0].key == Key::Question);
}

CATCH_TEST_CASE("triangles cover ribbons, areas, stars and what is concave") {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  for (int turn = 0; turn < 4; ++turn) {
    std::vector<Vec2> ribbon, steps = {{0, 100}}, star, arrow = {{0, 0}, {10, 0}, {10, 10}, {5, 3}, {0, 10}};
    for (int i = 0; i < 300; ++i) ribbon.push_back({static_cast<float>(i), 50 - uniform(random) * 40});
    for (int i = 300; i-- > 0;) ribbon.push_back({static_cast<float>(i), 60 + uniform(random) * 40});
    for (int i = 0; i < 100; ++i) {
      const float y = 100 * uniform(random);
      steps.push_back({static_cast<float>(i), y});
      steps.push_back({static_cast<float>(i + 1), y});
    }
    steps.push_back({100, 100});
    for (int i = 0; i < 100; ++i) {
      const float angle = 6.2831853f * static_cast<float>(i) / 100.0f, r = 20 + 80 * uniform(random);
      star.push_back({r * std::cos(angle), r * std::sin(angle)});
    }
    for (std::vector<Vec2>* polygon : {&ribbon, &steps, &star, &arrow}) {
      if (turn & 1) std::reverse(polygon->begin(), polygon->end());
      if (turn & 2) {
        for (Vec2& p : *polygon) std::swap(p.x, p.y);
      }
      CATCH_CHECK(triangle_area(*polygon) == near(polygon_area(*polygon), 1e-4));
    }
  }
  CATCH_CHECK(triangulate(std::vector<Vec2>{{0, 0}, {1, 1}}).empty());
  CATCH_CHECK(triangulate(std::vector<Vec2>{{0, 0}, {1, 1}, {2, 2}}).empty());
}

CATCH_TEST_CASE("a stroke stays within its width, sharp corners included") {
  Mesh mesh;
  const std::vector<Vec2> zigzag = {{0, 0}, {100, 0}, {0, 2}, {100, 4}, {100, 4}, {50, 50}, {NAN, 3}, {0, 100}};
  append_stroke(mesh, zigzag, 2.0f, false);
  CATCH_REQUIRE_FALSE(mesh.indices.empty());
  for (const std::uint32_t i : mesh.indices) {
    CATCH_REQUIRE(i < mesh.vertices.size());
    const MeshVertex& v = mesh.vertices[i];
    CATCH_CHECK(v.at.x >= -3.0f);
    CATCH_CHECK(v.at.x <= 103.5f);
    CATCH_CHECK(v.at.y >= -3.0f);
    CATCH_CHECK(v.at.y <= 103.0f);
  }
  Mesh thin;
  append_stroke(thin, std::vector<Vec2>{{0, 0}, {10, 0}}, 0.5f, false);
  for (const MeshVertex& v : thin.vertices) CATCH_CHECK(v.coverage <= 0.5f);
  Mesh point;
  append_stroke(point, std::vector<Vec2>{{5, 5}, {5, 5}}, 2.0f, true);
  CATCH_CHECK(point.indices.empty());
}

// Coverage of the mesh at a point, by the barycentric coordinates of the triangle that holds it; 0 outside.
double coverage_at(const Mesh& mesh, double x, double y) {
  double largest = 0.0;
  for (std::size_t i = 0; i + 2 < mesh.indices.size(); i += 3) {
    const MeshVertex* v[3];
    for (std::size_t k = 0; k < 3; ++k) v[k] = &mesh.vertices[mesh.indices[i + k]];
    const auto twice = [](double ax, double ay, double bx, double by, double cx, double cy) {
      return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
    };
    const double ax = v[0]->at.x, ay = v[0]->at.y, bx = v[1]->at.x, by = v[1]->at.y, cx = v[2]->at.x, cy = v[2]->at.y;
    const double all = twice(ax, ay, bx, by, cx, cy);
    if (std::abs(all) < 1e-9) continue;
    const double a = twice(x, y, bx, by, cx, cy) / all, b = twice(ax, ay, x, y, cx, cy) / all, c = 1.0 - a - b;
    if (std::min({a, b, c}) < -1e-9) continue;
    largest = std::max(largest, a * static_cast<double>(v[0]->coverage) + b * static_cast<double>(v[1]->coverage) +
                                    c * static_cast<double>(v[2]->coverage));
  }
  return largest;
}

CATCH_TEST_CASE("a disc has the area of its circle, and an edge that is soft over a pixel") {
  for (const float radius : {2.5f, 5.0f, 20.0f}) {
    for (const bool reversed : {false, true}) {
      std::vector<Vec2> points;
      append_arc(points, {30, 30}, radius, 0.0f, reversed ? -6.2831853f : 6.2831853f);
      for (const Vec2 p : points) CATCH_CHECK(std::hypot(p.x - 30, p.y - 30) == near(radius, 1e-4));
      Mesh mesh;
      append_convex(mesh, points);
      double area = 0.0;
      constexpr int kSteps = 4;
      for (int i = 0; i < 60 * kSteps; ++i)
        for (int j = 0; j < 60 * kSteps; ++j) area += coverage_at(mesh, (i + 0.5) / kSteps, (j + 0.5) / kSteps);
      CATCH_CHECK(area / (kSteps * kSteps) == near(3.14159265 * static_cast<double>(radius * radius), 0.04));
      CATCH_CHECK(coverage_at(mesh, 30.0 + static_cast<double>(radius) - 0.75, 30.001) == near(1.0, 1e-3));
      CATCH_CHECK(coverage_at(mesh, 30.0 + static_cast<double>(radius) + 0.75, 30.001) == near(0.0, 1e-3));
    }
  }
}

CATCH_TEST_CASE("sides of a convex shape that lie between rows of pixels are sharp") {
  Mesh mesh;
  append_convex(mesh, std::vector<Vec2>{{10, 10}, {30, 10}, {30, 24}, {10, 24}});
  for (int y = 8; y < 26; ++y)
    for (int x = 8; x < 32; ++x) {
      const bool inside = x >= 10 && x < 30 && y >= 10 && y < 24;
      CATCH_CHECK(coverage_at(mesh, x + 0.5, y + 0.5) == near(inside ? 1.0 : 0.0, 1e-5));
    }
  Mesh line;
  append_convex(line, std::vector<Vec2>{{1, 1}, {5, 1}});
  CATCH_CHECK(line.indices.empty());
}

CATCH_TEST_CASE("squares are counted where they lie, and let less and less through") {
  const std::vector<Vec2> centres = {{2.0f, 2.0f}, {2.4f, 2.4f}, {-50, 0}, {NAN, 1}};
  const PointImage image = rasterise_points(centres, 1.0f, 2, 128, 0, 0, 6, 5);
  CATCH_REQUIRE(image.opacity.size() == 30);
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 6; ++x) {
      const bool inside = x >= 1 && x < 3 && y >= 1 && y < 3;
      CATCH_CHECK(image.opacity[static_cast<std::size_t>(y * 6 + x)] == (inside ? 192 : 0));
    }
  }
  CATCH_CHECK(hash_points(centres) == hash_points(centres));
  CATCH_CHECK(hash_points(centres) != hash_points(std::span(centres).first(3)));
  std::vector<Vec2> moved = centres;
  moved[1].y += 1e-6f;
  CATCH_CHECK(hash_points(centres) != hash_points(moved));
}

CATCH_TEST_CASE("the trace is JSON with the events and names of all threads") {
  const TempFolder folder;
  const std::string path = (folder.path() / "trace.json").string();
  {
    auto trace = Trace::create(path);
    CATCH_REQUIRE(trace);
    (*trace)->name_thread("main");
    {
      const Trace::Zone zone(trace->get(), "a \"quoted\"\nname");
    }
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&trace] {
        for (int i = 0; i < 2000; ++i) (*trace)->event("work", 1.0 * i, 0.5);
      });
    }
    for (std::thread& thread : threads) thread.join();
    (*trace)->callback()("from core", 3.0, 4.0);
  }
  std::ifstream stream(path);
  const nlohmann::json events = nlohmann::json::parse(stream);
  CATCH_REQUIRE(events.size() == 8003);
  CATCH_CHECK(events[0]["args"]["name"] == "main");
  CATCH_CHECK(events[1]["name"] == "a \"quoted\"\nname");
  CATCH_CHECK(events[1]["ph"] == "X");
  CATCH_CHECK(events[8002]["name"] == "from core");
  CATCH_CHECK(events[8002]["dur"] == 4.0);
  CATCH_CHECK(events[8002]["tid"] == events[0]["tid"]);
  CATCH_CHECK_FALSE(Trace::create((folder.path() / "no folder" / "trace.json").string()));
  Trace off;
  off.event("nothing", 0, 0);
  CATCH_CHECK_FALSE(off.enabled());
  CATCH_CHECK_FALSE(off.callback());
}

CATCH_TEST_CASE("a shader's includes come once and with their line numbers") {
  const TempFolder folder;
  std::ofstream(folder.path() / "a.frag")
      << "#version 330 core\n#include \"b.glsl\"\n#include \"b.glsl\"\nvoid main() {}\n";
  std::ofstream(folder.path() / "b.glsl") << "float b;\n";
  std::vector<std::filesystem::path> files;
  const auto source = load_shader_source(folder.path() / "a.frag", files);
  CATCH_REQUIRE(source);
  CATCH_CHECK(*source == "#version 330 core\n#line 2 0\nfloat b;\n#line 3 0\n#line 4 0\nvoid main() {}\n");
  CATCH_CHECK(files.size() == 2);
  std::ofstream(folder.path() / "c.frag") << "#include \"missing.glsl\"\n";
  std::vector<std::filesystem::path> none;
  const auto missing = load_shader_source(folder.path() / "c.frag", none);
  CATCH_REQUIRE_FALSE(missing);
  CATCH_CHECK(missing.error().file.find("missing.glsl") != std::string::npos);
}

CATCH_TEST_CASE("pictures are written whole or not at all") {
  const TempFolder folder;
  const PixelImage image{2, 1, {255, 0, 0, 0, 0, 255}};
  const auto path = folder.path() / "picture.png";
  CATCH_REQUIRE(write_png(path, image));
  std::ifstream stream(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  CATCH_CHECK(bytes.substr(1, 3) == "PNG");
  CATCH_CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  const auto refused = write_png(folder.path() / "no folder" / "picture.png", image);
  CATCH_REQUIRE_FALSE(refused);
  CATCH_CHECK(refused.error().code == ErrorCode::Io);
}

CATCH_TEST_CASE("without a display the window says which variables it looked at") {
  const char* display = std::getenv("DISPLAY");
  const char* wayland = std::getenv("WAYLAND_DISPLAY");
  const std::string had_display = display ? display : "", had_wayland = wayland ? wayland : "";
  unsetenv("DISPLAY");
  unsetenv("WAYLAND_DISPLAY");
  const auto window = GlfwWindow::create({});
  if (display) setenv("DISPLAY", had_display.c_str(), 1);
  if (wayland) setenv("WAYLAND_DISPLAY", had_wayland.c_str(), 1);
  CATCH_REQUIRE_FALSE(window);
  CATCH_CHECK(window.error().code == ErrorCode::Device);
  CATCH_CHECK(window.error().message.find("DISPLAY") != std::string::npos);
}

CATCH_TEST_CASE("the icon is a rounded square with a triangle") {
  for (const int size : {16, 32, 48, 128}) {
    const auto pixels = icon_pixels(size);
    CATCH_REQUIRE(pixels.size() == static_cast<std::size_t>(size * size * 4));
    CATCH_CHECK(pixels[3] < 128);                                                                // a corner
    CATCH_CHECK(pixels[static_cast<std::size_t>((size / 2 * size + size / 2) * 4 + 3)] == 255);  // the middle
  }
}

}  // namespace headroom::test
