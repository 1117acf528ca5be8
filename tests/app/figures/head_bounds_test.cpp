// Intervals of the rows and the shares outside of them, for each tab of the head panel and each kind of head: against
// the formulas written out, on rows made from maps that are made here.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "app/figures/head_bounds.h"
#include "app/figures/head_series.h"
#include "app/panels/head/head_panel.h"
#include "core/base/number_text.h"
#include "tests/support/heads_bench.h"

namespace headroom {
namespace {

using test::HeadsBench;
using test::noise;

constexpr std::size_t kRows = 160, kMinRow = 64, kValueDim = 8;
constexpr double kSink = 7.0;  // logit

// One head's maps, weights and contexts in double precision.
struct MadeHead {
  std::array<std::vector<std::vector<double>>, 2> maps;  // rows over visible keys
  std::vector<double> lambda, first_kept, second_kept, l1, l2, sum, rms, largest_value;
};

std::vector<double> softmax_row(std::size_t row, std::uint64_t salt, double sharpness, bool sink) {
  std::vector<double> weights;
  double total = sink ? std::exp(kSink) : 0.0;
  for (std::size_t j = 0; j <= row; ++j) {
    weights.push_back(std::exp(sharpness * noise(salt, row, j)));
    total += weights.back();
  }
  for (double& weight : weights) weight /= total;
  return weights;
}

// λ < 0 in a run of its own: −0.4 throughout.
MadeHead make_head(const std::string& kind) {
  MadeHead head;
  const bool pair = kind.starts_with("diff"), sink = kind == "softmax_sink" || kind == "softmax_one";
  std::vector<std::vector<double>> values;
  for (std::size_t j = 0; j < kRows; ++j) {
    values.emplace_back();
    for (std::size_t c = 0; c < kValueDim; ++c) values.back().push_back(4.0 * noise(9, j, c) - 2.0);
  }
  double largest = 0.0;
  for (std::size_t i = 0; i < kRows; ++i) {
    head.maps[0].push_back(softmax_row(i, 1, i % 3 == 0 ? 60.0 : 3.0, sink));
    head.maps[1].push_back(pair ? softmax_row(i, 2, i % 2 == 0 ? 40.0 : 1.0, false) : std::vector<double>(i + 1, 0.0));
    // Rows whose maps are equal reach the lower ends.
    if (pair && i % 5 == 4) head.maps[1].back() = head.maps[0].back() = std::vector<double>(i + 1, 1.0 / double(i + 1));
    head.lambda.push_back(!pair                        ? 0.0
                          : kind == "diff_v1"          ? 0.55
                          : kind == "diff_v1_negative" ? -0.4
                                                       : 0.02 + 0.96 * noise(3, i));
    double sum = 0.0, l1 = 0.0, l2 = 0.0, size = 0.0;
    std::vector<double> context(kValueDim, 0.0);
    for (std::size_t j = 0; j <= i; ++j) {
      const double w = head.maps[0][i][j] - head.lambda[i] * head.maps[1][i][j];
      sum += w, l1 += std::abs(w), l2 += w * w;
      for (std::size_t c = 0; c < kValueDim; ++c) context[c] += w * values[j][c];
    }
    for (const double c : context) size += c * c / kValueDim;
    double value = 0.0;
    for (const double v : values[i]) value += v * v / kValueDim;
    largest = std::max(largest, std::sqrt(value));
    head.sum.push_back(sum), head.l1.push_back(l1), head.l2.push_back(std::sqrt(l2));
    head.rms.push_back(std::sqrt(size)), head.largest_value.push_back(largest);
  }
  return head;
}

// A run of one layer whose head 1 is that head.
std::shared_ptr<RunSnapshot> run_of(const MadeHead& head, const std::string& kind) {
  test::SnapshotOptions options;
  options.kind = kind.starts_with("diff_v1") ? "diff_v1" : kind == "softmax_one" ? "softmax_sink" : kind;
  options.layers = 1, options.length = kRows;
  auto run = std::make_shared<RunSnapshot>(*test::make_snapshot(options));
  auto layer = std::make_shared<LayerSnapshot>(*run->layer(0));
  if (kind == "softmax_one") layer->programs[1].sink = SinkSource::Zero;
  layer->context_dim = kValueDim;
  const auto write = [&](const char* name, const std::vector<double>& values) {
    std::vector<float>& series = layer->series[name];
    series.resize(3 * kRows);
    for (std::size_t i = 0; i < kRows; ++i) series[kRows + i] = static_cast<float>(values[i]);
  };
  write("rows/weight_l2", head.l2);
  write("rows/weight_l1", head.l1);
  write("rows/weight_sum", head.sum);
  write("rows/context_rms", head.rms);
  if (kind.starts_with("diff")) write("rows/lambda", head.lambda);
  // Norms of the values: the largest so far comes where it did in the head.
  layer->value_norms.assign(3, std::vector<float>(kRows, 0.0f));
  for (std::size_t j = 0; j < kRows; ++j)
    layer->value_norms[0][j] = static_cast<float>(std::sqrt(double(kValueDim)) * head.largest_value[j]);
  run->data[0] = layer;
  run->min_row = kMinRow;
  return run;
}

struct Counted {
  double below = 0, inside = 0, above = 0;
};

template <typename Low, typename High>
Counted count(const std::vector<double>& values, const Low& low, const High& high) {
  Counted shares;
  double rows = 0.0;
  for (std::size_t i = kMinRow - 1; i < kRows; ++i) {
    const double n = static_cast<double>(i + 1);
    (values[i] < low(i, n) - 1e-6 ? shares.below : values[i] > high(i, n) + 1e-6 ? shares.above : shares.inside) += 1.0;
    rows += 1.0;
  }
  for (double* share : {&shares.below, &shares.inside, &shares.above}) *share /= rows;
  return shares;
}

const RowInterval& interval(const RowIntervals& intervals, const char* name) {
  const auto found = std::ranges::find(intervals.all, std::string(name), &RowInterval::name);
  CATCH_CAPTURE(name);
  CATCH_REQUIRE(found != intervals.all.end());
  return *found;
}

void check_shares(const RowInterval& interval, const Counted& expected) {
  CATCH_CAPTURE(interval.name, expected.below, expected.inside, expected.above);
  CATCH_CHECK(interval.shares.below == Approx(expected.below).margin(1e-9));
  CATCH_CHECK(interval.shares.inside == Approx(expected.inside).margin(1e-9));
  CATCH_CHECK(interval.shares.above == Approx(expected.above).margin(1e-9));
}

const auto kZero = [](std::size_t, double) { return 0.0; };

}  // namespace

CATCH_TEST_CASE("‖w‖₂ has its own shares of softmax's, DIFF V2's and the head's own interval") {
  for (const std::string kind :
       {"softmax", "softmax_sink", "softmax_one", "gated", "diff_v2", "diff_v1", "diff_v1_negative"}) {
    CATCH_CAPTURE(kind);
    const MadeHead head = make_head(kind);
    const auto run = run_of(head, kind);
    const HeadSeries series = make_head_series(*run, *run->layer(0), 1);
    const RowIntervals& found = series.intervals[static_cast<std::size_t>(RmsTab::Weights)];
    CATCH_CHECK(found.rows == kRows - kMinRow + 1);
    CATCH_CHECK(found.not_finite == 0);
    const auto root = [](std::size_t, double n) { return 1.0 / std::sqrt(n); };
    const auto one = [](std::size_t, double) { return 1.0; };
    const Counted softmax = count(head.l2, root, one);
    check_shares(interval(found, "softmax"), softmax);
    const bool pair = kind.starts_with("diff"), sink = kind == "softmax_sink" || kind == "softmax_one";
    CATCH_CHECK(found.all.size() == (kind == "diff_v2" || sink ? 3u : pair ? 2u : 1u));
    // A softmax head never leaves its interval; the others can.
    if (kind != "diff_v1_negative") CATCH_CHECK((softmax.inside == 1.0) == !(pair || sink));
    if (sink) {
      const auto s = [&](std::size_t i, double) { return head.sum[i]; };
      check_shares(interval(found, "own"),
                   count(head.l2, [&](std::size_t i, double n) { return head.sum[i] / std::sqrt(n); }, s));
      check_shares(interval(found, kind == "softmax_one" ? "off-by-one" : "sink logit"), count(head.l2, kZero, one));
      CATCH_CHECK(found.own().low.at(99, 100.0) == Approx(head.sum[99] / 10.0));
      CATCH_CHECK(found.own().high.at(99, 100.0) == Approx(head.sum[99]));
    }
    if (pair) {
      const auto low = [&](std::size_t i, double n) { return (1.0 - head.lambda[i]) / std::sqrt(n); };
      const auto high = [&](std::size_t i, double) {
        return head.lambda[i] < 0.0 ? 1.0 - head.lambda[i] : std::sqrt(1.0 + head.lambda[i] * head.lambda[i]);
      };
      check_shares(interval(found, "own"), count(head.l2, low, high));
      CATCH_CHECK(interval(found, "own").shares.inside == 1.0);
      for (const std::size_t i : {std::size_t{0}, std::size_t{77}, std::size_t{159}}) {
        const double n = static_cast<double>(i + 1);
        CATCH_CHECK(found.own().low.at(i, n) == Approx(low(i, n)).margin(1e-6));
        CATCH_CHECK(found.own().high.at(i, n) == Approx(high(i, n)));
      }
      if (kind != "diff_v1_negative") CATCH_CHECK(softmax.below > 0.1);
    }
    if (kind == "diff_v2")
      check_shares(interval(found, "DIFF V2"),
                   count(head.l2, kZero, [](std::size_t, double) { return std::sqrt(2.0); }));
  }
}

CATCH_TEST_CASE("raw RMS is held against what always holds: the weights' ‖·‖₁ times the largest value in view") {
  for (const std::string kind : {"softmax", "softmax_sink", "diff_v2", "diff_v1"}) {
    CATCH_CAPTURE(kind);
    const MadeHead head = make_head(kind);
    const auto run = run_of(head, kind);
    const HeadSeries series = make_head_series(*run, *run->layer(0), 1);
    const RowIntervals& raw = series.intervals[static_cast<std::size_t>(RmsTab::Raw)];
    CATCH_REQUIRE(raw.all.size() == 1);
    const auto ceiling = [&](std::size_t i, double) { return head.l1[i] * head.largest_value[i]; };
    check_shares(raw.own(), count(head.rms, kZero, ceiling));
    CATCH_CHECK(raw.own().shares.inside == 1.0);
    for (const std::size_t i : {std::size_t{0}, std::size_t{40}, std::size_t{159}})
      CATCH_CHECK(raw.own().high.at(i, 1.0) == Approx(ceiling(i, 1.0)));
    // Without the norms nothing is claimed.
    auto bare = std::make_shared<LayerSnapshot>(*run->layer(0));
    bare->value_norms.clear();
    const HeadSeries none = make_head_series(*run, *bare, 1);
    CATCH_CHECK(std::isnan(none.intervals[static_cast<std::size_t>(RmsTab::Raw)].own().shares.inside));
  }
}

CATCH_TEST_CASE("ρ has the shares of the run file, each under the interval that it belongs to") {
  const MadeHead head = make_head("diff_v2");
  const auto run = run_of(head, "diff_v2");
  for (const bool rows : {true, false}) {
    auto layer = std::make_shared<LayerSnapshot>(*run->layer(0));
    if (!rows) layer->series.clear();
    run->data[0] = layer;
    const HeadSeries series = make_head_series(*run, *layer, 1);
    const RowIntervals& found = series.intervals[static_cast<std::size_t>(RmsTab::Relative)];
    const std::array<const char*, 3> names = {"softmax", "DIFF V2", "own"};
    for (std::size_t bound = 0; bound < 3; ++bound) {
      const RowShares& shares = interval(found, names[bound]).shares;
      CATCH_CHECK(shares.below == run->at("rows_below_bound", 0, 1, bound));
      CATCH_CHECK(shares.inside == run->at("rows_inside_bound", 0, 1, bound));
      CATCH_CHECK(shares.above == run->at("rows_above_bound", 0, 1, bound));
    }
  }
}

CATCH_TEST_CASE("a window, hidden keys and a map alone have the bounds of what is visible") {
  const MadeHead head = make_head("diff_v2");
  auto run = run_of(head, "diff_v2");
  auto layer = std::make_shared<LayerSnapshot>(*run->layer(0));
  // The largest value lies at key 0; a window of 50 leaves it behind.
  layer->value_norms[0].assign(kRows, static_cast<float>(std::sqrt(double(kValueDim))));
  layer->value_norms[0][0] *= 3.0f;
  layer->visible[0].clear();
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(kRows); ++i)
    layer->visible[0].push_back(std::min<std::int64_t>(i + 1, 50));
  const auto high = [&](const LayerSnapshot& of, std::size_t row) {
    return make_head_series(*run, of, 1).intervals[static_cast<std::size_t>(RmsTab::Raw)].own().high.at(row, 1.0);
  };
  CATCH_CHECK(high(*layer, 49) == Approx(3.0 * head.l1[49]));
  CATCH_CHECK(high(*layer, 50) == Approx(head.l1[50]));
  layer->programs[1].hidden_keys = {7};
  CATCH_CHECK(high(*layer, 120) == Approx(3.0 * head.l1[120]));
  layer->programs[1].hidden_keys.clear();
  layer->programs[1].first_enabled = false;  // what is left is −λ a²
  const RowIntervals alone = name_intervals(layer->programs[1], RmsTab::Weights);
  CATCH_CHECK(alone.own().text == "[|λᵢ|/√nᵢ, |λᵢ|]");
  layer->programs[1].first_enabled = true;
  layer->programs[1].sink = SinkSource::Learned;
  CATCH_CHECK(name_intervals(layer->programs[1], RmsTab::Weights).own().low.name == "|s¹−λs²|/√nᵢ");
}

