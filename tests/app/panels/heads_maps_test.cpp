// The thumbnails of all heads: order, numbers, the card, the keys, and what it says where there are no maps.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/chrome/status_bar.h"
#include "app/panels/head/head_panel.h"
#include "app/panels/heads/head_card.h"
#include "app/panels/heads/heads_panel.h"
#include "app/panels/heads/thumbnails.h"
#include "app/session/enum_words.h"
#include "core/run/head_values.h"
#include "tests/support/heads_bench.h"

using namespace headroom;
using test::HeadsBench;
using test::holds;

namespace {

const Rect kWide{0.0f, 69.0f, 1440.0f, 876.0f}, kNarrow{0.0f, 69.0f, 300.0f, 770.0f};

test::SnapshotOptions options_of(std::int64_t layers, std::int64_t heads, const char* kind = "softmax",
                                 std::int64_t finished = -1) {
  test::SnapshotOptions options;
  options.kind = kind, options.layers = layers, options.heads = heads, options.finished = finished;
  return options;
}

// With the thumbnails shown.
struct MapsBench : HeadsBench {
  explicit MapsBench(const test::SnapshotOptions& options) : HeadsBench(options, {options.layers > 1 ? 1 : 0, 0}) {
    state.view.heads.view = HeadsView::Maps;
  }
};

// The panel, and the card above it.
void draw_with_card(PanelContext& context, Rect frame) {
  if (context.run_cache) context.run_cache->head_card().reset();
  draw_heads_panel(context, frame);
  draw_head_card(context, {0.0f, 0.0f, 1440.0f, 900.0f});
}

std::string text_fact(const HeadsBench& bench, const char* name) {
  const std::string* value = bench.facts.find(name);
  return value ? *value : "";
}

}  // namespace

CATCH_TEST_CASE("maps of all heads: what is drawn is one picture, equal while nothing changes") {
  MapsBench bench(options_of(30, 9));
  bench.draw(draw_heads_panel, kWide);
  CATCH_REQUIRE(bench.painter->maps().size() == 1);
  CATCH_CHECK(bench.fact("maps.there") == 270);
  CATCH_CHECK(bench.fact("maps.across") == 1);
  const RecordedMap first = bench.painter->maps().front();
  CATCH_CHECK(first.shading.scale.kind == ScaleKind::Log10);
  // The decade below uniform attention over 160 tokens, 1/160.
  CATCH_CHECK(first.shading.scale.low == 1e-3f);
  CATCH_CHECK(first.shading.scale.high == 1.0f);
  bench.draw(draw_heads_panel, kWide);
  CATCH_CHECK(bench.painter->maps().front().image.generation == first.image.generation);
  CATCH_CHECK(bench.painter->maps().front().image.values == first.image.values);
  // Another theme is other colours of the same values.
  bench.dark = false;
  bench.draw(draw_heads_panel, kWide);
  CATCH_CHECK(bench.painter->maps().front().image.generation == first.image.generation);
  CATCH_CHECK(bench.painter->maps().front().shading.scale.map != first.shading.scale.map);
  bench.state.view.heads.maps_size = 24;
  bench.draw(draw_heads_panel, kWide);
  CATCH_CHECK(bench.painter->maps().front().image.generation != first.image.generation);
}

