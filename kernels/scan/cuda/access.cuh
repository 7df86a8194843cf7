// How the kernels address a scan. Arrays are [batch, length, channels], channels fastest. Step s of the scan
// is position s, or length - 1 - s if FLIPPED. A value of several planes (the inputs (a, x) of a recurrence,
// or a state) has one array per plane, whose elements are floats or complex numbers.
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
template <class Storage, int count, int parts, int vector>
__device__ void load_planes(const Inputs& from, int64_t at, Floats<count, parts> (&values)[vector]) {
    float plane[vector * parts];
#pragma unroll
    for (int p = 0; p < count / parts; ++p) {
        device::load<Storage>(from.plane[p], at * parts, plane);
#pragma unroll
        for (int k = 0; k < vector * parts; ++k) values[k / parts].at[p * parts + k % parts] = plane[k];
    }
}

template <int count, int parts, int vector>
__device__ void load_states(const Planes& from, int64_t at, Floats<count, parts> (&values)[vector]) {
    load_planes<device::f32>({from.plane[0], from.plane[1]}, at, values);
}

template <int count, int parts, int vector>
__device__ void store_states(const Planes& to, int64_t at, const Floats<count, parts> (&values)[vector]) {
    float plane[vector * parts];
#pragma unroll
    for (int p = 0; p < count / parts; ++p) {
#pragma unroll
        for (int k = 0; k < vector * parts; ++k) plane[k] = values[k / parts].at[p * parts + k % parts];
        device::store<device::f32>(to.plane[p], at * parts, plane);
    }
}

// Stores neighbouring values of y, in one access.
template <class Storage, int parts, int vector>
__device__ void store_y(void* y, int64_t at, const Floats<parts, parts> (&values)[vector]) {
    float plane[vector * parts];
#pragma unroll
    for (int k = 0; k < vector * parts; ++k) plane[k] = values[k / parts].at[k % parts];
    device::store<Storage>(y, at * parts, plane);
}

// The state before step 0: the identity, or the initial value of a recurrence if it is given.
template <class Op>
__device__ typename Op::State start_state(const float* initial, int64_t column_of_batch) {
    using State = typename Op::State;
    constexpr int parts = State::parts, first = (planes<State> - 1) * parts;
    State state = Op::identity();
    if (initial) {
#pragma unroll
        for (int k = 0; k < parts; ++k) state.at[first + k] = initial[column_of_batch * parts + k];
    }
    return state;
}

}  // namespace sawtooth::scan
