// The arguments of the kernel of this folder, in the form in which the host fills them in.
#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::scale {

struct Arguments {
    const float* x;
    float* y;
    float a;
    int64_t count;  // numbers of x and of y
};

}  // namespace sawtooth::scale
