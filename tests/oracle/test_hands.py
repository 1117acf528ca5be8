"""The window in a person's hands: real keys and a real mouse, on a display with a window manager."""
import hashlib
import json
import shlex
import signal

import h5py
import numpy as np
import pytest
from PIL import Image

import hands
import window as W
from svg_figure import Figure

DEMO = W.ROOT / "assets" / "demo"


@pytest.fixture(scope="module")
def desk():
    if reason := hands.missing():
        pytest.skip(reason)
    desk = hands.Desk()
    if not desk.screen.name:
        pytest.skip("Xvfb does not start")
    yield desk
    desk.close()


@pytest.fixture
def sits(program, desk, tmp_path):
    """sits(arguments…) starts the program anew, with the settings that it left."""
    started = []

    def start(*arguments, **variables):
        started.append(hands.Hands(program, desk, tmp_path, *arguments, **variables))
        return started[-1]

    yield start
    for person in started:
        person.close()


def test_the_window_keeps_its_size_at_every_scale(sits):
    person = sits(DEMO / "bytes" / "softmax")
    person.resizes(1500, 1000)
    person.commands("scale 1.25")
    assert person.size() == (1500, 1000)
    person.leaves()
    for _ in range(3):
        person = sits(DEMO / "bytes" / "softmax")
        assert person.size() == (1500, 1000)
        person.leaves()


def test_the_first_of_two_files_is_a(sits, command, tmp_path):
    for name, what_if in (("a", ()), ("b", ("--what-if", "hide-key=0"))):
        assert command("analyze", DEMO / "bytes" / "softmax", "-o", tmp_path / f"{name}.h5", *what_if).code == 0
    person = sits("a.h5", "b.h5")
    person.keys("c")
    facts = person.leaves()
    assert facts["centre"] == "compare" and (facts["run.name"], facts["other.name"]) == ("a", "b · key 0 hidden"), facts


def test_an_overlay_takes_the_keys(sits):
    person = sits(DEMO / "bytes" / "softmax")
    person.keys("question")
    person.keys("ctrl+t", "ctrl+a")  # the keys' page gives way to the prompt
    person.types("5 6 7 8 9")  # the demo's prompt is of ids
    person.keys("ctrl+e", "ctrl+1")  # nothing of what lies below
    person.keys("ctrl+r")
    person.settle()
    facts = person.leaves()
    assert (facts["overlay"], facts["runs"], facts["run.status"]) == ("0", "2", "done"), facts
    assert facts["run.tokens"] == "5", facts["run.tokens"]


def test_what_is_shown_stays_when_the_prompt_changes(sits):
    person = sits(DEMO / "bytes" / "softmax")
    person.keys("ctrl+t", "ctrl+a")
    person.types("5 6 7")
    person.keys("ctrl+Return")
    facts = person.leaves()
    assert (facts["runs"], facts["run.status"], facts["run.tokens"]) == ("1", "done", "64"), facts
    assert (facts["prompt.title"], facts["estimate.tokens"]) == ("3 ids", "3"), facts
    person = sits(DEMO / "bytes" / "softmax", DEMO / "bytes" / "softmax" / "model.safetensors")
    person.keys("ctrl+t", "ctrl+a")
    person.types("5 6 7")
    person.keys("ctrl+r")
    person.settle()
    facts = person.leaves()
    assert (facts["run.status"], facts["run.tokens"]) == ("done", "3"), facts


def test_a_text_of_ones_own_is_read_whole(sits, demo_gguf):
    person = sits(demo_gguf)
    person.commands("prompt.built-in gpl-3 8")
    person.keys("ctrl+t", "ctrl+a")
    person.types("The tokens of what is typed here are counted at once; ")
    person.keys("ctrl+a", "ctrl+c", "End", *["ctrl+v"] * 11)
    person.settle()
    facts = person.leaves()
    assert (facts["prompt.limit"], facts["prompt.reads"]) == ("all", facts["prompt.tokens"]), facts
    assert 100 < int(facts["prompt.tokens"]) < 200, facts["prompt.tokens"]


def test_the_prompt_says_how_much_of_it_will_run(sits, demo_gguf):
    """Before it has run: its own number, not the limit of the text that stood there."""
    person = sits(demo_gguf)
    person.resizes(1024, 640)
    person.keys("ctrl+t", "ctrl+a")
    person.types("Thirty tokens or so are typed here, and the window says how many of them the model is going to read, before it has.")
    person.keys("ctrl+Return")
    person.settle()
    facts = person.leaves()
    assert 20 < int(facts["estimate.tokens"]) < 40 and int(facts["run.tokens"]) == 512, facts
    assert facts["prompt.shown"].endswith(f", {facts['estimate.tokens']} tokens"), facts["prompt.shown"]


