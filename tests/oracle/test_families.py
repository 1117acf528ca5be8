"""Every family that transformers has against transformers: hidden states, logits and statistics, both dtypes."""
import re

import h5py
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM
from transformers.models.qwen3 import modeling_qwen3

import checkpoints as C
import families
import quantities
from compare import Comparison

RUNS = ((1, "float64"), (2, "float32"))  # other weights and tokens each


def token_ids(n, seed, vocab):
    return torch.randint(0, vocab, (n,), generator=torch.Generator().manual_seed(seed)).tolist()


@pytest.mark.parametrize(("seed", "dtype"), RUNS)
@pytest.mark.parametrize("case", families.CASES, ids=lambda case: case.name.replace(" ", "_"))
def test_family(analyze, tmp_path, parity, case, seed, dtype):
    weights = families.write(tmp_path / "model", case, 100 * seed + len(case.name))
    ids = token_ids(case.n, seed, case.decoder["vocab_size"])
    trace = families.run(case, weights, ids)
    expected = quantities.compute(trace, ids)
    out = tmp_path / "run.h5"
    told = analyze(tmp_path / "model", ids, out, "--dtype", dtype, "--hidden", "--exact-maps", "--components")
    assert re.findall("warning: (.*)", told.stdout) == [case.warning] * bool(case.warning) and not told.stderr, told
    comparison = Comparison(out, expected, dtype)
    comparison.all(skip=("maps",))
    comparison.parameters()
    comparison.routing(trace.routing)
    comparison.finish()
    parity(case.model_type, dtype=dtype, case=case.name, reference="transformers", **comparison.worst)


@pytest.mark.parametrize("name", ["bert", "roberta", "opt"])
def test_a_prompt_ends_where_the_learned_positions_do(analyze, tmp_path, name):
    case = next(case for case in families.CASES if case.name == name)
    families.write(tmp_path / "model", case, 5)
    most = case.config["max_position_embeddings"] - (case.config["pad_token_id"] + 1 if name == "roberta" else 0)
    assert analyze(tmp_path / "model", [7] * most, tmp_path / "all.h5", "--only", "summary").returncode == 0
    refused = analyze(tmp_path / "model", [7] * (most + 1), tmp_path / "more.h5", check=False)
    assert refused.returncode == 2 and f"at most {most} tokens" in refused.stderr and not (tmp_path / "more.h5").exists()


@pytest.mark.parametrize("same", [False, True], ids=["another", "the_same"])
def test_a_file_with_two_matrices_of_which_the_config_says_that_they_are_one(analyze, tmp_path, same):
    case = next(case for case in families.CASES if case.name == "qwen3")
    weights = families.write(tmp_path / "model", case, 5)
    embedding = weights["model.embed_tokens.weight"].float()
    path = tmp_path / "model" / "model.safetensors"
    save_file({**load_file(path), "lm_head.weight": embedding.clone() if same else embedding.flip(0).clone()}, path, metadata={"format": "pt"})
    ids = token_ids(case.n, 5, case.config["vocab_size"])
    with C.transformers_in_float64(modeling_qwen3), torch.no_grad():
        net = AutoModelForCausalLM.from_pretrained(tmp_path / "model", dtype=torch.float64)
        loss = net(torch.tensor([ids]), labels=torch.tensor([ids])).loss.item()
    told = analyze(tmp_path / "model", ids, tmp_path / "run.h5", "--dtype", "float64")
    assert (re.search("warning: .*lm_head.weight differs from model.embed_tokens.weight", told.stdout) is None) == same, told
    with h5py.File(tmp_path / "run.h5") as file:
        assert abs(file.attrs["next_token_loss"] - loss) < 1e-9
