"""Families that transformers does not have: tiny random checkpoints under their published names, and the forward pass in float64.

Each family says its maps twice: as a table of blocks (`forward.Attention.pairs`), of which the statistics are made, and as its authors'
code puts it, by reshapes, halves and repeats (`published_…`). `run` holds the outputs of the two to each other.
"""
import json
from dataclasses import dataclass, field
from typing import Callable

import torch
from safetensors.torch import save_file

import checkpoints as C
import forward
import rope
from forward import Attention, blocks, linear, rms_norm, silu
from what_ifs import Overrides

BASE = {"vocab_size": 53, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 256, "rms_norm_eps": 1e-5, "rope_theta": 10000.0}
LLAMA_FRAME = {"embedding": "embed_tokens", "head": "lm_head", "before": "input_layernorm", "after": "post_attention_layernorm",
               "attention": "self_attn", "gate": "mlp.gate_proj", "up": "mlp.up_proj", "down": "mlp.down_proj"}
UNILM_FRAME = {"embedding": "tok_embeddings", "head": "output", "before": "attention_norm", "after": "ffn_norm",
               "attention": "attention", "gate": "feed_forward.w1", "up": "feed_forward.w3", "down": "feed_forward.w2"}
FLA_FRAME = {"embedding": "embeddings", "head": "lm_head", "before": "attn_norm", "after": "mlp_norm", "attention": "attn",
             "gate": "mlp.gate_proj", "up": "mlp.up_proj", "down": "mlp.down_proj"}
LAMBDAS = ("lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2")


@dataclass
class Case:
    name: str
    family: str
    sizes: dict  # by llama's keys, whatever the config calls them
    config: dict  # as the file holds it
    frame: dict = field(default_factory=lambda: LLAMA_FRAME)
    prefix: str = "model."
    n: int = 37
    dtype: torch.dtype = torch.float32


@dataclass
class Family:
    shapes: Callable  # (case, p) → {name: shape} of one layer's attention
    attention: Callable  # (case, w, p, layer, x) → forward.Attention
    published: Callable  # (case, w, p, layer, x) → the attention's output


MODEL_TYPES = {"motif": "Motif", "motif grouped": "Motif", "gated qwen": "qwen3", "fla": "transformer", "v1": "diff_transformer",
               "v2": "diff_transformer", "axolotl": "llama-differential"}


def model_type(case):
    """What the program takes the checkpoint for, whether its config says so or not."""
    return MODEL_TYPES[case.family]


def poly_norm(case):
    return case.family.startswith("motif") and case.config.get("hidden_act", "poly_norm") == "poly_norm"


def head_dim(case):
    s = case.sizes
    return s.get("head_dim") or s["hidden_size"] // s["num_attention_heads"]


def tied(case):
    return case.config.get("tie_word_embeddings", False)


def head_name(case):
    """Hugging Face's lm_head stands beside the model, unilm's output in it."""
    return f"{case.prefix if case.frame is UNILM_FRAME else ''}{case.frame['head']}.weight"


def shapes_of(case):
    s, f, p = case.sizes, case.frame, case.prefix
    v, d, inner = s["vocab_size"], s["hidden_size"], s["intermediate_size"]
    shapes = {f"{p}{f['embedding']}.weight": (v, d), f"{p}norm.weight": (d,)}
    if not tied(case):
        shapes[head_name(case)] = (v, d)
    for layer in range(s["num_hidden_layers"]):
        base = f"{p}layers.{layer}."
        shapes |= {base + f["before"] + ".weight": (d,), base + f["after"] + ".weight": (d,), base + f["gate"] + ".weight": (inner, d),
                   base + f["up"] + ".weight": (inner, d), base + f["down"] + ".weight": (d, inner)}
        shapes |= FAMILIES[case.family].shapes(case, base + f["attention"] + ".")
        if poly_norm(case):
            shapes |= {base + "mlp.act_fn.weight": (3,), base + "mlp.act_fn.bias": (1,)}
    return shapes


