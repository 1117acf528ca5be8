#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/heads/columns_panel.h"
#include "app/panels/heads/heads_layout.h"
#include "app/panels/heads/heads_panel.h"
#include "app/panels/model/model_panel.h"
#include "app/panels/parts/head_parts.h"
#include "app/plot/quantiles.h"
#include "core/base/number_text.h"
#include "core/run/head_values.h"
#include "tests/support/heads_bench.h"

using namespace headroom;
using test::HeadsBench;
using test::holds;

namespace {

const Rect kFrame{0.0f, 70.0f, 300.0f, 770.0f};

void each_look(const std::function<void(bool dark, float scale)>& look) {
  for (const bool dark : {true, false})
    for (const float scale : {0.75f, 1.0f, 2.0f}) look(dark, scale);
}

}  // namespace

CATCH_TEST_CASE("no text of the heads' views is cut, outside or on another, at any size, model and theme") {
  struct Model {
    const char* kind;
    std::int64_t layers, heads, finished;
  };
  for (const Model& model :
       {Model{"softmax", 30, 9, -1}, Model{"diff_v2", 1, 1, -1}, Model{"diff_v1", 4, 3, 2},
        Model{"gated", 128, 128, -1}, Model{"softmax", 2, 64, 0}, Model{"softmax_sink", 61, 5, 12}}) {
    test::SnapshotOptions options;
    options.kind = model.kind, options.layers = model.layers, options.heads = model.heads,
    options.finished = model.finished;
    options.series = false, options.nan_quantity = "value_drain";
    HeadsBench bench(options, {std::min<std::int64_t>(1, model.layers - 1), 0});
    bench.state.runs.front().name = "a model with a name that is much longer than any panel could ever be wide";
    for (const Rect frame : {kFrame, Rect{0, 69, 190, 536}, Rect{0, 69, 620, 860}, Rect{0, 69, 1150, 860},
                             Rect{0, 69, 2560, 1400}, Rect{10, 10, 80, 90}, Rect{0, 0, 120, 300}})
      each_look([&](bool dark, float scale) {
        bench.dark = dark, bench.scale = scale;
        for (const HeadsView view : {HeadsView::Atlas, HeadsView::Scatter, HeadsView::Table}) {
          if (model.heads == 128 && (scale != 1.0f || !dark)) continue;
          bench.state.view.heads.view = view;
          for (const char* quantity : {"sink_score", "value_drain", "lambda_mean", "no_such_thing"}) {
            bench.state.view.heads.quantity = bench.state.view.heads.y = quantity;
            bench.state.view.heads.filter = std::string(quantity) == "no_such_thing" ? "sink_score >" : "";
            const std::string where = std::string(model.kind) + " " + std::to_string(model.layers) + "×" +
                                      std::to_string(model.heads) + " view " + std::to_string(static_cast<int>(view)) +
                                      " " + quantity + " " + std::to_string(frame.width()) + "×" +
                                      std::to_string(frame.height());
            holds(bench.draw(draw_heads_panel, frame), where);
            if (scale != 1.0f) break;
          }
        }
        bench.state.view.heads.quantity = "sink_score", bench.state.view.heads.y = "context_rms_relative_mean";
      });
  }
}

CATCH_TEST_CASE("the model and columns panels hold their texts too") {
  for (const char* kind : {"softmax", "diff_v2", "diff_v1"}) {
    test::SnapshotOptions options;
    options.kind = kind, options.layers = 12, options.heads = 4, options.series = false;
    HeadsBench bench(options);
    bench.state.view.heads.lasso = {{0, 1}, {3, 2}, {11, 3}, {99, 0}};
    for (const Rect frame :
         {Rect{621, 69, 1440, 870}, Rect{400, 69, 800, 560}, Rect{700, 69, 1024, 500}, Rect{0, 0, 140, 160}})
      each_look([&](bool dark, float scale) {
        bench.dark = dark, bench.scale = scale;
        holds(bench.draw(draw_model_panel, frame), std::string("model ") + kind);
        holds(bench.draw(draw_columns_panel, frame), std::string("columns ") + kind);
      });
    bench.state.view.heads.lasso.clear();
    holds(bench.draw(draw_model_panel, {621, 69, 1440, 870}), "no lasso");
    bench.state.runs.clear();
    holds(bench.draw(draw_model_panel, {621, 69, 1440, 870}), "no run");
    holds(bench.draw(draw_heads_panel, kFrame), "no run");
    holds(bench.draw(draw_columns_panel, {1150, 69, 1440, 870}), "no run");
  }
}

