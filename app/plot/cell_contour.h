// Where cells of a grid that are flagged meet cells that are not: the contour that atlases draw, in the window and in
// figures. Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headroom {

inline constexpr std::uint8_t kNoCell = 2;  // nobody has this cell: it has no edge

// Along a grid line, from one corner to another; corners are counted from 0 to rows and to columns.
struct CellEdge {
  std::size_t from_row = 0, from_column = 0, to_row = 0, to_column = 0;
  friend bool operator==(const CellEdge&, const CellEdge&) = default;
};
enum class ContourRim : std::uint8_t {
  Open,    // the rim of the grid is no edge
  Closed,  // what lies outside is not flagged
};
// `flags`: [rows, columns] of 0, 1 or kNoCell. Runs along one line are joined; level ones first, from the top, then
// upright ones from the left.
[[nodiscard]] std::vector<CellEdge> cell_contour(std::size_t rows, std::size_t columns,
                                                 std::span<const std::uint8_t> flags, ContourRim rim);

}  // namespace headroom
