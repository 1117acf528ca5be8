"""The files of the oracle without the seconds in which each process imports torch and transformers: one Python imports them and forks for
each file.

    one_import.py begin FOLDER        starts it; its socket lies in FOLDER
    one_import.py run FOLDER WORD…    pytest WORD…, in a fork of it; in a process of its own where none has begun
    one_import.py end FOLDER          ends it; by itself it ends when nobody has asked for ten minutes

A fork has the environment, the folder, the standard streams and the umask of who asks, and dies with it.
"""
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import threading

SOCKET = "oracle.socket"
IDLE = 600  # seconds
LIBRARIES = ("numpy", "h5py", "pandas", "scipy.stats", "xarray", "netCDF4", "h5netcdf", "PIL.Image", "safetensors.torch", "tokenizers", "gguf", "torch",
             "transformers.modeling_utils", "transformers.generation", "transformers.models.llama.modeling_llama", "_pytest.assertion.rewrite")


def read_all(connection, size):
    data = b""
    while len(data) < size:
        if not (some := connection.recv(size - len(data))):
            raise EOFError
        data += some
    return data


def connect(folder):
    """None where nobody listens. Addresses of sockets are short: it is named from within its folder."""
    here = os.getcwd()
    connection = socket.socket(socket.AF_UNIX)
    try:
        os.chdir(folder)
        connection.connect(SOCKET)
        return connection
    except OSError:
        connection.close()
        return None
    finally:
        os.chdir(here)


def answer(connection, of_imports):
    """In the fork: what is asked for, with the streams that come with it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    size, streams, _, _ = socket.recv_fds(connection, 4, 3)
    folder, mask, count, *rest = read_all(connection, struct.unpack("=I", size)[0]).split(b"\0")
    words, environment = rest[: int(count)], rest[int(count):]
    connection.sendall(b"s")
    for stream, place in zip(streams, range(3), strict=True):
        os.dup2(stream, place)
        os.close(stream)
    os.environb.clear()
    os.environb.update(pair.split(b"=", 1) for pair in environment)
    for name, value in of_imports.items():
        os.environb.setdefault(name, value)
    os.umask(int(mask))
    os.chdir(folder)

    def follow():
        connection.recv(1)  # nothing comes, but the end of who asks
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=follow, daemon=True).start()
    import pytest

    sys.path[0] = os.fsdecode(folder)
    sys.argv = ["pytest", *map(os.fsdecode, words)]
    code = 1
    try:
        code = int(pytest.main(sys.argv[1:]))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        connection.sendall(struct.pack("=i", code))
        os._exit(code)


def serve(listener):
    before = dict(os.environb)
    for name in LIBRARIES:
        __import__(name)
    of_imports = {name: value for name, value in os.environb.items() if name not in before}
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for forks
    listener.settimeout(IDLE)
    while True:
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            return
        connection.settimeout(None)
        kind = connection.recv(1)
        if kind == b"e":
            return
        if kind == b"r" and os.fork() == 0:
            listener.close()
            answer(connection, of_imports)
        connection.close()


def begin(folder):
    """A daemon; what it has to say lies beside its socket."""
    end(folder)
    os.chdir(folder)
    pathlib.Path(SOCKET).unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    os.umask(0o077)
    listener.bind(SOCKET)
    listener.listen(64)
    if os.fork():
        return
    os.setsid()
    with open(os.devnull) as nothing, open("oracle.log", "w") as said:
        os.dup2(nothing.fileno(), 0)
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
    try:
        serve(listener)
    finally:
        pathlib.Path(SOCKET).unlink(missing_ok=True)
        os._exit(0)


def end(folder):
    if connection := connect(folder):
        connection.sendall(b"e")
        connection.close()


def alone(words):
    return subprocess.run([sys.executable, "-m", "pytest", *words]).returncode


def run(folder, words):
    connection = connect(folder)
    if connection is None:
        return alone(words)
    os.umask(mask := os.umask(0))
    parts = [os.getcwdb(), b"%d" % mask, b"%d" % len(words), *map(os.fsencode, words), *(b"%b=%b" % pair for pair in os.environb.items())]
    request = b"\0".join(parts)
    try:
        connection.sendall(b"r")
        socket.send_fds(connection, [struct.pack("=I", len(request))], [0, 1, 2])
        connection.sendall(request)
        read_all(connection, 1)
    except (EOFError, OSError):  # what was to be imported cannot be
        return alone(words)
    try:
        return struct.unpack("=i", read_all(connection, 4))[0]
    except (EOFError, ConnectionError):
        print("the process of these tests has ended without a word; oracle.log beside the socket:", (pathlib.Path(folder) / "oracle.log").read_text(), sep="\n")
        return 1


if __name__ == "__main__":
    what, where, *rest = sys.argv[1:]
    sys.exit({"begin": lambda: begin(where), "end": lambda: end(where), "run": lambda: run(where, rest)}[what]())
