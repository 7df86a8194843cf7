// tnt, after a shard: M = (1 - a) M + mean mean^T, with the means of y and of alpha over the shard.
//
// Defines: WIDTH (d).

#include "kernels/cuda/device/dependent_launch.cuh"
#include "kernels/memory/arguments.cuh"

using namespace sawtooth;
using namespace sawtooth::memory;

constexpr int d = WIDTH, threads = 128;

// The sum of all threads' values, in the same order always.
__device__ double sum_of_block(double value, double (&room)[threads]) {
    room[threadIdx.x] = value;
    for (int step = threads / 2; step > 0; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step) room[threadIdx.x] += room[threadIdx.x + step];
    }
    __syncthreads();
    return room[0];
}

// Grid: rows in eighths, batch.
extern "C" __global__ void __launch_bounds__(threads) global_step(device_side::GlobalStep given) {
    __shared__ double room[threads];
    __shared__ float mean[d];
    device::wait_for_launches_before();
    device::let_next_launch_start();
    const int64_t batch = blockIdx.y, count = given.last - given.first;
    double alpha = 0;
    for (int64_t token = given.first + threadIdx.x; token < given.last; token += threads)
        alpha += given.alpha[batch * given.length + token];
    const float decay = 1 - static_cast<float>(sum_of_block(alpha, room) / static_cast<double>(count));
    for (int r = threadIdx.x; r < d; r += threads) {
        float sum = 0;
        for (int64_t local = 0; local < given.locals; ++local)
            sum += given.sums[(batch * given.locals + local) * d + r];
        mean[r] = sum / static_cast<float>(count);
    }
    __syncthreads();
    for (int at = blockIdx.x * threads + threadIdx.x; at < d * d; at += gridDim.x * threads) {
        const float m = given.m_from ? given.m_from[batch * d * d + at] : 0;
        const float moved = decay * m + mean[at / d] * mean[at % d];
        given.m_to[batch * d * d + at] = moved;
        if (!given.boundaries) continue;
        float* const boundaries = given.boundaries + batch * given.boundary_count * d * d + at;
        boundaries[given.first / given.shard * d * d] = m;
        if (given.last == given.length) boundaries[(given.boundary_count - 1) * d * d] = moved;
    }
}
