"""Tests subcommands, options, exit codes, and runs that end early."""
import csv
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import time
from html.parser import HTMLParser

from program import (LONG_SWEEP, Skipped, first_cell_of_long_sweep, some_rows_of_long_sweep_are_kept, test,
                     with_fake_gpu)

QUICK = ["--repeat", 1, "--set", "length=64"]
LONG = ["--set", "length=65536", "--set", "channels=64", "--set", "batch=4", "--repeat", 100000]


@test
def help_and_version_are_answered(program):
    assert re.fullmatch(r"sawtooth \d+\.\d+\.\d+(\+[\w.-]+)?\n", program("--version").wants(0).out)
    for words in ([], ["list"], ["run"], ["sweep"], ["join"], ["compare"], ["report"], ["open"], ["shot"], ["bench"],
                  ["devices"], ["worker"]):
        done = program(*words, "--help").wants(0)
        assert "Usage" in done.out and done.err == ""


@test
def libraries_in_the_current_folder_are_not_loaded(program):
    listed = subprocess.run(["ldd", program.path], capture_output=True, text=True).stdout
    needed = re.findall(r"^\s*(lib\S+) =>", listed, re.M)
    assert len(needed) > 3, listed
    for name in needed:
        pathlib.Path(program.file(name)).write_bytes(b"no library")
    program("--version").wants(0)


@test
def a_wrong_command_line_is_exit_2_in_one_line(program):
    for words, *said in (
        (["frobnicate"], "frobnicate", "sweep"),
        (["runn"], "runn", "Did you mean run?"),
        (["worker", "scan"], "scan"),
        (["run"], "FAMILY"),
        (["run", "nothing"], "nothing", "scan"),
        (["run", ""], "family", "scan"),
        (["report", ""], "report needs DIR"),
        (["open", ""], "open needs FILE.sawtooth"),
        (["join", "a.sawtooth", ""], "the name of a file is an empty text"),
        (["run", "memry"], "memry is not a family. Did you mean memory?", "scan"),
        (["run", "scan", "--sede", "1"], "--sede", "Did you mean --seed?"),
        (["run", "scan", "--preset", ""], "--preset"),
        (["run", "scan", "--frobnicate"], "--frobnicate"),
        (["run", "scan", "--set"], "--set"),
        (["run", "scan", "--set", "length"], "NAME=VALUE"),
        (["run", "scan", "--set", "lenght=4"], "lenght", "length"),
        (["run", "scan", "--set", "length=0"], "length", "1 to"),
        (["run", "scan", "--set", "length=many"], "length", "many"),
        (["run", "scan", "--set", "op=mean"], "op", "mean", "sum"),
        (["run", "scan", "--set", "length=1", "--set", "length=2"], "length", "twice"),
        (["run", "scan", "--set", "compensated=true", "--set", "op=max"], "compensated"),
        (["run", "scan", "--preset", "nothing"], "nothing", "paper"),
        (["run", "scan", "--threads", "0"], "--threads", "0"),
        (["run", "scan", "--repeat", "0"], "--repeat", "0"),
        (["run", "scan", "--device", "1"], "--device", "1"),
        (["run", "scan", "--cache", "warm"], "--cache", "warm", "cold"),
        (["run", "scan", "--profile", "deep"], "--profile", "deep"),
        (["run", "scan", "--backend", "tpu"], "--backend", "tpu"),
        (["run", "scan", "--time-limit", "-1"], "--time-limit"),
        (["run", "scan", "--memory-limit", "much"], "--memory-limit", "much"),
        (["sweep", "scan"], "--over"),
        (["sweep", "scan", "--over", "length"], "--over"),
        (["sweep", "scan", "--over", "nothing=1"], "nothing"),
        (["sweep", "scan", "--over", "length=1,x"], "x"),
        (["sweep", "scan", "--over", "length=1", "--preset", "nothing"], "nothing", "paper"),
        (["sweep", "scan", "--over", "length=1", "--variant", "nothing"], "nothing", "lookback"),
        (["sweep", "scan", "--over", "length=1", "--input", "nothing.npz"], "nothing.npz"),
        (["sweep", "scan", "--over", "length=1", "--set", "length=2"], "length"),
        (["sweep", "scan", "--over", "length=1", "--over", "length=2"], "length"),
        (["sweep", "scan", "--over", "length=1", "--csv", "-", "--json"], "--csv"),
        (["report"], "DIR"),
        (["report", "r", "nothing"], "nothing"),
        (["report", "r", "--set", "rule=titans"], "--set", "one family"),
        (["report", "r", "scan", "--preset", "papr"], "papr", "Did you mean paper?"),
        (["bench", "nothing"], "nothing"),
        (["report", "r", "--from", "a.sawtooth", "--allow-wrong"], "--allow-wrong", "runs nothing"),
        (["bench", "window", "--csv", "a"], "--csv", "bench window"),
        (["bench", "window", "--trials", "9"], "--trials has no effect on bench window"),
        (["bench", "window", "--allow-wrong"], "--allow-wrong has no effect on bench window"),
        (["bench", "window", "--on-file", "hosts"], "--on-file has no effect on bench window"),
        (["bench", "window", "--on", "false", "--on", "true"], "one --on"),
        (["bench", "verdicts", "--markdown", "a"], "--markdown", "bench verdicts"),
        (["bench", "verdicts", "--on", "false"], "--on has no effect on bench verdicts"),
        (["bench", "verdicts", "--on-file", "hosts"], "--on-file has no effect on bench verdicts"),
        (["bench", "verdicts", "--profile", "none"], "--profile has no effect on bench verdicts"),
        (["bench", "verdicts", "--arch", "sm_90a"], "--arch has no effect on bench verdicts"),
        (["bench", "verdicts", "--allow-wrong"], "--allow-wrong has no effect on bench verdicts"),
        (["bench", "window", "nothing"], "nothing"),
        (["bench", "scan", "window"], "window"),
        (["shot"], "FILE.png"),
        (["shot", "a.jpg"], "a.jpg", ".png"),
        (["shot", "a.png", "--size", "big"], "--size", "big"),
        (["shot", "a.png", "--scale", "9"], "--scale", "9"),
        (["--theme", "pink"], "--theme", "pink"),
        (["--theme", "dark", "list"], "--theme"),
    ):
        program(*words).wants(2, *said)
    assert program.names() == []


