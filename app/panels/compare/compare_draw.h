// What lies round and on the maps of a pair: pointer, crosshair, captions, notes, tool bar, divider. Main thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/panels/compare/compare_geometry.h"
#include "app/panels/compare/compare_maps.h"
#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_labels.h"
#include "app/panels/panel.h"

namespace headroom {

// Of the map view that both runs share; one large map in every mode but side by side.
[[nodiscard]] PairLayoutRequest pair_layout_request(PanelContext& context, Rect body, const MapPair& pair,
                                                    CompareMode mode);

// What the pointer does on one of the maps: hover, zoom, pan, pin. The cell under it.
std::optional<MapLayout::Cell> pair_pointer(PanelContext& context, std::string_view id, const MapLayout& layout);
// The marks of all maps: under the pointer, hovered elsewhere, pinned.
[[nodiscard]] MapMarks pair_marks(const PanelContext& context, const MapExtent& extent,
                                  std::optional<MapLayout::Cell> cell);
void draw_pair_cross(PanelContext& context, const MapLayout& layout, const MapMarks& marks);

// Lines at the right edge of the masked corner, as many as find room there, at most kCaptionLines.
struct CaptionLine {
  std::string text;
  TextStyle style;
};
void draw_caption(PanelContext& context, const MapLayout& layout, bool causal, std::span<const CaptionLine> lines);
// Sentences where a map would be.
void draw_map_note(PanelContext& context, const MapLayout& layout, std::string_view headline, std::string_view why,
                   bool warn);

// Modes at the left, scale, pooling and Fit at the right; what does not fit is left out.
void draw_pair_tool_bar(PanelContext& context, Rect bar, std::span<const Choice> modes, const MapPair& pair,
                        bool difference);
// A divider that can be dragged, with the names of what lies on its sides.
void draw_pair_divider(PanelContext& context, const MapLayout& layout, double divider, std::string_view left,
                       std::string_view right);

// What the numbers under the pointer are, for the status bar and scripts ("compare.a", "compare.b",
// "compare.difference").
void set_pair_facts(PanelContext& context, const MapPair& pair, const MapLayout& layout, std::int32_t level,
                    const MapMarks& marks, std::string_view name_a, std::string_view name_b, bool difference);

}  // namespace headroom
