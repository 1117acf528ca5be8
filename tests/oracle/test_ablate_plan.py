"""`headroom ablate --plan`: changes of the loss without heads over many sequences against PyTorch with hooks, gradients against autograd through
W_O, statistics against NumPy; order, batches and kills against an undisturbed run."""
import json
import time

import h5py
import numpy as np
import pytest
import torch

import checkpoints as C
import families
import forward
from command import refused, refused_both_ways
from conftest import ROOT
from test_ablate import losses
from test_corpus import STATISTICS, check_statistics, contents, progress_of
from test_parity import build, token_ids

L = 24
SIZES = (60, 24, 50)  # tokens of the documents: 2, 1 and 2 sequences
LICENCES = ROOT / "tests" / "fixtures" / "corpus" / "licences_ids.jsonl"
LLAMA = families.case("llama", L, num_attention_heads=4, num_key_value_heads=2)


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


@pytest.fixture(scope="module")
def documents():
    return [token_ids(size, 40 + i) for i, size in enumerate(SIZES)]


def write_documents(path, documents):
    path.write_text("".join(json.dumps({"ids": ids}) + "\n" for ids in documents))
    return path


@pytest.fixture(scope="module")
def data(documents, tmp_path_factory):
    return write_documents(tmp_path_factory.mktemp("documents") / "d.jsonl", documents)


@pytest.fixture(scope="module")
def ablate(command, data):
    """ablate(model, out, *arguments) → JSON; of the documents above unless `cut` says otherwise."""
    def call(model, out, *arguments, cut=("--data", data, "--field", "ids", "--length", str(L)), code=0):
        outcome = command("ablate", model, *cut, "-o", out, "--device", "cpu", "--json", *arguments)
        assert outcome.code == code, outcome
        return outcome.json

    return call


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    """The checkpoint and transformers' own net in float64."""
    folder = tmp_path_factory.mktemp("plan") / "llama"
    weights = families.write(folder, LLAMA, 9)
    with C.transformers_in_float64():
        _, net = families.model_of(LLAMA)
    net.load_state_dict(weights, strict=False)
    return folder, net


def sequences_of(path):
    with h5py.File(path) as file:
        return file["sequences/token_id"][:].tolist(), file["sequences/document"][:]


def attention_of(net, layer):
    return net.model.layers[layer].self_attn.o_proj


def loss_of(net, ids, changes=None):
    """Mean loss of a sequence where heads {(layer, head): [channels]} put out these numbers."""
    hooks = []
    for (layer, head), value in (changes or {}).items():
        def change(_, given, head=head, value=value):
            z = given[0].clone()
            z[..., head * len(value):(head + 1) * len(value)] = value
            return (z,)

        hooks.append(attention_of(net, layer).register_forward_pre_hook(change))
    with C.transformers_in_float64(), torch.no_grad():
        result = losses(net(torch.tensor([ids]), use_cache=False).logits[0], ids).mean()
    for hook in hooks:
        hook.remove()
    return result


def head_means(net, sequences, heads=4):
    """{(layer, head): mean over all positions of all sequences of what the head brings into W_O}."""
    seen = [[] for _ in net.model.layers]
    hooks = [attention_of(net, layer).register_forward_pre_hook(lambda _, given, layer=layer: seen[layer].append(given[0][0]))
             for layer in range(len(seen))]
    for ids in sequences:
        loss_of(net, ids)
    for hook in hooks:
        hook.remove()
    return {(layer, head): part for layer, z in enumerate(seen) for head, part in enumerate(torch.cat(z).mean(0).chunk(heads))}


