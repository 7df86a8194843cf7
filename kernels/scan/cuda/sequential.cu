// y_t = y_(t-1) o x_t along L of [B, L, D] with one thread per column (b, d), like the cumulative sum of a
// framework along a middle axis. There are L dependent combines and few threads. To hide the memory latency,
// the inputs of the next `ahead` steps are loaded while the current ones are combined.
//
// A thread block is one warp, so that columns spread over the SMs. Thread i owns column i % D of sequence i /
// D.
//
// Defines: OP, X (storage of the inputs), Y (of y), FLIPPED, THREADS.

#include "kernels/scan/cuda/access.cuh"

using namespace sawtooth;
using namespace sawtooth::scan;

constexpr int ahead = 16;

__device__ void load(const Inputs& from, int64_t at, int64_t stride, int64_t there,
                     OP::Input (&in)[ahead][1]) {
#pragma unroll
    for (int k = 0; k < ahead; ++k) {
        in[k][0] = {};
        if (k < there) load_planes<device::X>(from, at + k * stride, in[k]);
    }
}

// Grid: ceil(B * D / 32).
extern "C" __global__ void __launch_bounds__(THREADS) sequential(Scan given) {
    const int64_t chain = int64_t{blockIdx.x} * THREADS + threadIdx.x;  // [batch, channel]
    if (chain >= given.batch * given.channels) return;
    const Geometry<FLIPPED> geometry{given.length, given.channels};
    const int64_t stride = geometry.stride();
    int64_t at = geometry.at(chain / given.channels, 0, chain % given.channels);

    OP::State state = start_state<OP>(given.initial, chain);
    OP::Input now[ahead][1], next[ahead][1];
    load(given.in, at, stride, given.length, next);
    for (int64_t left = given.length; left > 0; left -= ahead) {
#pragma unroll
        for (int k = 0; k < ahead; ++k) now[k][0] = next[k][0];
        load(given.in, at + ahead * stride, stride, left - ahead, next);
#pragma unroll
        for (int k = 0; k < ahead; ++k) {
            if (k >= left) break;
            state = OP::advance(state, now[k][0]);
            store_y<device::Y>(given.y, at + k * stride, {OP::finish(state)});
        }
        at += ahead * stride;
    }
}
