"""`headroom series`: the shipped checkpoints of a head that becomes a sink. Every step against a separate `headroom corpus`, bit for bit;
the changes between them against NumPy and SciPy; what is refused; stops, and a training that goes on."""
import json
import os
import random
import shutil
import subprocess
import time

import h5py
import numpy as np
import pytest
import torch
import xarray
from safetensors.torch import load_file, save_file

import checkpoints as C
from command import datasets, refused, refused_both_ways, snapshot
from conftest import ROOT
from test_corpus import MAPS, STATISTICS, check_statistics, texts

BACKCOPY = ROOT / "assets" / "demo" / "backcopy"
STEPS = [0, 100, 300, 1000, 3000]
PER_DOCUMENT = [3, 1, 2, 4, 1]


def folder_of(variant, step):
    return BACKCOPY / variant / f"step_{step:06}"


@pytest.fixture(scope="module")
def plan(warm_command, tmp_path_factory):
    """Eleven sequences of 24 ids of five documents, each with BOS in front of it as the models were trained."""
    folder = tmp_path_factory.mktemp("plan")
    numbers = random.Random(7)
    lines = [{"ids": [id for _ in range(pieces) for id in [0, *(numbers.randrange(1, 39) for _ in range(23))]]} for pieces in PER_DOCUMENT]
    (folder / "ids.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    outcome = warm_command("corpus", str(folder_of("softmax", 0)), "--data", str(folder / "ids.jsonl"), "--field", "ids", "--length", "24",
                           "--plan-only", "-o", str(folder / "plan.h5"))
    assert outcome.code == 0, outcome
    return folder / "plan.h5"


@pytest.fixture(scope="module")
def series(warm_command, plan):
    def call(checkpoints, out, *arguments, code=0):
        outcome = warm_command("series", *map(str, checkpoints), "--plan", str(plan), "-o", str(out), "--device", "cpu", "--json",
                               *map(str, arguments))
        assert outcome.code == code, outcome
        return outcome.json

    return call


@pytest.fixture(scope="module", params=["softmax", "diff_v2"])
def made(request, series, tmp_path_factory):
    """(variant, series file, what was said): the checkpoints in another order than their steps."""
    out = tmp_path_factory.mktemp(request.param) / "series.h5"
    checkpoints = [folder_of(request.param, step) for step in STEPS]
    random.Random(3).shuffle(checkpoints)
    return request.param, out, series(checkpoints, out)


def root_of(file):
    return {name: item for name, item in file.items()
            if isinstance(item, h5py.Dataset) and item.attrs.get("CLASS") != b"DIMENSION_SCALE"}


def test_each_step_is_a_corpus_of_its_own(made, warm_command, plan, tmp_path):
    variant, out, said = made
    compared = 0
    with h5py.File(out) as file:
        assert file.attrs["schema_name"] == "headroom-series" and file["step"][:].tolist() == STEPS and file["step"].dtype == np.int64
        assert texts(file["statistic"]) == STATISTICS and texts(file["map"]) == MAPS
        assert texts(file["checkpoints/name"]) == [f"step_{step:06}" for step in STEPS]
        assert file.attrs["model_id"] == variant
        for i, step in enumerate(STEPS):
            one = tmp_path / f"{step}.h5"
            outcome = warm_command("corpus", str(folder_of(variant, step)), "--plan", str(plan), "-o", str(one), "--device", "cpu")
            assert outcome.code == 0, outcome
            with h5py.File(one) as single:
                roots = root_of(single)
                assert roots.keys() == root_of(file).keys()
                for name, item in roots.items():
                    if name in ("attention_kind", "kv_head", "sink_null"):
                        assert np.array_equal(item[()], file[name][()])
                        continue
                    assert file[name].dtype == np.float64 and file[name][i].tobytes() == item[()].tobytes(), name
                    compared += item.size
                plan_only = {"document", "piece", "token_start", "token_id", "sequence"}
                assert set(single["sequences"]) == set(file["sequences"])
                for name, item in single["sequences"].items():
                    stored = file["sequences"][name]
                    assert (stored[()] if name in plan_only else stored[i]).tobytes() == item[()].tobytes(), name
                    compared += item.size
                settings = json.loads(single.attrs["settings"])
                assert texts(file["checkpoints/sha256"])[i] == settings.pop("checkpoint_sha256")
                assert json.loads(file.attrs["settings"]) == settings
                loss = said["steps"][i]["next_token_loss"]
                assert said["steps"][i]["step"] == step and [loss[name] for name in STATISTICS] == single["next_token_loss"][:].tolist()
                assert [r["net"]["mean"] for r in said["steps"][i]["sink_rate"]] == \
                    [None if np.isnan(v) else v for v in single["sink_rate"][0, :, 2]]
    assert compared > 5 * 2000