CATCH_TEST_CASE("rows that are not finite are counted apart, and the others have their shares") {
  const MadeHead head = make_head("softmax");
  const auto run = run_of(head, "softmax");
  auto layer = std::make_shared<LayerSnapshot>(*run->layer(0));
  for (const std::size_t row : {std::size_t{10}, std::size_t{80}, std::size_t{90}})
    layer->series["rows/weight_l2"][kRows + row] = std::numeric_limits<float>::quiet_NaN();
  layer->series["rows/weight_l2"][kRows + 91] = std::numeric_limits<float>::infinity();
  run->data[0] = layer;
  const HeadSeries series = make_head_series(*run, *layer, 1);
  const RowIntervals& found = series.intervals[static_cast<std::size_t>(RmsTab::Weights)];
  CATCH_CHECK(found.rows == 97);
  CATCH_CHECK(found.not_finite == 3);  // row 10 does not count
  CATCH_CHECK(found.own().shares.inside == 1.0);
  HeadsBench bench;
  bench.state = test::make_state(run, {0, 1});
  bench.state.view.head.rms = "weights";
  const RecordingPainter& painter = bench.draw(draw_head_panel, {1068, 69, 1440, 770});
  test::holds(painter, "not finite");
  CATCH_CHECK(painter.shows("3 of 97 rows not finite"));
  CATCH_CHECK(bench.fact("rms.softmax.inside") == 100.0);
}

