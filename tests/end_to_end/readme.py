"""Types the commands of the README in their order in an empty folder."""
import csv
import math
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

from program import Skipped, test

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"


def commands():
    tour = re.search(r"<!-- tour -->\n(.*?)<!-- end -->", README.read_text(encoding="utf-8"), re.S).group(1)
    lines = [shlex.split(line, comments=True) for line in tour.splitlines() if line.startswith("    sawtooth ")]
    assert len(lines) >= 10, lines
    return lines


def few_repeats(words):
    """The repeats to add, as no times are checked here. A bench has two, so that its table has spreads."""
    measures = words[1] in ("run", "sweep", "report", "shot", "bench")
    if not measures or any(option in words for option in ("--repeat", "--best", "--from")):
        return []
    return ["--repeat", 2 if words[1] == "bench" else 1]


@test
def every_command_of_the_tour_works(program):
    for words in commands():
        little = program.with_little_memory() if words[1] == "devices" else {}
        done = program(*words[1:], *few_repeats(words), seconds=200, **little)
        if words[1] == "shot" and done.code == 1 and "EGL" in done.err:
            continue  # the tests of the window say that EGL is missing
        done.wants(0)
    for name in ("chunks.csv", "scan.npz", "report", "delta", "lab.sawtooth", "page", "speed.md"):
        assert name in program.names(), (name, program.names())
    table = (program.folder / "speed.md").read_text(encoding="utf-8").splitlines()
    assert max(map(len, table)) <= 112, table  # no wider than a screen


@test
def documents_of_a_bench_have_the_same_cases(program):
    words = ("bench", "btp", "--repeat", 1, "--markdown", "table.md", "--json")
    cases = program(*words, seconds=200).wants(0).json()["cases"]
    lines = (program.folder / "table.md").read_text(encoding="utf-8").splitlines()
    assert len(cases) == len(lines) - 2
    assert all(case["bound"]["by"] in ("bytes", "arithmetic", "steps") for case in cases)


@test
def bench_window_measures_a_family_that_has_no_kernel_to_change(program):
    done = program("bench", "window", "lut", "--repeat", 1, "--json", seconds=200)
    if done.code == 1 and "EGL" in done.err:
        raise Skipped("EGL is missing")
    lut, = done.wants(0).json()["families"]
    assert lut["family"] == "lut" and lut["problem"] == "" and lut["frame_ms"] and lut["sliders"], lut


DOCS = README.parent / "docs"


@test
def times_that_about_quotes_are_those_of_the_table(program):
    program("run", "memory", "--repeat", 1, "--set", "length=64", "--session", "lab.sawtooth").wants(0)
    program("report", "report", "--from", "lab.sawtooth").wants(0)
    page = (program.folder / "report" / "index.html").read_text(encoding="utf-8")
    quoted = re.search(r"on an H200 it takes (\d+) us where exact_chunk takes (\d+) us", page).groups()
    with open(DOCS / "speed-h200.csv", encoding="utf-8", newline="") as table:
        times = {row["variant"]: float(row["time (us)"]) for row in csv.DictReader(table)
                 if row["case"] == "delta [4, 1024, 64]"}
    assert quoted == tuple(f"{times[name]:.0f}" for name in ("sequential_persistent", "exact_chunk")), (quoted, times)


@test
def the_page_of_speed_is_made_of_its_tables(program):
    for file in DOCS.glob("speed*"):
        if file.suffix in (".csv", ".py"):
            shutil.copy(file, program.folder)
    subprocess.run([sys.executable, "speed.py"], cwd=program.folder, check=True)
    made = {file.name: file.read_bytes() for file in program.folder.glob("speed*")}
    kept = {file.name: file.read_bytes() for file in DOCS.glob("speed*")}
    assert made == kept, {name for name in made.keys() | kept.keys() if made.get(name) != kept.get(name)}


def microseconds(words):
    number, unit = words.split()[:2]
    return float(number) * {"us": 1, "ms": 1e3}[unit]


@test
def the_short_table_of_speed_agrees_with_the_tables(program):
    kept = {}
    for machine, file in {"Xeon, 2 threads": "speed-cpu.csv", "H200": "speed-h200.csv"}.items():
        for row in csv.DictReader((DOCS / file).read_text(encoding="utf-8").splitlines()):
            sizes = re.sub(r"\[(.*?)\]", lambda found: found[1].replace(", ", "x"), row["case"])
            if not row.get("launch"):
                kept[f"{row['family']} {sizes}", row["variant"], machine] = float(row["time (us)"])
    table = re.search(r"\| case .*?\n\n", README.read_text(encoding="utf-8"), re.S).group(0).splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table if line]
    assert len(rows) >= 10
    for case, variant, machine, time, _ in rows:
        of_table = kept[case, variant, machine]  # with four digits; the README has three
        assert math.isclose(microseconds(time), of_table, rel_tol=5e-3), (case, variant, machine)
