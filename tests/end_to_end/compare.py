"""Tests sawtooth compare: its settings, exit codes and documents. No test needs a quiet machine."""
import re
import xml.etree.ElementTree as tree

from program import test
from scan import VARIANTS

SMALL = ["--set", "length=256", "--set", "channels=2", "--set", "batch=1", "--threads", 1, "--repeat", 3]
EXIT_CODES = {"same_or_faster": 0, "slower": 3, "wrong": 4, "cannot_tell": 5}


@test
def what_cannot_be_compared_is_exit_2(program):
    for words, *said in (
        ([], "FAMILY", "A.sawtooth B.sawtooth"),
        (["a.sawtooth"], "two session files"),
        (["scan", "memory", "lut"], "two session files"),
        (["scan"], "--b NAME=VALUE"),
        (["scan", "memory"], "compare takes one family", "scan is a family"),
        (["memry", "--b", "length=4"], "memry is not a family. Did you mean memory?"),
        (["scan", "--b", "length"], "NAME=VALUE"),
        (["scan", "--b", "length=0"], "length = 0"),
        (["scan", "--b", "variant=lookback"], "--a variant=NAME"),
        (["scan", "--a", "variant=nothing", "--b", "variant=lookback"], "A: ", "nothing"),
        (["scan", "--b", "op=max", "--on", "sawtooth worker"], "--on is not an option of compare"),
        (["scan", "--b", "op=max", "--json", "--markdown", "-"], "--markdown"),
        (["scan", "--b", "op=max", "--junit", "a", "--markdown", "a"], "--junit"),
        (["a.sawtooth", "b.sawtooth"], "a.sawtooth"),
        (["a.sawtooth", "b.sawtooth", "--set", "length=4"], "--set"),
    ):
        program("compare", *words).wants(2, *said)
    assert program.names() == []


@test
def a_comparison_is_told_in_all_documents(program):
    done = program("compare", "scan", *SMALL, "--b", "length=512", "--json", "--junit", "a.xml", "--markdown", "a.md")
    document = done.json()
    assert done.code == EXIT_CODES[document["conclusion"]] == document["exit_code"], done
    if done.code:
        done.wants(done.code, document["sentence"])
    assert document["a"] == "the settings of both" and document["b"] == "length=512"
    variants = document["variants"]
    assert len(variants) == len(VARIANTS) and not document["not_compared"]
    for variant in variants:
        assert variant["a"]["parameters"]["length"] == 256 and variant["b"]["parameters"]["length"] == 512
        for side in ("a", "b"):
            rounds = variant[side]["time_us"]["rounds"]
            assert len(rounds) == 9 and all(len(samples) == 3 for samples in rounds)
            assert min(map(min, rounds)) <= variant[side]["time_us"]["median"] <= max(map(max, rounds))
        assert variant["ratio"]["b_over_a"] > 0 and variant["pace"] in ("faster", "slower", "same", "cannot_tell")
    suites = tree.parse(program.folder / "a.xml").getroot()
    cases = suites.findall("testsuite/testcase")
    assert [case.get("name") for case in cases] == [variant["name"] for variant in variants]
    failed = [case.get("name") for case in cases if case.find("failure") is not None]
    assert failed == [v["name"] for v in variants if v["conclusion"] in ("slower", "wrong")]
    assert int(suites.get("failures")) == len(failed) and int(suites.get("tests")) == 5
    text = (program.folder / "a.md").read_text()
    assert text.startswith(f"**{document['sentence']}**") and text.count("\n| scan ") == 5


@test
def a_large_difference_is_slower_or_faster_and_has_an_exit_code(program):
    many = ["--b", "length=65536", "--variant", "sequential"]
    slower = program("compare", "scan", *SMALL, *many).wants(3, "B is slower than A in 1 of 1 variant")
    assert re.search(r"^A: the settings of both\nB: length=65536\nin turns, 9 rounds of 3 repeats\n", slower.out)
    assert "x slower" in slower.out
    few = ["--a", "length=65536", "--variant", "sequential", "--junit", "-"]
    faster = program("compare", "scan", *SMALL, *few).wants(0)
    assert faster.err == "" and tree.fromstring(faster.out).get("failures") == "0"


@test
def a_backend_that_one_side_cannot_have_is_exit_1(program):
    program.environment["SAWTOOTH_WITHOUT"] = "driver"
    program("compare", "scan", *SMALL, "--b", "backend=cuda").wants(1, "B: ", "cuda")


@test
def an_interrupted_comparison_is_exit_130_and_writes_nothing(program):
    long = ["--set", "length=65536", "--set", "channels=64", "--repeat", 100000, "--variant", "lookback"]
    assert program.interrupt(2, "compare", "scan", *long, "--b", "block_size=512", "--junit", "a.xml") == ""
    assert program.names() == []
