// All keys by group, from the table of commands; what cannot work at the moment is dimmed, with its reason.
#include "app/panels/chrome/keys_overlay.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/chrome/bars.h"
#include "app/panels/chrome/overlay.h"
#include "app/panels/panel.h"
#include "app/session/commands.h"
#include "app/ui/text_wrap.h"

namespace headroom {
namespace {

constexpr float kShortcutRow = 25.0f, kGroupHead = 32.0f, kGroupGap = 21.0f;

struct KeyRow {
  std::vector<std::string> caps;
  std::string title, reason;
};
struct KeyGroup {
  std::string title;
  std::vector<KeyRow> rows;
  [[nodiscard]] float height() const { return kGroupHead + kShortcutRow * static_cast<float>(rows.size()) + kGroupGap; }
};

// Lines that belong together share a row.
struct Together {
  std::vector<std::string> lines;
  const char* title;
};

const std::vector<Together>& together() {
  static const std::vector<Together> kTogether{
      {{"select.left", "select.right", "select.up", "select.down"}, "Next head across, next layer"},
      {{"select.next-over", "select.previous-over"}, "Next head over the threshold"},
      {{"scale larger", "scale smaller"}, "Larger, smaller"},
      {{"panel.next", "panel.previous"}, "Next panel; the one before"},
      {{"head.across-model on", "head.across-model off"}, "Every quantity by layer; this head"},
  };
  return kTogether;
}

std::string arrow(std::string key) {
  for (const auto& [name, sign] : {std::pair{"Left", "←"}, {"Right", "→"}, {"Up", "↑"}, {"Down", "↓"}}) {
    if (key.ends_with(name)) return key.substr(0, key.size() - std::string(name).size()) + sign;
  }
  return key;
}

std::vector<KeyGroup> key_groups(const PanelContext& context, std::size_t& with_key) {
  std::vector<KeyGroup> groups;
  for (const char* title : {"Heads", "Map", "Run", "What-if", "Window", "File", "Export", "Compare"})
    groups.push_back({title, {}});
  std::vector<std::string> done;
  with_key = 0;
  for (const CommandEntry& entry : context.commands.entries()) {
    const std::string key = context.commands.key_of(context.state, entry.line);
    if (key.empty()) continue;
    ++with_key;
    if (std::find(done.begin(), done.end(), entry.line) != done.end()) continue;
    KeyRow row{{arrow(key)}, without_subject(entry.title), context.commands.disabled_reason(context.state, entry.line)};
    for (const Together& group : together()) {
      if (group.lines.front() != entry.line) continue;
      row.title = group.title;
      for (std::size_t i = 1; i < group.lines.size(); ++i) {
        const std::string other = context.commands.key_of(context.state, group.lines[i]);
        if (other.empty()) continue;
        row.caps.push_back(arrow(other));
        done.push_back(group.lines[i]);
      }
    }
    auto group = std::find_if(groups.begin(), groups.end(), [&](const KeyGroup& g) { return g.title == entry.group; });
    if (group == groups.end()) group = groups.insert(groups.end(), KeyGroup{entry.group, {}});
    group->rows.push_back(std::move(row));
  }
  groups.insert(groups.begin() + 1, KeyGroup{"Pointer",
                                             {{{"move"}, "Readout, crosshair, lens", ""},
                                              {{"click"}, "Select; again to release", ""},
                                              {{"drag"}, "Pan", ""},
                                              {{"wheel"}, "Zoom about the pointer", ""},
                                              {{"double-click"}, "Fit", ""},
                                              {{"right-click"}, "What can be done here", ""}}});
  std::erase_if(groups, [](const KeyGroup& group) { return group.rows.empty(); });
  return groups;
}

// The groups of each column: the longest first, each to the shortest column; within a column in their order.
std::vector<std::vector<std::size_t>> columns_of(const std::vector<KeyGroup>& groups, std::size_t columns) {
  std::vector<std::size_t> order(groups.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return groups[a].height() > groups[b].height(); });
  std::vector<std::vector<std::size_t>> out(columns);
  std::vector<float> heights(columns, 0.0f);
  for (const std::size_t i : order) {
    const auto shortest = static_cast<std::size_t>(std::min_element(heights.begin(), heights.end()) - heights.begin());
    out[shortest].push_back(i);
    heights[shortest] += groups[i].height();
  }
  for (auto& column : out) std::sort(column.begin(), column.end());
  std::erase_if(out, [](const auto& column) { return column.empty(); });
  std::sort(out.begin(), out.end());
  return out;
}

void draw_shortcut(PanelContext& context, const KeyRow& row, float x, float right, float y) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  float caps = 0.0f;
  for (const std::string& cap : row.caps) caps += ui.key_cap_width(cap) + 4.0f;
  float at = x;
  for (const std::string& cap : row.caps) {
    ui.key_cap({at, y}, cap);
    at += ui.key_cap_width(cap) + 4.0f;
  }
  const float text = x + std::max(caps + 8.0f, std::min(102.0f, std::round(0.33f * (right - x))));
  if (right - text < 24.0f) return;
  float end = right;
  if (!row.reason.empty()) {
    const TextStyle style{Face::Sans, 11.0f, theme.warn};
    const float room =
        right - text - std::min(0.6f * (right - text), ui.width(row.title, theme.body(theme.off)) + 12.0f);
    if (room > 30.0f) end -= ui.label_at(right, y, row.reason, style, room, Painter::Align::Right) + 12.0f;
  }
  if (end - text > 16.0f)
    ui.label_at(text, y, row.title, theme.body(row.reason.empty() ? theme.text : theme.off), end - text);
}

}  // namespace

