// Records in memory: Event of the variant unfused, on both backends; RowChoice of fused on a GPU.
#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::lut {

// An item chose a neuron, a row of a detector's table:
//   | item | neuron = detector * rows + row |    two int32
struct Event {
    int32_t item, neuron;
};

// The row of a detector's table that an item chose, and the one with the weakest bit flipped; the same if the
// detector skips all pairs. For tables of at most 256 rows.
struct RowChoice {
    uint8_t row, alternative;
};

}  // namespace sawtooth::lut
