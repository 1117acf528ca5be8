"""Figures for papers: every mark is a number of the file, the three formats agree, the same file gives the same bytes.

Expected values come from the run file through h5py, never from the program's figures.
"""
import hashlib
import io
import json
import re
import shutil
import subprocess

import h5py
import numpy as np
import pandas
import PIL.Image
import pytest

import checkpoints as C
from command import refused
from svg_figure import SVG, Figure

IDS = ",".join(str(i * 7 % 53) for i in range(150))
WIDTHS_MM = (60, 77, 84, 89, 120, 139.7, 174, 183)


@pytest.fixture(scope="module")
def runs(tmp_path_factory, command):
    """Run files by the kind of attention, of two layers and four heads, 150 tokens."""
    folder = tmp_path_factory.mktemp("runs")
    made = {}
    for number, kind in enumerate(("softmax", "diff_v2", "diff_v1", "gated")):
        C.headroom(folder / kind, C.headroom_config(kind), 5 + number)
        made[kind] = folder / f"{kind}.h5"
        outcome = command("analyze", folder / kind, "--ids", IDS, "-o", made[kind], "--device", "cpu", "--exact-maps", "--maps", "16",
                          "--components")
        assert outcome.code == 0, outcome
    made["pooled"] = folder / "pooled.h5"
    outcome = command("analyze", folder / "softmax", "--ids", IDS, "-o", made["pooled"], "--device", "cpu", "--maps", "16")
    assert outcome.code == 0, outcome
    made["summary"] = folder / "summary.h5"
    outcome = command("analyze", folder / "softmax", "--ids", IDS, "-o", made["summary"], "--device", "cpu", "--only", "summary")
    assert outcome.code == 0, outcome
    return made


# What is drawn of each kind wherever all kinds are tried: run, arguments.
KINDS = {
    "rms": ("softmax", ["--head", "L1.H2"]),
    "rms_own": ("diff_v2", ["--head", "L0.H1"]),
    "atlas": ("softmax", ["--head", "L1.H2"]),
    "atlas_several": ("softmax", ["--quantity", "sink_score,context_rms_relative_mean,effective_keys_mean,logit_abs_max"]),
    "map": ("softmax", ["--head", "L1.H2"]),
    "map_lens": ("softmax", ["--head", "L1.H2", "--cell", "100,37"]),
    "map_pooled": ("pooled", ["--head", "L1.H2"]),
    "map_equation": ("diff_v2", ["--head", "L0.H1"]),
    "map_shared": ("diff_v1", ["--head", "L1.H0"]),
    "tokens": ("softmax", ["--head", "L1.H2"]),
}


def kind_of(name):
    return name.split("_")[0]


@pytest.fixture
def figure(command, runs, tmp_path):
    """figure(name, ending, *arguments) → path of the file, which was written without a warning."""
    def call(name, ending="svg", *arguments, quiet=True):
        run, own = KINDS[name]
        path = tmp_path / f"{name}.{ending}"
        outcome = command("figure", runs[run], kind_of(name), *own, *arguments, "-o", path, "--force")
        assert outcome.code == 0, outcome
        assert not quiet or "warning" not in outcome.errors, outcome
        return path

    return call


def table(command, run, *arguments):
    outcome = command("figure", run, *arguments, "--data", "-")
    assert outcome.code == 0, outcome
    return pandas.read_csv(io.StringIO(outcome.text), comment="#")


# --- every kind


@pytest.mark.parametrize("name", KINDS)
def test_fonts_and_files_are_valid(figure, name):
    path = figure(name, "pdf")
    fonts = subprocess.run(["pdffonts", path], capture_output=True, text=True, check=True).stdout.splitlines()[2:]
    assert fonts, "no fonts"
    for line in fonts:
        assert "Type 3" not in line and re.search(r"\b(?:Type 1C|CID Type 0C|TrueType|CID TrueType)\b.*\byes yes yes\b", line), line
    subprocess.run(["qpdf", "--check", path], capture_output=True, check=True)
    subprocess.run(["xmllint", "--noout", figure(name, "svg")], check=True)
    with PIL.Image.open(figure(name, "png")) as image:
        image.verify()


