"""The definitions suffice: whoever has a run file and core/measure/QUANTITIES.md can compute every statistic of the file again.

definitions.py does that from the document's words, for the shipped models of every kind and for what-ifs, on runs with --exact-maps. The
datasets are read from the file: one that has no recomputation fails.
"""
import json
import pathlib
import re
import subprocess
import textwrap

import h5py
import numpy as np
import pytest

import definitions as D

ASSETS = pathlib.Path(__file__).resolve().parents[2] / "assets"
DEMO = ASSETS / "demo"
DOCUMENT = ASSETS.parent / "core" / "measure" / "QUANTITIES.md"
MODELS = sorted(p.parent.relative_to(DEMO).as_posix() for p in DEMO.rglob("model.safetensors") if "step_" not in str(p))

# In float64 files only the order of sums differs, over at most 150 keys of logits up to 200: 1e-9 leaves five digits of room. In
# float32 files maps come from other kernels than the statistics; both round logits, and a logit of size z off by z·2⁻²³ changes a
# weight by as much, relatively: 2e-4 of a dataset's largest value is ten times that at |z| = 170.
TOLERANCE = {"float64": 1e-9, "float32": 2e-4}
WHAT_IFS = {
    "bytes/diff_v2": [["pairing=halves"], ["pairing=halves", "first-map=off"], ["pairing=halves", "second-map=off"],
                      ["first-map=off", "hide-key=5"], ["lambda=raw"], ["lambda=none", "normalizer=softmax_one"],
                      ["pairing=halves", "normalizer=softmax_one", "temperature=3"]],
    "bytes/diff_v1": [["pairing=halves"], ["lambda=-0.5"], ["norm=off"], ["L1.H1:second-map=off", "L0:hide-key=0,1,2"]],
    "bytes/softmax": [["hide-key=0,3"], ["L0.H1:temperature=0.5"], ["normalizer=softpick"], ["normalizer=softpick", "hide-key=0,3", "temperature=2"]],
    "bytes/softmax_sink": [["L1.H2:sink=off", "temperature=2.5"]],
    "bytes/gated": [["L0:gate=off", "L1:head=off"]],
    "backcopy/diff_v1_no_norm": [["first-map=off", "normalizer=softmax_one"]],
}
CASES = ([pytest.param(model, [], "float64", {}, id=model) for model in MODELS]
         + [pytest.param(model, what_ifs, "float64", {}, id=f"{model}, {' '.join(what_ifs)}")
            for model, several in WHAT_IFS.items() for what_ifs in several]
         + [pytest.param(model, what_ifs, "float32", {}, id=f"{model}, {' '.join(what_ifs)} float32") for model, what_ifs in
            [("bytes/diff_v1", []), ("backcopy/diff_v2", []), ("bytes/softmax_sink", []), ("bytes/diff_v2", ["pairing=halves"])]]
         + [pytest.param("bytes/diff_v2", [], "float64", {"window": 5, "scale": 0.2}, id="a window and a scale of its own"),
            pytest.param("bytes/diff_v1", ["hide-key=13,14,15"], "float64", {"window": 9, "chunk": 13}, id="chunks, a window and hidden keys"),
            pytest.param("bytes/softmax_sink", [], "float32", {"chunk": 20}, id="chunks float32"),
            pytest.param("bytes/softmax_sink", ["hide-key=1"], "float32", {"window": 9, "always_visible": 4}, id="window and first keys"),
            pytest.param("bytes/softmax", [], "float64", {"tokens": 150}, id="so long that not every row is eligible"),
            pytest.param("bytes/softmax_one", [], "float64", {"tokens": 150, "window": 40}, id="no row sees min_row keys"),
            pytest.param("bytes/diff_v1", [], "float64", {"tokens": 1}, id="one token"),
            pytest.param("bytes/softmax_sink", [], "float64", {"tokens": 2}, id="two tokens and a sink")])

# Of the root group: a text, keys among which ties decide, and shares of rows of which some sit on an end.
BY_OTHER_CHECKS = {"attention_kind", "top_key_position", "top_sink_position", "rows_below_bound", "rows_inside_bound", "rows_above_bound"}


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


