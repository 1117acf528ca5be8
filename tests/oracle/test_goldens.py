"""Goldens: numbers that were computed once, in double and apart from both, first against the oracle itself, then against the program."""
import math

import h5py
import numpy as np
import pytest
import torch

import checkpoints as C
import forward
import quantities
import rope

N, D = 64, 16
# Of the input of tests/support/attention_goldens.h. The second and third groups belong to the differential map.
SOFTMAX = {
    "sink_score": 0.05741787484, "alpha_5": 0.03917211268, "mean_lse": 4.048097068, "entropy_mean": 2.457590683,
    "mean_l2": 0.4098266601, "logit_max": 5.206552199, "logit_abs_max": 7.257406548, "context_rms_mean": 0.2659052276,
    "coherence_mean": 0.9191340180, "value_mean_share": 0.0007207720761,
}
DIFF_V2 = {
    "weight_l2_mean": 0.3835799988, "context_rms_mean": 0.2699874775, "coherence_mean": 1.017887568,
    "weight_l1_mean": 0.9587514015, "negative_mass_mean": 0.2311418217, "weight_sum_mean": 0.4964677582,
    "output_cancellation_mean": 0.9091961792, "value_mean_share": 0.0007207720761,
    "sink_score": 0.05741787484, "alpha_5": 0.03917211268, "mean_lse": 4.048097068, "entropy_mean": 2.457590683,
    "mean_l2": 0.4098266601, "logit_max": 5.206552199, "logit_abs_max": 7.257406548,
}


def wave(a, b, c, s):
    i, channel = torch.arange(1, N + 1, dtype=torch.float64)[:, None], torch.arange(1, D + 1, dtype=torch.float64)[None, :]
    return s * torch.sin(a * i * channel + b * i + c * channel)


Q1, Q2 = wave(0.37, 0.11, 0.23, 1.5), wave(0.29, 0.17, 0.31, 1.5)
K, V = wave(0.41, 0.07, 0.19, 1.5), wave(0.53, 0.13, 0.05, 1.0)
LAMBDA = torch.sin(0.9 * torch.arange(1, N + 1, dtype=torch.float64))  # before the sigmoid


def one_hot_checkpoint(folder, kind, q, k, v, lambda_logits=None):
    """One layer without positions or MLP whose token i has exactly the queries, keys and values of row i.

    The embedding is the identity: the normed input of token i is one constant on axis i, so column i of each
    projection is what row i gets. Stored as F64, so that nothing is rounded but the last bit.
    """
    vocab = 64
    config = C.headroom_config(kind, vocab_size=vocab, hidden_size=vocab, num_hidden_layers=1, intermediate_size=0,
                               num_attention_heads=1, num_key_value_heads=1, head_dim=k.shape[1], position="none")
    height = 1 / math.sqrt(1 / vocab + config["rms_norm_eps"])

    def projection(rows):
        weight = torch.zeros(rows.shape[1], vocab, dtype=torch.float64)
        weight[:, : rows.shape[0]] = rows.T / height
        return weight

    layer = "model.layers.0."
    weights = {
        "model.embed_tokens.weight": torch.eye(vocab), layer + "input_layernorm.weight": torch.ones(vocab),
        layer + "self_attn.q_proj.weight": projection(q), layer + "self_attn.k_proj.weight": projection(k),
        layer + "self_attn.v_proj.weight": projection(v),
        layer + "self_attn.o_proj.weight": C.generator(1)(vocab, k.shape[1]), "model.norm.weight": torch.ones(vocab),
        "lm_head.weight": torch.eye(vocab),
    }
    if lambda_logits is not None:
        weights[layer + "self_attn.lambda_proj.weight"] = projection(lambda_logits[:, None])
    return forward.Model("headroom", config, C.save(folder, config, weights, torch.float64))


def from_datasets(read):
    """The goldens' quantities out of datasets of a run file; `read(name)` gives [layer, head, …]."""
    return {
        "sink_score": read("sink_score")[0, 0, 0], "alpha_5": read("keys/attention_received")[0, 0, 0, 5],
        "mean_lse": read("rows/lse")[0, 0, 0].mean(), "entropy_mean": read("entropy_mean")[0, 0, 0],
        "mean_l2": read("rows/weight_l2_component")[0, 0, 0].mean(), "logit_max": read("logit_max")[0, 0, 0],
        "logit_abs_max": read("logit_abs_max")[0, 0, 0], "weight_sum_mean": read("rows/weight_sum")[0, 0].mean(),
        **{name: read(name)[0, 0] for name in (
            "context_rms_mean", "coherence_mean", "value_mean_share", "weight_l2_mean", "weight_l1_mean",
            "negative_mass_mean", "output_cancellation_mean")},
    }


def assert_printed_digits(found, goldens):
    for name, golden in goldens.items():
        digits = 10  # significant digits in the tables
        unit = 10.0 ** (math.floor(math.log10(abs(golden))) - digits + 1)
        assert abs(found[name] - golden) <= 0.51 * unit, f"{name}: {found[name]!r}, golden {golden!r}"


MODELS = [("softmax", Q1, None, SOFTMAX), ("diff_v2", torch.cat([Q1, Q2], dim=1), LAMBDA, DIFF_V2)]


@pytest.mark.parametrize(("kind", "q", "lam", "goldens"), MODELS, ids=["softmax", "diff_v2"])
def test_attention_goldens_of_the_oracle(tmp_path, kind, q, lam, goldens):
    model = one_hot_checkpoint(tmp_path, kind, q, K, V, lam)
    found = quantities.compute(forward.run(model, list(range(N))), list(range(N)))
    assert_printed_digits(from_datasets(lambda name: found[name]), goldens)


