// The panels about heads without a display: a state that a test edits, a painter that records, a pointer, and the
// command lines that a panel asks for, each of which must exist and take its arguments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/panel.h"
#include "app/panels/parts/run_cache.h"
#include "app/plot/plain_measure.h"
#include "app/plot/recording_painter.h"
#include "app/plot/theme.h"
#include "app/session/commands.h"
#include "tests/support/catch.h"
#include "tests/support/shown_run.h"
#include "tests/support/snapshots.h"

namespace headroom::test {

class HeadsBench {
 public:
  using Panel = std::function<void(PanelContext&, Rect)>;

  explicit HeadsBench(const SnapshotOptions& options = {}, HeadRef head = {1, 1})
      : state(make_state(make_snapshot(options), head)) {}

  const RecordingPainter& draw(const Panel& panel, Rect frame) {
    const Rect window{0.0f, 0.0f, std::max(1440.0f, frame.x1 + 20.0f), std::max(900.0f, frame.y1 + 20.0f)};
    painter = std::make_unique<RecordingPainter>(measure, window, scale);
    facts.clear();
    input.window = window;
    input.time += 0.5;
    state.hover = hover;
    hover = {};
    Lookup lookup;
    Ui ui(*painter, dark ? dark_theme() : light_theme(), input, *memory, lookup, clipboard);
    PanelContext context{ui, state, tiles, commands, hover, facts, keeps ? &heads : nullptr};
    panel(context, frame);
    tiles.want(context.wanted);
    (void)ui.finish();
    lines = ui.take_commands();
    for (const std::string& line : lines) require_command(line);
    input.pressed = input.released = {};
    input.clicks = 0;
    input.wheel = {};
    input.keys.clear();
    input.text.clear();
    return *painter;
  }

  // A command of the table, with arguments that it takes.
  void require_command(const std::string& line) const {
    const auto words = split_command_line(line);
    CATCH_CAPTURE(line.substr(0, 200));
    CATCH_REQUIRE(words.has_value());
    CATCH_REQUIRE_FALSE(words->empty());
    const Command* command = commands.find(words->front());
    CATCH_REQUIRE(command != nullptr);
    const auto checked = command->arguments.read(command->name, std::span(*words).subspan(1));
    CATCH_CAPTURE((checked ? std::string() : describe(checked.error())));
    CATCH_REQUIRE(checked.has_value());
  }

  // Pointer there, pressed, let go: a frame each. The command lines of all three.
  std::vector<std::string> click(const Panel& panel, Rect frame, Vec2 at) {
    std::vector<std::string> all;
    const auto step = [&](bool pressed, bool released) {
      point(at);
      input.pressed[0] = pressed;
      input.released[0] = released;
      input.down[0] = pressed;
      input.clicks = pressed ? 1 : 0;
      draw(panel, frame);
      all.insert(all.end(), lines.begin(), lines.end());
    };
    step(false, false);
    step(true, false);
    step(false, true);
    return all;
  }

  std::vector<std::string> drag(const Panel& panel, Rect frame, const std::vector<Vec2>& path) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i <= path.size(); ++i) {
      point(path[std::min(i, path.size() - 1)]);
      input.pressed[0] = i == 0;
      input.released[0] = i == path.size();
      input.down[0] = i < path.size();
      draw(panel, frame);
      all.insert(all.end(), lines.begin(), lines.end());
    }
    return all;
  }

  void point(Vec2 at) {
    input.pointer = at;
    input.pointer_inside = true;
  }

  double fact(const char* name) const {
    const std::string* value = facts.find(name);
    CATCH_CAPTURE(name);
    CATCH_REQUIRE(value != nullptr);
    return std::stod(*value);
  }

  PlainMeasure measure;
  State state;
  Input input;
  Hover hover;
  Facts facts;
  RunCache heads;
  UiStatePtr memory = make_ui_state();
  CommandTable commands = make_command_table();
  std::vector<std::string> lines;
  std::unique_ptr<RecordingPainter> painter;
  float scale = 1.0f;
  bool dark = true, keeps = true;

 private:
  class Lookup final : public CommandLookup {
   public:
    std::string disabled_reason(std::string_view) const override { return ""; }
    std::string key_text(std::string_view) const override { return ""; }
  };
  class NoClipboard final : public Clipboard {
   public:
    std::string get() override { return ""; }
    void set(const std::string&) override {}
  };
  NoClipboard clipboard;
  TileStore tiles{std::size_t{1} << 24, 1, [] {}};
};

// Nothing is cut, outside its panel, on other text, or misused.
inline void holds(const RecordingPainter& painter, const std::string& where) {
  const std::vector<std::string> faults = painter.violations();
  CATCH_CAPTURE(where, faults.size(), faults.empty() ? std::string() : faults.front());
  CATCH_CHECK(faults.empty());
}

}  // namespace headroom::test
