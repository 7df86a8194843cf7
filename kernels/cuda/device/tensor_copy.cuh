// Copies of boxes of an array into shared memory (PTX ISA, cp.async.bulk.tensor); sm_90 and later.
#pragma once

#include "kernels/cuda/device/barrier.cuh"
#include "kernels/cuda/device/sync.cuh"
#include "kernels/cuda/device/tensor_map.cuh"

namespace sawtooth::device {

// Starts the copy of one box of an array of three dimensions; x is the fastest. What lies outside the array
// becomes zeros and counts as copied. `barrier` counts its bytes. One thread calls it.
__device__ inline void copy_box(const TensorMap& map, void* to, Barrier& barrier, int x, int y, int z) {
    jitter();
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, "
        "%5}], [%2];" ::"r"(shared_address(to)),
        "l"(&map), "r"(shared_address(&barrier)), "r"(x), "r"(y), "r"(z)
        : "memory");
    jitter();
}

}  // namespace sawtooth::device