def test_models_of_one_file_name_and_their_what_ifs_are_told_apart(sits, tmp_path):
    person = sits(DEMO / "bytes" / "softmax", DEMO / "bytes" / "diff_v2")  # model.safetensors, both
    person.keys("c")
    person.commands("what-if hide-key=0")
    person.commands("what-if.complete")
    person.commands("compare.swap")
    person.commands("save run changed.h5")
    facts = person.leaves()
    assert facts["errors"] == "0" and facts["runs"] == "3", facts
    assert (facts["run.name"], facts["other.name"]) == ("bytes/softmax · key 0 hidden in L1.H1", "bytes/softmax"), facts
    with h5py.File(tmp_path / "changed.h5") as file:
        assert "L1.H1:hide-key=0" in file["program"].attrs["overrides"], dict(file["program"].attrs)
    person = sits("changed.h5")
    facts = person.leaves()
    assert facts["run.name"] == "changed · key 0 hidden in L1.H1", facts["run.name"]


def test_the_range_follows_what_is_in_view_and_cells_print_two_digits(sits):
    ends = {}
    for turns in (0, 30):
        person = sits(DEMO / "bytes" / "softmax")
        person.resizes(1440, 900)
        person.commands("select L1.H0")
        person.commands("map.scale log10")
        at = 540, 620  # where the head looks at little
        for _ in range(turns):
            person.clicks(*at, button=4)
        person.clicks(*at)
        person.settle()
        facts = person.leaves()
        assert (float(facts["map.cells_visible"]) > 4000) == (turns == 0), facts["map.cells_visible"]
        ends[turns] = float(facts["map.range_high"])
    value, printed = float(facts["map.cell"]), facts["map.printed"].replace("−", "-")
    assert abs(float(printed) - value) <= 0.05 * value and "e" in printed, (printed, value)
    assert ends[30] < 0.1 * ends[0] and "in view" in facts["map.range"], (ends, facts["map.range"])


def test_what_fails_counts_as_an_error_and_colours_are_chosen(sits, tmp_path):
    (tmp_path / "broken.safetensors").write_bytes(b"no tensors")
    person = sits(DEMO / "bytes" / "softmax")
    person.commands("map.colours viridis")
    person.commands("open broken.safetensors")
    facts = person.leaves()
    assert (facts["errors"], facts["warnings"], facts["unseen_errors"]) == ("1", "0", "1"), facts
    assert facts["settings.colours"] == "viridis"
    person = sits(DEMO / "bytes" / "softmax")
    person.commands("screenshot now.png")
    facts = person.leaves()
    assert facts["settings.colours"] == "viridis"
    picture = np.asarray(Image.open(tmp_path / "now.png").convert("RGB")).astype(int)
    yellow = (abs(picture - (253, 231, 37)) < 12).all(axis=2)  # the brightest of viridis
    assert yellow.sum() > 100, yellow.sum()


def test_controls_are_reached_and_pressed_by_the_keyboard(sits):
    person = sits(DEMO / "bytes" / "diff_v2")
    person.resizes(1440, 900)
    person.keys("Tab", "Tab", "Tab", "Tab", "space")  # the panel of heads, then atlas, maps, scatter
    person.keys("shift+Tab", "Return")  # and back
    person.keys("Tab", "Return")
    facts = person.leaves()
    assert (facts["heads.view"], facts["focus"], facts["errors"]) == ("scatter", "heads", "0"), facts


def test_a_right_click_on_the_head_panel_copies_its_rows(sits):
    person = sits(DEMO / "bytes" / "diff_v2")
    person.resizes(1440, 900)
    person.commands("select L1.H0")
    person.clicks(1300, 430, button=3)
    person.keys("Down", "Return")
    facts = person.leaves()
    lines = facts["clipboard"].split("\n")
    assert lines[0].startswith("position,id,text,") and "rows/lambda" in lines[0], lines[0][:200]
    assert len([line for line in lines if line]) == 65, len(lines)  # a line for each of the 64 tokens


def test_a_path_is_typed_into_the_open_panel_at_once(sits):
    person = sits(DEMO / "bytes" / "softmax")
    person.keys("ctrl+shift+o")
    person.types(str(DEMO / "by"))  # the list follows, and Tab completes what it shows
    person.keys("Tab")
    person.types("diff_v2")  # a model folder: it opens, and is not entered
    person.keys("Return")
    person.settle()
    facts = person.leaves()
    assert (facts["overlay"], facts["errors"], facts["run.status"]) == ("0", "0", "done"), facts
    assert "diff_v2" in facts["run.name"], facts["run.name"]


