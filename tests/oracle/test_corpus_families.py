"""A corpus of every model type: sequences that run together are each what they are alone, to the last bit."""
import json

import pytest

import families
import further_families
from test_corpus import contents, corpus  # noqa: F401 – a fixture

LENGTH, DOCUMENTS = 13, 5


def named(case):
    return case.name.replace(" ", "_")


def one_of_each(cases):
    return list({case.config.get("model_type", case.name): case for case in cases}.values())


def ids_of(folder, vocabulary=53):
    lines = [[(17 * d + 7 * i + i * i) % vocabulary for i in range(LENGTH)] for d in range(DOCUMENTS)]
    (folder / "ids.jsonl").write_text("".join(json.dumps({"ids": row}) + "\n" for row in lines))
    return ["--data", folder / "ids.jsonl", "--field", "ids", "--length", LENGTH]


def check_batches(corpus, model, folder):  # noqa: F811
    data = ids_of(folder)
    corpus(model, folder / "together.h5", *data)
    corpus(model, folder / "alone.h5", *data, "--batch-tokens", "1")
    alone, found = contents(folder / "alone.h5"), contents(folder / "together.h5")
    assert found.keys() == alone.keys() and [key for key in found if found[key] != alone[key]] == []


@pytest.mark.parametrize("case", one_of_each(families.CASES), ids=named)
def test_sequences_together_are_what_they_are_alone(corpus, tmp_path, case):  # noqa: F811
    families.write(tmp_path / "model", case, 7)
    check_batches(corpus, tmp_path / "model", tmp_path)


@pytest.mark.parametrize("case", one_of_each(further_families.CASES), ids=named)
def test_further_families_too(corpus, tmp_path, case):  # noqa: F811
    further_families.write(tmp_path / "model", case, 7)
    check_batches(corpus, tmp_path / "model", tmp_path)
