"""`headroom corpus --plan-only`: documents of every container as other programs write them, what is cut of them against Python, and what is said
of files that are damaged, lie, or have changed."""
import gzip
import json
import random
import struct
import subprocess
import time

import h5py
import numpy as np
import pytest
import xarray as xr

import checkpoints as C
from command import check_error_object, refused
from conftest import ROOT
from test_corpus import BYTES, KJV, key, texts

VOCABULARY = 257  # of BYTES
END = 0


@pytest.fixture(scope="module")
def plan(warm_command, tmp_path_factory):
    folder = tmp_path_factory.mktemp("plans")

    def call(*arguments, code=0, words=()):
        out = folder / "plan.h5"
        out.unlink(missing_ok=True)
        outcome = warm_command("corpus", str(BYTES), "--plan-only", "-o", str(out), *map(str, arguments))
        if code:
            assert not out.exists()
            return refused(outcome, code, *words)
        assert outcome.code == 0, outcome
        return h5py.File(out)

    return call


def documents():
    random.seed(4)
    return [[random.randrange(1, VOCABULARY) for _ in range(random.randrange(3, 40))] + [END] for _ in range(30)]


def megatron(folder, docs, code, dtype):
    np.concatenate([np.array(d, dtype) for d in docs]).tofile(folder / "x.bin")
    lengths = np.array([len(d) for d in docs], np.int32)
    starts = np.concatenate([[0], np.cumsum(lengths[:-1].astype(np.int64))]) * np.dtype(dtype).itemsize
    with open(folder / "x.idx", "wb") as file:
        file.write(b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, code, len(docs), len(docs) + 1))
        file.write(lengths.tobytes() + starts.astype(np.int64).tobytes() + np.arange(len(docs) + 1, dtype=np.int64).tobytes())


def containers(folder, docs):
    """{name: (path, options)} of the same documents."""
    flat, found = np.concatenate([np.array(d) for d in docs]), {}
    end = ["--document-end", str(END)]

    def add(name, data, *options):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        found[name] = (folder / name, list(options))

    for dtype in ("uint16", "uint32", "int32"):
        add(f"nano_{dtype}.bin", flat.astype(dtype).tobytes(), "--ids-dtype", dtype, *end)
    for magic, version, dtype in ((20240520, 1, np.uint16), (20240801, 7, np.uint32)):
        header = np.zeros(256, np.int32)
        header[:3] = magic, version, len(flat)
        add(f"llmc_{version}.bin", header.tobytes() + flat.astype(dtype).tobytes(), *end)
    for code, dtype in ((4, np.int32), (5, np.int64), (8, np.uint16), (3, np.int16)):
        (folder / f"mega{code}").mkdir()
        megatron(folder / f"mega{code}", docs, code, dtype)
        found[f"mega{code}"] = (folder / f"mega{code}", [])
    for dtype in (np.int64, np.uint16, np.int32, np.uint64):
        np.save(folder / f"{np.dtype(dtype)}.npy", flat.astype(dtype))
        found[f"{np.dtype(dtype)}.npy"] = (folder / f"{np.dtype(dtype)}.npy", end)
    lines = "".join(json.dumps({"text": "no", "a": {"b": d}}) + "\n" for d in docs).encode()
    add("ids.jsonl", lines, "--field", "a.b")
    add("ids.jsonl.gz", gzip.compress(lines), "--field", "a.b")
    packed = subprocess.run(["zstd", "-q", "-c"], input=lines, capture_output=True, check=True).stdout if zstd_there() else None
    if packed:
        add("ids.jsonl.zst", packed, "--field", "a.b")
    return found


def zstd_there():
    try:
        return subprocess.run(["zstd", "--version"], capture_output=True).returncode == 0
    except OSError:
        return False


def test_every_container_holds_the_same_documents(plan, tmp_path):
    docs, hashes = documents(), set()
    expected = [(d, p) for p in range(99) for d, ids in enumerate(docs) if 9 * p + 9 <= len(ids)]
    for name, (path, options) in containers(tmp_path, docs).items():
        with plan("--data", path, "--length", "9", *options) as file:
            found = list(zip(file["sequences/document"][:].tolist(), file["sequences/piece"][:].tolist()))
            assert found == expected, name
            assert all(docs[d][9 * p: 9 * p + 9] == row.tolist() for (d, p), row in zip(expected, file["sequences/token_id"])), name
            hashes.add(file.attrs["ids_sha256"])
            assert file.attrs["documents"] == 30 and file.attrs["documents_short"] == sum(len(d) < 9 for d in docs)
            assert file.attrs["tokens_dropped"] == sum(len(d) % 9 for d in docs if len(d) >= 9)
    assert len(hashes) == 1


