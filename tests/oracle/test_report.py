"""headroom report: one page that needs nothing else, whose figures, maps and tables are those of the run files."""
import base64
import html.parser
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree

import h5py
import numpy as np
import pytest

import checkpoints as C
from command import refused

TEXT = "Mind the gap </script><b>bold</b> & so on. " * 8  # what a page could stumble over
IDS = ",".join(str(i * 7 % 53) for i in range(150))


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


class Page(html.parser.HTMLParser):
    """What a browser would find: pictures with their captions, tables, the JSON of scripts, links, text."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.pictures, self.tables, self.json, self.links, self.text, self.tags = [], [], [], [], "", []
        self._script, self._cell, self._data, self._caption = None, None, "", False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.tags.append(tag)
        self.links += [value for name, value in attributes if name in ("src", "href", "action", "data")]
        if tag == "img":
            self.pictures.append({"src": a["src"], "alt": a["alt"], "caption": ""})
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self._cell = True
        if tag == "figcaption":
            self._caption = True
        if tag == "script":
            self._script, self._data = a.get("type", "code"), ""

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self._cell = None
        if tag == "figcaption":
            self._caption = False
        if tag == "script":
            if self._script == "application/json":
                self.json.append(json.loads(self._data))
            self._script = None

    def handle_data(self, data):
        if self._script:
            self._data += data
            return
        self.text += data
        if self._cell:
            self.tables[-1][-1][-1] += data
        if self._caption:
            self.pictures[-1]["caption"] += data


@pytest.fixture(scope="module")
def runs(tmp_path_factory, command):
    folder = tmp_path_factory.mktemp("runs")
    made = {}
    for number, kind in enumerate(("softmax", "diff_v2", "gated")):
        C.headroom(folder / kind, C.headroom_config(kind), 5 + number)
        made[kind] = folder / f"{kind}.h5"
        outcome = command("analyze", folder / kind, "--ids", IDS, "-o", made[kind], "--device", "cpu", "--maps", "16", "--components",
                          "--premise")
        assert outcome.code == 0, outcome
    made["other"] = folder / "other.h5"
    outcome = command("analyze", folder / "softmax", "--ids", IDS, "-o", made["other"], "--device", "cpu", "--what-if", "normalizer=softmax_one")
    assert outcome.code == 0, outcome
    return made


@pytest.fixture(scope="module")
def written():
    return {}


@pytest.fixture
def report(command, tmp_path, written):
    """(file, what --json says) of the report with these arguments, each written once."""
    def call(*arguments, ending="html", again=False):
        if (arguments, ending) in written and not again:
            return written[arguments, ending]
        path = tmp_path / f"report.{ending}"
        outcome = command("report", *arguments, "-o", path, "--force", "--json")
        assert outcome.code == 0 and not outcome.json["warnings"], outcome
        assert outcome.json["bytes"] == path.stat().st_size < 5_000_000
        written[arguments, ending] = path, outcome.json
        return path, outcome.json

    return call


def test_a_page_needs_nothing_else(runs, report):
    path, said = report(runs["diff_v2"], "--head", "L0.H1")
    page = Page(path.read_text())
    assert all(link.startswith(("data:", "#")) for link in page.links)
    assert "@import" not in path.read_text() and "url(" not in path.read_text()
    # Every chapter of the contents is there.
    targets = [link[1:] for link in page.links if link.startswith("#")]
    assert targets and all(f" id={target}>" in path.read_text() for target in targets)
    assert said["figures"] == ["atlas", "sinks", "rms-layers", "rms", "decomposition", "scatter", "logits", "lambda", "grid", "map", "tokens"]
    assert len(page.pictures) == len(said["figures"])


@pytest.mark.parametrize("kind", ["softmax", "diff_v2"])
def test_figures_are_what_their_commands_draw(runs, report, command, tmp_path, kind):
    path, _ = report(runs[kind], "--head", "L0.H1")
    compared = 0
    for picture in Page(path.read_text()).pictures:
        media, data = re.fullmatch(r"data:image/(svg\+xml|png);base64,(.*)", picture["src"]).groups()
        words = re.search(r"headroom (figure .*)$", picture["caption"]).group(1).split()
        shutil.copy(runs[kind], tmp_path / runs[kind].name)
        ending = "svg" if media == "svg+xml" else "png"
        own = tmp_path / f"own.{ending}"
        outcome = command(*[str(tmp_path / w) if w == runs[kind].name else w for w in words], "-o", own, "--force",
                          *(["--dpi", "200"] if ending == "png" else []))
        assert outcome.code == 0, outcome
        drawn = base64.b64decode(data)
        assert drawn == own.read_bytes(), words
        if ending == "svg":
            xml.etree.ElementTree.fromstring(drawn)
        # The caption is the figure's, and a reader who cannot see the picture hears it.
        caption = command("figure", runs[kind], *words[2:], "--caption", "text").text.strip()
        assert picture["alt"] == caption
        compared += 1
    assert compared >= 9


@pytest.mark.parametrize("kind", ["softmax", "diff_v2"])
def test_maps_hold_the_numbers_of_the_file(runs, report, kind):
    path, _ = report(runs[kind], "--head", "L0.H1")
    (maps,) = Page(path.read_text()).json
    n, k = maps["length"], maps["cells"]
    assert n == 150 and maps["cell"] == 10 and k == 15 and len(maps["tokens"]) in (0, n)
    assert len(maps["colours"]) == len(maps["signed"]) == 6 * 256
    heads = 0
    with h5py.File(runs[kind]) as file:
        for one in maps["heads"]:
            l, h = map(int, re.fullmatch(r"L(\d+)\.H(\d+)", one["head"]).groups())
            codes = np.frombuffer(base64.b64decode(one["codes"]), "<u2").reshape(k, k).astype(int)
            size = 10 ** (((codes & 0x7FFF) - 1) / 32765 * 12 - 12)
            values = np.where(codes == 0xFFFF, np.nan, np.where(codes == 0, 0, np.where(codes & 0x8000, -size, size)))
            wanted = file["maps/pooled_signed_extreme" if one["signed"] else "maps/pooled_max_abs"][l, h].astype(float)
            assert (np.isnan(values) == np.isnan(wanted)).all()
            there = ~np.isnan(wanted) & (np.abs(wanted) > 1e-11)
            assert np.allclose(values[there], wanted[there], rtol=5e-4, atol=0), one["head"]
            assert one["signed"] == (kind == "diff_v2")
            heads += 1
    assert heads == 8
    # The head that was asked for is the one that is shown first.
    assert re.findall(r"<option value=(\d+) selected>(L\d+\.H\d+)<", path.read_text()) == [("1", "L0.H1")]


def test_tables_are_the_heads_of_the_run(runs, report, command):
    path, _ = report(runs["softmax"], "--head", "L0.H1")
    page = Page(path.read_text())
    heads = next(table for table in page.tables if table[0][:2] == ["head", "kind"])
    listed = command("table", runs["softmax"], "--json").json["rows"]
    assert [row[0] for row in heads[1:]] == [f"L{row['layer']}.H{row['head']}" for row in sorted(listed, key=lambda r: -r["sink_score"])]
    column = heads[0].index("max logit")
    by_name = {f"L{row['layer']}.H{row['head']}": row for row in listed}
    for row in heads[1:]:
        assert float(row[column].replace("−", "-")) == pytest.approx(by_name[row[0]]["logit_max"], abs=0.051)
    premise = next(table for table in page.tables if table[0][1:3] == ["heads", "of all"])
    assert sum(int(row[1]) for row in premise[1:]) == 8
    with h5py.File(runs["softmax"]) as file:
        two_sided = np.minimum(1, 2 * file["sign_p"][:, :, 0].min(axis=-1)).ravel()
    # Benjamini and Hochberg: the largest k with p_(k) ≤ .05 k/m.
    order = np.sort(two_sided)
    rejected = max([k + 1 for k, p in enumerate(order) if p <= 0.05 * (k + 1) / len(order)], default=0)
    kept = sum(int(row[1]) for row in premise[1:] if row[0] == "premise not refuted")
    assert kept == len(two_sided) - rejected
    facts = dict(row for table in page.tables for row in table if len(row) == 2)
    with h5py.File(runs["softmax"]) as file:
        assert facts["text, SHA-256"] == file.attrs["prompt_sha256"] and facts["run file"] == "softmax.h5"
    assert "none leaves the bounds" in page.text


def test_a_file_with_a_fault_says_so(runs, report, tmp_path):
    shutil.copy(runs["softmax"], tmp_path / "bad.h5")
    with h5py.File(tmp_path / "bad.h5", "r+") as file:
        file["rows/weight_l2"][1, 2, 100] = 1.5
        file["rows/weight_sum"][0, 1, 50] = 0.9
    text = Page(report(tmp_path / "bad.h5")[0].read_text()).text
    assert "1 leaves the bounds" in text and "within 0.1" in text and "a fault of the program or of the file" in text


def test_several_runs_stand_beside_each_other(runs, report):
    path, said = report(runs["softmax"], runs["other"], "--title", "Two <runs>")
    page = Page(path.read_text())
    assert said["title"] == "Two <runs>" and "Two <runs>" in page.text
    assert said["figures"][0] == "compare" and said["figures"].count("atlas") == 2
    beside = page.tables[0]
    assert beside[0] == ["median over heads (quartiles)", "softmax.h5", "other.h5"]
    with h5py.File(runs["softmax"]) as a, h5py.File(runs["other"]) as b:
        row = next(row for row in beside if row[0].startswith("sink score"))
        for cell, file in zip(row[1:], (a, b)):
            lower, median, upper = np.quantile(file["sink_score"][:, :, 0].astype(float), [0.25, 0.5, 0.75])
            assert cell == f"{median:.3f} ({lower:.3f} to {upper:.3f})"
    # Of the second run no maps were kept.
    assert len(page.json) == 1 and "No maps are in the file" in page.text


def test_texts_cannot_break_the_page(report, command, tmp_path, demo_gguf):
    (tmp_path / "prompt.txt").write_text(TEXT)
    outcome = command("analyze", demo_gguf, "--text-file", tmp_path / "prompt.txt", "-o", tmp_path / "run.h5", "--layers", "0", "--maps", "32")
    assert outcome.code == 0, outcome
    page = Page(report(tmp_path / "run.h5")[0].read_text())
    assert "</script><b>bold</b> & so on" in page.text and page.tags.count("script") == 2
    (maps,) = page.json
    assert "script" in "".join(maps["tokens"])


def test_the_same_bytes_from_the_same_file(runs, report, tmp_path):
    for ending in ("html", "pdf"):
        first = report(runs["gated"], ending=ending)[0].read_bytes()
        assert report(runs["gated"], ending=ending, again=True)[0].read_bytes() == first


def test_paper_has_fonts_pages_and_captions(runs, report):
    path, said = report(runs["diff_v2"], "--head", "L0.H1", ending="pdf")
    subprocess.run(["qpdf", "--check", path], capture_output=True, check=True)
    fonts = subprocess.run(["pdffonts", path], capture_output=True, text=True, check=True).stdout.splitlines()[2:]
    assert fonts and all(re.search(r"yes yes (yes|no)", line) and "Type 3" not in line for line in fonts), fonts
    info = subprocess.run(["pdfinfo", path], capture_output=True, text=True, check=True).stdout
    assert "A4" in info and int(re.search(r"Pages:\s+(\d+)", info).group(1)) >= 4
    pages = subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, text=True, check=True).stdout.split("\f")
    text = "\n".join(pages)
    for words in ("The premise of the interval", "Attention sinks, head by head", "what may be written under the interval", "Not shown" if "lambda" not in said["figures"] else "λ"):
        assert words in text, words
    # No heading stands alone at the foot of a page.
    titles = ("Attention sinks, head by head", "Where the attention goes", "Logits", "Heads", "Context RMS, token by token")
    for page in pages:
        lines = [line.strip() for line in page.splitlines() if line.strip() and not re.fullmatch(r"\s*\d+ of \d+\s*", line)]
        assert not lines or lines[-1] not in titles, lines[-3:]


def test_what_cannot_be_is_refused(runs, command, tmp_path):
    refused(command("report", runs["softmax"], "-o", tmp_path / "report.txt"), 2, ".html or .pdf", "report.txt")
    refused(command("report", runs["softmax"], "--head", "L9.H0", "-o", tmp_path / "report.html"), 2, "L9.H0", "layers 0")
    refused(command("report", runs["softmax"], "--head", "nine", "-o", tmp_path / "report.html"), 2, "L17.H4", "nine")
    refused(command("report", tmp_path / "none.h5", "-o", tmp_path / "report.html"), 5, "none.h5")
    (tmp_path / "there.html").write_text("mine")
    refused(command("report", runs["softmax"], "-o", tmp_path / "there.html"), 2, "there.html", "--force")
    assert (tmp_path / "there.html").read_text() == "mine"
    demo = C.__file__
    refused(command("report", demo, "-o", tmp_path / "report.html"), 3, "checkpoints.py")
    assert not (tmp_path / "report.html").exists()
