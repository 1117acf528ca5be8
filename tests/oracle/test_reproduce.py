"""`headroom reproduce` on recipes of a few steps: what it writes says the same everywhere and equals an independent computation, a
run that was stopped ends with the same numbers, and what it refuses."""
import json
import math
import pathlib
import re
import shutil
import signal
import time

import h5py
import numpy as np
import pytest
import torch

import forward
import trained_models as T
from command import Outcome, check_error_object, refused, refused_both_ways, snapshot
from seed_statistics import compared, holm

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHIPPED = ("trigger_bos", "trigger_no_bos", "backcopy", "bytes")
KINDS = ("softmax", "softmax_one", "softmax_sink", "gated", "diff_v1", "diff_v1_no_norm", "diff_v2")
SEEDS = (1, 2)
STEPS = 24
SOME = ("trigger_bos/diff_v2_seed1", "trigger_no_bos/softmax_one_seed2", "backcopy/softmax_seed1", "backcopy/diff_v1_seed2",
        "bytes/gated_seed1", "bytes/diff_v2_seed2")


def small_assets(folder, change=None):
    """The project's recipes, a few steps each; `change` may do more to one."""
    (folder / "recipes").mkdir(parents=True)
    for path in (ROOT / "assets" / "recipes").glob("*.json"):
        recipe = json.loads(path.read_text())
        if "text" in recipe["task"]:
            recipe["task"]["text"] = str(path.parent / recipe["task"]["text"])
        recipe["training"].update(steps=STEPS, batch=8, statistics_every=8, validate_every=8, validation_batches=2)
        if "sweep" in recipe:  # both points above the others' learning rate
            recipe["sweep"] = {"learning_rate": [0.05], "gradient_clip": [1.0, 0.0]}
        else:
            recipe["training"]["learning_rate"] = 0.02
        if "warmup_steps" in recipe["training"]:
            recipe["training"]["warmup_steps"] = 4
        for variant in recipe["variants"].values():
            variant.pop("checkpoints", None)
            variant.pop("seeds", None)
        recipe["seeds"] = list(SEEDS)
        if change:
            change(path.stem, recipe)
        (folder / "recipes" / path.name).write_text(json.dumps(recipe))
    return folder


def finish(process):
    out, err = process.communicate(timeout=600)
    return Outcome(process.returncode, out or b"", err or b"")


@pytest.fixture(scope="module")
def assets(tmp_path_factory):
    return small_assets(tmp_path_factory.mktemp("assets") / "a")


@pytest.fixture(scope="module")
def whole(command, assets, tmp_path_factory):
    """(folder, Outcome) of a run over everything."""
    out = tmp_path_factory.mktemp("whole") / "out"
    before = snapshot(assets)
    outcome = finish(command.start("reproduce", "-o", out, "--assets", assets, "--json"))
    assert outcome.code == 0, outcome
    assert snapshot(assets) == before
    return out, outcome


@pytest.fixture(scope="module")
def claims(whole):
    return json.loads((whole[0] / "claims.json").read_text())


def recipe_path(assets, name):
    return assets / "recipes" / f"{name}.json"


def table(claims, number, caption):
    (found,) = [t for t in claims[number - 1]["tables"] if caption in t["caption"]]
    return found


def cells(claims, number, caption, row):
    """Column → cell of the row of that name; a row's name are its texts."""
    found = table(claims, number, caption)
    (values,) = [r for r in found["rows"] if [c for c in r if isinstance(c, str)] == list(row)]
    return dict(zip(found["columns"], values))