CATCH_TEST_CASE("every interval of a tab is drawn and named in the plot, and its shares are printed beside it") {
  for (const std::string kind : {"softmax", "softmax_sink", "diff_v2", "diff_v1"})
    for (const char* tab : {"relative", "weights", "raw"}) {
      CATCH_CAPTURE(kind, tab);
      const MadeHead head = make_head(kind);
      HeadsBench bench;
      bench.state = test::make_state(run_of(head, kind), {0, 1});
      bench.state.view.head.rms = tab;
      const RecordingPainter& painter = bench.draw(draw_head_panel, {1040, 69, 1440, 870});
      test::holds(painter, kind + tab);
      const HeadSeries& series = bench.heads.series(*bench.state.data()->layer(0), 1);
      const RowIntervals& intervals = series.intervals[static_cast<std::size_t>(rms_tab(tab))];
      for (const RowInterval& one : intervals.all) {
        CATCH_CAPTURE(one.name);
        CATCH_CHECK(painter.shows(one.name));
        CATCH_CHECK(painter.shows(one.text));
        CATCH_CHECK(painter.shows(fixed_text(100.0 * one.shares.inside, 1)));
        for (const RowEnd* end : {&one.low, &one.high}) {
          if (!end->drawn() || end->name == "1") continue;
          const auto named = painter.find(end->name);
          CATCH_CAPTURE(end->name);
          // In the plot, apart from the text of the interval above it.
          CATCH_CHECK(std::ranges::any_of(named, [&](const RecordedText* text) { return text->text == end->name; }));
        }
      }
    }
}

}  // namespace headroom
