// Barriers of a thread block and of a warp, and atomic operations. Kernels call these functions, so that
// jitter reaches every place where threads wait for one another or exchange data.
//
// Jitter helps to find missing barriers. The warps of a block run almost in step, so data is often there in
// time even without the barrier that it needs. If the macro SAWTOOTH_JITTER is defined, as a number, a warp
// sleeps for a pseudo-random time before and after every barrier, wait, arrival, published flag, atomic
// operation and fence. This drives the warps apart, and a missing barrier shows as a wrong result. Each
// number gives different times. It does not drive the lanes of a warp apart.
#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::device {

#ifdef SAWTOOTH_JITTER
// Sleeps for 0 to 4 us, a quarter of a microsecond on average: most waits are short, a few are long. `place`
// is the line of the call.
__device__ inline void jitter(uint32_t place = __builtin_LINE()) {
    const uint32_t parts[] = {blockIdx.x,       blockIdx.y, blockIdx.z,
                              threadIdx.x / 32, place,      static_cast<uint32_t>(clock())};
    uint32_t random = SAWTOOTH_JITTER;
#pragma unroll
    for (const uint32_t part : parts) {
        random = (random ^ part) * 0x9E3779B1u;
        random ^= random >> 15;
    }
    __nanosleep((random & 2047) >> (random >> 29));  // takes up to twice the time that is asked for
}
#else
__device__ inline void jitter() {}
#endif

// Waits until all threads of the block are here; each then sees what the others stored before.
__device__ inline void sync_block() {
    jitter();
    __syncthreads();
    jitter();
}

// The same; also returns whether `mine` holds for any thread.
__device__ inline bool any_of_block(bool mine) {
    jitter();
    const bool any = __syncthreads_or(mine);
    jitter();
    return any;
}

// A barrier for `threads` threads, which may come from several places in the code, whereas sync_block needs
// all threads of the block at one place. `number` is 1 to 15 and must differ between barriers that are in use
// at the same time.
template <int number, int threads>
__device__ void sync_threads() {
    jitter();
    asm volatile("barrier.sync %0, %1;" ::"n"(number), "n"(threads) : "memory");
    jitter();
}

// The same; also returns whether `mine` holds for any of the threads.
template <int number, int threads>
__device__ bool any_of_threads(bool mine) {
    int any;
    jitter();
    asm volatile(
        "{\n"
        ".reg .pred mine, any;\n"
        "setp.ne.b32 mine, %3, 0;\n"
        "barrier.red.or.pred any, %1, %2, mine;\n"
        "selp.b32 %0, 1, 0, any;\n"
        "}\n"
        : "=r"(any)
        : "n"(number), "n"(threads), "r"(static_cast<int>(mine))
        : "memory");
    jitter();
    return any != 0;
}

// A barrier for the group of 128 neighbouring threads that the thread belongs to. It is barrier 1 + the
// number of the group, also for products of groups (warpgroup.cuh).
__device__ inline void sync_group() {
    jitter();
    asm volatile("barrier.cta.sync.aligned %0, 128;" ::"r"(static_cast<int>(threadIdx.x / 128) + 1)
                 : "memory");
    jitter();
}

// Orders memory accesses: the threads of the block see what this thread did before the call before what it
// does afterwards.
__device__ inline void order_stores_of_block() {
    jitter();
    __threadfence_block();
    jitter();
}

// Waits until all lanes of the warp are here; each then sees what the others stored before.
__device__ inline void sync_warp() {
    jitter();
    __syncwarp();
    jitter();
}

// Adds atomically; returns the number before.
template <class Number>
__device__ Number atomic_add(Number* to, Number value) {
    jitter();
    const Number before = atomicAdd(to, value);
    jitter();
    return before;
}

// Stores `value` if the number is `expected`, atomically; returns the number before.
template <class Number>
__device__ Number atomic_compare_and_swap(Number* at, Number expected, Number value) {
    jitter();
    const Number before = atomicCAS(at, expected, value);
    jitter();
    return before;
}

}  // namespace sawtooth::device
