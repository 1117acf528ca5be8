// Configs that cannot be run (tests/FAULTS.md, 45 to 47): the field is named, with what was expected and found, before
// any tensor is looked at; keys that change the mathematics are refused, and bookkeeping is not.
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/model/family.h"
#include "tests/core/model/every_row.h"
#include "tests/core/model/model_files.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

struct Fault {
  const char* row;    // how a row of the family table begins
  const char* patch;  // JSON merge patch of its config
  ErrorCode code;
  const char* field;
  const char* expected;  // part of it
  const char* found;
};

constexpr ErrorCode kCorrupt = ErrorCode::Corrupt;
constexpr ErrorCode kUnsupported = ErrorCode::Unsupported;

const Fault kFaults[] = {
    // 45: sizes that cannot be.
    {"llama: grouped", R"({"num_attention_heads": 0})", kCorrupt, "num_attention_heads", "from 1", "0"},
    {"llama: grouped", R"({"num_attention_heads": -4})", kCorrupt, "num_attention_heads", "from 1", "-4"},
    {"llama: grouped", R"({"num_attention_heads": 1000000000})", kCorrupt, "num_attention_heads", "to 65536",
     "1000000000"},
    {"llama: grouped", R"({"num_attention_heads": 18446744073709551615})", kCorrupt, "num_attention_heads", "to 65536",
     "18446744073709551615"},
    {"llama: grouped", R"({"num_attention_heads": 3, "num_key_value_heads": 1})", kCorrupt, "num_attention_heads",
     "divisor of hidden_size = 8", "3"},
    {"llama: grouped", R"({"num_attention_heads": 4.0})", kCorrupt, "num_attention_heads", "an integer", "4.0"},
    {"llama: grouped", R"({"num_attention_heads": "4"})", kCorrupt, "num_attention_heads", "an integer", "\"4\""},
    {"llama: grouped", R"({"num_attention_heads": null})", kCorrupt, "num_attention_heads", "an integer", "nothing"},
    {"llama: grouped", R"({"num_key_value_heads": 8})", kCorrupt, "num_key_value_heads", "num_attention_heads = 4",
     "8"},
    {"llama: grouped", R"({"num_key_value_heads": 3})", kCorrupt, "num_key_value_heads", "num_attention_heads = 4",
     "3"},
    {"llama: grouped", R"({"num_key_value_heads": 0})", kCorrupt, "num_key_value_heads", "from 1", "0"},
    {"llama: grouped", R"({"num_hidden_layers": 1000000})", kCorrupt, "num_hidden_layers", "from 1", "1000000"},
    {"llama: grouped", R"({"num_hidden_layers": 0})", kCorrupt, "num_hidden_layers", "from 1", "0"},
    {"llama: grouped", R"({"hidden_size": -8})", kCorrupt, "hidden_size", "from 1", "-8"},
    {"llama: grouped", R"({"hidden_size": 1e30})", kCorrupt, "hidden_size", "an integer", "1e+30"},
    {"llama: grouped", R"({"intermediate_size": 0})", kCorrupt, "intermediate_size", "from 1", "0"},
    {"llama: grouped", R"({"vocab_size": null})", kCorrupt, "vocab_size", "an integer", "nothing"},
    {"llama: grouped", R"({"head_dim": 0})", kCorrupt, "head_dim", "from 1", "0"},
    {"llama: grouped", R"({"head_dim": 3})", kCorrupt, "head_dim", "even", "3"},
    {"llama: grouped", R"({"max_position_embeddings": 0})", kCorrupt, "max_position_embeddings", "from 1", "0"},
    {"llama: grouped", R"({"rms_norm_eps": "small"})", kCorrupt, "rms_norm_eps", "a number", "\"small\""},
    {"llama: grouped", R"({"rms_norm_eps": -1.0})", kCorrupt, "rms_norm_eps", "from 0", "-1.0"},
    {"gpt2: Conv1D", R"({"layer_norm_epsilon": 1.0})", kCorrupt, "layer_norm_epsilon", "below 1", "1.0"},
    {"llama: grouped", R"({"rope_scaling": {"rope_type": "linear", "factor": 2.0},
      "rope_parameters": {"rope_type": "linear", "factor": 4.0}})",
     kUnsupported, "rope_parameters, rope_scaling", "one of them", "both"},
    {"llama: grouped", R"({"tie_word_embeddings": 1})", kCorrupt, "tie_word_embeddings", "true or false", "1"},
    {"llama: grouped", R"({"attention_bias": "yes"})", kCorrupt, "attention_bias", "true or false", "\"yes\""},
    {"gpt2: Conv1D", R"({"n_head": 3})", kCorrupt, "n_head", "divisor of n_embd = 8", "3"},
    {"gpt2: Conv1D", R"({"n_head": 0})", kCorrupt, "n_head", "from 1", "0"},
    {"gpt2: Conv1D", R"({"n_layer": 1000000})", kCorrupt, "n_layer", "from 1", "1000000"},
    {"gpt2: Conv1D", R"({"n_embd": null})", kCorrupt, "n_embd", "an integer", "nothing"},
    {"gpt2: Conv1D", R"({"n_inner": -1})", kCorrupt, "n_inner", "from 1", "-1"},
    {"diffllama: halves", R"({"num_attention_heads": 5, "num_key_value_heads": 5})", kCorrupt, "num_attention_heads",
     "even", "5"},
    // A pair of V2 must share its value head.
    {"headroom: diff_v2", R"({"num_attention_heads": 3, "num_key_value_heads": 2})", kUnsupported,
     "num_key_value_heads", "even", "2·3/2"},
    {"headroom: diff_v2", R"({"num_attention_heads": 3, "num_key_value_heads": 6})", kUnsupported,
     "num_key_value_heads", "even", "2·3/6"},
    // Choices that nobody knows.
    {"llama: grouped", R"({"hidden_act": "mish"})", kUnsupported, "hidden_act", "silu", "mish"},
    {"gpt2: Conv1D", R"({"activation_function": "swiglu2"})", kUnsupported, "activation_function", "gelu_new",
     "swiglu2"},
    {"headroom: softmax", R"({"attention": null})", kCorrupt, "attention", "an object", "null"},
    {"headroom: softmax", R"({"attention": {"kind": null}})", kCorrupt, "attention.kind", "a string", "nothing"},
    {"headroom: softmax", R"({"attention": {"kind": "softmin"}})", kUnsupported, "attention.kind", "diff_v2",
     "softmin"},
    {"headroom: softmax", R"({"attention": {"shared_query_key": true}})", kUnsupported, "attention.shared_query_key",
     "as many", "2 of 4"},
    {"headroom: softmax", R"({"attention": {"window": -1}})", kCorrupt, "attention.window", "from 0", "-1"},
    {"headroom: softmax", R"({"attention": {"chunk": -1}})", kCorrupt, "attention.chunk", "from 0", "-1"},
    {"ministral3", R"({"rope_parameters": {"original_max_position_embeddings": null}})", kCorrupt,
     "rope_parameters.original_max_position_embeddings", "a number", "nothing"},
    {"mistral3", R"({"text_config": {"model_type": "clip_text_model"}})", kUnsupported, "text_config.model_type",
     "mistral", "clip_text_model"},
    {"gemma3: gemma3_text", R"({"text_config": {"num_hidden_layers": 0}})", kCorrupt, "text_config.num_hidden_layers",
     "from 1", "0"},
    {"llama4_text: chunks", R"({"moe_layers": [2]})", kCorrupt, "moe_layers", "0 … 1", "2"},
    {"llama4_text: chunks", R"({"attention_chunk_size": 0})", kCorrupt, "attention_chunk_size", "from 1", "0"},
    {"llama4_text: chunks", R"({"no_rope_layers": [1]})", kCorrupt, "no_rope_layers", "2 numbers", "1"},
    {"llama4_text: chunks", R"({"floor_scale": 0})", kCorrupt, "floor_scale", "> 0", "0"},
    {"llama4_text: chunks", R"({"layer_types": ["full_attention", "sliding_attention"]})", kUnsupported,
     "layer_types[1]", "chunked_attention", "sliding_attention"},
    {"gemma3n_text", R"({"num_kv_shared_layers": 2})", kCorrupt, "num_kv_shared_layers", "at most 1", "2"},
    {"gemma3n_text", R"({"layer_types": ["sliding_attention", "full_attention"]})", kCorrupt, "num_kv_shared_layers",
     "fewer layers", "1"},
    {"gemma3n_text", R"({"activation_sparsity_pattern": [0.5]})", kCorrupt, "activation_sparsity_pattern", "2 numbers",
     "1"},
    {"gemma3n_text", R"({"activation_sparsity_pattern": [1.0, 0.5]})", kCorrupt, "activation_sparsity_pattern",
     "below 1", "1 of layer 0"},
    {"gemma3n_text", R"({"altup_active_idx": 2})", kCorrupt, "altup_active_idx", "to 1", "2"},
    {"gemma4_text", R"({"use_bidirectional_attention": "all"})", kUnsupported, "use_bidirectional_attention", "vision",
     "all"},
    {"gemma4_text", R"({"num_global_key_value_heads": 3})", kCorrupt, "num_global_key_value_heads", "to 2", "3"},
    {"gemma4_text", R"({"top_k_experts": 4})", kCorrupt, "top_k_experts", "to 3", "4"},
    {"headroom: softmax", R"({"attention": {"scale": "x"}})", kCorrupt, "attention.scale", "a number", "\"x\""},
    {"headroom: softmax", R"({"position": "alibi"})", kUnsupported, "position", "rope, learned or none", "alibi"},
    {"headroom: gated, head", R"({"attention": {"gate": null}})", kCorrupt, "attention.gate", "a string", "nothing"},
    {"headroom: gated, head", R"({"attention": {"gate": "tokenwise"}})", kUnsupported, "attention.gate", "elementwise",
     "tokenwise"},
    {"headroom: diff_v1, the flash", R"({"attention": {"v1_form": "slow"}})", kUnsupported, "attention.v1_form",
     "naive", "slow"},
    // Keys that change the mathematics.
    {"llama: grouped", R"({"sliding_window": 4096})", kUnsupported, "sliding_window", "key of this", "4096"},
    {"llama: grouped", R"({"quantization_config": {"bits": 4}})", kUnsupported, "quantization_config", "key of this",
     R"({"bits":4})"},
    {"llama: grouped", R"({"attn_logit_softcapping": 50.0})", kUnsupported, "attn_logit_softcapping", "key of this",
     "50.0"},
    {"llama: grouped", R"({"partial_rotary_factor": 0.5})", kUnsupported, "partial_rotary_factor", "key of this",
     "0.5"},
    {"llama: grouped", R"({"num_local_experts": 8})", kUnsupported, "num_local_experts", "key of this", "8"},
    {"llama: grouped", R"({"residual_multiplier": 0.22})", kUnsupported, "residual_multiplier", "key of this", "0.22"},
    {"llama: grouped", R"({"use_qk_norm": true})", kUnsupported, "use_qk_norm", "key of this", "true"},
    {"gpt2: Conv1D", R"({"add_cross_attention": true})", kUnsupported, "add_cross_attention", "key of this", "true"},
    {"gpt2: Conv1D", R"({"alibi": true})", kUnsupported, "alibi", "key of this", "true"},
    {"diffllama: halves", R"({"sliding_window": 16})", kUnsupported, "sliding_window", "key of this", "16"},
    // What a relative of llama does not have, or has otherwise than we can run it.
    {"gemma3_text", R"({"use_bidirectional_attention": true})", kUnsupported, "use_bidirectional_attention",
     "key of this", "true"},
    {"stablelm: a part", R"({"qk_layernorm": true})", kUnsupported, "qk_layernorm", "key of this", "true"},
    {"cohere: side", R"({"use_qk_norm": true})", kUnsupported, "use_qk_norm", "key of this", "true"},
    {"olmo: LayerNorm", R"({"clip_qkv": -8.0})", kCorrupt, "clip_qkv", "≥ 0", "-8"},
    {"opt: norms before", R"({"word_embed_proj_dim": 8})", kUnsupported, "word_embed_proj_dim", "hidden_size = 16",
     "8"},
    {"mistral: a window", R"({"layer_types": ["full_attention", "full_attention"]})", kUnsupported, "layer_types",
     "key of this", R"(["full_attention","full_attention"])"},
    {"qwen3: kinds", R"({"layer_types": ["full_attention"]})", kCorrupt, "layer_types", "a list of 2", "1"},
    {"qwen3: kinds", R"({"layer_types": ["full_attention", "chunked_attention"]})", kUnsupported, "layer_types[1]",
     "sliding_attention or full_attention", "chunked_attention"},
    {"mistral: a window", R"({"sliding_window": 0})", kCorrupt, "sliding_window", "from 1", "0"},
    {"gemma2", R"({"query_pre_attn_scalar": 0})", kCorrupt, "query_pre_attn_scalar", "> 0", "0"},
    {"gemma2", R"({"attn_logit_softcapping": -1.0})", kCorrupt, "attn_logit_softcapping", "≥ 0", "-1"},
    {"granite", R"({"logits_scaling": 0.0})", kCorrupt, "logits_scaling", "another", "0"},
    {"glm: half", R"({"partial_rotary_factor": 1.5})", kCorrupt, "partial_rotary_factor", "in (0, 1]", "1.5"},
    {"stablelm: a part", R"({"partial_rotary_factor": 0.25})", kCorrupt, "head_dim", "an even number", "1"},
    {"smollm3", R"({"no_rope_layers": [1]})", kCorrupt, "no_rope_layers", "2 numbers", "1"},
    {"gptj", R"({"rotary_dim": 3})", kCorrupt, "rotary_dim", "an even number", "3"},
    {"gpt_neo:", R"({"attention_types": [[["global"], 1]]})", kCorrupt, "attention_types", "2 layers",
     R"([[["global"],1]])"},
    {"gpt_neo:", R"({"attention_types": [[["sideways"], 2]]})", kCorrupt, "attention_types", "COUNT",
     R"([[["sideways"],2]])"},
    {"gemma3_text", R"({"rope_scaling": null, "rope_parameters": {"rope_type": "default"}})", kCorrupt,
     "rope_parameters", "full_attention", "none"},
    {"phi3", R"({"rope_scaling": {"short_factor": [1.0]}})", kCorrupt, "rope_scaling.short_factor, long_factor", "2",
     "1"},
    // Experts.
    {"mixtral", R"({"num_experts_per_tok": 4})", kCorrupt, "num_experts_per_tok", "at most 3", "4"},
    {"mixtral", R"({"num_local_experts": 0})", kCorrupt, "num_local_experts", "from 1", "0"},
    {"mixtral", R"({"num_local_experts": 1000000000})", kCorrupt, "num_local_experts", "to 65536", "1000000000"},
    {"qwen2_moe", R"({"mlp_only_layers": [2]})", kCorrupt, "mlp_only_layers", "0 … 1", "2"},
    {"qwen2_moe", R"({"mlp_only_layers": 1})", kCorrupt, "mlp_only_layers", "a list of layers", "number"},
    {"qwen2_moe", R"({"decoder_sparse_step": 0})", kCorrupt, "decoder_sparse_step", "from 1", "0"},
    {"qwen3_moe", R"({"moe_intermediate_size": 0})", kCorrupt, "moe_intermediate_size", "from 1", "0"},
    {"olmoe", R"({"clip_qkv": "8"})", kCorrupt, "clip_qkv", "a number", "\"8\""},
    {"phimoe", R"({"num_experts_per_tok": 3})", kCorrupt, "num_experts_per_tok", "2", "3"},
    {"phimoe", R"({"router_jitter_noise": -1.0})", kCorrupt, "router_jitter_noise", "≥ 0", "-1"},
    {"glm4_moe", R"({"n_group": 4, "topk_group": 2})", kCorrupt, "n_group", "two experts and more", "4 of 1"},
    {"glm4_moe", R"({"n_group": 3})", kCorrupt, "n_group", "groups of two", "3 of 1"},
    {"glm4_moe", R"({"topk_group": 3})", kCorrupt, "topk_group", "to 2", "3"},
    {"gpt_oss", R"({"swiglu_alpha": 1.5})", kCorrupt, "swiglu_alpha", "1.702", "1.5"},
    {"gpt_oss", R"({"swiglu_limit": 0.0})", kCorrupt, "swiglu_limit", "> 0", "0"},
    // Encoders.
    {"bert", R"({"position_embedding_type": "relative_key"})", kUnsupported, "position_embedding_type", "absolute",
     "relative_key"},
    {"bert", R"({"type_vocab_size": 0})", kCorrupt, "type_vocab_size", "from 1", "0"},
    {"bert", R"({"add_cross_attention": true})", kUnsupported, "add_cross_attention", "key of this", "true"},
    {"roberta", R"({"pad_token_id": 31})", kCorrupt, "pad_token_id", "to 30", "31"},
    {"electra", R"({"embedding_size": 0})", kCorrupt, "embedding_size", "from 1", "0"},
    {"modernbert", R"({"rope_scaling": {"rope_type": "linear", "factor": 2.0}})", kUnsupported, "rope_scaling",
     "by kind of layer", "rope_scaling"},
    {"modernbert", R"({"local_attention": 1})", kCorrupt, "local_attention", "from 2", "1"},
    // Latent attention.
    {"deepseek_v3", R"({"num_key_value_heads": 2})", kCorrupt, "num_key_value_heads", "num_attention_heads = 4", "2"},
    {"deepseek_v3", R"({"kv_lora_rank": 0})", kCorrupt, "kv_lora_rank", "from 1", "0"},
    {"deepseek_v3", R"({"qk_rope_head_dim": 3})", kCorrupt, "head_dim", "an even number", "3"},
    {"deepseek_v3", R"({"topk_method": "greedy"})", kUnsupported, "topk_method", "noaux_tc", "greedy"},
    {"deepseek_v3", R"({"scoring_func": "softmax"})", kUnsupported, "scoring_func", "sigmoid", "softmax"},
    {"deepseek_v3", R"({"moe_layer_freq": 2})", kUnsupported, "moe_layer_freq", "1", "2"},
    {"deepseek_v2", R"({"norm_topk_prob": true})", kCorrupt, "norm_topk_prob", "false", "true"},
    {"deepseek_v2", R"({"topk_method": "noaux_tc"})", kUnsupported, "topk_method", "group_limited_greedy", "noaux_tc"},
    {"minicpm3", R"({"v_head_dim": 0})", kCorrupt, "v_head_dim", "from 1", "0"},
    // Biases by distance.
    {"bloom", R"({"apply_residual_connection_post_layernorm": true})", kUnsupported,
     "apply_residual_connection_post_layernorm", "false", "true"},
    {"bloom", R"({"num_attention_heads": 3})", kCorrupt, "num_attention_heads", "divisor of n_embed = 16", "3"},
    {"mpt", R"({"attn_config": {"alibi": false}})", kUnsupported, "attn_config.alibi", "true", "false"},
    {"mpt", R"({"attn_config": {"alibi_bias_max": 0}})", kCorrupt, "attn_config.alibi_bias_max", "> 0", "0"},
    {"mpt", R"({"attn_config": {"attn_type": "multiquery_attention"}})", kUnsupported, "attn_config.attn_type",
     "multihead_attention", "multiquery_attention"},
    {"mpt", R"({"attn_config": {"clip_qkv": -1}})", kCorrupt, "attn_config.clip_qkv", "≥ 0", "-1"},
    {"mpt", R"({"attn_config": {"kv_n_heads": 2}})", kUnsupported, "attn_config.kv_n_heads", "4", "2"},
    {"mpt", R"({"attn_config": {"prefix_lm": true}})", kUnsupported, "attn_config.prefix_lm", "false", "true"},
    {"mpt", R"({"attn_config": {"qk_ln": true}})", kUnsupported, "attn_config.qk_ln", "false", "true"},
    {"mpt", R"({"attn_config": {"rope": true}})", kUnsupported, "attn_config.rope", "false", "true"},
    {"mpt", R"({"attn_config": {"sliding_window_size": 128}})", kUnsupported, "attn_config.sliding_window_size", "-1",
     "128"},
    {"mpt", R"({"expansion_ratio": 0})", kCorrupt, "expansion_ratio", "number of times d_model", "0"},
    {"mpt", R"({"logit_scale": "inv_sqrt_d_model"})", kUnsupported, "logit_scale", "key of this",
     "\"inv_sqrt_d_model\""},
    {"mpt", R"({"norm_type": "rmsnorm"})", kUnsupported, "norm_type", "layernorm", "rmsnorm"},
    {"falcon: groups", R"({"parallel_attn": false})", kCorrupt, "parallel_attn", "true", "false"},
    {"falcon: groups", R"({"num_kv_heads": 3})", kCorrupt, "num_kv_heads", "num_attention_heads = 4", "3"},
    {"falcon: one key", R"({"num_ln_in_parallel_attn": 2})", kCorrupt, "num_ln_in_parallel_attn", "1", "2"},
    {"falcon: one key", R"({"activation": "mish"})", kUnsupported, "activation", "gelu", "mish"},
    // Differential attention and softpick.
    {"llama-differential: half", R"({"num_attention_heads": 3, "num_key_value_heads": 3, "hidden_size": 12})", kCorrupt,
     "num_attention_heads", "even", "3"},
    {"llama-differential: half", R"({"num_key_value_heads": 1})", kCorrupt, "num_key_value_heads", "even", "1"},
    {"Motif: 2.6B", R"({"num_key_value_heads": 1})", kCorrupt, "num_key_value_heads", "even", "1"},
    {"Motif: 2.6B", R"({"hidden_size": 16, "num_attention_heads": 8, "num_key_value_heads": 6})", kCorrupt,
     "num_key_value_heads", "num_attention_heads = 8", "6"},
    {"Motif: 2.6B", R"({"kv_lora_rank": 512})", kUnsupported, "kv_lora_rank", "nothing", "512"},
    {"Motif: 2.6B", R"({"use_bias": true})", kUnsupported, "use_bias", "false", "true"},
    {"Motif: 2.6B", R"({"use_sliding_window": true})", kUnsupported, "use_sliding_window", "key of this", "true"},
    {"Motif: 12.7B", R"({"k_ratio": 2})", kUnsupported, "k_ratio", "1", "2"},
    {"Motif: 12.7B", R"({"num_noise_heads": 4})", kCorrupt, "num_noise_heads", "num_attention_heads = 6", "4"},
    {"Motif: 12.7B", R"({"num_noise_heads": 1})", kUnsupported, "num_key_value_heads", "2·num_noise_heads", "4 and 1"},
    {"transformer: softpick", R"({"num_heads": null})", kUnsupported, "num_heads, attn_impl", "hidden_ratio",
     "another config"},
    {"transformer: softpick", R"({"attn_impl": "parallel_rectified_attn"})", kUnsupported, "attn_impl", "softpick",
     "parallel_rectified_attn"},
    {"transformer: softpick", R"({"hidden_ratio": -4, "intermediate_size": null})", kCorrupt, "hidden_ratio",
     "from 0 to 1024", "-4.000000"},
    {"transformer: softpick", R"({"qk_norm": true})", kUnsupported, "qk_norm", "key of this", "true"},
    {"qwen3: gates for", R"({"elementwise_attn_output_gate": true})", kCorrupt, "elementwise_attn_output_gate",
     "false beside", "true"},
    // Our own format: whatever is not documented.
    {"headroom: softmax", R"({"attention_multiplier": 2.0})", kUnsupported, "attention_multiplier", "key of this",
     "2.0"},
    {"headroom: softmax", R"({"my_note": "x"})", kUnsupported, "my_note", "key of this", "\"x\""},
    {"headroom: softmax", R"({"attention": {"sinks": 4}})", kUnsupported, "attention.sinks", "key of this", "4"},
    {"headroom: softmax", R"({"attention": {"lambda": 0.5}})", kUnsupported, "attention.lambda", "key of this", "0.5"},
};

