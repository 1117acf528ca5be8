// The panels of a training as they are drawn: texts within their panel and apart at many sizes and in every state,
// spikes that survive a million steps, and what the pointer asks for.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/chrome/status_bar.h"
#include "app/panels/chrome/tool_bar.h"
#include "app/panels/chrome/window_layout.h"
#include "app/panels/panel.h"
#include "app/panels/training/training_curves.h"
#include "app/plot/plain_measure.h"
#include "tests/app/panels/bars_bench.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

void draw_slots(PanelContext& context) {
  const WindowLayout layout = window_layout(context.ui.input.window, context.state);
  draw_tool_bar(context, layout.tool_bar);
  for (const PanelSlot* slot : layout.slots())
    if (slot->drawn()) slot->panel->draw(context, slot->rect);
  draw_status_bar(context, layout.status);
}

struct Made {
  std::string kind = "softmax";
  std::int64_t seed = 1, steps = 600, layers = 1, heads = 1;
  bool second = false, statistics = true, validation = true, finished = true, checkpoints = true;
  std::optional<std::int64_t> diverged = {};
};

TrainingEntry made_training(int id, const Made& made) {
  std::mt19937 random(static_cast<unsigned>(id));
  std::normal_distribution<float> noise(0.0f, 0.05f);
  auto history = std::make_shared<StoredHistory>();
  history->kind = made.kind;
  history->recipe = "backcopy";
  history->seed = made.seed;
  history->loss_unit = "nat";
  history->step = made.steps;
  history->planned_steps = made.finished ? made.steps : 4 * made.steps;
  history->finished = made.finished;
  history->diverged_step = made.diverged;
  history->gradient_clip = 1.0;
  history->loss_spikes = 12;
  history->gradient_norm_spikes = 102;
  history->gradient_norm_max_over_median = 48.7;
  history->layers = made.layers;
  history->heads = made.heads;
  history->second_maps = made.second;
  std::vector<float> loss, norm, rate;
  for (std::int64_t i = 0; i < made.steps; ++i) {
    loss.push_back(1.7f + 2.0f * std::exp(-static_cast<float>(i) / 30.0f) + noise(random));
    norm.push_back(0.4f + std::abs(noise(random)) + (i % 170 == 169 ? 14.0f : 0.0f));
    rate.push_back(0.003f);
  }
  history->loss = StepSeries(loss);
  history->gradient_norm = StepSeries(norm);
  history->learning_rate = StepSeries(rate);
  if (made.validation) history->validation_loss = StepSeries({0, 250, 500}, {3.6f, 1.75f, 1.71f});
  if (made.statistics) {
    std::vector<std::int64_t> at;
    std::vector<float> sink, net, logit, low, high;
    for (std::int64_t i = 0; i <= made.steps; i += 20) {
      at.push_back(i);
      sink.push_back(i > 300 ? 0.6f : 0.1f);
      net.push_back(0.02f);
      logit.push_back(3.0f + static_cast<float>(i) / 10.0f);
      low.push_back(0.0f);
      high.push_back(0.9f);
    }
    history->curves[{0, 0}] = {StepSeries(at, sink), StepSeries(at, net), StepSeries(at, logit)};
    history->sink_score = {StepSeries(at, sink), StepSeries(at, low), StepSeries(at, high)};
    history->sink_score_net = {StepSeries(at, net), StepSeries(at, low), StepSeries(at, high)};
    history->logit_max = {StepSeries(at, logit), StepSeries(at, logit), StepSeries(at, logit)};
    history->sink_head = HeadAddress{0, 0};
  }
  TrainingEntry entry;
  entry.id = id;
  entry.path = "/models/" + made.kind + "/training.h5";
  entry.name = made.kind + " " + std::to_string(made.seed);
  entry.smoothed = std::make_shared<const SmoothedHistory>(
      SmoothedHistory{41, mean_of_steps(history->loss, 41), largest_of_steps(history->gradient_norm, 41)});
  if (made.checkpoints)
    for (const std::int64_t step : {std::int64_t{0}, std::int64_t{100}, std::int64_t{300}, made.steps}) {
      history->checkpoints.push_back({step, "/models/step"});
      FilmFrame frame;
      frame.checkpoint = history->checkpoints.back();
      if (step == 300) frame.failed = "the checkpoint's config.json is damaged: a sentence that goes on for long";
      if (step < 300) {
        frame.run = std::make_shared<const RunSnapshot>();
        frame.layer = 0;
        frame.side = 8;
        frame.is_signed = made.second;
        frame.generation = static_cast<std::uint64_t>(id * 10 + step);
        std::vector<float> values(64, NAN);
        for (std::size_t q = 0; q < 8; ++q)
          for (std::size_t k = 0; k <= q; ++k) values[8 * q + k] = 1.0f / static_cast<float>(q + 1);
        frame.maps = {std::make_shared<const std::vector<float>>(values)};
      }
      entry.film.push_back(frame);
    }
  entry.data = history;
  return entry;
}

