// 10⁵ random events over all widgets: nothing breaks, nothing is drawn where it should not be, memory stays small.
#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/app/ui/ui_bench.h"
#include "tests/support/catch.h"

namespace headroom {
namespace {

using test::UiBench;

std::vector<MenuItem> menu(int depth) {
  std::vector<MenuItem> items;
  for (int i = 0; i < 5; ++i) {
    MenuItem item;
    item.title = "item " + std::to_string(i);
    item.separator = i == 3;
    item.checked = i == 1;
    if (i == 2 && depth < 3) {
      item.items = menu(depth + 1);
    } else if (i != 4) {
      item.command = i == 0 ? "disabled" : "run " + std::to_string(i);
    }
    items.push_back(std::move(item));
  }
  return items;
}

CATCH_TEST_CASE("random events over all widgets") {
  std::mt19937 random(20260131);
  const auto next = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  std::array<std::string, 3> texts{"one line", "several\nlines\nof text", "漢字 e\xCC\x81"};
  int overlay = 0, shape = 0;
  double slider = 0.3;
  UiBench bench(
      [&](Ui& ui) {
        ui.push_id("bar");
        for (int i = 0; i < 3; ++i) {
          ui.menu_button(std::to_string(i), Rect::sized(60.0f * static_cast<float>(i), 0, 60, 28), "Menu",
                         [] { return menu(0); });
        }
        ui.pop_id();
        ui.combo("combo", {10, 40, 150, 64}, "scale", "log", [] { return menu(1); });
        ui.context_menu("context", {0, 300, 800, 600}, [] { return menu(2); });
        ui.button({170, 40, 250, 64}, "Button", shape % 3 == 0 ? "disabled" : "button");
        ui.icon_button({260, 40, 284, 64}, Icon::Maximise, "maximise", "a tip");
        const std::vector<Choice> choices{
            {"a", "choose a", true, ""}, {"b", "choose b", false, ""}, {"c", "choose c", false, "never"}};
        ui.segmented({300, 40}, 22, choices);
        ui.check_box({10, 80, 120, 100}, "check", shape % 2 == 0, "check");
        ui.radio({10, 110, 120, 130}, "radio", true, "radio");
        if (const auto value = ui.slider("slider", {150, 80, 300, 100}, slider, 0.0, 1.0)) slider = *value;
        ui.progress({150, 110, 300, 130}, shape % 2 == 0 ? -1.0 : 0.4);
        TextFieldOptions line, lines;
        line.hint = "hint";
        line.clear_button = true;
        lines.multiline = true;
        ui.text_field("line", {320, 80, 480, 104}, texts[0], line);
        ui.text_field("lines", {500, 40, 780, 160}, texts[1], lines);
        const Rect view{10, 150, 200, 290};
        const float offset = ui.scroll("list", view, 22.0f * 40.0f, 22.0f);
        ui.push_clip(view);
        for (int i = 0; i < 40; ++i) {
          const Rect row = Rect::sized(10.0f, 150.0f + 22.0f * static_cast<float>(i) - offset, 180.0f, 22.0f);
          if (!row.overlaps(view) || row.y1 > view.y1 || row.y0 < view.y0) continue;
          if (ui.interact(std::to_string(i), row).clicked) ui.run("row");
          ui.label_at(row.x0, row.centre_y(), "row " + std::to_string(i), ui.theme.body(ui.theme.text), 180.0f);
        }
        ui.pop_clip();
        ui.splitter("v", {398, 300, 403, 600}, true);
        ui.splitter("h", {0, 448, 800, 453}, false);
        ui.tooltip({500, 300, 700, 500}, "a tooltip\nof two lines");
        if (overlay > 0) {
          ui.begin_overlay("box", {200, 200, 600, 400}, overlay == 2);
          ui.painter.fill_rect({200, 200, 600, 400}, ui.theme.panel);
          ui.text_field("in", {220, 220, 400, 244}, texts[2], line);
          if (ui.button({450, 350, 580, 380}, "Close", "", ButtonStyle::Primary)) overlay = 0;
          ui.end_overlay();
        }
      },
      {800.0f, 600.0f});
  bench.lookup.reasons["disabled"] = "it cannot work";
  const std::array<const char*, 9> typed{"a", " ", "é", "注", "👩‍👧", "\xCC\x81", "\xFF", "xyz", "\xE2\x80\xAE"};
  const std::array<Key, 16> keys{Key::Left,   Key::Right,      Key::Up,         Key::Down,
                                 Key::Home,   Key::End,        Key::PageUp,     Key::PageDown,
                                 Key::Enter,  Key::Escape,     Key::Tab,        Key::Backspace,
                                 Key::Delete, letter_key('A'), letter_key('Z'), letter_key('V')};
  const std::array<Vec2, 14> places{{{30, 14},
                                     {90, 14},
                                     {80, 52},
                                     {200, 52},
                                     {270, 52},
                                     {330, 50},
                                     {400, 92},
                                     {472, 92},
                                     {600, 100},
                                     {60, 90},
                                     {60, 120},
                                     {200, 90},
                                     {60, 200},
                                     {500, 360}}};
  std::size_t commands = 0, checked = 0;
  for (int event = 0; event < 100000; ++event) {
    Input& in = bench.input;
    switch (next(12)) {
      case 0: in.pointer = {static_cast<float>(next(820) - 10), static_cast<float>(next(620) - 10)}; break;
      case 1:
      case 2: in.pointer = places[static_cast<std::size_t>(next(static_cast<int>(places.size())))]; break;
      case 3:
        in.pointer = in.pointer + Vec2{static_cast<float>(next(21) - 10), static_cast<float>(next(21) - 10)};
        break;
      case 4: {
        const auto button = static_cast<std::size_t>(next(4) == 0 ? kRightButton : kLeftButton);
        if (next(2) == 0 && !in.down[button]) {  // a quick click
          in.pressed[button] = in.released[button] = true;
          in.clicks = 1;
          break;
        }
        in.pressed[button] = !in.down[button];
        in.released[button] = in.down[button];
        in.down[button] = !in.down[button];
        in.clicks = 1 + next(3);
        break;
      }
      case 5: in.wheel.y = static_cast<float>(next(7) - 3); break;
      case 6: in.text = typed[static_cast<std::size_t>(next(9))]; break;
      case 7:
      case 8: {
        Modifiers modifiers{.ctrl = next(3) == 0, .shift = next(3) == 0, .alt = next(20) == 0};
        in.keys.push_back({keys[static_cast<std::size_t>(next(16))], modifiers, next(4) == 0});
        break;
      }
      case 9: overlay = next(40) == 0 ? next(3) : overlay; break;
      case 10: shape = next(6); break;
      default:
        in.time += 0.1 * next(10);
        in.focused = next(50) != 0;
        in.pointer_inside = next(30) != 0;
        break;
    }
    bench.frame();
    commands += bench.taken().size();
    for (std::string& text : texts) {
      if (text.size() > 4000) text.clear();
    }
    if (event % 50 == 0) {
      ++checked;
      std::vector<std::string> wrong = bench.painter->misuses();
      for (std::string& line : bench.painter->texts_outside()) wrong.push_back(std::move(line));
      CATCH_INFO("event " << event << ": " << (wrong.empty() ? "" : wrong.front()));
      CATCH_REQUIRE(wrong.empty());
    }
    CATCH_REQUIRE((bench.wait >= 0.0 && slider >= 0.0 && slider <= 1.0));
  }
  CATCH_CHECK(commands > 300);
  CATCH_CHECK(checked == 2000);
}

}  // namespace
}  // namespace headroom