def test_what_cannot_be_done_is_said_and_a_folder_to_save_into_is_made(sits, tmp_path):
    person = sits(DEMO / "bytes" / "diff_v2")
    person.resizes(1440, 900)
    person.commands("prompt-file nowhere.txt")
    person.keys("ctrl+s", "ctrl+a")
    person.types(f"{tmp_path}/the paper/figures/first")
    person.keys("Return")  # there is no such folder
    assert not (tmp_path / "the paper").exists()
    person.clicks(887, 716)  # "Make the folder"
    person.settle()
    assert (tmp_path / "the paper" / "figures").is_dir()
    person.keys("Return")
    person.settle()
    facts = person.leaves()
    assert (tmp_path / "the paper" / "figures" / "first.png").stat().st_size > 10_000
    assert (facts["errors"], facts["unseen_errors"], facts["warnings"]) == ("0", "1", "0"), facts


def test_a_picture_is_of_the_window_without_what_asked_for_it(sits, tmp_path):
    person = sits(DEMO / "bytes" / "softmax")
    person.commands("screenshot first.png")
    person.commands("export.panel map second.png")  # and without the note of what was saved before
    person.keys("ctrl+p", "Escape")
    person.settle()
    picture = np.asarray(Image.open(tmp_path / "first.png").convert("RGB")).astype(int)
    panel = np.asarray(Image.open(tmp_path / "second.png").convert("RGB")).astype(int)
    person.leaves()
    # The palette dims all that is below it: the brightest of the map's colours is nearly white.
    assert picture[200:600, 420:900].max() > 240 and panel.max() > 240
    wide = picture[100:500, 400:1040]
    assert len(np.unique(wide.reshape(-1, 3), axis=0)) > 300, "the map is covered"


def test_a_picture_shows_nothing_of_the_pointer(sits, tmp_path):
    """Saved while the pointer rests on the map, then on a head, then outside: the same picture."""
    person = sits(DEMO / "bytes" / "softmax")
    person.resizes(1440, 900)
    pictures = []
    for k, at in enumerate(((700, 500), (60, 180), (760, 899))):
        person.does("mousemove", "--window", person.id, *map(str, at))
        person.settle(1.0)  # a tooltip comes after a rest
        person.commands(f"screenshot at{k}.png")
        person.settle()
        pictures.append(np.asarray(Image.open(tmp_path / f"at{k}.png").convert("RGB")).astype(int))
    person.leaves()
    for k in (0, 1):
        # The status bar has the memory that is taken at its right end.
        different = abs(pictures[k] - pictures[2]).max(axis=2)[:-26]
        assert different.max() < 8, (k, np.argwhere(different >= 8)[[0, -1]].tolist())


def test_a_picture_has_the_size_and_the_theme_that_are_asked_for(sits, tmp_path):
    """For a paper: twice the pixels, in the light theme, of what stands dark on the screen."""
    home = tmp_path / "home"
    person = sits(DEMO / "bytes" / "diff_v2")
    person.resizes(1440, 900)
    person.commands("select L1.H0")
    saved = {}
    for name, lines in (("shown", []), ("paper", ["picture.size 2", "picture.theme light"]), ("large", ["picture.size 3"])):
        for line in lines:
            person.commands(line)
        person.commands(f"screenshot {tmp_path}/{name}.png")
        hands.until((tmp_path / f"{name}.png").exists, f"no picture {name}", 60)
        person.settle()
        saved[name] = np.asarray(Image.open(tmp_path / f"{name}.png").convert("RGB")).astype(int)
    # The panel's own buttons, and what it says of them.
    person.keys("ctrl+s")
    person.settle()
    facts = person.leaves()
    assert facts["theme"] == "dark" and facts["errors"] == "0", facts
    assert facts["save.pixels"] == "4320 × 2700", facts["save.pixels"]
    height, width, _ = saved["shown"].shape
    assert (width, height) == (1440, 900)
    assert saved["paper"].shape == (1800, 2880, 3) and saved["large"].shape == (2700, 4320, 3)
    background = {name: np.median(picture[-12:, 400:800].reshape(-1, 3), axis=0).mean() for name, picture in saved.items()}
    assert background["shown"] < 60 and background["paper"] > 200 and background["large"] > 200, background
    # Not the same pixels twice: lines and letters are drawn at that size.
    paper = saved["paper"]
    twice = (paper[::2, ::2] == paper[1::2, 1::2]).all(axis=2)
    assert 0.5 < twice.mean() < 0.999, twice.mean()
    assert not home.exists() or not list(home.glob("*.png"))


