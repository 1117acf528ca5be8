// What plots hold, in pixels: gaps, log axes, bands, clouds, lines with their labels, bars, names at the ends of
// curves.
#include "app/plot/series.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "app/plot/plain_measure.h"
#include "app/plot/recording_painter.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

const PlainMeasure kMeasure;
const double kNaN = std::nan(""), kInf = HUGE_VAL;
using Doubles = std::vector<double>;

// 100 px a unit, y up: (0, 0) is at (100, 300).
PlotFrame unit_frame(bool log_y = false) {
  PlotFrame frame;
  frame.outer = {60, 50, 520, 330};
  frame.inner = {100, 100, 400, 300};
  frame.x = {0.0, 3.0, false, 100.0f, 400.0f};
  frame.y = log_y ? Axis{0.01, 1.0, true, 300.0f, 100.0f} : Axis{0.0, 2.0, false, 300.0f, 100.0f};
  return frame;
}

float area_of(const std::vector<Vec2>& polygon) {
  float twice = 0.0f;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Vec2 a = polygon[i], b = polygon[(i + 1) % polygon.size()];
    twice += a.x * b.y - a.y * b.x;
  }
  return 0.5f * std::abs(twice);
}

CATCH_TEST_CASE("Curves break where there is no value") {
  const auto pieces = curve_pieces(unit_frame(), Doubles{0, 1, 2, 2.5, 3}, Doubles{0, 1, kNaN, 2, kInf});
  CATCH_REQUIRE(pieces.size() == 2);
  CATCH_CHECK(pieces[0] == std::vector<Vec2>{{100, 300}, {200, 200}});
  CATCH_CHECK(pieces[1] == std::vector<Vec2>{{350, 100}});
  const auto log = curve_pieces(unit_frame(true), Doubles{0, 1, 2, 3}, Doubles{0.1, 0.0, -1.0, 0.01});
  CATCH_REQUIRE(log.size() == 2);
  CATCH_CHECK(log[0][0].y == near(200.0, 1e-6));
  CATCH_CHECK(curve_pieces(unit_frame(), Doubles{}, Doubles{}).empty());
  RecordingPainter painter(kMeasure, {0, 0, 600, 400});
  draw_curve(painter, unit_frame(), Doubles{0, 1, 2, 2.5, 3}, Doubles{0, 1, kNaN, 2, kInf}, Color{}, 2.0f);
  CATCH_REQUIRE(painter.shapes().size() == 2);
  CATCH_CHECK(painter.shapes()[0].kind == RecordedShape::Kind::Polyline);
  CATCH_CHECK(painter.shapes()[0].clip == Rect{100, 100, 400, 300});
  CATCH_CHECK(painter.shapes()[1].kind == RecordedShape::Kind::Disc);
  CATCH_CHECK(painter.misuses().empty());
}

CATCH_TEST_CASE("A curve of many points keeps its extremes in every pixel column") {
  std::mt19937 random(41);
  std::uniform_real_distribution<double> unit(0.0, 2.0);
  Doubles x, y;
  for (int i = 0; i < 100000; ++i) {
    x.push_back(3.0 * i / 99999.0);
    y.push_back(unit(random));
  }
  y[54321] = 1e4;
  const PlotFrame frame = unit_frame();
  const auto pieces = curve_pieces(frame, x, y);
  CATCH_REQUIRE(pieces.size() == 1);
  CATCH_CHECK(pieces[0].size() <= 4 * 301);
  CATCH_CHECK(pieces[0].size() > 600);
  float top = 1e9f;
  for (std::size_t i = 0; i < pieces[0].size(); ++i) {
    top = std::min(top, pieces[0][i].y);
    if (i > 0) CATCH_REQUIRE(pieces[0][i].x >= pieces[0][i - 1].x);
  }
  CATCH_CHECK(top == frame.y.pixel(1e4));
  CATCH_CHECK(pieces[0].front() == frame.at(x.front(), y.front()));
  CATCH_CHECK(pieces[0].back() == frame.at(x.back(), y.back()));
}

CATCH_TEST_CASE("Dashes of a curve run on over its corners") {
  RecordingPainter painter(kMeasure, {0, 0, 600, 400});
  // Two pieces of 12 px in line: the pattern of one line of 24.
  draw_dashed_curve(painter, unit_frame(), Doubles{0.0, 0.12, 0.24}, Doubles{1, 1, 1}, Color{}, 1.5f, 5.0f, 3.0f);
  float drawn = 0.0f;
  for (const RecordedShape& dash : painter.shapes()) drawn += dash.bounds.width();
  CATCH_CHECK(drawn == near(15.0, 0.0, 1e-3));
  CATCH_CHECK(painter.shapes().size() == 4);  // 0–5, 8–12, 12–13, 16–21
}

