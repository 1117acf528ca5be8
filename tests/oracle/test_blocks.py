"""`headroom blocks`: choices, recall, agreement and blocks that are read against the definitions written out in NumPy, from the maps, queries and
keys of the oracle's own forward pass; chance by all choices there are; statistics over documents; refusals."""
import itertools
import json
import signal
import time

import h5py
import numpy as np
import pytest

import checkpoints as C
import forward
from command import refused, refused_both_ways
from conftest import ROOT
from test_corpus import STATISTICS, check_statistics, texts

DIFF_V2 = ROOT / "assets" / "demo" / "bytes" / "diff_v2"
MAPS, CHOICES = ["first", "second", "net"], ["alone", "pair", "group", "oracle", "chance"]
RELATIONS, CONTRASTS = ["pair", "group", "other", "chance"], ["pair − other", "group − other", "pair − group", "other − chance"]
NUMBERS = {"recall": (3, 5), "net_mass": (5,), "net_mass_all": (), "blocks_read": (2,), "agreement": (4,)}
IDS = [(11 * i * i + 5 * i + 3) % 53 for i in range(45)]
TOPS = [1, 2, 3, 5]


def taken(scores, seen, always, k):
    """The k blocks: those that are always chosen, then by falling score."""
    rest = sorted((b for b in seen if b not in always), key=lambda b: (-scores[b], b))
    return (always + rest)[:k]


def jaccard(a, b):
    return len(a & b) / len(a | b)


def jaccard_by_chance(candidates, count):
    """One choice against all there are, which by symmetry is the mean over all pairs."""
    one = set(candidates[:count])
    return np.mean([jaccard(one, set(other)) for other in itertools.combinations(candidates, count)])


