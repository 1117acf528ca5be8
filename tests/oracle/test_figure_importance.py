"""Changes of the loss without heads as figures: every mark is a number of `headroom ablate`'s files, every interval SciPy's."""
import io
import json
import re
import shutil

import h5py
import numpy as np
import pandas
import pytest
from scipy import integrate, optimize, stats

import checkpoints as C
from command import refused
from svg_figure import SVG, Figure

LAYERS, HEADS = 3, 4


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


@pytest.fixture(scope="module")
def files(tmp_path_factory, command):
    """Files of a model of two maps a head: `zero`, with two sets of heads; `short`, of a text without intervals; `sets`, of sets alone; five texts by
    two ways; `plan`, of six documents, with sets and a pruning curve."""
    folder = tmp_path_factory.mktemp("ablations")
    made = {}
    for name, seed in (("model", 21), ("other", 22)):
        C.headroom(folder / name, C.headroom_config("diff_v2", num_hidden_layers=LAYERS), seed)

    def ablate(name, *arguments, model="model", length=120, text=0):
        made[name] = folder / f"{name}.h5"
        ids = ",".join(str((i * (7 + text) + text * i * i) % 53) for i in range(length))
        outcome = command("ablate", folder / model, "--ids", ids, "-o", made[name], "--device", "cpu", *arguments)
        assert outcome.code == 0, outcome

    every_head = ",".join(f"L{layer}.H{head}" for layer in range(LAYERS) for head in range(HEADS))
    ablate("zero", "--heads", every_head, "--set", "L0.H0+L1.H1", "--set", "L2.H0+L2.H1+L2.H2")
    ablate("sets", "--set", "L0.H0+L1.H1", "--set", "L2.H0+L2.H1+L2.H2+L2.H3")
    ablate("short", length=20)
    rows = [[(i * (7 + d) + d * i * i) % 53 for i in range(40)] for d in range(6)]
    (folder / "ids.jsonl").write_text("".join(json.dumps({"ids": ids}) + "\n" for ids in rows))
    made["plan"] = folder / "plan.h5"
    outcome = command("ablate", folder / "model", "--data", folder / "ids.jsonl", "--field", "ids", "--length", "20", "--heads", every_head, "--set",
                      "L0.H0+L1.H1", "--cumulative", "5", "-o", made["plan"], "--device", "cpu")
    assert outcome.code == 0, outcome
    ablate("hidden", "--mode", "hide-key=0,1")
    ablate("other", model="other", text=2)
    for text in range(1, 6):
        ablate(f"zero{text}", text=text)
        ablate(f"second{text}", "--mode", "second-map", text=text)
    return made


def stored(path, name):
    with h5py.File(path) as file:
        return file[name][()].astype(float)


def table(outcome):
    assert outcome.code == 0, outcome
    return pandas.read_csv(io.StringIO(outcome.text), comment="#")


@pytest.fixture
def drawn(command, tmp_path):
    """drawn(files, *arguments) → SVG, its marks as a table; without a warning."""
    def call(paths, *arguments):
        path = tmp_path / "out.svg"
        outcome = command("figure", *paths, "importance", *arguments, "-o", path, "--force", "--data", "-")
        assert "warning" not in outcome.errors, outcome
        return Figure(path), table(outcome)

    return call


def detectable(degrees, level):
    """In standard errors, what a two-sided t test sees in 80 of 100 cases: over the distribution of the estimated error."""
    point = stats.t.ppf(1 - level / 2, degrees)

    def power(effect):
        def seen(variance):
            reach = point * np.sqrt(variance / degrees)
            return (stats.norm.sf(reach - effect) + stats.norm.cdf(-reach - effect)) * stats.chi2.pdf(variance, degrees)

        return integrate.quad(seen, 0, np.inf)[0]

    return optimize.brentq(lambda effect: power(effect) - 0.8, 0.0, 60.0)