CATCH_TEST_CASE("Bands are simple polygons of the right area") {
  const PlotFrame frame = unit_frame();
  auto bands = band_polygons(frame, Doubles{0, 1, 2}, Doubles{0, 0.5, 0}, Doubles{1, 1, 1});
  CATCH_REQUIRE(bands.size() == 1);
  CATCH_CHECK(bands[0].size() == 6);
  CATCH_CHECK(area_of(bands[0]) == near(100.0 * 75.0 * 2.0, 1e-5));
  // Curves given the other way round bound the same area.
  bands = band_polygons(frame, Doubles{0, 1, 2}, Doubles{1, 1, 1}, Doubles{0, 0.5, 0});
  CATCH_CHECK(area_of(bands[0]) == near(15000.0, 1e-5));
  // A pinch parts it: the outline never touches itself.
  bands = band_polygons(frame, Doubles{0, 1, 2}, Doubles{0, 0.5, 0}, Doubles{1, 0.5, 1});
  CATCH_REQUIRE(bands.size() == 2);
  CATCH_CHECK(bands[0].size() == 3);
  CATCH_CHECK(bands[1].size() == 3);
  CATCH_CHECK(area_of(bands[0]) == near(5000.0, 1e-5));
  CATCH_CHECK(band_polygons(frame, Doubles{0, 1, 2}, Doubles{1, 1, 1}, Doubles{1, 1, 1}).empty());
  // A gap parts it; a piece of one point has no area.
  bands = band_polygons(frame, Doubles{0, 1, 2, 3}, Doubles{0, 0, kNaN, 0}, Doubles{1, 1, 1, 1});
  CATCH_REQUIRE(bands.size() == 1);
  // On a log axis zero is its low end.
  bands = band_polygons(unit_frame(true), Doubles{0, 3}, Doubles{0, 0}, Doubles{0.1, 0.1});
  CATCH_REQUIRE(bands.size() == 1);
  CATCH_CHECK(area_of(bands[0]) == near(300.0 * 100.0, 1e-5));
}

CATCH_TEST_CASE("Clouds show what the axes can, faint rows apart") {
  const PlotFrame frame = unit_frame(true);
  const std::vector<std::uint8_t> faint = {1, 0, 0, 0, 0, 0};
  const Doubles x{0, 1, 2, kNaN, 3, 1}, y{0.1, 0.1, 0.0, 0.1, 1.0, 50.0};
  const CloudPoints cloud = cloud_points(frame, x, y, faint);
  CATCH_REQUIRE(cloud.faint.size() == 1);
  CATCH_REQUIRE(cloud.strong.size() == 2);
  CATCH_CHECK(cloud.strong[1] == Vec2{400, 100});  // on the corner is inside
  RecordingPainter painter(kMeasure, {0, 0, 600, 400});
  draw_cloud(painter, frame, x, y, Color{10, 20, 30, 255}, faint);
  CATCH_REQUIRE(painter.shapes().size() == 2);
  CATCH_CHECK(static_cast<int>(painter.shapes()[0].color.a) == 89);   // 35 %
  CATCH_CHECK(static_cast<int>(painter.shapes()[1].color.a) == 158);  // 62 %
  CATCH_CHECK(painter.shapes()[1].width == 2.0f);
  CATCH_CHECK(nearest_point(frame, x, y, {201, 202}) == 1);
  CATCH_CHECK(nearest_point(frame, x, y, {250, 250}) == -1);
}

CATCH_TEST_CASE("Veils cover a range of the axis and no more than the frame") {
  RecordingPainter painter(kMeasure, {0, 0, 600, 400});
  draw_veil(painter, unit_frame(), dark_theme(), -5.0, 1.0);
  draw_veil(painter, unit_frame(true), dark_theme(), 0.0, 0.1, false);
  draw_veil(painter, unit_frame(), dark_theme(), 5.0, 6.0);
  CATCH_REQUIRE(painter.shapes().size() == 2);
  CATCH_CHECK(painter.shapes()[0].bounds == Rect{100, 100, 200, 300});
  CATCH_CHECK(painter.shapes()[1].bounds.y0 == near(200.0, 1e-5));
  CATCH_CHECK(painter.shapes()[1].bounds.y1 == 300.0f);
  CATCH_CHECK(painter.shapes()[0].color == dark_theme().bg.faded(0.45f));
}

