#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "tests/app/ui/ui_bench.h"
#include "tests/support/catch.h"

namespace headroom {
namespace {

using test::UiBench;

constexpr Rect kBox{100.0f, 100.0f, 200.0f, 140.0f};
constexpr Vec2 kInside{150.0f, 120.0f}, kOutside{400.0f, 400.0f};

CATCH_TEST_CASE("interact: press, hold, release is a click, and leaving or dragging is none") {
  Interaction seen;
  UiBench bench([&](Ui& ui) { seen = ui.interact("box", kBox, Cursor::Hand); });
  bench.move(kInside);
  CATCH_CHECK(seen.hovered);
  CATCH_CHECK(bench.cursor == Cursor::Hand);
  bench.press(kInside);
  CATCH_CHECK((seen.pressed && seen.held && !seen.clicked));
  bench.release();
  CATCH_CHECK((seen.released && seen.clicked && !seen.held));
  bench.frame();
  CATCH_CHECK_FALSE((seen.released || seen.clicked || seen.held));

  bench.press(kInside);
  bench.move(kOutside);
  CATCH_CHECK((seen.held && !seen.hovered && seen.dragging));
  bench.release();
  CATCH_CHECK((seen.released && !seen.clicked));

  bench.move(kOutside);
  CATCH_CHECK_FALSE(seen.hovered);
  CATCH_CHECK(bench.cursor == Cursor::Arrow);
}

CATCH_TEST_CASE("interact: a drag begins after four pixels and then moves by all of them") {
  Interaction seen;
  Vec2 moved{};
  UiBench bench([&](Ui& ui) {
    seen = ui.interact("box", kBox);
    moved = moved + seen.drag;
  });
  bench.press({120, 120});
  bench.move({123, 120});
  CATCH_CHECK_FALSE(seen.dragging);
  bench.release();
  CATCH_CHECK(seen.clicked);
  bench.press({120, 120});
  bench.move({123, 120});
  bench.move({130, 121});
  CATCH_CHECK(seen.dragging);
  bench.move({140, 125});
  CATCH_CHECK(moved == Vec2{20.0f, 5.0f});
  CATCH_CHECK(seen.pressed_at == Vec2{120.0f, 120.0f});
  bench.release();
  CATCH_CHECK_FALSE(seen.clicked);
}

CATCH_TEST_CASE("interact: double click, right click, press and release within one frame") {
  Interaction seen;
  UiBench bench([&](Ui& ui) { seen = ui.interact("box", kBox); });
  bench.move(kInside);
  bench.press(kInside, 2);
  CATCH_CHECK(seen.double_clicked);
  bench.release();
  bench.press(kInside, 0, kRightButton);
  CATCH_CHECK((seen.right_clicked && !seen.pressed));
  bench.release(kRightButton);
  bench.input.pressed[kLeftButton] = bench.input.released[kLeftButton] = true;
  bench.input.clicks = 1;
  bench.frame();
  CATCH_CHECK((seen.pressed && seen.clicked && !seen.held));
}

CATCH_TEST_CASE("interact: of nested areas the inner one has the pointer, whichever is drawn first") {
  for (const bool inner_first : {false, true}) {
    Interaction outer, inner;
    UiBench bench([&](Ui& ui) {
      if (inner_first) inner = ui.interact("inner", {110, 110, 130, 130});
      outer = ui.interact("outer", kBox);
      if (!inner_first) inner = ui.interact("inner", {110, 110, 130, 130});
    });
    bench.click({120, 120});
    CATCH_CHECK((inner.clicked && !outer.clicked && !outer.hovered));
    bench.click({180, 120});
    CATCH_CHECK((outer.clicked && !inner.clicked));
  }
}

CATCH_TEST_CASE("interact: equal names in two scopes are two widgets, and a held one keeps the others quiet") {
  Interaction a, b;
  UiBench bench([&](Ui& ui) {
    ui.push_id("a");
    a = ui.interact("x", {0, 0, 50, 50});
    ui.pop_id();
    ui.push_id("b");
    b = ui.interact("x", {60, 0, 110, 50});
    ui.pop_id();
  });
  bench.press({10, 10});
  CATCH_CHECK((a.held && !b.held));
  bench.move({80, 10});
  CATCH_CHECK((a.held && !b.hovered));
  bench.release();
  bench.frame();
  CATCH_CHECK(b.hovered);
}

CATCH_TEST_CASE("overlay: what lies above has the pointer, and a modal one has it alone") {
  for (const bool modal : {false, true}) {
    Interaction below, above, beside;
    bool hovered_below = false;
    UiBench bench([&](Ui& ui) {
      below = ui.interact("below", {0, 0, 300, 300});
      beside = ui.interact("beside", {400, 0, 500, 100});
      hovered_below = ui.hovered({0, 0, 300, 300});
      ui.begin_overlay("card", {100, 100, 200, 200}, modal);
      above = ui.interact("below", {110, 110, 150, 150});
      ui.end_overlay();
    });
    bench.click({120, 120});
    CATCH_CHECK((above.clicked && !below.clicked && !hovered_below));
    bench.click({180, 180});  // on the card, beside its button
    CATCH_CHECK_FALSE((above.clicked || below.clicked));
    bench.click({450, 50});
    CATCH_CHECK(beside.clicked == !modal);
    bench.move({50, 50});
    CATCH_CHECK(hovered_below == !modal);
  }
}

CATCH_TEST_CASE("clip: widgets do not take the pointer where they are not seen") {
  Interaction seen;
  UiBench bench([&](Ui& ui) {
    ui.push_clip({100, 100, 150, 140});
    seen = ui.interact("box", kBox);
    ui.pop_clip();
  });
  bench.click({180, 120});
  CATCH_CHECK_FALSE(seen.clicked);
  bench.click({120, 120});
  CATCH_CHECK(seen.clicked);
}

CATCH_TEST_CASE("button: runs its command, and a disabled one says why and does not") {
  bool returned = false;
  UiBench bench([&](Ui& ui) { returned = ui.button(kBox, "Run", "run", ButtonStyle::Primary, Icon::Play); });
  bench.press(kInside);
  bench.release();
  CATCH_CHECK(returned);
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"run"});
  bench.lookup.reasons["run"] = "open a checkpoint first";
  bench.click(kInside);
  CATCH_CHECK_FALSE(returned);
  CATCH_CHECK(bench.taken().empty());
  bench.wait_for(0.5);
  bench.wait_for(0.5);
  CATCH_CHECK(bench.painter->shows("open a checkpoint first"));
  CATCH_CHECK(bench.painter->violations().empty());
}

