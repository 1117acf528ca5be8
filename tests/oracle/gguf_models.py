"""GGUF files of the families, as llama.cpp's converter writes them (its conversion/*.py), with the gguf package's writer.

Names are the package's own tables; what the converter does to values and which keys it writes stand in FORMATS. A case
of families.py that GGUF cannot tell is changed to one that it can (TOLD), or left out (UNTOLD).
"""
import copy
import dataclasses
import math
import re
from dataclasses import dataclass

import gguf
import numpy as np
import torch
from safetensors.torch import load_file

import checkpoints as C
import families

PAIRS = ("self_attn.q_proj.", "self_attn.k_proj.")


@dataclass
class Format:
    architecture: str
    pairs: bool = False  # rows of q and k interleaved per head
    norm_offset: float = 0.0
    transposed: tuple = ()  # modules stored [in, out] by transformers
    groups: str = ""  # a fused module of the queries of a key head, its key and value, then those of the next
    rotary: bool = True  # rope.dimension_count is written
    opens_as: str = ""  # another model type, that computes the same


FORMATS = {
    "llama": Format("llama", pairs=True), "mistral": Format("mistral3", pairs=True),
    "ministral3": Format("mistral3", pairs=True), "gemma3n_text": Format("gemma3n", rotary=False),
    "llama4_text": Format("llama4"), "qwen2": Format("qwen2", rotary=False),
    "qwen3": Format("qwen3", rotary=False), "gemma": Format("gemma", norm_offset=1, rotary=False),
    "gemma2": Format("gemma2", norm_offset=1, rotary=False), "gemma3_text": Format("gemma3", norm_offset=1, rotary=False),
    "gpt2": Format("gpt2", transposed=("c_attn", "c_proj", "c_fc"), rotary=False), "gpt_bigcode": Format("starcoder", rotary=False),
    "gpt_neox": Format("gptneox", groups="query_key_value"), "phi": Format("phi2"), "phi3": Format("phi3"),
    "olmo": Format("olmo", pairs=True, rotary=False), "olmo2": Format("olmo2", rotary=False), "olmo3": Format("olmo2", rotary=False),
    "stablelm": Format("stablelm"), "starcoder2": Format("starcoder2", rotary=False), "granite": Format("granite", pairs=True),
    "cohere": Format("command-r", rotary=False), "cohere2": Format("cohere2"), "glm": Format("chatglm"), "glm4": Format("glm4"),
    "smollm3": Format("smollm3", pairs=True), "nemotron": Format("nemotron", norm_offset=1), "exaone4": Format("exaone4", rotary=False),
    "bloom": Format("bloom", groups="query_key_value", rotary=False), "mpt": Format("mpt", rotary=False),
    "falcon": Format("falcon", groups="query_key_value", rotary=False), "lfm2": Format("lfm2", rotary=False),
    "mixtral": Format("llama", pairs=True), "qwen2_moe": Format("qwen2moe", rotary=False), "qwen3_moe": Format("qwen3moe", rotary=False),
    "olmoe": Format("olmoe", rotary=False), "phimoe": Format("phimoe"), "granitemoe": Format("granitemoe", pairs=True),
    "glm4_moe": Format("glm4moe"), "gpt_oss": Format("gpt-oss", rotary=False),
    "deepseek_v2": Format("deepseek2"), "deepseek_v3": Format("deepseek2"), "minicpm3": Format("minicpm3"),
    "bert": Format("bert", rotary=False), "roberta": Format("bert", rotary=False, opens_as="bert"),
    "xlm-roberta": Format("bert", rotary=False, opens_as="bert"), "modernbert": Format("modern-bert", rotary=False),
}
LATENT = ("deepseek_v2", "deepseek_v3", "minicpm3")
BERTS = ("bert", "roberta", "xlm-roberta")
ENCODERS = (*BERTS, "modernbert")
SHARE = {"phi": 0.5, "stablelm": 0.25, "nemotron": 0.5, "glm": 0.5, "glm4": 0.5, "gpt_neox": 0.25, "glm4_moe": 0.5}  # of channels that rotate
PATTERN = {"olmo3": 4, "cohere2": 4, "exaone4": 4, "gemma3_text": 6, "gemma2": 2, "gemma3n_text": 5}  # each so manieth layer has no window

