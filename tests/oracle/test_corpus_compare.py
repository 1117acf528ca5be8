"""`headroom compare` of two corpora: paired changes against NumPy and SciPy from the values that the files keep."""
import math
import shutil

import h5py
import numpy as np
import pytest
import scipy.optimize
import scipy.stats

from command import check_error_object, refused
from test_corpus import BYTES, CUT, STATISTICS, corpus, plan, reference  # noqa: F401


@pytest.fixture(scope="module")
def pair(corpus, plan, tmp_path_factory):  # noqa: F811
    """A model, and the same with a head off and its sink logits changed: the same sequences."""
    folder = tmp_path_factory.mktemp("pair")
    corpus(BYTES, folder / "a.h5", "--plan", plan)
    corpus(BYTES, folder / "b.h5", "--plan", plan, "--what-if", "L0.H1:head=off")
    return folder / "a.h5", folder / "b.h5"


@pytest.fixture(scope="module")
def told(command, pair):
    outcome = command("compare", *pair, "--json")
    assert outcome.code == 1, outcome
    return outcome.json


def detectable(degrees, level=0.05, power=0.8):
    """The effect, in standard errors, that a t test sees with this probability: by SciPy's non-central t."""
    point = scipy.stats.t.ppf(1 - level / 2, degrees)

    def missed(effect):
        # Far beyond the point SciPy has no value: everything is seen there.
        seen = np.nan_to_num(scipy.stats.nct.sf(point, degrees, effect), nan=1.0)
        return seen + np.nan_to_num(scipy.stats.nct.cdf(-point, degrees, effect)) - power

    return scipy.optimize.brentq(missed, 0.5, 30, xtol=1e-12)


