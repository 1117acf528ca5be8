"""`headroom figure n.h5… needle`: every line, band and score against the file by h5py; one file and several, depths, lengths and a single cell; what
is refused."""
import h5py
import numpy as np
import pytest
import scipy.stats

from command import refused
from conftest import ROOT
from drawn_kind import drawing

BYTES = ROOT / "assets" / "demo" / "bytes"
KJV = ROOT / "assets" / "corpora" / "kjv.txt"
MEAN, ERROR, LOW, HIGH, COUNT = 0, 2, 3, 4, 9
SPANS = ["first", "answer", "needle", "distractor", "haystack", "question"]
MAPS = ["first", "second", "net"]
FULL = ["--lengths", "260,300", "--depths", "0,40,100"]
CUTS = {  # model, cut
    "softmax": ("softmax", FULL), "diff_v2": ("diff_v2", FULL), "diff_v1": ("diff_v1", FULL),
    "lengths": ("softmax", ["--lengths", "260,300,380", "--depths", "50"]), "cell": ("diff_v2", ["--lengths", "280", "--depths", "50"]),
    "one": ("softmax", ["--lengths", "280", "--depths", "0,100", "--samples", "1"]),
    "many": ("softmax", ["--lengths", "250,260,270,280,290,300", "--depths", "0,100", "--samples", "2"]),
}


@pytest.fixture(scope="module")
def files(warm_command, tmp_path_factory):
    folder = tmp_path_factory.mktemp("needle")
    made = {}
    for name, (model, cut) in CUTS.items():
        made[name] = folder / f"{name}.h5"
        samples = [] if "--samples" in cut else ["--samples", "5"]
        outcome = warm_command("needle", BYTES / model, "--data", KJV, "--needles", "2", "--seed", "5", "--bos", "always", *cut, *samples,
                               "-o", made[name], "--device", "cpu")
        assert outcome.code == 0, outcome
    return made


@pytest.fixture
def drawn(command, tmp_path):
    draw = drawing(command, "needle", tmp_path)
    return lambda path, *arguments: draw(path, *arguments)


def drawn_of(command, tmp_path, paths, *arguments):
    draw = drawing(lambda figure, first, kind, *rest: command(figure, *paths, kind, *rest), "needle", tmp_path)
    return draw(paths[0], *arguments)


def check(plot, marks, series, places, stored, several=True):
    """A line of the picture and its numbers; `stored` [statistic, place]."""
    rows = marks[(marks["panel"] == plot.id.removeprefix("panel-")) & marks["series"].str.endswith(" " + series)]
    assert rows["x"].tolist() == list(places)
    np.testing.assert_array_equal(rows["y"], stored[MEAN])
    np.testing.assert_array_equal(rows["n"], stored[COUNT])
    if several:
        np.testing.assert_array_equal(rows["low"], stored[LOW])
        np.testing.assert_array_equal(rows["high"], stored[HIGH])
    else:
        assert rows["low"].isna().all()
    points = plot.points(plot.named(series, ""))
    assert len(points) == len(places)
    for (x, y), place, value in zip(points, places, stored[MEAN]):
        assert plot.x.off(x, place) < 1e-5 and plot.y.off(y, value) < 1e-5
    bands = [one for one in plot.series if one.name == series + " interval"]
    if not several:
        assert not bands
        return
    # The band's corners are the interval, as far as the axis goes.
    corners = plot.line(bands[0])
    expected = [(place, np.clip(value, plot.y.low, plot.y.high)) for which in (LOW, HIGH) for place, value in zip(places, stored[which])]
    for place, value in expected:
        assert any(plot.x.off(x, place) < 1e-5 and plot.y.off(y, value) < 1e-5 for x, y in corners), (series, place, value, corners)


def names_of(plot):
    return {series.name for series in plot.series if not series.name.endswith("interval") and series.name != "threshold"}


