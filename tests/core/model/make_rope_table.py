"""Prints rope_table.h: the rotary frequencies that the Python package transformers computes, in its float32.

Run: python make_rope_table.py > rope_table.h
"""

import json

import torch
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

DIM = 16
PAIRS = DIM // 2
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 256}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128}
LONGROPE = {"rope_type": "longrope", "original_max_position_embeddings": 64,
            "short_factor": [1.0 + 0.125 * i for i in range(PAIRS)],
            "long_factor": [1.5 + 2.0 * i for i in range(PAIRS)]}
# name, theta, max_position_embeddings, rope_scaling, length
CASES = [
    ("default", 10000.0, 512, None, 64),
    ("linear", 10000.0, 512, {"rope_type": "linear", "factor": 4.0}, 64),
    ("dynamic, short", 10000.0, 128, {"rope_type": "dynamic", "factor": 2.0}, 64),
    ("dynamic, at the limit", 10000.0, 128, {"rope_type": "dynamic", "factor": 2.0}, 128),
    ("dynamic, beyond", 10000.0, 128, {"rope_type": "dynamic", "factor": 2.0}, 300),
    ("llama3", 500000.0, 2048, LLAMA3, 64),
    ("llama3, wide band", 10000.0, 2048, LLAMA3 | {"high_freq_factor": 999.0, "original_max_position_embeddings": 7000,
                                                   "low_freq_factor": 1.125, "factor": 3.0}, 64),
    ("llama3, narrow band", 10000.0, 2048, LLAMA3 | {"low_freq_factor": 2.0, "high_freq_factor": 2.5, "factor": 3.0}, 64),
    ("yarn", 10000.0, 512, YARN, 64),
    ("yarn, not truncated", 10000.0, 512, YARN | {"truncate": False}, 64),
    ("yarn, other band", 1000000.0, 512, YARN | {"beta_fast": 16.0, "beta_slow": 2.0}, 64),
    ("yarn, mscale", 10000.0, 512, YARN | {"mscale": 0.707, "mscale_all_dim": 1.2}, 64),
    ("yarn, given attention factor", 10000.0, 512, YARN | {"attention_factor": 1.25}, 64),
    ("yarn, no stretch", 10000.0, 512, YARN | {"factor": 1.0, "original_max_position_embeddings": 511}, 64),
    ("longrope, short", 10000.0, 256, LONGROPE, 64),
    ("longrope, long", 10000.0, 256, LONGROPE, 65),
    ("longrope, given factor", 10000.0, 256, LONGROPE | {"factor": 2.0}, 200),
    ("longrope, given attention factor", 10000.0, 256, LONGROPE | {"attention_factor": 1.5}, 200),
]


def spell(values):
    return ",\n      ".join(
        ", ".join(float(v).hex() + "F" for v in values[start : start + 4]) for start in range(0, len(values), 4))


print("// Made by make_rope_table.py from the Python package transformers. Constants.")
print("#pragma once\n\n#include <array>\n#include <cstdint>\n\nnamespace headroom::test {\n")
print(f"inline constexpr std::int64_t kRopeTableDim = {DIM};\n")
print("// `powers` are θ^(2i/r) for the θ that the length leads to, from torch.pow; `inv_freq` is transformers' result.")
print("struct RopeCase {\n  const char* name;\n  double theta;\n  std::int64_t max_positions;\n  const char* scaling;"
      "  // JSON, null for none\n  std::int64_t length;\n  double scaled_theta;\n"
      f"  std::array<float, {PAIRS}> powers, inv_freq;\n  double attention_factor;\n}};\n")
print("inline constexpr std::array kRopeCases = {")
for name, theta, max_positions, scaling, length in CASES:
    config = LlamaConfig(head_dim=DIM, hidden_size=DIM, num_attention_heads=1, max_position_embeddings=max_positions,
                         rope_parameters=dict(scaling or {"rope_type": "default"}, rope_theta=theta))
    if scaling is None:
        inv_freq, attention_factor = LlamaRotaryEmbedding.compute_default_rope_parameters(config)
    else:
        inv_freq, attention_factor = ROPE_INIT_FUNCTIONS[scaling["rope_type"]](config, "cpu", seq_len=length)
    scaled_theta = theta
    if scaling and scaling["rope_type"] == "dynamic" and length > max_positions:
        scaled_theta = theta * (scaling["factor"] * length / max_positions - (scaling["factor"] - 1)) ** (DIM / (DIM - 2))
    powers = scaled_theta ** (torch.arange(0, DIM, 2, dtype=torch.float32) / DIM)
    print(f'    RopeCase{{\n      "{name}", {theta!r}, {max_positions},\n      R"({json.dumps(scaling)})",')
    print(f"      {length}, {scaled_theta!r},\n      {{{spell(powers.tolist())}}},")
    print(f"      {{{spell(inv_freq.tolist())}}},\n      {attention_factor!r}}},")
print("};\n\n}  // namespace headroom::test")
