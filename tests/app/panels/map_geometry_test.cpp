// Geometry of the map panel: the places of its parts in pictures of known size, cells and pixels, zooming about a
// point, panning, pieces of tiles.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_layout.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

MapLayoutRequest request_of(Rect body, std::int64_t length, MapWindow window = {}, double scale = 1.0) {
  MapLayoutRequest request;
  request.body = body;
  request.length = length;
  request.window = window;
  request.pixel_scale = scale;
  request.index_width = 24;
  return request;
}

bool inside(const Rect& part, const Rect& body) {
  return part.empty() || (part.x0 >= body.x0 - 0.01f && part.y0 >= body.y0 - 0.01f && part.x1 <= body.x1 + 0.01f &&
                          part.y1 <= body.y1 + 0.01f);
}

bool whole_number(double v) { return std::abs(v - std::round(v)) < 1e-4; }

}  // namespace

CATCH_TEST_CASE("The parts of the map lie where the pictures have them") {
  CATCH_SECTION("1440 × 900: a cell is a pixel") {
    const MapLayout layout = lay_out_map(request_of({301, 99, 1099, 774}, 512));
    CATCH_CHECK(layout.map == Rect{416, 193, 928, 705});
    CATCH_CHECK(layout.cell_x == 1.0f);
    CATCH_CHECK(layout.strip == Rect{406, 193, 413, 705});
    CATCH_CHECK(layout.row_profile == Rect{416, 711, 928, 751});
    CATCH_CHECK(layout.column_profile == Rect{935, 193, 983, 705});
    CATCH_CHECK(layout.bar.x0 == 1009);
    CATCH_CHECK(layout.bar.y1 == 705);
    CATCH_CHECK(layout.tool_bar == Rect{313, 106, 1087, 128});
    const auto lens = lay_out_lens(layout, true);
    CATCH_REQUIRE(lens);
    CATCH_CHECK(lens->frame == Rect{746, 202, 918, 374});
    CATCH_CHECK(lens->cells == 17);
    CATCH_CHECK(layout.overview.empty());
  }
  CATCH_SECTION("1024 × 640: pooled, 280 pixels") {
    const MapLayout layout = lay_out_map(request_of({191, 99, 761, 536}, 512));
    CATCH_CHECK(layout.map == Rect{285, 189, 565, 469});
    CATCH_CHECK(layout.column_profile == Rect{572, 189, 612, 469});
    CATCH_CHECK(layout.bar.x0 == 630);
    CATCH_CHECK_FALSE(layout.exact());
    // A third of the map's side holds no more.
    const auto lens = lay_out_lens(layout, true);
    CATCH_REQUIRE(lens);
    CATCH_CHECK(lens->cells == 11);
    CATCH_CHECK(lens->cell == 9.0f);
  }
  CATCH_SECTION("24 × 24 cells with numbers and the overview") {
    const MapLayout layout = lay_out_map(request_of({301, 99, 1099, 774}, 512, {132, 156, 110, 134}));
    CATCH_CHECK(layout.numbers());
    CATCH_CHECK(layout.cell_y == 20.0f);
    CATCH_CHECK(layout.cell_x == 22.0f);
    CATCH_CHECK(layout.map.y0 == 193);
    CATCH_CHECK(layout.overview.width() == 100.0f);
    CATCH_CHECK(layout.bar.y0 == layout.overview.y1 + 48);
    CATCH_CHECK(visible_cells(layout).count() == 576);
    CATCH_CHECK_FALSE(lay_out_lens(layout, true));
  }
  CATCH_SECTION("a differential head with the swipe beside it") {
    MapLayoutRequest request = request_of({29, 99, 1067, 774}, 512);
    request.side = MapSide::Swipe;
    request.three_rows = true;
    const MapLayout layout = lay_out_map(request);
    CATCH_CHECK(layout.map == Rect{127, 197, 525, 595});
    CATCH_CHECK(layout.side_map == Rect{599, 197, 997, 595});
    CATCH_CHECK(layout.bar.x0 == 537);
    CATCH_CHECK(layout.side_bar.x0 == 1007);
    CATCH_CHECK(layout.row_profile.y0 == 607);
    CATCH_CHECK(layout.row_profile.y1 == 733);
  }
}

