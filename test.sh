#!/usr/bin/env bash
# Installs what is missing, builds everything and runs every test; the last line is `N passed, N failed[, N skipped]`.
#
#   ./test.sh               the release build
#   ./test.sh PRESET        debug, asan or tsan of CMakePresets.json
#
# A test case is one of sawtooth_tests, one file of tests/end_to_end (called with the program as its argument; exit 77
# means skipped), or the check of the formatting. A line `skipped: NAME: reason` on the tests' output counts that case
# as skipped: Catch2 2 has no way to say so.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/cmake/setup.sh"
export LC_ALL=C.UTF-8
preset=${1:-release}

need_packages program "${program_packages[@]}"
need_packages test "${test_packages[@]}"
build "$preset" sawtooth sawtooth_tests
set_up_done

passed=0 failed=0 skipped=0
result() { # NAME STATUS
    case $2 in
    0) ((++passed)) ;;
    77) ((++skipped)) ;;
    *) ((++failed)) && echo "FAILED: $1" ;;
    esac
}

# Unit, property and window tests: on a display of their own, so that no window opens on the user's.
tests=("$root/build/$preset/sawtooth_tests")
! command -v xvfb-run >/dev/null || tests=(xvfb-run -a -s '-screen 0 1600x900x24' "${tests[@]}")
[ "$preset" != tsan ] || tests+=('~[window]')
log=$root/build/$preset-tests.log
status=0
(cd "$root" && unset DISPLAY WAYLAND_DISPLAY && "${tests[@]}" </dev/null) 2>&1 | tee "$log" || status=$?

# Catch2's own sum: "All tests passed (9 assertions in 3 test cases)", or "test cases: 3 | 2 passed | 1 failed".
# Without one the tests crashed, which is a failure too.
sum=$(grep -aE '^(All tests passed|test cases:)' "$log" | tail -1 || true)
number() { grep -oE "$1" <<<"$sum" | grep -oE '[0-9]+' | head -1 || true; }
noted=$(sed -nE 's/^skipped: (.*): .*/\1/p' "$log" | sort -u | wc -l)
if [[ $sum == All* ]]; then
    cases=$(number '[0-9]+ test cases?')
else
    cases=$(number '[0-9]+ passed')
    failed=$(number '[0-9]+ failed')
    skipped=$(number '[0-9]+ skipped')
fi
passed=$((${cases:-0} - noted)) failed=${failed:-0} skipped=$((${skipped:-0} + noted))
[ "$status" = 0 ] || [ "$failed" -gt 0 ] || result "sawtooth_tests, exit $status" 1

for test in "$root"/tests/end_to_end/*; do
    case $test in
    *.sh) interpreter=bash ;;
    *.py) interpreter=/usr/bin/python3 ;; # the one that has the packaged numpy
    *) continue ;;
    esac
    status=0
    "$interpreter" "$test" "$root/build/$preset/sawtooth" </dev/null || status=$?
    result "${test#"$root/"}" "$status"
done

# Only release 14, as each lays out a little differently.
if command -v clang-format-14 >/dev/null; then
    status=0
    find "$root" -path "$root/build" -prune -o -regex '.*\.\(cpp\|h\|cu\|cuh\)' -print | sort |
        xargs clang-format-14 --dry-run --Werror || status=1
    result "formatting (clang-format-14 -i FILE)" "$status"
else
    echo "formatting was not checked: no clang-format-14"
    result formatting 77
fi

line="$passed passed, $failed failed"
[ "$skipped" = 0 ] || line+=", $skipped skipped"
echo "$line"
[ "$failed" = 0 ]
