"""Weights in 8 and 4 bits with scales beside them: a run equals that of the multiplied-out values, bit for bit.

They are multiplied out by torch, and by the functions with which transformers loads such checkpoints.
"""
import dataclasses
import json

import gguf
import h5py
import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from transformers.integrations.finegrained_fp8 import Fp8Dequantize
from transformers.integrations.mxfp4 import convert_moe_packed_tensors

import families
import gguf_models
from command import refused_both_ways
from test_families import token_ids
from test_gguf_families import datasets

CASE = families.case("qwen3", head_dim=16)
COMPRESSED = {"quant_method": "compressed-tensors", "format": "float-quantized",
              "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float", "strategy": "channel"}}}}
INT8 = {**COMPRESSED, "format": "int-quantized"}


def spread(scales, rows, columns, block):
    grown = scales.repeat_interleave(block[0], 0).repeat_interleave(block[1], 1)
    return grown[:rows, :columns]


def blocks(tensor, size, block, dtype, scale_dtype=torch.float32):
    """(stored, scales, values): each block's largest value becomes the type's."""
    rows, columns = tensor.shape
    grid = [-(-extent // b) for extent, b in zip((rows, columns), block)]
    scales = torch.empty(grid)
    for i in range(grid[0]):
        for j in range(grid[1]):
            scales[i, j] = tensor[i * block[0]:(i + 1) * block[0], j * block[1]:(j + 1) * block[1]].abs().max() / size
    scales = scales.to(scale_dtype)
    grown = spread(scales.float(), rows, columns, block)
    stored = (tensor / grown).round().to(dtype) if dtype == torch.int8 else (tensor / grown).to(dtype)
    return stored, scales, stored.float() * grown


def pairs(tensor):
    """MXFP4's two tensors of random nibbles, of about the size of the given one, and what transformers makes of them."""
    rows, columns = tensor.shape
    generator = torch.Generator().manual_seed(rows * columns)
    packed = torch.randint(0, 256, (1, rows, columns // 32, 16), generator=generator).to(torch.uint8)
    scales = torch.randint(122, 126, (1, rows, columns // 32), generator=generator).to(torch.uint8)
    values = convert_moe_packed_tensors(packed, scales, dtype=torch.float32)[0].T
    return packed[0], scales[0], values


E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
# name: (quantization_config, what makes (stored, scales, values), ending of the scales, their shape)
FORMS = {
    "blocks": ({"quant_method": "fp8", "weight_block_size": [20, 12], "activation_scheme": "dynamic"},
               lambda t: blocks(t, 448, (20, 12), E4M3), "_scale_inv"),
    "blocks that divide": ({"quant_method": "fp8", "activation_scheme": "dynamic"},
                           lambda t: blocks(t, 448, (16, 16), E4M3, torch.bfloat16), "_scale_inv"),
    "one scale": (COMPRESSED, lambda t: blocks(t, 57344, t.shape, E5M2), "_scale"),
    "rows": (COMPRESSED, lambda t: blocks(t, 448, (1, t.shape[1]), E4M3, torch.bfloat16), "_scale"),
    "int8": (INT8, lambda t: blocks(t, 127, (1, t.shape[1]), torch.int8), "_scale"),
    "mxfp4": ({"quant_method": "mxfp4"}, pairs, "_scales"),
}


def write(folder, form):
    """folder/packed and folder/plain; returns the values of one packed weight as stored, scales and product."""
    quantization, pack, ending = FORMS[form]
    weights = families.write(folder / "plain", CASE, 31)
    packed, plain, one = {}, {}, None
    for name, tensor in weights.items():
        if not name.endswith("_proj.weight") or (form == "mxfp4" and tensor.shape[1] % 32):
            packed[name] = plain[name] = tensor.float()
            continue
        stored, scales, values = pack(tensor.float())
        if form == "one scale":
            scales = scales.reshape(() if "q_proj" in name else (1,))
        packed[name + ("_blocks" if form == "mxfp4" else "")], packed[name + ending], plain[name] = stored, scales, values
        packed[name.removesuffix("weight") + "input_scale"] = torch.ones(())
        one = one if one is not None else (stored, scales, values)
    (folder / "packed").mkdir()
    for side, tensors in ("plain", plain), ("packed", packed):
        save_file({n: t.contiguous() for n, t in tensors.items()}, folder / side / "model.safetensors")
    (folder / "packed" / "config.json").write_text(json.dumps({**CASE.config, "quantization_config": quantization}))
    return one


@pytest.mark.parametrize("form", FORMS)
def test_a_packed_model_is_that_of_its_products(analyze, tmp_path, form):
    stored, scales, values = write(tmp_path, form)
    if form == "blocks that divide":
        by_transformers = Fp8Dequantize(None)._dequantize_one(stored, scales.float(), torch.float32)
        assert torch.equal(by_transformers, values)
    ids = token_ids(CASE.n, 5, CASE.config["vocab_size"])
    for dtype in ("float64", "float32"):
        told = {}
        for side in ("plain", "packed"):
            told[side] = analyze(tmp_path / side, ids, tmp_path / f"{side}.h5", "--force", "--dtype", dtype, "--hidden").stdout
        plain, packed = datasets(tmp_path / "plain.h5"), datasets(tmp_path / "packed.h5")
        assert plain.keys() == packed.keys()
        for name, expected in plain.items():
            assert np.array_equal(expected, packed[name], equal_nan=expected.dtype.kind == "f"), name
        assert ("activations are not rounded" in told["packed"]) == form.startswith("blocks") and "warning" not in told["plain"]


def test_weights_packed_otherwise_are_refused_with_a_way_out(command, tmp_path):
    write(tmp_path, "rows")
    path = tmp_path / "packed" / "config.json"
    for quantization, named in (({"quant_method": "gptq", "bits": 4}, "gptq"), ({"quant_method": "awq"}, "awq"),
                                ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "bitsandbytes"),
                                ({**COMPRESSED, "format": "pack-quantized"}, "pack-quantized"),
                                ({**COMPRESSED, "transform_config": {"rotation": 1}}, "rotated")):
        path.write_text(json.dumps({**CASE.config, "quantization_config": quantization}))
        refused_both_ways(command, 4, [named, "dequantize()", "GGUF"], "analyze", tmp_path / "packed", "--ids", "1", "-o",
                          tmp_path / "run.h5")


def test_scales_that_do_not_fit_are_named(command, tmp_path):
    write(tmp_path, "blocks that divide")
    from safetensors.torch import load_file

    file = tmp_path / "packed" / "model.safetensors"
    tensors = load_file(file)
    name = "model.layers.1.self_attn.k_proj.weight_scale_inv"
    save_file({**tensors, name: torch.ones(3, 2)}, file)
    refused_both_ways(command, 3, [name, "[3, 2]"], "analyze", tmp_path / "packed", "--ids", "1", "-o", tmp_path / "run.h5")
    save_file({**tensors, name.replace("_scale_inv", "_zero_point"): torch.ones(1)}, file)
    refused_both_ways(command, 4, ["zero point", "k_proj"], "analyze", tmp_path / "packed", "--ids", "1", "-o", tmp_path / "run.h5")


def ggml_blocks(blocks, scales):
    """Published pairs as ggml has them: a scale before 16 bytes, of which byte j holds elements j and j + 16."""
    values = torch.stack([blocks & 15, blocks >> 4], -1).flatten(-2)  # [E, rows, G, 32] in their order
    packed = values[..., :16] | values[..., 16:] << 4
    return torch.cat([scales.unsqueeze(-1), packed], -1).flatten(-2).contiguous().numpy()


def gguf_of_pairs(path, case, plain, packed):
    """What the converter makes of the published form: gate and up apart, their blocks in ggml's order."""
    case = dataclasses.replace(case, config={"rms_norm_eps": 1e-5, **case.config})
    writer = gguf.GGUFWriter(str(path), "gpt-oss")
    gguf_models.add_numbers(writer, case)
    gguf_models.add_windows(writer, case.config)
    gguf_models.add_rotation(writer, case, gguf_models.FORMATS["gpt_oss"])
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.GPT_OSS, case.config["num_hidden_layers"])
    rest = {name: tensor for name, tensor in plain.items() if not name.endswith(("experts.gate_up_proj", "experts.down_proj"))}
    for name, tensor in gguf_models.converted(rest, case, gguf_models.FORMATS["gpt_oss"]).items():
        writer.add_tensor(names.get_name(name, try_suffixes=(".weight", ".bias")), np.ascontiguousarray(tensor.float().numpy()))
    for layer in range(case.config["num_hidden_layers"]):
        base = f"model.layers.{layer}.mlp.experts."
        for part, own, rows in (("gate_up_proj", "gate", slice(0, None, 2)), ("gate_up_proj", "up", slice(1, None, 2)), ("down_proj", "down", slice(None))):
            data = ggml_blocks(packed[base + part + "_blocks"][:, rows], packed[base + part + "_scales"][:, rows])
            writer.add_tensor(f"blk.{layer}.ffn_{own}_exps.weight", data, raw_dtype=gguf.GGMLQuantizationType.MXFP4)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_experts_of_gpt_oss_in_mxfp4(analyze, tmp_path):
    """Pairs of [E, rows, G, 16] and [E, rows, G], as published, the same values plain by transformers' own conversion, and in GGUF."""
    case = families.case("gpt_oss mxfp4", num_local_experts=3, num_experts_per_tok=2, head_dim=16, sliding_window=10, hidden_size=64,
                         intermediate_size=32, num_hidden_layers=2, rope_scaling=families.GPT_OSS_YARN, rms_norm_eps=2.0**-17)
    plain = {name: tensor.float() for name, tensor in families.write(tmp_path / "random", case, 3).items()}
    packed = dict(plain)
    generator = torch.Generator().manual_seed(4)
    for name in [name for name in plain if name.endswith(("experts.gate_up_proj", "experts.down_proj"))]:
        experts, columns, rows = packed.pop(name).shape
        blocks = torch.randint(0, 256, (experts, rows, columns // 32, 16), dtype=torch.uint8, generator=generator)
        scales = torch.randint(122, 127, (experts, rows, columns // 32), dtype=torch.uint8, generator=generator)
        packed |= {name + "_blocks": blocks, name + "_scales": scales}
        plain[name] = convert_moe_packed_tensors(blocks, scales, dtype=torch.float32)
    config = {"plain": {}, "packed": {"quantization_config": {"quant_method": "mxfp4"}}}
    for folder, tensors in (("plain", plain), ("packed", packed)):
        (tmp_path / folder).mkdir()
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, tmp_path / folder / "model.safetensors")
        (tmp_path / folder / "config.json").write_text(json.dumps(case.config | config[folder]))
    gguf_of_pairs(tmp_path / "model.gguf", case, plain, packed)
    for path in (tmp_path / "plain", tmp_path / "packed", tmp_path / "model.gguf"):
        analyze(path, range(3, 40), tmp_path / f"{path.stem}.h5", "--hidden", "--dtype", "float64")
    with h5py.File(tmp_path / "plain.h5") as a, h5py.File(tmp_path / "packed.h5") as b, h5py.File(tmp_path / "model.h5") as c:
        for name in ("hidden/logits", "hidden/residual", "sink_score", "rows/context_rms"):
            assert np.array_equal(a[name][()], b[name][()], equal_nan=True), name
            assert np.array_equal(a[name][()], c[name][()], equal_nan=True), name
        assert np.abs(a["hidden/logits"][()]).max() > 0.1
