"""Draws how a sink is born from training histories alone: python3 sink_birth.py MODELS OUT.png (needs h5py, matplotlib).

MODELS holds backcopy/softmax_seedN/training.h5 and backcopy/diff_v2_seedN/training.h5 as `headroom train` writes them.
"""
import pathlib
import sys

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

models = pathlib.Path(sys.argv[1])
figure, (sinks, size, loss) = plt.subplots(1, 3, figsize=(12.5, 3.6), constrained_layout=True)
seen = set()


def line(axes, x, y, label, **style):
    axes.plot(x, y, lw=1.2, label=None if (axes, label) in seen else label, **style)
    seen.add((axes, label))


for kind, colour in (("softmax", "tab:red"), ("diff_v2", "tab:blue")):
    for folder in sorted((models / "backcopy").glob(f"{kind}_seed*")):
        run = h5py.File(folder / "training.h5")
        steps = run["statistics_step"][:]
        line(sinks, steps, run["sink_score"][:, 0, 0, 0], f"{kind}, first map", color=colour)
        if kind == "diff_v2":
            line(sinks, steps, run["sink_score_net"][:, 0, 0], "diff_v2, net", color=colour, ls=":")
        line(size, steps, run["context_rms_relative_mean"][:, 0, 0], kind, color=colour)
        line(loss, run["validation_step"][:], run["validation_loss"][:], kind, color=colour)
sinks.set(title="attention to key 0", xlabel="step", ylabel="sink score", ylim=(-0.05, 1))
size.set(title="context RMS ρ", xlabel="step", ylim=(0, None))
loss.set(title="validation loss (nats)", xlabel="step", ylim=(1.69, 1.8))
for axes in (sinks, size, loss):
    axes.set_xlim(0, None)
    axes.legend(frameon=False, fontsize=8)
figure.savefig(sys.argv[2], dpi=110)
