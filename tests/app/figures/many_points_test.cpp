// More points and corners than a page shows: what is drawn of them.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "app/figures/page_labels.h"
#include "app/figures/page_lines.h"
#include "app/plot/painter.h"
#include "app/plot/plain_measure.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

const PlainMeasure kMeasure;
const Page kPage{kMeasure, {}, nullptr};
constexpr float kCell = 72.0f / 600.0f;  // points

class Marks final : public Painter {
 public:
  std::vector<std::vector<Vec2>> lines;
  std::vector<Vec2> discs;
  std::vector<Color> colors;
  int images = 0;

  [[nodiscard]] const TextMeasure& measure() const override { return kMeasure; }
  [[nodiscard]] float scale() const override { return 1.0f; }
  void clear() override {}
  void push_clip(Rect) override {}
  void pop_clip() override {}
  void fill_rect(Rect, Color, float) override {}
  void stroke_rect(Rect, Color, float, float) override {}
  void line(Vec2, Vec2, Color, float) override {}
  void polyline(std::span<const Vec2> points, Color, float, bool) override {
    lines.emplace_back(points.begin(), points.end());
  }
  void fill_polygon(std::span<const Vec2>, Color) override {}
  void disc(Vec2 centre, float, Color color) override { discs.push_back(centre), colors.push_back(color); }
  void ring(Vec2, float, Color, float) override {}
  void points(std::span<const Vec2>, Color, float) override {}
  void text(Vec2, std::string_view, const TextStyle&, float) override {}
  void map(Rect, const MapImage&, Rect, const MapShading&) override {}
  void picture(Rect, const RgbPicture&) override {}
  void rasterised(Rect, const std::function<void(Painter&)>& draw) override { ++images, draw(*this); }
};

void draw_discs(Marks& marks, bool image, const std::vector<Vec2>& places) {
  draw_points(marks, kPage, image, Axis{0, 1, false, 0, 100}, Axis{0, 1, false, 100, 0}, 1.0f, places, 0.5f,
              [](Painter& to, Vec2 at, float opacity) { to.disc(at, 1.0f, Color::hex(0xff0000).faded(opacity)); });
}

}  // namespace

CATCH_TEST_CASE("points in one cell of an image are one mark, as opaque as they are together") {
  const std::vector<Vec2> places = {{10.01f, 20.01f}, {50.0f, 60.0f}, {10.02f, 20.02f}, {10.03f, 20.03f}};
  Marks vectors, image;
  draw_discs(vectors, false, places);
  draw_discs(image, true, places);
  CATCH_CHECK(vectors.images == 0);
  CATCH_CHECK(vectors.discs == places);
  CATCH_CHECK(std::ranges::all_of(vectors.colors, [](Color color) { return color.a == 128; }));
  CATCH_REQUIRE(image.images == 1);
  CATCH_CHECK(image.discs == std::vector<Vec2>{places[0], places[1]});
  CATCH_CHECK(image.colors[0].a == 223);  // 1 − ½³ of 255
  CATCH_CHECK(image.colors[1].a == 128);
}

CATCH_TEST_CASE("a line with more corners than a page shows keeps the ends and the extremes of each column") {
  std::vector<Vec2> line;
  constexpr int kColumns = 40, kInEach = 500;
  for (int c = 0; c < kColumns; ++c)
    for (int i = 0; i < kInEach; ++i) {
      const float x = (static_cast<float>(c) + (static_cast<float>(i) + 0.5f) / kInEach) * kCell;
      line.push_back({x, 50.0f + 30.0f * std::sin(0.7f * static_cast<float>(i) + static_cast<float>(c))});
    }
  Marks marks;
  draw_page_line(marks, line, ink::kBlack, 1.0f, kSolidLine, kPage);
  CATCH_REQUIRE(marks.lines.size() == 1);
  const std::vector<Vec2>& drawn = marks.lines.front();
  CATCH_CHECK(drawn.size() <= 4 * kColumns);
  CATCH_CHECK(drawn.front() == line.front());
  CATCH_CHECK(drawn.back() == line.back());
  for (int c = 0; c < kColumns; ++c) {
    const auto in_column = [&](Vec2 at) { return static_cast<int>(std::floor(at.x / kCell)) == c; };
    std::vector<Vec2> before, after;
    std::ranges::copy_if(line, std::back_inserter(before), in_column);
    std::ranges::copy_if(drawn, std::back_inserter(after), in_column);
    const auto [low, high] = std::ranges::minmax(before, {}, &Vec2::y);
    const auto [kept_low, kept_high] = std::ranges::minmax(after, {}, &Vec2::y);
    CATCH_CHECK(kept_low.y == low.y);
    CATCH_CHECK(kept_high.y == high.y);
    CATCH_CHECK(std::ranges::is_sorted(after, {}, &Vec2::x));
  }
  // Of few corners all are there.
  const std::vector<Vec2> few(line.begin(), line.begin() + 4);
  Marks all;
  draw_page_line(all, few, ink::kBlack, 1.0f, kSolidLine, kPage);
  CATCH_CHECK(all.lines.front() == few);
}

}  // namespace headroom::test
