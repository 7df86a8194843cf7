// Divides gradients by their largest magnitude. The bits of numbers without a sign are ordered like the
// numbers, with NaN as the largest, so that an integer maximum finds it in any order:
//   gradients   0.5   -2     1                magnitudes    0.5   2   1
//   bits        3f000000   40000000   3f800000, the largest is that of 2   ->   0.25   -1   0.5
//
// Defines: THREADS.

#include "kernels/cuda/device/sync.cuh"
#include "kernels/cuda/device/warp.cuh"
#include "kernels/lut_table/cuda/arguments.cuh"

using namespace sawtooth;
using namespace sawtooth::lut_table;

// Grid: ceil(n / (16 block_size)). Thread block x has the 16 THREADS gradients from 16 x THREADS on, its
// thread t every THREADS-th of them from t on:
//   gradients [n]  ->  largest [1], which begins as 0
extern "C" __global__ void __launch_bounds__(THREADS) largest_gradient(Normalise given) {
    unsigned most = 0;
    const int64_t first = int64_t{blockIdx.x} * 16 * THREADS + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        const int64_t i = first + k * THREADS;
        if (i < given.count) most = max(most, __float_as_uint(fabsf(given.gradients[i])));
    }
    most = __reduce_max_sync(device::whole_warp, most);
    if (device::lane_of_thread() != 0) return;
    for (unsigned before = *given.largest; before < most;) {
        const unsigned now = device::atomic_compare_and_swap(given.largest, before, most);
        if (now == before) break;
        before = now;
    }
}

// Grid: ceil(n / block_size). Thread i of the grid owns gradient i; `largest` is final.
extern "C" __global__ void __launch_bounds__(THREADS) normalise_gradients(Normalise given) {
    const int64_t i = int64_t{blockIdx.x} * THREADS + threadIdx.x;
    if (i >= given.count) return;
    const float largest = __uint_as_float(*given.largest);
    given.gradients[i] /= largest < least_divisor ? least_divisor : largest;
}