const FamilyRow& row_named(const char* beginning) {
  for (const FamilyRow& row : every_row())
    if (std::strncmp(row.name, beginning, std::strlen(beginning)) == 0) return row;
  throw std::runtime_error(beginning);
}

// The row's config, patched, with the row's tensors or none at all.
Result<ModelSpec> described(const char* row_name, const char* patch, bool with_tensors) {
  const FamilyRow& row = row_named(row_name);
  nlohmann::json config = nlohmann::json::parse(row.config);
  std::vector<TensorLine> tensors = tensor_lines(row.tensors, 2);
  for (TensorLine& tensor : tensors)
    if (tensor.name.front() == '?' || tensor.name.front() == '!') tensor.name.erase(0, 1);
  config.merge_patch(nlohmann::json::parse(patch));
  return ModelFolder(config, with_tensors ? tensors : std::vector<TensorLine>{{"x", {1}}}).describe();
}

}  // namespace

CATCH_TEST_CASE("config: what cannot be run is refused by field, expected and found") {
  for (const Fault& fault : kFaults) {
    CATCH_INFO(fault.row << " + " << fault.patch);
    const auto model = described(fault.row, fault.patch, false);
    CATCH_CHECK_FALSE(model.has_value());
    if (model) continue;
    const Error& error = model.error();
    CATCH_INFO(describe(error));
    CATCH_CHECK(error.code == fault.code);
    CATCH_CHECK(error.tensor == fault.field);
    CATCH_CHECK(error.expected.find(fault.expected) != std::string::npos);
    CATCH_CHECK(error.found == fault.found);
    CATCH_CHECK(error.file.ends_with("/config.json"));
  }
}

