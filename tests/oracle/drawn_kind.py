"""Figures of one kind, drawn by the command and read back."""
import io

import pandas

from svg_figure import Figure, alike_in_grey


def drawing(command, kind, folder):
    """drawn(file, *arguments) → SVG, its marks as a table, what stderr says; without a warning."""
    def drawn(path, *arguments):
        out = folder / "out.svg"
        outcome = command("figure", path, kind, *arguments, "-o", out, "--force", "--data", "-")
        assert outcome.code == 0 and "warning" not in outcome.errors, outcome
        figure = Figure(out)
        assert alike_in_grey(figure) == []
        return figure, pandas.read_csv(io.StringIO(outcome.text), comment="#"), outcome.errors

    return drawn
