"""Prompts, tokenizers, devices, memory and numbers (tests/FAULTS.md), and what a run says of them."""
import hashlib
import json
import os
import re
import resource
import shutil

import h5py
import numpy as np
import pytest

import checkpoints as C
from command import Command, check_error_object, datasets, is_raw, refused, refused_both_ways, snapshot

MIB = 1 << 20


def byte_characters():
    """GPT-2's printable character for every byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in plain]
    return {**{b: chr(b) for b in plain}, **{b: chr(256 + i) for i, b in enumerate(others)}}


def byte_tokenizer():
    """A tokenizer whose 256 tokens are the bytes: token id = place of the byte's character."""
    vocab = {character: byte for byte, character in byte_characters().items()}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
            "post_processor": None, "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "vocab": vocab, "merges": []}}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Tiny checkpoints: one that reads bytes as tokens, one with learned positions and no tokenizer."""
    folder = tmp_path_factory.mktemp("built")
    C.headroom(folder / "bytes", C.headroom_config("softmax", vocab_size=256, max_position_embeddings=32), 5)
    (folder / "bytes" / "tokenizer.json").write_text(json.dumps(byte_tokenizer()))
    C.headroom(folder / "learned", C.headroom_config("softmax", position="learned", max_position_embeddings=8), 6)
    return folder


@pytest.fixture
def out(tmp_path):
    return tmp_path / "run.h5"


def tokens(path):
    with h5py.File(path) as file:
        return file["tokens/token_id"][()].tolist(), file["tokens/token_text"].asstr()[()].tolist(), dict(file.attrs)


# --- F: tokenizer and text

def test_074_without_a_tokenizer_ids_work_and_text_says_what_to_do(command, built, out):
    refused_both_ways(command, 5, ["tokenizer", "hint: ", "--ids"], "analyze", built / "learned", "--text", "hello", "-o", out)
    assert not out.exists()
    outcome = command("analyze", built / "learned", "--ids", "1,2,3", "-o", out)
    assert outcome.code == 0 and "token texts are not known" in outcome.text, outcome
    assert tokens(out)[:2] == ([1, 2, 3], ["", "", ""])


@pytest.mark.parametrize(("damage", "code"), [(b'{"version": "1.0", "model": ', 3), (b"", 3), (b'{"model": {"type": "Magic"}}', 4)])
def test_078_a_damaged_tokenizer_is_named_and_ids_still_work(command, built, tmp_path, out, damage, code):
    shutil.copytree(built / "bytes", tmp_path / "model")
    (tmp_path / "model" / "tokenizer.json").write_bytes(damage)
    refused_both_ways(command, code, ["tokenizer.json", "--ids"], "analyze", tmp_path / "model", "--text", "hello", "-o", out)
    outcome = command("analyze", tmp_path / "model", "--ids", "1,2,3", "-o", out)
    assert outcome.code == 0 and "token texts are not known" in outcome.text, outcome
    inspected = command("inspect", tmp_path / "model", "--json")
    assert inspected.code == 0 and inspected.json["tokenizer"] is None
    assert any("tokenizer" in warning for warning in inspected.json["warnings"]), inspected


def test_079_tokenizer_and_embedding_of_different_size_warn_with_both_numbers(command, tmp_path):
    C.headroom(tmp_path / "model", C.headroom_config("softmax", vocab_size=300), 5)
    (tmp_path / "model" / "tokenizer.json").write_text(json.dumps(byte_tokenizer()))
    outcome = command("inspect", tmp_path / "model")
    assert outcome.code == 0 and any("256" in line and "300" in line for line in outcome.text.split("\n") if "warning" in line), outcome


def test_text_becomes_tokens_whichever_way_it_comes(command, built, tmp_path, out):
    text = "Hé ¿\n"
    (tmp_path / "prompt.txt").write_bytes(text.encode())
    for arguments, stdin in ((["--text", text], b""), (["--text-file", tmp_path / "prompt.txt"], b""),
                             (["--text-file", "-"], text.encode())):
        outcome = command("analyze", built / "bytes", *arguments, "-o", out, "--force", stdin=stdin)
        assert outcome.code == 0, outcome
        ids, texts, attributes = tokens(out)
        assert ids == list(text.encode()) and texts[0] == "H"
        assert attributes["prompt_sha256"] == hashlib.sha256(text.encode()).hexdigest()


