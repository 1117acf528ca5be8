"""Tiny random checkpoints of every family and kind, written as a user's script would write them."""
import contextlib
import copy
import json
import types

import numpy as np
import torch
from safetensors.torch import save_file

from forward import Model

LOGIT_SPREAD = 1.5  # standard deviation of query and key channels: attention far from uniform, not one-hot


def save(folder, config, weights, dtype=torch.float32, shards=1):
    """Writes config.json and safetensors; returns the stored values in float64."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=1))
    stored = {name: tensor.to(dtype).contiguous() for name, tensor in weights.items()}
    names = sorted(stored)
    if shards == 1:
        save_file(stored, folder / "model.safetensors", metadata={"format": "pt"})
    else:
        index = {}
        for part in range(shards):
            file = f"model-{part + 1:05d}-of-{shards:05d}.safetensors"
            chosen = {name: stored[name] for name in names[part::shards]}
            save_file(chosen, folder / file, metadata={"format": "pt"})
            index.update({name: file for name in chosen})
        total = sum(t.numel() * t.element_size() for t in stored.values())
        (folder / "model.safetensors.index.json").write_text(
            json.dumps({"metadata": {"total_size": total}, "weight_map": index}))
    return {name: tensor.double() for name, tensor in stored.items()}


def generator(seed):
    g = torch.Generator().manual_seed(seed)

    def normal(*shape, std=1.0, mean=0.0):
        return torch.randn(*shape, generator=g) * std + mean

    return normal


def headroom_config(kind, **options):
    attention = {"kind": kind, "qk_norm": False, "scale": None, "window": None}
    if kind == "gated":
        attention["gate"] = "headwise"
    if kind == "diff_v1":
        attention.update(v1_form="flash", v1_norm=True)
    config = {
        "model_type": "headroom", "vocab_size": 53, "hidden_size": 32, "num_hidden_layers": 2, "intermediate_size": 48,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 256,
        "rms_norm_eps": 1e-5, "tie_word_embeddings": False, "hidden_act": "silu", "position": "rope", "rope_theta": 10000.0,
        "rope_interleaved": True, "rope_scaling": None, "attention": attention,
    }
    for key, value in options.items():
        (attention if key in ("gate", "v1_form", "v1_norm", "qk_norm", "scale", "window", "shared_query_key") else config)[key] = value
    return config


def headroom(folder, config, seed, dtype=torch.float32, shards=1):
    normal = generator(seed)
    a, dim, d = config["attention"], config["hidden_size"], config["head_dim"]
    h, h_kv, kind = config["num_attention_heads"], config["num_key_value_heads"], config["attention"]["kind"]
    pair = 2 if kind == "diff_v1" else 1
    q_rows = h * d * (2 if kind in ("diff_v1", "diff_v2") else 1)
    w = {"model.embed_tokens.weight": normal(config["vocab_size"], dim)}
    if config["position"] == "learned":
        w["model.position_embeddings.weight"] = normal(config["max_position_embeddings"], dim, std=0.5)
    spread = LOGIT_SPREAD / dim**0.5
    for layer in range(config["num_hidden_layers"]):
        p = f"model.layers.{layer}."
        s = p + "self_attn."
        w[p + "input_layernorm.weight"] = normal(dim, std=0.2, mean=1)
        w[s + "q_proj.weight"] = normal(q_rows, dim, std=spread)
        if not a.get("shared_query_key"):
            w[s + "k_proj.weight"] = normal(pair * h_kv * d, dim, std=spread)
        w[s + "v_proj.weight"] = normal(pair * h_kv * d, dim, std=1 / dim**0.5)
        w[s + "o_proj.weight"] = normal(dim, pair * h * d, std=1 / (pair * h * d) ** 0.5)
        if kind == "softmax_sink":
            w[s + "sinks"] = normal(h, std=2.0)
        if kind == "gated":
            w[s + "g_proj.weight"] = normal(h if a["gate"] == "headwise" else h * d, dim, std=1.5 / dim**0.5)
        if kind == "diff_v2":
            w[s + "lambda_proj.weight"] = normal(h, dim, std=1.5 / dim**0.5)
        if kind == "diff_v1":
            for name in ("lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2"):
                w[s + name] = normal(d, std=0.4)
            if a.get("v1_norm", True):
                w[s + "subln.weight"] = normal(2 * d, std=0.2, mean=1)
        if a.get("qk_norm"):
            w[s + "q_norm.weight"] = normal(d, std=0.3, mean=1.5)
            w[s + "k_norm.weight"] = normal(d, std=0.3, mean=1.5)
        if config["intermediate_size"]:
            f = config["intermediate_size"]
            w[p + "post_attention_layernorm.weight"] = normal(dim, std=0.2, mean=1)
            w[p + "mlp.gate_proj.weight"] = normal(f, dim, std=1 / dim**0.5)
            w[p + "mlp.up_proj.weight"] = normal(f, dim, std=1 / dim**0.5)
            w[p + "mlp.down_proj.weight"] = normal(dim, f, std=1 / f**0.5)
    w["model.norm.weight"] = normal(dim, std=0.2, mean=1)
    if not config["tie_word_embeddings"]:
        w["lm_head.weight"] = normal(config["vocab_size"], dim, std=1 / dim**0.5)
    return Model("headroom", config, save(folder, config, w, dtype, shards))


class _DoubleTorch(types.ModuleType):
    """torch, but the float32 that transformers' modelling code asks for by name is float64."""

    float32 = float = torch.float64

    def __getattr__(self, name):
        return getattr(torch, name)


