"""Models of which some blocks have no attention: what is measured, how layers are numbered, what is said, and what is refused."""
import json

import h5py
import numpy as np
import pytest
from safetensors.torch import load_file, save_file

import families
import quantities
import sambay
import test_families
from compare import Comparison

IDS = list(range(2, 22))
KINDS = {"lfm2": "short_conv", "qwen3_next": "gated_delta_net", "qwen3_5_text": "gated_delta_net"}
PLACES = {"lfm2": [2], "qwen3_next": [3], "qwen3_5_text": [3]}  # of four blocks


@pytest.fixture(params=sorted(KINDS))
def hybrid(request, tmp_path):
    case = next(case for case in families.CASES if case.name == request.param)
    families.write(tmp_path / "model", case, 3)
    return request.param, tmp_path / "model"


def test_layers_are_numbered_by_block_and_others_are_said(hybrid, analyze, tmp_path):
    name, model = hybrid
    told = analyze(model, IDS, tmp_path / "run.h5", "--hidden")
    with h5py.File(tmp_path / "run.h5") as run:
        assert run["layer"][()].tolist() == PLACES[name]
        assert len(run["hidden/residual"]) == 5  # a boundary for every block
        assert run["sink_score"].shape[0] == len(PLACES[name]) and not np.isnan(run["sink_score"][:, :, 0]).any()
        assert "next_token_loss" in run.attrs  # a run of all that can be measured goes on to the logits
    others = ", ".join(["0-1", "3"] if name == "lfm2" else ["0-2"])
    assert f"layers {others} have {KINDS[name]} in place of attention, which has no maps: run, not measured" in told.stdout


def test_a_layer_without_attention_is_refused_by_name(hybrid, command, tmp_path):
    name, model = hybrid
    place = PLACES[name][0]
    refused = command("analyze", model, "--ids", "1,2,3", "--layers", f"0,{place}", "-o", tmp_path / "run.h5")
    assert refused.code == 2 and "layer 0 has no attention" in refused.errors and f"one of the layers {place}" in refused.errors
    assert KINDS[name] in refused.errors and not (tmp_path / "run.h5").exists()
    refused = command("inspect", f"{model}::L1.H0")
    assert refused.code == 2 and "layer 1 has no attention" in refused.errors
    for what_if in ("L0:head=off", "L1.H0:temperature=2"):
        refused = command("analyze", model, "--ids", "1,2,3", "--what-if", what_if, "-o", tmp_path / "run.h5")
        assert refused.code == 2 and f"layer {what_if[1]} has no attention ({KINDS[name]})" in refused.errors
    ended = command("analyze", model, "--ids", "1,2,3", "--layers", str(place), "-o", tmp_path / "run.h5")
    assert ended.code == 0, ended


def test_inspection_says_which_layers_have_maps(hybrid, command):
    name, model = hybrid
    told = command("inspect", model)
    assert told.code == 0 and "no maps)" in told.text and KINDS[name] in told.text, told
    kinds = command("inspect", model, "--json").json["attention"]
    assert [i for i, kind in enumerate(kinds) if kind != KINDS[name]] == PLACES[name] and len(kinds) == 4


def test_hidden_keys_are_hidden_from_attention_alone(hybrid, analyze, tmp_path):
    """The stream below the first attention carries the token all the same, and the run says so."""
    name, model = hybrid
    analyze(model, IDS, tmp_path / "plain.h5", "--hidden")
    told = analyze(model, IDS, tmp_path / "hidden.h5", "--hidden", "--what-if", "hide-key=0")
    assert "hidden keys are hidden from attention; layers without it carry these tokens on" in told.stdout
    with h5py.File(tmp_path / "plain.h5") as plain, h5py.File(tmp_path / "hidden.h5") as hidden:
        first = PLACES[name][0]
        before, after = plain["hidden/residual"][()], hidden["hidden/residual"][()]
        assert np.array_equal(before[:first + 1], after[:first + 1])
        assert not np.array_equal(before[first + 1], after[first + 1])
        assert (hidden["rows/first_key_weight"][0, :, 0, 1:] == 0).all()


