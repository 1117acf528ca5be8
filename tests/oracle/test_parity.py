"""The program against the oracle: every family, kind and option, both dtypes, all datasets."""
import functools

import h5py
import numpy as np
import pytest
import torch

import checkpoints as C
import forward
import quantities
from compare import Comparison

LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 64}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
YARN_EXACT = {**YARN, "truncate": False, "mscale": 0.7, "mscale_all_dim": 0.3, "beta_fast": 16.0, "beta_slow": 2.0}
LONGROPE = {"rope_type": "longrope", "original_max_position_embeddings": 48, "short_factor": [1.0, 1.1, 1.3, 1.7],
            "long_factor": [1.0, 2.0, 4.0, 7.0]}
LINEAR = {"rope_type": "linear", "factor": 3.0}
DYNAMIC = {"rope_type": "dynamic", "factor": 3.0}
OLD_LINEAR = {"type": "linear", "factor": 3.0}
BF16, F16 = {"dtype": torch.bfloat16}, {"dtype": torch.float16}
NEW_SPELLING = {"rope_scaling": "absent", "rope_theta": "absent", "rope_parameters": {**LLAMA3, "rope_theta": 50000.0}}


def own(name, n, kind, stored=None, **options):
    return pytest.param("headroom", n, functools.partial(C.headroom_config, kind, **options), stored or {}, id=f"{name}-{n}")


def public(name, n, family, stored=None, **options):
    config = {"llama": C.llama_config, "gpt2": C.gpt2_config, "diffllama": C.diffllama_config}[family]
    return pytest.param(family, n, functools.partial(config, **options), stored or {}, id=f"{name}-{n}")


CASES = [
    own("softmax", 97, "softmax"),
    own("softmax", 1, "softmax"),
    own("softmax", 2, "softmax"),
    own("softmax", 150, "softmax"),
    own("softmax", 600, "softmax", num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=640),
    own("softmax_half_split", 37, "softmax", rope_interleaved=False, rope_theta=500.0),
    own("softmax_learned", 37, "softmax", position="learned", num_key_value_heads=4),
    own("softmax_no_position", 37, "softmax", position="none", num_key_value_heads=1),
    own("softmax_qk_norm_scale", 97, "softmax", qk_norm=True, scale=0.5),
    own("softmax_window", 37, "softmax", window=5),
    own("softmax_window", 150, "softmax", window=70),
    own("softmax_tied_no_mlp", 37, "softmax", tie_word_embeddings=True, intermediate_size=0),
    own("softmax_linear", 37, "softmax", rope_scaling=LINEAR),
    own("softmax_dynamic", 97, "softmax", rope_scaling=DYNAMIC, max_position_embeddings=64),
    own("softmax_llama3", 97, "softmax", rope_scaling=LLAMA3, rope_interleaved=False),
    own("softmax_yarn", 97, "softmax", rope_scaling=YARN),
    own("softmax_longrope", 97, "softmax", rope_scaling=LONGROPE),
    own("softmax_sharded_bf16", 37, "softmax", stored={**BF16, "shards": 3}),
    own("softmax_one", 97, "softmax_one"),
    own("softmax_one", 1, "softmax_one"),
    own("softmax_one_window", 150, "softmax_one", window=100, position="none"),
    own("softmax_sink", 97, "softmax_sink"),
    own("softmax_sink_window", 37, "softmax_sink", window=7, qk_norm=True),
    own("softpick", 97, "softpick"),
    own("softpick", 1, "softpick"),
    own("softpick", 2, "softpick"),
    own("softpick_window", 150, "softpick", window=70, num_key_value_heads=4, position="none"),
    own("softpick_qk_norm", 37, "softpick", qk_norm=True, scale=0.5, rope_interleaved=False),
    own("shared_query_key", 97, "softmax", shared_query_key=True, num_key_value_heads=4),
    own("gated_headwise", 97, "gated", gate="headwise"),
    own("gated_elementwise", 37, "gated", gate="elementwise", num_key_value_heads=4),
    own("v1_flash", 97, "diff_v1"),
    own("v1_flash", 1, "diff_v1"),
    own("v1_flash", 150, "diff_v1", num_key_value_heads=1),
    own("v1_flash_no_norm", 97, "diff_v1", v1_norm=False),
    own("v1_naive", 97, "diff_v1", v1_form="naive"),
    own("v1_naive_no_norm", 37, "diff_v1", v1_form="naive", v1_norm=False, num_key_value_heads=1, rope_interleaved=False),
    own("v1_multi_head", 37, "diff_v1", num_key_value_heads=4, position="learned", stored=F16),
    own("v1_shared_query_key", 97, "diff_v1", shared_query_key=True, num_key_value_heads=4),
    own("v1_naive_shared_query_key", 37, "diff_v1", v1_form="naive", shared_query_key=True, num_key_value_heads=4, position="learned"),
    own("v1_window_qk_norm", 37, "diff_v1", window=9, qk_norm=True, scale=0.4),
    own("v2", 97, "diff_v2"),
    own("v2", 1, "diff_v2"),
    own("v2", 2, "diff_v2"),
    own("v2", 150, "diff_v2", num_key_value_heads=1),
    own("v2_window", 600, "diff_v2", num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2, window=550,
        max_position_embeddings=640),
    own("v2_groups_of_two", 97, "diff_v2", num_key_value_heads=4),
    own("v2_window_tied", 37, "diff_v2", window=6, tie_word_embeddings=True, rope_interleaved=False),
    own("v2_qk_norm_no_mlp", 37, "diff_v2", qk_norm=True, scale=0.3, intermediate_size=0, position="none"),
    own("v2_yarn_bf16", 37, "diff_v2", rope_scaling=YARN, stored=BF16),
    own("v2_wide_head", 37, "diff_v2", head_dim=20, num_hidden_layers=3, num_attention_heads=3, num_key_value_heads=3),
    public("llama", 97, "llama"),
    public("llama", 1, "llama"),
    public("llama_tied_bias_wide", 37, "llama", tie_word_embeddings=True, attention_bias=True, mlp_bias=True, head_dim=16),
    public("llama_multi_head", 37, "llama", num_key_value_heads="absent", stored={"shards": 2}),
    public("llama_linear", 37, "llama", rope_scaling=OLD_LINEAR),
    public("llama_dynamic", 97, "llama", rope_scaling=DYNAMIC, max_position_embeddings=64),
    public("llama_dynamic_short", 37, "llama", rope_scaling=DYNAMIC, max_position_embeddings=64),
    public("llama_llama3", 97, "llama", rope_scaling=LLAMA3, rope_theta=500000.0),
    public("llama_new_spelling", 97, "llama", **NEW_SPELLING),
    public("llama_yarn", 97, "llama", rope_scaling=YARN),
    public("llama_yarn_exact", 37, "llama", rope_scaling=YARN_EXACT),
    public("llama_longrope_long", 97, "llama", rope_scaling=LONGROPE),
    public("llama_longrope_short", 37, "llama", rope_scaling=LONGROPE, stored=BF16),
    public("gpt2", 97, "gpt2"),
    public("gpt2_inverse_layer", 37, "gpt2", scale_attn_by_inverse_layer_idx=True, n_inner=40, stored={"prefix": False}),
    public("gpt2", 150, "gpt2", stored=F16),
    public("diffllama", 97, "diffllama"),
    public("diffllama_bias_llama3", 37, "diffllama", attention_bias=True, rope_scaling=LLAMA3),
    public("diffllama_wide_groups", 150, "diffllama", num_attention_heads=8, tie_word_embeddings=True),
]
ARGUMENTS = ["--hidden", "--maps", "8", "--exact-maps", "--components"]


