// Kernel arguments of the family lut. B are items, T detectors, C pairs of a detector; a table has 2^C rows.
#pragma once

#include "kernels/lut/records.cuh"
#include "kernels/lut_table/cuda/arguments.cuh"

namespace sawtooth::lut {

using namespace lut_table;

struct Arguments : CommonArguments {
    void* gradient_sums = nullptr;  // [batch, 2, detectors]: of the chosen rows, then of the alternatives
    Events<Event> main = {}, alternative = {};
};

}  // namespace sawtooth::lut
