"""What heads can do as figures: every mark is a number of `headroom circuits`' files, the strongest pairs are NumPy's."""
import json
import re

import h5py
import numpy as np
import pytest

import checkpoints as C
from command import refused
from drawn_kind import drawing
from svg_figure import Figure

LAYERS, HEADS = 3, 4
WAYS = {"q": "Q", "k": "K", "v": "V"}


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


@pytest.fixture(scope="module")
def files(tmp_path_factory, command):
    """Files with compositions of three layers: of heads with one map and with two; without them; of one layer."""
    folder = tmp_path_factory.mktemp("circuits")
    made = {}

    def measure(name, model, *arguments):
        made[name] = folder / f"{name}.h5"
        outcome = command("circuits", folder / model, "-o", made[name], *arguments)
        assert outcome.code == 0, outcome

    for kind, seed in (("softmax", 31), ("diff_v2", 32)):
        C.headroom(folder / kind, C.headroom_config(kind, num_hidden_layers=LAYERS), seed)
        measure(kind, kind, "--composition")
    measure("plain", "softmax")
    measure("one", "diff_v2", "--composition", "--layers", "1")
    made["crowd"] = enlarged(made["plain"], folder / "crowd.h5", {"layer": 128, "head": 40})
    return made


def enlarged(path, out, sizes):
    """The same datasets along longer axes, their values again and again."""
    with h5py.File(path) as small, h5py.File(out, "w") as file:
        for key, value in small.attrs.items():
            file.attrs[key] = value
        for key, value in small.items():
            if isinstance(value, h5py.Dataset) and value.is_scale:
                values = np.arange(sizes[key]) if key in sizes else value[()]
                file.create_dataset(key, data=values).make_scale(key)
        for key, value in small.items():
            if isinstance(value, h5py.Group) or value.is_scale:
                continue
            axes = [dim[0].name.strip("/") for dim in value.dims]
            data = file.create_dataset(key, data=np.resize(value[()], [file[axis].shape[0] for axis in axes]), dtype=value.dtype)
            for dim, axis in zip(data.dims, axes):
                dim.attach_scale(file[axis])
            for name, text in value.attrs.items():
                if name not in ("DIMENSION_LIST", "CLASS", "NAME", "REFERENCE_LIST"):
                    data.attrs[name] = text
    return out


def stored(path, name):
    with h5py.File(path) as file:
        return file[name][()].astype(float)


def all_pairs(path):
    """(composition, way, layer, head, map, from layer, from head), the strongest first."""
    found = []
    for way in WAYS:
        values = stored(path, f"{way}_composition")
        values = values if way != "v" else values[:, :, None]
        for place in zip(*np.nonzero(np.isfinite(values))):
            layer, head, part, from_layer, from_head = map(int, place)
            found.append((float(values[place]), way, layer, head, part, from_layer, from_head))
    return sorted(found, reverse=True)


def name(pair):
    _, _, layer, head, _, from_layer, from_head = pair
    return f"L{from_layer}.H{from_head} → L{layer}.H{head}"


@pytest.fixture
def drawn(command, tmp_path):
    return drawing(command, "circuits", tmp_path)


def check_pairs(svg, marks, expected):
    """Lines between the places of heads, one a line, and the table."""
    edges, listed = svg.plots[0], svg.plots[1]
    assert len(edges.series) == len(expected) + 1, "the places of all heads, and a series a pair"
    for plot, mark in ((edges, "line"), (listed, "point")):
        rows = marks[(marks["panel"] == plot.id.removeprefix("panel-")) & (marks["mark"] == mark)]
        assert len(rows) == len(expected)
        for row, pair in zip(rows.itertuples(), expected):
            value, way, layer, head, part, from_layer, from_head = pair
            assert row.series == f"{way}_composition of L{from_layer}.H{from_head}" and (row.layer, row.head) == (layer, head)
            assert (row.x if mark == "point" else row.y) == value
            assert way == "v" or row.component == part
    for row, pair in enumerate(expected):
        value, way, layer, head, part, from_layer, from_head = pair
        labelled = WAYS[way] + ("₂" if part else "")
        series = [s for s in edges.series if (s.quantity, s.head, s.name) == (f"{way}_composition", name(pair), labelled)]
        assert len(series) == 1
        corners = edges.line(series[0])
        for (x, y), place in ((corners[0], (from_layer, from_head)), (corners[-1], (layer, head))):
            assert edges.x.off(x, place[0]) < 1e-6 and edges.y.off(y, place[1]) < 1e-6
        series = [s for s in listed.series if (s.quantity, s.head, s.name) == (f"{way}_composition", name(pair), labelled)]
        assert len(series) == 1
        assert centre(listed, series[0].marks[0]) == pytest.approx((value, row), abs=1e-6 * max(listed.x.high, listed.y.high))
    labels = [text for text, _ in svg.texts]
    assert all(name(pair) in labels for pair in expected)


