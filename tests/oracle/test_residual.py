"""The residual stream: what the window says of it against numpy on /hidden/residual of the same run, and the way back from a run file
to its checkpoint, by its hash."""
import shutil

import h5py
import numpy as np
import pytest

import window as W

DEMO = W.ROOT / "assets" / "demo"
GGUF = ".deps/demo/SmolLM2-135M-Instruct.Q4_1.gguf"


@pytest.fixture(scope="module")
def window(program, display, tmp_path_factory, demo_gguf):
    return W.Window(program, display, tmp_path_factory.mktemp("residual"), demo_gguf)


def by_definition(path, least):
    """From the stream alone: the largest |h| and its ratio, what is massive, what reaches the least ratio and is not massive anywhere."""
    with h5py.File(path) as file:
        stream = np.abs(file["hidden/residual"][()])
        top = file["hidden/residual_top"][()]
    massive, below = set(), set()
    largest = (0.0, 0, 0, 0, 0.0)
    for boundary, size in enumerate(stream):
        median = np.sort(size.ravel())[size.size // 2]
        for token, channel in np.argwhere((size >= 100) & (size >= 1000 * median)):
            massive.add((int(token), int(channel)))
        # What the window keeps of a boundary: its 64 largest and all massive ones.
        kept = np.sort(size.ravel())[::-1][:64][-1]
        for token, channel in np.argwhere((size >= least * median) & (size >= kept)):
            below.add((int(token), int(channel)))
        peak = np.unravel_index(np.argmax(size), size.shape)
        if size[peak] > largest[0]:
            largest = (float(size[peak]), boundary, int(peak[0]), int(peak[1]), float(size[peak] / median))
        order = np.argsort(-size.ravel(), kind="stable")[:3]
        assert [tuple(map(int, entry[:2])) for entry in top[boundary]] == [divmod(int(i), size.shape[1]) for i in order]
    return largest, massive, below - massive


def test_what_the_window_lists_of_a_real_model(window, program, demo_gguf, command):
    text = "The quick brown fox jumps over the lazy dog. The dog sleeps, and the fox runs on to the river."
    out = window.made / "stream.h5"
    assert command("analyze", str(demo_gguf), "--text", text, "--hidden", "-o", str(out), "--force").code == 0
    (size, boundary, token, channel, ratio), massive, below = by_definition(out, 300)
    assert massive, "the model has massive activations"
    found = window.run(f"open {GGUF}\nwait\nprompt \"{text}\"\nrun\nwait\nresidual on\nwait\nexpect residual.state == shown\nquit\n")
    facts = found.facts
    assert float(facts["residual.massive"]) == len(massive)
    assert float(facts["residual.below"]) == min(200, len(below))
    assert abs(float(facts["residual.largest"]) - size) <= 1e-3 * size
    assert abs(float(facts["residual.largest_ratio"]) - ratio) <= 1e-3 * ratio
    assert float(facts["residual.channel"]) == channel
    # The file says the same as the run.
    again = window.run(f"open {out}\nwait\nresidual on\nwait\nexpect residual.state == shown\nquit\n").facts
    for name in ("residual.massive", "residual.below", "residual.channel", "residual.boundary", "residual.there"):
        assert again[name] == facts[name], name


def test_a_run_file_finds_its_checkpoint_by_its_hash(window, command):
    """Under another name, in another folder; one with other weights is refused with both hashes, and the file panel asks for none."""
    folder = window.made / "moved"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DEMO / "backcopy" / "softmax", folder / "first", ignore=shutil.ignore_patterns("step_*"))
    run = folder / "run.h5"
    assert command("analyze", str(folder / "first"), "--ids", "1,2,3,4,5,6,7,8", "--what-if", "L0:temperature=2", "-o", str(run)).code == 0
    (folder / "first").rename(folder / "second")
    other = DEMO / "bytes" / "softmax"
    lines = (f"open {run}\nwait\nexpect map.state ~ \"no maps\"\nselect L0.H0[5,2]\nrun.checkpoint {other}\nwait\n"
             "expect errors == 1\nexpect error ~ \"Cannot open the checkpoint\"\nerror.copy\nexpect clipboard ~ \"SHA-256\"\nerror.close\n"
             f"run.checkpoint {folder / 'second'}\nwait\nexpect errors == 0\nexpect run.status == done\nexpect map.state == map\n"
             "expect select.query == 5\nexpect run.tokens == 8\nexpect run.name ~ \"temperature\"\nquit\n")
    window.run(lines)
    # Nothing that is known has the hash: the file panel asks.
    (folder / "second").rename(folder / "third")
    window.run(f"open {run}\nwait\nrun.checkpoint\nwait\nexpect overlay != 0\nkey Esc\nexpect overlay == 0\n"
               f"run.checkpoint {folder / 'third'}\nwait\nexpect run.status == done\nexpect map.state == map\nquit\n")
