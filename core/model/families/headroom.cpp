// The project's own checkpoint folder (core/model/ARCHITECTURES.md#the-headroom-checkpoint-folder): softmax,
// softmax_one, softmax_sink, softpick, gated, diff_v1 and diff_v2 in a llama-like decoder. Every unknown key is
// refused.
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/diff_parts.h"
#include "core/model/family.h"
#include "core/model/llama_parts.h"

namespace headroom {
namespace {

struct AttentionSettings {
  std::string kind;
  std::string gate;
  V1Form v1_form = V1Form::Flash;
  bool v1_norm = true;
  bool qk_norm = false;
  bool shared_query_key = false;
  double scale = 0.0;
  std::int64_t window = 0, chunk = 0, always_visible = 0;
};

Error refuse(ErrorCode code, std::string message, const std::string& field, const std::string& expected,
             const std::string& found) {
  Error error(code, std::move(message));
  error.at_tensor(field).wanted(expected, found);
  return error;
}

Result<AttentionSettings> read_attention(const nlohmann::json& object, const DecoderSizes& sizes) {
  if (!object.is_object())
    return refuse(ErrorCode::Corrupt, "config has no attention object", "attention", "an object", object.type_name());
  ConfigReader config(object, "attention.");
  AttentionSettings settings;
  HEADROOM_TRY(settings.kind, config.text("kind", std::nullopt));
  const bool gated = settings.kind == "gated";
  if (!gated && settings.kind != "softmax" && settings.kind != "softmax_one" && settings.kind != "softmax_sink" &&
      settings.kind != "softpick" && settings.kind != "diff_v1" && settings.kind != "diff_v2")
    return refuse(ErrorCode::Unsupported, "unknown attention kind", "attention.kind",
                  "softmax, softmax_one, softmax_sink, softpick, gated, diff_v1 or diff_v2", settings.kind);
  HEADROOM_TRY(settings.gate, config.text("gate", gated ? std::nullopt : std::optional<std::string>("")));
  if (gated && settings.gate != "headwise" && settings.gate != "elementwise")
    return refuse(ErrorCode::Unsupported, "unknown gate", "attention.gate", "headwise or elementwise", settings.gate);
  HEADROOM_TRY(settings.v1_form, read_v1_form(config));
  HEADROOM_TRY(settings.v1_norm, config.boolean("v1_norm", true));
  HEADROOM_TRY(settings.qk_norm, config.boolean("qk_norm", false));
  HEADROOM_TRY(settings.shared_query_key, config.boolean("shared_query_key", false));
  HEADROOM_TRY(settings.scale, config.number("scale", 1.0 / std::sqrt(static_cast<double>(sizes.head_dim))));
  HEADROOM_TRY(settings.window, config.integer("window", 0, 0, std::int64_t{1} << 40));
  HEADROOM_TRY(settings.chunk, config.integer("chunk", 0, 0, std::int64_t{1} << 40));
  HEADROOM_TRY(settings.always_visible, config.integer("always_visible", 0, 0, std::int64_t{1} << 40));
  std::vector<std::string> none;
  HEADROOM_TRY_VOID(config.check_unread(true, none));
  return settings;
}

Result<AttentionSpec> describe_attention(const ModelSource& source, const DecoderSizes& sizes,
                                         const AttentionSettings& settings, const RopeSpec& rope, double epsilon,
                                         const std::string& base, std::int64_t layer) {
  const std::int64_t d = sizes.head_dim;
  const bool unilm_name = !source.find(base + "o_proj.weight") && source.find(base + "out_proj.weight");
  const std::string output = unilm_name ? "out_proj" : "o_proj";
  AttentionSpec attention;
  if (settings.kind == "diff_v1") {
    const V1Options options = {.form = settings.v1_form, .norm = settings.v1_norm, .depth = layer, .output = output};
    attention = diff_v1_attention(sizes, base, options);
  } else if (settings.kind == "diff_v2") {
    attention = diff_v2_attention(sizes, base, output);
  } else {
    attention = grouped_attention(sizes, rope);
    attention.kind = settings.kind;
    use_projections(attention, base, output, sizes.hidden, false, false);
  }
  if (settings.shared_query_key) {
    if (attention.num_query_blocks != attention.num_key_blocks)
      return refuse(ErrorCode::Unsupported, "queries and keys are of one projection, and not as many as each other",
                    "attention.shared_query_key", "as many key blocks as query blocks",
                    std::to_string(attention.num_key_blocks) + " of " + std::to_string(attention.num_query_blocks));
    attention.k = attention.q;
  }
  if (settings.qk_norm) {
    attention.qk_norm = QkNormScope::PerHead;
    attention.q_norm = rms_norm(base + "q_norm.weight", d, epsilon);
    attention.k_norm = rms_norm(base + "k_norm.weight", d, epsilon);
  }
  attention.rope = rope;
  attention.scale = settings.scale;
  attention.window = settings.window;
  attention.chunk = settings.chunk;
  attention.always_visible = settings.always_visible;
  for (HeadProgram& head : attention.heads) {
    if (settings.kind == "softmax_one") head.sink = SinkSource::Zero;
    if (settings.kind == "softmax_sink") head.sink = SinkSource::Learned;
    head.gated = settings.kind == "gated";
    if (settings.kind == "softpick") head.normalizer = Normalizer::Softpick;
  }
  if (settings.kind == "softmax_sink") attention.sink_logits = vector(base + "sinks", sizes.heads);
  if (settings.kind == "gated") {
    const bool elementwise = settings.gate == "elementwise";
    attention.gate = elementwise ? GateLayout::Elementwise : GateLayout::PerHead;
    attention.gate_projection =
        linear(base + "g_proj", elementwise ? sizes.heads * d : sizes.heads, sizes.hidden, false);
  }
  return attention;
}

// config.json cannot say that a model was trained with changed head programs; its trainer notes it.
void warn_of_training(const nlohmann::json& training, std::vector<std::string>& warnings) {
  if (!training.is_object() || !training.value("what_if", nlohmann::json()).is_array()) return;
  for (const nlohmann::json& what_if : training["what_if"])
    if (what_if.is_string())
      warnings.push_back("this model was trained with --what-if " + what_if.get<std::string>() +
                         ": without it another function runs than the one that was trained");
}

Result<ModelSpec> translate_headroom(const ModelSource& source) {
  ConfigReader config(source.config());
  const nlohmann::json& kind = config.raw("attention");
  if (kind.is_object() && kind.value("kind", nlohmann::json()) == "diff_v2")
    HEADROOM_TRY_VOID(refuse_straddling_pairs(config, {}));
  HEADROOM_TRY(const DecoderSizes sizes, read_sizes(config, {.inner_minimum = 0}));
  HEADROOM_TRY(const double epsilon, config.norm_epsilon("rms_norm_eps", 1e-5));
  HEADROOM_TRY(const Activation activation, read_activation(config, "hidden_act", "silu"));
  HEADROOM_TRY(const std::string position, config.text("position", "rope"));
  if (position != "rope" && position != "learned" && position != "none")
    return refuse(ErrorCode::Unsupported, "unknown position embedding", "position", "rope, learned or none", position);
  HEADROOM_TRY(const bool interleaved, config.boolean("rope_interleaved", true));
  RopeSpec rope;
  if (position == "rope") {
    HEADROOM_TRY(rope, read_rope(config, {.layout = interleaved ? RopeLayout::Interleaved : RopeLayout::HalfSplit},
                                 sizes.head_dim, sizes.max_positions));
  } else {
    for (const char* key : {"rope_theta", "rope_scaling", "rope_parameters"}) (void)config.raw(key);
  }
  HEADROOM_TRY(const AttentionSettings settings, read_attention(config.raw("attention"), sizes));

  ModelSpec model;
  const std::string prefix = llama_prefix(source);
  HEADROOM_TRY_VOID(read_llama_frame(source, config, sizes, prefix, epsilon, model));
  HEADROOM_TRY(const bool has_logits, config.boolean("lm_head", true));
  if (!has_logits) {  // a task on the residual stream: no final norm, no logits, no loss of the next token
    model.lm_head = {};
    model.final_norm = {};
    model.tied = false;
    model.warnings.clear();
  }
  if (position == "learned")
    model.position_embedding = matrix(prefix + "position_embeddings.weight", sizes.max_positions, sizes.hidden);
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer) {
    const std::string base = layer_prefix(prefix, layer);
    BlockSpec block;
    block.attention_branch.before = rms_norm(base + "input_layernorm.weight", sizes.hidden, epsilon);
    HEADROOM_TRY(block.attention,
                 describe_attention(source, sizes, settings, rope, epsilon, base + "self_attn.", layer));
    if (sizes.inner > 0) {
      block.mlp_branch.before = rms_norm(base + "post_attention_layernorm.weight", sizes.hidden, epsilon);
      block.mlp = gated_mlp(base + "mlp.", sizes.hidden, sizes.inner, activation, false);
    }
    model.blocks.push_back(std::move(block));
  }
  warn_of_training(config.raw("training"), model.warnings);
  HEADROOM_TRY_VOID(config.check_unread(true, model.warnings));
  return model;
}

}  // namespace

extern constinit const Family kFamily_headroom{"headroom", "your own llama: softmax, sinks, softpick, gates, DIFF",
                                               translate_headroom};

}  // namespace headroom
