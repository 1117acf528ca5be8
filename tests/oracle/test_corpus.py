"""`headroom corpus` and `headroom merge`: every kept value against `analyze` of that sequence, bit for bit; statistics against NumPy, SciPy and
Fractions of the kept values; shards, kills and merges against an undisturbed run, dataset by dataset."""
import fractions
import json
import math
import os
import random
import re
import signal
import time

import h5py
import numpy as np
import pytest
import scipy.stats

import checkpoints as C
from command import refused
from conftest import ROOT

BYTES = ROOT / "assets" / "demo" / "bytes" / "diff_v2"
KJV = ROOT / "assets" / "corpora" / "kjv.txt"
LICENCES = ROOT / "tests" / "fixtures" / "corpus" / "licences_ids.jsonl"
STATISTICS = ["mean", "std", "standard_error", "ci_low", "ci_high", "bootstrap_low", "bootstrap_high", "min", "max", "count"]
M64 = 2**64 - 1
MAPS = ["first", "second", "net"]
DIFFERS = ("shards/",)  # between a merged file and a single run
CUT = ["--data", KJV, "--split", "blank", "--length", "48", "--bos", "always", "--sequences", "21", "--stride", "20", "--pieces", "6",
       "--order", "natural"]

ONE = ["--batch-tokens", "48"]  # a sequence at a time: there is something to be killed between


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & M64
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & M64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & M64
    return x ^ (x >> 31)


def key(s, a, b=0):
    return mix((mix((mix(s) + a) & M64) + b) & M64)


def draws(seed, b, count):
    return np.array([key(seed, b, k) * count >> 64 for k in range(count)])


def texts(dataset):
    return [value.decode() if isinstance(value, bytes) else value for value in dataset[:]]


def contents(path):
    """{dataset: (type, shape, bytes)} of everything but where the parts came from."""
    found = {}
    with h5py.File(path) as file:
        def visit(name, item):
            if isinstance(item, h5py.Dataset) and not name.startswith(DIFFERS):
                value = item[()]
                text = h5py.check_string_dtype(item.dtype)
                found[name] = (str(item.dtype), item.shape, list(value.ravel()) if text else value.tobytes())
        file.visititems(visit)
    return found


def attributes(path):
    with h5py.File(path) as file:
        return {name: value for name, value in file.attrs.items()
                if name not in ("history", "command_line", "created_utc", "_NCProperties", "shard_index", "shard_count")}


@pytest.fixture(scope="module")
def corpus(warm_command):
    def call(model, out, *arguments, code=0):
        outcome = warm_command("corpus", str(model), "-o", str(out), "--device", "cpu", "--json", *map(str, arguments))
        assert outcome.code == code, outcome
        return outcome.json

    return call


@pytest.fixture(scope="module")
def single(corpus, tmp_path_factory):
    """The undisturbed run that others are compared with."""
    out = tmp_path_factory.mktemp("corpus") / "all.h5"
    said = corpus(BYTES, out, *CUT)
    return out, said


def reference(values, documents, seed=0, resamples=2000):
    """All statistics of values [sequences], as core/corpus/CORPUS.md defines them."""
    known = ~np.isnan(values)
    x, d = values[known].astype(np.float64), documents[known]
    n, names = len(x), np.unique(d)
    result = dict.fromkeys(STATISTICS, math.nan)
    result["count"] = n
    if n == 0:
        return result
    result |= {"mean": x.mean(), "min": x.min(), "max": x.max()}
    if n > 1:
        result["std"] = x.std(ddof=1)
    count = len(names)
    if count < 2:
        return result
    error = math.sqrt(count / (count - 1) * sum((x[d == name] - x.mean()).sum() ** 2 for name in names)) / n
    half = scipy.stats.t.ppf(0.975, count - 1) * error
    result |= {"standard_error": error, "ci_low": x.mean() - half, "ci_high": x.mean() + half}
    every = np.unique(documents)
    sums = np.array([x[d == name].sum() for name in every])
    counts = np.array([(d == name).sum() for name in every])
    means = []
    for b in range(resamples):
        drawn = draws(seed, b, len(every))
        if counts[drawn].sum() > 0:
            means.append(sums[drawn].sum() / counts[drawn].sum())
    low, high = np.quantile(means, [0.025, 0.975])
    return result | {"bootstrap_low": low, "bootstrap_high": high}


