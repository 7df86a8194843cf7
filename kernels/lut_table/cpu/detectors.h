#pragma once

#include <cstdint>

#include "kernels/core/range.h"
#include "kernels/cpu/scratch.h"
#include "kernels/lut_table/tensors.h"

namespace sawtooth::lut_table {

// Items side by side in vectors.
constexpr int64_t items_a_tile = 8;

// The inputs of the items, turned so that those of all items lie side by side.
struct CheckRooms {
    float* x;  // [inputs, items_a_tile]

    CheckRooms(cpu::Scratch& scratch, const Tensors& t) : x(scratch.take<float>(t.inputs * items_a_tile)) {}
};

// Checks all detectors of at most items_a_tile items.
void check_detectors(const Tensors& t, Range items, const CheckRooms& rooms);

}  // namespace sawtooth::lut_table
