// Fills an array with zeros, 16 bytes per thread.

#include "kernels/lut_table/cuda/arguments.cuh"

using namespace sawtooth;
using namespace sawtooth::lut_table;

// Grid: ceil(bytes / (16 block_size)). `bytes` is a multiple of 4; for 40 bytes:
//   thread   0        1         2
//   bytes    0 … 15   16 … 31   32 … 35, 36 … 39: single words, because less than 16 bytes are left
extern "C" __global__ void __launch_bounds__(THREADS) clear(Clear given) {
    const int64_t first = 16 * (int64_t{blockIdx.x} * THREADS + threadIdx.x);
    if (first + 16 <= given.bytes)
        *reinterpret_cast<uint4*>(static_cast<char*>(given.at) + first) = {0, 0, 0, 0};
    else
        for (int64_t at = first; at < given.bytes; at += 4)
            *reinterpret_cast<uint32_t*>(static_cast<char*>(given.at) + at) = 0;
}
