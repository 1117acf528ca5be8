"""`headroom figure series.h5 series`: every line and band against the file, the mean over heads against NumPy, for several heads and for
one; what is refused."""
import json
import re

import h5py
import numpy as np
import pytest

import checkpoints as C
from command import refused
from drawn_kind import drawing

STEPS = [0, 10, 100, 2000]
MEAN, LOW, HIGH = 0, 3, 4


@pytest.fixture(scope="module")
def files(warm_command, tmp_path_factory):
    """Series of random checkpoints: of two layers with four heads, and of differential ones from step 10 on."""
    folder = tmp_path_factory.mktemp("series")
    documents = [[(7 * d + 3 * i + i * i) % 53 for i in range(40)] for d in range(5)]
    (folder / "ids.jsonl").write_text("".join(json.dumps({"ids": ids}) + "\n" for ids in documents))
    made = {}
    for kind, steps in (("softmax", STEPS), ("diff_v2", STEPS[1:])):
        for seed, step in enumerate(steps):
            C.headroom(folder / kind / f"step_{step}", C.headroom_config(kind), 20 + seed)
        plan, made[kind] = folder / f"{kind}.plan.h5", folder / f"{kind}.h5"
        first = folder / kind / f"step_{steps[0]}"
        for words in (["corpus", first, "--data", folder / "ids.jsonl", "--field", "ids", "--length", "20", "--plan-only", "-o", plan],
                      ["series", folder / kind, "--plan", plan, "-o", made[kind], "--device", "cpu", "--epsilon", "0.05,0.1,0.3"]):
            outcome = warm_command(*map(str, words))
            assert outcome.code == 0, outcome
    return made


@pytest.fixture
def drawn(command, tmp_path):
    return drawing(command, "series", tmp_path)


def check_line(plot, marks, series, steps, y, low=None, high=None, layer=None, head=None):
    """A line of the picture and its numbers."""
    rows = marks[(marks["panel"] == plot.id.removeprefix("panel-")) & marks["series"].str.endswith(" " + series)]
    if head is not None:
        rows = rows[(rows["layer"] == layer) & (rows["head"] == head)]
    assert rows["x"].tolist() == steps and np.array_equal(rows["y"], y) and (rows["n"] == 10).all()
    if low is not None:
        assert np.array_equal(rows["low"], low) and np.array_equal(rows["high"], high)
    name = f"L{layer}.H{head}" if head is not None else ""

    def check_corners(drawn, expected):
        assert len(drawn) == len(expected)
        for (x, value), (step, number) in zip(drawn, expected):
            assert plot.x.off(x, step) < 1e-5 and plot.y.off(value, number) < 1e-5

    check_corners(plot.line(plot.named(series, name)), list(zip(steps, y)))
    if low is not None:  # the band is cut where the axis ends
        ends = [(step, min(max(value, plot.y.low), plot.y.high)) for values in (low, high) for step, value in zip(steps, values)]
        check_corners(sorted(plot.line(plot.named(f"{series} interval", name))), sorted(ends))


def test_lines_are_the_files(drawn, files):
    svg, marks, said = drawn(files["softmax"], "--head", "L1.H2,L0.H3", "--epsilon", "0.1")
    assert [plot.kind for plot in svg.plots] == ["series"] * 3 and "changes nothing" not in said
    with h5py.File(files["softmax"]) as file:
        score, rate, loss = file["sink_score"][..., 0], file["sink_rate"][:, :, 1, 0], file["next_token_loss"][:]
        heads, sinks, losses = svg.plots
        assert heads.x.scale == "symlog:10" and heads.x.low == 0 and heads.x.high == 2000
        for layer in range(2):
            for head in range(4):
                named = (layer, head) in ((1, 2), (0, 3))
                band = (score[:, LOW, layer, head], score[:, HIGH, layer, head]) if named else ()
                check_line(heads, marks, "head", STEPS, score[:, MEAN, layer, head], *band, layer=layer, head=head)
                bands = [s for s in heads.series if s.name == "head interval" and s.head == f"L{layer}.H{head}"]
                assert len(bands) == named
        mean = score[:, MEAN].reshape(4, -1).mean(axis=1)
        rows = marks[marks["series"].str.endswith("mean over heads")]
        assert np.allclose(rows["y"], mean, rtol=1e-12) and rows["x"].tolist() == STEPS
        check_line(sinks, marks, "first", STEPS, rate[:, MEAN], rate[:, LOW], rate[:, HIGH])
        check_line(losses, marks, "loss", STEPS, loss[:, MEAN], loss[:, LOW], loss[:, HIGH])
    texts = [text for text, _ in svg.texts]
    assert {"L1.H2", "L0.H3", "mean", "training step", "8 heads"} <= set(texts)


