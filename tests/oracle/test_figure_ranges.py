"""Nothing is left out of a figure without a word: values beyond a range, labels without room, layers that the file lacks."""
import json
import re

import h5py
import numpy as np
import pandas
import pytest

import checkpoints as C
from command import refused
from svg_figure import SVG, Figure
from test_figures import IDS, runs  # noqa: F401 – a fixture


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


def drawn(command, tmp_path, *arguments):
    """The figure, its marks, its caption in words, and what was said of it."""
    outcome = command("figure", *arguments, "-o", tmp_path / "a.svg", "--force", "--data", tmp_path / "a.csv", "--json")
    assert outcome.code == 0, outcome
    report = json.loads(outcome.text)
    assert report["warnings"] == []
    figure = Figure(tmp_path / "a.svg")
    return figure, pandas.read_csv(tmp_path / "a.csv", comment="#"), figure.description, report["notes"]


def inside(figure, plot):
    """Whether every mark of the plot lies on its axes."""
    x0, x1 = sorted((plot.x.start, plot.x.end))
    y0, y1 = sorted((plot.y.start, plot.y.end))
    return all(x0 - 0.1 <= float(mark.get("cx")) <= x1 + 0.1 and y0 - 0.1 <= float(mark.get("cy")) <= y1 + 0.1
               for series in plot.series for mark in series.marks if mark.tag == SVG + "circle")


# --- a range that was asked for


def test_heads_beyond_the_axes_of_a_comparison_are_arrows_with_their_numbers(command, runs, tmp_path):
    arguments = [runs["softmax"], "compare", "--against", runs["softmax_one"], "--quantity", "sink_score"]
    whole, data, _, _ = drawn(command, tmp_path, *arguments)
    pairs = data[(data["mark"] == "point") & data["x"].notna() & (data["panel"] == "a")]
    high = float(np.sort(pairs["x"])[4] + np.sort(pairs["x"])[5]) / 2
    beyond = (pairs["x"] > high) | (pairs["y"] > high)
    assert 0 < beyond.sum() < len(pairs)
    figure, again, caption, _ = drawn(command, tmp_path, *arguments, "--range", f"0,{high}")
    plot = figure.plot("compare")
    assert inside(figure, plot) and (plot.x.low, plot.x.high) == (0, pytest.approx(high))
    points = [point for series in plot.series if series.name.startswith("heads") for point in plot.points(series)]
    assert len(points) == (~beyond).sum()
    arrows = plot.named("beyond").marks
    assert sum(mark.tag == SVG + "path" and mark.get("aria-label") is None for mark in arrows) == beyond.sum()
    assert len(again) == len(data)  # the table holds all
    assert f"{beyond.sum()} head{'s lie' if beyond.sum() > 1 else ' lies'} beyond the axes: arrows at the edge." in caption
    # Whose numbers stand at the arrows where there is room.
    values = [value for value in (*pairs[beyond]["x"], *pairs[beyond]["y"]) if value > high]
    said = [path.get("aria-label") for mark in arrows for path in mark.iter(SVG + "path") if path.get("aria-label")]
    if "No room for the label" in caption:  # so many lie at one corner
        said += re.search(r"No room for the labels? ([^\n]*?)\.(?:\s|$)", caption)[1].split(", ")
    numbers = [float(part) for text in said for part in text.split(", ")]
    assert numbers and all(min(abs(number - value) for value in values) < 0.006 for number in numbers)


def test_a_threshold_beyond_the_axes_is_not_drawn_into_the_next_panel(command, runs, tmp_path):
    figure, _, caption, notes = drawn(command, tmp_path, runs["softmax"], "compare", "--against", runs["softmax_one"], "--quantity",
                                      "sink_score", "--range", "0,0.1")
    assert not any("0.3" in text for text, _ in figure.texts) and "No room" not in caption and notes == []
    panel = figure.plots[0]
    right = max(panel.x.start, panel.x.end)
    lines = [mark for group in figure.root.iter(SVG + "g") if group.get("id") == panel.id for mark in group.iter(SVG + "path")
             if mark.get("stroke-dasharray")]
    for line in lines:
        xs = [float(corner.split()[0]) for corner in line.get("d").replace("M", " L").replace("Z", "").split("L")[1:]]
        assert max(xs) <= right + 0.1