CATCH_TEST_CASE("Reference lines are named beside themselves, never over anything") {
  const PlotFrame frame = unit_frame();
  std::mt19937 random(42);
  std::uniform_real_distribution<double> unit(-0.2, 3.2);
  std::size_t named = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<ReferenceLine> lines;
    for (int i = 0; i < 6; ++i) {
      lines.push_back({random() % 2 == 0, unit(random), Color{200, 200, 200, 255}, static_cast<LineStyle>(random() % 3),
                       "bound " + std::to_string(i)});
    }
    LabelSpace space(frame.inner);
    const Rect taken{150, 150, 200, 180};
    space.block(taken);
    RecordingPainter painter(kMeasure, {0, 0, 600, 400});
    painter.begin_panel("plot", frame.inner);
    draw_lines(painter, frame, lines, space);
    painter.end_panel();
    for (const std::string& violation : painter.violations()) CATCH_FAIL_CHECK(violation);
    named += painter.texts().size();
    for (const RecordedText& text : painter.texts()) {
      CATCH_CHECK_FALSE(text.box.overlaps(OrientedBox::of(taken)));
      for (const RecordedShape& shape : painter.shapes()) {
        CATCH_CHECK_FALSE(text.box.overlaps(OrientedBox::of(shape.bounds.inset(-0.5f))));
      }
    }
  }
  CATCH_CHECK(named > 300 * 4);
  LabelSpace space(frame.inner);
  const ReferenceLine lines[] = {{true, 2.0, {}, LineStyle::Solid, "top"},
                                 {true, 2.5, {}, LineStyle::Solid, "beyond"},
                                 {false, kNaN, {}, LineStyle::Solid, "none"}};
  const std::vector<PlacedLine> placed = lay_out_lines(frame, lines, kMeasure, space);
  CATCH_CHECK((placed[0].visible && placed[0].from == Vec2{100, 100} && placed[0].to == Vec2{400, 100}));
  CATCH_CHECK((placed[0].label == "top" && placed[0].label_rect.y0 > 100.0f));
  CATCH_CHECK((!placed[1].visible && !placed[2].visible && placed[1].label.empty()));
}

CATCH_TEST_CASE("A curve's name stands beside it") {
  const PlotFrame frame = unit_frame();
  Doubles x, y;
  for (int i = 0; i <= 60; ++i) x.push_back(0.05 * i), y.push_back(2.0 / (1.0 + i * 0.1));
  LabelSpace space(frame.inner);
  const auto first = lay_out_curve_name(frame, x, y, "1/√nᵢ", kMeasure, space);
  const auto second = lay_out_curve_name(frame, x, y, "1/√nᵢ", kMeasure, space);
  CATCH_REQUIRE(first);
  CATCH_REQUIRE(second);
  CATCH_CHECK_FALSE(first->overlaps(*second));
  for (const Rect& rect : {*first, *second}) {
    CATCH_CHECK(OrientedBox::of(rect).inside(frame.inner));
    float nearest = 1e9f;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Vec2 p = frame.at(x[i], y[i]);
      CATCH_CHECK_FALSE(rect.contains(p));
      nearest = std::min(nearest,
                         std::hypot(p.x - std::clamp(p.x, rect.x0, rect.x1), p.y - std::clamp(p.y, rect.y0, rect.y1)));
    }
    CATCH_CHECK(nearest < 12.0f);
  }
  space.block(frame.inner);
  CATCH_CHECK_FALSE(lay_out_curve_name(frame, x, y, "1/√nᵢ", kMeasure, space));
}

CATCH_TEST_CASE("Histogram bars share the axis they stand on") {
  const PlotFrame frame = unit_frame();
  const Histogram h = histogram(Doubles{0.1, 0.2, 0.3, 1.6}, 0.0, 2.0, 4);
  const Rect margin{410, 100, 450, 300};
  const std::vector<Rect> side = horizontal_bars(h, frame.y, margin);
  CATCH_REQUIRE(side.size() == 4);
  CATCH_CHECK(side[0] == Rect{410, 250, 450, 299});  // three values: full, one pixel of gap
  CATCH_CHECK(side[1].width() == 0.0f);
  CATCH_CHECK(side[3].y0 == 100.0f);
  CATCH_CHECK(side[3].width() == near(40.0 / 3.0, 1e-5));
  const std::vector<Rect> up = vertical_bars(h, Axis{0.0, 2.0, false, 100.0f, 108.0f}, {100, 50, 108, 90}, 30.0);
  CATCH_CHECK(up[0] == Rect{100, 86, 102, 90});  // narrow: no gap
  CATCH_CHECK(up[3].height() == near(40.0 / 30.0, 1e-5));
  const std::vector<Rect> tiny = vertical_bars(h, frame.x, {100, 50, 400, 90}, 1e6);
  CATCH_CHECK(tiny[0].height() == 1.0f);  // anything shows
  CATCH_CHECK(tiny[1].height() == 0.0f);
  RecordingPainter painter(kMeasure, {0, 0, 600, 400});
  draw_bars(painter, side, {410, 100, 430, 300}, Color{});
  CATCH_CHECK(painter.shapes().size() == 2);
  CATCH_CHECK(painter.shapes()[0].bounds.x1 == 430.0f);
}