@pytest.fixture(scope="module")
def entries(program):
    return {entry["path"]: entry for entry in json.loads(subprocess.check_output([program, "quantities", "--json"]))["quantities"]}


def run_of(command, tmp_path, model, what_ifs, dtype, changes, *more):
    arguments = [part for what_if in what_ifs for part in ("--what-if", what_if)]
    config = json.loads((DEMO / model / "config.json").read_text())
    attention = {key: changes[key] for key in ("window", "chunk", "always_visible", "scale") if key in changes}
    if attention:
        config["attention"].update(attention)
        (tmp_path / "config.json").write_text(json.dumps(config))
        arguments += ["--config", tmp_path / "config.json"]
    if "tokens" in changes:
        ids = (DEMO / model / "prompt_ids.txt").read_text().split(",")
        arguments += ["--ids", ",".join((ids * 3)[:changes["tokens"]])]
    out = command("analyze", DEMO / model, "-o", tmp_path / "run.h5", "--exact-maps", "--hidden", "--maps", "8", "--components",
                  "--dtype", dtype, *arguments, *more)
    assert out.code == 0, out
    return tmp_path / "run.h5", config


def differing(found, wanted, tolerance):
    """Where they differ by more than the tolerance of the largest value, or in what is absent."""
    largest = max(1e-3, np.nanmax(np.abs(wanted), initial=0))
    return (np.isnan(found) != np.isnan(wanted)) | (np.abs(found - wanted) > tolerance * largest)


def compare(run, group, table, special, tolerance):
    wrong = []
    for name, dataset in run.datasets(group).items():
        if name in special:
            continue
        assert name in table or name in D.OF_RUN, f"nothing computes {group}/{name} again: see core/measure/QUANTITIES.md"
        if name in D.OF_RUN:
            found, wanted = np.asarray(dataset[()], float), np.asarray(D.OF_RUN[name](run))
        else:
            found = dataset[()].astype(float)
            absent = -1 if dataset.dtype.kind == "i" else np.nan
            wanted = np.full(found.shape, np.nan)
            for l, h, head in run.every_head():
                value = table[name](head)
                wanted[l, h] = absent if value is None else value
        if differing(found, wanted, tolerance).any():
            wrong.append(f"{group}/{name}: file {found.ravel()[:8]}, by its definition {np.ravel(wanted)[:8]}")
    return wrong


def check_positions(run, tolerance):
    """Keys in the order of what they receive: equal ones may change places where rounding decides."""
    wrong = []
    for l, h, head in run.every_head():
        for m in (0, 1):
            top, sink = run.file["top_key_position"][l, h, m], run.file["top_sink_position"][l, h, m]
            if not head.has[m]:
                wrong += [f"L{l}.H{h}: positions of an absent map"] if (top != -1).any() or sink != -1 else []
                continue
            columns, wanted = head.a[m].sum(axis=0), D.ROOT["top_key_position"](head)[m]
            if ((top == -1) != (wanted == -1)).any() or len(set(top[top >= 0])) != (top >= 0).sum():
                wrong.append(f"L{l}.H{h}: top_key_position {top}")
            if (np.abs(columns[top[top >= 0]] - columns[wanted[wanted >= 0]]) > tolerance * columns.max()).any():
                wrong.append(f"L{l}.H{h}: top_key_position {top}, by its definition {wanted}")
            received, best = D.received(head, m), D.ROOT["top_sink_position"](head)[m]
            if not 2 * sink < run.n or not abs(received[sink] - received[best]) <= tolerance:
                wrong.append(f"L{l}.H{h}: top_sink_position {sink}, by its definition {best}")
    return wrong


