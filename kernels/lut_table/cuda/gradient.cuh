// The gradient g of a detector: the sum of dy times the difference of the chosen row n and the alternative
// row n', which has the weakest bit flipped:
//   g = sum_o dy_o w(n, o) - sum_o dy_o w(n', o)
// Defines: SPARSE, ALIGNED (table.cuh), INTEGER (sums.cuh).
#pragma once

#include "kernels/cuda/device/reductions.cuh"
#include "kernels/lut_table/cuda/sums.cuh"
#include "kernels/lut_table/cuda/table.cuh"

namespace sawtooth::lut_table {

// The sums of weight times dy over the chosen and over the alternative row. Floats are summed as one sum of
// differences, which loses fewer digits.
struct Gradient {
    Sum main = 0, alternative = 0;

    __device__ void add(float weight, float other, float dy, double scale) {
        if constexpr (integer) {
            main += term(Wide{weight} * Wide{dy}, scale);
            alternative += term(Wide{other} * Wide{dy}, scale);
        } else {
            main += (weight - other) * dy;
        }
    }
    __device__ Wide value(double scale, int32_t* fault) const {
        return value_of(main, scale, fault) - value_of(alternative, scale, fault);
    }
};

// Computes the gradient from two neurons with the whole warp. Lane l has the outputs 4 l … 4 l + 3 and those
// 128, 256, … further on. Every lane gets the result.
__device__ inline Gradient gradient_of_rows(const Table& table, int64_t outputs, const float* dy,
                                            int64_t main, int64_t alternative, double scale) {
    Gradient gradient;
    const float *const chosen = table.weights + main * outputs, *const other =
                                                                    table.weights + alternative * outputs;
    for (int64_t o = 4 * device::lane_of_thread(); o < outputs; o += 128) {
        float a[4], b[4], d[4];
        load_four(chosen, o, outputs, a);
        load_four(other, o, outputs, b);
        load_four(dy, o, outputs, d);
#pragma unroll
        for (int k = 0; k < 4; ++k) gradient.add(a[k], b[k], d[k], scale);
    }
    gradient.main = device::sum_of_warp(gradient.main);
    if constexpr (integer) gradient.alternative = device::sum_of_warp(gradient.alternative);
    return gradient;
}

// Computes the gradient from two neurons with one thread, for sparse tables, where their targets may differ.
__device__ inline Gradient gradient_of_synapses(const Table& table, const float* dy, int64_t main,
                                                int64_t alternative, double scale) {
    Gradient gradient;
    const Row chosen(table, main, 0), other(table, alternative, 0);
    for (int k = 0; k < chosen.count; ++k)
        gradient.add(table.weights[chosen.begin + k], 0, dy[chosen.target(table, k)], scale);
    for (int k = 0; k < other.count; ++k)
        gradient.add(0, table.weights[other.begin + k], dy[other.target(table, k)], scale);
    return gradient;
}

}  // namespace sawtooth::lut_table
