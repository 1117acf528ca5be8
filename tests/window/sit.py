#!/usr/bin/env python3
"""Twenty minutes at the window by real keys and a real mouse, on a display with a window manager: every view, files
opened and saved, sizes, scales and themes between them, clicks and drags anywhere. It ends with an error if the program
ends, says anything on standard error, or shows an error that nobody provoked; what it looked like lies in FOLDER.

sit.py PROGRAM FOLDER [MINUTES [SEED]]     needs Xvfb, openbox and xdotool, which tests/run.sh installs
"""
import pathlib
import random
import re
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "oracle"))

import hands  # noqa: E402

DEMO = ROOT / "assets" / "demo"
SIZES = [(800, 500), (1024, 640), (1280, 720), (1440, 900), (1680, 1050), (1920, 1080), (2400, 1400)]
SCALES = [1, 1.25, 1.5, 2, 3]
VIEWS = [
    ["heads atlas", "heads.quantity context_rms_relative_mean", "panel.maximise heads", "panel.maximise heads"],
    ["heads maps", "panel.maximise heads", "heads.maps.show second", "panel.maximise heads", "heads atlas"],
    ["heads scatter", "lasso L0.H0,L1.H2,L1.H3", "lasso.ablate off", "heads atlas"],
    ["beside on", "lasso L0.H0", "lasso.invert", "lasso.what-if temperature=2", "lasso none", "beside off"],
    ["heads table", "heads.sort sink_score", 'heads.filter layer > 0', 'heads.filter', "heads atlas"],
    ["map net", "map first", "map logits", "map.scale symlog", "map.range auto", "map.colours viridis", "map net"],
    ["zoom 8 24 0 16", "pin 20 4", "map.fit", "pin none"],
    ["what-if hide-key=0", "what-if.complete", "compare", "compare.mode difference", "compare.mode swipe", "compare.close"],
    ["importance", "importance.run off", "importance.run mean", "importance.colour mean", "importance.against layer",
     "importance.close"],
    ["circuit on", "circuit.token a", "circuit off"],
    ["residual on", "residual.cells rms", "residual off"],
    ["tokens.tint loss", "tokens.arcs on", "tokens.attention layer", "tokens.tint attention"],
    ["prompt.built-in gpl-3 96", "run", "prompt.built-in demo", "run"],
    ["prompt.edit"],
    ["keys"],
    ["settings"],
    ["log"],
    ["about"],
]
MODELS = ["bytes/diff_v2", "bytes/diff_v1", "bytes/softmax", "backcopy/diff_v2", "trigger_bos/softmax"]
KEYS = ["Tab", "shift+Tab", "Return", "Left", "Right", "Up", "Down", "plus", "minus", "0", "f", "1", "2", "3", "bracketleft",
        "bracketright", "Home", "End", "Page_Down", "Page_Up", "ctrl+z", "ctrl+shift+z", "i", "o", "c", "Escape"]


class Sitting:
    def __init__(self, program, folder, seed):
        self.folder = folder
        self.dice = random.Random(seed)
        self.desk = hands.Desk("2560x1600x24")
        self.person = hands.Hands(program, self.desk, folder, DEMO / "bytes" / "diff_v2")
        self.count = {"commands": 0, "keys": 0, "clicks": 0, "drags": 0, "wheels": 0, "pictures": 0}

    def command(self, line):
        self.person.commands(line)
        self.person.keys("Escape")  # what the line may have opened, or the palette that found nothing for it
        self.count["commands"] += 1

    def anywhere(self):
        width, height = self.person.size()
        return self.dice.randrange(4, width - 4), self.dice.randrange(40, height - 4)

    def press(self):
        self.person.keys(self.dice.choice(KEYS))
        self.count["keys"] += 1

    def click(self):
        self.person.clicks(*self.anywhere(), button=self.dice.choice([1, 1, 1, 3]))
        self.person.keys("Escape")
        self.count["clicks"] += 1

    def drag(self):
        (x0, y0), (x1, y1) = self.anywhere(), self.anywhere()
        self.person.does("mousemove", "--window", self.person.id, str(x0), str(y0), "mousedown", "1")
        for k in range(1, 6):
            self.person.does("mousemove", "--window", self.person.id, str(x0 + (x1 - x0) * k // 5), str(y0 + (y1 - y0) * k // 5))
        self.person.does("mouseup", "1")
        self.person.settle(0.15)
        self.count["drags"] += 1

    def wheel(self):
        at = self.anywhere()
        for _ in range(self.dice.randrange(1, 8)):
            self.person.clicks(*at, button=self.dice.choice([4, 5]))
        self.count["wheels"] += 1

    def picture(self, name):
        self.person.commands(f'screenshot "{self.folder / name}.png"')
        self.person.settle()
        self.person.keys("Escape")
        self.count["pictures"] += 1

    def sit(self, seconds):
        end, turn = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            if turn % 3 == 0:
                self.person.resizes(*self.dice.choice(SIZES))
                self.command(f"scale {self.dice.choice(SCALES)}")
                self.command(f"theme {self.dice.choice(['dark', 'light'])}")
            if turn % 5 == 4:
                self.command(f"demo {self.dice.choice(MODELS)}")
            for line in self.dice.choice(VIEWS):
                self.command(line)
                for _ in range(self.dice.randrange(4)):
                    self.dice.choice([self.press, self.press, self.click, self.drag, self.wheel])()
            if turn % 6 == 5:
                self.picture(f"sit-{turn:03d}")
                name = self.folder / f"sit-{turn:03d}"
                self.command(f'session.save "{name}.headroom"')
                self.command(f'heads.save "{name}.csv"')
            turn += 1
        self.picture("sit-end")
        self.person.commands("log.copy")
        self.person.settle()
        return self.person.leaves(), turn


def main():
    if reason := hands.missing():
        sys.exit(reason)
    program, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    minutes = float(sys.argv[3]) if len(sys.argv) > 3 else 20.0
    folder.mkdir(parents=True, exist_ok=True)
    sitting = Sitting(program, folder, int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    try:
        facts, turns = sitting.sit(60.0 * minutes)
    finally:
        sitting.person.close()
        sitting.desk.close()
    print(f"{minutes:g} minutes, {turns} turns:", ", ".join(f"{count} {what}" for what, count in sitting.count.items()))
    print("runs", facts["runs"], "errors", facts["errors"], facts.get("error", ""))
    (folder / "messages.txt").write_text(facts["clipboard"] + "\n")
    strange = [line for line in facts["clipboard"].splitlines() if re.search(r"no such command|bug of this program|OpenGL", line)]
    print("\n".join(strange))
    if facts["errors"] != "0" or strange:
        sys.exit("an error was shown that nobody provoked")


if __name__ == "__main__":
    main()