def test_terms_beyond_the_axis_have_an_arrow_at_their_farthest(command, runs, tmp_path):
    arguments = [runs["softmax"], "decomposition", "--head", "L1.H2"]
    _, data, _, _ = drawn(command, tmp_path, *arguments)
    low = float(data["y"].quantile(0.5))
    figure, _, _, _ = drawn(command, tmp_path, *arguments, f"--range={low},0.1")
    plot = figure.plot("decomposition")
    head = data[(data["panel"] == "a")]
    for name in ("log rho", "log e", "log r", "half log kappa"):
        values = head[head["series"] == name]["y"]
        found = [series for series in plot.series if series.name == f"{name} beyond"]
        assert len(found) == int((values < low).any()) + int((values > 0.1).any()), name
    assert inside(figure, plot)


def arrows(plot):
    """Of everything beyond the axes: triangles at the edge, without the numbers beside them."""
    return [mark for series in plot.series if series.name.endswith("beyond") for mark in series.marks
            if mark.tag == SVG + "path" and mark.get("aria-label") is None and mark.get("aria-hidden") is None]


def test_quantiles_of_lambda_beyond_the_axis_end_at_it(command, runs, tmp_path):
    arguments = [runs["diff_v2"], "lambda"]
    _, data, _, _ = drawn(command, tmp_path, *arguments)
    wide = data[data["series"] == "5–95 %"]
    low, high = float(wide["low"].median()), float(wide["high"].median())
    below, above = wide["low"] < low, wide["high"] > high
    beyond = (below | above).sum()
    figure, again, caption, _ = drawn(command, tmp_path, *arguments, "--range", f"{low},{high}")
    assert 0 < beyond and f"{beyond} line{'s reach' if beyond > 1 else ' reaches'} beyond the axes: arrows at the edge." in caption
    assert any(text.startswith("≤ ") for text, _ in figure.texts) and any(text.startswith("≥ ") for text, _ in figure.texts)
    plot = next(plot for plot in figure.plots if any(series.name == "5–95 %" for series in plot.series))
    assert len(arrows(plot)) == below.sum() + above.sum()
    lines = plot.named("5–95 %").marks
    values = sorted([plot.x.value(float(mark.get(end))) for end in ("x1", "x2")] for mark in lines)
    expected = sorted([max(row.low, low), min(row.high, high)] for row in wide.itertuples())
    assert np.allclose(values, expected, atol=1e-5)
    assert again[again["series"] == "5–95 %"]["low"].min() == wide["low"].min()  # the table holds all


def test_lambdas_of_layers_beyond_the_axis_are_arrows(command, runs, tmp_path):
    """DIFF V1 has one λ a layer; its first axis holds 0 to 1 and all of them."""
    _, data, caption, _ = drawn(command, tmp_path, runs["diff_v1"], "lambda")
    values = data[(data["series"] == "lambda_mean") | (data["mark"] == "point")]["y"]
    assert "beyond" not in caption and len(values) == 2
    for low, high in ((0.0, float(values.min()) - 0.01), (float(values.max()) + 0.01, 2.0), (0.0, float(values.mean()))):
        figure, _, caption, _ = drawn(command, tmp_path, runs["diff_v1"], "lambda", "--range", f"{low},{high}")
        beyond = ((values < low) | (values > high)).sum()
        plot = next(plot for plot in figure.plots if any(series.name == "beyond" for series in plot.series))
        assert len(arrows(plot)) == beyond >= 1 and inside(figure, plot)
        assert f"{beyond} layer{'s lie' if beyond > 1 else ' lies'} beyond the axes: arrows at the edge." in caption


def test_a_low_end_of_0_makes_the_axes_of_a_comparison_linear(command, runs, tmp_path):
    """Effective keys are drawn over a log axis, which has no 0."""
    arguments = [runs["softmax"], "compare", "--against", runs["softmax_one"], "--quantity", "effective_keys_mean"]
    figure, _, _, _ = drawn(command, tmp_path, *arguments)
    scales = {figure.plot("compare").x.scale}
    figure, _, _, _ = drawn(command, tmp_path, *arguments, "--range", "0,40")
    plot = figure.plot("compare")
    assert (plot.x.scale, plot.x.low, plot.x.high) == ("linear", 0, 40) and inside(figure, plot)
    assert scales == {"log"}