@test
def what_cannot_be_done_here_is_exit_1(program):
    program.environment["SAWTOOTH_WITHOUT"] = "driver"
    program("run", "scan", "--backend", "cuda").wants(1, "cuda")
    program("run", "scan", "--memory-limit", "1KiB").wants(1, "memory")
    program("run", "scan", *LONG, "--time-limit", "0.3").wants(1, "time limit")
    program().wants(1, "shot", "report")


@test
def the_other_backends_and_profiles_are_notes(program):
    program.environment["SAWTOOTH_WITHOUT"] = "driver"
    for words in (["--backend", "auto"], ["--profile", "counters"], ["--profile", "sampling"]):
        document = program("run", "scan", *QUICK, *words, "--json").wants(0).json()
        assert document["backend"] == "cpu" and document["notes"], words
    assert program("run", "scan", *QUICK, "--json").wants(0).json()["notes"] == []


@test
def families_are_listed_with_their_schema(program):
    families = program("list", "--json").wants(0).json()["families"]
    scan = next(f for f in families if f["name"] == "scan")
    defaults = {p["name"]: p["default"] for p in scan["parameters"]}
    for name, value in {"batch": 2, "length": 4096, "channels": 16, "op": "sum", "direction": "forward",
                        "block_size": "auto", "compensated": False, "dtype": "f32", "distribution": "normal"}.items():
        assert defaults[name] == value, name
    assert scan["presets"][0] == {"name": "paper", "values": {"batch": 4, "length": 8192, "channels": 512}}
    for family in families:
        assert all(v["backends"] for v in family["variants"]), family["name"]
        for parameter in family["parameters"]:
            assert "choices" in parameter or ("min" in parameter and "max" in parameter), parameter
            assert parameter["applies"] is None or all(isinstance(words, str) for words in parameter["applies"])
    memory = {p["name"]: p for p in next(f for f in families if f["name"] == "memory")["parameters"]}
    assert memory["slot_count"]["applies"] == ["only for rule lattice"] and memory["length"]["applies"] is None
    assert memory["chunk"]["ends_at"] == "length" and memory["omega_window"]["ends_at"] is None
    text = program("list").wants(0).out
    assert "only for rule lattice" in text and "up to length" in text and "only on CUDA" in text
    two = program("list", "scan", "memory", "--json").wants(0).json()["families"]
    assert [family["name"] for family in two] == ["scan", "memory"] and "title" in two[0]["parameters"][0]
    assert program("list", "scan").wants(0).out.startswith("scan: ")
    program("list", "memry").wants(2, "Did you mean memory?")
    everything = program("list", "--json").wants(0).json()["families"]
    assert len(everything) == 7 and "scan" in program("list").wants(0).out


