#include "app/panels/chrome/settings_overlay.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/chrome/bars.h"
#include "app/panels/chrome/overlay.h"
#include "app/panels/panel.h"
#include "app/session/commands.h"
#include "app/session/enum_words.h"
#include "app/ui/text_wrap.h"
#include "core/base/format.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kSettingRow = 34.0f, kKeyRow = 26.0f;

struct Setting {
  const char* title;
  const char* hint;
  std::vector<Choice> choices;
};

Choice choice(std::string title, std::string command, bool selected) {
  return {std::move(title), std::move(command), selected, ""};
}

std::vector<Setting> settings_of(const State& state) {
  const Settings& s = state.settings;
  std::vector<Setting> out;
  out.push_back({"Theme", "", {choice("Dark", "theme dark", s.dark), choice("Light", "theme light", !s.dark)}});
  Setting maps{"Colours of maps", "", {}};
  for (const auto& [title, colours] : {std::pair{"Headroom", Colours::Headroom},
                                       {"Viridis", Colours::Viridis},
                                       {"Cividis", Colours::Cividis},
                                       {"Magma", Colours::Magma},
                                       {"Grey", Colours::Grey}})
    maps.choices.push_back(choice(title, std::string("map.colours ") + word_of(colours), s.colours == colours));
  out.push_back(std::move(maps));
  Setting signed_maps{"Colours of signed maps", "", {}};
  for (const auto& [title, colours] :
       {std::pair{"Headroom", SignedColours::Headroom}, {"PuOr", SignedColours::PuOr}, {"Vik", SignedColours::Vik}})
    signed_maps.choices.push_back(
        choice(title, std::string("map.signed-colours ") + word_of(colours), s.signed_colours == colours));
  out.push_back(std::move(signed_maps));
  Setting scale{"Size of everything", "", {choice("The monitor's", "scale auto", s.scale == 0.0)}};
  for (const double factor : {0.75, 1.0, 1.25, 1.5, 2.0}) {
    scale.choices.push_back(
        choice(format("%.0f %%", 100.0 * factor), format("scale %g", factor), std::abs(s.scale - factor) < 1e-6));
  }
  out.push_back(std::move(scale));
  Setting device{"Device", "of the next run", {choice("CPU", "device cpu", s.device == "cpu")}};
  bool cuda = false;
  if (state.device.info) {
    for (const std::string& name : state.device.info->devices) {
      const std::string word = name.substr(0, name.find(' '));
      if (word == "cpu") continue;
      cuda = true;
      device.choices.push_back(choice(device_text(word), "device " + word, s.device == word));
    }
  }
  if (!cuda) device.choices.push_back(choice("CUDA", "device cuda", s.device == "cuda"));
  out.push_back(std::move(device));
  Setting dtype{"Type", "numbers of the next run", {}};
  for (const char* name : {"float32", "float64", "bfloat16"}) {
    dtype.choices.push_back(choice(dtype_text(name), std::string("dtype ") + name, s.dtype == name));
  }
  out.push_back(std::move(dtype));
  Setting backend{"Attention backend", "", {}};
  for (const char* name : {"auto", "cpu", "blocked", "reference", "cuda"}) {
    backend.choices.push_back(choice(name, std::string("backend ") + name, s.backend == name));
  }
  out.push_back(std::move(backend));
  Setting memory{"Memory for runs", "", {choice("Half of what is free", "memory 0", s.memory_gb == 0.0)}};
  for (const int gb : {2, 4, 8, 16, 32, 64}) {
    memory.choices.push_back(choice(format("%d GB", gb), format("memory %d", gb), s.memory_gb == gb));
  }
  out.push_back(std::move(memory));
  Setting tiles{"Memory for map tiles", "", {}};
  for (const int mb : {32, 64, 128, 256, 512}) {
    tiles.choices.push_back(choice(format("%d MB", mb), format("tile-memory %d", mb), s.tile_mb == mb));
  }
  out.push_back(std::move(tiles));
  return out;
}

