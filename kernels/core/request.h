#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/chip.h"
#include "kernels/core/parameter.h"

namespace sawtooth {

constexpr int most_threads = 1024, most_repeats = 1000000, most_device = 1023, most_jitter = 1000000,
              most_multiprocessors = 1023;

enum class BackendChoice { cpu, cuda, automatic };
enum class Cache { cold, hot };
// Which of the outputs that are stored only on request to store: none, those small enough to draw, or all,
// for a file.
enum class Extras { none, drawable, all };
// What replaces some numbers of generated inputs: zeros replace half of them, denormals or huge numbers a
// few, and an infinity or a NaN one.
enum class Values { usual, zeros, denormals, huge, infinity, nan };
constexpr std::pair<const char*, Values> value_names[] = {
    {"usual", Values::usual}, {"zeros", Values::zeros},       {"denormals", Values::denormals},
    {"huge", Values::huge},   {"infinity", Values::infinity}, {"nan", Values::nan}};
constexpr const char* name_of(Values values) { return value_names[static_cast<size_t>(values)].first; }
enum class Profile { none, timeline, counters, sampling };

// Everything that decides what is computed and measured, as a plain value.
struct Request {
    std::string family;
    std::vector<std::string> variants;  // empty: all that the backend has
    BackendChoice backend = BackendChoice::cpu;
    int device = 0;
    std::string arch;         // "sm_90a": also compiles for this chip
    std::string kernels;      // a folder whose "kernels/…" replace the embedded .cu files; "": embedded
    int jitter = 0;           // the seed of random waits around barriers in kernels of a GPU; 0: no waits
    int multiprocessors = 0;  // of a GPU for which launches are planned; 0, or more than it has: all
    std::string on;           // the command that starts the worker, "ssh server sawtooth worker"; "": here
    std::string recording;    // the GPU whose recorded times stand beside outputs of this CPU; "": none
    int threads = 0;          // 0: one per core
    std::string preset;
    Parameters parameters;  // those that were set; the others come from input arrays, preset and defaults
    uint64_t seed = 1;
    Values values = Values::usual;
    bool optional = false;  // whether inputs that may be absent are generated too
    std::string input;      // an .npz file; "" if all inputs are generated
    int repeats = 9;
    Cache cache = Cache::cold;
    Profile profile = Profile::timeline;
    Extras extras = Extras::drawable;
    std::optional<double> time_limit_seconds;
    std::optional<int64_t> memory_limit_bytes;  // absent: the free memory

    bool operator==(const Request&) const = default;
};

}  // namespace sawtooth
