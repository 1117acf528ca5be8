"""The warm program (warm.py) gives what a process of its own gives: exit codes, bytes on both streams, files bit for bit; nothing of one
request is left for the next; ends by signals, by time and of the warm program itself are told."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading
import time

import h5py
import numpy as np
import pytest

import warm

DEMO = pathlib.Path(__file__).resolve().parents[2] / "assets" / "demo" / "bytes"
IDS = ",".join(str(7 * i % 256) for i in range(150))
WHOLE = ["--exact-maps", "--hidden", "--components", "--maps", "8"]
# What no two processes have alike.
MEASURED = re.compile(r'"(?:\w*seconds|peak_rss_bytes|allowed_bytes)":\s*[\d.e+-]+|[\d.]+ s, peak memory [\d.]+ GB|"stages":\s*\{[^}]*\}')
LONGEST = 120

CASES = {
    "float32": (0, ["analyze", DEMO / "diff_v2", "--ids", IDS, "-o", "run.h5", *WHOLE]),
    "float64, json": (0, ["analyze", DEMO / "diff_v1", "--ids", IDS, "-o", "run.h5", "--dtype", "float64", "--json", *WHOLE]),
    "bfloat16": (0, ["analyze", DEMO / "softmax_sink", "--ids", IDS, "-o", "run.h5", "--dtype", "bfloat16"]),
    "reference": (0, ["analyze", DEMO / "gated", "--ids", IDS, "-o", "run.h5", "--backend", "reference", "--premise"]),
    "blocked": (0, ["analyze", DEMO / "softmax_one", "--ids", IDS, "-o", "run.h5", "--backend", "blocked", "--rounding"]),
    "long": (0, ["analyze", DEMO / "softmax", "--ids", ",".join([IDS] * 4), "-o", "run.h5", "--json", "--maps", "64"]),
    "ablate": (0, ["ablate", DEMO / "diff_v2", "--ids", IDS, "-o", "run.h5", "--by-token"]),
    "circuits": (0, ["circuits", DEMO / "diff_v2", "-o", "run.h5", "--composition", "--json"]),
    "inspect": (0, ["inspect", DEMO / "diff_v2", "--tensors", "--json"]),
    "doctor": (0, ["doctor", "--json"]),
    "quantities": (0, ["quantities"]),
    "not equal": (1, ["compare", "a.h5", "b.h5"]),
    "usage": (2, ["analyze", DEMO / "diff_v2", "--ids", "1,2", "-o", "run.h5", "--heads", "9"]),
    "no such option": (2, ["analyze", "--nonsense"]),
    "damaged": (3, ["inspect", "damaged.safetensors", "--json"]),
    "unsupported": (4, ["analyze", "unknown", "--ids", "1,2", "-o", "run.h5"]),
    "no such file": (5, ["analyze", "nowhere", "--ids", "1,2", "-o", "run.h5", "--json"]),
    "memory": (6, ["analyze", DEMO / "diff_v2", "--ids", IDS, "-o", "run.h5", "--memory", "0.000001", "--json"]),
}


@pytest.fixture(scope="module")
def served(program):
    library = os.environ.get("HEADROOM_WARM")
    if not library or "LD_PRELOAD" in os.environ:
        pytest.skip("HEADROOM_WARM names no warm program")
    one = warm.WarmProgram(program, library)
    yield one
    one.close()


@pytest.fixture
def ask(served, program, monkeypatch):
    """ask(argument, …): by the warm program and by nothing else."""
    monkeypatch.setattr(warm, "started", None)
    return lambda *arguments, **options: served.run([program, *arguments], timeout=LONGEST, **options)


@pytest.fixture
def start(program, started=warm.started):
    return lambda *arguments, **options: started([program, *arguments], timeout=LONGEST, **options)


@pytest.fixture
def folder(tmp_path):
    """With what the cases read."""
    (tmp_path / "unknown").mkdir()
    shutil.copy(DEMO / "diff_v2" / "model.safetensors", tmp_path / "unknown")
    (tmp_path / "unknown" / "config.json").write_text('{"model_type": "unheard-of"}')
    (tmp_path / "damaged.safetensors").write_bytes(b"\xff" * 64)
    return tmp_path


def content(path):
    """All of a run file but when it was made."""
    found = {}
    with h5py.File(path) as file:
        def take(name, item):
            for key, value in item.attrs.items():
                found[name, key] = repr(value)
            if isinstance(item, h5py.Dataset):
                value = item[()]
                found[name] = (str(item.dtype), item.shape, value.tolist() if item.dtype.kind == "O" else np.asarray(value).tobytes())

        take("/", file)
        file.visititems(take)
    for key in ("created_utc", "seconds", "history"):  # history: that time, and command_line
        found.pop(("/", key), None)
    return found


def told(done):
    return [MEASURED.sub("", data.decode("utf-8")) for data in (done.stdout, done.stderr)]


@pytest.mark.parametrize("case", CASES)
def test_what_comes_of_it_is_the_same(ask, start, folder, case):
    code, arguments = CASES[case]
    if case == "not equal":
        for name, ids in (("a.h5", "1,2,3"), ("b.h5", "1,2,4")):
            assert start("analyze", DEMO / "softmax", "--ids", ids, "-o", name, cwd=folder).returncode == 0
    before = sorted(folder.iterdir())
    done, files = [], []
    for run in (start, ask):
        done.append(run(*arguments, cwd=folder))
        new = sorted({*folder.iterdir()} - {*before})
        assert new == [folder / "run.h5"] * (code == 0 and "run.h5" in arguments)
        files.append({path: content(path) for path in new})
        for path in new:
            path.unlink()
    assert [one.returncode for one in done] == [code, code], done
    assert told(done[0]) == told(done[1]) != ["", ""]
    for path, expected in files[0].items():
        found = files[1][path]
        assert len(expected) > 20
        assert [name for name in {*expected, *found} if expected.get(name) != found.get(name)] == []


def test_standard_input(ask, start, tmp_path):
    arguments = ["tokenize", DEMO / "softmax", "--text-file", "-", "--json"]
    own, answered = (run(*arguments, input="In the beginning\0é".encode()) for run in (start, ask))
    assert own.returncode == answered.returncode == 0 and json.loads(own.stdout)
    assert own.stdout == answered.stdout and own.stderr == answered.stderr


def test_nothing_of_a_request_is_left_for_the_next(ask, start, served, monkeypatch, tmp_path):
    """Environment, folder, mask of new files: each as in the tests' own process at that time."""
    for way, run in (("its_own", start), ("warm", ask)):
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        folder = tmp_path / way
        (folder / "other").mkdir(parents=True)
        monkeypatch.chdir(folder)
        before = os.umask(0o022)
        try:
            for name, mask, display, where in (("a.h5", 0o022, None, None), ("b.h5", 0o077, ":4242", "other"), ("c.h5", 0o022, None, None)):
                os.umask(mask)
                if display:
                    monkeypatch.setenv("DISPLAY", display)
                else:
                    monkeypatch.delenv("DISPLAY", raising=False)
                done = run("analyze", DEMO / "softmax", "--ids", "1,2,3", "-o", name, "--only", "summary", cwd=where and folder / where)
                assert done.returncode == 0, done
                assert (folder / (where or ".") / name).stat().st_mode & 0o777 == 0o666 & ~mask
                display_found = json.loads(run("doctor", "--json").stdout)["display"]
                assert (":4242" in json.dumps(display_found)) == bool(display), display_found
        finally:
            os.umask(before)
    assert served.process.poll() is None


