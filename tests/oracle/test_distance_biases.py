"""Biases by distance in a run: what the file says of them, every dataset by its definition, every backend, what-ifs and warnings."""
import h5py
import numpy as np
import pytest
import torch

import definitions as D
import families
import quantities
import test_definitions as by_definition
from compare import Comparison

ARGUMENTS = ("--hidden", "--exact-maps", "--components", "--maps", "8")


def by_name(name):
    return next(case for case in families.CASES if case.name == name)


def ids_of(case, n, seed=3):
    return torch.randint(0, case.config["vocab_size"], (n,), generator=torch.Generator().manual_seed(seed)).tolist()


@pytest.mark.parametrize("what_ifs", [[], ["hide-key=0,3", "L1:temperature=2"], ["normalizer=softmax_one"], ["normalizer=softpick"],
                                      ["L0.H1:head=off"]], ids=lambda what_ifs: " ".join(what_ifs) or "as it is")
@pytest.mark.parametrize("name", ["bloom", "falcon rw"])
def test_every_dataset_follows_from_its_definition(analyze, tmp_path, name, what_ifs):
    case = by_name(name)
    families.write(tmp_path / "model", case, 11)
    analyze(tmp_path / "model", ids_of(case, 60), tmp_path / "run.h5", "--dtype", "float64", *ARGUMENTS,
            *[part for text in what_ifs for part in ("--what-if", text)])
    run = D.Run(tmp_path / "run.h5")
    wrong = by_definition.compare(run, "", D.ROOT, by_definition.BY_OTHER_CHECKS, 1e-9)
    wrong += by_definition.compare(run, "rows", D.ROWS, {"rounds_to_one"}, 1e-9)
    wrong += by_definition.compare(run, "keys", D.KEYS, {"key_norm", "value_norm"}, 1e-9)
    wrong += by_definition.compare(run, "maps", D.MAPS, set(), 1e-9)
    wrong += by_definition.check_positions(run, 1e-9) + by_definition.check_shares(run, 1e-8)
    wrong += by_definition.check_histograms(run, 1e-9) + by_definition.check_rounding(run, 1e-9) + by_definition.check_exact(run, 1e-9)
    run.close()
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("backend", ["reference", "blocked", "cpu", "auto"])
@pytest.mark.parametrize("name", ["bloom twelve heads, not tied", "mpt", "falcon alibi, groups"])
def test_every_backend(analyze, tmp_path, name, backend):
    case = by_name(name)
    weights = families.write(tmp_path / "model", case, 7)
    ids = ids_of(case, 97)
    analyze(tmp_path / "model", ids, tmp_path / "run.h5", "--backend", backend, *ARGUMENTS)
    comparison = Comparison(tmp_path / "run.h5", quantities.compute(families.run(case, weights, ids), ids, maps=8), "float32")
    comparison.all()
    comparison.finish()
    with h5py.File(tmp_path / "run.h5") as file:
        assert file.attrs["backend"] == ("cpu" if backend == "auto" else backend)


def test_the_file_says_what_the_bias_is(analyze, tmp_path):
    slopes = {"bloom twelve heads, not tied": [2.0**-e for e in (1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5)],
              "mpt six heads, cut, scaled": [2.0**-e for e in (2, 4, 6, 8, 1, 3)],
              "falcon rw": [2.0**-e / np.sqrt(8) for e in (2, 4, 6, 8)], "falcon": None}
    for name, expected in slopes.items():
        case, path = by_name(name), tmp_path / f"{name}.h5"
        families.write(tmp_path / name, case, 7)
        analyze(tmp_path / name, ids_of(case, 9), path, "--only", "summary")
        with h5py.File(path) as file:
            assert ("program/alibi_slope" in file) == (expected is not None) and "program/distance_bias" not in file
            if expected is not None:
                found = file["program/alibi_slope"][()]
                assert found.dtype == np.float64 and found.shape == (len(file["layer"]), len(expected))
                assert np.abs(found / np.array(expected) - 1).max() < 1e-15


def test_what_libraries_compute_otherwise_is_said(analyze, tmp_path):
    for name, changes, told in (("mpt", {"attn_config": {"alibi_bias_max": 16}}, "alibi_bias_max is 16"),
                                ("falcon rw", {"max_position_embeddings": 2048}, "rounds slope · position to bfloat16")):
        case = by_name(name)
        case = families.Case(name, {**case.config, **changes})
        families.write(tmp_path / name, case, 7)
        assert told in analyze(tmp_path / name, ids_of(case, 9), tmp_path / f"{name}.h5", "--only", "summary").stdout
