#!/usr/bin/env bash
# Fetches the pinned wheels of CUDA and unpacks the parts used at build and run time:
#
#   fetch_cuda.sh FOLDER        creates FOLDER/cuda with include and lib; does nothing if it is complete
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$1
if [ "$(uname -sm)" != "Linux x86_64" ]; then
    echo "the wheels of CUDA need x86-64 Linux, but this is $(uname -sm): install the CUDA Toolkit 12 or 13" >&2
    exit 1
fi
unwanted=('*.a' '*.alt.so*' libcudart.so* libcheckpoint.so libpcsamplingutil.so)
stamp="$(sha256sum <"$here/cuda_wheels.txt") ${unwanted[*]}"
[ "$(cat "$folder/cuda/stamp" 2>/dev/null)" != "$stamp" ] || exit 0

mkdir -p "$folder"
scratch=$(mktemp -d "$folder/fetch-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
# pip runs in a virtual environment, because Debian's Python refuses it otherwise; it verifies the hashes.
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/python" -m pip --quiet --disable-pip-version-check install --require-hashes --no-deps \
    --only-binary :all: --no-compile --no-cache-dir --target "$scratch/wheels" -r "$here/cuda_wheels.txt"
mv "$scratch/wheels/nvidia/cu13" "$scratch/cuda"
cp "$scratch"/wheels/nvidia_cuda_nvrtc-*/licenses/License.txt "$scratch/cuda/LICENSE.txt"
for name in "${unwanted[@]}"; do
    find "$scratch/cuda/lib" -name "$name" -delete
done
echo "$stamp" >"$scratch/cuda/stamp"
rm -rf "$folder/cuda"
mv "$scratch/cuda" "$folder/cuda"
