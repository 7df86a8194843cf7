#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/core/chip.h"
#include "kernels/core/result.h"

namespace sawtooth {

struct Devices {
    struct Cpu {
        std::string name;
        int cores = 0;
        std::string vectors;  // the Highway target in use, such as "AVX3"
        int64_t memory_bytes = 0;
        int64_t last_level_cache_bytes = 0;  // of all cores that may be used together
    };
    using Gpu = Chip;
    Cpu cpu;
    std::vector<Gpu> gpus;
    std::string gpu_reason;  // why kernels cannot run on a GPU, and what to do; "" if they can
    std::optional<std::string> driver, toolkit;
    std::string toolkit_reason;  // why kernels cannot be compiled, and what to do; "" if they can
    bool counters_allowed = false;
    std::string counters_reason;   // why counters cannot be read, and what to do; "" if they can
    std::vector<Ceilings> limits;  // the limits that were measured before
};

// Finds the devices without opening a GPU. Therefore it only knows whether counters are impossible;
// `try_counters` tests them.
Devices find_devices();
Devices::Cpu find_cpu();
// The bytes of all last-level caches of these cores, from files such as FOLDER/cpu0/cache/index3/size
// ("32768K"). A cache that several cores share counts once. 0: there are no such files.
int64_t last_level_caches(const std::string& folder, const std::vector<int>& cores);
// Tests whether counters can be read on the first GPU and fills in the result. Takes half a second; closes
// the GPU again.
void try_counters(Devices& devices);
// One chip of every architecture that kernels can be compiled for, present or not.
std::vector<Chip> chips();

// "AMD EPYC, 2 threads, AVX2": the device name in CPU results.
std::string cpu_words(int threads);
// The local date as YYYY-MM-DD.
std::string today();

}  // namespace sawtooth
