// The axis of the plots over rows: visible keys where these grow, positions where they do not.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "app/figures/head_series.h"
#include "app/figures/row_axis.h"
#include "app/panels/head/head_panel.h"
#include "tests/support/heads_bench.h"

namespace headroom::test {
namespace {

using Counts = std::vector<std::int64_t>;

// The run with these counts of visible keys in every layer.
State state_with(const SnapshotOptions& options, const Counts& visible) {
  auto run = std::make_shared<RunSnapshot>(*make_snapshot(options));
  for (auto& layer : run->data) {
    auto changed = std::make_shared<LayerSnapshot>(*layer);
    changed->visible = {visible};
    layer = std::move(changed);
  }
  return make_state(std::move(run));
}

}  // namespace

CATCH_TEST_CASE("rows are plotted by position where the keys they see do not tell them apart") {
  CATCH_CHECK_FALSE(plots_by_position(Counts{1, 2, 3, 4}));
  CATCH_CHECK_FALSE(plots_by_position(Counts{1, 2, 3, 3}));  // a wide causal window
  CATCH_CHECK(plots_by_position(Counts{1, 2, 3, 3, 3}));     // one that most rows fill
  CATCH_CHECK_FALSE(plots_by_position(Counts{1, 1, 1, 2}));  // hidden keys
  CATCH_CHECK_FALSE(plots_by_position(Counts{7, 8, 9}));     // decoding goes on from kept keys
  CATCH_CHECK(plots_by_position(Counts{4, 4, 4, 4}));        // bidirectional
  CATCH_CHECK(plots_by_position(Counts{3, 4, 5, 4, 3}));     // within a window
  CATCH_CHECK(plots_by_position(Counts{9, 9, 9, 0, 0}));     // cross-attention of fewer rows
  CATCH_CHECK_FALSE(plots_by_position(Counts{5}));
  CATCH_CHECK_FALSE(plots_by_position(Counts{}));
}

CATCH_TEST_CASE("a bidirectional layer's plots say that they go over positions") {
  SnapshotOptions options;
  const Counts all(static_cast<std::size_t>(options.length), options.length);
  HeadsBench bench(options);
  bench.state = state_with(options, all);
  for (const Rect frame : {Rect{1068, 69, 1440, 770}, Rect{0, 69, 1440, 870}, Rect{762, 69, 1024, 536}})
    for (const char* rms : {"relative", "raw", "weights"}) {
      bench.state.view.head.rms = rms;
      const RecordingPainter& painter = bench.draw(draw_head_panel, frame);
      holds(painter, rms);
      CATCH_CHECK_FALSE(painter.shows("over visible keys"));
      CATCH_CHECK((painter.shows("over position") || painter.shows("by row")));
      if (frame.width() > 300.0f) CATCH_CHECK(painter.shows("position of the row; each sees 160 keys"));
    }
  const RunSnapshot& run = *bench.state.runs.front().data;
  const HeadSeries series = make_head_series(run, *run.data[1], 1);
  CATCH_REQUIRE(series.by_position);
  CATCH_CHECK(series.place.front() == 0.0);
  CATCH_CHECK(series.place.back() == 159.0);
  const AxisSpec axis = row_axis(series);
  CATCH_CHECK(axis.low == 0.0);
  CATCH_CHECK(axis.high == 159.0);
  CATCH_CHECK_FALSE(axis.log);
  CATCH_CHECK(visible_at(series, 37.4) == 160.0);
  const RowCurve& rho = series.terms[kRhoTerm];  // the middles of 24 pieces
  CATCH_CHECK(rho.place.size() == kPositionBins);
  CATCH_CHECK(rho.place.front() == 2.5);
  CATCH_CHECK(rho.place.back() == 156.0);
  CATCH_CHECK(rho.first_median() == 2.5);

  bench.state = state_with(options, [] {
    Counts windowed;
    for (std::int64_t i = 0; i < 160; ++i) windowed.push_back(10 + std::min({i, 159 - i, std::int64_t{9}}));
    return windowed;
  }());
  bench.state.view.head.rms = "relative";
  CATCH_CHECK(bench.draw(draw_head_panel, {1068, 69, 1440, 770}).shows("they see 10 to 19 keys"));
}

}  // namespace headroom::test
