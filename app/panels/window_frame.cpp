#include "app/panels/window_frame.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "app/panels/window_layout.h"
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

void draw_rail(PanelContext& context, Rect frame, const char* name, const char* title) {
  Ui& ui = context.ui;
  context.painter().begin_panel(std::string("rail ") + name, frame);
  context.painter().fill_rect(frame, context.theme().panel);
  const Interaction hit = ui.interact(std::string("rail ") + name, frame, Cursor::Hand);
  if (hit.hovered) context.painter().fill_rect(frame, context.theme().hover);
  ui.icon(Icon::ChevronRight, {frame.centre_x(), frame.y0 + 15.0f}, 10.0f, context.theme().text2);
  TextStyle style{Face::SansMedium, 12.0f, context.theme().text2};
  if (frame.height() > 40.0f + ui.width(title, style))
    context.painter().text({frame.centre_x() - 4.0f, frame.y0 + 32.0f}, title, style, -1.57079633f);
  ui.tooltip(frame, std::string("Unfold ") + title);
  if (hit.clicked) ui.run(std::string("panel.fold ") + name);
  context.painter().end_panel();
}

void panel_splitter(PanelContext& context, const char* name, Rect area, float size, bool grows_left) {
  const float moved = context.ui.splitter(std::string("splitter ") + name, area, /*vertical=*/true);
  if (moved != 0.0f)
    context.ui.run(format("panel.size %s %.1f", name,
                          static_cast<double>(std::max(120.0f, grows_left ? size - moved : size + moved))));
}

void draw_side(PanelContext& context, const WindowLayout& layout) {
  using Side = WindowLayout::Side;
  if (layout.side_rail) {
    draw_rail(context, layout.side, "head",
              layout.side_kind == Side::Columns  ? "Columns"
              : layout.side_kind == Side::Change ? "Change"
                                                 : "Head");
    return;
  }
  switch (layout.side_kind) {
    case Side::Head: draw_head_panel(context, layout.side); break;
    case Side::Columns: draw_columns_panel(context, layout.side); break;
    case Side::Model: draw_model_panel(context, layout.side); break;
    case Side::Where: draw_where_panel(context, layout.side); break;
    case Side::Change:
    case Side::Compare: break;  // drawn with the centre
  }
}

// The ring of the panel that Tab reached. A press anywhere takes the focus away: the hand is at the pointer again.
void draw_focus(PanelContext& context, const WindowLayout& layout) {
  const std::string& focus = context.state.layout.focus;
  std::string drawn = "none";
  for (const ShownPanel& panel : shown_panels(layout))
    if (focus == panel.name) {
      context.painter().stroke_rect(panel.rect.inset(1.0f), context.theme().accent, 2.0f, 6.0f);
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
  if (!layout.heads.empty()) {
    if (layout.heads_rail)
      draw_rail(context, layout.heads, "heads", "Heads");
    else
      draw_heads_panel(context, layout.heads);
  }
  if (!layout.centre.empty()) {
    const Rect side = layout.side_rail ? Rect{} : layout.side;
    switch (context.state.view.centre) {
      case CentreView::Map: draw_map_panel(context, layout.centre); break;
      case CentreView::WhatIf: draw_what_if_panel(context, layout.centre, side); break;
      case CentreView::Compare: draw_compare_panel(context, layout.centre, side); break;
    }
  }
  if (!layout.side.empty()) draw_side(context, layout);
  if (!layout.tokens.empty()) draw_tokens_panel(context, layout.tokens);
  if (!layout.heads.empty() && !layout.heads_rail && !layout.centre.empty())
    panel_splitter(context, "heads", {layout.heads.x1 - 2, layout.heads.y0, layout.heads.x1 + 3, layout.heads.y1},
                   layout.heads.width(), false);
  if (!layout.side.empty() && !layout.side_rail && !layout.centre.empty())
    panel_splitter(context, "head", {layout.side.x0 - 3, layout.side.y0, layout.side.x0 + 2, layout.side.y1},
                   layout.side.width(), true);
  if (!layout.tokens.empty() && !layout.tokens_rail) {
    const Rect area{layout.tokens.x0, layout.tokens.y0 - 3, layout.tokens.x1, layout.tokens.y0 + 2};
    const float moved = context.ui.splitter("splitter tokens", area, /*vertical=*/false);
    if (moved != 0.0f)
      context.ui.run(
          format("panel.size tokens %.1f", static_cast<double>(std::max(51.0f, layout.tokens.height() - moved))));
  }
  if (layout.start.empty() && !context.state.errors.empty()) {
    Rect frame = !layout.centre.empty() ? layout.centre : !layout.heads.empty() ? layout.heads : layout.side;
    draw_error_cards(context, frame);
  }
  draw_focus(context, layout);
  draw_status_bar(context, layout.status);
  draw_overlay(context, window);
}

void run_keys(PanelContext& context) {
  Ui& ui = context.ui;
  const State& state = context.state;
  // While runs are flipped, X does not swap them: holding it shows the other run where this one was.
  const bool comparing = state.view.centre == CentreView::Compare && state.view.compare.mode == CompareMode::Flip;
  for (const KeyPress& press : ui.input.keys) {
    const bool plain = !press.modifiers.ctrl && !press.modifiers.alt;
    if (ui.popup_open()) continue;
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
