// A model description as text, for comparison with what a test expects. Plain functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

#include "core/base/format.h"
#include "core/model/mixer_spec.h"
#include "core/model/model_spec.h"

namespace headroom::test {

[[nodiscard]] inline std::string norm_text(const NormSpec& norm) {
  if (norm.kind == NormKind::None) return "none";
  std::string text = format("%s %g", norm.kind == NormKind::Rms ? "rms" : "layer", norm.epsilon);
  if (!norm.weight.present()) text += " without weight";
  if (norm.bias.present()) text += " with bias";
  if (norm.weight_offset != 0.0) text += format(" offset %g", norm.weight_offset);
  return text;
}

[[nodiscard]] inline std::string rope_text(const RopeSpec& rope) {
  static constexpr const char* kLayouts[] = {"none", "half-split", "interleaved"};
  if (rope.layout == RopeLayout::None) return "none";
  const std::string scaling(name_of(rope.scaling.kind));
  const std::string from =
      rope.first_channel > 0 ? format(" from %lld", static_cast<long long>(rope.first_channel)) : std::string();
  return format("%s %lld%s theta %g", kLayouts[static_cast<int>(rope.layout)], static_cast<long long>(rope.rotary_dim),
                from.c_str(), rope.theta) +
         (scaling == "default" ? "" : " " + scaling);
}

[[nodiscard]] inline std::string map_text(const HeadProgram::Map& map) {
  std::string text =
      format("q%lld k%lld v", static_cast<long long>(map.query_block), static_cast<long long>(map.key_block));
  for (std::size_t i = 0; i < map.value_blocks.size(); ++i)
    text += (i ? "." : "") + std::to_string(map.value_blocks[i]);
  return text;
}

// "q0 k0 v0.1 - q1 k1 v0.1, lambda layer, norm, x 0.8": what differs from a plain softmax head follows the maps.
[[nodiscard]] inline std::string head_text(const HeadProgram& head) {
  static constexpr const char* kLambdas[] = {"", ", lambda layer", ", lambda projection", ", lambda raw", ", lambda "};
  static constexpr const char* kSinks[] = {"", ", sink zero", ", sink learned"};
  std::string text = (head.first_enabled ? "" : "0·") + map_text(head.first);
  if (head.has_second()) text += " - " + map_text(head.second);
  text += kLambdas[static_cast<int>(head.lambda)];
  if (head.lambda == LambdaSource::Constant) text += format("%g", head.lambda_constant);
  text += kSinks[static_cast<int>(head.sink)];
  if (head.normalizer == Normalizer::Softpick) text += ", softpick";
  if (head.post_norm) text += ", norm";
  if (head.post_scale != 1.0) text += format(", x %g", head.post_scale);
  if (head.gated) text += ", gated";
  if (head.temperature != 1.0) text += format(", temperature %g", head.temperature);
  if (!head.hidden_keys.empty()) text += ", hidden";
  for (const std::int64_t key : head.hidden_keys) text += " " + std::to_string(key);
  if (!head.enabled) text += ", off";
  if (head.averaged) text += ", mean";
  return text;
}

[[nodiscard]] inline std::string attention_text(const AttentionSpec& attention) {
  std::string text =
      format("%s: d %lld %lld, blocks q %lld k %lld v %lld, scale %g, rope ", attention.kind.c_str(),
             static_cast<long long>(attention.head_dim), static_cast<long long>(attention.value_dim),
             static_cast<long long>(attention.num_query_blocks), static_cast<long long>(attention.num_key_blocks),
             static_cast<long long>(attention.num_value_blocks), attention.scale) +
      rope_text(attention.rope);
  std::string biased;
  if (attention.q.bias.present()) biased += "q";
  if (attention.k.bias.present()) biased += "k";
  if (attention.v.bias.present()) biased += "v";
  if (attention.o.bias.present()) biased += "o";
  if (!biased.empty()) text += ", bias " + biased;
  if (attention.cross)
    text += ", cross";
  else if (!attention.causal)
    text += ", not causal";
  if (attention.disentangled.present()) {
    const DisentangledSpec& terms = attention.disentangled;
    text += format(", span %lld, buckets %lld to %lld", static_cast<long long>(terms.span),
                   static_cast<long long>(terms.buckets), static_cast<long long>(terms.furthest));
    if (terms.norm.kind != NormKind::None) text += " " + norm_text(terms.norm);
    if (terms.key.weight.present()) text += ", by " + terms.key.weight.tensor;
    if (terms.query.weight.present()) text += ", by " + terms.query.weight.tensor;
  }
  if (attention.window > 0) text += ", window " + std::to_string(attention.window);
  if (attention.chunk > 0) text += ", chunks of " + std::to_string(attention.chunk);
  if (attention.always_visible > 0) text += ", the first " + std::to_string(attention.always_visible);
  if (attention.softcap > 0.0) text += format(", softcap %g", attention.softcap);
  for (const double& slope : attention.bias.slopes)
    text += (&slope == attention.bias.slopes.data() ? ", ALiBi " : " ") + format("%g", slope);
  if (attention.bias.table.present())
    text +=
        format(", learned bias of %lld buckets%s to %lld", static_cast<long long>(attention.bias.table.rows()),
               attention.bias.bidirectional ? " both ways" : "", static_cast<long long>(attention.bias.max_distance));
  if (attention.clip_qkv > 0.0) text += format(", q k v within %g", attention.clip_qkv);
  if (attention.keys_of_layer >= 0) text += ", keys of layer " + std::to_string(attention.keys_of_layer);
  if (attention.query_scale.present())
    text += format(", queries x 1 + %g ln(1 + (i + %g) / %g)", attention.query_scale.amount,
                   attention.query_scale.offset, attention.query_scale.length);
  if (attention.qk_norm != QkNormScope::None)
    text += std::string(", qk norm ") + (attention.qk_norm == QkNormScope::PerHead ? "per head " : "whole ") +
            norm_text(attention.q_norm) + " " + norm_text(attention.k_norm) +
            (attention.qk_norm_after_rope ? " after the rotation" : "");
  if (attention.v_norm.kind != NormKind::None) text += ", v norm " + norm_text(attention.v_norm);
  if (attention.values_are_keys()) text += ", one projection for k and v";
  if (attention.q_latent.present())
    text += format(", queries of %lld ", static_cast<long long>(attention.q_latent.down.weight.rows())) +
            norm_text(attention.q_latent.norm);
  if (attention.kv_latent.present())
    text += format(", keys and values of %lld ", static_cast<long long>(attention.kv_latent.down.weight.rows())) +
            norm_text(attention.kv_latent.norm);
  if (attention.shared_key.weight.present())
    text += format(", %lld shared", static_cast<long long>(attention.shared_key.weight.rows()));
  if (attention.head_norm.kind != NormKind::None) text += ", head norm " + norm_text(attention.head_norm);
  if (attention.stored_lambda_init.present())
    text += ", lambda_init stored";
  else if (attention.lambda_q1.present())
    text += format(", lambda_init %.6f", attention.lambda_init);
  if (attention.shares_projection()) text += ", one projection for q and k";
  if (attention.gate != GateLayout::None)
    text += attention.gate == GateLayout::PerHead ? ", gate per head" : ", gate elementwise";
  for (const HeadProgram& head : attention.heads) text += "\n" + head_text(head);
  return text;
}

[[nodiscard]] inline const char* activation_text(Activation activation) {
  static constexpr const char* kActivations[] = {"silu", "gelu",  "gelu_tanh", "quick_gelu",
                                                 "relu", "relu2", "poly_norm"};
  return kActivations[static_cast<int>(activation)];
}

[[nodiscard]] inline std::string mlp_text(const MlpSpec& mlp) {
  if (mlp.kind == MlpKind::None) return "none";
  std::string text = mlp.kind == MlpKind::Gated ? "gated " : "plain ";
  text += activation_text(mlp.activation);
  text += " " + std::to_string(mlp.up.weight.rows());
  if (mlp.up.bias.present()) text += " with bias";
  if (mlp.limit > 0.0) text += format(" limit %g", mlp.limit);
  if (mlp.up_offset != 0.0) text += format(" up + %g", mlp.up_offset);
  if (mlp.sparsity > 0.0) text += format(" sparse %g", mlp.sparsity);
  return text;
}

[[nodiscard]] inline std::string experts_text(const ExpertsSpec& experts) {
  static constexpr const char* kScores[] = {"softmax", "softmax of the chosen", "sigmoid", "sparse mixer"};
  if (!experts.present()) return "";
  const RouterSpec& router = experts.router;
  std::string text = format("; %lld of %zu experts by ", static_cast<long long>(router.chosen), experts.experts.size());
  text += kScores[static_cast<int>(router.score)];
  if (router.logits.bias.present()) text += " with bias";
  if (router.choice_bias.present()) text += ", biased choice";
  if (router.groups > 1)
    text += format(", %lld of %lld groups by %lld", static_cast<long long>(router.chosen_groups),
                   static_cast<long long>(router.groups), static_cast<long long>(router.group_best));
  if (router.normalised) text += ", normalised";
  if (router.epsilon != 0.0) text += format(" + %g", router.epsilon);
  if (router.scale != 1.0) text += format(", x %g", router.scale);
  if (router.jitter != 0.0) text += format(", jitter %g", router.jitter);
  if (router.scales_input) text += ", of the input";
  if (router.norm.kind != NormKind::None) text += ", router norm " + norm_text(router.norm);
  if (router.logit_scale != 1.0) text += format(", logits x %g", router.logit_scale);
  if (router.expert_scales.present()) text += ", scaled";
  if (experts.before.kind != NormKind::None)
    text += ", own norms " + norm_text(experts.before) + " | " + norm_text(experts.after) + " | " +
            norm_text(experts.mlp_after);
  if (experts.shared_gate.weight.present()) text += ", gated mlp";
  return text + ", " + mlp_text(experts.experts.front());
}

[[nodiscard]] inline std::string block_text(const BlockSpec& block) {
  const BranchSpec &attention = block.attention_branch, &mlp = block.mlp_branch;
  std::string text = "norms " + norm_text(attention.before) + " | " + norm_text(mlp.before);
  if (attention.after.kind != NormKind::None || mlp.after.kind != NormKind::None)
    text += ", after " + norm_text(attention.after) + " | " + norm_text(mlp.after);
  if (attention.sum.kind != NormKind::None || mlp.sum.kind != NormKind::None)
    text += ", of the sum " + norm_text(attention.sum) + " | " + norm_text(mlp.sum);
  if (attention.scale != 1.0 || mlp.scale != 1.0) text += format(", branches x %g | x %g", attention.scale, mlp.scale);
  if (block.parallel) text += ", parallel";
  text += "; mlp " + mlp_text(block.mlp) + experts_text(block.experts);
  if (block.laurel.present())
    text += format("; laurel %lld ", static_cast<long long>(block.laurel.left.weight.rows())) +
            norm_text(block.laurel.norm);
  if (block.altup.present())
    text += format("; altup %lld ", static_cast<long long>(block.altup.router.weight.rows())) +
            norm_text(block.altup.norm) + (block.altup.scale.present() ? " scaled" : "");
  if (block.token_branch.present())
    text += format("; told %s %lld ", activation_text(block.token_branch.activation),
                   static_cast<long long>(block.token_branch.gate.weight.rows())) +
            norm_text(block.token_branch.norm);
  if (block.scale.present()) text += "; scaled";
  if (block.mixer) return text + "\n" + std::string(block.kind()) + ": " + block.mixer->describe();
  return text + "\n" + attention_text(block.attention);
}

// Layers that equal the one before are "L1 likewise".
[[nodiscard]] inline std::string spec_text(const ModelSpec& model) {
  std::string text = format("%s: vocab %lld, hidden %lld, positions %lld, heads %lld, kv heads %lld",
                            model.model_type.c_str(), static_cast<long long>(model.vocab_size),
                            static_cast<long long>(model.hidden_size), static_cast<long long>(model.max_positions),
                            static_cast<long long>(model.num_heads), static_cast<long long>(model.num_kv_heads));
  if (model.tied) text += ", tied";
  if (model.position_embedding.present()) text += ", learned positions";
  if (model.padding_id) text += format(" behind %lld", static_cast<long long>(*model.padding_id));
  if (model.type_embedding.present()) text += ", types";
  if (model.embedding_norm.kind != NormKind::None) text += ", embedding norm " + norm_text(model.embedding_norm);
  if (model.embedding_projection.weight.present())
    text += format(", embeddings of %lld", static_cast<long long>(model.embedding.columns()));
  if (model.head_transform.dense.weight.present())
    text += std::string(", head ") + activation_text(model.head_transform.activation) + " " +
            norm_text(model.head_transform.norm);
  if (model.layer_embedding.present())
    text += format(", layers told %lld of %lld tokens x %g, projection x %g ",
                   static_cast<long long>(model.layer_embedding.width),
                   static_cast<long long>(model.layer_embedding.table.rows()), model.layer_embedding.table_scale,
                   model.layer_embedding.projection_scale) +
            norm_text(model.layer_embedding.norm);
  if (model.streams.present())
    text += format(", %lld streams, %lld active", static_cast<long long>(model.streams.count()),
                   static_cast<long long>(model.streams.active));
  if (model.embedding_scale != 1.0) text += format(", embedding x %g", model.embedding_scale);
  if (model.logit_scale != 1.0) text += format(", logits x %g", model.logit_scale);
  if (model.logit_softcap > 0.0) text += format(", logits capped at %g", model.logit_softcap);
  if (model.lm_head.bias.present()) text += ", biased logits";
  text += ", final norm " + norm_text(model.final_norm);
  if (model.encoder) {
    const EncoderSpec& encoder = *model.encoder;
    text += format("\nencoder of %lld blocks", static_cast<long long>(encoder.blocks));
    if (encoder.embedding.tensor != model.embedding.tensor) text += ", own embedding";
    if (encoder.position_embedding.present()) text += ", learned positions";
    if (encoder.embedding_norm.kind != NormKind::None) text += ", embedding norm " + norm_text(encoder.embedding_norm);
    text += ", final norm " + norm_text(encoder.final_norm);
    if (encoder.start_token_id) text += format(", begins with %lld", static_cast<long long>(*encoder.start_token_id));
  }
  std::string before;
  for (std::size_t layer = 0; layer < model.blocks.size(); ++layer) {
    const std::string block = block_text(model.blocks[layer]);
    text += "\nL" + std::to_string(layer) + (block == before ? " likewise" : " " + block);
    before = block;
  }
  return text;
}

// Without indentation and empty lines, as raw strings in tests have them.
[[nodiscard]] inline std::string unindented(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    result += (result.empty() ? "" : "\n") + line.substr(begin);
  }
  return result;
}

}  // namespace headroom::test