CATCH_TEST_CASE("A map of few tokens stays small, a single token is a single cell") {
  const MapLayout one = lay_out_map(request_of({301, 99, 1099, 774}, 1));
  CATCH_CHECK(one.map.width() == 64.0f);
  CATCH_CHECK(one.map.height() == 64.0f);
  CATCH_CHECK(visible_cells(one).count() == 1);
  const MapLayout sixteen = lay_out_map(request_of({301, 99, 1099, 774}, 16));
  CATCH_CHECK(sixteen.cell_x == 32.0f);
}

CATCH_TEST_CASE("Every part stays inside the panel at every size, and the parts of the map do not lie on each other") {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> unit(0.0f, 1.0f);
  for (int i = 0; i < 4000; ++i) {
    const float w = std::floor(300 + 3500 * unit(random) * unit(random)),
                h = std::floor(170 + 2000 * unit(random) * unit(random));
    const double scales[] = {0.75, 1.0, 1.25, 1.5, 2.0};
    const std::int64_t lengths[] = {1, 2, 9, 16, 512, 7658, 131072};
    const std::int64_t n = lengths[random() % 7];
    MapWindow window;
    if (random() % 2) {
      const double a = unit(random) * static_cast<double>(n), b = unit(random) * static_cast<double>(n);
      window = {a, a + unit(random) * static_cast<double>(n), b, b + unit(random) * static_cast<double>(n)};
    }
    MapLayoutRequest request = request_of(Rect::sized(10, 20, w, h), n, window, scales[random() % 5]);
    request.side = static_cast<MapSide>(random() % 3);
    request.three_rows = request.side == MapSide::Swipe;
    request.pinned_strip = random() % 2;
    request.index_width = n > 100000 ? 44.0f : 24.0f;
    const MapLayout layout = lay_out_map(request);
    CATCH_INFO("size " << w << " × " << h << ", n " << n << ", side " << static_cast<int>(request.side) << ", cell "
                       << layout.cell_x);
    const Rect& body = request.body;
    CATCH_CHECK(layout.map.width() > 0.0f);
    CATCH_CHECK(layout.map.height() > 0.0f);
    for (const Rect* part : {&layout.map, &layout.strip, &layout.pinned_strip, &layout.query_labels, &layout.key_labels,
                             &layout.row_profile, &layout.row_text, &layout.column_profile, &layout.column_text,
                             &layout.bar, &layout.overview, &layout.notes, &layout.side_map, &layout.side_bar,
                             &layout.side_below, &layout.side_title, &layout.side, &layout.row_ticks, &layout.row_foot})
      CATCH_REQUIRE(inside(*part, body));
    const Rect* apart[] = {&layout.map, &layout.strip,    &layout.row_profile, &layout.column_profile,
                           &layout.bar, &layout.overview, &layout.side_map,    &layout.side_bar};
    for (std::size_t a = 0; a < std::size(apart); ++a)
      for (std::size_t b = a + 1; b < std::size(apart); ++b)
        if (!apart[a]->empty() && !apart[b]->empty()) CATCH_REQUIRE_FALSE(apart[a]->overlaps(*apart[b]));
    CATCH_CHECK(layout.map.x1 <= layout.area.x1 + 0.51f);
    CATCH_CHECK(layout.map.y1 <= layout.area.y1 + 0.51f);
  }
}

CATCH_TEST_CASE("A cell is a whole number of device pixels where it can be") {
  for (const double scale : {1.0, 1.25, 1.5, 2.0})
    for (const std::int64_t n : {16, 100, 128, 256}) {
      const MapLayout layout = lay_out_map(request_of({301, 99, 1099, 774}, n, {}, scale));
      CATCH_INFO("n " << n << ", scale " << scale);
      const double pixels = static_cast<double>(layout.cell_y) * scale;
      const double room = 512.0 * scale / static_cast<double>(n);
      if (std::floor(room) >= 0.7 * room) CATCH_CHECK(whole_number(pixels));
      CATCH_CHECK(whole_number(static_cast<double>(layout.map.width()) * scale));
      CATCH_CHECK(whole_number(static_cast<double>(layout.map.x0) * scale));
    }
}

