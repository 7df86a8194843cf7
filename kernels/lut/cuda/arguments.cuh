// Kernel arguments of the family lut. B is the number of items, T of detectors, C of pairs per detector; a
// table has 2^C rows.
#pragma once

#include "kernels/lut/records.cuh"
#include "kernels/lut_table/cuda/arguments.cuh"

namespace sawtooth::lut {

using namespace lut_table;

struct Arguments : CommonArguments {
    void* gradient_sums = nullptr;  // [batch, 2, detectors]: chosen row, alternative row
    Events<Event> main = {}, alternative = {};
};

}  // namespace sawtooth::lut