CATCH_TEST_CASE("button: a text that is too long is elided and whole in the tooltip") {
  UiBench bench([&](Ui& ui) { ui.button({10, 10, 80, 34}, "A title that is far too long", "x"); });
  CATCH_CHECK(bench.painter->shows("…"));
  bench.move({20, 20});
  bench.wait_for(0.5);
  bench.wait_for(0.5);
  CATCH_CHECK(bench.painter->shows("A title that is far too long"));
  CATCH_CHECK(bench.painter->violations().empty());
}

CATCH_TEST_CASE("tooltip: comes after 0.4 s of rest, stays inside the window, wraps") {
  const std::string tip(300, 'w');
  UiBench bench([&](Ui& ui) { ui.tooltip({700, 500, 800, 600}, "a few words\n" + tip); });
  bench.move({790, 590});
  CATCH_CHECK_FALSE(bench.painter->shows("a few words"));
  CATCH_CHECK_FALSE(bench.again);
  CATCH_CHECK(bench.wait > 0.3);
  CATCH_CHECK(bench.wait <= 0.4);
  bench.wait_for(0.2);
  bench.move({780, 580});  // moved: the time begins again
  bench.wait_for(0.3);
  CATCH_CHECK_FALSE(bench.painter->shows("a few words"));
  bench.wait_for(0.2);
  CATCH_CHECK(bench.painter->shows("a few words"));
  CATCH_CHECK(bench.painter->violations().empty());
  for (const RecordedText& text : bench.painter->texts()) CATCH_CHECK(text.width <= 360.0f);
  bench.move({300, 300});
  CATCH_CHECK_FALSE(bench.painter->shows("a few words"));
  CATCH_CHECK(bench.wait > 1e6);
}

