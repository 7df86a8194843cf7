// What a sequence brings and keeps, as plain structs that the host and device text share. Null means
// "absent".
#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::memory {

// Rows that tokens bring and read, in the storage of the parameter `dtype`: [batch, length, d].
struct Vectors {
    const void *k = nullptr, *v = nullptr, *q = nullptr, *x = nullptr;
    void* y = nullptr;
    int64_t y_stride = 0;  // numbers from sequence to sequence: levels lie between them
};

// What a token does to a matrix: [batch, length] each; null: alpha 0, eta 0, theta 1.
struct Gates {
    const float *alpha = nullptr, *eta = nullptr, *theta = nullptr;
    float lambda = 0;  // decay in proportion to the step
    float share = 1;   // of a step that each token of a window gets
};

// A state that launches over neighbouring ranges of tokens pass on.
struct PassedState {
    const float* from = nullptr;  // before the first token; null: zeros
    float* to = nullptr;          // after the last one; null: not stored
    float* live = nullptr;        // between two launches
};

// M and its momentum S; of trellis S_K and S_V; of lattice its slots, as `m`.
struct States {
    PassedState m, s;
    float* boundaries = nullptr;  // m at multiples of `chunk` and after the last token; null: not stored
    int64_t chunk = 1;            // tokens between boundaries, as far as there are any
    int64_t boundary_count = 0;   // chunks + 1
};

}  // namespace sawtooth::memory
