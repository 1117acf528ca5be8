"""Tables of what files of `headroom needle` hold, as Markdown: needle_table.py NAME=needle.h5 … prints, by depth, how much of the answer is
recalled, and the share of absolute attention that each span of the keys gets: over all heads, and of the head that copies most. ± is half
of a 95 % interval by t over samples."""
import sys

import h5py
import numpy as np


def interval(values, digits=3):
    """Of [statistic]: mean ± half width."""
    mean, half = values[0], (values[4] - values[3]) / 2
    return f"{mean:.{digits}f} ± {half:.{digits}f}" if np.isfinite(half) else f"{mean:.{digits}f}"


def names(axis):
    return [name.decode() if isinstance(name, bytes) else name for name in axis[:]]


def main():
    files = [(word.split("=", 1)[0], h5py.File(word.split("=", 1)[1])) for word in sys.argv[1:]]
    length = 0  # the first one
    for title, of in (("all heads", None), ("the head with the largest retrieval score", "best")):
        spans = names(files[0][1]["span"])
        print(f"\nShare of absolute attention, net map, {title}:\n")
        print("| model | depth | recalled | " + " | ".join(spans) + " |")
        print("|---|---|---|" + "---|" * len(spans))
        for name, file in files:
            best = ""
            if of:
                scores = file["overall/retrieval_score"][:]
                layer, head = np.unravel_index(np.nanargmax(scores[0]), scores.shape[1:])
                best = f", L{layer}.H{head} ({interval(scores[:, layer, head], 2)})"
            for d, depth in enumerate(file["depth"][:]):
                share = file["share_over_heads"][:, length, d, :, 2] if not of else file["share"][:, length, d, :, layer, head, 2]
                cells = [interval(share[:, s]) for s in range(len(spans))]
                print(f"| {name}{best} | {depth:g} % | {interval(file['recalled'][:, length, d], 2)} | " + " | ".join(cells) + " |")
    print()


if __name__ == "__main__":
    main()
