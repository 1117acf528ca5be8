#include "app/figures/figure_fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "app/figures/figure_layout.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

double page_millimetres(float points) { return static_cast<double>(points) * 25.4 / 72.0; }

std::string whole_mm(double length) { return fixed_text(std::ceil(length - 1e-4), 0) + " mm"; }

// Left and right of the inner rectangles that begin and end with a column, the widest of all rows.
struct ColumnRoom {
  float left = 0.0f, right = 0.0f;
};

// From where to where each column reaches.
struct ColumnEdges {
  float from = 0.0f, to = 0.0f;
};

std::vector<ColumnEdges> column_edges(const Figure& figure, std::span<const PanelFrame> frames, float width,
                                      float gap) {
  std::vector<ColumnRoom> rooms(figure.column_shares.size());
  for (const std::vector<std::size_t>& row : figure.rows) {
    std::size_t column = 0;
    for (const std::size_t panel : row) {
      const PanelFrame& frame = frames[panel];
      ColumnRoom &first = rooms[column], &last = rooms[column + figure.columns[panel] - 1];
      first.left = std::max(first.left, frame.inner.x0 - frame.outer.x0);
      last.right = std::max(last.right, frame.outer.x1 - frame.inner.x1);
      column += figure.columns[panel];
    }
  }
  float left_over = width - gap * static_cast<float>(rooms.size() - 1), shares = 0.0f;
  for (const ColumnRoom& room : rooms) left_over -= room.left + room.right;
  for (const float share : figure.column_shares) shares += share;
  std::vector<ColumnEdges> edges;
  float x = 0.0f;
  for (std::size_t c = 0; c < rooms.size(); ++c) {
    const float inner = std::max(0.0f, left_over) * figure.column_shares[c] / shares;
    edges.push_back({x, x + rooms[c].left + inner + rooms[c].right});
    x = edges.back().to + gap;
  }
  return edges;
}

}  // namespace

Result<void> align_columns(Figure& figure, const Page& page) {
  if (figure.columns.empty()) return {};
  const double width_mm = figure.width_mm, height_mm = figure.height_mm;
  // What stands beside the panels depends a little on how wide they are. Shares that do not fit yet are tried on a page
  // with room for them.
  for (const double times : {2.0, 1.0}) {
    figure.width_mm = times * width_mm;
    const Result<std::vector<PanelFrame>> frames = lay_out_figure(figure, page);
    figure.width_mm = width_mm, figure.height_mm = height_mm;
    if (!frames && times > 1.0) continue;
    if (!frames) return frames.error();
    const auto width = static_cast<float>(width_mm * 72.0 / 25.4);
    const std::vector<ColumnEdges> edges = column_edges(figure, *frames, width, page.style.mm(figure.gap_mm));
    for (const std::vector<std::size_t>& row : figure.rows) {
      std::size_t column = 0;
      for (const std::size_t panel : row) {
        const PanelFrame& frame = (*frames)[panel];
        const float around = frame.outer.width() - frame.inner.width();
        const std::size_t last = column + figure.columns[panel] - 1;
        figure.panels[panel]->weight = std::max(1.0f, edges[last].to - edges[column].from - around);
        column = last + 1;
      }
    }
  }
  return {};
}

Result<void> check_contents(const Figure& figure, std::span<const PanelFrame> frames, const Page& page) {
  for (std::size_t r = 0; r < figure.rows.size(); ++r)
    for (const std::size_t i : figure.rows[r]) {
      const FigurePanel& panel = *figure.panels[i];
      const float needed = panel.needed_height(page, frames[i].inner.width());
      if (needed <= frames[i].inner.height() + 0.02f) continue;
      const bool own_height = r < figure.row_heights_mm.size();
      const double low = page_millimetres((needed - frames[i].inner.height()) / page.style.times);
      const std::string what =
          panel.letter.empty() ? "the text of row " + std::to_string(r + 1) : "the text of panel " + panel.letter;
      if (own_height)
        return Error(ErrorCode::InvalidArgument,
                     what + " does not fit: " + fixed_text(static_cast<double>(figure.row_heights_mm[r]), 0) +
                         " mm is too low for its row; at least " +
                         whole_mm(static_cast<double>(figure.row_heights_mm[r]) + low));
      return Error(ErrorCode::InvalidArgument,
                   what + " does not fit: " + fixed_text(figure.height_mm, 0) + " mm is too low; at least " +
                       whole_mm(figure.height_mm + low * page.style.times * static_cast<double>(figure.rows.size())));
    }
  return {};
}

}  // namespace headroom