CATCH_TEST_CASE("segmented: as wide as its texts, runs what is clicked, dims what cannot be chosen") {
  const std::vector<Choice> choices{{"weights", "map net", true, ""},
                                    {"logits", "map logits", false, ""},
                                    {"first", "map first", false, "no second map"}};
  float width = 0.0f, measured = 0.0f;
  UiBench bench([&](Ui& ui) {
    measured = ui.segmented({20, 20}, 22, choices, false);
    width = ui.segmented({20, 20}, 22, choices);
  });
  CATCH_CHECK(width == measured);
  bench.click(bench.place("logits"));
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"map logits"});
  bench.click(bench.place("first"));
  CATCH_CHECK(bench.taken().empty());
  CATCH_CHECK(bench.text("first")->style.color == bench.theme->off);
  CATCH_CHECK(bench.text("weights")->style.face == Face::SansSemibold);
  CATCH_CHECK(bench.painter->violations().empty());
}

CATCH_TEST_CASE("check box, radio, link and icon button run their commands") {
  UiBench bench([&](Ui& ui) {
    ui.check_box({10, 10, 200, 30}, "check", true, "check off");
    ui.radio({10, 40, 200, 60}, "radio", false, "radio on");
    ui.link({10, 80}, "link", "go", ui.theme.hint());
    ui.icon_button({10, 100, 30, 120}, Icon::Close, "close", "Close");
  });
  bench.click({16, 20});
  bench.click(bench.place("radio"));
  bench.click(bench.place("link"));
  CATCH_CHECK(bench.cursor == Cursor::Hand);
  bench.click({20, 110});
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"check off", "radio on", "go", "close"});
}

CATCH_TEST_CASE("slider: follows the pointer, ends at its ends, keeps still when disabled") {
  std::optional<double> value;
  bool enabled = true;
  UiBench bench([&](Ui& ui) { value = ui.slider("s", {100, 100, 210, 120}, 0.5, -1.0, 3.0, enabled); });
  CATCH_CHECK_FALSE(value);
  bench.press({155, 110});
  CATCH_REQUIRE(value);
  CATCH_CHECK(std::abs(*value - 1.0) < 1e-6);
  bench.move({900, 110});
  CATCH_CHECK(*value == 3.0);
  bench.move({0, 110});
  CATCH_CHECK(*value == -1.0);
  bench.release();
  CATCH_CHECK(value);
  bench.frame();
  CATCH_CHECK_FALSE(value);
  enabled = false;
  bench.press({155, 110});
  CATCH_CHECK_FALSE(value);
}

CATCH_TEST_CASE("scroll: wheel, bar, steps, and bringing a row into view") {
  float offset = -1.0f;
  float content = 1000.0f, step = 0.0f;
  bool to_row = false;
  const Rect view{100, 100, 300, 300};
  UiBench bench([&](Ui& ui) {
    if (to_row) ui.scroll_to("list", 600.0f, 620.0f);
    to_row = false;
    offset = ui.scroll("list", view, content, step);
  });
  CATCH_CHECK(offset == 0.0f);
  bench.wheel({150, 150}, -1.0f);
  CATCH_CHECK(offset == 48.0f);
  bench.wheel({150, 150}, 5.0f);
  CATCH_CHECK(offset == 0.0f);
  bench.wheel({500, 500}, -1.0f);
  CATCH_CHECK(offset == 0.0f);
  bench.wheel({150, 150}, -100.0f);
  CATCH_CHECK(offset == 800.0f);
  to_row = true;
  bench.frame();
  CATCH_CHECK(offset == 600.0f);
  // The knob is 40 high and 160 pixels free: dragging by 16 moves by a tenth.
  bench.press({295, 100 + 120 + 20});
  bench.move({295, 100 + 120 + 20 - 16});
  CATCH_CHECK(offset == 520.0f);
  bench.release();
  step = 18.0f;
  bench.frame();
  CATCH_CHECK(std::fmod(offset, 18.0f) == 0.0f);
  bench.wheel({150, 150}, -100.0f);
  CATCH_CHECK(offset == 810.0f);  // the last row is seen as a whole
  content = 100.0f;
  bench.frame();
  CATCH_CHECK(offset == 0.0f);
}