@pytest.mark.parametrize("mode", ["zero", "mean"])
def test_heads_sets_and_one_after_another_are_hooks_of_transformers(ablate, llama, tmp_path, mode):
    path, net = llama
    out = tmp_path / "a.h5"
    said = ablate(path, out, "--mode", mode, "--dtype", "float64", "--heads", "L0.H1,L1.H0,L1.H3", "--set", "L1.H2+L0.H1", "--cumulative", "2")
    sequences, documents = sequences_of(out)
    assert documents.tolist() == [0, 1, 2, 0, 2]
    means = head_means(net, sequences)
    value = {place: mean if mode == "mean" else torch.zeros_like(mean) for place, mean in means.items()}
    singles = [(0, 1), (1, 0), (1, 3)]
    with h5py.File(out) as file:
        base = np.array([loss_of(net, ids) for ids in sequences])
        assert np.abs(file["sequences/next_token_loss"][:] - base).max() <= 1e-9
        found = file["sequences/delta_loss"][:]

        def changes(heads):
            return np.array([loss_of(net, ids, {head: value[head] for head in heads}) for ids in sequences]) - base

        expected = {head: changes([head]) for head in singles}
        for (layer, head), numbers in expected.items():
            assert np.abs(found[:, layer, head] - numbers).max() <= 1e-9
        assert max(np.abs(numbers).max() for numbers in expected.values()) > 1e-3  # agreement on nothing is none
        assert np.isnan(found[:, 0, [0, 2, 3]]).all() and np.isnan(found[:, 1, [1, 2]]).all()
        assert np.abs(file["sequences/set_delta_loss"][:, 0] - changes([(0, 1), (1, 2)])).max() <= 1e-9
        order = sorted(singles, key=lambda head: -expected[head].mean())[:2]
        assert [name.decode() for name in file["removed"][:]] == [f"L{layer}.H{head}" for layer, head in order]
        for k in range(2):
            assert np.abs(file["sequences/cumulative_delta_loss"][:, k] - changes(order[:k + 1])).max() <= 1e-9
        # Statistics are of what is kept, documents as clusters.
        for name, place in [("delta_loss", (1, 3)), ("set_delta_loss", (0,)), ("cumulative_delta_loss", (1,)), ("next_token_loss", ())]:
            check_statistics(file[name][(slice(None), *place)], file["sequences/" + name][(slice(None), *place)], documents)
        assert [name.decode() for name in file["statistic"][:]] == STATISTICS
        assert np.isnan(file["delta_loss"][0, 0, 0]) and file["delta_loss"][STATISTICS.index("count"), 0, 0] == 0
    result = next(one for one in said["results"] if one["heads"] == ["L1.H3"])
    assert result["delta_loss"]["mean"] == pytest.approx(expected[1, 3].mean(), abs=1e-9)
    assert said["tested"] == 3 + 1 + 2 and said["documents"] == 3 and said["sequences"] == 5


# --- gradients


def oracle_gradients(model, ids, width):
    """By layer and head: Σ ⟨∂L/∂z, z⟩ = Σ ⟨∂L/∂W, W⟩ over the columns of W_O that read the head, since the layer sees their products alone."""
    names = [name for name in model.weights if name.endswith(("self_attn.o_proj.weight", "attn.c_proj.weight"))]
    names.sort(key=lambda name: int(name.split(".")[-4]))
    leaves = {name: model.weights[name].clone().requires_grad_(True) for name in names}
    trace = forward.run(forward.Model(model.family, model.config, {**model.weights, **leaves}), ids)
    torch.nn.functional.cross_entropy(trace.logits[:-1], torch.tensor(ids)[1:]).backward()
    rows = []
    for name in names:
        products = (leaves[name].grad * leaves[name]).detach()
        columns = products.sum(1 if name.endswith("c_proj.weight") else 0)  # GPT-2 keeps its matrices the other way round
        rows.append(columns.reshape(-1, width).sum(1).numpy())
    return np.array(rows)


KINDS = {"llama": ("llama", C.llama_config(), 8), "gpt2": ("gpt2", C.gpt2_config(), 8), "v1": ("headroom", C.headroom_config("diff_v1"), 16),
         "v2": ("headroom", C.headroom_config("diff_v2"), 8), "sink": ("headroom", C.headroom_config("softmax_sink", window=9), 8),
         "gated": ("headroom", C.headroom_config("gated", gate="elementwise", qk_norm=True), 8)}


