// Lines over one axis with their intervals and their names at their ends: of training steps, of numbers of blocks, of
// depths of a needle.
// Immutable once made; safe from any thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/figures/figure.h"
#include "app/figures/page_axes.h"
#include "app/figures/page_lines.h"

namespace headroom {

// At each place of the axis; NaN: there is none.
struct LineValues {
  std::vector<double> y, low, high;
  [[nodiscard]] bool finite() const {
    return std::ranges::any_of(y, [](double v) { return std::isfinite(v); });
  }
};

class LinesPanel final : public FigurePanel {
 public:
  struct Line {
    std::string series;  // "head", "mean over heads"
    std::optional<HeadRef> head;
    LineValues values;
    MarkColor color;
    float width = 1.1f;
    LineDash dash = kSolidLine;
    bool band = false;
    RichText label;                    // at its end; empty: none
    bool points = false;               // a disc at each place: few places, between which nothing was measured
    std::vector<std::int64_t> n = {};  // of each place, where they are not the panel's
    std::vector<HeadRef> heads = {};   // of each place, where these are heads in an order of their own
  };
  // Across the panel: "threshold".
  struct Level {
    double value;
    const char* name;
    RichText label;
  };
  std::string quantity;
  std::vector<double> places;  // along x
  std::vector<Line> lines;     // later ones over earlier ones
  std::vector<Level> levels;
  std::int64_t n = 0;  // sequences
  PageAxis x, y;
  std::string sentence;

  PanelRoom room(const Page& page, Vec2 inner) const override;
  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override;
  void add_data(FigureData& data) const override;
  std::string caption() const override { return sentence; }

 private:
  [[nodiscard]] std::vector<double> within_axis(std::vector<double> values) const;
};

// The range of all that is drawn, as far as the quantity goes; an interval may go farther.
void set_line_range(LinesPanel& panel, bool log, const std::optional<Range>& natural);

}  // namespace headroom
