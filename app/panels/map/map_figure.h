// A map wherever one stands: the cells of a head, or how those of one run differ from another's. Tiles, coarse ones
// where the sharp ones are not there yet, hatches, numbers in large cells, the causal hairline, strips of single keys;
// and the whole map in a small rectangle. What it lacks it adds to the tiles that the frame wants. Main thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/panel.h"
#include "app/plot/color_map.h"

namespace headroom {

// Which map of the window a figure is; each is drawn once a frame at most.
enum class FigureSlot : std::uint8_t { Map, First, Second, A, B, Difference, Card };

// Borrows from the subjects.
struct MapFigure {
  const MapSubject* subject = nullptr;
  ColorScale scale;
  FigureSlot slot = FigureSlot::Map;
  // What is shown are the cells of the subject less those of this one; `differences` keeps the tiles made for it.
  const MapSubject* less = nullptr;
  CompareCache* differences = nullptr;
  Rect part{};                               // of the map that is drawn; empty: all of it
  Rect avoid{};                              // other texts stand there: no level, nor that the map is being made
  std::optional<std::int64_t> pinned_key{};  // of the second strip

  [[nodiscard]] bool causal() const { return subject->causal && (!less || less->causal); }
};

struct FigureProgress {
  std::size_t needed = 0, ready = 0;  // tiles of the level that the view asks for
  std::int64_t texels_pending = 0;    // of those not ready
  std::int32_t level = 0;             // of several maps the coarsest
  std::int64_t non_finite_rows = 0;   // in view
  void add(const FigureProgress& other);
};

FigureProgress draw_map_figure(PanelContext& context, const MapLayout& layout, const MapFigure& figure);
// The causal diagonal, and the far edge of a sliding window, where a figure does not draw them itself.
void draw_hairline(PanelContext& context, const MapLayout& layout, const MapSubject& subject);
// All of it from its coarsest tile, which is wanted where it is not there; false then.
bool draw_whole_map(PanelContext& context, Rect frame, const MapFigure& figure);
// Square blocks of many cells, [blocks, blocks], as a run file keeps them, through `scale`; `source` in blocks.
void draw_pooled_map(PanelContext& context, Rect target, std::span<const float> cells, Rect source,
                     const ColorScale& scale, FigureSlot slot);
// One key over all queries, [rows], from top to bottom.
void draw_pooled_strip(PanelContext& context, Rect target, std::span<const float> cells, const ColorScale& scale,
                       FigureSlot slot);

// B − A of a row or a column; what one of them masks is 0 there.
[[nodiscard]] std::vector<float> difference_of(std::span<const float> a, std::span<const float> b);
[[nodiscard]] std::string zoom_line(const MapWindow& window, std::int64_t length);  // "zoom …", or "map.fit"

}  // namespace headroom
