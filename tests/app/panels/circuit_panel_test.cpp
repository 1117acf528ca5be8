// The circuits' panels as they are drawn: texts within them at many sizes and in every state, what is refused and why,
// and what a click asks for. The numbers are those of a shipped model; test_circuits.py holds them to NumPy.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/circuit/circuit_panel.h"
#include "app/panels/circuit/circuit_side.h"
#include "app/panels/heads/heads_panel.h"
#include "app/session/head_threshold.h"
#include "core/run/head_values.h"
#include "core/run/open_model.h"
#include "core/run/quantity_info.h"
#include "tests/core/run/live_runs.h"
#include "tests/support/heads_bench.h"
#include "tests/support/required.h"

namespace headroom::test {
namespace {

constexpr Rect kSizes[] = {{0, 0, 300, 300}, {0, 0, 420, 500},   {0, 0, 560, 640},  {0, 0, 760, 820},
                           {0, 0, 900, 420}, {0, 0, 1400, 1100}, {0, 0, 2300, 1300}};

// A demo of the folder `bytes` with the circuits of its first `done` layers.
std::unique_ptr<HeadsBench> bench_of(const std::string& kind, std::size_t done, bool with_effect = true) {
  SnapshotOptions options;
  options.kind = kind;
  auto made = std::make_unique<HeadsBench>(options, HeadRef{0, 1});
  HeadsBench& bench = *made;
  ModelEntry model;
  model.id = 7;
  model.name = kind;
  model.model = std::make_shared<OpenedModel>(required(open_model(demo_folder() / "bytes" / kind, {})));
  const ModelSpec& spec = model.model->spec;
  ModelCircuits& circuits = model.circuits;
  circuits.layers.resize(spec.blocks.size());
  circuits.all = spec.blocks.size();
  const Thin vocabulary = required(embedding_times_unembedding(model.model->source, spec, {}, {}));
  for (std::size_t layer = 0; layer < done; ++layer)
    circuits.layers[layer] = std::make_shared<const LayerCircuits>(
        required(measure_layer_circuits(model.model->source, spec, static_cast<std::int64_t>(layer), &vocabulary, {})));
  circuits.done = done;
  circuits.heads = with_circuits(heads_of_model(spec, kind), circuits);
  bench.state.view.circuit.token = 101;
  if (with_effect && done > 0)
    circuits.effect =
        std::make_shared<const TokenEffect>(required(measure_token_effect(model.model->source, spec, {0, 1, 101}, {})));
  bench.state.runs[0].model = 7;
  bench.state.runs[0].data = done > 0 ? with_circuits(circuits.heads, circuits) : nullptr;
  bench.state.models.push_back(std::move(model));
  bench.state.view.centre = CentreView::Circuit;
  return made;
}

bool says(const RecordingPainter& painter, const std::string& words) {
  return std::ranges::any_of(painter.texts(),
                             [&](const auto& text) { return text.text.find(words) != std::string::npos; });
}

}  // namespace

CATCH_TEST_CASE("circuits: no text leaves its panel or lies on another, at any size and in every state", "[circuit]") {
  for (const char* kind : {"softmax", "diff_v1", "diff_v2"})
    for (const std::size_t done : {std::size_t{0}, std::size_t{1}, std::size_t{99}}) {
      const std::size_t layers = required(open_model(demo_folder() / "bytes" / kind, {})).spec.blocks.size();
      const auto made = bench_of(kind, std::min(done, layers));
      HeadsBench& bench = *made;
      for (const bool running : {false, true})
        for (const Rect& size : kSizes) {
          bench.state.models[0].circuits.running = running;
          bench.dark = !bench.dark;
          const std::string where = std::string(kind) + " " + std::to_string(done) + " at " + std::to_string(size.x1);
          holds(bench.draw(draw_circuit_panel, size), where);
          Rect side = size;
          side.x1 = std::min(side.x1, 360.0f);
          holds(bench.draw(draw_writes_panel, side), where + " side");
        }
    }
}

CATCH_TEST_CASE("circuits: heads of a model that has not run are shown in every view", "[circuit]") {
  const auto made = bench_of("softmax", 1);
  HeadsBench& bench = *made;
  bench.state.runs.clear();
  bench.state.view.run = -1;
  bench.state.model = 7;
  CATCH_REQUIRE(bench.state.circuit_model() != nullptr);
  HeadsState& heads = bench.state.view.heads;
  for (const HeadsView view : {HeadsView::Atlas, HeadsView::Maps, HeadsView::Scatter, HeadsView::Table})
    for (const bool by_value : {false, true})
      for (const Rect& size : kSizes) {
        heads.view = view, heads.by_value = heads.maps_by_value = by_value;
        holds(bench.draw(draw_heads_panel, size), "view " + std::to_string(static_cast<int>(view)));
      }
}

CATCH_TEST_CASE("circuits: what is refused says why, and what is missing offers itself", "[circuit]") {
  const auto made = bench_of("softmax", 1);
  HeadsBench& bench = *made;
  auto refused = std::make_shared<LayerCircuits>(*bench.state.models[0].circuits.layers[0]);
  refused->qk_refused = refused->ov_refused = refused->path_refused = "latent attention: a norm stands between";
  for (HeadCircuits& head : refused->heads) head = {};
  refused->output_alignment.clear();
  bench.state.models[0].circuits.layers[0] = refused;
  CATCH_CHECK(says(bench.draw(draw_circuit_panel, {0, 0, 760, 820}), "Refused: latent attention"));
  CATCH_CHECK(says(bench.draw(draw_writes_panel, {0, 0, 360, 820}), "Refused: latent attention"));

  const auto without = bench_of("softmax", 0);
  HeadsBench& nothing = *without;
  CATCH_CHECK(says(nothing.draw(draw_circuit_panel, {0, 0, 760, 820}), "No circuit is measured yet."));
  const std::vector<std::string> lines = nothing.click(draw_circuit_panel, {0, 0, 760, 820}, {30, 100});
  CATCH_CHECK(std::ranges::find(lines, "circuit on") != lines.end());
  nothing.state.runs[0].model = -1;
  CATCH_CHECK(says(nothing.draw(draw_circuit_panel, {0, 0, 760, 820}), "A run file has no weights."));
}

CATCH_TEST_CASE("circuits: a differential head shows both maps, V1 both value blocks, and numbers of one layer alone",
                "[circuit]") {
  const auto made = bench_of("diff_v1", 1);
  HeadsBench& v1 = *made;
  const RecordingPainter& drawn = v1.draw(draw_circuit_panel, {0, 0, 1100, 900});
  CATCH_CHECK(says(drawn, "first and second map, unrotated"));
  CATCH_CHECK(says(drawn, "and its two value blocks"));
  CATCH_CHECK(says(v1.draw(draw_writes_panel, {0, 0, 420, 900}), "λ is not in it"));
  const auto& run = *v1.state.runs[0].data;
  const QuantityRef copying = required(parse_quantity("copying_score"));
  CATCH_CHECK(head_value(run, copying, 0, 1) == v1.state.models[0].circuits.layers[0]->heads[1].copying);
  CATCH_CHECK(std::isnan(head_value(run, copying, 1, 1)));
  CATCH_CHECK(head_values(run, required(parse_quantity("qk_effective_rank[second]")))[1] > 1.0);
}

CATCH_TEST_CASE("circuits: the atlas counts copying heads over 0.9, whatever ε is, and numbers about zero have no ε",
                "[circuit]") {
  const auto made = bench_of("softmax", 2);
  HeadsBench& bench = *made;
  HeadsState& heads = bench.state.view.heads;
  heads.quantity = "copying_score";
  for (const double epsilon : {0.3, -0.2}) {  // what the scores lie about
    heads.threshold = epsilon;
    const RecordingPainter& drawn = bench.draw(draw_heads_panel, {0, 0, 300, 800});
    int over = 0, below = 0;
    for (const double score : head_values(*bench.state.runs[0].data, required(parse_quantity("copying_score"))))
      over += score > 0.9 ? 1 : 0, below += score < 0.0 ? 1 : 0;
    CATCH_CHECK(bench.fact("heads.count_over") == over);
    CATCH_CHECK(bench.fact("heads.threshold") == 0.9);
    CATCH_CHECK(drawn.shows("> 0.9"));
    CATCH_CHECK(drawn.shows(std::to_string(below) + " of 8 below 0"));
    CATCH_CHECK_FALSE(drawn.shows("ε"));
  }
  CATCH_CHECK(threshold_of(find_quantity_info("sink_score"), heads) == -0.2);
  CATCH_CHECK(threshold_of(find_quantity_info("sink_score_net"), heads) == -0.2);
  CATCH_CHECK(threshold_of(find_quantity_info("context_rms_relative_mean"), heads) == -0.2);
  CATCH_CHECK_FALSE(threshold_of(find_quantity_info("output_alignment_mean"), heads));
  CATCH_CHECK_FALSE(threshold_of(nullptr, heads));
}

}  // namespace headroom::test
