#include "app/panels/map/map_hand.h"

#include <cstdint>

#include "app/panels/map/map_figure.h"
#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_marks.h"
#include "app/panels/panel.h"

namespace headroom {

std::optional<MapLayout::Cell> hand_on_map(PanelContext& context, std::string_view id, const MapLayout& layout,
                                           const ZoomAbout& zoomed) {
  Ui& ui = context.ui;
  const Interaction hand = ui.interact(id, layout.map, Cursor::Crosshair);
  const Vec2 pointer = ui.input.pointer;
  std::optional<MapLayout::Cell> cell;
  if (hand.hovered && !hand.dragging) cell = layout.cell_under(pointer);
  if (cell) {
    context.hover.query = cell->query;
    context.hover.key = cell->key;
  }
  if (hand.wheel != 0.0f) {
    const std::string line = zoom_line(zoomed(pointer, static_cast<double>(hand.wheel)), layout.length);
    if (line != zoom_line(layout.window, layout.length)) ui.run(line);
  }
  if (hand.dragging && !layout.whole()) {
    ui.set_cursor(Cursor::Move);
    if (hand.drag.x != 0.0f || hand.drag.y != 0.0f) ui.run(zoom_line(panned_window(layout, hand.drag), layout.length));
  }
  if (hand.double_clicked) {
    ui.run("map.fit");
  } else if (hand.clicked) {
    if (const auto at = layout.cell_under(pointer)) {
      const Selection& selection = context.state.view.selection;
      const bool same = selection.query == at->query && selection.key == at->key;
      ui.run(same ? "pin none" : "pin " + std::to_string(at->query) + " " + std::to_string(at->key));
    }
  }
  return cell;
}

void draw_cell_menu(PanelContext& context, std::string_view id, const MapLayout& layout, const CellMenu& items) {
  Ui& ui = context.ui;
  double& query = ui.kept_number(std::string(id) + " menu query", -1.0);
  double& key = ui.kept_number(std::string(id) + " menu key", -1.0);
  if (ui.input.pressed[kRightButton] && ui.hovered(layout.map))
    if (const auto at = layout.cell_under(ui.input.pointer)) {
      query = static_cast<double>(at->query);
      key = static_cast<double>(at->key);
    }
  ui.context_menu(std::string(id) + " menu", layout.map, [&] {
    return items(std::to_string(static_cast<std::int64_t>(query)), std::to_string(static_cast<std::int64_t>(key)));
  });
}

}  // namespace headroom
