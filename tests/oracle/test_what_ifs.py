"""Every what-if (core/io/RUN_FILE.md#what-ifs), in every scope, against the oracle with the same change; unfitting ones are refused."""
import json
import subprocess

import numpy as np
import pytest

import checkpoints as C
import forward
import quantities
from compare import Comparison
from test_parity import build, token_ids

N = 37
MODELS = {
    "softmax": ("headroom", C.headroom_config("softmax")),
    "window": ("headroom", C.headroom_config("softmax", window=6)),
    "one": ("headroom", C.headroom_config("softmax_one")),
    "sink": ("headroom", C.headroom_config("softmax_sink")),
    "gated": ("headroom", C.headroom_config("gated", gate="elementwise")),
    "softpick": ("headroom", C.headroom_config("softpick")),
    "headwise": ("headroom", C.headroom_config("gated", gate="headwise")),
    "v1": ("headroom", C.headroom_config("diff_v1", num_key_value_heads=4)),
    "v1_groups": ("headroom", C.headroom_config("diff_v1", v1_form="naive")),
    "v2": ("headroom", C.headroom_config("diff_v2")),
    "llama": ("llama", C.llama_config()),
    "gpt2": ("gpt2", C.gpt2_config()),
    "diffllama": ("diffllama", C.diffllama_config(num_attention_heads=8)),
}
# The first map is absent then; test_definitions.py compares what is left.
FIRST_OFF = ["kv_head", "sink_score", "top_*", "logit_*", "query_norm_max", "key_norm_max", "entropy_*", "effective_keys_mean",
             "previous_token_score", "self_score", "mean_distance", "induction_score", "*_cancellation_mean", "map_cosine_mean",
             "weight_cancellation_mean", "energy_cancellation_mean", "output_cancellation_mean", "rows_*", "hist", "exact/weights",
             "keys/attention_received", "rows/lse", "rows/logit_max", "rows/logit_min", "rows/entropy", "rows/weight_max",
             "rows/weight_l2_component", "rows/first_key_weight", "rows/rounds_to_one", "rounds_to_one_*"]
SECOND_OFF = ["weights", "rows_*", "attention_kind"]
TWO_VALUES = ["value_drain", "value_mean_share", "context_rms_relative_mean", "coherence_mean", "rows_*", "rows/value_rms_mean",
              "rows/context_rms_relative", "rows/uncorrelated_rms", "hist", "weights"]  # maps that read different values