def check_statistics(stored, values, documents, **options):
    expected = reference(values, documents, **options)
    for name, found in zip(STATISTICS, stored):
        tolerance = 1e-9 if name in ("mean", "min", "max", "count") else 1e-6
        assert found == pytest.approx(expected[name], rel=tolerance, abs=tolerance * 1e-3, nan_ok=True), name


def test_draws_of_the_bootstrap():
    assert draws(0, 0, 8).tolist() == [1, 2, 4, 6, 0, 6, 3, 2] and mix(0) == 0xE220A8397B1DCDAF


def test_every_kept_value_is_that_of_the_run(single, analyze, tmp_path):
    compared = 0
    with h5py.File(single[0]) as file:
        kept, names = file["sequences"], set()
        for s in (0, 7, 20):
            ids = kept["token_id"][s]
            analyze(BYTES, ids, tmp_path / "run.h5", "--force")
            with h5py.File(tmp_path / "run.h5") as run:
                assert kept["next_token_loss"][s] == run.attrs["next_token_loss"]
                assert kept["non_finite_layer"][s] == -1
                for name, item in run.items():
                    if not isinstance(item, h5py.Dataset) or name in run["layer"].file and item.attrs.get("CLASS") == b"DIMENSION_SCALE":
                        continue
                    if name in ("attention_kind", "kv_head", "sink_null"):
                        assert np.array_equal(item[()], file[name][()])
                        continue
                    names.add(name)
                    assert item[()].tobytes() == kept[name][s].tobytes(), name
                    compared += item.size
                for group in ("program", "weights"):
                    for name, item in run[group].items():
                        assert np.array_equal(item[()], file[group][name][()], equal_nan=item.dtype.kind == "f"), name
        assert len(names) > 40 and compared > 3 * 8 * 120
        axes = {"sequence", "document", "piece", "token_start", "token_id", "next_token_loss", "sink_rate", "non_finite_layer"}
        assert set(kept) - axes == names


def test_a_sequence_of_a_corpus_is_an_ordinary_run(single, plan, warm_command, tmp_path):
    for source in (single[0], plan):
        out = tmp_path / "run.h5"
        outcome = warm_command("analyze", str(BYTES), "--sequence", f"{source}::S7", "-o", str(out), "--force", "--device", "cpu")
        assert outcome.code == 0, outcome
        with h5py.File(single[0]) as file, h5py.File(out) as run:
            assert np.array_equal(run["tokens/token_id"][:], file["sequences/token_id"][7])
            assert run["context_rms_mean"][:].tobytes() == file["sequences/context_rms_mean"][7].tobytes()
    refused(warm_command("analyze", str(BYTES), "--sequence", f"{plan}::S21", "-o", str(out), "--force"), 5, "0 to 20", "21")
    refused(warm_command("analyze", str(BYTES), "--sequence", f"{plan}", "-o", str(out), "--force"), 2, "all.h5::S17")