def test_the_cap_of_the_norms_gain_far_above_is_an_arrow(command, runs, tmp_path):
    """1/√ε of a usual ε = 1e-5 is 316, far above what the rows reach."""
    figure, data, caption, _ = drawn(command, tmp_path, runs["diff_v1"], "norm-gain", "--head", "L1.H0")
    plot = next(plot for plot in figure.plots if plot.y is not None)
    assert plot.y.high < 316 and any("316" in text for text, _ in figure.texts)
    assert 0 < data["y"].max() <= plot.y.high


# --- labels without room


def test_labels_that_find_no_room_are_named(command, runs, tmp_path):
    """At the least width that a figure takes, something gives way; what is not in the picture is in its words."""
    _, _, caption, notes = drawn(command, tmp_path, runs["softmax"], "rms-layers")
    assert "No room" not in caption and notes == []
    left_out = set()
    for run, kind, more in (("diff_v2", "rms", ["--head", "L0.H1"]), ("softmax", "rms", ["--head", "L1.H2"]), ("diff_v2", "rms", ["--head", "L0.H1,L1.H0"]),
                            ("softmax", "scatter", ["--head", "L0.H0,L0.H1,L0.H2,L0.H3,L1.H0"])):
        for height in ("30mm", "45mm"):
            outcome = command("figure", runs[run], kind, *more, "--width", "60mm" if "," not in more[1] else "110mm", "--height", height,
                              "-o", tmp_path / "n.svg", "--force", "--json")
            if outcome.code == 2:  # too low for this kind
                continue
            assert outcome.code == 0, outcome
            narrow = Figure(tmp_path / "n.svg")
            for note in json.loads(outcome.text)["notes"]:
                if "no room for the label" not in note:
                    continue
                several, words = note.split("no room for the label")[1].split(" ", 1)
                panel = note.split(":")[0].removeprefix("panel ") if note.startswith("panel ") else None
                plots = [group for group in narrow.root.iter(SVG + "g") if group.get("data-kind") and panel in (None, group.get("id").removeprefix("panel-"))]
                texts = [mark.get("aria-label") for group in plots for mark in group.iter(SVG + "path") if mark.get("aria-label")]
                for label in words.split(", "):
                    left_out.add(label)
                    assert label not in texts
                assert f"No room for the label{several} {words}." in narrow.description
                assert note in outcome.err.decode()
    assert left_out  # and the median of the rows is none of them: a line leads to it
    assert "median" not in left_out


# --- some of a model's layers


def test_a_run_of_some_layers_says_of_how_many(command, runs, tmp_path):
    C.headroom(tmp_path / "model", C.headroom_config("softmax", num_hidden_layers=6), 7)
    for layers, title in (("0-2", "layers 0–2 of 6"), ("1,4", "2 of 6 layers"), ("3", "layer 3 of 6")):
        outcome = command("analyze", tmp_path / "model", "--ids", IDS, "-o", tmp_path / "some.h5", "--device", "cpu", "--layers", layers, "--force")
        assert outcome.code == 0, outcome
        with h5py.File(tmp_path / "some.h5") as file:
            assert int(file.attrs["model_layers"]) == 6
        for kind in ("atlas", "sinks", "logits"):
            figure, _, caption, notes = drawn(command, tmp_path, tmp_path / "some.h5", kind)
            assert title in [text for text, _ in figure.texts] and f"measured: {title}" in caption
            assert f"some.h5 has {title}" in notes
    for run in ("diff_v2", "diff_v1", "gated"):
        figure, _, _, _ = drawn(command, tmp_path, runs[run], "sinks", "--layers", "1")
        assert "layer 1 of 2" in [text for text, _ in figure.texts]
    figure, _, caption, notes = drawn(command, tmp_path, runs["softmax"], "atlas")
    assert "layer" in [text for text, _ in figure.texts] and "measured" not in caption and notes == []
    figure, _, caption, notes = drawn(command, tmp_path, runs["softmax"], "atlas", "--layers", "1")
    assert "layer 1 of 2" in [text for text, _ in figure.texts] and "measured" not in caption


