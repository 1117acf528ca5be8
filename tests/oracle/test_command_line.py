"""Commands, options, exit codes and machine-readable output (README.md, app/README.md)."""
import json
import pathlib
import re
import shutil
import subprocess

import h5py
import numpy as np
import pytest

import checkpoints as C
import families
from command import check_error_object, datasets, refused, refused_both_ways, snapshot

IDS = "3,17,5,5,40,2,17,5,9,30,12"
TOKENS = 11


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    C.headroom(folder / "softmax", C.headroom_config("softmax"), 5)
    C.headroom(folder / "diff_v2", C.headroom_config("diff_v2"), 6)
    C.headroom(folder / "diff_v1", C.headroom_config("diff_v1"), 7)
    return folder


def run(command, model, out, *arguments, **options):
    outcome = command("analyze", model, "--ids", IDS, "-o", out, "--device", "cpu", *arguments, **options)
    assert outcome.code == 0, outcome
    return outcome


@pytest.mark.parametrize(("name", "named"), [
    ([], ["inspect", "analyze", "compare", "doctor", "--version", "130"]),
    (["inspect"], ["--json", "--config", "--lenient"]),
    (["analyze"], ["--text", "--text-file", "--ids", "--ids-file", "--bos", "-o", "--layers", "--heads", "--device", "--backend", "--dtype",
                   "--what-if", "--maps", "--components", "--exact-maps", "--hidden", "--only", "--force", "--json", "--config"]),
    (["compare"], ["--rtol", "--atol", "--json"]),
    (["families"], ["--json", "--markdown"]),
    (["tokenize"], ["--text", "--text-file", "--json-lines", "--bos", "--json"]),
    (["doctor"], ["--json"]),
], ids=lambda value: "-".join(value) if isinstance(value, list) and len(value) < 2 else None)
def test_help_names_every_option(command, name, named):
    outcome = command(*name, "--help")
    assert outcome.code == 0 and outcome.err == b"", outcome
    for word in named:
        assert re.search(rf"(^|[\s,\[]){re.escape(word)}\b", outcome.text), f"{word}\n{outcome}"


def test_version(command):
    outcome = command("--version")
    assert outcome.code == 0 and outcome.err == b"", outcome
    assert re.fullmatch(r"headroom \d+\.\d+\.\d+.*\n", outcome.text)


USAGE = {
    "unknown_option": (["--bogus"], "--bogus"),
    "unknown_command": (["frobnicate"], "frobnicate"),
    "two_commands": (["inspect", "MODEL", "doctor"], "doctor"),
    "inspect_without_path": (["inspect"], "path"),
    "inspect_unknown_option": (["inspect", "MODEL", "--bogus"], "--bogus"),
    "compare_one_file": (["compare", "a.h5"], "b"),
    "compare_negative_tolerance": (["compare", "a.h5", "b.h5", "--rtol", "-1"], "--rtol"),
    "compare_nan_tolerance": (["compare", "a.h5", "b.h5", "--atol", "nan"], "--atol"),
    "tokenize_without_text": (["tokenize", "MODEL"], "--text"),
    "tokenize_two_texts": (["tokenize", "MODEL", "--text", "a", "--text-file", "b"], "--json-lines"),
    "tokenize_bos": (["tokenize", "MODEL", "--text", "a", "--bos", "perhaps"], "perhaps"),
    "doctor_extra": (["doctor", "extra"], "extra"),
    "no_output": (["analyze", "MODEL", "--ids", "1"], "output"),
    "empty_output": (["analyze", "MODEL", "--ids", "1", "-o", ""], "output"),
    "no_prompt": (["analyze", "MODEL", "-o", "OUT"], "--ids"),
    "two_prompts": (["analyze", "MODEL", "-o", "OUT", "--ids", "1", "--text", "x"], "--text"),
    "option_twice": (["analyze", "MODEL", "-o", "OUT", "--ids", "1", "--ids", "2"], "--ids"),
    "option_without_value": (["analyze", "MODEL", "--ids", "1", "-o"], "output"),
    "layers_word": (["analyze", "MODEL", "-o", "OUT", "--ids", "1", "--layers", "first"], "--layers"),
    "layers_beyond": (["analyze", "MODEL", "-o", "OUT", "--ids", "1", "--layers", "0,2"], "2"),
    "layers_backwards": (["analyze", "MODEL", "-o", "OUT", "--ids", "1", "--layers", "1-0"], "1-0"),
    "layers_huge": (["analyze", "MODEL", "-o", "OUT", "--ids", "1", "--layers", "0-99999999999999999999"], "--layers"),
    "layers_empty": (["analyze", "MODEL", "-o", "OUT", "--ids", "1", "--layers", ""], "--layers"),
    "layers_trailing_comma": (["analyze", "MODEL", "-o", "OUT", "--ids", "1", "--layers", "0,"], "--layers"),
    "heads_beyond": (["analyze", "MODEL", "-o", "OUT", "--ids", "1", "--heads", "4"], "--heads"),
    "heads_negative": (["analyze", "MODEL", "-o", "OUT", "--ids", "1", "--heads=-1"], "--heads"),
    "dtype": (["analyze", "MODEL", "-o", "OUT", "--ids", "1", "--dtype", "float16"], "float16"),
    "device": (["analyze", "MODEL", "-o", "OUT", "--ids", "1", "--device", "abacus"], "abacus"),
    "bos": (["analyze", "MODEL", "-o", "OUT", "--ids", "1", "--bos", "perhaps"], "perhaps"),
    "only": (["analyze", "MODEL", "-o", "OUT", "--ids", "1", "--only", "rows"], "rows"),
    "maps_zero": (["analyze", "MODEL", "-o", "OUT", "--ids", "1", "--maps", "0"], "--maps"),
    "maps_word": (["analyze", "MODEL", "-o", "OUT", "--ids", "1", "--maps", "many"], "many"),
    "budget_nan": (["analyze", "MODEL", "-o", "OUT", "--ids", "1", "--exact-maps", "--exact-budget", "nan"], "--exact-budget"),
    "budget_negative": (["analyze", "MODEL", "-o", "OUT", "--ids", "1", "--exact-budget", "-3"], "--exact-budget"),
    "max_tokens": (["analyze", "MODEL", "-o", "OUT", "--ids", "1", "--max-tokens", "0"], "--max-tokens"),
    "address": (["analyze", "MODEL::H3", "-o", "OUT", "--ids", "1"], "::L3"),
    "address_beyond": (["analyze", "MODEL::L7", "-o", "OUT", "--ids", "1"], "7"),
    "what_if": (["analyze", "MODEL", "-o", "OUT", "--ids", "1", "--what-if", "gravity=off"], "gravity"),
    "unknown_analyze_option": (["analyze", "MODEL", "-o", "OUT", "--ids", "1", "--layer", "1"], "--layer"),
    "control_bytes": (["analyze", "MODEL", "-o", "OUT", "--ids", "1", "--red\x1b[31m\nrow"], "\\x1B"),
}


