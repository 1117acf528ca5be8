"""`headroom corpus --slurm`: its scripts as bash reads them, under names that need quotes, with a stub of sbatch; and under a real Slurm of
one node, with a task that is killed and run again."""
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import h5py
import pytest

import slurm
from command import datasets, refused
from conftest import ROOT

BYTES = ROOT / "assets" / "demo" / "bytes" / "diff_v2"
KJV = ROOT / "assets" / "corpora" / "kjv.txt"
CUT = ["--data", KJV, "--split", "blank", "--length", "40", "--bos", "always", "--sequences", "24"]
AWKWARD = "a b'c \"d\" $HOME `e` #f %A [g]!é"
SCRIPTS = ("shard.sbatch", "merge.sbatch", "submit.sh")

# Runs at once what Slurm would run later, notes its own words, and answers as the sbatch of a named cluster does.
STUB = r"""#!/bin/bash
cd /
printf '%s\n' "$@" --- >>"$STUB_LOG"
array=$(sed -n 's/^#SBATCH.*--array=\([0-9-]*\).*/\1/p' "${!#}" | tail -n 1)
for word in "$@"; do case $word in --array=*) array=${word#--array=} ;; esac; done
if [ -n "$array" ]; then
  for task in $(seq "${array%-*}" "${array#*-}"); do SLURM_ARRAY_TASK_ID=$task bash "${!#}" >/dev/null || true; done
else
  bash "${!#}" >/dev/null || true
fi
echo "$((41 + $(grep -c -- --- "$STUB_LOG")));somewhere"
"""


def contents(path):
    return {name: value for name, value in datasets(path).items() if not name.startswith("shards/")}


@pytest.fixture(scope="module")
def plan(warm_command, tmp_path_factory):
    out = tmp_path_factory.mktemp("plan") / "plan.h5"
    outcome = warm_command("corpus", str(BYTES), *map(str, CUT), "--plan-only", "-o", str(out))
    assert outcome.code == 0, outcome
    return out


@pytest.fixture
def stub(tmp_path):
    """The environment in which sbatch is the stub, and what it was called with."""
    folder = tmp_path / "stub"
    folder.mkdir()
    (folder / "sbatch").write_text(STUB)
    (folder / "sbatch").chmod(0o755)
    log = folder / "log"
    log.touch()
    return {"PATH": f"{folder}:{os.environ['PATH']}", "STUB_LOG": str(log)}, log


def directives(script):
    return [line.removeprefix("#SBATCH ") for line in script.read_text().splitlines() if line.startswith("#SBATCH ")]


def test_names_with_blanks_and_quotes_reach_the_program(command, warm_command, plan, stub, tmp_path):
    env, log = stub
    home = tmp_path / AWKWARD
    home.mkdir()
    (home / "model").symlink_to(BYTES)
    (home / "plan.h5").write_bytes(plan.read_bytes())
    choice = ["--what-if", "L1.H1:lambda=0.25", "--dtype", "float64", "--keep", "sink_score,logit_max", "--epsilon", "0.25,0.5", "--no-ids",
              "--batch-tokens", "120", "--config", f"{home}/model/config.json"]
    one = tmp_path / "one.h5"
    assert warm_command("corpus", f"{home}/model/::L1", "--plan", f"{home}/plan.h5", "-o", str(one), "--device", "cpu", *choice).code == 0
    with command.start("corpus", "--sbatch", "--partition=x --array=0-2%2", "--sbatch", "--array 0-2 --mem=4G -a 0-2", "model/::L1", "--plan", "plan.h5",
                       "--device", "cpu", *choice[:-1], "model/config.json", "--shards", "3", "--slurm", "jobs", "--submit", "--json",
                       env=env, cwd=home) as process:
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, (out, err)
    said = json.loads(out)
    jobs = home / "jobs"
    assert said["folder"] == str(jobs) and said["path"] == str(jobs / "all.h5") and said["shards"] == 3 and said["sequences"] == 24
    assert said["jobs"] == {"shards": "42", "merge": "43"}
    for name in SCRIPTS:
        assert subprocess.run(["bash", "-n", jobs / name], capture_output=True, text=True, check=True).stderr == ""
    calls = log.read_text().split("---\n")
    assert calls[0].splitlines() == ["--parsable", str(jobs / "shard.sbatch")]
    assert calls[1].splitlines() == ["--parsable", "--dependency=afterany:42", str(jobs / "merge.sbatch")]
    assert sorted(path.name for path in jobs.iterdir()) == sorted([*SCRIPTS, "log", "all.h5", *(f"part{i}.h5" for i in range(3))])
    assert contents(jobs / "all.h5") == contents(one)
    with h5py.File(jobs / "all.h5") as file, h5py.File(one) as single:
        assert file.attrs["settings"] == single.attrs["settings"] and len(file["shards/first"]) == 3
    # The last words are the user's; a merge has no array.
    shard, merge = directives(jobs / "shard.sbatch"), directives(jobs / "merge.sbatch")
    assert shard[-2:] == ["--partition=x --array=0-2%2", "--array 0-2 --mem=4G -a 0-2"] and merge[-2:] == ["--partition=x", "--mem=4G"]
    text = " ".join(shard)
    for word in ("--array=0-2 ", "--requeue", "--open-mode=append", "--signal=B:TERM@60", "--job-name=headroom"):
        assert word in text
    assert "--array" not in " ".join(merge)