def test_text_is_tokenised_whole_and_folders_come_in_order(plan, tmp_path):
    (tmp_path / "z").mkdir()
    for name, text in (("b.txt", "beta" * 9), ("z/a.txt", "alpha" * 9), ("B.txt", "upper" * 9)):
        (tmp_path / name).write_text(text)
    (tmp_path / "c.txt.gz").write_bytes(gzip.compress(b"gamma" * 9))
    with plan("--data", tmp_path, "--length", "12", "--bos", "never", "--pieces", "1") as file:
        assert texts(file["documents/name"]) == ["B.txt", "b.txt", "c.txt.gz", "z/a.txt"]
        assert [bytes(row.astype(np.uint8)) for row in file["sequences/token_id"]] == [b"upperupperup", b"betabetabeta", b"gammagammaga",
                                                                                       b"alphaalphaal"]
    with plan("--data", tmp_path, "--length", "12", "--pieces", "1", "--seed", "5") as file:
        assert file["sequences/document"][:].tolist() == sorted(range(4), key=lambda d: (key(5, d), d))
    with plan("--data", tmp_path, "--length", "5", "--order", "random", "--seed", "5", "--sequences", "7", "--bos", "never") as file:
        everything = [(d, p) for d, size in enumerate((45, 36, 45, 45)) for p in range(size // 5)]
        expected = sorted(everything, key=lambda at: (key(5, *at), at))[:7]
        assert list(zip(file["sequences/document"][:].tolist(), file["sequences/piece"][:].tolist())) == expected


def test_joined_documents(plan, tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo!\nthree.\n")
    with plan("--data", tmp_path / "a.txt", "--split", "lines", "--length", "5", "--bos", "never", "--pack", "concat", "--separator", "33") as file:
        assert [bytes(row.astype(np.uint8)) for row in file["sequences/token_id"]] == [b"one!t", b"wo!!t", b"hree."]
        assert file["sequences/document"][:].tolist() == [0, 1, 2] and file["sequences/token_start"][:].tolist() == [0, 1, 1]
        assert file.attrs["tokens_dropped"] == 1


def test_xarray_opens_a_plan_and_a_corpus(plan, warm_command, tmp_path):
    out = tmp_path / "c.h5"
    assert warm_command("corpus", str(BYTES), "--data", str(KJV), "--split", "blank", "--length", "16", "--sequences", "3", "-o", str(out),
                        "--device", "cpu").code == 0
    for engine in ("h5netcdf", "netcdf4"):
        with xr.open_dataset(out, engine=engine) as root:
            assert root.sink_score.dims == ("statistic", "layer", "head", "component")
            assert root.sel(statistic="mean").next_token_loss == root.next_token_loss[0]
        for group in ("sequences", "documents", "files", "hist", "sketch", "pooled", "program", "weights", "shards"):
            with xr.open_dataset(out, engine=engine, group=group) as found:
                assert len(found.data_vars) > 0, group
    with plan("--data", KJV, "--split", "blank", "--length", "16", "--sequences", "3") as file:
        name = file.filename
    with xr.open_dataset(name, engine="h5netcdf", group="sequences") as found:
        assert found.token_id.shape == (3, 16)


FAULTS = {
    "bad_line_7": ("a.jsonl", b'{"text": "fine"}\n' * 6 + b'{"text": "cut\n', [], 3, ["line 7", "a.jsonl"]),
    "no_field": ("a.jsonl", b'{"other": "fine"}\n', [], 3, ["line 1", "the field text"]),
    "not_jsonl": ("a.txt", b"plain\n", ["--field", "text"], 3, ["no JSONL"]),
    "id_beyond": ("a.jsonl", b'{"ids": [1, 257]}\n', ["--field", "ids"], 3, ["0 to 256", "257", "line 1"]),
    "cut_gzip": ("a.gz", gzip.compress(bytes(range(256)) * 30)[:-9], [], 3, ["cut off", "at byte"]),
    "bomb": ("a.gz", gzip.compress(b"0" * 50_000_000), [], 3, ["250 times"]),
    "odd": ("a.bin", b"\1\0\2\0\3", [], 3, ["multiple of 2", "5 bytes"]),
    "objects": ("a.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", 54) + b"{'descr': '|O', 'fortran_order': False, 'shape': (3,)}" + b"x", [], 3,
                ["objects"]),
    "lying": ("x.idx", b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 4, 2**60, 2), [], 3, ["x.idx", "another size"]),
    "parquet": ("a.parquet", b"PAR1" + bytes(100), [], 4, ["Parquet", "pandas"]),
    "short": ("a.txt", b"tiny", [], 3, ["no document is as long", "at most 4"]),
    "empty": ("a.txt", b"", [], 3, ["no document is as long"]),
    "row": ("a.npy", None, [], 3, ["row", "8 ids"]),
    "row_bos": ("a.npy", None, ["--bos", "always"], 2, ["--bos", "row", "a.npy:0"]),
    "row_joined": ("a.npy", None, ["--pack", "concat"], 2, ["--pack", "a.npy:0"]),
    "ids_as_gzip": ("a.bin", b"\x1f\x8b" + bytes(30), [], 3, ["0 to 256", "35615"]),
    "packed_ids": ("a.bin.gz", gzip.compress(bytes(64)), [], 4, ["packed file of token ids"]),
    "packed_bin": ("a.bin", gzip.compress(bytes(64)), [], 4, ["packed file of token ids"]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_121_damaged_documents_are_named_and_nothing_is_written(plan, tmp_path, fault):
    name, data, options, code, words = FAULTS[fault]
    if data is None:
        np.save(tmp_path / name, np.ones((3, 5), np.int32))
    else:
        (tmp_path / name).write_bytes(data)
    (tmp_path / "x.bin").write_bytes(bytes(8)) if fault == "lying" else None
    bos = [] if "--bos" in options else ["--bos", "never"]
    plan("--data", tmp_path / name, "--length", "8", *bos, *options, code=code, words=words)


def test_usage(plan, command, tmp_path):
    plan("--length", "8", code=2, words=["--data"])
    plan("--data", KJV, code=2, words=["--length"])
    plan("--data", tmp_path / "none", "--length", "8", code=5, words=["none"])
    plan("--data", KJV, "--length", "8", "--separator", "eos", code=2, words=["--pack concat"])
    plan("--data", KJV, "--length", "8", "--order", "sideways", code=2, words=["--order"])
    for shard in ("8/8", "1", "-1/3", "x/2", "1/0"):
        outcome = command("corpus", BYTES, "--data", KJV, "--length", "8", "--sequences", "9", f"--shard={shard}", "-o", tmp_path / "c.h5", "--json")
        assert check_error_object(outcome, 2)["tensor"] == "--shard"
    outcome = command("corpus", BYTES, "--data", KJV, "--length", "8", "--keep", "sink_score,nonsense", "-o", tmp_path / "c.h5", "--json")
    assert check_error_object(outcome, 2)["found"] == "nonsense"
    C.headroom(tmp_path / "m", C.headroom_config("softmax"), 3)
    refused(command("corpus", tmp_path / "m", "--data", KJV, "--length", "8", "-o", tmp_path / "c.h5"), 5, "no tokenizer")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m"]


def test_122_a_file_that_changed_since_the_plan_is_told(command, tmp_path):
    data = tmp_path / "a.txt"
    data.write_text("some text that is long enough")
    assert command("corpus", BYTES, "--data", data, "--length", "8", "--plan-only", "-o", tmp_path / "plan.h5").code == 0
    data.write_text("some text that is long enougH")
    refused(command("corpus", BYTES, "--plan", tmp_path / "plan.h5", "-o", tmp_path / "c.h5", "--device", "cpu"), 3, "has changed", "a.txt", "SHA-256")
    data.unlink()  # a plan holds the ids
    assert command("corpus", BYTES, "--plan", tmp_path / "plan.h5", "-o", tmp_path / "c.h5", "--device", "cpu").code == 0
    with h5py.File(tmp_path / "plan.h5", "r+") as file:
        file["sequences/token_id"][0, 0] = 1
    refused(command("corpus", BYTES, "--plan", tmp_path / "plan.h5", "-o", tmp_path / "d.h5", "--device", "cpu"), 3, "ids_sha256")
    refused(command("corpus", BYTES, "--plan", tmp_path / "c.h5", "-o", tmp_path / "d.h5", "--device", "cpu"), 3, "no plan")


def test_many_documents_are_planned_quickly(plan, tmp_path):
    (tmp_path / "lines.txt").write_text("".join(f"document number {i} of very many\n" for i in range(100_000)))
    begin = time.monotonic()
    with plan("--data", tmp_path / "lines.txt", "--split", "lines", "--length", "16") as file:
        assert file.attrs["documents"] == 100_000 and len(file["sequences/piece"]) > 100_000
    assert time.monotonic() - begin < 30  # 10 s on an idle machine


def test_inspect_tells_of_both(warm_command, tmp_path):
    arguments = ["corpus", str(BYTES), "--data", str(KJV), "--split", "blank", "--length", "16", "--sequences", "4", "--device", "cpu"]
    assert warm_command(*arguments, "-o", str(tmp_path / "c.h5")).code == 0
    assert warm_command(*arguments, "--plan-only", "-o", str(tmp_path / "p.h5")).code == 0
    told = warm_command("inspect", str(tmp_path / "c.h5"), "--json").json
    assert told["format"] == "corpus" and told["sequences"] == "4" and told["keep"] == "all"
    assert "next-token loss" in warm_command("inspect", str(tmp_path / "c.h5")).text
    assert warm_command("inspect", str(tmp_path / "p.h5"), "--json").json["format"] == "plan of a corpus"
    assert "4 of 16 positions" in warm_command("inspect", str(tmp_path / "p.h5")).text
