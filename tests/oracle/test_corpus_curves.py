"""`headroom corpus --curves`: means over rows by the number of keys that they see, against NumPy over the rows that `analyze` writes."""
import json
import math
import random

import h5py
import numpy as np
import pytest
import xarray as xr

import checkpoints as C
from test_corpus import BYTES, CUT, STATISTICS, attributes, contents, corpus, plan, single, texts  # noqa: F401

CURVES = {"context_rms_relative": False, "context_rms": False, "weight_l2": False, "entropy": True, "first_key_weight": True, "lambda": False}


def bins_of(length):
    """[(first, last)] of the numbers of visible keys in each bin."""
    found = [(n, n) for n in range(1, min(length, 11) + 1)]
    k = 28
    while 2 ** (k / 8) <= length:
        found.append((math.ceil(2 ** (k / 8)), math.ceil(2 ** ((k + 1) / 8)) - 1))
        k += 1
    return [pair for pair in found if pair[0] <= length]


def by_bin(rows, visible, bins):
    """Means of rows [..., positions] over those of each bin; NaN is no row."""
    out = np.full((*rows.shape[:-1], len(bins)), np.nan)
    for b, (first, last) in enumerate(bins):
        inside = rows[..., (visible >= first) & (visible <= last)]
        known = ~np.isnan(inside)
        with np.errstate(invalid="ignore"):
            out[..., b] = np.where(known, inside, 0).sum(axis=-1) / known.sum(axis=-1)
    return out


def check_curves(file, values, bins):
    """`values`: {name: [sequences, …, bins]}."""
    curves = file["curves"]
    assert list(zip(curves["visible_first"][:].tolist(), curves["visible_last"][:].tolist())) == bins
    assert file["visible_keys"][:].tolist() == [(first + last) / 2 for first, last in bins]
    for name, x in values.items():
        known = ~np.isnan(x)
        count = known.sum(axis=0)
        stored = dict(zip(STATISTICS, curves[name][:]))
        assert stored["mean"].shape == x.shape[1:], name
        assert np.array_equal(stored["count"], count), name
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(known, x, 0).sum(axis=0) / count
            spread = np.sqrt(np.where(known, (x - mean) ** 2, 0).sum(axis=0) / np.where(count > 1, count - 1, np.nan))
            error = spread / np.sqrt(count)
        # Rows are stored in float32, curves are of the doubles.
        assert stored["mean"] == pytest.approx(mean, rel=3e-6, abs=1e-7, nan_ok=True), name
        assert stored["std"] == pytest.approx(spread, rel=1e-4, abs=3e-7, nan_ok=True), name
        assert stored["standard_error"] == pytest.approx(error, rel=1e-4, abs=3e-7, nan_ok=True), name
        for absent in ("ci_low", "ci_high", "bootstrap_low", "bootstrap_high"):
            assert np.isnan(stored[absent]).all()
        lowest = np.where(known, x, np.inf).min(axis=0)
        assert stored["min"][count > 0] == pytest.approx(lowest[count > 0], rel=3e-6, abs=1e-7), name
        assert curves[name].attrs["clusters"] in ("sequence", b"sequence")


def test_curves_are_means_over_the_rows_of_each_sequence(corpus, analyze, tmp_path):  # noqa: F811
    corpus(BYTES, tmp_path / "c.h5", *CUT[:-8], "--sequences", "6", "--curves")
    bins, values = bins_of(48), {name: [] for name in CURVES}
    with h5py.File(tmp_path / "c.h5") as file:
        for ids in file["sequences/token_id"][:]:
            analyze(BYTES, ids, tmp_path / "run.h5", "--force")
            with h5py.File(tmp_path / "run.h5") as run:
                for name in CURVES:
                    rows = run["rows"][name][:].astype(np.float64)
                    values[name].append(by_bin(rows, np.arange(1, 49), bins))
        assert len(bins) == len(file["visible_keys"]) == 11 + 17
        check_curves(file, {name: np.array(x) for name, x in values.items()}, bins)
        assert np.isfinite(file["curves/lambda"][0]).all()
        assert "curves" not in file["sequences"] and file["curves/entropy"].attrs["units"] in ("nat", b"nat")
    for engine in ("h5netcdf", "netcdf4"):
        with xr.open_dataset(tmp_path / "c.h5", engine=engine, group="curves") as found:
            assert found.entropy.dims == ("statistic", "layer", "head", "component", "visible_keys")


def test_a_window_ends_a_curve(corpus, analyze, tmp_path):  # noqa: F811
    """Rows of a window of ten see no more keys than it has, and only the first ten see key 0."""
    C.headroom(tmp_path / "model", C.headroom_config("softmax", window=10), 5)
    ids = [[(11 * d + 5 * i + i * i) % 53 for i in range(24)] for d in range(3)]
    (tmp_path / "ids.jsonl").write_text("".join(json.dumps({"ids": row}) + "\n" for row in ids))
    corpus(tmp_path / "model", tmp_path / "c.h5", "--data", tmp_path / "ids.jsonl", "--field", "ids", "--length", "24", "--curves", "--keep", "none")
    bins, visible, values = bins_of(24), np.minimum(np.arange(1, 25), 10), {name: [] for name in CURVES}
    for row in ids:
        analyze(tmp_path / "model", row, tmp_path / "run.h5", "--force")
        with h5py.File(tmp_path / "run.h5") as run:
            for name in CURVES:
                rows = run["rows"][name][:].astype(np.float64) if name in run["rows"] else np.full((2, 4, 24), np.nan)
                if name == "first_key_weight":
                    rows[..., 10:] = np.nan
                values[name].append(by_bin(rows, visible, bins))
    with h5py.File(tmp_path / "c.h5") as file:
        check_curves(file, {name: np.array(x) for name, x in values.items()}, bins)
        assert file["curves/entropy"][STATISTICS.index("count"), 0, 0, 0].tolist() == [3] * 10 + [0] * (len(bins) - 10)


def test_curves_of_shards_are_those_of_the_single_run(corpus, warm_command, plan, tmp_path):  # noqa: F811
    corpus(BYTES, tmp_path / "all.h5", "--plan", plan, "--curves")
    parts = [tmp_path / f"p{i}.h5" for i in range(3)]
    for i, part in enumerate(parts):
        corpus(BYTES, part, "--plan", plan, "--curves", "--shard", f"{i}/3")
    random.Random(1).shuffle(parts)
    assert warm_command("merge", *map(str, parts), "-o", str(tmp_path / "merged.h5")).code == 0
    expected, found = contents(tmp_path / "all.h5"), contents(tmp_path / "merged.h5")
    assert found.keys() == expected.keys() and [name for name in found if found[name] != expected[name]] == []
    assert attributes(tmp_path / "merged.h5") == attributes(tmp_path / "all.h5")
    assert sum(name.startswith("curves/") for name in found) == 2 + len(CURVES)


def test_curves_change_nothing_else(corpus, single, tmp_path):  # noqa: F811
    corpus(BYTES, tmp_path / "c.h5", *CUT, "--curves")
    found, without = contents(tmp_path / "c.h5"), contents(single[0])
    assert {name: value for name, value in found.items() if not name.startswith(("curves/", "exact/", "visible_keys"))} == without
    with h5py.File(tmp_path / "c.h5") as file:
        assert json.loads(file.attrs["settings"])["curves"] is True and texts(file["statistic"]) == STATISTICS
