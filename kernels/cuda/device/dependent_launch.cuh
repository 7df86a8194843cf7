#pragma once

#include "kernels/cuda/device/sync.cuh"

namespace sawtooth::device {

// Waits until the previous kernel has ended and its writes are visible. With programmatic dependent launch
// (PTX ISA, "griddepcontrol") a kernel may start while the previous one still runs. The wait costs nothing if
// the kernel was started in the usual way. Chips before Hopper have no such launches.
__device__ inline void wait_for_launches_before() {
#if __CUDA_ARCH__ >= 900
    jitter();
    asm volatile("griddepcontrol.wait;" ::: "memory");
    jitter();
#endif
}

// Lets the next launch start now, if there is room for it.
__device__ inline void let_next_launch_start() {
#if __CUDA_ARCH__ >= 900
    jitter();
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    jitter();
#endif
}

}  // namespace sawtooth::device
