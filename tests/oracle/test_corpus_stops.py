"""`headroom corpus` and `headroom merge` where things go wrong: full disks, kills, parts that are missing or lie, plans of other models. What is
left goes on to the same numbers, dataset by dataset."""
import json
import os
import random
import resource
import shutil
import struct
import subprocess
import time

import h5py
import numpy as np
import pytest

import checkpoints as C
from command import refused
from test_corpus import BYTES, CUT, KJV, ONE, contents, corpus, plan, progress_of, single, texts, wait_for  # noqa: F401

MAGIC, HEAD = len(b"headroom progress 1\n"), 16


def records(log):
    """Ends of the whole records of a log, by kind: 1 settings, 2 what is the same for all, 3 a sequence, 4 violations."""
    found, at = [], MAGIC
    while at + HEAD <= len(log):
        kind, _, length = struct.unpack_from("<IIQ", log, at)
        if at + HEAD + length > len(log):
            break
        at += HEAD + length
        found.append((kind, at))
    return found


@pytest.fixture(scope="module")
def stopped(command, tmp_path_factory):
    """The log of a run that was killed behind five sequences or more."""
    out = tmp_path_factory.mktemp("stopped") / "c.h5"
    process = command.start("corpus", BYTES, *CUT, *ONE, "-o", out, "--device", "cpu")
    wait_for(progress_of(out), 200000, process)
    process.kill()
    process.communicate()
    return progress_of(out).read_bytes()


def test_123_what_is_whole_in_a_log_is_not_run_again(corpus, single, stopped, tmp_path):
    whole = records(stopped)
    sequences = [end for kind, end in whole if kind == 3]
    assert len(sequences) >= 5 and whole[0][0] == 1
    third = sequences[2]
    cuts = {"all": (stopped, len(sequences)), "a byte less": (stopped[:sequences[-1] - 1], len(sequences) - 1),
            "behind the third": (stopped[:third], 3), "in its head": (stopped[:third + HEAD - 1], 3),
            "a bit of the fourth": (stopped[:third + 900] + bytes([stopped[third + 900] ^ 4]) + stopped[third + 901:], 3),
            "rubbish behind": (stopped[:sequences[-1]] + b"rubbish" * 9, len(sequences)), "no magic": (stopped[:10], 0), "empty": (b"", 0)}
    out = tmp_path / "c.h5"
    for name, (log, expected) in cuts.items():
        progress_of(out).write_bytes(log)
        assert corpus(BYTES, out, *CUT)["resumed"] == expected, name
        assert contents(out) == contents(single[0]) and os.listdir(tmp_path) == ["c.h5"], name
        out.unlink()


def test_force_begins_anew(corpus, single, stopped, tmp_path):
    out = tmp_path / "c.h5"
    progress_of(out).write_bytes(stopped)
    assert corpus(BYTES, out, *CUT, "--force")["resumed"] == 0
    assert contents(out) == contents(single[0])


def test_126_a_log_is_of_one_shard(command, corpus, plan, tmp_path):  # noqa: F811
    out = tmp_path / "c.h5"
    process = command.start("corpus", BYTES, "--plan", plan, "--shard", "0/2", *ONE, "-o", out, "--device", "cpu")
    wait_for(progress_of(out), 100000, process)
    process.kill()
    process.communicate()
    before = progress_of(out).read_bytes()
    other = " ".join(refused(command("corpus", BYTES, "--plan", plan, "--shard", "1/2", "-o", out, "--device", "cpu"), 2, "other settings"))
    assert '"first_sequence":10' in other and '"first_sequence":0' in other and '"kernel_target"' in other and '"threads"' in other and '"device":"cpu"' in other
    assert progress_of(out).read_bytes() == before
    assert 0 < corpus(BYTES, out, "--plan", plan, "--shard", "0/2")["resumed"] < 10
    # A finished target leaves a log of something else alone, and takes its own away.
    progress_of(out).write_bytes(before)
    shutil.copy(out, tmp_path / "other.h5")
    log = bytearray(before)
    log[records(before)[0][1] - 2] ^= 1  # a damaged record of settings: a log of nothing that is known
    progress_of(tmp_path / "other.h5").write_bytes(log)
    for name in ("c.h5", "other.h5"):
        assert corpus(BYTES, tmp_path / name, "--plan", plan, "--shard", "0/2")["nothing_to_do"]
    assert sorted(os.listdir(tmp_path)) == sorted(["c.h5", "other.h5", progress_of(tmp_path / "other.h5").name])


