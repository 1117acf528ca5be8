"""Figures of maps and of running text: every pixel, bar and colour is a number of the run file, read with h5py."""
import base64
import io
import re
import shutil
import subprocess

import h5py
import numpy as np
import pandas
import PIL.Image
import pytest

import checkpoints as C
from command import refused
from svg_figure import SVG, Figure
from window import color_table, scale_position

TOKENS = 150
IDS = ",".join(str(i * 7 % 53) for i in range(TOKENS))
L, H = 1, 2


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


@pytest.fixture(scope="module")
def runs(tmp_path_factory, command):
    folder = tmp_path_factory.mktemp("runs")
    made = {}

    def analyze(name, model, *arguments, ids=IDS):
        made[name] = folder / f"{name}.h5"
        outcome = command("analyze", folder / model, "--ids", ids, "-o", made[name], "--device", "cpu", *arguments)
        assert outcome.code == 0, outcome

    for number, kind in enumerate(("softmax", "diff_v2", "diff_v1")):
        C.headroom(folder / kind, C.headroom_config(kind), 5 + number)
        analyze(kind, kind, "--exact-maps")
    analyze("pooled", "softmax", "--maps", "16")
    analyze("pooled_pair", "diff_v2", "--maps", "16", "--components")
    analyze("pooled_net", "diff_v2", "--maps", "16")
    analyze("summary", "softmax", "--only", "summary")
    analyze("hidden", "softmax", "--exact-maps", "--what-if", "hide-key=3")
    analyze("window", "softmax", "--exact-maps", "--what-if", "window=20")
    analyze("one", "softmax", "--exact-maps", ids="5")
    analyze("two", "softmax", "--exact-maps", ids="5,6")
    return made


def draw(command, run, tmp_path, *arguments):
    """The figure's SVG and its table."""
    path = tmp_path / "out.svg"
    outcome = command("figure", run, *arguments, "-o", path, "--force", "--data", "-")
    assert outcome.code == 0 and "warning" not in outcome.errors, outcome
    return Figure(path), pandas.read_csv(io.StringIO(outcome.text), comment="#")


def image_of(series):
    element, = series.marks
    data = base64.b64decode(element.get("href").split(",")[1])
    box = [float(element.get(name)) for name in ("x", "y", "width", "height")]
    assert element.get("style") == "image-rendering:pixelated"
    return np.asarray(PIL.Image.open(io.BytesIO(data)).convert("RGB"), dtype=int), box


def cells_of(series, height, width):
    """[height, width, 3]: the colour of each cell, which is one flat block of pixels, at least 600 to the inch."""
    pixels, (_, _, wide, high) = image_of(series)
    ky, kx = pixels.shape[0] // height, pixels.shape[1] // width
    assert pixels.shape[:2] == (height * ky, width * kx)
    assert pixels.shape[1] >= wide / 72 * 600 - 1e-3 and pixels.shape[0] >= high / 72 * 600 - 1e-3
    blocks = pixels.reshape(height, ky, width, kx, 3)
    assert (blocks == blocks[:, :1, :, :1]).all(), "a cell has one colour"
    return blocks[:, 0, :, 0]


def entry(table, share):
    return table[np.rint(255 * np.clip(np.nan_to_num(share), 0, 1)).astype(int)]


def log_share(values, low=1e-4):
    return scale_position("log10", low, 1, None, values)


def signed_share(values):
    return scale_position("symlog", -1, 1, 0.1, values)


def check_colours(cells, values, expected_shares, table, seen):
    assert (cells[~seen] == 255).all(), "what a query does not see is paper"
    expected = entry(table, expected_shares)
    assert abs(cells[seen] - expected[seen]).max() <= 4  # an entry's neighbour, where the share lies on its edge
    assert (abs(cells[seen] - expected[seen]).max(axis=1) <= 1).mean() > 0.99
    assert np.isfinite(values[seen]).all()


def check_cells(data, series, values, seen, step=1, rows0=0, keys0=0):
    """The table holds each visible cell once, with the dataset's very value."""
    part = data[data["series"] == series]
    rows, keys = (part["row"].to_numpy(dtype=int) - rows0) // step, (part["key"].to_numpy(dtype=int) - keys0) // step
    assert len(part) == seen.sum() and seen[rows, keys].all() and len(set(zip(rows, keys))) == len(part)
    assert (part["y"].to_numpy() == values[rows, keys]).all()


# --- all maps


