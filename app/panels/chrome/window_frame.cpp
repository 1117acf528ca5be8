#include "app/panels/chrome/window_frame.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/chrome/error_cards.h"
#include "app/panels/chrome/menu_bar.h"
#include "app/panels/chrome/overlay.h"
#include "app/panels/chrome/save_overlay.h"
#include "app/panels/chrome/start_page.h"
#include "app/panels/chrome/status_bar.h"
#include "app/panels/chrome/tool_bar.h"
#include "app/panels/chrome/window_layout.h"
#include "app/panels/heads/head_card.h"
#include "app/panels/panel.h"
#include "app/panels/parts/run_cache.h"
#include "app/session/commands.h"
#include "core/base/format.h"

namespace headroom {
namespace {

// What lies over the window takes the keys: these go on, which open another such thing, or change what all is drawn
// with.
bool goes_on_over_an_overlay(std::string_view line) {
  constexpr std::array kLines = std::to_array<std::string_view>(
      {"open.dialog", "open.panel", "prompt.edit", "palette", "keys", "settings", "about", "log", "theme toggle",
       "scale larger", "scale smaller", "developer", "release", "quit"});
  return std::ranges::find(kLines, line) != kLines.end();
}

void draw_rail(PanelContext& context, const PanelSlot& slot) {
  const Rect frame = slot.rect;
  const std::string name = slot.name, title = slot.panel->title;
  const auto& head = context.state.view.selection.head;
  Ui& ui = context.ui;
  context.painter().begin_panel("rail " + name, frame);
  context.painter().fill_rect(frame, context.theme().panel);
  const Interaction hit = ui.pressable("rail " + name, frame, true, Cursor::Hand);
  if (hit.hovered) context.painter().fill_rect(frame, context.theme().hover);
  ui.icon(Icon::ChevronRight, {frame.centre_x(), frame.y0 + 15.0f}, 10.0f, context.theme().text2);
  TextStyle style{Face::SansMedium, 12.0f, context.theme().text2};
  // Downwards; the chosen head, which the folded panel would show, behind it.
  constexpr float kDown = -1.57079633f;
  float at = frame.y0 + 32.0f;
  const auto draw = [&](const std::string& text, const TextStyle& in) {
    const float width = ui.width(text, in);
    if (at + width + 8.0f > frame.y1) return;
    context.painter().text({frame.centre_x() - 4.0f, at}, text, in, kDown);
    at += width + 10.0f;
  };
  draw(title, style);
  if (name == "heads" && head) draw(head_text(*head), context.theme().value());
  ui.tooltip(frame, "Unfold " + title);
  if (hit.clicked) ui.run("panel.fold " + name);
  context.painter().end_panel();
}

// On a right click where the panel has no menu of its own.
void panel_menu(PanelContext& context, const PanelSlot& slot) {
  const std::string name = slot.name;
  context.ui.context_menu("panel menu " + name, slot.rect, [&] {
    return std::vector<MenuItem>{{"Export this plot as a figure…", "", "figure.screen " + name, false, false, {}},
                                 {"Save a picture of this panel…", "", "export.panel " + name, false, false, {}}};
  });
}

void panel_splitter(PanelContext& context, const char* name, Rect area, float size, bool grows_left) {
  const float moved = context.ui.splitter(std::string("splitter ") + name, area, /*vertical=*/true);
  if (moved != 0.0f)
    context.ui.run(format("panel.size %s %.1f", name,
                          static_cast<double>(std::max(120.0f, grows_left ? size - moved : size + moved))));
}

// The ring of the panel that Tab reached. A press anywhere takes the focus away: the hand is at the pointer again.
void draw_focus(PanelContext& context, const WindowLayout& layout) {
  const std::string& focus = context.state.layout.focus;
  const bool ring = !context.ui.control_focused();  // which has one of its own
  std::string drawn = "none";
  for (const PanelSlot* slot : layout.slots())
    if (slot->drawn() && focus == slot->name) {
      if (ring) context.painter().stroke_rect(slot->rect.inset(1.0f), context.theme().accent, 2.0f, 6.0f);
      drawn = focus;
    }
  context.facts.set("focus", drawn);
  context.facts.set("menu", context.ui.popup_open() ? 1.0 : 0.0);
  context.facts.set("maximised", context.state.layout.maximised.empty() ? "none" : context.state.layout.maximised);
  const auto& pressed = context.ui.input.pressed;
  if (!focus.empty() && std::ranges::any_of(pressed, [](bool p) { return p; })) context.ui.run("panel.focus none");
}

}  // namespace

void draw_window(PanelContext& context, Rect window) {
  Painter& painter = context.painter();
  painter.fill_rect(window, context.theme().bg);
  const WindowLayout layout = window_layout(window, context.state);
  draw_menu_bar(context, layout.menu);
  draw_tool_bar(context, layout.tool_bar);
  if (!layout.start.empty()) {
    draw_start_page(context, layout.start);
    draw_error_cards(context, layout.start);
  }
  if (context.run_cache) context.run_cache->head_card().reset();
  std::string drawn;
  for (const PanelSlot* slot : layout.slots()) {
    if (!slot->shown()) continue;
    if (slot->drawn()) drawn += (drawn.empty() ? "" : " ") + std::string(slot->panel->id);
    if (slot->drawn()) {
      context.ui.panel_stop(slot->name, slot->rect, context.state.layout.focus == slot->name);
      panel_menu(context, *slot);
    }
    if (slot->folded && slot != &layout.tokens)  // which folds to its title
      draw_rail(context, *slot);
    else
      slot->panel->draw(context, slot->rect);
    context.ui.end_panel_stop();
  }
  context.facts.set("drawn", drawn);
  const Rect heads = layout.heads.rect, side = layout.side.rect, tokens = layout.tokens.rect;
  if (layout.heads.drawn() && layout.centre.shown())
    panel_splitter(context, "heads", {heads.x1 - 2, heads.y0, heads.x1 + 3, heads.y1}, heads.width(), false);
  if (layout.side.drawn() && layout.centre.shown())
    panel_splitter(context, "head", {side.x0 - 3, side.y0, side.x0 + 2, side.y1}, side.width(), true);
  if (layout.tokens.drawn()) {
    const Rect area{tokens.x0, tokens.y0 - 3, tokens.x1, tokens.y0 + 2};
    const float moved = context.ui.splitter("splitter tokens", area, /*vertical=*/false);
    if (moved != 0.0f)
      context.ui.run(format("panel.size tokens %.1f", static_cast<double>(std::max(51.0f, tokens.height() - moved))));
  }
  if (layout.start.empty() && !context.state.errors.empty())
    draw_error_cards(context, layout.centre.shown() ? layout.centre.rect : layout.heads.shown() ? heads : side);
  draw_focus(context, layout);
  draw_status_bar(context, layout.status);
  draw_head_card(context, window);
  draw_toast(context, window);
  draw_overlay(context, window);
}

void run_keys(PanelContext& context) {
  Ui& ui = context.ui;
  const State& state = context.state;
  // While runs are flipped, X does not swap them: holding it shows the other run where this one was.
  const bool comparing = state.view.centre == CentreView::Compare && state.view.compare.mode == CompareMode::Flip;
  for (const KeyPress& press : ui.input.keys) {
    const bool plain = !press.modifiers.ctrl && !press.modifiers.alt;
    if (ui.popup_open() || ui.takes(press)) continue;
    if (ui.wants_text() &&
        (plain || press.key == letter_key('C') || press.key == letter_key('Z') || press.key == letter_key('Y')) &&
        press.key != Key::F11 && press.key != Key::F12)
      continue;
    // What lies over the window has its own keys; it is closed by its own key or Escape.
    KeyPress asked = press;
    if (press.key == Key::Question) asked.modifiers.shift = false;
    const CommandEntry* entry = context.commands.entry_of_key(state, asked);
    if (!entry) continue;
    if (state.overlay != Overlay::None &&
        (!goes_on_over_an_overlay(entry->line) || (plain && press.key != Key::Escape && press.key != Key::Question)))
      continue;
    if (comparing && plain && press.key == letter_key('X') && entry->line == "compare.swap") {
      ui.run("compare.flip on");
      continue;
    }
    if (entry->needs_text) {
      ui.run("palette " + entry->line);
      continue;
    }
    ui.run(entry->line);
  }
  for (const KeyPress& released : ui.input.released_keys)
    if (comparing && released.key == letter_key('X') && state.view.compare.flipped) ui.run("compare.flip off");
}

}  // namespace headroom
