// The program's own frame without a display: what the keys reach, and what of it is seen.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/chrome/window_layout.h"
#include "app/plot/recording_painter.h"
#include "tests/app/panels/core_bench.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

// Frames in the accent colour just within a panel: rings of focus.
std::vector<Rect> rings_of(const CoreBench& bench) {
  const Theme& theme = dark_theme();
  const WindowLayout layout = window_layout(bench.window(), bench.state());
  const auto around_panel = [&](const Rect& bounds) {
    return std::ranges::any_of(layout.slots(),
                               [&](const PanelSlot* slot) { return slot->area().inset(1.0f) == bounds; });
  };
  std::vector<Rect> found;
  for (const RecordedShape& shape : bench.painter->shapes())
    if (shape.kind == RecordedShape::Kind::StrokeRect && shape.color == theme.accent && around_panel(shape.bounds))
      found.push_back(shape.bounds);
  return found;
}

Rect panel_of(const CoreBench& bench, const std::string& name) {
  const WindowLayout layout = window_layout(bench.window(), bench.state());
  for (const PanelSlot* slot : layout.slots())
    if (name == slot->name) return slot->area();
  return {};
}

}  // namespace

CATCH_TEST_CASE("F6 gives the panels that are shown the focus in reading order, and the ring is seen",
                "[window core]") {
  CoreBench bench("bytes/diff_v2");
  CATCH_CHECK(bench.fact("focus") == "none");
  CATCH_CHECK(rings_of(bench).empty());
  CATCH_CHECK(bench.fact("drawn") == "heads map head tokens");
  const std::vector<std::pair<std::string, std::string>> views = {
      {"heads table", "heads columns"}, {"heads scatter", "heads model"}, {"heads atlas", "heads map head tokens"}};
  for (const auto& [line, panels] : views) {
    bench.session().run(line);
    bench.frame();
    CATCH_CHECK(bench.fact("drawn") == panels);
  }
  for (const char* expected : {"heads", "map", "head", "tokens", "heads"}) {
    bench.key("F6");
    CATCH_CAPTURE(expected);
    CATCH_CHECK(bench.fact("focus") == expected);
    const std::vector<Rect> rings = rings_of(bench);
    CATCH_REQUIRE(rings.size() == 1);
    CATCH_CHECK(rings[0] == panel_of(bench, expected).inset(1.0f));
  }
  bench.key("Shift+F6");
  CATCH_CHECK(bench.fact("focus") == "tokens");
  // A folded panel is not one that is shown.
  bench.session().run("panel.fold head");
  bench.session().run("panel.focus map");
  bench.frame();
  bench.key("F6");
  CATCH_CHECK(bench.fact("focus") == "tokens");
  bench.session().run("panel.fold head");
  // The pointer takes the focus away.
  bench.press({700, 40});
  CATCH_CHECK(bench.fact("focus") == "none");
  CATCH_CHECK(rings_of(bench).empty());
  bench.key("Tab");
  bench.key("Esc");
  CATCH_CHECK(bench.fact("focus") == "none");
}

CATCH_TEST_CASE("The rail of the folded heads names the chosen one", "[window core]") {
  CoreBench bench("bytes/diff_v2");
  bench.session().run("select L1.H2");
  bench.session().run("panel.fold heads");
  bench.frame();
  const Rect rail = window_layout(bench.window(), bench.state()).heads.rect;
  CATCH_REQUIRE((rail.width() > 10.0f && rail.width() < 40.0f));
  const auto named = bench.painter->find("L1.H2");
  CATCH_CHECK(std::ranges::any_of(named, [&](const RecordedText* text) { return rail.contains(text->baseline); }));
}

