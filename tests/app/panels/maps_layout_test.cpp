// Where thumbnails lie, what their picture holds, and where the contour runs.
#include "app/panels/heads/maps_layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "app/panels/heads/head_card.h"
#include "app/panels/heads/maps_picture.h"
#include "tests/support/catch.h"
#include "tests/support/snapshots.h"

using namespace headroom;

namespace {

MapsRequest request_of(Rect body, std::size_t layers, std::size_t heads) {
  MapsRequest request;
  request.body = body;
  request.layers = layers, request.heads = heads;
  request.label_width = 24.0f, request.name_width = 40.0f;
  return request;
}

const Rect kWide{12.0f, 130.0f, 1428.0f, 850.0f};

// Pairs of heads with an edge between them, by the contour's lines.
std::set<std::pair<std::size_t, std::size_t>> pairs_between(const AtlasLayout& grid, std::span<const std::size_t> heads,
                                                            const std::vector<Edge>& edges) {
  std::set<std::pair<std::size_t, std::size_t>> pairs;
  const auto head_at = [&](float x, float y) {
    const auto cell = grid.at({x, y});
    return cell ? heads[cell->row * grid.columns + cell->column] : kNoHead;
  };
  for (const Edge& edge : edges) {
    const bool across = edge.from.y == edge.to.y;
    const float length = across ? edge.to.x - edge.from.x : edge.to.y - edge.from.y,
                step = across ? grid.cell_width : grid.cell_height;
    for (float along = 0.5f * step; along < length; along += step) {
      const float x = across ? edge.from.x + along : edge.from.x, y = across ? edge.from.y : edge.from.y + along;
      const std::size_t a = across ? head_at(x, y - 1.0f) : head_at(x - 1.0f, y),
                        b = across ? head_at(x, y + 1.0f) : head_at(x + 1.0f, y);
      pairs.insert({std::min(a, b), std::max(a, b)});
    }
  }
  return pairs;
}

}  // namespace

CATCH_TEST_CASE("maps layout: layers run across a wide panel and down a narrow one, every head once") {
  struct Case {
    Rect body;
    std::size_t layers, heads;
    bool across;
  };
  for (const Case& one :
       {Case{kWide, 30, 9, true}, Case{{0, 0, 276, 620}, 30, 9, false}, Case{{0, 0, 166, 400}, 61, 5, false},
        Case{kWide, 128, 128, false}, Case{{0, 0, 276, 620}, 4, 128, false}, Case{kWide, 4, 4, true}}) {
    const MapsLayout layout = lay_out_maps(request_of(one.body, one.layers, one.heads));
    CATCH_CAPTURE(one.layers, one.heads, one.body.width(), layout.size);
    CATCH_CHECK(layout.across == one.across);
    CATCH_CHECK(layout.size >= kLeastThumbnail);
    CATCH_CHECK(layout.size <= kMostThumbnail);
    std::vector<std::size_t> shown;
    for (const std::size_t head : layout.heads)
      if (head != kNoHead) shown.push_back(head);
    std::ranges::sort(shown);
    CATCH_REQUIRE(shown.size() == one.layers * one.heads);
    for (std::size_t i = 0; i < shown.size(); ++i) CATCH_REQUIRE(shown[i] == i);
    CATCH_CHECK(layout.places.grid.x1 - layout.gap <= one.body.x1 + 0.01f);
    CATCH_CHECK(layout.view.y1 <= one.body.y1 + 0.01f);
    // The map beside key 0's strip is a square.
    const Rect square = layout.square(0, 0.0f);
    CATCH_CHECK(square.width() - layout.strip == square.height());
    // Plots below stand in line with layers that run across, and nowhere else.
    if (!layout.across) CATCH_CHECK(layout.plots.empty());
  }
  CATCH_CHECK_FALSE(lay_out_maps(request_of(kWide, 30, 9)).plots.empty());
  // 16 384 heads: the least size, without strip and number; what does not fit is scrolled to, layer by layer.
  const MapsLayout many = lay_out_maps(request_of(kWide, 128, 128));
  CATCH_CHECK(many.size == kLeastThumbnail);
  CATCH_CHECK(many.strip == 0.0f);
  CATCH_CHECK_FALSE(many.numbers);
  CATCH_CHECK(many.places.columns == 128);
  CATCH_CHECK(many.content() > many.view.height());
  // One head: one thumbnail of at most 512 pixels.
  const MapsLayout one = lay_out_maps(request_of(kWide, 1, 1));
  CATCH_CHECK(one.heads == std::vector<std::size_t>{0});
  CATCH_CHECK(one.size == kOnlyThumbnail);
  CATCH_CHECK(lay_out_maps(request_of({0, 0, 20, 20}, 30, 9)).heads.empty());
}

