"""Phi-4-mini-flash (SambaY with differential attention; Ren et al. 2025, arXiv 2507.06607), which transformers does not have: tiny random
checkpoints under the published names, and the forward pass in float64, every recurrence a token after another."""
import json
import math
from dataclasses import dataclass

import torch
from safetensors.torch import save_file

import checkpoints as C
import forward
from forward import Attention, blocks, layer_norm, linear, rms_norm, silu
from further_families import LAMBDAS, causal_softmax, lambda_terms, merged
from what_ifs import Overrides

BASE = {"model_type": "phi4flash", "vocab_size": 53, "hidden_size": 32, "intermediate_size": 40, "num_hidden_layers": 8,
        "num_attention_heads": 8, "num_key_value_heads": 4, "layer_norm_eps": 1e-5, "hidden_act": "silu", "max_position_embeddings": 512,
        "mb_per_layer": 2, "sliding_window": 9, "tie_word_embeddings": True, "mlp_bias": False, "lm_head_bias": False}


@dataclass
class Case:
    name: str
    config: dict
    n: int = 37
    dtype: torch.dtype = torch.float32


def case(name, n=37, dtype=torch.float32, **config):
    merged_config = {**BASE, **config}
    return Case(name, {k: v for k, v in merged_config.items() if v != "absent"}, n, dtype)


CASES = [
    case("phi4flash", 97),
    case("phi4flash one pair of keys, wide state", 60, num_key_value_heads=2, mamba_d_state=5, mamba_dt_rank=3, mamba_expand=3,
         mamba_d_conv=2, mamba_conv_bias=False, mamba_proj_bias=True, layer_norm_eps=1e-3, sliding_window=70),
    case("phi4flash not tied, biases, bf16", 150, torch.bfloat16, num_hidden_layers=4, tie_word_embeddings=False, lm_head_bias=True,
         mlp_bias=True),
]


def kind_of(config, layer):
    """mamba, sliding, full, cross or gmu."""
    middle = config["num_hidden_layers"] // 2
    if layer % 2 == 0:
        return "mamba" if layer <= middle else "gmu"
    return "sliding" if layer < middle else "full" if layer == middle + 1 else "cross"


