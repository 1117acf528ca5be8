"""Comparisons of runs and histories of trainings as figures: every mark is a number of the files."""
import io
import json
import shutil

import h5py
import numpy as np
import pandas
import pytest

from command import refused
from svg_figure import Figure
from test_figures import DEMO, runs  # noqa: F401 – a fixture

# --- compare


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


@pytest.fixture(scope="module")
def sides(tmp_path_factory, command, runs):
    """Runs of five texts of 48 tokens as they are, and with softmax off by one."""
    folder = tmp_path_factory.mktemp("sides")
    made = ([], [])
    for text in range(5):
        ids = ",".join(str((i * (3 + text) + text) % 53) for i in range(48))
        for side, more in zip(made, ([], ["--what-if", "normalizer=softmax_one"])):
            side.append(folder / f"{'ab'[side is made[1]]}{text}.h5")
            outcome = command("analyze", runs["softmax"].with_suffix(""), "--ids", ids, "-o", side[-1], "--device", "cpu", "--only", "summary", *more)
            assert outcome.code == 0, outcome
    return made


T_OF_4 = 2.7764451051977987  # Student’s t with 4 degrees of freedom, two-sided 5 %, as tables have it


def test_compare_marks_are_means_and_t_intervals_over_texts(command, sides, tmp_path):
    path = tmp_path / "out.svg"
    outcome = command("figure", *sides[0], "compare", "--against", *sides[1], "-o", path, "--data", "-")
    assert outcome.code == 0 and "warning" not in outcome.errors, outcome
    data = pandas.read_csv(io.StringIO(outcome.text), comment="#")

    def scores(files):
        values = []
        for name in files:
            with h5py.File(name) as file:
                values.append(file["sink_score"][..., 0].astype(float).reshape(-1))
        return np.array(values)

    a, b = scores(sides[0]), scores(sides[1])
    heads = a.shape[1]
    mean = (b - a).mean(axis=0)
    half = T_OF_4 * (b - a).std(axis=0, ddof=1) / np.sqrt(5)
    low, high = mean - half, mean + half
    apart = (low > 0) | (high < 0)
    pairs, differences, shares = Figure(path).plots
    marks = data[data["mark"] == "interval"]
    assert marks["y"].to_numpy() == pytest.approx(mean, abs=1e-12)
    assert marks["low"].to_numpy() == pytest.approx(low, abs=1e-12) and marks["high"].to_numpy() == pytest.approx(high, abs=1e-12)
    assert (marks["layer"] * 4 + marks["head"]).tolist() == list(range(heads)) and (marks["n"] == 5).all()
    assert f"{apart.sum()} of {heads} intervals without 0" in [text for text, _ in Figure(path).texts]
    assert f"{apart.sum()} of {heads} without 0, where chance alone would give {0.05 * heads:.1f}" in Figure(path).description
    for name, point_name, dots, chosen in (("intervals without 0", "heads apart", "differences apart", apart), ("intervals", "heads", "differences", ~apart)):
        where = np.flatnonzero(chosen)
        lines = differences.named(name).marks
        assert len(lines) == len(where)
        for line, i in zip(lines, where):
            ends = [differences.y.value(float(line.get(key))) for key in ("y1", "y2")]
            assert differences.y.off(min(ends), low[i]) < 1e-6 and differences.y.off(max(ends), high[i]) < 1e-6
            assert differences.x.off(differences.x.value(float(line.get("x1"))), i // 4 - 0.5 + (i % 4 + 0.5) / 4) < 1e-6
        for (_, y), i in zip(differences.points(differences.named(dots)), where, strict=True):
            assert differences.y.off(y, mean[i]) < 1e-6
        for (x, y), i in zip(pairs.points(pairs.named(point_name)), where, strict=True):
            assert pairs.x.off(x, a[:, i].mean()) < 1e-6 and pairs.y.off(y, b[:, i].mean()) < 1e-6
    for name, values in (("first", a), ("second", b)):
        line = shares.line(shares.named(name))
        expected = np.sort(values.mean(axis=0))
        assert len(line) == 2 * heads + 2
        for i, value in enumerate(expected):
            for corner, share in ((line[2 * i + 1], i / heads), (line[2 * i + 2], (i + 1) / heads)):
                assert shares.x.off(corner[0], value) < 1e-6 and shares.y.off(corner[1], share) < 1e-6


def test_compare_of_one_text_has_no_intervals(command, sides, tmp_path):
    path = tmp_path / "out.svg"
    outcome = command("figure", sides[0][0], "compare", "--against", sides[1][0], "--quantity", "context_rms_relative_mean", "-o", path, "--data", "-")
    assert outcome.code == 0, outcome
    data = pandas.read_csv(io.StringIO(outcome.text), comment="#")
    assert "one text: no intervals" in [text for text, _ in Figure(path).texts]
    difference = data[data["series"] == "difference"]
    assert (difference["mark"] == "point").all() and difference["low"].isna().all()
    with h5py.File(sides[0][0]) as a, h5py.File(sides[1][0]) as b:
        expected = b["context_rms_relative_mean"][()].astype(float) - a["context_rms_relative_mean"][()]
    assert difference["y"].to_numpy() == pytest.approx(expected.reshape(-1), abs=1e-12)


def test_compare_of_two_checkpoints_has_no_pairs_unless_asked(command, runs, tmp_path):
    report = command("figure", runs["softmax"], "compare", "--against", runs["gated"], "-o", tmp_path / "a.svg", "--json").json
    assert [panel["name"] for panel in report["panels"]] == ["ecdf"] and any("--paired" in note for note in report["notes"])
    report = command("figure", runs["softmax"], "compare", "--against", runs["gated"], "--paired", "-o", tmp_path / "b.svg", "--json").json
    assert [panel["name"] for panel in report["panels"]] == ["pairs", "differences", "ecdf"]
    assert len(report["keys"]["run_sha256"].split()) == 2


def test_compare_refuses_what_is_no_pair(command, runs, sides, tmp_path):
    out = ["-o", tmp_path / "out.pdf"]
    refused(command("figure", *sides[0][:3], "compare", "--against", *sides[1][:2], *out), 2, "3 run files and 2")
    refused(command("figure", *sides[0][:2], "compare", "--against", *sides[1][1::-1], *out), 4, "prompt_sha256 differs in pair 1 (a0.h5, b1.h5)")
    with h5py.File(sides[0][2]) as file:
        digits = file.attrs["prompt_sha256"][:12]
    refused(command("figure", *sides[0][:3], "compare", "--against", *sides[1][:2], sides[1][4], *out), 4, "pair 3", f"of the text {digits}")
    refused(command("figure", sides[0][0], sides[0][0], "compare", "--against", *sides[1][:2], *out), 4, "given twice")
    refused(command("figure", sides[0][0], sides[1][1], "compare", "--against", *sides[1][:2], *out), 4, "what-ifs of b1.h5")
    refused(command("figure", sides[0][0], "compare", "--against", runs["training"], *out), 4, "history of a training")


# --- training


@pytest.fixture(scope="module")
def histories(tmp_path_factory):
    """Three seeds of softmax, the third of which diverged at step 4000, and two of DIFF V2."""
    folder = tmp_path_factory.mktemp("histories")
    made = []
    random = np.random.default_rng(7)
    for variant, seeds in (("softmax", (1, 2, 3)), ("diff_v2", (1, 2))):
        for seed in seeds:
            path = folder / f"{variant}_{seed}.h5"
            shutil.copy(DEMO / f"backcopy/{variant}/training.h5", path)
            with h5py.File(path, "r+") as file:
                file.attrs.modify("seed", seed)
                for name in ("validation_loss", "gradient_norm", "logit_max", "sink_score"):
                    values = file[name][()]
                    values *= 1 + 0.02 * random.random(values.shape).astype(np.float32)
                    if (variant, seed) == ("softmax", 3):
                        steps = {"validation_loss": "validation_step", "gradient_norm": "step"}.get(name, "statistics_step")
                        values[file[steps][()] > 4000] = np.nan
                    file[name][...] = values
                if (variant, seed) == ("softmax", 3):
                    file.attrs.modify("diverged_step", 4000)
            made.append(path)
    return made


def curve(name, step, value):
    keep = np.isfinite(value)
    return dict(zip(step[keep].tolist(), value[keep].tolist()))


def test_training_lines_are_the_histories(command, histories, tmp_path):
    path = tmp_path / "out.svg"
    outcome = command("figure", *histories, "training", "-o", path, "--data", "-")
    assert outcome.code == 0 and "warning" not in outcome.errors, outcome
    data = pandas.read_csv(io.StringIO(outcome.text), comment="#")
    plots = dict(zip(("validation_loss", "gradient_norm", "logit_max", "sink_score"), Figure(path).plots, strict=True))
    groups = {"softmax": histories[:3], "DIFF V2": histories[3:]}
    for quantity in ("validation_loss", "gradient_norm"):
        for group, files in groups.items():
            lines = []
            for name in files:
                with h5py.File(name) as file:
                    values = file[quantity][()].astype(float)
                    if quantity == "validation_loss":
                        steps = file["validation_step"][()]
                        lines.append(curve(name, steps[steps > 0].astype(float), values[steps > 0]))
                    else:
                        steps = file["step"][()]
                        blocks = steps // 100
                        middle, means = [], []
                        for block in np.unique(blocks):
                            part = values[(blocks == block) & np.isfinite(values)]
                            if len(part):
                                middle.append(100 * block + 50.0)
                                means.append(part.mean())
                        lines.append(dict(zip(middle, means)))
            marks = data[data["series"] == f"{quantity} {group} mean"]
            steps = sorted(set().union(*lines))
            assert marks["x"].tolist() == steps
            for _, mark in marks.iterrows():
                there = [line[mark["x"]] for line in lines if mark["x"] in line]
                assert mark["y"] == pytest.approx(np.mean(there), rel=1e-12) and mark["n"] == len(there)
                if len(there) == len(files):
                    assert [mark["low"], mark["high"]] == pytest.approx([min(there), max(there)], rel=1e-12)
                else:
                    assert np.isnan(mark["low"]) and np.isnan(mark["high"])
            plot = plots[quantity]
            found = plot.line(plot.named(f"{group} mean"))
            for (x, y), (_, mark) in zip(found, marks.iterrows(), strict=True):
                assert plot.x.off(x, mark["x"] / 1000) < 1e-6 and plot.y.off(y, mark["y"]) < 1e-6
            whole = marks[marks["low"].notna()]
            band = plot.line(plot.named(f"{group} mean range"))
            ends = np.concatenate([whole["high"], whole["low"][::-1]])
            assert all(plot.y.off(y, end) < 1e-6 for (_, y), end in zip(band, ends, strict=True))
    for quantity in ("logit_max", "sink_score"):
        for group, files in groups.items():
            for name in files:
                with h5py.File(name) as file:
                    seed, steps, values = int(file.attrs["seed"]), file["statistics_step"][()].astype(float), file[quantity][()].astype(float)
                    net = file["sink_score_net"][()].astype(float).reshape(len(steps), -1)
                if quantity == "logit_max":
                    values = values.reshape(len(steps), -1)
                    expected = np.array([np.nanmax(row) if np.isfinite(row).any() else np.nan for row in values])
                else:
                    expected = np.median(values[..., 0].reshape(len(steps), -1), axis=1)
                for series, line in ((f"{group} seed {seed}", expected), (f"{group} net seed {seed}", np.median(net, axis=1))):
                    if "net" in series and (quantity == "logit_max" or group == "softmax"):
                        continue
                    kept = curve(name, steps, line)
                    marks = data[data["series"] == f"{quantity} {series}"]
                    assert dict(zip(marks["x"], marks["y"])) == kept
                    found = plots[quantity].line(plots[quantity].named(series))
                    for (x, y), (step, value) in zip(found, kept.items(), strict=True):
                        assert plots[quantity].x.off(x, step / 1000) < 1e-6 and plots[quantity].y.off(y, value) < 1e-6
    # Only what diverged ends in a cross.
    crosses = {series.name for plot in plots.values() for series in plot.series if series.name.endswith("diverged")}
    assert crosses == {"softmax seed 3 diverged"}
    text = Figure(path).description
    with h5py.File(histories[0]) as file:
        assert file.attrs["recipe_sha256"][:12] in text
        first = [float(h5py.File(name)["validation_loss"][0]) for name in histories]
    assert "softmax: seeds 1–3 (seed 3 diverged at step 4\u2009000, ×); DIFF V2: seeds 1, 2" in text
    assert f"step 0 is left out, at {min(first):.2f}–{max(first):.2f}" in text
    words = [word for word, _ in Figure(path).texts]
    assert "softmax" in words and "mean and range," in words and "2–3 seeds" in words and "each seed" in words


def test_training_of_one_seed_has_no_bands(command, runs, tmp_path):
    path = tmp_path / "out.svg"
    assert command("figure", runs["training"], "training", "-o", path).code == 0
    found = Figure(path)
    assert "1 seed" in [word for word, _ in found.texts] and "each seed" not in [word for word, _ in found.texts]
    assert not [series.name for plot in found.plots for series in plot.series if series.name.endswith("range")]


def test_a_training_is_no_second_seed_of_itself(command, histories, tmp_path):
    out = ["-o", tmp_path / "out.pdf"]
    refused(command("figure", histories[0], histories[1], histories[0], "training", *out), 4, "softmax_1.h5", "are the same file")
    # Written once more: other bytes, the same training.
    again = tmp_path / "again.h5"
    shutil.copy(histories[3], again)
    with h5py.File(again, "r+") as file:
        digits = file.attrs["recipe_sha256"][:12]
        file["gradient_norm"][5] = 1.5
    refused(command("figure", histories[3], again, "training", *out), 4, "diff_v2_1.h5 and again.h5 are the same training", digits, "seed 1")
    assert not (tmp_path / "out.pdf").exists()


def test_training_refuses_more_than_can_be_told_apart(command, tmp_path):
    files = [DEMO / f"backcopy/{variant}/training.h5" for variant in ("softmax", "diff_v2", "diff_v1", "gated", "softmax_one")]
    refused(command("figure", *files, "training", "-o", tmp_path / "out.pdf"), 2, "5 pairs of recipe and variant")


@pytest.mark.parametrize("quantity", ["context_rms_mean", "entropy_mean", "logit_abs_max", "value_drain", "weight_l2_mean", "value_mean_share"])
def test_quantities_without_a_symbol_fit_the_usual_page(command, runs, tmp_path, quantity):  # noqa: F811
    outcome = command("figure", runs["softmax"], "compare", "--against", runs["softmax_one"], "--quantity", quantity, "-o", tmp_path / "out.pdf")
    assert outcome.code == 0 and "warning" not in outcome.errors, outcome


# --- in composed figures


def composed(folder, name, rows, **more):
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"width": "174mm", **more, "rows": rows}))
    return path