CATCH_TEST_CASE("maps layout: a size that was asked for is kept, by value all heads stand in rows of it") {
  MapsRequest request = request_of(kWide, 30, 9);
  request.wanted = 40.0f;
  CATCH_CHECK(lay_out_maps(request).across);
  CATCH_CHECK(lay_out_maps(request).size == 40.0f);
  request.wanted = 96.0f;  // 30 of them do not fit beside each other
  CATCH_CHECK_FALSE(lay_out_maps(request).across);
  CATCH_CHECK(lay_out_maps(request).size == 96.0f);
  request.wanted = 0.0f;
  for (std::size_t i = 0; i < 270; ++i) request.by_value.push_back((i * 37) % 270);
  const MapsLayout layout = lay_out_maps(request);
  CATCH_CHECK(layout.content() <= layout.view.height());
  CATCH_CHECK(layout.names);
  for (std::size_t i = 0; i < 270; ++i) CATCH_REQUIRE(layout.heads[i] == request.by_value[i]);
  CATCH_CHECK(layout.place_of(request.by_value[100]) == std::size_t{100});
  // A point of each thumbnail finds it; the last row's missing places hold nobody.
  for (std::size_t i = 0; i < 270; ++i) CATCH_REQUIRE(layout.at(layout.square(i, 0.0f).centre(), 0.0f) == i);
  for (std::size_t i = 270; i < layout.heads.size(); ++i)
    CATCH_REQUIRE_FALSE(layout.at(layout.square(i, 0.0f).centre(), 0.0f).has_value());
  // Arrows: beside and below, at the ends nowhere; below the last full row the last head.
  CATCH_CHECK(layout.beside(5, 1, 0) == std::size_t{6});
  CATCH_CHECK(layout.beside(5, 0, 1) == 5 + layout.places.columns);
  CATCH_CHECK_FALSE(layout.beside(0, -1, 0).has_value());
  CATCH_CHECK_FALSE(layout.beside(0, 0, -1).has_value());
  const std::size_t above_last = (layout.places.rows - 2) * layout.places.columns + layout.places.columns - 1;
  CATCH_CHECK(layout.beside(above_last, 0, 1) == std::size_t{269});
}

CATCH_TEST_CASE("maps layout: the contour parts the same heads as the atlas's, and no place without a head") {
  const std::size_t layers = 12, heads = 7;
  std::vector<std::uint8_t> over(layers * heads);
  for (std::size_t i = 0; i < over.size(); ++i) over[i] = test::noise(3, i) > 0.6 ? 1 : 0;
  const AtlasLayout atlas = lay_out_atlas({0, 0, 300, 700}, layers, heads, 20.0f);
  std::vector<std::size_t> in_order(over.size());
  for (std::size_t i = 0; i < in_order.size(); ++i) in_order[i] = i;
  const auto expected = pairs_between(atlas, in_order, contour(atlas, over));
  CATCH_REQUIRE(expected.size() > 20);
  for (const Rect body : {kWide, Rect{0, 0, 276, 620}}) {
    const MapsLayout layout = lay_out_maps(request_of(body, layers, heads));
    CATCH_CHECK(pairs_between(layout.places, layout.heads, maps_contour(layout, over)) == expected);
  }
  // By value one line parts them, and it ends at the last head.
  MapsRequest request = request_of(kWide, layers, heads);
  request.by_value = in_order;
  std::ranges::stable_sort(request.by_value, [&](std::size_t a, std::size_t b) { return over[a] > over[b]; });
  const MapsLayout layout = lay_out_maps(request);
  const auto count = static_cast<std::size_t>(std::ranges::count(over, 1));
  for (const auto& [a, b] : pairs_between(layout.places, layout.heads, maps_contour(layout, over))) {
    CATCH_REQUIRE(b != kNoHead);
    CATCH_CHECK(over[a] != over[b]);
  }
  CATCH_CHECK(layout.heads[count - 1] == request.by_value[count - 1]);
}

