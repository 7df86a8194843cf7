// Records in memory that both backends use.
#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::lut_table {

// The tables of all detectors. Full: weights are [neurons, outputs], and all other members are null. Sparse:
// neuron n has the synapses offsets[n] … offsets[n + 1] - 1, each with a target (an output) and a weight, and
// if there are metas, with a factor meta_rates[meta] of lr. Three neurons with 2, 0 and 3 synapses:
//   offsets [neurons + 1]          0       2  2          5
//   targets, weights, metas        7   0         3   3   1    [synapses]; a target may occur twice
struct Table {
    const float* weights;
    const int32_t *offsets, *targets, *metas;
    const float* meta_rates;
};

// The results of the detectors, three arrays of the same shape with detectors as the last dimension: the bits
// of the pairs, the difference of the smallest magnitude, and its bit, -1 if all pairs are skipped.
struct Found {
    int32_t* lookup_index;
    float* min_delta;
    int32_t* min_delta_index;
};

// The least number by which normalise_gradients divides.
constexpr float least_divisor = 1e-16f;

// A buffer with room for `capacity` events; `count` also counts those that found no room.
template <class Event>
struct Events {
    Event* events;
    int32_t* count;
    int64_t capacity;
};

// The faults of a run of either family, one for each array of sums: a sum of integer terms has left int32.
enum Fault { fault_y, fault_gradient_sums, fault_dx, fault_dpositional, fault_dweights };

}  // namespace sawtooth::lut_table
