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

# The figures of a family at its defaults, with their sweeps, and then the grids and the examples of About.
record() { # FAMILY, then the axes of each grid as one word, and after + what else is set
    local family=$1 file=$folder/$name/$1.sawtooth grid page
    shift
    rm -f "$file"
    page=$(mktemp -d)
    "$program" report "$page/report" "$family" --backend cuda --profile counters --session "$file" >/dev/null
    rm -r "$page"
    for grid in "$@"; do
        local axes=()
        for axis in $grid; do
            case $axis in
            +*) axes+=(--set "${axis#+}") ;;
            *) axes+=(--over "$axis") ;;
            esac
        done
        "$program" sweep "$family" --backend cuda "${axes[@]}" --session "$file" >/dev/null
    done
    du -h "$file"
}

for family in "${families[@]}"; do
    case $family in
    scan)
        record scan "length=1k..16k op=sum,linear" "block_size=128..1024 length=1k..16k" "channels=4..64" \
            "batch=1 +channels=1 +length=2^20" "compensated=true" "op=linear"
        ;;
    ar_ssm)
        record ar_ssm "length=256..2k max_rank=4..32" "d_model=32..128" "gate_mode=soft,hard" \
            "bidirectional=true" "scan=hillis_steele"
        ;;
    attention)
        record attention "BLOCK_M=16..128 BLOCK_N=16..128" "N=256..2k window=32..256" "D=32..128" \
            "window=512" "N_q=1" "scale=5"
        ;;
    btp)
        record btp "L=512..4k BL=16,32,64" "DH=16..64" "H=1..16" "order=full" "gate=0.99" \
            "construction=log_difference,cumprod_ratio +gate=0"
        ;;
    lut)
        record lut "detectors=8..128 batch=4..64" "anchors_per_detector=2..8" "block_size=64..512" \
            "dragged_by=1" "arithmetic=integer +backward=true" "anchors_per_detector=10 +backward=true"
        ;;
    lut_sequence)
        record lut_sequence "detectors=2..16 sequence_length=8..64" "tile=8,16,32" "hash=mixed +backward=true" \
            "anchors_per_detector=1 +events=statistic +backward=true" "positional_bits=0 +backward=true"
        ;;
    memory)
        record memory "chunk=16..256 length=256..1k" "rule=titans,delta,hebbian,lattice,trellis" "d=16..64" \
            "d=4 +chunk=256 +length=1k" "chunk=1" "rule=trellis +chunk=64"
        ;;
    *) echo "record.sh: no grid for $family" >&2 && exit 2 ;;
    esac
done
