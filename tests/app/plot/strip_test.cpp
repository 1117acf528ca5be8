// The strip beside a number: all heads, one range, this head in view whatever its value.
#include "app/plot/strip.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include "app/plot/plain_measure.h"
#include "app/plot/recording_painter.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

using Doubles = std::vector<double>;
using Role = StripMark::Role;
const Rect kRect{100.0f, 10.0f, 201.0f, 20.0f};

std::vector<StripMark> of_role(const std::vector<StripMark>& marks, Role role) {
  std::vector<StripMark> out;
  for (const StripMark& mark : marks) {
    if (mark.role == role) out.push_back(mark);
  }
  return out;
}

CATCH_TEST_CASE("A strip spans all heads and its threshold") {
  const Doubles all{0.0, 0.25, 0.5, 1.0, std::nan("")};
  const std::vector<StripMark> marks = lay_out_strip(kRect, all, 0.5, 0.3);
  const auto heads = of_role(marks, Role::Head);
  CATCH_REQUIRE(heads.size() == 4);
  CATCH_CHECK(heads[0].rect == Rect{100, 10, 101, 20});
  CATCH_CHECK(heads[1].rect == Rect{125, 10, 126, 20});
  CATCH_CHECK(heads[3].rect == Rect{200, 10, 201, 20});
  CATCH_CHECK(heads[0].opacity == near(0.3, 1e-6));
  CATCH_REQUIRE(of_role(marks, Role::Selected).size() == 1);
  CATCH_CHECK(marks.back().role == Role::Selected);  // on top
  CATCH_CHECK(marks.back().rect == Rect{149, 10, 152, 20});
  CATCH_CHECK(of_role(marks, Role::Threshold)[0].rect == Rect{130, 10, 131, 20});
  CATCH_CHECK(strip_range(all, 2.0).high == 2.0);
}

CATCH_TEST_CASE("This head stays inside at the ends, and many heads in a column are brighter") {
  const auto left = lay_out_strip(kRect, Doubles{0, 0, 0, 1}, 0.0),
             right = lay_out_strip(kRect, Doubles{0, 0, 0, 1}, 1.0);
  CATCH_CHECK(left.back().rect == Rect{100, 10, 103, 20});
  CATCH_CHECK(right.back().rect == Rect{198, 10, 201, 20});
  CATCH_CHECK(of_role(left, Role::Head)[0].opacity == near(1.0 - 0.343, 1e-5));
  CATCH_CHECK(of_role(left, Role::Head).size() == 2);
  CATCH_CHECK(of_role(lay_out_strip(kRect, Doubles{0, 1}, std::nan("")), Role::Selected).empty());
}

CATCH_TEST_CASE("Extreme values stand at the end and the strip says so") {
  Doubles all;
  for (int i = 0; i < 269; ++i) all.push_back(i / 268.0);
  all.push_back(1000.0);
  const StripRange range = strip_range(all);
  CATCH_CHECK((range.clips_high && !range.clips_low));
  CATCH_CHECK(range.high > 0.98);
  CATCH_CHECK(range.high < 1.2);
  CATCH_CHECK(range.low == 0.0);
  CATCH_CHECK(lay_out_strip(kRect, all, 1000.0).back().rect == Rect{198, 10, 201, 20});
  CATCH_CHECK(strip_hint(range, 1) == "values above 1.1 stand at the right end");
  CATCH_CHECK(strip_hint(strip_range(Doubles{0, 1}), 1).empty());
  RecordingPainter painter(PlainMeasure(), {0, 0, 300, 100});
  draw_strip(painter, kRect, all, 0.5, {}, dark_theme());
  std::size_t arrows = 0;
  for (const RecordedShape& shape : painter.shapes()) {
    if (shape.kind == RecordedShape::Kind::Polygon) {
      ++arrows;
      CATCH_CHECK(shape.bounds.x0 >= kRect.x1);
    }
  }
  CATCH_CHECK(arrows == 1);
  CATCH_CHECK(painter.shapes().back().kind == RecordedShape::Kind::Polygon);
}

CATCH_TEST_CASE("Strips of equal, single and missing values") {
  const auto same = lay_out_strip(kRect, Doubles{2, 2, 2}, 2.0);
  CATCH_REQUIRE(same.size() == 2);
  CATCH_CHECK(same[0].rect.x0 == near(150.5, 0.0, 0.6));
  CATCH_CHECK(same[1].rect.centre_x() == near(150.5, 0.0, 1.1));
  CATCH_CHECK(lay_out_strip(kRect, Doubles{std::nan("")}, 1.0).empty());
  CATCH_CHECK(lay_out_strip(kRect, Doubles{}, 1.0).empty());
  CATCH_CHECK(lay_out_strip({0, 0, 1, 10}, Doubles{1, 2}, 1.0).empty());
}

}  // namespace
}  // namespace headroom::test