def children(parent):
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            state, its_parent = (folder / "stat").read_text().rsplit(")", 1)[1].split()[:2]
        except OSError:
            continue
        if int(its_parent) == parent and state != "Z":
            found.append(int(folder.name))
    return found


class Waiting:
    """A request whose program reads standard input, to which nothing comes."""

    def __init__(self, served, program, folder):
        end, self.open = os.pipe()
        self.done = []

        def run():
            try:
                self.done.append(served.run([program, *waiting_words(folder)], stdin=end, timeout=LONGEST))
            except Exception as error:
                self.done.append(error)

        self.thread = threading.Thread(target=run)
        self.thread.start()
        within(lambda: served.process and children(served.process.pid))
        (self.number,) = children(served.process.pid)
        os.close(end)

    def ended(self):
        self.thread.join(LONGEST)
        os.close(self.open)
        (done,) = self.done
        return done


def waiting_words(folder):
    return ["analyze", DEMO / "softmax", "--ids-file", "-", "-o", folder / "run.h5"]


def within(condition, seconds=30):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return found


def handled(number):
    """Whether main() has come as far as its handlers."""
    return int(re.search(r"SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{number}/status").read_text())[1], 16) >> (signal.SIGTERM - 1) & 1


def settled(number):
    """What it is given where nothing of it changes any more: it waits."""
    found = [surroundings(number)]

    def same():
        time.sleep(0.2)
        found.append(surroundings(number))
        return found[-1] == found[-2] and handled(number)

    within(same)
    return found[-1]


def surroundings(number):
    """What a process is given: signals, threads, groups, limits, folder, the kinds of its descriptors."""
    folder = pathlib.Path(f"/proc/{number}")
    status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
    kinds = {int(link.name): re.sub(r"\d+", "", os.readlink(link)) for link in (folder / "fd").iterdir()}
    kept = {name: status[name].strip() for name in ("Umask", "SigBlk", "SigIgn", "SigCgt", "Threads", "Uid", "Gid", "Groups", "Seccomp")}
    group_and_session = (folder / "stat").read_text().rsplit(")", 1)[1].split()[2:4]
    return {**kept, "fd": kinds, "cwd": os.readlink(folder / "cwd"), "group": group_and_session, "limits": (folder / "limits").read_text(),
            "exe": os.readlink(folder / "exe")}


