#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/figures/head_series.h"
#include "app/panels/head/head_panel.h"
#include "core/base/number_text.h"
#include "tests/support/heads_bench.h"

using namespace headroom;
using test::HeadsBench;
using test::holds;

namespace {

const Rect kFrame{1100.0f, 70.0f, 1440.0f, 770.0f};

}  // namespace

CATCH_TEST_CASE("no text of the head panel is cut, outside or on another, for any kind, size, section and theme") {
  for (const char* kind : {"softmax", "diff_v2", "diff_v1", "gated", "softmax_sink"})
    for (const std::int64_t length : {1, 2, 7, 160}) {
      test::SnapshotOptions options;
      options.kind = kind, options.length = length, options.hostile = true;
      HeadsBench bench(options);
      for (const Rect frame : {kFrame, Rect{1068, 69, 1440, 770}, Rect{762, 69, 1024, 536}, Rect{0, 69, 1440, 870},
                               Rect{0, 0, 700, 2400}, Rect{0, 0, 120, 200}})
        for (const bool dark : {true, false})
          for (const char* rms : {"relative", "raw", "weights"}) {
            bench.dark = dark;
            bench.state.view.head.rms = rms;
            for (const char* closed :
                 {"", "decomposition", "sinks", "logits", "lambda", "gain", "gate", "cancellation", "norm"}) {
              bench.state.view.head.folded.clear();
              if (*closed != '\0') bench.state.view.head.folded = {closed};
              if (*closed != '\0' && (!dark || std::string(rms) != "relative")) continue;
              holds(bench.draw(draw_head_panel, frame), std::string(kind) + " n " + std::to_string(length) + " " + rms +
                                                            " " + closed + " " + std::to_string(frame.width()) + "×" +
                                                            std::to_string(frame.height()));
            }
          }
      bench.state.view.head.across_model = true;
      holds(bench.draw(draw_head_panel, kFrame), "across");
      bench.state.view.head.across_model = false;
      bench.state.view.selection.head.reset();
      holds(bench.draw(draw_head_panel, kFrame), "no head");
      CATCH_CHECK(bench.painter->shows("No head is selected."));
      bench.state.view.selection.head = HeadRef{0, 99};
      holds(bench.draw(draw_head_panel, kFrame), "a head that the run leaves out");
      CATCH_CHECK(bench.painter->shows("L0.H99 is not measured."));
      bench.state.runs.clear();
      holds(bench.draw(draw_head_panel, kFrame), "no run");
      CATCH_CHECK(bench.painter->shows("Nothing has run yet."));
      CATCH_CHECK_FALSE(bench.painter->shows("No head is selected."));
    }
}

CATCH_TEST_CASE("a wide head panel has its sections side by side, whole and all open") {
  for (const char* kind : {"softmax", "diff_v2", "diff_v1"}) {
    test::SnapshotOptions options;
    options.kind = kind;
    HeadsBench bench(options);
    for (const Rect frame : {Rect{0, 69, 1440, 875}, Rect{0, 69, 2560, 1415}, Rect{0, 69, 1024, 615}})
      for (const bool dark : {true, false}) {
        bench.dark = dark;
        const RecordingPainter& painter = bench.draw(draw_head_panel, frame);
        holds(painter, std::string(kind) + " " + std::to_string(frame.width()));
        const RecordedText &numbers = *painter.find("In numbers").front(), &logits = *painter.find("Logits").front();
        CATCH_CHECK(logits.baseline.x >= numbers.baseline.x + 400.0f);
        if (frame.height() > 800.0f) CATCH_CHECK_FALSE(painter.shows(" below"));
        // A number stands within a hand of its name.
        const RecordedText& name =
            *painter.find(std::string(kind) == "softmax" ? "sink score α₀" : "map cosine").front();
        float nearest = 1e9f;
        for (const RecordedText& text : painter.texts())
          if (std::abs(text.baseline.y - name.baseline.y) < 4.0f && text.baseline.x > name.baseline.x + name.width)
            nearest = std::min(nearest, text.baseline.x - name.baseline.x);
        CATCH_CHECK(nearest < 0.62f * std::min(frame.width(), 900.0f));
      }
  }
  test::SnapshotOptions options;
  HeadsBench bench(options);
  const RecordingPainter& painter = bench.draw(draw_head_panel, kFrame);
  CATCH_CHECK(painter.find("In numbers").front()->baseline.x == painter.find("Context RMS").front()->baseline.x);
}

