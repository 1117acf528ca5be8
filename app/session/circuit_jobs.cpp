#include "app/session/circuit_jobs.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headroom {
namespace {

constexpr int kWeightsNice = 12;
constexpr auto kProgressEvery = std::chrono::milliseconds(60);

// The layer that is looked at first, then the others round it.
std::vector<std::int64_t> in_order(const ModelSpec& model, const std::optional<HeadRef>& shown) {
  std::vector<std::int64_t> layers = model.attention_layers();
  if (!shown) return layers;
  std::ranges::stable_sort(layers, {}, [&](std::int64_t layer) { return std::abs(layer - shown->layer); });
  return layers;
}

}  // namespace

Worker& CircuitJobs::worker() {
  if (!worker_)
    worker_ =
        std::make_unique<Worker>(WorkerOptions{.at_start = [] { become_background_thread("weights", kWeightsNice); }});
  return *worker_;
}

CircuitJobs::~CircuitJobs() {
  for (const auto& stop : {stop_, effect_stop_})
    if (stop) *stop = true;
  worker_.reset();
}

Result<void> CircuitJobs::start() {
  const ModelEntry* shown = state_.circuit_model();
  if (!shown || !shown->model) return Error(ErrorCode::InvalidArgument, "no checkpoint is open");
  ModelEntry* model = state_.edit_model(shown->id);
  ModelCircuits& circuits = model->circuits;
  if (circuits.running || circuits.complete()) return {};
  const ModelSpec& spec = model->model->spec;
  circuits.layers.resize(spec.blocks.size());
  circuits.all = spec.attention_layers().size();
  circuits.error.reset();
  circuits.running = true;
  circuits.fraction = 0.0;
  circuits.doing = "vocabulary";
  if (!circuits.heads) circuits.heads = heads_of_model(spec, model->name);
  if (!state_.view.selection.head && !circuits.heads->layers.empty())
    state_.view.selection.head = HeadRef{circuits.heads->layers.back(), 0};
  std::vector<std::int64_t> layers = in_order(spec, state_.view.selection.head);
  std::erase_if(layers, [&](std::int64_t layer) { return circuits.done > 0 && circuits.layer(layer) != nullptr; });
  stop_ = std::make_shared<std::atomic<bool>>(false);
  inbox_.begin();
  worker().post([this, id = model->id, opened = model->model, layers, stop = stop_] {
    const Result<void> result = measure(id, *opened, layers, *stop);
    inbox_.post([this, id, result] {
      inbox_.end();
      ModelEntry* entry = state_.edit_model(id);
      if (!entry) return;
      entry->circuits.running = false;
      entry->circuits.doing.clear();
      if (!result && result.error().code != ErrorCode::Cancelled) {
        entry->circuits.error = result.error();
        inbox_.message(MessageLevel::Error, entry->name + ": its circuits: " + describe(result.error()));
      }
    });
  });
  return {};
}

// On the weights' thread.
Result<void> CircuitJobs::measure(int id, const OpenedModel& opened, const std::vector<std::int64_t>& layers,
                                  const std::atomic<bool>& stop) {
  const CircuitStop stopped = [&] { return stop.load(); };
  const auto give = [&](LayerCircuits measured, bool whole) {
    inbox_.post([this, id, whole, layer = std::make_shared<const LayerCircuits>(std::move(measured))] {
      take(id, layer, whole);
    });
  };
  const bool paths =
      std::ranges::any_of(layers, [&](std::int64_t layer) { return path_refusal(opened.spec, layer).empty(); });
  std::optional<Thin> vocabulary;
  if (paths && !layers.empty()) {
    // Its spectra are there before anything has gone through the vocabulary.
    HEADROOM_TRY(LayerCircuits first,
                 measure_layer_circuits(opened.source, opened.spec, layers.front(), nullptr, stopped));
    give(std::move(first), false);
    auto last = std::chrono::steady_clock::now() - kProgressEvery;
    HEADROOM_TRY(vocabulary, embedding_times_unembedding(
                                 opened.source, opened.spec,
                                 [&](double fraction) {
                                   const auto now = std::chrono::steady_clock::now();
                                   if (now - last < kProgressEvery) return;
                                   last = now;
                                   inbox_.post([this, id, fraction] {
                                     if (ModelEntry* entry = state_.edit_model(id))
                                       entry->circuits.fraction = 0.5 * fraction;
                                   });
                                 },
                                 stopped));
  }
  for (const std::int64_t layer : layers) {
    HEADROOM_TRY(LayerCircuits measured, measure_layer_circuits(opened.source, opened.spec, layer,
                                                                vocabulary ? &*vocabulary : nullptr, stopped));
    give(std::move(measured), true);
  }
  return {};
}

void CircuitJobs::take(int model_id, const std::shared_ptr<const LayerCircuits>& layer, bool whole) {
  ModelEntry* model = state_.edit_model(model_id);
  if (!model) return;
  ModelCircuits& circuits = model->circuits;
  circuits.layers[static_cast<std::size_t>(layer->layer)] = layer;
  if (!whole) return;
  ++circuits.done;
  circuits.fraction = 0.5 + 0.5 * static_cast<double>(circuits.done) / static_cast<double>(circuits.all);
  circuits.doing = "layer " + std::to_string(layer->layer);
  circuits.heads = with_circuits(circuits.heads, circuits);
  for (RunEntry& run : state_.runs)
    if (run.model == model_id) run.data = with_circuits(run.data, circuits);
}

void CircuitJobs::keep_beside(RunEntry& run) const {
  if (const ModelEntry* model = state_.find_model(run.model)) run.data = with_circuits(run.data, model->circuits);
}

bool CircuitJobs::stop() {
  const ModelEntry* model = state_.circuit_model();
  if (!model || !model->circuits.running || !stop_) return false;
  *stop_ = true;
  return true;
}

// What the selected head writes after the chosen token, whenever one of the two is another.
void CircuitJobs::update() {
  if (state_.view.centre != CentreView::Circuit || !state_.view.selection.head) return;
  const ModelEntry* shown = state_.circuit_model();
  const std::optional<std::int64_t> token = state_.circuit_token();
  if (!shown || !shown->model || shown->circuits.done == 0 || !token) return;
  const HeadRef head = *state_.view.selection.head;
  const std::string wanted = std::to_string(shown->id) + " " + head_text(head) + " " + std::to_string(*token);
  if (wanted == effect_asked_) return;
  effect_asked_ = wanted;
  if (effect_stop_) *effect_stop_ = true;
  effect_stop_ = std::make_shared<std::atomic<bool>>(false);
  inbox_.begin();
  const TokenEffectRequest request{head.layer, head.head, *token};
  worker().post([this, id = shown->id, opened = shown->model, request, wanted, stop = effect_stop_] {
    auto effect = stop->load()
                      ? Result<TokenEffect>(Error(ErrorCode::Cancelled, "another one is asked for"))
                      : measure_token_effect(opened->source, opened->spec, request, [&] { return stop->load(); });
    inbox_.post([this, id, wanted, effect = std::move(effect)] {
      inbox_.end();
      ModelEntry* model = state_.edit_model(id);
      if (!model || wanted != effect_asked_) return;
      model->circuits.effect_refused = effect ? "" : describe(effect.error());
      if (effect) model->circuits.effect = std::make_shared<const TokenEffect>(*effect);
    });
  });
}

}  // namespace headroom