CATCH_TEST_CASE("maps of all heads: by value they stand in the table's order, with the numbers of the table") {
  MapsBench bench(options_of(30, 9));
  const RunSnapshot& run = *bench.state.runs.front().data;
  bench.state.view.heads.maps_by_value = true;
  for (const char* quantity : {"sink_score", "induction_score", "logit_max"}) {
    bench.state.view.heads.maps_number = quantity;
    bench.draw(draw_heads_panel, kWide);
    const std::vector<std::size_t> order = make_head_table(run, "", quantity, true).rows;
    CATCH_REQUIRE(order.size() == 270);
    CATCH_CHECK(text_fact(bench, "maps.first") == head_text(head_of_row(run, order.front())));
    // Names below the thumbnails come in reading order.
    std::vector<std::pair<std::pair<float, float>, std::string>> names;
    for (const RecordedText& text : bench.painter->texts())
      if (text.text.size() >= 5 && text.text[0] == 'L' && text.text.find(".H") != std::string::npos &&
          text.style.size == 10.0f)
        names.push_back({{text.baseline.y, text.baseline.x}, text.text});
    std::ranges::sort(names);
    CATCH_REQUIRE(names.size() == 270);
    for (std::size_t i = 0; i < names.size(); ++i)
      CATCH_REQUIRE(names[i].second == head_text(head_of_row(run, order[i])));
  }
  CATCH_CHECK(corner_text(*find_quantity_info("sink_score"), 0.5432) == ".54");
  CATCH_CHECK(corner_text(*find_quantity_info("sink_score"), 0.0089) == ".009");
  CATCH_CHECK(corner_text(*find_quantity_info("sink_score"), 0.9991) == "1");
  CATCH_CHECK(corner_text(*find_quantity_info("sink_score"), 0.0001) == "0");
  CATCH_CHECK(corner_text(*find_quantity_info("logit_max"), 12.345) == "12.3");
}

CATCH_TEST_CASE(
    "maps of all heads: a click selects, arrows move as the eye does, Enter and a double click open the map") {
  MapsBench bench(options_of(30, 9));
  bench.draw(draw_heads_panel, kWide);
  const Rect target = bench.painter->maps().front().target;
  const float pitch = (target.width() + 2.0f) / 30.0f;
  const Vec2 place{target.x0 + 4.4f * pitch, target.y0 + 2.4f * pitch};
  CATCH_CHECK(bench.click(draw_heads_panel, kWide, place) == std::vector<std::string>{"select L4.H2"});
  CATCH_CHECK(bench.hover.head == HeadRef{4, 2});
  bench.state.view.selection.head = HeadRef{4, 2};
  for (const auto& [key, line] : {std::pair{Key::Right, "select L5.H2"},
                                  {Key::Left, "select L3.H2"},
                                  {Key::Down, "select L4.H3"},
                                  {Key::Up, "select L4.H1"}}) {
    bench.input.keys = {{key, {}, false}};
    bench.draw(draw_heads_panel, kWide);
    CATCH_CHECK(bench.lines == std::vector<std::string>{line});
  }
  bench.input.keys = {{Key::Space, {}, false}};
  bench.draw(draw_heads_panel, kWide);
  CATCH_CHECK(bench.lines == std::vector<std::string>{"heads.maps.card L4.H2"});
  bench.state.view.heads.maps_card = HeadRef{4, 2};
  bench.input.keys = {{Key::Space, {}, false}};
  bench.draw(draw_heads_panel, kWide);
  CATCH_CHECK(bench.lines == std::vector<std::string>{"heads.maps.card none"});
  bench.state.layout.maximised = "heads";
  bench.input.keys = {{Key::Enter, {}, false}};
  bench.draw(draw_heads_panel, kWide);
  CATCH_CHECK(bench.lines == std::vector<std::string>{"panel.maximise heads"});
}

