"""`cmake --install`: the installed program runs where the clone and the build are not, and what a desktop reads is valid."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import h5py
import pytest

from conftest import ROOT
from test_completion import need

BUILD = pathlib.Path(os.environ.get("HEADROOM_BUILD", ROOT / "build" / "tests"))
PREFIX = pathlib.Path("opt") / "headroom"  # neither the default nor the one of packages


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The prefix below DESTDIR; moved after the installation, since nothing may know where it was."""
    before = tmp_path_factory.mktemp("destination")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", f"/{PREFIX}", "--strip"], env={**os.environ, "DESTDIR": str(before)},
                   check=True, capture_output=True, text=True)
    assert [p.name for p in before.iterdir()] == ["opt"]
    after = before.with_name("moved")
    (before / PREFIX).rename(after)
    yield after
    shutil.rmtree(after)


@pytest.fixture(scope="module")
def run_apart(installed, tmp_path_factory):
    """run_apart(argument, …): the installed program where the clone, the build and the home are empty folders."""
    folder = tmp_path_factory.mktemp("apart")
    hidden = {str(ROOT), str(BUILD.resolve()), str((ROOT / ".deps").resolve())}
    hide = " && ".join(f"mount -t tmpfs tmpfs '{place}'" for place in sorted(hidden, key=len, reverse=True))
    enter = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    if "shared:" not in pathlib.Path("/proc/self/mountinfo").read_text():
        enter += ["--propagation", "unchanged"]  # a changed root has no mount of its own whose propagation could be set
    if (tried := subprocess.run([*enter, "sh", "-c", hide], capture_output=True, text=True)).returncode:
        pytest.skip(f"folders cannot be hidden from a program here: {tried.stderr}")

    def call(*arguments):
        done = subprocess.run([*enter, "sh", "-c", f'{hide} && exec "$0" "$@"', installed / "bin" / "headroom", *map(str, arguments)],
                              cwd=folder, capture_output=True, text=True, timeout=120,
                              env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"})
        return done, folder

    return call


def test_every_file_is_where_others_look(installed):
    for path in ("bin/headroom", "share/man/man1/headroom.1", "share/bash-completion/completions/headroom",
                 "share/fish/vendor_completions.d/headroom.fish",
                 "share/applications/headroom.desktop", "share/mime/packages/headroom.xml",
                 "share/icons/hicolor/scalable/apps/headroom.svg", "share/metainfo/arpa.home.headroom.metainfo.xml",
                 "share/headroom/shaders/map.frag", "share/headroom/assets/prompts/gpl-3.txt", "share/doc/headroom/LICENSE"):
        assert (installed / path).stat().st_size > 0, path
    # A build that is configured for /usr follows Debian's folders.
    assert len([*(installed / "share" / "zsh").glob("*/_headroom")]) == 1
    for name in ("demo", "recipes", "corpora", "prompts"):
        copied = {p.relative_to(ROOT / "assets") for p in (ROOT / "assets" / name).rglob("*") if p.is_file()}
        found = {p.relative_to(installed / "share/headroom/assets")
                 for p in (installed / "share/headroom/assets" / name).rglob("*") if p.is_file()}
        assert found == copied


def test_libraries_look_for_each_other_only(installed):
    elves = [installed / "bin" / "headroom", *(installed / "lib").rglob("*.so*")]
    assert len(elves) > 2
    for elf in elves:
        dynamic = subprocess.run(["readelf", "-d", elf], capture_output=True, text=True, check=True).stdout
        for place in re.findall(r"(?:RPATH|RUNPATH).*\[(.*)\]", dynamic):
            assert re.fullmatch(r"\$ORIGIN/\.\./lib/(\w+-linux-gnu/)?headroom" if elf.name == "headroom" else r"\$ORIGIN", place), elf
        assert str(BUILD.resolve()).encode() not in elf.read_bytes(), elf


def test_it_runs_without_clone_and_build(run_apart, installed):
    done, folder = run_apart("--version")
    assert done.returncode == 0 and done.stdout.startswith("headroom "), done
    done, _ = run_apart("doctor", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0 and re.match(r"\d+\.\d+, ", report["libtorch"]), report
    assert "shaders" not in report["window"], report
    done, _ = run_apart("analyze", installed / "share/headroom/assets/demo/backcopy/diff_v2", "-o", "run.h5")
    assert done.returncode == 0 and "passed" in done.stdout, done
    with h5py.File(folder / "run.h5") as file:
        assert file.attrs["schema_name"] == "headroom-run" and file["sink_score"].size > 0
    # Recipes name texts beside them.
    done, _ = run_apart("train", installed / "share/headroom/assets/recipes/bytes.json", "--variant", "softmax", "--steps", "1", "-o",
                        "trained")
    assert done.returncode == 0, done


def test_desktop_entry(installed):
    need("desktop-file-validate")
    entry = installed / "share/applications/headroom.desktop"
    done = subprocess.run(["desktop-file-validate", entry], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stdout + done.stderr, done
    types = re.search(r"^MimeType=(.*)$", entry.read_text(), re.M)[1].split(";")
    declared = ElementTree.parse(installed / "share/mime/packages/headroom.xml").getroot()
    assert set(types) - {""} == {node.get("type") for node in declared.iter() if node.tag.endswith("mime-type")}


def test_software_centre_entry(installed):
    need("appstreamcli", "xmllint")
    entry = installed / "share/metainfo/arpa.home.headroom.metainfo.xml"
    for file in (entry, installed / "share/mime/packages/headroom.xml", installed / "share/icons/hicolor/scalable/apps/headroom.svg"):
        subprocess.run(["xmllint", "--noout", file], check=True)
    done = subprocess.run(["appstreamcli", "validate", "--no-net", "--no-color", entry], capture_output=True, text=True)
    # The project has no page on the web that it could name; only newer versions ask for one.
    complaints = [line for line in done.stdout.splitlines() if re.match(r"[EW]: ", line) and "url-homepage-missing" not in line]
    assert not complaints and "alidation" in done.stdout, done.stdout
    version = ElementTree.parse(entry).find("releases/release").get("version")
    assert f"VERSION {version} " in (ROOT / "CMakeLists.txt").read_text()


def test_desktops_know_runs_and_sessions(installed, run_apart, tmp_path):
    need("update-mime-database", "gio")
    packages = tmp_path / "data" / "mime" / "packages"
    packages.mkdir(parents=True)
    shutil.copy("/usr/share/mime/packages/freedesktop.org.xml", packages)
    shutil.copy(installed / "share/mime/packages/headroom.xml", packages)
    done = subprocess.run(["update-mime-database", packages.parent], capture_output=True, text=True)
    assert done.returncode == 0 and "rror" not in done.stderr, done
    ran, folder = run_apart("analyze", installed / "share/headroom/assets/demo/bytes/softmax", "--only", "summary", "-o", "small.h5")
    assert ran.returncode == 0, ran
    with h5py.File(folder / "other.h5", "w") as file:
        file["x"] = 1.0
    (folder / "view.headroom").write_text('{"headroom_session": 1}')
    wanted = {"small.h5": "application/x-headroom-run", "other.h5": "application/x-hdf", "view.headroom": "application/x-headroom-session"}
    for name, kind in wanted.items():
        told = subprocess.run(["gio", "info", "-a", "standard::content-type", folder / name], capture_output=True, text=True, check=True,
                              env={**os.environ, "XDG_DATA_DIRS": str(tmp_path / "data"), "XDG_DATA_HOME": str(tmp_path / "none")}).stdout
        assert told.rstrip().endswith(kind), (name, told)
