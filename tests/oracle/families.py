"""Tiny random checkpoints of the families that transformers has, and what its own code computes with them.

transformers runs the model in float64; of each layer the attention function's arguments are kept (queries and keys after
norms and rotation, values, mask, scale, cap), from which the statistics follow as for any head.
"""
import contextlib
import copy
import importlib
from dataclasses import dataclass, field

import torch

import checkpoints as C
import forward


@dataclass
class Case:
    name: str  # model type, and what is special
    config: dict  # as config.json holds it
    n: int = 37
    stored: dict = field(default_factory=dict)  # dtype, shards
    warning: str = ""  # the one that the run prints

    @property
    def model_type(self):
        return self.config["model_type"]

    @property
    def decoder(self):
        """The part of the config that describes the decoder."""
        return self.config.get("text_config", self.config)


BASE = {"vocab_size": 53, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 256, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
PLAIN = {"rope_type": "default", "rope_theta": 10000.0}


def case(name, n=37, stored=None, warning="", **config):
    merged = {**BASE, "model_type": name.split()[0], **config}
    return Case(name, {k: v for k, v in merged.items() if v != "absent"}, n, stored or {}, warning)


LONG_FACTOR = [1.0, 2.0, 4.0, 7.0]
LONGROPE = {"type": "longrope", "short_factor": [1.0, 1.1, 1.3, 1.7], "long_factor": LONG_FACTOR}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 64}
GEMMA = {"head_dim": 16, "hidden_act": "gelu", "tie_word_embeddings": "absent"}
GEMMA2 = {"head_dim": 16, "hidden_activation": "gelu_pytorch_tanh"}
NO_LLAMA = dict.fromkeys(("num_hidden_layers", "num_attention_heads", "num_key_value_heads", "intermediate_size"), "absent")
GPT = {**NO_LLAMA, "hidden_size": "absent", "max_position_embeddings": "absent", "n_embd": 32, "n_layer": 3, "n_head": 4,
       "n_positions": 128}
GPT_NEO = NO_LLAMA
QWEN_EXPERTS = {"num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 24}
GLM_EXPERTS = {"n_routed_experts": 6, "num_experts_per_tok": 3, "moe_intermediate_size": 20, "head_dim": 8}
GPT_OSS_YARN = {"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False,
                "original_max_position_embeddings": 8}
ENCODER = {"num_key_value_heads": "absent"}
MODERN = {"num_key_value_heads": "absent", "cls_token_id": 1, "sep_token_id": 2}
MLA = {"q_lora_rank": 20, "kv_lora_rank": 14, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 12}
BF16 = {"dtype": torch.bfloat16}
NOT_SAID = dict.fromkeys(("num_hidden_layers", "num_attention_heads", "num_key_value_heads", "intermediate_size",
                          "max_position_embeddings"), "absent")
BLOOM = {**NOT_SAID, "n_head": 4, "n_layer": 3}
MPT = {**NOT_SAID, "hidden_size": "absent", "d_model": 32, "n_heads": 4, "n_layers": 3, "max_seq_len": 128}
FALCON = dict.fromkeys(("num_key_value_heads", "intermediate_size"), "absent")
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 32.0,
        "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.3}
LLAMA4 = {"head_dim": 8, "intermediate_size_mlp": 40, "num_local_experts": 4, "attention_chunk_size": 16, "floor_scale": 10}
GEMMA3N = {"head_dim": 8, "num_hidden_layers": 5, "vocab_size_per_layer_input": 50, "hidden_size_per_layer_input": 12,
           "laurel_rank": 6, "num_kv_shared_layers": 2, "sliding_window": 9,
           "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention", "sliding_attention"]}
