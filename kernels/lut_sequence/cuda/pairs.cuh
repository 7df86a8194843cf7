// The neurons of a pair of positions i < j and a detector. Pairs of a sequence have the numbers
// j (j - 1) / 2 + i:
//           i = 0   1   2
//   j = 1       0
//   j = 2       1   2
//   j = 3       3   4   5
// A row has the bits of both positions and of their distance. With C = 2 and P = 1:
//   Q of j    K of i    PE of j - i - 1
//   C bits    C bits    P bits             10 01 1b; if bit 0 of K flips: 10 00 1b
// Defines: ANCHORS (C), POSITIONAL (P), SPARSE, ALIGNED (table.cuh).
#pragma once

#include "kernels/lut_sequence/cuda/arguments.cuh"
#include "kernels/lut_table/cuda/table.cuh"

namespace sawtooth::lut_sequence {

// A pair of positions, for one detector. `found` is [B, S, T], `distances` [S - 1, T].
struct Pair {
    int64_t query, key, distance;  // places in `found` and `distances`
    int64_t detector;

    __device__ Pair(const Arguments& given, int64_t item, int64_t i, int64_t j, int64_t of_detector)
        : query((item * given.length + j) * given.detectors + of_detector),
          key((item * given.length + i) * given.detectors + of_detector),
          distance((j - i - 1) * given.detectors + of_detector),
          detector(of_detector) {}

    // The row that the pair chooses in the table of the detector.
    __device__ int32_t row(const Arguments& given) const {
        return given.found.lookup_index[query] << (ANCHORS + POSITIONAL) |
               given.found.lookup_index[key] << POSITIONAL | given.distances.lookup_index[distance];
    }
    __device__ int64_t neuron(const Arguments& given) const { return detector * given.rows + row(given); }
};

// Which bits of a pair flip: the weaker one of query (position j) and key (position i), on a tie the key's;
// and the bit of the distance if it is weaker than both. Each gives its own alternative neuron:
//   weakest of query 0.5, of key -0.3, of distance 0.1: the key's bit flips, and that of the distance
struct Flips {
    bool of_query;
    float delta, positional_delta;
    int32_t bit, positional_bit;  // of Q or K, and of PE; -1: none flips
    int64_t at;                   // the entry in `found` of the position whose bit flips

    __device__ Flips(const Arguments& given, const Pair& pair) {
        const float query = given.found.min_delta[pair.query], key = given.found.min_delta[pair.key];
        of_query = fabsf(query) < fabsf(key);
        delta = of_query ? query : key;
        at = of_query ? pair.query : pair.key;
        bit = given.found.min_delta_index[at];
        positional_delta = given.distances.min_delta[pair.distance];
        positional_bit = given.distances.min_delta_index[pair.distance];
        const float weakness = fabsf(positional_delta);
        if (!(weakness < fabsf(query) && weakness < fabsf(key))) positional_bit = -1;
    }
    // The neuron with the bit flipped; -1 if none flips.
    __device__ int64_t alternative(int64_t neuron) const {
        return bit < 0 ? -1 : neuron ^ int64_t { 1 } << (bit + POSITIONAL + (of_query ? ANCHORS : 0));
    }
    __device__ int64_t positional_alternative(int64_t neuron) const {
        return positional_bit < 0 ? -1 : neuron ^ int64_t { 1 } << positional_bit;
    }
};

// Returns j of pair number `index`: the largest j with j (j - 1) / 2 <= index. The loops correct the rounding
// of the root.
__device__ inline int64_t row_of_triangle(int64_t index) {
    auto j = static_cast<int64_t>((1 + sqrt(1 + 8.0 * static_cast<double>(index))) / 2);
    while (j * (j - 1) / 2 > index) --j;
    while ((j + 1) * j / 2 <= index) ++j;
    return j;
}

}  // namespace sawtooth::lut_sequence
