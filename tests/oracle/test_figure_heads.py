"""Decomposition of the context RMS and λ as figures: every mark is a number of the run file."""
import base64
import io

import h5py
import numpy as np
import pandas
import PIL.Image
import pytest

from svg_figure import Figure
from test_figures import IDS, runs, table  # noqa: F401 – a fixture

# --- decomposition


TERMS = ("log rho", "log e", "log r", "half log kappa")


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


def expected_terms(run, layer, head):
    with h5py.File(run) as file:
        rms, e, q, mean = (file[f"rows/{name}"][layer, head].astype(float)
                           for name in ("context_rms", "weight_l2", "uncorrelated_rms", "value_rms_mean"))
        visible = file["tokens/visible_keys"][()].reshape(-1, len(rms))[0]
    return visible, dict(zip(TERMS, (np.log(rms / mean), np.log(e), np.log(q / (e * mean)), np.log(rms / q))))


def corners(plot, name, head):
    return plot.line(plot.named(name, head))


def test_decomposition_marks_are_the_files_rows_and_add_up(command, runs, tmp_path):
    path = tmp_path / "out.svg"
    outcome = command("figure", runs["softmax"], "decomposition", "--head", "L1.H2,L0.H3", "-o", path, "--data", "-")
    assert outcome.code == 0, outcome
    data = pandas.read_csv(io.StringIO(outcome.text), comment="#")
    for place, (layer, head) in enumerate([(1, 2), (0, 3)]):
        visible, terms = expected_terms(runs["softmax"], layer, head)
        plot = Figure(path).plot("decomposition", place)
        mine = data[(data["panel"] == "ab"[place])]
        sums = {}
        for name in TERMS:
            line = mine[mine["series"] == name]
            single, medians = line[line["row"].notna()], line[line["row"].isna()]
            rows = single["row"].astype(int).to_numpy()
            assert len(single) > 10 and len(medians) > 20
            assert (rows == np.arange(len(rows))).all() and (single["x"] == visible[rows]).all()
            assert single["y"].to_numpy() == pytest.approx(terms[name][rows], abs=1e-12)
            sums[name] = single["y"].to_numpy()
            for _, mark in medians.iterrows():
                window = terms[name][(visible >= mark["x"] / 1.33) & (visible <= 1.33 * mark["x"])]
                assert len(window) >= 15
                assert [mark["low"], mark["y"], mark["high"]] == pytest.approx(np.quantile(window, [0.25, 0.5, 0.75]), abs=1e-12)
            found = corners(plot, name, f"L{layer}.H{head}")
            assert len(found) == len(line)
            for (x, y), (_, mark) in zip(found, line.iterrows()):
                assert plot.x.off(x, mark["x"]) < 1e-6 and plot.y.off(y, mark["y"]) < 1e-6
            band = corners(plot, f"{name} quartiles", f"L{layer}.H{head}")
            assert len(band) == 2 * len(medians)
            ends = np.concatenate([medians["high"], medians["low"][::-1]])
            assert all(plot.y.off(y, end) < 1e-6 for (_, y), end in zip(band, ends))
        assert sums["log rho"] == pytest.approx(sums["log e"] + sums["log r"] + sums["half log kappa"], abs=1e-12)


def test_decomposition_by_layer_is_of_the_heads_means(command, runs, tmp_path):
    path = tmp_path / "out.svg"
    outcome = command("figure", runs["softmax"], "decomposition", "--heads", "0-2", "-o", path, "--data", "-")
    assert outcome.code == 0, outcome
    data = pandas.read_csv(io.StringIO(outcome.text), comment="#")
    data = data[data["panel"] == "c"]
    with h5py.File(runs["softmax"]) as file:
        min_row = int(file.attrs["min_row"])
    plot = Figure(path).plot("decomposition", 2)
    for name in TERMS:
        line = data[data["series"] == name]
        for layer in (0, 1):
            means = []
            for head in range(3):
                visible, terms = expected_terms(runs["softmax"], layer, head)
                means.append(terms[name][visible >= min_row].mean())
            mark = line[line["x"] == layer].iloc[0]
            assert [mark["low"], mark["y"], mark["high"]] == pytest.approx(np.quantile(means, [0.25, 0.5, 0.75]), abs=1e-10)
            assert mark["n"] == 3
        assert all(plot.y.off(y, value) < 1e-6 for (_, y), value in zip(corners(plot, name, ""), line["y"]))
    assert "6 heads" in [text for text, _ in Figure(path).texts]
    # The same y axis everywhere, with numbers at the left alone.
    axes = [(p.y.low, p.y.high) for p in Figure(path).plots]
    assert len(set(axes)) == 1