@pytest.mark.parametrize(("run", "name", "map_name"), [("pooled", "maps/pooled_max_abs", "sequential light"), ("pooled_net", "maps/pooled_signed_extreme", "diverging light")])
def test_the_grid_shows_every_head(command, runs, tmp_path, run, name, map_name):
    figure, data = draw(command, runs[run], tmp_path, "grid", "--head", "L1.H2")
    plot = figure.plot("grid")
    with h5py.File(runs[run]) as file:
        maps = file[name][()].astype(float)
    assert len(data) == 8 and (data["mark"] == "map").all()
    blocks = maps.shape[-1]
    for l in range(2):
        for h in range(4):
            values = maps[l, h]
            seen = ~np.isnan(values)
            share = log_share(values) if run == "pooled" else signed_share(values)
            cells = cells_of(plot.named("map", f"L{l}.H{h}"), blocks, blocks)
            check_colours(cells, values, share, color_table(map_name), seen)
            line = data[(data["layer"] == l) & (data["head"] == h)].iloc[0]
            assert line["n"] == seen.sum()
            assert abs(line["y"]) == np.nanmax(np.abs(values)) and line["y"] in values[seen]
            # In its place: around the layer across and the head down.
            _, (x, y, width, height) = image_of(plot.named("map", f"L{l}.H{h}"))
            assert plot.x.value(x + width / 2) == pytest.approx(l, abs=1e-3) and plot.y.value(y + height / 2) == pytest.approx(h, abs=1e-3)
    figure, data = draw(command, runs[run], tmp_path, "grid", "--layers", "1", "--heads", "0,3")
    assert sorted(zip(data["layer"], data["head"])) == [(1, 0), (1, 3)]
    refused(command("figure", runs["summary"], "grid", "-o", tmp_path / "no.svg"), 4, "pooled_max_abs", "--maps 64")


# --- one map


def test_pixels_and_table_of_a_map_are_the_datasets(command, runs, tmp_path):
    with h5py.File(runs["softmax"]) as file:
        net = file["exact/net_weights"][L, H].astype(float)
    seen = np.tri(TOKENS, dtype=bool)
    figure, data = draw(command, runs["softmax"], tmp_path, "map", "--head", f"L{L}.H{H}")
    plot = figure.plot("map")
    check_cells(data, "map", net, seen)
    cells = cells_of(plot.named("map"), TOKENS, TOKENS)
    check_colours(cells, net, log_share(net), color_table("sequential light"), seen)
    # The image lies on the axes: cell k is around k.
    _, (x, y, width, height) = image_of(plot.named("map"))
    for axis, start, size in ((plot.x, x, width), (plot.y, y, height)):
        assert axis.value(start) == pytest.approx(-0.5, abs=1e-3) and axis.value(start + size) == pytest.approx(TOKENS - 0.5, abs=1e-3)
    strip = cells_of(plot.named("key 0"), TOKENS, 1)[:, 0]
    assert (strip == cells[:, 0]).all()
    assert (data[data["series"] == "key 0"]["y"].to_numpy() == net[:, 0]).all()
    labels = [text for text, _ in figure.texts]
    assert "0" in labels and str(TOKENS - 1) in labels and f"L{L}.H{H}" in labels


def test_a_part_of_a_map(command, runs, tmp_path):
    with h5py.File(runs["softmax"]) as file:
        net = file["exact/net_weights"][L, H].astype(float)
    figure, data = draw(command, runs["softmax"], tmp_path, "map", "--head", f"L{L}.H{H}", "--rows", "100:140", "--keys", "10:70")
    seen = np.ones((40, 60), dtype=bool)
    check_cells(data, "map", net[100:140, 10:70], seen, 1, 100, 10)
    check_colours(cells_of(figure.plot("map").named("map"), 40, 60), net[100:140, 10:70], log_share(net[100:140, 10:70]),
                  color_table("sequential light"), seen)
    assert [s.name for s in figure.plot("map").series] == ["map"], "no strip where key 0 is not drawn"
    assert "Rows 100 to 139" in figure.description


def test_a_lens_shows_the_cells_around_one(command, runs, tmp_path):
    with h5py.File(runs["softmax"]) as file:
        net = file["exact/net_weights"][L, H].astype(float)
    figure, data = draw(command, runs["softmax"], tmp_path, "map", "--head", f"L{L}.H{H}", "--cell", "120,3")
    window, seen = net[112:129, 0:12], np.ones((17, 12), dtype=bool)
    check_cells(data, "lens", window, seen, 1, 112, 0)
    check_colours(cells_of(figure.plot("map").named("lens"), 17, 12), window, log_share(window), color_table("sequential light"), seen)
    labels = [text for text, _ in figure.texts]
    assert "query 120" in labels and "key 3" in labels
    refused(command("figure", runs["softmax"], "map", "--cell", "200,3", "-o", tmp_path / "a.pdf"), 2, "--cell 200,3", "rows 0:150")
    refused(command("figure", runs["pooled"], "map", "--cell", "120,3", "-o", tmp_path / "a.pdf"), 4, "--exact-maps")


