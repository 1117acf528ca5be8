// Labels never touch and never leave their frame, whatever is asked for; those that matter most are placed first.
#include "app/plot/label_layout.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "app/plot/plain_measure.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

constexpr float kPi = 3.14159265f;
const PlainMeasure kMeasure;

// Whether boxes share a point, by a fine grid of points of one of them.
bool share_a_point(const OrientedBox& a, const OrientedBox& b) {
  const auto holds = [](const OrientedBox& box, Vec2 p) {
    const Vec2 d = p - box.centre;
    const float u = d.x * std::cos(box.angle) - d.y * std::sin(box.angle);
    const float v = d.x * std::sin(box.angle) + d.y * std::cos(box.angle);
    return std::abs(u) < box.half_width && std::abs(v) < box.half_height;
  };
  const auto corners = a.corners();
  for (int i = 0; i <= 40; ++i) {
    for (int j = 0; j <= 40; ++j) {
      const Vec2 w = (corners[1] - corners[0]) * (static_cast<float>(i) / 40.0f);
      const Vec2 h = (corners[3] - corners[0]) * (static_cast<float>(j) / 40.0f);
      if (holds(b, corners[0] + w + h)) return true;
    }
  }
  return false;
}

CATCH_TEST_CASE("A text's box turns with it") {
  const OrientedBox flat = text_box({10.0f, 20.0f}, 30.0f, 10.0f);
  CATCH_CHECK(flat.bounds().x0 == near(10.0, 1e-5));
  CATCH_CHECK(flat.bounds().x1 == near(40.0, 1e-5));
  CATCH_CHECK(flat.bounds().y0 == near(12.2, 1e-5));
  CATCH_CHECK(flat.bounds().y1 == near(22.2, 1e-5));
  // A quarter turn counter-clockwise: the text runs upwards, its descenders to the right.
  const Rect up = text_box({10.0f, 20.0f}, 30.0f, 10.0f, 0.5f * kPi).bounds();
  CATCH_CHECK(up.y0 == near(-10.0, 0.0, 1e-4));
  CATCH_CHECK(up.y1 == near(20.0, 0.0, 1e-4));
  CATCH_CHECK(up.x0 == near(2.2, 0.0, 1e-4));
  CATCH_CHECK(up.x1 == near(12.2, 0.0, 1e-4));
  const Rect at = text_rect_at(100.0f, 50.0f, 20.0f, 10.0f, Painter::Align::Right);
  CATCH_CHECK(at.x0 == 80.0f);
  CATCH_CHECK(at.y1 == near(50.0 + 3.6 + 2.2, 1e-6));
}

CATCH_TEST_CASE("Boxes overlap exactly where they share a point") {
  CATCH_CHECK_FALSE(OrientedBox::of({0, 0, 10, 10}).overlaps(OrientedBox::of({10, 0, 20, 10})));
  CATCH_CHECK(OrientedBox::of({0, 0, 10, 10}).overlaps(OrientedBox::of({9.9f, 0, 20, 10})));
  CATCH_CHECK_FALSE(OrientedBox::of({5, 5, 5, 9}).overlaps(OrientedBox::of({0, 0, 10, 10})));
  std::mt19937 random(11);
  std::uniform_real_distribution<float> place(0.0f, 60.0f), half(2.0f, 15.0f), angle(-kPi, kPi);
  int both = 0;
  for (int round = 0; round < 2000; ++round) {
    const OrientedBox a{{place(random), place(random)}, half(random), half(random), angle(random)};
    const OrientedBox b{{place(random), place(random)}, half(random), half(random), angle(random)};
    if (share_a_point(a, b)) {
      CATCH_CHECK(a.overlaps(b));
      ++both;
    } else {
      // The grid misses what is thinner than its mesh.
      CATCH_CHECK_FALSE((a.overlaps(b.grown(-1.0f)) && a.grown(-1.0f).overlaps(b)));
    }
  }
  CATCH_CHECK((both > 300 && both < 1700));
}