// Segments where they fit, else a combo.
void draw_setting(PanelContext& context, const Setting& setting, Rect row, float label_width) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const float y = row.centre_y();
  const float w = ui.label_at(row.x0, y, setting.title, theme.body(theme.text), label_width - 8.0f);
  const float hint = label_width - w - 24.0f;
  if (setting.hint[0] != '\0' && hint > ui.width(setting.hint, theme.hint())) {
    ui.label_at(row.x0 + w + 10.0f, y, setting.hint, theme.hint(), hint);
  }
  const float x = row.x0 + label_width, room = row.x1 - x;
  ui.push_id(setting.title);
  if (ui.segmented({x, y - 11.0f}, 22.0f, setting.choices, false) <= room) {
    ui.segmented({x, std::round(y - 11.0f)}, 22.0f, setting.choices);
  } else {
    std::string value;
    for (const Choice& one : setting.choices) {
      if (one.selected) value = one.title;
    }
    ui.combo("choice", {x, std::round(y - 11.0f), x + std::min(room, 180.0f), std::round(y + 11.0f)}, "", value, [&] {
      std::vector<MenuItem> items;
      for (const Choice& one : setting.choices) items.push_back({one.title, "", one.command, one.selected, false, {}});
      return items;
    });
  }
  ui.pop_id();
}

// Keys: a click on one waits for the next press.
void draw_key_editor(PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const State& state = context.state;
  std::string& filter = ui.kept_text("key filter");
  std::string& recording = ui.kept_text("key recording");
  Rect rest = area;
  const Rect head = rest.cut_top(30.0f);
  ui.label_at(head.x0, head.centre_y(), "Keys", {Face::SansSemibold, 13.0f, theme.text}, 60.0f);
  const float field = std::min(240.0f, head.width() - 70.0f);
  if (field > 60.0f) {
    TextFieldOptions options;
    options.hint = "find a command or a key";
    options.clear_button = true;
    ui.text_field("filter", {head.x1 - field, head.y0 + 4.0f, head.x1, head.y1 - 4.0f}, filter, options);
  }
  painter.fill_rect({head.x0, head.y1, head.x1, head.y1 + 1.0f}, theme.line);
  rest.cut_top(2.0f);

  // The press that was waited for.
  if (!recording.empty()) {
    ui.capture_keys();
    for (const KeyPress& press : ui.input.keys) {
      const bool plain = press.modifiers == Modifiers{};
      if (plain && press.key == Key::Escape) {
        recording.clear();
      } else if (plain && (press.key == Key::Backspace || press.key == Key::Delete)) {
        ui.run("set-key " + quote_word(recording) + " \"\"");
        recording.clear();
      } else if (const std::string name = key_name(press); !name.empty()) {
        ui.run("set-key " + quote_word(recording) + " " + quote_word(name));
        recording.clear();
      }
      break;
    }
  }
  struct Line {
    const CommandEntry* entry;
    std::string key;
  };
  std::vector<Line> lines;
  std::map<std::string, int> uses;
  const auto matches = [&](const std::string& text) {
    const auto same = [](char a, char b) {
      const auto low = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
      return low(a) == low(b);
    };
    return std::search(text.begin(), text.end(), filter.begin(), filter.end(), same) != text.end();
  };
  for (const CommandEntry& entry : context.commands.entries()) {
    std::string key = context.commands.key_of(state, entry.line);
    if (!key.empty()) ++uses[key];
    if (filter.empty() ? !key.empty() || state.settings.keys.contains(entry.line)
                       : matches(entry.title) || matches(entry.line) || matches(key)) {
      lines.push_back({&entry, std::move(key)});
    }
  }
  const float offset = ui.scroll("keys", rest, kKeyRow * static_cast<float>(lines.size()), kKeyRow);
  const auto top = static_cast<std::size_t>(offset / kKeyRow);
  const auto count = static_cast<std::size_t>(std::max(0.0f, std::floor(rest.height() / kKeyRow)));
  for (std::size_t i = top; i < std::min(lines.size(), top + count); ++i) {
    const auto& [entry, key] = lines[i];
    const Rect row =
        Rect::sized(rest.x0, rest.y0 + kKeyRow * static_cast<float>(i - top), rest.width() - 14.0f, kKeyRow);
    ui.push_id(entry->line);
    const Interaction hit = ui.interact("row", row, Cursor::Hand);
    const bool waits = recording == entry->line;
    if (waits || hit.hovered) painter.fill_rect(row, waits ? theme.accent_soft : theme.raised, 2.0f);
    const float y = row.centre_y();
    float right = row.x1 - 8.0f;
    if (waits) {
      const char* ask = row.width() > 420.0f ? "press a key · Backspace: none · Esc: as it was" : "press a key";
      right -=
          ui.label_at(right, y, ask, {Face::Sans, 11.0f, theme.accent}, 0.6f * row.width(), Painter::Align::Right) +
          12.0f;
    } else {
      const std::string shown = key.empty() ? "none" : key;
      right -= ui.key_cap_width(shown);
      ui.key_cap({right, y}, shown);
      right -= 10.0f;
      if (!key.empty() && uses[key] > 1) {
        right -= ui.label_at(right, y, "used twice", {Face::Sans, 11.0f, theme.warn}, 0.3f * row.width(),
                             Painter::Align::Right) +
                 10.0f;
      }
      if (state.settings.keys.contains(entry->line) && row.width() > 360.0f) {
        const float w = std::round(ui.width("as delivered", theme.hint()));
        if (ui.link({right - w, std::round(y + 4.0f)}, "as delivered", "", theme.hint())) {
          ui.run("set-key " + quote_word(entry->line) + " " + quote_word(entry->key));
        }
        right -= w + 12.0f;
      }
    }
    ui.label_at(row.x0 + 8.0f, y, entry->title, theme.body(theme.text), right - row.x0 - 8.0f);
    if (hit.clicked) recording = entry->line;
    ui.pop_id();
  }
  if (lines.empty())
    ui.label_at(rest.x0 + 8.0f, rest.y0 + 13.0f, "No command is called so.", theme.body(theme.text3),
                rest.width() - 16.0f);
}

}  // namespace