def test_changes_are_paired_and_take_documents_as_clusters(made):
    variant, out, _ = made
    with h5py.File(out) as file:
        documents = file["sequences/document"][:]
        assert np.unique(documents, return_counts=True)[1].tolist() == PER_DOCUMENT
        kept = {name for name, item in file["sequences"].items() if item.ndim > 2 and item.dtype.kind == "f" and name != "sink_rate"}
        assert set(file["change"]) == kept | {"next_token_loss", "sink_rate", "sink_frequency"}
        checked = 0
        for name in sorted(kept | {"next_token_loss", "sink_rate"}):
            values, stored = file["sequences"][name][:].astype(np.float64), file["change"][name][:]
            assert np.isnan(stored[0]).all() and stored.shape == (len(STEPS), len(STATISTICS), *values.shape[2:])
            change = np.diff(values, axis=0)
            count = (~np.isnan(change)).sum(axis=1)
            with np.errstate(all="ignore"):
                mean = np.nansum(change, axis=1) / count
            assert np.array_equal(stored[1:, -1], count) and np.allclose(stored[1:, 0], mean, rtol=1e-9, atol=1e-12, equal_nan=True), name
            flat, statistics = change.reshape(*change.shape[:2], -1), stored[1:].reshape(len(STEPS) - 1, len(STATISTICS), -1)
            for step in (0, 2):
                for column in (0, flat.shape[2] - 1):
                    check_statistics(statistics[step, :, column], flat[step, :, column], documents)
                    checked += 1
        assert checked > 100
        score, net = file["sequences/sink_score"][:].astype(np.float64), file["sequences/sink_score_net"][:].astype(np.float64)
        for e, epsilon in enumerate(file["epsilon"][:]):
            for m, values in enumerate((score[..., 0], score[..., 1], net)):
                over = np.diff(np.where(np.isnan(values), np.nan, values > epsilon), axis=0)
                for step in range(len(STEPS) - 1):
                    check_statistics(file["change/sink_frequency"][step + 1, :, e, m, 0, 0], over[step, :, 0, 0], documents)
        if variant == "softmax":  # the head becomes a sink: by far more than its interval
            mean, low = file["sink_score"][:, 0, 0, 0, 0], file["change/sink_score"][:, 3, 0, 0, 0]
            assert mean[0] < 0.2 < 0.4 < mean[-1] and np.nanmax(low) > 0.05


def test_a_paired_change_is_surer_than_two_intervals(made):
    """Why it is there: sequences differ more among each other than in what a step changes."""
    with h5py.File(made[1]) as file:
        error = file["next_token_loss"][:, 2]
        unpaired = np.sqrt(error[1:] ** 2 + error[:-1] ** 2)
        assert np.median(file["change/next_token_loss"][1:, 2] / unpaired) < 1.0


def test_xarray_reads_it_with_its_steps(made):
    for engine in ("h5netcdf", "netcdf4"):
        with xarray.open_dataset(made[1], engine=engine) as root, xarray.open_dataset(made[1], engine=engine, group="change") as change:
            assert root["sink_score"].dims == ("step", "statistic", "layer", "head", "component")
            one = root["sink_score"].sel(step=1000, statistic="mean", layer=0, head=0)
            assert one.sizes == {"component": 2} and float(one[0]) > 0
            assert change["next_token_loss"].dims == ("step", "statistic")
        with xarray.open_dataset(made[1], engine=engine, group="sequences") as kept:
            assert kept["context_rms_mean"].dims[:2] == ("step", "sequence")
    shown = subprocess.run(["h5dump", "-H", made[1]], capture_output=True, text=True)
    assert shown.returncode == 0 and "checkpoints" in shown.stdout


