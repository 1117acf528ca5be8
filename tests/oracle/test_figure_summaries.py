"""Figures of all heads at once: sinks, one quantity over another, logits, context RMS by layer.

Every mark is a number of the run file, read here through h5py.
"""
import dataclasses
import io
import re

import h5py
import numpy as np
import pandas
import pytest

import checkpoints as C
from svg_figure import SVG, Figure
from test_figures import IDS, KINDS, drawn_once, figure, runs, table  # noqa: F401 – fixtures


# --- sinks


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


def middle(mark):
    """The middle of a disc, a rectangle or a closed path, on the page."""
    if mark.tag == SVG + "circle":
        return float(mark.get("cx")), float(mark.get("cy"))
    if mark.tag == SVG + "rect":
        return tuple(float(mark.get(at)) + float(mark.get(size)) / 2 for at, size in (("x", "width"), ("y", "height")))
    corners = [tuple(map(float, corner.split())) for corner in mark.get("d").replace("M", " L").replace("Z", "").split("L")[1:]]
    return tuple((min(c[i] for c in corners) + max(c[i] for c in corners)) / 2 for i in (0, 1))


def placed(plot, name):
    """[(x, y)] of the marks of every series of that name, in the order of the file."""
    return [(plot.x.value(x), plot.y.value(y)) for s in plot.series if s.name == name for x, y in map(middle, s.marks)]


def same_points(plot, found, expected):
    """Both as sorted lists of (x, y): a head that is chosen is drawn after the others."""
    assert len(found) == len(expected)
    for (x, y), (x0, y0) in zip(sorted((round(x, 3), y) for x, y in found), sorted((round(x, 3), y) for x, y in expected)):
        assert plot.x.off(x, x0) < 1e-3 and plot.y.off(y, y0) < 1e-6, (x, y, x0, y0)


@pytest.mark.parametrize(("name", "maps"), [
    ("sinks", [("first", "sink_score", 0.0)]),
    ("sinks_pair", [("first", "sink_score", -0.24), ("second", "sink_score[second]", 0.0), ("net", "sink_score_net", 0.24)]),
])
def test_sink_marks_are_the_files_scores(command, runs, figure, name, maps):
    run, own = KINDS[name]
    with h5py.File(runs[run]) as file:
        scores = {"first": file["sink_score"][..., 0], "second": file["sink_score"][..., 1], "net": file["sink_score_net"][()]}
        scores = {key: value.astype(float) for key, value in scores.items()}
        mass = file["top_key_mass"][..., 0, :].astype(float)
        drain = file["value_drain"][()].astype(float)
        null = float(file["sink_null"][()])
        tops = [int(text) for text in file["top_k"][()]]
    path = figure(name)
    layers, keys, heads = (Figure(path).plot("sinks", i) for i in range(3))
    data = table(command, runs[run], "sinks", *own)
    count, of_each = scores["first"].shape
    for series, dataset, shift in maps:
        expected = scores[series]
        same_points(layers, placed(layers, series), [(l + shift, expected[l, h]) for l in range(count) for h in range(of_each)])
        rows = data[(data["series"] == dataset) & (data["panel"] == "a")]
        assert len(rows) == expected.size
        assert (rows["y"].to_numpy() == expected[rows["layer"].astype(int), rows["head"].astype(int)]).all()
        medians = data[data["series"] == dataset + " median"]
        quartiles = np.quantile(expected, [0.25, 0.5, 0.75], axis=1)
        assert medians[["low", "y", "high"]].to_numpy().T == pytest.approx(quartiles, rel=1e-12)
        for (_, found), wanted in zip(layers.line(layers.named(series + " median")), quartiles[1]):
            assert layers.y.off(found, wanted) < 1e-6
    # What is printed counts what is drawn.
    texts = [text for text, _ in Figure(path).texts]
    if len(maps) == 1:
        above = int((scores["first"] > 0.3).sum())
        assert any(text.startswith(f"{above} of {scores['first'].size} > ") for text in texts), texts
    else:
        for marker, (series, _, _) in zip("●■◆", maps):
            assert f"{marker} {series} {int((scores[series] > 0.3).sum())}" in texts
    # Level of uniform attention: H_n/n, computed here.
    n = 150
    assert null == pytest.approx(sum(1 / k for k in range(1, n + 1)) / n, rel=1e-6)
    line = layers.named("uniform").marks[0]
    drawn_at = [float(p.split()[1]) for p in line.get("d").replace("M", "").split("L")] if line.get("d") else [float(line.get("y1"))]
    assert layers.y.off(layers.y.value(drawn_at[0]), null) < 1e-6
    # Shares of the most attended keys.
    for top in (1, 4, 16):
        wanted = np.median(mass[:, :, tops.index(top)], axis=1)
        series = keys.named(f"{top} key" + ("s" if top > 1 else ""))
        for (_, found), one in zip(keys.line(series), wanted):
            assert keys.y.off(found, one) < 1e-6
        rows = data[data["series"] == ("top_key_mass" if top == 4 else f"top_key_mass[first,{top}]")]  # 4 is what the name alone means
        assert rows["y"].to_numpy() == pytest.approx(wanted, rel=1e-12)
    # The largest, in their order.
    order = np.argsort(-scores["first"].ravel(), kind="stable")
    found = sorted(placed(heads, "sink score"), key=lambda point: point[1])
    assert len(found) == order.size
    for place, (x, y) in enumerate(found):
        assert heads.x.off(x, scores["first"].ravel()[order[place]]) < 1e-6 and heads.y.off(y, place) < 1e-6
    for place, (x, _) in enumerate(sorted(placed(heads, "value drain"), key=lambda point: point[1])):
        assert heads.x.off(x, drain.ravel()[order[place]]) < 1e-5
    rows = data[(data["panel"] == "c") & (data["series"] == "value_drain")]
    assert (rows["x"].to_numpy() == drain.ravel()[order]).all()


