"""A fork of the Python that has imported everything tests as a process of its own does."""
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import one_import

FILE = pathlib.Path(one_import.__file__)


@pytest.fixture
def begun(tmp_path):
    """begun(*libraries): a Python that has imported these; its folder."""
    def call(*libraries):
        subprocess.run([sys.executable, "-c", f"import one_import; one_import.LIBRARIES = {libraries!r}; one_import.begin({str(tmp_path)!r})"],
                       cwd=FILE.parent, check=True)
        return tmp_path

    yield call
    subprocess.run([sys.executable, FILE, "end", tmp_path], check=True)


def ask(folder, name, text, **options):
    path = folder / f"test_{name}.py"
    path.write_text(text)
    return subprocess.Popen([sys.executable, FILE, "run", folder, "-q", "-p", "no:cacheprovider", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, **options)


def test_codes_streams_and_surroundings_are_those_of_who_asks(begun, tmp_path):
    folder = begun("colorsys")
    (tmp_path / "here").mkdir()
    text = ("import os, sys\n\ndef test_a():\n    print('word of ' + os.environ['WHO'], os.getcwd(), oct(os.umask(0)), os.getppid(), 'colorsys' in sys.modules)\n"
            "    assert os.environ['WHO'] == 'one'\n")
    run = lambda who: ask(folder, "a", text, env={**os.environ, "WHO": who}, cwd=tmp_path / "here", umask=0o27)
    good, bad = run("one"), run("two")
    assert good.wait(60) == 0 and "1 passed" in good.stdout.read()
    said = bad.stdout.read() if bad.wait(60) == 1 else None
    assert f"word of two {tmp_path / 'here'} 0o27" in said and "True" in said and f" {bad.pid} " not in said
    none = ask(folder, "b", "")
    assert none.wait(60) == 5  # as of pytest


def test_it_dies_with_who_asks(begun, tmp_path):
    folder = begun("colorsys")
    asking = ask(folder, "a", f"import os, pathlib, subprocess, time\n\ndef test_a():\n    child = subprocess.Popen(['sleep', '300'])\n"
                              f"    pathlib.Path('{tmp_path}/pids.new').write_text(f'{{os.getpid()}} {{child.pid}}')\n"
                              f"    os.rename('{tmp_path}/pids.new', '{tmp_path}/pids')\n    time.sleep(300)\n")
    deadline = time.monotonic() + 60
    while not (tmp_path / "pids").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    pids = (tmp_path / "pids").read_text().split()
    alive = lambda pid: pathlib.Path(f"/proc/{pid}/stat").exists() and pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    assert all(map(alive, pids))
    asking.send_signal(signal.SIGKILL)
    asking.wait()
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(map(alive, pids))


@pytest.mark.parametrize("libraries", [(), ("no_such_library",)], ids=["nobody has begun", "what cannot be imported"])
def test_without_it_a_process_of_its_own_tests(begun, tmp_path, libraries):
    if libraries:
        begun(*libraries)
    asking = ask(tmp_path, "a", "import os\n\ndef test_a():\n    print(os.getppid())\n    assert False\n")
    said = asking.stdout.read() if asking.wait(60) == 1 else None
    assert f"\n{asking.pid}\n" in said