@pytest.mark.parametrize(("run", "sees"), [("hidden", lambda i, j: (j <= i) & (j != 3)),
                                           ("window", lambda i, j: (j <= i) & (i - j < 20))])
def test_what_is_masked_is_paper(command, runs, tmp_path, run, sees):
    with h5py.File(runs[run]) as file:
        net = file["exact/net_weights"][L, H].astype(float)
    i, j = np.mgrid[:TOKENS, :TOKENS]
    seen = sees(i, j)
    assert (net[~seen] == 0).all(), "the file says the same"
    figure, data = draw(command, runs[run], tmp_path, "map", "--head", f"L{L}.H{H}")
    check_cells(data, "map", net, seen)
    check_colours(cells_of(figure.plot("map").named("map"), TOKENS, TOKENS), net, log_share(net), color_table("sequential light"), seen)


def test_weights_that_are_not_finite_are_hatched(command, runs, tmp_path):
    run = tmp_path / "broken.h5"
    shutil.copy(runs["softmax"], run)
    with h5py.File(run, "r+") as file:
        file["exact/net_weights"][L, H, 60, :30] = np.nan
        file["exact/net_weights"][L, H, 61, :10] = np.inf
    figure, data = draw(command, run, tmp_path, "map", "--head", f"L{L}.H{H}")
    lost = data[(data["series"] == "map") & (data["mark"] == "hatched")]
    assert len(lost) == 40 and lost["y"].isna().all() and set(lost["row"]) == {60, 61}
    assert "Hatched: 40 cells" in figure.description


@pytest.mark.parametrize(("run", "count"), [("one", 1), ("two", 2)])
def test_maps_of_few_tokens(command, runs, tmp_path, run, count):
    figure, data = draw(command, runs[run], tmp_path, "map", "--head", f"L{L}.H{H}")
    assert len(data) == count * (count + 1) // 2
    edges = [e for e in figure.root.iter(SVG + "path") if e.get("stroke") == "#8c8c8c"]
    assert len(edges) == (0 if count == 1 else 1)


# --- pooled maps


