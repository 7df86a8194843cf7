// The pulse of a level: to[t] = 1 if t is a multiple of the chunk, otherwise 0; chunk = 3: 1 0 0 1 0 0 1 …
//
// Defines: THREADS.

#include "kernels/cuda/device/dependent_launch.cuh"
#include "kernels/memory/cuda/arguments.cuh"

using namespace sawtooth;
using namespace sawtooth::memory;

// Grid: ceil(length / THREADS); one thread per token.
extern "C" __global__ void __launch_bounds__(THREADS) pulse(PulseArguments given) {
    device::wait_for_launches_before();
    device::let_next_launch_start();
    const int64_t token = int64_t{blockIdx.x} * THREADS + threadIdx.x;
    if (token < given.length) given.to[token] = token % given.chunk == 0;
}