@pytest.mark.parametrize("name", KINDS)
def test_pages_are_as_large_as_asked_for(figure, name):
    points = 25.4 / 72
    path = figure(name, "pdf", "--width", "183mm", "--height", "140mm")
    size = subprocess.run(["pdfinfo", path], capture_output=True, text=True, check=True).stdout
    width, height = map(float, re.search(r"Page size:\s+([\d.]+) x ([\d.]+) pts", size).groups())
    assert abs(width * points - 183) < 0.01 and abs(height * points - 140) < 0.01
    svg = Figure(figure(name, "svg", "--width", "nature-double"))
    assert svg.width == "183mm"
    with PIL.Image.open(figure(name, "png", "--width", "183mm", "--height", "140mm")) as image:
        assert image.size == (round(183 / 25.4 * 300), round(140 / 25.4 * 300))
        assert abs(image.info["dpi"][0] - 300) < 0.02


@pytest.mark.parametrize("ending", ["pdf", "svg", "png"])
@pytest.mark.parametrize("name", KINDS)
def test_the_same_file_gives_the_same_bytes(command, runs, figure, tmp_path, name, ending):
    first = figure(name, ending).read_bytes()
    assert figure(name, ending).read_bytes() == first
    # From a copy in another folder.
    run, own = KINDS[name]
    other = tmp_path / "another folder" / runs[run].name
    other.parent.mkdir()
    shutil.copy(runs[run], other)
    out = tmp_path / f"copy.{ending}"
    outcome = command("figure", other, kind_of(name), *own, "-o", out)
    assert outcome.code == 0, outcome
    assert out.read_bytes() == first
    assert str(tmp_path).encode() not in first


def grey(path, times):
    """Grey levels at a fraction of the size: how each program covers the pixels of an edge does not count."""
    with PIL.Image.open(path) as image:
        return np.asarray(image.convert("L").reduce(times), dtype=int)


@pytest.mark.parametrize("name", KINDS)
def test_the_three_formats_agree(figure, tmp_path, name):
    with PIL.Image.open(figure(name, "png")) as image:
        width, height = image.size
    expected = grey(figure(name, "png"), 2)
    # Four times as large: poppler puts letters on whole pixels.
    subprocess.run(["pdftocairo", "-png", "-singlefile", "-scale-to-x", str(4 * width), "-scale-to-y", str(4 * height), figure(name, "pdf"),
                    tmp_path / "pdf"], check=True, capture_output=True)
    subprocess.run(["rsvg-convert", "-w", str(width), "-h", str(height), "-b", "white", "-o", tmp_path / "svg.png", figure(name, "svg")],
                   check=True, capture_output=True)
    for file, times in (("pdf.png", 8), ("svg.png", 2)):
        found = grey(tmp_path / file, times)
        assert found.shape == expected.shape
        # A page that is all letters, or all cells of a noisy map, is all edges.
        assert (abs(found - expected) > 32).mean() < (0.02 if kind_of(name) in ("map", "tokens") else 0.01), file


@pytest.mark.parametrize("width", WIDTHS_MM)
@pytest.mark.parametrize("name", KINDS)
def test_no_text_is_cut_small_or_touches_at_any_width(command, runs, tmp_path, name, width):
    run, own = KINDS[name]
    path = tmp_path / "out.svg"
    outcome = command("figure", runs[run], kind_of(name), *own, "--width", f"{width}mm", "-o", path)
    if outcome.code == 2:
        # Refused with what would fit, and that does fit.
        least = int(re.search(r"too narrow; at least (\d+) mm", outcome.errors)[1])
        assert least > width
        outcome = command("figure", runs[run], kind_of(name), *own, "--width", f"{least}mm", "-o", path)
    assert outcome.code == 0 and "warning" not in outcome.errors, outcome
    for text, size in Figure(path).texts:
        assert size >= 6 or size == pytest.approx(0.7 * 7, abs=0.01) or size == pytest.approx(0.7 * 7.5, abs=0.01), (text, size)


@pytest.mark.parametrize("name", KINDS)
def test_keys_tell_what_was_drawn_of_what(command, runs, figure, name):
    run, own = KINDS[name]
    svg = Figure(figure(name, "svg"))
    assert svg.keys["run_sha256"] == hashlib.sha256(runs[run].read_bytes()).hexdigest()
    assert svg.keys["command"] == " ".join(["figure", runs[run].name, kind_of(name), *own])
    with h5py.File(runs[run]) as file:
        assert svg.keys["created_utc"] == file.attrs["created_utc"]
        assert svg.keys["prompt_sha256"] == file.attrs["prompt_sha256"]
    with PIL.Image.open(figure(name, "png")) as image:
        image.load()
        assert image.text["run_sha256"] == svg.keys["run_sha256"] and image.text["Description"] == svg.description
    info = subprocess.run(["pdfinfo", figure(name, "pdf")], capture_output=True, text=True, check=True).stdout
    assert svg.keys["run_sha256"] in info
    caption = command("figure", runs[run], kind_of(name), *own, "--caption", "text")
    assert caption.code == 0 and caption.text.strip() == svg.description.strip(), caption


