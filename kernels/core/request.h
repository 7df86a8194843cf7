#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/core/chip.h"
#include "kernels/core/parameter.h"

namespace sawtooth {

constexpr int most_threads = 1024, most_repeats = 1000000, most_device = 1023;

enum class BackendChoice { cpu, cuda, automatic };
enum class Cache { cold, hot };
// Which of the outputs stored only on request: none, those small enough to draw, or all, for a file.
enum class Extras { none, drawable, all };
enum class Profile { none, timeline, counters, sampling };

// Everything that decides what is computed and measured, as a plain value.
struct Request {
    std::string family;
    std::vector<std::string> variants;  // empty: all that the backend has
    BackendChoice backend = BackendChoice::cpu;
    int device = 0;
    std::string arch;     // "sm_90a": also compiles for this chip
    std::string kernels;  // a folder whose "kernels/…" replace the embedded .cu files; "": embedded
    std::string on;       // the command that starts the worker, "ssh server sawtooth worker"; "": here
    int threads = 0;      // 0: one per core
    std::string preset;
    Parameters parameters;  // the ones that were set; others come from input arrays, preset and defaults
    uint64_t seed = 1;
    std::string input;  // an .npz file; "" if all inputs are generated
    int repeats = 9;
    Cache cache = Cache::cold;
    Profile profile = Profile::timeline;
    Extras extras = Extras::drawable;
    std::optional<double> time_limit_seconds;
    std::optional<int64_t> memory_limit_bytes;  // absent: the free memory

    bool operator==(const Request&) const = default;
};

}  // namespace sawtooth
