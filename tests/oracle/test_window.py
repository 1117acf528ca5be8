"""The window as a person drives it, by scripts: every command, every state, pictures as they were, refusals.

HEADROOM_WRITE_BASELINES=1 keeps the pictures as new baselines; HEADROOM_LONG_PROMPT=131072 makes the long prompt that long."""
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess

import numpy as np
import PIL.Image
import pytest
from safetensors.torch import load_file, save_file

import checkpoints
import window as W
from command import Command

DEMO = W.ROOT / "assets" / "demo"
NEED_LANGUAGE_MODEL = {"smollm2", "running", "edges", "maps", "memory", "sweep", "tokens"}
SCRIPTS = sorted(path.stem for path in W.SCRIPTS.glob("*.script"))
# What a script's own language adds to the commands.
SCRIPT_WORDS = {"wait", "expect", "sleep", "until"}
HANDS = {"click", "drag", "wheel", "key"}
# What no line after it can ask for: the end; a picture, which test_script looks at.
WITHOUT_EXPECTATION = {"quit"}
# Of checkpoints that these files write; their scripts stand there.
ELSEWHERE = {"target": "test_window_encoder_decoders.py", "target-ids": "test_window_encoder_decoders.py", "tokens.show": "test_window_models.py",
             "copy.path": "../app/panels/save_overlay_test.cpp", "toast.close": "../app/session/saving_test.cpp",
             "save.folder": "../app/session/saving_test.cpp", "session.last": "test_hands.py", "prompt.browse": "../app/panels/prompt_overlay_test.cpp",
             "corpus.stop": "../app/session/corpora_test.cpp", "corpus.go-on": "../app/session/corpora_test.cpp",
             "corpus.merge": "../app/session/corpora_test.cpp"}

# (x0, y0, x1, y1): how long a run took and the time left, in the tool bar; memory in use, in the status bar.
RUN_TIME, MEMORY = (560, 28, 1440, 69), (900, 872, 1440, 900)
WITHOUT_RUN_TIME = {"start.png", "start_light.png", "changed.png", "settings.png", "palette.png", "keys.png"}
MASKS = {
    "about.png": [(300, 100, 1140, 800)],  # versions of the libraries
    "log.png": [(200, 60, 1240, 840)],     # local time, memory and seconds
    "log_empty.png": [(200, 60, 1240, 840)],
    "log_of_errors.png": [(200, 60, 1240, 840)],
    "files.png": [(200, 60, 1240, 840)],   # dates of files
    "start_large.png": [(0, 850, 1440, 900)],
    "out_of_budget.png": [(320, 345, 1090, 620)],  # threads and free memory of the machine
    "prompt_over_budget.png": [(190, 712, 940, 760)],  # memory of the machine
    "prompt.png": [(190, 712, 940, 760)],
    "importance_begin.png": [(310, 200, 910, 250)],  # how long the sweep would take
    "long.png": [(0, 832, 1440, 864)],  # a line of nothing but digits, as wide as the font's version makes them
    "long_cells.png": [(0, 832, 1440, 864)],
}
# "Ready in 0.2 s" of the start page.
for name in ("start.png", "start_light.png", "palette.png", "keys.png", "settings.png", "about.png", "log_empty.png", "files.png"):
    MASKS.setdefault(name, []).append((0, 872, 400, 900))
# They show how far a run or an opening has come: looked at by their facts alone.
MOVING = {"run_begins.png", "running.png", "cancelled.png", "opening.png", "changing_before.png", "sweep.png"}


@pytest.fixture(scope="module")
def window(program, display, tmp_path_factory, request):
    try:
        demo = request.getfixturevalue("demo_gguf")
    except pytest.skip.Exception:
        demo = None
    return W.Window(program, display, tmp_path_factory.mktemp("window"), demo)


def save_damaged(folder):
    """A checkpoint whose tensors end before their header says."""
    shutil.copytree(DEMO / "backcopy" / "softmax", folder, ignore=shutil.ignore_patterns("step_*"))
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-4096])


def save_wide(folder, tensors=500_000):
    """A safetensors file of very many tensors: its header takes a while."""
    folder.mkdir()
    header = {f"unused.{i:06d}.weight": {"dtype": "F32", "shape": [1], "data_offsets": [4 * i, 4 * i + 4]} for i in range(tensors)}
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bytes(4 * tensors))
    shutil.copy(DEMO / "backcopy" / "softmax" / "config.json", folder)


def save_long(folder, tokens):
    """One layer, two heads of 16 channels, as many tokens as asked for."""
    config = checkpoints.headroom_config("softmax", vocab_size=64, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1,
                                         head_dim=16, hidden_size=16, intermediate_size=0, max_position_embeddings=tokens,
                                         tie_word_embeddings=True)
    checkpoints.headroom(folder, config, seed=5)
    ids = np.random.default_rng(5).integers(0, 64, tokens)
    (folder / "prompt_ids.txt").write_text(",".join(map(str, ids)))


