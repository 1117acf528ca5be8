#include "app/panels/window_frame.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "app/panels/window_layout.h"
#include "app/plot/number_text.h"
#include "app/session/commands.h"
#include "core/base/format.h"

namespace headroom {
namespace {

const char* status_name(RunStatus status) {
  switch (status) {
    case RunStatus::Waiting: return "waiting";
    case RunStatus::Running: return "running";
    case RunStatus::Done: return "done";
    case RunStatus::Cancelled: return "cancelled";
    case RunStatus::Failed: return "failed";
  }
  return "";
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
  draw_focus(context, layout);
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
    if (state.overlay != Overlay::None && plain && press.key != Key::Escape && press.key != Key::Question) continue;
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

void describe_state(const State& state, Facts& facts) {
  const RunEntry* run = state.shown();
  facts.set("runs", static_cast<double>(state.runs.size()));
  facts.set("models", static_cast<double>(state.models.size()));
  facts.set("errors", static_cast<double>(state.errors.size()));
  facts.set("warnings", static_cast<double>(state.unseen_warnings));
  facts.set("run.status", run ? std::string(status_name(run->status)) : "none");
  facts.set("run.name", run ? run->name : "");
  facts.set("run.id", run ? run->id : -1);
  const RunSnapshot* data = state.data();
  facts.set("run.tokens", data ? static_cast<double>(data->length) : 0.0);
  facts.set("run.layers", data ? static_cast<double>(data->finished_layers()) : 0.0);
  facts.set("run.loss", data && data->next_token_loss ? *data->next_token_loss : std::nan(""));
  const RunEntry* other = state.other();
  const RunBudget* budget = run && run->budget ? run->budget.get() : state.estimate.get();
  facts.set("run.refused", run && run->refused ? 1.0 : 0.0);
  facts.set("run.estimate_bytes", budget ? static_cast<double>(budget->fit.needed_bytes) : 0.0);
  facts.set("run.budget_bytes", budget ? static_cast<double>(budget->budget_bytes) : 0.0);
  facts.set("run.kept_layers", budget ? static_cast<double>(budget->fit.kept_layers) : 0.0);
  facts.set("estimate.tokens", state.estimate ? static_cast<double>(state.estimate->memory.length) : 0.0);
  facts.set("estimate.bytes", state.estimate ? static_cast<double>(state.estimate->fit.needed_bytes) : 0.0);
  facts.set("estimate.budget_bytes", state.estimate ? static_cast<double>(state.estimate->budget_bytes) : 0.0);
  facts.set("estimate.kept_layers", state.estimate ? static_cast<double>(state.estimate->fit.kept_layers) : 0.0);
  facts.set("other.status", other ? std::string(status_name(other->status)) : "none");
  facts.set("other.loss",
            other && other->data && other->data->next_token_loss ? *other->data->next_token_loss : std::nan(""));
  const Selection& selection = state.view.selection;
  facts.set("select.head", selection.head ? head_text(*selection.head) : "none");
  facts.set("select.query", selection.query ? static_cast<double>(*selection.query) : -1.0);
  facts.set("select.key", selection.key ? static_cast<double>(*selection.key) : -1.0);
  if (data && selection.head)
    for (const Quantity& quantity : head_quantities())
      if (quantity.group.empty())
        facts.set("head." + std::string(quantity.name),
                  data->at(quantity.name, selection.head->layer, selection.head->head));
  const char* centres[] = {"map", "what-if", "compare"};
  facts.set("centre", std::string(centres[static_cast<int>(state.view.centre)]));
  facts.set("overlay", static_cast<double>(static_cast<int>(state.overlay)));
  facts.set("theme", std::string(state.settings.dark ? "dark" : "light"));
  facts.set("can_undo", state.can_undo ? 1.0 : 0.0);
}

}  // namespace headroom