def test_inspect_tells_of_it(made, warm_command):
    outcome = warm_command("inspect", str(made[1]))
    assert outcome.code == 0 and "step 3000" in outcome.text and "11 of 24 positions" in outcome.text, outcome
    told = warm_command("inspect", str(made[1]), "--json").json
    assert told["format"] == "series" and told["checkpoint_count"] == "5" and "change/sink_score" in {d["path"] for d in told["datasets"]}


def test_a_folder_files_and_given_steps_are_the_same_series(made, series, tmp_path):
    variant, out, _ = made
    series([BACKCOPY / variant], tmp_path / "folder.h5")
    series([folder_of(variant, step) / "model.safetensors" for step in reversed(STEPS)], tmp_path / "files.h5")
    for step, name in zip(STEPS, "edcba"):
        shutil.copytree(folder_of(variant, step), tmp_path / name)
    series([tmp_path / name for name in "abcde"], tmp_path / "given.h5", "--steps", ",".join(map(str, reversed(STEPS))))
    expected = datasets(out)
    for name in ("folder.h5", "files.h5", "given.h5"):
        found = datasets(tmp_path / name)
        differ = [key for key in expected if found[key] != expected[key]]
        assert found.keys() == expected.keys() and differ == ([] if name == "folder.h5" else ["checkpoints/name"]), name


def test_checkpoints_that_were_run_on_different_threads_are_told_of(series, warm_command, plan, tmp_path):
    checkpoints = [folder_of("softmax", step) for step in STEPS[:2]]
    words = ["series", *map(str, checkpoints), "--plan", str(plan), "-o", str(tmp_path / "s.h5"), "--device", "cpu", "--threads", "1"]
    first = warm_command(*words)
    assert first.code == 0 and "different" not in first.errors, first
    part = min(path for path in (tmp_path / "s.h5.parts").iterdir() if path.suffix == ".h5")
    with h5py.File(part, "r+") as file:  # as another machine would have written it
        file["shards/threads"][...] = 7
    (tmp_path / "s.h5").unlink()
    again = warm_command(*words)
    assert again.code == 0 and "different processors or threads" in again.errors and "with 7 threads" in again.errors and "," in again.errors, again


def test_what_the_self_check_found_in_a_step_is_said_again(warm_command, plan, tmp_path):
    checkpoints = [folder_of("softmax", step) for step in STEPS[:2]]
    words = ["series", *map(str, checkpoints), "--plan", str(plan), "-o", str(tmp_path / "s.h5"), "--device", "cpu", "--json"]
    first = warm_command(*words)
    assert first.code == 0 and first.json["self_check"]["violations"] == [], first
    with h5py.File(tmp_path / "s.h5.parts" / f"step_{STEPS[1]}.h5", "r+") as file:
        file["shards/self_check"][0] = "sequence 3: L0.H0 row 3: its weights add to 1.5"
    (tmp_path / "s.h5").unlink()
    found = [f"{checkpoints[1].name}: sequence 3: L0.H0 row 3: its weights add to 1.5"]
    for _ in range(2):  # once it is written, once there is nothing to do
        again = warm_command(*words)
        assert again.code == 70 and again.json["self_check"]["violations"] == found and found[0] in again.errors, again
    with h5py.File(tmp_path / "s.h5") as file:
        assert [text.decode() for text in file["checkpoints/self_check"][:]] == ["", "sequence 3: L0.H0 row 3: its weights add to 1.5"]
    told = warm_command("inspect", str(tmp_path / "s.h5"))
    assert told.code == 0 and f"FAILED: {found[0]}" in told.text, told


def test_what_is_not_kept_has_no_change(series, tmp_path):
    checkpoints = [folder_of("softmax", step) for step in (0, 300)]
    series(checkpoints, tmp_path / "s.h5", "--keep", "logit_max", "--no-ids", "--epsilon", "0.1", "--layers", "0", "--what-if", "temperature=2")
    with h5py.File(tmp_path / "s.h5") as file:
        assert set(file["change"]) == {"next_token_loss", "sink_rate", "logit_max"}
        assert "token_id" not in file["sequences"] and "entropy_mean" in file and "entropy_mean" not in file["sequences"]
        assert file["sink_rate"].shape == (2, len(STATISTICS), 1, 3) and "temperature" in file["program"].attrs["overrides"]