def test_sinks_list_as_many_heads_as_asked_for(command, runs):
    data = table(command, runs["softmax"], "sinks", "--top", "3", "--epsilon", "0.01")
    assert len(data[(data["panel"] == "c") & (data["series"] == "value_drain")]) == 3
    caption = command("figure", runs["softmax"], "sinks", "--epsilon", "0.01", "--caption", "text").text
    with h5py.File(runs["softmax"]) as file:
        above = int((file["sink_score"][..., 0] > np.float32(0.01)).sum())
    assert f"{above} of 8 heads above" in caption, caption


@pytest.mark.parametrize(("arguments", "bands"), [(["--layers", "1"], 0), (["--heads", "2"], 0), (["--layers", "0", "--heads", "3"], 0), ([], 1)],
                         ids=["one layer", "one head", "one", "all"])
def test_sinks_of_one_layer_or_head_have_no_median(command, runs, tmp_path, arguments, bands):
    path = tmp_path / "out.svg"
    outcome = command("figure", runs["softmax"], "sinks", *arguments, "-o", path)
    assert outcome.code == 0 and "warning" not in outcome.errors, outcome
    plot = Figure(path).plot("sinks")
    assert len([s for s in plot.series if s.name == "first median"]) == bands
    layers, heads = (1 if flag in arguments else count for flag, count in (("--layers", 2), ("--heads", 4)))
    assert len(placed(plot, "first")) == layers * heads
    if layers == 1:
        assert abs(plot.x.end - plot.x.start) == pytest.approx(6 * 72 / 25.4, rel=1e-3)


# --- scatter