GEMMA4 = {**GEMMA3N, "global_head_dim": 16, "hidden_size_per_layer_input": 10, "vocab_size_per_layer_input": 53,
          "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "full_attention"]}
del GEMMA4["laurel_rank"]


def inside(**config):
    """The text_config of a model with images."""
    return {**{k: v for k, v in BASE.items()}, **config}


def around(text, **more):
    """A config of a model with images, of which text_config is the decoder; the images' part is as small as it can be."""
    return {**dict.fromkeys(BASE, "absent"), "text_config": text, **more}


SIGLIP = {"model_type": "siglip_vision_model", "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1,
          "num_attention_heads": 1, "image_size": 28, "patch_size": 14}
PIXTRAL = {"model_type": "pixtral", "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1,
           "image_size": 28, "patch_size": 14, "head_dim": 8}
LLAMA4_VISION = {"model_type": "llama4_vision_model", "hidden_size": 8, "intermediate_size": 32, "num_hidden_layers": 1,
                 "num_attention_heads": 1, "image_size": 28, "patch_size": 14, "vision_output_dim": 8, "projector_input_dim": 8,
                 "projector_output_dim": 8}
DELTA = {"linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 6, "linear_value_head_dim": 8,
         "linear_conv_kernel_dim": 4, "head_dim": 16}
LFM2 = {"num_hidden_layers": 4, "conv_L_cache": 3, "block_multiple_of": 16}

DEBERTA = {"num_key_value_heads": "absent", "relative_attention": True, "type_vocab_size": 0}

CASES = [
    case("mistral no window", sliding_window=None),
    case("mistral window", 97, sliding_window=9, head_dim=16),
    case("mistral window, new spelling", sliding_window=70, n=150, rope_parameters={"rope_type": "default", "rope_theta": 1e6}),
    case("qwen2"),
    case("qwen2 tied, late window", 97, use_sliding_window=True, sliding_window=11, max_window_layers=1,
         tie_word_embeddings=True, rope_theta=1000000.0),
    case("qwen2 layer types", use_sliding_window=True, sliding_window=5, stored=BF16,
         layer_types=["sliding_attention", "full_attention", "sliding_attention"]),
    case("qwen3", head_dim=16, tie_word_embeddings=True),
    case("qwen3 bias, window, llama3", 97, head_dim=8, attention_bias=True, use_sliding_window=True, sliding_window=20,
         max_window_layers=2, rope_scaling=LLAMA3),
    case("gemma", **GEMMA),
    case("gemma one group, not tied", 97, head_dim=8, num_key_value_heads=1, hidden_act="gelu_pytorch_tanh",
         tie_word_embeddings=False),
    case("gemma2", 97, sliding_window=13, query_pre_attn_scalar=12, attn_logit_softcapping=3.0, final_logit_softcapping=2.0,
         **GEMMA2),
    case("gemma2 no caps", sliding_window=5, query_pre_attn_scalar=16, attn_logit_softcapping=None,
         final_logit_softcapping=None, attention_bias=True, **GEMMA2),
    case("gemma3_text", 97, num_hidden_layers=7, sliding_window=13, query_pre_attn_scalar=16, rope_theta=500000.0,
         rope_local_base_freq=5000.0, rope_scaling={"rope_type": "linear", "factor": 8.0}, sliding_window_pattern=3, **GEMMA2),
    case("gemma3_text new spelling", sliding_window=9, query_pre_attn_scalar=8,
         layer_types=["sliding_attention", "full_attention", "sliding_attention"],
         rope_parameters={"full_attention": {"rope_type": "linear", "factor": 4.0, "rope_theta": 300000.0},
                          "sliding_attention": {"rope_type": "default", "rope_theta": 20000.0}}, **GEMMA2),
    case("olmo"),
    case("olmo bias, tied", attention_bias=True, tie_word_embeddings=True, num_key_value_heads=4),
    case("olmo2", 97),
    case("olmo2 bias", attention_bias=True, rope_theta=500000.0, tie_word_embeddings=True),
    case("olmo3", 97, num_hidden_layers=5, sliding_window=10, rope_theta=500000.0),
    case("olmo3 new spelling", sliding_window=10, layer_types=["full_attention", "sliding_attention", "full_attention"],
         rope_parameters={"full_attention": {"rope_type": "linear", "factor": 3.0, "rope_theta": 80000.0},
                          "sliding_attention": {"rope_type": "default", "rope_theta": 9000.0}}),
    case("granite", 97, embedding_multiplier=3.0, attention_multiplier=0.2, residual_multiplier=0.22, logits_scaling=8.0,
         tie_word_embeddings=True),
    case("granite biases", attention_bias=True, mlp_bias=True, embedding_multiplier=0.5, attention_multiplier=0.1),
    case("starcoder2", 97, sliding_window=12),
    case("starcoder2 no bias", use_bias=False, sliding_window=None, tie_word_embeddings=False, norm_epsilon=1e-3),
    case("stablelm"),
    case("stablelm parallel, bias", 97, use_parallel_residual=True, use_qkv_bias=True, partial_rotary_factor=0.5),
    case("phi"),
    case("phi norms of queries and keys", 97, qk_layernorm=True, partial_rotary_factor=0.25, num_key_value_heads=4),
    case("phi3", 97, sliding_window=15),
    case("phi3 long", 97, max_position_embeddings=64, original_max_position_embeddings=32, rope_scaling=LONGROPE,
         warning="97 tokens are more than the 64 positions that the config names"),
    case("phi3 partial", partial_rotary_factor=0.5, tie_word_embeddings=True, stored={"shards": 2}),
    case("smollm3", 97, num_hidden_layers=5, rope_theta=2000000.0),
    case("smollm3 window, list", no_rope_layers=[0, 1, 0], use_sliding_window=True, sliding_window=6, mlp_bias=True,
         tie_word_embeddings=False),
    case("cohere", 97, logit_scale=0.4),
    case("cohere bias, not tied", attention_bias=True, tie_word_embeddings=False, layer_norm_eps=1e-3),
    case("cohere2", 97, num_hidden_layers=5, sliding_window=8, logit_scale=0.25),
    case("cohere2 layer types", sliding_window=5, layer_types=["full_attention", "sliding_attention", "full_attention"]),
    case("helium", head_dim=8),
    case("helium biases", 97, head_dim=8, attention_bias=True, mlp_bias=True, rope_theta=5000.0),
    case("glm", 97, head_dim=16),
    case("glm no bias", attention_bias=False, head_dim=8, partial_rotary_factor=1.0),
    case("glm4", 97, head_dim=16, attention_bias=False),
    case("glm4 bias", attention_bias=True, head_dim=8, num_key_value_heads=1),
    case("nemotron"),
    case("nemotron biases", 97, attention_bias=True, mlp_bias=True, partial_rotary_factor=0.25, head_dim=16),
    case("exaone4", 97, num_hidden_layers=5, sliding_window=9),
    case("exaone4 no window", sliding_window=None, sliding_window_pattern=0, layer_types=["full_attention"] * 3),
    case("gpt_neox", num_key_value_heads="absent"),
    case("gpt_neox one after the other", 97, num_key_value_heads="absent", use_parallel_residual=False, rotary_pct=1.0,
         rotary_emb_base=5000, tie_word_embeddings=False, hidden_act="gelu_new"),
    case("opt", ffn_dim=40, intermediate_size="absent", num_key_value_heads="absent", word_embed_proj_dim=32),
    case("opt norms of the sum, no bias", 97, ffn_dim=40, intermediate_size="absent", num_key_value_heads="absent",
         do_layer_norm_before=False, enable_bias=False, tie_word_embeddings=False),
    case("gpt_bigcode", 97, **GPT),
    case("gpt_bigcode many keys", multi_query=False, n_inner=40, activation_function="gelu", **GPT),
    case("gptj", 97, rotary_dim=4, **GPT),
    case("gpt_neo", 97, num_layers=4, num_heads=4, attention_types=[[["global", "local"], 2]], window_size=11, **GPT_NEO),
    case("mixtral", 97, num_local_experts=4, num_experts_per_tok=2, sliding_window=11),
    case("mixtral more experts", num_local_experts=5, num_experts_per_tok=3, head_dim=16, stored=BF16),
    case("qwen2_moe", 97, **QWEN_EXPERTS, shared_expert_intermediate_size=20, num_hidden_layers=4, use_sliding_window=True,
         sliding_window=8, max_window_layers=3, decoder_sparse_step=2),
    case("qwen2_moe normalised", **QWEN_EXPERTS, shared_expert_intermediate_size=40, norm_topk_prob=True, qkv_bias=False,
         mlp_only_layers=[1]),
    case("qwen3_moe", 97, **QWEN_EXPERTS, norm_topk_prob=True, head_dim=16, use_sliding_window=True, sliding_window=20),
    case("qwen3_moe not normalised", **QWEN_EXPERTS, attention_bias=True, head_dim=8, mlp_only_layers=[0, 2]),
    case("olmoe", num_experts=6, num_experts_per_tok=2),
    case("olmoe normalised, bias", 97, num_experts=3, num_experts_per_tok=3, norm_topk_prob=True, attention_bias=True),
    case("phimoe", num_local_experts=5, attention_bias=True, lm_head_bias=True),
    case("phimoe wide jitter, window", 97, num_local_experts=4, router_jitter_noise=0.4, sliding_window=9,
         max_position_embeddings=512, original_max_position_embeddings=128,
         rope_scaling={**LONGROPE, "short_mscale": 1.2, "long_mscale": 1.3, "original_max_position_embeddings": 128}),
    case("granitemoe", 97, num_local_experts=5, num_experts_per_tok=2, embedding_multiplier=3.0, attention_multiplier=0.2,
         residual_multiplier=0.22, logits_scaling=8.0),
    case("glm4_moe", 97, **GLM_EXPERTS, first_k_dense_replace=1, use_qk_norm=True, attention_bias=True, n_shared_experts=2),
    case("glm4_moe groups, all experts", **{**GLM_EXPERTS, "n_routed_experts": 8}, n_group=4, topk_group=2,
         first_k_dense_replace=0, routed_scaling_factor=2.5, norm_topk_prob=False, partial_rotary_factor=1.0),
    case("gpt_oss", 97, num_local_experts=5, num_experts_per_tok=2, head_dim=16, sliding_window=10, swiglu_limit=1.5,
         rope_scaling=GPT_OSS_YARN),
    case("gpt_oss no bias, layer types", num_local_experts=3, num_experts_per_tok=1, head_dim=8, attention_bias=False,
         sliding_window=5, stored=BF16, rope_parameters={**GPT_OSS_YARN, "rope_theta": 9000.0},
         layer_types=["full_attention", "sliding_attention", "full_attention"]),
    case("deepseek_v3", 97, **{**MLA, "num_key_value_heads": 4}, n_routed_experts=8, num_experts_per_tok=3, moe_intermediate_size=20, n_group=4,
         topk_group=2, first_k_dense_replace=1, max_position_embeddings=640,
         rope_scaling={"type": "yarn", "factor": 10.0, "original_max_position_embeddings": 64, "mscale": 1.0,
                       "mscale_all_dim": 0.7, "beta_fast": 32, "beta_slow": 1}),
    case("deepseek_v3 whole queries, halves", **{**MLA, "q_lora_rank": None, "num_key_value_heads": 4}, n_routed_experts=4, num_experts_per_tok=2,
         moe_intermediate_size=24, n_group=1, topk_group=1, first_k_dense_replace=0, rope_interleave=False,
         attention_bias=True, routed_scaling_factor=1.5, norm_topk_prob=False),
    case("deepseek_v2", 97, **{**MLA, "num_key_value_heads": 4, "v_head_dim": 6}, n_routed_experts=6, num_experts_per_tok=2, moe_intermediate_size=20,
         first_k_dense_replace=1, topk_method="greedy"),
    case("deepseek_v2 groups", **{**MLA, "q_lora_rank": None, "num_key_value_heads": 4}, n_routed_experts=8, num_experts_per_tok=3,
         moe_intermediate_size=20, topk_method="group_limited_greedy", n_group=4, topk_group=2, routed_scaling_factor=16.0,
         attention_bias=True, max_position_embeddings=640, rope_scaling={"rope_type": "yarn", "factor": 40.0, "mscale": 0.707,
         "mscale_all_dim": 0.707, "original_max_position_embeddings": 16}),
    case("minicpm3", 97, **{**MLA, "num_key_value_heads": 4, "v_head_dim": 10}, scale_emb=3, scale_depth=1.1, dim_model_base=16),
    case("minicpm3 not scaled", **{**MLA, "num_key_value_heads": 4, "v_head_dim": None}, scale_depth=None, dim_model_base=None, scale_emb=1,
         attention_bias=True, mlp_bias=True, tie_word_embeddings=False),
    case("bert", 97, **ENCODER),
    case("bert narrow MLP, tanh GELU", type_vocab_size=4, hidden_act="gelu_new", layer_norm_eps=1e-3, stored=BF16, **ENCODER),
    case("roberta", 97, type_vocab_size=1, **{**ENCODER, "pad_token_id": 1}),
    case("xlm-roberta", hidden_act="relu", **{**ENCODER, "pad_token_id": 3}),
    case("electra", 97, embedding_size=20, **ENCODER),
    case("electra as wide", embedding_size=32, hidden_act="relu", **ENCODER),
    case("distilbert", 97, dim=32, hidden_dim=40, n_layers=3, n_heads=4, max_position_embeddings=128, **NO_LLAMA, hidden_size="absent"),
    case("modernbert", 97, num_hidden_layers=4, local_attention=10, **MODERN),
    case("modernbert biases, layer types", 97, norm_bias=True, attention_bias=True, mlp_bias=True, classifier_bias=True,
         decoder_bias=False, local_attention=7, hidden_activation="silu", classifier_activation="relu", norm_eps=1e-3,
         layer_types=["sliding_attention", "full_attention", "sliding_attention"],
         rope_parameters={"full_attention": {"rope_type": "default", "rope_theta": 5000.0},
                          "sliding_attention": {"rope_type": "default", "rope_theta": 700.0}}, **MODERN),
    case("bloom", 97, **BLOOM),
    case("bloom twelve heads, not tied", n_head=12, hidden_size=48, n_layer=2, tie_word_embeddings=False, **NOT_SAID),
    case("bloom n_embed", seq_length=128, offset_alibi=100, attention_softmax_in_fp32=True, bias_dropout_fusion=True,
         masked_softmax_fusion=True, stored=BF16,
         **{**NOT_SAID, "hidden_size": "absent", "n_embed": 36, "num_attention_heads": 6, "num_hidden_layers": 2}),
    case("mpt", 97, **MPT),
    case("mpt six heads, cut, scaled", **{**MPT, "n_heads": 6, "d_model": 36}, tie_word_embeddings=False, layer_norm_epsilon=1e-3,
         attn_config={"clip_qkv": 0.6, "softmax_scale": 0.3, "alibi": True, "alibi_bias_max": 8, "attn_impl": "torch"}),
    case("falcon", 97, **FALCON),
    case("falcon one norm", **FALCON, new_decoder_architecture=True, num_kv_heads=2, num_ln_in_parallel_attn=1, rope_theta=5000.0),
    case("falcon two norms", 97, **FALCON, new_decoder_architecture=True, num_kv_heads=2, ffn_hidden_size=40, bias=True,
         tie_word_embeddings=False),
    case("falcon rw", 97, **FALCON, alibi=True, bias=True, multi_query=False, parallel_attn=False),
    case("falcon alibi, groups", **FALCON, alibi=True, new_decoder_architecture=True, num_kv_heads=4, activation="relu"),
    case("falcon every key its own", **FALCON, multi_query=False, parallel_attn=True, num_kv_heads=4, layer_norm_epsilon=1e-3,
         rope_scaling={"type": "linear", "factor": 2.0}),
    case("olmo cut", clip_qkv=0.7),
    case("olmoe cut", num_experts=4, num_experts_per_tok=2, clip_qkv=0.9),
    case("ministral3", 97, rope_parameters=YARN, head_dim=8),
    case("ministral3 window, no scale", 97, sliding_window=13, head_dim=16, tie_word_embeddings=True,
         rope_parameters={"rope_type": "yarn", "rope_theta": 5000.0, "factor": 8.0, "original_max_position_embeddings": 32,
                          "mscale": 1.0, "mscale_all_dim": 0.5, "llama_4_scaling_beta": 0.0}),
    case("mistral3 of ministral3", 97, **around(inside(model_type="ministral3", rope_parameters=YARN, head_dim=8),
                                                vision_config=PIXTRAL, spatial_merge_size=1, tie_word_embeddings=True)),
    case("gemma3 images beside it", 97, **around(
        inside(model_type="gemma3_text", num_hidden_layers=4, sliding_window=13, query_pre_attn_scalar=16, sliding_window_pattern=3,
               **GEMMA2), vision_config=SIGLIP, mm_tokens_per_image=4)),
    case("llama4_text", 97, **LLAMA4, interleave_moe_layer_step=2, num_hidden_layers=5),
    case("llama4_text lists, all experts", 97, **{**LLAMA4, "num_local_experts": 3, "attention_chunk_size": 7}, moe_layers=[0],
         num_experts_per_tok=2, no_rope_layers=[0, 1, 1], use_qk_norm=False, attention_bias=True, rope_scaling=LLAMA3,
         layer_types=["full_attention", "chunked_attention", "full_attention"]),
    case("llama4_text no temperature", head_dim=16, intermediate_size_mlp=24, num_local_experts=2, attn_temperature_tuning=False,
         attention_chunk_size=64, tie_word_embeddings=True, stored=BF16),
    case("llama4 images beside it", 97, **around(inside(model_type="llama4_text", **LLAMA4), vision_config=LLAMA4_VISION)),
    case("gemma3n_text", 97, **GEMMA3N, activation_sparsity_pattern=[0.95, 0.5, 0.0, 0.3, 0.0],
         intermediate_size=[48, 40, 48, 56, 48]),
    case("gemma3n_text two streams, no cap", **{**GEMMA3N, "num_kv_shared_layers": 0}, altup_num_inputs=2, altup_correct_scale=False,
         final_logit_softcapping=5.0, attention_bias=True, rope_parameters={
             "full_attention": {"rope_type": "linear", "factor": 4.0, "rope_theta": 300000.0},
             "sliding_attention": {"rope_type": "default", "rope_theta": 20000.0}}),
    case("gemma4_text", 97, **GEMMA4),
    case("gemma4_text wide MLP, values of keys", 97, **GEMMA4, use_double_wide_mlp=True, attention_k_eq_v=True,
         num_global_key_value_heads=1, final_logit_softcapping=3.0, attention_bias=True, tie_word_embeddings=False),
    case("gemma4_text experts", 97, **{**GEMMA4, "hidden_size_per_layer_input": 0, "num_kv_shared_layers": 0}, enable_moe_block=True,
         num_experts=5, top_k_experts=2, moe_intermediate_size=20, use_bidirectional_attention="vision"),
    case("lfm2", 97, **LFM2, layer_types=["conv", "conv", "full_attention", "conv"]),
    case("lfm2 bias, indices of layers, not tied", **{**LFM2, "num_hidden_layers": 5, "conv_L_cache": 4}, full_attn_idxs=[1, 3], conv_bias=True,
         block_auto_adjust_ff_dim=False, tie_word_embeddings=False, rope_theta=5000.0, norm_eps=1e-3, head_dim=16),
    case("lfm2 old spelling", 600, **{**LFM2, "max_position_embeddings": 1024}, full_attn_idxs=[0], block_ff_dim=60, block_ffn_dim_multiplier=1.3,
         tie_embedding=False, stored=BF16),
    case("qwen3_next", 97, **DELTA, **QWEN_EXPERTS, shared_expert_intermediate_size=20, num_hidden_layers=4),
    case("qwen3_next layer types, dense layers, bias", 200, **{**DELTA, "linear_num_key_heads": 4, "linear_conv_kernel_dim": 2}, **QWEN_EXPERTS,
         shared_expert_intermediate_size=16, norm_topk_prob=False, attention_bias=True, mlp_only_layers=[1], partial_rotary_factor=0.5,
         rope_theta=5000.0, tie_word_embeddings=True, hidden_act="gelu_pytorch_tanh",
         layer_types=["full_attention", "linear_attention", "full_attention"]),
    case("qwen3_next interval, new spelling", **{**DELTA, "linear_num_value_heads": 2}, **QWEN_EXPERTS, decoder_sparse_step=2,
         full_attention_interval=2, num_hidden_layers=5, stored=BF16, shared_expert_intermediate_size=24,
         rope_parameters={"rope_type": "default", "rope_theta": 1e5, "partial_rotary_factor": 1.0}),
    case("qwen3_5_text", 97, **DELTA, num_hidden_layers=4, rope_parameters={"rope_type": "default", "rope_theta": 1e6,
         "partial_rotary_factor": 0.5, "mrope_section": [2, 1, 1], "mrope_interleaved": True}),
    case("qwen3_5_text tied, bias, interval", 150, **DELTA, num_hidden_layers=3, full_attention_interval=3, attention_bias=True,
         tie_word_embeddings=True, stored=BF16),
    case("deberta-v2", 97, position_buckets=16, norm_rel_ebd="layer_norm", share_att_key=True, pos_att_type="p2c|c2p",
         position_biased_input=False, max_relative_positions=-1, **DEBERTA),
    case("deberta-v2 projections of its own, no buckets", max_relative_positions=20, pos_att_type=["c2p", "p2c"], legacy=False,
         **{**DEBERTA, "type_vocab_size": 2}),
    case("deberta-v2 one term", 97, position_buckets=10, max_relative_positions=70, pos_att_type=["p2c"], hidden_act="gelu_new",
         layer_norm_eps=1e-3, **DEBERTA),
    case("deberta-v2 places in the stream alone", stored=BF16, pos_att_type="c2p", **{**DEBERTA, "relative_attention": False}),
    case("gpt_neo all global", num_layers=2, num_heads=2, attention_types=[[["global"], 2]], **{**GPT_NEO, "intermediate_size": 40}),
]


def from_own_key(alibi):
    """[heads, n] as added to every row: [heads, n, n] less what the row's own key gets, which changes no weight."""
    return alibi[:, None, :] - alibi[:, :, None]


def bloom_call(_, module, hidden_states, residual, alibi, attention_mask, **options):
    q, k, v = (x[0] for x in module._reshape(module.query_key_value(hidden_states)))
    return module, q, k, v, attention_mask[0, 0] > -1, module.inv_norm_factor, None, from_own_key(alibi[:, 0])


def mpt_call(_, module, hidden_states, position_bias, attention_mask=None, **options):
    n, heads = hidden_states.shape[1], module.n_heads
    mixed = module.Wqkv(hidden_states)[0]
    if module.clip_qkv:
        mixed = torch.minimum(torch.maximum(mixed, torch.tensor(-module.clip_qkv)), torch.tensor(module.clip_qkv))
    q, k, v = (x.reshape(n, heads, -1).transpose(0, 1) for x in mixed.chunk(3, dim=1))
    return module, q, k, v, ~attention_mask[0, 0], module.softmax_scale, None, from_own_key(position_bias[:, 0, -n:])


def falcon_call(modeling, module, hidden_states, alibi, attention_mask, position_embeddings=None, **options):
    q, k, v = (x[0].transpose(0, 1) for x in module._split_heads(module.query_key_value(hidden_states)))
    if module.new_decoder_architecture:  # keys and values stand once for each of their queries
        k, v = (x[:: module.num_heads // module.num_kv_heads] for x in (k, v))
    if alibi is None:
        q, k = (x[0] for x in modeling.apply_rotary_pos_emb(q[None], k[None], *position_embeddings))
        bias = None
    else:
        bias = from_own_key(alibi.reshape(module.num_heads, -1) * module.inv_norm_factor)
    mask = attention_mask[0, 0]
    return module, q, k, v, mask if mask.dtype == torch.bool else mask > -1e30, module.inv_norm_factor, None, bias


def deberta_call(modeling, module, hidden_states, attention_mask, output_attentions=False, query_states=None, relative_pos=None,
                 rel_embeddings=None):
    heads, factor = module.num_attention_heads, 1 + len(module.pos_att_type)
    q, k, v = (module.transpose_for_scores(p(hidden_states), heads) for p in (module.query_proj, module.key_proj, module.value_proj))
    bias = module.disentangled_attention_bias(q, k, relative_pos, rel_embeddings, factor) if module.relative_attention else None
    return module, q, k, v, attention_mask[0, 0].bool(), 1 / modeling.scaled_size_sqrt(q, factor).item(), None, bias


BIASED = {"DisentangledSelfAttention": deberta_call, "BloomAttention": bloom_call, "MptAttention": mpt_call, "FalconAttention": falcon_call}


def seen(mask, query):
    """[n, n] bool; encoders without padding are given no mask."""
    n = query.shape[2]
    return torch.ones(n, n, dtype=torch.bool) if mask is None else mask[0, 0] > -1


@contextlib.contextmanager
def recorded_attention(modeling, calls):
    """The module's attention function keeps what it was given: (module, q, k, v, who sees whom, scale, cap[, bias])."""
    biased = next((name for name in BIASED if hasattr(modeling, name)), None)
    if biased:
        holder, name = getattr(modeling, biased), "forward"

        def recorder(module, *given, **options):
            calls.append(BIASED[biased](modeling, module, *given, **options))
            return original(module, *given, **options)
    elif hasattr(modeling, "eager_attention_forward"):
        holder, name = modeling, "eager_attention_forward"

        def recorder(module, query, key, value, attention_mask, scaling=None, **options):
            scale = scaling
            if scale == 1.0:  # OPT's queries are scaled before
                scale = module.scaling
            calls.append((module, query[0] * (scaling / scale), key[0], value[0], seen(attention_mask, query), scale,
                          options.get("softcap")))
            return original(module, query, key, value, attention_mask, scaling=scaling, **options)
    else:
        holder = getattr(modeling, "GPTJAttention", None) or modeling.GPTNeoSelfAttention
        name = "_attn"

        def recorder(module, query, key, value, attention_mask=None):
            n = query.shape[2]
            visible = module.bias[0, 0, :n, :n] if hasattr(module, "bias") else attention_mask[0, 0] > -1
            calls.append((module, query[0], key[0], value[0], visible, 1 / getattr(module, "scale_attn", 1.0), None))
            return original(module, query, key, value, attention_mask)

    original = getattr(holder, name)
    setattr(holder, name, recorder)
    try:
        yield
    finally:
        setattr(holder, name, original)


def model_of(case):
    """(modeling module, the model in float64, weightless)."""
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText, AutoModelForMaskedLM

    settings = AutoConfig.for_model(case.model_type, **{k: v for k, v in copy.deepcopy(case.config).items() if k != "model_type"})
    settings._attn_implementation = settings._experts_implementation = "eager"
    if case.model_type == "falcon":
        settings._attn_implementation = "sdpa"  # eager adds ALiBi once more, with the mask
    kind = AutoModelForMaskedLM if case.model_type in ENCODERS else AutoModelForImageTextToText if "text_config" in case.config \
        else AutoModelForCausalLM
    net = kind.from_config(settings)
    decoder = getattr(net.base_model, "language_model", net)
    MODELING[written_by(case)] = modeling = importlib.import_module(type(decoder).__module__)
    return modeling, net.to(torch.float64).eval()


MODELING = {}  # the modules that only a model names, which takes a while to make


def written_by(case):
    return case.model_type, case.config.get("text_config", {}).get("model_type")


def tied_names(net):
    """What stands in the state dict once more under another name."""
    state = net.state_dict()
    return {name for name, first in net.all_tied_weights_keys.items() if state[name].data_ptr() == state[first].data_ptr()}


def write(folder, case, seed):
    """The checkpoint as published; returns the values in float64 by transformers' names."""
    from transformers.core_model_loading import revert_weight_conversion

    with C.transformers_in_float64():
        _, net = model_of(case)
    tied = tied_names(net)
    state = {name: t for name, t in net.state_dict().items() if name not in tied and not name.endswith("inv_freq")}
    weights = C.scaled_weights(state, seed)
    dtype = case.stored.get("dtype", torch.float32)
    weights = {name: t.to(dtype) for name, t in weights.items()}
    C.save(folder, case.config, revert_weight_conversion(net, weights), **case.stored)
    return {name: t.double() for name, t in weights.items()}


OUTPUTS = ("o_proj", "dense", "out_proj", "c_proj", "out_lin", "Wo")
ENCODERS = ("bert", "roberta", "xlm-roberta", "electra", "distilbert", "modernbert", "deberta-v2")


def projection_sizes(module, output, q_rows, kv_rows, hidden):
    """Numbers of each projection, with its bias."""
    def bias(*names):
        linear = next(getattr(module, name) for name in names if hasattr(module, name))
        return linear.bias is not None

    if hasattr(module, "kv_b_proj"):
        parts = {"q": [module.q_proj] if module.q_lora_rank is None else [module.q_a_proj, module.q_b_proj],
                 "k": [module.kv_a_proj_with_mqa, module.kv_b_proj], "o": [output], "v": [], "lambda": []}
        sizes = {part: sum(p.numel() for linear in linears for p in linear.parameters()) for part, linears in parts.items()}
        values = len(module.kv_b_proj.weight) * module.v_head_dim // (module.qk_nope_head_dim + module.v_head_dim)
        moved = values * module.kv_b_proj.weight.shape[1]
        return sizes | {"k": sizes["k"] - moved, "v": moved}
    if hasattr(module, "q_proj"):  # none of k and v where they are of another layer, or v is k
        parts = {part: getattr(module, part + "_proj", None) for part in "qkv"} | {"o": output}
        sizes = {part: sum(p.numel() for p in linear.parameters()) if linear is not None else 0
                 for part, linear in parts.items()} | {"lambda": 0}
        gate = sizes["q"] // 2 if hasattr(module, "kept_projection") else 0  # every second block of its rows
        return sizes | {"q": sizes["q"] - gate, "gate": gate}
    fused = ("qkv_proj", "query_key_value", "c_attn", "Wqkv")
    sizes = {part[0]: rows * hidden + (rows if bias(part[0] + "_proj", part + "_proj", part, part[0] + "_lin", *fused) else 0)
             for part, rows in (("query", q_rows), ("key", kv_rows), ("value", kv_rows))}
    return sizes | {"o": q_rows * hidden + (hidden if output.bias is not None else 0), "lambda": 0}


def layer_of(layer, block, call):
    module, q, k, v, visible, scaling, softcap, *bias = call
    heads, key_heads = len(q), len(k)
    own = [getattr(module, name) for name in OUTPUTS if hasattr(module, name)]
    output = own[0] if own else block.attention.output.dense  # BERT's stands beside its attention
    sinks = module.sinks.tolist() if hasattr(module, "sinks") else None
    gate = output_gate(module, len(q), q.shape[-1])
    attention = forward.Attention(
        "gated" if gate is not None else "softmax_sink" if sinks else "softmax", q, k, v,
        [[(i, i // (heads // key_heads), [i // (heads // key_heads)])] for i in range(heads)],
        output.weight, output.bias, scaling, softcap=softcap, visible=visible, sinks=sinks, gate=gate, bias=bias[0] if bias else None)
    attention.parameters = projection_sizes(module, output, heads * q.shape[-1], key_heads * q.shape[-1], output.weight.shape[0])
    _, info = forward.attend(attention, layer, forward.Overrides(()), torch.zeros(q.shape[1], 1))
    return info


def output_gate(module, heads, width):
    """[heads, n, width] of a q_proj whose rows are each head's query and its gate, as `keep_gates` kept them; None: no gates."""
    if not hasattr(module, "kept_projection"):
        return None
    return torch.sigmoid(module.kept_projection.unflatten(-1, (heads, 2, width))[:, :, 1]).transpose(0, 1)


def keep_gates(net):
    for module in net.modules():
        if type(module).__name__ in ("Qwen3NextAttention", "Qwen3_5Attention"):
            module.q_proj.register_forward_hook(lambda _, __, out, module=module: setattr(module, "kept_projection", out[0]))


LAYERS = (lambda base: getattr(base, "layers", None),
          lambda base: getattr(getattr(base, "language_model", None), "layers", None),
          lambda base: getattr(getattr(getattr(base, "language_model", base), "model", None), "layers", None), lambda base: getattr(base, "h", None),
          lambda base: getattr(getattr(base, "decoder", None), "layers", None),
          lambda base: getattr(getattr(base, "encoder", None), "layer", None),
          lambda base: getattr(getattr(base, "transformer", None), "layer", None), lambda base: getattr(base, "blocks", None))


def kept_routing(layers):
    """Layer → (number of experts, [n, k] their numbers, [n, k] weights): what the module of the experts is called with."""
    kept = {}

    def keeper(layer):
        def keep(module, given):
            if len(given) != 3:
                raise ValueError(f"{type(module).__name__} is called in another way: say what its router chose")
            _, numbers, weights = given
            kept[layer] = (len(module.gate_up_proj), numbers.detach().clone(), weights.detach().clone())
        return keep

    def of_llama4(layer):  # whose experts are called with inputs that the router's scores have multiplied
        def keep(module, given, out):
            scores, numbers = out[1].topk(module.top_k, dim=1)
            kept[layer] = (module.num_experts, numbers.detach().clone(), torch.sigmoid(scores).detach().clone())
        return keep

    for layer, block in enumerate(layers):
        for module in block.modules():
            if type(module).__name__ == "Llama4Router":
                module.register_forward_hook(of_llama4(layer))
            elif type(module).__name__.endswith("Experts") and hasattr(module, "gate_up_proj") and "Llama4" not in type(module).__name__:
                module.register_forward_pre_hook(keeper(layer))
    return kept


def run(case, weights, ids):
    """The trace of transformers' own forward pass."""
    calls = []
    if written_by(case) not in MODELING:
        with C.transformers_in_float64():
            model_of(case)
    modeling = MODELING[written_by(case)]
    with C.transformers_in_float64(modeling), torch.no_grad(), recorded_attention(modeling, calls):
        _, net = model_of(case)
        missing, unexpected = net.load_state_dict(weights, strict=False)
        tied = tied_names(net)
        assert not unexpected and all(m in tied or m.endswith("inv_freq") for m in missing), (missing, unexpected)
        net.tie_weights()
        layers = next(part for part in (find(net.base_model) for find in LAYERS) if part is not None)
        residual = C.kept_residual(layers)
        keep_gates(net)
        routing = kept_routing(layers)
        options = {} if case.model_type in ENCODERS else {"use_cache": False}
        logits = net(torch.tensor([ids]), **options).logits[0]
    residual = [h[0] if h.dim() == 3 else h for h in residual]  # of several streams the first
    places = attention_layers(case, len(layers))
    assert len(calls) == len(places)
    trace = forward.Trace(residual, logits)
    with torch.no_grad():
        trace.layers = [layer_of(i, layers[i], call) for i, call in zip(places, calls)]
    trace.routing = routing
    return trace


def attention_layers(case, count):
    """Those of a hybrid that are no other mixer, by the index of their block."""
    kinds = hybrid_kinds(case, count)
    return [i for i in range(count) if kinds is None or kinds[i] == "full_attention"]


def hybrid_kinds(case, count):
    """layer_types of a model with other mixers than attention; None: every layer has attention."""
    config = case.config
    if case.model_type in ("qwen3_next", "qwen3_5_text"):
        interval = config.get("full_attention_interval", 4)
        return config.get("layer_types") or ["linear_attention" if (i + 1) % interval else "full_attention" for i in range(count)]
    if case.model_type != "lfm2":
        return None
    attends = config.get("full_attn_idxs", range(count))
    return config.get("layer_types") or ["full_attention" if i in attends else "conv" for i in range(count)]