ZERO_ROWS = ["sink_score_absolute", "rows_*"]  # w = 0 in row 0: a ratio of zeros, and ρ on its bound
HEAD_SCOPE = ["tokens/visible_keys"]  # one number per layer
CASES = [
    ("v2", ["second-map=off"], SECOND_OFF),
    ("v1", ["L1:second-map=off"], SECOND_OFF),
    ("diffllama", ["L0.H2:second-map=off"], SECOND_OFF),
    ("v2", ["first-map=off"], FIRST_OFF),
    ("v1", ["L0.H1:first-map=off"], FIRST_OFF),
    ("v2", ["lambda=0.3"], []),
    ("v2", ["L1.H3:lambda=1.75"], []),
    ("v1", ["lambda=-0.5"], []),
    ("diffllama", ["L1:lambda=0"], []),
    ("v2", ["lambda=none"], ZERO_ROWS),
    ("v1", ["L0:lambda=none"], ZERO_ROWS),
    ("v2", ["lambda=raw"], ["rows_*"]),
    ("v2", ["L1.H0:lambda=raw"], ["rows_*"]),
    ("v2", ["pairing=halves"], TWO_VALUES),
    ("v2", ["L0:pairing=halves"], TWO_VALUES),
    ("v2", ["pairing=adjacent"], []),
    ("v1", ["pairing=halves"], ["weights"]),
    ("v1", ["L1.H2:pairing=halves"], ["weights"]),
    ("v1", ["pairing=adjacent"], []),
    ("v1_groups", ["pairing=halves"], ["weights"]),
    ("diffllama", ["pairing=adjacent"], ["weights"]),
    ("diffllama", ["pairing=halves"], []),
    ("v1", ["norm=off"], []),
    ("diffllama", ["L1.H1:norm=off"], []),
    ("one", ["normalizer=softmax"], ["weights"]),
    ("sink", ["normalizer=softmax"], ["weights"]),
    ("softpick", ["normalizer=softmax"], []),
    ("softpick", ["L0.H1:normalizer=softmax_one"], ["weights"]),
    ("softpick", ["hide-key=0", "L1:temperature=2"], []),
    ("sink", ["normalizer=softpick"], ["weights"]),
    ("llama", ["L1.H3:normalizer=softpick"], []),
    ("gated", ["normalizer=softpick", "hide-key=3,7"], []),
    ("softmax", ["normalizer=softmax_one"], ["weights"]),
    ("llama", ["L1.H3:normalizer=softmax_one"], ["weights"]),
    ("v2", ["L0:normalizer=softmax_one"], ["weights", "rows_*"]),
    ("one", ["L0:sink=off"], ["weights"]),
    ("sink", ["L1.H1:sink=off"], ["weights"]),
    ("sink", ["sink=off"], ["weights"]),
    ("softmax", ["hide-key=0"], []),
    ("llama", ["hide-key=3,7"], []),
    ("v2", ["hide-key=0,1,2"], []),
    ("v1", ["L1:hide-key=0"], []),
    ("gpt2", ["L0.H1:hide-key=0,5"], HEAD_SCOPE),
    ("window", ["hide-key=9,10,11,12,13,14"], []),
    ("v2", ["window=7"], []),
    ("softmax", ["window=5+2"], []),
    ("gpt2", ["L1:window=3+4", "hide-key=1"], []),
    ("window", ["window=0"], []),
    ("sink", ["window=9+3", "L1:window=2"], []),
    ("sink", ["hide-key=0"], []),
    ("softmax", ["temperature=2"], []),
    ("v2", ["L1:temperature=0.5"], []),
    ("one", ["temperature=1.5"], []),
    ("gpt2", ["L0.H0:temperature=3"], []),
    ("gated", ["gate=off"], []),
    ("headwise", ["L1.H2:gate=off"], []),
    ("softmax", ["L0.H1:head=off"], []),
    ("diffllama", ["L1:head=off"], []),
    ("gpt2", ["head=off"], []),
    ("gated", ["L0.H2:head=mean"], []),
    ("v1", ["head=off", "L1:head=mean", "L1.H0:head=off"], []),
    ("diffllama", ["head=mean"], []),
    ("v2", ["lambda=0.3", "L1:lambda=0.9", "L1.H2:lambda=none", "temperature=1.5", "hide-key=4"], ZERO_ROWS),
    ("v1", ["norm=off", "L0:lambda=0.2", "L1.H0:head=off", "normalizer=softmax_one"], ["weights", "rows_*"]),
    ("softmax", ["L0:temperature=2", "temperature=4"], []),
]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder, built = tmp_path_factory.mktemp("what_ifs"), {}

    def get(name):
        if name not in built:
            family, config = MODELS[name]
            built[name] = (folder / name, build(folder / name, family, config, {}, len(name) + 40))
        return built[name]

    return get


def arguments(what_ifs):
    return [part for text in what_ifs for part in ("--what-if", text)]


@pytest.mark.parametrize(("name", "what_ifs", "skip"), CASES, ids=[f"{name}:{'+'.join(w)}" for name, w, _ in CASES])
def test_what_if_equals_the_oracle(analyze, models, tmp_path, name, what_ifs, skip):
    path, model = models(name)
    ids = token_ids(N, 11)
    trace = forward.run(model, ids, what_ifs)
    analyze(path, ids, tmp_path / "run.h5", "--dtype", "float64", "--hidden", "--exact-maps", "--maps", "8", *arguments(what_ifs))
    expected = quantities.compute(trace, ids, maps=8)
    comparison = Comparison(tmp_path / "run.h5", expected, "float64")
    comparison.all(skip=[*skip, "maps/pooled_mean_components", "maps/pooled_max_components"])
    comparison.finish()