def token_ids(n, seed, vocab=53):
    return torch.randint(0, vocab, (n,), generator=torch.Generator().manual_seed(1000 + seed)).tolist()


def build(folder, family, config, stored, seed):
    if family == "headroom":
        return C.headroom(folder, config, seed, **stored)
    tied = config.get("tie_word_embeddings", family == "gpt2")
    return C.transformers_checkpoint(folder, family, config, seed, tied=tied, **stored)


def check_against_transformers(model, trace, ids):
    """The oracle's own forward is first held to transformers' in float64."""
    residual, logits = C.transformers_outputs(model, ids)
    for own_value, reference in zip(trace.residual, residual, strict=True):
        assert (own_value - reference).abs().max() <= 1e-10 * reference.abs().max()
    assert (trace.logits - logits).abs().max() <= 1e-10 * logits.abs().max()


@pytest.mark.parametrize(("family", "n", "config", "stored"), CASES)
def test_every_dataset(analyze, tmp_path, request, parity, family, n, config, stored):
    seed = sum(map(ord, request.node.callspec.id))
    model = build(tmp_path / "model", family, config(), stored, seed)
    ids = token_ids(n, seed)
    trace = forward.run(model, ids)
    if family != "headroom":
        check_against_transformers(model, trace, ids)
    expected = quantities.compute(trace, ids, maps=8)
    for dtype in ("float64", "float32"):
        out = tmp_path / f"{dtype}.h5"
        analyze(tmp_path / "model", ids, out, "--dtype", dtype, *ARGUMENTS)
        comparison = Comparison(out, expected, dtype)
        comparison.all()
        comparison.parameters()
        kinds = [kind.decode() for kind in comparison.file["attention_kind"][()]]
        assert kinds == [layer.kind for layer in trace.layers]
        assert list(comparison.file["program"])
        comparison.finish()
        reference = "equations" if family == "headroom" else "transformers"
        parity(family, dtype=dtype, case=request.node.callspec.id, reference=reference, **comparison.worst)


