// y_t = y_(t-1) o x_t along L of [B, L, D]: one thread a column (b, d), as a framework's cumulative sum does
// on a middle axis. L combines one after another, and few threads: what keeps it from being slower still is
// that the inputs of the next `ahead` steps are on their way while those of the last are combined.
//
// Defines: OP, X (storage of the inputs), Y (of y), FLIPPED.

#include "kernels/scan/access.cuh"

using namespace sawtooth;
using namespace sawtooth::scan;

constexpr int ahead = 16;
constexpr int threads = 32;  // a block: columns spread over the multiprocessors

__device__ void load(const void* input_0, const void* input_1, int64_t at, int64_t stride, int64_t there,
                     OP::Input (&in)[ahead][1]) {
#pragma unroll
    for (int k = 0; k < ahead; ++k) {
        in[k][0] = {};
        if (k < there) load_planes<device::X>(input_0, input_1, at + k * stride, in[k]);
    }
}

extern "C" __global__ void __launch_bounds__(threads)
    sequential(const void* input_0, const void* input_1, const float* initial, void* y, int64_t length,
               int64_t channels, int64_t batches) {
    const int64_t chain = int64_t{blockIdx.x} * threads + threadIdx.x;  // [batch, channel]
    if (chain >= batches * channels) return;
    const Geometry<FLIPPED> geometry{length, channels};
    const int64_t stride = geometry.stride();
    int64_t at = geometry.at(chain / channels, 0, chain % channels);

    OP::State state = start_state<OP>(initial, chain);
    OP::Input now[ahead][1], next[ahead][1];
    load(input_0, input_1, at, stride, length, next);
    for (int64_t left = length; left > 0; left -= ahead) {
#pragma unroll
        for (int k = 0; k < ahead; ++k) now[k][0] = next[k][0];
        load(input_0, input_1, at + ahead * stride, stride, left - ahead, next);
#pragma unroll
        for (int k = 0; k < ahead; ++k) {
            if (k >= left) break;
            state = OP::advance(state, now[k][0]);
            device::store<device::Y>(y, at + k * stride, {OP::finish(state)});
        }
        at += ahead * stride;
    }
}
