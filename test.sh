#!/usr/bin/env bash
# Installs missing packages, builds everything and runs every test. The last line is `N passed, N failed[, N skipped]`,
# after the ten slowest tests.
#
#   ./test.sh               the release build
#   ./test.sh PRESET        debug, asan or tsan of CMakePresets.json
#   ./test.sh TAG           only the test cases with this tag: scan, or '[scan]'
#   ./test.sh random N      only the tests with random settings, N per family and variant; prints the seed, and
#                           SAWTOOTH_RANDOM_SEED=SEED repeats it
#   ./test.sh faults N      only the faults: the first N calls of every function that can fail, and as many of the rest
#   ./test.sh tilings       compiles every kernel for every combination of its tiling values
#   ./test.sh tidy          looks for bugs with clang-tidy 14 (.clang-tidy); takes half an hour
#   ./test.sh seeded        measures how many of the bugs in tests/seeded `sawtooth check` finds; takes an hour
#
# A test case is one of sawtooth_tests, a program of tests/end_to_end (called with sawtooth as its argument; exit 77
# means skipped), or the check of the formatting. A line `skipped: NAME: reason` in the output counts that case as
# skipped, because Catch2 2 cannot; in that of a program of tests/end_to_end, which is one case, it counts in addition.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/cmake/setup.sh"
export LC_ALL=C.UTF-8

refuse() {
    say "test.sh: $1"
    exit 2
}

# The preset to build, and the Catch2 filter of test cases: "" runs everything, also the other tests. A filter
# selects hidden cases ([.child]: started by other tests) unless it excludes them.
preset=release tag='' filter='' faults=''
case ${1:-} in
'' | release | debug | asan) preset=${1:-release} ;;
tsan) preset=tsan filter='~[window]~[.]' ;; # the suppressions end at the graphics drivers
random)
    [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || refuse "random needs a count: ./test.sh random 100"
    export SAWTOOTH_RANDOM_SETTINGS=$2 SAWTOOTH_RANDOM_SEED=${SAWTOOTH_RANDOM_SEED:-$RANDOM}
    tag='[random]' filter="$tag~[.]"
    shift
    ;;
faults)
    [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || refuse "faults needs a count: ./test.sh faults 1000"
    faults=$2
    shift
    ;;
tilings) tag='[.tilings]' filter='[tilings]' ;;
tidy)
    # Without precompiled headers, which are GCC's.
    need_packages program "${program_packages[@]}"
    need_packages test "${test_packages[@]}"
    need_packages tidy clang-tidy-14
    (cd "$root" && quietly "$root/build/tidy-configure.log" cmake --preset release -B build/tidy \
        -D CMAKE_DISABLE_PRECOMPILE_HEADERS=ON -D FILES_TOGETHER=OFF -D CCACHE=OFF)
    set_up_done
    exec run-clang-tidy-14 -quiet -p "$root/build/tidy" "^$root/(app|kernels|profiling|tests|viz)/.*"
    ;;
seeded) ;;
*)
    tag=[${1//[][]/}]
    grep -rqF --include=*_test.cpp -- "$tag" "$root/tests" || refuse "$1 is neither a preset nor the tag of a test case"
    filter="$tag~[.]"
    ;;
esac
[ $# -lt 2 ] || refuse "unexpected argument: $2"

need_packages program "${program_packages[@]}"
need_packages test "${test_packages[@]}"
build "$preset" sawtooth sawtooth_tests
set_up_done
if [ "${1:-}" = seeded ]; then
    exec /usr/bin/python3 "$root/tests/seeded/run.py" "$root/build/release/sawtooth" --build "$root/build/seeded"
fi
if [ -n "$faults" ]; then
    exec /usr/bin/python3 "$root/tests/end_to_end/faults.py" "$root/build/release/sawtooth" "$faults"
fi

passed=0 failed=0 skipped=0
result() { # NAME STATUS
    case $2 in
    0) ((++passed)) ;;
    77) ((++skipped)) ;;
    *) ((++failed)) && echo "FAILED: $1" ;;
    esac
}

