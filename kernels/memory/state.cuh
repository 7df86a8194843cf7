// Inputs and state of a sequence, as plain structs shared by host and device code. Null means "absent".
#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::memory {

// Input and output rows of tokens, stored as the parameter `dtype` says: [batch, length, d].
struct Vectors {
    const void *k = nullptr, *v = nullptr, *q = nullptr, *x = nullptr;
    void* y = nullptr;
    int64_t y_stride = 0;  // numbers from one sequence to the next; levels lie between
};

// The gates of tokens, [batch, length] each; null means alpha 0, eta 0, theta 1.
struct Gates {
    const float *alpha = nullptr, *eta = nullptr, *theta = nullptr;
    float lambda = 0;  // decay in proportion to the step
    float share = 1;   // of a step for each token of a window
};

// A state that launches pass on from one range of tokens to the next.
struct PassedState {
    const float* from = nullptr;  // before the first token; null means zeros
    float* to = nullptr;          // after the last token; null: not stored
    float* live = nullptr;        // between two launches
};

// M and its momentum S; S_K and S_V of trellis; `m` holds the slots of lattice.
struct States {
    PassedState m, s;
    float* boundaries = nullptr;  // m at multiples of `chunk` and after the last token; null: not stored
    int64_t chunk = 1;            // tokens between boundaries, at most the length
    int64_t boundary_count = 0;   // chunks + 1
};

}  // namespace sawtooth::memory