@test
def what_has_no_effect_is_a_note(program):
    words = ["memory", "--set", "d=4", "--set", "rule=titans"]
    done = program("run", *words, *QUICK, "--set", "slot_count=4", "--set", "chunk=4096", "--json").wants(0).json()
    assert done["notes"][0] == "slot_count has no effect: only for rule lattice", done["notes"]
    assert not any("chunk has no effect" in note for note in done["notes"])
    assert done["unused_parameters"]["slot_count"] == "only for rule lattice"
    assert done["unused_parameters"]["launch"] == "only on CUDA" and "chunk" not in done["unused_parameters"]
    assert done["parameters"]["slot_count"] == 4 and done["parameters"]["chunk"] == 4096
    assert "slot_count has no effect" in program("run", *words, *QUICK, "--set", "slot_count=4").wants(0).out
    swept = program("sweep", *words, *QUICK, "--over", "slot_count=4,8").wants(0)
    assert swept.err == "sawtooth: note: slot_count has no effect: only for rule lattice\n", swept.err


@test
def devices_are_told(program):
    devices = program("devices", "--json").wants(0).json()
    assert devices["cpu"]["cores"] >= 1 and devices["counters"]["allowed"] is False and devices["counters"]["reason"]
    assert devices["cpu"]["name"] in program("devices").wants(0).out


@test
def a_run_prints_a_table_that_fits_a_terminal(program):
    done = program("run", "scan", "--repeat", 3).wants(0)
    assert done.err == "" and "lookback" in done.out
    assert max(map(len, done.out.splitlines())) <= 120, done.out


@test
def a_run_says_how_it_was_measured_and_how_many_launches_it_leaves_out(program):
    heading, rest = program("run", "scan", *QUICK).wants(0).out.split("\n", 1)
    assert heading.endswith(", seed 1") and "more; --json" not in rest, heading
    unusual = ["--cache", "hot", "--jitter", 3, "--multiprocessors", 2, "--optional"]
    heading = program("run", "scan", *QUICK, *unusual).wants(0).out.split("\n", 1)[0]
    assert heading.endswith(", seed 1, optional inputs too, caches hot, jitter 3, 2 multiprocessors"), heading
    out = program("run", "memory", *QUICK, "--set", "d=4", "--variant", "sequential").wants(0).out
    assert out.count("\ntoken ") == 40 and "\n... and 24 more; --json lists up to 16384 launches\n" in out, out


@test
def a_preset_and_a_setting_over_it_are_in_force(program):
    words = ["--set", "length=128", "--set", "channels=4", "--repeat", 1]
    parameters = program("run", "scan", "--preset", "paper", *words, "--json").wants(0).json()["parameters"]
    assert (parameters["batch"], parameters["length"], parameters["channels"]) == (4, 128, 4)


@test
def a_sweep_writes_the_same_rows_everywhere(program):
    done = program("sweep", "scan", "--over", "length=32,64,128", "--over", "block_size=auto,256", "--repeat", 1,
                   "--csv", "a.csv", "--json-file", "a.json", "--markdown", "-").wants(0)
    document = json.loads((program.folder / "a.json").read_text())
    assert document["complete"] and len(document["cells"]) == 6
    assert [c["values"] for c in document["cells"]][:2] == [{"length": 32, "block_size": "auto"},
                                                           {"length": 32, "block_size": 256}]
    rows = list(csv.reader(io.StringIO((program.folder / "a.csv").read_text())))
    variants = len(document["cells"][0]["result"]["variants"])
    assert len(rows) == 1 + 6 * variants
    assert done.out.startswith("|") and len(done.out.splitlines()) == 2 + 6 * variants
    assert program("sweep", "scan", "--over", "op=sum,max", *QUICK, "--json").wants(0).json()["axes"][0]["values"] == \
        ["sum", "max"]