@pytest.mark.parametrize(("name", "what_ifs"), [
    ("v2", ["L0:second-map=off"]), ("v2", ["L1:lambda=0.3"]), ("v2", ["L0:pairing=halves"]), ("v1", ["L0.H0:norm=off"]),
    ("one", ["sink=off"]), ("softmax", ["L1.H3:hide-key=0"]), ("softmax", ["temperature=2"]), ("gated", ["gate=off"]),
    ("softmax", ["L0.H1:head=off"]), ("v2", ["L1.H0:head=mean"]), ("softmax", ["window=5"]), ("softmax", ["window=5+2"]),
])
def test_a_what_if_changes_the_logits(models, name, what_ifs):
    """The oracle's own what-ifs do something: agreement with the program is not agreement on nothing."""
    _, model = models(name)
    ids = token_ids(N, 11)
    change = (forward.run(model, ids, what_ifs).logits - forward.run(model, ids).logits).abs().max()
    assert change > 1e-3


REFUSED = [
    ("softmax", "L0.H1:second-map=off", "L0.H1"), ("softmax", "L0:lambda=0.5", "L0"), ("v1", "L1:lambda=raw", "L1"),
    ("v2", "L0:norm=off", "L0"), ("softmax", "L0:pairing=halves", "L0"), ("softmax", "L1.H0:sink=off", "L1"),
    ("softmax", "L0:gate=off", "L0"), ("llama", "L0:first-map=off", "L0"), ("softmax", "L7:head=off", "7"),
    ("softmax", "L0.H9:head=off", "9"), ("softmax", "temperature=0", "temperature"), ("softmax", "temperature=warm", "temperature"),
    ("v2", "lambda=nan", "lambda"), ("v2", "second-map=on", "second-map"), ("v2", "pairing=thirds", "pairing"),
    ("softmax", "normalizer=softmax_two", "normalizer"), ("v1", "L0:normalizer=softpick", "L0"), ("softmax", "hide-key=-1", "hide-key"),
    ("softmax", "hide-key=first", "hide-key"), ("softmax", "no-such=1", "no-such"), ("softmax", "temperature", "temperature"),
    ("softmax", "head=on", "head"), ("softmax", "L0.H1:window=3", "L0.H1"), ("softmax", "window=3+", "window"),
    ("softmax", "window=-1", "window"), ("softmax", "window=off", "window"),
]


@pytest.mark.parametrize(("name", "what_if", "named"), REFUSED, ids=[f"{n}:{w}" for n, w, _ in REFUSED])
def test_an_unfitting_what_if_is_refused_with_its_name(analyze, models, tmp_path, name, what_if, named):
    path, _ = models(name)
    result = analyze(path, [1, 2, 3], tmp_path / "run.h5", "--what-if", what_if, check=False)
    assert result.returncode == 2, (result.returncode, result.stdout, result.stderr)
    assert named in result.stderr
    assert not list(tmp_path.iterdir()), "a refused command leaves no file"


def test_program_group_records_the_overrides(analyze, models, tmp_path):
    path, _ = models("v2")
    for out, what_ifs in (("plain", []), ("changed", ["L1.H2:lambda=0.25"])):
        analyze(path, [1, 2, 3], tmp_path / f"{out}.h5", "--only", "summary", *arguments(what_ifs))
    programs = [Comparison(tmp_path / f"{out}.h5", {}, "float32").file["program"] for out in ("plain", "changed")]
    texts = []
    for group in programs:
        values = [str(value) for value in group.attrs.values()]
        values += [group[name].asstr()[()] for name in group if group[name].dtype.kind == "O"]
        texts.append(" ".join(str(np.asarray(v).tolist()) for v in values))
    assert "lambda" in texts[1] and "0.25" in texts[1]
    assert texts[0] != texts[1]


def test_odd_groups_of_v2_are_refused_with_that_sentence(program, tmp_path):
    config = C.headroom_config("diff_v2", num_attention_heads=3, num_key_value_heads=2)
    C.headroom(tmp_path / "model", config, 1)
    command = [str(program), "analyze", str(tmp_path / "model"), "--ids", "1,2", "-o", str(tmp_path / "run.h5"), "--json"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode != 0
    assert "pair straddles two value heads" in result.stderr.replace("\n", " ")
    assert json.loads(result.stdout)["error"]["message"]
    assert not (tmp_path / "run.h5").exists()
