"""What a corpus costs beside transformers: processor seconds a sequence, in turn on the same machine.

    python3 tests/corpus_bench.py [--headroom PROGRAM] [--model GGUF] [--lengths 64,128,512] [--rounds 3]

Theirs: LlamaForCausalLM of SmolLM2's sizes in float32, sdpa, loss of every sequence, in batches of at most 4,096 tokens; neither
its start nor its weights count. Ours: the whole command with all root quantities, histograms, intervals, hashes and writing.
"""
import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
SEQUENCES = {64: 32, 128: 32, 512: 8, 2048: 2}
BATCH = 4096


def processor(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def smollm2_sized():
    """transformers' model of SmolLM2's sizes; its weights are random."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(hidden_size=576, intermediate_size=1536, num_hidden_layers=30, num_attention_heads=9, num_key_value_heads=3,
                         vocab_size=49152, tie_word_embeddings=True, max_position_embeddings=8192, attn_implementation="sdpa")
    return LlamaForCausalLM(config).eval()


def make_theirs():
    import torch

    model = smollm2_sized()

    def seconds(ids):
        rows = max(1, BATCH // ids.shape[1])
        before = processor(resource.RUSAGE_SELF)
        with torch.inference_mode():
            for start in range(0, len(ids), rows):
                batch = torch.from_numpy(ids[start:start + rows]).long()
                logits = model(batch, use_cache=False).logits
                torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), batch[:, 1:].flatten(), reduction="none")
        return (processor(resource.RUSAGE_SELF) - before) / len(ids)

    return seconds


def ours(headroom, model, file, length, count, folder):
    command = [headroom, "corpus", model, "--data", file, "--length", str(length), "--device", "cpu", "--force", "-o", folder / "c.h5"]
    before = processor(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return (processor(resource.RUSAGE_CHILDREN) - before) / count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--headroom", default=ROOT / "build/release/headroom")
    parser.add_argument("--model", default=next(iter(sorted((ROOT / ".deps/demo").glob("*.gguf"))), None))
    parser.add_argument("--lengths", default="64,128,512")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    theirs = make_theirs()
    print(f"{os.cpu_count()} processors; processor seconds a sequence, medians of {options.rounds} rounds")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for length in map(int, options.lengths.split(",")):
            count = SEQUENCES.get(length, max(1, BATCH // length))
            ids = np.random.default_rng(length).integers(0, 49152, (count, length), dtype=np.int32)
            np.save(folder / "ids.npy", ids)
            theirs(ids[:max(1, count // 8)])
            rounds = [(theirs(ids), ours(options.headroom, options.model, folder / "ids.npy", length, count, folder))
                      for _ in range(options.rounds)]
            median = [statistics.median(column) for column in zip(*rounds)]
            ratio = statistics.median(mine / their for their, mine in rounds)
            print(f"{count:3} × {length:5}  transformers {median[0]:.3f}  corpus {median[1]:.3f}  ratio {ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
