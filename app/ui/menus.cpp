// Combos, menu buttons, context menus and the menus that they open.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/plot/token_text.h"
#include "app/ui/fuzzy.h"
#include "app/ui/ui_state.h"

namespace headroom {
namespace {

constexpr float kRow = 24.0f, kSeparator = 9.0f, kEdge = 4.0f, kSide = 12.0f, kCheck = 18.0f, kMost = 560.0f,
                kReasonMost = 260.0f;

struct Row {
  Rect area;  // with the scroll offset taken off
  std::string reason, key;
};

struct Layout {
  Rect box;
  std::vector<Row> rows;
  float content = 0.0f;
  bool checks = false, submenus = false;
};

bool is_heading(const MenuItem& item) { return item.command.empty() && item.items.empty(); }

TextStyle key_style(const Theme& theme) { return {Face::Mono, 11.0f, theme.text3}; }
TextStyle reason_style(const Theme& theme) { return {Face::Sans, 11.0f, theme.warn}; }

Layout measure_menu(const Ui& ui, const std::vector<MenuItem>& items, const CommandLookup& commands, float least) {
  const Theme& theme = ui.theme;
  Layout layout;
  float widest = 0.0f, y = kEdge;
  for (const MenuItem& item : items) {
    layout.checks = layout.checks || item.checked;
    layout.submenus = layout.submenus || !item.items.empty();
  }
  for (const MenuItem& item : items) {
    Row row;
    if (!item.command.empty()) {
      row.reason = shown_text(commands.disabled_reason(item.command));
      row.key = commands.key_text(item.command);
    }
    float w = ui.width(shown_text(item.title), theme.body(theme.text));
    if (!item.detail.empty()) w += 10.0f + ui.width(shown_text(item.detail), theme.hint());
    if (!row.reason.empty()) {
      w += 24.0f + std::min(kReasonMost, ui.width(row.reason, reason_style(theme)));
    } else if (!row.key.empty()) {
      w += 24.0f + ui.width(row.key, key_style(theme));
    }
    widest = std::max(widest, w);
    if (item.separator && y > kEdge) y += kSeparator;
    row.area = Rect::sized(0.0f, y, 0.0f, kRow);
    y += kRow;
    layout.rows.push_back(std::move(row));
  }
  layout.content = y + kEdge;
  float w = std::ceil(widest) + 2.0f * kSide + (layout.checks ? kCheck : 0.0f) + (layout.submenus ? 16.0f : 0.0f);
  w = std::min({std::max(w, least), kMost, std::floor(ui.input.window.width()) - 4.0f});
  layout.box = Rect::sized(0.0f, 0.0f, w, std::min(layout.content, std::floor(ui.input.window.height()) - 4.0f));
  return layout;
}

void place(Layout& layout, Vec2 at, float scroll) {
  const float w = layout.box.width(), h = layout.box.height();
  layout.box = Rect::sized(at.x, at.y, w, h);
  for (Row& row : layout.rows) {
    row.area = Rect{at.x + kEdge, at.y + row.area.y0 - scroll, at.x + w - kEdge, at.y + row.area.y1 - scroll};
  }
}

// Below the anchor, else above it, else beside what fits; inside the window always.
Vec2 below(const Rect& box, const Rect& anchor, const Rect& window) {
  float x = anchor.x0, y = anchor.y1 + 2.0f;
  if (y + box.height() > window.y1 - 2.0f && anchor.y0 - 2.0f - box.height() >= window.y0 + 2.0f) {
    y = anchor.y0 - 2.0f - box.height();
  }
  x = std::max(window.x0 + 2.0f, std::min(x, window.x1 - 2.0f - box.width()));
  y = std::max(window.y0 + 2.0f, std::min(y, window.y1 - 2.0f - box.height()));
  return {std::round(x), std::round(y)};
}

Vec2 beside(const Rect& box, const Rect& parent, const Rect& row, const Rect& window) {
  float x = parent.x1 - 2.0f;
  if (x + box.width() > window.x1 - 2.0f) x = parent.x0 + 2.0f - box.width();
  x = std::max(window.x0 + 2.0f, std::min(x, window.x1 - 2.0f - box.width()));
  const float y = std::max(window.y0 + 2.0f, std::min(row.y0 - kEdge, window.y1 - 2.0f - box.height()));
  return {std::round(x), std::round(y)};
}

int step(const std::vector<MenuItem>& items, int from, int by) {
  const int count = static_cast<int>(items.size());
  int at = from;
  for (int i = 0; i < count; ++i) {
    at = from < 0 && i == 0 ? (by > 0 ? 0 : count - 1) : (at + by + count) % count;
    if (!is_heading(items[static_cast<std::size_t>(at)])) return at;
  }
  return from;
}

void draw_level(Ui& ui, const std::vector<MenuItem>& items, const Layout& layout, int hot) {
  const Theme& theme = ui.theme;
  Painter& painter = ui.painter;
  painter.begin_panel("overlay: menu", layout.box);
  painter.fill_rect(layout.box, theme.panel, measure::kRadius);
  painter.push_clip(layout.box.inset(1.0f));
  for (std::size_t i = 0; i < items.size(); ++i) {
    const MenuItem& item = items[i];
    const Row& row = layout.rows[i];
    if (item.separator && i > 0) {
      const float y = row.area.y0 - std::floor(0.5f * kSeparator) - 1.0f;
      painter.fill_rect({layout.box.x0 + 1.0f, y, layout.box.x1 - 1.0f, y + 1.0f}, theme.line);
    }
    if (row.area.y1 <= layout.box.y0 || row.area.y0 >= layout.box.y1) continue;
    const bool heading = is_heading(item), enabled = row.reason.empty() && !heading;
    if (static_cast<int>(i) == hot && !heading) painter.fill_rect(row.area, theme.hover, 2.0f);
    const float y = row.area.centre_y();
    float x = row.area.x0 + kSide - kEdge, right = row.area.x1 - (kSide - kEdge);
    if (layout.checks) {
      if (item.checked) ui.icon(Icon::Check, {x + 5.0f, y}, 10.0f, theme.accent);
      x += kCheck;
    }
    if (layout.submenus) {
      if (!item.items.empty()) ui.icon(Icon::ChevronRight, {right - 3.0f, y}, 8.0f, theme.text3);
      right -= 16.0f;
    }
    if (!row.reason.empty()) {
      const TextStyle style = reason_style(theme);
      const float title = std::min(ui.width(shown_text(item.title), theme.body(theme.off)), 0.45f * (right - x));
      const float space = std::min(kReasonMost, right - x - title - 16.0f);
      const std::string reason = elide_end(row.reason, space, ui.measure(), style.face, style.size);
      painter.text_at(right, y, reason, style, Painter::Align::Right);
      right -= ui.width(reason, style) + 16.0f;
    } else if (!row.key.empty()) {
      painter.text_at(right, y, row.key, key_style(theme), Painter::Align::Right);
      right -= ui.width(row.key, key_style(theme)) + 16.0f;
    }
    const TextStyle style = heading ? theme.hint() : theme.body(enabled ? theme.text : theme.off);
    const std::string title = elide_middle(shown_text(item.title), right - x, ui.measure(), style.face, style.size);
    painter.text_at(x, y, title, style);
    x += ui.width(title, style) + 10.0f;
    if (!item.detail.empty() && right - x > 20.0f) {
      const TextStyle detail = theme.hint();
      painter.text_at(x, y, elide_middle(shown_text(item.detail), right - x, ui.measure(), detail.face, detail.size),
                      detail);
    }
  }
  painter.pop_clip();
  painter.stroke_rect(layout.box, theme.faint, 1.0f, measure::kRadius);
  if (layout.content > layout.box.height()) {
    const float h = layout.box.height() - 8.0f, part = layout.box.height() / layout.content;
    const float top = layout.box.y0 - (layout.rows.front().area.y0 - kEdge);
    const float y = layout.box.y0 + 4.0f + std::round(h * top / layout.content);
    painter.fill_rect(Rect::sized(layout.box.x1 - 4.0f, y, 3.0f, std::round(h * part)), theme.faint, 1.0f);
  }
  painter.end_panel();
}

}  // namespace

bool Ui::menu_open(WidgetId owner) const { return owner != 0 && memory_.menu.owner == owner; }

void Ui::open_popup(WidgetId owner, Rect anchor, int kind) {
  UiState::Menu menu;
  menu.owner = owner;
  menu.kind = static_cast<UiState::MenuKind>(kind);
  menu.anchor = anchor;
  menu.levels.emplace_back();
  menu.opened_at = input.pointer;
  memory_.menu = std::move(menu);
  memory_.focus = 0;
}

void Ui::show_menu(WidgetId owner, const std::function<std::vector<MenuItem>()>& items) {
  if (!menu_open(owner)) return;
  frame_->menu_items = items();
  frame_->menu_owner_seen = true;
  UiState::MenuLevel& level = memory_.menu.levels.front();
  if (!memory_.menu.fresh || memory_.menu.kind != UiState::MenuKind::Combo) return;
  for (std::size_t i = 0; i < frame_->menu_items.size(); ++i) {
    if (!frame_->menu_items[i].checked) continue;
    level.hot = static_cast<int>(i);
    level.by_key = true;
    break;
  }
}

void Ui::combo(std::string_view name, Rect area, std::string_view title, std::string_view value,
               const std::function<std::vector<MenuItem>()>& items) {
  const WidgetId wid = id(name);
  const Interaction i = pressable(name, area);
  if (i.pressed || memory_.open_request == wid) open_popup(wid, area, static_cast<int>(UiState::MenuKind::Combo));
  const bool open = menu_open(wid);
  painter.fill_rect(area, i.hovered || open ? theme.hover : theme.raised, measure::kRadius);
  const float y = area.centre_y();
  float x = area.x0 + measure::kComboLeft;
  const float right = area.x1 - measure::kComboRight;
  if (!title.empty()) {
    const TextStyle style = theme.body(theme.text3);
    const float w = width(title, style);
    if (x + w + 30.0f < right) {
      painter.text_at(x, y, title, style);
      x += std::round(w) + 7.0f;
    }
  }
  label_at(x, y, value, theme.body(theme.text), right - x);
  draw_triangle(painter, {area.x1 - 11.0f, y}, 6.0f, theme.text3);
  show_menu(wid, items);
}

void Ui::menu_button(std::string_view name, Rect area, std::string_view text,
                     const std::function<std::vector<MenuItem>()>& items) {
  const WidgetId wid = id(name), group = frame_->scopes.back();
  UiState& m = memory_;
  const Interaction i = pressable(name, area);
  m.menu_buttons.push_back({wid, group, area});
  const int kind = static_cast<int>(UiState::MenuKind::Button);
  bool open = menu_open(wid);
  if (i.pressed || m.open_request == wid) {
    open_popup(wid, area, kind);
  } else if (!open && m.menu.owner != 0 && m.menu.kind == UiState::MenuKind::Button && input.pointer_inside &&
             area.contains(input.pointer) && !area.contains(m.last_pointer)) {
    const auto owner = std::find_if(m.last_menu_buttons.begin(), m.last_menu_buttons.end(),
                                    [&](const UiState::MenuButton& button) { return button.id == m.menu.owner; });
    if (owner != m.last_menu_buttons.end() && owner->group == group) open_popup(wid, area, kind);
  }
  open = menu_open(wid);
  if (i.hovered || open) painter.fill_rect(area.inset(0.0f, 3.0f), open ? theme.hover : theme.raised, measure::kRadius);
  const TextStyle style = theme.body(open || i.hovered ? theme.text : theme.text2);
  painter.text_at(whole(area.centre_x() - 0.5f * width(text, style)), area.centre_y(), text, style);
  show_menu(wid, items);
}

void Ui::context_menu(std::string_view name, Rect area, const std::function<std::vector<MenuItem>()>& items) {
  const WidgetId wid = id(name);
  if (memory_.open_request == wid) {
    open_popup(wid, Rect::sized(area.x0, area.y0, 0.0f, 0.0f), static_cast<int>(UiState::MenuKind::Context));
  } else if (input.pressed[kRightButton] && memory_.active == 0 && hovered(area)) {
    const Vec2 at{whole(input.pointer.x) + 1.0f, whole(input.pointer.y) - 1.0f};
    open_popup(wid, Rect::sized(at.x, at.y, 0.0f, 0.0f), static_cast<int>(UiState::MenuKind::Context));
  }
  show_menu(wid, items);
}

void Ui::finish_menus() {
  Frame& f = *frame_;
  UiState::Menu& menu = memory_.menu;
  if (menu.owner == 0) return;
  const bool fresh = std::exchange(menu.fresh, false);
  if (!f.menu_owner_seen || f.menu_items.empty() || !input.focused) {
    close_popups();
    return;
  }
  const bool moved = !(input.pointer == memory_.last_pointer);
  if (std::hypot(input.pointer.x - menu.opened_at.x, input.pointer.y - menu.opened_at.y) > kDragDistance &&
      input.down[kLeftButton]) {
    menu.armed = true;
  }

  // The items and places of all open levels.
  std::vector<const std::vector<MenuItem>*> items;
  std::vector<Layout> layouts;
  const auto lay_out = [&] {
    items.clear();
    layouts.clear();
    const std::vector<MenuItem>* list = &f.menu_items;
    for (std::size_t k = 0; k < menu.levels.size(); ++k) {
      UiState::MenuLevel& level = menu.levels[k];
      level.hot = std::min(level.hot, static_cast<int>(list->size()) - 1);
      const float least = k > 0 ? 120.0f : menu.kind == UiState::MenuKind::Combo ? menu.anchor.width() : 160.0f;
      Layout layout = measure_menu(*this, *list, commands_, least);
      const float over = std::max(0.0f, layout.content - layout.box.height());
      if (level.by_key && level.hot >= 0) {
        const Rect& row = layout.rows[static_cast<std::size_t>(level.hot)].area;
        level.scroll = std::clamp(level.scroll, row.y1 + kEdge - layout.box.height(), row.y0 - kEdge);
      }
      level.scroll = std::clamp(level.scroll, 0.0f, over);
      Vec2 at;
      if (k == 0) {
        at = below(layout.box, menu.anchor, input.window);
      } else {
        const Layout& parent = layouts.back();
        at = beside(layout.box, parent.box, parent.rows[static_cast<std::size_t>(menu.levels[k - 1].hot)].area,
                    input.window);
      }
      place(layout, at, level.scroll);
      items.push_back(list);
      layouts.push_back(std::move(layout));
      const bool more = k + 1 < menu.levels.size();
      if (!more) break;
      if (level.hot < 0 || (*list)[static_cast<std::size_t>(level.hot)].items.empty()) {
        menu.levels.resize(k + 1);
        break;
      }
      list = &(*list)[static_cast<std::size_t>(level.hot)].items;
    }
  };
  lay_out();

  const auto row_at = [&](std::size_t level, Vec2 at) {
    const Layout& layout = layouts[level];
    for (std::size_t i = 0; i < layout.rows.size(); ++i) {
      if (layout.rows[i].area.contains(at)) return static_cast<int>(i);
    }
    return -1;
  };
  const auto choose = [&](std::size_t level, int row, bool by_key) {
    if (row < 0) return;
    const MenuItem& item = (*items[level])[static_cast<std::size_t>(row)];
    if (!item.items.empty()) {
      menu.levels.resize(level + 1);
      menu.levels[level].hot = row;
      menu.levels.emplace_back();
      if (by_key) menu.levels.back() = {step(item.items, -1, 1), 0.0f, true};
    } else if (!item.command.empty() && layouts[level].rows[static_cast<std::size_t>(row)].reason.empty()) {
      run(item.command);
      close_popups();
    }
  };
  const auto neighbour = [&](int by) {
    const auto& buttons = memory_.menu_buttons;
    std::vector<UiState::MenuButton> group;
    const auto owner = std::find_if(buttons.begin(), buttons.end(), [&](const auto& b) { return b.id == menu.owner; });
    if (owner == buttons.end()) return;
    std::copy_if(buttons.begin(), buttons.end(), std::back_inserter(group),
                 [&](const auto& b) { return b.group == owner->group; });
    const auto at = static_cast<int>(
        std::find_if(group.begin(), group.end(), [&](const auto& b) { return b.id == menu.owner; }) - group.begin());
    const int count = static_cast<int>(group.size());
    const UiState::MenuButton& next = group[static_cast<std::size_t>((at + by + count) % count)];
    close_popups();
    memory_.open_request = next.id;
    memory_.open_request_waits = false;
  };

  // Pointer.
  int inside = -1;
  for (std::size_t k = layouts.size(); k-- > 0;) {
    if (input.pointer_inside && layouts[k].box.contains(input.pointer)) {
      inside = static_cast<int>(k);
      break;
    }
  }
  bool changed = false;
  if (inside >= 0) {
    const auto k = static_cast<std::size_t>(inside);
    if (input.wheel.y != 0.0f) {
      menu.levels[k].scroll -= 3.0f * kRow * input.wheel.y;
      menu.levels[k].by_key = false;
      changed = true;
    }
    const int row = row_at(k, input.pointer);
    const Vec2 d = input.pointer - memory_.last_pointer;
    const bool towards = k + 1 < layouts.size() && std::abs(d.y) <= 1.5f * std::abs(d.x) && d.x != 0.0f &&
                         (d.x > 0.0f) == (layouts[k + 1].box.x0 > layouts[k].box.x0);
    if (moved && row != menu.levels[k].hot && !towards) {
      menu.levels.resize(k + 1);
      menu.levels[k].hot = row;
      menu.levels[k].by_key = false;
      if (row >= 0 && !(*items[k])[static_cast<std::size_t>(row)].items.empty()) menu.levels.emplace_back();
      changed = true;
    }
    if (input.pressed[kLeftButton] && !fresh) menu.armed = true;
    if (input.released[kLeftButton] && menu.armed) {
      menu.armed = false;
      choose(k, row, false);
      changed = true;
    }
  } else if ((!fresh && (input.pressed[kLeftButton] || input.pressed[kRightButton])) ||
             (input.released[kLeftButton] && menu.armed && !menu.anchor.contains(input.pointer))) {
    close_popups();
  }

  // Keys.
  for (const KeyPress& press : fresh ? std::vector<KeyPress>{} : input.keys) {
    if (menu.owner == 0) break;
    if (changed) lay_out();
    changed = true;
    const std::size_t k = menu.levels.size() - 1;
    UiState::MenuLevel& level = menu.levels[k];
    level.by_key = true;
    const int hot = level.hot;
    switch (press.key) {
      case Key::Down: level.hot = step(*items[k], hot, 1); break;
      case Key::Up: level.hot = step(*items[k], hot, -1); break;
      case Key::Home: level.hot = step(*items[k], -1, 1); break;
      case Key::End: level.hot = step(*items[k], -1, -1); break;
      case Key::Enter:
      case Key::Space: choose(k, hot, true); break;
      case Key::Right:
        if (hot >= 0 && !(*items[k])[static_cast<std::size_t>(hot)].items.empty()) {
          choose(k, hot, true);
        } else if (menu.kind == UiState::MenuKind::Button) {
          neighbour(1);
        }
        break;
      case Key::Left:
        if (k > 0) {
          menu.levels.pop_back();
        } else if (menu.kind == UiState::MenuKind::Button) {
          neighbour(-1);
        }
        break;
      case Key::Escape:
        if (k > 0) {
          menu.levels.pop_back();
        } else {
          close_popups();
        }
        break;
      default: break;
    }
  }
  if (menu.owner != 0 && !fresh && !input.text.empty() && input.text != " ") {
    if (changed) lay_out();
    const std::size_t k = menu.levels.size() - 1;
    const auto count = static_cast<int>(items[k]->size());
    for (int i = 1; i <= count; ++i) {
      const int at = (std::max(menu.levels[k].hot, -1) + i + count) % count;
      const MenuItem& item = (*items[k])[static_cast<std::size_t>(at)];
      if (is_heading(item) || item.title.empty() || ascii_lower(item.title[0]) != ascii_lower(input.text[0])) continue;
      menu.levels[k].hot = at;
      menu.levels[k].by_key = true;
      changed = true;
      break;
    }
  }
  if (menu.owner == 0) {
    f.wait = 0.0;
    return;
  }
  if (changed) lay_out();
  for (std::size_t k = 0; k < layouts.size(); ++k) {
    memory_.layers.push_back({mix_id(menu.owner, "menu"), layouts[k].box, k == 0});
    draw_level(*this, *items[k], layouts[k], menu.levels[k].hot);
  }
}

}  // namespace headroom