def test_without_a_plan_one_is_made_and_the_scripts_stay_as_they_are(command, stub, tmp_path):
    env, log = stub
    jobs = tmp_path / "jobs"
    words = ["corpus", BYTES, *CUT, "--slurm", jobs, "--shards", "2", "-o", tmp_path / "result.h5"]
    for _ in range(2):
        outcome = command(*words, env=env)
        assert outcome.code == 0 and f"bash {jobs}/submit.sh" in outcome.text and "--array=1,5-6" in outcome.text, outcome
        assert log.read_text() == "" and not (jobs / "part0.h5").exists()
        before = {name: (jobs / name).stat().st_mtime_ns for name in (*SCRIPTS, "plan.h5")}
    assert before == {name: (jobs / name).stat().st_mtime_ns for name in before}
    other = [*words[:-4], "--shards", "3", *words[-2:]]
    refused(command(*other, env=env), 2, "exists", "shard.sbatch")
    assert command(*other, "--force", env=env).code == 0 and "--array=0-2 " in (jobs / "shard.sbatch").read_text()
    # Nothing that earlier shards left, of other settings perhaps, is merged.
    for name in ("part0.h5", "part7.h5", ".part1.h5.headroom-progress"):
        (jobs / name).write_bytes(b"of another run")
    assert command(*other, "--force", env=env).code == 0
    assert not [path for path in jobs.iterdir() if "part" in path.name]
    # A shard that does not come to its end: the merge says so, and it alone is run again.
    shards = jobs / "shard.sbatch"
    whole = shards.read_text()
    shards.write_text(whole.replace("exec ", '[ "$SLURM_ARRAY_TASK_ID" = 1 ] && exit 1; exec '))
    failed = subprocess.run(["bash", jobs / "submit.sh"], env={**os.environ, **env}, capture_output=True, text=True, check=True)
    assert "--array=1" in failed.stderr and not (tmp_path / "result.h5").exists()
    shards.write_text(whole)
    again = subprocess.run(["bash", jobs / "submit.sh", "--array=1"], env={**os.environ, **env}, capture_output=True, text=True, check=True)
    assert re.fullmatch(r"shards \d+\nmerge \d+\n", again.stdout) and (tmp_path / "result.h5").exists(), again
    refused(command(*other, env=env), 2, "exists", "result.h5")


def test_refusals(command, plan, stub, tmp_path):
    env, log = stub
    words = ["corpus", BYTES, "--plan", plan]
    there = ["--slurm", tmp_path / "jobs"]
    refused(command(*words), 2, "--output")
    refused(command(*words, *there), 2, "--shards")
    refused(command(*words, "--shards", "3", "-o", tmp_path / "x.h5"), 2, "--slurm")
    refused(command(*words, *there, "--shards", "1001"), 2, "1000")
    refused(command(*words, *there, "--shards", "25"), 2, "--shards", "at most 24", "25")
    refused(command(*words, *there, "--shards", "2", "--shard", "0/2"), 2, "--shard")
    refused(command(*words, *there, "--shards", "2", "--what-if", "lambda=many"), 2)
    refused(command(*words, *there, "--shards", "2", "--sbatch", "--mem=1G\nrm -rf x"), 2, "--sbatch")
    refused(command(*words, "--slurm", tmp_path / "back\\slash", "--shards", "2"), 2, "--slurm", "backslash")
    refused(command(*words, "--slurm", plan / "jobs", "--shards", "2"), 5, "plan.h5")
    assert not list((tmp_path / "jobs").glob("*.sbatch")) and log.read_text() == ""
    bad = tmp_path / "bad"
    bad.mkdir()
    (bad / "sbatch").write_text("#!/bin/sh\necho 'sbatch: error: invalid partition' >&2\nexit 1\n")
    (bad / "sbatch").chmod(0o755)
    outcome = command(*words, *there, "--shards", "2", "--submit", env={"PATH": f"{bad}:{os.environ['PATH']}"})
    assert outcome.code == 5 and "invalid partition" in outcome.errors and "Slurm did not take the jobs" in outcome.errors


