"""Texts of figures: titles of pages, other fonts, SVG whose text is text."""
import base64
import hashlib
import io
import json
import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml

import PIL.ImageFont
import pytest

from command import refused
from svg_figure import SVG, Figure
from test_figures import runs  # noqa: F401 – a fixture

SERIF = pathlib.Path("/usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf")


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


def drawn(command, path, *arguments):
    outcome = command("figure", *arguments, "-o", path, "--json")
    assert outcome.code == 0, outcome
    report = json.loads(outcome.text)
    assert report["warnings"] == [], report["warnings"]
    return report


def fonts_of(path):
    """Names of a PDF's fonts without the tag of a subset."""
    lines = subprocess.run(["pdffonts", path], capture_output=True, text=True, check=True).stdout.splitlines()[2:]
    return {line.split()[0].split("+")[-1] for line in lines}


# --- titles


def test_a_title_stands_above_the_panels_and_takes_room_of_its_own(command, runs, tmp_path):
    bare = drawn(command, tmp_path / "bare.svg", runs["softmax"], "rms", "--head", "L1.H2")
    title = "Sinks & gates, <seed 3> *as is*"
    said = drawn(command, tmp_path / "titled.svg", runs["softmax"], "rms", "--head", "L1.H2", "--title", title)
    assert said["height_mm"] == pytest.approx(bare["height_mm"] + 5.4) and said["width_mm"] == bare["width_mm"] and said["notes"] == bare["notes"]
    figure = Figure(tmp_path / "titled.svg")
    assert figure.texts[0][0] == title and title not in [text for text, _ in Figure(tmp_path / "bare.svg").texts]
    # All else is as it was, further down.
    before, after = Figure(tmp_path / "bare.svg").plot("rms", 0), figure.plot("rms", 0)
    down = 5.4 * 72 / 25.4
    assert (after.y.start - before.y.start, after.y.end - before.y.end) == pytest.approx((down, down), abs=1e-3)
    assert (after.x.start, after.x.end) == (before.x.start, before.x.end)
    assert len(after.named("rows").marks) == len(before.named("rows").marks)


def test_a_titled_page_is_as_high_as_it_was_asked_for(command, runs, tmp_path):
    said = drawn(command, tmp_path / "a.svg", runs["softmax"], "rms", "--head", "L1.H2", "--title", "T", "--height", "60mm")
    assert said["height_mm"] == 60
    slides = [drawn(command, tmp_path / f"{len(more)}.svg", runs["softmax"], "rms", "--head", "L1.H2", "--theme", "slides", *more)["height_mm"]
              for more in ([], ["--title", "T"])]
    assert slides[1] - slides[0] == pytest.approx(2 * 5.4)
    text = drawn(command, tmp_path / "b.svg", runs["softmax"], "tokens", "--head", "L1.H2")["height_mm"]
    assert drawn(command, tmp_path / "c.svg", runs["softmax"], "tokens", "--head", "L1.H2", "--title", "T")["height_mm"] == pytest.approx(text + 5.4, abs=0.11)
    refused(command("figure", runs["softmax"], "rms", "--head", "L1.H2", "--title", "w" * 60, "-o", tmp_path / "x.svg"), 2, "too narrow")


def test_a_composed_figure_has_a_title_of_its_own_or_the_command_s(command, runs, tmp_path):
    (tmp_path / "both.json").write_text(json.dumps({"run": str(runs["softmax"]), "title": "Of the file", "rows": [
        {"height": "40mm", "panels": [{"kind": "rms", "head": "L1.H2"}, {"kind": "atlas"}]}]}))
    heights = set()
    for more, title in (([], "Of the file"), (["--title", "Said"], "Said")):
        heights.add(drawn(command, tmp_path / f"{title}.svg", tmp_path / "both.json", *more)["height_mm"])
        assert Figure(tmp_path / f"{title}.svg").texts[0][0] == title
    assert len(heights) == 1


# --- fonts


def test_a_family_that_is_installed_is_the_font_of_every_text(command, runs, tmp_path):
    plain = drawn(command, tmp_path / "plain.pdf", runs["softmax"], "rms", "--head", "L1.H2")
    assert {font.split("-")[0] for font in fonts_of(tmp_path / "plain.pdf")} == {"Inter"}
    said = drawn(command, tmp_path / "other.pdf", runs["softmax"], "rms", "--head", "L1.H2", "--font", "DejaVu Sans")
    assert {font.split("-")[0] for font in fonts_of(tmp_path / "other.pdf")} == {"DejaVuSans"}
    assert not [file for file in said["font_files"] if "nter" in pathlib.Path(file["path"]).name[:6]] or said["font_files"] != plain["font_files"]
    for file in said["font_files"]:
        assert hashlib.sha256(pathlib.Path(file["path"]).read_bytes()).hexdigest() == file["sha256"]
    pages = [subprocess.run(["pdftotext", tmp_path / f"{name}.pdf", "-"], capture_output=True, text=True, check=True).stdout for name in ("plain", "other")]
    assert sorted(pages[0].split()) == sorted(pages[1].split())


