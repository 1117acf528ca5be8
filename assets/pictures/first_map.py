"""Draws the README's picture from a run file alone: python3 first_map.py RUN.h5 OUT.png (needs h5py, matplotlib).

The run file comes from `headroom analyze … --maps 128`; one head is chosen for its map, the strongest sink that is not total.
"""
import sys

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

run = h5py.File(sys.argv[1])
score = run["sink_score"][:, :, 0]
layer, head = np.unravel_index(np.argmax(np.where(score < 0.7, score, 0)), score.shape)
n = run["position"].size

figure, (atlas, weights, bounds) = plt.subplots(1, 3, figsize=(12.5, 3.9), constrained_layout=True)

picture = atlas.imshow(score.T, origin="lower", cmap="magma", vmin=0, vmax=1, aspect="auto")
atlas.plot(layer, head, "s", mfc="none", mec="cyan", ms=9)
atlas.set(title="sink score of every head", xlabel="layer", ylabel="head")
figure.colorbar(picture, ax=atlas)

mean = run["maps/pooled_mean"][layer, head]
picture = weights.imshow(np.log10(np.where(mean > 0, mean, np.nan)), cmap="magma", vmin=-5, vmax=0, extent=(0, n, n, 0))
weights.set(title=f"L{layer}.H{head}: log₁₀ of the pooled map", xlabel="key", ylabel="query")
figure.colorbar(picture, ax=weights)

rows = run["tokens/visible_keys"][layer]
bounds.loglog(rows, run["rows/context_rms_relative"][layer, head], ".", ms=3, label="ρ = RMS / r̄")
bounds.loglog(rows, run["rows/weight_l2"][layer, head], ".", ms=3, label="‖w‖₂")
bounds.loglog(rows, 1 / np.sqrt(rows), "k--", lw=1, label="1/√n")
bounds.axhline(1, color="k", lw=1)
bounds.set(title=f"L{layer}.H{head}: context RMS against [1/√n, 1)", xlabel="visible keys n", xlim=(1, n))
bounds.legend(loc="lower left", frameon=False)

figure.savefig(sys.argv[2], dpi=110)
print(f"L{layer}.H{head}, sink score {score[layer, head]:.3f}")