def test_other_quantities_and_fewer_heads(drawn, files):
    svg, marks, said = drawn(files["diff_v2"], "--quantity", "entropy_mean[second]", "--layers", "1", "--heads", "0,2")
    assert "is named, which changes most" in said
    with h5py.File(files["diff_v2"]) as file:
        values = file["entropy_mean"][:, MEAN, 1, :, 1][:, [0, 2]]
        most = int(np.argmax(values.max(axis=0) - values.min(axis=0)))
        for place, head in enumerate((0, 2)):
            check_line(svg.plots[0], marks, "head", STEPS[1:], values[:, place], layer=1, head=head)
        assert [s.head for s in svg.plots[0].series if s.name == "head interval"] == [f"L1.H{(0, 2)[most]}"]
        assert svg.plots[0].x.scale == "log"
        check_line(svg.plots[1], marks, "net", STEPS[1:], file["sink_rate"][:, MEAN, 2, 2])
    assert "second" in " ".join(text for text, _ in svg.texts)
    # What is drawn and what is counted are not the same heads.
    assert "Of the file’s 2 layers and 4 heads of each, 1 and 2 are drawn." in svg.description
    assert "Share of the 8 heads of the file whose sink score is above 0.3" in svg.description


def test_another_threshold_than_the_one_asked_for_is_said(drawn, files):
    svg, marks, said = drawn(files["softmax"], "--epsilon", "0.2")
    counted = float(re.search(r"counts sinks above ([\d.]+), not above 0.2", said)[1])
    with h5py.File(files["softmax"]) as file:
        rate = file["sink_rate"][:, :, file["epsilon"][:].tolist().index(counted), 0]
        assert len(np.unique(file["sink_rate"][:, MEAN, :, 0], axis=1)) > 1  # the thresholds count differently
        check_line(svg.plots[1], marks, "first", STEPS, rate[:, MEAN], rate[:, LOW], rate[:, HIGH])
    for epsilon in ("0.05", "0.1", "0.3"):
        assert "counts sinks" not in drawn(files["softmax"], "--epsilon", epsilon)[2]


def test_one_head_has_no_mean(drawn, files):
    svg, marks, _ = drawn(files["softmax"], "--layers", "0", "--heads", "1", "--width", "84mm")
    assert not marks["series"].str.contains("mean over").any() and [s.name for s in svg.plots[0].series] == ["head interval", "head"]


@pytest.mark.parametrize(("arguments", "code", "words"), [
    (["series", "--quantity", "sink_score,entropy_mean"], 2, ["one quantity", "has 2"]),
    (["series", "--quantity", "copying_score"], 2, ["no copying_score"]),
    (["series", "--quantity", "lambda_mean"], 4, ["lambda_mean", "no head"]),
    (["series", "--head", "L0.H0,L0.H1,L0.H2,L0.H3"], 2, ["at most three"]),
    (["series", "--layers", "5"], 2, ["layer 5"]),
    (["series", "--layers", "0", "--head", "L1.H2"], 2, ["L1.H2", "not among the layers and heads that are drawn"]),
    (["sinks"], 4, ["sinks is drawn of run files", "softmax.h5 is a file of headroom series"]),
], ids=lambda value: "-".join(value) if isinstance(value, list) else None)
def test_refusals(command, files, tmp_path, arguments, code, words):
    refused(command("figure", files["softmax"], *arguments, "-o", tmp_path / "out.pdf"), code, *words)
    assert not list(tmp_path.iterdir())


def test_list_says_which_kind_the_file_is_for(command, files):
    kinds = {one["kind"]: one["missing"] for one in json.loads(command("figure", files["softmax"], "--list", "--json").text)}
    assert kinds.pop("series") is None and all("softmax.h5 is a file of headroom series" in missing for missing in kinds.values())


@pytest.mark.parametrize("width", [60, 84, 120, 174])
def test_no_text_is_cut_at_any_width(command, files, tmp_path, width):
    for file in files.values():
        outcome = command("figure", file, "series", "--width", f"{width}mm", "--caption", "text", "-o", tmp_path / "out.pdf", "--force")
        assert outcome.code == 0 and "warning" not in outcome.errors and "95 % intervals" in outcome.text, outcome
