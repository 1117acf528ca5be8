// 10⁵ random events on the whole window with a real session behind it: no exception, nothing at a place that is no
// number, nothing cut inside the supported range, and memory stays where it was.
#include <malloc.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "app/panels/chrome/window_core.h"
#include "app/plot/plain_measure.h"
#include "app/plot/recording_painter.h"
#include "app/session/random_hands.h"
#include "app/session/session.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

constexpr int kEvents = 100000;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// What is allocated. Memory of the process also grows by what the C library keeps between blocks.
double heap_megabytes() {
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<double>(heap.uordblks + heap.hblkhd) / 1048576.0;
}

std::filesystem::path assets() {
  return std::filesystem::path(HEADROOM_FIXTURES).parent_path().parent_path() / "assets";
}

class KeptClipboard final : public Clipboard {
 public:
  std::string get() override { return text_; }
  void set(const std::string& text) override { text_ = text.substr(0, 4000); }

 private:
  std::string text_;
};

// The program's own frame without a display, and random hands.
class Monkey {
 public:
  explicit Monkey(unsigned seed) : session_(options()), hands_(seed, session_.commands()), core_(session_, clipboard_) {
    session_.runner().compute().load();
    session_.documents().refresh_start_page();
    settle();
    resize();
  }

  // As many events as a person makes in a frame, or a fast one.
  int events() {
    const int made = hands_.events(input_);
    something_else();
    return made;
  }

  void frame() {
    session_.update(seconds());
    input_.time += 0.016;
    painter_ = std::make_unique<RecordingPainter>(measure_, input_.window, scale_);
    static_cast<void>(core_.frame(*painter_, input_, [this](std::vector<std::string>& lines) { choose(lines); }));
    distances_ = distances_ || (core_.facts().find("compare.distances_known") &&
                                *core_.facts().find("compare.distances_known") != "0");
    forget_frame(input_);
    (void)session_.inbox().take_requests();
    if (const std::string line = hands_.upkeep(session_.state()); !line.empty()) {
      session_.run_line(line);
      settle();  // frames without a display are so many that nothing would be open in most of them
    }
  }

