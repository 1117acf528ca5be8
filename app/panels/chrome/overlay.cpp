#include "app/panels/chrome/overlay.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "app/panels/chrome/about_overlay.h"
#include "app/panels/chrome/corpus_overlay.h"
#include "app/panels/chrome/figure_overlay.h"
#include "app/panels/chrome/files_overlay.h"
#include "app/panels/chrome/keys_overlay.h"
#include "app/panels/chrome/log_overlay.h"
#include "app/panels/chrome/palette.h"
#include "app/panels/chrome/prompt_overlay.h"
#include "app/panels/chrome/save_overlay.h"
#include "app/panels/chrome/settings_overlay.h"
#include "app/panels/panel.h"
#include "app/session/commands.h"

namespace headroom {

Rect begin_box(PanelContext& context, std::string_view name, Rect window, Vec2 wanted, float top) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const float w = std::floor(std::min(wanted.x, window.width() - 16.0f));
  const float h = std::floor(std::min(wanted.y, window.height() - 16.0f));
  const float x = std::round(window.centre_x() - 0.5f * w);
  float y = top >= 0.0f ? window.y0 + top : std::round(window.centre_y() - 0.5f * h - 0.01f * window.height());
  y = std::max(window.y0 + 8.0f, std::min(y, window.y1 - 8.0f - h));
  const Rect box = Rect::sized(x, y, w, h);
  ui.begin_overlay(name, box, true);
  painter.fill_rect(window, theme.scrim);
  painter.fill_rect(box, theme.panel, measure::kRadius);
  painter.stroke_rect(box, theme.faint, 1.0f, measure::kRadius);
  if (closes_box(ui, box)) ui.run("overlay.close");
  return box;
}

bool closes_box(const Ui& ui, const Rect& box) {
  const bool outside = ui.input.pointer_inside && !box.contains(ui.input.pointer);
  // Escape within a text field; elsewhere it is a key of the window.
  return (ui.input.pressed[kLeftButton] && outside && !ui.popup_open()) || (ui.key(Key::Escape) && ui.wants_text());
}

void end_box(PanelContext& context) { context.ui.end_overlay(); }

Rect draw_box_title(PanelContext& context, Rect box, std::string_view title, std::string_view hint,
                    std::string_view close_line) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  Rect rest = box;
  const Rect bar = rest.cut_top(box.height() < 300.0f ? 36.0f : 50.0f);
  context.painter().fill_rect({bar.x0 + 1.0f, bar.y1 - 1.0f, bar.x1 - 1.0f, bar.y1}, theme.line);
  const float y = std::round(bar.centre_y());
  float x = bar.x0 + 24.0f, right = bar.x1 - 24.0f;
  if (bar.width() < 500.0f) x = bar.x0 + 12.0f, right = bar.x1 - 12.0f;
  const TextStyle heading{Face::SansSemibold, 16.0f, theme.text};
  const auto cap = [&](const std::string& key) {
    right -= ui.key_cap_width(key);
    ui.key_cap({right, y}, key);
    right -= 8.0f;
  };
  const auto word = [&](const char* text) {
    const float w = std::round(ui.width(text, theme.body(theme.text3)));
    context.painter().text_at(right - w, y, text, theme.body(theme.text3));
    right -= w + 8.0f;
  };
  if (bar.width() > 360.0f) {
    cap("Esc");
    const std::string key = close_line.empty() ? std::string() : context.commands.key_of(context.state, close_line);
    if (!key.empty() && key != "Esc" && bar.width() > 560.0f) {
      word("or");
      cap(key);
    }
    word("close");
  } else {
    ui.icon_button(Rect::sized(right - 20.0f, y - 10.0f, 20.0f, 20.0f), Icon::Close, "overlay.close", "Close");
    right -= 28.0f;
  }
  x += std::round(ui.label_at(x, y, title, heading, right - x)) + 12.0f;
  if (!hint.empty() && right - x > 60.0f) ui.label_at(x, y, hint, theme.body(theme.text2), right - x);
  return rest;
}

void draw_overlay(PanelContext& context, Rect window) {
  // What lies under the palette, which leads back to a figure.
  if (context.state.overlay != Overlay::Palette)
    context.ui.kept_number("under the palette") = static_cast<double>(context.state.overlay);
  switch (context.state.overlay) {
    case Overlay::None: break;
    case Overlay::Palette: draw_palette(context, window); break;
    case Overlay::Keys: draw_keys(context, window); break;
    case Overlay::Settings: draw_settings(context, window); break;
    case Overlay::About: draw_about(context, window); break;
    case Overlay::Log: draw_log(context, window); break;
    case Overlay::PromptFile:
      keep_prompt(context);
      draw_files(context, window);
      break;
    case Overlay::CorpusFile: keep_corpus(context); [[fallthrough]];
    case Overlay::Files: draw_files(context, window); break;
    case Overlay::Prompt: draw_prompt(context, window); break;
    case Overlay::Save: draw_save(context, window); break;
    case Overlay::Figure: draw_figure_page(context, window); break;
    case Overlay::Corpus: draw_corpus(context, window); break;
  }
}

}  // namespace headroom
