"""The program as a user calls it: exit code and bytes, and what tests/FAULTS.md says of every refusal."""
import dataclasses
import fcntl
import functools
import hashlib
import json
import os
import pathlib
import pty
import re
import resource
import signal
import struct
import subprocess
import termios

import h5py
import numpy as np
import pytest

ERROR_KEYS = ["code", "message", "file", "tensor", "offset", "expected", "found", "hint"]
CODE_NAMES = {2: {"invalid_argument"}, 3: {"corrupt"}, 4: {"unsupported"}, 5: {"not_found", "io"}, 6: {"out_of_memory"},
              7: {"device"}, 130: {"cancelled"}}
NOBODY = 65534  # a user to whom permissions apply, where the tests run as root


@dataclasses.dataclass
class Outcome:
    code: int  # negative: ended by that signal
    out: bytes
    err: bytes

    @property
    def text(self):
        return self.out.decode("utf-8")

    @property
    def errors(self):
        return self.err.decode("utf-8")

    @property
    def json(self):
        return one_object(self.text)

    def __str__(self):
        return f"exit code {self.code}\n--- stdout\n{self.out[-2000:]!r}\n--- stderr\n{self.err[-2000:]!r}"


def one_object(text):
    """The one JSON object that `text` consists of, without NaN, Infinity or a key twice."""
    def refuse(value):
        raise AssertionError(f"{value} is not JSON")

    def unique(pairs):
        assert len(dict(pairs)) == len(pairs), f"a key twice: {[key for key, _ in pairs]}"
        return dict(pairs)

    value = json.loads(text, parse_constant=refuse, object_pairs_hook=unique)
    assert isinstance(value, dict)
    return value


def _in_child(limits, ignored):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for which, value in limits.items():
        resource.setrlimit(which, (value, value))


class Command:
    """command("inspect", path, …) → Outcome; start() → Popen for what is to be disturbed while it runs. `run` (conftest.py) is what calls
    the program where nothing is asked of its process; without it each call starts one."""

    def __init__(self, program, run=None):
        self.program, self.run = pathlib.Path(program).resolve(), run

    def start(self, *arguments, env=None, limits=None, ignored=(), nobody=False, **pipes):
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **pipes}
        if nobody and os.geteuid() == 0:
            streams.update(user=NOBODY, group=NOBODY, extra_groups=[])
        return subprocess.Popen([os.fsencode(self.program), *(os.fsencode(a) if isinstance(a, os.PathLike) else a for a in arguments)],
                                env={**os.environ, **(env or {})},
                                preexec_fn=functools.partial(_in_child, limits or {}, ignored), **streams)

    def __call__(self, *arguments, stdin=b"", **options):
        if self.run and options.keys() <= {"cwd"}:
            done = self.run([self.program, *arguments], input=stdin, timeout=120, **options)
            return Outcome(done.returncode, done.stdout, done.stderr)
        with self.start(*arguments, stdin=subprocess.PIPE, **options) as process:
            out, err = process.communicate(stdin, timeout=120)
        return Outcome(process.returncode, out or b"", err or b"")

    def on_terminal(self, *arguments, stream="stderr", columns=0, **options):
        """With `stream` on a terminal, of so many columns: (Outcome of the other one, what the terminal got)."""
        leader, follower = open_terminal()
        if columns:
            fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        other = "stdout" if stream == "stderr" else "stderr"
        with self.start(*arguments, **{stream: follower}, **options) as process:
            os.close(follower)
            shown = read_all(leader)
            rest = getattr(process, other).read()
        os.close(leader)
        return Outcome(process.returncode, rest if other == "stdout" else b"", rest if other == "stderr" else b""), shown


def open_terminal():
    """(leader, follower) of a new pseudo-terminal; skips where the machine has none, as in a bare root without devpts."""
    try:
        return pty.openpty()
    except OSError as error:
        pytest.skip(f"no pseudo-terminal here: {error}")


def read_all(descriptor):
    parts = []
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:  # a terminal whose other side is closed
            part = b""
        if not part:
            return b"".join(parts)
        parts.append(part)


def refused(outcome, code, *words):
    """One line that begins with the program's name and holds every word, at most two of hint: and warning:, nothing raw."""
    assert outcome.code == code, outcome
    assert outcome.err.endswith(b"\n"), outcome
    lines = outcome.errors.removesuffix("\n").split("\n")
    assert lines[0].startswith("headroom: ") and len(lines[0]) > len("headroom: "), outcome
    assert len(lines) <= 3 and all(line.startswith(("hint: ", "warning: ")) for line in lines[1:]), outcome
    assert not [c for c in outcome.errors if is_raw(c) and c != "\n"], outcome
    for word in words:
        assert word in outcome.errors, f"{word!r} is not in the message\n{outcome}"
    return lines


def is_raw(character):
    """Control bytes and what turns the direction of a line: never printed as they are."""
    point = ord(character)
    return point < 0x20 or 0x7F <= point < 0xA0 or point in (0x200E, 0x200F, 0x2028, 0x2029) or 0x202A <= point <= 0x202E \
        or 0x2066 <= point <= 0x2069


def refused_both_ways(command, code, words, *arguments, **options):
    """The refusal in text, with nothing on stdout, and the same with --json, as one object with the contract's keys."""
    plain = command(*arguments, **options)
    lines = refused(plain, code, *words)
    assert plain.out == b"", plain
    machine = command(*arguments[:1], "--json", *arguments[1:], **options)
    error = check_error_object(machine, code)
    assert [without_size(line) for line in refused(machine, code, *words)] == [without_size(line) for line in lines], machine
    assert error["message"].replace("\\", "")[:20] in lines[0].replace("\\", ""), (error, lines)
    return error


def without_size(line):
    """The line without the number of bytes a file needs: the file records the command line, so --json may lengthen it by an HDF5 block."""
    return re.sub(r"needs at least \d+ bytes", "needs at least bytes", line)


def check_error_object(outcome, code):
    error = outcome.json["error"]
    assert list(sorted(error)) == sorted(ERROR_KEYS), error
    assert error["code"] in CODE_NAMES[code], error
    assert isinstance(error["message"], str) and error["message"], error
    assert error["offset"] is None or isinstance(error["offset"], int), error
    for key in ("file", "tensor", "expected", "found", "hint"):
        assert error[key] is None or (isinstance(error[key], str) and error[key]), (key, error)
    return error


def snapshot(folder):
    """Everything below a folder: name → kind and content. Equal before and after: nothing was written or left."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_symlink():
            found[str(path)] = ("link", os.readlink(path))
        elif path.is_file():
            found[str(path)] = ("file", path.stat().st_ino, hashlib.sha256(path.read_bytes()).hexdigest())
        else:
            found[str(path)] = ("other", path.stat().st_mode)
    return found


def datasets(path):
    """Name → type, shape and bytes of every dataset; strings as lists."""
    found = {}

    def take(name, item):
        if isinstance(item, h5py.Dataset):
            strings = item.dtype.kind == "O"
            values = item.asstr()[()] if strings else item[()]
            found[name] = (str(item.dtype), item.shape, np.asarray(values).tolist() if strings else values.tobytes())

    with h5py.File(path, "r") as file:
        file.visititems(take)
    assert len(found) > 70, sorted(found)
    return found
