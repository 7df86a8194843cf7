// Records that both backends know.
#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::lut_table {

// Full: weights are [neurons, outputs] and all else is null. Sparse: neuron n has the synapses offsets[n] …
// offsets[n + 1] - 1, each with a target (an output), a weight, and with metas a factor meta_rates[meta] of
// lr. Three neurons with 2, 0 and 3 synapses:
//   offsets [neurons + 1]          0       2  2          5
//   targets, weights, metas        7   0         3   3   1    [synapses]; a target may occur twice
struct Table {
    const float* weights;
    const int32_t *offsets, *targets, *metas;
    const float* meta_rates;
};

// What the detectors found, three arrays of the same shape, detectors last: the bits of the pairs, the
// difference of the smallest magnitude, and its bit, -1 if all pairs are skipped.
struct Found {
    int32_t* lookup_index;
    float* min_delta;
    int32_t* min_delta_index;
};

// A buffer with room for `capacity` events; `count` counts all that were added, also those without room.
template <class Event>
struct Events {
    Event* events;
    int32_t* count;
    int64_t capacity;
};

// The faults of a run of either family: a sum of integer terms leaves int32. There is one for each array of
// sums.
enum Fault { fault_y, fault_gradient_sums, fault_dx, fault_dpositional, fault_dweights };

}  // namespace sawtooth::lut_table
