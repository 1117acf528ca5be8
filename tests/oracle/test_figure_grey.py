"""Print without colours: in grey every two lines of a plot differ in lightness or in their dashes."""
import pytest

from svg_figure import Figure, alike_in_grey, lines_of
from test_figures import DEMO, KINDS, kind_of, runs  # noqa: F401 – a fixture


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


def drawn(command, tmp_path, *arguments):
    outcome = command("figure", *arguments, "-o", tmp_path / "a.svg", "--force")
    assert outcome.code == 0, outcome
    return Figure(tmp_path / "a.svg")


@pytest.mark.parametrize("name", [*KINDS, "rms_one-lambda", "sinks_pair-all"])
def test_lines_differ_in_grey(command, runs, tmp_path, name):
    run, own = {"rms_one-lambda": ("diff_v1", ["--head", "L1.H1"]), "sinks_pair-all": ("diff_v2", [])}.get(name) or KINDS[name]
    figure = drawn(command, tmp_path, runs[run], kind_of(name), *own)
    assert alike_in_grey(figure) == []
    if name in ("rms_one-lambda", "sinks_pair-all", "decomposition", "training", "logits", "circuits"):
        assert max(len(lines_of(plot)) for plot in figure.plots) > 1


@pytest.mark.parametrize("kinds", [("softmax", "diff_v1", "diff_v2", "gated"), ("diff_v1", "diff_v2"), ("diff_v2", "diff_v1", "softmax_one"),
                                   ("gated", "diff_v1")], ids=" ".join)
def test_trainings_of_several_kinds_differ_in_grey(command, tmp_path, kinds):
    figure = drawn(command, tmp_path, *(DEMO / "backcopy" / kind / "training.h5" for kind in kinds), "training")
    assert alike_in_grey(figure) == [] and len(lines_of(figure.plots[0])) >= len(kinds)
