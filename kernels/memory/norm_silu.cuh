#pragma once

#include "kernels/memory/tiles.cuh"

namespace sawtooth::memory {

template <class Number>
__device__ Number sum_of_quad(Number value) {
    value += __shfl_xor_sync(device::whole_warp, value, 1);
    return value + __shfl_xor_sync(device::whole_warp, value, 2);
}

// sqrt(count) silu(w) / max(norm(silu(w)), 1e-12) of the rows of 16 tokens; columns from `count` on are
// zeros.
template <int count, int tiles>
__device__ void norm_silu(Tile (&w)[tiles]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        double square = 0;
#pragma unroll
        for (int n = 0; n < tiles; ++n)
#pragma unroll
            for (int at = 2 * half; at < 2 * half + 2; ++at) {
                w[n][at] = silu_of(w[n][at]);
                square += static_cast<double>(w[n][at]) * static_cast<double>(w[n][at]);
            }
        const double norm = sqrt(sum_of_quad(square));
        const float factor =
            static_cast<float>(sqrt(static_cast<double>(count)) / (norm > 1e-12 ? norm : 1e-12));
#pragma unroll
        for (int n = 0; n < tiles; ++n) w[n][2 * half] *= factor, w[n][2 * half + 1] *= factor;
    }
}

}  // namespace sawtooth::memory