def test_the_window_has_no_json(command):
    outcome = command("--json")
    error = check_error_object(outcome, 2)
    assert "inspect" in error["message"]


def test_without_a_display_the_window_says_which_variable_is_missing(command, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    outcome = command()
    refused(outcome, 7, "DISPLAY")
    assert outcome.out == b""


@pytest.mark.parametrize("name", USAGE)
def test_usage_errors_have_code_2_and_name_what_is_wrong(command, models, tmp_path, name):
    words, named = USAGE[name]
    arguments = [w.replace("MODEL", str(models / "softmax")).replace("OUT", str(tmp_path / "run.h5")) for w in words]
    refused_both_ways(command, 2, [named], *arguments, cwd=tmp_path)
    assert not list(tmp_path.iterdir())


def test_inspect_json_is_the_contract(command, models):
    path = models / "diff_v2"
    outcome = command("inspect", path, "--json")
    assert outcome.code == 0 and outcome.err == b"", outcome
    weights = C.headroom_config("diff_v2")
    dim, ffn, vocab, layers = weights["hidden_size"], weights["intermediate_size"], weights["vocab_size"], 2
    per_layer = {"q": 2 * 4 * 8 * dim, "k": 2 * 8 * dim, "v": 2 * 8 * dim, "o": dim * 4 * 8, "lambda": 4 * dim}
    expected = {
        "path": str(path), "format": "safetensors", "model_type": "headroom", "layers": 2, "heads": 4, "kv_heads": 2, "head_dim": 8,
        "hidden_size": 32, "vocab_size": 53, "attention": ["diff_v2", "diff_v2"], "tokenizer": None, "warnings": [],
        "parameters": layers * (sum(per_layer.values()) + 3 * ffn * dim + 2 * dim) + 2 * vocab * dim + dim,
        "dtypes": {"F32": layers * 10 + 3}, "size_bytes": (path / "model.safetensors").stat().st_size,
    }
    found = outcome.json
    assert {key: found.get(key, "absent") for key in expected} == expected
    assert {k: n for k, n in found["attention_parameters"].items() if n} == {k: layers * n for k, n in per_layer.items()}


def test_inspect_text_says_the_same(command, models):
    outcome = command("inspect", models / "diff_v2")
    assert outcome.code == 0 and outcome.err == b"", outcome
    for word in ("headroom", "4 output heads", "diff_v2", "lambda", "λ·", "23", "none (token ids work)"):
        assert word in outcome.text, (word, outcome)
    assert "model.embed_tokens.weight" not in outcome.text
    assert "model.embed_tokens.weight" in command("inspect", models / "diff_v2", "--tensors").text


def test_inspect_json_has_the_facts_of_each_layer_that_the_text_has(command, tmp_path):
    case = next(case for case in families.CASES if case.name == "gemma2")
    families.write(tmp_path / "model", case, 3)
    found = command("inspect", tmp_path / "model", "--json").json
    text = command("inspect", tmp_path / "model").text
    assert [layer["name"] for layer in found["by_layer"]] == [f"layer {i}" for i in range(found["layers"])]
    assert [layer["window"] for layer in found["by_layer"]] == [13, None, 13]
    for layer in found["by_layer"]:
        assert layer["causal"] and layer["softcap"] == 3.0 and layer["heads"] == 4 and layer["head_dim"] == 16
        assert layer["rotation"] == {"layout": "halves", "channels": 16, "theta": 10000.0, "scaling": None}
        assert sorted(layer["norms"]) == ["after", "before"] and layer["norms"]["before"]["kind"] == "rms"
        assert (layer["mlp"], layer["experts"], layer["parallel"], layer["unmeasured"]) == ("gated", None, False, None)
    assert found["logits"] == {"tied": True, "scale": 1.0, "softcap": 2.0}
    assert "mask         causal, window of 13 keys, logits capped at 3 in layers 0, 2\n" in text
    assert "\n             causal, logits capped at 3 in layer 1\n" in text


def test_inspect_says_which_keys_rows_see(command, models, tmp_path):
    config = json.loads((models / "diff_v2" / "config.json").read_text())
    config["attention"] |= {"window": 9, "chunk": 20, "always_visible": 2}
    (tmp_path / "config.json").write_text(json.dumps(config))
    arguments = ("inspect", models / "diff_v2", "--config", tmp_path / "config.json")
    for layer in command(*arguments, "--json").json["by_layer"]:
        assert (layer["window"], layer["chunk"], layer["always_visible"]) == (9, 20, 2)
    assert "mask         causal, window of 9 keys, chunks of 20 keys and the first 2 in all layers\n" in command(*arguments).text
    for layer in command("inspect", models / "diff_v2", "--json").json["by_layer"]:
        assert layer["window"] is layer["chunk"] is layer["always_visible"] is None


@pytest.fixture(scope="module")
def run_file(command, models, tmp_path_factory):
    path = tmp_path_factory.mktemp("inspected") / "run.h5"
    assert run(command, models / "diff_v2", path, "--what-if", "L1.H0:lambda=0.5", "--maps", "8").code == 0
    return path


def test_inspect_shows_a_run_file(command, run_file):
    outcome = command("inspect", run_file)
    assert outcome.code == 0 and outcome.err == b"", outcome
    facts = dict(re.findall(r"^(\S.{11}) (.*)$", outcome.text, flags=re.M))
    facts = {name.strip(): value for name, value in facts.items()}
    assert facts["run"] == str(run_file) and facts["model"] == "diff_v2: headroom, safetensors"
    assert facts["prompt"] == f"{TOKENS} tokens, given as ids" and facts["what-ifs"] == "L1.H0:lambda=0.5"
    assert facts["layers"] == "2 (0-1), of each 4 heads (0-3)" and facts["attention"] == "diff_v2 in all layers"
    assert facts["mask"] == "causal in all layers" and facts["computed"].startswith("float32 on cpu, backend ")
    assert "/rows " in facts["holds"] and "not /exact (--exact-maps), /hidden (--hidden)" in facts["holds"]
    with h5py.File(run_file) as file:
        sinks, largest, rho = file["sink_score"][()], file["logit_max"][()], file["context_rms_relative_mean"][()]
        assert facts["loss"] == f"{file.attrs['next_token_loss']:.4f} nats a token"
    layer, head, part = np.unravel_index(np.nanargmax(sinks), sinks.shape)
    assert facts["most sink"] == f"L{layer}.H{head} {('first', 'second')[part]} map gives key 0 {sinks.max():.3f} of its attention"
    layer, head, part = np.unravel_index(np.nanargmax(largest), largest.shape)
    assert facts["largest z"].startswith(f"L{layer}.H{head} {('first', 'second')[part]} map {largest.max():.4g}, the smallest ")
    assert facts["context ρ"].startswith(f"{rho.min():.3g} (L") and f" to {rho.max():.3g} (L" in facts["context ρ"]
    for words in ("Sinks: ", "Widest qk-logits", "Context RMS ρ over all heads", "Differential heads: mean λ"):
        assert words in outcome.text
    listed = command("inspect", run_file, "--tensors").text
    assert re.search(r"^  rows/lse +float32 +\[2, 4, 2, 40\]$".replace("40", str(TOKENS)), listed, flags=re.M), listed


def test_inspect_json_of_a_run_file_is_the_contract(command, run_file):
    outcome = command("inspect", run_file, "--json")
    assert outcome.code == 0 and outcome.err == b"", outcome
    found = outcome.json
    for key, value in {"path": str(run_file), "format": "run file", "schema_version": "1.0", "model_id": "diff_v2", "tokens": TOKENS,
                       "layers": [0, 1], "heads": [0, 1, 2, 3], "attention": ["diff_v2"] * 2, "masks": ["causal"] * 2, "calls": None,
                       "what_ifs": ["L1.H0:lambda=0.5"], "dtype_compute": "float32", "experts": None, "warnings": []}.items():
        assert found[key] == value, key
    with h5py.File(run_file) as file:
        sinks = file["sink_score"][()]
        layer, head, part = (int(i) for i in np.unravel_index(np.nanargmax(sinks), sinks.shape))
        largest = found["largest_sink_score"]
        assert (largest["layer"], largest["head"], largest["component"]) == (layer, head, part)
        np.testing.assert_allclose(largest["value"], sinks.max(), rtol=1e-6)
        np.testing.assert_allclose(found["largest_logit"]["value"], file["logit_max"][()].max(), rtol=1e-6)
        np.testing.assert_allclose(found["smallest_logit"]["value"], file["logit_min"][()].min(), rtol=1e-6)
        np.testing.assert_allclose(found["next_token_loss"], file.attrs["next_token_loss"], rtol=1e-6)
        for b, bound in enumerate(("softmax", "diff_v2", "variant")):
            for side in ("below", "inside", "above"):
                shares = file[f"rows_{side}_bound"][..., b]
                np.testing.assert_allclose(found["context_rms_relative"]["rows"][bound][side], shares.mean(), rtol=1e-6, atol=1e-9)
        names = {entry["path"]: entry for entry in found["datasets"]}
        assert names["rows/lse"] == {"path": "rows/lse", "axes": ["layer", "head", "component", "position"],
                                     "shape": list(file["rows/lse"].shape), "type": "float32", "units": "nat"}


def test_inspect_of_other_hdf5_files(command, run_file, tmp_path):
    history = next((pathlib.Path(__file__).resolve().parents[2] / "assets" / "demo").rglob("training.h5"))
    assert command("inspect", history).text.startswith("training     ") and command("inspect", history, "--json").json["format"] == "training history"
    (tmp_path / "cut.h5").write_bytes(run_file.read_bytes()[:5000])
    assert command("inspect", tmp_path / "cut.h5").code == 3


@pytest.mark.parametrize("what", ["model", "run"])
def test_inspect_fits_a_terminal_of_80_columns(command, models, run_file, what):
    path = models / "diff_v2" if what == "model" else run_file
    whole = command("inspect", path).text
    outcome, shown = command.on_terminal("inspect", path, stream="stdout", columns=80)
    assert outcome.code == 0, outcome
    lines = shown.decode().replace("\r\n", "\n").removesuffix("\n").split("\n")
    for line in lines:
        assert len(line) <= 80 or " " not in line.strip().split("  ")[-1].strip(), line
    assert max(len(line) for line in whole.split("\n")) > 80
    assert re.sub(r"\s+", " ", shown.decode()) == re.sub(r"\s+", " ", whole), "the same words"
    # What goes on stands below the beginning of its fact.
    assert any(line.startswith(" " * 13) for line in lines)


def test_analyze_json_is_the_contract_and_its_table_is_the_file(command, models, tmp_path):
    out = tmp_path / "run.h5"
    outcome = run(command, models / "diff_v2", out, "--json", "--layers", "1", "--heads", "0,2-3")
    assert outcome.err == b"", outcome
    found = outcome.json
    for key, value in {"path": str(out), "tokens": TOKENS, "layers": [1], "heads": [0, 2, 3], "device": "cpu",
                       "dtype": "float32", "non_finite_layer": None}.items():
        assert found[key] == value, key
    assert found["seconds"] > 0 and found["peak_rss_bytes"] > 1 << 20
    assert [(row["layer"], row["head"]) for row in found["table"]] == [(1, 0), (1, 2), (1, 3)]
    with h5py.File(out) as file:
        assert file["layer"][()].tolist() == [1] and file["head"][()].tolist() == [0, 2, 3]
        for index, row in enumerate(found["table"]):
            for name in ("sink_score", "logit_max", "logit_min", "effective_keys_mean", "entropy_mean"):
                pair = [row[name], row[name + "_second_map"]]
                np.testing.assert_allclose(pair, file[name][0, index], rtol=1e-6, err_msg=name)
            for name in ("sink_score_net", "context_rms_mean", "lambda_mean", "output_cancellation_mean"):
                np.testing.assert_allclose(row[name], file[name][0, index], rtol=1e-6, err_msg=name)
            np.testing.assert_allclose(row["rows_inside_bound"], file["rows_inside_bound"][0, index], rtol=1e-6)


def table_rows(text, title):
    """The rows below the line that begins with `title`: [[cell, …], …], header first."""
    lines = text.split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith(title))
    rows = []
    for line in lines[start + 1:]:
        if not line.startswith("  "):
            break
        rows.append(re.split(r"\s{2,}", line.strip()))
    return rows