CATCH_TEST_CASE("a panel without rows says so and still shows the numbers") {
  test::SnapshotOptions options;
  options.series = false;
  HeadsBench bench(options);
  holds(bench.draw(draw_head_panel, kFrame), "no series");
  CATCH_CHECK(bench.painter->shows("The run kept no ρ per row."));
  const RunSnapshot& run = *bench.state.runs.front().data;
  for (const char* name : {"sink_score", "context_rms_relative_mean", "coherence_mean", "logit_max"})
    CATCH_CHECK(bench.painter->shows(number_text(*find_quantity_info(name), run.at(name, 1, 1))));
  options.finished = 1;
  HeadsBench partly(options, {0, 0});
  partly.draw(draw_head_panel, kFrame);
  CATCH_CHECK(partly.painter->shows("this head among 3 so far"));
  partly.state.view.selection.head = HeadRef{2, 0};
  holds(partly.draw(draw_head_panel, kFrame), "waits");
  CATCH_CHECK(partly.painter->shows("Layer 2 is not computed yet."));
  partly.state.runs.front().status = RunStatus::Cancelled;
  holds(partly.draw(draw_head_panel, kFrame), "cancelled");
  CATCH_CHECK(partly.painter->shows("Layer 2 was not computed."));
}

CATCH_TEST_CASE("numbers, shares and the premise are the run's") {
  test::SnapshotOptions options;
  options.kind = "diff_v2";
  HeadsBench bench(options);
  const RecordingPainter& painter = bench.draw(draw_head_panel, {1068, 69, 1440, 770});
  const RunSnapshot& run = *bench.state.runs.front().data;
  const auto at = [&](const char* name, std::size_t index = 0) { return run.at(name, 1, 1, index); };
  for (const char* column : {"first", "second", "net"}) CATCH_CHECK(painter.shows(column));
  CATCH_CHECK(painter.shows(fixed_text(at("sink_score", 0), 3)));
  CATCH_CHECK(painter.shows(fixed_text(at("sink_score", 1), 3)));
  CATCH_CHECK(painter.shows(fixed_text(at("sink_score_net"), 3)));
  CATCH_CHECK(painter.shows(fixed_text(at("logit_max", 1), 1)));
  CATCH_CHECK(painter.shows(fixed_text(at("lambda_std"), 3)));
  // Softmax's interval, DIFF V2's and the head's own: three shares each.
  for (const std::size_t bound : {std::size_t{0}, std::size_t{1}, std::size_t{2}})
    for (const char* name : {"rows_below_bound", "rows_inside_bound", "rows_above_bound"})
      CATCH_CHECK(painter.shows(fixed_text(100.0 * at(name, bound), 1)));
  for (const char* text : {"softmax", "DIFF V2", "own", "[1/√nᵢ, 1)", "(0, √2)", "[(1−λᵢ)/√nᵢ, √(1+λᵢ²))"})
    CATCH_CHECK(painter.shows(text));
  const double product = at("value_mean_share") * 160.0;
  CATCH_CHECK(painter.shows("m·n = " + short_text(product)));
}

CATCH_TEST_CASE("the three terms add to log ρ in every row") {
  for (const char* kind : {"softmax", "diff_v2", "diff_v1"}) {
    test::SnapshotOptions options;
    options.kind = kind, options.window = 50;
    const auto run = test::make_snapshot(options);
    const LayerSnapshot& layer = *run->layer(2);
    const HeadSeries series = make_head_series(*run, layer, 1);
    CATCH_REQUIRE(series.kept);
    CATCH_REQUIRE(series.rows() == 160);
    for (std::size_t i = 0; i < 160; ++i) {
      CATCH_CAPTURE(kind, i);
      CATCH_CHECK(series.log_e[i] + series.log_r[i] + series.half_log_kappa[i] ==
                  Approx(series.log_rho[i]).margin(1e-12));
      CATCH_CHECK(series.log_rho[i] == Approx(std::log(static_cast<double>(series.rho[i]))).margin(1e-5));
      const double n = static_cast<double>(std::min<std::size_t>(i + 1, 50));
      CATCH_CHECK(series.visible[i] == n);
      CATCH_CHECK((series.faint[i] != 0) == (n < 50.0));  // min(min_row, max n_i)
    }
    double mean = 0.0;
    for (std::size_t i = 49; i < 160; ++i) mean += static_cast<double>(series.rho[i]) / 111.0;
    CATCH_CHECK(series.mean(series.rho) == Approx(mean));
    CATCH_CHECK(series.pair == (std::string(kind) != "softmax"));
    CATCH_REQUIRE(series.outliers.size() == 3);
    const auto logits = layer.row_values("rows/logit_max", 1);
    double largest = 0.0;
    for (const float logit : logits)
      if (!std::isnan(logit)) largest = std::max(largest, static_cast<double>(logit));
    CATCH_CHECK(series.outliers[0].logit == largest);
    CATCH_CHECK(
        (series.outliers[0].logit >= series.outliers[1].logit && series.outliers[1].logit >= series.outliers[2].logit));
  }
}