CATCH_TEST_CASE(
    "maps picture: a pixel a block is the blocks, smaller ones are their largest, nothing leaves its square") {
  const std::int64_t blocks = 32;
  std::vector<float> cells, key;
  for (std::int64_t r = 0; r < blocks; ++r) {
    for (std::int64_t k = 0; k < blocks; ++k)
      cells.push_back(k > r ? std::numeric_limits<float>::quiet_NaN()
                            : static_cast<float>(test::noise(9, static_cast<std::uint64_t>(r * blocks + k))));
    key.push_back(static_cast<float>(2.0 + test::noise(10, static_cast<std::uint64_t>(r))));
  }
  const auto at = [&](const MapsPicture& picture, std::int64_t x, std::int64_t y) {
    return picture.values[static_cast<std::size_t>(y * picture.width + x)];
  };
  {
    // 3 pixels of key 0, one free, 32 of the map.
    const std::array<Thumbnail, 1> thumbnails{{{{10, 20, 46, 52}, cells, key, blocks}}};
    const MapsPicture picture = make_maps_picture({10, 20, 60, 60}, 1.0f, thumbnails, 4.0f);
    CATCH_REQUIRE(picture.width == 50);
    CATCH_REQUIRE(picture.height == 40);
    for (std::int64_t r = 0; r < blocks; ++r) {
      for (std::int64_t x = 0; x < 3; ++x) CATCH_REQUIRE(at(picture, x, r) == key[static_cast<std::size_t>(r)]);
      CATCH_REQUIRE(std::isnan(at(picture, 3, r)));
      for (std::int64_t k = 0; k < blocks; ++k) {
        const float expected = cells[static_cast<std::size_t>(r * blocks + k)], found = at(picture, 4 + k, r);
        CATCH_REQUIRE((found == expected || (std::isnan(found) && std::isnan(expected))));
      }
    }
  }
  {
    // Half the size: each pixel the largest of four.
    const std::array<Thumbnail, 1> thumbnails{{{{0, 0, 16, 16}, cells, {}, blocks}}};
    const MapsPicture picture = make_maps_picture({0, 0, 16, 16}, 1.0f, thumbnails, 0.0f);
    for (std::int64_t y = 0; y < 16; ++y)
      for (std::int64_t x = 0; x < 16; ++x) {
        float expected = std::numeric_limits<float>::quiet_NaN();
        for (std::int64_t r = 2 * y; r < 2 * y + 2; ++r)
          for (std::int64_t k = 2 * x; k < 2 * x + 2; ++k) {
            const float value = cells[static_cast<std::size_t>(r * blocks + k)];
            if (!std::isnan(value) && !(expected >= value)) expected = value;
          }
        const float found = at(picture, x, y);
        CATCH_REQUIRE((found == expected || (std::isnan(found) && std::isnan(expected))));
      }
  }
  // At every scale what is drawn lies in the squares, and unfinished ones are filled with +∞.
  const MapsLayout layout = lay_out_maps(request_of({5.5f, 7.25f, 500.0f, 400.0f}, 6, 5));
  for (int percent = 50; percent <= 300; percent += 10) {
    const float scale = static_cast<float>(percent) / 100.0f;
    std::vector<Thumbnail> thumbnails;
    for (std::size_t place = 0; place < layout.heads.size(); ++place) {
      Thumbnail thumbnail{layout.square(place, 3.0f), {}, {}, 0};
      if (place % 3 != 0) thumbnail.cells = cells, thumbnail.key = key, thumbnail.blocks = blocks;
      thumbnails.push_back(thumbnail);
    }
    const MapsPicture picture = make_maps_picture(layout.view, scale, thumbnails, layout.strip);
    const std::int32_t x0 = device_edge(layout.view.x0, scale), y0 = device_edge(layout.view.y0, scale);
    std::vector<std::uint8_t> inside(picture.values.size(), 0);
    for (const Thumbnail& thumbnail : thumbnails) {
      const Rect& s = thumbnail.square;
      for (std::int32_t y = std::max(0, device_edge(s.y0, scale) - y0);
           y < std::min(picture.height, device_edge(s.y1, scale) - y0); ++y)
        for (std::int32_t x = std::max(0, device_edge(s.x0, scale) - x0);
             x < std::min(picture.width, device_edge(s.x1, scale) - x0); ++x) {
          const auto pixel = static_cast<std::size_t>(y * picture.width + x);
          inside[pixel] = 1;
          if (thumbnail.blocks == 0) CATCH_REQUIRE(std::isinf(picture.values[pixel]));
        }
    }
    std::size_t outside = 0, filled = 0;
    for (std::size_t pixel = 0; pixel < inside.size(); ++pixel) {
      outside += inside[pixel] == 0 && !std::isnan(picture.values[pixel]) ? 1 : 0;
      filled += inside[pixel] != 0 && !std::isnan(picture.values[pixel]) ? 1 : 0;
    }
    CATCH_CAPTURE(percent);
    CATCH_CHECK(outside == 0);
    CATCH_CHECK(filled > inside.size() / 4);
  }
}