def test_merge_tells_of_other_threads(command, corpus, plan, tmp_path):  # noqa: F811
    corpus(BYTES, tmp_path / "a.h5", "--plan", plan, "--shard", "0/2")
    with h5py.File(tmp_path / "a.h5") as file:
        threads = int(file["shards/threads"][0])
    if threads == 1:
        pytest.skip("one thread is all that there is")
    outcome = command("corpus", BYTES, "--plan", plan, "--shard", "1/2", "--threads", "1", "-o", tmp_path / "b.h5", "--device", "cpu")
    assert outcome.code == 0, outcome
    outcome = command("merge", tmp_path / "a.h5", tmp_path / "b.h5", "-o", tmp_path / "c.h5")
    assert outcome.code == 0 and "with 1 threads" in outcome.errors and f"with {threads} threads" in outcome.errors


def test_124_a_full_disk_keeps_what_was_done(program, single, tmp_path):
    """A file system of 150 kB, where the log does not fit, and of 900 kB, where the file beside it does not."""
    (tmp_path / "disk").mkdir()
    out = tmp_path / "disk" / "c.h5"
    run = [str(program), "corpus", str(BYTES), *map(str, CUT), "-o", str(out), "--device", "cpu", "--json"]
    for size in ("150k", "900k"):
        script = f"""mount -t tmpfs -o size={size} tmpfs '{out.parent}' || exit 77
            "$@" > '{tmp_path}/first' 2> '{tmp_path}/error'; code=$?
            ls -A '{out.parent}' > '{tmp_path}/left'
            mount -o remount,size=100M '{out.parent}' && "$@" > '{tmp_path}/second' && cp '{out}' '{tmp_path}/c.h5' || exit 78
            exit $code"""
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", *run], capture_output=True, timeout=300)
        if done.returncode in (1, 77):
            pytest.skip("no right to mount a small file system here")
        assert done.returncode == 5, done
        assert "No space left" in (tmp_path / "error").read_text() or "needs" in (tmp_path / "error").read_text()
        assert (tmp_path / "left").read_text().split() == [progress_of(out).name]
        resumed = json.loads((tmp_path / "second").read_text())["resumed"]
        assert 0 < resumed < 21 if size == "150k" else resumed == 21
        assert contents(tmp_path / "c.h5") == contents(single[0])


def test_124_a_limit_on_file_sizes_keeps_what_was_done(command, corpus, single, tmp_path):
    out, counts = tmp_path / "c.h5", []
    for size in (0, 60_000, 300_000, 500_000):
        outcome = command("corpus", BYTES, *CUT, *ONE, "-o", out, "--device", "cpu", limits={resource.RLIMIT_FSIZE: size})
        refused(outcome, 5)
        assert os.listdir(tmp_path) == [progress_of(out).name]
        counts.append(sum(kind == 3 for kind, _ in records(progress_of(out).read_bytes())))
    assert counts[0] == 0 and counts == sorted(counts) and counts[-1] > counts[1] > 0
    assert corpus(BYTES, out, *CUT)["resumed"] == counts[-1]
    assert contents(out) == contents(single[0])


@pytest.fixture(scope="module")
def parts(corpus, plan, tmp_path_factory):  # noqa: F811
    folder = tmp_path_factory.mktemp("parts")
    for i in range(7):
        corpus(BYTES, folder / f"p{i}.h5", "--plan", plan, "--shard", f"{i}/7")
    return [folder / f"p{i}.h5" for i in range(7)]


