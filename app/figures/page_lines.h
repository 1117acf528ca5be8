// What the lines of several kinds share: pieces between gaps, bands, and names at their right ends. Layout is pure;
// safe from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "app/figures/page_style.h"
#include "app/figures/rich_text.h"
#include "app/plot/label_layout.h"
#include "app/plot/number_view.h"
#include "app/plot/ticks.h"

namespace headroom {

// Dashes and gaps in points; `on` 0: solid.
struct LineDash {
  float on = 0.0f, off = 0.0f;
};
inline constexpr LineDash kSolidLine{}, kLongDash{5.0f, 1.3f}, kShortDash{1.6f, 1.0f}, kBoundDash{5.0f, 3.0f},
    kDots{1.0f, 1.6f};

// Dashes of lines that share a plot, so that print without colours tells them apart: the first that no line of nearly
// the same lightness has. Of OKLab (Ottosson 2020), in grey.
class GreyDashes {
 public:
  [[nodiscard]] LineDash of(Color ink);

 private:
  struct Taken {
    float lightness = 0.0f;
    std::size_t dash = 0;
  };
  std::vector<Taken> taken_;
};

// Through the points whose coordinates are finite, one call for each run of them; a point without neighbours is a disc.
// Of more points than a page shows the extremes are kept in each 1/600 inch.
void draw_page_line(Painter& painter, const std::vector<Vec2>& points, Color color, float width, LineDash dash,
                    const Page& page);
// Between two values at each x, likewise one call for each run of at least two.
void draw_page_band(Painter& painter, const Axis& along, const Axis& up, NumberView x, NumberView low, NumberView high,
                    Color color);
// Takes what such a line covers, so that labels keep off it.
void block_page_line(LabelSpace& space, const std::vector<Vec2>& points, float width);
// A level across a panel, as a series of this name that labels keep off; nothing outside the axis.
void draw_page_level(Painter& painter, const Rect& inner, const Axis& up, double value, const char* name, Color color,
                     LineDash dash, LabelSpace& space, const Page& page);
// Of a line with a corner for each row: at most a few hundred of them, the last one too.
[[nodiscard]] std::vector<Vec2> thinned_line(const std::vector<Vec2>& line);
// Places of the values; not finite where one of the two is not.
[[nodiscard]] std::vector<Vec2> placed_points(const Axis& along, const Axis& up, NumberView x, NumberView y);

// Where a name of such a width can stand in `space` nearest to its own line and farther from the others, as its
// baseline; it is taken. Nothing where there is no room.
[[nodiscard]] std::optional<Vec2> place_beside(LabelSpace& space, const std::vector<Vec2>& own,
                                               const std::vector<std::vector<Vec2>>& others, float width,
                                               const Page& page);

// Names at the right ends of lines, a line of text apart.
struct EndName {
  RichText text;
  Color color;
  float y = 0.0f;  // of the line's end; NaN: it has none, and no name
};
[[nodiscard]] float end_name_room(const std::vector<RichText>& names, const Page& page);
void draw_end_names(Painter& painter, const Rect& inner, const std::vector<EndName>& names, const Page& page);

}  // namespace headroom