@pytest.mark.parametrize(("name", "columns"), [
    ("scatter", [("sink_score", 0), ("context_rms_relative_mean", ...)]),
    ("scatter_three", [("lambda_mean", ...), ("rows_inside_bound", None)]),
])
def test_scatter_points_are_the_datasets(command, runs, figure, name, columns):
    run, own = KINDS[name]
    with h5py.File(runs[run]) as file:
        x, y = (file[dataset][()].astype(float) if place is ... else file[dataset][..., place if place is not None else 0].astype(float)
                for dataset, place in columns)
    data = table(command, runs[run], "scatter", *own)
    if columns[1][1] is None:  # an element that the name alone means: the file says which
        with h5py.File(runs[run]) as file:
            bounds = file["rows_inside_bound"][()].astype(float)
        chosen = [b for b in range(bounds.shape[-1]) if (bounds[data["layer"].astype(int), data["head"].astype(int), b] == data["y"]).all()]
        assert chosen, "no element of the dataset"
        y = bounds[..., chosen[0]]
    assert len(data) == x.size
    layer, head = data["layer"].astype(int).to_numpy(), data["head"].astype(int).to_numpy()
    assert (data["x"].to_numpy() == x[layer, head]).all() and (data["y"].to_numpy() == y[layer, head]).all()
    plot = Figure(figure(name)).plot("scatter")
    points = {s.head: plot.points(s)[0] for s in plot.series if s.name == "head"}
    assert len(points) == x.size
    for l, h in np.ndindex(x.shape):
        found = points[f"L{l}.H{h}"]
        assert plot.x.off(found[0], x[l, h]) < 1e-6 and plot.y.off(found[1], y[l, h]) < 1e-6
    assert f"{x.size} heads" in [text for text, _ in Figure(figure(name)).texts]


def test_scatter_leaves_out_heads_without_a_value(command, runs, tmp_path):
    """A what-if hides key 0 from one layer, whose heads then have no sink score."""
    run = tmp_path / "hidden.h5"
    C.headroom(tmp_path / "model", C.headroom_config("softmax"), 5)
    outcome = command("analyze", tmp_path / "model", "--ids", IDS, "-o", run, "--device", "cpu", "--what-if", "L1:hide-key=0")
    assert outcome.code == 0, outcome
    path = tmp_path / "out.svg"
    outcome = command("figure", run, "scatter", "-o", path)
    assert outcome.code == 0 and "warning" not in outcome.errors, outcome
    with h5py.File(run) as file:
        finite = int(np.isfinite(file["sink_score"][..., 0]).sum())
    assert finite == 4
    texts = [text for text, _ in Figure(path).texts]
    assert "4 heads, 4 without a value" in texts, texts
    assert len([s for s in Figure(path).plot("scatter").series if s.name == "head"]) == 4
    # The others are drawn without them too, and say so.
    sinks = command("figure", run, "sinks", "-o", tmp_path / "sinks.svg", "--caption", "text")
    assert sinks.code == 0 and "4 heads without a value" in sinks.text and "of 4 heads above" in sinks.text, sinks
    assert len(placed(Figure(tmp_path / "sinks.svg").plot("sinks"), "first")) == 4
    assert command("figure", run, "scatter", "--layers", "1", "-o", tmp_path / "none.svg").code == 4


def test_scatter_of_equal_values_has_an_axis(command, runs, tmp_path):
    path = tmp_path / "out.svg"
    outcome = command("figure", runs["softmax"], "scatter", "--quantity", "finite_rows,sink_score", "-o", path)
    assert outcome.code == 0 and "warning" not in outcome.errors, outcome
    plot = Figure(path).plot("scatter")
    assert plot.x.high > plot.x.low and all(plot.x.low < x < plot.x.high for s in plot.series if s.name == "head" for x, _ in plot.points(s))


# --- logits


