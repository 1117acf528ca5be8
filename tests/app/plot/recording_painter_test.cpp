// The painter that records finds what tests rely on it to find: texts cut, outside, on top of each other.
#include "app/plot/recording_painter.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "app/plot/plain_measure.h"
#include "app/plot/theme.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

const PlainMeasure kMeasure;
const TextStyle kMono{Face::Mono, 10.0f, Color::hex(0xFFFFFF)};  // 6 px a character

CATCH_TEST_CASE("A good page has no violations and is recorded as drawn") {
  RecordingPainter painter(kMeasure, {0, 0, 200, 100}, 2.0f);
  painter.begin_panel("left", {0, 0, 100, 100});
  painter.push_clip({0, 0, 90, 90});
  painter.push_clip({10, 0, 100, 100});
  painter.text({10.0f, 20.0f}, "abc", kMono);
  painter.text({28.0f, 20.0f}, "def", kMono);  // touches, does not overlap
  painter.fill_rect({1, 2, 3, 4}, Color::hex(0x112233));
  painter.pop_clip();
  painter.pop_clip();
  painter.end_panel();
  painter.text_at(150.0f, 50.0f, "right", kMono, Painter::Align::Centre);
  CATCH_CHECK(painter.violations().empty());
  CATCH_REQUIRE(painter.texts().size() == 3);
  CATCH_CHECK(painter.texts()[0].clip == Rect{10, 0, 90, 90});
  CATCH_CHECK(painter.texts()[0].panel == 0);
  CATCH_CHECK(painter.texts()[2].panel == -1);
  CATCH_CHECK(painter.texts()[2].box.bounds().centre_x() == near(150.0, 1e-6));
  CATCH_CHECK(painter.texts()[2].baseline.y == near(53.6, 1e-6));
  CATCH_REQUIRE(painter.shapes().size() == 1);
  CATCH_CHECK(painter.shapes()[0].bounds == Rect{1, 2, 3, 4});
  CATCH_CHECK(painter.shapes()[0].color == Color::hex(0x112233));
  CATCH_CHECK(painter.shows("bc"));
  CATCH_CHECK_FALSE(painter.shows("xyz"));
  CATCH_CHECK(painter.scale() == 2.0f);
}

CATCH_TEST_CASE("Texts that leave their panel, are cut by a clip or by the window") {
  RecordingPainter painter(kMeasure, {0, 0, 200, 100});
  painter.begin_panel("head", {0, 0, 100, 100});
  painter.text({90.0f, 20.0f}, "over", kMono);
  painter.push_clip({0, 40, 100, 60});
  painter.text({10.0f, 64.0f}, "cut", kMono);
  painter.text({10.0f, 90.0f}, "gone", kMono);  // wholly outside the clip: nobody sees it
  painter.pop_clip();
  painter.end_panel();
  painter.text({150.0f, 5.0f}, "high", kMono);
  const std::vector<std::string> outside = painter.texts_outside();
  CATCH_REQUIRE(outside.size() == 3);
  CATCH_CHECK(outside[0].find("\"over\"") == 0);
  CATCH_CHECK(outside[0].find("in head leaves its frame") != std::string::npos);
  CATCH_CHECK(outside[1].find("\"cut\"") == 0);
  CATCH_CHECK(outside[1].find("is cut by its clip") != std::string::npos);
  CATCH_CHECK(outside[2].find("\"high\"") == 0);
  CATCH_CHECK(painter.violations().size() == 3);
}