@pytest.fixture(scope="module")
def node():
    if reason := slurm.missing():
        pytest.skip(reason)
    try:
        one = slurm.OneNode()
    except slurm.NotUp as reason:
        pytest.skip(f"Slurm does not come up: {reason}")
    yield one
    one.close()


def process_of(part):
    """The process that writes this part, or nothing."""
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if os.fsencode(part) in words and b"corpus" in words:
                return int(entry.name)
    return None


def stopped_half_way(node, part):
    """The process that writes this part, stopped where it has kept something and not all."""
    progress, end = part.parent / f".{part.name}.headroom-progress", time.monotonic() + 120
    while (process := process_of(part)) is None:
        assert time.monotonic() < end and not part.exists(), node.call("squeue", "-l")
        time.sleep(0.01)
    while not progress.exists() or progress.stat().st_size < 40000:
        assert time.monotonic() < end and not part.exists(), node.call("squeue", "-l")
        time.sleep(0.001)
    os.kill(process, signal.SIGSTOP)
    assert progress.exists() and not part.exists()
    return process, progress


def test_a_real_slurm_runs_shards_and_merge(node, command, warm_command):
    folder, one, plan = node.folder / "a corpus, 'quoted'", node.folder / "one.h5", node.folder / "plan.h5"
    assert warm_command("corpus", str(BYTES), *map(str, CUT[:-1]), "96", "--plan-only", "-o", str(plan)).code == 0
    assert warm_command("corpus", str(BYTES), "--plan", str(plan), "-o", str(one), "--device", "cpu").code == 0
    begin = time.monotonic()
    outcome = command("corpus", BYTES, "--plan", plan, "--device", "cpu", "--batch-tokens", "40", "--slurm", folder, "--shards", "4",
                      "--sbatch", "--cpus-per-task=1 --time=00:20:00", "--submit", "--json", env=node.env)
    assert outcome.code == 0, outcome
    jobs = outcome.json["jobs"]
    # One task is killed once it has kept something.
    process, progress = stopped_half_way(node, folder / "part2.h5")
    os.kill(process, signal.SIGKILL)
    node.wait(jobs["merge"])
    states = node.states(jobs["shards"])
    assert {task: state for task, (state, _) in states.items()} == {0: "COMPLETED", 1: "COMPLETED", 2: "FAILED", 3: "COMPLETED"}
    assert states[2][1] == "0:9" and progress.exists()
    # The merge ran all the same, wrote nothing and said which shard is missing.
    assert node.states(jobs["merge"]) == {None: ("FAILED", "3:0")} and not (folder / "all.h5").exists()
    said = (folder / "log" / f"merge_{jobs['merge']}.txt").read_text()
    (again,) = re.findall(r"--array=[\d,-]+", said)
    assert again == "--array=2"
    done = subprocess.run(["bash", folder / "submit.sh", again], env=node.env, capture_output=True, text=True, check=True)
    numbers = dict(line.split() for line in done.stdout.splitlines())
    node.wait(numbers["merge"])
    assert node.states(numbers["merge"]) == {None: ("COMPLETED", "0:0")}
    assert "sequences had been run before" in (folder / "log" / f"{numbers['shards']}_2.txt").read_text()
    assert contents(folder / "all.h5") == contents(one)
    with h5py.File(folder / "all.h5") as file:
        assert file["shards/count"][:].tolist() == [24, 24, 24, 24]
    # Everything is there: a task that is run once more has nothing to do.
    finished = (folder / "part1.h5").stat().st_mtime_ns
    job = node.call("sbatch", "--parsable", "--array=1", folder / "shard.sbatch")
    node.wait(job)
    assert node.states(job)[1] == ("COMPLETED", "0:0") and (folder / "part1.h5").stat().st_mtime_ns == finished
    assert "nothing to do" in (folder / "log" / f"{job}_1.txt").read_text()
    # One that Slurm takes back and begins again, as at a preemption: it is told to stop, keeps what is done, and goes on from there.
    (folder / "part0.h5").unlink()
    job = node.call("sbatch", "--parsable", "--array=0", folder / "shard.sbatch")
    _, progress = stopped_half_way(node, folder / "part0.h5")  # Slurm wakes it
    node.call("scontrol", "requeue", f"{job}_0")
    node.wait_for(job, "PENDING")
    assert progress.exists() and not (folder / "part0.h5").exists()
    # Slurm itself waits two minutes, until slurmd is done with the launch before; at once it was refused now and then (FAILED, 1:0).
    time.sleep(2)
    node.call("scontrol", "update", f"jobid={job}_0", "StartTime=now")
    node.wait(job)
    log = (folder / "log" / f"{job}_0.txt").read_text()
    assert node.states(job)[0] == ("COMPLETED", "0:0") and not progress.exists(), (log, node.last_words())
    assert "cancelled" in log.lower() and "sequences had been run before" in log, log
    print(f"Slurm: {time.monotonic() - begin:.1f} s")