# What tests the built program and the sources, beside the other tests. Writes what it prints to a log, and the exit
# status, seconds and name of each test to a file, where what it left out follows as tests of their own.
end_to_end() {
    local test
    timed() { # NAME COMMAND...
        local status=0 name=$1 shown=$root/build/$preset-shown.log
        shift
        SECONDS=0
        "$@" </dev/null | tee "$shown" || status=$?
        echo "$status $SECONDS $name" >>"$ends"
        [ "$status" = 77 ] || sed -n 's/^skipped: /77 0 /p' "$shown" >>"$ends"
    }
    # The Python with the packaged numpy.
    for test in "$root"/tests/end_to_end/*.py; do
        [ -x "$test" ] || continue # a module of run.py
        timed "${test#"$root/"}" /usr/bin/python3 "$test" "$root/build/$preset/sawtooth"
    done
    timed "tests/seeded fit the code" /usr/bin/python3 "$root/tests/seeded/run.py" --verify
    timed "formatting (clang-format-14 -i FILE)" formatting
}

# Only clang-format 14: every release formats a little differently.
formatting() {
    if ! command -v clang-format-14 >/dev/null; then
        echo "formatting not checked: clang-format-14 is missing"
        return 77
    fi
    find "$root" -mindepth 1 \( -path "$root/build" -o -name '.?*' \) -prune -o -regex '.*\.\(cpp\|h\|cu\|cuh\)' -print | sort |
        xargs clang-format-14 --dry-run --Werror
}

# Runs the unit, property and window tests of a Catch2 filter ("" is all), on their own display, so that no window
# opens on the user's. They give way to the end-to-end tests, which run one after another and take longest.
program=$root/build/$preset/sawtooth_tests
unit_tests() { # FILTER LOG [NICENESS]
    local tests=(nice -n "${3:-5}" "$program" ${1:+"$1"} --durations yes)
    ! command -v xvfb-run >/dev/null || tests=(xvfb-run -a -s '-screen 0 1600x900x24' "${tests[@]}")
    (cd "$root" && unset DISPLAY WAYLAND_DISPLAY && "${tests[@]}" </dev/null) 2>&1 | tee "$2" |
        sed -u '/^[0-9]*\.[0-9]* s: /d'
}

# Counts the test cases of a log by the summary of Catch2: "All tests passed (9 assertions in 3 test cases)", or
# "test cases: 3 | 2 passed | 1 failed". Without it the tests crashed, which is a failure, or no test case matched.
count() { # LOG STATUS
    local sum noted cases=0 failures=0 left_out=0
    sum=$(grep -aE '^(All tests passed|test cases:)' "$1" | tail -1 || true)
    number() { grep -oE "$1" <<<"$sum" | grep -oE '[0-9]+' | head -1 || true; }
    noted=$(sed -nE 's/^skipped: (.*): .*/\1/p' "$1" | sort -u | wc -l)
    if [[ $sum == All* ]]; then
        cases=$(number '[0-9]+ test cases?')
    else
        cases=$(number '[0-9]+ passed') failures=$(number '[0-9]+ failed') left_out=$(number '[0-9]+ skipped')
    fi
    passed=$((passed + ${cases:-0} - noted)) failed=$((failed + ${failures:-0}))
    skipped=$((skipped + ${left_out:-0} + noted))
    if [ -z "$sum" ] && grep -qaE '^No test' "$1"; then
        result "no test case has the tag $tag" 1
    elif [ "$2" != 0 ] && [ "${failures:-0}" = 0 ]; then
        result "sawtooth_tests, exit $2" 1
    fi
}

# Six groups run beside one another: the end-to-end tests; those of the window, of workers and of checks; those of CUDA;
# those that only compile kernels, on all cores; those of kernels on the CPU; and the other unit tests. Some of each
# wait, for a worker or a time limit, so that two cores have work for six groups. Those of CUDA give way to none: one
# after another they compile many kernels, unless these are cached. Where there are more than two cores they are dealt to
# several processes, as a GPU runs most of them, for an hour on one core. Tests of many threads come last: where these
# wait for one another, each test takes ten times as long beside other work.
log=$root/build/$preset-tests.log beside_log=$root/build/$preset-beside.log ends=$root/build/$preset-ends.txt
declare -A group_filters=([window]='[window]~[.],[worker]~[.],[check]~[.]' [compile]='[compile]~[.]'
    [cpu]='[cpu]~[window]~[worker]~[check]~[cuda]~[compile]~[threads]~[.]')