def test_decomposition_of_a_short_text_has_no_medians_and_of_one_head_no_layers(command, runs, tmp_path):
    run = tmp_path / "short.h5"
    assert command("analyze", runs["softmax"].with_suffix(""), "--ids", "1,2,3,4,5,6,7", "--layers", "0", "--heads", "1", "-o", run,
                   "--device", "cpu").code == 0
    data = table(command, run, "decomposition")
    assert len(data) == 4 * 7 and data["row"].notna().all() and (data["panel"] == "a").all()


# --- lambda


def cells_of(mark, across, down):
    """Colours of the cells of an image in the SVG, [down, across, 3]."""
    link = next(value for key, value in mark.attrib.items() if key.endswith("href"))
    with PIL.Image.open(io.BytesIO(base64.b64decode(link.split(",", 1)[1]))) as image:
        pixels = np.asarray(image.convert("RGB"))
    assert pixels.shape[0] % down == 0 and pixels.shape[1] % across == 0
    high, wide = pixels.shape[0] // down, pixels.shape[1] // across
    cells = pixels[high // 2::high, wide // 2::wide]
    assert (np.repeat(np.repeat(cells, high, 0), wide, 1) == pixels).all()
    return cells


VIOLETS = np.array([[int(c[i:i + 2], 16) for i in (0, 2, 4)] for c in "FBFAFD E0D6F3 BCA6E6 9470D4 6F3FC0 4A2490 2B1259".split()], float)


def violet(value):
    """The colour of λ in [0, 1]: seven points, linear in sRGB, 256 steps."""
    step = np.floor(255 * np.clip(value, 0, 1) + 0.5) / 255
    place = step * 6
    low = np.minimum(place.astype(int), 5)
    share = (place - low)[..., None]
    return VIOLETS[low] * (1 - share) + VIOLETS[low + 1] * share


def test_lambda_cells_quantiles_and_counts_are_the_files(command, runs, tmp_path):
    path = tmp_path / "out.svg"
    outcome = command("figure", runs["diff_v2"], "lambda", "--head", "L1.H3", "-o", path, "--data", "-")
    assert outcome.code == 0 and "warning" not in outcome.errors, outcome
    data = pandas.read_csv(io.StringIO(outcome.text), comment="#")
    with h5py.File(runs["diff_v2"]) as file:
        values = file["rows/lambda"][()].astype(float)
        quantiles = file["lambda_quantile"][()].astype(float)
        steps = file["quantile"][()] if "quantile" in file else np.array([0, .01, .05, .1, .25, .5, .75, .9, .95, .99, 1])
    layers, heads, n = values.shape
    blocks = values.reshape(layers, heads, n // 2, 2).mean(axis=3)  # 150 tokens: more than 128
    cells = data[data["mark"] == "cell"]
    assert len(cells) == blocks.size and (cells["n"] == 2).all()
    found = blocks[cells["layer"].astype(int), cells["head"].astype(int), (cells["row"] // 2).astype(int)]
    assert cells["y"].to_numpy() == pytest.approx(found, abs=1e-15)
    strip, sticks, histogram = Figure(path).plots
    for layer in range(layers):
        series = strip.named("cells", f"L{layer}")
        assert len(series.marks) == 1
        assert abs(cells_of(series.marks[0], n // 2, heads) - violet(blocks[layer])).max() <= 3
        mark = series.marks[0]
        left, width = float(mark.get("x")), float(mark.get("width"))
        assert strip.x.off(strip.x.value(left), -0.5) < 1e-6 and strip.x.off(strip.x.value(left + width), n - 0.5) < 1e-6
    flat = values.reshape(-1, n)
    expected = np.quantile(flat, [0.05, 0.25, 0.5, 0.75, 0.95], axis=1)
    for marks, form in ((sticks.named("5–95 %").marks, (0, 4)), (sticks.named("quartiles").marks, (1, 3)), (sticks.named("medians").marks, (2, 2))):
        assert len(marks) == len(flat)
        for i, mark in enumerate(marks):
            if form == (0, 4):
                ends = float(mark.get("x1")), float(mark.get("x2"))
            elif form == (1, 3):
                ends = float(mark.get("x")), float(mark.get("x")) + float(mark.get("width"))
            else:
                ends = (float(mark.get("cx")),) * 2
            assert all(sticks.x.off(sticks.x.value(end), expected[q, i]) < 1e-6 for end, q in zip(ends, form))
    assert data[data["series"] == "medians"]["x"].to_numpy() == pytest.approx(expected[2], abs=1e-15)
    counts = data[data["series"] == "histogram"]
    assert (counts["n"].to_numpy() == np.histogram(values[1, 3], 20, (0, 1))[0]).all()
    bars = histogram.named("histogram").marks
    assert [round(histogram.y.value(float(bar.get("y")))) for bar in bars] == [c for c in counts["n"] if c > 0]
    assert quantiles.shape[2] == len(steps)


def test_lambda_of_few_tokens_equals_the_files_quantiles(command, runs, tmp_path):
    run = tmp_path / "short.h5"
    assert command("analyze", runs["diff_v2"].with_suffix(""), "--ids", ",".join(IDS.split(",")[:40]), "-o", run, "--device", "cpu").code == 0
    data = table(command, run, "lambda")
    assert (data[data["mark"] == "cell"]["n"] == 1).all()
    with h5py.File(run) as file:
        assert int(file.attrs["min_row"]) == 1
        axis = next(k for k in file if k.startswith("quantile") and file[k].ndim == 1)
        at = {round(float(p), 6): i for i, p in enumerate(file[axis][()])}
        median = file["lambda_quantile"][..., at[0.5]].reshape(-1)
        assert (data[data["mark"] == "cell"]["y"].to_numpy() == file["rows/lambda"][()].reshape(-1)).all()
    assert data[data["series"] == "medians"]["x"].to_numpy() == pytest.approx(median, abs=1e-6)


def test_lambda_of_v1_hangs_on_where_it_began(command, runs, tmp_path):
    path = tmp_path / "out.svg"
    outcome = command("figure", runs["diff_v1"], "lambda", "-o", path, "--data", "-")
    assert outcome.code == 0, outcome
    data = pandas.read_csv(io.StringIO(outcome.text), comment="#")
    with h5py.File(runs["diff_v1"]) as file:
        values, first = file["lambda_mean"][:, 0].astype(float), file["weights/lambda_init"][()].astype(float)
    assert data["y"].to_numpy() == pytest.approx(values, abs=1e-6) and data["low"].to_numpy() == pytest.approx(first, abs=1e-6)
    assert first == pytest.approx(0.8 - 0.6 * np.exp(-0.3 * np.arange(len(first))), abs=1e-6)
    plot = Figure(path).plot("lambda")
    for (x, y), layer in zip(plot.points(plot.named("layers")), range(len(values)), strict=True):
        assert plot.x.off(x, layer) < 1e-6 and plot.y.off(y, values[layer]) < 1e-6
    for (x, y), layer in zip(plot.line(plot.named("lambda_init")), range(len(values)), strict=True):
        assert plot.x.off(x, layer) < 1e-6 and plot.y.off(y, first[layer]) < 1e-6


def test_lambda_of_several_runs(command, runs, tmp_path):
    path = tmp_path / "out.svg"
    outcome = command("figure", runs["diff_v2"], runs["diff_v1"], runs["diff_v2"], "lambda", "-o", path, "--json")
    assert outcome.code == 0 and outcome.json["warnings"] == [], outcome
    assert [panel["name"] for panel in outcome.json["panels"]] == ["tokens", "quantiles", "layers", "histogram"]
