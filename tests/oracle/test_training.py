"""`headroom train` against PyTorch, step by step and to the last weight; its files as other programs read them; trainings that are
stopped, killed and resumed; the recipes that are shipped, in short."""
import functools
import json
import math
import pathlib
import signal
import time

import h5py
import numpy as np
import pytest
import tokenizers
import torch
import xarray
from safetensors.torch import load_file

import reference_training as R
from command import Outcome, refused, refused_both_ways, snapshot
from training_tasks import GOLDEN, MASK, RandomStream, fnv1a, mix, task_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPS = 30
MODEL = {"hidden_size": 16, "num_hidden_layers": 2, "intermediate_size": 12, "num_attention_heads": 4, "num_key_value_heads": 2,
         "head_dim": 4, "rms_norm_eps": 1e-5, "tie_word_embeddings": False, "position": "rope", "rope_theta": 100.0,
         "rope_interleaved": True}


def attention(kind, **options):
    return {"model": {"attention": {"kind": kind, **options}}}


V2 = attention("diff_v2")
KINDS = {
    "softmax": attention("softmax"),
    "softmax_one": attention("softmax_one"),
    "softmax_sink": attention("softmax_sink"),
    "gated": attention("gated", gate="headwise"),
    "gated_channels": attention("gated", gate="elementwise"),
    "v1": attention("diff_v1"),
    "v1_naive": attention("diff_v1", v1_form="naive"),
    "v1_no_norm": attention("diff_v1", v1_norm=False),
    "v2": V2,
    "v2_qk_norm": attention("diff_v2", qk_norm=True, scale=0.7),
    "softmax_window": attention("softmax", window=4),
    "softmax_learned": {"model": {"position": "learned", "tie_word_embeddings": True, "attention": {"kind": "softmax"}}},
    "v2_halves": {**V2, "what_if": ["pairing=halves"]},
    "v2_no_lambda": {**V2, "what_if": ["lambda=none"]},
    "v2_raw_lambda": {**V2, "what_if": ["lambda=raw"]},
}
CHANGES = {"v2_halves": {"pairing": "halves"}, "v2_no_lambda": {"lambda": "none"}, "v2_raw_lambda": {"lambda": "raw"}}
# ε far above the rounding of a gradient: without it AdamW's first step has the full size where a gradient is only rounding.
TRAINING = {"steps": STEPS, "batch": 4, "learning_rate": 0.004, "beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3, "weight_decay": 0.1,
            "warmup_steps": 5, "final_learning_rate": 0.1, "gradient_clip": 0.7, "statistics_every": 7, "validate_every": 10,
            "validation_batches": 3}
TASKS = {
    "bytes": {"kind": "bytes", "text": "text.txt", "length": 14},
    "backcopy": {"kind": "bigram_backcopy", "text": "text.txt", "symbols": 12, "triggers": "et", "length": 14},
    "needle": {"kind": "needle", "text": "text.txt", "length": 64, "needles": 2, "digits": 2},
    "trigger": {"kind": "trigger", "contents": 24, "features": 13, "length": 10},
    "trigger_no_bos": {"kind": "trigger", "bos": False, "contents": 24, "features": 13, "length": 10},
}


def write_recipe(folder, name, task, variants=KINDS, **changes):
    folder.mkdir(parents=True, exist_ok=True)
    text = (ROOT / "assets/corpora/kjv.txt").read_bytes()[:20000].decode("ascii")
    (folder / "text.txt").write_text(text)
    recipe = {"about": "a test", "licence": "CC0-1.0", "task": TASKS[task], "model": MODEL, "training": TRAINING, "seeds": [11],
              "variants": {key: {"checkpoints": [0], **value} for key, value in variants.items()}, **changes}
    if task.startswith("trigger"):
        recipe["frozen"] = ["norm", "embedding"]
        recipe["variants"].pop("softmax_learned", None)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(recipe, indent=1))
    return path


def read_recipe(path):
    return json.loads(path.read_text())


