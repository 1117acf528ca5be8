"""Training of the `headroom` family in plain PyTorch: a batched model whose gradients come from autograd, AdamW, clipping and the
learning-rate schedule. What the program's own training is compared with, step by step. Imports only; nothing runs here.

A model is a dict of leaf tensors under the names of the checkpoint folder, so that `safetensors.torch.load_file` gives one and
`save_file` writes one. Equations: core/model/ARCHITECTURES.md; `forward.py` says them again, independently, for one sequence.
"""
import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F

IGNORED = -100  # a target that adds nothing to the loss

# Wrong or changed attention, to train with: the names of the what-ifs. None of them is part of a checkpoint's config.
NO_CHANGES = {"pairing": "adjacent", "lambda": "sigmoid"}  # pairing=halves, lambda=none (1), lambda=raw (no sigmoid)


@dataclass
class Model:
    config: dict
    weights: dict  # name → leaf tensor; frozen ones do not require a gradient
    changes: dict

    def trained(self):
        return [w for w in self.weights.values() if w.requires_grad]


def build(config, state, frozen=(), dtype=None, **changes):
    """A model to train from a state dict. `frozen`: ends of names, such as "norm.weight"."""
    assert config["model_type"] == "headroom" and not config.get("rope_scaling")
    weights = {}
    for name, tensor in state.items():
        weights[name] = tensor.detach().clone().to(dtype or tensor.dtype)
        weights[name].requires_grad_(not any(name.endswith(end) for end in frozen))
    return Model(config, weights, NO_CHANGES | changes)


def shapes(config):
    """Name → shape of every tensor of a checkpoint, in the order of the forward pass."""
    c, a = config, config["attention"]
    kind, dim, d, vocabulary = a["kind"], c["hidden_size"], c["head_dim"], c["vocab_size"]
    h, h_kv, f = c["num_attention_heads"], c["num_key_value_heads"], c["intermediate_size"]
    pair = 2 if kind == "diff_v1" else 1
    out = {"model.embed_tokens.weight": (vocabulary, dim)}
    if c["position"] == "learned":
        out["model.position_embeddings.weight"] = (c["max_position_embeddings"], dim)
    for layer in range(c["num_hidden_layers"]):
        p = f"model.layers.{layer}."
        s = p + "self_attn."
        out[p + "input_layernorm.weight"] = (dim,)
        out[s + "q_proj.weight"] = (h * d * (2 if kind.startswith("diff") else 1), dim)
        out[s + "k_proj.weight"] = (pair * h_kv * d, dim)
        out[s + "v_proj.weight"] = (pair * h_kv * d, dim)
        out[s + "o_proj.weight"] = (dim, pair * h * d)
        if kind == "softmax_sink":
            out[s + "sinks"] = (h,)
        if kind == "gated":
            out[s + "g_proj.weight"] = (h if a["gate"] == "headwise" else h * d, dim)
        if kind == "diff_v2":
            out[s + "lambda_proj.weight"] = (h, dim)
        if kind == "diff_v1":
            for name in ("lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2"):
                out[s + name] = (d,)
            if a.get("v1_norm", True):
                out[s + "subln.weight"] = (2 * d,)
        if a.get("qk_norm"):
            out[s + "q_norm.weight"] = out[s + "k_norm.weight"] = (d,)
        if f:
            out[p + "post_attention_layernorm.weight"] = (dim,)
            out[p + "mlp.gate_proj.weight"] = out[p + "mlp.up_proj.weight"] = (f, dim)
            out[p + "mlp.down_proj.weight"] = (dim, f)
    out["model.norm.weight"] = (dim,)
    if not c["tie_word_embeddings"]:
        out["lm_head.weight"] = (vocabulary, dim)
    return out


def initial_state(config, seed, std=0.02):
    """Matrices N(0, std), or N(0, 1/fan-in) where std is None; norms 1, V1's λ vectors N(0, 0.1), sinks 0."""
    g = torch.Generator().manual_seed(seed)
    state = {}
    for name, shape in shapes(config).items():
        if "lambda_q" in name or "lambda_k" in name:
            state[name] = 0.1 * torch.randn(shape, generator=g)
        elif name.endswith("sinks"):
            state[name] = torch.zeros(shape)
        elif len(shape) == 1:
            state[name] = torch.ones(shape)
        else:
            state[name] = (std or shape[1] ** -0.5) * torch.randn(shape, generator=g)
    return state


