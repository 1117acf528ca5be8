"""What each head is worth, in the window: the file of its sweep against that of `headroom ablate`, and single changes against
`analyze --what-if`, number by number."""
import json

import h5py
import numpy as np
import pytest

import window as W

DEMO = W.ROOT / "assets" / "demo"
WAYS = {"off": ("zero", "head=off"), "mean": ("mean", "head=mean"), "hide-key0": ("hide-key", "hide-key=0"),
        "second-off": ("second-map", "second-map=off")}
IDS = ",".join(str(ord(c)) for c in "In the beginning God created the heaven and the earth. And the earth was without form, and void;")


@pytest.fixture(scope="module")
def window(program, display, tmp_path_factory):
    return W.Window(program, display, tmp_path_factory.mktemp("window"))


@pytest.fixture(scope="module")
def report(program, run_program):
    def call(*arguments):
        result = run_program([program, *map(str, arguments), "--device", "cpu", "--json"], text=True, timeout=300)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    return call


def datasets(path):
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, one: found.__setitem__(name, one[()]) if isinstance(one, h5py.Dataset) else None)
        attributes = {name: file.attrs[name] for name in ("mode", "change", "blocks", "results_asked", "results_done", "complete", "next_token_loss")}
    return found, attributes


@pytest.fixture(scope="module")
def swept(window):
    """Every way's file, the second way in two parts."""
    lines = ["open assets/demo/bytes/diff_v2", "wait", f"ids {IDS}", "run", "wait"]
    for way in WAYS:
        if way == "mean":
            lines += ["importance.run mean layer 1", "wait", "importance.run mean L0.H3", "wait"]
        lines += [f"importance.run {way}", "wait", "expect importance.status == done", "expect importance.done == 8",
                  f"importance.export build/window/sweep_{way}.h5 replace", "wait", "expect errors == 0"]
    window.run("\n".join(lines) + "\nquit\n")
    return {way: window.pictures / f"sweep_{way}.h5" for way in WAYS}


@pytest.mark.parametrize("way", WAYS)
def test_the_file_is_that_of_the_command_line(report, swept, tmp_path, way):
    out = tmp_path / "ablation.h5"
    report("ablate", DEMO / "bytes" / "diff_v2", "--ids", IDS, "--mode", WAYS[way][0], "-o", out)
    (ours, our_attributes), (theirs, their_attributes) = datasets(swept[way]), datasets(out)
    assert ours.keys() == theirs.keys()
    for name, values in theirs.items():
        if values.dtype.kind in "fiu":
            np.testing.assert_array_equal(ours[name], values, err_msg=name)
    assert our_attributes == their_attributes


@pytest.mark.parametrize("way", WAYS)
def test_each_value_is_that_of_a_what_if(report, swept, tmp_path, way):
    def loss(*arguments):
        out = tmp_path / "run.h5"
        report("analyze", DEMO / "bytes" / "diff_v2", "--ids", IDS, "--only", "summary", "--force", "-o", out, *arguments)
        with h5py.File(out) as file:
            return float(file.attrs["next_token_loss"])

    changes = datasets(swept[way])[0]["delta_loss"]
    whole = loss()
    assert changes.shape == (2, 4) and np.isfinite(changes).all()
    for layer in range(2):
        for head in range(4):
            with_change = loss("--what-if", f"L{layer}.H{head}:{WAYS[way][1]}")
            assert abs(changes[layer, head] - (with_change - whole)) < 1e-4, (layer, head)
