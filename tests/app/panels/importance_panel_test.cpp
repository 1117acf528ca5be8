// The importance view as it is drawn: no text leaves its panel at any size and in any state; what is not computed is
// hatched and named, never 0; lists, cards and buttons say and ask for what they stand for.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/panels/heads/heads_panel.h"
#include "app/panels/importance/importance_list.h"
#include "app/panels/importance/importance_panel.h"
#include "core/base/number_text.h"
#include "core/run/ablation_summary.h"
#include "tests/support/heads_bench.h"

using namespace headroom;
using test::HeadsBench;
using test::holds;
using test::noise;

namespace {

const Rect kCentre{301.0f, 69.0f, 1099.0f, 874.0f}, kSide{1100.0f, 69.0f, 1440.0f, 874.0f};

// Of loss changes that follow from layer and head: every third is beyond its interval.
std::shared_ptr<const LossTable> made_table(const RunSnapshot& run, AblationWay way, std::int64_t from_layer = 0) {
  auto table = std::make_shared<LossTable>(make_loss_table({way_info(way).mode, way_info(way).change}, run.layers,
                                                           run.heads, std::vector<double>(255, 3.0757)));
  table->asked = run.layers.size() * run.heads.size();
  for (std::size_t i = 0; i < table->delta.size(); ++i) {
    if (table->head_at(i).layer < from_layer) continue;
    const double at = noise(17 + static_cast<std::uint64_t>(way), i) - 0.5;
    table->delta[i] = 0.6 * at * std::abs(at);
    table->error[i] = i % 3 == 0 ? 1e-5 : 1.0;
    ++table->done;
  }
  return table;
}

void add_sweep(State& state, AblationWay way, SweepStatus status, std::int64_t from_layer = 0) {
  RunEntry& run = state.runs.front();
  LossSweep sweep;
  sweep.status = status;
  sweep.doing = "3 of 9 done";
  sweep.fraction = 0.4;
  sweep.seconds_left = 83.0;
  sweep.table = made_table(*run.data, way, from_layer);
  if (status == SweepStatus::Failed) sweep.error = Error(ErrorCode::OutOfMemory, "out of memory");
  run.sweeps[static_cast<std::size_t>(way)] = std::move(sweep);
  run.data = with_loss_changes(*run.data, run.sweeps);
}

State& importance_of(HeadsBench& bench) {
  bench.state.view.centre = CentreView::Importance;
  return bench.state;
}

}  // namespace

CATCH_TEST_CASE("importance: no text is cut, outside or on another, at any size, state and theme", "[importance]") {
  struct Model {
    const char* kind;
    std::int64_t layers, heads;
  };
  for (const Model& model :
       {Model{"softmax", 30, 9}, Model{"diff_v2", 1, 1}, Model{"gated", 128, 128}, Model{"diff_v1", 2, 64}}) {
    for (int state = 0; state < 7; ++state) {
      if (model.heads == 128 && state % 3 != 2) continue;
      test::SnapshotOptions options;
      options.kind = model.kind, options.layers = model.layers, options.heads = model.heads, options.series = false;
      HeadsBench bench(options, {0, 0});
      State& s = importance_of(bench);
      if (state == 1) s.runs.front().sweeps[0].emplace().doing = "layer 3 of 30";
      if (state == 2 || state == 5) add_sweep(s, AblationWay::Off, SweepStatus::Done);
      if (state == 3) add_sweep(s, AblationWay::Off, SweepStatus::Running, model.layers / 3);
      if (state == 4) add_sweep(s, AblationWay::Off, SweepStatus::Failed, model.layers);
      if (state == 5) {
        add_sweep(s, AblationWay::Mean, SweepStatus::Stopped, model.layers / 2);
        add_sweep(s, AblationWay::HideKey0, SweepStatus::Done);
        s.view.heads.lasso = {{0, 0}};
        RunEntry set = s.runs.front();
        set.id = 9, set.base = s.runs.front().id, set.what_ifs = {"L0.H0:head=off"}, set.sweeps = {};
        s.runs.push_back(set);
      }
      if (state == 6) s.runs.clear();
      for (const Rect frame : {kCentre, Rect{190, 69, 760, 616}, Rect{190, 69, 640, 616}, Rect{300, 69, 2100, 1416},
                               Rect{0, 0, 300, 400}, Rect{0, 0, 120, 90}})
        for (const float scale : {1.0f, 2.0f}) {
          bench.scale = scale, bench.dark = scale < 2.0f;
          s.view.importance.against = frame.width() > 700.0f ? "layer" : "sink_score";
          holds(bench.draw(draw_importance_panel, frame),
                std::string(model.kind) + " state " + std::to_string(state) + " " + std::to_string(frame.width()));
        }
      for (const Rect frame :
           {kSide, Rect{700, 69, 1000, 616}, Rect{1000, 69, 1230, 400}, Rect{0, 0, 400, 1300}, Rect{0, 0, 130, 300}})
        holds(bench.draw(draw_importance_list, frame), std::string("list ") + model.kind + std::to_string(state));
      for (const Rect frame : {Rect{0, 69, 300, 874}, Rect{0, 69, 190, 616}})
        holds(bench.draw(draw_heads_panel, frame), std::string("atlas ") + model.kind + std::to_string(state));
    }
  }
}

