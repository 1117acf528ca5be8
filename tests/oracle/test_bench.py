"""`headroom bench`: its JSON is a contract, its options are checked, it ends when asked. No time is ever compared."""
import math
import os
import re
import signal
import time

import pytest

import checkpoints as C
from command import Outcome, check_error_object, open_terminal, read_all, refused_both_ways

SMALL = ["--repeats", "2", "--budget", "60", "--no-window"]
NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}
SHAPE = {"kind", "heads", "kv_heads", "head_dim", "length"}
VARIANTS = ["sdpa", "context", "row_statistics", "everything", "rounds_to_one", "histograms"]
TOP = {"headroom", "git_commit", "date", "machine", "data", "cases", "scaling", "accuracy", "window", "model", "skipped", "seconds",
       "peak_rss_bytes"}
STAGES = {"project", "attention", "record", "mix", "mlp", "logits", "wait_weights", "wait_write", "verify", "read_weights",
          "hash", "write"}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for kind in ("softmax", "diff_v2"):
        C.headroom(folder / kind, C.headroom_config(kind), 5)
    return folder


def bench(command, *arguments):
    outcome = command("bench", *arguments, "--json")
    assert outcome.code == 0 and outcome.err == b"", outcome
    found = outcome.json
    assert set(found) == TOP
    return found


def check_case(case):
    assert set(case) == SHAPE | {"rounds", "yardstick", "sdpa_backend", "variants"}
    assert case["rounds"] >= 1 and case["yardstick"] and case["sdpa_backend"] in ("flash", "math")
    assert [v["name"] for v in case["variants"] if v["name"] != "sdpa_narrow_values"] == VARIANTS
    base = case["variants"][0]
    for variant in case["variants"]:
        assert set(variant) == {"name", "median_seconds", "best_seconds", "cpu_seconds", "ratio_median", "ratio_best", "ratio_cpu",
                                "gflops", "peak_fraction", "goal", "met"}
        for name in set(variant) - {"name", "goal", "met"}:
            assert variant[name] > 0 and math.isfinite(variant[name]), (name, variant)
        assert variant["ratio_median"] == pytest.approx(variant["median_seconds"] / base["median_seconds"])
        assert variant["met"] == (None if variant["goal"] is None else variant["ratio_median"] <= variant["goal"])


def test_json_has_every_member(command):
    found = bench(command, "--shapes", "4x2x16@48,diff_v2:2x1x16@48,diff_v1:2x2x16@48,softmax:4x2x16@96", *SMALL)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", found["date"])
    machine = found["machine"]
    assert set(machine) == {"processor", "threads", "torch_version", "torch_capability", "kernel_target", "device", "dtype",
                            "peak_gflops_one", "peak_gflops_all", "notes"}
    assert (machine["device"], machine["dtype"]) == ("cpu", "float32")
    assert machine["threads"] >= 1 and machine["peak_gflops_one"] > 0 and machine["peak_gflops_all"] > 0
    assert [(c["kind"], c["heads"], c["kv_heads"], c["head_dim"], c["length"]) for c in found["cases"]] == [
        ("softmax", 4, 2, 16, 48), ("diff_v2", 2, 1, 16, 48), ("diff_v1", 2, 2, 16, 48), ("softmax", 4, 2, 16, 96)]
    for case in found["cases"]:
        check_case(case)
    assert [entry["length"] for entry in found["scaling"]] == [48]
    assert set(found["scaling"][0]) == SHAPE | {"sdpa", "row_statistics", "everything"}
    assert [entry["kind"] for entry in found["accuracy"]] == ["softmax", "diff_v2", "diff_v1"]
    for entry in found["accuracy"]:
        assert set(entry) == SHAPE | {"context_error", "sdpa_context_error", "column_sum_error"}
        assert 0 < entry["context_error"] < 1e-5 and 0 < entry["sdpa_context_error"] < 1e-5 and 0 < entry["column_sum_error"] < 1e-5
    assert found["data"] == "normal"
    assert found["window"] is None and found["model"] is None and found["skipped"] == []
    assert found["seconds"] > 0 and found["peak_rss_bytes"] > 2**20


