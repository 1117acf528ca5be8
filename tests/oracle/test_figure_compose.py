"""Composed figures: columns, cells of words, what a figure file may say; figures drawn again."""
import json
import re
import shutil

import pytest

from command import refused
from svg_figure import SVG, Figure
from test_figures import runs  # noqa: F401 – a fixture

SCATTER = {"kind": "scatter", "quantity": "sink_score,context_rms_relative_mean"}
RUN = {"run": "run.h5", "width": "174mm", "head": "L1.H2"}


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


@pytest.fixture
def compose(command, runs, tmp_path):
    """compose(text or object, *arguments) → outcome, path: draws a figure file beside a copy of the softmax run."""
    shutil.copy(runs["softmax"], tmp_path / "run.h5")

    def call(content, *arguments):
        (tmp_path / "figure.json").write_text(content if isinstance(content, str) else json.dumps(content))
        path = tmp_path / "composed.svg"
        return command("figure", tmp_path / "figure.json", *arguments, "-o", path, "--force"), path

    return call


def drawn(outcome, path):
    assert outcome.code == 0 and "warning" not in outcome.errors, outcome
    return Figure(path)


def words_of(figure):
    """[(words, x, y)] in points."""
    found = []
    for text in figure.root.iter(SVG + "path"):
        if text.get("aria-label"):
            x, y = re.match(r"translate\((\S+) (\S+)\)", text.get("transform")).groups()
            found.append((text.get("aria-label"), float(x), float(y)))
    return found


# --- columns


def test_a_cell_spans_columns_that_stand_below_each_other(compose):
    rows = [{"height": "40mm", "panels": [{"kind": "atlas", "columns": 2}, SCATTER | {"width": 3}]},
            {"height": "36mm", "panels": [{"kind": "rms", "width": 4}, {"kind": "sinks", "panel": "a", "width": 5}, {"text": "said of them"}]}]
    figure = drawn(*compose(RUN | {"gap": "6mm", "rows": rows}))
    letters = {words: x for words, x, _ in words_of(figure) if words in "abcd"}
    assert set(letters) == set("abcd")
    assert letters["a"] == pytest.approx(letters["c"], abs=0.02)
    assert letters["b"] == pytest.approx([x for words, x, _ in words_of(figure) if words == "said of them"][0], abs=0.02)
    a, b, c, d = (plot.x for plot in figure.plots)
    gap = 6 / 25.4 * 72
    # The second column begins inside of what spans it, which ends where that column does.
    assert letters["c"] + gap < letters["d"] < a.end and a.end - a.start > 1.5 * (c.end - c.start)
    assert a.end < letters["b"] - gap + 0.1 and d.end < letters["b"] - gap + 0.1
    # As wide as they were asked to be, but for what numbers take beside other plots of their column.
    assert (d.end - d.start) / (b.end - b.start) == pytest.approx(5 / 3, rel=0.15)


@pytest.mark.parametrize(("rows", "words"), [
    ([[{"kind": "rms", "columns": 2}, {"kind": "rms"}], [{"kind": "rms"}, {"kind": "rms"}]], ["3 columns, as in the first row", "found 2"]),
    ([[{"kind": "rms", "columns": 0}]], ["columns", "from 1 to"]),
    ([[{"kind": "rms", "columns": 1.5}]], ["columns", "1.5"]),
    ([[{"kind": "rms", "columns": 2, "width": 3}]], ["width", "spans columns"]),
    ([[{"kind": "rms", "width": 2}, {"kind": "rms"}], [{"kind": "rms", "width": 3}, {"kind": "rms", "columns": 1}]],
     ["width", "expected 2, as its column is above, found 3"]),
])
def test_columns_that_cannot_be(compose, rows, words):
    outcome, path = compose(RUN | {"rows": [{"panels": panels} for panels in rows]})
    refused(outcome, 2, *words)
    assert not path.exists()


def test_columns_of_a_page_that_is_too_narrow(compose):
    outcome, _ = compose(RUN | {"rows": [{"panels": [{"kind": "rms", "columns": 2}, {"kind": "rms"}]}, {"panels": [{"kind": "rms"}] * 3}]}, "--width",
                         "60mm")
    refused(outcome, 2, "60 mm is too narrow; at least")
    least = outcome.errors.split("at least ")[1].split(" ")[0]
    rows = [{"panels": [{"kind": "rms", "columns": 2}, {"kind": "rms"}]}, {"panels": [{"kind": "rms"}] * 3}]
    drawn(*compose(RUN | {"rows": rows}, "--width", f"{least}mm"))


# --- cells of words


