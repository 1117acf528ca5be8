// What the map panel shows where there is no map, half a map or an unusual one.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_layout.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/map/where_panel.h"
#include "tests/app/panels/map_bench.h"

namespace headroom::test {
namespace {

void check_clean(const RecordingPainter& painter) {
  for (const std::string& line : painter.violations()) CATCH_CHECK(line == "");
}

}  // namespace

CATCH_TEST_CASE("map panel: nothing open, nothing selected, not computed, not kept, and what can be done", "[map]") {
  MapBench bench;
  State& state = bench.session.edit();
  const auto shows = [&](const std::string& text) {
    for (const Rect& frame : {Rect{301, 69, 1099, 774}, Rect{0, 0, 300, 200}}) {
      bench.frame = frame;
      bench.draw();
      check_clean(*bench.painter);
    }
    bench.frame = {301, 69, 1099, 774};
    bench.draw();
    CATCH_INFO(text);
    CATCH_CHECK(bench.painter->shows(text));
  };
  state.view.selection = {};
  shows("No head is selected");
  state.view.selection.head = HeadRef{1, 0};
  state.runs[0].status = RunStatus::Running;
  state.runs[0].doing = "layer 1 of 2";
  shows("Layer 1 is not computed yet");
  shows("The run is at layer 1 of 2.");
  state.runs[0].doing = "waiting";
  shows("The run has not begun yet.");
  state.runs[0].status = RunStatus::Cancelled;
  shows("Layer 1 was not computed");
  shows("The run was cancelled before it.");
  state.view.selection.head = HeadRef{0, 1};
  shows("L0.H1 was not measured");

  MadeRun made;
  made.keep_maps = false;
  bench.show(made, {0, 0});
  shows("The run file holds no maps");
  state.runs[0].model = 3;
  shows("The maps of layer 0 were not kept");
  shows("Compute layer 0 again");
  CATCH_CHECK(map_subject(state).command == "layer.recompute 0");
  state.runs.clear();
  shows("Nothing is open");
  state.models.push_back({});
  state.models.back().name = "demo.gguf";
  state.models.back().opening = true;
  shows("Opening demo.gguf");
  state.models.back().opening = false;
  shows("Nothing has run yet");
  state.runs.push_back({});
  state.view.run = state.runs.back().id;
  state.runs.back().status = RunStatus::Waiting;
  shows("Nothing has run yet");
  CATCH_CHECK(map_subject(state).command == "run");
}

CATCH_TEST_CASE("map panel: a run file's pooled maps are shown and named", "[map]") {
  MadeRun made;
  made.keep_maps = false;
  made.maps.length = 300;
  made.pooled = 20;
  MapBench bench(made);
  bench.move({600, 600});
  bench.draw();
  bench.draw();
  check_clean(*bench.painter);
  CATCH_CHECK(bench.painter->shows("15 × 15 tokens a cell"));
  CATCH_REQUIRE_FALSE(bench.painter->maps().empty());
  const RecordedMap& map = bench.painter->maps().front();
  CATCH_CHECK(map.image.width == 20);
  CATCH_CHECK(map.source == Rect{0, 0, 20, 20});
  CATCH_REQUIRE(bench.hover.query);
  const std::int64_t cell = *bench.hover.query / 15 * 20 + *bench.hover.key / 15;
  CATCH_CHECK(std::abs(bench.fact("map.value") - 1.0 / static_cast<double>(1 + cell)) < 1e-6);
  // The largest magnitude of a net map keeps its sign; files that have none show the magnitude.
  bench.session.edit().view.selection.head = HeadRef{0, 2};
  const MapSubject pair = map_subject(bench.session.state());
  CATCH_REQUIRE(pair.pooled.size() == 400);
  CATCH_CHECK(pair.pooled[21] == -1.0f / 22.0f);
  CATCH_CHECK(pair.pooled[20] == 1.0f / 21.0f);
  CATCH_CHECK(pair.is_signed);
}

CATCH_TEST_CASE("map panel: one token is one cell", "[map]") {
  MadeRun made;
  made.maps.length = 1;
  MapBench bench(made);
  bench.settle();
  check_clean(*bench.painter);
  CATCH_CHECK(bench.fact("map.cells_visible") == 1.0);
  CATCH_CHECK(bench.painter->shows("1.0"));
  bench.run("pin 0 0");
  bench.settle();
  CATCH_CHECK(std::abs(bench.fact("map.row_sum") - 1.0) < 1e-6);
  check_clean(*bench.painter);
}

CATCH_TEST_CASE("map panel: rows that are not finite are hatched and counted", "[map]") {
  MadeRun made;
  made.maps.length = 120;
  made.broken_rows = true;
  MapBench bench(made);
  bench.settle();
  CATCH_CHECK(bench.fact("map.non_finite_rows") == 20.0);
  CATCH_CHECK(bench.painter->shows("20 rows in view not finite"));
  std::size_t hatched = 0;
  for (const RecordedMap& map : bench.painter->maps())
    for (const float v : *map.image.values) hatched += std::isinf(v);
  std::size_t visible = 0;
  for (std::size_t i = 40; i < 60; ++i) visible += i + 1;
  CATCH_CHECK(hatched == visible);
  check_clean(*bench.painter);
}

CATCH_TEST_CASE("map panel: the swipe shows the first map left of the divider and the second right of it", "[map]") {
  MadeRun made;
  made.maps.length = 200;
  MapBench bench(made, {0, 2});
  bench.frame = {29, 69, 1067, 774};
  bench.run("swipe on");
  bench.run("swipe 0.5");
  bench.run("pin 150 20");
  const RecordingPainter& painter = bench.settle();
  MapLayoutRequest request;
  request.body = bench.body();
  request.length = 200;
  request.side = MapSide::Swipe;
  request.three_rows = true;
  const MapLayout layout = lay_out_map(request);
  CATCH_REQUIRE_FALSE(layout.side_map.empty());
  int seen = 0;
  for (const RecordedMap& map : painter.maps()) {
    if (map.target.x0 < layout.side_map.x0 - 1 || map.target.x0 > layout.side_map.x1) continue;
    const bool left = map.clip.x1 < layout.side_map.centre_x() + 1;
    const float u = map.source.x0 + 20.5f, v = map.source.y0 + 150.5f;
    const float value = (*map.image.values)[static_cast<std::size_t>(static_cast<std::int32_t>(v) * map.image.width +
                                                                     static_cast<std::int32_t>(u))];
    const auto cell = bench.source().cell(2, 150, 20);
    CATCH_CHECK(std::abs(static_cast<double>(value) - (left ? cell.first : cell.second)) < 1e-6);
    CATCH_CHECK(map.shading.scale.kind == ScaleKind::Log10);
    ++seen;
  }
  CATCH_CHECK(seen == 2);
  CATCH_CHECK(painter.shows("one scale for both"));
  CATCH_CHECK(painter.shows("per token"));
  CATCH_CHECK(painter.shows("λ · a²"));
  CATCH_CHECK(bench.fact("map.lambda") == bench.source().find(2)->lambda[150]);
  check_clean(painter);

  // The handle is dragged.
  const float x = layout.side_map.centre_x();
  bench.move({x, layout.side_map.y0 + 119});
  bench.draw();
  bench.press(kLeftButton);
  bench.move({x + 60, layout.side_map.y0 + 119});
  bench.draw();
  bench.draw();
  bench.release(kLeftButton);
  CATCH_CHECK(std::abs(bench.session.state().view.map.divider -
                       (0.5 + 60.0 / static_cast<double>(layout.side_map.width()))) < 0.01);
}

CATCH_TEST_CASE("map panel: maps that the head lacks are off, with the reason", "[map]") {
  MapBench bench;
  const MapSubject softmax = map_subject(bench.session.state());
  CATCH_CHECK(kind_disabled(softmax, MapKind::Net).empty());
  CATCH_CHECK(kind_disabled(softmax, MapKind::Second) == "this head has no second map");
  CATCH_CHECK_FALSE(kind_disabled(softmax, MapKind::First).empty());
  bench.session.edit().view.map.kind = MapKind::Second;
  CATCH_CHECK(map_subject(bench.session.state()).kind == MapKind::Net);
  bench.session.edit().view.selection.head = HeadRef{0, 2};
  const MapSubject pair = map_subject(bench.session.state());
  CATCH_CHECK(pair.kind == MapKind::Second);
  for (const MapKind kind : {MapKind::Net, MapKind::First, MapKind::Second, MapKind::ScaledSecond, MapKind::Logits})
    CATCH_CHECK(kind_disabled(pair, kind).empty());
  CATCH_CHECK(pair.value(100, 50) == bench.source().cell(2, 100, 50).second);
  bench.session.edit().view.map.kind = MapKind::Net;
  CATCH_CHECK(map_subject(bench.session.state()).is_signed);
}

CATCH_TEST_CASE("where you are: the place in a long map and its tiles, at many sizes", "[map]") {
  MadeRun made;
  made.maps.length = 2000;
  made.maps.head_dim = 4;
  MapBench bench(made);
  bench.run("zoom 500 1012 100 612");
  bench.settle();
  for (const Rect& frame : {Rect{1068, 69, 1440, 774}, Rect{762, 69, 1024, 536}, Rect{0, 0, 262, 300},
                            Rect{0, 0, 600, 1400}, Rect{0, 0, 200, 120}})
    for (const float scale : {1.0f, 1.5f}) {
      bench.scale = scale;
      bench.frame = frame;
      bench.draw(draw_where_panel);
      CATCH_INFO("width " << frame.width() << ", height " << frame.height());
      check_clean(*bench.painter);
    }
  bench.frame = {1068, 69, 1440, 774};
  bench.draw(draw_where_panel);
  CATCH_CHECK(bench.painter->shows("500 … 1 011") + bench.painter->shows("500 … 1\u202f011") +
                  bench.painter->shows("500 … 1\u2009011") + bench.painter->shows("500 … 1\u00a0011") ==
              1);
  CATCH_CHECK(bench.painter->shows("16.0 MB in fp32") + bench.painter->shows("16 MB in fp32") == 1);
  CATCH_CHECK(bench.painter->shows("never stored"));
}

CATCH_TEST_CASE("map: key labels give hovered, pinned and key 0 first, then the most attended", "[map]") {
  MapBench bench;
  bench.run("pin 200 77");
  bench.settle();
  const auto find = [&](const std::string& text) { return bench.painter->find(text); };
  // Token 77 is "\x1b[31m" made visible or whatever the list gives; it is drawn in the accent colour.
  bool accent = false;
  for (const RecordedText& text : bench.painter->texts())
    accent = accent || (text.angle != 0.0f && text.style.color == dark_theme().accent);
  CATCH_CHECK(accent);
  CATCH_CHECK_FALSE(find("␣×19").empty());
}

}  // namespace headroom::test
