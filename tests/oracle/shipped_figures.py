"""A figure of every kind from the shipped models: what goldens are kept of, and whose captions are set in LaTeX."""
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEMO = ROOT / "assets" / "demo"
BYTES = DEMO / "bytes"


def prompt_of(model):
    return (model / "prompt_ids.txt").read_text().strip()


def make_runs(command, folder):
    """Files by the name that FIGURES have for them."""
    made = {}

    def make(name, subcommand, model, *arguments):
        made[name] = folder / f"{name}.h5"
        outcome = command(subcommand, model, "-o", made[name], *arguments)
        assert outcome.code == 0, outcome

    for kind in ("softmax", "diff_v2", "diff_v1"):
        model = BYTES / kind
        make(kind, "analyze", model, "--ids", prompt_of(model), "--device", "cpu", "--exact-maps")
    make("pooled", "analyze", BYTES / "diff_v2", "--ids", prompt_of(BYTES / "diff_v2"), "--device", "cpu", "--maps", "16")
    make("ablation", "ablate", BYTES / "softmax", "--ids", prompt_of(BYTES / "softmax"), "--device", "cpu")
    make("circuits", "circuits", BYTES / "softmax", "--composition")
    steps = DEMO / "backcopy" / "diff_v2"
    rows = [[0, *((7 * d + 3 * i * i + i) % 38 + 1 for i in range(63))] for d in range(6)]
    (folder / "ids.jsonl").write_text("".join(json.dumps({"ids": ids}) + "\n" for ids in rows))
    make("plan", "corpus", steps / "step_000000", "--data", folder / "ids.jsonl", "--field", "ids", "--length", "64", "--plan-only")
    make("series", "series", steps, "--plan", made["plan"], "--device", "cpu")
    make("blocks", "blocks", BYTES / "diff_v2", "--data", ROOT / "assets" / "corpora" / "kjv.txt", "--split", "blank", "--length", "64", "--bos",
         "always", "--sequences", "12", "--block", "4", "--device", "cpu")
    make("needle", "needle", BYTES / "diff_v2", "--data", ROOT / "assets" / "corpora" / "kjv.txt", "--bos", "always", "--lengths", "300", "--depths",
         "0,50,100", "--needles", "2", "--samples", "6", "--seed", "5", "--device", "cpu")
    made["training"] = DEMO / "backcopy" / "diff_v2" / "training.h5"
    return made


# By kind: the file, arguments. Heads are named: which one is the most of something may hang on a last bit.
FIGURES = {
    "rms": ("softmax", ["--head", "L1.H2"]),
    "atlas": ("softmax", ["--head", "L1.H2", "--epsilon", "0.1"]),
    "sinks": ("diff_v2", ["--width", "180mm"]),
    "scatter": ("softmax", ["--head", "L1.H2"]),
    "logits": ("softmax", ["--head", "L1.H2,L0.H1", "--width", "180mm"]),
    "rms-layers": ("softmax", []),
    "decomposition": ("softmax", ["--head", "L1.H2,L0.H0"]),
    "lambda": ("diff_v2", ["--head", "L1.H3"]),
    "lambda-text": ("diff_v2", ["--head", "L1.H3"]),
    "norm-gain": ("diff_v1", ["--head", "L1.H0"]),
    "compare": ("diff_v2", ["--against", "softmax", "--paired"]),
    "training": ("training", []),
    "map": ("diff_v2", ["--head", "L1.H2", "--rows", "0:40", "--keys", "0:40"]),  # cells of some pixels
    "grid": ("pooled", ["--head", "L1.H2"]),
    "tokens": ("softmax", ["--head", "L1.H2"]),
    "importance": ("ablation", ["--head", "L1.H2"]),
    "circuits": ("circuits", ["--head", "L1.H2"]),
    "series": ("series", ["--head", "L0.H0"]),
    "blocks": ("blocks", []),
    "needle": ("needle", ["--head", "L1.H2", "--width", "180mm"]),
}


def arguments_of(kind, runs):
    """figure's arguments without -o; --against names a file of `runs`."""
    name, own = FIGURES[kind]
    against = {i + 1 for i, word in enumerate(own) if word == "--against"}
    return ["figure", runs[name], kind, *(runs[word] if i in against else word for i, word in enumerate(own))]