@pytest.mark.parametrize("name", KINDS)
def test_gradients_are_those_of_w_o(ablate, tmp_path, name):
    family, config, width = KINDS[name]
    model = build(tmp_path / "m", family, config, {}, 31)
    said = ablate(tmp_path / "m", tmp_path / "a.h5", "--mode", "gradient", "--dtype", "float64")
    sequences, documents = sequences_of(tmp_path / "a.h5")
    expected = np.array([oracle_gradients(model, ids, width) for ids in sequences])
    with h5py.File(tmp_path / "a.h5") as file:
        g = file["sequences/gradient"][:]
        assert g.shape == expected.shape and np.abs(g - expected).max() <= 1e-9 and np.abs(expected).max() > 1e-2
        assert np.abs(file["importance"][0] - np.abs(expected).mean(0)).max() <= 1e-9
        assert np.abs(file["first_order"][0] + expected.mean(0)).max() <= 1e-9
        check_statistics(file["importance"][:, 1, 1], np.abs(g[:, 1, 1]), documents)
        base = [losses(forward.run(model, ids).logits, ids).mean() for ids in sequences]
        assert np.abs(file["sequences/next_token_loss"][:] - base).max() <= 1e-9
        assert np.isnan(file["delta_loss"][0]).all() and np.isfinite(file["sink_score"][0, ..., 0]).all()
    assert len(said["gradients"]) == expected[0].size and said["results"] == []


def test_the_most_important_heads_by_gradients_are_taken_away(ablate, tmp_path):
    model = build(tmp_path / "m", *KINDS["v2"][:2], {}, 31)
    ablate(tmp_path / "m", tmp_path / "g.h5", "--mode", "gradient", "--top", "3", "--cumulative", "2", "--dtype", "float64")
    sequences, _ = sequences_of(tmp_path / "g.h5")
    importance = np.mean([np.abs(oracle_gradients(model, ids, 8)) for ids in sequences], axis=0)
    largest = sorted(np.ndindex(importance.shape), key=lambda place: -importance[place])[:3]
    ablate(tmp_path / "m", tmp_path / "z.h5", "--mode", "zero", "--top", "3", "--dtype", "float64", "--layers", "0-1")
    with h5py.File(tmp_path / "g.h5") as by_gradient, h5py.File(tmp_path / "z.h5") as by_zero:
        delta = by_gradient["sequences/delta_loss"][:]
        assert sorted(map(tuple, np.argwhere(np.isfinite(delta[0])))) == sorted(largest)
        assert np.array_equal(delta, by_zero["sequences/delta_loss"][:], equal_nan=True)
        for layer, head in largest:
            for s, ids in enumerate(sequences):
                changed = losses(forward.run(model, ids, [f"L{layer}.H{head}:head=off"]).logits, ids).mean()
                assert delta[s, layer, head] == pytest.approx(changed - by_gradient["sequences/next_token_loss"][s], abs=1e-9)
        change = by_gradient["delta_loss"][0]
        order = sorted(largest, key=lambda place: -change[place])[:2]
        assert [name.decode() for name in by_gradient["removed"][:]] == [f"L{layer}.H{head}" for layer, head in order]


# --- the same numbers whatever stands beside them


@pytest.mark.parametrize(("name", "mode"), [("llama", "mean"), ("v2", "second-map"), ("gated", "zero")])
def test_a_plan_of_one_sequence_is_the_text(ablate, command, tmp_path, name, mode):
    build(tmp_path / "m", *KINDS[name][:2], {}, 31)
    ids = token_ids(L, 3)
    write_documents(tmp_path / "one.jsonl", [ids])
    # Heads of one layer: behind another change their mean over a text is not that of the whole model.
    arguments = ["--mode", mode, "--heads", "L0.H1,L1.H0", "--set", "L1.H0+L1.H1"]
    ablate(tmp_path / "m", tmp_path / "plan.h5", *arguments, cut=["--data", tmp_path / "one.jsonl", "--field", "ids", "--length", str(L)])
    outcome = command("ablate", tmp_path / "m", "--ids", ",".join(map(str, ids)), "-o", tmp_path / "text.h5", "--device", "cpu", *arguments)
    assert outcome.code == 0, outcome
    with h5py.File(tmp_path / "plan.h5") as plan, h5py.File(tmp_path / "text.h5") as text:
        assert np.array_equal(plan["sequences/delta_loss"][0], text["delta_loss"][:], equal_nan=True)
        assert np.array_equal(plan["delta_loss"][0], text["delta_loss"][:], equal_nan=True)
        assert plan["sequences/set_delta_loss"][0, 0] == text["set_delta_loss"][0]
        assert np.array_equal(plan["sequences/sink_score"][0], text["sink_score"][:], equal_nan=True)
        assert plan["sequences/next_token_loss"][0] == text.attrs["next_token_loss"]
        assert np.isnan(plan["delta_loss"][2]).all()  # one document has no error