CATCH_TEST_CASE("Texts overlap within a layer only, by their true outlines") {
  RecordingPainter painter(kMeasure, {0, 0, 400, 200});
  painter.text({10.0f, 100.0f}, "abcdef", kMono);
  painter.text({30.0f, 104.0f}, "ghi", kMono);
  CATCH_REQUIRE(painter.texts_overlapping().size() == 1);
  CATCH_CHECK(painter.texts_overlapping()[0].find("overlaps") != std::string::npos);
  painter.begin_panel("overlay: palette", {0, 50, 200, 150});
  painter.text({12.0f, 101.0f}, "palette", kMono);
  painter.end_panel();
  CATCH_CHECK(painter.texts_overlapping().size() == 1);
  painter.begin_panel("overlay: menu", {0, 50, 200, 150});
  painter.begin_panel("inner", {0, 50, 200, 150});
  painter.text({12.0f, 101.0f}, "menu", kMono);
  painter.end_panel();
  painter.text({14.0f, 102.0f}, "again", kMono);
  painter.end_panel();
  CATCH_CHECK(painter.texts_overlapping().size() == 2);

  // Two slanted texts whose bounds overlap while they do not, and a third between them.
  painter.clear();
  painter.text({100.0f, 150.0f}, "slanted", kMono, 0.785f);
  painter.text({117.0f, 150.0f}, "slanted", kMono, 0.785f);
  CATCH_CHECK(painter.texts_overlapping().empty());
  painter.text({110.0f, 150.0f}, "x", kMono, 0.785f);
  CATCH_CHECK(painter.texts_overlapping().size() == 2);
  // The same text twice is one text too many.
  painter.clear();
  painter.text({100.0f, 150.0f}, "twice", kMono);
  painter.text({100.0f, 150.0f}, "twice", kMono);
  CATCH_CHECK(painter.texts_overlapping().size() == 1);
  // Clipped apart, they never meet.
  painter.clear();
  painter.push_clip({0, 0, 200, 50});
  painter.text({10.0f, 49.0f}, "above", kMono);
  painter.pop_clip();
  painter.push_clip({0, 50, 200, 100});
  painter.text({10.0f, 55.0f}, "below", kMono);
  painter.pop_clip();
  CATCH_CHECK(painter.texts_overlapping().empty());
}

CATCH_TEST_CASE("Misuse is named") {
  RecordingPainter painter(kMeasure, {0, 0, 100, 100});
  painter.pop_clip();
  painter.end_panel();
  painter.push_clip({0, 0, 1, 1});
  painter.begin_panel("wide", {0, 0, 101, 100});
  painter.line({0, 0}, {std::nanf(""), 1}, kMono.color);
  painter.text({1, 20}, "a\nb", kMono);
  painter.text({1, 40}, "\xff", kMono);
  painter.text({1, 60}, "small", {Face::Sans, 9.0f, kMono.color});
  MapImage image;
  image.width = 2, image.height = 2;
  image.values = std::make_shared<std::vector<float>>(3);
  painter.map({0, 0, 10, 10}, image, {0, 0, 2, 2}, {});
  CATCH_CHECK(painter.misuses().size() == 10);
  painter.clear();
  CATCH_CHECK(painter.violations().empty());
}

CATCH_TEST_CASE("Dashes cover their share of the line and end with it") {
  RecordingPainter painter(kMeasure, {0, 0, 200, 100});
  painter.dashed_line({0, 10}, {100, 10}, kMono.color, 1.5f, 5.0f, 3.0f);
  float drawn = 0.0f, end = 0.0f;
  for (const RecordedShape& dash : painter.shapes()) {
    CATCH_CHECK((dash.kind == RecordedShape::Kind::Line && dash.width == 1.5f));
    drawn += dash.bounds.width();
    end = std::max(end, dash.bounds.x1);
  }
  CATCH_CHECK(painter.shapes().size() == 13);
  CATCH_CHECK(drawn == near(64.0, 1e-5));  // 12 whole periods and 4 px of the next dash
  CATCH_CHECK(end == near(100.0, 1e-5));
  painter.clear();
  painter.dashed_line({0, 10}, {0, 10}, kMono.color, 1.0f, 5.0f, 3.0f);
  CATCH_CHECK(painter.shapes().empty());
  painter.dashed_line({0, 0}, {1e7f, 0}, kMono.color, 1.0f, 5.0f, 3.0f);
  CATCH_CHECK(painter.shapes().size() == 1);
}

CATCH_TEST_CASE("Images are told apart") { CATCH_CHECK(next_image_id() != next_image_id()); }

}  // namespace
}  // namespace headroom::test
