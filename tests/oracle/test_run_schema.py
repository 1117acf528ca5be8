"""A run file as its readers see it: xarray with both engines, netCDF4, h5py and h5dump, unmodified."""
import shutil
import subprocess

import h5py
import netCDF4
import numpy as np
import pytest
import xarray

import checkpoints

IDS = list(range(3, 20))


@pytest.fixture(scope="module", params=["softmax", "diff_v2"])
def run(request, tmp_path_factory, analyze):
    folder = tmp_path_factory.mktemp(request.param)
    checkpoints.headroom(folder / "model", checkpoints.headroom_config(request.param), 1)
    analyze(folder / "model", IDS, folder / "run.h5", "--maps", "4", "--hidden", "--exact-maps")
    return folder / "run.h5", request.param


def all_datasets(path):
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item}) if isinstance(item, h5py.Dataset) else None)
        yield from ((name, item) for name, item in found.items())


def test_every_dataset_says_what_it_is(run):
    names = 0
    for name, item in all_datasets(run[0]):
        for attribute in ("units", "long_name", "definition"):
            assert isinstance(item.attrs.get(attribute), str) and item.attrs[attribute].strip(), (name, attribute)
        if item.attrs.get("CLASS") != b"DIMENSION_SCALE":
            assert all(len(dimension) == 1 for dimension in item.dims), f"{name}: an axis without its scale"
        names += 1
    assert names > 90


@pytest.mark.parametrize("engine", ["h5netcdf", "netcdf4"])
def test_xarray_opens_every_group(run, engine):
    path, kind = run
    with h5py.File(path) as file:
        groups = [None] + [name for name, item in file.items() if isinstance(item, h5py.Group)]
        assert {"rows", "keys", "tokens", "weights", "program", "hist", "maps", "exact", "hidden"} <= set(groups)
        for group in groups:
            with xarray.open_dataset(path, engine=engine, group=group) as opened:
                stored = file[group] if group else file
                variables = {name for name, item in stored.items() if isinstance(item, h5py.Dataset)}
                assert variables == set(opened.variables), group
                for name, variable in opened.variables.items():
                    raw = stored[name][()]
                    if variable.dtype.kind == "f":  # −1 of an absent map is NaN here
                        absent = (raw == -1) if raw.dtype.kind == "i" else np.isnan(raw)
                        np.testing.assert_array_equal(np.isnan(variable.values), absent, err_msg=name)
    with xarray.open_dataset(path, engine=engine) as opened:
        assert opened["sink_score"].dims == ("layer", "head", "component")
        head = opened.sel(layer=1, head=0)
        assert np.isnan(head["kv_head"].sel(component=1).item()) == (kind == "softmax")
        assert list(opened["bound"].values) == ["softmax", "diff_v2", "variant"]


def test_netcdf_reads_every_variable(run):
    def visit(group):
        for variable in group.variables.values():
            variable[...]
        return len(group.variables) + sum(visit(child) for child in group.groups.values())

    with netCDF4.Dataset(run[0]) as file:
        assert visit(file) == sum(1 for _ in all_datasets(run[0]))


def test_h5dump_reads_everything(run):
    tool = shutil.which("h5dump")
    assert tool, "h5dump is missing: tests/run.sh installs hdf5-tools"
    dump = subprocess.run([tool, str(run[0])], capture_output=True, timeout=120)
    assert dump.returncode == 0 and b"error" not in dump.stderr.lower(), dump.stderr[-2000:]
    assert dump.stdout.count(b"   DATASET ") >= 90
