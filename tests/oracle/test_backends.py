"""--backend: every backend against the oracle, what a run says of the one that ran, and what is refused."""
import re

import h5py
import pytest

import checkpoints as C
import forward
import quantities
from command import refused_both_ways
from compare import Comparison
from test_parity import token_ids

NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}
KINDS = {"softmax": {}, "softmax_sink": {"window": 7}, "diff_v1": {"num_key_value_heads": 1}, "diff_v2": {"window": 30}}
WAYS = [("reference", "float32"), ("reference", "float64"), ("blocked", "float32"), ("blocked", "float64"), ("cpu", "float32")]


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Kind → folder, prompt, oracle's datasets."""
    found = {}
    for seed, (kind, options) in enumerate(KINDS.items(), 31):
        folder = tmp_path_factory.mktemp(kind)
        model = C.headroom(folder, C.headroom_config(kind, **options), seed)
        ids = token_ids(70, seed)
        found[kind] = folder, ids, quantities.compute(forward.run(model, ids), ids, maps=8)
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("backend", "dtype"), WAYS, ids="-".join)
def test_every_dataset_of_every_backend(analyze, models, tmp_path, kind, backend, dtype):
    folder, ids, expected = models[kind]
    out = tmp_path / "run.h5"
    analyze(folder, ids, out, "--backend", backend, "--dtype", dtype, "--maps", "8", "--components", "--exact-maps")
    comparison = Comparison(out, expected, dtype)
    comparison.all(skip=("hidden",))
    assert comparison.file.attrs["backend"] == backend
    comparison.finish()


def said(command, folder, ids, out, *arguments):
    """Of one run: the JSON object, the text, the attributes."""
    line = ["analyze", folder, "--ids", ",".join(map(str, ids)), "-o", out, "--force", *arguments]
    machine, plain = command(*line, "--json", env=NO_GPU), command(*line, env=NO_GPU)
    assert machine.code == 0 and plain.code == 0, (machine, plain)
    with h5py.File(out) as file:
        return machine.json, plain.text, dict(file.attrs)


@pytest.mark.parametrize(("arguments", "backend", "statistics"), [
    (["--dtype", "float32"], "cpu", "float32"),
    (["--dtype", "bfloat16"], "cpu", "float32"),
    (["--dtype", "float64"], "blocked", "float64"),
    (["--backend", "auto"], "cpu", "float32"),
], ids=["float32", "bfloat16", "float64", "named_auto"])
def test_auto_says_what_it_chose_and_why(command, models, tmp_path, arguments, backend, statistics):
    folder, ids, _ = models["diff_v2"]
    found, text, attributes = said(command, folder, ids, tmp_path / "run.h5", *arguments)
    assert found["backend"] == attributes["backend"] == backend and f"backend {backend}, " in text.split("\n")[1]
    assert found["backend_note"].startswith("auto: ") and len(found["backend_note"]) > 12
    assert re.search(rf"^backend auto: {backend}, \w", text, re.M)
    assert attributes["device"] == attributes["device_statistics"] == "cpu" and attributes["dtype_statistics"] == statistics
    assert attributes["kernel_target"]


@pytest.mark.parametrize(("backend", "dtype", "statistics"), [
    ("reference", "float32", "float64"), ("reference", "bfloat16", "float64"), ("blocked", "float32", "float32"),
    ("blocked", "bfloat16", "float32"), ("cpu", "bfloat16", "float32")], ids="-".join)
def test_a_named_backend_runs_and_no_other(command, models, tmp_path, backend, dtype, statistics):
    folder, ids, _ = models["diff_v2"]
    found, text, attributes = said(command, folder, ids, tmp_path / "run.h5", "--backend", backend, "--dtype", dtype)
    assert found["backend"] == attributes["backend"] == backend and found["backend_note"] == ""
    assert f"backend {backend}, " in text and "backend auto" not in text
    assert attributes["dtype_statistics"] == statistics and attributes["device_statistics"] == "cpu"


def test_bfloat16_is_read_alike_by_all(analyze, models, tmp_path):
    """The same rounded projections come in: only the arithmetic of the statistics differs."""
    folder, ids, _ = models["diff_v1"]
    for backend in ("cpu", "blocked", "reference"):
        analyze(folder, ids, tmp_path / f"{backend}.h5", "--backend", backend, "--dtype", "bfloat16", "--layers", "0")
    with h5py.File(tmp_path / "reference.h5") as exact:
        for backend in ("cpu", "blocked"):
            with h5py.File(tmp_path / f"{backend}.h5") as file:
                for name in ("rows/lse", "rows/entropy", "rows/weight_l2", "keys/attention_received"):
                    error = abs(file[name][()] - exact[name][()]).max() / abs(exact[name][()]).max()
                    assert error < 2e-4, f"{backend} {name}: {error}"


REFUSED = {
    "unknown": (2, ["--backend", "fast"], ["fast", "auto, reference, blocked, cpu or cuda"]),
    "cpu_float64": (2, ["--backend", "cpu", "--dtype", "float64"], ["backend cpu", "--dtype float64"]),
    "cpu_on_cuda": (2, ["--backend", "cpu", "--device", "cuda"], ["backend cpu", "--device cuda"]),
    "reference_on_cuda": (2, ["--backend", "reference", "--device", "cuda:0"], ["backend reference", "--device cuda:0"]),
    "cuda_on_cpu": (2, ["--backend", "cuda", "--device", "cpu"], ["backend cuda", "--device cpu"]),
    "cuda_float64": (2, ["--backend", "cuda", "--dtype", "float64"], ["backend cuda", "--dtype float64"]),
    "cuda_without_a_device": (7, ["--backend", "cuda"], ["cuda:0"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_go_together_is_refused(command, models, tmp_path, name):
    code, arguments, words = REFUSED[name]
    refused_both_ways(command, code, words, "analyze", models["softmax"][0], "--ids", "1,2", "-o", tmp_path / "run.h5", *arguments,
                      env=NO_GPU)
    assert not list(tmp_path.iterdir())


def test_the_reference_is_for_short_prompts(command, tmp_path):
    C.headroom(tmp_path / "model", C.headroom_config("softmax", num_hidden_layers=1), 3)
    (tmp_path / "ids.txt").write_text("1 2 3 4 " * 1024 + "5")
    refused_both_ways(command, 2, ["--backend", "4096", "4097"], "analyze", tmp_path / "model", "--ids-file", tmp_path / "ids.txt",
                      "-o", tmp_path / "run.h5", "--backend", "reference")
    assert not (tmp_path / "run.h5").exists()


def test_doctor_says_which_backends_work_here_and_why_not_the_others(command):
    report = command("doctor", "--json", env=NO_GPU).json
    assert report["backends"] == "reference, blocked, cpu"
    assert len(report["no backend cuda"]) > 10


def test_json_stays_json_where_every_head_hides_key_0(command, models, tmp_path):
    folder, ids, _ = models["softmax"]
    found, text, _ = said(command, folder, ids, tmp_path / "run.h5", "--what-if", "hide-key=0")
    assert found["sink_heads"] == 0 and found["sink_rate"] is None and len(found["table"]) > 0
    assert "key 0 is hidden from every head" in text
