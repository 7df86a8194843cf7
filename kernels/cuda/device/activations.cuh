// Functions of one number that are correct for any argument: large ones do not overflow, and NaN stays NaN.
#pragma once

namespace sawtooth::device {

__device__ inline float sigmoid(float x) {
    const float falling = expf(-fabsf(x));
    const float upper = 1 / (1 + falling);
    return x >= 0 ? upper : x < 0 ? falling * upper : x;
}

__device__ inline float silu(float x) { return x * sigmoid(x); }

}  // namespace sawtooth::device