def test_window_and_goals(command):
    found = bench(command, "--shapes", "1x1x16@2048", "--repeats", "1")
    window = found["window"]
    assert set(window) == {"length", "head_dim", "rows", "keys", "rounds", "p50_seconds", "p95_seconds", "best_seconds", "gflops",
                           "peak_fraction", "goal", "met"}
    assert (window["length"], window["rows"], window["keys"], window["goal"]) == (131072, 1024, 1024, 0.005)
    assert 0 < window["best_seconds"] <= window["p50_seconds"] <= window["p95_seconds"]
    assert window["met"] == (window["p95_seconds"] <= 0.005)
    goals = {variant["name"]: variant["goal"] for variant in found["cases"][0]["variants"]}
    avx2 = found["machine"]["kernel_target"] == "AVX2"
    assert goals == {**dict.fromkeys(VARIANTS), "row_statistics": 0.8 if avx2 else 0.75, "everything": 1.25 if avx2 else 1.15}


def test_shapes_without_a_length_take_those_of_the_table(command):
    found = bench(command, "--shapes", "1x1x8", "--repeats", "1", "--no-window")
    assert [case["length"] for case in found["cases"]] == [1024, 2048, 4096, 8192]
    assert [entry["length"] for entry in found["scaling"]] == [1024, 2048, 4096]


def test_what_does_not_fit_is_skipped_and_named(command):
    arguments = ["--shapes", "1x1x16@32,32x8x128@1048576", "--repeats", "1", "--budget", "30", "--no-window"]
    found = bench(command, *arguments)
    assert [case["length"] for case in found["cases"]] == [32]
    assert [entry["length"] for entry in found["skipped"]] == [1048576] and "30 s" in found["skipped"][0]["reason"]
    text = command("bench", *arguments)
    assert text.code == 0 and "skipped: softmax, 32 heads on 8, d = 128, n = 1048576" in text.text, text


def test_outliers_are_other_inputs(command):
    """Other inputs give other errors; the times are not compared."""
    found = bench(command, "--shapes", "1x1x64@256", *SMALL, "--outliers")
    assert found["data"] == "outliers"
    normal = bench(command, "--shapes", "1x1x64@256", *SMALL)
    assert found["accuracy"][0]["column_sum_error"] != normal["accuracy"][0]["column_sum_error"]


def test_text_names_the_machine_and_every_variant(command):
    outcome = command("bench", "--shapes", "2x1x16@64,diff_v1:2x2x16@64", *SMALL)
    assert outcome.code == 0 and outcome.err == b"", outcome
    for word in ("threads", "LibTorch", "GFLOP/s", "softmax, 2 heads on 1, d = 16, n = 64", "diff_v1", "sdpa_narrow_values", *VARIANTS):
        assert word in outcome.text, f"{word}\n{outcome}"


def test_threads_and_target_are_those_asked_for(command):
    lowest = re.search(r"expected (.*), found", command("bench", "--target", "NONE").errors)[1].split(", ")[-1]
    found = bench(command, "--shapes", "1x1x16@32", *SMALL, "--threads", "3", "--target", lowest)
    assert found["machine"]["threads"] == 3 and found["machine"]["kernel_target"] == lowest
    assert found["machine"]["torch_capability"] == ("AVX2" if lowest == "AVX2" else "DEFAULT")


@pytest.mark.parametrize(("kind", "plain"), [("softmax", True), ("diff_v2", False)])
def test_model_stages(command, model, tmp_path, kind, plain):
    found = bench(command, "--model", model / kind, "--ids", "3,17,5,5,40,2,17,5,9,30,12", "--repeats", "2", "--folder", tmp_path)
    run = found["model"]
    assert set(run) == {"model", "tokens", "backend", "rounds", "best_seconds", "median_seconds", "tokens_per_second", "stages",
                        "file_bytes", "forward_seconds", "forward_attention_seconds", "ratio_forward", "sdpa_forward_seconds",
                        "ratio_sdpa_forward"}
    assert set(run["stages"]) == STAGES and all(seconds >= 0 for seconds in run["stages"].values())
    assert (run["tokens"], run["backend"], run["rounds"]) == (11, "cpu", 2)
    assert 0 < run["best_seconds"] <= run["median_seconds"] and run["file_bytes"] > 1000
    on_thread = sum(run["stages"][name] for name in STAGES - {"read_weights", "hash", "write"})
    assert 0 < on_thread <= run["best_seconds"]
    assert run["ratio_forward"] == pytest.approx(run["best_seconds"] / run["forward_seconds"])
    # Attention of a pair has no one call of LibTorch's to stand for it.
    assert (run["sdpa_forward_seconds"] is not None) == plain == (run["ratio_sdpa_forward"] is not None)
    assert [(c["kind"], c["heads"], c["kv_heads"], c["head_dim"], c["length"]) for c in found["cases"]] == (
        [("softmax", 4, 2, 8, 11)] if plain else [])
    assert found["window"] is None
    assert not list(tmp_path.iterdir())


