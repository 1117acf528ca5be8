// What the layers of a model are, in words, from the model alone: before anything runs. `inspect` prints it, the window
// shows it. Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/model/model_spec.h"

namespace headroom {

struct LayerFacts {
  std::string name;        // "layer 3", or what a call of a capture is called
  std::string kind;        // of attention: "softmax", "diff_v2"; or the mixer in its place, and that it has no maps
  std::string variant;     // "softmax", "softmax, window of 512 keys": kind and reach of the heads
  std::string heads;       // "9 heads, 3 key heads, 64 channels"
  std::string mask;        // "causal, window of 512 keys, logits capped at 50"
  std::string rotation;    // "halves, 64 of 64 channels, θ 10000"; "none"
  std::string block;       // norms and what feeds forward
  std::string experts;     // "2 of 8 experts"; empty without
  std::string keys;        // "of layer 3", "its own"; empty where all layers of the model have their own
  std::string stream;      // what carries it beside norms and branches: "4 streams (AltUp), Laurel"; empty: nothing
  std::string unmeasured;  // why it has no maps; empty where it has
};

// How far rows see: ", window of 64 keys and the first 4"; empty for all. 0: no window, no chunks, no such keys.
[[nodiscard]] std::string reach_text(std::int64_t window, std::int64_t chunk, std::int64_t always_visible);

[[nodiscard]] LayerFacts layer_facts(const ModelSpec& model, std::int64_t layer);
// Of every layer.
[[nodiscard]] std::vector<LayerFacts> layer_facts(const ModelSpec& model);

// Parts of other tasks that stand in the file and are not run: "bert.pooler, classifier".
[[nodiscard]] std::string set_aside_text(const ModelSpec& model, const Checkpoint& checkpoint);

// Layers that are alike, by their first one.
struct LikeLayers {
  std::string text;
  std::vector<std::int64_t> layers;
};
[[nodiscard]] std::vector<LikeLayers> like_layers(const std::vector<LayerFacts>& facts, std::string LayerFacts::* of);
// "softmax in all layers", "softmax in layers 0, 2-4": `count` layers there are.
[[nodiscard]] std::string layers_phrase(const LikeLayers& like, std::size_t count);

}  // namespace headroom