def test_words_wrap_in_their_cell_and_have_no_letter(compose):
    words = "Heads with a sink have a *context RMS ρ* far below 1/√{*n*_{*i*}} and small values.\nThe second paragraph."
    rows = [{"height": "40mm", "panels": [{"text": words, "width": 1}, {"kind": "rms", "width": 2}]}, {"panels": [{"kind": "rms"}, {"empty": True}]}]
    outcome, path = compose(RUN | {"rows": rows}, "--caption", "text")
    figure = drawn(outcome, path)
    assert [words for words, _, _ in words_of(figure) if words in "abcd"] == ["a", "b"]
    edge = min(x for words, x, _ in words_of(figure) if words == "a")
    mine = [(words, x, y) for words, x, y in words_of(figure) if x < edge and y < 40 * 72 / 25.4]
    lines = []
    for y in sorted(y for _, _, y in mine):
        if not lines or y > lines[-1] + 4:  # indices stand a little lower
            lines.append(y)
    assert len(lines) == 3 and mine[0][0].startswith("Heads with a ")
    # No line of it is empty, and the caption has paragraphs of panels alone.
    assert [line[:3] for line in outcome.text.strip("\n").split("\n")] == ["a, ", "b, "]
    assert all(later - earlier == pytest.approx(1.35 * 7, abs=0.2) for earlier, later in zip(lines, lines[1:]))
    # A lone panel beside words has no letter either.
    figure = drawn(*compose(RUN | {"rows": [{"panels": [{"kind": "rms"}, {"text": "alone"}]}]}))
    assert not [words for words, _, _ in words_of(figure) if words in "ab"]


def test_words_that_a_cell_cannot_hold(compose):
    def rows(text, height="20mm"):
        return RUN | {"rows": [{"height": height, "panels": [{"kind": "rms", "width": 6}, {"text": text, "width": 1}]}]}

    outcome, _ = compose(rows("word " * 40))
    refused(outcome, 2, "the text of row 1 does not fit", "20 mm is too low", "at least")
    drawn(*compose(rows("word " * 40, outcome.errors.split("at least ")[1].strip().replace(" ", ""))))
    refused(compose(rows("incomprehensibilitieswithoutanyblank" * 3))[0], 2, "too narrow")


def test_tokens_are_as_high_as_their_row(compose):
    outcome, path = compose(RUN | {"rows": [{"height": "20mm", "panels": [{"kind": "tokens"}]}, {"height": "30mm", "panels": [{"kind": "rms"}]}]},
                            "--width", "100mm")
    refused(outcome, 2, "the text of panel a does not fit", "20 mm is too low for its row", "at least")
    assert not path.exists()
    least = outcome.errors.split("at least ")[1].strip().replace(" ", "")
    drawn(*compose(RUN | {"rows": [{"height": least, "panels": [{"kind": "tokens"}]}, {"height": "30mm", "panels": [{"kind": "rms"}]}]}, "--width",
                   "100mm"))


# --- what a figure file may say

PANEL = '"rows": [\n  {"panels": [{"kind": "rms"}]}]}'


@pytest.mark.parametrize(("text", "code", "words"), [
    ('{"run": "run.h5", "rows": [\n  {"panels": [{"kind": "rms", "kind": "atlas"}]}]}', 2, ['"kind" twice', "line 2, column 31"]),
    ('{"run": "run.h5",\n "run": "b.h5", ' + PANEL, 2, ['"run" twice', "line 2, column 2"]),
    ('{"run": "run.h5", "title": 3, ' + PANEL, 2, ["title", "line 1, column 19", "a text", "found 3"]),
    ('{"run": "run.h5", "letters": "i", ' + PANEL, 2, ["letters", "a, A, (a) or none"]),
    ('{"run": "run.h5", "names": 1, ' + PANEL, 2, ["names", "true or false"]),
    ('{"run": ["run.h5", 3], ' + PANEL, 2, ["run", "a list of paths"]),
    ('{"run": "run.h5", "rows": [{"panels": [\n{"kind": "rms", "top": 2.5}]}]}', 2, ["top", "line 2, column 17", "a whole number"]),
    ('{"run": "run.h5", "rows": [{"head": "L0.H0", "panels": [{"kind": "rms"}]}]}', 2, ["a row has a member \"head\"", "line 1, column 29"]),
    ('{"run": "run.h5", "rows": [{"panels": [{"kind": "rms", "text": "both"}]}]}', 2, ["a cell without a panel", "kind"]),
    ('{"run": "run.h5", "rows": [{"panels": [{"kind": "rms", "width": 1e300}]}]}', 2, ["width", "a share above 0"]),
    ('{"run": "run.h5",\n "epsilon": 1e999, ' + PANEL, 3, ["no JSON", "line 2, column"]),
    ('{"run": "run.h5", "epsilon": 1.5, ' + PANEL, 2, ["--epsilon", "0 to 1"]),
    ('{"run": "run.h5", "top": 0, ' + PANEL, 2, ["--top", "1 to 100"]),
    ('{"run": "run.h5", "scale": "lgo", ' + PANEL, 2, ["--scale", "linear, log or symlog"]),
    ('{"run": "run.h5", "scale": "log", "range": "-1,1", ' + PANEL, 2, ["--range", "ends above 0"]),
    ('{"run": "run.h5", "range": "0,1", "scale": "log", "rows": [{"panels": [{"kind": "map"}]}]}', 2, ["--range", "ends above 0"]),
])
def test_what_a_figure_file_may_not_say(compose, text, code, words):
    outcome, path = compose(text)
    refused(outcome, code, *words)
    assert not path.exists()


