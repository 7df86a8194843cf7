#!/usr/bin/env bash
# Installs missing packages, builds and starts sawtooth:
#
#   ./run.sh ARGUMENTS      sawtooth with these arguments
#   ./run.sh                the window; without a display, a report and a picture of the window in build/report
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/cmake/setup.sh"

need_packages program "${program_packages[@]}"
build release sawtooth
set_up_done

sawtooth=$root/build/release/sawtooth
if [ $# -gt 0 ] || [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    exec "$sawtooth" "$@"
fi
report=$root/build/report
mkdir -p "$report"
say "no display: writing a report and a picture of the window"
"$sawtooth" report "$report" >&2
"$sawtooth" shot "$report/window.png" >&2
echo "report: $report/index.html"
echo "window: $report/window.png"