def blocks_of(values, seen, size, how):
    n = -(-len(values) // size)
    result = np.full((n, n), np.nan)
    for i in range(n):
        for j in range(n):
            cut = (slice(i * size, (i + 1) * size), slice(j * size, (j + 1) * size))
            if seen[cut].any():
                result[i, j] = how(values[cut][seen[cut]])
    return result


def test_a_pooled_map_is_the_files_and_says_what_a_cell_is(command, runs, tmp_path):
    with h5py.File(runs["pooled"]) as file:
        pooled = file["maps/pooled_max_abs"][L, H].astype(float)
        first_key = file["rows/first_key_weight"][L, H, 0].astype(float)
    with h5py.File(runs["softmax"]) as file:
        exact = blocks_of(file["exact/net_weights"][L, H].astype(float), np.tri(TOKENS, dtype=bool), 10, np.max)
    seen = np.isfinite(pooled)
    assert abs(pooled[seen] - exact[seen]).max() < 1e-6 and (np.isfinite(exact) == seen).all()
    figure, data = draw(command, runs["pooled"], tmp_path, "map", "--head", f"L{L}.H{H}")
    check_cells(data, "map", pooled, seen, 10)
    check_colours(cells_of(figure.plot("map").named("map"), 15, 15), pooled, log_share(pooled), color_table("sequential light"), seen)
    strip = data[data["series"] == "key 0"]["y"].to_numpy()
    assert (strip == first_key.reshape(15, 10).max(axis=1)).all()
    assert "largest of 10 × 10 cells" in [text for text, _ in figure.texts] and "blocks of 10 × 10" in figure.description


def test_more_cells_than_dots_are_pooled(command, tmp_path):
    C.headroom(tmp_path / "long", C.headroom_config("softmax", num_hidden_layers=1, max_position_embeddings=2048), 3)
    ids = ",".join(str(i * 7 % 53) for i in range(1300))
    run = tmp_path / "long.h5"
    assert command("analyze", tmp_path / "long", "--ids", ids, "-o", run, "--device", "cpu", "--exact-maps", "--heads", "1").code == 0
    with h5py.File(run) as file:
        net = file["exact/net_weights"][0, 0].astype(float)
    expected = blocks_of(net, np.tri(1300, dtype=bool), 2, np.max)
    figure, data = draw(command, run, tmp_path, "map", "--width", "60mm")
    check_cells(data, "map", expected, np.isfinite(expected), 2)
    assert "largest of 2 × 2 cells" in [text for text, _ in figure.texts] and "the page has no more dots" in figure.description


# --- a¹ − λ a² = w


@pytest.mark.parametrize("width", ["174mm", "84mm"])
def test_an_equation_holds_mark_by_mark(command, runs, tmp_path, width):
    with h5py.File(runs["diff_v2"]) as file:
        maps, net = file["exact/weights"][0, 1].astype(float), file["exact/net_weights"][0, 1].astype(float)
        lam = file["rows/lambda"][0, 1].astype(float)
    figure, data = draw(command, runs["diff_v2"], tmp_path, "map", "--head", "L0.H1", "--width", width)
    seen = np.tri(TOKENS, dtype=bool)
    tables = {"first map": maps[0], "second map": maps[1], "net map": net}
    for series, values in tables.items():
        check_cells(data, series, values, seen)
    drawn = {name: data[data["series"] == name].set_index(["row", "key"])["y"] for name in tables}
    bars = data[data["series"] == "lambda"].set_index("row")["y"]
    assert (bars.to_numpy() == lam).all()
    rows = drawn["net map"].index.get_level_values("row")
    off = drawn["first map"] - bars.loc[rows].to_numpy() * drawn["second map"] - drawn["net map"]
    assert abs(off).max() <= 2.0**-22
    plots = figure.plots
    assert [p.id for p in plots] == ["panel-a", "panel-b", "panel-c", "panel-d"]
    for plot, series in ((plots[0], "first map"), (plots[2], "second map")):
        check_colours(cells_of(plot.named(series), TOKENS, TOKENS), tables[series], log_share(tables[series]),
                      color_table("sequential light"), seen)
    check_colours(cells_of(plots[3].named("net map"), TOKENS, TOKENS), net, signed_share(net), color_table("diverging light"), seen)
    marks = plots[1].named("lambda").marks
    assert len(marks) == TOKENS
    for i, mark in enumerate(marks):
        x, y, wide = (float(mark.get(name)) for name in ("x", "y", "width"))
        assert plots[1].x.off(plots[1].x.value(x), 0) < 1e-6 and plots[1].x.off(plots[1].x.value(x + wide), lam[i]) < 1e-6
        assert plots[1].y.off(plots[1].y.value(y), i - 0.5) < 1e-6
    assert {"−", "×", "="} <= {text for text, _ in figure.texts}


def test_a_lambda_of_all_rows_is_one_bar_with_its_number(command, runs, tmp_path):
    with h5py.File(runs["diff_v1"]) as file:
        lam = file["rows/lambda"][1, 0].astype(float)
    assert (lam == lam[0]).all()
    figure, data = draw(command, runs["diff_v1"], tmp_path, "map", "--head", "L1.H0")
    bar = data[data["series"] == "lambda"]
    assert len(bar) == 1 and bar["y"].item() == lam[0] and bar["n"].item() == TOKENS
    assert len(figure.plots[1].named("lambda").marks) == 1
    assert f"{lam[0]:.3f}".rstrip("0") in [text for text, _ in figure.texts]


def test_a_pooled_equation(command, runs, tmp_path):
    figure, data = draw(command, runs["pooled_pair"], tmp_path, "map", "--head", "L0.H1")
    with h5py.File(runs["pooled_pair"]) as file:
        components, extreme, mean = (file[f"maps/pooled_{name}"][0, 1].astype(float) for name in ("max_components", "signed_extreme", "mean"))
        largest = file["maps/pooled_max_abs"][0, 1].astype(float)
    seen = np.isfinite(largest)
    assert (abs(extreme[seen]) == largest[seen]).all() and (extreme[seen] < 0).any() and (extreme[seen] > 0).any()
    for series, values in (("first map", components[0]), ("second map", components[1]), ("net map", extreme)):
        check_cells(data, series, values, np.isfinite(values), 10)
    labels = [text for text, _ in figure.texts]
    assert labels.count("largest of 10 × 10 cells") == 2 and "extreme of 10 × 10 cells" in " ".join(labels)  # on two lines

    older = tmp_path / "older.h5"
    shutil.copyfile(runs["pooled_pair"], older)
    with h5py.File(older, "a") as file:
        del file["maps/pooled_signed_extreme"]
    figure, data = draw(command, older, tmp_path, "map", "--head", "L0.H1")
    check_cells(data, "net map", mean, np.isfinite(mean), 10)
    assert "mean of 10 × 10 cells" in [text for text, _ in figure.texts]


@pytest.mark.parametrize(("run", "arguments", "code", "words"), [
    ("summary", ["map", "--head", "L1.H2"], 4, ["map of L1.H2", "neither in /exact nor in /maps", "--layers 1 --heads 2 --exact-maps"]),
    ("pooled_net", ["map", "--head", "L0.H1"], 4, ["both maps", "--components"]),
    ("softmax", ["map", "--head", "L9.H0"], 2, ["L9.H0", "layers 0–1"]),
    ("softmax", ["map", "--rows", "100:900"], 2, ["--rows 100:900", "150"]),
    ("softmax", ["map", "--head", "L1.H2", "--cell", "2,120"], 2, ["--cell 2,120", "query 2 does not see key 120"]),
    ("hidden", ["map", "--head", "L1.H2", "--cell", "50,3"], 2, ["query 50 does not see key 3"]),
    ("softmax", ["map", "--rows", "10:20", "--keys", "40:90"], 2, ["rows 10:20", "none of the keys 40:90"]),
    ("diff_v2", ["map", "--rows", "10:20", "--keys", "40:90"], 2, ["rows 10:20", "none of the keys 40:90"]),
    ("softmax", ["map", "--width", "30mm"], 2, ["too narrow", "at least"]),
    ("softmax", ["tokens", "--rows", "100:900"], 2, ["--rows 100:900", "tokens 0–149"]),
    ("softmax", ["tokens", "--quantity", "entropie"], 2, ["entropie", "nearest: entropy"]),
    ("softmax", ["tokens", "--quantity", "lambda[second]"], 2, ["lambda[second]"]),
    ("softmax", ["tokens", "--quantity", "lambda"], 4, ["has no rows/lambda"]),
    ("softmax", ["tokens", "--height", "20mm", "--width", "60mm"], 2, ["too low", "at least"]),
    ("summary", ["tokens"], 4, ["/rows/context_rms_relative", "--only summary"]),
], ids=lambda value: "-".join(value) if isinstance(value, list) else None)
def test_refusals(command, runs, tmp_path, run, arguments, code, words):
    refused(command("figure", runs[run], *arguments, "-o", tmp_path / "out.pdf"), code, *words)
    assert not list(tmp_path.iterdir())


# --- running text


TEXTS = ["The", " quick", " brown", " fox", "\n", "\n\n", "      ", "x", "", " a", "́accent", "שלום", " " + "wide" * 60, "\t", " end"]


@pytest.fixture(scope="module")
def texts(runs, tmp_path_factory):
    """A run whose tokens have texts of every sort."""
    path = tmp_path_factory.mktemp("texts") / "texts.h5"
    shutil.copy(runs["softmax"], path)
    with h5py.File(path, "r+") as file:
        file["tokens/token_text"][:] = [TEXTS[i % len(TEXTS)].encode() for i in range(TOKENS)]
    return path


def shown(text):
    """What a token looks like."""
    if not text:
        return "∅"
    text = re.sub(" {4,}", lambda found: f"␣×{len(found[0])}", text)
    return ("◌" + text if text.startswith("́") else text).replace("\n", "↵").replace("\t", "→")


@pytest.mark.parametrize("width", ["174mm", "60mm"])
def test_no_token_is_lost(command, texts, tmp_path, width):
    with h5py.File(texts) as file:
        rho = file["rows/context_rms_relative"][L, H].astype(float)
    figure, data = draw(command, texts, tmp_path, "tokens", "--head", f"L{L}.H{H}", "--width", width)
    assert (data["y"].to_numpy() == rho).all() and list(data["row"]) == list(range(TOKENS))
    plot = figure.plot("tokens")
    assert "".join(p.get("aria-label") for p in plot.named("texts").marks) == "".join(shown(TEXTS[i % len(TEXTS)]) for i in range(TOKENS))
    # In reading order; a token that is wider than a line goes on below.
    boxes = [[float(m.get(k)) for k in ("x", "y", "width", "height")] for m in plot.named("tokens").marks]
    assert len(boxes) > TOKENS if width == "60mm" else len(boxes) >= TOKENS
    order = [(box[1], box[0]) for box in boxes]
    assert order == sorted(order)
    for before, after in zip(boxes, boxes[1:]):
        assert after[1] > before[1] or after[0] == pytest.approx(before[0] + before[2], abs=1e-3), "no gap and no overlap"


def test_tokens_have_their_colours_and_lines_say_where_they_begin(command, runs, tmp_path):
    with h5py.File(runs["softmax"]) as file:
        rho = file["rows/context_rms_relative"][L, H, 20:140].astype(float)
    figure, data = draw(command, runs["softmax"], tmp_path, "tokens", "--head", f"L{L}.H{H}", "--rows", "20:140", "--width", "84mm",
                        "--range", "0.1,1")
    plot = figure.plot("tokens")
    expected = entry(color_table("sequential light"), log_share(rho, 0.1))
    colours = np.array([[int(mark.get("fill")[i:i + 2], 16) for i in (1, 3, 5)] for mark in plot.named("tokens").marks])
    assert abs(colours - expected).max() <= 4 and (abs(colours - expected).max(axis=1) <= 1).mean() > 0.95
    tops = [float(mark.get("y")) for mark in plot.named("tokens").marks]
    begins = [20 + i for i in range(len(tops)) if i == 0 or tops[i] > tops[i - 1]]
    labels = [text for text, size in figure.texts]
    assert len(tops) == 120 and len(begins) > 2
    outside = labels[labels.index(f"L{L}.H{H}") + 1:]
    assert [text for text in outside if text in map(str, begins)][-len(begins):] == list(map(str, begins))
    # Given as ids, these are the text.
    assert [p.get("aria-label").strip() for p in plot.named("texts").marks] == IDS.split(",")[20:140]
    assert "given as ids" in figure.description and list(data["row"]) == list(range(20, 140))


@pytest.mark.parametrize(("quantity", "path"), [("first_key_weight", "rows/first_key_weight"), ("keys/attention_received", "keys/attention_received"),
                                                ("entropy[first]", "rows/entropy"), ("gate_mean", None)])
def test_other_quantities_of_tokens(command, runs, tmp_path, quantity, path):
    if path is None:
        refused(command("figure", runs["softmax"], "tokens", "--quantity", quantity, "-o", tmp_path / "a.svg"), 4, "gate_mean")
        return
    with h5py.File(runs["softmax"]) as file:
        values = file[path][L, H, 0].astype(float)
    _, data = draw(command, runs["softmax"], tmp_path, "tokens", "--head", f"L{L}.H{H}", "--quantity", quantity)
    assert (data["y"].to_numpy() == values).all() and data["key" if "keys" in path else "row"].notna().all()
    assert (data["component"] == 0).all()


@pytest.mark.parametrize(("run", "kind", "own"), [
    ("softmax", "map", []), ("pooled", "map", []), ("softmax", "map", ["--rows", "20:90", "--keys", "3:77"]), ("diff_v2", "map", []),
    ("pooled", "grid", [])])
def test_images_of_a_pdf_are_whole(command, runs, tmp_path, run, kind, own):
    """What they are clipped to is where they are, to the thousandths in which it is written, not whole points of it."""
    head = ["--head", f"L{L}.H{H}"] if kind == "map" else []
    figure, _ = draw(command, runs[run], tmp_path, kind, *head, *own)
    outcome = command("figure", runs[run], kind, *head, *own, "-o", tmp_path / "out.pdf")
    assert outcome.code == 0, outcome
    subprocess.run(["qpdf", "--qdf", "--object-streams=disable", tmp_path / "out.pdf", tmp_path / "plain.pdf"], check=True)
    number = r"(-?[\d.]+)"
    images, clips = 0, []
    for line in (tmp_path / "plain.pdf").read_bytes().decode("latin1").splitlines():
        if line.startswith("Q"):
            clips = []
        if clip := re.fullmatch(rf"{number} {number} {number} {number} re W n", line):
            x, y, width, height = map(float, clip.groups())
            clips.append((x, y, x + width, y + height))
        if (place := re.fullmatch(rf"{number} 0 0 {number} {number} {number} cm", line)) and place[2] != "-1":
            width, height, x, y = map(float, place.groups())
            images += 1
            for clip in clips:
                assert clip == pytest.approx((x, y + height, x + width, y), abs=0.01)
    assert images == len(figure.root.findall(f".//{SVG}image")) > 0
