// Two runs of the same tokens at one head, drawn with one window, one range and one pointer: the map of A, that of B, B
// − A, and A and B with a divider between them. Main thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "app/panels/compare/compare_geometry.h"
#include "app/panels/map/map_figure.h"
#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_range.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/panel.h"
#include "app/panels/parts/compare_cache.h"

namespace headroom {

// Borrows from the runs it was made of.
struct MapPair {
  MapSubject a, b;
  MapRange range;       // of A and B
  MapRange difference;  // of B − A
  std::string symbol;   // "a"
  [[nodiscard]] bool same_length() const {
    return a.length == b.length && (!a.has_map() || !b.has_map() || (a.rows == b.rows && a.keys == b.keys));
  }
  [[nodiscard]] MapExtent extent() const { return {std::max<std::int64_t>(1, any().length), any().rows, any().keys}; }
  [[nodiscard]] bool has_difference() const { return a.has_map() && b.has_map() && same_length(); }
  [[nodiscard]] const MapSubject& any() const { return a.has_map() || !b.has_map() ? a : b; }
};
// Either may be null. Where the head has different kinds of maps in the two, both show the net one.
[[nodiscard]] MapPair make_map_pair(PanelContext& context, CompareCache& memory, const RunEntry* a, const RunEntry* b);

enum class PairMap : std::uint8_t { A, B, Difference };

// The cells, the strip of key 0, the hairline. Nothing but the ground where a run has no map.
FigureProgress draw_pair_map(PanelContext& context, CompareCache& memory, const MapPair& pair, const MapLayout& layout,
                             PairMap which);
// A left of the divider, B right of it.
FigureProgress draw_pair_swipe(PanelContext& context, const MapPair& pair, const MapLayout& layout, double divider);

}  // namespace headroom
