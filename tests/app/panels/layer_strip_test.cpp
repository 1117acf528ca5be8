// What is known of a model before it runs: the strip of its layers and its legend.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/heads/heads_panel.h"
#include "app/panels/heads/layer_strip.h"
#include "tests/support/heads_bench.h"

namespace headroom::test {
namespace {

const Rect kFrame{0.0f, 69.0f, 330.0f, 770.0f};

LayerFacts facts_of(std::int64_t layer, std::string variant, std::string unmeasured = "", std::string experts = "") {
  LayerFacts facts;
  facts.name = "layer " + std::to_string(layer);
  facts.kind = facts.variant = std::move(variant);
  facts.block = "RMSNorm before, gated MLP";
  facts.experts = std::move(experts);
  facts.unmeasured = std::move(unmeasured);
  if (facts.unmeasured.empty()) facts.heads = "8 heads, 2 key heads, 64 channels", facts.mask = "causal";
  return facts;
}

// A model that is open and has not run.
void wait_with(HeadsBench& bench, std::vector<LayerFacts> layers) {
  ModelEntry model;
  model.id = 7;
  model.layers = std::move(layers);
  bench.state.models = {std::move(model)};
  bench.state.runs.front().model = 7;
  bench.state.runs.front().data = nullptr;
  bench.state.runs.front().status = RunStatus::Waiting;
}

}  // namespace

CATCH_TEST_CASE("before a run the heads panel shows the variant of each layer, and which are not measured and why") {
  HeadsBench bench;
  std::vector<LayerFacts> layers;
  for (std::int64_t l = 0; l < 12; ++l)
    layers.push_back(l % 4 == 3   ? facts_of(l, "softmax")
                     : l % 4 == 2 ? facts_of(l, "mamba", "without attention there are no maps")
                                  : facts_of(l, "softmax, window of 512 keys", "", l > 3 ? "2 of 8 experts" : ""));
  wait_with(bench, layers);
  bench.state.models.front().not_run = "bert.pooler";
  for (const bool dark : {true, false})
    for (const Rect frame :
         {kFrame, Rect{0, 69, 262, 536}, Rect{0, 69, 1440, 870}, Rect{0, 0, 120, 200}, Rect{0, 0, 60, 60}}) {
      bench.dark = dark;
      holds(bench.draw(draw_heads_panel, frame), std::to_string(frame.width()));
    }
  const RecordingPainter& painter = bench.draw(draw_heads_panel, kFrame);
  for (const char* text :
       {"No heads are measured yet.", "softmax, window of 512 keys", "layers 0-1, 4-5, 8-9", "mamba", "layers 2, 6, 10",
        "2 of 8 experts: layers 4-5, 8-9", "Not measured, layers 2, 6, 10", "Not run, of another task: bert.pooler"})
    CATCH_CHECK(painter.shows(text));
  CATCH_CHECK(bench.fact("layers.count") == 12.0);
  CATCH_CHECK(bench.fact("layers.variants") == 3.0);
  CATCH_CHECK(bench.fact("layers.unmeasured") == 3.0);
}

CATCH_TEST_CASE("a strip of very many layers, of one, and of long names holds") {
  for (const std::int64_t count : {1, 40, 128, 400}) {
    HeadsBench bench;
    std::vector<LayerFacts> layers;
    for (std::int64_t l = 0; l < count; ++l)
      layers.push_back(facts_of(l, "softmax of a kind that has a very long name " + std::to_string(l % 9)));
    wait_with(bench, layers);
    for (const Rect frame : {kFrame, Rect{0, 69, 262, 536}, Rect{0, 0, 200, 140}})
      holds(bench.draw(draw_heads_panel, frame), std::to_string(count) + " layers");
  }
}

CATCH_TEST_CASE("the facts of a layer are there for the window to tell, of the model that ran") {
  HeadsBench bench;
  CATCH_CHECK(layer_tip(bench.state, 1).empty());
  ModelEntry model;
  model.id = 7;
  model.layers = {facts_of(0, "softmax"), facts_of(1, "diff_v2", "", "2 of 8 experts")};
  model.layers[1].name = "decoder.layers.0.encoder_attn";
  bench.state.models = {model};
  bench.state.runs.front().model = 7;
  CATCH_CHECK(layer_tip(bench.state, 1) ==
              "decoder.layers.0.encoder_attn: diff_v2\n8 heads, 2 key heads, 64 channels\nmask: causal\n"
              "block: RMSNorm before, gated MLP");
  CATCH_CHECK(layer_tip(bench.state, 2).empty());
  CATCH_CHECK(bench.state.layer_name(1) == "decoder.layers.0.encoder_attn");
  CATCH_CHECK(bench.state.layer_name(3) == "layer 3");
}

}  // namespace headroom::test
