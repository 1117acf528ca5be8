"""Figures for papers: every mark is a number of the file, the three formats agree, the same file gives the same bytes.

Expected values come from the run file through h5py, never from the program's figures.
"""
import hashlib
import io
import json
import pathlib
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
DEMO = pathlib.Path(__file__).parents[2] / "assets/demo"
WIDTHS_MM = (60, 77, 84, 89, 120, 139.7, 174, 183)


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


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
    made["softmax_one"] = folder / "softmax_one.h5"
    outcome = command("analyze", folder / "softmax", "--ids", IDS, "-o", made["softmax_one"], "--device", "cpu", "--what-if",
                      "normalizer=softmax_one")
    assert outcome.code == 0, outcome
    KINDS["compare"][1][:] = ["--against", str(made["softmax_one"])]
    made["training"] = folder / "training.h5"
    shutil.copy(DEMO / "backcopy/diff_v2/training.h5", made["training"])
    made["pooled"] = folder / "pooled.h5"
    outcome = command("analyze", folder / "softmax", "--ids", IDS, "-o", made["pooled"], "--device", "cpu", "--maps", "16")
    assert outcome.code == 0, outcome
    made["premise"] = folder / "premise.h5"
    outcome = command("analyze", folder / "softmax", "--ids", IDS, "-o", made["premise"], "--device", "cpu", "--premise")
    assert outcome.code == 0, outcome
    made["summary"] = folder / "summary.h5"
    outcome = command("analyze", folder / "softmax", "--ids", IDS, "-o", made["summary"], "--device", "cpu", "--only", "summary")
    assert outcome.code == 0, outcome
    for kind, arguments in (("ablate", ["softmax", "--ids", IDS]), ("circuits", ["diff_v2", "--composition"])):
        made[kind] = folder / f"{kind}.h5"
        outcome = command(kind, folder / arguments[0], *arguments[1:], "-o", made[kind])
        assert outcome.code == 0, outcome
    return made


# What is drawn of each kind wherever all kinds are tried: run, arguments.
KINDS = {
    "rms": ("softmax", ["--head", "L1.H2"]),
    "rms_own": ("diff_v2", ["--head", "L0.H1"]),
    "atlas": ("softmax", ["--head", "L1.H2"]),
    "atlas_several": ("softmax", ["--quantity", "sink_score,context_rms_relative_mean,effective_keys_mean,logit_abs_max"]),
    "sinks": ("softmax", []),
    "sinks_pair": ("diff_v2", ["--head", "L1.H2"]),
    "scatter": ("softmax", ["--head", "L1.H2"]),
    "scatter_three": ("diff_v2", ["--quantity", "lambda_mean,rows_inside_bound,logit_abs_max"]),
    "logits": ("softmax", ["--head", "L1.H2,L0.H1"]),
    "logits_pair": ("diff_v2", []),
    "rms-layers": ("softmax", []),
    "rms-layers_own": ("diff_v2", []),
}

KINDS |= {
    "lambda-text": ("diff_v2", []),
    "decomposition": ("softmax", []),
    "lambda": ("diff_v2", []),
    "lambda_v1": ("diff_v1", []),
    "compare": ("softmax", []),  # against what `runs` writes
    "training": ("training", []),
    "map": ("softmax", ["--head", "L1.H2"]),
    "map_lens": ("softmax", ["--head", "L1.H2", "--cell", "100,37"]),
    "map_pooled": ("pooled", ["--head", "L1.H2"]),
    "map_equation": ("diff_v2", ["--head", "L0.H1"]),
    "map_shared": ("diff_v1", ["--head", "L1.H0"]),
    "tokens": ("softmax", ["--head", "L1.H2"]),
    "norm-gain": ("diff_v1", []),
    "grid": ("pooled", ["--head", "L1.H2"]),
    "grid_net": ("diff_v2", []),
    "rms_premise": ("premise", ["--head", "L1.H2,L0.H1"]),
    "importance": ("ablate", ["--head", "L1.H2"]),
    "circuits": ("circuits", ["--head", "L1.H2"]),
}


def kind_of(name):
    return name.split("_")[0]


@pytest.fixture(scope="module")
def drawn_once(tmp_path_factory):
    return tmp_path_factory.mktemp("figures")


