"""The shipped models: each opens and passes its own check, gives the numbers that are recorded beside it, was made by the recipe that is
shipped with it, and says the same as an independent computation."""
import json
import pathlib
import re

import h5py
import pytest

import trained_models as T
from command import Outcome, snapshot

ASSETS = pathlib.Path(__file__).resolve().parents[2] / "assets"
DEMO = ASSETS / "demo"
RECIPES = ("trigger_bos", "trigger_no_bos", "backcopy", "bytes")
VARIANTS = {name: list(T.read_recipe(ASSETS / "recipes" / f"{name}.json")["variants"]) for name in RECIPES}
MODELS = [f"{recipe}/{variant}" for recipe in RECIPES for variant in VARIANTS[recipe]]
SEED = 1  # of the shipped models
MOST_BYTES = 12_000_000


def shipped_steps():
    """Checkpoints kept from the middle of a training, as the recipes say."""
    for recipe in RECIPES:
        for variant, settings in T.read_recipe(ASSETS / "recipes" / f"{recipe}.json")["variants"].items():
            yield from (f"{recipe}/{variant}/step_{step:06d}" for step in settings.get("checkpoints", []))


STEPS = list(shipped_steps())


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


@pytest.fixture(scope="module")
def recorded():
    path = DEMO / "statistics.json"
    assert path.is_file(), f"{path} is missing: app/make_demo.sh makes it"
    return json.loads(path.read_text())


def recipe_of(model):
    return ASSETS / "recipes" / f"{model.split('/')[0]}.json"


def note_of(model):
    return json.loads((DEMO / model / "config.json").read_text())["training"]


def test_every_model_of_every_recipe_is_shipped_and_nothing_else():
    found = sorted(p.parent.relative_to(DEMO).as_posix() for p in DEMO.rglob("model.safetensors"))
    assert found == sorted(MODELS + STEPS)
    for model in MODELS:
        files = {p.name for p in (DEMO / model).iterdir() if p.is_file()}
        assert files - {"tokenizer.json"} == {"config.json", "model.safetensors", "prompt_ids.txt", "training.h5"}, model
        assert ("tokenizer.json" in files) != model.startswith("trigger"), model


def test_statistics_are_of_every_recipe_variant_and_seed(recorded):
    recipes = {name: T.read_recipe(ASSETS / "recipes" / f"{name}.json") for name in RECIPES}
    assert set(recorded) == {f"{name}/{variant}_seed{seed}" for name, recipe in recipes.items()
                             for variant, settings in recipe["variants"].items() for seed in settings.get("seeds", recipe["seeds"])}
    for name, numbers in recorded.items():
        assert set(numbers) == {"parameters", "step", "loss", "validation_loss", "validation_error", "next_token_loss", "logit_max",
                                *T.NUMBERS}, name


@pytest.mark.parametrize("model", MODELS + STEPS)
def test_every_model_is_analysed_without_a_prompt(command, tmp_path, model):
    """`headroom analyze FOLDER` takes the model's own prompt: the first evaluation sequence of its task."""
    outcome = command("analyze", DEMO / model, "-o", tmp_path / "out.h5")
    assert outcome.code == 0, outcome
    (check,) = re.findall(r"^Self-check: .*$", outcome.text, re.M)
    assert check.endswith(": passed"), outcome
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["tokens/token_id"][()].tolist() == T.sequences_of(recipe_of(model), 1)[0].tolist()


@pytest.mark.parametrize("model", MODELS + STEPS)
def test_every_model_was_made_by_its_recipe(model):
    recipe_name, variant, *step = model.split("/")
    recipe, note = T.read_recipe(recipe_of(model)), note_of(model)
    assert note["recipe"] == recipe_name and note["variant"] == variant and note["seed"] == SEED
    assert "stop_below_error" not in recipe["training"]
    assert note["step"] == (int(step[0].removeprefix("step_")) if step else recipe["training"]["steps"])
    assert note["licence"] == recipe["licence"] == "CC0-1.0"
    assert note["what_if"] == recipe["variants"][variant].get("what_if", [])
    config = json.loads((DEMO / model / "config.json").read_text())
    for key, value in {**recipe["model"], **recipe["variants"][variant]["model"]}.items():
        if key == "attention":
            value = {**recipe["model"].get("attention", {}), **value}
        assert config[key] == value, key
    if step:
        return
    with h5py.File(DEMO / model / "training.h5") as file:
        attributes = {key: file.attrs[key] for key in ("recipe", "recipe_sha256", "variant", "seed", "step")}
        # The histories' last steps are those that statistics.json has its losses from.
        assert len(file["loss"]) == recipe["training"]["steps"]
    assert attributes["recipe_sha256"] == note["recipe_sha256"] and attributes["variant"] == variant
    assert (int(attributes["seed"]), int(attributes["step"])) == (SEED, note["step"])
    # What a recipe says now, but for the seeds that it has gained and its words about them.
    then = json.loads(attributes["recipe"])
    assert SEED in recipe["variants"][variant].get("seeds", recipe["seeds"])
    for other in (then, recipe):
        other.pop("seeds")
        other.pop("about")
        for settings in other["variants"].values():
            settings.pop("seeds", None)
    assert then == recipe


def test_measured_again_they_give_what_was_recorded(command, recorded, tmp_path):
    """Nothing is trained. Other instructions of another processor add in another order: float32 rounding, 1e-7 of a logit, becomes some
    1e-6 of a weight where logits are large, and no number here is less smooth but for shares of rows (trained_models.py)."""
    before = snapshot(DEMO)
    process = command.start("reproduce", "--only-models", "--seed", str(SEED), "-o", tmp_path, "--assets", ASSETS)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, Outcome(process.returncode, out, err)
    assert snapshot(DEMO) == before
    assert not list(tmp_path.rglob("*.safetensors")) and not list(tmp_path.rglob("training.h5"))
    found = json.loads((tmp_path / "statistics.json").read_text())
    assert set(found) == {f"{model}_seed{SEED}" for model in MODELS}
    wrong = []
    for name, numbers in found.items():
        rows = T.SEQUENCES * len(T.sequences_of(recipe_of(name), 1)[0])
        wrong += [f"{name} {line}" for line in T.differences(numbers, recorded[name], 1e-4, 1e-5, rows)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("model", MODELS)
def test_recorded_numbers_equal_an_independent_computation(recorded, model):
    T.check_model(recorded[f"{model}_seed{SEED}"], DEMO / model, recipe_of(model))


def test_the_assets_stay_small():
    sizes = {path: path.stat().st_size for path in ASSETS.rglob("*") if path.is_file()}
    assert len(sizes) > 10
    assert sum(sizes.values()) < MOST_BYTES, sorted(sizes.items(), key=lambda item: -item[1])[:10]