@pytest.mark.parametrize("end", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL])
def test_a_crash_loses_nothing(sits, tmp_path, end):
    """Its report, the offer at the next start, and the session as the person had it."""
    state = tmp_path / "state" / "headroom"
    person = sits(DEMO / "bytes" / "diff_v2")
    person.commands("select L1.H0")
    person.commands("map.scale linear")
    kept_both = lambda text: '"L1.H0"' in text and json.loads(text)["view"]["map"]["scale"] == "linear"  # noqa: E731
    hands.until(lambda: [path for path in state.glob("*.headroom") if kept_both(path.read_text())], "nothing is kept", 60)
    person.process.send_signal(end)
    assert person.process.wait(60) == -end
    kept, = state.glob("*.headroom")
    reports = list(state.glob("*.crash.txt"))
    if end == signal.SIGKILL:
        assert not reports
    else:
        text = reports[0].read_text()
        assert text.startswith(f"ended by signal {int(end)} ({end.name}"), text[:200]
        assert 0 < text.index("headroom 0.") < text.index("  select L1.H0\n") < text.index("  map.scale linear\n"), text
        stack = text.split("stack:\n")[1].splitlines()
        assert len(stack) > 5 and any("headroom" in line for line in stack), text
    person = sits()
    person.commands(f"session.open {kept}")
    facts = person.leaves()
    assert facts["error"].startswith("Headroom ended unexpectedly: "), facts["error"]
    assert (facts["run.status"], facts["select.head"], facts["map.scale"]) == ("done", "L1.H0", "linear"), facts
    person = sits()  # told of once; and what was open when it quit can be had again
    person.commands("session.last")
    facts = person.leaves()
    assert (facts["errors"], facts["run.status"], facts["select.head"]) == ("0", "done", "L1.H0"), facts


def test_what_is_saved_goes_by_one_panel(sits, tmp_path):
    """By the keyboard alone: blanks and "~", endings refused, Replace asked, folders remembered, a session that opens."""
    home, paper = tmp_path / "home", tmp_path / "home" / "the paper"
    paper.mkdir(parents=True)
    person = sits(DEMO / "bytes" / "softmax", HOME=home)
    person.commands("save a picture of the panel map")
    person.keys("ctrl+a")
    person.types("row 12.pdf")  # no picture's ending
    person.keys("Return")
    assert not list(home.glob("*12*"))
    person.keys("ctrl+a")
    person.types("row 12")  # the ending is given to it
    person.keys("Return")
    person.settle()
    first = (home / "row 12.png").read_bytes()
    assert Image.open(home / "row 12.png").size[0] > 200
    # The same name: Enter replaces nothing, Alt+Enter keeps both, Ctrl+Enter replaces.
    person.keys("Escape")
    person.commands("map.scale linear")
    for keys in (["Return", "Escape"], ["alt+Return"], ["ctrl+Return"]):
        person.commands("save a picture of the panel map")
        person.keys("ctrl+a")
        person.types("row 12.png")
        assert (home / "row 12.png").read_bytes() == first
        person.keys(*keys)
        person.settle()
    kept = (home / "row 12-2.png").read_bytes()
    assert (home / "row 12.png").read_bytes() == kept != first
    # A session in another folder, whose path is typed with "~" into the palette.
    person.commands('save session "~/the paper/mine.headroom"')
    person.keys("ctrl+s", "Escape")
    facts = person.leaves()
    assert (facts["errors"], facts["overlay"]) == ("0", "0"), facts
    files = [path for folder in (home, paper) for path in folder.iterdir() if path.is_file()]  # not the driver's cache
    assert sorted(path.name for path in files) == ["mine.headroom", "row 12-2.png", "row 12.png"]
    person = sits(paper / "mine.headroom", HOME=home)
    person.commands("save session")
    person.keys("End")
    person.types(" two")
    facts = person.leaves()
    assert facts["run.status"] == "done" and "softmax" in facts["run.name"], facts
    assert facts["save.path"].startswith(str(paper)), facts["save.path"]


