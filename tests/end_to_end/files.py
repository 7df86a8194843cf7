"""Tests input and output files: malformed archives, full disks, folders without permission."""
import io
import os
import resource
import signal
import struct
import zipfile

import numpy as np

from program import as_nobody, load, Skipped, test


def npy(array, **options):
    text = io.BytesIO()
    np.lib.format.write_array(text, array, **options)
    return text.getvalue()


def header(dictionary, data=b"", version=(1, 0)):
    text = dictionary.encode()
    length = struct.pack("<H" if version == (1, 0) else "<I", len(text))
    return b"\x93NUMPY" + bytes(version) + length + text + data


def archive(program, members, compression=zipfile.ZIP_STORED):
    path = program.file("bad.npz")
    with zipfile.ZipFile(path, "w", compression) as out:
        for name, content in members:
            out.writestr(name, content)
    return path


def refused(program, path, *words):
    program("run", "scan", "--input", path, "--output", "out.npz").wants(2, path, *words)
    assert "out.npz" not in program.names()


X = np.ones((1, 8, 2), np.float32)


@test
def malformed_archives_are_refused_in_one_line(program):
    good = npy(X)
    empty = program.file("bad.npz")
    for content in (b"", b"no archive at all", b"PK\x05\x06" + bytes(18), b"PK\x03\x04" + bytes(100), os.urandom(4096)):
        (program.folder / "bad.npz").write_bytes(content)
        refused(program, empty)
    refused(program, archive(program, [("../x.npy", good)]), "../x.npy")
    refused(program, archive(program, [("/x.npy", good)]), "/x.npy")
    refused(program, archive(program, [("x.npy", good[:100])]), "array x")
    refused(program, archive(program, [("x.npy", good[:-4])]), "array x")
    refused(program, archive(program, [("x.npy", good + b"more")]), "array x")
    refused(program, archive(program, [("x.npy", b"")]), "array x")
    refused(program, archive(program, [("x.txt", good)]), "x.txt")
    huge = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s,), }"
    for shape in ("1000000000000", "4294967296, 4294967296", "9" * 30, "-1", "-4, -4", "1e3", "True"):
        refused(program, archive(program, [("x.npy", header(huge % shape, bytes(64)))]), "array x")
    for bad in ("", "{}", "{'descr': '<f4'}", "[" * 5000, "{'descr': '<f4', 'fortran_order': 1, 'shape': (1,)}", "\0" * 50):
        refused(program, archive(program, [("x.npy", header(bad, bytes(4)))]), "array x")
    refused(program, archive(program, [("x.npy", header(huge % "1", bytes(4), (9, 0)))]), "array x", "9.0")
    refused(program, archive(program, [("x.npy", npy(np.array([1, "a", None], object), allow_pickle=True))]), "array x",
            "object")
    for dtype in ("<U3", ">f4", "<u4", "<f16", "<i2", "<M8[s]"):
        refused(program, archive(program, [("x.npy", npy(np.zeros((1, 8, 2), dtype)))]), "array x", "accepted")
    refused(program, archive(program, [("x.npy", npy(np.zeros(3, [("a", "<f4")])))]), "array x")


@test
def a_bomb_and_false_sizes_take_no_memory(program):
    path = archive(program, [("x.npy", npy(np.zeros((1, 1 << 20, 16), np.float32)))], zipfile.ZIP_DEFLATED)
    content = bytearray(open(path, "rb").read())
    real = struct.pack("<I", len(npy(np.zeros((1, 1 << 20, 16), np.float32))))
    for wrong in (struct.pack("<I", 0xFFFFFFF0), struct.pack("<I", 1000)):
        changed = bytes(content).replace(real, wrong)
        assert changed != content
        (program.folder / "bad.npz").write_bytes(changed)
        refused(program, path)


