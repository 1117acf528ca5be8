"""SmolLM2-135M-Instruct as GGUF against transformers' float32 eager model of the same file, on a text everybody has."""
import json
import pathlib
import subprocess

import h5py
import numpy as np
import pytest
import torch

import checkpoints

TEXT = pathlib.Path("/usr/share/common-licenses/GPL-3")
TOKENS = 64
FIRST_IDS = [42185, 28807, 35185, 49126, 35696]


@pytest.fixture(scope="module")
def run_file(analyze, program, demo_gguf, tmp_path_factory):
    """The first 64 tokens of the text as the program encodes them, then a run on exactly these."""
    if not TEXT.exists():
        pytest.skip(f"{TEXT} is not on this machine")
    folder = tmp_path_factory.mktemp("smollm2")
    prompt = folder / "prompt.txt"
    prompt.write_text(TEXT.read_text()[:600])
    subprocess.run([str(program), "analyze", str(demo_gguf), "--text-file", str(prompt), "-o", str(folder / "text.h5"), "--only",
                    "summary", "--layers", "0", "--device", "cpu"], check=True, capture_output=True, timeout=300)
    with h5py.File(folder / "text.h5") as file:
        ids = file["tokens/token_id"][:TOKENS].tolist()
    assert len(ids) == TOKENS
    analyze(demo_gguf, ids, folder / "run.h5", "--hidden")
    with h5py.File(folder / "run.h5") as file:
        yield file, ids


@pytest.fixture(scope="module")
def reference(run_file, demo_gguf):
    config, weights = checkpoints.read_gguf_llama(demo_gguf)
    net = checkpoints.transformers_model("llama", config, weights, torch.float32)
    with torch.no_grad():
        return net(torch.tensor([run_file[1]]), output_attentions=True, output_hidden_states=True, use_cache=False)


def test_token_ids_start_as_published(run_file):
    assert run_file[1][:5] == FIRST_IDS


def test_token_text_joins_to_the_prompt(run_file):
    text = run_file[0]["tokens/token_text"].asstr()[()]
    assert TEXT.read_text().startswith("".join(text).rstrip("\ufffd"))


def test_sink_scores(run_file, reference):
    expected = torch.stack([a[0, :, :, 0].mean(dim=1) for a in reference.attentions]).numpy()
    found = run_file[0]["sink_score"][:, :, 0]
    assert found.shape == (30, 9)
    assert np.abs(found - expected).max() <= 2e-4


def test_sink_rate_of_gu(run_file, reference):
    expected = torch.stack([a[0, :, :, 0].mean(dim=1) for a in reference.attentions]).numpy()
    assert (expected > 0.3).sum() == 181
    assert (run_file[0]["sink_score"][:, :, 0] > 0.3).sum() == 181


def test_next_token_loss(run_file, reference):
    ids = torch.tensor(run_file[1])
    loss = torch.nn.functional.cross_entropy(reference.logits[0, :-1], ids[1:]).item()
    assert loss == pytest.approx(3.3264, abs=5e-5)
    assert float(run_file[0].attrs["next_token_loss"]) == pytest.approx(3.3264, abs=5e-5)


def test_logits_and_hidden_states(run_file, reference):
    logits = reference.logits[0].numpy()
    assert np.abs(run_file[0]["hidden/logits"][()] - logits).max() <= 1e-4 * np.abs(logits).max()
    for boundary, expected in enumerate(reference.hidden_states[:-1]):  # transformers norms its last entry
        expected = expected[0].numpy()
        found = run_file[0]["hidden/residual"][boundary]
        assert np.abs(found - expected).max() <= 1e-4 * np.abs(expected).max(), f"boundary {boundary}"


def test_inspect_names_the_model(program, demo_gguf):
    result = subprocess.run([str(program), "inspect", str(demo_gguf), "--json"], capture_output=True, text=True, check=True, timeout=60)
    report = json.loads(result.stdout)
    assert (report["layers"], report["heads"], report["kv_heads"], report["head_dim"]) == (30, 9, 3, 64)
