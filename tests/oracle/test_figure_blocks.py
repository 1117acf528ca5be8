"""`headroom figure blocks.h5 blocks`: every line and band against the file; of models with one map; of one head; what is refused."""
import json

import h5py
import numpy as np
import pytest

import checkpoints as C
from command import refused
from drawn_kind import drawing

MEAN, LOW, HIGH = 0, 3, 4
NAMES = {"alone": 0, "pair": 1, "group": 2, "best k": 3, "chance": 4}
RELATIONS = {"same head": 0, "same group": 1, "other group": 2, "chance": 3}


@pytest.fixture(scope="module")
def files(warm_command, tmp_path_factory):
    folder = tmp_path_factory.mktemp("blocks")
    documents = [[(7 * d + 3 * i + i * i) % 53 for i in range(64)] for d in range(4)]
    (folder / "ids.jsonl").write_text("".join(json.dumps({"ids": ids}) + "\n" for ids in documents))
    made = {}
    for kind, options in (("diff_v2", {}), ("softmax", {"num_key_value_heads": 4})):
        C.headroom(folder / kind, C.headroom_config(kind, **options), 5)
        made[kind] = folder / f"{kind}.h5"
        outcome = warm_command("blocks", folder / kind, "--data", folder / "ids.jsonl", "--field", "ids", "--length", "32", "--block", "4", "--top",
                               "1,2,4,16", "-o", made[kind], "--device", "cpu")
        assert outcome.code == 0, outcome
    made["prompt"] = folder / "prompt.h5"
    outcome = warm_command("blocks", folder / "diff_v2", "--ids", ",".join(map(str, documents[0])), "--block", "8", "--top", "2", "-o", made["prompt"],
                           "--device", "cpu")
    assert outcome.code == 0, outcome
    return made


@pytest.fixture
def drawn(command, tmp_path):
    return drawing(command, "blocks", tmp_path)


def check(plot, marks, series, tops, stored, several=True):
    """A line of the picture and its numbers; `stored` [statistic, top]."""
    rows = marks[(marks["panel"] == plot.id.removeprefix("panel-")) & marks["series"].str.endswith(" " + series)]
    assert rows["x"].tolist() == tops and np.array_equal(rows["y"], stored[MEAN], equal_nan=True)
    if several:
        assert np.array_equal(rows["low"], stored[LOW], equal_nan=True) and np.array_equal(rows["high"], stored[HIGH], equal_nan=True)
    points = plot.line(plot.named(series, "")) if len(tops) > 1 else []
    finite = [(k, y) for k, y in zip(tops, stored[MEAN]) if np.isfinite(y)]
    assert len(points) == (len(finite) if len(tops) > 1 else 0)
    for (x, y), (k, value) in zip(points, finite):
        assert plot.x.off(x, k) < 1e-5 and plot.y.off(y, value) < 1e-5


def names_of(plot):
    return {series.name for series in plot.series if not series.name.endswith("interval")}


def test_lines_are_the_files(drawn, files):
    svg, marks, said = drawn(files["diff_v2"])
    assert len(svg.plots) == 4 and "changes nothing" not in said
    with h5py.File(files["diff_v2"]) as file:
        tops = file["top"][:].tolist()
        for m, plot in enumerate(svg.plots[:3]):
            assert names_of(plot) == NAMES.keys() and plot.x.scale == "log" and (plot.x.low, plot.x.high) == (1, 4)
            for name, place in NAMES.items():
                check(plot, marks, name, tops, file["mean/recall"][:, m, place])
        assert names_of(svg.plots[3]) == RELATIONS.keys()
        for name, place in RELATIONS.items():
            check(svg.plots[3], marks, name, tops, file["mean/agreement"][:, place])
    for words in ("Blocks of 4 keys", "28 for k = 1", "16 for k = 4", "0 for k = 16", "8 sequences of 4 documents", "Mean over all heads", "both maps chose"):
        assert words in svg.description, svg.description


def test_heads_of_one_map_that_share_nothing(drawn, files):
    """Whoever chooses, it is the head alone."""
    svg, marks, _ = drawn(files["softmax"])
    assert len(svg.plots) == 2 and names_of(svg.plots[0]) == {"alone", "best k", "chance"} and names_of(svg.plots[1]) == {"other group", "chance"}
    with h5py.File(files["softmax"]) as file:
        check(svg.plots[0], marks, "alone", file["top"][:].tolist(), file["mean/recall"][:, 0, 0])


def test_one_head_and_one_prompt(drawn, files):
    svg, marks, _ = drawn(files["diff_v2"], "--head", "L1.H2")
    with h5py.File(files["diff_v2"]) as file:
        check(svg.plots[2], marks, "group", file["top"][:].tolist(), file["recall"][:, 1, 2, 2, 2])
    assert "L1.H2" in [text for text, _ in svg.texts]
    svg, marks, _ = drawn(files["prompt"])
    with h5py.File(files["prompt"]) as file:
        check(svg.plots[0], marks, "pair", [2], file["mean/recall"][:, 0, 1], several=False)
    assert "no intervals" in svg.description and not [s for s in svg.plots[0].series if s.name.endswith("interval")]


@pytest.mark.parametrize(("arguments", "code", "words"), [
    (["blocks", "--head", "L0.H0,L0.H1"], 2, ["of one", "names 2"]),
    (["blocks", "--head", "L0.H9"], 2, ["L0.H9"]),
    (["sinks"], 4, ["sinks is drawn of", "diff_v2.h5 is a file of headroom blocks"]),
], ids=lambda value: "-".join(value) if isinstance(value, list) else None)
def test_refusals(command, files, tmp_path, arguments, code, words):
    refused(command("figure", files["diff_v2"], *arguments, "-o", tmp_path / "out.pdf"), code, *words)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("width", [60, 84, 120, 174])
def test_no_text_is_cut_at_any_width(command, files, tmp_path, width):
    for file in files.values():
        outcome = command("figure", file, "blocks", "--width", f"{width}mm", "--caption", "text", "-o", tmp_path / "out.pdf", "--force")
        assert outcome.code == 0 and "warning" not in outcome.errors, outcome
