#pragma once

#include <cmath>

#include "kernels/lut_sequence/launches.h"

namespace sawtooth::lut_sequence {

// Two positions i < j of a batch item, and a detector.
struct Pair {
    int64_t item, i, j, detector;
};

// The arrays and sizes of the CPU variants.
struct CpuJob : Tensors {
    using Tensors::Tensors;

    int64_t position(int64_t item, int64_t j) const { return item * sizes.length + j; }

    // The places of the query and the key of a pair in arrays [B S, T], and of its distance in [S - 1, T].
    int64_t query_at(const Pair& p) const { return found_at(position(p.item, p.j), p.detector); }
    int64_t key_at(const Pair& p) const { return found_at(position(p.item, p.i), p.detector); }
    int64_t distance_at(const Pair& p) const { return (p.j - p.i - 1) * sizes.detectors + p.detector; }

    int64_t neuron_of(const Pair& p) const {
        const int64_t query = bits.lookup_index[query_at(p)], key = bits.lookup_index[key_at(p)];
        return p.detector * sizes.rows + (query << (sizes.anchors + sizes.positional) |
                                          key << sizes.positional |
                                          distance_bits.lookup_index[distance_at(p)]);
    }
    // Whether the query has the weaker bit; on a tie the key's bit flips.
    bool flips_query(const Pair& p) const {
        return std::abs(bits.min_delta[query_at(p)]) < std::abs(bits.min_delta[key_at(p)]);
    }
    // The neuron with the weaker bit of query and key flipped; -1 if that one skips all its anchors.
    int64_t alternative_of(const Pair& p, int64_t neuron) const {
        const bool query = flips_query(p);
        const int32_t bit = bits.min_delta_index[query ? query_at(p) : key_at(p)];
        return bit < 0 ? -1
                       : neuron ^ int64_t { 1 } << (bit + sizes.positional + (query ? sizes.anchors : 0));
    }
    float weaker_delta(const Pair& p) const {
        return bits.min_delta[flips_query(p) ? query_at(p) : key_at(p)];
    }
    // The neuron with the weakest bit of the distance flipped if that bit is weaker than both others,
    // otherwise -1.
    int64_t positional_alternative_of(const Pair& p, int64_t neuron) const {
        const int64_t at = distance_at(p);
        const int32_t bit = distance_bits.min_delta_index[at];
        const float magnitude = std::abs(distance_bits.min_delta[at]);
        const bool weakest = bit >= 0 && magnitude < std::abs(bits.min_delta[query_at(p)]) &&
                             magnitude < std::abs(bits.min_delta[key_at(p)]);
        return weakest ? neuron ^ int64_t { 1 } << bit : -1;
    }
};

}  // namespace sawtooth::lut_sequence