CATCH_TEST_CASE("maps of all heads: the card shows the head panel's numbers beside the thumbnail, after a rest") {
  for (const char* kind : {"softmax", "diff_v2"}) {
    MapsBench bench(options_of(30, 9, kind));
    bench.draw(draw_with_card, kWide);
    CATCH_CHECK(bench.facts.find("card.head") == nullptr);
    const Rect target = bench.painter->maps().front().target;
    const float pitch = (target.width() + 2.0f) / 30.0f;
    bench.point({target.x0 + 3.4f * pitch, target.y0 + 2.4f * pitch});
    bench.draw(draw_with_card, kWide);  // the pointer's panel is known from here on
    bench.draw(draw_with_card, kWide);  // it rests
    bench.draw(draw_with_card, kWide);
    CATCH_REQUIRE(text_fact(bench, "card.head") == "L3.H2");
    CATCH_CHECK(bench.fact("card.keys") == 5);
    const RunSnapshot& run = *bench.state.runs.front().data;
    // The texts of the card are those that the head panel prints.
    bench.state.view.selection.head = HeadRef{3, 2};
    std::vector<std::string> on_card;
    for (const RecordedText& text : bench.painter->texts())
      if (text.layer > 0) on_card.push_back(text.text);
    bench.draw(draw_head_panel, {1100, 69, 1440, 876});
    for (const char* name : {"sink_score", "context_rms_relative_mean", "effective_keys_mean"}) {
      const auto ref = parse_quantity(name);
      const std::string number = number_text(*ref->info, head_value(run, *ref, 3, 2));
      CATCH_CAPTURE(kind, name, number);
      CATCH_CHECK(std::ranges::find(on_card, number) != on_card.end());
      // The head panel leaves the effective keys of two maps out where it is low.
      if (kind == std::string("softmax") || name != std::string("effective_keys_mean"))
        CATCH_CHECK(bench.painter->shows(number));
    }
    // The five keys with the largest shares, largest first.
    const auto received = run.layer(3)->row_values("keys/attention_received", 2).first(160);
    for (const CardKey& key : largest_keys(received, 5))
      CATCH_CHECK(std::ranges::find(on_card, std::to_string(key.key)) != on_card.end());
  }
}

CATCH_TEST_CASE(
    "maps of all heads: a card that is kept is of a head that is looked at, in plots, labels and status bar") {
  MapsBench bench(options_of(30, 9));
  bench.state.layout.maximised = "heads";
  const auto band_at = [&](float layer) {
    const Rect target = bench.painter->maps().front().target;
    const float pitch = (target.width() + 2.0f) / 30.0f, x = target.x0 + layer * pitch;
    return std::ranges::any_of(bench.painter->shapes(), [&](const RecordedShape& shape) {
      return shape.kind == RecordedShape::Kind::FillRect && std::abs(shape.bounds.x0 - x) < 1.0f &&
             std::abs(shape.bounds.width() - pitch + 2.0f) < 1.0f && shape.bounds.y0 > target.y1 &&
             shape.color == dark_theme().text.faded(0.07f);
    });
  };
  const auto draw = [](PanelContext& context, Rect frame) {
    draw_with_card(context, frame);
    draw_status_bar(context, {0.0f, 876.0f, 1440.0f, 900.0f});
  };
  bench.draw(draw, kWide);
  CATCH_CHECK_FALSE(band_at(3));
  CATCH_CHECK(bench.painter->shows("L1.H0"));  // no map is seen: the status bar is of the selected head
  bench.state.view.heads.maps_card = HeadRef{3, 2};
  bench.draw(draw, kWide);
  CATCH_CHECK(band_at(3));
  CATCH_REQUIRE(text_fact(bench, "maps.readout").find(" blocks, largest of each") != std::string::npos);
  CATCH_CHECK(bench.painter->shows(text_fact(bench, "maps.readout")));
  CATCH_CHECK(bench.painter->shows("of 270 heads"));
  bool strong = false;
  for (const RecordedText* text : bench.painter->find("3"))
    strong = strong || (text->text == "3" && text->style.face == Face::MonoSemibold);
  CATCH_CHECK(strong);
  // Dots are discs, and the card leaves the controls and the numbers of the layers free.
  const auto dots = std::ranges::count_if(bench.painter->shapes(), [](const RecordedShape& shape) {
    return shape.kind == RecordedShape::Kind::Disc && shape.width == 1.75f;
  });
  CATCH_CHECK(dots >= 540);
  // A line for each layer through each of the plots.
  const auto lines = std::ranges::count_if(bench.painter->shapes(), [&](const RecordedShape& shape) {
    return shape.kind == RecordedShape::Kind::Line && shape.color == dark_theme().grid &&
           shape.bounds.width() == 0.0f && shape.bounds.y0 > bench.painter->maps().front().target.y1;
  });
  CATCH_CHECK((lines > 0 && lines % 30 == 0));
  CATCH_CHECK(bench.painter->find("attention received").front()->baseline.y > bench.painter->maps().front().target.y0);
  CATCH_CHECK(bench.painter->find("Where it looks").front()->baseline.y > bench.painter->maps().front().target.y0);
  // By value: the place among all.
  bench.state.view.heads.maps_by_value = true;
  bench.draw(draw, kWide);
  CATCH_CHECK(text_fact(bench, "maps.rank").ends_with(" of 270"));
  CATCH_CHECK(bench.painter->shows(text_fact(bench, "maps.rank")));
}