@pytest.mark.parametrize("name", ["logits", "logits_pair"])
def test_logit_marks_are_the_files(command, runs, figure, name):
    run, own = KINDS[name]
    with h5py.File(runs[run]) as file:
        high, low = (np.nanmax(file["logit_max"][()].astype(float), axis=-1), np.nanmin(file["logit_min"][()].astype(float), axis=-1))
        counts = np.maximum(file["hist/logit"][()], 0).sum(axis=2)  # over the maps that there are
        edges = file["hist/logit_edges"][()]
    path = figure(name, quiet=False)
    layers, density = (Figure(path).plot("logits", i) for i in range(2))
    for series, expected in (("largest", high), ("smallest", low)):
        same_points(layers, placed(layers, series), [(l, expected[l, h]) for l, h in np.ndindex(expected.shape)])
    for mark, bottom, top in zip(layers.named("medians").marks, np.median(low, axis=1), np.median(high, axis=1)):
        y0 = float(mark.get("y"))
        assert layers.y.off(layers.y.value(y0), top) < 1e-6
        assert layers.y.off(layers.y.value(y0 + float(mark.get("height"))), bottom) < 1e-6
    data = table(command, runs[run], "logits", *own)
    for series, dataset in (("logit_max", high), ("logit_min", low)):
        rows = data[data["series"] == series]
        assert (rows["y"].to_numpy() == dataset[rows["layer"].astype(int), rows["head"].astype(int)]).all() and len(rows) == dataset.size
    curves = {"all 8 heads": counts.sum(axis=(0, 1))}
    for head in {s.head for s in density.series if s.head}:
        l, h = map(int, re.match(r"L(\d+)\.H(\d+)", head).groups())
        curves[head] = counts[l, h]
    assert len(curves) > 2
    for label, expected in curves.items():
        bars = data[data["series"] == label]
        shares = expected / expected.sum() / np.diff(edges)
        assert bars["n"].sum() == expected.sum() and set(bars["mark"]) == {"bar"}
        assert (bars["y"] * (bars["high"] - bars["low"])).sum() == pytest.approx(1, abs=1e-12)
        # Every bin that holds something is a step, one that does not is a gap.
        series = density.named(label)
        found = {}
        for mark in series.marks:
            corners = density.line(dataclasses.replace(series, marks=[mark]))
            corners = corners[:-2] if label.startswith("all") else corners
            for (x0, y0), (x1, y1) in zip(corners[::2], corners[1::2]):
                assert y0 == y1
                found[int(np.searchsorted(edges, (x0 + x1) / 2)) - 1] = y0
        assert sorted(found) == np.flatnonzero(expected).tolist()
        for bin, value in found.items():
            assert density.y.off(value, shares[bin]) < 1e-6
    entries = f"{counts.sum():,} entries".replace(",", "\N{NARROW NO-BREAK SPACE}")
    texts = [re.sub(r"\s", "\N{NARROW NO-BREAK SPACE}", text) for text, _ in Figure(path).texts]
    assert re.sub(r"\s", "\N{NARROW NO-BREAK SPACE}", entries) in texts, texts


def test_logits_beyond_the_bins_are_written_as_numbers(command, runs, tmp_path):
    """Logits a hundred times as large leave the bins, whose ends count them."""
    run = tmp_path / "hot.h5"
    C.headroom(tmp_path / "model", C.headroom_config("softmax"), 5)
    outcome = command("analyze", tmp_path / "model", "--ids", IDS, "-o", run, "--device", "cpu", "--what-if", "temperature=0.001")
    assert outcome.code == 0, outcome
    path = tmp_path / "out.svg"
    outcome = command("figure", run, "logits", "--head", "L0.H0", "-o", path, "--data", "-")
    assert outcome.code == 0 and "warning" not in outcome.errors, outcome
    data = pandas.read_csv(io.StringIO(outcome.text), comment="#")
    with h5py.File(run) as file:
        counts = np.maximum(file["hist/logit"][()], 0).sum(axis=2)[0, 0]
        assert file["logit_min"][0, 0, 0] < -64 and file["logit_max"][0, 0, 0] >= 64
    own = data[data["series"] == "L0.H0"]
    beyond = own[own["mark"] == "beyond"]
    assert beyond["n"].tolist() == [counts[0], counts[-1]]
    bars = own[own["mark"] == "bar"]
    inside = (bars["y"] * (bars["high"] - bars["low"])).sum()
    assert inside + beyond["n"].sum() / counts.sum() == pytest.approx(1, abs=1e-12)
    texts = [re.sub(r"\s", " ", text) for text, _ in Figure(path).texts]
    assert f"{counts[0]:,} < −63.5".replace(",", " ") in texts and f"{counts[-1]:,} ≥ 63.5".replace(",", " ") in texts, texts


def test_logits_without_histograms_are_one_panel(command, runs, tmp_path):
    path = tmp_path / "out.svg"
    outcome = command("figure", runs["summary"], "logits", "-o", path)
    assert outcome.code == 0 and "--only summary" in outcome.errors, outcome
    assert len(Figure(path).plots) == 1 and len(placed(Figure(path).plot("logits"), "largest")) == 8


