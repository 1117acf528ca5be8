"""Figures where there is very little or very much: one token, many layers and heads, points that are one, long names."""
import json
import re
import shutil

import h5py
import numpy as np
import pytest

import checkpoints as C
from svg_figure import SVG, Figure
from test_figures import DEMO, IDS, runs  # noqa: F401 – a fixture
from test_figure_ranges import arrows, drawn, inside


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


@pytest.fixture(scope="module")
def one_token(command, tmp_path_factory):
    folder = tmp_path_factory.mktemp("one")
    C.headroom(folder / "model", C.headroom_config("softmax"), 5)
    outcome = command("analyze", folder / "model", "--ids", "7", "-o", folder / "one.h5", "--device", "cpu")
    assert outcome.code == 0, outcome
    return folder / "one.h5"


@pytest.fixture(scope="module")
def large(command, tmp_path_factory):
    """Runs of more layers, and of more heads, than usual models have."""
    folder, made = tmp_path_factory.mktemp("large"), {}
    small = {"hidden_size": 16, "intermediate_size": 16, "head_dim": 4, "num_key_value_heads": 1}
    for name, kind, layers, heads in (("deep", "softmax", 128, 2), ("deep_pair", "diff_v2", 128, 2), ("wide", "softmax", 1, 128)):
        C.headroom(folder / name, C.headroom_config(kind, num_hidden_layers=layers, num_attention_heads=heads, **small), 3)
        made[name] = folder / f"{name}.h5"
        outcome = command("analyze", folder / name, "--ids", "1,2,3,4,5,6,7,8", "-o", made[name], "--device", "cpu")
        assert outcome.code == 0, outcome
    return made


def circles(series):
    return [(float(mark.get("cx")), float(mark.get("cy")), float(mark.get("r"))) for mark in series.marks if mark.tag == SVG + "circle"]


# --- one token


def test_the_smallest_logit_of_one_entry_is_a_ring_around_the_largest(command, one_token, tmp_path):
    for more in ([], ["--head", "L1.H2"]):
        figure, _, _, _ = drawn(command, tmp_path, one_token, "logits", *more)
        plot = figure.plot("logits")
        largest, smallest = ([mark for series in plot.series if series.name == name for mark in circles(series)] for name in ("largest", "smallest"))
        assert len(largest) == len(smallest) == 8
        for (x, y, disc), (x0, y0, ring) in zip(largest, smallest):
            assert (x, y) == pytest.approx((x0, y0)) and ring > 1.3 * disc


def test_marks_of_sinks_at_one_place_all_show(command, one_token, tmp_path):
    figure, _, _, _ = drawn(command, tmp_path, one_token, "sinks")
    heads = figure.plot("sinks", 2)
    diamonds, discs = heads.named("value drain").marks, circles(heads.named("sink score"))
    assert len(diamonds) == len(discs) == 8
    for (x, _, radius), mark in zip(discs, diamonds):
        xs = [float(corner.split()[0]) for corner in mark.get("d").replace("M", " L").replace("Z", "").split("L")[1:]]
        assert (min(xs) + max(xs)) / 2 == pytest.approx(x, abs=0.01) and (max(xs) - min(xs)) / 2 > 2 * radius
    order = [series for group in figure.root.iter(SVG + "g") if group.get("id") == "panel-c" for series in group.iter(SVG + "g")]
    names = [series.get("data-name") for series in order]
    assert names.index("value drain") < names.index("sink score")  # whose discs lie on the diamonds
    keys = figure.plot("sinks", 1)
    widths = [float(keys.named(name).marks[0].get("stroke-width")) for name in ("1 key", "4 keys", "16 keys")]
    assert widths[0] > widths[1] + 1 and widths[1] > widths[2] + 1


def test_axes_of_one_token_have_numbers_and_no_rounding(command, one_token, tmp_path):
    figure, data, _, _ = drawn(command, tmp_path, one_token, "rms-layers")
    plot = figure.plot("rms-layers")
    assert (data[data["panel"] == "a"]["y"].dropna().sub(1).abs() < 1e-5).all() and plot.y.low < 0.8 and plot.y.high > 1.2
    assert sum(text in ("0.8", "1", "1.2", "1.4", "1.6") for text, _ in figure.texts) >= 3
    figure, data, _, _ = drawn(command, tmp_path, one_token, "decomposition")
    plot = figure.plot("decomposition")
    assert data["y"].abs().max() < 1e-5 < 0.01 <= min(plot.y.high, -plot.y.low)