def centre(plot, mark):
    """Of a disc, a square or a diamond, as values."""
    if mark.get("cx"):
        at = float(mark.get("cx")), float(mark.get("cy"))
    elif mark.get("width"):
        at = float(mark.get("x")) + float(mark.get("width")) / 2, float(mark.get("y")) + float(mark.get("height")) / 2
    else:
        corners = np.array([list(map(float, corner.split())) for corner in re.findall(r"[-\d.e]+ [-\d.e]+", mark.get("d"))])
        at = corners.min(axis=0) / 2 + corners.max(axis=0) / 2
    return plot.x.value(at[0]), plot.y.value(at[1])


@pytest.mark.parametrize("kind", ["softmax", "diff_v2"])
def test_the_strongest_compositions_are_the_files(drawn, files, kind):
    pairs = all_pairs(files[kind])
    svg, marks, _ = drawn(files[kind])
    assert [plot.kind for plot in svg.plots] == ["circuits"] * 6
    check_pairs(svg, marks, pairs[:12])
    null = float(stored(files[kind], "composition_null"))
    for plot in svg.plots[1:3]:
        for line in plot.named("random").marks:
            x = float(line.get("x1") or re.search(r"M\s*([-\d.e]+)", line.get("d"))[1])
            assert plot.x.off(plot.x.value(x), null) < 1e-6
    words = " ".join(svg.description.split())
    assert f"The 12 largest of {len(pairs)} compositions" in words.replace("\u2009", "").replace("\u00a0", "")


@pytest.mark.parametrize("kind", ["softmax", "diff_v2"])
def test_all_compositions_are_counted(drawn, files, kind):
    svg, marks, _ = drawn(files[kind])
    plot, null = svg.plots[2], float(stored(files[kind], "composition_null"))
    bars = marks[marks["mark"] == "bar"]
    for way in WAYS:
        values = stored(files[kind], f"{way}_composition")
        values = values[np.isfinite(values)]
        own = bars[bars["series"] == f"{way}_composition"]
        edges = np.append(own["low"], own["high"].iloc[-1])
        assert (own["low"].to_numpy()[1:] == own["high"].to_numpy()[:-1]).all() and np.ptp(np.diff(edges)) < 1e-12
        counts, _ = np.histogram(values, edges)
        assert (own["y"].to_numpy() == counts).all() and counts.sum() == len(values) == own["n"].iloc[0]
        # The outline: each bin that holds something at its count.
        series = [s for s in plot.series if s.quantity == f"{way}_composition"]
        corners = plot.line(series[0])
        tops = [(x, y) for x, y in corners if y > plot.y.low * 1.001]
        expected = [(edge, count) for low, high, count in zip(edges, edges[1:], counts) if count for edge in (low, high)]
        assert len(tops) == len(expected)
        for (x, y), (edge, count) in zip(tops, expected):
            assert plot.x.off(x, edge) < 1e-6 and plot.y.off(y, count) < 1e-6
        share = 100 * (values > null).mean()
        assert f"{WAYS[way]} {len(values)} pairs, {share:.1f} % above" in svg.description
    assert str(sum(len(v[np.isfinite(v)]) for v in (stored(files[kind], f"{way}_composition") for way in WAYS))) in [t for t, _ in svg.texts]


