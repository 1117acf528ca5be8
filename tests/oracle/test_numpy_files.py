"""An .npz of q, k and v is a capture of one call, one of named weights a checkpoint; nothing in it is unpickled."""
import io
import json
import zipfile

import h5py
import numpy as np
import pytest

import families
from command import refused_both_ways
from test_gguf_families import datasets

RNG = np.random.default_rng(3)
Q, K, V = RNG.normal(size=(4, 21, 8)), RNG.normal(size=(2, 21, 8)), RNG.normal(size=(2, 21, 6))


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


def weights_of(q, k, scale, causal):
    logits = scale * q @ np.repeat(k, len(q) // len(k), 0).transpose(0, 2, 1)
    if causal:
        logits = np.where(np.tril(np.ones(logits.shape[1:], bool)), logits, -np.inf)
    e = np.exp(logits - logits.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def exact(command, path, out):
    done = command("analyze", path, "-o", out, "--dtype", "float64", "--exact-maps", "--device", "cpu", "--force")
    assert done.code == 0, done
    with h5py.File(out) as file:
        found = []
        file.visititems(lambda name, item: found.append(item[()]) if name.endswith("exact/weights") else None)
    assert len(found) == 1
    return found[0][0][:, 0], done


def test_queries_keys_and_values_are_a_call(command, tmp_path):
    np.savez(tmp_path / "call.npz", q=Q, k=K, v=V)
    found, _ = exact(command, tmp_path / "call.npz", tmp_path / "run.h5")
    np.testing.assert_allclose(found, weights_of(Q, K, 8**-0.5, False), rtol=1e-5, atol=1e-7)
    told = command("inspect", tmp_path / "call.npz")
    assert "says nothing of the call" in told.text and "NumPy (.npz)" in told.text and "capture" in told.text and "bidirectional" in told.text


@pytest.mark.parametrize("form", ["float32", "float16", "fortran", "keys"])
def test_its_keys_stand_beside_it(command, tmp_path, form):
    more = {"causal": True, "scale": 0.25, "name": "block.3.attn"}
    q, k, v = Q, K, V
    if form in ("float32", "float16"):
        q, k, v = (a.astype(form) for a in (Q, K, V))
    if form == "fortran":
        q, k, v = (np.asfortranarray(a) for a in (Q, K, V))
        assert not q.flags.c_contiguous
    if form == "keys":
        np.savez(tmp_path / "call.npz", **{"calls.0.q": q, "calls.0.k": k, "calls.0.v": v}, format="headroom-capture", version="1",
                 calls=json.dumps([more]))
    else:
        np.savez(tmp_path / "call.npz", q=q, k=k, v=v, token_ids=np.arange(21), **more)
    found, done = exact(command, tmp_path / "call.npz", tmp_path / "run.h5")
    np.testing.assert_allclose(found, weights_of(q.astype(float), k.astype(float), 0.25, True), rtol=1e-5, atol=1e-7)
    told = command("inspect", tmp_path / "call.npz").text
    assert "warning" not in done.errors and "says nothing" not in told and "block.3.attn" in told


def test_weights_by_their_names_are_a_model(analyze, tmp_path):
    case = families.case("llama")
    weights = families.write(tmp_path / "model", case, 3)
    np.savez(tmp_path / "weights.npz", **{name: tensor.float().numpy() for name, tensor in weights.items()})
    runs = []
    for path, more in ((tmp_path / "model", ()), (tmp_path / "weights.npz", ("--config", tmp_path / "model" / "config.json"))):
        analyze(path, [1, 5, 7, 9], tmp_path / f"{len(runs)}.h5", *map(str, more))
        runs.append(datasets(tmp_path / f"{len(runs)}.h5"))
    assert runs[0].keys() == runs[1].keys()
    for name, values in runs[0].items():
        assert np.array_equal(values, runs[1][name], equal_nan=values.dtype.kind == "f"), name


class Canary:
    def __reduce__(self):
        return open, ("canary", "w")


def test_objects_are_never_unpickled(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("call.npz", q=Q, k=K, v=V, settings=np.array([Canary()], dtype=object))
    told = command("inspect", "call.npz", "--tensors")
    assert told.code == 0 and "object" in told.text and not (tmp_path / "canary").exists()
    np.savez("call.npz", q=Q, k=K, v=np.array([[[Canary()]]], dtype=object))
    refused_both_ways(command, 4, ["calls.0.v", "object"], "analyze", "call.npz", "-o", "run.h5")
    assert not (tmp_path / "canary").exists()


def array_bytes(array, version=(1, 0), change=lambda data: data):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=version)
    return change(file.getvalue())


def archive(path, *, method=zipfile.ZIP_STORED, **entries):
    with zipfile.ZipFile(path, "w", method) as file:
        for name, data in entries.items():
            file.writestr(name + ".npy", data)
    return path


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_version_of_the_header(command, tmp_path, version):
    path = archive(tmp_path / "call.npz", **{name: array_bytes(a, version) for name, a in (("q", Q), ("k", K), ("v", V))})
    found, _ = exact(command, path, tmp_path / "run.h5")
    np.testing.assert_allclose(found, weights_of(Q, K, 8**-0.5, False), rtol=1e-5, atol=1e-7)


DAMAGED = {
    "no array": (b"nothing of this kind", 3, "no array"),
    "cut off": (array_bytes(Q)[:9], 3, "cut off"),
    "another version": (array_bytes(Q, change=lambda d: d[:6] + b"\x04\x00" + d[8:]), 3, "version"),
    "long header": (array_bytes(Q, change=lambda d: d[:8] + b"\xff\xff" + d[10:40]), 3, "longer"),
    "no literal": (array_bytes(Q, change=lambda d: d.replace(b"'shape': (4", b"'shape': 4(")), 3, "not read"),
    "negative": (array_bytes(Q, change=lambda d: d.replace(b"(4, 21, 8)", b"(-4,21, 8)")), 3, "not read"),
    "another shape": (array_bytes(Q, change=lambda d: d.replace(b"(4, 21, 8)", b"(4, 21, 9)")), 3, "not that of its shape"),
    "too many": (array_bytes(Q, change=lambda d: d.replace(b"(4, 21, 8), }" + b" " * 20, b"(4611686018427387904, 4, 8), }"[:33].ljust(33))), 3, "shape"),
    "big-endian": (array_bytes(Q.astype(">f8")), 4, ">f8"),
    "fields": (array_bytes(np.zeros((4, 21, 8), [("a", "<f4"), ("b", "<i4")])), 4, "fields"),
    "complex": (array_bytes(Q.astype(complex)), 4, "<c16"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_what_is_no_array_of_numbers_is_refused(command, tmp_path, name):
    data, code, words = DAMAGED[name]
    path = archive(tmp_path / "call.npz", q=data, k=array_bytes(K), v=array_bytes(V))
    refused_both_ways(command, code, [words, "q"], "analyze", path, "-o", tmp_path / "run.h5")


def test_compressed_archives_and_single_arrays(command, tmp_path):
    np.savez_compressed(tmp_path / "call.npz", q=np.zeros((4, 21, 8)), k=K, v=V)
    refused_both_ways(command, 4, ["numpy.savez"], "analyze", tmp_path / "call.npz", "-o", tmp_path / "run.h5")
    np.save(tmp_path / "q.npy", Q)
    refused_both_ways(command, 4, ["q=q, k=k, v=v"], "analyze", tmp_path / "q.npy", "-o", tmp_path / "run.h5")
