// Names of points in plots of heads: lines to them cross no other name where there is another place.
#include "app/panels/parts/head_points.h"

#include <algorithm>
#include <vector>

#include "app/plot/label_layout.h"
#include "app/plot/plain_measure.h"
#include "app/plot/recording_painter.h"
#include "tests/support/catch.h"

namespace headroom {
namespace {

CATCH_TEST_CASE("names of points: the line to a name keeps off names that are there") {
  const PlainMeasure measure;
  const Rect ground{0, 0, 400, 300};
  const std::vector<Vec2> points = {{200, 250}};
  const std::vector<PointName> names = {{0, "L0.H0", {Face::Mono, 11.0f, Color::hex(0xffffff)}}};
  for (const NamePlaces where : {NamePlaces::Free, NamePlaces::Near})
    // What is there: as wide as half of the plot, a little above the point, at its right or left.
    for (const Rect there : {Rect{205, 228, 395, 240}, Rect{5, 228, 195, 240}, Rect{205, 244, 395, 256}}) {
      LabelSpace space(ground);
      CATCH_REQUIRE(space.place(OrientedBox::of(there)));
      RecordingPainter painter(measure, ground);
      draw_point_names(painter, dark_theme(), space, points, names, where);
      CATCH_INFO(there.x0 << ", " << there.y0 << "; " << static_cast<int>(where));
      CATCH_REQUIRE(painter.texts().size() == 1);
      const auto lead = std::ranges::find(painter.shapes(), RecordedShape::Kind::Line, &RecordedShape::kind);
      CATCH_REQUIRE(lead != painter.shapes().end());
      for (int k = 0; k <= 100; ++k)
        CATCH_CHECK_FALSE(
            there.contains(lead->points[0] + (lead->points[1] - lead->points[0]) * (0.01f * static_cast<float>(k))));
      CATCH_CHECK_FALSE(space.fits(OrientedBox::of(Rect{lead->bounds}.inset(-1.0f))));  // the line is taken too
    }
}

}  // namespace
}  // namespace headroom