def test_heads_that_are_asked_for_are_those_that_pairs_touch_and_spectra_are_of(drawn, files):
    pairs = [pair for pair in all_pairs(files["diff_v2"]) if (1, 2) in ((pair[2], pair[3]), (pair[5], pair[6]))]
    svg, marks, said = drawn(files["diff_v2"], "--head", "L1.H2", "--top", "5")
    check_pairs(svg, marks, pairs[:5])
    assert "spectra of" not in said
    for place, dataset in ((4, "ov_singular_value"), (5, "qk_singular_value")):
        values, plot = stored(files["diff_v2"], dataset), svg.plots[place]
        maps = [(values[1, 2], "head")] if dataset.startswith("ov") else [(values[1, 2, 0], "head"), (values[1, 2, 1], "head, second map")]
        for own, label in maps:
            corners = plot.line(plot.named(label, "L1.H2"))
            assert len(corners) == len(own)
            for number, ((x, y), value) in enumerate(zip(corners, own), 1):
                assert plot.x.off(x, number) < 1e-6 and plot.y.off(y, value) < 1e-6
        first = values if dataset.startswith("ov") else values[:, :, 0]
        expected = np.quantile(first.reshape(-1, first.shape[-1]), [0.05, 0.5, 0.95], axis=0)
        band = marks[marks["series"] == f"{dataset} median"]
        assert (band["n"] == LAYERS * HEADS).all()
        for column, quantile in zip(("low", "y", "high"), expected):
            assert band[column].to_numpy() == pytest.approx(quantile, rel=1e-12)
        for (x, y), value in zip(plot.line(plot.named("median")), expected[1]):
            assert plot.y.off(y, value) < 1e-6
        rows = marks[(marks["series"] == dataset) & (marks["component"].fillna(0) == 0)]
        assert rows["y"].to_numpy() == pytest.approx(maps[0][0], rel=1e-12)


@pytest.mark.parametrize(("quantity", "dataset", "element"), [
    (None, "copying_score", ()), ("ov_effective_rank", "ov_effective_rank", ()), ("qk_effective_rank[second]", "qk_effective_rank", (1,)),
    ("qk_largest_singular_value", "qk_largest_singular_value", (0,)), ("query_alignment", "query_alignment", ())])
def test_a_number_of_every_head_stands_by_layer(drawn, files, quantity, dataset, element):
    values = stored(files["diff_v2"], dataset)[(..., *element)]
    svg, marks, _ = drawn(files["diff_v2"], *(["--quantity", quantity] if quantity else []))
    plot = svg.plots[3]
    points = plot.points(plot.named("heads"))
    assert len(points) == values.size
    for (x, y), (place, value) in zip(points, np.ndenumerate(values)):
        assert plot.x.off(x, place[0]) < 1e-6 and plot.y.off(y, value) < 1e-6
    for (x, y), median in zip(plot.line(plot.named("median")), np.median(values, axis=1)):
        assert plot.y.off(y, median) < 1e-6
    rows = marks[(marks["panel"] == "d") & (marks["mark"] == "point")]
    assert (rows["y"].to_numpy() == values.reshape(-1)).all()
    lines = marks[(marks["panel"] == "d") & (marks["mark"] == "line")]
    for column, share in (("low", 0.25), ("y", 0.5), ("high", 0.75)):
        assert lines[column].to_numpy() == pytest.approx(np.quantile(values, share, axis=1), rel=1e-12)
    if quantity is None:
        assert f"{(values > 0.9).sum()} of {values.size} > 0.9" in [text for text, _ in svg.texts]


def test_layers_and_heads_restrict_all_of_it(drawn, files):
    pairs = [pair for pair in all_pairs(files["softmax"]) if {pair[2], pair[5]} <= {0, 2} and {pair[3], pair[6]} <= {1, 2}]
    svg, marks, _ = drawn(files["softmax"], "--layers", "0,2", "--heads", "1-2", "--top", "100")
    assert len(pairs) == 12 and (marks["panel"] == "b").sum() == 12
    assert sorted(marks[marks["panel"] == "b"]["x"], reverse=True) == [pair[0] for pair in pairs]
    assert set(marks[marks["panel"] == "d"]["layer"].dropna()) == {0, 2} and (marks[marks["mark"] == "bar"]["y"].sum()) == 12
    assert (marks[marks["series"] == "ov_singular_value median"]["n"] == 4).all()
    labels = [text for text, _ in svg.texts]
    assert "4 heads" in labels


def test_a_file_without_compositions_has_the_other_panels_and_says_so(drawn, files):
    for file, words in (("plain", "has no compositions: headroom circuits --composition"), ("one", "no pair of layers")):
        svg, _, said = drawn(files[file])
        assert words in said and len(svg.plots) == 3 and svg.width == "174mm"
        assert "spectra of" in said and "whose copying score is the largest" in said