def save_not_finite(folder):
    """A checkpoint whose second layer has a key projection with a value that is no number."""
    shutil.copytree(DEMO / "bytes" / "softmax", folder, ignore=shutil.ignore_patterns("step_*"))
    path = folder / "model.safetensors"
    weights = load_file(path)
    weights["model.layers.1.self_attn.k_proj.weight"][3, 5] = float("nan")
    save_file(weights, path, metadata={"format": "pt"})


def write_again(folder):
    path = folder / "model.safetensors"
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content)


def save_corpora(window):
    """A corpus, the same with one head changed, and one of several checkpoints."""
    made, bytes_model = window.made, DEMO / "bytes" / "diff_v2"

    def headroom(*arguments):
        result = subprocess.run([window.program, *map(str, arguments)], capture_output=True, text=True, timeout=300)
        assert result.returncode == 0, result.stderr

    cut = ["--data", W.ROOT / "assets" / "corpora" / "kjv.txt", "--split", "blank", "--length", 48, "--pieces", 2, "--sequences", 24,
           "--order", "natural", "--device", "cpu", "--force"]
    headroom("corpus", bytes_model, *cut, "--curves", "-o", made / "all.h5")
    headroom("corpus", bytes_model, *cut, "--what-if", "L1.H2:lambda=0.2", "-o", made / "changed.h5")
    numbers = np.random.default_rng(3).integers(0, 24, (6, 120))
    (made / "ids.jsonl").write_text("".join(json.dumps({"ids": row.tolist()}) + "\n" for row in numbers))
    trained = DEMO / "backcopy" / "softmax"
    headroom("corpus", trained, "--data", made / "ids.jsonl", "--field", "ids", "--length", 40, "--plan-only", "--force", "-o", made / "plan.h5")
    headroom("series", trained, "--plan", made / "plan.h5", "--device", "cpu", "--force", "-o", made / "series.h5")


def prepare(window, script):
    """What a script needs beside the shipped files; and what happens while it runs."""
    if script == "failed":
        save_damaged(window.made / "damaged")
    if script == "not_finite":
        save_not_finite(window.made / "not_finite")
    if script == "opening":
        save_wide(window.made / "wide")
    if script == "long":
        save_long(window.made / "long", int(os.environ.get("HEADROOM_LONG_PROMPT", "32768")))
    if script == "corpus":
        save_corpora(window)
    if script == "changed":
        shutil.copytree(DEMO / "backcopy" / "diff_v2", window.made / "changing", ignore=shutil.ignore_patterns("step_*"))
        return {"changing_before.png": lambda: write_again(window.made / "changing")}
    return {}


def file_manager(window):
    """A desktop whose file manager writes down what it is asked to show → environment, the file it writes."""
    programs, asked = window.made / "programs", window.made / "shown_files"
    programs.mkdir(exist_ok=True)
    stand_in = programs / "xdg-open"
    stand_in.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" >> '{asked}'\n")
    stand_in.chmod(0o755)
    asked.unlink(missing_ok=True)
    return {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "XDG_CURRENT_DESKTOP": "TEST"}, asked


def masks_of(name):
    return [MEMORY] + MASKS.get(name, []) + ([] if name in WITHOUT_RUN_TIME else [RUN_TIME])


def pictures_of(script):
    text = (W.SCRIPTS / f"{script}.script").read_text()
    return [pathlib.Path(line.split()[1]).name for line in text.splitlines() if line.startswith("screenshot ")]


