// The large text with its predictions: nothing is cut or touches, what it says is what the run holds, arcs are those of
// the map's row.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/panels/tokens/large_text.h"
#include "app/panels/tokens/loss_plot.h"
#include "app/panels/tokens/prediction_panel.h"
#include "app/panels/tokens/tokens_arcs.h"
#include "app/panels/tokens/tokens_large.h"
#include "tests/support/heads_bench.h"

using namespace headroom;
using test::HeadsBench;
using test::holds;

namespace {

const Rect kWide{28.0f, 69.0f, 1100.0f, 875.0f}, kSide{1101.0f, 69.0f, 1440.0f, 875.0f};

// As many rows as tokens; what came at i has rank 1 + i % 3 and a loss that says where it is.
std::shared_ptr<const Predictions> made_predictions(const Prompt& prompt) {
  auto made = std::make_shared<Predictions>();
  made->vocabulary = 49152;
  for (std::size_t i = 0; i < prompt.ids.size(); ++i) {
    const bool known = i + 1 < prompt.ids.size();
    const std::size_t at = i % 3;
    for (std::size_t k = 0; k < 8; ++k) {
      const std::int32_t other = 1000 + static_cast<std::int32_t>(k);
      made->token.push_back(known && k == at ? prompt.ids[i + 1] : other);
      made->log_probability.push_back(-0.5 - static_cast<double>(k));
      made->texts[made->token.back()] = k == at ? " what\ncame" : " other" + std::to_string(k);
    }
    made->log_sum_exp.push_back(20.0);
    made->entropy.push_back(1.25);
    if (!known) continue;
    made->loss.push_back(0.5 + static_cast<double>(at) + 1e-3 * static_cast<double>(i));
    made->rank.push_back(static_cast<std::int32_t>(at) + 1);
  }
  return made;
}

void predict(HeadsBench& bench) {
  RunEntry& run = bench.state.runs.front();
  auto data = std::make_shared<RunSnapshot>(*run.data);
  data->predictions = made_predictions(*data->prompt);
  run.data = std::move(data);
  bench.state.view.centre = CentreView::Tokens;
}

}  // namespace

CATCH_TEST_CASE("large tokens: no text is cut, outside or on another") {
  for (const bool hostile : {false, true})
    for (const std::int64_t length : {1, 2, 60, 512, 20000})
      for (const char* kind : {"softmax", "diff_v2"})
        for (const bool predicted : {true, false}) {
          test::SnapshotOptions options;
          options.kind = kind, options.length = length, options.hostile = hostile, options.layers = 2;
          HeadsBench bench(options);
          if (predicted) predict(bench);
          bench.state.view.centre = CentreView::Tokens;
          bench.state.view.selection.query = length / 2;
          for (const char* tint : {"loss", "rank", "entropy", "attention", "received", "none"})
            for (const Rect frame : {kWide, Rect{28, 69, 740, 615}, Rect{28, 69, 400, 500}, Rect{0, 0, 2200, 1300}}) {
              if (length > 600 && std::string(tint) != "loss") continue;
              bench.state.view.tokens.large_tint = tint;
              const std::string what =
                  std::string(kind) + " n " + std::to_string(length) + " " + tint + " " + std::to_string(frame.width());
              holds(bench.draw(draw_large_tokens_panel, frame), what);
            }
          for (const Rect frame : {kSide, Rect{0, 69, 280, 615}, Rect{0, 0, 700, 1300}, Rect{0, 0, 240, 300}})
            for (const std::int64_t top : {1, 5, 8}) {
              bench.state.view.tokens.top = top;
              holds(
                  bench.draw(draw_prediction_panel, frame),
                  std::string(kind) + " prediction n " + std::to_string(length) + " " + std::to_string(frame.width()));
            }
        }
}

CATCH_TEST_CASE("large tokens: without a run, and without predictions, it says what is missing") {
  test::SnapshotOptions options;
  options.length = 60, options.layers = 2;
  HeadsBench bench(options);
  bench.state.view.centre = CentreView::Tokens;
  bench.state.runs.front().model = -1;
  CATCH_CHECK(bench.draw(draw_prediction_panel, kSide).shows("this file has no next tokens"));
  CATCH_CHECK(bench.draw(draw_large_tokens_panel, kWide).shows("no tint"));
}

