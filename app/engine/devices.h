#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sawtooth {

struct Devices {
    struct Cpu {
        std::string name;
        int cores = 0;
        std::string vectors;  // the Highway target that runs: "AVX3"
        int64_t memory_bytes = 0;
        int64_t last_level_cache_bytes = 0;
    };
    struct Gpu {
        std::string name, architecture;
    };
    Cpu cpu;
    std::vector<Gpu> gpus;
    std::optional<std::string> driver, toolkit;
    bool counters_allowed = false;
    std::string counters_reason;  // why not, and what to do
};

Devices find_devices();

// "AMD EPYC, 2 threads, AVX2": what a result of the CPU says it ran on.
std::string cpu_words(int threads);
// YYYY-MM-DD, local.
std::string today();

}  // namespace sawtooth