CATCH_TEST_CASE("maps of all heads: no text of view or card is cut, outside or on another") {
  struct Model {
    const char* kind;
    std::int64_t layers, heads, finished;
  };
  for (const Model& model :
       {Model{"softmax", 30, 9, -1}, Model{"diff_v2", 1, 1, -1}, Model{"diff_v1", 4, 3, 2}, Model{"softmax", 2, 64, 0},
        Model{"softmax_sink", 61, 5, 12}, Model{"softmax", 128, 128, -1}}) {
    test::SnapshotOptions options;
    options.kind = model.kind, options.layers = model.layers, options.heads = model.heads;
    options.finished = model.finished, options.series = model.layers * model.heads < 1000;
    HeadsBench bench(options, {std::min<std::int64_t>(1, model.layers - 1), 0});
    bench.state.view.heads.view = HeadsView::Maps;
    bench.state.view.heads.maps_card = HeadRef{0, 0};
    for (const Rect frame : {kWide, kNarrow, Rect{0, 69, 190, 536}, Rect{0, 69, 620, 860}, Rect{10, 10, 80, 90},
                             Rect{0, 0, 120, 300}, Rect{0, 69, 1024, 616}})
      for (const auto& [dark, scale] : {std::pair{true, 1.0f}, {false, 0.75f}, {true, 2.0f}}) {
        if (model.heads == 128 && scale != 1.0f) continue;
        bench.dark = dark, bench.scale = scale;
        for (const bool by_value : {false, true})
          for (const MapKind kind : {MapKind::Net, MapKind::Second, MapKind::Logits}) {
            bench.state.view.heads.maps_by_value = by_value;
            bench.state.view.heads.maps_show = kind;
            holds(bench.draw(draw_with_card, frame),
                  std::string(model.kind) + " " + std::to_string(model.layers) + "×" + std::to_string(model.heads) +
                      (by_value ? " by value " : " by layer ") + word_of(kind) + " " + std::to_string(frame.width()) +
                      "×" + std::to_string(frame.height()));
          }
      }
  }
}

CATCH_TEST_CASE("maps of all heads: why there is none is said") {
  MapsBench running(options_of(12, 4, "softmax", 5));
  running.draw(draw_heads_panel, kWide);
  CATCH_CHECK(running.fact("maps.there") == 20);
  CATCH_CHECK(running.painter->shows("not yet"));
  CATCH_CHECK(running.painter->shows("5 of 12 layers so far"));
  const std::vector<float>& values = *running.painter->maps().front().image.values;
  CATCH_CHECK(std::ranges::any_of(values, [](float value) { return std::isinf(value); }));

  test::SnapshotOptions options;
  options.layers = 12, options.heads = 4, options.pool_blocks = 0;
  HeadsBench file(options);
  file.state.view.heads.view = HeadsView::Maps;
  file.draw(draw_heads_panel, kWide);
  CATCH_CHECK(file.fact("maps.there") == 0);
  CATCH_CHECK(file.painter->shows("analyze --maps 64"));

  MapsBench second(options_of(12, 4));
  second.state.view.heads.maps_show = MapKind::Second;
  second.draw(draw_heads_panel, kWide);
  CATCH_CHECK(second.painter->shows("no second map"));
}
