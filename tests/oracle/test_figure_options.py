"""Options of figures: what changes nothing of a kind is said, and what is not said changes it; names of models."""
import re

import pytest

from test_figures import KINDS, kind_of, runs  # noqa: F401 – a fixture

# A value for every option that belongs to kinds, as far from what they choose as these runs allow.
OPTIONS = {"--head": "L1.H3", "--layers": "1", "--heads": "1-2", "--quantity": "logit_abs_max", "--rows": "20:90", "--keys": "5:40",
           "--cell": "90,7", "--range": "0.0123,0.0456", "--scale": "log", "--epsilon": "0.01", "--top": "3", "--names": None,
           "--points": "image", "--colour-map": "magma", "--paired": None}


@pytest.mark.parametrize("name", [name for name in KINDS if "_" not in name and name != "scatter"] + ["scatter_three"])
def test_an_option_that_changes_nothing_is_named(command, runs, tmp_path, name):
    def drawn(*arguments):
        run, own = KINDS[name]
        own = own[2:] if "--head" in own and "--head" in arguments else own
        outcome = command("figure", runs[run], kind_of(name), *own, *arguments, "-o", tmp_path / "out.svg", "--force")
        if outcome.code != 0:
            return None, outcome.errors
        return re.sub("(?s)<metadata>.*?</metadata>", "", (tmp_path / "out.svg").read_text()), outcome.errors

    (plain, _), wrong, changed = drawn(), [], 0
    for option, value in OPTIONS.items():
        if (name, option) in (("compare", "--paired"), ("scatter_three", "--epsilon")):  # of two checkpoints; of sink scores
            continue
        value = {("tokens", "--quantity"): "weight_max", ("scatter_three", "--quantity"): "sink_score,effective_keys_mean,logit_abs_max"}.get((name, option), value)
        value = "linear" if option == "--scale" and name in ("map", "tokens", "grid") else value  # logarithmic by themselves
        picture, said = drawn(option, *[value] * (value is not None))
        if picture is None:
            assert "[figure]" in said, said
            continue
        changed += picture != plain
        if (picture == plain) != (f"{option} changes nothing of {kind_of(name)}" in said):
            wrong.append((option, picture == plain, said))
    assert not wrong
    assert changed or name == "training"


def test_names_are_of_the_model(command, runs, tmp_path):
    for kind in ("rms", "map", "tokens", "decomposition"):
        assert command("figure", runs["softmax"], kind, "--head", "L1.H2", "--names", "--width", "174mm", "-o", tmp_path / f"{kind}.svg").code == 0
        labels = re.findall('aria-label="([^"]*)"', (tmp_path / f"{kind}.svg").read_text())
        assert any(label.endswith("softmax · L1.H2") for label in labels), labels
