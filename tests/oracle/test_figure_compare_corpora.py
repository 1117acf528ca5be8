"""`headroom figure a.h5 compare --against b.h5` of two corpora: changes of every head by sequences with documents as clusters, which of them are
told from none, and what could not have been, against NumPy and SciPy; corpora of two checkpoints; what is refused."""
import json
import re

import h5py
import numpy as np
import pytest
import scipy.optimize
import scipy.stats

import checkpoints as C
from command import refused
from drawn_kind import drawing

NUMBER = r"([−+\d.e]*\d)"


@pytest.fixture(scope="module")
def files(warm_command, tmp_path_factory):
    """Corpora of nine sequences of five documents: as made, with a head changed, of another checkpoint, of other sequences, of one document."""
    folder = tmp_path_factory.mktemp("pairs")
    documents = [[(11 * d * i + 3 * i + d * i * i + 5 * d) % 53 for i in range(12 * pieces)] for d, pieces in enumerate((3, 1, 2, 1, 2), 1)]
    (folder / "ids.jsonl").write_text("".join(json.dumps({"ids": ids}) + "\n" for ids in documents))
    (folder / "one.jsonl").write_text(json.dumps({"ids": documents[0]}) + "\n")
    made = {}
    for name, kind, data, more in (("first", "softmax", "ids.jsonl", ()), ("changed", "softmax", "ids.jsonl", ("--what-if", "L1.H2:temperature=3")),
                                   ("other", "other", "ids.jsonl", ()), ("not_kept", "softmax", "ids.jsonl", ("--keep", "entropy_mean")),
                                   ("one", "softmax", "one.jsonl", ()), ("one_changed", "softmax", "one.jsonl", ("--what-if", "L1.H2:temperature=3"))):
        if not (folder / kind).exists():
            C.headroom(folder / kind, C.headroom_config("softmax", num_hidden_layers=4), 5 if kind == "softmax" else 6)
        made[name] = folder / f"{name}.h5"
        outcome = warm_command("corpus", folder / kind, "--data", folder / data, "--field", "ids", "--length", "12", "-o", made[name], "--device", "cpu",
                               *more)
        assert outcome.code == 0, outcome
    made["run"] = folder / "run.h5"
    assert warm_command("analyze", folder / "softmax", "--ids", "1,2,3,4", "-o", made["run"], "--device", "cpu").code == 0
    return made


@pytest.fixture
def drawn(command, tmp_path):
    return drawing(command, "compare", tmp_path)


def clustered(x, documents):
    """Mean, its standard error with documents as clusters and p of its being 0; NaN where nothing varies."""
    groups = [x[documents == d] for d in np.unique(documents)]
    mean, many = x.mean(), len(groups)
    between = sum((group.sum() - len(group) * mean) ** 2 for group in groups)
    error = np.sqrt(many / (many - 1) * between) / len(x)
    p = 2 * scipy.stats.t.sf(abs(mean / error), many - 1) if error > 0 else np.nan
    return mean, error, p


def detectable(many):
    """Of a standard error: the mean that Student's t finds at 0.05 in 80 of 100 cases."""
    point = scipy.stats.t.ppf(0.975, many - 1)

    def power(effect):
        return scipy.stats.nct.sf(point, many - 1, effect) + np.nan_to_num(scipy.stats.nct.cdf(-point, many - 1, effect))

    return scipy.optimize.brentq(lambda effect: power(effect) - 0.8, 0.1, 12)


def expected(first, second, dataset, component):
    with h5py.File(first) as a, h5py.File(second) as b:
        x, y = (file[f"sequences/{dataset}"][()].astype(float) for file in (a, b))
        loss = b["sequences/next_token_loss"][()] - a["sequences/next_token_loss"][()]
        documents = a["sequences/document"][()]
    x, y = (values[..., component] if values.ndim == 4 else values for values in (x, y))
    shape = x.shape[1:]
    x, y = x.reshape(len(x), -1), y.reshape(len(y), -1)
    rows = np.array([clustered(column, documents) for column in (y - x).T])
    p = rows[:, 2]
    q = np.full(len(p), np.nan)
    q[~np.isnan(p)] = scipy.stats.false_discovery_control(p[~np.isnan(p)])
    half = rows[:, 1] * scipy.stats.t.ppf(0.975, len(np.unique(documents)) - 1)
    return {"a": x.mean(0), "b": y.mean(0), "mean": rows[:, 0], "half": half, "q": q, "error": rows[:, 1], "documents": documents, "shape": shape,
            "all": clustered((y - x).mean(1), documents), "all_a": x.mean(), "all_b": y.mean(), "loss": clustered(loss, documents)}


def number(text):
    return float(text.replace("−", "-"))


@pytest.mark.parametrize(("quantity", "dataset", "component"), [
    ("sink_score[first]", "sink_score", 0), ("context_rms_relative_mean", "context_rms_relative_mean", None), ("entropy_mean[first]", "entropy_mean", 0)])