def check_list(plot, marks, expected):
    """[(value, low, high)] from the top."""
    rows = marks[(marks["panel"] == plot.id.removeprefix("panel-")) & ~marks["series"].str.endswith(" second map")]
    np.testing.assert_array_equal(rows[["x", "low", "high"]].to_numpy(), np.array(expected))
    discs = plot.points([series for series in plot.series if series.name in ("scores", "values")][0])
    assert len(discs) == len(expected)
    for i, ((x, y), (value, _, _)) in enumerate(zip(discs, expected)):
        assert plot.x.off(x, value) < 1e-5 and plot.y.off(y, i) < 1e-5
    return rows


def best(scores, top):
    """Places of the largest, the first of equal ones first: [(layer, head)]."""
    order = np.argsort(-scores[MEAN].ravel(), kind="stable")[:top]
    return [tuple(int(i) for i in np.unravel_index(k, scores.shape[1:])) for k in order]


@pytest.mark.parametrize("name", ["softmax", "diff_v2"])
def test_one_file(drawn, files, name):
    svg, marks, said = drawn(files[name], "--top", "5")
    assert "changes nothing" not in said
    two = name == "diff_v2"
    assert len(svg.plots) == (6 if two else 4)
    with h5py.File(files[name]) as file:
        depths = file["depth"][:]
        for l, plot in enumerate(svg.plots[:2]):
            assert names_of(plot) == set(SPANS)
            for s, span in enumerate(SPANS):
                check(plot, marks, span, depths, file["share_over_heads"][:, l, :, s, 2])
            assert plot.y.scale == "log" and svg.plots[0].x.low == 0 and svg.plots[0].x.high == 100
        if two:
            for l, plot in enumerate(svg.plots[2:4]):
                assert names_of(plot) == set(MAPS)
                for m, of in enumerate(MAPS):
                    check(plot, marks, of, depths, file["share_over_heads"][:, l, :, 1, m])
        recall = svg.plots[-2]
        for l, length in enumerate(("260 tokens", "300 tokens")):
            check(recall, marks, length, depths, file["recalled"][:, l])
        scores = file["overall/retrieval_score"][:]
        second = file["overall/retrieval_score_of_map"][MEAN, :, :, 1]
        places = best(np.fmax(scores, second), 5)
        rows = check_list(svg.plots[-1], marks, [tuple(scores[s, l, h] for s in (MEAN, LOW, HIGH)) for l, h in places])
        assert list(zip(rows["layer"], rows["head"])) == places and (rows["n"] == 30).all()
        rings = [series for series in svg.plots[-1].series if series.name == "second map"]
        assert bool(rings) == two
        if two:
            drawn_at = [x for x, _ in svg.plots[-1].points(rings[0])]
            np.testing.assert_allclose(drawn_at, [second[place] for place in places], atol=1e-5)
        corners = svg.plots[-1].line(svg.plots[-1].named("threshold"))
        assert len(corners) >= 2 and all(svg.plots[-1].x.off(x, 0.1) < 1e-5 for x, _ in corners)
        # What the caption counts, by NumPy and SciPy.
        flat = scores.reshape(10, -1)
        heads = flat.shape[1]
        half = flat[ERROR] * scipy.stats.t.ppf(1 - 0.025 / heads, 4)
        counts = (f"{(flat[MEAN] >= 0.1).sum()} of {heads} heads reach it, {(flat[LOW] > 0.1).sum()} with their whole interval above it, "
                  f"{(flat[MEAN] - half > 0.1).sum()} with one corrected")
        assert counts in svg.description
        recalled = file["samples/recalled"][:]
        assert f"{(recalled > 0.5).sum()} of 30 prompts have more than half" in svg.description
    for words in ("5 samples a cell, with 2 numbers in each prompt", "Student’s t over samples", "other documents or trainings", "kjv.txt", "Wu et al.",
                  f"mean over heads, over the depth of the answer’s sentence, in prompts of 260 tokens"):
        assert words in svg.description, (words, svg.description)


