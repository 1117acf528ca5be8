// Labels of queries and keys round the map, the texts and curves of its profiles, its colour bar. Main thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/panel.h"

namespace headroom {

// What the labels point out.
struct MapMarks {
  std::optional<std::int64_t> hovered_query, hovered_key, pinned_query, pinned_key;
  [[nodiscard]] std::optional<std::int64_t> query() const { return hovered_query ? hovered_query : pinned_query; }
  [[nodiscard]] std::optional<std::int64_t> key() const { return hovered_key ? hovered_key : pinned_key; }
};

// Keys that may be labelled, most important first: hovered, pinned, key 0, then of every 8 pixels the key that receives
// most, in that order. `strip_x`, `pinned_x`: where key 0 and a pinned key out of view stand; NaN: nowhere.
struct KeyCandidate {
  std::int64_t key = 0;
  float x = 0.0f;
  bool strong = false;
};
[[nodiscard]] std::vector<KeyCandidate> key_candidates(const MapLayout& layout, const MapMarks& marks,
                                                       std::span<const float> received);
void draw_key_labels(PanelContext& context, const MapLayout& layout, const MapSubject& subject, const MapMarks& marks);
void draw_query_labels(PanelContext& context, const MapLayout& layout, const MapSubject& subject,
                       const MapMarks& marks);
// Width of the longest index beside the map.
[[nodiscard]] float query_index_width(const TextMeasure& measure, std::int64_t length);

}  // namespace headroom
