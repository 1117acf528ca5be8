"""Captures: calls of transformers' models against the model's own contexts and against the formula, a family against itself,
pairs against the headroom folder, batches, decode steps, and what is refused."""
import json
import struct

import h5py
import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import captures
import captured
import checkpoints
import headroom

IMPLEMENTATIONS = ("eager", "sdpa")


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


def record(path, name, implementation, dtype=torch.float32):
    model, inputs = captures.model_of(name, implementation, dtype)
    with torch.no_grad(), headroom.capture(path):
        model(**inputs)
    return captured.read(path)


def run(command, path, out, *arguments, code=0):
    result = command("analyze", path, "-o", out, "--device", "cpu", *arguments)
    assert result.code == code, str(result)
    return result


def seen_in(call):
    """[n, m]; heads see the same keys in all of these models."""
    seen = captured.visible(call)
    if "mask" in call:
        mask = call["mask"] if call["mask"].dtype == bool else np.isfinite(call["mask"])
        mask = mask if mask.ndim == 3 else mask[None]
        assert (mask == mask[0]).all()
        seen = seen & mask[0]
    return seen


def rows_of(file, name, layer, n):
    return file[name][layer][..., :n]


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@pytest.mark.parametrize("name", captures.CASES)
def test_every_call_equals_the_models_context(command, tmp_path, name, implementation):
    path = tmp_path / "a.safetensors"
    _, calls = record(path, name, implementation)
    assert [(c["q"].shape[1], c["k"].shape[1]) for c in calls] == captures.SHAPES[name]
    told = run(command, path, tmp_path / "a.h5")
    assert "warning" not in told.text.lower() and not told.err and "largest difference" in told.text
    with h5py.File(tmp_path / "a.h5") as file:
        assert [text.decode() for text in file["calls/name"][()]] == [c["name"] for c in calls]
        assert list(zip(file["calls/queries"][()].tolist(), file["calls/keys"][()].tolist())) == captures.SHAPES[name]
        difference = file["calls/context_difference"][()]
        assert difference.shape == (len(calls), 4) and np.isfinite(difference).all() and difference.max() < 1e-5


@pytest.mark.parametrize("name", captures.CASES)
def test_maps_and_rows_are_those_of_the_formula(command, tmp_path, name):
    """In float64, on the numbers that the file holds: maps, contexts, statistics of rows and keys, entry by entry."""
    path = tmp_path / "a.safetensors"
    _, calls = record(path, name, "eager")
    run(command, path, tmp_path / "a.h5", "--dtype", "float64", "--exact-maps")
    with h5py.File(tmp_path / "a.h5") as file:
        for layer, call in enumerate(calls):
            n, m = call["q"].shape[1], call["k"].shape[1]
            a, c = captured.weights(call), captured.context(call)
            seen = seen_in(call)
            np.testing.assert_allclose(file["exact/weights"][layer, :, 0, :n, :m], a, atol=1e-12)
            np.testing.assert_allclose(file["exact/contexts"][layer, :, :n, :c.shape[2]], c, atol=1e-12)
            np.testing.assert_allclose(rows_of(file, "rows/weight_l2", layer, n), np.linalg.norm(a, axis=-1), atol=1e-12)
            np.testing.assert_allclose(rows_of(file, "rows/context_rms", layer, n), np.sqrt((c**2).mean(-1)), atol=1e-12)
            np.testing.assert_allclose(rows_of(file, "rows/weight_max", layer, n)[:, 0], a.max(-1), atol=1e-12)
            entropy = -(a * np.log(np.where(a > 0, a, 1))).sum(-1)
            np.testing.assert_allclose(rows_of(file, "rows/entropy", layer, n)[:, 0], entropy, atol=1e-11)
            received = a.sum(1) / seen.sum(0)
            np.testing.assert_allclose(rows_of(file, "keys/attention_received", layer, m)[:, 0], received, atol=1e-12)
            np.testing.assert_array_equal(rows_of(file, "tokens/visible_keys", layer, n), seen.sum(1))
            assert np.isnan(rows_of(file, "rows/lse", layer, None)[..., n:]).all()
            assert np.isnan(rows_of(file, "keys/attention_received", layer, None)[..., m:]).all()
            np.testing.assert_allclose(rows_of(file, "keys/key_norm", layer, m)[:call["k"].shape[0]], np.linalg.norm(call["k"], axis=-1), atol=1e-11)
            places = np.arange(n)[:, None] + call.get("first_query", 0)
            distance = (a * np.abs(places - np.arange(m))).sum(-1).mean(-1)
            own = call["causal"] or n == m
            np.testing.assert_allclose(file["mean_distance"][layer, :, 0], distance if own else np.full(4, np.nan), atol=1e-10)


