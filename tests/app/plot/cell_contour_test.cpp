// The contour between flagged cells and others: against every pair of neighbours, one by one.
#include "app/plot/cell_contour.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/catch.h"

namespace headroom::test {
namespace {

// (level, line, place): a side of one cell.
using Side = std::tuple<bool, std::size_t, std::size_t>;

std::set<Side> sides_of(const std::vector<CellEdge>& edges) {
  std::set<Side> sides;
  for (const CellEdge& edge : edges) {
    CATCH_CHECK((edge.from_row == edge.to_row) != (edge.from_column == edge.to_column));
    for (std::size_t c = edge.from_column; c < edge.to_column; ++c)
      CATCH_CHECK(sides.emplace(true, edge.from_row, c).second);
    for (std::size_t r = edge.from_row; r < edge.to_row; ++r)
      CATCH_CHECK(sides.emplace(false, edge.from_column, r).second);
  }
  return sides;
}

std::set<Side> expected_sides(int rows, int columns, const std::vector<std::uint8_t>& flags, ContourRim rim) {
  const auto flag = [&](int r, int c) -> int {
    if (r < 0 || c < 0 || r >= rows || c >= columns) return rim == ContourRim::Closed ? 0 : 2;
    return flags[static_cast<std::size_t>(r * columns + c)];
  };
  std::set<Side> sides;
  for (int r = 0; r <= rows; ++r)
    for (int c = 0; c <= columns; ++c) {
      if (c < columns && flag(r - 1, c) + flag(r, c) == 1) sides.emplace(true, r, c);
      if (r < rows && flag(r, c - 1) + flag(r, c) == 1) sides.emplace(false, c, r);
    }
  return sides;
}

}  // namespace

CATCH_TEST_CASE("cell contour: every side between a flagged cell and one that is not, and no other") {
  std::mt19937 random(7);
  for (const auto& [rows, columns] : {std::pair{1, 1}, {1, 9}, {7, 1}, {5, 8}, {30, 9}})
    for (const ContourRim rim : {ContourRim::Open, ContourRim::Closed})
      for (const std::uint32_t kinds : {2u, 3u}) {
        std::vector<std::uint8_t> flags(static_cast<std::size_t>(rows * columns));
        // Sums of two flags tell: 0 and 1 make 1, what nobody has makes more.
        for (std::uint8_t& flag : flags) flag = static_cast<std::uint8_t>(random() % kinds);
        const std::vector<CellEdge> edges =
            cell_contour(static_cast<std::size_t>(rows), static_cast<std::size_t>(columns), flags, rim);
        CATCH_CHECK(sides_of(edges) == expected_sides(rows, columns, flags, rim));
      }
}

CATCH_TEST_CASE("cell contour: runs along a line are one edge") {
  const std::array<std::uint8_t, 6> flags = {1, 1, 1, 0, 0, 1};  // two rows of three
  const std::vector<CellEdge> open = cell_contour(2, 3, flags, ContourRim::Open);
  CATCH_CHECK(open == std::vector<CellEdge>{{1, 0, 1, 2}, {1, 2, 2, 2}});
  const std::vector<CellEdge> closed = cell_contour(2, 3, flags, ContourRim::Closed);
  CATCH_CHECK(closed == std::vector<CellEdge>{
                            {0, 0, 0, 3}, {1, 0, 1, 2}, {2, 2, 2, 3}, {0, 0, 1, 0}, {1, 2, 2, 2}, {0, 3, 2, 3}});
  CATCH_CHECK(cell_contour(0, 0, {}, ContourRim::Closed).empty());
}

}  // namespace headroom::test