@pytest.mark.parametrize(("quantity", "dataset", "of"), [("mass", "mass", 2), ("output[second]", "output", 1), ("absolute[first]", "absolute", 0)])
def test_another_quantity_and_one_head(drawn, files, quantity, dataset, of):
    svg, marks, _ = drawn(files["diff_v2"], "--quantity", quantity, "--head", "L1.H2,L0.H1", "--scale", "linear", "--top", "1")
    with h5py.File(files["diff_v2"]) as file:
        for s, span in enumerate(SPANS):
            check(svg.plots[1], marks, span, file["depth"][:], file[dataset][:, 1, :, s, 1, 2, of])
        check(svg.plots[3], marks, "second", file["depth"][:], file[dataset][:, 1, :, 1, 1, 2, 1])
        scores = file["overall/retrieval_score"][:]
        order = best(np.fmax(scores, file["overall/retrieval_score_of_map"][MEAN, :, :, 1]), 99)
        listed = sorted({order[0], (1, 2), (0, 1)}, key=order.index)
        check_list(svg.plots[-1], marks, [tuple(scores[s, l, h] for s in (MEAN, LOW, HIGH)) for l, h in listed])
    assert "L1.H2" in svg.description and svg.plots[0].y.scale == "linear"


def test_several_files(command, files, tmp_path):
    names = ["softmax", "diff_v2", "diff_v1"]
    svg, marks, _ = drawn_of(command, tmp_path, [files[name] for name in names], "--top", "3")
    assert len(svg.plots) == 5
    for name in names:
        with h5py.File(files[name]) as file:
            for l in range(2):
                check(svg.plots[l], marks, name, file["depth"][:], file["share_over_heads"][:, l, :, 1, 2])
                check(svg.plots[2 + l], marks, name, file["depth"][:], file["recalled"][:, l])
            scores = file["overall/retrieval_score"][:]
            places = best(scores, 3)
            stored = np.array([scores[:, l, h] for l, h in places]).T
            check(svg.plots[4], marks, name, [1, 2, 3], stored)
            rows = marks[(marks["panel"] == "e") & marks["series"].str.endswith(" " + name)]
            assert list(zip(rows["layer"], rows["head"])) == places
            assert f"{name}: {(scores[MEAN] >= 0.1).sum()} of {scores[MEAN].size} heads reach it" in svg.description
    assert "All files are of the same prompts" in svg.description and "diff_v1: diff_v1, " in svg.description
    other = drawn_of(command, tmp_path, [files["one"], files["one"]])[0]
    assert "All files are of the same prompts" in other.description


def test_over_lengths_and_of_a_single_cell(command, drawn, files, tmp_path):
    svg, marks, _ = drawn(files["lengths"])
    assert len(svg.plots) == 3
    with h5py.File(files["lengths"]) as file:
        for s, span in enumerate(SPANS):
            check(svg.plots[0], marks, span, [260, 300, 380], file["share_over_heads"][:, :, 0, s, 2])
        assert svg.plots[0].x.scale == "log" and "at depth 50 %" in svg.description
        rows = marks[(marks["panel"] == "b")]
        np.testing.assert_array_equal(rows["y"], file["recalled"][MEAN, :, 0])
    svg, marks, _ = drawn(files["cell"])
    assert len(svg.plots) == 3
    with h5py.File(files["cell"]) as file:
        check_list(svg.plots[0], marks, [tuple(file["share_over_heads"][s, 0, 0, k, 2] for s in (MEAN, LOW, HIGH)) for k in range(6)])
        check_list(svg.plots[1], marks, [tuple(file["share_over_heads"][s, 0, 0, 1, k] for s in (MEAN, LOW, HIGH)) for k in range(3)])
    assert "Recall: share" in svg.description
    svg, marks, _ = drawn_of(command, tmp_path, [files["cell"], files["cell"]])
    with h5py.File(files["cell"]) as file:
        check_list(svg.plots[1], marks, [tuple(file["recalled"][s, 0, 0] for s in (MEAN, LOW, HIGH))] * 2)