def check_shares(run, border):
    wrong = []
    labels = [label.decode() for label in run.axis(run.file["rows_below_bound"], 2)]
    assert labels == ["softmax", "diff_v2", "variant"]
    for l, h, head in run.every_head():
        for b, label in enumerate(labels):
            found = [run.file[f"rows_{side}_bound"][l, h, b] for side in ("below", "inside", "above")]
            sure = head.shares(label, border)
            if abs(sum(found) - 1) > 1e-6 or any(f < s - 1e-6 for f, s in zip(found, sure)):
                wrong.append(f"L{l}.H{h} {label}: file {found}, by the interval at least {sure}")
            if 1 - sum(sure) > 0.25:
                wrong.append(f"L{l}.H{h} {label}: too many rows on the ends to compare")
    return wrong


def check_histograms(run, error):
    wrong = []
    for name, dataset in run.datasets("hist").items():
        edges = run.file[f"hist/{name}_edges"][()]
        for l, h, head in run.every_head():
            counts = np.atleast_2d(dataset[l, h])
            for found, values in zip(counts, D.HIST[name](head)):
                if values is None:
                    wrong += [f"hist/{name}: counts of what is absent"] if (found != -1).any() else []
                    continue
                near = error * (1 + np.abs(values)) if name in ("logit", "lambda") else error * values  # bins of logarithms
                low, high = (np.searchsorted(edges[1:-1], values + side * near, side="right") for side in (-1, 1))
                sure = np.bincount(low[low == high], minlength=len(found))
                possible = sure + np.bincount(low[low != high], minlength=len(found)) + np.bincount(high[low != high], minlength=len(found))
                if found.sum() != len(values) or (found < sure).any() or (found > possible).any():
                    wrong.append(f"hist/{name} L{l}.H{h}: {found.tolist()}, of the values at least {sure.tolist()}")
    return wrong


def check_rounding(run, error):
    wrong = []
    for l, h, head in run.every_head():
        for m in (0, 1):
            found = run.file["rows/rounds_to_one"][l, h, m]
            if not head.has[m]:
                wrong += ["rounds_to_one of an absent map"] if (found != -1).any() else []
            elif (found < D.rounds_to_one(head, m, -error)).any() or (found > D.rounds_to_one(head, m, error)).any():
                wrong.append(f"L{l}.H{h}: rounds_to_one {found}")
    return wrong


def check_exact(run, tolerance):
    """Maps, net maps and contexts from queries, keys, values, λ and sink; norms of keys and values."""
    wrong = []
    for l, h, head in run.every_head():
        net, context = np.zeros((run.n, run.n)), 0.0
        for m, sign in ((0, 1.0), (1, -1.0)):
            if not head.has[m]:
                continue
            a = np.exp(head.z(m) - head.lse(m)[:, None])
            if head.softpick:
                a = np.maximum(a - np.exp(-head.lse(m))[:, None], 0)
            wrong += [f"exact/weights L{l}.H{h}.{m}"] if differing(head.a[m], a, tolerance).any() else []
            factor = 1.0 if m == 0 else head.lam[:, None]
            net = net + sign * factor * a
            context = context + sign * factor * (a @ head.value(m))
        wrong += [f"exact/net_weights L{l}.H{h}"] if differing(head.w, net, tolerance).any() else []
        wrong += [f"exact/contexts L{l}.H{h}"] if differing(head.context, context, tolerance).any() else []
    for name, blocks in (("key_norm", "keys"), ("value_norm", "values")):
        norms = np.linalg.norm(run.file["exact/" + blocks][()].astype(float), axis=3)
        wrong += [f"keys/{name}"] if differing(run.file["keys/" + name][()].astype(float), norms, tolerance).any() else []
    return wrong