def test_changes_are_those_of_the_sequences(drawn, files, quantity, dataset, component):
    svg, marks, _ = drawn(files["first"], "--against", files["changed"], "--quantity", quantity)
    want = expected(files["first"], files["changed"], dataset, component)
    heads, many = len(want["a"]), len(np.unique(want["documents"]))
    a, b, c = (marks[marks["panel"] == panel] for panel in "abc")
    order = [(int(row.layer) * want["shape"][1] + int(row["head"])) for _, row in b.iterrows()]
    assert order == list(range(heads)) and len(a) == heads
    np.testing.assert_allclose(a["x"], want["a"], rtol=1e-12)
    np.testing.assert_allclose(a["y"], want["b"], rtol=1e-12)
    np.testing.assert_allclose(b["y"], want["mean"], rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(b["low"], want["mean"] - want["half"], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(b["high"], want["mean"] + want["half"], rtol=1e-6, atol=1e-12)
    assert (b["n"] == 9).all()
    np.testing.assert_allclose(c[c["series"] == "first"]["x"], np.sort(want["a"]), rtol=1e-12)
    np.testing.assert_allclose(c[c["series"] == "second"]["x"], np.sort(want["b"]), rtol=1e-12)
    # Layers before the change are the same to the last bit: nothing is tested there.
    assert np.isnan(want["q"]).sum() >= 4 and (want["mean"][:4] == 0).all()
    changes = want["q"] <= 0.05
    pairs, differences, _ = svg.plots
    black, grey = (differences.points(differences.named(name, "")) for name in ("differences apart", "differences"))
    assert len(black) == changes.sum() and len(grey) == heads - changes.sum()
    for (_, y), value in zip(black, want["mean"][changes], strict=True):
        assert differences.y.off(y, value) < 1e-4
    assert len(pairs.points(pairs.named("heads apart", ""))) == changes.sum()
    assert f"{changes.sum()} of {heads} heads change (q ≤ 0.05)" in "".join(text for text, _ in svg.texts)
    said = svg.description
    assert f"{changes.sum()} of {heads} heads change at q ≤ 0.05" in said and f"9 sequences of {many} documents" in said
    seen = re.search(rf"A change of {NUMBER} \(median over heads\)", said)[1]
    assert number(seen) == pytest.approx(np.median(want["error"][~np.isnan(want["q"])]) * detectable(many), rel=6e-3)
    for words, (mean, error, p) in (("Mean over heads in each sequence: ", want["all"]), ("Next-token loss, nats: ", want["loss"])):
        found = re.search(rf"{words}{NUMBER} → {NUMBER}, {NUMBER} \(95 % {NUMBER} … {NUMBER}, p = {NUMBER}\)", said)
        half = error * scipy.stats.t.ppf(0.975, many - 1)
        values = [number(text) for text in found.groups()]
        assert values[2:] == pytest.approx([mean, mean - half, mean + half, p], rel=6e-3)
        assert values[1] - values[0] == pytest.approx(mean, abs=2e-2 * abs(values[0]))
    with h5py.File(files["first"]) as file:
        assert f"sequences {file.attrs['ids_sha256'][:12]}" in said


def test_of_a_corpus_beside_itself_nothing_is_said_to_change(drawn, files):
    svg, marks, _ = drawn(files["first"], "--against", files["first"])
    assert "0 of 16 heads change at q ≤ 0.05" in svg.description and (marks[marks["panel"] == "b"]["y"] == 0).all()
    assert "A change of" not in svg.description


def test_heads_of_two_checkpoints_are_pairs_where_that_is_asked_for_alone(drawn, files):
    svg, marks, errors = drawn(files["first"], "--against", files["other"])
    assert len(svg.plots) == 1 and "no pairs" in errors
    for series, name in (("first", "first"), ("second", "other")):
        with h5py.File(files[name]) as file:
            means = np.sort(file["sink_score"][0, ..., 0].ravel())
        np.testing.assert_allclose(marks[marks["series"] == series]["x"], means, rtol=1e-12)
    want = expected(files["first"], files["other"], "sink_score", 0)
    # Sequences are the same, so means over heads are pairs.
    found = re.search(rf"Mean over heads in each sequence: {NUMBER} → {NUMBER}, {NUMBER} ", svg.description)
    assert number(found[3]) == pytest.approx(want["all"][0], rel=6e-3)
    svg, marks, _ = drawn(files["first"], "--against", files["other"], "--paired", "--layers", "1,3", "--heads", "0-2")
    assert len(svg.plots) == 3
    rows = marks[marks["panel"] == "b"]
    places = [4 * layer + head for layer in (1, 3) for head in (0, 1, 2)]
    np.testing.assert_allclose(rows["y"], want["mean"][places], rtol=1e-9)
    changes = (want["q"][places] <= 0.05).sum()  # among all heads, not those that are drawn
    assert f"{changes} of 6 heads change" in svg.description


def test_one_document_has_no_intervals(drawn, files):
    svg, marks, _ = drawn(files["one"], "--against", files["one_changed"])
    assert "one document has no interval" in svg.description and marks[marks["panel"] == "b"]["low"].isna().all()


@pytest.mark.parametrize(("first", "second", "code", "words"), [
    (["first"], ["one"], 2, ["other sequences", "ids_sha256"]),
    (["first"], ["not_kept"], 4, ["not_kept.h5 keeps no numbers of single sequences of sink_score", "--keep"]),
    (["first"], ["run"], 4, ["first.h5 is a file of headroom corpus", "run.h5 is a run file"]),
    (["run"], ["first"], 4, ["run.h5 is a run file", "first.h5 is a file of headroom corpus"]),
    (["first", "changed"], ["other"], 2, ["one file a side", "2 and 1"]),
    (["first"], [], 2, ["only one is named"]),
])
def test_refusals(command, files, tmp_path, first, second, code, words):
    against = [part for name in second for part in ("--against", files[name])]
    refused(command("figure", *[files[name] for name in first], "compare", *against, "-o", tmp_path / "out.pdf"), code, *words)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("width", [84, 120, 174, 183])
def test_no_text_is_cut_at_any_width(command, files, tmp_path, width):
    outcome = command("figure", files["first"], "compare", "--against", files["changed"], "--width", f"{width}mm", "-o", tmp_path / "out.pdf")
    assert outcome.code in (0, 2) and "cut" not in outcome.errors and "touch" not in outcome.errors, outcome
    if outcome.code:
        assert "too narrow" in outcome.errors