  // Two runs beside each other, without random events, until their row distances are there.
  void compare() {
    input_.window = {0, 0, 1440, 900};
    scale_ = 1.0f;
    for (const char* line : {"demo backcopy/diff_v2", "run", "compare"}) {
      session_.run_line(line);
      settle();
    }
    for (const double end = seconds() + 120.0; !distances_ && seconds() < end;) {
      frame();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  void settle() {
    const double end = seconds() + 120.0;
    do {
      session_.update(seconds());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } while (session_.busy() && seconds() < end);
    CATCH_REQUIRE_FALSE(session_.busy());
  }

  [[nodiscard]] const RecordingPainter& painter() const { return *painter_; }
  [[nodiscard]] const std::set<std::string>& executed() const { return executed_; }
  [[nodiscard]] const State& state() const { return session_.state(); }
  [[nodiscard]] bool compared() const { return distances_; }  // row distances were computed and shown
  [[nodiscard]] std::string where() const {
    const Rect& w = input_.window;
    return std::to_string(static_cast<int>(w.x1)) + " x " + std::to_string(static_cast<int>(w.y1)) + " at " +
           std::to_string(scale_) + ", after " + last_line_;
  }
  [[nodiscard]] bool supported() const { return input_.window.width() >= 1024.0f && input_.window.height() >= 640.0f; }

 private:
  static Session::Options options() {
    Session::Options options;
    options.assets = assets();
    options.program = "headroom test";
    options.wake = [] {};  // without one, nothing is computed on a thread of its own
    return options;
  }

  void resize() {
    constexpr std::array<float, 7> kScales = {0.5f, 0.75f, 1.0f, 1.25f, 1.5f, 2.0f, 3.0f};
    scale_ = kScales[static_cast<std::size_t>(hands_.below(static_cast<int>(kScales.size())))];
    Vec2 pixels{hands_.between(200, 2560), hands_.between(100, 1440)};
    if (hands_.below(3) > 0) pixels = {std::max(pixels.x, 1024.0f * scale_), std::max(pixels.y, 640.0f * scale_)};
    input_.window = {0, 0, std::floor(pixels.x / scale_), std::floor(pixels.y / scale_)};
  }

  // As from the palette, a chosen line; or another window.
  void something_else() {
    if (hands_.below(60) == 0) resize();
    if (const std::string line = hands_.line(session_.state()); !line.empty()) {
      std::vector<std::string> lines{line};
      choose(lines);
      for (const std::string& chosen : lines) session_.run_line(chosen);
    }
  }

  void choose(std::vector<std::string>& lines) {
    std::erase_if(lines, [](const std::string& line) { return !RandomHands::may_run(line); });
    for (const std::string& line : lines) {
      const auto words = split_command_line(line);
      CATCH_INFO(line);
      CATCH_REQUIRE(words.has_value());
      CATCH_REQUIRE(session_.commands().find(words->front()) != nullptr);
      executed_.insert(words->front());
      last_line_ = line;
    }
  }

  Session session_;
  RandomHands hands_;
  KeptClipboard clipboard_;
  WindowCore core_;
  PlainMeasure measure_;
  bool distances_ = false;
  Input input_;
  std::vector<KeyPress> keys_;
  std::unique_ptr<RecordingPainter> painter_;
  std::set<std::string> executed_;
  std::string last_line_;
  float scale_ = 1.0f;
};

CATCH_TEST_CASE("10⁵ random events on the whole window", "[window]") {
  Monkey monkey(20260207);
  double early = 0.0;
  int made = 0, frames = 0, checked = 0;
  std::set<CentreView> centres;
  std::set<HeadsView> views;
  std::set<Overlay> overlays;
  std::set<std::string> cut;  // a panel and a text, once each
  while (made < kEvents) {
    made += monkey.events();
    CATCH_INFO("event " << made << ", " << monkey.where());
    monkey.frame();
    if (++frames % 500 == 0) monkey.settle();  // runs end on a busy machine too
    const std::vector<std::string> misuses = monkey.painter().misuses();
    CATCH_INFO((misuses.empty() ? std::string() : misuses.front()));
    CATCH_REQUIRE(misuses.empty());
    if (frames % 10 == 0 && monkey.supported()) {
      ++checked;
      const std::vector<std::string> outside = monkey.painter().texts_outside();
      if (!outside.empty() && cut.size() < 20)
        cut.insert(outside.front() + ", event " + std::to_string(made) + ", " + monkey.where());
    }
    centres.insert(monkey.state().view.centre);
    views.insert(monkey.state().view.heads.view);
    overlays.insert(monkey.state().overlay);
    if (early == 0.0 && made > kEvents / 5) {
      monkey.settle();
      early = heap_megabytes();
    }
  }
  monkey.settle();
  const double late = heap_megabytes();
  CATCH_INFO(frames << " frames, " << early << " MB after a fifth, " << late << " MB at the end");
  CATCH_CHECK(late < early + 64.0);
  for (const std::string& text : cut) CATCH_CHECK(text == "");
  CATCH_CHECK(checked > 100);
  CATCH_CHECK(centres.size() >= 6);  // of 8: which come depends on when runs are done
  CATCH_CHECK(views.size() == 4);
  CATCH_CHECK(overlays.size() >= 10);  // of 11, likewise
  CATCH_CHECK(monkey.executed().size() > 40);
}

// Which the frames of random events are mostly too fast for.
CATCH_TEST_CASE("the program's own frame compares two runs and shows their row distances", "[window]") {
  Monkey calm(1);
  calm.compare();
  CATCH_CHECK(calm.state().view.centre == CentreView::Compare);
  CATCH_CHECK(calm.compared());
}

}  // namespace
}  // namespace headroom::test