ALL = ""  # of a family's cases
YARN_LATENT = {"rope_type": "yarn", "factor": 10.0, "original_max_position_embeddings": 64, "beta_fast": 32.0, "beta_slow": 1.0,
               "mscale": 0.707, "mscale_all_dim": 0.707}
TOLD = {
    ("qwen2", ALL): {"use_sliding_window": False, "layer_types": "absent"}, ("qwen3", ALL): {"use_sliding_window": False, "rope_scaling": None},
    ("mistral", ALL): {"sliding_window": None}, ("gemma", ALL): {"tie_word_embeddings": "absent"},
    ("gemma2", ALL): {"query_pre_attn_scalar": 16}, ("gemma3_text", ALL): {"query_pre_attn_scalar": 16},
    ("olmo", ALL): {"attention_bias": False}, ("cohere", ALL): {"tie_word_embeddings": "absent"}, ("starcoder2", ALL): {"sliding_window": 4096},
    ("phi", ALL): {"intermediate_size": 128, "qk_layernorm": False, "num_key_value_heads": 4},
    ("glm", ALL): {"head_dim": 8}, ("nemotron", "biases"): {"head_dim": "absent"},
    ("gpt_neox", ALL): {"rotary_emb_base": 10000, "hidden_act": "gelu"},
    ("bloom", ALL): {"seq_length": 256}, ("mpt", ALL): {"layer_norm_epsilon": 1e-5}, ("mpt", "six heads, cut, scaled"): {"attn_config": {"clip_qkv": 0.6}},
    ("falcon", ALL): {"ffn_hidden_size": "absent", "bias": False, "rope_scaling": "absent", "rope_theta": "absent",
                      "max_position_embeddings": 2048},
    ("mixtral", ALL): {"sliding_window": None}, ("qwen3_moe", ALL): {"use_sliding_window": False, "mlp_only_layers": [], "norm_topk_prob": True},
    ("qwen2_moe", ALL): {"use_sliding_window": False, "mlp_only_layers": [], "decoder_sparse_step": 1, "norm_topk_prob": False},
    ("olmoe", ALL): {"norm_topk_prob": False},
    ("phimoe", ALL): {"router_jitter_noise": "absent"},
    ("phimoe", "wide jitter, window"): {"original_max_position_embeddings": 128, "rope_scaling": {
        **families.LONGROPE, "original_max_position_embeddings": 128, "short_mscale": 1.25, "long_mscale": 1.25}},
    ("gpt_oss", ALL): {"swiglu_limit": "absent", "attention_bias": True, "layer_types": "absent"},
    ("deepseek_v3", ALL): {"rope_scaling": YARN_LATENT | {"mscale": 1.0, "mscale_all_dim": 1.0}}, ("deepseek_v3", "whole queries, halves"): {"rope_interleave": "absent"}, ("deepseek_v2", ALL): {"norm_topk_prob": False},
    ("minicpm3", ALL): {"scale_emb": "absent", "scale_depth": "absent", "dim_model_base": "absent", "v_head_dim": "absent"},
    **{(kind, ALL): {"hidden_act": "absent"} for kind in BERTS},
    # What the family computes itself stands in the file, rounded.
    ("gemma3n_text", ALL): {"vocab_size_per_layer_input": 53, "altup_num_inputs": 4, "laurel_rank": 64},
    ("llama4_text", ALL): {"attention_chunk_size": 8192, "floor_scale": 8192},
    ("phi3", "long"): {"rope_scaling": {**families.LONGROPE, "attention_factor": math.sqrt(1 + math.log(2) / math.log(32))}},
}
UNTOLD = {"gemma2 no caps", "smollm3 window, list", "gpt_bigcode many keys", "falcon rw", "falcon alibi, groups", "ministral3 window, no scale",
          "llama4_text lists, all experts", "llama4_text no temperature", "gemma3n_text two streams, no cap",
          "lfm2 bias, indices of layers, not tied"}

