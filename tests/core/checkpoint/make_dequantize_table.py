"""Prints dequantize_table.h: blocks and the values that the Python packages gguf, numpy and torch decode them to.

Run: python make_dequantize_table.py > dequantize_table.h
"""

import hashlib

import numpy as np
import torch
from gguf import GGMLQuantizationType, quants

SIZES = {"Q4_0": 18, "Q4_1": 20, "Q5_0": 22, "Q5_1": 24, "Q8_0": 34}
# Bytes of a block, and where its halves (e) or floats (f) stand; no scale is one of MXFP4.
GROUPED = {"Q2_K": (84, "e", (80, 82)), "Q3_K": (110, "e", (108,)), "Q4_K": (144, "e", (0, 2)), "Q5_K": (176, "e", (0, 2)),
           "Q6_K": (210, "e", (208,)), "Q8_K": (292, "f", (0,)), "IQ4_NL": (18, "e", (0,)), "IQ4_XS": (136, "e", (0,)), "MXFP4": (17, "", ())}


def block(name: str, random: np.random.Generator) -> bytes:
    """Random bytes whose half-precision fields are ordinary numbers."""
    raw = bytearray(random.integers(0, 256, SIZES[name], dtype=np.uint8).tobytes())
    fields = 2 if name.endswith("_1") else 1
    raw[: 2 * fields] = random.normal(size=fields).astype(np.float16).tobytes()
    return bytes(raw)


def grouped_block(name: str, random: np.random.Generator) -> bytes:
    size, kind, places = GROUPED[name]
    raw = bytearray(random.integers(0, 256, size, dtype=np.uint8).tobytes())
    for place in places:
        field = random.normal(size=1).astype({"e": np.float16, "f": np.float32}[kind]).tobytes()
        raw[place : place + len(field)] = field
    return bytes(raw)


def spell(value: float) -> str:
    """A C++ hexadecimal float without trailing zeros."""
    mantissa, exponent = float(value).hex().split("p")
    return mantissa.rstrip("0").rstrip(".") + "p" + exponent + "F" if value else float(value).hex() + "F"


def digest(values: np.ndarray) -> str:
    """SHA-256 of float32 values, every NaN as 0x7fc00000."""
    bits = values.astype(np.float32).view(np.uint32).copy()
    bits[np.isnan(values)] = 0x7FC00000
    return hashlib.sha256(bits.tobytes()).hexdigest()


print("// Made by make_dequantize_table.py from the Python packages gguf, numpy and torch. Constants.")
print("#pragma once\n\n#include <array>\n#include <string_view>\n")
print('#include "core/checkpoint/tensor_info.h"\n\nnamespace headroom::test {\n')
print("struct BlockCase {\n  DType dtype;\n  std::string_view bytes_hex;\n  std::array<float, 64> values;\n};\n")
print("inline constexpr std::array kBlockCases = {")
generator = np.random.default_rng(2024)
for type_name in SIZES:
    data = block(type_name, generator) + block(type_name, generator)
    rows = np.frombuffer(data, np.uint8).reshape(1, -1)
    decoded = quants.dequantize(rows, GGMLQuantizationType[type_name]).ravel()
    print(f"    BlockCase{{DType::{type_name},")
    half = len(data.hex()) // 2
    print(f'              "{data.hex()[:half]}"\n              "{data.hex()[half:]}",\n              {{')
    for start in range(0, 64, 6):
        print("                  " + ", ".join(f"{spell(v)}" for v in decoded[start : start + 6]) + ",")
    print("              }},")
print("};\n")
print("// SHA-256 of the float32 values of four blocks.")
print("struct GroupedCase {\n  DType dtype;\n  std::string_view bytes_hex, sha256;\n};\n")
print("inline constexpr std::array kGroupedCases = {")
for type_name in GROUPED:
    data = b"".join(grouped_block(type_name, generator) for _ in range(4))
    rows = np.frombuffer(data, np.uint8).reshape(4, -1)
    if type_name == "Q8_K":  # which gguf does not decode: d, then 256 numbers
        decoded = (rows[:, :4].copy().view(np.float32) * rows[:, 4:260].view(np.int8).astype(np.float32)).ravel()
    else:
        decoded = quants.dequantize(rows, GGMLQuantizationType[type_name]).ravel()
    print(f"    GroupedCase{{DType::{type_name},")
    print("\n".join(f'                "{data.hex()[i : i + 100]}"' for i in range(0, len(data.hex()), 100)) + ",")
    print(f'                "{digest(decoded)}"}},')
print("};\n")
print("// SHA-256 of the float32 values of every code in order, NaN as 0x7fc00000.")
print("struct CodeTable {\n  DType dtype;\n  std::string_view sha256;\n};\n")
print("inline constexpr std::array kCodeTables = {")
for type_name, values in {
    "F16": np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float32),
    "BF16": torch.arange(65536).to(torch.uint16).view(torch.bfloat16).float().numpy(),
    **{
        short: torch.arange(256, dtype=torch.uint8).view(getattr(torch, long)).float().numpy()
        for short, long in {
            "F8_E4M3": "float8_e4m3fn",
            "F8_E5M2": "float8_e5m2",
            "F8_E4M3FNUZ": "float8_e4m3fnuz",
            "F8_E5M2FNUZ": "float8_e5m2fnuz",
            "F8_E8M0": "float8_e8m0fnu",
        }.items()
    },
}.items():
    print(f'    CodeTable{{DType::{type_name}, "{digest(values)}"}},')
print("};\n\n}  // namespace headroom::test")
