#!/usr/bin/env python3
"""Measures how many of our own seeded bugs `sawtooth check` finds.

    run.py --verify                                     every bug still fits its file (the normal tests run this)
    run.py PROGRAM [NAME or FAMILY ...]                 bugs of device code; needs a GPU
    run.py PROGRAM --backend cpu --build DIR [...]      bugs of CPU code: edits and builds a copy of the tree in DIR

A FAMILY.toml beside this file lists bugs:

    name      unique over all families
    file      the one file that is edited; .cu and .cuh are device code, all else is CPU code
    families  families to check, the first that finds the bug suffices; default: the family of the file's folder
    what      what is wrong and where it shows
    from, to  exact text that occurs once in the file, and its replacement
    missed    optional: why the check may miss this bug

PROGRAM is a sawtooth with the subcommand check; bugs of CPU code run one that is built from the edited copy. Device
code is not built: the program reads an edited copy of kernels/ (--kernels). Exit code 1 if a bug without `missed` is
not found.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
MOST_SECONDS = 600      # of a check without --seconds
SECONDS_TO_START = 120  # compiling kernels, and the end of a setting that had begun
BUILD = ["cmake", "--build", "--preset", "release"]
COMPILER_ERROR = re.compile(r"[\w./-]+\.cuh?\(\d+\): error[^\n]*")


def all_bugs():
    bugs = []
    for path in sorted(here.glob("*.toml")):
        for bug in tomllib.loads(path.read_text())["bug"]:
            bug["of"] = path.stem
            bug["backend"] = "cuda" if bug["file"].endswith((".cu", ".cuh")) else "cpu"
            bug.setdefault("families", [path.stem])
            bugs.append(bug)
    return bugs


def faults_of(bugs):
    """What is wrong with the list itself."""
    faults, names = [], set()
    families = {path.stem for path in here.glob("*.toml")}
    for bug in bugs:
        name = bug["name"]
        if name in names:
            faults.append(f"{name}: the name is used twice")
        names.add(name)
        if name in families:
            faults.append(f"{name}: is the name of a family")
        path = root / bug["file"]
        count = path.read_text().count(bug["from"]) if path.is_file() else None
        if count is None:
            faults.append(f"{name}: {bug['file']} does not exist")
        elif count != 1:
            faults.append(f"{name}: its text occurs {count} times in {bug['file']}")
        if bug["from"] == bug["to"]:
            faults.append(f"{name}: changes nothing")
        for family in bug["families"]:
            if family not in families:
                faults.append(f"{name}: unknown family {family}")
    return faults


class Edit:
    """The bug in a copy of the tree, taken out again at the end."""

    def __init__(self, tree, bug):
        self.path, self.bug = tree / bug["file"], bug

    def __enter__(self):
        self.text = self.path.read_text()
        self.path.write_text(self.text.replace(self.bug["from"], self.bug["to"]))

    def __exit__(self, *_):
        self.path.write_text(self.text)


def run(command, seconds, **kwargs):
    """Exit code (None: ran past its time), standard output, standard error."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, **kwargs)
    except subprocess.TimeoutExpired:
        return None, "", ""
    return done.returncode, done.stdout, done.stderr


def first_failure(output):
    """Of the JSON of check: when it met a wrong result, and the smallest setting that shows it, as one line."""
    try:
        families = json.loads(output).get("families", [])
    except (json.JSONDecodeError, AttributeError):
        return None, ""
    for family in families:
        for failure in family.get("failures") or []:
            words = [failure.get("command") or failure.get("variant", "")]
            verdict = failure.get("verdict") or {}
            if worst := verdict.get("worst"):
                words.append(f"({verdict['output']}{worst['index']} = {worst['got']}, not {worst['want']})")
            if failure.get("problem"):
                words.append(failure["problem"][:200])
            return failure["seconds"], " ".join(str(word) for word in words)
    return None, ""


def check(program, bug, arguments, options):
    """Verdict, seconds until a wrong result was met, all seconds (the search for the smallest setting too), remark."""
    begin = time.monotonic()
    for family in bug["families"]:
        before = time.monotonic() - begin
        command = [program, "check", family, "--backend", bug["backend"], "--first", "--json", *options]
        if arguments.seconds:
            command += ["--seconds", str(arguments.seconds)]
        code, output, errors = run(command, (arguments.seconds or MOST_SECONDS) + SECONDS_TO_START)
        seconds = time.monotonic() - begin
        compiler = COMPILER_ERROR.search(output + errors)
        if compiler:
            return "did not compile", seconds, seconds, compiler[0]
        if code == 4:
            met, words = first_failure(output)
            return "found", seconds if met is None else before + met, seconds, words
        if code is None:
            return "did not end", seconds, seconds, family
        if code < 0:
            return "found", seconds, seconds, f"{family}: ended by signal {-code}"
        if code != 0:
            return "error", seconds, seconds, f"{family}: exit code {code}: {(errors or output).strip()[:300]}"
    seconds = time.monotonic() - begin
    return "MISSED", seconds, seconds, ""


