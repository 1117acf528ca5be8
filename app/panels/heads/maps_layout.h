// Where the thumbnails of all heads lie, by layer or by value, and which head is in which place. Pure functions of
// plain values in logical pixels; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "app/panels/heads/heads_layout.h"
#include "app/plot/geometry.h"

namespace headroom {

inline constexpr std::size_t kNoHead = static_cast<std::size_t>(-1);
inline constexpr float kLeastThumbnail = 10.0f, kMostThumbnail = 128.0f, kOnlyThumbnail = 512.0f;

struct MapsRequest {
  Rect body;
  std::size_t layers = 0, heads = 0;
  std::vector<std::size_t> by_value;  // rows of heads in order; empty: by layer
  float wanted = 0.0f;                // size of a thumbnail; 0: what fits
  float label_width = 0.0f;           // of the widest number of a layer or name of a head at the left
  float name_width = 0.0f;            // of a head's name below its thumbnail
};

// Places in rows and columns. Those that the view does not hold are reached by scrolling.
struct MapsLayout {
  AtlasLayout places;              // not scrolled; `cell` is a thumbnail with the gap right of it and below
  std::vector<std::size_t> heads;  // by place: row of the head in [layers, heads] of the run; kNoHead: nobody
  Rect view;                       // where the places are seen
  Rect above, left;                // their labels; empty by value
  Rect plots;                      // below, in line with the columns; empty: no room, or layers do not run across
  float size = 0.0f;               // width of a thumbnail, its strip included; the map beside that is a square
  float strip = 0.0f, gap = 0.0f;  // of key 0, with the line beside it; 0: too small
  bool across = false;             // layers across, heads down
  bool names = false;              // below the thumbnails
  bool numbers = false;            // in the masked corners

  [[nodiscard]] float side() const { return size - strip; }  // of the map
  [[nodiscard]] float content() const { return places.grid.height(); }
  [[nodiscard]] Rect square(std::size_t place, float scrolled) const;
  [[nodiscard]] std::optional<std::size_t> place_of(std::size_t head) const;
  // The place under a point of the view that holds a head.
  [[nodiscard]] std::optional<std::size_t> at(Vec2 pointer, float scrolled) const;
  // The head in that direction from a place; nobody there: the nearest one along the row or column.
  [[nodiscard]] std::optional<std::size_t> beside(std::size_t place, int right, int down) const;
  // First and last + 1 row of places that the view shows.
  [[nodiscard]] std::size_t first_row(float scrolled) const;
  [[nodiscard]] std::size_t end_row(float scrolled) const;
};

[[nodiscard]] MapsLayout lay_out_maps(const MapsRequest& request);

// Between heads over a threshold and the others, as in the atlas; places without a head have no edges. In the layout's
// own coordinates, not scrolled.
[[nodiscard]] std::vector<Edge> maps_contour(const MapsLayout& layout, std::span<const std::uint8_t> over_by_head);

}  // namespace headroom
