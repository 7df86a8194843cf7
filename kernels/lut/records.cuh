// Records in the memory of both backends.
#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::lut {

// An item chose a neuron, a row of a detector's table:
//   | item | neuron = detector * rows + row |    two int32
struct Event {
    int32_t item, neuron;
};

// The faults of a run of either family: a sum of integer terms leaves int32. There is one for each array of
// sums.
enum Fault { fault_y, fault_gradient_sums, fault_dx, fault_dpositional, fault_dweights };

}  // namespace sawtooth::lut