def test_it_is_given_what_a_process_is_given(served, program, tmp_path):
    with subprocess.Popen([program, *waiting_words(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as own:
        expected = settled(own.pid)
        own.stdin.close()
        assert own.wait() == 2
    waiting = Waiting(served, program, tmp_path)
    found = settled(waiting.number)
    os.kill(waiting.number, signal.SIGKILL)
    waiting.ended()
    assert set(expected["fd"]) == {0, 1, 2, 3} and expected["fd"][3].endswith("/model.safetensors")
    assert found == expected


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV, signal.SIGTERM, signal.SIGINT])
def test_an_end_by_a_signal_is_told(served, program, ask, tmp_path, number):
    with subprocess.Popen([program, *waiting_words(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as own:
        within(lambda: handled(own.pid))
        own.send_signal(number)
        out, err = own.communicate(timeout=LONGEST)
    waiting = Waiting(served, program, tmp_path)
    within(lambda: handled(waiting.number))
    os.kill(waiting.number, number)
    done = waiting.ended()
    assert done.returncode == own.returncode and done.returncode in (-number, 128 + number)
    assert (done.stdout, done.stderr) == (out, err)
    assert ask("quantities").returncode == 0


def test_what_takes_too_long_is_killed(served, program, tmp_path):
    end, start = os.pipe()
    served.run([program, "quantities"])
    seen = []
    watch = threading.Thread(target=lambda: seen.extend(within(lambda: children(served.process.pid))))
    watch.start()
    with pytest.raises(subprocess.TimeoutExpired):
        served.run([program, *waiting_words(tmp_path)], stdin=end, timeout=2)
    watch.join()
    assert len(seen) == 1 and not pathlib.Path(f"/proc/{seen[0]}").exists()
    os.close(end), os.close(start)
    assert served.run([program, "quantities"]).returncode == 0


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_a_warm_program_that_has_ended_is_an_error_that_says_so(served, program, tmp_path, busy):
    served.run([program, "quantities"])
    if busy:
        waiting = Waiting(served, program, tmp_path)
        served.process.kill()
        error = waiting.ended()
        os.kill(waiting.number, signal.SIGKILL)
        assert isinstance(error, RuntimeError) and "the warm program has ended with -9" in str(error)
    else:
        served.process.kill()
        served.process.wait()
        with pytest.raises(RuntimeError, match="the warm program has ended with -9"):
            served.run([program, "quantities"])
    assert served.run([program, "quantities"]).returncode == 0


def test_nothing_is_forked_where_there_is_a_second_thread(program, served, tmp_path):
    if not (compiler := shutil.which("cc")):
        pytest.skip("no C compiler")
    (tmp_path / "thread.c").write_text("""#include <pthread.h>
#include <unistd.h>
static void* wait_long(void* nothing) { sleep(600); return nothing; }
__attribute__((constructor)) static void begin(void) { pthread_t thread; pthread_create(&thread, 0, wait_long, 0); }
""")
    subprocess.run([compiler, "-shared", "-fPIC", "-pthread", "-o", tmp_path / "thread.so", tmp_path / "thread.c"], check=True)
    threaded = warm.WarmProgram(program, f"{served.library}:{tmp_path / 'thread.so'}")
    with pytest.raises(RuntimeError, match="has ended with 1: the warm program: .*threads"):
        threaded.run([program, "quantities"])


def test_a_library_that_is_not_there_is_an_error_that_says_so(tmp_path, program, served):
    copy = tmp_path / "headroom"
    shutil.copy(program, copy)
    shutil.copy(pathlib.Path(program).parent / "libheadroom_core.so", tmp_path)
    alone = warm.WarmProgram(copy, served.library)
    with pytest.raises(RuntimeError, match="has ended with 1: the warm program: .*LibTorch"):
        alone.run([copy, "quantities"])


@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "ATEN_CPU_CAPABILITY", "LD_LIBRARY_PATH", "ANYTHING_ELSE"])
def test_what_libraries_may_read_while_they_are_loaded_starts_the_program(served, program, monkeypatch, name):
    own = []
    monkeypatch.setattr(warm, "started", lambda command, *more, **options: own.append(command))
    served.run([program, "quantities"], env={**os.environ, "HOME": "/nonexistent"})
    assert not own
    served.run([program, "quantities"], env={**os.environ, name: "1"})
    monkeypatch.setenv(name, "1")
    with pytest.warns(match=name):
        served.run([program, "quantities"])
    monkeypatch.undo()
    assert len(own) == 2