void draw_keys(PanelContext& context, Rect window) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  std::size_t with_key = 0;
  const std::vector<KeyGroup> groups = key_groups(context, with_key);
  const float width = std::min(1160.0f, window.width() - 16.0f);
  const auto columns = columns_of(groups, width >= 900.0f ? 3 : width >= 600.0f ? 2 : 1);
  float content = 0.0f;
  for (const auto& column : columns) {
    float h = 0.0f;
    for (const std::size_t i : column) h += groups[i].height();
    content = std::max(content, h);
  }
  const Rect box = begin_box(context, "keys", window, {1160.0f, 50.0f + 16.0f + content + 48.0f});
  const std::string head =
      context.state.view.selection.head ? ", with " + head_text(*context.state.view.selection.head) + " selected" : "";
  Rect rest = draw_box_title(context, box, "Keys", "what works now" + head + "; dimmed keys give their reason", "keys");
  const Rect foot = rest.cut_bottom(rest.height() < 260.0f ? 28.0f : 48.0f);
  const float margin = width < 600.0f ? 12.0f : 24.0f;
  const float offset = ui.scroll("keys", rest, content + 16.0f, kShortcutRow);
  ui.push_clip(rest.inset(1.0f, 0.0f));
  const auto shows = [&](float y) { return y - 10.0f >= rest.y0 && y + 10.0f <= rest.y1; };
  const float step = (box.width() - 2.0f * margin + 32.0f) / static_cast<float>(columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const float x = std::round(box.x0 + margin + step * static_cast<float>(c)), right = std::round(x + step - 32.0f);
    if (c > 0) painter.fill_rect({x - 16.0f, rest.y0 + 16.0f, x - 15.0f, rest.y1 - 8.0f}, theme.line);
    float y = rest.y0 + 16.0f - offset;
    for (const std::size_t i : columns[c]) {
      if (shows(y + 10.0f))
        ui.label_at(x, y + 10.0f, groups[i].title, {Face::SansSemibold, 13.0f, theme.text}, right - x);
      painter.fill_rect({x, y + 20.0f, right, y + 21.0f}, theme.line);
      y += kGroupHead;
      for (const KeyRow& row : groups[i].rows) {
        if (shows(y + 7.0f)) draw_shortcut(context, row, x, right, y + 7.0f);
        y += kShortcutRow;
      }
      y += kGroupGap;
    }
  }
  ui.pop_clip();
  painter.fill_rect({foot.x0 + 1.0f, foot.y0, foot.x1 - 1.0f, foot.y0 + 1.0f}, theme.line);
  const std::string counts =
      std::to_string(context.commands.entries().size()) + " commands, " + std::to_string(with_key) + " with a key";
  const float used =
      ui.label_at(foot.x1 - margin, foot.centre_y(), counts, theme.hint(), 0.4f * foot.width(), Painter::Align::Right);
  ui.label_at(foot.x0 + margin, foot.centre_y(), "Every key runs a command of the palette; change keys in settings.",
              theme.hint(), foot.width() - 2.0f * margin - used - 16.0f);
  end_box(context);
}

}  // namespace headroom
