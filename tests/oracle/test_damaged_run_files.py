"""Run files in which bytes were changed where the format has no checksum: the heap of texts, on which HDF5 1.10 itself crashes. The
command refuses them or reads what is left; the window says so and keeps what is open (tests/FAULTS.md)."""
import fcntl
import os
import pathlib
import shutil
import struct
import subprocess
import time

import pytest

import window as W
from command import check_error_object, refused, snapshot

DEMO = W.ROOT / "assets" / "demo" / "backcopy" / "diff_v2"
HEAP, OBJECT = b"GCOL\x01", 16  # how a collection of texts begins; bytes before each text


@pytest.fixture(scope="module")
def good(program, analyze, tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "run.h5"
    analyze(DEMO, list(range(1, 25)), path)
    return path


@pytest.fixture(scope="module")
def crashes(command):
    """Whether the HDF5 of this machine crashes on these files: 1.10 does. Others may read on beside the damage."""
    return command("doctor", "--json").json["hdf5"].startswith("1.10.")


def texts(data):
    """Where the heads of the texts lie: index (2), count (2), nothing (4), size (8), then the text, filled up to 8 bytes."""
    start = data.find(HEAP)
    while start >= 0:
        end = start + struct.unpack_from("<Q", data, start + 8)[0]
        at = start + OBJECT
        while at + OBJECT <= end and struct.unpack_from("<H", data, at)[0] != 0:
            yield at
            at += OBJECT + (struct.unpack_from("<Q", data, at + 8)[0] + 7) // 8 * 8
        start = data.find(HEAP, end)


def damaged(good, path, change):
    data = bytearray(good.read_bytes())
    change(data, list(texts(data)))
    path.write_bytes(data)
    return path


def other_sizes(data, heads):
    """Texts are said to be longer than the file. The first ones say whose file it is."""
    for at in heads[20:24]:
        struct.pack_into("<Q", data, at + 8, 1 << 40)


def shorter(data, heads):
    """Each text is said to end where the next one does not begin, so that the list of them is none."""
    for at in heads[20:]:
        struct.pack_into("<Q", data, at + 8, 3)


CHANGES = [other_sizes, shorter]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("words", [["inspect", "RUN"], ["compare", "RUN", "RUN"], ["table", "RUN"], ["figure", "RUN", "sinks", "-o", "f.pdf"]],
                         ids=lambda words: words[0])
def test_138_what_hdf5_crashes_on_is_refused_by_name(command, crashes, good, tmp_path, change, words):
    path = damaged(good, tmp_path / "damaged.h5", change)
    before = snapshot(tmp_path)
    outcome = command(*[{"RUN": path, "f.pdf": tmp_path / "f.pdf"}.get(word, word) for word in words])
    if outcome.code == 0 and not crashes:
        return
    refused(outcome, 3, *["damaged: HDF5 1.10"] * crashes, str(path))
    assert snapshot(tmp_path) == before


def test_138_one_crash_spoils_no_other_file(command, crashes, good, tmp_path):
    """The process that reads files first is another one after it has crashed; a file that comes later is opened."""
    bad = damaged(good, tmp_path / "damaged.h5", other_sizes)
    shutil.copy(good, tmp_path / "copy.h5")
    first = command("compare", good, bad)
    assert command("compare", good, tmp_path / "copy.h5").code == 0
    if crashes:
        refused(first, 3, "damaged", str(bad))
        assert check_error_object(command("inspect", bad, "--json"), 3)["file"] == str(bad)
    assert first.code in (0, 1, 3)


def without_end(data, heads):
    """The length of a text, with what stands before it, is 2⁶⁴: HDF5 1.10 goes from it to itself."""
    struct.pack_into("<Q", data, heads[20] + 8, (1 << 64) - OBJECT)


def test_138_whoever_reads_is_gone_with_the_command_and_holds_nothing_of_it(program, crashes, good, tmp_path):
    """A lock of the command is free as soon as it is killed, even while a file without end is read for it."""
    if not crashes:
        pytest.skip("this HDF5 finds the end")
    bad = damaged(good, tmp_path / "damaged.h5", without_end)
    (tmp_path / "lock").touch()
    lock = os.open(tmp_path / "lock", os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    command = subprocess.Popen([program, "inspect", bad], pass_fds=[lock], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(lock)
    children = pathlib.Path(f"/proc/{command.pid}/task/{command.pid}/children")
    end = time.monotonic() + 15
    while not (reader := children.read_text().split()) and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.5)  # it reads
    command.kill()
    command.wait()
    with open(tmp_path / "lock") as again:
        fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)
    end = time.monotonic() + 5
    while (alive := pathlib.Path(f"/proc/{reader[0]}/fd").exists() and os.listdir(f"/proc/{reader[0]}/fd")) and time.monotonic() < end:
        time.sleep(0.05)
    assert not alive


def test_the_window_goes_on_beside_a_file_that_hdf5_crashes_on(program, display, crashes, good, tmp_path):
    window = W.Window(program, display, tmp_path / "work")
    shutil.copy(good, window.made / "good.h5")
    lines = ["open build/window/made/good.h5", "wait", "expect runs == 1"]
    for i, change in enumerate(CHANGES):
        damaged(good, window.made / f"{change.__name__}.h5", change)
        lines += [f"open build/window/made/{change.__name__}.h5", "wait"] + [f"expect errors == {i + 1}", "expect runs == 1"] * crashes
    shutil.copy(good, window.made / "later.h5")
    lines += ["open build/window/made/later.h5", "wait", "select L0.H0", "wait", "quit"]
    outcome = window.run("\n".join(lines) + "\n")
    if crashes:
        assert outcome.number("errors") == len(CHANGES) and outcome.number("runs") == 2
    assert outcome.facts["run.name"] == "later"
