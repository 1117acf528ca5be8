"""`headroom ablate`: every change of the loss against `analyze --what-if`, the oracle's own forward and transformers with hooks."""
import json
import os
import signal
import subprocess

import h5py
import mpmath
import numpy as np
import pytest
import torch

import checkpoints as C
import families
import forward
from command import Outcome, check_error_object, open_terminal, refused_both_ways, snapshot
from test_parity import build, token_ids

N = 37
MODELS = {
    "llama": ("llama", C.llama_config()),
    "gpt2": ("gpt2", C.gpt2_config()),
    "diffllama": ("diffllama", C.diffllama_config(num_attention_heads=8)),
    "v1": ("headroom", C.headroom_config("diff_v1")),
    "v2": ("headroom", C.headroom_config("diff_v2")),
    "gated": ("headroom", C.headroom_config("gated", gate="elementwise")),
    "sink": ("headroom", C.headroom_config("softmax_sink")),
}
CHANGES = {"zero": "head=off", "mean": "head=mean", "second-map": "second-map=off", "hide-key": "hide-key=0", "hide-key=3,0": "hide-key=3,0"}
CASES = [("llama", "zero"), ("llama", "mean"), ("llama", "hide-key"), ("gpt2", "zero"), ("gpt2", "mean"), ("diffllama", "second-map"),
         ("diffllama", "mean"), ("v1", "zero"), ("v1", "second-map"), ("v1", "mean"), ("v2", "zero"), ("v2", "second-map"),
         ("v2", "mean"), ("v2", "hide-key=3,0"), ("gated", "mean"), ("sink", "hide-key")]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder, built = tmp_path_factory.mktemp("ablate"), {}

    def get(name):
        if name not in built:
            family, config = MODELS[name]
            built[name] = (folder / name, build(folder / name, family, config, {}, len(name) + 70))
        return built[name]

    return get


@pytest.fixture(scope="module")
def ablate(program, run_program):
    def call(checkpoint, ids, out, *arguments):
        command = [str(program), "ablate", str(checkpoint), "--ids", ",".join(map(str, ids)), "-o", str(out), "--device", "cpu", "--json",
                   *arguments]
        result = run_program(command, text=True, timeout=300)
        assert result.returncode == 0, f"{' '.join(command)}\n{result.stdout[-2000:]}\n{result.stderr[-4000:]}"
        return json.loads(result.stdout)

    return call


def losses(logits, ids):
    """Of tokens 1 … n − 1."""
    return torch.nn.functional.cross_entropy(logits[:-1].double(), torch.tensor(ids)[1:], reduction="none").numpy()


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_every_head_equals_the_oracle(ablate, models, tmp_path, name, mode):
    path, model = models(name)
    ids = token_ids(N, 5)
    ablate(path, ids, tmp_path / "a.h5", "--mode", mode, "--dtype", "float64", "--by-token")
    ablate(path, ids, tmp_path / "a32.h5", "--mode", mode)
    base = losses(forward.run(model, ids).logits, ids)
    with h5py.File(tmp_path / "a.h5") as file, h5py.File(tmp_path / "a32.h5") as narrow:
        assert file.attrs["schema_name"] in ("headroom-ablation", b"headroom-ablation")
        assert np.abs(file["token_loss"][1:] - base).max() <= 1e-9 and np.isnan(file["token_loss"][0])
        layers, heads = file["delta_loss"].shape
        assert (layers, heads) == (len(file["layer"]), len(file["head"])) and layers * heads >= 8
        largest = 0.0
        for layer in range(layers):
            for head in range(heads):
                changed = losses(forward.run(model, ids, [f"L{layer}.H{head}:{CHANGES[mode]}"]).logits, ids) - base
                assert np.abs(file["delta_loss_by_token"][layer, head, 1:] - changed).max() <= 1e-9
                assert abs(file["delta_loss"][layer, head] - changed.mean()) <= 1e-10
                assert abs(narrow["delta_loss"][layer, head] - changed.mean()) <= 1e-6 * max(1.0, base.mean())
                largest = max(largest, abs(changed.mean()))
        assert largest > 1e-3  # agreement on nothing is none


HOOKED = [families.case("stablelm parallel", 41, use_parallel_residual=True, use_qkv_bias=True, partial_rotary_factor=0.5),
          families.case("llama", 29, num_attention_heads=4, num_key_value_heads=1)]


