"""Every family that llama.cpp converts: from GGUF it is the model that it is from safetensors, number for number.

test_families.py holds the latter to transformers.
"""
import gguf
import h5py
import numpy as np
import pytest

import gguf_models
from test_families import token_ids

# The file holds rounded divisors of the frequencies where config.json has the formula.
ROUNDED = {"llama llama3", "gemma3n_text"}  # or quantiles where it has shares
STARCODER2 = "GGUF does not tell the window of starcoder2: the 4096 of the published models is taken"
BLOCKS = gguf.GGMLQuantizationType.Q8_0


def datasets(path):
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.__setitem__(name, item[()]) if isinstance(item, h5py.Dataset) else None)
    return found


def same(folder, gguf_file, case, analyze, tmp_path, dtype):
    ids = token_ids(case.n, 5, case.config["vocab_size"])
    if case.model_type in ("roberta", "xlm-roberta"):  # whose positions do not count the padding, which GGUF does not tell
        ids = [4 if i == case.config["pad_token_id"] else i for i in ids]
    runs, warnings = [], []
    for checkpoint in (folder, gguf_file):
        out = tmp_path / f"{checkpoint.name}.h5"
        told = analyze(checkpoint, ids, out, "--force", "--dtype", dtype, "--hidden", "--exact-maps", "--components")
        warnings.append([line for line in (told.stdout + told.stderr).splitlines() if "warning" in line.lower()])
        runs.append(datasets(out))
    expected = ["warning: " + STARCODER2] if case.model_type == "starcoder2" else []
    assert warnings[1] == warnings[0] + expected and runs[0].keys() == runs[1].keys()
    for name, values in runs[0].items():
        if name.startswith("provenance/"):
            continue
        if case.name in ROUNDED:  # not what counts or compares numbers that are nearly equal
            if values.dtype.kind == "f" and name.startswith(("rows/", "hidden/")) and not name.endswith("_top"):
                np.testing.assert_allclose(runs[1][name], values, rtol=5e-5, atol=5e-5, err_msg=name)
        else:
            assert np.array_equal(values, runs[1][name], equal_nan=values.dtype.kind == "f"), name


@pytest.mark.parametrize("case", gguf_models.CASES, ids=lambda case: case.name.replace(" ", "_"))
def test_family(analyze, tmp_path, parity, case):
    folder, file = gguf_models.write(tmp_path, case, 7 + len(case.name))
    for dtype in ("float64", "float32") if " " in case.name else ("float64",):  # the others in float32 in blocks, below
        same(folder, file, case, analyze, tmp_path, dtype)
    parity(gguf_models.FORMATS[case.model_type].opens_as or case.model_type, gguf=case.name, rounded=case.name in ROUNDED)


def test_every_family_of_the_program_is_written_here(command):
    opened = {f["model_type"]: f["gguf"] for f in command("families", "--json").json["families"] if f["gguf"]}
    forms = gguf_models.FORMATS
    # T5's files are written in test_encoder_decoders.py.
    assert opened.keys() == {form.opens_as or model_type for model_type, form in forms.items()} | {"t5"}
    assert forms.keys() == {case.model_type for case in gguf_models.CASES}
    assert all(form.architecture in opened[form.opens_as or model_type] for model_type, form in forms.items())
    assert set(sum(opened.values(), [])) <= set(gguf.MODEL_ARCH_NAMES.values())


@pytest.mark.parametrize("case", [c for c in gguf_models.CASES if " " not in c.name], ids=lambda case: case.name)
def test_family_in_blocks(analyze, tmp_path, case):
    """Rows of quantised matrices are cut, moved and put back as those of plain ones."""
    folder, file = gguf_models.write(tmp_path, case, 3, BLOCKS)
    assert any(t.tensor_type == BLOCKS and "attn" in t.name for t in gguf.GGUFReader(file).tensors)
    same(folder, file, case, analyze, tmp_path, "float32")


def test_a_model_in_parts(analyze, tmp_path):
    case = next(case for case in gguf_models.CASES if case.name == "qwen3")
    folder, _ = gguf_models.write(tmp_path, case, 11, parts=3)
    parts = sorted(tmp_path.glob("model-*.gguf"))
    assert [part.name for part in parts] == [f"model-0000{i}-of-00003.gguf" for i in (1, 2, 3)]
    for part in parts[0], parts[2]:
        same(folder, part, case, analyze, tmp_path, "float32")
