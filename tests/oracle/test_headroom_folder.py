"""core/model/ARCHITECTURES.md as its reader takes it: the example runs as it stands there and its model is PyTorch's, the table of
tensors makes folders that open, and every key of config.json is one that the program reads."""
import json
import pathlib
import re
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file, save_file

import forward
import quantities
from compare import Comparison

DOCUMENT = (pathlib.Path(__file__).resolve().parents[2] / "core" / "model" / "ARCHITECTURES.md").read_text()
SECTION = DOCUMENT.split("## The headroom checkpoint folder")[1].split("\n## ")[0]
(EXAMPLE,) = re.findall(r"```python\n(.*?)```", SECTION, re.S)
SIZES = {"V": 31, "D": 24, "F": 20, "h": 4, "h_kv": 2, "d": 6}


def table(header):
    """Cells of the table whose header row begins so, without the header."""
    lines = SECTION[SECTION.index(header):].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:lines.index("", 1) if "" in lines[1:] else None]]


def test_the_example_writes_a_model_that_is_pytorchs(analyze, tmp_path):
    assert len(EXAMPLE.splitlines()) <= 26
    subprocess.run([sys.executable, "-c", EXAMPLE], cwd=tmp_path, check=True)
    folder = tmp_path / "my_model"
    config = json.loads((folder / "config.json").read_text())
    weights = {name: tensor.double() for name, tensor in load_file(folder / "model.safetensors").items()}
    ids = [(7 * i * i + 3) % config["vocab_size"] for i in range(40)]
    expected = quantities.compute(forward.run(forward.Model("headroom", config, weights), ids), ids)
    for dtype in ("float64", "float32"):
        analyze(folder, ids, tmp_path / f"{dtype}.h5", "--dtype", dtype, "--hidden", "--exact-maps")
        comparison = Comparison(tmp_path / f"{dtype}.h5", expected, dtype)
        comparison.all()
        comparison.finish()


def shape(text):
    """"[2h·d, D]" → numbers."""
    def factor(part):
        return int(part) if part.isdigit() else SIZES[part]

    def size(product):
        result = 1
        for part in product.split("·"):
            number, name = re.fullmatch(r"(\d*)(\w*)", part.strip()).groups()
            result *= (int(number) if number else 1) * (factor(name) if name else 1)
        return result

    return [size(product) for product in text.strip("[] ").split(",")]


def tensors_of(kind, gate=None):
    """Of one layer, by the table; q_proj, k_proj and v_proj, o_proj and further ones."""
    (row,) = [row for row in table("| kind | q_proj") if kind in row[0].split(", ")]
    q, kv, o, further = (re.findall(r"\[[^\]]*\]", cell) for cell in row[1:])
    shapes = {"q_proj.weight": q[0], "k_proj.weight": kv[0], "v_proj.weight": kv[0], "o_proj.weight": o[0]}
    names = re.findall(r"`([\w.]+)`", row[4])
    names = [name for name in names if name != "v1_norm"]
    if kind == "gated":
        shapes["g_proj.weight"] = further[0 if gate == "headwise" else 1]
    elif kind == "diff_v1":
        shapes.update({name: further[0] for name in names if name.startswith("lambda_")} | {"subln.weight": further[1]})
    else:
        shapes.update(dict(zip(names, further, strict=True)))
    return {name: shape(text) for name, text in shapes.items()}


@pytest.mark.parametrize(("kind", "gate"), [(kind, None) for kind in ("softmax", "softmax_one", "softmax_sink", "softpick", "diff_v2", "diff_v1")]
                         + [("gated", "headwise"), ("gated", "elementwise")])
def test_the_table_of_tensors_makes_a_folder_of_every_kind(command, tmp_path, kind, gate):
    s = SIZES
    names = {"model.embed_tokens.weight": [s["V"], s["D"]], "model.norm.weight": [s["D"]], "lm_head.weight": [s["V"], s["D"]],
             "model.layers.0.input_layernorm.weight": [s["D"]]}
    names |= {"model.layers.0.self_attn." + name: size for name, size in tensors_of(kind, gate).items()}
    save_file({name: torch.full(size, 0.1) for name, size in names.items()}, tmp_path / "model.safetensors")
    config = {"model_type": "headroom", "vocab_size": s["V"], "hidden_size": s["D"], "intermediate_size": 0, "num_hidden_layers": 1,
              "num_attention_heads": s["h"], "num_key_value_heads": s["h_kv"], "head_dim": s["d"],
              "attention": {"kind": kind} | ({"gate": gate} if gate else {})}
    (tmp_path / "config.json").write_text(json.dumps(config))
    report = command("inspect", tmp_path, "--json")
    assert report.code == 0 and report.json["attention"] == [kind] and report.json["warnings"] == [], report


DEFAULTS = {"rms_norm_eps": 1e-5, "hidden_act": "silu", "position": "rope", "rope_interleaved": True, "rope_theta": 10000.0,
            "rope_scaling": None, "rope_parameters": None, "tie_word_embeddings": False, "lm_head": True, "bos_token_id": 1,
            "max_position_embeddings": 2048, "training": {"note": 1}, "attention.v1_form": "flash", "attention.v1_norm": True,
            "attention.qk_norm": False, "attention.shared_query_key": False, "attention.scale": None, "attention.window": None,
            "attention.chunk": None, "attention.always_visible": None,
            "attention.gate": None}


def test_every_key_of_the_table_is_read_and_others_are_refused(command, tmp_path):
    subprocess.run([sys.executable, "-c", EXAMPLE], cwd=tmp_path, check=True)
    file = tmp_path / "my_model" / "config.json"
    config = json.loads(file.read_text())
    keys = [key for row in table("| key | default | meaning |") for key in re.findall(r"`([\w.]+)`", row[0])]
    assert len(keys) == len(set(keys)) and set(keys) >= set(config) - {"attention"}
    changed = json.loads(file.read_text())
    for key in keys:
        inner, name = (changed["attention"], key.split(".")[1]) if "." in key else (changed, key)
        if name not in inner:
            inner[name] = DEFAULTS[key]
    file.write_text(json.dumps(changed))
    plain = command("inspect", tmp_path / "my_model", "--json")
    assert plain.code == 0 and plain.json["warnings"] == [], plain
    for wrong in ({"no_such_key": 1}, {"attention": {**config["attention"], "no_such_key": 1}}):
        file.write_text(json.dumps(config | wrong))
        refused = command("inspect", tmp_path / "my_model")
        assert refused.code == 4 and "no_such_key" in refused.errors, refused
    file.write_text(json.dumps(config | {"_comment": "for a person"}))
    assert command("inspect", tmp_path / "my_model").code == 0