def weights_of(case, seed):
    """Random values by name, as they are stored."""
    shapes = shapes_of(case)
    weights = C.scaled_weights({name: torch.empty(shape, device="meta") for name, shape in shapes.items() if shape}, seed)
    for index, name in enumerate(name for name, shape in shapes.items() if not shape):
        weights[name] = torch.tensor(0.1 + 0.17 * index)
    return {name: t.to(case.dtype) for name, t in weights.items()}


def write(folder, case, seed):
    """config.json and model.safetensors; returns the model."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = weights_of(case, seed)
    (folder / "config.json").write_text(json.dumps(case.config, indent=1))
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return {name: t.double() for name, t in weights.items()}


def rotated(case, x, interleaved):
    c = {**case.sizes, **{k: v for k, v in case.config.items() if k.startswith("rope_")}}
    inv_freq, factor = forward.rope_of(c, x.shape[1], x.shape[2])
    return rope.rotate(x, inv_freq, factor, interleaved)


def rotate_by(case, attention, interleaved, n):
    c = {**case.sizes, **{k: v for k, v in case.config.items() if k.startswith("rope_")}}
    attention.inv_freq, attention.rope_factor = forward.rope_of(c, n, attention.q.shape[-1])
    attention.interleaved = interleaved
    return attention


def causal_softmax(q, k, window=None):
    n = q.shape[1]
    z = q @ k.transpose(1, 2) / q.shape[-1]**0.5
    distance = torch.arange(n)[:, None] - torch.arange(n)[None, :]
    seen = (distance >= 0) & (distance < (window or n))
    return torch.softmax(z.masked_fill(~seen, -torch.inf), dim=-1)


def lambda_terms(w, p):
    return torch.exp((w[p + "lambda_q1"] * w[p + "lambda_k1"]).sum()) - torch.exp((w[p + "lambda_q2"] * w[p + "lambda_k2"]).sum())


def account(w, p, output):
    sizes = {part: forward.count(w, f"{p}{name}.weight", f"{p}{name}.bias")
             for part, name in (("q", "q_proj"), ("k", "k_proj"), ("v", "v_proj"), ("o", output))}
    return sizes | {"lambda": forward.count(w, *[p + name for name in (*LAMBDAS, "lambda_init", "lambda_proj.weight")])}


def merged(heads):
    """[heads, n, channels] → [n, heads · channels]."""
    return heads.transpose(0, 1).flatten(1)


# --- microsoft/unilm, Diff-Transformer: multihead_diffattn.py, multihead_flashdiff_1.py ---

def v1_shapes(case, p):
    s, d = case.sizes, head_dim(case) // (1 if "head_dim" in case.sizes else 2)
    h, h_kv, dim = s["num_attention_heads"], s["num_key_value_heads"], s["hidden_size"]
    shapes = {p + "q_proj.weight": (2 * h * d, dim), p + "k_proj.weight": (2 * h_kv * d, dim), p + "v_proj.weight": (2 * h_kv * d, dim),
              p + "out_proj.weight": (dim, 2 * h * d), p + "subln.weight": (2 * d,)}
    return shapes | {p + name: (d,) for name in LAMBDAS}


def v1_attention(case, w, p, layer, x):
    s, d, n = case.sizes, len(w[p + "lambda_q1"]), len(x)
    h, r = s["num_attention_heads"], s["num_attention_heads"] // s["num_key_value_heads"]
    q, k, v = (blocks(linear(w, p + part + "_proj", x), d) for part in "qkv")
    naive = case.config.get("v1_form") == "naive"
    pairs = []
    for i in range(h):
        values = [2 * (i // r), 2 * (i // r) + 1]
        keys = (2 * i // r, (2 * i + 1) // r) if naive else values
        pairs.append([(2 * i, keys[0], values), (2 * i + 1, keys[1], values)])
    init = forward.v1_lambda_init(layer)
    out = Attention("diff_v1", q, k, v, pairs, w[p + "out_proj.weight"], None, d**-0.5, window=case.config.get("sliding_window"),
                    lam=(lambda_terms(w, p) + init).expand(h, n), norm_weight=w[p + "subln.weight"], norm_epsilon=1e-5,
                    post_scale=1 - init, lambda_init=init)
    out.parameters = account(w, p, "out_proj")
    return rotate_by(case, out, case.config.get("rope_interleaved", True), n)


def published_v1(case, w, p, layer, x):
    s, d, n = case.sizes, len(w[p + "lambda_q1"]), len(x)
    h, h_kv = s["num_attention_heads"], s["num_key_value_heads"]
    q = rotated(case, blocks(linear(w, p + "q_proj", x), d), case.config.get("rope_interleaved", True))
    k = rotated(case, blocks(linear(w, p + "k_proj", x), d), case.config.get("rope_interleaved", True))
    v = blocks(linear(w, p + "v_proj", x), 2 * d).repeat_interleave(h // h_kv, dim=0)
    window, init = case.config.get("sliding_window"), 0.8 - 0.6 * torch.exp(torch.tensor(-0.3 * layer, dtype=torch.float64))
    if case.config.get("v1_form") == "naive":
        a = causal_softmax(q, k.repeat_interleave(h // h_kv, dim=0), window).reshape(h, 2, n, n)
        a1, a2 = a[:, 0], a[:, 1]
    else:
        q1, q2 = q.reshape(h, 2, n, d).unbind(1)
        k1, k2 = (part.repeat_interleave(h // h_kv, dim=0) for part in k.reshape(h_kv, 2, n, d).unbind(1))
        a1, a2 = causal_softmax(q1, k1, window), causal_softmax(q2, k2, window)
    out = (a1 - (lambda_terms(w, p) + init) * a2) @ v
    return merged(rms_norm(out, w[p + "subln.weight"], 1e-5) * (1 - init)) @ w[p + "out_proj.weight"].T


# --- microsoft/unilm, Diff-Transformer-V2: multihead_flashdiffv2.py ---

def v2_shapes(case, p):
    s, d = case.sizes, head_dim(case)
    h, h_kv, dim = s["num_attention_heads"], s["num_key_value_heads"], s["hidden_size"]
    return {p + "q_proj.weight": (2 * h * d, dim), p + "k_proj.weight": (h_kv * d, dim), p + "v_proj.weight": (h_kv * d, dim),
            p + "o_proj.weight": (dim, h * d), p + "lambda_proj.weight": (h, dim)}


def v2_attention(case, w, p, layer, x):
    s, d = case.sizes, head_dim(case)
    h, g = s["num_attention_heads"], 2 * s["num_attention_heads"] // s["num_key_value_heads"]
    q, k, v = (blocks(linear(w, p + part + "_proj", x), d) for part in "qkv")
    raw = linear(w, p + "lambda_proj", x).T
    out = Attention("diff_v2", q, k, v, [[(b, b // g, [b // g]) for b in (2 * i, 2 * i + 1)] for i in range(h)], w[p + "o_proj.weight"],
                    None, d**-0.5, lam=torch.sigmoid(raw), lam_raw=raw)
    out.parameters = account(w, p, "o_proj")
    return rotate_by(case, out, True, len(x))


def published_v2(case, w, p, layer, x):
    d, group = head_dim(case), 2 * case.sizes["num_attention_heads"] // case.sizes["num_key_value_heads"]
    q, k = (rotated(case, blocks(linear(w, p + part, x), d), True) for part in ("q_proj", "k_proj"))
    v = blocks(linear(w, p + "v_proj", x), d)
    u = causal_softmax(q, k.repeat_interleave(group, dim=0)) @ v.repeat_interleave(group, dim=0)
    gate = torch.sigmoid(linear(w, p + "lambda_proj", x)).T[:, :, None]
    return merged(u[0::2] - gate * u[1::2]) @ w[p + "o_proj.weight"].T


# --- axolotl-ai-cloud/diff-transformer: modeling/diff_attn.py ---

def axolotl_shapes(case, p):
    s, d, c = case.sizes, head_dim(case), case.config
    h, h_kv, dim = s["num_attention_heads"], s["num_key_value_heads"], s["hidden_size"]
    maps = 1 if c["split_heads"] else 2
    shapes = {p + "q_proj": (maps * h * d, dim), p + "k_proj": (maps * h_kv * d, dim), p + "v_proj": (h_kv * d, dim),
              p + "o_proj": (dim, h * d)}
    shapes = {name + ".weight": shape for name, shape in shapes.items()} | (
        {name + ".bias": shape[:1] for name, shape in shapes.items()} if c.get("attention_bias") else {})
    if c.get("sublayer_norm", True):
        shapes[p + "subln.weight"] = (2 * d // maps,)
    return shapes | {p + name: (d,) for name in LAMBDAS} | {p + "lambda_init": ()}


def axolotl_attention(case, w, p, layer, x):
    s, d, split = case.sizes, head_dim(case), case.config["split_heads"]
    h, h_kv = s["num_attention_heads"], s["num_key_value_heads"]
    g, heads = h // h_kv, h // 2 if split else h
    q, k, v = (blocks(linear(w, p + part + "_proj", x), d) for part in "qkv")
    pairs = []
    for i in range(heads):
        values = [i // g, (i + heads) // g] if split else [i // g]
        second_key = h_kv // 2 + i // g if split else h_kv + i // g
        pairs.append([(i, i // g, values), (heads + i, second_key, values)])
    norm = case.config.get("sublayer_norm", True)
    out = Attention("diff_v1", q, k, v, pairs, w[p + "o_proj.weight"], w.get(p + "o_proj.bias"), d**-0.5,
                    lam=(lambda_terms(w, p) + w[p + "lambda_init"]).expand(heads, len(x)), norm_weight=w.get(p + "subln.weight"),
                    norm_epsilon=s["rms_norm_eps"] if norm else None, lambda_init=w[p + "lambda_init"].item())
    out.parameters = account(w, p, "o_proj")
    return rotate_by(case, out, False, len(x))


def published_axolotl(case, w, p, layer, x):
    s, d, split = case.sizes, head_dim(case), case.config["split_heads"]
    group = s["num_attention_heads"] // s["num_key_value_heads"]
    halves = [linear(w, p + part, x).chunk(2, dim=-1) for part in ("q_proj", "k_proj")]
    (q1, q2), (k1, k2) = ([rotated(case, blocks(half, d), False) for half in pair] for pair in halves)
    k1, k2, v = (part.repeat_interleave(group, dim=0) for part in (k1, k2, blocks(linear(w, p + "v_proj", x), d)))
    if split:
        v = torch.cat(torch.chunk(v, 2, dim=0), dim=-1)
    lam = lambda_terms(w, p) + w[p + "lambda_init"]
    out = causal_softmax(q1, k1) @ v - lam * (causal_softmax(q2, k2) @ v)
    if case.config.get("sublayer_norm", True):
        out = rms_norm(out, w[p + "subln.weight"], s["rms_norm_eps"])
    return linear(w, p + "o_proj", merged(out))


# --- Motif: MotifTechnologies/vllm, motif.py and grouped_diff_attn.py ---

def motif_init(layer):
    return forward.v1_lambda_init(layer - 1)


def motif_shapes(case, p):
    """Sub-heads as the config counts them: every second one, or every group's last one, is of the second map."""
    s, d, dim = case.sizes, head_dim(case), case.sizes["hidden_size"]
    h, h_kv = s["num_attention_heads"], s["num_key_value_heads"]
    out = h - case.config.get("num_noise_heads", h // 2)
    shapes = {"q_proj": (h * d, dim), "k_proj": (h_kv * d, dim), "v_proj": (h_kv * d, dim), "o_proj": (dim, out * 2 * d), "subln": (2 * d,)}
    return {f"{p}{name}.weight": shape for name, shape in shapes.items()} | {p + name: (d,) for name in LAMBDAS}


def motif_attention(case, w, p, layer, x):
    s, c, n = case.sizes, case.config, len(x)
    h, h_kv = s["num_attention_heads"], s["num_key_value_heads"]
    q, k, v = (blocks(linear(w, p + part + "_proj", x), head_dim(case)) for part in "qkv")
    if case.family == "motif grouped":
        r = h // c["num_noise_heads"] - 1  # signal heads of a noise head
        pairs = [[((r + 1) * (i // r) + i % r, 2 * (i // r), [2 * (i // r), 2 * (i // r) + 1]),
                  ((r + 1) * (i // r) + r, 2 * (i // r) + 1, [2 * (i // r), 2 * (i // r) + 1])] for i in range(h - c["num_noise_heads"])]
    else:
        g = h // h_kv
        pairs = [[(2 * i + m, 2 * (i // g) + m, [2 * (i // g), 2 * (i // g) + 1]) for m in (0, 1)] for i in range(h // 2)]
    init = motif_init(layer)
    out = Attention("diff_v1", q, k, v, pairs, w[p + "o_proj.weight"], None, head_dim(case)**-0.5,
                    lam=(lambda_terms(w, p) + init).expand(len(pairs), n), norm_weight=w[p + "subln.weight"],
                    norm_epsilon=c.get("attn_rms_norm_eps", 1e-5), post_scale=1 - init, lambda_init=init)
    out.parameters = account(w, p, "o_proj")
    return rotate_by(case, out, False, n)


def published_motif(case, w, p, layer, x):
    s, c, d, n = case.sizes, case.config, head_dim(case), len(x)
    h, h_kv = s["num_attention_heads"], s["num_key_value_heads"]
    groups = c["num_noise_heads"] if case.family == "motif grouped" else h_kv // 2
    q, k = (rotated(case, blocks(linear(w, p + part, x), d), False) for part in ("q_proj", "k_proj"))
    q = q.reshape(groups, h // groups, n, d)
    if case.family == "motif grouped":
        signal, noise = q[:, :-1], q[:, -1:]
    else:  # (head, 2) for each head of a group
        signal, noise = q.reshape(groups, -1, 2, n, d).unbind(2)
    signals = signal.shape[1]
    k1, k2 = k.reshape(groups, 2, n, d).unbind(1)
    v = blocks(linear(w, p + "v_proj", x), 2 * d)
    init, outputs = motif_init(layer), []
    lam = lambda_terms(w, p) + init
    for group in range(groups):
        first = causal_softmax(signal[group], k1[group].expand(signals, n, d)) @ v[group]
        second = causal_softmax(noise[group], k2[group].expand(len(noise[group]), n, d)) @ v[group]
        outputs.append(first - lam * second)
    out = rms_norm(torch.cat(outputs), w[p + "subln.weight"], c.get("attn_rms_norm_eps", 1e-5)) * (1 - init)
    return merged(out) @ w[p + "o_proj.weight"].T


# --- qiuzh20/gated_attention: modeling_qwen3.py ---

def gate_rows(case):
    """Of each key head: rows of its queries, and rows of their gates."""
    group = case.sizes["num_attention_heads"] // case.sizes["num_key_value_heads"]
    queries = group * head_dim(case)
    return queries, queries if case.config.get("elementwise_attn_output_gate") else group


def gated_shapes(case, p):
    s, d, dim = case.sizes, head_dim(case), case.sizes["hidden_size"]
    h, h_kv = s["num_attention_heads"], s["num_key_value_heads"]
    shapes = {"q_proj": (h_kv * sum(gate_rows(case)), dim), "k_proj": (h_kv * d, dim), "v_proj": (h_kv * d, dim), "o_proj": (dim, h * d)}
    bias = {p + name + ".bias": shape[:1] for name, shape in shapes.items()} if case.config.get("qkv_bias") else {}
    norms = {p + name: (d,) for name in ("q_norm.weight", "k_norm.weight")} if case.config.get("use_qk_norm", True) else {}
    return {p + name + ".weight": shape for name, shape in shapes.items()} | bias | norms


def gated_projections(case, w, p, x):
    """Queries [h, n, d] and gates [h, n, 1 or d] before σ, keys and values."""
    s, n, d = case.sizes, len(x), head_dim(case)
    h_kv = s["num_key_value_heads"]
    of_groups = linear(w, p + "q_proj", x).reshape(n, h_kv, -1)
    q, gate = of_groups.split(gate_rows(case), dim=-1)
    q, gate = (part.reshape(n, s["num_attention_heads"], -1).transpose(0, 1) for part in (q, gate))
    k, v = (blocks(linear(w, p + part, x), d) for part in ("k_proj", "v_proj"))
    if case.config.get("use_qk_norm", True):
        q, k = (rms_norm(part, w[f"{p}{name}_norm.weight"], s["rms_norm_eps"]) for name, part in (("q", q), ("k", k)))
    return q, gate, k, v


def gated_attention(case, w, p, layer, x):
    h, h_kv = case.sizes["num_attention_heads"], case.sizes["num_key_value_heads"]
    q, gate, k, v = gated_projections(case, w, p, x)
    out = Attention("gated", q, k, v, [[(i, i // (h // h_kv), [i // (h // h_kv)])] for i in range(h)], w[p + "o_proj.weight"],
                    w.get(p + "o_proj.bias"), head_dim(case)**-0.5, gate=torch.sigmoid(gate))
    out.parameters = account(w, p, "o_proj")
    queries, gates = gate_rows(case)
    out.parameters["q"] = out.parameters["q"] * queries // (queries + gates)
    return rotate_by(case, out, False, len(x))


def published_gated(case, w, p, layer, x):
    group = case.sizes["num_attention_heads"] // case.sizes["num_key_value_heads"]
    q, gate, k, v = gated_projections(case, w, p, x)
    q, k = rotated(case, q, False), rotated(case, k, False)
    out = causal_softmax(q, k.repeat_interleave(group, dim=0)) @ v.repeat_interleave(group, dim=0)
    return linear(w, p + "o_proj", merged(out * torch.sigmoid(gate)))


# --- zaydzuhri/softpick-attention in flash-linear-attention's transformer: naive_softpick.py ---

def fla_shapes(case, p):
    s, d, dim = case.sizes, head_dim(case), case.sizes["hidden_size"]
    rows = {"q_proj": s["num_attention_heads"] * d, "k_proj": s["num_key_value_heads"] * d, "v_proj": s["num_key_value_heads"] * d}
    bias = {f"{p}{name}.bias": (count,) for name, count in rows.items()} if case.config.get("qkv_bias") else {}
    return {f"{p}{name}.weight": (count, dim) for name, count in rows.items()} | bias | {p + "o_proj.weight": (dim, dim)}


def fla_attention(case, w, p, layer, x):
    g = case.sizes["num_attention_heads"] // case.sizes["num_key_value_heads"]
    q, k, v = (blocks(linear(w, p + part + "_proj", x), head_dim(case)) for part in "qkv")
    picks = "softpick" in case.config["attn_impl"]
    out = Attention("softpick" if picks else "softmax", q, k, v, [[(i, i // g, [i // g])] for i in range(len(q))], w[p + "o_proj.weight"],
                    None, head_dim(case)**-0.5, window=case.config.get("window_size"), softpick=picks)
    out.parameters = account(w, p, "o_proj")
    return rotate_by(case, out, False, len(x))


def published_fla(case, w, p, layer, x):
    n, d, s = len(x), head_dim(case), case.sizes
    group = s["num_attention_heads"] // s["num_key_value_heads"]
    q, k = (rotated(case, blocks(linear(w, p + part, x), d), False) for part in ("q_proj", "k_proj"))
    k, v = (part.repeat_interleave(group, dim=0) for part in (k, blocks(linear(w, p + "v_proj", x), d)))
    if "softpick" in case.config["attn_impl"]:
        distance = torch.arange(n)[:, None] - torch.arange(n)[None, :]
        seen = (distance >= 0) & (distance < (case.config.get("window_size") or n))
        above = torch.expm1(q @ k.transpose(1, 2) / d**0.5) * seen  # e^z − 1, and nothing where it is masked
        shift = torch.exp(-(q @ k.transpose(1, 2) / d**0.5).masked_fill(~seen, -torch.inf).amax(dim=-1, keepdim=True))
        a = torch.relu(above) / (above.abs().sum(dim=-1, keepdim=True) + 1e-8 / shift)
    else:
        a = causal_softmax(q, k, case.config.get("window_size"))
    return merged(a @ v) @ w[p + "o_proj.weight"].T


FAMILIES = {
    "motif": Family(motif_shapes, motif_attention, published_motif),
    "motif grouped": Family(motif_shapes, motif_attention, published_motif),
    "gated qwen": Family(gated_shapes, gated_attention, published_gated),
    "fla": Family(fla_shapes, fla_attention, published_fla),
    "v1": Family(v1_shapes, v1_attention, published_v1),
    "v2": Family(v2_shapes, v2_attention, published_v2),
    "axolotl": Family(axolotl_shapes, axolotl_attention, published_axolotl),
}


def mlp(case, w, base, x):
    f, gate = case.frame, linear(w, base + case.frame["gate"], x)
    if poly_norm(case):
        powers = [rms_norm(gate**power, None, 1e-6) for power in (3, 2, 1)]
        gate = sum(weight * power for weight, power in zip(w[base + "mlp.act_fn.weight"], powers)) + w[base + "mlp.act_fn.bias"]
    else:
        gate = silu(gate)
    return linear(w, base + f["down"], gate * linear(w, base + f["up"], x))


def run(case, weights, ids, what_ifs=()):
    """The trace of the forward pass; without what-ifs the published form of each attention has to give the same."""
    s, f, w, p = case.sizes, case.frame, weights, case.prefix
    family, overrides, epsilon = FAMILIES[case.family], Overrides(what_ifs), s["rms_norm_eps"]
    embedding = w[f"{p}{f['embedding']}.weight"]
    x = embedding[torch.tensor(ids)]
    trace = forward.Trace([x], None)
    for layer in range(s["num_hidden_layers"]):
        base = f"{p}layers.{layer}."
        module = base + f["attention"] + "."
        normed = rms_norm(x, w[base + f["before"] + ".weight"], epsilon)
        y, info = forward.attend(family.attention(case, w, module, layer, normed), layer, overrides, normed)
        if not what_ifs:
            published = family.published(case, w, module, layer, normed)
            assert (y - published).abs().max() <= 1e-12 * published.abs().max(), f"{case.name}: two forms of one layer differ"
        x = x + y
        x = x + mlp(case, w, base, rms_norm(x, w[base + f["after"] + ".weight"], epsilon))
        trace.residual.append(x)
        trace.layers.append(info)
    head = embedding if tied(case) else w[head_name(case)]
    trace.logits = rms_norm(x, w[p + "norm.weight"], epsilon) @ head.T
    return trace


def case(name, family, n=37, sizes=(), frame=LLAMA_FRAME, prefix="model.", dtype=torch.float32, model_type=None, **config):
    """`sizes` change the base; `config` are further keys. Without `model_type` the names decide."""
    all_sizes = {**BASE, **dict(sizes)}
    written = {**({"model_type": model_type} if model_type else {}), **all_sizes, **config}
    return Case(name, family, all_sizes, written, frame, prefix, n, dtype)


UNILM_KEYS = {"vocab_size": "vocab_size", "hidden_size": "dim", "intermediate_size": "hidden_dim", "num_hidden_layers": "n_layers",
              "num_attention_heads": "n_heads", "num_key_value_heads": "n_kv_heads", "max_position_embeddings": "max_seq_len",
              "rms_norm_eps": "norm_eps", "rope_theta": "rope_theta", "head_dim": "head_dim"}


def unilm_case(name, family, **options):
    """The config by the names of unilm's arguments, and the frame of its transformer."""
    made = case(name, family, frame=UNILM_FRAME, prefix="", **options)
    made.config = {UNILM_KEYS.get(key, key): value for key, value in made.config.items()}
    return made


LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 64}
AXOLOTL = {"model_type": "llama-differential", "zero_init": False, "mirror_weights": False}
MOTIF = {"model_type": "Motif", "hidden_act": "poly_norm", "sliding_window": 16}
GROUPED = {"num_attention_heads": 10, "num_key_value_heads": 4, "head_dim": 6}


def fla_case(name, n=37, sizes=(), **config):
    """The config by the names of flash-linear-attention."""
    made = case(name, "fla", n, sizes, FLA_FRAME, model_type="transformer", fuse_norm=True, hidden_act="swish", **config)
    names = {"num_attention_heads": "num_heads", "num_key_value_heads": "num_kv_heads", "rms_norm_eps": "norm_eps"}
    made.config = {names.get(key, key): value for key, value in made.config.items()}
    if config.get("intermediate_size", 0) is None:  # ⌈2/3 · 4 · hidden_size⌉ in multiples of 256
        made.sizes["intermediate_size"] = 256
    return made


CASES = [
    case("Motif 2.6B", "motif", 97, **MOTIF, tie_word_embeddings=True),
    case("Motif 2.6B groups, silu", "motif", 37, {"num_attention_heads": 8, "num_key_value_heads": 4}, **{**MOTIF, "hidden_act": "silu"}),
    case("Motif 2.6B untold type, bf16", "motif", 37, {"num_key_value_heads": 4}, dtype=torch.bfloat16, attn_rms_norm_eps=1e-3),
    case("Motif 12.7B", "motif grouped", 97, GROUPED, **MOTIF, num_noise_heads=2, k_ratio=1),
    case("Motif 12.7B one signal a group", "motif grouped", 37, {"num_attention_heads": 8, "num_key_value_heads": 8}, **MOTIF,
         num_noise_heads=4, attn_rms_norm_eps=1e-4),
    case("gated qwen3 headwise", "gated qwen", 97, {"head_dim": 8}, model_type="qwen3", headwise_attn_output_gate=True, use_qk_norm=True),
    case("gated qwen3 elementwise, bias, no norms", "gated qwen", 37, {"head_dim": 16}, model_type="qwen3", qkv_bias=True, use_qk_norm=False,
         elementwise_attn_output_gate=True, tie_word_embeddings=True),
    case("gated qwen3 elementwise, as many keys", "gated qwen", 37, {"head_dim": 6, "num_key_value_heads": 4}, model_type="qwen3",
         elementwise_attn_output_gate=True),
    fla_case("softpick", 97, attn_impl="parallel_softpick_attn"),
    fla_case("softpick one token", 1, attn_impl="naive_softpick_attn"),
    fla_case("softpick window, bias, tied", 97, {"num_key_value_heads": 4}, attn_impl="naive_softpick_attn", window_size=11, qkv_bias=True,
             tie_word_embeddings=True),
    fla_case("softpick model with softmax", 37, attn_impl="flash_attn", hidden_ratio=4, intermediate_size=None),
    case("unilm V1", "v1", 97),
    case("unilm V1 many key heads, first token", "v1", 1, {"num_key_value_heads": 4}),
    case("unilm V1 naive, tied, bf16", "v1", v1_form="naive", tie_word_embeddings=True, dtype=torch.bfloat16),
    case("unilm V1 halves, window, head_dim", "v1", 97, {"head_dim": 6}, prefix="", rope_interleaved=False, sliding_window=9),
    unilm_case("unilm V1 in its own frame", "v1", n=97),
    case("unilm V2", "v2", 97, {"head_dim": 8}),
    case("unilm V2 named, groups of two, llama3", "v2", 37, {"num_key_value_heads": 4}, model_type="diff_transformer", rope_scaling=LLAMA3),
    unilm_case("unilm V2 in its own frame", "v2", n=97, sizes={"num_key_value_heads": 1, "head_dim": 10}),
    case("axolotl", "axolotl", 97, **AXOLOTL, split_heads=False, sublayer_norm=True),
    case("axolotl no norm, bias", "axolotl", **AXOLOTL, split_heads=False, sublayer_norm=False, attention_bias=True),
    case("axolotl split", "axolotl", 97, {"num_attention_heads": 8, "num_key_value_heads": 4}, **AXOLOTL, split_heads=True),
    case("axolotl split, untold type", "axolotl", 37, split_heads=True, tie_word_embeddings=True),
]