struct TrainingBench : PanelBench {
  explicit TrainingBench(const std::vector<TrainingEntry>& entries, Vec2 size = {1440.0f, 900.0f}, float scale = 1.0f)
      : PanelBench(draw_slots, size, scale) {
    state.trainings = entries;
    state.view.centre = CentreView::Training;
    std::vector<std::string> kinds;
    for (TrainingEntry& entry : state.trainings) {
      if (!entry.data || std::ranges::count(kinds, entry.data->kind)) continue;
      kinds.push_back(entry.data->kind);
      entry.chosen = true;
    }
  }
};

std::vector<TrainingEntry> two_kinds() {
  std::vector<TrainingEntry> entries;
  for (int i = 1; i <= 3; ++i) entries.push_back(made_training(i, {.seed = i}));
  for (int i = 1; i <= 3; ++i) entries.push_back(made_training(3 + i, {.kind = "diff_v2", .seed = i, .second = true}));
  return entries;
}

}  // namespace

CATCH_TEST_CASE("training panels: no text leaves its panel or lies on another, at any size and in every state",
                "[training]") {
  struct Size {
    float width, height, scale;
  };
  constexpr Size kSizes[] = {{800, 500, 1.0f},  {1024, 640, 1.0f},  {1024, 640, 2.0f}, {1440, 900, 1.0f},
                             {1440, 900, 1.5f}, {2560, 1440, 1.0f}, {2560, 1440, 2.0f}};
  for (const Size& size : kSizes)
    for (int state = 0; state < 9; ++state) {
      std::vector<TrainingEntry> entries = two_kinds();
      if (state == 1) entries = {made_training(1, {})};
      if (state == 2) entries = {made_training(1, {.checkpoints = false})};
      if (state == 3) entries = {made_training(1, {.finished = false}), made_training(2, {.seed = 2, .diverged = 411})};
      if (state == 4) entries = {made_training(1, {.kind = "checkpoints", .statistics = false, .validation = false})};
      if (state == 5) entries = {made_training(1, {.layers = 128, .heads = 128})};
      if (state == 6)
        for (int i = 0; i < 30; ++i)
          entries.push_back(
              made_training(10 + i, {.kind = hostile_names()[static_cast<std::size_t>(i) % 7], .seed = i}));
      if (state == 7) {
        entries = {TrainingEntry()};
        entries[0].path = "/models/a/training.h5";
      }
      TrainingBench bench(entries, {size.width, size.height}, size.scale);
      bench.state.view.training.step = 250;
      if (state == 5) bench.state.view.training.all_heads = true;
      if (state == 8) {
        bench.state.view.training.seed_range = bench.state.view.training.log_steps = true;
        bench.state.view.training.range = {20.0, 300.0};
        bench.state.hover.step = 77;
      }
      bench.state.settings.dark = state % 2 == 0;
      CATCH_INFO("state " << state << ", " << size.width << " × " << size.height << " at " << size.scale);
      bench.frame();
      bench.frame();
      CATCH_CHECK(bench.wrong() == "");
    }
}

CATCH_TEST_CASE("training panels: states say what is missing", "[training]") {
  TrainingBench none({made_training(1, {.checkpoints = false})});
  none.frame();
  CATCH_CHECK(none.shows("This history kept no checkpoints"));
  TrainingBench unfinished({made_training(1, {.finished = false})});
  unfinished.frame();
  CATCH_CHECK(unfinished.shows("of 2"));
  CATCH_CHECK(unfinished.shows("1 unfinished"));
  TrainingBench diverged({made_training(1, {.diverged = 411})});
  diverged.frame();
  CATCH_CHECK(diverged.shows("✕ 411"));
  CATCH_CHECK(diverged.shows("1 diverged"));
  TrainingBench trainer({made_training(1, {.statistics = false})});
  trainer.frame();
  CATCH_CHECK(trainer.shows("Learning rate"));
  CATCH_CHECK_FALSE(trainer.shows("Largest logit"));
  TrainingBench whole(two_kinds());
  whole.frame();
  for (const char* text : {"Loss, nats", "Gradient norm", "Largest logit", "Sink score α₀", "mean of 41 steps",
                           "as counted while training", "6 of 6 shown", "not yet", "failed", "step 100"})
    CATCH_CHECK(whole.shows(text));
  CATCH_CHECK(whole.shows("4 of 8 maps"));
}

