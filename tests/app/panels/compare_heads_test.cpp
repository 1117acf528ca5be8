// What neighbours the compare panel's maps: the atlas of row distances, the sorted list, rows and columns of both runs,
// quick what-ifs whose other layers are not computed.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "app/panels/compare/compare_geometry.h"
#include "app/panels/compare/compare_side.h"
#include "core/base/number_text.h"
#include "tests/app/panels/compare_bench.h"

namespace headroom::test {
namespace {

double weight(const MapSource& source, std::int64_t head, std::int64_t query, std::int64_t key) {
  const MapSource::Cell cell = source.cell(head, query, key);
  return cell.visible ? cell.net : 0.0;
}

// ½ Σ |B − A| of a row, mean over rows, cell by cell.
double distance_by_hand(const MapSource& a, const MapSource& b, std::int64_t head) {
  double sum = 0.0;
  for (std::int64_t query = 0; query < a.length; ++query)
    for (std::int64_t key = 0; key <= query; ++key)
      sum += 0.5 * std::abs(weight(b, head, query, key) - weight(a, head, query, key));
  return sum / static_cast<double>(a.length);
}

// The atlas's image; nothing else is drawn as a map in the panel of the heads.
const RecordedMap* atlas_of(const CompareBench& bench) {
  const RecordedMap* found = nullptr;
  for (const RecordedMap& map : bench.painter->maps())
    if (map.target.x1 <= bench.heads.x1 && map.image.height == 3 && map.image.width == 5) found = &map;
  return found;
}
float atlas_value(const CompareBench& bench, std::int64_t layer, std::int64_t head) {
  return (*atlas_of(bench)->image.values)[static_cast<std::size_t>(layer * 5 + head)];
}

// A quick what-if of head 2 of layer 1, as the session makes it: every other layer is that of the run it changes.
void compare_with_quick(CompareBench& bench) {
  const std::shared_ptr<const RunSnapshot> base = bench.session.state().runs[0].data;
  RunEntry& quick = bench.quick("temperature=2", RunStatus::Done);
  auto data = std::make_shared<RunSnapshot>(*base);
  auto layer = std::make_shared<LayerSnapshot>(*base->data[1]);
  const LayerSnapshot& changed = *bench.session.state().runs[1].data->data[1];
  layer->heads = {2};
  layer->programs = {base->data[1]->programs[2]};
  layer->maps = changed.maps;
  for (auto& [name, values] : layer->summary) {
    const std::size_t each = values.size() / 5;
    const std::vector<double> other = changed.summary.at(name);
    values.assign(other.begin() + static_cast<std::ptrdiff_t>(2 * each),
                  other.begin() + static_cast<std::ptrdiff_t>(3 * each));
  }
  layer->series.clear();
  data->data[1] = layer;
  quick.data = data;
  bench.session.edit().view.centre = CentreView::Compare;
}

}  // namespace

CATCH_TEST_CASE("atlas in a comparison: row distances of the heads, or what the person chose of A", "[compare]") {
  CompareBench bench;
  bench.with_heads = true;
  bench.settle();
  CATCH_REQUIRE(atlas_of(bench));
  for (const std::int64_t layer : {0, 1, 2})
    for (const std::int64_t head : {0, 2, 4})
      CATCH_CHECK(static_cast<double>(atlas_value(bench, layer, head)) ==
                  Approx(distance_by_hand(bench.maps(0, layer), bench.maps(1, layer), head)).epsilon(1e-4));
  CATCH_CHECK(std::isnan(atlas_value(bench, 1, 1)));  // no map was kept of it
  CATCH_CHECK(atlas_of(bench)->shading.nan == NanStyle::Hatched);
  CATCH_CHECK(atlas_of(bench)->shading.scale.low == 0.0f);
  CATCH_CHECK(bench.painter->shows("mean over rows; 0 same, 1 disjoint"));
  CATCH_CHECK(bench.painter->shows("Row distance"));
  CATCH_CHECK(*bench.facts.find("heads.quantity") == "row_distance");
  CATCH_CHECK_FALSE(bench.painter->shows("above"));  // no threshold
  const State& state = bench.session.state();
  CATCH_CHECK_FALSE(bench.session.commands().disabled_reason(state, "select.next-over").empty());

  bench.session.run_line("heads.quantity sink_score");
  bench.settle();
  CATCH_CHECK(static_cast<double>(atlas_value(bench, 2, 3)) == Approx(state.runs[0].data->at("sink_score", 2, 3)));
  CATCH_CHECK(state.view.heads.quantity == "sink_score");
  bench.session.run_line("heads.quantity context_rms_relative_mean");
  CATCH_CHECK(state.view.heads.quantity == "sink_score");  // of the single run: as it was
  bench.session.run_line("compare.close");
  CATCH_CHECK_FALSE(bench.session.commands().disabled_reason(state, "heads.quantity row_distance").empty());
}

CATCH_TEST_CASE("atlas and list in a comparison: no text is cut or lies on another", "[compare]") {
  for (const bool quick : {false, true})
    for (const Vec2 size : {Vec2{1024, 640}, Vec2{1440, 900}, Vec2{2560, 1440}})
      for (const float scale : {0.75f, 1.0f, 1.5f})
        for (const ComparedSort sort : {ComparedSort::Distance, ComparedSort::Entropy, ComparedSort::Sink}) {
          PairOptions options;
          options.hostile = true;
          CompareBench bench(options);
          if (quick) compare_with_quick(bench);
          bench.with_heads = true;
          bench.width = size.x, bench.height = size.y, bench.scale = scale;
          bench.dark = sort != ComparedSort::Entropy;
          State& state = bench.session.edit();
          state.view.compare.sort = sort;
          state.view.compare.descending = quick;
          state.view.selection.query = 150, state.view.selection.key = 190;
          CATCH_INFO(size.x << " × " << size.y << " at " << scale << (quick ? ", quick" : "") << ", sort "
                            << static_cast<int>(sort));
          bench.settle();
          check_clean(*bench.painter);
        }
}

CATCH_TEST_CASE("compare.sort: by magnitude of every column, the same again turns the order", "[compare]") {
  CompareBench bench;
  bench.settle();
  const CompareState& compare = bench.session.state().view.compare;
  bench.session.run_line("compare.sort entropy");
  CATCH_CHECK((compare.sort == ComparedSort::Entropy && compare.descending));
  bench.session.run_line("compare.sort entropy");
  CATCH_CHECK_FALSE(compare.descending);
  bench.session.run_line("compare.sort sink descending");
  CATCH_CHECK((compare.sort == ComparedSort::Sink && compare.descending));
  bench.session.run_line("compare.sort sideways");
  CATCH_CHECK(compare.sort == ComparedSort::Sink);
  const RunSnapshot &a = *bench.session.state().runs[0].data, &b = *bench.session.state().runs[1].data;
  const auto change = [&](const ComparedHead& head, const char* name) {
    return std::abs(b.at(name, head.head.layer, head.head.head) - a.at(name, head.head.layer, head.head.head));
  };
  const auto differences = bench.memory->jobs()->results();
  for (const auto& [sort, name] : {std::pair{ComparedSort::Entropy, "entropy_normalized_mean"},
                                   {ComparedSort::Rho, "context_rms_relative_mean"},
                                   {ComparedSort::Sink, "sink_score"}}) {
    const auto down = compared_heads(a, b, *differences, sort), up = compared_heads(a, b, *differences, sort, false);
    CATCH_REQUIRE(down.size() == 15);
    for (std::size_t i = 1; i < down.size(); ++i) {
      CATCH_CHECK(change(down[i - 1], name) >= change(down[i], name) - 1e-15);
      CATCH_CHECK(change(up[i - 1], name) <= change(up[i], name) + 1e-15);
    }
  }
  // The sorted column is always among those shown.
  bench.settle();
  CATCH_CHECK(bench.painter->shows("Δα₀"));
}

CATCH_TEST_CASE("a quick what-if in a comparison: what it did not compute is not said to be equal", "[compare]") {
  CompareBench bench;
  compare_with_quick(bench);
  bench.with_heads = true;
  bench.settle();
  const RecordedMap* atlas = atlas_of(bench);
  CATCH_REQUIRE(atlas);
  CATCH_CHECK(atlas->source == Rect{0, 0, 5, 2});  // layer 2 is empty cells
  for (const std::int64_t head : {0, 1, 2, 3, 4}) CATCH_CHECK(atlas_value(bench, 0, head) == 0.0f);
  for (const std::int64_t head : {0, 1, 3, 4}) CATCH_CHECK(atlas_value(bench, 1, head) == 0.0f);
  CATCH_CHECK(static_cast<double>(atlas_value(bench, 1, 2)) ==
              Approx(distance_by_hand(bench.maps(0), bench.maps(1), 2)).epsilon(1e-4));
  CATCH_CHECK(std::isnan(atlas_value(bench, 2, 2)));
  CATCH_CHECK(bench.painter->shows("below the dashes: not computed"));
  int dashes = 0;
  for (const RecordedShape& shape : bench.painter->shapes())
    dashes += shape.color == dark_theme().warn && std::abs(shape.bounds.centre_y() - atlas->target.y1) < 2.0f ? 1 : 0;
  CATCH_CHECK(dashes > 5);
  CATCH_CHECK(bench.fact("compare.rows") == 6.0);  // five heads of layer 0, one of layer 1
  CATCH_CHECK(bench.painter->shows("not in a quick run"));
  CATCH_CHECK(bench.facts.find("compare.loss_delta") == nullptr);
}

CATCH_TEST_CASE("the crosshair stops at the captions of the maps", "[compare]") {
  CompareBench bench;
  State& state = bench.session.edit();
  state.view.selection.query = 120;
  state.view.selection.key = 185;  // right of the middle of the captions
  bench.settle();
  int captions = 0;
  for (const char* name : {"softmax", "orange: B attends more"})
    for (const RecordedText* text : bench.painter->find(name)) {
      if (!bench.centre.contains(text->box.centre) || text->baseline.y < bench.centre.y0 + 60.0f) continue;
      const Rect box =
          Rect::sized(text->box.centre.x - 0.5f * text->width, text->box.centre.y - 5.0f, text->width, 10.0f);
      bool crossed = false, any = false;
      for (const RecordedShape& shape : bench.painter->shapes()) {
        if (shape.kind == RecordedShape::Kind::Line && shape.color == dark_theme().accent && shape.bounds.x0 > box.x0 &&
            shape.bounds.x1 < box.x1 && shape.bounds.y0 < box.y0 && shape.bounds.y1 > box.y1)
          crossed = any = true;
        if (shape.kind == RecordedShape::Kind::FillRect && shape.color == dark_theme().empty &&
            shape.bounds.contains({box.x0, box.y0}) && shape.bounds.contains({box.x1 - 0.1f, box.y1 - 0.1f}))
          crossed = false;
      }
      captions += any ? 1 : 0;
      CATCH_CHECK_FALSE(crossed);
    }
  CATCH_CHECK(captions > 0);
}

CATCH_TEST_CASE("row and column of both runs: sums and norms are those of the cells, the shorter bar is seen",
                "[compare]") {
  CompareBench bench;
  State& state = bench.session.edit();
  state.view.selection.query = 120;
  state.view.selection.key = 60;
  state.view.compare.mode = CompareMode::Difference;
  bench.settle();
  double sum[2] = {}, row[2] = {}, column[2] = {};
  bool shorter_a = false;
  for (const std::size_t run : {0u, 1u}) {
    for (std::int64_t key = 0; key <= 120; ++key) {
      const double w = weight(bench.maps(run), 2, 120, key);
      sum[run] += w, row[run] += w * w;
      shorter_a = shorter_a || weight(bench.maps(0), 2, 120, key) < weight(bench.maps(1), 2, 120, key);
    }
    for (std::int64_t query = 60; query < 200; ++query) {
      const double w = weight(bench.maps(run), 2, query, 60);
      column[run] += w * w;
    }
  }
  CATCH_CHECK(bench.fact("compare.row_sum_a") == Approx(sum[0]).epsilon(1e-5));
  CATCH_CHECK(bench.fact("compare.row_sum_b") == Approx(sum[1]).epsilon(1e-5));
  CATCH_CHECK(bench.fact("compare.row_l2_a") == Approx(std::sqrt(row[0])).epsilon(1e-5));
  CATCH_CHECK(bench.fact("compare.row_l2_b") == Approx(std::sqrt(row[1])).epsilon(1e-5));
  CATCH_CHECK(bench.fact("compare.column_l2_a") == Approx(std::sqrt(column[0])).epsilon(1e-5));
  CATCH_CHECK(bench.fact("compare.column_l2_b") == Approx(std::sqrt(column[1])).epsilon(1e-5));
  CATCH_CHECK(bench.painter->shows("row 120"));
  CATCH_CHECK(bench.painter->shows(fixed_text(std::sqrt(row[0]), 3) + " → " + fixed_text(std::sqrt(row[1]), 3)));
  // Where A is shorter it is drawn once more, before B.
  CATCH_REQUIRE(shorter_a);
  PairLayoutRequest request;
  request.body = bench.centre;
  request.body.cut_top(measure::kPanelTitle);
  request.length = 200;
  request.single = true;
  const Rect area = lay_out_compare(request).row;
  int of_b = 0, before_b = 0;
  for (const RecordedShape& shape : bench.painter->shapes()) {
    if (shape.kind != RecordedShape::Kind::FillRect || shape.bounds.centre_y() < area.y0 ||
        shape.bounds.y1 > area.y1 + 0.5f)
      continue;
    of_b += shape.color == dark_theme().accent ? 1 : 0;
    before_b += of_b > 0 && shape.color == dark_theme().text3 ? 1 : 0;
  }
  CATCH_CHECK(of_b > 10);
  CATCH_CHECK(before_b > 10);
}

}  // namespace headroom::test
