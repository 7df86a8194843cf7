// Sets updated weights beyond a limit to that limit.
//
// Defines: THREADS.

#include "kernels/lut_table/cuda/arguments.cuh"

using namespace sawtooth;
using namespace sawtooth::lut_table;

// Grid: ceil(n / block_size). Thread i of the grid owns weight i. With the limits -1 and 1:
//   -3   0.5   2   NaN   ->   -1   0.5   1   NaN
extern "C" __global__ void __launch_bounds__(THREADS) limit_weights(Limit given) {
    const int64_t i = int64_t{blockIdx.x} * THREADS + threadIdx.x;
    if (i >= given.count) return;
    const float weight = given.weights[i];
    if (weight < given.least) given.weights[i] = given.least;
    if (weight > given.most) given.weights[i] = given.most;
}
