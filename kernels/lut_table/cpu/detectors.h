#pragma once

#include <cstdint>

#include "kernels/core/range.h"
#include "kernels/cpu/scratch.h"

namespace sawtooth::lut_table {

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

// The inputs of the items, turned so that those of all items lie side by side.
struct CheckRooms {
    float* x;  // [inputs, items_a_tile]

    CheckRooms(cpu::Scratch& scratch, const DetectorCheck& check)
        : x(scratch.take<float>(check.inputs * items_a_tile)) {}
};

// Checks all detectors of at most items_a_tile items.
void check_detectors(const DetectorCheck& check, Range items, const CheckRooms& rooms);

}  // namespace sawtooth::lut_table