def test_no_order_of_documents_and_no_batch_moves_a_bit(ablate, command, documents, data, tmp_path):
    build(tmp_path / "m", *KINDS["v1"][:2], {}, 31)
    arguments = ["--mode", "mean", "--heads", "L0.H1,L1.H2"]
    ablate(tmp_path / "m", tmp_path / "a.h5", *arguments)
    ablate(tmp_path / "m", tmp_path / "b.h5", *arguments, "--batch-tokens", str(L))
    assert contents(tmp_path / "a.h5") == contents(tmp_path / "b.h5")
    write_documents(tmp_path / "other.jsonl", documents[::-1])
    cut = ["--field", "ids", "--length", str(L)]
    assert command("corpus", tmp_path / "m", "--data", data, *cut, "--plan-only", "-o", tmp_path / "plan.h5").code == 0
    ablate(tmp_path / "m", tmp_path / "c.h5", *arguments, cut=["--plan", tmp_path / "plan.h5"])
    assert contents(tmp_path / "a.h5") == contents(tmp_path / "c.h5")
    ablate(tmp_path / "m", tmp_path / "d.h5", *arguments, cut=["--data", tmp_path / "other.jsonl", *cut])
    with h5py.File(tmp_path / "a.h5") as a, h5py.File(tmp_path / "d.h5") as d:
        rows = {tuple(ids): row for ids, row in zip(a["sequences/token_id"][:].tolist(), a["sequences/delta_loss"][:], strict=True)}
        for ids, row in zip(d["sequences/token_id"][:].tolist(), d["sequences/delta_loss"][:], strict=True):
            assert np.array_equal(rows[tuple(ids)], row, equal_nan=True)
        assert np.allclose(a["delta_loss"][2], d["delta_loss"][2], rtol=1e-12, equal_nan=True)


@pytest.mark.parametrize("mode", [["--mode", "mean", "--cumulative", "3"], ["--mode", "gradient", "--top", "4"]], ids=["mean", "gradient"])
def test_123_killed_and_resumed_is_undisturbed(command, program, tmp_path_factory, mode):
    from command import Command

    folder = tmp_path_factory.mktemp("killed")
    C.headroom(folder / "m", C.headroom_config("diff_v2", num_hidden_layers=8), 5)
    write_documents(folder / "d.jsonl", [token_ids(3 * 64, 70 + i) for i in range(4)])
    arguments = ["ablate", folder / "m", "--data", folder / "d.jsonl", "--field", "ids", "--length", "64", *mode, "--device", "cpu", "--json"]
    assert command(*arguments, "-o", folder / "whole.h5").code == 0
    out, starts = folder / "a.h5", Command(program)
    log, size = progress_of(out), lambda: progress_of(out).stat().st_size if progress_of(out).exists() else 0
    kills = 0
    for more in (4000, 1500):
        process = starts.start(*arguments, "-o", out)
        before = size()
        while process.poll() is None and size() < before + more:
            time.sleep(0.001)
        kills += process.poll() is None
        process.kill()
        process.communicate()
    assert kills > 0 and not out.exists() and log.exists()
    refused(command(*arguments[:-1], "--bootstrap-seed", "3", "-o", out), 2, "other settings")
    outcome = command(*arguments, "-o", out)
    assert outcome.code == 0 and 0 < outcome.json["resumed"] <= 12, outcome
    assert contents(out) == contents(folder / "whole.h5") and not log.exists()
    again = command(*arguments, "-o", out)
    assert again.code == 0 and again.json["nothing_to_do"]
    refused(command(*arguments, "--bootstrap-seed", "4", "-o", out), 2, "exists")