CATCH_TEST_CASE("the atlas shows the run's values, one cell per head, and counts those over the threshold") {
  test::SnapshotOptions options;
  options.layers = 6, options.heads = 5, options.finished = 4, options.series = false;
  HeadsBench bench(options);
  const RunSnapshot& run = *bench.state.runs.front().data;
  const RecordingPainter& painter = bench.draw(draw_heads_panel, kFrame);
  CATCH_REQUIRE(painter.maps().size() == 1);
  const RecordedMap& map = painter.maps().front();
  CATCH_REQUIRE(map.image.values->size() == 30);
  CATCH_CHECK(map.source == Rect{0, 0, 5, 4});  // unfinished layers are not part of it
  int over = 0;
  for (std::int64_t l = 0; l < 4; ++l)
    for (std::int64_t h = 0; h < 5; ++h) {
      CATCH_CHECK((*map.image.values)[static_cast<std::size_t>(l * 5 + h)] ==
                  static_cast<float>(run.at("sink_score", l, h)));
      over += run.at("sink_score", l, h) > 0.3 ? 1 : 0;
    }
  CATCH_CHECK(bench.fact("heads.count_over") == over);
  CATCH_CHECK(painter.shows(std::to_string(over) + " of 20 above"));
  CATCH_CHECK(painter.shows("not computed yet"));
  CATCH_CHECK(painter.shows("layers 4–5"));
  CATCH_CHECK(map.shading.scale.low == 0.0f);
  CATCH_CHECK(map.shading.scale.high == 1.0f);
  CATCH_CHECK(map.shading.nan == NanStyle::Hatched);

  // The same values are the same texture; other ones are not.
  const std::uint64_t generation = map.image.generation, id = map.image.id;
  CATCH_CHECK(bench.draw(draw_heads_panel, kFrame).maps().front().image.generation == generation);
  bench.state.view.heads.quantity = "value_drain";
  CATCH_CHECK(bench.draw(draw_heads_panel, kFrame).maps().front().image.generation != generation);
  CATCH_CHECK(bench.painter->maps().front().image.id == id);
}

CATCH_TEST_CASE("a click on a cell selects its head, another releases it, the pointer hovers it") {
  test::SnapshotOptions options;
  options.layers = 6, options.heads = 5, options.finished = 4, options.series = false;
  HeadsBench bench(options, {0, 0});
  bench.draw(draw_heads_panel, kFrame);
  const Rect grid = bench.painter->maps().front().target;
  const Vec2 cell{grid.x0 + 3.4f * grid.width() / 5.0f, grid.y0 + 2.5f * grid.height() / 4.0f};
  CATCH_CHECK(bench.click(draw_heads_panel, kFrame, cell) == std::vector<std::string>{"select L2.H3"});
  CATCH_CHECK(bench.hover.head == HeadRef{2, 3});
  bench.state.view.selection.head = HeadRef{2, 3};
  CATCH_CHECK(bench.click(draw_heads_panel, kFrame, cell) == std::vector<std::string>{"select none"});
  CATCH_CHECK(
      bench.click(draw_heads_panel, kFrame, {cell.x, grid.y1 + 0.5f * grid.height() / 4.0f}).empty());  // not computed

  // By value: the largest head of the layer comes first.
  bench.state.view.heads.by_value = true;
  const RunSnapshot& run = *bench.state.runs.front().data;
  std::int64_t largest = 0;
  for (std::int64_t h = 1; h < 5; ++h)
    if (run.at("sink_score", 1, h) > run.at("sink_score", 1, largest)) largest = h;
  CATCH_CHECK(bench.click(draw_heads_panel, kFrame, {grid.x0 + 4.0f, grid.y0 + 1.5f * grid.height() / 4.0f}) ==
              std::vector<std::string>{"select " + head_text({1, largest})});
}

CATCH_TEST_CASE("the threshold follows the pointer on the colour bar") {
  test::SnapshotOptions options;
  options.series = false;
  HeadsBench bench(options);
  bench.draw(draw_heads_panel, kFrame);
  const RecordedText& above = *bench.painter->find("above").front();
  const std::vector<std::string> lines =
      bench.drag(draw_heads_panel, kFrame, {{150.0f, above.baseline.y + 24.0f}, {230.0f, above.baseline.y + 24.0f}});
  CATCH_REQUIRE(lines.size() >= 2);
  double before = 0.0;
  for (const std::string& line : lines) {
    CATCH_REQUIRE(line.starts_with("heads.threshold "));
    const double value = std::stod(line.substr(16));
    CATCH_CHECK((value > 0.0 && value < 1.0 && value >= before));
    before = value;
  }
}

