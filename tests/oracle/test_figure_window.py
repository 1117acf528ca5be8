"""Figures from the window: the command that it shows writes the same bytes, what lies beside them belongs to them."""
import hashlib
import shlex
import subprocess

import pytest

import window as W
from svg_figure import Figure


@pytest.fixture(scope="module")
def window(program, display, tmp_path_factory):
    return W.Window(program, display, tmp_path_factory.mktemp("window"))


def said(outcome):
    """The command that was copied, as a shell takes it apart."""
    words = shlex.split(outcome.facts["clipboard"])
    assert words[0] == "headroom", words
    return words[1:]


def drawn_again(command, words, folder, path):
    """The words run in the figure's folder, into another file."""
    at = words.index("-o")
    outcome = subprocess.run([command.program, *words[:at], "-o", path], cwd=folder, capture_output=True, text=True)
    assert outcome.returncode == 0, outcome
    return path.read_bytes()


@pytest.mark.parametrize(("kind", "lines", "ending"), [
    ("rms", ["select L1.H2"], "pdf"),
    ("map", ["select L0.H1", "zoom 8 64 0 40", "map.range 0.001 1"], "svg"),
    ("atlas", ["heads.quantity logit_max", "figure.set width 120mm"], "png"),
    ("scatter", ["heads.threshold 0.2"], "svg"),
    ("lambda", ["figure.set letters none"], "pdf"),
    ("tokens", ["select L1.H0", "figure.set theme slides"], "svg"),
])
def test_the_command_that_is_shown_writes_the_same_bytes(window, command, tmp_path, kind, lines, ending):
    """Of a run that has no file: it comes to lie beside the figure."""
    out = tmp_path / f"figure.{ending}"
    # figure.set is of the kind that is chosen.
    script = "\n".join(["demo bytes/diff_v2", "wait", *(line for line in lines if not line.startswith("figure")), f"figure {kind}", "wait",
                        *(line for line in lines if line.startswith("figure")), f"figure.format {ending}", "wait", "expect figure.drawn == 1",
                        "figure.copy command", f'figure.save "{out}"', "wait", "expect errors == 0", "expect warnings == 0", "quit", ""])
    words = said(window.run(script))
    runs = [word for word in words if word.endswith(".h5")]
    assert words[0] == "figure" and kind in words and len(runs) == 1, words
    assert (tmp_path / runs[0]).exists(), list(tmp_path.iterdir())
    assert drawn_again(command, words, tmp_path, tmp_path / f"again.{ending}") == out.read_bytes()
    if ending == "svg":
        assert Figure(out).keys["run_sha256"] == hashlib.sha256((tmp_path / runs[0]).read_bytes()).hexdigest()


def test_an_ablation_file_that_is_open_is_drawn_as_importance(window, command, tmp_path):
    """Other kinds say that they are of runs, and nothing is written beside the figure."""
    sweep = tmp_path / "sweep.h5"
    assert command("ablate", W.ROOT / "assets/demo/bytes/diff_v2", "--text", 9 * "What each head is worth. ", "-o", sweep, "--device", "cpu").code == 0
    out = tmp_path / "figures" / "importance.svg"
    out.parent.mkdir()
    script = "\n".join([f'open "{sweep}"', "wait", "importance", "wait", "select L1.H2", "figure.screen map", "wait",
                        "expect figure.kind == importance", "expect figure.drawn == 1",
                        "figure.format svg", "figure.copy command", f'figure.save "{out}"', "wait", "expect errors == 0", "quit", ""])
    words = said(window.run(script))
    assert words[:-2] == ["figure", "sweep.h5", "importance", "--head", "L1.H2"], words
    assert [path.name for path in out.parent.iterdir()] == ["importance.svg"]
    assert drawn_again(command, words, tmp_path, tmp_path / "again.svg") == out.read_bytes()


@pytest.mark.parametrize("maps", [["--exact-maps"], ["--maps", "4"]], ids=["exact", "pooled"])
def test_a_run_file_is_named_and_nothing_is_written_beside_it(window, command, tmp_path, maps):
    run = tmp_path / "the run.h5"
    assert command("analyze", W.ROOT / "assets/demo/bytes/softmax", "--ids", "1,2,3,4,5,6,7,8,9,10", "-o", run, "--device", "cpu",
                   *maps).code == 0
    out = tmp_path / "figures" / "map.svg"
    out.parent.mkdir()
    script = "\n".join([f'open "{run}"', "wait", "select L1.H1", "pin 7 3", "figure map", "wait", "figure.beside data on",
                        "figure.beside caption on", "figure.format svg", "wait", "figure.copy command", f'figure.save "{out}"', "wait",
                        "expect errors == 0", "quit", ""])
    words = said(window.run(script))
    # The pinned cell is no lens: the window has no single weights of a file.
    assert words[:-2] == ["figure", "the run.h5", "map", "--head", "L1.H1"], words
    assert sorted(path.name for path in out.parent.iterdir()) == ["map.csv", "map.svg", "map.txt"]
    assert drawn_again(command, words, tmp_path, tmp_path / "again.svg") == out.read_bytes()
    figure = Figure(out)
    assert (out.parent / "map.txt").read_text().strip() == figure.description.strip()
    data = subprocess.run([command.program, *words[:words.index("-o")], "--data", "-"], cwd=tmp_path, capture_output=True, text=True)
    assert data.returncode == 0 and data.stdout == (out.parent / "map.csv").read_text()
