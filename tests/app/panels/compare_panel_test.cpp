// The compare panel as it is drawn: texts within it at many sizes and in every state, cells that are those of the runs,
// and what the pointer does.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/chrome/window_frame.h"
#include "app/panels/compare/compare_geometry.h"
#include "app/panels/compare/compare_side.h"
#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_labels.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/panel.h"
#include "app/panels/parts/compare_cache.h"
#include "core/base/number_text.h"
#include "tests/app/panels/compare_bench.h"

namespace headroom::test {
namespace {

struct Size {
  float width, height, scale;
};
constexpr Size kSizes[] = {{800, 500, 1.0f},   {1024, 640, 1.0f},  {1024, 640, 0.75f}, {1024, 640, 1.25f},
                           {1440, 900, 1.0f},  {1440, 900, 1.5f},  {1440, 900, 2.0f},  {2560, 1440, 1.0f},
                           {2560, 1440, 2.0f}, {2560, 1440, 0.75f}};

PairLayout layout_of(const CompareBench& bench, bool single) {
  PairLayoutRequest request;
  request.body = bench.centre;
  request.body.cut_top(measure::kPanelTitle);
  request.pixel_scale = static_cast<double>(bench.scale);
  request.length = bench.session.state().runs[0].data->length;
  request.window = bench.session.state().view.map.window;
  request.single = single;
  request.index_width = query_index_width(bench.measure, request.length);
  return lay_out_compare(request);
}

double net(const MapSource& source, std::int64_t query, std::int64_t key) {
  const MapSource::Cell cell = source.cell(2, query, key);
  return cell.visible ? cell.net : NAN;
}

bool near_enough(double a, double b) { return (std::isnan(a) && std::isnan(b)) || std::abs(a - b) < 1e-5; }

}  // namespace

CATCH_TEST_CASE("compare panel: no text leaves its panel or lies on another, at any size, scale, theme and state",
                "[compare]") {
  int unmade = 0;  // frames that say so of a map
  for (const int state : {0, 1, 2, 3, 4, 5, 6}) {
    PairOptions options;
    options.hostile = state != 1;
    options.maps_b = state != 2;
    options.maps_a = state != 3;
    options.other_length = state == 4 ? 90 : 0;
    if (state == 5) options.kind = "diff_v2";
    CompareBench bench(options);
    State& s = bench.session.edit();
    if (state == 6) s.runs[1].data = nullptr, s.runs[1].status = RunStatus::Running, s.runs[1].doing = "waiting";
    for (std::size_t i = 0; i < std::size(kSizes); ++i) {
      bench.width = kSizes[i].width;
      bench.height = kSizes[i].height;
      bench.scale = kSizes[i].scale;
      bench.dark = i % 2 == 0;
      for (const CompareMode mode :
           {CompareMode::SideBySide, CompareMode::Swipe, CompareMode::Flip, CompareMode::Difference}) {
        s.view.compare = {mode, i % 3 == 1, 0.3};
        s.view.selection.query = i % 2 == 0 ? std::optional<std::int64_t>(120) : std::nullopt;
        s.view.selection.key = i % 2 == 0 ? std::optional<std::int64_t>(60) : std::nullopt;
        s.view.map = {};
        if (i % 4 == 3) s.view.map.window = {100, 120, 90, 110};
        CATCH_INFO("state " << state << ", size " << kSizes[i].width << " × " << kSizes[i].height << " at "
                            << kSizes[i].scale << ", mode " << static_cast<int>(mode));
        check_clean(bench.draw_without_tiles());
        if (bench.painter->shows("the map is being made")) ++unmade;
        check_clean(bench.settle());
      }
    }
  }
  CATCH_CHECK(unmade > 100);
}

CATCH_TEST_CASE("compare panel: what is drawn under a point is the cell of A, of B, and B − A", "[compare]") {
  CompareBench bench;
  std::mt19937 random(2);
  std::uniform_real_distribution<float> unit(0.01f, 0.99f);
  const auto check = [&](const MapLayout& layout,
                         const std::function<double(Vec2, std::int64_t, std::int64_t)>& wanted) {
    CATCH_REQUIRE_FALSE(layout.map.empty());
    int seen = 0;
    for (int i = 0; i < 300; ++i) {
      const Vec2 at{layout.map.x0 + unit(random) * layout.map.width(),
                    layout.map.y0 + unit(random) * layout.map.height()};
      const double query = layout.query_at(at.y), key = layout.key_at(at.x);
      if (std::abs(query - std::round(query)) < 0.06 || std::abs(key - std::round(key)) < 0.06) continue;
      const auto drawn = drawn_at(*bench.painter, at);
      CATCH_REQUIRE(drawn);
      const double value = wanted(at, static_cast<std::int64_t>(query), static_cast<std::int64_t>(key));
      CATCH_INFO("query " << query << ", key " << key << ": " << *drawn << " for " << value);
      CATCH_REQUIRE(near_enough(static_cast<double>(*drawn), value));
      ++seen;
    }
    CATCH_CHECK(seen > 100);
  };
  const auto of = [&](std::size_t run) {
    return [&bench, run](Vec2, std::int64_t query, std::int64_t key) { return net(bench.maps(run), query, key); };
  };
  const auto difference = [&](Vec2, std::int64_t query, std::int64_t key) {
    return net(bench.maps(1), query, key) - net(bench.maps(0), query, key);
  };
  State& state = bench.session.edit();
  bench.settle();
  const PairLayout side = layout_of(bench, false);
  CATCH_REQUIRE(side.large.exact());
  CATCH_REQUIRE(side.first.exact());
  check(side.first, of(0));
  check(side.second, of(1));
  check(side.large, difference);
  CATCH_CHECK(bench.painter->shows("exact cells"));

  state.view.map.window = {60, 90, 30, 60};
  state.view.compare.mode = CompareMode::Difference;
  bench.settle();
  check(layout_of(bench, true).large, difference);

  state.view.map.window = {};
  state.view.compare = {CompareMode::Swipe, false, 0.25};
  bench.settle();
  const PairLayout single = layout_of(bench, true);
  const float divider = single.large.map.x0 + 0.25f * single.large.map.width();
  check(single.large, [&](Vec2 at, std::int64_t query, std::int64_t key) {
    return net(bench.maps(at.x < divider ? 0 : 1), query, key);
  });

  state.view.compare = {CompareMode::Flip, false, 0.5};
  bench.settle();
  check(single.large, of(0));
  state.view.compare.flipped = true;
  bench.settle();
  check(single.large, of(1));
}

CATCH_TEST_CASE("compare panel: a coarse difference is the difference of means, and says so", "[compare]") {
  PairOptions options;
  options.length = 700;
  CompareBench bench(options);
  bench.settle();
  const PairLayout layout = layout_of(bench, false);
  CATCH_REQUIRE_FALSE(layout.large.exact());
  CATCH_CHECK(bench.painter->shows("mean per texel, exact"));
  CATCH_CHECK(bench.facts.find("map.readout")->find("mean of each") != std::string::npos);
  std::mt19937 random(2);
  std::uniform_real_distribution<double> unit(0.02, 0.98);
  const std::int64_t texel = 2;
  for (int i = 0; i < 100; ++i) {
    const auto query = static_cast<std::int64_t>(unit(random) * 700) / texel * texel,
               key = static_cast<std::int64_t>(unit(random) * 700) / texel * texel;
    const Vec2 at{layout.large.key_pixel(static_cast<double>(key) + 1.0),
                  layout.large.query_pixel(static_cast<double>(query) + 1.0)};
    double sum = 0.0, seen = 0.0;
    for (std::int64_t q = query; q < query + texel; ++q)
      for (std::int64_t k = key; k < key + texel; ++k) {
        const double d = net(bench.maps(1), q, k) - net(bench.maps(0), q, k);
        if (!std::isnan(d)) sum += d, seen += 1.0;
      }
    const auto drawn = drawn_at(*bench.painter, at);
    CATCH_INFO("query " << query << ", key " << key);
    if (!drawn) {  // no tile lies beyond the diagonal
      CATCH_CHECK(seen == 0.0);
      continue;
    }
    CATCH_CHECK(near_enough(static_cast<double>(*drawn), seen > 0.0 ? sum / seen : NAN));
  }
}

CATCH_TEST_CASE("compare panel: heads by distance, sinks and ρ, and loss and heads over the threshold", "[compare]") {
  CompareBench bench;
  bench.settle();
  const RunSnapshot &a = *bench.session.state().runs[0].data, &b = *bench.session.state().runs[1].data;
  const auto differences = bench.memory->jobs()->results();
  CATCH_CHECK(differences->heads.size() == 9);
  CATCH_CHECK(differences->without_maps == 6);
  const auto by_distance = compared_heads(a, b, *differences, ComparedSort::Distance);
  CATCH_REQUIRE(by_distance.size() == 15);
  for (std::size_t i = 1; i < 9; ++i) CATCH_CHECK(by_distance[i - 1].distance >= by_distance[i].distance);
  for (std::size_t i = 9; i < 15; ++i) CATCH_CHECK(std::isnan(by_distance[i].distance));
  for (const ComparedHead& head : by_distance) {
    CATCH_CHECK(head.sink_a == a.at("sink_score", head.head.layer, head.head.head));
    CATCH_CHECK(head.sink_b == b.at("sink_score", head.head.layer, head.head.head));
    CATCH_CHECK(std::abs(head.rho - (b.at("context_rms_relative_mean", head.head.layer, head.head.head) -
                                     a.at("context_rms_relative_mean", head.head.layer, head.head.head))) < 1e-12);
  }
  const auto by_sink = compared_heads(a, b, *differences, ComparedSort::SinkB);
  for (std::size_t i = 1; i < by_sink.size(); ++i) CATCH_CHECK(by_sink[i - 1].sink_b >= by_sink[i].sink_b);
  std::size_t over = 0;
  for (const ComparedHead& head : by_sink) over += head.sink_a > 0.3 ? 1 : 0;
  CATCH_CHECK(heads_over(a, 0.3) == over);
  CATCH_CHECK(bench.fact("compare.rows") == 15.0);
  CATCH_CHECK(std::abs(bench.fact("compare.loss_delta") - 0.37) < 1e-9);
  CATCH_CHECK(bench.painter->shows("+0.3700"));
  CATCH_CHECK(std::abs(bench.fact("compare.distance") - differences->find(1, 2)->distance.mean) < 1e-9);
  CATCH_CHECK(bench.painter->shows(fixed_text(by_distance[0].distance, 3)));

  // A click on a title sorts by it, a click on a row selects its head.
  const auto first_row = [&] {
    std::string top;
    float y = 1e9f;
    for (const RecordedText* text : bench.painter->find(".H"))
      if (text->baseline.x > bench.side.x0 && text->baseline.y < y) y = text->baseline.y, top = text->text;
    return top;
  };
  CATCH_CHECK(first_row() == head_text(by_distance[0].head));
  const auto asked = bench.click(bench.at("α₀ B"));
  CATCH_CHECK(asked == std::vector<std::string>{"compare.sort sink_b"});
  bench.session.run_line("compare.sort sink_b");
  bench.draw();
  CATCH_CHECK(first_row() == head_text(by_sink[0].head));
  const auto row = bench.painter->find(head_text(by_sink[1].head));
  CATCH_REQUIRE_FALSE(row.empty());
  const auto lines = bench.click(row.back()->box.centre);
  CATCH_CHECK(std::ranges::find(lines, "select " + head_text(by_sink[1].head)) != lines.end());
}

CATCH_TEST_CASE("compare panel: divider, zoom and pin ask for commands that succeed, and hover is linked",
                "[compare]") {
  CompareBench bench;
  State& state = bench.session.edit();
  state.view.compare = {CompareMode::Swipe, false, 0.5};
  bench.settle();
  Rect map = layout_of(bench, true).large.map;
  auto lines = bench.drag({map.centre_x(), map.y0 + 30}, {map.x0 + 0.8f * map.width(), map.y0 + 30});
  CATCH_REQUIRE_FALSE(lines.empty());
  CATCH_CHECK(lines.back().starts_with("compare.divider 0.8"));
  CATCH_REQUIRE(bench.session.execute(lines.back()).has_value());
  CATCH_CHECK(std::abs(state.view.compare.divider - 0.8) < 0.01);

  state.view.compare.mode = CompareMode::SideBySide;
  bench.settle();
  const PairLayout layout = layout_of(bench, false);
  const Vec2 at{layout.first.map.x0 + 0.3f * layout.first.map.width(),
                layout.first.map.y0 + 0.7f * layout.first.map.height()};
  lines = bench.click(at);
  const auto cell = layout.first.cell_under(at);
  CATCH_REQUIRE(cell);
  CATCH_REQUIRE_FALSE(lines.empty());
  CATCH_CHECK(lines.back() == "pin " + std::to_string(cell->query) + " " + std::to_string(cell->key));
  CATCH_CHECK(bench.hover.query == cell->query);
  CATCH_CHECK(std::abs(bench.fact("compare.difference") - (net(bench.maps(1), cell->query, cell->key) -
                                                           net(bench.maps(0), cell->query, cell->key))) < 1e-6);
  bench.all_lines.clear();
  bench.input.wheel = {0, 3};
  bench.draw();
  CATCH_REQUIRE_FALSE(bench.all_lines.empty());
  CATCH_CHECK(bench.all_lines.back().starts_with("zoom "));
  CATCH_REQUIRE(bench.session.execute(bench.all_lines.back()).has_value());
  const MapWindow& window = state.view.map.window;
  // The place under the pointer stays in all maps.
  const PairLayout zoomed = layout_of(bench, false);
  CATCH_CHECK(std::abs(zoomed.first.query_at(at.y) - layout.first.query_at(at.y)) < 1.0);
  CATCH_CHECK(window.query1 - window.query0 < 150.0);
  CATCH_CHECK(zoomed.large.window == zoomed.first.window);
}

CATCH_TEST_CASE("compare panel: X swaps the runs, and shows the other one while it is held when they are flipped",
                "[compare]") {
  CompareBench bench;
  State& state = bench.session.edit();
  const auto frame = [&](std::vector<KeyPress> down, std::vector<KeyPress> up) {
    const CompareBench::Lookup lookup(bench.session);
    RecordingPainter painter(bench.measure, {0, 0, 1440, 900}, 1.0f);
    bench.input.keys = std::move(down);
    bench.input.released_keys = std::move(up);
    Ui ui(painter, dark_theme(), bench.input, *bench.ui_memory, lookup, bench.clipboard);
    PanelContext context{ui,          state,       *bench.tiles, bench.session.commands(),
                         bench.hover, bench.facts, nullptr,      bench.memory.get()};
    run_keys(context);
    (void)ui.finish();
    for (const std::string& line : ui.take_commands()) CATCH_REQUIRE(bench.session.execute(line).has_value());
  };
  const KeyPress x{letter_key('X'), {}};
  frame({x}, {});
  CATCH_CHECK(state.view.run == 2);
  frame({}, {x});
  CATCH_CHECK(state.view.run == 2);
  state.view.compare.mode = CompareMode::Flip;
  frame({x}, {});
  CATCH_CHECK(state.view.compare.flipped);
  frame({x}, {});  // the key repeats
  CATCH_CHECK(state.view.compare.flipped);
  CATCH_CHECK(state.view.run == 2);
  frame({}, {x});
  CATCH_CHECK_FALSE(state.view.compare.flipped);
}

CATCH_TEST_CASE("compare panel: states without maps, with other lengths, without a second run say why", "[compare]") {
  PairOptions options;
  options.maps_b = false;
  CompareBench bench(options);
  bench.session.edit().runs[1].model = -1;
  bench.settle();
  CATCH_CHECK(bench.painter->shows("B − A needs the maps of both runs"));
  CATCH_CHECK(bench.painter->shows("The run file holds no maps"));
  CATCH_CHECK(bench.fact("compare.rows") == 15.0);

  options.maps_b = true;
  options.other_length = 90;
  bench.show(options);
  bench.settle();
  CATCH_CHECK(bench.painter->shows("No difference of maps"));
  CATCH_CHECK(bench.painter->shows("90 tokens"));

  bench.session.edit().view.other_run = -1;
  bench.draw();
  CATCH_CHECK(bench.painter->shows("There is no second run to compare with"));
  check_clean(*bench.painter);

  options.other_length = 0;
  bench.show(options);
  bench.session.edit().view.selection.head.reset();
  bench.draw();
  CATCH_CHECK(bench.painter->shows("No head is selected"));
  check_clean(*bench.painter);
}

CATCH_TEST_CASE("compare geometry: parts lie inside the panel, maps apart from each other", "[compare]") {
  for (const bool what_if : {true, false})
    for (const bool single : {true, false})
      for (float w = 180.0f; w < 2400.0f; w *= 1.17f)
        for (float h = 120.0f; h < 1400.0f; h *= 1.21f)
          for (const double scale : {1.0, 1.5, 2.0}) {
            PairLayoutRequest request;
            request.body = {50.0f, 80.0f, 50.0f + w, 80.0f + h};
            request.pixel_scale = scale;
            request.length = 512;
            request.single = single;
            request.index_width = 22.0f;
            const PairLayout layout = what_if ? lay_out_what_if(request) : lay_out_compare(request);
            const Rect outer = request.body.inset(-0.6f);
            CATCH_INFO((what_if ? "what-if " : "compare ") << w << " × " << h << (single ? " single" : ""));
            std::vector<Rect> parts;
            for (const MapLayout* map : {&layout.first, &layout.second, &layout.large})
              if (!map->map.empty()) parts.push_back(map->map);
            for (const Rect& part : {layout.bar, layout.first_row, layout.second_row, layout.plot, layout.second_plot,
                                     layout.row, layout.row_difference, layout.row_numbers, layout.column,
                                     layout.column_difference, layout.column_numbers})
              if (!part.empty()) parts.push_back(part);
            CATCH_REQUIRE_FALSE(parts.empty());
            const bool tiny = h < 180.0f || w < 220.0f;
            for (std::size_t i = 0; i < parts.size(); ++i) {
              if (!tiny) {
                CATCH_REQUIRE(parts[i].x0 >= outer.x0);
                CATCH_REQUIRE(parts[i].x1 <= outer.x1);
                CATCH_REQUIRE(parts[i].y1 <= outer.y1);
              }
              for (std::size_t j = 0; j < i; ++j)
                CATCH_REQUIRE_FALSE(parts[i].inset(0.2f).overlaps(parts[j].inset(0.2f)));
            }
          }
}

CATCH_TEST_CASE("compare geometry: a band is kept free for captions where one can stand", "[compare]") {
  const MapLayout whole = linked_map({100, 100, 500, 500}, {}, 512, 1.0);
  const Rect band = caption_band(whole, true);
  CATCH_CHECK(band.x0 == whole.map.x0);
  CATCH_CHECK(band.x1 == whole.map.x1);
  CATCH_CHECK(band.y0 == whole.map.y0);
  for (std::size_t lines = 1; lines <= kCaptionLines; ++lines) {
    const Rect corner = masked_corner(whole, true, 120.0f, kCaptionLine * static_cast<float>(lines));
    CATCH_REQUIRE_FALSE(corner.empty());
    CATCH_CHECK(corner.y1 + 3.0f <= band.y1);
  }
  CATCH_CHECK(caption_band(whole, false).empty());  // every cell is drawn
  // Far below the diagonal the corner shows cells as well.
  CATCH_CHECK(caption_band(linked_map({100, 100, 500, 500}, {400, 500, 0, 100}, 512, 1.0), true).empty());
  CATCH_CHECK(caption_band(linked_map({100, 100, 500, 110}, {}, 512, 1.0), true).empty());
}

CATCH_TEST_CASE("compare geometry: a linked zoom keeps its shape and the place under the pointer", "[compare]") {
  MapLayout layout = linked_map({100, 100, 500, 500}, {}, 512, 1.0);
  CATCH_CHECK(layout.map.width() <= 400.0f);
  for (const double notches : {1.0, 4.0, 20.0, 60.0}) {
    const Vec2 at{250, 380};
    const MapWindow window = linked_zoom(layout, at, notches);
    const MapLayout to = linked_map({100, 100, 500, 500}, window, 512, 1.0);
    CATCH_INFO(notches);
    CATCH_CHECK(std::abs((window.query1 - window.query0) - (window.key1 - window.key0)) < 1e-9);
    CATCH_CHECK(window.query1 - window.query0 >= 8.0 - 1e-9);
    const double off =
        std::max(std::abs(to.query_at(at.y) - layout.query_at(at.y)), std::abs(to.key_at(at.x) - layout.key_at(at.x)));
    CATCH_CHECK(off < 0.1 * (window.query1 - window.query0));
    CATCH_CHECK(linked_zoom(to, at, -80.0).whole());
  }
}

CATCH_TEST_CASE("compare geometry: a map of fewer queries than keys is a rectangle of square cells", "[compare]") {
  const MapExtent extent{27, 11, 27};
  const Rect area{100, 100, 500, 500};
  const MapLayout layout = linked_map(area, {}, extent, 1.0);
  CATCH_CHECK(layout.row_count() == 11);
  CATCH_CHECK(layout.key_count() == 27);
  CATCH_CHECK(layout.whole());
  CATCH_CHECK(layout.cell_x == layout.cell_y);
  CATCH_CHECK(std::abs(layout.map.width() - 27.0f * layout.cell_x) < 1.0f);
  CATCH_CHECK(std::abs(layout.map.height() - 11.0f * layout.cell_y) < 1.0f);
  const Vec2 at{250, 180};
  for (const double notches : {1.0, 3.0, 30.0}) {
    CATCH_INFO(notches);
    const MapWindow window = linked_zoom(layout, at, notches);
    CATCH_CHECK(window.query1 <= 11.0 + 1e-9);
    CATCH_CHECK(window.key1 <= 27.0 + 1e-9);
    CATCH_CHECK(window.query1 - window.query0 >= 8.0 - 1e-9);
    CATCH_CHECK(window.key1 - window.key0 >= 8.0 - 1e-9);
    CATCH_CHECK(linked_zoom(linked_map(area, window, extent, 1.0), at, -80.0).whole());
  }
}

}  // namespace headroom::test
