// Where the parts of the atlas lie, which cell is where, and the contour between cells over a threshold and the others.
// Pure functions of plain values in logical pixels; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "app/plot/cell_contour.h"
#include "app/plot/geometry.h"

namespace headroom {

struct AtlasCell {
  std::size_t row = 0, column = 0;
  friend bool operator==(const AtlasCell&, const AtlasCell&) = default;
};

struct AtlasLayout {
  Rect grid;  // all cells; empty: no room
  std::size_t rows = 0, columns = 0;
  float cell_width = 0.0f, cell_height = 0.0f;
  float gap = 0.0f;                // between cells
  Rect counts;                     // bars per layer, right of the grid; empty: not shown
  Rect head_labels, layer_labels;  // above and left of the grid
  Rect bar;                        // colour bar with histogram, ticks and the texts above and below it

  [[nodiscard]] Rect cell(std::size_t row, std::size_t column) const;
  [[nodiscard]] Rect row_rect(std::size_t row) const;
  [[nodiscard]] std::optional<AtlasCell> at(Vec2 pointer) const;
};

// `label_width`: of the widest layer number; `counts`: wanted, where there is room. `alone`: cells are as wide as there
// is room, for their numbers.
[[nodiscard]] AtlasLayout lay_out_atlas(Rect body, std::size_t layers, std::size_t heads, float label_width,
                                        bool counts = true, bool alone = false);

// Positions 0 … count − 1 that get a label, `step` pixels apart, labels at least `least` pixels apart: 1-2-5 steps.
[[nodiscard]] std::vector<std::size_t> thinned_positions(std::size_t count, float step, float least);

// Edges between a flagged cell and one that is not; the rim of the grid is none, and a cell that nobody has
// (kNoCell). Runs along one line are joined.
struct Edge {
  Vec2 from, to;
};
[[nodiscard]] std::vector<Edge> contour(const AtlasLayout& layout, std::span<const std::uint8_t> flags);

}  // namespace headroom
