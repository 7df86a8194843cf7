#pragma once

#include <cstdint>

#include "kernels/core/range.h"

namespace sawtooth::lut {

// Detectors compare pairs of the inputs of an item. Results are [items, detectors].
struct DetectorCheck {
    const float* x;          // [items, inputs]
    const int32_t* anchors;  // [detectors, pairs, 2], -1 skips a pair
    int64_t inputs, detectors, pairs;
    int32_t* lookup_index;
    float* min_delta;
    int32_t* min_delta_index;
};

// Items side by side in vectors.
constexpr int64_t items_a_tile = 8;

// Checks all detectors of at most items_a_tile items.
void check_detectors(const DetectorCheck& check, Range items);

}  // namespace sawtooth::lut
