"""Figures of every size of model, of larger text, of other letters and of slides: drawn at the size that they choose, without a text that is cut, outside
or on another; and what a row's bounds are drawn as."""
import re

import h5py
import numpy as np
import pytest

import window as W
from large_runs import enlarge
from svg_figure import Figure, SVG

BYTES = W.ROOT / "assets" / "demo" / "bytes"
OF_RUNS = ["atlas", "rms", "rms-layers", "sinks", "logits", "scatter", "lambda", "decomposition", "tokens"]


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


@pytest.fixture(scope="module")
def made(command, tmp_path_factory):
    """Runs by name: V2 of 200 tokens, with λ of the row and with one λ, V1 and softmax; softmax and V2 of two tokens."""
    folder, files = tmp_path_factory.mktemp("layouts"), {}
    text = "In the beginning God created the heaven and the earth. " * 4
    for name, kind, words, more in [("v2", "diff_v2", text, ["--maps", "16", "--components"]), ("one_lambda", "diff_v2", text, ["--what-if", "lambda=0.5"]), ("v1", "diff_v1", text, ["--maps", "16", "--components"]),
                                    ("softmax", "softmax", text, ["--maps", "16"]), ("two", "softmax", "a", []), ("two_v2", "diff_v2", "a", [])]:
        files[name] = folder / f"{name}.h5"
        outcome = command("analyze", BYTES / kind, "--text", words[:199], "--device", "cpu", *more, "-o", files[name])
        assert outcome.code == 0, outcome
    return files


def drawn(command, tmp_path, *arguments):
    outcome = command("figure", *arguments, "-o", tmp_path / "out.svg", "--force")
    assert outcome.code == 0, (arguments, outcome)
    assert "warning" not in outcome.errors, (arguments, outcome.errors)
    return tmp_path / "out.svg"


@pytest.mark.parametrize("layers", [1, 2, 30, 128])
@pytest.mark.parametrize("heads", [1, 9, 128])
def test_every_size_of_model_has_an_atlas(command, made, tmp_path, layers, heads):
    for name in ("two", "two_v2"):
        run = enlarge(made[name], tmp_path / "large.h5", layers, heads)
        with h5py.File(run) as file:
            scores = file["sink_score"][..., 0].ravel()
        picture = Figure(drawn(command, tmp_path, run, "atlas"))
        cells = [one for plot in picture.plots for one in plot.series if one.name == "cells"]
        assert sum(len(one.marks) for one in cells) == scores.size == layers * heads


@pytest.mark.parametrize(("kind", "name", "layers"), [("sinks", "two_v2", 70), ("logits", "two", 101)])
def test_points_of_many_heads_are_an_image_in_the_file(command, made, tmp_path, kind, name, layers):
    """Above 20,000 of them; of fewer on request, and vectors on request."""
    def images(run, *points):
        return len(Figure(drawn(command, tmp_path, run, kind, *points)).plots[0].element.findall(".//" + SVG + "image"))

    assert images(enlarge(made[name], tmp_path / "large.h5", layers, 100)) > 0
    assert images(made[name]) == images(made[name], "--points", "vector") == 0 < images(made[name], "--points", "image")


@pytest.mark.parametrize("more", [["--letters", "(a)"], ["--letters", "A"], ["--theme", "slides"]], ids=" ".join)
@pytest.mark.parametrize("run", ["v2", "v1", "softmax"])
def test_letters_and_slides_cut_nothing(command, made, tmp_path, run, more):
    for kind in OF_RUNS:
        if not (kind == "lambda" and run == "softmax"):
            drawn(command, tmp_path, made[run], kind, *more)
    drawn(command, tmp_path, made[run], "map", "--head", "L1.H0", *more)


@pytest.mark.parametrize("width", ["90mm", "110mm", "120mm", "132mm", "140mm", "174mm"])
def test_an_equation_of_maps_has_no_width_that_it_refuses(command, made, tmp_path, width):
    drawn(command, tmp_path, made["v2"], "map", "--head", "L1.H0", "--width", width)


@pytest.mark.parametrize("size", ["8", "9", "10", "12"])
def test_larger_text_takes_more_room(command, made, tmp_path, size):
    for kind in ("atlas", "rms", "rms-layers"):
        drawn(command, tmp_path, made["v2"], kind, "--text-size", size, "--width", "130mm")


def test_both_ends_of_a_colour_bar_are_printed_whole(command, made, tmp_path):
    for kind in ("atlas", "grid"):
        run = made["softmax"]
        picture = drawn(command, tmp_path, run, kind, "--range", "0.2,0.5", "--scale", "linear", *(["--quantity", "context_rms_relative_mean"] * (kind == "atlas")))
        labels = re.findall('aria-label="([^"]*)"', picture.read_text())
        assert any("≥" in label for label in labels), labels
    drawn(command, tmp_path, made["softmax"], "map", "--head", "L1.H0", "--width", "50mm")