def check_tokens_and_hidden(run, tolerance):
    wrong = []
    visible = np.array([[Head.n_i for _, _, Head in run.every_head() if Head.l == l] for l in range(len(run.layers))]).max(axis=1)
    wrong += ["tokens/visible_keys"] if (run.file["tokens/visible_keys"][()] != visible).any() else []
    for boundary, h in enumerate(run.file["hidden/residual"][()].astype(float)):
        rms, centred = np.sqrt((h ** 2).mean(axis=1)), h - h.mean(axis=1, keepdims=True)
        kurtosis = (centred ** 4).mean(axis=1) / (centred ** 2).mean(axis=1) ** 2
        for name, expected in (("residual_rms", rms), ("residual_kurtosis", kurtosis)):
            found = run.file["hidden/" + name][boundary].astype(float)
            wrong += [f"hidden/{name} at boundary {boundary}"] if differing(found, expected, max(tolerance, 1e-6)).any() else []
        size = np.sort(np.abs(h).ravel())
        median = size[len(size) // 2]
        for position, feature, value, ratio in run.file["hidden/residual_top"][boundary]:
            ok = h[int(position), int(feature)] == value and abs(ratio - abs(value) / median) <= max(tolerance, 1e-6) * ratio
            wrong += [] if ok else [f"hidden/residual_top at boundary {boundary}"]
        largest = np.abs(run.file["hidden/residual_top"][boundary, :, 2])
        wrong += [] if (largest == size[::-1][:3]).all() else [f"hidden/residual_top at boundary {boundary}: not the largest"]
    wrong += check_predictions(run, max(tolerance, 1e-6))
    if run.n > 1 and "next_token_loss" in run.file.attrs:
        z = run.file["hidden/logits"][:-1].astype(float)
        largest = z.max(axis=1, keepdims=True)
        losses = np.log(np.exp(z - largest).sum(axis=1)) + largest[:, 0] - z[np.arange(run.n - 1), run.ids[1:]]
        wrong += [] if abs(losses.mean() - run.file.attrs["next_token_loss"]) <= max(tolerance, 1e-6) * 10 else ["next_token_loss"]
    return wrong


def check_predictions(run, tolerance):
    """/predictions from hidden/logits; a task without logits predicts nothing."""
    if "predictions" not in run.file:
        return ["predictions are missing"] if "next_token_loss" in run.file.attrs else []
    predictions = {name: item[()] for name, item in run.datasets("predictions").items()}
    z = run.file["hidden/logits"][()].astype(float)
    largest = z.max(axis=1, keepdims=True)
    lse = np.log(np.exp(z - largest).sum(axis=1)) + largest[:, 0]
    log_probability = z - lse[:, None]
    wanted = {"log_sum_exp": lse, "entropy": -(np.exp(log_probability) * log_probability).sum(axis=1),
              "token_loss": np.r_[np.nan, -log_probability[np.arange(run.n - 1), run.ids[1:]]],
              "next_log_probability": np.sort(log_probability, axis=1)[:, ::-1][:, :8],
              "next_token": np.argsort(-z, axis=1, kind="stable")[:, :8],
              "token_rank": np.r_[-1, 1 + (z[:-1] > z[np.arange(run.n - 1), run.ids[1:]][:, None]).sum(axis=1)]}
    assert set(predictions) == {*wanted, "next_text"} and run.file["predictions"].attrs["vocabulary"] == z.shape[1]
    return [f"predictions/{name}" for name, values in wanted.items() if differing(predictions[name].astype(float), values, tolerance).any()]


def check_ranges(run, entries, dtype):
    """Every number lies within the range that its entry names."""
    slack = {"float64": 1e-9, "float32": 2e-5}[dtype]
    ends = {"−∞": -np.inf, "∞": np.inf, "0": 0, "1": 1, "−1": -1, "0.2": 0.2, "0.8": 0.8, "√2": np.sqrt(2), "1.0615": 1.0615, "1.01": 1.01,
            "n": run.n, "T": run.file["hidden/logits"].shape[1], "T − 1": run.file["hidden/logits"].shape[1] - 1,
            "ln T": np.log(run.file["hidden/logits"].shape[1]), "n − 1": run.n - 1, "n²": run.n**2, "ln(n + 1)": np.log(run.n + 1)}
    wrong = []
    for path, entry in entries.items():
        if path not in run.file or not entry["range"]:
            continue
        low_text, high_text = entry["range"][1:-1].split(", ")
        dataset = run.file[path]
        assert dataset.attrs["range"] == entry["range"] and dataset.attrs["definition"] == entry["definition"], path
        absent = -1 if dataset.dtype.kind == "i" else None
        parts = [(dataset[l, h], head) for l, h, head in run.every_head()] if entry["axes"][:2] == ["layer", "head"] else [(dataset[()], None)]
        for values, head in parts:
            values = np.asarray(values, float).ravel()
            values = values[~np.isnan(values) & (values != absent)]
            if head is not None:
                largest = np.abs(head.lam).max()
                ends |= {"|λ|": largest, "−|λ|": -largest, "1 + |λ|": 1 + largest, "1/√ε": 1 / np.sqrt(head.epsilon),
                         "h_k − 1": run.file["keys/key_norm"].shape[1] - 1}
            low, high = ends[low_text], ends[high_text]
            if len(values) and (values.min() < low - slack * (1 + abs(low)) or values.max() > high + slack * (1 + abs(high))):
                wrong.append(f"{path}: {values.min()} to {values.max()}, not in {entry['range']}")
    return wrong


@pytest.mark.parametrize("model, what_ifs, dtype, changes", CASES)
def test_every_dataset_follows_from_its_definition(command, entries, tmp_path, model, what_ifs, dtype, changes):
    path, config = run_of(command, tmp_path, model, what_ifs, dtype, changes)
    run, tolerance = D.Run(path), TOLERANCE[dtype]
    assert run.min_row == (1 if run.n < 128 else 64)
    wrong = compare(run, "", D.ROOT, BY_OTHER_CHECKS, tolerance)
    wrong += compare(run, "rows", D.ROWS, {"rounds_to_one"}, tolerance)
    wrong += compare(run, "keys", D.KEYS, {"key_norm", "value_norm"}, tolerance)
    wrong += compare(run, "maps", D.MAPS, set(), tolerance)
    assert set(run.datasets("hist")) == set(D.HIST)
    wrong += check_positions(run, tolerance) + check_shares(run, 10 * tolerance) + check_histograms(run, tolerance)
    wrong += check_rounding(run, 1e-9 if dtype == "float64" else 2e-4) + check_exact(run, tolerance)
    wrong += check_tokens_and_hidden(run, tolerance) + check_ranges(run, entries, dtype)
    kinds = [kind.decode() for kind in run.file["attention_kind"][()]]
    assert kinds == [config["attention"]["kind"]] * len(run.layers)
    if not what_ifs:
        assert kinds == [kind_of_program(run, l) for l in range(len(run.layers))]
    run.close()
    assert not wrong, "\n".join(wrong)


def kind_of_program(run, l):
    """The kind that core/model/ARCHITECTURES.md gives such a head program."""
    part = lambda name: run.file["program/" + name][l, 0]  # noqa: E731
    if part("lambda_source") == b"layer_scalar":
        return "diff_v1"
    if part("lambda_source") == b"projection":
        return "diff_v2"
    if part("normalizer") == b"softpick":
        return "softpick"
    return "gated" if part("gated") else {b"none": "softmax", b"zero": "softmax_one", b"learned": "softmax_sink"}[part("sink")]


def test_what_different_values_change_is_seen(command, tmp_path):
    """That the cases above try the sentences on different values per map: `pairing=halves` on DIFF V2 gives some heads two."""
    path, _ = run_of(command, tmp_path, "bytes/diff_v2", ["pairing=halves"], "float64", {})
    run = D.Run(path)
    heads = [head for _, _, head in run.every_head()]
    assert any(head.different_values for head in heads)
    head = next(head for head in heads if head.different_values)
    wrong = np.sqrt((head.w**2 * head.r_squared[0][0]).sum(axis=1))
    assert np.abs(wrong / head.rows("uncorrelated_rms") - 1).max() > 0.01


def test_a_dataset_without_a_definition_is_noticed(command, tmp_path):
    path, _ = run_of(command, tmp_path, "bytes/softmax", [], "float64", {})
    with h5py.File(path, "a") as file:
        file["brand_new"] = file["sink_score_net"][()]
    run = D.Run(path)
    with pytest.raises(AssertionError, match="nothing computes /brand_new again"):
        compare(run, "", D.ROOT, BY_OTHER_CHECKS, 1e-9)


@pytest.mark.parametrize("recipe", ["trigger_bos", "backcopy"])
def test_spikes_of_a_training(command, tmp_path, recipe):
    trained = command("train", ASSETS / "recipes" / f"{recipe}.json", "--variant", "softmax", "--seed", "1", "--steps", "150",
                      "-o", tmp_path)
    assert trained.code == 0, trained
    with h5py.File(tmp_path / recipe / "softmax_seed1" / "training.h5") as file:
        for name, values in (("loss_spikes", file["loss"][()]), ("gradient_norm_spikes", file["gradient_norm"][()])):
            # The file's float32 may decide a step that is on the border otherwise.
            assert abs(int(file.attrs[name]) - D.count_spikes(values.astype(float))) <= 1, name
        norms = file["gradient_norm"][()].astype(float)
        assert abs(file.attrs["gradient_norm_max_over_median"] / (norms.max() / np.median(norms)) - 1) < 1e-6


def test_the_document_is_what_the_program_prints(command):
    printed = command("quantities", "--markdown")
    assert printed.code == 0 and printed.text == DOCUMENT.read_text(), "headroom quantities --markdown > core/measure/QUANTITIES.md"


def test_the_document_has_every_dataset_of_a_run(command, entries, tmp_path):
    path, _ = run_of(command, tmp_path, "bytes/diff_v1", [], "float64", {}, "--rounding", "--premise")
    with h5py.File(path) as file:
        found = {}
        file.visititems(lambda name, item: found.update({name: item}) if isinstance(item, h5py.Dataset) else None)
        datasets = {name: item for name, item in found.items() if item.attrs.get("CLASS") != b"DIMENSION_SCALE"}
        # Of captures, of models with experts or with biases by distance.
        others = {"program/alibi_slope", "program/distance_bias"}
        assert set(datasets) == {name for name in entries if name not in others and not name.startswith(("calls/", "router/"))}
        for name, item in datasets.items():
            entry = entries[name]
            labels = [item.dims[i][0].name.split("/")[-1] for i in range(item.ndim)]
            assert labels == entry["axes"] and item.attrs["units"] == entry["units"], name
            assert item.attrs["source"] == "; ".join(
                f"{source['name']}, {source['place']}" if source["name"] else source["place"] for source in entry["sources"]), name
            assert item.attrs.get("rows", "") == entry["rows"] and item.attrs.get("rows_where", "") == entry["rows_where"], name


def test_parts_of_the_document(command):
    one = command("quantities", "sink_score")
    assert one.code == 0 and "α_0 = mean_i a_i0" in one.text and "arXiv 2410.10781" in one.text and "Notions" not in one.text
    assert [entry["path"] for entry in command("quantities", "*logit_m??", "--json").json["quantities"]] == [
        "logit_max", "logit_min", "rows/logit_max", "rows/logit_min"]
    assert command("quantities", "rows/lse", "--markdown").text.startswith("### rows/lse\n")
    whole = command("quantities")
    assert whole.text.startswith("Symbols\n") and whole.text.count("\n    source: ") == len(command("quantities", "*", "--json").json["quantities"])
    none = command("quantities", "sink_scor")
    assert none.code == 2 and "sink_scor" in none.errors
    assert command("quantities", "sink_score", "--json", "--markdown").code == 2


def test_the_examples_of_the_page_of_the_run_file(command, tmp_path, monkeypatch):
    """Python of core/io/RUN_FILE.md, as it stands there."""
    path, _ = run_of(command, tmp_path, "bytes/softmax", [], "float64", {})
    blocks = re.findall(r"\n\n((?:    .*\n|\n(?=    ))+)", (ASSETS.parent / "core" / "io" / "RUN_FILE.md").read_text())
    opening, again = (next(block for block in blocks if word in block) for word in ("import xarray", "logit_scale"))
    monkeypatch.chdir(path.parent)
    opening = opening.split("    using HDF5")[0].replace("3, component", "1, component").replace("[3, 5, 0]", "[1, 1, 0]")
    exec(textwrap.dedent(opening), {})
    names = {}
    exec(textwrap.dedent(again), names)
    assert np.abs(names["a"] - names["file"]["exact/weights"][0, 0, 0]).max() < 1e-12