@test
def values_of_a_sweep_may_be_ranges_and_move_together(program):
    words = ["memory", "--set", "d=4", "--set", "length=2*128", "--repeat", 1]
    document = program("sweep", *words, "--over", "chunk,C_G=16..64", "--json").wants(0).json()
    assert document["axes"][0] == {"parameter": "chunk", "also": ["C_G"], "values": [16, 32, 64]}
    assert [cell["values"] for cell in document["cells"]] == [{"chunk": n, "C_G": n} for n in (16, 32, 64)]
    assert document["cells"][0]["result"]["parameters"]["length"] == 256
    table = program("sweep", *words, "--over", "chunk,C_G=16..64+48", "--csv", "a.csv").wants(0).out
    rows = list(csv.DictReader((program.folder / "a.csv").open()))
    assert {(row["chunk"], row["C_G"]) for row in rows} == {("16", "16"), ("64", "64")}
    assert all(row["speed-up"] and row["launches"] for row in rows if not row["skipped"]), rows
    assert "fastest sequential: chunk and C_G 16 or 64 (" in table or "fastest sequential: chunk and C_G 64" in table, table
    program("sweep", *words, "--over", "chunk=64..16").wants(2, "chunk = 64..16", "must not be above the last")
    program("sweep", *words, "--over", "chunk=64..").wants(2, "chunk = 64..", "FIRST..LAST")


@test
def options_of_a_measurement_are_refused_beside_a_recording(program):
    recorded = ["run", "scan", "--recording", "h200-2026-11"]
    for option in (["--repeat", 3], ["--arch", "sm_80"], ["--kernels", "/tmp"], ["--profile", "none"], ["--jitter", 4],
                   ["--multiprocessors", 3], ["--device", 0]):
        program(*recorded, *option).wants(2, "--recording", f"cannot be combined with {option[0]}")
    cells = program("sweep", "scan", "--recording", "h200-2026-11", "--over", "block_size=256,512").wants(0)
    assert "outputs were not computed: a sweep shows none" in cells.out, cells.out
    run = program(*recorded, "--memory-limit", 1000).wants(0)
    assert "outputs were not computed: out of memory" in " ".join(run.out.split()), run.out


@test
def a_search_ends_with_the_best_and_exports_it(program):
    words = ["attention", "--set", "N=128", "--threads", 1, "--over", "BLOCK_M=32,64", "--over", "BLOCK_N=16..64"]
    document = program("sweep", *words, "--best", "--json").wants(0).json()
    assert document["search"] and document["complete"] and len(document["cells"]) == 6
    for best in document["best"]:
        cells = [best["values"], *best["others"], *best["left_out"]]
        assert len(cells) <= 6 and all(set(cell) == {"BLOCK_M", "BLOCK_N"} for cell in cells), best
        assert len(best["time_us"]["samples"]) >= 6
    tuned = program("sweep", *words, "--best", "--variant", "streaming", "--export", "json").wants(0).json()
    assert tuned["best"][0]["parameters"]["N"] == 128 and tuned["best"][0]["variant"] == "streaming"
    sizes = ["scan", "--over", "length=64,128", "--set", "channels=2"]
    assert program("sweep", *sizes, "--json").wants(0).json()["best"] == []
    for option in (["--export", "json"], ["--best"]):
        program("sweep", *sizes, *option).wants(2, option[0], "cells that differ in length do different work")
    for over in ("backward=false,true", "causal=false,true", "window=16,64"):
        name = over.split("=")[0]
        program("sweep", "attention", "--set", "N=128", "--over", over, "--best").wants(2, f"cells that differ in {name}")
    program("sweep", "scan", "--over", "block_size=256,512", "--recording", "h200-2026-11", "--best").wants(2, "recording")
    program("sweep", "memory", "--over", "readout=evolving,boundary", "--export", "triton").wants(2, "readout is none")
    refused = [*words, "--memory-limit", "1KiB", "--csv", "refused.csv", "--export", "triton"]
    program("sweep", *refused).wants(1, "no variant has right results")
    assert program.names() == ["refused.csv"], "the other documents are written all the same"
    text = program("sweep", *words, "--variant", "streaming", "--export", "triton").wants(0).out
    assert re.search(r'^triton\.Config\(\{"BLOCK_M": (32|64), "BLOCK_N": (16|32|64)\}\)$', text, re.M), text
    assert all(line.startswith(("#", "triton.Config(")) for line in text.splitlines())
    program("sweep", "ar_ssm", "--over", "max_rank=4..8", "--export", "triton").wants(2, "no tiling parameters")
    shard = ["--variant", "streaming", "--shard", "1/2", "--session", "a.sawtooth", "--export"]
    assert "# not measured: 3 of 6 settings\n" in program("sweep", *words, *shard, "triton").wants(0).out
    assert program("sweep", *words, *shard, "json").wants(0).json()["complete"] is False


