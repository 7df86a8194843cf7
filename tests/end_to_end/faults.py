#!/usr/bin/env python3
"""Makes every call fail that can: expects one clear line, a proper exit code, no damaged file, and no hang.

    faults.py PROGRAM [N]      the first N calls of each function fail in turn (50), and as many spread over the rest

tests/faults/shim.cpp makes a call of the system fail, tests/faults/gpu.cpp is a GPU whose calls fail or hang. Both lie
beside the program. The last line is "N passed, N failed".
"""
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import zipfile
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
PROGRAM = pathlib.Path(sys.argv[1]).resolve()
MOST = int(sys.argv[2]) if len(sys.argv) > 2 else 50
BESIDE = PROGRAM.parent
FUNCTIONS = ["malloc", "write", "fsync", "rename", "open", "pthread_create", "posix_spawn"]
SMALL = ["--repeat", "1", "--threads", "2"]
SCAN = ["scan", "--set", "length=64", "--set", "channels=2", *SMALL]
LUT = ["lut", "--set", "batch=2", "--set", "inputs=8", "--set", "outputs=4", "--set", "detectors=4", *SMALL]
# Arguments, the output file, its end when complete, and the share of the usual number of tries: pictures take long.
COMMANDS = {
    "run": (["run", *SCAN, "--output", "out.npz"], "out.npz", None, 1),
    "sweep": (["sweep", "scan", "--over", "length=16,32", *SMALL, "--csv", "out.csv"], "out.csv", b"\n", 1),
    "report": (["report", ".", *LUT], "index.html", b"</html>\n", 0.2),
    "shot": (["shot", "out.png", "--family", *LUT, "--size", "320x240"], "out.png", b"IEND\xaeB`\x82", 0.2),
    "on": (["run", *SCAN, "--output", "out.npz", "--on", f"'{PROGRAM}' worker"], "out.npz", None, 0.3),
}
# The functions that each command must call, as one that is never called would pass.
BY_ALL = {"malloc", "write", "fsync", "rename", "open", "pthread_create"}
CALLED = {"run": BY_ALL, "sweep": BY_ALL, "report": BY_ALL, "shot": BY_ALL, "on": BY_ALL | {"posix_spawn"}}
# Only the output needs them, so the command fails and the older file stays.
FOR_THE_OUTPUT = {"fsync", "rename"}
# The calls of a GPU whose failure must be named; without the others a run goes on.
NAMED = {"cuLaunchKernel", "cuLaunchKernelEx", "cuMemAlloc", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync",
         "cuMemcpyDtoDAsync", "cuMemsetD8Async", "cuEventCreate", "cuEventRecord", "cuEventQuery", "cuEventElapsedTime",
         "cuStreamSynchronize", "cuModuleLoadData", "cuModuleGetFunction", "cuFuncSetAttribute"}
OLD = b"the older file\n"
lock = threading.Lock()
passed, problems = 0, []


def state_of(process):
    """Tells what each thread of the process waits for, and how long the machine had no memory and no disk to give."""
    def read(path):
        try:
            return pathlib.Path(path).read_text().strip()
        except OSError:
            return "?"

    threads = [f"{read(task / 'comm')} {read(task / 'wchan')} call {read(task / 'syscall').partition(' ')[0]}"
               for task in sorted(pathlib.Path(f"/proc/{process}/task").glob("*"))]
    pressure = [f"{what} {read(f'/proc/pressure/{what}').rpartition(chr(10))[2]}" for what in ("memory", "io")]
    return "; ".join(threads + pressure)