def test_options_beside_a_figure_file_are_named(compose):
    outcome, _ = compose(RUN | {"rows": [{"panels": [{"kind": "rms"}]}]}, "--epsilon", "0.1", "--title", "Above")
    assert outcome.code == 0 and "--epsilon changes nothing of figure.json" in outcome.errors and "--title" not in outcome.errors, outcome


# --- drawn again


@pytest.fixture
def moved(command, runs, tmp_path):
    """A figure whose run is elsewhere, under another name."""
    path, elsewhere = tmp_path / "away" / "figure.svg", tmp_path / "runs" / "renamed.hdf5"
    path.parent.mkdir(), elsewhere.parent.mkdir()
    assert command("figure", runs["softmax"], "rms", "--head", "L1.H2", "-o", path).code == 0
    shutil.copy(runs["softmax"], elsewhere)
    return path, elsewhere


def test_named_runs_are_searched_first(command, runs, moved, tmp_path):
    figure, run = moved
    again = tmp_path / "again.svg"
    refused(command("figure", "--from", figure, "-o", again, cwd=figure.parent), 5, "softmax.h5", "SHA-256")
    assert command("figure", run, "--from", figure, "-o", again, cwd=figure.parent).code == 0
    # But for the file's name in the title.
    assert again.read_bytes().replace(b"renamed.hdf5", b"softmax.h5") == figure.read_bytes()
    refused(command("figure", runs["gated"], "--from", figure, "-o", tmp_path / "b.svg", cwd=figure.parent), 5, "among the files that are named")
    refused(command("figure", run, runs["gated"], "--from", figure, "-o", tmp_path / "b.svg"), 2, "gated.h5: not of the files")
    refused(command("figure", run, tmp_path / "gone.h5", "--from", figure, "-o", tmp_path / "b.svg"), 5, "gone.h5 is not there")
    # By its content a run is found whatever it is called.
    assert command("figure", "--from", figure, "-o", tmp_path / "c.svg", cwd=run.parent).code == 0
    assert not (tmp_path / "b.svg").exists()


@pytest.mark.parametrize("more", [["--head", "L0.H0"], ["--epsilon", "0.3"], ["--range=0,1"], ["--list"], ["--font", "Inter"], ["--svg-text=fonts"],
                                  ["atlas"]], ids=" ".join)
def test_other_options_beside_from_are_refused(command, moved, tmp_path, more):
    figure, run = moved
    outcome = command("figure", run, *more, "--from", figure, f"--output={tmp_path / 'again.svg'}", "--data", tmp_path / "again.csv", "--caption", "text")
    refused(outcome, 2, more[0].split("=")[0] + " beside --from")
    assert not (tmp_path / "again.svg").exists() and not (tmp_path / "again.csv").exists()


def test_a_figure_file_is_found_in_the_current_folder_too(command, compose, tmp_path):
    outcome, path = compose(RUN | {"rows": [{"panels": [{"kind": "rms"}]}]})
    assert outcome.code == 0, outcome
    away = tmp_path / "away"
    away.mkdir()
    shutil.copy(path, away / "figure.svg")
    assert command("figure", "--from", away / "figure.svg", "-o", tmp_path / "again.svg", cwd=tmp_path).code == 0
    assert (tmp_path / "again.svg").read_bytes() == path.read_bytes()
    refused(command("figure", "--from", away / "figure.svg", "-o", tmp_path / "b.svg", cwd=away), 5, "figure.json", "nor in the current folder")
    assert command("figure", tmp_path / "figure.json", "--from", away / "figure.svg", "-o", tmp_path / "b.svg", cwd=away).code == 0
    refused(command("figure", tmp_path / "run.h5", "--from", away / "figure.svg", "-o", tmp_path / "c.svg", cwd=tmp_path), 2,
            "run.h5 beside --from", "figure.json")
