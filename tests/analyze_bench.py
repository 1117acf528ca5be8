"""What a whole analysis costs beside transformers: processor and wall seconds, in turn on the same machine, by stage.

    python3 tests/analyze_bench.py [--headroom PROGRAM …] [--model GGUF] [--lengths 512,2048,7658] [--rounds 3]

Theirs: LlamaForCausalLM of SmolLM2's sizes in float32, sdpa, with the loss; neither its start nor its weights count. Ours: the
whole command, from start to a file that has been read back. Of several programs each takes its turn in every round. Stages are wall
seconds of the round with the least processor time, as `analyze --json` says them: those of the first line one after the other, those
of the second beside them on threads of their own.
"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time

import numpy as np

from corpus_bench import ROOT, processor, smollm2_sized

BESIDE = ("read_weights", "hash", "write")


def timed(who, run):
    before, begin = processor(who), time.monotonic()
    result = run()
    return processor(who) - before, time.monotonic() - begin, result


def make_theirs():
    import torch

    model = smollm2_sized()

    def run(ids):
        row = torch.from_numpy(ids)[None].long()
        with torch.inference_mode():
            return float(model(row, labels=row, use_cache=False).loss)

    return run


def ours(headroom, model, ids, folder):
    file = folder / "ids.txt"
    file.write_text(" ".join(map(str, ids)))
    command = [headroom, "analyze", model, "--ids-file", file, "--device", "cpu", "--force", "--json", "-o", folder / "run.h5"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)


def stage_lines(wall, found):
    stages = found["stages"]
    before = {name: found[f"{name}_seconds"] for name in ("open", "library", "prompt") if f"{name}_seconds" in found}
    run = {name: seconds for name, seconds in stages.items() if name not in BESIDE and seconds > 0}
    known = sum(before.values()) + sum(run.values())
    words = [f"{name} {seconds:.2f}" for name, seconds in (before | run | {"rest": wall - known}).items()]
    return f"      {', '.join(words)}\n      beside: " + ", ".join(f"{name} {stages[name]:.2f}" for name in BESIDE if name in stages)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--headroom", nargs="+", default=[ROOT / "build/release/headroom"])
    parser.add_argument("--model", default=next(iter(sorted((ROOT / ".deps/demo").glob("*.gguf"))), None))
    parser.add_argument("--lengths", default="512,2048,7658")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    theirs = make_theirs()
    print(f"{os.cpu_count()} processors; medians of {options.rounds} rounds, the least in brackets")
    with tempfile.TemporaryDirectory() as name:
        for length in map(int, options.lengths.split(",")):
            ids = np.random.default_rng(length).integers(0, 49152, length)
            theirs(ids)
            rounds = []
            for _ in range(options.rounds):
                of_round = [timed(resource.RUSAGE_SELF, lambda: theirs(ids))]
                for program in options.headroom:
                    of_round.append(timed(resource.RUSAGE_CHILDREN, lambda: ours(program, options.model, ids, pathlib.Path(name))))
                rounds.append(of_round)
            for i, who in enumerate(["transformers", *options.headroom]):
                cost = [of_round[i] for of_round in rounds]
                processors, walls = [c[0] for c in cost], [c[1] for c in cost]
                line = (f"n = {length:5}  {who}: processor {statistics.median(processors):.2f} ({min(processors):.2f}), "
                        f"wall {statistics.median(walls):.2f} ({min(walls):.2f})")
                if i > 0:
                    ratio = [statistics.median(of_round[i][k] / of_round[0][k] for of_round in rounds) for k in (0, 1)]
                    least = min(cost, key=lambda c: c[0])
                    line += f"; ratio {ratio[0]:.2f}, {ratio[1]:.2f}\n{stage_lines(least[1], least[2])}"
                print(line, flush=True)


if __name__ == "__main__":
    main()
