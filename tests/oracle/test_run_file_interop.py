"""Other programs read the run files of this one, and it refuses what other programs can hide in one. HEADROOM_IO_TESTS
names the C++ test program, whose hidden tests write the sample (tests/core/io/sample_file.h) and open what is given."""
import json
import os
import pathlib
import shutil
import subprocess

import h5netcdf
import h5py
import netCDF4
import numpy as np
import pytest
import xarray as xr

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAYERS, HEADS, POSITIONS = 3, 5, 2100
DIMENSIONS = {"sink_null": (), "kv_head": ("layer", "head"), "attention_kind": ("layer",), "inside": ("layer", "head", "bound"),
              "none": ("layer", "nothing"), "untouched": ("head", "quantile"), "rows/lse": ("layer", "head", "position"),
              "rows/is_special": ("position",), "hist/count": ("layer", "head")}
UNITS = {name: "nat" if name in ("inside", "none", "rows/lse") else "1" for name in DIMENSIONS}
GROUPS = ["", "rows", "hist", "program"]
UNCHANGED = {"mask_and_scale": False}  # −1 stays an integer


def expected():
    layer, head = np.arange(LAYERS)[:, None, None], np.arange(HEADS)[None, :, None]
    lse = (layer * 16384 + head * 2200 + np.arange(POSITIONS)) / 4.0 - 100.0
    lse[:, 1, 7] = np.nan
    special = np.zeros(POSITIONS, np.uint8)
    special[1:3] = 1
    return {"sink_null": np.float64(0.125), "kv_head": np.tile(np.array([0, 0, 1, 1, -1], np.int32), (LAYERS, 1)),
            "attention_kind": np.array(["", "softmax", "diff_v2 λ"], object),
            "inside": ((layer * 100 + head * 10 + np.arange(2)) / 8).astype(np.float32),
            "none": np.zeros((LAYERS, 0), np.float32), "untouched": np.full((HEADS, 2), np.nan),
            "rows/lse": lse.astype(np.float32), "rows/is_special": special,
            "hist/count": (layer * 2**32 + head)[:, :, 0].astype(np.int64)}


@pytest.fixture(scope="module")
def io_tests():
    path = pathlib.Path(os.environ.get("HEADROOM_IO_TESTS", ROOT / "build" / "main" / "tests" / "io_tests"))
    if not path.exists():
        pytest.fail(f"no test program at {path}: build io_tests or set HEADROOM_IO_TESTS")

    def call(tag, variable, file):
        return subprocess.run([path, tag], env=dict(os.environ, **{variable: str(file)}), capture_output=True, text=True, timeout=120)

    return call


@pytest.fixture(scope="module")
def sample(io_tests, tmp_path_factory):
    path = tmp_path_factory.mktemp("interop") / "sample.h5"
    result = io_tests("[.sample]", "HEADROOM_SAMPLE_OUT", path)
    assert result.returncode == 0, result.stdout + result.stderr
    return path


@pytest.fixture
def outcome(io_tests):
    """The line that RunFile::open and a full read give for a file."""
    def call(path):
        result = io_tests("[.open]", "HEADROOM_SAMPLE_IN", path)
        assert result.returncode == 0, result.stdout + result.stderr
        return [line for line in result.stdout.splitlines() if line.startswith("OUTCOME ")][0].removeprefix("OUTCOME ")

    return call


def in_group(group):
    return [name for name in DIMENSIONS if ("/" in name and name.split("/")[0] == group) or ("/" not in name and not group)]


def check_variable(name, variable, values):
    assert tuple(variable.dims) == DIMENSIONS[name], name
    assert variable.attrs["units"] == UNITS[name]
    assert variable.attrs["long_name"] == "long name of " + name.split("/")[-1]
    assert variable.attrs["definition"] == "definition of " + name.split("/")[-1]
    assert variable.attrs["source"] == "metrics"
    np.testing.assert_array_equal(np.asarray(variable.values).astype(values.dtype), values, err_msg=name)
    if values.dtype != object:
        assert variable.dtype == values.dtype, name


@pytest.mark.parametrize("engine", ["h5netcdf", "netcdf4"])
@pytest.mark.parametrize("group", GROUPS)
def test_xarray_opens_every_group_without_arguments(sample, engine, group):
    with xr.open_dataset(sample, engine=engine, group=group or None, **UNCHANGED) as data:
        assert sorted(data.data_vars) == sorted(name.split("/")[-1] for name in in_group(group))
        for name in in_group(group):
            check_variable(name, data[name.split("/")[-1]], expected()[name])
    with xr.open_dataset(sample, engine=engine, group=group or None) as data:
        data.load()