@test
def repeats_too_few_to_tell_times_apart_are_noted(program):
    words = ["scan", "--set", "length=64", "--variant", "lookback", "--variant", "sequential"]
    sweep = ["sweep", *words, "--over", "channels=4,8"]
    for few in (["run", *words], sweep):
        assert "note: 5 repeats are too few to tell times apart; use at least 6" in program(*few, "--repeat", 5).wants(0).out
        assert "too few" not in program(*few, "--repeat", 6).wants(0).out
    tiles = ["sweep", *words, "--over", "block_size=128,256"]
    assert "too few" not in program(*tiles, "--best", "--repeat", 5).wants(0).out
    assert "too few" not in program("run", *words[:-2], "--repeat", 1).wants(0).out


@test
def a_sweep_of_which_no_cell_ran_is_exit_1(program):
    sweep = ["sweep", "scan", "--over", "block_size=128,256", "--memory-limit", "1KiB"]
    program(*sweep).wants(1, "no cell ran", "memory")
    program(*sweep, "--export", "json").wants(1)


@test
def refused_cells_are_rows_with_their_reason(program):
    document = program("sweep", "scan", "--over", "op=sum,max", "--set", "compensated=true", *QUICK, "--json").wants(0).json()
    assert document["cells"][0]["refused"] is None and "compensated" in document["cells"][1]["refused"]
    table = program("sweep", "scan", "--over", "op=max,min", "--set", "compensated=true", *QUICK).wants(0).out
    assert len(table.splitlines()) == 3 and "compensated" in table


@test
def wrong_outputs_are_exit_4_in_one_line_unless_they_are_allowed(program):
    if program.patience > 1:
        raise Skipped("the fake GPU has sanitizers")
    with_fake_gpu(program)
    on_gpu = [*QUICK, "--backend", "cuda", "--cache-dir", "cache"]  # its kernels must not become those of a real GPU
    run = ["run", "scan", *on_gpu]
    done = program(*run, "--output", "out.npz").wants(4, "y is wrong", "--allow-wrong")
    assert "wrong" in done.out and "Fake GPU" in done.out and "out.npz" in program.names(), done.out
    allowed = program(*run, "--allow-wrong").wants(0)
    assert "wrong" in allowed.out and allowed.err == "", allowed
    verdicts = [variant["verdict"] for variant in program(*run, "--json").wants(4).json()["variants"]]
    assert verdicts and set(verdicts) == {"wrong"}, verdicts
    sweep = ["sweep", "scan", "--over", "channels=2,3", *on_gpu]
    program(*sweep).wants(4, "--allow-wrong")
    program(*sweep, "--allow-wrong").wants(0)
    report = ["report", "page", "scan", *on_gpu]
    done = program(*report, "--session", "lab.sawtooth").wants(4, "scan, ", "y is wrong", "--allow-wrong")
    assert done.out == "page/index.html\n" and "lab.sawtooth" in program.names(), done
    program(*report, "--allow-wrong").wants(0)
    program("report", "page", "--from", "lab.sawtooth").wants(0)  # it runs nothing
    # The limit leaves the smallest cases.
    bench = ["bench", "scan", "--repeat", 1, "--memory-limit", "75MiB", "--backend", "cuda", "--cache-dir", "cache"]
    bad = program(*bench, "--json")
    assert bad.code == 4 and "y is wrong" in bad.err and "--allow-wrong" in bad.err, bad
    assert "wrong" in {case["verdict"] for case in bad.json()["cases"]}, bad.out
    program(*bench, "--allow-wrong").wants(0)


@test
def an_interrupted_run_is_exit_130_and_writes_nothing(program):
    assert program.interrupt(1.5, "run", "scan", *LONG, "--json", "--output", "out.npz") == ""
    assert program.names() == []


@test
def an_interrupted_reference_is_exit_130(program):
    shape = ["--set", "length=1000000", "--set", "op=linear", "--repeat", 100]
    program.interrupt(0.5, "run", "scan", *shape)


def long_sweep_keeps_its_rows_after(program, signals):
    process = program.start_until(first_cell_of_long_sweep(program), *LONG_SWEEP)
    for number in signals:
        process.send_signal(number)
        time.sleep(0.005)
    err = process.communicate(timeout=20 * program.patience)[1]
    assert process.returncode == 130 and "cancelled" in err, (process.returncode, err)
    assert err.startswith("sawtooth: ") and err.count("\n") == 1, err
    some_rows_of_long_sweep_are_kept(program)


