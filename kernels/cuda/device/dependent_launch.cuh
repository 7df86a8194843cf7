#pragma once

namespace sawtooth::device {

// Programmatic dependent launch (PTX ISA, "griddepcontrol"): a kernel may be started while the one before it
// still runs, and waits here until that one has ended and all that it wrote is seen. Costs nothing where it
// was started in the usual way. Chips before Hopper have no such launches.
__device__ inline void wait_for_launches_before() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// The launch after this one may start now, as far as there is room for it.
__device__ inline void let_next_launch_start() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace sawtooth::device