@pytest.fixture
def figure(command, runs, tmp_path, drawn_once):
    """figure(name, ending, *arguments) → path of the file, which was written without a warning; without arguments once for all tests,
    which only read it."""
    def call(name, ending="svg", *arguments, quiet=True, again=False):
        run, own = KINDS[name]
        path = (tmp_path if arguments or again else drawn_once) / f"{name}.{ending}"
        if path.exists() and not arguments and not again:
            return path
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


@pytest.mark.parametrize(("name", "ending"), [
    (name, ending) for place, name in enumerate(KINDS)
    for ending in (("pdf", "svg", "png") if name == kind_of(name) else (("svg", "png", "pdf")[place % 3],))])
def test_the_same_file_gives_the_same_bytes(command, runs, figure, tmp_path, name, ending):
    first = figure(name, ending).read_bytes()
    assert figure(name, ending, again=True).read_bytes() == first
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


def grey(path, times, size=None):
    """Grey levels at a fraction of the size: how each program covers the pixels of an edge does not count. `size`: what the page is cut
    or filled up to, where its last pixel is only partly on it."""
    with PIL.Image.open(path) as image:
        image = image.convert("L")
        if size and image.size != size:
            whole = PIL.Image.new("L", size, 255)
            whole.paste(image)
            image = whole
        return np.asarray(image.reduce(times), dtype=int)


