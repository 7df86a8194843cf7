#pragma once

#include <cmath>

#include "kernels/lut_sequence/sizes.h"
#include "kernels/lut_table/cpu/job.h"

namespace sawtooth::lut_sequence {

// Two positions i < j of a batch item, and a detector.
struct Pair {
    int64_t item, i, j, detector;
};

// What the variants on the CPU work on: an item of lut is a position b S + j here, its row in a table waits
// for the earlier position and the distance of a pair.
struct CpuJob : lut_table::CpuJob {
    explicit CpuJob(PlanBuilder& builder)
        : lut_table::CpuJob(builder),
          sizes(builder.parameters()),
          positional(builder.input("positional").as<float>()),
          dpositional(builder.output("dpositional").as<float>()),
          positional_lookup_index(builder.output("positional_lookup_index").as<int32_t>()),
          positional_min_delta(builder.output("positional_min_delta").as<float>()),
          positional_min_delta_index(builder.output("positional_min_delta_index").as<int32_t>()) {}

    int64_t positions() const { return sizes.batch * sizes.length; }
    int64_t position(int64_t item, int64_t j) const { return item * sizes.length + j; }

    // Of the query, key and distance of a pair: places in the arrays [B S, T] and [S-1, T].
    int64_t query_at(const Pair& p) const { return found_at(position(p.item, p.j), p.detector); }
    int64_t key_at(const Pair& p) const { return found_at(position(p.item, p.i), p.detector); }
    int64_t distance_at(const Pair& p) const { return (p.j - p.i - 1) * sizes.detectors + p.detector; }

    int64_t neuron_of(const Pair& p) const {
        const int64_t query = check.lookup_index[query_at(p)], key = check.lookup_index[key_at(p)];
        return p.detector * sizes.rows + (query << (sizes.anchors + sizes.positional) |
                                          key << sizes.positional | positional_lookup_index[distance_at(p)]);
    }
    // Whether the query has the weaker bit; on a tie the key has.
    bool flips_query(const Pair& p) const {
        return std::abs(check.min_delta[query_at(p)]) < std::abs(check.min_delta[key_at(p)]);
    }
    // With the weaker bit of query and key flipped; -1 if that one skips all its anchors.
    int64_t alternative_of(const Pair& p, int64_t neuron) const {
        const bool query = flips_query(p);
        const int32_t bit = check.min_delta_index[query ? query_at(p) : key_at(p)];
        return bit < 0 ? -1
                       : neuron ^ int64_t { 1 } << (bit + sizes.positional + (query ? sizes.anchors : 0));
    }
    float weaker_delta(const Pair& p) const {
        return check.min_delta[flips_query(p) ? query_at(p) : key_at(p)];
    }
    // With the weakest bit of the distance flipped, if it is weaker than both others; else -1.
    int64_t positional_alternative_of(const Pair& p, int64_t neuron) const {
        const int64_t at = distance_at(p);
        const int32_t bit = positional_min_delta_index[at];
        const float magnitude = std::abs(positional_min_delta[at]);
        const bool weakest = bit >= 0 && magnitude < std::abs(check.min_delta[query_at(p)]) &&
                             magnitude < std::abs(check.min_delta[key_at(p)]);
        return weakest ? neuron ^ int64_t { 1 } << bit : -1;
    }

    lut_sequence::Sizes sizes;
    const float* positional;
    float* dpositional;
    int32_t* positional_lookup_index;
    float* positional_min_delta;
    int32_t* positional_min_delta_index;
};

}  // namespace sawtooth::lut_sequence
