"""Checkpoints of many kinds in the window: what is known before they run, experts, differential heads, encoders, two token axes."""
import json

import h5py
import numpy as np
import pytest
import torch

import checkpoints
import families
import further_families
import sambay
import window as W


@pytest.fixture(scope="module")
def window(program, display, tmp_path_factory):
    return W.Window(program, display, tmp_path_factory.mktemp("models"))


def written(window, module, name):
    if name == "diffllama":
        path = window.made / name
        if not path.exists():
            checkpoints.transformers_checkpoint(path, name, checkpoints.diffllama_config(), 5)
        return f"build/window/made/{path.name}", None
    case = next(case for case in module.CASES if case.name == name)
    path = window.made / name.replace(" ", "_").replace(".", "_")
    if not path.exists():
        module.write(path, case, 5)
    return f"build/window/made/{path.name}", case


def test_what_is_known_of_a_model_is_shown_before_it_runs(window):
    path, _ = written(window, families, "gemma2")
    outcome = window.run(f"open {path}\nwait\nexpect run.status == waiting\nscreenshot build/window/strip.png\nexpect errors == 0\nquit\n")
    assert outcome.number("layers.count") == 3 and outcome.number("layers.variants") == 2 and outcome.number("layers.unmeasured") == 0


@pytest.mark.parametrize("name", ["mixtral", "qwen3_moe not normalised", "deepseek_v3"])
def test_tokens_of_experts_are_those_of_the_run_file(window, analyze, name):
    path, case = written(window, families, name)
    ids = [7 + (i * i) % 40 for i in range(31)]
    out = window.made / "routed.h5"
    analyze(window.folder / path, ids, out, "--force")
    with h5py.File(out) as file:
        layers = file["router/tokens_per_expert"].dims[0][0][()].tolist()
        counts = file["router/tokens_per_expert"][()]
    head = f"select L{layers[0]}.H1\nwait\ntokens.show experts\nwait\nexpect tokens.show == experts\n"
    for opened in (f"open.run {path}\nwait\nids {','.join(map(str, ids))}\nrun\nwait\n", "open build/window/made/routed.h5\nwait\n"):
        outcome = window.run(opened + head + "screenshot build/window/experts.png\nexpect errors == 0\nquit\n")
        assert outcome.number("tokens.experts") == (counts[0] >= 0).sum()
        assert outcome.number("tokens.expert_most") == counts[0].argmax() and outcome.number("tokens.expert_most_count") == counts[0].max()
        picture = window.picture("experts.png")
        assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 20


DIFFERENTIAL = [(further_families, "Motif 2.6B"), (further_families, "Motif 12.7B"), (families, "diffllama"), (further_families, "unilm V1"),
                (further_families, "unilm V2"), (sambay, "phi4flash")]
QUERY, KEY = 19, 6


@pytest.mark.parametrize(("module", "name"), DIFFERENTIAL, ids=[name.replace(" ", "_") for _, name in DIFFERENTIAL])
def test_maps_of_differential_heads_are_those_of_the_run_file(window, analyze, module, name):
    path, case = written(window, module, name)
    check_maps(window, analyze, path, path, layer=5 if name == "phi4flash" else 1)  # the one whose keys others use


def test_a_state_dict_opens_in_the_window_with_a_config_beside_it(window, analyze):
    path, case = written(window, further_families, "unilm V2")
    weights = further_families.weights_of(case, 5)
    torch.save({"model": {f"module.{key}": value for key, value in weights.items()}}, window.made / "state.pt")
    (window.made / "sizes.json").write_text(json.dumps(case.config))
    check_maps(window, analyze, path, "build/window/made/state.pt build/window/made/sizes.json")
    # On the command line a file after --config describes the checkpoints.
    outcome = window.run("wait\nexpect run.status == done\nexpect errors == 0\nquit\n", "--config", "build/window/made/sizes.json",
                         "build/window/made/state.pt")
    assert outcome.facts["run.layers"] == "3"


def check_maps(window, analyze, path, opened, layer=1):
    ids = [3 + (i * i) % 45 for i in range(29)]
    out = window.made / "maps.h5"
    analyze(window.folder / path, ids, out, "--exact-maps", "--force")
    with h5py.File(out) as file:
        place = file["layer"][()].tolist().index(layer)
        maps, net, lam = file["exact/weights"][place, 1], file["exact/net_weights"][place, 1], file["rows/lambda"][place, 1, QUERY]
    expected = {"net": net[QUERY, KEY], "first": maps[0, QUERY, KEY], "second": maps[1, QUERY, KEY],
                "scaled": lam * maps[1, QUERY, KEY]}
    assert abs(expected["second"]) > 1e-4
    for kind, value in expected.items():
        outcome = window.run(f"open.run {opened}\nwait\nids {','.join(map(str, ids))}\nrun\nwait\nexpect run.status == done\nselect L{layer}.H1\n"
                             f"map {kind}\npin {QUERY} {KEY}\nwait\nexpect map.state == map\nexpect map.kind == {kind}\n"
                             "screenshot build/window/differential.png\nexpect errors == 0\nquit\n")
        np.testing.assert_allclose(outcome.number("map.cell"), value, rtol=2e-3, atol=1e-6, err_msg=kind)


def test_two_runs_of_cross_attention_are_compared_as_rectangles(window):
    import captures  # its folder of the package is where the others are found
    import captured
    import headroom

    model, inputs = captures.model_of("whisper", "sdpa")
    with torch.no_grad(), headroom.capture(window.made / "whisper.safetensors") as rec:
        rec.tokens(texts=[f"word{i}" for i in range(11)], key_texts=[f"frame{i}" for i in range(27)])
        model(**inputs)
    assert captured.read(window.made / "whisper.safetensors")[1]
    opened = "open.run build/window/made/whisper.safetensors\nwait\nselect L3.H1\npin 10 26\nwait\n"
    # Each of the two sequences has its own tokens in view.
    outcome = window.run(opened + "screenshot build/window/sequences.png\nexpect errors == 0\nquit\n")
    assert outcome.number("tokens.last") == 26 and outcome.number("tokens.queries_last") == 10
    # Nothing of the map lies beyond them.
    outcome = window.run(opened + "what-if temperature=2\nwait\nwhat-if.complete\nwait\ncompare\nwait\ncompare.mode side\nwait\n"
                         "screenshot build/window/rectangles.png\nexpect errors == 0\nquit\n")
    assert outcome.number("map.cells_visible") == 11 * 27