CATCH_TEST_CASE("config: a pair of DIFF V2 over two value heads is refused in these words") {
  for (const char* patch : {R"({"num_attention_heads": 3, "num_key_value_heads": 2})",
                            R"({"num_attention_heads": 4, "num_key_value_heads": 8})"}) {
    const auto model = described("headroom: diff_v2", patch, false);
    CATCH_REQUIRE_FALSE(model.has_value());
    CATCH_CHECK(model.error().message == "DIFF V2 needs 2h/h_kv even, otherwise a pair straddles two value heads");
  }
}

CATCH_TEST_CASE("config: bookkeeping and keys that say nothing change nothing") {
  const char* patch = R"({"sliding_window": null, "use_sliding_window": false, "num_experts": 0, "layer_types": [],
    "quantization_config": {}, "torch_dtype": "float16", "_name_or_path": "x", "id2label": {"0": "A"}, "use_cache": true,
    "architectures": ["Other"], "attention_dropout": 0.5, "pretraining_tp": 2, "eos_token_id": [1, 2]})";
  for (const char* row : {"llama: grouped", "gpt2: Conv1D", "diffllama: halves", "headroom: softmax"}) {
    CATCH_INFO(row);
    const auto model = described(row, patch, true);
    CATCH_INFO((model ? "" : describe(model.error())));
    CATCH_CHECK(model.has_value());
    if (model) CATCH_CHECK(model->warnings.empty());
  }
}

CATCH_TEST_CASE("config: an unknown key of a public family is said, and the model still opens") {
  const auto model = described("llama: grouped", R"({"my_experiment": [1, 2]})", true);
  CATCH_REQUIRE(model.has_value());
  CATCH_REQUIRE(model->warnings.size() == 1);
  CATCH_CHECK(model->warnings.front() == "config key 'my_experiment' = [1,2] is unknown and was ignored");
}

CATCH_TEST_CASE("config: a long value is cut in the message") {
  std::string given = R"({"blob": ")";
  given.append(1000, 'x').append("\"}");
  const auto model = described("headroom: softmax", given.c_str(), false);
  CATCH_REQUIRE_FALSE(model.has_value());
  CATCH_CHECK(model.error().found.size() < 80);
}

}  // namespace headroom::test
