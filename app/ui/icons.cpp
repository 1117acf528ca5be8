// Icons drawn with lines and polygons, so that they are crisp at every scale.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "app/ui/ui_state.h"

namespace headroom {

void draw_triangle(Painter& painter, Vec2 c, float width, Color color, bool right) {
  const float w = 0.5f * width, h = 0.38f * width;
  if (right) {
    painter.fill_polygon(std::array<Vec2, 3>{{{c.x - h, c.y - w}, {c.x + h, c.y}, {c.x - h, c.y + w}}}, color);
  } else {
    painter.fill_polygon(std::array<Vec2, 3>{{{c.x - w, c.y - h}, {c.x + w, c.y - h}, {c.x, c.y + h}}}, color);
  }
}

void Ui::icon(Icon which, Vec2 c, float size, Color color) {
  const float r = 0.5f * size, line = std::max(1.0f, size / 9.0f);
  const auto at = [&](float x, float y) { return Vec2{c.x + x * r, c.y + y * r}; };
  const auto stroke = [&](std::initializer_list<Vec2> points, bool closed = false, float width = 0.0f) {
    const std::vector<Vec2> list(points);
    painter.polyline(list, color, width > 0.0f ? width : line, closed);
  };
  const auto fill = [&](std::initializer_list<Vec2> points, Color with) {
    const std::vector<Vec2> list(points);
    painter.fill_polygon(list, with);
  };
  const Color ground = theme.panel;
  switch (which) {
    case Icon::Play: fill({at(-0.75f, -1), at(1, 0), at(-0.75f, 1)}, color); break;
    case Icon::Stop:
      painter.fill_rect({c.x - 0.8f * r, c.y - 0.8f * r, c.x + 0.8f * r, c.y + 0.8f * r}, color, 1.0f);
      break;
    case Icon::Warning:
      fill({at(0, -1), at(1.08f, 0.95f), at(-1.08f, 0.95f)}, color);
      painter.fill_rect({c.x - 0.1f * r, c.y - 0.35f * r, c.x + 0.1f * r, c.y + 0.35f * r}, ground);
      painter.fill_rect({c.x - 0.1f * r, c.y + 0.5f * r, c.x + 0.1f * r, c.y + 0.7f * r}, ground);
      break;
    case Icon::Error: {
      painter.disc(c, r, color);
      const float d = 0.36f * r, w = std::max(1.5f, 0.22f * r);
      painter.line({c.x - d, c.y - d}, {c.x + d, c.y + d}, ground, w);
      painter.line({c.x - d, c.y + d}, {c.x + d, c.y - d}, ground, w);
      break;
    }
    case Icon::Info: {
      painter.ring(c, r, color, line);
      const float w = std::max(0.5f, 0.12f * r);
      painter.fill_rect({c.x - w, c.y - 0.05f * r, c.x + w, c.y + 0.55f * r}, color);
      painter.fill_rect({c.x - w, c.y - 0.5f * r, c.x + w, c.y - 0.26f * r}, color);
      break;
    }
    case Icon::Close:
      painter.line(at(-0.8f, -0.8f), at(0.8f, 0.8f), color, line);
      painter.line(at(-0.8f, 0.8f), at(0.8f, -0.8f), color, line);
      break;
    case Icon::Maximise: {
      const float k = 0.45f;
      for (const float sx : {-1.0f, 1.0f}) {
        for (const float sy : {-1.0f, 1.0f}) stroke({at(sx * k, sy), at(sx, sy), at(sx, sy * k)});
      }
      break;
    }
    case Icon::Restore: {
      const float k = 0.35f;
      for (const float sx : {-1.0f, 1.0f}) {
        for (const float sy : {-1.0f, 1.0f}) stroke({at(sx, sy * k), at(sx * k, sy * k), at(sx * k, sy)});
      }
      break;
    }
    case Icon::ChevronDown: draw_triangle(painter, c, size, color); break;
    case Icon::ChevronRight: draw_triangle(painter, c, size, color, true); break;
    case Icon::Check: stroke({at(-0.8f, 0.05f), at(-0.25f, 0.6f), at(0.8f, -0.6f)}, false, std::max(1.5f, line)); break;
    case Icon::Drop:
      stroke({at(0, -0.95f), at(0, 0.38f)}, false, std::max(2.0f, size / 20.0f));
      stroke({at(-0.48f, -0.1f), at(0, 0.4f), at(0.48f, -0.1f)}, false, std::max(2.0f, size / 20.0f));
      stroke({at(-1, 0.55f), at(-1, 0.95f), at(1, 0.95f), at(1, 0.55f)}, false, std::max(2.0f, size / 20.0f));
      break;
    case Icon::Search:
      painter.ring(at(-0.2f, -0.2f), 0.62f * r, color, line);
      painter.line(at(0.28f, 0.28f), at(0.9f, 0.9f), color, line);
      break;
    case Icon::Pin:
      painter.disc(at(0, -0.4f), 0.5f * r, color);
      painter.line(at(0, 0.1f), at(0, 0.95f), color, line);
      break;
    case Icon::Folder:
      stroke({at(-1, -0.65f), at(-0.2f, -0.65f), at(0.05f, -0.35f), at(1, -0.35f), at(1, 0.75f), at(-1, 0.75f)}, true);
      break;
    case Icon::Copy:
      painter.stroke_rect({c.x - 0.9f * r, c.y - 0.9f * r, c.x + 0.4f * r, c.y + 0.4f * r}, color, line, 1.0f);
      painter.stroke_rect({c.x - 0.4f * r, c.y - 0.4f * r, c.x + 0.9f * r, c.y + 0.9f * r}, color, line, 1.0f);
      break;
  }
}

}  // namespace headroom