def test_129_a_sequence_that_is_not_finite_counts_for_nothing(ablate, documents, tmp_path):
    model = build(tmp_path / "m", *KINDS["v2"][:2], {}, 31)
    weights = {name: tensor.float() for name, tensor in model.weights.items()}
    weights["model.embed_tokens.weight"][52] = torch.inf
    C.save(tmp_path / "bad", model.config, weights)
    clean = [[id % 52 for id in ids] for ids in documents]
    broken = [*clean, [52, *clean[0][:L - 1]]]
    cut = ["--field", "ids", "--length", str(L)]
    arguments = ["--mode", "mean", "--heads", "L0.H1,L1.H0"]
    ablate(tmp_path / "bad", tmp_path / "clean.h5", *arguments, cut=["--data", write_documents(tmp_path / "clean.jsonl", clean), *cut])
    said = ablate(tmp_path / "bad", tmp_path / "a.h5", *arguments, cut=["--data", write_documents(tmp_path / "d.jsonl", broken), *cut], code=8)
    assert said["non_finite"] == 1 and said["next_token_loss"]["count"] == 5
    with h5py.File(tmp_path / "a.h5") as file, h5py.File(tmp_path / "clean.h5") as other:
        assert np.isnan(file["sequences/delta_loss"][3, 0, 1]) and np.isnan(file["sequences/next_token_loss"][3])
        kept = np.delete(file["sequences/delta_loss"][:], 3, axis=0)
        assert np.array_equal(kept, other["sequences/delta_loss"][:], equal_nan=True)
        assert file["delta_loss"][0, 0, 1] == other["delta_loss"][0, 0, 1]
    # Nor do its gradients, and heads are taken away in the same order.
    arguments = ["--mode", "gradient"], ["--top", "3", "--cumulative", "2"]
    for i, chosen in enumerate(arguments):
        ablate(tmp_path / "bad", tmp_path / f"clean{i}.h5", *chosen, cut=["--data", tmp_path / "clean.jsonl", *cut])
        ablate(tmp_path / "bad", tmp_path / f"a{i}.h5", *chosen, cut=["--data", tmp_path / "d.jsonl", *cut], code=8)
    with h5py.File(tmp_path / "a0.h5") as file, h5py.File(tmp_path / "clean0.h5") as other:
        assert np.isnan(file["sequences/gradient"][3]).all() and np.isfinite(other["importance"][0]).any()
        assert np.array_equal(np.delete(file["sequences/gradient"][:], 3, axis=0), other["sequences/gradient"][:], equal_nan=True)
        assert np.array_equal(file["importance"][0], other["importance"][0], equal_nan=True)
    with h5py.File(tmp_path / "a1.h5") as file, h5py.File(tmp_path / "clean1.h5") as other:
        assert file["removed"][:].tolist() == other["removed"][:].tolist() and len(file["removed"]) == 2


def test_129_a_document_without_a_loss_is_none_that_an_interval_rests_on(command, documents, tmp_path):
    model = build(tmp_path / "m", *KINDS["v2"][:2], {}, 31)
    weights = {name: tensor.float() for name, tensor in model.weights.items()}
    weights["model.embed_tokens.weight"][52] = torch.inf
    C.save(tmp_path / "bad", model.config, weights)
    clean = [id % 52 for id in documents[0]]
    for name, all_documents, said in (("two", [clean, [52, *clean[:L - 1]]], "one document: no intervals"),
                                      ("three", [clean, clean[::-1], [52, *clean[:L - 1]]], "over 2 documents")):
        data = write_documents(tmp_path / f"{name}.jsonl", all_documents)
        outcome = command("ablate", tmp_path / "bad", "--data", data, "--field", "ids", "--length", str(L), "--heads", "L0.H1", "--device", "cpu",
                          "-o", tmp_path / f"{name}.h5")
        assert outcome.code == 8 and said in outcome.text, outcome


