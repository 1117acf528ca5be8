"""What a differential attention changes over trainings: every seed's model over the same texts, paired by seed.

    headroom train assets/recipes/backcopy.json assets/recipes/bytes.json --variant softmax diff_v2 -o models
    python3 tests/seeds_over_corpus.py models -o DIR [--headroom PROGRAM] [--sequences 256] [--a softmax] [--b diff_v2]

For each recipe that MODELS holds it writes the texts (backcopy: drawn anew, from streams that no training has; bytes: windows of the part that
nothing was trained on), runs `headroom corpus` over one plan on each model, and prints a table. A number of a seed is the mean over its heads
and sequences; the unit of every interval is the training, not the text. p is exact, over all changes of sign of the differences; q is
Benjamini and Hochberg's over all rows of the table; "seen" is the difference that a t test of this many seeds sees in 80 of 100 cases.
"""
import argparse
import itertools
import json
import pathlib
import subprocess
import sys

import h5py
import numpy as np
import scipy.optimize
import scipy.stats

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "oracle"))
import training_tasks  # noqa: E402

STREAM = 10**6  # of no training: theirs are the seeds
FIRST, SECOND, NET = 0, 1, None
# What is compared: a name, the number of a, that of b: a dataset and its map.
ROWS = [
    ("sink score: b's first map", ("sink_score", FIRST), ("sink_score", FIRST)),
    ("sink score: b's second map", ("sink_score", FIRST), ("sink_score", SECOND)),
    ("sink score: b's net map", ("sink_score_net", NET), ("sink_score_net", NET)),
    ("share of heads above 0.3: b's first map", ("sink_rate", FIRST), ("sink_rate", FIRST)),
    ("share of heads above 0.3: b's net map", ("sink_rate", 2), ("sink_rate", 2)),
    ("context RMS, relative", ("context_rms_relative_mean", NET), ("context_rms_relative_mean", NET)),
    ("context RMS, raw", ("context_rms_mean", NET), ("context_rms_mean", NET)),
    ("norm of the weights", ("weight_l2_mean", NET), ("weight_l2_mean", NET)),
    ("largest logit: b's first map", ("logit_max", FIRST), ("logit_max", FIRST)),
    ("largest logit: b's second map", ("logit_max", FIRST), ("logit_max", SECOND)),
    ("largest magnitude of a logit: b's first map", ("logit_abs_max", FIRST), ("logit_abs_max", FIRST)),
    ("largest norm of a key: b's first map", ("key_norm_max", FIRST), ("key_norm_max", FIRST)),
    ("entropy: b's first map", ("entropy_mean", FIRST), ("entropy_mean", FIRST)),
    ("next-token loss, nats", ("next_token_loss", NET), ("next_token_loss", NET)),
]


def write_texts(recipe, path, sequences):
    """One document each: they are independent of each other."""
    split = "validation" if recipe["task"]["kind"] == "bytes" else "training"
    ids, _ = training_tasks.task_of(recipe, ROOT / "assets" / "recipes").batch(split, STREAM, STREAM, sequences)
    path.write_text("".join(json.dumps({"ids": row.tolist()}) + "\n" for row in ids))
    return ids.shape[1]


def number_of(file, name, place, epsilon=0.3):
    """Of a model: the mean over sequences and heads."""
    values = file["sequences/" + name][()].astype(float)
    if name == "sink_rate":
        return values[:, file["epsilon"][:].tolist().index(epsilon), place].mean()
    if values.ndim == 4:
        values = values[..., place]
    return np.nanmean(values)


def seen(n, level=0.05, power=0.8):
    """In standard errors."""
    point = scipy.stats.t.ppf(1 - level / 2, n - 1)

    def missed(effect):  # where SciPy has no value, far beyond the point, everything is seen
        return np.nan_to_num(scipy.stats.nct.sf(point, n - 1, effect), nan=1.0) + np.nan_to_num(scipy.stats.nct.cdf(-point, n - 1, effect)) - power

    return scipy.optimize.brentq(missed, 0.5, 30)


