"""A Slurm of one node for the tests: three daemons of a user's own in one folder, on free ports of the loopback, ended with it."""
import contextlib
import getpass
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

DAEMONS = ("munged", "slurmctld", "slurmd")
TOOLS = ("sbatch", "squeue", "scontrol", "sinfo")


def found(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def missing():
    """Why there can be none here, or nothing."""
    absent = [name for name in DAEMONS + TOOLS if not found(name)]
    return f"no {', '.join(absent)} here; tests/run.sh installs them" if absent else ""


class NotUp(Exception):
    pass


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def last_words(*logs):
    """What the daemons' logs say is wrong."""
    said = []
    for log in logs:
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        said += [line for line in lines if "error" in line.lower() or "fatal" in line.lower()][-2:]
    return "; ".join(said) or "nothing in the logs of the daemons"


def is_running(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class OneNode:
    """In a folder that every user can search, which munge insists on. NotUp with the log's own sentence where a daemon does not come up."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp" if os.access("/tmp", os.W_OK) else None))
        os.chmod(self.folder, 0o755)
        self.env = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"),
                    "PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin"}
        self.env.pop("SLURM_CPUS_PER_TASK", None)
        self.cpus = max(1, min(2, len(os.sched_getaffinity(0))))
        try:
            self._begin(plain_cgroup=True)
        except NotUp as first:
            if "cgroup" not in str(first):
                self.close()
                raise
            self._end_daemons()
            try:
                self._begin(plain_cgroup=False)
            except NotUp:
                self.close()
                raise first from None

    def _begin(self, plain_cgroup):
        for name in ("state", "spool"):
            (self.folder / name).mkdir(exist_ok=True)
        key = self.folder / "key"
        if not key.exists():
            key.write_bytes(os.urandom(128))
            key.chmod(0o400)
        if not plain_cgroup:  # for machines whose hierarchy slurmd does not understand; before 23.02 a value it refuses
            (self.folder / "cgroup.conf").write_text("CgroupPlugin=disabled\n")
        host, user = socket.gethostname().split(".")[0], getpass.getuser()
        ports = free_ports(2)
        at = self.folder
        (at / "slurm.conf").write_text("\n".join([
            "ClusterName=one", f"SlurmctldHost={host}(127.0.0.1)", f"SlurmUser={user}", f"SlurmdUser={user}",
            f"SlurmctldPort={ports[0]}", f"SlurmdPort={ports[1]}", "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny",
            f"AuthInfo=socket={at}/munge.socket", f"StateSaveLocation={at}/state", f"SlurmdSpoolDir={at}/spool",
            f"SlurmctldPidFile={at}/slurmctld.pid", f"SlurmdPidFile={at}/slurmd.pid", f"SlurmctldLogFile={at}/slurmctld.log",
            f"SlurmdLogFile={at}/slurmd.log", "ProctrackType=proctrack/linuxproc", "SelectType=select/cons_tres",
            "SelectTypeParameters=CR_Core", "ReturnToService=2",
            f"NodeName={host} NodeAddr=127.0.0.1 CPUs={self.cpus} State=UNKNOWN",
            "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP", ""]))
        self._daemon("munged", f"--key-file={key}", f"--socket={at}/munge.socket", f"--pid-file={at}/munge.pid",
                     f"--log-file={at}/munge.log", f"--seed-file={at}/seed", log="munge.log")
        self._daemon("slurmctld", log="slurmctld.log")
        self._daemon("slurmd", log="slurmd.log")
        end = time.monotonic() + 15
        while self.call("sinfo", "-h", "-o", "%T", check=False) != "idle":
            if time.monotonic() > end:
                raise NotUp(self.last_words())
            time.sleep(0.1)

    def _daemon(self, name, *arguments, log):
        try:
            done = subprocess.run([found(name), *arguments], env=self.env, capture_output=True, text=True, timeout=20)
        except subprocess.TimeoutExpired:
            raise NotUp(f"{name} does not begin within 20 s: {last_words(self.folder / log)}") from None
        if done.returncode != 0:
            raise NotUp(f"{name}: {last_words(self.folder / log)} {done.stderr[-300:]}")

    def call(self, name, *arguments, check=True, **options):
        """What the tool prints, stripped."""
        done = subprocess.run([found(name), *map(str, arguments)], env=self.env, capture_output=True, text=True, timeout=60, **options)
        assert done.returncode == 0 or not check, (name, arguments, done.stdout, done.stderr)
        return done.stdout.strip()

    def last_words(self):
        return last_words(self.folder / "slurmd.log", self.folder / "slurmctld.log")

    def wait(self, job, seconds=300):
        """Until no task of the job is in the queue."""
        end = time.monotonic() + seconds
        while self.call("squeue", "-h", "-j", job, "-o", "%T", check=False):
            assert time.monotonic() < end, self.call("squeue", "-l", check=False)
            time.sleep(0.2)

    def wait_for(self, job, state, seconds=60):
        """Until the only task of the job is in this state."""
        end = time.monotonic() + seconds
        while self.call("squeue", "-h", "-j", job, "-o", "%T", check=False) != state:
            assert time.monotonic() < end, self.call("squeue", "-l", check=False)
            time.sleep(0.2)

    def states(self, job):
        """{task: (state, exit code)} of an array that has ended, or {None: …} of a single job."""
        found_states = {}
        for line in self.call("scontrol", "-o", "show", "job", job).splitlines():
            words = dict(word.split("=", 1) for word in line.split() if "=" in word)
            found_states[int(words["ArrayTaskId"]) if "ArrayTaskId" in words else None] = (words["JobState"], words["ExitCode"])
        return found_states

    def _end_daemons(self):
        processes = []
        for name in ("slurmd", "slurmctld", "munge"):
            with contextlib.suppress(OSError, ValueError):
                processes.append(int((self.folder / f"{name}.pid").read_text()))
                os.kill(processes[-1], signal.SIGTERM)
        end = time.monotonic() + 10
        while any(is_running(process) for process in processes) and time.monotonic() < end:
            time.sleep(0.05)

    def close(self):
        self._end_daemons()
        shutil.rmtree(self.folder, ignore_errors=True)
