"""What the window shows of a corpus is what its file holds: means, intervals, counts, medians and outliers against NumPy, paired changes against
`headroom compare`, and a sequence that is opened against the file's own numbers of it."""
import csv
import io

import h5py
import numpy as np
import pytest

import window as W

BYTES = W.ROOT / "assets" / "demo" / "bytes" / "diff_v2"
KJV = W.ROOT / "assets" / "corpora" / "kjv.txt"
CUT = ["--data", KJV, "--split", "blank", "--length", "40", "--pieces", "3", "--sequences", "21", "--order", "natural", "--device", "cpu"]
STATISTICS = ["mean", "std", "standard_error", "ci_low", "ci_high", "bootstrap_low", "bootstrap_high", "min", "max", "count"]
QUANTITY, HEAD, LEVEL, SEQUENCE = "context_rms_relative_mean", (1, 2), 0.55, 13


@pytest.fixture(scope="module")
def corpora(warm_command, tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpora")
    for name, more in (("a", []), ("b", ["--what-if", "L1.H2:lambda=0.2"])):
        assert warm_command("corpus", str(BYTES), *map(str, CUT), *more, "-o", str(folder / f"{name}.h5")).code == 0
    return folder


@pytest.fixture(scope="module")
def seen(program, display, tmp_path_factory, corpora):
    """Facts and tables of the corpus, of its sequence as a run, and of two corpora beside each other."""
    window = W.Window(program, display, tmp_path_factory.mktemp("window"))
    head = f"L{HEAD[0]}.H{HEAD[1]}"
    begin = f"open {corpora}/a.h5\nwait\ncorpus.quantity {QUANTITY}\nwait\nselect {head}\nheads.threshold {LEVEL}\n"
    tables = (f"corpus.sort z descending\nwait\ncorpus.save sequences {corpora}/sequences.csv\ncorpus.save heads {corpora}/heads.tsv\n"
              f"heads table\nheads.filter \"{QUANTITY}.ci_low > {LEVEL}\"\nwait\n")
    pair = f"heads.filter \"\"\ncorpus\nopen {corpora}/b.h5\nwait\ncompare\nwait\n"
    return (window.run(begin + "wait\nquit\n"), window.run(begin + tables + "quit\n"), window.run(begin + pair + "quit\n"),
            window.run(begin + f"corpus.open S{SEQUENCE}\nwait\nquit\n"))


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


def test_a_head_its_interval_and_the_counts(seen, held):
    facts, numbers = seen[0], held["statistics"]
    at = {name: numbers[i] for i, name in enumerate(STATISTICS)}
    assert facts.number("corpus.mean") == pytest.approx(at["mean"][HEAD], rel=1e-6)
    assert facts.number("corpus.low") == pytest.approx(at["ci_low"][HEAD], rel=1e-6)
    assert facts.number("corpus.high") == pytest.approx(at["ci_high"][HEAD], rel=1e-6)
    cross = (at["ci_low"] <= LEVEL) & (at["ci_high"] >= LEVEL)
    assert facts.number("corpus.cross") == cross.sum()
    assert facts.number("corpus.above") == (at["ci_low"] > LEVEL).sum()
    assert facts.number("corpus.below") == (at["ci_high"] < LEVEL).sum()
    assert facts.number("heads.count_over") == (at["mean"] > LEVEL).sum()
    assert facts.number("corpus.loss") == pytest.approx(held["losses"].mean(), rel=1e-6)


def test_the_tables_have_every_digit(seen, held, corpora):
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
        assert int(row["heads_over"]) == (held["values"][s] > LEVEL).sum()
    heads = list(csv.DictReader(io.StringIO((corpora / "heads.tsv").read_text()), delimiter="\t"))
    assert len(heads) == 8
    for row in heads:
        place = int(row["layer"]), int(row["head"])
        for i, name in enumerate(STATISTICS):
            np.testing.assert_array_equal(float(row[f"{QUANTITY}.{name}"]), held["statistics"][(i, *place)])
    assert seen[1].number("heads.shown") == (held["statistics"][STATISTICS.index("ci_low")] > LEVEL).sum()


def test_two_corpora_beside_each_other_are_what_compare_says(seen, corpora, warm_command):
    outcome = warm_command("compare", str(corpora / "a.h5"), str(corpora / "b.h5"), "--json")
    assert outcome.code == 1
    with h5py.File(corpora / "a.h5") as a, h5py.File(corpora / "b.h5") as b:
        change = (b[f"sequences/{QUANTITY}"][()].astype(float) - a[f"sequences/{QUANTITY}"][()]).mean(axis=0)
    facts = seen[2]
    assert facts.facts["centre"] == "compare"
    assert facts.number("corpus.pairs") == 21
    layer, head = np.unravel_index(np.abs(change).argmax(), change.shape)
    assert facts.facts["corpus.most"] == f"L{layer}.H{head}" == "L1.H2"
    changed = [one for one in outcome.json["quantities"] if one["name"] == QUANTITY]
    assert len(changed) == 1
    assert facts.number("corpus.up") + facts.number("corpus.down") >= 1


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