def check_list(svg, marks, change, low, high, top=12):
    """The largest changes in panel a: of the table, and of the discs and lines of the picture."""
    order = np.argsort(-np.abs(change), axis=None)[:top]
    expected = sorted(order, key=lambda place: -change.reshape(-1)[place])
    listed = marks[marks["panel"] == "a"]
    assert (listed["layer"] * HEADS + listed["head"]).tolist() == expected
    plot = svg.plots[0]
    points, lines = plot.points(plot.named("changes")), plot.named("intervals").marks
    assert len(points) == len(expected) and len(lines) == int(np.isfinite(low.reshape(-1)[expected]).sum())
    for row, ((x, y), place) in enumerate(zip(points, expected)):
        assert plot.x.off(x, change.reshape(-1)[place]) < 1e-6 and plot.y.off(y, row) < 1e-6
        assert listed["x"].iloc[row] == pytest.approx(change.reshape(-1)[place], rel=1e-12)
    for line, place in zip(lines, expected):
        for end, value in (("x1", low), ("x2", high)):
            at = min(max(value.reshape(-1)[place], plot.x.low), plot.x.high)
            assert plot.x.off(plot.x.value(float(line.get(end))), at) < 1e-6
    assert listed["low"].to_numpy() == pytest.approx(low.reshape(-1)[expected], rel=1e-9, nan_ok=True)
    assert listed["high"].to_numpy() == pytest.approx(high.reshape(-1)[expected], rel=1e-9, nan_ok=True)


def test_intervals_of_one_text_are_student_ts_over_its_blocks_for_all_changes(drawn, files):
    delta, error = stored(files["zero"], "delta_loss"), stored(files["zero"], "delta_loss_se")
    set_errors = stored(files["zero"], "set_delta_loss_se")
    with h5py.File(files["zero"]) as file:
        degrees = int(file.attrs["blocks"]) - 1
        loss = float(file.attrs["next_token_loss"])
    tested = delta.size + len(set_errors)
    half = stats.t.ppf(1 - 0.05 / tested / 2, degrees) * error
    svg, marks = drawn([files["zero"]])
    assert [plot.kind for plot in svg.plots] == ["importance"] * 4
    check_list(svg, marks, delta, delta - half, delta + half)
    apart = np.abs(delta) > half
    labels = [text for text, _ in svg.texts]
    assert f"{apart.sum()} of {delta.size} heads" in labels and f"{degrees + 1} blocks" in labels
    # Every head a cell, and the contour parts those whose interval leaves out 0.
    cells = marks[marks["panel"] == "b"].astype({"layer": int, "head": int})
    assert (cells["y"].to_numpy() == delta[cells["layer"], cells["head"]]).all() and len(cells) == delta.size
    assert set(cells["series"][apart.reshape(-1)]) <= {"delta_loss, interval without 0"}
    atlas = svg.plots[1]
    assert len(atlas.named("cells").marks) == delta.size
    over = np.pad(apart, 1)
    edges = int((over[1:, :] != over[:-1, :]).sum() + (over[:, 1:] != over[:, :-1]).sum())
    assert len(atlas.named("interval without 0").marks) == edges
    # What could not have been seen, and over what all of it is.
    size = detectable(degrees, 0.05 / tested) * np.median(np.append(error, set_errors))
    said = float(re.search(r"below ±([\d.]+) nats", svg.description)[1])
    assert said == pytest.approx(size, rel=0.06), "two digits"
    words = " ".join(svg.description.split())
    assert f"divided by the {tested} changes that were measured (Bonferroni), of which {len(set_errors)} of several heads" in words
    assert f"the loss of the model as it is: {loss:.4f} nats" in words and "not other texts" in words


def test_points_are_changes_over_sink_scores_with_their_rank_correlation(drawn, files):
    delta, sinks = stored(files["zero"], "delta_loss"), stored(files["zero"], "sink_score")[..., 0]
    svg, marks = drawn([files["zero"]])
    plot = svg.plots[2]
    found = plot.points(plot.named("heads")) + plot.points(plot.named("interval without 0"))
    assert len(found) == delta.size
    expected = sorted(zip(sinks.reshape(-1), delta.reshape(-1)))
    for (x, y), (sink, change) in zip(sorted(found), expected):
        assert plot.x.off(x, sink) < 1e-6 and plot.y.off(y, change) < 1e-6
    points = marks[marks["panel"] == "c"].astype({"layer": int, "head": int})
    assert (points["x"].to_numpy() == sinks[points["layer"], points["head"]]).all()
    assert (points["y"].to_numpy() == delta[points["layer"], points["head"]]).all()
    r = stats.spearmanr(sinks.reshape(-1), delta.reshape(-1)).statistic
    assert f"r_S = {r:.2f} [".replace("-", "−") in svg.description
    assert any(f" = {r:.2f} [".replace("-", "−") in text for text, _ in svg.texts), svg.texts


