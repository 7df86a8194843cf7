// Barriers in shared memory that also count the bytes of bulk copies (PTX ISA, mbarrier); sm_90 and later.
#pragma once

#include "kernels/cuda/device/sync.cuh"
#include "kernels/cuda/device/types.cuh"
#include "kernels/cuda/device/warp.cuh"

namespace sawtooth::device {

__device__ inline uint32_t shared_address(const void* in_shared) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(in_shared));
}

// A phase ends when `arrivals` threads have arrived and all expected bytes are there. Waits name the parity
// of the phase that they wait for: 0 for the first one. A wait for parity 1 before the first phase returns at
// once.
struct Barrier {
    uint64_t word;

    // One thread calls it, then make_barriers_visible, then all threads pass a barrier of the block.
    __device__ void start(int arrivals) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(this)), "r"(arrivals)
                     : "memory");
    }
    __device__ void arrive() {
        jitter();
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(this)) : "memory");
        jitter();
    }
    __device__ void arrive_and_expect(int bytes) {
        jitter();
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(this)),
                     "r"(bytes)
                     : "memory");
        jitter();
    }
    __device__ void wait(int parity) {
        jitter();
        asm volatile(
            "{\n"
            ".reg .pred done;\n"
            "again:\n"
            "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
            "@!done bra again;\n"
            "}\n" ::"r"(shared_address(this)),
            "r"(parity)
            : "memory");
        jitter();
    }
};

// Makes started barriers visible to bulk copies and to other threads.
__device__ inline void make_barriers_visible() {
    jitter();
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    jitter();
}

// The place in a ring of `slots` slots, and the parity of its present round.
template <int slots>
struct RingPlace {
    int slot = 0, parity = 0;

    __device__ void advance() {
        if (++slot == slots) slot = 0, parity ^= 1;
    }
};

// The barriers of a ring. A phase of `full` ends when the slot is filled, one of `empty` when all readers
// have left it.
template <int slots>
struct RingBarriers {
    Barrier full[slots], empty[slots];

    // As Barrier::start. So many threads arrive at a slot when they fill it, and so many when they leave it.
    __device__ void start(int fillers, int readers) {
        for (int slot = 0; slot < slots; ++slot) {
            full[slot].start(fillers);
            empty[slot].start(readers);
        }
    }
    // Waits until the slot may be filled; returns the barrier that counts what fills it.
    __device__ Barrier& begin_to_fill(const RingPlace<slots>& place) {
        empty[place.slot].wait(place.parity ^ 1);
        return full[place.slot];
    }
    __device__ void wait_until_full(const RingPlace<slots>& place) { full[place.slot].wait(place.parity); }
    // One lane of the warp arrives.
    __device__ void leave(int slot) {
        if (lane_of_thread() == 0) empty[slot].arrive();
    }
};

}  // namespace sawtooth::device
