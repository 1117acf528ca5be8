"""A person at the window: a display with a window manager, keys and a mouse (xdotool), files as they are left behind."""
import os
import pathlib
import shutil
import subprocess
import time

import window as W


def missing():
    """Why nobody can sit at the window here; empty where one can."""
    lacking = [program for program in ("Xvfb", "xdotool", "openbox") if not shutil.which(program)]
    return f"{' and '.join(lacking)}: not installed; tests/run.sh installs them" if lacking else ""


def until(answer, otherwise, longest=180):
    """What `answer` gives once it gives something; for as long as a machine takes that has much else to do."""
    end = time.monotonic() + longest
    while time.monotonic() < end:
        if found := answer():
            return found
        time.sleep(0.2)
    raise AssertionError(otherwise)


class Desk:
    """A screen and its window manager, for as long as the tests run."""

    def __init__(self, size="1920x1200x24"):
        self.screen = W.Display(size)
        self.environment = dict(os.environ, DISPLAY=self.screen.name or "", LIBGL_ALWAYS_SOFTWARE="1", LC_ALL="C.UTF-8")
        for name in ("WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_CURRENT_DESKTOP"):
            self.environment.pop(name, None)
        self.manager = subprocess.Popen(["openbox", "--sm-disable"], env=self.environment, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        if self.screen.name:  # desktops are counted once it manages windows
            until(lambda: self.asks("get_num_desktops"), "no window manager")

    def asks(self, *what):
        """What xdotool says; empty where it fails, or hangs on a window that went away."""
        try:
            done = subprocess.run(["xdotool", *what], env=self.environment, capture_output=True, text=True, timeout=10)
        except subprocess.TimeoutExpired:
            return ""
        return done.stdout.strip() if done.returncode == 0 else ""

    def close(self):
        self.manager.terminate()
        self.manager.wait(10)
        self.screen.close()


class Hands:
    """The program as a person starts it: with settings of its own, in a folder, no script."""

    def __init__(self, program, desk, folder, *arguments, **variables):
        self.folder, self.desk = pathlib.Path(folder), desk
        environment = dict(desk.environment, XDG_CONFIG_HOME=str(self.folder / "config"), XDG_STATE_HOME=str(self.folder / "state"),
                           **{name: str(value) for name, value in variables.items()})
        self.process = subprocess.Popen([str(program), "--facts", *map(str, arguments)], cwd=self.folder, env=environment,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.id = until(self.window, "the program shows no window").split()[0]
        self.settle()
        self.does("windowactivate", "--sync", self.id)
        self.settle()

    def window(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the program ended: {self.process.returncode}, {self.process.communicate()}")
        return self.desk.asks("search", "--onlyvisible", "--pid", str(self.process.pid))

    def does(self, *what):
        done = subprocess.run(["xdotool", *what], env=self.desk.environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (what, done.stderr, self.process.poll())
        return done.stdout

    def settle(self, quiet=0.6, longest=240):
        """Until no thread of the program runs, or waits for a processor or a disk, for a while: one that starves is not at rest."""
        def busy():
            states = []
            for path in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/stat"):
                try:
                    states.append(path.read_text().rsplit(")", 1)[1].split()[0])
                except OSError:  # it ended meanwhile
                    pass
            return any(state in "RD" for state in states)
        end, since = time.monotonic() + longest, time.monotonic()
        while time.monotonic() < end:
            if busy():
                since = time.monotonic()
            elif time.monotonic() - since > quiet:
                return
            time.sleep(0.03)
        raise AssertionError("the program does not come to rest")

    def keys(self, *keys):
        for key in keys:
            self.does("key", "--clearmodifiers", key)
            self.settle(0.15)  # shorter than the blink of a caret

    def types(self, text):
        self.does("type", "--clearmodifiers", "--delay", "20", text)
        self.settle(0.15)  # shorter than the blink of a caret

    def clicks(self, x, y, button=1):
        self.does("mousemove", "--window", self.id, str(x), str(y), "click", str(button))
        self.settle(0.15)  # shorter than the blink of a caret

    def commands(self, line):
        """By the palette."""
        self.keys("ctrl+p")
        self.types(line)
        self.keys("Return")
        self.settle()

    def size(self):
        shape = dict(line.split("=") for line in self.does("getwindowgeometry", "--shell", self.id).split())
        return int(shape["WIDTH"]), int(shape["HEIGHT"])

    def resizes(self, width, height):
        self.does("windowsize", "--sync", self.id, str(width), str(height))
        self.settle()

    def leaves(self):
        """Ctrl+Q: what the program knew at the end."""
        self.keys_without_waiting("ctrl+q")
        out, err = self.process.communicate(timeout=60)
        assert self.process.returncode == 0 and err == "", (self.process.returncode, err[-2000:])
        return W.Outcome("hands", self.process.returncode, out, err).facts

    def keys_without_waiting(self, key):
        self.does("key", "--clearmodifiers", key)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