def test_intervals_of_several_texts_are_over_texts(drawn, files):
    paths = [files[f"zero{text}"] for text in range(1, 6)]
    values = np.array([stored(path, "delta_loss") for path in paths])
    error = stats.sem(values, axis=0)
    low, high = stats.t.interval(1 - 0.05 / values[0].size, 4, loc=values.mean(axis=0), scale=error)
    svg, marks = drawn(paths)
    check_list(svg, marks, values.mean(axis=0), low, high)
    labels = [text for text, _ in svg.texts]
    assert "5 texts" in labels and f"{((low > 0) | (high < 0)).sum()} of {values[0].size} heads" in labels
    sinks = np.mean([stored(path, "sink_score")[..., 0] for path in paths], axis=0)
    points = marks[marks["panel"] == "c"]
    assert points["x"].to_numpy() == pytest.approx(sinks[points["layer"], points["head"]], rel=1e-12)
    size = detectable(4, 0.05 / values[0].size) * np.median(error)
    assert float(re.search(r"below ±([\d.]+) nats", svg.description)[1]) == pytest.approx(size, rel=0.06)
    assert f"mean over {5 * 119} predictions of 5 texts" in " ".join(svg.description.split())
    assert len(svg.keys["run_sha256"].split()) == 5


def test_two_ways_are_drawn_against_each_other(drawn, files):
    paths = [files[f"{way}{text}"] for way in ("zero", "second") for text in range(1, 6)]
    zero, second = (np.mean([stored(files[f"{way}{text}"], "delta_loss") for text in range(1, 6)], axis=0) for way in ("zero", "second"))
    svg, marks = drawn(paths)
    plot = svg.plots[2]
    found = sorted(plot.points(plot.named("heads")) + plot.points(plot.named("interval without 0")))
    assert len(found) == zero.size
    for (x, y), (first, other) in zip(found, sorted(zip(zero.reshape(-1), second.reshape(-1)))):
        assert plot.x.off(x, first) < 1e-6 and plot.y.off(y, other) < 1e-6
    for x, y in plot.line(plot.named("equal")):
        assert x == pytest.approx(y, abs=1e-6 * max(abs(plot.x.high), abs(plot.y.high)))
    labels = [text for text, _ in svg.texts]
    assert "loss change, head off, nats" in labels and any("second map off" in text for text in labels)
    assert marks[marks["panel"] == "c"]["y"].to_numpy() == pytest.approx(second.reshape(-1), rel=1e-12)


def test_what_is_drawn_of_it_does_not_change_intervals(drawn, files):
    _, whole = drawn([files["zero"]])
    svg, part = drawn([files["zero"]], "--layers", "1", "--heads", "0,2-3", "--top", "2", "--head", "L1.H0")
    cells, all_cells = part[part["panel"] == "b"], whole[(whole["panel"] == "b") & (whole["layer"] == 1) & (whole["head"] != 1)]
    for name in ("y", "low", "high"):
        assert (cells[name].to_numpy() == all_cells[name].to_numpy()).all()
    delta = stored(files["zero"], "delta_loss")[1, [0, 2, 3]]
    listed = part[part["panel"] == "a"]
    largest = set(np.argsort(-np.abs(delta))[:2]) | {0}
    assert len(listed) == len(largest) and 0 in listed["head"].tolist()
    # The head that is asked for is green wherever it is.
    assert any(mark.get("fill") == "#009e73" for mark in svg.plots[0].named("changes").marks)
    assert any(mark.get("stroke") == "#009e73" for mark in svg.root.iter(SVG + "rect"))


def test_a_short_text_has_no_intervals_and_says_so(drawn, files):
    svg, marks = drawn([files["short"]])
    delta = stored(files["short"], "delta_loss")
    check_list(svg, marks, delta, np.full(delta.shape, np.nan), np.full(delta.shape, np.nan))
    labels = [text for text, _ in svg.texts]
    assert "no intervals" in labels and "every head" in labels and not any("power" in text for text in labels)
    assert "No intervals: the text has too few tokens" in svg.description
    assert (marks[marks["panel"] == "a"]["mark"] == "point").all()


def test_a_sweep_that_was_stopped_is_drawn_with_what_it_has(command, files, tmp_path):
    shutil.copy(files["zero"], tmp_path / "stopped.h5")
    with h5py.File(tmp_path / "stopped.h5", "r+") as file:
        for name in ("delta_loss", "delta_loss_se"):
            file[name][0] = np.nan
    outcome = command("figure", tmp_path / "stopped.h5", "importance", "-o", tmp_path / "out.svg", "--data", "-")
    marks = table(outcome)
    assert "stopped.h5 was stopped: 8 of 12 heads have a change" in outcome.errors and "warning" not in outcome.errors
    assert marks[marks["panel"] == "b"]["y"].isna().sum() == HEADS and len(marks[marks["panel"] == "a"]) == 8
    assert "Hatched: 4 heads without a value" in Figure(tmp_path / "out.svg").description


