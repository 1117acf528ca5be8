"""What the window shows of a corpus is what its file holds: means, intervals, counts, medians and outliers against NumPy, paired changes against
`headroom compare`, and a sequence that is opened against the file's own numbers of it."""
import csv
import io
import json
import random

import h5py
import numpy as np
import pytest

import window as W

BYTES = W.ROOT / "assets" / "demo" / "bytes" / "diff_v2"
KJV = W.ROOT / "assets" / "corpora" / "kjv.txt"
EPSILON = 0.045  # a level among the sink scores of these heads
CUT = ["--data", KJV, "--split", "blank", "--epsilon", str(EPSILON), "--epsilon", "0.3", "--length", "40", "--pieces", "3", "--sequences", "21", "--order", "natural", "--device", "cpu"]
STATISTICS = ["mean", "std", "standard_error", "ci_low", "ci_high", "bootstrap_low", "bootstrap_high", "min", "max", "count"]
QUANTITY, HEAD, SEQUENCE = "context_rms_relative_mean", (1, 2), 13


@pytest.fixture(scope="module")
def corpora(warm_command, tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpora")
    for name, more in (("a", ["--curves"]), ("b", ["--what-if", "L0.H2:lambda=0.2"])):
        assert warm_command("corpus", str(BYTES), *map(str, CUT), *more, "-o", str(folder / f"{name}.h5")).code == 0
    return folder


@pytest.fixture(scope="module")
def level(corpora):
    """A level that the interval of a head in the middle holds."""
    with h5py.File(corpora / "a.h5") as file:
        numbers = dict(zip(STATISTICS, file[QUANTITY][()], strict=True))
    middle = np.argsort(numbers["mean"].ravel())[numbers["mean"].size // 2]
    found = round(float(numbers["mean"].ravel()[middle]), 4)
    below, above = (numbers["ci_high"] < found).sum(), (numbers["ci_low"] > found).sum()
    assert below > 0 and above > 0 and below + above < numbers["mean"].size
    return found


@pytest.fixture(scope="module")
def seen(program, display, tmp_path_factory, corpora, level):
    """Facts and tables of the corpus, of its sequence as a run, and of two corpora beside each other."""
    window = W.Window(program, display, tmp_path_factory.mktemp("window"))
    head = f"L{HEAD[0]}.H{HEAD[1]}"
    begin = f"open {corpora}/a.h5\nwait\ncorpus.quantity {QUANTITY}\nwait\nselect {head}\nheads.threshold {level}\n"
    tables = (f"corpus.sort z descending\nwait\ncorpus.save sequences {corpora}/sequences.csv\ncorpus.save heads {corpora}/heads.tsv\n"
              f"heads table\nheads.filter \"{QUANTITY}.ci_low > {level}\"\nwait\n")
    share = f"corpus.quantity sink_score\nheads.threshold {EPSILON}\ncorpus.statistic share\nwait\nheads table\nwait\nsave table {corpora}/shares.csv heads\n"
    pair = f"heads.filter \"\"\ncorpus\nopen {corpora}/b.h5\nwait\ncompare\nwait\n"
    return (window.run(begin + "corpus.side rows\nwait\nquit\n"), window.run(begin + tables + "quit\n"), window.run(begin + pair + "quit\n"),
            window.run(begin + f"corpus.open S{SEQUENCE}\nwait\nquit\n"), window.run(begin + "corpus.quantity entropy_mean\ncorpus.side keys\nwait\nquit\n"),
            window.run(begin + share + "quit\n"))


@pytest.fixture(scope="module")
def held(corpora):
    with h5py.File(corpora / "a.h5") as file:
        return {"statistics": file[QUANTITY][()], "values": file[f"sequences/{QUANTITY}"][()].astype(float),
                "losses": file["sequences/next_token_loss"][()], "all": {name: file[f"sequences/{name}"][SEQUENCE] for name in file["sequences"]
                                                                       if file[f"sequences/{name}"].shape[1:3] == (2, 4)}}


def outliers(values):
    """Robust z of [sequence, …] and which are beyond three."""
    median = np.median(values, axis=0)
    spread = 1.4826 * np.median(np.abs(values - median), axis=0)
    return (values - median) / spread, np.abs(values - median) > 3 * spread


def test_rows_of_a_head_and_what_they_do_as_they_see_more_keys(seen, corpora):
    facts, by_keys = seen[0], seen[4]
    with h5py.File(corpora / "a.h5") as file:
        counts = file["sketch/context_rms_relative"][HEAD]
        median = file["pooled/context_rms_relative_quantile"][HEAD][list(file["quantile"][()]).index(0.5)]
        curve = file["curves/entropy"]  # of each map: the first
        last = int(file["curves/visible_last"][-1])
        assert facts.number("corpus.rows") == counts.sum() > 0
        assert facts.number("corpus.rows_median") == pytest.approx(median, rel=1e-6)
        assert by_keys.number("corpus.keys") == last >= 40
        assert by_keys.number("corpus.keys_mean") == pytest.approx(curve[(STATISTICS.index("mean"), *HEAD, 0, -1)], rel=1e-6)


def test_a_head_its_interval_and_the_counts(seen, held, level):
    facts, numbers = seen[0], held["statistics"]
    at = {name: numbers[i] for i, name in enumerate(STATISTICS)}
    assert facts.number("corpus.mean") == pytest.approx(at["mean"][HEAD], rel=1e-6)
    assert facts.number("corpus.low") == pytest.approx(at["ci_low"][HEAD], rel=1e-6)
    assert facts.number("corpus.high") == pytest.approx(at["ci_high"][HEAD], rel=1e-6)
    cross = (at["ci_low"] <= level) & (at["ci_high"] >= level)
    assert facts.number("corpus.cross") == cross.sum()
    assert facts.number("corpus.above") == (at["ci_low"] > level).sum()
    assert facts.number("corpus.below") == (at["ci_high"] < level).sum()
    assert facts.number("heads.count_over") == (at["mean"] > level).sum()
    assert facts.number("corpus.loss") == pytest.approx(held["losses"].mean(), rel=1e-6)


def test_the_share_of_sequences_over_the_threshold_is_the_file_s_sink_frequency(seen, corpora):
    with h5py.File(corpora / "a.h5") as file:
        at = list(np.round(file["epsilon"][()], 6)).index(EPSILON)
        frequency = file["sink_frequency"][STATISTICS.index("mean"), at, 0]
    assert 0 < (frequency > 0).sum() and ((frequency > 0) & (frequency < 1)).any()
    rows = list(csv.DictReader(io.StringIO((corpora / "shares.csv").read_text())))
    shown = {(int(row["layer"]), int(row["head"])): float(row["sink_score"]) for row in rows}
    assert len(shown) == frequency.size
    for place, share in shown.items():
        assert share == pytest.approx(frequency[place], abs=1e-12)
    assert seen[5].facts["corpus.statistic"] == "share"


def test_the_tables_have_every_digit(seen, held, corpora, level):
    rows = list(csv.DictReader(io.StringIO((corpora / "sequences.csv").read_text())))
    z, out = outliers(held["values"])
    order = np.argsort(-z[(slice(None), *HEAD)], kind="stable")
    assert [int(row["sequence"]) for row in rows] == order.tolist()
    for row in rows:
        s = int(row["sequence"])
        assert float(row[f"{QUANTITY} L{HEAD[0]}.H{HEAD[1]}"]) == held["values"][(s, *HEAD)]
        assert float(row["next_token_loss"]) == held["losses"][s]
        assert float(row["robust_z"]) == pytest.approx(z[(s, *HEAD)], rel=1e-9)
        assert int(row["outlier"]) == out[(s, *HEAD)]
        assert float(row["heads_off"]) == out[s].mean()
        assert int(row["heads_over"]) == (held["values"][s] > level).sum()
    heads = list(csv.DictReader(io.StringIO((corpora / "heads.tsv").read_text()), delimiter="\t"))
    assert len(heads) == 8
    for row in heads:
        place = int(row["layer"]), int(row["head"])
        for i, name in enumerate(STATISTICS):
            np.testing.assert_array_equal(float(row[f"{QUANTITY}.{name}"]), held["statistics"][(i, *place)])
    assert seen[1].number("heads.shown") == (held["statistics"][STATISTICS.index("ci_low")] > level).sum()


def test_two_corpora_beside_each_other_are_what_compare_says(seen, corpora, warm_command):
    outcome = warm_command("compare", str(corpora / "a.h5"), str(corpora / "b.h5"), "--json")
    assert outcome.code == 1
    with h5py.File(corpora / "a.h5") as a, h5py.File(corpora / "b.h5") as b:
        change = (b[f"sequences/{QUANTITY}"][()].astype(float) - a[f"sequences/{QUANTITY}"][()]).mean(axis=0)
    facts = seen[2]
    assert facts.facts["centre"] == "compare"
    assert facts.number("corpus.pairs") == 21
    layer, head = np.unravel_index(np.abs(change).argmax(), change.shape)
    assert facts.facts["corpus.most"] == f"L{layer}.H{head}" == "L0.H2"
    (told,) = [one for one in outcome.json["quantities"] if one["name"] == QUANTITY]
    mean, q = np.array(told["mean"], dtype=float), np.array(told["q"], dtype=float)
    np.testing.assert_allclose(mean, change.ravel(), rtol=1e-9, atol=1e-12)
    up, down = ((q < 0.05) & (mean > 0)).sum(), ((q < 0.05) & (mean < 0)).sum()
    assert up > 0 and down > 0 and up + down > 1  # layer 1 answers to what layer 0 does
    assert (facts.number("corpus.up"), facts.number("corpus.down")) == (up, down)


def test_a_step_of_a_series_is_that_of_the_file(program, display, tmp_path, warm_command):
    """Of a series the numbers that are shown are those of the step that is chosen, the last at first."""
    checkpoints = sorted((W.ROOT / "assets" / "demo" / "backcopy" / "softmax").glob("step_*"))
    numbers = random.Random(5)
    lines = [{"ids": [id for _ in range(2) for id in [0, *(numbers.randrange(1, 39) for _ in range(23))]]} for _ in range(6)]
    (tmp_path / "ids.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for words in (["corpus", str(checkpoints[0]), "--data", str(tmp_path / "ids.jsonl"), "--field", "ids", "--length", "24", "--plan-only", "-o",
                   str(tmp_path / "plan.h5")],
                  ["series", *map(str, checkpoints), "--plan", str(tmp_path / "plan.h5"), "--device", "cpu", "-o", str(tmp_path / "s.h5")]):
        outcome = warm_command(*words)
        assert outcome.code == 0, outcome
    window = W.Window(program, display, tmp_path / "window")
    with h5py.File(tmp_path / "s.h5") as file:
        steps, numbers = file["step"][:].tolist(), file["sink_score"][..., 0]
        layers, heads = numbers.shape[2:]
        moving = np.unravel_index((numbers[-1, 0] - numbers[0, 0]).argmax(), (layers, heads))
        begin = f"open {tmp_path}/s.h5\nwait\ncorpus.quantity sink_score\nwait\nselect L{moving[0]}.H{moving[1]}\n"
        for step, at in ((None, -1), (steps[1], 1), (steps[0], 0)):
            facts = window.run(begin + (f"corpus.step {step}\n" if step is not None else "") + "wait\nquit\n")
            assert facts.number("corpus.step") == steps[at]
            for name, fact in (("mean", "corpus.mean"), ("ci_low", "corpus.low"), ("ci_high", "corpus.high")):
                assert facts.number(fact) == pytest.approx(numbers[(at, STATISTICS.index(name), *moving)], rel=1e-6), (step, name)
        assert numbers[(-1, 0, *moving)] > numbers[(0, 0, *moving)] + 0.05


def test_a_sequence_that_is_opened_is_that_of_the_file(seen, held):
    facts = seen[3]
    assert facts.facts["run.status"] == "done" and facts.facts["corpus"] == "none"
    checked = 0
    for name, numbers in held["all"].items():
        if f"head.{name}" not in facts.facts or numbers.dtype.kind != "f":
            continue
        first = np.atleast_1d(numbers[HEAD]).ravel()[0]
        np.testing.assert_allclose(facts.number(f"head.{name}"), first, rtol=2e-6, atol=1e-9, err_msg=name)
        checked += 1
    assert checked >= 20


@pytest.mark.parametrize(("own", "before", "words"), [
    (["--curves"], "", "curves"),
    (["--what-if", "L1.H2:lambda=0.2", "--what-if", "L1.H2:temperature=2"], "run\nwait\nselect L1.H2\nwhat-if lambda=0.2 temperature=2\nwait\n", "what-ifs")])
def test_a_corpus_that_the_window_runs_is_the_commands_file(program, display, tmp_path, warm_command, own, before, words):
    """Every dataset, bit for bit, but for where it was run; and every attribute but for when and by which line."""
    outcome = warm_command("corpus", str(BYTES), "--data", str(KJV), "--split", "blank", "--length", "40", "--sequences", "90", *own,
                           "--device", "cpu", "-o", str(tmp_path / "command.h5"))
    assert outcome.code == 0, outcome
    window = W.Window(program, display, tmp_path / "window")
    facts = window.run(f"open {BYTES}\nwait\n{before}corpus.run {KJV} 40 {tmp_path}/window.h5 90 blank {words}\nwait\ncorpus.side rows\nwait\nexpect errors == 0\nquit\n")
    assert (facts.facts["corpus"], facts.facts["corpus.run"], facts.facts["run.status"]) == ("corpus", "none", "done")
    with h5py.File(tmp_path / "command.h5") as a, h5py.File(tmp_path / "window.h5") as b:
        names = []
        a.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) and not name.startswith("shards/") else None)
        assert len(names) > 200 and any(name.startswith("curves/") for name in names) == ("--curves" in own)
        for name in names:
            first, second = a[name][()], b[name][()]
            assert np.asarray(first).dtype == np.asarray(second).dtype and np.asarray(first).tobytes() == np.asarray(second).tobytes() \
                or np.array_equal(first, second), name
        apart = {"history", "command_line", "created_utc"}
        assert {name for name in set(a.attrs) | set(b.attrs) if str(a.attrs.get(name)) != str(b.attrs.get(name))} <= apart
        assert b.attrs["command_line"].startswith("headroom corpus ") and f" {' '.join(own)} " in b.attrs["command_line"]
        numbers = b["sink_score"][()]
    assert facts.number("corpus.sequences") == 90
    layer, head = (int(part[1:]) for part in facts.facts["select.head"].split("."))
    assert facts.number("corpus.mean") == pytest.approx(numbers[0, layer, head, 0], rel=1e-6)
