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

// Starts the copies of `boxes` neighbouring boxes of [rows, columns]; in shared memory they follow each
// other.
template <int boxes, int rows, int columns, class Element>
__device__ void copy_boxes(const TensorMap& map, Element* to, Barrier& barrier, int y, int z) {
#pragma unroll
    for (int b = 0; b < boxes; ++b) copy_box(map, to + b * rows * columns, barrier, b * columns, y, z);
}

// Starts to store one box in shared memory. What lies outside the array is left out. One thread calls it, and
// the following functions, which name the boxes of this thread.
__device__ inline void store_box(const TensorMap& map, const void* from, int x, int y, int z) {
    jitter();
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map),
        "r"(shared_address(from)), "r"(x), "r"(y), "r"(z)
        : "memory");
    jitter();
}
// Starts to add one box likewise to an f32 array.
__device__ inline void add_box(const TensorMap& map, const void* from, int x, int y, int z) {
    jitter();
    asm volatile(
        "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::
            "l"(&map),
        "r"(shared_address(from)), "r"(x), "r"(y), "r"(z)
        : "memory");
    jitter();
}
__device__ inline void end_batch_of_boxes() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Waits until the boxes of all batches have been read from shared memory.
__device__ inline void wait_until_boxes_are_read() {
    jitter();
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    jitter();
}
// Waits until all batches have been stored or added.
__device__ inline void wait_for_boxes() {
    jitter();
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    jitter();
}

}  // namespace sawtooth::device