def check_sets(svg, marks, panel, names, change, low, high, sums):
    """A list of sets, the largest first, with rings where all of its heads have changes of their own."""
    plot = svg.plots["abcde".index(panel)]
    rows = marks[(marks["panel"] == panel) & ~marks["series"].str.endswith(" sums")]
    order = sorted(range(len(names)), key=lambda i: -change[i])
    assert rows["series"].tolist() == [f"delta_loss {names[i]}" for i in order] and rows["layer"].isna().all()
    assert rows["x"].tolist() == [change[i] for i in order]
    assert rows["low"].to_numpy() == pytest.approx([low[i] for i in order], rel=1e-9)
    assert rows["high"].to_numpy() == pytest.approx([high[i] for i in order], rel=1e-9)
    for row, (i, (x, y)) in enumerate(zip(order, plot.points(plot.named("changes")))):
        assert plot.x.off(x, change[i]) < 1e-6 and plot.y.off(y, row) < 1e-6
    for line, i in zip(plot.named("intervals").marks, order):
        for end, value in (("x1", low[i]), ("x2", high[i])):
            assert plot.x.off(plot.x.value(float(line.get(end))), min(max(value, plot.x.low), plot.x.high)) < 1e-6
    rings = plot.points(plot.named("sums"))
    expected = [(sums[i], row) for row, i in enumerate(order) if np.isfinite(sums[i])]
    assert len(rings) == len(expected)
    for (x, y), (value, row) in zip(rings, expected):
        assert plot.x.off(x, value) < 1e-6 and plot.y.off(y, row) < 1e-6


@pytest.mark.parametrize("name", ["zero", "sets"])
def test_sets_are_drawn_with_their_intervals(drawn, files, name):
    """A file of sets alone is a figure too."""
    svg, marks = drawn([files[name]])
    change, error, delta = stored(files[name], "set_delta_loss"), stored(files[name], "set_delta_loss_se"), stored(files[name], "delta_loss")
    with h5py.File(files[name]) as file:
        names, degrees = file["set"].asstr()[:].tolist(), int(file.attrs["blocks"]) - 1
    tested = np.isfinite(delta).sum() + len(names)
    half = stats.t.ppf(1 - 0.05 / tested / 2, degrees) * error
    sums = [sum(delta[int(head[1]), int(head[4])] for head in one.split("+")) for one in names]
    assert np.isfinite(sums).all() == (name == "zero")
    check_sets(svg, marks, "d" if name == "zero" else "a", names, change, change - half, change + half, sums)
    labels = [text for text, _ in svg.texts]
    assert "L0.H0+L1.H1" in labels and ("Rings: the sum" in svg.description) == (name == "zero")
    if name == "sets":
        assert svg.width == "84mm" and len(svg.plots) == 1 and "L2.H0+L2.H1 + 2 more" in labels
        words = " ".join(svg.description.split())
        assert "L2.H0+L2.H1 + 2 more: L2.H0+L2.H1+L2.H2+L2.H3" in words and "2 changes that were measured" in words and "head puts out 0" in words