CATCH_TEST_CASE("Groups of bars carry labels that fit, and values above the higher bar") {
  PlotFrame frame = unit_frame();
  const std::vector<BarGroup> groups = {{"0", "␣×19", 1.9, 0.01, "−.79"},
                                        {"1", "GNU", 0.1, 0.2, "+.06"},
                                        {"387", "recipients", 0.1, 0.3, "+.02"},
                                        {"464", "License", kNaN, 1.0, "+.09"},
                                        {"9", "x", kNaN, kNaN, "gone"}};
  const std::vector<PlacedGroup> placed = lay_out_groups(frame, groups, kMeasure);
  CATCH_REQUIRE(placed.size() == 5);
  CATCH_CHECK(placed[0].a.y0 == near(110.0, 1e-5));
  CATCH_CHECK(placed[0].a.y1 == 300.0f);
  CATCH_CHECK(placed[0].a.x1 == placed[0].b.x0);
  CATCH_CHECK(placed[1].value_rect.y1 <= placed[1].b.y0);
  CATCH_CHECK(placed[2].sublabel.find("…") != std::string::npos);
  CATCH_CHECK(placed[3].a.empty());
  CATCH_CHECK(placed[4].value.empty());
  for (const int count : {1, 5, 12, 60}) {
    std::vector<BarGroup> many;
    for (int i = 0; i < count; ++i)
      many.push_back({std::to_string(100 + i), "protection", 0.3 + 0.02 * i, 1.9 - 0.01 * i, "+.12"});
    RecordingPainter painter(kMeasure, {0, 0, 600, 400});
    painter.begin_panel("groups", frame.outer);
    draw_groups(painter, frame, many, Color{}, Color{}, dark_theme());
    painter.end_panel();
    for (const std::string& violation : painter.violations()) CATCH_FAIL_CHECK(violation);
  }
}

CATCH_TEST_CASE("Names at the ends of curves keep 13 pixels, their order and the frame") {
  const PlotFrame frame = unit_frame();
  std::mt19937 random(43);
  std::uniform_real_distribution<double> unit(-0.5, 2.5);
  for (int round = 0; round < 300; ++round) {
    std::vector<EndLabel> labels;
    for (int i = 0; i < 8; ++i)
      labels.push_back({unit(random), "curve " + std::to_string(i), Color{200, 200, 200, 255}});
    labels.push_back({kNaN, "nothing", {}});
    const std::vector<PlacedEnd> placed = lay_out_ends(frame, labels, kMeasure);
    CATCH_CHECK_FALSE(placed.back().visible);
    for (std::size_t i = 0; i < 8; ++i) {
      CATCH_REQUIRE(placed[i].visible);
      for (std::size_t j = 0; j < i; ++j) {
        CATCH_CHECK(std::abs(placed[i].y - placed[j].y) >= 12.99f);
        const double a = std::clamp(labels[i].value, 0.0, 2.0), b = std::clamp(labels[j].value, 0.0, 2.0);
        if (a != b) CATCH_CHECK((placed[i].y < placed[j].y) == (a > b));
      }
    }
    RecordingPainter painter(kMeasure, {0, 0, 600, 400});
    painter.begin_panel("ends", {frame.inner.x1, frame.inner.y0, frame.outer.x1, frame.inner.y1});
    draw_ends(painter, frame, labels);
    painter.end_panel();
    for (const std::string& violation : painter.violations()) CATCH_FAIL_CHECK(violation);
    CATCH_CHECK(painter.texts().size() == 8);
  }
  const EndLabel one[] = {{1.0, "before", {}}};
  CATCH_CHECK(lay_out_ends(frame, one, kMeasure)[0].y == 200.0f);
  // A frame laid out with the room asked for shows the names whole.
  PlotRoom room;
  room.right = end_label_room(one, kMeasure);
  const PlotFrame made = lay_out_plot({0, 0, 200, 100}, {}, {}, kMeasure, room);
  CATCH_CHECK(lay_out_ends(made, one, kMeasure)[0].text == "before");
}

}  // namespace
}  // namespace headroom::test