CATCH_TEST_CASE("cells, contour and thinned labels of the atlas") {
  const AtlasLayout layout = lay_out_atlas({0, 0, 276, 650}, 30, 9, 12.0f);
  CATCH_CHECK(layout.cell_width == std::floor(layout.cell_width));
  for (std::size_t row : {0u, 13u, 29u})
    for (std::size_t column : {0u, 8u})
      CATCH_CHECK(layout.at(layout.cell(row, column).centre()) == AtlasCell{row, column});
  CATCH_CHECK_FALSE(layout.at({layout.grid.x1 + 1.0f, layout.grid.y0}).has_value());
  for (const auto& [layers, heads] : {std::pair{1, 1}, {128, 128}, {1, 128}, {128, 1}}) {
    const AtlasLayout other =
        lay_out_atlas({0, 0, 276, 650}, static_cast<std::size_t>(layers), static_cast<std::size_t>(heads), 18.0f);
    CATCH_CHECK((other.grid.x1 <= 276.0f && other.grid.y1 <= other.bar.y0 && !other.grid.empty()));
  }
  CATCH_CHECK(lay_out_atlas({0, 0, 20, 20}, 30, 9, 12.0f).grid.empty());
  // Alone it is as wide as there is room, to a column.
  const AtlasLayout alone = lay_out_atlas({0, 0, 1400, 650}, 30, 9, 12.0f, true, /*alone=*/true);
  CATCH_CHECK(alone.grid.width() > 1400.0f - 24.0f - 50.0f - 9.0f);

  // One flagged cell in the middle: four edges of one cell; two beside each other: joined runs.
  AtlasLayout small;
  small.rows = small.columns = 3, small.cell_width = small.cell_height = 10.0f, small.grid = {0, 0, 30, 30};
  std::vector<std::uint8_t> flags(9, 0);
  CATCH_CHECK(contour(small, flags).empty());
  flags[4] = 1;
  CATCH_CHECK(contour(small, flags).size() == 4);
  flags[5] = 1;
  const std::vector<Edge> edges = contour(small, flags);
  CATCH_CHECK(edges.size() == 3);  // the right one lies on the rim
  float length = 0.0f;
  for (const Edge& edge : edges) length += std::abs(edge.to.x - edge.from.x) + std::abs(edge.to.y - edge.from.y);
  CATCH_CHECK(length == 50.0f);
  const std::vector<std::uint8_t> all(9, 1);
  CATCH_CHECK(contour(small, all).empty());

  CATCH_CHECK(thinned_positions(9, 22.0f, 12.0f).size() == 9);
  CATCH_CHECK(thinned_positions(30, 10.0f, 12.0f)[1] == 2);
  CATCH_CHECK(thinned_positions(128, 1.5f, 18.0f)[1] == 20);
  CATCH_CHECK(thinned_positions(0, 10.0f, 12.0f).empty());
}

CATCH_TEST_CASE("an atlas that is shown alone prints the number of each head in its cell") {
  HeadsBench bench;
  const Rect frame{0, 69, 1440, 875};
  holds(bench.draw(draw_heads_panel, frame), "beside others");
  const auto numbers = [&] {
    std::size_t found = 0;
    const RunSnapshot& run = *bench.state.data();
    const QuantityInfo& info = *find_quantity_info("sink_score");
    for (const std::int64_t layer : run.layers)
      for (const std::int64_t head : run.heads)
        for (const RecordedText* text : bench.painter->find(number_text(info, run.at("sink_score", layer, head))))
          if (text->style.size == 10.0f && text->style.face == Face::Mono) {
            ++found;
            break;
          }
    return found;
  };
  const std::size_t before = numbers();
  bench.state.layout.maximised = "heads";
  holds(bench.draw(draw_heads_panel, frame), "alone");
  CATCH_CHECK(before < 12);
  CATCH_CHECK(numbers() == 12);  // 4 layers × 3 heads
}

