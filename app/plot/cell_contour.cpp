#include "app/plot/cell_contour.h"

namespace headroom {

std::vector<CellEdge> cell_contour(std::size_t rows, std::size_t columns, std::span<const std::uint8_t> flags,
                                   ContourRim rim) {
  const std::uint8_t outside = rim == ContourRim::Closed ? 0 : kNoCell;
  // Corners and cells may lie beyond the grid by one.
  const auto flag = [&](std::size_t row, std::size_t column, bool there) {
    return there && row < rows && column < columns ? flags[row * columns + column] : outside;
  };
  const auto apart = [](std::uint8_t a, std::uint8_t b) {
    return a != kNoCell && b != kNoCell && (a != 0) != (b != 0);
  };
  std::vector<CellEdge> edges;
  for (std::size_t line = 0; line <= rows; ++line)
    for (std::size_t begin = 0; begin < columns;) {
      std::size_t end = begin;
      while (end < columns && apart(flag(line - 1, end, line > 0), flag(line, end, true))) ++end;
      if (end > begin) edges.push_back({line, begin, line, end});
      begin = end > begin ? end : begin + 1;
    }
  for (std::size_t line = 0; line <= columns; ++line)
    for (std::size_t begin = 0; begin < rows;) {
      std::size_t end = begin;
      while (end < rows && apart(flag(end, line - 1, line > 0), flag(end, line, true))) ++end;
      if (end > begin) edges.push_back({begin, line, end, line});
      begin = end > begin ? end : begin + 1;
    }
  return edges;
}

}  // namespace headroom
