"""What λ goes with as a figure: classes, ranks, intervals and p computed again with NumPy and SciPy from the run files."""
import io
import json
import unicodedata

import h5py
import numpy as np
import pandas
import pytest
from scipy import stats

import checkpoints as C
from command import refused
from svg_figure import Figure
from test_figures import DEMO

TEXTS = 6
BRIEF = {"special": "special", "word": "word", "rest of word": "rest", "number": "number", "punctuation": "punct.", "blank": "blank", "other": "other"}


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


@pytest.fixture(scope="module")
def texts(tmp_path_factory, command):
    """Runs of V2's model of bytes over six pieces of a text, with digits, marks and letters beyond ASCII."""
    folder = tmp_path_factory.mktemp("texts")
    words = ("And it came to pass, in the 27th year of Asa king of Judah, that Zimri reigned 7 days in Tirzah (and the people were encamped); "
             "naïve café – fi\n\tThe end. ") * 4
    files = []
    for i in range(TEXTS):
        path = folder / f"text{i}.h5"
        outcome = command("analyze", DEMO / "bytes" / "diff_v2", "--text", words[37 * i:37 * i + 60], "-o", path, "--max-tokens", "64", "--device", "cpu")
        assert outcome.code == 0, outcome
        files.append(path)
    return files


def letter(c):
    return c.isalpha() or unicodedata.category(c)[0] == "M" or unicodedata.category(c) == "Pc" or c in "\u200c\u200d"


def mark(c):
    return unicodedata.category(c)[0] == "P" or (ord(c) < 128 and unicodedata.category(c)[0] == "S")


def class_of(token, before, special):
    if special:
        return "special"
    bare = token.lstrip()
    if not token or "\ufffd" in bare:
        return "other"
    if not bare:
        return "blank"
    if all(unicodedata.category(c)[0] == "N" for c in bare):
        return "number"
    if all(map(mark, bare)):
        return "punctuation"
    if not all(map(letter, bare)):
        return "other"
    return "rest of word" if bare == token and before and (letter(before[-1]) or before[-1].isnumeric()) else "word"


def read(path):
    with h5py.File(path) as file:
        tokens = [t.decode() for t in file["tokens/token_text"][()]]
        special = file["tokens/is_special"][()].astype(bool)
        lam = file["rows/lambda"][()].astype(float)
        loss = file["predictions/token_loss"][()].astype(float)
    classes = [class_of(t, tokens[i - 1] if i and not special[i - 1] else "", special[i]) for i, t in enumerate(tokens)]
    return classes, lam.reshape(-1, lam.shape[-1]), loss


def expected(files):
    """{series: [heads, texts]}."""
    found = {}
    for at, path in enumerate(files):
        classes, lam, loss = read(path)
        n = lam.shape[1]
        for name in set(classes):
            of = np.array([c == name for c in classes])
            found.setdefault(BRIEF[name], np.full((len(lam), len(files)), np.nan))[:, at] = lam[:, of].mean(axis=1) - lam.mean(axis=1)
        for name, a, b in (("position, of token", lam, np.arange(n)), ("surprisal, its own", lam[:, 1:], loss[1:]), ("surprisal, of the next", lam[:, :-1], loss[1:])):
            found.setdefault(name, np.full((len(lam), len(files)), np.nan))[:, at] = [stats.spearmanr(row, b).statistic for row in a]
    return found


def table(command, files, *more):
    outcome = command("figure", *files, "lambda-text", "-o", files[0].with_suffix(".svg"), "--force", "--data", "-", *more)
    assert outcome.code == 0 and "warning" not in outcome.errors, outcome
    return pandas.read_csv(io.StringIO(outcome.text), comment="#"), Figure(files[0].with_suffix(".svg"))


def test_every_number_is_that_of_scipy(command, texts):
    data, figure = table(command, texts, "--head", "L1.H2")
    wanted = expected(texts)
    series = [name for name in data[data["mark"] == "point"]["series"].unique()]
    assert sorted(series) == sorted(wanted) and len(series) >= 8, series
    all_p = {"classes": [], "ranks": []}
    for name in series:
        rows = data[(data["series"] == name) & (data["mark"] == "point")]
        values = wanted[name]
        there = ~np.isnan(values).all(axis=1)
        assert (rows["layer"] * 4 + rows["head"]).tolist() == np.flatnonzero(there).tolist()
        assert rows["y"].to_numpy() == pytest.approx(np.nanmean(values, axis=1)[there], abs=1e-9)
        counts = (~np.isnan(values)).sum(axis=1)[there]
        assert (rows["n"] == counts).all()
        for (_, row), of in zip(rows.iterrows(), values[there]):
            of = of[~np.isnan(of)]
            if len(of) < 2:
                assert np.isnan(row["low"]) and np.isnan(row["high"])
                continue
            test = stats.ttest_1samp(of, 0.0)
            low, high = test.confidence_interval(0.95)
            assert (row["low"], row["high"]) == pytest.approx((low, high), abs=1e-9)
            all_p["ranks" if "," in name else "classes"].append((name, row["y"], test.pvalue))
        median = data[data["series"] == name + ", median"]
        assert float(median["y"].iloc[0]) == pytest.approx(np.median(rows["y"]), abs=1e-9)
    classes, ranks = (figure.plot("lambda-text", i) for i in range(2))
    for panel, plot in (("classes", classes), ("ranks", ranks)):
        adjusted = stats.false_discovery_control([p for _, _, p in all_p[panel]])
        apart = [(name, y) for (name, y, _), q in zip(all_p[panel], adjusted) if q <= 0.05]
        assert 0 < len(apart) < len(adjusted), "no power in this test: all tests come out the same"
        assert f"among the {len(adjusted)} tests" in figure.description
        # Marks by colour: of those that are apart and those that are not, without the head, which is green.
        head = len([1 for name, y in apart if y == pytest.approx(float(data[(data["series"] == name) & (data["layer"] == 1) & (data["head"] == 2)]["y"].iloc[0]), abs=1e-12)])
        assert len(plot.named("heads").marks) == len(apart) - head
        shown = data[(data["mark"] == "point") & (data["series"].str.contains(",") == (panel == "ranks"))]
        assert len(plot.named("heads").marks) + len(plot.named("heads not apart from 0").marks) + len(plot.named("head").marks) == len(shown)
        ups = [sum(1 for n, y in apart if n == name and y > 0) for name in dict.fromkeys(n for n, _, _ in all_p[panel])]
        said = [text for text, _ in figure.texts if text.endswith(" ↑")]
        assert all(f"{up} ↑" in said for up in ups)
        ys = sorted(y for s in plot.series if s.name in ("heads", "heads not apart from 0", "head") for _, y in plot.points(s))
        assert max(plot.y.off(a, b) for a, b in zip(ys, sorted(shown["y"]))) < 1e-6