def test_128_a_merge_that_is_killed_leaves_nothing_half_written(command, parts, single, tmp_path):  # noqa: F811
    begin = time.monotonic()
    assert command("merge", *parts, "-o", tmp_path / "whole.h5").code == 0
    took, out, killed = time.monotonic() - begin, tmp_path / "out" / "all.h5", 0
    out.parent.mkdir()
    random.seed(3)
    for attempt in range(24):
        process = command.start("merge", *parts, "-o", out, "--force")
        time.sleep(took * random.uniform(0.2, 1.0))
        process.kill()
        process.communicate()
        killed += process.returncode == -9
        assert not out.exists() or contents(out) == contents(single[0])
        assert len(os.listdir(out.parent)) <= 2
    assert killed >= 8
    assert command("merge", *parts, "-o", out, "--force").code == 0
    assert contents(out) == contents(single[0]) and os.listdir(out.parent) == ["all.h5"]


def test_127_a_merge_of_some_parts_says_so(command, corpus, parts, plan, single, tmp_path):  # noqa: F811
    out = tmp_path / "some.h5"
    some = [parts[i] for i in (4, 0, 2, 3)]
    refused(command("merge", *some, "-o", out), 3, "missing", "--array=1,5-6", "3-5, 15-20", "--partial", "sequences 0 to 20")
    assert not out.exists()
    outcome = command("merge", *some, "-o", out, "--partial", "--json")
    assert outcome.code == 8 and outcome.json["missing"] == "3-5, 15-20" and outcome.json["sequences"] == 12
    assert "3-5, 15-20 are missing" in outcome.errors and "--array=1,5-6" in outcome.errors
    there = np.array([0, 1, 2, *range(6, 15)])
    with h5py.File(out) as file, h5py.File(single[0]) as whole:
        assert file.attrs["sequences_missing"] == "3-5, 15-20" and "sequences_missing" not in whole.attrs
        assert file.attrs["sequences"] == 12 and file.attrs["sequences_all"] == 21
        assert file.attrs["plan_sha256"] == whole.attrs["plan_sha256"] and file.attrs["ids_sha256"] == whole.attrs["ids_sha256"]
        assert np.array_equal(file["sequences/sequence"][:], there)
        for name, item in file["sequences"].items():
            if name not in ("sequence",):
                assert item[:].tobytes() == whole["sequences"][name][:][there].tobytes(), name
        documents = file["sequences/document"][:]
        assert file["documents/document"][:].tolist() == sorted(set(documents.tolist()))
        assert file["documents/sequences"][:].sum() == 12
        loss = file["sequences/next_token_loss"][:]
        assert file["next_token_loss"][0] == pytest.approx(loss.mean(), rel=1e-12) and file["next_token_loss"][9] == 12
        names = np.unique(documents)
        error = np.sqrt(len(names) / (len(names) - 1) * sum((loss[documents == d] - loss.mean()).sum() ** 2 for d in names)) / 12
        assert file["next_token_loss"][2] == pytest.approx(error, rel=1e-9)
        assert file["sketch/entropy"][:].sum() < whole["sketch/entropy"][:].sum()
    told = command("inspect", out)
    assert "3-5, 15-20 of 21" in told.text and command("inspect", out, "--json").json["sequences_missing"] == "3-5, 15-20"
    drawn = command("figure", out, "sinks", "-o", tmp_path / "sinks.svg", "--caption", "text")
    assert drawn.code == 0 and "without sequences 3-5, 15-20." in drawn.text, drawn
    refused(command("merge", out, parts[1], "-o", tmp_path / "more.h5"), 3, "do not follow one another", "some.h5")
    outcome = command("merge", *parts, "-o", tmp_path / "all.h5", "--partial", "--json")
    assert outcome.code == 0 and outcome.json["missing"] == ""
    assert contents(tmp_path / "all.h5") == contents(single[0])


@pytest.mark.parametrize("count", [10**12, 0, 8])
def test_127_merge_believes_no_number_of_shards(command, parts, tmp_path, count):
    """Of 10¹² shards nobody waits for a list, and where parts disagree nobody knows which to run."""
    shutil.copy(parts[0], tmp_path / "p0.h5")
    with h5py.File(tmp_path / "p0.h5", "r+") as file:
        file.attrs["shard_count"] = np.int64(count)
    lying = [tmp_path / "p0.h5"] if count > 8 else [tmp_path / "p0.h5", parts[2]]
    begin = time.monotonic()
    assert "--array" not in " ".join(refused(command("merge", *lying, "-o", tmp_path / "o.h5"), 3, "missing"))
    assert time.monotonic() - begin < 20
    with h5py.File(tmp_path / "p0.h5", "r+") as file:
        file.attrs["sequences_all"] = np.int64(2**62)
    refused(command("merge", *lying, "-o", tmp_path / "o.h5"), 3, "missing")