def test_text_of_a_pdf_can_be_found(figure):
    text = subprocess.run(["pdftotext", "-layout", figure("rms", "pdf"), "-"], capture_output=True, text=True, check=True).stdout
    assert "context RMS in units of the values" in text and "visible keys" in text and "L1.H2" in text, text


# --- rms


@pytest.mark.parametrize("name", ["rms", "rms_own"])
def test_rms_marks_are_the_files_rows(command, runs, figure, name):
    run, own = KINDS[name]
    layer, head = map(int, re.match(r"L(\d+)\.H(\d+)", own[1]).groups())
    with h5py.File(runs[run]) as file:
        rho = file["rows/context_rms_relative"][layer, head].astype(float)
        visible = file["tokens/visible_keys"][()]
        min_row = int(file.attrs["min_row"])
        bound = 0 if run == "softmax" else 2
        shares = [float(file[f"rows_{side}_bound"][layer, head, bound]) for side in ("above", "inside", "below")]
    visible = visible.reshape(-1, visible.shape[-1])[0] if visible.ndim > 1 else visible
    plot = Figure(figure(name, "svg")).plot("rms")
    for series, counted in (("rows", True), ("rows not counted", False)):
        rows = np.flatnonzero((visible >= min_row) == counted)
        points = plot.points(plot.named(series))
        assert len(points) == len(rows)
        for (n, found), row in zip(points, rows):
            assert plot.x.off(n, visible[row]) < 1e-6 and plot.y.off(found, rho[row]) < 1e-6, (row, n, found)
    # The printed shares are the file's, and count the marks that are drawn.
    labels = [text for text, _ in Figure(figure(name, "svg")).texts]
    for share in shares:
        assert f"{100 * share:.1f} %" in labels, (share, labels)
    data = table(command, runs[run], "rms", *own)
    points = data[data["mark"] == "point"].astype({"row": int})
    assert (points["y"].to_numpy() == rho[points["row"].to_numpy()]).all() and len(points) == len(rho)
    eligible = points[points["series"] == "rows"]
    if run == "softmax":
        inside = ((eligible["y"] >= 1 / np.sqrt(eligible["x"])) & (eligible["y"] < 1)).mean()
    else:
        inside = ((eligible["y"] >= eligible["low"]) & (eligible["y"] < eligible["high"])).mean()
    assert inside == pytest.approx(shares[1], abs=1e-6)  # the file keeps float32
    bars = data[data["mark"] == "bar"]
    assert len(bars) == 45 and bars["n"].sum() == len(eligible)
    expected, _ = np.histogram(np.log(eligible["y"]), np.log(np.append(bars["low"], bars["high"].iloc[-1])))
    assert abs(expected - bars["n"]).max() <= 1, "a value on an edge at most"


def test_rms_median_is_numpys(command, runs):
    data = table(command, runs["softmax"], "rms", "--head", "L1.H2")
    rows, median = data[data["series"] == "rows"], data[data["series"] == "median"]
    assert len(median) > 20
    for _, mark in median.iterrows():
        window = rows[(rows["x"] >= mark["x"] / 1.33) & (rows["x"] <= 1.33 * mark["x"])]["y"]
        assert len(window) >= 15 and mark["y"] == pytest.approx(np.median(window), rel=1e-12)


# --- atlas


def test_atlas_cells_contour_and_counts_are_the_datasets(command, runs, tmp_path):
    with h5py.File(runs["softmax"]) as file:
        scores = file["sink_score"][..., 0].astype(float)
    epsilon = float(np.median(scores))
    path = tmp_path / "atlas.svg"
    outcome = command("figure", runs["softmax"], "atlas", "--epsilon", repr(epsilon), "-o", path, "--data", "-")
    assert outcome.code == 0, outcome
    data = pandas.read_csv(io.StringIO(outcome.text), comment="#")
    assert len(data) == scores.size
    assert (data["y"].to_numpy() == scores[data["layer"].to_numpy(), data["head"].to_numpy()]).all()
    plot = Figure(path).plot("atlas")
    cells = plot.named("cells").marks
    assert len(cells) == scores.size
    # Equal values have equal colours, and a larger one is never lighter.
    def lightness(mark):
        red, green, blue = (int(mark.get("fill")[i:i + 2], 16) / 255 for i in (1, 3, 5))
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (red, green, blue)]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    for mark, layer, head in ((m, round(plot.x.value(float(m.get("x")) + float(m.get("width")) / 2)),
                               round(plot.y.value(float(m.get("y")) + float(m.get("height")) / 2))) for m in cells):
        for other in cells:
            l2 = round(plot.x.value(float(other.get("x")) + float(other.get("width")) / 2))
            h2 = round(plot.y.value(float(other.get("y")) + float(other.get("height")) / 2))
            if scores[l2, h2] > scores[layer, head]:
                assert lightness(other) <= lightness(mark) + 1e-9
    # The contour parts exactly what is above from what is not.
    over = np.pad(scores > epsilon, 1)
    edges = int((over[1:, :] != over[:-1, :]).sum() + (over[:, 1:] != over[:, :-1]).sum())
    assert len(plot.named("contour").marks) == edges
    counts = (scores > epsilon).sum(axis=1)
    bars = plot.named("heads above").marks
    assert len(bars) == (counts > 0).sum()
    heights = np.array([float(bar.get("height")) for bar in bars])
    assert heights / heights.max() == pytest.approx(counts[counts > 0] / counts.max(), rel=1e-5)
    assert f"{counts.sum()} of {scores.size} heads" in [text for text, _ in Figure(path).texts]


