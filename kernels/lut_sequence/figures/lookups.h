#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/lut_sequence/figures/common.h"

namespace sawtooth::lut_sequence {

// The bits that detectors find in the drawn sequence, recomputed from the inputs of the result.

// The bits of a detector at a position or of a distance, and the bit nearest to flipping.
struct Bits {
    int32_t value = 0;
    int32_t weakest = -1;  // -1: all pairs of inputs are skipped, or there are no bits
    float delta = 0;       // the weakest difference or value

    float margin() const { return std::abs(delta); }
};

// The bits that a pair of positions flips for its alternative rows, which get the gradient.
struct Flips {
    bool query = false, key = false, positional = false;

    Flips(const Bits& q, const Bits& k, const Bits& pe)
        : positional(pe.weakest >= 0 && pe.margin() < q.margin() && pe.margin() < k.margin()) {
        (q.margin() < k.margin() ? query : key) = (q.margin() < k.margin() ? q : k).weakest >= 0;
    }
};

// The bits of the first `count` positions and their distances, for a range of detectors.
class Lookups {
  public:
    Lookups(const Result& result, const Drawn& drawn, Range detectors, int64_t count);

    const Bits& position(int64_t position, int64_t detector) const {
        return positions_[place(position, detector)];
    }
    // The bits of the distance of a query and an earlier key.
    const Bits& distance(int64_t query, int64_t key, int64_t detector) const {
        return distances_[place(query - key - 1, detector)];
    }

  private:
    size_t place(int64_t row, int64_t detector) const {
        return static_cast<size_t>(row * detectors_.count() + detector - detectors_.first);
    }

    Range detectors_;
    std::vector<Bits> positions_, distances_;  // [positions or distances, detectors]
};

}  // namespace sawtooth::lut_sequence
