"""One picture of every kind of figure, as it was: what is drawn anew may differ by how edges are rasterised, and by nothing else.

All letters are DejaVu's, of which Debian 12 and 13 have one version: theirs of Inter differ in the widths of digits, which moves what stands
beside them. HEADROOM_WRITE_GOLDENS=1 keeps the pictures as new goldens, to be looked at before they are committed."""
import json
import os
import pathlib
import re

import numpy as np
import PIL.Image
import pytest

import shipped_figures as S
from svg_figure import SVG, Figure

GOLDENS = S.ROOT / "tests" / "fixtures" / "figures"
FONT = pathlib.Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")
DPI = 100
PALETTE = 128
MOST_BYTES = 400_000  # together

FAR = 16           # of 255: a pixel that differs
MOST_FAR = 0.01    # of all pixels
BLOCK = 24         # pixels; blocks overlap by half
MOST_FAR_IN_BLOCK = 0.04


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


def blurred(picture):
    """H × W × 3 → means of 3 × 3 pixels: an edge is as dark wherever it lies between pixels."""
    padded = np.pad(picture.astype(float), ((1, 1), (1, 1), (0, 0)), mode="edge")
    height, width = picture.shape[:2]
    return sum(padded[y:y + height, x:x + width] for y in range(3) for x in range(3)) / 9


def beyond_neighbours(a, b):
    """How far a's pixels lie outside what b has within a pixel of them: 0 where something moved by a pixel."""
    padded = np.pad(b, ((1, 1), (1, 1), (0, 0)), mode="edge")
    height, width = b.shape[:2]
    near = [padded[y:y + height, x:x + width] for y in range(3) for x in range(3)]
    return np.maximum(np.maximum(a - np.maximum.reduce(near), np.minimum.reduce(near) - a), 0).max(axis=2)


def differing(kept, found):
    """H × W: pixels that differ."""
    kept, found = blurred(kept), blurred(found)
    return np.maximum(beyond_neighbours(kept, found), beyond_neighbours(found, kept)) > FAR