CATCH_TEST_CASE("Slanted labels keep their distance, their order of importance and the panel") {
  std::mt19937 random(12);
  const Rect panel{100.0f, 0.0f, 640.0f, 64.0f};
  SlantedOptions options;
  options.panel = panel;
  options.axis_y = 62.0f;
  for (int round = 0; round < 200; ++round) {
    std::vector<SlantedLabel> labels;
    for (int i = 0; i < 80; ++i) {
      labels.push_back(
          {120.0f + static_cast<float>(random() % 5120) / 10.0f, std::string(1 + random() % 18, 'w'), i == 0});
    }
    const std::vector<Rect> taken = {{300.0f, 30.0f, 360.0f, 60.0f}};
    const std::vector<PlacedSlanted> placed = place_slanted(labels, options, kMeasure, taken);
    CATCH_REQUIRE(placed.size() > 5);
    bool first = false;
    for (std::size_t i = 0; i < placed.size(); ++i) {
      first = first || placed[i].index == 0;
      CATCH_CHECK(placed[i].box.inside(panel, 0.01f));
      CATCH_CHECK_FALSE(placed[i].box.overlaps(OrientedBox::of(taken[0])));
      for (std::size_t j = 0; j < i; ++j) {
        CATCH_CHECK_FALSE(share_a_point(placed[i].box, placed[j].box));
        CATCH_CHECK(labels[placed[i].index].x - labels[placed[j].index].x >= 17.0f);
      }
    }
    // The most important one is there unless what is taken is in its way or the panel ends.
    const bool blocked = (labels[0].x > 215.0f && labels[0].x < 375.0f) || labels[0].x > 600.0f;
    CATCH_CHECK((first || blocked));
    // Whatever was left out was too near to one before it, or had no room.
    for (std::size_t i = 0; i < labels.size(); ++i) {
      bool there = false, near_one = false;
      for (const PlacedSlanted& p : placed) {
        there = there || p.index == i;
        near_one = near_one || (p.index < i && std::abs(labels[p.index].x - labels[i].x) < 17.0f);
      }
      const bool clear = labels[i].x < 210.0f || (labels[i].x > 380.0f && labels[i].x < 600.0f);
      if (!there && clear) CATCH_CHECK(near_one);
    }
  }
}

CATCH_TEST_CASE("A long slanted label is elided to the panel, and left out where nothing of it fits") {
  SlantedOptions options;
  options.panel = {0.0f, 0.0f, 200.0f, 64.0f};
  options.axis_y = 62.0f;
  const SlantedLabel labels[] = {{20.0f, std::string(40, 'w')}, {190.0f, "protection"}, {100.0f, "of"}, {60.0f, ""}};
  const std::vector<PlacedSlanted> placed = place_slanted(labels, options, kMeasure);
  CATCH_REQUIRE(placed.size() == 2);
  CATCH_CHECK(placed[0].text.find("…") != std::string::npos);
  CATCH_CHECK(placed[0].box.bounds().y0 >= 0.0f);
  CATCH_CHECK(placed[0].box.bounds().y0 < 10.0f);  // uses the height there is
  CATCH_CHECK(placed[1].text == "of");
}

CATCH_TEST_CASE("Row labels: steps of 1-2-5, the pinned row in place of its neighbours") {
  const std::int64_t pinned[] = {230};
  const std::vector<RowLabel> rows = row_labels(0.0, 512.0, 100.0f, 612.0f, pinned);
  std::vector<std::int64_t> indices;
  for (const RowLabel& row : rows) indices.push_back(row.index);
  CATCH_CHECK(indices == std::vector<std::int64_t>{0,   20,  40,  60,  80,  100, 120, 140, 160, 180, 200, 230, 260,
                                                   280, 300, 320, 340, 360, 380, 400, 420, 440, 460, 480, 500});
  CATCH_CHECK(rows[0].centre == near(100.5, 1e-6));
  CATCH_CHECK(rows[11].forced);

  const std::vector<RowLabel> zoomed = row_labels(10.25, 18.75, 0.0f, 170.0f, {});
  CATCH_REQUIRE(zoomed.size() == 9);  // 20 px a row: every one whose centre is seen, 10 to 18
  CATCH_CHECK(zoomed.front().index == 10);
  CATCH_CHECK(zoomed.back().index == 18);
  CATCH_CHECK(zoomed.front().centre == near((10.5 - 10.25) * 20.0, 1e-5));
  const std::vector<RowLabel> tight = row_labels(10.25, 18.75, 0.0f, 136.0f, {});  // 16 px a row
  for (std::size_t i = 1; i < tight.size(); ++i) CATCH_CHECK(tight[i].index - tight[i - 1].index == 2);
  CATCH_CHECK(row_labels(3.0, 4.0, 0.0f, 100.0f, {}).size() == 1);
  CATCH_CHECK(row_labels(4.0, 4.0, 0.0f, 100.0f, {}).empty());

  std::mt19937 random(13);
  for (int round = 0; round < 500; ++round) {
    const double begin = static_cast<double>(random() % 3000) / 3.0,
                 end = begin + 1.0 + static_cast<double>(random() % 5000);
    const std::vector<std::int64_t> forced = {
        static_cast<std::int64_t>(begin) + static_cast<std::int64_t>(random() % 5000), 0, 17};
    const std::vector<RowLabel> labels = row_labels(begin, end, 500.0f, 20.0f, forced);  // upwards
    for (std::size_t i = 0; i < labels.size(); ++i) {
      CATCH_CHECK((labels[i].centre >= 20.0f - 1e-3f && labels[i].centre <= 500.0f + 1e-3f));
      if (i > 0) CATCH_CHECK(std::abs(labels[i].centre - labels[i - 1].centre) >= 19.0f - 1e-3f);
    }
    const double middle = static_cast<double>(forced[0]) + 0.5;
    const bool seen =
        std::any_of(labels.begin(), labels.end(), [&](const RowLabel& l) { return l.index == forced[0] && l.forced; });
    CATCH_CHECK(seen == (middle >= begin && middle <= end));
  }
}