@pytest.mark.parametrize("engine", ["h5netcdf", "netcdf4"])
def test_xarray_shows_coordinates_attributes_and_missing_values(sample, engine):
    with xr.open_dataset(sample, engine=engine) as data:
        assert list(data["layer"].values) == [0, 2, 5]
        assert list(data["quantile"].values) == [0.25, 0.5]
        assert list(data["bound"].values) == ["softmax", "dïff"]
        assert "head" not in data.coords and data.sizes["head"] == HEADS and data.sizes["nothing"] == 0
        assert data["inside"].sel(layer=5, bound="dïff")[2] == np.float32(221 / 8)
        assert data.attrs["title"] == "Sample ✓ of every kind" and data.attrs["seed"] == -7 and data.attrs["epsilon"] == 1e-5
        assert data.attrs["schema_name"] == "headroom-run" and data.attrs["schema_version"] == "1.0"
        assert len(data.attrs["long_text"]) == 100_000 and data.attrs["empty"] == ""
        assert np.isnan(data["kv_head"].values[:, 4]).all() and data["kv_head"].values[0, 2] == 1
    with xr.open_datatree(sample, engine=engine) as tree:
        assert set(tree.groups) == {"/", "/rows", "/hist", "/program"}
        assert list(tree["rows"]["layer"].values) == [0, 2, 5]  # the root's coordinate reaches into the group
    with xr.open_dataset(sample, engine=engine, group="hist") as data:
        assert data["count"].dtype == np.int64


def test_h5py_sees_scales_order_filters_and_no_time_stamps(sample):
    with h5py.File(sample, "r") as file:
        for name, dims in DIMENSIONS.items():
            dataset = file[name]
            assert [scale[0].name.split("/")[-1] for scale in dataset.dims] == list(dims), name
        scales = [file[name] for name in ("layer", "head", "quantile", "bound", "rows/position", "nothing")]
        assert [int(scale.attrs["_Netcdf4Dimid"]) for scale in scales] == list(range(6))
        assert scales[1].attrs["NAME"] == b"This is a netCDF dimension but not a netCDF variable.%10d" % HEADS
        assert file["rows/lse"].chunks == (1, HEADS, POSITIONS) and file["rows/lse"].compression_opts == 4
        assert file["rows/lse"].shuffle and file["rows/lse"].fletcher32 and file["kv_head"].chunks is None
        assert np.isnan(file["rows/lse"].attrs["_FillValue"]) and file["rows/lse"].attrs["_FillValue"].dtype == np.float32
        assert file["kv_head"].attrs["_FillValue"].dtype == np.int32 and "_FillValue" not in file["hist/count"].attrs
        assert list(file["rows/is_special"].attrs["flag_values"]) == [0, 1]
        ordered = h5py.h5p.CRT_ORDER_TRACKED | h5py.h5p.CRT_ORDER_INDEXED
        for item in [file["/"], file["rows"], file["hist"]]:
            properties = item.id.get_create_plist()
            assert properties.get_link_creation_order() == ordered and properties.get_attr_creation_order() == ordered
        for name in DIMENSIONS:
            properties = file[name].id.get_create_plist()
            assert properties.get_attr_creation_order() == ordered and not properties.get_obj_track_times()
        types = {file[name].dtype.kind for name in DIMENSIONS}
        assert types <= set("fiuO")


def test_h5netcdf_needs_no_phony_dimensions(sample):
    with h5netcdf.File(sample, "r") as file:
        for name, dims in DIMENSIONS.items():
            assert file[name].dimensions == dims


def test_netcdf4_appends(sample, tmp_path):
    copy = tmp_path / "copy.h5"
    shutil.copy(sample, copy)
    with netCDF4.Dataset(copy, "r+") as data:
        data.setncattr("note", "added")
        data["rows"]["lse"].setncattr("note", "added too")
        data.createVariable("later", "f4", ("layer",))[:] = [1, 2, 3]
    with netCDF4.Dataset(copy) as data:
        assert data.note == "added" and data["rows/lse"].note == "added too" and list(data["later"][:]) == [1, 2, 3]
        assert list(data.variables)[:3] == ["layer", "quantile", "bound"]
    with xr.open_dataset(copy, engine="h5netcdf", group="rows", **UNCHANGED) as data:
        np.testing.assert_array_equal(data["lse"].values, expected()["rows/lse"])