def test_080_text_that_is_not_utf8_runs_with_its_bytes_kept_and_the_damage_visible(command, built, tmp_path, out):
    text = b"a\xff\x00\xed\xa0\x80z"
    (tmp_path / "prompt.txt").write_bytes(text)
    outcome = command("analyze", built / "bytes", "--text-file", tmp_path / "prompt.txt", "-o", out)
    assert outcome.code == 0, outcome
    ids, texts, attributes = tokens(out)
    assert attributes["prompt_sha256"] == hashlib.sha256(text).hexdigest()
    assert ids[0] == ord("a") and ids[-1] == ord("z") and 0 in ids
    middle = bytes(ids[1:-1])
    assert middle == text[1:-1] or middle.decode().count("\ufffd") >= 1, "neither the bytes nor replacement characters"
    assert not any("\0" in shown for shown in texts)


def test_081_tokens_beyond_the_vocabulary_and_templates_with_code(command, built, tmp_path, out, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(built / "bytes", tmp_path / "model")
    tokenizer = byte_tokenizer()
    tokenizer["added_tokens"] = [*tokenizer.get("added_tokens", []), {"id": 300, "content": "<far>", "special": True}]
    (tmp_path / "model" / "tokenizer.json").write_text(json.dumps(tokenizer))
    (tmp_path / "model" / "tokenizer_config.json").write_text(json.dumps(
        {"chat_template": "{{ cycler.__init__.__globals__.os.system('touch canary') }}"}))
    inspected = command("inspect", tmp_path / "model")
    assert inspected.code == 0 and any("301" in line and "256" in line for line in inspected.text.split("\n") if "warning" in line), inspected
    assert command("analyze", tmp_path / "model", "--text", "hi", "-o", out).code == 0
    assert tokens(out)[0] == list(b"hi") and not (tmp_path / "canary").exists()
    refused_both_ways(command, 2, ["300", "0 to 255"], "analyze", tmp_path / "model", "--text", "a<far>", "-o", tmp_path / "far.h5")


def test_token_texts_cannot_write_to_the_terminal(command, built, out):
    outcome = command("analyze", built / "bytes", "--text", "\x1b[31m\u202e\x07", "-o", out)
    assert outcome.code == 0 and not [c for c in outcome.text + outcome.errors if is_raw(c) and c != "\n"], outcome
    assert tokens(out)[0] == list("\x1b[31m\u202e\x07".encode())


@pytest.mark.parametrize("arguments", [["--text", ""], ["--text-file", "-"], ["--text-file", "EMPTY"], ["--ids", ""],
                                       ["--ids-file", "EMPTY"], ["--ids", " , "], ["--ids-file", "-"]], ids=" ".join)
def test_an_empty_prompt(command, built, tmp_path, out, arguments):
    (tmp_path / "EMPTY").touch()
    refused_both_ways(command, 2, [], "analyze", built / "bytes", *arguments, "-o", out, cwd=tmp_path)
    assert not out.exists()


@pytest.mark.parametrize(("ids", "found"), [("1,256", "256"), ("-1", "-1"), ("1,2,x", "x"), ("1,,2", ","), ("1;2", "1;2"),
                                            ("4294967297", "4294967297"), ("1.5", "1.5"), ("1,2,", "end"), ("0x10", "0x10")])
def test_ids_outside_the_vocabulary_and_what_is_no_id(command, built, tmp_path, out, ids, found):
    refused_both_ways(command, 2, [found, "expected", "0 to "], "analyze", built / "bytes", f"--ids={ids}", "-o", out)
    (tmp_path / "ids.txt").write_text(ids)
    refused(command("analyze", built / "bytes", "--ids-file", tmp_path / "ids.txt", "-o", out), 2, found)
    assert not out.exists()


def test_prompt_files_that_are_not_there_or_no_files(command, built, tmp_path, out):
    refused_both_ways(command, 5, ["missing.txt"], "analyze", built / "bytes", "--text-file", tmp_path / "missing.txt", "-o", out)
    refused_both_ways(command, 3, ["/dev/zero"], "analyze", built / "bytes", "--text-file", "/dev/zero", "-o", out)
    refused_both_ways(command, 3, [str(tmp_path)], "analyze", built / "bytes", "--ids-file", tmp_path, "-o", out)
    with open(tmp_path / "long.txt", "wb") as file:
        file.truncate(64 * MIB + 1)
    refused_both_ways(command, 6, ["long.txt", str(64 * MIB)], "analyze", built / "bytes", "--text-file", tmp_path / "long.txt",
                      "-o", out)


def test_a_prompt_longer_than_the_learned_positions_is_refused(command, built, out):
    ids = ",".join(["7"] * 9)
    refused_both_ways(command, 2, ["at most 8", "found 9"], "analyze", built / "learned", "--ids", ids, "-o", out)
    assert not out.exists()
    assert command("analyze", built / "learned", "--ids", ids, "--max-tokens", "8", "-o", out).code == 0


def test_a_prompt_longer_than_the_config_names_runs_with_a_warning(command, built, out):
    outcome = command("analyze", built / "bytes", "--text", "x" * 33, "-o", out)
    assert outcome.code == 0 and any("warning" in line and "33" in line and "32" in line for line in outcome.text.split("\n")), outcome
    machine = command("analyze", built / "bytes", "--text", "x" * 33, "-o", out, "--force", "--json")
    assert any("33" in note and "32" in note for note in machine.json["notes"])
    assert "warning" not in command("analyze", built / "bytes", "--text", "x" * 32, "-o", out, "--force").text


# --- H: devices, memory, numbers

NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}