CATCH_TEST_CASE("the scatter plot puts heads where their values are and the lasso takes what it surrounds") {
  test::SnapshotOptions options;
  options.layers = 10, options.heads = 6, options.series = false;
  HeadsBench bench(options);
  bench.state.view.heads.view = HeadsView::Scatter;
  bench.state.view.heads.log_y = false;
  const Rect frame{0, 69, 620, 860};
  const RecordingPainter& painter = bench.draw(draw_heads_panel, frame);
  const RunSnapshot& run = *bench.state.runs.front().data;
  std::vector<Vec2> discs;
  for (const RecordedShape& shape : painter.shapes())
    if (shape.kind == RecordedShape::Kind::Disc && shape.width == 3.5f) discs.push_back(shape.bounds.centre());
  CATCH_REQUIRE(discs.size() == 60);
  // Larger values lie farther right and higher.
  for (std::size_t i = 1; i < 60; ++i) {
    const HeadRef a = head_of_row(run, i - 1), b = head_of_row(run, i);
    CATCH_CHECK((run.at("sink_score", a.layer, a.head) < run.at("sink_score", b.layer, b.head)) ==
                (discs[i - 1].x < discs[i].x));
    CATCH_CHECK((run.at("context_rms_relative_mean", a.layer, a.head) <
                 run.at("context_rms_relative_mean", b.layer, b.head)) == (discs[i - 1].y > discs[i].y));
  }
  CATCH_CHECK(bench.fact("heads.shown") == 60.0);

  // r by hand.
  double sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
  for (std::size_t i = 0; i < 60; ++i) {
    const HeadRef h = head_of_row(run, i);
    const double x = run.at("sink_score", h.layer, h.head), y = run.at("context_rms_relative_mean", h.layer, h.head);
    sx += x, sy += y, sxx += x * x, syy += y * y, sxy += x * y;
  }
  const double r = (60 * sxy - sx * sy) / std::sqrt((60 * sxx - sx * sx) * (60 * syy - sy * sy));
  CATCH_CHECK(bench.fact("heads.r") == Approx(r).epsilon(1e-9));
  CATCH_CHECK(painter.shows(signed_text(r, 2)));

  // A rectangle round the right half.
  const float x0 = discs[0].x, y0 = 260.0f;
  const std::vector<Vec2> path = {{x0 + 1.0f, y0}, {500.0f, y0}, {500.0f, 700.0f}, {x0 + 1.0f, 700.0f}};
  std::string expected = "lasso ";
  for (std::size_t i = 0; i < 60; ++i)
    if (points_inside(path, std::vector<Vec2>{discs[i]}).size() == 1)
      expected += (expected.size() > 6 ? "," : "") + head_text(head_of_row(run, i));
  const std::vector<std::string> lines = bench.drag(draw_heads_panel, frame, path);
  CATCH_REQUIRE(lines.size() == 1);
  CATCH_CHECK(lines.front() == expected);
  // The nearest head under the pointer.
  const Vec2 pointer{discs[8].x + 1.0f, discs[8].y};
  std::size_t nearest = 0;
  const auto distance = [&](std::size_t i) { return std::hypot(discs[i].x - pointer.x, discs[i].y - pointer.y); };
  for (std::size_t i = 1; i < 60; ++i)
    if (distance(i) < distance(nearest)) nearest = i;
  bench.state.view.selection.head.reset();
  CATCH_CHECK(bench.click(draw_heads_panel, frame, pointer) ==
              std::vector<std::string>{"select " + head_text(head_of_row(run, nearest))});
}