def test_again_there_is_nothing_to_do_and_a_training_goes_on(series, warm_command, plan, tmp_path):
    out, parts = tmp_path / "s.h5", tmp_path / "s.h5.parts"
    first = [folder_of("softmax", step) for step in (0, 100)]
    series(first, out)
    before = snapshot(tmp_path)
    assert series(first, out)["nothing_to_do"] and snapshot(tmp_path) == before
    # A corpus that was run elsewhere and put there is taken.
    outcome = warm_command("corpus", str(folder_of("softmax", 1000)), "--plan", str(plan), "-o", str(parts / "step_1000.h5"), "--device", "cpu")
    assert outcome.code == 0, outcome
    ran = {path.name: path.stat().st_ino for path in parts.iterdir()}
    more = [*first, folder_of("softmax", 300), folder_of("softmax", 1000)]
    words = ["series", *map(str, more), "--plan", str(plan), "-o", str(out), "--device", "cpu"]
    refused(warm_command(*words), 2, "exists", "s.h5")
    assert {path.name: path.stat().st_ino for path in parts.iterdir()} == ran
    series(more, out, "--force")
    assert {name: (parts / name).stat().st_ino for name in ran} == ran and (parts / "step_300.h5").exists()
    series(more, tmp_path / "fresh.h5")
    assert datasets(out) == datasets(tmp_path / "fresh.h5")
    # Other settings: what was run with those before is not mixed with it, and replaced where that was asked for.
    refused(warm_command(*words[:-4], "-o", str(out), "--device", "cpu", "--keep", "core"), 2)
    series(more, out, "--force", "--keep", "core")
    with h5py.File(out) as file:
        assert file.attrs["keep"] == "core" and "entropy_mean" in file["change"] and "entropy_std" not in file["change"]


def test_killed_and_resumed_is_undisturbed(made, command, plan, series, tmp_path):
    variant, undisturbed, _ = made
    out, kills = tmp_path / "s.h5", 0
    words = ["series", BACKCOPY / variant, "--plan", plan, "-o", out, "--device", "cpu", "--batch-tokens", "24"]
    for attempt in range(4):
        process = command.start(*words)
        wanted = tmp_path / "s.h5.parts" / f"step_{STEPS[attempt]}.h5"
        while process.poll() is None and not wanted.exists():
            time.sleep(0.002)
        if process.poll() is None:
            process.kill()
            kills += 1
        process.communicate()
        assert not out.exists() or attempt == 3
    assert kills >= 3
    outcome = command(*words)
    assert outcome.code == 0, outcome
    assert datasets(out) == datasets(undisturbed)
    assert sorted(os.listdir(tmp_path)) == ["s.h5", "s.h5.parts"]
    assert sorted(os.listdir(tmp_path / "s.h5.parts")) == sorted(f"step_{step}.h5" for step in STEPS)


def test_what_is_refused_before_any_work(command, plan, tmp_path):
    zero, out = folder_of("softmax", 0), tmp_path / "s.h5"
    words = ["--plan", plan, "-o", out]

    def refuse(code, said, *arguments):
        refused_both_ways(command, code, said, "series", *arguments)
        assert not out.exists() and not (tmp_path / "s.h5.parts").exists()

    refuse(5, ["step_000200", "not there"], zero, BACKCOPY / "softmax" / "step_000200", *words)
    refuse(3, ["step 0 ", "softmax", "diff_v2"], zero, folder_of("diff_v2", 0), *words)
    refuse(3, ["step_000100", "attention", "diff_v2"], zero, folder_of("diff_v2", 100), *words)
    refuse(2, ["training step", "found softmax"], zero, BACKCOPY / "softmax", *words)
    refuse(2, ["--steps", "3"], zero, folder_of("softmax", 100), *words, "--steps", "0,1,2")
    refuse(2, ["--steps", "0,x"], zero, folder_of("softmax", 100), *words, "--steps", "0,x")
    refuse(3, ["model.safetensors"], zero, "--plan", folder_of("softmax", 0) / "model.safetensors", "-o", out)
    refuse(2, ["plan.h5"], zero, folder_of("softmax", 100), "--plan", plan, "-o", plan, "--force")
    plain = {"num_hidden_layers": 1, "num_attention_heads": 4, "vocab_size": 39}
    C.headroom(tmp_path / "base_1", C.headroom_config("softmax", **plain), 1)
    for name, change in {"layers": {"num_hidden_layers": 2}, "heads": {"num_attention_heads": 2}, "vocabulary": {"vocab_size": 40}}.items():
        C.headroom(tmp_path / f"{name}_2", C.headroom_config("softmax", **plain | change), 1)
        refuse(3, [name, f"{name}_2"], tmp_path / "base_1", tmp_path / f"{name}_2", *words)
    C.headroom(tmp_path / "few_1", C.headroom_config("softmax", **plain | {"vocab_size": 20}), 1)
    refuse(3, ["vocabulary", "few_1"], tmp_path / "few_1", *words)
    shutil.copytree(folder_of("softmax", 100), tmp_path / "other_100")
    tokenizer = json.loads((tmp_path / "other_100" / "tokenizer.json").read_text())
    (tmp_path / "other_100" / "tokenizer.json").write_text(json.dumps(tokenizer, indent=3))
    refuse(3, ["tokenizer", "other_100"], zero, tmp_path / "other_100", *words)


