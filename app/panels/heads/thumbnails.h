// Thumbnails of heads in places of a layout, as one picture that is kept while nothing about it changes: what the grid
// of all heads and the heads of a set are drawn with. Main thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/heads/maps_layout.h"
#include "app/panels/heads/maps_picture.h"
#include "app/panels/panel.h"
#include "app/panels/parts/run_cache.h"
#include "app/plot/color_map.h"

namespace headroom {

// Of weights from the decade below uniform attention at the prompt's end, 1/n, to 1, whatever has arrived; of logits
// to the largest magnitude of any head on either side of 0.
[[nodiscard]] ColorScale thumbnail_scale(const RunSnapshot& run, RunCache& memory, MapKind kind, const Theme& theme);

// The blocks that a thumbnail of the kind is made of.
[[nodiscard]] PooledKind pooled_kind(MapKind kind);

// Why a head has no thumbnail of the kind; empty: it has one, or will have one.
[[nodiscard]] std::string thumbnail_reason(const RunSnapshot& run, MapKind kind, HeadRef head);

struct ThumbnailView {
  const MapsLayout& layout;
  float scrolled = 0.0f;
  MapKind kind = MapKind::Net;
  std::optional<HeadRef> hovered;  // beside the state's own
  Rect covered;                    // numbers and names leave it free
  bool frames = true;              // round the heads of the lasso
};

// What is seen of the places.
[[nodiscard]] Rect seen_places(const MapsLayout& layout, float scrolled);

// The picture, what lies between the thumbnails, and the frames of the lasso, the hovered and the selected head. Logits
// that are not there yet are asked of the tiles. Returns how many thumbnails have a map.
std::size_t draw_thumbnails(PanelContext& context, RunCache& memory, const ThumbnailView& view);

// In the corner that causal maps leave free: the quantity's number of each head, those over `threshold` stronger.
void draw_thumbnail_numbers(PanelContext& context, const RunSnapshot& run, const HeadColumn& column,
                            const ThumbnailView& view, std::optional<double> threshold);
// Below the thumbnails, where the layout has names.
void draw_thumbnail_names(PanelContext& context, const RunSnapshot& run, const ThumbnailView& view);

// The arrows select the next head in a place of the layout. Of a head that is in none they are left to the window.
// `wraps`: the end of a row goes on with the next row.
void select_by_arrows(PanelContext& context, const RunSnapshot& run, const MapsLayout& layout, bool wraps = false);

// ".54" of what lives in [0, 1], else three significant digits.
[[nodiscard]] std::string corner_text(const QuantityInfo& info, double value);

}  // namespace headroom