CATCH_TEST_CASE("the table shows the sorted rows with the window's digits, and the medians") {
  test::SnapshotOptions options;
  options.layers = 20, options.heads = 8, options.series = false, options.nan_quantity = "value_drain";
  HeadsBench bench(options);
  bench.state.view.heads.view = HeadsView::Table;
  bench.state.view.heads.filter = "sink_score > 0.3 and layer >= 4";
  const Rect frame{0, 69, 1150, 860};
  const RecordingPainter& painter = bench.draw(draw_heads_panel, frame);
  const RunSnapshot& run = *bench.state.runs.front().data;
  const HeadTable table = make_head_table(run, bench.state.view.heads.filter, "sink_score", true);
  CATCH_CHECK(bench.fact("heads.shown") == static_cast<double>(table.rows.size()));
  CATCH_CHECK(painter.shows(std::to_string(table.rows.size()) + " of 160"));
  float y = 0.0f;
  for (std::size_t i = 0; i < 10; ++i) {
    const HeadRef head = head_of_row(run, table.rows[i]);
    const auto found = painter.find(head_text(head));
    CATCH_REQUIRE_FALSE(found.empty());
    CATCH_CHECK(found.front()->baseline.y > y);
    y = found.front()->baseline.y;
    bool value = false;
    for (const RecordedText* text : painter.find(fixed_text(run.at("sink_score", head.layer, head.head), 3)))
      value = value || std::abs(text->baseline.y - y) < 1.0f;
    CATCH_CHECK(value);
  }
  const std::vector<double> sinks = head_values(run, parse_quantity("sink_score").value());
  CATCH_CHECK(painter.shows("median of " + std::to_string(table.rows.size())));
  CATCH_CHECK(painter.find("median of ").size() == 2);
  CATCH_CHECK(painter.shows(fixed_text(median_of(sinks, table.rows), 3)));
  CATCH_CHECK(bench.click(draw_heads_panel, frame, {40.0f, y}) ==
              std::vector<std::string>{"select " + head_text(head_of_row(run, table.rows[9]))});
  const RecordedText& title = *bench.painter->find("mean ρ").front();
  CATCH_CHECK(bench.click(draw_heads_panel, frame, {title.baseline.x + 4.0f, title.baseline.y - 3.0f}) ==
              std::vector<std::string>{"heads.sort context_rms_relative_mean"});
  bench.state.view.heads.filter.clear();
  CATCH_CHECK(bench.draw(draw_heads_panel, frame).find("median of ").size() == 1);  // of all, said once
}

CATCH_TEST_CASE("colours of a quantity: what it can be, or round ends about its values") {
  test::SnapshotOptions options;
  options.series = false;
  HeadsBench bench(options);
  bench.heads.show(bench.state.runs.front().data);
  const auto range = [&](const char* name) { return column_range(bench.heads.column(name), dark_theme()).scale; };
  CATCH_CHECK((range("sink_score").low == 0.0f && range("sink_score").high == 1.0f));
  CATCH_CHECK(range("sink_score_net").map == ColorMapId::DivergingDark);
  CATCH_CHECK(range("logit_max").high >= static_cast<float>(bench.heads.column("logit_max").high));
  CATCH_CHECK((range("lambda_mean").low == 0.0f && range("lambda_mean").high == 1.0f));  // no values at all
  const std::string tip = head_tip(*bench.state.runs.front().data, parse_quantity("lambda_mean").value(), {1, 1});
  CATCH_CHECK(tip.find("no λ") != std::string::npos);
  options.kind = "diff_v2";
  HeadsBench pair(options);
  const RunSnapshot& run = *pair.state.runs.front().data;
  const std::string both = head_tip(run, parse_quantity("sink_score").value(), {1, 1});
  for (std::size_t c = 0; c < 2; ++c)
    CATCH_CHECK(both.find(fixed_text(run.at("sink_score", 1, 1, c), 3)) != std::string::npos);
  CATCH_CHECK(both.find(fixed_text(run.at("sink_score_net", 1, 1), 3)) != std::string::npos);
}

CATCH_TEST_CASE("check boxes of columns add and remove, the search narrows them") {
  test::SnapshotOptions options;
  options.series = false;
  HeadsBench bench(options);
  bench.state.view.heads.columns = {"sink_score", "logit_max"};
  const Rect frame{1150, 69, 1440, 1800};
  bench.draw(draw_columns_panel, frame);
  CATCH_CHECK(bench.painter->shows("2 of " + std::to_string(quantity_infos().size()) + " shown"));
  CATCH_CHECK(bench.painter->shows("no value in this model"));
  const auto box = [&](const char* text) {
    const RecordedText& label = *bench.painter->find(text).front();
    return bench.click(draw_columns_panel, frame, {label.baseline.x + 3.0f, label.baseline.y - 4.0f});
  };
  CATCH_CHECK(box("value drain") == std::vector<std::string>{"heads.columns sink_score logit_max value_drain"});
  CATCH_CHECK(box("sink score α₀") == std::vector<std::string>{"heads.columns logit_max"});
  bench.heads.column_search() = "kap";
  bench.draw(draw_columns_panel, frame);
  CATCH_CHECK_FALSE(bench.painter->shows("sink score"));
  bench.heads.column_search() = "cohe";
  bench.draw(draw_columns_panel, frame);
  CATCH_CHECK(bench.painter->shows("coherence κ"));
}
