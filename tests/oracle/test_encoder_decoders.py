"""Encoder-decoders against transformers: both streams, logits, the maps of encoder, decoder and cross-attention, and every statistic against
that of the same calls through a capture."""
import dataclasses

import h5py
import numpy as np
import pytest
import torch

import encoder_decoders

RUNS = ((1, "float64"), (2, "float32"))  # other weights and tokens each
BOUNDS = {"float64": 1e-9, "float32": 2e-4}
OF_A_MODEL = ("weights/", "program/", "calls/name", "calls/context_difference", "calls/key_token", "calls/row_tokens", "calls/key_tokens",
              "calls/dense_mask", "induction_score", "hidden/", "tokens/token", "tokens/is_special")


def token_ids(n, seed):
    return torch.randint(3, 53, (n,), generator=torch.Generator().manual_seed(seed)).tolist()


WORST = {"hidden": 0.0, "statistic": 0.0}  # the largest error of the scale since it was looked at


def near(name, value, wanted, bound):
    value, wanted = np.asarray(value, float), np.asarray(wanted, float)
    assert value.shape == wanted.shape, (name, value.shape, wanted.shape)
    np.testing.assert_array_equal(np.isnan(value), np.isnan(wanted), err_msg=name)
    scale = max(1.0, np.nanmax(np.abs(wanted))) if np.isfinite(wanted).any() else 1.0
    np.testing.assert_allclose(value, wanted, rtol=0, atol=bound * scale, err_msg=name)
    group = "hidden" if name.startswith(("residual", "logits")) else "statistic"
    finite = np.isfinite(value) & np.isfinite(wanted)
    WORST[group] = max(WORST[group], float(np.abs(value - wanted)[finite].max(initial=0.0)) / scale)


def datasets(file):
    found = {}
    file.visititems(lambda name, item: found.update({name: item}) if isinstance(item, h5py.Dataset) else None)
    return found


def check_statistics(model, capture, bound):
    """Every dataset that both files have, but for what only one of them knows; a bias by distance is a mask there, behind the products."""
    with h5py.File(model) as a, h5py.File(capture) as b:
        ours, theirs = datasets(a), datasets(b)
        assert set(theirs) <= set(ours)
        compared = 0
        for name, item in theirs.items():
            if name.startswith(OF_A_MODEL) or item.dtype.kind == "O":
                continue
            if name == "logit_max_raw" and a["calls/dense_mask"][()].sum() != b["calls/dense_mask"][()].sum():
                near(name, ours[name][..., 0], ours["logit_max"][..., 0], bound)
                continue
            if name.startswith("hist/") or item.dtype.kind in "iu" and bound > 1e-8:
                continue  # counts move across an edge
            value, wanted = ours[name][()], item[()]
            if item.dtype.kind in "iu":
                np.testing.assert_array_equal(value, wanted, err_msg=name)
            else:
                near(name, value, wanted, bound)
            compared += 1
        assert compared > (60 if bound > 1e-8 else 70)


def induction(a, tokens):
    """The mean weight of the key behind the latest earlier occurrence of the row's token; NaN where no row has one."""
    places = [(i, max(p for p in range(i) if tokens[p] == token) + 1) for i, token in enumerate(tokens) if token in tokens[:i]]
    return np.mean([a[:, i, key] for i, key in places], axis=0) if places else np.full(len(a), np.nan)


def check_maps(path, maps, source, target, bound):
    """Of transformers' weights: entropy, norms and sums by their formulas, rows and keys where they belong."""
    with h5py.File(path) as file:
        for layer, a in enumerate(maps):
            heads, n, m = a.shape
            a = a.numpy()
            near("exact/weights", file["exact/weights"][layer, :heads, 0, :n, :m], a, bound)
            near("rows/entropy", file["rows/entropy"][layer, :heads, 0, :n], -(a * np.log(np.where(a > 0, a, 1))).sum(-1), 10 * bound)
            near("rows/weight_l2", file["rows/weight_l2"][layer, :heads, :n], np.linalg.norm(a, axis=-1), bound)
            seen = np.tri(n) if n == m and not a[:, 0, 1:].any() else np.ones((n, m))
            near("received", file["keys/attention_received"][layer, :heads, 0, :m], a.sum(1) / seen.sum(0), bound)
            np.testing.assert_array_equal(file["tokens/visible_keys"][layer, :n], seen.sum(1))
            for name, end in (("rows/lse", n), ("keys/attention_received", m)):
                assert np.isnan(file[name][layer][..., end:]).all() and np.isnan(file[name][layer, heads:]).all()
            own = file["calls/row_tokens"][layer] == file["calls/key_tokens"][layer]
            assert np.isnan(file["mean_distance"][layer, :heads, 0]).all() == (not own)
            near("induction", file["induction_score"][layer, :heads, 0], induction(a, target if n == m and len(seen) and not seen[0, 1:].any() else []), bound)
        np.testing.assert_array_equal(file["tokens/token_id"][:len(target)], target)
        np.testing.assert_array_equal(file["calls/key_token_id"][:len(source)], source)
        assert (file["tokens/token_id"][len(target):] == -1).all() and (file["calls/key_token_id"][len(source):] == -1).all()