def test_a_figure_goes_from_the_screen_into_a_file(sits, command, tmp_path):
    """Ctrl+Shift+E, the mouse in the panel, a height that is typed, the save panel; the command that is copied writes the same bytes."""
    home = tmp_path / "home"
    home.mkdir()
    person = sits(DEMO / "bytes" / "diff_v2", HOME=home)
    person.resizes(1440, 900)
    person.commands("select L1.H2")
    person.keys("ctrl+shift+e")
    person.settle()
    # Below the kinds, which are 18 pixels high each.
    kinds = json.loads(command("figure", DEMO / "bytes/diff_v2/training.h5", "--list", "--json").text)
    below = 126 + 18 * len(kinds)
    person.clicks(86, 112)           # rms
    person.clicks(263, below)        # 120 mm
    person.clicks(167, below + 26)   # the height
    person.keys("ctrl+a")
    person.types("70")
    person.keys("Return")
    person.clicks(191, below + 104)  # SVG
    person.settle()
    person.keys("ctrl+Return")
    person.keys("ctrl+a")
    person.types("my figure")
    person.keys("Return")
    hands.until((home / "my figure.svg").exists, "no figure", 60)
    person.settle()
    figure = Figure(home / "my figure.svg")
    assert (figure.width, float(figure.root.get("height").removesuffix("mm"))) == ("120mm", 70), figure.root.attrib
    run = next(home.glob("*.h5"))
    assert figure.keys["run_sha256"] == hashlib.sha256(run.read_bytes()).hexdigest()
    words = shlex.split(figure.keys["command"])
    assert words == ["figure", run.name, "rms", "--head", "L1.H2", "--width", "120mm", "--height", "70mm"], words
    # The same name again is asked about; Escape leads back to the figure, and out of it.
    person.keys("ctrl+shift+e")
    person.clicks(86, 112)  # the panel begins with what is in focus; its kind keeps its own format
    person.settle()
    person.keys("ctrl+Return", "ctrl+a")
    person.types("my figure")
    person.keys("Return", "Escape", "Escape")
    facts = person.leaves()
    assert (facts["overlay"], facts["errors"]) == ("0", "0"), facts
    assert sorted(path.name for path in home.iterdir() if path.is_file()) == sorted(["my figure.svg", run.name])
    # Another program has what was chosen for this kind, and says what an option does that it was given and has no use for.
    person = sits(DEMO / "bytes" / "diff_v2", HOME=home)
    person.resizes(1440, 900)
    person.keys("ctrl+shift+e")
    person.clicks(86, 112)
    person.commands("figure.set top 5")  # the palette leads back to the panel
    person.settle()
    facts = person.leaves()
    assert (facts["figure.kind"], facts["figure.width_mm"], facts["figure.format"]) == ("rms", "120", ".svg"), facts
    assert "--top changes nothing of rms" in facts["figure.notes"].splitlines() and facts["figure.side_scrolls"] == "0", facts


def test_a_corpus_is_run_and_looked_through_by_hand(sits, tmp_path):
    """The panel from the palette, its fields by keys and mouse; then the rows of its sequences: sorted, chosen, one run with its maps."""
    texts, out = W.ROOT / "assets" / "corpora" / "kjv.txt", tmp_path / "mine.h5"
    person = sits(DEMO / "bytes" / "diff_v2", HOME=tmp_path)
    person.resizes(1440, 900)
    person.keys("ctrl+p")
    person.types("run a corpus")
    person.keys("Return")
    person.types(f"{texts}.none")
    person.keys("Return")            # nothing of this name: the panel stays
    person.keys("ctrl+a")
    person.types(texts)
    person.clicks(560, 324)          # the length
    person.keys("ctrl+a")
    person.types("40")
    person.clicks(560, 390)          # at most so many sequences
    person.types("90")
    person.clicks(637, 456)          # a document is a paragraph
    person.clicks(780, 588)          # the file
    person.keys("ctrl+a")
    person.types(out)
    person.keys("Return")
    hands.until(out.exists, "no corpus", 120)
    person.settle()
    with h5py.File(out) as file:
        assert file["sequences/token_id"].shape == (90, 40) and file.attrs["split"] == "blank" and "curves" in file
        losses = file["sequences/next_token_loss"][:]
    person.clicks(670, 514)          # by loss
    person.clicks(670, 514)          # the other way round
    person.clicks(500, 535)          # the first row
    person.settle()
    facts = person.leaves()
    assert (facts["corpus"], facts["corpus.run"], facts["overlay"], facts["errors"]) == ("corpus", "none", "0", "0"), facts
    assert facts["corpus.sort"].startswith("loss") and facts["corpus.sequence"] == facts["corpus.first"], facts
    ends = {"loss": losses.argmin(), "loss descending": losses.argmax()}
    assert facts["corpus.first"] == f"S{ends[facts['corpus.sort']]}", facts
    person = sits(out, HOME=tmp_path)  # another day
    person.resizes(1440, 900)
    person.clicks(500, 535)
    person.keys("Return")            # the checkpoint is asked for by its hash, and the sequence runs
    person.settle()
    facts = person.leaves()
    assert (facts["corpus"], facts["run.status"], facts["run.tokens"], facts["errors"]) == ("none", "done", "40", "0"), facts
