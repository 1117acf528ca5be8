// One map figure for every place where a map stands: what it draws of a part, and what it wants.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "app/panels/map/map_figure.h"
#include "app/panels/map/map_layout.h"
#include "app/panels/map/map_side.h"
#include "app/panels/map/map_subject.h"
#include "core/base/number_text.h"
#include "tests/app/panels/map_bench.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

MapLayout plain_layout(const MapSubject& subject, const MapWindow& window, Rect body) {
  MapLayoutRequest request;
  request.body = body;
  request.length = subject.length;
  request.window = window;
  return lay_out_map(request);
}

// Frames of a panel that draws `figure` alone until nothing is waited for.
template <typename Draw>
FigureProgress settle(MapBench& bench, const Draw& draw) {
  FigureProgress progress;
  for (int i = 0; i < 5000; ++i) {
    bench.draw([&](PanelContext& context, Rect frame) { progress = draw(context, frame); });
    if (i > 2 && progress.texels_pending == 0 && bench.tiles->statistics().waiting == 0) return progress;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CATCH_FAIL("tiles did not arrive");
  return progress;
}

}  // namespace

CATCH_TEST_CASE("map figure: a part of a map holds the cells and the whole numbers of that part alone", "[map]") {
  MapBench bench({}, {0, 2});
  const MapSubject subject = map_subject(bench.session.state());
  CATCH_REQUIRE(subject.differential);
  const MapWindow window{40, 58, 24, 42};
  const MapRange range = swipe_range(subject, bench.session.state().view.map, dark_theme());
  for (const MapKind kind : {MapKind::First, MapKind::Second}) {
    MapSubject shown = subject;
    shown.kind = kind;
    shown.is_signed = false;
    Rect part;
    MapLayout layout;
    (void)settle(bench, [&](PanelContext& context, Rect frame) {
      layout = plain_layout(shown, window, frame);
      part = layout.map;
      const float middle = std::round(layout.map.centre_x() + 0.5f * layout.cell_x);  // through a column of cells
      (kind == MapKind::First ? part.x1 : part.x0) = middle;
      MapFigure figure{&shown, range.scale, kind == MapKind::First ? FigureSlot::First : FigureSlot::Second};
      figure.part = part;
      return draw_map_figure(context, layout, figure);
    });
    CATCH_REQUIRE(layout.numbers());
    std::int64_t printed = 0;
    for (const RecordedText& text : bench.painter->texts()) {
      const Vec2 middle{text.baseline.x + 0.5f * text.width, text.baseline.y - 3.6f};
      const auto cell = layout.cell_under(middle);
      CATCH_CAPTURE(text.text);
      CATCH_REQUIRE(cell);
      const Rect rect = layout.cell_rect(cell->query, cell->key);
      CATCH_CHECK(rect.x0 >= part.x0 - 0.5f);
      CATCH_CHECK(rect.x1 <= part.x1 + 0.5f);
      const MapSource::Cell exact = bench.source().cell(2, cell->query, cell->key);
      const auto texts = log_cell_texts(kind == MapKind::First ? exact.first : exact.second);
      CATCH_CHECK((text.text == texts[0] || text.text == texts[1]));
      ++printed;
    }
    CATCH_CHECK(printed > 50);
    for (const RecordedMap& map : bench.painter->maps())
      if (map.target.x0 >= layout.map.x0) CATCH_CHECK(map.clip.intersected(map.target).x1 <= part.x1 + 0.5f);
  }
}

CATCH_TEST_CASE("map figure: a small map of all asks for its one tile, and says that it is there", "[map]") {
  MadeRun made;
  made.maps.length = 700;
  MapBench bench(made);
  const MapSubject subject = map_subject(bench.session.state());
  bool there = true;
  const auto draw = [&](PanelContext& context, Rect) {
    there = draw_whole_map(context, {20, 20, 148, 148}, {&subject, {}});
    CATCH_REQUIRE(context.wanted.size() == 1);
    CATCH_CHECK(context.wanted[0].source == subject.source);
    CATCH_REQUIRE(context.wanted[0].keys.size() == 1);
    CATCH_CHECK(context.wanted[0].keys[0].level == top_level(700));
  };
  bench.draw(draw);
  CATCH_CHECK_FALSE(there);
  CATCH_CHECK(bench.painter->maps().empty());
  for (int i = 0; i < 5000 && !there; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    bench.draw(draw);
  }
  CATCH_REQUIRE(there);
  CATCH_REQUIRE(bench.painter->maps().size() == 1);
  const RecordedMap& map = bench.painter->maps()[0];
  CATCH_CHECK(map.target == Rect{20, 20, 148, 148});
  CATCH_CHECK(map.source.x1 == 700.0f / 4.0f);
}

// Random events found it cut where a map was narrow, or divided between two.
CATCH_TEST_CASE("map figure: that a map is being made is said inside of what is shown of it, or not at all", "[map]") {
  MadeRun made;
  made.maps.length = 700;
  std::size_t said = 0, not_said = 0;
  for (float width = 60.0f; width <= 420.0f; width += 7.0f)
    for (const bool divided : {false, true}) {
      MapBench bench(made);  // without any tile yet
      const MapSubject subject = map_subject(bench.session.state());
      Rect part;
      bench.draw([&](PanelContext& context, Rect) {
        const MapLayout layout = plain_layout(subject, {0, 700, 0, 700}, {20, 20, 20 + width, 20 + width});
        part = layout.map;
        if (divided) part.x0 = std::round(part.centre_x());
        MapFigure figure{&subject, {}};
        figure.part = part;
        (void)draw_map_figure(context, layout, figure);
      });
      CATCH_INFO(width << (divided ? ", divided" : ""));
      const auto text = std::ranges::find(bench.painter->texts(), "the map is being made", &RecordedText::text);
      if (text == bench.painter->texts().end()) {
        ++not_said;
        CATCH_CHECK(part.width() < 200.0f);
        continue;
      }
      ++said;
      const Rect box = text->box.bounds();
      CATCH_CHECK((box.x0 >= part.x0 && box.x1 <= part.x1 && box.y0 >= part.y0 && box.y1 <= part.y1));
    }
  CATCH_CHECK(said > 20);
  CATCH_CHECK(not_said > 20);
}

}  // namespace headroom::test