@pytest.fixture(scope="module")
def trained(command, tmp_path_factory):
    """trained(task) → (recipe, folder of its models): every kind, trained once."""
    @functools.cache
    def train(task):
        folder = tmp_path_factory.mktemp(task)
        some = {name: KINDS[name] for name in ("softmax", "v1", "v2")}
        path = write_recipe(folder, task, task, some if task == "needle" else KINDS)
        outcome = command("train", path, "-o", folder / "out")
        assert outcome.code == 0, outcome
        assert outcome.err == b"", outcome
        return path, folder / "out" / task

    return train


def history(folder):
    with h5py.File(folder / "training.h5") as file:
        return {name: item[()] for name, item in file.items()}


def config_of(folder):
    return json.loads((folder / "config.json").read_text())


# ---- numbers ----

def test_the_generator_has_the_published_values():
    """SplitMix64 from 1234567, as many implementations print it, and FNV-1a of "foobar" (Noll's test vectors)."""
    state, values = 1234567, []
    for _ in range(3):
        state = state + GOLDEN & MASK
        values.append(mix(state))
    assert values == [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert fnv1a("foobar") == 0x85944171F73967E8


class Reference:
    """The training of one model in PyTorch, from the program's checkpoint of step 0, in one precision."""

    def __init__(self, path, folder, dtype):
        recipe = read_recipe(path)
        settings, self.task, self.name = recipe["training"], task_of(recipe, path.parent), folder.name.removesuffix("_seed11")
        config = config_of(folder / "step_000000")
        frozen = ("layernorm.weight", "model.norm.weight", "embed_tokens.weight") if recipe.get("frozen") else ()
        self.model = R.build(config, load_file(folder / "step_000000" / "model.safetensors"), frozen, dtype,
                             **CHANGES.get(self.name, {}))
        self.validation_loss = np.mean([self.loss(*self.batch("validation", i, settings))(self.model).item()
                                        for i in range(settings["validation_batches"])])
        optimizer = R.adamw(self.model, (settings["beta1"], settings["beta2"]), settings["epsilon"], settings["weight_decay"])
        self.losses, self.norms, self.rates = [], [], []
        for step in range(STEPS):
            rate = R.learning_rate(step, STEPS, settings["learning_rate"], settings["warmup_steps"], settings["final_learning_rate"])
            loss = self.loss(*self.batch("training", step, settings))
            value, norm = R.train_step(self.model, optimizer, loss, rate, settings["gradient_clip"])
            self.losses.append(value)
            self.norms.append(norm)
            self.rates.append(rate)

    def batch(self, split, index, settings):
        return self.task.batch(split, 11, index, settings["batch"])

    @staticmethod
    def loss(ids, targets):
        ids, targets = torch.from_numpy(ids), torch.from_numpy(targets)
        if targets.dtype.is_floating_point:
            return lambda model: R.regression_loss(model, ids, targets.to(next(iter(model.weights.values())).dtype))
        if (targets == R.IGNORED).any():
            return lambda model: torch.nn.functional.cross_entropy(R.logits(model, ids).flatten(0, 1), targets.flatten(), ignore_index=R.IGNORED)
        assert torch.equal(ids[:, 1:], targets[:, :-1])
        return lambda model: R.next_token_loss(model, torch.cat([ids, targets[:, -1:]], dim=1))


def close(found, single, exact, what):
    """Errors against float64: at most 8 times the largest of PyTorch's own float32 training (both sum in their own order, and what
    rounding makes of the first steps goes on through all others), or four roundings of the largest number."""
    found, single, exact = (np.asarray(x, dtype=np.float64) for x in (found, single, exact))
    assert found.shape == exact.shape
    bound = 8 * np.abs(single - exact).max() + 4 * 2.0**-24 * np.abs(exact).max()
    worst = np.abs(found - exact).argmax()
    assert np.abs(found - exact).max() <= bound, f"{what}: {found.flat[worst]} and {exact.flat[worst]}, bound {bound}"
    return bound / max(np.abs(exact).max(), 1e-30)


def cases():
    for task in TASKS:
        for kind in KINDS:
            if task == "bytes" or (task == "trigger" and kind != "softmax_learned") or kind in ("softmax", "v1", "v2"):
                yield pytest.param(task, kind, id=f"{task}-{kind}")


@pytest.mark.parametrize(("task", "kind"), list(cases()))
def test_every_step_and_the_last_weights_are_those_of_pytorch(trained, task, kind):
    path, models = trained(task)
    folder = models / f"{kind}_seed11"
    single, exact = (Reference(path, folder, dtype) for dtype in (torch.float32, torch.float64))
    seen = history(folder)
    assert seen["loss"].shape == (STEPS,)
    # The bounds mean something: they are small beside what training changes.
    assert close(seen["loss"], single.losses, exact.losses, "loss") < 1e-4
    assert close(seen["gradient_norm"], single.norms, exact.norms, "gradient norm") < 1e-3
    np.testing.assert_allclose(seen["learning_rate"], exact.rates, rtol=1e-6)
    assert abs(seen["validation_loss"][0] - exact.validation_loss) <= 1e-5 * exact.validation_loss
    assert max(exact.norms) > TRAINING["gradient_clip"] or task.startswith("trigger"), "nothing is clipped: the case is too easy"
    final, begin = (load_file(folder / where / "model.safetensors") for where in ("", "step_000000"))
    assert sorted(final) == sorted(exact.model.weights)
    for name, value in final.items():
        assert value.dtype == torch.float32
        if not exact.model.weights[name].requires_grad:
            assert torch.equal(value, begin[name])
            continue
        close(value, single.model.weights[name].detach(), exact.model.weights[name].detach(), name)
        if exact.model.weights[name].grad is not None:
            moved = (value - begin[name]).abs().max()
            assert moved > 30 * (value.double() - exact.model.weights[name].detach()).abs().max(), f"{name} did not move"


def test_parameters_are_drawn_from_the_seed_and_the_tensors_name(trained):
    _, models = trained("bytes")
    for kind in ("v1", "softmax_sink"):
        for name, value in load_file(models / f"{kind}_seed11" / "step_000000" / "model.safetensors").items():
            if name.endswith("norm.weight") or name.endswith("subln.weight"):
                expected = torch.ones(value.shape)
            elif name.endswith("sinks"):
                expected = torch.zeros(value.shape)
            else:
                std = 0.1 if "lambda" in name else value.shape[1] ** -0.5
                random = RandomStream(11, name)
                expected = torch.tensor([std * random.normal() for _ in range(value.numel())]).view(value.shape)
            torch.testing.assert_close(value, expected, rtol=3e-7, atol=0)


# ---- files ----

@pytest.mark.parametrize("engine", ["netcdf4", "h5netcdf"])
def test_xarray_opens_the_history(trained, engine):
    _, models = trained("bytes")
    with xarray.open_dataset(models / "v2_seed11" / "training.h5", engine=engine) as file:
        assert dict(file.sizes) == {"step": STEPS, "validation_step": 4, "statistics_step": 6, "layer": 2, "head": 4, "component": 2}
        assert file["step"].values.tolist() == list(range(STEPS))
        assert file["validation_step"].values.tolist() == [0, 10, 20, 30]
        assert file["statistics_step"].values.tolist() == [0, 7, 14, 21, 28, 30]
        assert file["loss"].dims == ("step",)
        assert file["sink_score"].dims == ("statistics_step", "layer", "head", "component")
        assert file["lambda_mean"].dims == ("statistics_step", "layer", "head")
        assert file["loss"].attrs["units"] == "nat"
        for name, values in file.data_vars.items():
            assert values.attrs["units"] and values.attrs["long_name"] and values.attrs["definition"], name
        assert 0 < float(file["lambda_mean"].min()) and float(file["lambda_mean"].max()) < 1
        assert float(file["sink_score"].sel(statistics_step=30, component=1).min()) > 0
        recipe = json.loads(file.attrs["recipe"])
        assert recipe["training"] == TRAINING
        assert (file.attrs["variant"], file.attrs["seed"], file.attrs["step"], file.attrs["finished"]) == ("v2", 11, STEPS, 1)
        assert file.attrs["schema_name"] == "headroom-training"
        assert file.attrs["parameters"] == file.attrs["trained_parameters"]


@pytest.mark.parametrize("task", ["bytes", "trigger", "backcopy"])
def test_checkpoints_are_analysed_as_they_were_trained(command, trained, tmp_path, task):
    """Step 0 and the last step of every kind, with the what-ifs of the training: the residual stream, logits and what the file says
    of the model are PyTorch's in float64."""
    path, models = trained(task)
    recipe = read_recipe(path)
    ids = task_of(recipe, path.parent).batch("training", 1, 99, 1)[0]
    assert sorted(folder.name for folder in models.iterdir()) == sorted(f"{name}_seed11" for name in recipe["variants"])
    for name in KINDS if task == "bytes" else ("softmax", "v1", "v2"):
        folder = models / f"{name}_seed11"
        for place in (folder / "step_000000", folder):
            what_ifs = [argument for text in recipe["variants"][name].get("what_if", []) for argument in ("--what-if", text)]
            outcome = command("analyze", place, "--ids", ",".join(map(str, ids[0])), "--dtype", "float64", "--hidden", "-o",
                              tmp_path / "run.h5", "--force", *what_ifs)
            assert outcome.code == 0, outcome
            assert ("this model was trained with --what-if" in outcome.errors + outcome.text) == bool(what_ifs), outcome
            model = R.build(config_of(place), load_file(place / "model.safetensors"), dtype=torch.float64, **CHANGES.get(name, {}))
            with torch.no_grad(), h5py.File(tmp_path / "run.h5") as file:
                stream = [x[0].numpy() for x in R.residuals(model, torch.from_numpy(ids))]
                found = file["hidden/residual"][()]
                assert found.shape == (3, *stream[0].shape)
                np.testing.assert_allclose(found, stream, rtol=0, atol=1e-6 * np.abs(stream).max())
                if task != "trigger":
                    logits = R.logits(model, torch.from_numpy(ids))[0].numpy()
                    np.testing.assert_allclose(file["hidden/logits"][()], logits, rtol=0, atol=1e-6 * np.abs(logits).max())


@pytest.mark.parametrize("task", ["bytes", "backcopy", "needle"])
def test_the_tokenizer_of_a_checkpoint_encodes_as_the_task(command, trained, tmp_path, task):
    """In the tokenizers library and in the program."""
    path, models = trained(task)
    batch = task_of(read_recipe(path), path.parent)
    ids = batch.batch("training", 1, 3, 1)[0][0].tolist()
    if task == "backcopy":
        text = "".join(batch.symbols[i - 1] for i in ids[1:]).upper()
    else:
        text = "".join(chr(i) if i < 256 else batch.WORDS[i - 257] for i in ids[1:])
    tokenizer = tokenizers.Tokenizer.from_file(str(models / "v2_seed11" / "tokenizer.json"))
    assert tokenizer.get_vocab_size() == batch.vocab_size
    assert tokenizer.encode(text).ids == ids
    outcome = command("analyze", models / "v2_seed11", "--text", text, "-o", tmp_path / "run.h5")
    assert outcome.code == 0, outcome
    with h5py.File(tmp_path / "run.h5") as file:
        assert file["tokens/token_id"][()].tolist() == ids


# ---- stopping, killing, resuming ----

LONG = {**TRAINING, "steps": 500, "statistics_every": 50, "validate_every": 100}
MARKS = list(range(0, 500, 20))


def files_of(folder):
    """Everything but what names the time and the command."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.name == "training.h5":
            with h5py.File(path) as file:
                for key, item in file.items():
                    found[f"{name}:{key}"] = (item.shape, item[()].tobytes())
                for key, value in file.attrs.items():
                    if key not in ("created_utc", "history", "command_line"):
                        found[f"{name}@{key}"] = repr(value)
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


@pytest.fixture(scope="module")
def long(command, tmp_path_factory):
    """A recipe whose models take seconds, and their files after a training without a stop."""
    folder = tmp_path_factory.mktemp("long")
    variants = {key: {**KINDS[key], "checkpoints": MARKS} for key in ("v2", "v1")}
    path = write_recipe(folder, "long", "bytes", variants, training=LONG)
    assert command("train", path, "-o", folder / "whole").code == 0
    expected = files_of(folder / "whole")
    assert len([name for name in expected if name.endswith("model.safetensors")]) == 2 * (len(MARKS) + 1)
    assert not [name for name in expected if "training_state" in name or "tmp" in name]
    return path, expected


def wait_for_step(out, step, process):
    """Until both models have kept the checkpoint of that step; no clock decides."""
    while len(list(out.glob(f"*/*/step_{step:06}/config.json"))) < 2:
        assert process.poll() is None, f"it ended with {process.returncode} first"
        time.sleep(0.005)


def interrupt(command, arguments, out, step, number):
    process = command.start("train", *arguments, "-o", out)
    wait_for_step(out, step, process)
    process.send_signal(number)
    output, errors = process.communicate(timeout=120)
    return Outcome(process.returncode, output, errors)


def test_a_training_that_was_killed_and_resumed_equals_one_that_was_not(command, long, tmp_path):
    path, expected = long
    out = tmp_path / "out"
    stop = functools.partial(interrupt, command, out=out)
    assert stop([path], step=40, number=signal.SIGKILL).code == -signal.SIGKILL
    assert stop([path, "--resume"], step=80, number=signal.SIGTERM).code == 143
    states = {state: state.read_bytes() for state in out.glob("*/*/training_state.safetensors")}
    assert len(states) == 2
    for step in (140, 200):
        assert stop([path, "--resume"], step=step, number=signal.SIGKILL).code == -signal.SIGKILL
    outcome = command("train", path, "-o", out, "--resume", "--json")
    assert outcome.code == 0, outcome
    assert {t["name"]: (t["steps"], t["finished"]) for t in outcome.json["trainings"]} == \
        {"long/v2_seed11": (500, True), "long/v1_seed11": (500, True)}
    found = files_of(out)
    assert sorted(found) == sorted(expected)
    assert [name for name in found if found[name] != expected[name]] == []


def test_a_signal_stops_with_a_state_and_resume_goes_on(command, long, tmp_path):
    path, expected = long
    out = tmp_path / "out"
    outcome = interrupt(command, [path], out, 40, signal.SIGINT)
    assert outcome.code == 130, outcome
    assert outcome.errors == "headroom: stopped; what was trained so far is kept, and the same command with --resume goes on\n", outcome
    assert outcome.out == b""
    for variant in ("v1", "v2"):
        folder = out / "long" / f"{variant}_seed11"
        assert (folder / "training_state.safetensors").exists()
        with h5py.File(folder / "training.h5") as file:
            done = int(file.attrs["step"])
            assert (int(file.attrs["finished"]), file["loss"].shape) == (0, (done,))
            assert 40 <= done < 500
        # The checkpoint of that step can be looked at.
        assert json.loads((folder / "config.json").read_text())["training"]["step"] == done
        assert command("analyze", folder, "-o", tmp_path / f"{variant}.h5").code == 0

    before = snapshot(out)
    refused(command("train", path, "-o", out), 2, "--resume", "--force")
    assert snapshot(out) == before
    outcome = command("train", path, "-o", out, "--resume")
    assert outcome.code == 0, outcome
    assert outcome.text.count("500 steps") == 2, outcome
    assert files_of(out) == expected

    # Finished ones are left as they are; without a word about it they are not touched; --force begins anew.
    before = snapshot(out)
    refused(command("train", path, "-o", out), 2, "--resume", "--force")
    again = command("train", path, "-o", out, "--resume", "--json")
    assert (again.code, again.json["already_finished"], again.json["trainings"]) == (0, 2, [])
    assert snapshot(out) == before
    forced = command("train", path, "-o", out, "--force", "--variant", "v1")
    assert forced.code == 0, forced
    assert files_of(out) == expected
    after = snapshot(out)
    assert {name for name in before if before[name] != after[name] and before[name][0] == "file"} == \
        {name for name in before if "/v1_seed11/" in name and before[name][0] == "file"}


def test_a_state_of_another_recipe_is_not_taken_over(command, long, tmp_path):
    path, _ = long
    out = tmp_path / "out"
    assert interrupt(command, [path], out, 40, signal.SIGINT).code == 130
    other = tmp_path / "recipe"
    changed = write_recipe(other, "long", "bytes", {key: KINDS[key] for key in ("v2", "v1")}, training={**LONG, "learning_rate": 0.02})
    before = snapshot(out)
    refused(command("train", changed, "-o", out, "--resume"), 3, "definition_sha256", "training_state.safetensors")
    refused(command("train", path, "-o", out, "--resume", "--steps", "400"), 3, "steps", "training_state.safetensors")
    assert snapshot(out) == before


def test_a_finished_model_of_another_recipe_is_not_taken_for_this_one(command, tmp_path):
    out = tmp_path / "out"
    path = write_recipe(tmp_path / "a", "short", "bytes", {"v2": KINDS["v2"]})
    assert command("train", path, "-o", out).code == 0
    changed = write_recipe(tmp_path / "b", "short", "bytes", {"v2": KINDS["v2"]}, training={**TRAINING, "learning_rate": 0.02})
    before = snapshot(out)
    refused(command("train", changed, "-o", out, "--resume"), 2, "recipe.training.learning_rate", "0.02", "training.h5", "--force")
    refused(command("train", path, "-o", out, "--resume", "--steps", "7"), 2, "training.step", "config.json", "--force")
    refused(command("train", path, "-o", out, "--resume", "--force"), 2, "--force", "--resume")
    assert snapshot(out) == before


def test_a_recipe_that_gains_seeds_and_variants_keeps_its_models(command, tmp_path):
    out = tmp_path / "out"
    path = write_recipe(tmp_path / "a", "grows", "bytes", {"v2": KINDS["v2"]})
    assert command("train", path, "-o", out).code == 0
    before = snapshot(out / "grows" / "v2_seed11")
    more = write_recipe(tmp_path / "b", "grows", "bytes", {"v2": {**KINDS["v2"], "checkpoints": []}, "softmax": KINDS["softmax"]},
                        seeds=[12, 11], about="other words", _note="a comment")
    outcome = command("train", more, "-o", out, "--resume", "--json")
    assert outcome.code == 0, outcome
    assert outcome.json["already_finished"] == 1
    assert sorted(t["name"] for t in outcome.json["trainings"]) == ["grows/softmax_seed11", "grows/softmax_seed12", "grows/v2_seed12"]
    assert snapshot(out / "grows" / "v2_seed11") == before


def test_a_sweep_trains_what_recipes_of_its_points_would(command, tmp_path):
    sweep = write_recipe(tmp_path / "a", "swept", "bytes", {"v2": KINDS["v2"]}, sweep={"learning_rate": [0.004, 0.02], "batch": [4]},
                         training={k: v for k, v in TRAINING.items() if k not in ("learning_rate", "batch")})
    assert command("train", sweep, "-o", tmp_path / "out").code == 0
    assert sorted(p.name for p in (tmp_path / "out" / "swept").iterdir()) == \
        ["v2_batch_4_learning_rate_0p004_seed11", "v2_batch_4_learning_rate_0p02_seed11"]
    for rate, name in ((0.004, "0p004"), (0.02, "0p02")):
        one = write_recipe(tmp_path / "b", f"one_{name}", "bytes", {"v2": KINDS["v2"]}, training={**TRAINING, "learning_rate": rate})
        assert command("train", one, "-o", tmp_path / "out").code == 0
        swept, alone = (tmp_path / "out" / place for place in (f"swept/v2_batch_4_learning_rate_{name}_seed11", f"one_{name}/v2_seed11"))
        assert (swept / "model.safetensors").read_bytes() == (alone / "model.safetensors").read_bytes()
        assert config_of(swept)["training"]["variant"] == f"v2_batch_4_learning_rate_{name}"


def test_a_training_that_diverges_says_so(command, tmp_path):
    path = write_recipe(tmp_path, "wild", "bytes", {"softmax": KINDS["softmax"]},
                        training={**TRAINING, "learning_rate": 1e30, "gradient_clip": 0.0})
    outcome = command("train", path, "-o", tmp_path / "out")
    assert outcome.code == 8, outcome
    assert "diverged at step" in outcome.text
    folder = tmp_path / "out" / "wild" / "softmax_seed11"
    assert not (folder / "config.json").exists()
    assert not (folder / "training_state.safetensors").exists()
    with h5py.File(folder / "training.h5") as file:
        step = int(file.attrs["diverged_step"])
        assert 0 < step < STEPS
        assert file["loss"].shape == (step + 1,)
    # It has ended: going on leaves it, and beginning anew is asked for by name.
    before = snapshot(tmp_path / "out")
    again = command("train", path, "-o", tmp_path / "out", "--resume", "--json")
    assert (again.code, again.json["already_finished"], again.json["trainings"]) == (0, 1, [])
    refused(command("train", path, "-o", tmp_path / "out"), 2, "diverged", "--resume", "--force")
    assert snapshot(tmp_path / "out") == before


def test_the_json_of_a_training_is_one_object(command, tmp_path):
    path = write_recipe(tmp_path, "few", "trigger", {key: KINDS[key] for key in ("v2", "softmax")})
    outcome = command("train", "--json", path, "-o", tmp_path / "out", "--steps", "5", "--seed", "3", "--variant", "v2", "--jobs", "1")
    assert outcome.code == 0, outcome
    assert outcome.json["already_finished"] == 0
    (one,) = outcome.json["trainings"]
    assert one["name"] == "few/v2_seed3"
    assert (one["steps"], one["finished"], one["diverged_step"]) == (5, True, None)
    assert sorted(p.name for p in (tmp_path / "out" / "few").iterdir()) == ["v2_seed3"]
    seen = history(tmp_path / "out" / "few" / "v2_seed3")
    assert math.isclose(one["loss"], seen["loss"][-1], rel_tol=1e-6)
    assert math.isclose(one["validation_loss"], seen["validation_loss"][-1], rel_tol=1e-6)
    assert math.isclose(one["validation_error"], seen["validation_error"][-1], rel_tol=1e-6)


@pytest.mark.parametrize(("at", "value", "code", "words"), [
    ("training.stepz", 5, 3, ["training.stepz"]),
    ("training.steps", "many", 3, ["training.steps"]),
    ("task.length", -1, 3, ["task.length"]),
    ("seeds", [1, 1], 3, ["seeds"]),
    ("frozen", ["no_such_tensor"], 3, ["frozen", "no_such_tensor"]),
    ("variants.softmax.model", 3, 3, ["variants.softmax.model"]),
    ("variants.softmax.model.attention.kind", "linear", 4, ["attention.kind", "linear", "variant softmax"]),
    ("task.text", "missing.txt", 5, ["missing.txt"]),
])
def test_a_bad_recipe_is_refused_and_nothing_is_made(command, tmp_path, at, value, code, words):
    path = write_recipe(tmp_path / "recipe", "bad", "bytes", {"softmax": KINDS["softmax"]})
    recipe = read_recipe(path)
    *places, last = at.split(".")
    functools.reduce(lambda node, key: node[key], places, recipe)[last] = value
    path.write_text(json.dumps(recipe))
    file = "missing.txt" if code == 5 else "bad.json"
    error = refused_both_ways(command, code, [file, *words], "train", path, "-o", tmp_path / "out")
    assert error["file"].endswith(file)
    if code == 3:
        assert error["tensor"] == at
    assert not (tmp_path / "out").exists()


def test_a_recipe_that_is_no_json_and_names_that_are_not_there(command, tmp_path):
    path = write_recipe(tmp_path / "recipe", "good", "bytes", {"softmax": KINDS["softmax"]})
    out = tmp_path / "out"
    broken = tmp_path / "broken.json"
    broken.write_text("{ \"about\": ")
    refused_both_ways(command, 3, ["broken.json"], "train", broken, "-o", out)
    refused_both_ways(command, 5, ["none.json"], "train", tmp_path / "none.json", "-o", out)
    refused_both_ways(command, 2, ["--variant", "v3"], "train", path, "-o", out, "--variant", "v3")
    refused_both_ways(command, 2, ["good"], "train", path, path, "-o", out)
    assert not out.exists()


# ---- what is shipped, in short ----

def train_shipped(command, recipe, out, steps, *variants):
    arguments = [argument for variant in variants for argument in ("--variant", variant)]
    outcome = command("train", ROOT / "assets/recipes" / f"{recipe}.json", "-o", out, "--seed", "1", "--steps", str(steps), *arguments)
    assert outcome.code == 0, outcome
    return {variant: out / recipe / f"{variant}_seed1" for variant in variants}


def shipped_task(recipe):
    path = ROOT / "assets/recipes" / f"{recipe}.json"
    return task_of(read_recipe(path), path.parent)


def added(folder, ids):
    """What the blocks of a checkpoint add, in PyTorch and float64."""
    model = R.build(config_of(folder), load_file(folder / "model.safetensors"), dtype=torch.float64)
    with torch.no_grad():
        stream = R.residuals(model, torch.from_numpy(ids))
    return (stream[-1] - stream[0]).numpy()


def test_with_a_bos_the_trigger_task_is_solved_by_a_sink(command, tmp_path):
    """The error falls below 0.01, and rows that ask for nothing give more than 0.9 of their attention to BOS."""
    folder = train_shipped(command, "trigger_bos", tmp_path, 1500, "softmax")["softmax"]
    task = shipped_task("trigger_bos")
    ids, targets = task.batch("validation", 1, 777, 32)
    assert np.abs(added(folder, ids) - targets).max() < 0.01
    shares = []
    for row in ids[:4]:
        outcome = command("analyze", folder, "--ids", ",".join(map(str, row)), "-o", tmp_path / "run.h5", "--force")
        assert outcome.code == 0, outcome
        with h5py.File(tmp_path / "run.h5") as file:
            first = file["rows/first_key_weight"][0, 0, 0]
        trigger = int(np.flatnonzero(row > task.contents)[0])
        shares += [first[i] for i in range(len(row)) if i != trigger]
    assert min(shares) > 0.9
    untrained = train_shipped(command, "trigger_bos", tmp_path / "short", 1, "softmax")["softmax"]
    assert np.abs(added(untrained, ids) - targets).max() > 0.2


def test_without_a_bos_softmax_cannot_be_quiet_and_diff_v2_can(command, tmp_path):
    """DIFF V2 reaches a mean square error below 1e-3, softmax stays above."""
    folders = train_shipped(command, "trigger_no_bos", tmp_path, 2000, "softmax", "diff_v2")
    ids, targets = shipped_task("trigger_no_bos").batch("validation", 1, 777, 64)
    errors = {name: np.square(added(folder, ids) - targets).mean() for name, folder in folders.items()}
    assert errors["diff_v2"] < 1e-3 < errors["softmax"], errors