CATCH_TEST_CASE("Spreading moves labels as little as can be") {
  const auto spread = [](std::vector<float> wanted, float low = 0.0f, float high = 100.0f) {
    return spread_labels(wanted, 13.0f, low, high);
  };
  CATCH_CHECK(spread({10.0f, 50.0f}) == std::vector<float>{10.0f, 50.0f});
  CATCH_CHECK(spread({50.0f, 50.0f}) == std::vector<float>{43.5f, 56.5f});
  CATCH_CHECK(spread({98.0f, 97.0f}) == std::vector<float>{100.0f, 87.0f});  // in the order of their places
  CATCH_CHECK(spread({-50.0f, 500.0f}) == std::vector<float>{0.0f, 100.0f});
  const std::vector<float> crowded = spread({1.0f, 2.0f, 3.0f}, 0.0f, 20.0f);
  CATCH_CHECK(crowded[0] == near(0.0, 0.0, 7.0));
  CATCH_CHECK(crowded[1] - crowded[0] >= 13.0f);
  CATCH_CHECK(std::isnan(crowded[2]));
  CATCH_CHECK(std::isnan(spread({1.0f, std::nanf("")})[1]));
  CATCH_CHECK(std::isnan(spread({1.0f}, 5.0f, 4.0f)[0]));

  // Against a plain search over small cases: no feasible arrangement on a grid is nearer to what was wanted.
  std::mt19937 random(14);
  for (int round = 0; round < 60; ++round) {
    std::vector<float> wanted;
    for (int i = 0; i < 3; ++i) wanted.push_back(static_cast<float>(random() % 60));
    std::sort(wanted.begin(), wanted.end());
    const std::vector<float> found = spread_labels(wanted, 13.0f, 0.0f, 60.0f);
    const auto cost = [&](float a, float b, float c) {
      return std::pow(a - wanted[0], 2.0f) + std::pow(b - wanted[1], 2.0f) + std::pow(c - wanted[2], 2.0f);
    };
    float best = 1e9f;
    for (float a = 0.0f; a <= 60.0f; a += 0.5f) {
      for (float b = a + 13.0f; b <= 60.0f; b += 0.5f) {
        for (float c = b + 13.0f; c <= 60.0f; c += 0.5f) best = std::min(best, cost(a, b, c));
      }
    }
    CATCH_CHECK(cost(found[0], found[1], found[2]) <= best + 1e-2f);
    CATCH_CHECK(
        (found[0] >= 0.0f && found[1] - found[0] >= 12.999f && found[2] - found[1] >= 12.999f && found[2] <= 60.0f));
  }
}

CATCH_TEST_CASE("A line to a label crosses what it crosses, and no more") {
  LabelSpace space({0, 0, 100, 100});
  space.block(Rect{20, 40, 30, 60});
  space.block(Rect{50, 40, 60, 60});
  space.block(Rect{50, 80, 60, 90});
  CATCH_CHECK(space.crossed({0, 50}, {40, 50}, 1.0f) == 1);
  CATCH_CHECK(space.crossed({0, 50}, {100, 50}, 1.0f) == 2);
  CATCH_CHECK(space.crossed({55, 0}, {55, 100}, 1.0f) == 2);
  CATCH_CHECK(space.crossed({0, 10}, {100, 10}, 1.0f) == 0);
}

CATCH_TEST_CASE("Rectangles find the first free place in their order") {
  const std::vector<std::vector<Rect>> wanted = {
      {{0, 0, 10, 10}}, {{5, 5, 15, 15}, {20, 0, 30, 10}}, {{5, 0, 12, 10}}, {{95, 0, 105, 10}, {50, 50, 60, 60}}};
  const Rect taken[] = {{48, 48, 52, 52}};
  CATCH_CHECK(place_in_order(wanted, {0, 0, 100, 100}, taken) == std::vector<std::ptrdiff_t>{0, 1, -1, -1});
  CATCH_CHECK(place_in_order(wanted, {0, 0, 100, 100}) == std::vector<std::ptrdiff_t>{0, 1, -1, 1});
  LabelSpace space({0, 0, 100, 100}, 1.0f);
  const Vec2 diagonal[] = {{0, 0}, {100, 100}};
  space.block_line(diagonal, 2.0f);
  CATCH_CHECK_FALSE(space.fits(OrientedBox::of({40, 40, 50, 50})));
  CATCH_CHECK(space.fits(OrientedBox::of({60, 40, 70, 50})));
  CATCH_CHECK_FALSE(space.place(OrientedBox::of({60, 58, 70, 64})));
}

}  // namespace
}  // namespace headroom::test