def test_the_file_says_that_a_bos_stands_before_each_sequence(command, tmp_path):
    for bos in (0, 1):
        outcome = command("ablate", ROOT / "assets" / "demo" / "bytes" / "softmax", "--data", ROOT / "assets" / "corpora" / "kjv.txt", "--split", "blank",
                          "--length", "16", "--sequences", "2", "--bos", "always" if bos else "never", "--heads", "L0.H1", "--device", "cpu",
                          "-o", tmp_path / f"{bos}.h5")
        assert outcome.code == 0, outcome
        with h5py.File(tmp_path / f"{bos}.h5") as file:
            assert (file.attrs["bos_added"], file.attrs["first_token_is_bos"]) == (bos, bos)
            assert file["sequences/token_id"][0, 0] == 256 if bos else file["sequences/token_id"][0, 0] < 256


# --- what readers and the command say


def test_figure_and_inspect_say_that_intervals_are_over_documents(ablate, command, llama, tmp_path):
    import re

    import pandas
    import scipy.stats
    from svg_figure import Figure

    out, mean, svg = tmp_path / "a.h5", tmp_path / "m.h5", tmp_path / "f.svg"
    ablate(llama[0], out, "--set", "L0.H0+L1.H1")
    ablate(llama[0], mean, "--mode", "mean")
    ablate(llama[0], tmp_path / "all.h5", "--heads", ",".join(f"L{layer}.H{head}" for layer in range(3) for head in range(4)), "--set", "L0.H0+L1.H1")
    # Of a set alone.
    outcome = command("figure", out, "importance", "-o", svg, "--data", tmp_path / "f.csv", "--force")
    assert outcome.code == 0 and "warning" not in outcome.errors, outcome
    table = pandas.read_csv(tmp_path / "f.csv", comment="#")
    with h5py.File(out) as file:
        together, error = file["set_delta_loss"][0, 0], file["set_delta_loss"][2, 0]
        half = scipy.stats.t.ppf(1 - 0.05 / 2, 2) * error
    assert table["series"].tolist() == ["delta_loss L0.H0+L1.H1"] and table["x"].tolist() == [together]
    assert table[["low", "high"]].to_numpy()[0] == pytest.approx([together - half, together + half], rel=1e-9)
    outcome = command("figure", tmp_path / "all.h5", "importance", "-o", svg, "--data", tmp_path / "f.csv", "--force")
    assert outcome.code == 0 and "warning" not in outcome.errors, outcome
    table, figure = pandas.read_csv(tmp_path / "f.csv", comment="#"), Figure(svg)
    with h5py.File(tmp_path / "all.h5") as file:
        change, error = file["delta_loss"][0], file["delta_loss"][2]
        half = scipy.stats.t.ppf(1 - 0.05 / 13 / 2, 2) * error
        listed = table[table["panel"] == "a"]
        assert len(listed) == 12
        for _, row in listed.iterrows():
            place = int(row["layer"]), int(row["head"])
            assert row["x"] == pytest.approx(change[place], rel=1e-12)
            assert [row["low"], row["high"]] == pytest.approx([change[place] - half[place], change[place] + half[place]], rel=1e-9)
        words = " ".join(figure.description.split())
        assert f"{5 * (L - 1)} predictions of 5 sequences" in words and "over 3 documents (what other documents of this kind would give)" in words
        assert "divided by the 13 changes that were measured (Bonferroni), of which 1 of several heads" in words
        assert re.search(r"below ±[\d.]+ nats a change would be seen in fewer than 80 of 100 cases", words)
        assert f"the loss of the model as it is: {file['next_token_loss'][0]:.4f} nats" in words
    two = command("figure", mean, tmp_path / "all.h5", "importance", "--width", "200mm", "-o", svg, "--force")
    assert two.code == 0 and "its mean over all sequences" in " ".join(Figure(svg).description.split()), two
    said = command("inspect", "--json", mean).json
    assert said["mode"] == "mean" and said["sequences"] == "5" and said["documents_used"] == "3" and len(said["plan_sha256"]) == 64
    assert "5 sequences of 3 documents" in command("inspect", mean).text