CATCH_TEST_CASE("cancellation follows its definition, and V1's epsilon is read back from gain and RMS") {
  test::SnapshotOptions options;
  options.kind = "diff_v1";
  auto run = std::make_shared<RunSnapshot>(*test::make_snapshot(options));
  auto layer = std::make_shared<LayerSnapshot>(*run->layer(0));
  const std::size_t n = 160;
  for (std::size_t i = 0; i < 3 * n; ++i) {
    const double rms = static_cast<double>(layer->series["rows/context_rms"][i]);
    layer->series["rows/norm_gain"][i] = static_cast<float>(1.0 / std::sqrt(rms * rms + 2e-6));
  }
  layer->series["rows/context_rms"][n + 9] = 1e-4f;
  layer->series["rows/norm_gain"][n + 9] = static_cast<float>(1.0 / std::sqrt(1e-8 + 2e-6));
  run->data[0] = layer;
  const HeadSeries series = make_head_series(*run, *layer, 1);
  CATCH_CHECK(series.norm_epsilon == Approx(2e-6));
  const auto l1 = layer->row_values("rows/weight_l1", 1), l2 = layer->row_values("rows/weight_l2", 1);
  const auto parts = layer->row_values("rows/weight_l2_component", 1), lambda = layer->row_values("rows/lambda", 1);
  for (const std::size_t i : {std::size_t{0}, std::size_t{77}, std::size_t{159}}) {
    const double la = static_cast<double>(lambda[i]), a = static_cast<double>(parts[i]),
                 b = static_cast<double>(parts[n + i]);
    CATCH_CHECK(series.weight_cancellation[i] == Approx(static_cast<double>(l1[i]) / (1.0 + la)));
    CATCH_CHECK(series.energy_cancellation[i] ==
                Approx(static_cast<double>(l2[i]) / std::sqrt(a * a + la * la * b * b)));
    CATCH_CHECK(series.after_norm[i] ==
                Approx(static_cast<double>(series.rms[i]) * static_cast<double>(series.gain[i])));
  }
}

CATCH_TEST_CASE("sections scroll: those that fit are whole, a line names the others, and each can be closed") {
  test::SnapshotOptions options;
  options.kind = "diff_v2";
  HeadsBench bench(options);
  bench.draw(draw_head_panel, kFrame);
  const auto click = [&](const char* title) {
    const RecordedText& text = *bench.painter->find(title).front();
    return bench.click(draw_head_panel, kFrame, {text.baseline.x + 3.0f, text.baseline.y - 4.0f});
  };
  CATCH_CHECK(bench.painter->shows("In numbers"));
  CATCH_CHECK(bench.painter->shows(" below"));
  CATCH_CHECK_FALSE(bench.painter->shows("largest, with query and key"));  // of Logits, the last
  // Every section comes by, from the top to the last and back.
  const auto wheel = [&](float notches) {
    bench.point(kFrame.centre());
    bench.draw(draw_head_panel, kFrame);
    bench.input.wheel.y = notches;
    bench.draw(draw_head_panel, kFrame);
    holds(bench.draw(draw_head_panel, kFrame), "scrolled");
  };
  for (int i = 0; i < 12; ++i) wheel(-1.0f);
  CATCH_CHECK(bench.painter->shows("largest, with query and key"));
  CATCH_CHECK(bench.painter->shows(" above"));
  CATCH_CHECK_FALSE(bench.painter->shows(" below"));
  CATCH_CHECK_FALSE(bench.painter->shows("map cosine"));  // of In numbers
  for (int i = 0; i < 12; ++i) wheel(1.0f);
  CATCH_CHECK(bench.painter->shows("map cosine"));
  // The line at the bottom is a way down too.
  CATCH_CHECK(click(" below").empty());
  bench.draw(draw_head_panel, kFrame);
  CATCH_CHECK_FALSE(bench.painter->shows("map cosine"));
  for (int i = 0; i < 12; ++i) wheel(1.0f);
  CATCH_CHECK(click("In numbers") == std::vector<std::string>{"head.fold numbers"});
  bench.state.view.head.folded = {"numbers"};
  holds(bench.draw(draw_head_panel, kFrame), "closed");
  CATCH_CHECK(bench.painter->shows("In numbers"));
  CATCH_CHECK_FALSE(bench.painter->shows("map cosine"));
}
