#include "app/panels/parts/panel_title.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/panel.h"
#include "app/ui/text_wrap.h"

namespace headroom {

Rect draw_panel_title(PanelContext& context, Rect frame, std::string_view name, std::string_view title,
                      std::string_view mono, std::string_view hint, float free) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const Rect bar = frame.cut_top(measure::kPanelTitle);
  if (bar.empty()) return frame;
  painter.fill_rect({bar.x0, bar.y1 - 1.0f, bar.x1, bar.y1}, theme.line);
  ui.push_id("title");
  ui.push_id(name);
  const float y = bar.y0 + 15.0f;
  float right = bar.x1 - measure::kPadding;
  const bool maximises = name == "map" || name == "head" || name == "heads" || name == "tokens";
  const std::string maximise = "panel.maximise " + std::string(name);
  if (maximises && bar.width() > 120.0f) {
    const bool alone = context.state.layout.maximised == name;
    ui.icon_button(Rect::sized(bar.x1 - 27.0f, y - 10.0f, 20.0f, 20.0f), alone ? Icon::Restore : Icon::Maximise,
                   maximise, alone ? "All panels again" : "This panel alone");
    right -= 24.0f;
  }
  right -= free;
  const Interaction hit = ui.interact("bar", {bar.x0, bar.y0, std::max(bar.x0, right), bar.y1});
  if (maximises && hit.double_clicked) ui.run(maximise);
  ui.context_menu("menu", bar, [&] {
    std::vector<MenuItem> items;
    if (maximises)
      items.push_back({context.state.layout.maximised == name ? "All panels again" : "This panel alone",
                       "",
                       maximise,
                       false,
                       false,
                       {}});
    if (name == "heads" || name == "head" || name == "tokens")
      items.push_back({"Fold this panel", "", "panel.fold " + std::string(name), false, false, {}});
    items.push_back({"Panels as they were designed", "", "panel.reset", false, true, {}});
    return items;
  });

  float x = bar.x0 + measure::kPadding;
  if (x < right) x += ui.label_at(x, y, title, theme.title(), right - x) + 11.0f;
  if (!mono.empty() && right - x > 24.0f) x += ui.label_at(x, y, mono, theme.value(), right - x) + 11.0f;
  if (!hint.empty() && right - x > 40.0f) ui.label_at(x, y, hint, theme.body(theme.text3), right - x);
  ui.pop_id();
  ui.pop_id();
  return frame;
}

}  // namespace headroom