# --- rms-layers


@pytest.mark.parametrize(("name", "arguments", "columns"), [
    ("rms-layers", [], [(0, range(4)), (1, range(4))]),
    ("rms-layers_own", [], [(0, range(4)), (1, range(4))]),
    ("rms-layers", ["--heads", "1-2"], [(0, (1, 2)), (1, (1, 2))]),
    ("rms-layers", ["--layers", "1"], [(1, (h,)) for h in range(4)]),
], ids=["softmax", "own interval", "two heads", "one layer"])
def test_layers_of_context_rms_are_the_files_rows(command, runs, tmp_path, name, arguments, columns):
    run, _ = KINDS[name]
    with h5py.File(runs[run]) as file:
        rho = file["rows/context_rms_relative"][()].astype(float)
        visible = file["tokens/visible_keys"][()]
        eligible = visible >= min(int(file.attrs["min_row"]), visible.max())
        bound = 0 if run == "softmax" else 2
        above, below = (file[f"rows_{side}_bound"][..., bound].astype(float) for side in ("above", "below"))
        rows_of = file["finite_rows"][()]
    path = tmp_path / "out.svg"
    outcome = command("figure", runs[run], "rms-layers", *arguments, "-o", path, "--data", "-")
    assert outcome.code == 0 and "warning" not in outcome.errors, outcome
    data = pandas.read_csv(io.StringIO(outcome.text), comment="#")
    sticks, bars = (Figure(path).plot("rms-layers", i) for i in range(2))
    found = {key: sticks.named(key).marks for key in ("1–99 %", "quartiles", "median")}
    assert all(len(marks) == len(columns) for marks in found.values())
    outside = {"above": [], "below": []}
    for i, (layer, heads) in enumerate(columns):
        values = np.concatenate([rho[layer, h][eligible[layer]] for h in heads])
        q = np.quantile(values, [0.01, 0.25, 0.5, 0.75, 0.99])
        line, bar, dot = (found[key][i] for key in ("1–99 %", "quartiles", "median"))
        measured = [float(line.get("y2")), float(bar.get("y")) + float(bar.get("height")), float(dot.get("cy")), float(bar.get("y")),
                    float(line.get("y1"))]
        for pixel, wanted in zip(measured, q):
            assert sticks.y.off(sticks.y.value(pixel), wanted) < 1e-6
        assert round(sticks.x.value(float(dot.get("cx"))), 3) == i
        marks = data[data["panel"] == "a"].iloc[3 * i:3 * i + 3]
        assert marks["n"].tolist() == [len(values)] * 3
        assert [marks["low"].iloc[0], marks["low"].iloc[1], marks["y"].iloc[2], marks["high"].iloc[1], marks["high"].iloc[0]] == pytest.approx(q, rel=1e-12)
        total = sum(int(rows_of[layer, h]) for h in heads)
        for side, shares in (("above", above), ("below", below)):
            outside[side].append(100 * sum(round(shares[layer, h] * rows_of[layer, h]) for h in heads) / total)
        if run == "softmax":
            n = np.concatenate([visible[layer][eligible[layer]] for _ in heads])
            assert outside["below"][-1] == pytest.approx(100 * (values < 1 / np.sqrt(n)).mean(), abs=1e-9)
            assert outside["above"][-1] == pytest.approx(100 * (values >= 1).mean(), abs=1e-9)
    for side, sign in (("above", 1), ("below", -1)):
        assert data[data["series"] == f"rows_{side}_bound"]["y"].to_numpy() == pytest.approx(outside[side], abs=1e-12)
        drawn = [share for share in outside[side] if share > 0]
        marks = bars.named(side).marks
        assert len(marks) == len(drawn)
        for mark, share in zip(marks, drawn):
            ends = [bars.y.value(float(mark.get("y"))), bars.y.value(float(mark.get("y")) + float(mark.get("height")))]
            assert bars.y.off(max(ends, key=abs), sign * share) < 1e-6 and bars.y.off(min(ends, key=abs), 0) < 1e-6