def test_a_checkpoint_that_is_not_finite_is_counted(series, tmp_path):
    shutil.copytree(folder_of("softmax", 100), tmp_path / "nan_200")
    weights = load_file(tmp_path / "nan_200" / "model.safetensors")
    name = next(name for name in weights if "mlp" in name)
    weights[name][0, 0] = torch.nan
    save_file(weights, tmp_path / "nan_200" / "model.safetensors", metadata={"format": "pt"})
    said = series([folder_of("softmax", 0), tmp_path / "nan_200", folder_of("softmax", 300)], tmp_path / "s.h5", code=8)
    assert [step["non_finite"] for step in said["steps"]] == [0, 11, 0]
    with h5py.File(tmp_path / "s.h5") as file:
        change = file["change/next_token_loss"][:]
        assert np.isnan(change[:, 0]).all() and change[1:, -1].tolist() == [0, 0]


def test_more_numbers_than_fit_at_once_are_the_same(warm_command, tmp_path):
    """512 heads: some quantities have more numbers than are compared at once."""
    rows = [[(7 * d + 3 * i + i * i) % 53 for i in range(8)] for d in range(6)]
    (tmp_path / "ids.jsonl").write_text("".join(json.dumps({"ids": ids}) + "\n" for ids in rows))
    config = C.headroom_config("diff_v2", num_hidden_layers=16, num_attention_heads=32, num_key_value_heads=32)
    for step in (1, 2):
        C.headroom(tmp_path / f"step_{step}", config, step)
    for words in (["corpus", tmp_path / "step_1", "--data", tmp_path / "ids.jsonl", "--field", "ids", "--length", "8", "--plan-only", "-o",
                   tmp_path / "plan.h5"], ["series", tmp_path, "--plan", tmp_path / "plan.h5", "-o", tmp_path / "s.h5", "--device", "cpu",
                                        "--keep", "lambda_quantile,sink_score*,top_key_mass"]):
        outcome = warm_command(*map(str, words))
        assert outcome.code == 0, outcome
    largest = 0
    with h5py.File(tmp_path / "s.h5") as file:
        for name, item in file["change"].items():
            if name == "sink_frequency":
                score = file["sequences/sink_score"][:].astype(np.float64)[..., 0]
                change, stored = np.diff((score > 0.3).astype(float), axis=0)[0], item[1][:, 1, 0]
            else:
                change, stored = np.diff(file["sequences"][name][:].astype(np.float64), axis=0)[0], item[1]
            count = (~np.isnan(change)).sum(axis=0)
            largest = max(largest, count.size)
            with np.errstate(all="ignore"):
                mean = np.nansum(change, axis=0) / count
                error = np.where(count > 1, np.sqrt(count / (count - 1) * np.nansum((change - mean) ** 2, axis=0)) / count, np.nan)
            assert np.array_equal(stored[-1], count), name
            for found, expected in ((stored[0], mean), (stored[2], error)):
                assert np.allclose(found, expected, rtol=1e-9, atol=1e-12, equal_nan=True), name
    assert largest > (64 << 20) / 8 / (6 + 2000)