def head_statistics(file, names):
    return {name: file[name][()] for name in names}


COMPARED = ["sink_score", "logit_max", "logit_min", "entropy_mean", "effective_keys_mean", "weight_l2_mean", "context_rms_mean", "value_drain",
            "value_mean_share", "previous_token_score", "self_score", "mean_distance", "induction_score", "top_sink_score", "top_key_mass",
            "coherence_mean", "context_rms_relative_mean", "rows/lse", "rows/weight_l2", "rows/context_rms", "keys/attention_received",
            "keys/key_norm", "keys/value_norm", "lambda_mean", "weight_cancellation_mean", "negative_mass_mean", "map_cosine_mean"]


def check_same(one, other, tolerance=1e-6):
    with h5py.File(one) as a, h5py.File(other) as b:
        for name in COMPARED:
            x, y = a[name][()], b[name][()]
            np.testing.assert_array_equal(np.isnan(x), np.isnan(y), err_msg=name)
            scale = max(1.0, np.nanmax(np.abs(x))) if np.isfinite(x).any() else 1.0
            np.testing.assert_allclose(x, y, atol=tolerance * scale, rtol=0, err_msg=name)


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_a_family_says_the_same_through_a_capture(command, analyze, tmp_path, implementation):
    model, inputs = captures.model_of("llama", implementation, torch.float64)
    with torch.no_grad(), headroom.capture(tmp_path / "a.safetensors"):
        model(**inputs)
    (tmp_path / "model").mkdir()
    save_file({key: value.contiguous() for key, value in model.state_dict().items() if "rotary" not in key}, tmp_path / "model" / "model.safetensors")
    config = model.config.to_dict()
    (tmp_path / "model" / "config.json").write_text(json.dumps({k: v for k, v in config.items() if isinstance(v, (int, float, str, bool, dict, list))}))
    run(command, tmp_path / "a.safetensors", tmp_path / "a.h5", "--dtype", "float64")
    analyze(tmp_path / "model", inputs["input_ids"][0].tolist(), tmp_path / "b.h5", "--dtype", "float64")
    check_same(tmp_path / "a.h5", tmp_path / "b.h5")


class DiffV2(torch.nn.Module):
    """The attention of a headroom folder of kind diff_v2, from its equations: pairs of adjacent query heads, λ = σ(W_λ x), no position."""

    def __init__(self, weights, layer, config):
        super().__init__()
        prefix = f"model.layers.{layer}."
        self.width = config["head_dim"]
        self.weights = {k[len(prefix):]: v.double() for k, v in weights.items() if k.startswith(prefix)}
        self.lambda_proj = torch.nn.Linear(1, 1, bias=False, dtype=torch.float64)
        self.lambda_proj.weight = torch.nn.Parameter(self.weights["self_attn.lambda_proj.weight"])

    def forward(self, x):
        def heads(name):
            return (x @ self.weights[f"self_attn.{name}.weight"].T).unflatten(-1, (-1, self.width)).transpose(1, 2)
        q, k, v = heads("q_proj"), heads("k_proj"), heads("v_proj")
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        c = y[:, 0::2] - torch.sigmoid(self.lambda_proj(x)).transpose(1, 2).unsqueeze(-1) * y[:, 1::2]
        return c.transpose(1, 2).flatten(2) @ self.weights["self_attn.o_proj.weight"].T


class OneLayer(torch.nn.Module):
    def __init__(self, weights, config):
        super().__init__()
        self.config, self.weights = config, weights
        self.embed_tokens = torch.nn.Embedding.from_pretrained(weights["model.embed_tokens.weight"].double())
        self.attn = DiffV2(weights, 0, config)

    def forward(self, ids):
        h = self.embed_tokens(ids)
        norm = self.weights["model.layers.0.input_layernorm.weight"].double()
        return self.attn(norm * h / torch.sqrt((h * h).mean(-1, keepdim=True) + self.config["rms_norm_eps"]))