def test_the_ends_of_each_row_s_interval_are_drawn_and_named(command, made, tmp_path):
    """All of them: the axis holds every end that is above 0."""
    with h5py.File(made["v2"]) as file:
        sums = np.abs(file["rows/weight_sum"][1, 0].astype(float)).ravel()
        rho = file["rows/context_rms_relative"][1, 0].astype(float)
        weights = file["rows/lambda"][1, 0].astype(float)
        seen = file["tokens/visible_keys"][()].astype(float).reshape(-1, rho.size)[0]
    picture = drawn(command, tmp_path, made["v2"], "rms", "--head", "L1.H0")
    (plot,) = Figure(picture).plots
    (strokes,) = [one for one in plot.series if one.name == "own interval"]
    low, high = sums / np.sqrt(seen), np.sqrt(1 + weights**2)
    there = np.isfinite(rho) & (rho > 0)
    expected = np.sort(np.concatenate([low[there & (low > 0)], high[there]]))
    assert len(strokes.marks) == expected.size == 2 * there.sum()
    assert plot.y.low < expected.min() and plot.y.high > expected.max()
    labels = "".join(re.findall('aria-label="([^"]*)"', picture.read_text()))
    for name in ("own", "interval", "(1−", "1+"):
        assert name in labels, labels
    one = Figure(drawn(command, tmp_path, made["one_lambda"], "rms", "--head", "L1.H0"))
    assert any(series.name == "own interval" for series in one.plots[0].series)
    assert one.plots[0].y.high > np.sqrt(1.25) and one.plots[0].y.low < 0.5 / np.sqrt(rho.size)


def test_a_run_of_one_token_has_its_row_and_no_histogram(command, tmp_path):
    assert command("analyze", BYTES / "softmax", "--ids", "65", "--device", "cpu", "-o", tmp_path / "one.h5").code == 0
    (plot,) = Figure(drawn(command, tmp_path, tmp_path / "one.h5", "rms")).plots
    assert {one.name for one in plot.series if len(one.marks)} >= {"rows"}
    assert all(len(one.marks) == 0 for one in plot.series if one.name == "histogram")


def test_heads_of_two_runs_are_told_apart_and_long_names_give_way(command, made, tmp_path):
    labels = re.findall('aria-label="([^"]*)"', drawn(command, tmp_path, made["v2"], made["softmax"], "rms", "--head", "L1.H0").read_text())
    assert {"diff_v2 ·", "softmax ·", "L1.H0"} <= set(labels), labels
    with h5py.File(made["softmax"], "a") as file:
        file.attrs["model_id"] = "a-model-with-a-very-long-name-of-its-own-Instruct.Q4_1.gguf"
    for arguments in (["rms", "--head", "L1.H0"], ["map", "--head", "L1.H0", "--width", "60mm"]):
        labels = re.findall('aria-label="([^"]*)"', drawn(command, tmp_path, made["softmax"], *arguments, "--names").read_text())
        assert any(label.endswith("L1.H0") for label in labels), labels


def test_a_hatched_atlas_says_why(command, tmp_path):
    assert command("analyze", BYTES / "softmax", "--text", "In the beginning", "--what-if", "L1:hide-key=0", "--device", "cpu", "-o", tmp_path / "hidden.h5").code == 0
    text = drawn(command, tmp_path, tmp_path / "hidden.h5", "atlas").read_text()
    assert re.search('aria-label="hatched: [0-9]+ heads without a value: [^"]+"', text)


def test_threads_change_no_byte(program, made, tmp_path, monkeypatch):
    import subprocess

    pictures = []
    for threads in ("1", "8"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        monkeypatch.setenv("MKL_NUM_THREADS", threads)
        subprocess.run([program, "figure", made["v2"], "rms", "-o", tmp_path / f"{threads}.pdf"], check=True, capture_output=True)
        pictures.append((tmp_path / f"{threads}.pdf").read_bytes())
    assert pictures[0] == pictures[1]


# --- what cannot be drawn is said


def test_a_part_that_no_query_sees_is_refused(command, made, tmp_path):
    outcome = command("figure", made["softmax"], "map", "--head", "L1.H0", "--rows", "10:20", "--keys", "150:180", "-o", tmp_path / "out.svg")
    assert outcome.code == 2 and "see none of the keys" in outcome.errors and not (tmp_path / "out.svg").exists(), outcome


def test_what_is_asked_for_beside_a_figure_that_is_drawn_again(command, made, tmp_path):
    (tmp_path / "figures").mkdir()
    first = tmp_path / "figures" / "out.svg"
    assert command("figure", made["softmax"], "atlas", "-o", first).code == 0
    for more in (["--theme", "slides"], ["--width", "120mm"], ["rms"]):
        outcome = command("figure", "--from", first, *more, "-o", tmp_path / "again.svg")
        assert outcome.code == 2 and f"{more[0]} beside --from" in outcome.errors, outcome
    # The run lies elsewhere under another name: it is found where it is named.
    (tmp_path / "moved").mkdir()
    moved = tmp_path / "moved" / "other.run"
    moved.write_bytes(made["softmax"].read_bytes())
    assert command("figure", "--from", first, "-o", tmp_path / "again.svg").code != 0
    assert command("figure", "--from", first, moved, "-o", tmp_path / "again.svg", "--force").code == 0
    outcome = command("figure", "--from", first, moved, made["v2"], "-o", tmp_path / "third.svg")
    assert outcome.code == 2 and f"{made['v2'].name}: not of the files" in outcome.errors, outcome
    strip = lambda path: re.sub("(?s)<metadata>.*?</metadata>|<title.*?</title>", "", path.read_text())
    assert strip(first) == strip(tmp_path / "again.svg")
