// Records in the memory of the variant unfused, on both backends.
#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::lut {

// An item chose a neuron, a row of a detector's table:
//   | item | neuron = detector * rows + row |    two int32
struct Event {
    int32_t item, neuron;
};

}  // namespace sawtooth::lut