@pytest.mark.parametrize(("kind", "extra"), [("diff_v1", {}), ("softmax_one", {}), ("gated", {"gate": "elementwise"})])
def test_other_kinds_of_attention_and_narrower_choices_too(corpus, analyze, tmp_path, kind, extra):
    C.headroom(tmp_path / "model", C.headroom_config(kind, **extra), 11)
    ids = [[(7 * d + 3 * i + i * i) % 53 for i in range(30)] for d in range(3)]
    (tmp_path / "ids.jsonl").write_text("".join(json.dumps({"ids": row}) + "\n" for row in ids))
    choice = ["--layers", "1", "--heads", "0,2", "--what-if", "L1.H2:sink=off"] if kind == "softmax_one" else ["--dtype", "float64"]
    corpus(tmp_path / "model", tmp_path / "c.h5", "--data", tmp_path / "ids.jsonl", "--field", "ids", "--length", "14", *choice)
    with h5py.File(tmp_path / "c.h5") as file:
        assert file["sequences/document"][:].tolist() == [0, 1, 2, 0, 1, 2]
        for s in (1, 4):
            assert file["sequences/token_id"][s].tolist() == ids[1][14 * (s // 3): 14 * (s // 3) + 14]
            analyze(tmp_path / "model", ids[1][14 * (s // 3): 14 * (s // 3) + 14], tmp_path / "run.h5", "--force", *choice)
            with h5py.File(tmp_path / "run.h5") as run:
                for name in ("sink_score", "context_rms_quantile", "logit_max", "top_key_position", "induction_score", "gate_mean"):
                    stored = run[name][()]
                    stored = stored.astype(np.float32) if stored.dtype.kind == "f" else stored
                    assert stored.tobytes() == file["sequences"][name][s].tobytes(), name


def test_statistics_take_documents_as_clusters(single):
    with h5py.File(single[0]) as file:
        assert texts(file["statistic"]) == STATISTICS and texts(file["map"]) == MAPS
        documents = file["sequences/document"][:]
        names, counts = np.unique(documents, return_counts=True)
        assert len(names) >= 3 and counts.max() > 1 and counts.min() < counts.max()
        assert file["documents/document"][:].tolist() == names.tolist()
        assert file["documents/sequences"][:].tolist() == counts.tolist()
        check_statistics(file["next_token_loss"][:], file["sequences/next_token_loss"][:], documents)
        for name in ("context_rms_relative_mean", "lambda_mean", "norm_gain_max"):
            for layer, head in ((0, 0), (1, 1)):
                check_statistics(file[name][:, layer, head], file["sequences"][name][:, layer, head], documents)
        for component in (0, 1):
            check_statistics(file["sink_score"][:, 1, 1, component], file["sequences/sink_score"][:, 1, 1, component], documents)
        epsilon = file["epsilon"][:]
        assert epsilon.tolist() == [0.2, 0.3, 0.4]
        score, net = file["sequences/sink_score"][:], file["sequences/sink_score_net"][:]
        for e, eps in enumerate(epsilon):
            for m, values in enumerate((score[..., 0], score[..., 1], net)):
                over = np.where(np.isnan(values), np.nan, values.astype(np.float64) > eps)
                rate = np.nanmean(over.reshape(len(over), -1), axis=1)
                assert np.array_equal(file["sequences/sink_rate"][:, e, m], rate)
                check_statistics(file["sink_rate"][:, e, m], rate, documents)
                check_statistics(file["sink_frequency"][:, e, m, 0, 0], over[:, 0, 0], documents)


def test_epsilon_and_the_seed_of_the_bootstrap(corpus, tmp_path):
    corpus(BYTES, tmp_path / "c.h5", *CUT, "--epsilon", "0.02,0.04,0.05,0.9", "--bootstrap-seed", "12345678901234567890")
    with h5py.File(tmp_path / "c.h5") as file:
        documents, rates = file["sequences/document"][:], file["sequences/sink_rate"][:]
        assert rates[:, 0, 0].mean() > rates[:, 1, 0].mean() > rates[:, 2, 0].mean() > 0.0 == rates[:, 3].max()
        check_statistics(file["sink_rate"][:, 1, 0], rates[:, 1, 0], documents, seed=12345678901234567890)
        check_statistics(file["entropy_mean"][:, 1, 1, 0], file["sequences/entropy_mean"][:, 1, 1, 0], documents, seed=12345678901234567890)


def test_sums_of_what_is_not_kept_are_exact(single, corpus, tmp_path):
    corpus(BYTES, tmp_path / "none.h5", *CUT, "--keep", "none", "--no-ids")
    corpus(BYTES, tmp_path / "some.h5", *CUT, "--keep", "sink_score,logit_max")
    with h5py.File(single[0]) as file, h5py.File(tmp_path / "none.h5") as none, h5py.File(tmp_path / "some.h5") as some:
        assert "token_id" not in none["sequences"] and "sink_score" not in none["sequences"]
        assert set(some["exact"]) == (set(none["exact"]) - {"sink_score", "logit_max"})
        assert {"sink_score", "logit_max"} < set(some["sequences"]) and "entropy_mean" not in some["sequences"]
        assert np.array_equal(some["sink_score"][:], file["sink_score"][:], equal_nan=True)
        for name in ("context_rms_quantile", "logit_min", "lambda_std"):
            values = file["sequences"][name][:].reshape(21, -1)
            stored = none[name][:].reshape(len(STATISTICS), -1)
            for column in range(0, values.shape[1], 7):
                x = [fractions.Fraction(float(v)) for v in values[:, column] if not np.isnan(v)]
                total, squares, n = sum(x), sum(v * v for v in x), len(x)
                found = dict(zip(STATISTICS, stored[:, column]))
                assert found["count"] == n
                if n == 0:
                    continue
                assert found["mean"] == float(total) / n
                assert found["std"] == math.sqrt(float(n * squares - total * total) / n / (n - 1))
                assert (found["min"], found["max"]) == (min(x), max(x))
                assert all(np.isnan(found[name]) for name in STATISTICS[2:7])
        # A sink's frequency from whole numbers.
        frequency = none["sink_frequency"][:]
        assert np.allclose(frequency[0], file["sink_frequency"][0], rtol=0, atol=1e-15) and np.isnan(frequency[2]).all()


def test_rows_of_all_sequences(single, analyze, tmp_path):
    """Histograms and sketches against the rows of every run."""
    rows, hist = {}, {}
    with h5py.File(single[0]) as file:
        for s in range(len(file["sequences/token_id"])):
            analyze(BYTES, file["sequences/token_id"][s], tmp_path / "run.h5", "--force")
            with h5py.File(tmp_path / "run.h5") as run:
                for name, item in run["hist"].items():
                    if item.ndim > 1:
                        hist[name] = hist.get(name, 0) + np.maximum(item[:], 0)
                for name, item in run["rows"].items():
                    rows.setdefault(name, []).append(item[:].astype(np.float64))
        for name, counts in hist.items():
            assert np.array_equal(file["hist"][name][:], counts), name
        assert len(hist) == 4
        rows = {name: np.concatenate(parts, axis=-1) for name, parts in rows.items()}
        rows["effective_keys"] = 1.0 / rows["weight_l2_component"] ** 2
        quantiles = file["quantile"][:]
        gamma = 1.005 / 0.995
        checked = 0
        for name, width in [("context_rms", None), ("context_rms_relative", None), ("weight_l2", None), ("effective_keys", None),
                            ("entropy", 1 / 128), ("lambda", 1 / 512), ("logit_max", 1 / 8), ("logit_min", 1 / 8)]:
            counts, bins = file["sketch"][name][:], file["sketch"][name + "_bin"][:]
            values = rows[name]
            assert np.array_equal(counts.sum(axis=-1), (~np.isnan(values)).sum(axis=-1)), name
            for place in np.ndindex(values.shape[:-1]):
                x = np.sort(values[place][~np.isnan(values[place])])
                stored = file["pooled"][name + "_quantile"][place]
                if len(x) == 0:
                    assert np.isnan(stored).all()
                    continue
                exact = x[np.floor(quantiles * (len(x) - 1)).astype(int)]
                # Rows are stored in float32, bins are of the doubles.
                close = np.abs(exact) * 0.00501 + 1e-9 if width is None else width / 2 + np.abs(exact) * 1e-6
                assert (np.abs(stored - exact) <= close).all(), (name, place, stored, exact)
                assert stored[[0, -1]] == pytest.approx(x[[0, -1]], rel=1e-6, abs=1e-6)
                checked += 1
            step = np.diff(bins)
            assert np.allclose(step, width) if width else np.allclose(bins[1:] / bins[:-1], gamma)
        assert checked == 16 * (2 + 2 * 2 + 4 * 2 - 8)


@pytest.fixture(scope="module")
def plan(warm_command, tmp_path_factory):
    out = tmp_path_factory.mktemp("plan") / "plan.h5"
    outcome = warm_command("corpus", str(BYTES), *map(str, CUT), "--plan-only", "-o", str(out), "--json")
    assert outcome.code == 0, outcome
    return out


@pytest.mark.parametrize("keep", [["--keep", "all"], ["--keep", "sink_score,sink_score_net"], ["--keep", "none", "--no-ids"]], ids=lambda k: k[1])
def test_shards_in_any_number_and_order_are_the_single_run(corpus, warm_command, plan, tmp_path, keep):
    corpus(BYTES, tmp_path / "all.h5", "--plan", plan, *keep)
    expected, said = contents(tmp_path / "all.h5"), attributes(tmp_path / "all.h5")
    for count in (1, 2, 3, 8):
        parts = [tmp_path / f"part{count}_{i}.h5" for i in range(count)]
        for i, part in enumerate(parts):
            corpus(BYTES, part, "--plan", plan, "--shard", f"{i}/{count}", *keep)
        random.Random(count).shuffle(parts)
        merged = tmp_path / f"merged{count}.h5"
        outcome = warm_command("merge", *map(str, parts), "-o", str(merged))
        assert outcome.code == 0, outcome
        found = contents(merged)
        assert found.keys() == expected.keys()
        assert [name for name in found if found[name] != expected[name]] == []
        assert attributes(merged) == said
        with h5py.File(merged) as file:
            assert file["shards/count"][:].sum() == 21 and len(file["shards/first"]) == count
            assert texts(file["shards/file"]) == [f"part{count}_{i}.h5" for i in range(count)]
        with h5py.File(parts[0]) as part:
            assert part.attrs["shard_count"] == count if count > 1 else "shard_count" not in part.attrs
            assert part.attrs["sequences_all"] == 21


def test_what_the_self_check_found_is_said_again(corpus, warm_command, plan, tmp_path):
    """It stays in the file: whoever finishes, merges, inspects or draws it is told."""
    parts, merged = [tmp_path / f"part{i}.h5" for i in range(2)], tmp_path / "merged.h5"
    for i, part in enumerate(parts):
        assert corpus(BYTES, part, "--plan", plan, "--shard", f"{i}/2")["self_check"]["violations"] == []
    found = ["sequence 3: L0.H0 row 3: its weights add to 1.5", "sequence 5: L1.H2 row 7: \x1b[31m"]
    with h5py.File(parts[0], "r+") as file:
        assert texts(file["shards/self_check"]) == [""]
        file["shards/self_check"][0] = "\n".join(found)
    words = [str(BYTES), "--plan", str(plan), "--device", "cpu", "--shard", "0/2", "-o", str(parts[0])]
    again = warm_command("corpus", *words, "--json")
    assert again.code == 70 and again.json["nothing_to_do"] and again.json["self_check"]["violations"] == found, again
    assert f"warning: self-check: {found[0]}\n" in again.errors and "\x1b" not in again.errors, again
    outcome = warm_command("merge", *map(str, parts), "-o", str(merged), "--json")
    assert outcome.code == 70 and outcome.json["self_check"]["violations"] == found, outcome
    with h5py.File(merged) as file:
        assert texts(file["shards/self_check"]) == ["\n".join(found), ""]
    with h5py.File(parts[1], "r+") as file:  # as files were before this was kept
        del file["shards/self_check"]
    again = warm_command("merge", *map(str, parts), "-o", str(tmp_path / "again.h5"), "--json")
    assert again.code == 70 and again.json["self_check"]["violations"] == found, again
    told = warm_command("inspect", str(merged))
    assert told.code == 0 and f"FAILED: {found[0]}" in told.text, told
    for name in ("loss", "sinks > 0.2", "sequences", "self-check"):  # and its value, apart
        assert re.search(rf"^{re.escape(name)} {{2,}}\S", told.text, re.MULTILINE), told
    drawn = warm_command("figure", str(merged), "sinks", "-o", str(tmp_path / "sinks.svg"), "--caption", "text")
    assert drawn.code == 0 and f"The self-check found wrong numbers: {found[0]}." in drawn.text, drawn


def test_a_plan_runs_what_the_data_would(single, corpus, plan, tmp_path):
    corpus(BYTES, tmp_path / "c.h5", "--plan", plan)
    assert contents(tmp_path / "c.h5") == contents(single[0])


@pytest.mark.parametrize("tokens", [1, 100, 480])
def test_batches_of_any_size_are_the_same_run(single, corpus, tmp_path, tokens):
    corpus(BYTES, tmp_path / "c.h5", *CUT, "--batch-tokens", tokens)
    assert contents(tmp_path / "c.h5") == contents(single[0])


@pytest.mark.parametrize("threads", [["--threads", "1"], ["--threads", "2"], {"OMP_NUM_THREADS": "1"}, {"SLURM_CPUS_PER_TASK": "1"}], ids=str)
def test_any_number_of_threads_is_the_same_run(single, command, tmp_path, threads):
    options, env = (threads, {}) if isinstance(threads, list) else ([], threads)
    outcome = command("corpus", BYTES, *CUT, "-o", tmp_path / "c.h5", "--device", "cpu", "--json", *options, env=env)
    assert outcome.code == 0, outcome
    expected = min(int(options[1]), command("doctor", "--json").json["threads"]) if options else 1
    assert outcome.json["threads"] == expected
    with h5py.File(tmp_path / "c.h5") as file:
        assert file["shards/threads"][:].tolist() == [expected]
    assert contents(tmp_path / "c.h5") == contents(single[0])


def test_no_more_threads_than_are_allowed(command, tmp_path):
    outcome = command("corpus", BYTES, *CUT, "--threads", "999", "-o", tmp_path / "c.h5", "--device", "cpu", "--json",
                      env={"SLURM_CPUS_PER_TASK": "1"})
    assert outcome.code == 0 and outcome.json["threads"] == 1
    assert "999 threads were asked for, 1 are allowed (SLURM_CPUS_PER_TASK)" in outcome.errors


def test_127_merge_names_what_is_missing_doubled_or_other(corpus, command, plan, tmp_path):
    parts = [tmp_path / f"p{i}.h5" for i in range(7)]
    for i, part in enumerate(parts):
        corpus(BYTES, part, "--plan", plan, "--shard", f"{i}/7", "--keep", "none")
    out = tmp_path / "out.h5"
    refused(command("merge", *(parts[i] for i in (0, 2, 3, 4)), "-o", out), 3, "missing", "--array=1,5-6", "sequences 0 to 20")
    refused(command("merge", parts[0], parts[0], *parts[1:], "-o", out), 3, "in two parts", "p0.h5")
    corpus(BYTES, tmp_path / "other.h5", "--plan", plan, "--shard", "3/7", "--keep", "core")
    refused(command("merge", *parts[:3], tmp_path / "other.h5", *parts[4:], "-o", out), 3, "different runs")
    refused(command("merge", *parts[:6], plan, "-o", out), 3, "no part", "plan.h5")
    refused(command("merge", *parts, "-o", parts[0], "--force"), 2)
    assert not out.exists()
    assert command("merge", *parts, "-o", out).code == 0
    refused(command("merge", *parts, "-o", out), 2, "exists")


def progress_of(out):
    return out.parent / f".{out.name}.headroom-progress"


def wait_for(path, size, process):
    while not path.exists() or path.stat().st_size < size:
        assert process.poll() is None, process.communicate()
        time.sleep(0.002)


def test_123_killed_and_resumed_is_undisturbed(single, command, tmp_path):
    out, kills, resumed = tmp_path / "c.h5", 0, 0
    record = None
    for attempt in range(40):
        process = command.start("corpus", BYTES, *CUT, *ONE, "-o", out, "--device", "cpu", "--json")
        log = progress_of(out)
        before = log.stat().st_size if log.exists() else 0
        while process.poll() is None and (not log.exists() or log.stat().st_size <= before + (record or 0) * (attempt % 3)):
            time.sleep(0.001)
        if process.poll() is None:
            process.kill()
            kills += 1
        said = process.communicate()[0]
        if record is None and log.exists() and log.stat().st_size > 40000:
            record = 30000
        if process.returncode == 0:
            resumed = json.loads(said)["resumed"]
            break
    else:
        outcome = command("corpus", BYTES, *CUT, "-o", out, "--device", "cpu", "--json")
        assert outcome.code == 0, outcome
        resumed = outcome.json["resumed"]
    assert kills >= 4 and resumed > 0 and not progress_of(out).exists()
    assert contents(out) == contents(single[0])


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_125_a_signal_keeps_the_progress(single, command, corpus, tmp_path, number, code):
    out = tmp_path / "c.h5"
    process = command.start("corpus", BYTES, *CUT, *ONE, "-o", out, "--device", "cpu")
    wait_for(progress_of(out), 100000, process)
    process.send_signal(number)
    begin = time.monotonic()
    process.communicate(timeout=60)
    assert process.returncode == code and time.monotonic() - begin < 5
    assert not out.exists() and os.listdir(tmp_path) == [progress_of(out).name]
    assert corpus(BYTES, out, *CUT)["resumed"] > 0
    assert contents(out) == contents(single[0]) and os.listdir(tmp_path) == ["c.h5"]


def test_126_the_same_command_again_does_nothing_and_another_is_refused(single, command, corpus, tmp_path):
    out = tmp_path / "c.h5"
    assert not corpus(BYTES, out, *CUT)["nothing_to_do"]
    before = (out.stat().st_mtime_ns, out.read_bytes())
    assert corpus(BYTES, out, *CUT)["nothing_to_do"]
    assert (out.stat().st_mtime_ns, out.read_bytes()) == before
    refused(command("corpus", BYTES, *CUT, "-o", out, "--keep", "core", "--device", "cpu"), 2, "exists")
    process = command.start("corpus", BYTES, *CUT, *ONE, "-o", tmp_path / "d.h5", "--device", "cpu")
    wait_for(progress_of(tmp_path / "d.h5"), 50000, process)
    process.send_signal(signal.SIGSTOP)
    refused(command("corpus", BYTES, *CUT, "-o", tmp_path / "d.h5", "--device", "cpu"), 5, "another process")
    process.kill()
    process.communicate()
    refused(command("corpus", BYTES, *CUT, "--keep", "core", "-o", tmp_path / "d.h5", "--device", "cpu"), 2, "other settings", '"keep":"all"',
            '"keep":"core"')
    corpus(BYTES, tmp_path / "d.h5", *CUT, "--keep", "core", "--force")
    refused(command("corpus", BYTES, "--data", KJV, "--length", "8", "-o", KJV, "--force"), 2)


def test_129_a_sequence_that_is_not_finite_is_counted_and_the_rest_goes_on(command, tmp_path):
    """One token's embedding is infinite: sequences with it are NaN from there on."""
    def spoil(tensors):
        tensors["model.embed_tokens.weight"][5] = math.inf

    import safetensors.torch

    C.headroom(tmp_path / "m", C.headroom_config("softmax"), 3)
    file = tmp_path / "m" / "model.safetensors"
    tensors = safetensors.torch.load_file(file)
    spoil(tensors)
    safetensors.torch.save_file(tensors, file)
    (tmp_path / "ids.jsonl").write_text("".join(json.dumps({"ids": [1, 2, d, 4, 6, 7, 8, 9]}) + "\n" for d in (3, 5, 10)))
    outcome = command("corpus", tmp_path / "m", "--data", tmp_path / "ids.jsonl", "--field", "ids", "--length", "8", "-o", tmp_path / "c.h5",
                      "--device", "cpu", "--json")
    assert outcome.code == 8 and outcome.json["non_finite"] == 1
    with h5py.File(tmp_path / "c.h5") as run:
        assert (run["sequences/non_finite_layer"][:] >= 0).tolist() == [False, True, False]
        assert run["next_token_loss"][STATISTICS.index("count")] == 2
        assert np.isnan(run["sequences/context_rms_mean"][1]).all() and not np.isnan(run["sequences/context_rms_mean"][[0, 2]]).any()
    # A merge of such parts says so too.
    parts = [tmp_path / f"part{shard}.h5" for shard in range(2)]
    for shard, part in enumerate(parts):
        assert command("corpus", tmp_path / "m", "--data", tmp_path / "ids.jsonl", "--field", "ids", "--length", "8", "-o", part, "--device", "cpu",
                       "--shard", f"{shard}/2").code == (0 if shard == 0 else 8)
    outcome = command("merge", *parts, "-o", tmp_path / "merged.h5", "--json")
    assert outcome.code == 8 and outcome.json["non_finite"] == 1 and "not finite" in outcome.errors
    assert contents(tmp_path / "merged.h5") == contents(tmp_path / "c.h5")


def test_golden_of_chapters_as_bytes(corpus, tmp_path):
    """Means and standard errors of a reference in float64 by another implementation."""
    said = corpus(BYTES, tmp_path / "b.h5", "--data", KJV, "--split", "blank", "--length", "64", "--bos", "always", "--sequences", "64")
    assert said["plan"]["ids_sha256"] == "c2f7006a7a00149c5c7985b5eae715333dad56002e4e921488d22d9b579ddce4"
    with h5py.File(tmp_path / "b.h5") as file:
        assert file["next_token_loss"][0] == pytest.approx(1.0550579, abs=2e-5) and file["next_token_loss"][2] == pytest.approx(0.0230714, abs=2e-6)
        sequences = file["sequences"]
        for name, mean, error in [("lambda_mean", 0.5779625, 0.0010721), ("context_rms_relative_mean", 0.5898865, 0.0010274),
                                  ("energy_cancellation_mean", 0.7658796, 0.0009693), ("sink_score_net", 0.0129551, 0.0005170)]:
            over_heads = sequences[name][:].astype(np.float64).mean(axis=(1, 2))
            assert over_heads.mean() == pytest.approx(mean, abs=1e-6) and over_heads.std(ddof=1) / 8 == pytest.approx(error, abs=1e-6)
        assert sequences["sink_score"][..., 0].astype(np.float64).mean() == pytest.approx(0.0443974, abs=1e-6)
        assert file["context_rms_relative_mean"][[0, 2], 0, 0] == pytest.approx([0.472042, 0.002611], abs=1e-6)


def test_golden_of_licences(program, run_program, demo_gguf, tmp_path):
    """SmolLM2 on eight licences: transformers' own forward in float64."""
    done = run_program([str(program), "corpus", str(demo_gguf), "--data", str(LICENCES), "--field", "ids", "--length", "128", "--sequences", "32",
                        "-o", str(tmp_path / "a.h5"), "--device", "cpu", "--json"], text=True, timeout=900)
    assert done.returncode == 0, done
    said = json.loads(done.stdout)
    assert said["plan"]["ids_sha256"] == "88cdc465b8440b541549858fbfdf245e5aae3fa5a8300596aa7ebd159555bc34"
    near = lambda *values, bound=1e-6: pytest.approx(values, abs=bound)  # noqa: E731
    with h5py.File(tmp_path / "a.h5") as file:
        first = file["sequences/next_token_loss"][:8]
        assert first == pytest.approx([2.917601, 2.240975, 2.780087, 2.875446, 3.358343, 3.445527, 3.202956, 2.707315], abs=2e-5)
        assert file["next_token_loss"][:7] == near(3.3208977, 0.4691048, 0.0980494, 3.0890476, 3.5527477, 3.0973228, 3.4653965, bound=2e-5)
        assert file["sink_rate"][:7, 1, 0] == near(0.610185, 0.070046, 0.009659, 0.587345, 0.633025, 0.591397, 0.627200)
        assert file["sink_rate"][0, :, 0] == near(0.739468, 0.610185, 0.485532)
        assert file["sink_score"][:7, 5, 3, 0] == near(0.293526, 0.096953, 0.012762, 0.263349, 0.323704, 0.268165, 0.314088)
        assert file["context_rms_relative_mean"][:3, 5, 3] == near(0.180123, 0.037329, 0.009672)
        assert file["context_rms_relative_mean"][:7, 18, 8] == near(0.075748, 0.001480, 0.000234, 0.075195, 0.076301, 0.075327, 0.076172)
        documents = file["sequences/document"][:]
        for name, expected in [("sink_score", (0.4118851, 0.029919, 0.0054354, 0.399032, 0.424738, 0.403050, 0.423224)),
                               ("context_rms_relative_mean", (0.3424397, 0.014878, 0.0030153, 0.335310, 0.349570, 0.336915, 0.348171)),
                               ("entropy_mean", (2.0300077, 0.152069, 0.0293720)), ("logit_max", (8.0648195, 0.187613, 0.0308028))]:
            values = file["sequences"][name][:].astype(np.float64)
            over_heads = (values[..., 0] if values.ndim == 4 else values).mean(axis=(1, 2))
            found = reference(over_heads, documents)
            assert [found[s] for s in STATISTICS[: len(expected)]] == pytest.approx(expected, abs=2e-6), name
        points = [list(np.round(file["quantile"][:], 6)).index(p) for p in (0.05, 0.5, 0.95)]
        assert file["pooled/context_rms_relative_quantile"][18, 8, points] == pytest.approx([0.073291, 0.075703, 0.078525], rel=0.00505)
