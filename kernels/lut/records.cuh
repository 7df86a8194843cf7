// What lies in the memory of both backends.
#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::lut {

// An item chose a neuron.
struct Event {
    int32_t item, neuron;
};

// Arrays of sums of integer terms, of both families: each has a fault for a sum that leaves int32.
enum Fault { fault_y, fault_gradient_sums, fault_dx, fault_dpositional, fault_dweights };

}  // namespace sawtooth::lut