@pytest.mark.parametrize("mode", ["zero", "mean"])
@pytest.mark.parametrize("case", HOOKED, ids=lambda case: case.name)
def test_hooks_on_the_output_projection_of_transformers(ablate, tmp_path, case, mode):
    weights = families.write(tmp_path / "model", case, 9)
    ids = token_ids(case.n, 6)
    ablate(tmp_path / "model", ids, tmp_path / "a.h5", "--mode", mode, "--dtype", "float64")
    with C.transformers_in_float64(), torch.no_grad():
        _, net = families.model_of(case)
        net.load_state_dict(weights, strict=False)
        base = losses(net(torch.tensor([ids]), use_cache=False).logits[0], ids)
        with h5py.File(tmp_path / "a.h5") as file:
            for layer, block in enumerate(net.model.layers):
                for head in range(4):
                    def change(_, given, head=head):
                        z = given[0].clone()
                        part = z[..., head * z.shape[-1] // 4:(head + 1) * z.shape[-1] // 4]
                        part[...] = 0.0 if mode == "zero" else part.mean(dim=-2, keepdim=True)
                        return (z,)

                    hook = block.self_attn.o_proj.register_forward_pre_hook(change)
                    changed = losses(net(torch.tensor([ids]), use_cache=False).logits[0], ids)
                    hook.remove()
                    assert abs(file["delta_loss"][layer, head] - (changed - base).mean()) <= 1e-9


@pytest.mark.parametrize(("name", "mode", "dtype"), [("llama", "zero", "float32"), ("v2", "second-map", "float32"), ("gpt2", "mean", "bfloat16"),
                                                     ("v1", "hide-key", "float32")])
def test_the_same_bits_as_what_ifs_of_analyze(analyze, ablate, models, tmp_path, name, mode, dtype):
    path, _ = models(name)
    ids = token_ids(N, 8)
    sets = ["--set", "L0.H1+L1.H0"]
    ablate(path, ids, tmp_path / "a.h5", "--mode", mode, "--dtype", dtype, *sets, "--heads", "L1.H1,L0.H0", "--what-if", "L1:temperature=2")

    def loss(*what_ifs):
        arguments = [part for text in ("L1:temperature=2", *what_ifs) for part in ("--what-if", text)]
        analyze(path, ids, tmp_path / "run.h5", "--only", "summary", "--dtype", dtype, "--force", *arguments)
        with h5py.File(tmp_path / "run.h5") as run:
            return float(run.attrs["next_token_loss"])

    change = CHANGES[mode]
    base = loss()
    with h5py.File(tmp_path / "a.h5") as file:
        assert float(file.attrs["next_token_loss"]) == base
        delta = file["delta_loss"][()]
        for layer, head in ((0, 0), (1, 1)):
            assert delta[layer, head] == pytest.approx(loss(f"L{layer}.H{head}:{change}") - base, abs=1e-13)
        assert np.isnan(delta[0, 1]) and np.isnan(delta[1, 0])
        assert file["set_delta_loss"][0] == pytest.approx(loss(f"L0.H1:{change}", f"L1.H0:{change}") - base, abs=1e-13)
        assert file["set"][0] == b"L0.H1+L1.H0"


def student_point(level, degrees):
    """The t that Student's distribution exceeds on both sides together with this probability (DLMF 8.17)."""
    def excess(t):
        return mpmath.betainc(mpmath.mpf(degrees) / 2, 0.5, 0, degrees / (degrees + t * t), regularized=True) - level

    return float(mpmath.findroot(excess, (2.0, 8.0), solver="anderson"))


def test_how_surely_a_change_is_one(ablate, models, tmp_path):
    """Standard errors by blocks of tokens, and intervals that are corrected for the number of heads."""
    path, _ = models("llama")
    n = 173  # 172 predictions: 20 blocks of 8 or 9
    heads = ",".join(f"L{layer}.H{head}" for layer in range(2) for head in range(4))
    told = ablate(path, token_ids(n, 11), tmp_path / "a.h5", "--by-token", "--heads", heads, "--set", "L0.H1+L1.H0")
    with h5py.File(tmp_path / "a.h5") as file:
        assert told["blocks"] == file.attrs["blocks"] == 20
        tested = file["delta_loss"].size + 1
        assert told["tested"] == tested
        width = student_point(0.05 / tested, 19)
        assert told["half_width_in_standard_errors"] == pytest.approx(width, rel=1e-9)
        rows = [*file["delta_loss_by_token"][()].reshape(-1, n), file["set_delta_loss_by_token"][0]]
        errors = [*file["delta_loss_se"][()].ravel(), file["set_delta_loss_se"][0]]
    for row, error, result in zip(rows, errors, told["results"], strict=True):
        blocks = [row[1 + b * (n - 1) // 20:1 + (b + 1) * (n - 1) // 20] - row[1:].mean() for b in range(20)]
        expected = np.sqrt(20 / 19 * sum(block.sum() ** 2 for block in blocks)) / (n - 1)
        assert error == pytest.approx(expected, rel=1e-9) and result["standard_error"] == pytest.approx(expected, rel=1e-9)
        assert result["half_width"] == pytest.approx(width * expected, rel=1e-9)
        assert result["differs"] == (abs(row[1:].mean()) > width * expected)
    # The change at which a test of this level has a power of 0.8: Φ over the distribution of the estimated error.
    seen = told["detectable"] / np.median(errors)

    def power(v):
        least = width * mpmath.sqrt(v / 19)
        return v ** 8.5 * mpmath.exp(-v / 2) / (2 ** 9.5 * mpmath.gamma(9.5)) * (mpmath.ncdf(seen - least) + mpmath.ncdf(-seen - least))

    assert float(mpmath.quad(power, [0, 5, 10, 20, 40, 120])) == pytest.approx(0.8, abs=1e-6)
    few = ablate(path, token_ids(20, 11), tmp_path / "few.h5")
    assert few["blocks"] == 0 and few["results"][0]["standard_error"] is None and few["results"][0]["differs"] is False


def ranks(values):
    order = np.sort(values)
    return (np.searchsorted(order, values, "left") + np.searchsorted(order, values, "right") - 1) / 2


def test_what_it_says_of_sinks(ablate, models, analyze, tmp_path):
    path, _ = models("llama")
    ids = token_ids(N, 3)
    told = ablate(path, ids, tmp_path / "a.h5")["sinks"]
    analyze(path, ids, tmp_path / "run.h5", "--only", "summary")
    with h5py.File(tmp_path / "a.h5") as file, h5py.File(tmp_path / "run.h5") as run:
        assert np.array_equal(file["sink_score"][()].astype(np.float32), run["sink_score"][()], equal_nan=True)
        delta, sink = file["delta_loss"][()], file["sink_score"][..., 0]
    layer = np.broadcast_to(np.arange(len(delta))[:, None], delta.shape)
    x, y, z = (ranks(values.ravel()) for values in (delta, sink, layer))
    r = np.corrcoef([x, y, z])
    assert told["rank_correlation"]["value"] == pytest.approx(r[0, 1], abs=1e-12)
    partial = (r[0, 1] - r[0, 2] * r[1, 2]) / np.sqrt((1 - r[0, 2] ** 2) * (1 - r[1, 2] ** 2))
    assert told["rank_correlation_at_equal_layer"]["value"] == pytest.approx(partial, abs=1e-12)
    assert told["rank_correlation"]["low"] <= r[0, 1] <= told["rank_correlation"]["high"]
    assert told["sinks"] == (sink > 0.3).sum() and told["heads"] == sink.size
    if told["sinks"]:
        assert told["sink_median"] == pytest.approx(np.median(delta[sink > 0.3]), abs=1e-15)
    assert told["other_median"] == pytest.approx(np.median(delta[sink <= 0.3]), abs=1e-15)


def test_a_part_of_the_heads_has_the_same_numbers(ablate, models, tmp_path):
    path, _ = models("v2")
    ids = token_ids(N, 4)
    whole = ablate(path, ids, tmp_path / "whole.h5")
    part = ablate(path, ids, tmp_path / "part.h5", "--layers", "1", "--heads", "1-2")
    assert whole["complete"] and part["done"] == part["asked"] == 2
    with h5py.File(tmp_path / "whole.h5") as a, h5py.File(tmp_path / "part.h5") as b:
        assert list(b["layer"]) == [1] and list(b["head"]) == [1, 2]
        assert np.array_equal(a["delta_loss"][1:, 1:3], b["delta_loss"][()])
        assert a.attrs["results_done"] == a.attrs["results_asked"] == a["delta_loss"].size


def test_inspect_tells_what_the_file_holds(command, ablate, models, tmp_path):
    path, _ = models("llama")
    ablate(path, token_ids(N, 4), tmp_path / "a.h5", "--mode", "mean")
    assert b"mean" in command("inspect", tmp_path / "a.h5").out
    assert command("inspect", "--json", tmp_path / "a.h5").json["mode"] == "mean"


@pytest.mark.parametrize(("arguments", "words"), [
    (["--ids", "1,2,3", "--heads", "L9.H0"], ["L9.H0"]), (["--ids", "1,2,3", "--heads", "L0.H77"], ["L0.H77"]),
    (["--ids", "1,2,3", "--heads", "L0"], ["--heads", "L3.H5"]), (["--ids", "1,2,3", "--set", "L0.H0,L0.H1"], ["--set"]),
    (["--ids", "1,2,3", "--mode", "noise"], ["--mode", "noise", "zero"]), (["--ids", "1,2,3", "--mode", "second-map"], ["second map"]),
    (["--ids", "1,2,3", "--mode", "hide-key=9"], ["hide-key=9", "0 to 2"]), (["--ids", "1"], ["at least two tokens"]),
    (["--ids", "1,2,3", "--mode", "hide-key=x"], ["hide-key"]), (["--ids", "1,99"], ["99"]),
])
def test_what_cannot_be_is_refused_before_anything_runs(command, models, tmp_path, arguments, words):
    refused_both_ways(command, 2, words, "ablate", models("llama")[0], *arguments, "-o", tmp_path / "a.h5")
    assert not list(tmp_path.iterdir())


def test_files_that_cannot_be(command, models, tmp_path):
    path, _ = models("llama")
    (tmp_path / "there.h5").write_text("mine")
    before = snapshot(tmp_path)
    ids = ["--ids", "1,2,3"]
    refused_both_ways(command, 2, ["there.h5", "--force"], "ablate", path, *ids, "-o", tmp_path / "there.h5")
    refused_both_ways(command, 5, ["none"], "ablate", path, *ids, "-o", tmp_path / "none" / "a.h5")
    refused_both_ways(command, 5, ["/proc"], "ablate", path, *ids, "-o", "/proc/a.h5")
    refused_both_ways(command, 5, ["missing"], "ablate", tmp_path / "missing", *ids, "-o", tmp_path / "a.h5")
    assert snapshot(tmp_path) == before


def test_a_model_that_predicts_nothing(command, tmp_path):
    case = families.case("bert", **families.ENCODER)
    families.write(tmp_path / "bert", case, 3)
    refused_both_ways(command, 2, ["next token"], "ablate", tmp_path / "bert", "--ids", "1,2,3", "-o", tmp_path / "a.h5")


def test_control_c_keeps_what_is_done(command, tmp_path):
    C.headroom(tmp_path / "long", C.headroom_config("softmax", num_hidden_layers=100, intermediate_size=0, max_position_embeddings=2048), 5)
    leader, follower = open_terminal()
    script = ["setsid", "--ctty", "--wait", os.fspath(command.program), "ablate", os.fspath(tmp_path / "long"), "--ids",
              ",".join(["7", "9", "11"] * 300), "-o", os.fspath(tmp_path / "a.h5")]
    # A job of a script's background has Ctrl+C switched off; one at a terminal has not.
    on = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    with subprocess.Popen(script, stdin=follower, stdout=follower, stderr=follower, preexec_fn=on) as process:
        os.close(follower)
        shown = b""
        while b"8 of 400 done" not in shown:
            shown += os.read(leader, 4096)
        os.write(leader, b"\x03")
        rest = b""
        try:
            while part := os.read(leader, 4096):
                rest += part
        except OSError:
            pass
        assert process.wait(timeout=120) == 130
    assert b"stopped" in rest
    with h5py.File(tmp_path / "a.h5") as file:
        done = int(file.attrs["results_done"])
        assert 8 <= done < 400 and file.attrs["results_asked"] == 400 and file.attrs["complete"] == 0
        delta = file["delta_loss"][()]
        assert np.isfinite(delta).sum() == done and np.isfinite(delta[-1]).all() and np.isnan(delta[0]).all()


def test_a_signal_before_the_first_result_leaves_nothing(command, tmp_path):
    C.headroom(tmp_path / "long", C.headroom_config("softmax", num_hidden_layers=400, intermediate_size=0, max_position_embeddings=2048), 5)
    before = snapshot(tmp_path)
    process = command.start("ablate", tmp_path / "long", "--ids", ",".join(["7", "9", "11"] * 500), "-o", tmp_path / "a.h5", "--json")
    while not [p for p in tmp_path.iterdir() if p.name.endswith("headroom-tmp")]:
        assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=120)
    outcome = Outcome(process.returncode, out, err)
    assert outcome.code == 143 and check_error_object(outcome, 130)["code"] == "cancelled"
    assert snapshot(tmp_path) == before