def check_device_bugs(bugs, arguments, report):
    with tempfile.TemporaryDirectory(prefix="seeded-") as folder:
        tree = pathlib.Path(folder)
        shutil.copytree(root / "kernels", tree / "kernels")
        for bug in bugs:
            with Edit(tree, bug), tempfile.TemporaryDirectory(prefix="seeded-cache-") as cache:
                options = ["--kernels", str(tree), "--cache-dir", arguments.cache or cache]
                report(bug, *check(arguments.program, bug, arguments, options))


def copy_changed(source, target):
    """Copies a tree without build/ and .git. Equal files keep their time, so that only changed ones are built again."""
    for folder, folders, files in os.walk(source):
        folders[:] = [name for name in folders if name not in ("build", ".git")]
        to = target / pathlib.Path(folder).relative_to(source)
        to.mkdir(parents=True, exist_ok=True)
        for name in files:
            if name != ".git":
                content = (pathlib.Path(folder) / name).read_bytes()
                if not (to / name).exists() or (to / name).read_bytes() != content:
                    shutil.copy(pathlib.Path(folder) / name, to / name)


def prepare_build(build):
    """A copy of the tree in build/tree, built like the release."""
    tree = build / "tree"
    copy_changed(root, tree)
    sources = root / "build" / "sources"  # what configuring downloads
    if sources.exists():
        copy_changed(sources, tree / "build" / "sources")
    for command in (["cmake", "--preset", "release"], BUILD):
        code, output, errors = run(command, None, cwd=tree)
        if code != 0:
            sys.exit(f"{' '.join(command)} failed in {tree}:\n{(output + errors)[-2000:]}")
    return tree


def check_cpu_bugs(bugs, arguments, report):
    tree = prepare_build(pathlib.Path(arguments.build).resolve())
    program = tree / "build" / "release" / "sawtooth"
    for bug in bugs:
        with Edit(tree, bug), tempfile.TemporaryDirectory(prefix="seeded-cache-") as cache:
            code, output, errors = run(BUILD, None, cwd=tree)
            if code != 0:
                report(bug, "did not compile", 0, 0, (output + errors).strip()[-300:])
            else:
                report(bug, *check(str(program), bug, arguments, ["--cache-dir", cache]))


class Report:
    """A line per bug, then the summary."""

    def __init__(self):
        self.seconds, self.failed, self.all = [], 0, 0

    def __call__(self, bug, verdict, met, seconds, remark):
        self.all += 1
        if verdict == "found":
            self.seconds.append(met)
        elif verdict == "MISSED" and "missed" in bug:
            remark = f"as expected: {bug['missed']}"
        else:
            self.failed += 1
        print(f"{bug['name']:44} {verdict:15} {met:6.1f} s {seconds:6.1f} s  {remark}", flush=True)

    def finish(self):
        soon = sum(seconds <= 10 for seconds in self.seconds)
        print(f"found {len(self.seconds)} of {self.all}, {soon} within 10 s")
        return 1 if self.failed else 0


def main():
    parser = argparse.ArgumentParser(description="Measures how many seeded bugs `sawtooth check` finds.")
    parser.add_argument("program", nargs="?", help="the sawtooth to run")
    parser.add_argument("chosen", nargs="*", metavar="NAME or FAMILY", help="only these bugs (all)")
    parser.add_argument("--backend", choices=["cpu", "cuda"], help="only bugs of this backend")
    parser.add_argument("--seconds", type=float, help="passed on to check")
    parser.add_argument("--cache-dir", dest="cache", help="compiled kernels of earlier checks, for bugs of device code")
    parser.add_argument("--build", metavar="DIR", help="folder for the build of bugs of CPU code")
    parser.add_argument("--verify", action="store_true", help="only check that the bugs fit their files")
    arguments = parser.parse_intermixed_args()

    bugs = all_bugs()
    faults = faults_of(bugs)
    for fault in faults:
        print(fault, file=sys.stderr)
    if faults:
        return 1
    if arguments.verify:
        return 0
    if not arguments.program:
        parser.error("PROGRAM is missing")

    known = {bug["name"] for bug in bugs} | {bug["of"] for bug in bugs}
    for word in arguments.chosen:
        if word not in known:
            parser.error(f"{word} is neither a bug nor a family")
    if arguments.chosen:
        bugs = [bug for bug in bugs if {bug["name"], bug["of"]} & set(arguments.chosen)]
    if arguments.backend:
        bugs = [bug for bug in bugs if bug["backend"] == arguments.backend]
    on_device = [bug for bug in bugs if bug["backend"] == "cuda"]
    on_cpu = [bug for bug in bugs if bug["backend"] == "cpu"]
    if on_cpu and not arguments.build:
        print(f"{len(on_cpu)} bugs of CPU code left out: they need --build DIR", file=sys.stderr)
        on_cpu = []

    report = Report()
    if on_device:
        check_device_bugs(on_device, arguments, report)
    if on_cpu:
        check_cpu_bugs(on_cpu, arguments, report)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