def test_103_without_a_gpu_auto_says_cpu_and_cuda_is_refused(command, built, out):
    for device in ("cuda", "cuda:0", "cuda:99"):
        refused_both_ways(command, 7, [device, "hint: "], "analyze", built / "learned", "--ids", "1", "--device", device, "-o", out,
                          env=NO_GPU)
    assert not out.exists()
    outcome = command("analyze", built / "learned", "--ids", "1,2", "-o", out, "--json", env=NO_GPU)
    assert outcome.code == 0 and outcome.json["device"] == "cpu", outcome
    assert outcome.json["device_note"].startswith("auto: ") and len(outcome.json["device_note"]) > 10, outcome
    doctor = command("doctor", "--json", env=NO_GPU).json
    assert doctor["devices"] == "cpu" and doctor["cuda"], "one line says why"


def test_103_without_libtorch_headers_are_read_and_the_rest_says_what_is_missing(program, built, tmp_path, out):
    """The program and its core in a folder of their own, without the library that needs LibTorch."""
    (tmp_path / "bin").mkdir()
    for name in (program.name, "libheadroom_core.so"):
        shutil.copy(program.parent / name, tmp_path / "bin")
    alone = Command(tmp_path / "bin" / program.name)
    found_here = {"LD_LIBRARY_PATH": str(tmp_path / "bin")}
    refused_both_ways(alone, 7, ["libheadroom_compute.so", "LibTorch", "hint: "], "analyze", built / "learned", "--ids", "1", "-o", out,
                      env=found_here)
    assert not out.exists()
    refused(alone("doctor", env=found_here), 7, "LibTorch")
    report = alone("doctor", "--json", env=found_here)
    assert report.code == 7 and check_error_object(report, 7)["file"].endswith("libheadroom_compute.so")
    assert report.json["hdf5"], "what works is still said"
    assert alone("inspect", built / "learned", env=found_here).code == 0


def test_105_exact_maps_beyond_their_budget_name_both_sizes(command, built, out):
    n, bytes_each = 2000, 4
    needed = 3 * 2 * 4 * n * n * bytes_each / 2**30
    error = refused_both_ways(command, 6, [f"{needed:.2f} GiB", "0.25 GiB", "--exact-budget"], "analyze", built / "bytes", "--ids",
                              ",".join(["7"] * n), "--exact-maps", "--exact-budget", "0.25", "-o", out)
    assert "2000²" in error["found"] and not out.exists()
    assert command("analyze", built / "bytes", "--ids", "1,2,3", "--exact-maps", "--exact-budget", "0.25", "-o", out).code == 0