def test_what_the_self_check_found_is_said_again(ablate, command, llama, data, tmp_path):
    """It stays in files of runs and of loss changes: whoever opens them is told."""
    run, text, plan = tmp_path / "run.h5", tmp_path / "text.h5", tmp_path / "plan.h5"
    ids = ["--ids", "1,2,3,4,5,6,7,8", "--device", "cpu", "--json"]
    for words in (["analyze", llama[0], *ids, "-o", run], ["ablate", llama[0], *ids, "--heads", "L0.H0", "-o", text]):
        outcome = command(*words)
        assert outcome.code == 0 and outcome.json["self_check"]["violations"] == [], outcome
    assert ablate(llama[0], plan, "--heads", "L0.H0", "--set", "L0.H1+L1.H1")["self_check"]["violations"] == []
    found = ["L0.H0 row 3: its weights add to 1.5", "L1.H2 row 7: \x1b[31m"]
    for path, kind in ((run, "sinks"), (text, "importance"), (plan, "importance")):
        with h5py.File(path, "r+") as file:
            assert file.attrs["self_check"] == ""
            file.attrs["self_check"] = "\n".join(found)
        told = command("inspect", path)
        assert told.code == 0 and f"self-check   FAILED: {found[0]}\n" in told.text and "\x1b" not in told.text, told
        assert command("inspect", "--json", path).json["self_check"]["violations"] == found
        drawn = command("figure", path, kind, "-o", tmp_path / f"{path.stem}.svg", "--caption", "text")
        assert drawn.code == 0 and f"The self-check found wrong numbers: {found[0]}." in drawn.text, drawn
        with h5py.File(path, "r+") as file:  # as files were before this was kept
            del file.attrs["self_check"]
        assert command("inspect", "--json", path).json["self_check"]["violations"] == []
        with h5py.File(path, "r+") as file:
            file.attrs["self_check"] = "\n".join(found)
    words = ["ablate", llama[0], "--data", data, "--field", "ids", "--length", str(L), "--heads", "L0.H0", "--set", "L0.H1+L1.H1", "--device", "cpu", "-o", plan, "--json"]
    again = command(*words)  # the file is there: nothing to do
    assert again.code == 70 and again.json["nothing_to_do"] and again.json["self_check"]["violations"] == found, again
    assert f"warning: self-check: {found[0]}\n" in again.errors and "\x1b" not in again.errors, again


@pytest.mark.parametrize(("arguments", "code", "words"), [
    (["--heads", "L9.H0"], 2, ["L9.H0"]), (["--heads", "L0.H77"], 2, ["L0.H77"]), (["--set", "L0.H1+L0.H1"], 2, ["twice", "L0.H1"]),
    (["--top", "13"], 2, ["--top", "at most 12", "13"]), (["--cumulative", "3", "--heads", "L0.H0,L0.H1"], 2, ["--cumulative", "at most 2"]),
    (["--ids", "1,2"], 2, ["--ids", "one text"]), (["--text", "a"], 2, ["--text"]), (["--by-token"], 2, ["--by-token"]),
    (["--mode", "noise"], 2, ["--mode", "noise"]), (["--mode", "second-map"], 2, ["second map"]),
    (["--mode", "mean", "--what-if", "L0.H0:head=mean"], 2, ["head=mean"]), (["--mode", "gradient", "--dtype", "bfloat16"], 4, ["bfloat16"]),
    (["--length", "999"], 3, ["999"]),
])
def test_130_what_cannot_be_is_refused_before_anything_runs(command, data, llama, tmp_path, arguments, code, words):
    cut = ["--data", data, "--field", "ids", *([] if "--length" in arguments else ["--length", str(L)])]
    refused_both_ways(command, code, words, "ablate", llama[0], *cut, *arguments, "-o", tmp_path / "a.h5")
    assert not list(tmp_path.iterdir())


