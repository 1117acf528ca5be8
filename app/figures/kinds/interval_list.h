// Numbers with their intervals, one a line below each other, each with its name at the left: heads, sets of heads,
// files. Immutable once made; safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/figures/figure.h"
#include "app/figures/page_axes.h"
#include "core/base/numbers.h"

namespace headroom {

class IntervalListPanel final : public FigurePanel {
 public:
  struct Row {
    RichText name;
    std::optional<HeadRef> head;
    double value = kNaN, low = kNaN, high = kNaN;  // low, high: NaN where there is no interval
    double other = kNaN;                           // what it is held against, a ring; NaN: nothing
    Color line = ink::kBlack, point = ink::kBlack, text = ink::kBlack;
    std::string series = {};  // in the table; empty: the panel's quantity
    std::int64_t n = -1;      // observations
    [[nodiscard]] bool has_interval() const { return low <= high; }
  };
  std::string quantity;
  std::string numbers;          // name of the series of discs: "changes"
  std::string others;           // of rings: "sums"; empty: there are none
  std::vector<Row> rows;        // from the top
  std::optional<double> level;  // a line across the rows: solid at 0, else dashed
  const char* level_name = "";  // of its series
  RichText level_label;         // at its upper end, above the rows; empty: none
  bool arrows = false;          // at the edge, where an interval reaches farther
  PageAxis x;
  std::string sentence;

  PanelRoom room(const Page& page, Vec2 inner) const override;
  Vec2 least_inner(const Page& page) const override;
  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override;
  void add_data(FigureData& data) const override;
  std::string caption() const override { return sentence; }
};

}  // namespace headroom