CATCH_TEST_CASE("Tab reaches the controls of a panel, and Enter presses the one with the ring", "[window core]") {
  CoreBench bench("bytes/diff_v2");
  bench.key("Tab");
  CATCH_CHECK(bench.fact("focus") == "heads");
  CATCH_CHECK(rings_of(bench).size() == 1);
  // Atlas, Maps, Scatter, Table: the choices at the head of the panel come first.
  for (int i = 0; i < 3; ++i) bench.key("Tab");
  CATCH_CHECK(bench.fact("focus") == "heads");
  CATCH_CHECK(rings_of(bench).empty());  // the control's own is smaller
  bench.key("Enter");
  CATCH_CHECK(bench.state().view.heads.view == HeadsView::Scatter);
  CATCH_CHECK(bench.fact("drawn") == "heads model");  // in the frame of the key
  // Every control is passed on the way round, and each panel once.
  std::vector<std::string> panels;
  for (int i = 0; i < 200; ++i) {
    bench.key("Tab");
    if (panels.empty() || panels.back() != bench.fact("focus")) panels.push_back(bench.fact("focus"));
  }
  CATCH_REQUIRE(panels.size() > 6);
  for (std::size_t i = 0; i + 3 < panels.size(); ++i) CATCH_CHECK(panels[i] == panels[i + 3]);
  bench.key("Esc");
}

CATCH_TEST_CASE("A picture for the save panel is of the window below it, and leaves the frame as it was",
                "[window core]") {
  CoreBench bench("bytes/diff_v2");
  bench.session().run("select L1.H0");
  bench.point({700, 400});
  bench.frame();
  const std::string query = bench.fact("hover.query");
  bench.session().run("save picture");
  bench.session()->edit().settings.picture.theme = PictureTheme::Light;
  bench.frame();
  const std::string name = bench.fact("save.path"), drawn = bench.fact("drawn");
  CATCH_REQUIRE(bench.painter->shows("what is on the screen, or what was measured"));
  const auto page = bench.picture();
  CATCH_CHECK_FALSE(page->shows("what is on the screen, or what was measured"));
  CATCH_CHECK(page->shows("L1.H0"));
  const auto grounds = [](const RecordingPainter& painter, const Theme& theme) {
    return std::ranges::count_if(painter.shapes(), [&](const RecordedShape& shape) {
      return shape.kind == RecordedShape::Kind::FillRect && shape.color == theme.panel;
    });
  };
  CATCH_CHECK((grounds(*page, light_theme()) > 0 && grounds(*page, dark_theme()) == 0));
  CATCH_CHECK((bench.state().overlay == Overlay::Save && !bench.state().taking_picture));
  CATCH_CHECK((bench.fact("save.path") == name && bench.fact("drawn") == drawn));
  bench.frame();
  CATCH_CHECK((grounds(*bench.painter, dark_theme()) > 0 && grounds(*bench.painter, light_theme()) == 0));
  CATCH_CHECK(bench.painter->shows("what is on the screen, or what was measured"));
  // What is typed still goes to the name.
  bench.key("x");
  CATCH_CHECK(bench.fact("overlay") != "0");
}

CATCH_TEST_CASE("A text that is dropped becomes the prompt of the model that is open", "[window core]") {
  const TempFolder folder;
  const std::string text = folder.write("my notes.txt", "a text of my own").string();
  CoreBench bench("bytes/diff_v2");
  CATCH_CHECK(bench.drop(text) == std::vector<std::string>{"prompt-file " + quote_word(text)});
  CATCH_CHECK(bench.state().prompt.text == "a text of my own");
  const std::string model = "/no such model";
  CATCH_CHECK(bench.drop(model) == std::vector<std::string>{"open.run " + quote_word(model)});
  CATCH_CHECK(bench.drop("/x/config.json") == std::vector<std::string>{"open.run /x/config.json"});
  // Without a model there is nothing to read it.
  CoreBench empty(nullptr);
  CATCH_CHECK(empty.drop(text) == std::vector<std::string>{"open.run " + quote_word(text)});
}

