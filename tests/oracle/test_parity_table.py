"""The table of parity that is kept in the tree has every family of the program, with the cases that its tests have."""
import collections
import pathlib
import re

import encoder_decoders
import families
import further_families
import gguf_models
import parity_table
import sambay
import test_encoder_decoders
import test_parity
import tokenizer_kinds

KEPT = pathlib.Path(__file__).resolve().parents[2] / "core" / "model" / "PARITY.md"


def rows(text):
    """By the first cell, of every table."""
    lines = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line.startswith("| ")]
    return {cells[0].strip("` "): cells for cells in lines}


def runs_by_type():
    count = collections.Counter(case.model_type for case in families.CASES)
    count.update(case.model_type for case in encoder_decoders.CASES)
    count.update(further_families.model_type(case) for case in further_families.CASES)
    count.update(case.config["model_type"] for case in sambay.CASES)
    count.update(parameters.values[0] for parameters in test_parity.CASES)
    return {model_type: 2 * number for model_type, number in count.items()}


def test_the_kept_table_is_of_these_tests(command):
    kept, opened = rows(KEPT.read_text()), command("families", "--json").json["families"]
    opened = [family for family in opened if family["model_type"] not in parity_table.AROUND]
    types, expected = {family["model_type"] for family in opened}, runs_by_type()
    assert types == expected.keys(), "a family without a case, or a case without a family"
    files = collections.Counter(gguf_models.FORMATS[case.model_type].opens_as or case.model_type for case in gguf_models.CASES)
    files.update(case.model_type for case in test_encoder_decoders.T5_FILES)
    for family in opened:
        cells = kept[family["model_type"]]
        assert int(cells[2]) == expected[family["model_type"]], f"{cells}: make the table again"
        assert all(0 < float(error) <= bound for error, bound in zip(cells[3:7], (1e-9, 1e-9, 1e-4, 2e-4))), cells
        assert sum(map(int, re.findall(r"(\d+) (?:equal|nearly)", cells[7]))) == files[family["model_type"]], f"{cells}: make the table again"
    assert set(kept) - types == {"model_type", "tokenizer", *(parity_table.algorithm(kind) for kind in tokenizer_kinds.KINDS)}


def test_the_table_shows_what_was_kept():
    line = {"subject": "llama", "case": "a", "reference": "transformers", "hidden": 2e-12, "statistic": 3e-11}
    lines = [{**line, "dtype": "float64"}, {**line, "dtype": "float64", "hidden": 4e-13}, {**line, "dtype": "float32", "hidden": 5e-6},
             {"subject": "llama", "gguf": "a", "rounded": False}, {"subject": "llama", "gguf": "b", "rounded": True}]
    lines += [{"subject": kind, "tokenizer": True, "texts": 7} for kind in tokenizer_kinds.KINDS]
    found = rows("\n".join(parity_table.table([{"model_type": "llama", "gguf": ["llama"]}], lines)))
    assert found["llama"] == ["`llama`", "transformers", "3", "2e-12", "3e-11", "5e-06", "3e-11", "`llama`: 1 equal, 1 nearly",
                              "SentencePiece BPE, byte-level BPE"]