def test_pairs_of_a_module_are_those_of_the_headroom_folder(command, analyze, tmp_path):
    config = checkpoints.headroom_config("diff_v2", num_hidden_layers=1, position="none")
    checkpoints.headroom(tmp_path / "model", config, 5, torch.float64)
    weights = load_file(tmp_path / "model" / "model.safetensors")
    ids = captures.ids(29, config["vocab_size"], 8)
    with torch.no_grad(), headroom.capture(tmp_path / "a.safetensors") as rec:
        rec.pairs("attn", kind="diff_v2", lambda_from="lambda_proj")
        OneLayer(weights, config)(ids)
    run(command, tmp_path / "a.safetensors", tmp_path / "a.h5", "--dtype", "float64")
    analyze(tmp_path / "model", ids[0].tolist(), tmp_path / "b.h5", "--dtype", "float64")
    check_same(tmp_path / "a.h5", tmp_path / "b.h5")
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["calls/context_difference"][()].max() < 1e-12


def test_a_sequence_of_a_batch_is_chosen_by_its_address(command, tmp_path):
    model, _ = captures.model_of("llama", "sdpa")
    ids = captures.ids(12, batch=3)
    with torch.no_grad(), headroom.capture(tmp_path / "all.safetensors"):
        model(input_ids=ids)
    for s in range(3):
        with torch.no_grad(), headroom.capture(tmp_path / f"{s}.safetensors"):
            model(input_ids=ids[s:s + 1])
        told = run(command, f"{tmp_path}/all.safetensors::S{s}", tmp_path / f"all{s}.h5")
        assert f"sequence {s} of 3" in told.text
        run(command, tmp_path / f"{s}.safetensors", tmp_path / f"{s}.h5")
        check_same(tmp_path / f"all{s}.h5", tmp_path / f"{s}.h5", 1e-5)
        with h5py.File(tmp_path / f"all{s}.h5") as file:
            np.testing.assert_array_equal(file["tokens/token_id"][()], ids[s].numpy())
    assert "sequence 0 of 3" in run(command, tmp_path / "all.safetensors", tmp_path / "default.h5").text
    refused = command("analyze", f"{tmp_path}/all.safetensors::S3", "-o", tmp_path / "no.h5")
    assert refused.code == 2 and "no such sequence" in refused.errors


def test_generated_tokens_are_one_call_of_each_layer(command, tmp_path):
    model, inputs = captures.model_of("llama", "sdpa")
    with torch.no_grad(), headroom.capture(tmp_path / "a.safetensors"):
        out = model.generate(**inputs, max_new_tokens=6, do_sample=False, eos_token_id=None, pad_token_id=0)
    with torch.no_grad(), headroom.capture(tmp_path / "b.safetensors"):
        model(input_ids=out[:, :-1])
    for name in "ab":
        run(command, tmp_path / f"{name}.safetensors", tmp_path / f"{name}.h5")
    check_same(tmp_path / "a.h5", tmp_path / "b.h5", 1e-5)


@pytest.mark.parametrize("change, name", [("second-map=off", "second map"), ("hide-key=0,3", "hide"), ("temperature=2", "T")])
def test_what_ifs_of_a_head_need_no_weights(command, tmp_path, change, name):
    record(tmp_path / "a.safetensors", "whisper", "sdpa")
    code = 2 if change.startswith("second") else 0
    result = command("analyze", tmp_path / "a.safetensors", "-o", tmp_path / "b.h5", "--what-if", change)
    assert result.code == code, str(result)
    if code:
        assert "no second map" in result.errors
        return
    with h5py.File(tmp_path / "b.h5") as file:
        if change.startswith("hide"):
            assert np.isnan(file["keys/attention_received"][3, :, 0, [0, 3]]).all()


