"""`headroom figure all.h5 sinks` of a corpus: every head with its interval against the file, which side of ε it is on and the correction for all
heads against NumPy and SciPy; what is refused."""
import json
import re

import h5py
import numpy as np
import pytest
import scipy.stats

import checkpoints as C
from command import refused
from drawn_kind import drawing
from svg_figure import SVG

MAPS = {"first": ("sink_score", 0), "second": ("sink_score", 1), "net": ("sink_score_net", None)}
SIDES = ["above", "below", "undecided"]


@pytest.fixture(scope="module")
def files(warm_command, tmp_path_factory):
    """Corpora of seven sequences of four documents; of one document; one that keeps no sink scores."""
    folder = tmp_path_factory.mktemp("sinks")
    documents = [[(11 * d * i + 3 * i + d * i * i + 5 * d) % 53 for i in range(12 * pieces)] for d, pieces in enumerate((3, 1, 2, 1), 1)]
    (folder / "ids.jsonl").write_text("".join(json.dumps({"ids": ids}) + "\n" for ids in documents))
    (folder / "one.jsonl").write_text(json.dumps({"ids": documents[0]}) + "\n")
    made = {}
    for name, kind, data, more in (("softmax", "softmax", "ids.jsonl", ()), ("diff_v2", "diff_v2", "ids.jsonl", ()),
                                   ("one", "softmax", "one.jsonl", ()), ("not_kept", "softmax", "ids.jsonl", ("--keep", "none"))):
        if not (folder / kind).exists():
            C.headroom(folder / kind, C.headroom_config(kind, num_hidden_layers=3), 5)
        made[name] = folder / f"{name}.h5"
        outcome = warm_command("corpus", folder / kind, "--data", folder / data, "--field", "ids", "--length", "12", "-o", made[name], "--device", "cpu",
                               *more)
        assert outcome.code == 0, outcome
    return made


@pytest.fixture
def drawn(command, tmp_path):
    return drawing(command, "sinks", tmp_path)


def values_of(file, name, layers=slice(None), heads=slice(None)):
    """[statistic, heads], and the layer and head of each."""
    dataset, component = MAPS[name]
    values = file[dataset][:] if component is None else file[dataset][..., component]
    values = values[:, layers][:, :, heads]
    places = [(int(layer), int(head)) for layer in file["layer"][layers] for head in file["head"][heads]]
    return values.reshape(len(values), -1), places


def sides(mean, low, high, epsilon):
    return np.where(low > epsilon, 0, np.where(high < epsilon, 1, 2))


def check_map(plot, marks, caption, file, name, epsilon, layers=slice(None), heads=slice(None)):
    values, places = values_of(file, name, layers, heads)
    mean, error, low, high, count = values[[0, 2, 3, 4, 9]]
    order = np.argsort(-mean, kind="stable")
    rows = marks[marks["panel"] == plot.id.removeprefix("panel-")]
    assert list(zip(rows["layer"].astype(int), rows["head"].astype(int))) == [places[i] for i in order]
    for column, expected in (("y", mean), ("low", low), ("high", high), ("n", count)):
        assert np.array_equal(rows[column], expected[order]), column
    assert rows["x"].tolist() == list(range(1, len(order) + 1))
    side = sides(mean, low, high, epsilon)[order]
    for s, title in enumerate(SIDES):
        points = plot.points(plot.named(title, ""))
        assert len(points) == (side == s).sum()
        for (x, y), i in zip(points, np.flatnonzero(side == s)):
            assert plot.x.off(x, i + 1) < 1e-4 and plot.y.off(y, mean[order][i]) < 1e-4
        ends = [(plot.x.value(float(mark.get("x" + end))), plot.y.value(float(mark.get("y" + end))))
                for mark in plot.named(title, "").marks if mark.tag == SVG + "line" for end in "12"]
        expected = [(i + 1, np.clip(v[order][i], plot.y.low, plot.y.high)) for i in np.flatnonzero(side == s) for v in (high, low)]
        assert len(ends) == len(expected) and all(plot.x.off(x, k) < 1e-4 and plot.y.off(y, v) < 1e-4 for (x, y), (k, v) in zip(ends, expected))
    documents = len(np.unique(file["sequences/document"][:]))
    half = error * scipy.stats.t.ppf(1 - 0.025 / len(mean), documents - 1)
    corrected = sides(mean, mean - half, mean + half, epsilon)

    def counted(which):
        return "{} above, {} below, {} not told from it".format(*((which == s).sum() for s in range(3)))

    assert f"Against the dashed ε = {epsilon:g}: {counted(side)}" in caption and f"(Bonferroni): {counted(corrected)}" in caption
    assert f"of {len(mean)} head" in caption and f"mean over {len(file['sequences/document'])} sequences of {documents} documents" in caption
    said = [float(value) for value in re.search(r"Median half width ([\d.e−-]+), corrected ([\d.e−-]+):", caption).groups()]
    assert said == pytest.approx([np.median((high - low) / 2), np.median(half)], rel=6e-3)
    return side, corrected