def check_streams(path, residual, logits, source, target, bound):
    with h5py.File(path) as file:
        assert len(residual) == file["hidden/residual"].shape[0]
        for boundary, x in enumerate(residual):
            near(f"residual {boundary}", file["hidden/residual"][boundary, :len(x)], x.numpy(), bound)
            assert np.isnan(file["hidden/residual"][boundary, len(x):]).all()
            top = file["hidden/residual_top"][boundary]
            near("largest", np.abs(top[0, 2]), np.abs(x.numpy()).max(), bound)
        near("logits", file["hidden/logits"][:len(target)], logits.numpy(), bound)
        loss = torch.nn.functional.cross_entropy(logits[:-1], torch.tensor(target[1:])).item()
        assert abs(float(file.attrs["next_token_loss"]) - loss) <= 10 * bound
        assert np.isnan(file["sink_null"][()])


@pytest.mark.parametrize(("seed", "dtype"), RUNS)
@pytest.mark.parametrize("case", encoder_decoders.CASES, ids=lambda case: case.name.replace(" ", "_"))
def test_family(analyze, command, tmp_path, parity, case, seed, dtype):
    weights = encoder_decoders.write(tmp_path / "model", case, 100 * seed + len(case.name))
    source, target = token_ids(23, seed), token_ids(11 + 4 * seed, seed + 7)
    residual, logits, maps = encoder_decoders.run(case, weights, source, target, tmp_path / "calls.safetensors")
    bound = BOUNDS[dtype]
    WORST.update(dict.fromkeys(WORST, 0.0))
    out = tmp_path / "run.h5"
    told = analyze(tmp_path / "model", source, out, "--target-ids", ",".join(map(str, target)), "--dtype", dtype, "--hidden",
                   "--exact-maps", "--maps", "5")
    assert "warning" not in (told.stdout + told.stderr).lower(), told.stdout + told.stderr
    check_streams(out, residual, logits, source, target, bound)
    check_maps(out, maps, source, target, bound)
    with h5py.File(out) as file:
        assert [name.decode() for name in file["calls/name"][()]] == encoder_decoders.names(case)
    captured = command("analyze", tmp_path / "calls.safetensors", "-o", tmp_path / "calls.h5", "--dtype", dtype, "--maps", "5",
                       "--exact-maps", "--device", "cpu")
    assert captured.code == 0, captured.errors
    check_statistics(out, tmp_path / "calls.h5", bound)
    parity(case.model_type, dtype=dtype, case=case.name, reference="transformers", **WORST)


T5_FILES = [case for case in encoder_decoders.CASES if case.model_type == "t5"]