def sizes_of(config):
    d = config["hidden_size"]
    inner = config.get("mamba_expand", 2) * d
    rank = config.get("mamba_dt_rank", "auto")
    return {"d": d, "inner": inner, "state": config.get("mamba_d_state", 16), "width": config.get("mamba_d_conv", 4),
            "rank": math.ceil(d / 16) if rank == "auto" else rank, "head": d // config["num_attention_heads"]}


def shapes_of(case):
    c, s = case.config, sizes_of(case.config)
    d, f, inner, head = s["d"], c["intermediate_size"], s["inner"], s["head"]
    shapes = {"model.embed_tokens.weight": (c["vocab_size"], d), "model.final_layernorm.weight": (d,), "model.final_layernorm.bias": (d,)}
    if not c["tie_word_embeddings"]:
        shapes["lm_head.weight"] = (c["vocab_size"], d)
    if c["lm_head_bias"]:
        shapes["lm_head.bias"] = (c["vocab_size"],)

    def add(name, out, into, bias):
        shapes[name + ".weight"] = (out, into)
        if bias:
            shapes[name + ".bias"] = (out,)

    for layer in range(c["num_hidden_layers"]):
        p, kind = f"model.layers.{layer}.", kind_of(c, layer)
        for norm in ("input_layernorm", "post_attention_layernorm"):
            shapes |= {f"{p}{norm}.weight": (d,), f"{p}{norm}.bias": (d,)}
        add(p + "mlp.fc1", 2 * f, d, c["mlp_bias"])
        add(p + "mlp.fc2", d, f, c["mlp_bias"])
        p += "attn."
        if kind == "mamba":
            add(p + "in_proj", 2 * inner, d, c.get("mamba_proj_bias", False))
            shapes[p + "conv1d.weight"] = (inner, 1, s["width"])
            if c.get("mamba_conv_bias", True):
                shapes[p + "conv1d.bias"] = (inner,)
            add(p + "x_proj", s["rank"] + 2 * s["state"], inner, False)
            add(p + "dt_proj", inner, s["rank"], True)
            shapes |= {p + "A_log": (inner, s["state"]), p + "D": (inner,)}
            add(p + "out_proj", d, inner, c.get("mamba_proj_bias", False))
        elif kind == "gmu":
            add(p + "in_proj", inner, d, c.get("mamba_proj_bias", False))
            add(p + "out_proj", d, inner, c.get("mamba_proj_bias", False))
        else:
            rows = d if kind == "cross" else d + 2 * c["num_key_value_heads"] * head
            add(p + "Wqkv", rows, d, True)
            add(p + "out_proj", d, d, True)
            shapes |= {f"{p}inner_cross_attn.{name}": (head,) for name in LAMBDAS}
            shapes[p + "inner_cross_attn.subln.weight"] = (2 * head,)
    return shapes


def write(folder, case, seed):
    """config.json and model.safetensors; returns the model. A_log and λ stay float32, as in the published file."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = C.scaled_weights({name: torch.empty(shape, device="meta") for name, shape in shapes_of(case).items()}, seed)
    weights = {name: t.to(torch.float32 if "A_log" in name or "lambda_" in name else case.dtype) for name, t in weights.items()}
    (folder / "config.json").write_text(json.dumps(case.config, indent=1))
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return {name: t.double() for name, t in weights.items()}


def mamba(case, w, p, x):
    """(output, what the scan gives before the gate)."""
    s = sizes_of(case.config)
    inner, state, rank, width = s["inner"], s["state"], s["rank"], s["width"]
    u, z = linear(w, p + "in_proj", x).split(inner, dim=1)
    kernel, padded = w[p + "conv1d.weight"][:, 0], torch.cat([torch.zeros(width - 1, inner), u])
    u = torch.stack([(padded[t:t + width] * kernel.T).sum(dim=0) for t in range(len(x))])
    u = silu(u + w.get(p + "conv1d.bias", torch.zeros(inner)))
    step, into, out = linear(w, p + "x_proj", u).split([rank, state, state], dim=1)
    delta = torch.nn.functional.softplus(linear(w, p + "dt_proj", step))
    decay, memory, scanned = -torch.exp(w[p + "A_log"]), torch.zeros(inner, state), []
    for t in range(len(x)):
        memory = torch.exp(delta[t][:, None] * decay) * memory + (delta[t] * u[t])[:, None] * into[t][None, :]
        scanned.append(memory @ out[t] + w[p + "D"] * u[t])
    y = torch.stack(scanned)
    return linear(w, p + "out_proj", y * silu(z)), y


def attention(case, w, p, layer, x, keys, values):
    """Neighbouring heads are a pair; keys and values are its own or those that it is given."""
    c, head = case.config, sizes_of(case.config)["head"]
    h, h_kv = c["num_attention_heads"], c["num_key_value_heads"]
    projected = linear(w, p + "Wqkv", x)
    q = blocks(projected[:, :h * head], head)
    if keys is None:
        keys, values = (blocks(part, head) for part in projected[:, h * head:].split(h_kv * head, dim=1))
    g = h // h_kv
    pairs = [[(2 * i + m, 2 * (i // g) + m, [2 * (i // g), 2 * (i // g) + 1]) for m in (0, 1)] for i in range(h // 2)]
    inner, init = p + "inner_cross_attn.", forward.v1_lambda_init(layer)
    out = Attention("diff_v1", q, keys, values, pairs, w[p + "out_proj.weight"], w[p + "out_proj.bias"], head**-0.5,
                    window=c["sliding_window"] if kind_of(c, layer) == "sliding" else None,
                    lam=(lambda_terms(w, inner) + init).expand(h // 2, len(x)), norm_weight=w[inner + "subln.weight"], norm_epsilon=1e-5,
                    post_scale=1 - init, lambda_init=init)
    own = 0 if kind_of(c, layer) == "cross" else h_kv * head * (c["hidden_size"] + 1)
    out.parameters = {"q": h * head * (c["hidden_size"] + 1), "k": own, "v": own, "o": c["hidden_size"] * (c["hidden_size"] + 1),
                      "lambda": 4 * head}
    return out


def published_attention(case, w, p, layer, x, keys, values):
    """The same as its authors have it: even and odd heads apart, four products of maps and halves of the values."""
    c, head = case.config, sizes_of(case.config)["head"]
    h, h_kv, n = c["num_attention_heads"], c["num_key_value_heads"], len(x)
    window = c["sliding_window"] if kind_of(c, layer) == "sliding" else None
    q1, q2 = blocks(linear(w, p + "Wqkv", x)[:, :h * head], head).reshape(h // 2, 2, n, head).unbind(1)
    halves = [t.reshape(h_kv // 2, 2, n, head).repeat_interleave(h // h_kv, dim=0).unbind(1) for t in (keys, values)]
    (k1, k2), (v1, v2) = halves
    first, second = causal_softmax(q1, k1, window), causal_softmax(q2, k2, window)
    inner, init = p + "inner_cross_attn.", forward.v1_lambda_init(layer)
    lam = lambda_terms(w, inner) + init
    out = torch.cat([first @ v1, first @ v2], dim=-1) - lam * torch.cat([second @ v1, second @ v2], dim=-1)
    return linear(w, p + "out_proj", merged(rms_norm(out, w[inner + "subln.weight"], 1e-5) * (1 - init)))


def run(case, weights, ids, what_ifs=()):
    """The trace of the forward pass, of which the layers are those with attention."""
    c, w, overrides, eps = case.config, weights, Overrides(what_ifs), case.config["layer_norm_eps"]
    middle = c["num_hidden_layers"] // 2

    def norm(name, h):
        return layer_norm(h, w[name + ".weight"], w[name + ".bias"], eps)

    h = w["model.embed_tokens.weight"][torch.tensor(ids)]
    trace, memory, shared = forward.Trace([h], None), None, (None, None)
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        for layer in range(c["num_hidden_layers"]):
            p, kind = f"model.layers.{layer}.", kind_of(c, layer)
            x = norm(p + "input_layernorm", h)
            if kind == "mamba":
                y, scanned = mamba(case, w, p + "attn.", x)
                memory = scanned if layer == middle else memory
            elif kind == "gmu":
                y = linear(w, p + "attn.out_proj", silu(linear(w, p + "attn.in_proj", x)) * memory)
            else:
                made = attention(case, w, p + "attn.", layer, x, *(shared if kind == "cross" else (None, None)))
                shared = (made.k, made.v) if kind == "full" else shared
                y, info = forward.attend(made, layer, overrides, x)
                trace.layers.append(info)
                if not what_ifs:
                    published = published_attention(case, w, p + "attn.", layer, x, made.k, made.v)
                    assert (y - published).abs().max() <= 1e-12 * published.abs().max(), f"{case.name}: two forms of one layer differ"
            h = h + y
            gate, up = linear(w, p + "mlp.fc1", norm(p + "post_attention_layernorm", h)).chunk(2, dim=1)
            h = h + linear(w, p + "mlp.fc2", up * silu(gate))
            trace.residual.append(h)
    finally:
        torch.set_default_dtype(default)
    head = w["model.embed_tokens.weight"] if c["tie_word_embeddings"] else w["lm_head.weight"]
    trace.logits = norm("model.final_layernorm", h) @ head.T + w.get("lm_head.bias", 0.0)
    return trace
