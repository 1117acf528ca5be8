// A window without a screen for tests of widgets: frames with made-up input, what they drew, what they ran. One thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/plot/plain_measure.h"
#include "app/plot/recording_painter.h"
#include "app/ui/ui.h"

namespace headroom::test {

class BenchLookup final : public CommandLookup {
 public:
  std::map<std::string, std::string, std::less<>> reasons, keys;
  [[nodiscard]] std::string disabled_reason(std::string_view line) const override { return find(reasons, line); }
  [[nodiscard]] std::string key_text(std::string_view line) const override { return find(keys, line); }

 private:
  static std::string find(const std::map<std::string, std::string, std::less<>>& map, std::string_view line) {
    const auto at = map.find(line);
    return at == map.end() ? std::string() : at->second;
  }
};

class BenchClipboard final : public Clipboard {
 public:
  std::string text;
  std::string get() override { return text; }
  void set(const std::string& value) override { text = value; }
};

class UiBench {
 public:
  using Draw = std::function<void(Ui&)>;

  explicit UiBench(Draw draw, Vec2 size = {800.0f, 600.0f}) : draw_(std::move(draw)) {
    input.window = {0.0f, 0.0f, size.x, size.y};
    frame();
  }

  // One frame with `input`; what is momentary in it is gone afterwards.
  void frame() {
    painter = std::make_unique<RecordingPainter>(measure_, input.window);
    Ui ui(*painter, *theme, input, *memory_, lookup, clipboard);
    draw_(ui);
    again = ui.finish();
    cursor = ui.cursor();
    wait = ui.wait_seconds();
    wants_text = ui.wants_text();
    popup_open = ui.popup_open();
    for (std::string& line : ui.take_commands()) commands.push_back(std::move(line));
    input.pressed = {};
    input.released = {};
    input.keys.clear();
    input.released_keys.clear();
    input.text.clear();
    input.wheel = {};
    input.clicks = 0;
    input.time += 1.0 / 60.0;
  }
  void frames(int count) {
    for (int i = 0; i < count; ++i) frame();
  }
  void wait_for(double seconds) {
    input.time += seconds;
    frame();
  }

  void move(Vec2 to) {
    input.pointer = to;
    input.pointer_inside = true;
    frame();
  }
  void press(Vec2 at, int clicks = 1, int button = kLeftButton) {
    input.pointer = at;
    input.pointer_inside = true;
    input.down[static_cast<std::size_t>(button)] = input.pressed[static_cast<std::size_t>(button)] = true;
    input.clicks = button == kLeftButton ? clicks : 0;
    frame();
  }
  void release(int button = kLeftButton) {
    input.down[static_cast<std::size_t>(button)] = false;
    input.released[static_cast<std::size_t>(button)] = true;
    frame();
  }
  void click(Vec2 at, int clicks = 1) {
    press(at, clicks);
    release();
  }
  void right_click(Vec2 at) {
    press(at, 0, kRightButton);
    release(kRightButton);
  }
  void drag(Vec2 from, Vec2 to) {
    press(from);
    move({0.5f * (from.x + to.x), 0.5f * (from.y + to.y)});
    move(to);
    release();
  }
  void wheel(Vec2 at, float notches) {
    input.pointer = at;
    input.pointer_inside = true;
    input.wheel.y = notches;
    frame();
  }
  void key(Key key, Modifiers modifiers = {}) {
    input.keys.push_back({key, modifiers, false});
    input.modifiers = modifiers;
    frame();
    input.modifiers = {};
  }
  void type(const std::string& text) {
    input.text = text;
    frame();
  }
  [[nodiscard]] std::vector<std::string> taken() { return std::exchange(commands, {}); }
  [[nodiscard]] const RecordedText* text(std::string_view part) const {
    const auto found = painter->find(part);
    return found.empty() ? nullptr : found.front();
  }
  // The middle of the first text that holds `part`.
  [[nodiscard]] Vec2 place(std::string_view part) const {
    const RecordedText* found = text(part);
    if (found == nullptr) return {-1.0f, -1.0f};
    return {found->baseline.x + 0.5f * found->width, found->baseline.y - 0.36f * found->style.size};
  }

  Input input;
  BenchLookup lookup;
  BenchClipboard clipboard;
  const Theme* theme = &dark_theme();
  std::unique_ptr<RecordingPainter> painter;
  std::vector<std::string> commands;
  bool again = false, wants_text = false, popup_open = false;
  Cursor cursor = Cursor::Arrow;
  double wait = 0.0;

 private:
  Draw draw_;
  PlainMeasure measure_;
  UiStatePtr memory_ = make_ui_state();
};

}  // namespace headroom::test
