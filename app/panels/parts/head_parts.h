// What the views of the heads share: menus of quantities, ranges of colours, tooltips of heads, sentences in place of
// data. Main thread only.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/panel.h"
#include "app/panels/parts/run_cache.h"
#include "app/plot/color_map.h"
#include "app/plot/plot_frame.h"

namespace headroom {

// Quantities by group; each runs `command` with its name. With elements: a submenu.
[[nodiscard]] std::vector<MenuItem> quantity_menu(std::string_view command, std::string_view selected,
                                                  bool with_layer = false);
// "Sink score α₀"; the name as it is where there is no such quantity.
[[nodiscard]] std::string column_heading(std::string_view name);
[[nodiscard]] std::string column_title(std::string_view name);

// The colours of a quantity over all heads: what it can be where that is bounded and holds all values, else 1-2-5 ends
// round the values, so that the range seldom moves while layers arrive.
struct ColumnRange {
  ColorScale scale;
  bool clips_low = false, clips_high = false;
};
[[nodiscard]] ColumnRange column_range(const HeadColumn& column, const Theme& theme, bool log = false);

// What a head's tooltip says: its name, the value, the pair of a differential head; why there is no value.
[[nodiscard]] std::string head_tip(const RunSnapshot& run, const QuantityRef& ref, HeadRef head);

// The row of a head in [layers, heads] of the run; nothing where it is not measured.
[[nodiscard]] std::optional<std::size_t> row_of(const RunSnapshot& run, HeadRef head);
[[nodiscard]] std::string select_command(const State& state, HeadRef head);  // a selected head is released

// Sentences in place of what cannot be shown, wrapped, from the top of the rectangle.
void draw_note(PanelContext& context, Rect area, std::string_view first, std::string_view more = {});

// Beside the title of the sorted column.
void draw_sort_arrow(Painter& painter, Vec2 centre, bool descending, Color color);

}  // namespace headroom
