"""Tests that several workers share a sweep, a bench, a check and a report, and that shards become one sweep."""
import csv
import io
import shlex
import signal

from program import LONG_SWEEP, first_cell_of_long_sweep, some_rows_of_long_sweep_are_kept, test
from worker import no_workers_left

LENGTHS = ["--over", "length=" + ",".join(str(n) for n in range(64, 64 + 12 * 32, 32))]
SWEEP = ["sweep", "scan", *LENGTHS, "--repeat", 2, "--threads", 1]


def two(program):
    """Two workers. Their commands differ, so that the table tells which one ran a cell."""
    command = f"{shlex.quote(program.path)} worker"
    return ["--on", command, "--on", f"exec {command}"]


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def samples(document):
    """The measured times of every cell, by its values."""
    return {str(cell["values"]): [variant["time_us"] for variant in cell["result"]["variants"]]
            for cell in document["cells"]}


@test
def several_workers_share_the_cells_of_a_sweep(program):
    document = program(*SWEEP, "--json", "--csv", "a.csv", *two(program)).wants(0).json()
    assert document["complete"] and len(document["cells"]) == 12
    assert [cell["values"]["length"] for cell in document["cells"]] == list(range(64, 64 + 12 * 32, 32))
    assert all(variant["verdict"] == "right" for cell in document["cells"] for variant in cell["result"]["variants"])
    assert all(cell["result"]["host"] for cell in document["cells"])
    workers = {row["worker"] for row in rows_of((program.folder / "a.csv").read_text())}
    names = set(two(program)[1::2])
    assert workers and workers <= names, workers  # one may have been too slow to get a cell
    no_workers_left(program)


@test
def a_lost_worker_is_said_and_its_cells_go_to_the_other(program):
    (program.folder / "hosts").write_text(f"# two workers\n\n  {shlex.quote(program.path)} worker\necho gone >&2; exit 7\n")
    done = program(*SWEEP, "--json", "--on-file", "hosts")
    assert done.code == 0 and len(done.json()["cells"]) == 12, done
    # If the good one was done first, nothing is said of the other one.
    assert done.err == "" or ("gone" in done.err and "1 of 2 workers continue" in done.err), done.err
    done = program(*SWEEP, "--on", "exit 7", "--on", "echo nobody home >&2; exit 8")
    assert done.code == 1 and "all 2 workers are lost" in done.err and done.out == "", done
    program(*SWEEP, "--best", *two(program)).wants(2, "--best", "one --on")
    program(*SWEEP, "--on-file", "absent").wants(2, "--on-file", "absent")
    (program.folder / "empty").write_text("# nobody\n")
    program(*SWEEP, "--on-file", "empty").wants(2, "--on-file", "empty", "no command")
    program("run", "scan", "--on", "a", "--on", "b").wants(2, "--on", "more than once")


@test
def an_interrupted_sweep_of_several_workers_keeps_its_rows_and_leaves_none(program):
    program.interrupt(first_cell_of_long_sweep(program), *LONG_SWEEP, *two(program))
    some_rows_of_long_sweep_are_kept(program)
    no_workers_left(program)


@test
def families_are_shared_among_workers(program):
    refused = ["bench", "scan", "btp", "--repeat", 1, "--memory-limit", "1MiB", "--json"]
    here, there = (program(*refused, *where).wants(1, "no case ran").json() for where in ([], two(program)))
    assert [(row["family"], row["variant"]) for row in here["cases"]] == \
        [(row["family"], row["variant"]) for row in there["cases"]] != []
    assert here["device"] == there["device"] and {row["host"] for row in there["cases"]} != {""}
    checked = program("check", "scan", "btp", "--seconds", 1, "--json", *two(program)).wants(0).json()
    assert [family["family"] for family in checked["families"]] == ["scan", "btp"]
    assert all(family["settings"] > 0 and not family["failures"] for family in checked["families"])
    assert program("report", "page", "scan", "btp", "--repeat", 2, *two(program)).wants(0).out == "page/index.html\n"
    page = (program.folder / "page" / "index.html").read_text()
    assert page.index('<section id="scan">') < page.index('<section id="btp">') and "could not" not in page
    no_workers_left(program)


@test
def shards_have_every_cell_once_and_join_to_the_whole_sweep(program):
    seen = []
    for number in range(1, 6):
        shard = program(*SWEEP, "--shard", f"{number}/5", "--session", f"out{number}.sawtooth", "--json").wants(0).json()
        assert not shard["complete"] and 0 < len(shard["cells"]) < 6
        seen += [cell["values"]["length"] for cell in shard["cells"]]
    assert sorted(seen) == list(range(64, 64 + 12 * 32, 32)), seen
    outs = [f"out{number}.sawtooth" for number in range(1, 6)]
    whole = program("join", *outs, "--session", "all.sawtooth", "--csv", "all.csv", "--json").wants(0).json()
    assert whole["complete"] and [cell["values"]["length"] for cell in whole["cells"]] == sorted(seen)
    assert whole["best"] == [] and len(rows_of((program.folder / "all.csv").read_text())) >= 12
    assert samples(program("join", "all.sawtooth", "--json").wants(0).json()) == samples(whole)
    missing = program("join", *outs[:3])
    assert missing.code == 1 and "cells are missing: length" in missing.err and "--resume" in missing.err, missing
    assert "lookback" in missing.out


@test
def a_shard_continues_where_it_was_interrupted(program):
    slow = ["sweep", "scan", "--over", "length=" + ",".join(str(n) for n in range(16000, 16012)), "--repeat", 20,
            "--session", "out.sawtooth"]
    process = program.start_until((program.folder / "out.sawtooth").exists, *slow)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=20 * program.patience)
    assert process.returncode == 130 and "of 12 cells done" in err, err
    part = program("join", "out.sawtooth", "--json")
    assert part.code == 1 and "cells are missing" in part.err, part
    kept = samples(part.json())
    assert 0 < len(kept) < 12, len(kept)
    program(*slow, "--resume", seconds=120).wants(0)
    whole = samples(program("join", "out.sawtooth", "--json").wants(0).json())
    assert len(whole) == 12 and all(whole[values] == kept[values] for values in kept)
    again = program(*slow, "--resume", "--json").wants(0).json()
    assert samples(again) == whole
    program(*slow, "--resume", "--seed", 7).wants(2, "out.sawtooth", "another sweep")


@test
def what_shards_need_is_said(program):
    program(*SWEEP, "--shard", "1/2").wants(2, "--shard", "--session")
    program(*SWEEP, "--resume").wants(2, "--resume", "--session")
    for wrong in ("0/2", "3/2", "1", "1/0", "a/b", "1/2/3", "-1/2"):
        program(*SWEEP, "--shard", wrong, "--session", "a.sawtooth").wants(2, "--shard", wrong, "K/N")
    program(*SWEEP, "--shard", "1/2", "--session", "a.sawtooth", "--best").wants(2, "--shard", "--best")
    assert program.names() == []
    program("join").wants(2, "join needs")
    program("join", "absent.sawtooth").wants(2, "absent.sawtooth")
    (program.folder / "b.sawtooth").write_bytes(b"no session")
    program("join", "b.sawtooth").wants(2, "b.sawtooth")
    program(*SWEEP, "--shard", "100/100", "--session", "a.sawtooth").wants(0)
    program("join", "a.sawtooth").wants(1, "12 of 12 cells are missing")
