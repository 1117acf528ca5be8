"""What torch.save writes is read as safetensors is: the same model in every form that torch has had, with views, wrappers and what a
training keeps beside it, gives the same run file. Nothing that a pickle names is ever called (tests/FAULTS.md, PyTorch files)."""
import argparse
import collections
import json
import os
import pickle
import re
import zipfile

import h5py
import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import checkpoints as C
from command import refused_both_ways, snapshot

IDS = [1, 7, 7, 3, 20, 5, 44, 2, 9, 13]
CANARY = "canary"


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


@pytest.fixture(scope="module")
def good(analyze, tmp_path_factory):
    """A DIFF V2 model in safetensors: its config, its tensors and what a run of it measures."""
    folder = tmp_path_factory.mktemp("good")
    C.headroom(folder / "model", C.headroom_config("diff_v2"), 3)
    analyze(folder / "model", IDS, folder / "run.h5")
    return (folder / "model" / "config.json").read_text(), load_file(folder / "model" / "model.safetensors"), numbers(folder / "run.h5")


def numbers(path):
    """Every dataset of numbers by its path."""
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) and item.dtype.kind in "iuf" else None)
    assert len(found) > 30, found.keys()
    return found


def turned(tensors):
    """Each matrix as the transpose of what is stored, all else inside one large storage."""
    flat = torch.randn(sum(t.numel() for t in tensors.values() if t.dim() != 2) + 5)
    out, begin = {}, 3
    for name, tensor in tensors.items():
        if tensor.dim() == 2:
            out[name] = tensor.t().contiguous().t()
        else:
            out[name] = flat[begin:begin + tensor.numel()].view(tensor.shape)
            out[name].copy_(tensor)
            begin += tensor.numel()
    return out


def every_other(tensors):
    """Each tensor is every other column of a wider one."""
    out = {}
    for name, tensor in tensors.items():
        wide = torch.randn(*tensor.shape[:-1], tensor.shape[-1] * 2)
        wide[..., ::2] = tensor
        out[name] = wide[..., ::2]
    return out


class Settings:
    def __init__(self):
        self.width = 3


def training(tensors):
    parameters = [torch.nn.Parameter(t.clone()) for t in tensors.values()]
    optimizer = torch.optim.AdamW(parameters)
    sum(p.sum() for p in parameters).backward()
    optimizer.step()
    return {"model": {f"module._orig_mod.{name}": t for name, t in tensors.items()}, "optimizer": optimizer.state_dict(), "epoch": 3,
            "args": argparse.Namespace(lr=1e-3), "settings": Settings(), "rng": torch.get_rng_state(), "array": np.arange(3)}


OLD = {"_use_new_zipfile_serialization": False}
FORMS = {
    "plain": (dict, {}), "ordered": (collections.OrderedDict, {}), "before 1.6": (dict, OLD),
    **{f"protocol {p}": (dict, {"pickle_protocol": p}) for p in (2, 3, 4, 5)},
    "parameters": (lambda t: {name: torch.nn.Parameter(tensor) for name, tensor in t.items()}, {}),
    "turned": (turned, {}), "turned, before 1.6": (turned, OLD), "every other": (every_other, {}),
    "training": (training, {}), "training, before 1.6": (training, OLD),
    "lightning": (lambda t: {"state_dict": t, "callbacks": {}, "loops": None, "pytorch-lightning_version": "2.4"}, {}),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_run(good, analyze, tmp_path, form):
    config, tensors, wanted = good
    make, options = FORMS[form]
    (tmp_path / "config.json").write_text(config)
    torch.save(make(tensors), tmp_path / "weights.pt", **options)
    for model in (tmp_path, tmp_path / "weights.pt"):
        analyze(model, IDS, tmp_path / "run.h5", "--force")
        found = numbers(tmp_path / "run.h5")
        assert found.keys() == wanted.keys()
        for name, values in wanted.items():
            np.testing.assert_array_equal(found[name], values, err_msg=f"{form}: {name}")


def test_shards_with_an_index(good, analyze, tmp_path):
    config, tensors, wanted = good
    (tmp_path / "config.json").write_text(config)
    names = sorted(tensors)
    weight_map = {}
    for part in range(3):
        file = f"pytorch_model-{part + 1:05d}-of-00003.bin"
        torch.save({name: tensors[name] for name in names[part::3]}, tmp_path / file)
        weight_map.update({name: file for name in names[part::3]})
    total = sum(t.numel() * t.element_size() for t in tensors.values())
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps({"metadata": {"total_size": total}, "weight_map": weight_map}))
    analyze(tmp_path, IDS, tmp_path / "run.h5")
    found = numbers(tmp_path / "run.h5")
    for name, values in wanted.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8,
          torch.bool, torch.uint16, torch.uint32, torch.uint64, torch.float8_e4m3fn, torch.float8_e5m2, torch.complex64]


