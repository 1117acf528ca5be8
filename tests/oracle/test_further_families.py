"""Families that transformers does not have against their published forms: hidden states, logits, statistics and what-ifs, and what a state
dict without a model_type is taken for."""
import json

import pytest
import torch

import further_families as D
import quantities
from compare import Comparison
from test_families import token_ids

# Softpick's weights of logits near 0 are as exact as e^z − 1 is, in float32 not at all: what divides by them, or takes their logarithm.
NEAR_ZERO = ("effective_keys_mean", "hist")
ARGUMENTS = ["--hidden", "--exact-maps", "--components", "--maps", "8"]


def seed_of(case):
    return sum(map(ord, case.name))


def named(case):
    return case.name.replace(" ", "_").replace(",", "")


@pytest.mark.parametrize("case", D.CASES, ids=named)
def test_every_dataset(analyze, tmp_path, parity, case):
    weights = D.write(tmp_path / "model", case, seed_of(case))
    ids = token_ids(case.n, seed_of(case), case.sizes["vocab_size"])
    trace = D.run(case, weights, ids)
    expected = quantities.compute(trace, ids, maps=8)
    for dtype in ("float64", "float32"):
        told = analyze(tmp_path / "model", ids, tmp_path / f"{dtype}.h5", "--dtype", dtype, *ARGUMENTS)
        assert "warning" not in (told.stdout + told.stderr).lower(), told.stdout + told.stderr
        comparison = Comparison(tmp_path / f"{dtype}.h5", expected, dtype)
        comparison.all(skip=NEAR_ZERO if dtype == "float32" and "softpick" in case.name else ())
        comparison.parameters()
        assert [kind.decode() for kind in comparison.file["attention_kind"][()]] == [layer.kind for layer in trace.layers]
        comparison.finish()
        parity(D.model_type(case), dtype=dtype, case=case.name, reference="equations", **comparison.worst)


def by_name(name):
    return next(case for case in D.CASES if case.name == name)


WHAT_IFS = [
    ("unilm V1", ["second-map=off"], ["weights", "rows_*", "attention_kind"]),
    ("unilm V1", ["L1:lambda=0.3", "norm=off"], []),
    ("unilm V1", ["pairing=halves"], ["weights"]),
    ("unilm V2", ["lambda=raw"], ["rows_*"]),
    ("unilm V2", ["L1.H2:lambda=0.4"], []),
    ("axolotl", ["L2:lambda=0.25"], []),
    ("axolotl", ["L0.H1:norm=off"], []),
    ("axolotl split", ["pairing=adjacent"], ["weights"]),
    ("axolotl split", ["L1:head=off"], []),
    ("Motif 2.6B", ["L0:lambda=0.7", "L2:norm=off"], []),
    ("Motif 2.6B", ["pairing=halves"], ["weights"]),
    ("Motif 12.7B", ["L1.H3:lambda=0.2"], []),
    ("Motif 12.7B", ["second-map=off"], ["weights", "rows_*", "attention_kind"]),
    ("gated qwen3 headwise", ["L1:gate=off"], []),
    ("softpick", ["normalizer=softmax"], []),
    ("softpick", ["L1:temperature=0.5", "hide-key=2"], []),
]


@pytest.mark.parametrize(("name", "what_ifs", "skip"), WHAT_IFS, ids=[f"{n}:{'+'.join(w)}".replace(" ", "_") for n, w, _ in WHAT_IFS])
def test_what_ifs(analyze, tmp_path, name, what_ifs, skip):
    case = by_name(name)
    weights = D.write(tmp_path / "model", case, seed_of(case))
    ids = token_ids(37, 11, case.sizes["vocab_size"])
    trace = D.run(case, weights, ids, what_ifs)
    change = (trace.logits - D.run(case, weights, ids).logits).abs().max()
    assert change > 1e-3, "the what-if does nothing"
    analyze(tmp_path / "model", ids, tmp_path / "run.h5", "--dtype", "float64", *ARGUMENTS,
            *[part for text in what_ifs for part in ("--what-if", text)])
    comparison = Comparison(tmp_path / "run.h5", quantities.compute(trace, ids, maps=8), "float64")
    comparison.all(skip=[*skip, "maps/pooled_mean_components", "maps/pooled_max_components"])
    comparison.finish()


def test_heads_that_share_a_noise_head_have_no_other_pairing(analyze, tmp_path):
    case = by_name("Motif 12.7B")
    D.write(tmp_path / "model", case, 3)
    told = analyze(tmp_path / "model", [1, 2, 3], tmp_path / "run.h5", "--what-if", "pairing=halves", check=False)
    assert told.returncode == 2 and "share their second map" in told.stderr


@pytest.mark.parametrize("backend", ["reference", "blocked", "cpu"])
def test_softpick_runs_where_it_is_computed_and_nowhere_else(analyze, tmp_path, backend):
    case = by_name("softpick")
    weights = D.write(tmp_path / "model", case, 5)
    ids = token_ids(61, 5, case.sizes["vocab_size"])
    told = analyze(tmp_path / "model", ids, tmp_path / "run.h5", "--backend", backend, *ARGUMENTS, check=backend != "cpu")
    if backend == "cpu":
        assert told.returncode == 2 and "softpick" in told.stderr and not (tmp_path / "run.h5").exists()
        return
    comparison = Comparison(tmp_path / "run.h5", quantities.compute(D.run(case, weights, ids), ids, maps=8), "float32")
    comparison.all(skip=NEAR_ZERO)
    comparison.finish()


@pytest.mark.parametrize("name", ["unilm V1 in its own frame", "unilm V2", "axolotl split, untold type"])
def test_a_state_dict_with_a_config_beside_it(analyze, command, tmp_path, name):
    """torch.save of a state dict, with wrappers or below a key; --config says the sizes and no model_type."""
    case = by_name(name)
    weights = D.weights_of(case, seed_of(case))
    ids = token_ids(37, 3, case.sizes["vocab_size"])
    (tmp_path / "sizes.json").write_text(json.dumps(case.config))
    torch.save({"model": {f"module._orig_mod.{key}": t for key, t in weights.items()}, "epoch": 3}, tmp_path / "state.pt")
    analyze(tmp_path / "state.pt", ids, tmp_path / "run.h5", "--config", tmp_path / "sizes.json", "--dtype", "float64", *ARGUMENTS)
    trace = D.run(case, {key: t.double() for key, t in weights.items()}, ids)
    comparison = Comparison(tmp_path / "run.h5", quantities.compute(trace, ids, maps=8), "float64")
    comparison.all()
    comparison.finish()
    report = command("inspect", tmp_path / "state.pt", "--config", tmp_path / "sizes.json", "--json")
    assert report.code == 0, report
    told = json.loads(report.out)
    assert told["model_type"] == ("llama-differential" if "axolotl" in name else "diff_transformer")
    assert told["attention"] == [layer.kind for layer in trace.layers]
    assert told["heads"] == len(trace.layers[0].heads)
    assert not any("not used" in warning for warning in told["warnings"]), told["warnings"]