def test_courses_are_means_of_the_rows(command, texts):
    data, figure = table(command, texts, "--head", "L1.H2")
    at, lam, loss = [], [], []
    for path in texts:
        _, values, losses = read(path)
        lam.append(values - values.mean(axis=1, keepdims=True))
        at.append(np.arange(1, values.shape[1] + 1))
        loss.append(losses)
    at, lam, loss = np.concatenate(at), np.concatenate(lam, axis=1), np.concatenate(loss)
    for _, row in data[data["series"] == "position, head"].iterrows():
        near = (at >= row["x"] / 1.33) & (at <= row["x"] * 1.33)
        assert row["n"] == near.sum() and row["y"] == pytest.approx(lam[6, near].mean(), abs=1e-9)
    for _, row in data[data["series"] == "position, heads"].iterrows():
        near = (at >= row["x"] / 1.33) & (at <= row["x"] * 1.33)
        low, middle, high = np.quantile(lam[:, near].mean(axis=1), [0.25, 0.5, 0.75])
        assert (row["low"], row["y"], row["high"]) == pytest.approx((low, middle, high), abs=1e-9)
    order = np.argsort(np.where(np.isnan(loss), np.inf, loss), kind="stable")[:np.isfinite(loss).sum()]
    bins = [order[b * len(order) // 10:(b + 1) * len(order) // 10] for b in range(10)]
    rows = data[data["series"] == "surprisal, head"]
    assert rows["y"].tolist() == pytest.approx([lam[6, b].mean() for b in bins], abs=1e-9)
    assert rows["x"].tolist() == pytest.approx([np.median(loss[b]) for b in bins], abs=1e-9)
    assert rows["n"].sum() == len(order)
    for i, name in ((2, "position"), (3, "surprisal")):
        plot = figure.plot("lambda-text", i)
        drawn, told = plot.line(plot.named("head")), data[data["series"] == name + ", head"]
        assert len(drawn) == len(told)
        for (x, y), x0, y0 in zip(drawn, told["x"], told["y"]):
            assert plot.x.off(x, x0) < 1e-6 and plot.y.off(y, y0) < 1e-6


def test_one_text_has_no_intervals(command, texts):
    data, figure = table(command, texts[:1])
    points = data[data["mark"] == "point"]
    assert points["low"].isna().all() and (points["n"] == 1).all()
    assert "One text: no intervals" in figure.description and "q ≤" not in figure.description
    assert not [text for text, _ in figure.texts if text.endswith(("↑", "↓"))]


def test_what_has_no_lambda_of_its_own_for_each_token_is_refused(command, texts, tmp_path):
    def run(variant, *more):
        path = tmp_path / f"{variant}{len(list(tmp_path.iterdir()))}.h5"
        assert command("analyze", DEMO / "bytes" / variant, "--text", "And it came to pass", "-o", path, "--device", "cpu", *more).code == 0
        return path

    for variant, words in (("softmax", "has λ (none has a second map)"), ("diff_v1", "is one number a layer (DIFF V1)")):
        refused(command("figure", run(variant), "lambda-text", "-o", tmp_path / "x.pdf"), 4, words)
    refused(command("figure", run("diff_v2", "--only", "summary"), "lambda-text", "-o", tmp_path / "x.pdf"), 4, "needs /rows/lambda", "--only summary")
    refused(command("figure", texts[0], texts[0], "lambda-text", "-o", tmp_path / "x.pdf"), 4, "is given twice")
    refused(command("figure", texts[0], run("diff_v2", "--what-if", "lambda=0.5"), "lambda-text", "-o", tmp_path / "x.pdf"), 4, "what-ifs of", "lambda=0.5", "(none)")


def test_a_run_without_texts_of_its_tokens_has_no_classes(command, tmp_path):
    model = tmp_path / "model"
    C.headroom(model, C.headroom_config("diff_v2"), 3)
    path = tmp_path / "run.h5"
    assert command("analyze", model, "--ids", ",".join(str(i * 7 % 29) for i in range(40)), "-o", path, "--device", "cpu").code == 0
    outcome = command("figure", path, "lambda-text", "-o", tmp_path / "x.svg", "--json")
    assert outcome.code == 0, outcome
    said = json.loads(outcome.text)
    assert any("no classes" in note for note in said["notes"]) and [p["name"] for p in said["panels"]][0] == "ranks", said
