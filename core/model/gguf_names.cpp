#include "core/model/gguf_names.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kTopNames = {{
    {"token_embd.weight", "model.embed_tokens.weight"},
    {"output_norm.weight", "model.norm.weight"},
    {"output.weight", "lm_head.weight"},
}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kBlockNames = {{
    {"attn_norm", "input_layernorm"},
    {"attn_q", "self_attn.q_proj"},
    {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"},
    {"attn_output", "self_attn.o_proj"},
    {"ffn_norm", "post_attention_layernorm"},
    {"ffn_gate", "mlp.gate_proj"},
    {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"},
}};

// What no llama-like family runs, under keys that ConfigReader refuses where they say anything.
constexpr std::array<std::pair<const char*, const char*>, 8> kRefusedKeys = {{
    {"expert_count", "num_local_experts"},
    {"attention.sliding_window", "sliding_window"},
    {"attention.scale", "attention_multiplier"},
    {"attn_logit_softcapping", "attn_logit_softcapping"},
    {"final_logit_softcapping", "final_logit_softcapping"},
    {"embedding_scale", "embedding_multiplier"},
    {"residual_scale", "residual_multiplier"},
    {"logit_scale", "logit_scale"},
}};

// "blk.3.attn_q.weight" → "model.layers.3.self_attn.q_proj.weight"; a name outside the tables is kept.
std::string llama_name(std::string_view name) {
  for (const auto& [gguf, hugging_face] : kTopNames)
    if (name == gguf) return std::string(hugging_face);
  if (!name.starts_with("blk.")) return std::string(name);
  const std::size_t layer_end = name.find('.', 4);
  const std::size_t part_end = layer_end == std::string_view::npos ? layer_end : name.find('.', layer_end + 1);
  if (part_end == std::string_view::npos) return std::string(name);
  const std::string_view layer = name.substr(4, layer_end - 4);
  const std::string_view part = name.substr(layer_end + 1, part_end - layer_end - 1);
  for (const auto& [gguf, hugging_face] : kBlockNames)
    if (part == gguf)
      return "model.layers." + std::string(layer) + "." + std::string(hugging_face) +
             std::string(name.substr(part_end));
  return std::string(name);
}

Error missing_key(const Checkpoint& checkpoint, const std::string& key) {
  Error error(ErrorCode::Corrupt, "GGUF metadata lacks a key that the model needs");
  error.at_tensor(key).in_file(checkpoint.path().string());
  return error;
}

}  // namespace

Result<GgufModel> translate_gguf(const Checkpoint& checkpoint) {
  const nlohmann::json& metadata = checkpoint.metadata();
  if (!metadata.contains("general.architecture") || !metadata["general.architecture"].is_string())
    return missing_key(checkpoint, "general.architecture");
  const std::string architecture = metadata["general.architecture"];
  if (architecture != "llama") {
    Error error(ErrorCode::Unsupported, "no head view for GGUF architecture '" + architecture + "'");
    error.in_file(checkpoint.path().string()).wanted("llama", architecture);
    return error;
  }

  GgufModel model;
  const auto copy = [&](const char* suffix, const char* key, bool needed) -> Result<void> {
    const std::string name = architecture + "." + suffix;
    if (metadata.contains(name))
      model.config[key] = metadata[name];
    else if (needed)
      return missing_key(checkpoint, name);
    return {};
  };
  model.config["model_type"] = architecture;
  HEADROOM_TRY_VOID(copy("block_count", "num_hidden_layers", true));
  HEADROOM_TRY_VOID(copy("embedding_length", "hidden_size", true));
  HEADROOM_TRY_VOID(copy("feed_forward_length", "intermediate_size", true));
  HEADROOM_TRY_VOID(copy("attention.head_count", "num_attention_heads", true));
  HEADROOM_TRY_VOID(copy("attention.head_count_kv", "num_key_value_heads", false));
  HEADROOM_TRY_VOID(copy("attention.key_length", "head_dim", false));
  HEADROOM_TRY_VOID(copy("attention.layer_norm_rms_epsilon", "rms_norm_eps", true));
  HEADROOM_TRY_VOID(copy("context_length", "max_position_embeddings", true));
  HEADROOM_TRY_VOID(copy("rope.freq_base", "rope_theta", false));
  HEADROOM_TRY_VOID(copy("vocab_size", "vocab_size", false));
  for (const auto& [suffix, key] : kRefusedKeys) HEADROOM_TRY_VOID(copy(suffix, key, false));
  if (metadata.contains("tokenizer.ggml.bos_token_id"))
    model.config["bos_token_id"] = metadata["tokenizer.ggml.bos_token_id"];
  const std::string scaling = architecture + ".rope.scaling.type";
  if (metadata.contains(scaling) && metadata[scaling] != "none") {
    nlohmann::json& rope = model.config["rope_scaling"];
    rope["rope_type"] = metadata[scaling];
    const auto copy_scaling = [&](const char* suffix, const char* key) {
      const std::string name = architecture + ".rope.scaling." + suffix;
      if (metadata.contains(name)) rope[key] = metadata[name];
    };
    copy_scaling("factor", "factor");
    copy_scaling("original_context_length", "original_max_position_embeddings");
    copy_scaling("attn_factor", "attention_factor");
    copy_scaling("yarn_beta_fast", "beta_fast");
    copy_scaling("yarn_beta_slow", "beta_slow");
    // Read by no one, so that a file with them is refused: they blend and scale in ways of their own.
    copy_scaling("yarn_log_multiplier", "yarn_log_multiplier");
    if (metadata.value(architecture + ".rope.scaling.yarn_ext_factor", nlohmann::json(1.0)) != 1.0)
      copy_scaling("yarn_ext_factor", "yarn_ext_factor");
  }

  const auto head_count = [&](const char* key) {
    return model.config.contains(key) && model.config[key].is_number_integer() ? model.config[key].get<std::int64_t>()
                                                                               : std::int64_t{0};
  };
  const std::int64_t heads = head_count("num_attention_heads");
  const std::int64_t kv_heads =
      model.config.contains("num_key_value_heads") ? head_count("num_key_value_heads") : heads;
  const std::int64_t head_dim = head_count("head_dim") > 0 ? head_count("head_dim")
                                : heads > 0                ? head_count("hidden_size") / heads
                                                           : 0;
  if (const auto rotated = metadata.find(architecture + ".rope.dimension_count");
      rotated != metadata.end() && *rotated != head_dim)
    model.config["partial_rotary_factor"] = rotated->dump() + " of " + std::to_string(head_dim);
  for (const TensorInfo& tensor : checkpoint.tensors()) {
    SourceTensor source{&tensor, 0};
    const std::string name = llama_name(tensor.name);
    if (name.find(".self_attn.q_proj.") != std::string::npos) source.interleaved_heads = heads;
    if (name.find(".self_attn.k_proj.") != std::string::npos) source.interleaved_heads = kv_heads;
    model.tensors.emplace(name, source);
  }
  const auto embedding = model.tensors.find("model.embed_tokens.weight");
  if (!model.config.contains("vocab_size") && embedding != model.tensors.end() &&
      embedding->second.info->shape.size() == 2)
    model.config["vocab_size"] = embedding->second.info->shape[0];
  model.config["tie_word_embeddings"] = !model.tensors.contains("lm_head.weight");

  // llama3's scaling arrives as a table of divisors of the frequencies.
  if (const auto divisors = model.tensors.find("rope_freqs.weight"); divisors != model.tensors.end()) {
    const TensorInfo& tensor = *divisors->second.info;
    if (tensor.shape.size() == 1 && tensor.shape[0] > 0 && tensor.shape[0] <= 65536) {
      std::vector<double> values(static_cast<std::size_t>(tensor.shape[0]));
      HEADROOM_TRY_VOID(checkpoint.read(tensor, 0, std::span<double>(values)));
      model.config["rope_frequency_divisors"] = values;
    }
  }
  return model;
}

}  // namespace headroom
