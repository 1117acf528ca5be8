// The map panel as it is drawn: texts within the panel at many sizes, values that are those of the cells, and what the
// pointer does.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_layout.h"
#include "app/panels/map/map_view_range.h"
#include "core/base/number_text.h"
#include "tests/app/panels/map_bench.h"

namespace headroom::test {
namespace {

// The layout that the panel has, as the panel makes it for a softmax head without a pin.
MapLayout layout_of(const MapBench& bench) {
  MapLayoutRequest request;
  request.body = bench.body();
  request.pixel_scale = static_cast<double>(bench.scale);
  request.length = bench.data().length;
  request.window = bench.session.state().view.map.window;
  request.three_rows = true;
  request.index_width = bench.measure.width(grouped_text(request.length - 1), Face::Mono, 11.0f);
  return lay_out_map(request);
}

// What was drawn last at a point of a map: the texel's value; nothing where no map was drawn.
std::optional<float> drawn_at(const RecordingPainter& painter, Vec2 at) {
  std::optional<float> value;
  for (const RecordedMap& map : painter.maps()) {
    if (!map.target.contains(at) || !map.clip.contains(at)) continue;
    const float u = map.source.x0 + (at.x - map.target.x0) / map.target.width() * map.source.width();
    const float v = map.source.y0 + (at.y - map.target.y0) / map.target.height() * map.source.height();
    const auto x = std::clamp(static_cast<std::int32_t>(u), 0, map.image.width - 1);
    const auto y = std::clamp(static_cast<std::int32_t>(v), 0, map.image.height - 1);
    value = (*map.image.values)[static_cast<std::size_t>(y * map.image.width + x)];
  }
  return value;
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 2e-5 * std::max(1.0, std::abs(b));
}

void check_clean(const RecordingPainter& painter) {
  for (const std::string& line : painter.violations()) CATCH_CHECK(line == "");
}

}  // namespace

CATCH_TEST_CASE("map panel: no text leaves the panel or lies on another, at any size, scale, theme and state",
                "[map]") {
  MadeRun made;
  made.maps.length = 300;
  int unmade = 0;  // frames that say so of a map
  const std::vector<Rect> frames = {{301, 69, 1099, 774}, {191, 69, 761, 536}, {29, 69, 1067, 774}, {0, 0, 300, 200},
                                    {10, 10, 420, 330},   {0, 30, 640, 400},   {5, 5, 505, 905},    {0, 0, 2200, 1300},
                                    {0, 0, 960, 420},     {0, 0, 350, 900},    {0, 0, 1500, 300},   {7, 3, 463, 291},
                                    {0, 0, 730, 600},     {0, 0, 3440, 1900},  {0, 0, 521, 513}};
  for (const bool v1 : {false, true}) {
    made.v1 = v1;
    MapBench bench(made);
    for (const HeadRef head : {HeadRef{0, 0}, HeadRef{0, 2}}) {
      for (std::size_t f = 0; f < frames.size(); ++f) {
        if (v1 && head.head == 0) continue;
        bench.frame = frames[f];
        bench.scale = std::array{1.0f, 1.25f, 0.75f, 2.0f}[f % 4];
        bench.dark = f % 2 == 0;
        for (const int state : {0, 1, 2, 3, 4}) {
          State& s = bench.session.edit();
          s.view.map = {};
          s.view.selection = {head, {}, {}};
          bench.input.pointer_inside = false;
          bench.input.pointer = {-1, -1};
          if (state == 1) bench.run("zoom 100 124 90 114");
          if (state == 2) bench.run("pin 230 129"), s.view.map.swipe = head.head == 2;
          if (state == 3)
            bench.run("zoom 30.5 41.25 3 13.5"), bench.run("pin 35 250"), bench.run("map.exclude-sink on"),
                bench.run("map.scale linear");
          if (state == 4) {
            s.view.map.swipe = head.head == 2;
            bench.run("map logits");
            const Rect map = layout_of(bench).map;
            bench.move({map.x0 + 0.4f * map.width(), map.y0 + 0.8f * map.height()});
          }
          CATCH_INFO("v1 " << v1 << ", head " << head.head << ", frame " << f << ", state " << state);
          check_clean(bench.draw_without_tiles());
          if (bench.painter->shows("the map is being made")) ++unmade;
          check_clean(bench.settle());
        }
      }
    }
  }
  CATCH_CHECK(unmade > 100);
}

CATCH_TEST_CASE("map panel: what is drawn under a point is the cell that is there", "[map]") {
  MadeRun made;
  made.maps.length = 300;
  for (const HeadRef head : {HeadRef{0, 0}, HeadRef{0, 2}, HeadRef{0, 4}})
    for (const MapWindow window : {MapWindow{}, MapWindow{100, 140, 80, 130}, MapWindow{200.3, 230.8, 17.1, 60.4}}) {
      MapBench bench(made, head);
      bench.frame = {0, 0, 798, 705};
      bench.session.edit().view.map.window = window;
      const RecordingPainter& painter = bench.settle();
      const MapLayout layout = layout_of(bench);
      CATCH_REQUIRE(layout.exact());
      std::mt19937 random(5);
      std::uniform_real_distribution<float> unit(0.01f, 0.99f);
      for (int i = 0; i < 400; ++i) {
        const Vec2 at{layout.map.x0 + unit(random) * layout.map.width(),
                      layout.map.y0 + unit(random) * layout.map.height()};
        const double query = layout.query_at(at.y), key = layout.key_at(at.x);
        if (std::abs(query - std::round(query)) < 0.05 || std::abs(key - std::round(key)) < 0.05) continue;  // an edge
        const auto drawn = drawn_at(painter, at);
        const auto cell =
            bench.source().cell(head.head, static_cast<std::int64_t>(query), static_cast<std::int64_t>(key));
        CATCH_INFO("query " << query << ", key " << key);
        // Where every cell of a tile is masked there is none: the ground is what is seen.
        CATCH_REQUIRE((drawn || !cell.visible));
        CATCH_REQUIRE(same(drawn ? static_cast<double>(*drawn) : NAN, cell.visible ? cell.net : NAN));
      }
      CATCH_CHECK(bench.fact("map.level") == 0.0);
      CATCH_CHECK(bench.fact("map.cells_visible") == static_cast<double>(visible_cells(layout).count()));
    }
}

CATCH_TEST_CASE("map panel: numbers in cells are those of the cells", "[map]") {
  MadeRun made;
  for (const HeadRef head : {HeadRef{0, 0}, HeadRef{0, 2}}) {
    MapBench bench(made, head);
    const std::int64_t size = head.head == 0 ? 24 : 18;  // signed numbers need wider cells
    bench.run("zoom 40 " + std::to_string(40 + size) + " 24 " + std::to_string(24 + size));
    const RecordingPainter& painter = bench.settle();
    const MapLayout layout = layout_of(bench);
    CATCH_REQUIRE(layout.numbers());
    std::set<std::pair<std::int64_t, std::int64_t>> printed;
    for (const RecordedText& text : painter.texts()) {
      const Vec2 middle{text.baseline.x + 0.5f * text.width, text.baseline.y - 3.6f};
      if (!layout.map.contains(middle) || text.angle != 0.0f) continue;
      const auto cell = layout.cell_under(middle);
      CATCH_REQUIRE(cell);
      const auto texts = log_cell_texts(bench.source().cell(head.head, cell->query, cell->key).net);
      CATCH_CHECK((text.text == texts[0] || text.text == texts[1]));
      CATCH_CHECK(printed.insert({cell->query, cell->key}).second);
    }
    // And every cell whose number has room has one.
    for (std::int64_t q = 40; q < 40 + size; ++q)
      for (std::int64_t k = 24; k < 24 + size; ++k) {
        const auto cell = bench.source().cell(head.head, q, k);
        CATCH_INFO(q << ", " << k << ": " << cell.net);
        const bool room = painter.measure().width(log_cell_texts(cell.net)[1], Face::MonoSemibold, 10.0f) <=
                          layout.cell_rect(q, k).width() - 1;
        CATCH_CHECK(printed.contains({q, k}) == (cell.visible && room));
      }
  }
}

CATCH_TEST_CASE(
    "map panel: the strip is key 0 over the queries in view, at every zoom, and a pinned key out of view has one",
    "[map]") {
  MadeRun made;
  made.maps.length = 256;
  MapBench bench(made);
  for (const char* line : {"map.fit", "zoom 100 140 80 130", "zoom 30 46 200 216"}) {
    bench.run(line);
    bench.run("pin 120 7");
    bench.settle();
    const bool away = bench.session.state().view.map.window.key0 > 7;
    MapLayout layout = layout_of(bench);
    for (std::int64_t q = 0; q < 256; ++q) {
      if (!layout.sees_query(q)) continue;
      const float y = layout.query_pixel(static_cast<double>(q) + 0.5);
      const auto drawn = drawn_at(*bench.painter, {layout.strip.centre_x(), y});
      CATCH_REQUIRE(drawn);
      CATCH_INFO(line << ", query " << q);
      CATCH_CHECK(same(static_cast<double>(*drawn), bench.source().cell(0, q, 0).net));
      const auto pinned = drawn_at(*bench.painter, {layout.strip.centre_x() - 9, y});
      CATCH_CHECK(pinned.has_value() == away);
      if (away && q >= 7) CATCH_CHECK(same(static_cast<double>(*pinned), bench.source().cell(0, q, 7).net));
    }
  }
}

CATCH_TEST_CASE("map panel: pointing, pinning, zooming, panning and fitting", "[map]") {
  MadeRun made;
  MapBench bench(made);
  bench.settle();
  MapLayout layout = layout_of(bench);
  const Vec2 place{layout.key_pixel(100.5), layout.query_pixel(200.5)};
  bench.move(place);
  bench.draw();
  bench.draw();
  CATCH_CHECK(bench.hover == Hover{{}, 200, 100, {}, {}});
  CATCH_CHECK(same(bench.fact("map.cell"), bench.source().cell(0, 200, 100).net));

  bench.click(place);
  CATCH_CHECK(bench.session.state().view.selection.query == 200);
  CATCH_CHECK(bench.session.state().view.selection.key == 100);
  bench.click(place);
  CATCH_CHECK_FALSE(bench.session.state().view.selection.query);

  for (int i = 0; i < 12; ++i) {
    bench.draw();
    bench.input.wheel = {0, 1};
    bench.draw();
    CATCH_REQUIRE(bench.lines.size() <= 1);
    layout = layout_of(bench);
    const auto under = layout.cell_under(place);
    CATCH_REQUIRE(under);
    CATCH_CHECK(under->query == 200);
    CATCH_CHECK(under->key == 100);
  }
  CATCH_CHECK(layout.window.query1 - layout.window.query0 < 40);

  const MapWindow before = layout.window;
  bench.draw();
  bench.press(kLeftButton);
  for (int i = 1; i <= 4; ++i) {
    bench.move(place + Vec2{-10.0f * static_cast<float>(i), 5.0f * static_cast<float>(i)});
    bench.draw();
  }
  bench.release(kLeftButton);
  layout = layout_of(bench);
  CATCH_CHECK(std::abs((layout.window.key0 - before.key0) * static_cast<double>(layout.cell_x) - 40.0) < 6.0);
  CATCH_CHECK(std::abs((before.query0 - layout.window.query0) * static_cast<double>(layout.cell_y) - 20.0) < 6.0);
  CATCH_CHECK_FALSE(bench.session.state().view.selection.query);  // a drag is no click

  bench.click({layout.map.centre_x(), layout.map.centre_y()});
  bench.press(kLeftButton, 2);
  bench.release(kLeftButton);
  CATCH_CHECK(bench.session.state().view.map.window.whole());
}

CATCH_TEST_CASE("map panel: a random hand never leads out of the map", "[map]") {
  MadeRun made;
  made.maps.length = 150;
  MapBench bench(made, {0, 2});
  bench.session.edit().view.map.swipe = true;
  std::mt19937 random(11);
  std::uniform_real_distribution<float> unit(0.0f, 1.0f);
  for (int i = 0; i < 700; ++i) {
    bench.move({bench.frame.x0 + unit(random) * bench.frame.width(),
                bench.frame.y0 + 36 + unit(random) * (bench.frame.height() - 36)});
    const int what = static_cast<int>(random() % 6);
    if (what < 3) bench.input.wheel = {0, unit(random) < 0.6f ? 1.0f : -1.0f};
    if (what == 3) bench.press(kLeftButton);
    if (what == 4) bench.release(kLeftButton);
    bench.draw();
    const MapWindow w = bench.session.state().view.map.window;
    CATCH_REQUIRE(w.query0 >= 0);
    CATCH_REQUIRE(w.key1 <= 150);
    if (!w.whole()) CATCH_REQUIRE(w.query1 - w.query0 >= 7.999);
    CATCH_REQUIRE(bench.painter->misuses().empty());
  }
}

CATCH_TEST_CASE("map panel: the row's numbers and the readout are named and right", "[map]") {
  MadeRun made;
  made.maps.length = 512;
  MapBench bench(made);
  bench.run("pin 250 30");
  bench.settle();
  double sum = 0.0, entropy = 0.0, squares = 0.0;
  for (std::int64_t k = 0; k <= 250; ++k) {
    const double a = bench.source().cell(0, 250, k).first;
    sum += a, squares += a * a, entropy -= a > 0.0 ? a * std::log(a) : 0.0;
  }
  CATCH_CHECK(std::abs(bench.fact("map.row_sum") - sum) < 1e-4);
  CATCH_CHECK(std::abs(bench.fact("map.row_entropy") - entropy) < 1e-3);
  CATCH_CHECK(std::abs(bench.fact("map.row_l2") - std::sqrt(squares)) < 1e-5);
  CATCH_CHECK(bench.painter->shows("entropy " + fixed_text(entropy, 2)));
  CATCH_CHECK(bench.painter->shows("row 250"));
  CATCH_CHECK(bench.painter->shows("key 30"));
  CATCH_CHECK(bench.text_fact("map.readout") == "at 1 cell per pixel, exact");

  bench.frame = {191, 69, 761, 536};  // 280 pixels: pooled
  bench.settle();
  CATCH_CHECK(bench.fact("map.level") == 1.0);
  const double here = bench.source().cell(0, 250, 30).net;
  double pooled = 0.0;
  for (std::int64_t q = 250; q < 252; ++q)
    for (std::int64_t k = 30; k < 32; ++k) pooled = std::max(pooled, bench.source().cell(0, q, k).net);
  CATCH_CHECK(std::abs(bench.fact("map.value") - pooled) < 1e-6);
  CATCH_CHECK(bench.text_fact("map.readout") ==
              "pooled max " + readout_text(pooled) + ", a here " + readout_text(here));
  bench.run("zoom 240 264 20 44");
  bench.settle();
  CATCH_CHECK(bench.text_fact("map.readout") == "at 24 × 24 cells, exact");
}

CATCH_TEST_CASE("map panel: a cell that the query sees and that is no number is not called masked", "[map]") {
  MadeRun made;
  made.maps.length = 512;
  made.broken_rows = true;  // 40 … 59
  MapBench bench(made);
  bench.frame = {191, 69, 761, 536};  // pooled, where the readout says what the one cell is
  bench.run("pin 50 30");
  bench.settle();
  CATCH_CHECK(bench.text_fact("map.readout").ends_with("a here not finite"));
  bench.run("pin 50 70");
  bench.settle();
  CATCH_CHECK(bench.text_fact("map.readout").find("not finite") == std::string::npos);
  bench.run("pin 60 30");
  bench.settle();
  CATCH_CHECK(bench.text_fact("map.readout").ends_with("a here " + readout_text(bench.source().cell(0, 60, 30).net)));
}

CATCH_TEST_CASE("map panel: coarse tiles come first, never a hole, and say their level", "[map]") {
  MadeRun made;
  made.maps.length = 2000;
  made.maps.head_dim = 4;
  MapBench bench(made);
  bench.run("zoom 900 1412 200 712");
  // The coarsest tile alone.
  TileKey top{bench.source().id, 0, kernels::WindowMap::Net, Pooling::MaxMagnitude, top_level(2000), 0, 0};
  const WantedTiles wanted{bench.data().layer(0)->maps, {top}};
  bench.tiles->want(std::span(&wanted, 1));
  for (int i = 0; i < 5000 && !bench.tiles->find(top); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    (void)bench.tiles->collect();
  }
  CATCH_REQUIRE(bench.tiles->find(top));
  const RecordingPainter& painter = bench.draw();
  CATCH_CHECK(bench.fact("map.texels_pending") > 0.0);
  CATCH_CHECK(painter.shows("level 3"));
  CATCH_CHECK(painter.shows("0 of "));
  const MapLayout layout = layout_of(bench);
  for (int i = 0; i < 100; ++i) {
    const Vec2 at{layout.map.x0 + 5.1f * static_cast<float>(i) + 0.3f, layout.map.y0 + 311.7f};
    const auto value = drawn_at(painter, at);
    CATCH_REQUIRE(value);
    const auto query = static_cast<std::int64_t>(layout.query_at(at.y)) / 8 * 8,
               key = static_cast<std::int64_t>(layout.key_at(at.x)) / 8 * 8;
    double largest = NAN;
    for (std::int64_t q = query; q < query + 8; ++q)
      for (std::int64_t k = key; k < key + 8; ++k)
        if (const auto cell = bench.source().cell(0, q, k); cell.visible) largest = std::fmax(largest, cell.net);
    CATCH_CHECK(same(static_cast<double>(*value), largest));
  }
  bench.settle();
  CATCH_CHECK_FALSE(bench.painter->shows(" tiles"));
  CATCH_CHECK_FALSE(bench.painter->shows("level 3"));
  check_clean(*bench.painter);
}

// Where the automatic range of weights ends: at their 99.5 % quantile, or at the largest where that is hardly farther
// (20 % of the range), widened to the next of five to ten equal steps of 1, 2 or 5 · 10ᵏ.
double end_of_range(std::vector<double> values) {
  std::ranges::sort(values);
  const auto at = [&](double p) {
    const double place = p * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const double next = values[std::min(below + 1, values.size() - 1)];
    return values[below] + (place - static_cast<double>(below)) * (next - values[below]);
  };
  double low = at(0.005), high = at(0.995);
  const double hardly = 0.2 * (high - low);
  if (low - values.front() <= hardly) low = values.front();
  if (values.back() - high <= hardly) high = values.back();
  double step = 0.0;
  for (double decade = 1e-9; step == 0.0; decade *= 10.0)
    for (const double part : {1.0, 2.0, 5.0})
      if (step == 0.0 && part * decade >= (high - low) / 5.0 * (1.0 - 1e-12)) step = part * decade;
  return step * std::ceil(high / step - 1e-9);
}

CATCH_TEST_CASE("map panel: the colour range is what it says it is", "[map]") {
  MadeRun made;
  made.maps.length = 200;
  made.maps.sink = 4.0;
  MapBench bench(made);
  bench.settle();
  CATCH_CHECK(bench.text_fact("map.scale") == "log10");
  CATCH_CHECK(bench.fact("map.range_high") == 1.0);
  CATCH_CHECK(std::abs(bench.fact("map.range_low") - 1e-4) < 1e-9);  // four decades, however many the cells span
  bench.run("map.scale linear");
  bench.settle();
  CATCH_CHECK(bench.text_fact("map.range").starts_with("automatic, 0 … "));
  CATCH_CHECK(bench.fact("map.range_low") == 0.0);
  std::vector<double> all, without_sink;
  for (std::int64_t q = 0; q < 200; ++q)
    for (std::int64_t k = 0; k <= q; ++k) {
      all.push_back(bench.source().cell(0, q, k).net);
      if (k > 0) without_sink.push_back(all.back());
    }
  CATCH_CHECK(std::abs(bench.fact("map.range_high") - end_of_range(all)) < 1e-6);
  bench.run("map.range 0 0.25");
  bench.settle();
  CATCH_CHECK(bench.painter->shows("range fixed, 0 … 0.25"));
  CATCH_CHECK(bench.painter->shows("≥ 0.25"));
  bench.run("map.range auto");
  bench.run("map.exclude-sink on");
  bench.settle();
  CATCH_CHECK(bench.painter->shows("key 0 excluded"));
  CATCH_CHECK(bench.painter->shows("without key 0"));
  // Key 0 holds the largest values of its rows here: without it the range is narrower.
  CATCH_CHECK(std::abs(bench.fact("map.range_high") - end_of_range(without_sink)) < 1e-6);
  CATCH_CHECK(end_of_range(without_sink) < 0.8 * end_of_range(all));

  MapBench pair(made, {0, 2});
  pair.settle();
  CATCH_CHECK(pair.text_fact("map.scale") == "symlog");
  // A map with signs has no logarithm; one of their positive parts has.
  const Result<void> refused = pair.session.execute("map.scale log10");
  CATCH_REQUIRE_FALSE(refused.has_value());
  CATCH_CHECK(describe(refused.error()).find("negative values: linear or symlog") != std::string::npos);
  CATCH_CHECK(pair.text_fact("map.scale") == "symlog");
  pair.run("map.pool positive");
  pair.run("map.scale log10");
  pair.settle();
  CATCH_CHECK(pair.text_fact("map.scale") == "log10");
  pair.run("map.scale auto");
  pair.run("map.pool max");
  pair.settle();
  CATCH_CHECK(pair.fact("map.range_low") == -pair.fact("map.range_high"));
}

CATCH_TEST_CASE("map panel: the automatic range is of what is in view, and steady", "[map]") {
  MadeRun made;
  made.maps.length = 200;
  made.maps.sink = 4.0;
  MapBench bench(made);
  bench.settle();
  const auto largest = [&](std::int64_t q0, std::int64_t q1, std::int64_t k0, std::int64_t k1) {
    double most = 0.0;
    for (std::int64_t q = q0; q < q1; ++q)
      for (std::int64_t k = k0; k < std::min(k1, q + 1); ++k) most = std::max(most, bench.source().cell(0, q, k).net);
    double end = 1e-12;  // 1, 2, 5 · 10ᵏ
    for (int i = 0; end < most * (1.0 - 1e-9); ++i) end *= i % 3 == 1 ? 2.5 : 2.0;
    return end;
  };
  CATCH_CHECK(bench.text_fact("map.range").starts_with("automatic, "));
  CATCH_CHECK(std::abs(bench.fact("map.range_high") / largest(0, 200, 0, 200) - 1.0) < 1e-6);
  // The part with the least in it.
  std::int64_t q0 = 0, k0 = 0;
  double least = 2.0;
  for (std::int64_t q = 100; q <= 160; q += 4)
    for (std::int64_t k = 8; k <= 60; k += 4)
      if (const double there = largest(q, q + 20, k, k + 20); there < least) least = there, q0 = q, k0 = k;
  const auto zoom = [&] {
    bench.run("zoom " + std::to_string(q0) + " " + std::to_string(q0 + 20) + " " + std::to_string(k0) + " " +
              std::to_string(k0 + 20));
    bench.settle();
  };
  zoom();
  const double part = bench.fact("map.range_high");
  CATCH_CHECK(std::abs(part / least - 1.0) < 1e-6);
  CATCH_CHECK(part <= 0.5 * largest(0, 200, 0, 200));
  CATCH_CHECK(bench.fact("map.range_low") < 0.11 * part);
  CATCH_CHECK(bench.text_fact("map.range").starts_with("automatic, in view "));
  // A step aside changes hardly anything, and so nothing; back to the whole is back to its own.
  bench.run("zoom " + std::to_string(q0) + ".2 " + std::to_string(q0 + 20) + " " + std::to_string(k0) + " " +
            std::to_string(k0 + 20));
  bench.settle();
  CATCH_CHECK(bench.fact("map.range_high") == part);
  bench.run("map.fit");
  bench.settle();
  CATCH_CHECK(std::abs(bench.fact("map.range_high") / largest(0, 200, 0, 200) - 1.0) < 1e-6);
  // What is fixed stays fixed.
  bench.run("map.range 0.001 0.5");
  zoom();
  CATCH_CHECK(bench.text_fact("map.range") == "range fixed, 0.001 … 0.5");

  const DataRange shown{.low = 1e-4, .high = 1.0};
  CATCH_CHECK_FALSE(has_moved(shown, {.low = 2e-4, .high = 0.5}, true));  // 0.30 of 4 decades at each end
  CATCH_CHECK(has_moved(shown, {.low = 1e-4, .high = 0.2}, true));
  CATCH_CHECK(has_moved(shown, {.low = 1e-5, .high = 1.0}, true));
  CATCH_CHECK(has_moved(shown, {.low = 1e-4, .high = 0.8}, false));
  Tile tile;
  tile.key.level = 1, tile.key.column = 1;  // keys 512 …
  tile.rows = 3, tile.columns = 4;
  tile.values = std::make_shared<std::vector<float>>(std::vector<float>{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23});
  const std::vector<std::int64_t> none, key{515};
  CATCH_CHECK(values_in_window(tile, {0, 6, 512, 520}, 1, key) == std::vector<float>{0, 2, 3, 10, 12, 13, 20, 22, 23});
  CATCH_CHECK(values_in_window(tile, {2, 3, 514, 515}, 1, none) == std::vector<float>{11});
  CATCH_CHECK(values_in_window(tile, {0, 6, 0, 520}, 2, none) == std::vector<float>{0, 2, 20, 22});
  CATCH_CHECK(values_in_window(tile, {0, 6, 0, 512}, 1, none).empty());
}

CATCH_TEST_CASE("map panel: the ends of the bar are dragged, a double click makes the range automatic", "[map]") {
  MadeRun made;
  made.maps.length = 200;
  MapBench bench(made);
  bench.run("map.scale linear");
  bench.run("map.range 0 0.5");
  bench.settle();
  const MapLayout layout = layout_of(bench);
  bench.move({layout.bar.x0 + 6, layout.bar.y0 + 6});
  bench.draw();
  bench.press(kLeftButton);
  bench.move({layout.bar.x0 + 6, layout.bar.y0 + 6 + 0.5f * layout.bar.height()});
  bench.draw();
  bench.draw();
  bench.release(kLeftButton);
  const auto range = bench.session.state().view.map.range;
  CATCH_REQUIRE(range);
  CATCH_CHECK(range->first == 0.0);
  CATCH_CHECK(std::abs(range->second - 0.25) < 0.011);
  bench.click({layout.bar.x0 + 6, layout.bar.centre_y()});
  bench.press(kLeftButton, 2);
  bench.release(kLeftButton);
  CATCH_CHECK_FALSE(bench.session.state().view.map.range);
}

}  // namespace headroom::test
