// The residual stream's panels: what is counted and listed against a plain count of the same numbers, and that no text
// is cut or touches another, at every size and in every state.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/residual/massive_panel.h"
#include "app/panels/residual/residual_cells.h"
#include "app/panels/residual/residual_panel.h"
#include "app/panels/residual/residual_parts.h"
#include "app/panels/residual/residual_view.h"
#include "core/base/number_text.h"
#include "tests/support/heads_bench.h"

using namespace headroom;
using test::HeadsBench;
using test::holds;

namespace {

const Rect kLeft{0, 69, 500, 875}, kCentre{501, 69, 1099, 875}, kRight{1100, 69, 1440, 875};

struct StreamOptions {
  std::int64_t channels = 24;
  float massive = 4000.0f;  // of token 0 in channel 7 from boundary 2 on, and of token 5 at boundaries 3 and 4; 0: none
  std::int64_t there = -1;  // boundaries that are there; −1: all
  bool kept = true;         // the whole stream
};

std::vector<float> stream_at(std::int64_t boundary, std::int64_t rows, const StreamOptions& options) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows * options.channels; ++i)
    values.push_back(static_cast<float>(
        (test::noise(99, static_cast<std::uint64_t>(boundary), static_cast<std::uint64_t>(i)) - 0.5) *
        (1.0 + 0.1 * static_cast<double>(boundary))));
  if (options.massive > 0.0f && boundary >= 2) values[7] = options.massive;
  if (options.massive > 0.0f && rows > 5 && (boundary == 3 || boundary == 4))
    values[static_cast<std::size_t>(5 * options.channels + 7)] = -0.5f * options.massive;
  return values;
}

std::shared_ptr<const RunSnapshot> with_stream(const test::SnapshotOptions& snapshot,
                                               const StreamOptions& options = {}) {
  auto run = std::make_shared<RunSnapshot>(*test::make_snapshot(snapshot));
  run->residual.resize(static_cast<std::size_t>(snapshot.layers + 1));
  std::vector<std::int32_t> followed;
  const std::int64_t there = options.there < 0 ? snapshot.layers + 1 : options.there;
  for (std::int64_t b = 0; b < there; ++b) {
    const std::vector<float> values = stream_at(b, snapshot.length, options);
    auto boundary =
        std::make_shared<ResidualBoundary>(measure_residual(b, snapshot.length, options.channels, values, followed));
    follow_largest(*boundary, followed);
    if (options.kept) boundary->stream = std::make_shared<const std::vector<float>>(values);
    run->residual[static_cast<std::size_t>(b)] = std::move(boundary);
  }
  return run;
}

void all_hold(HeadsBench& bench, const std::string& where, Rect left = kLeft, Rect centre = kCentre,
              Rect right = kRight) {
  holds(bench.draw(draw_residual_panel, left), where + " numbers");
  holds(bench.draw(draw_residual_cells, centre), where + " cells");
  holds(bench.draw(draw_massive_panel, right), where + " list");
}

}  // namespace

CATCH_TEST_CASE("no text of the residual panels is cut, outside or on another, at any size, model, state and theme") {
  struct Case {
    std::int64_t layers, heads, length, there;
    float massive;
    const char* kind;
  };
  for (const Case& each : {Case{30, 9, 160, -1, 4000.0f, "softmax"}, Case{4, 3, 7, -1, 0.0f, "diff_v2"},
                           Case{6, 2, 1, -1, 900.0f, "softmax"}, Case{127, 4, 64, -1, 25000.0f, "softmax"},
                           Case{12, 3, 160, 5, 4000.0f, "diff_v1"}, Case{1, 1, 3, 1, 0.0f, "softmax"}}) {
    test::SnapshotOptions options;
    options.kind = each.kind, options.layers = each.layers, options.heads = each.heads, options.length = each.length,
    options.hostile = each.layers == 30;
    StreamOptions stream;
    stream.massive = each.massive, stream.there = each.there;
    HeadsBench bench(options, {0, 0});
    bench.state.runs.front().data = with_stream(options, stream);
    for (const bool dark : {true, false})
      for (const ResidualCells cells : {ResidualCells::Channel, ResidualCells::Rms, ResidualCells::Largest}) {
        bench.dark = dark;
        bench.state.view.residual.cells = cells;
        const std::string where = std::to_string(each.layers) + " layers, n " + std::to_string(each.length);
        all_hold(bench, where);
        all_hold(bench, where + " small", {0, 69, 340, 615}, {341, 69, 743, 615}, {744, 69, 1024, 615});
        if (cells != ResidualCells::Channel) continue;
        all_hold(bench, where + " alone", {0, 69, 1440, 875}, {0, 69, 2560, 1400}, {0, 69, 1440, 875});
        all_hold(bench, where + " tiny", {0, 0, 120, 140}, {0, 0, 150, 120}, {0, 0, 130, 90});
        for (const float scale : {1.5f, 3.0f}) {
          bench.scale = scale;
          all_hold(bench, where + " scaled");
        }
        bench.scale = 1.0f;
      }
  }
}