def tensors_of(command, path):
    """What `inspect` lists: name → dtype and shape."""
    report = command("inspect", path)
    assert report.code == 0, report
    lines = re.findall(r"^  (\S+) +(\S+) +(\[.*\])$", report.out.decode(), re.M)
    return {name: (dtype, shape) for name, dtype, shape in lines}


def test_inspect_lists_every_dtype_and_shape(command, tmp_path):
    tensors = {str(d)[6:]: torch.zeros(2, 3, dtype=d) for d in DTYPES} | {"scalar": torch.tensor(1.0), "empty": torch.zeros(0, 4)}
    torch.save(tensors | {"meta": torch.empty(3, device="meta"), "sparse": torch.eye(2).to_sparse(), "step": 7}, tmp_path / "all.pt")
    listed = tensors_of(command, tmp_path / "all.pt")
    assert listed.keys() == tensors.keys() | {"meta", "sparse"}
    for name, tensor in tensors.items():
        assert listed[name][1] == str(list(tensor.shape)), (name, listed[name])
    assert {name: listed[name][0] for name in ("bfloat16", "int8", "float8_e4m3fn", "complex64")} == {
        "bfloat16": "BF16", "int8": "I8", "float8_e4m3fn": "F8_E4M3", "complex64": "C64"}


class Call:
    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("call", [(os.system, f"touch {CANARY}"), (eval, "1"), (exec, "pass"), (getattr, 1, "x"), (os.remove, CANARY), (open, CANARY, "w")],
                         ids=lambda call: call[0].__name__)
@pytest.mark.parametrize("options", [{}, OLD], ids=["zip", "before 1.6"])
def test_052_nothing_is_called(good, command, tmp_path, monkeypatch, call, options):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.json").write_text(good[0])
    torch.save({"w": torch.zeros(3), "x": Call(*call)}, tmp_path / "evil.pt", **options)
    before = snapshot(tmp_path)
    name = f"{call[0].__module__}.{call[0].__name__}".replace("builtins", "__builtin__").replace("_io", "io")
    for arguments in (("inspect", "evil.pt"), ("analyze", "evil.pt", "--ids", "1,2", "-o", "run.h5")):
        refused_both_ways(command, 3, [name, "nothing of it was run"], *arguments)
    assert snapshot(tmp_path) == before


def test_051_and_060_and_067_archives(good, command, tmp_path):
    config, tensors, _ = good
    path = tmp_path / "model.pt"
    torch.save(tensors, path)
    data = path.read_bytes()

    def refuse(code, words, content):
        path.write_bytes(content)
        refused_both_ways(command, code, [words], "inspect", path)

    refuse(3, "cut off", data[:len(data) // 2])
    at = data.index(b"_rebuild_tensor_v2")
    refuse(3, "checksum", data[:at] + b"X" + data[at + 1:])
    for compression, code, words in ((zipfile.ZIP_DEFLATED, 4, "compressed"), (zipfile.ZIP_BZIP2, 4, "compressed")):
        with zipfile.ZipFile(tmp_path / "packed.pt", "w", compression) as archive:
            archive.writestr("model/data.pkl", pickle.dumps({"a": list(range(1000))}, protocol=2))
        refuse(code, words, (tmp_path / "packed.pt").read_bytes())
    with zipfile.ZipFile(tmp_path / "bomb.pt", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model/data.pkl", b"\0" * 50_000_000)
    refuse(6, "thousandfold", (tmp_path / "bomb.pt").read_bytes())
    torch.jit.script(torch.nn.Linear(3, 4)).save(tmp_path / "script.pt")
    refuse(4, "TorchScript", (tmp_path / "script.pt").read_bytes())
    refuse(4, "pickle", pickle.dumps({"a": 1}))
    # Written anew by another program, without alignment and ZIP64: the same model.
    path.write_bytes(data)
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(tmp_path / "again.pt", "w") as again:
        for name in archive.namelist():
            again.writestr(name, archive.read(name))
    listed = [tensors_of(command, tmp_path / name) for name in ("model.pt", "again.pt")]
    assert listed[0] == listed[1] and len(listed[0]) == len(tensors)