@contextlib.contextmanager
def transformers_in_float64(*modeling):
    """transformers computes norms, softmax, RoPE and λ in float32 whatever the weights' dtype: here in float64.
    `modeling`: the modules of further families."""
    from transformers import modeling_rope_utils
    from transformers.models.diffllama import modeling_diffllama
    from transformers.models.llama import modeling_llama

    modules = (modeling_rope_utils, modeling_diffllama, modeling_llama, *modeling)
    to_float = torch.Tensor.float
    softmax = torch.nn.functional.softmax

    def softmax64(x, dim=None, dtype=None, **_):
        return softmax(x, dim=dim, dtype=torch.float64)

    default = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float64)
        for module in modules:
            module.torch = _DoubleTorch("torch")
        torch.Tensor.float = torch.Tensor.double
        torch.nn.functional.softmax = softmax64
        yield
    finally:
        torch.set_default_dtype(default)
        for module in modules:
            module.torch = torch
        torch.Tensor.float = to_float
        torch.nn.functional.softmax = softmax


def scaled_weights(state, seed):
    """Random values for a transformers state dict, each tensor at a size that keeps the network lively."""
    normal = generator(seed)
    out = {}
    for name in sorted(state):
        shape = state[name].shape
        fan_in = shape[0] if ("c_attn.w" in name or "c_proj.w" in name or "c_fc.w" in name) else shape[-1]
        if name.endswith("A_log"):
            out[name] = normal(*shape, std=0.7, mean=-2)  # states that remember some tens of tokens
        elif name.endswith("bias"):
            out[name] = normal(*shape, std=0.2)
        elif len(shape) == 1:
            out[name] = normal(*shape, std=0.4) if "lambda_" in name else normal(*shape, std=0.2, mean=1)
        elif "embed_tokens" in name or "wte" in name:
            out[name] = normal(*shape)
        elif "wpe" in name:
            out[name] = normal(*shape, std=0.5)
        else:
            spread = LOGIT_SPREAD if ("q_proj" in name or "k_proj" in name or "c_attn" in name) else 1.0
            out[name] = normal(*shape, std=spread / fan_in**0.5)
    return out


def transformers_model(family, config, weights, dtype=torch.float64):
    """The model class of transformers with these weights and eager attention."""
    from transformers import DiffLlamaConfig, DiffLlamaForCausalLM, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

    config_class, model_class = {"llama": (LlamaConfig, LlamaForCausalLM), "gpt2": (GPT2Config, GPT2LMHeadModel),
                                 "diffllama": (DiffLlamaConfig, DiffLlamaForCausalLM)}[family]
    # A deep copy: transformers writes rope_theta into the nested dictionaries it is given.
    settings = config_class(**{k: v for k, v in copy.deepcopy(config).items() if k not in ("model_type", "architectures")})
    settings._attn_implementation = "eager"
    net = model_class(settings).to(dtype).eval()
    if weights is not None:
        missing, unexpected = net.load_state_dict(weights, strict=False)
        assert not unexpected and set(missing) <= {"lm_head.weight"}, (missing, unexpected)
        net.tie_weights()
    return net