@pytest.mark.parametrize("mib", [64, 350, 420])
def test_100_too_little_address_space_names_both_sizes_and_leaves_nothing(command, built, tmp_path, out, mib):
    """LibTorch's own constructors abort where memory cannot be mapped, so that the limit is asked for first."""
    limits = {resource.RLIMIT_AS: mib * MIB}
    before = snapshot(tmp_path)
    refused_both_ways(command, 6, [f"{mib} MiB", "at least"], "analyze", built / "bytes", "--ids", "1,2", "-o", out, limits=limits)
    assert snapshot(tmp_path) == before
    doctor = command("doctor", "--json", limits=limits)
    assert doctor.code == 6 and doctor.json["error"]["code"] == "out_of_memory", doctor
    refused(doctor, 6, f"{mib} MiB")
    assert command("inspect", built / "bytes", limits=limits).code == 0, "headers need no LibTorch"


def test_098_memory_that_runs_out_within_the_run_is_code_6(command, tmp_path, out):
    """Enough for LibTorch, not for this model: an embedding of 640 MB in double precision."""
    rows, width = 20000, 4096
    limit = (640 + 16 * os.cpu_count() + 160) * MIB
    config = C.headroom_config("softmax", vocab_size=rows, hidden_size=width, intermediate_size=0, num_hidden_layers=1,
                               tie_word_embeddings=True)
    shapes = {"model.embed_tokens.weight": [rows, width], "model.layers.0.input_layernorm.weight": [width], "model.norm.weight": [width]}
    for name, heads in (("q", 4), ("k", 2), ("v", 2)):
        shapes[f"model.layers.0.self_attn.{name}_proj.weight"] = [heads * 8, width]
    shapes["model.layers.0.self_attn.o_proj.weight"] = [width, 32]
    header, end = {}, 0
    for name, shape in shapes.items():
        size = 4 * int(np.prod(shape))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + size]}
        end += size
    folder = tmp_path / "wide"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    text = json.dumps(header).encode()
    with open(folder / "model.safetensors", "wb") as file:  # zeros that take no space on disk
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + end)
    before = snapshot(tmp_path)
    arguments = ["analyze", folder, "--ids", "1,2", "-o", out, "--dtype", "float64"]
    limits = {"limits": {resource.RLIMIT_AS: limit}, "env": {"OMP_NUM_THREADS": "1"}}
    refused(command(*arguments, **limits), 6, "takes more memory than it may", "ulimit -v", "LM head")
    assert snapshot(tmp_path) == before
    outcome = command(*arguments, "--memory", "8", **limits)
    refused(outcome, 6, "memory", str(rows * width * 8))
    assert snapshot(tmp_path) == before


