#!/usr/bin/env bash
# Fetches the pinned source package of Dear ImGui and its companions and unpacks the parts we build:
#
#   fetch_sources.sh FOLDER     creates FOLDER/imgui_bundle; does nothing if it is complete
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$1
name=imgui_bundle-1.93.0
archive=$folder/$name.tar.gz
sha256=$(sed -n 's/.*sha256://p' "$here/pip_sources.txt")
wanted=(
    external/imgui/imgui
    external/implot/implot
    external/glfw/glfw
    external/imgui_test_engine/imgui_test_engine/imgui_test_engine
    external/imgui_rich_md/imgui_rich_md/assets/fonts # Roboto and Inconsolata
)
stamp="$sha256 ${wanted[*]}"
[ "$(cat "$folder/imgui_bundle/stamp" 2>/dev/null)" != "$stamp" ] || exit 0

mkdir -p "$folder"
scratch=$(mktemp -d "$folder/fetch-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

is_right() { sha256sum --check --status <<<"$sha256  $archive" 2>/dev/null; }
if ! is_right; then
    # pip runs in a virtual environment, because Debian's Python refuses it otherwise; it verifies the hashes.
    python3 -m venv "$scratch/venv"
    pip=("$scratch/venv/bin/python" -m pip --quiet --disable-pip-version-check)
    "${pip[@]}" install --require-hashes --only-binary :all: -r "$here/pip_backend.txt"
    "${pip[@]}" download --require-hashes -r "$here/pip_sources.txt" --no-deps --no-binary :all: --no-build-isolation \
        --dest "$scratch"
    mv "$scratch/$name.tar.gz" "$archive"
    is_right
fi
mkdir "$scratch/imgui_bundle"
tar -xzf "$archive" -C "$scratch/imgui_bundle" --strip-components=1 --no-same-owner "${wanted[@]/#/$name/}"
echo "$stamp" >"$scratch/imgui_bundle/stamp"
rm -rf "$folder/imgui_bundle"
mv "$scratch/imgui_bundle" "$folder/imgui_bundle"
