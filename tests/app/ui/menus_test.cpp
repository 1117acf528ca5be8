#include <string>
#include <vector>

#include "tests/app/ui/ui_bench.h"
#include "tests/support/catch.h"

namespace headroom {
namespace {

using test::UiBench;

MenuItem item(const char* title, const char* command) {
  MenuItem one;
  one.title = title;
  one.command = command;
  return one;
}

std::vector<MenuItem> file_items() {
  MenuItem recent = item("Recent", "");
  recent.items = {item("one.h5", "open one.h5"), item("two.h5", "open two.h5")};
  MenuItem quit = item("Quit", "quit");
  quit.separator = true;
  return {item("Open…", "open.dialog"), recent, item("Close", "close"), quit};
}

// Two menus of a bar and a combo.
UiBench bar() {
  return UiBench([](Ui& ui) {
    ui.push_id("bar");
    ui.menu_button("file", {0, 0, 50, 28}, "File", [] { return file_items(); });
    ui.menu_button("view", {50, 0, 100, 28}, "View",
                   [] { return std::vector<MenuItem>{item("Dark", "theme dark"), item("Light", "theme light")}; });
    ui.pop_id();
    ui.combo("scale", {300, 100, 420, 124}, "scale", "log", [] {
      std::vector<MenuItem> items{item("linear", "map.scale linear"), item("log", "map.scale log10"),
                                  item("symlog", "map.scale symlog")};
      items[1].checked = true;
      return items;
    });
    (void)ui.interact("below", {0, 28, 800, 600});
  });
}

CATCH_TEST_CASE("menu: opens on a press, runs on a click, closes after it") {
  UiBench bench = bar();
  bench.click({10, 14});
  CATCH_CHECK(bench.painter->shows("Open…"));
  CATCH_CHECK(bench.popup_open);
  CATCH_CHECK(bench.painter->violations().empty());
  bench.click(bench.place("Close"));
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"close"});
  bench.frame();
  CATCH_CHECK_FALSE(bench.painter->shows("Open…"));
  CATCH_CHECK_FALSE(bench.popup_open);
}

CATCH_TEST_CASE("menu: press, drag to an item, let go") {
  UiBench bench = bar();
  bench.press({10, 14});
  const Vec2 close = bench.place("Close");
  bench.move({20, 40});
  bench.move(close);
  bench.release();
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"close"});
}

CATCH_TEST_CASE("menu: a click beside it closes it and nothing else") {
  UiBench bench = bar();
  bench.click({10, 14});
  bench.click({600, 500});
  CATCH_CHECK_FALSE(bench.painter->shows("Open…"));
  CATCH_CHECK(bench.taken().empty());
  bench.click({10, 14});
  bench.click({10, 14});  // its own title again
  CATCH_CHECK_FALSE(bench.painter->shows("Open…"));
}

CATCH_TEST_CASE("menu: the pointer over another title of the bar opens that one") {
  UiBench bench = bar();
  bench.click({10, 14});
  bench.move({70, 14});
  bench.frame();
  CATCH_CHECK(bench.painter->shows("Light"));
  CATCH_CHECK_FALSE(bench.painter->shows("Open…"));
  bench.move({350, 110});  // a combo is none
  bench.frame();
  CATCH_CHECK(bench.painter->shows("Light"));
}

CATCH_TEST_CASE("menu: submenus open under the pointer and by keys") {
  UiBench bench = bar();
  bench.click({10, 14});
  bench.move(bench.place("Recent"));
  CATCH_CHECK(bench.painter->shows("two.h5"));
  CATCH_CHECK(bench.painter->violations().empty());
  bench.move(bench.place("two.h5"));
  bench.frame();
  bench.click(bench.place("two.h5"));
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"open two.h5"});

  bench.click({10, 14});
  for (const Key key : {Key::Down, Key::Down, Key::Right, Key::Down, Key::Enter}) bench.key(key);
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"open two.h5"});
}

CATCH_TEST_CASE("menu: keys") {
  UiBench bench = bar();
  bench.click({10, 14});
  bench.key(Key::Up);
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"quit"});
  bench.click({10, 14});
  bench.type("c");
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"close"});
  bench.click({10, 14});
  bench.key(Key::Right);
  bench.frame();
  CATCH_CHECK(bench.painter->shows("Light"));
  bench.key(Key::Left);
  bench.frame();
  CATCH_CHECK(bench.painter->shows("Open…"));
  bench.key(Key::Escape);
  CATCH_CHECK(bench.popup_open);  // this Escape was the menu's
  bench.frame();
  CATCH_CHECK_FALSE(bench.popup_open);
  CATCH_CHECK_FALSE(bench.painter->shows("Open…"));
  CATCH_CHECK(bench.taken().empty());
}

CATCH_TEST_CASE("menu: Escape in a submenu goes back to its menu") {
  UiBench bench = bar();
  bench.click({10, 14});
  for (const Key key : {Key::Down, Key::Down, Key::Right}) bench.key(key);
  CATCH_CHECK(bench.painter->shows("one.h5"));
  bench.key(Key::Escape);
  CATCH_CHECK_FALSE(bench.painter->shows("one.h5"));
  CATCH_CHECK(bench.painter->shows("Recent"));
}

