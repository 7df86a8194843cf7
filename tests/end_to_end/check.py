"""Tests what `check` prints and how it ends when it is interrupted, cannot write, or is asked for what it cannot do."""
import os

from program import as_nobody, test, with_fake_gpu
from worker import on


@test
def an_interrupted_check_prints_what_it_has(program):
    for words in (["check", "btp", "scan", "--seconds", 600], ["check", "btp", "--json"]):
        for seconds in (1, 4, 16):  # a busy machine may take long until its first setting
            out = program.interrupt(seconds, *words)
            if out:
                break
        assert "so far" in out or '"complete": false' in out, out
        assert "btp" in out and '"complete": true' not in out, out


@test
def an_interrupted_check_prints_the_wrong_variants_that_it_found(program):
    with_fake_gpu(program)
    for seconds in (1, 4, 16):
        out = program.interrupt(seconds, "check", "btp", "--backend", "cuda")
        if "sequential: " in out:
            break
    assert "wrong so far" in out and "sequential: x is wrong" in out, out


@test
def a_wrong_variant_is_exit_4_and_drawn_unless_it_is_allowed(program):
    with_fake_gpu(program)
    check = ["check", "scan", "--backend", "cuda", "--cache-dir", "cache", "--first"]
    done = program(*check, "--json", "--pictures", "pictures").wants(4, "scan ", "y is wrong", "--allow-wrong")
    family, = done.json()["families"]
    wrong = family["failures"][0]["variant"]
    # One of each worker, of which there are at most 4, although all 5 variants are wrong.
    assert family["complete"] and len(family["failures"]) < 5, family
    paths = [program.folder / "pictures" / f"scan-{wrong}-{what}.svg" for what in ("got", "want", "difference")]
    pictures = {path.read_text() for path in paths}
    assert len(pictures) == 3 and all("</svg>" in text for text in pictures), paths
    allowed = program(*check, "--allow-wrong").wants(0)
    assert "is wrong" in allowed.out and allowed.err == "", allowed


@test
def a_check_whose_report_cannot_be_printed_fails(program):
    for words in ([], ["--json"]):
        with open("/dev/full", "w") as full:
            process = program.start("check", "scan", "btp", "--seconds", 0.3, *words, stdout=full)
            _, err = process.communicate(timeout=60 * program.patience)
        assert process.returncode == 1 and err.count("\n") == 1, (process.returncode, err)


@test
def a_folder_for_pictures_that_cannot_be_written_is_refused_before_the_check(program):
    (program.folder / "locked").mkdir(mode=0o555)
    options = {}
    if os.getuid() == 0:  # who may write everywhere
        options = as_nobody(program)
    done = program("check", "scan", "--seconds", 0.3, "--pictures", "locked", **options)
    assert done.wants(1, "locked", "ermission").out == "", done


@test
def check_refuses_what_it_cannot_do(program):
    err = program("check", "--variant", "nope").wants(2, "--variant", "nope").err
    names = err.partition("not one of ")[2].strip().split(", ")
    assert "lookback" in names and len(names) == len(set(names)), names
    (program.folder / "hosts").write_text("exit 7\n")
    program("check", "scan", "--sanitize", *on(program)).wants(2, "--sanitize", "leave out --on")
    program("check", "scan", "--sanitize", "--on-file", "hosts").wants(2, "--sanitize", "leave out --on-file")
