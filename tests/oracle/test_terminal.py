"""Terminals, pipes, closed streams and locales (tests/FAULTS.md#terminal): results on stdout, progress on stderr."""
import os
import re
import shutil
import signal
import subprocess

import pytest

import checkpoints as C
from command import Outcome, datasets, refused

IDS = "3,17,5,5,40,2,17,5"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "model"
    C.headroom(folder, C.headroom_config("diff_v2"), 5)
    return folder


@pytest.fixture(scope="module")
def reference(command, model, tmp_path_factory):
    """(run file, stdout) of an undisturbed run."""
    out = tmp_path_factory.mktemp("reference") / "run.h5"
    outcome = command("analyze", model, "--ids", IDS, "-o", out)
    assert outcome.code == 0 and outcome.err == b"", outcome
    return out, outcome.text


def analyze(model, out, *arguments):
    return ["analyze", model, "--ids", IDS, "-o", out, *arguments]


def without_numbers_of_the_machine(text):
    """The summary without seconds, memory, and the file's name."""
    text = re.sub(r"\d+(\.\d+)? (s|min|h)\b", "TIME", text)
    return re.sub(r"peak memory \S+ GB", "MEMORY", re.sub(r"\S*run\.h5", "FILE", text))


# --- progress

@pytest.mark.parametrize("json", [[], ["--json"]], ids=["text", "json"])
def test_progress_goes_to_a_terminal_after_what_the_run_takes_and_is_wiped_at_the_end(command, model, tmp_path, json):
    outcome, shown = command.on_terminal(*analyze(model, tmp_path / "run.h5", *json), stream="stderr")
    assert outcome.code == 0, outcome
    for word in ("layer 1 of 2", "layer 2 of 2", "█"):
        assert word in shown.decode(), shown
    estimate, progress = shown.decode().split("\r\n", 1)
    assert re.fullmatch(r"takes up to \S+ [kMG]?B of \S+ [MG]B \([^)]+\): [^\r\n\x1b]+", estimate), shown
    parts = progress.split("\r\x1b[K")
    assert parts[0] == "" and parts[-1] == "" and not any("\n" in part for part in parts), shown
    assert b"layer 1" not in outcome.out and b"\x1b" not in outcome.out
    if json:
        assert outcome.json["tokens"] == 8


def test_no_progress_into_a_pipe_while_stdout_is_a_terminal(command, model, tmp_path, reference):
    outcome, shown = command.on_terminal(*analyze(model, tmp_path / "run.h5"), stream="stdout")
    assert outcome.code == 0 and outcome.err == b"", outcome
    assert b"\x1b" not in shown, "no colours, no cursor movement"
    assert without_numbers_of_the_machine(shown.decode().replace("\r\n", "\n")) == without_numbers_of_the_machine(reference[1])


@pytest.mark.parametrize("arguments", [["inspect", "MODEL"], ["doctor"], ["compare", "RUN", "RUN"]], ids=lambda a: a[0])
def test_other_commands_show_no_progress_and_no_colours(command, model, reference, arguments):
    words = [{"MODEL": model, "RUN": reference[0]}.get(word, word) for word in arguments]
    outcome, shown = command.on_terminal(*words, stream="stderr")
    assert outcome.code == 0 and shown == b"", shown
    outcome, shown = command.on_terminal(*words, stream="stdout", env={"TERM": "xterm-256color"})
    assert outcome.code == 0 and b"\x1b" not in shown


def test_an_error_on_a_terminal_stands_on_a_line_of_its_own(command, model, tmp_path):
    outcome, shown = command.on_terminal(*analyze(model, tmp_path / "run.h5", "--layers", "9"), stream="stderr")
    assert outcome.code == 2 and outcome.out == b""
    assert re.fullmatch(rb"headroom: [^\r\n]+\r\n(hint: [^\r\n]+\r\n)?", shown), shown


# --- broken and closed streams

def broken_pipe():
    reader, writer = os.pipe()
    os.close(reader)
    return writer


@pytest.mark.parametrize("ignored", [(), (signal.SIGPIPE,)], ids=["default", "ignored"])
@pytest.mark.parametrize("arguments", [["analyze"], ["inspect", "MODEL", "--tensors"], ["compare", "RUN", "RUN"], ["doctor", "--json"],
                                       ["analyze", "--help"]], ids=" ".join)
def test_119_a_reader_that_has_gone_is_no_crash(command, model, tmp_path, reference, arguments, ignored):
    out = tmp_path / "run.h5"
    words = [{"MODEL": model, "RUN": reference[0]}.get(word, word) for word in arguments]
    if arguments == ["analyze"]:
        words = analyze(model, out)
    writer = broken_pipe()
    outcome = command(*words, stdout=writer, ignored=ignored)
    os.close(writer)
    assert outcome.code in (0, 141, -signal.SIGPIPE) and outcome.err == b"", outcome
    if arguments == ["analyze"]:
        assert datasets(out) == datasets(reference[0]), "the file is whole before anything is printed"
        assert [p.name for p in tmp_path.iterdir()] == ["run.h5"]


