// Tab through panels and their controls, and what Enter, Space, Escape and the arrows do there.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tests/app/ui/ui_bench.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

constexpr Modifiers kShift{.ctrl = false, .shift = true, .alt = false};

// A bar, a panel with a button, a greyed one, a choice of two, a slider and a field; over it, when asked for, an
// overlay with a button.
struct Board {
  bool overlay = false;
  std::string focused, text;
  double value = 0.5;
  UiBench bench{[this](Ui& ui) {
    ui.button({0, 0, 100, 20}, "Bar", "bar");
    ui.panel_stop("left", {0, 30, 400, 600}, focused == "left");
    ui.button({10, 70, 110, 90}, "Cannot", "cannot");
    ui.button({120, 44, 220, 64}, "Beside", "beside");  // drawn before what is read before it
    ui.button({10, 40, 110, 60}, "Go", "go");
    const std::array<Choice, 2> choices{{{"One", "choose 1", true, ""}, {"Two", "choose 2", false, ""}}};
    ui.segmented({10, 100}, 22, choices);
    if (const std::optional<double> moved = ui.slider("s", {10, 130, 110, 150}, value, 0.0, 1.0)) value = *moved;
    ui.text_field("f", {10, 160, 110, 180}, text);
    ui.end_panel_stop();
    ui.panel_stop("right", {400, 30, 800, 600}, focused == "right");
    ui.check_box({410, 40, 510, 60}, "Check", false, "check");
    ui.end_panel_stop();
    if (!overlay) return;
    ui.begin_overlay("over", {200, 200, 600, 400}, true);
    ui.button({210, 210, 310, 230}, "Close", "close");
    ui.end_overlay();
  }};

  Board() { bench.lookup.reasons["cannot"] = "not now"; }

  // What is queued by this key; the panel's focus is the program's state, which follows it.
  std::vector<std::string> key(Key key, Modifiers modifiers = {}) {
    bench.commands.clear();
    bench.input.keys.push_back({key, modifiers, false});
    bench.frame();
    for (const std::string& line : bench.commands)
      if (line.starts_with("panel.focus ")) focused = line.substr(12) == "none" ? "" : line.substr(12);
    std::vector<std::string> lines = bench.commands;
    bench.frame();
    return lines;
  }
  [[nodiscard]] std::vector<Rect> rings() const {
    std::vector<Rect> found;
    for (const RecordedShape& shape : bench.painter->shapes())
      if (shape.kind == RecordedShape::Kind::StrokeRect && shape.color == bench.theme->accent && shape.width == 2.0f)
        found.push_back(shape.bounds);
    return found;
  }
};

using Lines = std::vector<std::string>;

}  // namespace

CATCH_TEST_CASE("Tab goes through panels and controls in reading order, Enter and Space press what has the ring",
                "[ui]") {
  Board board;
  CATCH_CHECK(board.rings().empty());
  CATCH_CHECK(board.key(Key::Enter).empty());  // nothing has the focus
  CATCH_CHECK(board.key(Key::Tab) == Lines{"panel.focus left"});
  CATCH_CHECK(board.rings().empty());  // a panel has a ring of the frame's own
  CATCH_CHECK(board.key(Key::Enter).empty());
  CATCH_CHECK(board.key(Key::Tab).empty());
  CATCH_CHECK(board.rings() == std::vector<Rect>{Rect{7, 37, 113, 63}});
  CATCH_CHECK(board.key(Key::Enter) == Lines{"go"});
  CATCH_CHECK(board.key(Key::Space) == Lines{"go"});
  CATCH_CHECK(board.key(Key::Enter, kShift).empty());
  CATCH_CHECK(board.key(Key::Tab).empty());
  CATCH_CHECK(board.key(Key::Enter) == Lines{"beside"});
  // Past the greyed one.
  CATCH_CHECK(board.key(Key::Tab).empty());
  CATCH_CHECK(board.key(Key::Space) == Lines{"choose 1"});
  CATCH_CHECK(board.key(Key::Tab).empty());
  CATCH_CHECK(board.key(Key::Enter) == Lines{"choose 2"});
  CATCH_CHECK(board.key(Key::Tab).empty());
  CATCH_CHECK(board.key(Key::Right).empty());
  CATCH_CHECK(board.value == 0.52);
  CATCH_CHECK(board.key(Key::Left).empty());
  CATCH_CHECK(board.value == 0.5);
  // A field takes the keyboard, with Space and Enter its own; Tab leaves it.
  CATCH_CHECK(board.key(Key::Tab).empty());
  CATCH_CHECK(board.bench.wants_text);
  board.bench.input.text = "a b";
  board.bench.frame();
  CATCH_CHECK(board.text == "a b");
  CATCH_CHECK(board.key(Key::Tab) == Lines{"panel.focus right"});
  CATCH_CHECK_FALSE(board.bench.wants_text);
  CATCH_CHECK(board.key(Key::Tab).empty());
  CATCH_CHECK(board.key(Key::Space) == Lines{"check"});
  // Round by the bar, and back.
  CATCH_CHECK(board.key(Key::Tab) == Lines{"panel.focus none"});
  CATCH_CHECK(board.key(Key::Enter) == Lines{"bar"});
  CATCH_CHECK(board.key(Key::Tab, kShift) == Lines{"panel.focus right"});
  CATCH_CHECK(board.key(Key::Enter) == Lines{"check"});
}

CATCH_TEST_CASE("The keyboard leaves a control by Escape, by the pointer, and by a command", "[ui]") {
  Board board;
  board.key(Key::Tab);
  board.key(Key::Tab);
  CATCH_REQUIRE(board.rings().size() == 1);
  board.key(Key::Escape);
  CATCH_CHECK(board.rings().empty());
  board.focused = "right";
  board.bench.frame();
  CATCH_CHECK(board.key(Key::Tab).empty());
  CATCH_CHECK(board.key(Key::Enter) == Lines{"check"});
  board.bench.click({700, 500});
  CATCH_CHECK(board.rings().empty());
  board.focused.clear();
  board.bench.frame();
  CATCH_CHECK(board.key(Key::Tab) == Lines{"panel.focus left"});
}

CATCH_TEST_CASE("Below a modal overlay nothing is reached", "[ui]") {
  Board board;
  board.overlay = true;
  board.bench.frame();
  for (int i = 0; i < 3; ++i) {
    CATCH_CHECK_FALSE(board.key(Key::Tab) == Lines{"panel.focus left"});
    CATCH_CHECK(board.key(Key::Enter) == Lines{"close"});
  }
  // And what had the ring keeps no keys once the overlay is gone.
  board.overlay = false;
  board.bench.frame();
  board.bench.frame();
  CATCH_CHECK(board.key(Key::Enter).empty());
}

}  // namespace headroom::test