CATCH_TEST_CASE("head card: it stands beside its thumbnail and never over it, its labels do not touch") {
  const Rect window{0, 28, 1440, 876};
  for (const Rect thumbnail : {Rect{60, 200, 104, 244}, Rect{1380, 840, 1424, 876}, Rect{700, 30, 744, 74},
                               Rect{2, 860, 12, 870}, Rect{300, 100, 812, 612}}) {
    const auto card = place_card(thumbnail, {430, 340}, window);
    CATCH_CAPTURE(thumbnail.x0, thumbnail.y0);
    CATCH_REQUIRE(card.has_value());
    CATCH_CHECK_FALSE(card->overlaps(thumbnail));
    CATCH_CHECK(card->x0 >= window.x0);
    CATCH_CHECK(card->x1 <= window.x1);
    CATCH_CHECK(card->y0 >= window.y0);
    CATCH_CHECK(card->y1 <= window.y1);
  }
  CATCH_CHECK_FALSE(place_card({100, 100, 300, 300}, {430, 340}, {0, 0, 500, 400}).has_value());

  const std::vector<float> widths = {20, 20, 30, 20, 24};
  const std::vector<float> placed = spread_labels({2, 5, 9, 200, 254}, widths, 0, 256);
  for (std::size_t i = 0; i < placed.size(); ++i) {
    CATCH_CHECK(placed[i] - 0.5f * widths[i] >= (i == 0 ? 0.0f : placed[i - 1] + 0.5f * widths[i - 1]) - 1e-3f);
    CATCH_CHECK(placed[i] + 0.5f * widths[i] <= 256.0f);
  }
  const std::vector<float> received = {0.1f, std::nanf(""), 0.4f, 0.4f, 0.05f, 0.2f};
  const std::vector<CardKey> keys = largest_keys(received, 3);
  CATCH_REQUIRE(keys.size() == 3);
  CATCH_CHECK(keys[0].key == 2);
  CATCH_CHECK(keys[1].key == 3);
  CATCH_CHECK(keys[2].key == 5);
  CATCH_CHECK(largest_keys(received, 9).size() == 5);
}