@pytest.mark.parametrize(("run", "arguments", "panel", "series", "said"), [
    ("softmax", ["rms", "--head", "L1.H2"], "a", ["rows", "rows not counted"], "row"),
    ("diff_v2", ["rms", "--head", "L1.H1"], "a", ["rows", "rows not counted"], "row"),
    ("softmax", ["rms-layers"], "a", ["median"], "median"),
    ("softmax", ["logits", "--head", "L1.H2"], "a", ["logit_max", "logit_min"], "logit"),
    ("softmax", ["sinks"], "a", [], "score"),
    ("diff_v2", ["sinks"], "a", [], "score"),
    ("diff_v1", ["norm-gain", "--head", "L1.H1"], "a", ["rows", "rows not counted"], "row"),
    ("diff_v1", ["norm-gain", "--head", "L1.H1"], "b", ["median"], "median"),
], ids=lambda value: " ".join(value) if isinstance(value, list) else value)
@pytest.mark.parametrize("part", [(0.0, 0.4), (0.55, 0.97)], ids=["low", "high"])
def test_a_value_axis_is_as_it_was_asked_for(command, runs, tmp_path, run, arguments, panel, series, said, part):
    whole, data, caption, _ = drawn(command, tmp_path, runs[run], *arguments)
    assert "beyond" not in caption
    of_series = data["series"].isin(series) if series else data["mark"] == "point"
    values = data[(data["panel"] == panel) & of_series]["y"].dropna()
    low, high = (float(end) for end in np.quantile(values, part) + np.array([-1e-3, 1e-3]) * np.abs(np.quantile(values, part)))
    place = {"a": 0, "b": 1}[panel]
    if whole.plots[place].y.scale == "log":
        low = max(low, 0.5 * float(values[values > 0].min()))
    beyond = int(((values < low) | (values > high)).sum())
    figure, again, caption, _ = drawn(command, tmp_path, runs[run], *arguments, f"--range={low:.9g},{high:.9g}")
    plot = figure.plots[place]
    assert (plot.y.low, plot.y.high) == (pytest.approx(low), pytest.approx(high)) and inside(figure, plot)
    assert len(again) >= len(data) - 45 and set(again["series"]) == set(data["series"])  # the table holds all; bins are the range's
    lies = " lies" if beyond == 1 else "s lie"
    if beyond:
        assert f"{beyond} {said}{lies} beyond the axes: arrows at the edge." in caption
    assert len(arrows(plot)) == beyond if beyond <= 8 else 1 <= len(arrows(plot)) <= beyond
    # Lines end at the edge too.
    y0, y1 = sorted((plot.y.start, plot.y.end))
    lines = [mark for one in plot.series if one.name in ("1–99 %", "bounds", "quartiles") for mark in one.marks if mark.get("y1")]
    assert all(y0 - 0.1 <= float(mark.get(end)) <= y1 + 0.1 for mark in lines for end in ("y1", "y2"))
    # One end alone, and one beyond all values.
    figure, _, _, _ = drawn(command, tmp_path, runs[run], *arguments, f"--range=auto,{high:.9g}")
    assert figure.plots[place].y.high == pytest.approx(high) and figure.plots[place].y.low == pytest.approx(whole.plots[place].y.low)
    refused(command("figure", runs[run], *arguments, f"--range={10 * abs(whole.plots[place].y.high):.9g},auto", "-o", tmp_path / "b.svg"), 2,
            "--range", "beyond the other one")


@pytest.mark.parametrize(("run", "arguments"), [("diff_v2", ["lambda"]), ("diff_v1", ["lambda"]), ("softmax", ["decomposition"]),
                                                ("softmax", ["scatter", "--quantity", "sink_score,entropy_mean"])], ids=str)
def test_ends_that_are_not_in_order_are_refused(command, runs, tmp_path, run, arguments):
    refused(command("figure", runs[run], *arguments, "--range=auto,-1000", "-o", tmp_path / "a.svg"), 2, "--range", "beyond the other one")


def test_a_logarithmic_value_axis_has_no_place_for_0(command, runs, tmp_path):
    for kind in ("rms", "rms-layers"):
        refused(command("figure", runs["softmax"], kind, "--range=0,1", "-o", tmp_path / "a.svg"), 2, "--range 0,1", "ends above 0")
