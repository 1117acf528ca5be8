"""Figures and captions in a paper, as an author sets it: pdflatex with what texlive-latex-base has, two columns, captions unchanged."""
import base64
import json
import os
import re
import shutil
import subprocess

import pytest

import shipped_figures as S

TEMPLATE = S.ROOT / "tests" / "fixtures" / "paper" / "paper.tex"
MM = 72 / 25.4  # PDF's points
# In the order of the paper: name, file, arguments, width in mm, what a reader finds in it.
PAPER = {
    "rms": ("premise", ["--head", "L1.H2", "--width", "single"], 84, ["context RMS in units of the values", "visible keys", "uniform attention"]),
    "atlas": ("diff_v2", ["--quantity", "sink_score", "--width", "single"], 84, ["heads of the layer", "sink score", "layer"]),
    "scatter": ("softmax", ["--head", "L1.H2", "--width", "single"], 84, ["8 heads", "L1.H2", "sink score"]),
    "map": ("diff_v2", ["--head", "L1.H2", "--width", "double"], 174, ["first map", "second map", "net map", "key position"]),
    "sinks": ("diff_v2", ["--width", "double", "--height", "52mm"], 174, ["top keys, first map", "16 keys", "L0.H0"]),
    "lambda": ("diff_v1", ["--width", "single", "--height", "42mm"], 84, ["DIFF V1", "0.63", "layer"]),
}
# Each as any author might have it; a package that the machine lacks is left out.
PREAMBLES = {"plain": "\\documentclass{article}\n",
             "usual": "\\documentclass[10pt,twocolumn]{article}\n", "report": "\\documentclass[11pt]{report}\n"}
USUAL = ["amsmath", "amssymb", "graphicx", "xcolor", "natbib", "hyperref"]


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


@pytest.fixture(scope="module", autouse=True)
def latex():
    if not shutil.which("pdflatex"):
        pytest.skip("no pdflatex: the Debian package texlive-latex-base has it")