@pytest.mark.parametrize(("kind", "q", "lam", "goldens"), MODELS, ids=["softmax", "diff_v2"])
def test_attention_goldens_of_the_program(analyze, tmp_path, kind, q, lam, goldens):
    one_hot_checkpoint(tmp_path / "model", kind, q, K, V, lam)
    analyze(tmp_path / "model", range(N), tmp_path / "run.h5", "--dtype", "float64")
    with h5py.File(tmp_path / "run.h5") as file:
        assert_printed_digits(from_datasets(lambda name: file[name][()]), goldens)


def softmax1_input():
    """Row 3 sees the logits 1, 0, −1, 2."""
    q = torch.zeros(4, 1, dtype=torch.float64)
    q[3] = 1
    return q, torch.tensor([[1.0], [0.0], [-1.0], [2.0]], dtype=torch.float64)


SOFTMAX1 = [0.2178945, 0.0801589, 0.0294888, 0.5922988]


def test_softmax1_golden_of_the_oracle(tmp_path):
    q, k = softmax1_input()
    trace = forward.run(one_hot_checkpoint(tmp_path, "softmax_one", q, k, k), [0, 1, 2, 3])
    assert np.abs(trace.layers[0].heads[0].w[3].numpy() - SOFTMAX1).max() < 5.1e-8


def test_softmax1_golden_of_the_program(analyze, tmp_path):
    q, k = softmax1_input()
    one_hot_checkpoint(tmp_path / "model", "softmax_one", q, k, k)
    analyze(tmp_path / "model", range(4), tmp_path / "run.h5", "--dtype", "float64", "--exact-maps")
    with h5py.File(tmp_path / "run.h5") as file:
        assert np.abs(file["exact/net_weights"][0, 0, 3] - SOFTMAX1).max() < 5.1e-8
        assert file["rows/weight_sum"][0, 0, 3] == pytest.approx(0.9198411, abs=5.1e-8)


LLAMA_3_2 = {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
             "original_max_position_embeddings": 8192}
GPT_OSS = {"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False,
           "original_max_position_embeddings": 4096}
ROPE_GOLDENS = [
    (5e5, 64, LLAMA_3_2, {0: 1.0, 1: 6.636012377e-01, 8: 3.760603093e-02, 13: 4.839421346e-03, 14: 3.211445995e-03,
                          15: 1.290547928e-03, 16: 4.295567966e-04, 17: 9.708287803e-05, 18: 1.946163818e-05,
                          19: 1.291476719e-05, 31: 9.418306725e-08}),
    (5e5, 128, {**LLAMA_3_2, "factor": 8.0}, {1: 8.146172339e-01, 28: 3.211445995e-03, 29: 2.166570764e-03,
                                              30: 1.371893568e-03, 34: 1.785078128e-04, 35: 9.556212354e-05,
                                              36: 7.784655274e-05, 63: 3.068925989e-07}),
    (1.5e5, 64, GPT_OSS, {0: 1.0, 8: 5.081327482e-02, 9: 3.170569618e-02, 12: 6.794959490e-03, 16: 4.564839192e-04,
                          17: 1.293187012e-04, 18: 3.830881237e-05, 31: 3.023511428e-07}),
    (1.5e5, 64, {**GPT_OSS, "truncate": True}, {9: 3.162075228e-02, 16: 5.809475019e-04}),
]


@pytest.mark.parametrize(("theta", "dim", "scaling", "goldens"), ROPE_GOLDENS, ids=["llama_3_2", "llama_3_1", "gpt_oss", "truncated"])
def test_rope_goldens_of_the_oracle(theta, dim, scaling, goldens):
    inv_freq, factor = rope.inverse_frequencies(theta, dim, 10, 131072, scaling)
    for i, golden in goldens.items():
        assert inv_freq[i].item() == pytest.approx(golden, rel=5.1e-10)
    if scaling["rope_type"] == "yarn":
        assert factor == pytest.approx(1.3465735903, abs=5.1e-11)


def test_lambda_init_goldens():
    for depth, golden in {0: 0.2, 1: 0.355509, 2: 0.470713, 3: 0.556058, 5: 0.666122, 10: 0.770128, 17: 0.796342}.items():
        assert forward.v1_lambda_init(depth) == pytest.approx(golden, abs=5.1e-7)


def test_oracle_laws(tmp_path):
    """Identities that hold whatever the weights: the oracle is not only right on the goldens."""
    model = C.headroom(tmp_path, C.headroom_config("diff_v2"), 7)
    ids = list(range(40))
    found = quantities.compute(forward.run(model, ids), ids)
    lam = found["rows/lambda"]
    assert np.allclose(found["rows/weight_sum"], 1 - lam, atol=1e-12)
    assert np.allclose(found["rows/weight_l1"], 2 * found["rows/negative_mass"] + 1 - lam, atol=1e-12)
    n_i = np.arange(1, 41)
    assert (found["rows/weight_l2"] >= (1 - lam) / np.sqrt(n_i) - 1e-12).all()
    assert (found["rows/weight_l2"] < np.sqrt(1 + lam**2)).all()
    columns = found["keys/attention_received_net"] * (40 - np.arange(40))
    assert np.allclose(columns.sum(-1), (1 - lam).sum(-1), atol=1e-12)