def test_thousands_of_heads_in_many_layers_have_a_row_of_their_own(drawn, files):
    """Every point is there, the threshold lies over them, and nothing is said to lack room."""
    svg, marks, said = drawn(files["crowd"])
    assert "no room" not in said and len(svg.plots) == 3 and svg.width == "174mm"
    scores = stored(files["crowd"], "copying_score")
    plot = svg.plots[0]
    names = [series.name for series in plot.series]
    assert len(plot.points(plot.named("heads"))) == scores.size and names.index("heads") < names.index("threshold")
    assert plot.x.end - plot.x.start > 1.8 * (svg.plots[1].x.end - svg.plots[1].x.start)
    singular = stored(files["crowd"], "ov_singular_value").reshape(scores.size, -1)
    rows = marks[marks["series"] == "ov_singular_value median"]
    np.testing.assert_allclose(rows["y"], np.median(singular, axis=0), rtol=1e-12)
    np.testing.assert_allclose(rows[["low", "high"]], np.quantile(singular, [0.05, 0.95], axis=0).T, rtol=1e-12)


@pytest.mark.parametrize(("arguments", "code", "words"), [
    (["--head", "L9.H0"], 2, ["L9.H0", "layers 0–2"]),
    (["--head", "L0.H0,L0.H1,L0.H2,L0.H3"], 2, ["at most three heads", "names 4"]),
    (["--quantity", "sink_score"], 2, ["sink_score is of a run", "copying_score, ov_effective_rank"]),
    (["--quantity", "query_alignment"], 4, ["query_alignment: no head of softmax.h5 has a value"]),
    (["--quantity", "copying_score,ov_effective_rank"], 2, ["one quantity", "has 2"]),
    (["--layers", "5"], 2, ["layer 5"]),
], ids=lambda value: "-".join(value) if isinstance(value, list) else None)
def test_refusals(command, files, tmp_path, arguments, code, words):
    refused(command("figure", files["softmax"], "circuits", *arguments, "-o", tmp_path / "out.pdf"), code, *words)
    refused(command("figure", files["softmax"], files["diff_v2"], "circuits", "-o", tmp_path / "out.pdf"), 2, "one run file")
    assert not list(tmp_path.iterdir())


def test_list_says_which_kind_the_file_is_for(command, files):
    kinds = {one["kind"]: one["missing"] for one in json.loads(command("figure", files["plain"], "--list", "--json").text)}
    assert kinds.pop("circuits") is None and all("plain.h5 is a file of headroom circuits" in missing for missing in kinds.values())


def test_panels_of_it_stand_beside_those_of_a_run(command, files, tmp_path):
    run = tmp_path / "run.h5"
    made = command("analyze", files["softmax"].with_suffix(""), "--ids", ",".join(map(str, range(40))), "-o", run, "--device", "cpu")
    assert made.code == 0, made
    (tmp_path / "both.json").write_text(json.dumps({"width": "174mm", "run": "run.h5", "rows": [{"height": "40mm", "panels": [
        {"kind": "sinks", "panel": "layers", "width": 1}, {"kind": "circuits", "panel": "edges", "run": str(files["softmax"]), "width": 1}]}]}))
    outcome = command("figure", tmp_path / "both.json", "-o", tmp_path / "out.svg")
    assert outcome.code == 0 and "warning" not in outcome.errors, outcome
    svg = Figure(tmp_path / "out.svg")
    assert [plot.kind for plot in svg.plots] == ["sinks", "circuits"] and len(svg.keys["run_sha256"].split()) == 2


@pytest.mark.parametrize("file", ["softmax", "diff_v2", "plain", "one", "crowd"])
def test_no_text_is_cut_or_touches_at_any_width(command, files, file):
    for width in (60, 77, 84, 120, 139.7, 174, 183):
        for more in ([], ["--head", "L1.H2,L1.H3"], ["--layers", "1", "--heads", "1"], ["--top", "1", "--quantity", "ov_largest_singular_value"]):
            outcome = command("figure", files[file], "circuits", *more, "--width", f"{width}mm", "--caption", "text")
            assert outcome.code == 0 and "warning" not in outcome.errors, (width, more, outcome)