@pytest.fixture(scope="module")
def runs(command, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    made = S.make_runs(command, folder)
    made["premise"] = folder / "premise.h5"
    outcome = command("analyze", S.BYTES / "softmax", "--ids", S.prompt_of(S.BYTES / "softmax"), "-o", made["premise"], "--device", "cpu", "--premise")
    assert outcome.code == 0, outcome
    return made


@pytest.fixture(scope="module")
def captions(command, runs):
    """{kind: (for LaTeX, for reading)}"""
    made = {}
    for kind in S.FIGURES:
        outcomes = [command(*S.arguments_of(kind, runs), "--caption", form) for form in ("latex", "text")]
        assert all(outcome.code == 0 for outcome in outcomes), outcomes
        made[kind] = outcomes[0].out, outcomes[1].text
    return made


def typeset(source, times=1):
    """The log of the last time. Nothing but TeX and the folder is there."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(source.parent), "TEXMFHOME": str(source.parent / "none"), "max_print_line": "10000"}
    for _ in range(times):
        made = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", source.name], cwd=source.parent,
                              env=environment, capture_output=True, timeout=60)
        log = source.with_suffix(".log").read_text(encoding="utf-8", errors="replace")
        assert made.returncode == 0, "\n".join(line for line in log.splitlines() if line.startswith("!"))[:2000] + log[-2000:]
    assert "Missing character" not in log, re.findall("Missing character.*", log)
    return log


def text_of(pdf, *arguments):
    """Ligatures as letters, words whole."""
    text = subprocess.run(["pdftotext", *arguments, pdf, "-"], capture_output=True, text=True, check=True).stdout
    for ligature, letters in (("ﬀ", "ff"), ("ﬁ", "fi"), ("ﬂ", "fl"), ("ﬃ", "ffi"), ("ﬄ", "ffl")):
        text = text.replace(ligature, letters)
    return re.sub(r"[-‐]\n", "", text)


def missing_words(caption, text):
    """Words of a caption that a text lacks; a low line is no letter in either."""
    words, letters = set(re.findall(r"[A-Za-z]{4,}", caption)), re.sub(r"[^A-Za-z]", "", text)
    assert len(words) > 10, caption
    return [word for word in words if word not in letters]


class Pdf:
    def __init__(self, path):
        shown = subprocess.run(["qpdf", "--json=2", "--json-stream-data=inline", "--decode-level=generalized", path], capture_output=True,
                               check=True).stdout
        whole = json.loads(shown)
        self.objects = {name.removeprefix("obj:"): value for name, value in whole["qpdf"][1].items()}
        self.pages = [self.value(page["object"]) for page in whole["pages"]]

    def value(self, item):
        """What a reference stands for: a value, or the dictionary of a stream."""
        while isinstance(item, str) and re.fullmatch(r"\d+ \d+ R", item):
            found = self.objects[item]
            item = found["value"] if "value" in found else found["stream"]["dict"]
        return item

    def data(self, reference):
        return base64.b64decode(self.objects[reference]["stream"]["data"])

    def content(self, page):
        parts = self.value(page["/Contents"]) if isinstance(self.value(page["/Contents"]), list) else [page["/Contents"]]
        return b"\n".join(map(self.data, parts))

    def placed(self):
        """(page, content of the form, transformation, box) of everything that pages include, in their order."""
        for number, page in enumerate(self.pages):
            forms = self.value(self.value(page["/Resources"]).get("/XObject", {}))
            text = re.sub(rb"\((?:\\.|[^\\()])*\)", b"", self.content(page)).decode("latin-1")
            now, stack, operands = (1, 0, 0, 1, 0, 0), [], []
            for word in re.findall(r"[^\s\[\]<>]+", text):
                if word == "q":
                    stack.append(now)
                elif word == "Q":
                    now = stack.pop()
                elif word == "cm":
                    a, b, c, d, e, f = map(float, operands[-6:])
                    A, B, C, D, E, F = now
                    now = (a * A + b * C, a * B + b * D, c * A + d * C, c * B + d * D, e * A + f * C + E, e * B + f * D + F)
                elif word == "Do":
                    form = forms[operands[-1]]
                    yield number, self.data(form), now, self.value(self.value(form)["/BBox"])
                else:
                    operands.append(word)
                    continue
                operands = []


def draw(command, runs, folder, name):
    run, own, _, _ = PAPER[name]
    outcome = command("figure", runs[run], name, *own, "-o", folder / f"{name}.pdf", "--caption", "latex")
    assert outcome.code == 0 and "warning" not in outcome.errors, outcome
    (folder / f"{name}.caption.tex").write_bytes(outcome.out)


@pytest.fixture(scope="module")
def paper(command, runs, tmp_path_factory):
    """(pdf, log of the second time)."""
    folder = tmp_path_factory.mktemp("paper")
    for name in PAPER:
        draw(command, runs, folder, name)
    source = folder / "paper.tex"
    shutil.copy(TEMPLATE, source)
    return source.with_suffix(".pdf"), typeset(source, times=2)


def test_the_paper_is_set_without_a_complaint(paper):
    _, log = paper
    assert not re.findall("LaTeX Warning.*|Package .* Warning.*", log)
    assert not [line for line in re.findall(r"Overfull \\[hv]box \(([\d.]+)pt", log) if float(line) > 2]
    assert re.search(r"Output written on paper\.pdf \(2 pages", log)


def test_figures_stand_in_it_at_their_size_and_unchanged(paper):
    pdf, _ = paper
    placed = list(Pdf(pdf).placed())
    assert len(placed) == len(PAPER)
    boxes = []
    for name, (_, _, width, _) in PAPER.items():
        figure = Pdf(pdf.parent / f"{name}.pdf")
        content = figure.content(figure.pages[0])
        (number, (a, b, c, d, x, y), box), = [(number, at, box) for number, data, at, box in placed if data == content]
        # TeX's big points are PDF's; it keeps lengths to 1/65536 of its own.
        assert (a, d) == pytest.approx((1, 1), abs=1e-4) and (b, c) == (0, 0), name
        assert (box[2] - box[0]) / MM == pytest.approx(width, abs=0.01), name
        boxes.append((number, x, y, x + box[2] - box[0], y + box[3] - box[1]))
    # On the paper, in the text's width, and none over another.
    for i, (number, *box) in enumerate(boxes):
        assert 18 * MM - 1 < box[0] and box[2] < 192 * MM + 1 and 0 < box[1] and box[3] < 297 * MM
        assert all(number != other or box[2] < x0 or x1 < box[0] or box[3] < y0 or y1 < box[1] for other, x0, y0, x1, y1 in boxes[:i])


def test_letters_of_figures_and_captions_are_letters(command, runs, paper):
    """Embedded, none as pictures, found by who searches for them."""
    pdf, _ = paper
    fonts = subprocess.run(["pdffonts", pdf], capture_output=True, text=True, check=True).stdout.splitlines()[2:]
    assert any("Inter" in font for font in fonts) and any("CMMI" in font for font in fonts)
    for font in fonts:
        assert "Type 3" not in font and re.search(r"\b(?:Type 1|Type 1C|CID Type 0C|TrueType|CID TrueType)\b.*\byes yes (?:yes|no)\b", font), font
    subprocess.run(["qpdf", "--check", pdf], capture_output=True, check=True)
    whole = text_of(pdf)
    assert not [letter for letter in "αρλεΣ" if letter not in whole]
    content = {name: Pdf(pdf.parent / f"{name}.pdf") for name in PAPER}
    for number, data, (_, _, _, _, x, y), box in Pdf(pdf).placed():
        name, = [name for name, figure in content.items() if figure.content(figure.pages[0]) == data]
        run, own, _, labels = PAPER[name]
        top = 297 * MM - y - (box[3] - box[1])
        inside = text_of(pdf, "-f", str(number + 1), "-l", str(number + 1), "-x", str(round(x)), "-y", str(round(top)), "-W", str(round(box[2])), "-H",
                         str(round(box[3])), "-layout")
        for label in labels:
            assert label in re.sub(r"\s+", " ", inside), (name, label, inside)
        caption = command("figure", runs[run], name, *own, "--caption", "text").text
        assert not missing_words(caption, whole), name


@pytest.mark.parametrize("preamble", PREAMBLES)
def test_captions_of_every_kind_compile(captions, tmp_path, preamble):
    """With no package at all, and with those that most papers load."""
    packages = [name for name in USUAL if subprocess.run(["kpsewhich", f"{name}.sty"], capture_output=True).returncode == 0]
    text = PREAMBLES[preamble] + ("" if preamble == "plain" else "".join(f"\\usepackage{{{name}}}\n" for name in packages))
    text += "\\begin{document}\n"
    for kind, (caption, _) in captions.items():
        (tmp_path / f"{kind}.tex").write_bytes(caption)
        text += f"\\begin{{figure}}\\input{{{kind}}}\\label{{{kind}}}\\end{{figure}}\\clearpage\n"
    (tmp_path / "all.tex").write_text(text + "\\listoffigures\n\\end{document}\n")
    log = typeset(tmp_path / "all.tex", times=2).partition("all.lof")[0]  # whose lines are too long for any class
    assert not [width for width in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log) if float(width) > 8], log
    fonts = subprocess.run(["pdffonts", tmp_path / "all.pdf"], capture_output=True, text=True, check=True).stdout
    assert "Type 3" not in fonts
    found = text_of(tmp_path / "all.pdf")
    for kind, (_, plain) in captions.items():
        assert not missing_words(plain, found), kind


def test_captions_of_odd_names_compile(command, tmp_path):
    """What TeX and our own markup would take for more than a name; a line break in a file's name stays in the comment."""
    name = "m_1%c&d#e$f{g}~h^i*j*_{k}√{l}<m>|n|--o"
    shutil.copytree(S.DEMO / "trigger_bos" / "softmax", tmp_path / name, ignore=shutil.ignore_patterns("training.h5"))
    run = tmp_path / "a\n\\input{nothing}\r#%.h5"
    outcome = command("analyze", tmp_path / name, "--ids", S.prompt_of(S.DEMO / "trigger_bos" / "softmax"), "-o", run, "--device", "cpu", "--what-if",
                      "L0.H0:temperature=2")
    assert outcome.code == 0, outcome
    plain = command("figure", run, "rms", "--caption", "text").text
    assert name in plain and "L0.H0:temperature=2" in plain
    caption = command("figure", run, "rms", "--caption", "latex")
    *comments, last = caption.text.rstrip("\n").split("\n")
    assert comments and all(line.startswith("% ") for line in comments) and last.startswith("\\caption{"), caption
    (tmp_path / "caption.tex").write_bytes(caption.out)
    (tmp_path / "odd.tex").write_text("\\documentclass{article}\\pdfpagewidth=200cm \\textwidth=190cm"  # no line ends in the name
                                     "\\begin{document}\\begin{figure}\\input{caption}\\end{figure}\\end{document}\n")
    typeset(tmp_path / "odd.tex")
    found = re.sub(r"\s", "", text_of(tmp_path / "odd.pdf", "-raw"))
    for part in ("m1%c&d#e$f{g}", "L0.H0:temperature=2", "<m>", "--o"):
        assert part in found.replace("_", ""), (part, found)


def test_a_bos_that_was_given_with_the_ids_is_one(command, runs):
    """The models of bytes begin with theirs, those of a training without one do not."""
    assert "no BOS" not in command("figure", runs["softmax"], "rms", "--head", "L1.H2", "--caption", "text").text
    model = S.DEMO / "trigger_no_bos" / "softmax"
    run = runs["softmax"].parent / "without.h5"
    assert command("analyze", model, "--ids", S.prompt_of(model), "-o", run, "--device", "cpu").code == 0
    assert "no BOS" in command("figure", run, "rms", "--caption", "text").text
