#pragma once

#include "kernels/cuda/device/sync.cuh"
#include "kernels/cuda/device/types.cuh"

namespace sawtooth::device {

// Starts a copy of 4, 8 or 16 bytes from global to shared memory, bypassing registers; if not `there`, it
// stores zeros and reads nothing. Both addresses are multiples of `bytes`. The copy is visible to this thread
// after wait_for_copies, and to others after a further barrier.
template <int bytes>
__device__ void copy_async(void* to, const void* from, bool there) {
    static_assert(bytes == 4 || bytes == 8 || bytes == 16);
    const auto shared = static_cast<uint32_t>(__cvta_generic_to_shared(to));
    if constexpr (bytes == 16)  // the only size that can bypass the L1 cache
        asm volatile("cp.async.cg.shared.global [%0], [%1], %2, %3;" ::"r"(shared), "l"(from), "n"(bytes),
                     "r"(there ? bytes : 0)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared), "l"(from), "n"(bytes),
                     "r"(there ? bytes : 0)
                     : "memory");
}

// Starts a copy of a whole Words.
template <class Words>
__device__ void copy_async(Words* to, const void* from, bool there) {
    copy_async<static_cast<int>(sizeof(Words))>(static_cast<void*>(to), from, there);
}

__device__ inline void wait_for_copies() {
    jitter();
    asm volatile("cp.async.wait_all;" ::: "memory");
    jitter();
}

// Copies form batches: the first function ends a batch, the second waits for all but the last `batches`
// batches.
__device__ inline void end_batch_of_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int batches>
__device__ void wait_for_copies_but_last() {
    jitter();
    asm volatile("cp.async.wait_group %0;" ::"n"(batches) : "memory");
    jitter();
}

}  // namespace sawtooth::device
