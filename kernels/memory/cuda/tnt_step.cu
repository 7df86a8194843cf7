// The step of tnt's global memory M [d, d] after a shard of `count` tokens:
//   mean = (sums of y over the shard's local memories) / count   [d]
//   M = (1 - mean of alpha) M + mean mean^T
//
// Defines: THREADS, SHARED_BYTES (0), WIDTH (d).

#include "kernels/cuda/device/dependent_launch.cuh"
#include "kernels/cuda/device/reductions.cuh"
#include "kernels/cuda/device/sync.cuh"
#include "kernels/memory/cuda/arguments.cuh"

using namespace sawtooth;
using namespace sawtooth::memory;

constexpr int d = WIDTH;
static_assert(SHARED_BYTES == 0, "shared memory is static here");

// Grid: tiles of M, batch. Every block computes the means itself. The threads of all blocks share the
// elements of M: element blockIdx.x THREADS + threadIdx.x and every gridDim.x THREADS after it.
//   reads    alpha [batch, length], sums [batch, locals, d], m.from [batch, d, d]
//   writes   m.to [batch, d, d]; boundaries [batch, boundary_count, d, d]: M before the shard, and the last M
extern "C" __global__ void __launch_bounds__(THREADS) tnt_step(Arguments given) {
    __shared__ double room[THREADS];
    __shared__ float mean[d];
    const int64_t batch = blockIdx.y, count = given.last - given.first;
    // alpha is an input that no earlier launch writes.
    double alpha = 0;
    for (int64_t token = given.first + threadIdx.x; token < given.last; token += THREADS)
        alpha += given.gates.alpha[batch * given.length + token];
    const float decay =
        1 - static_cast<float>(device::sum_of_block(alpha, room) / static_cast<double>(count));
    device::wait_for_launches_before();
    device::let_next_launch_start();
    for (int r = threadIdx.x; r < d; r += THREADS) {
        float sum = 0;
        for (int64_t local = 0; local < given.locals; ++local)
            sum += given.sums[(batch * given.locals + local) * d + r];
        mean[r] = sum / static_cast<float>(count);
    }
    device::sync_block();  // `mean` is visible to all threads
    for (int at = blockIdx.x * THREADS + threadIdx.x; at < d * d; at += gridDim.x * THREADS) {
        const float m = given.m.from ? given.m.from[batch * d * d + at] : 0;
        const float moved = decay * m + mean[at / d] * mean[at % d];
        given.m.to[batch * d * d + at] = moved;
        if (!given.boundaries) continue;
        float* const boundaries = given.boundaries + batch * given.boundary_count * d * d + at;
        boundaries[given.first / given.chunk * d * d] = m;
        if (given.last == given.length) boundaries[(given.boundary_count - 1) * d * d] = moved;
    }
}