CATCH_TEST_CASE("what the residual panels say where there is nothing, and how to get it") {
  HeadsBench bench;
  bench.draw(draw_residual_cells, kCentre);
  CATCH_CHECK(bench.painter->shows("This run file has no residual stream."));
  CATCH_CHECK(bench.painter->shows("Open its checkpoint"));
  all_hold(bench, "a run file without");
  auto run = std::make_shared<RunSnapshot>(*bench.state.runs.front().data);
  run->residual.resize(5);
  bench.state.runs.front().data = run;
  bench.state.runs.front().model = 9;
  bench.draw(draw_residual_cells, kCentre);
  CATCH_CHECK(bench.painter->shows("No boundary is computed yet."));
  all_hold(bench, "nothing yet");
  bench.state.runs.clear();
  bench.draw(draw_residual_cells, kCentre);
  CATCH_CHECK(bench.painter->shows("Nothing has run yet."));
  all_hold(bench, "no run");
}

CATCH_TEST_CASE("nothing massive is said with the largest ratio, a partial stream says how far it is") {
  test::SnapshotOptions options;
  options.layers = 6;
  StreamOptions stream;
  stream.massive = 0.0f;
  HeadsBench bench(options);
  bench.state.runs.front().data = with_stream(options, stream);
  double ratio = 0.0, most = 0.0;
  for (const auto& at : bench.state.runs.front().data->residual) {
    const double largest = std::abs(static_cast<double>(at->largest.front().value));
    if (largest > most) most = largest, ratio = largest / at->median;
  }
  bench.draw(draw_massive_panel, kRight);
  CATCH_CHECK(bench.painter->shows("none; the largest |h| is " + readout_text(ratio) + " × the median"));
  stream.there = 3;
  bench.state.runs.front().data = with_stream(options, stream);
  bench.draw(draw_residual_panel, kLeft);
  CATCH_CHECK(bench.painter->shows("3 of 7 boundaries"));
}

CATCH_TEST_CASE("activations are listed once each, with the boundaries at which both thresholds are reached") {
  CATCH_CHECK(ranges_text({2, 3, 4, 9, 12, 13}) == "2-4, 9, 12-13");
  CATCH_CHECK(ranges_text({}).empty());
  test::SnapshotOptions options;
  options.layers = 8;
  const auto run = with_stream(options);
  ResidualState state;
  state.least = 1.9;
  const auto view = make_residual_view(run, state);
  CATCH_REQUIRE(view != nullptr);
  std::vector<std::pair<std::int64_t, std::int64_t>> massive, below;
  for (std::int64_t b = 0; b <= 8; ++b) {
    const std::vector<float> values = stream_at(b, options.length, {});
    std::vector<double> sizes;
    for (const float value : values) sizes.push_back(std::abs(static_cast<double>(value)));
    std::vector<double> sorted = sizes;
    std::ranges::sort(sorted);
    const double median = sorted[sorted.size() / 2];
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (sizes[i] >= 100.0 && sizes[i] >= 1000.0 * median) massive.emplace_back(static_cast<std::int64_t>(i) / 24, b);
  }
  CATCH_REQUIRE(view->massive.size() == 2);
  for (const ListedActivation& one : view->massive) {
    CATCH_CHECK(one.channel == 7);
    std::vector<std::int64_t> boundaries;
    for (const auto& [token, boundary] : massive)
      if (token == one.token) boundaries.push_back(boundary);
    CATCH_CHECK(one.boundaries == boundaries);
  }
  CATCH_CHECK(view->massive[0].token == 0);
  CATCH_CHECK(view->massive[0].value == 4000.0);
  CATCH_CHECK(view->massive[1].value == -2000.0);
  CATCH_CHECK(view->largest_boundary == 2);
  CATCH_CHECK(view->channel == 7);
  CATCH_CHECK(view->boundary == 2);
  // Others reach 1.9 times the median, each above 200 of them is left out; none of them is one of the massive ones.
  CATCH_CHECK(view->below.size() > 20);
  for (const ListedActivation& one : view->below) {
    CATCH_CHECK(one.ratio >= 1.9);
    CATCH_CHECK_FALSE((one.channel == 7 && (one.token == 0 || one.token == 5)));
  }
}

