"""Session files: results are added by run, sweep and bench, and reported without running anything."""
import json
import os
import zipfile

from program import as_nobody, test

QUICK = ["--repeat", 2, "--set", "length=64"]


def manifest(program, name):
    with zipfile.ZipFile(program.file(name)) as session:
        assert session.testzip() is None
        return json.loads(session.read("manifest.json"))


def written_by_another_build(program, name):
    """Replaces the build in the file by another one, whose name is as long."""
    path = program.folder / name
    build = manifest(program, name)["program"]
    other = "X" + build[1:]
    with zipfile.ZipFile(path) as session:
        entries = {entry: session.read(entry) for entry in session.namelist()}
    with zipfile.ZipFile(path, "w") as session:
        for entry, content in entries.items():
            session.writestr(entry, content.replace(build.encode(), other.encode()))
    return other


@test
def results_are_added_to_a_session(program):
    program("run", "scan", *QUICK, "--session", "lab.sawtooth").wants(0)
    first = manifest(program, "lab.sawtooth")
    assert first["format"] == 1 and first["results"] == 1 and len(first["machines"]) == 1, first
    program("sweep", "scan", "--repeat", 1, "--over", "length=32,64,128", "--session", "lab.sawtooth").wants(0)
    program("bench", "lut_sequence", "--repeat", 1, "--session", "lab.sawtooth", seconds=200).wants(0)
    now = manifest(program, "lab.sawtooth")
    assert (now["results"], now["sweeps"], now["benches"]) == (4, 1, 1), now
    assert program.names() == ["lab.sawtooth"], program.names()


@test
def a_joined_sweep_is_added_to_a_session_once(program):
    sweep = ["sweep", "scan", "--repeat", 1, "--over", "length=32,64,96,128"]
    for number in (1, 2):
        program(*sweep, "--shard", f"{number}/2", "--session", f"{number}.sawtooth").wants(0)
    program("run", "scan", *QUICK, "--session", "lab.sawtooth").wants(0)

    def joined(results, sweeps, *files, code=0):
        program("join", *files, "--session", "lab.sawtooth").wants(code)
        now = manifest(program, "lab.sawtooth")
        assert (now["results"], now["sweeps"]) == (results, sweeps), now
    joined(3, 1, "1.sawtooth", code=1)  # cells are missing
    joined(5, 1, "1.sawtooth", "2.sawtooth")
    joined(5, 1, "1.sawtooth", "2.sawtooth")
    joined(5, 1, "lab.sawtooth", "1.sawtooth")
    whole = program("join", "1.sawtooth", "2.sawtooth", "--json").wants(0).out
    assert program("join", "lab.sawtooth", "--json").wants(0).out == whole
    program("join", "1.sawtooth", "2.sawtooth", "--session", "1.sawtooth").wants(0)
    assert program("join", "1.sawtooth", "--json").wants(0).out == whole
    (program.folder / "2.sawtooth").unlink()
    program(*sweep, "--shard", "2/2", "--session", "2.sawtooth").wants(0)
    joined(9, 2, "2.sawtooth", "1.sawtooth")  # other results of the same cells
    assert "different builds" not in program("join", "1.sawtooth", "2.sawtooth").wants(0).err
    other = written_by_another_build(program, "2.sawtooth")
    program("join", "1.sawtooth", "2.sawtooth").wants(0, "measured by different builds of sawtooth: ", other)
    (program.folder / "text").write_text("text")
    program("join", "1.sawtooth", "--session", "text").wants(2, "text")
    assert (program.folder / "text").read_text() == "text"


@test
def an_interrupted_report_keeps_its_finished_families(program):
    for seconds in (1, 4, 16):  # a busy machine may take long to measure its limits
        program.interrupt(seconds, "report", "page", "lut", "memory", "--repeat", 50, "--session", "lab.sawtooth")
        if program.names():
            break
    assert program.names() == ["lab.sawtooth", "page"], program.names()
    page = (program.folder / "page" / "index.html").read_text(encoding="utf-8")
    assert '<section id="lut">' in page and page.count("<section") == 1
    assert manifest(program, "lab.sawtooth")["results"] > 0


@test
def a_report_keeps_its_finished_families_if_another_fails(program):
    words = ["lut", "scan", "--repeat", 1, "--memory-limit", "2MiB", "--session", "lab.sawtooth"]
    done = program("report", "page", *words).wants(1, "out of memory", "1 of 2 families done")
    assert done.out == "page/index.html\n", done
    results = manifest(program, "lab.sawtooth")["results"]
    assert results > 0
    # The second worker takes no part, so that the first one has the families in order.
    done = program("report", "team", *words, "--on", f"{program.path} worker", "--on", "exit 7")
    assert done.code == 1 and "1 of 2 families done" in done.err and done.out == "team/index.html\n", done
    assert manifest(program, "lab.sawtooth")["results"] == 2 * results
    for folder in ("page", "team"):
        page = (program.folder / folder / "index.html").read_text(encoding="utf-8")
        assert '<section id="lut">' in page and page.count("<section") == 1
    program("report", "none", *words[1:]).wants(1, "out of memory")
    assert "none" not in program.names()


