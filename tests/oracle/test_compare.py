"""The comparison itself: a run file made of the oracle's own numbers passes, and every single change in it is reported."""
import h5py
import numpy as np
import pytest

import checkpoints as C
import forward
import quantities
from compare import HISTOGRAMS, Comparison
from test_parity import token_ids

EDGES = {"context_rms_relative": np.linspace(0, 2, 41), "logit": np.linspace(-8, 8, 33), "lambda": np.linspace(0, 1, 21),
         "attention_weight": np.logspace(-6, 0, 25)}


def write(path, expected, dtype):
    with h5py.File(path, "w") as file:
        for name, value in expected.items():
            if name[0] not in "_@":
                value = np.asarray(value)
                file[name] = value.astype("int32" if value.dtype.kind == "i" else dtype)
        for name, per_component in HISTOGRAMS.items():
            shape = np.shape(expected["_hist"])[:2] + ((2,) if per_component else ()) + (len(EDGES[name]) - 1,)
            counts = np.zeros(shape, dtype="int64")
            for layer, heads in enumerate(expected["_hist"]):
                for head, samples in enumerate(heads):
                    for component, x in enumerate(samples[name] if per_component else [samples[name]]):
                        at = (layer, head, component) if per_component else (layer, head)
                        bins = np.digitize(x[~np.isnan(x)], EDGES[name]) - 1
                        np.add.at(counts[at], bins.clip(0, shape[-1] - 1), 1)
            file["hist/" + name], file[f"hist/{name}_edges"] = counts, EDGES[name]
        for name in ("next_token", "token_rank"):
            file["predictions/" + name] = np.asarray(expected["_" + name]).astype("int32")
        file.attrs["next_token_loss"] = expected["@next_token_loss"]


def problems(path, expected, dtype):
    comparison = Comparison(path, expected, dtype)
    comparison.all()
    comparison.file.close()
    return comparison.problems


@pytest.mark.parametrize("kind", ["softmax_sink", "diff_v1"])
def test_every_change_is_reported(tmp_path, kind):
    model, ids = C.headroom(tmp_path / "model", C.headroom_config(kind), 3), token_ids(37, 3)
    expected = quantities.compute(forward.run(model, ids), ids, maps=8)
    path = tmp_path / "run.h5"
    write(path, expected, "float64")
    assert not problems(path, expected, "float64")
    write(tmp_path / "single.h5", expected, "float32")
    assert not problems(tmp_path / "single.h5", expected, "float32")
    changed = 0
    names = [name for name in expected if name[0] not in "_@"] + ["hist/" + name for name in HISTOGRAMS]
    for name in names:
        with h5py.File(path, "r+") as file:
            original = file[name][()]
            flat = np.array(original, copy=True).reshape(-1)
            finite = np.flatnonzero(~np.isnan(flat.astype(float)))
            if not len(finite):
                flat[0] = 0.5  # a number where none may be
            else:
                flat[finite[len(finite) // 2]] += 1 if flat.dtype.kind == "i" else 1e-6 * max(1, np.nanmax(np.abs(flat)))
            if name.startswith(("rows_", "rounds_to_one")):
                flat[finite[0]] += 1 / 37  # one row more
            file[name][()] = flat.reshape(original.shape)
        assert any(p.startswith(name) for p in problems(path, expected, "float64")), name
        with h5py.File(path, "r+") as file:
            file[name][()] = original
        changed += 1
    assert changed == len(names) > 70
    assert not problems(path, expected, "float64")


def test_a_missing_dataset_and_a_wrong_type_are_reported(tmp_path):
    model, ids = C.headroom(tmp_path / "model", C.headroom_config("softmax"), 3), token_ids(37, 3)
    expected = quantities.compute(forward.run(model, ids), ids, maps=8)
    path = tmp_path / "run.h5"
    write(path, expected, "float32")
    assert any("stored as float32" in p for p in problems(path, expected, "float64"))
    with h5py.File(path, "r+") as file:
        del file["coherence_mean"]
    assert any(p == "coherence_mean: missing" for p in problems(path, expected, "float32"))
