#pragma once

#include <cstdint>

#include "kernels/core/range.h"
#include "kernels/cpu/scratch.h"
#include "kernels/lut_table/tensors.h"

namespace sawtooth::lut_table {

// The number of items side by side in vectors.
constexpr int64_t items_a_tile = 8;

// The inputs of a tile of items, transposed so that the same input of all items lies side by side.
struct CheckRooms {
    float* x;  // [inputs, items_a_tile]

    CheckRooms(cpu::Scratch& scratch, const Tensors& t) : x(scratch.take<float>(t.inputs * items_a_tile)) {}
};

// Checks all detectors for the items, at most items_a_tile of them.
void check_detectors(const Tensors& t, Range items, const CheckRooms& rooms);

}  // namespace sawtooth::lut_table