@test
def a_report_whose_page_cannot_be_written_keeps_its_session(program):
    on = ["--on", f"rmdir page; exec {program.path} worker"]  # the folder vanishes once the report has made it
    done = program("report", "page", "scan", "--repeat", 1, "--session", "lab.sawtooth", *on).wants(1, "page/index.html")
    assert done.out == "" and manifest(program, "lab.sawtooth")["results"] > 0, done


@test
def a_session_has_no_path_and_no_command(program):
    program("run", "scan", *QUICK, "--output", "in.npz").wants(0)
    program("run", "scan", "--input", "in.npz", "--on", f"{program.path} worker", "--repeat", 1, "--session",
            "lab.sawtooth").wants(0)
    with zipfile.ZipFile(program.file("lab.sawtooth")) as session:
        for name in session.namelist():
            content = session.read(name)
            assert b"in.npz" not in content and program.path.encode() not in content, name


@test
def a_report_and_the_report_of_its_session_show_the_same_settings(program):
    run = ["scan", "--set", "length=256", "--repeat", 1]
    program("report", "page", *run, "--session", "lab.sawtooth").wants(0)
    program("report", "again", "--from", "lab.sawtooth").wants(0)

    def settings(folder):
        text = (program.folder / folder / "index.html").read_text(encoding="utf-8")
        return [line for line in text.splitlines() if line.startswith("<p>Run with")]
    assert settings("page") and settings("page") == settings("again"), settings("again")


@test
def a_session_is_reported_without_running_anything(program):
    program("run", "scan", *QUICK, "--session", "lab.sawtooth").wants(0)
    program("sweep", "memory", "--repeat", 1, "--set", "length=64", "--over", "chunk=8,16", "--variant", "chunkwise_gd",
            "--session", "lab.sawtooth").wants(0)
    done = program("report", "page", "--from", "lab.sawtooth", "--json").wants(0)
    assert done.json() == {"written": ["page/index.html"]}
    text = (program.folder / "page" / "index.html").read_text(encoding="utf-8")
    assert text.count("From a session, measured 20") == 2 and text.count("<section") == 2
    assert '<section id="scan">' in text and '<section id="memory">' in text
    program("report", "other", "memory", "--from", "lab.sawtooth").wants(0)
    text = (program.folder / "other" / "index.html").read_text(encoding="utf-8")
    assert text.count("<section") == 1 and text.count("<figure") > 3
    program("report", "none", "btp", "--from", "lab.sawtooth").wants(2, "lab.sawtooth", "no results of btp")
    program("report", "none", "--from", "lab.sawtooth", "--repeat", 3).wants(2, "--repeat", "runs nothing")
    assert "none" not in program.names()


@test
def a_file_that_is_no_session_is_refused_before_a_run(program):
    (program.folder / "text.sawtooth").write_text("text")
    for words in (["run", "scan", "--session"], ["sweep", "scan", "--over", "length=32,64", "--session"],
                  ["bench", "scan", "--session"], ["report", "page", "--from"], ["open"]):
        program(*words, "text.sawtooth", seconds=10).wants(2, "text.sawtooth")
    assert (program.folder / "text.sawtooth").read_text() == "text"
    program("run", "scan", "--session", "no/lab.sawtooth", seconds=10).wants(1, "no/lab.sawtooth")
    program("open", "none.sawtooth").wants(2, "none.sawtooth", "No such file")
    program("open").wants(2, "FILE.sawtooth")
    program("bench", "window", "--session", "a.sawtooth").wants(2, "--session")
    program("bench", "verdicts", "--session", "a.sawtooth").wants(2, "--session")
    assert program.names() == ["text.sawtooth"], program.names()


@test
def a_session_that_cannot_be_written_stays_as_it_was(program):
    program("run", "scan", *QUICK, "--session", "lab.sawtooth").wants(0)
    before = (program.folder / "lab.sawtooth").read_bytes()
    os.chmod(program.folder, 0o555)
    options = {}
    if os.getuid() == 0:  # who may write everywhere
        program.environment.update(XDG_CACHE_HOME="/nonexistent", XDG_CONFIG_HOME="/nonexistent")
        options = as_nobody(program)
    try:
        program("run", "scan", *QUICK, "--session", "lab.sawtooth", **options).wants(1, "lab.sawtooth", "ermission")
    finally:
        os.chmod(program.folder, 0o755)
    assert (program.folder / "lab.sawtooth").read_bytes() == before
