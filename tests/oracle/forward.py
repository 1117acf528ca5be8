"""The forward pass of every family, from the specification, in float64 with dense n × n maps. For reading, not for speed.

`run(model, ids, what_ifs)` gives the residual stream, the logits, and per layer and head everything the statistics need.
"""
import math
from dataclasses import dataclass, field

import torch

import rope
from what_ifs import Overrides

NEG = -math.inf


@dataclass
class Model:
    family: str  # headroom, llama, gpt2, diffllama
    config: dict
    weights: dict  # name → float64 tensor, values as stored in the file


@dataclass
class Map:
    """One softmax map of a head."""
    query: torch.Tensor  # [n, d] after qk-norm and RoPE
    key: torch.Tensor
    key_block: int
    z: torch.Tensor  # [n, n] scaled logits ÷ temperature, −inf where masked
    z_raw: torch.Tensor  # before the temperature
    lse: torch.Tensor  # [n], the sink's term included
    a: torch.Tensor  # [n, n]
    values: torch.Tensor  # [n, channels]


@dataclass
class Head:
    maps: list  # one or two
    lam: torch.Tensor | None  # [n]
    w: torch.Tensor  # [n, n]
    context: torch.Tensor  # [n, channels], before norm and gate
    contexts: list  # per map
    visible: torch.Tensor  # [n, n] bool
    hidden: list  # keys hidden by a what-if: their own row may see them, and only so as not to be empty
    gate: torch.Tensor | None  # [n, channels] or [n, 1]
    norm_epsilon: float | None
    sink: float | None  # sink logit
    softpick: bool = False


@dataclass
class Layer:
    kind: str
    heads: list
    visible: torch.Tensor  # of the model's mask, without hidden keys of single heads
    key_norm: torch.Tensor  # [key blocks, n]
    value_norm: torch.Tensor
    alignment: torch.Tensor  # [h, h] cos_F inside GQA groups
    sink_logits: list | None
    lambda_init: float | None
    parameters: dict  # q, k, v, o, lambda


@dataclass
class Trace:
    residual: list
    logits: torch.Tensor
    layers: list = field(default_factory=list)
    routing: dict = field(default_factory=dict)  # layer → number of experts, their numbers and weights by token


def rms_norm(x, weight, eps):
    y = x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps)
    return y if weight is None else weight * y


def layer_norm(x, weight, bias, eps):
    centred = x - x.mean(-1, keepdim=True)
    return centred / torch.sqrt((centred * centred).mean(-1, keepdim=True) + eps) * weight + bias


