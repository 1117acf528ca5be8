"""The figure of a head's context RMS with what --premise measured, and of V1's head norm: marks and sentences are the file's numbers."""
import io
import re

import h5py
import numpy as np
import pandas
import pytest

import checkpoints as C
from command import refused
from svg_figure import Figure

IDS = ",".join(str(i * 7 % 53) for i in range(150))
MIN_ROW = 64


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


@pytest.fixture(scope="module")
def runs(tmp_path_factory, command):
    folder = tmp_path_factory.mktemp("runs")
    made = {}
    for number, kind in enumerate(("softmax", "diff_v2", "diff_v1")):
        C.headroom(folder / kind, C.headroom_config(kind), 5 + number)
        made[kind] = folder / f"{kind}.h5"
        outcome = command("analyze", folder / kind, "--ids", IDS, "-o", made[kind], "--device", "cpu", "--premise")
        assert outcome.code == 0, outcome
    return made


def draw(command, run, tmp_path, *arguments):
    path = tmp_path / "out.svg"
    outcome = command("figure", run, *arguments, "-o", path, "--force", "--data", "-")
    assert outcome.code == 0 and "warning" not in outcome.errors, outcome
    return Figure(path), pandas.read_csv(io.StringIO(outcome.text), comment="#")


def adjusted(p):
    """Benjamini and Hochberg 1995, by their step-up rule for every level: the least level at which a test is rejected."""
    p, m = np.asarray(p), len(p)
    order = np.sort(p)
    return np.array([min(min(1, order[k] * m / (k + 1)) for k in range(m) if order[k] >= q) for q in p])


@pytest.mark.parametrize(("kind", "place"), [("softmax", (1, 2)), ("diff_v2", (0, 1))])
def test_signs_and_uniform_attention_are_the_datasets(command, runs, tmp_path, kind, place):
    l, h = place
    figure, data = draw(command, runs[kind], tmp_path, "rms", "--head", f"L{l}.H{h}")
    with h5py.File(runs[kind]) as file:
        n = file["tokens/visible_keys"][l] if file["tokens/visible_keys"].ndim == 2 else file["tokens/visible_keys"][()]
        signs, uniform = file["rows/sign_rms_relative"][l, h], file["rows/uniform_rms_relative"][l, h]
        p = np.minimum(1, 2 * file["sign_p"][:, :, 0].min(axis=-1)).ravel()
        heads, k = file["sign_p"].shape[1], file["sign_coherence"][l, h, 0]
        low, high = file["sign_coherence_interval"][l, h, 0]
        count = file["value_independent_count"][l, h]
    ranges = data[data["series"] == "random signs"]
    sampled = np.flatnonzero(~np.isnan(signs[0]))
    assert ranges["row"].tolist() == sampled.tolist() and len(sampled) == (n >= MIN_ROW).sum()
    assert (ranges["low"].to_numpy() == signs[0][sampled].astype(float)).all() and (ranges["high"].to_numpy() == signs[1][sampled].astype(float)).all()
    line = data[data["series"] == "uniform attention"]
    assert (line["y"].to_numpy() == uniform.astype(float)).all() and (line["x"].to_numpy() == n).all()
    plot = figure.plot("rms")
    drawn = plot.line(plot.named("uniform attention"))
    for x, y in drawn:
        nearest = np.abs(np.log(n / x)).argmin()
        # Dashes end between rows: on the way from one to the next.
        near = uniform[max(0, nearest - 1):nearest + 2]
        assert near.min() * 0.999 <= y <= near.max() * 1.001
    # The sentence: the test of this head among all, and what it could not have seen.
    caption = figure.description
    said = re.search(r"ΣRMS²/Σq² is ([\d.]+), with random signs ([\d.]+) to ([\d.]+) \(95 % of 999 draws over this text; adjusted p = ([\d.]+) among (\d+) heads", caption)
    assert said, caption
    assert float(said[1]) == pytest.approx(k, rel=6e-3) and float(said[2]) == pytest.approx(low, rel=6e-3) and float(said[3]) == pytest.approx(high, rel=6e-3)
    mine = adjusted(p)[l * heads + h]
    assert float(said[4]) == pytest.approx(mine, rel=6e-3) and int(said[5]) == len(p)
    assert ("The premise fails here" in caption) == (mine <= 0.05)
    if mine <= 0.05 and k > high:
        assert f"count as {count:.3g} uncorrelated" in caption


def test_without_the_premise_the_caption_says_what_the_values_mean_alone(command, tmp_path):
    C.headroom(tmp_path / "model", C.headroom_config("softmax"), 5)
    outcome = command("analyze", tmp_path / "model", "--ids", IDS, "-o", tmp_path / "run.h5")
    assert outcome.code == 0, outcome
    with h5py.File(tmp_path / "run.h5") as file:
        product = file["value_mean_share"][1, 2] * 150
        channels = 8
    caption = command("figure", tmp_path / "run.h5", "rms", "--head", "L1.H2", "--caption", "text").text
    limit = 1 + 4 * (2 / channels) ** 0.5
    assert re.search(r"m·n = ([\d.]+)", caption)[1] == f"{product:.3g}"
    # Uncorrelated values have m·n near 1: only more than chance makes of it is a failure.
    assert ("The premise fails here" in caption) == (product > limit)


def test_gains_of_the_head_norm(command, runs, tmp_path):
    figure, data = draw(command, runs["diff_v1"], tmp_path, "norm-gain", "--head", "L1.H3")
    with h5py.File(runs["diff_v1"]) as file:
        gains, n = file["rows/norm_gain"][()].astype(float), np.arange(1, 151)
        epsilon = file["program/norm_epsilon"][1, 3]
        rms = file["rows/context_rms"][1, 3].astype(float)
    rows = data[(data["panel"] == "a") & data["series"].isin(["rows", "rows not counted"])].sort_values("row")
    assert rows["row"].tolist() == list(range(150)) and (rows["y"].to_numpy() == gains[1, 3]).all()
    assert (rows["series"].to_numpy() == np.where(n >= MIN_ROW, "rows", "rows not counted")).all()
    assert np.allclose(gains[1, 3], 1 / np.sqrt(rms**2 + epsilon), rtol=1e-5)
    plot = figure.plots[0]
    points = {name: plot.points(plot.named(name)) for name in ("rows", "rows not counted")}
    for name, chosen in (("rows", n >= MIN_ROW), ("rows not counted", n < MIN_ROW)):
        assert len(points[name]) == chosen.sum()
        for (x, y), at, gain in zip(points[name], n[chosen], gains[1, 3][chosen]):
            assert plot.x.off(x, at) < 1e-6 and plot.y.off(y, gain) < 1e-6
    for l in range(2):
        of_layer = gains[l][:, n >= MIN_ROW].ravel()
        lines = data[(data["panel"] == "b") & (data["layer"] == l)].set_index("series")
        wanted = np.quantile(of_layer, [0.01, 0.25, 0.5, 0.75, 0.99])
        assert lines.loc["1–99 %", ["low", "high"]].tolist() == pytest.approx([wanted[0], wanted[4]], rel=1e-9)
        assert lines.loc["quartiles", ["low", "high"]].tolist() == pytest.approx([wanted[1], wanted[3]], rel=1e-9)
        assert lines.loc["median", "y"] == pytest.approx(wanted[2], rel=1e-9) and (lines["n"] == len(of_layer)).all()
    refused(command("figure", runs["softmax"], "norm-gain", "-o", tmp_path / "no.svg"), 4, "no head of softmax.h5 has a head norm")