def transformers_checkpoint(folder, family, config, seed, dtype=torch.float32, shards=1, prefix=True, tied=False):
    """Writes a checkpoint in the family's public form. `prefix`: gpt2's leading `transformer.`."""
    with transformers_in_float64():
        state = transformers_model(family, config, None).state_dict()
    if tied:
        state = {name: t for name, t in state.items() if name != "lm_head.weight"}
    weights = scaled_weights(state, seed)
    written = weights if prefix or family != "gpt2" else {k.removeprefix("transformer."): v for k, v in weights.items()}
    stored = save(folder, config, written, dtype, shards)
    own = {k.removeprefix("transformer."): v for k, v in stored.items()}
    return Model(family, config, own)


def kept_residual(layers):
    """A list that a forward pass fills: what the first of these modules is given, and what each of them gives."""
    residual = []

    def keep_input(_, args):
        residual.append(args[0][0])

    def keep_output(_, __, output):
        residual.append((output[0] if isinstance(output, tuple) else output)[0])

    layers[0].register_forward_pre_hook(keep_input)
    for layer in layers:
        layer.register_forward_hook(keep_output)
    return residual


def transformers_outputs(model, ids):
    """(hidden states before the final norm … as transformers lists them, logits), float64."""
    names = model.weights if model.family != "gpt2" else {"transformer." + k: v for k, v in model.weights.items()}
    with transformers_in_float64(), torch.no_grad():
        net = transformers_model(model.family, model.config, names)
        layers = net.transformer.h if model.family == "gpt2" else net.model.layers

        residual = kept_residual(layers)
        logits = net(torch.tensor([ids]), use_cache=False).logits[0]
    return residual, logits


def llama_config(**options):
    config = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 53, "hidden_size": 32,
        "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
        "max_position_embeddings": 256, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "rope_scaling": None,
        "hidden_act": "silu", "attention_bias": False, "mlp_bias": False, "tie_word_embeddings": False,
        "bos_token_id": 1, "eos_token_id": 2,
    }
    config.update(options)
    return {k: v for k, v in config.items() if v != "absent"}


def diffllama_config(**options):
    config = llama_config(architectures=["DiffLlamaForCausalLM"], model_type="diffllama", head_dim=8, **options)
    config["lambda_std_dev"] = 0.1
    del config["mlp_bias"]
    return config


def gpt2_config(**options):
    config = {
        "architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "vocab_size": 53, "n_positions": 160, "n_embd": 32,
        "n_layer": 2, "n_head": 4, "n_inner": None, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5,
        "attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0, "bos_token_id": 1, "eos_token_id": 2,
        "scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False, "reorder_and_upcast_attn": False,
    }
    config.update(options)
    return config


