"""Numbers that figures cannot be drawn with, and captions that say of which files a figure is."""
import hashlib
import re

import pytest

from command import refused
from test_figures import KINDS, kind_of, runs  # noqa: F401 – a fixture


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


def drawing(path):
    """What a figure shows, without what names the file and the command."""
    return re.sub("(?s)<metadata>.*?</metadata>|<title.*?</title>", "", path.read_text())


RHO = "context_rms_relative_mean"


@pytest.mark.parametrize("arguments", [
    ["atlas", "--range=-1,1"], ["atlas", "--range=auto,0"], ["scatter", "--quantity", f"sink_score,{RHO}", "--range=-1,1"],
    ["tokens", "--quantity", "weight_max", "--range=0,1"], ["compare", "--range=0,1"],
], ids=" ".join)
def test_a_logarithmic_scale_has_no_place_for_0(command, runs, tmp_path, arguments):
    own = KINDS["compare"][1] if arguments[0] == "compare" else []
    refused(command("figure", runs["softmax"], *arguments, *own, "--scale", "log", "-o", tmp_path / "out.pdf"), 2, "--range", "ends above 0")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [
    ["atlas", "--quantity", RHO, "--range=-1,1"], ["atlas", "--quantity", f"sink_score,{RHO}", "--range=0,1"],
    ["scatter", "--quantity", f"sink_score,logit_abs_max,{RHO}", "--range=0,1"], ["map", "--range=0,0.5"], ["map", "--range=-1,auto"],
    ["grid", "--range=0,1"], ["tokens", "--range=0,1"],
], ids=" ".join)
def test_a_range_that_begins_at_0_is_linear_where_no_scale_is_asked_for(command, runs, tmp_path, arguments):
    for more, name in (([], "own"), (["--scale", "linear"], "linear")):
        assert command("figure", runs["softmax"], *arguments, *more, "-o", tmp_path / f"{name}.svg").code == 0
    own, linear = (drawing(tmp_path / f"{name}.svg") for name in ("own", "linear"))
    assert own == linear


@pytest.mark.parametrize(("arguments", "words"), [
    *[(["atlas", f"--epsilon={value}"], ["--epsilon", "0 to 1", value]) for value in ("nan", "inf", "-1", "1.5", "1e+300")],
    (["atlas", "--range", "0,1e+308"], ["--range", "1e-30 to 1e30"]),
    (["atlas", "--quantity", RHO, "--range", "1e-60,1"], ["--range", "1e-30 to 1e30"]),
    (["atlas", "--range", "nan,1"], ["--range", "LO,HI"]),
    (["atlas", "--range=auto,-3"], ["--range auto,-3", "beyond the other one"]),
    (["map", "--range=auto,1e-5"], ["beyond the other one"]),
    (["atlas", "--dpi", "nan"], ["--dpi"]),
    (["atlas", "--text-size", "nan"], ["--text-size"]),
    (["atlas", "--width", "infmm"], ["infmm"]),
    (["atlas", "--height=-5mm"], ["-5mm"]),
    (["sinks", "--top", "nan"], ["--top"]),
    (["sinks", "--top", "0"], ["--top"]),
    (["map", "--cell", "-5,3"], ["--cell"]),
    (["map", "--cell", "99999999999999999999,3"], ["--cell"]),
], ids=lambda value: " ".join(value))
def test_numbers_that_no_figure_has(command, runs, tmp_path, arguments, words):
    refused(command("figure", runs["softmax"], *arguments, "-o", tmp_path / "out.pdf"), 2, *words)
    assert not list(tmp_path.iterdir())


def test_a_head_that_is_named_twice_is_drawn_once(command, runs, tmp_path):
    twice = command("figure", runs["softmax"], "rms", "--head", "L1.H2,L0.H1,L1.H2", "-o", tmp_path / "a.svg", "--json")
    once = command("figure", runs["softmax"], "rms", "--head", "L1.H2,L0.H1", "-o", tmp_path / "b.svg", "--json")
    assert [panel["name"] for panel in twice.json["panels"]] == [panel["name"] for panel in once.json["panels"]] and len(once.json["panels"]) == 2
    assert "L1.H2 is named more than once and drawn once" in twice.json["notes"] and not once.json["notes"]


# --- captions


@pytest.mark.parametrize("name", [name for name in KINDS if "_" not in name])
def test_captions_say_of_which_file(command, runs, name):
    run, own = KINDS[name]
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest()[:12] for path in (runs[run], *[runs["softmax_one"]] * (name == "compare"))]
    for form in ("text", "latex"):
        outcome = command("figure", runs[run], kind_of(name), *own, "--caption", form)
        assert outcome.code == 0, outcome
        caption = outcome.text[outcome.text.index("\\caption{") if form == "latex" else 0:]
        for digits in hashes:
            assert f"headroom 0.1.0, run {digits}" in caption and caption.count(digits) == 1, caption


def test_captions_of_several_files_name_the_first_ones(command, runs):
    files = [runs["softmax"], runs["gated"]]
    caption = command("figure", *files, "rms", "--head", "L1.H2", "--caption", "text").text
    for file in files:
        assert hashlib.sha256(file.read_bytes()).hexdigest()[:12] in caption
