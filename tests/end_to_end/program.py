"""The program under test, the list of tests, and the checks that they use."""
import json
import os
import pathlib
import resource
import signal
import subprocess
import time

import numpy as np

tests = []


def test(function):
    tests.append(function)
    return function


class Skipped(Exception):
    pass


def as_nobody(program):
    """The options of a call as a user without rights here, for root, who may write everywhere."""
    def become_nobody():
        os.setuid(65534)

    try:
        if program("--version", preexec_fn=become_nobody).code == 0:
            return {"preexec_fn": become_nobody}
    except PermissionError:
        pass
    raise Skipped("another user cannot start the program from here")


def with_fake_gpu(program):
    """Gives the program the GPU of tests/faults, whose kernels compute nothing."""
    fake = pathlib.Path(program.path).parent / "fake_gpu"
    if not fake.is_dir():
        raise Skipped("the fake GPU of tests/faults is not beside the program")
    program.environment["LD_LIBRARY_PATH"] = str(fake)


def wait_for(what, ready, seconds=60):
    until = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < until, f"{what} after {seconds} s"
        time.sleep(0.02)


# A sweep of 1000 cells, whose session file exists once the first cell is done.
LONG_SWEEP = ["sweep", "scan", "--over", "length=" + ",".join(map(str, range(20000, 21000))), "--repeat", 3,
              "--csv", "a.csv", "--session", "lab.sawtooth"]


def first_cell_of_long_sweep(program):
    return (program.folder / "lab.sawtooth").exists


def some_rows_of_long_sweep_are_kept(program):
    rows = (program.folder / "a.csv").read_text().splitlines()
    assert 1 < len(rows) < 5000, len(rows)


class Finished:
    """The result of a call: exit code, standard output, standard error."""

    def __init__(self, words, code, out, err):
        self.words, self.code, self.out, self.err = words, code, out, err

    def __str__(self):
        return f"{' '.join(map(str, self.words))}: exit {self.code}, {self.err.strip()[:400]!r}"

    def json(self):
        return json.loads(self.out)

    def wants(self, code, *words):
        """Expects this exit code; a failure must be one line that contains the words."""
        assert self.code == code, self
        if code != 0:
            assert self.err.endswith("\n") and self.err.count("\n") == 1, self
            assert self.err.startswith("sawtooth: "), self
        for word in words:
            assert str(word) in self.err, f"{word!r} is not said: {self}"
        return self


def shared_cache(program):
    """The cache folder beside the program, so that the machine is measured only once for all tests."""
    return str(pathlib.Path(program).parent / "test-cache")


class Program:
    def __init__(self, path, folder, kept):
        self.path = str(pathlib.Path(path).resolve())
        # Sanitizers make the program slow; the name of the build folder is that of the preset.
        self.patience = {"asan": 4, "tsan": 10}.get(pathlib.Path(self.path).parent.name, 1)
        self.folder = folder
        self.environment = dict(os.environ, XDG_CACHE_HOME=shared_cache(self.path), XDG_CONFIG_HOME=str(kept))
        for name in ("DISPLAY", "WAYLAND_DISPLAY"):
            self.environment.pop(name, None)

    def with_little_memory(self):
        """Options of a call that measures the machine: on smaller arrays, which takes less time."""
        size = 2 << 30
        if self.patience != 1:  # sanitizers need more
            return {}
        return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))}

    def file(self, name):
        return str(self.folder / name)

    def names(self):
        return sorted(p.name for p in self.folder.iterdir())

    def __call__(self, *words, seconds=60, **options):
        words = [str(w) for w in words]
        done = subprocess.run([self.path, *words], capture_output=True, text=True, timeout=seconds * self.patience,
                              cwd=self.folder, env=self.environment, **options)
        assert done.returncode >= 0, f"{words} ended by signal {-done.returncode}: {done.stderr[-400:]}"
        return Finished(words, done.returncode, done.stdout, done.stderr)

    def start(self, *words, stdout=subprocess.PIPE):
        return subprocess.Popen([self.path, *map(str, words)], stdout=stdout, stderr=subprocess.PIPE, text=True,
                                cwd=self.folder, env=self.environment)

    # Starts the program and waits some seconds, or until a function returns true, while it runs.
    def start_until(self, when, *words):
        process = self.start(*words)
        try:
            if callable(when):
                wait_for("not so far", lambda: when() or process.poll() is not None, 60 * self.patience)
            else:
                time.sleep(when * self.patience)
            assert process.poll() is None, process.communicate()
        except AssertionError:
            process.kill()
            raise
        return process

    # Sends Ctrl+C at this time, see start_until, and returns what was printed until then.
    def interrupt(self, when, *words):
        process = self.start_until(when, *words)
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        out, err = process.communicate(timeout=20 * self.patience)
        assert time.monotonic() - start < 5 * self.patience, "Ctrl+C took long"
        assert process.returncode == 130, (process.returncode, err)
        assert err.startswith("sawtooth: ") and err.count("\n") == 1, err
        return out


def load(path):
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def settings(values):
    words = []
    for name, value in values.items():
        words += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
    return words
