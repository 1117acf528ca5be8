// The project's own checkpoint folder (core/model/ARCHITECTURES.md#the-headroom-checkpoint-folder): softmax,
// softmax_one, softmax_sink, gated, diff_v1 and diff_v2 in a llama-like decoder. Every unknown key is refused.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/family.h"
#include "core/model/llama_parts.h"

namespace headroom {
namespace {

constexpr double kSublnEpsilon = 1e-5;

struct AttentionSettings {
  std::string kind;
  std::string gate;
  std::string v1_form;
  bool v1_norm = true;
  bool qk_norm = false;
  double scale = 0.0;
  std::int64_t window = 0;
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
  const bool v1 = settings.kind == "diff_v1";
  if (!gated && !v1 && settings.kind != "softmax" && settings.kind != "softmax_one" &&
      settings.kind != "softmax_sink" && settings.kind != "diff_v2")
    return refuse(ErrorCode::Unsupported, "unknown attention kind", "attention.kind",
                  "softmax, softmax_one, softmax_sink, gated, diff_v1 or diff_v2", settings.kind);
  HEADROOM_TRY(settings.gate, config.text("gate", gated ? std::nullopt : std::optional<std::string>("")));
  if (gated && settings.gate != "headwise" && settings.gate != "elementwise")
    return refuse(ErrorCode::Unsupported, "unknown gate", "attention.gate", "headwise or elementwise", settings.gate);
  HEADROOM_TRY(settings.v1_form, config.text("v1_form", "flash"));
  if (v1 && settings.v1_form != "flash" && settings.v1_form != "naive")
    return refuse(ErrorCode::Unsupported, "unknown form of DIFF V1", "attention.v1_form", "flash or naive",
                  settings.v1_form);
  HEADROOM_TRY(settings.v1_norm, config.boolean("v1_norm", true));
  HEADROOM_TRY(settings.qk_norm, config.boolean("qk_norm", false));
  HEADROOM_TRY(settings.scale, config.number("scale", 1.0 / std::sqrt(static_cast<double>(sizes.head_dim))));
  HEADROOM_TRY(settings.window, config.integer("window", 0, 0, std::int64_t{1} << 40));
  std::vector<std::string> none;
  HEADROOM_TRY_VOID(config.check_unread(true, none));
  return settings;
}

// unilm multihead_flashdiffv2: heads 2i and 2i + 1 of one GQA attention over 2h query heads form pair i.
std::vector<HeadProgram> diff_v2_heads(const DecoderSizes& sizes) {
  const std::int64_t group = 2 * sizes.heads / sizes.kv_heads;
  std::vector<HeadProgram> programs(static_cast<std::size_t>(sizes.heads));
  for (std::int64_t i = 0; i < sizes.heads; ++i) {
    HeadProgram& head = programs[static_cast<std::size_t>(i)];
    const std::int64_t block = 2 * i / group;
    head.first = {2 * i, block, {block}};
    head.second = {2 * i + 1, block, {block}};
    head.lambda = LambdaSource::Projection;
  }
  return programs;
}

// unilm V1 (core/model/ARCHITECTURES.md#index-tables): the flash files pair k1 with q1 and k2 with q2; the naive file
// repeats the 2·h_kv key sub-heads before pairing, which differs under GQA.
std::vector<HeadProgram> diff_v1_heads(const DecoderSizes& sizes, const AttentionSettings& settings, double init) {
  const std::int64_t repeat = sizes.heads / sizes.kv_heads;
  std::vector<HeadProgram> programs(static_cast<std::size_t>(sizes.heads));
  for (std::int64_t i = 0; i < sizes.heads; ++i) {
    HeadProgram& head = programs[static_cast<std::size_t>(i)];
    const bool naive = settings.v1_form == "naive";
    const std::int64_t pair = 2 * (i / repeat);
    const std::vector<std::int64_t> values = {pair, pair + 1};
    head.first = {2 * i, naive ? 2 * i / repeat : pair, values};
    head.second = {2 * i + 1, naive ? (2 * i + 1) / repeat : pair + 1, values};
    head.lambda = LambdaSource::LayerScalar;
    head.post_norm = settings.v1_norm;
    head.post_scale = 1.0 - init;
  }
  return programs;
}

Result<AttentionSpec> describe_attention(const ModelSource& source, const DecoderSizes& sizes,
                                         const AttentionSettings& settings, const RopeSpec& rope, double epsilon,
                                         const std::string& base, std::int64_t layer) {
  const bool v1 = settings.kind == "diff_v1";
  const bool v2 = settings.kind == "diff_v2";
  const std::int64_t d = sizes.head_dim;
  AttentionSpec attention;
  attention.kind = settings.kind;
  attention.head_dim = attention.value_dim = d;
  attention.num_query_blocks = v1 || v2 ? 2 * sizes.heads : sizes.heads;
  attention.num_key_blocks = attention.num_value_blocks = v1 ? 2 * sizes.kv_heads : sizes.kv_heads;
  const std::int64_t context_rows = sizes.heads * d * (v1 ? 2 : 1);
  attention.q = linear(base + "q_proj", attention.num_query_blocks * d, sizes.hidden, false);
  attention.k = linear(base + "k_proj", attention.num_key_blocks * d, sizes.hidden, false);
  attention.v = linear(base + "v_proj", attention.num_value_blocks * d, sizes.hidden, false);
  const bool unilm_name = !source.find(base + "o_proj.weight") && source.find(base + "out_proj.weight");
  attention.o = linear(base + (unilm_name ? "out_proj" : "o_proj"), sizes.hidden, context_rows, false);
  if (settings.qk_norm) {
    attention.qk_norm = QkNormScope::PerHead;
    attention.q_norm = rms_norm(base + "q_norm.weight", d, epsilon);
    attention.k_norm = rms_norm(base + "k_norm.weight", d, epsilon);
  }
  attention.rope = rope;
  attention.scale = settings.scale;
  attention.window = settings.window;
  if (v2) {
    attention.heads = diff_v2_heads(sizes);
    attention.lambda_projection = linear(base + "lambda_proj", sizes.heads, sizes.hidden, false);
  } else if (v1) {
    attention.lambda_init = lambda_init(layer);
    attention.heads = diff_v1_heads(sizes, settings, attention.lambda_init);
    attention.lambda_q1 = vector(base + "lambda_q1", d);
    attention.lambda_k1 = vector(base + "lambda_k1", d);
    attention.lambda_q2 = vector(base + "lambda_q2", d);
    attention.lambda_k2 = vector(base + "lambda_k2", d);
    if (settings.v1_norm) attention.head_norm = rms_norm(base + "subln.weight", 2 * d, kSublnEpsilon);
  } else {
    attention.heads = grouped_heads(sizes.heads, sizes.kv_heads);
  }
  for (HeadProgram& head : attention.heads) {
    if (settings.kind == "softmax_one") head.sink = SinkSource::Zero;
    if (settings.kind == "softmax_sink") head.sink = SinkSource::Learned;
    head.gated = settings.kind == "gated";
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

// Asked before the sizes are read: their general rule, h_kv divides h, would refuse the same files for a reason that
// says nothing about pairs.
Result<void> refuse_straddling_pairs(ConfigReader& config) {
  const nlohmann::json& attention = config.raw("attention");
  if (!attention.is_object() || attention.value("kind", nlohmann::json()) != "diff_v2") return {};
  constexpr std::int64_t kAny = std::int64_t{1} << 40;
  HEADROOM_TRY(const std::int64_t heads, config.integer("num_attention_heads", std::nullopt, 1, kAny));
  HEADROOM_TRY(const std::int64_t kv_heads, config.integer("num_key_value_heads", heads, 1, kAny));
  if (2 * heads % kv_heads == 0 && 2 * heads / kv_heads % 2 == 0) return {};
  return refuse(ErrorCode::Unsupported, "DIFF V2 needs 2h/h_kv even, otherwise a pair straddles two value heads",
                "num_key_value_heads", "2·num_attention_heads / num_key_value_heads even",
                "2·" + std::to_string(heads) + "/" + std::to_string(kv_heads));
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
  HEADROOM_TRY_VOID(refuse_straddling_pairs(config));
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

extern constinit const Family kFamily_headroom{
    "headroom", "a llama of your own: softmax, one, sink, gated, diff_v1, diff_v2", translate_headroom};

}  // namespace headroom
