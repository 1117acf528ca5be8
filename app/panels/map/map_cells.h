// Draws the cells of a map: tiles, coarse ones where the sharp ones are not there yet, numbers in large cells, the
// causal hairline, strips of single keys, the crosshair, the lens and the overview. Main thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/panel.h"

namespace headroom {

// What a map on the screen waits for.
struct TileProgress {
  std::vector<TileKey> wanted;        // for TileStore::want, most urgent first
  std::size_t needed = 0, ready = 0;  // tiles of the level that the view asks for
  std::int64_t texels_pending = 0;    // of those not ready
  std::int32_t level = 0;
};

// The tiles of `layout.map` on the ground of masked cells; coarse ones get a frame and their level.
// `avoid`: no level is written there.
TileProgress draw_tiles(PanelContext& context, const MapLayout& layout, const MapSubject& subject, const TileKey& like,
                        const ColorScale& scale, Rect avoid = {});
// Hatches the visible cells of rows whose weights are not finite; their number in view.
std::int64_t draw_non_finite(PanelContext& context, const MapLayout& layout, const MapSubject& subject,
                             std::uint64_t image);
// The causal diagonal, and the far edge of a sliding window.
void draw_hairline(PanelContext& context, const MapLayout& layout, const MapSubject& subject);
// Numbers in cells whose tile is sharp, where cells are large enough; `·` for weights below 0.005.
void draw_numbers(PanelContext& context, const MapLayout& layout, const MapSubject& subject, const ColorScale& scale);
// One key over the queries in view, as wide as `strip`.
void draw_strip_of_key(PanelContext& context, const MapLayout& layout, const MapSubject& subject, Rect strip,
                       std::int64_t key, const ColorScale& scale, std::uint64_t image);

// Ids of images that belong to the window as such and not to a tile; their content is told apart by generation.
enum class MapImageSlot : std::uint64_t { KeyStrip = 1, PinnedStrip, Hatch, SideHatch, Pooled, User = 64 };
[[nodiscard]] std::uint64_t map_image_id(MapImageSlot slot);
// A generation that follows from the values: the painter uploads again only when they change.
[[nodiscard]] std::uint64_t values_generation(const std::vector<float>& values, std::int32_t width);
[[nodiscard]] std::string zoom_line(const MapWindow& window, std::int64_t length);  // "zoom …", or "map.fit"

}  // namespace headroom