CATCH_TEST_CASE("menu: disabled items say why where the key would be, and do not run") {
  UiBench bench = bar();
  bench.lookup.reasons["close"] = "nothing is open";
  bench.lookup.keys["close"] = "Ctrl+W";
  bench.lookup.keys["open.dialog"] = "Ctrl+O";
  bench.click({10, 14});
  CATCH_CHECK(bench.painter->shows("nothing is open"));
  CATCH_CHECK(bench.painter->shows("Ctrl+O"));
  CATCH_CHECK_FALSE(bench.painter->shows("Ctrl+W"));
  CATCH_CHECK(bench.text("Close")->style.color == bench.theme->off);
  bench.click(bench.place("Close"));
  CATCH_CHECK(bench.taken().empty());
  CATCH_CHECK(bench.painter->shows("Open…"));
}

CATCH_TEST_CASE("combo: shows its value, opens below with the checked item hot, Enter chooses") {
  UiBench bench = bar();
  CATCH_CHECK(bench.painter->shows("log"));
  bench.click({350, 110});
  CATCH_CHECK(bench.painter->shows("symlog"));
  bench.key(Key::Down);
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"map.scale symlog"});
}

CATCH_TEST_CASE("combo: at the lower edge it opens above, inside the window") {
  UiBench bench([](Ui& ui) {
    ui.combo("c", {700, 570, 795, 594}, "", "value", [] {
      std::vector<MenuItem> items;
      for (int i = 0; i < 8; ++i) items.push_back(item(("a rather long item " + std::to_string(i)).c_str(), "x"));
      return items;
    });
  });
  bench.click({740, 580});
  CATCH_CHECK(bench.painter->shows("item 7"));
  CATCH_CHECK(bench.painter->violations().empty());
  for (const RecordedPanel& panel : bench.painter->panels()) {
    CATCH_CHECK(panel.frame.x1 <= 800.0f);
    CATCH_CHECK(panel.frame.y1 <= 570.0f);
  }
}

CATCH_TEST_CASE("menu: longer than the window it scrolls, by wheel and by keys") {
  UiBench bench([](Ui& ui) {
    ui.menu_button("m", {0, 0, 50, 28}, "Menu", [] {
      std::vector<MenuItem> items;
      for (int i = 0; i < 100; ++i)
        items.push_back(item(("number " + std::to_string(i)).c_str(), ("run " + std::to_string(i)).c_str()));
      return items;
    });
  });
  bench.click({10, 14});
  CATCH_CHECK_FALSE(bench.painter->shows("number 99"));
  bench.key(Key::End);
  CATCH_CHECK(bench.painter->shows("number 99"));
  bench.wheel({20, 300}, 100.0f);
  CATCH_CHECK(bench.painter->shows("number 0"));
  bench.key(Key::Home);
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"run 0"});
}

CATCH_TEST_CASE("context menu: opens at the pointer on a right click") {
  UiBench bench([](Ui& ui) {
    ui.context_menu("c", {100, 100, 300, 300}, [] { return std::vector<MenuItem>{item("Copy", "copy")}; });
  });
  bench.right_click({50, 50});
  CATCH_CHECK_FALSE(bench.painter->shows("Copy"));
  bench.right_click({200, 200});
  CATCH_REQUIRE(bench.painter->shows("Copy"));
  CATCH_CHECK(bench.text("Copy")->baseline.y > 200.0f);
  bench.click(bench.place("Copy"));
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"copy"});
}

CATCH_TEST_CASE("menu: closes when its button is gone, opens by name") {
  bool shown = true, open = false;
  UiBench bench([&](Ui& ui) {
    if (shown) ui.menu_button("file", {0, 0, 50, 28}, "File", [] { return file_items(); });
    if (open) ui.open_menu("file");
    open = false;
  });
  open = true;
  bench.frame();
  CATCH_CHECK(bench.again);
  bench.frame();
  CATCH_CHECK(bench.painter->shows("Open…"));
  shown = false;
  bench.frame();
  CATCH_CHECK_FALSE(bench.painter->shows("Open…"));
}

CATCH_TEST_CASE("menu: hostile titles stay inside") {
  UiBench bench([](Ui& ui) {
    ui.menu_button("m", {0, 0, 50, 28}, "Menu", [] {
      MenuItem one = item(std::string(400, 'W').c_str(), "a");
      one.detail = "漢字 👩‍👩‍👧 \xE2\x80\xAE reversed \x1B[31m";
      return std::vector<MenuItem>{one, item("\xE2\x80\xAEסוד\n\t", "b")};
    });
  });
  bench.lookup.reasons["b"] = std::string(300, 'r');
  bench.click({10, 14});
  const auto wrong = bench.painter->violations();
  CATCH_INFO((wrong.empty() ? std::string() : wrong.front()));
  CATCH_CHECK(wrong.empty());
}

}  // namespace
}  // namespace headroom