USAGE = {
    "unknown_option": (["--bogus"], "--bogus"),
    "shape_word": (["--shapes", "large"], "large"),
    "shape_half": (["--shapes", "8x8"], "8x8"),
    "shape_tail": (["--shapes", "8x8x64@"], "8x8x64@"),
    "shape_negative": (["--shapes", "8x8x-64"], "8x8x-64"),
    "shape_kind": (["--shapes", "diff_v3:8x8x64@32"], "diff_v3"),
    "shape_groups": (["--shapes", "8x3x64@32"], "8x3x64"),
    "shapes_empty": (["--shapes", ""], "--shapes"),
    "repeats_zero": (["--repeats", "0"], "--repeats"),
    "budget_nan": (["--budget", "nan"], "--budget"),
    "threads_zero": (["--threads", "0"], "--threads"),
    "target": (["--target", "AVX9"], "AVX9"),
    "device": (["--device", "gpu"], "gpu"),
    "dtype": (["--dtype", "float8"], "float8"),
    "model_and_device": (["--model", "MODEL", "--ids", "1", "--device", "cuda"], "--device"),
    "prompt_without_model": (["--ids", "1,2"], "--model"),
    "model_without_prompt": (["--model", "MODEL"], "--ids"),
    "model_and_shapes": (["--model", "MODEL", "--ids", "1", "--shapes", "8x8x64"], "--shapes"),
    "argument": (["model"], "model"),
}


@pytest.mark.parametrize("name", USAGE)
def test_usage_errors(command, model, tmp_path, name):
    words, named = USAGE[name]
    refused_both_ways(command, 2, [named], "bench", *[word.replace("MODEL", str(model / "softmax")) for word in words], cwd=tmp_path)
    assert not list(tmp_path.iterdir())


def test_other_refusals(command, model, tmp_path):
    refused_both_ways(command, 5, ["nowhere"], "bench", "--model", tmp_path / "nowhere", "--ids", "1")
    refused_both_ways(command, 5, ["nowhere"], "bench", "--model", model / "softmax", "--ids", "1,2", "--repeats", "1", "--folder",
                      tmp_path / "nowhere")
    refused_both_ways(command, 2, ["vocabulary"], "bench", "--model", model / "softmax", "--ids", "1,99999", "--repeats", "1", "--folder",
                      tmp_path)
    assert not list(tmp_path.iterdir())


def test_narrow_inputs_are_rounded_and_their_statistics_are_not(command):
    found = bench(command, "--shapes", "2x1x16@128,diff_v2:2x2x16@128", *SMALL, "--dtype", "bfloat16")
    assert found["machine"]["dtype"] == "bfloat16"
    for entry in found["accuracy"]:
        # LibTorch's contexts are bfloat16 themselves; ours are float32 sums of the same products.
        assert 1e-4 < entry["sdpa_context_error"] < 2e-2 and 0 < entry["context_error"] < 1e-5 and 0 < entry["column_sum_error"] < 1e-5


def test_a_device_that_is_not_there_is_an_error(command):
    refused_both_ways(command, 7, ["cuda"], "bench", "--device", "cuda", *SMALL, env=NO_GPU)


def test_help_names_every_option(command):
    outcome = command("bench", "--help")
    assert outcome.code == 0, outcome
    for word in ("--shapes", "--repeats", "--budget", "--quick", "--outliers", "--threads", "--target", "--device", "--dtype", "--no-window", "--model", "--text",
                 "--text-file",
                 "--ids", "--ids-file", "--max-tokens", "--folder", "--json", "--config", "--lenient"):
        assert re.search(rf"(^|[\s,\[]){re.escape(word)}\b", outcome.text), word


def test_an_interrupt_ends_the_table(command):
    leader, follower = open_terminal()
    process = command.start("bench", "--json", stderr=follower)
    os.close(follower)
    shown = b""
    while b"multiply-adds" not in shown:  # the work has begun
        shown += os.read(leader, 65536)
    process.send_signal(signal.SIGINT)
    out = process.communicate(timeout=60)[0]
    shown += read_all(leader)
    os.close(leader)
    assert process.returncode == 130 and b"cancelled" in shown, (process.returncode, shown)
    error = check_error_object(Outcome(130, out, b""), 130)
    assert error["code"] == "cancelled"


def test_an_interrupt_of_a_model_leaves_no_run_file(command, model, tmp_path):
    process = command.start("bench", "--model", model / "diff_v2", "--ids", "1,2,3", "--repeats", "1000000", "--folder", tmp_path)
    while not list(tmp_path.iterdir()):
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and b"cancelled" in err and out == b"", (process.returncode, out, err)
    assert not list(tmp_path.iterdir())
