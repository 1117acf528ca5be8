"""GGUF files of the families, as llama.cpp's converter writes them (its conversion/*.py), with the gguf package's writer.

Names are the package's own tables; what the converter does to values and which keys it writes stand in FORMATS. A case
of families.py that GGUF cannot tell is changed to one that it can (TOLD), or left out (UNTOLD).
"""
import copy
import dataclasses
import math
from dataclasses import dataclass

import gguf
import numpy as np
import torch

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


FORMATS = {
    "llama": Format("llama", pairs=True), "mistral": Format("mistral3", pairs=True), "qwen2": Format("qwen2", rotary=False),
    "qwen3": Format("qwen3", rotary=False), "gemma": Format("gemma", norm_offset=1, rotary=False),
    "gemma2": Format("gemma2", norm_offset=1, rotary=False), "gemma3_text": Format("gemma3", norm_offset=1, rotary=False),
    "gpt2": Format("gpt2", transposed=("c_attn", "c_proj", "c_fc"), rotary=False), "gpt_bigcode": Format("starcoder", rotary=False),
    "gpt_neox": Format("gptneox", groups="query_key_value"), "phi": Format("phi2"), "phi3": Format("phi3"),
    "olmo": Format("olmo", pairs=True, rotary=False), "olmo2": Format("olmo2", rotary=False), "olmo3": Format("olmo2", rotary=False),
    "stablelm": Format("stablelm"), "starcoder2": Format("starcoder2", rotary=False), "granite": Format("granite", pairs=True),
    "cohere": Format("command-r", rotary=False), "cohere2": Format("cohere2"), "glm": Format("chatglm"), "glm4": Format("glm4"),
    "smollm3": Format("smollm3", pairs=True), "nemotron": Format("nemotron", norm_offset=1), "exaone4": Format("exaone4", rotary=False),
    "bloom": Format("bloom", groups="query_key_value", rotary=False), "mpt": Format("mpt", rotary=False),
    "falcon": Format("falcon", groups="query_key_value", rotary=False),
}
SHARE = {"phi": 0.5, "stablelm": 0.25, "nemotron": 0.5, "glm": 0.5, "glm4": 0.5, "gpt_neox": 0.25}  # of channels that rotate
PATTERN = {"olmo3": 4, "cohere2": 4, "exaone4": 4, "gemma3_text": 6, "gemma2": 2}  # each so manieth layer has no window

ALL = ""  # of a family's cases
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
    # What the family computes itself stands in the file, rounded.
    ("phi3", "long"): {"rope_scaling": {**families.LONGROPE, "attention_factor": math.sqrt(1 + math.log(2) / math.log(32))}},
}
UNTOLD = {"gemma2 no caps", "smollm3 window, list", "gpt_bigcode many keys", "falcon rw", "falcon alibi, groups"}

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
    """Matrices as their rows come back from blocks of that type."""
    out = dict(weights)
    for name, tensor in weights.items():
        turned = name.split(".")[-2] in format.transposed
        matrix = (tensor.T if turned else tensor).numpy().astype(np.float32)
        if matrix.ndim != 2 or matrix.shape[1] % gguf.GGML_QUANT_SIZES[kind][0]:
            continue
        back = torch.from_numpy(gguf.quants.dequantize(gguf.quants.quantize(matrix, kind), kind)).double()
        out[name] = (back.T if turned else back).contiguous()
    return out