def letter(index):
    return (chr(ord("a") + index // 26 - 1) if index >= 26 else "") + chr(ord("a") + index % 26)


# ---- what is written


def test_everything_is_there(whole, claims):
    out, outcome = whole
    assert sorted(p.name for p in out.iterdir()) == ["claims.json", "models", "models.md", "report.md", "runs", "statistics.json"]
    assert [c["number"] for c in claims] == list(range(1, 10))
    for claim in claims:
        assert claim["title"] and claim["claim"] and claim["tables"] and claim["sentences"], claim["number"]
        assert [x["id"] for x in claim["sentences"]] == [f"{claim['number']}{letter(i)}" for i in range(len(claim["sentences"]))]
        for t in claim["tables"]:
            assert t["rows"] and all(len(row) <= len(t["columns"]) for row in t["rows"]), t["caption"]
    assert outcome.json == {"path": str(out), "run_files": len(SHIPPED) * len(KINDS), "claims": [
        {"number": c["number"], "title": c["title"], "verdicts": {x["id"]: x["verdict"] for x in c["sentences"]}}
        for c in claims]}
    names = {f"{recipe}/{kind}_seed{seed}" for recipe in SHIPPED for kind in KINDS for seed in SEEDS}
    statistics = json.loads((out / "statistics.json").read_text())
    assert set(statistics) == names
    assert all((out / "models" / name / "training.h5").is_file() for name in names)
    assert not list((out / "models").rglob("training_state.safetensors"))


def test_the_text_output_is_the_same(command, assets, whole, claims, tmp_path):
    """A second call trains nothing."""
    out = shutil.copytree(whole[0], tmp_path / "out")
    before = snapshot(out / "models")
    outcome = finish(command.start("reproduce", "-o", out, "--assets", assets, "--claim", "3", "7"))
    assert outcome.code == 0, outcome
    assert snapshot(out / "models") == before
    for number in (3, 7):
        claim = claims[number - 1]
        assert f"{number}. {claim['title']}\n" in outcome.text
        for x in claim["sentences"]:
            words = re.escape(f"{x['sentence']}: {x['found']}")
            assert re.search(rf"^   {x['id']} +{x['verdict']} +{words}$", outcome.text, re.M), x
    assert json.loads((out / "claims.json").read_text()) == [claims[2], claims[6]]


def markdown_tables(text):
    """Caption → rows of cell texts, the head first."""
    tables = {}
    for block in re.finditer(r"^(.+)\n\n((?:\|.*\|\n)+)", text, re.M):
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in block[2].splitlines()]
        del rows[1]
        tables[block[1]] = rows
    return tables


def same_number(shown, value):
    """`shown` is `value` rounded to the digits it has."""
    if value is None or math.isnan(value):
        return shown == "–"
    mantissa, _, exponent = shown.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return abs(float(shown) - value) <= 0.5000001 * 10.0 ** (int(exponent or 0) - decimals)


def significant(shown):
    return len(shown.partition("e")[0].lstrip("-0.").replace(".", ""))


def same_cell(shown, cell):
    if isinstance(cell, str):
        return shown == cell
    if not isinstance(cell, dict):
        return same_number(shown, cell)
    mean, _, deviation = shown.partition(" ± ")
    numbers = [v for v in cell["values"] if v is not None]
    if cell["mean"] is None:
        return shown == "–" and not numbers
    assert abs(cell["mean"] - np.mean(numbers)) <= 1e-12 * max(1, abs(cell["mean"]))
    if len(numbers) < 2:
        return cell["standard_deviation"] is None and not deviation and same_number(mean, cell["mean"])
    assert abs(cell["standard_deviation"] - np.std(numbers, ddof=1)) <= 1e-9 * max(1, abs(cell["mean"]))
    assert cell["mean"] == 0 or significant(mean) >= 3, shown
    if deviation == "0":  # nothing of it is left at the mean's last digit
        return same_number(mean, cell["mean"]) and same_number(re.sub(r"[\d-]", "0", mean), cell["standard_deviation"])
    return same_number(mean, cell["mean"]) and same_number(deviation, cell["standard_deviation"])


def test_every_number_of_the_report_is_that_of_claims_json(whole, claims):
    report = (whole[0] / "report.md").read_text()
    shown = markdown_tables(report)
    compared = 0
    for claim in claims:
        assert f"\n## {claim['number']}. {claim['title']}\n\n> {claim['claim']}\n" in report
        for x in claim["sentences"]:
            assert report.count(f"\n- **{x['id']}** {x['sentence']}: {x['found']}") == 1
            assert report.count(f"\n| {x['id']} | {x['sentence']} | {x['verdict']} |") == 1  # one verdict a sentence, at the top
        for t in claim["tables"]:
            head, *rows = shown[t["caption"]]
            assert head == t["columns"] and len(rows) == len(t["rows"])
            for texts, values in zip(rows, t["rows"]):
                for text, value in zip(texts, values + [""] * (len(head) - len(values)), strict=True):
                    assert same_cell(text, value), (t["caption"], text, value)
                    compared += 1
    assert compared > 500


def test_the_models_tables_are_those_of_statistics_json(whole):
    out = whole[0]
    statistics, shown = json.loads((out / "statistics.json").read_text()), markdown_tables((out / "models.md").read_text())
    columns = {"seeds": None, "parameters": "parameters", "validation loss": "validation_loss", "largest error": "validation_error", "α₀ first":
               "sink_score_first", "α₀ second": "sink_score_second", "net": "sink_score_net", "absolute": "sink_score_absolute",
               "to nothing": "implicit_sink_mass", "ρ 5 %": "rho_05", "ρ median": "rho_50", "ρ 95 %": "rho_95", "below 1/√n":
               "below_softmax_bound", "≥ 1": "above_softmax_bound", "below own": "below_variant_bound", "above own":
               "above_variant_bound", "‖w‖₂": "weight_l2_mean", "λ": "lambda_mean", "its spread": "lambda_std", "cancellation":
               "output_cancellation_mean", "negative mass": "negative_mass_mean", "max logit": "logit_max", "‖v₀‖/mean ‖v‖": "value_drain"}
    found = {name: set() for name in SHIPPED}
    for caption, (head, *rows) in shown.items():
        name = re.match(r"\W*(\w+)", caption)[1]
        found[name].update(head)
        assert sorted(row[0] for row in rows) == sorted(KINDS)
        for row in rows:
            for column, text in zip(head[1:], row[1:], strict=True):
                if column == "seeds":
                    assert int(text) == len(SEEDS)
                    continue
                values = [statistics[f"{name}/{row[0]}_seed{seed}"][columns[column]] for seed in SEEDS]
                values = [0.0 if v is not None and abs(v) < 1e-6 else v for v in values]  # shown as nothing
                known = [v for v in values if v is not None]
                cell = {"values": values, "mean": np.mean(known) if known else None,
                        "standard_deviation": np.std(known, ddof=1) if len(known) > 1 else None}
                assert same_number(text, known[0]) if column == "parameters" else same_cell(text, cell), (caption, row[0], column, text)
    for name, heads in found.items():
        assert heads == {"heads", *columns} - (set() if name.startswith("trigger") else {"largest error"})
    assert (out / "models.md").read_text() in (out / "report.md").read_text()


def test_the_run_files_are_of_the_first_evaluation_sequence(whole, assets):
    out = whole[0]
    files = sorted(p.relative_to(out / "runs").as_posix() for p in (out / "runs").rglob("*.h5"))
    assert files == sorted(f"{recipe}/{kind}_seed1.h5" for recipe in SHIPPED for kind in KINDS)
    for name in files:
        ids = T.sequences_of(recipe_path(assets, name.split("/")[0]), 1)[0]
        model = out / "models" / name.removesuffix(".h5")
        assert (model / "prompt_ids.txt").read_text() == ",".join(map(str, ids)) + "\n"
        with h5py.File(out / "runs" / name) as file:
            assert file["tokens/token_id"][()].tolist() == ids.tolist()
            if name not in ("backcopy/diff_v2_seed1.h5", "trigger_bos/softmax_seed1.h5"):
                continue
            measured = T.Measured(model, [ids])
            found = {key: file[key][()].astype(float) for key in ("sink_score", "context_rms_mean")}
            for (l, h), ((summary, _),) in measured.heads.items():
                for m, c in enumerate(summary["component"]):
                    assert found["sink_score"][l, h, m] == pytest.approx(c["sink_score"], rel=1e-4, abs=1e-6)
                assert found["context_rms_mean"][l, h] == pytest.approx(summary["context_rms_mean"], rel=1e-4, abs=1e-6)


# ---- what is measured


@pytest.mark.parametrize("name", SOME)
def test_statistics_equal_an_independent_computation(whole, assets, name):
    found = json.loads((whole[0] / "statistics.json").read_text())[name]
    T.check_model(found, whole[0] / "models" / name, recipe_path(assets, name.split("/")[0]))


@pytest.mark.parametrize(("kind", "shown", "what_ifs"), [("no_lambda", "V2 without λ", ["lambda=none"]),
                                                         ("raw_lambda", "V2, λ without sigmoid", ["lambda=raw"]),
                                                         ("wrong_pairing", "V2, wrong pairing", ["pairing=halves"])])
def test_claim_1_measures_the_ablated_models(whole, claims, assets, kind, shown, what_ifs):
    """In units of the values of both maps, which differ where the pairing is wrong."""
    def rho(rows):
        squares = sum((m.values**2).mean(dim=1) for m in rows.head.maps) / 2
        return rows.context_rms / ((rows.visible * squares).sum(dim=1) / rows.n_i).sqrt()

    def quantile(probability):
        return lambda _, rows: float(np.quantile(rho(rows).numpy(), probability))

    def share(inside):
        return lambda _, rows: inside(rho(rows), 1 / rows.n_i.double().sqrt()).double().mean().item()

    path = recipe_path(assets, "bytes_ablations")
    for moment, folder in (("before the first step", "models/initial"), ("after training", "models")):
        model = whole[0] / folder / "bytes_ablations" / f"{kind}_seed2"
        assert json.loads((model / "config.json").read_text())["training"]["what_if"] == what_ifs
        measured = T.Measured(model, T.sequences_of(path), what_ifs)
        row = cells(claims, 1, moment, [shown])
        for column, pick in {"5 %": quantile(0.05), "median": quantile(0.5), "95 %": quantile(0.95), "largest": quantile(1.0),
                             "‖w‖₂": T.scalar("weight_l2_mean")}.items():
            assert row[column]["values"][1] == pytest.approx(measured.over_heads(pick), rel=1e-4, abs=1e-5), (moment, column)
        for column, pick in {"below 1/√n": share(lambda r, low: r < low), "in [1/√n, 1)": share(lambda r, low: (r >= low) & (r < 1)),
                             "in (0, √2)": share(lambda r, _: (r > 1e-9) & (r < math.sqrt(2)))}.items():
            assert row[column]["values"][1] == pytest.approx(measured.over_heads(pick), abs=1e-3), (moment, column)


def test_claim_2_at_the_trained_length(whole, claims, assets):
    """Row n = 64: 1/ρ, averaged over the heads and all rows of one sequence, of V1 and of its first map made uniform."""
    ids = T.sequences_of(recipe_path(assets, "bytes"), 1)
    row = cells(claims, 2, "1/ρ = r̄/RMS(c)", ["64"])
    assert row["√n"] == 8
    for column, folder, what_ifs in (("V1, trained, text", "models", []), ("V1, initial, text", "models/initial", []),
                                     ("uniform map, trained, text", "models", ["second-map=off", "temperature=1e9"])):
        for seed in SEEDS:
            measured = T.Measured(whole[0] / folder / "bytes" / f"diff_v1_seed{seed}", ids, what_ifs)
            expected = measured.over_heads(lambda _, r: (1 / r.context_rms_relative).mean().item())
            assert row[column]["values"][seed - 1] == pytest.approx(expected, rel=1e-4), (column, seed)
            if folder == "models" and not what_ifs:
                gain = measured.over_heads(lambda _, r: r.norm_gain.mean().item())
                assert row["its gain 1/√(RMS² + ε)"]["values"][seed - 1] == pytest.approx(gain, rel=1e-4)


def histories(whole, recipe, kind, name):
    found = []
    for seed in SEEDS:
        with h5py.File(whole[0] / "models" / recipe / f"{kind}_seed{seed}" / "training.h5") as file:
            found.append(file[name][()].astype(float))
    return found




def test_claim_3_is_read_from_the_histories(whole, claims):
    for recipe, kind in (("bytes", "diff_v2"), ("bytes_ablations", "raw_lambda")):
        row = cells(claims, 3, "Byte models", [kind])
        assert row["validation loss"]["values"] == pytest.approx([h[-1] for h in histories(whole, recipe, kind, "validation_loss")])
        norms = histories(whole, recipe, kind, "gradient_norm")
        middle = [np.sort(h)[len(h) // 2] for h in norms]  # the upper one of an even number
        assert row["gradient norm, median"]["values"] == pytest.approx(middle)
        assert row["largest gradient / median"]["values"] == pytest.approx([h.max() / m for h, m in zip(norms, middle)])
        assert row["steps clipped"]["values"] == pytest.approx([(h > 1).mean() for h in norms])
    for clip in ("1", "0"):
        name = f"wrong_pairing_gradient_clip_{clip}_learning_rate_0p05"
        row = cells(claims, 3, "The sweep", ["wrong_pairing", "0.05", clip])
        losses = [h[-1] for h in histories(whole, "bytes_sweep", name, "validation_loss")]
        assert row["validation loss"]["values"] == pytest.approx(losses)
        assert row["diverged"] == 0
        clipped = [(h > 1).mean() if clip == "1" else 0 for h in histories(whole, "bytes_sweep", name, "gradient_norm")]
        assert row["steps clipped"]["values"] == pytest.approx(clipped)


def test_claim_5_is_measured_on_held_out_sequences(whole, claims, assets):
    for recipe, kind, maps in (("backcopy", "softmax", 1), ("bytes", "diff_v1", 8), ("backcopy", "diff_v2", 2)):
        row = cells(claims, 5, recipe + ":", [kind])
        assert row["maps"] == maps
        for seed in SEEDS:
            measured = T.Measured(whole[0] / "models" / recipe / f"{kind}_seed{seed}", T.sequences_of(recipe_path(assets, recipe)))
            largest = [max(s["component"][c]["logit_max"] for s, _ in pairs) for pairs in measured.heads.values()
                       for c in range(len(pairs[0][0]["component"]))]
            assert len(largest) == maps
            assert row["of any map"]["values"][seed - 1] == pytest.approx(max(largest), rel=1e-4)
            assert row["of a map, mean over maps"]["values"][seed - 1] == pytest.approx(np.mean(largest), rel=1e-4)
        logits = histories(whole, recipe, kind, "logit_max")  # [step, layer, head, component]
        assert row["in training"]["values"] == pytest.approx([np.nanmax(h) for h in logits])
        assert row["step of it"]["values"] == [8 * np.nanmax(h, axis=(1, 2, 3)).argmax() for h in logits]


@pytest.mark.parametrize(("recipe", "caption", "kind"), [("trigger_bos", "Trigger task with BOS", "diff_v2"),
                                                         ("trigger_no_bos", "Trigger task without BOS", "softmax_sink"),
                                                         ("backcopy", "Bigram-Backcopy", "diff_v1")])
def test_claim_4_tells_idle_rows_from_triggers(whole, claims, assets, recipe, caption, kind):
    path = recipe_path(assets, recipe)
    sequences = T.sequences_of(path)
    task = T.task_of(T.read_recipe(path), path.parent)
    if recipe == "backcopy":
        asked = (sequences > 0) & task.trigger[np.maximum(sequences - 1, 0)]
    else:
        asked = sequences > task.contents
        assert (asked.sum(axis=1) == 1).all()
    measured = T.Measured(whole[0] / "models" / recipe / f"{kind}_seed1", sequences)
    for name, chosen in (("idle", ~asked), ("trigger", asked)):
        chosen = chosen.copy()
        chosen[:, 0] = False
        sums = {}
        for s in range(len(sequences)):
            for pairs in measured.heads.values():
                rows, head = pairs[s][1], pairs[s][1].head
                pair = len(head.maps) == 2
                first = head.maps[0].a[:, 0]
                second = head.maps[1].a[:, 0] if pair else first * math.nan
                apart = [c.norm(dim=1) for c in head.contexts]
                values = {"to key 0: first": first, "second": second, "net": head.w[:, 0], "λ": rows.lam, "ρ": rows.context_rms_relative,
                          "‖w‖₂": rows.weight_l2,
                          "output cancellation": head.context.norm(dim=1) / (apart[0] ** 2 + rows.lam**2 * apart[1] ** 2).sqrt() if pair
                          else first * math.nan}
                for column, value in values.items():
                    sums.setdefault(column, []).append(value.numpy()[chosen[s]])
        row = cells(claims, 4, caption + ": rows at a trigger", [kind, name])
        for column, parts in sums.items():
            expected, found = np.concatenate(parts).mean(), row[column]["values"][0]
            if math.isnan(expected):
                assert found is None, (name, column)
            else:
                assert found == pytest.approx(expected, rel=1e-4, abs=1e-5), (name, column)


def cosine(a, b):
    return ((a * b).sum() / a.norm() / b.norm()).item()


def test_claim_6_compares_output_blocks_and_what_heads_put_out(whole, claims, assets):
    """Four heads on two key heads: the pairs (0, 1) and (2, 3) of both layers share their values, the others do not."""
    weights, data = {True: [], False: []}, {True: [], False: []}
    neighbours = []
    sequences = T.sequences_of(recipe_path(assets, "bytes"))
    for seed in SEEDS:
        model = T.load(whole[0] / "models" / "bytes" / f"softmax_seed{seed}")
        blocks = [model.weights[f"model.layers.{layer}.self_attn.o_proj.weight"].reshape(64, 4, 16) for layer in range(2)]
        neighbours += [cosine(blocks[0][:, a], blocks[1][:, b]) for a in range(4) for b in range(4)]
        sums = {}
        for ids in sequences.tolist():
            for l, layer in enumerate(forward.run(model, ids).layers):
                put_out = [head.context @ blocks[l][:, h].T for h, head in enumerate(layer.heads)]
                for a in range(4):
                    for b in range(a):
                        each = torch.nn.functional.cosine_similarity(put_out[a], put_out[b], dim=1, eps=1e-300).mean().item()
                        sums.setdefault((l, b, a), []).append(each)
        for (l, b, a), each in sums.items():
            weights[b // 2 == a // 2].append(cosine(blocks[l][:, a], blocks[l][:, b]))
            data[b // 2 == a // 2].append(np.mean(each))
    name = "bytes, softmax, all seeds"
    for caption, kind, values in (("cos_F", "of one group", weights[True]), ("cos_F", "shuffled: of other groups", weights[False]),
                                  ("cos_F", "shuffled: of neighbouring layers", neighbours), ("Cosine of what", "of one group", data[True]),
                                  ("Cosine of what", "shuffled: of other groups", data[False])):
        row = cells(claims, 6, caption, [name, kind])
        for column, expected in {"pairs": len(values), "mean": np.mean(values), "standard deviation": np.std(values, ddof=1),
                                 "smallest": min(values), "largest": max(values), "below −0.5": sum(c < -0.5 for c in values),
                                 "above +0.5": sum(c > 0.5 for c in values)}.items():
            assert row[column] == pytest.approx(expected, rel=1e-4, abs=1e-5), (caption, kind, column)
    row = cells(claims, 6, "cos_F", [name, "random matrices"])
    assert row["standard deviation"] == pytest.approx(1 / 32) and row["smallest"] == pytest.approx(-math.sqrt(2 * math.log(8)) / 32)


def test_claim_9_measures_outliers_of_the_residual_stream(whole, claims, assets):
    sequences = T.sequences_of(recipe_path(assets, "bytes"))
    for kind in ("softmax", "diff_v2"):
        parameters = str(T.notes_of(whole[0] / "models" / "bytes" / f"{kind}_seed1")["parameters"])
        row = cells(claims, 9, "Mean ± standard deviation", ["bytes", kind, parameters])
        for seed in SEEDS:
            model = T.load(whole[0] / "models" / "bytes" / f"{kind}_seed{seed}")
            kurtoses, ratios = [], []
            for ids in sequences.tolist():
                streams = [x.flatten().numpy() for x in forward.run(model, ids).residual[1:]]
                kurtoses.append([((x - x.mean())**4).mean() / (x.var(ddof=1)**2 + 1e-6) for x in streams])
                ratios.append([abs(x).max() / np.median(abs(x)) for x in streams])
            assert row["kurtosis"]["values"][seed - 1] == pytest.approx(np.mean(kurtoses), rel=1e-4)
            assert row["max / median of abs(h)"]["values"][seed - 1] == pytest.approx(np.mean(ratios, axis=0).max(), rel=1e-4)
        assert row["validation loss"]["values"] == pytest.approx([h[-1] for h in histories(whole, "bytes", kind, "validation_loss")])


# ---- what is decided


def decisive(claims, number, text):
    (found,) = [x["test"] for x in claims[number - 1]["sentences"] if x["sentence"] == text]
    return found


def test_sides_are_compared_in_pairs_where_they_began_alike(claims):
    """V2 and wrong pairing have the same tensors and data; softmax has other shapes."""
    v2 = cells(claims, 3, "Byte models", ["diff_v2"])["validation loss"]["values"]
    for kind in ("wrong_pairing", "raw_lambda"):
        other = cells(claims, 3, "Byte models", [kind])["validation loss"]["values"]
        found = decisive(claims, 3, f"The validation loss is smaller in diff_v2 than in {kind}")
        difference, paired, welch = compared(v2, other)
        assert found["kind"] == "paired t" and found["other_way"]["kind"] == "Welch's t"
        assert found["effect"] == pytest.approx(difference)
        assert (found["p"], found["other_way"]["p"]) == pytest.approx((paired, welch), rel=1e-5)
    softmax = cells(claims, 3, "Byte models", ["softmax"])["validation loss"]["values"]
    found = decisive(claims, 9, "bytes: The validation loss is smaller in diff_v2 than in softmax")
    difference, paired, welch = compared(v2, softmax)
    assert found["kind"] == "Welch's t" and found["other_way"]["kind"] == "paired t"
    assert found["effect"] == pytest.approx(difference)
    assert (found["p"], found["other_way"]["p"]) == pytest.approx((welch, paired), rel=1e-5)


def test_verdicts_follow_from_the_tests(claims):
    seen = set()
    for claim in claims:
        tested = [x for x in claim["sentences"] if x["test"]]
        tests = [x["test"] for x in tested]
        one, two = holm([t["p"] for t in tests]), holm([t.get("other_way", t)["p"] for t in tests])
        for x, t, first, second in zip(tested, tests, one, two):
            assert t["p_holm"] == pytest.approx(first)
            decided = first < 0.05
            if t["kind"] in ("paired t", "Welch's t"):
                decided = decided and second < 0.05 and (t["effect"] > 0) == (t["other_way"]["effect"] > 0)
            seen.add((t["kind"], decided))
            assert (x["verdict"] != "undecided") == decided, x
            if decided and t["kind"] in ("paired t", "Welch's t"):
                assert (x["verdict"] == "agrees") == (t["effect"] > 0), x
        assert all(x["verdict"] != "undecided" or "one seed decides nothing" in x["found"] for x in claim["sentences"] if not x["test"])
    assert {kind for kind, _ in seen} >= {"paired t", "Welch's t", "binomial", "t"}


# ---- stopped and called again


def test_a_stopped_run_ends_with_the_same_numbers(command, tmp_path):
    """Ctrl-C while the second model trains, then a kill while a later one does, then to the end."""
    def two_kinds(name, recipe):
        recipe["variants"] = {kind: recipe["variants"][kind] for kind in ("softmax", "diff_v2") if kind in recipe["variants"]} or \
            recipe["variants"]
        recipe["seeds"] = [1]
        if name == "bytes":
            recipe["training"]["steps"] = 400

    assets = small_assets(tmp_path / "assets", two_kinds)
    arguments = ("reproduce", "--assets", assets, "--only-models", "--jobs", "1")
    undisturbed = finish(command.start(*arguments, "-o", tmp_path / "a"))
    assert undisturbed.code == 0, undisturbed

    def trained():
        return {p.parent for p in (tmp_path / "b" / "models").rglob("config.json") if not (p.parent / "training_state.safetensors").exists()}

    def start_until(more):
        before = len(trained())
        process = command.start(*arguments, "-o", tmp_path / "b")
        while len(trained()) < before + more:
            assert process.poll() is None, f"it ended with {process.returncode} first"
            time.sleep(0.002)
        return process

    process = start_until(2)  # backcopy's; bytes are next
    process.send_signal(signal.SIGINT)
    stopped = finish(process)
    refused(stopped, 130, "cancelled")
    assert stopped.out == b""
    assert not (tmp_path / "b" / "statistics.json").exists()
    done = trained()
    assert 2 <= len(done) < 8
    kept = {folder: snapshot(folder) for folder in done}

    process = start_until(1)
    process.kill()
    assert finish(process).code == -signal.SIGKILL
    assert len(done) < len(trained()) < 8

    ended = finish(command.start(*arguments, "-o", tmp_path / "b"))
    assert ended.code == 0, ended
    assert len(trained()) == 8
    assert all(snapshot(folder) == files for folder, files in kept.items())
    assert (tmp_path / "b" / "statistics.json").read_bytes() == (tmp_path / "a" / "statistics.json").read_bytes()
    assert (tmp_path / "b" / "models.md").read_bytes() == (tmp_path / "a" / "models.md").read_bytes()


# ---- what needs no models, and what is refused


def test_costs_need_no_models(command, assets, tmp_path):
    outcome = command("reproduce", "-o", tmp_path / "out", "--assets", assets, "--claim", "7", "8", "--json")
    assert outcome.code == 0, outcome
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["claims.json", "report.md"]
    assert [c["number"] for c in outcome.json["claims"]] == [7, 8] and outcome.json["run_files"] == 0

    given = command("reproduce", "-o", tmp_path / "other", "--assets", assets, "--claim", "8", "--device-tflops", "4.8",
                    "--device-gbytes", "1000", "--device-name", "a slow one")
    assert given.code == 0, given
    default, (other,) = (json.loads((tmp_path / name / "claims.json").read_text()) for name in ("out", "other"))
    alone = "V2's attention alone takes the baseline's time"
    verdicts = [[x["verdict"] for x in claim["sentences"] if x["sentence"] == alone] for claim in (default[1], other)]
    assert verdicts == [["agrees"], ["does not agree"]]
    assert "a slow one: 5 TFLOP/s, 1.00 TB/s, ridge 5 FLOP/byte" in other["tables"][0]["caption"]
    # 131,072 keys: V2's 2·n·64·(128 + 128) FLOP at 4.8 TFLOP/s; the caches' 2·n·2048 bytes at 1 TB/s.
    rows = {row[0]: row for row in other["tables"][0]["rows"] if row[1] == 131072}
    assert rows["diff_v2"][6] == pytest.approx(1e6 * 2 * 131072 * 64 * 256 / 4.8e12)
    assert rows["softmax"][6] == pytest.approx(1e6 * 2 * 131072 * 2048 / 1e12)
    assert rows["softmax"][:6] == [row for row in default[1]["tables"][0]["rows"] if row[:2] == ["softmax", 131072]][0][:6]


@pytest.mark.parametrize("arguments", [
    [], ["--claim", "10", "-o", "OUT"], ["--claim", "0", "-o", "OUT"], ["--claim", "x", "-o", "OUT"], ["-o", ""],
    ["-o", "OUT", "--device-tflops", "1"], ["-o", "OUT", "--device-gbytes", "1"], ["-o", "OUT", "--device-name", "x"],
    ["-o", "OUT", "--device-tflops", "-1", "--device-gbytes", "1"], ["-o", "OUT", "--device-tflops", "nan", "--device-gbytes", "1"],
    ["-o", "OUT", "--device-tflops", "1", "--device-gbytes", "0"], ["-o", "OUT", "--device-tflops", "1", "--device-gbytes", "inf"],
    ["-o", "OUT", "--seed", "-1"], ["-o", "OUT", "--seed", "one"], ["-o", "OUT", "--seed", "1", "1"], ["-o", "OUT", "--jobs", "0"],
    ["-o", "OUT", "--assets", ""], ["-o", "OUT", "extra"],
], ids=lambda a: " ".join(a) or "nothing")
def test_wrong_arguments(command, assets, tmp_path, arguments):
    given = [str(tmp_path / "out") if a == "OUT" else a for a in arguments]
    if "--assets" not in given:
        given += ["--assets", str(assets)]
    refused_both_ways(command, 2, [], "reproduce", *given)
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


def test_assets_that_are_not_there(command, assets, tmp_path):
    error = refused_both_ways(command, 5, ["recipes"], "reproduce", "-o", tmp_path / "out", "--assets", tmp_path / "nowhere")
    assert error["code"] == "not_found" and "--assets" in error["hint"]
    part = tmp_path / "part"
    shutil.copytree(assets, part)
    (part / "recipes" / "bytes.json").unlink()
    error = refused_both_ways(command, 5, ["bytes.json"], "reproduce", "-o", tmp_path / "out", "--assets", part)
    assert error["code"] == "not_found"
    assert not (tmp_path / "out" / "models").exists()


def test_a_damaged_recipe_and_an_output_that_is_no_folder(command, assets, tmp_path):
    damaged = tmp_path / "damaged"
    shutil.copytree(assets, damaged)
    (damaged / "recipes" / "bytes.json").write_text('{"about": 1')
    refused_both_ways(command, 3, ["bytes.json"], "reproduce", "-o", tmp_path / "out", "--assets", damaged, "--claim", "7")
    (tmp_path / "file").write_text("precious")
    outcome = command("reproduce", "-o", tmp_path / "file", "--assets", assets, "--claim", "7", "--json")
    refused(outcome, 5)
    assert check_error_object(outcome, 5)["code"] == "io"
    assert (tmp_path / "file").read_text() == "precious"