def test_a_composed_figure_compares_and_reads_each_file_once(command, sides, tmp_path):
    folder = sides[0][0].parent
    names = [[path.name for path in side] for side in sides]
    shutil.copy(composed(tmp_path, "both", [{"height": "40mm", "panels": [{"kind": "compare", "panel": "differences", "runs": names[0]},
                                                                        {"kind": "compare", "panel": "ecdf", "runs": names[0]}]}], against=names[1]), folder)
    outcome = command("figure", folder / "both.json", "-o", tmp_path / "both.svg", "--json", "--data", tmp_path / "both.csv")
    assert outcome.code == 0 and "warning" not in outcome.errors, outcome
    assert len(json.loads(outcome.text)["keys"]["run_sha256"].split()) == 10
    alone = command("figure", *sides[0], "compare", "--against", *sides[1], "--data", "-")
    expected = pandas.read_csv(io.StringIO(alone.text), comment="#")
    found = pandas.read_csv(tmp_path / "both.csv", comment="#")
    for mark in ("interval", "step"):
        wanted = expected[expected["mark"] == mark]["y"].tolist()
        assert found[found["mark"] == mark]["y"].tolist() == wanted and (wanted or mark == "step")


def test_colours_of_a_quantity_have_one_range_in_all_panels_that_give_none(command, runs, sides, tmp_path):
    """Two runs side by side, whose own ranges differ: one bar's ends for both, and for a panel with a range its own."""
    quantity, values = "effective_keys_mean", []
    for run in (runs["softmax"], sides[0][0]):
        with h5py.File(run) as file:
            values.append(file[quantity][..., 0].astype(float))
    assert values[0].max() > 1.5 * values[1].max()
    panels = [{"kind": "atlas", "quantity": quantity, "run": str(run)} for run in (runs["softmax"], sides[0][0])]

    def colours(rows):
        outcome = command("figure", composed(tmp_path, "panels", rows), "-o", tmp_path / "panels.svg", "--force")
        assert outcome.code == 0, outcome
        made = []
        for plot in Figure(tmp_path / "panels.svg").plots:
            fills = {}
            for series in plot.series:
                for mark in series.marks:
                    if mark.get("fill", "none") != "none" and mark.tag.endswith("rect"):
                        fills.setdefault(series.name, []).append(mark.get("fill"))
            made.append(max(fills.values(), key=len))
        return made

    together = colours([{"height": "30mm", "panels": panels}])
    alone = [colours([{"height": "30mm", "panels": [panel]}])[0] for panel in panels]
    own = colours([{"height": "30mm", "panels": [panels[0], panels[1] | {"range": "1,4"}]}])
    assert own[0] == alone[0] != together[0] and own[1] not in (alone[1], together[1])
    # Lightness goes one way with the value, through the cells of both panels.

    def steps(parts, of):
        light = [sum(w * int(c[i:i + 2], 16) for w, i in ((0.2126, 1), (0.7152, 3), (0.0722, 5))) for _, c in sorted(
            (v, c) for part, fills in zip(of, parts) for v, c in zip(part.reshape(-1), fills))]
        return [b - a for a, b in zip(light, light[1:])]

    assert max(steps(alone[:1], values[:1])) <= 0.5  # of one panel, darker and darker
    assert max(steps(together, values)) <= 0.5 < 20 < max(steps(alone, values))
