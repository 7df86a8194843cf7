#pragma once

namespace sawtooth::device {

// A sum and its rounding error.
struct Compensated {
    float sum, error;
};

// Returns left + right with its exact rounding error (Knuth). Intrinsics are never contracted or reordered.
__device__ inline Compensated two_sum(float left, float right) {
    const float sum = __fadd_rn(left, right);
    const float of_right = __fsub_rn(sum, left);
    const float of_left = __fsub_rn(sum, of_right);
    return {sum, __fadd_rn(__fsub_rn(left, of_left), __fsub_rn(right, of_right))};
}

}  // namespace sawtooth::device