def adjusted(p):
    """Benjamini and Hochberg's p of the tests that there are."""
    q = np.full(len(p), np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    running = 1.0
    for rank in range(len(order), 0, -1):
        running = min(running, p[order[rank - 1]] * len(order) / rank)
        q[order[rank - 1]] = running
    return q


def expected_of(a, b, documents):
    change = b - a
    both = ~np.isnan(change)
    found = reference(change, documents)
    found |= {"p": math.nan, "detectable": math.nan, "mean_a": a[both].mean() if both.any() else math.nan,
              "mean_b": b[both].mean() if both.any() else math.nan, "in_one": (np.isnan(a) != np.isnan(b)).sum()}
    error, degrees = found["standard_error"], len(np.unique(documents[both])) - 1
    if error > 0:
        found["p"] = 2 * scipy.stats.t.sf(abs(found["mean"]) / error, degrees)
        found["detectable"] = detectable(degrees) * error
    return found


def check(stored, at, expected, **options):
    for name in ("mean_a", "mean_b", *STATISTICS, "p", "in_one", "detectable"):
        value = stored[name][at]
        wanted = expected[name]
        if value is None:
            assert math.isnan(wanted), (name, wanted)
            continue
        # Differences of float32 numbers that nearly cancel: the sums round, relative to what is subtracted.
        scale = abs(expected["mean_a"]) + abs(expected["mean_b"]) if name not in ("p", "count", "in_one") else 0.0
        assert value == pytest.approx(wanted, rel=2e-6, abs=1e-12 + 1e-12 * scale), name


def quantity(told, name):
    return next(q for q in told["quantities"] if q["name"] == name)


def test_changes_are_those_of_each_sequence(pair, told):
    with h5py.File(pair[0]) as a, h5py.File(pair[1]) as b:
        documents = a["sequences/document"][:]
        assert told["sequences"] == 21 and told["documents"] == len(np.unique(documents)) and told["level"] == 0.05 and told["power"] == 0.8
        names = [q["name"] for q in told["quantities"]]
        kept = {n for n, item in a["sequences"].items() if item.ndim >= 3 and item.dtype == np.float32}
        assert names[:2] == ["next_token_loss", "sink_rate"] and set(names[2:]) == kept and told["left_out"] == []
        random = np.random.default_rng(1)
        for one in told["quantities"]:
            va, vb = (file["sequences"][one["name"]][:].astype(np.float64) for file in (a, b))
            assert one["shape"] == list(va.shape[1:])
            va, vb = va.reshape(21, -1), vb.reshape(21, -1)
            assert len(one["mean"]) == va.shape[1]
            for at in random.choice(va.shape[1], min(6, va.shape[1]), replace=False):
                check(one, at, expected_of(va[:, at], vb[:, at], documents))
        assert quantity(told, "next_token_loss")["axes"] == [] and quantity(told, "sink_rate")["axes"] == ["epsilon", "map"]


def test_q_is_over_heads_and_the_mean_over_heads_has_an_interval_too(pair, told):
    with h5py.File(pair[0]) as a, h5py.File(pair[1]) as b:
        documents, tested = a["sequences/document"][:], 0
        for name in ("sink_score", "entropy_mean", "context_rms_relative_mean", "context_rms_quantile", "lambda_mean"):
            one = quantity(told, name)
            heads = one["shape"][0] * one["shape"][1]
            va, vb = (file["sequences"][name][:].astype(np.float64).reshape(21, heads, -1) for file in (a, b))
            p = np.array([math.nan if value is None else value for value in one["p"]]).reshape(heads, -1)
            q = np.array([math.nan if value is None else value for value in one["q"]]).reshape(heads, -1)
            for place in range(p.shape[1]):
                assert q[:, place] == pytest.approx(adjusted(p[:, place]), rel=1e-12, nan_ok=True)
                tested += np.isfinite(q[:, place]).sum()
                x, y = va[:, :, place], vb[:, :, place]
                both = ~np.isnan(y - x)
                with np.errstate(invalid="ignore"):
                    x, y = (np.where(both, side, 0).sum(axis=1) / both.sum(axis=1) for side in (x, y))
                check(one["over_heads"], place, expected_of(x, y, documents))
        assert tested > 50
        loss = quantity(told, "next_token_loss")
        assert loss["p"][0] is not None and loss["q"] == [None]


def test_words(command, pair, told):
    text = command("compare", *pair).text
    assert "21 sequences of" in text and "next-token loss, nats" in text and "would be seen" in text and "other what_ifs" in text
    loss = quantity(told, "next_token_loss")
    assert f"{loss['mean_a'][0]:.6g} → {loss['mean_b'][0]:.6g}: {loss['mean'][0]:+.6g} ± {loss['standard_error'][0]:.3g}" in text
    assert "sink score α₀" in text and "q ≤ 0.05" in text and "largest        L" in text
    assert [d["name"] for d in told["settings"]] == ["what_ifs"] and "head=off" in told["settings"][0]["b"]


def test_what_one_file_has_alone_is_counted(command, pair, tmp_path):
    """A number that two sequences have in one file and not in the other."""
    shutil.copy(pair[1], tmp_path / "b.h5")
    with h5py.File(tmp_path / "b.h5", "r+") as b:
        values = b["sequences/entropy_mean"][:]
        values[[3, 8], 1, 0, 0] = np.nan
        b["sequences/entropy_mean"][...] = values
        loss = b["sequences/next_token_loss"][:]
        loss[5] = np.nan
        b["sequences/next_token_loss"][...] = loss
    told = command("compare", pair[0], tmp_path / "b.h5", "--json").json
    alone = np.array(quantity(told, "entropy_mean")["in_one"]).reshape(quantity(told, "entropy_mean")["shape"])
    assert alone[1, 0, 0] == 2 and alone.sum() == 2 and quantity(told, "entropy_mean")["count"][np.ravel_multi_index((1, 0, 0), alone.shape)] == 19
    assert quantity(told, "next_token_loss")["in_one"] == [1]
    assert "; in one file alone: 1" in command("compare", pair[0], tmp_path / "b.h5").text


def test_equal_corpora_are_equal(command, pair, tmp_path):
    shutil.copy(pair[0], tmp_path / "copy.h5")
    outcome = command("compare", pair[0], tmp_path / "copy.h5", "--json")
    assert outcome.code == 0 and outcome.json["equal"]
    assert set(outcome.json["quantities"][0]["mean"]) == {0.0} and outcome.json["quantities"][0]["p"] == [None]
    assert command("compare", pair[0], tmp_path / "copy.h5", "--rtol", "0", "--atol", "0").code == 0
    assert command("compare", *pair, "--rtol", "0").code == 1
    with h5py.File(tmp_path / "copy.h5", "r+") as file:
        file["sequences/entropy_mean"][3, 0, 0] = math.nan
    outcome = command("compare", pair[0], tmp_path / "copy.h5", "--json")
    assert outcome.code == 1 and not outcome.json["equal"]


def test_what_is_not_the_same_is_refused_or_left_out(command, corpus, pair, plan, tmp_path):  # noqa: F811
    corpus(BYTES, tmp_path / "other.h5", *CUT[:-4], "--seed", "3")
    refused(command("compare", pair[0], tmp_path / "other.h5"), 2, "other sequences", "ids_sha256", "seed 3", "other.h5")
    assert check_error_object(command("compare", pair[0], tmp_path / "other.h5", "--json"), 2)["hint"].startswith("run both with the same --plan")
    corpus(BYTES, tmp_path / "part.h5", "--plan", plan, "--shard", "1/3", "--keep", "core", "--epsilon", "0.1,0.3")
    outcome = command("compare", pair[0], tmp_path / "part.h5", "--json")
    assert outcome.json["sequences"] == 7 and any(text.startswith("sink_rate") for text in outcome.json["left_out"])
    assert any("only A keeps it" in text for text in outcome.json["left_out"]) and outcome.json["quantities"][0]["mean"] == [0.0]
    assert "A has 21, B 7" in command("compare", pair[0], tmp_path / "part.h5").text
    corpus(BYTES, tmp_path / "layer.h5", "--plan", plan, "--layers", "0")
    outcome = command("compare", pair[0], tmp_path / "layer.h5", "--json")
    assert [q["name"] for q in outcome.json["quantities"]] == ["next_token_loss", "sink_rate"]
    assert any("other layers or heads" in text for text in outcome.json["left_out"])
    shutil.copy(pair[0], tmp_path / "lying.h5")
    with h5py.File(tmp_path / "lying.h5", "r+") as file:
        file["sequences/document"][4] = 77
    refused(command("compare", pair[0], tmp_path / "lying.h5"), 2, "other documents", "sequence 4")