log_of() { echo "$root/build/$preset-$1-tests.log"; }
: >"$ends"
rm -f "$root/build/$preset"-*-tests.log
names() { # FILTER; the options of Catch2 2, whose exit status is a count, then of 3
    local all
    all=$("$program" "$1" --list-test-names-only 2>/dev/null || true)
    [ -n "$all" ] || all=$("$program" "$1" --list-tests --verbosity quiet || true)
    echo "$all"
}
cuda_groups=()
deal_cuda_tests() {
    local cores list=$root/build/$preset-cuda
    cores=$(nproc)
    for ((i = 0; i == 0 || i < cores / 2; ++i)); do
        cuda_groups+=("cuda$i")
        group_filters[cuda$i]=--input-file=$list$i.txt
    done
    names '[cuda]~[window]~[worker]~[check]~[.]' | sed 's/,/\\,/g' |
        awk -v list="$list" -v groups="${#cuda_groups[@]}" '{ print > (list NR % groups ".txt") }'
}
run_group() { # NAME [NICENESS]
    local status=0
    unit_tests "${group_filters[$1]}" "$(log_of "$1")" "${@:2}" >"$(log_of "$1").shown" || status=$?
    echo "$status" >"$(log_of "$1").status"
}
# Limits that are measured beside other tests are too low, and runs that exceed them would measure again.
limits=$root/build/$preset/test-cache/sawtooth
mkdir -p "$limits"
compgen -G "$limits/ceilings-*" >/dev/null || "$root/build/$preset/sawtooth" devices --measure --cache-dir "$limits" >"$log"

beside='' groups=() threads=''
if [ -z "$tag" ]; then
    if [ -z "$filter" ]; then
        deal_cuda_tests
        groups=(window "${cuda_groups[@]}" compile cpu)
        filter='~[cpu]~[window]~[worker]~[check]~[cuda]~[compile]~[threads]~[.]' threads='[threads]~[.]'
    fi
    set -m # a process group of its own, which can be stopped as a whole
    {
        if [ ${#groups[@]} -gt 0 ]; then
            run_group window &
            run_group cpu &
            run_group compile &
            for group in "${cuda_groups[@]}"; do run_group "$group" 0 & done
        fi
        end_to_end
        wait
        for group in "${groups[@]}"; do cat "$(log_of "$group").shown"; done
    } >"$beside_log" 2>&1 &
    beside=$!
    set +m
    trap 'kill -- "-$beside" 2>/dev/null' EXIT
fi
status=0
unit_tests "$filter" "$log" || status=$?
count "$log" "$status"

times=$root/build/$preset-times.txt
: >"$times"
if [ -n "$beside" ]; then
    status=0
    wait "$beside" || status=$?
    trap - EXIT
    cat "$beside_log"
    [ "$status" = 0 ] || result "the tests beside, exit $status" 1
    for group in "${groups[@]}"; do count "$(log_of "$group")" "$(cat "$(log_of "$group").status")"; done
    while read -r status seconds test; do
        echo "$seconds.0 s  $test" >>"$times"
        result "$test" "$status"
    done <"$ends"
fi
if [ -n "$threads" ]; then
    status=0
    unit_tests "$threads" "$(log_of threads)" || status=$?
    count "$(log_of threads)" "$status"
fi

# Seconds and name of each test: Catch2 prints a line for every section and every run of a case.
awk 'NR == FNR { is_case[$0]; next }
     match($0, /^[0-9.]+ s: /) { name = substr($0, RLENGTH + 1); if (name in is_case) seconds[name] += $1 }
     END { for (name in seconds) printf "%.1f s  %s\n", seconds[name], name }' \
    <(names '~[.]') <(cat "$log" "$root/build/$preset"-*-tests.log 2>/dev/null) >>"$times"

echo "slowest tests:"
sort -rn "$times" | sed -n '1,10s/^/  /p'
line="$passed passed, $failed failed"
[ "$skipped" = 0 ] || line+=", $skipped skipped"
echo "$line"
[ "$failed" = 0 ]