CATCH_TEST_CASE("the link to sinks is a count of the largest values among the most attended keys") {
  test::SnapshotOptions options;
  options.layers = 5, options.heads = 3, options.length = 80;
  const auto run = with_stream(options);
  const auto view = make_residual_view(run, {});
  for (std::int64_t b = 0; b < 5; ++b) {
    const std::vector<float> values = stream_at(b, options.length, {});
    std::vector<std::pair<double, std::int64_t>> sizes, received;
    for (std::int64_t t = 0; t < options.length - 15; ++t) {  // keys that 16 rows or more see
      sizes.emplace_back(-std::abs(static_cast<double>(values[static_cast<std::size_t>(t * 24 + 7)])), t);
      float sum = 0.0f;
      double mean = 0.0;
      for (std::int64_t h = 0; h < 3; ++h)
        mean +=
            static_cast<double>(run->layer(b)->row_values("keys/attention_received", h)[static_cast<std::size_t>(t)]);
      sum = static_cast<float>(mean / 3.0);
      received.emplace_back(-static_cast<double>(sum), t);
    }
    std::ranges::sort(sizes);
    std::ranges::sort(received);
    std::size_t linked = 0;
    for (std::size_t i = 0; i < 8; ++i)
      for (std::size_t j = 0; j < 8; ++j) linked += sizes[i].second == received[j].second ? 1 : 0;
    const auto link = view->link(b);
    CATCH_REQUIRE(link.has_value());
    CATCH_CHECK(link->count == 8);
    CATCH_CHECK(link->linked == linked);
    CATCH_CHECK(link->largest == sizes[0].second);
    CATCH_CHECK(link->attended == received[0].second);
  }
  CATCH_CHECK_FALSE(view->link(5).has_value());  // no layer reads the last boundary
}

CATCH_TEST_CASE("rows of many tokens show the largest magnitude among them, and every token is in one row") {
  std::vector<float> values;
  for (int row = 0; row < 1000; ++row)
    for (int c = 0; c < 3; ++c) values.push_back(static_cast<float>((row * 7919 + c * 104729) % 1009) - 500.0f);
  values[3 * 444 + 1] = std::numeric_limits<float>::quiet_NaN();
  for (const std::size_t height : {1, 7, 64, 999, 1000, 2000}) {
    const std::vector<float> pooled = pooled_rows(values, 3, height);
    const std::size_t rows = std::min<std::size_t>(height, 1000);
    CATCH_REQUIRE(pooled.size() == rows * 3);
    if (height >= 1000) continue;
    std::vector<float> most(rows * 3, 0.0f);
    for (std::size_t row = 0; row < 1000; ++row)
      for (std::size_t c = 0; c < 3; ++c) {
        const float size = std::abs(values[row * 3 + c]);
        float& here = most[row * height / 1000 * 3 + c];
        if (size > here) here = size;
      }
    for (std::size_t i = 0; i < most.size(); ++i)
      CATCH_CHECK((std::isnan(pooled[i]) ? 0.0f : std::abs(pooled[i])) == most[i]);
  }
}

CATCH_TEST_CASE("a channel that is not kept says so, and only the boundaries that keep it have cells") {
  test::SnapshotOptions options;
  options.layers = 5;
  StreamOptions stream;
  stream.kept = false;
  HeadsBench bench(options);
  const auto run = with_stream(options, stream);
  bench.state.runs.front().data = run;
  std::int64_t channel = 0;
  while (std::ranges::any_of(run->residual, [&](const auto& at) { return at->has_channel(channel); })) ++channel;
  CATCH_REQUIRE(channel < 24);
  bench.state.view.residual.channel = channel;
  const auto view = make_residual_view(run, bench.state.view.residual);
  CATCH_CHECK(view->kept_from == -1);
  CATCH_CHECK(std::ranges::all_of(view->cells, [](float value) { return std::isnan(value); }));
  all_hold(bench, "not kept");
  bench.draw(draw_residual_cells, kCentre);
  CATCH_CHECK(bench.painter->shows("is not kept"));
}

CATCH_TEST_CASE("a click on a boundary looks at it, a click on a cell at its token too") {
  test::SnapshotOptions options;
  options.layers = 10, options.length = 160;
  HeadsBench bench(options);
  bench.state.runs.front().data = with_stream(options);
  std::vector<std::string> lines = bench.click(draw_residual_panel, kLeft, {240, 140});
  CATCH_REQUIRE(lines.size() == 1);
  CATCH_CHECK(lines.front().starts_with("residual.boundary "));
  lines = bench.click(draw_residual_cells, kCentre, {700, 700});
  CATCH_REQUIRE(lines.size() == 2);
  CATCH_CHECK(lines[0].starts_with("residual.boundary "));
  CATCH_CHECK(lines[1].starts_with("residual.token "));
  lines = bench.click(draw_massive_panel, kRight, {1200, 128});
  CATCH_REQUIRE(lines.size() == 3);
  CATCH_CHECK(lines[0] == "residual.channel 7");
}
