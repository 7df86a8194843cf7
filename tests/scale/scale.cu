// y = a x over [batch, length], taken as one row of numbers, with one thread per number.
//
// Defines: THREADS, which is the parameter block_size; SHARED_BYTES, 0.

#include "tests/scale/arguments.cuh"

static_assert(SHARED_BYTES == 0, "nothing is shared");

extern "C" __global__ void __launch_bounds__(THREADS) scale(sawtooth::scale::Arguments given) {
    const int64_t i = int64_t{blockIdx.x} * THREADS + threadIdx.x;
    if (i < given.count) given.y[i] = given.a * given.x[i];
}