# --- the command


def test_list_says_what_a_file_lacks(command, runs):
    kinds = {one["kind"]: one for one in json.loads(command("figure", runs["softmax"], "--list", "--json").text)}
    assert set(map(kind_of, KINDS)) <= set(kinds)
    assert kinds["rms"]["missing"] is None
    without = {one["kind"]: one for one in json.loads(command("figure", runs["summary"], "--list", "--json").text)}
    assert "--only summary" in without["rms"]["missing"] and without["atlas"]["missing"] is None


@pytest.mark.parametrize(("run", "arguments", "code", "words"), [
    ("softmax", ["sink"], 2, ["[figure]", "kind \"sink\"", "nearest"]),
    ("softmax", ["rms", "--head", "L31.H2"], 2, ["L31.H2", "layers 0–1", "heads 0–3"]),
    ("softmax", ["rms", "--head", "H2"], 2, ["--head"]),
    ("softmax", ["rms", "--width", "84furlongs"], 2, ["84furlongs", "mm, cm, in or pt"]),
    ("softmax", ["rms", "--colour-map", "jet"], 2, ["jet", "viridis"]),
    ("softmax", ["atlas", "--quantity", "sink_skore"], 2, ["sink_skore"]),
    ("softmax", ["atlas", "--range", "1,0"], 2, ["--range"]),
    ("softmax", ["atlas", "--layers", "7"], 2, ["layer 7", "layers 0–1"]),
    ("softmax", ["atlas", "--quantity", "lambda_mean"], 4, ["lambda_mean", "no head"]),
    ("summary", ["rms"], 4, ["/rows/context_rms_relative", "--only summary"]),
    ("softmax", ["rms", "--width", "30mm"], 2, ["too narrow", "at least"]),
    ("softmax", ["rms", "-o", "out.gif"], 2, [".pdf, .svg or .png"]),
], ids=lambda value: "-".join(value) if isinstance(value, list) else None)
def test_refusals(command, runs, tmp_path, run, arguments, code, words):
    out = [] if "-o" in arguments else ["-o", tmp_path / "out.pdf"]
    outcome = command("figure", runs[run], *arguments, *out)
    refused(outcome, code, *words)
    assert not list(tmp_path.iterdir())


def test_an_existing_file_stays_unless_it_is_forced(command, runs, tmp_path):
    path = tmp_path / "out.pdf"
    path.write_bytes(b"mine")
    refused(command("figure", runs["softmax"], "rms", "-o", path), 2, "out.pdf")
    assert path.read_bytes() == b"mine"
    assert command("figure", runs["softmax"], "rms", "-o", path, "--force").code == 0
    assert path.read_bytes().startswith(b"%PDF")


def test_report(command, runs, tmp_path):
    report = command("figure", runs["softmax"], "rms", "--head", "L0.H1", "-o", tmp_path / "a.pdf", "--json").json
    assert report["width_mm"] == 84 and report["height_mm"] == 58 and report["kind"] == "rms" and report["warnings"] == []
    assert report["bytes"] == (tmp_path / "a.pdf").stat().st_size and any("Inter" in line for line in report["fonts"])


def test_slides_are_twice_as_large(figure):
    paper, slides = Figure(figure("rms", "svg")), Figure(figure("rms", "svg", "--theme", "slides", "--height", "150mm"))
    assert slides.width == "240mm"
    size = dict(paper.texts)["L1.H2"]
    assert dict(slides.texts)["L1.H2"] == pytest.approx(2 * size)