def write_gguf(path, case, weights):
    """As llama.cpp's converter writes it (conversion/t5.py), with the gguf package's own names."""
    import gguf

    c = case.config
    decoder = c.get("num_decoder_layers", c["num_layers"])
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.T5, max(c["num_layers"], decoder))
    writer = gguf.GGUFWriter(path, "t5")
    writer.add_context_length(512)
    writer.add_embedding_length(c["d_model"])
    writer.add_feed_forward_length(c["d_ff"])
    writer.add_block_count(c["num_layers"])
    writer.add_decoder_block_count(decoder)
    writer.add_head_count(c["num_heads"])
    writer.add_key_length(c["d_kv"])
    writer.add_value_length(c["d_kv"])
    writer.add_layer_norm_eps(c["layer_norm_epsilon"])
    writer.add_relative_attn_buckets_count(c["relative_attention_num_buckets"])
    writer.add_layer_norm_rms_eps(c["layer_norm_epsilon"])
    writer.add_decoder_start_token_id(c["decoder_start_token_id"])
    for name, tensor in weights.items():
        writer.add_tensor(names.get_name(name, try_suffixes=(".weight", ".bias")), tensor.float().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.parametrize("case", T5_FILES, ids=lambda case: case.name.replace(" ", "_"))
def test_gguf_holds_the_same_model(analyze, tmp_path, parity, case):
    case = dataclasses.replace(case, config={**case.config, "relative_attention_max_distance": 128})
    weights = encoder_decoders.write(tmp_path / "model", case, 6)
    write_gguf(tmp_path / "t5.gguf", case, weights)
    ids = ",".join(map(str, token_ids(31, 2)))
    for path, out in (("model", "a.h5"), ("t5.gguf", "b.h5")):
        told = analyze(tmp_path / path, token_ids(40, 1), tmp_path / out, "--target-ids", ids, "--dtype", "float64", "--hidden")
        assert "warning" not in (told.stdout + told.stderr).lower(), told.stdout + told.stderr
    with h5py.File(tmp_path / "a.h5") as a, h5py.File(tmp_path / "b.h5") as b:
        for name in ("hidden/residual", "hidden/logits", "rows/lse", "entropy_mean", "keys/key_norm"):
            near(name, b[name][()], a[name][()], 1e-7)  # GGUF has ε in float32
    parity(case.model_type, gguf=case.name, rounded=True)


@pytest.mark.parametrize("case", encoder_decoders.CASES, ids=lambda case: case.name.replace(" ", "_"))
def test_the_target_is_the_source_moved_on(analyze, tmp_path, case):
    weights = encoder_decoders.write(tmp_path / "model", case, 3)
    source = token_ids(9, 4)
    start = source[-1] if case.model_type == "mbart" else case.config.get("decoder_start_token_id", 0)
    target = [start] + source[:-1]
    _, logits, _ = encoder_decoders.run(case, weights, source, None if case.model_type.endswith("bart") else target, tmp_path / "calls.safetensors")
    analyze(tmp_path / "model", source, tmp_path / "a.h5", "--dtype", "float64", "--hidden")
    with h5py.File(tmp_path / "a.h5") as file:
        np.testing.assert_array_equal(file["tokens/token_id"][()], target)
        near("logits", file["hidden/logits"][()], logits.numpy(), 1e-9)


def test_two_prompts_and_one(analyze, command, tmp_path):
    bart = encoder_decoders.CASES[0]
    encoder_decoders.write(tmp_path / "model", bart, 3)
    refused = analyze(tmp_path / "model", [7] * 65, tmp_path / "a.h5", check=False)
    assert refused.returncode == 2 and "at most 64 tokens" in refused.stderr
    refused = analyze(tmp_path / "model", [7] * 5, tmp_path / "a.h5", "--target-ids", "1,99", check=False)
    assert refused.returncode == 2 and "token 1 of the target" in refused.stderr
    refused = analyze(tmp_path / "model", [7] * 5, tmp_path / "a.h5", "--target-text", "a", check=False)
    assert refused.returncode == 5 and "no tokenizer" in refused.stderr
    both = command("analyze", tmp_path / "model", "--ids", "3,4", "--target-ids", "3", "--target-text", "a", "-o", tmp_path / "a.h5")
    assert both.code == 2 and "excludes" in both.errors
    last = analyze(tmp_path / "model", [7] * 5, tmp_path / "b.h5", "--layers", "0-3")
    assert "ends with layer 3" in last.stdout + last.stderr
    with h5py.File(tmp_path / "b.h5") as file:
        assert [name.decode() for name in file["calls/name"][()]] == ["encoder 0", "encoder 1", "decoder 0 self", "decoder 0 cross"]
    whole = tmp_path / "c.h5"
    analyze(tmp_path / "model", [5, 6, 7, 8, 9], whole, "--what-if", "L3:hide-key=2", "--exact-maps")
    with h5py.File(whole) as file:
        assert (file["exact/weights"][3, :, 0, :, 2] == 0).all() and (file["exact/weights"][5, :, 0, :, 2] > 0).all()