def expected(layer, groups, size, tops, always, scales):
    """The numbers of a layer of the oracle's trace, and how many rows there are by k."""
    heads = layer.heads
    n, K = len(heads[0].w), len(tops)
    maps = [(h, m) for h, head in enumerate(heads) for m in range(len(head.maps))]
    a = {(h, m): heads[h].maps[m].a.numpy() for h, m in maps}
    found = {name: np.full((len(heads), *shape, K), np.nan) for name, shape in NUMBERS.items()}
    rows_of, sums = np.zeros(K, int), {}

    def note(*place, value):
        sums.setdefault(place, []).append(value)

    for i in range(n):
        visible = layer.visible[i].numpy()
        of_block = {b: [j for j in range(b * size, min((b + 1) * size, n)) if visible[j]] for b in range(-(-n // size))}
        seen = [b for b, keys in of_block.items() if keys]
        wanted = {"own": [i // size], "local": [i // size, 0, i // size - 1], "none": []}[always]
        sure = [b for p, b in enumerate(wanted) if b in seen and b not in wanted[:p]]
        score = {(h, m): {b: scales[h] * float(heads[h].maps[m].query[i] @ heads[h].maps[m].key[of_block[b]].mean(dim=0)) for b in seen}
                 for h, m in maps}

        def mean_score(some):
            return {b: np.mean([score[one][b] for one in some]) for b in seen}

        for t, k in enumerate(tops):
            if len(seen) <= k:
                continue
            rows_of[t] += 1
            fixed = sure[:k]
            alone = {one: taken(score[one], seen, sure, k) for one in maps}
            free = {one: set(alone[one]) - set(fixed) for one in maps}
            candidates = [b for b in seen if b not in fixed]
            for h, head in enumerate(heads):
                own = [one for one in maps if one[0] == h]
                group = [one for one in maps if groups[one[0]] == groups[h]]
                together = [taken(mean_score(some), seen, sure, k) for some in (own, group)]
                x = {m: a[h, m][i] for _, m in own}
                w = head.w[i].numpy()
                for m, values in [*x.items(), (2, w)]:
                    mass = {b: np.abs(values[of_block[b]]).sum() for b in seen}
                    signed = {b: values[of_block[b]].sum() for b in seen}
                    if sum(mass.values()) == 0:
                        continue  # softpick may give a row nothing
                    by_own = [alone[h, m]] if m < 2 else [alone[one] for one in own]
                    kept = [b for b in by_own[0] if all(b in other for other in by_own)]
                    best = sorted(seen, key=lambda b: (-mass[b], b))[:k]
                    for c, blocks in enumerate([kept, *together, best]):
                        note("recall", h, m, c, t, value=sum(mass[b] for b in blocks) / sum(mass.values()))
                        if m == 2:
                            note("net_mass", h, c, t, value=sum(signed[b] for b in blocks))
                    ways = list(itertools.combinations(candidates, k - len(fixed)))
                    note("recall", h, m, 4, t, value=np.mean([sum(mass[b] for b in [*fixed, *way]) for way in ways]) / sum(mass.values()))
                    if m == 2:
                        note("net_mass", h, 4, t, value=np.mean([sum(signed[b] for b in [*fixed, *way]) for way in ways]))
                        note("net_mass_all", h, t, value=w.sum())
                for s, some in enumerate((own, group)):
                    note("blocks_read", h, s, t, value=len(set().union(*(alone[one] for one in some))))
                if k > len(fixed):
                    others = {0: [o for o in own], 1: [o for o in group if o[0] != h], 2: [o for o in maps if groups[o[0]] != groups[h]]}
                    for r, some in others.items():
                        pairs = [jaccard(free[p], free[q]) for p in own for q in some if p != q]
                        if pairs:
                            note("agreement", h, r, t, value=np.mean(pairs))
                    note("agreement", h, 3, t, value=jaccard_by_chance(candidates, k - len(fixed)))
    for (name, *place), values in sums.items():
        found[name][tuple(place)] = np.mean(values)
    return found, rows_of


def by_key_head(per_group):
    return lambda heads: [h // per_group for h in range(heads)]


# name: (config, groups, further arguments, what-ifs)
CASES = {
    "softmax": (C.headroom_config("softmax"), by_key_head(2), [], []),
    "softmax-local": (C.headroom_config("softmax", qk_norm=True), by_key_head(2), ["--always", "local"], []),
    "one-key-head-each": (C.headroom_config("softmax", num_key_value_heads=4), by_key_head(1), ["--always", "none"], []),
    "window": (C.headroom_config("softmax", window=26), by_key_head(2), [], []),
    "sink": (C.headroom_config("softmax_sink"), by_key_head(2), [], ["L1.H1:temperature=2.5"]),
    "softpick": (C.headroom_config("softpick"), by_key_head(2), [], []),
    "gated": (C.headroom_config("gated", num_key_value_heads=1), by_key_head(4), [], []),
    "diff_v2": (C.headroom_config("diff_v2"), by_key_head(2), [], []),
    "diff_v2-none": (C.headroom_config("diff_v2"), by_key_head(2), ["--always", "none"], []),
    "diff_v2-local": (C.headroom_config("diff_v2", num_key_value_heads=4), by_key_head(1), ["--always", "local"], ["lambda=0.7"]),
    "diff_v2-halves": (C.headroom_config("diff_v2"), lambda heads: [0] * heads, [], ["pairing=halves"]),
    "diff_v1": (C.headroom_config("diff_v1"), by_key_head(2), [], []),
    "diff_v1-naive": (C.headroom_config("diff_v1", v1_form="naive"), by_key_head(2), ["--always", "none"], []),
    "diff_v1-one-map": (C.headroom_config("diff_v1"), by_key_head(2), [], ["second-map=off"]),
}


@pytest.fixture(scope="module")
def blocks(warm_command):
    def call(model, out, *arguments, code=0):
        outcome = warm_command("blocks", str(model), "-o", str(out), "--device", "cpu", "--json", *map(str, arguments))
        assert outcome.code == code, outcome
        if code == 0:
            assert outcome.json["self_check"]["violations"] == []
        return outcome.json

    return call


@pytest.mark.parametrize("case", CASES)
def test_every_number_is_its_definition(blocks, tmp_path, case):
    config, groups_of, arguments, what_ifs = CASES[case]
    model = C.headroom(tmp_path / "model", config, 4)
    out = tmp_path / "blocks.h5"
    said = blocks(tmp_path / "model", out, "--ids", ",".join(map(str, IDS)), "--block", "6", "--top", "5,1,2,3,2", "--dtype", "float64", *arguments,
                  *(word for what_if in what_ifs for word in ("--what-if", what_if)))
    trace = forward.run(model, IDS, what_ifs)
    always = dict(zip(arguments[::2], arguments[1::2])).get("--always", "own")
    compared = 0
    with h5py.File(out) as file:
        assert texts(file["map"]) == MAPS and texts(file["choice"]) == CHOICES and texts(file["relation"]) == RELATIONS
        assert file["top"][:].tolist() == TOPS == said["top"] and file.attrs["block"] == 6 and file.attrs["always"] == always
        for l, layer in enumerate(trace.layers):
            heads = len(layer.heads)
            groups = groups_of(heads)
            assert file["group"][l].tolist() == groups
            temperature = [2.5 if what_ifs and what_ifs[0].startswith(f"L{l}.H{h}:temp") else 1.0 for h in range(heads)]
            scale = config["attention"].get("scale") or config["head_dim"] ** -0.5
            numbers, rows = expected(layer, groups, 6, TOPS, always, [scale / t for t in temperature])
            assert file["rows"][l].tolist() == rows.tolist()
            for name, values in numbers.items():
                stored = file["sequences"][name][0, l]
                assert stored.shape == values.shape and np.array_equal(np.isnan(stored), np.isnan(values)), name
                assert np.allclose(stored, values, rtol=2e-7, atol=1e-7, equal_nan=True), (name, np.nanmax(np.abs(stored - values)))
                assert np.array_equal(file[name][0, l], stored.astype(float), equal_nan=True)
                assert (file[name][-1, l] == ~np.isnan(stored)).all() and np.isnan(file[name][2, l]).all()
                compared += np.isfinite(values).sum()
            recall = numbers["recall"]
            assert np.nanmax(recall) <= 1 + 1e-12 and (recall[:, :, 3:4] >= recall[:, :, :3] - 1e-12)[np.isfinite(recall[:, :, :3])].all()
    assert compared > 500


def test_layers_sequences_and_documents(blocks, tmp_path):
    """Three documents of 3, 1 and 2 pieces: each sequence as if it were alone, means over heads and differences of each, statistics over them."""
    C.headroom(tmp_path / "model", C.headroom_config("diff_v2", num_hidden_layers=3), 8)
    documents = [[(7 * d + 3 * i + d * i * i) % 53 for i in range(count * 30)] for d, count in enumerate((3, 1, 2), 1)]
    (tmp_path / "ids.jsonl").write_text("".join(json.dumps({"ids": ids}) + "\n" for ids in documents))
    out = tmp_path / "all.h5"
    common = ["--block", "4", "--top", "1,3,64", "--layers", "0,2", "--dtype", "float64"]
    said = blocks(tmp_path / "model", out, "--data", tmp_path / "ids.jsonl", "--field", "ids", "--length", "30", *common)
    assert said["documents"] == 3 and said["sequences"] == 6 and said["layers"] == [0, 2] and "k = 64" in " ".join(said["notes"])
    with h5py.File(out) as file:
        owners, kept = file["sequences/document"][:], file["sequences"]
        assert np.unique(owners, return_counts=True)[1].tolist() == [3, 1, 2] and file["rows"][:, -1].tolist() == [0, 0]
        for s in (0, 5):
            one = tmp_path / "one.h5"
            blocks(tmp_path / "model", one, "--ids", ",".join(map(str, kept["token_id"][s])), "--force", *common)
            with h5py.File(one) as single:
                assert texts(single["documents/name"]) == ["prompt"]
                for name in NUMBERS:
                    assert single["sequences"][name][0].tobytes() == kept[name][s].tobytes(), name
        rng = np.random.default_rng(1)

        def check(stored, values):
            flat, said_of = values.reshape(len(values), -1), stored.reshape(len(STATISTICS), -1)
            for column in rng.choice(flat.shape[1], size=min(2, flat.shape[1]), replace=False):
                check_statistics(said_of[:, column], flat[:, column], owners)

        for name in NUMBERS:
            values = kept[name][:].astype(float)
            check(file[name][:], values)
            with np.errstate(all="ignore"):
                counts = (~np.isnan(values)).sum(axis=(1, 2))
                check(file["mean"][name][:], np.where(counts > 0, np.nansum(values, axis=(1, 2)) / counts, np.nan))
        recall, agreement = kept["recall"][:].astype(float)[..., :2], kept["agreement"][:].astype(float)[..., :2]
        check(file["change/recall"][..., :2], (recall - recall[..., :1, :]).mean(axis=(1, 2)))
        assert texts(file["change/contrast"]) == CONTRASTS
        pair, group, other, chance = np.moveaxis(agreement, 3, 0)[..., 1]  # with k = 1 the own block is all that is chosen
        for c, difference in enumerate((pair - other, group - other, pair - group, other - chance)):
            check(file["change/agreement"][:, c, 1:2], difference.mean(axis=(1, 2))[:, None])
        mean = said["recall"]["net"]["group"]
        assert [one["mean"] for one in mean] == [None if np.isnan(v) else v for v in file["mean/recall"][0, 2, 2]]
        assert [one["ci_low"] for one in said["agreement_change"]["group − other"]][1] == file["change/agreement"][3, 1, 1]


def test_129_a_sequence_that_is_not_finite_has_no_numbers(blocks, warm_command, tmp_path):
    """Rows before the token are finite, and are no less left out: they are not the sequence."""
    model = C.headroom(tmp_path / "model", C.headroom_config("diff_v2"), 4)
    weights = {name: tensor.float() for name, tensor in model.weights.items()}
    weights["model.embed_tokens.weight"][5] = float("inf")
    C.save(tmp_path / "model", model.config, weights)
    ids = [[1 + (i * step) % 4 for i in range(24)] for step in (1, 2, 3)]
    clean, ids = [ids[0], ids[2]], [ids[0], [*ids[1][:20], 5, *ids[1][21:]], ids[2]]
    for name, documents in (("clean", clean), ("some", ids)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps({"ids": one}) + "\n" for one in documents))
    cut = ["--field", "ids", "--length", "24", "--block", "4", "--top", "2,4"]
    blocks(tmp_path / "model", tmp_path / "clean.h5", "--data", tmp_path / "clean.jsonl", *cut)
    blocks(tmp_path / "model", tmp_path / "some.h5", "--data", tmp_path / "some.jsonl", *cut, code=8)
    plan = warm_command("corpus", tmp_path / "model", "--data", tmp_path / "some.jsonl", *cut[:4], "--plan-only", "-o", tmp_path / "plan.h5")
    assert plan.code == 0, plan
    blocks(tmp_path / "model", tmp_path / "plan_blocks.h5", "--plan", tmp_path / "plan.h5", *cut[4:], code=8)
    with h5py.File(tmp_path / "clean.h5") as other, h5py.File(tmp_path / "some.h5") as file, h5py.File(tmp_path / "plan_blocks.h5") as planned:
        assert (file["sequences/non_finite_layer"][:] >= 0).tolist() == [False, True, False]
        for name in ("recall", "net_mass", "blocks_read", "agreement"):
            stored = file["sequences"][name][:]
            assert np.isnan(stored[1]).all() and np.isfinite(stored[0]).any(), name
            assert np.array_equal(stored[[0, 2]], other["sequences"][name][:], equal_nan=True), name
            assert np.array_equal(file[name][0], other[name][0], equal_nan=True), name
            assert np.array_equal(stored, planned["sequences"][name][:], equal_nan=True), name


def test_an_encoder_sees_blocks_on_both_sides(blocks, analyze, encoder, tmp_path):
    """From the maps, queries and keys that `analyze --exact-maps` writes."""
    ids = [101, *range(2000, 2038), 102]
    blocks(encoder, tmp_path / "blocks.h5", "--ids", ",".join(map(str, ids)), "--block", "8", "--top", "2", "--layers", "1")
    analyze(encoder, ids, tmp_path / "run.h5", "--exact-maps", "--layers", "1")
    with h5py.File(tmp_path / "run.h5") as run, h5py.File(tmp_path / "blocks.h5") as file:
        scale = run["program/logit_scale"][0]
        assert file["rows"][:].tolist() == [[40]]
        for h in range(12):
            q, k, a = run["exact/queries"][0, h], run["exact/keys"][0, h], run["exact/weights"][0, h, 0]
            score = scale * q @ k.reshape(5, 8, -1).mean(axis=1).T
            score[np.arange(40), np.arange(40) // 8] = np.inf  # its own
            chosen = np.argsort(-score, axis=1)[:, :2]
            mass = a.reshape(40, 5, 8).sum(axis=2)
            assert np.take_along_axis(mass, chosen, axis=1).sum(axis=1).mean() == pytest.approx(file["sequences/recall"][0, 0, h, 0, 0, 0], abs=2e-6)


def test_what_is_said_to_people(warm_command, tmp_path):
    outcome = warm_command("blocks", DIFF_V2, "--text", "In the beginning God created the heaven and the earth.", "--bos", "always", "--block", "4", "--top",
                           "1,2", "-o", tmp_path / "out.h5", "--device", "cpu")
    assert outcome.code == 0
    for words in ("2 layers × 4 heads in 4 groups; blocks of 4 keys, always chosen: own", "1 sequences of 55 positions from 1 documents",
                  "Recall of the net map", "one document: no interval", "oracle", "group − other", "Wrote "):
        assert words in outcome.text, outcome.text
    shown = warm_command("inspect", tmp_path / "out.h5")
    assert shown.code == 0 and "blocks" in shown.text and "4 keys" in shown.text, shown
    assert warm_command("inspect", tmp_path / "out.h5", "--json").json["format"] == "blocks"
    sentence = "sequence 0: L1.H0 row 9: the row sum of the first map is 1.5, expected 1 (a bug: please report it)"
    with h5py.File(tmp_path / "out.h5", "r+") as file:
        assert file.attrs["self_check"] == "" and "FAILED" not in shown.text
        file.attrs["self_check"] = sentence
    assert f"FAILED: {sentence}" in warm_command("inspect", tmp_path / "out.h5").text
    assert warm_command("inspect", tmp_path / "out.h5", "--json").json["self_check"]["violations"] == [sentence]


@pytest.mark.parametrize(("arguments", "code", "words"), [
    (["--ids", "1,2,3,4,5,6", "--block", "8"], 2, ["--block", "no row sees more than 1 blocks of 8 keys", "6 positions"]),
    (["--ids", "1,2,3,4,5,6", "--block", "2", "--what-if", "hide-key=0"], 2, ["hide-key", "layer 0"]),
    (["--ids", "1,2,300"], 2, ["300", "vocabulary"]),
    (["--block", "2"], 2, ["--data and --length, or --plan"]),
    (["--ids", "1,2,3", "--top", "0"], 2, ["--top"]),
    (["--ids", "1,2,3", "--always", "first"], 2, ["--always", "own"]),
    (["--ids", "1,2,3", "--text", "abc"], 2, ["--text", "--ids"]),
    (["--ids", "1,2,3", "--data", "x.txt"], 2, ["--ids", "--data"]),
    (["--ids", "1,2,3,4,5,6", "--block", "2", "--layers", "7"], 2, ["--layers"]),
    (["--ids", "1,2,3,4,5,6", "--block", "2", "--memory", "0.000001"], 6, ["memory"]),
], ids=lambda value: "-".join(value) if isinstance(value, list) else None)
def test_refusals(warm_command, tmp_path, arguments, code, words):
    refused_both_ways(warm_command, code, words, "blocks", DIFF_V2, *arguments, "-o", tmp_path / "out.h5", "--device", "cpu")
    assert not list(tmp_path.iterdir())


def test_a_target_that_is_there_is_not_replaced(warm_command, tmp_path):
    out = tmp_path / "out.h5"
    words = ["blocks", DIFF_V2, "--ids", "1,2,3,4,5,6", "--block", "2", "-o", out, "--device", "cpu"]
    assert warm_command(*words).code == 0
    before = out.read_bytes()
    refused(warm_command(*words), 2, "--force")
    assert out.read_bytes() == before
    assert warm_command(*words, "--force").code == 0


def test_121_a_run_that_is_stopped_leaves_nothing(command, tmp_path):
    """Of a run without progress on disk there is nothing to go on with: no file, no hidden one."""
    (tmp_path / "d.jsonl").write_text("".join(json.dumps({"ids": [(7 * d + i * i) % 256 for i in range(512)]}) + "\n" for d in range(200)))
    process = command.start("blocks", str(DIFF_V2), "--data", str(tmp_path / "d.jsonl"), "--field", "ids", "--length", "512", "--block", "16", "--top", "2",
                            "--device", "cpu", "-o", str(tmp_path / "b.h5"))
    deadline = time.monotonic() + 120
    while len(list(tmp_path.iterdir())) == 1 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert process.poll() is None and len(list(tmp_path.iterdir())) > 1  # the hidden file
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert [path.name for path in tmp_path.iterdir()] == ["d.jsonl"]