def lines_of(script):
    text = (W.SCRIPTS / f"{script}.script").read_text()
    return [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def with_question(script):
    """Each line's words, and whether the next line that does anything asks what came of it."""
    lines = lines_of(script)
    for i, words in enumerate(lines):
        following = (later[0] for later in lines[i + 1:] if later[0] not in ("wait", "sleep", "screenshot"))
        yield words, next(following, None) in ("expect", "until")


@pytest.mark.parametrize("script", SCRIPTS)
def test_script(window, script, request):
    if script in NEED_LANGUAGE_MODEL:
        request.getfixturevalue("demo_gguf")
    window.run(f"{script}.script", when=prepare(window, script), env=file_manager(window)[0] if script == "files" else None)
    wrong = []
    for name in pictures_of(script):
        picture = window.picture(name)
        assert picture.shape == (900, 1440, 3), (name, picture.shape)
        assert len(np.unique(picture @ [65536, 256, 1])) > 20, f"{name} is nearly empty"
        if name in MOVING or (name.startswith("start") and not list((W.ROOT / ".deps" / "demo").glob("*.gguf"))):
            continue
        wrong.append(W.compare_with_baseline(name, picture, masks_of(name)))
    assert not any(wrong), "\n".join(filter(None, wrong))
    if script == "session":  # the map's panel alone
        height, width = window.picture("panel.png").shape[:2]
        assert 400 < height < 900 and 400 < width < 1440, (width, height)


def test_every_command_is_in_a_script(command):
    listed = command("--commands")
    assert listed.code == 0, listed
    names = {line.split()[0] for line in listed.text.splitlines() if line.strip()}
    assert len(names) > 80 and "heads.quantity" in names, names
    used = {words[0] for script in SCRIPTS for words in lines_of(script)} - SCRIPT_WORDS
    assert used <= names, f"no commands: {sorted(used - names)}"
    asked = {words[0] for script in SCRIPTS for words, asked in with_question(script) if asked} - SCRIPT_WORDS
    for name, file in ELSEWHERE.items():
        assert re.search(rf"\b{re.escape(name)}\b", (pathlib.Path(__file__).parent / file).read_text()), (name, file)
        asked.add(name)
    assert names - asked == WITHOUT_EXPECTATION, f"nothing is expected after them: {sorted(names - asked - WITHOUT_EXPECTATION)}"


@pytest.mark.parametrize("script", SCRIPTS)
def test_something_is_expected_of_every_key_and_click(script):
    alone = [words for words, asked in with_question(script) if words[0] in HANDS and not asked]
    assert not alone, alone


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_end_with_what_they_expect(script):
    text = (W.SCRIPTS / f"{script}.script").read_text()
    assert text.startswith("# ") and text.endswith("quit\n")
    assert len(re.findall(r"^expect \S+ (==|!=|<|<=|>|>=|~) ", text, re.M)) >= 2
    names = pictures_of(script)
    assert len(names) == len(set(names)) and all(re.fullmatch(r"[a-z0-9_]+\.png", name) for name in names)


def test_no_picture_is_of_two_scripts_and_no_baseline_of_none():
    names = [name for script in SCRIPTS for name in pictures_of(script)]
    assert len(names) == len(set(names))
    assert {path.name for path in W.BASELINES.glob("*.png")} == set(names) - MOVING
    assert {path.name for path in W.BASELINES.glob("*/*.png")} <= set(names) - MOVING


def test_the_desktop_is_asked_for_the_files_that_a_script_shows(window):
    env, asked = file_manager(window)
    window.run("files.script", env=env)
    shown = asked.read_text().splitlines()
    assert len(shown) == 2 and all(os.path.isabs(path) for path in shown), shown
    assert [os.path.realpath(path) for path in shown] == [str(DEMO), str(DEMO / "backcopy" / "diff_v2")]


def test_a_file_manager_that_fails_is_told_of_and_nothing_else_happens(window):
    env, asked = file_manager(window)
    (window.made / "programs" / "xdg-open").write_text("#!/bin/sh\nexit 3\n")
    outcome = window.run("wait\nfile.show assets/demo\nwait\nexpect warnings == 1\nexpect errors == 0\nquit\n", env=env)
    assert "xdg-open ended with 3" in outcome.facts["message"], outcome.facts
    assert not asked.exists()


# --- refusals ---

@pytest.mark.parametrize("line,words", [
    ("expect runs == 1", ["line 3", "expect runs == 1", "found 0"]),
    ("expect run.nonsense == 1", ["line 3", "run.nonsense"]),
    ("select L0.H0", ["line 3", "select"]),
    ("map.range 1 0", ["line 3", "map.range"]),
    ("demo banana", ["line 3", "backcopy/diff_v2"]),
    ("export build/window/none.h5", ["line 3", "export"]),
    ("ids 1,2,3", ["line 3", "open a checkpoint first"]),
    ("file.show assets", ["line 3", "there is no desktop here"]),
])
def test_a_line_that_fails_ends_the_script_with_file_and_line(window, line, words):
    outcome = window.run(f"# a comment\nwait\n{line}\nscreenshot build/window/never.png\nwait\n", code=1)
    for word in words:
        assert word in outcome.err, outcome.err
    assert "given.script" in outcome.err, outcome.err
    assert not (window.pictures / "never.png").exists()


def test_a_picture_of_the_last_line_is_taken(window):
    window.run("wait\nscreenshot build/window/made/last.png\n")
    with PIL.Image.open(window.made / "last.png") as image:
        assert image.size == (1440, 900)


def test_a_picture_that_cannot_be_written_ends_the_script(window):
    outcome = window.run("wait\nscreenshot /proc/nowhere/shot.png\nwait\nscreenshot build/window/never.png\n", code=5)
    for word in ["given.script", "line 2", "screenshot", "/proc/nowhere/shot.png"]:
        assert word in outcome.err, outcome.err
    assert not (window.pictures / "never.png").exists()


@pytest.mark.parametrize("line,words", [
    ("export.panel map build/window/x.pdf", ["line 4", "save picture writes a picture", ".png", "x.pdf"]),
    ("screenshot build/window/x.svg", ["line 4", ".png", "x.svg"]),
    ("export build/window/x.json", ["line 4", ".h5", "x.json"]),
    ("heads.filter banana > 3", ["line 4", "banana"]),
])
def test_what_a_run_does_not_have_is_refused_with_what_there_is(window, line, words):
    outcome = window.run(f"demo bytes/diff_v2\nwait\n# a comment\n{line}\nwait\n", code=1)
    for word in words:
        assert word in outcome.err, outcome.err
    assert not list(window.pictures.glob("x.*"))


@pytest.mark.parametrize("text,words", [
    ("wait\nfly away\n", ["line 2", "no such command: fly"]),
    ('theme "dark\nwait\n', ["line 1", "not closed"]),
    ("wait\ntheme blue\n", ["line 2", "dark|light|toggle", "found blue"]),
    ("wait\nsleep long\n", ["line 2", "sleep", "seconds"]),
    ("wait\ntokens.tint banana\n", ["line 2", "received|attention|lambda|rms|norm_gain|none", "found banana"]),
    ("wait\nheads.sort sink_score foo\n", ["line 2", "QUANTITY|head|kind [ascending|descending]", "found sink_score foo"]),
    ("wait\nheads.sort X\n", ["line 2", "heads.sort", "there is no quantity “X”"]),
    ("wait\nheads.columns sink_score,banana\n", ["line 2", "there is no quantity “banana”"]),
    ("wait\nmap weights\n", ["line 2", "net|first|second|scaled|logits", "found weights"]),
    ("wait\nexpect runs = 1\n", ["line 2", "expect", "==|!="]),
])
def test_a_line_that_cannot_be_read_stops_before_the_first(window, text, words):
    outcome = window.run(text, code=2)
    for word in words:
        assert word in outcome.err, outcome.err


def test_no_cuda_is_said_where_it_is_asked_for(window, program):
    doctor = Command(program)("doctor")
    if re.search(r"cuda:0", doctor.text):
        pytest.skip("there is a CUDA device")
    why = window.run("wait\nquit\n").facts["device.cuda"]
    assert re.search("CUDA|NVIDIA", why), why
    outcome = window.run("wait\ndevice cuda\n", code=1)
    assert "line 2" in outcome.err and why in outcome.err, (why, outcome.err)


def test_without_a_display(window):
    outcome = window.run("wait\nquit\n", code=7, env={"DISPLAY": None})
    assert "DISPLAY" in outcome.err and "WAYLAND_DISPLAY" in outcome.err


def test_with_a_display_that_is_not_there(window):
    outcome = window.run("wait\nquit\n", code=7, env={"DISPLAY": ":1999"})
    assert "DISPLAY=:1999" in outcome.err


@pytest.mark.parametrize("size", ["large", "1440", "1440x", "10x10", "1440x900x3", "99999x99999", "-1440x900"])
def test_a_size_that_is_none(window, size):
    result = window.run("wait\nquit\n", size=size, code=2)
    assert "--size" in result.err, result.err


@pytest.mark.parametrize("size,scale", [("1024x640", "0.75"), ("1024x640", "1"), ("2560x1440", "2"), ("1440x900", "1.5")])
def test_sizes_and_scales(window, size, scale):
    outcome = window.run("demo backcopy/diff_v2\nwait\nexpect run.status == done\nexpect map.state == map\n"
                         "screenshot build/window/sized.png\nquit\n", "--scale", scale, "--theme", "light", size=size)
    width, height = map(int, size.split("x"))
    assert window.picture("sized.png").shape == (height, width, 3)
    assert outcome.facts["theme"] == "light"


def test_random_events(window):
    """10⁵ of them on the real window: it lives, OpenGL has nothing to complain of, memory stays where it was, and what is
    shown, of which only the parts that differed were drawn, is in every pixel what drawing all of it gives."""
    outcome = window.run("demo backcopy/diff_v2\nwait\nrandom 20000 20261122\ntimes early\nrandom 80000 20261123\nwait\nexpect frames.differ == 0\ntimes late\nquit\n",
                         size="1024x640", longest=1500)
    rows = {row["label"]: row for row in outcome.rows}
    assert rows["early"]["gl_errors"] == rows["late"]["gl_errors"] == 0
    assert rows["late"]["frame_ms"]["count"] > 10_000, rows
    assert rows["late"]["resident_bytes"] < rows["early"]["resident_bytes"] + 64e6, rows
