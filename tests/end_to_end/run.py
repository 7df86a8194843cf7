#!/usr/bin/env python3
"""Runs the built program as its users do, and compares it with NumPy.

    run.py PROGRAM [TEXT]      only the tests whose name contains TEXT

The last line is "N passed, N failed, N skipped"; the exit code is 1 if one failed, and 77 if all were skipped. test.sh
counts the lines "skipped: NAME: reason". Needs Python 3.8 and numpy.
"""
import os
import pathlib
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import command_line  # noqa: E402,F401  (each module adds its tests to the list)
import check  # noqa: E402,F401
import compare  # noqa: E402,F401
import files  # noqa: E402,F401
import many_workers  # noqa: E402,F401
import memory  # noqa: E402,F401
import package  # noqa: E402,F401
import readme  # noqa: E402,F401
import scan  # noqa: E402,F401
import session  # noqa: E402,F401
import slurm  # noqa: E402,F401
import worker  # noqa: E402,F401
from program import Program, Skipped, tests  # noqa: E402


def main():
    if len(sys.argv) < 2:
        sys.exit("PROGRAM is missing")
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    passed = failed = skipped = 0
    kept = tempfile.TemporaryDirectory(prefix="sawtooth-kept-")
    for test in tests:
        name = test.__name__.replace("_", " ")
        if wanted not in name:
            continue
        with tempfile.TemporaryDirectory(prefix="sawtooth-") as folder:
            os.chmod(folder, 0o755)
            start = time.monotonic()
            try:
                test(Program(sys.argv[1], pathlib.Path(folder), kept.name))
                passed += 1
                print(f"pass {time.monotonic() - start:6.1f} s  {name}")
            except Skipped as reason:
                skipped += 1
                print(f"skipped: {name}: {reason}")
            except Exception:  # a test that breaks is a failure like any other
                failed += 1
                print(f"FAIL {time.monotonic() - start:6.1f} s  {name}")
                print("        " + traceback.format_exc(limit=-3).strip().replace("\n", "\n        "))
        sys.stdout.flush()
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    if failed or passed + skipped == 0:
        return 1
    return 0 if passed else 77


if __name__ == "__main__":
    sys.exit(main())