def rms_norm(x, weight, eps):
    return weight * x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps)


def blocks(x, width):
    """[batch, n, count · width] → [batch, count, n, width]."""
    return x.unflatten(-1, (-1, width)).transpose(-3, -2)


def rotate(x, theta, interleaved):
    """RoPE on x [batch, count, n, d]: the channel pair c turns by position · θ^(−2c/d). Angles in float64."""
    n, d = x.shape[-2:]
    frequencies = theta ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angle = torch.arange(n, dtype=torch.float64)[:, None] * frequencies
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    first, second = (x[..., 0::2], x[..., 1::2]) if interleaved else x.chunk(2, dim=-1)
    turned = (first * cos - second * sin, second * cos + first * sin)
    return torch.stack(turned, dim=-1).flatten(-2) if interleaved else torch.cat(turned, dim=-1)


def mask(n, window, device=None):
    """[n, n], true where key j is visible from row i."""
    row, column = torch.arange(n, device=device)[:, None], torch.arange(n, device=device)[None, :]
    visible = column <= row
    return visible & (column > row - window) if window else visible


def attention(model, layer, x, seen=None):
    """Self-attention of one layer on its normed input x [batch, n, D]. `seen`, a dict, receives maps, values, λ and contexts."""
    c, w, p = model.config, model.weights, f"model.layers.{layer}.self_attn."
    a = c["attention"]
    kind, d, h, h_kv = a["kind"], c["head_dim"], c["num_attention_heads"], c["num_key_value_heads"]
    differential = kind in ("diff_v1", "diff_v2")
    q, k, v = (blocks(F.linear(x, w[p + s + "_proj.weight"]), d) for s in "qkv")
    if a.get("qk_norm"):
        q = rms_norm(q, w[p + "q_norm.weight"], c["rms_norm_eps"])
        k = rms_norm(k, w[p + "k_norm.weight"], c["rms_norm_eps"])
    if c["position"] == "rope":
        q, k = (rotate(t, c["rope_theta"], c.get("rope_interleaved", True)) for t in (q, k))

    query_blocks = range(2 * h if differential else h)
    if kind == "diff_v1":
        r = h // h_kv
        flash = a.get("v1_form", "flash") == "flash"
        keys = [2 * (b // 2 // r) + b % 2 if flash else b // r for b in query_blocks]
        values = [b // 2 // r for b in query_blocks]
        v = v.unflatten(-3, (h_kv, 2)).transpose(-3, -2).flatten(-2)  # the two blocks of a pair side by side
    else:
        keys = values = [b * h_kv // len(query_blocks) for b in query_blocks]

    scale = a.get("scale") or d**-0.5
    z = scale * (q @ k[..., keys, :, :].transpose(-2, -1))
    z = z.masked_fill(~mask(x.shape[-2], a.get("window"), x.device), -math.inf)
    if kind in ("softmax_one", "softmax_sink"):
        sink = w[p + "sinks"] if kind == "softmax_sink" else z.new_zeros(h)
        z = torch.cat([z, sink[:, None, None].expand(*z.shape[:-1], 1)], dim=-1)
        maps = torch.softmax(z, dim=-1)[..., :-1]
    else:
        maps = torch.softmax(z, dim=-1)
    parts = maps @ v[..., values, :, :]

    lam = None
    if differential:
        halves = model.changes["pairing"] == "halves"
        first, second = (slice(0, h), slice(h, None)) if halves else (slice(0, None, 2), slice(1, None, 2))
        lam = lambda_of(model, layer, x)
        context = parts[..., first, :, :] - lam * parts[..., second, :, :]
        y = context
        if kind == "diff_v1":
            if a.get("v1_norm", True):
                y = rms_norm(y, w[p + "subln.weight"], 1e-5)
            y = y * (1 - lambda_init(layer))
    else:
        y = context = parts
    if kind == "gated":
        g = torch.sigmoid(F.linear(x, w[p + "g_proj.weight"]))
        y = y * blocks(g, 1 if a["gate"] == "headwise" else d)
    if seen is not None:
        seen.update(maps=maps, values=v, value_blocks=values, parts=parts, context=context, logits=z, lam=lam)
        if differential:
            seen["net"] = maps[..., first, :, :] - lam * maps[..., second, :, :]
    return F.linear(y.transpose(-3, -2).flatten(-2), w[p + "o_proj.weight"])


def lambda_init(layer):
    return 0.8 - 0.6 * math.exp(-0.3 * layer)


def lambda_of(model, layer, x):
    """λ, to multiply contexts [batch, heads, n, channels]."""
    w, p = model.weights, f"model.layers.{layer}.self_attn."
    if model.changes["lambda"] == "none":
        return 1.0
    if model.config["attention"]["kind"] == "diff_v1":
        terms = [torch.exp((w[p + "lambda_q" + m] * w[p + "lambda_k" + m]).sum()) for m in "12"]
        return terms[0] - terms[1] + lambda_init(layer)
    raw = F.linear(x, w[p + "lambda_proj.weight"]).transpose(-2, -1)[..., None]
    return raw if model.changes["lambda"] == "raw" else torch.sigmoid(raw)


def residuals(model, ids, seen=None):
    """The residual stream before the first layer and after each, for ids [batch, n]. `seen`, a list, receives a dict per layer."""
    c, w = model.config, model.weights
    x = w["model.embed_tokens.weight"][ids]
    if c["position"] == "learned":
        x = x + w["model.position_embeddings.weight"][: ids.shape[-1]]
    out = [x]
    for layer in range(c["num_hidden_layers"]):
        p = f"model.layers.{layer}."
        facts = None if seen is None else {}
        x = x + attention(model, layer, rms_norm(x, w[p + "input_layernorm.weight"], c["rms_norm_eps"]), facts)
        if c["intermediate_size"]:
            inner = rms_norm(x, w[p + "post_attention_layernorm.weight"], c["rms_norm_eps"])
            gate, up = (F.linear(inner, w[p + f"mlp.{m}_proj.weight"]) for m in ("gate", "up"))
            x = x + F.linear(F.silu(gate) * up, w[p + "mlp.down_proj.weight"])
        out.append(x)
        if seen is not None:
            seen.append(facts)
    return out


def logits(model, ids, seen=None):
    w = model.weights
    head = w["model.embed_tokens.weight"] if model.config["tie_word_embeddings"] else w["lm_head.weight"]
    return F.linear(rms_norm(residuals(model, ids, seen)[-1], w["model.norm.weight"], model.config["rms_norm_eps"]), head)


def next_token_loss(model, ids):
    """Mean cross-entropy in nats over all positions; ids [batch, n + 1] are inputs and targets in one."""
    return F.cross_entropy(logits(model, ids[..., :-1]).flatten(0, -2), ids[..., 1:].flatten(), ignore_index=IGNORED)


def regression_loss(model, ids, targets):
    """Mean square error of what the layers add to the embedding, over all positions and channels; targets [batch, n, D]."""
    x = residuals(model, ids)
    return F.mse_loss(x[-1] - x[0], targets)


def adamw(model, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    """torch.optim.AdamW; only tensors of two or more dimensions decay. The learning rate is set at every step."""
    matrices = [w for w in model.trained() if w.dim() >= 2]
    vectors = [w for w in model.trained() if w.dim() < 2]
    groups = [{"params": matrices, "weight_decay": weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW([g for g in groups if g["params"]], lr=0.0, betas=betas, eps=eps)


def learning_rate(step, steps, peak, warm_up=0, final=1.0):
    """At the 0-based step: linear from peak/warm_up to peak over the first `warm_up` steps, then a cosine to final · peak."""
    if step < warm_up:
        return peak * (step + 1) / warm_up
    progress = (step - warm_up) / max(1, steps - warm_up)
    return peak * (final + (1 - final) * 0.5 * (1 + math.cos(math.pi * progress)))


def train_step(model, optimizer, loss_of, rate, clip=None):
    """One step on `loss_of(model)`; returns loss and gradient norm (before clipping), both as they were before the step."""
    optimizer.zero_grad(set_to_none=True)
    loss = loss_of(model)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_([w for w in model.trained() if w.grad is not None], clip or math.inf)
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.step()
    return loss.item(), norm.item()
