"""The program without the 0.3 s in which each process loads LibTorch: a warm one (tests/support/warm_program.cpp) forks for each request.

What comes of it is what a process of its own gives: test_warm.py holds them together. What is about processes (limits, users, signals,
terminals, what libraries read while they are loaded) starts the program.
"""
import os
import select
import selectors
import socket
import struct
import subprocess
import tempfile
import time
import warnings

# The program asks for these when it needs them, or nobody does. Where another variable is not as the warm program found it, the program
# is started: LibTorch and what it needs read theirs (OMP_NUM_THREADS, MKL_…, ATEN_…) while they are loaded.
READ_LATE = {b"PYTEST_CURRENT_TEST", b"HEADROOM", b"HOME", b"XDG_CONFIG_HOME", b"XDG_STATE_HOME", b"DISPLAY", b"WAYLAND_DISPLAY",
             b"TORCHINDUCTOR_CACHE_DIR", b"HDF5_PLUGIN_PATH"}  # torch and netCDF4 set these two when Python imports them


def started(command, input=None, text=False, **options):
    """A process of its own, with what it says."""
    given = {"input": input} if input is not None else {}
    done = subprocess.run(command, capture_output=True, **given, **options)
    return as_text(done) if text else done


def as_text(done):
    done.stdout, done.stderr = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    return done


def filled_pipe(data):
    """The end to read from; `data` must be what a pipe takes at once."""
    end, start = os.pipe()
    os.write(start, data)
    os.close(start)
    return end


class WarmProgram:
    """run([program, argument, …]) → CompletedProcess, as subprocess.run with capture_output. Of one thread."""

    def __init__(self, program, library):
        self.program, self.library, self.real_name = program, library, os.fsencode(os.path.realpath(program))
        self.process = None

    def run(self, command, input=None, text=False, stdin=None, env=None, timeout=None, cwd=None):
        """`input` is bytes, `stdin` a descriptor, `env` the whole environment."""
        command = [os.fsencode(part) for part in command]
        environment = os.environb if env is None else {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
        if not self.process:
            self.start()
        changed = {name for name, _ in self.environment.items() ^ environment.items()} - READ_LATE
        if changed and env is None:  # it may be an import that has set them, and each run from here on would take longer
            warnings.warn(f"{sorted(changed)} changed since the warm program was started: a process of its own runs")
        if changed or len(input or b"") > select.PIPE_BUF or os.path.realpath(command[0]) != self.real_name:
            return started(command, input, text, **({} if stdin is None else {"stdin": stdin}), env=env, timeout=timeout, cwd=cwd)
        its_in = os.dup(stdin or 0) if input is None else filled_pipe(input)
        done = self.ask(command, its_in, environment, timeout, os.fsencode(cwd or os.getcwd()))
        return as_text(done) if text else done

    def start(self):
        self.said = tempfile.TemporaryFile()
        self.environment = dict(os.environb)
        self.socket, its = socket.socketpair()
        with its:
            preloaded = {b"LD_PRELOAD": os.fsencode(self.library), b"HEADROOM_WARM_SOCKET": b"%d" % its.fileno()}
            self.process = subprocess.Popen([self.program], env={**self.environment, **preloaded}, pass_fds=[its.fileno()],
                                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.said)

    def ask(self, command, its_in, environment, timeout, folder):
        os.umask(mask := os.umask(0))
        words = [folder, b"%d" % mask, b"%d" % len(command), *command, *(b"%b=%b" % pair for pair in environment.items())]
        request = b"".join(word + b"\0" for word in words)
        (out, its_out), (err, its_err) = os.pipe(), os.pipe()
        try:
            socket.send_fds(self.socket, [struct.pack("=I", len(request))], [its_in, its_out, its_err])
            self.socket.sendall(request)
        except OSError:
            pass  # it has ended, as the socket says below
        for descriptor in (its_in, its_out, its_err):
            os.close(descriptor)
        try:
            status, said, complained = self.read(out, err, timeout and time.monotonic() + timeout)
        except TimeoutError:
            self.close()
            raise subprocess.TimeoutExpired(command, timeout) from None
        if not status:
            raise RuntimeError(self.close())
        return subprocess.CompletedProcess(command, os.waitstatus_to_exitcode(*struct.unpack("=i", status)), said, complained)

    def read(self, out, err, end):
        """The answer, nothing where there will be none, and what came from the two pipes."""
        answer = self.socket.fileno()
        parts = {answer: b"", out: b"", err: b""}
        with selectors.DefaultSelector() as waiting, open(out, "rb", 0), open(err, "rb", 0):
            for descriptor in parts:
                waiting.register(descriptor, selectors.EVENT_READ)
            while waiting.get_map():
                ready = waiting.select(end and max(0, end - time.monotonic()))
                if not ready:
                    raise TimeoutError
                for key, _ in ready:
                    try:
                        part = os.read(key.fd, 65536)
                    except ConnectionResetError:
                        part = b""
                    parts[key.fd] += part
                    if not part and key.fd == answer:
                        return parts.values()  # what it has forked may live on
                    if not part or key.fd == answer:
                        waiting.unregister(key.fd)
        return parts.values()

    def close(self):
        """Ends what runs; how the warm program ended, and what it said. The next request starts another."""
        if not self.process:
            return ""
        self.socket.close()
        code = self.process.wait()
        self.process = None
        with self.said as said:
            said.seek(0)
            return f"the warm program has ended with {code}: {said.read().decode('utf-8', 'replace')}"
