"""--rounding: what heads lose with weights in bfloat16, against a double forward whose rounding is done bit by bit."""
import math

import h5py
import numpy as np
import pytest

import checkpoints as C
import forward
from command import refused_both_ways
from test_parity import token_ids

KINDS = {"softmax": {}, "softmax_sink": {"window": 7}, "diff_v1": {"num_key_value_heads": 1}, "diff_v2": {"window": 30}}
NAMES = ("rounding_bias", "rounding_noise", "rounding_bias_t")


def bfloat16(x):
    """The nearest bfloat16 of each number, ties to even."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return (((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) << 16).astype(np.uint32).view(np.float32).astype(np.float64)


def errors_of(m, visible, sink):
    z = np.where(visible, m.z.numpy(), -np.inf)
    largest = z.max(axis=1, keepdims=True)
    p = np.exp(z - largest)
    total = p.sum(axis=1, keepdims=True) + (0 if sink is None else np.exp(sink - largest))
    values = m.values.numpy()
    errors = (bfloat16(bfloat16(p) @ values) - p @ values) / total
    rms = math.sqrt(((p @ values / total) ** 2).mean())
    mean, deviation = errors.mean(axis=0), errors.std(axis=0, ddof=1)
    t = mean[deviation > 0] / (deviation[deviation > 0] / math.sqrt(len(errors)))
    return {"rounding_bias": math.sqrt((mean**2).mean()) / rms, "rounding_noise": math.sqrt((errors**2).mean()) / rms,
            "rounding_bias_t": math.sqrt((t**2).mean())}


@pytest.mark.parametrize("backend", ["blocked", "reference"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_head_by_its_definition(analyze, tmp_path, kind, backend):
    model = C.headroom(tmp_path / "model", C.headroom_config(kind, **KINDS[kind]), 53)
    ids = token_ids(90, 53)
    analyze(tmp_path / "model", ids, tmp_path / "run.h5", "--dtype", "float64", "--backend", backend, "--rounding")
    trace, compared = forward.run(model, ids), 0
    with h5py.File(tmp_path / "run.h5") as file:
        for l, layer in enumerate(trace.layers):
            for h, head in enumerate(layer.heads):
                for c in range(2):
                    found = {name: file[name][l, h, c] for name in NAMES}
                    if c >= len(head.maps):
                        assert all(math.isnan(value) for value in found.values())
                        continue
                    wanted = errors_of(head.maps[c], head.visible.numpy(), head.sink)
                    for name in NAMES:
                        assert found[name] == pytest.approx(wanted[name], rel=1e-6), (l, h, c, name)
                    assert 5e-4 < found["rounding_noise"] < 2e-2
                    compared += 1
    assert compared >= 8


def test_float32_runs_agree_with_float64_and_change_nothing_else(analyze, tmp_path):
    C.headroom(tmp_path / "model", C.headroom_config("diff_v2"), 54)
    ids = token_ids(80, 54)
    for name, arguments in {"plain": [], "wide": ["--dtype", "float64", "--rounding"], "narrow": ["--rounding"]}.items():
        analyze(tmp_path / "model", ids, tmp_path / f"{name}.h5", *arguments)
    with h5py.File(tmp_path / "plain.h5") as plain, h5py.File(tmp_path / "wide.h5") as wide, h5py.File(tmp_path / "narrow.h5") as narrow:
        assert not set(NAMES) & set(plain)
        assert set(narrow) - set(plain) == set(NAMES)
        # Single roundings fall to the other side in float32: the errors of a head agree, not their last digits.
        for name in NAMES[:2]:
            assert np.allclose(narrow[name], wide[name], rtol=0.1, atol=2e-5), name
        for name in plain:
            if isinstance(plain[name], h5py.Dataset) and plain[name].dtype.kind == "f":
                assert np.array_equal(plain[name][()], narrow[name][()], equal_nan=True), name


def test_bfloat16_is_refused(command, tmp_path):
    C.headroom(tmp_path / "model", C.headroom_config("softmax"), 55)
    refused_both_ways(command, 2, ["--rounding", "bfloat16"], "analyze", tmp_path / "model", "--ids", "1,2,3", "-o", tmp_path / "run.h5",
                      "--dtype", "bfloat16", "--rounding")
