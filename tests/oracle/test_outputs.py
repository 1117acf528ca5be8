"""Where a run may be written (tests/FAULTS.md#writing). Refused targets and failing runs change nothing, and inputs are never written."""
import os
import resource
import shutil
import socket
import stat

import h5py
import pytest

import checkpoints as C
from command import datasets, refused, refused_both_ways, snapshot


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "model"
    C.headroom(folder, C.headroom_config("softmax"), 5)
    return folder


def analyze(command, model, out, *arguments, **options):
    return command("analyze", model, "--ids", "1,2,3,4", "-o", out, *arguments, **options)


# --- targets that are refused before computing

@pytest.mark.parametrize("device", ["/dev/full", "/dev/null"])
@pytest.mark.parametrize("force", [[], ["--force"]], ids=["plain", "force"])
def test_085_devices_are_refused_and_stay_devices(command, model, device, force):
    refused_both_ways(command, 5, [device, "regular file", "character device"], "analyze", model, "--ids", "1", "-o", device, *force)
    assert stat.S_ISCHR(os.stat(device).st_mode)


def test_085_what_is_no_regular_file_is_not_replaced(command, model, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to("nowhere")
    here = os.open(".", os.O_RDONLY)
    os.chdir(tmp_path)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        os.fchdir(here)
        os.close(here)
        before = snapshot(tmp_path)
        for name, found in (("fifo", "FIFO"), ("folder", "folder"), ("socket", "socket"), ("dangling", "link")):
            for force in ([], ["--force"]):
                refused_both_ways(command, 5, [name, found], "analyze", model, "--ids", "1", "-o", tmp_path / name, *force)
        assert snapshot(tmp_path) == before


@pytest.mark.parametrize("name", ["missing/run.h5", "folder/", "file/run.h5", "n" * 256], ids=["no_folder", "slash", "below_a_file", "long"])
def test_085_names_that_cannot_be(command, model, tmp_path, name):
    (tmp_path / "file").write_text("text")
    before = snapshot(tmp_path)
    refused_both_ways(command, 5, [name.rstrip("/")], "analyze", model, "--ids", "1", "-o", f"{tmp_path}/{name}")
    assert snapshot(tmp_path) == before


@pytest.fixture
def public(public_folder, model):
    """A folder and a model that any user can reach."""
    shutil.copytree(model, public_folder / "model")
    for path in (public_folder / "model").iterdir():
        path.chmod(0o644)
    return public_folder


def test_085_a_folder_without_permission_is_said_before_computing(command, public):
    closed = public / "closed"
    closed.mkdir(mode=0o555)
    before = snapshot(public)
    refused_both_ways(command, 5, [str(closed), "writable"], "analyze", public / "model", "--ids", "1", "-o", closed / "run.h5",
                      nobody=True)
    assert snapshot(public) == before


def test_085_a_read_only_file_is_not_replaced_with_force(command, public):
    folder = public / "open"
    folder.mkdir()
    folder.chmod(0o777)
    (folder / "run.h5").write_text("precious")
    (folder / "run.h5").chmod(0o444)
    before = snapshot(public)
    refused_both_ways(command, 5, ["run.h5", "may not be replaced"], "analyze", public / "model", "--ids", "1", "-o",
                      folder / "run.h5", "--force", nobody=True)
    assert snapshot(public) == before


# --- inputs are never written

INPUTS = ["model.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors.index.json",
          "model-00002-of-00003.safetensors", "prompt.txt", "given.json"]


@pytest.mark.parametrize("way", ["itself", "relative", "hard_link", "symbolic_link", "link_to_link"])
@pytest.mark.parametrize("name", INPUTS)
def test_086_no_input_is_written_however_it_is_reached(command, tmp_path, name, way):
    folder = tmp_path / "model"
    C.headroom(folder, C.headroom_config("softmax"), 5, shards=1 if name == "model.safetensors" else 3)
    for extra in ("tokenizer.json", "tokenizer_config.json"):
        (folder / extra).write_text("{}")
    (tmp_path / "prompt.txt").write_text("1 2 3")
    shutil.copy(folder / "config.json", tmp_path / "given.json")
    place = tmp_path / name if name in ("prompt.txt", "given.json") else folder / name
    target = tmp_path / "target.h5"
    if way == "itself":
        target = place
    elif way == "relative":
        target = os.path.join("model", "..", "model" if place.parent == folder else ".", name)
    elif way == "hard_link":
        os.link(place, target)
    else:
        target.symlink_to(place)
        if way == "link_to_link":
            (tmp_path / "second.h5").symlink_to(target)
            target = tmp_path / "second.h5"
    before = snapshot(tmp_path)
    outcome = command("analyze", "model", "--ids-file", "prompt.txt", "--config", "given.json", "-o", target, "--force", cwd=tmp_path)
    refused(outcome, 2, "input", os.path.basename(target), "-o")
    assert snapshot(tmp_path) == before


def test_a_run_beside_its_checkpoint_writes_nothing_else(command, model, tmp_path):
    shutil.copytree(model, tmp_path / "model")
    before = snapshot(tmp_path)
    assert analyze(command, tmp_path / "model", tmp_path / "model" / "run.h5").code == 0
    assert analyze(command, tmp_path / "model", tmp_path / "model" / "run.h5", "--force").code == 0
    after = snapshot(tmp_path)
    assert after.pop(str(tmp_path / "model" / "run.h5")) and after == before


# --- a target that exists

def test_087_an_existing_file_needs_force(command, model, tmp_path):
    out = tmp_path / "run.h5"
    out.write_text("precious")
    before = snapshot(tmp_path)
    refused_both_ways(command, 2, ["exists", str(out), "--force"], "analyze", model, "--ids", "1", "-o", out)
    assert snapshot(tmp_path) == before
    assert analyze(command, model, out, "--force").code == 0
    assert datasets(out) and [p.name for p in tmp_path.iterdir()] == ["run.h5"]


def test_087_force_through_a_link_replaces_the_file_and_keeps_the_link(command, model, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "old.h5").write_text("old")
    (tmp_path / "link.h5").symlink_to("real/old.h5")
    refused(analyze(command, model, tmp_path / "link.h5"), 2, "exists")
    assert analyze(command, model, tmp_path / "link.h5", "--force").code == 0
    assert os.readlink(tmp_path / "link.h5") == "real/old.h5" and datasets(tmp_path / "real" / "old.h5")
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["link.h5", "old.h5", "real"]


FAILING = {
    "id_out_of_range": (2, ["--ids", "1,99"], {}),
    "layers": (2, ["--ids", "1", "--layers", "7"], {}),
    "what_if": (2, ["--ids", "1", "--what-if", "L0:gate=off"], {}),
    "hidden_key_beyond_the_prompt": (2, ["--ids", "1,2", "--what-if", "hide-key=5"], {}),
    "text_without_tokenizer": (5, ["--text", "hello"], {}),
    "device": (7, ["--ids", "1,2", "--device", "cuda:0"], {"env": {"CUDA_VISIBLE_DEVICES": ""}}),
    "budget": (6, ["--ids", "1,2", "--exact-maps", "--exact-budget", "0.00000001"], {}),
    "file_size": (5, ["--ids", "1,2", "--hidden"], {"limits": {resource.RLIMIT_FSIZE: 100000}}),
    "file_size_zero": (5, ["--ids", "1,2"], {"limits": {resource.RLIMIT_FSIZE: 0}}),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_failing_run_keeps_the_old_file_and_leaves_no_temporary_one(command, model, tmp_path, name):
    code, arguments, options = FAILING[name]
    out = tmp_path / "run.h5"
    assert analyze(command, model, out).code == 0
    before = snapshot(tmp_path)
    refused(command("analyze", model, "-o", out, "--force", *arguments, **options), code)
    assert snapshot(tmp_path) == before
    out.unlink()
    refused(command("analyze", model, "-o", out, *arguments, **options), code)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("size", [0, 1000, 30000, 100000, 150000])
def test_090_a_file_size_limit_says_what_is_needed_and_what_there_is(command, model, tmp_path, size):
    """SIGXFSZ would end the process; every stage of the file is reached by one of the sizes."""
    out = tmp_path / "run.h5"
    assert analyze(command, model, out).code == 0
    assert out.stat().st_size > 150000
    out.unlink()
    refused_both_ways(command, 5, ["run.h5", "File too large", "needs", f"has {size}", "hint: "], "analyze", model, "--ids", "1,2,3,4", "-o",
                      out, limits={resource.RLIMIT_FSIZE: size})
    assert not list(tmp_path.iterdir())


def test_095_no_home_no_temporary_folder(command, model, tmp_path):
    outcome = analyze(command, model, "run.h5", cwd=tmp_path, env={"HOME": "/nonexistent", "TMPDIR": "/nonexistent"})
    assert outcome.code == 0, outcome
    with h5py.File(tmp_path / "run.h5") as file:
        assert file.attrs["schema_name"] == "headroom-run"