# --- many layers, many heads


@pytest.mark.parametrize(("name", "kind", "widths"), [
    ("deep", "sinks", (174, 84)), ("deep", "rms-layers", (84, 60)), ("deep", "logits", (174,)), ("deep_pair", "sinks", (174, 120, 84)),
    ("wide", "sinks", (174, 84)),
])
def test_figures_of_many_layers_and_heads_have_room(command, large, name, kind, widths):
    for width in widths:
        outcome = command("figure", large[name], kind, "--width", f"{width}mm", "--caption", "text")
        assert outcome.code == 0 and "warning" not in outcome.errors, (width, outcome)


def test_all_heads_of_many_layers_are_marks_of_their_own(command, large, tmp_path):
    figure, _, _, _ = drawn(command, tmp_path, large["deep_pair"], "sinks", "--width", "120mm")
    plot = figure.plot("sinks")
    column = abs(plot.x.end - plot.x.start) / (3 * 128)
    discs = circles(plot.named("first"))
    assert len(discs) == 256 and all(radius == pytest.approx(max(0.25, 0.45 * column), rel=1e-3) for *_, radius in discs)
    # At the usual width all three maps have a row of their own; not where the height is asked for.
    pages = {}
    for more in ([], ["--height", "57mm"]):
        outcome = command("figure", large["deep_pair"], "sinks", *more, "-o", tmp_path / "page.svg", "--force", "--json")
        assert outcome.code == 0, outcome
        pages[len(more)] = json.loads(outcome.text)["height_mm"]
    assert pages[0] > 100 and pages[2] == 57


# --- points


@pytest.fixture
def with_points(runs, tmp_path):
    """The run with these sink scores and relative context RMS."""
    def made(points):
        path = tmp_path / "points.h5"
        shutil.copy(runs["softmax"], path)
        with h5py.File(path, "r+") as file:
            for (layer, head), (x, y) in points.items():
                file["sink_score"][layer, head, 0] = x
                file["context_rms_relative_mean"][layer, head] = y
        return path
    return made


SPREAD = {(layer, head): (0.1 + 0.08 * head + 0.03 * layer, 0.3 + 0.05 * head + 0.02 * layer) for layer in range(2) for head in range(4)}


def test_points_that_lie_together_share_a_name_from_left_to_right(command, with_points, tmp_path):
    run = with_points(SPREAD | {(1, 3): (0.8, 0.7), (1, 0): (0.804, 0.7)})
    figure, _, caption, _ = drawn(command, tmp_path, run, "scatter")
    texts = [text for text, _ in figure.texts]
    assert "L1.H3, H0" in texts and "L1.H0" not in texts and "from left to right" in caption
    run = with_points(SPREAD | {(1, 0): (0.8, 0.7), (0, 3): (0.804, 0.7)})
    assert "L1.H0, L0.H3" in [text for text, _ in drawn(command, tmp_path, run, "scatter")[0].texts]
    # One that is asked for has its own.
    figure, _, _, _ = drawn(command, tmp_path, run, "scatter", "--head", "L0.H3")
    assert "L0.H3" in [text for text, _ in figure.texts]


def test_a_name_that_could_be_of_two_points_has_a_line_to_its_own(command, with_points, tmp_path):
    """The point farthest right has another just outside the reach of a shared name, and the axis' end at its right."""
    run = with_points(SPREAD | {(1, 3): (0.9995, 0.5), (1, 2): (0.97, 0.5)})
    figure, _, _, _ = drawn(command, tmp_path, run, "scatter")
    labels = {path.get("aria-label"): path for path in figure.root.iter(SVG + "path") if path.get("aria-label")}
    assert "L1.H3" in labels
    plot = figure.plot("scatter")
    x = plot.x.start + (plot.x.end - plot.x.start) * (0.9995 - plot.x.low) / (plot.x.high - plot.x.low)
    lines = [mark for mark in figure.root.iter(SVG + "line") if min(abs(float(mark.get(end)) - x) for end in ("x1", "x2")) < 3]
    assert lines


