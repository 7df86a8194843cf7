// Barriers of a thread block and of a warp, and atomic operations: kernels call these, so that jitter reaches
// every place where threads wait for one another or share data.
//
// Jitter looks for missing barriers. The warps of a block run almost in step, so data is often there in time
// without the barrier that it needs. If the macro SAWTOOTH_JITTER is defined, as a number, a warp sleeps for
// a pseudo-random time before and after every barrier, wait, arrival, published flag, atomic operation and
// fence. This drives the warps apart, and a missing barrier shows as a wrong result. Each number gives other
// times. It does not drive the lanes of a warp apart.
#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::device {

#ifdef SAWTOOTH_JITTER
// 0 to 4 us, a quarter of a microsecond on average: most waits are short, a few are long. `place` is the line
// of the call.
__device__ inline void jitter(uint32_t place = __builtin_LINE()) {
    const uint32_t parts[] = {blockIdx.x,       blockIdx.y, blockIdx.z,
                              threadIdx.x / 32, place,      static_cast<uint32_t>(clock())};
    uint32_t random = SAWTOOTH_JITTER;
#pragma unroll
    for (const uint32_t part : parts) {
        random = (random ^ part) * 0x9E3779B1u;
        random ^= random >> 15;
    }
    __nanosleep((random & 2047) >> (random >> 29));  // which takes up to twice the time
}
#else
__device__ inline void jitter() {}
#endif

// All threads of the block have come here, and see what the others stored before.
__device__ inline void sync_block() {
    jitter();
    __syncthreads();
    jitter();
}

// The same, and whether `mine` holds for any thread.
__device__ inline bool any_of_block(bool mine) {
    jitter();
    const bool any = __syncthreads_or(mine);
    jitter();
    return any;
}

// A barrier for `threads` threads, which may come from several places in the code; sync_block needs all
// threads of the block at one place. `number` is 1 to 15, another one for barriers that are used at once.
template <int number, int threads>
__device__ void sync_threads() {
    jitter();
    asm volatile("barrier.sync %0, %1;" ::"n"(number), "n"(threads) : "memory");
    jitter();
}

// What this thread stored or read before is done before what follows, as seen by the threads of the block.
__device__ inline void order_stores_of_block() {
    jitter();
    __threadfence_block();
    jitter();
}

// All lanes of the warp have come here, and see what the others stored before.
__device__ inline void sync_warp() {
    jitter();
    __syncwarp();
    jitter();
}

// Returns the number before.
template <class Number>
__device__ Number atomic_add(Number* to, Number value) {
    jitter();
    const Number before = atomicAdd(to, value);
    jitter();
    return before;
}

// Stores `value` if the number is `expected`; returns the number before.
template <class Number>
__device__ Number atomic_compare_and_swap(Number* at, Number expected, Number value) {
    jitter();
    const Number before = atomicCAS(at, expected, value);
    jitter();
    return before;
}

}  // namespace sawtooth::device