def test_what_is_cheap_to_say_is_said_first(command, parts, tmp_path):
    nowhere = tmp_path / "nowhere"
    refused(command("corpus", BYTES, "--data", nowhere, "--length", "8", "--shard", "9/8", "-o", tmp_path / "c.h5"), 2, "--shard")
    refused(command("corpus", BYTES, "--data", nowhere, "--length", "8", "--plan-only", "-o", parts[0]), 2, "exists")
    refused(command("corpus", BYTES, "--data", nowhere, "--length", "8", "-o", nowhere / "c.h5"), 5, "folder")
    refused(command("merge", nowhere, "-o", parts[0]), 2, "exists")
    refused(command("merge", nowhere, "-o", nowhere / "c.h5"), 5, "folder")


def test_122_a_plan_of_another_vocabulary_or_tokenizer(command, tmp_path):
    C.headroom(tmp_path / "m", C.headroom_config("softmax"), 3)  # 53 tokens
    (tmp_path / "ids.jsonl").write_text("".join(json.dumps({"ids": [1, 2, 3, last, 5]}) + "\n" for last in (4, 52, 53)))
    arguments = ["--data", tmp_path / "ids.jsonl", "--field", "ids", "--length", "5", "--plan-only"]
    assert command("corpus", BYTES, *arguments, "-o", tmp_path / "plan.h5").code == 0
    refused(command("corpus", tmp_path / "m", "--plan", tmp_path / "plan.h5", "-o", tmp_path / "c.h5", "--device", "cpu"), 3, "plan.h5",
            "sequence 2, position 3", "0 to 52", "53")
    assert command("corpus", BYTES, *arguments, "--sequences", "2", "-o", tmp_path / "less.h5").code == 0
    outcome = command("corpus", tmp_path / "m", "--plan", tmp_path / "less.h5", "-o", tmp_path / "c.h5", "--device", "cpu")
    assert outcome.code == 0 and "tokenizer" not in outcome.errors
    shutil.copytree(BYTES, tmp_path / "bytes")
    name = next(n for n in ("tokenizer.json", "tokenizer_config.json") if (tmp_path / "bytes" / n).exists())
    text = (tmp_path / "bytes" / name).read_text()
    (tmp_path / "bytes" / name).write_text(text.rstrip() + "\n\n")
    assert command("corpus", BYTES, "--data", KJV, "--split", "blank", "--length", "8", "--sequences", "2", "--plan-only", "-o",
                   tmp_path / "text.h5").code == 0
    outcome = command("corpus", tmp_path / "bytes", "--plan", tmp_path / "text.h5", "-o", tmp_path / "d.h5", "--device", "cpu")
    assert outcome.code == 0 and "warning: the plan's tokens are of another tokenizer" in outcome.errors
    outcome = command("corpus", BYTES, "--plan", tmp_path / "text.h5", "-o", tmp_path / "e.h5", "--device", "cpu")
    assert outcome.code == 0 and "another tokenizer" not in outcome.errors


def test_names_of_files_need_not_be_text(command, tmp_path):
    folder = os.fsencode(tmp_path) + b"/data"
    os.mkdir(folder)
    with open(folder + b"/a\xff\x80.txt", "wb") as file:
        file.write(b"long enough for one or two")
    outcome = command("corpus", BYTES, "--data", folder, "--length", "8", "-o", tmp_path / "c.h5", "--device", "cpu", "--json")
    assert outcome.code == 0 and outcome.json["plan"]["files"] == 1
    with h5py.File(tmp_path / "c.h5") as file:
        assert texts(file["documents/name"]) == texts(file["files/name"]) == [r"a\xFF\x80.txt"] and file.attrs["data"] == r"a\xFF\x80.txt"
    assert command("inspect", tmp_path / "c.h5", "--json").json["data"] == r"a\xFF\x80.txt"