CATCH_TEST_CASE("importance: nothing runs without a press, and what it takes is said before", "[importance]") {
  test::SnapshotOptions options;
  options.layers = 6, options.heads = 4, options.series = false;
  HeadsBench bench(options);
  importance_of(bench);
  bench.state.runs.front().model = -1;
  const RecordingPainter& painter = bench.draw(draw_importance_panel, kCentre);
  CATCH_CHECK(bench.lines.empty());
  CATCH_CHECK(painter.shows("cannot be computed here"));
  CATCH_CHECK(painter.shows("headroom ablate MODEL"));
  CATCH_CHECK(painter.shows("not in this file"));
}

CATCH_TEST_CASE("importance: the list is in the order of the numbers, with intervals, unfinished ways say so",
                "[importance]") {
  test::SnapshotOptions options;
  options.layers = 6, options.heads = 5, options.series = false;
  HeadsBench bench(options);
  State& state = importance_of(bench);
  add_sweep(state, AblationWay::Off, SweepStatus::Done);
  add_sweep(state, AblationWay::Mean, SweepStatus::Running, 4);
  const LossTable& table = *table_of(state.runs.front().sweeps, AblationWay::Off);
  const std::vector<std::size_t> order = table.by_change();
  const RecordingPainter& painter = bench.draw(draw_importance_list, {1100, 69, 1440, 560});
  const auto y_of = [&](const std::string& text) {
    const auto found = painter.find(text);
    CATCH_CAPTURE(text);
    CATCH_REQUIRE_FALSE(found.empty());
    return found.front()->baseline.y;
  };
  float before = 0.0f;
  for (int i = 0; i < 8; ++i) {
    const std::size_t place = order[static_cast<std::size_t>(i)];
    const float y = y_of(head_text(table.head_at(place)));
    CATCH_CHECK(y > before);
    before = y;
    CATCH_CHECK(painter.shows(signed_text(table.delta[place], 4)));
  }
  CATCH_CHECK(painter.shows("not yet"));
  CATCH_CHECK(painter.shows("more"));
  CATCH_CHECK(table.count_differing() == 10);
  CATCH_CHECK(painter.shows("95 %"));
}

