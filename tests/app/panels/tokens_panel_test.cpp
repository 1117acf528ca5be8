#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/panels/parts/token_lines.h"
#include "app/panels/tokens/tokens_panel.h"
#include "app/panels/tokens/tokens_tint.h"
#include "app/plot/token_text.h"
#include "core/base/number_text.h"
#include "tests/support/heads_bench.h"

using namespace headroom;
using test::HeadsBench;
using test::holds;

namespace {

const Rect kFrame{0.0f, 775.0f, 1440.0f, 875.0f};

}  // namespace

CATCH_TEST_CASE("no token is cut, outside or on another, whatever it says") {
  for (const bool hostile : {false, true})
    for (const std::int64_t length : {1, 5, 512, 20000})
      for (const char* kind : {"softmax", "diff_v2", "diff_v1"}) {
        test::SnapshotOptions options;
        options.kind = kind, options.length = length, options.hostile = hostile, options.layers = 2;
        HeadsBench bench(options);
        bench.state.view.selection.query = length / 2;
        bench.state.view.selection.key = length - 1;
        for (const Rect frame : {kFrame, Rect{0, 537, 1024, 615}, Rect{0, 0, 2560, 300}, Rect{0, 0, 200, 100},
                                 Rect{0, 0, 1024, 30}, Rect{0, 0, 60, 60}})
          for (const char* tint : {"received", "attention", "lambda", "rms", "norm_gain", "none"})
            for (const bool dark : {true, false}) {
              if (length > 600 && (!dark || std::string(tint) != "received")) continue;
              bench.dark = dark;
              bench.state.view.tokens.tint = tint;
              holds(bench.draw(draw_tokens_panel, frame), std::string(kind) + " n " + std::to_string(length) + " " +
                                                              tint + " " + std::to_string(frame.width()));
            }
      }
}

CATCH_TEST_CASE("lines hold whole tokens in order, and equal prompts break alike after a change of width") {
  const PlainMeasure measure;
  const auto prompt = test::make_prompt(3000, true);
  TokenLines lines = break_tokens(prompt, 700.0f, measure);
  const auto check = [&] {
    CATCH_REQUIRE(lines.starts.front() == 0);
    CATCH_REQUIRE(lines.starts.back() == 3000);
    for (std::int64_t line = 0; line < lines.lines(); ++line) {
      float width = 0.0f;
      const std::int64_t begin = lines.starts[static_cast<std::size_t>(line)],
                         end = lines.starts[static_cast<std::size_t>(line) + 1];
      CATCH_REQUIRE(end > begin);
      for (std::int64_t t = begin; t < end; ++t) width += lines.width_of(t) + (t > begin ? kSmallTokens.gap : 0.0f);
      CATCH_CHECK(width <= lines.width + 0.01f);
      // It is full: the next token would not fit.
      if (end < 3000) CATCH_CHECK(width + kSmallTokens.gap + lines.width_of(end) > lines.width);
      CATCH_CHECK(lines.line_of(begin) == line);
      CATCH_CHECK(lines.line_of(end - 1) == line);
    }
  };
  check();
  rebreak_tokens(lines, 400.0f);
  check();
  CATCH_CHECK(lines.starts == break_tokens(prompt, 400.0f, measure).starts);
  CATCH_CHECK(lines.labels.size() <= 14);  // unlike tokens are laid out once
}

CATCH_TEST_CASE("tokens are tinted by the run's values, text stands out from its ground") {
  test::SnapshotOptions options;
  options.length = 60, options.layers = 2;
  HeadsBench bench(options);
  bench.heads.show(bench.state.runs.front().data);
  const RecordingPainter& painter = bench.draw(draw_tokens_panel, kFrame);
  const RunSnapshot& run = *bench.state.runs.front().data;
  const auto received = run.layer(1)->row_values("keys/attention_received", 1);
  CATCH_CHECK(bench.fact("tokens.first") == 0.0);
  CATCH_CHECK(bench.fact("tokens.last") <= 59.0);
  const ColorScale scale{ColorMapId::SequentialDark, ScaleKind::Log10, 1e-4f, 1.0f, 1e-3f};
  std::vector<Color> grounds;
  for (const RecordedShape& shape : painter.shapes())
    if (shape.kind == RecordedShape::Kind::FillRect && shape.bounds.height() == 17.0f) grounds.push_back(shape.color);
  const auto shown = static_cast<std::size_t>(bench.fact("tokens.last")) + 1;
  CATCH_REQUIRE(grounds.size() == shown);
  for (std::size_t i = 0; i < shown; ++i) CATCH_CHECK(grounds[i] == scale_color(scale, received[i]));
  std::size_t token = 0;
  for (const RecordedText& text : painter.texts())
    if (text.style.size == kSmallTokens.size && text.style.face == Face::Sans && text.baseline.y > kFrame.y0 + 30.0f &&
        token < shown) {
      CATCH_CHECK(text.style.color == text_on(grounds[token]));
      CATCH_CHECK(contrast_ratio(text.style.color, grounds[token]) >= 4.5);
      ++token;
    }
  CATCH_CHECK(token == shown);
  bench.state.view.tokens.tint = "lambda";
  CATCH_CHECK(bench.draw(draw_tokens_panel, kFrame).shows("a softmax head has no λ"));
}