void draw_settings(PanelContext& context, Rect window) {
  Ui& ui = context.ui;
  const std::vector<Setting> settings = settings_of(context.state);
  const auto rows = static_cast<float>(settings.size());
  const Rect box =
      begin_box(context, "settings", window, {820.0f, 50.0f + 12.0f + kSettingRow * rows + 12.0f + 300.0f});
  Rect rest = draw_box_title(context, box, "Settings", "kept for the next start", "settings");
  const float margin = box.width() < 600.0f ? 12.0f : 24.0f;
  rest = {rest.x0 + margin, rest.y0 + 8.0f, rest.x1 - margin, rest.y1 - 10.0f};
  const float label = std::min(200.0f, std::round(0.34f * rest.width()));
  // In a small window the settings scroll and the keys lie below them.
  const float keys = 32.0f + 5.0f * kKeyRow;
  if (rest.height() >= kSettingRow * rows + 12.0f + keys) {
    for (const Setting& setting : settings) draw_setting(context, setting, rest.cut_top(kSettingRow), label);
    rest.cut_top(12.0f);
    draw_key_editor(context, rest);
  } else {
    double& page = ui.kept_number("settings page");
    const std::vector<Choice> pages{choice("Looks and computing", "", page == 0.0), choice("Keys", "", page == 1.0)};
    const Rect bar = rest.cut_top(28.0f);
    const float width = ui.segmented({bar.x0, bar.y0}, 22.0f, pages);
    if (ui.input.pressed[kLeftButton] && ui.hovered({bar.x0, bar.y0, bar.x0 + width, bar.y0 + 22.0f})) {
      page = ui.input.pointer.x > bar.x0 + ui.segmented({0, 0}, 22.0f, std::span(pages).first(1), false) ? 1.0 : 0.0;
    }
    if (page == 0.0) {
      const float offset = ui.scroll("settings", rest, kSettingRow * rows, kSettingRow);
      const auto top = static_cast<std::size_t>(offset / kSettingRow);
      Rect part = rest;
      part.x1 -= 14.0f;
      for (std::size_t i = top; i < settings.size() && part.height() >= kSettingRow; ++i) {
        draw_setting(context, settings[i], part.cut_top(kSettingRow), label);
      }
    } else {
      draw_key_editor(context, rest);
    }
  }
  end_box(context);
}

}  // namespace headroom
