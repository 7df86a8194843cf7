"""Tests that a worker behind --on gives the same numbers, files and exit codes."""
import contextlib
import os
import pathlib
import shlex
import subprocess

import numpy as np

from program import (LONG_SWEEP, Skipped, first_cell_of_long_sweep, load, some_rows_of_long_sweep_are_kept, test,
                     wait_for)

QUICK = ["--repeat", 2, "--set", "length=300"]
LONG = ["--set", "length=65536", "--set", "channels=64", "--set", "batch=4", "--repeat", 100000]


def on(program):
    return ["--on", f"{shlex.quote(program.path)} worker"]


def without_times(document):
    """The part of a result that does not depend on the time of the run."""
    if isinstance(document, dict):
        return {key: without_times(value) for key, value in document.items()
                if key not in ("time_us", "speed_up", "start_us", "duration_us", "busy", "utilisation", "idle", "metrics",
                               "ceilings", "copy", "clocks")}
    return [without_times(value) for value in document] if isinstance(document, list) else document


def workers(program):
    """The folders in /proc of the workers that run; nobody can wait for those that are not its own processes."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # ended meanwhile
            if (process / "cmdline").read_bytes().startswith(program.path.encode() + b"\0worker\0"):
                yield process


def no_workers_left(program):
    """Tests that workers end soon after their client."""
    wait_for("a worker is left", lambda: not list(workers(program)), 5 * program.patience)


def a_worker_computes(program):
    """A function that tells whether a worker has used so much processor time that it is in a run."""
    def computes():
        with contextlib.suppress(OSError):
            for process in workers(program):
                times = (process / "stat").read_text().rpartition(")")[2].split()[11:13]  # user, system
                if sum(map(int, times)) / os.sysconf("SC_CLK_TCK") > 0.5 * program.patience:
                    return True
        return False

    return computes


@test
def a_run_elsewhere_gives_the_same_document_and_the_same_bits(program):
    words = ["run", "scan", *QUICK, "--set", "op=linear", "--threads", 2, "--json", "--output"]
    here = program(*words, "here.npz").wants(0).json()
    there = program(*words, "there.npz", *on(program)).wants(0).json()
    assert without_times(here) == without_times(there)
    assert all(variant["time_us"]["samples"] for variant in there["variants"])
    first, second = load(program.file("here.npz")), load(program.file("there.npz"))
    assert list(first) == list(second)
    for name in first:
        assert first[name].dtype == second[name].dtype and first[name].tobytes() == second[name].tobytes(), name
    no_workers_left(program)


@test
def an_input_file_goes_along(program):
    x = np.random.default_rng(1).standard_normal((2, 700, 3)).astype("f4")
    np.savez(program.file("in.npz"), x=x)
    words = ["run", "scan", "--repeat", 1, "--input", "in.npz", "--output", "out.npz"]
    program(*words, *on(program)).wants(0)
    assert np.array_equal(load(program.file("out.npz"))["x"], x)
    (program.folder / "in.npz").write_bytes(b"no archive")
    program(*words, *on(program)).wants(2, "in.npz")
    program("run", "scan", "--input", "absent.npz", *on(program)).wants(2, "absent.npz")


@test
def a_sweep_elsewhere_has_the_same_cells(program):
    words = ["sweep", "scan", "--over", "op=sum,max", "--set", "compensated=true", *QUICK, "--json"]
    here, there = program(*words).wants(0).json(), program(*words, *on(program)).wants(0).json()
    assert without_times(here) == without_times(there)
    assert there["cells"][1]["refused"]


@test
def a_search_elsewhere_measures_the_fastest_again(program):
    words = ["sweep", "scan", "--over", "block_size=128,256", "--variant", "lookback", "--best", "--json"]
    document = program(*words, *on(program)).wants(0).json()
    assert document["complete"] and [cell["values"]["block_size"] for cell in document["cells"]] == [128, 256]
    samples = [len(cell["result"]["variants"][0]["time_us"]["samples"]) for cell in document["cells"]]
    assert min(samples) >= 6 and document["best"][0]["variant"] == "lookback", samples


@test
def a_report_a_bench_and_devices_come_from_elsewhere_too(program):
    assert program("report", "page", "scan", *QUICK, *on(program)).wants(0).out == "page/index.html\n"
    page = (program.folder / "page" / "index.html").read_text()
    assert "<svg" in page and "lookback" in page and "could not" not in page
    refused = ["bench", "scan", "--repeat", 1, "--memory-limit", "1MiB", "--json"]
    here, there = (program(*refused, *where).wants(1, "no case ran").json() for where in ([], on(program)))
    assert [row["variant"] for row in here["cases"]] == [row["variant"] for row in there["cases"]] != []
    assert program("devices", "--json", *on(program)).wants(0).json()["cpu"] == program("devices", "--json").json()["cpu"]
    for words in (["report", "other", "scan"], ["bench", "scan"], ["devices"], ["check", "scan"]):
        program(*words, "--on", "echo nobody home >&2; exit 7").wants(1, "exit code 7", "nobody home")


@test
def what_fails_elsewhere_fails_as_here(program):
    program("run", "scan", "--set", "compensated=true", "--set", "op=max", *on(program)).wants(2, "compensated")
    program("run", "scan", "--memory-limit", "1KiB", *on(program)).wants(1, "memory")


@test
def a_command_that_starts_no_worker_is_told(program):
    program("run", "scan", "--on", "echo nobody home >&2; exit 7").wants(1, "exit code 7", "nobody home")
    program("run", "scan", "--on", "echo Welcome").wants(1, "Welcome")
    program("sweep", "scan", "--over", "length=1,2", "--on", "exit 7").wants(1, "exit code 7")
    program("run", "scan", "--on", "").wants(2, "--on")


@test
def an_interrupted_run_elsewhere_is_exit_130_and_leaves_no_worker(program):
    run = ["run", "scan", *LONG, *on(program), "--json", "--output", "out.npz"]
    assert program.interrupt(a_worker_computes(program), *run) == ""
    assert program.names() == []
    no_workers_left(program)
    program.interrupt(0.5, "run", "scan", "--on", "sleep 60")


@test
def an_interrupted_sweep_elsewhere_keeps_its_finished_rows(program):
    program.interrupt(first_cell_of_long_sweep(program), *LONG_SWEEP, *on(program))
    some_rows_of_long_sweep_are_kept(program)
    no_workers_left(program)


@test
def a_worker_whose_client_is_killed_ends(program):
    process = program.start_until(a_worker_computes(program), "run", "scan", *LONG, *on(program))
    process.kill()
    process.communicate()
    no_workers_left(program)


@test
def a_worker_says_nothing_but_messages_and_ends_with_its_input(program):
    done = subprocess.run([program.path, "worker"], input=b"", capture_output=True, env=program.environment,
                          timeout=20)
    assert done.returncode == 0, done
    assert int.from_bytes(done.stdout[:4], "little") == len(done.stdout) - 4
    done = subprocess.run([program.path, "worker"], input=b"\x91" * (8 << 20), capture_output=True,
                          env=program.environment, timeout=20)
    assert done.returncode == 2 and b"sawtooth worker:" in done.stderr, done
    program("worker", "--set", "a=1").wants(2, "--set")


@test
def a_worker_may_have_a_terminal_as_output_but_not_as_input(program):
    try:
        terminal, output = os.openpty()
    except OSError as problem:  # a container without /dev/pts
        raise Skipped(f"no terminal can be opened here: {problem}") from None
    done = subprocess.Popen([program.path, "worker"], stdin=subprocess.DEVNULL, stdout=output, env=program.environment)
    os.close(output)
    greeting = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while part := os.read(terminal, 4096):
            greeting += part
    assert done.wait(20) == 0
    # "format" and its value, 10, are a line end, which stays as it is.
    assert int.from_bytes(greeting[:4], "little") == len(greeting) - 4, greeting
    os.close(terminal)
    terminal, both = os.openpty()
    done = subprocess.run([program.path, "worker"], stdin=both, capture_output=True, text=True, env=program.environment,
                          timeout=20)
    assert done.returncode == 2 and "not a terminal" in done.stderr, done
    os.close(both)
    os.close(terminal)


@test
def where_kernels_come_from_and_which_chip_they_are_for_is_checked(program):
    program("run", "scan", "--kernels", "nowhere").wants(2, "--kernels", "nowhere", "folder")
    # Kernels of a folder are judged themselves: those of the CPU being right is not enough.
    program("check", "scan", "--kernels", ".", "--backend", "cpu").wants(2, "--kernels", "--backend cpu")
    program("check", "scan", "--sanitize", "--backend", "cpu").wants(2, "--sanitize", "--backend cpu")
    if not program("devices", "--json").wants(0).json()["gpus"]:
        program("check", "scan", "--kernels", ".").wants(1, "backend cuda")
    assert "this run used the CPU" in program("run", "scan", "--kernels", ".", "--repeat", "1").wants(0).out
    program("run", "scan", "--arch", "sm_12").wants(2, "--arch", "sm_12", "sm_80", "sm_90a")