def test_one_sample_has_no_interval(drawn, files):
    svg, marks, _ = drawn(files["one"])
    with h5py.File(files["one"]) as file:
        check(svg.plots[0], marks, "answer", [0, 100], file["share_over_heads"][:, 0, :, 1, 2], several=False)
    assert "1 sample a cell, with 2 numbers in each prompt: no intervals." in svg.description


def test_of_many_lengths_four_are_drawn_and_it_is_said(drawn, files):
    svg, _, said = drawn(files["many"])
    assert [name for name in names_of(svg.plots[4]) if name.endswith("tokens")] and len(svg.plots) == 6
    assert {"250 tokens", "300 tokens"} < names_of(svg.plots[4]) and len(names_of(svg.plots[4])) == 4
    assert "Of 6 lengths 4 are drawn" in svg.description and "of 6 lengths 4 are drawn" in said


def test_what_a_stopped_run_has_is_drawn(command, files, tmp_path):
    """Cells that were not run are gaps; the figure says so."""
    part = tmp_path / "part.h5"
    part.write_bytes(files["softmax"].read_bytes())
    with h5py.File(part, "r+") as file:
        for name in ("share_over_heads", "recalled"):
            file[name][:, 1, 1:] = np.nan
        file.attrs["cells_done"] = np.int64(4)
    svg, marks, said = drawing(command, "needle", tmp_path)(part)
    assert "part.h5 was stopped: 4 of 6 cells have numbers" in said and "The run was stopped: 4 of 6 cells" in svg.description
    assert len(svg.plots[1].points(svg.plots[1].named("answer", ""))) == 1
    assert marks[(marks["panel"] == "b") & (marks["series"] == "share answer")]["y"].isna().sum() == 2


@pytest.mark.parametrize(("name", "arguments", "code", "words"), [
    ("softmax", ["needle", "--quantity", "sink_score"], 2, ["sink_score", "share, mass"]),
    ("softmax", ["needle", "--quantity", "share[second]"], 4, ["no head of softmax.h5 has a second map"]),
    ("softmax", ["needle", "--head", "L0.H9"], 2, ["L0.H9"]),
    ("softmax", ["needle", "--scale", "symlog"], 2, ["symlog", "linear or log"]),
    ("softmax", ["sinks"], 4, ["sinks is drawn of", "softmax.h5 is a file of headroom needle"]),
], ids=lambda value: "-".join(value) if isinstance(value, list) else None)
def test_refusals(command, files, tmp_path, name, arguments, code, words):
    refused(command("figure", files[name], *arguments, "-o", tmp_path / "out.pdf"), code, *words)
    assert not list(tmp_path.iterdir())


def test_files_that_do_not_go_together_are_refused(command, files, tmp_path):
    out = tmp_path / "out.pdf"
    refused(command("figure", files["softmax"], files["many"], "needle", "-o", out), 2, "lengths of many.h5 are not those of softmax.h5")
    refused(command("figure", *[files["softmax"]] * 5, "needle", "-o", out), 2, "5 files")
    broken = tmp_path / "broken.h5"
    broken.write_bytes(files["softmax"].read_bytes())
    with h5py.File(broken, "r+") as file:
        del file["overall/recalled"]
    refused(command("figure", broken, "needle", "-o", out), 3, "broken.h5", "overall/recalled")


@pytest.mark.parametrize("width", [60, 84, 120, 174])
def test_no_text_is_cut_at_any_width(command, files, tmp_path, width):
    for names in (*([name] for name in files), ["softmax", "diff_v2", "diff_v1"]):
        outcome = command("figure", *[files[name] for name in names], "needle", "--width", f"{width}mm", "--caption", "text", "-o", tmp_path / "out.pdf",
                          "--force")
        assert outcome.code == 0 and "warning" not in outcome.errors, outcome