def stored(name, tensor, case, format):
    """What the converter makes of a tensor."""
    heads, module = sizes(case.config)["heads"], name.split(".")[-2]
    if module in format.transposed and tensor.ndim == 2:
        return tensor.T
    if format.pairs and any(part in name for part in PAIRS):
        rows = sizes(case.config)["kv_heads"] if "k_proj" in name else heads
        return C.interleaved(tensor, rows)
    if format.groups == module:
        groups = sizes(case.config)["kv_heads"]
        parts = tensor.reshape(groups, heads // groups + 2, -1, tensor[0].numel())
        return torch.cat([part.flatten(0, 2) for part in (parts[:, :-2], parts[:, -2:-1], parts[:, -1:])]).reshape(tensor.shape)
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
    if format.rotary:
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
    if kind == "longrope":
        writer.add_rope_scaling_orig_ctx_len(config["original_max_position_embeddings"])
        writer.add_rope_scaling_attn_factors(rope["attention_factor"])
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
    if config["model_type"] in ("starcoder2", "mistral", "qwen2", "qwen3", "smollm3"):
        return  # the converter does not write them
    if config["model_type"] == "phi3" and config.get("sliding_window") is None:
        writer.add_sliding_window(0)
    elif config.get("sliding_window") is not None:
        writer.add_sliding_window(config["sliding_window"])
    if config.get("sliding_window") is not None and config["model_type"] in PATTERN:
        pattern = config.get("sliding_window_pattern", PATTERN[config["model_type"]])
        types = config.get("layer_types")
        layers = range(config["num_hidden_layers"])
        writer.add_sliding_window_pattern([types[i] == "sliding_attention" if types else (i + 1) % pattern != 0 for i in layers])


def add_numbers(writer, case):
    config, size = case.config, sizes(case.config)
    writer.add_block_count(size["layers"])
    writer.add_context_length(size["positions"])
    writer.add_embedding_length(size["hidden"])
    writer.add_feed_forward_length(size["inner"])
    writer.add_head_count(size["heads"])
    if case.model_type == "mpt":
        writer.add_max_alibi_bias(8.0)
    clip = config.get("attn_config", config).get("clip_qkv")
    if clip is not None:
        writer.add_clamp_kqv(clip)
    if case.model_type == "falcon":
        writer.add_tensor_data_layout("jploski")
    if case.model_type not in ("gpt2", "gpt_neox", "mpt"):
        writer.add_head_count_kv(size["kv_heads"])
    if "head_dim" in config and case.model_type != "glm":
        writer.add_key_length(size["head_dim"])
        writer.add_value_length(size["head_dim"])
    epsilon = {key: config[key] for key in ("rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_epsilon", "norm_eps") if key in config}
    (key, value), = epsilon.items()
    (writer.add_layer_norm_rms_eps if key == "rms_norm_eps" else writer.add_layer_norm_eps)(value)
    for key, add in (("logit_scale", writer.add_logit_scale), ("logits_scaling", writer.add_logit_scale),
                     ("embedding_multiplier", writer.add_embedding_scale), ("attention_multiplier", writer.add_attention_scale),
                     ("residual_multiplier", writer.add_residual_scale), ("attn_logit_softcapping", writer.add_attn_logit_softcapping),
                     ("final_logit_softcapping", writer.add_final_logit_softcapping)):
        if config.get(key):
            add(config[key])
    if case.model_type in ("gpt_neox", "stablelm"):
        writer.add_parallel_residual(config.get("use_parallel_residual", True))
    writer.add_bos_token_id(1)


EPSILON = {"rms_norm_eps": 2.0**-17, "layer_norm_eps": 2.0**-15, "layer_norm_epsilon": 2.0**-14, "norm_epsilon": 2.0**-16,
           "norm_eps": 2.0**-15}
EPSILON_KEY = {"gpt2": "layer_norm_epsilon", "gpt_bigcode": "layer_norm_epsilon", "gpt_neox": "layer_norm_eps", "phi": "layer_norm_eps",
               "olmo": "layer_norm_eps", "stablelm": "layer_norm_eps", "cohere": "layer_norm_eps", "cohere2": "layer_norm_eps",
               "starcoder2": "norm_epsilon", "nemotron": "norm_eps", "bloom": "layer_norm_epsilon", "mpt": "layer_norm_epsilon",
               "falcon": "layer_norm_epsilon"}


def write(folder, case, seed, kind=gguf.GGMLQuantizationType.F32, parts=1):
    """folder/model (safetensors) and folder/model.gguf of the same values; returns both paths."""
    format, key = FORMATS[case.model_type], EPSILON_KEY.get(case.model_type, "rms_norm_eps")
    case = dataclasses.replace(case, config={key: EPSILON[key], **case.config})
    weights = families.write(folder / "model", case, seed)
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
    for name, tensor in weights.items():
        own = names.get_name(name.removeprefix("transformer.") if case.model_type == "bloom" else name, try_suffixes=(".weight", ".bias"))
        assert own, name
        array = np.ascontiguousarray(stored(name, tensor, case, format).numpy().astype(np.float32))
        if kind != gguf.GGMLQuantizationType.F32 and array.ndim == 2 and array.shape[1] % gguf.GGML_QUANT_SIZES[kind][0] == 0:
            writer.add_tensor(own, gguf.quants.quantize(array, kind), raw_dtype=kind)
        else:
            writer.add_tensor(own, array)
    writer.write_header_to_file(path)
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return folder / "model", path