def test_summary_shows_both_maps_of_a_differential_head_and_the_net_map(command, models, tmp_path):
    out = tmp_path / "run.h5"
    text = run(command, models / "diff_v2", out).text
    rows = table_rows(text, "Sinks")
    assert rows[0][:4] == ["head", "first map", "second map", "net"]
    with h5py.File(out) as file:
        score, net = file["sink_score"][()], file["sink_score_net"][()]
        high, low = file["logit_max"][()], file["logit_min"][()]
    order = np.argsort(-score[..., 0], axis=None)[:5]
    assert [row[0] for row in rows[1:]] == [f"L{i // 4}.H{i % 4}" for i in order]
    for row, i in zip(rows[1:], order, strict=True):
        np.testing.assert_allclose([float(cell) for cell in row[1:4]], [*score[i // 4, i % 4], net[i // 4, i % 4]], atol=6e-4)
    logits = table_rows(text, "Widest")
    width = high - low
    widest = np.argsort(-width, axis=None)[:5]
    assert [row[0] + " " + row[1].split()[0] for row in logits[1:]] == \
        [f"L{i // 8}.H{i // 2 % 4} {('first', 'second')[i % 2]}" for i in widest]
    assert any("second" in row[1] for row in logits[1:]) or (width[..., 1].max() < np.sort(width, axis=None)[-5])
    assert "Differential heads: mean λ" in text
    assert f"Wrote {out}" in text


def test_summary_of_a_head_with_one_map_has_no_second_column(command, models, tmp_path):
    text = run(command, models / "softmax", tmp_path / "run.h5").text
    assert table_rows(text, "Sinks")[0] == ["head", "sink score", "net", "top key", "its score"]
    assert "second" not in text and "Differential" not in text
    assert text.startswith("softmax: headroom, 2 layers × 4 heads, softmax\n")


@pytest.mark.parametrize("path", [".", "./", "../softmax/", "::L0"])
def test_a_folder_is_called_by_its_name_however_it_is_given(command, models, tmp_path, path):
    given = "../softmax" + path if path == "::L0" else path
    text = run(command, given, tmp_path / "run.h5", cwd=models / "softmax").text
    assert text.startswith("softmax: headroom, ")
    with h5py.File(tmp_path / "run.h5") as file:
        assert file.attrs["model_id"] == "softmax"


def test_inspect_shows_the_head_an_address_names(command, models):
    model = str(models / "diff_v2")
    outcome = command("inspect", model + "/::L1.H2", "--json")
    assert outcome.code == 0, outcome
    # DIFF V2, 4 output heads, 2 value heads: head 2 is query heads 4 and 5, both in group 1.
    program = "diff_v2: q4 k1 v1 − λ·(q5 k1 v1), λ = σ(projection) per token"
    assert outcome.json["head_programs"] == [{"layer": 1, "head": 2, "program": program}]
    assert f"L1.H2        {program}\n" in command("inspect", model + "::L1.H2").text
    assert command("inspect", model + "::L1").text.count("L1.H") == 4
    for place, expected in (("::L2", b"0 to 1"), ("::L1.H4", b"0 to 3"), ("::H1", b"::L3"), ("::L", b"::L3")):
        outcome = command("inspect", model + place)
        assert outcome.code == 2 and expected in outcome.err, outcome


def test_an_address_is_the_same_as_its_options(command, models, tmp_path):
    run(command, str(models / "diff_v1") + "/::L1.H2", tmp_path / "address.h5")
    run(command, models / "diff_v1", tmp_path / "options.h5", "--layers", "1", "--heads", "2")
    assert datasets(tmp_path / "address.h5") == datasets(tmp_path / "options.h5")
    with h5py.File(tmp_path / "address.h5") as file:
        assert file["sink_score"].shape == (1, 1, 2)


def test_a_colon_pair_in_a_real_name_is_part_of_the_name(command, tmp_path):
    C.headroom(tmp_path / "step::L1", C.headroom_config("softmax"), 5)
    run(command, tmp_path / "step::L1", tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5") as file:
        assert file["layer"][()].tolist() == [0, 1]


def test_prompts_from_standard_input_and_files_are_the_same_prompt(command, models, tmp_path):
    run(command, models / "softmax", tmp_path / "argument.h5")
    (tmp_path / "ids.txt").write_text(IDS.replace(",", "\n") + "\n")
    for name, arguments, stdin in (("stdin", ["--ids-file", "-"], IDS.replace(",", " ").encode()),
                                   ("file", ["--ids-file", tmp_path / "ids.txt"], b"")):
        outcome = command("analyze", models / "softmax", "-o", tmp_path / f"{name}.h5", *arguments, stdin=stdin)
        assert outcome.code == 0, outcome
        assert datasets(tmp_path / f"{name}.h5") == datasets(tmp_path / "argument.h5")


def test_compare_equal_runs(command, models, tmp_path):
    for name in "ab":
        run(command, models / "softmax", tmp_path / f"{name}.h5")
    outcome = command("compare", tmp_path / "a.h5", tmp_path / "b.h5")
    assert outcome.code == 0 and outcome.err == b"", outcome
    count = len(datasets(tmp_path / "a.h5"))
    found = re.fullmatch(r"(\d+) quantities: \1 identical, 0 within the tolerance, 0 not equal \(rtol 0, atol 0\)\n", outcome.text)
    assert found and 70 < int(found[1]) <= count
    machine = command("compare", tmp_path / "a.h5", tmp_path / "b.h5", "--json")
    assert machine.code == 0 and machine.json["equal"] is True
    assert all(q["status"] == "equal" and q["max_absolute"] == 0 for q in machine.json["quantities"])


def test_compare_different_runs_names_the_largest_difference_and_its_place(command, models, tmp_path):
    a, b = tmp_path / "a.h5", tmp_path / "b.h5"
    run(command, models / "softmax", a)
    run(command, models / "softmax", b, "--what-if", "L1.H2:temperature=2")
    machine = command("compare", a, b, "--json")
    assert machine.code == 1 and machine.err == b"" and machine.json["equal"] is False, machine
    found = {q["name"]: q for q in machine.json["quantities"]}
    with h5py.File(a) as fa, h5py.File(b) as fb:
        difference = np.abs(fa["entropy_mean"][()].astype(float) - fb["entropy_mean"][()])
        place = np.unravel_index(np.nanargmax(difference), difference.shape)
        entropy = found["entropy_mean"]
        assert entropy["status"] == "different" and entropy["differing"] == int((difference > 0).sum())
        np.testing.assert_allclose(entropy["max_absolute"], np.nanmax(difference), rtol=1e-6)
        assert list(entropy["max_absolute_at"]["at"].values()) == [int(i) for i in place]
        assert place[:2] == (1, 2)
    assert found["tokens/token_id"]["status"] == "equal"
    text = command("compare", a, b)
    assert text.code == 1 and text.err == b""
    line = next(line for line in text.text.split("\n") if line.startswith("entropy_mean "))
    assert "different" in line and "layer 1, head 2, component 0" in line
    assert not re.search(r"^tokens/token_id ", text.text, re.M), "what is identical is counted, not listed"
    # Before the list: loss, sink heads, signed means over heads, by the files themselves.
    changes = machine.json["changes"]
    with h5py.File(a) as fa, h5py.File(b) as fb:
        for name, mean in changes["means"].items():
            of_a, of_b = (file[name][()].astype(float).reshape(*file[name].shape[:2], -1)[:, :, 0] for file in (fa, fb))
            np.testing.assert_allclose([mean["a"], mean["b"]], [of_a.mean(), of_b.mean()], rtol=1e-6)
            assert abs(mean["change"] - (of_b.mean() - of_a.mean())) < 1e-6 and mean["rose"] == int((of_b > of_a).sum())
            assert abs(mean["largest"]) == np.abs(of_b - of_a).max() and mean["heads"] == of_a.size
        losses = [float(file.attrs["next_token_loss"]) for file in (fa, fb)]
        sinks = [int((file["sink_score"][:, :, 0] > 0.3).sum()) for file in (fa, fb)]
    assert {"sink_score", "entropy_normalized_mean", "context_rms_relative_mean", "logit_max"} <= set(changes["means"])
    assert [changes["next_token_loss"][key] for key in "ab"] == losses and [changes["sink_heads"][key] for key in "ab"] == sinks
    assert text.text.index("next-token loss") < text.text.index("\nquantity"), text.text
    unequal = sum(q["status"] != "equal" for q in found.values())
    assert re.search(rf"\n{len(found)} quantities: \d+ identical, 0 within the tolerance, {unequal} not equal", "\n" + text.text)


def test_compare_tolerance_decides(command, models, tmp_path):
    a, b = tmp_path / "a.h5", tmp_path / "b.h5"
    run(command, models / "softmax", a)
    b.write_bytes(a.read_bytes())
    with h5py.File(b, "r+") as file:
        file["coherence_mean"][1, 3] *= np.float32(1 + 1e-5)
    assert command("compare", a, b).code == 1
    assert command("compare", a, b, "--rtol", "1e-6").code == 1
    loose = command("compare", a, b, "--rtol", "1e-4")
    assert loose.code == 0 and "1 within the tolerance, 0 not equal" in loose.text, loose
    assert command("compare", a, b, "--atol", "1").code == 0


def test_compare_runs_of_other_shapes_and_what_only_one_has(command, models, tmp_path):
    a, b = tmp_path / "a.h5", tmp_path / "b.h5"
    run(command, models / "softmax", a)
    run(command, models / "softmax", b, "--only", "summary", "--layers", "0")
    outcome = command("compare", a, b, "--json", "--rtol", "1", "--atol", "1e9")
    assert outcome.code == 1, outcome
    found = {q["name"]: q["status"] for q in outcome.json["quantities"]}
    assert found["rows/lse"] == "only_in_a" and found["sink_score"] == "axes_differ" and found["tokens/token_id"] == "equal"
    text = command("compare", a, b).text
    assert re.search(r"^sink_score .*axes differ .*layer 2.* \| .*layer 1", text, re.M)
    assert re.search(r"^rows/lse .*only in a", text, re.M)


def test_compare_refuses_what_is_no_run_file(command, models, tmp_path):
    run(command, models / "softmax", tmp_path / "run.h5")
    refused_both_ways(command, 5, ["missing.h5"], "compare", tmp_path / "run.h5", tmp_path / "missing.h5")
    (tmp_path / "text.h5").write_text("not HDF5 at all\n" * 100)
    refused_both_ways(command, 3, ["text.h5"], "compare", tmp_path / "run.h5", tmp_path / "text.h5")
    (tmp_path / "empty.h5").write_bytes(b"")
    refused_both_ways(command, 3, ["empty.h5"], "compare", tmp_path / "empty.h5", tmp_path / "run.h5")
    whole = (tmp_path / "run.h5").read_bytes()
    (tmp_path / "cut.h5").write_bytes(whole[:len(whole) // 2])
    refused_both_ways(command, 3, ["cut.h5"], "compare", tmp_path / "run.h5", tmp_path / "cut.h5")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["numbers"] = [1, 2, 3]
    refused_both_ways(command, 3, ["other.h5"], "compare", tmp_path / "run.h5", tmp_path / "other.h5")
    (tmp_path / "linked.h5").write_bytes(whole)
    with h5py.File(tmp_path / "linked.h5", "r+") as file:
        file["stolen"] = h5py.ExternalLink("/etc/passwd", "/")
    refused_both_ways(command, 3, ["/etc/passwd"], "compare", tmp_path / "run.h5", tmp_path / "linked.h5")


def test_families_are_those_of_the_documents(command):
    text, machine = command("families"), command("families", "--json")
    assert text.code == 0 and machine.code == 0, text
    families = {f["model_type"]: f["summary"] for f in machine.json["families"]}
    assert len(families) > 20 and all(families.values())
    for name, summary in families.items():
        assert re.search(rf"^{name} +{re.escape(summary)}$", text.text, re.M), name
    assert f"\n{len(families)} values of model_type" in text.text
    named = {f["model_type"]: ", ".join(f["gguf"]) for f in machine.json["families"] if f["gguf"]}
    entries = [name if name == other else f"{name} ({other})" for name, other in named.items()]
    assert "from GGUF: " + ", ".join(entries) == " ".join(text.text.split("\nfrom GGUF:")[1].split()).join(["from GGUF: ", ""])
    assert all(len(line) <= 80 for line in text.text.splitlines())
    root = pathlib.Path(__file__).parents[2]
    table = command("families", "--markdown").text
    assert f"<!-- headroom families --markdown -->\n{table}<!-- end -->\n" in (root / "core/model/ARCHITECTURES.md").read_text()
    listed = re.search(r"- \*\*Families\*\*.*?\n- \*\*", (root / "README.md").read_text(), re.S)[0]
    assert set(re.findall(r"`([\w-]+)`", listed)) == set(families)
    assert command("families", "--json", "--markdown").code == 2


def test_an_unknown_family_is_refused_with_the_nearest(command, tmp_path):
    C.headroom(tmp_path / "model", {**C.headroom_config("softmax"), "model_type": "qwen_3"}, 5)
    refused_both_ways(command, 4, ["qwen_3", "qwen3", "headroom families"], "analyze", tmp_path / "model", "--ids", "1", "-o",
                      tmp_path / "run.h5")


def test_doctor_says_what_works_here(command):
    outcome = command("doctor")
    assert outcome.code == 0 and outcome.err == b"", outcome
    report = command("doctor", "--json").json
    assert {"headroom", "hdf5", "libtorch", "threads", "devices", "model_types"} <= set(report) and "error" not in report
    assert report["libtorch"].startswith("2.") and "cpu" in report["devices"].split(", ")
    assert {"llama", "gpt2", "diffllama", "headroom"} <= set(report["model_types"].split(", "))
    assert all(container in report["containers"] for container in ("safetensors", "GGUF", "PyTorch"))
    for value in report.values():
        assert str(value) in outcome.text


def test_doctor_asks_for_a_display_that_is_not_there(command, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    outcome = command("doctor", "--json")
    assert outcome.code == 0, "computing needs no display"
    assert "no display" in outcome.json["window"] and outcome.json["display"].startswith("none")
    monkeypatch.setenv("DISPLAY", ":4242")
    report = command("doctor", "--json").json
    assert "cannot be opened (DISPLAY=:4242)" in report["window"] and report["display"] == "DISPLAY=:4242"


def test_doctor_opens_a_window_and_says_with_what(command):
    if not shutil.which("xvfb-run"):
        pytest.skip("xvfb-run is not installed")
    shown = subprocess.run(["xvfb-run", "-a", "-s", "-screen 0 640x480x24 -noreset", command.program, "doctor", "--json"],
                           capture_output=True, timeout=300)
    report = json.loads(shown.stdout)
    assert shown.returncode == 0 and report["window"] == "works", report
    assert report["display"].startswith("DISPLAY=:")
    version, _, renderer = report["opengl"].removeprefix("OpenGL ").partition(", ")
    assert tuple(map(int, version.split()[0].split(".")[:2])) >= (3, 3) and renderer, report
    fonts = dict(part.split(" ", 1) for part in report["fonts"].split(", "))
    assert set(fonts) == {"sans", "mono"} and all(pathlib.Path(path).is_file() for path in fonts.values()), report


def test_a_refused_command_touches_nothing(command, models, tmp_path):
    before = snapshot(models)
    refused(command("analyze", models / "softmax", "--ids", "1,99", "-o", tmp_path / "run.h5"), 2, "99", "52")
    assert not list(tmp_path.iterdir()) and snapshot(models) == before


def test_table_is_the_file_filtered_and_sorted(command, models, tmp_path):
    """Against the datasets themselves, read with h5py and ordered with numpy."""
    run = tmp_path / "run.h5"
    assert command("analyze", models / "diff_v2", "--ids", "1,5,9,2,7,3,8,4", "-o", run).code == 0
    with h5py.File(run) as file:
        sink = np.asarray(file["sink_score"])[..., 0].ravel()
        rms = np.asarray(file["context_rms_relative_mean"]).ravel()
        layers, heads = file["sink_score"].shape[:2]
    place = [(layer, head) for layer in range(layers) for head in range(heads)]
    order = sorted((i for i in range(len(place)) if rms[i] > np.median(rms)), key=lambda i: -sink[i])
    asked = ["--filter", f"context_rms_relative_mean > {float(np.median(rms))!r}",
             "--sort", "sink_score", "--columns", "sink_score", "context_rms_relative_mean"]
    csv = command("table", run, *asked)
    assert csv.code == 0, csv
    rows = [line.split(",") for line in csv.text.splitlines()]
    assert rows[0] == ["layer", "head", "kind", "sink_score", "context_rms_relative_mean"]
    assert [(int(r[0]), int(r[1])) for r in rows[1:]] == [place[i] for i in order]
    assert [float(r[3]) for r in rows[1:]] == [sink[i] for i in order]
    machine = json.loads(command("table", run, *asked, "--first", "1", "--json").text)
    assert (machine["heads"], machine["shown"], len(machine["rows"])) == (len(place), 1, 1)
    assert machine["rows"][0]["sink_score"] == sink[order[0]]
    saved = (tmp_path / "table").with_suffix(".md")
    upside = command("table", run, *asked, "--ascending", "--format", "markdown", "-o", saved)
    assert upside.code == 0 and upside.text == ""
    lines = saved.read_text().splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == [f"| L{place[i][0]}.H{place[i][1]}" for i in reversed(order)]
    again = command("table", run, "-o", saved)
    assert again.code == 2 and saved.name in again.errors and saved.read_text().splitlines() == lines


@pytest.mark.parametrize("arguments, named", [(["--filter", "sink_score >"], "column"), (["--sort", "no_such"], "no_such"),
                                              (["--columns", "no_such"], "no_such"), (["--format", "xml"], "xml")])
def test_table_refuses_what_it_does_not_know(command, run_file, arguments, named):
    refused = command("table", run_file, *arguments)
    assert refused.code == 2 and named in refused.errors, refused