def test_the_pruning_curve_is_the_files(drawn, files):
    svg, marks = drawn([files["plan"]])
    delta, curve, sets = (stored(files["plan"], name) for name in ("delta_loss", "cumulative_delta_loss", "set_delta_loss"))
    with h5py.File(files["plan"]) as file:
        order, documents = file["removed"].asstr()[:].tolist(), len(set(file["sequences/document"][:]))
    tested = delta[0].size + curve.shape[1] + sets.shape[1]
    half = stats.t.ppf(1 - 0.05 / tested / 2, documents - 1) * curve[2]
    alone = np.cumsum([delta[0, int(head[1]), int(head[4])] for head in order])
    assert len(svg.plots) == 5 and documents == 6
    check_sets(svg, marks, "d", ["L0.H0+L1.H1"], sets[0], sets[0] - stats.t.ppf(1 - 0.05 / tested / 2, 5) * sets[2],
               sets[0] + stats.t.ppf(1 - 0.05 / tested / 2, 5) * sets[2], [delta[0, 0, 0] + delta[0, 1, 1]])
    plot, rows = svg.plots[4], marks[marks["panel"] == "e"]
    for name, values in (("together", curve[0]), ("sum", alone)):
        own = rows[rows["series"] == f"cumulative_delta_loss {name}"]
        assert own["x"].tolist() == [1, 2, 3, 4, 5] and own["y"].to_numpy() == pytest.approx(values, rel=1e-12)
        assert [f"L{l:.0f}.H{h:.0f}" for l, h in zip(own["layer"], own["head"])] == order
        points = plot.points(plot.named(name, ""))
        for (x, y), place, value in zip(points, range(1, 6), values, strict=True):
            assert plot.x.off(x, place) < 1e-6 and plot.y.off(y, value) < 1e-6
    own = rows[rows["series"] == "cumulative_delta_loss together"]
    assert own["low"].to_numpy() == pytest.approx(curve[0] - half, rel=1e-9) and own["high"].to_numpy() == pytest.approx(curve[0] + half, rel=1e-9)
    corners = plot.line(plot.named("together interval"))
    for place, values in zip(range(1, 6), zip(curve[0] - half, curve[0] + half)):
        assert all(any(plot.x.off(x, place) < 1e-6 and plot.y.off(y, value) < 1e-6 for x, y in corners) for value in values)
    words = " ".join(svg.description.split())
    assert ", ".join(order) in words and f"divided by the {tested} changes that were measured (Bonferroni), of which 6 of several heads" in words


@pytest.mark.parametrize(("names", "arguments", "code", "words"), [
    (["zero1", "zero1"], [], 4, ["zero1.h5 and zero1.h5 are of one text"]),
    (["zero1", "other"], [], 4, ["checkpoint_sha256 of other.h5 is not that of zero1.h5"]),
    (["zero1", "second2"], [], 4, ["the text of second2.h5 (second-map=off) is in no file of head=off"]),
    (["zero1", "zero2", "second1"], [], 4, ["head=off has 2 texts, second-map=off has 1"]),
    (["zero", "second1", "hidden"], [], 2, ["two ways", "head=off, second-map=off, hide-key=0,1"]),
    (["zero"], ["--scale", "log"], 2, ["both signs", "--scale linear or symlog"]),
    (["zero"], ["--head", "L9.H0"], 2, ["L9.H0", "layers 0–2"]),
    (["zero"], ["--layers", "7"], 2, ["layer 7", "layers 0–2"]),
], ids=lambda value: "-".join(value) if isinstance(value, list) else None)
def test_refusals(command, files, tmp_path, names, arguments, code, words):
    outcome = command("figure", *(files[name] for name in names), "importance", *arguments, "-o", tmp_path / "out.pdf")
    refused(outcome, code, *words)
    assert not list(tmp_path.iterdir())


def test_list_says_which_kind_the_file_is_for(command, files):
    kinds = {one["kind"]: one for one in json.loads(command("figure", files["zero"], "--list", "--json").text)}
    assert kinds["importance"]["missing"] is None and kinds["importance"]["several_runs"]
    others = [one["missing"] for kind, one in kinds.items() if kind != "importance"]
    assert len(others) > 10 and all("zero.h5 is a file of headroom ablate" in missing for missing in others)


def test_panels_of_it_stand_in_composed_figures(command, files, tmp_path):
    shutil.copy(files["zero"], tmp_path / "zero.h5")
    (tmp_path / "both.json").write_text(json.dumps({"width": "174mm", "run": "zero.h5", "rows": [{"height": "40mm", "panels": [
        {"kind": "importance", "panel": "heads", "top": 5, "width": 1}, {"kind": "importance", "panel": "atlas", "width": 2}]}]}))
    outcome = command("figure", tmp_path / "both.json", "-o", tmp_path / "out.svg", "--data", "-")
    marks = table(outcome)
    assert "warning" not in outcome.errors and (marks["panel"] == "a").sum() == 5 and (marks["panel"] == "b").sum() == LAYERS * HEADS


@pytest.mark.parametrize("names", [["zero"], ["zero1", "zero2"], [f"{way}{text}" for way in ("zero", "second") for text in (1, 2)], ["short"],
                                   ["hidden"], ["sets"], ["plan"]], ids="-".join)
def test_no_text_is_cut_or_touches_at_any_width(command, files, names):
    for width in (60, 77, 84, 120, 139.7, 174, 183):
        for more in ([], ["--head", "L2.H3"], ["--layers", "0", "--heads", "1"]):
            outcome = command("figure", *(files[name] for name in names), "importance", *more, "--width", f"{width}mm", "--caption", "text")
            assert outcome.code == 0 and "warning" not in outcome.errors, (width, more, outcome)