@pytest.mark.parametrize("case", sambay.CASES, ids=lambda case: case.name.replace(" ", "_").replace(",", ""))
@pytest.mark.parametrize(("seed", "dtype"), test_families.RUNS)
def test_phi4flash(analyze, tmp_path, parity, case, seed, dtype):
    weights = sambay.write(tmp_path / "model", case, 10 * seed + len(case.name))
    ids = test_families.token_ids(case.n, seed, case.config["vocab_size"])
    trace = sambay.run(case, weights, ids)
    expected = quantities.compute(trace, ids)
    layers = case.config["num_hidden_layers"]
    told = analyze(tmp_path / "model", ids, tmp_path / "run.h5", "--dtype", dtype, "--hidden", "--exact-maps", "--components")
    assert "warning" not in (told.stdout + told.stderr).lower(), told.stdout + told.stderr
    comparison = Comparison(tmp_path / "run.h5", expected, dtype)
    comparison.all(skip=("maps",))
    comparison.parameters()
    assert comparison.file["layer"][()].tolist() == list(range(1, layers, 2))
    parity(case.config["model_type"], dtype=dtype, case=case.name, reference="equations", **comparison.worst)
    comparison.finish()


@pytest.mark.parametrize("what_ifs", [["L1:second-map=off"], ["L7.H2:lambda=0.3", "norm=off"], ["L5:head=off", "hide-key=0"]],
                         ids=lambda what_ifs: " ".join(what_ifs))
def test_what_ifs_reach_the_layers_behind_through_keys_and_memory(analyze, tmp_path, what_ifs):
    case = sambay.CASES[0]
    weights = sambay.write(tmp_path / "model", case, 4)
    ids = test_families.token_ids(case.n, 4, case.config["vocab_size"])
    trace = sambay.run(case, weights, ids, what_ifs)
    arguments = [part for what_if in what_ifs for part in ("--what-if", what_if)]
    analyze(tmp_path / "model", ids, tmp_path / "run.h5", "--dtype", "float64", "--hidden", "--exact-maps", "--components", *arguments)
    comparison = Comparison(tmp_path / "run.h5", quantities.compute(trace, ids), "float64")
    comparison.all(skip=("maps", "weights", "rows_*", "attention_kind"))
    comparison.finish()


def test_qwen3_5_with_images_opens_as_its_text_model(analyze, tmp_path):
    """The same decoder under the names and the config of a model that also sees: the same numbers."""
    case = next(case for case in families.CASES if case.name == "qwen3_5_text")
    families.write(tmp_path / "text", case, 7)
    config = json.loads((tmp_path / "text" / "config.json").read_text())
    tensors = load_file(tmp_path / "text" / "model.safetensors")
    whole = {"model_type": "qwen3_5", "text_config": config, "vision_config": {"depth": 1}, "tie_word_embeddings": False, "image_token_id": 7}
    renamed = {name.replace("model.", "model.language_model.", 1): t for name, t in tensors.items()}
    renamed["model.visual.blocks.0.norm1.weight"] = tensors["model.norm.weight"].clone()
    (tmp_path / "whole").mkdir()
    (tmp_path / "whole" / "config.json").write_text(json.dumps(whole))
    save_file(renamed, tmp_path / "whole" / "model.safetensors")
    ids = test_families.token_ids(40, 1, case.config["vocab_size"])
    for name in ("text", "whole"):
        told = analyze(tmp_path / name, ids, tmp_path / f"{name}.h5", "--hidden")
        assert "warning" not in (told.stdout + told.stderr).lower(), told.stdout + told.stderr
    with h5py.File(tmp_path / "text.h5") as text, h5py.File(tmp_path / "whole.h5") as seeing:
        assert np.array_equal(text["hidden/logits"][()], seeing["hidden/logits"][()])
        assert np.array_equal(text["rows/lse"][()], seeing["rows/lse"][()], equal_nan=True)