CATCH_TEST_CASE("Cells and pixels are inverse to each other") {
  const MapLayout layout = lay_out_map(request_of({301, 99, 1099, 774}, 512, {100.25, 140.25, 7.5, 47.5}));
  for (float x = layout.map.x0; x < layout.map.x1; x += 3.7f)
    CATCH_CHECK(std::abs(layout.key_pixel(layout.key_at(x)) - x) < 1e-2f);
  const auto cell = layout.cell_under({layout.map.x0 + 0.1f, layout.map.y0 + 0.1f});
  CATCH_REQUIRE(cell);
  CATCH_CHECK(cell->query == 100);
  CATCH_CHECK(cell->key == 7);
  CATCH_CHECK(layout.cell_rect(cell->query, cell->key).contains({layout.map.x0 + 0.1f, layout.map.y0 + 0.1f}));
  CATCH_CHECK_FALSE(layout.cell_under({layout.map.x0 - 1, layout.map.y0}));
  CATCH_CHECK_FALSE(layout.cell_under({layout.map.x1, layout.map.y0}));
  CATCH_CHECK(layout.sees_key(7));
  CATCH_CHECK_FALSE(layout.sees_key(6));
}

CATCH_TEST_CASE("Zooming keeps the place under the pointer, from the whole map to eight cells") {
  for (const std::int64_t n : {512, 7658, 131072}) {
    MapLayoutRequest request = request_of({301, 99, 1099, 774}, n);
    const Vec2 pointer{600, 450};
    int steps = 0;
    for (; steps < 80; ++steps) {
      const MapLayout before = lay_out_map(request);
      const double key = before.key_at(pointer.x), query = before.query_at(pointer.y);
      const MapWindow next = zoomed_window(request, pointer, 1);
      if (next == before.window) break;
      request.window = next;
      const MapLayout after = lay_out_map(request);
      CATCH_INFO("n " << n << ", step " << steps);
      CATCH_CHECK(after.cell_y > before.cell_y * 0.999f);
      if (next.key0 > 0 && next.key1 < static_cast<double>(n))
        CATCH_CHECK(std::abs(after.key_at(pointer.x) - key) * static_cast<double>(after.cell_x) < 0.6);
      if (next.query0 > 0 && next.query1 < static_cast<double>(n))
        CATCH_CHECK(std::abs(after.query_at(pointer.y) - query) * static_cast<double>(after.cell_y) < 0.6);
      if (after.device_pixels_per_cell() >= 4) CATCH_CHECK(whole_number(after.device_pixels_per_cell()));
    }
    CATCH_CHECK(steps < 80);
    CATCH_CHECK(lay_out_map(request).window.query1 - lay_out_map(request).window.query0 <= 12.0);
    for (int i = 0; i < 120 && !request.window.whole(); ++i) request.window = zoomed_window(request, pointer, -1);
    CATCH_CHECK(request.window.whole());
  }
}

CATCH_TEST_CASE("Any sequence of zooming and panning stays inside the map") {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> unit(0.0f, 1.0f);
  for (const std::int64_t n : {1, 5, 16, 512, 131072}) {
    MapLayoutRequest request = request_of({301, 99, 1099, 774}, n);
    for (int i = 0; i < 600; ++i) {
      const MapLayout layout = lay_out_map(request);
      const Vec2 pointer{layout.map.x0 + unit(random) * layout.map.width(),
                         layout.map.y0 + unit(random) * layout.map.height()};
      if (random() % 2) {
        request.window = zoomed_window(request, pointer, unit(random) < 0.55f ? 1 : -1);
      } else if (!request.window.whole()) {
        request.window = panned_window(layout, {400 * unit(random) - 200, 400 * unit(random) - 200});
      }
      const MapWindow w = resolved_window(request.window, n);
      CATCH_REQUIRE(w.query0 >= 0);
      CATCH_REQUIRE(w.key0 >= 0);
      CATCH_REQUIRE(w.query1 <= static_cast<double>(n) + 1e-6);
      CATCH_REQUIRE(w.key1 <= static_cast<double>(n) + 1e-6);
      CATCH_REQUIRE(w.query1 - w.query0 >= std::min(8.0, static_cast<double>(n)) - 1e-6);
      if (!request.window.whole()) {
        CATCH_CHECK(std::abs(w.query0 - request.window.query0) < 1e-6);
        CATCH_CHECK(std::abs(w.key1 - request.window.key1) < 1e-6);
      }
    }
  }
}

CATCH_TEST_CASE("Panning moves the cells with the pointer") {
  MapLayoutRequest request = request_of({301, 99, 1099, 774}, 512, {100, 200, 100, 200});
  const MapLayout before = lay_out_map(request);
  const double key = before.key_at(700), query = before.query_at(400);
  request.window = panned_window(before, {31, -17});
  const MapLayout after = lay_out_map(request);
  CATCH_CHECK(std::abs(after.key_at(731) - key) < 1e-4);
  CATCH_CHECK(std::abs(after.query_at(383) - query) < 1e-4);
}