@test
def a_file_cut_off_anywhere_is_refused(program):
    np.savez_compressed(program.file("whole.npz"), x=np.random.default_rng(1).normal(size=(1, 50, 2)))
    whole = (program.folder / "whole.npz").read_bytes()
    for length in range(0, len(whole), max(1, len(whole) // 40)):
        (program.folder / "bad.npz").write_bytes(whole[:length])
        refused(program, program.file("bad.npz"))


@test
def arrays_that_contradict_the_command_line_or_each_other_are_refused(program):
    path = archive(program, [("x.npy", npy(X))])
    program("run", "scan", "--input", path, "--set", "length=9").wants(2, "length", "9", "8", "x")
    path = archive(program, [("x.npy", npy(X)), ("a.npy", npy(np.ones((1, 9, 2), np.float32)))])
    program("run", "scan", "--input", path, "--set", "op=linear").wants(2, path, "length")
    path = archive(program, [("x.npy", npy(np.ones(5, np.float32)))])
    refused(program, path, "array x")
    path = archive(program, [("x.npy", npy(X)), ("q.npy", npy(X))])
    refused(program, path, "array q", "initial")
    program("sweep", "scan", "--over", "op=sum,max", "--input", path).wants(2, path, "array q", "initial")
    path = archive(program, [("x.npy", npy(np.ones((1, 0, 2), np.float32)))])
    refused(program, path, "array x")
    refused(program, program.file("absent.npz"))
    refused(program, str(program.folder))


@test
def every_way_that_numpy_writes_is_read(program):
    wide = np.random.default_rng(3).normal(size=(2, 60, 3))
    for save in (np.savez, np.savez_compressed):
        for x in (wide, wide.astype(np.float32), np.asfortranarray(wide), wide.astype(np.float16),
                  wide[:, ::2], np.asfortranarray(wide.astype(np.float32)).transpose(0, 1, 2)):
            save(program.file("in.npz"), x=x)
            program("run", "scan", "--input", "in.npz", "--output", "out.npz", "--repeat", 1).wants(0)
            assert np.array_equal(load(program.file("out.npz"))["x"], x.astype(np.float32))


@test
def the_output_of_a_run_is_the_input_of_the_same_run(program):
    for words in (["memory", "--set", "rule=titans", "--set", "length=40", "--set", "d=4", "--optional"],
                  ["lut", "--set", "connectivity=sparse", "--set", "backward=true", "--set", "batch=3"]):
        run = ["run", *words, "--repeat", 1, "--threads", 1]
        program(*run, "--output", "first.npz").wants(0)
        program(*run, "--seed", 2, "--input", "first.npz", "--output", "second.npz").wants(0)
        first, second = load(program.file("first.npz")), load(program.file("second.npz"))
        inputs = [name for name in first if "/" not in name]
        # Names with "/" are those of outputs, which a run does not read.
        assert len(inputs) >= 4 and any(name.startswith("reference/") for name in first), list(first)
        assert list(first) == list(second)
        for name in first:
            assert first[name].dtype == second[name].dtype, name
            assert first[name].tobytes() == second[name].tobytes(), name


@test
def output_that_cannot_be_written_is_a_failure_told_before_the_run(program):
    slow = ["--set", "length=200000", "--set", "channels=64", "--repeat", 1000]
    program("run", "scan", *slow, "--output", "no/out.npz", seconds=10).wants(1, "no/out.npz")
    program("run", "scan", *slow, "--output", program.folder, seconds=10).wants(1, program.folder)
    program("sweep", "scan", "--over", "length=100", "--csv", "no/a.csv", seconds=10).wants(1, "no/a.csv")
    program("run", "scan", *slow, "--output", "-", seconds=10).wants(1, "-")
    program("run", "scan", *slow, "--output", "/dev/full", seconds=10).wants(1, "/dev/full")
    program("run", "scan", *slow, "--trace", "no/a.json", seconds=10).wants(1, "no/a.json")
    program("run", "scan", *slow, "--trace", "-", seconds=10).wants(1, "-")
    program("report", "no/report", seconds=10).wants(1, "no/report")
    program("shot", "no/a.png", seconds=10).wants(1, "no/a.png")
    assert program.names() == []


@test
def a_full_disk_leaves_nothing(program):
    def limit_to(size):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    def limit():
        limit_to(20000)

    quick = ["--repeat", 1]
    program("run", "scan", *quick, "--output", "out.npz", preexec_fn=limit).wants(1, "out.npz")
    program("sweep", "scan", *quick, "--over", "length=2000,3000", "--json-file", "a.json",
            preexec_fn=limit).wants(1, "a.json")
    program("run", "scan", *quick, "--trace", "a.json", preexec_fn=lambda: limit_to(1000)).wants(1, "a.json")
    assert program.names() == []
    sweep = ["sweep", "scan", *quick, "--over", "length=10,20"]
    for option in ("--json-file", "--csv", "--markdown"):
        program(*sweep, option, "/dev/full").wants(1, "/dev/full")
    program("run", "scan", *quick, "--output", "/dev/full").wants(1, "/dev/full")
    assert os.path.exists("/dev/full") and not os.path.isfile("/dev/full")


@test
def a_file_that_may_not_grow_is_a_failure_and_no_signal(program):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    done = program("run", "scan", "--repeat", 1, "--output", "out.npz", preexec_fn=limit).wants(1, "out.npz", "too large")
    assert "lookback" in done.out, "what was measured is printed all the same"
    program("shot", "a.png", "--family", "lut", "--repeat", 1, "--size", "320x240", preexec_fn=limit).wants(1, "a.png", "too large")
    assert program.names() == []


@test
def two_documents_cannot_go_to_one_file(program):
    quick = ["--repeat", 1, "--set", "length=64"]
    program("run", "scan", *quick, "--session", "keep.sawtooth").wants(0)
    before = open(program.file("keep.sawtooth"), "rb").read()
    for words in (["run", "scan", *quick, "--session", "keep.sawtooth", "--trace", "./keep.sawtooth"],
                  ["run", "scan", *quick, "--trace", "a", "--output", "a"],
                  ["sweep", "scan", "--over", "length=10,20", "--session", "keep.sawtooth", "--csv", "keep.sawtooth"]):
        program(*words).wants(2, "another document is already written there")
    assert open(program.file("keep.sawtooth"), "rb").read() == before


@test
def two_files_that_fail_are_told_in_one_line(program):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    program("sweep", "scan", "--over", "length=10,20", "--repeat", 1, "--csv", "a.csv", "--markdown", "a.md",
            preexec_fn=limit).wants(1, "a.csv", "a.md")
    assert program.names() == []


@test
def a_loop_of_links_is_no_output_and_stays(program):
    os.symlink("b.npz", program.file("a.npz"))
    os.symlink("a.npz", program.file("b.npz"))
    program("run", "scan", "--repeat", 1, "--output", "a.npz").wants(1, "a.npz", "symbolic links")
    program("sweep", "scan", "--over", "length=10", "--csv", "b.npz").wants(1, "b.npz", "symbolic links")
    assert program.names() == ["a.npz", "b.npz"] and os.readlink(program.file("a.npz")) == "b.npz"


@test
def a_link_in_the_cache_folder_does_not_lead_to_another_file(program):
    words = ["run", "scan", "--repeat", 1, "--threads", 1, "--cache-dir", "cache"]
    program(*words, **program.with_little_memory()).wants(0)
    [limits] = (program.folder / "cache").glob("ceilings-*-1-*.json")
    limits.unlink()
    (program.folder / "mine").write_text("mine")
    limits.symlink_to("../mine")
    program(*words, **program.with_little_memory()).wants(0)
    assert (program.folder / "mine").read_text() == "mine" and limits.is_symlink()


@test
def small_limits_of_stack_and_memory_are_enough_or_told(program):
    def limited(what, size):
        return lambda: resource.setrlimit(what, (size, size))

    if program.patience > 1:
        raise Skipped("sanitizers need more stack and memory")
    program("run", "scan", "--repeat", 1, preexec_fn=limited(resource.RLIMIT_STACK, 64 << 10)).wants(0)
    program("run", "scan", preexec_fn=limited(resource.RLIMIT_STACK, 32 << 10)).wants(1, "32 KiB", "ulimit -s")
    few = ["--set", "length=64", "--repeat", 1]
    program("run", "scan", *few, preexec_fn=limited(resource.RLIMIT_AS, 600 << 20)).wants(0)
    program("shot", "a.png", *few, preexec_fn=limited(resource.RLIMIT_AS, 600 << 20)).wants(1, "600 MiB", "ulimit")


@test
def a_folder_without_permission_is_a_failure(program):
    (program.folder / "locked").mkdir(mode=0o755)
    options = {}
    if os.getuid() == 0:
        program.environment.update(XDG_CACHE_HOME="/nonexistent", XDG_CONFIG_HOME="/nonexistent")
        options = as_nobody(program)
    else:
        (program.folder / "locked").chmod(0o555)
    program("run", "scan", "--output", "locked/out.npz", **options).wants(1, "locked/out.npz", "ermission")
    program("sweep", "scan", "--over", "length=10", "--csv", "locked/a.csv", **options).wants(1, "locked/a.csv", "ermission")
    program("report", "locked/report", **options).wants(1, "locked/report", "ermission")
    assert list((program.folder / "locked").iterdir()) == []
    (program.folder / "locked").chmod(0o755)


@test
def an_older_output_stays_where_the_new_one_fails(program):
    program("run", "scan", "--output", "out.npz", "--repeat", 1, "--set", "length=10").wants(0)
    before = (program.folder / "out.npz").read_bytes()
    program("run", "scan", "--output", "out.npz", "--set", "op=max", "--set", "compensated=true").wants(2, "compensated")
    program("run", "scan", "--output", "out.npz", "--memory-limit", "1KiB").wants(1, "memory")
    assert (program.folder / "out.npz").read_bytes() == before
    program("run", "scan", "--output", "out.npz", "--repeat", 1, "--set", "length=10").wants(0)
    assert (program.folder / "out.npz").read_bytes() == before
    assert program.names() == ["out.npz"]


@test
def a_document_named_as_standard_output_is_added_to_what_was_printed(program):
    small = ["scan", "--set", "channels=2", "--threads", 1, "--variant", "lookback"]

    def printed(*words):
        with open(program.folder / "log.txt", "w") as log:
            log.write("a line before\n")
            log.flush()
            process = program.start(*words, stdout=log)
            _, error = process.communicate(timeout=60 * program.patience)
        return process.returncode, error, (program.folder / "log.txt").read_text()

    code, error, text = printed("sweep", *small, "--over", "length=64,128", "--csv", "/dev/stdout")
    assert code == 0 and text.startswith("a line before\n") and "\n64,lookback," in text, (error, text)
    for option in ("--output", "--trace", "--session"):
        code, error, text = printed("run", *small, "--set", "length=64", option, "/dev/stdout")
        assert code == 1 and "what is printed goes there" in error and text == "a line before\n", (error, text)
    code, error, _ = printed("sweep", *small, "--over", "length=64", "--csv", "/dev/stdout", "--markdown", "-")
    assert code == 2 and "another document is already written there" in error, error


@test
def outputs_that_were_not_computed_are_not_written(program):
    recorded = ["run", "attention", "--recording", "h200-2026-11", "--variant", "streaming_wgmma"]
    if "no recordings" in program(*recorded).err:
        raise Skipped("no recordings are installed")
    program(*recorded, "--output", "out.npz").wants(1, "out.npz: not written")
    assert program.names() == []