def test_a_font_file_is_named_without_its_folder_and_found_again(command, runs, tmp_path):
    folder = tmp_path / "away"
    folder.mkdir()
    for file in (SERIF, runs["softmax"]):
        shutil.copy(file, folder)
    for form in (["--font", folder / SERIF.name], [f"--font={folder / SERIF.name}"]):
        path = folder / f"figure{len(form)}.pdf"
        keys = drawn(command, path, folder / runs["softmax"].name, "rms", "--head", "L1.H2", *form)["keys"]
        assert fonts_of(path) == {"DejaVuSerif"}
        assert str(folder) not in keys["command"] and SERIF.name in keys["command"]
        outcome = command("figure", "--from", path, "-o", folder / f"again{len(form)}.pdf")
        assert outcome.code == 0, outcome
        assert (folder / f"again{len(form)}.pdf").read_bytes() == path.read_bytes()


def test_a_font_that_is_not_there_is_refused_never_replaced(command, runs, tmp_path):
    def asked(font):
        return command("figure", runs["softmax"], "rms", "--head", "L1.H2", "--font", font, "-o", tmp_path / "x.pdf")

    refused(asked("No Such Family"), 2, 'font family "No Such Family": not installed', "fc-list : family")
    refused(asked(tmp_path / "missing.ttf"), 5, "the font file cannot be read", "missing.ttf")
    (tmp_path / "torn.otf").write_bytes(b"OTTO" + bytes(60))
    refused(asked(tmp_path / "torn.otf"), 3, "no font with outlines", "torn.otf")
    assert not (tmp_path / "x.pdf").exists()


# --- text as text


@pytest.fixture(scope="module")
def both(command, runs, tmp_path_factory):
    """The same figure, its texts as outlines and as text: with Greek, indices, arrows and what Inter lacks."""
    folder = tmp_path_factory.mktemp("texts")
    for name, more in (("outlines", []), ("fonts", ["--svg-text", "fonts"])):
        drawn(command, folder / f"{name}.svg", runs["diff_v2"], "lambda-text", "--title", "λ ⟂ Ⅻ ⅗ ∮", "--head", "L1.H2", *more)
    return folder


def test_texts_are_the_same_words_at_the_same_places(both):
    assert subprocess.run(["xmllint", "--noout", both / "fonts.svg"]).returncode == 0
    outlines, texts = (xml.parse(both / f"{name}.svg").getroot() for name in ("outlines", "fonts"))
    drawn_words = [(e.get("aria-label"), e.get("transform"), e.get("fill"), e.get("data-size")) for e in outlines.iter(SVG + "path") if e.get("aria-label")]
    words = [("".join(e.itertext()), e.get("transform"), e.get("fill"), e.get("data-size")) for e in texts.iter(SVG + "text")]
    assert words == drawn_words and len(words) > 30
    assert not [e for e in texts.iter(SVG + "path") if e.get("aria-label")]
    assert (both / "fonts.svg").read_text().count("<image") == (both / "outlines.svg").read_text().count("<image")


def plain_name(font):
    """A weight is part of the family or of the style, as the tables that are kept say it."""
    return " ".join(font.getname()).removesuffix(" Regular")


def test_fonts_in_the_file_have_the_characters_and_widths_of_the_fonts(both):
    root = xml.parse(both / "fonts.svg").getroot()
    style = root.find(SVG + "style").text
    fonts = {name: base64.b64decode(data) for name, data in re.findall(r'font-family:"([^"]+)";src:url\(data:font/sfnt;base64,([^)]+)\)', style)}
    installed = [PIL.ImageFont.truetype(str(path), 1000) for ending in ("otf", "ttf") for path in pathlib.Path("/usr/share/fonts").rglob(f"*.{ending}")]
    used, checked = {}, 0
    for text in root.iter(SVG + "text"):
        for span in text:
            used.setdefault(span.get("font-family"), []).append((span.text, float(text.get("font-size")), span))
    assert set(used) == set(fonts) and len(fonts) >= 3  # upright, italic, what Inter lacks
    assert sum(map(len, fonts.values())) < 60_000, {name: len(data) for name, data in fonts.items()}
    for name, spans in used.items():
        font = PIL.ImageFont.truetype(io.BytesIO(fonts[name]), 1000)
        whole = next(one for one in installed if plain_name(one) == plain_name(font))
        for words, _, _ in spans:
            assert font.getlength(words) == whole.getlength(words) > 0, (name, words)
            for c in words:  # a missing one would be a box; without hints an edge may lie a thousandth elsewhere
                assert font.getbbox(c) == pytest.approx(whole.getbbox(c), abs=2), (name, c)
            checked += 1
    assert checked > 30
    # Spans of one text go on where the one before ends, but for kerning.
    for text in root.iter(SVG + "text"):
        places = [float(span.get("x")) for span in text]
        assert places == sorted(places) and places[0] == 0


def test_text_from_right_to_left_and_characters_without_a_font_stay_outlines(command, tmp_path, runs):
    drawn(command, tmp_path / "a.svg", runs["softmax"], "rms", "--head", "L1.H2", "--title", "שלום abc", "--svg-text", "fonts")
    root = xml.parse(tmp_path / "a.svg").getroot()
    assert [e.get("aria-label") for e in root.iter(SVG + "path") if e.get("aria-label")] == ["שלום abc"]
    assert len(list(root.iter(SVG + "text"))) > 5


def test_text_as_text_is_the_same_file_every_time(command, both, runs, tmp_path):
    drawn(command, tmp_path / "fonts.svg", runs["diff_v2"], "lambda-text", "--title", "λ ⟂ Ⅻ ⅗ ∮", "--head", "L1.H2", "--svg-text", "fonts")
    assert (tmp_path / "fonts.svg").read_bytes() == (both / "fonts.svg").read_bytes()
