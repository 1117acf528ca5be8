// The automatic range of a map: of the cells in view, and steady while these change little. Main thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/panel.h"
#include "app/panels/parts/data_range.h"

namespace headroom {

// Texels of a tile that lie in the window, every `stride`-th along both sides, without columns that hold `excluded`
// keys. Pure.
[[nodiscard]] std::vector<float> values_in_window(const Tile& tile, const MapWindow& window, std::int64_t stride,
                                                  std::span<const std::int64_t> excluded);

// Whether `now` differs from the range that is shown by more than a tenth of it, on its scale. Pure.
[[nodiscard]] bool has_moved(const DataRange& shown, const DataRange& now, bool log);

// Nothing where the range needs no data, or there is none yet. The whole map has its own range; a part of it keeps the
// one that is shown until has_moved().
[[nodiscard]] std::optional<DataRange> range_in_view(PanelContext& context, const MapLayout& layout,
                                                     const MapSubject& subject, const MapView& view);

}  // namespace headroom
