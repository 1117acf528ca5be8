#include "app/plot/geometry.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include "tests/support/catch.h"

using namespace headroom;

CATCH_TEST_CASE("points inside a lasso") {
  const std::vector<Vec2> square = {{0, 0}, {10, 0}, {10, 10}, {0, 10}};
  const float nan = std::nanf("");
  const std::vector<Vec2> points = {{5, 5}, {11, 5}, {-1, 5}, {5, -1}, {9.9f, 9.9f}, {nan, 5}, {5, nan}};
  CATCH_CHECK(points_inside(square, points) == std::vector<std::size_t>{0, 4});
  const std::vector<Vec2> hook = {{0, 0}, {10, 0}, {10, 10}, {8, 10},
                                  {8, 2}, {2, 2},  {2, 10},  {0, 10}};  // open at the bottom
  const std::vector<Vec2> around = {{1, 5}, {5, 5}, {9, 5}, {5, 1}};
  CATCH_CHECK(points_inside(hook, around) == std::vector<std::size_t>{0, 2, 3});
  const std::vector<Vec2> line = {{0, 0}, {10, 0}};
  CATCH_CHECK(points_inside(line, points).empty());
  const std::vector<Vec2> knot = {{0, 0}, {10, 10}, {10, 0}, {0, 10}};  // crosses itself
  const std::vector<Vec2> sides = {{5, 2}, {5, 8}, {2, 5}, {8, 5}};
  CATCH_CHECK(points_inside(knot, sides) == std::vector<std::size_t>{2, 3});
}
