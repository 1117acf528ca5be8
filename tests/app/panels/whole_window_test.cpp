// A long session over every view, drawn whole after each step, at window sizes and scales from the smallest to the
// largest, in both themes, with the fonts of the screen: no text is cut, leaves its panel or touches another, wherever
// the pointer rests.
#include <array>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/text/font_library.h"
#include "tests/app/panels/core_bench.h"
#include "tests/support/catch.h"
#include "tests/support/skip.h"

namespace headroom::test {
namespace {

struct Shape {
  Vec2 size;  // device pixels
  float scale;
  bool dark;
};

// Corners of 800 × 500 … 2400 × 1400 at 100 to 300 %, where what is left is not below the smallest window.
constexpr std::array kShapes = {
    Shape{{800, 500}, 1.0f, true},   Shape{{1024, 640}, 1.0f, false}, Shape{{1280, 720}, 1.25f, true},
    Shape{{1440, 900}, 1.0f, true},  Shape{{1440, 900}, 1.5f, false}, Shape{{1440, 900}, 2.0f, true},
    Shape{{800, 500}, 1.5f, false},  Shape{{1920, 1080}, 2.0f, true}, Shape{{2400, 1400}, 1.0f, false},
    Shape{{2400, 1400}, 2.0f, true}, Shape{{2400, 1400}, 3.0f, false}};

// Where the pointer rests, in shares of the window: four of them after a step, so that each view meets all.
constexpr Vec2 kPlaces[] = {{0.05f, 0.2f}, {0.35f, 0.5f}, {0.55f, 0.75f}, {0.8f, 0.25f}, {0.1f, 0.3f},  {0.45f, 0.25f},
                            {0.6f, 0.9f},  {0.85f, 0.5f}, {0.2f, 0.6f},   {0.5f, 0.45f}, {0.7f, 0.95f}, {0.85f, 0.7f},
                            {0.1f, 0.9f},  {0.8f, 0.15f}, {0.9f, 0.85f},  {0.97f, 0.5f}};

// What a session does, a line each; "!" before a key. What stays open is looked at after every line.
std::vector<std::string> session_lines(const std::string& name, const std::string& model) {
  std::ifstream file(std::string(HEADROOM_FIXTURES) + "/session/" + name);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    for (const auto& [word, path] : {std::pair{"DEMO", (demo_assets() / "demo").string()}, std::pair{"MODEL", model}})
      if (const std::size_t at = line.find(word); at != std::string::npos)
        line.replace(at, std::string(word).size(), path);
    lines.push_back(line);
  }
  return lines;
}

class Walk {
 public:
  explicit Walk(const TextMeasure* measure) : bench(nullptr, measure) {}

  void step(const std::string& line) {
    if (line.front() == '!') {
      bench.key(line.c_str() + 1);
    } else if (const auto done = bench.session()->execute(line); !done) {
      refused_.insert(line + ": " + done.error().message);
    }
    bench.session().wait();
  }

  // Each kind of fault once, where it was found first.
  void look(const std::string& after, const Shape& shape) {
    bench.resize(shape.size, shape.scale);
    bench.session()->edit().settings.dark = shape.dark;
    for (int i = 0; i < 2; ++i) bench.frame();
    check(after, shape, "");
    const Rect window = bench.window();
    for (int k = 0; k < 4; ++k) {
      const Vec2 place = kPlaces[(4 * looks_ + static_cast<std::size_t>(k)) % std::size(kPlaces)];
      bench.point({place.x * window.x1, place.y * window.y1});
      for (int i = 0; i < 2; ++i) bench.frame();
      check(after, shape, " with the pointer at " + std::to_string(place.x) + ", " + std::to_string(place.y));
    }
    ++looks_;
  }

  [[nodiscard]] std::string found() const {
    std::string text;
    for (const std::string& line : found_) text += line + "\n";
    return text;
  }
  [[nodiscard]] std::string refused() const {
    std::string text;
    for (const std::string& line : refused_) text += line + "\n";
    return text;
  }
  [[nodiscard]] std::size_t looks() const { return looks_; }

  CoreBench bench;

 private:
  void check(const std::string& after, const Shape& shape, const std::string& pointer) {
    for (const std::string& line : bench.painter->violations()) {
      if (!seen_.insert(line).second) continue;
      found_.push_back(std::to_string(static_cast<int>(shape.size.x)) + " x " +
                       std::to_string(static_cast<int>(shape.size.y)) + " at " +
                       std::to_string(static_cast<int>(100.0f * shape.scale)) + " % after '" + after + "'" + pointer +
                       ": " + line);
    }
  }

  std::set<std::string> seen_, refused_;
  std::vector<std::string> found_;
  std::size_t looks_ = 0;
};

void play(Walk& walk, const std::vector<std::string>& lines) {
  CATCH_REQUIRE(lines.size() > 20);
  for (const std::string& line : lines) {
    walk.step(line);
    for (const Shape& shape : kShapes) walk.look(line, shape);
  }
  CATCH_CHECK(walk.found() == "");
  CATCH_CHECK(walk.refused() == "");
  CATCH_CHECK(walk.looks() >= std::size(kShapes) * lines.size());
}

std::unique_ptr<FontLibrary> fonts() {
  auto found = FontLibrary::create();
  CATCH_REQUIRE(found.has_value());
  return std::move(*found);
}

}  // namespace

CATCH_TEST_CASE("A long session at every size, scale and theme cuts no text and lets none touch", "[session]") {
  const std::unique_ptr<FontLibrary> measure = fonts();
  Walk walk(measure.get());
  for (const Shape& shape : kShapes) walk.look("the start", shape);
  play(walk, session_lines("small_models.txt", ""));
}

CATCH_TEST_CASE("A session with 270 heads at every size, scale and theme cuts no text and lets none touch",
                "[session]") {
  const char* model = std::getenv("HEADROOM_DEMO_GGUF");  // NOLINT(concurrency-mt-unsafe)
  if (model == nullptr || *model == '\0') return skip("HEADROOM_DEMO_GGUF is not set; tests/run.sh fetches the model");
  const std::unique_ptr<FontLibrary> measure = fonts();
  Walk walk(measure.get());
  play(walk, session_lines("large_model.txt", model));
}

}  // namespace headroom::test
