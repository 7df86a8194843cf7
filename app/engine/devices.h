#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/core/chip.h"

namespace sawtooth {

struct Devices {
    struct Cpu {
        std::string name;
        int cores = 0;
        std::string vectors;  // the Highway target that runs: "AVX3"
        int64_t memory_bytes = 0;
        int64_t last_level_cache_bytes = 0;
    };
    using Gpu = Chip;
    Cpu cpu;
    std::vector<Gpu> gpus;
    std::string gpu_reason;  // why kernels cannot run on a GPU, and what to do; "" where they can
    std::optional<std::string> driver, toolkit;
    std::string toolkit_reason;  // why no kernel can be compiled, and what to do; "" where one can
    bool counters_allowed = false;
    std::string counters_reason;  // why not, and what to do
};

// Does not open a GPU, so that it says nothing of counters but where they cannot be: for that `try_counters`.
Devices find_devices();
Devices::Cpu find_cpu();
// Tries whether counters may be read on the first GPU, and fills in what came of it. Takes half a second, and
// leaves nothing open.
void try_counters(Devices& devices);
// One chip of every architecture that kernels can be compiled for, there or not.
std::vector<Chip> chips();

// "AMD EPYC, 2 threads, AVX2": what a result of the CPU says it ran on.
std::string cpu_words(int threads);
// YYYY-MM-DD, local.
std::string today();

}  // namespace sawtooth
