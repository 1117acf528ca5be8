"""Every family that transformers has against transformers: hidden states, logits and statistics, both dtypes."""
import pytest
import torch

import families
import quantities
from compare import Comparison

SEEDS = (1, 2)


def token_ids(n, seed, vocab):
    return torch.randint(0, vocab, (n,), generator=torch.Generator().manual_seed(seed)).tolist()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("case", families.CASES, ids=lambda case: case.name.replace(" ", "_"))
def test_family(analyze, tmp_path, case, seed):
    weights = families.write(tmp_path / "model", case, 100 * seed + len(case.name))
    ids = token_ids(case.n, seed, case.config["vocab_size"])
    trace = families.run(case, weights, ids)
    expected = quantities.compute(trace, ids)
    for dtype in ("float64", "float32"):
        out = tmp_path / f"{dtype}.h5"
        told = analyze(tmp_path / "model", ids, out, "--dtype", dtype, "--hidden", "--exact-maps", "--components")
        assert "warning" not in told.stderr.lower(), told.stderr
        comparison = Comparison(out, expected, dtype)
        comparison.all(skip=("maps",))
        comparison.parameters()
        comparison.finish()
