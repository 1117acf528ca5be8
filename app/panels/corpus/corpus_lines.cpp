#include "app/panels/corpus/corpus_lines.h"

#include <algorithm>

namespace headroom {

void heading_line(PanelContext& context, Rect& body, const std::string& title, const std::string& hint) {
  const Theme& theme = context.theme();
  const Rect row = body.cut_top(22.0f);
  const float named = context.ui.label_at(row.x0, row.centre_y(), title, theme.plot_title(), row.width()) + 12.0f;
  if (row.width() - named > 50.0f)
    context.ui.label_at(row.x1, row.centre_y(), hint, theme.hint(), row.width() - named, Painter::Align::Right);
}

void number_line(PanelContext& context, Rect& body, const std::string& name, const std::string& number,
                 const std::string& more, Color color) {
  if (body.height() < kNumberLine) return;
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const Rect row = body.cut_top(kNumberLine);
  const float y = row.centre_y();
  const float named = std::min(112.0f, 0.45f * row.width());
  ui.label_at(row.x0, y, name, theme.body(theme.text2), named - 6.0f);
  float x = row.x0 + named;
  x += ui.label_at(x, y, number, {Face::MonoSemibold, 12.0f, color}, row.x1 - x) + 8.0f;
  if (row.x1 - x > 30.0f) ui.label_at(x, y, more, theme.hint(), row.x1 - x);
}

}  // namespace headroom
