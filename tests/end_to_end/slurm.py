"""Tests the program under a real Slurm: srun starts workers, and an array job measures a sweep in shards.

Starts munged, slurmctld and slurmd in a temporary folder, with ports of their own; they end with the test.
"""
import contextlib
import os
import pathlib
import pwd
import shlex
import shutil
import signal
import socket
import subprocess

from many_workers import samples
from program import Skipped, test, wait_for

NEEDED = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "scancel", "squeue", "sinfo")
SEARCHED = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin", "/usr/local/sbin"])
SHARDS = 8

# No cgroups, no accounting and no systemd: a container has none of them.
CONFIGURATION = """
ClusterName=sawtooth
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerType=sched/builtin
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""

ARRAY = """#!/bin/bash
#SBATCH --output={folder}/job-%a.txt
exec {sweep} --shard "$SLURM_ARRAY_TASK_ID/{shards}" --session {folder}/out-"$SLURM_ARRAY_TASK_ID".sawtooth --resume
"""


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class Slurm:
    """A cluster of this machine alone. Everything that it starts has its configuration in the environment."""

    def __init__(self, folder):
        self.folder = folder
        self.host = socket.gethostname().split(".")[0]
        self.environment = dict(os.environ, PATH=SEARCHED, SLURM_CONF=str(folder / "slurm.conf"))
        self.daemons = []

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_):
        self.end()

    def start(self):
        for name in ("state", "spool", "munge"):
            (self.folder / name).mkdir()
        (self.folder / "munge").chmod(0o711)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=self.host, folder=self.folder, ports=free_ports(2), user=pwd.getpwuid(os.getuid()).pw_name))
        munge = self.folder / "munge"
        self.daemon("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={munge}/socket",
                    f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        wait_for("no socket of munged", (munge / "socket").exists)
        self.daemon("slurmctld", "-D")
        self.daemon("slurmd", "-D", "-N", self.host)
        wait_for("the node is not idle", lambda: self("sinfo", "-h", "-o", "%T").stdout.strip() == "idle")

    def daemon(self, *words):
        log = open(self.folder / f"{words[0]}.out", "w")
        self.daemons.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                             start_new_session=True, env=self.environment))
        log.close()

    def __call__(self, *words):
        return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60,
                              cwd=self.folder, env=self.environment)

    def submit(self, script, array):
        """The number of the job."""
        done = self("sbatch", "--parsable", f"--array={array}", script)
        assert done.returncode == 0, done
        return done.stdout.strip()

    def is_empty(self):
        return self("squeue", "-h").stdout == ""

    def processes(self):
        """All that run under this configuration: daemons, the keepers of steps, jobs."""
        mark = f"SLURM_CONF={self.environment['SLURM_CONF']}".encode()
        for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if mark in path.read_bytes().split(b"\0"):
                    yield int(path.parent.name)

    def end(self):
        with contextlib.suppress(Exception):
            self("scancel", "--full", "--user", pwd.getpwuid(os.getuid()).pw_name)
            wait_for("jobs are left", self.is_empty, 10)
        for process in reversed(self.daemons):
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        for process in self.daemons:
            process.wait()


@contextlib.contextmanager
def cluster(program):
    missing = [name for name in NEEDED if not shutil.which(name, path=SEARCHED)]
    if missing:
        raise Skipped(f"{missing[0]} is missing: install slurm-wlm and munge")
    folder = program.folder / "slurm"
    folder.mkdir(mode=0o755)
    with Slurm(folder) as slurm:
        # What the program starts asks this cluster, too.
        program.environment.update(PATH=SEARCHED, SLURM_CONF=slurm.environment["SLURM_CONF"])
        yield slurm
    assert not list(slurm.processes())


@test
def srun_of_slurm_starts_workers(program):
    with cluster(program) as slurm:
        on = ["--on", f"srun --quiet --unbuffered {shlex.quote(program.path)} worker"]
        words = ["sweep", "scan", "--over", "length=64,128,192,256", "--repeat", 2, "--threads", 1, "--json"]
        for workers in (on, on + on):
            done = program(*words, *workers).wants(0)
            assert done.err == "" and done.json()["complete"], done
            assert {cell["result"]["host"] for cell in done.json()["cells"]} == {socket.gethostname()}
            wait_for("a step of srun is left", slurm.is_empty)
        # An interrupt ends the step on the node, too.
        program.interrupt(3, "run", "scan", "--set", "length=65536", "--set", "channels=64", "--repeat", 1000000, *on)
        wait_for("the step of an interrupted run is left", slurm.is_empty)


@test
def an_array_job_of_slurm_measures_a_sweep_in_shards(program):
    lengths = ",".join(str(length) for length in range(40000, 40024))
    sweep = [program.path, "sweep", "scan", "--over", f"length={lengths}", "--repeat", "25", "--threads", "1"]
    with cluster(program) as slurm:
        script = slurm.folder / "array.sh"
        script.write_text(ARRAY.format(folder=slurm.folder, shards=SHARDS, sweep=shlex.join(sweep)))
        outs = [slurm.folder / f"out-{number}.sawtooth" for number in range(1, SHARDS + 1)]
        job = slurm.submit(script, f"1-{SHARDS}")
        wait_for("shard 3 has no cell", outs[2].exists, 120 * program.patience)
        slurm("scancel", "--full", "--signal=KILL", f"{job}_3")
        wait_for("the array does not end", slurm.is_empty, 300 * program.patience)

        before = whole(program, outs)
        assert before.code == 1 and "cells are missing: length 400" in before.err, before
        kept = samples(before.json())
        assert 21 < len(kept) < 24, len(kept)

        slurm.submit(script, "3")
        wait_for("the shard does not end", slurm.is_empty, 120 * program.patience)
        after = whole(program, outs, "--session", "all.sawtooth", "--csv", "all.csv")
        assert after.code == 0, (after, (slurm.folder / "job-3.txt").read_text())
        cells = after.json()["cells"]
        assert [cell["values"]["length"] for cell in cells] == list(range(40000, 40024))
        assert all(samples(after.json())[values] == kept[values] for values in kept), "a cell was measured again"
        assert (program.folder / "all.sawtooth").stat().st_size > 0


def whole(program, outs, *more):
    return program("join", *outs, "--json", *more)
