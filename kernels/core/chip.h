#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace sawtooth {

enum class Backend { cpu, cuda };
inline const char* name_of(Backend backend) { return backend == Backend::cpu ? "cpu" : "cuda"; }

// The limits of a chip that decide what a variant can run. The CPU is a chip too; its shared memory is 0
// because its tiles need none.
struct Chip {
    Backend backend = Backend::cpu;
    std::string name;                    // product name
    std::string architecture;            // "sm_90a"; "x86-64"
    int multiprocessors = 0;             // streaming multiprocessors; cores of a CPU
    int64_t shared_bytes_per_block = 0;  // the most a thread block can opt in to
    int64_t memory_bytes = 0;            // of the device; of the machine for the CPU

    // The limits of thread blocks per SM; 0 for the CPU.
    int compute_capability = 0;  // 90
    int threads_per_multiprocessor = 0;
    int blocks_per_multiprocessor = 0;
    int registers_per_multiprocessor = 0;
    int64_t shared_bytes_per_multiprocessor = 0;
    int64_t l2_bytes = 0;
};

// The chip for which launches are planned: one with at most so many multiprocessors, 0: all. Every mapping of
// work to multiprocessors is right on a chip that has more.
inline Chip planned_chip(Chip chip, int multiprocessors) {
    if (multiprocessors > 0) chip.multiprocessors = std::min(chip.multiprocessors, multiprocessors);
    return chip;
}

}  // namespace sawtooth
