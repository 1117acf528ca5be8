#include "app/plot/picture.h"

#include <cstdint>
#include <vector>

#include "tests/support/catch.h"

namespace headroom::test {
namespace {

std::vector<std::uint8_t> gradient(int width, int height) {
  std::vector<std::uint8_t> rgb;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (const int value : {x, y, 200}) rgb.push_back(static_cast<std::uint8_t>(value));
  return rgb;
}

}  // namespace

CATCH_TEST_CASE("A picture is made smaller by means, keeps its proportions and never grows", "[plot]") {
  const RgbPicture small = shrunk(gradient(120, 60), 120, 60, 30, 100);
  CATCH_REQUIRE((small.width == 30 && small.height == 15 && small.rgb->size() == 30 * 15 * 3));
  // Cells of 4 × 4: columns 0 … 3 have the mean 1.5, rounded up.
  CATCH_CHECK(small.rgb->at(0) == 2);
  CATCH_CHECK(small.rgb->at(1) == 2);
  CATCH_CHECK(small.rgb->at(2) == 200);
  CATCH_CHECK(small.rgb->at(3 * (7 * 30 + 20)) == 82);      // columns 80 … 83
  CATCH_CHECK(small.rgb->at(3 * (7 * 30 + 20) + 1) == 30);  // rows 28 … 31
  const RgbPicture same = shrunk(gradient(5, 3), 5, 3, 100, 100);
  CATCH_CHECK((same.width == 5 && same.height == 3 && *same.rgb == gradient(5, 3)));
  // Neither direction is lost, and sizes that do not divide cover everything.
  const RgbPicture thin = shrunk(gradient(200, 2), 200, 2, 7, 7);
  CATCH_CHECK((thin.width == 7 && thin.height == 1));
  CATCH_CHECK(thin.rgb->at(3 * 6) > 180);
  CATCH_CHECK(shrunk({}, 0, 0, 10, 10).rgb == nullptr);
}

}  // namespace headroom::test
