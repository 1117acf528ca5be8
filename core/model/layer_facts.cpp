#include "core/model/layer_facts.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/base/format.h"
#include "core/model/capture.h"
#include "core/model/mixer_spec.h"

namespace headroom {
namespace {

std::string reach_of(const AttentionSpec& attention) {
  return reach_text(attention.window, attention.chunk, attention.always_visible);
}

std::string mask_text(const AttentionSpec& attention) {
  std::string text = attention.cross ? "keys of the encoder" : attention.causal ? "causal" : "bidirectional";
  if (attention.disentangled.present()) text += ", terms of content and distance";
  text += reach_of(attention);
  if (attention.softcap > 0.0) text += format(", logits capped at %g", attention.softcap);
  if (!attention.bias.slopes.empty()) text += ", ALiBi";
  if (attention.bias.table.present()) text += ", learned bias by distance";
  if (attention.query_scale.present()) text += ", queries grow with position";
  return text;
}

std::string heads_text(const AttentionSpec& attention) {
  std::string text =
      format("%zu heads, %lld key heads, %lld channels", attention.heads.size(),
             static_cast<long long>(attention.num_key_blocks), static_cast<long long>(attention.head_dim));
  if (attention.value_dim != attention.head_dim)
    text += format(", values of %lld", static_cast<long long>(attention.value_dim));
  return text;
}

std::string rotation_text(const AttentionSpec& attention) {
  const RopeSpec& rope = attention.rope;
  if (rope.layout == RopeLayout::None) return "none";
  const RopeScalingKind scaling = rope.scaling.kind;
  return format("%s, %lld of %lld channels, θ %g", rope.layout == RopeLayout::HalfSplit ? "halves" : "pairs",
                static_cast<long long>(rope.rotary_dim), static_cast<long long>(attention.head_dim), rope.theta) +
         (scaling == RopeScalingKind::None ? "" : ", " + std::string(name_of(scaling)));
}

std::string norms_text(const BranchSpec& branch) {
  std::string text;
  const std::pair<const NormSpec*, const char*> norms[] = {
      {&branch.before, "before"}, {&branch.after, "behind"}, {&branch.sum, "over the sum"}};
  for (const auto& [norm, place] : norms)
    if (norm->kind != NormKind::None)
      text += (text.empty() ? std::string(norm->kind == NormKind::Rms ? "RMSNorm " : "LayerNorm ") : " and ") + place;
  return text.empty() ? "no norm" : text;
}

std::string block_text(const BlockSpec& block) {
  std::string text = norms_text(block.attention_branch);
  if (block.attention.qk_norm != QkNormScope::None) text += ", norms of q and k";
  if (block.attention.kv_latent.present())
    text += format(", latents of %lld", static_cast<long long>(block.attention.kv_latent.down.weight.rows()));
  if (block.attention.shares_projection()) text += ", one projection for q and k";
  if (block.attention.values_are_keys()) text += ", values of the keys' projection";
  if (!block.feeds_forward()) return text + ", no MLP";
  if (block.mlp.kind != MlpKind::None) text += block.mlp.kind == MlpKind::Gated ? ", gated MLP" : ", plain MLP";
  if (block.experts.present())
    text += format(block.mlp.kind == MlpKind::None ? ", %lld of %zu experts" : " and %lld of %zu experts",
                   static_cast<long long>(block.experts.router.chosen), block.experts.experts.size());
  return text + (block.parallel ? " beside it" : "");
}

std::string keys_text(const ModelSpec& model, const AttentionSpec& attention) {
  if (attention.keys_of_layer >= 0) return format("of layer %lld", static_cast<long long>(attention.keys_of_layer));
  const bool some =
      std::ranges::any_of(model.blocks, [](const BlockSpec& b) { return b.attention.keys_of_layer >= 0; });
  return some ? "its own" : "";
}

std::string stream_text(const BlockSpec& block) {
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  if (block.altup.present())
    add(format("%lld streams (AltUp)", static_cast<long long>(block.altup.router.weight.rows())));
  if (block.laurel.present()) add("Laurel");
  if (block.token_branch.present()) add("an embedding for the layer");
  return text;
}

// A number says nothing of the two stacks of an encoder-decoder, nor of a call.
std::string name_of_layer(const ModelSpec& model, std::int64_t layer) {
  const AttentionSpec& attention = model.blocks[static_cast<std::size_t>(layer)].attention;
  if (attention.call && !attention.call->name.empty()) return attention.call->name;
  const std::string name = model.layer_name(layer);
  return name.empty() ? "layer " + std::to_string(layer) : name;
}

}  // namespace

std::string reach_text(std::int64_t window, std::int64_t chunk, std::int64_t always_visible) {
  std::string text;
  if (window > 0) text += format(", window of %lld keys", static_cast<long long>(window));
  if (chunk > 0) text += format(", chunks of %lld keys", static_cast<long long>(chunk));
  if (always_visible > 0) text += format(" and the first %lld", static_cast<long long>(always_visible));
  return text;
}

LayerFacts layer_facts(const ModelSpec& model, std::int64_t layer) {
  const BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
  const AttentionSpec& attention = block.attention;
  LayerFacts facts;
  facts.name = name_of_layer(model, layer);
  facts.block = block_text(block);
  if (block.experts.present())
    facts.experts = format("%lld of %zu experts", static_cast<long long>(block.experts.router.chosen),
                           block.experts.experts.size());
  facts.stream = stream_text(block);
  if (!block.attends()) {
    facts.kind = std::string(block.kind()) + " (" + block.mixer->describe() + "; no maps)";
    facts.variant = block.kind();
    facts.unmeasured = "without attention there are no maps";
    return facts;
  }
  facts.kind = attention.kind;
  facts.variant = attention.kind +
                  (attention.cross    ? ", keys of the encoder"
                   : attention.causal ? ""
                                      : ", bidirectional") +
                  reach_of(attention);
  facts.keys = keys_text(model, attention);
  facts.heads = heads_text(attention);
  facts.mask = mask_text(attention);
  facts.rotation = rotation_text(attention);
  return facts;
}

std::vector<LayerFacts> layer_facts(const ModelSpec& model) {
  std::vector<LayerFacts> all;
  for (std::size_t layer = 0; layer < model.blocks.size(); ++layer)
    all.push_back(layer_facts(model, static_cast<std::int64_t>(layer)));
  return all;
}

std::string set_aside_text(const ModelSpec& model, const Checkpoint& checkpoint) {
  std::string text;
  for (const std::string& begin : model.set_aside)
    if (std::ranges::any_of(checkpoint.tensors(),
                            [&](const TensorInfo& tensor) { return tensor.name.starts_with(begin); }))
      text += (text.empty() ? "" : ", ") + (begin.ends_with('.') ? begin.substr(0, begin.size() - 1) : begin);
  return text;
}

std::vector<LikeLayers> like_layers(const std::vector<LayerFacts>& facts, std::string LayerFacts::* of) {
  std::vector<LikeLayers> found;
  for (std::size_t layer = 0; layer < facts.size(); ++layer) {
    const std::string& text = facts[layer].*of;
    auto at = std::ranges::find(found, text, &LikeLayers::text);
    if (at == found.end()) at = found.insert(at, {text, {}});
    at->layers.push_back(static_cast<std::int64_t>(layer));
  }
  return found;
}

std::string layers_phrase(const LikeLayers& like, std::size_t count) {
  if (like.layers.size() == count) return like.text + " in all layers";
  return like.text + (like.layers.size() == 1 ? " in layer " : " in layers ") + layers_text(like.layers);
}

}  // namespace headroom