CATCH_TEST_CASE("a click pins the token as key, with Shift as query, and the pointer hovers it") {
  test::SnapshotOptions options;
  options.length = 60, options.layers = 2;
  HeadsBench bench(options);
  bench.draw(draw_tokens_panel, kFrame);
  const PlainMeasure measure;
  const TokenLines lines = break_tokens(bench.state.runs.front().data->prompt, 1440.0f - 24.0f - 12.0f, measure);
  float x = 12.0f;
  for (std::int64_t t = 0; t < 7; ++t) x += lines.width_of(t) + kSmallTokens.gap;
  const Vec2 at{x + 0.5f * lines.width_of(7), 775.0f + 28.0f + 4.0f + 11.0f};
  CATCH_CHECK(bench.click(draw_tokens_panel, kFrame, at) == std::vector<std::string>{"pin - 7"});
  CATCH_CHECK(bench.hover.key == 7);
  bench.input.modifiers.shift = true;
  CATCH_CHECK(bench.click(draw_tokens_panel, kFrame, at) == std::vector<std::string>{"pin 7 -"});
}

CATCH_TEST_CASE("what is pinned or asked for comes into view, and the panel says where the other is") {
  test::SnapshotOptions options;
  options.length = 5000, options.layers = 2;
  HeadsBench bench(options);
  bench.state.view.selection.key = 2500;
  bench.state.view.selection.query = 4000;
  for (int i = 0; i < 3; ++i) bench.draw(draw_tokens_panel, kFrame);
  CATCH_CHECK(bench.fact("tokens.first") <= 2500.0);
  CATCH_CHECK(bench.fact("tokens.last") >= 2500.0);
  CATCH_CHECK(bench.painter->shows("query " + grouped_text(4000) + " is below ↓"));
  CATCH_CHECK(bench.painter->shows("of " + grouped_text(5000)));
  bench.state.view.tokens.scroll_to = 4990;
  for (int i = 0; i < 3; ++i) bench.draw(draw_tokens_panel, kFrame);
  CATCH_CHECK(bench.fact("tokens.last") >= 4990.0);
  CATCH_CHECK(bench.painter->shows("is above ↑"));
}

// Counts what is asked of it.
class CountingMeasure final : public TextMeasure {
 public:
  [[nodiscard]] float width(std::string_view text, Face face, float size) const override {
    ++asked;
    return plain_.width(text, face, size);
  }
  mutable std::size_t asked = 0;

 private:
  PlainMeasure plain_;
};

CATCH_TEST_CASE(
    "131 072 tokens measure each unlike one once, none at another width, and a minimap keeps the strongest") {
  const CountingMeasure measure;
  const auto few = test::make_prompt(1310);
  (void)break_tokens(few, 1400.0f, measure);
  const std::size_t unlike = std::exchange(measure.asked, 0);
  const auto prompt = test::make_prompt(131072);
  TokenLines lines = break_tokens(prompt, 1400.0f, measure);
  CATCH_CHECK(lines.tokens() == 131072);
  // A hundred times as many tokens of the same fifteen words: the same work of the measure, which is what takes time.
  CATCH_CHECK(lines.labels.size() <= 15);
  CATCH_CHECK(measure.asked == unlike);
  rebreak_tokens(lines, 700.0f);
  CATCH_CHECK(measure.asked == unlike);
  CATCH_CHECK(lines.starts.back() == 131072);
  std::vector<float> values(131072, 0.001f);
  values[70000] = 0.9f;
  values[70001] = -0.95f;
  values[5] = std::nanf("");
  const std::vector<float> pooled = pooled_tint(values, 1400);
  CATCH_CHECK(pooled[70000UL * 1400UL / 131072UL] == -0.95f);
  CATCH_CHECK(pooled[0] == 0.001f);
  CATCH_CHECK(pooled_tint(std::vector<float>{0.5f}, 4) == std::vector<float>(4, 0.5f));
}
