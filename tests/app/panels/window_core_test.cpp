// The program's own frame without a display: what the keys reach, and what of it is seen.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/chrome/window_core.h"
#include "app/panels/chrome/window_layout.h"
#include "app/plot/plain_measure.h"
#include "app/plot/recording_painter.h"
#include "tests/app/session/session_bench.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

class KeptClipboard final : public Clipboard {
 public:
  std::string get() override { return text_; }
  void set(const std::string& text) override { text_ = text; }

 private:
  std::string text_;
};

class CoreBench {
 public:
  explicit CoreBench(const char* demo) : core_(*session_.operator->(), clipboard_) {
    input_.window = {0, 0, 1440, 900};
    if (demo == nullptr) return;
    session_.run("demo " + std::string(demo));
    frame();
  }

  FrameResult frame() {
    input_.time += 0.016;
    painter = std::make_unique<RecordingPainter>(measure_, input_.window, 1.0f);
    const FrameResult result = core_.frame(*painter, input_);
    forget_frame(input_);
    session_.wait();
    return result;
  }
  [[nodiscard]] std::vector<std::string> drop(const std::string& path) {
    input_.dropped = {path};
    return frame().lines;
  }
  // One frame, which shows what the key did.
  void key(const char* name) {
    input_.keys.push_back(*parse_key(name));
    input_.modifiers = input_.keys.back().modifiers;
    frame();
    input_.modifiers = {};
  }
  void press(Vec2 at) {
    input_.pointer = at, input_.pointer_inside = true;
    frame();
    input_.pressed[0] = input_.down[0] = true, input_.clicks = 1;
    frame();
    input_.pressed[0] = input_.down[0] = false, input_.released[0] = true, input_.clicks = 0;
    frame();
  }
  [[nodiscard]] std::string fact(const char* name) {
    const std::string* found = core_.facts().find(name);
    return found ? *found : "no such fact";
  }
  [[nodiscard]] const State& state() const { return session_.state(); }
  SessionBench& session() { return session_; }
  [[nodiscard]] Rect window() const { return input_.window; }

  // Frames in the accent colour just within a panel: rings of focus.
  [[nodiscard]] std::vector<Rect> rings() const {
    const Theme& theme = dark_theme();
    const WindowLayout layout = window_layout(window(), state());
    const auto around_panel = [&](const Rect& bounds) {
      return std::ranges::any_of(layout.slots(),
                                 [&](const PanelSlot* slot) { return slot->area().inset(1.0f) == bounds; });
    };
    std::vector<Rect> found;
    for (const RecordedShape& shape : painter->shapes())
      if (shape.kind == RecordedShape::Kind::StrokeRect && shape.color == theme.accent && around_panel(shape.bounds))
        found.push_back(shape.bounds);
    return found;
  }

  std::unique_ptr<RecordingPainter> painter;

 private:
  SessionBench session_;
  KeptClipboard clipboard_;
  WindowCore core_;
  PlainMeasure measure_;
  Input input_;
};

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
  CATCH_CHECK(bench.rings().empty());
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
    const std::vector<Rect> rings = bench.rings();
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
  CATCH_CHECK(bench.rings().empty());
  bench.key("Tab");
  bench.key("Esc");
  CATCH_CHECK(bench.fact("focus") == "none");
}

CATCH_TEST_CASE("Tab reaches the controls of a panel, and Enter presses the one with the ring", "[window core]") {
  CoreBench bench("bytes/diff_v2");
  bench.key("Tab");
  CATCH_CHECK(bench.fact("focus") == "heads");
  CATCH_CHECK(bench.rings().size() == 1);
  // Atlas, Maps, Scatter, Table: the choices at the head of the panel come first.
  for (int i = 0; i < 3; ++i) bench.key("Tab");
  CATCH_CHECK(bench.fact("focus") == "heads");
  CATCH_CHECK(bench.rings().empty());  // the control's own is smaller
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
    CATCH_CHECK(bench.rings().size() == 1);
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

}  // namespace headroom::test