def test_command_line_tools(sample):
    dump = subprocess.run(["h5dump", "-pH", sample], capture_output=True, text=True)
    assert dump.returncode == 0 and dump.stderr == "" and 'DATASET "lse"' in dump.stdout and "FLETCHER32" in dump.stdout
    if shutil.which("ncdump"):
        dump = subprocess.run(["ncdump", "-h", sample], capture_output=True, text=True)
        assert dump.returncode == 0 and "float lse(layer, head, position)" in dump.stdout, dump.stderr


def run_file(path):
    file = h5py.File(path, "w")
    file.attrs["schema_name"], file.attrs["schema_version"] = "headroom-run", "1.0"
    return file


def test_what_python_wrote_opens(tmp_path, outcome):
    with run_file(tmp_path / "a.h5") as file:
        for kind in "i1 u2 i4 u4 i8 u8 f2 f4 f8".split():
            file[kind] = np.arange(4, dtype=kind)
        file["text"] = "plain"
        file["fixed"] = np.array([b"ab", b"c"])
    assert outcome(tmp_path / "a.h5") == "ok"


def test_schema(tmp_path, outcome):
    with h5py.File(tmp_path / "none.h5", "w") as file:
        file["a"] = 1
    assert outcome(tmp_path / "none.h5").startswith("corrupt: an HDF5 file, but not a run file")
    with run_file(tmp_path / "later.h5") as file:
        file.attrs["schema_version"] = "2.0"
    assert outcome(tmp_path / "later.h5").startswith("unsupported: a run file of another schema version")
    with run_file(tmp_path / "minor.h5") as file:
        file.attrs["schema_version"] = "1.7"
    assert outcome(tmp_path / "minor.h5") == "ok"


def test_nothing_outside_of_the_file_is_touched(tmp_path, outcome):
    secret = tmp_path / "secret"
    secret.write_bytes(b"0123456789abcdef")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = np.arange(4.0)
    with run_file(tmp_path / "link.h5") as file:
        file["rows/x"] = h5py.ExternalLink("other.h5", "/x")
    text = outcome(tmp_path / "link.h5")
    assert text.startswith("corrupt: refused: a link into another file: other.h5 [rows/x]"), text
    with run_file(tmp_path / "storage.h5") as file:
        file.create_dataset("x", (2,), "f8", external=[(str(secret), 0, 16)])
    text = outcome(tmp_path / "storage.h5")
    assert text.startswith(f"corrupt: refused: data stored in another file: {secret} [x]"), text
    layout = h5py.VirtualLayout((4,), "f8")
    layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "x", (4,))
    with run_file(tmp_path / "virtual.h5") as file:
        file.create_virtual_dataset("x", layout)
    assert outcome(tmp_path / "virtual.h5").startswith("corrupt: refused: a virtual dataset over other files [x]")
    with run_file(tmp_path / "soft.h5") as file:
        file["x"] = h5py.SoftLink("/nowhere")
    assert outcome(tmp_path / "soft.h5").startswith("corrupt: refused: a symbolic link")
    with run_file(tmp_path / "circle.h5") as file:
        file.create_group("a")["b"] = file["/"]
    assert outcome(tmp_path / "circle.h5").startswith("corrupt: refused: groups nested too deep, or in a circle")


def test_what_this_program_does_not_read(tmp_path, outcome):
    with run_file(tmp_path / "compound.h5") as file:
        file["x"] = np.zeros(2, dtype=[("a", "f4"), ("b", "i4")])
    assert outcome(tmp_path / "compound.h5").startswith("unsupported: a dataset's element type is neither")
    with run_file(tmp_path / "null.h5") as file:
        file["x"] = h5py.Empty("f4")
    assert outcome(tmp_path / "null.h5").startswith("corrupt: refused: a dataset without a plain shape")
    with run_file(tmp_path / "huge.h5") as file:
        file.create_dataset("x", (2**40, 2**18), "f8", chunks=(1, 1024))
    assert outcome(tmp_path / "huge.h5").startswith("out_of_memory: a dataset is larger than half of this machine's memory [x]")
    with run_file(tmp_path / "filter.h5") as file:
        file.create_dataset("x", (4,), "f4", data=np.arange(4), chunks=(4,), compression="lzf")  # h5py brings this one
    assert outcome(tmp_path / "filter.h5").startswith("unsupported: HDF5 filter id 32000 is needed")


