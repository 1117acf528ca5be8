// The figure panel: what it shows of a page, at every size, and what its controls ask for.
#include "app/panels/chrome/figure_overlay.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "app/figures/figure_kinds.h"
#include "app/panels/chrome/overlay.h"
#include "app/session/figure_screen.h"
#include "tests/app/panels/bars_bench.h"
#include "tests/support/catch.h"

namespace headroom {
namespace {

using test::PanelBench;
using test::show_run;
using test::small_run;

struct FigureBench : PanelBench {
  explicit FigureBench(Vec2 size = {1440, 900}, float scale = 1.0f)
      : PanelBench([](PanelContext& c) { draw_overlay(c, c.ui.input.window); }, size, scale) {
    show_run(state, small_run(false));
    state.view.selection.head = HeadRef{0, 1};
    state.overlay = Overlay::Figure;
    FigureWish& wish = state.figure;
    for (const FigureKind& kind : figure_kinds()) wish.kinds.push_back({kind.name, kind.brief, kind.summary, ""});
    wish.kinds[7].missing = "no head of a run with a very long name has λ (all are softmax, and so on)";
    wish.kind = "rms", wish.command = "figure a.h5 rms --head L0.H1";
    auto page = std::make_shared<FigureDrawn>();
    page->kind = "rms", page->width_mm = 84.0, page->height_mm = 58.0, page->least_text = 7.0;
    page->picture.width = 420, page->picture.height = 290;
    page->picture.rgb = std::make_shared<const std::vector<std::uint8_t>>(420 * 290 * 3, 255);
    page->caption = "Context RMS of L0.H1.";
    page->latex = "\\caption{Context RMS of L0.H1.}";
    wish.drawn = page;
  }
};

CATCH_TEST_CASE("figure panel: the page, its size, its command and its caption are shown") {
  FigureBench bench;
  bench.frame();
  bench.frame();
  CATCH_CHECK(bench.wrong() == "");
  for (const char* text :
       {"84.0 × 58.0 mm", "smallest text 7.0 pt", "nothing cut, outside or touching",
        "headroom figure a.h5 rms --head L0.H1 -o", "Context RMS of L0.H1.", "no head of a run", "80"}) {
    CATCH_INFO(text);
    CATCH_CHECK(bench.shows(text));
  }
  CATCH_REQUIRE(bench.painter->pictures().size() == 1);
  // Drawn with the page's proportions, whatever room there is.
  const Rect page = bench.painter->pictures().front().target;
  CATCH_CHECK(std::abs(page.width() / page.height() - 420.0f / 290.0f) < 0.01f);
  const std::vector<std::string> asked = bench.taken();
  CATCH_REQUIRE_FALSE(asked.empty());
  CATCH_CHECK(asked.front().starts_with("figure.room "));
  bench.state.figure.latex = true;
  bench.frame();
  CATCH_CHECK(bench.shows("\\caption{Context RMS"));
}

CATCH_TEST_CASE("figure panel: what was chosen and what changes nothing stands under the page, all of it") {
  FigureBench bench;
  bench.frame();
  bench.frame();
  const float page = bench.painter->pictures().front().target.height();
  CATCH_CHECK(bench.facts.find("figure.notes")->empty());
  auto drawn = std::make_shared<FigureDrawn>(*bench.state.figure.drawn);
  drawn->notes = {"--top changes nothing of atlas", "a.h5: L0.H1 is drawn, the largest median gain"};
  bench.state.figure.drawn = drawn;
  bench.frame();
  bench.frame();
  CATCH_CHECK(bench.wrong() == "");
  for (const char* text : {"nothing cut, outside or touching", "--top changes nothing of atlas", "the largest median"})
    CATCH_CHECK(bench.shows(text));
  // Not on it.
  const Rect shown = bench.painter->pictures().front().target;
  CATCH_CHECK(bench.painter->find("--top changes").front()->baseline.y > shown.y1);
  CATCH_CHECK(std::abs(shown.height() - page) < 1.0f);
  // More than there is room for can be scrolled to.
  for (int i = 0; i < 30; ++i) drawn->notes.push_back("note " + std::to_string(i) + " of many");
  bench.frame();
  bench.frame();
  CATCH_CHECK(bench.wrong() == "");
  CATCH_CHECK_FALSE(bench.shows("note 29 of many"));
  bench.input.pointer = bench.place("--top changes"), bench.input.pointer_inside = true;
  bench.input.wheel = {0.0f, -200.0f};
  bench.frame();
  bench.frame();
  CATCH_CHECK(bench.shows("note 29 of many"));
}

CATCH_TEST_CASE("figure panel: what is said of a page asks for no other one") {
  for (const Vec2 size : {Vec2{1440, 900}, Vec2{1024, 768}, Vec2{640, 480}}) {
    FigureBench bench(size);
    bench.frame();
    bench.frame();
    std::vector<std::string> asked = bench.taken();
    CATCH_REQUIRE_FALSE(asked.empty());
    // As the desk takes it.
    std::istringstream words(asked.back());
    std::string command;
    FigureWish& wish = bench.state.figure;
    CATCH_REQUIRE((words >> command >> wish.room_width >> wish.room_height && command == "figure.room"));
    for (const std::size_t notes : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{20}}) {
      auto drawn = std::make_shared<FigureDrawn>(*bench.state.figure.drawn);
      drawn->notes.assign(notes, "--top changes nothing of rms");
      bench.state.figure.drawn = drawn;
      bench.frame();
      bench.frame();
      CATCH_INFO(size.x << " × " << size.y << ", notes: " << notes);
      CATCH_CHECK(bench.taken().empty());
      CATCH_CHECK(bench.wrong() == "");
    }
  }
}

CATCH_TEST_CASE("figure panel: every control is there at once at 1440 × 900 and 1024 × 768, whatever is taken over") {
  for (const Vec2 size : {Vec2{1440, 900}, Vec2{1024, 768}})
    for (const bool much : {false, true}) {
      FigureBench bench(size);
      FigureWish& wish = bench.state.figure;
      CATCH_REQUIRE(wish.kinds.size() >= 17);
      if (much) {
        wish.kind = "map";
        bench.state.view.map.window = {1.0, 3.0, 0.0, 2.0};
        bench.state.view.map.range = {1.25e-4, 1.0};
        bench.state.view.map.scale = ScaleKind::Symlog;
        bench.state.settings.colours = Colours::Viridis;
        CATCH_REQUIRE(set_figure_option(wish.looks["map"], "map", "points", "image").has_value());
        CATCH_REQUIRE(set_figure_option(wish.looks["map"], "map", "names", "on").has_value());
      }
      bench.frame();
      bench.frame();
      CATCH_INFO(size.x << " × " << size.y << (much ? ", with much of the screen" : ""));
      CATCH_CHECK(bench.wrong() == "");
      CATCH_CHECK(*bench.facts.find("figure.side_scrolls") == "0");
      for (const FigureKindLine& kind : wish.kinds) CATCH_CHECK(bench.shows(kind.name));
      for (const ScreenPart& part : screen_parts(bench.state, wish.kind)) {
        CATCH_CHECK(bench.shows(part.name));
        CATCH_CHECK(bench.shows(part.value));
      }
      for (const char* text : {"width", "height", "theme", "letters", "format", "marks", "caption", "run", ".h5"})
        CATCH_CHECK(bench.shows(text));
      if (!much) continue;
      // What only a command chooses is taken back by a click.
      (void)bench.taken();
      bench.click(bench.place("points"));
      std::vector<std::string> lines = bench.taken();
      std::erase_if(lines, [](const std::string& line) { return line.starts_with("figure.room"); });
      CATCH_CHECK(lines == std::vector<std::string>{"figure.set points auto"});
    }
}

CATCH_TEST_CASE("figure panel: its controls are commands") {
  FigureBench bench;
  bench.frame();
  bench.frame();
  (void)bench.taken();
  const auto click = [&](const char* text) {
    bench.click(bench.place(text));
    std::vector<std::string> lines = bench.taken();
    std::erase_if(lines, [](const std::string& line) { return line.starts_with("figure.room"); });
    return lines.empty() ? std::string() : lines.back();
  };
  CATCH_CHECK(click("decomposition") == "figure decomposition");
  CATCH_CHECK(click("174") == "figure.set width 174mm");
  CATCH_CHECK(click("slides") == "figure.set theme slides");
  CATCH_CHECK(click("SVG") == "figure.format svg");
  CATCH_CHECK(click("marks") == "figure.beside data toggle");
  CATCH_CHECK(click("LaTeX") == "figure.caption latex");
  CATCH_CHECK(click("Save…") == "figure.save");
  CATCH_CHECK(click("Cancel") == "overlay.close");
  bench.key(Key::Enter, {.ctrl = true});
  CATCH_CHECK(bench.taken().back() == "figure.save");
}

CATCH_TEST_CASE("figure panel: a kind that was clicked does not cover its page with what it is") {
  FigureBench bench;
  bench.frame();
  const auto rest_on = [&](const char* kind) {
    bench.input.pointer = bench.place(kind), bench.input.pointer_inside = true;
    bench.frame();
    for (int i = 0; i < 2; ++i) bench.input.time += 1.0, bench.frame();
    return bench.shows("log ρ of one head");
  };
  std::string& summary = bench.state.figure.kinds[6].summary;
  CATCH_REQUIRE(bench.state.figure.kinds[6].name == "decomposition");
  summary = "log ρ of one head and its terms";
  CATCH_CHECK(rest_on("decomposition"));
  bench.state.figure.kind = "decomposition";
  CATCH_CHECK_FALSE(rest_on("decomposition"));
}

CATCH_TEST_CASE("figure panel: no text is cut or touches at any size, with a page, an error or nothing") {
  for (const Vec2 size : {Vec2{1920, 1080}, Vec2{1440, 900}, Vec2{1024, 768}, Vec2{800, 600}, Vec2{640, 480},
                          Vec2{480, 400}, Vec2{320, 240}})
    for (const float scale : {1.0f, 2.0f})
      for (const int what : {0, 1, 2, 3}) {
        FigureBench bench({size.x * scale, size.y * scale}, scale);
        FigureWish& wish = bench.state.figure;
        if (what == 1) {
          auto page = std::make_shared<FigureDrawn>();
          page->error = Error(ErrorCode::Unsupported, "atlas of 128 layers: 60 mm is too narrow; at least 71 mm");
          page->error->hint = "a wider page";
          wish.drawn = page;
        }
        if (what == 2) wish.drawn = nullptr, wish.writing = "the run is being written";
        if (what == 3) {
          auto page = std::make_shared<FigureDrawn>(*wish.drawn);
          page->warnings = {"\"a very long label of a very long axis\" touches \"another label that is as long\""};
          page->notes = {"--" + std::string(200, 'w') + " changes nothing", "a second note of some length", "a third"};
          for (int i = 0; i < 5; ++i) page->caption += page->caption;
          wish.drawn = page;
          wish.command = "figure " + std::string(300, 'w') + ".h5 rms";
        }
        bench.frame();
        bench.frame();
        CATCH_INFO(size.x << " × " << size.y << " at " << scale << ", " << what);
        CATCH_CHECK(bench.wrong() == "");
      }
}

}  // namespace
}  // namespace headroom
