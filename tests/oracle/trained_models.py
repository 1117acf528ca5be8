"""The numbers of a trained checkpoint over its task's evaluation sequences, from its weights alone: `forward.py` and `quantities.py`
on sequences that `training_tasks.py` draws. Nothing is read from what the program measured."""
import json
import math

import numpy as np
import torch
from safetensors.torch import load_file

import forward
from quantities import RowStatistics, head_summary
from training_tasks import task_of

EVALUATION_BATCH = 1_000_000  # the index of the validation batch that models are measured on
SEQUENCES = 64
ALL_ROWS = 1
SHARES = ("below_softmax_bound", "above_softmax_bound", "below_variant_bound", "above_variant_bound")


def read_recipe(path):
    return json.loads(path.read_text())


def sequences_of(path, count=SEQUENCES):
    """ids [count, length]: what neither training nor validation draws."""
    return task_of(read_recipe(path), path.parent).batch("validation", 0, EVALUATION_BATCH, count)[0]


def load(folder):
    config = json.loads((folder / "config.json").read_text())
    weights = {name: tensor.double() for name, tensor in load_file(folder / "model.safetensors").items()}
    if config.get("lm_head") is False:  # nothing follows the blocks: forward.py's logits mean nothing
        weights["model.norm.weight"] = torch.ones(config["hidden_size"], dtype=torch.float64)
    return forward.Model("headroom", config, weights)


def nan_mean(values):
    values = np.asarray([v for v in values if not math.isnan(v)], dtype=float)
    return values.mean() if values.size else math.nan


class Measured:
    """Every head's summary of every sequence, and what claims look at row by row: heads[layer, head] is a list of pairs
    (head_summary, RowStatistics)."""

    def __init__(self, folder, sequences, what_ifs=()):
        model, self.heads, self.losses = load(folder), {}, []
        for ids in np.asarray(sequences).tolist():
            trace = forward.run(model, ids, what_ifs)
            probabilities = torch.log_softmax(trace.logits[:-1], dim=-1)
            self.losses.append(-probabilities[torch.arange(len(ids) - 1), torch.tensor(ids[1:])].mean().item())
            for l, layer in enumerate(trace.layers):
                for h, head in enumerate(layer.heads):
                    rows = RowStatistics(head)
                    self.heads.setdefault((l, h), []).append((head_summary(rows, layer.kind, ids, ALL_ROWS), rows))
        if model.config.get("lm_head") is False:
            self.losses = [math.nan]
        self.rows = len(sequences) * len(sequences[0]) * len(self.heads)

    def over_heads(self, pick):
        """pick(summary, rows): the mean over sequences of each head, then over heads; what there is not is left out."""
        return nan_mean([nan_mean([pick(*pair) for pair in pairs]) for pairs in self.heads.values()])

    def largest(self, pick):
        return max(pick(*pair) for pairs in self.heads.values() for pair in pairs)


def component(name, index):
    return lambda s, _: s["component"][index][name] if index < len(s["component"]) else math.nan


def scalar(name):
    return lambda s, _: s[name]


def rho(probability):
    return lambda _, rows: float(np.quantile(rows.context_rms_relative.numpy(), probability))


def bound(side, index):
    return lambda s, _: s[f"rows_{side}_bound"][index]


# Name in statistics.json → (summary, rows) → number. Bounds: 0 softmax's, 2 the variant's own.
NUMBERS = {
    "sink_score_first": component("sink_score", 0), "sink_score_second": component("sink_score", 1),
    **{name: scalar(name) for name in ("sink_score_net", "sink_score_absolute", "implicit_sink_mass", "weight_l2_mean", "lambda_mean",
                                       "lambda_std", "output_cancellation_mean", "negative_mass_mean", "value_drain", "gate_mean",
                                       "norm_gain_median")},
    "rho_05": rho(0.05), "rho_50": rho(0.5), "rho_95": rho(0.95),
    "below_softmax_bound": bound("below", 0), "above_softmax_bound": bound("above", 0),
    "below_variant_bound": bound("below", 2), "above_variant_bound": bound("above", 2),
}


def statistics_of(measured):
    numbers = {name: measured.over_heads(pick) for name, pick in NUMBERS.items()}
    numbers["next_token_loss"] = nan_mean(measured.losses)
    numbers["logit_max"] = measured.largest(lambda s, _: max(c["logit_max"] for c in s["component"]))
    return numbers


def notes_of(folder):
    """What training noted: the file's history and the tensors themselves."""
    import h5py

    with h5py.File(folder / "training.h5") as file:
        loss = file["loss"][()].astype(float)
        validation, error = (file[name][-1] for name in ("validation_loss", "validation_error"))
    parameters = sum(t.numel() for t in load_file(folder / "model.safetensors").values())
    return {"parameters": parameters, "step": len(loss), "loss": loss[-100:].mean(), "validation_loss": float(validation),
            "validation_error": float(error)}


def differences(found, expected, rtol, atol, rows):
    """Names whose numbers differ, with both. Shares of rows may differ by rows that sit on a bound, which rounding decides: one in
    a thousand, and at least two rows."""
    assert set(found) == set(expected), set(found) ^ set(expected)
    wrong = []
    for name, want in expected.items():
        have, want = (math.nan if value is None else value for value in (found[name], want))
        slack = max(1e-3, 2 / rows) if name in SHARES else atol + rtol * abs(want)
        if math.isnan(have) != math.isnan(want) or abs(have - want) > slack:
            wrong.append(f"{name}: {have}, expected {want} within {slack:.2g}")
    return wrong


def check_model(found, folder, recipe_path, rtol=1e-4, atol=1e-5):
    """The numbers of statistics.json for a model against those of its own weights: float32 against float64, means of thousands of
    rows (they differ by 3e-7)."""
    recipe = read_recipe(recipe_path)
    measured = Measured(folder, sequences_of(recipe_path), json.loads((folder / "config.json").read_text())["training"]["what_if"])
    expected = {**notes_of(folder), **statistics_of(measured)}
    wrong = differences(found, expected, rtol, atol, measured.rows)
    assert not wrong, f"{folder} ({recipe['task']['kind']}):\n" + "\n".join(wrong)
