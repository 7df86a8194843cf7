// Compares the pairs of a detector. Defines: ANCHORS (C).
//   anchors [T, C, 2], one detector       (4 9)  (2 7)   (5 -1)   (0 3)     C = 4
//   delta_r = x[first] - x[second]         0.5   -0.1    skipped   2.0
//   bit r is set if delta_r > eps           1      0       0        1       bits = 1001b, with eps = 0
// The weakest difference is -0.1, with index 1, so the alternative row is 1001b ^ 10b = 1011b.
#pragma once

#include "kernels/lut_table/cuda/arguments.cuh"

namespace sawtooth::lut_table {

// The pairs of a detector, in registers. If C is even, the pairs of every detector start at a multiple of 16
// bytes, so that two pairs take one load.
struct Pairs {
    int32_t inputs[2 * ANCHORS];

    __device__ explicit Pairs(const int32_t* anchors) {
        if constexpr (ANCHORS % 2 == 0) {
#pragma unroll
            for (int r = 0; r < 2 * ANCHORS; r += 4) {
                const int4 four = *reinterpret_cast<const int4*>(anchors + r);
                inputs[r] = four.x, inputs[r + 1] = four.y, inputs[r + 2] = four.z, inputs[r + 3] = four.w;
            }
        } else {
#pragma unroll
            for (int r = 0; r < 2 * ANCHORS; ++r) inputs[r] = anchors[r];
        }
    }
};

// Collects the bits of differences, and the weakest difference.
struct Detected {
    int32_t bits = 0;
    float weakest = 0;   // the difference of smallest magnitude; the first one if several are equal
    int32_t index = -1;  // the bit of the weakest difference; -1 if all are skipped

    __device__ void add(int r, float delta, float eps) {
        if (delta > eps) bits |= 1 << r;
        const bool is_weakest = index < 0 || fabsf(delta) < fabsf(weakest);
        weakest = is_weakest ? delta : weakest;
        index = is_weakest ? r : index;
    }
};

// Compares all pairs of a detector; at(i) reads input i. A pair with -1 is skipped: its bit is 0.
template <class At>
__device__ Detected detect(const Pairs& pairs, float eps, At at) {
    Detected detected;
#pragma unroll
    for (int r = 0; r < ANCHORS; ++r) {
        const int32_t first = pairs.inputs[2 * r], second = pairs.inputs[2 * r + 1];
        if (first >= 0 && second >= 0) detected.add(r, at(first) - at(second), eps);
    }
    return detected;
}

// Stores the result of a detector as entry `at`.
__device__ inline void store(const Found& found, int64_t at, const Detected& detected) {
    found.lookup_index[at] = detected.bits;
    found.min_delta[at] = detected.weakest;
    found.min_delta_index[at] = detected.index;
}

}  // namespace sawtooth::lut_table
