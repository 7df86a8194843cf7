"""Compares the memory that runs take with the estimate by which they are refused."""
import pathlib
import re
import subprocess
import time

from program import Skipped, settings, test

# Each run takes 50 to 200 MiB, for inputs, outputs, the computation of the reference, and judging.
CASES = [
    ("scan", {"length": "128k", "channels": 16, "batch": 1}, "lookback"),
    ("memory", {"length": "8k", "d": 64, "batch": 2}, "exact_chunk"),
    ("attention", {"N": "2k", "H": 8, "backward": True, "window": 64}, "streaming"),
    ("btp", {"L": "4k", "H": 16, "backward": True}, "fused"),
    ("lut", {"batch": "4k", "inputs": 512, "outputs": 512, "detectors": 64}, "fused"),
    ("lut_sequence", {"batch": 4, "sequence_length": 32, "outputs": 128, "anchors_per_detector": 5, "detectors": 32},
     "fused"),
    ("ar_ssm", {"length": "2k", "d_model": 4, "max_rank": 256}, "fused"),
    ("ar_ssm", {"length": "3k", "d_model": 64, "max_rank": 64, "backward": True}, "unfused"),
]


def peak_bytes(program, words):
    """The peak, read while the program runs: the number at its end includes this process, which started it."""
    process = program.start(*words, stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        try:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            break
        if status.startswith("Name:\tsawtooth"):
            peak = max([peak, *map(int, re.findall(r"VmHWM:\s+(\d+) kB", status))])
        time.sleep(0.001)
    errors = process.communicate()[1]
    assert process.returncode == 0, (words, errors)
    return peak * 1024


@test
def the_estimate_of_memory_covers_what_a_run_takes(program):
    if program.patience > 1:
        raise Skipped("sanitizers take memory of their own")
    program("run", "scan", "--repeat", 1)  # the measuring of the machine has arrays of its own
    # The largest of several runs is used, because such a run ends within milliseconds.
    empty = max(peak_bytes(program, ["run", "scan", "--set", "length=16", "--repeat", "1"]) for _ in range(5))
    assert empty > 10 * 2**20, empty
    units = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
    for family, values, variant in CASES:
        words = ["run", family, *settings(values), "--variant", variant, "--repeat", "1"]
        refused = program(*words, "--memory-limit", 1).wants(1, "needs")
        number, unit = re.search(r"needs ([0-9.]+) (\w+)", refused.err).groups()
        estimate = float(number) * units[unit]
        peak = peak_bytes(program, words) - empty
        assert peak < 1.2 * estimate, f"{words}: took {peak / 2**20:.0f} MiB, expected {estimate / 2**20:.0f}"
        # The memory of a smaller run is lost in that of the program.
        assert peak > 40 * 2**20, f"{words}: took {peak / 2**20:.0f} MiB, too little to compare"
        print(f"        {family}: {peak / 2**20:.0f} MiB, estimated {estimate / 2**20:.0f}")
