// How the kernels address a scan. Arrays are [batch, length, channels], channels fastest. Step s of the scan
// is position s, or length - 1 - s if FLIPPED. A value of several planes (the inputs (a, x) of linear, or a
// state) has one array per plane.
#pragma once

#include "kernels/cuda/device/words.cuh"
#include "kernels/scan/cuda/arguments.cuh"
#include "kernels/scan/cuda/operators.cuh"

namespace sawtooth::scan {

template <bool flipped>
struct Geometry {
    int64_t length, channels;

    __device__ int64_t at(int64_t batch, int64_t step, int64_t column) const {
        const int64_t position = flipped ? length - 1 - step : step;
        return (batch * length + position) * channels + column;
    }
    // The number of elements from one step to the next.
    __device__ int64_t stride() const { return flipped ? -channels : channels; }
};

// Loads `vector` neighbouring values, one access per plane.
template <class Storage, int count, int vector>
__device__ void load_planes(const Inputs& from, int64_t at, Floats<count> (&values)[vector]) {
    float plane[vector];
#pragma unroll
    for (int p = 0; p < count; ++p) {
        device::load<Storage>(from.plane[p], at, plane);
#pragma unroll
        for (int v = 0; v < vector; ++v) values[v].at[p] = plane[v];
    }
}

template <int count, int vector>
__device__ void load_states(const Planes& from, int64_t at, Floats<count> (&values)[vector]) {
    load_planes<device::f32>({from.plane[0], from.plane[1]}, at, values);
}

template <int count, int vector>
__device__ void store_states(const Planes& to, int64_t at, const Floats<count> (&values)[vector]) {
    float plane[vector];
#pragma unroll
    for (int p = 0; p < count; ++p) {
#pragma unroll
        for (int v = 0; v < vector; ++v) plane[v] = values[v].at[p];
        device::store<device::f32>(to.plane[p], at, plane);
    }
}

// The state before step 0: the identity, or the initial value of linear if it is given.
template <class Op>
__device__ typename Op::State start_state(const float* initial, int64_t column_of_batch) {
    typename Op::State state = Op::identity();
    if (initial) state.at[planes<Op> - 1] = initial[column_of_batch];
    return state;
}

}  // namespace sawtooth::scan
