#include "app/panels/heads/heads_layout.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace headroom {
namespace {

constexpr float kBarHeight = 86.0f;  // texts, histogram, colours, ticks, null level
constexpr float kCountWidth = 36.0f, kCountGap = 14.0f;
constexpr float kLargestAtlasCell = 64.0f;

// Whole pixels where there are enough of them.
float atlas_cell_size(float room, std::size_t count, float largest = kLargestAtlasCell) {
  const float size = room / static_cast<float>(std::max<std::size_t>(1, count));
  return std::min(largest, size >= 6.0f ? std::floor(size) : size);
}

}  // namespace

AtlasLayout lay_out_atlas(Rect body, std::size_t layers, std::size_t heads, float label_width, bool counts,
                          bool alone) {
  AtlasLayout layout;
  layout.rows = layers;
  layout.columns = heads;
  const bool small = body.height() < 420.0f;
  layout.bar = body.cut_bottom(std::min(small ? 56.0f : kBarHeight, 0.4f * std::max(0.0f, body.height())));
  body.cut_bottom(small ? 6.0f : 10.0f);
  Rect above = body.cut_top(18.0f);
  const float left = std::max(24.0f, label_width + 8.0f);
  layout.layer_labels = body.cut_left(left);
  above.cut_left(left);
  if (counts && body.width() >= 170.0f) {
    layout.counts = body.cut_right(kCountWidth);
    body.cut_right(kCountGap);
  }
  if (body.width() < 8.0f || body.height() < 8.0f || layers == 0 || heads == 0) return layout;
  layout.cell_width = atlas_cell_size(body.width(), heads, alone ? body.width() : kLargestAtlasCell);
  // Cells are never much higher than wide: a model of few layers keeps the shape of a table.
  const float height = atlas_cell_size(body.height(), layers);
  layout.cell_height = std::min(height, std::max(18.0f, layout.cell_width));
  layout.grid = Rect::sized(body.x0, body.y0, layout.cell_width * static_cast<float>(heads),
                            layout.cell_height * static_cast<float>(layers));
  layout.gap = layout.cell_width >= 5.0f && layout.cell_height >= 5.0f ? 1.0f : 0.0f;
  layout.layer_labels.y1 = layout.grid.y1;
  layout.head_labels = {layout.grid.x0, above.y0, layout.grid.x1, above.y1};
  if (!layout.counts.empty()) {
    const float x = std::min(layout.counts.x0, layout.grid.x1 + kCountGap);
    layout.counts = {x, layout.grid.y0, x + kCountWidth, layout.grid.y1};
  }
  return layout;
}

Rect AtlasLayout::cell(std::size_t row, std::size_t column) const {
  return Rect::sized(grid.x0 + static_cast<float>(column) * cell_width, grid.y0 + static_cast<float>(row) * cell_height,
                     cell_width, cell_height);
}

Rect AtlasLayout::row_rect(std::size_t row) const {
  return Rect::sized(grid.x0, grid.y0 + static_cast<float>(row) * cell_height, grid.width(), cell_height);
}

std::optional<AtlasCell> AtlasLayout::at(Vec2 pointer) const {
  if (!grid.contains(pointer)) return {};
  const auto row = static_cast<std::size_t>((pointer.y - grid.y0) / cell_height);
  const auto column = static_cast<std::size_t>((pointer.x - grid.x0) / cell_width);
  return AtlasCell{std::min(row, rows - 1), std::min(column, columns - 1)};
}

std::vector<std::size_t> thinned_positions(std::size_t count, float step, float least) {
  std::size_t every = 1;
  for (std::size_t decade = 1; step > 0.0f && static_cast<float>(every) * step < least; decade *= 10)
    for (const std::size_t factor : {std::size_t{2}, std::size_t{5}, std::size_t{10}}) {
      every = decade * factor;
      if (static_cast<float>(every) * step >= least || every > count) break;
    }
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < count; i += every) positions.push_back(i);
  return positions;
}

std::vector<Edge> contour(const AtlasLayout& layout, std::span<const std::uint8_t> flags) {
  const auto corner = [&](std::size_t row, std::size_t column) {
    return Vec2{layout.grid.x0 + static_cast<float>(column) * layout.cell_width,
                layout.grid.y0 + static_cast<float>(row) * layout.cell_height};
  };
  std::vector<Edge> edges;
  for (const CellEdge& edge : cell_contour(layout.rows, layout.columns, flags, ContourRim::Open))
    edges.push_back({corner(edge.from_row, edge.from_column), corner(edge.to_row, edge.to_column)});
  return edges;
}

}  // namespace headroom