CATCH_TEST_CASE("prediction: the likeliest tokens with their probabilities, what came with rank and loss") {
  test::SnapshotOptions options;
  options.length = 60, options.layers = 2;
  HeadsBench bench(options);
  predict(bench);
  bench.state.view.selection.query = 31;  // 31 % 3 = 1: what came is the second
  const RecordingPainter& painter = bench.draw(draw_prediction_panel, kSide);
  CATCH_CHECK(painter.shows("60.7 %"));  // e^{−0.5}
  CATCH_CHECK(painter.shows("22.3 %"));  // e^{−1.5}
  CATCH_CHECK(painter.shows("1.11 %"));  // e^{−4.5}
  CATCH_CHECK(painter.shows("rank 2"));
  CATCH_CHECK(painter.shows("1.5310 nats"));  // 0.5 + 1 + 0.031
  CATCH_CHECK(painter.shows("1.250 nats"));
  CATCH_CHECK(painter.shows("0.530 nats"));  // this token's own, of row 30
  CATCH_CHECK(bench.fact("tokens.loss") == 0.5 + 0.030);
  CATCH_CHECK(bench.fact("tokens.rank") == 1.0);
  bench.state.view.selection.query = 59;
  CATCH_CHECK(bench.draw(draw_prediction_panel, kSide).shows("the text ends here"));
  bench.state.view.selection.query = 0;
  CATCH_CHECK(bench.draw(draw_prediction_panel, kSide).shows("it has no loss"));
}

CATCH_TEST_CASE("probabilities under 10 % have two decimals, and none is 0.0 % or 100.0 %") {
  CATCH_CHECK(probability_text(0.966) == "96.6 %");
  CATCH_CHECK(probability_text(0.1) == "10.0 %");
  CATCH_CHECK(probability_text(0.0999) == "9.99 %");
  CATCH_CHECK(probability_text(0.0061) == "0.61 %");
  CATCH_CHECK(probability_text(0.00006) == "0.01 %");
  CATCH_CHECK(probability_text(1e-9) == "< 0.01 %");
  CATCH_CHECK(probability_text(0.0) == "< 0.01 %");
  CATCH_CHECK(probability_text(0.99999) == "> 99.9 %");
  CATCH_CHECK(probability_text(std::nan("")) == "–");
}

CATCH_TEST_CASE(
    "arcs go to the strongest keys of at least that weight, twelve at most, none over the token's own line") {
  PointedAttention attention;
  std::vector<float> row(40, 0.0f);
  for (std::size_t j = 0; j < 16; ++j) {
    row[2 * j] = (j % 2 == 0 ? 1.0f : -1.0f) * 0.3f / static_cast<float>(j + 1);
    attention.strongest.push_back(static_cast<std::int64_t>(2 * j));
  }
  attention.weights = std::make_shared<const std::vector<float>>(row);
  CATCH_CHECK(arc_keys(attention, 0.1) == std::vector<std::int64_t>{0, 2, 4});
  CATCH_CHECK(arc_keys(attention, 1e-6).size() == kMostArcs);
  CATCH_CHECK(arc_keys({}, 0.01).empty());
  const Rect token{300, 200, 340, 221}, above{50, 118, 90, 139}, beside{10, 200, 40, 221};
  CATCH_CHECK(arc_between(token, beside).empty());
  const std::vector<Vec2> curve = arc_between(token, above);
  CATCH_REQUIRE(curve.size() > 8);
  CATCH_CHECK(curve.front().x == 320.0f);
  CATCH_CHECK(curve.front().y == 200.0f);
  CATCH_CHECK(std::abs(curve.back().x - 70.0f) < 1e-3f);
  for (const Vec2 point : curve) CATCH_CHECK(point.y <= 200.01f);  // never over its own line
}

CATCH_TEST_CASE("a running median is the median of the values round a place, fewer at the ends") {
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back(static_cast<double>((i * 37) % 101));
  values[50] = std::nan("");
  const std::vector<double> found = running_median(values, 33);
  CATCH_REQUIRE(found.size() == values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::vector<double> near;
    for (std::size_t j = i >= 16 ? i - 16 : 0; j < std::min(values.size(), i + 17); ++j)
      if (!std::isnan(values[j])) near.push_back(values[j]);
    std::ranges::sort(near);
    const std::size_t middle = near.size() / 2;
    const double wanted = near.size() % 2 == 1 ? near[middle] : 0.5 * (near[middle - 1] + near[middle]);
    CATCH_CHECK(found[i] == wanted);
  }
}
