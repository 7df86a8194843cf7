"""The tour of the README, typed in its order in an empty folder."""
import pathlib
import re
import shlex

from program import test

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"


def commands():
    tour = re.search(r"<!-- tour -->\n(.*?)<!-- end -->", README.read_text(encoding="utf-8"), re.S).group(1)
    lines = [shlex.split(line, comments=True) for line in tour.splitlines() if line.startswith("    sawtooth ")]
    assert len(lines) >= 10, lines
    return lines


@test
def every_command_of_the_tour_works(program):
    for words in commands():
        done = program(*words[1:], seconds=200)
        if words[1] == "shot" and done.code == 1 and "EGL" in done.err:
            continue  # the tests of the window say that EGL is missing
        done.wants(0)
    for name in ("chunks.csv", "scan.npz", "report", "delta", "speed.md"):
        assert name in program.names(), (name, program.names())


@test
def no_line_of_a_bench_is_wider_than_a_screen(program):
    markdown = program("bench", "memory", "--repeat", 1, "--markdown", "-", seconds=200).wants(0).out
    assert max(map(len, markdown.splitlines())) <= 100, markdown
    cases = program("bench", "memory", "--repeat", 1, "--json", seconds=200).wants(0).json()["cases"]
    assert len(cases) == len(markdown.splitlines()) - 2
    assert all(case["bound"]["by"] in ("bytes", "arithmetic", "steps") for case in cases)


@test
def bench_window_measures_a_family_that_has_no_kernel_to_change(program):
    done = program("bench", "window", "lut", "--repeat", 1, "--json", seconds=200)
    if done.code == 1 and "EGL" in done.err:
        return  # the tests of the window say that EGL is missing
    lut, = done.wants(0).json()["families"]
    assert lut["family"] == "lut" and lut["problem"] == "" and lut["frame_ms"] and lut["sliders"], lut