def test_a_range_of_scatter_is_that_of_its_y_axis(command, runs, tmp_path):
    arguments = [runs["softmax"], "scatter"]
    whole, data, _, _ = drawn(command, tmp_path, *arguments)
    values = np.sort(data["y"])
    low, high = float(values[1:3].mean()), float(values[-3:-1].mean())
    figure, again, caption, _ = drawn(command, tmp_path, *arguments, "--range", f"{low},{high}")
    plot = figure.plot("scatter")
    assert (plot.y.low, plot.y.high) == pytest.approx((low, high)) and (plot.x.low, plot.x.high) == (whole.plot("scatter").x.low, whole.plot("scatter").x.high)
    beyond = ((data["y"] < low) | (data["y"] > high)).sum()
    assert beyond == 4 and inside(figure, plot) and len(arrows(plot)) == beyond and len(again) == len(data)
    assert "4 heads lie beyond the axes: arrows at the edge." in caption
    assert len([series for series in plot.series if series.name == "head"]) == len(data) - beyond
    figure, _, _, _ = drawn(command, tmp_path, *arguments, "--range", "0,auto")
    assert (figure.plot("scatter").y.scale, figure.plot("scatter").y.low) == ("linear", 0)


# --- names and titles


def test_a_long_name_of_a_model_is_elided_and_refuses_no_figure(command, runs, tmp_path):
    path, name = tmp_path / "long.h5", "A-Model-With-A-Name-That-Is-Longer-Than-A-Title-Line-135M-Instruct.Q4_1.gguf"
    for kind, run in (("decomposition", "softmax"), ("lambda", "diff_v2"), ("norm-gain", "diff_v1")):
        shutil.copy(runs[run], path)
        with h5py.File(path, "r+") as file:
            file.attrs["model_id"] = name
        for width in ("174mm", "84mm", "60mm"):
            without = command("figure", path, kind, "--head", "L1.H2", "--width", width, "-o", tmp_path / "a.svg", "--force")
            outcome = command("figure", path, kind, "--head", "L1.H2", "--names", "--width", width, "-o", tmp_path / "a.svg", "--force")
            assert outcome.code == without.code and "warning" not in outcome.errors, (kind, width, outcome)
            if outcome.code != 0:
                continue
            texts = [text for text, _ in Figure(tmp_path / "a.svg").texts]
            shown = [text for text in texts if text.startswith("A-M") and "…" in text and text.endswith(" ·")]
            assert shown or f"no room for the label {name}" in outcome.errors, (kind, width, texts)


def test_panels_that_share_an_axis_say_each_word_of_its_title_once(command, runs, tmp_path):
    def titles(*more):
        figure, _, _, _ = drawn(command, tmp_path, runs["softmax"], "decomposition", "--head", "L1.H2,L0.H3", *more)
        return [text for text, size in figure.texts if size > 7.2]
    assert sum("nats" in text for text in titles()) == 1 and "means over rows" in titles()
    assert sum("nats" in text for text in titles("--width", "84mm")) == 3  # below each other
    (tmp_path / "one.json").write_text(json.dumps({"run": str(runs["softmax"]), "width": "174mm", "rows": [
        {"height": "40mm", "panels": [{"kind": "decomposition", "head": "L1.H2,L0.H3", "panel": panel} for panel in ("b", "c")]}]}))
    assert command("figure", tmp_path / "one.json", "-o", tmp_path / "c.svg").code == 0
    assert sum("nats" in text for text, _ in Figure(tmp_path / "c.svg").texts) == 2


def test_every_line_of_a_training_of_four_kinds_has_a_name(command, tmp_path):
    files = [DEMO / f"backcopy/{variant}/training.h5" for variant in ("softmax", "diff_v2", "diff_v1", "gated")]
    figure, _, _, notes = drawn(command, tmp_path, *files, "training")
    assert notes == []
    panel = next(group for group in figure.root.iter(SVG + "g") if group.get("id") == "panel-d")
    texts = [path.get("aria-label") for path in panel.iter(SVG + "path") if path.get("aria-label")]
    for name in ("softmax", "V2 first", "V1 first", "gated", "V2 net", "V1 net"):
        assert sum(text.startswith(name) for text in texts) == 1, (name, texts)


def test_each_panel_of_several_runs_says_which_it_is_of(command, runs, tmp_path):
    shutil.copy(runs["diff_v2"], tmp_path / "again.h5")
    outcome = command("figure", runs["diff_v2"], runs["diff_v1"], tmp_path / "again.h5", "lambda", "--caption", "text")
    assert outcome.code == 0, outcome
    starts = [re.match(r"[a-d], Of ([^ :]+)", line)[1] for line in outcome.text.strip().splitlines()]
    assert starts == ["diff_v2", "diff_v2", "diff_v1", "again"]
    assert "Of diff_v2" not in command("figure", runs["diff_v2"], "lambda", "--caption", "text").text