CATCH_TEST_CASE("training panels: the pointer pins a step, picks histories, and opens a checkpoint", "[training]") {
  TrainingBench bench(two_kinds());
  bench.frame();
  const auto number = [&](const char* name) { return static_cast<float>(std::stod(*bench.facts.find(name))); };
  const float x0 = number("training.loss.x0"), x1 = number("training.loss.x1"), y = number("training.loss.y");
  // The last step's pixel is the plot's right edge: 600 steps from left to right.
  bench.click({x0 + 0.5f * (x1 - x0), y});
  const std::vector<std::string> lines = bench.taken();
  CATCH_REQUIRE_FALSE(lines.empty());
  CATCH_CHECK(lines.front().starts_with("training.step "));
  CATCH_CHECK(std::abs(std::stod(lines.front().substr(14)) - 300.0) <= 1.0);
  bench.click(bench.place("seed 2"));
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"training.show 5"});  // the lower one, of diff_v2
  for (const auto* text : bench.painter->find("log"))
    if (text->text == "log") {
      bench.click({text->baseline.x + 4.0f, text->baseline.y - 4.0f});
      break;
    }
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"training.x log"});
  bench.click(bench.place("Play"));
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"training.play"});
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"training.checkpoint"});
  bench.move({x0 + 0.25f * (x1 - x0), y});
  bench.input.wheel = {0.0f, 1.0f};
  bench.frame();
  const std::vector<std::string> zoomed = bench.taken();
  CATCH_REQUIRE(zoomed.size() == 1);
  CATCH_CHECK(zoomed.front() == "training.zoom 30 510");  // a factor of 1.25 about step 150
}

CATCH_TEST_CASE("training curves: a spike of one step among a million reaches its pixel column, at any zoom",
                "[training]") {
  std::vector<float> values(1000000, 1.0f);
  std::mt19937 random(5);
  std::uniform_real_distribution<float> unit(0.5f, 1.5f);
  for (float& value : values) value = unit(random);
  std::vector<std::size_t> spikes;
  for (int i = 0; i < 200; ++i) {
    spikes.push_back(random() % values.size());
    values[spikes.back()] = i % 2 == 0 ? 9.0f : 0.01f;
  }
  const StepSeries series(values);
  const PlainMeasure measure;
  for (const auto& [low, high] :
       {std::pair(0.0, 999999.0), std::pair(200000.0, 300000.0), std::pair(500000.0, 500900.0)}) {
    AxisSpec x{.low = low, .high = high}, y{.low = 0.001, .high = 10.0, .log = true};
    const PlotFrame frame = lay_out_plot({0, 0, 800, 300}, x, y, measure);
    float most = 0.0f;
    std::vector<Vec2> points;
    for (const auto& piece : column_pieces(frame, series)) points.insert(points.end(), piece.begin(), piece.end());
    CATCH_CHECK(points.size() <= 2 * 800 + 4);
    for (const std::size_t spike : spikes) {
      const auto step = static_cast<double>(spike);
      if (step < low || step > high) continue;
      const Vec2 at = frame.at(step, static_cast<double>(values[spike]));
      const auto there = [&](Vec2 p) { return std::abs(p.x - at.x) <= 1.01f && std::abs(p.y - at.y) < 0.5f; };
      CATCH_INFO("step " << spike << " in " << low << " … " << high);
      CATCH_REQUIRE(std::ranges::any_of(points, there));
      most = std::max(most, values[spike]);
    }
  }
}

CATCH_TEST_CASE("training curves: what exceeds the axis is marked, with the largest value and its step", "[training]") {
  std::vector<float> values(1000, 1.0f);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0f + 0.01f * static_cast<float>(i % 7);
  values[3] = 3.66f;
  values[700] = 9.5f;
  const StepSeries series(values);
  StepPlot plot;
  plot.curves.push_back({.series = &series, .owner = nullptr, .color = {}});
  const Axis steps{0.0, 999.0, false, 0.0f, 500.0f};
  const Range range = step_range(plot, steps);
  CATCH_CHECK(range.low <= 1.0);
  CATCH_CHECK(range.high < 1.5);
  const PlainMeasure measure;
  const PlotFrame frame =
      lay_out_plot({0, 0, 540, 300}, {.low = 0.0, .high = 999.0}, {.low = range.low, .high = range.high}, measure);
  const auto off = off_axis(frame, plot.curves);
  CATCH_REQUIRE(off.has_value());
  CATCH_CHECK(off->value == 9.5f);
  CATCH_CHECK(off->step == 700);
  CATCH_CHECK(off->pixels.size() == 2);
  // On a log axis all of them have room.
  plot.log_y = true;
  CATCH_CHECK(step_range(plot, steps).high >= 9.5);
}

CATCH_TEST_CASE("training panels: ten histories of a million steps: a cursor that moves works out no curve again",
                "[training]") {
  std::vector<TrainingEntry> entries;
  for (int i = 1; i <= 10; ++i) entries.push_back(made_training(i, {.seed = i, .steps = 1000000}));
  TrainingBench bench(entries);
  const auto seconds = [&] {
    const auto begin = std::chrono::steady_clock::now();
    bench.frame();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const double first = seconds();
  double moved = 1e9;
  for (int i = 0; i < 5; ++i) {
    bench.state.view.training.step = 1000 * i;
    bench.state.hover.step = 2000 * i;
    moved = std::min(moved, seconds());
  }
  CATCH_INFO("first frame " << first << " s, with the cursor moved " << moved << " s");
  std::printf("ten histories of a million steps: first frame %.1f ms, cursor moved %.1f ms\n", 1e3 * first,
              1e3 * moved);
  CATCH_CHECK(moved < first);
}

}  // namespace headroom::test
