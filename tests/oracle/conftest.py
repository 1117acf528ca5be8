"""Paths and the program under test. HEADROOM names the program, HEADROOM_DEMO_GGUF and HEADROOM_ENCODER the real models."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import warm  # noqa: E402
import window  # noqa: E402
from command import NOBODY, Command  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]

SKIP_CODE = 77  # also in tests/CMakeLists.txt


def pytest_collection_finish():
    if torch := sys.modules.get("torch"):  # a second to import, which many files do not need
        torch.set_num_threads(1)  # tiny tensors: threads only cost


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    """A file whose tests all skipped themselves has checked nothing: it ends with an exit code of its own."""
    stats = session.config.pluginmanager.get_plugin("terminalreporter").stats
    checked = any(stats.get(outcome) for outcome in ("passed", "xfailed", "xpassed", "failed", "error"))
    if exitstatus == pytest.ExitCode.OK and stats.get("skipped") and not checked:
        session.exitstatus = SKIP_CODE


@pytest.fixture(scope="session")
def program():
    path = pathlib.Path(os.environ.get("HEADROOM", ROOT / "build" / "tests" / "headroom"))
    if not path.exists():
        pytest.fail(f"no program at {path}: build it or set HEADROOM")
    return path


@pytest.fixture(scope="session")
def run_program(program):
    """run_program([program, argument, …]) → CompletedProcess: by a warm program where HEADROOM_WARM names what makes one of it."""
    library = os.environ.get("HEADROOM_WARM")
    if not library or "LD_PRELOAD" in os.environ:
        yield warm.started
        return
    served = warm.WarmProgram(program, library)
    yield served.run
    served.close()


@pytest.fixture(scope="session")
def analyze(program, run_program):
    """analyze(checkpoint, ids, out, *arguments) → CompletedProcess."""
    def call(checkpoint, ids, out, *arguments, check=True):
        command = [str(program), "analyze", str(checkpoint), "--ids", ",".join(map(str, ids)), "-o", str(out), "--device", "cpu",
                   *arguments]
        result = run_program(command, text=True, timeout=300)
        if check:
            assert result.returncode == 0, f"{' '.join(command)}\n{result.stdout[-2000:]}\n{result.stderr[-4000:]}"
        return result

    return call


@pytest.fixture(scope="module")
def parity(request):
    """parity(subject, **found) keeps what a test found for the table of parity_table.py, where HEADROOM_PARITY names a folder."""
    if not (folder := os.environ.get("HEADROOM_PARITY")):
        return lambda subject, **found: None
    path = pathlib.Path(folder) / f"{request.module.__name__}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")

    def keep(subject, **found):
        with path.open("a") as file:
            file.write(json.dumps({"subject": subject, **found}) + "\n")

    return keep


@pytest.fixture(scope="session")
def encoder():
    path = pathlib.Path(os.environ.get("HEADROOM_ENCODER", ROOT / ".deps" / "all-MiniLM-L6-v2"))
    if not (path / "model.safetensors").exists():
        pytest.skip(f"the encoder is not at {path}")
    return path


@pytest.fixture(scope="session")
def demo_gguf():
    path = pathlib.Path(os.environ.get("HEADROOM_DEMO_GGUF", ROOT / ".deps" / "demo" / "SmolLM2-135M-Instruct.Q4_1.gguf"))
    if not path.exists():
        pytest.skip(f"the demo model is not at {path}")
    return path


@pytest.fixture(scope="session")
def command(program):
    return Command(program)


@pytest.fixture(scope="session")
def warm_command(program, run_program):
    """As `command`, for files that are not about processes."""
    return Command(program, run_program)


@pytest.fixture
def public_folder(program):
    """A folder that any user can write to, for tests of permissions: pytest's own belong to the user of the tests."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        if os.geteuid() == 0:
            try:
                reach = subprocess.run([program, "doctor"], user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True)
            except PermissionError:
                reach = None
            if not reach or reach.returncode != 0:
                pytest.skip("the tests run as root, to whom permissions do not apply, and nobody else can run the program")
        yield pathlib.Path(name)


@pytest.fixture(scope="module")
def display():
    """A screen of its own for the window."""
    if reason := window.missing():
        pytest.skip(reason)
    screen = window.Display()
    if not screen.name:
        pytest.skip("Xvfb does not start")
    yield screen.name
    screen.close()