@pytest.mark.parametrize("form", ["numbers", "a text", "lists of numbers", "short", "nothing", "a group", "empty"])
def test_a_list_of_axes_that_is_none_names_none(program, sample, tmp_path, outcome, form):
    """HDF5 takes what is called DIMENSION_LIST for a list of references, whatever it is."""
    copy = tmp_path / "copy.h5"
    shutil.copy(sample, copy)
    with h5py.File(copy, "r+") as file:
        dataset = file["rows/lse"]
        axes = [entry[0] for entry in dataset.attrs["DIMENSION_LIST"]]
        assert len(axes) == 3
        del dataset.attrs["DIMENSION_LIST"]
        if form in ("numbers", "a text"):
            dataset.attrs["DIMENSION_LIST"] = np.arange(3) if form == "numbers" else "layer"
        else:
            entries = {"lists of numbers": [1, 2], "nothing": [h5py.Reference()], "a group": [file.ref], "empty": []}
            lists = np.empty(2 if form == "short" else 3, dtype=object)
            for i in range(len(lists)):
                lists[i] = np.array(entries.get(form, [axes[i]]), dtype="i8" if form == "lists of numbers" else h5py.ref_dtype)
            dataset.attrs.create("DIMENSION_LIST", lists, dtype=h5py.vlen_dtype(lists[0].dtype))
    assert outcome(copy) == "ok"
    told = subprocess.run([program, "inspect", copy, "--json"], capture_output=True, text=True, timeout=60)
    assert (told.returncode, told.stderr) == (0, "")
    found = {entry["path"]: entry["axes"] for entry in json.loads(told.stdout)["datasets"]}
    assert found["rows/lse"] == [""] * 3 and "layer" in sum(found.values(), [])


def test_a_file_open_for_writing_elsewhere_is_said(sample, tmp_path, outcome, monkeypatch):
    copy = tmp_path / "copy.h5"
    shutil.copy(sample, copy)
    monkeypatch.delenv("HDF5_USE_FILE_LOCKING", raising=False)
    with h5py.File(copy, "r+", locking=True):
        assert outcome(copy).startswith("io: cannot open the run file: Resource temporarily unavailable")
        monkeypatch.setenv("HDF5_USE_FILE_LOCKING", "FALSE")
        assert outcome(copy) == "ok"


def compare(program, *arguments):
    return subprocess.run([program, "compare", *map(str, arguments)], capture_output=True, text=True, timeout=60)


def test_compare_command(program, sample, tmp_path):
    changed = tmp_path / "changed.h5"
    shutil.copy(sample, changed)
    with h5py.File(changed, "r+") as file:
        file["rows/lse"][1, 3, 5] += np.float32(0.25)
    same = compare(program, sample, sample)
    assert (same.returncode, same.stderr) == (0, "") and "9 identical" in same.stdout
    other = compare(program, sample, changed)
    assert other.returncode == 1 and "layer 1, head 3, position 5" in other.stdout
    assert compare(program, sample, changed, "--atol", "0.25").returncode == 0
    assert compare(program, sample, changed, "--rtol", "1e-9").returncode == 1
    result = json.loads(compare(program, sample, changed, "--json").stdout)
    assert result["equal"] is False and result["a"] == str(sample)
    lse = next(quantity for quantity in result["quantities"] if quantity["name"] == "rows/lse")
    assert lse["max_absolute"] == 0.25 and lse["differing"] == 1
    assert lse["max_absolute_at"]["at"] == {"layer": 1, "head": 3, "position": 5}


def test_compare_command_says_what_is_wrong(program, sample, tmp_path):
    text = tmp_path / "text.h5"
    text.write_text("no HDF5")
    damaged = compare(program, sample, text)
    assert damaged.returncode == 3 and damaged.stdout == "" and damaged.stderr.startswith("headroom: cannot open the run file")
    missing = compare(program, tmp_path / "absent\x1b[31m.h5", sample, "--json")
    assert missing.returncode == 5 and "\x1b" not in missing.stderr
    error = json.loads(missing.stdout)["error"]
    assert error["code"] == "not_found" and set(error) == {"code", "message", "file", "tensor", "offset", "expected", "found", "hint"}
    assert compare(program, sample, sample, "--rtol", "-1").returncode == 2