OWN = [
    families.case("llama", 97),
    families.case("llama biases, tied, head_dim", head_dim=16, attention_bias=True, mlp_bias=True, tie_word_embeddings=True),
    families.case("llama llama3", 97, rope_scaling=families.LLAMA3),
    families.case("llama yarn", 97, rope_scaling={"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64,
                                                  "beta_fast": 16.0, "beta_slow": 2.0}),
    families.case("gemma3_text standard windows", 97, num_hidden_layers=7, sliding_window=13, rope_theta=500000.0,
                  rope_scaling={"rope_type": "linear", "factor": 8.0}, final_logit_softcapping=3.0, tie_word_embeddings=True,
                  **families.GEMMA2),
    families.case("gpt2", 97, **{**families.GPT, "n_inner": None}),
    families.case("gpt2 nanogpt", **families.GPT),
    families.case("deepseek_v2 old", **{**families.MLA, "num_key_value_heads": 4, "v_head_dim": 6}, n_routed_experts=6, num_experts_per_tok=2,
                  moe_intermediate_size=20, first_k_dense_replace=1, topk_method="greedy", max_position_embeddings=640,
                  rope_scaling=YARN_LATENT),
    families.case("olmo3 yarn", 97, num_hidden_layers=5, sliding_window=10, rope_theta=500000.0,
                  rope_scaling={"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 128}),
]


def float32(value):
    """The value with every real number as GGUF holds it."""
    if isinstance(value, dict):
        return {key: float32(part) for key, part in value.items()}
    if isinstance(value, list):
        return [float32(part) for part in value]
    return float(np.float32(value)) if isinstance(value, float) else value


def told(case):
    changes = {}
    for (model_type, kind), change in TOLD.items():
        if case.model_type == model_type and (kind == ALL or case.name == f"{model_type} {kind}"):
            changes |= change
    config = {k: v for k, v in {**copy.deepcopy(case.config), **changes}.items() if v != "absent"}
    return dataclasses.replace(case, config=float32(config), stored={})


CASES = [told(case) for case in OWN + families.CASES if case.model_type in FORMATS and case.name not in UNTOLD]


def quantised(weights, format, kind):
    """Matrices, also stacked ones, as their rows come back from blocks of that type."""
    out = dict(weights)
    for name, tensor in weights.items():
        turned = is_turned(name, tensor, format) or (format.architecture == "llama4" and tensor.ndim == 3)  # in_file() turns these
        matrix = (tensor.mT if turned else tensor).numpy().astype(np.float32)
        if not in_blocks(name, matrix, kind):
            continue
        back = torch.from_numpy(gguf.quants.dequantize(gguf.quants.quantize(matrix, kind), kind)).double()
        out[name] = (back.mT if turned else back).contiguous()
    return out


def in_blocks(name, array, kind):
    return array.ndim >= 2 and array.shape[0] > 1 and not name.endswith("bias") and array.shape[-1] % gguf.GGML_QUANT_SIZES[kind][0] == 0


def is_turned(name, tensor, format):
    return tensor.ndim > 1 and (name.split(".")[-2] in format.transposed or (format.architecture == "gpt-oss" and tensor.ndim == 3))


def converted(weights, case, format):
    """The converter's tensors, by names that gguf's tables know: experts stacked, fused matrices apart."""
    config, out, stacks = case.config, {}, {}
    for name, tensor in weights.items():
        if case.model_type in BERTS and "position_embeddings" in name and case.model_type != "bert":
            tensor = tensor[config["pad_token_id"] + 1:]
        name = re.sub(r"^(bert|roberta|model)\.(?=embeddings|encoder|layers|final_norm)", "", name) if case.model_type in ENCODERS else name
        tensor = stored(name, tensor, case, format)
        expert = re.match(r"(.*\.experts)\.(\d+)\.(\w+)\.weight$", name)
        if expert:
            base = expert[1].replace("model.layers", "layers").replace("block_sparse_moe", "feed_forward") if case.model_type == "mixtral" else expert[1]
            stacks.setdefault(f"{base}.{expert[3]}.weight", {})[int(expert[2])] = tensor
        elif name.endswith("block_sparse_moe.input_linear.weight"):
            for part, half in zip(("gate_proj", "up_proj"), tensor.chunk(2, dim=-2)):
                out[name.replace("block_sparse_moe.input_linear", f"mlp.experts.{part}")] = half
        elif name.endswith("block_sparse_moe.output_linear.weight"):
            out[name.replace("block_sparse_moe.output_linear", "mlp.experts.down_proj")] = tensor
        elif "experts.gate_up_proj" in name:
            ending = ".bias" if name.endswith("_bias") else ".weight"
            for begin, part in enumerate(("gate_proj", "up_proj")):
                half = tensor[:, begin::2]
                out[name.split("gate_up_proj")[0] + part + ending] = half
        elif name.endswith(("experts.down_proj", "experts.down_proj_bias")):
            out[name.replace("down_proj_bias", "down_proj.bias") if name.endswith("_bias") else name + ".weight"] = tensor
        elif name.endswith("kv_b_proj.weight") and case.model_type != "minicpm3" and "old" not in case.name:
            heads = tensor.reshape(config["num_attention_heads"], -1, tensor.shape[-1])
            keys, values = heads.split([config["qk_nope_head_dim"], config["v_head_dim"]], dim=1)
            out[name.replace("kv_b_proj", "k_b_proj")], out[name.replace("kv_b_proj", "v_b_proj")] = keys.transpose(1, 2), values
        elif name.endswith("shared_expert_gate.weight"):
            out[name] = tensor.squeeze()
        else:
            out[name.replace("self_attn.sinks", "self_attn.sinks.weight").replace("e_score_correction_bias", "e_score_correction.bias")] = tensor
    return out | {name: torch.stack([parts[e] for e in range(len(parts))]) for name, parts in stacks.items()}


def stored(name, tensor, case, format):
    """What the converter makes of a tensor."""
    heads, module = sizes(case.config)["heads"], name.split(".")[-2]
    if is_turned(name, tensor, format):
        return tensor.mT
    if format.pairs and any(part in name for part in PAIRS):
        rows = sizes(case.config)["kv_heads"] if "k_proj" in name else heads
        return C.interleaved(tensor, rows)
    if format.groups == module:
        groups = sizes(case.config)["kv_heads"]
        parts = tensor.reshape(groups, heads // groups + 2, -1, tensor[0].numel())
        return torch.cat([part.flatten(0, 2) for part in (parts[:, :-2], parts[:, -2:-1], parts[:, -1:])]).reshape(tensor.shape)
    if name.endswith("conv.conv.weight"):
        return tensor.squeeze(1)
    return tensor + format.norm_offset if format.norm_offset and name.endswith("norm.weight") else tensor


def sizes(config):
    def first(*keys, default=None):
        return next((config[key] for key in keys if config.get(key) is not None), default)

    heads, hidden = first("num_attention_heads", "n_head", "n_heads"), first("hidden_size", "n_embd", "n_embed", "d_model")
    one_key = config["model_type"] == "gpt_bigcode" or config["model_type"] == "falcon" and config.get("multi_query", True)
    return {"layers": first("num_hidden_layers", "n_layer", "n_layers"), "hidden": hidden, "heads": heads,
            "inner": first("intermediate_size", "n_inner", default=4 * hidden),
            "positions": first("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", default=hidden),
            "kv_heads": first("num_kv_heads", "num_key_value_heads", default=1 if one_key else heads),
            "head_dim": first("head_dim", default=hidden // heads)}


def add_rotation(writer, case, format):
    config, size = case.config, sizes(case.config)
    by_kind = config.get("rope_parameters", {})
    rope = by_kind.get("full_attention", by_kind) or config.get("rope_scaling") or {}
    kind = rope.get("rope_type", rope.get("type", "default"))
    theta = rope.get("rope_theta", config.get("rope_theta"))
    if theta is not None:
        writer.add_rope_freq_base(theta)
    local = by_kind.get("sliding_attention", {}).get("rope_theta", config.get("rope_local_base_freq"))
    if local is not None:
        writer.add_rope_freq_base_swa(local)
    if format.rotary and case.model_type not in LATENT:
        share = config.get("partial_rotary_factor", config.get("rotary_pct", SHARE.get(case.model_type, 1.0)))
        writer.add_rope_dimension_count(int(share * size["head_dim"]))
    if kind in ("linear", "yarn", "longrope"):
        writer.add_rope_scaling_type({"linear": gguf.RopeScalingType.LINEAR, "yarn": gguf.RopeScalingType.YARN,
                                      "longrope": gguf.RopeScalingType.LONGROPE}[kind])
    if "factor" in rope and kind in ("linear", "yarn"):
        writer.add_rope_scaling_factor(rope["factor"])
    if kind == "yarn":
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        if "beta_fast" in rope:
            writer.add_rope_scaling_yarn_beta_fast(rope["beta_fast"])
            writer.add_rope_scaling_yarn_beta_slow(rope["beta_slow"])
        if "llama_4_scaling_beta" in rope:
            writer.add_rope_scaling_yarn_log_mul(rope["mscale_all_dim"])
            writer.add_attn_temperature_scale(rope["llama_4_scaling_beta"])
    if kind == "longrope":
        writer.add_rope_scaling_orig_ctx_len(config["original_max_position_embeddings"])
        writer.add_rope_scaling_attn_factors(rope.get("attention_factor", rope.get("long_mscale")))
        for length in ("long", "short"):
            writer.add_tensor(f"rope_factors_{length}.weight", np.float32(rope[f"{length}_factor"]))
    if kind == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_divisors(rope, theta or 10000.0, size["head_dim"]))


def llama3_divisors(rope, theta, d):
    wavelengths = 2 * math.pi * theta ** (torch.arange(0, d, 2, dtype=torch.float32) / d)
    low, high, original = rope["low_freq_factor"], rope["high_freq_factor"], rope["original_max_position_embeddings"]
    smooth = (original / wavelengths - low) / (high - low)
    between = 1 / ((1 - smooth) / rope["factor"] + smooth)
    divisors = torch.where(wavelengths < original / high, 1.0, torch.where(wavelengths > original / low, rope["factor"], between))
    return divisors.numpy().astype(np.float32)


def add_windows(writer, config):
    if config["model_type"] in ("starcoder2", "mistral", "qwen2", "qwen3", "smollm3", "mixtral", "qwen2_moe", "qwen3_moe"):
        return  # the converter does not write them
    if config["model_type"] in ("phi3", "phimoe") and config.get("sliding_window") is None:
        writer.add_sliding_window(0)
    elif config.get("sliding_window") is not None:
        writer.add_sliding_window(config["sliding_window"])
    if config.get("sliding_window") is not None and config["model_type"] in PATTERN:
        pattern = config.get("sliding_window_pattern", PATTERN[config["model_type"]])
        types = config.get("layer_types")
        layers = range(config["num_hidden_layers"])
        writer.add_sliding_window_pattern([types[i] == "sliding_attention" if types else (i + 1) % pattern != 0 for i in layers])


def add_experts(writer, case):
    config = case.config
    for keys, add in ((("num_experts", "num_local_experts", "n_routed_experts"), writer.add_expert_count),
                      (("num_experts_per_tok",), writer.add_expert_used_count), (("moe_intermediate_size",), writer.add_expert_feed_forward_length),
                      (("shared_expert_intermediate_size",), writer.add_expert_shared_feed_forward_length),
                      (("n_shared_experts",), writer.add_expert_shared_count), (("first_k_dense_replace",), writer.add_leading_dense_block_count),
                      (("routed_scaling_factor",), writer.add_expert_weights_scale), (("n_group",), writer.add_expert_group_count),
                      (("topk_group",), writer.add_expert_group_used_count)):
        for key in keys:
            if key in config:
                add(config[key])
    if case.model_type in ("mixtral", "phimoe", "granitemoe") and "num_experts_per_tok" not in config:
        writer.add_expert_used_count(2)
    if case.model_type == "gpt_oss":
        writer.add_expert_feed_forward_length(config["intermediate_size"])
    if "norm_topk_prob" in config and case.model_type in ("deepseek_v2", "deepseek_v3", "glm4_moe"):
        writer.add_expert_weights_norm(config["norm_topk_prob"])
    if case.model_type in ("deepseek_v3", "glm4_moe"):
        writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
    if case.model_type == "deepseek_v2" and "old" not in case.name:
        writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SOFTMAX)


def add_latent(writer, case):
    """Newer files say of the latent what others say of keys and values, and of those under names of their own."""
    config = case.config
    plain, rotated = config["qk_nope_head_dim"], config["qk_rope_head_dim"]
    if config.get("q_lora_rank"):
        writer.add_q_lora_rank(config["q_lora_rank"])
    writer.add_kv_lora_rank(config["kv_lora_rank"])
    writer.add_rope_dimension_count(rotated)
    if case.model_type == "minicpm3":
        writer.add_key_length(plain + rotated)
    elif "old" in case.name:
        writer.add_key_length(plain + rotated)
        writer.add_value_length(config["v_head_dim"])
    else:
        writer.add_key_length(config["kv_lora_rank"] + rotated)
        writer.add_value_length(config["kv_lora_rank"])
        writer.add_key_length_mla(plain + rotated)
        writer.add_value_length_mla(config["v_head_dim"])
    scaling = config.get("rope_scaling") or {}
    if "mscale_all_dim" in scaling:
        writer.add_rope_scaling_yarn_log_mul(0.1 * scaling["mscale_all_dim"])


def add_encoder(writer, case):
    config = case.config
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    if case.model_type == "modernbert":
        writer.add_vocab_size(config["vocab_size"])
        writer.add_rope_scaling_type(gguf.RopeScalingType.NONE)
        writer.add_sliding_window(config["local_attention"])
        types = config.get("layer_types")
        writer.add_sliding_window_pattern([kind == "sliding_attention" for kind in types] if types else 3)
        if "hidden_activation" in config:
            writer.add_string(f"{writer.arch}.hidden_activation", config["hidden_activation"])
    else:
        writer.add_token_type_count(config.get("type_vocab_size", 2))


def attending_of_lfm2(config):
    layers = range(config["num_hidden_layers"])
    return [config["layer_types"][i] == "full_attention" if "layer_types" in config else i in config["full_attn_idxs"] for i in layers]


def inner_of_lfm2(config):
    inner = config.get("block_ff_dim", config["intermediate_size"])
    if not config.get("block_auto_adjust_ff_dim", True):
        return inner
    multiple = config["block_multiple_of"]
    return -(-int(config.get("block_ffn_dim_multiplier", 1.0) * int(2 * inner / 3)) // multiple) * multiple


def add_numbers(writer, case):
    config, size = case.config, sizes(case.config)
    writer.add_block_count(size["layers"])
    writer.add_context_length(size["positions"] - (config["pad_token_id"] + 1 if case.model_type in ("roberta", "xlm-roberta") else 0))
    writer.add_embedding_length(size["hidden"])
    writer.add_feed_forward_length(inner_of_lfm2(config) if case.model_type == "lfm2" else config.get("intermediate_size_mlp", size["inner"]))
    if case.model_type == "llama4_text":
        writer.add_expert_feed_forward_length(size["inner"])
        if "num_experts_per_tok" not in config:
            writer.add_expert_used_count(1)
        writer.add_interleave_moe_layer_step(config["interleave_moe_layer_step"])
    writer.add_head_count(size["heads"])
    if case.model_type == "mpt":
        writer.add_max_alibi_bias(8.0)
    clip = config.get("attn_config", config).get("clip_qkv")
    if clip is not None:
        writer.add_clamp_kqv(clip)
    if case.model_type == "falcon":
        writer.add_tensor_data_layout("jploski")
    if case.model_type == "lfm2":
        writer.add_head_count_kv([size["kv_heads"] if attends else 0 for attends in attending_of_lfm2(config)])
        writer.add_shortconv_l_cache(config["conv_L_cache"])
        writer.add_vocab_size(config["vocab_size"])
    elif case.model_type not in ("gpt2", "gpt_neox", "mpt", *ENCODERS):
        writer.add_head_count_kv(1 if case.model_type.startswith("deepseek") and "old" not in case.name else size["kv_heads"])
    add_experts(writer, case)
    if case.model_type in LATENT:
        add_latent(writer, case)
    if case.model_type in ENCODERS:
        add_encoder(writer, case)
    if "head_dim" in config and case.model_type != "glm":
        writer.add_key_length(size["head_dim"])
        writer.add_value_length(size["head_dim"])
    epsilon = {key: config[key] for key in ("rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_epsilon", "norm_eps") if key in config}
    (key, value), = epsilon.items()
    (writer.add_layer_norm_rms_eps if key == "rms_norm_eps" or case.model_type == "lfm2" else writer.add_layer_norm_eps)(value)
    for key, add in (("logit_scale", writer.add_logit_scale), ("logits_scaling", writer.add_logit_scale),
                     ("embedding_multiplier", writer.add_embedding_scale), ("attention_multiplier", writer.add_attention_scale),
                     ("residual_multiplier", writer.add_residual_scale), ("attn_logit_softcapping", writer.add_attn_logit_softcapping),
                     ("final_logit_softcapping", writer.add_final_logit_softcapping)):
        if config.get(key):
            add(config[key])
    if case.model_type in ("gpt_neox", "stablelm"):
        writer.add_parallel_residual(config.get("use_parallel_residual", True))
    writer.add_bos_token_id(1)
    if case.model_type == "gemma3n_text":
        writer.add_altup_active_idx(0)
        writer.add_altup_num_inputs(config["altup_num_inputs"])
        writer.add_embedding_length_per_layer_input(config["hidden_size_per_layer_input"])
        writer.add_shared_kv_layers(config["num_kv_shared_layers"])
        quantile = torch.distributions.normal.Normal(0, 1).icdf
        writer.add_activation_sparsity_scale([quantile(torch.tensor(share)).item() for share in config["activation_sparsity_pattern"]])


def in_file(weights, case):
    """The tensors as the converter names and joins them."""
    if case.model_type == "llama4_text":
        apart = {}
        for name, w in weights.items():
            if name.endswith("gate_up_proj"):
                apart[name.replace("gate_up_proj", "gate_proj.weight")], apart[name.replace("gate_up_proj", "up_proj.weight")] = \
                    w.transpose(1, 2).chunk(2, dim=1)
            elif name.endswith("experts.down_proj"):
                apart[name + ".weight"] = w.transpose(1, 2)
            else:
                apart[name] = w
        return apart
    if case.model_type != "gemma3n_text":
        return weights
    others = {name + ".weight" if name.endswith("_scale") else name: w for name, w in weights.items()}
    for stack in ("altup_projections", "altup_unembed_projections"):
        parts = [others.pop(f"model.{stack}.{i}.weight") for i in range(case.config["altup_num_inputs"] - 1)]
        others[f"model.{stack}.weight"] = torch.stack(parts)
    return others


EPSILON = {"rms_norm_eps": 2.0**-17, "layer_norm_eps": 2.0**-15, "layer_norm_epsilon": 2.0**-14, "norm_epsilon": 2.0**-16,
           "norm_eps": 2.0**-15}
EPSILON_KEY = {"gpt2": "layer_norm_epsilon", "gpt_bigcode": "layer_norm_epsilon", "gpt_neox": "layer_norm_eps", "phi": "layer_norm_eps",
               "olmo": "layer_norm_eps", "stablelm": "layer_norm_eps", "cohere": "layer_norm_eps", "cohere2": "layer_norm_eps",
               "starcoder2": "norm_epsilon", "nemotron": "norm_eps", "bloom": "layer_norm_epsilon", "mpt": "layer_norm_epsilon",
               "falcon": "layer_norm_epsilon", "lfm2": "norm_eps", **dict.fromkeys(BERTS, "layer_norm_eps"), "modernbert": "norm_eps"}


HEADS = ("cls.predictions.", "lm_head.", "head.", "decoder.")  # of encoders: the converter leaves them out


def published(folder, case):
    """The values as the files have them, by their names; of an encoder without its head."""
    files = sorted(folder.glob("*.safetensors"))
    weights = {name: tensor.double() for file in files for name, tensor in load_file(file).items()}
    for file in [*files, *folder.glob("*.index.json")]:
        file.unlink()
    return {name: tensor for name, tensor in weights.items() if not (case.model_type in ENCODERS and name.startswith(HEADS))}


def write(folder, case, seed, kind=gguf.GGMLQuantizationType.F32, parts=1):
    """folder/model (safetensors) and folder/model.gguf of the same values; returns both paths."""
    format, key = FORMATS[case.model_type], EPSILON_KEY.get(case.model_type, "rms_norm_eps")
    case = dataclasses.replace(case, config={key: EPSILON[key], **case.config})
    families.write(folder / "model", case, seed)
    weights = published(folder / "model", case)
    if format.norm_offset:  # 1 + w without rounding
        weights = {name: (w.float() + 1).double() - 1 if name.endswith("norm.weight") else w for name, w in weights.items()}
    if kind != gguf.GGMLQuantizationType.F32:
        weights = quantised(weights, format, kind)
    if case.name == "gpt2 nanogpt":
        C.save(folder / "model", case.config, {n: w.T if n.split(".")[-2] in format.transposed and w.ndim == 2 else w
                                               for n, w in weights.items()})
    else:
        C.save(folder / "model", case.config, weights)

    architecture = next(a for a, name in gguf.MODEL_ARCH_NAMES.items() if name == format.architecture)
    names = gguf.get_tensor_name_map(architecture, sizes(case.config)["layers"])
    path = folder / "model.gguf"
    split = -(-len(weights) // parts) if parts > 1 else 0
    writer = gguf.GGUFWriter(str(path), format.architecture, split_max_tensors=split)
    add_numbers(writer, case)
    add_windows(writer, case.config)
    add_rotation(writer, case, format)
    for name, tensor in converted(in_file(weights, case), case, format).items():
        own = names.get_name(name.removeprefix("transformer.") if case.model_type == "bloom" else name, try_suffixes=(".weight", ".bias"))
        assert own, name
        array = np.ascontiguousarray(tensor.numpy().astype(np.float32))
        if kind != gguf.GGMLQuantizationType.F32 and in_blocks(own, array, kind):
            writer.add_tensor(own, gguf.quants.quantize(array, kind), raw_dtype=kind)
        else:
            writer.add_tensor(own, array)
    writer.write_header_to_file(path)
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return folder / "model", path