@pytest.mark.parametrize("name", KINDS)
def test_the_three_formats_agree(figure, tmp_path, name):
    # Cells of a map begin on whole pixels of an image: there are more of those.
    dots = 600 if kind_of(name) in ("map", "grid") else 300
    drawn = figure(name, "png", *(["--dpi", "600"] if dots == 600 else []))
    with PIL.Image.open(drawn) as image:
        width, height = image.size
    expected = grey(drawn, dots // 150)
    # Four times as large: poppler puts letters on whole pixels. To compress as many takes seven times as long as to draw them.
    subprocess.run(["pdftocairo", "-tiff", "-tiffcompression", "none", "-singlefile", "-r", "1200", figure(name, "pdf"), tmp_path / "pdf"],
                   check=True, capture_output=True)
    subprocess.run(["rsvg-convert", "-d", str(dots), "-p", str(dots), "-b", "white", "-o", tmp_path / "svg.png", figure(name, "svg")],
                   check=True, capture_output=True)
    for file, found_dots in (("pdf.tif", 1200), ("svg.png", dots)):
        larger = found_dots // dots
        found = grey(tmp_path / file, found_dots // 150, (larger * width, larger * height))
        assert found.shape == expected.shape
        other = abs(found - expected) > 16
        assert other.mean() < 0.01, file


@pytest.mark.parametrize("name", KINDS)
def test_no_text_is_cut_or_touches_at_any_width(command, runs, name):
    """Without a file: what --caption lays out is what a file would show."""
    run, own = KINDS[name]
    for width in WIDTHS_MM:
        outcome = command("figure", runs[run], kind_of(name), *own, "--width", f"{width}mm", "--caption", "text")
        if outcome.code == 2:
            # Refused with what would fit, and that does fit.
            least = int(re.search(r"too narrow; at least (\d+) mm", outcome.errors)[1])
            assert least > width
            outcome = command("figure", runs[run], kind_of(name), *own, "--width", f"{least}mm", "--caption", "text")
        assert outcome.code == 0 and "warning" not in outcome.errors, (width, outcome)


@pytest.mark.parametrize("name", KINDS)
def test_no_text_is_small(figure, name):
    for text, size in Figure(figure(name, "svg")).texts:
        assert size >= 6 or size == pytest.approx(0.7 * 7, abs=0.01) or size == pytest.approx(0.7 * 7.5, abs=0.01), (text, size)


@pytest.mark.parametrize("name", KINDS)
def test_keys_tell_what_was_drawn_of_what(command, runs, figure, name):
    run, own = KINDS[name]
    svg = Figure(figure(name, "svg"))
    assert svg.keys["run_sha256"].split()[0] == hashlib.sha256(runs[run].read_bytes()).hexdigest()
    assert svg.keys["command"] == " ".join(["figure", runs[run].name, kind_of(name), *(word.rpartition("/")[2] for word in own)])
    with h5py.File(runs[run]) as file:
        assert svg.keys["created_utc"] == file.attrs["created_utc"]
        assert svg.keys.get("prompt_sha256", "").split(" ")[0] == file.attrs.get("prompt_sha256", "")
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


@pytest.mark.parametrize("kind", ["softmax", "diff_v2", "diff_v1", "gated"])
def test_rms_shares_of_any_head_have_room(command, runs, kind):
    """All inside is as wide as a share gets: 100.0 %."""
    with h5py.File(runs[kind]) as file:
        inside = file["rows_inside_bound"][..., 0 if kind == "softmax" else 2]
    heads = [f"L{layer}.H{head}" for layer, head in np.ndindex(inside.shape)]
    for head in heads:
        outcome = command("figure", runs[kind], "rms", "--head", head, "--caption", "text")
        assert outcome.code == 0 and "warning" not in outcome.errors, outcome


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
    ("softmax", ["sinks", "--head", "L1.H9"], 2, ["L1.H9", "heads 0–3"]),
    ("softmax", ["sinks", "--layers", "9"], 2, ["layer 9", "layers 0–1"]),
    ("softmax", ["scatter", "--quantity", "sink_score"], 2, ["[figure]", "two quantities", "--quantity X,Y"]),
    ("softmax", ["scatter", "--quantity", "sink_score,lambda_mean"], 4, ["lambda_mean", "no head"]),
    ("softmax", ["logits", "--head", "L0.H0,L0.H1,L0.H2,L0.H3"], 2, ["at most three"]),
    ("summary", ["rms-layers"], 4, ["/rows/context_rms_relative", "--only summary"]),
    ("softmax", ["rms-layers", "--heads", "7"], 2, ["head 7", "heads 0–3"]),
    ("summary", ["decomposition"], 4, ["decomposition needs /rows/context_rms", "--only summary"]),
    ("softmax", ["decomposition", "--head", "L0.H0,L0.H1,L1.H0"], 2, ["at most two heads"]),
    ("softmax", ["compare"], 2, ["two sides", "--against"]),
    ("training", ["rms"], 4, ["rms is drawn of run files", "training.h5"]),
    ("softmax", ["training"], 4, ["training is drawn of training.h5"]),
    ("ablate", ["rms"], 4, ["rms is drawn of run files", "ablate.h5 is a file of headroom ablate"]),
    ("softmax", ["importance"], 4, ["importance is drawn of files of headroom ablate", "softmax.h5 is a run file"]),
    ("ablate", ["circuits"], 4, ["circuits is drawn of files of headroom circuits", "headroom circuits --help"]),
    ("softmax", ["lambda"], 4, ["no head of softmax.h5 has λ"]),
    ("diff_v2", ["lambda", "--head", "L9.H0"], 2, ["L9.H0", "layers 0–1"]),
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


# --- drawn again, many points


@pytest.mark.parametrize(("name", "ending"), [(name, ("pdf", "svg", "png")[place % 3]) for place, name in enumerate(KINDS)])
def test_a_figure_is_drawn_again_from_what_its_file_says(command, runs, figure, tmp_path, name, ending):
    run, _ = KINDS[name]
    first = figure(name, ending)
    # Beside a copy of the run under its name.
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    shutil.copy(first, moved / f"figure.{ending}")
    shutil.copy(runs[run], moved / runs[run].name)
    if kind_of(name) == "compare":
        shutil.copy(runs["softmax_one"], moved / "softmax_one.h5")
    outcome = command("figure", "--from", moved / f"figure.{ending}", "-o", tmp_path / f"again.{ending}")
    assert outcome.code == 0, outcome
    assert (tmp_path / f"again.{ending}").read_bytes() == first.read_bytes()
    # A run of that name with other numbers is not taken for it.
    shutil.copy(runs["summary"], moved / runs[run].name)
    refused(command("figure", "--from", moved / f"figure.{ending}", "-o", tmp_path / f"wrong.{ending}"), 5, runs[run].name, "SHA-256")


def test_files_that_are_no_figures_are_not_drawn_again(command, runs, figure, tmp_path):
    other = tmp_path / "other.svg"
    other.write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    refused(command("figure", "--from", other, "-o", tmp_path / "out.pdf"), 3, "does not say how it was made")
    refused(command("figure", "--from", runs["softmax"], "-o", tmp_path / "out.pdf"), 3, "does not say")
    cut = tmp_path / "cut.png"
    cut.write_bytes(figure("rms", "png").read_bytes()[:60])
    refused(command("figure", "--from", cut, "-o", tmp_path / "out.pdf"), 3, "does not say")


def test_many_points_are_one_picture_at_their_places(figure, tmp_path):
    vectors, pixels = figure("rms", "svg", "--points", "vector").read_text(), figure("rms", "svg", "--points", "image").read_text()
    assert vectors.count("<circle") >= 150 and "<circle" not in pixels and pixels.count("<image") == 2
    expected = grey(figure("rms", "png"), 2)
    for ending, convert in (("svg", lambda a, b: ["rsvg-convert", "-w", "992", "-h", "685", "-b", "white", "-o", b, a]),
                            ("pdf", lambda a, b: ["pdftocairo", "-png", "-singlefile", "-scale-to-x", "992", "-scale-to-y", "685", a,
                                                  str(b)[:-4]])):
        out = tmp_path / "drawn.png"
        subprocess.run(convert(figure("rms", ending, "--points", "image"), out), check=True, capture_output=True)
        # Letters of poppler stand on whole pixels; what must not be is points that are gone or moved.
        assert (abs(grey(out, 2) - expected) > 48).mean() < 0.012, ending


# --- composed figures


@pytest.fixture
def compose(command, runs, tmp_path):
    """compose(text, *arguments) → outcome, path: draws a figure file beside a copy of the softmax run."""
    shutil.copy(runs["softmax"], tmp_path / "run.h5")

    def call(text, *arguments, ending="svg"):
        (tmp_path / "figure.json").write_text(text)
        path = tmp_path / f"composed.{ending}"
        return command("figure", tmp_path / "figure.json", *arguments, "-o", path), path

    return call


COMPOSED = """// two rows
{"width": "174mm", "gap": "6mm", "run": "run.h5", "head": "L1.H2", "rows": [
  {"height": "40mm", "panels": [{"kind": "rms", "width": 2}, {"kind": "atlas", "quantity": "sink_score", "width": 1}]},
  {"height": "30mm", "panels": [{"kind": "rms", "head": "L0.H0"}, {"text": "words and *n*"}]}]}
"""


def test_composed_figures_share_rows_and_say_what_single_ones_say(command, runs, compose):
    outcome, path = compose(COMPOSED, "--data", "-")
    assert outcome.code == 0 and "warning" not in outcome.errors, outcome
    svg = Figure(path)
    assert svg.width == "174mm" and [p.id for p in svg.plots] == ["panel-a", "panel-b", "panel-c"]
    labels = [text for text, _ in svg.texts]
    assert ["a", "b", "c"] == [text for text in labels if text in "abcd"] and "words and " in labels  # words have no letter
    # Inner rectangles of a row end on one line; in the first one is twice as wide as the other.
    a, b, c = svg.plots
    height = (a.y.start - a.y.end) * 25.4 / 72
    assert height == pytest.approx(40, abs=1e-3) and (c.y.start - c.y.end) * 25.4 / 72 == pytest.approx(30, abs=1e-3)
    assert (a.x.end - a.x.start) == pytest.approx(2 * (b.x.end - b.x.start), rel=1e-5)
    # The head is green wherever it is.
    assert any(mark.get("stroke") == "#009e73" for mark in svg.root.iter(SVG + "rect"))
    data = pandas.read_csv(io.StringIO(outcome.text), comment="#")
    single = table(command, runs["softmax"], "rms", "--head", "L1.H2")
    found = data[data["panel"] == "a"].drop(columns="panel").reset_index(drop=True)
    pandas.testing.assert_frame_equal(found, single.drop(columns="panel"), check_dtype=False)


def test_composed_figures_give_the_same_bytes_and_pages_of_any_format(compose):
    first = {}
    for ending in ("pdf", "svg", "png"):
        outcome, path = compose(COMPOSED, "--force", ending=ending)
        assert outcome.code == 0, outcome
        first[ending] = path.read_bytes()
        assert compose(COMPOSED, "--force", ending=ending)[1].read_bytes() == first[ending]


def test_composed_figures_are_drawn_again_from_the_same_runs_only(command, runs, compose, tmp_path):
    outcome, path = compose(COMPOSED)
    assert outcome.code == 0, outcome
    again = tmp_path / "again.svg"
    assert command("figure", "--from", path, "-o", again).code == 0
    assert again.read_bytes() == path.read_bytes()
    # The figure file names the run, and another lies there now.
    shutil.copy(runs["gated"], tmp_path / "run.h5")
    refused(command("figure", "--from", path, "-o", tmp_path / "wrong.svg"), 3, "not those that the figure was drawn from")
    assert not (tmp_path / "wrong.svg").exists()


def test_panels_without_letters_are_told_apart(command, runs, tmp_path):
    path = tmp_path / "two.svg"
    outcome = command("figure", runs["softmax"], "rms", "--head", "L0.H1,L1.H2", "--letters", "none", "-o", path, "--data", "-")
    assert outcome.code == 0, outcome
    svg = Figure(path)
    ids = [element.get("id") for element in svg.root.iter() if element.get("id")]
    assert len(ids) == len(set(ids)) and [p.id for p in svg.plots] == ["panel-a", "panel-b"]
    assert not {"a", "b"} & {text for text, _ in svg.texts}
    data = pandas.read_csv(io.StringIO(outcome.text), comment="#")
    assert set(data[data["head"] == 1]["panel"]) == {"a"} and set(data[data["head"] == 2]["panel"]) == {"b"}


@pytest.mark.parametrize("how", [lambda path: ["-o", path], lambda path: [f"--output={path}"], lambda path: [f"-o{path}"]],
                         ids=["apart", "equal", "joined"])
def test_no_folder_is_in_a_file_however_it_was_named(command, runs, tmp_path, how):
    path = tmp_path / "out.svg"
    outcome = command("figure", runs["softmax"], "rms", "--head", "L1.H2", *how(path), f"--data={tmp_path / 'out.csv'}")
    assert outcome.code == 0, outcome
    for file in (path, tmp_path / "out.csv"):
        text = file.read_text()
        assert str(tmp_path) not in text and str(runs["softmax"].parent) not in text
    assert Figure(path).keys["command"] == "figure softmax.h5 rms --head L1.H2"
    against = tmp_path / "against.svg"
    outcome = command("figure", runs["softmax"], "compare", f"--against={runs['softmax_one']}", "-o", against)
    assert outcome.code == 0, outcome
    assert Figure(against).keys["command"] == "figure softmax.h5 compare --against=softmax_one.h5"


def test_a_report_is_one_object_with_the_caption(command, runs):
    report = command("figure", runs["softmax"], "rms", "--head", "L1.H2", "--caption", "latex", "--json").json
    assert "\\caption{" in report["caption"] and report["panels"][0]["id"] == "a"
    refused(command("figure", runs["softmax"], "rms", "--data", "-", "--json"), 2, "--data -", "--json")


@pytest.mark.parametrize(("old", "new", "code", "words"), [
    ('"rows": [', '"rows": [,', 3, ["line 2, column"]),
    ('"kind": "rms", "width": 2', '"kind": "rms", "widht": 2', 2, ["widht", "nearest: width"]),
    ('"kind": "atlas"', '"kind": "atals"', 2, ["atals", "nearest: atlas"]),
    ('"run.h5"', '"gone.h5"', 5, ["gone.h5"]),
    ('"174mm"', '"174"', 2, ["174"]),
    ('"40mm"', '"tall"', 2, ["height", "tall"]),
    ('"40mm"', '"2mm"', 2, ["2 mm is too low", "at least"]),
    ('"head": "L1.H2"', '"head": "L9.H2"', 2, ["L9.H2", "layers 0–1"]),
    ('"width": 2', '"width": 0', 2, ["width"]),
    ('"width": 2', '"panel": "z"', 2, ["panel", "z"]),
    ('"gap": "6mm"', '"epsilon": "much"', 2, ["epsilon", "much"]),
])
def test_composed_figures_that_cannot_be_read(compose, tmp_path, old, new, code, words):
    assert old in COMPOSED
    outcome, path = compose(COMPOSED.replace(old, new, 1))
    refused(outcome, code, *words)
    assert not path.exists()