def exact_p(change):
    """NaN where nothing changes: there is nothing to test."""
    if not change.any():
        return np.nan
    signs = np.array(list(itertools.product((1, -1), repeat=len(change))))
    return np.mean(np.abs(signs @ change) >= abs(change.sum()) * (1 - 1e-12))


def adjusted(p):
    q, running = np.full(len(p), np.nan), 1.0
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested])]
    for rank in range(len(order), 0, -1):
        running = min(running, p[order[rank - 1]] * len(order) / rank)
        q[order[rank - 1]] = running
    return q


def signed(value):
    return f"{value:+.3f}".replace("-", "−")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--headroom", default=ROOT / "build/release/headroom")
    parser.add_argument("--sequences", type=int, default=256)
    parser.add_argument("--a", default="softmax")
    parser.add_argument("--b", default="diff_v2")
    choice = parser.parse_args()
    choice.output.mkdir(parents=True, exist_ok=True)
    tables = []
    for folder in sorted(path for path in choice.models.iterdir() if (ROOT / "assets" / "recipes" / f"{path.name}.json").exists()):
        recipe = json.loads((ROOT / "assets" / "recipes" / f"{folder.name}.json").read_text())
        seeds = [seed for seed in recipe["seeds"] if all((folder / f"{kind}_seed{seed}" / "config.json").exists() for kind in (choice.a, choice.b))]
        if len(seeds) < 2:
            continue
        texts = choice.output / f"{folder.name}.jsonl"
        length = write_texts(recipe, texts, choice.sequences)
        found = {kind: [] for kind in (choice.a, choice.b)}
        for kind, seed in itertools.product(found, seeds):
            out = choice.output / f"{folder.name}_{kind}_{seed}.h5"
            subprocess.run([choice.headroom, "corpus", folder / f"{kind}_seed{seed}", "--data", texts, "--field", "ids", "--length", str(length),
                            "--epsilon", "0.3", "--no-ids", "--device", "cpu", "-o", out], check=True, stdout=subprocess.DEVNULL)
            with h5py.File(out) as file:
                found[kind].append([number_of(file, *(row[1] if kind == choice.a else row[2])) for row in ROWS])
        tables.append((folder.name, seeds, {kind: np.array(values) for kind, values in found.items()}))
    changes = [values[choice.b] - values[choice.a] for _, _, values in tables]
    q = adjusted(np.concatenate([[exact_p(change[:, row]) for row in range(len(ROWS))] for change in changes])).reshape(len(tables), -1)
    for t, (name, seeds, values) in enumerate(tables):
        a, b, n = values[choice.a], values[choice.b], len(seeds)
        print(f"\n{name}: {n} seeds, {choice.sequences} texts each; a = {choice.a}, b = {choice.b}\n")
        print("| | a | b | b − a, 95 % over seeds | p | q | seen |\n|---|---|---|---|---|---|---|")
        for row, (title, _, _) in enumerate(ROWS):
            change = changes[t][:, row]
            error = change.std(ddof=1) / np.sqrt(n)
            half = scipy.stats.t.ppf(0.975, n - 1) * error
            if not change.any():
                print(f"| {title} | {a[:, row].mean():.3f} | {b[:, row].mean():.3f} | none in any seed | – | – | – |")
                continue
            print(f"| {title} | {a[:, row].mean():.3f} ± {a[:, row].std(ddof=1):.3f} | {b[:, row].mean():.3f} ± {b[:, row].std(ddof=1):.3f} | "
                  f"{signed(change.mean())} [{signed(change.mean() - half)}, {signed(change.mean() + half)}] | {exact_p(change):.3f} | {q[t, row]:.3f} | "
                  f"{seen(n) * error:.3f} |")


if __name__ == "__main__":
    main()