def worst_block(far):
    """(share of its pixels that differ, x, y)."""
    step, (height, width) = BLOCK // 2, far.shape
    sums = np.pad(far.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    y0, x0 = np.arange(0, max(1, height - step), step)[:, None], np.arange(0, max(1, width - step), step)[None]
    y1, x1 = np.minimum(y0 + BLOCK, height), np.minimum(x0 + BLOCK, width)
    shares = (sums[y1, x1] - sums[y0, x1] - sums[y1, x0] + sums[y0, x0]) / ((y1 - y0) * (x1 - x0))
    y, x = np.unravel_index(shares.argmax(), shares.shape)
    return shares[y, x], int(x0[0, x]), int(y0[y, 0])


def difference(kept, found):
    """Empty if the pictures are the same but for their letters' edges; else what differs, and where."""
    if kept.shape != found.shape:
        return f"{found.shape[1]} × {found.shape[0]} pixels, kept are {kept.shape[1]} × {kept.shape[0]}"
    far = differing(kept, found)
    most, x, y = worst_block(far)
    if far.mean() <= MOST_FAR and most <= MOST_FAR_IN_BLOCK:
        return ""
    return (f"{100 * far.mean():.2f} % of the pixels differ (at most {100 * MOST_FAR:.0f} %), {100 * most:.1f} % (at most "
            f"{100 * MOST_FAR_IN_BLOCK:.0f} %) of those from ({x}, {y}) to ({x + BLOCK}, {y + BLOCK})")


def pixels(path):
    with PIL.Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


@pytest.fixture(scope="module")
def runs(command, tmp_path_factory):
    return S.make_runs(command, tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def drawn(command, runs, tmp_path_factory):
    """drawn(kind, ending) → path."""
    if not FONT.exists():
        pytest.skip(f"no {FONT}: the Debian package fonts-dejavu-core has it")
    folder = tmp_path_factory.mktemp("drawn")

    def call(kind, ending):
        path = folder / f"{kind}.{ending}"
        if not path.exists():
            outcome = command(*S.arguments_of(kind, runs), "--font", FONT, "-o", path,
                              *(["--dpi", str(DPI)] if ending == "png" else []))
            assert outcome.code == 0 and "warning" not in outcome.errors, outcome
        return path

    return call


def golden(kind):
    path = GOLDENS / f"{kind}.png"
    assert path.exists(), f"no golden of {kind}; HEADROOM_WRITE_GOLDENS=1 keeps one"
    return pixels(path)


def test_every_kind_has_a_golden(command, runs):
    kinds = [kind["kind"] for kind in json.loads(command("figure", runs["softmax"], "--list", "--json").text)]
    assert sorted(kinds) == sorted(S.FIGURES), "shipped_figures.FIGURES says how each kind is drawn"
    if os.environ.get("HEADROOM_WRITE_GOLDENS") != "1":
        assert sorted(path.stem for path in GOLDENS.glob("*")) == sorted(kinds)
        assert sum(path.stat().st_size for path in GOLDENS.glob("*")) <= MOST_BYTES


@pytest.mark.parametrize("kind", S.FIGURES)
def test_the_picture_is_the_kept_one(drawn, kind):
    found = pixels(drawn(kind, "png"))
    if os.environ.get("HEADROOM_WRITE_GOLDENS") == "1":
        GOLDENS.mkdir(exist_ok=True)
        PIL.Image.fromarray(found).quantize(PALETTE, PIL.Image.Quantize.MAXCOVERAGE, dither=PIL.Image.Dither.NONE).save(
            GOLDENS / f"{kind}.png", optimize=True)
    what = difference(golden(kind), found)
    assert not what, what


# --- what the comparison finds, on the goldens themselves


def texts_on(path):
    """(text, size, x0, y0, x1, y1) of every text of an SVG, in points."""
    for element in Figure(path).root.iter(SVG + "path"):
        if not (text := element.get("aria-label")) or not (outline := element.get("d")):
            continue
        numbers, at, x, y = re.findall(r"[A-Z]|-?[\d.]+(?:e-?\d+)?", outline), "", [], []
        for word in numbers:
            if word.isalpha():
                at, place = word, 0
            else:
                (y if at == "V" or (at != "H" and place % 2) else x).append(float(word))
                place += 1
        tx, ty, turn = re.match(r"translate\((\S+) (\S+)\)(?: rotate\((\S+)\))?$", element.get("transform")).groups()
        x, y = np.array([min(x), max(x)]), np.array([min(y), max(y)])
        if turn:
            assert float(turn) == pytest.approx(-90, abs=1e-3)
            x, y = y, -x[::-1]
        yield text, float(element.get("data-size")), x[0] + float(tx), y[0] + float(ty), x[1] + float(tx), y[1] + float(ty)


def around_box(picture, x0, y0, x1, y1):
    """The part of it that has all blocks with pixels of the box, and where it begins."""
    x, y = (max(0, v // BLOCK - 1) * BLOCK for v in (x0, y0))
    return picture[y:y1 + 2 * BLOCK, x:x1 + 2 * BLOCK], x, y


@pytest.mark.parametrize("kind", S.FIGURES)
def test_a_lost_label_is_found(drawn, kind):
    """Each text of the picture, one after the other, as white as paper."""
    kept, lost = golden(kind), []
    for text, size, *box in texts_on(drawn(kind, "svg")):
        if size < 6 or not re.search(r"\w", text):
            continue  # an index, a comma
        x0, y0, x1, y1 = (round(v * DPI / 72) for v in box)
        around, x, y = around_box(kept, x0, y0, x1, y1)
        without = around.copy()
        without[max(0, y0 - 1 - y):y1 + 1 - y, max(0, x0 - 1 - x):x1 + 1 - x] = 255
        if worst_block(differing(around, without))[0] <= MOST_FAR_IN_BLOCK:
            lost.append((text, x0, y0))
    assert not lost


@pytest.mark.parametrize("kind", S.FIGURES)
def test_what_moved_by_two_pixels_is_found(drawn, kind):
    for plot in Figure(drawn(kind, "svg")).plots:
        if not plot.x or not plot.y:
            continue
        (x0, x1), (y0, y1) = (sorted(round(v * DPI / 72) for v in (axis.start, axis.end)) for axis in (plot.x, plot.y))
        around, x, y = around_box(golden(kind), x0, y0, x1, y1)
        for axis in (0, 1):
            moved = around.copy()
            moved[y0 - y:y1 - y, x0 - x:x1 - x] = np.roll(around[y0 - y:y1 - y, x0 - x:x1 - x], 2, axis=axis)
            assert worst_block(differing(around, moved))[0] > MOST_FAR_IN_BLOCK, (plot.id, axis)


@pytest.mark.parametrize("kind", S.FIGURES)
def test_other_colours_are_found(kind):
    kept = golden(kind)
    coloured = np.ptp(kept.astype(int), axis=2) > 40
    assert coloured.any()
    for order in ((1, 2, 0), (2, 0, 1)):
        other = kept.copy()
        other[coloured] = kept[coloured][:, order]
        assert difference(kept, other), order


def test_letters_may_lie_between_pixels():
    """A picture that is drawn larger and reduced, with its edges elsewhere: no difference."""
    kept = golden("rms")
    large = PIL.Image.fromarray(kept).resize((kept.shape[1] * 4, kept.shape[0] * 4), PIL.Image.Resampling.BICUBIC)
    for shift in (1, 2, 3):
        moved = PIL.Image.new("RGB", large.size, "white")
        moved.paste(large, (shift, shift))
        assert not difference(kept, np.asarray(moved.reduce(4))), shift