CATCH_TEST_CASE("wheel: the innermost scroll view has it, an area within a view leaves it to the view") {
  float outer = 0.0f, inner = 0.0f, taken = 0.0f;
  float inner_content = 500.0f;
  UiBench bench([&](Ui& ui) {
    outer = ui.scroll("outer", {0, 0, 400, 400}, 2000.0f);
    (void)ui.interact("row", {0, 0, 390, 20});
    inner = ui.scroll("inner", {100, 100, 200, 200}, inner_content);
    taken += ui.interact("map", {500, 0, 700, 400}).wheel;
  });
  bench.wheel({150, 150}, -1.0f);
  CATCH_CHECK((inner == 48.0f && outer == 0.0f));
  bench.wheel({10, 10}, -1.0f);
  CATCH_CHECK((inner == 48.0f && outer == 48.0f));
  bench.wheel({600, 10}, -2.0f);
  CATCH_CHECK((taken == -2.0f && outer == 48.0f));
  inner_content = 50.0f;  // nothing to scroll: the outer one has it
  bench.frame();
  bench.wheel({150, 150}, -1.0f);
  CATCH_CHECK((inner == 0.0f && outer == 96.0f));
}

CATCH_TEST_CASE("splitter: tells how far it was dragged") {
  float moved = 0.0f;
  UiBench bench([&](Ui& ui) { moved += ui.splitter("s", {298, 0, 303, 400}, true); });
  bench.move({300, 100});
  CATCH_CHECK(bench.cursor == Cursor::ResizeHorizontal);
  bench.drag({300, 100}, {340, 150});
  CATCH_CHECK(moved == 40.0f);
}

CATCH_TEST_CASE("label: fits its width, whole in a tooltip, and control characters are shown") {
  float width = 0.0f;
  UiBench bench([&](Ui& ui) {
    width = ui.label({10, 50}, "a very long name of a checkpoint \x1B[31m", ui.theme.body(ui.theme.text), 100.0f);
  });
  CATCH_CHECK(width <= 100.0f);
  CATCH_CHECK(bench.painter->violations().empty());
  bench.move({20, 46});
  bench.wait_for(0.5);
  bench.wait_for(0.5);
  CATCH_CHECK(bench.painter->shows("a very long name of a checkpoint \\x1B[31m"));
}

CATCH_TEST_CASE("kept texts and numbers last while they are asked for") {
  bool ask = true;
  std::string seen;
  double number = 0.0;
  bool fresh = false;
  UiBench bench([&](Ui& ui) {
    if (!ask) return;
    fresh = ui.appeared("thing");
    seen = ui.kept_text("t");
    ui.kept_text("t") = "kept";
    number = ui.kept_number("n", 7.0);
    ui.kept_number("n") = 8.0;
  });
  CATCH_CHECK((fresh && seen.empty() && number == 7.0));
  bench.frame();
  CATCH_CHECK((!fresh && seen == "kept" && number == 8.0));
  ask = false;
  bench.frame();
  ask = true;
  bench.frame();
  CATCH_CHECK((fresh && seen.empty() && number == 7.0));
}

CATCH_TEST_CASE("progress: in proportion, unknown asks for frames") {
  double fraction = 0.5;
  UiBench bench([&](Ui& ui) { ui.progress({100, 100, 300, 120}, fraction); });
  CATCH_CHECK(bench.wait > 1e6);
  const auto accent = [&] {
    float width = 0.0f;
    for (const RecordedShape& shape : bench.painter->shapes()) {
      if (shape.color == bench.theme->accent) width += shape.bounds.width();
    }
    return width;
  };
  CATCH_CHECK(accent() == 100.0f);
  fraction = 7.0;
  bench.frame();
  CATCH_CHECK(accent() == 200.0f);
  fraction = -1.0;
  bench.frame();
  CATCH_CHECK(bench.wait <= 0.04);
}

}  // namespace
}  // namespace headroom