CATCH_TEST_CASE("F11 shows the panel with the focus alone, whichever it is, and all again", "[window core]") {
  CoreBench bench("bytes/diff_v2");
  bench.key("F11");
  CATCH_CHECK(bench.fact("maximised") == "map");
  bench.key("F11");
  CATCH_CHECK(bench.fact("maximised") == "none");
  for (const char* name : {"heads", "map", "head", "tokens"}) {
    CATCH_CAPTURE(name);
    bench.session().run(std::string("panel.focus ") + name);
    bench.key("F11");
    CATCH_CHECK(bench.fact("maximised") == name);
    CATCH_REQUIRE(bench.state().panels_shown == std::vector<std::string>{name});
    const Rect shown = panel_of(bench, name);
    CATCH_CHECK(shown.height() > 700.0f);
    // It is drawn there, and no other panel is.
    std::vector<std::string> drawn;
    for (const RecordedPanel& panel : bench.painter->panels())
      if (panel.frame == shown) drawn.push_back(panel.name);
    CATCH_CHECK_FALSE(drawn.empty());
    CATCH_CHECK(rings_of(bench).size() == 1);
    bench.key("F11");
    CATCH_CHECK(bench.state().panels_shown.size() == 4);
  }
}

CATCH_TEST_CASE("With nothing open no panel takes the focus or is shown alone", "[window core]") {
  CoreBench bench(nullptr);
  bench.frame();
  for (const char* key : {"F6", "Shift+F6", "F11"}) {
    bench.key(key);
    CATCH_CHECK(bench.state().layout.focus.empty());
    CATCH_CHECK(bench.state().layout.maximised.empty());
  }
  CATCH_CHECK(bench.session().refusal("panel.next").find("no panel is shown") != std::string::npos);
}

CATCH_TEST_CASE("tiles that one panel wants do not take the place of another's", "[window core]") {
  CoreBench bench("bytes/diff_v2");
  for (const char* line : {"heads maps", "heads.maps.show logits", "select L1.H0"}) bench.session().run(line);
  const auto heads = static_cast<std::size_t>(bench.state().data()->layers.size() * bench.state().data()->heads.size());
  std::string there;
  for (int i = 0; i < 2000 && there != std::to_string(heads); ++i) {
    bench.frame();
    CATCH_REQUIRE(bench.fact("drawn").starts_with("heads map"));
    there = bench.fact("maps.there");
    if (i > 20 && bench.session()->tiles().statistics().waiting == 0 && there != std::to_string(heads)) break;
  }
  CATCH_CHECK(there == std::to_string(heads));
}

CATCH_TEST_CASE("The palette over a figure leads back to it, with and without a command", "[window core]") {
  CoreBench bench("bytes/diff_v2");
  bench.session().run("run");
  bench.session().run("select L1.H0");
  bench.session().run("figure rms");
  bench.frame();
  for (const char* line : {"figure.set width 120mm", "theme light", "settings", ""}) {
    bench.key("Ctrl+P");
    bench.frame();
    CATCH_REQUIRE(bench.state().overlay == Overlay::Palette);
    bench.type(line);
    bench.key(*line ? "Enter" : "Esc");
    bench.frame();
    CATCH_INFO(line);
    CATCH_CHECK(bench.state().overlay == (line == std::string("settings") ? Overlay::Settings : Overlay::Figure));
    CATCH_CHECK(bench.state().figure.kind == "rms");
    if (bench.state().overlay == Overlay::Settings) bench.session().run("figure rms");
    bench.frame();
  }
  // A click beside the palette too.
  bench.key("Ctrl+P");
  bench.frame();
  bench.press({4.0f, 4.0f});
  bench.frame();
  CATCH_CHECK(bench.state().overlay == Overlay::Figure);
  CATCH_CHECK(bench.state().figure.look("rms").options.width == "120mm");
  CATCH_CHECK(bench.state().unseen_warnings == 0);
  // Over the panels it leads back to them.
  bench.session().run("overlay.close");
  bench.frame();
  bench.key("Ctrl+P");
  bench.frame();
  bench.type("theme dark");
  bench.key("Enter");
  CATCH_CHECK(bench.state().overlay == Overlay::None);
}

}  // namespace headroom::test