def gelu_new(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def silu(x):
    return x * torch.sigmoid(x)


def blocks(x, width):
    """[n, count · width] → [count, n, width]."""
    n = x.shape[0]
    return x.reshape(n, -1, width).transpose(0, 1)


@dataclass
class Attention:
    """What a family says about one layer, before the mathematics."""
    kind: str
    q: torch.Tensor  # [blocks, n, d], before RoPE
    k: torch.Tensor
    v: torch.Tensor
    pairs: list  # per head: list of maps (query block, key block, value blocks)
    output: torch.Tensor  # W_O [D, heads · channels]
    output_bias: torch.Tensor | None
    scale: float
    inv_freq: torch.Tensor | None = None
    rope_factor: float = 1.0
    interleaved: bool = False
    softcap: float | None = None
    window: int | None = None
    visible: torch.Tensor | None = None  # [n, n] bool, in place of the causal mask and the window
    bias: torch.Tensor | None = None  # [heads, n, n], added to the scaled logits
    lam: torch.Tensor | None = None  # [heads, n]
    lam_raw: torch.Tensor | None = None
    gate: torch.Tensor | None = None  # [heads, n, channels or 1]
    sinks: list | None = None  # per head
    softpick: bool = False
    norm_weight: torch.Tensor | None = None
    norm_epsilon: float | None = None  # None: no per-head norm
    post_scale: float = 1.0
    lambda_init: float | None = None
    parameters: dict = field(default_factory=dict)


def v1_lambda_init(layer):
    return 0.8 - 0.6 * math.exp(-0.3 * layer)


def v1_lambda(weights, prefix, layer):
    def term(name):
        return torch.exp((weights[prefix + "lambda_q" + name] * weights[prefix + "lambda_k" + name]).sum())

    return term("1") - term("2") + v1_lambda_init(layer)


def count(weights, *names):
    return sum(weights[name].numel() for name in names if name in weights)


def linear(weights, name, x):
    y = x @ weights[name + ".weight"].T
    return y + weights[name + ".bias"] if name + ".bias" in weights else y


def parameter_account(weights, p, extra=()):
    account = {s: count(weights, f"{p}{s}_proj.weight", f"{p}{s}_proj.bias") for s in "qkvo"}
    account["lambda"] = count(weights, *[p + name for name in ("lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2", "lambda_proj.weight")])
    return account


def rope_of(config, n, dim):
    scaling = config.get("rope_parameters") or config.get("rope_scaling")
    theta = (config.get("rope_parameters") or {}).get("rope_theta", config.get("rope_theta", 10000.0))
    return rope.inverse_frequencies(theta, dim, n, config["max_position_embeddings"], scaling)


def headroom_attention(model, layer, x):
    c, w, p = model.config, model.weights, f"model.layers.{layer}.self_attn."
    a, n = c["attention"], x.shape[0]
    kind, d = a["kind"], c["head_dim"]
    h, h_kv = c["num_attention_heads"], c["num_key_value_heads"]
    q, k, v = (blocks(linear(w, p + s + "_proj", x), d) for s in ("q", "q" if a.get("shared_query_key") else "k", "v"))
    if a.get("qk_norm"):
        q = rms_norm(q, w[p + "q_norm.weight"], c["rms_norm_eps"])
        k = rms_norm(k, w[p + "k_norm.weight"], c["rms_norm_eps"])
    out = Attention(kind, q, k, v, [], w[p + "o_proj.weight"], None, a.get("scale") or d**-0.5, window=a.get("window"))
    out.parameters = parameter_account(w, p)
    if c["position"] == "rope":
        out.inv_freq, out.rope_factor = rope_of(c, n, d)
        out.interleaved = c.get("rope_interleaved", True)
    if kind in ("softmax", "softmax_one", "softmax_sink", "softpick", "gated"):
        g = h // h_kv
        out.softpick = kind == "softpick"
        out.pairs = [[(i, i // g, [i // g])] for i in range(h)]
        if kind == "softmax_one":
            out.sinks = [0.0] * h
        if kind == "softmax_sink":
            out.sinks = w[p + "sinks"].tolist()
        if kind == "gated":
            g_out = torch.sigmoid(linear(w, p + "g_proj", x))
            out.gate = blocks(g_out, 1 if a["gate"] == "headwise" else d)
    elif kind == "diff_v2":
        g = 2 * h // h_kv
        out.pairs = [[(2 * i + m, (2 * i + m) // g, [(2 * i + m) // g]) for m in (0, 1)] for i in range(h)]
        out.lam_raw = linear(w, p + "lambda_proj", x).T
        out.lam = torch.sigmoid(out.lam_raw)
    elif kind == "diff_v1":
        r = h // h_kv
        for i in range(h):
            keys = (2 * (i // r), 2 * (i // r) + 1)
            if a.get("v1_form", "flash") == "naive":
                keys = ((2 * i) // r, (2 * i + 1) // r)
            values = [2 * (i // r), 2 * (i // r) + 1]
            out.pairs.append([(2 * i, keys[0], values), (2 * i + 1, keys[1], values)])
        out.lambda_init = v1_lambda_init(layer)
        out.post_scale = 1 - out.lambda_init
        out.lam = v1_lambda(w, p, layer).expand(h, n)
        if a.get("v1_norm", True):
            out.norm_weight, out.norm_epsilon = w[p + "subln.weight"], 1e-5
    else:
        raise ValueError(kind)
    return out


def llama_attention(model, layer, x):
    c, w, p = model.config, model.weights, f"model.layers.{layer}.self_attn."
    h, h_kv = c["num_attention_heads"], c.get("num_key_value_heads") or c["num_attention_heads"]
    d, n = c.get("head_dim") or c["hidden_size"] // h, x.shape[0]
    q, k, v = (blocks(linear(w, p + s + "_proj", x), d) for s in "qkv")
    g = h // h_kv
    out = Attention("softmax", q, k, v, [], w[p + "o_proj.weight"], w.get(p + "o_proj.bias"), d**-0.5)
    out.parameters = parameter_account(w, p)
    out.inv_freq, out.rope_factor = rope_of(c, n, d)
    if model.family == "llama":
        out.pairs = [[(i, i // g, [i // g])] for i in range(h)]
        return out
    out.kind = "diff_v1"
    half = h // 2
    for i in range(half):
        values = [i // g, h_kv // 2 + i // g]
        out.pairs.append([(i, i // g, values), (i + half, (i + half) // g, values)])
    out.lambda_init = v1_lambda_init(layer)
    out.post_scale = 1 - out.lambda_init
    out.lam = v1_lambda(w, p, layer).expand(half, n)
    out.norm_epsilon = c["rms_norm_eps"]
    return out


def gpt2_attention(model, layer, x):
    c, w, p = model.config, model.weights, f"h.{layer}.attn."
    h = c["n_head"]
    d = c["n_embd"] // h
    qkv = x @ w[p + "c_attn.weight"] + w[p + "c_attn.bias"]
    q, k, v = (blocks(part, d) for part in qkv.chunk(3, dim=-1))
    scale = d**-0.5 if c.get("scale_attn_weights", True) else 1.0
    if c.get("scale_attn_by_inverse_layer_idx"):
        scale /= layer + 1
    out = Attention("softmax", q, k, v, [[(i, i, [i])] for i in range(h)], w[p + "c_proj.weight"].T, w[p + "c_proj.bias"], scale)
    third = (w[p + "c_attn.weight"].numel() + w[p + "c_attn.bias"].numel()) // 3
    out.parameters = {"q": third, "k": third, "v": third, "o": count(w, p + "c_proj.weight", p + "c_proj.bias"), "lambda": 0}
    return out


def re_paired(attention, pairing):
    """What-if: another pairing of query blocks (core/io/RUN_FILE.md#what-ifs). Each keeps the key block that its own map reads in the
    model, and brings its own value block: the one of its map in V2; in V1, where both maps multiply the two blocks of a
    pair side by side, the first block for a first map and the second for a second."""
    own = {}
    for maps in attention.pairs:
        for m, (query, key, values) in enumerate(maps):
            own[query] = (key, values[m % len(values)])
    heads = len(attention.pairs)
    result = []
    for i in range(heads):
        pair = (i, i + heads) if pairing == "halves" else (2 * i, 2 * i + 1)
        values = [own[b][1] for b in pair]
        side_by_side = len(attention.pairs[i][0][2]) == 2
        result.append([(b, own[b][0], values if side_by_side else [own[b][1]]) for b in pair])
    return result


def softpick(z):
    """Log of what the weights are divided by, and the weights; z [n, n], −∞ where masked. Zuhri et al. 2025, arXiv 2504.20966, as the
    authors' naive_softpick_attn computes it."""
    largest = z.max(dim=-1, keepdim=True).values
    rise = torch.where(torch.isfinite(z), torch.exp(z - largest) - torch.exp(-largest), torch.zeros_like(z))
    total = rise.abs().sum(dim=-1) + 1e-8
    return largest[:, 0] + torch.log(total), torch.relu(rise) / total[:, None]


def lambda_of(attention, head, override):
    lam = attention.lam[head]
    if override is None:
        return lam
    if override == "raw":
        return attention.lam_raw[head]
    return torch.full_like(lam, 1.0 if override == "none" else float(override))


def attend(attention, layer, overrides, x):
    n = x.shape[0]
    q, k = attention.q, attention.k
    if attention.inv_freq is not None:
        q = rope.rotate(q, attention.inv_freq, attention.rope_factor, attention.interleaved)
        k = rope.rotate(k, attention.inv_freq, attention.rope_factor, attention.interleaved)
    row, column = torch.arange(n)[:, None], torch.arange(n)[None, :]
    causal = column <= row
    if attention.window:
        causal = causal & (column > row - attention.window)
    if attention.visible is not None:
        causal = attention.visible
    heads, outputs = [], []
    for i in range(len(attention.pairs)):
        o = overrides.at(layer, i)
        maps_of_head = attention.pairs[i]
        if "pairing" in o:
            maps_of_head = re_paired(attention, o["pairing"])[i]
        visible = causal.clone()
        if "window" in o:  # every key of the past, but for those that neither the window nor the first keys hold
            keys, first = o["window"]
            visible = (column <= row) & ((column > row - keys) | (column < first) | (keys == 0))
        hidden = [key for key in o.get("hide-key", []) if key < n]
        visible[:, hidden] = False
        for alone in torch.nonzero(~visible.any(dim=1)).flatten().tolist():
            visible[alone, alone] = True  # a row that would see nothing keeps its own key
        sink = attention.sinks[i] if attention.sinks else None
        if o.get("normalizer") in ("softmax", "softpick") or o.get("sink") == "off":
            sink = None
        if o.get("normalizer") == "softmax_one":
            sink = 0.0
        picks = o["normalizer"] == "softpick" if "normalizer" in o else attention.softpick
        maps = []
        for query_block, key_block, value_blocks in maps_of_head:
            z_raw = attention.scale * q[query_block] @ k[key_block].T
            if attention.bias is not None:
                z_raw = z_raw + attention.bias[i]
            capped = attention.softcap * torch.tanh(z_raw / attention.softcap) if attention.softcap else z_raw
            z_raw, capped = z_raw.masked_fill(~visible, NEG), capped.masked_fill(~visible, NEG)
            z = capped / float(o.get("temperature", 1.0))
            terms = z if sink is None else torch.cat([z, torch.full((n, 1), sink, dtype=z.dtype)], dim=1)
            lse, a = torch.logsumexp(terms, dim=1), None
            if picks:
                lse, a = softpick(z)
            values = torch.cat([attention.v[b] for b in value_blocks], dim=-1)
            a = torch.exp(z - lse[:, None]) if a is None else a
            maps.append(Map(q[query_block], k[key_block], key_block, z, z_raw, lse, a, values))
        if o.get("second-map") == "off":
            maps = maps[:1]  # w = a¹: nothing differential is left
        contexts = [m.a @ m.values for m in maps]
        lam = None
        if len(maps) == 1:
            w, context = maps[0].a, contexts[0]
        else:
            lam = lambda_of(attention, i, o.get("lambda"))
            first = 0.0 if o.get("first-map") == "off" else 1.0
            w = first * maps[0].a - lam[:, None] * maps[1].a
            context = first * contexts[0] - lam[:, None] * contexts[1]
        gate = attention.gate[i] if attention.gate is not None else None
        if o.get("gate") == "off":
            gate = None
        epsilon = None if o.get("norm") == "off" else attention.norm_epsilon
        y = context if epsilon is None else rms_norm(context, attention.norm_weight, epsilon)
        y = y * attention.post_scale
        if gate is not None:
            y = gate * y
        if o.get("head") == "off":
            y = 0 * y
        if o.get("head") == "mean":
            y = y.mean(dim=0, keepdim=True).expand_as(y)
        outputs.append(y)
        heads.append(Head(maps, lam, w, context, contexts, visible, hidden, gate, epsilon, sink, picks))
    y = torch.cat(outputs, dim=-1) @ attention.output.T
    if attention.output_bias is not None:
        y = y + attention.output_bias
    h = len(heads)
    width = attention.output.shape[1] // h
    columns = attention.output.reshape(-1, h, width).transpose(0, 1)
    alignment = torch.full((h, h), math.nan, dtype=torch.float64)
    for p in range(h):
        for r in range(h):
            if attention.pairs[p][0][2] == attention.pairs[r][0][2]:
                alignment[p, r] = (columns[p] * columns[r]).sum() / (columns[p].norm() * columns[r].norm())
    info = Layer(attention.kind, heads, causal, k.norm(dim=-1), attention.v.norm(dim=-1), alignment, attention.sinks,
                 attention.lambda_init, attention.parameters)
    return y, info


def run(model, ids, what_ifs=()):
    c, w = model.config, model.weights
    n = len(ids)
    gpt2 = model.family == "gpt2"
    layers = c["n_layer"] if gpt2 else c["num_hidden_layers"]
    overrides = Overrides(what_ifs)
    ids = torch.tensor(ids)
    embedding = w["wte.weight"] if gpt2 else w["model.embed_tokens.weight"]
    x = embedding[ids]
    if gpt2:
        x = x + w["wpe.weight"][:n]
    if model.family == "headroom" and c["position"] == "learned":
        x = x + w["model.position_embeddings.weight"][:n]
    trace = Trace([x], None)
    for layer in range(layers):
        if gpt2:
            p, eps = f"h.{layer}.", c["layer_norm_epsilon"]
            normed = layer_norm(x, w[p + "ln_1.weight"], w[p + "ln_1.bias"], eps)
            y, info = attend(gpt2_attention(model, layer, normed), layer, overrides, normed)
            x = x + y
            inner = layer_norm(x, w[p + "ln_2.weight"], w[p + "ln_2.bias"], eps)
            inner = gelu_new(inner @ w[p + "mlp.c_fc.weight"] + w[p + "mlp.c_fc.bias"])
            x = x + inner @ w[p + "mlp.c_proj.weight"] + w[p + "mlp.c_proj.bias"]
        else:
            p, eps = f"model.layers.{layer}.", c["rms_norm_eps"]
            normed = rms_norm(x, w[p + "input_layernorm.weight"], eps)
            family = headroom_attention if model.family == "headroom" else llama_attention
            y, info = attend(family(model, layer, normed), layer, overrides, normed)
            x = x + y
            if p + "mlp.down_proj.weight" in w:
                inner = rms_norm(x, w[p + "post_attention_layernorm.weight"], eps)
                inner = silu(linear(w, p + "mlp.gate_proj", inner)) * linear(w, p + "mlp.up_proj", inner)
                x = x + linear(w, p + "mlp.down_proj", inner)
        trace.residual.append(x)
        trace.layers.append(info)
    if gpt2:
        final = layer_norm(x, w["ln_f.weight"], w["ln_f.bias"], c["layer_norm_epsilon"])
    else:
        final = rms_norm(x, w["model.norm.weight"], c["rms_norm_eps"])
    trace.logits = final @ w.get("lm_head.weight", embedding).T
    return trace