class Ran:
    def __init__(self, words, folder, environment, patience, interrupted_after=None):
        start = time.monotonic()
        self.hung = False
        process = subprocess.Popen([PROGRAM, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        if interrupted_after:
            time.sleep(interrupted_after)
            process.send_signal(signal.SIGINT)
        try:
            self.out, self.err = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            self.hung = True
            print(f"a run of {patience:.1f} s was stopped; {state_of(process.pid)}", flush=True)
            os.killpg(process.pid, signal.SIGKILL)
            self.out, self.err = process.communicate()
        self.code, self.seconds = process.returncode, time.monotonic() - start
        self.out, self.err = (text.decode("utf-8", "replace") for text in (self.out, self.err))

    def problem(self, codes=(0, 1)):
        """Says what is wrong with the way in which the program ended; "" if nothing is."""
        if self.hung:
            return "it hung"
        if self.code < 0:
            return f"signal {-self.code}"
        if self.code not in codes:
            return f"exit {self.code}"
        lines = self.err.splitlines()
        if self.code and (len(lines) != 1 or not lines[0].startswith("sawtooth: ") or len(lines[0]) < 15):
            return f"{len(lines)} lines"
        if re.search(r"bad_alloc|terminate|std::|basic_string", self.err):
            return "words of C++"
        return ""


def ran_in_time(words, folder, environment, patience):
    """Runs the program again if it took longer, as a busy machine may stall it once. A minute more is a hang."""
    ran = Ran(words, folder, environment, patience + 60)
    return ran if ran.hung or ran.seconds <= patience else Ran(words, folder, environment, patience)


def judged(name, ran, problem):
    global passed
    with lock:
        if not problem:
            passed += 1
            return
        problems.append(name)
        print(f"FAIL    {name}: {problem}, exit {ran.code}, {ran.seconds:.1f} s: {ran.err.strip()[-300:]!r}", flush=True)


def attempt(function, *arguments):
    """Calls the function on a thread of a pool, which would keep an exception to itself."""
    try:
        function(*arguments)
    except Exception:  # a test that breaks is a failure like any other
        with lock:
            problems.append(arguments)
            print(f"FAIL    {function.__name__}: {traceback.format_exc(limit=-3).strip()}", flush=True)


def environment_of(folder, **more):
    """An environment without a display, in which all runs share the folders of the program."""
    kept = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    return dict(kept, XDG_CACHE_HOME=str(folder), XDG_CONFIG_HOME=str(folder), **more)


def spread(count, most):
    """The first `most` of `count` numbers, as many at equal ratios up to the last, and the last."""
    numbers = set(range(1, min(count, most) + 1))
    if count > most:
        numbers.update(round(most * (count / most) ** (i / most)) for i in range(most + 1))
    return sorted(numbers)


def is_whole(path, end):
    """Returns whether the file is the old one or a complete new one."""
    content = path.read_bytes()
    if content == OLD:
        return True
    if end:
        return content.endswith(end) and len(content) > 100
    with zipfile.ZipFile(path) as archive:
        return archive.testzip() is None and "reference/y.npy" in archive.namelist()


def files_problem(folder, output, end, code):
    names = sorted(os.listdir(folder))
    if names != [output]:
        return f"files: {names}"
    try:
        if not is_whole(folder / output, end):
            return "the output is damaged"
    except (OSError, zipfile.BadZipFile):
        return "the output is damaged"
    return "exit 0 without a new output" if code == 0 and (folder / output).read_bytes() == OLD else ""


def try_call(kept, command, function, number, patience):
    words, output, end, _ = COMMANDS[command]
    with tempfile.TemporaryDirectory(prefix="sawtooth-") as name:
        folder = pathlib.Path(name)
        (folder / output).write_bytes(OLD)
        environment = environment_of(kept, LD_PRELOAD=str(BESIDE / "libfault_shim.so"),
                                     SAWTOOTH_FAULT=f"{function} {number}")
        ran = ran_in_time(words, folder, environment, patience)
        is_for_output = function in FOR_THE_OUTPUT
        problem = ran.problem(codes=[1] if is_for_output else (0, 1)) or files_problem(folder, output, end, ran.code)
        if not problem and is_for_output and (folder / output).read_bytes() != OLD:
            problem = "the older file is gone"
        judged(f"{command}, {function} {number}", ran, problem)


def count_of(kept, command, function):
    """Counts how often a whole run calls the function, and measures how long the run takes."""
    with tempfile.TemporaryDirectory(prefix="sawtooth-") as name:
        ran = Ran(COMMANDS[command][0], name,
                  environment_of(kept, LD_PRELOAD=str(BESIDE / "libfault_shim.so"), SAWTOOTH_FAULT=f"{function} 0",
                                 SAWTOOTH_FAULT_COUNT=f"{name}/count"), 60)
        assert ran.code == 0, (command, ran.err)
        return int((pathlib.Path(name) / "count").read_text()), ran.seconds


def calls_of_the_system(kept, measuring):
    with ThreadPoolExecutor(2) as pool:
        for command, (_, _, _, share) in COMMANDS.items():
            start, tries = time.monotonic(), 0
            for function in FUNCTIONS:
                count, usual = count_of(kept, command, function)
                assert count > 0 or function not in CALLED[command], f"{command} never calls {function}"
                again = 5 * measuring if function in ("open", "malloc") else 0  # the kept limits could not be read
                for number in spread(count, max(2, round(MOST * share))):
                    tries += 1
                    pool.submit(attempt, try_call, kept, command, function, number, 2 * usual + 2 + again)
            while pool._work_queue.qsize():  # so that the time is that of the command
                time.sleep(0.05)
            print(f"{command}: {tries} calls, {time.monotonic() - start:.0f} s", flush=True)


def try_gpu(kept, words, kind, number, limit):
    """Tests that a call that hangs is given up a few seconds after the time limit."""
    hangs = kind == "hang"
    words = [*words, "--time-limit", str(limit)] if hangs else words
    log = kept / f"calls-{kind}-{number}"
    environment = environment_of(kept, LD_LIBRARY_PATH=str(BESIDE / "fake_gpu"), SAWTOOTH_FAKE_GPU=f"{kind} {number}",
                                 SAWTOOTH_FAKE_GPU_CALLS=str(log))
    ran = ran_in_time(words, kept, environment, limit + 8 if hangs else 10)
    problem = ran.problem()
    if not problem and hangs and ran.code and "time limit" not in ran.err:
        problem = "no words about the time limit"
    # Which call it was differs from run to run: how often the machine is measured depends on the time.
    made = log.read_text().split() if log.exists() else []
    failed = made[number - 1] if number <= len(made) else "never called"
    if not problem and not hangs and failed in NAMED and failed not in ran.out + ran.err:
        problem = "the call that failed is not named"
    judged(f"GPU, {kind} {number} ({failed})", ran, problem)


def calls_of_a_gpu(kept):
    words = ["run", "scan", "--set", "length=64", "--repeat", "1", "--backend", "cuda", "--allow-wrong"]

    def calls_now():
        path = kept / "calls"
        ran = Ran(words, kept, environment_of(kept, LD_LIBRARY_PATH=str(BESIDE / "fake_gpu"),
                                              SAWTOOTH_FAKE_GPU_CALLS=str(path)), 60)
        assert ran.code == 0, ran.err
        return path.read_text().split()

    start = time.monotonic()
    cold, calls = calls_now(), calls_now()  # the limits of the chip are measured, and kernels compiled, only at first
    few = max(2, round(MOST * 0.6))
    with ThreadPoolExecutor(2) as pool, ThreadPoolExecutor(12) as sleepers:
        sleepers.submit(attempt, try_ctrl_c, kept, words)
        for number in spread(len(calls), few // 2):
            sleepers.submit(attempt, try_gpu, kept, words, "hang", number, 1)
        for number in spread(len(cold), few // 4):
            sleepers.submit(attempt, try_cold, words, "hang", number)
        for kind in ("fail", "lost"):
            for number in spread(len(calls), few):
                pool.submit(attempt, try_gpu, kept, words, kind, number, 1)
            for number in spread(len(cold), few // 2):
                pool.submit(attempt, try_cold, words, kind, number)
    # A picture of a run on the CPU does not wait for a driver.
    with tempfile.TemporaryDirectory(prefix="sawtooth-") as folder:
        ran = Ran(COMMANDS["shot"][0], folder, environment_of(kept, LD_LIBRARY_PATH=str(BESIDE / "fake_gpu"),
                                                              SAWTOOTH_FAKE_GPU="hang 1"), 30)
        judged("shot, a driver that hangs", ran, ran.problem(codes=[0]))
    print(f"GPU: {len(cold)} calls cold, {len(calls)} warm, {time.monotonic() - start:.0f} s", flush=True)


def try_ctrl_c(kept, words):
    """Tests that a run that does not notice its stop ends nevertheless."""
    ran = Ran(words, kept, environment_of(kept, LD_LIBRARY_PATH=str(BESIDE / "fake_gpu"), SAWTOOTH_FAKE_GPU="hang 1"),
              15, interrupted_after=1)
    judged("GPU, Ctrl+C", ran, ran.problem(codes=[130]))


def try_cold(words, kind, number):
    with tempfile.TemporaryDirectory(prefix="sawtooth-") as name:
        try_gpu(pathlib.Path(name), words, kind, number, 2)


def processor_in(limits):
    return json.loads(limits.read_text())["processor"]


def main():
    if BESIDE.name in ("asan", "tsan"):
        print("skipped: faults: sanitizers must come before the shim")
        return 77
    # Limits are measured on arrays of a sixteenth of free memory, again where a call fails to read them: with little
    # memory that takes less time. Every thread may reserve as much as is added for a core.
    most = (2 << 30) + os.cpu_count() * (128 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    with tempfile.TemporaryDirectory(prefix="sawtooth-kept-") as name:
        kept = pathlib.Path(name)
        with tempfile.TemporaryDirectory(prefix="sawtooth-") as folder:
            measuring = Ran(COMMANDS["run"][0], folder, environment_of(kept), 120)
        [limits] = kept.glob("sawtooth/ceilings-*.json")
        processor = processor_in(limits)
        calls_of_the_system(kept, measuring.seconds)
        # Without them every later run would measure for seconds.
        judged("limits of the machine are kept", measuring,
               "" if processor_in(limits) == processor else "they are of another processor")
        calls_of_a_gpu(kept)
    print(f"{passed} passed, {len(problems)} failed")
    return 1 if problems or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
