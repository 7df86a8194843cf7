#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/core/chip.h"
#include "kernels/core/parameter.h"

namespace sawtooth {

enum class BackendChoice { cpu, cuda, automatic };
enum class Cache { cold, hot };
enum class Profile { none, timeline, counters, sampling };

// Everything that decides what is computed and measured: a plain value.
struct Request {
    std::string family;
    std::vector<std::string> variants;  // empty: all that the backend has
    BackendChoice backend = BackendChoice::cpu;
    int device = 0;
    std::string arch;     // "sm_90a": theory for that chip beside the run
    std::string kernels;  // a folder whose "kernels/…" replace the embedded .cu files; "": embedded
    std::string on;       // the command that starts the worker, "ssh server sawtooth worker"; "": here
    int threads = 0;      // 0: one a core
    std::string preset;
    Parameters parameters;  // those that were set; the others come from input arrays, preset and defaults
    uint64_t seed = 1;
    std::string input;  // an .npz file, "" where all is generated
    int repeats = 9;
    Cache cache = Cache::cold;
    Profile profile = Profile::timeline;
    std::optional<double> time_limit_seconds;
    std::optional<int64_t> memory_limit_bytes;  // absent: what is free

    bool operator==(const Request&) const = default;
};

}  // namespace sawtooth
