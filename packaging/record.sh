#!/usr/bin/env bash
# Records the first GPU for machines without one: measures every family over a grid of its parameters and writes
# FOLDER/NAME/FAMILY.sawtooth. Sizes are small enough that a CPU computes the outputs in a second.
#
#   packaging/record.sh PROGRAM NAME [FOLDER [FAMILY...]]
#   packaging/record.sh build/release/sawtooth h200-2026-11
set -euo pipefail
program=$1 name=$2 folder=${3:-assets/recordings}
shift $(($# < 3 ? $# : 3))
families=("$@")
[ ${#families[@]} -gt 0 ] || families=(scan ar_ssm attention btp lut lut_sequence memory)
mkdir -p "$folder/$name"

# The figures of a family at its defaults, with their sweeps, and then the grids.
record() { # FAMILY, then the axes of each grid as one word
    local family=$1 file=$folder/$name/$1.sawtooth grid page
    shift
    rm -f "$file"
    page=$(mktemp -d)
    "$program" report "$page/report" "$family" --backend cuda --profile counters --session "$file" >/dev/null
    rm -r "$page"
    for grid in "$@"; do
        local axes=()
        for axis in $grid; do axes+=(--over "$axis"); done
        "$program" sweep "$family" --backend cuda --profile counters "${axes[@]}" --session "$file" >/dev/null
    done
    du -h "$file"
}

for family in "${families[@]}"; do
    case $family in
    scan) record scan "length=1k..64k op=sum,linear" "length=1k..64k block_size=128..1024" "channels=4..64 op=sum,linear" ;;
    ar_ssm) record ar_ssm "length=256..4k max_rank=4..32" "d_model=32..128 max_rank=4..32" "gate_mode=soft,hard length=256..4k" ;;
    attention) record attention "BLOCK_M=16..128 BLOCK_N=16..128" "N=128..2k window=32..512" "D=32..128 window=32..512" ;;
    btp) record btp "L=512..16k BL=16,32,64" "DH=16..64 BL=16,32,64" "H=1..16 L=512..16k" ;;
    lut) record lut "detectors=8..256 batch=4..256" "anchors_per_detector=2..8 detectors=8..256" "block_size=64..512 detectors=8..256" ;;
    lut_sequence) record lut_sequence "detectors=2..32 sequence_length=8..64" "tile=8,16,32 sequence_length=8..64" ;;
    memory) record memory "chunk=16..256 length=256..4k" "rule=titans,delta,hebbian,lattice,trellis chunk=16..256" "d=16..64 chunk=16..256" ;;
    *) echo "record.sh: no grid for $family" >&2 && exit 2 ;;
    esac
done