CATCH_TEST_CASE("importance: rank correlations come with their intervals, drawn on another thread", "[importance]") {
  test::SnapshotOptions options;
  options.layers = 6, options.heads = 5, options.series = false;
  HeadsBench bench(options);
  State& state = importance_of(bench);
  add_sweep(state, AblationWay::Off, SweepStatus::Done);
  const auto there = [&] {
    bench.draw(draw_importance_panel, kCentre);
    return bench.fact("importance.intervals") == 3;
  };
  for (int i = 0; i < 3000 && !there(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CATCH_REQUIRE(there());
  const LossTable& table = *table_of(state.runs.front().sweeps, AblationWay::Off);
  std::vector<double> sinks;
  for (std::size_t i = 0; i < 30; ++i) {
    const HeadRef head = table.head_at(i);
    sinks.push_back(state.runs.front().data->at("sink_score", head.layer, head.head));
  }
  const auto shows = [&](const Bootstrapped& number) {
    CATCH_CAPTURE(number.value, number.low, number.high);
    CATCH_CHECK(bench.painter->shows(signed_text(number.value, 2)));
    CATCH_CHECK(bench.painter->shows(signed_text(number.low, 2) + " … " + signed_text(number.high, 2)));
  };
  const Bootstrapped all = bootstrapped_rank_correlation(table.delta, sinks);
  shows(all);
  CATCH_CHECK(bench.fact("importance.rank_correlation_low") == all.low);
  CATCH_CHECK(bench.fact("importance.rank_correlation_high") == all.high);
  for (const std::size_t begin : {0, 15})
    shows(
        bootstrapped_rank_correlation(std::span(table.delta).subspan(begin, 15), std::span(sinks).subspan(begin, 15)));
  CATCH_CHECK((bench.painter->shows("n 30") && bench.painter->shows("n 15")));
  CATCH_CHECK(bench.painter->shows("over heads of one text"));
  // How many changes are small stands below the list.
  bench.draw(draw_importance_list, {1100, 69, 1600, 874});
  const auto small = std::ranges::count_if(table.delta, [](double delta) { return std::abs(delta) < 0.01; });
  CATCH_CHECK(small > 0);
  CATCH_CHECK(bench.painter->shows(std::to_string(small) + " of 30"));
}

CATCH_TEST_CASE("importance: atlas and small plots hatch what is not computed, and it is never 0", "[importance]") {
  test::SnapshotOptions options;
  options.layers = 6, options.heads = 5, options.series = false;
  HeadsBench bench(options);
  State& state = importance_of(bench);
  add_sweep(state, AblationWay::Off, SweepStatus::Running, 4);
  const RecordingPainter& painter = bench.draw(draw_heads_panel, {0, 69, 300, 874});
  CATCH_REQUIRE(painter.maps().size() == 1);
  const RecordedMap& map = painter.maps().front();
  const LossTable& table = *table_of(state.runs.front().sweeps, AblationWay::Off);
  for (std::size_t i = 0; i < 30; ++i) {
    const float shown = (*map.image.values)[i];
    CATCH_CHECK(std::isnan(shown) == (table.head_at(i).layer < 4));
    if (std::isfinite(shown)) CATCH_CHECK(shown == static_cast<float>(table.delta[i]));
  }
  CATCH_CHECK(map.shading.nan == NanStyle::Hatched);
  CATCH_CHECK(map.shading.scale.kind == ScaleKind::Symlog);
  CATCH_CHECK(map.shading.scale.threshold == 0.01f);
  CATCH_CHECK(map.shading.scale.low == -map.shading.scale.high);
  CATCH_CHECK(painter.shows("sum"));
  std::size_t raise = 0, lower = 0;
  for (const double delta : table.delta) raise += delta > 0.01 ? 1 : 0, lower += delta < -0.01 ? 1 : 0;
  CATCH_CHECK(
      painter.shows(std::to_string(raise) + " raise, " + std::to_string(lower) + " lower it by more than 0.01"));

  const RecordingPainter& centre = bench.draw(draw_importance_panel, kCentre);
  CATCH_CHECK(centre.shows("10 of 30 heads · layer 3, from the last upward · 1 min 23 s left"));
  CATCH_CHECK(centre.shows("not yet"));
  CATCH_CHECK(centre.shows("10 of 30"));
  CATCH_CHECK(centre.shows("255 predictions · whole model 3.0757 nats"));
}

CATCH_TEST_CASE("importance: a card shows its way, a row selects, another opens the what-if", "[importance]") {
  test::SnapshotOptions options;
  options.kind = "diff_v2", options.layers = 6, options.heads = 5, options.series = false;
  HeadsBench bench(options, {0, 0});
  State& state = importance_of(bench);
  add_sweep(state, AblationWay::Off, SweepStatus::Done);
  add_sweep(state, AblationWay::Mean, SweepStatus::Stopped, 3);
  const auto at = [&](const std::string& text) {
    const auto found = bench.painter->find(text);
    CATCH_CAPTURE(text);
    CATCH_REQUIRE_FALSE(found.empty());
    return Vec2{found.front()->baseline.x + 2.0f, found.front()->baseline.y - 3.0f};
  };
  bench.draw(draw_importance_panel, kCentre);
  CATCH_CHECK(bench.click(draw_importance_panel, kCentre, at("mean of its rows")) ==
              std::vector<std::string>{"importance.colour mean"});
  bench.draw(draw_importance_list, kSide);
  const LossTable& table = *table_of(state.runs.front().sweeps, AblationWay::Off);
  const std::string top = head_text(table.head_at(table.by_change().front()));
  CATCH_CHECK(bench.click(draw_importance_list, kSide, at(top)) == std::vector<std::string>{"select " + top});
  bench.draw(draw_importance_list, kSide);
  const std::vector<std::string> table_lines = bench.click(draw_importance_list, kSide, at("show all in the table"));
  CATCH_CHECK(table_lines ==
              std::vector<std::string>{"importance.close", "heads.sort delta_loss_off descending", "heads table"});
}

CATCH_TEST_CASE("importance: scatter, filter and table have the changes as a quantity like any other", "[importance]") {
  test::SnapshotOptions options;
  options.layers = 6, options.heads = 5, options.series = false;
  HeadsBench bench(options);
  add_sweep(bench.state, AblationWay::Off, SweepStatus::Done);
  HeadsState& heads = bench.state.view.heads;
  heads.view = HeadsView::Scatter;
  heads.y = "delta_loss_off", heads.x = "sink_score", heads.log_y = true;
  holds(bench.draw(draw_heads_panel, {0, 69, 620, 860}), "scatter");
  CATCH_CHECK(bench.fact("heads.shown") == 30.0);  // negative ones too
  heads.view = HeadsView::Table;
  heads.columns = {"delta_loss_off", "sink_score"}, heads.sort = "delta_loss_off",
  heads.filter = "delta_loss_off > 0.01";
  const RecordingPainter& painter = bench.draw(draw_heads_panel, {0, 69, 1150, 860});
  holds(painter, "table");
  const LossTable& table = *table_of(bench.state.runs.front().sweeps, AblationWay::Off);
  CATCH_CHECK(painter.shows(signed_text(table.delta[table.by_change().front()], 4)));
}