def interleaved(matrix, heads):
    """Rows of each head from half-split to interleaved pairs: new[2i] = old[i], new[2i + 1] = old[i + d/2]."""
    return matrix.reshape(heads, 2, matrix.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(matrix.shape)


def half_split(matrix, heads):
    """The inverse: new[i] = old[2i], new[i + d/2] = old[2i + 1]."""
    return matrix.reshape(heads, matrix.shape[0] // heads // 2, 2, -1).swapaxes(1, 2).reshape(matrix.shape)


def gguf_names(layers):
    """GGUF tensor → transformers module, without `.weight`."""
    names = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
    per_layer = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "attn_q": "self_attn.q_proj",
                 "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
                 "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}
    for layer in range(layers):
        names.update({f"blk.{layer}.{short}": f"model.layers.{layer}.{long}" for short, long in per_layer.items()})
    return names


def read_gguf_llama(path):
    """A llama GGUF through the gguf package: (config, float32 weights by transformers' names)."""
    import gguf

    reader = gguf.GGUFReader(path)

    def field(name):
        return reader.fields["llama." + name].contents()

    config = llama_config(hidden_size=field("embedding_length"), intermediate_size=field("feed_forward_length"),
                          num_hidden_layers=field("block_count"), num_attention_heads=field("attention.head_count"),
                          num_key_value_heads=field("attention.head_count_kv"), max_position_embeddings=field("context_length"),
                          rms_norm_eps=field("attention.layer_norm_rms_epsilon"), rope_theta=field("rope.freq_base"))
    names, weights = gguf_names(config["num_hidden_layers"]), {}
    for tensor in reader.tensors:
        name = tensor.name.removesuffix(".weight")
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type).reshape(tuple(reversed(tensor.shape.tolist())))
        heads = {"attn_q": config["num_attention_heads"], "attn_k": config["num_key_value_heads"]}.get(name.split(".")[-1])
        values = half_split(values, heads) if heads else values
        weights[names[name] + ".weight"] = torch.from_numpy(np.array(values, dtype=np.float32))
    config["vocab_size"] = len(weights["model.embed_tokens.weight"])
    config["tie_word_embeddings"] = "lm_head.weight" not in weights
    return config, weights


HALVES = {"Q2_K": (80, 82), "Q3_K": (108,), "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,), "IQ4_NL": (0,), "IQ4_XS": (0,)}


def random_blocks(kind, like, seed):
    """Blocks of a type that the gguf package reads but does not write, with values of about the size of `like`'s."""
    import gguf

    block, size = gguf.GGML_QUANT_SIZES[kind]
    rows, columns = like.shape
    generator = np.random.default_rng(seed)
    blocks = generator.integers(0, 256, (rows * columns // block, size), dtype=np.uint8)

    def scaled(factor):
        if kind.name == "MXFP4":
            blocks[:, 0] = 127 + round(np.log2(factor))
        for place in HALVES.get(kind.name, ()):
            halves = generator.uniform(0.5, 1.5, len(blocks)) * factor * (0.02 if place in (2, 82) else 1)
            blocks[:, place:place + 2] = halves.astype(np.float16)[:, None].view(np.uint8)
        return gguf.quants.dequantize(blocks.reshape(rows, -1), kind)

    factor = like.std() / scaled(1.0).std()
    scaled(factor)
    return blocks.reshape(rows, -1)


def gguf_llama(path, seed, quantised, hidden=64):
    """A llama GGUF: Q and K rows permuted to interleaved pairs, `quantised` maps a tensor's short name to its GGUF type.

    Returns the model in transformers' layout with the de-quantised weights.
    """
    import gguf

    config = llama_config(hidden_size=hidden, intermediate_size=96 if hidden == 64 else hidden, num_attention_heads=4, num_key_value_heads=2)
    h, h_kv, d, layers = 4, 2, hidden // 4, config["num_hidden_layers"]
    with transformers_in_float64():
        weights = scaled_weights(transformers_model("llama", config, None).state_dict(), seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_name("tiny")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(layers)
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(h)
    writer.add_head_count_kv(h_kv)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_dimension_count(d)
    writer.add_rope_freq_base(config["rope_theta"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)

    names = gguf_names(layers)
    result = {}
    for name, long in names.items():
        array = weights[long + ".weight"].numpy().astype(np.float32)
        short = name.split(".")[-1]
        heads = {"attn_q": h, "attn_k": h_kv}.get(short)
        stored = interleaved(array, heads) if heads else array
        kind = gguf.GGMLQuantizationType[quantised.get(short, "F32")]
        if kind.name in HALVES or kind.name == "MXFP4":
            data = random_blocks(kind, stored, seed + len(result))
        else:
            data = stored if kind == gguf.GGMLQuantizationType.F32 else gguf.quants.quantize(stored, kind)
        writer.add_tensor(name + ".weight", np.ascontiguousarray(data), raw_dtype=kind)
        values = stored if kind == gguf.GGMLQuantizationType.F32 else gguf.quants.dequantize(data, kind).reshape(stored.shape)
        values = half_split(values, heads) if heads else values
        result[long + ".weight"] = torch.from_numpy(np.ascontiguousarray(values)).double()
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return Model("llama", config, result)
