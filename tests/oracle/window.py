"""The window under Xvfb: scripts, what the program says after them, pictures and the colours in them."""
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading
import time

import numpy as np
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "tests" / "window"
BASELINES = SCRIPTS / "baselines"
TILE = 16  # pixels of a side whose mean is kept
LONGEST = 420  # seconds of a script: the machine may be busy


class Display:
    """A screen of its own for as long as the tests run."""

    def __init__(self, size="2560x1600x24"):
        read, write = os.pipe()
        self.process = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", size, "-nolisten", "tcp"], pass_fds=[write],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as pipe:
            number = pipe.readline().strip()
        self.name = f":{number}" if number else None

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(10)


class Window:
    """Runs scripts in a folder that looks like the root of the repository: assets, the demo model, build/window."""

    def __init__(self, program, display, folder, demo=None):
        self.program, self.display, self.folder = program, display, pathlib.Path(folder)
        self.pictures = self.folder / "build" / "window"
        self.made = self.pictures / "made"
        self.made.mkdir(parents=True, exist_ok=True)
        (self.folder / "assets").symlink_to(ROOT / "assets")
        if demo:
            link = self.folder / ".deps" / "demo" / "SmolLM2-135M-Instruct.Q4_1.gguf"
            link.parent.mkdir(parents=True)
            link.symlink_to(demo)

    def environment(self, **changes):
        env = dict(os.environ, LIBGL_ALWAYS_SOFTWARE="1", XDG_CONFIG_HOME=str(self.folder / "config"), LC_ALL="C.UTF-8")
        for name in ("WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_CURRENT_DESKTOP"):  # no desktop but the test's
            env.pop(name, None)
        env["DISPLAY"] = self.display or ""
        env.update(changes)
        return {key: value for key, value in env.items() if value is not None}

    def run(self, script, *arguments, size="1440x900", code=0, when=None, env=None, longest=LONGEST):
        """`script`: a file of tests/window or lines. `when`: picture's name → what to do once it is there."""
        if "\n" in str(script):
            path = self.folder / "given.script"
            path.write_text(script)
        else:
            path = SCRIPTS / script
        command = [str(self.program), "--script", str(path), "--size", size, "--facts", "--times", *arguments]
        process = subprocess.Popen(command, cwd=self.folder, env=self.environment(**(env or {})), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        watcher = threading.Thread(target=self._watch, args=(process, when or {}), daemon=True)
        watcher.start()
        try:
            out, err = process.communicate(timeout=longest)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise AssertionError(f"{path.name} took more than {longest} s\n{out[-3000:]}\n{err[-3000:]}") from None
        outcome = Outcome(path.name, process.returncode, out, err)
        assert outcome.code == code, f"{path.name}: exit code {outcome.code}, not {code}\n{out[-3000:]}\n{err[-2000:]}"
        if code == 0:
            assert outcome.times["gl_errors"] == 0, outcome.times
            assert err == "", f"{path.name} complained: {err[-2000:]}"
        return outcome

    def _watch(self, process, when):
        waiting = dict(when)
        while waiting and process.poll() is None:
            for name in [n for n in waiting if (self.pictures / n).exists()]:
                waiting.pop(name)()
            time.sleep(0.02)

    def picture(self, name):
        return np.asarray(Image.open(self.pictures / name).convert("RGB")).astype(np.float64)


class Outcome:
    def __init__(self, name, code, out, err):
        self.name, self.code, self.out, self.err = name, code, out, err
        self.facts = {}
        for line in out.splitlines():
            if " = " in line and not line.startswith("{"):
                key, value = line.split(" = ", 1)
                self.facts[key] = re.sub(r"\\(.)", lambda m: {"n": "\n", "r": "\r"}.get(m[1], m[1]), value)
        self.rows = [json.loads(line) for line in out.splitlines() if line.startswith("{")]  # of `times`
        self.times = self.rows[-1] if self.rows else {}

    def number(self, fact):
        return float(self.facts[fact])


def missing():
    """Why no window can be opened here; empty where one can."""
    return "" if shutil.which("Xvfb") else "Xvfb is not installed"


# --- pictures ---

def tile_means(picture, masks=()):
    """H × W × 3 → means of 16 × 16 tiles, uint8. `masks`: (x0, y0, x1, y1) whose content differs between runs."""
    picture = picture.copy()
    for x0, y0, x1, y1 in masks:
        picture[y0:y1, x0:x1] = 0
    height, width = (side // TILE * TILE for side in picture.shape[:2])
    tiles = picture[:height, :width].reshape(height // TILE, TILE, width // TILE, TILE, 3)
    return np.round(tiles.mean(axis=(1, 3))).astype(np.uint8)


def compare_with_baseline(name, picture, masks=()):
    """Empty if the picture is the kept one, which is that of the folder for the installed font where it has one; else what
    differs. HEADROOM_WRITE_BASELINES=1 keeps it instead; =inter_4.1 in the folder of that name, where it is not the kept one."""
    means = tile_means(picture, masks)
    common, of_font = BASELINES / name, BASELINES / font_release() / name
    write = os.environ.get("HEADROOM_WRITE_BASELINES", "")
    if write == "1" or (write and not (common.exists() and not differs_from(common, means))):
        path = common if write == "1" else BASELINES / write / name
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(means).save(path, optimize=True)
    kept = of_font if of_font.exists() else common
    if not kept.exists():
        return f"{name}: no baseline; HEADROOM_WRITE_BASELINES=1 keeps one"
    return differs_from(kept, means)


@functools.cache
def font_release():
    """The folder of the installed release of Inter, as in "inter_4.1"; "" where no package says which it is."""
    try:
        asked = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "fonts-inter"], capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    version = re.match(r"(?:\d+:)?(\d+\.\d+)", asked.stdout)
    return f"inter_{version[1]}" if version else ""


def differs_from(path, means):
    """What differs between the kept tiles and these; empty if nothing does."""
    kept, name = np.asarray(Image.open(path).convert("RGB")), path.relative_to(BASELINES)
    if kept.shape != means.shape:
        return f"{name}: {means.shape[1]} × {means.shape[0]} tiles, kept are {kept.shape[1]} × {kept.shape[0]}"
    difference = np.abs(means.astype(int) - kept.astype(int)).max(axis=2)
    far = difference > FAR
    if difference.mean() <= MOST_MEAN and far.mean() <= MOST_FAR:
        return ""
    rows, columns = np.nonzero(far)
    where = f", from ({columns.min() * TILE}, {rows.min() * TILE}) to ({(columns.max() + 1) * TILE}, {(rows.max() + 1) * TILE})" if len(rows) else ""
    return (f"{name}: tiles differ by {difference.mean():.2f} on average (at most {MOST_MEAN}), {100 * far.mean():.1f} % of them by more "
            f"than {FAR} (at most {100 * MOST_FAR} %){where}")


# Of 255, of 255, of all tiles. The same machine draws the same picture; another tint of a line of tokens is more than this.
# Words of running text lie a pixel or two elsewhere in another release of the font: Debian 12 has Inter 4.0 beta, 13 has 4.1.
FAR, MOST_MEAN, MOST_FAR = 12, 0.75, 0.005


# --- colours, from the design's tokens ---

CONTROL = {
    "sequential dark": "0C0D20 1E1744 381E65 5E237A 842781 A92D78 CB3B64 E25652 F17643 F79A42 F7BD5E F6DE9C FCF9D6",
    "sequential light": "FBFAF6 F6E4C2 F7C991 FAA96B F78859 ED6858 D84C5E BD3663 9F296B 7D256F 5B2169 3A1B59 1E1443",
    "diverging dark": "94E1FC 6CC6F5 4FAAE9 3A8CD7 2D6FBE 27559C 254073 222F48 1E1E1E 42291D 673319 8A4114 AB5514 C86D1C DF8C34 EDAD56 "
                      "F5CF82",
    "diverging light": "172F65 204589 295DAB 3879C7 5395D8 75B0E4 9BCAED C7E2F3 F7F7F7 F1D8C2 EAB892 E19767 D27542 BC5524 9C3D19 792C16 "
                       "561F14",
}


def color_table(name):
    """256 × 3: control points at equal steps, linear between them."""
    points = np.array([[int(color[i:i + 2], 16) for i in (0, 2, 4)] for color in CONTROL[name].split()], float)
    at = np.linspace(0, len(points) - 1, 256)
    return np.stack([np.interp(at, range(len(points)), points[:, channel]) for channel in range(3)], axis=1)


def scale_position(kind, low, high, threshold, value):
    """0 … 1 along the colour bar."""
    value = np.asarray(value, float)
    if kind == "linear":
        position = (value - low) / (high - low)
    elif kind == "log10":
        with np.errstate(divide="ignore"):
            position = np.log10(np.maximum(value, 1e-300) / low) / np.log10(high / low)
    else:  # symlog: linear up to the threshold, there as wide as a decade beyond it
        def stretch(magnitude):
            magnitude = np.maximum(magnitude / threshold, 1e-300)
            return np.where(magnitude <= 1, magnitude, 1 + np.log10(np.maximum(magnitude, 1)))

        position = 0.5 + 0.5 * np.sign(value) * stretch(np.abs(value)) / stretch(np.float64(high))
    return np.clip(position, 0, 1)


def nearest_entry(table, colors):
    """Entry of the table that is closest to each color, and how far it is (largest channel)."""
    distance = np.abs(colors[:, None, :] - table[None]).max(axis=2)
    return distance.argmin(axis=1), distance.min(axis=1)