CATCH_TEST_CASE("A window that leaves the map or is too small is moved and widened") {
  CATCH_CHECK(resolved_window({-5, 15, 500, 530}, 512) == MapWindow{0, 20, 482, 512});
  const MapWindow tiny = resolved_window({100, 101, 200, 201}, 512);
  CATCH_CHECK(tiny == MapWindow{96.5, 104.5, 196.5, 204.5});
  CATCH_CHECK(resolved_window({0, 3, 0, 3}, 4) == MapWindow{0, 4, 0, 4});
  CATCH_CHECK(resolved_window({0, std::numeric_limits<double>::infinity(), 0, 8}, 512).query1 == 512.0);
}

CATCH_TEST_CASE("Pieces of tiles cover the window without holes, and texels of coarser tiles are the right ones") {
  const MapLayout layout = lay_out_map(request_of({301, 99, 1099, 774}, 7658, {1000, 3000, 500, 2500}));
  TileKey wanted;
  wanted.level = 2;
  double area = 0.0;
  for (wanted.row = 0; wanted.row < 8; ++wanted.row)
    for (wanted.column = 0; wanted.column < 8; ++wanted.column) {
      const auto piece = tile_piece(layout, wanted, wanted);
      if (!piece) continue;
      area += static_cast<double>(piece->target.width()) * static_cast<double>(piece->target.height());
      // The source's cells are those that the target shows.
      const double first = tile_columns(wanted).begin + 4.0 * static_cast<double>(piece->source.x0);
      CATCH_CHECK(std::abs(layout.key_at(piece->target.x0) - first) < 0.02);
      TileKey coarse = wanted;
      coarse.level = 5;
      coarse.row /= 8;
      coarse.column /= 8;
      const auto from = tile_piece(layout, wanted, coarse);
      CATCH_REQUIRE(from);
      CATCH_CHECK(from->target == piece->target);
      CATCH_CHECK(std::abs(32.0 * static_cast<double>(from->source.x0) + tile_columns(coarse).begin - first) < 0.02);
      CATCH_CHECK(from->source.x1 <= 256.0f);
    }
  CATCH_CHECK(std::abs(area - static_cast<double>(layout.map.width()) * static_cast<double>(layout.map.height())) <
              2.0);
}

CATCH_TEST_CASE("The causal hairline follows the diagonal, in steps where cells are large") {
  const MapLayout far = lay_out_map(request_of({301, 99, 1099, 774}, 512));
  const auto line = diagonal_segments(far, 1);
  CATCH_REQUIRE(line.size() == 1);
  CATCH_CHECK(line[0].from == Vec2{417, 193});
  CATCH_CHECK(line[0].to == Vec2{928, 704});
  const MapLayout near = lay_out_map(request_of({301, 99, 1099, 774}, 512, {100, 110, 100, 110}));
  const auto steps = diagonal_segments(near, 1);
  CATCH_CHECK(steps.size() == 19);
  for (const Segment& s : steps) {
    CATCH_CHECK((s.from.x == s.to.x || s.from.y == s.to.y));
    CATCH_CHECK(std::abs(near.key_at(s.from.x) - std::round(near.key_at(s.from.x))) < 1e-3);
  }
  const MapLayout away = lay_out_map(request_of({301, 99, 1099, 774}, 512, {400, 420, 0, 20}));
  CATCH_CHECK(diagonal_segments(away, 1).empty());
}

CATCH_TEST_CASE("Pixels show the largest magnitude of their cells, with its sign") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values = {0.1f, -0.5f, 0.2f, 0.3f, nan, nan, 1.0f, nan};
  const auto half = pool_to_pixels(values, 0, 8, 4);
  CATCH_CHECK(half[0] == -0.5f);
  CATCH_CHECK(half[1] == 0.3f);
  CATCH_CHECK(std::isnan(half[2]));
  CATCH_CHECK(half[3] == 1.0f);
  const auto twice = pool_to_pixels(values, 1, 3, 4);
  CATCH_CHECK(twice == std::vector<float>{-0.5f, -0.5f, 0.2f, 0.2f});
  CATCH_CHECK(pool_to_pixels(values, 3, 3, 2).size() == 2);
}

}  // namespace headroom::test
