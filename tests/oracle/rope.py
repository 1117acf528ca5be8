"""Rotary frequencies (core/model/ARCHITECTURES.md#rotary-embedding), written from the text in float64. Independent of the program."""
import math

import torch


def _yarn_mscale(factor, mu):
    return 1.0 if factor <= 1 else 0.1 * mu * math.log(factor) + 1.0


def inverse_frequencies(theta, dim, length, max_positions, scaling):
    """Returns (inv_freq [dim/2], factor on cos and sin)."""
    exponents = torch.arange(0, dim, 2, dtype=torch.float64) / dim
    plain = theta ** -exponents
    kind = (scaling or {}).get("rope_type", (scaling or {}).get("type", "default"))
    if kind == "default":
        return plain, 1.0
    if kind == "linear":
        return plain / scaling["factor"], 1.0
    if kind == "dynamic":
        if length <= max_positions:
            return plain, 1.0
        stretch = scaling["factor"] * length / max_positions - (scaling["factor"] - 1)
        return (theta * stretch ** (dim / (dim - 2))) ** -exponents, 1.0
    if kind == "llama3":
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        original, factor = scaling["original_max_position_embeddings"], scaling["factor"]
        wavelength = 2 * math.pi / plain
        s = (original / wavelength - low) / (high - low)
        blended = (1 - s) * plain / factor + s * plain
        result = torch.where(wavelength > original / low, plain / factor, blended)
        return torch.where(wavelength < original / high, plain, result), 1.0
    if kind == "yarn":
        original, factor = scaling["original_max_position_embeddings"], scaling["factor"]

        def corr(rotations):
            return dim * math.log(original / (2 * math.pi * rotations)) / (2 * math.log(theta))

        low, high = corr(scaling.get("beta_fast", 32)), corr(scaling.get("beta_slow", 1))
        if scaling.get("truncate", True):
            low, high = math.floor(low), math.ceil(high)
        low, high = max(low, 0), min(high, dim - 1)
        if low == high:
            high += 0.001
        ramp = ((torch.arange(dim // 2, dtype=torch.float64) - low) / (high - low)).clamp(0, 1)
        attention_factor = scaling.get("attention_factor")
        if attention_factor is None:
            if scaling.get("mscale") and scaling.get("mscale_all_dim"):
                attention_factor = _yarn_mscale(factor, scaling["mscale"]) / _yarn_mscale(factor, scaling["mscale_all_dim"])
            else:
                attention_factor = _yarn_mscale(factor, 1.0)
        return plain / factor * ramp + plain * (1 - ramp), attention_factor
    if kind == "longrope":
        original = scaling["original_max_position_embeddings"]
        divisors = torch.tensor(scaling["short_factor" if length <= original else "long_factor"], dtype=torch.float64)
        attention_factor = scaling.get("attention_factor")
        if attention_factor is None:
            ratio = scaling.get("factor", max_positions / original)
            attention_factor = 1.0 if ratio <= 1 else math.sqrt(1 + math.log(ratio) / math.log(original))
        return plain / divisors, attention_factor
    raise ValueError(kind)


def rotate(x, inv_freq, factor, interleaved):
    """x [block, n, d]: every channel pair turns by position · inv_freq."""
    n, d = x.shape[-2:]
    angle = torch.arange(n, dtype=torch.float64)[:, None] * inv_freq
    cos, sin = angle.cos() * factor, angle.sin() * factor
    if interleaved:
        first, second = x[..., 0::2], x[..., 1::2]
    else:
        first, second = x[..., : d // 2], x[..., d // 2 :]
    turned_first, turned_second = first * cos - second * sin, second * cos + first * sin
    if interleaved:
        return torch.stack([turned_first, turned_second], dim=-1).flatten(-2)
    return torch.cat([turned_first, turned_second], dim=-1)