@test
def an_interrupted_sweep_keeps_its_finished_rows(program):
    long_sweep_keeps_its_rows_after(program, [signal.SIGINT])


@test
def a_sweep_that_timeout_ends_keeps_its_finished_rows(program):
    # timeout sends its signal to the process, then to its group.
    long_sweep_keeps_its_rows_after(program, [signal.SIGTERM, signal.SIGTERM])


@test
def measuring_the_machine_hears_ctrl_c_and_the_time_limit(program):
    lut = ["run", "lut", "--threads", 64]
    for step, seconds in enumerate((0.1, 0.2, 0.4)):
        program.interrupt(seconds, *lut, "--cache-dir", f"cache{step}")
    program(*lut, "--cache-dir", "cache", "--time-limit", 0.3, seconds=10).wants(1, "time limit", "did not finish within")


@test
def an_interrupted_picture_is_exit_130_and_writes_nothing(program):
    program.interrupt(1.5, "shot", "a.png", "--family", "scan", *LONG)
    assert program.names() == []


@test
def a_sweep_interrupted_in_its_first_cell_leaves_an_older_file(program):
    (program.folder / "a.csv").write_text("older")
    shape = ["--over", "length=1000000,1000001", "--set", "op=linear", "--repeat", 1000]
    program.interrupt(0.5, "sweep", "scan", *shape, "--csv", "a.csv")
    assert (program.folder / "a.csv").read_text() == "older"
    search = ["--over", "block_size=256,512", "--set", "length=1000000", "--set", "op=linear", "--best"]
    program.interrupt(0.5, "sweep", "scan", *search, "--session", "lab.sawtooth")
    assert program.names() == ["a.csv"], program.names()


@test
def a_reader_that_goes_away_ends_the_program_quietly(program):
    read, write = os.pipe()
    os.close(read)
    process = program.start("list", "--json", stdout=write)
    os.close(write)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 0 and err == "", (process.returncode, err)


@test
def standard_output_that_is_full_is_a_failure(program):
    with open("/dev/full", "w") as full:
        process = program.start("list", stdout=full)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 1 and err.count("\n") == 1, (process.returncode, err)


class Page(HTMLParser):
    VOID = {"meta", "link", "br", "img", "hr"}

    def __init__(self):
        super().__init__()
        self.open, self.count, self.links = [], {}, []

    def handle_starttag(self, tag, attributes):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.links += [v for k, v in attributes if k in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.count[tag] = self.count.get(tag, 0) + 1

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"


@test
def a_report_is_one_page_without_a_network(program):
    done = program("report", "report", "scan", "--repeat", 1, "--json", seconds=200).wants(0)
    assert done.json() == {"written": ["report/index.html"]}
    assert os.listdir(program.folder / "report") == ["index.html"]
    text = (program.folder / "report" / "index.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    assert page.open == [] and page.count["figure"] >= 5 and page.count["table"] >= 2, page.count
    assert all(link.startswith("#") for link in page.links), page.links
    assert not re.search(r"url\(|@import|<script", text)
    assert "sawtooth run scan" in text
    assert not any("nan" in path for path in re.findall(r'\bd="[^"]*"', text))
    program("report", "report", "scan", "--repeat", 1, seconds=200).wants(0)


@test
def a_report_of_one_experiment_tells_approximations_from_wrong_results(program):
    program("report", "one", "memory", "--set", "d=4", "--set", "chunk=256", "--variant", "sequential", "--variant",
            "chunkwise_gd", "--repeat", 1, seconds=200).wants(0)
    text = (program.folder / "one" / "index.html").read_text(encoding="utf-8")
    assert "Run with chunk 256, d 4." in text and "Fastest correct result: sequential" in text
    assert ">approximation</th>" in text and '<span class="wrong">' not in text
    assert not re.search(r"\b(click|hover|drag|press)", text, re.I)


@test
def a_variant_that_cannot_run_is_told_once(program):
    out = program("run", "memory", *QUICK).wants(0).out
    assert out.count("lattice_gla") == 1 + out.count(": lattice_gla"), out
    assert "lattice_gla skipped: " in out
    swept = program("sweep", "memory", *QUICK, "--over", "chunk=16,32").wants(0).out
    assert swept.count("lattice_gla skipped: ") == 1 and len(re.findall("^ *(16|32)  lattice_gla", swept, re.M)) == 0
    assert len(re.findall("^ *(16|32)  chunkwise_gd", swept, re.M)) == 2, swept
