"""What is read in the window is what the run file holds: numbers of heads, cells, texts that are copied, colours of pixels."""
import csv
import io
import math
import subprocess

import h5py
import numpy as np
import pytest

import window as W

DEMO = W.ROOT / "assets" / "demo"
TOKENS = 64
OPEN_LANGUAGE_MODEL = f"open .deps/demo/SmolLM2-135M-Instruct.Q4_1.gguf\nwait\nprompt.built-in gpl-3 {TOKENS}\nrun\nwait\n"
OPEN_DIFFERENTIAL = "demo bytes/diff_v2\nwait\n"


@pytest.fixture(scope="module")
def window(program, display, tmp_path_factory):
    return W.Window(program, display, tmp_path_factory.mktemp("window"))


@pytest.fixture(scope="module")
def language_window(program, display, tmp_path_factory, demo_gguf):
    return W.Window(program, display, tmp_path_factory.mktemp("window"), demo_gguf)


def analyzed(program, folder, *arguments):
    """The whole maps of one head, from the command line."""
    out = folder / "exact.h5"
    result = subprocess.run([program, "analyze", *arguments, "--device", "cpu", "--exact-maps", "--force", "-o", out], capture_output=True,
                            text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    return out


def maps_of(path):
    """Kind of map → n × n, NaN where masked."""
    with h5py.File(path) as file:
        net = file["exact/net_weights"][0, 0].astype(float)
        weights = file["exact/weights"][0, 0].astype(float)
        ids = file["tokens/token_id"][()].tolist()
    weights = weights.reshape(-1, *net.shape)
    found = {"net": net, "first": weights[0]}
    if len(weights) == 2 and np.isfinite(weights[1]).any():
        found.update(second=weights[1], scaled=weights[0] - net)
    future = np.triu(np.ones(net.shape, bool), 1)
    for values in found.values():
        values[future] = np.nan
    return found, ids


@pytest.fixture(scope="module")
def language_maps(program, language_window, demo_gguf):
    return maps_of(analyzed(program, language_window.folder, demo_gguf, "--text-file", W.ROOT / "assets" / "prompts" / "gpl-3.txt",
                            "--max-tokens", str(TOKENS), "--layers", "17", "--heads", "4"))[0]


@pytest.fixture(scope="module")
def differential_maps(program, window):
    return maps_of(analyzed(program, window.folder, DEMO / "bytes" / "diff_v2", "--layers", "1", "--heads", "0"))[0]


def pixels(window, script, theme):
    outcome = window.run(f"{script}theme {theme}\nwait\nscreenshot build/window/values.png\nquit\n")
    picture = window.picture("values.png")
    x0, y0, x1, y1 = (outcome.number(f"map.{edge}") for edge in ("x0", "y0", "x1", "y1"))
    # Off the diagonal: a hairline runs along it.
    query, key = np.nonzero(np.tri(TOKENS, TOKENS, -2, dtype=bool))
    column = np.floor(x0 + (key + 0.5) * (x1 - x0) / TOKENS).astype(int)
    row = np.floor(y0 + (query + 0.5) * (y1 - y0) / TOKENS).astype(int)
    return outcome, query, key, picture[row, column]


def shows(table, entries, colors, steps=1):
    """For each color whether it is that of an entry at most `steps` away, up to the rounding of its channels."""
    near = [np.abs(colors - table[np.clip(entries + step, 0, 255)]).max(axis=1) <= 1.0 for step in range(-steps, steps + 1)]
    return np.any(near, axis=0)


def check_pixels(window, script, maps, kind, scale, low, high, theme):
    outcome, query, key, colors = pixels(window, f"{script}map {kind}\nmap.scale {scale}\nmap.range {low} {high}\n", theme)
    assert outcome.facts["map.scale"] == scale
    assert outcome.number("map.query1") == TOKENS
    diverging = low < 0
    assert outcome.number("map.range_high") == pytest.approx(high) and outcome.number("map.range_low") == pytest.approx(low)
    values = maps[kind][query, key]
    position = W.scale_position(scale, low, high, outcome.number("map.threshold"), values)
    entries = np.round(255 * position).astype(int)
    table = W.color_table(f"{'diverging' if diverging else 'sequential'} {theme}")
    right = shows(table, entries, colors)
    assert len(right) > 1900 and len(set(entries)) > 20, (len(right), len(set(entries)))
    wrong = [(int(query[i]), int(key[i]), values[i], entries[i], colors[i].tolist()) for i in np.flatnonzero(~right)[:5]]
    assert right.all(), f"{(~right).sum()} of {len(right)} pixels; query, key, value, entry, colour: {wrong}"
    # The measure tells colours apart: with another value in each cell most would be wrong.
    other = np.roll(entries, 1)
    assert shows(table, other, colors).mean() < 0.9


@pytest.mark.parametrize("scale,low,high,theme", [("log10", 1e-4, 1, "dark"), ("log10", 1e-3, 0.5, "light"), ("linear", 0, 0.3, "dark"),
                                                  ("linear", 0, 0.05, "light")])
def test_pixels_of_a_softmax_map(language_window, language_maps, scale, low, high, theme):
    check_pixels(language_window, OPEN_LANGUAGE_MODEL + "select L17.H4\n", language_maps, "net", scale, low, high, theme)


@pytest.mark.parametrize("kind,scale,low,high,theme", [
    ("net", "symlog", -0.4, 0.4, "dark"), ("net", "linear", -0.2, 0.2, "light"), ("first", "log10", 1e-4, 1, "dark"),
    ("second", "linear", 0, 0.4, "dark"), ("scaled", "log10", 1e-4, 0.5, "light"),
])
def test_pixels_of_a_differential_map(window, differential_maps, kind, scale, low, high, theme):
    check_pixels(window, OPEN_DIFFERENTIAL + "select L1.H0\n", differential_maps, kind, scale, low, high, theme)


# --- numbers ---

def near(fact, value, relative=2e-5, absolute=0.0):
    """Lines that expect a fact to be a value."""
    value = float(value)
    if math.isnan(value):
        return f"expect {fact} == nan\n"
    slack = abs(value) * relative + absolute
    return f"expect {fact} >= {value - slack!r}\nexpect {fact} <= {value + slack!r}\n"


def test_cells_are_those_of_the_exact_maps(window, differential_maps):
    places = [(63, 0), (50, 20), (40, 40), (17, 3), (5, 5), (0, 0), (62, 61), (33, 12)]
    script = OPEN_DIFFERENTIAL + "select L1.H0\n"
    for kind in ("net", "first", "second", "scaled"):
        script += f"map {kind}\n"
        for query, key in places:
            value = differential_maps[kind][query, key]
            script += f"pin {query} {key}\nwait\n" + near("map.cell", value, absolute=2e-7) + near("map.value", value, absolute=2e-7)
    window.run(script + "quit\n")


def heads_of(path):
    """Quantity of the root group → layers × heads; of the first component or quantile where there are several."""
    with h5py.File(path) as file:
        shape = (file["layer"].shape[0], file["head"].shape[0])
        found = {}
        for name, item in file.items():
            if isinstance(item, h5py.Dataset) and item.shape[:2] == shape and item.dtype.kind in "fiu":
                found[name] = item[()].astype(float).reshape(*shape, -1)[:, :, 0]
        return found


@pytest.fixture(scope="module")
def exported(window):
    path = window.pictures / "values.h5"
    outcome = window.run(OPEN_DIFFERENTIAL + "export build/window/values.h5\nwait\nexpect message ~ saved\nquit\n")
    quantities = heads_of(path)
    shown = {name.removeprefix("head.") for name in outcome.facts if name.startswith("head.")}
    assert len(shown) > 40 and {"sink_score", "lambda_mean"} <= shown and shown <= set(quantities), sorted(shown - set(quantities))
    return {name: quantities[name] for name in shown}


@pytest.mark.parametrize("opened", [OPEN_DIFFERENTIAL, "open build/window/values.h5\nwait\n"])
def test_numbers_of_heads_are_those_of_the_run_file(window, exported, opened):
    script = opened
    for layer, head in ((0, 0), (0, 3), (1, 0), (1, 2)):
        script += f"select L{layer}.H{head}\nwait\n"
        for name, values in exported.items():
            script += near(f"head.{name}", values[layer, head], relative=1e-6)
    window.run(script + "quit\n")


def test_the_table_that_is_copied_is_the_run_file(window, exported):
    names = ["sink_score", "context_rms_relative_mean", "lambda_mean", "logit_max", "weight_l2_mean"]
    outcome = window.run(OPEN_DIFFERENTIAL + f"heads table\nheads.columns {','.join(names)}\nwait\nheads.copy csv\nwait\nquit\n")
    rows = list(csv.DictReader(io.StringIO(outcome.facts["clipboard"])))
    layers, heads = exported["sink_score"].shape
    assert len(rows) == layers * heads
    for row in rows:
        layer, head = int(row["layer"]), int(row["head"])
        for name in names:
            assert float(row[name]) == pytest.approx(exported[name][layer, head], rel=1e-6), (name, row)
    scores = [float(row["sink_score"]) for row in rows]
    assert scores == sorted(scores, reverse=True)


def test_a_row_that_is_copied_is_the_map(window, differential_maps):
    outcome = window.run(OPEN_DIFFERENTIAL + "select L1.H0\ncopy.row 50\nwait\nquit\n")
    rows = list(csv.DictReader(io.StringIO(outcome.facts["clipboard"])))
    assert [int(row["key"]) for row in rows] == list(range(51))
    for column, kind in (("first", "first"), ("second", "second"), ("net", "net")):
        found = np.array([float(row[column]) for row in rows])
        np.testing.assert_allclose(found, differential_maps[kind][50, :51], rtol=2e-5, atol=2e-7)


def test_a_value_that_is_copied_is_the_cell(window, differential_maps):
    outcome = window.run(OPEN_DIFFERENTIAL + "select L1.H0\nmap second\ncopy 50 20\nwait\nquit\n")
    assert float(outcome.facts["clipboard"]) == pytest.approx(differential_maps["second"][50, 20], rel=2e-5)


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_a_click_pins_the_cell_under_it(window, scale):
    first = window.run(OPEN_DIFFERENTIAL + "select L1.H0\nwait\nquit\n", "--scale", str(scale))
    x0, y0, x1, y1 = (first.number(f"map.{edge}") for edge in ("x0", "y0", "x1", "y1"))
    script = OPEN_DIFFERENTIAL + "select L1.H0\n"
    for query, key in ((40, 13), (63, 0), (20, 20), (50, 37)):
        x, y = x0 + (key + 0.5) * (x1 - x0) / TOKENS, y0 + (query + 0.5) * (y1 - y0) / TOKENS
        script += f"click {x:.2f} {y:.2f}\nwait\nexpect select.query == {query}\nexpect select.key == {key}\n"
    window.run(script + "quit\n", "--scale", str(scale))


# --- thumbnails ---

@pytest.mark.parametrize("theme,by_value", [("dark", False), ("light", True)])
def test_thumbnails_are_the_pooled_maps_of_the_run_file(program, language_window, demo_gguf, theme, by_value):
    """At 68 pixels, 3 for key 0 and 1 free, a thumbnail of 64 tokens has a pixel for each weight: colours are those of /maps."""
    out = language_window.folder / "pooled.h5"
    result = subprocess.run([program, "analyze", demo_gguf, "--text-file", W.ROOT / "assets" / "prompts" / "gpl-3.txt", "--max-tokens",
                             str(TOKENS), "--maps", "64", "--device", "cpu", "--force", "-o", out], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    with h5py.File(out) as file:
        pooled = file["maps/pooled_max_abs"][()].astype(float)
        scores = file["sink_score"][:, :, 0].astype(float)
        first = np.abs(file["rows/first_key_weight"][:, :, 0].astype(float))
    assert pooled.shape[2:] == (TOKENS, TOKENS)
    outcome = language_window.run(
        OPEN_LANGUAGE_MODEL + f"heads maps\npanel.maximise heads\nheads.maps.size 68\nheads.maps.number none\n"
        f"heads.maps.order {'value' if by_value else 'index'}\nselect L29.H8\ntheme {theme}\nwait\npointer 5 5\nwait\n"
        "screenshot build/window/thumbnails.png\nquit\n")
    picture = language_window.picture("thumbnails.png")
    x0, y0, pitch_x, pitch_y = (outcome.number(f"maps.{name}") for name in ("x0", "y0", "pitch_x", "pitch_y"))
    columns, scrolled = int(outcome.number("maps.columns")), outcome.number("maps.scrolled")
    layers, heads = scores.shape
    order = sorted(range(layers * heads), key=lambda i: (-scores.flat[i], i)) if by_value else list(range(layers * heads))
    table = W.color_table(f"sequential {theme}")
    low = 10.0 ** math.floor(math.log10(1.0 / TOKENS))
    checked, distinct = 0, set()
    row, column = np.nonzero(np.tri(TOKENS, TOKENS, dtype=bool))
    inner = (row > 4) & (row < 60) & (column > 0)  # contours and frames lie on the rim
    row, column = row[inner], column[inner]
    for place, index in enumerate(order):
        left, top = x0 + place % columns * pitch_x, y0 + place // columns * pitch_y - scrolled
        if top < y0 or top + 68 > outcome.number("maps.y1") or not by_value and place % 3:
            continue
        layer, head = divmod(index, heads)
        if (layer, head) == (29, 8):
            continue
        entries = np.round(255 * W.scale_position("log10", low, 1.0, 0.0, pooled[layer, head][row, column])).astype(int)
        colors = picture[int(top) + row, int(left) + 4 + column]
        right = shows(table, entries, colors)
        assert right.all(), (layer, head, int((~right).sum()))
        strip = np.round(255 * W.scale_position("log10", low, 1.0, 0.0, first[layer, head][5:60])).astype(int)
        assert shows(table, strip, picture[int(top) + np.arange(5, 60), int(left) + 1]).all(), (layer, head)
        checked += 1
        distinct |= set(entries.tolist())
    assert checked >= 20 and len(distinct) > 200, (checked, len(distinct))