@pytest.mark.parametrize("name", captures.CASES)
def test_the_premise_of_calls_is_of_their_values(command, tmp_path, name):
    path = tmp_path / "a.safetensors"
    _, calls = record(path, name, "eager")
    run(command, path, tmp_path / "a.h5", "--premise", "--dtype", "float64")
    with h5py.File(tmp_path / "a.h5") as file:
        for l, call in enumerate(calls):
            heads, n, seen = call["q"].shape[0], call["q"].shape[1], seen_in(call)
            for h in range(heads):
                v = np.asarray(call["v"][h * call["v"].shape[0] // heads], float)
                gram = v @ v.T
                if len(v) > 1:
                    wanted = (gram.sum() - np.trace(gram)) / ((len(v) - 1) * np.trace(gram))
                    assert file["value_correlation"][l, h] == pytest.approx(wanted, rel=1e-6, abs=1e-9), (l, h)
                uniform = np.sqrt((((seen @ v) / seen.sum(axis=1)[:, None]) ** 2).mean(axis=1) / (seen @ (v**2).mean(axis=1) / seen.sum(axis=1)))
                assert np.allclose(rows_of(file["rows"], "uniform_rms_relative", l, n)[h], uniform, rtol=1e-6), (l, h)
                assert 0.001 <= file["sign_p"][l, h].min() and file["sign_p"][l, h].max() <= 1
                # A capture has no W_O.
                assert np.isnan(file["output_cosine_mean"][l, h])


def test_inspect_lists_the_calls(command, tmp_path):
    _, calls = record(tmp_path / "a.safetensors", "t5", "eager")
    told = command("inspect", tmp_path / "a.safetensors")
    assert told.code == 0 and all(c["name"] in told.text for c in calls) and "additive mask" in told.text
    said = command("inspect", "--json", tmp_path / "a.safetensors").json
    assert [(c["queries"], c["keys"]) for c in said["calls"]] == captures.SHAPES["t5"]


def test_the_package_opens_what_the_program_writes(program, monkeypatch, tmp_path):
    monkeypatch.setenv("HEADROOM", str(program))
    record(tmp_path / "a.safetensors", "bert", "sdpa")
    run_of = headroom.analyze(tmp_path / "a.safetensors", layers="1")
    assert run_of.sizes["layer"] == 1 and run_of["rows/lse"].dims == ("layer", "head", "component", "position")
    run_of = headroom.analyze(tmp_path / "a.safetensors", tmp_path / "a.h5", what_if="temperature=3")
    assert float(headroom.open(tmp_path / "a.h5")["program/temperature"][0, 0]) == 3.0
    run_of.close()
    with pytest.raises(RuntimeError, match="no such file|does not exist|cannot|No such"):
        headroom.analyze(tmp_path / "none.safetensors")


# What is refused, a sentence each.

Q, K, V = torch.randn(2, 5, 4), torch.randn(1, 7, 4), torch.randn(1, 7, 3)


def write(path, tensors=None, calls="[{}]", **metadata):
    tensors = {"calls.0.q": Q, "calls.0.k": K, "calls.0.v": V} if tensors is None else tensors
    save_file({key: value.clone() for key, value in tensors.items()}, path, {"format": "headroom-capture", "version": "1", "calls": calls, **metadata})


def changed(**tensors):
    given = {"q": Q, "k": K, "v": V, **tensors}
    return {f"calls.0.{key}": value for key, value in given.items() if value is not None}


HOSTILE = {
    "version": (lambda p: write(p, version="2"), 4, "another version"),
    "no calls": (lambda p: write(p, calls="[]"), 3, "has no call"),
    "not json": (lambda p: write(p, calls="[{]"), 3, "is no JSON"),
    "no list": (lambda p: write(p, calls="{}"), 3, "no JSON array"),
    "deep": (lambda p: write(p, calls="[" * 100000), 3, "is no JSON"),
    "a million calls": (lambda p: write(p, calls="[" + ",".join(["{}"] * 10**6) + "]"), 3, "too many calls"),
    "a call too many": (lambda p: write(p, calls="[{},{}]"), 3, "lacks a tensor"),
    "no object": (lambda p: write(p, calls="[3]"), 3, "no JSON object"),
    "unknown key": (lambda p: write(p, calls='[{"alibi": 1}]'), 4, "does not know"),
    "unknown kind": (lambda p: write(p, calls='[{"kind": "linear"}]'), 4, "does not know"),
    "text": (lambda p: write(p, calls='[{"causal": "yes"}]'), 3, "neither true nor false"),
    "scale": (lambda p: write(p, calls='[{"scale": -1}]'), 3, "no number above 0"),
    "window": (lambda p: write(p, calls='[{"window": 0}]'), 3, "no whole number above 0"),
    "first_query": (lambda p: write(p, calls='[{"causal": true, "first_query": 1e30}]'), 3, "no whole number"),
    "missing": (lambda p: write(p, changed(v=None)), 3, "lacks a tensor"),
    "axes": (lambda p: write(p, changed(k=torch.randn(7, 4))), 3, "not three axes"),
    "channels": (lambda p: write(p, changed(k=torch.randn(1, 7, 5))), 3, "not as many channels"),
    "values": (lambda p: write(p, changed(v=torch.randn(1, 6, 3))), 3, "not as many values as keys"),
    "heads": (lambda p: write(p, changed(k=torch.randn(3, 7, 4), v=torch.randn(3, 7, 3))), 3, "do not divide"),
    "integers": (lambda p: write(p, changed(q=torch.ones(2, 5, 4, dtype=torch.int64))), 4, "a type that it cannot have"),
    "mask": (lambda p: write(p, changed(mask=torch.ones(5, 6, dtype=torch.bool))), 3, "does not fit"),
    "blind row": (lambda p: write(p, changed(mask=torch.zeros(5, 7, dtype=torch.bool))), 3, "sees no key"),
    "before": (lambda p: write(p, calls='[{"causal": true, "first_query": -2}]'), 3, "see no key"),
    "sink": (lambda p: write(p, calls='[{"kind": "softmax_sink"}]'), 3, "lacks what its kind needs"),
    "lambda": (lambda p: write(p, calls='[{"kind": "diff_v2"}]'), 3, "lacks what its kind needs"),
    "pairs": (lambda p: write(p, changed(q=torch.randn(3, 5, 4)), calls='[{"kind": "diff_v2"}]'), 3, "form no pairs"),
    "empty": (lambda p: write(p, changed(q=torch.randn(2, 0, 4))), 3, "no elements"),
    "texts": (lambda p: write(p, token_texts="[1]"), 3, "is no text"),
    "ids and texts": (lambda p: write(p, {**changed(), "token_ids": torch.arange(5)}, token_texts='["a"]'), 3, "not as many texts"),
    "batch": (lambda p: write(p, changed(q=Q[None].repeat(2, 1, 1, 1))), 3, "batch axis"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_capture_gets_one_sentence(command, tmp_path, name):
    make, code, sentence = HOSTILE[name]
    make(tmp_path / "a.safetensors")
    result = command("analyze", tmp_path / "a.safetensors", "-o", tmp_path / "a.h5")
    assert result.code == code, str(result)
    assert sentence in result.errors, result.errors
    assert [line for line in result.errors.splitlines() if not line.startswith(("hint:", "warning:"))].__len__() == 1
    assert not (tmp_path / "a.h5").exists()


def test_nan_is_counted_and_reaches_what_is_made_of_it(command, tmp_path):
    key = K.clone()
    key[0, 3, 1] = float("nan")
    write(tmp_path / "a.safetensors", changed(k=key), calls='[{"causal": true}]')
    result = command("analyze", tmp_path / "a.safetensors", "-o", tmp_path / "a.h5")
    assert result.code == 8 and "calls.0.k: 1 NaN among 28 values" in result.errors
    with h5py.File(tmp_path / "a.h5") as file:
        lse = file["rows/lse"][0, :, 0, :5]
        # Row i stands at i + 2 and sees key 3 from row 1 on.
        assert np.isfinite(lse[:, 0]).all() and np.isnan(lse[:, 1:]).all()


def test_a_wrong_context_marks_its_head(command, tmp_path):
    call = {"q": Q.double().numpy(), "k": K.double().numpy(), "v": V.double().numpy(), "causal": False, "scale": 0.5}
    context = torch.tensor(captured.context(call), dtype=torch.float32)
    context[1, 2] += 0.05
    write(tmp_path / "a.safetensors", changed(context=context))
    result = run(command, tmp_path / "a.safetensors", tmp_path / "a.h5")
    assert "warning: call 0, head 1: the context differs" in result.text and "head 0: the context differs" not in result.text


def test_a_prompt_is_for_checkpoints(command, tmp_path):
    write(tmp_path / "a.safetensors")
    for option in (["--text", "a"], ["--ids", "1,2"], ["--max-tokens", "3"]):
        result = command("analyze", tmp_path / "a.safetensors", "-o", tmp_path / "a.h5", *option)
        assert result.code == 2 and "a capture is of one prompt" in result.errors
    result = command("analyze", tmp_path / "a.safetensors", "-o", tmp_path / "a.h5", "--hidden")
    assert result.code == 2 and "no residual stream" in result.errors


def test_backends_that_read_no_dense_mask_say_so(command, tmp_path):
    write(tmp_path / "a.safetensors", changed(mask=torch.ones(5, 7, dtype=torch.bool)))
    result = command("analyze", tmp_path / "a.safetensors", "-o", tmp_path / "a.h5", "--backend", "cpu")
    assert result.code == 2 and "reads no mask that is given entry by entry" in result.errors
    assert "backend auto: blocked" in run(command, tmp_path / "a.safetensors", tmp_path / "a.h5").text


def test_bytes_of_the_file_that_are_cut_off_are_refused(command, tmp_path):
    write(tmp_path / "a.safetensors")
    whole = (tmp_path / "a.safetensors").read_bytes()
    size = struct.unpack("<Q", whole[:8])[0]
    for end in (4, 8 + size // 2, 8 + size, len(whole) - 1):
        (tmp_path / "b.safetensors").write_bytes(whole[:end])
        assert command("analyze", tmp_path / "b.safetensors", "-o", tmp_path / "b.h5").code == 3


def test_calls_of_every_kind_and_size_stand_beside_each_other(command, tmp_path):
    """Calls with other heads, channels and lengths than their neighbours: what one lacks is absent, the rest is its own."""
    g = torch.Generator().manual_seed(21)

    def normal(*shape):
        return torch.randn(*shape, generator=g, dtype=torch.float64)

    described = [{"name": "one", "kind": "softmax_one"}, {"kind": "softmax_sink", "causal": True, "first_query": -2},
                 {"kind": "gated", "window": 3, "first_query": 2, "softcap": 2.5}, {"kind": "diff_v1", "causal": True}, {"kind": "diff_v2", "pairing": "halves"}]
    tensors = [{"q": normal(2, 5, 4), "k": normal(1, 8, 4), "v": normal(1, 8, 3)},
               {"q": normal(3, 7, 6), "k": normal(3, 5, 6), "v": normal(3, 5, 2), "sink": normal(3)},
               {"q": normal(4, 6, 5), "k": normal(2, 9, 5), "v": normal(2, 9, 5), "gate": torch.sigmoid(normal(4, 6, 5))},
               {"q": normal(4, 6, 5), "k": normal(4, 6, 5), "v": normal(2, 6, 10), "lambda": normal(2)},
               {"q": normal(4, 6, 5), "k": normal(4, 7, 5), "v": normal(4, 7, 2), "lambda": torch.sigmoid(normal(2, 6))}]
    write(tmp_path / "a.safetensors", {f"calls.{i}.{k}": v for i, call in enumerate(tensors) for k, v in call.items()}, json.dumps(described))
    for backend, bound in (("auto", 1e-12), ("cpu", 2e-6), ("blocked", 1e-12), ("reference", 1e-12)):
        dtype = "float32" if backend == "cpu" else "float64"
        run(command, tmp_path / "a.safetensors", tmp_path / f"{backend}.h5", "--dtype", dtype, "--backend", backend, "--exact-maps")
        with h5py.File(tmp_path / f"{backend}.h5") as file:
            assert file["calls/name"][()].tolist() == [b"one", b"call 1", b"call 2", b"call 3", b"call 4"]
            assert file["calls/heads"][()].tolist() == [2, 3, 4, 2, 2]
            for layer, (given, of) in enumerate(zip(tensors, described)):
                call = {**{k: v.numpy() for k, v in given.items()}, "scale": given["q"].shape[2] ** -0.5, "causal": False, "first_query": 0, **of}
                if of["kind"] == "diff_v1":
                    call["first_query"] = 0
                if of["kind"] == "softmax_one":
                    call["sink"] = np.zeros(2)
                n, m = call["q"].shape[1], call["k"].shape[1]
                a = captured.weights(call)
                if of["kind"] == "diff_v1":
                    wide = np.repeat(call["v"], 2, 0)  # of both maps of a pair
                    c = a[0::2] @ wide[0::2] - call["lambda"][:, None, None] * (a[1::2] @ wide[1::2])
                else:
                    c = captured.context(call)
                heads = c.shape[0]
                first = a[0::2] if of["kind"] == "diff_v1" else a[:heads]
                np.testing.assert_allclose(file["exact/weights"][layer, :heads, 0, :n, :m], first, atol=bound)
                np.testing.assert_allclose(file["exact/contexts"][layer, :heads, :n, :c.shape[2]], c, atol=4 * bound)
                np.testing.assert_allclose(file["rows/context_rms"][layer, :heads, :n], np.sqrt((c**2).mean(-1)), atol=4 * bound)
                assert np.isnan(file["sink_score"][layer, heads:]).all() and (file["kv_head"][layer, heads:] == -1).all()
                if "gate" in call:
                    np.testing.assert_allclose(file["rows/gate_mean"][layer, :heads, :n], call["gate"].mean(-1), atol=1e-6)
            # Rows 0 and 1 of the second call stand before its first key: the sink takes them.
            assert file["tokens/visible_keys"][1, :7].tolist() == [0, 0, 1, 2, 3, 4, 5]
