// The token panel of models with experts, and of layers whose rows and keys are of two sequences.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/tokens/tokens_experts.h"
#include "app/panels/tokens/tokens_panel.h"
#include "tests/support/heads_bench.h"

namespace headroom::test {
namespace {

const Rect kFrame{0.0f, 700.0f, 1440.0f, 875.0f};

std::shared_ptr<const RouterSnapshot> router_of(std::int64_t layer, std::int64_t length, std::int64_t experts) {
  RouterRecord record;
  record.layer = layer;
  record.experts = experts;
  record.chosen = 2;
  for (std::int64_t i = 0; i < length; ++i) {
    record.index.push_back(static_cast<std::uint16_t>(i % 3));
    record.index.push_back(static_cast<std::uint16_t>(experts - 1));
    record.weight.push_back(0.75);
    record.weight.push_back(0.25);
  }
  return keep_router(record);
}

// Layers 1 and 3 have experts.
void give_experts(HeadsBench& bench, std::int64_t experts) {
  auto run = std::make_shared<RunSnapshot>(*bench.state.runs.front().data);
  run->routers = {router_of(1, run->length, experts), router_of(3, run->length, experts)};
  bench.state.runs.front().data = std::move(run);
  bench.state.view.tokens.experts = true;
}

SnapshotOptions forty() {
  SnapshotOptions options;
  options.length = 40;
  return options;
}

// Of a bench of forty().
void give_two_sequences(HeadsBench& bench, std::int64_t rows, std::int64_t keys, TokenAxis row_axis,
                        TokenAxis key_axis) {
  auto run = std::make_shared<RunSnapshot>(*bench.state.runs.front().data);
  auto prompt = std::make_shared<Prompt>(*run->prompt);
  for (std::int64_t i = 0; i < keys; ++i) prompt->key_texts.push_back(" frame" + std::to_string(i));
  for (std::int64_t i = 0; i < run->length; ++i)
    prompt->texts[static_cast<std::size_t>(i)] = " word" + std::to_string(i);
  run->prompt = std::move(prompt);
  auto layer = std::make_shared<LayerSnapshot>(*run->data[1]);
  layer->call_name = "decoder.layers.0.encoder_attn";
  layer->rows = rows, layer->keys = keys;
  layer->axes = {row_axis, key_axis};
  run->data[1] = std::move(layer);
  bench.state.runs.front().data = std::move(run);
}

}  // namespace

CATCH_TEST_CASE("the experts of a layer are rows of tokens, with counts") {
  HeadsBench bench;
  give_experts(bench, 8);
  const RecordingPainter& painter = bench.draw(draw_tokens_panel, kFrame);
  holds(painter, "experts");
  for (const char* text : {"E0", "E2", "54", "layer 1, 2 of 8 experts for each token"})
    CATCH_CHECK(painter.shows(text));
  CATCH_CHECK(bench.fact("tokens.experts") == 8.0);
  CATCH_CHECK(bench.fact("tokens.expert_most") == 7.0);
  CATCH_CHECK(bench.fact("tokens.expert_most_count") == 160.0);
  const RunSnapshot& run = *bench.state.runs.front().data;
  CATCH_CHECK(experts_of_token(run, 1, 4) == "experts 1 (0.750), 7 (0.250)");
  CATCH_CHECK(experts_of_token(run, 0, 4).empty());
  CATCH_CHECK(experts_of_token(run, 1, 160).empty());
}

CATCH_TEST_CASE("experts of any number hold at any size, and a layer without any says so") {
  for (const std::int64_t experts : {3, 64, 1000})
    for (const std::int64_t length : {1, 160, 20000}) {
      SnapshotOptions options;
      options.length = length, options.series = length < 1000;
      HeadsBench bench(options);
      give_experts(bench, experts);
      for (const Rect frame : {kFrame, Rect{0, 537, 1024, 615}, Rect{0, 0, 2560, 1300}, Rect{0, 0, 200, 100},
                               Rect{0, 0, 1024, 30}, Rect{0, 0, 60, 60}})
        holds(bench.draw(draw_tokens_panel, frame), std::to_string(experts) + " of " + std::to_string(length));
    }
  HeadsBench bench;
  give_experts(bench, 8);
  bench.state.view.selection.head = HeadRef{0, 1};
  holds(bench.draw(draw_tokens_panel, kFrame), "dense");
  CATCH_CHECK(bench.painter->shows("Layer 0 sends every token through one MLP."));
  CATCH_CHECK(bench.painter->shows("Layers with experts: 1, 3."));
  bench.state.view.tokens.experts = false;
  CATCH_CHECK(bench.draw(draw_tokens_panel, kFrame).shows("Experts"));
  HeadsBench dense;
  dense.state.view.tokens.experts = true;
  CATCH_CHECK_FALSE(dense.draw(draw_tokens_panel, kFrame).shows("Experts"));
}

CATCH_TEST_CASE("a click on a row of an expert pins the token") {
  HeadsBench bench;
  give_experts(bench, 8);
  std::string all;
  for (const std::string& line : bench.click(draw_tokens_panel, kFrame, {1000.0f, 740.0f})) all += line + "\n";
  CATCH_CHECK(all.find("pin - ") != std::string::npos);
}

CATCH_TEST_CASE("where rows and keys are of two sequences both are shown, each with its own words") {
  HeadsBench bench(forty());
  give_two_sequences(bench, 11, 27, TokenAxis::Tokens, TokenAxis::KeyTokens);
  const RecordingPainter& painter = bench.draw(draw_tokens_panel, kFrame);
  holds(painter, "two");
  for (const char* text : {"keys", "queries", "frame26", "word10", "keys 0–26 of 27 · queries 0–10 of 11"})
    CATCH_CHECK(painter.shows(text));
  CATCH_CHECK_FALSE(painter.shows("word11"));
  for (const Rect frame : {Rect{0, 537, 1024, 615}, Rect{0, 0, 200, 100}, Rect{0, 0, 1024, 30}, Rect{0, 0, 60, 60}})
    holds(bench.draw(draw_tokens_panel, frame), "two, small");
  // Each of its words is what it is to the head.
  const auto click_on = [&](const char* word) {
    bench.draw(draw_tokens_panel, kFrame);
    const RecordedText& text = *bench.painter->find(word).front();
    std::string all;
    for (const std::string& line :
         bench.click(draw_tokens_panel, kFrame, {text.baseline.x + 4.0f, text.baseline.y - 4.0f}))
      all += line + "\n";
    return all;
  };
  CATCH_CHECK(click_on("frame26") == "pin - 26\n");
  CATCH_CHECK(click_on("word10") == "pin 10 -\n");
}

CATCH_TEST_CASE("a layer of the other sequence alone shows that one, and one of neither its numbers") {
  HeadsBench keys(forty());
  give_two_sequences(keys, 27, 27, TokenAxis::KeyTokens, TokenAxis::KeyTokens);
  holds(keys.draw(draw_tokens_panel, kFrame), "keys alone");
  CATCH_CHECK(keys.painter->shows("frame3"));
  CATCH_CHECK_FALSE(keys.painter->shows("word3"));
  CATCH_CHECK_FALSE(keys.painter->shows("queries"));
  HeadsBench neither(forty());
  give_two_sequences(neither, 5, 9, TokenAxis::None, TokenAxis::None);
  holds(neither.draw(draw_tokens_panel, kFrame), "neither");
  CATCH_CHECK_FALSE(neither.painter->shows("word3"));
  CATCH_CHECK(neither.painter->shows("keys 0–8 of 9 · queries 0–4 of 5"));
}

}  // namespace headroom::test
