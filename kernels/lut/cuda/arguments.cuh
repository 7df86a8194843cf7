// Kernel arguments of the family lut. B is the number of items, T of detectors, C of pairs per detector; a
// table has 2^C rows.
#pragma once

#include "kernels/cuda/device/tensor_map.cuh"
#include "kernels/lut/records.cuh"
#include "kernels/lut_table/cuda/arguments.cuh"

namespace sawtooth::lut {

using namespace lut_table;

struct Arguments : CommonArguments {
    void* gradient_sums = nullptr;  // [batch, 2, detectors]: chosen row, alternative row
    Events<Event> main = {}, alternative = {};
    // Where tables pass in slices (slices.cuh).
    RowChoice* row_choices = nullptr;  // [detectors, padded_items]
    int64_t padded_items = 0;
    float* sums_of_parts = nullptr;    // [parts, batch, outputs]
    float* gradient_slices = nullptr;  // [slices, batch, detectors]
};

// Tables in slices: a box has the outputs of a slice of a table, or the choices of a thread block's items.
struct SliceArguments {
    TensorMap weights;  // [detectors, rows, outputs]
    TensorMap choices;  // [detectors, padded_items / 64, 64]
    Arguments rest;
};
constexpr int chunk = 8;  // detectors that stay together when they are split

}  // namespace sawtooth::lut
