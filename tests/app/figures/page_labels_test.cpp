// Labels that find no room where they would stand: a free place as near as there is, and a line from it to what the
// label names, which crosses no other label.
#include "app/figures/page_labels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "app/plot/plain_measure.h"
#include "app/plot/recording_painter.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

const PlainMeasure kMeasure;
constexpr Rect kFrame{0.0f, 0.0f, 200.0f, 100.0f};

struct Drawn {
  RecordingPainter painter{kMeasure, kFrame};
  LeftOutLabels left_out;
  Page page{kMeasure, {}, &left_out};
  LabelSpace space{kFrame, 1.0f};

  bool led(const char* words, const std::vector<Vec2>& points) {
    return put_led_label(painter, page, space, rich(words), page.style.text(), {}, points);
  }
  [[nodiscard]] std::vector<const RecordedShape*> leads() const {
    std::vector<const RecordedShape*> found;
    for (const RecordedShape& shape : painter.shapes())
      if (shape.kind == RecordedShape::Kind::Line) found.push_back(&shape);
    return found;
  }
};

// Whether two lines have a point in common.
bool cross(const RecordedShape& one, const RecordedShape& other) {
  const auto side = [](Vec2 from, Vec2 to, Vec2 point) {
    return (to.x - from.x) * (point.y - from.y) - (to.y - from.y) * (point.x - from.x);
  };
  const auto apart = [&](const RecordedShape& line, const RecordedShape& ends) {
    return side(line.points[0], line.points[1], ends.points[0]) * side(line.points[0], line.points[1], ends.points[1]) >
           0.0f;
  };
  return !apart(one, other) && !apart(other, one);
}

bool crosses(const RecordedShape& lead, const Rect& box) {
  for (int i = 0; i <= 100; ++i) {
    const float share = static_cast<float>(i) / 100.0f;
    if (box.contains(lead.points[0] + (lead.points[1] - lead.points[0]) * share)) return true;
  }
  return false;
}

}  // namespace

CATCH_TEST_CASE("led labels: at a place that is wanted there is no line") {
  Drawn drawn;
  const std::vector<Vec2> places = {{20.0f, 50.0f}}, points = {{100.0f, 90.0f}};
  CATCH_CHECK(
      put_led_label(drawn.painter, drawn.page, drawn.space, rich("median"), drawn.page.style.text(), places, points));
  CATCH_REQUIRE(drawn.painter.texts().size() == 1);
  CATCH_CHECK(drawn.painter.texts()[0].baseline.x == 20.0f);
  CATCH_CHECK(drawn.leads().empty());
}

CATCH_TEST_CASE("led labels: the nearest free place, and a line from the text to the nearest point") {
  Drawn drawn;
  const Rect dense{40.0f, 20.0f, 160.0f, 80.0f};
  drawn.space.block(dense);
  const std::vector<Vec2> points = {{60.0f, 50.0f}, {100.0f, 75.0f}};
  CATCH_REQUIRE(drawn.led("median", points));
  CATCH_REQUIRE(drawn.painter.texts().size() == 1);
  const Rect text = drawn.painter.texts()[0].box.bounds();
  CATCH_CHECK_FALSE((text.x0 < dense.x1 && text.x1 > dense.x0 && text.y0 < dense.y1 && text.y1 > dense.y0));
  CATCH_REQUIRE(drawn.leads().size() == 1);
  const RecordedShape& lead = *drawn.leads().front();
  // Below the points, of which the lower one is 5 from the edge.
  CATCH_CHECK(lead.points[1] == points[1]);
  CATCH_CHECK(lead.points[0].y - points[1].y < 5.0f + drawn.page.style.size() + 2.0f);
  CATCH_CHECK(text.inset(-2.0f).contains(lead.points[0]));
}

CATCH_TEST_CASE("led labels: no line crosses a label or another line") {
  Drawn drawn;
  drawn.space.block(Rect{0.0f, 0.0f, 200.0f, 60.0f});
  const std::vector<Vec2> first = {{100.0f, 58.0f}}, second = {{104.0f, 58.0f}}, third = {{96.0f, 58.0f}};
  CATCH_REQUIRE(drawn.led("one of three", first));
  CATCH_REQUIRE(drawn.led("another", second));
  CATCH_REQUIRE(drawn.led("and one more", third));
  const std::vector<const RecordedShape*> leads = drawn.leads();
  CATCH_REQUIRE(leads.size() == 3);
  CATCH_CHECK(drawn.painter.texts_overlapping().empty());
  // By the text of each label, in their order.
  for (std::size_t i = 0; i < leads.size(); ++i)
    for (std::size_t k = 0; k < leads.size(); ++k) {
      if (i == k) continue;
      CATCH_INFO(i << " across " << k);
      CATCH_CHECK_FALSE(crosses(*leads[i], drawn.painter.texts()[k].box.bounds().inset(1.0f)));
      CATCH_CHECK_FALSE(cross(*leads[i], *leads[k]));
    }
  CATCH_CHECK(drawn.left_out.labels.empty());
}

CATCH_TEST_CASE("led labels: without any free place the label is left out, and said to be") {
  Drawn drawn;
  drawn.space.block(kFrame);
  CATCH_CHECK_FALSE(drawn.led("median", {{100.0f, 50.0f}}));
  CATCH_CHECK(drawn.painter.texts().empty());
  CATCH_CHECK(drawn.leads().empty());
  CATCH_REQUIRE(drawn.left_out.labels.size() == 1);
  CATCH_CHECK(drawn.left_out.labels[0] == std::vector<std::string>{"median"});
}

}  // namespace headroom::test
