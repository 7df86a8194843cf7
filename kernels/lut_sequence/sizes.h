#pragma once

#include "kernels/lut_table/sizes.h"

namespace sawtooth::lut_sequence {

constexpr int64_t threads_of_fused = 256;  // on CUDA

// The sizes of a request. A pair of positions i < j chooses a row of the table of every detector,
//   (Q << (anchors + positional)) | (K << positional) | PE,
// where Q comes from j, K from i and PE from j - i - 1.
struct Sizes : lut_table::Sizes {
    explicit Sizes(const Parameters& p)
        : lut_table::Sizes(p),
          length(p.integer("sequence_length")),
          positional(p.integer("positional_bits")),
          tile(p.integer("tile")),
          statistic(p.is("events", "statistic")),
          mixed_hash(p.is("hash", "mixed")) {}

    int64_t distances() const { return length - 1; }
    int64_t pairs() const { return length * (length - 1) / 2; }  // per sequence
    // The tiles of a sequence, including those on the diagonal.
    int64_t tiles() const {
        const int64_t edge = ceil_divide(length, tile);
        return edge * (edge + 1) / 2;
    }
    int64_t hash_width() const { return 6 * detectors * length * (length - 1); }  // per sequence

    int64_t length;
    int64_t positional;  // bits
    int64_t tile;
    bool statistic;   // events go through the dense statistic
    bool mixed_hash;  // keys of the hash table start anywhere
};

}  // namespace sawtooth::lut_sequence
