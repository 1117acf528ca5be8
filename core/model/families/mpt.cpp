// MPT: ALiBi, norms without bias, q, then k, then v in one matrix (core/model/ARCHITECTURES.md#mpt).
#include <array>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/format.h"
#include "core/model/decoder_parts.h"
#include "core/model/distance_bias.h"
#include "core/model/family.h"

namespace headroom {
namespace {

constexpr double kUsualBias = 8.0;

Error unsupported(const std::string& field, std::string_view expected, std::string_view found) {
  Error error(ErrorCode::Unsupported, "this form of MPT's attention is not supported here");
  return error.at_tensor(field).wanted(expected, found);
}

Result<void> read_mpt_attention(const nlohmann::json& given, ModelSpec& model) {
  ConfigReader config(given, "attn_config.");
  HEADROOM_TRY(const std::string type, config.text("attn_type", "multihead_attention"));
  HEADROOM_TRY(const bool alibi, config.boolean("alibi", true));
  if (type != "multihead_attention") return unsupported("attn_config.attn_type", "multihead_attention", type);
  if (!alibi) return unsupported("attn_config.alibi", "true", "false");
  for (const char* key : {"prefix_lm", "qk_ln", "qk_gn", "rope"}) {
    HEADROOM_TRY(const bool wanted, config.boolean(key, false));
    if (wanted) return unsupported(std::string("attn_config.") + key, "false", "true");
  }
  HEADROOM_TRY(const double window, config.number("sliding_window_size", -1.0));
  if (window > 0.0) return unsupported("attn_config.sliding_window_size", "-1", format("%g", window));
  HEADROOM_TRY(const double keys, config.number("kv_n_heads", static_cast<double>(model.num_heads)));
  if (keys != static_cast<double>(model.num_heads))
    return unsupported("attn_config.kv_n_heads", std::to_string(model.num_heads), format("%g", keys));
  HEADROOM_TRY(const double most, config.number("alibi_bias_max", kUsualBias));
  HEADROOM_TRY(const double scale, config.number("softmax_scale", 0.0));
  if (!(most > 0.0))
    return refuse_config("ALiBi's slopes are powers of 2 down to this one", "attn_config.alibi_bias_max", "> 0",
                         format("%g", most));
  for (BlockSpec& block : model.blocks) {
    block.attention.bias.slopes = alibi_slopes(model.num_heads, most);
    if (scale != 0.0) block.attention.scale = scale;
  }
  HEADROOM_TRY_VOID(read_clip(config, model));
  if (most != kUsualBias)
    model.warnings.push_back(
        format("attn_config.alibi_bias_max is %g, as MosaicML's own code has it; transformers takes 8", most));
  // How it is computed, and what concerns packed sequences.
  for (const char* key : {"attn_impl", "attn_uses_sequence_id"}) (void)config.raw(key);
  return config.check_unread(false, model.warnings);
}

Result<DecoderSizes> read_mpt_sizes(ConfigReader& config) {
  HEADROOM_TRY(DecoderSizes sizes, read_sizes(config, {.layers = "n_layers",
                                                       .hidden = "d_model",
                                                       .inner = "ffn_hidden_size",
                                                       .heads = "n_heads",
                                                       .max_positions = "max_seq_len",
                                                       .kv_heads = {},
                                                       .head_dim = {},
                                                       .inner_needed = false}));
  HEADROOM_TRY(const double ratio, config.number("expansion_ratio", 4.0));
  const double inner = ratio * static_cast<double>(sizes.hidden);
  if (!(inner >= 1.0) || inner > 1e9 || inner != std::floor(inner))
    return refuse_config("the MLP is this much wider than the stream", "expansion_ratio",
                         "a whole number of times d_model", format("%g", ratio));
  sizes.inner = static_cast<std::int64_t>(inner);
  return sizes;
}

Result<ModelSpec> translate_mpt(const ModelSource& source) {
  ConfigReader config(source.config());
  HEADROOM_TRY(const DecoderSizes sizes, read_mpt_sizes(config));
  HEADROOM_TRY(const double epsilon, config.norm_epsilon("layer_norm_epsilon", 1e-5));
  HEADROOM_TRY(const bool tied, config.boolean("tie_word_embeddings", true));
  HEADROOM_TRY(const std::string norm, config.text("norm_type", "low_precision_layernorm"));
  if (norm != "low_precision_layernorm" && norm != "layernorm") return unsupported("norm_type", "layernorm", norm);
  // Without effect beside ALiBi, on gradients alone, and how weights are made; biases are there where the file has
  // them.
  for (const char* key : {"learned_pos_emb", "emb_pdrop", "embedding_fraction", "init_device", "init_config", "no_bias",
                          "verbose", "tokenizer_name"})
    (void)config.raw(key);
  ModelSpec model;
  const std::string prefix = !source.find("transformer.wte.weight") && source.find("wte.weight") ? "" : "transformer.";
  fill_sizes(model, sizes);
  model.embedding = matrix(prefix + "wte.weight", sizes.vocab, sizes.hidden);
  const auto norm_of = [&](const std::string& name) {
    NormSpec spec = layer_norm(name, sizes.hidden, epsilon);
    if (!source.find(name + ".bias")) spec.bias = {};
    return spec;
  };
  model.final_norm = norm_of(prefix + "norm_f");
  model.tied = tied || !source.find("lm_head.weight");
  model.lm_head.weight = model.tied ? model.embedding : matrix("lm_head.weight", sizes.vocab, sizes.hidden);
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer) {
    const std::string base = prefix + "blocks." + std::to_string(layer) + ".", fused = base + "attn.Wqkv";
    const auto biased = [&](const std::string& name) { return source.find(name + ".bias") != nullptr; };
    BlockSpec block;
    block.attention_branch.before = norm_of(base + "norm_1");
    block.mlp_branch.before = norm_of(base + "norm_2");
    block.mlp = plain_mlp(base + "ffn.up_proj", base + "ffn.down_proj", sizes.hidden, sizes.inner, Activation::Gelu,
                          biased(base + "ffn.up_proj"));
    AttentionSpec& attention = block.attention = grouped_attention(sizes, {});
    const auto third = [&](std::int64_t which) {
      return linear_rows(fused, 3 * sizes.hidden, sizes.hidden, {which * sizes.hidden, sizes.hidden}, biased(fused));
    };
    attention.q = third(0);
    attention.k = third(1);
    attention.v = third(2);
    attention.o = linear(base + "attn.out_proj", sizes.hidden, sizes.hidden, biased(base + "attn.out_proj"));
    model.blocks.push_back(std::move(block));
  }
  HEADROOM_TRY_VOID(read_mpt_attention(config.raw("attn_config"), model));
  HEADROOM_TRY_VOID(config.check_unread(false, model.warnings));
  return model;
}

// attn_config and expansion_ratio of what stands beside each other.
Result<void> finish_mpt(const GgufMetadata&, nlohmann::json& config) {
  nlohmann::json attention;
  const nlohmann::json most = config.value("alibi_bias_max", nlohmann::json(0));
  attention["alibi"] = most != 0;
  if (most != 0) attention["alibi_bias_max"] = most;
  if (config.contains("clip_qkv")) attention["clip_qkv"] = config["clip_qkv"];
  for (const char* key : {"alibi_bias_max", "clip_qkv"}) config.erase(key);
  config["attn_config"] = std::move(attention);
  if (const nlohmann::json inner = config["ffn_hidden_size"], hidden = config["d_model"];
      inner.is_number() && hidden.is_number() && hidden > 0)
    config["expansion_ratio"] = inner.get<double>() / hidden.get<double>();
  config.erase("ffn_hidden_size");
  return {};
}

constexpr auto kMptGgufTensors = std::to_array<GgufTensor>({
    {"token_embd", "transformer.wte"},
    {"output_norm", "transformer.norm_f"},
    {"output", "lm_head"},
    {"blk.#.attn_norm", "transformer.blocks.#.norm_1"},
    {"blk.#.attn_qkv", "transformer.blocks.#.attn.Wqkv"},
    {"blk.#.attn_output", "transformer.blocks.#.attn.out_proj"},
    {"blk.#.ffn_norm", "transformer.blocks.#.norm_2"},
    {"blk.#.ffn_up", "transformer.blocks.#.ffn.up_proj"},
    {"blk.#.ffn_down", "transformer.blocks.#.ffn.down_proj"},
});
constexpr auto kMptGgufKeys = std::to_array<GgufKey>({
    {"block_count", "n_layers", true},
    {"embedding_length", "d_model", true},
    {"feed_forward_length", "ffn_hidden_size", true},
    {"attention.head_count", "n_heads", true},
    {"attention.layer_norm_epsilon", "layer_norm_epsilon", true},
    {"attention.max_alibi_bias", "alibi_bias_max"},
    {"attention.clamp_kqv", "clip_qkv"},
    {"context_length", "max_seq_len", true},
});
constexpr GgufNames kMptGguf{.architectures = {"mpt"},
                             .common_tensors = kMptGgufTensors,
                             .common_keys = kMptGgufKeys,
                             .flags = {},
                             .finish = finish_mpt};

}  // namespace

extern constinit const Family kFamily_mpt{"mpt", "MPT: ALiBi, norms without bias, fused q, k, v", translate_mpt,
                                          &kMptGguf};

}  // namespace headroom
