"""Signals, kills and disturbances while a run is under way (tests/FAULTS.md)."""
import fcntl
import os
import resource
import signal
import subprocess
import time

import pytest

import checkpoints as C
from command import Outcome, check_error_object, datasets, one_object, open_terminal, refused, snapshot

LONG = ",".join(["7", "9", "11"] * 500)
SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Many layers: a run that lasts until it is stopped. And a small one that ends."""
    folder = tmp_path_factory.mktemp("models")
    C.headroom(folder / "long", C.headroom_config("softmax", num_hidden_layers=400, intermediate_size=0, max_position_embeddings=2048), 5)
    C.headroom(folder / "short", C.headroom_config("softmax"), 5)
    return folder


def temporary_files(folder):
    return [p.name for p in folder.iterdir() if p.name.endswith("headroom-tmp")]


def until(condition, process):
    """Waits for what must come while the process runs; no clock decides."""
    while not condition():
        assert process.poll() is None, f"it ended with {process.returncode} first"
        time.sleep(0.005)


def start_long(command, models, out, *arguments, **options):
    """Started, and the output begun."""
    process = command.start("analyze", models / "long", "--ids", LONG, "-o", out, *arguments, **options)
    until(lambda: temporary_files(out.parent), process)
    return process


def finish(process):
    out, err = process.communicate(timeout=120)
    return Outcome(process.returncode, out or b"", err or b"")


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("json", [[], ["--json"]], ids=["text", "json"])
def test_094_a_signal_during_the_run_leaves_no_file(command, models, tmp_path, number, json):
    process = start_long(command, models, tmp_path / "run.h5", *json)
    process.send_signal(number)
    outcome = finish(process)
    refused(outcome, SIGNALS[number], "cancelled")
    if json:
        assert check_error_object(outcome, 130)["code"] == "cancelled"
        assert list(outcome.json) == ["error"]
    else:
        assert outcome.out == b""
    assert not list(tmp_path.iterdir())


def test_120_control_c_on_a_terminal_in_the_middle_of_the_layers(command, models, tmp_path):
    """The terminal itself sends the signal, to the whole foreground; its line is left clean."""
    leader, follower = open_terminal()
    script = ["setsid", "--ctty", "--wait", os.fspath(command.program), "analyze", os.fspath(models / "long"), "--ids", LONG, "-o",
              os.fspath(tmp_path / "run.h5")]
    with subprocess.Popen(script, stdin=follower, stdout=follower, stderr=follower) as process:
        os.close(follower)
        shown = b""
        while b"layer 3 of 400" not in shown:
            shown += os.read(leader, 4096)
        os.write(leader, b"\x03")
        code = process.wait(timeout=120)
    rest = b""
    try:
        while part := os.read(leader, 4096):
            rest += part
    except OSError:
        pass
    os.close(leader)
    assert code == 130
    last = rest.decode().split("\r\x1b[K")[-1]
    assert last == "headroom: cancelled\r\n", rest
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_084_a_cancelled_run_with_force_keeps_the_old_file(command, models, tmp_path, number):
    out = tmp_path / "run.h5"
    assert command("analyze", models / "short", "--ids", "1,2", "-o", out).code == 0
    before = snapshot(tmp_path)
    process = start_long(command, models, out, "--force")
    process.send_signal(number)
    assert finish(process).code == SIGNALS[number]
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(("first", "second"), [("SIGINT", "SIGINT"), ("SIGINT", "SIGTERM"), ("SIGTERM", "SIGHUP"), ("SIGHUP", "SIGINT")])
def test_120_a_second_signal_ends_the_process_at_once(command, models, tmp_path, first, second):
    """Standard error is a full pipe: after the first signal the run cleans up and then waits to say so, for ever."""
    reader, writer = os.pipe()
    flags = fcntl.fcntl(writer, fcntl.F_GETFL)
    fcntl.fcntl(writer, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    try:
        while True:
            os.write(writer, b"x" * 4096)
    except BlockingIOError:
        pass
    fcntl.fcntl(writer, fcntl.F_SETFL, flags)
    with start_long(command, models, tmp_path / "run.h5", stderr=writer) as process:
        process.send_signal(signal.Signals[first])
        until(lambda: not temporary_files(tmp_path), process)
        process.send_signal(signal.Signals[second])
        assert process.wait(timeout=120) == SIGNALS[signal.Signals[second]]
    os.close(reader)
    os.close(writer)
    assert not list(tmp_path.iterdir())


def test_120_a_second_signal_leaves_no_temporary_file_wherever_it_comes(command, models, tmp_path):
    """Two signals at one moment, before the run can look: they wait while the process is stopped."""
    out = tmp_path / "run.h5"
    assert command("analyze", models / "short", "--ids", "1,2", "-o", out).code == 0
    before = snapshot(tmp_path)
    for first, second in ((signal.SIGINT, signal.SIGTERM), (signal.SIGTERM, signal.SIGHUP), (signal.SIGINT, signal.SIGHUP)):
        process = start_long(command, models, out, "--force")
        process.send_signal(signal.SIGSTOP)
        until(lambda: stopped(process), process)
        process.send_signal(first)
        process.send_signal(second)
        process.send_signal(signal.SIGCONT)
        outcome = finish(process)
        assert outcome.code in (SIGNALS[first], SIGNALS[second]), outcome
        assert snapshot(tmp_path) == before, f"{first.name}, {second.name}"


def stopped(process):
    with open(f"/proc/{process.pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] == "T"


def has_open(process, name):
    folder = f"/proc/{process.pid}/fd"
    try:
        return any(os.readlink(f"{folder}/{entry}").endswith(name) for entry in os.listdir(folder))
    except OSError:  # an entry that closed meanwhile
        return False


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_120_a_signal_while_the_prompt_is_awaited(command, models, tmp_path, number):
    process = command.start("analyze", models / "short", "--ids-file", "-", "-o", tmp_path / "run.h5", stdin=subprocess.PIPE)
    until(lambda: has_open(process, "short/model.safetensors"), process)
    process.send_signal(number)
    assert process.wait(timeout=120) == SIGNALS[number]
    process.communicate()
    assert not list(tmp_path.iterdir())


def test_a_hang_up_that_was_ignored_from_the_start_stays_ignored(command, models, tmp_path):
    """nohup: were it not ignored, the first signal that comes would decide the exit code."""
    process = start_long(command, models, tmp_path / "run.h5", ignored=(signal.SIGHUP,))
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGINT)
    assert finish(process).code == 130
    assert not list(tmp_path.iterdir())


def test_107_a_signal_ends_the_hashing_of_a_large_checkpoint(command, models, tmp_path):
    """Seven gigabytes of zeros that take no space; measured in processor time, which a busy machine does not lengthen."""
    folder = tmp_path / "large"
    C.headroom(folder, C.headroom_config("softmax"), 5)
    weights = folder / "model.safetensors"
    os.truncate(weights, 7 << 30)
    out = tmp_path / "out"
    out.mkdir()
    process = command.start("analyze", folder, "--lenient", "--ids", "1,2", "-o", out / "run.h5")
    until(lambda: temporary_files(out), process)
    process.send_signal(signal.SIGINT)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    outcome = finish(process)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    refused(outcome, 130, "cancelled")
    assert after.ru_utime - before.ru_utime < 3, "it went on reading"
    assert not list(out.iterdir())


def test_084_a_killed_run_leaves_the_old_file_and_the_next_one_cleans_up(command, models, tmp_path):
    out = tmp_path / "run.h5"
    assert command("analyze", models / "short", "--ids", "1,2", "-o", out).code == 0
    before = snapshot(tmp_path)
    process = start_long(command, models, out, "--force")
    process.kill()
    finish(process)
    left = temporary_files(tmp_path)
    assert len(left) == 1 and left[0].startswith(".")
    after = snapshot(tmp_path)
    del after[str(tmp_path / left[0])]
    assert after == before
    assert command("analyze", models / "short", "--ids", "3,4", "-o", out, "--force").code == 0
    assert [p.name for p in tmp_path.iterdir()] == ["run.h5"]
    assert datasets(out)["tokens/token_id"][1] == (2,)


def test_088_a_second_run_to_the_same_name_is_refused_and_disturbs_nothing(command, models, tmp_path):
    out = tmp_path / "run.h5"
    process = start_long(command, models, out)
    begun = temporary_files(tmp_path)
    for force in ([], ["--force"]):
        refused(command("analyze", models / "short", "--ids", "1,2", "-o", out, *force), 5, "run.h5")
    assert temporary_files(tmp_path) == begun and process.poll() is None
    process.send_signal(signal.SIGINT)
    assert finish(process).code == 130
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("force", [[], ["--force"]], ids=["new", "force"])
@pytest.mark.parametrize("damage", ["truncated", "emptied", "deleted"])
def test_010_and_011_weights_that_change_under_a_run(command, tmp_path, damage, force):
    """The headers are read, the prompt is awaited; then the file changes."""
    C.headroom(tmp_path / "model", C.headroom_config("softmax"), 5)
    weights = tmp_path / "model" / "model.safetensors"
    out = tmp_path / "out" / "run.h5"
    out.parent.mkdir()
    if force:
        out.write_text("precious")
    process = command.start("analyze", tmp_path / "model", "--ids-file", "-", "-o", out, *force, "--json", stdin=subprocess.PIPE)
    until(lambda: has_open(process, "model/model.safetensors"), process)
    if damage == "deleted":
        weights.unlink()
    else:
        os.truncate(weights, 0 if damage == "emptied" else weights.stat().st_size - 4000)
    standard_out, standard_error = process.communicate(b"1 2 3", timeout=120)
    outcome = Outcome(process.returncode, standard_out, standard_error)
    if damage == "deleted":
        assert outcome.code == 0 and one_object(outcome.text)["tokens"] == 3, "what is open stays readable"
        return
    refused(outcome, 5, "model.safetensors")
    check_error_object(outcome, 5)
    assert [p.name for p in out.parent.iterdir()] == (["run.h5"] if force else [])
    assert not force or out.read_text() == "precious"