def test_131_plans_and_models_that_do_not_fit(command, data, llama, tmp_path):
    plan = tmp_path / "plan.h5"
    assert command("corpus", llama[0], "--data", data, "--field", "ids", "--length", str(L), "--plan-only", "-o", plan).code == 0
    C.headroom(tmp_path / "small", C.headroom_config("softmax", vocab_size=20), 3)
    refused_both_ways(command, 3, ["vocabulary", "0 to 19"], "ablate", tmp_path / "small", "--plan", plan, "-o", tmp_path / "a.h5")
    refused_both_ways(command, 2, ["--data", "--length"], "ablate", llama[0], "--data", data, "-o", tmp_path / "a.h5")
    refused_both_ways(command, 2, ["--plan"], "ablate", llama[0], "--plan", plan, "--length", "8", "-o", tmp_path / "a.h5")
    refused_both_ways(command, 2, ["--bos"], "ablate", llama[0], "--plan", plan, "--bos", "always", "-o", tmp_path / "a.h5")
    refused_both_ways(command, 5, ["none"], "ablate", llama[0], "--plan", plan, "-o", tmp_path / "none" / "a.h5")
    for option in (["--length", "8"], ["--sequences", "2"], ["--pack", "concat"]):
        refused_both_ways(command, 2, [option[0], "--data"], "ablate", llama[0], "--ids", "1,2,3", *option, "-o", tmp_path / "a.h5")
    for option in (["--top", "2"], ["--cumulative", "2"], ["--mode", "gradient"], ["--batch-tokens", "9"], ["--bootstrap-seed", "4"]):
        refused_both_ways(command, 2, [option[0], "plan"], "ablate", llama[0], "--ids", "1,2,3", *option, "-o", tmp_path / "a.h5")
    experts = families.case("mixtral", L, num_local_experts=4, num_experts_per_tok=2)
    families.write(tmp_path / "experts", experts, 3)
    refused_both_ways(command, 4, ["gradients", "experts"], "ablate", tmp_path / "experts", "--plan", plan, "--mode", "gradient", "-o", tmp_path / "a.h5")
    bert = families.case("bert", **families.ENCODER)
    families.write(tmp_path / "bert", bert, 3)
    refused_both_ways(command, 2, ["next token"], "ablate", tmp_path / "bert", "--plan", plan, "-o", tmp_path / "a.h5")
    assert not [path for path in tmp_path.iterdir() if "a.h5" in path.name]


# --- SmolLM2


def test_golden_of_licences(program, run_program, demo_gguf, tmp_path):
    """Means and standard errors of transformers' own forward in float64 with hooks, on the first sequence of each of eight licences."""
    expected = {"zero": {(18, 8): (-0.024733, 0.007405), (25, 4): (0.020297, 0.010995)},
                "mean": {(18, 8): (0.000075, 0.000129), (25, 4): (0.011052, 0.007860)}}
    for mode, heads in expected.items():
        done = run_program([str(program), "ablate", str(demo_gguf), "--data", str(LICENCES), "--field", "ids", "--length", "128", "--sequences", "8",
                            "--mode", mode, "--heads", ",".join(f"L{layer}.H{head}" for layer, head in heads), "-o", str(tmp_path / f"{mode}.h5"),
                            "--device", "cpu", "--json"], text=True, timeout=900)
        assert done.returncode == 0, done
        with h5py.File(tmp_path / f"{mode}.h5") as file:
            first = file["sequences/next_token_loss"][:]
            assert first == pytest.approx([2.917601, 2.240975, 2.780087, 2.875446, 3.358343, 3.445527, 3.202956, 2.707315], abs=2e-5)
            layers = file["layer"][:].tolist()
            for (layer, head), (mean, error) in heads.items():
                stored = file["delta_loss"][:, layers.index(layer), head]
                assert stored[0] == pytest.approx(mean, abs=2e-5) and stored[2] == pytest.approx(error, abs=2e-5)
