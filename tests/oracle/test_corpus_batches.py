"""Sequences that pass a model together: the numbers of each are those that it has alone, bit for bit, in models whose products are wide
enough that a library may add up few rows and many in two orders, and no length is whole vectors; of every kind of attention."""
import h5py
import numpy as np
import pytest

import checkpoints as C
from test_corpus import LICENCES, contents

WIDE = {"hidden_size": 192, "intermediate_size": 1530, "num_attention_heads": 6, "head_dim": 32}
KINDS = ["softmax", "softmax_one", "softmax_sink", "gated", "diff_v1", "diff_v2"]


def corpus(command, model, out, *arguments):
    outcome = command("corpus", model, "-o", out, "--device", "cpu", "--json", *arguments)
    assert outcome.code == 0, outcome
    return outcome.json


def alone(path, s, run):
    """How many values of a sequence are those of its own run."""
    compared = 0
    with h5py.File(path) as file, h5py.File(run) as own:
        assert file["sequences/next_token_loss"][s] == own.attrs["next_token_loss"]
        for name in set(file["sequences"]) & set(own):
            if own[name].dtype.kind == "f" and own[name].shape == file["sequences"][name].shape[1:]:
                assert own[name][()].astype(np.float32).tobytes() == file["sequences"][name][s].tobytes(), name
                compared += own[name].size
    return compared


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("kind", KINDS)
def test_together_one_by_one_and_alone(warm_command, tmp_path, kind, dtype):
    C.headroom(tmp_path / "model", C.headroom_config(kind, **WIDE), 3)
    ids = np.random.default_rng(5).integers(0, 53, (9, 47)).astype(np.int32)
    np.save(tmp_path / "ids.npy", ids)
    data = ["--data", tmp_path / "ids.npy", "--length", "47", "--dtype", dtype]
    corpus(warm_command, tmp_path / "model", tmp_path / "together.h5", *data)
    corpus(warm_command, tmp_path / "model", tmp_path / "single.h5", *data, "--batch-tokens", "1")
    corpus(warm_command, tmp_path / "model", tmp_path / "fours.h5", *data, "--batch-tokens", "188")
    assert contents(tmp_path / "together.h5") == contents(tmp_path / "single.h5") == contents(tmp_path / "fours.h5")
    for s in (0, 8):
        outcome = warm_command("analyze", tmp_path / "model", "--ids", ",".join(map(str, ids[s])), "-o", tmp_path / "run.h5", "--device", "cpu",
                               "--dtype", dtype, "--force")
        assert outcome.code == 0, outcome
        assert alone(tmp_path / "together.h5", s, tmp_path / "run.h5") > 2 * 6 * 60


def test_a_run_that_ends_with_its_last_measured_layer(warm_command, tmp_path):
    C.headroom(tmp_path / "model", C.headroom_config("diff_v2", num_hidden_layers=3, **WIDE), 4)
    np.save(tmp_path / "ids.npy", np.random.default_rng(6).integers(0, 53, (5, 40)).astype(np.int32))
    data = ["--data", tmp_path / "ids.npy", "--length", "40", "--layers", "0,1", "--heads", "1,3"]
    corpus(warm_command, tmp_path / "model", tmp_path / "together.h5", *data)
    corpus(warm_command, tmp_path / "model", tmp_path / "single.h5", *data, "--batch-tokens", "1")
    assert contents(tmp_path / "together.h5") == contents(tmp_path / "single.h5")


@pytest.mark.parametrize("length", [64, 128])
def test_licences_with_smollm2(warm_command, demo_gguf, tmp_path, length):
    data = ["--data", LICENCES, "--field", "ids", "--length", str(length), "--sequences", "6"]
    corpus(warm_command, demo_gguf, tmp_path / "c.h5", *data)
    with h5py.File(tmp_path / "c.h5") as file:
        ids = file["sequences/token_id"][4]
    outcome = warm_command("analyze", demo_gguf, "--ids", ",".join(map(str, ids)), "-o", tmp_path / "run.h5", "--device", "cpu", "--only", "summary")
    assert outcome.code == 0, outcome
    assert alone(tmp_path / "c.h5", 4, tmp_path / "run.h5") > 270 * 60
