# shellcheck shell=bash disable=SC2034
# Sourced by run.sh and test.sh: installs missing packages, configures and builds. Everything prints to standard error and
# reads nothing, so that standard input and output belong to sawtooth.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

program_packages=(
    g++ cmake ninja-build pkg-config ca-certificates python3 python3-venv
    libfmt-dev libhwy-dev nlohmann-json3-dev libcli11-dev libzip-dev libpng-dev zlib1g-dev
    # the window: GLFW's headers
    libwayland-dev libwayland-bin libxkbcommon-dev libxrandr-dev libxinerama-dev libxcursor-dev libxi-dev libegl-dev
    # opened at run time for a window or a picture
    libegl1 libegl-mesa0 libgl1 libopengl0 libgl1-mesa-dri
)
test_packages=(catch2 xvfb xauth python3 python3-numpy clang-format-14 git)

say() { printf '%s\n' "$*" >&2; }

# Runs a command with its output in a log, which is shown only on failure.
quietly() { # LOG COMMAND...
    local log=$1
    shift
    "$@" </dev/null >"$log" 2>&1 && return
    tail -n 60 "$log" >&2
    say "failed: $* (full log: $log)"
    exit 1
}

# Installs missing packages on Debian and Ubuntu. A list that was complete once is not checked again.
need_packages() { # NAME PACKAGE...
    local stamp=$root/build/packages-$1 missing=() package as_root=()
    shift
    [ "$(cat "$stamp" 2>/dev/null)" != "$*" ] || return 0
    if ! command -v dpkg-query >/dev/null; then
        say "not Debian or Ubuntu: install these packages or their equivalents: $*"
        return 0
    fi
    for package in "$@"; do
        dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    if [ ${#missing[@]} -gt 0 ]; then
        if [ "$(id -u)" != 0 ]; then
            if ! sudo -n true 2>/dev/null; then
                say "missing packages; run:"
                say "    sudo apt-get install --no-install-recommends ${missing[*]}"
                exit 1
            fi
            as_root=(sudo -n)
        fi
        say "installing ${missing[*]}"
        quietly "$root/build/apt-update.log" "${as_root[@]}" apt-get update -q -o DPkg::Lock::Timeout=300
        quietly "$root/build/apt-install.log" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 "${missing[@]}"
    fi
    echo "$*" >"$stamp"
}

# Prints progress: on a terminal one line that is overwritten, otherwise every 50th line.
progress() {
    local line count=0
    while IFS= read -r line; do
        [[ $line =~ ^\[[0-9]+/[0-9]+\]\ (Re-checking|Re-running|Asking git)? && -z ${BASH_REMATCH[1]} ]] || continue
        if [ -t 2 ]; then
            printf '\r\033[K%.100s' "$line" >&2
        elif ((count++ % 50 == 0)); then
            say "${line:0:100}"
        fi
    done
    [ ! -t 2 ] || printf '\r\033[K' >&2
}

# Configures on the first build and after new packages (ninja does it again when a CMake file or the list of sources
# changes), then builds. Takes a quarter of a second if nothing changed.
build() { # PRESET TARGET...
    local preset=$1 folder=$root/build/$1 log=$root/build/$1.log packages
    shift
    # The checkout was moved, so the build folder does not fit it any more.
    if ! grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt"; then
        rm -rf "$folder"
    fi
    for packages in "$root"/build/packages-*; do
        if [ ! -f "$folder/build.ninja" ] || [ "$packages" -nt "$folder/build.ninja" ]; then
            say "configuring $folder"
            (cd "$root" && quietly "$root/build/$preset-configure.log" cmake --preset "$preset")
            touch "$folder/build.ninja"
        fi
    done
    if ! NINJA_STATUS='[%f/%t] ' ninja -C "$folder" "$@" </dev/null 2>&1 | tee "$log" | progress; then
        grep -v '^\[' "$log" | head -n 60 >&2 || true
        say "the build failed (full log: $log)"
        exit 1
    fi
}

# The lock keeps two starts from installing or building in one folder at the same time.
mkdir -p "$root/build"
exec 9>"$root/build/lock"
flock 9
set_up_done() { exec 9>&-; }
