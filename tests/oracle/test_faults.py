"""Bad input from tests/FAULTS.md: the exit code, one line that names the place, nothing left, nothing changed.

Numbers in names are that document's. Every refusal is asked for twice, as text and with --json.
"""
import json
import os
import shutil
import struct

import gguf
import h5py
import numpy as np
import pytest

import checkpoints as C
from command import is_raw, refused, refused_both_ways, snapshot

CONFIG = C.headroom_config("softmax")


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A checkpoint that opens; tests change copies of it."""
    folder = tmp_path_factory.mktemp("good") / "model"
    model = C.headroom(folder, CONFIG, 5)
    return folder, model


@pytest.fixture
def model(good, tmp_path):
    shutil.copytree(good[0], tmp_path / "model")
    return tmp_path / "model"


def change_config(folder, **values):
    config = json.loads((folder / "config.json").read_text())
    config.update(values)
    (folder / "config.json").write_text(json.dumps(config))


def write_safetensors(path, tensors, data, tail=b""):
    header = tensors if isinstance(tensors, bytes) else json.dumps(tensors).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + data + tail)


def inspect_and_analyze(command, code, words, path, tmp_path):
    """Both commands refuse the same input, and leave everything as it was."""
    before = snapshot(tmp_path)
    refused_both_ways(command, code, words, "inspect", path)
    refused_both_ways(command, code, words, "analyze", path, "--ids", "1,2", "-o", tmp_path / "run.h5")
    assert snapshot(tmp_path) == before


# --- A: files and paths

def test_001_a_path_that_does_not_exist(command, tmp_path):
    (tmp_path / "near").mkdir()
    path = tmp_path / "near" / "far" / "model"
    inspect_and_analyze(command, 5, [str(path), f"hint: the nearest folder that exists is {tmp_path / 'near'}"], path, tmp_path)


def test_002_permission_denied(command, good, public_folder):
    shutil.copytree(good[0], public_folder / "model")
    weights = public_folder / "model" / "model.safetensors"
    weights.chmod(0)
    refused_both_ways(command, 5, ["model.safetensors", "ermission"], "inspect", public_folder / "model", nobody=True)
    weights.chmod(0o644)
    (public_folder / "model").chmod(0)
    refused_both_ways(command, 5, ["ermission", str(public_folder)], "inspect", public_folder / "model", nobody=True)
    (public_folder / "model").chmod(0o755)


def test_003_a_folder_without_a_model_says_what_is_missing(command, tmp_path):
    (tmp_path / "empty").mkdir()
    inspect_and_analyze(command, 3, ["model.safetensors", str(tmp_path / "empty")], tmp_path / "empty", tmp_path)


def test_004_an_empty_file(command, tmp_path):
    (tmp_path / "model.safetensors").touch()
    inspect_and_analyze(command, 3, ["empty", "model.safetensors"], tmp_path / "model.safetensors", tmp_path)


@pytest.mark.parametrize("kind", ["fifo", "/dev/zero", "/dev/full"])
def test_005_what_is_no_regular_file_is_refused_before_reading(command, tmp_path, kind):
    path = kind
    if kind == "fifo":
        path = tmp_path / "fifo"
        os.mkfifo(path)
    inspect_and_analyze(command, 3, ["egular file", str(path)], path, tmp_path)


@pytest.mark.parametrize("target", ["itself", "nowhere"])
def test_006_symlink_loop_and_dangling_link(command, tmp_path, target):
    (tmp_path / "itself").symlink_to(target)
    inspect_and_analyze(command, 5, ["link", str(tmp_path / "itself")], tmp_path / "itself", tmp_path)


ODD_NAMES = {"space": b"my model", "quotes": b"it's \"mine\"", "newline": b"two\nlines", "escape": b"red\x1b[31m\x1b]0;title\x07",
             "right_to_left": "gpj\u202egnp".encode(), "long": b"n" * 255, "not_utf8": b"caf\xe9\xff", "dash": b"-o", "dollar": b"$(id)`id`",
             "percent": b"%s%n%d"}


@pytest.mark.parametrize("name", ODD_NAMES)
def test_007_odd_names_open_and_are_shown_escaped(command, good, tmp_path, name):
    folder = os.path.join(os.fsencode(tmp_path), ODD_NAMES[name])
    shutil.copytree(os.fsencode(good[0]), folder)
    out = os.path.join(os.fsencode(tmp_path), ODD_NAMES[name][:250] + b".h5")
    for arguments in (["inspect", folder], ["analyze", folder, "--ids", "1,2,3", "-o", out]):
        plain = command(*arguments)
        assert plain.code == 0 and plain.err == b"", plain
        assert not [c for c in plain.text if is_raw(c) and c != "\n"], plain
        machine = command(*arguments, "--json", *(["--force"] if "analyze" in arguments else []))
        assert machine.code == 0 and machine.json["path"], machine
    assert os.path.getsize(out) > 10000
    error = refused(command("analyze", folder, "--ids", "1", "-o", out), 2, "exists", "--force")
    assert len(error) == 2
    refused(command("inspect", folder + b"?"), 5)


def test_008_what_was_saved_in_place_of_a_model(command, tmp_path):
    (tmp_path / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:" + "4d" * 32 + "\nsize 99999\n")
    inspect_and_analyze(command, 3, ["LFS", "hint: "], tmp_path / "model.safetensors", tmp_path)
    (tmp_path / "model.safetensors").write_text("<!DOCTYPE html>\n<html><body>404 Not Found</body></html>\n")
    inspect_and_analyze(command, 3, ["web page", "hint: "], tmp_path / "model.safetensors", tmp_path)


def test_008_content_decides_and_not_the_extension(command, model, tmp_path):
    os.rename(model / "model.safetensors", tmp_path / "weights.gguf")
    outcome = command("inspect", tmp_path / "weights.gguf", "--json")
    assert outcome.code == 0 and outcome.json["format"] == "safetensors", outcome


# --- B: safetensors

def test_016_and_018_a_cut_off_file_names_the_tensor(command, model, tmp_path):
    path = model / "model.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[:5000])
    inspect_and_analyze(command, 3, ["model.safetensors", "the file ends before this tensor does"], model, tmp_path)
    error = refused_both_ways(command, 3, [], "inspect", model)
    assert error["tensor"] and error["expected"] and error["found"] and error["file"] == str(path)
    path.write_bytes(whole[:300])
    inspect_and_analyze(command, 3, ["model.safetensors"], model, tmp_path)
    path.write_bytes(whole[:5])
    inspect_and_analyze(command, 3, ["model.safetensors", "8 bytes", "found 5"], model, tmp_path)


def test_028_bytes_after_the_last_tensor_only_with_lenient(command, model, tmp_path):
    with open(model / "model.safetensors", "ab") as file:
        file.write(b"PK\x03\x04 extra")
    inspect_and_analyze(command, 3, ["model.safetensors"], model, tmp_path)
    outcome = command("inspect", model, "--lenient")
    assert outcome.code == 0 and "warning" in outcome.text and "10" in outcome.text, outcome
    assert command("analyze", model, "--ids", "1,2", "-o", tmp_path / "run.h5", "--lenient").code == 0


def test_032_an_unknown_dtype_is_listed_and_refused_where_it_is_needed(command, model, good, tmp_path):
    header, data = {}, b""
    for name, tensor in good[1].weights.items():
        values = tensor.float().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    name = "model.layers.0.self_attn.o_proj.weight"
    header[name]["dtype"] = "Q9"
    write_safetensors(model / "model.safetensors", header, data)
    outcome = command("inspect", model, "--json")
    assert outcome.code == 0 and outcome.json["dtypes"]["Q9"] == 1, outcome
    before = snapshot(tmp_path)
    refused_both_ways(command, 4, [name, "Q9"], "analyze", model, "--ids", "1,2", "-o", tmp_path / "run.h5")
    assert snapshot(tmp_path) == before


def test_names_of_tensors_cannot_write_to_the_terminal(command, tmp_path):
    name = "evil\x1b[2J\u202e\x9b31m\r\n"
    write_safetensors(tmp_path / "model.safetensors", {name: {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, b"\0" * 4)
    outcome = command("inspect", tmp_path)
    assert outcome.code == 0, outcome
    assert not [c for c in outcome.text + outcome.errors if is_raw(c) and c != "\n"], outcome
    assert "evil\\x1B[2J\\u{202E}" in outcome.text
    write_safetensors(tmp_path / "model.safetensors", {name: {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}, b"\0" * 4)
    error = refused_both_ways(command, 3, ["evil\\x1B[2J"], "inspect", tmp_path)
    assert error["tensor"] == name


# --- C: shards and config

@pytest.fixture
def shards(tmp_path):
    C.headroom(tmp_path / "shards", CONFIG, 5, shards=3)
    return tmp_path / "shards"


def test_039_a_missing_shard_is_named_and_the_rest_is_listed(command, shards, tmp_path):
    missing = "model-00002-of-00003.safetensors"
    os.remove(shards / missing)
    before = snapshot(tmp_path)
    outcome = command("inspect", shards)
    refused(outcome, 8, missing)
    assert missing in outcome.text and "model.norm.weight" in outcome.text
    machine = command("inspect", shards, "--json")
    assert machine.code == 8 and len(machine.json["missing_tensors"]) == 7 and "error" not in machine.json
    refused_both_ways(command, 3, [missing, "model.embed_tokens.weight", "hint: "], "analyze", shards, "--ids", "1", "-o",
                      tmp_path / "run.h5")
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("path", ["../model.safetensors", "/etc/passwd", "https://example.com/model.safetensors"])
def test_040_shards_outside_the_folder_are_not_opened(command, shards, tmp_path, path):
    index = json.loads((shards / "model.safetensors.index.json").read_text())
    index["weight_map"]["lm_head.weight"] = path
    (shards / "model.safetensors.index.json").write_text(json.dumps(index))
    inspect_and_analyze(command, 3, [path], shards, tmp_path)


def test_041_a_tensor_that_the_shard_lacks(command, shards, tmp_path):
    index = json.loads((shards / "model.safetensors.index.json").read_text())
    index["weight_map"]["model.layers.9.extra"] = "model-00001-of-00003.safetensors"
    (shards / "model.safetensors.index.json").write_text(json.dumps(index))
    inspect_and_analyze(command, 3, ["model.layers.9.extra", "model-00001-of-00003.safetensors"], shards, tmp_path)


def test_044_config_missing_malformed_or_given(command, model, tmp_path):
    os.rename(model / "config.json", tmp_path / "elsewhere.json")
    listing = command("inspect", model)
    assert listing.code == 0 and "model.embed_tokens.weight" in listing.text and listing.err == b"", listing
    refused_both_ways(command, 3, ["config.json", "--config"], "analyze", model, "--ids", "1", "-o", tmp_path / "run.h5")
    given = command("analyze", model, "--ids", "1", "-o", tmp_path / "run.h5", "--config", tmp_path / "elsewhere.json")
    assert given.code == 0, given
    os.remove(tmp_path / "run.h5")
    (model / "config.json").write_text('{"model_type": "headroom",, }')
    inspect_and_analyze(command, 3, ["config.json", "at byte 26"], model, tmp_path)
    refused_both_ways(command, 5, ["nowhere.json"], "inspect", model, "--config", tmp_path / "nowhere.json")


@pytest.mark.parametrize(("field", "value"), [
    ("num_attention_heads", 0), ("num_attention_heads", -4), ("num_attention_heads", 10**9), ("num_key_value_heads", 0),
    ("num_key_value_heads", 8), ("num_key_value_heads", 3), ("num_hidden_layers", 10**6), ("num_hidden_layers", -1), ("head_dim", 0),
    ("head_dim", 10**18), ("vocab_size", -1), ("hidden_size", 0), ("hidden_size", "32"),
])
def test_045_impossible_sizes_name_the_field(command, model, tmp_path, field, value):
    change_config(model, **{field: value})
    inspect_refusal = command("inspect", model)
    assert inspect_refusal.code == 3 and field in inspect_refusal.errors, inspect_refusal
    before = snapshot(tmp_path)
    refused_both_ways(command, 3, [field], "analyze", model, "--ids", "1", "-o", tmp_path / "run.h5")
    assert snapshot(tmp_path) == before


def test_046_a_shape_that_disagrees_with_the_config(command, model, tmp_path):
    change_config(model, num_key_value_heads=1)
    name = "model.layers.0.self_attn.k_proj.weight"
    error = refused_both_ways(command, 3, [name, "expected [8, 32]", "found [16, 32]"], "analyze", model, "--ids", "1", "-o",
                              tmp_path / "run.h5")
    assert (error["tensor"], error["expected"], error["found"]) == (name, "[8, 32]", "[16, 32]")
    outcome = command("inspect", model, "--json")
    assert outcome.code == 3 and outcome.json["error"]["tensor"] == name and outcome.json["dtypes"] == {"F32": 21}, outcome


def test_046_a_tensor_that_is_not_there(command, good, tmp_path):
    name = "model.layers.1.self_attn.o_proj.weight"
    C.save(tmp_path / "model", CONFIG, {k: v for k, v in good[1].weights.items() if k != name})
    refused_both_ways(command, 3, [name, "[32, 32]"], "analyze", tmp_path / "model", "--ids", "1", "-o", tmp_path / "run.h5")


def test_047_an_unknown_architecture_is_listed_without_a_head_view(command, model, tmp_path):
    change_config(model, model_type="mam\x1bba")
    outcome = command("inspect", model)
    refused(outcome, 4, "mam\\x1Bba", "headroom families")
    assert "model.embed_tokens.weight" in outcome.text and not [c for c in outcome.text if is_raw(c) and c != "\n"]
    machine = command("inspect", model, "--json")
    assert machine.code == 4 and machine.json["error"]["found"] == "mam\x1bba" and machine.json["model_type"] is None
    refused_both_ways(command, 4, ["mam\\x1Bba"], "analyze", model, "--ids", "1", "-o", tmp_path / "run.h5")


# --- D and E: other containers

def test_054_and_068_other_formats_are_recognised(command, tmp_path):
    np.save(tmp_path / "weights.npy", np.zeros(2))
    with h5py.File(tmp_path / "model.h5", "w") as file:
        file["a"] = [1.0]
    for name in ("weights.npy", "model.h5"):
        inspect_and_analyze(command, 4, [name], tmp_path / name, tmp_path)


def gguf_with(path, architecture="llama", kind="F32"):
    """One layer of width 256, every tensor zero, the query projection stored as `kind`."""
    writer = gguf.GGUFWriter(str(path), architecture)
    for add, value in ((writer.add_context_length, 64), (writer.add_embedding_length, 256), (writer.add_block_count, 1),
                       (writer.add_feed_forward_length, 256), (writer.add_head_count, 4), (writer.add_head_count_kv, 4),
                       (writer.add_layer_norm_rms_eps, 1e-5), (writer.add_rope_dimension_count, 64), (writer.add_vocab_size, 8)):
        add(value)
    for name in C.gguf_names(1):
        one_row = name.endswith("norm")
        shape = (256,) if one_row else (8, 256) if name in ("token_embd", "output") else (256, 256)
        if name.endswith("attn_q") and kind != "F32":
            quantised = gguf.GGMLQuantizationType[kind]
            block, size = gguf.GGML_QUANT_SIZES[quantised]
            writer.add_tensor(name + ".weight", np.zeros((256, 256 // block * size), np.uint8), raw_dtype=quantised)
        else:
            writer.add_tensor(name + ".weight", np.zeros(shape, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_069_a_cut_off_gguf_names_the_tensor(command, tmp_path):
    gguf_with(tmp_path / "model.gguf")
    whole = (tmp_path / "model.gguf").read_bytes()
    (tmp_path / "model.gguf").write_bytes(whole[:len(whole) // 2])
    inspect_and_analyze(command, 3, ["model.gguf", "weight"], tmp_path / "model.gguf", tmp_path)
    (tmp_path / "model.gguf").write_bytes(whole[:40])
    inspect_and_analyze(command, 3, ["model.gguf"], tmp_path / "model.gguf", tmp_path)


@pytest.mark.parametrize("kind", ["IQ2_XXS", "IQ3_S", "TQ1_0"])
def test_a_quantisation_that_is_not_read_is_listed_and_refused_where_needed(command, tmp_path, kind):
    gguf_with(tmp_path / "model.gguf", kind=kind)
    outcome = command("inspect", tmp_path / "model.gguf", "--json")
    assert outcome.code == 0 and outcome.json["dtypes"][kind] == 1, outcome
    before = snapshot(tmp_path)
    refused_both_ways(command, 4, ["blk.0.attn_q.weight", kind], "analyze", tmp_path / "model.gguf", "--ids", "1,2", "-o",
                      tmp_path / "run.h5")
    assert snapshot(tmp_path) == before


def test_an_unknown_gguf_architecture(command, tmp_path):
    gguf_with(tmp_path / "model.gguf", architecture="mamba")
    refused(command("inspect", tmp_path / "model.gguf"), 4, "mamba")
    refused_both_ways(command, 4, ["mamba"], "analyze", tmp_path / "model.gguf", "--ids", "1", "-o", tmp_path / "run.h5")