def test_119_errors_into_a_broken_pipe_keep_their_code(command, model, tmp_path):
    writer = broken_pipe()
    outcome = command(*analyze(model, tmp_path / "run.h5", "--layers", "9"), stderr=writer, ignored=(signal.SIGPIPE,))
    os.close(writer)
    assert outcome.code == 2 and not list(tmp_path.iterdir())


@pytest.mark.parametrize("closed", [(1,), (2,), (0, 1, 2)], ids=["stdout", "stderr", "all"])
def test_119_closed_streams_do_not_become_the_run_file(command, model, tmp_path, reference, closed):
    """The next file opened would get the number of a closed stream, and messages would be written into it."""
    out = tmp_path / "run.h5"
    redirections = " ".join(f"{stream}>&-" for stream in closed)
    words = [os.fspath(word) for word in analyze(model, out)]
    shell = subprocess.run(["sh", "-c", f'exec "$0" "$@" {redirections}', os.fspath(command.program), *words], capture_output=True,
                           timeout=120)
    assert shell.returncode == 0 and shell.stderr == b"", shell
    assert datasets(out) == datasets(reference[0])
    again = subprocess.run(["sh", "-c", f'exec "$0" "$@" {redirections}', os.fspath(command.program), *words], capture_output=True,
                           timeout=120)
    assert again.returncode == 2, "the refusal keeps its code where nobody can read it"


def test_119_a_closed_standard_input_is_not_the_checkpoint(command, model, tmp_path):
    """Without care the weights would be opened under number 0 and read as the prompt."""
    words = ["analyze", os.fspath(model), "--ids-file", "-", "-o", os.fspath(tmp_path / "run.h5")]
    shell = subprocess.run(["sh", "-c", 'exec "$0" "$@" <&-', os.fspath(command.program), *words], capture_output=True, timeout=120)
    refused(Outcome(shell.returncode, shell.stdout, shell.stderr), 5, "standard input")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [["inspect", "MODEL"], ["inspect", "MODEL", "--json"], ["compare", "RUN", "RUN"], ["doctor"]],
                         ids=" ".join)
def test_results_that_cannot_be_written_are_not_lost_in_silence(command, model, reference, arguments):
    words = [{"MODEL": model, "RUN": reference[0]}.get(word, word) for word in arguments]
    with open("/dev/full", "wb") as full:
        refused(command(*words, stdout=full), 5, "standard output", "No space left")


# --- locales

def make_locale(folder, name):
    """A compiled locale for LOCPATH, or the reason why there is none."""
    if not shutil.which("localedef") or not os.path.exists(f"/usr/share/i18n/locales/{name}"):
        return f"neither installed nor can localedef make it: {name}"
    made = subprocess.run(["localedef", "-i", name, "-f", "UTF-8", os.fspath(folder / f"{name}.UTF-8")], capture_output=True, text=True)
    return "" if made.returncode <= 1 else made.stderr


@pytest.mark.parametrize("name", ["C", "POSIX", "C.UTF-8", "tr_TR.UTF-8", "de_DE.UTF-8", "no_such_LOCALE"])
def test_119_every_locale_gives_the_same_numbers_and_the_same_text(command, model, tmp_path, reference, name):
    environment = {"LC_ALL": name, "LANG": name, "LANGUAGE": ""}
    if "_" in name and name != "no_such_LOCALE":
        installed = subprocess.run(["locale", "-a"], capture_output=True, text=True).stdout.lower().replace("-", "").split()
        if name.lower().replace("-", "") not in installed:
            (tmp_path / "locales").mkdir()
            if reason := make_locale(tmp_path / "locales", name.removesuffix(".UTF-8")):
                pytest.skip(reason)
            environment["LOCPATH"] = os.fspath(tmp_path / "locales")
    out = tmp_path / "run.h5"
    outcome = command(*analyze(model, out), env=environment)
    assert outcome.code == 0 and outcome.err == b"", outcome
    assert without_numbers_of_the_machine(outcome.text) == without_numbers_of_the_machine(reference[1])
    assert datasets(out) == datasets(reference[0])
    machine = command("compare", reference[0], out, "--json", "--rtol", "0.25", "--atol", "1e-3", env=environment)
    assert machine.code == 0 and (machine.json["rtol"], machine.json["atol"]) == (0.25, 0.001), machine
    inspected = command("inspect", model, env=environment)
    assert inspected.out == command("inspect", model).out and inspected.code == 0
    refused(command("analyze", model, "--ids", "1,99", "-o", tmp_path / "other.h5", env=environment), 2, "expected 0 to 52, found 99")


@pytest.mark.parametrize("name", ["tr_TR", "de_DE"])
def test_the_made_locales_have_a_decimal_comma(tmp_path, name):
    """That the test above tests something: these locales have a decimal comma."""
    if reason := make_locale(tmp_path, name):
        pytest.skip(reason)
    environment = {**os.environ, "LC_ALL": f"{name}.UTF-8", "LOCPATH": os.fspath(tmp_path)}
    printed = subprocess.run(["sh", "-c", "locale decimal_point"], capture_output=True, text=True, env=environment)
    assert printed.stdout == ",\n", printed