@pytest.mark.parametrize(("quantised", "hidden"), [
    ({}, 64),
    ({"attn_q": "Q8_0", "attn_k": "Q4_0", "attn_v": "Q5_1", "attn_output": "F16", "ffn_up": "Q4_1", "ffn_down": "Q5_0", "output": "BF16"}, 64),
    ({"token_embd": "Q8_0", "attn_q": "F16", "attn_k": "Q5_1", "ffn_gate": "Q4_0"}, 64),
    ({"attn_q": "Q4_K", "attn_k": "Q5_K", "attn_v": "Q6_K", "attn_output": "Q3_K", "ffn_up": "Q2_K", "ffn_down": "IQ4_XS", "ffn_gate": "IQ4_NL",
      "output": "MXFP4", "token_embd": "Q6_K"}, 256),
], ids=["f32", "every_type", "embedding", "grouped"])
def test_gguf_llama(analyze, tmp_path, quantised, hidden):
    path = tmp_path / "tiny.gguf"
    model = C.gguf_llama(path, 5, quantised, hidden)
    ids = token_ids(37, 5)
    trace = forward.run(model, ids)
    check_against_transformers(model, trace, ids)
    expected = quantities.compute(trace, ids)
    for dtype in ("float64", "float32"):
        analyze(path, ids, tmp_path / f"{dtype}.h5", "--dtype", dtype, "--hidden", "--exact-maps")
        comparison = Comparison(tmp_path / f"{dtype}.h5", expected, dtype)
        comparison.all()
        comparison.finish()


def test_summary_only_leaves_rows_keys_and_histograms_out(analyze, tmp_path):
    model = C.headroom(tmp_path / "model", C.headroom_config("diff_v2"), 1)
    ids = token_ids(37, 1)
    analyze(tmp_path / "model", ids, tmp_path / "run.h5", "--dtype", "float64", "--only", "summary")
    expected = quantities.compute(forward.run(model, ids), ids)
    comparison = Comparison(tmp_path / "run.h5", expected, "float64")
    assert not {"rows", "keys", "hist", "hidden", "exact", "maps"} & set(comparison.file)
    comparison.all(skip=("rows", "keys", "hist", "hidden", "exact"))
    comparison.finish()


def test_chosen_layers_and_heads(analyze, tmp_path):
    model = C.headroom(tmp_path / "model", C.headroom_config("diff_v1", num_hidden_layers=4), 2)
    ids = token_ids(37, 2)
    analyze(tmp_path / "model", ids, tmp_path / "run.h5", "--dtype", "float64", "--layers", "0,2-3", "--heads", "1,3", "--hidden")
    expected = quantities.compute(forward.run(model, ids), ids)
    comparison = Comparison(tmp_path / "run.h5", expected, "float64")
    for name in ("sink_score", "context_rms_mean", "lambda_mean", "rows/entropy", "rows/lambda"):
        reference = expected[name][[0, 2, 3]][:, [1, 3]]
        comparison.floats(name, reference, 1e-9, 2)
    comparison.floats("hidden/logits", expected["hidden/logits"], 1e-9, 0)
    assert np.array_equal(comparison.file["layer"][()], [0, 2, 3])
    assert np.array_equal(comparison.file["head"][()], [1, 3])
    comparison.finish()


@pytest.mark.parametrize("kind", ["softmax_sink", "diff_v1", "diff_v2"])
def test_bfloat16_stays_near_and_its_statistics_are_consistent(analyze, tmp_path, kind):
    """Matrix products in bfloat16 (8 bits) against float64: a coarse bound on values, a fine one on identities."""
    model = C.headroom(tmp_path / "model", C.headroom_config(kind), 3)
    ids = token_ids(37, 3)
    analyze(tmp_path / "model", ids, tmp_path / "run.h5", "--dtype", "bfloat16", "--hidden")
    trace = forward.run(model, ids)
    expected = quantities.compute(trace, ids)
    with h5py.File(tmp_path / "run.h5") as file:
        for name in ("hidden/residual", "hidden/logits"):
            difference = np.sqrt(np.mean((file[name][()] - expected[name]) ** 2) / np.mean(expected[name] ** 2))
            assert 1e-4 < difference < 0.05, f"{name}: relative RMS difference {difference}"
        total = file["rows/weight_sum"][()] + file["rows/implicit_sink_mass"][()]
        assert np.abs(total - 1).max() < 1e-5
        norm = file["rows/weight_l1"][()] - 2 * file["rows/negative_mass"][()]
        assert np.abs(norm - file["rows/weight_sum"][()]).max() < 1e-5


def test_two_runs_write_identical_datasets(analyze, tmp_path):
    C.headroom(tmp_path / "model", C.headroom_config("diff_v1"), 4)
    for out in ("first", "second"):
        analyze(tmp_path / "model", token_ids(97, 4), tmp_path / f"{out}.h5", *ARGUMENTS)
    compared = []
    with h5py.File(tmp_path / "first.h5") as first, h5py.File(tmp_path / "second.h5") as second:
        def equal(name, item):
            if isinstance(item, h5py.Dataset):
                assert item.dtype == second[name].dtype
                same = item[()].tobytes() == second[name][()].tobytes() if item.dtype.kind in "iuf" else (item[()] == second[name][()]).all()
                assert same, name
                compared.append(name)

        first.visititems(equal)
    assert len(compared) > 80