def sparse_checkpoint(folder, layers, width, inner, vocabulary):
    """A llama in bfloat16 whose weights are holes of the file: it takes no room on the disk. Returns its bytes."""
    shapes = {"model.embed_tokens.weight": [vocabulary, width], "model.norm.weight": [width], "lm_head.weight": [vocabulary, width]}
    for layer in range(layers):
        for name, shape in {"input_layernorm": [width], "post_attention_layernorm": [width], "self_attn.q_proj": [width, width],
                            "self_attn.k_proj": [width // 8, width], "self_attn.v_proj": [width // 8, width],
                            "self_attn.o_proj": [width, width], "mlp.gate_proj": [inner, width], "mlp.up_proj": [inner, width],
                            "mlp.down_proj": [width, inner]}.items():
            shapes[f"model.layers.{layer}.{name}.weight"] = shape
    header, end = {}, 0
    for name, shape in shapes.items():
        size = 2 * int(np.prod(shape, dtype=np.int64))
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [end, end + size]}
        end += size
    folder.mkdir()
    heads = width // 128
    (folder / "config.json").write_text(json.dumps({
        "model_type": "llama", "vocab_size": vocabulary, "hidden_size": width, "num_hidden_layers": layers, "intermediate_size": inner,
        "num_attention_heads": heads, "num_key_value_heads": heads // 8, "head_dim": 128, "max_position_embeddings": 4096,
        "rms_norm_eps": 1e-5, "tie_word_embeddings": False}))
    text = json.dumps(header).encode()
    with open(folder / "model.safetensors", "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + end)
    return end


def test_what_a_run_takes_is_said_before_it_begins(command, tmp_path, out):
    """1.1 TB of weights: refused before one of them is read, with the parts and with what would fit."""
    assert sparse_checkpoint(tmp_path / "huge", 160, 16384, 65536, 128256) > 1.1e12
    words = ["takes more memory than it may", "at most 8.00 GB (--memory)", "weights of two layers 30.6 GB", "LM head 8.41 GB"]
    arguments = ["analyze", tmp_path / "huge", "--ids", "1,2,3", "-o", out]
    error = refused_both_ways(command, 6, words, *arguments, "--memory", "8")
    assert error["code"] == "out_of_memory" and error["hint"] == "--memory GB starts it all the same"
    # Two layers of 3.83e9 numbers in float32, the alignment of W_O in double (6.4 GB) and a fifth more, without the LM head: 44.7 GB.
    error = refused_both_ways(command, 6, words[:1], *arguments, "--memory", "46")
    assert "--layers 0-158 fits" in error["hint"], error
    error = refused_both_ways(command, 6, words[:1], *arguments, "--memory", "30")
    assert "--layers 0 fits" in error["hint"] and "--layers 0-" not in error["hint"], error
    assert [path.name for path in tmp_path.iterdir()] == ["huge"]


def test_a_run_ends_with_the_last_measured_layer_and_takes_less(command, tmp_path, out):
    config = C.headroom_config("diff_v2", num_hidden_layers=4)
    C.headroom(tmp_path / "model", config, 9)
    arguments = ["analyze", tmp_path / "model", "--ids", "1,2,3,4,5,6", "--json"]
    whole, part = command(*arguments, "-o", out), command(*arguments, "--layers", "1-2", "-o", out.with_name("part.h5"))
    assert whole.code == part.code == 0, part
    with h5py.File(out) as a, h5py.File(out.with_name("part.h5")) as b:
        for name in ("sink_score", "rows/lse", "rows/context_rms", "weights/output_alignment"):
            np.testing.assert_array_equal(a[name][1:3], b[name][()], err_msg=name)
        assert "next_token_loss" in a.attrs and "next_token_loss" not in b.attrs
    assert part.json["next_token_loss"] is None and any("layer 2" in note for note in part.json["notes"]), part.json["notes"]
    for outcome in (whole, part):
        memory = outcome.json["memory"]
        assert memory["estimated_bytes"] == sum(item["bytes"] for item in memory["parts"]) < memory["allowed_bytes"]
    assert part.json["memory"]["estimated_bytes"] < whole.json["memory"]["estimated_bytes"]
    shown = command(*arguments[:-1], "--hidden", "--layers", "0", "-o", out, "--force").text
    assert "next-token loss" in shown and "the run ends with" not in shown


@pytest.fixture(scope="module")
def broken(built):
    """NaN in the second of three layers."""
    config = C.headroom_config("softmax", num_hidden_layers=3)
    model = C.headroom(built / "nan", config, 5)
    weights = dict(model.weights)
    weights["model.layers.1.mlp.down_proj.weight"][0, 0] = np.nan
    C.save(built / "nan", config, weights)
    return built / "nan"


def weights_named(outcome):
    """{tensor: (layer, NaN, +∞, −∞, values read)} of the JSON summary."""
    kinds = ("layer", "nan", "positive_infinity", "negative_infinity", "values")
    return {w["tensor"]: tuple(w[kind] for kind in kinds) for w in outcome.json["non_finite_weights"]}


def test_106_nan_from_a_layer_is_named_and_everything_else_stands(command, broken, tmp_path, out):
    tensor = "model.layers.1.mlp.down_proj.weight"
    outcome = command("analyze", broken, "--ids", "1,2,3,4", "-o", out)
    refused(outcome, 8, f"layer 1, {tensor}: 1 NaN among 1536 values", "from layer 1 on")
    assert f"Wrote {out}" in outcome.text and "a bug" not in outcome.errors
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.h5"], "a partial result is kept, a temporary file is not"
    with h5py.File(out) as file:
        assert file.attrs["non_finite_layer"] == 1 and "next_token_loss" not in file.attrs
        assert file.attrs["non_finite_weights"] == f"layer 1, {tensor}: 1 NaN among 1536 values"
        score = file["sink_score"][()][..., 0]
        assert np.isfinite(score[:2]).all() and np.isnan(score[2]).all()
        assert (file["finite_rows"][:2] > 0).all() and (file["finite_rows"][2] == 0).all()
        assert np.isnan(file["rows_inside_bound"][2]).all() and not np.isnan(file["rows_inside_bound"][:2]).any()
    machine = command("analyze", broken, "--ids", "1,2,3,4", "-o", out, "--force", "--json")
    assert machine.code == 8 and machine.json["non_finite_layer"] == 1 and machine.json["next_token_loss"] is None
    assert weights_named(machine) == {tensor: (1, 1, 0, 0, 1536)}
    assert machine.json["self_check"]["rows"] == 2 * 4 * 4 and machine.json["self_check"]["rows_not_finite"] == 4 * 4
    refused(machine, 8, "layer 1")


def test_036_infinite_weights_are_named_with_their_layer(command, built, tmp_path, out):
    shutil.copytree(built / "learned", tmp_path / "model")
    model = C.headroom(tmp_path / "model", C.headroom_config("softmax", position="learned", max_position_embeddings=8), 6)
    weights = dict(model.weights)
    weights["model.layers.0.self_attn.o_proj.weight"][0, 0] = np.inf
    C.save(tmp_path / "model", model.config, weights)
    refused(command("analyze", tmp_path / "model", "--ids", "1,2,3", "-o", out), 8,
            "layer 0, model.layers.0.self_attn.o_proj.weight: 1 +∞ among 1024 values")
    with h5py.File(out) as file:
        assert file.attrs["non_finite_layer"] == 0


@pytest.mark.parametrize("backend", ["cpu", "blocked", "reference"])
@pytest.mark.parametrize("kind", ["softmax", "diff_v2", "diff_v1", "softmax_sink"])
def test_nan_and_infinities_in_keys_are_no_bug_of_the_program(command, tmp_path, out, kind, backend):
    """A NaN in k_proj makes one channel of every key of its block NaN: the heads that read the block, and everything after."""
    config = C.headroom_config(kind)
    weights = dict(C.headroom(tmp_path / "model", config, 9).weights)
    tensor = "model.layers.0.self_attn.k_proj.weight"
    weights[tensor][3, 5] = np.nan  # channel 3 of key block 0
    weights[tensor][4, 7] = -np.inf
    values = weights[tensor].numel()
    C.save(tmp_path / "model", config, weights)
    outcome = command("analyze", tmp_path / "model", "--ids", ",".join(str(i % 50) for i in range(40)), "-o", out,
                      "--backend", backend, "--json")
    refused(outcome, 8, f"layer 0, {tensor}: 1 NaN, 1 −∞ among {values} values", "from layer 0 on")
    assert weights_named(outcome) == {tensor: (0, 1, 0, 1, values)}
    assert outcome.json["self_check"]["violations"] == []
    with h5py.File(out) as file:
        block = file["kv_head"][()]
        reads = (block == 0).any(axis=-1)[0]
        assert reads.any() and not reads.all()
        finite = np.isfinite(file["weight_l2_mean"][()])
        assert (finite[0] == ~reads).all() and not finite[1].any()
        assert np.isnan(file["rows/lse"][0][reads]).all(axis=-1).any(axis=-1).all()
        assert (file["finite_rows"][0] == np.where(reads, 0, file["finite_rows"][0].max())).all()
        assert (np.nan_to_num(file["rows/logit_max"][()]) < 1e6).all()
        assert (np.abs(np.nan_to_num(file["logit_max"][()])) < 1e6).all()
    text = command("analyze", tmp_path / "model", "--ids", "1,2,3", "-o", out, "--force", "--backend", backend)
    assert "hidden from every head" not in text.text and not re.search(r"(?<![\w/])-?nan\b", text.text), text


@pytest.mark.parametrize("backend", ["cpu", "blocked", "reference"])
@pytest.mark.parametrize("kind", ["softmax", "diff_v2", "gated"])
def test_rows_before_a_token_that_is_nan_are_those_of_the_prompt_without_it(command, tmp_path, out, kind, backend):
    """NaN in one row of the embedding: causal rows before the token know nothing of it, all others are NaN; shares count the former."""
    config = C.headroom_config(kind)
    weights = dict(C.headroom(tmp_path / "model", config, 9).weights)
    weights["model.embed_tokens.weight"][51, 2] = np.nan
    C.save(tmp_path / "model", config, weights)
    before = [1 + i * i % 50 for i in range(40)]
    whole, cut = out, out.with_name("cut.h5")
    options = ["--dtype", "float64", "--backend", backend] if backend != "cpu" else ["--backend", backend]
    outcome = command("analyze", tmp_path / "model", "--ids", ",".join(map(str, [*before, 51, 3, 4, 51, 5])), "-o", whole, *options)
    refused(outcome, 8, "model.embed_tokens.weight: 1 NaN among")
    clean = command("analyze", tmp_path / "model", "--ids", ",".join(map(str, before)), "-o", cut, *options)
    assert clean.code == 0, clean
    with h5py.File(whole) as a, h5py.File(cut) as b:
        assert a.attrs["non_finite_layer"] == 0 and "non_finite_weights" not in b.attrs
        n = len(before)
        for name in ("lse", "entropy", "weight_sum", "weight_l2", "context_rms", "context_rms_relative", "uncorrelated_rms"):
            rows, wanted = a[f"rows/{name}"][()], b[f"rows/{name}"][()]
            np.testing.assert_allclose(rows[..., :n], wanted, rtol=2e-5, atol=1e-6, err_msg=name)
            present = ~np.isnan(wanted).all(axis=-1)
            assert np.isnan(rows[..., n:][present]).all(), name
        rho, visible = a["rows/context_rms_relative"][()], a["tokens/visible_keys"][()]
        counted = np.isfinite(rho) & (visible >= min(a.attrs["min_row"], visible.max()))[:, None]
        assert (a["finite_rows"][()] == counted.sum(axis=-1)).all() and (a["finite_rows"][()] > 0).all()
        below = (rho < 1 / np.sqrt(visible)[:, None]) & counted
        np.testing.assert_allclose(a["rows_below_bound"][..., 0], below.sum(axis=-1) / counted.sum(axis=-1), rtol=1e-6)
        np.testing.assert_allclose(a["rows_above_bound"][..., 0], ((rho >= 1) & (visible > 1)[:, None] & counted).sum(axis=-1) / counted.sum(axis=-1), rtol=1e-6)
        for name in ("context_rms_mean", "weight_l2_mean", "logit_max", "sink_score"):
            assert np.isnan(a[name][()]).all(), name


def test_nan_outside_of_the_layers_is_named_too(command, tmp_path, out):
    config = C.headroom_config("softmax")
    weights = dict(C.headroom(tmp_path / "model", config, 9).weights)
    weights["lm_head.weight"][3, 5] = np.nan
    C.save(tmp_path / "model", config, weights)
    outcome = command("analyze", tmp_path / "model", "--ids", "1,2,3", "-o", out, "--json")
    refused(outcome, 8, "lm_head.weight: 1 NaN among 1696 values")
    assert weights_named(outcome) == {"lm_head.weight": (None, 1, 0, 0, 1696)}
    assert outcome.json["non_finite_layer"] is None and outcome.json["next_token_loss"] is None
    with h5py.File(out) as file:
        assert np.isfinite(file["sink_score"][..., 0]).all() and "next_token_loss" not in file.attrs


# --- the same numbers every time

@pytest.mark.parametrize("threads", ["1", "2"])
def test_equal_commands_write_equal_datasets(command, built, tmp_path, threads):
    """Enough tokens for several blocks of work per thread."""
    ids = ",".join(str(i * i % 251) for i in range(300))
    for name, count in (("a", "1"), ("b", threads)):
        outcome = command("analyze", built / "bytes", "--ids", ids, "-o", tmp_path / f"{name}.h5", "--hidden", "--maps", "8",
                          env={"OMP_NUM_THREADS": count})
        assert outcome.code == 0, outcome
    assert datasets(tmp_path / "a.h5") == datasets(tmp_path / "b.h5")
    compared = command("compare", tmp_path / "a.h5", tmp_path / "b.h5")
    assert compared.code == 0 and "0 not equal" in compared.text, compared
    with h5py.File(tmp_path / "a.h5") as a, h5py.File(tmp_path / "b.h5") as b:
        differing = {name for name in a.attrs if a.attrs[name] != b.attrs[name]}
        assert set(a.attrs) == set(b.attrs) and differing <= {"history", "created_utc", "command_line"}, differing
    assert os.path.getsize(tmp_path / "a.h5") == os.path.getsize(tmp_path / "b.h5")
