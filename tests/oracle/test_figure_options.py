"""Options of figures: what changes nothing of a kind is said, and what is not said changes it; names of models."""
import json
import re

import pytest

from test_figures import KINDS, kind_of, runs  # noqa: F401 – a fixture

# A value for every option that belongs to kinds, as far from what they choose as these runs allow.
OPTIONS = {"--head": "L1.H3", "--layers": "1", "--heads": "1-2", "--quantity": "logit_abs_max", "--rows": "20:90", "--keys": "5:40",
           "--cell": "90,7", "--range": "0.0123,0.0456", "--scale": "log", "--epsilon": "0.01", "--top": "3", "--names": None,
           "--points": "image", "--colour-map": "magma", "--paired": None}


# What the value above says nothing of: maps are logarithmic by themselves.
OWN = {("tokens", "--quantity"): "weight_max", ("map", "--scale"): "linear",
       ("scatter_three", "--quantity"): "sink_score,effective_keys_mean,logit_abs_max", ("tokens", "--scale"): "linear",
       ("grid", "--scale"): "linear", ("importance", "--scale"): "symlog", ("importance", "--range"): "-0.0123,0.0456",
       ("importance", "--colour-map"): "vik",
       ("circuits", "--quantity"): "ov_effective_rank"}
DEPENDS = [("compare", "--paired"), ("scatter_three", "--epsilon")]  # on two checkpoints; on a sink score as an axis


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


@pytest.mark.parametrize("name", [name for name in KINDS if "_" not in name and name != "scatter"] + ["scatter_three"])
def test_an_option_that_changes_nothing_is_named(command, runs, tmp_path, name):
    def drawn(*arguments):
        run, own = KINDS[name]
        own = own[2:] if own[:1] == list(arguments[:1]) else own
        outcome = command("figure", runs[run], kind_of(name), *own, *arguments, "-o", tmp_path / "out.svg", "--force")
        assert outcome.code == 0, outcome
        return re.sub("(?s)<metadata>.*?</metadata>", "", (tmp_path / "out.svg").read_text()), outcome.errors

    (plain, said), wrong = drawn(), []
    assert "changes nothing" not in said
    for option in [option for option in OPTIONS if (name, option) not in DEPENDS]:
        value = OWN.get((name, option), OPTIONS[option])
        picture, said = drawn(option, *[value] * (value is not None))
        if (picture == plain) != (f"{option} changes nothing of {kind_of(name)}" in said):
            wrong.append((option, picture == plain, said))
    assert not wrong


def test_a_composed_figure_names_what_a_panel_itself_asks_for_in_vain(command, runs, tmp_path):
    panels = [{"kind": "rms", "head": "L1.H2", "top": 3}, {"kind": "atlas"}]
    (tmp_path / "both.json").write_text(json.dumps({"run": str(runs["softmax"]), "width": "183mm", "colour_map": "magma", "rows": [
        {"height": "40mm", "panels": panels}]}))
    outcome = command("figure", tmp_path / "both.json", "-o", tmp_path / "out.svg")
    assert outcome.code == 0, outcome
    assert [line for line in outcome.errors.splitlines() if "changes nothing" in line] == ["headroom: [figure] --top changes nothing of rms"]


def test_names_are_of_the_model(command, runs, tmp_path):
    for kind in ("rms", "map", "tokens", "decomposition"):
        assert command("figure", runs["softmax"], kind, "--head", "L1.H2", "--names", "--width", "174mm", "-o", tmp_path / f"{kind}.svg").code == 0
        labels = re.findall('aria-label="([^"]*)"', (tmp_path / f"{kind}.svg").read_text())
        assert {"softmax ·", "L1.H2"} <= set(labels), labels  # the model's name, which may be elided, and the head's