def captions(svg):
    """The sentences of each panel."""
    return re.split(r"(?=Sink score α)", svg.description)[1:]


def test_heads_of_one_map(drawn, files):
    sides_seen, corrections = set(), 0
    with h5py.File(files["softmax"]) as file:
        values, _ = values_of(file, "first")
        for statistic in (3, 0, 4):  # ε in the midst of the lower ends, of the means, of the upper ends
            epsilon = round(float(np.median(values[statistic])), 3)
            svg, marks, _ = drawn(files["softmax"], "--epsilon", str(epsilon))
            plot, = svg.plots
            side, corrected = check_map(plot, marks, svg.description, file, "first", epsilon)
            sides_seen |= set(side)
            corrections += (corrected == 2).sum() - (side == 2).sum()
            texts = [text for text, _ in svg.texts]
            assert f" = {epsilon:g}" in texts and any(text.startswith("uniform") for text in texts) and f"{(side == 2).sum()} undecided" in texts
        assert sides_seen == {0, 1, 2} and corrections > 0
        assert f"uniform attention, {float(file['sink_null'][()]):.3f}"[:-1] in svg.description


def test_heads_of_two_maps(drawn, files):
    svg, marks, _ = drawn(files["diff_v2"], "--epsilon", "0.2")
    assert len(svg.plots) == 3
    with h5py.File(files["diff_v2"]) as file:
        for plot, caption, name in zip(svg.plots, captions(svg), MAPS, strict=True):
            check_map(plot, marks, caption, file, name, 0.2)


def test_some_heads_and_a_named_one(drawn, files):
    svg, marks, _ = drawn(files["softmax"], "--layers", "0,2", "--heads", "1-3", "--head", "L2.H3")
    with h5py.File(files["softmax"]) as file:
        values, places = values_of(file, "first", [0, 2], [1, 2, 3])
        named, = svg.plots[0].points(svg.plots[0].named("named", "L2.H3"))
        assert svg.plots[0].y.off(named[1], values[0][places.index((2, 3))]) < 1e-4
    assert len(marks) == 6 and "L2.H3" in [text for text, _ in svg.texts]
    assert "Of the file’s 3 layers and 4 heads of each, 2 and 3 are drawn." in svg.description and "of 6 heads" in svg.description


@pytest.mark.parametrize(("file", "arguments", "code", "words"), [
    ("one", ["sinks"], 4, ["no head of one.h5 has an interval", "one document"]),
    ("not_kept", ["sinks"], 4, ["no head of not_kept.h5 has an interval", "--keep"]),
    ("softmax", ["sinks", "--head", "L9.H0"], 2, ["L9.H0"]),
    ("softmax", ["atlas"], 4, ["atlas is drawn of run files", "softmax.h5 is a file of headroom corpus"]),
    ("softmax", ["series"], 4, ["softmax.h5 is a file of headroom corpus"]),
], ids=lambda value: "-".join(value) if isinstance(value, list) else None)
def test_refusals(command, files, tmp_path, file, arguments, code, words):
    refused(command("figure", files[file], *arguments, "-o", tmp_path / "out.pdf"), code, *words)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("width", [60, 84, 174])
def test_no_text_is_cut_at_any_width(command, files, tmp_path, width):
    for name in ("softmax", "diff_v2"):
        outcome = command("figure", files[name], "sinks", "--width", f"{width}mm", "--caption", "text", "-o", tmp_path / "out.pdf", "--force")
        assert outcome.code == 0 and "warning" not in outcome.errors, outcome
