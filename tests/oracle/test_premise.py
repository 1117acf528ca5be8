"""--premise: whether values are what the interval supposes, against a double forward and NumPy.

Signs are drawn by the document's rule, so that p and quantiles are not alike but equal. The hull's distance is bounded from both sides by
what convexity says of any point of the hull. Made values whose answer is known are in a checkpoint of their own.
"""
import math

import h5py
import numpy as np
import pytest
import torch

import checkpoints as C
import forward
from command import refused_both_ways
from test_parity import token_ids

DRAWS, ROW_DRAWS, ROWS, HULL_ROWS, MIN_ROW = 999, 99, 256, 32, 64
KINDS = {"softmax": {}, "softmax_one": {}, "softmax_sink": {"window": 41}, "softpick": {}, "gated": {"gate": "elementwise"},
         "diff_v1": {"num_key_value_heads": 1}, "diff_v2": {"window": 70}}


def splitmix_signs(draws, keys):
    with np.errstate(over="ignore"):
        x = (np.arange(draws, dtype=np.uint64)[:, None] << np.uint64(32)) + np.arange(keys, dtype=np.uint64)[None, :]
        x = x + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = x ^ (x >> np.uint64(31))
    return np.where(x >> np.uint64(63), 1.0, -1.0)


def evenly(of, count):
    taken = min(len(of), count)
    return of[[k * len(of) // taken for k in range(taken)]]


def rms(x):
    return np.sqrt((x**2).mean(axis=-1))


def coherence(w, v):
    return (rms(w @ v) ** 2).sum() / ((w**2) @ rms(v) ** 2).sum()


def shares(rho, low, high, closed):
    """Below and above of the finite ones; ends broadcast against rho."""
    finite = np.isfinite(rho)
    below = (rho < low) & finite
    above = np.where(closed, rho > high, rho >= high) & finite & ~below
    return below.sum() / finite.sum(), above.sum() / finite.sum()


def own_interval(head, visible):
    w, root = head.w.numpy(), np.sqrt(visible)
    total = [m.a.numpy().sum(axis=1) for m in head.maps]
    if len(head.maps) == 1:
        return total[0] / root, total[0], np.full(len(w), head.sink is not None or head.softpick)
    lam = head.lam.numpy()
    positive = lam >= 0
    high = np.where(positive, np.sqrt(total[0]**2 + (lam * total[1])**2), total[0] - lam * total[1])
    return np.abs(total[0] - lam * total[1]) / root, high, ~positive


def expected(head, output, norm_weight):
    """Every dataset of a head but the hull's, from its maps and values."""
    w, v = head.w.numpy(), head.maps[0].values.numpy()
    n, visible = len(v), head.visible.numpy()
    n_i, d = visible.sum(axis=1), v.shape[1]
    eligible = np.flatnonzero(n_i >= min(MIN_ROW if n >= 128 else 1, n_i.max()))
    rows, squares = evenly(eligible, ROWS), (v**2).sum(axis=1)
    value_rms = np.sqrt(visible @ rms(v)**2 / n_i)
    mean, signs = v.mean(axis=0), splitmix_signs(DRAWS, n)
    centred = v - mean
    uniform = (visible @ v) / n_i[:, None]
    context = w @ v
    rest = context - w.sum(axis=1)[:, None] * mean
    gram = v @ v.T / d
    out = {
        "value_correlation": (gram.sum() - np.trace(gram)) / ((n - 1) * np.trace(gram)),
        "value_independent_count": squares.mean() / (mean**2).sum(),
        "value_effective_rank": np.trace(gram)**2 / (gram**2).sum(),
        "value_size_spread": np.log(np.sqrt(squares)).std(),
        "common_mean_share": 1 - (rms(rest)[eligible]**2).sum() / (rms(context)[eligible]**2).sum(),
        "rows/uniform_rms_relative": rms(uniform) / value_rms,
        "rows/centred_rms_relative": rms(rest) / np.sqrt(visible @ rms(centred)**2 / n_i),
    }
    k, ends, p = [], [], []
    for values in (v, centred):
        found = coherence(w[rows], values)
        drawn = np.array([coherence(w[rows], s[:, None] * values) for s in signs])
        k.append(found)
        ends.append(np.quantile(drawn, [0.025, 0.975]))
        p.append([(1 + (drawn >= found * (1 - 1e-5)).sum()) / (DRAWS + 1), (1 + (drawn <= found * (1 + 1e-5)).sum()) / (DRAWS + 1)])
    drawn = np.array([rms(w[rows] @ (s[:, None] * v)) for s in signs[:ROW_DRAWS]]).T / value_rms[rows][:, None]
    by_row = np.full((2, n), np.nan)
    by_row[:, rows] = np.quantile(drawn, [0.05, 0.95], axis=1)
    out |= {"sign_coherence": k, "sign_coherence_interval": ends, "sign_p": p, "rows/sign_rms_relative": by_row}
    one = np.ones(n)
    intervals = [(1 / np.sqrt(n_i), one, n_i == 1), (0 * one, np.sqrt(2) * one, n_i == 1), own_interval(head, n_i)]
    several = n_i[rows] > 1  # a single key sits on its bound up to rounding
    by_bound = {name: [] for name in ("sign_rows_below_bound", "sign_rows_above_bound", "centred_rows_below_bound", "centred_rows_above_bound")}
    for low, high, closed in intervals:
        sides = shares(drawn[several], low[rows][several][:, None], high[rows][several][:, None], closed[rows][several][:, None])
        by_bound["sign_rows_below_bound"].append(sides[0])
        by_bound["sign_rows_above_bound"].append(sides[1])
        several_all = eligible[n_i[eligible] > 1]
        sides = shares(out["rows/centred_rms_relative"][several_all], low[several_all], high[several_all], closed[several_all])
        by_bound["centred_rows_below_bound"].append(sides[0])
        by_bound["centred_rows_above_bound"].append(sides[1])
    out |= by_bound
    if head.gate is not None:
        gated = rms(context * head.gate.numpy()) / value_rms
        out |= {"rows/gated_rms_relative": gated, "gated_rms_relative_mean": gated[eligible].mean(), "gated_rows_above_bound": (gated[eligible] >= 1).mean()}
    if len(head.maps) == 2:
        weighed = output if norm_weight is None else output * norm_weight
        first, second = (m.a.numpy() @ v @ weighed.T for m in head.maps)
        cosine = (first * second).sum(axis=1) / np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
        out |= {"rows/output_cosine": cosine, "output_cosine_mean": cosine[eligible].mean()}
    return out, rows, value_rms


def hull_bounds(points, distance, steps=4000):
    """Whether `distance` is that of the hull of the points, to 1e-3 of the longest: some point of the hull is as near, and the
    plane across it leaves all points behind. Frank–Wolfe with away steps, which knows nothing of the program's way."""
    longest = np.linalg.norm(points, axis=1).max()
    shares = np.zeros(len(points))
    shares[np.linalg.norm(points, axis=1).argmin()] = 1.0
    for _ in range(steps):
        x = shares @ points
        slopes = points @ x
        toward, away = slopes.argmin(), np.where(shares > 0, slopes, -np.inf).argmax()
        if x @ x - slopes[toward] < 1e-9 * longest**2:
            break
        step = np.zeros(len(points))
        step[toward], step[away] = 1.0, step[away] - 1.0
        way = step @ points
        length = min(shares[away], -(x @ way) / max(way @ way, 1e-300))
        shares += length * step
        shares[shares < 1e-15] = 0.0
    x = shares @ points
    nearest = np.linalg.norm(x)
    lowest = max(0.0, (points @ x).min() / max(nearest, 1e-300))
    return lowest - 1e-3 * longest <= distance <= nearest + 1e-3 * longest, nearest - lowest


# A run of fewer than 128 tokens has other eligible rows.
@pytest.mark.parametrize(("kind", "tokens"), [*((kind, 150) for kind in KINDS), ("softmax_one", 60), ("diff_v2", 60)])
def test_every_head_by_its_definition(analyze, tmp_path, kind, tokens):
    model = C.headroom(tmp_path / "model", C.headroom_config(kind, **KINDS[kind]), 71)
    ids = token_ids(tokens, 71)
    analyze(tmp_path / "model", ids, tmp_path / "run.h5", "--dtype", "float64", "--premise")
    trace, hulls = forward.run(model, ids), 0
    with h5py.File(tmp_path / "run.h5") as file:
        for l, layer in enumerate(trace.layers):
            output = model.weights[f"model.layers.{l}.self_attn.o_proj.weight"].numpy()
            norm = model.weights.get(f"model.layers.{l}.self_attn.subln.weight")
            for h, head in enumerate(layer.heads):
                channels = head.context.shape[1]
                wanted, rows, value_rms = expected(head, output[:, h * channels:(h + 1) * channels], None if norm is None else norm.numpy())
                for name, values in wanted.items():
                    found = file[name][l, h]
                    if name.endswith("_bound") and name.split("_")[0] in ("sign", "centred") and tokens < 128:
                        # Rows with a single key are left out above.
                        continue
                    assert np.allclose(found, values, rtol=1e-7, atol=1e-9, equal_nan=True), (l, h, name, found, values)
                hull = file["rows/hull_distance"][l, h]
                chosen = evenly(rows, HULL_ROWS)
                assert np.flatnonzero(~np.isnan(hull)).tolist() == sorted(chosen.tolist())
                assert file["hull_distance_median"][l, h] == pytest.approx(np.median(hull[chosen]), abs=1e-12)
                for row in chosen[:: max(1, len(chosen) // 4)]:
                    points = head.maps[0].values.numpy()[head.visible.numpy()[row]]
                    inside, width = hull_bounds(points, hull[row] * value_rms[row] * math.sqrt(points.shape[1]))
                    assert inside, (l, h, row, width)
                    hulls += 1
    assert hulls >= 16


def test_float32_runs_agree_and_change_nothing_else(analyze, tmp_path):
    C.headroom(tmp_path / "model", C.headroom_config("diff_v2"), 72)
    ids = token_ids(200, 72)
    for name, arguments in {"plain": [], "wide": ["--dtype", "float64", "--premise"], "narrow": ["--premise"], "blocked": ["--premise", "--backend", "blocked"]}.items():
        analyze(tmp_path / "model", ids, tmp_path / f"{name}.h5", *arguments)
    with (h5py.File(tmp_path / "plain.h5") as plain, h5py.File(tmp_path / "wide.h5") as wide, h5py.File(tmp_path / "narrow.h5") as narrow,
          h5py.File(tmp_path / "blocked.h5") as blocked):
        added = set(narrow) - set(plain)
        assert {"sign_p", "value_correlation", "hull_distance_median", "output_cosine_mean"} <= added
        for name in added:
            if not isinstance(narrow[name], h5py.Dataset) or narrow[name].attrs.get("CLASS") == b"DIMENSION_SCALE":
                continue
            # A p of 999 draws moves by 1/1000 where rounding lets one draw pass another.
            within = {"sign_p": dict(rtol=0, atol=2.5e-3), "value_correlation": dict(rtol=1e-3, atol=1e-5)}.get(name, dict(rtol=2e-4, atol=2e-3 if "rows" in name else 2e-5))
            for other in (narrow, blocked):
                assert np.allclose(other[name], wide[name], equal_nan=True, **within), name
        for name in plain:
            if isinstance(plain[name], h5py.Dataset) and plain[name].dtype.kind == "f":
                assert np.array_equal(plain[name][()], narrow[name][()], equal_nan=True), name


def with_values(folder, make, seed, tokens=256):
    """A softmax model of one layer whose values for token t are row t of what `make` gives: the embedding is the unit vectors behind
    which v_proj looks them up, and attention is what random queries and keys of the same embedding make of it."""
    normal = np.random.default_rng(seed)
    config = C.headroom_config("softmax", num_hidden_layers=1, hidden_size=tokens, num_attention_heads=2, num_key_value_heads=1,
                               head_dim=32, vocab_size=tokens, max_position_embeddings=2 * tokens)
    model = C.headroom(folder, config, seed)
    w = model.weights
    w["model.embed_tokens.weight"] = torch.eye(tokens, dtype=torch.float64)
    w["model.layers.0.input_layernorm.weight"] = torch.full((tokens,), tokens**-0.5, dtype=torch.float64)
    w["model.layers.0.self_attn.v_proj.weight"] = torch.tensor(make(normal, (tokens, 32)).T)
    C.save(folder, config, w)
    return np.arange(tokens)


@pytest.mark.parametrize("what, verdict", [
    ("independent", "not"), ("with a common mean", "mean"), ("in aligned clusters", "aligned"), ("with a twin of opposite sign", "cancelling")])
def test_known_values_get_the_known_answer(analyze, command, tmp_path, what, verdict):
    def make(normal, shape):
        v = normal.standard_normal(shape)
        if what == "with a common mean":
            v = v + 0.6 * normal.standard_normal(shape[1])
        if what == "in aligned clusters":  # neighbours alike, and no mean: v and −v by turns of clusters
            v = np.repeat(normal.standard_normal((shape[0] // 16, shape[1])), 16, axis=0) + 0.3 * v
        if what == "with a twin of opposite sign":
            v[1::2] = -v[0::2] + 0.1 * v[1::2]
        return v

    ids = with_values(tmp_path / "model", make, 73)
    analyze(tmp_path / "model", ids, tmp_path / "run.h5", "--premise", "--dtype", "float64")
    with h5py.File(tmp_path / "run.h5") as file:
        raw, centred = file["sign_p"][0, :, 0], file["sign_p"][0, :, 1]
        if verdict == "not":
            assert (2 * raw.min(axis=1) > 0.01).all() and (np.abs(file["value_correlation"][0]) < 4 * math.sqrt(2 / 32) / 256).all()
            assert ((file["value_independent_count"][0] > 256 / (1 + 4 * math.sqrt(2 / 32)))).all()
        elif verdict == "mean":
            assert (raw[:, 0] == 0.001).all() and (centred[:, 0] > 0.05).all()
            assert file["value_correlation"][0, 0] == pytest.approx(0.36 / 1.36, abs=0.1) and (file["common_mean_share"][0] > 0.5).all()
            # What uniform attention gives, over what the keys count as.
            assert file["rows/uniform_rms_relative"][0, 0, -1] == pytest.approx(file["value_independent_count"][0, 0] ** -0.5, rel=1e-9)
        elif verdict == "aligned":
            assert (raw[:, 0] <= 0.002).all() and (centred[:, 0] <= 0.05).all()
        else:
            assert (raw[:, 1] <= 0.002).all() and (file["sign_coherence"][0, :, 0] < file["sign_coherence_interval"][0, :, 0, 0]).all()


def test_the_summary_counts_what_the_tests_say(command, tmp_path):
    C.headroom(tmp_path / "model", C.headroom_config("softmax"), 5)
    out = command("analyze", tmp_path / "model", "--ids", ",".join(map(str, token_ids(150, 5))), "-o", tmp_path / "run.h5", "--premise")
    assert out.code == 0, out
    with h5py.File(tmp_path / "run.h5") as file:
        p = np.minimum(1, 2 * file["sign_p"][:, :, 0].min(axis=-1)).ravel()
        count = np.median(file["value_independent_count"][()].astype(float))
    order = np.sort(p)
    refuted = max([k + 1 for k in range(len(p)) if order[k] <= 0.05 * (k + 1) / len(p)], default=0)
    for text in (out.text, command("inspect", tmp_path / "run.h5").text):
        assert f"refuted in {refuted} of {len(p)} heads" in " ".join(text.split()), text
        assert f"count as {count:.3g} uncorrelated" in " ".join(text.split()), text
    plain = command("analyze", tmp_path / "model", "--ids", "1,2,3", "-o", tmp_path / "plain.h5")
    assert "Premise" not in plain.text


def test_what_cannot_be_is_refused_or_absent(analyze, command, tmp_path):
    C.headroom(tmp_path / "model", C.headroom_config("diff_v2"), 74)
    refused_both_ways(command, 2, ["--premise", "bfloat16"], "analyze", tmp_path / "model", "--ids", "1,2,3", "-o", tmp_path / "no.h5",
                      "--dtype", "bfloat16", "--premise")
    # Maps with values of their own have no Gram matrix; the others' numbers stay.
    analyze(tmp_path / "model", token_ids(40, 74), tmp_path / "run.h5", "--premise", "--what-if", "pairing=halves")
    analyze(tmp_path / "model", [3], tmp_path / "one.h5", "--premise")
    with h5py.File(tmp_path / "run.h5") as file, h5py.File(tmp_path / "one.h5") as one:
        blocks = [file[f"program/value_blocks{m}"][()] for m in (1, 2)]
        different = (blocks[0] != blocks[1]).any(axis=2)
        assert different.any()
        for name in ("sign_coherence", "value_correlation", "hull_distance_median"):
            values = file[name][()].reshape(*different.shape, -1)
            assert np.isnan(values[different]).all() and not np.isnan(values[~different]).any(), name
        # One value is what it is: K is 1 with every sign.
        assert (one["sign_p"][:, :, 0] == 1).all() and np.isnan(one["value_correlation"][()]).all()
        assert np.allclose(one["sign_coherence"][:, :, 0], 1)
